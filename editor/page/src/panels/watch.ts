// Keeps an eye on the project's file: says when another program changed it, and asks before a change is lost.
import type { App } from "../core/app";
import { showDialog } from "../core/dialog";
import { h } from "../core/dom";

const EVERY = 3000; // milliseconds

const ask = (app: App, version: string | null, load: () => void): void => {
    const dialog = showDialog(
        "ask",
        "The file was changed",
        h("p", {}, version === null ? `${app.name} is gone from disk.` : `Another program changed ${app.name} on disk.`),
        h(
            "p",
            { class: "actions" },
            version !== null && h("button", { onclick: load }, "Load it (what is not saved is lost)"),
            h("button", { onclick: () => (dialog.close(), void app.save(true)) }, "Save mine over it"),
            h("button", { onclick: () => dialog.close() }, "Later"),
        ),
    );
};

export const watchFile = (app: App): void => {
    let asked = app.version;
    let loading = false; // somebody chose to lose what is not saved
    const load = (): void => {
        loading = true;
        location.reload();
    };
    const look = async (): Promise<void> => {
        if (document.hidden || app.isSaving) return;
        const known = app.version;
        const version = await app.server!.version().catch(() => known);
        // A save of our own may have begun, or ended, meanwhile.
        if (app.isSaving || version === app.version || version === asked || known !== app.version) return;
        asked = version;
        ask(app, version, load);
    };
    setInterval(() => void look(), EVERY);
    addEventListener("beforeunload", (event) => {
        if (!loading && (app.history.changed || (app.sculpt && app.strokes?.undoLabel))) event.preventDefault();
    });
};
