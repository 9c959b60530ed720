// Layers in one click: sliders from morph targets of the project's file, and a corrective space for a chosen joint.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { apart, expect, json, positions, save, settled } from "./harness.mjs";

/** A project whose mesh is a glTF file of a tetrahedron with two morph targets, and no layer. */
const targetsProject = (bench) => {
    const folder = mkdtempSync(join(bench.work, "targets-"));
    const corners = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1];
    const wide = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    const tall = [0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0];
    const floats = Buffer.from(new Float32Array([...corners, ...wide, ...tall]).buffer);
    const bytes = Buffer.concat([floats, Buffer.from(new Uint16Array([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]).buffer)]);
    const positionsAt = (i) => ({ bufferView: i, componentType: 5126, count: 4, type: "VEC3", min: [0, 0, 0], max: [1, 1, 1] });
    writeFileSync(join(folder, "tetra.gltf"), JSON.stringify({
        asset: { version: "2.0" }, scene: 0, scenes: [{ nodes: [0] }], nodes: [{ mesh: 0 }],
        meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 3, targets: [{ POSITION: 1 }, { POSITION: 2 }] }],
            weights: [0, 0], extras: { targetNames: ["wide", "tall"] } }],
        accessors: [...[0, 1, 2].map(positionsAt), { bufferView: 3, componentType: 5123, count: 12, type: "SCALAR" }],
        bufferViews: [...[0, 1, 2].map((i) => ({ buffer: 0, byteOffset: 48 * i, byteLength: 48 })),
            { buffer: 0, byteOffset: 144, byteLength: 24 }],
        buffers: [{ byteLength: bytes.length, uri: `data:application/octet-stream;base64,${bytes.toString("base64")}` }],
    }));
    writeFileSync(join(folder, "tetra.json"), JSON.stringify({ exemplar: 1, mesh: "tetra.gltf", layers: [] }));
    return join(folder, "tetra.json");
};

const targets = async (bench) => {
    const project = targetsProject(bench);
    const page = await bench.open(project);
    const button = page.locator(".oneclick .targets");
    await button.waitFor();
    expect((await button.textContent()) === "Make sliders from 2 morph targets", `the button says ${await button.textContent()}`);
    await button.click();
    await page.waitForFunction(() => window.exemplar.stage.rig.inputs.length === 2 && window.exemplar.message?.kind === "good");
    await settled(page);
    expect(!(await button.isVisible()), "the button stays");
    const rest = await positions(page);
    await page.locator(".axis[data-input=wide] .number").fill("1");
    const wide = await positions(page);
    expect(Math.abs(apart(rest, wide) - 1) < 1e-6, `the slider moves vertices by ${apart(rest, wide)}`);
    await save(page);
    const [layer] = json(project).layers;
    expect(layer.weigh.kind === "direct" && layer.shape === "positions" && layer.examples[1].name === "tall" && layer.space[0].max === 1,
        `it writes ${JSON.stringify(layer)}`);
    bench.run("build", project, "-q"); // and the tool builds it
    await page.evaluate(() => document.activeElement.blur()); // a field keeps its own undo
    await page.keyboard.press("Control+z");
    await settled(page);
    expect((await page.evaluate(() => window.exemplar.tree.layers.length)) === 0 && await button.isVisible(), "undo does not take it back");
    expect(page.problems.length === 0, page.problems.join("; "));
};

const joint = async (bench) => {
    const project = bench.demo("arm");
    const text = JSON.parse(readFileSync(project, "utf8"));
    writeFileSync(project, JSON.stringify({ ...text, layers: [] })); // only the skin
    const page = await bench.open(project);
    const button = page.locator(".oneclick .joint");
    expect(!(await button.isVisible()), "there is a button without a joint");
    const before = await positions(page);
    await page.keyboard.press("]");
    await page.keyboard.press("]");
    const name = await page.evaluate(() => window.exemplar.joint);
    expect((await button.textContent()) === `Make a corrective space for '${name}'`, `the button says ${await button.textContent()}`);
    // Straight, it reads the direction of the bone.
    await button.click();
    await page.waitForFunction(() => window.exemplar.tree.layers.length === 1);
    await settled(page);
    const [swing] = await page.evaluate(() => window.exemplar.tree.layers);
    expect(swing.space[0].rotation === "swing" && swing.space[0].joint === name, `it reads ${JSON.stringify(swing.space)}`);
    expect(apart(before, await positions(page)) < 1e-6, "the new layer changes the form");
    await page.keyboard.press("Control+z");
    await settled(page);
    // Bent, it reads the angle, from rest to where such joints end.
    await page.evaluate((wanted) => window.exemplar.pose((pose) => {
        const { index } = window.exemplar.stage.rig.joints.find((one) => one.name === wanted);
        pose.turnJoint(index, [0, 0, -Math.sin(0.3), Math.cos(0.3)]);
    }), name);
    await button.click();
    await page.waitForFunction(() => window.exemplar.tree.layers.length === 1);
    await settled(page);
    const [layer] = await page.evaluate(() => window.exemplar.tree.layers);
    const { angle, min, max } = layer.space[0];
    expect(angle === "z" && min === -150 && max === 0, `it reads ${JSON.stringify(layer.space)}`);
    expect(layer.shape === "offsets" && layer.weigh.kind === "calm" && layer.examples[0].name === "rest", `it is ${JSON.stringify(layer)}`);
    await save(page);
    bench.run("build", project, "-q");
    expect(dirname(project) !== "" && json(project).layers.length === 1, "it was not saved");
    expect(page.problems.length === 0, page.problems.join("; "));
};

export const cases = {
    "sliders from morph targets in one click": targets,
    "a corrective space for a joint in one click": joint,
};
