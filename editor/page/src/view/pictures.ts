// Small pictures of forms. They have their own surface and pose, are drawn to a render target of the same graphics
// context, and copied from there. All pictures of a rig use one camera, which sees the rig at rest, so that they can be
// compared.
import { Scene, WebGLRenderTarget } from "three";
import type { Pose, Rig, Surface } from "@exemplar/runtime";
import type { App, Pictures } from "../core/app";
import { radiusOf } from "../core/form";
import { Eye } from "./camera";
import { facesOf, Form, type Faces } from "./form";
import type { Stand } from "./scene";
import { setMode, surfaceMaterial } from "./shaders";
import { Skin } from "./skin";

const MANY = 200_000; // vertices: larger meshes show the cage

interface Model {
    rig: Rig;
    pose: Pose;
    surface: Surface;
    form: Form;
    skin: Skin | null;
    eye: Eye;
}

interface Plate {
    target: WebGLRenderTarget;
    pixels: Uint8Array;
    image: ImageData;
}

export class SmallPictures implements Pictures {
    #model: Model | null = null;
    #plates = new Map<string, Plate>();
    #scene = new Scene();
    #roaming = new Eye();
    readonly #material;

    constructor(
        readonly app: App,
        readonly stand: Stand,
        /** Faces of the stage's level, to share. */
        readonly faces: () => Faces,
    ) {
        this.#material = surfaceMaterial(stand.looks);
    }

    #open(): Model {
        const { rig, surface: shown } = this.app.stage;
        if (this.#model?.rig === rig) return this.#model;
        this.forget();
        const level = shown.vertexCount > MANY ? 0 : shown.level;
        const surface = rig.surface({ level, textures: rig.textures.length > 0, state: true });
        const pose = rig.pose();
        surface.evaluate(pose);
        const eye = new Eye();
        const faces = level === shown.level ? this.faces() : facesOf(rig, rig.mesh(level));
        const form = new Form(this.stand.gl, faces, this.#material);
        const skin = rig.textures.length && faces.texcoords ? new Skin(rig) : null;
        eye.frame(surface.positions, 1);
        this.#material.uniforms["skin"]!.value = skin?.texture ?? null;
        setMode(this.#material, skin ? "texture" : "shaded");
        this.#scene.add(form.object);
        return (this.#model = { rig, pose, surface, form, skin, eye });
    }

    /** Frees the resources of the previous rig. */
    forget(): void {
        this.#model?.form.dispose();
        this.#model?.skin?.dispose();
        this.#model = null;
    }

    #plate(width: number, height: number): Plate {
        const key = `${width}×${height}`;
        let plate = this.#plates.get(key);
        if (!plate) {
            const target = new WebGLRenderTarget(width, height, { samples: 4 });
            plate = { target, pixels: new Uint8Array(4 * width * height), image: new ImageData(width, height) };
            this.#plates.set(key, plate);
        }
        return plate;
    }

    // Follows a form that has left the usual view, since a driver may go anywhere.
    #eye(usual: Eye, { box, positions }: Surface): Eye {
        const { target, radius } = usual;
        const away = [target.x, target.y, target.z].map((at, i) => 0.5 * (box[i]! + box[i + 3]!) - at);
        if (Math.hypot(...away) < 0.6 * radius && radiusOf(box) < 1.5 * radius) return usual;
        this.#roaming.frame(positions, 1);
        // From as far, so that sizes can still be compared.
        this.#roaming.distance = Math.max(this.#roaming.distance, usual.distance);
        return this.#roaming;
    }

    draw(canvas: HTMLCanvasElement, set: (pose: Pose) => void): void {
        const plate = this.#render(canvas, set);
        if (!plate) return;
        this.stand.renderer.readRenderTargetPixels(plate.target, 0, 0, canvas.width, canvas.height, plate.pixels);
        develop(plate.pixels, plate.image);
        canvas.getContext("2d")?.putImageData(plate.image, 0, 0);
    }

    async drawLater(canvas: HTMLCanvasElement, set: (pose: Pose) => void): Promise<void> {
        const { width, height } = canvas;
        const plate = this.#render(canvas, set);
        if (!plate) return;
        const pixels = new Uint8Array(4 * width * height);
        await this.stand.renderer.readRenderTargetPixelsAsync(plate.target, 0, 0, width, height, pixels);
        develop(pixels, plate.image);
        if (canvas.width === width && canvas.height === height) canvas.getContext("2d")?.putImageData(plate.image, 0, 0);
    }

    /** Draws the form to a plate of the canvas's size; null if there is nothing to draw to. */
    #render({ width, height }: HTMLCanvasElement, set: (pose: Pose) => void): Plate | null {
        if (width < 1 || height < 1 || this.stand.gl.isContextLost()) return null;
        const { pose, surface, form, skin, eye: usual } = this.#open();
        set(pose.rest());
        surface.evaluate(pose);
        form.fill(surface.positions, surface.normals);
        skin?.fill(surface);
        const plate = this.#plate(width, height);
        const { renderer, looks } = this.stand;
        const camera = this.#eye(usual, surface).aim(width / height);
        looks.sky.value.set(0, 1, 0).transformDirection(camera.matrixWorldInverse);
        renderer.setRenderTarget(plate.target);
        renderer.setClearColor(0, 0);
        renderer.clear();
        renderer.render(this.#scene, camera);
        renderer.setRenderTarget(null);
        return plate;
    }
}

// Converts bottom-up rows with premultiplied alpha to the format of ImageData.
const develop = (pixels: Uint8Array, image: ImageData): void => {
    const { width, height, data } = image;
    for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++) {
            const from = 4 * ((height - 1 - y) * width + x);
            const to = 4 * (y * width + x);
            const covered = pixels[from + 3]!;
            const factor = covered > 0 ? 255 / covered : 0;
            data[to] = pixels[from]! * factor;
            data[to + 1] = pixels[from + 1]! * factor;
            data[to + 2] = pixels[from + 2]! * factor;
            data[to + 3] = covered;
        }
};
