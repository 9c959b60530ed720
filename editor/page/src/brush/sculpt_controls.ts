// What becomes of a sculpt: its name, inserting, discarding, and how well it came back.
import type { App } from "../core/app";
import { h } from "../core/dom";
import { freeName } from "../core/project";
import { millimetres, sentenceOf } from "../core/words";
import type { Brush } from "./controller";
import { insertSculpt, lossOf, refusalOf, type Inserted } from "./insert";
import { exampleAt, takeStand } from "./stand";

const EXACT = 1e-5; // of the form's size: what a rig promises at its examples

const reportOf = (app: App, made: Inserted): { text: string; kind: "good" | "bad" } => {
    const what = made.replaced ? `Example '${made.example}' has the sculpt now` : `Example '${made.example}' is inserted`;
    const error = made.maximum < 1e-6 ? "0.001 mm" : `${millimetres(made.maximum)} (rms ${millimetres(made.rms)})`;
    if (made.maximum <= EXACT * made.size) return { text: `${what}; it comes back within ${error}.`, kind: "good" };
    return { text: `${what}, but comes back only within ${error}. ${lossOf(app, made.example)}`, kind: "bad" };
};

let inserting = false;

/** Inserts what is sculpted, under the name of the field or one that is free. Where that fails the sculpt stays. */
export const insertNow = async (app: App, brush: Brush, name = ""): Promise<void> => {
    const { session } = brush;
    const refusal = refusalOf(app.layer, app.rigLayer);
    if (!session || inserting) return;
    if (refusal) {
        brush.report = { text: refusal, kind: "bad" };
        app.say(refusal, "bad");
        brush.onchange();
        return;
    }
    inserting = true;
    try {
        brush.settle(session);
        const made = await insertSculpt(app, session, name.trim() || brush.name || "sculpt");
        if (made) {
            session.strokes.forget(session.positions);
            brush.report = reportOf(app, made);
            brush.name = "";
            app.select({ example: made.example });
            app.say(brush.report.text, brush.report.kind);
            app.emit("pose");
            if (!brush.isBusy && app.tool === "orbit") brush.end();
        } else brush.report = { text: app.message?.text ?? "The project could not be built.", kind: "bad" };
    } catch (error) {
        brush.report = { text: `${sentenceOf(error)} The sculpt is still here.`, kind: "bad" };
        app.say(brush.report.text, "bad");
    } finally {
        inserting = false;
        brush.changed();
    }
};

/** Where it would go. */
const targetOf = (app: App, brush: Brush): { text: string; replaces: string | null } => {
    const { layer, rigLayer } = app;
    const refusal = refusalOf(layer, rigLayer);
    if (refusal || !layer || !rigLayer) return { text: refusal ?? "", replaces: null };
    const { session } = brush;
    const pose = app.stage.rig.pose();
    if (session && !session.isStale) takeStand(pose, session.stand);
    else pose.copy(app.stage.pose);
    const existing = exampleAt(rigLayer, layer.examples.filter((example) => !example.muted), pose);
    pose.dispose();
    const rest = session?.atRest ? " Its forms stand at rest, so that is what you sculpt." : "";
    const text = existing
        ? `Replaces the form of '${existing.name}', which stands here.${rest}`
        : `A new example of layer '${layer.name}'.${rest}`;
    return { text, replaces: existing?.name ?? null };
};

export const sculptControls = (app: App, brush: Brush) => {
    const target = h("p", { class: "quiet" });
    const name = h("input", { type: "text", "aria-label": "Name of the example", spellcheck: "false" });
    name.addEventListener("input", () => (brush.name = name.value));
    name.addEventListener("keydown", (event) => event.key === "Enter" && void insertNow(app, brush));
    const nameRow = h("label", { class: "name" }, h("span", {}, "Name"), name);
    const insert = h("button", { class: "primary", title: "Insert the sculpt as an example (Enter)",
        onclick: () => void insertNow(app, brush) }, "Insert as example");
    const discard = h("button", { title: "Throw the strokes away; undo brings them back", onclick: () => brush.discard() },
        "Discard");
    const element = h("div", { class: "sculpt" }, target, nameRow, h("div", { class: "actions" }, insert, discard));

    const update = (): void => {
        const { session } = brush;
        element.hidden = !session || (app.tool === "paint" && !session.isSculpted);
        if (element.hidden) return;
        const { text, replaces } = targetOf(app, brush);
        target.textContent = text;
        nameRow.hidden = replaces !== null;
        insert.disabled = refusalOf(app.layer, app.rigLayer) !== null;
        discard.disabled = !brush.isBusy;
        name.placeholder = freeName("sculpt", app.layer?.examples.map((example) => example.name) ?? []);
        if (document.activeElement !== name) name.value = brush.name;
    };
    return { element, update };
};
