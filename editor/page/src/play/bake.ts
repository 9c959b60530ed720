// Writes what is played as a file that plays without Exemplar: asks for its name, and before it writes over another.
import type { App } from "../core/app";
import { showDialog } from "../core/dialog";
import { h } from "../core/dom";
import { Refusal, type Baked } from "../core/server";
import { count, millimetres, sentenceOf, stemOf } from "../core/words";
import type { Source } from "./source";

const FORMATS = {
    ".glb": "glTF: morph targets, a skin and an animation, which any engine plays. Every frame is compared with the rig.",
    ".pc2": "A point cache: every vertex at every frame, exact. One rate for all frames.",
    ".mdd": "A point cache: every vertex at every frame, exact. Each frame has its time.",
    ".obj": "Numbered OBJ files, one a frame, exact, with faces and groups.",
} as const;
type Format = keyof typeof FORMATS;

const formatOf = (name: string): Format | null => {
    const end = /\.[^./]*$/.exec(name)?.[0].toLowerCase();
    return end && end in FORMATS ? (end as Format) : null;
};

/** What was written, and how good it is. */
export const wordsOf = (baked: Baked): string => {
    const frames = count(baked.frames, "frame");
    if (baked.maximum === null) return `Baked ${baked.path}: ${frames}, every vertex exact.`;
    if (baked.maximum < 1e-6) return `Baked ${baked.path}: ${frames}, no error beyond rounding.`;
    return `Baked ${baked.path}: ${frames}, at most ${millimetres(baked.maximum)} off the rig, ` +
        `${millimetres(baked.rms ?? 0)} rms.`;
};

export const bakeForm = (app: App, source: Source): void => {
    const { name } = source;
    const field = h("input", { type: "text", id: "bake-name", value: `${stemOf(app.name)}-${stemOf(name)}.glb`,
        autocomplete: "off", spellcheck: "false", oninput: () => (fresh(), showFormat()) });
    const format = h("select", { id: "bake-format", onchange: () => {
        field.value = stemOf(field.value) + format.value;
        fresh();
        showFormat();
    } }, ...Object.keys(FORMATS).map((end) => h("option", { value: end }, end)));
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
        const known = formatOf(field.value);
        if (known) format.value = known;
        about.textContent = known ? FORMATS[known] : "The name ends in .glb, .pc2, .mdd or .obj.";
        write.disabled = !known;
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
    const refused = (error: unknown, known: boolean): void => {
        write.textContent = "Bake";
        if (known && error instanceof Refusal && error.status === 409) {
            overwrite = true;
            said.textContent = `${field.value} exists: write over it?`;
            write.textContent = "Write over it";
        } else said.textContent = sentenceOf(error);
        write.focus(); // what was disabled has lost it
    };
    const bake = async (): Promise<void> => {
        busy(true);
        let known = false; // the motion is of the last build: what is refused now is the name
        try {
            const { motion: id } = await source.motion();
            known = true;
            const baked = await app.server!.bake(app.built!.build, id, field.value.trim(), overwrite);
            busy(false);
            done(baked);
        } catch (error) {
            busy(false);
            refused(error, known);
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
