// Changes of layers and examples as new trees, each with a label for undo, or the reason why a change is not possible.
import { removePseudo, setExample, setLayer, setPseudo, type Project } from "../core/project";
import { livingExamples } from "../core/space";
import { weigherOf } from "../core/weighers";
import { pseudoName } from "../core/words";

export type Edit = { label: string; tree: Project } | { refused: string };

const without = <T extends object, K extends keyof T>(object: T, key: K): T => {
    const { [key]: _, ...rest } = object;
    return rest as T;
};

const setMuted = <T extends { muted?: boolean }>(object: T, muted: boolean): T =>
    muted ? { ...object, muted: true } : without(object, "muted");

// The library's rules for names of axes and layers, checked here for an immediate answer.
const badName = (name: string): string | null => {
    if (name.trim() === "") return "A name cannot be empty.";
    if (new TextEncoder().encode(name).length > 255) return "That name is too long: 255 bytes at most.";
    return null;
};

export const renameLayer = (tree: Project, layer: number, name: string): Edit => {
    const before = tree.layers[layer]!.name;
    const refused = badName(name);
    if (refused) return { refused };
    if (tree.layers.some((l, i) => i !== layer && l.name === name))
        return { refused: `Another layer is called '${name}': layers need different names.` };
    return { label: `renamed layer '${before}' to '${name}'`, tree: setLayer(tree, layer, (l) => ({ ...l, name })) };
};

// Keys keep their order.
const renameKey = <T>(object: { [key: string]: T }, before: string, after: string): { [key: string]: T } =>
    Object.fromEntries(Object.entries(object).map(([key, value]) => [key === before ? after : key, value]));

/** Also renames it in pseudo-examples that refer to it by weight. */
export const renameExample = (tree: Project, layer: number, before: string, name: string): Edit => {
    const refused = badName(name);
    if (refused) return { refused };
    if (name !== before && tree.layers[layer]!.examples.some((example) => example.name === name))
        return { refused: `Another example of this layer is called '${name}': examples need different names.` };
    const changed = setLayer(setExample(tree, layer, before, (e) => ({ ...e, name })), layer, (l) =>
        l.pseudo?.some((pseudo) => pseudo.weights && before in pseudo.weights)
            ? {
                  ...l,
                  pseudo: l.pseudo.map((pseudo) =>
                      pseudo.weights ? { ...pseudo, weights: renameKey(pseudo.weights, before, name) } : pseudo,
                  ),
              }
            : l,
    );
    return { label: `renamed '${before}' to '${name}'`, tree: changed };
};

export const renamePseudo = (tree: Project, layer: number, index: number, name: string): Edit => ({
    label: name ? `named a pseudo-example '${name}'` : "removed a pseudo-example's name",
    tree: setPseudo(tree, layer, index, (pseudo) => (name ? { ...pseudo, name } : without(pseudo, "name"))),
});

// The remaining weights keep the sum, as when the tool removes an example.
const dropWeight = (weights: { [example: string]: number }, name: string): { [example: string]: number } => {
    if (!(name in weights)) return weights;
    const rest = without(weights, name);
    const sum = Object.values(weights).reduce((a, b) => a + b, 0);
    const left = Object.values(rest).reduce((a, b) => a + b, 0);
    if (Math.abs(left) <= 1e-12 || left === sum) return rest;
    return Object.fromEntries(Object.entries(rest).map(([key, weight]) => [key, (weight * sum) / left]));
};

/** Not for the last example of a layer, which takes the layer with it. */
export const deleteExample = (tree: Project, layer: number, name: string): Edit => {
    const l = tree.layers[layer]!;
    const example = l.examples.find((e) => e.name === name)!;
    if (example["reference"])
        return { refused: `'${name}' is the reference of this layer, where all trajectories start: it cannot be deleted.` };
    if (!example.muted && livingExamples(l).length === 1)
        return { refused: `'${name}' is the only example of this layer that is not muted: unmute another one first.` };
    const k = l.examples.indexOf(example);
    const direct = !weigherOf(l.weigh).hasPoints;
    if (direct && weigherOf(l.weigh).isDriven)
        return { refused: `Layer '${l.name}' follows motion: its predictor weighs all of its examples, so none can be deleted.` };
    const changed = setLayer(tree, layer, (before) => ({
        ...before,
        // In a direct layer, each example has its own axis.
        ...(direct ? { space: before.space.filter((_, i) => i !== k) } : {}),
        examples: before.examples.filter((e) => e !== example),
        ...(before.pseudo
            ? {
                  pseudo: before.pseudo.map((pseudo) =>
                      pseudo.weights && name in pseudo.weights
                          ? { ...pseudo, weights: dropWeight(pseudo.weights, name) }
                          : pseudo,
                  ),
              }
            : {}),
    }));
    return { label: `deleted '${name}'`, tree: changed };
};

export const deletePseudo = (tree: Project, layer: number, index: number): Edit => ({
    label: `deleted '${pseudoName(tree.layers[layer]!.pseudo?.[index], index)}'`,
    tree: removePseudo(tree, layer, index),
});

export const deleteLayer = (tree: Project, layer: number): Edit => {
    if (tree.layers.length === 1) return { refused: "This is the project's only layer: it cannot be deleted." };
    const { name } = tree.layers[layer]!;
    return {
        label: `deleted layer '${name}'`,
        tree: { ...tree, layers: tree.layers.filter((_, i) => i !== layer) },
    };
};

export const muteExample = (tree: Project, layer: number, name: string): Edit => {
    const l = tree.layers[layer]!;
    const example = l.examples.find((e) => e.name === name)!;
    if (!example.muted && livingExamples(l).length === 1)
        return { refused: `'${name}' is the only example of this layer that is not muted: mute the layer instead (Shift+M).` };
    return {
        label: example.muted ? `unmuted '${name}'` : `muted '${name}'`,
        tree: setExample(tree, layer, name, (e) => setMuted(e, !e.muted)),
    };
};

export const muteLayer = (tree: Project, layer: number): Edit => {
    const { name, muted } = tree.layers[layer]!;
    return {
        label: muted ? `unmuted layer '${name}'` : `muted layer '${name}'`,
        tree: setLayer(tree, layer, (l) => setMuted(l, !l.muted)),
    };
};

/** True if this is the only active layer. */
export const isOnly = (tree: Project, layer: number): boolean =>
    tree.layers.every((l, i) => (i === layer ? !l.muted : l.muted === true));

/** Mutes layers: `muted` decides for each one. */
export const muteOthers = (tree: Project, label: string, muted: (index: number) => boolean): Edit => ({
    label,
    tree: { ...tree, layers: tree.layers.map((l, i) => (muted(i) === (l.muted ?? false) ? l : setMuted(l, muted(i)))) },
});
