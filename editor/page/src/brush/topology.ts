// Neighbours of the cage's vertices in compressed rows, built when a brush is first used. All vertices of a face count
// as neighbours, also across its diagonals. So distances on a grid of quads form a disc, not a diamond.
import type { Mesh, Rig } from "@exemplar/runtime";

export interface Faces {
    /** Corners of each polygon. */
    readonly sizes: Uint32Array;
    /** Their vertices, in the order of the source file. */
    readonly corners: Uint32Array;
    /** Three vertices each. */
    readonly triangles: Uint32Array;
}

export interface Topology {
    readonly vertexCount: number;
    readonly faces: Faces;
    readonly rest: Float32Array;
    /** Neighbours of v: near[first[v]] to near[first[v + 1] - 1]. */
    readonly first: Uint32Array;
    readonly near: Uint32Array;
    /** 1 for a vertex on an open edge. */
    readonly open: Uint8Array;
    /** Vertices at the same place along a seam act as one. `seams` lists the others by their first, `lead` gives
     * each vertex's first. Null without seams. */
    readonly seams: Map<number, number[]> | null;
    readonly lead: Uint32Array | null;
}

const LARGE_FACE = 6; // corners; larger faces count edges only, as a cap of a thousand corners has half a million pairs

export const facesOf = (mesh: Mesh): Faces => {
    const { sources } = mesh;
    const source = (indices: Uint32Array): Uint32Array => (sources ? indices.map((i) => sources[i]) : indices.slice());
    return { sizes: mesh.faceSizes.slice(), corners: source(mesh.corners), triangles: source(mesh.triangles) };
};

interface Rows {
    first: Uint32Array;
    near: Uint32Array;
    open: Uint8Array;
}

const countPairs = (faces: Faces, count: number): Uint32Array => {
    const first = new Uint32Array(count + 1);
    let at = 0;
    for (const size of faces.sizes) {
        for (let i = 0; i < size; i++) first[faces.corners[at + i] + 1] += size <= LARGE_FACE ? size - 1 : 2;
        at += size;
    }
    for (let v = 0; v < count; v++) first[v + 1] += first[v];
    return first;
};

const link = (faces: Faces, count: number): Rows => {
    const room = countPairs(faces, count);
    const near = new Uint32Array(room[count]);
    const uses = new Uint8Array(room[count]); // faces at that edge; 0 for a diagonal
    const degree = new Uint32Array(count);
    const add = (a: number, b: number, isEdge: boolean): void => {
        const [start, end] = [room[a], room[a] + degree[a]];
        let slot = start;
        while (slot < end && near[slot] !== b) slot++;
        if (slot === end) {
            near[slot] = b;
            degree[a]++;
        }
        if (isEdge && uses[slot] < 255) uses[slot]++;
    };
    let at = 0;
    for (const size of faces.sizes) {
        for (let i = 0; i < size; i++)
            for (let j = i + 1; j < size; j++) {
                const isEdge = j === i + 1 || (i === 0 && j === size - 1);
                const [a, b] = [faces.corners[at + i], faces.corners[at + j]];
                if (a === b || (!isEdge && size > LARGE_FACE)) continue;
                add(a, b, isEdge);
                add(b, a, isEdge);
            }
        at += size;
    }
    const first = new Uint32Array(count + 1);
    const open = new Uint8Array(count);
    let end = 0;
    for (let v = 0; v < count; v++) {
        for (let i = 0; i < degree[v]; i++) {
            if (uses[room[v] + i] === 1) open[v] = 1;
            near[end + i] = near[room[v] + i];
        }
        first[v] = end;
        end += degree[v];
    }
    first[count] = end;
    return { first, near: near.slice(0, end), open };
};

