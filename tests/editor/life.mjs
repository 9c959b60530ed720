import assert from "node:assert/strict";import { readFileSync } from "node:fs";import { join } from "node:path";import { pathToFileURL } from "node:url";import {folder,start,work} from "./support.mjs";
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

export const cases=[growsAndKeepsItsArrays];
