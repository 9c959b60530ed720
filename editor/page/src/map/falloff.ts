// The reach of the selected example, drawn as an ellipse with a handle on each shown axis. In a gaussian layer the
// handles set that example's falloff along the axis. Under a cardinal kernel that shrinks with distance, they set the
// layer's radius, a share of the distance to the next point.
import type { Input, Layer } from "@exemplar/runtime";
import { round, setExample, setLayer, type Falloff, type Project, type ProjectLayer } from "../core/project";
import { falloffOf } from "../core/space";
import { settingsOf, weigherOf } from "../core/weighers";
import { withUnit } from "../core/words";
import type { Coordinate } from "./axes";
import type { MapState, Mark } from "./state";

type Change = (tree: Project) => Project;

export interface Handle {
    /** Pixels. */
    readonly x: number;
    readonly y: number;
    /** The value as shown to the user. */
    readonly text: string;
    readonly label: string;
    readonly resetLabel: string;
    /** The edit for a drag by dx, dy pixels. */
    change(dx: number, dy: number): Change;
    /** The edit that multiplies the reach. */
    scale(factor: number): Change;
    readonly reset: Change;
}

export interface Reach {
    /** Pixels; a radius is 0 if weights are shown. */
    readonly x: number;
    readonly y: number;
    readonly rx: number;
    readonly ry: number;
    /** Whose reach it is. */
    readonly caption: string;
    readonly handles: readonly Handle[];
}

const RADIAL = new Set(["bspline", "gaussian", "wendland", "inverse_multiquadric"]);

// ---- distances of the space, and units of its axes ----

const scaleOf = (tree: ProjectLayer, input: Input): number => {
    const scale = tree.space.find((axis) => axis.name === input.name)?.scale;
    return scale ?? (input.kind === "scalar" ? 1 / (input.max - input.min) : 0.5);
};

/** Converts a distance of the space to the axis's own unit: degrees for a rotation, where distances are chords. */
const toUnit = (tree: ProjectLayer, input: Input, distance: number): number => {
    const length = distance / scaleOf(tree, input);
    return input.kind === "scalar" ? length : (360 / Math.PI) * Math.asin(Math.min(length / 2, 1));
};

const pointsOf = (layer: Layer): Float64Array[] => [
    ...layer.examples.map((example) => layer.examplePoint(example.index)!),
    ...Array.from({ length: layer.pseudoCount }, (_, i) => layer.pseudoPoint(i)),
];

const nearest = (layer: Layer, points: readonly Float64Array[], k: number): number =>
    Math.min(...points.map((point, i) => (i === k ? Infinity : layer.distance(points[k]!, point) || Infinity)));

// The default falloff of an axis: the mean distance to the nearest other point. Computed once per edit. With many
// points a sample is enough for drawing.
const SOME = 24;
let kept: { layer: Layer; tree: ProjectLayer; value: number } | null = null;
const defaultFalloff = (layer: Layer, tree: ProjectLayer): number => {
    if (kept?.layer === layer && kept.tree === tree) return kept.value;
    const points = pointsOf(layer);
    const step = points.length > 10 * SOME ? Math.ceil(points.length / SOME) : 1;
    const all = points.flatMap((_, k) => (k % step === 0 ? [nearest(layer, points, k)] : [])).filter(Number.isFinite);
    const value = all.length ? all.reduce((sum, d) => sum + d, 0) / all.length : 1;
    kept = { layer, tree, value };
    return value;
};

// ---- the reach of a gaussian layer's example ----

/** The falloffs in effect, for every axis with a falloff of its own; the others get the default. */
const namedFalloffs = (layer: Layer, tree: ProjectLayer, name: string, falloff: Falloff | undefined) => {
    if (typeof falloff === "object" && !Array.isArray(falloff)) return { ...falloff };
    const said = falloffOf(layer, tree.space, falloff);
    const named = layer.inputs.map((input, i) => {
        const value = said[i]! || builtFalloff(layer, name, i);
        return [input.name, round(toUnit(tree, input, value), span(input))] as const;
    });
    return Object.fromEntries(named.filter(([, value]) => value > 0)) as { [axis: string]: number };
};

