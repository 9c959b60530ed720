// Tracks that can be played: a motion that the server read for the rig, or the examples of a layer in turn.
import type { Pose } from "@exemplar/runtime";
import type { App } from "../core/app";
import { blendPoses } from "../core/blend";
import { blended } from "../core/rotation";
import type { Motion } from "../core/server";

export interface Track {
    /** Times of the frames in seconds, from 0. */
    readonly times: readonly number[];
    readonly duration: number;
    /** Sets a pose to a time: between two frames if `smooth`, else to the nearest frame. */
    set(pose: Pose, time: number, smooth: boolean): void;
    /** The time of the frame that is set then. */
    timeOf(time: number, smooth: boolean): number;
    /** The time in words. */
    describe(time: number): string;
}

/** The last frame at or before a time. */
export const frameAt = (times: readonly number[], time: number): number => {
    let [low, high] = [0, times.length - 1];
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (times[middle]! <= time + 1e-9) low = middle;
        else high = middle - 1;
    }
    return Math.max(0, low);
};

const nearestFrame = (times: readonly number[], time: number): number => {
    const frame = frameAt(times, time);
    const next = times[frame + 1];
    return next !== undefined && next - time < time - times[frame]! ? frame + 1 : frame;
};

/** A track of frames: shows the nearest one, or blends two. */
const framesTrack = (from: readonly number[], fits: (pose: Pose) => boolean, setFrame: (pose: Pose, frame: number) => void,
    setBetween: (pose: Pose, frame: number, t: number) => void): Track => {
    const times = from.map((time) => time - from[0]!);
    return {
        times,
        duration: times.at(-1) ?? 0,
        set: (pose, time, smooth) => {
            if (!fits(pose)) return; // the motion is for another rig and will be read again
            const frame = frameAt(times, time);
            const next = times[frame + 1];
            if (!smooth || next === undefined) setFrame(pose, nearestFrame(times, time));
            else setBetween(pose, frame, (time - times[frame]!) / (next - times[frame]!));
        },
        timeOf: (time, smooth) => (smooth ? time : times[nearestFrame(times, time)] ?? 0),
        describe: (time) => `${nearestFrame(times, time) + 1} of ${times.length}, ${time.toFixed(2)} s`,
    };
};

/** Moves only the driver; the rest of the pose stays. */
const driverTrack = ({ times, driver, forms }: Motion): Track => {
    const size = 3 * driver;
    const formOf = (frame: number) => forms.subarray(frame * size, (frame + 1) * size);
    return framesTrack(times, (pose) => pose.driver.length === size,
        (pose, frame) => pose.driver.set(formOf(frame)),
        (pose, frame, t) => {
            const [into, a, b] = [pose.driver, formOf(frame), formOf(frame + 1)];
            for (let i = 0; i < size; i++) into[i] = (1 - t) * a[i]! + t * b[i]!;
        });
};

const SOME = 16; // frames to see where a driver goes

/** Points of a driver in some frames of its motion; null without a driver. */
export const placesOf = ({ driver, frames, forms }: Motion): Float32Array | null => {
    if (!driver || !frames) return null;
    const step = Math.ceil(frames / SOME);
    const size = 3 * driver;
    const places = new Float32Array(size * Math.ceil(frames / step));
    for (let f = 0; f * step < frames; f++) places.set(forms.subarray(f * step * size, (f * step + 1) * size), f * size);
    return places;
};

const LOOKS = 24; // times at which a track is looked at
const VERTICES = 400; // of each form

/** Some points of the form at some times of a track, for a view that holds all of it. */
export const reachOf = (app: App, track: Track): Float32Array => {
    const { rig } = app.stage;
    const pose = rig.pose();
    const surface = rig.surface({ level: 0, normals: false, split: false });
    const step = Math.max(1, Math.floor(surface.vertexCount / VERTICES));
    const points: number[] = [];
    for (let k = 0; k < LOOKS; k++) {
        track.set(pose, (k / LOOKS) * track.duration, true);
        const { positions } = surface.evaluate(pose);
        for (let v = 0; v < surface.vertexCount; v += step) points.push(positions[3 * v]!, positions[3 * v + 1]!, positions[3 * v + 2]!);
    }
    surface.dispose();
    pose.dispose();
    return Float32Array.from(points);
};

