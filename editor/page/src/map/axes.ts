// What the map can show along an edge: a number of the layer's point. A scalar axis is one; a rotation gives the parts of
// its rotation vector (direction times degrees) along fixed directions, so that every turn up to a half one has a place.
import type { Input, Layer } from "@exemplar/runtime";
import { offsetsOf, pointOf, round, valueOf, type Axis, type Place, type ProjectExample, type ProjectLayer,
    type Value } from "../core/project";
import { across, AXES, byVector, dot, multiply, swingOf, twistOf, unit, vectorOf, type Direction } from "../core/rotation";

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

/** What is swung, or twisted about; null for a whole rotation. */
const aboutOf = ({ kind, about }: Input): Direction | null =>
    kind !== "rotation" && about && Math.hypot(...about) > 0 ? unit(about) : null;

/** Which directions a rotation is shown along, by name. A swing has none along what it swings, a twist no other. */
const directionsOf = (kind: Input["kind"], about: Direction | null): readonly (readonly [string, Readonly<Direction>])[] => {
    if (!about) return AXES;
    if (kind === "swing") return across(about);
    const named = AXES.find(([, axis]) => Math.abs(dot(axis, about)) > 1 - 1e-9);
    return [[named ? named[0] : "twist", about]];
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

const turn = (layer: Layer, input: Input, offset: number, about: Direction | null, name: string,
    d: Readonly<Direction>): Coordinate => {
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
            let after = byVector(vector.map((x, i) => x + by * d[i]!));
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
        const about = aboutOf(input);
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