// A mesh from a glTF file is open along its texture seams, with several vertices at one place, and a brush must not
// tear them apart. Two lips that touch are not open there, so they stay apart.
const findSeams = (open: Uint8Array, rest: Float32Array): Map<number, number[]> | null => {
    const groups = new Map<string, number[]>();
    open.forEach((isOpen, v) => {
        if (!isOpen) return;
        const key = `${rest[3 * v]},${rest[3 * v + 1]},${rest[3 * v + 2]}`;
        const group = groups.get(key);
        if (group) group.push(v);
        else groups.set(key, [v]);
    });
    const seams = [...groups.values()].filter((group) => group.length > 1);
    return seams.length ? new Map(seams.map(([lead, ...others]) => [lead, others])) : null;
};

export const linkFaces = (faces: Faces, rest: Float32Array): Topology => {
    const vertexCount = rest.length / 3;
    const rows = link(faces, vertexCount);
    const seams = findSeams(rows.open, rest);
    if (!seams) return { vertexCount, faces, rest, ...rows, seams, lead: null };
    const lead = Uint32Array.from({ length: vertexCount }, (_, v) => v);
    for (const [v, others] of seams) for (const other of others) lead[other] = v;
    const welded = {
        sizes: faces.sizes,
        corners: faces.corners.map((v) => lead[v]),
        triangles: faces.triangles.map((v) => lead[v]),
    };
    return { vertexCount, faces: welded, rest, ...link(welded, vertexCount), seams, lead };
};

export const topologyOf = (rig: Rig): Topology => linkFaces(facesOf(rig.mesh(0)), rig.restPositions().slice());

// Spatial hash: the vertices in each cell of a grid, as linked lists.
class Grid {
    readonly #head: Int32Array;
    readonly #next: Int32Array;
    readonly #mask: number;

    constructor(readonly points: Float32Array, readonly cell: number) {
        const count = points.length / 3;
        this.#mask = 2 ** Math.ceil(Math.log2(count + 1)) - 1;
        this.#head = new Int32Array(this.#mask + 1).fill(-1);
        this.#next = new Int32Array(count);
        for (let v = 0; v < count; v++) {
            const slot = this.#slot(this.#of(points[3 * v]), this.#of(points[3 * v + 1]), this.#of(points[3 * v + 2]));
            this.#next[v] = this.#head[slot];
            this.#head[slot] = v;
        }
    }
    #of(x: number): number {
        return Math.floor(x / this.cell);
    }
    #slot(i: number, j: number, k: number): number {
        return (Math.imul(i, 73856093) ^ Math.imul(j, 19349663) ^ Math.imul(k, 83492791)) & this.#mask;
    }
    /** The nearest point within half a cell; -1 if there is none. */
    nearest(x: number, y: number, z: number): number {
        const { points, cell } = this;
        const half = cell / 2;
        let [found, best] = [-1, half * half];
        for (let i = this.#of(x - half); i <= this.#of(x + half); i++)
            for (let j = this.#of(y - half); j <= this.#of(y + half); j++)
                for (let k = this.#of(z - half); k <= this.#of(z + half); k++)
                    for (let u = this.#head[this.#slot(i, j, k)]; u >= 0; u = this.#next[u]) {
                        const [dx, dy, dz] = [points[3 * u] - x, points[3 * u + 1] - y, points[3 * u + 2] - z];
                        const square = dx * dx + dy * dy + dz * dz;
                        if (square < best) [found, best] = [u, square];
                    }
        return found;
    }
}

/** The mirror image of each vertex across x = 0 at rest: another vertex, itself if it lies in the plane, or -1 if
 * none. */
export const mirrorOf = ({ vertexCount, rest }: Topology): Int32Array => {
    let size = 0;
    for (const x of rest) size = Math.max(size, Math.abs(x));
    const grid = new Grid(rest, 4e-4 * size || 1); // twice the tolerance
    const mirror = new Int32Array(vertexCount);
    for (let v = 0; v < vertexCount; v++) mirror[v] = grid.nearest(-rest[3 * v], rest[3 * v + 1], rest[3 * v + 2]);
    return mirror;
};
