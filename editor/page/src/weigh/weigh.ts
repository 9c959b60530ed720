// Settings of weighers: which a kind has, what they mean in plain words, and trees in which they are changed.
import type { WeigherKind } from "@exemplar/runtime";
import { setLayer, type Project, type ProjectLayer, type Weigh } from "../core/project";

export const KINDS: { [kind in WeigherKind]: { name: string; help: string; keys: (keyof Weigh)[] } } = {
    cardinal: {
        name: "cardinal",
        help: "Exact at the examples, smooth between them, and goes on beyond them.",
        keys: ["kernel", "linear", "radius", "ridge"],
    },
    gaussian: {
        name: "gaussian",
        help: "Exact at the examples; each reaches only so far, and far away nothing is left of it.",
        keys: ["falloff", "metric", "ridge"],
    },
    shepard: {
        name: "shepard",
        help: "Weights never leave 0 to 1. Forms rest a little at each example.",
        keys: ["power"],
    },
    nearest: {
        name: "nearest",
        help: "Only the nearest examples count. For many examples.",
        keys: ["k", "form"],
    },
    convex: {
        name: "convex",
        help: "The nearest blend of the driver's forms. Weights never leave 0 to 1.",
        keys: ["ridge", "driver_weights", "one_region", "regions"],
    },
    direct: { name: "direct", help: "Each axis is the weight of its example.", keys: [] },
};

/** Kinds that the layer can have. */
export const kindsFor = (layer: ProjectLayer): WeigherKind[] => {
    const kind = layer.weigh?.kind ?? "cardinal";
    if (kind === "direct" || kind === "convex") return [kind];
    return layer["participation"] === "moved" ? ["gaussian"] : ["cardinal", "gaussian", "shepard", "nearest"];
};

export const KERNELS: readonly (readonly [name: string, help: string])[] = [
    ["bspline", "acts near the examples only; the one to start with"],
    ["gaussian", "a bell: soft, without an end"],
    ["wendland", "acts near the examples only, smoother than bspline"],
    ["inverse_multiquadric", "wide and soft"],
    ["thin_plate", "bends like a thin plate through the examples"],
    ["biharmonic", "tight: straight between examples where it can be"],
    ["triharmonic", "the smoothest through many examples"],
    ["multiquadric", "between tight and smooth"],
];

export const withKey = <K extends keyof Weigh>(weigh: Weigh, key: K, value: Weigh[K] | undefined): Weigh => {
    if (value !== undefined) return { ...weigh, [key]: value };
    const { [key]: _, ...rest } = weigh;
    return rest;
};

/** The same settings for another kind: what that has no use for is left out. */
export const withKind = (weigh: Weigh, kind: WeigherKind): Weigh => {
    const kept = Object.entries(weigh).filter(([key]) => key !== "kind" && KINDS[kind].keys.includes(key));
    return { kind, ...Object.fromEntries(kept) };
};

const withoutReach = <T extends object>(point: T): T => {
    if (!("falloff" in point) && !("metric" in point)) return point;
    const { falloff: _, metric: __, ...rest } = point as T & { falloff?: unknown; metric?: unknown };
    return rest as T;
};

/** A layer weighed so. Only a gaussian layer's points have reaches of their own. */
export const weighed = (tree: Project, index: number, weigh: Weigh): Project =>
    setLayer(tree, index, (layer) => {
        const changed = { ...layer, weigh };
        if ((weigh.kind ?? "cardinal") === "gaussian") return changed;
        if (layer.examples.some((e) => withoutReach(e) !== e)) changed.examples = layer.examples.map(withoutReach);
        if (layer.pseudo?.some((p) => withoutReach(p) !== p)) changed.pseudo = layer.pseudo.map(withoutReach);
        return changed;
    });
