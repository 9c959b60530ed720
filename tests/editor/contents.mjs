// Contents of rigs (forms, masks, images, driver forms, joints) and joints of poses, compared with the library.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ask, compare, driven, load, numbersOf, random, TOLERANCE, work } from "./support.mjs";

// ---- contents of examples ----

const same = (Type, line, actual, where) => {
    const expected = numbersOf(line);
    assert.deepEqual(actual, expected === null ? null : Type.from(expected), where);
    return actual === null ? 0 : 1;
};

// Every example of every layer; returns how many of each kind there were.
const compareContents = async (path) => {
    const rig = await load(path);
    const kinds = ["delta", "image", "driver", "joints"];
    const lines = ["rest"];
    for (const { index, examples } of rig.layers) {
        lines.push(`mask ${index}`);
        for (const { index: k } of examples)
            for (const kind of kinds) lines.push(`${kind} ${index} ${k}`);
    }
    // A layer of pixels has no deltas, so the library is not asked.
    const pixels = rig.layers.filter(({ domain }) => domain === "pixels").map(({ index }) => `delta ${index} `);
    const answers = ask(path, lines.filter((line) => !pixels.some((start) => line.startsWith(start))));
    const next = (line) => (pixels.some((start) => line.startsWith(start)) ? "" : answers.shift());
    const found = { mask: 0, delta: 0, image: 0, driver: 0, joints: 0 };
    assert.equal(rig.restPositions().length, 3 * rig.vertexCount);
    assert.equal(rig.vertexCount, rig.mesh(0).vertexCount);
    same(Float32Array, next("rest"), rig.restPositions(), `${path}: rest`);
    for (const layer of rig.layers) {
        found.mask += same(Float32Array, next(`mask ${layer.index}`), layer.mask(), `${path}: mask of ${layer.name}`);
        for (const { index: k, name } of layer.examples) {
            const where = `${path}: ${name} of ${layer.name}`;
            const line = (kind) => next(`${kind} ${layer.index} ${k}`);
            found.delta += same(Float32Array, line("delta"), layer.delta(name), where);
            found.image += same(Uint8ClampedArray, line("image"), layer.image(k), where);
            found.driver += same(Float32Array, line("driver"), layer.driverForm(k), where);
            found.joints += same(Float32Array, line("joints"), layer.exampleJoints(k), where);
        }
        assert.throws(() => layer.delta("nobody"), /there is no example "nobody"/);
    }
    assert.equal(answers.length, 0);
    rig.dispose();
    return found;
};

const holdsWhatTheLibraryHolds = async () => {
    // A driver whose frame is a joint's: its examples have joints.
    const nodes = [{ name: "hips", children: [1] }, { name: "chest", translation: [0, 0.5, 0] }];
    const binds = Float32Array.from([0, -0.5].flatMap((y) => matrixOf([0, y, 0, 0, 0, 0, 1, 1, 1, 1])));
    const uri = `data:application/octet-stream;base64,${Buffer.from(binds.buffer).toString("base64")}`;
    writeFileSync(join(work, "bones.gltf"), JSON.stringify({
        asset: { version: "2.0" }, nodes, scenes: [{ nodes: [0] }], skins: [{ joints: [0, 1], inverseBindMatrices: 0 }],
        accessors: [{ bufferView: 0, componentType: 5126, count: 2, type: "MAT4" }],
        bufferViews: [{ buffer: 0, byteLength: 128 }], buffers: [{ byteLength: 128, uri }],
    }));
    const joints = [{}, { joints: { hips: { z: 20 } } }, { joints: { hips: { z: 45 }, chest: { x: 10 } } }];
    driven("jointed", { mesh: "tube_0.obj", frame: { joint: "hips" } }, { more: { skeleton: "bones.gltf" }, joints });
    const found = {};
    for (const name of ["blob/blob", "arm/arm", "elbow/elbow", "everything", "textured", "driven", "jointed"])
        for (const [kind, count] of Object.entries(await compareContents(join(work, `${name}.glb`))))
            found[kind] = (found[kind] ?? 0) + count;
    for (const [kind, count] of Object.entries(found)) assert.ok(count > 0, `no ${kind} was compared`);

    // At an example, the form is the mesh plus the example's difference.
    const rig = await load(join(work, "blob", "blob.glb"));
    const [layer] = rig.layers;
    const surface = rig.surface({ level: 0, split: false });
    const form = (k) => rig.restPositions().map((x, i) => x + layer.delta(k)[i]);
    for (const { index, name } of layer.examples) {
        const [bend, thickness] = layer.examplePoint(index);
        const { positions } = surface.evaluate(rig.pose({ bend, thickness }));
        compare("positions", form(index), positions, 3, TOLERANCE, name);
    }
    rig.dispose();
};

