// The large view of the form: it listens to the state, fills the buffers, and draws when something has changed.
import type { App } from "../core/app";
import { h } from "../core/dom";
import { Actors } from "./actors";
import { boxOf, Eye, type Box } from "./camera";
import { listenToPointer } from "./pointer";
import { SmallPictures } from "./pictures";
import { Stand } from "./scene";

const NO_GRAPHICS =
    "This browser shows no 3-D graphics (WebGL 2 is missing or turned off), so the form cannot be seen here. Everything else works.";

export class View {
    readonly eye = new Eye();
    readonly stand: Stand;
    readonly actors: Actors;
    readonly pictures: SmallPictures;
    #asked = 0;

    constructor(readonly app: App, readonly canvas: HTMLCanvasElement, gl: WebGL2RenderingContext) {
        this.stand = new Stand(canvas, gl);
        this.actors = new Actors(app, this.stand);
        this.pictures = new SmallPictures(app, this.stand, () => this.actors.faces);
        this.actors.rebuild();
        this.#place();
        app.on("rig", () => this.#rebuild());
        app.on("display", () => this.stand.theme());
        app.on("fill", () => this.fill());
        app.on("frame", () => this.draw());
        new ResizeObserver(() => this.stand.fit() && this.draw()).observe(canvas);
        canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
        canvas.addEventListener("webglcontextrestored", () => this.#rebuild());
    }

    get two(): boolean {
        return this.app.other !== null && this.app.sculpt === null;
    }

    #rebuild(): void {
        this.pictures.forget();
        this.actors.rebuild();
        this.#place(false);
        this.app.invalidate();
    }

    /** The rig's rest, where it is shown; what is shown now, where a driver has it elsewhere. */
    #restBox(): Box {
        return boxOf(this.app.stage.rig.restPositions());
    }

    #place(frame = true): void {
        const box = this.#restBox();
        this.stand.placeGround(box);
        if (frame) this.eye.frame(box, 1);
    }

    fill(): void {
        this.actors.fill(false);
    }

    draw(): void {
        cancelAnimationFrame(this.#asked);
        this.#asked = 0;
        this.stand.fit();
        this.stand.showGround(this.app.display.ground);
        this.stand.draw(this.eye, this.two);
    }

    /** The same once more, from another place: nothing is evaluated. */
    redraw(): void {
        this.#asked ||= requestAnimationFrame(() => this.draw());
    }

    /** Sees the whole form as it is now. */
    frame(): void {
        const { sculpt, stage } = this.app;
        this.eye.frame(sculpt ? boxOf(sculpt.positions) : stage.surface.box, 1);
        this.redraw();
    }

    /** The picture that the pointer is in. */
    picture(event: { clientX: number }): { left: number; top: number; width: number; height: number } {
        const { left, top, width, height } = this.canvas.getBoundingClientRect();
        if (!this.two) return { left, top, width, height };
        const half = Math.floor(width / 2);
        const isLeft = event.clientX < left + half;
        return isLeft ? { left, top, width: half, height } : { left: left + half, top, width: width - half, height };
    }
}

export const viewPanel = (app: App): HTMLElement => {
    const canvas = h("canvas", { id: "view", tabindex: 0, "aria-label": "The form" });
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "high-performance" });
    if (!gl) return h("div", { class: "view" }, h("p", { class: "no-graphics", role: "note" }, NO_GRAPHICS));
    if (app.stage.rig.textures.length && app.stage.mesh.texcoords) app.display.surface = "texture";
    const view = new View(app, canvas, gl);
    app.pictures = view.pictures;
    listenToPointer({
        canvas,
        eye: view.eye,
        picture: (event) => view.picture(event),
        isTaken: () => app.tool !== "orbit",
        grab: () => null,
        hover: () => undefined,
        changed: () => view.redraw(),
    });
    return h("div", { class: "view" }, h("div", { class: "view-canvas" }, canvas));
};
