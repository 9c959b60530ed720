// Layers in one click: sliders from the morph targets of the project's file, and a corrective space for the chosen joint.
// Each is one step to undo, and looks in the file as 'exemplar init' and 'exemplar example add' would write it.
import type { App } from "../core/app";
import { h, setText } from "../core/dom";
import { freeName, type Axis, type ProjectLayer } from "../core/project";
import { normalised, type Rotation } from "../core/rotation";
import type { Targets } from "../core/server";
import { count } from "../core/words";
import { addLayer } from "./newlayer_tree";

// ---- morph targets ----

const isScene = (path: unknown): path is string => typeof path === "string" && /\.(glb|gltf)$/i.test(path);

/** Names that no layer has yet. */
const freeTargets = (app: App, names: readonly string[]): string[] => {
    const used = new Set(app.tree.layers.flatMap((layer) =>
        [...layer.space.map((axis) => axis.name), ...layer.examples.map((example) => example.name)]));
    return names.filter((name) => !used.has(name));
};

/** Adds a direct layer with a slider for each target that has none, in front of all others, which may correct it. */
const addTargets = async (app: App): Promise<void> => {
    await app.build();
    const all: Targets = await app.server!.targets(app.tree.mesh);
    const names = freeTargets(app, all.names);
    const examples: ProjectLayer["examples"] = [];
    for (const [i, name] of names.entries()) {
        app.say(`Writing '${name}', ${i + 1} of ${names.length}…`);
        const form = all.forms[all.names.indexOf(name)]!;
        // As the file has it: the project's unit and up axis count for all of its meshes.
        examples.push({ name, mesh: await app.server!.addForm(`target_${name.replace(/[^\w.-]+/g, "_")}`, app.tree.mesh, form.slice()) });
    }
    const layer: ProjectLayer = {
        name: freeName("targets", app.tree.layers.map((other) => other.name)),
        space: names.map((name) => ({ name, min: 0, max: 1, rest: Math.min(1, Math.max(0, all.rests[all.names.indexOf(name)] ?? 0)) })),
        weigh: { kind: "direct" },
        shape: "positions",
        examples,
    };
    app.edit(`made sliders from ${count(names.length, "morph target")}`, (tree) => ({ ...tree, layers: [layer, ...tree.layers] }));
    app.select({ layer: 0, example: null, pseudo: null });
    app.say(`${count(names.length, "slider")} from morph targets. Move them under Pose; save to keep them.`, "good");
};

// ---- joints ----

const FAR = 150; // degrees: elbows, knees and fingers bend no farther
const BENT = 5; // degrees: less says nothing about the axis

/** Rotation vector, in degrees, of a rotation from rest. */
const vectorOf = (q: Rotation): number[] => {
    const [x, y, z, w] = q[3] < 0 ? [-q[0], -q[1], -q[2], -q[3]] : q;
    const sine = Math.hypot(x!, y!, z!);
    const angle = (2 * Math.atan2(sine, w!) * 180) / Math.PI;
    return sine < 1e-9 ? [0, 0, 0] : [x!, y!, z!].map((part) => (part / sine) * angle);
};

/** The letter of the axis along a joint's bone: to its first child. */
const boneOf = (app: App, joint: number): string => {
    const { rig } = app.stage;
    const child = rig.joints.find((j) => j.parent === joint);
    const way = child ? [...rig.joint(child.index)].slice(0, 3).map(Math.abs) : [0, 1, 0];
    return "xyz"[way.indexOf(Math.max(...way))]!;
};

/** The axis of a corrective space. A joint that is bent now, mostly about one of its axes, gets that angle, from rest to
 * where such joints end. Any other gets the direction of its bone, which has no ends. */
const axisFor = (app: App, joint: number): Axis => {
    const { name } = app.stage.rig.joints[joint]!;
    const taken = app.tree.layers.flatMap((layer) => layer.space.map((axis) => axis.name));
    const turn = vectorOf(normalised(app.stage.pose.jointFromRest(joint)));
    const most = turn.reduce((best, part, i) => (Math.abs(part) > Math.abs(turn[best]!) ? i : best), 0);
    const angle = turn[most]!;
    const isHinge = Math.abs(angle) > BENT && Math.abs(angle) > 0.8 * Math.hypot(...turn);
    const own = { name: freeName(name, taken), joint: name };
    if (!isHinge) return { ...own, rotation: "swing", about: boneOf(app, joint) };
    return { ...own, angle: "xyz"[most]!, ...(angle > 0 ? { min: 0, max: FAR } : { min: -FAR, max: 0 }) };
};

const addCorrective = async (app: App, joint: number): Promise<void> => {
    await app.build();
    const axis = axisFor(app, joint);
    const name = freeName(`${axis.joint!} correctives`, app.tree.layers.map((layer) => layer.name));
    await addLayer(app, { name, shape: "offsets", texture: "", space: [axis], file: null });
    app.say(`Layer '${name}' reads ${axis.rotation ? "the direction" : `the angle about ${String(axis["angle"])}`} of '${axis.joint!}'. ` +
        "Bend it, fix the form with a brush, and press Insert as example.", "good");
};

// ---- the buttons ----

export const oneClick = (app: App): HTMLElement => {
    const targets = h("button", { class: "targets", hidden: true, title: "A layer with a slider for each morph target of the project's file" });
    const joint = h("button", { class: "joint", hidden: true,
        title: "A layer of correctives over this joint, with the form at rest. Bend the joint first to correct that angle alone" });
    let names: string[] = [];
    let asked: string | null = null;
    const look = (): void => {
        const { mesh } = app.tree;
        if (asked === mesh) return;
        asked = mesh;
        names = [];
        if (!isScene(mesh)) return;
        void app.server!.targets(mesh, true).then((found) => {
            names = found.names;
            update();
        }, () => undefined); // the build says what is wrong with the file
    };
    const update = (): void => {
        look();
        const free = freeTargets(app, names);
        targets.hidden = free.length === 0;
        setText(targets, `Make sliders from ${count(free.length, "morph target")}`);
        const chosen = app.stage.rig.joints.find(({ name }) => name === app.joint);
        joint.hidden = !chosen || !app.stage.rig.skinning;
        setText(joint, `Make a corrective space for '${chosen?.name ?? ""}'`);
    };
    const run = (button: HTMLButtonElement, work: () => Promise<void>) => (): void => {
        button.disabled = true; // a second press would make a second layer
        void work().catch((error: unknown) => app.fail(error)).finally(() => (button.disabled = false));
    };
    targets.addEventListener("click", run(targets, () => addTargets(app)));
    joint.addEventListener("click", run(joint, () => {
        const chosen = app.stage.rig.joints.find(({ name }) => name === app.joint);
        return chosen ? addCorrective(app, chosen.index) : Promise.resolve();
    }));
    for (const name of ["tree", "rig", "selection"] as const) app.on(name, update);
    update();
    return h("div", { class: "tools oneclick" }, targets, joint);
};
