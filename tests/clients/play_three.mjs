// Usage: node play_three.mjs NPM FILE OUT TIME…
// Plays the first animation of a glTF file with three.js and writes the world positions of every vertex at those times
// in seconds: floats [times][vertices][3], the vertices of all primitives in the file's order.
//
// OUT.looks gets floats [vertices][6]: texture coordinates with v down, the number of the material, and the normal at
// the first time, without the part of morph targets. The number is -1 if all triangles of a vertex have two corners at
// one place. OUT.json gets the materials, each with its base colour (linear, with alpha), roughness, metalness, sides, and
// its picture: size in pixels and checksum, or null.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [npm, file, out, ...times] = process.argv.slice(2);
const load = name => import(pathToFileURL(resolve(join(npm, 'node_modules', 'three', name))));

// The size that a PNG or JPEG file says.
const sizeOf = bytes => {
    if (bytes.readUInt32BE(0) === 0x89504e47) return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
    for (let at = 2; at + 9 < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
        const kind = bytes[at + 1];
        if (kind >= 0xc0 && kind <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(kind))
            return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    }
    throw new Error('a picture is neither PNG nor JPEG');
};

// The loader is in a folder of examples and imports 'three' by name; from its own folder it finds the same copy. It
// takes pictures as a browser decodes them, which this stands for: their size and bytes are enough here.
globalThis.self = globalThis;
globalThis.createImageBitmap = async blob => {
    const bytes = Buffer.from(await blob.arrayBuffer());
    const [width, height] = sizeOf(bytes);
    return { width, height, sum: createHash('sha1').update(bytes).digest('hex'), close() {} };
};
const THREE = await load('build/three.module.js');
const { GLTFLoader } = await load('examples/jsm/loaders/GLTFLoader.js');

const bytes = readFileSync(file);
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const gltf = await new Promise((resolve, reject) => new GLTFLoader().parse(buffer, '', resolve, reject));

const meshes = [];
gltf.scene.traverse(node => { if (node.isMesh) meshes.push(node); });
const counts = meshes.map(mesh => mesh.geometry.getAttribute('position').count);
const total = counts.reduce((sum, count) => sum + count, 0);
const mixer = new THREE.AnimationMixer(gltf.scene);
if (gltf.animations.length > 0) {
    // A loop would start again at the very end.
    const action = mixer.clipAction(gltf.animations[0]);
    action.setLoop(THREE.LoopOnce);
    action.clampWhenFinished = true;
    action.play();
}

const places = new Float32Array(times.length * total * 3);
const point = new THREE.Vector3();
let next = 0;
for (const time of times) {
    mixer.setTime(Number(time));
    gltf.scene.updateMatrixWorld(true);
    meshes.forEach((mesh, m) => {
        mesh.skeleton?.update();
        for (let v = 0; v < counts[m]; v++) {
            mesh.getVertexPosition(v, point).applyMatrix4(mesh.matrixWorld);
            point.toArray(places, next);
            next += 3;
        }
    });
}

const materials = [...new Set(meshes.map(mesh => mesh.material))];
const looks = new Float32Array(total * 6);
const [normal, shifted] = [new THREE.Vector3(), new THREE.Vector3()];
mixer.setTime(Number(times[0]));
gltf.scene.updateMatrixWorld(true);
next = 0;
meshes.forEach((mesh, m) => {
    const { uv, position, normal: normals } = mesh.geometry.attributes;
    mesh.skeleton?.update();
    const isShown = new Uint8Array(counts[m]);
    const corners = mesh.geometry.index?.array ?? Uint32Array.from({ length: counts[m] }, (_, v) => v);
    const place = v => [position.getX(v), position.getY(v), position.getZ(v)].join();
    for (let c = 0; c < corners.length; c += 3) {
        const triangle = [...corners.subarray(c, c + 3)];
        if (new Set(triangle.map(place)).size === 3) triangle.forEach(v => { isShown[v] = 1; });
    }
    for (let v = 0; v < counts[m]; v++, next += 6) {
        // A vertex that starts farther along its normal ends up along the posed one, as skinning is linear.
        mesh.getVertexPosition(v, point).applyMatrix4(mesh.matrixWorld);
        normal.fromBufferAttribute(normals, v).add(shifted.fromBufferAttribute(position, v));
        position.setXYZ(v, ...normal);
        mesh.getVertexPosition(v, normal).applyMatrix4(mesh.matrixWorld).sub(point).normalize();
        position.setXYZ(v, ...shifted);
        const material = isShown[v] ? materials.indexOf(mesh.material) : -1;
        looks.set([uv?.getX(v) ?? 0, uv?.getY(v) ?? 0, material, ...normal], next);
    }
});
const seen = materials.map(({ name, color, opacity, roughness, metalness, side, map }) => ({
    name, colour: [color.r, color.g, color.b, opacity], roughness, metalness, sides: side === THREE.DoubleSide ? 2 : 1,
    picture: map && [map.image.width, map.image.height, map.image.sum],
}));

writeFileSync(out, Buffer.from(places.buffer));
writeFileSync(`${out}.looks`, Buffer.from(looks.buffer));
writeFileSync(`${out}.json`, JSON.stringify(seen));
console.log(`three.js r${THREE.REVISION}`);
