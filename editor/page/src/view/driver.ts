// The driver's mesh, transparent, to show what drives the form.
import { BufferAttribute, BufferGeometry, Mesh, Sphere, type ShaderMaterial } from "three";
import type { Driver } from "@exemplar/runtime";
import { FloatBuffer, type GL } from "./form";

export class DriverForm {
    readonly object: Mesh;
    readonly #positions: FloatBuffer;

    constructor(gl: GL, driver: Driver, material: ShaderMaterial) {
        this.#positions = new FloatBuffer(gl, 3, driver.vertexCount);
        const geometry = new BufferGeometry();
        geometry.setIndex(new BufferAttribute(driver.triangles.slice(), 1));
        geometry.setAttribute("position", this.#positions.attribute);
        geometry.boundingSphere = new Sphere(); // never culled, and three.js cannot read the buffer
        this.object = new Mesh(geometry, material);
        this.object.frustumCulled = false;
        this.object.renderOrder = 2;
    }

    fill(positions: Float32Array): void {
        this.#positions.write(positions);
    }

    dispose(): void {
        this.object.removeFromParent();
        this.object.geometry.dispose();
        this.#positions.dispose();
    }
}
