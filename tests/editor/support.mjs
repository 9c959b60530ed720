// Shared by these tests: the module under test, a working folder, programs, random poses, and comparison with the
// library on this machine, whose results runtime_probe and space_probe print.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";
import { obj, tube } from "./swing.mjs";

export { obj, tube };
export const [folder, tool, probe, spaceProbe, rigProbe, source] = argv.slice(2);
export const exported = await import(pathToFileURL(join(folder, "index.js")));
export const { LIMIT, load, start } = exported;
export const TOLERANCE = 1e-6; // of the form's size, of the largest weight
export const work = mkdtempSync(join(tmpdir(), "exemplar-runtime-"));
export const run = (program, words, input) => {
    try {
        return execFileSync(program, words, { input, maxBuffer: 1 << 30, stdio: ["pipe", "pipe", "pipe"] });
    } catch (error) {
        throw new Error(`${program} ${words.join(" ")}: ${error.stderr || error.message}`);
    }
};

// Random numbers, the same in every run.
let seed = 1;
export const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
};

export const worst = { positions: 0, normals: 0, tangents: 0, box: 0, weights: 0, textures: 0, driven: 0, joints: 0 };
export const compared = { count: 0 };

export const compare = (what, expected, actual, scale, tolerance, where, factor = () => 1) => {
    assert.equal(actual.length, expected.length, `${where}: how many ${what}`);
    let difference = 0;
    for (let i = 0; i < expected.length; i++) {
        const d = Math.abs(expected[i] - actual[i]) * factor(i);
        difference = d <= difference ? difference : d; // NaN stays
    }
    difference /= scale;
    assert.ok(difference <= tolerance, `${where}: ${what} differ by ${difference}`);
    worst[what] = Math.max(worst[what], difference);
    compared.count += expected.length;
};

// A value for every input, sometimes a little beyond its range.
const randomPose = (rig) =>
    rig.inputs.map(({ kind, min, max }) => {
        if (kind === "scalar") return [min + (max - min) * (1.2 * random() - 0.1)];
        const q = [0, 0, 0, 1].map((c) => c + 1.5 * (random() - 0.5));
        return q.map((c) => c / Math.hypot(...q));
    });

// The smallest height of the triangles at each vertex. A normal is a difference of positions divided by it, so at flat
// triangles a small error in positions is large in the normal. The difference of normals times this height is a length
// that can be compared with the form's size.
const heights = (mesh, split, positions) => {
    const result = new Float64Array(positions.length / 3).fill(Infinity);
    const place = (corner) => (split || !mesh.sources ? corner : mesh.sources[corner]);
    const { triangles } = mesh;
    for (let t = 0; t < triangles.length; t += 3) {
        const corners = [0, 1, 2].map((c) => place(triangles[t + c]));
        const [a, b, c] = corners.map((v) => positions.subarray(3 * v, 3 * v + 3));
        const [u, v, w] = [[a, b], [a, c], [b, c]].map(([p, q]) => [q[0] - p[0], q[1] - p[1], q[2] - p[2]]);
        const area = Math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
        const height = area / Math.max(Math.hypot(...u), Math.hypot(...v), Math.hypot(...w), 1e-30);
        for (const vertex of corners) result[vertex] = Math.min(result[vertex], height);
    }
    if (split && mesh.sources) {
        // Vertices along a seam share the normal.
        const least = new Map();
        mesh.sources.forEach((v, i) => least.set(v, Math.min(least.get(v) ?? Infinity, result[i])));
        mesh.sources.forEach((v, i) => (result[i] = least.get(v)));
    }
    return result.map((height) => (height === Infinity ? 1 : height));
};

