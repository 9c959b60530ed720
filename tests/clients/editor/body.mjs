// Generates a body: a figure with 13 thousand vertices and twenty joints, as a project of 24 examples over three axes.
// Only its size matters, since the cost of a drag step does not depend on its shape.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const RINGS = 217;
const SIDES = 60;
const JOINTS = 20;
const HEIGHT = 1.8;

const width = (y) => 0.16 + 0.05 * Math.sin(7 * y) + 0.03 * Math.cos(13 * y);

const rest = () => {
    const points = [];
    for (let r = 0; r < RINGS; r++)
        for (let s = 0; s < SIDES; s++) {
            const y = (HEIGHT * r) / (RINGS - 1);
            const angle = (2 * Math.PI * s) / SIDES;
            points.push([width(y) * Math.cos(angle), y, 0.7 * width(y) * Math.sin(angle)]);
        }
    return points;
};

const quads = () => {
    const faces = [];
    for (let r = 0; r + 1 < RINGS; r++)
        for (let s = 0; s < SIDES; s++) {
            const [a, b] = [r * SIDES + s, r * SIDES + ((s + 1) % SIDES)];
            faces.push([a, a + SIDES, b + SIDES, b]);
        }
    return faces;
};

const obj = (points, faces) =>
    points.map((p) => `v ${p.map((x) => x.toFixed(6)).join(" ")}\n`).join("") +
    faces.map((f) => `f ${f.map((v) => v + 1).join(" ")}\n`).join("");

// The chain of joints with its skin, as a binary glTF file.
const skeleton = (points) => {
    const step = HEIGHT / JOINTS;
    const floats = [];
    const bytes = [];
    for (const p of points) floats.push(...p);
    for (const p of points) {
        const at = Math.min(Math.max(p[1] / step - 0.5, 0), JOINTS - 1);
        const first = Math.floor(at);
        floats.push(1 - (at - first), at - first, 0, 0);
        bytes.push(first, Math.min(first + 1, JOINTS - 1), 0, 0);
    }
    for (let j = 0; j < JOINTS; j++) floats.push(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -step * j, 0, 1);
    const bin = Buffer.concat([Buffer.from(new Float32Array(floats).buffer), Buffer.from(bytes)]);
    const n = points.length;
    const offsets = [0, 12 * n, 28 * n, 28 * n + 64 * JOINTS];
    const view = (i, length) => ({ buffer: 0, byteOffset: offsets[i], byteLength: length });
    const low = [0, 1, 2].map((c) => Math.min(...points.map((p) => Math.fround(p[c]))));
    const high = [0, 1, 2].map((c) => Math.max(...points.map((p) => Math.fround(p[c]))));
    const text = JSON.stringify({
        asset: { version: "2.0" },
        scene: 0,
        scenes: [{ nodes: [0, JOINTS] }],
        nodes: [
            ...Array.from({ length: JOINTS }, (_, j) => ({
                name: `joint${j}`,
                translation: [0, j ? step : 0, 0],
                ...(j + 1 < JOINTS ? { children: [j + 1] } : {}),
            })),
            { mesh: 0, skin: 0 },
        ],
        meshes: [{ primitives: [{ mode: 0, attributes: { POSITION: 0, WEIGHTS_0: 1, JOINTS_0: 3 } }] }],
        skins: [{ joints: Array.from({ length: JOINTS }, (_, j) => j), inverseBindMatrices: 2 }],
        accessors: [
            { bufferView: 0, componentType: 5126, count: n, type: "VEC3", min: low, max: high },
            { bufferView: 1, componentType: 5126, count: n, type: "VEC4" },
            { bufferView: 2, componentType: 5126, count: JOINTS, type: "MAT4" },
            { bufferView: 3, componentType: 5121, count: n, type: "VEC4" },
        ],
        bufferViews: [view(0, 12 * n), view(1, 16 * n), view(2, 64 * JOINTS), view(3, 4 * n)],
        buffers: [{ byteLength: bin.length }],
    });
    const head = Buffer.from(text.padEnd(Math.ceil(text.length / 4) * 4));
    const words = [0x46546c67, 2, 12 + 8 + head.length + 8 + bin.length, head.length, 0x4e4f534a];
    return Buffer.concat([Buffer.from(new Uint32Array(words).buffer), head,
        Buffer.from(new Uint32Array([bin.length, 0x004e4942]).buffer), bin]);
};

/** Writes the project into a folder; returns its path. */
export const writeBody = (folder) => {
    const points = rest();
    const faces = quads();
    writeFileSync(join(folder, "rest.obj"), obj(points, faces));
    writeFileSync(join(folder, "skeleton.glb"), skeleton(points));
    const examples = Array.from({ length: 24 }, (_, k) => {
        const at = { bulk: (k % 4) / 3, age: (Math.floor(k / 4) % 3) / 2, tall: Math.floor(k / 12) };
        const form = points.map(([x, y, z]) => [
            x * (1 + 0.4 * at.bulk + 0.05 * Math.sin(9 * y + k)),
            y * (1 + 0.1 * at.tall),
            z * (1 + 0.4 * at.bulk) + 0.05 * at.age * Math.sin(5 * y),
        ]);
        writeFileSync(join(folder, `form${k}.obj`), obj(form, faces));
        return { name: `form${k}`, mesh: `form${k}.obj`, at };
    });
    const axis = (name) => ({ name, min: 0, max: 1, rest: 0 });
    const project = {
        exemplar: 1,
        mesh: "rest.obj",
        skeleton: "skeleton.glb",
        layers: [{ name: "body", space: [axis("bulk"), axis("age"), axis("tall")], examples }],
    };
    const path = join(folder, "body.json");
    writeFileSync(path, JSON.stringify(project, null, 2));
    return path;
};
