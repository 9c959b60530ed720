// Forms in a layer below other layers. The build measures each later example from the result of the earlier layers at
// its pose. So a new form in an early layer changes what later layers add, even at its own place. The relation is
// affine: at the pose, result = A + slope · form for each vertex. The slope follows from the weights alone, and A from
// a rig that already has any form at that place.
import type { Layer, Pose } from "@exemplar/runtime";
import { type Project, type ProjectLayer } from "../core/project";
import type { Stage } from "../core/stage";
import { weigherOf } from "../core/weighers";

const counts = (layer: ProjectLayer): boolean =>
    !layer.muted && layer.shape !== "pixels" && layer.shape !== "displacement" && !weigherOf(layer.weigh).isDriven;

/** The layers after this one with forms measured from its result. */
export const laterThan = (tree: Project, index: number): ProjectLayer[] => tree.layers.slice(index + 1).filter(counts);

const weightsAt = (layer: Layer, pose: Pose): ArrayLike<number> => {
    if (!layer.kind.hasPoints) return layer.inputs.map((input) => Number(pose.get(input.index)));
    return layer.weights(layer.inputs.flatMap((input) => pose.get(input.index)));
};

/** The change of the form at a pose per change of an example's form, after all later layers are measured again. */
export const slopeAt = (stage: Stage, tree: Project, index: number, example: string, pose: Pose): number => {
    const first = stage.layer(tree.layers[index].name)!;
    const k = first.examples.findIndex((e) => e.name === example);
    const later = laterThan(tree, index);
    const poses = later.map((layer) =>
        layer.examples.filter((e) => !e.muted).map((e) => {
            const at = stage.rig.pose();
            stage.setExample(at, layer.name, e);
            return at;
        }));
    // With the first `depth` of the later layers included.
    const slope = (depth: number, at: Pose): number => {
        if (depth === 0) return weightsAt(first, at)[k] ?? 0;
        const layer = stage.layer(later[depth - 1].name);
        const below = slope(depth - 1, at);
        if (!layer) return below;
        const weights = weightsAt(layer, at);
        return poses[depth - 1].reduce((sum, there, i) => weights[i] ? sum - weights[i] * slope(depth - 1, there) : sum, below);
    };
    const found = slope(later.length, pose);
    for (const at of poses.flat()) at.dispose();
    return found;
};
