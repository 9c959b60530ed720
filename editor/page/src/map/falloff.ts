// How far the selected example reaches, as an ellipse with a handle on each shown axis. In a gaussian layer the handles
// set that example's falloff along that axis; under a cardinal kernel that shrinks with distance they set the layer's
// radius, the share of the distance to the next point.
import type { Input, Layer } from "@exemplar/runtime";
import { round, setExample, setLayer, type Falloff, type Project, type ProjectLayer } from "../core/project";
import { falloffOf, settingsOf } from "../core/space";
import type { Coordinate } from "./axes";
import type { MapState, Mark } from "./state";

type Change = (tree: Project) => Project;

export interface Handle {
    /** In pixels. */
    readonly x: number;
    readonly y: number;
    /** For people: what it is at. */
    readonly text: string;
    readonly label: string;
    readonly resetLabel: string;
    /** By how many pixels it is dragged. */
    change(dx: number, dy: number): Change;
    readonly reset: Change;
}

export interface Reach {
    /** In pixels; a radius of 0 where weights are shown. */
    readonly x: number;
    readonly y: number;
    readonly rx: number;
    readonly ry: number;
    readonly handles: readonly Handle[];
}

const RADIAL = new Set(["bspline", "gaussian", "wendland", "inverse_multiquadric"]);

// ---- distances of the space and units of its axes ----

const scaleOf = (tree: ProjectLayer, input: Input): number => {
    const scale = tree.space.find((axis) => axis.name === input.name)?.scale;
    return scale ?? (input.kind === "scalar" ? 1 / (input.max - input.min) : 0.5);
};

/** From a distance of the space to the axis's own unit; degrees for a rotation, of which chords are measured. */
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

// What an axis that names no falloff has: the mean distance to the nearest other point. Asked for once an edit.
let kept: { layer: Layer; tree: ProjectLayer; value: number } | null = null;
const defaultFalloff = (layer: Layer, tree: ProjectLayer): number => {
    if (kept?.layer === layer && kept.tree === tree) return kept.value;
    const points = pointsOf(layer);
    const all = points.map((_, k) => nearest(layer, points, k)).filter(Number.isFinite);
    const value = all.length ? all.reduce((sum, d) => sum + d, 0) / all.length : 1;
    kept = { layer, tree, value };
    return value;
};

// ---- the reach of a gaussian layer's example ----

/** What was in force, with every axis named that had a falloff of its own. */
const namedFalloffs = (layer: Layer, tree: ProjectLayer, falloff: Falloff | undefined): { [axis: string]: number } => {
    if (typeof falloff === "object" && !Array.isArray(falloff)) return { ...falloff };
    const values = falloffOf(layer, tree.space, falloff);
    const named = layer.inputs.map((input, i) => [input.name, round(toUnit(tree, input, values[i]!), span(input))] as const);
    return Object.fromEntries(named.filter((_, i) => values[i]! > 0));
};

const span = (input: Input): number => (input.kind === "scalar" ? input.max - input.min : 360);

const setFalloff = (state: MapState, mark: Mark, input: Input, value: number | null): Change => {
    const layer = state.layer!;
    return (tree) => {
        const own = tree.layers[state.app.selection.layer]!;
        return setExample(tree, state.app.selection.layer, mark.name, ({ falloff, ...example }) => {
            const named = namedFalloffs(layer, own, falloff ?? own.weigh?.falloff);
            if (value === null) delete named[input.name];
            else named[input.name] = value;
            return Object.keys(named).length ? { ...example, falloff: named } : example;
        });
    };
};

/** In units of each shown axis. */
const gaussianReach = (state: MapState, mark: Mark, coordinate: Coordinate): number => {
    const { layer, tree } = state;
    const i = layer!.inputs.indexOf(coordinate.input);
    const example = tree!.examples[mark.index]!;
    const given = falloffOf(layer!, tree!.space, example.falloff ?? tree!.weigh?.falloff)[i]!;
    // "auto" was found when the rig was built, and is in it.
    const built = layer!.examples.find((e) => e.name === mark.name)?.index;
    const known = built !== undefined ? layer!.falloffs?.[built * layer!.inputs.length + i] : 0;
    return toUnit(tree!, coordinate.input, given || known || defaultFalloff(layer!, tree!));
};

