// The space with the mouse: the first view, dragging examples, the Alt gesture, undo, save, reload.
import { readFileSync, writeFileSync } from "node:fs";
import { apart, changed, drag, expect, json, onMap, positions, save, settled } from "./harness.mjs";

/** Number of pixels that are not background, and the variation of their brightness. */
const shown = ({ width, height, data }) => {
    // The background is the most common colour of the outermost columns, taken from the rows above the form.
    const counts = new Map();
    for (let y = 0; y < height; y++)
        for (const x of [2, width - 3]) {
            const i = 4 * (y * width + x);
            const key = `${data[i] >> 3},${data[i + 1] >> 3},${data[i + 2] >> 3}`;
            counts.set(key, (counts.get(key) ?? 0) + 1);
        }
    const ground = [...counts].sort((a, b) => b[1] - a[1])[0][0].split(",").map((v) => 8 * v + 4);
    let count = 0;
    let sum = 0;
    let squares = 0;
    for (let i = 0; i < data.length; i += 4) {
        const distance = Math.abs(data[i] - ground[0]) + Math.abs(data[i + 1] - ground[1]) + Math.abs(data[i + 2] - ground[2]);
        if (distance < 48) continue;
        const light = (data[i] + data[i + 1] + data[i + 2]) / 3;
        count++;
        sum += light;
        squares += light * light;
    }
    const mean = sum / Math.max(count, 1);
    return { share: count / (width * height), spread: Math.sqrt(Math.max(squares / Math.max(count, 1) - mean * mean, 0)) };
};

const firstFrame = (name) => async (bench) => {
    const page = await bench.open(bench.demo(name));
    const { share, spread } = shown(await bench.pixels(page, "#view"));
    expect(share > 0.03 && share < 0.8, `${(100 * share).toFixed(1)} % of the view are covered`);
    expect(spread > 6, `the form is of one colour (brightness varies by ${spread.toFixed(1)})`);
    expect(page.problems.length === 0, page.problems.join("; "));
    return `${(100 * share).toFixed(0)} % covered`;
};

/** The surface from the tool, for the saved project at a pose. */
const native = (bench, project, words) => {
    const rig = project.replace(/\.json$/, ".saved.glb");
    const form = project.replace(/\.json$/, ".saved.obj");
    bench.run("build", project, "-o", rig, "-q");
    bench.run("pose", rig, ...words, "--level", "cage", "-o", form, "-q");
    return Float32Array.from(readFileSync(form, "utf8").split("\n").filter((line) => line.startsWith("v "))
        .flatMap((line) => line.split(/\s+/).slice(1, 4).map(Number)));
};

/** The page's surface in the order of the source file, before refinement. */
const cage = async (page) => Float32Array.from(await page.evaluate(() => {
    const { stage } = window.exemplar;
    const surface = stage.rig.surface({ level: 0, split: false, normals: false }).evaluate(stage.pose);
    const numbers = [...surface.positions];
    surface.dispose();
    return numbers;
}));

const POSE = ["bend=0.6", "thickness=0.7"];
const pose = (page) => page.evaluate(() => window.exemplar.setPlace({ bend: 0.6, thickness: 0.7 }));

const dragExample = async (bench) => {
    const project = bench.demo("blob");
    const page = await bench.open(project);
    await pose(page);
    const [before, picture] = [await positions(page), await bench.pixels(page, "#view")];
    const { name, at } = json(project).layers[0].examples.find((e) => e.at.thickness === 1);
    const [from, to] = [await onMap(page, [at.bend, at.thickness]), await onMap(page, [at.bend - 0.3, 0.8])];
    const live = await drag(page, from, to, { during: () => positions(page) });
    expect(apart(before, live) > 1e-3, "the surface did not follow while the example was dragged");
    await settled(page);
    const after = await positions(page);
    expect(apart(live, after) < 1e-5, "the surface changed when the example was let go");
    const pixels = changed(picture, await bench.pixels(page, "#view"));
    expect(pixels > 200, `only ${pixels} pixels changed`);
    await save(page);
    const moved = json(project).layers[0].examples.find((e) => e.name === name).at;
    expect(Math.abs(moved.bend - (at.bend - 0.3)) < 0.03 && Math.abs(moved.thickness - 0.8) < 0.03,
        `saved at ${JSON.stringify(moved)}`);
    const error = apart(await cage(page), native(bench, project, POSE));
    expect(error < 2e-6, `the page and the tool differ by ${error}`);
    return `${pixels} pixels changed, page and tool agree within ${error.toExponential(1)} m`;
};

