// Smooth: Taubin's pair of steps (A signal processing approach to fair surface design, 1995): one towards the mean of
// the neighbours, one a little farther back, so that bumps go and the form does not shrink. The means have cotangent
// weights of the mesh at rest: a surface that is smooth already keeps its vertices where they are, however uneven the
// mesh. Open edges stay.
import type { Region } from "./region";
import type { Topology } from "./topology";

const LAMBDA = 0.5;
const MU = -0.53;

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
        // Very obtuse triangles have negative weights, with which steps can run away.
        for (let i = first[v]; i < first[v + 1]; i++) sum += means[i] = Math.min(Math.max(means[i], 0), 1e3);
        for (let i = first[v]; i < first[v + 1]; i++) means[i] = sum > 0 ? means[i] / sum : 0;
    }
    return means;
};

const step = (values: Float32Array, width: number, topology: Topology, means: Float32Array, region: Region,
    amount: number, next: Float32Array): void => {
    const { first, near, open, seams } = topology;
    const { vertices, weights, mirrored, leads } = region;
    for (let i = 0; i < leads; i++) {
        const v = vertices[i];
        const weight = amount * Math.max(weights[i], mirrored ? mirrored[i] : 0);
        for (let c = 0; c < width; c++) {
            let mean = 0;
            let sum = 0;
            for (let n = first[v]; n < first[v + 1]; n++) {
                mean += means[n] * values[width * near[n] + c];
                sum += means[n];
            }
            next[width * i + c] = open[v] && width === 3 ? 0 : weight * (mean - sum * values[width * v + c]);
        }
    }
    for (let i = 0; i < leads; i++) {
        const v = vertices[i];
        for (let c = 0; c < width; c++) {
            values[width * v + c] += next[width * i + c];
            if (seams) for (const other of seams.get(v) ?? []) values[width * other + c] += next[width * i + c];
        }
    }
};

/** A dab on positions. */
export const smooth = (positions: Float32Array, topology: Topology, means: Float32Array, region: Region,
    strength: number): void => {
    const next = new Float32Array(3 * region.leads);
    step(positions, 3, topology, means, region, LAMBDA * strength, next);
    step(positions, 3, topology, means, region, MU * strength, next);
};

/** A dab on painted values, which may shrink: they stay within 0 and 1 by themselves. */
export const smoothValues = (values: Float32Array, topology: Topology, means: Float32Array, region: Region,
    strength: number): void =>
    step(values, 1, topology, means, region, strength, new Float32Array(region.leads));
