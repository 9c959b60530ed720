// Controls for the settings of one weigher, made from the table of its parameters.
import type { Parameter, Weigher } from "@exemplar/runtime";
import { h } from "../core/dom";
import { isRefused, rangeWords, refuse } from "../core/refuse";
import type { ProjectLayer, Weigh } from "../core/project";
import { weigherOf } from "../core/weighers";
import { isInRange, sliderOf } from "./slider";
import { kindsFor, withKey, withKind } from "./weigh";

export interface Target {
    /** Prefix of the controls' names for screen readers: "A", "B", or nothing. */
    prefix: string;
    get(): Weigh;
    /** Called while a slider moves. */
    preview(weigh: Weigh): void;
    commit(weigh: Weigh, label: string): void;
    isServed: boolean;
}

/** The reach of a layer's examples. Not a parameter: besides a number it can have other values. */
const REACH: Parameter = {
    name: "falloff",
    help: "Reach of every example without its own falloff, in distances of the space (1 is the full range of an axis).",
    type: "number",
    preset: 0.5,
    least: 0,
    most: Infinity,
    above: true,
    usual: [0.05, 5],
    words: [],
};

/** "K", "Linear": the key of the project file, with a capital letter. */
const labelOf = (name: string): string => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " ");

export class WeighFields {
    readonly element = h("div", { class: "fields" });
    #shape = "";
    #refresh: ((weigh: Weigh) => void)[] = [];
    #kept = new Map<string, Weigh>();

    constructor(readonly target: Target) {}

    update(layer: ProjectLayer): void {
        const weigh = this.target.get();
        const kind = weigherOf(weigh);
        const reach = kind.hasFalloffs ? typeof weigh.falloff : "";
        const shape = `${this.target.prefix}/${layer.name}/${kind.name}/${reach}/${layer.examples.length}/${kindsFor(layer).length}`;
        if (shape !== this.#shape) this.#make(layer, kind);
        this.#shape = shape;
        for (const refresh of this.#refresh) refresh(weigh);
    }

    #make(layer: ProjectLayer, kind: Weigher): void {
        const focused = this.element.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset["key"] : null;
        this.#refresh = [];
        const rows = [this.#kind(layer), h("p", { class: "help" }, kind.help)];
        if (kind.hasFalloffs) rows.push(...this.#reach(layer));
        rows.push(...kind.parameters.map((parameter) => this.#field(layer, parameter)));
        this.element.replaceChildren(...rows);
        if (focused) this.element.querySelector<HTMLElement>(`[data-key="${focused}"]`)?.focus();
    }

    #field(layer: ProjectLayer, parameter: Parameter): HTMLElement {
        if (parameter.type === "choice") return this.#words(parameter);
        return parameter.type === "switch" ? this.#switch(parameter) : this.#slider(layer, parameter);
    }

    #named(label: string): string {
        return this.target.prefix ? `${label} of ${this.target.prefix}` : label;
    }

    #row(label: string, help: string, ...controls: HTMLElement[]): HTMLElement {
        for (const control of controls) control.title = help;
        return h("div", { class: "field", title: help }, h("span", { class: "label", "aria-hidden": "true" }, label), ...controls);
    }

    #choice(key: string, label: string, help: string, options: readonly (readonly [value: string, text: string])[],
        read: (weigh: Weigh) => string, write: (weigh: Weigh, value: string) => Weigh): HTMLElement {
        const select = h("select", { "aria-label": this.#named(label), "data-key": key },
            ...options.map(([value, text]) => h("option", { value }, text)));
        select.addEventListener("change", () => this.target.commit(write(this.target.get(), select.value), `set ${label.toLowerCase()} to ${select.selectedOptions[0]?.textContent ?? select.value}`));
        this.#refresh.push((weigh) => {
            select.value = read(weigh);
        });
        return this.#row(label, help, select);
    }

