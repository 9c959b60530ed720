// The map of the selected layer's space: two of its axes, the examples and pseudo-examples on them, the pose, and what
// the weights are in between. Where a layer has one axis, the weights over it.
import type { App } from "../core/app";
import { h } from "../core/dom";
import { coloursOf } from "./colours";
import { drawArrow, drawGrid, drawMarks, drawPose, drawScales, drawSecond } from "./draw";
import { addGestures, markAt } from "./gestures";
import { secondOf } from "./second";
import { MapState, WEIGHTS } from "./state";

/** What the canvas offers to whoever holds it. */
export interface MapCanvas extends HTMLCanvasElement {
    pointToClient(point: [number, number]): { x: number; y: number };
    clientToPoint(client: { x: number; y: number }): [number, number];
    shownAxes(): { x: ShownAxis; y: ShownAxis };
}
interface ShownAxis {
    name: string;
    min: number;
    max: number;
    /** In a point of the layer; -1 for weights. */
    offset: number;
}

const addMethods = (canvas: HTMLCanvasElement, state: MapState): MapCanvas => {
    const axis = (edge: "x" | "y"): ShownAxis => {
        const c = state[edge];
        return c ? { name: c.label, min: c.min, max: c.max, offset: c.offset } : { name: WEIGHTS, min: 0, max: 1, offset: -1 };
    };
    return Object.assign(canvas, {
        pointToClient: ([x, y]: [number, number]) => {
            const [px, py] = state.plane.toPixel(x, y);
            const rect = canvas.getBoundingClientRect();
            return { x: rect.left + px, y: rect.top + py };
        },
        clientToPoint: ({ x, y }: { x: number; y: number }) => {
            const rect = canvas.getBoundingClientRect();
            return state.plane.toValue(x - rect.left, y - rect.top);
        },
        shownAxes: () => ({ x: axis("x"), y: axis("y") }),
    });
};

export const mapPanel = (app: App): HTMLElement => {
    const state = new MapState(app);
    const canvas = h("canvas", { id: "map", tabindex: 0, role: "application" });
    const context = canvas.getContext("2d")!;
    addMethods(canvas, state);
    const edge = (name: "x" | "y", label: string): HTMLSelectElement =>
        h("select", {
            id: `map-${name}`,
            "aria-label": label,
            title: label,
            onchange: () => state.show(name, select[name].value),
        });
    const select = { x: edge("x", "Axis across the map"), y: edge("y", "Axis up the map") };
    const missing = h("p", { class: "missing" });
    const body = h("div", { class: "body" }, canvas);

    const fill = (element: HTMLSelectElement, options: readonly [string, string][], value: string): void => {
        const key = JSON.stringify(options);
        if (element.dataset["options"] !== key) {
            element.dataset["options"] = key;
            element.replaceChildren(...options.map(([id, label]) => h("option", { value: id }, label)));
        }
        if (element.value !== value) element.value = value;
    };
    const fillSelects = (): void => {
        const axes = state.coordinates.map((c): [string, string] => [c.id, c.label]);
        fill(select.x, axes, state.x?.id ?? "");
        fill(select.y, [...(axes.length > 1 ? axes : []), [WEIGHTS, "weights"]], state.y?.id ?? WEIGHTS);
    };

    const draw = (): void => {
        const { clientWidth: width, clientHeight: height } = canvas;
        if (!width || !height) return;
        const ratio = devicePixelRatio;
        const [w, hh] = [Math.round(width * ratio), Math.round(height * ratio)];
        if (canvas.width !== w || canvas.height !== hh) [canvas.width, canvas.height] = [w, hh];
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, height);
        state.plane.resize(width, height);
        const colours = coloursOf(canvas);
        const { left, top, width: bw, height: bh } = state.plane.box;
        context.save();
        context.beginPath();
        context.rect(left, top, bw, bh);
        context.clip();
        context.fillStyle = colours.ground;
        context.fillRect(left, top, bw, bh);
        drawGrid(context, state, colours);
        drawPose(context, state, colours);
        const second = secondOf(app, state);
        if (second) drawSecond(context, state, second, colours);
        const hovered = state.pointer && !state.busy ? (markAt(state, state.pointer)?.mark ?? null) : null;
        drawMarks(context, state, colours, hovered);
        if (state.taken) {
            const { plane, taken, pose } = state;
            const to = state.busy === "take" ? state.pointer! : plane.toPixel(state.x!.read(pose), state.y?.read(pose) ?? 0);
            drawArrow(context, plane.toPixel(taken.x, taken.y), to, 6, colours.pseudo);
        }
        context.restore();
        drawScales(context, state, colours);
    };

    const update = (): void => {
        state.update();
        const why = state.missing;
        missing.textContent = why ?? "";
        missing.hidden = why === null;
        body.hidden = why !== null;
        fillSelects();
        if (why === null) draw();
    };
    let asked = 0;
    const redraw = (): void => {
        asked ||= requestAnimationFrame(() => {
            asked = 0;
            update();
        });
    };
    app.on("frame", update);
    app.on("status", redraw);
    app.on("selection", redraw);
    new ResizeObserver(redraw).observe(canvas);
    addGestures(app, state, canvas, redraw);
    return h("div", { class: "map" }, missing, h("div", { class: "axes-row" }, select.x, select.y), body);
};
