// A character with its own materials and clips, in the editor and in an exported page.
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { apart, expect, frames, moved, positions, settled } from "./harness.mjs";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg==";

/** A strip of two quads one above the other, with a joint for each: the lower one red by a factor, the upper one blue
 * times an image, both unlit. Two clips turn the upper joint, to the left and to the right. */
const character = () => {
    const corners = [[-0.3, 0], [0.3, 0], [-0.3, 1], [0.3, 1], [-0.3, 1], [0.3, 1], [-0.3, 2], [0.3, 2]];
    const views = [];
    const parts = [];
    let at = 0;
    const accessors = [];
    const add = (array, componentType, type, count, more = {}) => {
        const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
        const padded = Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
        views.push({ buffer: 0, byteOffset: at, byteLength: bytes.length });
        parts.push(padded);
        at += padded.length;
        return accessors.push({ bufferView: views.length - 1, componentType, type, count, ...more }) - 1;
    };
    const floats = (list, type, count, more) => add(Float32Array.from(list.flat(9)), 5126, type, count, more);
    const primitive = (half, material) => {
        const four = corners.slice(4 * half, 4 * half + 4);
        const ys = four.map(([, y]) => y);
        return { material, attributes: {
            POSITION: floats(four.map(([x, y]) => [x, y, 0]), "VEC3", 4, { min: [-0.3, Math.min(...ys), 0], max: [0.3, Math.max(...ys), 0] }),
            NORMAL: floats(four.map(() => [0, 0, 1]), "VEC3", 4),
            TEXCOORD_0: floats(four.map(([x, y]) => [x + 0.5, 1 - y / 2]), "VEC2", 4),
            JOINTS_0: add(Uint8Array.from(four.flatMap(() => [half, 0, 0, 0])), 5121, "VEC4", 4),
            WEIGHTS_0: floats(four.map(() => [1, 0, 0, 0]), "VEC4", 4),
        }, indices: add(Uint16Array.from([0, 1, 3, 0, 3, 2]), 5123, "SCALAR", 6) };
    };
    const primitives = [primitive(0, 0), primitive(1, 1)];
    const identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    const inverse = floats([identity, identity.map((v, i) => (i === 13 ? -1 : v))], "MAT4", 2);
    const times = floats([0, 1], "SCALAR", 2, { min: [0], max: [1] });
    const turn = (sign) => floats([[0, 0, 0, 1], [0, 0, sign * Math.SQRT1_2, Math.SQRT1_2]], "VEC4", 2);
    const animations = [["left", 1], ["right", -1]].map(([name, sign]) => ({
        name, channels: [{ sampler: 0, target: { node: 2, path: "rotation" } }], samplers: [{ input: times, output: turn(sign) }],
    }));
    const extensions = { KHR_materials_unlit: {} };
    return {
        asset: { version: "2.0" }, scene: 0, scenes: [{ nodes: [0, 1] }], extensionsUsed: ["KHR_materials_unlit"],
        nodes: [{ mesh: 0, skin: 0 }, { name: "low", children: [2] }, { name: "high", translation: [0, 1, 0] }],
        meshes: [{ primitives }], skins: [{ joints: [1, 2], inverseBindMatrices: inverse }], animations,
        materials: [
            { name: "red", doubleSided: true, extensions, pbrMetallicRoughness: { baseColorFactor: [1, 0, 0, 1] } },
            { name: "blue", doubleSided: true, extensions, pbrMetallicRoughness: { baseColorTexture: { index: 0 } } },
        ],
        textures: [{ source: 0 }], images: [{ uri: `data:image/png;base64,${PIXEL}` }],
        accessors, bufferViews: views,
        buffers: [{ byteLength: at, uri: `data:application/octet-stream;base64,${Buffer.concat(parts).toString("base64")}` }],
    };
};

const makeProject = (bench) => {
    const folder = mkdtempSync(join(bench.work, "looks-"));
    writeFileSync(join(folder, "strip.gltf"), JSON.stringify(character()));
    bench.run("init", join(folder, "strip.gltf"), "-o", join(folder, "strip"), "-q");
    bench.run("build", join(folder, "strip", "strip.json"), "-q");
    return join(folder, "strip", "strip.json");
};

/** The colour of the view at a point of the world. */
const colourAt = async (bench, page, point) => {
    const { width, data } = await bench.pixels(page, "#view");
    const { x, y } = await page.evaluate((at) => {
        const canvas = document.getElementById("view");
        const { left, top } = canvas.getBoundingClientRect();
        const place = canvas.pointToClient(at);
        return { x: Math.round(place.x - left), y: Math.round(place.y - top) };
    }, point);
    return [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3)];
};

const isMostly = (colour, channel, what) =>
    expect(colour[channel] > 150 && colour.every((v, i) => i === channel || v < 0.6 * colour[channel]), `${what}: ${colour}`);

const shown = async (bench, page, what) => {
    await page.waitForFunction(() => window.exemplar.stage.rig.attachments.includes("looks"));
    await settled(page);
    await page.evaluate(() => (window.exemplar.pose((pose) => pose.rest()), window.exemplar.show({ ground: false })));
    isMostly(await colourAt(bench, page, [0, 0.5, 0]), 0, `${what}: the lower half is not red`);
    isMostly(await colourAt(bench, page, [0, 1.5, 0]), 2, `${what}: the upper half is not blue`);
    expect((await page.inputValue("[aria-label=Surface]")) === "material", `${what}: the surface is not the material`);
    await page.evaluate(() => window.exemplar.show({ surface: "shaded" }));
    const clay = await colourAt(bench, page, [0, 0.5, 0]);
    expect(Math.max(...clay) - Math.min(...clay) < 60, `${what}: shaded is not clay: ${clay}`);
};