/** In a layer of un-posed forms, moving an example un-poses it again, and page and tool agree. */
const dragUnposed = async (bench) => {
    const project = bench.demo("arm");
    const page = await bench.open(project);
    await page.evaluate(() => window.exemplar.setPlace({ elbow: 70, shoulder: 20, gender: 0 }));
    const axes = await page.evaluate(() => window.exemplar.rigLayer.inputs.map((input) => input.name));
    await page.selectOption("#map-x", { label: axes[1] }).catch(() => page.selectOption("#map-x", axes[1]));
    await page.selectOption("#map-y", { label: axes[3] }).catch(() => page.selectOption("#map-y", axes[3]));
    const before = await positions(page);
    await drag(page, await onMap(page, [110, 0]), await onMap(page, [95, 0.02]));
    await save(page);
    expect(apart(before, await positions(page)) > 1e-4, "nothing moved");
    const moved = json(project).layers[0].examples.find((e) => e.name === "bent_female").at.elbow;
    expect(Math.abs(moved - 95) < 3, `saved at ${moved}`);
    const words = ["elbow=70", "shoulder=20", "gender=0"];
    const error = apart(await cage(page), native(bench, project, words));
    expect(error < 2e-6, `the page and the tool differ by ${error}`);
    return `page and tool agree within ${error.toExponential(1)} m`;
};

const gesture = async (bench) => {
    const project = bench.demo("blob");
    const original = json(project);
    const page = await bench.open(project);
    const [from, to] = [await onMap(page, [-0.5, 0.25]), await onMap(page, [0.4, 0.45])];
    await drag(page, from, to, { key: "Alt" });
    await save(page);
    const made = json(project).layers[0].pseudo;
    const count = original.layers[0].pseudo?.length ?? 0;
    expect(made?.length === count + 1, `${made?.length ?? 0} pseudo-examples were saved`);
    const pseudo = made[count];
    expect(pseudo.weights && !pseudo.from, `it was saved as ${JSON.stringify(pseudo)}`);

    // Computed by hand: the tool's weights at the start of the gesture, placed at its end.
    const rig = project.replace(/\.json$/, ".first.glb");
    const hand = project.replace(/\.json$/, ".hand.json");
    writeFileSync(hand, JSON.stringify(original));
    bench.run("build", hand, "-o", rig, "-q");
    const began = await page.evaluate(({ x, y }) => document.getElementById("map").clientToPoint({ x, y }), from);
    const said = JSON.parse(bench.run("weights", rig, `bend=${began[0]}`, `thickness=${began[1]}`, "--json"));
    const weights = said.layers[0].weights;
    for (const [name, weight] of Object.entries(weights))
        expect(Math.abs((pseudo.weights[name] ?? 0) - weight) < 2e-6 * Math.max(1, Math.abs(weight)),
            `${name} has ${pseudo.weights[name]}, by hand ${weight}`);
    original.layers[0].pseudo = [...(original.layers[0].pseudo ?? []), { at: pseudo.at, weights: pseudo.weights }];
    writeFileSync(hand, JSON.stringify(original));
    const both = [hand, project].map((path) => {
        const out = path.replace(/\.json$/, ".end.glb");
        bench.run("build", path, "-o", out, "-q");
        return readFileSync(out);
    });
    expect(both[0].equals(both[1]), "the rig is not the one of the pseudo-example written by hand");
    return "the same rig, to the byte";
};

const undo = async (bench) => {
    const project = bench.demo("blob");
    const first = readFileSync(project);
    const page = await bench.open(project);
    const at = json(project).layers[0].examples[1].at;
    await drag(page, await onMap(page, [at.bend, at.thickness]), await onMap(page, [at.bend * 0.8, 0.9]));
    await settled(page);
    await drag(page, await onMap(page, [-0.5, 0.5]), await onMap(page, [0.3, 0.4]), { key: "Alt" });
    await settled(page);
    await page.evaluate(() => window.exemplar.edit("renamed", (tree) => ({ ...tree,
        layers: tree.layers.map((layer) => ({ ...layer, name: "space" })) })));
    await save(page);
    const last = readFileSync(project);
    expect(!last.equals(first), "nothing was changed");
    for (let i = 0; i < 3; i++) await page.keyboard.press("Control+z");
    await save(page);
    expect(readFileSync(project).equals(first), "undoing everything and saving does not give the first bytes back");
    expect(readFileSync(`${project}~`).equals(last), "the version before is not beside it");
    for (let i = 0; i < 3; i++) await page.keyboard.press("Control+Shift+z");
    await save(page);
    expect(readFileSync(project).equals(last), "doing everything again does not give the last bytes back");
};

