// The page as a whole: exported, broken, shared, at two sizes and in two themes, and its speed.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { writeBody } from "./body.mjs";
import { apart, changed, drag, expect, json, onMap, positions, save, settled, WIDE } from "./harness.mjs";

/** Turns a project's layers into paths of many examples, of meshes so large that building takes minutes. */
const makeLong = (project) => {
    const side = 100;
    const at = [...Array(side).keys()];
    const faces = at.slice(1).flatMap((y) => at.slice(1).map((x) => {
        const v = (y - 1) * side + x;
        return `f ${v} ${v + 1} ${v + side + 1} ${v + side}`;
    }));
    for (const [name, height] of [["flat", 0], ["wave", 0.5]])
        writeFileSync(join(dirname(project), `${name}.obj`),
            [...at.flatMap((y) => at.map((x) => `v ${x / side} ${y / side} ${height * Math.sin((5 * x) / side)}`)), ...faces].join("\n"));
    const names = [...Array(200).keys()].map((n) => `e${n}`);
    return {
        exemplar: 1,
        mesh: "flat.obj",
        layers: [{ name: "long", space: names.map((name) => ({ name, min: 0, max: 1 })), weigh: { kind: "direct" },
            shape: "trajectory", examples: names.map((name) => ({ name, mesh: "wave.obj" })) }],
    };
};

/** A long build is cancelled, by its button and by its key: the rig and the project before it stay. */
const cancelled = async (bench) => {
    const project = bench.demo("blob");
    const bytes = readFileSync(project);
    const page = await bench.open(project);
    const before = await positions(page);
    const tree = await page.evaluate(() => JSON.stringify(window.exemplar.tree));
    const isShown = () => page.isVisible("footer .cancel");
    expect(!(await isShown()), "there is something to cancel at first");
    const stayed = async (how) => {
        await page.waitForFunction(() => !window.exemplar.busy);
        const said = await page.textContent("footer .message");
        expect(/cancelled.*stays.*redo/.test(said), `after ${how} it says '${said}'`);
        expect(!(await isShown()), `after ${how} the button is still there`);
        expect((await page.evaluate(() => JSON.stringify(window.exemplar.tree))) === tree, `after ${how} the project differs`);
        expect(apart(before, await positions(page)) === 0, `after ${how} the rig differs`);
        expect((await page.evaluate(() => window.exemplar.redoLabel)) === "made long", `after ${how} redo is lost`);
    };
    await page.evaluate((long) => window.exemplar.edit("made long", () => long), makeLong(project));
    await page.waitForSelector("footer .cancel", { state: "visible" });
    for (const [width, height] of [[1024, 768], [1440, 900]]) {
        await page.setViewportSize({ width, height });
        const box = await page.locator("footer .cancel").boundingBox();
        expect(box && box.x >= 0 && box.x + box.width <= width && box.y + box.height <= height, "the button is cut off");
        if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `cancel-${width}.png`) });
    }
    await page.click("footer .cancel");
    await stayed("the button");
    await page.evaluate(() => window.exemplar.redo());
    await page.waitForSelector("footer .cancel", { state: "visible" });
    await page.keyboard.press("Escape");
    await stayed("Escape");
    await save(page);
    expect(readFileSync(project).equals(bytes), "the file was changed");
    // The first build of a page, which has no rig yet; no draft comes before it, however fast the machine.
    writeFileSync(project, JSON.stringify(makeLong(project)));
    const opening = await (await bench.browser.newContext()).newPage();
    await opening.route("**/api/build?keep=0", () => undefined);
    await opening.goto(await bench.serve(project));
    await opening.click("#start button");
    await opening.waitForSelector("body[data-ready=failed]");
    expect(/cancelled/.test(await opening.textContent("[role=alert] .sentence")), "it does not say that it was cancelled");
    expect(page.problems.filter((text) => !/409/.test(text)).length === 0, page.problems.join("; "));
};

