// Differences between two settings at the current pose: surfaces, texture and weights.
import type { App } from "../core/app";
import { h } from "../core/dom";
import { apartOf } from "../core/form";
import type { Stage } from "../core/stage";

const EVERY = 120; // milliseconds between updates of the numbers

const textureDifference = (a: Stage, b: Stage, name: string): number => {
    const [one, two] = [a.surface.texture(name), b.surface.texture(name)];
    let most = 0;
    for (let i = 0; one && two && i < one.length; i++) most = Math.max(most, Math.abs(one[i]! - two[i]!));
    return most / 255;
};

const span = (app: App, stage: Stage, index: number): string => {
    const layer = stage.layerOf(app.tree, index);
    if (!layer) return "";
    const weights = stage.surface.weights.subarray(layer.firstExample, layer.firstExample + layer.examples.length);
    let [least, most] = [Infinity, -Infinity];
    for (const weight of weights) [least, most] = [Math.min(least, weight), Math.max(most, weight)];
    const show = (value: number): string => value.toFixed(2).replace(/^-0\.00$/, "0.00").replace("-", "\u2212");
    return `${show(least)} to ${show(most)}`;
};

export const differences = (app: App) => {
    const [apart, first, second, why] = [h("dd", { "data-figure": "apart" }), h("dd", { "data-figure": "a" }), h("dd", { "data-figure": "b" }), h("p", { class: "bad", role: "alert", hidden: true })];
    const element = h(
        "div",
        {},
        why,
        h("dl", {}, h("dt", {}, "Largest difference here"), apart, h("dt", {}, "Weights of A"), first, h("dt", {}, "Weights of B"), second),
    );
    let last = 0;
    let later = 0;
    const look = (): void => {
        clearTimeout(later);
        later = 0;
        last = performance.now();
        const { stage, other, compare } = app;
        if (!other || !compare) return;
        const texture = app.rigLayer?.texture;
        apart.textContent = texture
            ? `${(100 * textureDifference(stage, other, texture)).toFixed(1)} % of black to white`
            : `${(1000 * apartOf(stage.surface.positions, other.surface.positions).maximum).toFixed(2)} mm`;
        first.textContent = span(app, stage, compare.layer);
        second.textContent = span(app, other, compare.layer);
        why.hidden = app.compareRefused === null;
        why.textContent = app.compareRefused ?? "";
    };
    return {
        element,
        update(): void {
            if (!app.other) return;
            if (performance.now() - last >= EVERY) look();
            else later ||= window.setTimeout(look, EVERY);
        },
    };
};
