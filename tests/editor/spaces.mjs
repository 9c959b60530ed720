// Editing spaces: lists of edits, all or none; other kinds and settings; falloffs. Compared with the library
// (space_probe.c) and with rigs that the tool builds from projects with the same changes.
import assert from "node:assert/strict";
import { join } from "node:path";
import {
    ask, compare, compareRig, load, numbersOf, random, randomPoses, run, start, TOLERANCE, tool, variant, work,
} from "./support.mjs";

const editsAsTheLibraryDoes = async () => {
    const path = join(work, "blob", "blob.glb");
    const rig = await load(path);
    const [layer] = rig.layers;
    const before = layer.examplePoint(1);
    const moved = before.map((x, i) => x + 0.13 * (i + 1));
    const at = rig.inputs.map(({ min, max }) => min + 0.3 * (max - min));
    const from = rig.inputs.map(({ min, max }) => min + 0.6 * (max - min));
    const poses = randomPoses(rig, 8);
    const edits = [
        { line: `move 0 1 ${moved.join(" ")}`, apply: (r) => r.layers[0].moveExample(layer.examples[1].name, moved) },
        { line: `pseudo 0 ${at.join(" ")} ${from.join(" ")}`, apply: (r) => r.layers[0].addPseudo({ at, from }) },
    ];
    const pseudos = layer.pseudoCount;
    compareRig(path, rig, { level: 0, split: false, poses, edits });
    assert.deepEqual(layer.examplePoint(1), moved);
    assert.equal(layer.pseudoCount, pseudos + 1);
    compare("weights", Float64Array.from({ length: layer.examples.length }, (_, k) => (k === 1 ? 1 : 0)),
        layer.weights(moved), 1, TOLERANCE, "at the moved example");
    // A refused edit leaves the layer unchanged.
    const other = layer.examplePoint(0);
    assert.throws(() => layer.moveExample(1, other), /at one place|same place|singular|coincide/i);
    assert.deepEqual(layer.examplePoint(1), moved);
    layer.removePseudo(pseudos);
    assert.equal(layer.pseudoCount, pseudos);
    layer.reset();
    assert.deepEqual(layer.examplePoint(1), before);
    compareRig(path, rig, { level: 0, split: false, poses });

    const pose = rig.pose(Object.fromEntries(rig.inputs.map(({ name }, i) => [name, from[i]])));
    const surface = rig.surface();
    const shown = surface.evaluate(pose).positions.slice();
    layer.muted = true;
    assert.ok(layer.muted);
    assert.notDeepEqual(surface.evaluate(pose).positions, shown);
    layer.muted = false;
    assert.deepEqual(surface.evaluate(pose).positions, shown);
    rig.dispose();
};

/** The elbow with the falloffs that only a gaussian layer has. */
const gaussianElbow = (name) => variant("elbow", name, ({ layers }) => {
    layers[0].weigh = { kind: "gaussian", falloff: { elbow: 60 } };
    layers[1].weigh = { kind: "gaussian", falloff: { elbow: 60, load: 0.6 } };
});

const editsInOtherWays = async () => {
    const rig = await load(join(work, "blob", "blob.glb"));
    const [layer] = rig.layers;
    const weights = [0.1, 0.2, 0.3, 0.25, 0.15];
    const added = layer.addPseudo({ at: [0.4, 0.2], weights });
    compare("weights", weights, layer.weights([0.4, 0.2]), 1, TOLERANCE, "given to a pseudo-example");
    layer.movePseudo(added, { at: [0.45, 0.3] });
    assert.deepEqual(layer.pseudoPoint(added), Float64Array.of(0.45, 0.3));
    compare("weights", weights, layer.weights([0.45, 0.3]), 1, TOLERANCE, "of a moved pseudo-example");
    layer.movePseudo(added, { weights: weights.toReversed() });
    compare("weights", weights.toReversed(), layer.weights([0.45, 0.3]), 1, TOLERANCE, "given anew");
    assert.throws(() => layer.addPseudo({ at: [0.4, 0.2] }), /needs "at" and either "from" or "weights"/);
    assert.ok(layer.edited);
    rig.dispose();

    const elbow = await load(gaussianElbow("reach_elbow"));
    const space = elbow.layers.find(({ weigher }) => weigher === "gaussian");
    const at = space.examplePoint(0).map((x, a) => x + 0.1 * (space.inputs[a].max - space.inputs[a].min));
    const [before] = space.weights(at);
    space.setFalloff(0, space.inputs.map(() => 0.05));
    assert.ok(space.weights(at)[0] < before, "it reaches less far");
    assert.ok(Math.abs(space.weights(space.examplePoint(0))[0] - 1) < 1e-5, "and is reached all the same");
    elbow.dispose();
};