    #kind(layer: ProjectLayer): HTMLElement {
        const kinds = kindsFor(layer).map(({ name }) => [name, name] as const);
        return this.#choice("kind", "Kind", "The method that turns a point of the space into weights.", kinds,
            (weigh) => weigherOf(weigh).name,
            (weigh, value) => {
                // Returning to a kind restores its settings.
                this.#kept.set(`${layer.name}/${weigherOf(weigh).name}`, weigh);
                return this.#kept.get(`${layer.name}/${value}`) ?? withKind(weigh, value);
            });
    }

    #words({ name, help, words, preset }: Parameter): HTMLElement {
        const read = (weigh: Weigh): string => String(weigh[name] ?? preset);
        const row = this.#choice(name, labelOf(name), help, words.map((word) => [word.name, word.name.replaceAll("_", " ")] as const),
            read, (weigh, value) => withKey(weigh, name, value));
        this.#refresh.push((weigh) => {
            const chosen = words.find((word) => word.name === read(weigh))?.help ?? "";
            row.title = row.querySelector("select")!.title = `${help.replace(/\.$/, "")}: ${chosen}.`;
        });
        return row;
    }

    #switch({ name, help, preset }: Parameter): HTMLElement {
        const label = labelOf(name);
        const box = h("input", { type: "checkbox", "aria-label": this.#named(label), "data-key": name });
        box.addEventListener("change", () => this.target.commit(withKey(this.target.get(), name, box.checked), `turned ${label.toLowerCase()} ${box.checked ? "on" : "off"}`));
        this.#refresh.push((weigh) => {
            box.checked = Boolean(weigh[name] ?? preset);
        });
        return this.#row(label, help, box);
    }

    #reach(layer: ProjectLayer): HTMLElement[] {
        const { falloff } = this.target.get();
        const options: (readonly [string, string])[] = [["", "to the nearest neighbour"]];
        if (this.target.isServed || falloff === "auto") options.push(["auto", "chosen by the build"]);
        options.push(["number", "a number"]);
        if (typeof falloff === "object") options.push(["axes", "per axis"]);
        const kind = (weigh: Weigh): string =>
            weigh.falloff === undefined ? "" : weigh.falloff === "auto" ? "auto" : typeof weigh.falloff === "number" ? "number" : "axes";
        const select = this.#choice("reach", "Reach", "Reach of the examples without their own falloff.", options, kind, (weigh, value) => {
            if (value === "axes") return weigh;
            return withKey(weigh, "falloff", value === "" ? undefined : value === "auto" ? "auto" : REACH.preset);
        });
        return typeof falloff === "number" ? [select, this.#slider(layer, REACH)] : [select];
    }

    #slider(layer: ProjectLayer, parameter: Parameter): HTMLElement {
        const { name, help, preset, least, most, type } = parameter;
        const label = labelOf(name);
        const slider = sliderOf(parameter, layer.examples.length);
        const range = h("input", { type: "range", min: 0, max: 1000, step: 1, "aria-label": this.#named(label), "data-key": `${name}-range` });
        const field = h("input", { type: "number", min: least, step: type === "whole" ? 1 : "any", "aria-label": `${this.#named(label)}, as a number`, "data-key": name });
        if (Number.isFinite(most)) field.max = String(most);
        const read = (weigh: Weigh): number => Number(weigh[name] ?? preset);
        const set = (value: number): Weigh => withKey(this.target.get(), name, value);
        let moved = false;
        range.addEventListener("input", () => {
            moved = true;
            refuse(field, null);
            const value = slider.value(Number(range.value));
            field.value = String(value);
            this.target.preview(set(value));
        });
        range.addEventListener("change", () => {
            if (moved) this.target.commit(set(slider.value(Number(range.value))), `set ${label.toLowerCase()} to ${slider.value(Number(range.value))}`);
            moved = false;
        });
        field.addEventListener("change", () => {
            const value = field.valueAsNumber;
            const allowed = `Type a ${type === "whole" ? "whole " : ""}number ${rangeWords(least, most, parameter.above)}.`;
            const isGood = isInRange(parameter, value);
            refuse(field, isGood ? null : allowed);
            if (isGood) this.target.commit(set(value), `set ${label.toLowerCase()} to ${value}`);
        });
        this.#refresh.push((weigh) => {
            const value = read(weigh);
            if (document.activeElement !== range || !moved) range.value = String(slider.at(value));
            range.setAttribute("aria-valuetext", String(value));
            if (document.activeElement !== field && !isRefused(field)) field.value = String(value);
        });
        return this.#row(label, help, range, field);
    }
}
