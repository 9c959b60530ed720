// The project that a rig could have been built from, as far as a page without a server needs it: layers, axes, places.
import type { Input, Layer, Rig } from "@exemplar/runtime";
import { type Axis, type Place, type Project, type ProjectLayer, type ProjectPseudo, type Weigh } from "./project";

const SHAPES = { form: "positions", offsets: "offsets", trajectory: "trajectory", displacement: "displacement",
    pixels: "pixels" } as const;

/** Whether a number turns its joint, rather than moving or stretching it: the rig does not say, a pose does. */
const isAngle = (rig: Rig, input: Input): boolean => {
    if (input.joint < 0) return false;
    const pose = rig.pose();
    const far = Math.abs(input.max) > Math.abs(input.min) ? input.max : input.min;
    pose.set(input.index, (input.rest as number) === far ? (input.min + input.max) / 2 : far);
    const turned = Math.abs(pose.jointFromRest(input.joint)[3]!) < 1 - 1e-9;
    pose.dispose();
    return turned;
};

const axisOf = (rig: Rig, input: Input): Axis => {
    const joint = input.joint >= 0 ? { joint: rig.joints[input.joint]!.name } : {};
    const unit = input.unit ? { unit: input.unit } : {};
    if (input.kind === "driver") return { name: input.name, driver: true };
    if (input.kind === "scalar") return { name: input.name, ...joint, min: input.min, max: input.max, ...unit,
            ...(isAngle(rig, input) ? { angle: "" } : {}) };
    return { name: input.name, ...joint, rotation: input.kind === "rotation" ? "full" : input.kind };
};

const placeOf = (layer: Layer, point: ArrayLike<number>): Place => {
    const place: Place = {};
    let first = 0;
    for (const input of layer.inputs) {
        const numbers = Array.from({ length: input.width }, (_, i) => point[first + i]!);
        // As they are, so that a tree that nobody changed changes nothing.
        if (input.kind !== "driver") place[input.name] = input.kind === "scalar" ? numbers[0]! : numbers;
        first += input.width;
    }
    return place;
};

const layerOf = (rig: Rig, layer: Layer): ProjectLayer => {
    const { kind, neighbours, ...rest } = layer.settings;
    const weigh: Weigh = { kind, ...rest, k: neighbours };
    const places = layer.weigher !== "direct" && layer.weigher !== "convex";
    const pseudo = Array.from({ length: places ? layer.pseudoCount : 0 }, (_, i): ProjectPseudo => {
        const { at, from, weights } = layer.pseudo(i);
        const place = { at: placeOf(layer, at) };
        if (from) return { ...place, from: placeOf(layer, from) };
        const named = layer.examples.map((example, k) => [example.name, weights?.[k] ?? 0] as const);
        const kept = Object.fromEntries(named.filter(([, weight]) => weight !== 0));
        // The one that a layer has of itself where it does nothing at rest.
        return { ...place, ...(Object.keys(kept).length ? {} : { name: "nothing at rest" }), weights: kept };
    });
    return {
        name: layer.name,
        shape: SHAPES[layer.domain],
        space: layer.inputs.map((input) => axisOf(rig, input)),
        weigh,
        examples: layer.examples.map((example) => {
            const point = places ? layer.examplePoint(example.index) : null;
            return point ? { name: example.name, at: placeOf(layer, point) } : { name: example.name };
        }),
        ...(pseudo.length ? { pseudo } : {}),
        ...(layer.muted ? { muted: true } : {}),
    };
};

export const treeOf = (rig: Rig): Project => ({
    exemplar: 1,
    mesh: "",
    layers: rig.layers.map((layer) => layerOf(rig, layer)),
});