/** Plays both clips and returns where the top goes. */
const tops = async (page) => {
    const seen = [];
    for (const value of ["#1", "#2"]) {
        await page.selectOption("#play-source", value);
        await page.waitForFunction((wanted) => document.getElementById("play-source").value === wanted, value);
        await page.waitForTimeout(300);
        await page.evaluate(() => {
            const scrub = document.querySelector(".play .scrub");
            scrub.value = scrub.max;
            scrub.dispatchEvent(new Event("input"));
        });
        await frames(page, 2);
        const at = await positions(page);
        seen.push(at.filter((_, i) => i % 3 === 0).reduce((sum, x) => sum + x, 0));
    }
    return seen;
};

const looks = async (bench) => {
    const project = makeProject(bench);
    const page = await bench.open(project);
    await shown(bench, page, "the editor");
    const served = await tops(page);
    expect(served[0] < -0.5 && served[1] > 0.5, `the clips do not turn to either side: ${served}`);
    expect(page.problems.length === 0, page.problems.join("; "));
    const file = project.replace(/json$/, "html");
    bench.run("edit", "--export", file, project.replace(/json$/, "glb"), "-q");
    const alone = await bench.page(`file://${file}`);
    const before = await positions(alone);
    await moved(alone, before, "the exported page does not play its first clip");
    expect((await alone.inputValue("#play-source")) === "#1", "it plays something else");
    await alone.click(".play .toggle");
    await shown(bench, alone, "the exported page");
    expect(apart(served, await tops(alone)) < 1e-4, "the exported clips differ from those of the editor");
    expect(alone.problems.length === 0, alone.problems.join("; "));
};

/** A roof whose two sides have their own normals at the ridge: a side has one shade, near the ridge and far from it, and
 * the other side another. */
const hardEdges = async (bench) => {
    const folder = mkdtempSync(join(bench.work, "roof-"));
    const project = join(folder, "roof.json");
    writeFileSync(join(folder, "roof.obj"), ["v -1 0 -1", "v 1 0 -1", "v -1 1 0", "v 1 1 0", "v -1 2 -1", "v 1 2 -1",
        "vn 0 -0.7071068 0.7071068", "vn 0 0.7071068 0.7071068", "f 1//1 2//1 4//1 3//1", "f 3//2 4//2 6//2 5//2"].join("\n"));
    writeFileSync(project, JSON.stringify({ exemplar: 1, mesh: "roof.obj", layers: [] }));
    const page = await bench.open(project);
    const near = (a, b) => Math.max(...a.map((x, i) => Math.abs(x - b[i]))) < 4;
    for (const surface of ["shaded", "normals"]) {
        await page.evaluate((to) => window.exemplar.show({ surface: to, ground: false }), surface);
        const at = [];
        for (const y of [0.2, 0.9, 1.1, 1.8]) at.push(await colourAt(bench, page, [0, y, -Math.abs(y - 1)]));
        expect(near(at[0], at[1]) && near(at[2], at[3]), `${surface}: a side has several shades: ${at.join(" | ")}`);
        expect(!near(at[1], at[2]), `${surface}: both sides have the shade ${at[1]}`);
    }
};

/** Headings of the parts that are seen. */
const partsOf = (page) => page.evaluate(() => [...document.querySelectorAll(".part")]
    .filter((part) => part.checkVisibility()).map((part) => part.querySelector("summary").textContent));

/** A character that is moved by its joints and clips alone: the editor offers the first clip, at rest until it is
 * played. An exported page has nothing about layers. */
const withoutLayers = async (bench) => {
    const project = makeProject(bench);
    const page = await bench.open(project);
    const rest = await positions(page);
    await page.waitForFunction(() => !document.querySelector(".play .toggle").disabled);
    expect((await page.inputValue("#play-source")) === "#1", "the editor does not offer the first clip");
    const listed = await page.$$eval("#play-source option", (all) => all.map((option) => option.textContent));
    expect(listed.join() === "Examples,left,right,Open a motion…", `the list is ${listed}`);
    expect(apart(rest, await positions(page)) === 0, "the editor does not open at rest");
    expect((await partsOf(page)).join() === "Layers,Brush,Findings,Map of the space,Pose", `the editor has ${await partsOf(page)}`);
    expect(/under Layers/.test(await page.textContent(".column.right")), "the editor does not say where to add a layer");
    await page.click(".play .toggle");
    await moved(page, rest, "the clip is not played");
    await page.selectOption("#play-source", "#2");
    await page.waitForFunction(() => /^right: \d+ frames/.test(window.exemplar.message?.text ?? ""));

    const file = project.replace(/json$/, "html");
    bench.run("edit", "--export", file, project, "-q");
    for (const size of [{}, { width: 400, height: 800, touch: true }]) {
        const alone = await bench.page(`file://${file}`, size);
        expect((await partsOf(alone)).join() === "Pose", `the exported page has ${await partsOf(alone)}`);
        const { width, column } = await alone.evaluate(() => ({ width: innerWidth,
            column: document.querySelector(".middle").getBoundingClientRect().left }));
        expect(column < 2, `the view begins at ${column} of ${width}`);
        expect(alone.problems.length === 0, alone.problems.join("; "));
    }
    expect(page.problems.length === 0, page.problems.join("; "));
};

export const cases = { "materials and clips": looks, "a character without layers": withoutLayers,
    "hard edges": hardEdges };
