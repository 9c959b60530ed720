// Forms on the map, the map in the whole window, and names that cover neither each other nor the border.
import { changed, expect, frames, onMap, settled } from "./harness.mjs";

/** Waits until all pictures on the map are there. */
const pictured = async (page) => {
    await settled(page);
    await page.waitForFunction(() => document.getElementById("map").forms.isReady, null, { timeout: 60000 });
    await frames(page, 3);
};
const tilesOf = (page) => page.evaluate(() => document.getElementById("map").forms.tiles
    .map(({ left, top, width, height, mark }) => ({ left, top, width, height, name: mark?.name ?? null })));

/** The mean warmth (red less blue) of the clay pixels of a tile, and their share. */
const clay = ({ width, data }, tile) => {
    let [sum, count, all] = [0, 0, 0];
    for (let y = Math.ceil(tile.top); y < tile.top + tile.height; y++)
        for (let x = Math.ceil(tile.left); x < tile.left + tile.width; x++) {
            const i = 4 * (y * width + x);
            const warmth = data[i] - data[i + 2];
            all++;
            if (warmth < 8) continue;
            sum += warmth;
            count++;
        }
    return { warmth: sum / Math.max(count, 1), share: count / all };
};

const forms = async (bench) => {
    const page = await bench.open(bench.demo("arm"), { width: 1200 });
    await pictured(page);
    const small = await tilesOf(page);
    expect(["straight_female", "up_female", "down_female", "bent_female"].every((name) => small.some((tile) => tile.name === name)),
        `the small map shows ${small.map(({ name }) => name)}`);
    const shown = await bench.pixels(page, "#map");
    for (const tile of small) expect(clay(shown, tile).share > 0.03, `the picture of ${tile.name} is empty`);
    await page.keyboard.press("Shift+P");
    const without = await bench.pixels(page, "#map");
    expect(changed(shown, without) > 500 && (await tilesOf(page)).length === 0, "the forms do not go away");
    await page.keyboard.press("Shift+P");

    // The whole window, with fainter forms in between.
    const before = await page.locator("#map").boundingBox();
    await page.click("button:text-is('Enlarge map')");
    await pictured(page);
    const box = await page.locator("#map").boundingBox();
    expect(box.width > 0.7 * 1200 && box.height > 0.85 * 768, `the map is ${box.width} × ${box.height}`);
    const tiles = await tilesOf(page);
    const [grid, examples] = [tiles.filter(({ name }) => !name), tiles.filter(({ name }) => name)];
    expect(grid.length > 15 && examples.length >= 4, `there are ${examples.length} examples and ${grid.length} forms between them`);
    const large = await bench.pixels(page, "#map");
    const mean = (list) => list.map((tile) => clay(large, tile).warmth).reduce((sum, w) => sum + w, 0) / list.length;
    expect(mean(grid) < 0.75 * mean(examples), `forms in between are as strong (${mean(grid)}) as examples (${mean(examples)})`);
    expect(clay(large, grid[0]).share > 0.01, "a form in between is empty");

    // Another weigher, and the forms in between are drawn again.
    const drawn = () => page.evaluate(() => document.getElementById("map").forms.drawn);
    const count = await drawn();
    await page.evaluate(() => window.exemplar.edit("moved", (tree) => ({ ...tree, layers: tree.layers.map((layer) => ({ ...layer,
        examples: layer.examples.map((e) => (/^bent/.test(e.name) ? { ...e, at: { ...e.at, elbow: 60 } } : e)) })) })));
    await pictured(page);
    await page.evaluate(() => document.getElementById("map").blur());
    const again = await bench.pixels(page, "#map");
    const same = grid.filter((tile) => Math.abs(clay(large, tile).share - clay(again, tile).share) < 1e-9).length;
    expect((await drawn()) > count && same < grid.length / 2, `after an edit, ${same} of ${grid.length} forms are as before`);

    // A picture is taken by the pointer as its example. The rest of the page rests.
    const at = await onMap(page, [60, 0]);
    await page.mouse.click(at.x + 25, at.y - 25);
    expect((await page.evaluate(() => window.exemplar.selection.example)) === "up_female", "a click on a picture does not select its example");
    expect(await page.evaluate(() => document.querySelector(".column.left").inert), "what the map covers can be reached");
    await page.keyboard.press("Escape");
    await frames(page, 2);
    const after = await page.locator("#map").boundingBox();
    expect(after.width === before.width && !(await page.evaluate(() => document.querySelector("[inert]"))), "Escape does not return");
    await page.keyboard.press("l");
    expect((await page.locator("#map").boundingBox()).width === box.width, "the key does not enlarge the map");
    expect(page.problems.length === 0, page.problems.join("; "));
    return `${tiles.length} forms`;
};

/** Names and numbers that cover each other or cross the border of the element. */
export const collisions = (page, selector) => page.evaluate((of) => {
    const canvas = document.querySelector(of);
    const { left, top, right, bottom } = canvas.getBoundingClientRect();
    const all = canvas.labels();
    const wrong = all.filter((a) => a.left < left || a.top < top || a.left + a.width > right || a.top + a.height > bottom)
        .map(({ text }) => `'${text}' is cut`);
    all.forEach((a, i) => all.slice(i + 1).forEach((b) => {
        if (a.left < b.left + b.width - 0.5 && b.left < a.left + a.width - 0.5 && a.top < b.top + b.height - 0.5 && b.top < a.top + a.height - 0.5)
            wrong.push(`'${a.text}' covers '${b.text}'`);
    }));
    return { wrong, names: all.map(({ text }) => text) };
}, selector);

const namesOnMap = async (bench) => {
    let count = 0;
    for (const demo of ["arm", "face", "blob"]) {
        const page = await bench.open(bench.demo(demo), { width: 400, height: 800 });
        const look = async (what) => {
            await frames(page, 3);
            const { wrong, names } = await collisions(page, "#map");
            expect(wrong.length === 0, `${demo}, ${what}: ${wrong.join("; ")}`);
            const missing = await page.evaluate((seen) => {
                const { example } = window.exemplar.selection;
                return example !== null && !seen.includes(example);
            }, names);
            expect(!missing && names.length > 8, `${demo}, ${what}: there are only ${names}`);
            count += names.length;
        };
        for (const width of [400, 1440]) {
            await page.setViewportSize({ width, height: 800 });
            for (const key of ["l", "n", "Escape", "Shift+N"]) {
                await page.keyboard.press(key);
                await look(`${width} pixels, after ${key}`);
            }
        }
        await page.context().close();
    }
    return `${count} names and numbers`;
};

export const cases = {
    "forms on the map": forms,
    "names on the map": namesOnMap,
};
