// The project's layers, and the examples of the selected one: select, mute, rename, delete, add.
import type { App } from "../core/app";
import { commandButton, dim } from "../core/buttons";
import { h } from "../core/dom";
import type { ProjectLayer } from "../core/project";
import { count } from "../core/words";
import { addLayerCommands, type Rows } from "./layer_commands";
import { acceptDrops } from "./drop";
import { ExampleList } from "./examples";
import { List, type Row } from "./list";
import { muteLayer } from "./edits";
import { oneClick } from "./oneclick";
import { setMark } from "./mark";
import { marksOf, type Mark, type Marks } from "../findings/places";
import { isShort, shapeWords } from "./words";
import { apply } from "./apply";

const shown = (mark: Mark | undefined): string => (mark ? `${mark.severity}${mark.text}` : "");

const layerList = (app: App, marks: () => Marks): List<ProjectLayer> =>
    new List<ProjectLayer>({
        label: "Layers",
        key: (layer) => layer.name,
        make: () => [
            h("span", { class: "words" }, h("span", { class: "name" }), h("span", { class: "about" })),
            h("span", { class: "mark", role: "img", hidden: true }, "!"),
            h("button", { class: "mute", tabindex: -1, "data-do": "mute" }, "Mute"),
        ],
        stamp: (_, i) => shown(marks().layers.get(i)),
        fill: (row, i) => fillLayer(row, marks().layers.get(i), app.server !== null),
        isChosen: (_, i) => i === app.selection.layer,
        choose: (_, i) => app.select({ layer: i }),
        press: (_, __, i) => apply(app, muteLayer(app.history.tree, i)),
    });

const fillLayer = (row: Row<ProjectLayer>, mark: Mark | undefined, served: boolean): void => {
    const { element, item: layer } = row;
    const find = (selector: string) => element.querySelector<HTMLElement>(selector)!;
    const about = `${shapeWords(layer)}, ${count(layer.examples.length, "example")}`;
    find(".name").textContent = layer.name;
    find(".about").textContent = about;
    element.title = `${layer.name}: ${about}${served ? "\nF2: rename" : ""}`;
    element.classList.toggle("muted", layer.muted ?? false);
    element.setAttribute("aria-label", `${layer.name}, ${about}${layer.muted ? ", muted" : ""}`);
    const mute = find(".mute");
    mute.setAttribute("aria-pressed", String(layer.muted ?? false));
    mute.title = layer.muted ? `Let layer '${layer.name}' work again (Shift+M)` : `Leave layer '${layer.name}' out of the form (Shift+M)`;
    setMark(find(".mark"), mark);
};

const toolbar = (app: App, label: string, buttons: [id: string, text: string][]): HTMLElement => {
    const elements = buttons.map(([id, text]) => commandButton(app, id, text));
    const update = (): void => dim(app, elements);
    for (const name of ["tree", "selection", "status", "rig"] as const) app.on(name, update);
    update();
    return h("div", { class: "tools", role: "toolbar", "aria-label": label }, ...elements);
};

export const layersPanel = (app: App): HTMLElement => {
    let marks = marksOf(app.tree, app.findings);
    let seen = app.findings;
    const layers = layerList(app, () => marks);
    const examples = new ExampleList(app, () => marks);
    const rows: Rows = { layers, examples: examples.list };
    addLayerCommands(app, rows);

    const heading = h("h2", {});
    const axes = h("p", { class: "about" });
    const update = (): void => {
        layers.update(app.tree.layers);
        examples.update();
        const layer = app.layer;
        heading.textContent = layer ? `Examples of ${layer.name}` : "Examples";
        axes.textContent = layer && isShort(layer) ? layer.space.map((axis) => axis.name).join(" · ") : "";
        axes.title = axes.textContent;
    };
    app.on("tree", update);
    app.on("rig", update);
    app.on("selection", () => {
        update();
        if (!examples.list.hasFocus) examples.list.reveal();
    });
    app.on("status", () => {
        if (seen === app.findings) return;
        seen = app.findings;
        marks = marksOf(app.tree, seen);
        update();
    });
    update();
    const served = app.server !== null;
    if (served) acceptDrops(app);
    return h(
        "div",
        { class: "layers" },
        layers.element,
        toolbar(app, "Layers", served ? [["add-layer", "New layer…"], ["only", "Solo"], ["delete-layer", "Delete"]] : [["only", "Solo"]]),
        served && oneClick(app),
        h("div", { class: "head" }, heading, axes),
        examples.list.element,
        toolbar(app, "Examples", served
            ? [["go-there", "Go there"], ["add-example", "Add form…"], ["rename", "Rename"], ["delete-example", "Delete"]]
            : [["go-there", "Go there"]]),
    );
};
