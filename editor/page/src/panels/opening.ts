// The page while a project opens: the step that the tool is at, a bar, and a button to cancel a long build.
import { SLOW } from "../core/app";
import { h, setText } from "../core/dom";
import { progressWords } from "../core/progress";
import type { Progress, Server } from "../core/server";

export interface Opening {
    readonly element: HTMLElement;
    show(progress: Progress): void;
}

export const openingPage = (server: Server, name: string): Opening => {
    const words = h("p", { class: "step", role: "status" }, "Reading the project");
    const bar = h("progress", { max: 1, "aria-label": "Progress" });
    const cancel = h("button", { hidden: true, onclick: () => void server.cancel() }, "Cancel");
    setTimeout(() => (cancel.hidden = false), SLOW);
    return {
        element: h("section", { id: "start", class: "opening" }, h("h1", {}, `Opening ${name}`), bar, words, cancel),
        show: (progress) => {
            setText(words, progressWords(progress));
            if (progress.fraction !== undefined) bar.value = progress.fraction;
        },
    };
};
