// Short descriptions of places and parts of a project, for lists.
import type { Input } from "@exemplar/runtime";
import { turnWords } from "../core/angles";
import { showNumber } from "../core/dom";
import { rotationOf, type Axis, type Place, type ProjectLayer, type Value } from "../core/project";
import { weigherOf } from "../core/weighers";

/** The rig's inputs for the layer's axes. Without them a rotation is written in full. */
export type Inputs = readonly Input[] | null | undefined;

const WHOLE = { kind: "rotation", about: null } as const;

const value = (axis: Axis, v: Value, inputs: Inputs): string => {
    if (typeof v === "string") return v.replace(/^.*\//, "");
    if (axis.rotation || typeof v !== "number")
        return turnWords(inputs?.find((input) => input.name === axis.name) ?? WHOLE, rotationOf(v));
    return showNumber(v, (axis.max ?? 1) - (axis.min ?? 0));
};

/** "bend 0.5, thickness 1": the layer's own axes, missing ones at rest. */
export const placeWords = (layer: ProjectLayer, place: Place | undefined, inputs?: Inputs): string =>
    layer.space
        .filter((axis) => place?.[axis.name] !== undefined)
        .map((axis) => `${axis.name} ${value(axis, place![axis.name]!, inputs)}`)
        .join(", ") || "at rest";

// The library's default if the project gives no rest value.
const restOf = (axis: Axis): Value => {
    if (axis.rest !== undefined) return axis.rest;
    if (axis.rotation) return [0, 0, 0, 1];
    if (axis["stretch"] !== undefined) return 1;
    return Math.min(Math.max(0, axis.min ?? 0), axis.max ?? 0);
};

const FEW = 3;
/** True if the values alone say enough, as the names of the axes are above the list. */
export const isShort = (layer: ProjectLayer): boolean => layer.space.length <= FEW && weigherOf(layer.weigh).hasPoints;
/** "0.5 · 1" if the layer has few axes, else like placeWords. */
export const shortPlace = (layer: ProjectLayer, place: Place | undefined, inputs?: Inputs): string =>
    isShort(layer)
        ? layer.space.map((axis) => value(axis, place?.[axis.name] ?? restOf(axis), inputs)).join(" · ")
        : placeWords(layer, place, inputs);

const SHAPES: { [shape: string]: string } = {
    positions: "positions",
    unposed: "un-posed",
    offsets: "offsets",
    trajectory: "trajectories",
    displacement: "displacements",
    pixels: "pixels",
};
export const shapeWords = (layer: ProjectLayer): string => SHAPES[layer.shape ?? "positions"] ?? "positions";