// Both programs run the same lines: edits (a line there, a function here) and poses. Triangles of a tangle are
// arbitrary, so its tangents are too.
export const compareRig = (path, rig, { level, split, poses, edits = [], tangle = false }) => {
    const where = `${path} level ${level}${split ? " split" : ""}${edits.length ? " edited" : ""}`;
    const lines = edits.map(({ line }) => line).concat(poses.map((pose) => `pose ${pose.flat().join(" ")}`));
    const bytes = run(probe, [path, level, split ? 1 : 0], lines.join("\n") + "\n");
    let offset = 0;
    const take = (Type, length) => {
        const size = length * Type.BYTES_PER_ELEMENT;
        const piece = new Uint8Array(bytes.subarray(offset, offset + size)); // a copy, for alignment
        offset += size;
        return new Type(piece.buffer);
    };
    const tangents = rig.mesh(level).texcoords !== null;
    const surface = rig.surface({ level, split, tangents, textures: true });
    const pose = rig.pose();
    for (const { apply } of edits) apply(rig);
    for (const values of poses) {
        pose.rest();
        rig.inputs.forEach((input, i) => pose.set(input.name, values[i]));
        surface.evaluate(pose);
        const n = surface.vertexCount;
        const positions = take(Float32Array, 3 * n);
        const normals = take(Float32Array, 3 * n);
        const turned = tangents ? take(Float32Array, 4 * n) : null;
        const box = take(Float32Array, 6);
        const weights = take(Float64Array, surface.weights.length);
        const size = Math.hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
        compare("positions", positions, surface.positions, size, TOLERANCE, where);
        compare("box", box, surface.box, size, TOLERANCE, where);
        compare("weights", weights, surface.weights, Math.max(1, ...weights.map(Math.abs)), TOLERANCE, where);
        const height = heights(rig.mesh(level), split, positions);
        compare("normals", normals, surface.normals, size, 3 * TOLERANCE, where, (i) => height[(i / 3) | 0]);
        if (turned && !tangle) compare("tangents", turned, surface.tangents, 1, 1e-3, where);
        for (const { name, width, height } of rig.textures)
            compare("textures", take(Uint8Array, 4 * width * height), surface.texture(name), 255, 1 / 255, where);
    }
    assert.equal(offset, bytes.length, `${where}: as many results`);
    pose.dispose();
    surface.dispose();
};

export const randomPoses = (rig, length) => Array.from({ length }, () => randomPose(rig));

/** The library's answers to lines (space_probe.c), as lines of words. */
export const ask = (path, lines) =>
    run(spaceProbe, [path], lines.join("\n") + "\n").toString().split("\n").slice(0, -1).map((line) => line.trim());
/** The same as numbers; null if there are none. */
export const numbersOf = (line) => {
    const number = (word) => (word === "inf" ? Infinity : Number(word));
    return line === "" ? null : Float64Array.from(line.split(" "), number);
};

/** A changed copy of a demo's project, built by the tool; returns the path of its rig. */
export const variant = (demo, name, change) => {
    const project = JSON.parse(readFileSync(join(work, demo, `${demo}.json`), "utf8"));
    change(project);
    const path = join(work, demo, `${name}.json`);
    writeFileSync(path, JSON.stringify(project));
    run(tool, ["build", path, "--quiet"]);
    return join(work, demo, `${name}.glb`);
};

// ---- a sleeve on a tube that bends: the form of the tube is the input ----

/** Builds it with this driver and any further keys of the project; returns the path of its rig. */
export const driven = (name, driver, { more = {}, joints = [] } = {}) => {
    const write = (file, text) => writeFileSync(join(work, file), text);
    const examples = [0.01, 0.7, 1.4].map((angle, i) => {
        write(`tube_${i}.obj`, obj(tube(0.25, angle, 0, 8)));
        write(`sleeve_${i}.obj`, obj(tube(0.3, angle, 2, 6)));
        return { name: `k${i}`, mesh: `sleeve_${i}.obj`, at: { body: `tube_${i}.obj` }, ...(joints[i] ?? {}) };
    });
    const layer = { name: "driven", space: [{ name: "body", driver: true }], weigh: { kind: "convex" }, examples };
    write(`${name}.json`, JSON.stringify({ exemplar: 1, mesh: "sleeve_0.obj", driver, layers: [layer], ...more }));
    run(tool, ["build", join(work, `${name}.json`), "--quiet"]);
    return join(work, `${name}.glb`);
};
