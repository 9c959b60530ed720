// Watches the tool and the project file: tells the user when the tool was closed or another program changed the file,
// and asks before a change is lost.
import type { App } from "../core/app";
import { showDialog } from "../core/dialog";
import { h } from "../core/dom";

const EVERY = 3000; // milliseconds
const PATIENCE = 2; // missed answers before it is reported

// The dialog may open while someone is typing, so the button that Enter or Space presses does nothing.
const ask = (app: App, version: string | null): HTMLDialogElement => {
    const isGone = version === null;
    const close = (then?: () => Promise<unknown>) => (): void => {
        dialog.close();
        void then?.().catch((error: unknown) => app.fail(error));
    };
    const said = isGone ? `${app.name} is no longer on disk.` : `Another program changed ${app.name} on disk.`;
    const dialog = showDialog(
        "ask",
        "The file was changed",
        h("p", {}, said),
        !isGone && app.isUnsaved && h("p", {}, "If you load it, undo brings your version back."),
        h(
            "p",
            { class: "actions" },
            !isGone && h("button", { onclick: close(() => app.load()) }, "Load it"),
            (isGone || app.isUnsaved) &&
                h("button", { onclick: close(() => app.save(true)) }, isGone ? "Write it again" : "Overwrite it with mine"),
            h("button", { onclick: close(), autofocus: true }, "Later"),
        ),
    );
    return dialog;
};

export const watchFile = (app: App): void => {
    let asked = app.version;
    let dialog: HTMLDialogElement | null = null;
    let silent = 0;
    let isLooking = false;
    const question = (version: string | null): void => {
        asked = version;
        if (!dialog?.open) dialog = ask(app, version);
    };
    const setAlone = (isAlone: boolean): void => {
        if (app.isAlone === isAlone) return;
        app.isAlone = isAlone;
        app.emit("status");
        if (!isAlone) void app.build(); // build changes made meanwhile
    };
    const look = async (): Promise<void> => {
        if (document.hidden || app.isSaving || isLooking) return;
        const known = app.version;
        isLooking = true;
        const answer = await app.server!.version().then((version) => ({ version }), () => null);
        isLooking = false;
        silent = answer ? 0 : silent + 1;
        setAlone(silent >= PATIENCE);
        // Our own save may have started or ended meanwhile.
        if (!answer || app.isSaving || known !== app.version) return;
        if (answer.version !== app.version && answer.version !== asked) question(answer.version);
    };
    setInterval(() => void look(), EVERY);
    app.on("conflict", () => question(app.conflict));
    addEventListener("beforeunload", (event) => {
        if (app.isUnsaved) event.preventDefault();
    });
};