const gaussianHandle = (state: MapState, mark: Mark, coordinate: Coordinate, edge: "x" | "y") => {
    const { input, label, unit } = coordinate;
    const before = gaussianReach(state, mark, coordinate);
    const pixels = state.plane.scale[edge === "x" ? 0 : 1];
    return {
        radius: before * pixels,
        text: `${mark.name} reaches ${round(before, span(input))}${unit} along ${label}`,
        label: `set the falloff of ${mark.name}`,
        resetLabel: `default falloff of ${mark.name}`,
        change: (dx: number, dy: number): Change => {
            const by = (edge === "x" ? dx : -dy) / pixels;
            const most = input.kind === "scalar" ? Infinity : 180;
            const value = Math.min(Math.max(before + by, 0.01 * span(input)), most);
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

const cardinalHandle = (state: MapState, coordinate: Coordinate, edge: "x" | "y", next: number) => {
    const { app, tree } = state;
    const now = settingsOf(tree!.weigh).radius;
    const pixels = state.plane.scale[edge === "x" ? 0 : 1];
    const radius = toUnit(tree!, coordinate.input, next * now) * pixels;
    return {
        radius,
        text: `kernels reach ${round(now, 1)} × the distance to the next point`,
        label: "set the radius of the kernels",
        resetLabel: "default radius of the kernels",
        change: (dx: number, dy: number): Change => {
            const by = edge === "x" ? dx : -dy;
            return setRadius(app.selection.layer, round(Math.min(Math.max((now * (radius + by)) / radius, 0.1), 10), 1));
        },
        reset: setRadius(app.selection.layer, null),
    };
};

// ---- both ----

export const reachOf = (state: MapState): Reach | null => {
    const mark = state.selectedMark;
    const { layer, tree, plane } = state;
    if (!mark || mark.kind !== "example" || mark.muted || !layer || !tree) return null;
    const { kind, kernel } = settingsOf(tree.weigh);
    const shown = [[state.x!, "x"], [state.y, "y"]].filter(([c]) => c !== null) as [Coordinate, "x" | "y"][];
    let parts: ReturnType<typeof gaussianHandle>[];
    if (kind === "gaussian") {
        if (tree.examples[mark.index]?.["metric"] ?? tree.weigh?.["metric"]) return null;
        parts = shown.map(([c, edge]) => gaussianHandle(state, mark, c, edge));
    } else if (kind === "cardinal" && RADIAL.has(kernel)) {
        const points = pointsOf(layer);
        const k = layer.examples.find((example) => example.name === mark.name)?.index;
        const next = k === undefined ? Infinity : nearest(layer, points, k);
        if (!Number.isFinite(next)) return null;
        parts = shown.map(([c, edge]) => cardinalHandle(state, c, edge, next));
    } else return null;
    const [x, y] = plane.toPixel(mark.x, mark.y);
    const { left, top, width } = plane.box;
    // A handle beyond the edge waits at it.
    const handles = parts.map(({ radius, ...rest }, i): Handle => ({
        ...rest,
        x: i === 0 ? Math.min(x + radius, Math.max(left + width - 6, x + 16)) : x,
        y: i === 1 ? Math.max(y - radius, Math.min(top + 6, y - 16)) : y,
    }));
    return { x, y, rx: parts[0]!.radius, ry: parts[1]?.radius ?? 0, handles };
};

export const handleAt = (reach: Reach | null, [px, py]: readonly [number, number]): Handle | null =>
    reach?.handles.find(({ x, y }) => Math.hypot(x - px, y - py) <= 8) ?? null;
