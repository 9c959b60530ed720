// Exported pages as their readers meet them: the first view, motion from the start, and a phone.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { apart, expect, frames, moved, positions, WIDE } from "./harness.mjs";

const PHONE = { width: 390, height: 844, touch: true };

/** Exports a project or a rig; returns the page's file. */
const exportFile = (bench, path) => {
    const file = path.replace(/\.\w+$/, ".html");
    bench.run("edit", "--export", file, path, "-q");
    return file;
};

/** The same; returns the page's address. */
const exportPage = (bench, path) => pathToFileURL(exportFile(bench, path)).href;

/** The form's box on the screen, and that of the canvas. */
export const seen = (page) => page.evaluate(() => {
    const canvas = document.getElementById("view");
    const { positions } = window.exemplar.stage.surface;
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < positions.length; i += 3) {
        const { x, y } = canvas.pointToClient([positions[i], positions[i + 1], positions[i + 2]]);
        box[0] = Math.min(box[0], x);
        box[1] = Math.min(box[1], y);
        box[2] = Math.max(box[2], x);
        box[3] = Math.max(box[3], y);
    }
    const { left, top, right, bottom } = canvas.getBoundingClientRect();
    return { box, canvas: [left, top, right, bottom] };
});

/** All of the form is in the picture, and fills a good part of its height or its width. Returns that part. */
export const framed = ({ box, canvas }, what, least = 0.45) => {
    for (let i = 0; i < 4; i++)
        expect((i < 2 ? 1 : -1) * (box[i] - canvas[i]) > 0, `${what}: the form leaves the picture: ${box} in ${canvas}`);
    const share = Math.max((box[2] - box[0]) / (canvas[2] - canvas[0]), (box[3] - box[1]) / (canvas[3] - canvas[1]));
    expect(share > least, `${what}: the form fills only ${(100 * share).toFixed(0)} % of the picture`);
    return share;
};

const toRest = (page) => page.evaluate(() => {
    window.exemplar.pose((pose) => pose.rest());
    window.exemplar.frame();
});

/** Whatever its unit, a form is framed alike, from its front and from above its middle. */
const firstView = async (bench) => {
    const shares = [];
    for (const unit of ["mm", "m"]) {
        const project = bench.demo("blob");
        writeFileSync(project, JSON.stringify({ ...JSON.parse(readFileSync(project, "utf8")), unit }));
        const page = await bench.page(exportPage(bench, project));
        await toRest(page);
        shares.push(framed(await seen(page), unit));
        // Of two points on the form's axis, the one in front is lower on the screen, and hardly beside the other.
        const [front, back] = await page.evaluate(() => {
            const { box } = window.exemplar.stage.surface;
            const middle = [0, 1, 2].map((i) => 0.5 * (box[i] + box[i + 3]));
            const size = box[4] - box[1];
            return [size, -size].map((z) => document.getElementById("view").pointToClient([middle[0], middle[1], middle[2] + z]));
        });
        expect(front.y > back.y + 10, `${unit}: the camera is not above the form`);
        await page.context().close();
    }
    expect(Math.abs(shares[0] - shares[1]) < 0.02, `the unit matters: ${shares}`);
    return `${(100 * shares[0]).toFixed(0)} % of the picture`;
};

const opensMoving = async (bench) => {
    const page = await bench.page(exportPage(bench, bench.demo("elbow").replace(/json$/, "glb")));
    const before = await positions(page);
    await moved(page, before, "it stands still");
    expect((await page.textContent(".play .toggle")) === "Pause", "the player does not say that it plays");
    framed(await seen(page), "while it moves", 0.25);
    // A reader who moves the pose is not disturbed.
    await page.evaluate(() => window.exemplar.setPlace({ elbow: 30 }));
    const held = await positions(page);
    await page.waitForTimeout(300);
    expect(apart(held, await positions(page)) === 0, "it plays on after the pose was set");
    // And a reader who asked the system for less motion is not either.
    const context = await bench.browser.newContext({ reducedMotion: "reduce" });
    const still = await context.newPage();
    await still.goto(page.url());
    await still.waitForSelector("body[data-ready=true]");
    const first = await positions(still);
    await still.waitForTimeout(300);
    expect(apart(first, await positions(still)) === 0, "it moves despite the wish for less motion");
};

