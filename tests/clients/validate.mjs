// Usage: node validate.mjs NPM WORK TOOL PROBE
// Builds rigs of every shape with the tool, writes those that need no project with the probe, and checks all of them
// with the Khronos validator: no error, no warning. It must also report damaged copies: silence has to mean something.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [npm, work, tool, probe] = process.argv.slice(2);
const validator = createRequire(join(npm, 'package.json'))('gltf-validator');

// ---- forms ----

const cubeFaces = [[1, 2, 3, 4], [8, 7, 6, 5], [1, 5, 6, 2], [2, 6, 7, 3], [3, 7, 8, 4], [4, 8, 5, 1]];
const cubeNormals = [[0, -1, 0], [0, 1, 0], [0, 0, -1], [1, 0, 0], [0, 0, 1], [-1, 0, 0]];

// A seam at every edge, hard normals, one of them far from length 1.
function cube(height, lean) {
    const lines = ['mtllib cube.mtl'];
    for (let v = 0; v < 8; v++) {
        const top = v >= 4 ? 1 : 0;
        const x = v % 4 === 1 || v % 4 === 2 ? 1 : 0, z = v % 4 >= 2 ? 1 : 0;
        lines.push(`v ${x + top * lean} ${top * height} ${z} 1 0.5 ${v / 8}`);
    }
    lines.push('vt 0 0', 'vt 1 0', 'vt 1 1', 'vt 0.1 0.9');
    cubeNormals.forEach((n, f) => lines.push(`vn ${n.map(x => x * (f === 3 ? 100 : 1)).join(' ')}`));
    cubeFaces.forEach((face, f) => {
        lines.push(`g face${f}`, 'usemtl red', `f ${face.map((v, i) => `${v}/${i + 1}/${f + 1}`).join(' ')}`);
    });
    return lines.join('\n') + '\n';
}

const points = lift => `v 0 0 ${lift}\nv 1 2 3\nv 0.1 -7 ${lift / 3}\n`;
const strip = bend => {
    const lines = [];
    for (let i = 0; i < 9; i++)
        lines.push(`v ${i} 0 ${Math.sin(i * bend)}`, `v ${i} 1 ${Math.cos(i * bend)}`);
    for (let i = 0; i < 8; i++)
        lines.push(`f ${2 * i + 1} ${2 * i + 3} ${2 * i + 4} ${2 * i + 2}`);
    return lines.join('\n') + '\n';
};

// ---- projects ----

const axis = name => ({ name, min: 0, max: 1 });
const layer = (name, axes, examples) => ({ name, space: axes.map(axis), examples });

const cases = {
    cube: {
        files: { 'rest.obj': cube(1, 0), 'tall.obj': cube(2.3, 0.7) },
        layers: [layer('size', ['height'], [
            { name: 'rest', mesh: 'rest.obj', at: { height: 0 } },
            { name: 'tall', mesh: 'tall.obj', at: { height: 1 } }])],
    },
    points: {
        files: { 'rest.obj': points(0), 'up.obj': points(1) },
        layers: [layer('lift', ['up'], [
            { name: 'down', mesh: 'rest.obj', at: { up: 0 } },
            { name: 'up', mesh: 'up.obj', at: { up: 1 } }])],
    },
    no_layers: { files: { 'rest.obj': strip(0.1) }, layers: [] },
    points_without_layers: { files: { 'rest.obj': points(0) }, layers: [] },
    two_layers: {
        files: { 'rest.obj': cube(1, 0), 'tall.obj': cube(2.3, 0), 'lean.obj': cube(1, -0.4) },
        layers: [
            layer('größe "quoted" \\', ['height'], [
                { name: 'rest', mesh: 'rest.obj', at: {} },
                { name: 'tall', mesh: 'tall.obj', at: { height: 1 } }]),
            { ...layer('lean', ['lean'], [{ name: 'lean/肘', mesh: 'lean.obj' }]), weigh: { kind: 'direct' },
                mask: { group: 'face1' } }],
    },
    forty_examples: { files: { 'rest.obj': strip(0) }, layers: [layer('many', ['a', 'b'], [])] },
};
for (let k = 0; k < 40; k++) {
    cases.forty_examples.files[`${k}.obj`] = strip(0.05 * k);
    cases.forty_examples.layers[0].examples.push(
        { name: `example ${k}`, mesh: `${k}.obj`, at: { a: (k % 8) / 7, b: Math.floor(k / 8) / 4 } });
}

