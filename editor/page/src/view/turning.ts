// Turning a joint from what is seen. A pose has a joint's rotation r relative to its rest, in its own axes there, so
// that its rotation in the world is W = B r, B being its parent's and its rest's. To turn it by D as the world sees it,
// W' = D W, r becomes B⁻¹ D B r, and B = W r⁻¹ needs no parents.
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

    /** The joint's rotation when it is turned so far from where it was. */
    by(turn: Quaternion): Quaternion {
        const inverse = this.#base.clone().invert();
        return inverse.multiply(turn).multiply(this.#base).multiply(this.#start);
    }
    get start(): Quaternion {
        return this.#start;
    }
}

/** Sets a joint's rotation. A hinge, which one axis of a space reads, keeps to it unless it is to turn freely. */
export const setJoint = (rig: Rig, pose: Pose, joint: number, rotation: Quaternion, free: boolean): void => {
    pose.turnJoint(joint, rotation.toArray());
    const readers = rig.inputs.filter((input) => input.joint === joint);
    const only = readers[0];
    if (free || readers.length !== 1 || !only || only.kind === "rotation") return;
    const value = pose.get(only.index);
    pose.turnJoint(joint, [0, 0, 0, 1]).set(only.index, value);
};

/** Half a ball around a middle, under the pointer: a point on it, in the axes of the picture (right, up, to the eye). */
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

/** From one place to another, in pixels right of and above the joint, by the ball. */
export const ballTurn = (from: [number, number], to: [number, number], radius: number, axes: Axes): Quaternion =>
    new Quaternion().setFromUnitVectors(
        inWorld(onBall(...from, radius), axes).normalize(),
        inWorld(onBall(...to, radius), axes).normalize(),
    );

/** The same about the line of sight. */
export const flatTurn = (from: [number, number], to: [number, number], sight: Vector3): Quaternion =>
    new Quaternion().setFromAxisAngle(sight, Math.atan2(to[1], to[0]) - Math.atan2(from[1], from[0]));
