// Applies changes of a project's layer to the rig's weigher: which changes need no new rig, and the edits they take.
import type { Layer, LayerEdit, Limit } from "@exemplar/runtime";
import { pointOf, type Axis, type Falloff, type ProjectExample, type ProjectLayer, type ProjectPseudo } from "./project";
import { settingsOf, weigherOf } from "./weighers";

/** The examples in a rig: all that are not muted. */
export const livingExamples = (layer: ProjectLayer) => layer.examples.filter((example) => !example.muted);

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

// Without the keys that may differ, in any position: a new key comes after the others.
const formOf = ({ at: _at, joints: _joints, falloff: _falloff, ...form }: ProjectExample) => form;
const axisOf = ({ limit: _limit, ...axis }: Axis) => axis;
const restOf = ({ weigh: _weigh, pseudo: _pseudo, muted: _muted, examples: _examples, space, ...rest }: ProjectLayer) =>
    ({ ...rest, space: space.map(axisOf) });

/** True if edits of the weigher are enough to show `wanted` with a rig of `built`. Most examples of two trees are
 * the same objects, so this is quick even for a thousand. */
export const isSameForms = (built: ProjectLayer, wanted: ProjectLayer): boolean => {
    const [before, after] = [livingExamples(built), livingExamples(wanted)];
    return (
        before.length === after.length &&
        before.every((example, k) => example === after[k] || same(formOf(example), formOf(after[k]!))) &&
        same(restOf(built), restOf(wanted))
    );
};

/** A falloff as the weigher takes it: distances of the space, one per axis; 0 for the default. */
export const falloffOf = (layer: Layer, space: ProjectLayer["space"], falloff: Falloff | undefined): number[] =>
    layer.inputs.map((input, i) => {
        if (falloff === undefined || falloff === "auto") return 0;
        if (typeof falloff === "number") return falloff;
        if (Array.isArray(falloff)) return falloff[i] ?? 0;
        const value = falloff[input.name];
        if (value === undefined) return 0;
        const scale = space.find((axis) => axis.name === input.name)?.scale;
        if (input.kind === "scalar") return value * (scale ?? 1 / (input.max - input.min));
        return 2 * Math.sin((value * Math.PI) / 360) * (scale ?? 0.5);
    });

const placeOf = (layer: Layer, examples: readonly { name: string }[], pseudo: ProjectPseudo) => ({
    at: pointOf(layer, pseudo.at),
    ...(pseudo.from
        ? { from: pointOf(layer, pseudo.from) }
        : { weights: examples.map((example) => pseudo.weights?.[example.name] ?? 0) }),
});

const limitsOf = (layer: Layer, space: readonly Axis[]): Limit[] =>
    layer.inputs.map((input) => space.find((axis) => axis.name === input.name)?.limit ?? "kind");

/** Edits a layer of a rig built from `built` so that it matches `wanted`. If that fails, throws the library's error
 * and leaves the layer as built. */
export const followSpace = (layer: Layer, built: ProjectLayer, wanted: ProjectLayer): void => {
    layer.reset();
    layer.muted = wanted.muted ?? false;
    if (!layer.kind.hasPoints || layer.kind.isDriven) return;
    const limits = limitsOf(layer, wanted.space);
    if (!same(limits, limitsOf(layer, built.space))) layer.setLimits(limits);
    const settings = settingsOf(wanted.weigh);
    if (!same(settings, settingsOf(built.weigh))) layer.set(settings);

    const edits: LayerEdit[] = [];
    const before = livingExamples(built);
    const examples = livingExamples(wanted);
    examples.forEach((example, k) => {
        if (example !== before[k] && !same(example.at, before[k]!.at)) edits.push({ move: k, at: pointOf(layer, example.at) });
    });
    const old = built.pseudo ?? [];
    const pseudos = wanted.pseudo ?? [];
    for (let i = old.length; i-- > pseudos.length; ) edits.push({ removePseudo: i });
    pseudos.forEach((pseudo, i) => {
        const place = placeOf(layer, examples, pseudo);
        if (i >= old.length) edits.push({ addPseudo: place });
        else if (!same(pseudo, old[i])) edits.push({ movePseudo: i, ...place });
    });
    if (weigherOf(wanted.weigh).hasFalloffs)
        examples.forEach((example, k) => {
            if (example === before[k] && wanted.weigh === built.weigh) return;
            const now = example.falloff ?? wanted.weigh?.falloff;
            if (!same(now, before[k]!.falloff ?? built.weigh?.falloff))
                edits.push({ falloff: k, value: falloffOf(layer, wanted.space, now) });
        });
    if (edits.length) layer.edit(edits);
};
