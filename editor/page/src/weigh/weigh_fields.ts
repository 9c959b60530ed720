// The controls for one set of a weigher's settings: only those that its kind has.
import type { WeigherKind } from "@exemplar/runtime";
import { h } from "../core/dom";
import type { ProjectLayer, Weigh } from "../core/project";
import { KERNELS, KINDS, kindsFor, withKey, withKind } from "./weigh";

export interface Target {
    /** Names the controls for those who cannot see them: "A", "B", or nothing. */
    prefix: string;
    get(): Weigh;
    /** While a slider moves. */
    preview(weigh: Weigh): void;
    commit(weigh: Weigh, label: string): void;
    isServed: boolean;
}

interface Slider {
    label: string;
    help: string;
    initial: number;
    min: number;
    /** From the slider's 0 to 1000 to a value, and back. */
    value(at: number): number;
    at(value: number): number;
    integer?: boolean;
}

const tidy = (value: number): number => Number(value.toPrecision(3));
const logarithmic = (min: number, max: number) => ({
    value: (at: number) => tidy(min * (max / min) ** (at / 1000)),
    at: (value: number) => (1000 * Math.log(Math.max(value, min) / min)) / Math.log(max / min),
});
const linear = (min: number, max: number, step: number) => ({
    value: (at: number) => tidy(Math.round((min + ((max - min) * at) / 1000) / step) * step),
    at: (value: number) => (1000 * (value - min)) / (max - min),
});

const RADIUS: Slider = {
    label: "Radius",
    help: "How far each example acts, over the distance to its nearest neighbour. Larger is smoother, and harder to solve.",
    initial: 1,
    min: 1e-3,
    ...logarithmic(0.25, 4),
};
const RIDGE: Slider = {
    label: "Ridge",
    help: "Above 0, examples are not met exactly any more, and what swings between them is calmer.",
    initial: 0,
    min: 0,
    value: (at) => (at <= 0 ? 0 : tidy(1e-9 * 1e9 ** (at / 1000))),
    at: (value) => (value <= 0 ? 0 : (1000 * Math.log(value / 1e-9)) / Math.log(1e9)),
};
const POWER: Slider = {
    label: "Power",
    help: "How quickly an example's weight falls off with distance. Larger: nearer to the nearest example alone.",
    initial: 2,
    min: 0.1,
    ...linear(0.5, 8, 0.1),
};
const REACH: Slider = {
    label: "Falloff",
    help: "How far every example reaches, in distances of the space (1 is the whole range of an axis), unless it has a falloff of its own.",
    initial: 0.5,
    min: 1e-3,
    ...logarithmic(0.05, 5),
};
const neighbours = (examples: number): Slider => ({
    label: "Neighbours",
    help: "How many of the nearest examples count.",
    initial: 8,
    min: 1,
    integer: true,
    ...linear(1, Math.max(2, Math.min(examples, 32)), 1),
});

export class WeighFields {
    readonly element = h("div", { class: "fields" });
    #shape = "";
    #refresh: ((weigh: Weigh) => void)[] = [];
    #kept = new Map<string, Weigh>();

    constructor(readonly target: Target) {}