// ---- lists of edits ----

/** The full state of a layer's space, for comparisons. */
const stateOf = (layer) => ({
    points: layer.examples.map((_, k) => layer.examplePoint(k)),
    pseudos: Array.from({ length: layer.pseudoCount }, (_, i) => layer.pseudo(i)),
    settings: layer.settings,
    falloffs: layer.falloffs,
    ridge: layer.ridgeAdded,
    edited: layer.edited,
    weights: layer.weights(layer.inputs.map(({ min, max }) => min + 0.37 * (max - min))),
});

const randomPoints = (layer, length) =>
    Array.from({ length }, () => layer.inputs.map(({ min, max }) => min + (max - min) * (1.2 * random() - 0.1)));

// Weights at many points, distances, the condition number and the ridge of a layer after lines of edits.
const compareSpace = (path, layer, lines, where) => {
    const points = randomPoints(layer, 12);
    const told = ask(path, [...lines,
        ...points.map((at) => `weights ${layer.index} ${at.join(" ")}`),
        `measures ${layer.index} ${points[0].join(" ")} ${points[1].join(" ")}`,
        `falloffs ${layer.index}`]);
    for (const line of told.splice(0, lines.length)) assert.equal(line, "", where);
    const grid = layer.weightsGrid(points.flat(), points.length);
    const count = layer.examples.length;
    points.forEach((at, i) => {
        const expected = numbersOf(told[i]);
        const scale = Math.max(1, ...expected.map(Math.abs));
        compare("weights", expected, layer.weights(at), scale, TOLERANCE, where);
        const [together, alone] = [grid.slice(i * count, (i + 1) * count), layer.weights(at)];
        assert.deepEqual(together, alone, `${where}: all at once or one by one`);
    });
    const [distance, condition, ...ridge] = numbersOf(told[points.length]);
    const near = (a, b, what) =>
        assert.ok(a === b || Math.abs(a - b) <= TOLERANCE * Math.abs(a), `${where}: ${what} ${a} and ${b}`);
    near(distance, layer.distance(points[0], points[1]), "distance");
    near(condition, layer.condition(), "condition");
    const added = layer.ridgeAdded;
    near(ridge[0], added.ridge, "ridge");
    near(ridge[1], added.condition, "condition without the ridge");
    assert.equal(added.point, ridge[2], `${where}: the point to blame`);
    near(ridge[3], added.falloff, "its falloff");
    const falloffs = numbersOf(told[points.length + 1]);
    assert.deepEqual(layer.falloffs, falloffs, `${where}: falloffs`);
};

