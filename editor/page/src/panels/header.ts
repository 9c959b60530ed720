// The bar at the top: the open file, its saved state, and commands that are always available.
import type { App } from "../core/app";
import { commandButton, dim } from "../core/buttons";
import { h, setText } from "../core/dom";

export const headerPanel = (app: App): HTMLElement => {
    const title = h("span", { class: "title" }, app.name);
    const mark = h("span", { class: "changed", role: "status" });
    const button = (id: string, text: string): HTMLButtonElement => commandButton(app, id, text);
    const buttons = [
        button("undo", "Undo"),
        button("redo", "Redo"),
        app.server ? button("save", "Save") : null,
        button("theme", "Theme"),
        button("help", "Keys"),
    ].filter((b) => b !== null);
    const update = (): void => {
        setText(mark, !app.server ? "a copy to try" : !app.isUnsaved ? "saved" : !app.pending || app.history.changed ? "not saved"
            : `saved without the ${app.pending}`);
        dim(app, buttons);
    };
    app.on("status", update);
    app.on("tree", update);
    update();
    return h("header", {}, h("strong", {}, "Exemplar"), title, mark, h("nav", { "aria-label": "Commands" }, ...buttons));
};
