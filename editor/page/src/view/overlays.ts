// Texts over the view: the legend of its colours, and captions for two pictures.
import type { App } from "../core/app";
import { h } from "../core/dom";
import { settingsOf } from "../core/weighers";
import { colourGradient, showLength } from "./colours";
import type { Legend } from "./heat";

export class LegendBox {
    readonly element = h("div", { class: "view-legend", hidden: true });
    #shown = "";
    #text = h("span", { class: "what" });
    #strip = h("span", { class: "strip", "aria-hidden": "true" });
    #least = h("span", { class: "number" });
    #most = h("span", { class: "number" });

    constructor() {
        this.#strip.style.background = colourGradient();
        this.element.append(this.#text, h("span", { class: "scale" }, this.#least, this.#strip, this.#most));
    }

    show(legend: Legend | null): void {
        const key = JSON.stringify(legend);
        if (key === this.#shown) return;
        this.#shown = key;
        this.element.hidden = legend === null;
        if (!legend) return;
        const { text, most, isLength } = legend;
        this.#text.textContent = text;
        (this.#strip.parentElement as HTMLElement).hidden = most === null;
        this.#least.textContent = "0";
        this.#most.textContent = most === null ? "" : isLength ? showLength(most) : String(most);
    }
}

const wordsOf = (app: App): [string, string] => {
    const { compare } = app;
    const own = compare ? settingsOf(app.tree.layers[compare.layer]?.weigh) : null;
    const other = compare ? settingsOf(compare.weigh) : null;
    if (!own || !other) return ["", ""];
    const say = (s: typeof own): string => (s["kernel"] ? `${s.kind}, ${String(s["kernel"]).replaceAll("_", " ")}` : s.kind);
    const [a, b] = [say(own), say(other)];
    return [`A: ${a} (the project’s)`, a === b ? `B: ${b}, other settings` : `B: ${b}`];
};

export const captions = (app: App, isTwo: () => boolean): HTMLElement => {
    const [left, right] = [h("span"), h("span")];
    const element = h("div", { class: "view-captions", hidden: true }, left, right);
    app.on("frame", () => {
        element.hidden = !isTwo();
        if (element.hidden) return;
        const words = wordsOf(app);
        [left, right].forEach((span, i) => {
            if (span.textContent !== words[i]) span.textContent = words[i]!;
        });
    });
    return element;
};
