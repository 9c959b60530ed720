// @exemplar/runtime: rigs of Exemplar in a page or in node, by the same C runtime compiled to WebAssembly.
//
// load() gives a Rig, which is what the file holds. A Pose is where its inputs and joints are, a Surface is where
// results go: surface.evaluate(pose) fills the arrays surface.positions, .normals and so on. Those arrays are views into
// WebAssembly's memory, which moves when it grows: ask the object again after anything that makes a rig, a pose or a
// surface, rather than keeping an array. What is given back with dispose() must not be used again, and says so.

/** The level of the limit surface, where a rig has one beside its levels. */
export const LIMIT = -1;

const DOMAINS = ["form", "pixels", "offsets", "trajectory", "displacement"];
const WEIGHERS = ["cardinal", "direct", "shepard", "nearest", "gaussian", "convex"];
const AXES = ["scalar", "rotation", "swing", "twist", "driver"];
const EDIT = { moveExample: 0, movePseudo: 3, addPseudo: 4, removePseudo: 5, falloff: 6 }; // ex_edit_kind

/** What the library refuses, as one sentence; `result` is its ex_result, 0 where this module refused. */
export class ExemplarError extends Error {
    constructor(message, result = 0) {
        super(message);
        this.name = "ExemplarError";
        this.result = result;
    }
}

const refuse = (message) => {
    throw new ExemplarError(message);
};

// ---- memory ----

// The module's exports, and its memory as arrays.
class Core {
    constructor(instance) {
        this.c = instance.exports;
        this.c._initialize();
    }

    view(Type, place, length) {
        return new Type(this.c.memory.buffer, place >>> 0, length);
    }

    text(place) {
        const bytes = new Uint8Array(this.c.memory.buffer);
        const start = place >>> 0;
        return new TextDecoder().decode(bytes.slice(start, bytes.indexOf(0, start)));
    }

    fail() {
        throw new ExemplarError(this.text(this.c.error_text()), this.c.error_result());
    }

    // Calls body with the places of copies of these arrays (null: 0), which live as long as the call.
    lend(arrays, body) {
        const places = [];
        try {
            for (const array of arrays) {
                const place = array ? this.c.memory_allocate(array.byteLength) : 0;
                places.push(place);
                if (!array) continue;
                if (!place) this.fail();
                const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
                this.view(Uint8Array, place, array.byteLength).set(bytes);
            }
            return body(...places);
        } finally {
            for (const place of places) this.c.memory_release(place);
        }
    }

    // The numbers that `body` writes to the place that it is given.
    numbers(Type, length, body) {
        return this.lend([new Type(length)], (place) => {
            body(place);
            return this.view(Type, place, length).slice();
        });
    }
}

// A view that is made again when memory has moved.
class View {
    #core;
    #make;
    #array = null;
    constructor(core, Type, place, length) {
        this.#core = core;
        this.#make = () => (place ? core.view(Type, place, length) : null);
    }
    get array() {
        if (this.#array?.buffer !== this.#core.c.memory.buffer) this.#array = this.#make();
        return this.#array;
    }
}

// What a rig, a pose and a surface have in common: a place in memory until they are disposed of.
const PLACE = Symbol("place");
const CHILDREN = Symbol("children");

class Owned {
    #what;
    #place;
    #release;
    constructor(what, place, release) {
        this.#what = what;
        this.#place = place;
        this.#release = release;
    }
    get [PLACE]() {
        return this.#place || refuse(`this ${this.#what} was disposed of`);
    }
    get disposed() {
        return this.#place === 0;
    }
    dispose() {
        if (this.#place === 0) return;
        this.#release(this.#place);
        this.#place = 0;
    }
}

const find = (things, what, key) => {
    const index = typeof key === "string" ? things.findIndex((thing) => thing.name === key) : key;
    if (Number.isInteger(index) && index >= 0 && index < things.length) return index;
    const names = things.map((thing) => thing.name).join(", ") || "none";
    return refuse(`there is no ${what} ${JSON.stringify(key)}: there is ${names}`);
};

const point = (values, length, what) => {
    if (values === undefined || values === null) return null;
    const numbers = Float64Array.from(typeof values === "number" ? [values] : values);
    if (numbers.length !== length) refuse(`${what} has ${numbers.length} numbers and takes ${length}`);
    return numbers;
};

// ---- layers ----

/** A layer of a rig: a space with examples in it, which can be moved. Edits hold for every pose of the rig. */
export class Layer {
    #core;
    #rig;
    constructor(core, rig, index) {
        this.#core = core;
        this.#rig = rig;
        this.index = index;
        const place = rig[PLACE];
        const numbers = this.#numbers();
        this.name = core.text(core.c.layer_name(place, index));
        this.domain = DOMAINS[numbers[0]];
        this.weigher = WEIGHERS[numbers[2]];
        this.inputs = Array.from({ length: numbers[3] }, (_, a) => rig.inputs[core.c.layer_input(place, index, a)]);
        this.dimension = numbers[6];
        this.firstExample = numbers[7];
        this.texture = numbers[8] < 0 ? null : core.text(core.c.texture_name(place, numbers[8]));
        this.examples = Array.from({ length: numbers[4] }, (_, k) => ({
            index: k,
            name: core.text(core.c.example_name(place, index, k)),
        }));
        this.edited = false;
    }

