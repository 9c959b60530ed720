// What the map can show along an edge: a number of the layer's point. A scalar axis is one; a rotation gives the parts of
// its rotation vector (direction times degrees) along fixed directions, so that every turn up to a half one has a place.
import type { Input, Layer } from "@exemplar/runtime";
import { multiply, offsetsOf, pointOf, round, valueOf, type Axis, type Place, type ProjectExample,
    type ProjectLayer, type Value } from "../core/project";

type Vector = [number, number, number];

export interface Coordinate {
    /** In the selects. */
    readonly id: string;
    readonly label: string;
    readonly unit: string;
    readonly min: number;
    readonly max: number;
    readonly input: Input;
    /** Where the input starts in a point. */
    readonly offset: number;
    read(point: ArrayLike<number>): number;
    /** Changes the point in place. */
    write(point: number[] | Float64Array, value: number, at?: number): void;
}

const DEGREES = 180 / Math.PI;
const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;

/** Direction times degrees of a rotation, at most a half turn. */
export const vectorOf = (q: ArrayLike<number>): Vector => {
    const sign = q[3]! < 0 ? -1 : 1;
    const sine = Math.hypot(q[0]!, q[1]!, q[2]!);
    const angle = 2 * Math.atan2(sine, sign * q[3]!) * DEGREES;
    const factor = sine > 1e-12 ? (sign * angle) / sine : 2 * DEGREES * sign;
    return [q[0]! * factor, q[1]! * factor, q[2]! * factor];
};

export const quaternionOf = (vector: Vector): [number, number, number, number] => {
    const angle = Math.hypot(...vector);
    const factor = angle > 1e-12 ? Math.sin(angle / 2 / DEGREES) / angle : 0.5 / DEGREES;
    return [vector[0] * factor, vector[1] * factor, vector[2] * factor, Math.cos(angle / 2 / DEGREES)];
};

// r = swing twist: first the turn about n, then one about a direction at right angles to it.
const twistOf = (q: ArrayLike<number>, n: Vector): [number, number, number, number] => {
    const along = dot(q, n);
    const length = Math.hypot(along, q[3]!);
    if (length < 1e-12) return [0, 0, 0, 1];
    return [(n[0] * along) / length, (n[1] * along) / length, (n[2] * along) / length, q[3]! / length];
};
const swingOf = (q: ArrayLike<number>, n: Vector): [number, number, number, number] => {
    const twist = twistOf(q, n);
    return multiply(q, [-twist[0], -twist[1], -twist[2], twist[3]]);
};

const UNITS: readonly [string, Vector][] = [["x", [1, 0, 0]], ["y", [0, 1, 0]], ["z", [0, 0, 1]]];

const directionOf = (about: unknown): Vector | null => {
    const unit = UNITS.find(([name]) => name === about)?.[1];
    if (unit) return unit;
    if (!Array.isArray(about) || about.length !== 3) return null;
    const length = Math.hypot(...(about as number[]));
    return length > 0 ? (about.map((x: number) => x / length) as Vector) : null;
};

const across = (n: Vector): [Vector, Vector] => {
    const least = n.map(Math.abs).indexOf(Math.min(...n.map(Math.abs)));
    const e = UNITS[least]![1];
    const a = e.map((x, i) => x - dot(e, n) * n[i]!) as Vector;
    const length = Math.hypot(...a);
    const u = a.map((x) => x / length) as Vector;
    return [u, [n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]]];
};

/** What is swung, or twisted about: as the project says, or, where there is only a rig, by which turns count. */
const aboutOf = (layer: Layer, input: Input, offset: number, axis: Axis | undefined): Vector | null => {
    const said = directionOf(axis?.["about"]);
    if (said || input.kind === "rotation") return said;
    const turned = (q: readonly number[]): number[] => {
        const point: number[] = Array(layer.dimension).fill(0);
        q.forEach((x, i) => (point[offset + i] = x));
        return point;
    };
    const counts = UNITS.filter(
        ([, unit]) => layer.distance(turned([0, 0, 0, 1]), turned([...unit.map((x) => x * Math.SQRT1_2), Math.SQRT1_2])) > 1e-6,
    );
    if (input.kind === "twist") return counts.length === 1 ? counts[0]![1] : null;
    return counts.length === 2 ? UNITS.find((unit) => !counts.includes(unit))![1] : null;
};

