// Replaces the page if a project or a rig cannot be opened.
import { h } from "../core/dom";
import { Refusal } from "../core/server";
import { sentenceOf } from "../core/words";

export const failurePage = (error: unknown, name: string | null): HTMLElement => {
    const text = sentenceOf(error);
    const where = error instanceof Refusal ? error.where : null;
    return h(
        "section",
        { class: "failure", role: "alert" },
        h("h1", {}, `${name ?? "This"} could not be opened`),
        h("p", { class: "sentence" }, text),
        where && h("p", {}, `In ${name ?? "the project file"} at `, h("code", {}, where), "."),
        h("p", {}, "Nothing was changed on disk. Fix the problem and open it again."),
        h("button", { class: "primary", onclick: () => location.reload() }, "Open again"),
    );
};