    #numbers() {
        const { c } = this.#core;
        return this.#core.numbers(Int32Array, 9, (at) => c.layer_numbers(this.#rig[PLACE], this.index, at));
    }

    #point(index) {
        const place = this.#core.c.layer_point(this.#rig[PLACE], this.index, index);
        return place ? this.#core.view(Float64Array, place, this.dimension).slice() : null;
    }

    get pseudoCount() {
        return this.#numbers()[5];
    }

    get muted() {
        return this.#numbers()[1] !== 0;
    }
    set muted(muted) {
        this.#core.c.layer_mute(this.#rig[PLACE], this.index, muted ? 1 : 0);
    }

    /** Where an example is now, a copy; null where the axes are the weights. */
    examplePoint(example) {
        return this.#point(find(this.examples, "example", example));
    }

    pseudoPoint(index) {
        return this.#point(this.examples.length + this.#pseudo(index));
    }

    #pseudo(index) {
        const count = this.pseudoCount;
        if (Number.isInteger(index) && index >= 0 && index < count) return index;
        return refuse(`there is no pseudo-example ${index} in the layer "${this.name}": it has ${count}`);
    }

    #edit(kind, index, { at, from, weights, falloff } = {}) {
        const what = (name) => `"${name}" in an edit of the layer "${this.name}"`;
        const arrays = [
            point(at, this.dimension, what("at")),
            point(from, this.dimension, what("from")),
            point(weights, this.examples.length, what("weights")),
            point(falloff, this.inputs.length, what("falloff")),
        ];
        const rig = this.#rig[PLACE];
        this.#core.lend(arrays, (...places) => {
            if (!this.#core.c.layer_edit(rig, this.index, kind, index, ...places)) this.#core.fail();
        });
        this.edited = true;
    }

    /** Moves an example, by name or number, to a point: one number an axis, four for a rotation. */
    moveExample(example, at) {
        const index = find(this.examples, "example", example);
        this.#edit(EDIT.moveExample, index, { at: at ?? refuse("moveExample takes a point to move to") });
    }

    /** Adds a pseudo-example at a point, drawn from another point or with given weights; returns its number. */
    addPseudo({ at, from, weights, falloff }) {
        if (at === undefined || (from === undefined) === (weights === undefined))
            refuse('a pseudo-example takes "at" and one of "from" and "weights"');
        this.#edit(EDIT.addPseudo, 0, { at, from, weights, falloff });
        return this.pseudoCount - 1;
    }

    /** Moves a pseudo-example, and what it is drawn from where that is given. */
    movePseudo(index, { at, from, weights }) {
        const pseudo = this.#pseudo(index);
        this.#edit(EDIT.movePseudo, pseudo, { at: at ?? this.pseudoPoint(pseudo), from, weights });
    }

    removePseudo(index) {
        this.#edit(EDIT.removePseudo, this.#pseudo(index));
    }

    /** How far an example reaches along each axis, in distances of the space; of a gaussian layer. */
    setFalloff(example, falloff) {
        this.#edit(EDIT.falloff, find(this.examples, "example", example), {
            falloff: falloff ?? refuse("setFalloff takes a number an axis"),
        });
    }

    /** Takes all edits back. */
    reset() {
        this.#core.c.layer_reset(this.#rig[PLACE], this.index);
        this.edited = false;
    }

    /** The weights of the examples at a point of the space, wherever the pose is. */
    weights(at) {
        const rig = this.#rig[PLACE];
        const numbers = point(at, this.dimension, `a point of the layer "${this.name}"`);
        return this.#core.lend([numbers, new Float64Array(this.examples.length)], (place, weights) => {
            this.#core.c.layer_weigh(rig, this.index, place, weights);
            return this.#core.view(Float64Array, weights, this.examples.length).slice();
        });
    }
}

// ---- poses ----

