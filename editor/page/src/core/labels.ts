// Places names next to their marks on a canvas. The important names come first. Each takes the first place around its
// mark that is inside the box, covers neither another name nor a mark, and is not nearer to another mark; farther places
// get a line to the mark. A name without any such place is left out, unless it is needed.
import type { Colours } from "./colours";

export interface Box {
    left: number;
    top: number;
    width: number;
    height: number;
}

export interface Label {
    text: string;
    /** Position and size of the mark. */
    x: number;
    y: number;
    radius: number;
    colour: string;
    alpha: number;
    /** Always drawn, and first. */
    needed: boolean;
    /** Keeps its distance from the mark's lower side: the mark is a picture with its name below. */
    below?: boolean;
    /** The side to try first. */
    away?: readonly [number, number];
}

export interface Placed extends Box {
    readonly text: string;
    /** True if a line leads to it. */
    readonly led: boolean;
}

export const SIZE = 11;
const HEIGHT = 13;
const GAP = 4;
/** Extra distances for a name if there is no room next to its mark. */
const FAR = [12, 24, 36, 52, 72];

export const overlaps = (a: Box, b: Box): boolean =>
    a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;

const inside = (a: Box, b: Box): boolean =>
    a.left >= b.left && a.top >= b.top && a.left + a.width <= b.left + b.width && a.top + a.height <= b.top + b.height;

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(value, most));

/** Moves a box that crosses an edge inside. */
const drawnIn = (place: Box, box: Box): Box => ({
    ...place,
    left: clamp(place.left, box.left, box.left + box.width - place.width),
    top: clamp(place.top, box.top, box.top + box.height - place.height),
});

/** Positions around the mark: beside and above first, away from grid lines. */
const around = ({ x, y, radius, below, away }: Label, width: number, off = 0): Box[] => {
    const r = radius + GAP + off;
    const c = 0.7 * r;
    const at = (left: number, top: number): Box => ({ left, top, width, height: HEIGHT });
    const under = at(x - width / 2, y + r - (below ? GAP : 0));
    const sides = [
        at(x + c, y - c - HEIGHT + 2),
        at(x - c - width, y - c - HEIGHT + 2),
        at(x + c, y + c - 2),
        at(x - c - width, y + c - 2),
        at(x + r, y - HEIGHT / 2),
        at(x - r - width, y - HEIGHT / 2),
        at(x - width / 2, y - r - HEIGHT),
    ];
    if (below) return [under, ...sides];
    if (!away) return [...sides, under];
    const ahead = ({ left, top }: Box): number => {
        const [dx, dy] = [left + width / 2 - x, top + HEIGHT / 2 - y];
        return (dx * away[0] + dy * away[1]) / Math.hypot(dx, dy);
    };
    return [...sides, under].sort((a, b) => ahead(b) - ahead(a));
};

/** The end of a line from a mark to its name; null if they are next to each other. */
const lineTo = ({ x, y, radius }: Label, place: Box): { from: [number, number]; to: [number, number] } | null => {
    const tx = clamp(x, place.left, place.left + place.width);
    const ty = clamp(y, place.top, place.top + place.height);
    const length = Math.hypot(tx - x, ty - y);
    if (length <= radius + GAP + 6) return null;
    return { from: [x + ((tx - x) * radius) / length, y + ((ty - y) * radius) / length], to: [tx, ty] };
};

/** True if the line to a place crosses one of the boxes. */
const crosses = (label: Label, place: Box, boxes: readonly Box[]): boolean => {
    const line = lineTo(label, place);
    if (!line || !boxes.length) return false;
    const [[x0, y0], [x1, y1]] = [line.from, line.to];
    const steps = Math.ceil(Math.hypot(x1 - x0, y1 - y0) / 6);
    return Array.from({ length: steps }, (_, i) => i / steps).some((t) => {
        const [x, y] = [x0 + t * (x1 - x0), y0 + t * (y1 - y0)];
        return boxes.some((b) => x > b.left && x < b.left + b.width && y > b.top && y < b.top + b.height);
    });
};

