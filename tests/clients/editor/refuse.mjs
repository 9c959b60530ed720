// Values that are refused: every field keeps what was typed, is marked, and says beside it what is allowed.
import { expect, settled } from "./harness.mjs";

/** The text of a field, and the sentence that it is described by, if it is marked and the sentence can be seen. */
const state = (page, selector) => page.evaluate((wanted) => {
    const field = document.querySelector(wanted);
    const said = document.getElementById(field?.getAttribute("aria-describedby") ?? "");
    const isMarked = field?.getAttribute("aria-invalid") === "true";
    return { text: field?.value ?? null, sentence: isMarked && said?.checkVisibility() ? said.textContent : null };
}, selector);

const expectRefused = async (page, selector, text, pattern) => {
    const now = await state(page, selector);
    expect(now.text === text, `${selector} had '${text}' typed, and has '${now.text}'`);
    expect(pattern.test(now.sentence ?? ""), `${selector} with '${text}' says: ${now.sentence}`);
};
const expectFine = async (page, selector, text) => {
    const now = await state(page, selector);
    expect(now.text === text && now.sentence === null, `${selector} has '${now.text}' and says: ${now.sentence}`);
};

const refused = async (bench) => {
    const page = await bench.open(bench.demo("elbow"), { width: 1280, height: 900 });
    const type = async (selector, text) => {
        await page.fill(selector, text);
        await page.keyboard.press("Tab");
    };

    // The pose: no number, a number beyond an axis that ends there, a value that comes from elsewhere, and Escape.
    const elbow = ".axis[data-input=elbow] .number";
    await type(elbow, "abc");
    await expectRefused(page, elbow, "abc", /^Type a number from 0 to 140\.$/);
    await page.evaluate(() => window.exemplar.frame());
    await expectRefused(page, elbow, "abc", /number/);
    await page.evaluate(() => (window.exemplar.setPlace({ elbow: 25 }), window.exemplar.frame()));
    await expectFine(page, elbow, "25");
    await type(elbow, "");
    await expectRefused(page, elbow, "", /number/);
    await page.focus(elbow);
    await page.keyboard.press("Escape");
    await expectFine(page, elbow, "25");
    await type(elbow, "500");
    await expectRefused(page, elbow, "500", /^It stays at 140: type a number from 0 to 140\.$/);
    await type(elbow, "40");
    await expectFine(page, elbow, "40");

    // A setting of the weigher.
    await page.evaluate(() => {
        for (const part of document.querySelectorAll("details.part")) part.open = true;
        window.exemplar.edit("test", (tree) => ({ ...tree, layers: tree.layers.map((layer, i) => (i ? layer
            : { ...layer, weigh: { kind: "cardinal", kernel: "bspline", radius: 0.5 } })) }));
    });
    await settled(page);
    const ridge = ".weigher input[data-key=ridge]";
    await type(ridge, "-3");
    await expectRefused(page, ridge, "-3", /^Type a number of at least 0\.$/);
    await type(ridge, "0.01");
    await expectFine(page, ridge, "0.01");

    // A name that is taken.
    await page.locator(".layers .row").nth(1).click();
    await page.keyboard.press("F2");
    const other = await page.evaluate(() => window.exemplar.tree.layers.find((_, i) => i !== window.exemplar.selection.layer).name);
    await page.fill(".rename", other);
    await page.keyboard.press("Enter");
    await expectRefused(page, ".rename", other, /called '.+': layers need different names/);
    await page.click("#view");
    await expectRefused(page, ".rename", other, /different names/);
    await page.focus(".rename");
    await page.keyboard.press("Escape");
    expect(!(await page.$(".rename")), "Escape does not close the field");

    // A new layer: its name and its range.
    await page.click("[data-command=add-layer]");
    await page.fill(".newlayer [aria-label='Name of the layer']", other);
    await page.fill(".newlayer [aria-label='Name of the axis']", "a=b");
    await page.fill(".newlayer .axisrow label:nth-of-type(1) input", "5");
    await page.click(".newlayer [type=submit]");
    await expectRefused(page, ".newlayer [aria-label='Name of the layer']", other, /type another name/);
    await expectRefused(page, ".newlayer [aria-label='Name of the axis']", "a=b", /cannot be the name of an axis/);
    await expectRefused(page, ".newlayer .axisrow label:nth-of-type(2) input", "1", /from a smaller number to a larger one: not from 5 to 1/);
    await page.fill(".newlayer .axisrow label:nth-of-type(1) input", "0.5");
    await expectFine(page, ".newlayer .axisrow label:nth-of-type(2) input", "1");
    await page.click(".newlayer [type=submit]");
    await expectRefused(page, ".newlayer .axisrow label:nth-of-type(2) input", "1", /at rest must be a number from 0.5 to 1/);
    await page.click(".newlayer .actions button:not([type=submit])");

    // The brush.
    await page.click("[data-tool=grab]");
    const strength = ".brush input[aria-label=Strength][type=number]";
    await type(strength, "7");
    await expectRefused(page, strength, "7", /from 0 to 1/);
    await type(strength, "0.7");
    await expectFine(page, strength, "0.7");
    expect(page.problems.length === 0, page.problems.join("; "));
};

export const cases = {
    "values that are refused say why": refused,
};
