// Usage: node play_three.mjs NPM FILE OUT TIME…
// Plays the first animation of a glTF file with three.js and writes the world positions of every vertex at those times
// in seconds: floats [times][vertices][3], the vertices of all primitives in the file's order.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [npm, file, out, ...times] = process.argv.slice(2);
const load = name => import(pathToFileURL(resolve(join(npm, 'node_modules', 'three', name))));

// The loader is in a folder of examples and imports 'three' by name; from its own folder it finds the same copy.
globalThis.self = globalThis;
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
writeFileSync(out, Buffer.from(places.buffer));
console.log(`three.js r${THREE.REVISION}`);
