// A draft of a project whose trajectories take long to find: its layers of trajectories follow straight lines. It has the
// same layers, axes and examples, so that everything can be used and posed until the real rig is there.
import type { Project, ProjectExample, ProjectLayer } from "./project";

const isSlow = (layer: ProjectLayer): boolean => layer.shape === "trajectory" && !layer.space.some((axis) => axis.driver);

const straight = (tree: Project, layer: ProjectLayer): ProjectLayer => {
    if (!isSlow(layer)) return layer;
    const { trajectory: _, ...rest } = layer;
    const examples = layer.examples.map((example): ProjectExample => {
        const { reference, ...other } = example;
        return reference ? { mesh: tree.mesh, ...other } : example;
    });
    return { ...rest, shape: "positions", examples };
};

/** The draft, or null if the project needs none. */
export const draftOf = (tree: Project): Project | null =>
    tree.layers.some(isSlow) ? { ...tree, layers: tree.layers.map((layer) => straight(tree, layer)) } : null;
