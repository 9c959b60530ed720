// Forms on the map: a small picture at each example, and on the enlarged map also fainter ones on a grid in between, so
// that the space reads as a landscape of forms. Pictures are drawn off-screen when they are wanted, for a few
// milliseconds per frame and never during motion, and kept until something changes. An old picture stays until the new
// one is there.
import type { Pose } from "@exemplar/runtime";
import type { App } from "../core/app";
import type { Colours } from "../core/colours";
import { overlaps, type Box } from "../core/labels";
import { radiusOf } from "./draw";
import type { Range } from "./plane";
import type { MapState, Mark } from "./state";

const SMALL = 38; // CSS pixels
const BUDGET = 5; // milliseconds per frame
const BATCH = 4; // pictures that the GPU draws at a time
const STILL = 150; // milliseconds without motion before pictures are drawn
const SIZES = [1, 0.85, 0.7, 0.55]; // of pictures on the enlarged map, where there is less room
const MOST = 400; // pictures kept
const PICTURED = 120; // marks with a picture, at most
const PARTS = [24, 20, 16, 12, 10, 8, 6, 5, 4, 3, 2]; // of a range, for the grid

export interface Tile extends Box {
    /** The example or pseudo-example; null for a place of the grid. */
    readonly mark: Mark | null;
}

interface Wanted extends Tile {
    readonly slot: string;
    readonly stamp: string;
    readonly point: number[];
}

interface Slot {
    readonly canvas: HTMLCanvasElement;
    stamp: string;
}

const square = (x: number, y: number, size: number): Box => ({ left: x - size / 2, top: y - size / 2, width: size, height: size });

export class Forms {
    /** Number of pictures drawn so far, and the milliseconds that a batch held a frame up at most, for tests and the console. */
    drawn = 0;
    longest = 0;
    #slots = new Map<string, Slot>();
    #wanted: Wanted[] = [];
    #age = 1;
    #asked = 0;
    #moved = -Infinity;

    constructor(
        readonly app: App,
        readonly state: MapState,
        readonly redraw: () => void,
    ) {
        const stale = (): void => void this.#age++;
        app.on("rig", stale);
        // With a server, every change brings a new rig.
        app.on("tree", () => !app.server && !app.isDragging && stale());
        app.on("pose", () => (this.#moved = performance.now()));
    }

    /** The tiles that have a picture. */
    get tiles(): readonly Tile[] {
        return this.#wanted.filter(({ slot }) => this.#slots.has(slot));
    }
    /** True if every picture on the map is there and up to date. */
    get isReady(): boolean {
        return this.#wanted.every(({ slot, stamp }) => this.#slots.get(slot)?.stamp === stamp);
    }

    // ---- where ----

    get #size(): number {
        const { width, height } = this.state.plane.box;
        return this.state.isLarge ? Math.round(Math.min(104, Math.max(52, Math.min(width, height) / 6.5))) : SMALL;
    }

    /** The places of a mark's picture, the best first: on the enlarged map on the mark, else next to it. */
    #placesOf(mark: Mark, size: number): Box[] {
        const { plane, isLarge } = this.state;
        const [x, y] = plane.toPixel(mark.x, mark.y);
        if (isLarge) return [square(x, y, size)];
        const away = size / 2 + radiusOf(mark) + 3;
        const { left, top, width, height } = plane.box;
        const inBox = (place: Box): Box => ({ ...place,
            left: Math.max(left, Math.min(place.left, left + width - size)), top: Math.max(top, Math.min(place.top, top + height - size)) });
        return [[0, -away], [0, away], [away, 0], [-away, 0]].map(([dx, dy]) => inBox(square(x + dx!, y + dy!, size)));
    }

