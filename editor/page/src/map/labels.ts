// Places names next to their marks, without covering marks or other names, the important ones first.
import type { Colours } from "../core/colours";
import type { Box } from "./plane";

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
}

export const SIZE = 11;
const HEIGHT = 13;
const GAP = 4;
/** Extra distances for a name if there is no room next to its mark. */
const FAR = [14, 28, 42];

const overlaps = (a: Box, b: Box): boolean =>
    a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;

const inside = (a: Box, b: Box): boolean =>
    a.left >= b.left && a.top >= b.top && a.left + a.width <= b.left + b.width && a.top + a.height <= b.top + b.height;

/** Moves a box from beyond the left or right edge to that edge. */
const drawnIn = (place: Box, box: Box): Box => ({
    ...place,
    left: Math.min(Math.max(place.left, box.left), box.left + box.width - place.width),
});

/** Candidate positions: beside and above first, away from grid lines; farther off in a second try. */
const places = (label: Label, width: number, off = 0): Box[] => {
    const r = label.radius + GAP + off;
    const c = 0.7 * r;
    const at = (left: number, top: number): Box => ({ left, top, width, height: HEIGHT });
    const { x, y } = label;
    return [
        at(x + c, y - c - HEIGHT + 2),
        at(x - c - width, y - c - HEIGHT + 2),
        at(x + c, y + c - 2),
        at(x - c - width, y + c - 2),
        at(x + r, y - HEIGHT / 2),
        at(x - r - width, y - HEIGHT / 2),
        at(x - width / 2, y - r - HEIGHT),
        at(x - width / 2, y + r),
    ];
};

/** A thin line from a mark to a name farther away. */
const lead = (context: CanvasRenderingContext2D, { x, y, radius, colour }: Label, place: Box): void => {
    const tx = Math.min(Math.max(x, place.left), place.left + place.width);
    const ty = Math.min(Math.max(y, place.top), place.top + place.height);
    const length = Math.hypot(tx - x, ty - y);
    if (length <= radius) return;
    context.globalAlpha = 0.6;
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x + ((tx - x) * radius) / length, y + ((ty - y) * radius) / length);
    context.lineTo(tx, ty);
    context.stroke();
};

export const drawLabels = (
    context: CanvasRenderingContext2D,
    labels: readonly Label[],
    marks: readonly { x: number; y: number; radius: number }[],
    box: Box,
    colours: Colours,
): void => {
    const discs: Box[] = marks.map(({ x, y, radius: r }) => ({ left: x - r, top: y - r, width: 2 * r, height: 2 * r }));
    const taken: Box[] = [];
    context.save();
    context.font = `${SIZE}px ${colours.font}`;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    for (const label of [...labels].sort((a, b) => Number(b.needed) - Number(a.needed) || b.alpha - a.alpha)) {
        const width = context.measureText(label.text).width;
        const all = places(label, width);
        const open = (place: Box): boolean => inside(place, box) && !taken.some((other) => overlaps(place, other));
        const seen = all.filter(open);
        const isFree = (place: Box): boolean => !discs.some((disc) => overlaps(place, disc));
        const far = FAR.flatMap((off) => places(label, width, off)).map((place) => drawnIn(place, box)).filter(open);
        const free = seen.find(isFree) ?? far.find(isFree);
        // Marks in the shown plane always get a name, even if it covers another mark.
        const place = free ?? (label.alpha > 0.9 ? seen[0] : undefined) ?? (label.needed ? all[0] : undefined);
        if (!place) continue;
        taken.push(place);
        if (place === free && !seen.includes(place)) lead(context, label, place);
        // The halo keeps a name readable on any colour of the heat map.
        context.globalAlpha = label.needed ? 1 : 0.85;
        context.strokeStyle = colours.ground;
        context.lineWidth = 3.5;
        context.strokeText(label.text, place.left, place.top + HEIGHT / 2);
        context.globalAlpha = label.needed ? 1 : label.alpha;
        context.fillStyle = label.colour;
        context.fillText(label.text, place.left, place.top + HEIGHT / 2);
    }
    context.restore();
};
