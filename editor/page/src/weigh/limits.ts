// The behaviour of a layer beyond its outermost examples, for each of its axes.
import type { App } from "../core/app";
import { h } from "../core/dom";
import { setLayer, type Axis, type Project, type ProjectLayer } from "../core/project";
import { weigherOf } from "../core/weighers";

const CHOICES = [
    ["", "by the weigher", "A calm weigher holds; all others continue as their formula says."],
    ["hold", "hold", "Weights stay what they are at the outermost example."],
    ["fade", "fade", "All weights of the layer fall to 0, and the form returns to rest."],
    ["extrapolate", "extrapolate", "Weights go on as the weigher's formula says, and may grow."],
] as const;

const limited = (tree: Project, layer: number, name: string, value: string): Project =>
    setLayer(tree, layer, (l) => ({
        ...l,
        space: l.space.map((axis) => {
            if (axis.name !== name) return axis;
            const { limit: _, ...rest } = axis;
            return value ? { ...rest, limit: value as NonNullable<Axis["limit"]> } : rest;
        }),
    }));

export class LimitFields {
    readonly element = h("div", { class: "fields limits" });
    #shape = "";
    #selects: HTMLSelectElement[] = [];

    constructor(readonly app: App) {}

    update(layer: ProjectLayer): void {
        const kind = weigherOf(layer.weigh);
        const axes = kind.hasPoints && !kind.isDriven ? layer.space.filter((axis) => !axis.driver) : [];
        const shape = JSON.stringify([layer.name, axes.map(({ name }) => name)]);
        if (shape !== this.#shape) {
            this.#shape = shape;
            this.#selects = axes.map((axis) => this.#select(axis.name));
            this.element.replaceChildren(
                ...(axes.length ? [h("h3", { title: "Beyond the outermost examples, pseudo-examples and rest on an axis" }, "Beyond the examples")] : []),
                ...this.#selects.map((select, i) =>
                    h("div", { class: "field" }, h("span", { class: "label", title: axes[i]!.name, "aria-hidden": "true" }, axes[i]!.name), select)),
            );
        }
        axes.forEach((axis, i) => {
            const select = this.#selects[i]!;
            select.value = axis.limit ?? "";
            select.title = CHOICES.find(([value]) => value === select.value)?.[2] ?? "";
        });
    }

    #select(name: string): HTMLSelectElement {
        const select = h("select", { "aria-label": `Beyond the examples on ${name}`, "data-axis": name },
            ...CHOICES.map(([value, text, help]) => h("option", { value, title: help }, text)));
        select.addEventListener("change", () => {
            const { app } = this;
            const layer = app.selection.layer;
            app.cancel();
            app.edit(`set beyond the examples on ${name} to ${select.selectedOptions[0]?.textContent ?? ""}`,
                (tree) => limited(tree, layer, name, select.value));
        });
        return select;
    }
}
