// One rotation of the pose: a ball to turn it by hand, and its angles as numbers. A full rotation has three angles, as
// in project files. A swing has two, about the axes perpendicular to its direction. A twist has one.
import type { Input, Layer, Rig } from "@exemplar/runtime";
import type { App } from "../core/app";
import { h } from "../core/dom";
import { anglesFor, type Angles } from "../core/angles";
import { numbersOf, type ProjectLayer } from "../core/project";
import { apart, byVector, inverse, multiply, normalised, swingOf, turned, twistOf, unit, type Direction,
    type Rotation } from "../core/rotation";
import { weigherOf } from "../core/weighers";
import { ball } from "./sphere";
import type { Row } from "./dial";
import { numberField } from "./slider";

const MOST = 300; // dots on a ball, at most

/** The direction of a joint's bone: to its first child, or onwards from its parent if it has none. */
const boneOf = (rig: Rig, joint: number): Direction => {
    const child = rig.joints.find((j) => j.parent === joint);
    const own = rig.joint(joint);
    const way = child ? rig.joint(child.index) : turned(inverse(normalised(own.subarray(3, 7))), own);
    return Math.hypot(way[0]!, way[1]!, way[2]!) > 1e-9 ? unit(way) : [0, 1, 0];
};
const aboutOf = (rig: Rig, input: Input): Direction => {
    const { about } = input;
    if (input.kind !== "rotation" && about && Math.hypot(...about) > 0) return unit(about);
    return input.joint >= 0 ? boneOf(rig, input.joint) : [0, 1, 0];
};

/** The rotation from a joint's own axes at rest to the world, with its parent as it is now. */
const frameOf = (app: App, joint: number): Rotation => {
    if (joint < 0) return [0, 0, 0, 1];
    const { rig, pose } = app.stage;
    let q = normalised(rig.joint(joint).subarray(3, 7)); // first: this call may move the memory of the others
    const locals = pose.joints;
    for (let j = rig.joints[joint]!.parent; j >= 0; j = rig.joints[j]!.parent)
        q = multiply(normalised(locals.subarray(10 * j + 3, 10 * j + 7)), q);
    return q;
};

/** Rotations of an input's examples, from the selected layer or from the first that reads it. The list stays the
 * same while the layer does. */
const examplesOf = (app: App, input: Input): (() => Rotation[]) => {
    const reads = (layer: Layer | null): boolean => !!layer?.inputs.some((i) => i.index === input.index);
    const first = app.stage.rig.layers.findIndex(reads);
    let of: ProjectLayer | null | undefined;
    let list: Rotation[] = [];
    return () => {
        const layer = reads(app.rigLayer) ? app.layer : app.tree.layers[first];
        if (layer === of) return list;
        of = layer;
        const placed = layer && weigherOf(layer.weigh).hasPoints ? layer.examples : [];
        list = placed.filter((example) => !example.muted).slice(0, MOST)
            .map((example) => normalised(numbersOf(input, example.at?.[input.name])));
        return list;
    };
};

/** Fields for the angles of a rotation. Typed values stay as typed while the rotation is the same, since several
 * sets of angles give the same rotation. */
export const angleFields = (label: string, angles: Angles, get: () => Rotation, set: (q: Rotation) => void) => {
    let typed: number[] | null = null;
    const shown = (q: Rotation): number[] => {
        if (typed && apart(angles.write(typed, q), q) > 1e-9) typed = null;
        return typed ?? angles.read(q);
    };
    const fields = angles.names.map((name, i) =>
        numberField({ label: `${label}, ${name}, degrees`, title: `${name}, degrees`, digits: 2, step: 1, allowed: " of degrees" }, (value) => {
            const q = get();
            typed = shown(q).map((angle, k) => (k === i ? value : angle));
            set(angles.write(typed, q));
        }));
    return {
        elements: fields.map((field, i) => h("label", {}, h("span", {}, angles.names[i]!), field.element)),
        show: (q: Rotation): void => shown(q).forEach((angle, i) => fields[i]!.show(angle)),
    };
};
export const wholeAngles: Angles = anglesFor("rotation", [0, 1, 0]);

export const turnRow = (app: App, input: Input): Row => {
    const about = aboutOf(app.stage.rig, input);
    const rest = normalised(input.rest as number[]);
    const get = (): Rotation => normalised(app.stage.pose.get(input.index) as number[]);
    const set = (q: Rotation): void => app.pose((pose) => pose.set(input.index, q));
    const toRest = (): void => set(rest);
    const whole = input.kind === "rotation";
    const sphere = ball(app, {
        label: `${input.name}: ball to turn it`,
        about,
        swings: whole || input.kind === "swing",
        twists: whole || input.kind === "twist",
        swing: (to) => set(multiply(to, twistOf(get(), about))),
        twist: (degrees) => set(multiply(swingOf(get(), about), byVector(about.map((c) => c * degrees)))),
        rest: toRest,
    });
    const examples = examplesOf(app, input);
    const fields = angleFields(input.name, anglesFor(input.kind, about), get, set);
    const kind = { rotation: "rotation", swing: "swing", twist: "turn" }[input.kind as "rotation" | "swing" | "twist"];
    const name = h("button", { class: "name", title: `${input.name}: double click for its rest`, ondblclick: toRest,
        onkeydown: (event: KeyboardEvent) => event.key === "Enter" && toRest() }, input.name);
    return {
        name: input.name,
        element: h("div", { class: "axis turn", "data-input": input.name }, sphere.element,
            h("div", { class: "numbers" }, name, h("span", { class: "unit" }, `${kind}, degrees`), ...fields.elements)),
        update: () => {
            const q = get();
            sphere.draw(q, examples(), frameOf(app, input.joint));
            fields.show(q);
        },
    };
};
