// Keeps an eye on the project's file: says when another program changed it, and asks before a change is lost.
import type { App } from "../core/app";
import { h } from "../core/dom";

const EVERY = 3000; // milliseconds

const ask = (app: App, version: string | null): void => {
    const close = (): void => dialog.remove();
    const dialog = h(
        "dialog",
        { class: "ask", "aria-label": "The file was changed" },
        h("p", {}, version === null ? `${app.name} is gone from disk.` : `Another program changed ${app.name} on disk.`),
        h(
            "p",
            { class: "actions" },
            version !== null && h("button", { onclick: () => location.reload() }, "Load it (what is not saved is lost)"),
            h("button", { onclick: () => (close(), void app.save(true)) }, "Save mine over it"),
            h("button", { onclick: close }, "Later"),
        ),
    );
    document.body.append(dialog);
    dialog.showModal();
};

export const watchFile = (app: App): void => {
    let asked: string | null | undefined = app.version;
    const look = async (): Promise<void> => {
        if (document.hidden) return;
        const known = app.version;
        const version = await app.server!.version().catch(() => known);
        if (version === app.version || version === asked || known !== app.version) return;
        asked = version;
        ask(app, version);
    };
    setInterval(() => void look(), EVERY);
    addEventListener("beforeunload", (event) => {
        if (app.history.changed) event.preventDefault();
    });
};