const editsInLists = async () => {
    const path = join(work, "blob", "blob.glb");
    const rig = await load(path);
    const [layer] = rig.layers;
    compareSpace(path, layer, [], "a blob as it is");
    const list = [
        { move: "left", at: [-0.8, 0.1] },
        { removePseudo: 0 },
        { addPseudo: { at: [-0.9, 0.9], from: [-0.5, 0.6] } },
        { movePseudo: 0, at: [0.95, 0.9] }, // number 1 before the removal
        { addPseudo: { at: [0.3, 0.3], weights: [0.5, 0, 0.2, 0.2, 0.1] } },
        { move: 3, at: [0.05, 0.55] },
    ];
    const line = "edit 0 move 1 -0.8 0.1 remove 0 from -0.9 0.9 -0.5 0.6 shift 0 0.95 0.9 " +
        "given 0.3 0.3 0.5 0 0.2 0.2 0.1 move 3 0.05 0.55";
    layer.edit(list);
    compareSpace(path, layer, [line], "a list of edits");
    const { at, from, weights } = layer.pseudo(0);
    assert.deepEqual([at, from, weights], [Float64Array.of(0.95, 0.9), Float64Array.of(0.65, 0.75), null]);
    const point = (...numbers) => Float64Array.from(numbers);
    assert.deepEqual(layer.pseudo(1), { at: point(-0.9, 0.9), from: point(-0.5, 0.6), weights: null });
    assert.deepEqual(layer.pseudo(2), { at: point(0.3, 0.3), from: null, weights: point(0.5, 0, 0.2, 0.2, 0.1) });
    const together = stateOf(layer);
    layer.reset();
    assert.ok(!layer.edited);
    for (const edit of list) layer.edit([edit]);
    assert.deepEqual(stateOf(layer), together, "one after the other or all at once");
    layer.reset();
    layer.edit(new Set(list)); // any iterable works
    assert.deepEqual(stateOf(layer), together);

    // The same edits written into the project and built: saving gives what the editor showed.
    const written = variant("blob", "written", ({ layers: [{ examples, pseudo }] }) => {
        examples[1].at = { bend: -0.8, thickness: 0.1 };
        examples[3].at = { bend: 0.05, thickness: 0.55 };
        pseudo.shift();
        pseudo[0].at = { bend: 0.95, thickness: 0.9 };
        pseudo.push({ at: { bend: -0.9, thickness: 0.9 }, from: { bend: -0.5, thickness: 0.6 } });
        pseudo.push({ at: { bend: 0.3, thickness: 0.3 }, weights: { thin: 0.5, right: 0.2, barrel: 0.2, thick: 0.1 } });
    });
    compareRig(written, rig, { level: 0, split: false, poses: randomPoses(rig, 8) });
    rig.dispose();
};

const refusesListsWhole = async () => {
    const path = join(work, "blob", "blob.glb");
    const rig = await load(path);
    const [layer] = rig.layers;
    layer.edit([]);
    assert.ok(!layer.edited, "no edit is no change");
    layer.moveExample("thick", [0, 0.95]);
    const before = stateOf(layer);
    const good = [{ move: "left", at: [-0.7, 0.2] }, { removePseudo: 1 }];
    const bad = [
        [{ move: "lefft", at: [0, 0] }, /^there is no example "lefft"; known: thin, left, right, barrel, thick$/],
        [{ move: 5, at: [0, 0] }, /there is no example 5/],
        [{ move: -1, at: [0, 0] }, /there is no example -1/],
        [{ move: 1.5, at: [0, 0] }, /there is no example 1.5/],
        [{ move: "left" }, /moved to a point/],
        [{ move: "left", at: [0] }, /"at" in an edit of the layer "blob" has 1 number, but needs 2/],
        [{ move: "left", at: [0, Infinity] }, /^example 'left': number 2 of its place is not finite/],
        [{ move: "right", at: [0, 0.5] }, /^example 'right' and example 'barrel' are at the same place in the space/],
        [{ move: "right", at: [-0.7, 0.2] }, /^example 'left' and example 'right' are at the same place/],
        [{ movePseudo: 1, at: [0.5, 0.5] }, /^there is no pseudo-example 1 in the layer "blob": it has 1$/],
        [{ movePseudo: 0, weights: [1, 2] }, /"weights" in an edit of the layer "blob" has 2 numbers, but needs 5/],
        [{ movePseudo: 0, weights: [1e9, 0, 0, 0, 0] }, /pseudo-example 1 has a weight of 1e\+09: at most 1e\+06/],
        [{ removePseudo: "0" }, /there is no pseudo-example 0/],
        [{ addPseudo: { at: [0, 0.2] } }, /needs "at" and either "from" or "weights"/],
        [{ addPseudo: { at: [0, 0.2], from: [0, 0], weights: [1, 0, 0, 0, 0] } }, /either "from" or "weights"/],
        [{ addPseudo: null }, /needs "at"/],
        [{ falloff: "left", value: 0.5 }, /^[\w ]*falloff/],
        [{ falloff: 99, value: 0.5 }, /there is no point 99 in the layer "blob": it has 6/],
        [{ move: "left", removePseudo: 0 }, /has one of move, .*, falloff; this one has move, removePseudo/],
        [{ move: "left", at: [0, 0], from: [0, 0] }, /an edit with "move" has no "from"/],
        [{}, /an edit has one of .*; this one has nothing/],
        [null, /an edit has one of/],
    ];
    for (const [edit, message] of bad) {
        assert.throws(() => layer.edit([...good, edit]), (error) => {
            assert.equal(error.name, "ExemplarError", `${JSON.stringify(edit)}: ${error.stack}`);
            assert.match(error.message, message, JSON.stringify(edit));
            return true;
        });
        assert.deepEqual(stateOf(layer), before, `after ${JSON.stringify(edit)}`);
    }
    // The library's own message, with names instead of numbers.
    const [said] = ask(path, ["edit 0 move 1 -0.7 0.2 move 2 -0.7 0.2"]);
    assert.throws(() => layer.edit([good[0], { move: "right", at: [-0.7, 0.2] }]),
        { message: said.replace("example 2", "example 'left'").replace("example 3", "example 'right'"), result: 5 });
    rig.dispose();
};

