// A rig on the stage: the rig that was built, the tree that it was built from, a pose, and the surface that they give.
// It follows another tree as far as that only moves points in spaces; what else differs needs a new rig.
import type { Layer, Mesh, Pose, Rig, Surface } from "@exemplar/runtime";
import { rotationOf, numbersOf, type Place, type Project, type ProjectExample } from "./project";
import { followSpace, isSameForms } from "./space";

export class Stage {
    readonly pose: Pose;
    readonly surface: Surface;
    readonly mesh: Mesh;
    /** What the layers show now; where it is the same object, nothing is to do. */
    #shown: (Project["layers"][number] | null)[];

    constructor(
        readonly rig: Rig,
        /** What the rig was built from. */
        readonly built: Project,
        from?: Stage,
    ) {
        this.pose = rig.pose();
        if (from) this.#takePose(from);
        this.surface = rig.surface({ textures: rig.textures.length > 0, state: true });
        this.mesh = rig.mesh(this.surface.level);
        this.#shown = built.layers.map((layer) => layer);
    }

    // By names: the new rig may have other inputs and joints.
    #takePose(from: Stage): void {
        for (const joint of this.rig.joints) {
            const old = from.rig.joints.find((j) => j.name === joint.name);
            if (old) this.pose.turnJoint(joint.index, from.pose.jointFromRest(old.index));
        }
        for (const input of this.rig.inputs) {
            const old = from.rig.inputs.find((i) => i.name === input.name && i.kind === input.kind);
            if (old && input.kind !== "driver") this.pose.set(input.index, from.pose.get(old.index));
        }
        if (this.pose.driver.length === from.pose.driver.length) this.pose.driver.set(from.pose.driver);
    }

    /** The rig's layer of that name, or null: it is not in this rig yet. */
    layer(name: string | undefined): Layer | null {
        return this.rig.layers.find((layer) => layer.name === name) ?? null;
    }

    /** The rig's layer that a layer of a tree is: by its name, or where it was renamed since, by its place. */
    layerOf(tree: Project, index: number): Layer | null {
        const name = tree.layers[index]?.name;
        const { layers } = this.built;
        if (layers.some((layer) => layer.name === name)) return this.layer(name);
        return layers.length === tree.layers.length ? this.layer(layers[index]?.name) : null;
    }

    /** Shows the tree as far as that needs no new rig; whether that is all of it. Throws the library's sentence where a
     * space cannot be solved; that layer is then as it was built. */
    follow(tree: Project): boolean {
        let whole = tree.layers.length === this.built.layers.length;
        let failure: unknown = null;
        tree.layers.forEach((wanted, i) => {
            if (this.#shown[i] === wanted) return;
            const built = this.built.layers[i];
            const layer = this.layer(built?.name);
            if (!built || !layer || !isSameForms({ ...built, name: wanted.name }, wanted)) {
                whole = false;
                return;
            }
            try {
                followSpace(layer, built, wanted);
                this.#shown[i] = wanted;
            } catch (error) {
                layer.reset();
                this.#shown[i] = null;
                failure = error;
            }
        });
        if (failure) throw failure;
        return whole;
    }

    evaluate(): void {
        this.surface.evaluate(this.pose);
    }

    /** Writes what a place names into a pose: axes of the rig that it does not name are left alone. */
    setPlace(pose: Pose, place: Place | undefined): void {
        for (const [name, value] of Object.entries(place ?? {})) {
            const input = this.rig.inputs.find((i) => i.name === name);
            if (input && input.kind !== "driver") pose.set(input.index, numbersOf(input, value));
        }
    }

    /** Brings a pose to the whole pose of an example. */
    setExample(pose: Pose, layerName: string, example: ProjectExample): void {
        pose.rest();
        for (const [name, value] of Object.entries(example.joints ?? {})) {
            const joint = this.rig.joints.find((j) => j.name === name);
            if (joint) pose.turnJoint(joint.index, rotationOf(value));
        }
        this.setPlace(pose, example.at);
        const layer = this.layer(layerName);
        const k = layer?.examples.find((e) => e.name === example.name)?.index;
        if (!layer || k === undefined) return;
        if (!layer.kind.hasPoints) {
            const input = layer.inputs[k];
            if (input && input.kind !== "driver") pose.set(input.index, 1);
        }
        const form = layer.driverForm(k);
        if (form) pose.driver.set(form);
        const joints = form ? layer.exampleJoints(k) : null;
        if (joints) pose.joints.set(joints);
    }

    /** A twin over the same forms, with a space of its own. */
    twin(): Stage {
        const twin = new Stage(this.rig.twin(), this.built);
        twin.pose.copy(this.pose);
        return twin;
    }

    dispose(): void {
        this.rig.dispose();
    }
}
