// Memory that grows, twins that share forms, and disposed objects.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { compareRig, folder, load, randomPoses, run, start, tool, work } from "./support.mjs";

const fresh = () => start(new URL("exemplar.wasm", pathToFileURL(join(folder, "/"))));
const bytesOf = (name) => readFileSync(join(work, `${name}.glb`));

/** Opens rigs until memory has moved. */
const fill = (runtime, bytes) => {
    const size = runtime.memorySize;
    const rigs = [];
    while (runtime.memorySize === size) rigs.push(runtime.open(bytes));
    return rigs;
};

// Every array that is a view, by name.
const viewsOf = (rig, pose, surface) => ({
    inputs: () => pose.inputs,
    joints: () => pose.joints,
    driver: () => pose.driver,
    positions: () => surface.positions,
    normals: () => surface.normals,
    tangents: () => surface.tangents,
    weights: () => surface.weights,
    box: () => surface.box,
    texture: () => surface.texture(0),
    sources: () => rig.mesh(0).sources,
    texcoords: () => rig.mesh(0).texcoords,
    triangles: () => rig.mesh(0).triangles,
    faceSizes: () => rig.mesh(0).faceSizes,
    corners: () => rig.mesh(0).corners,
});

const growsAndKeepsItsArrays = async () => {
    const runtime = await fresh();
    const rig = runtime.open(bytesOf("everything"));
    const mesh = rig.mesh(0);
    const surface = rig.surface({ level: 0, tangents: true, textures: true });
    const pose = rig.pose();
    surface.evaluate(pose);
    const views = viewsOf(rig, pose, surface);
    const old = Object.fromEntries(Object.entries(views).map(([name, ask]) => [name, ask()]));
    const expected = Object.fromEntries(Object.entries(old).map(([name, array]) => [name, array.slice()]));
    assert.equal(surface.positions, old.positions, "the same array as long as memory stays");
    const more = fill(runtime, bytesOf("everything"));
    for (const [name, ask] of Object.entries(views)) {
        assert.equal(old[name].length, 0, `the old ${name} are gone`);
        assert.deepEqual(ask(), expected[name], `${name} are asked for again`);
    }
    assert.deepEqual(mesh.triangles, expected.triangles, "a mesh that was asked for before");
    assert.deepEqual(surface.evaluate(pose).positions, expected.positions);

    // Memory is reused after disposal.
    for (const other of more) other.dispose();
    let high = 0;
    for (let i = 0; i < 50; i++) {
        if (i === 2) high = runtime.memorySize;
        const other = runtime.open(bytesOf("blob/blob"));
        other.layers[0].edit([{ move: 0, at: [-0.1, 0.1] }, { addPseudo: { at: [0.3, 0.4], from: [0.1, 0.2] } }]);
        other.layers[0].set({ kind: "shepard" });
        const twin = other.twin();
        other.surface({ state: true }).evaluate(other.pose());
        twin.surface().evaluate(other.pose());
        assert.throws(() => other.layers[0].moveExample(0, other.layers[0].examplePoint(1)));
        other.dispose();
        twin.dispose();
    }
    assert.equal(runtime.memorySize, high);
    rig.dispose();
};

// Allocating the copies may itself move memory.
const lendsItsOwnArrays = async () => {
    const runtime = await fresh();
    const rig = runtime.open(bytesOf("blob/blob"));
    const [layer] = rig.layers;
    const count = 200000;
    const pose = rig.pose({ bend: 0.3, thickness: 0.2 });
    const expected = layer.weights([0.3, 0.2]);
    assert.deepEqual(layer.weightsGrid(pose.inputs, 1), expected);
    const size = runtime.memorySize;
    const points = Float64Array.from({ length: 2 * count }, (_, i) => pose.inputs[i % 2]);
    const weights = layer.weightsGrid(points, count);
    assert.ok(runtime.memorySize > size, "memory grew meanwhile");
    assert.deepEqual(weights.slice(-5), expected);
    assert.deepEqual(layer.weightsGrid([], 0), new Float64Array(0));
    assert.throws(() => layer.weightsGrid([1, 2, 3], 2), /2 points of the layer "blob" need 4 numbers, not 3/);
    assert.throws(() => layer.weightsGrid([1, 2], 1.5), /the number of points must be a whole number/);
    rig.dispose();

    const { Core } = await import(pathToFileURL(join(folder, "core.js")));
    const module = new WebAssembly.Module(readFileSync(join(folder, "exemplar.wasm")));
    const core = new Core(new WebAssembly.Instance(module));
    const large = core.view(Float64Array, core.c.memory_allocate(8 * count), count).fill(7);
    const lent = core.lend([large], (place) => core.copy(Float64Array, place, count));
    assert.equal(large.length, 0, "memory grew meanwhile");
    assert.deepEqual(lent, new Float64Array(count).fill(7));
};