// ---- settings ----

const weighsAsAProjectSays = async () => {
    const rig = await load(join(work, "blob", "blob.glb"));
    const [layer] = rig.layers;
    const kernels = ["gaussian", "wendland", "inverse_multiquadric", "thin_plate", "biharmonic", "triharmonic",
        "multiquadric"];
    const all = [
        ...kernels.map((kernel) => ({ kind: "cardinal", kernel })),
        { kind: "cardinal", kernel: "bspline", linear: false, radius: 1.7, ridge: 0.02 },
        { kind: "shepard", power: 3 },
        { kind: "nearest", k: 3 },
        { kind: "nearest", k: 2, form: "paper" },
        { kind: "gaussian" },
        { kind: "gaussian", ridge: 0.1 },
    ];
    assert.deepEqual(layer.settings, { kind: "cardinal", kernel: "bspline", linear: true, radius: 1, ridge: 0 });
    for (const [i, settings] of all.entries()) {
        const path = variant("blob", `set_${i}`, ({ layers: [change] }) => (change.weigh = settings));
        layer.reset();
        layer.set(settings);
        assert.equal(layer.weigher, settings.kind);
        for (const [key, value] of Object.entries(settings)) assert.equal(layer.settings[key], value, key);
        compareRig(path, rig, { level: 0, split: false, poses: randomPoses(rig, 4) });
    }
    // Edits survive a change of kind, and a change of kind survives edits.
    layer.reset();
    layer.moveExample("left", [-0.8, 0.1]);
    layer.set({ kind: "shepard" });
    layer.moveExample("right", [0.9, 0.2]);
    layer.set({ power: 3 });
    layer.set({});
    const path = variant("blob", "moved", ({ layers: [change] }) => {
        change.weigh = { kind: "shepard", power: 3 };
        change.examples[1].at = { bend: -0.8, thickness: 0.1 };
        change.examples[2].at = { bend: 0.9, thickness: 0.2 };
    });
    compareRig(path, rig, { level: 0, split: false, poses: randomPoses(rig, 4) });
    layer.reset();
    assert.deepEqual([layer.weigher, layer.edited], ["cardinal", false]);
    rig.dispose();
};

// Limits set here weigh as those of a project do, beyond the examples and inside, and survive other edits.
const limitsAsAProjectSays = async () => {
    const rig = await load(join(work, "blob", "blob.glb"));
    const [layer] = rig.layers;
    const outside = [[2.6, 0.2], [-1.9, 0.5], [0.3, 1.9], [1.4, -0.8], [0.2, 0.4]];
    const weigh = (of) => outside.map((at) => [...of.weights(at)]);
    const before = weigh(layer);
    assert.deepEqual(layer.limits, ["kind", "kind"]);
    for (const [i, limits] of [["hold", "fade"], ["fade", "kind"], ["extrapolate", "hold"]].entries()) {
        const path = variant("blob", `limits_${i}`, ({ layers: [change] }) => {
            change.weigh = { kind: "calm" };
            change.space.forEach((axis, a) => limits[a] !== "kind" && (axis.limit = limits[a]));
        });
        const built = await load(path);
        layer.reset();
        layer.setLimits(limits);
        layer.set({ kind: "calm" });
        layer.edit([{ move: "left", at: layer.examplePoint("left") }]);
        assert.deepEqual(layer.limits, limits);
        assert.deepEqual(built.layers[0].limits, limits);
        const twin = rig.twin();
        assert.deepEqual(twin.layers[0].limits, limits);
        twin.dispose();
        weigh(layer).forEach((weights, p) => weights.forEach((weight, k) =>
            assert.ok(Math.abs(weight - built.layers[0].weights(outside[p])[k]) < 1e-9, `${limits} at ${outside[p]}`)));
        built.dispose();
    }
    const state = stateOf(layer);
    assert.throws(() => layer.setLimits(["hold"]), { message: /needs 2 limits, one for each axis, not 1$/ });
    assert.throws(() => layer.setLimits(["hold", "stop"]), { message: 'there is no limit "stop"; known: kind, hold, fade, extrapolate' });
    assert.deepEqual(stateOf(layer), state);
    layer.reset();
    assert.deepEqual([layer.limits, weigh(layer)], [["kind", "kind"], before]);
    rig.dispose();
};

