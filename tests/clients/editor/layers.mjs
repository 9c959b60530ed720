// Lists of layers and examples: rename, mute, delete, add from files; the weigher's settings; findings.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { apart, expect, json, positions, save, settled } from "./harness.mjs";

const row = (name) => `.examples [role=option]:has(.name:text-is("${name}"))`;
const names = (page) => page.$$eval(".examples .name", (all) => all.map((name) => name.textContent));

/** Renames, mutes and deletes by mouse and keys, saving each time, then undoes everything: the same bytes. */
const list = async (bench) => {
    const project = bench.demo("blob");
    // A pseudo-example refers to an example by name, so renaming must change it too.
    const start = json(project);
    start.layers[0].pseudo.push({ at: { bend: 0.5, thickness: 0.3 }, weights: { thin: 0.4, left: 0.5, thick: 0.1 } });
    writeFileSync(project, `${JSON.stringify(start, null, 2)}\n`);
    const first = readFileSync(project);
    const page = await bench.open(project);
    expect((await names(page)).slice(0, 5).join() === "thin,left,right,barrel,thick", `the list has ${await names(page)}`);

    // A double click goes there, also on the name, and so do Enter and the button. Unnamed pseudo-examples are counted
    // from 1.
    expect((await names(page))[5] === "pseudo 1", `the first pseudo-example is called ${(await names(page))[5]}`);
    const bend = () => page.evaluate(() => window.exemplar.stage.pose.get("bend"));
    await page.dblclick(`${row("left")} .name`);
    expect((await bend()) === start.layers[0].examples[1].at.bend, "a double click does not go there");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect((await bend()) === start.layers[0].examples[2].at.bend, "Enter does not go there");
    await page.click(row("left"));
    await page.click(".layers button:text-is('Go there')");
    expect((await bend()) === start.layers[0].examples[1].at.bend, "the button does not go there");

    await page.click(row("left"));
    await page.keyboard.press("F2");
    await page.keyboard.type("right");
    await page.keyboard.press("Enter");
    const said = await page.textContent("footer .message");
    expect(/different names/.test(said), `two of one name: it says '${said}'`);
    await page.keyboard.press("Control+a");
    await page.keyboard.type("leaning left");
    await page.keyboard.press("Enter");
    await save(page);
    const [layer] = json(project).layers;
    expect(layer.examples[1].name === "leaning left", `it is called ${layer.examples[1].name}`);
    expect(JSON.stringify(layer.pseudo[2].weights) === '{"thin":0.4,"leaning left":0.5,"thick":0.1}',
        `the pseudo-example has ${JSON.stringify(layer.pseudo[2].weights)}`);

    await page.evaluate(() => window.exemplar.setPlace({ bend: -0.8, thickness: 0.2 }));
    const before = await positions(page);
    await page.focus(row("leaning left"));
    await page.keyboard.press("m");
    await save(page);
    expect(json(project).layers[0].examples[1].muted === true, "it is not muted in the file");
    expect(apart(before, await positions(page)) > 1e-3, "muting an example changes nothing");
    await page.keyboard.press("ArrowDown");
    expect((await page.evaluate(() => window.exemplar.selection.example)) === "right", "the arrow does not go on");
    await page.keyboard.press("Delete");
    await save(page);
    expect(json(project).layers[0].examples.map((e) => e.name).join() === "thin,leaning left,barrel,thick",
        `after deleting there are ${await names(page)}`);
    const chosen = () => page.evaluate(() =>
        [window.exemplar.selection.example, document.activeElement.querySelector(".name")?.textContent].join());
    expect((await chosen()) === "barrel,barrel", `after deleting, selected and focused are ${await chosen()}`);
    await page.keyboard.press("Control+z");
    expect((await chosen()) === "right,right", `after the undo, selected and focused are ${await chosen()}`);
    await page.keyboard.press("Control+Shift+z");

    // The button deletes a pseudo-example, and undo brings it back.
    const pseudos = () => page.evaluate(() => window.exemplar.layer.pseudo.length);
    await page.click(row("pseudo 2"));
    await page.click(".layers [data-command=delete-example]");
    const undone = await page.evaluate(() => window.exemplar.undoLabel);
    expect((await pseudos()) === 2 && undone === "deleted 'pseudo-example 2'", `the last step is: ${undone}`);
    await page.keyboard.press("Control+z");
    expect((await pseudos()) === 3 && (await page.evaluate(() => window.exemplar.selection.pseudo)) === 1, "it is not selected again");

    for (let i = 0; i < 3; i++) await page.keyboard.press("Control+z");
    await save(page);
    expect(readFileSync(project).equals(first), "undoing everything does not give the first bytes back");
    expect(apart(before, await positions(page)) === 0, "undoing does not bring the surface back");
    expect(page.problems.length === 0, page.problems.join("; "));
};