// ---- twins ----

const twinsGoTheirOwnWays = async () => {
    const path = join(work, "blob", "blob.glb");
    const rig = await load(path);
    const [layer] = rig.layers;
    layer.moveExample("left", [-0.8, 0.1]);
    layer.muted = true;
    const twin = rig.twin();
    const [other] = twin.layers;
    assert.deepEqual(other.examplePoint("left"), Float64Array.of(-0.8, 0.1), "as it was when it was made");
    assert.ok(other.muted && other.edited);
    other.muted = layer.muted = false;
    const poses = randomPoses(rig, 4);
    const moved = [{ line: "move 0 1 -0.8 0.1", apply: () => {} }];
    compareRig(path, rig, { level: 0, split: false, poses, edits: moved });
    compareRig(path, twin, { level: 0, split: false, poses, edits: moved });

    // Independent from now on.
    other.reset();
    other.set({ kind: "shepard" });
    other.edit([{ removePseudo: 0 }, { move: "thick", at: [0, 0.9] }]);
    layer.addPseudo({ at: [0.3, 0.3], from: [0.1, 0.1] });
    assert.deepEqual([layer.weigher, other.weigher], ["cardinal", "shepard"]);
    assert.deepEqual([layer.pseudoCount, other.pseudoCount], [3, 1]);
    assert.deepEqual([layer.examplePoint("thick")[1], other.examplePoint("thick")[1]], [1, 0.9]);
    other.muted = true;
    assert.ok(!layer.muted);
    other.muted = false;

    // One pose works for both, whichever rig made it; the surface's rig decides.
    const pose = rig.pose({ bend: 0.4, thickness: 0.3 });
    const copy = twin.pose().copy(pose);
    const [mine, others] = [rig.surface(), twin.surface()];
    const shown = mine.evaluate(pose).positions.slice();
    assert.deepEqual(mine.evaluate(copy).positions, shown);
    assert.notDeepEqual(others.evaluate(pose).positions, shown);
    assert.deepEqual(others.evaluate(pose).weights, others.evaluate(copy).weights);
    const stranger = await load(path);
    assert.throws(() => mine.evaluate(stranger.pose()), /a pose of the surface's own rig, or of a twin of it/);

    // A twin of a twin, disposed of in any order.
    const third = twin.twin();
    rig.dispose();
    assert.throws(() => mine.positions, /this surface was disposed of/);
    assert.throws(() => others.evaluate(pose), /this pose was disposed of/);
    assert.ok(!twin.disposed && !third.disposed);
    const before = others.evaluate(copy).positions.slice();
    assert.deepEqual(third.surface().evaluate(copy).positions, before);
    twin.dispose();
    assert.throws(() => third.surface().evaluate(copy), /this pose was disposed of/);
    const last = third.pose({ bend: 0.4, thickness: 0.3 });
    assert.deepEqual(third.surface().evaluate(last).positions, before);
    assert.deepEqual(third.restPositions(), stranger.restPositions());
    third.dispose();
    stranger.dispose();
};

const twinsShareTheirForms = async () => {
    const runtime = await fresh();
    const bytes = bytesOf("bar/bar");
    const rig = runtime.open(bytes);
    const size = runtime.memorySize;
    const twins = Array.from({ length: 100 }, () => rig.twin());
    const grown = runtime.memorySize - size;
    assert.ok(grown < 10 * bytes.length, `${grown} bytes for a hundred twins of ${bytes.length} bytes`);
    for (const twin of twins) twin.dispose();
    rig.dispose();
};

// ---- disposed objects ----

const saysWhatIsGone = async () => {
    const rig = await load(join(work, "everything.glb"));
    const [pose, surface, mesh] = [rig.pose(), rig.surface({ level: 0, tangents: true, textures: true }), rig.mesh(0)];
    const views = viewsOf(rig, pose, surface);
    const [layer] = rig.layers;
    const at = new Float64Array(layer.dimension);
    const kept = rig.surface();
    const uses = {
        ...views,
        "mesh.triangles": () => mesh.triangles,
        set: () => pose.set(0, 1),
        get: () => pose.get(0),
        setJoint: () => pose.setJoint(0, { scale: [1, 1, 1] }),
        turnJoint: () => pose.turnJoint(0, [0, 0, 0, 1]),
        jointFromRest: () => pose.jointFromRest(0),
        worldJoints: () => pose.worldJoints(),
        unpose: () => pose.unpose(new Float32Array(3 * rig.vertexCount), new Float32Array(3 * rig.vertexCount)),
        copy: () => pose.copy(pose),
        rest: () => pose.rest(),
        evaluate: () => surface.evaluate(pose),
        pose: () => rig.pose(),
        surface: () => rig.surface(),
        mesh: () => rig.mesh(),
        twin: () => rig.twin(),
        joint: () => rig.joint(0),
        restPositions: () => rig.restPositions(),
        weigher: () => layer.weigher,
        settings: () => layer.settings,
        falloffs: () => layer.falloffs,
        ridgeAdded: () => layer.ridgeAdded,
        pseudoCount: () => layer.pseudoCount,
        muted: () => (layer.muted = true),
        examplePoint: () => layer.examplePoint(0),
        "layer.weights": () => layer.weights(at),
        distance: () => layer.distance(at, at),
        condition: () => layer.condition(),
        edit: () => layer.edit([{ move: 0, at }]),
        "layer.set": () => layer.set({}),
        reset: () => layer.reset(),
        mask: () => layer.mask(),
        delta: () => layer.delta(0),
        driverForm: () => layer.driverForm(0),
        exampleJoints: () => layer.exampleJoints(0),
    };
    for (const use of Object.values(uses)) use();
    pose.dispose();
    assert.ok(pose.disposed && !rig.disposed);
    assert.throws(() => kept.evaluate(pose), /ExemplarError: this pose was disposed of/);
    rig.dispose();
    rig.dispose(); // a second time does nothing
    surface.dispose();
    assert.ok(rig.disposed && surface.disposed && kept.disposed);
    for (const [name, use] of Object.entries(uses))
        assert.throws(use, /^ExemplarError: this (rig|pose|surface) was disposed of$/, name);
};

/** A plate of a quarter of a million vertices: more than 16 bits count, and more than a call has arguments. */
const playsVeryManyVertices = async () => {
    const side = 501, count = side * side;
    const plate = (lift) => {
        const lines = [];
        for (let i = 0; i < count; i++) lines.push(`v ${i % side} ${Math.floor(i / side)} ${lift * (i % 7)}`);
        for (let y = 1; y < side; y++)
            for (let i = (y - 1) * side + 1; i < y * side; i++) lines.push(`f ${i} ${i + 1} ${i + side + 1} ${i + side}`);
        return lines.join("\n");
    };
    writeFileSync(join(work, "plate.obj"), plate(0));
    writeFileSync(join(work, "lifted.obj"), plate(2));
    writeFileSync(join(work, "plate.json"), JSON.stringify({
        exemplar: 1, mesh: "plate.obj",
        layers: [{ name: "lift", space: [{ name: "up", min: 0, max: 1, rest: 0 }], weigh: { kind: "direct" },
            examples: [{ name: "up", mesh: "lifted.obj" }] }],
    }));
    run(tool, ["build", join(work, "plate.json"), "--quiet"]);
    const runtime = await fresh();
    const rig = runtime.open(bytesOf("plate"));
    assert.equal(rig.vertexCount, count);
    const surface = rig.surface();
    surface.evaluate(rig.pose({ up: 0.5 }));
    for (const vertex of [0, 65535, 65536, 65537, count - 1])
        assert.deepEqual(Array.from(surface.positions.subarray(3 * vertex, 3 * vertex + 3)),
            [vertex % side, Math.floor(vertex / side), vertex % 7]);
    const { triangles } = rig.mesh();
    assert.equal(triangles.length, 6 * (side - 1) ** 2);
    assert.equal(triangles.reduce((most, vertex) => Math.max(most, vertex), 0), count - 1);
    assert.equal(rig.restPositions().length, 3 * count);
    rig.dispose();
};

export const cases = [growsAndKeepsItsArrays, lendsItsOwnArrays, twinsGoTheirOwnWays, twinsShareTheirForms,
    saysWhatIsGone, playsVeryManyVertices];
