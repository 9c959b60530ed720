// Clothes that were learned from motion: they depend on the seconds between frames, as the tool's own results do, and
// not on how often a surface evaluates a frame.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare, load, run, tool, work } from "./support.mjs";
import { learnSwing, pc2, swing } from "./swing.mjs";

const [HERTZ, COUNT] = [0.45, 60];
const folder = join(work, "swing");
const rigPath = join(folder, "swing.glb");
const bodies = swing(HERTZ, { count: COUNT });
const FAR = 0.005; // metres: a sleeve that swings is farther than this from one that hangs still

/** The sleeve in all frames of the tube, as the tool makes it, at this many frames a second. */
const applied = (fps) => {
    const [body, made] = ["new_body.pc2", "new_sleeve.pc2"].map((name) => join(folder, name));
    writeFileSync(body, pc2(bodies, fps));
    run(tool, ["drive", "apply", rigPath, "--driver", body, "-o", made, "--quiet"]);
    const numbers = new Float32Array(new Uint8Array(readFileSync(made)).buffer, 32);
    return bodies.map((_, f) => numbers.slice((f * numbers.length) / COUNT, ((f + 1) * numbers.length) / COUNT));
};
const surfaceOf = (rig, state = true) => rig.surface({ level: 0, split: false, state });

/** The sleeve in all frames, with these seconds between them. */
const played = (rig, elapsed, pose = rig.pose(), surface = surfaceOf(rig)) =>
    bodies.map((body, f) => {
        pose.driver.set(body);
        pose.elapsed = f > 0 ? elapsed : 0;
        return surface.evaluate(pose).positions.slice();
    });
const apart = (a, b) => a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);

const swingsAsTheToolSays = async () => {
    learnSwing(folder, (...words) => run(tool, words));
    const rig = await load(rigPath);
    const [fast, slow] = [25, 15].map((fps) => {
        const forms = played(rig, 1 / fps);
        // The tool guesses a past before the first frame; after a second it is forgotten.
        applied(fps).forEach((right, f) => f > fps && compare("driven", right, forms[f], 1, 1e-4, `${fps}/s, frame ${f + 1}`));
        return forms;
    });
    const farthest = (a, b) => Math.max(...a.map((form, f) => (f > 25 ? apart(form, b[f]) : 0)));
    assert.ok(farthest(fast, slow) > FAR, `at another speed: ${farthest(fast, slow)}`);
    const still = played(rig, 0);
    assert.ok(farthest(fast, still) > 2 * FAR, `no time between frames, so it hangs still: ${farthest(fast, still)}`);
    // A surface without a state has no memory.
    assert.deepEqual(played(rig, 1 / 25, rig.pose(), surfaceOf(rig, false)), still);
    rig.dispose();
};

const evaluatesAFrameAgain = async () => {
    const rig = await load(rigPath);
    const right = played(rig, 0.04);
    const [pose, surface, seldom] = [rig.pose(), surfaceOf(rig), surfaceOf(rig)];
    const twin = rig.twin();
    const other = surfaceOf(twin);
    bodies.forEach((body, f) => {
        pose.driver.set(body);
        pose.elapsed = f > 0 ? 0.04 : 0;
        surface.evaluate(pose, { unskinned: f % 3 === 0 });
        for (let i = 0; i < f % 4; i++) assert.deepEqual(surface.evaluate(pose).positions, right[f], `frame ${f} again`);
        assert.deepEqual(surface.evaluate(pose).positions, right[f], `frame ${f}`);
        assert.deepEqual(other.evaluate(pose).positions, right[f], `frame ${f} of a twin`);
        // Every second frame: the seconds between those that it sees.
        if (f % 2 === 0) seldom.evaluate(pose);
    });
    const half = [rig.pose(), surfaceOf(rig)];
    for (let f = 0; f < COUNT; f += 2) {
        half[0].driver.set(bodies[f]);
        half[0].elapsed = f > 0 ? 0.08 : 0;
        half[1].evaluate(half[0]);
    }
    compare("driven", half[1].positions, seldom.positions, 1, 1e-5, "every second frame");
    twin.dispose();
    rig.dispose();
};

const beginsAnewAfterACut = async () => {
    const rig = await load(rigPath);
    const still = played(rig, 0);
    const moving = played(rig, 0.04);
    const [pose, surface] = [rig.pose(), surfaceOf(rig)];
    played(rig, 0.04, pose, surface);
    assert.equal(pose.elapsed, 0.04);
    // Neither rest() nor copy() changes it; a pose of its own is another motion.
    pose.copy(rig.pose()).rest();
    assert.equal(pose.elapsed, 0.04);
    pose.driver.set(bodies[COUNT - 1]);
    assert.deepEqual(surface.evaluate(pose).positions, moving[COUNT - 1]);
    const stranger = rig.pose();
    stranger.driver.set(bodies[20]);
    assert.equal(stranger.elapsed, 0);
    assert.deepEqual(surface.evaluate(stranger).positions, still[20]);
    stranger.elapsed = 0.04;
    stranger.elapsed = 0;
    assert.deepEqual(surface.evaluate(stranger).positions, still[20]);
    const fresh = surfaceOf(rig);
    const before = rig.pose();
    before.driver.set(bodies[19]);
    fresh.evaluate(before);
    stranger.elapsed = 0.04;
    assert.deepEqual(fresh.evaluate(stranger).positions, still[20], "later, but another pose");
    for (const wrong of [-1, NaN, Infinity, "soon", undefined])
        assert.throws(() => (pose.elapsed = wrong), /^ExemplarError: "elapsed" is .*, but needs seconds: a number of at least 0$/);
    pose.dispose();
    assert.throws(() => pose.elapsed, /this pose was disposed of/);
    assert.throws(() => (pose.elapsed = 1), /this pose was disposed of/);
    rig.dispose();
};

export const cases = [swingsAsTheToolSays, evaluatesAFrameAgain, beginsAnewAfterACut];