// ---- checks ----

let failures = 0;

function fail(text) {
    failures++;
    console.error(text);
}

function build(name, { files, layers }) {
    const folder = join(work, name);
    mkdirSync(folder);
    for (const [file, text] of Object.entries(files))
        writeFileSync(join(folder, file), text);
    const project = join(folder, `${name}.json`);
    writeFileSync(project, JSON.stringify({ exemplar: 1, mesh: 'rest.obj', layers }));
    execFileSync(tool, ['build', project, '--quiet'], { stdio: 'inherit' });
    return join(folder, `${name}.glb`);
}

async function validate(bytes) {
    return (await validator.validateBytes(new Uint8Array(bytes), {
        format: 'glb', maxIssues: 20,
        // Viewers compute tangents for a normal map themselves, as the evaluation does, since they change with the
        // form.
        ignoredIssues: ['MESH_PRIMITIVE_GENERATED_TANGENT_SPACE'],
    })).issues;
}

const jsonOf = bytes => JSON.parse(bytes.toString('utf8', 20, 20 + bytes.readUInt32LE(12)));

// The validator reports a copy with some text of the JSON replaced by another of the same length.
async function damage(name, bytes, text, other) {
    const copy = Buffer.from(bytes), end = 20 + copy.readUInt32LE(12);
    const json = copy.toString('latin1', 20, end);
    copy.write(json.replace(text, other), 20, 'latin1');
    if ((await validate(copy)).numErrors === 0)
        fail(`${name} with ${other} was found sound`);
}

async function check(name, file, targets) {
    const bytes = readFileSync(file);
    const issues = await validate(bytes);
    if (issues.numErrors > 0 || issues.numWarnings > 0)
        fail(`${name}: ${issues.numErrors} errors, ${issues.numWarnings} warnings\n` +
            JSON.stringify(issues.messages, null, 1));
    const found = (jsonOf(bytes).meshes[0].primitives[0].targets ?? []).length;
    if (found !== targets)
        fail(`${name}: ${found} morph targets, not ${targets}`);
    return bytes;
}

const rigs = Object.entries(cases).map(([name, value]) =>
    [name, build(name, value), value.layers.reduce((sum, l) => sum + l.examples.length, 0)]);
execFileSync(tool, ['demo', 'blob', '-o', join(work, 'demo'), '--quiet'], { stdio: ['ignore', 'ignore', 'inherit'] });
rigs.push(['blob', join(work, 'demo', 'blob.glb'), 5]);

let last;
for (const [name, file, targets] of rigs)
    last = await check(name, file, targets);

// Skins, textures and levels. Counts of images and other things are checked too, since a missing thing gives no error.
const made = execFileSync(probe, [work], { encoding: 'utf8' }).trim().split('\n').map(line => line.split('\t'));
for (const [name, targets, joints, sets, pictures] of made) {
    const bytes = await check(name, join(work, name), Number(targets));
    const json = jsonOf(bytes);
    const attributes = Object.keys(json.meshes[0].primitives[0].attributes);
    const found = [json.skins?.[0].joints.length ?? 0, attributes.filter(a => a.startsWith('JOINTS_')).length,
        attributes.filter(a => a.startsWith('WEIGHTS_')).length, (json.images ?? []).length];
    if (found.join() !== [joints, sets, sets, pictures].join())
        fail(`${name}: ${found} joints, sets of joints and weights, and pictures`);
    if (joints > 0)
        await damage(name, bytes, '"type":"MAT4"', '"type":"VEC4"');
    if (pictures > 0)
        await damage(name, bytes, '"source":0', '"source":9');
}
rigs.push(...made);

await damage('a rig', last, '"mode":4', '"mode":9');

console.log(`${rigs.length} rigs looked at, ${failures} complaints`);
process.exit(failures > 0 ? 1 : 0);
