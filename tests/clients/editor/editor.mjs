// The editor in a real browser: runs its cases, then prints "N passed, M failed"; exit 1 if any failed.
//
//   node editor.mjs TOOL NPM WORK [CASE…]     NPM is a folder with playwright-core in it, WORK a folder to work in
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import * as brush from "./brush.mjs";
import * as calm from "./calm.mjs";
import * as characters from "./characters.mjs";
import * as example from "./example.mjs";
import { Bench } from "./harness.mjs";
import * as landmarks from "./landmarks.mjs";
import * as landscape from "./landscape.mjs";
import * as layers from "./layers.mjs";
import * as looks from "./looks.mjs";
import * as map from "./map.mjs";
import * as mixture from "./mixture.mjs";
import * as oneclick from "./oneclick.mjs";
import * as opening from "./opening.mjs";
import * as phone from "./phone.mjs";
import * as play from "./play.mjs";
import * as pose from "./pose.mjs";
import * as refuse from "./refuse.mjs";
import * as remember from "./remember.mjs";
import * as space from "./space.mjs";
import * as view from "./view.mjs";
import * as whole from "./whole.mjs";
import * as words from "./words.mjs";

const [tool, npm, work] = process.argv.slice(2, 5).map((path) => resolve(path));
const wanted = process.argv.slice(5);

const modules = [opening, remember, refuse, space, view, layers, oneclick, landmarks, calm, map, landscape, mixture, pose, play, brush, example, looks, characters, phone, words, whole];
const cases = Object.assign({}, ...modules.map((module) => module.cases));

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
