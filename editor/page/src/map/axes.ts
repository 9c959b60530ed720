// Coordinates for the edges of the map, each a number of the layer's point. A scalar axis is one coordinate. A rotation
// has one for each part of its rotation vector (direction times degrees), so every turn of up to 180° has a place.
import type { Input, Layer } from "@exemplar/runtime";
import { offsetsOf, pointOf, round, valueOf, type Axis, type Place, type ProjectExample, type ProjectLayer,
    type Value } from "../core/project";
import { across, AXES, byVector, dot, multiply, swingOf, twistOf, unit, vectorOf, type Direction } from "../core/rotation";

export interface Coordinate {
    /** Value in the selects. */
    readonly id: string;
    readonly label: string;
    readonly unit: string;
    readonly min: number;
    readonly max: number;
    readonly input: Input;
    /** Index in a point where the input starts. */
    readonly offset: number;
    read(point: ArrayLike<number>): number;
    /** Changes the point in place. */
    write(point: number[] | Float64Array, value: number, at?: number): void;
}

/** The direction that is swung, or twisted about; null for a full rotation. */
const aboutOf = ({ kind, about }: Input): Direction | null =>
    kind !== "rotation" && about && Math.hypot(...about) > 0 ? unit(about) : null;

/** The directions, by name, along which a rotation is shown. A swing has none along its own direction, a twist has
 * no other. */
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

/** The smallest of a few ranges that contains every example. */
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

/** All coordinates of a layer. */
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

/** The point of an example. Axes that its place leaves out, but its joints determine, are read from the rig. */
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

/** Degrees about one axis if possible, else the four numbers, because people read the files too. */
const rotationValue = (q: ArrayLike<number>): Value => {
    const vector = vectorOf(q);
    const parts = vector.map((x) => Math.abs(x) > 1e-6);
    const one = parts.indexOf(true);
    if (one < 0) return { x: 0 };
    if (parts.filter(Boolean).length === 1) return { ["xyz"[one]!]: round(vector[one]!, 360) };
    return [0, 1, 2, 3].map((i) => Number(q[i]!.toFixed(6)));
};

/** The place with these coordinates changed; the other axes stay as written. */
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
