// Places and things of a project in few words, for lists.
import { showNumber } from "../core/dom";
import { rotationOf, type Axis, type Place, type ProjectLayer, type Value } from "../core/project";

const turn = (value: Value): string => {
    if (typeof value === "object" && !Array.isArray(value))
        return Object.entries(value).map(([axis, degrees]) => `${axis} ${showNumber(degrees, 100)}°`).join(" ");
    const [x, y, z, w] = rotationOf(value);
    const angle = (360 / Math.PI) * Math.atan2(Math.hypot(x, y, z), Math.abs(w));
    return `${showNumber(angle, 100)}°`;
};

const value = (axis: Axis, v: Value): string => {
    if (typeof v === "string") return v.replace(/^.*\//, "");
    if (axis.rotation || typeof v !== "number") return turn(v);
    return showNumber(v, (axis.max ?? 1) - (axis.min ?? 0));
};

/** "bend 0.5, thickness 1": along the layer's own axes, those left out being at rest. */
export const placeWords = (layer: ProjectLayer, place: Place | undefined): string =>
    layer.space
        .filter((axis) => place?.[axis.name] !== undefined)
        .map((axis) => `${axis.name} ${value(axis, place![axis.name]!)}`)
        .join(", ") || "at rest";

// As the library has it where a project says nothing.
const restOf = (axis: Axis): Value => {
    if (axis.rest !== undefined) return axis.rest;
    if (axis.rotation) return [0, 0, 0, 1];
    if (axis["stretch"] !== undefined) return 1;
    return Math.min(Math.max(0, axis.min ?? 0), axis.max ?? 0);
};

const FEW = 3;
/** Whether places are so short that their values say enough, below the names of the axes. */
export const isShort = (layer: ProjectLayer): boolean => layer.space.length <= FEW && layer.weigh?.kind !== "direct";
/** "0.5 · 1", where the layer's axes are few; else as placeWords. */
export const shortPlace = (layer: ProjectLayer, place: Place | undefined): string =>
    isShort(layer) ? layer.space.map((axis) => value(axis, place?.[axis.name] ?? restOf(axis))).join(" · ") : placeWords(layer, place);

const SHAPES: { [shape: string]: string } = {
    positions: "positions",
    unposed: "un-posed",
    offsets: "offsets",
    trajectory: "trajectories",
    displacement: "displacements",
    pixels: "pixels",
};
export const shapeWords = (layer: ProjectLayer): string => SHAPES[layer.shape ?? "positions"] ?? "positions";
