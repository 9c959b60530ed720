// Rigs: the contents of a file, and the page's changes to them.
import { BLOCK, CHILDREN, find, Owned, PLACE, refuse, View } from "./core.js";
import { Layer } from "./layer.js";
import { Pose } from "./pose.js";
import { Mesh, Surface } from "./surface.js";

const AXES = ["scalar", "rotation", "swing", "twist", "driver"];
const SKINNINGS = ["linear", "dual_quaternion"];

/** The mesh that is an input of the rig. */
class Driver {
    #rig;
    #triangles;
    constructor(core, rig, vertexCount) {
        const [count, place] = core.numbers(Uint32Array, 2, (at) => core.c.driver_numbers(rig[PLACE], at));
        this.#rig = rig;
        this.#triangles = new View(core, Uint32Array, place, 3 * count);
        this.vertexCount = vertexCount;
    }
    /** Three vertices each. */
    get triangles() {
        return this.#rig[PLACE] && this.#triangles.array;
    }
}

/** A rig and the page's changes to it. Created by load() or runtime.open(). */
export class Rig extends Owned {
    #core;
    #sizes;
    constructor(core, place, block = {}) {
        super("rig", place, (at) => {
            for (const child of this[CHILDREN]) child.dispose();
            core.c.rig_close(at);
        });
        const { c } = core;
        const counts = core.numbers(Int32Array, 11, (at) => c.rig_counts(place, at));
        const [layers, , inputs, pose, joints, levels, shown, textures, driver, vertices, skinning] = counts;
        const list = (length, make) => Array.from({ length }, (_, i) => make(i));
        this[CHILDREN] = new Set();
        this[BLOCK] = block;
        this.#core = core;
        this.#sizes = { pose, joints, driver };
        this.vertexCount = vertices;
        this.skinning = SKINNINGS[skinning] ?? null;
        this.driver = driver > 0 ? new Driver(core, this, driver) : null;
        this.levelCount = levels;
        this.shownLevel = shown;
        this.inputs = list(inputs, (i) => {
            const n = core.numbers(Float64Array, 13, (at) => c.input_numbers(place, i, at));
            const [kind, width, min, max] = n;
            return {
                index: i,
                name: core.text(c.input_name(place, i)),
                unit: core.text(c.input_unit(place, i)),
                kind: AXES[kind],
                width,
                min,
                max,
                rest: width === 4 ? Array.from(n.slice(4, 8)) : n[4],
                offset: n[8],
                joint: n[9],
                about: kind === 2 || kind === 3 || n[9] >= 0 ? Array.from(n.slice(10, 13)) : null,
            };
        });
        this.joints = list(joints, (j) => ({
            index: j,
            name: core.text(c.joint_name(place, j)),
            parent: c.joint_parent(place, j),
        }));
        this.textures = list(textures, (t) => {
            const [width, height, srgb] = core.numbers(Int32Array, 3, (at) => c.texture_numbers(place, t, at));
            return { index: t, name: core.text(c.texture_name(place, t)), width, height, srgb: srgb !== 0 };
        });
        this.attachments = list(c.attachment_count(place), (i) => core.text(c.attachment_kind(place, i)));
        this.layers = list(layers, (l) => new Layer(core, this, l));
    }

    layer(name) {
        return this.layers[find(this.layers, "layer", name)];
    }
    input(name) {
        return this.inputs[find(this.inputs, "input", name)];
    }
    /** A joint's transform at rest, relative to its parent: translation, rotation x y z w, scale. */
    joint(name) {
        const joint = find(this.joints, "joint", name);
        return this.#core.numbers(Float32Array, 10, (at) => this.#core.c.joint_rest(this[PLACE], joint, at));
    }

    /** The mesh before any layer, three numbers per source vertex. */
    restPositions() {
        return this.#core.numbers(Float32Array, 3 * this.vertexCount, (at) => this.#core.c.rig_rest(this[PLACE], at));
    }

    /** The cage's normals at rest, as its file has them: a copy, three numbers per split vertex; or null. */
    restNormals() {
        const place = this.#core.c.rig_normals(this[PLACE]);
        return place ? new View(this.#core, Float32Array, place, 3 * this.mesh(0).splitCount).array.slice() : null;
    }

    /** A copy of the bytes that the rig carries under a name ("looks", "materials", …); null if there are none. */
    attachment(kind) {
        const i = this.attachments.indexOf(kind);
        if (i < 0) return null;
        const read = (at) => this.#core.c.attachment_numbers(this[PLACE], i, at);
        const [size, place] = this.#core.numbers(Uint32Array, 2, read);
        return size > 0 ? new View(this.#core, Uint8Array, place, size).array.slice() : new Uint8Array(0);
    }

    /** The faces of a level: 0 is the cage. */
    mesh(level = this.shownLevel) {
        const mesh = Number.isInteger(level) ? new Mesh(this.#core, this, level) : { vertexCount: 0 };
        if (mesh.vertexCount === 0)
            refuse(`this rig has no level ${level}: it has 0 to ${this.levelCount}, and LIMIT if it has a limit surface`);
        return mesh;
    }

    /** A new pose, at rest. */
    pose(values = {}) {
        const pose = new Pose(this.#core, this, this.#sizes);
        for (const [name, value] of Object.entries(values)) pose.set(name, value);
        return pose;
    }

    /** Memory for results: by default split vertices, which a renderer needs, and normals. */
    surface(options = {}) {
        const { level = this.shownLevel, split = true, normals = true } = options;
        const { tangents = false, textures = false, state = false } = options;
        const { texcoords } = this.mesh(level);
        if (tangents && !(normals && texcoords))
            refuse("tangents need normals and a rig with texture coordinates");
        return new Surface(this.#core, this, { level, split, normals, tangents, textures, state });
    }

    /** A second rig with the same forms, muted and edited as this one is now, and independent from then on. */
    twin() {
        return new Rig(this.#core, this.#core.c.rig_twin(this[PLACE]) || this.#core.fail(), this[BLOCK]);
    }
}