/** Drops files onto the page. */
export const drop = (page, files) => page.evaluate(async (all) => {
    const transfer = new DataTransfer();
    for (const { name, text } of all) transfer.items.add(new File([text], name));
    for (const kind of ["dragover", "drop"])
        document.getElementById("app").dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}, files);

const vertices = (text) => text.split("\n").filter((line) => line.startsWith("v "))
    .flatMap((line) => line.split(/\s+/).slice(1, 4).map(Number));

/** A dropped form becomes an example at the current pose, and comes back there. */
const dropped = async (bench) => {
    const project = bench.demo("blob");
    const page = await bench.open(project);
    const base = readFileSync(join(dirname(project), "barrel.obj"), "utf8");
    const text = base.replace(/^v (\S+) (\S+) (\S+)/gm, (_, x, y, z) => `v ${1.3 * x} ${(0.9 * y).toFixed(6)} ${+z + 0.05}`);
    await page.evaluate(() => window.exemplar.setPlace({ bend: 0.4, thickness: 0.3 }));
    await drop(page, [{ name: "happy.obj", text }]);
    await page.waitForFunction(() => window.exemplar.tree.layers[0].examples.some((e) => e.name === "happy"));
    await settled(page);
    const form = await page.evaluate(() => {
        const { stage } = window.exemplar;
        const surface = stage.rig.surface({ level: 0, split: false, normals: false }).evaluate(stage.pose);
        return [...surface.positions];
    });
    const error = apart(form, vertices(text));
    expect(error < 1e-5, `the form comes back ${error} m off`);
    await save(page);
    const example = json(project).layers[0].examples.at(-1);
    expect(JSON.stringify(example) === '{"name":"happy","mesh":"happy.obj","at":{"bend":0.4,"thickness":0.3}}', JSON.stringify(example));
    expect(readFileSync(join(dirname(project), "happy.obj"), "utf8") === text, "the file is not the one that was dropped");

    // Two files at once, at an existing example: placed next to it, in one step. Then a file that is not an example.
    await drop(page, ["a.obj", "b.obj"].map((name) => ({ name, text })));
    await page.waitForFunction(() => window.exemplar.tree.layers[0].examples.length === 8);
    await settled(page);
    const all = await page.evaluate(() => window.exemplar.tree.layers[0].examples.map((e) => JSON.stringify(e.at)));
    expect(new Set(all).size === 8, "two examples are at the same place");
    expect(/next to it/.test(await page.textContent("footer .message")), await page.textContent("footer .message"));
    await page.keyboard.press("Control+z");
    expect((await names(page)).filter((name) => /^[ab]$/.test(name)).length === 0, "one step does not take both back");
    await drop(page, [{ name: "other.json", text: "{}" }]);
    await page.waitForFunction(() => /project/.test(document.querySelector("footer .message").textContent));
    return `${(1e3 * error).toFixed(5)} mm`;
};