// The kinds are the tool's, and every kind that suits a space of points has the settings of its table.
const tellsOfEveryWeigher = async () => {
    const runtime = await start();
    const { weighers } = runtime;
    const names = JSON.parse(run(tool, ["info", "--capabilities", "--json"])).weighers;
    assert.deepEqual(weighers.map(({ name }) => name), names);
    const { parameters, ...facts } = weighers.find(({ name }) => name === "nearest");
    assert.deepEqual({ ...facts, help: "" }, { name: "nearest", help: "", hasPoints: true, hasFalloffs: false,
        hasSets: false, hasCondition: false, isDriven: false });
    assert.deepEqual(parameters.map(({ help: _, words: __, ...rest }) => rest), [
        { name: "k", type: "whole", preset: 8, least: 1, most: 64, above: false, usual: [1, Infinity] },
        { name: "form", type: "choice", preset: "next", least: 0, most: 0, above: false, usual: [0, 0] },
    ]);
    assert.deepEqual(parameters[1].words.map(({ name }) => name), ["next", "paper"]);
    const rig = await load(join(work, "blob", "blob.glb"));
    const [layer] = rig.layers;
    for (const kind of weighers.filter(({ hasPoints, isDriven }) => hasPoints && !isDriven)) {
        layer.reset();
        layer.set({ kind: kind.name });
        assert.equal(layer.kind, kind);
        const presets = Object.fromEntries(kind.parameters.map(({ name, preset }) => [name, preset]));
        assert.deepEqual(layer.settings, { kind: kind.name, ...presets });
        for (const { name, help, type, least } of kind.parameters) {
            assert.ok(help.length > 10, `${kind.name}.${name} has no help`);
            if (type === "number" || type === "whole")
                assert.throws(() => layer.set({ [name]: least - 1 }), { message: new RegExp(`${name} .*: must `) });
        }
    }
    rig.dispose();
};

// A space of two dials for two examples, so its axes can be its weights.
const makesAxesTheWeights = async () => {
    const path = variant("blob", "two", ({ layers: [change] }) => {
        change.examples = change.examples.slice(1, 3);
        delete change.pseudo;
    });
    const rig = await load(path);
    const [layer] = rig.layers;
    const [before, state] = [layer.examplePoint(0), stateOf(layer)];
    layer.set({ kind: "direct" });
    assert.equal(layer.examplePoint(0), null);
    assert.deepEqual(layer.weights([0.3, 0.8]), Float64Array.of(0.3, 0.8));
    layer.set({ kind: "cardinal" });
    assert.deepEqual(layer.examplePoint(0), before);
    assert.deepEqual({ ...stateOf(layer), edited: false }, state);
    rig.dispose();
};

