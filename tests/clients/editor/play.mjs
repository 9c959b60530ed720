// What plays: a motion of the folder and one that is opened, scrubbing, stepping, playing, and baking it to a file.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { apart, expect, frames, json, positions, settled } from "./harness.mjs";

const MOTION = "time,elbow,gender\n0,0,0\n0.5,60,0.5\n1,110,1\n1.5,20,0.25\n";
const ROWS = MOTION.trim().split("\n").slice(1).map((line) => line.split(",").map(Number));

/** An arm with a motion beside it. */
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

/** A motion of the folder is stepped through, scrubbed and played; an edit of the project does not lose it. */
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

/** A file that is opened plays too; who takes a slider stops it; what is no motion is refused, and the last one stays. */
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
    // The server built an edit that was undone meanwhile, and has another rig than the page.
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

/** Baking from the page: a file that the tool reads, with its error said; asked before it is written over. */
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
    await page.waitForFunction(() => /write over it/i.test(document.querySelector("dialog.bake .said")?.textContent));
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

export const cases = {
    "a motion is played": play,
    "a motion is opened": open,
    "the examples are played": examples,
    "a motion is baked": bake,
};
