// Turns a joint as seen on the screen. A pose has a joint's rotation r relative to rest, in its own axes. Its rotation
// in the world is W = B r, where B combines its parent's rotation and its own at rest. To turn it by D in the world, W'
// = D W, set r to B⁻¹ D B r. As B = W r⁻¹, no parents are needed.
import { Matrix4, Quaternion, Vector3 } from "three";
import type { Pose, Rig } from "@exemplar/runtime";

export class Turn {
    readonly #start: Quaternion;
    readonly #base: Quaternion;
    constructor(readonly pose: Pose, readonly joint: number) {
        this.#start = new Quaternion().fromArray(pose.jointFromRest(joint));
        const world = new Matrix4().fromArray(pose.worldJoints(), 16 * joint);
        this.#base = new Quaternion();
        world.decompose(new Vector3(), this.#base, new Vector3());
        this.#base.multiply(this.#start.clone().invert());
    }

    /** The joint's rotation after this turn from its start. */
    by(turn: Quaternion): Quaternion {
        const inverse = this.#base.clone().invert();
        return inverse.multiply(turn).multiply(this.#base).multiply(this.#start);
    }
    get start(): Quaternion {
        return this.#start;
    }
}

/** Sets a joint's rotation. A hinge, which a single axis of a space reads, stays on that axis unless `free`. */
export const setJoint = (rig: Rig, pose: Pose, joint: number, rotation: Quaternion, free: boolean): void => {
    pose.turnJoint(joint, rotation.toArray());
    const readers = rig.inputs.filter((input) => input.joint === joint);
    const only = readers[0];
    if (free || readers.length !== 1 || !only || only.kind === "rotation") return;
    const value = pose.get(only.index);
    pose.turnJoint(joint, [0, 0, 0, 1]).set(only.index, value);
};

/** The point under the pointer on a half ball around a centre, in the axes of the picture (right, up, to the eye). */
const onBall = (x: number, y: number, radius: number): Vector3 => {
    const point = new Vector3(x / radius, y / radius, 0);
    const square = point.lengthSq();
    if (square < 1) point.z = Math.sqrt(1 - square);
    return point.normalize();
};

export interface Axes {
    right: Vector3;
    up: Vector3;
    back: Vector3;
}

const inWorld = (v: Vector3, axes: Axes): Vector3 =>
    new Vector3().addScaledVector(axes.right, v.x).addScaledVector(axes.up, v.y).addScaledVector(axes.back, v.z);

/** The turn from one place to another on the ball, in pixels right of and above the joint. */
export const ballTurn = (from: [number, number], to: [number, number], radius: number, axes: Axes): Quaternion =>
    new Quaternion().setFromUnitVectors(
        inWorld(onBall(...from, radius), axes).normalize(),
        inWorld(onBall(...to, radius), axes).normalize(),
    );

/** The same turn about the line of sight. */
export const flatTurn = (from: [number, number], to: [number, number], sight: Vector3): Quaternion =>
    new Quaternion().setFromAxisAngle(sight, Math.atan2(to[1], to[0]) - Math.atan2(from[1], from[0]));
