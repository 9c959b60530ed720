// Playing: a motion of the folder and an opened one, scrubbing, stepping, playing, and baking to a file.
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { learnSwing, obj, pc2, swing, tube } from "../../editor/swing.mjs";
import { apart, expect, frames, json, positions, settled } from "./harness.mjs";
import { drop } from "./layers.mjs";

const MOTION = "time,elbow,gender\n0,0,0\n0.5,60,0.5\n1,110,1\n1.5,20,0.25\n";
const CHANNELS = "CHANNELS 3 Zrotation Xrotation Yrotation";
const WAVE = `HIERARCHY
ROOT shoulder
{
OFFSET 0 0 0
${CHANNELS}
JOINT forearm
{
OFFSET 0.3 0 0
${CHANNELS}
End Site
{
OFFSET 0.25 0 0
}
}
}
MOTION
Frames: 2
Frame Time: 0.5
0 0 0 0 0 0
30 0 0 45 0 0
`;
const ROWS = MOTION.trim().split("\n").slice(1).map((line) => line.split(",").map(Number));

/** An arm with a motion file next to it. */
const armWithMotion = (bench) => {
    const project = bench.demo("arm");
    writeFileSync(join(dirname(project), "bend.csv"), MOTION);
    return project;
};
const shown = (page) => page.evaluate(() => {
    const { pose } = window.exemplar.stage;
    return { elbow: pose.get("elbow"), gender: pose.get("gender"), where: document.querySelector(".play .where").textContent };
});
const loaded = (page, name) => page.waitForFunction((wanted) => window.exemplar.message?.text.startsWith(wanted), name);
const isRow = async (page, row, by = 1e-4) => {
    const { elbow, gender, where } = await shown(page);
    expect(Math.abs(elbow - ROWS[row][1]) < 100 * by && Math.abs(gender - ROWS[row][2]) < by,
        `at '${where}' elbow is ${elbow} and gender ${gender}, not those of frame ${row + 1}`);
};

/** Steps through, scrubs and plays a motion of the folder; an edit of the project does not lose it. */
const play = async (bench) => {
    const page = await bench.open(armWithMotion(bench));
    await page.waitForSelector('#play-source option[value="/bend.csv"]', { state: "attached" });
    const height = () => page.$eval(".play", (row) => row.offsetHeight);
    const low = await height();
    await page.selectOption("#play-source", "/bend.csv");
    await loaded(page, "bend.csv: 4 frames, 1.5 s");
    expect((await height()) === low, `the row was ${low} high, and is ${await height()}`);
    await isRow(page, 0);
    await page.locator(".play").click({ position: { x: 2, y: 2 } }); // out of the list of motions
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press(">");
    await page.keyboard.press(">");
    await isRow(page, 2);
    await page.keyboard.press("<");
    await isRow(page, 1);
    const scrub = page.locator(".play .scrub");
    const between = page.locator(".play button:text('Between frames')");
    expect((await between.getAttribute("aria-pressed")) === "true", "three frames a second are played in steps");
    await between.click();
    await scrub.fill("1.4");
    await isRow(page, 3); // the nearest frame
    await between.click();
    await scrub.fill("0.25");
    const half = await shown(page);
    expect(Math.abs(half.gender - 0.25) < 1e-6 && Math.abs(half.elbow - 30) < 0.5, `between frames: ${JSON.stringify(half)}`);
    expect(/^1 of 4, 0\.25 s|^2 of 4, 0\.25 s/.test(half.where), `it says ${half.where}`);

    await scrub.fill("0");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("Space");
    await page.waitForFunction(() => window.exemplar.stage.pose.get("gender") > 0.05);
    expect((await page.textContent(".play .toggle")) === "Pause", "it plays and does not say so");
    await page.keyboard.press("Space");
    const stopped = await shown(page);
    await frames(page, 6);
    expect((await shown(page)).elbow === stopped.elbow, "it goes on after it was stopped");

    await scrub.fill("1");
    await page.evaluate(() => window.exemplar.edit("renamed", (tree) => ({ ...tree,
        layers: tree.layers.map((layer) => ({ ...layer, name: "limb" })) })));
    await settled(page);
    await isRow(page, 2);
    await scrub.fill("0.5");
    await isRow(page, 1);
    expect(page.problems.length === 0, page.problems.join("; "));
};

/** An opened file plays too. Moving a slider stops it. A file that is not a motion is refused, and the last one
 * stays. */
