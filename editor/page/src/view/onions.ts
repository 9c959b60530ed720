// Onion skins: the two or three examples of the selected layer that are nearest to the pose, as coloured ghosts behind
// the form. Everything that the layer does not decide is as in the pose.
import { Mesh, Scene, type Color } from "three";
import type { Layer, Pose, Rig, Surface } from "@exemplar/runtime";
import type { App } from "../core/app";
import { exampleColour } from "../core/colours";
import { Form, type Faces } from "./form";
import type { Stand } from "./scene";
import { depthMaterial, onionMaterial } from "./shaders";

const MOST = 3;
const FEW = 2; // always shown, however light
const SOME = 0.03; // weight of an example that counts

interface Ghost {
    readonly pose: Pose;
    readonly surface: Surface;
    readonly form: Form;
    readonly scene: Scene;
    readonly material: ReturnType<typeof onionMaterial>;
    /** The pose's numbers when the surface was evaluated. */
    numbers: number[];
    of: unknown;
}

export interface GhostName {
    readonly name: string;
    readonly colour: string;
    /** Its vertices. */
    readonly positions: Float32Array;
}

const pointOf = (layer: Layer, pose: Pose): number[] =>
    layer.inputs.flatMap((input) => (input.kind === "driver" ? [] : pose.get(input.index)));

/** The examples next to the pose: those with the largest weights, then the nearest ones. The one at the pose is the form
 * itself. */
export const neighboursOf = (layer: Layer, weights: ArrayLike<number>, pose: Pose): number[] => {
    const hasPlaces = layer.kind.hasPoints && !layer.kind.isDriven;
    const at = hasPlaces ? pointOf(layer, pose) : [];
    const far = layer.examples.map((_, k) => (hasPlaces ? layer.distance(layer.examplePoint(k)!, at) : 1 - weights[k]!));
    const others = layer.examples.map((_, k) => k).filter((k) => far[k]! > 1e-6);
    const heavy = others.filter((k) => weights[k]! > SOME).sort((a, b) => weights[b]! - weights[a]!).slice(0, MOST);
    const near = others.filter((k) => !heavy.includes(k)).sort((a, b) => far[a]! - far[b]!);
    return [...heavy, ...near.slice(0, Math.max(0, FEW - heavy.length))];
};

export class Onions {
    names: readonly GhostName[] = [];
    #rig: Rig | null = null;
    #ghosts: Ghost[] = [];
    readonly #depth = depthMaterial();

    constructor(readonly app: App, readonly stand: Stand, readonly faces: () => Faces) {}

    forget(): void {
        for (const { form, material } of this.#ghosts) {
            form.dispose();
            material.dispose();
        }
        this.#ghosts = [];
        this.#rig = null;
    }

    #make(): Ghost {
        const { rig, surface: shown } = this.app.stage;
        const material = onionMaterial();
        const form = new Form(this.stand.gl, this.faces(), material);
        const scene = new Scene();
        const front = new Mesh(form.object.geometry, this.#depth);
        front.frustumCulled = false;
        front.renderOrder = -1;
        scene.add(front, form.object);
        return { pose: rig.pose(), surface: rig.surface({ level: shown.level }), form, scene, material, numbers: [], of: null };
    }

    /** The pose at an example: in a layer with places, the axes of the layer are set to its place. */
    #pose({ pose }: Ghost, layer: Layer, k: number): void {
        const { app } = this;
        const { name } = layer.examples[k]!;
        const example = app.layer!.examples.find((e) => e.name === name);
        if (layer.kind.isDriven && example) return app.stage.setExample(pose, layer.name, example);
        pose.copy(app.stage.pose);
        const point = layer.kind.hasPoints ? layer.examplePoint(k)! : layer.inputs.map((_, i) => Number(i === k));
        let at = 0;
        for (const input of layer.inputs) {
            if (input.kind === "driver") continue;
            pose.set(input.index, input.width === 1 ? point[at]! : Array.from(point.slice(at, at + input.width)));
            at += input.width;
        }
    }

    #show(ghost: Ghost, layer: Layer, k: number): GhostName {
        const { app } = this;
        this.#pose(ghost, layer, k);
        const numbers = [...ghost.pose.inputs, ...ghost.pose.joints, ...(layer.kind.isDriven ? [k] : []), Number(app.display.unposed)];
        if (ghost.of !== app.tree || numbers.length !== ghost.numbers.length || numbers.some((v, i) => v !== ghost.numbers[i])) {
            ghost.of = app.tree;
            ghost.numbers = numbers;
            ghost.surface.evaluate(ghost.pose, { unskinned: app.display.unposed });
            ghost.form.fill(ghost.surface.positions, ghost.surface.normals);
        }
        const colour = exampleColour(k);
        (ghost.material.uniforms["colour"]!.value as Color).setStyle(colour);
        return { name: layer.examples[k]!.name, colour, positions: ghost.surface.positions };
    }

    /** Follows the pose. */
    fill(): void {
        const { app, stand } = this;
        const layer = app.display.onion ? app.rigLayer : null;
        const { rig, surface, pose } = app.stage;
        if (this.#rig !== rig) this.forget();
        this.#rig = rig;
        const shown = layer && layer.domain !== "pixels"
            ? neighboursOf(layer, surface.weights.subarray(layer.firstExample, layer.firstExample + layer.examples.length), pose)
            : [];
        while (this.#ghosts.length < shown.length) this.#ghosts.push(this.#make());
        // The nearest one last, on top of the others.
        stand.onions.splice(0, stand.onions.length, ...shown.map((_, i) => this.#ghosts[i]!.scene).reverse());
        this.names = shown.map((k, i) => this.#show(this.#ghosts[i]!, layer!, k));
    }
}
