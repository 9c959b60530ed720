import type { App } from "../core/app";
import { h } from "../core/dom";
import { apply } from "./apply";
import { deleteLayer } from "./edits";

/** Asks before a layer goes with its last example. */
export const askToDelete = (app: App, sentence: string, layer: number): void => {
    if (app.tree.layers.length === 1) {
        app.say(`${sentence.replace(/ Delete the layer\?$/, "")} It is the project's only layer, and stays.`, "bad");
        return;
    }
    const dialog = h(
        "dialog",
        { class: "ask", "aria-label": "Delete the layer", onclose: () => dialog.remove() },
        h("p", {}, sentence),
        h(
            "form",
            { method: "dialog", class: "actions" },
            h("button", { class: "primary", onclick: () => void apply(app, deleteLayer(app.history.tree, layer)) }, "Delete the layer"),
            h("button", {}, "Keep it"),
        ),
    );
    document.body.append(dialog);
    dialog.showModal();
};
