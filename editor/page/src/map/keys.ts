// Keyboard control of the map: every edit is one undo step.
import type { App } from "../core/app";
import { removePseudo } from "../core/project";
import { pseudoName } from "../core/words";
import { moveTo, placeForm, takeForm } from "./edit";
import { reachOf } from "./falloff";
import { setPose } from "./gestures";
import { placeText } from "./legend";
import type { Chosen, MapState } from "./state";

const ARROWS: { [key: string]: [number, number] } = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, 1],
    ArrowDown: [0, -1],
};
const arrow = (key: string | undefined): [number, number] => ARROWS[key?.split("+").at(-1) ?? ""] ?? [0, 0];
const arrows = (held: string): string[] => Object.keys(ARROWS).map((key) => held + key);

const step = (state: MapState, edge: "x" | "y", share: number): number =>
    share * (state.ranges[edge].max - state.ranges[edge].min);

const isThere = (state: MapState): boolean => state.missing === null;

/** Selects the next or previous mark, wrapping around. */
const selectNext = (app: App, state: MapState, by: number): void => {
    state.update(); // keys may come faster than frames
    const { marks } = state;
    if (!marks.length) return;
    const now = marks.findIndex((mark) => mark.selected);
    const mark = marks[now < 0 ? (by > 0 ? 0 : marks.length - 1) : (now + by + marks.length) % marks.length]!;
    app.select(mark.kind === "example" ? { example: mark.name, pseudo: null } : { example: null, pseudo: mark.index });
    app.say(`${mark.name}: ${placeText(state, mark.x, mark.y)}`);
};

const moveSelected = (app: App, state: MapState, key: string | undefined, share: number): void => {
    state.update();
    const mark = state.selectedMark;
    if (!mark) return;
    const [dx, dy] = arrow(key);
    const [x, y] = [mark.x + dx * step(state, "x", share), mark.y + dy * step(state, "y", share)];
    app.edit(`moved '${mark.name}'`, moveTo(state, mark, "at", x, y));
    app.say(`${mark.name}: ${placeText(state, x, y)}`);
};

/** Changes the reach of the selected example: End and Home horizontally, Page Up and Page Down vertically. */
const setReach = (app: App, state: MapState, key: string | undefined): void => {
    state.update();
    const handles = reachOf(state)?.handles ?? [];
    const handle = /Page/.test(key ?? "") ? (handles[1] ?? handles[0]) : handles[0];
    if (!handle) {
        app.say("Nothing here has a reach. Select an example of a gaussian layer, or of a cardinal layer with a local kernel.");
        return;
    }
    app.edit(handle.label, handle.scale(/End|PageUp/.test(key ?? "") ? 1.1 : 1 / 1.1));
    state.update();
    app.say(reachOf(state)?.handles[handles.indexOf(handle)]?.text ?? "");
};

/** Moves the pose along the shown axes. */
export const movePose = (app: App, state: MapState, key: string, share: number): boolean => {
    if (!isThere(state) || !(key in ARROWS)) return false;
    state.update();
    const [dx, dy] = arrow(key);
    const x = state.x!.read(state.pose) + dx * step(state, "x", share);
    const y = (state.y?.read(state.pose) ?? 0) + dy * step(state, "y", share);
    setPose(app, state, state.pointAt(x, y));
    return true;
};

export const take = (app: App, state: MapState): void => {
    if (state.taken) {
        state.taken = null;
        app.say("Cancelled: the taken form was dropped.");
    } else {
        app.frame(); // so that the weights match the picture
        state.taken = takeForm(state, state.x!.read(state.pose), state.y?.read(state.pose) ?? 0);
        app.say("Took the form at the pose. Click where you want it, drag from another form, or move the pose and press Enter.");
    }
    app.invalidate();
};

const place = (app: App, state: MapState): void => {
    const { taken } = state;
    if (!taken) return;
    state.update();
    state.taken = null;
    const count = state.tree?.pseudo?.length ?? 0;
    app.edit("placed a form", placeForm(state, taken, state.x!.read(state.pose), state.y?.read(state.pose) ?? 0));
    app.select({ example: null, pseudo: count });
};

const remove = (app: App): void => {
    const { layer, pseudo } = app.selection;
    if (pseudo === null) return;
    const name = pseudoName(app.layer?.pseudo?.[pseudo], pseudo);
    app.select({ pseudo: null });
    app.edit(`deleted '${name}'`, (tree) => removePseudo(tree, layer, pseudo));
};

/** Cycles through the weights: the selected example's, each example's, the smallest, none. */
const cycle = (app: App, state: MapState): void => {
    const all: Chosen[] = ["selected", ...(state.layer?.examples.map((e): Chosen => `=${e.name}`) ?? []), "smallest", "none"];
    state.chosen = all[(all.indexOf(state.chosen) + 1) % all.length]!;
    const said = { selected: "weight of the selected example", smallest: "smallest weight", none: "" };
    const words = state.chosen in said ? said[state.chosen as keyof typeof said] : `weight of ${state.chosen.slice(1)}`;
    app.say(words ? `The map shows the ${words}.` : "The map shows no weight.");
    app.invalidate();
};

export const addKeys = (app: App, state: MapState): void => {
    const group = "Space";
    const isSelected = (): boolean =>
        isThere(state) && !app.isDragging && (app.selection.example !== null || app.selection.pseudo !== null);
    const there = (): boolean => isThere(state);
    app.commands.add(
        { id: "map-next", label: "Select the next example or pseudo-example", group, keys: ["N"], enabled: there,
            run: () => selectNext(app, state, 1) },
        { id: "map-previous", label: "Select the previous one", group, keys: ["Shift+N"], enabled: there,
            run: () => selectNext(app, state, -1) },
        { id: "map-move", label: "Move the selected point by 1 % of the range", group, keys: arrows("Alt+"),
            enabled: isSelected, run: (key) => moveSelected(app, state, key, 0.01) },
        { id: "map-move-far", label: "Move the selected point by 10 %", group, keys: arrows("Alt+Shift+"), enabled: isSelected,
            run: (key) => moveSelected(app, state, key, 0.1) },
        { id: "map-reach", label: "Less or more reach, horizontally and vertically", group, enabled: isSelected,
            keys: ["Alt+Home", "Alt+End", "Alt+PageDown", "Alt+PageUp"], run: (key) => setReach(app, state, key) },
        { id: "map-take", label: "Take the form at the pose", group, keys: ["T"], enabled: there,
            run: () => take(app, state) },
        { id: "map-place", label: "Place the taken form at the pose", group, keys: ["Enter"],
            enabled: () => isThere(state) && state.taken !== null, run: () => place(app, state) },
        { id: "map-weight", label: "Show the next weight on the map", group, keys: ["H"], enabled: there,
            run: () => cycle(app, state) },
        { id: "map-picture", label: "Show the form under the pointer, beside the map", group, keys: ["P"], enabled: there,
            run: () => {
                state.picture = !state.picture;
                app.invalidate();
            } },
        { id: "map-forms", label: "Show the forms of the examples on the map", group, keys: ["Shift+P"], enabled: there,
            run: () => {
                state.forms = !state.forms;
                app.invalidate();
            } },
        { id: "map-fit", label: "Show all examples and the whole range on the map", group, keys: ["I"], enabled: there,
            run: () => {
                state.fit();
                app.invalidate();
            } },
    );
    // With a server, the Delete command of the list handles both kinds.
    if (!app.server)
        app.commands.add({ id: "map-delete", label: "Delete the selected pseudo-example", group, keys: ["Delete"],
            enabled: () => app.selection.pseudo !== null && app.selection.example === null, run: () => remove(app) });
};
