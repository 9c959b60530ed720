// @exemplar/runtime beside the library on this machine: positions, normals, tangents, boxes, weights and textures of
// many rigs at many poses, live edits, errors, memory that grows, and what is disposed of. No packages but node's own.
// usage: node runtime.mjs PACKAGE_FOLDER TOOL RUNTIME_PROBE RIG_PROBE SOURCE_FOLDER
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process, { argv } from "node:process";
import { pathToFileURL } from "node:url";

const [folder, tool, probe, rigProbe, source] = argv.slice(2);
const exported = await import(pathToFileURL(join(folder, "index.js")));
const { LIMIT, load, start } = exported;
const TOLERANCE = 1e-6; // of the form's size, of the largest weight
const work = mkdtempSync(join(tmpdir(), "exemplar-runtime-"));
const run = (program, words, input) =>
    execFileSync(program, words, { input, maxBuffer: 1 << 30, stdio: ["pipe", "pipe", "pipe"] });

// Numbers that are the same in every run.
let seed = 1;
const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
};

const worst = { positions: 0, normals: 0, tangents: 0, box: 0, weights: 0, textures: 0, driven: 0 };
let compared = 0;

const compare = (what, expected, actual, scale, tolerance, where, factor = () => 1) => {
    assert.equal(actual.length, expected.length, `${where}: how many ${what}`);
    let difference = 0;
    for (let i = 0; i < expected.length; i++) {
        const d = Math.abs(expected[i] - actual[i]) * factor(i);
        difference = d <= difference ? difference : d; // what is not a number stays
    }
    difference /= scale;
    assert.ok(difference <= tolerance, `${where}: ${what} differ by ${difference}`);
    worst[what] = Math.max(worst[what], difference);
    compared += expected.length;
};

// A value for every input, a little beyond its range too.
const randomPose = (rig) =>
    rig.inputs.map(({ kind, min, max }) => {
        if (kind === "scalar") return [min + (max - min) * (1.2 * random() - 0.1)];
        const q = [0, 0, 0, 1].map((c) => c + 1.5 * (random() - 0.5));
        return q.map((c) => c / Math.hypot(...q));
    });

// The smallest height of the triangles at each vertex. A normal is a difference of positions over it: where triangles
// are flat, what positions are off by is many times that in the normal, and a normal's difference times this height is
// a length that can be compared with the form's size.
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
        // The seams of a vertex share its normal.
        const least = new Map();
        mesh.sources.forEach((v, i) => least.set(v, Math.min(least.get(v) ?? Infinity, result[i])));
        mesh.sources.forEach((v, i) => (result[i] = least.get(v)));
    }
    return result.map((height) => (height === Infinity ? 1 : height));
};

