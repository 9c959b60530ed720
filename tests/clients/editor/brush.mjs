// Brushes with a real mouse: a stroke becomes an example that comes back, bumps disappear, masks and groups are
// painted.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { apart, changed, drag, expect, json, save, settled, WIDE } from "./harness.mjs";

/** Vertices of an OBJ file. */
const vertices = (path) => Float32Array.from(readFileSync(path, "utf8").split("\n").filter((line) => line.startsWith("v "))
    .flatMap((line) => line.split(/\s+/).slice(1, 4).map(Number)));

/** The current sculpt. */
const sculpted = async (page) => Float32Array.from(await page.evaluate(() => [...window.exemplar.sculpt.positions]));

/** The page's cage at its pose. */
const cage = async (page) => Float32Array.from(await page.evaluate(() => {
    const { stage } = window.exemplar;
    const surface = stage.rig.surface({ level: 0, split: false, normals: false }).evaluate(stage.pose);
    const numbers = [...surface.positions];
    surface.dispose();
    return numbers;
}));

/** Forms of a project's unit and up axis, in metres with y up, as the page has them. */
const inMetres = (project, form) => {
    const { unit = "m", up = "y" } = json(project);
    const scale = { m: 1, cm: 0.01, mm: 0.001 }[unit];
    return form.map((_, i) => {
        const [x, y, z] = form.slice(i - i % 3, i - i % 3 + 3);
        return scale * (up === "z" ? [x, z, -y] : [x, y, z])[i % 3];
    });
};

/** The cage from the tool, for the saved project at the example's place. */
const native = (bench, project, words) => {
    const [rig, form] = ["glb", "obj"].map((kind) => project.replace(/\.json$/, `.saved.${kind}`));
    bench.run("build", project, "-o", rig, "-q");
    bench.run("pose", rig, ...words, "--level", "cage", "-o", form, "-q");
    return inMetres(project, vertices(form));
};

/** A copy of a demo with a skeleton whose root is turned at rest, so the mesh is bound in another pose than it rests
 * in. */
const restsTurned = (bench) => {
    const project = bench.demo("arm");
    const tree = json(project);
    const path = join(dirname(project), tree.skeleton);
    const bytes = readFileSync(path);
    const gltf = JSON.parse(bytes.subarray(20, 20 + bytes.readUInt32LE(12)));
    const inner = new Set(gltf.nodes.flatMap((node) => node.children ?? []));
    const root = gltf.skins[0].joints.map((j) => gltf.nodes[j]).find((node) => !inner.has(gltf.nodes.indexOf(node))) ??
        gltf.nodes[gltf.skins[0].joints[0]];
    root.rotation = [0, 0, Math.SQRT1_2, Math.SQRT1_2];
    const text = JSON.stringify(gltf);
    const padded = Buffer.from(text.padEnd(4 * Math.ceil(text.length / 4)));
    const rest = bytes.subarray(20 + bytes.readUInt32LE(12));
    const head = Buffer.from(bytes.subarray(0, 20));
    head.writeUInt32LE(20 + padded.length + rest.length, 8);
    head.writeUInt32LE(padded.length, 12);
    writeFileSync(path, Buffer.concat([head, padded, rest]));
    writeFileSync(project, JSON.stringify({ ...tree, layers: [] }));
    return project;
};

