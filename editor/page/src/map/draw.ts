// The map's background and marks, in CSS pixels: grid, range, ticks and axis names, then examples, pseudo-examples with
// their arrows, findings of `check`, and the pose.
import { exampleColour, type Colours } from "../core/colours";
import { showNumber } from "../core/dom";
import { discOf, drawLabels, overlaps, SIZE, type Box, type Label, type Placed } from "../core/labels";
import type { Coordinate } from "./axes";
import type { Reach } from "./falloff";
import { ticksOf, type Range } from "./plane";
import type { MapState, Mark } from "./state";
import type { Second } from "./second";

type Context = CanvasRenderingContext2D;

export const ticks = (state: MapState): { x: number[]; y: number[] } => {
    const { plane, x, y } = state;
    return {
        x: ticksOf(plane.x, plane.box.width, state.isLarge ? 84 : 42, x?.unit === "°"),
        y: ticksOf(plane.y, plane.box.height, state.isLarge ? 60 : 30, y?.unit === "°"),
    };
};

/** The middle of the nearest pixel, for lines one pixel wide. */
const crisp = (value: number): number => Math.round(value - 0.5) + 0.5;

const line = (context: Context, x0: number, y0: number, x1: number, y1: number): void => {
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
};

// ---- background ----

/** Inside the plot: lines at the ticks, and the range of the axes. */
export const drawGrid = (context: Context, state: MapState, colours: Colours): void => {
    const { plane } = state;
    const { left, top, width, height } = plane.box;
    const at = ticks(state);
    context.lineWidth = 1;
    context.strokeStyle = colours.quiet;
    context.globalAlpha = 0.16;
    for (const x of at.x) {
        const px = crisp(plane.toPixel(x, 0)[0]);
        line(context, px, top, px, top + height);
    }
    for (const y of at.y) {
        const py = crisp(plane.toPixel(0, y)[1]);
        line(context, left, py, left + width, py);
    }
    const { x, y } = state.ranges;
    const [x0, y1] = plane.toPixel(x.min, y.min).map(crisp) as [number, number];
    const [x1, y0] = plane.toPixel(x.max, y.max).map(crisp) as [number, number];
    context.globalAlpha = 0.75;
    if (state.isGraph) {
        line(context, left, y1, left + width, y1);
        context.globalAlpha = 0.35;
        line(context, x0, top, x0, top + height);
        line(context, x1, top, x1, top + height);
    } else context.strokeRect(x0, y0, x1 - x0, y1 - y0);
    context.globalAlpha = 1;
};

const named = (coordinate: Coordinate | null): string =>
    coordinate ? coordinate.label + (coordinate.unit && coordinate.unit !== "°" ? ` (${coordinate.unit})` : "") : "weight";

/** A text shortened to a width, with an ellipsis. */
const cut = (context: Context, text: string, width: number): string => {
    if (context.measureText(text).width <= width) return text;
    let length = text.length;
    while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > width) length--;
    return `${text.slice(0, length)}…`;
};

const written = (value: number, c: Coordinate | null, range: Range): string =>
    showNumber(value, range.max - range.min) + (c?.unit === "°" ? "°" : "");

/** The width of the widest number at the left edge. */
export const numbersWidth = (context: Context, state: MapState, colours: Colours): number => {
    context.font = `${SIZE}px ${colours.font}`;
    return Math.max(0, ...ticks(state).y.map((value) => context.measureText(written(value, state.y, state.plane.y)).width));
};

