// Surfaces, which hold results, and the faces of a level.
import { BLOCK, CHILDREN, find, Owned, PLACE, refuse, View } from "./core.js";
import { Pose } from "./pose.js";

/** Created by rig.surface(). */
export class Surface extends Owned {
    #core;
    #rig;
    #views;
    #textures;
    constructor(core, rig, { level, split, normals, tangents, textures, state }) {
        const { c } = core;
        const flags = [split, normals, tangents, textures, state].map((flag) => (flag ? 1 : 0));
        const place = c.surface_open(rig[PLACE], level, ...flags) || core.fail();
        super("surface", place, (at) => {
            rig[CHILDREN].delete(this);
            c.surface_close(at, textures ? rig.textures.length : 0);
        });
        rig[CHILDREN].add(this);
        const count = c.surface_count(place);
        const examples = rig.layers.reduce((sum, layer) => sum + layer.examples.length, 0);
        this.#core = core;
        this.#rig = rig;
        this.level = level;
        this.split = split;
        this.vertexCount = count;
        this.#views = {
            positions: new View(core, Float32Array, c.surface_positions(place), 3 * count),
            normals: new View(core, Float32Array, c.surface_normals(place), 3 * count),
            tangents: new View(core, Float32Array, c.surface_tangents(place), 4 * count),
            weights: new View(core, Float64Array, c.surface_weights(place), examples),
            box: new View(core, Float32Array, c.surface_box(place), 6),
        };
        this.#textures = rig.textures.map(
            ({ width, height }, t) =>
                new View(core, Uint8ClampedArray, c.surface_texture(place, t), 4 * width * height),
        );
    }

    #view(name) {
        return this[PLACE] && this.#views[name].array;
    }
    get rig() {
        return this.#rig;
    }
    /** Three numbers per vertex. */
    get positions() {
        return this.#view("positions");
    }
    /** Three numbers per vertex, of length 1; null unless requested. */
    get normals() {
        return this.#view("normals");
    }
    /** Four numbers per vertex, as in glTF; null unless requested. */
    get tangents() {
        return this.#view("tangents");
    }
    /** Weights of the examples of all layers, one after the other (layer.firstExample). */
    get weights() {
        return this.#view("weights");
    }
    /** Smallest x y z, largest x y z. */
    get box() {
        return this.#view("box");
    }
    /** RGBA rows, as in ImageData; null unless textures were requested. */
    texture(name) {
        return this[PLACE] && this.#textures[find(this.#rig.textures, "texture", name)].array;
    }

    /** Fills everything for a pose. Allocates nothing and cannot fail. */
    evaluate(pose, { unskinned = false, unsettled = false, unpainted = false } = {}) {
        if (!(pose instanceof Pose) || pose.rig[BLOCK] !== this.#rig[BLOCK])
            refuse("evaluate needs a pose of the surface's own rig, or of a twin of it");
        const flags = [unskinned, unsettled, unpainted].map((flag) => (flag ? 1 : 0));
        this.#core.c.surface_evaluate(this.#rig[PLACE], pose[PLACE], this[PLACE], ...flags);
        return this;
    }
}

/** The faces of a level: counts, and views of arrays. */
export class Mesh {
    #rig;
    #views;
    constructor(core, rig, level) {
        const read = (at) => core.c.level_numbers(rig[PLACE], level, at);
        const [vertices, split, triangles, faces, corners, ...places] = core.numbers(Uint32Array, 10, read);
        this.level = level;
        this.vertexCount = vertices;
        this.splitCount = split;
        this.triangleCount = triangles;
        this.faceCount = faces;
        this.#rig = rig;
        const types = [Uint32Array, Float32Array, Uint32Array, Uint32Array, Uint32Array];
        const lengths = [split, 2 * split, 3 * triangles, faces, corners];
        this.#views = places.map((place, i) => new View(core, types[i], place, lengths[i]));
    }
    #view(index) {
        return this.#rig[PLACE] && this.#views[index].array;
    }
    /** The source vertex of each split vertex; null if none is split. */
    get sources() {
        return this.#view(0);
    }
    /** Two numbers per split vertex, origin at the top left as in glTF; or null. */
    get texcoords() {
        return this.#view(1);
    }
    /** Three split vertices each. */
    get triangles() {
        return this.#view(2);
    }
    /** Corners of each polygon. */
    get faceSizes() {
        return this.#view(3);
    }
    /** The polygons' split vertices. */
    get corners() {
        return this.#view(4);
    }
}