const exported = async (bench) => {
    const project = bench.demo("blob");
    const rig = project.replace(/\.json$/, ".glb");
    const file = project.replace(/\.json$/, ".html");
    bench.run("edit", "--export", file, rig, "-q");
    const context = await bench.browser.newContext({ viewport: { width: 1024, height: 768 }, offline: true });
    const page = await context.newPage();
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    page.problems = [];
    page.on("pageerror", (error) => page.problems.push(error.message));
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector("body[data-ready=true]");
    const picture = await bench.pixels(page, "#view");
    await page.evaluate(() => window.exemplar.setPlace({ bend: 0.6, thickness: 0.7 }));
    const posed = await bench.pixels(page, "#view");
    expect(changed(picture, posed) > 200, "posing changes nothing that is seen");
    const before = await positions(page);
    const at = json(project).layers[0].examples.find((e) => e.at.thickness === 1).at;
    await drag(page, await onMap(page, [at.bend, at.thickness]), await onMap(page, [at.bend - 0.3, 0.8]));
    await page.evaluate(() => window.exemplar.frame());
    expect(apart(before, await positions(page)) > 1e-3, "dragging an example changes nothing");
    await page.keyboard.press("Control+z");
    expect(apart(before, await positions(page)) === 0, "undoing does not bring the surface back");
    await page.keyboard.press("?");
    expect(!/Save the project|Drop a file/.test(await page.textContent("dialog")), "the help offers what needs a server");
    const others = asked.filter((url) => !url.startsWith("data:") && !url.startsWith("blob:"));
    expect(others.length === 1 && others[0].startsWith("file:"), `it asked for ${others.join(", ")}`);
    expect(page.problems.length === 0, page.problems.join("; "));
    return `${(readFileSync(file).length / 1e6).toFixed(1)} MB, no request but itself`;
};

const corrupt = async (bench) => {
    const project = bench.demo("blob");
    const text = readFileSync(project, "utf8");
    let page = null;
    for (const [broken, word] of [
        [text.slice(0, text.length / 2), /line \d+|ends|end of file/i],
        [text.replace('"bend"', '"bemd"'), /bend|bemd/],
        [text.replace("thick.obj", "gone.obj"), /gone\.obj/],
        ["", /empty|end/i],
        ["\u0000\u0001\uFFFF", /./],
    ]) {
        writeFileSync(project, broken);
        if (page) await page.reload(); // as its button does
        else page = await bench.open(project, { wait: false });
        await page.waitForSelector("body[data-ready]");
        expect((await page.getAttribute("body", "data-ready")) === "failed", "the page opened");
        const sentence = (await page.textContent("[role=alert] .sentence")).trim();
        expect(sentence.length > 10 && word.test(sentence), `it says: ${sentence}`);
        expect(readFileSync(project, "utf8") === broken, "the file was changed");
    }
    writeFileSync(project, text);
    await page.click("[role=alert] button");
    await page.waitForSelector("body[data-ready=true]");
};

/** Two editors on one project: the one that saves second is asked, every time, and nothing is lost, even if the tool
 * ends. */
const twoEditors = async (bench) => {
    const project = bench.demo("blob");
    const address = await bench.serve(project);
    const [one, two] = [await bench.page(address), await bench.page(await bench.serve(project))];
    const rename = (page, name) => page.evaluate((to) => window.exemplar.edit("renamed", (tree) => ({ ...tree,
        layers: tree.layers.map((layer) => ({ ...layer, name: to })) })), name);
    await rename(one, "first");
    await save(one);
    const saved = readFileSync(project);
    await rename(two, "second");
    await settled(two);
    expect(!(await two.evaluate(() => window.exemplar.save())), "the second editor wrote over the first");
    expect(readFileSync(project).equals(saved), "the file is not the first one's");
    const said = await two.evaluate(() => window.exemplar.message.text);
    expect(/changed/.test(said), `it says: ${said}`);
    // A stray key press means Later; the next save asks again.
    for (const key of ["Enter", "Escape", null]) {
        await two.waitForSelector("dialog.ask");
        const focused = await two.evaluate(() => document.activeElement.textContent);
        expect(focused === "Later", `the focus is on '${focused}'`);
        if (!key) break;
        await two.keyboard.press(key);
        await two.waitForSelector("dialog.ask", { state: "detached" });
        await two.keyboard.press("Control+s");
    }
    const layer = () => two.evaluate(() => window.exemplar.tree.layers[0].name);
    await two.evaluate(() => window.exemplar.setPlace({ bend: 0.6, thickness: 0.7 }));
    const before = await two.evaluate(() => window.exemplar.stage.pose.inputs.join());
    await two.click("dialog.ask button:text('Load it')");
    await two.waitForFunction(() => /^Loaded/.test(window.exemplar.message?.text ?? ""));
    expect((await layer()) === "first" && (await two.textContent("header .changed")) === "saved", "it was not loaded");
    expect(before === await two.evaluate(() => window.exemplar.stage.pose.inputs.join()), "the pose is lost");
    await two.keyboard.press("Control+z");
    expect((await layer()) === "second", "undoing does not bring back what was not saved");
    expect((await two.textContent("header .changed")) === "not saved", "what was brought back counts as saved");

    await settled(two);
    bench.servers.at(-1).kill("SIGINT");
    await rename(two, "third");
    await two.waitForSelector("[role=alert]:has-text('no longer answers')"); // it may notice before the rename
    await two.waitForFunction(() => window.exemplar.tree.layers[0].name === "third");
    const [kept] = await Promise.all([two.waitForEvent("download"), two.click("[role=alert] button")]);
    expect(kept.suggestedFilename() === "blob.json", `the file is called ${kept.suggestedFilename()}`);
    expect(json(await kept.path()).layers[0].name === "third", "the file is not what the page has");
};

