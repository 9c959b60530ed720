// The weigher of the selected layer: its settings, live; the condition number; and a comparison of two settings.
import type { Layer } from "@exemplar/runtime";
import type { App } from "../core/app";
import { h } from "../core/dom";
import type { Weigh } from "../core/project";
import { weighed, weigherOf } from "../core/weighers";
import { pseudoName } from "../core/words";
import { comparedCurves } from "./curves";
import { differences } from "./differences";
import { LimitFields } from "./limits";
import { kindsFor } from "./weigh";
import { WeighFields } from "./weigh_fields";

const PATIENCE = 250; // milliseconds without a change before the condition number is measured
const MANY = 500; // examples above which that takes too long for a page

const big = (value: number): string =>
    value < 1e4 ? Number(value.toPrecision(2)).toLocaleString("en") : value.toExponential(1).replace("e+", "e");
const short = (value: number): string => Number(value.toPrecision(3)).toString();

const conditionWords = (condition: number): string => {
    if (!Number.isFinite(condition)) return "cannot be solved as it is";
    return condition < 1e4 ? "easy to solve" : condition < 1e8 ? "still accurate" : "hard to solve: results lose digits";
};

const ridgeWords = (app: App, layer: Layer): string => {
    const { ridge, point, falloff } = layer.ridgeAdded;
    if (!(ridge > 0) || point < 0) return "";
    const n = layer.examples.length;
    const name = point < n ? `'${layer.examples[point]!.name}'` : app.layer?.pseudo?.[point - n] ? pseudoName(app.layer.pseudo[point - n], point - n) : "a place at rest";
    return `A ridge of ${short(ridge)} was added, because the examples are hard to tell apart. ${name} reaches farthest (falloff ${short(falloff)}): lower its falloff, or move the examples apart.`;
};

const measure = (app: App): string[] => {
    const layer = app.rigLayer;
    if (!layer?.kind.hasCondition) return [];
    const found = app.findings.find((f) => f.kind === "condition" && f.where === `layers[${app.selection.layer}]`)?.value;
    const condition = layer.examples.length <= MANY ? layer.condition() : (found ?? NaN);
    const lines = Number.isNaN(condition) ? [] : [`Condition number ${Number.isFinite(condition) ? big(condition) : "infinite"}: ${conditionWords(condition)}.`];
    return [...lines, ridgeWords(app, layer)].filter(Boolean);
};

export const weigherPanel = (app: App): HTMLElement => {
    const isServed = app.server !== null;
    const state = h("p", { class: "help state", title: "How much the solve amplifies errors. Above a hundred million, results lose digits." });
    const own = new WeighFields({
        get prefix() {
            return app.compare ? "A" : "";
        },
        get: () => app.layer?.weigh ?? {},
        preview: (weigh) => app.preview((tree) => weighed(tree, app.selection.layer, weigh)),
        commit: (weigh, label) => {
            app.cancel();
            app.edit(label, (tree) => weighed(tree, app.selection.layer, weigh));
        },
        isServed,
    });
    const setOther = (weigh: Weigh): void => {
        app.compare = { layer: app.selection.layer, weigh };
        update();
        app.invalidate();
    };
    const other = new WeighFields({ prefix: "B", get: () => app.compare?.weigh ?? {}, preview: setOther, commit: setOther, isServed });
    const close = (): void => {
        const had = second.contains(document.activeElement);
        app.compare = null;
        app.emit("display");
        app.invalidate();
        update();
        if (had) (begin.hidden ? own.element.querySelector("select") : begin)?.focus();
    };
    const begin = h("button", { title: "Compare the settings of this layer with others, side by side", onclick: () => {
        const weigh = app.layer?.weigh ?? {};
        const canBeCalm = app.layer !== null && kindsFor(app.layer).some(({ name }) => name === "calm");
        setOther(canBeCalm && weigherOf(weigh).name !== "calm" ? { kind: "calm" } : { ...weigh });
        app.emit("display");
        other.element.querySelector("select")?.focus();
    } }, "Compare…");
    const take = h("button", { class: "primary", title: "Replace the settings of the layer by those of B; one step to undo", onclick: () => {
        const weigh = app.compare?.weigh;
        close();
        if (weigh) app.edit("took the settings of B", (tree) => weighed(tree, app.selection.layer, weigh));
    } }, "Use settings B");
    const [heading, curves, figures] = [h("h2", { hidden: true }, "A: the project's settings"), comparedCurves(app), differences(app)];
    const limits = new LimitFields(app);
    const second = h("section", { class: "second", hidden: true, "aria-label": "Settings to compare" }, h("h2", {}, "B: settings to compare"), other.element, curves.element, figures.element,
        h("div", { class: "actions" }, take, h("button", { title: "Show only the project's settings", onclick: close }, "Close")));

    let waiting = 0;
    const look = (): void => {
        clearTimeout(waiting);
        waiting = window.setTimeout(() => {
            if (app.isDragging) return look();
            if (panel.checkVisibility()) state.replaceChildren(...measure(app).map((line) => h("span", {}, line)));
        }, PATIENCE);
    };
    const update = (): void => {
        const { layer } = app;
        if (!layer) return;
        own.update(layer);
        limits.update(layer);
        heading.hidden = second.hidden = !app.compare;
        begin.hidden = app.compare !== null || !weigherOf(layer.weigh).hasPoints || weigherOf(layer.weigh).isDriven;
        if (app.compare) other.update(layer);
        look();
    };
    app.on("tree", update);
    app.on("rig", update);
    app.on("selection", () => {
        if (app.compare && app.compare.layer !== app.selection.layer) close();
        else update();
    });
    app.on("frame", () => {
        figures.update();
        curves.update();
    });
    const panel = h("div", { class: "weigher" }, heading, own.element, limits.element, state, h("div", { class: "actions" }, begin), second);
    // Nothing is measured while the part is folded.
    panel.addEventListener("pointerenter", look);
    new ResizeObserver(look).observe(panel);
    update();
    return panel;
};
