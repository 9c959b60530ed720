// The large view of the form: listens to the state, fills the buffers, and draws after changes.
import { Vector3 } from "three";
import type { App } from "../core/app";
import { h } from "../core/dom";
import { Actors } from "./actors";
import { Eye } from "./camera";
import { Joints } from "./joints";
import { ViewLabels } from "./labels";
import { Onions } from "./onions";
import { captions, LegendBox } from "./overlays";
import { ViewPicker } from "./picker";
import { placesOf } from "./places";
import { listenToPointer } from "./pointer";
import { SmallPictures } from "./pictures";
import { Stand } from "./scene";
import { viewToolbar } from "./toolbar";

const LABEL = "The form. Drag to turn the view, drag with Shift to pan, use the wheel to zoom.";
const NO_GRAPHICS =
    "This browser cannot show 3D graphics (WebGL 2 is missing or turned off), so you cannot see the form here. Everything else works.";

export class View {
    readonly eye = new Eye();
    readonly stand: Stand;
    readonly actors: Actors;
    readonly pictures: SmallPictures;
    readonly picker: ViewPicker;
    readonly joints: Joints;
    readonly legend = new LegendBox();
    readonly onions: Onions;
    readonly labels: ViewLabels;
    #asked = 0;
    #first: Float32Array | null = null;

    constructor(readonly app: App, readonly canvas: HTMLCanvasElement, gl: WebGL2RenderingContext) {
        this.stand = new Stand(canvas, gl);
        this.actors = new Actors(app, this.stand);
        this.pictures = new SmallPictures(app, this.stand, () => this.actors.faces);
        this.picker = new ViewPicker(this);
        this.joints = new Joints(this);
        this.onions = new Onions(app, this.stand, () => this.actors.faces);
        this.labels = new ViewLabels(this);
        this.actors.rebuild();
        this.#place(true);
        app.on("rig", () => this.#rebuild());
        app.on("places", () => {
            if (this.eye.isFirst && app.places) this.#first = app.places;
            this.redraw();
        });
        app.on("display", () => this.stand.theme());
        app.on("fill", () => this.fill());
        app.on("frame", () => {
            this.legend.show(this.actors.heat.legend);
            this.draw();
        });
        new ResizeObserver(() => this.stand.fit() && this.draw()).observe(canvas);
        canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
        canvas.addEventListener("webglcontextrestored", () => {
            this.stand.renew();
            app.emit("rig");
        });
    }

    get two(): boolean {
        return this.app.other !== null && this.app.sculpt === null;
    }

    #rebuild(): void {
        this.pictures.forget();
        this.onions.forget();
        this.actors.rebuild();
        this.#place(false);
        this.app.invalidate();
    }

    #place(first: boolean): void {
        const places = placesOf(this.app.stage);
        this.stand.placeGround(places.ground);
        if (!first) return;
        this.#first = places.first();
        this.eye.frame(this.#first, 1);
    }

    fill(): void {
        this.actors.fill();
        this.onions.fill();
        this.joints.skeleton.fill(this.eye.radius);
    }

    draw(): void {
        cancelAnimationFrame(this.#asked);
        this.#asked = 0;
        this.stand.fit();
        this.stand.showGround(this.app.display.ground);
        const { width, height } = this.picture({ clientX: -1 });
        if (width < 1 || height < 1) return;
        if (this.#first && this.eye.isFirst) this.eye.frame(this.#first, width / height);
        else this.#first = null;
        this.eye.aim(width / height);
        this.joints.skeleton.aim(this.eye, width, height);
        if (this.app.display.wire) this.#fadeWire(width, height);
        this.stand.draw(this.eye, this.two);
        this.labels.draw();
    }

    // Edges only a few pixels apart would hide the surface.
    #fadeWire(width: number, height: number): void {
        const pixels = this.actors.edgeLength() / this.eye.pixel(this.eye.target.toArray(), width, height);
        this.stand.wire.uniforms["opacity"]!.value = 0.42 * Math.max(0.12, Math.min(1, pixels / 7));
    }

    /** Draws again from another camera; evaluates nothing. */
    redraw(): void {
        this.#asked ||= requestAnimationFrame(() => this.draw());
    }

    /** Fits the whole form as it is now. */
    frame(): void {
        this.app.frame(); // the pose may have changed since the last frame
        const { sculpt, stage } = this.app;
        const { width, height } = this.picture({ clientX: -1 });
        this.eye.isFirst = false;
        this.eye.frame(sculpt?.positions ?? stage.surface.positions, width > 0 && height > 0 ? width / height : 1);
        this.redraw();
    }

    /** The position on the page of a point in the world; in the left of two pictures. */
    project(point: Vector3): { x: number; y: number } {
        const { left, top, width, height } = this.picture({ clientX: -1 });
        const at = point.clone().project(this.eye.aim(width / height));
        return { x: left + (0.5 + 0.5 * at.x) * width, y: top + (0.5 - 0.5 * at.y) * height };
    }

    /** The picture under the pointer. */
    picture(event: { clientX: number }): { left: number; top: number; width: number; height: number } {
        const { left, top, width, height } = this.canvas.getBoundingClientRect();
        if (!this.two) return { left, top, width, height };
        const half = Math.floor(width / 2);
        const isLeft = event.clientX < left + half;
        return isLeft ? { left, top, width: half, height } : { left: left + half, top, width: width - half, height };
    }
}

export const viewPanel = (app: App): HTMLElement => {
    const canvas = h("canvas", { id: "view", tabindex: 0, "aria-label": LABEL });
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "high-performance" });
    if (!gl) return h("div", { class: "view" }, h("p", { class: "no-graphics", role: "note" }, NO_GRAPHICS));
    if (app.stage.rig.textures.length && app.stage.mesh.texcoords) app.display.surface = "texture";
    if (app.stage.rig.attachments.includes("looks")) app.display.surface = "material";
    const view = new View(app, canvas, gl);
    app.pictures = view.pictures;
    app.picker = view.picker;
    app.camera = view.eye;
    // For tests, and for the browser's console.
    Object.assign(canvas, { pointToClient: (point: [number, number, number]) => view.project(new Vector3(...point)) });
    listenToPointer({
        canvas,
        eye: view.eye,
        picture: (event) => view.picture(event),
        isBrushing: () => app.tool !== "orbit",
        grab: (event) => view.joints.grab(event),
        hover: (event) => view.joints.hover(event),
        changed: () => view.redraw(),
    });
    return h(
        "div",
        { class: "view" },
        viewToolbar(app, view),
        h(
            "div",
            { class: "view-canvas" },
            canvas,
            view.labels.canvas,
            h("div", { class: "view-top" }, captions(app, () => view.two), view.joints.label),
            view.legend.element,
        ),
    );
};
