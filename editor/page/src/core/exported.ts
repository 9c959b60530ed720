// The project that a rig could have been built from, as far as a page without a server needs it: layers, axes, places.
import type { Input, Layer, Rig } from "@exemplar/runtime";
import { type Axis, type Place, type Project, type ProjectLayer, type ProjectPseudo, type Weigh } from "./project";

const SHAPES = { form: "positions", offsets: "offsets", trajectory: "trajectory", displacement: "displacement",
    pixels: "pixels" } as const;

/** Whether a number turns its joint, instead of moving or stretching it: files need not say that its unit are degrees. */
const isAngle = (rig: Rig, input: Input): boolean => {
    if (input.kind !== "scalar" || input.joint < 0) return false;
    const pose = rig.pose();
    const rest = input.rest as number;
    pose.set(input.index, Math.abs(input.max - rest) > Math.abs(input.min - rest) ? input.max : input.min);
    const turn = pose.jointFromRest(input.joint);
    pose.dispose();
    return Math.hypot(turn[0]!, turn[1]!, turn[2]!) > 1e-6;
};

const axisOf = (rig: Rig, input: Input): Axis => {
    const about = isAngle(rig, input) ? { angle: [...(input.about ?? [])] } : {};
    const joint = input.joint >= 0 ? { joint: rig.joints[input.joint]!.name, ...about } : {};
    const unit = input.unit ? { unit: input.unit } : {};
    if (input.kind === "driver") return { name: input.name, driver: true };
    if (input.kind === "scalar") return { name: input.name, ...joint, min: input.min, max: input.max, ...unit };
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

/** How many pseudo-examples a project would name. Those at which no example counts and that stand last in a layer of
 * offsets came by themselves: they hold the form where the layer must add nothing. */
const namedPseudos = (layer: Layer): number => {
    let count = layer.pseudoCount;
    const isZero = (i: number): boolean => layer.pseudo(i).weights?.every((weight) => weight === 0) ?? false;
    while (layer.domain === "offsets" && count > 0 && isZero(count - 1)) count--;
    return count;
};

const layerOf = (rig: Rig, layer: Layer): ProjectLayer => {
    const { kind, neighbours, ...rest } = layer.settings;
    const weigh: Weigh = { kind, ...rest, k: neighbours };
    const places = layer.weigher !== "direct" && layer.weigher !== "convex";
    const pseudo = Array.from({ length: places ? namedPseudos(layer) : 0 }, (_, i): ProjectPseudo => {
        const { at, from, weights } = layer.pseudo(i);
        const place = { at: placeOf(layer, at) };
        if (from) return { ...place, from: placeOf(layer, from) };
        const named = layer.examples.map((example, k) => [example.name, weights?.[k] ?? 0] as const);
        return { ...place, weights: Object.fromEntries(named.filter(([, weight]) => weight !== 0)) };
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
