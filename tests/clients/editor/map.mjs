// The map of the space: its axes, pseudo-examples, the colours of weights, the reach of an example, and everything by
// keys.
import { readFileSync, writeFileSync } from "node:fs";
import { apart, changed, drag, expect, json, onMap, positions, save, settled, WIDE } from "./harness.mjs";

const near = (a, b, within) => Math.abs(a - b) <= within;

/** The mean red, green, blue around a point of the map. */
const colourAt = async (page, picture, point) => {
    const at = await onMap(page, point);
    const box = await page.locator("#map").boundingBox();
    const sum = [0, 0, 0];
    let count = 0;
    for (let dy = -2; dy <= 2; dy++)
        for (let dx = -2; dx <= 2; dx++) {
            const i = 4 * (Math.round(at.y - box.y + dy) * picture.width + Math.round(at.x - box.x + dx));
            for (let c = 0; c < 3; c++) sum[c] += picture.data[i + c];
            count++;
        }
    return sum.map((v) => v / count);
};

const pseudo = async (bench) => {
    const project = bench.demo("blob");
    const first = readFileSync(project);
    const before = json(project).layers[0].pseudo;
    const page = await bench.open(project);
    await page.evaluate(() => window.exemplar.setPlace({ bend: 0.5, thickness: 0.9 }));
    const form = await positions(page);
    const { at, from } = before[1];
    const live = await drag(page, await onMap(page, [at.bend, at.thickness]), await onMap(page, [at.bend * 0.6, 0.8]),
        { during: () => positions(page) });
    expect(apart(form, live) > 1e-4, "the surface did not follow the pseudo-example");
    await save(page);
    const moved = json(project).layers[0].pseudo[1];
    expect(near(moved.at.bend, at.bend * 0.6, 0.02) && near(moved.at.thickness, 0.8, 0.02), `saved at ${JSON.stringify(moved)}`);
    expect(JSON.stringify(moved.from) === JSON.stringify(from), "where its form is taken changed, too");

    await page.keyboard.press("Delete");
    await save(page);
    const left = json(project).layers[0].pseudo;
    expect(left.length === before.length - 1, `${left.length} pseudo-examples are left`);
    expect(JSON.stringify(left[0]) === JSON.stringify(before[0]), "the other one was deleted");
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+z");
    await save(page);
    expect(readFileSync(project).equals(first), "undoing both does not give the first bytes back");

    // Escape cancels a drag.
    const [start, end] = [await onMap(page, [at.bend, at.thickness]), await onMap(page, [at.bend * 0.5, 0.6])];
    await drag(page, start, end, { during: () => page.keyboard.press("Escape") });
    await settled(page);
    expect(!(await page.evaluate(() => window.exemplar.history.changed)), "Escape did not take the drag back");

    // If the form cannot follow, because the pose is at another example, the page says so.
    await page.evaluate(() => window.exemplar.setPlace({ bend: 0, thickness: 0 }));
    const barrel = json(project).layers[0].examples.find((e) => e.name === "barrel").at;
    await drag(page, await onMap(page, [barrel.bend, barrel.thickness]), await onMap(page, [0.4, 0.7]));
    await settled(page);
    const said = await page.textContent("footer");
    expect(/pose is at 'thin', which keeps its form/.test(said), `of a form that does not follow the page says: ${said}`);
};

