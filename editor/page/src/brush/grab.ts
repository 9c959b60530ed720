// Grab: what is under the brush follows the pointer.
import type { Region } from "./region";

/** From where the vertices were when the brush took hold of them; so a stroke back is as if nothing had been. */
export const grab = (positions: Float32Array, from: Float32Array, region: Region, move: ArrayLike<number>): void => {
    const { vertices, weights, mirrored, count } = region;
    for (let i = 0; i < count; i++) {
        const v = 3 * vertices[i];
        const w = weights[i];
        const m = mirrored ? mirrored[i] : 0;
        // Where a brush and its mirror image overlap, they share: in the plane of symmetry each has half.
        const share = m > 0 && w > 0 ? Math.max(w, m) / (w + m) : 1;
        positions[v] = from[v] + share * (w - m) * move[0];
        positions[v + 1] = from[v + 1] + share * (w + m) * move[1];
        positions[v + 2] = from[v + 2] + share * (w + m) * move[2];
    }
};
