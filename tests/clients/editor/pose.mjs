// Posing by hand: sliders and fields, the ball of a rotation, the triangle of three examples, the bars of weights.
import { readFileSync } from "node:fs";
import { apart, changed, drag, expect, json, positions, settled } from "./harness.mjs";

const value = (page, input) => page.evaluate((name) => window.exemplar.stage.pose.get(name), input);
const axis = (name, what) => `.axis[data-input="${name}"] ${what}`;
const frame = (page) => page.evaluate(() => new Promise((done) => {
    window.exemplar.frame();
    requestAnimationFrame(() => done());
}));
const near = (a, b, by = 1e-6) => Math.abs(a - b) < by;
const middle = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

/** Slider, keys and field set the dial, and the form follows. Only the field can leave the range. */
const slider = async (bench) => {
    const project = bench.demo("blob");
    const { min, max } = json(project).layers[0].space.find(({ name }) => name === "bend");
    const page = await bench.open(project);
    const before = await positions(page);
    const picture = await bench.pixels(page, "#view");
    await page.keyboard.press("g");
    for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowRight");
    const stepped = await value(page, "bend");
    expect(near(stepped, 0.2 * (max - min)), `twenty steps of a hundredth are ${stepped}`);
    expect(apart(before, await positions(page)) > 1e-3, "the form did not follow the slider");
    const pixels = changed(picture, await bench.pixels(page, "#view"));
    expect(pixels > 200, `only ${pixels} pixels changed`);

    const field = page.locator(axis("bend", ".number"));
    await field.fill(String(max + 0.5));
    expect((await value(page, "bend")) === max + 0.5, `typed ${max + 0.5}, set ${await value(page, "bend")}`);
    await field.press("Enter");
    await frame(page);
    expect((await field.inputValue()) === String(max + 0.5), `the field shows ${await field.inputValue()}`);
    expect((await page.locator(axis("bend", "input[type=range]")).inputValue()) === String(max), "the slider is not at its end");
    await field.fill("-");
    expect((await value(page, "bend")) === max + 0.5, "half a number was taken");
    await field.press("Escape");
    expect((await field.inputValue()) === String(max + 0.5), `it shows ${await field.inputValue()} after Escape`);
    await page.locator(axis("bend", ".name")).dblclick();
    expect(apart(before, await positions(page)) === 0, "a double click on the name does not give rest");
    expect(!(await page.evaluate(() => window.exemplar.history.changed)), "posing changed the project");
    expect(page.problems.length === 0, page.problems.join("; "));
};

/** The bars are the weights: numbers, lengths and sides; clicks select, double clicks go there. */
const bars = async (bench) => {
    const page = await bench.open(bench.demo("blob"));
    await page.evaluate(() => window.exemplar.setPlace({ bend: 0.7, thickness: -0.2 }));
    await frame(page);
    const { weights, rows } = await page.evaluate(() => {
        const { stage, rigLayer } = window.exemplar;
        const all = [...stage.surface.weights].slice(rigLayer.firstExample, rigLayer.firstExample + rigLayer.examples.length);
        const shown = [...document.querySelectorAll(".weights .weight")].map((row) => {
            const [track, bar] = [".track", ".bar"].map((part) => row.querySelector(part).getBoundingClientRect());
            const zero = track.left + track.width / 4;
            return { name: row.querySelector(".name").textContent, text: row.querySelector(".value").textContent,
                left: (bar.left - zero) / track.width, right: (bar.right - zero) / track.width };
        });
        return { rows: shown, weights: rigLayer.examples.map(({ name }, k) => [name, all[k]]) };
    });
    expect(rows.length === weights.length && rows.length > 2, `${rows.length} bars of ${weights.length} weights`);
    expect(weights.some(([, weight]) => weight < -0.01), "no weight is below zero here");
    const longest = rows.map(({ left, right }, k) => (right - left) / Math.abs(weights[k][1])).find(Number.isFinite);
    rows.forEach(({ name, text, left, right }, k) => {
        const [wanted, weight] = weights[k];
        expect(name === wanted, `${name} is in the place of ${wanted}`);
        expect(near(Number(text.replace("\u2212", "-")), weight, 0.00051), `${name} shows ${text}, not ${weight}`);
        const [from, to] = weight < 0 ? [weight * longest, 0] : [0, weight * longest];
        expect(near(left, from, 0.01) && near(right, to, 0.01), `the bar of ${name}, ${weight}, is from ${left} to ${right}`);
    });
    const sum = weights.reduce((total, [, weight]) => total + weight, 0);
    expect((await page.textContent(".weights .sum")).includes(sum.toFixed(3)), await page.textContent(".weights .sum"));
    const last = page.locator(".weights .weight").last();
    await last.dblclick();
    await frame(page);
    expect((await page.evaluate(() => window.exemplar.selection.example)) === weights.at(-1)[0], "a click does not select");
    expect((await last.locator(".value").textContent()) === "1.000", "a double click does not go there");
    return `${rows.length} bars`;
};

