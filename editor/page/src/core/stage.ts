// A rig on the stage: the rig, the tree it was built from, a pose, and the resulting surface. It follows another tree
// as long as only points of spaces differ; anything else needs a new rig.
import type { Layer, Mesh, Pose, Rig, Surface } from "@exemplar/runtime";
import { rotationOf, numbersOf, type Place, type Project, type ProjectExample } from "./project";
import { followSpace, isSameForms } from "./space";

export class Stage {
    readonly pose: Pose;
    readonly surface: Surface;
    readonly mesh: Mesh;
    /** The layers as shown now. The same object means there is nothing to do. */
    #shown: (Project["layers"][number] | null)[];

    constructor(
        readonly rig: Rig,
        /** The tree that the rig was built from. */
        readonly built: Project,
        from?: Stage,
    ) {
        this.pose = rig.pose();
        if (from) this.#takePose(from);
        this.surface = rig.surface({ textures: rig.textures.length > 0, state: true });
        this.mesh = rig.mesh(this.surface.level);
        this.#shown = built.layers.map((layer) => layer);
    }

    // By name: the new rig may have other inputs and joints.
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

    /** The rig's layer of that name; null if the rig does not have it yet. */
    layer(name: string | undefined): Layer | null {
        return this.rig.layers.find((layer) => layer.name === name) ?? null;
    }

    /** The rig's layer for a layer of a tree: by name, or by position if it was renamed since. */
    layerOf(tree: Project, index: number): Layer | null {
        const name = tree.layers[index]?.name;
        const { layers } = this.built;
        if (layers.some((layer) => layer.name === name)) return this.layer(name);
        return layers.length === tree.layers.length ? this.layer(layers[index]?.name) : null;
    }

    /** Shows the tree as far as possible without a new rig; returns true if that is all of it. Throws the library's
     * error if a space cannot be solved, and leaves that layer as built. */
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

    /** Sets the axes that a place names; all others keep their values. */
    setPlace(pose: Pose, place: Place | undefined): void {
        for (const [name, value] of Object.entries(place ?? {})) {
            const input = this.rig.inputs.find((i) => i.name === name);
            if (input && input.kind !== "driver") pose.set(input.index, numbersOf(input, value));
        }
    }

    /** Sets a pose to the full pose of an example. */
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

    /** A stage with the same forms and its own copy of the spaces. */
    twin(): Stage {
        const twin = new Stage(this.rig.twin(), this.built);
        twin.pose.copy(this.pose);
        return twin;
    }

    dispose(): void {
        this.rig.dispose();
    }
}