/** A browser that cannot decompress, and a page that was cut short, get a sentence. */
const refuses = async (bench) => {
    const file = exportFile(bench, bench.demo("blob").replace(/json$/, "glb"));
    const said = async (before, url) => {
        const page = await (await bench.browser.newContext()).newPage();
        await page.addInitScript(before);
        await page.goto(url);
        await page.waitForSelector("body[data-ready=failed]");
        return page.textContent(".failure .sentence");
    };
    const old = await said(() => delete window.DecompressionStream, pathToFileURL(file).href);
    expect(/^This browser is too old .* Use Chrome 91, Firefox 113, Safari 16.4 or a later version/.test(old), `an old browser says: ${old}`);
    const html = readFileSync(file, "utf8");
    writeFileSync(`${file}.torn.html`, html.replace(/(id="rig"[^>]*>[^<]{4000})[^<]*/, "$1"));
    const torn = await said(() => undefined, pathToFileURL(`${file}.torn.html`).href);
    expect(/^This page is incomplete or damaged/.test(torn), `a damaged page says: ${torn}`);
};

/** Elements that reach out of the screen, and controls that cannot be brought onto it or are too small for a finger. */
export const misplaced = (page) => page.evaluate(async () => {
    const wrong = [];
    const name = (e) => `${e.tagName.toLowerCase()} ${e.getAttribute("aria-label") ?? e.textContent.trim().slice(0, 20)}`;
    const isShown = (e) => e.checkVisibility({ checkVisibilityCSS: true }) && e.getClientRects().length > 0;
    for (const e of document.querySelectorAll("button, select, input, summary, canvas, .row")) {
        if (!isShown(e) || e.type === "file") continue;
        e.scrollIntoView({ block: "nearest", behavior: "instant" });
        const { left, right, top, bottom, width, height } = e.getBoundingClientRect();
        if (left < -1 || right > innerWidth + 1 || top < -1 || bottom > innerHeight + 1) wrong.push(`${name(e)} is off the screen`);
        if (/BUTTON|SELECT|SUMMARY/.test(e.tagName) && (height < 32 || width < 28)) wrong.push(`${name(e)} is small: ${width} × ${height}`);
        const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        if (!e.disabled && at && !e.contains(at) && !at.contains(e)) wrong.push(`${name(e)} is under ${name(at)}`);
    }
    if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page is wider than the screen");
    return wrong;
});

/** Touches the canvas through the browser's own input, with one finger or two. */
const touch = async (page, paths) => {
    const session = await page.context().newCDPSession(page);
    const send = (type, points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points });
    const steps = paths[0].length;
    for (let i = 0; i < steps; i++) {
        await send(i ? "touchMove" : "touchStart", paths.map((path, id) => ({ ...path[i], id })));
        await frames(page, 1);
    }
    await send("touchEnd", []);
    await frames(page, 2);
};

