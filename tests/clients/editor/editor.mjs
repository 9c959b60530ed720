// The editor in a real browser: its cases one after the other, then "N passed, M failed"; exit 1 if any failed.
//
//   node editor.mjs TOOL NPM WORK [CASE…]     NPM is a folder with playwright-core in it, WORK a folder to work in
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import * as brush from "./brush.mjs";
import { example } from "./example.mjs";
import { Bench } from "./harness.mjs";
import * as layers from "./layers.mjs";
import * as map from "./map.mjs";
import * as play from "./play.mjs";
import * as pose from "./pose.mjs";
import * as space from "./space.mjs";
import * as view from "./view.mjs";
import * as whole from "./whole.mjs";

const [tool, npm, work] = process.argv.slice(2, 5).map((path) => resolve(path));
const wanted = process.argv.slice(5);

const cases = {
    "first frame of a blob": space.firstFrame("blob"),
    "first frame of an arm": space.firstFrame("arm"),
    "first frame of a face": space.firstFrame("face"),
    "an example is dragged": space.dragExample,
    "an un-posed example is dragged": space.dragUnposed,
    "a form is taken here and placed there": space.gesture,
    "undo gives the same bytes": space.undo,
    "a reload shows the same": space.reload,
    "edges and colours": view.wireAndColours,
    "joints under the mouse": view.joints,
    "a texture": view.texture,
    "picking and small pictures": view.picking,
    ...layers.cases,
    ...map.cases,
    ...pose.cases,
    ...play.cases,
    ...brush.cases,
    "an exported page": whole.exported,
    "a corrupt project": whole.corrupt,
    "two editors": whole.twoEditors,
    "boxes and contrast: blob": whole.layout("blob"),
    "boxes and contrast: arm": whole.layout("arm"),
    "boxes and contrast: emotion": whole.layout("emotion"),
    "the runtime's page of example code": example,
    "a step of a drag: arm": whole.speed("arm"),
    "a step of a drag: body": whole.speed("body"),
};

mkdirSync(work, { recursive: true });
const bench = new Bench(tool, npm, work);
try {
    await bench.start();
    for (const [name, body] of Object.entries(cases))
        if (!wanted.length || wanted.some((word) => name.includes(word))) await bench.check(name, body);
} finally {
    await bench.end();
}
console.log(`${bench.passed} passed, ${bench.failed} failed`);
process.exit(bench.failed ? 1 : 0);
