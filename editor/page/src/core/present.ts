// The place of a new example: the current pose as a project file writes it.
import type { Input } from "@exemplar/runtime";
import type { App } from "./app";
import { numbersOf, valueOf, type Place, type ProjectLayer, type Value } from "./project";

export interface Present {
    at: Place;
    /** Rotations of other joints, for forms sculpted on the posed skeleton. */
    joints?: { [joint: string]: Value };
}

const NEAR = 1e-3; // in a unit quaternion: a tenth of a degree

const list = (value: number | number[]): number[] => (Array.isArray(value) ? value : [value]);
const tidy = (value: number): number => Number(value.toPrecision(9));

/** True if the layer's forms are stored as sculpted, at their full pose. */
export const isPosed = (layer: { shape?: ProjectLayer["shape"]; [key: string]: unknown }): boolean =>
    (layer.shape === "unposed" || layer.shape === "offsets") && layer["posed"] !== false;

const isAtRest = (input: Input, numbers: readonly number[]): boolean => {
    const rest = list(input.rest as number | number[]);
    const near = input.kind === "scalar" ? NEAR * (input.max - input.min) : NEAR;
    const sign = input.kind !== "scalar" && (rest[3] ?? 0) * (numbers[3] ?? 0) < 0 ? -1 : 1;
    return numbers.every((number, i) => Math.abs(number - sign * (rest[i] ?? 0)) < near);
};

/** The current pose as the place of an example of that layer: its own axes, axes of earlier layers that are not at
 * rest (their share is not part of the example), and rotations of other joints. */
export const presentPlace = (app: App, index: number): Present => {
    const { rig, pose } = app.stage;
    const layer = app.tree.layers[index]!;
    const own = new Set(layer.space.map((axis) => axis.name));
    const earlier = new Set(app.tree.layers.slice(0, index).flatMap((l) => l.space.map((axis) => axis.name)));
    const inputs = rig.inputs.filter((input) => input.kind !== "driver" && (own.has(input.name) || earlier.has(input.name)));
    inputs.sort((a, b) => Number(own.has(b.name)) - Number(own.has(a.name)));
    const at: Place = {};
    for (const input of inputs) {
        const numbers = list(pose.get(input.index));
        if (own.has(input.name) || !isAtRest(input, numbers)) at[input.name] = valueOf(input, numbers);
    }
    if (!isPosed(layer) || rig.joints.length === 0) return { at };

    // Joints that the axes do not fully describe: those are written in full, with their axes as they then read.
    const trial = rig.pose();
    try {
        app.stage.setPlace(trial, at);
        const joints: { [joint: string]: Value } = {};
        for (const joint of rig.joints) {
            const [now, said] = [pose.jointFromRest(joint.index), trial.jointFromRest(joint.index)];
            if (Math.hypot(...now.map((x, i) => x - said[i]!)) > NEAR) joints[joint.name] = now.map((x) => Number(x.toFixed(6)));
        }
        if (Object.keys(joints).length === 0) return { at };
        app.stage.setExample(trial, "", { name: "", joints });
        for (const input of inputs)
            if (at[input.name] !== undefined && input.joint >= 0 && rig.joints[input.joint]!.name in joints)
                at[input.name] = input.kind === "scalar" ? tidy(trial.get(input.index) as number) : list(trial.get(input.index)).map(tidy);
        return { at, joints };
    } finally {
        trial.dispose();
    }
};

/** The same place moved a little along the layer's first numeric axis, away from all others; null without a numeric
 * axis. */
export const nextPlace = (app: App, index: number, at: Place, others: readonly Place[]): Place | null => {
    const { rig } = app.stage;
    const layer = app.tree.layers[index]!;
    const own = layer.space.flatMap((axis) => rig.inputs.find((input) => input.name === axis.name) ?? []);
    const axis = own.find((input) => input.kind === "scalar");
    if (!axis) return null;
    const isTaken = (place: Place): boolean =>
        others.some((other) =>
            own.every((input) => {
                const [a, b] = [numbersOf(input, place[input.name]), numbersOf(input, other[input.name])];
                const reach = input.kind === "scalar" ? (input.max - input.min) / 50 : 0.02;
                return a.every((x, i) => Math.abs(x - b[i]!) < reach);
            }),
        );
    const here = numbersOf(axis, at[axis.name])[0]!;
    for (let n = 1; n <= 40; n++)
        for (const way of [1, -1]) {
            const value = here + (way * n * (axis.max - axis.min)) / 20;
            const place = { ...at, [axis.name]: valueOf(axis, [value]) };
            if (value >= axis.min && value <= axis.max && !isTaken(place)) return place;
        }
    return null;
};