/** In such a project, the brush shows the visible form, and a new layer changes nothing. */
const boundElsewhere = async (bench) => {
    const project = restsTurned(bench);
    const page = await bench.open(project);
    const seen = await cage(page);
    const mesh = vertices(join(dirname(project), json(project).mesh));
    expect(apart(seen, mesh) > 0.1 * sizeOf(mesh), "the skeleton rests as the mesh was bound");
    for (const shape of ["offsets", "positions"]) {
        await page.locator("#view").hover();
        await page.keyboard.press("Shift+A");
        await page.getByLabel("Name of the layer").fill(shape);
        await page.getByLabel("Kind of examples").selectOption(shape);
        await page.getByLabel("Kind of axis").selectOption("joint");
        await page.getByLabel("Joint", { exact: true }).selectOption("forearm");
        await page.getByLabel("Name of the axis").fill(`${shape} axis`);
        await page.getByRole("button", { name: "Add layer" }).click();
        await page.waitForFunction((name) => window.exemplar.stage.layer(name), shape);
        await settled(page);
        expect(apart(seen, await cage(page)) < 1e-6, `a new layer of ${shape} changes what is seen`);
        await page.evaluate((axis) => window.exemplar.setPlace({ [axis]: 40 }), `${shape} axis`);
        const posed = await cage(page);
        await page.evaluate(() => window.exemplar.setTool("grab"));
        expect(apart(posed, await sculpted(page)) < 1e-5, `in a layer of ${shape} the brush shows another form than is seen`);
        const from = await aim(page);
        await drag(page, from, away(from, 20, 25));
        const target = await sculpted(page);
        const said = await inserted(page);
        const off = apart(target, await cage(page));
        expect(off < 1e-5 * sizeOf(target), `the sculpt in a layer of ${shape} is ${off} m off (${said})`);
        await page.evaluate(() => (window.exemplar.setTool("orbit"), window.exemplar.pose((pose) => pose.rest())));
        expect(apart(seen, await cage(page)) < 1e-5, `the sculpt in a layer of ${shape} changes the rest`);
    }
    expect(page.problems.length === 0, page.problems.join("; "));
};

const sizeOf = (positions) => Math.max(...[0, 1, 2].map((c) => {
    const line = positions.filter((_, i) => i % 3 === c);
    return Math.max(...line) - Math.min(...line);
}));

/** Screen position of a vertex that faces the viewer: the nearest to a place given as shares of the view. */
const aim = (page, share = [0.5, 0.5]) => page.evaluate(([x, y]) => {
    const { picker } = window.exemplar;
    const box = picker.canvas.getBoundingClientRect();
    // Searches in rings around that place until something is hit.
    for (let r = 0; r < box.width / 2; r += 6)
        for (let a = 0; a < 16; a++) {
            const place = { clientX: box.left + x * box.width + r * Math.cos((a * Math.PI) / 8),
                clientY: box.top + y * box.height + r * Math.sin((a * Math.PI) / 8) };
            const hit = picker.hit(place);
            if (hit) return { x: place.clientX, y: place.clientY, vertex: hit.vertex };
        }
    return null;
}, share);

const away = ({ x, y }, dx, dy) => ({ x: x + dx, y: y + dy });

const inserted = async (page) => {
    await page.evaluate(() => (window.exemplar.message = null));
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /Example '/.test(window.exemplar.message?.text ?? "") ||
        window.exemplar.message?.kind === "bad", null, { timeout: 20000 });
    await settled(page);
    return page.evaluate(() => window.exemplar.message.text);
};

/** A stroke at a place of the space becomes an example there, in the page and in the tool's result. */
const becomesExample = (name, place, share, measure = {}) => async (bench) => {
    const project = bench.demo(name);
    writeFileSync(project, JSON.stringify({ ...json(project), ...measure }));
    const page = await bench.open(project);
    const count = json(project).layers[0].examples.length;
    await page.evaluate((at) => window.exemplar.setPlace(at), place);
    await page.locator("#view").hover();
    await page.keyboard.press("b");
    const before = await sculpted(page);
    const picture = await bench.pixels(page, "#view");
    const from = await aim(page, share);
    await drag(page, from, away(from, 30, -50));
    const target = await sculpted(page);
    const size = sizeOf(before);
    expect(apart(before, target) > 0.01 * size, "the stroke moved nothing");
    expect(changed(picture, await bench.pixels(page, "#view")) > 100, "nothing of the stroke is seen");
    const still = target.filter((x, i) => x === before[i]).length;
    expect(still > 0.3 * target.length, `the stroke moved all but ${still} of ${target.length} numbers`);

    const said = await inserted(page);
    expect(apart(target, await cage(page)) < 1e-5 * size, `the page makes another form of it (${said})`);
    await save(page);
    const saved = json(project).layers[0].examples;
    expect(saved.length === count + 1, `${saved.length - count} examples were added`);
    const example = saved.at(-1);
    const words = Object.entries(example.at).map(([axis, value]) => `${axis}=${value}`);
    const off = apart(target, native(bench, project, words));
    expect(off < 1e-5 * size, `the tool makes a form that is ${off} m off`);
    expect(page.problems.length === 0, page.problems.join("; "));

    // A second stroke at the example's place replaces its form and adds no example.
    const again = await aim(page, share);
    await drag(page, again, away(again, -20, 20));
    const better = await sculpted(page);
    await inserted(page);
    await save(page);
    const end = json(project).layers[0].examples;
    expect(end.length === count + 1 && end.at(-1).mesh !== example.mesh, "the form was not given to the example there");
    expect(apart(better, native(bench, project, words)) < 1e-5 * size, "the second sculpt does not come back");
    return said;
};