/** The distance from a point to a box. */
const distance = (x: number, y: number, { left, top, width, height }: Box): number =>
    Math.hypot(x - clamp(x, left, left + width), y - clamp(y, top, top + height));

/** A point that a name could be taken to belong to. */
interface Point {
    readonly x: number;
    readonly y: number;
}

/** True if no other point is nearer to a place than its own mark. */
const belongs = (label: Label, place: Box, points: readonly Point[]): boolean => {
    const own = distance(label.x, label.y, place);
    return points.every(({ x, y }) => Math.hypot(x - label.x, y - label.y) < 1 || distance(x, y, place) >= own);
};

/** Finds a place for each label. A name keeps the side that it had in `last`, so that it does not jump. */
const placeLabels = (
    labels: readonly Label[],
    widthOf: (text: string) => number,
    marks: readonly Box[],
    box: Box,
    last: Map<string, number>,
    points: readonly Point[],
): { label: Label; place: Placed }[] => {
    const taken: Box[] = [];
    const placed: { label: Label; place: Placed }[] = [];
    for (const label of [...labels].sort((a, b) => Number(b.needed) - Number(a.needed) || b.alpha - a.alpha)) {
        const width = widthOf(label.text);
        if (width > box.width || HEIGHT > box.height) continue;
        const near = around(label, width);
        const open = (place: Box): boolean => inside(place, box) && !taken.some((other) => overlaps(place, other));
        const isOwn = (place: Box): boolean => open(place) && belongs(label, place, points);
        const isFree = (place: Box): boolean => isOwn(place) && !marks.some((mark) => overlaps(place, mark));
        const kept = last.get(label.text) ?? -1;
        const far = FAR.flatMap((off) => around(label, width, off)).map((place) => drawnIn(place, box));
        const found = (near[kept] && isFree(near[kept]) ? near[kept] : undefined) ?? near.find(isFree) ??
            far.find((place) => isFree(place) && !crosses(label, place, taken)) ??
            // A name of a mark in front may cover another mark.
            (label.needed || label.alpha > 0.9 ? (near.find(isOwn) ?? far.find(isOwn)) : undefined) ??
            (label.needed ? drawnIn(near[0]!, box) : undefined);
        if (!found) continue;
        last.set(label.text, near.indexOf(found));
        taken.push(found);
        placed.push({ label, place: { ...found, text: label.text, led: lineTo(label, found) !== null } });
    }
    return placed;
};

const lead = (context: CanvasRenderingContext2D, label: Label, place: Box): void => {
    const line = lineTo(label, place);
    if (!line) return;
    context.globalAlpha = 0.6;
    context.strokeStyle = label.colour;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(...line.from);
    context.lineTo(...line.to);
    context.stroke();
};

/** Draws the names inside the box, and returns their places. */
export const drawLabels = (
    context: CanvasRenderingContext2D,
    labels: readonly Label[],
    marks: readonly Box[],
    box: Box,
    colours: Colours,
    last = new Map<string, number>(),
    points: readonly Point[] = [],
): Placed[] => {
    context.save();
    context.font = `${SIZE}px ${colours.font}`;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    const all = placeLabels(labels, (text) => context.measureText(text).width, marks, box, last, points);
    for (const { label, place } of all) lead(context, label, place);
    for (const { label, place } of all) {
        // The halo keeps a name readable on any colour.
        context.globalAlpha = label.needed ? 1 : 0.85;
        context.strokeStyle = colours.ground;
        context.lineWidth = 3.5;
        context.strokeText(label.text, place.left, place.top + HEIGHT / 2);
        context.globalAlpha = label.needed ? 1 : label.alpha;
        context.fillStyle = label.colour;
        context.fillText(label.text, place.left, place.top + HEIGHT / 2);
    }
    context.restore();
    return all.map(({ place }) => place);
};

/** The box around a round mark. */
export const discOf = ({ x, y, radius: r }: { x: number; y: number; radius: number }): Box =>
    ({ left: x - r, top: y - r, width: 2 * r, height: 2 * r });