/** The ball: drag its spot, and the joint turns to it; the tool agrees about the form. */
const ball = async (bench) => {
    const project = bench.demo("shoulder");
    const page = await bench.open(project);
    const before = await positions(page);
    const canvas = page.locator(axis("shoulder", "canvas"));
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    const from = middle(box);
    await drag(page, from, { x: from.x + 14, y: from.y + 20 });
    await frame(page);
    const q = await value(page, "shoulder");
    expect(near(Math.hypot(...q), 1), "that is no rotation");
    expect(near(q[0], 0), `a swing about x came with a turn: ${q}`);
    const pointed = [1 - 2 * (q[1] ** 2 + q[2] ** 2), 2 * (q[0] * q[1] + q[3] * q[2]), 2 * (q[0] * q[2] - q[3] * q[1])];
    const screen = await page.evaluate(([x, y, z]) => {
        // The direction in the view, measured by how far points move with the pointer.
        const { picker } = window.exemplar;
        const along = (dx, dy) => {
            const d = picker?.drag([0, 0, 0], { clientX: 0, clientY: 0 }, { clientX: dx, clientY: dy }) ?? [dx, -dy, 0];
            return (d[0] * x + d[1] * y + d[2] * z) / Math.hypot(...d);
        };
        return [along(1, 0), along(0, 1)];
    }, pointed);
    expect(near(screen[0], 14 / 46, 0.02) && near(screen[1], 20 / 46, 0.02), `the bone points to ${screen} of the ball`);
    const shown = await page.locator(axis("shoulder", ".number")).evaluateAll((fields) => fields.map((f) => Number(f.value)));
    const angle = 2 * Math.acos(Math.min(1, Math.abs(q[3]))) * (180 / Math.PI);
    expect(near(Math.hypot(...shown), angle, 0.02), `the fields show ${shown}, it swings by ${angle}`);
    const live = await page.evaluate(() => {
        const { stage } = window.exemplar;
        const surface = stage.rig.surface({ level: 0, split: false, normals: false }).evaluate(stage.pose);
        const numbers = [...surface.positions];
        surface.dispose();
        return numbers;
    });
    const form = project.replace(/\.json$/, ".swung.obj");
    bench.run("pose", project.replace(/\.json$/, ".glb"), `shoulder=q:${q.join(",")}`, "--level", "cage", "-o", form, "-q");
    const native = readFileSync(form, "utf8").split("\n").filter((line) => line.startsWith("v "))
        .flatMap((line) => line.split(/\s+/).slice(1, 4).map(Number));
    const error = apart(live, native);
    expect(error < 2e-6, `the page and the tool differ by ${error}`);
    await canvas.press("Home");
    expect(apart(before, await positions(page)) < 1e-7, "Home does not give rest");
    await canvas.press("Shift+ArrowUp");
    expect(apart(before, await positions(page)) > 1e-3, "the arrow keys do not swing it");
    return `${angle.toFixed(1)} degrees, page and tool agree within ${error.toExponential(1)} m`;
};

