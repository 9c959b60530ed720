// Settings of weighers in trees: which kinds and keys a layer may have, and changing them. What there is of them stands
// in the runtime's table (core/weighers.ts).
import type { Weigher } from "@exemplar/runtime";
import { setLayer, type Project, type ProjectLayer, type Weigh } from "../core/project";
import { allWeighers, weigherOf } from "../core/weighers";

/** Kinds that the layer can have: others would ask for points, or for a driver. */
export const kindsFor = (layer: ProjectLayer): readonly Weigher[] => {
    const now = weigherOf(layer.weigh);
    if (!now.hasPoints || now.isDriven) return [now];
    const isMoved = layer["participation"] === "moved";
    return allWeighers().filter((kind) => kind.hasPoints && !kind.isDriven && (kind.hasSets || !isMoved));
};

/** Keys that are no parameters. */
const REACH = ["falloff", "metric"];
const DRIVER = ["driver_weights", "one_region", "regions"];

export const withKey = (weigh: Weigh, key: string, value: unknown): Weigh => {
    if (value !== undefined) return { ...weigh, [key]: value };
    const { [key]: _, ...rest } = weigh;
    return rest;
};

/** The same settings for another kind: what that has no use for is left out. */
export const withKind = (weigh: Weigh, kind: string): Weigh => {
    const { parameters, hasFalloffs, isDriven } = weigherOf({ kind });
    const known = [...parameters.map(({ name }) => name), ...(hasFalloffs ? REACH : []), ...(isDriven ? DRIVER : [])];
    const kept = Object.entries(weigh).filter(([key]) => known.includes(key));
    return { kind, ...Object.fromEntries(kept) };
};

const withoutReach = <T extends object>(point: T): T => {
    if (!("falloff" in point) && !("metric" in point)) return point;
    const { falloff: _, metric: __, ...rest } = point as T & { falloff?: unknown; metric?: unknown };
    return rest as T;
};

/** A layer weighed so. Points have reaches of their own only where the kind has falloffs. */
export const weighed = (tree: Project, index: number, weigh: Weigh): Project =>
    setLayer(tree, index, (layer) => {
        const changed = { ...layer, weigh };
        if (weigherOf(weigh).hasFalloffs) return changed;
        if (layer.examples.some((e) => withoutReach(e) !== e)) changed.examples = layer.examples.map(withoutReach);
        if (layer.pseudo?.some((p) => withoutReach(p) !== p)) changed.pseudo = layer.pseudo.map(withoutReach);
        return changed;
    });