/** Visible texts and controls, with their boxes clipped to the scrolling parts. */
export const boxes = () => {
    const luminance = ([r, g, b]) => {
        const linear = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const colour = (css) => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = css;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
    const ground = (element) => {
        const stack = [];
        for (let e = element; e; e = e.parentElement) {
            const c = colour(getComputedStyle(e).backgroundColor);
            if (c[3] > 0) stack.push(c);
            if (c[3] === 1) break;
        }
        return stack.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
    };
    const clip = (element, rect) => {
        let { left, top, right, bottom } = rect;
        for (let e = element; e; e = e.parentElement) {
            if (getComputedStyle(e).overflow === "visible") continue;
            const r = e.getBoundingClientRect();
            left = Math.max(left, r.left);
            top = Math.max(top, r.top);
            right = Math.min(right, r.right);
            bottom = Math.min(bottom, r.bottom);
        }
        return { left: Math.max(left, 0), top: Math.max(top, 0), right: Math.min(right, innerWidth), bottom: Math.min(bottom, innerHeight) };
    };
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
        const style = getComputedStyle(element);
        if (style.visibility !== "visible" || Number(style.opacity) === 0 || !element.checkVisibility()) continue;
        const control = element.matches("button, input, select, textarea, summary, a");
        const text = [...element.childNodes].filter((n) => n.nodeType === 3 && n.data.trim());
        if (!control && !text.length) continue;
        if (element.matches("option, script, style, title")) continue;
        const range = document.createRange();
        let rects = [element.getBoundingClientRect()];
        if (!control && text.length) {
            range.setStartBefore(text[0]);
            range.setEndAfter(text.at(-1));
            rects = [...range.getClientRects()];
        }
        // Texts for screen readers only are one pixel large.
        for (const rect of rects) {
            const box = clip(element, rect);
            if (box.right - box.left < 2 || box.bottom - box.top < 2) continue;
            const words = (element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 40);
            const back = ground(element);
            const front = over(colour(style.color), back);
            const [a, b] = [luminance(front), luminance(back)].sort((x, y) => y - x);
            found.push({ element, box, words: `${element.tagName.toLowerCase()} '${words}'`, text: text.length > 0 || control,
                contrast: (a + 0.05) / (b + 0.05) });
        }
    }
    const problems = [];
    for (const { words, contrast, text } of found)
        if (text && contrast < 4.5) problems.push(`${words} has a contrast of ${contrast.toFixed(2)}`);
    for (let i = 0; i < found.length; i++)
        for (let j = i + 1; j < found.length; j++) {
            const [a, b] = [found[i], found[j]];
            if (a.element.contains(b.element) || b.element.contains(a.element)) continue;
            const x = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
            const y = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
            if (x > 1 && y > 1) problems.push(`${a.words} and ${b.words} overlap by ${x.toFixed(0)} × ${y.toFixed(0)}`);
        }
    const wide = document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight;
    if (wide) problems.push("the page is larger than its window");
    return { count: found.length, problems: [...new Set(problems)] };
};

/** True if every visible thumbnail has been drawn. */
const pictured = () => [...document.querySelectorAll("canvas.thumbnail")].every((canvas) => {
    const { x, y, width, height } = canvas.getBoundingClientRect();
    if (document.elementFromPoint(x + width / 2, y + height / 2) !== canvas) return true;
    return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value > 0);
});

