// The same numbers as the library on this machine: rigs of every kind at many poses, and the tool's output for them.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
    compare, compareRig, driven, LIMIT, load, obj, randomPoses, rigProbe, run, TOLERANCE, tool, tube, work,
} from "./support.mjs";

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

const followsADriver = async () => {
    const path = driven("driven", { mesh: "tube_0.obj", frames: 3 });
    const rig = await load(path);
    const pose = rig.pose();
    const surface = rig.surface({ level: 0, split: false });
    const quick = rig.surface({ level: 0, split: false, state: true });
    const rest = pose.driver.slice();
    for (const angle of [0.3, 1.1]) {
        const form = tube(0.25, angle, 0, 8);
        writeFileSync(join(work, "form.obj"), obj(form));
        const body = `body=${join(work, "form.obj")}`;
        const lines = run(tool, ["pose", path, body, "-o", "-", "--quiet"]).toString().split("\n");
        const vertices = lines.filter((line) => line.startsWith("v "));
        const positions = vertices.flatMap((line) => line.split(" ").slice(1).map(Number));
        const told = JSON.parse(run(tool, ["weights", path, body, "--json"])).layers[0].weights;
        pose.driver.set(form);
        surface.evaluate(pose);
        // Convex weights depend on products summed in float, so the tolerance is that of tests/portable/compare.py.
        compare("driven", positions, surface.positions, 1, 1e-4, `driver at ${angle}`);
        compare("driven", Object.values(told), surface.weights, 1, 1e-4, `driver at ${angle}`);
        // Data kept from frame to frame must not change results.
        compare("driven", surface.positions, quick.evaluate(pose).positions, 1, TOLERANCE, `a state at ${angle}`);
    }
    assert.throws(() => pose.set("body", 1), /the input "body" is a mesh: write its vertices into pose.driver/);
    assert.deepEqual(pose.rest().driver, rest);
    rig.dispose();
};

export const cases = [comparesDemos, comparesRigsOfEveryKind, saysWhatTheToolSays, followsADriver];
