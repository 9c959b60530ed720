// Intersects a ray with a form. In a view along the ray, a triangle is hit if it covers the origin. All vertices are
// turned into that view once; then each triangle costs a few products. 200,000 triangles take about 1 ms, and there is
// no index to update when the form moves.

import { unit } from "../core/rotation";

export interface RayHit {
    /** Index of the triangle, and barycentric weights of its corners (they sum to 1). */
    triangle: number;
    shares: [number, number, number];
    distance: number;
}

let flat = new Float32Array(0);

/** The nearest triangle along a ray, front or back; null if there is none. */
export const castRay = (
    positions: Float32Array,
    triangles: Uint32Array,
    from: ArrayLike<number>,
    along: ArrayLike<number>,
): RayHit | null => {
    const [dx, dy, dz] = unit(along);
    const other = Math.abs(dx) < 0.7 ? [1, 0, 0] : [0, 1, 0];
    const [ux, uy, uz] = unit([dy * other[2]! - dz * other[1]!, dz * other[0]! - dx * other[2]!, dx * other[1]! - dy * other[0]!]);
    const [vx, vy, vz] = [dy * uz - dz * uy, dz * ux - dx * uz, dx * uy - dy * ux];
    const [ox, oy, oz] = [from[0]!, from[1]!, from[2]!];
    if (flat.length < positions.length) flat = new Float32Array(positions.length);
    for (let i = 0; i < positions.length; i += 3) {
        const x = positions[i]! - ox;
        const y = positions[i + 1]! - oy;
        const z = positions[i + 2]! - oz;
        flat[i] = x * ux + y * uy + z * uz;
        flat[i + 1] = x * vx + y * vy + z * vz;
        flat[i + 2] = x * dx + y * dy + z * dz;
    }
    let best: RayHit | null = null;
    let nearest = Infinity;
    for (let t = 0; t < triangles.length; t += 3) {
        const a = 3 * triangles[t]!;
        const b = 3 * triangles[t + 1]!;
        const c = 3 * triangles[t + 2]!;
        const wa = flat[b]! * flat[c + 1]! - flat[c]! * flat[b + 1]!;
        const wb = flat[c]! * flat[a + 1]! - flat[a]! * flat[c + 1]!;
        const wc = flat[a]! * flat[b + 1]! - flat[b]! * flat[a + 1]!;
        if ((wa < 0 || wb < 0 || wc < 0) && (wa > 0 || wb > 0 || wc > 0)) continue;
        const sum = wa + wb + wc;
        if (sum === 0) continue;
        const distance = (wa * flat[a + 2]! + wb * flat[b + 2]! + wc * flat[c + 2]!) / sum;
        if (distance <= 0 || distance >= nearest) continue;
        nearest = distance;
        best = { triangle: t / 3, shares: [wa / sum, wb / sum, wc / sum], distance };
    }
    return best;
};
