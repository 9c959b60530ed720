// Smooth: Taubin's pair of steps (A signal processing approach to fair surface design, 1995). One step goes towards the
// mean of the neighbours, one a little farther back, which removes bumps without shrinking the form. The means use
// cotangent weights of the mesh at rest, so vertices of a smooth surface stay where they are, however uneven the mesh.
// Open edges stay.
import type { Region } from "./region";
import type { Topology } from "./topology";

const LAMBDA = 0.5;
const MU = -0.51; // with a larger step back, a brush held on a broad hill would raise it

/** One weight for each neighbour in topology.near; those of a vertex sum to 1, or are all 0. */
export const meansOf = ({ vertexCount, faces, rest, first, near }: Topology): Float32Array => {
    const means = new Float32Array(near.length);
    const { triangles } = faces;
    const add = (a: number, b: number, weight: number): void => {
        for (let i = first[a]; i < first[a + 1]; i++) if (near[i] === b) means[i] += weight;
    };
    for (let t = 0; t < triangles.length; t += 3)
        for (let c = 0; c < 3; c++) {
            const [o, a, b] = [triangles[t + c], triangles[t + ((c + 1) % 3)], triangles[t + ((c + 2) % 3)]];
            const [x, y, z] = [rest[3 * o], rest[3 * o + 1], rest[3 * o + 2]];
            const [px, py, pz] = [rest[3 * a] - x, rest[3 * a + 1] - y, rest[3 * a + 2] - z];
            const [qx, qy, qz] = [rest[3 * b] - x, rest[3 * b + 1] - y, rest[3 * b + 2] - z];
            const area = Math.hypot(py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx);
            const cotangent = area > 0 ? (px * qx + py * qy + pz * qz) / area : 0;
            add(a, b, cotangent);
            add(b, a, cotangent);
        }
    for (let v = 0; v < vertexCount; v++) {
        let sum = 0;
        // Very obtuse triangles give negative weights, which can make the steps diverge.
        for (let i = first[v]; i < first[v + 1]; i++) sum += means[i] = Math.min(Math.max(means[i], 0), 1e3);
        for (let i = first[v]; i < first[v + 1]; i++) means[i] = sum > 0 ? means[i] / sum : 0;
    }
    return means;
};

// Moves the vertices of a region by their computed steps, and all vertices of a seam group alike.
const apply = (values: Float32Array, width: 1 | 3, { seams }: Topology, { vertices, leads }: Region, found: Float32Array) => {
    for (let i = 0; i < leads; i++) {
        const v = vertices[i];
        for (let c = 0; c < width; c++) values[width * v + c] += found[width * i + c];
        for (const other of seams?.get(v) ?? [])
            for (let c = 0; c < width; c++) values[width * other + c] += found[width * i + c];
    }
};

const weightOf = ({ weights, mirrored }: Region, i: number): number =>
    mirrored ? Math.max(weights[i], mirrored[i]) : weights[i];

const step = (positions: Float32Array, topology: Topology, means: Float32Array, region: Region, amount: number,
    found: Float32Array): void => {
    const { first, near, open } = topology;
    for (let i = 0; i < region.leads; i++) {
        const v = region.vertices[i];
        let [x, y, z, sum] = [0, 0, 0, 0];
        for (let n = first[v], end = first[v + 1]; n < end; n++) {
            const [u, mean] = [3 * near[n], means[n]];
            x += mean * positions[u];
            y += mean * positions[u + 1];
            z += mean * positions[u + 2];
            sum += mean;
        }
        const weight = open[v] ? 0 : amount * weightOf(region, i);
        found[3 * i] = weight * (x - sum * positions[3 * v]);
        found[3 * i + 1] = weight * (y - sum * positions[3 * v + 1]);
        found[3 * i + 2] = weight * (z - sum * positions[3 * v + 2]);
    }
    apply(positions, 3, topology, region, found);
};

/** A dab on positions. */
export const smooth = (positions: Float32Array, topology: Topology, means: Float32Array, region: Region,
    strength: number): void => {
    const found = new Float32Array(3 * region.leads);
    step(positions, topology, means, region, LAMBDA * strength, found);
    step(positions, topology, means, region, MU * strength, found);
};

/** One dab on painted values. Shrinking does no harm here, since means stay within 0 and 1. */
export const smoothValues = (values: Float32Array, topology: Topology, means: Float32Array, region: Region,
    strength: number): void => {
    const { first, near } = topology;
    const found = new Float32Array(region.leads);
    for (let i = 0; i < region.leads; i++) {
        const v = region.vertices[i];
        let mean = 0;
        for (let n = first[v]; n < first[v + 1]; n++) mean += means[n] * (values[near[n]] - values[v]);
        found[i] = strength * weightOf(region, i) * mean;
    }
    apply(values, 1, topology, region, found);
};