/** The whole input of a rig. Made by rig.pose(), at rest. */
export class Pose extends Owned {
    #core;
    #rig;
    #inputs;
    #joints;
    #driver;
    constructor(core, rig, sizes) {
        const { c } = core;
        const place = c.pose_open(rig[PLACE]) || core.fail();
        super("pose", place, (at) => {
            rig[CHILDREN].delete(this);
            c.pose_close(at);
        });
        rig[CHILDREN].add(this);
        this.#core = core;
        this.#rig = rig;
        this.#inputs = new View(core, Float64Array, c.pose_inputs(place), sizes.pose);
        this.#joints = new View(core, Float32Array, c.pose_joints(place), 10 * sizes.joints);
        this.#driver = new View(core, Float32Array, c.pose_driver(place), 3 * sizes.driver);
    }

    get rig() {
        return this.#rig;
    }
    /** The dials, as numbers one after the other (input.offset). */
    get inputs() {
        return this[PLACE] && this.#inputs.array;
    }
    /** Local transforms, ten numbers a joint: translation, rotation x y z w, scale. */
    get joints() {
        return this[PLACE] && this.#joints.array;
    }
    /** The driver's vertices, three numbers each; none where the rig has no driver. */
    get driver() {
        return this[PLACE] && this.#driver.array;
    }

    #input(name) {
        const input = this.#rig.inputs[find(this.#rig.inputs, "input", name)];
        if (input.kind === "driver") refuse(`the input "${input.name}" is a mesh: write its vertices into pose.driver`);
        return input;
    }

    /** Sets an input: a number, or x y z w of a rotation. An input that reads a joint moves that joint. */
    set(name, value) {
        const input = this.#input(name);
        const numbers = point(value, input.width, `the input "${input.name}"`);
        if (!numbers) refuse(`the input "${input.name}" takes a value`);
        this.#core.lend([numbers], (at) => this.#core.c.pose_set(this.#rig[PLACE], this[PLACE], input.index, at));
        return this;
    }

    /** An input as evaluation sees it: a number, or an array of four. */
    get(name) {
        const input = this.#input(name);
        const read = (at) => this.#core.c.pose_get(this.#rig[PLACE], this[PLACE], input.index, at);
        const numbers = this.#core.numbers(Float64Array, input.width, read);
        return input.width === 1 ? numbers[0] : Array.from(numbers);
    }

    /** Changes what is given of a joint's local transform. */
    setJoint(name, { translation, rotation, scale }) {
        const start = 10 * find(this.#rig.joints, "joint", name);
        const { joints } = this;
        const parts = [
            [point(translation, 3, "a translation"), 0],
            [point(rotation, 4, "a rotation"), 3],
            [point(scale, 3, "a scale"), 7],
        ];
        for (const [values, offset] of parts) if (values) joints.set(values, start + offset);
        return this;
    }

    /** Back to rest. */
    rest() {
        this.#core.c.pose_rest(this.#rig[PLACE], this[PLACE]);
        return this;
    }
}

// ---- surfaces ----

