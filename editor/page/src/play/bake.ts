// Bakes the played motion to a file for programs without Exemplar: asks for a name, and before it overwrites a file.
import type { App } from "../core/app";
import { showDialog } from "../core/dialog";
import { h } from "../core/dom";
import { isRefused, refuse } from "../core/refuse";
import { Refusal, type Baked } from "../core/server";
import { count, millimetres, sentenceOf, stemOf } from "../core/words";
import type { Source } from "./source";

const FORMATS = {
    ".glb": "glTF: morph targets, a skin and an animation, for engines and viewers. Every frame is compared with the rig.",
    ".pc2": "A point cache: every vertex at every frame, exact. Frames are evenly spaced.",
    ".mdd": "A point cache: every vertex at every frame, exact. Each frame has its own time.",
    ".abc": "Alembic: every vertex at every frame, exact, with faces. Each frame has its own time.",
    ".obj": "Numbered OBJ files, one per frame, exact, with faces and groups.",
} as const;
type Format = keyof typeof FORMATS;

const formatOf = (name: string): Format | null => {
    const end = /\.[^./]*$/.exec(name)?.[0].toLowerCase();
    return end && end in FORMATS ? (end as Format) : null;
};

/** Formats that can be written. glTF has nothing that follows a driver. */
const formatsOf = (app: App): Format[] =>
    (Object.keys(FORMATS) as Format[]).filter((end) => end !== ".glb" || !app.stage.rig.driver);

/** For a driven rig with several databases, the value of the one shown. */
const databaseOf = (app: App): number | null => {
    const layer = app.stage.rig.layers.find((l) => l.inputs.some((input) => input.kind === "driver"));
    const input = layer?.inputs.find((i) => i.kind === "scalar");
    return input ? (app.stage.pose.get(input.index) as number) : null;
};

/** The written file and its accuracy, in words. */
export const wordsOf = (baked: Baked): string => {
    const frames = count(baked.frames, "frame");
    if (baked.maximum === null) return `Baked ${baked.path}: ${frames}, every vertex exact.`;
    if (baked.maximum < 1e-6) return `Baked ${baked.path}: ${frames}, no error beyond rounding.`;
    return `Baked ${baked.path}: ${frames}, at most ${millimetres(baked.maximum)} off the rig, ` +
        `${millimetres(baked.rms ?? 0)} rms.`;
};

export const bakeForm = (app: App, source: Source): void => {
    const { name } = source;
    const formats = formatsOf(app);
    const field = h("input", { type: "text", id: "bake-name", value: `${stemOf(app.name)}-${stemOf(name)}${formats[0]!}`,
        autocomplete: "off", spellcheck: "false", oninput: () => (fresh(), showFormat()) });
    const format = h("select", { id: "bake-format", onchange: () => {
        field.value = stemOf(field.value) + format.value;
        fresh();
        showFormat();
    } }, ...formats.map((end) => h("option", { value: end }, end)));
    const about = h("p", { class: "about" });
    const said = h("p", { class: "said", role: "alert" });
    const notes = h("ul", { class: "notes" });
    const write = h("button", { class: "primary" }, "Bake");
    const close = h("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
    let overwrite = false;

    const fresh = (): void => {
        overwrite = false;
        write.textContent = "Bake";
        said.textContent = "";
    };
    const showFormat = (): void => {
        const end = formatOf(field.value);
        const known = end && formats.includes(end) ? end : null;
        if (known) format.value = known;
        about.textContent = known ? FORMATS[known] : "";
        const stem = stemOf(field.value).trim();
        refuse(field, stem === "" || stem.startsWith(".") ? "Type a name for the file."
            : known ? null : `The name must end in ${formats.slice(0, -1).join(", ")} or ${formats.at(-1)!}.`);
        write.disabled = isRefused(field);
    };
    const busy = (is: boolean): void => {
        app.busy = is ? "Baking" : null;
        write.disabled = field.disabled = format.disabled = is;
        if (is) write.textContent = "Baking…";
        app.emit("status");
    };
    const done = (baked: Baked): void => {
        const sentence = wordsOf(baked);
        app.say(sentence, "good");
        if (!baked.notes.length) return dialog.close();
        said.textContent = sentence;
        said.classList.add("good");
        notes.replaceChildren(...baked.notes.map((note) => h("li", {}, note)));
        write.hidden = true;
        close.textContent = "Close";
        close.focus();
    };
    const refused = (error: unknown): void => {
        write.textContent = "Bake";
        if (error instanceof Refusal && error.exists !== null) {
            overwrite = true;
            said.textContent = `${error.exists} exists already. Overwrite it?`;
            write.textContent = "Overwrite";
        } else said.textContent = sentenceOf(error);
        write.focus(); // being disabled took its focus
    };
    const ask = async (): Promise<Baked> => {
        const { motion } = await source.motion();
        return app.server!.bake(app.built!.build, motion, field.value.trim(), overwrite, databaseOf(app));
    };
    // An edit, or a motion from another window, may have come first: try once more with the current ones.
    const askAgain = (error: unknown): Promise<Baked> => {
        if (!(error instanceof Refusal) || error.status !== 409 || error.exists !== null) throw error;
        source.forget();
        return ask();
    };
    const bake = async (): Promise<void> => {
        busy(true);
        try {
            const baked = await ask().catch(askAgain);
            busy(false);
            done(baked);
        } catch (error) {
            busy(false);
            refused(error);
        }
    };
    showFormat();
    const dialog = showDialog("bake", "Bake",
        h("h1", {}, `Bake ${name}`),
        h("form", { method: "dialog", onsubmit: (event: SubmitEvent) => {
            event.preventDefault();
            void bake();
        } },
            h("label", { for: "bake-name" }, "File"), field,
            h("label", { for: "bake-format" }, "Format"), format,
            about, said, notes, h("p", { class: "actions" }, write, close)));
    field.setSelectionRange(0, stemOf(field.value).length);
};