const layout = (name) => async (bench) => {
    const pictures = join(bench.work, "pictures");
    mkdirSync(pictures, { recursive: true });
    let least = Infinity;
    const page = await bench.open(bench.demo(name), WIDE);
    const parts = (open) => page.evaluate((all) => document.querySelectorAll("details").forEach((d, i) => (d.open = all?.[i] ?? true)), open);
    const folded = await page.$$eval("details", (all) => all.map((d) => d.open));
    for (const [width, height] of [[1440, 900], [1024, 768]])
        for (const theme of ["light", "dark"]) {
            await page.setViewportSize({ width, height });
            if ((await page.getAttribute("html", "data-theme")) !== theme) await page.keyboard.press("Shift+T");
            await parts(folded);
            await settled(page);
            await page.waitForFunction(pictured);
            await page.screenshot({ path: join(pictures, `${name}-${width}-${theme}.png`) });
            // Every part once open and once folded.
            for (const open of ["as it is", true]) {
                if (open === true) await parts(null);
                const { count, problems } = await page.evaluate(boxes);
                expect(count > 20, `only ${count} texts and controls were found`);
                expect(problems.length === 0, `${width}×${height} ${theme}: ${problems.slice(0, 6).join("; ")}`);
                least = Math.min(least, count);
            }
        }
    return `at least ${least} texts and controls`;
};

// The cost of each part of a step, in milliseconds: medians of sums of about 1 ms. The browser's clock is coarse, and
// so interruptions affect few of them.
const stepParts = () => {
    const { exemplar } = window;
    const { rigLayer: layer, stage } = exemplar;
    const point = layer.examplePoint(1);
    const [{ min, max }] = layer.inputs;
    const place = layer.inputs.flatMap((input) => stage.pose.get(input.index));
    let turn = 0;
    const parts = {
        solve: () => layer.moveExample(1, point.map((x, a) => x + (a === 0 ? (++turn % 50) * 0.001 * (max - min) : 0))),
        weights: () => layer.weights(place),
        "blend and normals": () => stage.surface.evaluate(stage.pose, { unskinned: true }),
        "blend, skin and normals": () => stage.surface.evaluate(stage.pose),
        "buffer fill": () => exemplar.emit("fill"),
    };
    const times = (body, rounds, count) =>
        Array.from({ length: rounds }, () => {
            const start = performance.now();
            for (let i = 0; i < count; i++) body();
            return (performance.now() - start) / count;
        }).sort((a, b) => a - b);
    const cost = (body) => {
        const about = times(body, 3, 30)[0];
        return times(body, 201, Math.ceil(1 / Math.max(about, 0.002)))[100];
    };
    const said = Object.entries(parts).map(([name, body]) => `${name} ${cost(body).toFixed(3)}`);
    layer.moveExample(1, point);
    return said.join(", ");
};

/** The time of a step as the page shows it: a figure, not a limit, as machines differ. */
const speed = (name) => async (bench) => {
    const folder = join(bench.work, `speed-${name}`);
    mkdirSync(folder, { recursive: true });
    const project = name === "body" ? writeBody(folder) : bench.demo(name);
    const page = await bench.open(project);
    const ends = await page.evaluate(() => {
        const { rigLayer: layer } = window.exemplar;
        const map = document.getElementById("map");
        const { x, y } = map.shownAxes();
        const point = layer.examplePoint(1);
        const value = (axis) => point[axis.offset];
        return { from: map.pointToClient([value(x), value(y)]), to: map.pointToClient([(x.min + x.max) / 2, y.min + 0.4 * (y.max - y.min)]) };
    });
    await drag(page, ends.from, ends.to, { steps: 60 });
    await settled(page);
    const steps = await page.evaluate(() => [...window.exemplar.steps].sort((a, b) => a - b));
    expect(steps.length >= 20, `only ${steps.length} steps were measured`);
    const shown = await page.textContent("footer .step");
    expect(/drag step [\d.]+ ms/.test(shown), `the page shows '${shown}'`);
    return `${shown}, ${await page.textContent("footer .size")}; alone: ${await page.evaluate(stepParts)}`;
};

export const cases = {
    "an exported page": exported,
    "a corrupt project": corrupt,
    "two editors": twoEditors,
    "a build that is cancelled": cancelled,
    "boxes and contrast: blob": layout("blob"),
    "boxes and contrast: arm": layout("arm"),
    "boxes and contrast: emotion": layout("emotion"),
    "a step of a drag: arm": speed("arm"),
    "a step of a drag: body": speed("body"),
};
