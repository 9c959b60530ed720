// The vertices under a brush: those within its radius along the surface, with a smooth falloff. Distances along edges
// (Dijkstra) keep a brush on one lip away from the other. On flat parts a path along edges is up to a sixth too long,
// so the straight distance counts there, which keeps the brush round.
import type { Topology } from "./topology";

export interface Region {
    readonly count: number;
    /** The first vertex of each seam group; the others follow, from `leads` on. */
    readonly vertices: Uint32Array;
    readonly leads: number;
    readonly weights: Float32Array;
    /** Weights of the mirrored brush; null without symmetry. */
    readonly mirrored: Float32Array | null;
}

const DETOUR = 1.155; // longest detour on a regular triangle grid

const falloff = (t: number): number => (t < 1 ? (1 - t * t) ** 2 : 0);

export class Walker {
    readonly #distance: Float32Array;
    readonly #slot: Int32Array;
    #keys = new Float32Array(1024);
    #heap = new Uint32Array(1024);
    #size = 0;

    constructor(readonly topology: Topology) {
        this.#distance = new Float32Array(topology.vertexCount).fill(Infinity);
        this.#slot = new Int32Array(topology.vertexCount).fill(-1);
    }

    #push(key: number, vertex: number): void {
        if (this.#size === this.#keys.length) {
            const [keys, heap] = [this.#keys, this.#heap];
            this.#keys = new Float32Array(2 * keys.length);
            this.#heap = new Uint32Array(2 * keys.length);
            this.#keys.set(keys);
            this.#heap.set(heap);
        }
        let at = this.#size++;
        for (let up = (at - 1) >> 1; at > 0 && this.#keys[up] > key; up = (at - 1) >> 1) {
            this.#keys[at] = this.#keys[up];
            this.#heap[at] = this.#heap[up];
            at = up;
        }
        this.#keys[at] = key;
        this.#heap[at] = vertex;
    }

    #pop(): void {
        const last = --this.#size;
        const [key, vertex] = [this.#keys[last], this.#heap[last]];
        let at = 0;
        for (let down = 1; down < last; down = 2 * at + 1) {
            if (down + 1 < last && this.#keys[down + 1] < this.#keys[down]) down++;
            if (this.#keys[down] >= key) break;
            this.#keys[at] = this.#keys[down];
            this.#heap[at] = this.#heap[down];
            at = down;
        }
        this.#keys[at] = key;
        this.#heap[at] = vertex;
    }

    /** Visits the vertices within reach of the point, starting at the nearest vertex and its neighbours. */
    #reach(positions: Float32Array, point: ArrayLike<number>, nearest: number, reach: number): number[] {
        const { first, near } = this.topology;
        const distance = this.#distance;
        const visited: number[] = [];
        const offer = (v: number, way: number): void => {
            const d = Math.fround(way); // rounded as stored, or a path would seem shorter than itself and loop
            if (d > reach || d >= distance[v]) return;
            if (distance[v] === Infinity) visited.push(v);
            distance[v] = d;
            this.#push(d, v);
        };
        const straight = (v: number): number => Math.hypot(
            positions[3 * v] - point[0], positions[3 * v + 1] - point[1], positions[3 * v + 2] - point[2]);
        // The nearest vertex always moves, however small the brush.
        offer(nearest, Math.min(straight(nearest), 0.5 * reach));
        for (let i = first[nearest]; i < first[nearest + 1]; i++) offer(near[i], straight(near[i]));
        while (this.#size > 0) {
            const [key, v] = [this.#keys[0], this.#heap[0]];
            this.#pop();
            if (key > distance[v]) continue;
            const [x, y, z] = [positions[3 * v], positions[3 * v + 1], positions[3 * v + 2]];
            for (let i = first[v]; i < first[v + 1]; i++) {
                const u = near[i];
                const [dx, dy, dz] = [positions[3 * u] - x, positions[3 * u + 1] - y, positions[3 * u + 2] - z];
                offer(u, key + Math.sqrt(dx * dx + dy * dy + dz * dz));
            }
        }
        return visited;
    }

    #mirror(vertices: number[], weights: number[], mirror: Int32Array): Float32Array {
        vertices.forEach((v, i) => (this.#slot[v] = i));
        const mirrored = new Array<number>(vertices.length).fill(0);
        for (let i = 0, count = vertices.length; i < count; i++) {
            const u = mirror[vertices[i]];
            if (u < 0) continue;
            const image = this.topology.lead?.[u] ?? u;
            let slot = this.#slot[image];
            if (slot < 0) {
                slot = this.#slot[image] = vertices.length;
                vertices.push(image);
                weights.push(0);
                mirrored.push(0);
            }
            mirrored[slot] = Math.max(mirrored[slot], weights[i]);
        }
        for (const v of vertices) this.#slot[v] = -1;
        return Float32Array.from(mirrored);
    }

    /** The region around a point of the surface, given the nearest vertex. */
    region(positions: Float32Array, point: ArrayLike<number>, nearest: number, radius: number,
        mirror: Int32Array | null): Region {
        const { lead, seams } = this.topology;
        const vertices = this.#reach(positions, point, lead?.[nearest] ?? nearest, radius * DETOUR);
        const weights = vertices.map((v) => {
            const x = positions[3 * v] - point[0];
            const y = positions[3 * v + 1] - point[1];
            const z = positions[3 * v + 2] - point[2];
            const straight = v === nearest ? 0 : Math.sqrt(x * x + y * y + z * z);
            return falloff(Math.max(straight, this.#distance[v] / DETOUR) / radius);
        });
        for (const v of vertices) this.#distance[v] = Infinity;
        let mirrored = mirror ? this.#mirror(vertices, weights, mirror) : null;
        const leads = vertices.length;
        if (seams) {
            const others = mirrored ? [...mirrored] : null;
            for (let i = 0; i < leads; i++)
                for (const other of seams.get(vertices[i]) ?? []) {
                    vertices.push(other);
                    weights.push(weights[i]);
                    others?.push(others[i]);
                }
            if (others) mirrored = Float32Array.from(others);
        }
        return { count: vertices.length, vertices: Uint32Array.from(vertices), leads,
            weights: Float32Array.from(weights), mirrored };
    }
}
