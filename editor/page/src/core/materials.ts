// The materials of a rig's faces, from the bytes that the rig carries as "materials": the name of a library, then 1 and
// the names with one index per face of the cage (-1: none), or 0. Numbers have 32 bits and are little-endian, and texts
// follow their length (src/author/mesh/notes.c).
import type { Mesh, Rig } from "@exemplar/runtime";

export interface FaceMaterials {
    readonly names: readonly string[];
    /** An index of `names` for each triangle of a level; -1 for none. */
    readonly triangles: Int32Array;
}

const read = (bytes: Uint8Array): { names: string[]; faces: (count: number) => Int32Array } | null => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    const number = (): number => view.getInt32((at += 4) - 4, true);
    const text = (): string => {
        const size = number();
        return new TextDecoder().decode(bytes.subarray(at, (at += size)));
    };
    text();
    if (!number()) return null;
    const names = Array.from({ length: number() }, text);
    return { names, faces: (count) => Int32Array.from({ length: count }, number) };
};

/** Parts of a cage face with that many corners at a level: as the library counts them (src/author/mesh/from_rig.c). */
const partsOf = (corners: number, level: number, loop: boolean): number =>
    level === 0 ? 1 : (loop ? 4 * (corners - 2) : corners) * 4 ** (level - 1);

/** The cage face that each face of a level is a part of; null if the counts do not match. */
const sourcesOf = (rig: Rig, mesh: Mesh): Uint32Array | null => {
    const level = mesh.level < 0 ? rig.levelCount : mesh.level;
    const { faceSizes } = rig.mesh(0);
    for (const loop of [false, true]) {
        const parts = Array.from(faceSizes, (size) => partsOf(size, level, loop));
        if (parts.reduce((sum, count) => sum + count, 0) !== mesh.faceCount) continue;
        const sources = new Uint32Array(mesh.faceCount);
        let at = 0;
        parts.forEach((count, face) => sources.fill(face, at, (at += count)));
        return sources;
    }
    return null;
};

/** Null if the rig says nothing about its faces. */
export const faceMaterials = (rig: Rig, mesh: Mesh): FaceMaterials | null => {
    const bytes = rig.attachment("materials");
    const sources = bytes && sourcesOf(rig, mesh);
    if (!bytes || !sources) return null;
    try {
        const found = read(bytes);
        if (!found) return null;
        const faces = found.faces(rig.mesh(0).faceCount);
        const triangles = new Int32Array(mesh.triangleCount);
        let at = 0;
        mesh.faceSizes.forEach((size, f) => triangles.fill(faces[sources[f]!]!, at, (at += size - 2)));
        return at === mesh.triangleCount ? { names: found.names, triangles } : null;
    } catch {
        return null; // damaged: the form is shown as clay
    }
};
