// Layout of the panels: layers on the left, the view with the player below it in the middle, the space on the right.
import type { App } from "../core/app";
import { h } from "../core/dom";
import { brushPanel } from "../brush/brush";
import { mapPanel } from "../map/map";
import { playPanel } from "../play/play";
import { viewPanel } from "../view/view";
import { axesPanel } from "../pose/axes";
import { alonePanel } from "./alone";
import { findingsPanel } from "../findings/findings";
import { layersPanel } from "../layers/layers";
import { statusPanel } from "./status";
import { weigherPanel } from "../weigh/weigher";
import { weightsPanel } from "../weigh/weights";

/** A part of a column that folds under its heading. */
const part = (title: string, open: boolean, ...children: HTMLElement[]): HTMLElement => {
    const details = h("details", { class: "part", open }, h("summary", {}, title), ...children);
    let isNew = open; // the browser also reports parts that start open
    details.addEventListener("toggle", () => {
        if (details.open && !isNew) details.scrollIntoView({ block: "nearest" });
        isNew = false;
    });
    return details;
};

/** Hides what says nothing about a project without layers. A page to show around cannot add any. */
const hideWithoutLayers = (app: App, served: HTMLElement[], alone: HTMLElement[]): void => {
    const update = (): void => {
        const hasNone = app.tree.layers.length === 0;
        for (const element of [...served, ...(app.server ? [] : alone)])
            if (element.hidden !== hasNone) element.hidden = hasNone;
    };
    app.on("tree", update);
    update();
};

export const layout = (app: App): HTMLElement[] => {
    const view = viewPanel(app); // first: other panels use its pictures and its picker
    const left = h(
        "aside",
        { class: "column left", "aria-label": "Layers and examples" },
        part("Layers", true, layersPanel(app)),
        part("Brush", false, brushPanel(app)),
        app.server && part("Findings", true, findingsPanel(app)),
    );
    const map = part("Map of the space", true, mapPanel(app));
    const weights = part("Weights", true, weightsPanel(app));
    const weigher = part("Weigher", false, weigherPanel(app));
    hideWithoutLayers(app, [weights, weigher], [left, map]);
    const right = h(
        "aside",
        { class: "column right", "aria-label": "The space" },
        map,
        part("Pose", true, axesPanel(app)),
        weights,
        weigher,
    );
    const middle = h("section", { class: "middle" }, view, playPanel(app));
    return [alonePanel(app), h("div", { class: "columns" }, left, middle, right), statusPanel(app)];
};