/** The rig's falloff, where "auto" was resolved by the build. 0: the default. */
const builtFalloff = (layer: Layer, name: string, input: number): number => {
    const k = layer.examples.find((example) => example.name === name)?.index;
    return k === undefined ? 0 : (layer.falloffs?.[k * layer.inputs.length + input] ?? 0);
};

const span = (input: Input): number => (input.kind === "scalar" ? input.max - input.min : 360);

const setFalloff = (state: MapState, mark: Mark, input: Input, value: number | null): Change => {
    return (tree) => {
        const layer = state.layer!; // read now: another rig may come during the drag
        const own = tree.layers[state.app.selection.layer]!;
        return setExample(tree, state.app.selection.layer, mark.name, (before) => {
            const { falloff, ...example } = before;
            if (value === null && falloff === undefined) return before;
            const named = namedFalloffs(layer, own, mark.name, falloff ?? own.weigh?.falloff);
            if (value === null) delete named[input.name];
            else named[input.name] = value;
            return Object.keys(named).length ? { ...example, falloff: named } : example;
        });
    };
};

/** In units of the axis. */
const gaussianReach = (state: MapState, mark: Mark, coordinate: Coordinate): number => {
    const { layer, tree } = state;
    const i = layer!.inputs.indexOf(coordinate.input);
    const example = tree!.examples[mark.index]!;
    const given = falloffOf(layer!, tree!.space, example.falloff ?? tree!.weigh?.falloff)[i]!;
    const inForce = given || builtFalloff(layer!, mark.name, i) || defaultFalloff(layer!, tree!);
    return toUnit(tree!, coordinate.input, inForce);
};

const gaussianHandle = (state: MapState, mark: Mark, coordinate: Coordinate, edge: "x" | "y"): Part => {
    const { input, label, unit } = coordinate;
    const before = gaussianReach(state, mark, coordinate);
    const most = input.kind === "scalar" ? Infinity : 180;
    return {
        angles: edge === "x" ? [0, 180, 25, 335, 155, 205] : [90, 270, 65, 115, 245, 295],
        text: `${mark.name} reaches ${withUnit(round(before, span(input)), unit)} along ${label}`,
        label: `set the falloff of '${mark.name}'`,
        resetLabel: `default falloff of ${mark.name}`,
        change: ([fx, fy]) => {
            const value = Math.min(Math.max(before * (edge === "x" ? fx : fy), 0.01 * span(input)), most);
            return setFalloff(state, mark, input, round(value, span(input)));
        },
        reset: setFalloff(state, mark, input, null),
    };
};

// ---- the radius of a cardinal layer ----

const setRadius = (layer: number, radius: number | null): Change => (tree) =>
    setLayer(tree, layer, (l) => {
        const { radius: _, ...weigh } = l.weigh ?? {};
        return { ...l, weigh: radius === null ? weigh : { ...weigh, radius } };
    });

const radiusHandle = (state: MapState): Part => {
    const { app, tree } = state;
    const now = Number(settingsOf(tree!.weigh)["radius"]);
    return {
        angles: state.isGraph ? [0, 180] : [45, 135, 315, 225, 20, 160],
        text: `Reach of all examples: ${round(now, 1)} × the distance to the next point`,
        label: "set the radius of the kernels",
        resetLabel: "default radius of the kernels",
        change: ([, , f]) => setRadius(app.selection.layer, round(Math.min(Math.max(now * f, 0.1), 10), 1)),
        reset: setRadius(app.selection.layer, null),
    };
};

// ---- both ----

/** A handle without a position yet. */
interface Part {
    /** Allowed angles on the ellipse, in degrees. The first one that is visible and not on a mark is used. */
    angles: readonly number[];
    text: string;
    label: string;
    resetLabel: string;
    /** The edit for drag factors along both axes, and outwards. */
    change(factors: readonly [number, number, number]): Change;
    reset: Change;
}