/** A motion that is dropped anywhere plays at once, and the page says which names belong together. */
const droppedMotion = async (bench) => {
    const page = await bench.open(bench.demo("arm"));
    const extra = WAVE.replace("End Site", `JOINT Thumb\n{\nOFFSET 0.1 0 0\n${CHANNELS}\n}\nEnd Site`)
        .replace("0 0 0 0 0 0\n30 0 0 45 0 0", "0 0 0 0 0 0 0 0 0\n30 0 0 45 0 0 10 0 0");
    await drop(page, [{ name: "wave.bvh", text: extra }]);
    await loaded(page, "wave.bvh: 2 frames");
    const said = await page.evaluate(() => window.exemplar.message.text);
    for (const part of [/By name: .*'forearm'/, /stay at rest: .*'hand'/, /also has 'Thumb'/,
        /wave\.map\.json beside the project, as \{"joints": \{"\w+": "Thumb"\}\}/])
        expect(part.test(said), `it says: ${said}`);
    expect((await page.textContent(".play .toggle")) === "Pause", "it does not play");
    await page.waitForFunction(() => window.exemplar.stage.pose.get("elbow") > 1);
    // A table of poses, and markers, which are no motion yet.
    await drop(page, [{ name: "own.csv", text: MOTION }]);
    await loaded(page, "own.csv: 4 frames");
    await drop(page, [{ name: "run.c3d", text: "x" }]);
    await loaded(page, "run.c3d has markers, not joints: 'exemplar scan fit run.c3d --bvh run.bvh'");
    // Joints of other names: the sentence says how to pair them.
    await drop(page, [{ name: "odd.bvh", text: WAVE.replace("shoulder", "Hips").replace("forearm", "Spine") }]);
    await page.waitForFunction(() => /'Hips'.*odd\.map\.json/.test(window.exemplar.message?.text ?? ""));
    // A glTF file with an animation is a motion; one without is a form.
    const scene = { asset: { version: "2.0" }, animations: [{ channels: [], samplers: [] }] };
    await drop(page, [{ name: "dance.gltf", text: JSON.stringify(scene) }]);
    await page.waitForFunction(() => /dance\.gltf/.test(window.exemplar.message?.text ?? "") && window.exemplar.message.kind === "bad");
    expect(await page.evaluate(() => !/form/.test(window.exemplar.message.text)), "it was taken for a form");
    expect(page.problems.every((text) => /422/.test(text)), page.problems.join("; "));
};

const open = async (bench) => {
    const page = await bench.open(bench.demo("arm"));
    const give = (name, text) => page.setInputFiles(".play input[type=file]",
        { name, mimeType: "text/csv", buffer: Buffer.from(text) });
    await give("own.csv", MOTION);
    await loaded(page, "own.csv: 4 frames");
    expect((await page.$eval("#play-source", (list) => list.selectedOptions[0].textContent)) === "own.csv", "it is not in the list");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("Space");
    await page.waitForFunction(() => window.exemplar.stage.pose.get("gender") > 0.05);
    await page.locator('.axis[data-input="gender"] .number').fill("0.9");
    await frames(page, 6);
    expect(Math.abs((await shown(page)).gender - 0.9) < 1e-9, `the motion fights with the hand: ${JSON.stringify(await shown(page))}`);
    await give("no.csv", "this is\nno motion\n");
    await page.waitForFunction(() => window.exemplar.message?.kind === "bad");
    expect((await page.$eval("#play-source", (list) => list.selectedOptions[0].textContent)) === "own.csv", "the last one is gone");
    await give("wave.bvh", WAVE);
    await loaded(page, "wave.bvh: 2 frames, 0.5 s; it moves 2 joints and axes of the rig. By name: 'shoulder' and 'forearm'.");
    await page.locator(".play .scrub").fill("0.5");
    expect(Math.abs((await shown(page)).elbow - 45) < 1e-3, `a BVH file turns the elbow to ${(await shown(page)).elbow}`);
    // The server built an edit that was undone meanwhile, so it has another rig than the page.
    await page.evaluate(() => {
        const { exemplar } = window;
        exemplar.edit("renamed", (tree) => ({ ...tree, layers: tree.layers.map((layer) => ({ ...layer, name: "limb" })) }));
        exemplar.undo();
    });
    await settled(page);
    await give("again.csv", MOTION);
    await loaded(page, "again.csv: 4 frames");
};

/** Without a motion the examples are visited in turn. */
const examples = async (bench) => {
    const project = bench.demo("blob");
    const { examples: all } = json(project).layers[0];
    const page = await bench.open(project);
    await page.keyboard.press(">");
    const there = await positions(page);
    await page.evaluate((name) => window.exemplar.goTo(0, name), all[1].name);
    expect(apart(there, await positions(page)) === 0, "one step is not at the second example");
    await page.keyboard.press("Space");
    const before = await page.evaluate(() => window.exemplar.stage.pose.get("bend"));
    await page.waitForFunction((from) => window.exemplar.stage.pose.get("bend") !== from, before);
};