/** A sculpt on an early layer comes back through the later layers, and a sculpt on a direct layer gets its own axis.
 * The project keeps the sculpt of an early layer too, and so 'check' finds nothing disturbed. */
const throughLayers = async (bench) => {
    const project = bench.demo("face");
    const page = await bench.open(project);
    await page.evaluate(() => window.exemplar.setPlace({ age: 0.7, build: 0.3, smile: 0.6, blink: 0.2 }));
    const targets = [];
    for (const layer of [0, 1]) {
        await page.evaluate((index) => window.exemplar.select({ layer: index }), layer);
        await page.evaluate(() => window.exemplar.setTool("grab"));
        const from = await aim(page);
        await drag(page, from, away(from, 20, 25));
        const target = await sculpted(page);
        targets.push(target);
        const said = await inserted(page);
        const off = apart(target, await cage(page));
        expect(off < 1e-5 * sizeOf(target), `layer ${layer} is ${off} m off (${said})`);
    }
    await save(page);
    const early = json(project).layers[0].examples.at(-1);
    expect(early.sculpt && early.sculpt !== early.mesh, `the project does not keep the sculpt: ${JSON.stringify(early)}`);
    const kept = inMetres(project, vertices(join(dirname(project), early.sculpt)));
    expect(apart(kept, targets[0]) < 1e-6 * sizeOf(kept), "the file of the sculpt has another form");
    const found = JSON.parse(bench.run("check", project, "--json")).findings;
    const disturbed = found.filter(({ kind, where }) => kind === "disturbed" && where.startsWith("layers[0]"));
    expect(disturbed.length === 0, `'check' says: ${disturbed.map(({ text }) => text)}`);
    const { space, examples } = json(project).layers[1];
    expect(!examples.at(-1).sculpt, "the last layer has a sculpt beside its form");
    expect(space.length === 3 && examples.length === 3, "the direct layer has no axis for its new example");
    const words = ["age=0.7", "build=0.3", "smile=0.6", "blink=0.2", `${space[2].name}=1`];
    expect(apart(await cage(page), native(bench, project, words)) < 2e-6, "the tool makes another form");
};

/** Distance of vertices from the mean of their neighbours. */
const roughness = (page) => page.evaluate(() => {
    const { sculpt, stage } = window.exemplar;
    const { triangles, sources } = stage.rig.mesh(0);
    const near = new Map();
    const add = (a, b) => (near.get(a) ?? near.set(a, new Set()).get(a)).add(b);
    for (let t = 0; t < triangles.length; t += 3)
        for (let i = 0; i < 3; i++) {
            const [a, b] = [t + i, t + ((i + 1) % 3)].map((c) => sources?.[triangles[c]] ?? triangles[c]);
            add(a, b);
            add(b, a);
        }
    let sum = 0;
    for (const [v, others] of near)
        for (let c = 0; c < 3; c++) {
            let mean = 0;
            for (const other of others) mean += sculpt.positions[3 * other + c] / others.size;
            sum += (sculpt.positions[3 * v + c] - mean) ** 2;
        }
    return Math.sqrt(sum);
});

