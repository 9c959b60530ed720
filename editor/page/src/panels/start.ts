// The page of an empty editor: files dropped on it become a project.
import { h } from "../core/dom";
import type { Server } from "../core/server";
import { count, sentenceOf } from "../core/words";

const ACCEPT = ".obj,.ply,.off,.glb,.gltf";

/** Sends the files one after the other, lets the tool make the project, and opens it. */
const begin = async (server: Server, files: readonly File[], say: (text: string, bad?: boolean) => void): Promise<void> => {
    try {
        for (const [i, file] of files.entries()) {
            say(`Reading ${file.name}, ${i + 1} of ${files.length}…`);
            await server.addSculpt(file.name, file);
        }
        say(`Making a project from ${count(files.length, "file")}…`);
        await server.start();
        location.reload();
    } catch (error) {
        say(sentenceOf(error), true);
    }
};

export const startPage = (server: Server, name: string): HTMLElement => {
    const status = h("p", { class: "sentence", role: "status" });
    const field = h("input", { type: "file", accept: ACCEPT, multiple: true, "aria-label": "Sculpts" });
    let busy = false;
    const take = (files: readonly File[]): void => {
        if (busy || files.length === 0) return;
        busy = field.disabled = true;
        void begin(server, files, (text, bad = false) => {
            status.textContent = text;
            if (bad) busy = field.disabled = false;
        });
    };
    field.addEventListener("change", () => take([...(field.files ?? [])]));
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
        event.preventDefault();
        take([...(event.dataTransfer?.files ?? [])]);
    });
    return h(
        "section",
        { class: "failure" },
        h("h1", {}, `${name} is empty`),
        h("p", {}, "Drop sculpts of one mesh here: OBJ or PLY files, the mesh at rest among them, called rest or neutral. Every other file becomes a slider."),
        h("p", {}, "Or drop one glTF file: its morph targets and its skeleton become the project."),
        field,
        status,
    );
};
