// Blends of poses: numbers and driver forms linearly, rotations by their normalised weighted sum.
import type { Pose } from "@exemplar/runtime";
import { blended } from "./rotation";

const sum = (into: Float32Array | Float64Array, from: readonly ArrayLike<number>[], weights: readonly number[]): void => {
    for (let i = 0; i < into.length; i++) {
        let value = 0;
        for (let k = 0; k < from.length; k++) value += weights[k]! * from[k]![i]!;
        into[i] = value;
    }
};

const part = (numbers: Float32Array | Float64Array, at: number) => numbers.subarray(at, at + 4);

/** Sets a pose to a blend of poses of the same rig. The weights sum to 1; a single weight of 1 gives that pose
 * exactly. */
export const blendPoses = (pose: Pose, poses: readonly Pose[], weights: readonly number[]): void => {
    const whole = weights.indexOf(1);
    if (whole >= 0 && weights.every((weight, k) => k === whole || weight === 0)) {
        pose.copy(poses[whole]!);
        return;
    }
    const { rig } = pose;
    const joints = poses.map((p) => p.joints);
    const dials = poses.map((p) => p.inputs);
    sum(pose.inputs, dials, weights);
    sum(pose.driver, poses.map((p) => p.driver), weights);
    sum(pose.joints, joints, weights);
    for (const { index } of rig.joints)
        pose.joints.set(blended(joints.map((numbers) => part(numbers, 10 * index + 3)), weights), 10 * index + 3);
    for (const input of rig.inputs)
        if (input.width === 4 && input.offset >= 0)
            pose.inputs.set(blended(dials.map((numbers) => part(numbers, input.offset)), weights), input.offset);
    // The blended rotation does not give quite the blended angle, so axis values are set again. From here on memory may
    // move.
    for (const input of rig.inputs)
        if (input.kind === "scalar" && input.joint >= 0) {
            const values = poses.map((p) => p.get(input.index) as number);
            if (values.some((value) => value !== values[0]))
                pose.set(input.index, values.reduce((total, value, k) => total + weights[k]! * value, 0));
        }
};
