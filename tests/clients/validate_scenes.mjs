// Usage: node validate_scenes.mjs NPM WORK PROBE DATA
// Reads and rewrites every sample file, as .glb and as .gltf with .bin, and runs the Khronos validator on the result:
// no error, and no more warnings than the original had. Then the same for scenes made here, with features that the
// samples lack: 8 influences, 16-bit joints, strips, colours, unnormalised directions and weights, empty targets.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const [npm, work, probe, data] = process.argv.slice(2);
const validator = createRequire(join(npm, 'package.json'))('gltf-validator');
let failures = 0, checked = 0;

async function issuesOf(file) {
    const bytes = new Uint8Array(readFileSync(file));
    const report = await validator.validateBytes(bytes, {
        maxIssues: 50,
        externalResourceFunction: async uri => new Uint8Array(readFileSync(join(dirname(file), decodeURIComponent(uri)))),
    });
    return report.issues;
}

async function check(name, file, flawed) {
    const before = await issuesOf(file);
    if (before.numErrors > 0 && !flawed)
        console.log(`${name}: the original has ${before.numErrors} errors of its own`);
    for (const ending of ['glb', 'gltf']) {
        const copy = join(work, `copy ${checked} ü.${ending}`);
        execFileSync(probe, ['copy', file, copy], { stdio: 'inherit' });
        const issues = await issuesOf(copy);
        checked++;
        if (issues.numErrors === 0 && issues.numWarnings <= before.numWarnings)
            continue;
        failures++;
        console.error(`${name} as .${ending}: ${issues.numErrors} errors, ${issues.numWarnings} warnings ` +
            `(${before.numWarnings} before)\n${JSON.stringify(issues.messages, null, 1)}`);
    }
}

// ---- scenes made here ----

const floats = values => Buffer.from(new Float32Array(values).buffer);
const shorts = values => Buffer.from(new Uint16Array(values).buffer);
const types = { 1: 'SCALAR', 2: 'VEC2', 3: 'VEC3', 4: 'VEC4', 16: 'MAT4' };

class Maker {
    json = { asset: { version: '2.0' }, accessors: [], bufferViews: [], buffers: [] };
    parts = [];
    size = 0;
    add(bytes, componentType, width, count, more = {}) {
        this.json.bufferViews.push({ buffer: 0, byteOffset: this.size, byteLength: bytes.length });
        this.json.accessors.push({
            bufferView: this.json.bufferViews.length - 1, componentType, count, type: types[width], ...more });
        const padding = Buffer.alloc((4 - bytes.length % 4) % 4);
        this.parts.push(bytes, padding);
        this.size += bytes.length + padding.length;
        return this.json.accessors.length - 1;
    }
    floats(values, width, more) { return this.add(floats(values), 5126, width, values.length / width, more); }
    write(name) {
        const file = join(work, name);
        this.json.buffers.push({
            byteLength: this.size, uri: 'data:application/octet-stream;base64,' + Buffer.concat(this.parts).toString('base64') });
        writeFileSync(file, JSON.stringify(this.json));
        return file;
    }
}

const square = [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0];

function skinned() {
    const m = new Maker(), joints = 300;
    const weights = [0.7, 0.7, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0.2, 0.3, 0.1, 0.1];
    const more = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.1, 0.1, 0.05, 0.05];
    const numbers = [0, 299, 0, 0, 7, 65535, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4];
    m.json.meshes = [{ primitives: [{
        mode: 5,
        attributes: {
            POSITION: m.floats(square, 3),
            NORMAL: m.floats([0, 0, 5, 0, 0, 1, 0, 0, 0, 0.1, 0, 0], 3),
            TANGENT: m.floats([2, 0, 0, 1, 1, 0, 0, -1, 0, 0, 0, 0.5, 1, 0, 0, 1], 4),
            COLOR_0: m.floats([1, 0, 0, 2, 0, 0, -1, 0, 0, 0.5, 0.5, 0.5], 3),
            JOINTS_0: m.add(shorts(numbers), 5123, 4, 4), WEIGHTS_0: m.floats(weights, 4),
            JOINTS_1: m.add(shorts(numbers), 5123, 4, 4), WEIGHTS_1: m.floats(more, 4),
        },
        targets: [{}, { POSITION: m.floats(square, 3) }, { NORMAL: m.floats(square, 3) }],
    }], weights: [0, 0.5, 0], extras: { targetNames: ['none', 'größe "x"', 'n'] } }];
    m.json.nodes = [{ mesh: 0, skin: 0, name: 'skinned' }];
    for (let j = 0; j < joints; j++)
        m.json.nodes.push(j + 1 < joints ? { children: [j + 2] } : { matrix: [1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 1, 2, 3, 1] });
    m.json.skins = [{ joints: Array.from({ length: joints }, (_, j) => j + 1), skeleton: 1 }];
    m.json.scenes = [{ nodes: [0, 1] }];
    m.json.scene = 0;
    const times = m.floats([0, 0.5, 2], 1, { min: [0], max: [2] });
    m.json.animations = [{
        samplers: [{ input: times, output: m.floats([0, 0, 0, 3, 1, 1, 1, 1, 0, 0, 1, 0], 4) },
            { input: times, output: m.floats(Array.from({ length: 27 }, (_, i) => i / 9), 1), interpolation: 'CUBICSPLINE' }],
        channels: [{ sampler: 0, target: { node: 5, path: 'rotation' } }, { sampler: 1, target: { node: 0, path: 'weights' } }],
    }];
    return m.write('skinned.gltf');
}

function many() {
    const m = new Maker(), n = 70000, positions = [];
    for (let i = 0; i < n; i++)
        positions.push(i % 300, Math.floor(i / 300), Math.sin(i));
    const indices = Buffer.from(new Uint32Array(Array.from({ length: 3 * 1000 }, (_, i) => (i * 7919) % n)).buffer);
    m.json.materials = [{
        name: 'glass', alphaMode: 'MASK', alphaCutoff: 0.25, emissiveFactor: [0.1, 0.2, 0.3],
        extensions: { KHR_materials_transmission: { transmissionFactor: 0.5 } } }];
    m.json.extensionsUsed = ['KHR_materials_transmission'];
    m.json.meshes = [{ primitives: [
        { attributes: { POSITION: m.floats(positions, 3) }, indices: m.add(indices, 5125, 1, 3000), material: 0 },
        { attributes: { POSITION: 0 }, mode: 0 }] }];
    m.json.nodes = [{ mesh: 0 }, { name: 'hidden' }];
    m.json.scenes = [{ nodes: [0] }, { nodes: [1] }];
    return m.write('many.gltf');
}

function empty() {
    return new Maker().write('empty.gltf');
}

function walk(folder) {
    return readdirSync(folder).flatMap(name => {
        const path = join(folder, name);
        return statSync(path).isDirectory() ? walk(path) : /\.(glb|gltf)$/.test(name) ? [path] : [];
    });
}

await check('skinned', skinned(), true);
await check('many', many(), true);
await check('empty', empty(), true);
if (existsSync(join(data, 'gltf')))
    for (const file of [...walk(join(data, 'gltf')), ...walk(join(data, 'hand'))])
        await check(file, file, false);
else
    console.log('skipped: no data at EX_DATA (gltf)');
console.log(`${checked} files looked at, ${failures} complaints`);
process.exit(failures > 0 ? 1 : existsSync(join(data, 'gltf')) ? 0 : 77);
