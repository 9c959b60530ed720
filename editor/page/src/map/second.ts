// The second crosshair, as in figure 10 of "Shape by Example": form and texture are placed separately. A layer of
// pixels that has "skin.age" where the forms have "age" has its own value of it. The map of each layer shows the
// other's place.
import type { Input, Layer } from "@exemplar/runtime";
import type { App } from "../core/app";
import type { Coordinate } from "./axes";
import type { MapState } from "./state";

export interface Second {
    /** Name of the other layer. */
    readonly name: string;
    readonly x: number;
    readonly y: number;
    /** The inputs that dragging it changes; null along an edge where it follows the pose. */
    readonly inputs: readonly [Input | null, Input | null];
}

const last = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

const twinOf = (layer: Layer, coordinate: Coordinate | null): Input | null => {
    if (!coordinate || coordinate.input.kind !== "scalar") return null;
    const { name } = coordinate.input;
    if (layer.inputs.some((input) => input.name === name)) return null;
    return layer.inputs.find((input) => input.kind === "scalar" && last(input.name) === last(name)) ?? null;
};

export const secondOf = (app: App, state: MapState): Second | null => {
    const { layer: own, x, y, pose } = state;
    if (!own || !x) return null;
    for (const layer of app.stage.rig.layers) {
        if (layer.index === own.index || (layer.domain === "pixels") === (own.domain === "pixels")) continue;
        const inputs = [twinOf(layer, x), twinOf(layer, y)] as const;
        if (!inputs[0] && !inputs[1]) continue;
        const value = (input: Input | null, coordinate: Coordinate | null): number =>
            input ? (app.stage.pose.get(input.index) as number) : coordinate ? coordinate.read(pose) : 0.5;
        return { name: layer.name, x: value(inputs[0], x), y: value(inputs[1], y), inputs };
    }
    return null;
};
