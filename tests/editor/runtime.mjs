// Compares @exemplar/runtime with the library on this machine: positions, normals, tangents, boxes, weights and
// textures of many rigs at many poses, live edits, contents of rigs, errors, memory that grows, and disposal. Uses only
// node's own packages.
// usage: node runtime.mjs PACKAGE_FOLDER TOOL RUNTIME_PROBE SPACE_PROBE RIG_PROBE SOURCE_FOLDER
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import * as contents from "./contents.mjs";
import * as life from "./life.mjs";
import * as motion from "./motion.mjs";
import * as numbers from "./numbers.mjs";
import * as spaces from "./spaces.mjs";
import { compared, exported, folder, load, run, source, start, work, worst } from "./support.mjs";

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
    await assert.rejects(load(17), /as a URL or as bytes/);
    const rig = await load(whole);
    const pose = rig.pose();
    assert.throws(() => pose.set("bendd", 1), { message: /^there is no input "bendd"; known: bend, thickness$/ });
    assert.throws(() => pose.set("bend", [1, 2]), /the input "bend" has 2 numbers, but needs 1/);
    assert.throws(() => rig.layers[0].moveExample("nobody", [0, 0]), /there is no example "nobody"/);
    assert.throws(() => rig.layers[0].moveExample(0, [0]), /"at" in an edit of the layer ".*" has 1 number, but needs 2/);
    assert.throws(() => rig.layers[0].moveExample(0, [NaN, 0]), /^ExemplarError: \w/);
    assert.throws(() => rig.mesh(7), /this rig has no level 7/);
    assert.throws(() => rig.layers[0].removePseudo(99), /no pseudo-example 99/);
    const other = await load(whole);
    assert.throws(() => rig.surface().evaluate(other.pose()), /a pose of the surface's own rig/);
    rig.dispose();
    other.dispose();
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
    // The types declare all exports, and nothing else.
    const types = readFileSync(join(folder, "index.d.ts"), "utf8");
    const declared = Array.from(types.matchAll(/^export (?:const|class|function) (\w+)/gm), ([, name]) => name);
    assert.deepEqual(declared.sort(), Object.keys(exported).sort());
    const rig = runtime.open(readFileSync(join(work, "blob", "blob.glb")));
    const [Layer, Mesh, Pose, Surface] = [rig.layers[0], rig.mesh(), rig.pose(), rig.surface()];
    const things = { Layer, Mesh, Pose, Rig: rig, Runtime: runtime, Surface };
    for (const [name, thing] of Object.entries(things)) {
        const [, body] = new RegExp(`^export class ${name} {\n(.*?)\n}`, "ms").exec(types);
        for (const member of Object.getOwnPropertyNames(exported[name].prototype)) {
            const pattern = new RegExp(`^    (private |readonly )?${member}[(:]`, "m");
            assert.match(body, pattern, `${name}.${member} has a type`);
        }
        for (const [, member] of body.matchAll(/^    (?:readonly )?(?!private|constructor)(\w+)[(:]/gm))
            assert.ok(member in thing, `${name}.${member}, which has a type, is there`);
    }
    rig.dispose();
    // The list of published files matches the folder.
    assert.deepEqual(readdirSync(folder).sort(), [...description.files, "package.json"].sort());
    for (const file of description.files) assert.ok(readFileSync(join(folder, file)).length > 0, file);
};

const runsWhatTheReadmeShows = async () => {
    const text = readFileSync(join(folder, "README.md"), "utf8");
    const [, first] = /```js\n(.*?)```/s.exec(text);
    const [, edits] = /## Edits\n\n```js\n(.*?)```/s.exec(text);
    const refused = /^(layer\.edit.*) \/\/ throws: .*$/m;
    assert.match(edits, refused);
    const tried = edits.replace(refused, 'try { $1 } catch (error) { console.log(String(error)); }');
    const program = first.replace("rig.dispose();", `${tried}\nrig.dispose();`);
    const module = JSON.stringify(pathToFileURL(join(folder, "index.js")).href);
    const rig = JSON.stringify(join(work, "blob", "blob.glb"));
    const path = join(work, "readme.mjs");
    writeFileSync(path, program.replace('"@exemplar/runtime"', module).replace('"blob.glb"', rig));
    const said = run(process.execPath, [path]).toString();
    assert.match(said, /'bend: -1 to 1'/);
    assert.match(said, /ExemplarError: example 'thin' and example 'right' are at the same place in the space/);
};

try {
    const cases = [...numbers.cases, ...spaces.cases, ...contents.cases, ...motion.cases, ...life.cases, refusesInSentences,
        isWhatThePackageSays, runsWhatTheReadmeShows];
    for (const test of cases) {
        await test();
        console.log(`ok ${test.name}`);
    }
    const list = Object.entries(worst).map(([what, value]) => `${what} ${value.toExponential(1)}`);
    console.log(`${cases.length} cases, ${compared.count} numbers compared; largest differences: ${list.join(", ")}`);
} finally {
    rmSync(work, { recursive: true, force: true });
}
