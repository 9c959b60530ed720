import type { App } from "../core/app";
import { showDialog } from "../core/dialog";
import { h } from "../core/dom";
import { apply } from "./apply";
import { deleteLayer } from "./edits";

/** Asks before a layer is deleted with its last example; `why` is the sentence that explains it. */
export const askToDelete = (app: App, why: string, layer: number): void => {
    if (app.tree.layers.length === 1) {
        app.say(`${why} It is also the project's only layer, so it cannot be deleted.`, "bad");
        return;
    }
    showDialog(
        "ask",
        "Delete the layer",
        h("p", {}, `${why} Delete the layer?`),
        h(
            "form",
            { method: "dialog", class: "actions" },
            h("button", { class: "primary", onclick: () => void apply(app, deleteLayer(app.history.tree, layer)) }, "Delete the layer"),
            h("button", {}, "Keep it"),
        ),
    );
};
