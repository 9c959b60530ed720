// The place of a sculpt: the current pose as a project file can write it ("at" and "joints"). The rig is set to exactly
// that pose, so that inserting reproduces the sculpt. Values are rounded like all values in a project file.
import type { Input, Joint, Layer, Pose, Rig } from "@exemplar/runtime";
import { numbersOf, pointOf, rotationOf, round, valueOf, type Place, type ProjectExample, type Value } from "../core/project";

export interface Stand {
    readonly at: Place;
    /** Rotations of joints that no axis covers. */
    readonly joints: { [joint: string]: Value } | null;
    /** Parts of the pose that no example can hold, reset to rest: joints moved or scaled without an axis, and the
     * driver. */
    readonly lost: string[];
}

/** Places nearer than this, in distances of the space, count as one. */
export const SAME_PLACE = 1e-3;

const TURN = 2e-3; // radians: a little more than the rounding of an angle

const angleBetween = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
    const sign = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1;
    // From the chord: a cosine is inaccurate at small angles.
    const chord = Math.hypot(a[0] - sign * b[0], a[1] - sign * b[1], a[2] - sign * b[2], a[3] - sign * b[3]);
    return 4 * Math.asin(Math.min(1, chord / 2));
};

const numbers = (value: number | number[]): number[] => (Array.isArray(value) ? value : [value]);

/** True if the value of an axis is that of rest. */
export const isRest = (input: Input, value: Value): boolean => {
    const [now, rest] = [numbersOf(input, value), numbers(input.rest)];
    return input.kind === "scalar" ? now[0] === rest[0] : angleBetween(now, rest) < 1e-6;
};

const reads = (pose: Pose, input: Input, value: Value): boolean => {
    const [now, wanted] = [numbers(pose.get(input.index)), numbersOf(input, value)];
    return input.kind === "scalar"
        ? Math.abs(now[0] - wanted[0]) <= 1e-5 * Math.max(1, Math.abs(wanted[0]))
        : angleBetween(now, wanted) < 1e-6;
};

/** Writes a place into a pose, in the same order as the project reader. */
export const takeStand = (pose: Pose, stand: Pick<Stand, "at" | "joints">): void => {
    const { rig } = pose;
    pose.rest();
    for (const [name, value] of Object.entries(stand.joints ?? {})) {
        const joint = rig.joints.find((j) => j.name === name);
        if (joint) pose.turnJoint(joint.index, rotationOf(value));
    }
    for (const [name, value] of Object.entries(stand.at)) {
        const input = rig.inputs.find((i) => i.name === name);
        if (input && input.kind !== "driver") pose.set(input.index, numbersOf(input, value));
    }
};

/** The layer's example at the pose, muted ones left out; null if there is none. */
export const exampleAt = (layer: Layer, examples: readonly ProjectExample[], pose: Pose): ProjectExample | null => {
    if (layer.kind.isDriven) return null;
    if (!layer.kind.hasPoints) {
        const values = layer.inputs.map((input) => Number(pose.get(input.index)));
        const at = values.findIndex((value) => Math.abs(value - 1) < SAME_PLACE);
        const alone = values.every((value, i) => i === at || Math.abs(value) < SAME_PLACE);
        const name = alone && at >= 0 ? layer.examples[at]?.name : undefined;
        return examples.find((example) => example.name === name) ?? null;
    }
    const here = layer.inputs.flatMap((input) => numbers(pose.get(input.index)));
    const found = layer.examples.find(({ index }) => {
        const point = layer.examplePoint(index);
        return point && layer.distance(here, point) < SAME_PLACE;
    });
    return examples.find((example) => example.name === found?.name) ?? null;
};

/** Indices of the pseudo-examples at the pose, in the project's list. */
export const pseudosAt = (layer: Layer, list: readonly { at: Place }[], pose: Pose): number[] => {
    if (layer.kind.isDriven || !layer.kind.hasPoints) return [];
    const here = layer.inputs.flatMap((input) => numbers(pose.get(input.index)));
    return list.flatMap(({ at }, i) => (layer.distance(here, pointOf(layer, at)) < SAME_PLACE ? [i] : []));
};

const sizeOf = (rig: Rig): number => rig.restPositions().reduce((most, x) => Math.max(most, Math.abs(x)), 1e-6);

const isMoved = (a: Pose, b: Pose, joint: Joint, scale: number): boolean => {
    const from = 10 * joint.index;
    return [0, 1, 2, 7, 8, 9].some((i) => Math.abs(a.joints[from + i] - b.joints[from + i]) > 1e-3 * (i < 3 ? scale : 1));
};

/** Rounds the pose to values that a file can hold, and sets the rig to it. The layer's own axes are always included.
 * If an example is already at this place, its values are kept as written. */
export const standAt = (pose: Pose, layer: Layer | null, example: ProjectExample | null): Stand => {
    const { rig } = pose;
    const values = new Map<Input, Value>();
    for (const input of rig.inputs) {
        if (input.kind === "driver") continue;
        const own = layer?.inputs.some((i) => i.index === input.index) ?? false;
        const written = own ? example?.at?.[input.name] : undefined;
        const value = valueOf(input, numbers(pose.get(input.index)));
        const kept = written !== undefined && typeof written !== "string" ? written : value;
        if (own || !isRest(input, value)) values.set(input, kept);
    }
    const scratch = rig.pose();
    const joints = new Map<Joint, Value>();
    const build = (): Pick<Stand, "at" | "joints"> => ({
        at: Object.fromEntries([...values].map(([input, value]) => [input.name, value])),
        joints: joints.size ? Object.fromEntries([...joints].map(([joint, value]) => [joint.name, value])) : null,
    });
    const turn = (joint: Joint): void => {
        joints.set(joint, pose.jointFromRest(joint.index).map((x) => round(x, 1e-3)));
    };
    // Rotations that no axis covers go into "joints". Axes of one joint that disturb each other are replaced by that
    // joint.
    for (let tries = 0; tries < 3; tries++) {
        takeStand(scratch, build());
        let done = true;
        for (const [input, value] of [...values]) {
            const joint = rig.joints[input.joint];
            if (!joint || reads(scratch, input, value)) continue;
            values.delete(input);
            turn(joint);
            done = false;
        }
        for (const joint of rig.joints) {
            const [now, wanted] = [scratch.jointFromRest(joint.index), pose.jointFromRest(joint.index)];
            if (joints.has(joint) || angleBetween(now, wanted) < TURN) continue;
            turn(joint);
            done = false;
        }
        if (done) break;
    }
    takeStand(scratch, build());
    const size = sizeOf(rig);
    const lost = rig.joints.filter((joint) => isMoved(scratch, pose, joint, size)).map((joint) => `joint '${joint.name}'`);
    if (pose.driver.some((x, i) => x !== scratch.driver[i])) lost.push("the driver");
    pose.copy(scratch);
    scratch.dispose();
    return { ...build(), lost };
};