/** Outside the plot: numbers at the ticks that do not cover each other, and axis names. Returns the numbers' places. */
export const drawScales = (context: Context, state: MapState, colours: Colours): Placed[] => {
    const { plane, x, y } = state;
    const { left, top, width, height } = plane.box;
    const at = ticks(state);
    const placed: Placed[] = [];
    context.fillStyle = colours.quiet;
    context.font = `${SIZE}px ${colours.font}`;
    context.textBaseline = "middle";
    context.textAlign = "left";
    const put = (text: string, from: number, middle: number, wide: number): void => {
        const place = { left: from, top: middle - SIZE / 2, width: wide, height: SIZE };
        if (placed.some((other) => overlaps({ ...place, left: from - 4, width: wide + 8 }, other))) return;
        placed.push({ ...place, text, led: false });
        context.fillText(text, from, middle);
    };
    for (const value of at.y) {
        const text = written(value, y, plane.y);
        const py = plane.toPixel(0, value)[1];
        const wide = context.measureText(text).width;
        if (py > top + 3 && py < top + height - 1) put(text, left - 5 - wide, py, wide);
    }
    for (const value of at.x) {
        const text = written(value, x, plane.x);
        const px = plane.toPixel(value, 0)[0];
        const wide = context.measureText(text).width;
        if (px - wide / 2 >= 2 && px + wide / 2 <= left + width + 9) put(text, px - wide / 2, top + height + 4 + SIZE / 2, wide);
    }
    context.fillStyle = colours.text;
    context.font = `600 ${SIZE}px ${colours.font}`;
    context.textAlign = "center";
    context.textBaseline = "bottom";
    context.fillText(cut(context, named(x), width), left + width / 2, top + height + 33);
    context.save();
    context.translate(1, top + height / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = "top";
    context.fillText(cut(context, named(y), height), 0, 0);
    context.restore();
    return placed;
};

// ---- marks ----

const alphaOf = (mark: Mark): number => (mark.selected ? 1 : Math.max(0.38, 1 - 1.3 * mark.off) * (mark.muted ? 0.7 : 1));
export const radiusOf = (mark: Mark): number => (mark.selected ? 6.5 : Math.max(3.5, 5.5 - 3 * mark.off));

const circle = (context: Context, x: number, y: number, radius: number): void => {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
};

const diamond = (context: Context, x: number, y: number, radius: number): void => {
    context.beginPath();
    context.moveTo(x, y - radius);
    context.lineTo(x + radius, y);
    context.lineTo(x, y + radius);
    context.lineTo(x - radius, y);
    context.closePath();
};

/** An arrow from the place where a form is taken to its mark; it ends at the mark's edge. */
export const drawArrow = (
    context: Context,
    from: readonly [number, number],
    to: readonly [number, number],
    short: number,
    colour: string,
    dash: number[] = [],
): void => {
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(dx, dy);
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 1.5;
    circle(context, from[0], from[1], 3);
    context.stroke();
    if (length < short + 10) return;
    const [ux, uy] = [dx / length, dy / length];
    const [ex, ey] = [to[0] - ux * short, to[1] - uy * short];
    context.setLineDash(dash);
    line(context, from[0] + 3 * ux, from[1] + 3 * uy, ex - 5 * ux, ey - 5 * uy);
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(ex, ey);
    context.lineTo(ex - 8 * ux - 3.5 * uy, ey - 8 * uy + 3.5 * ux);
    context.lineTo(ex - 8 * ux + 3.5 * uy, ey - 8 * uy - 3.5 * ux);
    context.fill();
};

/** `small`: on a picture, which it should not hide; `tinted`: in the colour that its onion skin has. */
const drawMark = (context: Context, mark: Mark, x: number, y: number, colours: Colours, small: boolean, tinted: boolean): void => {
    const radius = small ? 3.5 : radiusOf(mark);
    const shape = mark.kind === "example" ? circle : diamond;
    const own = mark.kind === "pseudo" ? colours.pseudo : tinted ? exampleColour(mark.index) : mark.selected ? colours.accent : colours.text;
    const size = mark.kind === "pseudo" ? radius + 1 : radius;
    context.globalAlpha = 1;
    shape(context, x, y, size + 1.5);
    context.fillStyle = colours.ground;
    context.fill();
    context.globalAlpha = alphaOf(mark);
    shape(context, x, y, size);
    context.lineWidth = 1.5;
    context.fillStyle = context.strokeStyle = own;
    if (mark.muted) context.stroke();
    else context.fill();
    if (mark.selected) {
        context.lineWidth = 1.5;
        shape(context, x, y, size + 3.5);
        context.stroke();
    }
    if (mark.finding) {
        context.globalAlpha = 1;
        context.lineWidth = 2;
        context.strokeStyle = mark.finding.severity === "error" ? colours.bad : colours.warn;
        circle(context, x, y, size + (mark.selected ? 7 : 4.5));
        context.stroke();
    }
    context.globalAlpha = 1;
};

/** The marks with their names, and other names, which avoid the handles and the pictures. Returns the names' places. */
export const drawMarks = (
    context: Context,
    state: MapState,
    colours: Colours,
    hovered: Mark | null,
    handles: readonly { x: number; y: number }[],
    others: readonly Label[],
    pictures: readonly (Box & { mark: Mark | null })[],
): Placed[] => {
    const { plane } = state;
    // Marks far from the plane first, the selected one last, on top.
    const order = [...state.marks].sort((a, b) => Number(a.selected) - Number(b.selected) || b.off - a.off);
    const seen = order
        .map((mark) => ({ mark, at: plane.toPixel(mark.x, mark.y) }))
        .filter(({ at: [x, y] }) => plane.contains(x, y, 8));
    for (const { mark, at } of seen)
        if (mark.from ?? mark.origin) {
            const { x, y } = (mark.from ?? mark.origin)!;
            context.globalAlpha = alphaOf(mark);
            drawArrow(context, plane.toPixel(x, y), at, radiusOf(mark) + 3, colours.pseudo, mark.from ? [] : [1.5, 3]);
        }
    const isPictured = (mark: Mark): boolean => state.isLarge && pictures.some((picture) => picture.mark === mark);
    for (const { mark, at } of seen) drawMark(context, mark, at[0], at[1], colours, isPictured(mark), state.app.display.onion);
    const labels = seen
        .filter(({ mark }) => mark.kind === "example" || mark.selected || mark === hovered || state.isLarge || state.tree?.pseudo?.[mark.index]?.name)
        .map(({ mark, at: [x, y] }): Label => {
            const tile = state.isLarge ? pictures.find((picture) => picture.mark === mark) : undefined;
            return {
                text: mark.name,
                x,
                y,
                radius: tile ? tile.height / 2 : radiusOf(mark) + (mark.selected ? 4 : 0),
                colour: mark.kind === "pseudo" ? colours.pseudo : colours.text,
                alpha: Math.max(mark.kind === "pseudo" ? 0.7 : 0.72, alphaOf(mark) - (mark.kind === "pseudo" ? 0.1 : 0)),
                needed: mark.selected || mark === hovered,
                below: tile !== undefined,
            };
        });
    const discs = seen.map(({ mark, at: [x, y] }) => discOf({ x, y, radius: radiusOf(mark) }));
    const grips = handles.map(({ x, y }) => discOf({ x, y, radius: 6 }));
    const tiles = pictures.filter((picture) => picture.mark !== null);
    const points = [...seen.map(({ at: [x, y] }) => ({ x, y })), ...others];
    return drawLabels(context, [...labels, ...others], [...discs, ...grips, ...tiles], plane.box, colours, state.sides, points);
};

/** The reach of the selected example, with its handles. */
export const drawReach = (context: Context, reach: Reach, colours: Colours): void => {
    const { x, y, rx, ry } = reach;
    context.strokeStyle = colours.accent;
    context.lineWidth = 1;
    context.globalAlpha = 0.85;
    context.setLineDash([6, 3]);
    if (ry > 0) {
        context.beginPath();
        context.ellipse(x, y, rx, ry, 0, 0, 2 * Math.PI);
        context.stroke();
    } else line(context, x - rx, y, x + rx, y);
    context.setLineDash([]);
    context.globalAlpha = 1;
    for (const handle of reach.handles) {
        circle(context, handle.x, handle.y, 4.5);
        context.fillStyle = colours.ground;
        context.fill();
        context.lineWidth = 2;
        context.stroke();
    }
};

// ---- pose ----

/** The lines of the crosshair, which forms cover, or its ring, which they do not. */
export const drawPose = (context: Context, state: MapState, colours: Colours, part: "lines" | "ring"): void => {
    const { plane, x, y, pose } = state;
    const { left, top, width, height } = plane.box;
    const [px, py] = plane.toPixel(x!.read(pose), y ? y.read(pose) : 0);
    context.strokeStyle = colours.accent;
    context.lineWidth = 1;
    context.globalAlpha = 0.8;
    if (part === "lines") {
        line(context, crisp(px), top, crisp(px), top + height);
        if (y) line(context, left, crisp(py), left + width, crisp(py));
    } else if (y) {
        context.globalAlpha = 1;
        context.lineWidth = 2;
        circle(context, px, py, 8);
        context.stroke();
    }
    context.globalAlpha = 1;
};

/** The crosshair of another layer that reads the same axes under its own names, such as that of the textures. Returns
 * its name. */
export const drawSecond = (context: Context, state: MapState, second: Second, colours: Colours): Label => {
    const { plane } = state;
    const { left, top, width, height } = plane.box;
    const [px, py] = plane.toPixel(second.x, second.y);
    context.strokeStyle = context.fillStyle = colours.good;
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    line(context, crisp(px), top, crisp(px), top + height);
    if (!state.isGraph) line(context, left, crisp(py), left + width, crisp(py));
    context.setLineDash([]);
    context.lineWidth = 2;
    context.strokeRect(px - 6, py - 6, 12, 12);
    return { text: second.name, x: px, y: py, radius: 8, colour: colours.good, alpha: 1, needed: true };
};
