// Describes what is under the pointer: the place as numbers and the largest weights there, or a finding about a mark.
import { showNumber } from "../core/dom";
import { withUnit } from "../core/words";
import type { Coordinate } from "./axes";
import { handleAt, reachOf } from "./falloff";
import { markAt } from "./gestures";
import type { MapState } from "./state";

const MOST = 3;

const number = (coordinate: Coordinate, value: number): string =>
    `${coordinate.label} ${withUnit(showNumber(value, coordinate.max - coordinate.min), coordinate.unit)}`;

/** The largest weights at a point, as "thin 0.62, thick 0.41". */
export const weightsText = (state: MapState, point: number[]): string => {
    const layer = state.layer!;
    const weights = layer.weights(point);
    return layer.examples
        .map((example, k) => [example.name, weights[k]!] as const)
        .filter(([, weight]) => Math.abs(weight) >= 0.005)
        .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]))
        .slice(0, MOST)
        .map(([name, weight]) => `${name} ${showNumber(weight, 1)}`)
        .join(", ");
};

export const placeText = (state: MapState, x: number, y: number): string =>
    state.values(x, y).map(([c, value]) => number(c, value)).join(", ");

export interface Words {
    place: string;
    weights: string;
    /** Tooltip of the canvas. */
    title: string;
}

export const wordsOf = (state: MapState): Words => {
    const { pointer, plane, pose, x, y } = state;
    const isOver = pointer !== null && plane.contains(...pointer);
    const [vx, vy] = isOver ? plane.toValue(...pointer) : [x!.read(pose), y?.read(pose) ?? 0];
    const hit = isOver && !state.busy ? markAt(state, pointer) : null;
    const handle = isOver && !hit ? handleAt(reachOf(state), pointer) : null;
    if (state.busy === "reach") {
        const held = reachOf(state)?.handles[state.handle];
        if (held) return { place: held.text, weights: "", title: "" };
    }
    const dragged = state.busy === "mark" ? state.selectedMark : null;
    if (dragged)
        return { place: `${dragged.name}: ${placeText(state, dragged.x, dragged.y)}`,
            weights: `Pose: ${weightsText(state, pose) || "no example has weight here"}`, title: "" };
    const weights = weightsText(state, state.pointAt(vx, vy)) || "no example has weight here";
    if (hit) {
        const { mark } = hit;
        const place = `${mark.name}: ${placeText(state, mark.x, mark.y)}`;
        return { place, weights: mark.finding?.text ?? weights, title: mark.finding?.text ?? "" };
    }
    if (handle) return { place: handle.text, weights: "Double click for the default.", title: "" };
    return { place: `${isOver ? "" : "Pose: "}${placeText(state, vx, vy)}`, weights, title: "" };
};

type Swatch = "above" | "below" | "reach" | "";

const weightCaption = (state: MapState): (readonly [Swatch, string])[] => {
    const { layer, chosenWeight, chosen, isGraph } = state;
    const all = isGraph ? ["", "weights of all examples"] as const : null;
    if (chosenWeight === null && chosen === "selected")
        return [all ?? ["", "Select an example to see its weight here."]];
    if (chosenWeight === null) return all ? [all] : [];
    if (chosenWeight < 0) return [...(all ? [all] : []), ["below", "a weight is negative"]];
    return [["above", `weight of ${layer!.examples[chosenWeight]!.name}`], ["below", "negative"]];
};

/** The meaning of the map's colours and lines: each text with its colour. */
export const captionOf = (state: MapState): (readonly [Swatch, string])[] => {
    const reach = reachOf(state);
    return reach ? [...weightCaption(state), ["reach", reach.caption]] : weightCaption(state);
};
