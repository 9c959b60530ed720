// The project's tree, which is the JSON of a project file (docs/reference/project.md), and points of a space in it.
// Trees are never changed in place: an edit makes a new tree that shares its unchanged parts.
import type { Input, Layer } from "@exemplar/runtime";
import { multiply, type Rotation } from "./rotation";

/** A number, or a rotation: [x, y, z, w], or {"x": 30, "y": -10} in degrees, applied one after the other. */
export type Value = number | number[] | { [axis: string]: number } | string;
/** A place in a space: values by axis name. */
export type Place = { [axis: string]: Value };
export type Falloff = number | number[] | { [axis: string]: number } | "auto";

export interface Axis {
    name: string;
    joint?: string;
    rotation?: "full" | "swing" | "twist";
    driver?: boolean;
    min?: number;
    max?: number;
    rest?: Value;
    unit?: string;
    scale?: number;
    /** Beyond the outermost examples on this axis; by the weigher if left out. */
    limit?: "hold" | "fade" | "extrapolate";
    [key: string]: unknown;
}

/** A kind of weigher, its parameters (weighers.ts), and settings that are not parameters. */
export interface Weigh {
    kind?: string;
    falloff?: Falloff;
    [key: string]: unknown;
}

export interface ProjectExample {
    name: string;
    mesh?: string;
    image?: string;
    map?: string;
    at?: Place;
    joints?: { [joint: string]: Value };
    falloff?: Falloff;
    muted?: boolean;
    [key: string]: unknown;
}

export interface ProjectPseudo {
    name?: string;
    at: Place;
    from?: Place;
    weights?: { [example: string]: number };
    falloff?: Falloff;
    [key: string]: unknown;
}

export interface Mask {
    file?: string;
    group?: string;
    colour?: string;
    joints?: string[];
    [key: string]: unknown;
}

export interface ProjectLayer {
    name: string;
    shape?: "positions" | "unposed" | "offsets" | "trajectory" | "displacement" | "pixels";
    space: Axis[];
    weigh?: Weigh;
    examples: ProjectExample[];
    pseudo?: ProjectPseudo[];
    mask?: Mask;
    muted?: boolean;
    [key: string]: unknown;
}

export interface Project {
    exemplar: number;
    mesh: string;
    skeleton?: string;
    unit?: string | number;
    up?: "y" | "z";
    layers: ProjectLayer[];
    [key: string]: unknown;
}

/** The tree of a file's text, with or without a byte order mark. */
export const projectOf = (text: string): Project => JSON.parse(text.replace(/^\uFEFF/, "")) as Project;

// ---- new trees from old ones ----

export const setLayer = (tree: Project, index: number, change: (layer: ProjectLayer) => ProjectLayer): Project => ({
    ...tree,
    layers: tree.layers.map((layer, i) => (i === index ? change(layer) : layer)),
});

/** The tree with the ranges of axes widened until they hold a place. Distances count in ranges, so a widened axis gets
 * the scale it had, and weights between earlier examples stay. */
export const widened = (tree: Project, at: Place | undefined): Project => {
    const widen = (axis: Axis): Axis => {
        const value = at?.[axis.name];
        const { min, max } = axis;
        if (typeof value !== "number" || !Number.isFinite(value)) return axis;
        if (min === undefined || max === undefined || (value >= min && value <= max)) return axis;
        return { ...axis, min: Math.min(min, value), max: Math.max(max, value), scale: axis.scale ?? 1 / (max - min) };
    };
    const layers = tree.layers.map((layer) => {
        const space = layer.space.map(widen);
        return space.some((axis, i) => axis !== layer.space[i]) ? { ...layer, space } : layer;
    });
    return layers.some((layer, i) => layer !== tree.layers[i]) ? { ...tree, layers } : tree;
};

export const setExample = (
    tree: Project,
    layer: number,
    name: string,
    change: (example: ProjectExample) => ProjectExample,
): Project =>
    setLayer(tree, layer, (l) => ({
        ...l,
        examples: l.examples.map((example) => (example.name === name ? change(example) : example)),
    }));

export const setPseudo = (
    tree: Project,
    layer: number,
    index: number,
    change: (pseudo: ProjectPseudo) => ProjectPseudo,
): Project =>
    setLayer(tree, layer, (l) => ({
        ...l,
        pseudo: (l.pseudo ?? []).map((pseudo, i) => (i === index ? change(pseudo) : pseudo)),
    }));

export const removePseudo = (tree: Project, layer: number, index: number): Project =>
    setLayer(tree, layer, ({ pseudo, ...rest }) => {
        const left = (pseudo ?? []).filter((_, i) => i !== index);
        return left.length ? { ...rest, pseudo: left } : rest;
    });

/** A name not used yet: "bent", "bent 2", … */
export const freeName = (wanted: string, taken: Iterable<string>): string => {
    const names = new Set(taken);
    if (!names.has(wanted)) return wanted;
    let n = 2;
    while (names.has(`${wanted} ${n}`)) n++;
    return `${wanted} ${n}`;
};

// ---- values and points ----

/** A rotation of a project file as x y z w. */
export const rotationOf = (value: Value): Rotation => {
    if (Array.isArray(value)) {
        const length = Math.hypot(...value) || 1;
        return [0, 1, 2, 3].map((i) => (value[i] ?? 0) / length) as Rotation;
    }
    let q: Rotation = [0, 0, 0, 1];
    if (typeof value !== "object") return q;
    for (const [axis, degrees] of Object.entries(value)) {
        const half = (degrees * Math.PI) / 360;
        const turn: Rotation = [0, 0, 0, Math.cos(half)];
        turn["xyz".indexOf(axis)] = Math.sin(half);
        q = multiply(q, turn);
    }
    return q;
};

/** Rounds to a thousandth of the range, or of a unit quaternion. */
export const round = (value: number, range: number): number => {
    const step = 10 ** Math.floor(Math.log10(Math.abs(range) || 1) - 3);
    return Number((Math.round(value / step) * step).toPrecision(12));
};

/** An input's value as numbers: one, or four for a rotation. */
export const numbersOf = (input: Input, value: Value | undefined): number[] => {
    if (input.kind === "driver") return [];
    if (value === undefined || typeof value === "string") return Array.isArray(input.rest) ? input.rest : [input.rest];
    return input.kind === "scalar" ? [Number(value)] : rotationOf(value);
};

/** Numbers of an input as a value for the project file. */
export const valueOf = (input: Input, numbers: ArrayLike<number>): Value =>
    input.kind === "scalar"
        ? round(numbers[0]!, input.max - input.min)
        : [0, 1, 2, 3].map((i) => round(numbers[i]!, 0.01));

/** A place as a point of the layer. Axes that it does not name are at rest. */
export const pointOf = (layer: Layer, place: Place | undefined): number[] =>
    layer.inputs.flatMap((input) => numbersOf(input, place?.[input.name]));

/** The same place with the layer's axes at a point. Other keys and unchanged axes stay as written. */
export const placeAt = (layer: Layer, place: Place, point: ArrayLike<number>): Place => {
    const result = { ...place };
    let first = 0;
    for (const input of layer.inputs) {
        const numbers = Array.from({ length: input.width }, (_, i) => point[first + i]!);
        const before = numbersOf(input, place[input.name]);
        if (numbers.some((number, i) => number !== before[i])) result[input.name] = valueOf(input, numbers);
        first += input.width;
    }
    return result;
};

/** Index in a point where each of the layer's inputs starts. */
export const offsetsOf = (layer: Layer): number[] => {
    let first = 0;
    return layer.inputs.map((input) => (first += input.width) - input.width);
};
