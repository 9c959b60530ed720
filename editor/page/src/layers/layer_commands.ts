// Commands for layers and examples, with their keys.
import type { App, Selection } from "../core/app";
import type { Project, ProjectLayer } from "../core/project";
import { pseudoName } from "../core/words";
import { apply } from "./apply";
import { askToDelete } from "./ask";
import { chooseFiles } from "./drop";
import {
    deleteExample,
    deleteLayer,
    deletePseudo,
    isOnly,
    muteExample,
    muteLayer,
    muteOthers,
    renameExample,
    renameLayer,
    renamePseudo,
} from "./edits";
import type { Point } from "./examples";
import type { List } from "./list";
import { showNewLayer } from "./newlayer";
import { rename } from "./rename";

export interface Rows {
    layers: List<ProjectLayer>;
    examples: List<Point>;
}

const renameIn = (
    rows: List<ProjectLayer> | List<Point>,
    key: string,
    name: string,
    keep: (name: string) => string | null,
): void => {
    const place = rows.row(key)?.element.querySelector<HTMLElement>(".words");
    if (place) rename(place, name, keep, () => rows.focus());
};

const renameSelected = (app: App, rows: Rows): void => {
    const { layer, example, pseudo } = app.selection;
    const inLayers = rows.layers.hasFocus || (example === null && pseudo === null);
    if (inLayers) {
        const name = app.layer?.name ?? "";
        renameIn(rows.layers, name, name, (wanted) => apply(app, renameLayer(app.history.tree, layer, wanted)));
    } else if (pseudo !== null) {
        const name = pseudoName(app.layer?.pseudo?.[pseudo], pseudo);
        renameIn(rows.examples, `p/${pseudo}`, name, (wanted) => apply(app, renamePseudo(app.history.tree, layer, pseudo, wanted)));
    } else if (example !== null)
        renameIn(rows.examples, `e/${example}`, example, (wanted) => {
            const refused = apply(app, renameExample(app.history.tree, layer, example, wanted));
            if (refused === null) app.select({ example: wanted });
            return refused;
        });
};

/** Sets the pose to the selected example or pseudo-example. */
const goThere = (app: App): void => {
    const { layer, example, pseudo } = app.selection;
    const point = pseudo === null ? undefined : app.layer?.pseudo?.[pseudo];
    if (point) app.pose((pose) => app.stage.setPlace(pose.rest(), point.at));
    else if (example !== null) app.goTo(layer, example);
};

/** Selects the deleted item again when its deletion is undone. */
const deleting = (app: App): ((work: () => void) => void) => {
    const deleted = new WeakMap<Project, Selection>();
    let shown = app.history.tree;
    app.on("tree", () => {
        const { tree } = app.history;
        const before = tree === shown ? undefined : deleted.get(tree);
        shown = tree;
        if (before) app.select(before);
    });
    return (work) => {
        const { tree } = app.history;
        const { selection } = app;
        work();
        if (app.history.tree !== tree) deleted.set(tree, selection);
    };
};

const deletePseudoSelected = (app: App, layer: number, pseudo: number): void => {
    if (apply(app, deletePseudo(app.history.tree, layer, pseudo)) !== null) return;
    const left = app.layer?.pseudo?.length ?? 0;
    app.select({ example: null, pseudo: left ? Math.min(pseudo, left - 1) : null });
};

const deleteSelected = (app: App): void => {
    const { layer, example, pseudo } = app.selection;
    const of = app.layer;
    if (of && pseudo !== null) return deletePseudoSelected(app, layer, pseudo);
    if (!of || example === null) return;
    if (of.examples.length === 1)
        return askToDelete(
            app,
            `'${example}' is the only example of layer '${of.name}', and every layer needs one.`,
            layer,
        );
    const at = of.examples.findIndex((e) => e.name === example);
    if (apply(app, deleteExample(app.history.tree, layer, example)) !== null) return;
    // Select the next one, so that several can be deleted in a row.
    const left = app.layer?.examples ?? [];
    app.select({ example: left[Math.min(at, left.length - 1)]?.name ?? null });
};

/** Shows one layer alone, and on the next call the others as they were. */
const showOnly = (app: App): (() => void) => {
    let before: { layer: number; muted: boolean[] } | null = null;
    return () => {
        const { tree } = app.history;
        const { layer } = app.selection;
        if (isOnly(tree, layer)) {
            const old = before?.layer === layer && before.muted.length === tree.layers.length ? before.muted : null;
            apply(app, muteOthers(tree, "showed all layers", (i) => old?.[i] ?? false));
        } else {
            before = { layer, muted: tree.layers.map((l) => l.muted ?? false) };
            apply(app, muteOthers(tree, `showed only '${tree.layers[layer]!.name}'`, (i) => i !== layer));
        }
    };
};

export const addLayerCommands = (app: App, rows: Rows): void => {
    const served = app.server !== null;
    const hasExample = (): boolean => app.example !== null && app.selection.pseudo === null;
    const hasPoint = (): boolean => app.example !== null || app.selection.pseudo !== null;
    const { commands } = app;
    commands.add(
        {
            id: "mute-layer",
            label: "Mute or unmute the layer",
            group: "Edit",
            keys: ["Shift+M"],
            run: () => void apply(app, muteLayer(app.history.tree, app.selection.layer)),
            enabled: () => app.layer !== null,
        },
        {
            id: "only",
            label: "Show only the selected layer, or all layers again",
            group: "Edit",
            keys: ["V"],
            run: showOnly(app),
            enabled: () => app.tree.layers.length > 1,
        },
        {
            id: "go-there",
            label: "Go to the selected example (also double click, or Enter in the list)",
            group: "Pose",
            keys: [],
            run: () => goThere(app),
            enabled: hasPoint,
        },
    );
    if (!served) return;
    const keepingSelection = deleting(app);
    commands.add(
        {
            id: "add-example",
            label: "Add an example at this pose from a file",
            group: "Edit",
            keys: ["Insert"],
            run: () => chooseFiles(app),
            enabled: () => app.layer !== null,
        },
        {
            id: "add-layer",
            label: "Add a layer",
            group: "Edit",
            keys: ["Shift+A"],
            run: () => showNewLayer(app),
        },
        {
            id: "rename",
            label: "Rename the selected layer or example",
            group: "Edit",
            keys: ["F2"],
            run: () => renameSelected(app, rows),
            enabled: () => app.layer !== null,
        },
        {
            id: "mute-example",
            label: "Mute or unmute the example",
            group: "Edit",
            keys: ["M"],
            run: () => void apply(app, muteExample(app.history.tree, app.selection.layer, app.selection.example!)),
            enabled: hasExample,
        },
        {
            id: "delete-example",
            label: "Delete the example or pseudo-example",
            group: "Edit",
            keys: ["Delete"],
            run: () => keepingSelection(() => deleteSelected(app)),
            enabled: hasPoint,
        },
        {
            id: "delete-layer",
            label: "Delete the layer",
            group: "Edit",
            keys: ["Shift+Delete"],
            run: () => keepingSelection(() => void apply(app, deleteLayer(app.history.tree, app.selection.layer))),
            enabled: () => app.tree.layers.length > 1,
        },
    );
};
