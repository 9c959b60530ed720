// The texture on a form: blended in WebAssembly, and uploaded only if its weights have changed.
import { DataTexture, LinearFilter, LinearMipmapLinearFilter, NoColorSpace, RepeatWrapping, SRGBColorSpace } from "three";
import type { Rig, Surface } from "@exemplar/runtime";

export class Skin {
    readonly texture: DataTexture;
    readonly #index: number;
    #weights: Float64Array | null = null;

    constructor(readonly rig: Rig, index = rig.textures.findIndex((texture) => /colou?r/i.test(texture.name))) {
        this.#index = Math.max(0, index);
        const { width, height, srgb } = rig.textures[this.#index]!;
        this.texture = new DataTexture(null, width, height);
        this.texture.colorSpace = srgb ? SRGBColorSpace : NoColorSpace;
        this.texture.magFilter = LinearFilter;
        this.texture.minFilter = LinearMipmapLinearFilter;
        this.texture.wrapS = this.texture.wrapT = RepeatWrapping;
        this.texture.generateMipmaps = true;
        this.texture.anisotropy = 4;
    }

    #changed(surface: Surface): boolean {
        const { weights } = surface;
        const before = this.#weights;
        if (!before) {
            this.#weights = weights.slice();
            return true;
        }
        let changed = false;
        for (const layer of this.rig.layers) {
            if (layer.domain !== "pixels") continue;
            for (let k = layer.firstExample; k < layer.firstExample + layer.examples.length; k++) {
                const weight = layer.muted ? Infinity : weights[k]!;
                changed ||= weight !== before[k];
                before[k] = weight;
            }
        }
        return changed;
    }

    /** Takes the surface's current pixels. */
    fill(surface: Surface): void {
        const pixels = surface.texture(this.#index);
        // The memory may have moved; three.js reads it while drawing.
        const moved = this.texture.image.data !== pixels;
        if (!pixels || (!this.#changed(surface) && !moved)) return;
        this.texture.image.data = pixels as Uint8ClampedArray<ArrayBuffer>;
        this.texture.needsUpdate = true;
    }

    dispose(): void {
        this.texture.dispose();
    }
}