type Ellipse = Omit<Reach, "handles" | "caption">;

const putHandle = (state: MapState, { x, y, rx, ry }: Ellipse, { angles, change, ...part }: Part): Handle => {
    const { plane, marks } = state;
    const others = marks.map((mark) => plane.toPixel(mark.x, mark.y));
    const places = angles.map((degrees) => {
        const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
        return { cos, sin, px: x + rx * cos, py: y - ry * sin };
    });
    const seen = places.filter(({ px, py }) => plane.contains(px, py, -5));
    const best =
        seen.find(({ px, py }) => others.every(([ox, oy]) => Math.hypot(ox - px, oy - py) > 14)) ?? seen[0] ?? places[0]!;
    const { cos, sin, px, py } = best;
    const { left, top, width, height } = plane.box;
    return {
        ...part,
        // If no angle is visible, the handle waits at the edge.
        x: Math.min(Math.max(px, left + 6), left + width - 6),
        y: Math.min(Math.max(py, top + 6), top + height - 6),
        change: (dx, dy) => {
            const fx = rx > 0 && Math.abs(cos) > 0.1 ? 1 + dx / (rx * cos) : 1;
            const fy = ry > 0 && Math.abs(sin) > 0.1 ? 1 - dy / (ry * sin) : 1;
            return change([fx, fy, fx * cos * cos + fy * sin * sin]);
        },
        scale: (factor) => change([factor, factor, factor]),
    };
};

/** Distance in the space from an example to the next point; null if there is none. Cached, as it is read several
 * times per frame. */
let last: { layer: Layer; tree: ProjectLayer; name: string; value: number | null } | null = null;
const nextOf = (layer: Layer, tree: ProjectLayer, { name }: Mark): number | null => {
    if (last?.layer !== layer || last.tree !== tree || last.name !== name)
        last = { layer, tree, name, value: distanceToNext(layer, name) };
    return last.value;
};
const distanceToNext = (layer: Layer, name: string): number | null => {
    const k = layer.examples.find((example) => example.name === name)?.index;
    const next = k === undefined ? Infinity : nearest(layer, pointsOf(layer), k);
    return Number.isFinite(next) ? next : null;
};

export const reachOf = (state: MapState): Reach | null => {
    const mark = state.selectedMark;
    const { layer, tree, plane } = state;
    if (!mark || mark.kind !== "example" || mark.muted || !layer || !tree) return null;
    const { kernel, radius } = settingsOf(tree.weigh);
    const [x, y] = plane.toPixel(mark.x, mark.y);
    const [sx, sy] = plane.scale;
    const size = (of: (c: Coordinate) => number) => ({ x, y, rx: sx * of(state.x!), ry: state.y ? sy * of(state.y) : 0 });
    if (weigherOf(tree.weigh).hasFalloffs) {
        if (tree.examples[mark.index]?.["metric"] ?? tree.weigh?.["metric"]) return null;
        const ellipse = size((c) => gaussianReach(state, mark, c));
        const parts = [gaussianHandle(state, mark, state.x!, "x")];
        if (state.y) parts.push(gaussianHandle(state, mark, state.y, "y"));
        return { ...ellipse, caption: `reach of ${mark.name}`, handles: parts.map((part) => putHandle(state, ellipse, part)) };
    }
    const next = typeof radius === "number" && RADIAL.has(String(kernel)) ? nextOf(layer, tree, mark) : null;
    if (next === null) return null;
    const ellipse = size((c) => toUnit(tree, c.input, next * Number(radius)));
    return { ...ellipse, caption: "reach, set for all examples", handles: [putHandle(state, ellipse, radiusHandle(state))] };
};

export const handleAt = (reach: Reach | null, [px, py]: readonly [number, number]): Handle | null =>
    reach?.handles.find(({ x, y }) => Math.hypot(x - px, y - py) <= 8) ?? null;
