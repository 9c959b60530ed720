// Reconstructs a project from a rig, as far as a page without a server needs it: layers, axes, places.
import type { Input, Layer, Rig } from "@exemplar/runtime";
import { offsetsOf, type Axis, type Place, type Project, type ProjectLayer, type ProjectPseudo, type Weigh } from "./project";

const SHAPES = { form: "positions", offsets: "offsets", trajectory: "trajectory", displacement: "displacement",
    pixels: "pixels" } as const;

/** True if the number turns its joint, instead of moving or stretching it. A rig need not say that its unit is
 * degrees. */
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
        // Not rounded, so that an unchanged tree changes nothing.
        if (input.kind !== "driver") place[input.name] = input.kind === "scalar" ? numbers[0]! : numbers;
        first += input.width;
    }
    return place;
};

/** A point of one layer in the axes of another; axes missing there are at rest. */
const projected = (layer: Layer, from: Layer | null, point: ArrayLike<number>): number[] =>
    layer.inputs.flatMap((input) => {
        const i = from?.inputs.findIndex(({ index }) => index === input.index) ?? -1;
        const rest = Array.isArray(input.rest) ? input.rest : [input.rest];
        const at = i < 0 ? 0 : offsetsOf(from!)[i]!;
        return i < 0 ? (input.width ? rest : []) : Array.from({ length: input.width }, (_, k) => point[at + k]!);
    });

/** Points where a layer may have been told to add nothing: at rest, and at examples of earlier layers. */
const heldPoints = (rig: Rig, layer: Layer): number[][] => [
    projected(layer, null, []),
    ...rig.layers.slice(0, layer.index).flatMap((earlier) =>
        earlier.examples.flatMap(({ index }) => {
            const point = earlier.examplePoint(index);
            return point ? [projected(layer, earlier, point)] : [];
        })),
];

/** Number of pseudo-examples that a project would list. In a layer of offsets, the build appends zeros that hold the
 * form where the layer must add nothing; the user did not place those. */
const namedPseudos = (rig: Rig, layer: Layer): number => {
    let count = layer.pseudoCount;
    if (layer.domain !== "offsets") return count;
    const held = heldPoints(rig, layer);
    const isAdded = (i: number): boolean => {
        const { at, weights } = layer.pseudo(i);
        return !!weights?.every((weight) => weight === 0) && held.some((point) => layer.distance(at, point) < 1e-5);
    };
    while (count > 0 && isAdded(count - 1)) count--;
    return count;
};

const layerOf = (rig: Rig, layer: Layer): ProjectLayer => {
    const weigh: Weigh = layer.settings;
    const places = layer.kind.hasPoints && !layer.kind.isDriven;
    const pseudo = Array.from({ length: places ? namedPseudos(rig, layer) : 0 }, (_, i): ProjectPseudo => {
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
