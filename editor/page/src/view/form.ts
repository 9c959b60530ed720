// A form on the screen: the faces of a mesh, and GPU buffers filled straight from WebAssembly memory. One copy per
// frame, no allocation.
import { BufferAttribute, BufferGeometry, GLBufferAttribute, LineSegments, Mesh as Object3D, Sphere, type ShaderMaterial } from "three";
import type { Mesh } from "@exemplar/runtime";
import { edgesOf } from "./edges";

export type GL = WebGL2RenderingContext;

/** A float buffer that is always written in full. */
export class FloatBuffer {
    readonly attribute: BufferAttribute;
    readonly #buffer: WebGLBuffer;
    readonly #gl: GL;
    constructor(gl: GL, size: number, count: number) {
        this.#gl = gl;
        this.#buffer = gl.createBuffer();
        gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffer);
        gl.bufferData(gl.ARRAY_BUFFER, Math.max(4, 4 * size * count), gl.DYNAMIC_DRAW);
        // three.js accepts both kinds, but its types know only one.
        this.attribute = new GLBufferAttribute(this.#buffer, gl.FLOAT, size, 4, count) as unknown as BufferAttribute;
    }
    write(numbers: Float32Array): void {
        this.#gl.bindBuffer(this.#gl.ARRAY_BUFFER, this.#buffer);
        this.#gl.bufferSubData(this.#gl.ARRAY_BUFFER, 0, numbers);
    }
    dispose(): void {
        this.#gl.deleteBuffer(this.#buffer);
    }
}

/** Shared by all forms of a mesh. They are disposed of together, since three.js deletes the buffers with the first
 * one. */
export interface Faces {
    readonly count: number;
    readonly triangles: BufferAttribute;
    readonly texcoords: BufferAttribute | null;
    /** Created on first use. */
    edges(): BufferAttribute;
}

export const facesOf = (mesh: Mesh): Faces => {
    let edges: BufferAttribute | null = null;
    return {
        count: mesh.splitCount,
        triangles: new BufferAttribute(mesh.triangles.slice(), 1),
        texcoords: mesh.texcoords && new BufferAttribute(mesh.texcoords.slice(), 2),
        edges: () => (edges ??= new BufferAttribute(edgesOf(mesh), 1)),
    };
};

/** The same without split vertices, in the order of the source file, for brushes. */
export const sourceFacesOf = (mesh: Mesh): Faces => {
    const { sources } = mesh;
    const map = (split: Uint32Array): Uint32Array => (sources ? split.map((v) => sources[v]!) : split.slice());
    let edges: BufferAttribute | null = null;
    return {
        count: mesh.vertexCount,
        triangles: new BufferAttribute(map(mesh.triangles), 1),
        texcoords: null,
        edges: () => (edges ??= new BufferAttribute(map(edgesOf(mesh)), 1)),
    };
};

export class Form {
    readonly faces: Faces;
    readonly object: Object3D<BufferGeometry, ShaderMaterial>;
    readonly #gl: GL;
    readonly #positions: FloatBuffer;
    readonly #normals: FloatBuffer;
    #heat: FloatBuffer | null = null;
    #wire: LineSegments<BufferGeometry, ShaderMaterial> | null = null;

    constructor(gl: GL, faces: Faces, material: ShaderMaterial) {
        this.#gl = gl;
        this.faces = faces;
        this.#positions = new FloatBuffer(gl, 3, faces.count);
        this.#normals = new FloatBuffer(gl, 3, faces.count);
        const geometry = new BufferGeometry();
        geometry.setIndex(faces.triangles);
        geometry.setAttribute("position", this.#positions.attribute);
        geometry.boundingSphere = new Sphere(); // never culled, and three.js cannot read the buffer
        geometry.setAttribute("normal", this.#normals.attribute);
        if (faces.texcoords) geometry.setAttribute("uv", faces.texcoords);
        this.object = new Object3D(geometry, material);
        this.object.frustumCulled = false;
    }

    fill(positions: Float32Array, normals: Float32Array | null): void {
        this.#positions.write(positions);
        if (normals) this.#normals.write(normals);
    }

    /** Sets a number per vertex, which the material shows as a colour. */
    heat(values: Float32Array): void {
        if (!this.#heat) {
            this.#heat = new FloatBuffer(this.#gl, 1, this.faces.count);
            this.object.geometry.setAttribute("heat", this.#heat.attribute);
        }
        this.#heat.write(values);
    }

    wire(shown: boolean, material: ShaderMaterial): void {
        if (shown && !this.#wire) {
            const geometry = new BufferGeometry();
            geometry.setIndex(this.faces.edges());
            geometry.setAttribute("position", this.#positions.attribute);
            geometry.boundingSphere = new Sphere();
            this.#wire = new LineSegments(geometry, material);
            this.#wire.frustumCulled = false;
            this.#wire.renderOrder = 1;
            this.object.add(this.#wire);
        }
        if (this.#wire) this.#wire.visible = shown;
    }

    dispose(): void {
        this.object.removeFromParent();
        this.object.geometry.dispose();
        this.#wire?.geometry.dispose();
        for (const buffer of [this.#positions, this.#normals, this.#heat]) buffer?.dispose();
    }
}
