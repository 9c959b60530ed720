// Settings of weighers: the kinds and keys that a layer may have, and changes to them. The kinds and their parameters
// come from the runtime's table (core/weighers.ts).
import type { Weigher } from "@exemplar/runtime";
import type { ProjectLayer, Weigh } from "../core/project";
import { allWeighers, weigherOf } from "../core/weighers";

/** The kinds that suit the layer: others need points, or a driver. */
export const kindsFor = (layer: ProjectLayer): readonly Weigher[] => {
    const now = weigherOf(layer.weigh);
    if (!now.hasPoints || now.isDriven) return [now];
    const isMoved = layer["participation"] === "moved";
    return allWeighers().filter((kind) => kind.hasPoints && !kind.isDriven && (kind.hasSets || !isMoved));
};

/** Keys that are not parameters. */
const REACH = ["falloff", "metric"];
const DRIVER = ["driver_weights", "one_region", "regions", "predictor"];

export const withKey = (weigh: Weigh, key: string, value: unknown): Weigh => {
    if (value !== undefined) return { ...weigh, [key]: value };
    const { [key]: _, ...rest } = weigh;
    return rest;
};

/** The same settings for another kind, without those it does not use. */
export const withKind = (weigh: Weigh, kind: string): Weigh => {
    const { parameters, hasFalloffs, isDriven } = weigherOf({ kind });
    const known = [...parameters.map(({ name }) => name), ...(hasFalloffs ? REACH : []), ...(isDriven ? DRIVER : [])];
    const kept = Object.entries(weigh).filter(([key]) => known.includes(key));
    return { kind, ...Object.fromEntries(kept) };
};
