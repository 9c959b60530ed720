// Normals of a brush's form: area-weighted sums over each vertex's triangles.

export class FormNormals {
    readonly #normals: Float32Array;
    constructor(readonly triangles: Uint32Array, count: number) {
        this.#normals = new Float32Array(3 * count);
    }

    /** Returns the same array at every call. */
    of(p: Float32Array): Float32Array {
        const { triangles } = this;
        const n = this.#normals.fill(0);
        for (let t = 0; t < triangles.length; t += 3) {
            const a = 3 * triangles[t]!;
            const b = 3 * triangles[t + 1]!;
            const c = 3 * triangles[t + 2]!;
            const ux = p[b]! - p[a]!;
            const uy = p[b + 1]! - p[a + 1]!;
            const uz = p[b + 2]! - p[a + 2]!;
            const vx = p[c]! - p[a]!;
            const vy = p[c + 1]! - p[a + 1]!;
            const vz = p[c + 2]! - p[a + 2]!;
            const x = uy * vz - uz * vy;
            const y = uz * vx - ux * vz;
            const z = ux * vy - uy * vx;
            n[a]! += x;
            n[a + 1]! += y;
            n[a + 2]! += z;
            n[b]! += x;
            n[b + 1]! += y;
            n[b + 2]! += z;
            n[c]! += x;
            n[c + 1]! += y;
            n[c + 2]! += z;
        }
        for (let v = 0; v < n.length; v += 3) {
            const length = Math.hypot(n[v]!, n[v + 1]!, n[v + 2]!) || 1;
            n[v]! /= length;
            n[v + 1]! /= length;
            n[v + 2]! /= length;
        }
        return n;
    }
}