/** Bakes from the page: the tool reads the file, the page tells its error, and asks before it overwrites a file. */
const bake = async (bench) => {
    const project = armWithMotion(bench);
    const out = join(dirname(project), "arm-bend.glb");
    const page = await bench.open(project);
    await page.waitForSelector('#play-source option[value="/bend.csv"]', { state: "attached" });
    await page.selectOption("#play-source", "/bend.csv");
    await loaded(page, "bend.csv");
    await page.click(".play button.bake");
    expect((await page.inputValue("#bake-name")) === "arm-bend.glb", `it would be ${await page.inputValue("#bake-name")}`);
    await page.keyboard.press("Enter");
    await loaded(page, "Baked arm-bend.glb: 4 frames");
    const said = await page.evaluate(() => window.exemplar.message.text);
    expect(/rounding|mm/.test(said), `it says ${said}`);
    const info = bench.run("info", out);
    expect(/animation|4 (frames|keys)|targets/i.test(info), `the tool reads it as ${info}`);
    const first = readFileSync(out);

    writeFileSync(out, "not to be lost");
    await page.evaluate(() => document.querySelector("dialog.bake")?.close());
    await page.click(".play button.bake");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /overwrite it/i.test(document.querySelector("dialog.bake .said")?.textContent));
    expect(readFileSync(out, "utf8") === "not to be lost", "it was written over before anybody said so");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => !document.querySelector("dialog.bake") || document.querySelector("dialog.bake .said.good"));
    expect(readFileSync(out).equals(first), "written over, it is another file");

    await page.evaluate(() => document.querySelector("dialog.bake")?.close());
    await page.click(".play button.bake");
    await page.selectOption("#bake-format", ".pc2");
    await page.click("dialog.bake .primary");
    await loaded(page, "Baked arm-bend.pc2: 4 frames, every vertex exact");
    const cache = join(dirname(project), "arm-bend.pc2");
    expect(existsSync(cache) && statSync(cache).size > 4 * 1335 * 12, "the cache does not hold the frames");
    return said;
};

// ---- a sleeve on a tube that bends: plays a point cache of the tube ----

const ANGLES = [0.01, 0.4, 0.9, 1.4];
const FORMS = ANGLES.map((angle) => [...tube(0.25, angle, 0, 8)]);
const sleeve = (bench) => {
    const folder = mkdtempSync(join(bench.work, "sleeve-"));
    const write = (name, bytes) => writeFileSync(join(folder, name), bytes);
    const examples = ["straight", "middle", "bent"].map((name, i) => {
        const angle = [0.01, 0.7, 1.4][i];
        write(`${name}.obj`, obj(tube(0.3, angle, 2, 6)));
        write(`${name}.body.obj`, obj(tube(0.25, angle, 0, 8)));
        return { name, mesh: `${name}.obj`, at: { body: `${name}.body.obj` } };
    });
    write("walk.pc2", pc2(FORMS, 4));
    write("sleeve.json", JSON.stringify({ exemplar: 1, mesh: "straight.obj", driver: { mesh: "straight.body.obj", frames: 3 },
        layers: [{ name: "driven", space: [{ name: "body", driver: true }], weigh: { kind: "convex" }, examples }] }));
    return join(folder, "sleeve.json");
};