const onPhone = async (bench) => {
    const page = await bench.page(exportPage(bench, bench.demo("arm").replace(/json$/, "glb")), PHONE);
    await page.click(".play .toggle");
    await toRest(page);
    framed(await seen(page), "on a phone", 0.4); // there is room for the poses that it plays
    const wrong = await misplaced(page);
    expect(wrong.length === 0, wrong.join("; "));
    await page.evaluate(() => document.querySelector(".columns").scrollTo(0, 0));

    // The view holds every form that it plays.
    for (let i = 0; i <= 20; i++) {
        await page.locator(".play .scrub").evaluate((scrub, part) => {
            scrub.value = String(part * Number(scrub.max));
            scrub.dispatchEvent(new Event("input"));
        }, i / 20);
        await positions(page);
        framed(await seen(page), `while it plays, at ${5 * i} %`, 0.1);
    }
    await toRest(page);
    const { canvas, box } = await seen(page);
    const [x, y] = [(canvas[0] + canvas[2]) / 2, canvas[1] + 30];
    const line = (dx, dy, sx, sy) => [0, 1, 2, 3, 4].map((i) => ({ x: sx + (dx * i) / 4, y: sy + (dy * i) / 4 }));
    await touch(page, [line(90, 0, x, y)]);
    const turned = await seen(page);
    expect(Math.abs(turned.box[2] - box[2]) > 8, "a finger does not turn the view");
    await touch(page, [line(-50, 0, x - 30, y), line(50, 0, x + 30, y)]);
    const nearer = await seen(page);
    const width = ({ box: b }) => b[2] - b[0];
    expect(width(nearer) > 1.5 * width(turned), "two fingers do not zoom");
    // Sliders are reached by scrolling, and pose the rig.
    const slider = page.locator(".axis.dial input[type=range]").nth(1);
    await slider.scrollIntoViewIfNeeded();
    const before = await positions(page);
    const at = await slider.boundingBox();
    await page.touchscreen.tap(at.x + 0.8 * at.width, at.y + at.height / 2);
    expect(apart(before, await positions(page)) > 0.01, "a slider does not pose the rig");
    expect(page.problems.length === 0, page.problems.join("; "));
};

/** The person: a small page, of whom all is seen, who walks, with dials in groups that say what they are. */
const person = async (bench) => {
    const file = exportFile(bench, bench.demo("human").replace(/json$/, "glb"));
    const size = statSync(file).size / 1e6;
    expect(size < 12, `the page has ${size.toFixed(1)} MB`);
    for (const [what, options] of [["wide", WIDE], ["on a phone", { ...PHONE, width: 400, height: 800 }]]) {
        const page = await bench.page(pathToFileURL(file).href, options);
        const before = await positions(page);
        await page.waitForFunction((was) => Math.abs(window.exemplar.stage.surface.positions[0] - was) > 1e-4, before[0]);
        framed(await seen(page), what, 0.6);
        const words = await page.evaluate(() => ({
            groups: [...document.querySelectorAll(".axes h3")].map((heading) => heading.textContent),
            cut: [...document.querySelectorAll(".axes .unit")].filter((unit) => unit.scrollWidth > unit.clientWidth).length,
        }));
        expect(words.groups.slice(0, 4).join() === "figure,build,face,joints", `${what}: the groups are ${words.groups}`);
        expect(words.cut === 0, `${what}: ${words.cut} units are cut`);
        expect((await page.textContent("main")).includes("age 25 years"), `${what}: the map does not say 'age 25 years'`);
        expect(page.problems.length === 0, page.problems.join("; "));
        await page.context().close();
    }
    return `${size.toFixed(1)} MB`;
};

/** The list of keys, what fingers do, and the hints again. */
const helpOnPhone = async (bench) => {
    const page = await bench.open(bench.demo("blob"), { ...PHONE, width: 400, height: 800 });
    await page.tap("header [data-command=help]");
    const inside = await page.evaluate(() => [...document.querySelectorAll("dialog.help button")].map((button) => {
        const { left, right, top, bottom } = button.getBoundingClientRect();
        return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    }));
    expect(inside.length === 2 && inside.every(Boolean), `buttons of the list are off the screen: ${inside}`);
    expect((await page.textContent("dialog.help")).includes("Two fingers"), "it does not say what fingers do");
    await page.tap("dialog.help .hints");
    await page.waitForSelector("aside.tip");
};

export const cases = {
    "the first view of a form": firstView,
    "an exported page opens on a moving pose": opensMoving,
    "an exported page on a phone": onPhone,
    "the person as a page": person,
    "keys and hints on a phone": helpOnPhone,
    "an exported page that cannot be unpacked": refuses,
};
