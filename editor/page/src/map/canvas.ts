// The map's canvas: sharp at any pixel density, and painted from the background up. Its methods convert between points
// of the space and positions on the page.
import type { App } from "../core/app";
import { coloursOf, type Colours } from "../core/colours";
import { h } from "../core/dom";
import type { Placed } from "../core/labels";
import { count } from "../core/words";
import { drawCurves } from "./curves";
import { drawArrow, drawGrid, drawMarks, drawPose, drawReach, drawScales, drawSecond, numbersWidth } from "./draw";
import { reachOf } from "./falloff";
import { markAt } from "./gestures";
import type { Forms } from "./forms";
import type { Heat } from "./heat";
import { secondOf } from "./second";
import { WEIGHTS, type MapState } from "./state";

export interface ShownAxis {
    name: string;
    min: number;
    max: number;
    /** Index in a point of the layer; -1 for weights. */
    offset: number;
}

export interface MapCanvas extends HTMLCanvasElement {
    /** Converts values of the shown axes to a position on the page; clientToPoint converts back. */
    pointToClient(point: [number, number]): { x: number; y: number };
    clientToPoint(client: { x: number; y: number }): [number, number];
    shownAxes(): { x: ShownAxis; y: ShownAxis };
    /** The handles for the reach of the selected example: their positions on the page, and their texts. */
    handles(): { x: number; y: number; text: string }[];
    /** The names and numbers on the map: their boxes on the page. */
    labels(): Placed[];
}

export const makeCanvas = (state: MapState): MapCanvas => {
    const canvas = h("canvas", { id: "map", tabindex: 0, role: "application" });
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
        handles: () => {
            const rect = canvas.getBoundingClientRect();
            return (reachOf(state)?.handles ?? []).map(({ x, y, text }) => ({ x: rect.left + x, y: rect.top + y, text }));
        },
        labels: () => {
            const rect = canvas.getBoundingClientRect();
            return state.labels.map((label) => ({ ...label, left: rect.left + label.left, top: rect.top + label.top }));
        },
    });
};

/** Description for screen readers. */
const describe = (state: MapState): string => {
    const { x, y, tree, marks } = state;
    const axes = y ? `${x!.label} to the right, ${y.label} up` : `weights over ${x!.label}`;
    const selected = state.selectedMark ? `; ${state.selectedMark.name} is selected` : "";
    const pseudos = marks.filter((mark) => mark.kind === "pseudo").length;
    return (
        `Map of ${tree!.name}: ${axes}; ${count(marks.length - pseudos, "example")}, ${count(pseudos, "pseudo-example")}${selected}. ` +
        "Arrow keys move the pose, N selects a point, Alt with an arrow key moves it."
    );
};

/** A line from the pose's point, or the pointer, to the place where the form was taken. */
const drawTaken = (context: CanvasRenderingContext2D, state: MapState, colour: string): void => {
    const { plane, taken, pose, x, y, pointer } = state;
    const to = state.busy === "take" && pointer ? pointer : plane.toPixel(x!.read(pose), y?.read(pose) ?? 0);
    drawArrow(context, plane.toPixel(taken!.x, taken!.y), to, 6, colour);
};

/** Resizes the canvas; returns false if it is not visible. */
const prepare = (canvas: HTMLCanvasElement, state: MapState, context: CanvasRenderingContext2D, colours: Colours): boolean => {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height) return false;
    const ratio = devicePixelRatio;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    state.plane.resize(width, height, numbersWidth(context, state, colours));
    return true;
};

export const drawCanvas = (canvas: HTMLCanvasElement, app: App, state: MapState, heat: Heat, forms: Forms): void => {
    const context = canvas.getContext("2d")!;
    const colours = coloursOf();
    if (!prepare(canvas, state, context, colours)) return;
    const { left, top, width, height } = state.plane.box;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    context.fillStyle = colours.ground;
    context.fillRect(left, top, width, height);
    heat.draw(context, colours);
    drawGrid(context, state, colours);
    if (state.isGraph) drawCurves(context, state, colours);
    drawPose(context, state, colours, "lines");
    forms.draw(context, colours);
    drawPose(context, state, colours, "ring");
    const second = secondOf(app, state);
    const others = second ? [drawSecond(context, state, second, colours)] : [];
    const reach = reachOf(state);
    if (reach) drawReach(context, reach, colours);
    const hovered = state.pointer && !state.busy ? (markAt(state, state.pointer)?.mark ?? null) : null;
    const names = drawMarks(context, state, colours, hovered, reach?.handles ?? [], others, forms.tiles);
    if (state.taken) drawTaken(context, state, colours.pseudo);
    context.restore();
    state.labels = [...names, ...drawScales(context, state, colours)];
    const label = describe(state);
    if (canvas.getAttribute("aria-label") !== label) canvas.setAttribute("aria-label", label);
};