/** A rig that follows a driver plays a cache of the driver, and bakes the same result as 'exemplar drive apply'. */
const driver = async (bench) => {
    const project = sleeve(bench);
    const folder = dirname(project);
    const page = await bench.open(project);
    const isForm = async (wanted, said) => {
        const driven = await page.evaluate(() => [...window.exemplar.stage.pose.driver]);
        expect(apart(driven, wanted) < 1e-6, `${said}: the driver is ${apart(driven, wanted)} m off`);
    };
    await page.waitForSelector('#play-source option[value="/walk.pc2"]', { state: "attached" });
    await page.selectOption("#play-source", "/walk.pc2");
    await loaded(page, "walk.pc2: 4 frames of the driver, 0.75 s");
    await isForm(FORMS[0], "at the start");
    const straight = await positions(page);
    const scrub = page.locator(".play .scrub");
    await scrub.fill("0.375");
    await isForm(FORMS[1].map((x, i) => (x + FORMS[2][i]) / 2), "between two frames");
    await page.click(".play button:text('Between frames')");
    await scrub.fill("0.7");
    await isForm(FORMS[3], "at the nearest frame");
    expect(apart(straight, await positions(page)) > 0.05, "nothing follows the driver");

    // The row that blends two forms keeps its choice, also with a new rig.
    const row = page.locator(".axis.driven");
    await row.locator("select").nth(0).selectOption("middle");
    await row.locator("select").nth(1).selectOption("bent");
    await row.locator("input").fill("0.5");
    await page.evaluate(() => window.exemplar.edit("renamed", (tree) => ({ ...tree,
        layers: tree.layers.map((layer) => ({ ...layer, name: "cloth" })) })));
    await settled(page);
    const kept = await row.evaluate((element) => [...element.querySelectorAll("select, input")].map((e) => e.value));
    expect(kept.sort().join() === "0.5,bent,middle", `after a build the row has ${kept}`);
    await scrub.fill("0.5");
    await isForm(FORMS[2], "after a build");

    await page.click(".play button.bake");
    expect((await page.inputValue("#bake-name")) === "sleeve-walk.pc2", `it would be ${await page.inputValue("#bake-name")}`);
    await page.keyboard.press("Enter");
    await loaded(page, "Baked sleeve-walk.pc2: 4 frames");
    bench.run("build", project, "-q");
    bench.run("drive", "apply", join(folder, "sleeve.glb"), "--driver", join(folder, "walk.pc2"), "-o", join(folder, "right.pc2"), "-q");
    expect(readFileSync(join(folder, "sleeve-walk.pc2")).equals(readFileSync(join(folder, "right.pc2"))), "'drive apply' writes another cache");
    // Alembic is offered too: for what is baked, and for the driver.
    await page.click(".play button.bake");
    await page.selectOption("#bake-format", ".abc");
    await page.click("dialog.bake .primary");
    await loaded(page, "Baked sleeve-walk.abc: 4 frames");
    expect(statSync(join(folder, "sleeve-walk.abc")).size > 0, "no Alembic file");
    await Promise.all([page.waitForEvent("filechooser"), page.selectOption("#play-source", "open")]);
    const accepted = await page.getAttribute('input[aria-label="A motion file"]', "accept");
    expect(accepted.split(",").includes(".abc"), `a driver may be ${accepted}`);
    expect(page.problems.length === 0, page.problems.join("; "));
};

// ---- a sleeve that was learned from motion, and lags behind ----

const FAR = 0.005; // metres: a sleeve that swings is farther than this from one that hangs still
const FRAMES = 60;
const LATER = 33; // a frame, from 0, more than a second after the start: the tool's guess at a past is forgotten

/** Steps to a frame of a motion of the folder, and returns the form there. */
const stepTo = async (page, name, frame) => {
    await page.selectOption("#play-source", `/${name}`);
    await loaded(page, `${name}: ${FRAMES} frames of the driver`);
    await page.evaluate(() => document.activeElement.blur());
    for (let f = 0; f < frame; f++) {
        await page.keyboard.press(">");
        await frames(page, 1);
    }
    return positions(page);
};

/** Plays on, and returns how far the form is from one that hangs still, at most. */
const playOn = (page) => page.evaluate(async () => {
    const { exemplar } = window;
    const still = exemplar.stage.rig.surface({ level: exemplar.stage.surface.level });
    let [most, count] = [0, 0];
    await new Promise((done) => exemplar.on("frame", () => {
        if (still.disposed) return;
        const [now, then] = [exemplar.stage.surface.positions, still.evaluate(exemplar.stage.pose).positions];
        now.forEach((x, i) => (most = Math.max(most, Math.abs(x - then[i]))));
        if (++count === 20) done();
    }));
    still.dispose();
    return most;
});

/** The part of the view with the colour of clay. */
const clay = async (bench, page) => {
    const { width, height, data } = await bench.pixels(page, "#view");
    let count = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i] - data[i + 2] > 12) count++;
    return count / (width * height);
};