const strokes = async (bench) => {
    const project = bench.demo("arm");
    const page = await bench.open(project, WIDE); // the bump has a fixed height in pixels, and must be on the form
    await page.evaluate(() => window.exemplar.setPlace({ elbow: 70 }));
    await page.locator("#view").hover();
    await page.keyboard.press("b");
    const start = await sculpted(page);
    const calm = await roughness(page);
    for (let i = 0; i < 10; i++) await page.keyboard.press("q"); // small enough for a bump
    const at = await aim(page, [0.3, 0.5]);
    await drag(page, at, away(at, 0, -40));
    const bump = await sculpted(page);
    const rough = await roughness(page);
    expect(rough > 1.05 * calm, `the bump is not rough (${calm} → ${rough})`);

    // Smoothing removes the bump and leaves the rest alone.
    await page.keyboard.press("d");
    for (let i = 0; i < 8; i++) await page.keyboard.press("e");
    await page.evaluate(() => {
        const strength = document.querySelectorAll(".brush .dial input[type=number]")[1];
        strength.value = "1";
        strength.dispatchEvent(new Event("change"));
    });
    await drag(page, away(at, 0, -35), away(at, 0, 5), { steps: 30 });
    const end = await sculpted(page);
    const smoothed = await roughness(page);
    expect(smoothed < rough - 0.3 * (rough - calm), `smoothing took ${rough} to ${smoothed} (calm: ${calm})`);
    const shrunk = sizeOf(end) / sizeOf(bump);
    expect(Math.abs(shrunk - 1) < 0.02, `smoothing made the form ${shrunk} times as large`);

    // Strokes are undone and redone one by one; the project has not changed.
    await page.keyboard.press("Control+z");
    expect(apart(bump, await sculpted(page)) === 0, "undoing does not take the second stroke back");
    await page.keyboard.press("Control+z");
    expect(apart(start, await sculpted(page)) === 0, "undoing does not take the first stroke back");
    await page.keyboard.press("Control+Shift+z");
    await page.keyboard.press("Control+Shift+z");
    expect(apart(end, await sculpted(page)) === 0, "the strokes are not done again");
    expect(!(await page.evaluate(() => window.exemplar.history.changed)), "the strokes are in the project");

    // The pose of a sculpt stays. Discarding removes the sculpt, and undo brings it back.
    await page.evaluate(() => window.exemplar.setPlace({ elbow: 20 }));
    const elbow = () => page.evaluate(() => window.exemplar.stage.pose.get("elbow"));
    expect(Math.abs((await elbow()) - 70) < 1e-3, "the pose was changed under the sculpt");
    const slider = page.getByLabel("elbow", { exact: true });
    await slider.fill("20");
    await settled(page);
    expect(Math.abs((await slider.inputValue()) - 70) < 1e-3, "the slider stays where the pose was refused");
    await page.locator("#view").hover();
    await slider.blur();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    expect(await page.evaluate(() => window.exemplar.sculpt === null), "the sculpt is still there");
    await page.keyboard.press("Control+z");
    expect(apart(end, await sculpted(page)) === 0, "the sculpt that was discarded does not come back");
    const said = await page.textContent("footer .message");
    expect(/is back/.test(said), `the sculpt is back, and it says '${said}'`);
    return `roughness ${calm.toFixed(4)} → ${rough.toFixed(4)} → ${smoothed.toFixed(4)}`;
};

