// Grab: the vertices under the brush follow the pointer.
import type { Region } from "./region";

/** Moves from the positions at the start of the stroke, so moving the pointer back undoes the change. */
export const grab = (positions: Float32Array, from: Float32Array, region: Region, move: ArrayLike<number>): void => {
    const { vertices, weights, mirrored, count } = region;
    for (let i = 0; i < count; i++) {
        const v = 3 * vertices[i];
        const w = weights[i];
        const m = mirrored ? mirrored[i] : 0;
        // A brush and its mirror image share vertices where they overlap. In the plane of symmetry each has half.
        const share = m > 0 && w > 0 ? Math.max(w, m) / (w + m) : 1;
        positions[v] = from[v] + share * (w - m) * move[0];
        positions[v + 1] = from[v + 1] + share * (w + m) * move[1];
        positions[v + 2] = from[v + 2] + share * (w + m) * move[2];
    }
};