/** A sleeve that was learned from motion swings: the form depends on the speed, in steps and playing. */
const swinging = async (bench) => {
    const folder = mkdtempSync(join(bench.work, "swing-"));
    const rig = learnSwing(folder, (...words) => bench.run(...words));
    const project = join(folder, "project");
    bench.run("unpack", rig, "-o", project, "-q");
    const bodies = swing(0.45, { count: FRAMES });
    const right = Object.fromEntries([["fast.pc2", 25], ["slow.pc2", 15]].map(([name, fps]) => {
        const [body, made] = [join(project, name), join(folder, `made_${name}`)];
        writeFileSync(body, pc2(bodies, fps));
        bench.run("drive", "apply", rig, "--driver", body, "-o", made, "-q");
        const numbers = new Float32Array(new Uint8Array(readFileSync(made)).buffer, 32);
        const size = numbers.length / FRAMES;
        return [name, numbers.slice(LATER * size, (LATER + 1) * size)];
    }));
    writeFileSync(join(project, "far.pc2"), pc2(bodies.map((form) => form.map((x, i) => x + (i % 3 === 0 ? 10 : 0))), 25));
    const page = await bench.open(join(project, "swing.json"));
    await page.waitForSelector('#play-source option[value="/slow.pc2"]', { state: "attached" });
    const seen = await clay(bench, page);
    expect(seen > 0.05 && seen < 0.5, `the sleeve is ${(100 * seen).toFixed(1)} % of the view at first`);
    const slow = await stepTo(page, "slow.pc2", LATER);
    // Far away, the view follows until it is turned by hand.
    await page.selectOption("#play-source", "/far.pc2");
    await loaded(page, `far.pc2: ${FRAMES} frames`);
    const away = await clay(bench, page);
    expect(away > 0.05 && away < 0.5, `the sleeve is ${(100 * away).toFixed(1)} % of the view ten metres away`);
    const fast = await stepTo(page, "fast.pc2", LATER);
    const sources = await page.evaluate(() => [...(window.exemplar.stage.mesh.sources ?? [])]);
    const inOrder = (form) => Float32Array.from(sources.length ? sources.flatMap((v) => [...form.slice(3 * v, 3 * v + 3)]) : form);
    for (const [name, form] of Object.entries({ "slow.pc2": slow, "fast.pc2": fast })) {
        const off = apart(form, inOrder(right[name]));
        expect(off < 1e-5, `stepped through ${name}, it is ${off} m from what 'drive apply' writes`);
    }
    expect(apart(slow, fast) > FAR, `at two speeds it is the same: ${apart(slow, fast)} m apart`);

    // The same frame, drawn again and again, unposed meanwhile, and after a window of another size.
    await page.evaluate(() => window.exemplar.show({ unposed: true }));
    await frames(page, 3);
    await page.evaluate(() => window.exemplar.show({ unposed: false, wire: true }));
    await page.setViewportSize({ width: 900, height: 700 });
    await frames(page, 3);
    expect(apart(fast, await positions(page)) === 0, "drawn again, the frame is another one");
    // A jump to the same time: it hangs still.
    const time = await page.locator(".play .scrub").inputValue();
    await page.locator(".play .scrub").fill(time);
    const still = await positions(page);
    expect(apart(fast, still) > FAR, `after a jump it still swings: ${apart(fast, still)} m apart`);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("<");
    await page.keyboard.press("Space");
    const playing = await playOn(page);
    expect(playing > FAR, `playing, it is only ${playing} m from hanging still`);
    // The row that poses the driver by hand stops it, and the sleeve does not swing there.
    await page.evaluate(() => window.exemplar.pose((pose) => pose.rest()));
    const rest = await positions(page);
    await page.evaluate(() => window.exemplar.pose((pose) => pose.rest()));
    expect(apart(rest, await positions(page)) === 0, "at rest it depends on the past");
    expect((await page.textContent(".play .toggle")) === "Play", "it plays on");
    expect(page.problems.length === 0, page.problems.join("; "));
    return `${(1000 * playing).toFixed(1)} mm from hanging still`;
};

/** If another window used the server meanwhile, no file is in the way: the bake continues with the current state. */
const overtaken = async (bench) => {
    const project = armWithMotion(bench);
    const page = await bench.open(project);
    await page.waitForSelector('#play-source option[value="/bend.csv"]', { state: "attached" });
    await page.selectOption("#play-source", "/bend.csv");
    await loaded(page, "bend.csv");
    await page.evaluate(async () => {
        const { server, built } = window.exemplar;
        await server.motion(built.build, new File(["time,gender\n0,0\n1,1\n"], "other.csv"));
    });
    await page.click(".play button.bake");
    await page.selectOption("#bake-format", ".pc2");
    await page.click("dialog.bake .primary");
    await loaded(page, "Baked arm-bend.pc2: 4 frames");
};

export const cases = {
    "a motion is played": play,
    "a motion is opened": open,
    "a dropped motion plays": droppedMotion,
    "the examples are played": examples,
    "a motion is baked": bake,
    "a cache of a driver is played and baked": driver,
    "clothes learned from motion swing": swinging,
    "a bake that was overtaken goes on": overtaken,
};