/** Where results go. Made by rig.surface(). */
export class Surface extends Owned {
    #core;
    #rig;
    #views;
    #textures;
    constructor(core, rig, { level, split, normals, tangents, textures }) {
        const { c } = core;
        const flags = [split, normals, tangents, textures].map((flag) => (flag ? 1 : 0));
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
    /** Three numbers a vertex. */
    get positions() {
        return this.#view("positions");
    }
    /** Three numbers a vertex, of length 1; null where they were not asked for. */
    get normals() {
        return this.#view("normals");
    }
    /** Four numbers a vertex, as in glTF; null where they were not asked for. */
    get tangents() {
        return this.#view("tangents");
    }
    /** The examples of all layers, one after the other (layer.firstExample). */
    get weights() {
        return this.#view("weights");
    }
    /** Smallest x y z, largest x y z. */
    get box() {
        return this.#view("box");
    }
    /** Rows of red green blue alpha, as ImageData takes them; null where textures were not asked for. */
    texture(name) {
        return this[PLACE] && this.#textures[find(this.#rig.textures, "texture", name)].array;
    }

    /** Fills everything for a pose. Allocates nothing and cannot fail. */
    evaluate(pose, { unskinned = false, unsettled = false } = {}) {
        if (!(pose instanceof Pose) || pose.rig !== this.#rig) refuse("evaluate takes a pose of the surface's own rig");
        const flags = [unskinned ? 1 : 0, unsettled ? 1 : 0];
        this.#core.c.surface_evaluate(this.#rig[PLACE], pose[PLACE], this[PLACE], ...flags);
        return this;
    }
}

/** The faces of a level: counts and views. */
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
    /** Which vertex each split vertex is; null where none is split. */
    get sources() {
        return this.#view(0);
    }
    /** Two numbers a split vertex, origin at the top left as in glTF; or null. */
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

// ---- rigs ----

/** A rig and what a page changes of it. Made by load() or runtime.open(). */
export class Rig extends Owned {
    #core;
    #sizes;
    constructor(core, place) {
        super("rig", place, (at) => {
            for (const child of this[CHILDREN]) child.dispose();
            core.c.rig_close(at);
        });
        const { c } = core;
        const counts = core.numbers(Int32Array, 9, (at) => c.rig_counts(place, at));
        const [layers, , inputs, pose, joints, levels, shown, textures, driver] = counts;
        const list = (length, make) => Array.from({ length }, (_, i) => make(i));
        this[CHILDREN] = new Set();
        this.#core = core;
        this.#sizes = { pose, joints, driver };
        this.levelCount = levels;
        this.shownLevel = shown;
        this.inputs = list(inputs, (i) => {
            const n = core.numbers(Float64Array, 10, (at) => c.input_numbers(place, i, at));
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
        this.layers = list(layers, (l) => new Layer(core, this, l));
    }

    /** A layer by name or number. */
    layer(name) {
        return this.layers[find(this.layers, "layer", name)];
    }
    /** An input by name or number. */
    input(name) {
        return this.inputs[find(this.inputs, "input", name)];
    }

    /** The faces of a level: 0 is the cage. */
    mesh(level = this.shownLevel) {
        const mesh = Number.isInteger(level) ? new Mesh(this.#core, this, level) : { vertexCount: 0 };
        if (mesh.vertexCount === 0)
            refuse(`this rig has no level ${level}: it has 0 to ${this.levelCount}, and LIMIT where there is one`);
        return mesh;
    }

    /** A new pose, at rest. */
    pose(values = {}) {
        const pose = new Pose(this.#core, this, this.#sizes);
        for (const [name, value] of Object.entries(values)) pose.set(name, value);
        return pose;
    }

    /** Room for results: split vertices, which a renderer needs, and normals unless told otherwise. */
    surface({ level = this.shownLevel, split = true, normals = true, tangents = false, textures = false } = {}) {
        const { texcoords } = this.mesh(level);
        if (tangents && !(normals && texcoords))
            refuse("tangents ask for normals and for a rig with texture coordinates");
        return new Surface(this.#core, this, { level, split, normals, tangents, textures });
    }
}

// ---- loading ----

const fetched = async (source, what) => {
    if (source instanceof ArrayBuffer) return new Uint8Array(source);
    if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    if (typeof source !== "string" && !(source instanceof URL))
        refuse(`the ${what} is given as an address or as bytes`);
    const node = globalThis.process?.versions?.node !== undefined;
    if (node && !/^(https?|data|blob):/.test(String(source))) {
        const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises");
        return readFile(/^file:/.test(String(source)) ? new URL(source) : source).catch((error) =>
            refuse(`the ${what} cannot be read: ${error.message}`),
        );
    }
    const response = await fetch(source).catch((error) => refuse(`the ${what} cannot be fetched: ${error.message}`));
    if (!response.ok) refuse(`the ${what} at ${source} cannot be fetched: ${response.status} ${response.statusText}`);
    return new Uint8Array(await response.arrayBuffer());
};

/** The runtime: one instance of the WebAssembly module with its memory. */
export class Runtime {
    #core;
    constructor(instance) {
        this.#core = new Core(instance);
        const { c } = this.#core;
        this.version = this.#core.text(c.version_text());
        this.simd = this.#core.text(c.version_simd());
        this.format = c.version_format();
    }

    /** Bytes of WebAssembly's memory. It grows, and never shrinks. */
    get memorySize() {
        return this.#core.c.memory.buffer.byteLength;
    }

    /** A rig from the bytes of a rig file; compact: examples in 16 bits, half the memory. */
    open(bytes, { compact = false } = {}) {
        const core = this.#core;
        if (!(bytes instanceof ArrayBuffer) && !ArrayBuffer.isView(bytes)) refuse("open takes the bytes of a rig");
        const array = ArrayBuffer.isView(bytes) ? bytes : new Uint8Array(bytes);
        const open = (at) => core.c.rig_open(at, array.byteLength, compact ? 1 : 0);
        return new Rig(core, core.lend([array], open) || core.fail());
    }
}

let started = null;

/** Starts a runtime. Without an argument: the one that load() uses, from the file beside this module. */
export const start = async (wasm) => {
    if (wasm === undefined) {
        started ??= start(new URL("exemplar.wasm", import.meta.url));
        started.catch(() => (started = null));
        return started;
    }
    if (wasm instanceof Runtime) return wasm;
    const module =
        wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(await fetched(wasm, "runtime"));
    return new Runtime(await WebAssembly.instantiate(module, {}));
};

/** A rig from an address or from bytes. */
export const load = async (source, { runtime, compact } = {}) => {
    const [bytes, opener] = await Promise.all([fetched(source, "rig"), start(runtime)]);
    return opener.open(bytes, { compact });
};