const reload = async (bench) => {
    const project = bench.demo("blob");
    const page = await bench.open(project);
    const at = json(project).layers[0].examples[0].at;
    await drag(page, await onMap(page, [at.bend, at.thickness]), await onMap(page, [at.bend + 0.2, at.thickness + 0.1]));
    await save(page);
    await page.mouse.move(4, 4); // no preview next to the pointer
    await pose(page);
    const [before, picture] = [await positions(page), await bench.pixels(page, "#view")];
    await page.reload();
    await page.waitForSelector("body[data-ready=true]");
    await settled(page);
    await pose(page);
    expect(apart(before, await positions(page)) === 0, "the surface is another after the reload");
    const pixels = changed(picture, await bench.pixels(page, "#view"));
    expect(pixels === 0, `${pixels} pixels are others after the reload`);
};

/** Interrupting a drag, a selection or a save leaves nothing half done. */
const interrupted = async (bench) => {
    const project = bench.demo("blob");
    const page = await bench.open(project);
    const state = () => page.evaluate(() => {
        const { selection, isDragging, history, message } = window.exemplar;
        return { selection, isDragging, changed: history.changed, message: message?.text ?? "" };
    });
    const at = json(project).layers[0].examples[1].at;
    const [from, to] = [await onMap(page, [at.bend, at.thickness]), await onMap(page, [at.bend * 0.7, 0.7])];
    // A form is placed, then a second drag is undone while it continues: the first step stays, the drag ends.
    await drag(page, await onMap(page, [-0.5, 0.5]), await onMap(page, [0.3, 0.4]), { key: "Alt" });
    await settled(page);
    const placed = await page.evaluate(() => JSON.stringify(window.exemplar.tree));
    await drag(page, from, to, { during: async () => {
        await page.keyboard.press("Control+z");
        await page.mouse.move(to.x + 20, to.y);
    } });
    await settled(page);
    expect((await page.evaluate(() => JSON.stringify(window.exemplar.tree))) === placed, "undoing in a drag did not take back the drag alone");
    // The selection disappears with the step that made it.
    await page.evaluate(() => window.exemplar.select({ example: null, pseudo: window.exemplar.layer.pseudo.length - 1 }));
    await page.keyboard.press("Control+z");
    let now = await state();
    expect(now.selection.pseudo === null, `pseudo-example ${now.selection.pseudo} is selected, and is gone`);
    // Two saves at once: the second is not a conflict.
    await page.keyboard.press("Control+Shift+z");
    const saved = await page.evaluate(() => Promise.all([window.exemplar.save(), window.exemplar.save()]));
    expect(saved.join() === "true,true", `saving twice at once gives ${saved}: ${(await state()).message}`);
    // A change that cannot be built is undone, together with its selection.
    await page.evaluate(() => {
        const { exemplar } = window;
        exemplar.edit("nonsense", (tree) => ({ ...tree, layers: [...tree.layers, { ...tree.layers[0], name: "second", mesh: 3 }] }));
        exemplar.select({ layer: 1 });
    });
    await settled(page);
    now = await state();
    expect(now.selection.layer === 0 && /was undone/.test(now.message), `layer ${now.selection.layer} is selected; ${now.message}`);
    // If it is undone before the refusal, there is no message, and the next change is built.
    const said = await page.evaluate(async () => {
        const { exemplar } = window;
        exemplar.edit("nonsense", (tree) => ({ ...tree, mesh: 3 }));
        exemplar.undo();
        exemplar.edit("renamed", (tree) => ({ ...tree, layers: tree.layers.map((layer) => ({ ...layer, name: "one" })) }));
        await exemplar.build();
        return `${exemplar.stage.built.layers[0].name}, ${exemplar.message?.kind ?? "nothing"}`;
    });
    expect(said === "one, nothing", `built and said: ${said}`);
    const problems = page.problems.filter((problem) => !/422/.test(problem)); // the refusal is expected
    expect(!now.isDragging && problems.length === 0, problems.join("; "));
};

export const cases = {
    "first frame of a blob": firstFrame("blob"),
    "first frame of an arm": firstFrame("arm"),
    "first frame of a face": firstFrame("face"),
    "an example is dragged": dragExample,
    "an un-posed example is dragged": dragUnposed,
    "a form is taken here and placed there": gesture,
    "undo gives the same bytes": undo,
    "a reload shows the same": reload,
    "what is interrupted leaves nothing half done": interrupted,
};