const refusesSettings = async () => {
    const rig = await load(join(work, "blob", "blob.glb"));
    const [layer] = rig.layers;
    layer.moveExample("left", [-0.8, 0.1]);
    const before = stateOf(layer);
    const bad = [
        [{ kind: "cardinall" }, /^there is no kind of weigher "cardinall"; known: cardinal, direct, .*, convex/],
        [{ kernel: "spline" }, /^there is no kernel "spline"; known: bspline, gaussian/],
        [{ kind: "nearest", form: "print" }, /^there is no form "print"; known: next, paper$/],
        [{ k: 3 }, /^a cardinal weigher has no setting "k"; known: kind, kernel, linear, radius, ridge$/],
        [{ radius: "1" }, /^radius must be a number$/],
        [{ radius: -1 }, /radius/],
        [{ radius: NaN }, /radius/],
        [{ ridge: -1 }, /ridge/],
        [{ kind: "shepard", power: 0 }, /power/],
        [{ kind: "nearest", k: 0 }, /k 0: must be a whole number 1 to 64$/],
        [{ kind: "nearest", k: 2.5 }, /^k must be a whole number$/],
        [{ kind: "nearest", k: 65 }, /k 65: must be/],
        [{ kind: "nearest", k: 1e300 }, /k 1e\+300: must be/],
        [{ kernel: "thin_plate", linear: false }, /thin_plate/],
        [{ kind: "convex" }, /convex|driver/],
        [{ kind: "direct" }, /direct|ax[ei]s/],
    ];
    for (const [settings, message] of bad) {
        assert.throws(() => layer.set(settings), { name: "ExemplarError", message }, JSON.stringify(settings));
        assert.deepEqual(stateOf(layer), before, `after ${JSON.stringify(settings)}`);
    }
    rig.dispose();

    const moved = await load(variant("elbow", "only_moved", ({ layers }) =>
        Object.assign(layers[0], { participation: "moved", weigh: { kind: "gaussian", falloff: { elbow: 60 } } })));
    const among = /: the layer 'elbow' weighs vertices among the examples that move them/;
    assert.throws(() => moved.layers[0].set({ kind: "shepard" }), among);
    assert.equal(moved.layers[0].weigher, "gaussian");
    moved.layers[0].set({ ridge: 0.01 });
    moved.dispose();
    const regions = await load(join(work, "driven.glb"));
    const several = /: the layer 'driven' has a weigher for each region of its driver/;
    assert.throws(() => regions.layers[0].set({ ridge: 0.1 }), several);
    regions.dispose();
    const direct = await load(variant("bar", "direct_bar", () => {}));
    const axes = direct.layers.find(({ weigher }) => weigher === "direct");
    assert.throws(() => axes.set({ kind: "gaussian" }), /has no points, for its axes are its weights/);
    direct.dispose();
};

// ---- falloffs ----

const reachesAsFarAsAsked = async () => {
    const path = gaussianElbow("far_elbow");
    const rig = await load(path);
    const layer = rig.layer("load");
    assert.equal(layer.falloffs.length, layer.inputs.length * (layer.examples.length + layer.pseudoCount));
    compareSpace(path, layer, [], "an elbow as it is");
    const zero = layer.examples.length; // the first pseudo-example
    layer.edit([{ falloff: "heavy_110", value: 0.2 }, { falloff: zero, value: [0.3, 0.1] }, { falloff: 0 }]);
    compareSpace(path, layer, [`edit 1 falloff 1 0.2 0.2 falloff ${zero} 0.3 0.1 falloff 0 0 0`], "falloffs");
    assert.deepEqual(layer.falloffs.slice(0, 4), Float64Array.of(0, 0, 0.2, 0.2));
    // Kept if the kind stays, gone otherwise.
    const { falloffs } = layer;
    layer.set({ ridge: 0.01 });
    assert.deepEqual(layer.falloffs, falloffs);
    layer.set({ kind: "cardinal", ridge: 0 });
    assert.equal(layer.falloffs, null);
    layer.reset();

    // So wide that the examples cannot be told apart: a ridge is added, and a point is blamed.
    const points = layer.examples.length + layer.pseudoCount;
    for (const width of [12, 500]) {
        layer.edit(Array.from({ length: points }, (_, k) => ({ falloff: k, value: width + k })));
        const wide = Array.from({ length: points }, (_, k) => `falloff ${k} ${width + k} ${width + k}`);
        compareSpace(path, layer, [`edit 1 ${wide.join(" ")}`], `falloffs of ${width}`);
        assert.ok(layer.ridgeAdded.ridge > 0 && layer.ridgeAdded.point >= 0, JSON.stringify(layer.ridgeAdded));
    }
    layer.edit([{ addPseudo: { at: [20, 0.5], weights: [0, 0, 0], falloff: [0.2, 0.4] } }]);
    assert.deepEqual(layer.falloffs.slice(-2), Float64Array.of(0.2, 0.4));
    assert.throws(() => layer.setFalloff("heavy_60", [0.1]), /"falloff" in an edit .* has 1 number, but needs 2/);
    assert.throws(() => layer.setFalloff("heavy_60", -1), /falloff/);
    rig.dispose();
};

export const cases = [editsAsTheLibraryDoes, editsInOtherWays, editsInLists, refusesListsWhole, weighsAsAProjectSays,
    limitsAsAProjectSays, tellsOfEveryWeigher, makesAxesTheWeights, refusesSettings, reachesAsFarAsAsked];
