// The renderer and the surroundings of a form: backdrop, ground with its shadow, light. One picture, or two side by
// side.
import {
    Color, DataTexture, Mesh, NeutralToneMapping, PlaneGeometry, Scene, SRGBColorSpace, Vector3, WebGLRenderer, LinearFilter,
} from "three";
import { radiusOf, type Box } from "../core/form";
import { type Eye } from "./camera";
import { colourTable, roundUp } from "./colours";
import type { GL } from "./form";
import { backdropMaterial, groundMaterial, wireMaterial, type Looks } from "./shaders";
import { roomLight } from "./looks";
import { Shadow } from "./shadow";

const MOST_PIXELS = 2; // per CSS pixel, at most

const heatMap = (): DataTexture => {
    const texture = new DataTexture(colourTable(), 256, 1);
    texture.colorSpace = SRGBColorSpace;
    texture.minFilter = texture.magFilter = LinearFilter;
    texture.needsUpdate = true;
    return texture;
};

export class Stand {
    readonly renderer: WebGLRenderer;
    readonly gl: GL;
    readonly looks: Looks = { sky: { value: new Vector3(0, 1, 0) }, heatMap: { value: heatMap() } };
    /** The left or only scene, and the right one. */
    readonly scenes = [new Scene(), new Scene()] as const;
    /** Drawn over everything. */
    readonly overlay = new Scene();
    /** Drawn behind everything but the backdrop, one after the other, each without the depth of the others. */
    readonly onions: Scene[] = [];
    readonly wire = wireMaterial();
    readonly #backdrop = new Mesh(new PlaneGeometry(2, 2), backdropMaterial());
    readonly #behind = new Scene();
    readonly #ground = new Mesh(new PlaneGeometry(1, 1).rotateX(-Math.PI / 2), groundMaterial());
    readonly #secondGround = this.#ground.clone();
    readonly #shadows = [new Shadow(), new Shadow()] as const;
    #radius = 1;
    /** Height of the ground below the form at rest. */
    #level = 0;
    #size = [0, 0];

    constructor(readonly canvas: HTMLCanvasElement, gl: GL) {
        this.gl = gl;
        this.renderer = new WebGLRenderer({ canvas, context: gl, antialias: true });
        this.renderer.autoClear = false;
        this.#backdrop.frustumCulled = false;
        this.#behind.add(this.#backdrop);
        for (const ground of [this.#ground, this.#secondGround]) ground.frustumCulled = false;
        this.scenes[0].add(this.#ground);
        this.scenes[1].add(this.#secondGround);
        this.#shadows.forEach(({ object }, i) => this.scenes[i]!.add(object));
        this.theme();
    }

    /** Lights the materials of rigs; our own shaders have their own light and do not change. */
    light(): void {
        if (this.scenes[0].environment) return;
        this.renderer.toneMapping = NeutralToneMapping;
        this.scenes[0].environment = this.scenes[1].environment = roomLight(this.renderer);
    }
    /** After the graphics context was lost and came back. */
    renew(): void {
        this.scenes[0].environment = this.scenes[1].environment = null;
    }

    get width(): number {
        return this.#size[0]!;
    }
    get height(): number {
        return this.#size[1]!;
    }

    /** Takes the canvas's size on the page; returns true if it changed. */
    fit(): boolean {
        const { clientWidth: width, clientHeight: height } = this.canvas;
        const ratio = Math.min(devicePixelRatio || 1, MOST_PIXELS);
        if (width === this.width && height === this.height && ratio === this.renderer.getPixelRatio()) return false;
        this.#size = [width, height];
        this.renderer.setPixelRatio(ratio);
        this.renderer.setSize(width, height, false);
        return true;
    }

    /** Updates the colours after a change of theme. */
    theme(): void {
        const style = getComputedStyle(document.documentElement);
        const { top, bottom } = this.#backdrop.material.uniforms;
        const [sky, floor] = [top!.value as Color, bottom!.value as Color];
        sky.setStyle(style.getPropertyValue("--sky").trim() || "#888");
        floor.setStyle(style.getPropertyValue("--floor").trim() || "#888");
        const dark = sky.r + sky.g + sky.b < 1;
        const ground = this.#ground.material;
        (ground.uniforms["colour"]!.value as Color).set(dark ? 0xffffff : 0x000000);
        ground.uniforms["strength"]!.value = dark ? 0.13 : 0.14;
        for (const { object } of this.#shadows) object.material.uniforms["strength"]!.value = dark ? 1.35 : 1;
    }

    /** Puts the ground below a form. */
    placeGround(box: Box): void {
        const radius = (this.#radius = radiusOf(box));
        const reach = 5 * radius;
        this.#level = box[1]! - 1e-3 * radius;
        const { uniforms } = this.#ground.material;
        uniforms["cell"]!.value = roundUp(radius) / 10;
        uniforms["reach"]!.value = reach;
        for (const ground of [this.#ground, this.#secondGround]) {
            ground.position.set(0.5 * (box[0]! + box[3]!), this.#level, 0.5 * (box[2]! + box[5]!));
            ground.scale.setScalar(2 * reach);
        }
    }
    showGround(shown: boolean): void {
        this.#ground.visible = this.#secondGround.visible = shown;
        for (const { object } of this.#shadows) object.visible = shown;
    }
    /** Takes the box of a form that has changed, in the left or the right scene. A form that goes deeper than the ground
     * pushes it down, so that it stands on the ground and never in it. */
    moved(scene: 0 | 1, box: Box): void {
        const { position } = scene === 0 ? this.#ground : this.#secondGround;
        position.y = Math.min(this.#level, box[1]! - 1e-3 * this.#radius);
        this.#shadows[scene].place(box, position.y, this.#radius);
    }

    #picture(scene: Scene, eye: Eye, left: number, width: number): void {
        const { renderer, height } = this;
        const camera = eye.aim(width / height);
        renderer.setViewport(left, 0, width, height);
        renderer.setScissor(left, 0, width, height);
        renderer.render(this.#behind, camera);
        this.looks.sky.value.set(0, 1, 0).transformDirection(camera.matrixWorldInverse);
        for (const onion of this.onions) {
            renderer.render(onion, camera);
            renderer.clearDepth();
        }
        renderer.render(scene, camera);
        renderer.clearDepth();
        if (left === 0) renderer.render(this.overlay, camera);
    }

    draw(eye: Eye, two: boolean): void {
        const { renderer, width, height } = this;
        if (width < 1 || height < 1) return;
        renderer.setScissorTest(false);
        if (this.#ground.visible)
            for (const i of two ? ([0, 1] as const) : ([0] as const))
                this.#shadows[i].cast(renderer, this.scenes[i], [this.#ground, this.#secondGround]);
        renderer.setRenderTarget(null);
        renderer.setClearColor(0, 1);
        renderer.clear();
        if (!two) {
            this.#picture(this.scenes[0], eye, 0, width);
            return;
        }
        const half = Math.floor(width / 2);
        renderer.setScissorTest(true);
        this.#picture(this.scenes[0], eye, 0, half);
        this.#picture(this.scenes[1], eye, half, width - half);
        renderer.setScissorTest(false);
    }
}
