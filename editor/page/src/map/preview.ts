// A small picture of the form under the pointer, next to the map so that it covers none of it, at the height of the
// pointer. The view draws it, at most once per frame, and not during a drag, when the view itself shows the form. Beside
// the enlarged map, which covers the view, it is larger and always there: without a pointer, or during a drag, it shows
// the form at the pose.
import type { App } from "../core/app";
import { h } from "../core/dom";
import type { MapState } from "./state";

const SIZE = 112;
const DOCKED = 236;
const AWAY = 8;

export class Preview {
    readonly element = h("div", { class: "map-picture", hidden: true, "aria-hidden": "true" });
    readonly #canvas = h("canvas", {});
    #shown = "";
    #of: unknown[] = [];

    constructor(
        readonly app: App,
        readonly state: MapState,
        readonly map: HTMLCanvasElement,
        /** Its place beside the enlarged map. */
        readonly dock: HTMLElement,
    ) {
        this.element.append(this.#canvas);
        document.body.append(this.element);
    }

    update(): void {
        const { app, state } = this;
        const { pointer } = state;
        const parent = state.isLarge ? this.dock : document.body;
        if (this.element.parentElement !== parent) parent.append(this.element);
        this.element.classList.toggle("docked", state.isLarge);
        if (state.isLarge) {
            const isOver = state.picture && pointer !== null && state.busy === null && state.plane.contains(...pointer);
            const shown = app.pictures !== null && state.missing === null;
            this.element.hidden = !shown;
            this.element.style.transform = "";
            if (shown) this.#draw(isOver ? pointer : state.plane.toPixel(state.x!.read(state.pose), state.y?.read(state.pose) ?? 0));
            return;
        }
        const isShown =
            state.picture && app.pictures !== null && state.missing === null && pointer !== null &&
            state.busy === null && state.plane.contains(...pointer);
        this.element.hidden = !isShown;
        if (!isShown) {
            this.#shown = "";
            return;
        }
        this.#place(pointer);
        this.#draw(pointer);
    }

    #place([, py]: [number, number]): void {
        const rect = this.map.getBoundingClientRect();
        const left = rect.left - AWAY - SIZE >= 4 ? rect.left - AWAY - SIZE : rect.right + AWAY;
        const top = Math.min(Math.max(rect.top + py - SIZE / 2, 4), innerHeight - SIZE - 4);
        this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
    }

    #draw(pointer: [number, number]): void {
        const { app, state } = this;
        const values = state.values(...state.plane.toValue(...pointer));
        const point = state.pointAt(...state.plane.toValue(...pointer));
        const theme = document.documentElement.dataset["theme"];
        const now = JSON.stringify([point, devicePixelRatio, theme]);
        const of = [app.stage.rig, app.tree, state.isLarge];
        if (now === this.#shown && of.every((what, i) => what === this.#of[i])) return;
        this.#shown = now;
        this.#of = of;
        const size = Math.round((state.isLarge ? DOCKED : SIZE) * devicePixelRatio);
        if (this.#canvas.width !== size) this.#canvas.width = this.#canvas.height = size;
        app.pictures!.draw(this.#canvas, (pose) => {
            pose.copy(app.stage.pose);
            for (const [{ input, offset }] of values)
                pose.set(input.index, input.width === 1 ? point[offset]! : point.slice(offset, offset + input.width));
        });
    }
}