const heat = async (bench) => {
    const page = await bench.open(bench.demo("blob"), WIDE); // with less room, names cover the colours
    const caption = () => page.textContent(".map .caption");
    expect(/^Select an example/.test(await caption()), `with nothing selected the caption is: ${await caption()}`);
    const unselected = await bench.pixels(page, "#map");
    await page.selectOption("#map-weight", "none");
    const bare = await bench.pixels(page, "#map");
    await page.selectOption("#map-weight", { label: "thick" });
    const thick = await bench.pixels(page, "#map");
    expect(changed(bare, unselected) === 0, "with nothing selected the map has colours");
    expect(/weight of thick.*negative/.test(await caption()), `the caption is: ${await caption()}`);
    await page.selectOption("#map-weight", { label: "left" });
    const left = await bench.pixels(page, "#map");
    expect(changed(bare, thick) > 5000, `only ${changed(bare, thick)} pixels are coloured`);
    expect(changed(thick, left) > 5000, "another weight looks the same");

    // Blue for a large weight, red for a negative one.
    const weight = (point) => page.evaluate((at) => {
        const layer = window.exemplar.rigLayer;
        return layer.weights(at)[layer.examples.findIndex((e) => e.name === "thick")];
    }, point);
    const [high, low] = [[0.2, 0.93], [0.12, 0.27]];
    expect((await weight(high)) > 0.6 && (await weight(low)) < -0.05, "the demo's weights are others now");
    const [blue, red] = [await colourAt(page, thick, high), await colourAt(page, thick, low)];
    expect(blue[2] > blue[0] + 30, `a large weight has the colour ${blue}`);
    expect(red[0] > red[2] + 20, `a negative weight has the colour ${red}`);

    // The dashed line: some pixels along it have a strong red found nowhere else.
    const box = await page.locator("#map").boundingBox();
    let dashes = 0;
    for (let bend = -0.3; bend <= 0.3; bend += 0.02) {
        let [below, above] = [0.3, 0.6];
        for (let i = 0; i < 20; i++) {
            const middle = (below + above) / 2;
            if ((await weight([bend, middle])) < -0.01) below = middle;
            else above = middle;
        }
        const at = await onMap(page, [bend, above]);
        for (let dy = -1; dy <= 1; dy++) {
            const i = 4 * (Math.round(at.y - box.y + dy) * thick.width + Math.round(at.x - box.x));
            const [r, g, b] = thick.data.subarray(i, i + 3);
            if (r > g + 90 && r > b + 90) {
                dashes++;
                break;
            }
        }
    }
    expect(dashes >= 6, `the line around negative weights is seen at ${dashes} of 31 places`);
    return `${changed(bare, thick)} pixels coloured`;
};

const reach = async (bench) => {
    const project = bench.demo("shoulder");
    const tree = json(project);
    tree.layers[0].weigh = { kind: "gaussian", falloff: { shoulder: 42 } }; // the demo is calm, which has no reach
    writeFileSync(project, JSON.stringify(tree));
    const page = await bench.open(project);
    await page.evaluate(() => {
        window.exemplar.select({ example: "forward", pseudo: null });
        window.exemplar.setPlace({ shoulder: { y: -50 } });
    });
    await settled(page);
    const before = await positions(page);
    const handles = () => page.evaluate(() => document.getElementById("map").handles());
    const [handle] = await handles();
    expect(handle && /forward/.test(handle.text), "the selected example has no handle");
    const held = await drag(page, handle, { x: handle.x - 18, y: handle.y }, { during: () => page.evaluate(() =>
        [document.querySelector(".map .legend .place").textContent, document.getElementById("map").style.cursor]) });
    expect(/^forward reaches [\d.]+°/.test(held[0]) && held[1] === "grabbing", `while it is dragged the page shows: ${held}`);
    const live = await positions(page);
    expect(apart(before, live) > 1e-4, "the surface did not follow the handle");
    await save(page);
    const saved = json(project).layers[0].examples.find((e) => e.name === "forward").falloff;
    const degrees = 18 / ((await onMap(page, [1, 0])).x - (await onMap(page, [0, 0])).x);
    const was = Number(/reaches ([\d.]+)°/.exec(handle.text)[1]);
    expect(saved && near(Math.abs(saved.shoulder - was), degrees, 0.5),
        `by ${degrees} degrees from ${was}, it is saved as ${JSON.stringify(saved)}`);
    const built = apart(live, await positions(page));
    expect(built < 1e-5, `the rig that was built differs from what was shown by ${built}`);
    const [moved] = await handles(); // it may have moved to another side, away from marks
    expect(moved.text.includes(`${saved.shoulder}`), `it is saved as ${saved.shoulder}; the handle says: ${moved.text}`);
    await page.mouse.dblclick(moved.x, moved.y);
    await save(page);
    const { falloff } = json(project).layers[0].examples.find((e) => e.name === "forward");
    expect(falloff === undefined, `a double click leaves ${JSON.stringify(falloff)}`);
    expect(apart(before, await positions(page)) < 1e-5, "the default does not come back");
};

