// Files dropped anywhere on the page, or chosen in a dialog, become examples.
import type { App } from "../core/app";
import { h } from "../core/dom";
import { FORMS, isMotion, layerFor, placesFor, refusalOf, withExamples, type Added } from "./newexample";
import { count, sentenceOf } from "../core/words";

/** Adds files as examples at the current pose, in one step. Unreadable files are named; the others are added. */
export const addFiles = async (app: App, files: readonly File[]): Promise<void> => {
    if (!app.server || files.length === 0) return;
    await app.build(); // places depend on earlier changes
    const index = layerFor(app, files[0]!.name);
    const fit = files.filter((file) => index !== null && layerFor(app, file.name) === index);
    const strange = files.find((file) => !fit.includes(file));
    if (index === null || fit.length === 0) return app.say(refusalOf(app, (strange ?? files[0]!).name), "bad");
    const { name } = app.tree.layers[index]!;
    const { places, said } = placesFor(app, index, fit.length);
    if (places.length === 0) return app.say(said ?? "", "bad");
    const added: Added[] = [];
    let refused: string | null = strange ? refusalOf(app, strange.name) : null;
    for (const file of fit) {
        const placed = places[added.length];
        if (!placed) break;
        try {
            added.push({ file: file.name, path: await app.server.addFile(file.name, file), placed });
        } catch (error) {
            refused = sentenceOf(error);
        }
    }
    // Sending files may take a while, and layers may have come and gone meanwhile.
    const now = app.history.tree.layers.findIndex((layer) => layer.name === name);
    if (now < 0) return app.say(`Layer '${name}' was deleted meanwhile, so the files were not added.`, "bad");
    if (added.length > 0) {
        const { tree, names } = withExamples(app.history.tree, now, added);
        const what = names.length === 1 ? `added '${names[0]}'` : `added ${count(names.length, "example")}`;
        app.edit(what, () => tree);
        app.select({ layer: now, example: names[0]!, pseudo: null });
        app.say(said ?? `${names.length === 1 ? `'${names[0]}' was` : `${count(names.length, "example")} were`} added to '${name}'.`);
    }
    if (refused !== null) app.say(refused, "bad");
};

/** Plays a dropped motion, and adds all other files as examples. */
const takeFiles = async (app: App, files: readonly File[]): Promise<void> => {
    const motions = await Promise.all(files.map((file) => isMotion(app, file)));
    const motion = files.find((_, i) => motions[i]);
    if (motion) await app.playFile?.(motion);
    await addFiles(app, files.filter((_, i) => !motions[i]));
};

export const chooseFiles = (app: App): void => {
    const pixels = app.layer?.shape === "pixels";
    const accept = pixels ? ".png,.jpg,.jpeg" : FORMS.map((end) => `.${end}`).join(",");
    const field = h("input", { type: "file", accept, multiple: true, class: "file", "aria-label": "Forms to add" });
    field.addEventListener("change", () => void addFiles(app, [...(field.files ?? [])]).catch((error) => app.fail(error)));
    field.click();
};

export const acceptDrops = (app: App): void => {
    const sign = h("div", { class: "dropping", hidden: true }, h("p", {}));
    document.body.append(sign);
    const has = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
    let leaving = 0;
    const hide = (): void => {
        sign.hidden = true;
    };
    // A file dropped on a dialog belongs to its fields. If it has none, the file is ignored: the browser must not open
    // it in place of the page.
    const isElsewhere = (event: DragEvent): boolean => {
        if (!document.querySelector("dialog:modal")) return false;
        if (!(event.target as Element).closest("input[type=file]")) event.preventDefault();
        return true;
    };
    addEventListener("dragover", (event) => {
        if (!has(event) || event.defaultPrevented || isElsewhere(event)) return;
        event.preventDefault();
        event.dataTransfer!.dropEffect = "copy";
        sign.firstElementChild!.textContent = app.layer
            ? `Drop a form to add it to '${app.layer.name}' at this pose, or a motion to play it` : "Drop a motion to play it";
        sign.hidden = false;
        clearTimeout(leaving);
        leaving = window.setTimeout(hide, 300); // dragover repeats all the time; silence means the file left the page
    });
    addEventListener("drop", (event) => {
        hide();
        if (!has(event) || event.defaultPrevented || isElsewhere(event)) return;
        event.preventDefault();
        void takeFiles(app, [...(event.dataTransfer?.files ?? [])]).catch((error) => app.fail(error));
    });
};