// Both programs go through the same lines: edits, as a line there and what to do here, and poses. The triangles of a
// tangle are any, and so are its tangents.
const compareRig = (path, rig, { level, split, poses, edits = [], tangle = false }) => {
    const where = `${path} level ${level}${split ? " split" : ""}${edits.length ? " edited" : ""}`;
    const lines = edits.map(({ line }) => line).concat(poses.map((pose) => `pose ${pose.flat().join(" ")}`));
    const bytes = run(probe, [path, level, split ? 1 : 0], lines.join("\n") + "\n");
    let offset = 0;
    const take = (Type, length) => {
        const size = length * Type.BYTES_PER_ELEMENT;
        const piece = new Uint8Array(bytes.subarray(offset, offset + size)); // a copy, for its alignment
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

const randomPoses = (rig, length) => Array.from({ length }, () => randomPose(rig));

// ---- the same numbers ----

const comparesDemos = async () => {
    for (const name of ["blob", "arm", "elbow", "twist", "shoulder", "bar"]) {
        run(tool, ["demo", name, "-o", join(work, name), "--quiet"]);
        const path = join(work, name, `${name}.glb`);
        const rig = await load(path);
        compareRig(path, rig, { level: 0, split: false, poses: randomPoses(rig, 16) });
        compareRig(path, rig, { level: rig.shownLevel, split: true, poses: randomPoses(rig, 8) });
        rig.dispose();
    }
};

const comparesRigsOfEveryKind = async () => {
    run(rigProbe, [work]);
    for (const name of ["everything", "textured", "subdivided", "dual quaternion"]) {
        const path = join(work, `${name}.glb`);
        const rig = await load(pathToFileURL(path));
        const levels = rig.levelCount > 0 ? [0, 1, rig.levelCount, LIMIT] : [0];
        for (const level of levels) {
            const poses = randomPoses(rig, 6);
            compareRig(path, rig, { level, split: level > 0, poses, tangle: true });
        }
        rig.dispose();
    }
};

const saysWhatTheToolSays = async () => {
    const path = join(work, "arm", "arm.glb");
    const rig = await load(readFileSync(path));
    const told = JSON.parse(run(tool, ["weights", path, "elbow=70", "gender=0.25", "--json"]));
    const surface = rig.surface().evaluate(rig.pose({ elbow: 70, gender: 0.25 }));
    assert.deepEqual(rig.layers.map(({ name }) => name), told.layers.map(({ name }) => name));
    const [layer] = rig.layers;
    assert.deepEqual(layer.examples.map(({ name }) => name), Object.keys(told.layers[0].weights));
    compare("weights", Object.values(told.layers[0].weights), surface.weights, 1, TOLERANCE, "exemplar weights");
    rig.dispose();
};

// Rings of eight along a quarter of a bend, as positions and as an OBJ.
const tube = (radius, angle, first, last) => {
    const positions = [];
    for (let ring = first; ring <= last; ring++)
        for (let side = 0; side < 8; side++) {
            const [turn, a] = [(angle * ring) / 8, (Math.PI * side) / 4];
            const far = 1 / angle - radius * Math.cos(a);
            positions.push(far * Math.sin(turn), 1 / angle - far * Math.cos(turn), radius * Math.sin(a));
        }
    return Float32Array.from(positions);
};
const obj = (positions) => {
    const line = (_, v) => `v ${positions.slice(3 * v, 3 * v + 3).join(" ")}`;
    const lines = Array.from({ length: positions.length / 3 }, line);
    for (let v = 0; v + 8 < positions.length / 3; v++) {
        const next = v - (v % 8) + ((v + 1) % 8);
        lines.push(`f ${v + 1} ${next + 1} ${next + 9} ${v + 9}`);
    }
    return lines.join("\n") + "\n";
};

// A sleeve on a tube that bends: the form of the tube is the input.
const followsADriver = async () => {
    const write = (name, text) => writeFileSync(join(work, name), text);
    const examples = [0.01, 0.7, 1.4].map((angle, i) => {
        write(`tube_${i}.obj`, obj(tube(0.25, angle, 0, 8)));
        write(`sleeve_${i}.obj`, obj(tube(0.3, angle, 2, 6)));
        return { name: `k${i}`, mesh: `sleeve_${i}.obj`, at: { body: `tube_${i}.obj` } };
    });
    const layer = { name: "driven", space: [{ name: "body", driver: true }], weigh: { kind: "convex" }, examples };
    const driver = { mesh: "tube_0.obj", frames: 3 };
    write("driven.json", JSON.stringify({ exemplar: 1, mesh: "sleeve_0.obj", driver, layers: [layer] }));
    const path = join(work, "driven.glb");
    run(tool, ["build", join(work, "driven.json"), "-o", path, "--quiet"]);
    const rig = await load(path);
    const pose = rig.pose();
    const surface = rig.surface({ level: 0, split: false });
    const rest = pose.driver.slice();
    for (const angle of [0.3, 1.1]) {
        const form = tube(0.25, angle, 0, 8);
        write("form.obj", obj(form));
        const body = `body=${join(work, "form.obj")}`;
        const lines = run(tool, ["pose", path, body, "-o", "-", "--quiet"]).toString().split("\n");
        const vertices = lines.filter((line) => line.startsWith("v "));
        const positions = vertices.flatMap((line) => line.split(" ").slice(1).map(Number));
        const told = JSON.parse(run(tool, ["weights", path, body, "--json"])).layers[0].weights;
        pose.driver.set(form);
        surface.evaluate(pose);
        // Convex weights follow products that are summed in float: what tests/portable/compare.py allows.
        compare("driven", positions, surface.positions, 1, 1e-4, `driver at ${angle}`);
        compare("driven", Object.values(told), surface.weights, 1, 1e-4, `driver at ${angle}`);
    }
    assert.throws(() => pose.set("body", 1), /the input "body" is a mesh: write its vertices into pose.driver/);
    assert.deepEqual(pose.rest().driver, rest);
    rig.dispose();
};

// ---- edits ----

const editsAsTheLibraryDoes = async () => {
    const path = join(work, "blob", "blob.glb");
    const rig = await load(path);
    const [layer] = rig.layers;
    const before = layer.examplePoint(1);
    const moved = before.map((x, i) => x + 0.13 * (i + 1));
    const at = rig.inputs.map(({ min, max }) => min + 0.3 * (max - min));
    const from = rig.inputs.map(({ min, max }) => min + 0.6 * (max - min));
    const poses = randomPoses(rig, 8);
    const edits = [
        { line: `move 0 1 ${moved.join(" ")}`, apply: (r) => r.layers[0].moveExample(layer.examples[1].name, moved) },
        { line: `pseudo 0 ${at.join(" ")} ${from.join(" ")}`, apply: (r) => r.layers[0].addPseudo({ at, from }) },
    ];
    const pseudos = layer.pseudoCount;
    compareRig(path, rig, { level: 0, split: false, poses, edits });
    assert.deepEqual(layer.examplePoint(1), moved);
    assert.equal(layer.pseudoCount, pseudos + 1);
    compare("weights", Float64Array.from({ length: layer.examples.length }, (_, k) => (k === 1 ? 1 : 0)),
        layer.weights(moved), 1, TOLERANCE, "at the moved example");
    // What is refused leaves the layer as it was.
    const other = layer.examplePoint(0);
    assert.throws(() => layer.moveExample(1, other), /at one place|same place|singular|coincide/i);
    assert.deepEqual(layer.examplePoint(1), moved);
    layer.removePseudo(pseudos);
    assert.equal(layer.pseudoCount, pseudos);
    layer.reset();
    assert.deepEqual(layer.examplePoint(1), before);
    compareRig(path, rig, { level: 0, split: false, poses });

    const pose = rig.pose(Object.fromEntries(rig.inputs.map(({ name }, i) => [name, from[i]])));
    const surface = rig.surface();
    const shown = surface.evaluate(pose).positions.slice();
    layer.muted = true;
    assert.ok(layer.muted);
    assert.notDeepEqual(surface.evaluate(pose).positions, shown);
    layer.muted = false;
    assert.deepEqual(surface.evaluate(pose).positions, shown);
    rig.dispose();
};

const editsInOtherWays = async () => {
    const rig = await load(join(work, "blob", "blob.glb"));
    const [layer] = rig.layers;
    const weights = [0.1, 0.2, 0.3, 0.25, 0.15];
    const added = layer.addPseudo({ at: [0.4, 0.2], weights });
    compare("weights", weights, layer.weights([0.4, 0.2]), 1, TOLERANCE, "given to a pseudo-example");
    layer.movePseudo(added, { at: [0.45, 0.3] });
    assert.deepEqual(layer.pseudoPoint(added), Float64Array.of(0.45, 0.3));
    compare("weights", weights, layer.weights([0.45, 0.3]), 1, TOLERANCE, "of a moved pseudo-example");
    layer.movePseudo(added, { weights: weights.toReversed() });
    compare("weights", weights.toReversed(), layer.weights([0.45, 0.3]), 1, TOLERANCE, "given anew");
    assert.throws(() => layer.addPseudo({ at: [0.4, 0.2] }), /takes "at" and one of "from" and "weights"/);
    assert.ok(layer.edited);
    rig.dispose();

    const elbow = await load(join(work, "elbow", "elbow.glb"));
    const space = elbow.layers.find(({ weigher }) => weigher === "gaussian");
    const at = space.examplePoint(0).map((x, a) => x + 0.1 * (space.inputs[a].max - space.inputs[a].min));
    const [before] = space.weights(at);
    space.setFalloff(0, space.inputs.map(() => 0.05));
    assert.ok(space.weights(at)[0] < before, "it reaches less far");
    assert.ok(Math.abs(space.weights(space.examplePoint(0))[0] - 1) < 1e-5, "and is reached all the same");
    elbow.dispose();
};

// ---- poses ----

const readsBackWhatWasSet = async () => {
    const rig = await load(join(work, "arm", "arm.glb"));
    const pose = rig.pose({ elbow: 55, gender: 0.5 });
    assert.ok(Math.abs(pose.get("elbow") - 55) < 1e-4, "through a joint of floats");
    assert.equal(pose.get("gender"), 0.5);
    assert.equal(pose.inputs[rig.input("gender").offset], 0.5);
    const half = Math.SQRT1_2;
    pose.setJoint("forearm", { rotation: [0, half, 0, half] });
    assert.deepEqual(Array.from(pose.joints.slice(13, 17)), Array.from(Float32Array.of(0, half, 0, half)));
    pose.rest();
    assert.equal(pose.get("gender"), rig.input("gender").rest);
    const surface = rig.surface();
    const bent = surface.evaluate(rig.pose({ elbow: 90 })).positions.slice();
    assert.notDeepEqual(surface.evaluate(rig.pose({ elbow: 90 }), { unskinned: true }).positions, bent);
    rig.dispose();
};

// ---- what is wrong ----

const refusesInSentences = async () => {
    const whole = readFileSync(join(work, "blob", "blob.glb"));
    const damaged = Uint8Array.from(whole);
    damaged[damaged.length >> 1] ^= 1;
    const message = "this is not a rig: it does not begin like a .glb file";
    await assert.rejects(load(new Uint8Array(100)), { message });
    await assert.rejects(load(damaged), (error) => error.name === "ExemplarError" && error.result === 8);
    for (const length of [0, 1, 12, 20, 1000])
        await assert.rejects(load(whole.subarray(0, length)), /^ExemplarError: \w/);
    await assert.rejects(load(join(work, "none.glb")), /the rig cannot be read/);
    await assert.rejects(load(17), /an address or as bytes/);
    const rig = await load(whole);
    const pose = rig.pose();
    assert.throws(() => pose.set("bendd", 1), { message: /^there is no input "bendd": there is bend, thickness$/ });
    assert.throws(() => pose.set("bend", [1, 2]), /the input "bend" has 2 numbers and takes 1/);
    assert.throws(() => rig.layers[0].moveExample("nobody", [0, 0]), /there is no example "nobody"/);
    assert.throws(() => rig.layers[0].moveExample(0, [0]), /"at" in an edit of the layer ".*" has 1 number.* takes 2/);
    assert.throws(() => rig.layers[0].moveExample(0, [NaN, 0]), /^ExemplarError: \w/);
    assert.throws(() => rig.mesh(7), /this rig has no level 7/);
    assert.throws(() => rig.layers[0].removePseudo(99), /no pseudo-example 99/);
    const other = await load(whole);
    assert.throws(() => rig.surface().evaluate(other.pose()), /a pose of the surface's own rig/);
    rig.dispose();
    other.dispose();
};

// ---- memory ----

const growsAndKeepsItsArrays = async () => {
    const runtime = await start(new URL("exemplar.wasm", pathToFileURL(join(folder, "/"))));
    const bytes = readFileSync(join(work, "blob", "blob.glb"));
    const rig = runtime.open(bytes);
    const surface = rig.surface();
    const pose = rig.pose({ bend: 0.4 });
    const old = surface.evaluate(pose).positions;
    const expected = old.slice();
    assert.equal(surface.positions, old, "the same array as long as memory stays");
    const size = runtime.memorySize;
    const more = [];
    while (runtime.memorySize === size) more.push(runtime.open(bytes));
    assert.equal(old.length, 0, "the old one is gone");
    assert.deepEqual(surface.positions, expected);
    assert.deepEqual(surface.evaluate(pose).positions, expected);
    assert.equal(rig.mesh().triangles.length, 3 * rig.mesh().triangleCount);

    // Once disposed of, memory is used again.
    for (const other of more) other.dispose();
    const high = runtime.memorySize;
    for (let i = 0; i < 50; i++) {
        const other = runtime.open(bytes);
        other.layers[0].moveExample(0, [-0.1, 0.1]);
        other.surface().evaluate(other.pose());
        other.dispose();
    }
    assert.equal(runtime.memorySize, high);
    rig.dispose();
    rig.dispose();
    assert.ok(rig.disposed && surface.disposed && pose.disposed);
    assert.throws(() => surface.positions, /this surface was disposed of/);
    assert.throws(() => pose.set("bend", 1), /this rig was disposed of|this pose was disposed of/);
    assert.throws(() => rig.pose(), /this rig was disposed of/);
};

const isWhatThePackageSays = async () => {
    const module = new WebAssembly.Module(readFileSync(join(folder, "exemplar.wasm")));
    assert.deepEqual(WebAssembly.Module.imports(module), []);
    const runtime = await start(module);
    const header = readFileSync(join(source, "include/exemplar/base.h"), "utf8");
    const [, version] = /EX_VERSION_TEXT +"(.*)"/.exec(header);
    const description = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    assert.equal(description.version, version);
    assert.equal(runtime.version, version);
    assert.equal(runtime.simd, "wasm");
    // The types name all that is exported, and nothing else.
    const types = readFileSync(join(folder, "index.d.ts"), "utf8");
    const declared = Array.from(types.matchAll(/^export (?:const|class|function) (\w+)/gm), ([, name]) => name);
    assert.deepEqual(declared.sort(), Object.keys(exported).sort());
    for (const name of ["Layer", "Mesh", "Pose", "Rig", "Runtime", "Surface"]) {
        const [, body] = new RegExp(`^export class ${name} {\n(.*?)\n}`, "ms").exec(types);
        for (const member of Object.getOwnPropertyNames(exported[name].prototype)) {
            const pattern = new RegExp(`^    (private |readonly )?${member}[(:]`, "m");
            assert.match(body, pattern, `${name}.${member} has a type`);
        }
    }
    for (const file of description.files) assert.ok(readFileSync(join(folder, file)).length > 0, file);
};

const runsWhatTheReadmeShows = async () => {
    const [, program] = /```js\n(.*?)```/s.exec(readFileSync(join(folder, "README.md"), "utf8"));
    const module = JSON.stringify(pathToFileURL(join(folder, "index.js")).href);
    const rig = JSON.stringify(join(work, "blob", "blob.glb"));
    const path = join(work, "readme.mjs");
    writeFileSync(path, program.replace('"@exemplar/runtime"', module).replace('"blob.glb"', rig));
    assert.match(run(process.execPath, [path]).toString(), /'bend: -1 to 1'/);
};

try {
    const cases = [comparesDemos, comparesRigsOfEveryKind, saysWhatTheToolSays, followsADriver,
        editsAsTheLibraryDoes, editsInOtherWays, readsBackWhatWasSet, refusesInSentences,
        growsAndKeepsItsArrays, isWhatThePackageSays, runsWhatTheReadmeShows];
    for (const test of cases) {
        await test();
        console.log(`ok ${test.name}`);
    }
    const list = Object.entries(worst).map(([what, value]) => `${what} ${value.toExponential(1)}`);
    console.log(`${cases.length} cases, ${compared} numbers compared; largest differences: ${list.join(", ")}`);
} finally {
    rmSync(work, { recursive: true, force: true });
}
