// The notice shown while the tool does not answer. A restarted tool has another address, so this page can then be saved
// only by hand.
import type { App } from "../core/app";
import { h, setText } from "../core/dom";
import { sentences } from "../core/words";

/** Offers a text as a download. */
const keepFile = (name: string, text: string): void => {
    const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    h("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
};

const wordsFor = (app: App): string => {
    const words = ["The tool no longer answers: it was probably closed"];
    const keep = `Download the project, replace ${app.name} with it, and start 'exemplar edit' again`;
    words.push(app.history.changed ? `Your unsaved changes are only in this page. ${keep}` : "Start 'exemplar edit' again");
    if (app.pending) words.push(`The ${app.pending} is not inserted and cannot be saved`);
    return sentences(...words);
};

export const alonePanel = (app: App): HTMLElement => {
    const words = h("span", {});
    const keep = (): void => keepFile(app.name, app.history.state.text ?? `${JSON.stringify(app.history.tree, null, 2)}\n`);
    const banner = h("div", { class: "alone", role: "alert", hidden: true }, words,
        h("button", { onclick: keep }, "Download the project"));
    const update = (): void => {
        banner.hidden = !app.isAlone;
        setText(words, app.isAlone ? wordsFor(app) : "");
    };
    app.on("status", update);
    return banner;
};
