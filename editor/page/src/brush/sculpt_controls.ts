// Controls of a sculpt: its name, insert, discard, and the accuracy of the last insert.
import type { App } from "../core/app";
import { h } from "../core/dom";
import { freeName } from "../core/project";
import { millimetres, sentenceOf } from "../core/words";
import type { Brush } from "./controller";
import { insertSculpt, lossOf, refusalOf, type Inserted } from "./insert";
import { exampleAt, takeStand } from "./stand";

const EXACT = 1e-5; // of the form's size: the accuracy of a rig at its examples

// The status line says what was done, and the panel how accurately.
const tell = (app: App, brush: Brush, made: Inserted): void => {
    const error = made.maximum < 1e-6 ? "0.001 mm" : `${millimetres(made.maximum)} (rms ${millimetres(made.rms)})`;
    const whole = made.maximum <= EXACT * made.size;
    const text = whole
        ? `'${made.example}' is reproduced within ${error}.`
        : `'${made.example}' is reproduced only within ${error}. ${lossOf(app, made.example)}`;
    brush.report = { text, kind: whole ? "good" : "bad", tree: app.history.tree };
    brush.say(made.replaced ? `Example '${made.example}' now has the sculpt.` : `Example '${made.example}' was inserted.`, "good");
};

let inserting = false;

/** Inserts the sculpt under the typed name, or a free one. On failure the sculpt stays. */
export const insertNow = async (app: App, brush: Brush, name = ""): Promise<void> => {
    const { session } = brush;
    const refusal = refusalOf(app.layer, app.rigLayer);
    if (!session || inserting) return;
    if (refusal) return app.say(refusal, "bad");
    inserting = true;
    brush.hush();
    try {
        brush.settle(session);
        const made = await insertSculpt(app, session, name.trim() || brush.name || "sculpt");
        if (made) {
            session.strokes.forget(session.positions);
            brush.name = "";
            app.select({ example: made.example });
            tell(app, brush, made);
            app.emit("pose");
            if (!brush.isBusy && app.tool === "orbit") brush.end();
        } else if (app.message?.kind !== "bad") app.say("The project could not be built. The sculpt is still here.", "bad");
    } catch (error) {
        app.say(`${sentenceOf(error)} The sculpt is still here.`, "bad");
    } finally {
        inserting = false;
        brush.changed();
    }
};

/** The layer and example that an insert would go to. */
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
    const rest = session?.atRest ? " Its forms are stored at rest, so you sculpt at rest." : "";
    const text = existing
        ? `Replaces the form of '${existing.name}', which is at this pose.${rest}`
        : `A new example of layer '${layer.name}'.${rest}`;
    return { text, replaces: existing?.name ?? null };
};

export const sculptControls = (app: App, brush: Brush) => {
    const target = h("p", { class: "quiet" });
    const name = h("input", { type: "text", "aria-label": "Name of the example", spellcheck: "false" });
    name.addEventListener("input", () => (brush.name = name.value));
    name.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        name.blur();
        void insertNow(app, brush);
    });
    const nameRow = h("label", { class: "name" }, h("span", {}, "Name"), name);
    const insert = h("button", { class: "primary", onclick: () => void insertNow(app, brush) }, "Insert as example");
    const discard = h("button", { title: "Discard the strokes; undo brings them back (Escape)", onclick: () => brush.discard() },
        "Discard");
    const keys = h("p", { class: "quiet keys" }, h("kbd", {}, "Enter"), " inserts the sculpt, ", h("kbd", {}, "Esc"), " discards it.");
    const element = h("div", { class: "sculpt" }, target, nameRow, h("div", { class: "actions" }, insert, discard), keys);

    const update = (): void => {
        const { session } = brush;
        element.hidden = !session || (app.tool === "paint" && !session.isSculpted);
        if (element.hidden) return;
        const { text, replaces } = targetOf(app, brush);
        target.textContent = text;
        const refusal = refusalOf(app.layer, app.rigLayer);
        nameRow.hidden = replaces !== null || refusal !== null;
        insert.disabled = refusal !== null;
        insert.title = refusal ?? "Insert the sculpt as an example (Enter)";
        discard.disabled = !brush.isBusy;
        keys.hidden = !session?.isSculpted;
        name.placeholder = freeName("sculpt", app.layer?.examples.map((example) => example.name) ?? []);
        if (document.activeElement !== name) name.value = brush.name;
    };
    return { element, update };
};