/** Changes the kernel, live and saved; compares another kind, and takes it. */
const weigher = async (bench) => {
    const project = bench.demo("blob");
    const first = readFileSync(project);
    const page = await bench.open(project);
    await page.evaluate(() => {
        document.querySelectorAll("details:has(> .weigher)").forEach((part) => (part.open = true));
        window.exemplar.setPlace({ bend: 0.45, thickness: 0.35 });
    });
    const before = await positions(page);
    await page.selectOption(".weigher select[aria-label=Kernel]", "triharmonic");
    const live = await positions(page);
    expect(apart(before, live) > 1e-4, "another kernel changes nothing");
    await save(page);
    expect(json(project).layers[0].weigh.kernel === "triharmonic", JSON.stringify(json(project).layers[0].weigh));
    expect(apart(live, await positions(page)) < 1e-5, "the surface is another when it is built");
    await page.waitForFunction(() => /Condition/.test(document.querySelector(".weigher .state").textContent));

    await page.click(".weigher button:text-is('Compare…')");
    await page.selectOption(".weigher select[aria-label='Kind of B']", "shepard");
    const both = await page.evaluate(() => {
        window.exemplar.frame();
        const { stage, other } = window.exemplar;
        return [[...stage.surface.positions], [...other.surface.positions]];
    });
    const between = apart(...both);
    expect(apart(both[0], live) === 0 && between > 1e-4, `the two are ${between} m apart`);
    await page.waitForFunction(() => parseFloat(document.querySelector("[data-figure=apart]").textContent) > 0.1);
    expect(/0\.00 to|0\.\d\d to [01]\.\d\d/.test(await page.textContent("[data-figure=b]")), await page.textContent("[data-figure=b]"));
    expect(json(project).layers[0].weigh.kind === "cardinal", "comparing changed the project");
    await page.click(".weigher button:text-is('Use settings B')");
    await save(page);
    expect(apart(both[1], await positions(page)) < 1e-5, "what was taken is not what was shown");
    expect(JSON.stringify(json(project).layers[0].weigh) === '{"kind":"shepard"}', JSON.stringify(json(project).layers[0].weigh));
    for (let i = 0; i < 2; i++) await page.keyboard.press("Control+z");
    await save(page);
    expect(readFileSync(project).equals(first), "undoing does not give the first bytes back");
    expect(page.problems.length === 0, page.problems.join("; "));
    return `${(1000 * between).toFixed(1)} mm apart`;
};

/** Two settings of a skin differ by as much whether the view shows the skin or clay, which needs no blended skin. */
const skins = async (bench) => {
    const page = await bench.open(bench.demo("face"));
    const most = (place) => page.evaluate(async (at) => {
        const { exemplar } = window;
        exemplar.setPlace(at);
        exemplar.frame();
        await new Promise((done) => setTimeout(done, 300)); // numbers are not written with every frame
        return parseFloat(document.querySelector("[data-figure=apart]").textContent);
    }, place);
    await page.evaluate(() => {
        const { exemplar } = window;
        const { tree, stage } = exemplar;
        const layer = tree.layers.findIndex((l) => stage.rig.layers.find((r) => r.name === l.name)?.domain === "pixels");
        exemplar.select({ layer });
        exemplar.display.surface = "texture";
        document.querySelectorAll("details:has(> .weigher)").forEach((part) => (part.open = true));
    });
    await page.click(".weigher button:text-is('Compare…')");
    await page.selectOption(".weigher select[aria-label='Kind of B']", "nearest");
    const space = await page.evaluate(() => window.exemplar.layer.space);
    const places = [0.2, 0.37].map((t) => Object.fromEntries(space.map(({ name, min, max }) => [name, min + t * (max - min)])));
    const shown = [];
    for (const place of places) shown.push(await most(place));
    expect(shown[0] > 1 && shown[0] !== shown[1], `the skins differ by ${shown} %`);
    await page.evaluate(() => (window.exemplar.display.surface = "shaded"));
    for (const [i, place] of places.entries())
        expect((await most(place)) === shown[i], `in clay they do not differ by ${shown[i]} % as before`);
    return `${shown.join(" and ")} %`;
};

