// Things that the browser keeps: the pose and the view of a project when its page is loaded again, and hints that were seen.
import { drag, expect, apart, positions, settled } from "./harness.mjs";

const state = (page) => page.evaluate(() => {
    const { exemplar: app } = window;
    const { left, top } = document.getElementById("view").getBoundingClientRect();
    const at = document.getElementById("view").pointToClient([0.2, 0.1, 0.05]);
    return {
        corner: [at.x - left, at.y - top].map((x) => Math.round(10 * x) / 10),
        layer: app.layer.name,
        example: app.selection.example,
        wire: app.display.wire,
        theme: document.documentElement.dataset.theme,
        weights: [...document.querySelectorAll("details.part")].find((part) => /^Weights/.test(part.textContent)).open,
    };
});

const again = async (page) => {
    await page.reload();
    await page.waitForSelector("body[data-ready=true]");
    await settled(page);
};

const reload = async (bench) => {
    const page = await bench.open(bench.demo("elbow"));
    const first = await state(page);
    await page.evaluate(() => window.exemplar.setPlace({ elbow: 77 }));
    const box = await page.locator("#view").boundingBox();
    const from = { x: box.x + box.width / 2, y: box.y + box.height - 20 };
    await drag(page, from, { x: from.x + 120, y: from.y - 60 });
    await page.locator(".layers .row", { hasText: "load" }).first().click();
    await page.evaluate(() => {
        window.exemplar.select({ example: window.exemplar.layer.examples[1].name });
        window.exemplar.show({ wire: true });
    });
    await page.click("[data-command=theme]");
    await page.locator("details.part > summary", { hasText: "Weights" }).click();
    const [before, form] = [await state(page), await positions(page)];
    expect(JSON.stringify(before.corner) !== JSON.stringify(first.corner) && before.theme === "dark", "nothing was changed");
    await again(page);
    const [after, same] = [await state(page), await positions(page)];
    expect(JSON.stringify(after) === JSON.stringify(before), `it was ${JSON.stringify(before)} and is ${JSON.stringify(after)}`);
    expect(apart(form, same) < 1e-6, `the pose is ${apart(form, same)} m off`);
    // Things that the project does not have any more, and numbers that are none, are left out.
    await page.evaluate(() => addEventListener("pagehide", () => {
        const key = Object.keys(localStorage).find((name) => name.startsWith("exemplar.state."));
        const kept = JSON.parse(localStorage.getItem(key));
        Object.assign(kept, { layer: "gone", camera: [1, 2], scrolls: "no", display: { surface: "gold", wire: 3, colour: {} } });
        Object.assign(kept.inputs, { gone: 3, elbow: "much" });
        kept.joints = { gone: [0, 0, 0, 1], ...Object.fromEntries(Object.keys(kept.joints).map((name) => [name, [9, 9, 9, 9]])) };
        localStorage.setItem(key, JSON.stringify(kept));
    }));
    await again(page);
    const rest = await state(page);
    expect(JSON.stringify(rest.corner) === JSON.stringify(first.corner) && rest.layer === first.layer && !rest.wire,
        `with a damaged state it is ${JSON.stringify(rest)}`);
    expect(page.problems.length === 0, page.problems.join("; "));
};

/** The hint shown: its text, its number, and if it covers its target or leaves the window. */
const hint = (page) => page.evaluate(async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const element = document.querySelector("aside.tip");
    const target = document.querySelector(".hinted");
    if (!element || !target) return null;
    const [a, b] = [element.getBoundingClientRect(), target.getBoundingClientRect()];
    const small = [...element.querySelectorAll("button")].filter((button) => button.getBoundingClientRect().height < 24);
    return {
        text: element.textContent,
        isOver: a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom,
        isOut: a.left < 0 || a.top < 0 || a.right > innerWidth || a.bottom > innerHeight || small.length > 0,
    };
});

const hints = async (bench) => {
    for (const size of [{ width: 1440, height: 900 }, { width: 400, height: 800, touch: true }]) {
        const page = await bench.open(bench.demo("arm"), { ...size, hints: true });
        await page.waitForSelector("aside.tip");
        const seen = [];
        for (let now = await hint(page); now; now = await hint(page)) {
            expect(!now.isOver, `at ${size.width} pixels, this covers what it explains: ${now.text}`);
            expect(!now.isOut, `at ${size.width} pixels, this leaves the window: ${now.text}`);
            seen.push(now.text);
            await page.click("aside.tip .primary");
        }
        expect(seen.length === 4 && /slider/.test(seen[0]) && /map/.test(seen[1]) && /Insert as example/.test(seen[3]),
            `the hints are ${seen.join(" | ")}`);
        await again(page);
        await page.waitForTimeout(200);
        expect(!(await page.$("aside.tip")), "they come again");
        if (size.touch) continue;
        // Another start of the tool has another port.
        const other = await page.context().newPage();
        await other.goto(await bench.serve(bench.demo("blob")));
        await other.waitForSelector("body[data-ready=true]");
        await other.waitForTimeout(200);
        expect(!(await other.$("aside.tip")), "they come again with the next start");
        await other.keyboard.press("?");
        await other.click("dialog.help .hints");
        expect((await hint(other))?.text.includes("1 of 4"), "'Show hints again' shows none");
        await other.click("aside.tip .dismiss");
        expect(!(await other.$("aside.tip")), "a hint cannot be dismissed");
    }
};

export const cases = {
    "loading the page again keeps pose and view": reload,
    "hints at the first start": hints,
};