    #marks(others: string, size: number): Wanted[] {
        const { state } = this;
        const { plane, isLarge } = state;
        const shown = state.marks
            .filter((mark) => (mark.kind === "example" || isLarge) && plane.contains(...plane.toPixel(mark.x, mark.y)))
            .sort((a, b) => Number(b.selected) - Number(a.selected) || Number(a.kind === "pseudo") - Number(b.kind === "pseudo") || a.off - b.off)
            .slice(0, PICTURED);
        const found: Wanted[] = [];
        const dots = isLarge ? [] : state.marks.map((mark) => square(...plane.toPixel(mark.x, mark.y), 2 * radiusOf(mark)));
        const fits = (place: Box): boolean => !found.some((tile) => overlaps(place, tile)) && !dots.some((dot) => overlaps(place, dot));
        for (const mark of shown) {
            const place = this.#placesOf(mark, size).find(fits);
            if (!place) continue;
            const slot = `${this.#size}/${mark.kind}/${mark.kind === "example" ? mark.name : mark.index}`;
            const at = mark.kind === "example" ? "" : mark.point.map((v) => v.toFixed(4)).join();
            found.push({ ...place, mark, slot, stamp: `${this.#age} ${others} ${at}`, point: mark.point });
        }
        return found;
    }

    /** On the enlarged map, small enough for most of the marks, and then each as large as its neighbours allow. */
    #bestMarks(others: string): Wanted[] {
        if (!this.state.isLarge) return this.#marks(others, SMALL);
        const all = this.#marks(others, SIZES.at(-1)! * this.#size);
        all.forEach((tile, i) => {
            const [x, y] = [tile.left + tile.width / 2, tile.top + tile.height / 2];
            const larger = SIZES.map((part) => square(x, y, part * this.#size))
                .find((place) => all.every((other) => other === tile || !overlaps(place, other)));
            if (larger) all[i] = { ...tile, ...larger };
        });
        return all;
    }

    #grid(marks: readonly Tile[], others: string): Wanted[] {
        const { state } = this;
        const { plane, ranges, pose } = state;
        const size = this.#size;
        const hidden = state.coordinates.filter((c) => c !== state.x && c !== state.y).map((c) => c.read(pose).toFixed(3)).join();
        // Equal parts of the range, those that are in sight.
        const [sx, sy] = plane.scale;
        const parts = ({ min, max }: Range, scale: number, shown: Range): number[] => {
            const n = PARTS.find((count) => ((max - min) * scale) / count >= 1.1 * size) ?? 1;
            return Array.from({ length: n + 1 }, (_, i) => min + ((max - min) * i) / n).filter((v) => v >= shown.min && v <= shown.max);
        };
        // Weights over one axis: a row of forms below the curves.
        const low = plane.toValue(0, plane.box.top + plane.box.height - 0.55 * size)[1];
        const ys = state.isGraph ? [low] : parts(ranges.y, sy, plane.y);
        return ys.flatMap((y) => parts(ranges.x, sx, plane.x).map((x): Wanted => {
            const slot = `${size}/${state.x!.id}/${state.y?.id}/${x}/${state.isGraph ? "" : y}`;
            return { ...square(...plane.toPixel(x, y), 0.9 * size), mark: null, slot, stamp: `${this.#age} ${others} ${hidden}`,
                point: state.pointAt(x, y) };
        })).filter((place) => !marks.some((tile) => overlaps(place, tile)));
    }

    /** Everything of the pose that does not come from the layer. */
    #others(): string {
        const { app, state } = this;
        const { rig, pose } = app.stage;
        const own = new Set(state.layer!.inputs.map((input) => input.index));
        const read = new Set(state.layer!.inputs.map((input) => input.joint));
        const inputs = rig.inputs.filter((input) => input.kind !== "driver" && !own.has(input.index));
        const joints = rig.joints.filter((joint) => !read.has(joint.index));
        const numbers = [...inputs.map((input) => pose.get(input.index)), ...joints.map((joint) => pose.jointFromRest(joint.index))];
        return `${app.selection.layer} ${numbers.flat().map((v) => (v as number).toFixed(3)).join()}`;
    }

    #plan(): void {
        const { app, state } = this;
        this.#wanted = [];
        if (!state.forms || !app.pictures || state.missing !== null) return;
        const others = this.#others();
        const marks = this.#bestMarks(others);
        this.#wanted = state.isLarge ? [...marks, ...this.#grid(marks, others)] : marks;
        state.tiles = state.isLarge ? marks : [];
    }

    // ---- drawing on the map ----

    draw(context: CanvasRenderingContext2D, colours: Colours): void {
        this.state.tiles = [];
        this.#plan();
        for (const { mark, slot, left, top, width, height } of [...this.#wanted].reverse()) {
            const known = this.#slots.get(slot);
            if (!known) continue;
            context.save();
            if (mark) {
                context.globalAlpha = 0.82;
                context.beginPath();
                context.roundRect(left, top, width, height, 6);
                context.fillStyle = colours.raised;
                context.fill();
                context.globalAlpha = mark.selected ? 1 : 0.7;
                context.strokeStyle = mark.selected ? colours.accent : mark.kind === "pseudo" ? colours.pseudo : colours.line;
                context.lineWidth = mark.selected ? 2 : 1;
                context.stroke();
            }
            context.globalAlpha = !mark ? 0.45 : mark.muted ? 0.35 : Math.max(0.75, 1 - 0.6 * mark.off);
            context.imageSmoothingQuality = "high";
            context.drawImage(known.canvas, left, top, width, height);
            context.restore();
        }
        if (!this.isReady) this.#ask(0);
    }

    // ---- making pictures ----

    /** One batch at a time. */
    #ask(after: number): void {
        if (this.#asked && !after) return;
        clearTimeout(this.#asked);
        this.#asked = window.setTimeout(() => requestAnimationFrame(() => void this.#some()), after);
    }

    async #some(): Promise<void> {
        const { app, state } = this;
        const start = performance.now();
        if (app.isDragging || state.busy || start - this.#moved < STILL) return this.#ask(STILL);
        const size = Math.round(this.#size * Math.min(devicePixelRatio || 1, 2));
        const batch: Promise<void>[] = [];
        for (const { slot, stamp, point } of this.#wanted) {
            if (this.#slots.get(slot)?.stamp === stamp) continue;
            const canvas = document.createElement("canvas");
            canvas.width = canvas.height = size;
            // Also if it fails: no second attempt.
            const keep = (): void => void this.#slots.set(slot, { canvas, stamp });
            batch.push(app.pictures!.drawLater(canvas, (pose) => this.#set(pose, point)).then(keep, keep));
            if (batch.length === BATCH || performance.now() - start > BUDGET) break;
        }
        this.longest = Math.max(this.longest, performance.now() - start);
        await Promise.all(batch);
        this.drawn += batch.length;
        this.#asked = 0;
        this.#forget();
        this.redraw(); // and asks for the next
    }

    #set(pose: Pose, point: number[]): void {
        const { layer } = this.state;
        pose.copy(this.app.stage.pose);
        let at = 0;
        for (const input of layer!.inputs) {
            if (input.kind === "driver") continue;
            pose.set(input.index, input.width === 1 ? point[at]! : point.slice(at, at + input.width));
            at += input.width;
        }
    }

    #forget(): void {
        if (this.#slots.size <= MOST) return;
        const wanted = new Set(this.#wanted.map(({ slot }) => slot));
        for (const slot of this.#slots.keys()) if (!wanted.has(slot)) this.#slots.delete(slot);
    }
}