    update(layer: ProjectLayer): void {
        const weigh = this.target.get();
        const kind = weigh.kind ?? "cardinal";
        const reach = kind === "gaussian" ? typeof weigh.falloff : "";
        const shape = `${this.target.prefix}/${layer.name}/${kind}/${reach}/${layer.examples.length}/${kindsFor(layer).length}`;
        if (shape !== this.#shape) this.#make(layer, kind);
        this.#shape = shape;
        for (const refresh of this.#refresh) refresh(weigh);
    }

    #make(layer: ProjectLayer, kind: WeigherKind): void {
        const focused = this.element.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset["key"] : null;
        this.#refresh = [];
        const rows = [this.#kind(layer), h("p", { class: "help" }, KINDS[kind].help)];
        if (kind === "cardinal") rows.push(this.#kernel(), this.#linear(), this.#slider("radius", RADIUS), this.#slider("ridge", RIDGE));
        if (kind === "gaussian") rows.push(...this.#reach(), this.#slider("ridge", RIDGE));
        if (kind === "shepard") rows.push(this.#slider("power", POWER));
        if (kind === "nearest") rows.push(this.#slider("k", neighbours(layer.examples.length)), this.#form());
        if (kind === "convex") rows.push(this.#slider("ridge", { ...RIDGE, initial: 1e-9, help: "Decides between blends that are equally near." }));
        this.element.replaceChildren(...rows);
        if (focused) this.element.querySelector<HTMLElement>(`[data-key="${focused}"]`)?.focus();
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
        const kinds = kindsFor(layer).map((kind) => [kind, KINDS[kind].name] as const);
        return this.#choice("kind", "Kind", "How a point of the space becomes a weight for each example.", kinds,
            (weigh) => weigh.kind ?? "cardinal",
            (weigh, value) => {
                // Going back to a kind finds its settings again.
                this.#kept.set(`${layer.name}/${weigh.kind ?? "cardinal"}`, weigh);
                return this.#kept.get(`${layer.name}/${value}`) ?? withKind(weigh, value as WeigherKind);
            });
    }

    #kernel(): HTMLElement {
        const row = this.#choice("kernel", "Kernel", "The shape of an example's influence.", KERNELS.map(([name]) => [name, name.replaceAll("_", " ")] as const),
            (weigh) => weigh.kernel ?? "bspline", (weigh, value) => ({ ...weigh, kernel: value }));
        this.#refresh.push((weigh) => {
            const help = KERNELS.find(([name]) => name === (weigh.kernel ?? "bspline"))?.[1] ?? "";
            row.title = row.querySelector("select")!.title = `The shape of an example's influence: ${help}.`;
        });
        return row;
    }

    #linear(): HTMLElement {
        const box = h("input", { type: "checkbox", "aria-label": this.#named("Plane"), "data-key": "linear" });
        box.addEventListener("change", () => this.target.commit(withKey(this.target.get(), "linear", box.checked), box.checked ? "fitted a plane" : "fitted no plane"));
        this.#refresh.push((weigh) => {
            box.checked = weigh.linear ?? true;
        });
        return this.#row("Plane", "Fit a plane through the examples first: beyond them, forms go on along it. Without it, they come to rest at the mean.", box);
    }

    #form(): HTMLElement {
        return this.#choice("form", "Threshold", "Where a neighbour stops to count: at the distance of the next one, or at its own, as the paper prints it.",
            [["next", "at the next one"], ["paper", "as in the paper"]],
            (weigh) => weigh.form ?? "next", (weigh, value) => ({ ...weigh, form: value as "next" | "paper" }));
    }

    #reach(): HTMLElement[] {
        const { falloff } = this.target.get();
        const options: (readonly [string, string])[] = [["", "to the nearest neighbour"]];
        if (this.target.isServed || falloff === "auto") options.push(["auto", "chosen when it is built"]);
        options.push(["number", "a number"]);
        if (typeof falloff === "object") options.push(["axes", "per axis"]);
        const kind = (weigh: Weigh): string =>
            weigh.falloff === undefined ? "" : weigh.falloff === "auto" ? "auto" : typeof weigh.falloff === "number" ? "number" : "axes";
        const select = this.#choice("reach", "Reach", "How far the examples reach that have no falloff of their own.", options, kind, (weigh, value) => {
            if (value === "axes") return weigh;
            return withKey(weigh, "falloff", value === "" ? undefined : value === "auto" ? "auto" : REACH.initial);
        });
        return typeof falloff === "number" ? [select, this.#slider("falloff", REACH)] : [select];
    }

    #slider(key: "radius" | "ridge" | "power" | "k" | "falloff", slider: Slider): HTMLElement {
        const { label, help } = slider;
        const range = h("input", { type: "range", min: 0, max: 1000, step: 1, "aria-label": this.#named(label), "data-key": `${key}-range` });
        const field = h("input", { type: "number", min: slider.min, step: slider.integer ? 1 : "any", "aria-label": `${this.#named(label)}, as a number`, "data-key": key });
        const set = (value: number): Weigh => withKey(this.target.get(), key, value);
        let moved = false;
        range.addEventListener("input", () => {
            moved = true;
            const value = slider.value(Number(range.value));
            field.value = String(value);
            this.target.preview(set(value));
        });
        range.addEventListener("change", () => {
            if (moved) this.target.commit(set(slider.value(Number(range.value))), `set ${label.toLowerCase()} to ${slider.value(Number(range.value))}`);
            moved = false;
        });
        field.addEventListener("change", () => {
            const value = slider.integer ? Math.round(field.valueAsNumber) : field.valueAsNumber;
            if (Number.isFinite(value) && value >= slider.min) this.target.commit(set(value), `set ${label.toLowerCase()} to ${value}`);
            else field.value = String((this.target.get()[key] as number | undefined) ?? slider.initial);
        });
        this.#refresh.push((weigh) => {
            const value = (weigh[key] as number | undefined) ?? slider.initial;
            if (document.activeElement !== range || !moved) range.value = String(slider.at(value));
            range.setAttribute("aria-valuetext", String(value));
            if (document.activeElement !== field) field.value = String(value);
        });
        return this.#row(label, help, range, field);
    }
}
