// A form on the screen: the faces of a mesh, and GPU buffers filled straight from WebAssembly memory. One copy per
// frame, no allocation.
import {
    BufferAttribute, BufferGeometry, GLBufferAttribute, LineSegments, Mesh as Object3D, Sphere, type Material,
    type ShaderMaterial,
} from "three";
import type { Mesh, Rig } from "@exemplar/runtime";
import { faceMaterials, type FaceMaterials } from "../core/materials";
import { edgesOf, refineValues } from "./edges";

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
    /** Linear, three numbers per vertex. */
    readonly colours: BufferAttribute | null;
    /** Runs of triangles that have one material: its index among `materials`, after them all that for none. */
    readonly runs: readonly { first: number; count: number; material: number }[];
    readonly materials: readonly string[];
    /** Created on first use. */
    edges(): BufferAttribute;
}

/** The triangles in the order of their materials, and the runs of each. */
const sorted = (triangles: Uint32Array, given: FaceMaterials | null): Pick<Faces, "triangles" | "runs" | "materials"> => {
    const total = triangles.length / 3;
    if (!given) {
        const runs = [{ first: 0, count: 3 * total, material: 0 }];
        return { triangles: new BufferAttribute(triangles.slice(), 1), runs, materials: [] };
    }
    const none = given.names.length;
    const of = given.triangles.map((material) => (material < 0 ? none : material));
    const counts = new Uint32Array(none + 2);
    for (const material of of) counts[material + 1]!++;
    for (let m = 0; m <= none; m++) counts[m + 1]! += counts[m]!;
    const ends = counts.slice();
    const order = new Uint32Array(triangles.length);
    for (let t = 0; t < total; t++) order.set(triangles.subarray(3 * t, 3 * t + 3), 3 * ends[of[t]!]!++);
    const runs = Array.from({ length: none + 1 }, (_, m) =>
        ({ first: 3 * counts[m]!, count: 3 * (counts[m + 1]! - counts[m]!), material: m })).filter(({ count }) => count > 0);
    return { triangles: new BufferAttribute(order, 1), runs, materials: given.names };
};

/** The rig's vertex colours at a level, or null. */
const coloursOf = (rig: Rig, mesh: Mesh): BufferAttribute | null => {
    const bytes = rig.attachment("colours");
    if (!bytes || bytes.length !== 12 * rig.vertexCount) return null;
    const cage = new Float32Array(bytes.buffer);
    const { sources } = mesh;
    const colours = new Float32Array(3 * mesh.splitCount);
    for (let k = 0; k < 3; k++) {
        const fine = refineValues(rig, mesh, cage.filter((_, i) => i % 3 === k));
        for (let v = 0; v < mesh.splitCount; v++) colours[3 * v + k] = fine[sources ? sources[v]! : v]!;
    }
    return new BufferAttribute(colours, 3);
};

export const facesOf = (rig: Rig, mesh: Mesh): Faces => {
    let edges: BufferAttribute | null = null;
    const hasLooks = rig.attachments.includes("looks");
    return {
        count: mesh.splitCount,
        ...sorted(mesh.triangles, hasLooks ? faceMaterials(rig, mesh) : null),
        colours: hasLooks ? coloursOf(rig, mesh) : null,
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
        ...sorted(map(mesh.triangles), null),
        texcoords: null,
        colours: null,
        edges: () => (edges ??= new BufferAttribute(map(edgesOf(mesh)), 1)),
    };
};

export class Form {
    readonly faces: Faces;
    readonly object: Object3D<BufferGeometry, Material | Material[]>;
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
        if (faces.colours) geometry.setAttribute("color", faces.colours);
        for (const { first, count, material: index } of faces.runs) geometry.addGroup(first, count, index);
        this.object = new Object3D<BufferGeometry, Material | Material[]>(geometry, material);
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
