// Edges of polygons, each once: for the wireframe, and to carry values of the cage to a finer level.
import type { Mesh, Rig } from "@exemplar/runtime";

/** Calls `visit` with both ends (split vertices) of every side of every polygon. */
const eachSide = (mesh: Mesh, visit: (from: number, to: number) => void): void => {
    const { faceSizes, corners } = mesh;
    for (let face = 0, first = 0; face < faceSizes.length; first += faceSizes[face++]!) {
        const size = faceSizes[face]!;
        for (let i = 0, last = corners[first + size - 1]!; i < size; last = corners[first + i++]!) visit(last, corners[first + i]!);
    }
};

/** Pairs of split vertices. Sides are sorted into a bucket per vertex, that of their lower end; two equal sides in a
 * bucket are one edge. */
export const edgesOf = (mesh: Mesh): Uint32Array<ArrayBuffer> => {
    const { sources, splitCount, vertexCount } = mesh;
    const source = sources ?? Uint32Array.from({ length: splitCount }, (_, i) => i);
    const ends = new Uint32Array(vertexCount + 2);
    eachSide(mesh, (a, b) => ends[Math.min(source[a]!, source[b]!) + 2]!++);
    for (let v = 2; v < ends.length; v++) ends[v]! += ends[v - 1]!;
    const high = new Uint32Array(ends[vertexCount + 1]!);
    const pairs = new Uint32Array(2 * high.length);
    const filled = ends.subarray(1);
    let count = 0;
    eachSide(mesh, (a, b) => {
        const [low, up] = source[a]! < source[b]! ? [source[a]!, source[b]!] : [source[b]!, source[a]!];
        let place = ends[low]!;
        while (place < filled[low]! && high[place] !== up) place++;
        if (place < filled[low]!) return;
        high[filled[low]!++] = up;
        pairs[count++] = a;
        pairs[count++] = b;
    });
    return pairs.slice(0, count);
};

/** Carries values of source vertices to the vertices of a finer level. Each level keeps the vertices of the one
 * before, then has one per edge, then (for quads) one per face. */
export const refineValues = (rig: Rig, mesh: Mesh, values: Float32Array): Float32Array => {
    const top = mesh.level < 0 ? rig.levelCount : mesh.level; // the limit has the vertices of the last level
    let result = values;
    for (let level = 1; level <= top; level++) {
        const fine = rig.mesh(level);
        const { sources } = fine;
        const old = result.length;
        const next = new Float32Array(fine.vertexCount);
        const counts = new Uint32Array(fine.vertexCount); // a face may have more than 65535 corners
        next.set(result);
        const spread = (from: number, to: number): void => {
            next[to]! += next[from]!;
            counts[to]!++;
        };
        const both = (takes: (a: number, b: number) => boolean): void =>
            eachSide(fine, (p, q) => {
                const [a, b] = sources ? [sources[p]!, sources[q]!] : [p, q];
                if (takes(a, b)) spread(a, b);
                else if (takes(b, a)) spread(b, a);
            });
        both((a, b) => a < old && b >= old);
        for (let v = old; v < next.length; v++) if (counts[v]! > 0) next[v]! /= counts[v]!;
        const inEdge = counts.map((count) => (count > 0 ? 1 : 0));
        both((a, b) => b >= old && inEdge[b] === 0 && inEdge[a] === 1);
        for (let v = old; v < next.length; v++) if (inEdge[v] === 0 && counts[v]! > 0) next[v]! /= counts[v]!;
        result = next;
    }
    return result;
};
