// Names beside their marks: each where it covers neither a mark nor another name, the important ones first.
import type { Colours } from "../core/colours";
import type { Box } from "./plane";

export interface Label {
    text: string;
    /** The mark, and how large it is. */
    x: number;
    y: number;
    radius: number;
    colour: string;
    alpha: number;
    /** Written in any case, and first. */
    needed: boolean;
}

export const SIZE = 11;
const HEIGHT = 13;
const GAP = 4;

const overlaps = (a: Box, b: Box): boolean =>
    a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;

const inside = (a: Box, b: Box): boolean =>
    a.left >= b.left && a.top >= b.top && a.left + a.width <= b.left + b.width && a.top + a.height <= b.top + b.height;

/** Beside it and up first, where no grid line runs through. */
const places = (label: Label, width: number): Box[] => {
    const r = label.radius + GAP;
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
        const all = places(label, context.measureText(label.text).width);
        const seen = all.filter((place) => inside(place, box) && !taken.some((other) => overlaps(place, other)));
        const free = seen.find((place) => !discs.some((disc) => overlaps(place, disc)));
        // Rather over a mark than without a name, for those in the plane that is shown.
        const place = free ?? (label.alpha > 0.9 ? seen[0] : undefined) ?? (label.needed ? all[0] : undefined);
        if (!place) continue;
        taken.push(place);
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