const saysWhatADriverIs = async () => {
    const rig = await load(join(work, "driven.glb"));
    const plain = await load(join(work, "blob", "blob.glb"));
    assert.equal(plain.driver, null);
    assert.equal(rig.driver.vertexCount, 72);
    assert.equal(rig.driver.triangles.length, 2 * 3 * 64);
    assert.ok(rig.driver.triangles.every((v) => v < 72));
    assert.deepEqual([plain.skinning, (await load(join(work, "arm", "arm.glb"))).skinning], [null, "linear"]);
    assert.equal((await load(join(work, "dual quaternion.glb"))).skinning, "dual_quaternion");
    rig.dispose();
    plain.dispose();
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

const paintsOnlyIfAsked = async () => {
    const rig = await load(join(work, "textured.glb"));
    const [surface, pose] = [rig.surface({ textures: true }), rig.pose()];
    const pixels = () => rig.textures.map(({ name }) => Array.from(surface.texture(name)));
    const axis = rig.inputs.find(({ kind, index }) => {
        pose.rest();
        surface.evaluate(pose);
        if (kind !== "scalar") return false;
        const before = pixels();
        const { min, max } = rig.inputs[index];
        pose.set(index, 0.25 * min + 0.75 * max);
        surface.evaluate(pose, { unpainted: true });
        assert.deepEqual(pixels(), before, "it paints although it should not");
        surface.evaluate(pose);
        return !isDeepStrictEqual(pixels(), before);
    });
    assert.ok(axis, "no axis changes the textures: nothing was tested");
    rig.dispose();
};

const copiesPoses = async () => {
    const rig = await load(join(work, "arm", "arm.glb"));
    const [a, b] = [rig.pose({ elbow: 70, gender: 0.3 }).setJoint("hand", { scale: [2, 1, 1] }), rig.pose()];
    assert.equal(b.copy(a), b);
    assert.deepEqual([b.inputs, b.joints], [a.inputs, a.joints]);
    a.set("gender", 1);
    assert.equal(b.get("gender"), 0.3, "a copy is one");
    const other = await load(join(work, "arm", "arm.glb"));
    assert.throws(() => b.copy(other.pose()), /copy needs a pose of the same rig/);
    assert.throws(() => b.copy({ inputs: [] }), /copy needs a pose of the same rig/);
    rig.dispose();
    other.dispose();
    const sleeve = await load(join(work, "driven.glb"));
    const bent = sleeve.pose();
    bent.driver.set(sleeve.layers[0].driverForm(2));
    assert.deepEqual(sleeve.pose().copy(bent).driver, sleeve.layers[0].driverForm(2));
    sleeve.dispose();
};

// ---- joints, composed here in double ----

const multiply = ([ax, ay, az, aw], [bx, by, bz, bw]) => [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
];
const unit = (q) => q.map((c) => c / Math.hypot(...q));
const conjugate = ([x, y, z, w]) => [-x, -y, -z, w];
const positive = (q) => (q[3] < 0 ? q.map((c) => -c) : q);
const randomRotation = () => unit([0, 0, 0, 0.3].map((c) => c + random() - 0.5));

// Column by column.
const matrixOf = ([tx, ty, tz, x, y, z, w, sx, sy, sz]) => [
    sx * (1 - 2 * (y * y + z * z)), sx * 2 * (x * y + z * w), sx * 2 * (x * z - y * w), 0,
    sy * 2 * (x * y - z * w), sy * (1 - 2 * (x * x + z * z)), sy * 2 * (y * z + x * w), 0,
    sz * 2 * (x * z + y * w), sz * 2 * (y * z - x * w), sz * (1 - 2 * (x * x + y * y)), 0,
    tx, ty, tz, 1,
];
const times = (a, b) => Array.from({ length: 16 }, (_, i) => {
    const [row, column] = [i % 4, i >> 2];
    return [0, 1, 2, 3].reduce((sum, k) => sum + a[4 * k + row] * b[4 * column + k], 0);
});
const worldsOf = (rig, locals) => {
    const worlds = [];
    const world = (j) => {
        const { parent } = rig.joints[j];
        return (worlds[j] ??= parent < 0 ? matrixOf(locals[j]) : times(world(parent), matrixOf(locals[j])));
    };
    return rig.joints.flatMap((_, j) => world(j));
};

const turnsJoints = async () => {
    const rig = await load(join(work, "arm", "arm.glb"));
    const pose = rig.pose();
    for (const { name, index } of rig.joints) {
        const rest = Array.from(rig.joint(name).slice(3, 7));
        assert.deepEqual(pose.jointFromRest(name).map((c) => Math.round(c * 1e6) / 1e6), [0, 0, 0, 1]);
        const turn = randomRotation();
        assert.equal(pose.turnJoint(name, turn), pose);
        const now = Array.from(pose.joints.slice(10 * index, 10 * index + 10));
        compare("weights", positive(multiply(rest, turn)), positive(unit(now.slice(3, 7))), 1, TOLERANCE, name);
        compare("weights", positive(turn), pose.jointFromRest(index), 1, TOLERANCE, `${name} read back`);
        const fromRest = positive(multiply(conjugate(rest), unit(now.slice(3, 7))));
        compare("weights", fromRest, pose.jointFromRest(index), 1, TOLERANCE, name);
        const others = [...now.slice(0, 3), ...now.slice(7)];
        assert.deepEqual(others, [...rig.joint(name).slice(0, 3), ...rig.joint(name).slice(7)], "the rest of it stays");
    }
    assert.throws(() => pose.turnJoint("forearm", [0, 0, 1]), /a rotation has 3 numbers, but needs 4/);
    assert.throws(() => pose.turnJoint("forearm"), /turnJoint needs a rotation/);
    assert.throws(() => pose.turnJoint("elbow", [0, 0, 0, 1]), /there is no joint "elbow"/);
    // An input that reads the joint sees it.
    pose.rest().turnJoint("forearm", [0, 0, Math.sin(0.5), Math.cos(0.5)]);
    assert.ok(Math.abs(pose.get("elbow") - 180 / Math.PI) < 1e-4);
    const blob = await load(join(work, "blob", "blob.glb"));
    assert.equal(blob.pose().worldJoints().length, 0);
    rig.dispose();
    blob.dispose();
};

const randomJoints = (rig, pose) => {
    for (const { name } of rig.joints) pose.turnJoint(name, randomRotation());
    for (const { name, min, max, joint, kind } of rig.inputs)
        if (joint < 0 && kind === "scalar") pose.set(name, min + (max - min) * random());
    return pose;
};

const placesJoints = async () => {
    for (const name of ["arm/arm", "everything"]) {
        const path = join(work, `${name}.glb`);
        const rig = await load(path);
        const pose = rig.pose();
        for (let round = 0; round < 4; round++) {
            randomJoints(rig, pose);
            const [told] = ask(path, [`worlds ${pose.inputs.join(" ")} ${pose.joints.join(" ")}`]).map(numbersOf);
            const number = (j, row, column) => (row < 3 ? told[12 * j + 4 * row + column] : Number(column === 3));
            const four = [0, 1, 2, 3];
            const expected = rig.joints.flatMap((_, j) =>
                four.flatMap((column) => four.map((row) => number(j, row, column))));
            const scale = Math.max(1, ...expected.map(Math.abs));
            compare("joints", expected, pose.worldJoints(), scale, TOLERANCE, `${name}: joints`);
            // If no example brings a skeleton, they are the product of the pose's transforms.
            const locals = rig.joints.map((_, j) => {
                const local = Array.from(pose.joints.slice(10 * j, 10 * j + 10));
                return [...local.slice(0, 3), ...unit(local.slice(3, 7)), ...local.slice(7)];
            });
            const product = worldsOf(rig, locals);
            if (name === "arm/arm") compare("joints", product, pose.worldJoints(), scale, TOLERANCE, "their product");
            else assert.ok(product.some((x, i) => Math.abs(x - expected[i]) > 1e-3), "examples bring skeletons");
        }
        rig.dispose();
    }
};

/** Posing and un-posing returns to the start. */
const unposes = async () => {
    for (const name of ["arm/arm", "everything"]) {
        const rig = await load(join(work, `${name}.glb`));
        const surface = rig.surface({ level: 0, split: false, normals: false });
        const pose = rig.pose();
        for (const { name: joint } of rig.joints) pose.turnJoint(joint, [0, 0, Math.sin(0.2), Math.cos(0.2)]);
        const rest = surface.evaluate(pose, { unskinned: true }).positions.slice();
        const posed = surface.evaluate(pose).positions.slice();
        if (name === "arm/arm") compare("positions", rest, pose.unpose(posed, rest), 1, TOLERANCE, "un-posed");
        assert.throws(() => pose.unpose(posed, rest.subarray(3)), /unpose needs two arrays of \d+ numbers/);
        rig.dispose();
    }
    const blob = await load(join(work, "blob", "blob.glb"));
    assert.throws(() => blob.pose().unpose(blob.restPositions(), blob.restPositions()), /needs a rig with a skin/);
    blob.dispose();
};

export const cases = [holdsWhatTheLibraryHolds, saysWhatADriverIs, readsBackWhatWasSet, paintsOnlyIfAsked, copiesPoses,
    turnsJoints, placesJoints, unposes];
