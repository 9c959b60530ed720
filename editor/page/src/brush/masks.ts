// Painted values become the layer's mask, or a group of faces.
import type { App } from "../core/app";
import { setLayer, type Project } from "../core/project";
import { fileName } from "./insert";

/** The reason why the selected layer takes no painted mask; null if it takes one. */
export const maskRefusal = (app: App): string | null => {
    const { layer } = app;
    if (!layer) return "There is no layer to mask.";
    if (layer.shape === "pixels") return `Layer '${layer.name}' blends pixels and has no mask.`;
    if (layer.shape === "displacement")
        return `The mask of layer '${layer.name}' is a file for the refined surface, and brushes paint on the cage.`;
    return null;
};

/** The values to start painting from: the layer's mask, or 1 everywhere if it has none. */
export const maskOf = async (app: App, count: number): Promise<Float32Array> => {
    const tree = app.history.tree;
    const index = app.selection.layer;
    const isPlain = !tree.layers[index]?.mask || maskRefusal(app) !== null;
    const values = isPlain ? null : await app.server!.mask(JSON.stringify(tree), index);
    return values?.length === count ? values : new Float32Array(count).fill(1);
};

const isKept = async (app: App, has: (tree: Project) => boolean): Promise<boolean> => {
    await app.build();
    return has(app.tree) && app.stage.built === app.tree;
};

/** Writes the values to a file and sets it as the layer's mask. Returns true on success. */
export const useAsMask = async (app: App, values: Float32Array): Promise<boolean> => {
    const index = app.selection.layer;
    const name = app.tree.layers[index].name;
    const path = await app.server!.addMask(`${fileName(name)}-mask`, values);
    if (app.history.tree.layers[index]?.name !== name) throw new Error(`Layer '${name}' was moved or deleted meanwhile.`);
    app.edit(`mask of '${name}'`, (tree) => setLayer(tree, index, (layer) => ({ ...layer, mask: { file: path } })));
    return isKept(app, (tree) => tree.layers[index]?.mask?.file === path);
};

/** Vertices inside a painted group. */
export const insideOf = (values: Float32Array): Uint8Array => Uint8Array.from(values, (value) => (value > 0.5 ? 1 : 0));

/** Writes a copy of the mesh with the painted faces as a group, and makes it the project's mesh. Returns true on
 * success. */
export const saveAsGroup = async (app: App, name: string, values: Float32Array): Promise<boolean> => {
    const before = app.tree.mesh;
    const path = await app.server!.addGroup(name, before, insideOf(values));
    // An example that names the mesh itself, where trajectories start, must keep naming the same file.
    app.edit(`group '${name}'`, (tree) => ({
        ...tree,
        mesh: path,
        layers: tree.layers.map((layer) => !layer.examples.some((e) => e["reference"] && e.mesh === before) ? layer : {
            ...layer,
            examples: layer.examples.map((e) => (e["reference"] && e.mesh === before ? { ...e, mesh: path } : e)),
        }),
    }));
    return isKept(app, (tree) => tree.mesh === path);
};
