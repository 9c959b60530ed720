// Heat map of one example's weight over the visible part of the plane, with the other axes as in the pose: colours,
// lines at round values, and a dashed line around negative weights. Weights are sampled on a coarse grid, only when
// something changed. During motion the grid is as fine as a few milliseconds allow.
import { partsOf, type Colours } from "../core/colours";
import { contours } from "./contour";
import type { MapState } from "./state";

type Context = CanvasRenderingContext2D;

const SIZES = [64, 48, 32, 24, 16, 12];
/** Milliseconds allowed for a grid during motion and at rest, and the delay until it counts as at rest. */
const QUICK = 2.5;
const SLOW = 40;
const REST = 120;
/** Weights below this count as negative: kernels that die out leave tiny values around 0. */
export const NEGATIVE = -0.01;
const LEVELS = [0.25, 0.5, 0.75, 1];

interface Grid {
    readonly n: number;
    /** The chosen weight, or the smallest of all weights: [n][n] from the low corner. */
    readonly values: Float64Array;
    /** True for one example's weight. Of the smallest weight, only negative values are shown. */
    readonly isOne: boolean;
}

/** Negative weights are small but matter, so they get colour sooner. */
const negativeAlpha = (value: number): number => Math.min(0.7, 0.12 - 1.6 * value) * Math.min(1, value / NEGATIVE);

export class Heat {
    /** Duration of the last grid. */
    milliseconds = 0;
    #grid: Grid | null = null;
    #of: { layer: unknown; tree: unknown; key: string } = { layer: null, tree: null, key: "" };
    /** Milliseconds per number. */
    #cost = 0;
    #changed = 0;
    #later = 0;
    readonly #image = document.createElement("canvas");

    constructor(
        readonly state: MapState,
        readonly redraw: () => void,
    ) {}

    /** The current grid: coarse during changes, fine once they stop. */
    #update(): Grid | null {
        const { state } = this;
        const { layer, tree, plane, chosenWeight } = state;
        if (!layer || state.isGraph || chosenWeight === null) return null;
        const others = state.coordinates.filter((c) => c !== state.x && c !== state.y).map((c) => c.read(state.pose));
        const key = JSON.stringify([state.x!.id, state.y!.id, plane.x, plane.y, others, chosenWeight]);
        const isKnown = this.#of.layer === layer && this.#of.tree === tree && this.#of.key === key;
        const now = performance.now();
        const isMoving = now - this.#changed < REST || (!isKnown && state.app.isDragging);
        const n = this.#sizeFor(isMoving ? QUICK : SLOW, layer.examples.length);
        if (isKnown && this.#grid && (isMoving || this.#grid.n >= n)) return this.#grid;
        if (!isKnown) this.#changed = now;
        this.#of = { layer, tree, key };
        this.#grid = this.#ask(n, chosenWeight);
        this.milliseconds = performance.now() - now;
        this.#cost = this.milliseconds / (n * n);
        clearTimeout(this.#later);
        if (isMoving) this.#later = window.setTimeout(this.redraw, REST + 30);
        return this.#grid;
    }

    #sizeFor(budget: number, examples: number): number {
        const cost = this.#cost || 2e-4 * examples;
        return SIZES.find((n) => n * n * cost <= budget) ?? SIZES.at(-1)!;
    }

    #ask(n: number, chosen: number): Grid {
        const { layer, plane, pose, x, y } = this.state;
        const dimension = layer!.dimension;
        const points = new Float64Array(n * n * dimension);
        for (let j = 0, at = 0; j < n; j++)
            for (let i = 0; i < n; i++, at += dimension) {
                for (let k = 0; k < dimension; k++) points[at + k] = pose[k]!;
                x!.write(points, plane.x.min + ((plane.x.max - plane.x.min) * i) / (n - 1), at);
                y!.write(points, plane.y.min + ((plane.y.max - plane.y.min) * j) / (n - 1), at);
            }
        const weights = layer!.weightsGrid(points, n * n);
        const count = layer!.examples.length;
        const one = new Float64Array(n * n);
        const isOne = chosen >= 0;
        for (let i = 0; i < n * n; i++) {
            if (isOne) one[i] = weights[i * count + chosen]!;
            else {
                let least = Infinity;
                for (let k = 0; k < count; k++) least = Math.min(least, weights[i * count + k]!);
                one[i] = least;
            }
        }
        return { n, values: one, isOne };
    }

    draw(context: Context, colours: Colours): void {
        const grid = this.#update();
        if (!grid) return;
        this.#paint(grid, colours);
        const { left, top, width, height } = this.state.plane.box;
        context.imageSmoothingQuality = "high";
        // Numbers belong to the centres of the image's pixels.
        context.drawImage(this.#image, 0.5, 0.5, grid.n - 1, grid.n - 1, left, top, width, height);
        context.strokeStyle = colours.accent;
        context.lineWidth = 1;
        for (const level of grid.isOne ? LEVELS : []) {
            context.globalAlpha = level === 1 ? 0.75 : 0.35;
            this.#stroke(context, grid, level);
        }
        context.globalAlpha = 0.9;
        context.strokeStyle = colours.bad;
        context.lineWidth = 1.5;
        context.setLineDash([4, 3]);
        this.#stroke(context, grid, NEGATIVE);
        context.setLineDash([]);
        context.globalAlpha = 1;
    }

    #stroke(context: Context, { values, n }: Grid, level: number): void {
        const { left, top, width, height } = this.state.plane.box;
        context.beginPath();
        for (const line of contours(values, n, level))
            line.forEach(([i, j], k) => {
                const px = left + (i / (n - 1)) * width;
                const py = top + height - (j / (n - 1)) * height;
                if (k === 0) context.moveTo(px, py);
                else context.lineTo(px, py);
            });
        context.stroke();
    }

    /** One hue above 0, another below, transparent at 0. */
    #paint({ values, n, isOne }: Grid, colours: Colours): void {
        const image = this.#image;
        if (image.width !== n) image.width = image.height = n;
        const context = image.getContext("2d")!;
        const pixels = context.createImageData(n, n);
                const [above, below] = [partsOf(colours.accent), partsOf(colours.bad)];
        for (let j = 0; j < n; j++)
            for (let i = 0; i < n; i++) {
                const value = values[j * n + i]!;
                const hue = value < 0 ? below : above;
                const at = 4 * ((n - 1 - j) * n + i);
                pixels.data[at] = hue[0];
                pixels.data[at + 1] = hue[1];
                pixels.data[at + 2] = hue[2];
                pixels.data[at + 3] = 255 * (value < 0 ? negativeAlpha(value) : isOne ? 0.62 * Math.min(1, value) : 0);
            }
        context.putImageData(pixels, 0, 0);
    }
}
