// Paint: values from 0 to 1 at vertices.
import type { Region } from "./region";

/** One dab towards 1, or towards 0. */
export const paint = (values: Float32Array, region: Region, strength: number, target: 0 | 1): void => {
    const { vertices, weights, mirrored, count } = region;
    for (let i = 0; i < count; i++) {
        const v = vertices[i];
        const step = strength * Math.max(weights[i], mirrored ? mirrored[i] : 0);
        values[v] = Math.min(1, Math.max(0, values[v] + (target === 1 ? step : -step)));
    }
};