/** Findings of `check` are in the list of findings and marked at the examples; a click goes there. */
const found = async (bench) => {
    const project = bench.demo("blob");
    const start = json(project);
    start.layers[0].examples[3].at = { bend: 0, thickness: 0.003 };
    writeFileSync(project, JSON.stringify(start));
    const page = await bench.open(project);
    const warning = ".findings details[data-severity=warning] button.finding:has-text('nearly at the same place')";
    await page.waitForSelector(warning);
    const marked = await page.$$eval(".examples [role=option]:has(.mark:not([hidden]))", (rows) =>
        rows.map((row) => [row.querySelector(".name").textContent, row.querySelector(".mark").title]));
    expect(marked.filter(([, title]) => /nearly at the same place/.test(title)).map(([name]) => name).join() === "thin,barrel",
        `marked are ${JSON.stringify(marked)}`);
    await page.evaluate(() => window.exemplar.setPlace({ bend: 1, thickness: 1 }));
    await page.click(warning);
    const { example, place } = await page.evaluate(() => ({ example: window.exemplar.selection.example,
        place: [window.exemplar.stage.pose.get("bend"), window.exemplar.stage.pose.get("thickness")] }));
    expect(example === "thin" && place.join() === "0,0", `it went to ${example} at ${place}`);
    // When the cause is gone, both disappear.
    await page.click(row("barrel"));
    await page.keyboard.press("Delete");
    await page.waitForFunction(() => !document.querySelector(".examples .mark:not([hidden])"));
    expect((await page.$(warning)) === null, "it is still found");
};

/** Adds a layer with keys alone. It changes nothing until a form is dropped at the end of its axis. */
const newLayer = async (bench) => {
    const project = bench.demo("arm");
    const page = await bench.open(project);
    const before = await positions(page);
    await page.keyboard.press("Shift+A");
    await page.keyboard.type("fist");
    await page.selectOption("dialog select[aria-label='Kind of examples']", "offsets");
    await page.fill("dialog input[aria-label='Name of the axis']", "elbow");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /already/.test(document.querySelector("dialog .refused")?.textContent ?? ""));
    await page.fill("dialog input[aria-label='Name of the axis']", "clench");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog", { state: "detached" });
    await settled(page);
    expect(apart(before, await positions(page)) < 1e-6, "a new layer changes the surface");
    expect((await page.evaluate(() => window.exemplar.layer.name)) === "fist", "it is not selected");

    // Sculpted at a pose: turned joints and axes of the earlier layer are part of its place.
    const at = { clench: 1, elbow: 60, gender: 0.5 };
    const posed = project.replace(/\.json$/, ".posed.obj");
    await save(page);
    bench.run("build", project, "-o", project.replace(/\.json$/, ".one.glb"), "-q");
    bench.run("pose", project.replace(/\.json$/, ".one.glb"), "elbow=60", "gender=0.5", "--level", "cage", "-o", posed, "-q");
    const text = readFileSync(posed, "utf8").replace(/^v (\S+) (\S+) (\S+)/gm, (_, x, y, z) => `v ${x} ${+y + 0.01} ${z}`);
    await page.evaluate((place) => window.exemplar.setPlace(place), at);
    await drop(page, [{ name: "clenched.obj", text }]);
    await page.waitForFunction(() => window.exemplar.layer.examples.length === 2);
    await settled(page);
    const form = await page.evaluate(() => {
        const { stage } = window.exemplar;
        return [...stage.rig.surface({ level: 0, split: false, normals: false }).evaluate(stage.pose).positions];
    });
    const error = apart(form, vertices(text));
    expect(error < 2e-5, `the sculpt comes back ${error} m off`);

    // V shows the arm alone, then all layers again.
    await page.focus(".layers [role=option]:has(.name:text-is('arm'))");
    await page.keyboard.press("Home");
    await page.keyboard.press("v");
    await save(page);
    expect(json(project).layers.map((l) => l.muted ?? false).join() === "false,true", "the other layer is not muted");
    await page.keyboard.press("v");
    await save(page);
    expect(json(project).layers.every((l) => !("muted" in l)), "they are not as before");
    expect(page.problems.length === 0, page.problems.join("; "));
    return `${(1e3 * error).toFixed(4)} mm`;
};

export const cases = {
    "layers: rename, mute, delete, undo": list,
    "layers: a form is dropped": dropped,
    "layers: another weigher, and two beside each other": weigher,
    "layers: two settings of a skin": skins,
    "layers: a new one, and a sculpt for it": newLayer,
    "layers: what is found, where it is": found,
};
