// Normals with the hard edges of the rig's file. Evaluation gives one normal per vertex of the source. A vertex that has
// several normals in the file is on a hard edge: each of them is then the mean of the faces that share it.
import type { Mesh, Rig } from "@exemplar/runtime";
import { FormNormals } from "./normals";

const SAME = 0.999; // cosine of two normals that count as one

export class HardNormals {
    readonly #sums: FormNormals;
    readonly #places: Float32Array;
    readonly #normals: Float32Array;
    private constructor(
        triangles: Uint32Array,
        /** The normal of each split vertex, and a split vertex of each normal. */
        readonly groups: Uint32Array,
        readonly members: Uint32Array,
    ) {
        this.#sums = new FormNormals(triangles.map((v) => groups[v]!), members.length);
        this.#places = new Float32Array(3 * members.length);
        this.#normals = new Float32Array(3 * groups.length);
    }

    /** Null if the mesh has no hard edges, or is not the cage. */
    static of(rig: Rig, mesh: Mesh): HardNormals | null {
        const rest = mesh.level === 0 ? rig.restNormals() : null;
        const { sources } = mesh;
        if (!rest || !sources) return null;
        const groups = new Uint32Array(mesh.splitCount);
        const members: number[] = [];
        const known: number[][] = Array.from({ length: mesh.vertexCount }, () => []);
        for (let v = 0; v < mesh.splitCount; v++) {
            const near = (group: number): boolean => {
                const [a, b] = [3 * members[group]!, 3 * v];
                return rest[a]! * rest[b]! + rest[a + 1]! * rest[b + 1]! + rest[a + 2]! * rest[b + 2]! > SAME;
            };
            const siblings = known[sources[v]!]!;
            let group = siblings.find(near);
            if (group === undefined) {
                group = members.push(v) - 1;
                siblings.push(group);
            }
            groups[v] = group;
        }
        return known.some((list) => list.length > 1) ? new HardNormals(mesh.triangles, groups, Uint32Array.from(members)) : null;
    }

    /** The normals of split vertices at their positions; the same array at every call. */
    at(positions: Float32Array): Float32Array {
        const places = this.#places;
        this.members.forEach((v, group) => {
            for (let k = 0; k < 3; k++) places[3 * group + k] = positions[3 * v + k]!;
        });
        const sums = this.#sums.of(places);
        const normals = this.#normals;
        this.groups.forEach((group, v) => {
            for (let k = 0; k < 3; k++) normals[3 * v + k] = sums[3 * group + k]!;
        });
        return normals;
    }
}