export const motionTrack = (motion: Motion): Track => {
    if (motion.driver) return driverTrack(motion);
    const { times, inputs, joints, dials, locals } = motion;
    const dialsOf = (frame: number) => dials.subarray(frame * inputs, (frame + 1) * inputs);
    const localsOf = (frame: number) => locals.subarray(frame * joints * 10, (frame + 1) * joints * 10);

    const setFrame = (pose: Pose, frame: number): void => {
        pose.inputs.set(dialsOf(frame));
        pose.joints.set(localsOf(frame));
    };
    const setBetween = (pose: Pose, frame: number, t: number): void => {
        const weights = [1 - t, t];
        const line = (into: Float32Array | Float64Array, a: ArrayLike<number>, b: ArrayLike<number>): void => {
            for (let i = 0; i < into.length; i++) into[i] = weights[0]! * a[i]! + t * b[i]!;
        };
        const turn = (into: Float32Array | Float64Array, a: Float32Array | Float64Array, b: Float32Array | Float64Array,
            at: number) => into.set(blended([a.subarray(at, at + 4), b.subarray(at, at + 4)], weights), at);
        const [a, b, c, d] = [dialsOf(frame), dialsOf(frame + 1), localsOf(frame), localsOf(frame + 1)];
        line(pose.inputs, a, b);
        line(pose.joints, c, d);
        for (const input of pose.rig.inputs) if (input.width === 4 && input.offset >= 0) turn(pose.inputs, a, b, input.offset);
        for (let j = 0; j < joints; j++) turn(pose.joints, c, d, 10 * j + 3);
    };
    const fits = (pose: Pose): boolean => pose.inputs.length === inputs && pose.joints.length === 10 * joints;
    return framesTrack(times, fits, setFrame, setBetween);
};

const STEP = 1.2; // seconds from one example to the next
const eased = (t: number): number => t * t * (3 - 2 * t);

/** The names of a layer's examples that are not muted. */
export const namesOf = (app: App, layer: number): string[] =>
    (app.tree.layers[layer]?.examples ?? []).filter((e) => !e.muted).map((e) => e.name);

/** Visits every example of a layer, at its current place, and returns to the first. A single example takes turns with
 * the rest pose. */
export const examplesTrack = (app: App, layer: number): Track => {
    const own = namesOf(app, layer);
    const names = own.length === 1 ? ["rest", ...own] : own;
    const isRest = (k: number): boolean => own.length === 1 && k % 2 === 0;
    const count = names.length;
    const times = count ? Array.from({ length: count + 1 }, (_, k) => k * STEP) : [0];
    let poses: Pose[] = [];
    let set = [-1, -1]; // the examples of both poses
    let of: unknown = null; // and their layer
    const example = (k: number) => app.tree.layers[layer]?.examples.find((e) => e.name === names[k % count]);
    return {
        times,
        duration: count * STEP,
        set: (pose, time) => {
            const k = Math.min(frameAt(times, time), count - 1);
            if (poses[0]?.rig !== pose.rig) {
                poses = [pose.rig.pose(), pose.rig.pose()];
                of = null;
            }
            if (of !== app.tree.layers[layer]) set = [-1, -1];
            of = app.tree.layers[layer];
            [k, k + 1].forEach((at, i) => {
                const there = example(at);
                if (set[i] === at || !(there || isRest(at))) return;
                if (isRest(at)) poses[i]!.rest();
                else app.stage.setExample(poses[i]!, app.tree.layers[layer]!.name, there!);
                set[i] = at;
            });
            const t = eased(Math.min(1, time / STEP - k));
            blendPoses(pose, poses, [1 - t, t]);
        },
        timeOf: (time) => time,
        describe: (time) => {
            const k = Math.min(frameAt(times, time), Math.max(count - 1, 0));
            const t = time / STEP - k;
            if (!count) return "";
            return t < 0.02 ? names[k]! : `${names[k]!} \u2192 ${names[(k + 1) % count]!}`;
        },
    };
};
