// The cost of a drag step in node (move an example: solve, weights, blend, skin, normals, and the copy for a renderer),
// and of opening a rig of a million vertices. Prints medians in milliseconds, as rows of a table; docs/guides/web.md
// has them for one machine. There is no limit to pass, as machines differ.
// usage: node speed.mjs PACKAGE_FOLDER TOOL
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";
import { writeBody } from "../clients/editor/body.mjs";

const [folder, tool] = argv.slice(2);
const { start } = await import(pathToFileURL(join(folder, "index.js")));
const work = mkdtempSync(join(tmpdir(), "exemplar-speed-"));
const run = (...words) => execFileSync(tool, words, { stdio: ["ignore", "pipe", "inherit"] });

const median = (body, rounds) => {
    const times = Array.from({ length: rounds }, (_, i) => {
        const begin = performance.now();
        body(i);
        return performance.now() - begin;
    });
    return times.sort((a, b) => a - b)[rounds >> 1];
};

const dragged = async (name, path) => {
    const rig = (await start()).open(readFileSync(path));
    const [layer] = rig.layers;
    const pose = rig.pose();
    for (const { index, min, max, kind } of rig.inputs) if (kind === "scalar") pose.set(index, min + 0.4 * (max - min));
    for (const { index } of rig.joints) pose.turnJoint(index, [0, 0, 0.05, 1]);
    const surface = rig.surface();
    const buffers = [surface.positions.slice(), surface.normals.slice()];
    const at = layer.examplePoint(1);
    const { min, max } = layer.inputs[0];
    const values = layer.inputs.map((input) => pose.get(input.index));
    const solve = (i) => layer.moveExample(1, at.map((x, a) => x + (a === 0 ? (i % 50) * 0.002 * (max - min) : 0)));
    const fill = () => {
        buffers[0].set(surface.positions);
        buffers[1].set(surface.normals);
    };
    const parts = {
        step: (i) => {
            solve(i);
            surface.evaluate(pose);
            fill();
        },
        solve,
        weights: () => layer.weights(values),
        "blend and normals": () => surface.evaluate(pose, { unskinned: true }),
        "blend, skin and normals": () => surface.evaluate(pose),
        fill,
    };
    const counts = [`${surface.vertexCount} vertices`, `${layer.examples.length} examples`, `${rig.joints.length} joints`];
    console.log(`${name}: ${counts.join(", ")}`);
    for (const [part, body] of Object.entries(parts)) {
        median(body, 50); // warm-up: the first runs are compiled meanwhile
        console.log(`  ${part.padEnd(24)} ${median(body, 300).toFixed(3)}`);
    }
    rig.dispose();
};

// A waved sheet of a thousand by a thousand.
const million = async () => {
    const side = 1000;
    const sheet = (height) => {
        const lines = [];
        for (let i = 0; i < side * side; i++) {
            const [x, y] = [(i % side) / side, Math.floor(i / side) / side];
            lines.push(`v ${x} ${y} ${(height * Math.sin(9 * x + 5 * y)).toFixed(5)}`);
        }
        for (let i = 0; i + side < side * side; i++)
            if (i % side < side - 1) lines.push(`f ${i + 1} ${i + 2} ${i + side + 2} ${i + side + 1}`);
        return lines.join("\n") + "\n";
    };
    writeFileSync(join(work, "flat.obj"), sheet(0));
    writeFileSync(join(work, "waved.obj"), sheet(0.1));
    const space = [{ name: "wave", min: 0, max: 1 }];
    const examples = [{ name: "waved", mesh: "waved.obj" }];
    const layer = { name: "wave", space, weigh: { kind: "direct" }, examples };
    writeFileSync(join(work, "sheet.json"), JSON.stringify({ exemplar: 1, mesh: "flat.obj", layers: [layer] }));
    run("build", join(work, "sheet.json"), "--quiet");
    const bytes = readFileSync(join(work, "sheet.glb"));
    const runtime = await start(readFileSync(join(folder, "exemplar.wasm")));
    const opened = median(() => runtime.open(bytes).dispose(), 7);
    const rig = runtime.open(bytes);
    const surface = rig.surface();
    const pose = rig.pose({ wave: 0.5 });
    console.log(`a sheet: ${surface.vertexCount} vertices, a file of ${(bytes.length / 1e6).toFixed(0)} MB`);
    console.log(`  opening                  ${opened.toFixed(0)}`);
    console.log(`  blend and normals        ${median(() => surface.evaluate(pose), 15).toFixed(1)}`);
    console.log(`  memory, MB               ${(runtime.memorySize / 1e6).toFixed(0)}`);
};

try {
    run("demo", "arm", "-o", join(work, "arm"), "--quiet");
    mkdirSync(join(work, "body"));
    const body = writeBody(join(work, "body"));
    run("build", body, "--quiet");
    await dragged("arm", join(work, "arm", "arm.glb"));
    await dragged("body", body.replace(/json$/, "glb"));
    await million();
} finally {
    rmSync(work, { recursive: true, force: true });
}