const keys = async (bench) => {
    const project = bench.demo("blob");
    const first = readFileSync(project);
    const { examples, pseudo: pseudos } = json(project).layers[0];
    const page = await bench.open(project);
    const selected = () => page.evaluate(() => window.exemplar.selection);
    await page.keyboard.press("n");
    await page.keyboard.press("n");
    expect((await selected()).example === examples[1].name, "N twice does not select the second example");
    await page.keyboard.press("Shift+N");
    expect((await selected()).example === examples[0].name, "Shift+N does not go back");
    await page.evaluate(() => {
        const { x, y } = document.getElementById("map").pointToClient([0.3, 0.6]);
        const move = () => document.getElementById("map").dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y }));
        window.exemplar.on("rig", () => queueMicrotask(move)); // before the next frame
    });
    await page.keyboard.press("Alt+ArrowRight");
    await page.keyboard.press("Alt+Shift+ArrowUp");
    await save(page);
    const moved = json(project).layers[0].examples[0].at;
    expect(near(moved.bend, examples[0].at.bend + 0.02, 1e-9) && near(moved.thickness, examples[0].at.thickness + 0.1, 1e-9),
        `moved to ${JSON.stringify(moved)}`);
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+z");
    await save(page);
    expect(readFileSync(project).equals(first), "each is not one step to undo");

    // Arrow keys on the map move the pose; T takes its form, Enter places it.
    await page.focus("#map");
    await page.keyboard.press("Shift+ArrowRight");
    const bend = await page.evaluate(() => window.exemplar.stage.pose.get("bend"));
    expect(near(bend, 0.2, 1e-9), `the pose went to ${bend}`);
    const weights = await page.evaluate(() => [...window.exemplar.rigLayer.weights([0.2, 0])]);
    await page.keyboard.press("t");
    await page.evaluate(() => window.exemplar.setPlace({ bend: -0.5, thickness: 0.5 }));
    await settled(page);
    await page.keyboard.press("Enter");
    await save(page);
    const made = json(project).layers[0].pseudo.at(-1);
    expect(json(project).layers[0].pseudo.length === pseudos.length + 1, "Enter placed nothing");
    expect(made.at.bend === -0.5 && made.at.thickness === 0.5, `placed at ${JSON.stringify(made.at)}`);
    examples.forEach(({ name }, k) =>
        expect(near(made.weights[name] ?? 0, weights[k], 1e-6), `${name} has ${made.weights[name]}, not ${weights[k]}`));
    expect(page.problems.length === 0, page.problems.join("; ")); // the pointer must not use a rig that is gone
};

const axes = async (bench) => {
    const page = await bench.open(bench.demo("arm"));
    const shown = () => page.evaluate(() => {
        const { x, y } = document.getElementById("map").shownAxes();
        return [x.name, y.name];
    });
    const all = await page.evaluate(() => window.exemplar.rigLayer.inputs.map((input) => input.name));
    expect(String(await shown()) === String(all.slice(0, 2)), `at first ${await shown()} are shown`);
    const picture = await bench.pixels(page, "#map");
    await page.selectOption("#map-x", { label: all[3] });
    await page.selectOption("#map-y", { label: all[3] });
    expect(String(await shown()) === String([all[1], all[3]]), `the axis that is chosen twice gives ${await shown()}`);
    expect(changed(picture, await bench.pixels(page, "#map")) > 300, "other axes look the same");

    // A press sets the pose, in the shown axes only.
    const at = await onMap(page, [70, 0.5]);
    await page.mouse.click(at.x, at.y);
    const pose = await page.evaluate(() => window.exemplar.rigLayer.inputs.map((i) => window.exemplar.stage.pose.get(i.index)));
    expect(near(pose[1], 70, 1.5) && near(pose[3], 0.5, 0.02) && near(pose[0], 0, 1e-4) && near(pose[2], 0, 1e-4),
        `the pose is ${pose}`);

    // Over one axis, weights are curves, and an example still moves along it.
    await page.selectOption("#map-y", { label: "weights" });
    await settled(page);
    const point = await page.evaluate(() => window.exemplar.rigLayer.examplePoint("bent_female")[1]);
    await page.evaluate(() => window.exemplar.select({ example: "bent_female" }));
    await settled(page);
    await drag(page, await onMap(page, [point, 1]), await onMap(page, [point - 20, 0.4]));
    await settled(page);
    const after = await page.evaluate(() => window.exemplar.example.at);
    expect(near(after.elbow, point - 20, 2) && (after.gender ?? 0) === 0, `moved to ${JSON.stringify(after)}`);
};

export const cases = {
    "a pseudo-example is dragged and deleted": pseudo,
    "the map has the colours of a weight": heat,
    "how far an example reaches": reach,
    "the map by keys": keys,
    "any two axes": axes,
};
