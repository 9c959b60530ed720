// Names in the view, on a canvas over it: those of the joints, and of the onion skins. They cover neither each other nor
// the texts over the view.
import { Vector3 } from "three";
import { coloursOf } from "../core/colours";
import { h } from "../core/dom";
import { discOf, drawLabels, type Box, type Label, type Placed } from "../core/labels";
import type { View } from "./view";

const BORDER = 8; // pixels at the edge of the view, without names
const POINT = new Vector3();

export interface LabelCanvas extends HTMLCanvasElement {
    /** The names: their boxes on the page. */
    labels(): Placed[];
}

export class ViewLabels {
    readonly canvas: LabelCanvas;
    #placed: Placed[] = [];
    /** The sides on which names stood last. */
    readonly #sides = new Map<string, number>();

    constructor(readonly view: View) {
        const canvas = h("canvas", { class: "view-labels", "aria-hidden": "true", hidden: true });
        this.canvas = Object.assign(canvas, {
            labels: () => {
                const { left, top } = canvas.getBoundingClientRect();
                return this.#placed.map((place) => ({ ...place, left: left + place.left, top: top + place.top }));
            },
        });
    }

    #joints(colour: string, left: number, top: number): Label[] {
        const { skeleton } = this.view.joints;
        if (!skeleton.isShown) return [];
        const { joints } = this.view.app.stage.rig;
        const depth: number[] = [];
        return joints.map((joint, j): Label => {
            depth[j] = joint.parent < 0 ? 0 : (depth[joint.parent] ?? 0) + 1;
            const { x, y } = this.view.project(skeleton.place(j));
            const needed = j === skeleton.chosen || j === skeleton.hovered?.joint;
            return { text: joint.name, x: x - left, y: y - top, radius: 5, colour, alpha: Math.max(0.6, 0.9 - 0.02 * depth[j]!), needed };
        });
    }

    /** Some vertices of a form, in pixels of the canvas, those inside its border. */
    #seen(positions: Float32Array, count: number, width: number, height: number): [number, number][] {
        const { camera } = this.view.eye;
        const step = 3 * Math.ceil(positions.length / 3 / count);
        const found: [number, number][] = [];
        for (let i = 0; i < positions.length; i += step) {
            const at = POINT.fromArray(positions, i).project(camera);
            const [x, y] = [(0.5 + 0.5 * at.x) * width, (0.5 - 0.5 * at.y) * height];
            if (x > BORDER && y > BORDER && x < width - BORDER && y < height - BORDER) found.push([x, y]);
        }
        return found;
    }

    /** The name of a ghost belongs to the place where it is farthest from the form, as seen. */
    #ghosts(width: number, height: number): Label[] {
        const { onions, app } = this.view;
        if (!onions.names.length) return [];
        const form = this.#seen(app.sculpt?.positions ?? app.stage.surface.positions, 500, width, height);
        return onions.names.flatMap(({ name, colour, positions }): Label[] => {
            let best: { x: number; y: number; away: [number, number] } | null = null;
            let most = -1;
            for (const [x, y] of this.#seen(positions, 250, width, height)) {
                let least = Infinity;
                let away: [number, number] = [0, -1];
                for (const [fx, fy] of form) {
                    const square = (x - fx) ** 2 + (y - fy) ** 2;
                    if (square < least) [least, away] = [square, [x - fx, y - fy]];
                }
                if (least > most) [best, most] = [{ x, y, away }, least];
            }
            return best ? [{ text: name, ...best, radius: 2, colour, alpha: 1, needed: true }] : [];
        });
    }

    /** The texts over the view, in pixels of the canvas. */
    #texts(left: number, top: number): Box[] {
        const all = this.canvas.parentElement?.querySelectorAll(".joint-label, .view-legend, .view-captions span") ?? [];
        return [...all].map((element) => element.getBoundingClientRect()).filter(({ width }) => width > 0)
            .map((rect) => ({ left: rect.left - left, top: rect.top - top, width: rect.width, height: rect.height }));
    }

    draw(): void {
        const { canvas, view } = this;
        const { left, top, width, height } = view.picture({ clientX: -1 }); // the left of two
        const colours = coloursOf();
        const [joints, ghosts] = [this.#joints(colours.text, left, top), this.#ghosts(width, height)];
        this.#placed = [];
        canvas.hidden = !joints.length && !ghosts.length;
        if (canvas.hidden) return;
        const ratio = devicePixelRatio || 1;
        const [w, tall] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
        if (canvas.width !== w || canvas.height !== tall) [canvas.width, canvas.height] = [w, tall];
        const context = canvas.getContext("2d")!;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
        const seen = (label: Label): boolean => label.x > 0 && label.x < width && label.y > 0 && label.y < height;
        const box = { left: BORDER, top: BORDER, width: width - 2 * BORDER, height: height - 2 * BORDER };
        const marks = [...joints.filter(seen).map((label) => discOf(label)), ...this.#texts(left, top)];
        this.#placed = drawLabels(context, [...ghosts, ...joints].filter(seen), marks, box, colours, this.#sides);
    }
}