/** Which directions a rotation is shown along, by name. A swing has none along what it swings, a twist no other. */
const directionsOf = (kind: Input["kind"], about: Vector | null): readonly [string, Vector][] => {
    if (!about || kind === "rotation") return UNITS;
    const named = UNITS.find(([, unit]) => Math.abs(dot(unit, about)) > 1 - 1e-9);
    if (kind === "twist") return [[named ? named[0] : "twist", about]];
    if (named) return UNITS.filter((unit) => unit !== named);
    const [u, v] = across(about);
    return [["u", u], ["v", v]];
};

const scalar = (input: Input, offset: number, axis: Axis | undefined): Coordinate => ({
    id: input.name,
    label: input.name,
    unit: input.unit || (axis?.["angle"] !== undefined ? "°" : ""),
    min: input.min,
    max: input.max,
    input,
    offset,
    read: (point) => point[offset]!,
    write: (point, value, at = 0) => {
        point[at + offset] = value;
    },
});

/** The smallest of a few ranges that holds every example. */
const rangeOf = (layer: Layer, read: (point: ArrayLike<number>) => number): number => {
    const most = Math.max(0, ...layer.examples.map((example) => Math.abs(read(layer.examplePoint(example.index)!))));
    return [30, 45, 60, 90, 120].find((range) => most <= range) ?? 180;
};

const turn = (layer: Layer, input: Input, offset: number, about: Vector | null, name: string, d: Vector): Coordinate => {
    const q = (point: ArrayLike<number>, at = 0): number[] => [0, 1, 2, 3].map((i) => point[at + offset + i]!);
    const swings = input.kind === "swing" && about !== null;
    const part = (rotation: number[]) => (swings ? swingOf(rotation, about) : rotation);
    const read = (point: ArrayLike<number>): number => dot(vectorOf(part(q(point))), d);
    const range = rangeOf(layer, read);
    return {
        id: `${input.name} ${name}`,
        label: `${input.name} ${name}`,
        unit: "°",
        min: -range,
        max: range,
        input,
        offset,
        read,
        write: (point, value, at = 0) => {
            const before = q(point, at);
            const vector = vectorOf(part(before));
            const by = value - dot(vector, d);
            let after = quaternionOf(vector.map((x, i) => x + by * d[i]!) as Vector);
            if (swings) after = multiply(after, twistOf(before, about));
            for (let i = 0; i < 4; i++) point[at + offset + i] = after[i]!;
        },
    };
};

/** All that can be shown of a layer. */
export const coordinatesOf = (layer: Layer, space: ProjectLayer["space"]): Coordinate[] => {
    const offsets = offsetsOf(layer);
    return layer.inputs.flatMap((input, i): Coordinate[] => {
        const offset = offsets[i]!;
        if (input.kind === "driver") return [];
        const axis = space.find((a) => a.name === input.name);
        if (input.kind === "scalar") return [scalar(input, offset, axis)];
        const about = aboutOf(layer, input, offset, axis);
        return directionsOf(input.kind, about).map(([name, d]) => turn(layer, input, offset, about, name, d));
    });
};

// ---- points ----

/** Where an example is. What its place leaves out but its other joints tell is as the rig has it. */
export const examplePoint = (layer: Layer, example: ProjectExample): number[] => {
    const point = pointOf(layer, example.at);
    const built = layer.examples.find((e) => e.name === example.name);
    const known = built && example.joints ? layer.examplePoint(built.index) : null;
    if (!known) return point;
    const offsets = offsetsOf(layer);
    layer.inputs.forEach((input, i) => {
        if (input.joint < 0 || example.at?.[input.name] !== undefined) return;
        for (let k = 0; k < input.width; k++) point[offsets[i]! + k] = known[offsets[i]! + k]!;
    });
    return point;
};

/** Degrees about one axis where that says it, else the four numbers: files are read by people too. */
const rotationValue = (q: ArrayLike<number>): Value => {
    const vector = vectorOf(q);
    const parts = vector.map((x) => Math.abs(x) > 1e-6);
    const one = parts.indexOf(true);
    if (one < 0) return { x: 0 };
    if (parts.filter(Boolean).length === 1) return { ["xyz"[one]!]: round(vector[one]!, 360) };
    return [0, 1, 2, 3].map((i) => Number(q[i]!.toFixed(6)));
};

/** The place with coordinates at values; the other axes are left as they are written. */
export const placeWith = (
    place: Place,
    point: ArrayLike<number>,
    values: Iterable<readonly [Coordinate, number]>,
): Place => {
    const after = Array.from(point);
    const result = { ...place };
    for (const [coordinate, value] of values) {
        coordinate.write(after, value);
        const { input, offset } = coordinate;
        result[input.name] =
            input.kind === "scalar" ? valueOf(input, [after[offset]!]) : rotationValue(after.slice(offset, offset + 4));
    }
    return result;
};

