// The map of the selected layer's space: two of its axes, the examples and pseudo-examples, the pose, and the weights
// in between. For a layer with one axis, the weights over that axis.
import type { App } from "../core/app";
import { commandButton } from "../core/buttons";
import { h, setText } from "../core/dom";
import { drawCanvas, makeCanvas } from "./canvas";
import { addEnlarge } from "./enlarge";
import { Forms } from "./forms";
import { addGestures } from "./gestures";
import { Heat } from "./heat";
import { addKeys, movePose } from "./keys";
import { captionOf, wordsOf } from "./legend";
import { Preview } from "./preview";
import { MapState, WEIGHTS, type Chosen } from "./state";

type Option = readonly [value: string, label: string];

const fill = (element: HTMLSelectElement, options: readonly Option[], value: string): void => {
    const key = JSON.stringify(options);
    if (element.dataset["options"] !== key) {
        element.dataset["options"] = key;
        element.replaceChildren(...options.map(([id, label]) => h("option", { value: id }, label)));
    }
    if (element.value !== value) element.value = value;
};

/** The selects for both axes and the weight. */
const makeSelects = (app: App, state: MapState) => {
    const make = (id: string, label: string, choose: (value: string) => void): HTMLSelectElement => {
        const element = h("select", { id, title: label, "aria-label": label, onchange: () => choose(element.value) });
        return element;
    };
    const x = make("map-x", "Horizontal axis of the map", (id) => state.show("x", id));
    const y = make("map-y", "Vertical axis of the map", (id) => state.show("y", id));
    const weight = make("map-weight", "Weight that colours the map (H)", (value) => {
        state.chosen = value as Chosen;
        app.invalidate();
    });
    const update = (): void => {
        const axes = state.coordinates.map((c): Option => [c.id, c.label]);
        fill(x, axes, state.x?.id ?? "");
        fill(y, [...(axes.length > 1 ? axes : []), [WEIGHTS, "weights"]], state.y?.id ?? WEIGHTS);
        const examples = (state.layer?.examples ?? []).map((e): Option => [`=${e.name}`, e.name]);
        const known = state.chosen.startsWith("=") && !examples.some(([id]) => id === state.chosen);
        if (known) state.chosen = "selected";
        const rest: Option[] = [["selected", "of the selected example"], ["smallest", "smallest of all"], ["none", "none"]];
        fill(weight, [...rest, ...examples], state.chosen);
    };
    const named = (text: string, element: HTMLElement) => h("label", {}, h("span", { "aria-hidden": "true" }, text), element);
    const row = h("div", { class: "choices" }, named("Across", x), named("Up", y), named("Weight", weight));
    return { row, update };
};

const makeButtons = (app: App, state: MapState, canvas: HTMLCanvasElement) => {
    const button = (id: string, text: string): HTMLButtonElement => {
        const element = commandButton(app, id, text);
        // So that Enter places the form instead of pressing the button again.
        element.addEventListener("click", () => canvas.focus({ preventScroll: true }));
        return element;
    };
    const [large, take] = [button("map-enlarge", "Enlarge map"), button("map-take", "Use this form")];
    const [forms, picture, fit] = [button("map-forms", "Forms"), button("map-picture", "Form at pointer"), button("map-fit", "Frame all")];
    take.title = "Take the form at the pose, then click where you want it (T). Or drag with Alt.";
    const update = (): void => {
        take.setAttribute("aria-pressed", String(state.taken !== null));
        picture.setAttribute("aria-pressed", String(state.picture));
        forms.setAttribute("aria-pressed", String(state.forms));
        setText(large, state.isLarge ? "Close map (Esc)" : "Enlarge map");
    };
    return { row: h("div", { class: "buttons" }, large, take, forms, picture, fit), update };
};

export const mapPanel = (app: App): HTMLElement => {
    const state = new MapState(app);
    const canvas = makeCanvas(state);
    const panel = h("div", { class: "map" });
    addKeys(app, state);
    addEnlarge(app, state, panel, canvas);
    const selects = makeSelects(app, state);
    const buttons = makeButtons(app, state, canvas);
    const missing = h("p", { class: "missing" });
    const under = { place: h("span", { class: "place" }), weights: h("span", { class: "weights-here" }) };
    const legend = h("p", { class: "legend" }, under.place, under.weights);
    const caption = h("p", { class: "caption" });
    const dock = h("div", { class: "dock" });
    const body = h("div", { class: "body" }, selects.row, canvas, dock, caption, legend, buttons.row);
    const preview = new Preview(app, state, canvas, dock);

    let captioned = "";
    const writeCaption = (): void => {
        const parts = captionOf(state);
        const key = JSON.stringify(parts);
        if (key === captioned) return;
        captioned = key;
        caption.replaceChildren(...parts.map(([colour, text]) =>
            h("span", { title: text }, colour && h("i", { class: colour, "aria-hidden": "true" }), text)));
    };
    const write = (): void => {
        writeCaption();
        const words = wordsOf(state);
        under.place.textContent = under.place.title = words.place;
        under.weights.textContent = under.weights.title = words.weights;
        if (canvas.title !== words.title) canvas.title = words.title;
    };
    const update = (): void => {
        state.update();
        const why = state.missing;
        missing.textContent = why ?? "";
        missing.hidden = why === null;
        body.hidden = why !== null;
        selects.update();
        buttons.update();
        if (why === null) {
            drawCanvas(canvas, app, state, heat, forms);
            write();
        }
        preview.update();
    };
    let asked = 0;
    let shown = app.layer;
    const redraw = (): void => {
        asked ||= requestAnimationFrame(() => {
            asked = 0;
            // If the rig does not follow this tree yet, the App's next frame updates the map.
            if (app.layer === shown) update();
        });
    };
    const heat = new Heat(state, redraw);
    const forms = new Forms(app, state, redraw);
    // For tests, and for the browser's console.
    Object.assign(canvas, { forms });
    app.on("frame", () => {
        shown = app.layer;
        update();
    });
    app.on("rig", () => state.update()); // a pointer event may come before the next frame
    app.on("status", redraw);
    new ResizeObserver(redraw).observe(canvas);
    addGestures(app, state, canvas, redraw);
    canvas.addEventListener("keydown", (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        if (movePose(app, state, event.key, event.shiftKey ? 0.1 : 0.01)) event.preventDefault();
        else if (/^[+=−-]$/.test(event.key) && state.missing === null) {
            const { left, top, width, height } = state.plane.box;
            state.plane.zoom(left + width / 2, top + height / 2, /[+=]/.test(event.key) ? 0.8 : 1.25, state.ranges);
            event.preventDefault();
            redraw();
        }
    });
    panel.append(missing, body);
    return panel;
};
