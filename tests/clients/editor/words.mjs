// Words and keys: every button says what it does and shows its key, and fits at both widths. The keys of a sculpt.
import { drag, expect, settled } from "./harness.mjs";

/** Buttons that show no word or no tooltip, cut their text, or reach out of the window. */
const opaque = (page) => page.evaluate(() => {
    for (const part of document.querySelectorAll("details")) part.open = true;
    const wrong = [];
    for (const button of document.querySelectorAll("main button")) {
        if (!button.checkVisibility() || button.matches(".name")) continue; // the name of an axis
        const text = button.textContent.trim();
        const said = `'${text}' (${button.title})`;
        if (!/\p{L}{3}/u.test(text) && !button.querySelector("canvas")) wrong.push(`${said} shows no word`);
        if (button.title.split(/\s/).length < 2) wrong.push(`${said} has no tooltip`);
        const { keys = [] } = window.exemplar.commands.list.find(({ id }) => id === button.dataset.command) ?? {};
        if (keys.length && !button.title.includes(`(${keys[0]})`)) wrong.push(`${said} does not show its key`);
        if (!button.matches(".weight, .finding") && button.scrollWidth > button.clientWidth + 1) wrong.push(`${said} is cut`);
        const { left, right } = button.getBoundingClientRect();
        if (left < 0 || right > innerWidth) wrong.push(`${said} leaves the window`);
    }
    return wrong;
});

const words = async (bench) => {
    for (const width of [1440, 400]) {
        const page = await bench.open(bench.demo("arm"), { width, height: 800 });
        await page.evaluate(() => window.exemplar.setTool("grab"));
        const wrong = await opaque(page);
        expect(wrong.length === 0, `${width} pixels: ${wrong.join("; ")}`);
        await page.context().close();
    }
};

/** After a click on a brush, its button has the focus: Enter inserts the sculpt, Escape discards it, and undo brings it
 * back. */
const sculptKeys = async (bench) => {
    const page = await bench.open(bench.demo("blob"));
    await page.evaluate(() => window.exemplar.setPlace({ bend: 0.5, thickness: 0.5 }));
    const stroke = async () => {
        await page.click(".brush [data-tool=grab]");
        const { x, y, width, height } = await page.locator("#view").boundingBox();
        const middle = { x: x + width / 2, y: y + height / 2 };
        await drag(page, middle, { x: middle.x + 30, y: middle.y - 20 }, { steps: 4 });
        await page.focus(".brush [data-tool=grab]");
    };
    const state = () => page.evaluate(() => ({ count: window.exemplar.history.tree.layers[0].examples.length, tool: window.exemplar.tool,
        pending: window.exemplar.pending, said: document.querySelector(".brush .keys")?.checkVisibility() &&
            document.querySelector(".brush .keys").textContent }));
    await page.click("summary:text-is('Brush')");
    await stroke();
    const { count, said } = await state();
    expect(/Enter inserts.*Esc discards/.test(said), `the panel says '${said}'`);
    await page.keyboard.press("Escape");
    let now = await state();
    expect(now.pending === null && now.count === count, `Escape leaves ${JSON.stringify(now)}`);
    await page.keyboard.press("Control+z");
    expect((await state()).pending === "sculpt", "undo does not bring the sculpt back");
    await page.keyboard.press("Escape");
    await stroke();
    await page.keyboard.press("Enter");
    await page.waitForFunction((n) => window.exemplar.history.tree.layers[0].examples.length > n, count, { timeout: 20000 });
    await settled(page);
    now = await state();
    expect(now.tool === "grab" && now.count === count + 1, `Enter leaves ${JSON.stringify(now)}`);
    expect(page.problems.length === 0, page.problems.join("; "));
};

export const cases = {
    "words on every button": words,
    "Enter and Escape of a sculpt": sculptKeys,
};