/** The triangle: the example itself at a corner, the mean of the three in the middle. */
const triangle = async (bench) => {
    const project = bench.demo("arm");
    const page = await bench.open(project);
    await page.evaluate(() => (document.querySelector(".triangle").open = true));
    const names = ["bent_female", "up_female", "straight_male"];
    const selects = page.locator(".triangle select");
    for (let k = 0; k < 3; k++) await selects.nth(k).selectOption(names[k]);
    const field = page.locator(".triangle .field");
    await field.scrollIntoViewIfNeeded();
    const box = await field.boundingBox();
    const corners = [[box.width / 2, 10], [10, box.height - 10], [box.width - 10, box.height - 10]]
        .map(([x, y]) => ({ x: box.x + x, y: box.y + y }));
    for (let k = 0; k < 3; k++) {
        await drag(page, middle(box), corners[k], { steps: 4 });
        const there = await positions(page);
        await page.evaluate((name) => window.exemplar.goTo(0, name), names[k]);
        expect(apart(there, await positions(page)) === 0, `corner ${k + 1} is not ${names[k]}`);
    }
    await field.press("Home");
    await frame(page);
    const coordinates = () => page.locator(".triangle .coordinate").allTextContents();
    expect((await coordinates()).every((text) => text === "0.333"), `the middle is ${await coordinates()}`);
    await field.press("Shift+ArrowRight");
    await frame(page);
    const numbers = (await coordinates()).map(Number);
    expect(numbers[2] > 0.37 && numbers[1] < 0.3, `the point did not go to the right: ${numbers}`);
    const places = names.map((name) => json(project).layers[0].examples.find((e) => e.name === name).at);
    for (const [name, range] of [["shoulder", 120], ["elbow", 140], ["wrist", 120], ["gender", 1]]) {
        const mean = places.reduce((sum, at, k) => sum + (at[name] ?? 0) * numbers[k], 0);
        expect(near(await value(page, name), mean, 0.001 * range), `${name} is ${await value(page, name)}, the blend is ${mean}`);
    }
};

/** In a layer whose axes are its weights, the point's coordinates are the weights (figure 5 of Trajectory Warping). */
const paths = async (bench) => {
    const page = await bench.open(bench.demo("bar"));
    await page.evaluate(() => (document.querySelector(".triangle").open = true));
    const field = page.locator(".triangle .field");
    await field.scrollIntoViewIfNeeded();
    const box = await field.boundingBox();
    await page.mouse.click(box.x + 0.55 * box.width, box.y + 0.6 * box.height);
    await frame(page);
    const [numbers, weights] = await page.evaluate(() => [
        [...document.querySelectorAll(".triangle .coordinate")].map((e) => Number(e.textContent)),
        [...window.exemplar.stage.surface.weights]]);
    expect(numbers[1] > 0.1 && numbers[2] > 0.1, `the point is at ${numbers}`);
    expect(near(numbers[1], weights[0], 0.00051) && near(numbers[2], weights[1], 0.00051), `${numbers} gives ${weights}`);
};

/** Keys step through the examples of the layer, and the panel survives a rebuild of the rig. */
const keys = async (bench) => {
    const project = bench.demo("blob");
    const names = json(project).layers[0].examples.map(({ name }) => name);
    const page = await bench.open(project);
    for (const [key, wanted] of [[".", names[0]], [".", names[1]], [",", names[0]], [",", names.at(-1)]]) {
        await page.keyboard.press(key);
        await frame(page);
        const { chosen, weight } = await page.evaluate(() => {
            const { selection, rigLayer, stage } = window.exemplar;
            const k = rigLayer.examples.findIndex(({ name }) => name === selection.example);
            return { chosen: selection.example, weight: stage.surface.weights[rigLayer.firstExample + k] };
        });
        expect(chosen === wanted && near(weight, 1, 1e-5), `'${key}' goes to ${chosen}, with a weight of ${weight}, not to ${wanted}`);
    }
    const field = page.locator(axis("bend", ".number"));
    await field.fill("0.25");
    await page.evaluate(() => window.exemplar.edit("renamed", (tree) => ({ ...tree,
        layers: tree.layers.map((layer) => ({ ...layer, name: "space" })) })));
    await settled(page);
    expect(near(await value(page, "bend"), 0.25), "the pose was lost with the new rig");
    await page.locator(axis("bend", ".number")).fill("0.5");
    expect(near(await value(page, "bend"), 0.5), "the field does not set the new rig's pose");
};

export const cases = {
    "a slider moves the form": slider,
    "bars are the weights": bars,
    "a ball turns a joint": ball,
    "a triangle blends three examples": triangle,
    "a triangle of paths": paths,
    "keys go through the examples": keys,
};
