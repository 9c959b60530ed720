// Colours on the surface: how far the selected example moves each vertex now, the distance to the selected example, or
// the mask of the selected layer.
import type { ShaderMaterial } from "three";
import type { Layer, Pose, Rig, Surface } from "@exemplar/runtime";
import type { App } from "../core/app";
import { apartOf } from "../core/form";
import type { ProjectExample } from "../core/project";
import { roundUp } from "./colours";
import { refineValues } from "./edges";
import type { Form } from "./form";

export interface Legend {
    text: string;
    /** The value of the last colour; null if there is nothing to colour, and the text gives the reason. */
    most: number | null;
    isLength: boolean;
}

export interface Coloured {
    form: Form;
    material: ShaderMaterial;
    surface: Surface;
}

const none = (text: string): Legend => ({ text, most: null, isLength: false });
const largest = (values: Float32Array): number => values.reduce((most, value) => Math.max(most, value), 0);

const lengthsOf = (deltas: Float32Array): Float32Array => {
    const lengths = new Float32Array(deltas.length / 3);
    for (let v = 0; v < lengths.length; v++)
        lengths[v] = Math.hypot(deltas[3 * v]!, deltas[3 * v + 1]!, deltas[3 * v + 2]!);
    return lengths;
};

const whyNothing = (layer: Layer, what: string): string => {
    if (layer.domain === "pixels") return `${what} changes the texture and moves no vertex.`;
    if (layer.domain === "displacement") return `${what} displaces the refined surface, which these colours do not show.`;
    return `${what} moves no vertex.`;
};

/** The farthest that any example of a layer moves each vertex. */
const reachOf = (layer: Layer): Float32Array | null => {
    let reach: Float32Array | null = null;
    for (const { index } of layer.examples) {
        const delta = layer.delta(index);
        if (!delta) return null;
        const lengths = lengthsOf(delta);
        reach = reach ? reach.map((value, v) => Math.max(value, lengths[v]!)) : lengths;
    }
    return reach;
};

export class Heat {
    legend: Legend | null = null;
    #values: Float32Array = new Float32Array(0);
    #most = 1;
    /** The objects that the values depend on. */
    #key: unknown[] = [];
    #given = new Set<Form>();
    #twin: { rig: Rig; surface: Surface; pose: Pose } | null = null;

    constructor(readonly app: App) {}

    // Carries values of the cage's vertices to the drawn vertices.
    #spread(values: Float32Array): Float32Array {
        const { rig, mesh } = this.app.stage;
        const fine = refineValues(rig, mesh, values);
        const { sources } = mesh;
        return sources ? Float32Array.from(sources, (v) => fine[v]!) : fine;
    }

    // True if the values still belong to these objects.
    #isSame(...key: unknown[]): boolean {
        const same = key.length === this.#key.length && key.every((part, i) => part === this.#key[i]);
        this.#key = key;
        if (!same) this.#given.clear();
        return same;
    }

    #give(targets: readonly Coloured[], scale: (target: Coloured) => number): void {
        for (const target of targets) {
            if (!this.#given.has(target.form)) target.form.heat(this.#values);
            this.#given.add(target.form);
            target.material.uniforms["heatScale"]!.value = scale(target);
        }
    }

    #weight(targets: readonly Coloured[], layer: Layer, k: number): Legend {
        const name = layer.examples[k]!.name;
        if (!this.#isSame("weight", layer, k)) {
            const delta = layer.delta(k);
            this.#values = this.#spread(lengthsOf(delta ?? new Float32Array(3 * this.app.stage.rig.vertexCount)));
            this.#most = delta ? largest(this.#values) : 0;
        }
        if (this.#most === 0) return none(whyNothing(layer, `“${name}”`));
        this.#give(targets, ({ surface }) => Math.abs(surface.weights[layer.firstExample + k]!) / this.#most);
        return { text: `How far “${name}” moves the form now`, most: this.#most, isLength: true };
    }

    #example(layer: Layer, example: ProjectExample): Surface {
        const { app } = this;
        const { rig, surface } = app.stage;
        if (this.#twin?.rig !== rig)
            this.#twin = { rig, surface: rig.surface({ level: surface.level, normals: false }), pose: rig.pose() };
        const { pose, surface: twin } = this.#twin;
        if (!this.#isSame("difference", layer, example, app.tree, app.display.unposed)) {
            app.stage.setExample(pose, layer.name, example);
            twin.evaluate(pose, { unskinned: app.display.unposed });
        }
        return twin;
    }

    #difference(targets: readonly Coloured[], layer: Layer, example: ProjectExample): Legend {
        const last = this.#key[2];
        const { positions } = this.#example(layer, example);
        const count = positions.length / 3;
        if (this.#values.length !== count) this.#values = new Float32Array(count);
        let most = 0;
        for (const target of targets) {
            most = Math.max(most, apartOf(target.surface.positions, positions, this.#values).maximum);
            target.form.heat(this.#values);
        }
        // The scale stays fixed during a drag, and grows only if needed.
        const size = roundUp(most);
        if (last !== example || size > this.#most || size < 0.02 * this.#most) this.#most = size;
        for (const { material } of targets) material.uniforms["heatScale"]!.value = 1 / this.#most;
        return { text: `How far the form is from “${example.name}”`, most: this.#most, isLength: true };
    }

    #mask(targets: readonly Coloured[], layer: Layer): Legend {
        const isMask = layer.domain === "trajectory" && layer.mask() !== null;
        if (!this.#isSame("mask", layer)) {
            const values = isMask ? layer.mask() : reachOf(layer);
            this.#values = this.#spread(values ?? new Float32Array(this.app.stage.rig.vertexCount));
            this.#most = isMask ? 1 : largest(this.#values);
        }
        if (this.#most === 0) return none(whyNothing(layer, `The layer “${layer.name}”`));
        this.#give(targets, () => 1 / this.#most);
        const text = isMask ? `Mask of the layer “${layer.name}”` : `How far the layer “${layer.name}” can move the form`;
        return { text, most: this.#most, isLength: !isMask };
    }

    #legendOf(targets: readonly Coloured[]): Legend | null {
        const { app } = this;
        const { colour } = app.display;
        const layer = app.rigLayer;
        if (colour === "none" || app.sculpt) return null;
        if (!layer) return none("The layer has no form yet.");
        if (colour === "mask") return this.#mask(targets, layer);
        const { example } = app;
        const k = layer.examples.find((e) => e.name === example?.name)?.index;
        if (!example || k === undefined) return none("Select an example to see its colours.");
        if (colour === "difference") return this.#difference(targets, layer, example);
        return this.#weight(targets, layer, k);
    }

    /** Colours the forms; returns true if there are values. */
    fill(targets: readonly Coloured[]): boolean {
        this.legend = this.#legendOf(targets);
        return this.legend !== null && this.legend.most !== null;
    }

    /** After a new rig, whose forms have no values yet. */
    forget(): void {
        this.#key = [];
        this.#given.clear();
        this.#twin = null;
    }
}
