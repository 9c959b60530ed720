// Adds a layer to the project. Every layer needs an example, so a new layer of forms starts with the form at rest. That
// adds nothing: the result stays the same until you add more examples.
import type { App } from "../core/app";
import type { Axis, Place, Project, ProjectExample, ProjectLayer } from "../core/project";
import { isPosed } from "../core/present";
import { stemOf } from "../core/words";

export const TEXTURES = ["base_color", "normal", "metallic_roughness", "occlusion", "emissive"] as const;

export interface NewLayer {
    name: string;
    shape: "positions" | "unposed" | "offsets" | "trajectory" | "pixels";
    texture: string;
    space: Axis[];
    file: File | null;
}

const NEAR = 1e-6; // metres

// Axes left out are at rest; naming them makes the file clearer. If a joint's rest value is outside the range, the axis
// is left out: its value could not describe the joint at rest, and the form would be un-posed from a wrong pose.
const restPlace = (space: readonly Axis[]): Place =>
    Object.fromEntries(
        space.flatMap((axis) => {
            if (axis.rotation) return [[axis.name, axis.rest ?? [0, 0, 0, 1]]];
            const zero = axis["stretch"] === undefined ? 0 : 1;
            const inside = Math.min(Math.max(zero, axis.min ?? zero), axis.max ?? zero);
            return axis["joint"] !== undefined && inside !== zero ? [] : [[axis.name, axis.rest ?? inside]];
        }),
    );

/** The form of the whole rig at rest, as a file: the mesh itself if it is the same. Many skeletons rest in another
 * pose than the one the mesh was bound in. If the build un-poses the form, it must be the visible one, else the one
 * before skinning. */
const restForm = async (app: App, { name, shape }: NewLayer): Promise<string> => {
    const { rig } = app.stage;
    const unskinned = !(rig.skinning && isPosed({ shape }));
    const pose = rig.pose();
    const surface = rig.surface({ level: 0, split: false, normals: false });
    try {
        const mesh = rig.restPositions(); // first: its allocation may move the form
        const form = surface.evaluate(pose, { unskinned, unsettled: true }).positions;
        if (form.every((x, i) => Math.abs(x - mesh[i]!) < NEAR)) return app.tree.mesh;
        return await app.server!.addForm(`${name}-rest`, app.tree.mesh, form.slice(), app.tree.unit, app.tree.up);
    } finally {
        surface.dispose();
        pose.dispose();
    }
};

const examplesOf = async (app: App, layer: NewLayer): Promise<ProjectExample[]> => {
    const rest = restPlace(layer.space);
    if (layer.shape !== "pixels" && layer.shape !== "trajectory")
        return [{ name: "rest", mesh: await restForm(app, layer), at: rest }];
    const path = await app.server!.addFile(layer.file!.name, layer.file!);
    const name = stemOf(layer.file!.name);
    if (layer.shape === "pixels") return [{ name, image: path, at: rest }];
    const first = layer.space.find((axis) => !axis.rotation);
    const end: Place = first ? { ...rest, [first.name]: first.max ?? 1 } : { ...rest, [layer.space[0]!.name]: { x: 90 } };
    return [
        { name: name === "rest" ? "reference" : "rest", reference: true, at: rest },
        { name, mesh: path, at: end },
    ];
};

/** Adds the layer at the end, in one step, and selects it. */
export const addLayer = async (app: App, wanted: NewLayer): Promise<void> => {
    await app.build();
    const examples = await examplesOf(app, wanted);
    const layer: ProjectLayer = {
        name: wanted.name,
        space: wanted.space,
        // Like 'exemplar example add': no form rings where it was not sculpted.
        weigh: { kind: "calm" as const },
        shape: wanted.shape,
        ...(wanted.shape === "pixels" ? { texture: wanted.texture } : {}),
        examples,
    };
    const add = (tree: Project): Project => ({ ...tree, layers: [...tree.layers, layer] });
    app.edit(`added layer '${layer.name}'`, add);
    app.select({ layer: app.tree.layers.length - 1, example: null, pseudo: null });
    app.say(`Layer '${layer.name}' was added. Set a pose, then drop a form on the page to add an example there.`);
};