const paints = async (bench) => {
    const project = bench.demo("blob");
    const page = await bench.open(project);
    await page.evaluate(() => window.exemplar.setPlace({ bend: 0.7, thickness: 1 }));
    const whole = await cage(page);
    await page.locator("#view").hover();
    await page.keyboard.press("a");
    const values = () => page.evaluate(() => [...window.exemplar.sculpt.paint]);
    expect((await values()).every((x) => x === 1), "painting does not start full where the layer has no mask");
    await page.locator(".brush").getByRole("button", { name: "Clear" }).click();
    const from = await aim(page);
    await drag(page, from, away(from, 40, 0), { steps: 20 });
    const painted = await values();
    const inside = painted.filter((x) => x > 0).length;
    expect(inside > 5 && inside < 0.8 * painted.length, `${inside} of ${painted.length} vertices were painted`);
    expect(painted.every((x) => x >= 0 && x <= 1), "values leave 0 to 1");
    await page.getByRole("button", { name: /^Use as mask/ }).click();
    await page.waitForFunction(() => window.exemplar.history.tree.layers[0].mask !== undefined);
    await save(page);

    const { mask } = json(project).layers[0];
    const lines = readFileSync(join(dirname(project), mask.file), "utf8").split("\n").filter((line) => /^\d/.test(line));
    const read = new Float32Array(painted.length);
    for (const line of lines) read[Number(line.split(" ")[0])] = Number(line.split(" ")[1]);
    expect(apart(read, painted) < 1e-6, "the file has other values than were painted");
    const rest = vertices(join(dirname(project), json(project).mesh));
    const made = native(bench, project, ["bend=0.7", "thickness=1"]);
    const wanted = rest.map((x, i) => x + painted[Math.floor(i / 3)] * (whole[i] - x));
    expect(apart(made, wanted) < 1e-5 * sizeOf(whole), "the mask does not confine the layer to what was painted");

    // After a reload, painting continues from the saved mask.
    await page.reload();
    await page.waitForSelector("body[data-ready=true]");
    await page.locator("#view").hover();
    await page.keyboard.press("a");
    await page.waitForFunction(() => window.exemplar.sculpt?.paint?.some((x) => x < 1), null, { timeout: 10000 });
    expect(apart(Float32Array.from(await values()), painted) < 1e-6, "painting does not start from the layer's mask");

    // Ctrl removes paint. The group has the painted faces.
    await drag(page, from, away(from, 10, 0), { key: "Control" });
    expect((await values())[from.vertex] < painted[from.vertex], "Ctrl takes nothing off");
    await page.keyboard.press("Control+z");
    expect(apart(Float32Array.from(await values()), painted) === 0, "undoing does not bring the paint back");
    // A field has its own undo. Enter runs the command, and after that the keys work again.
    const name = page.getByLabel("Name of the group");
    const tree = await page.evaluate(() => JSON.stringify(window.exemplar.history.tree));
    await name.click();
    await page.keyboard.type("c");
    await page.keyboard.press("Control+z");
    expect(tree === await page.evaluate(() => JSON.stringify(window.exemplar.history.tree)), "Ctrl+Z in a field undid a step");
    await name.fill("belly");
    await page.keyboard.press("Enter");
    expect(await name.evaluate((field) => document.activeElement !== field), "Enter does not leave the field");
    await page.waitForFunction(() => /belly/.test(window.exemplar.history.tree.mesh));
    await save(page);
    const text = readFileSync(join(dirname(project), json(project).mesh), "utf8");
    expect(/^g .*\bbelly\b/m.test(text), "the mesh has no such group");
    expect(apart(made, native(bench, project, ["bend=0.7", "thickness=1"])) === 0, "the group changed the form");
    expect(page.problems.length === 0, page.problems.join("; "));
    return `${inside} of ${painted.length} vertices`;
};

export const cases = {
    "a stroke becomes an example: blob": becomesExample("blob", { bend: 0.37, thickness: 0.62 }, undefined,
        { unit: "cm", up: "z" }),
    "a stroke becomes an example: arm": becomesExample("arm", { elbow: 62.3, shoulder: -20, gender: 0.4 }, [0.4, 0.5]),
    "sculpts among layers": throughLayers,
    "a mesh that was bound in another pose": boundElsewhere,
    "strokes: smoothed, undone, discarded": strokes,
    "masks and groups are painted": paints,
};
