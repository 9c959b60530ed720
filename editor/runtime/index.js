// @exemplar/runtime: Exemplar's rigs in a browser or in node, with the C runtime compiled to WebAssembly.
//
// load() returns a Rig, the contents of the file. A Pose has the values of its inputs and joints. A Surface holds
// results: surface.evaluate(pose) fills the arrays surface.positions, .normals and so on. These arrays are views into
// WebAssembly memory, which moves when it grows. So do not keep an array: read the property again after any call except
// evaluate(). Methods return copies. An object cannot be used after dispose(); it throws an error that says so.
import { Core, ExemplarError, refuse } from "./core.js";
import { Layer } from "./layer.js";
import { Pose } from "./pose.js";
import { Rig } from "./rig.js";
import { Mesh, Surface } from "./surface.js";
import { weighersOf } from "./weighers.js";

export { ExemplarError, Layer, Mesh, Pose, Rig, Surface };

/** The level of the limit surface, for rigs that have one. */
export const LIMIT = -1;

const fetched = async (source, what) => {
    if (source instanceof ArrayBuffer) return new Uint8Array(source);
    if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    if (typeof source !== "string" && !(source instanceof URL))
        refuse(`give the ${what} as a URL or as bytes`);
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

/** One instance of the WebAssembly module, with its memory. */
export class Runtime {
    #core;
    constructor(instance) {
        this.#core = new Core(instance);
        const { c } = this.#core;
        this.version = this.#core.text(c.version_text());
        this.simd = this.#core.text(c.version_simd());
        this.format = c.version_format();
    }

    /** The kinds of weigher with their parameters, named as in project files; the first is the default. */
    get weighers() {
        return weighersOf(this.#core);
    }

    /** Bytes of WebAssembly memory. It grows, and never shrinks. */
    get memorySize() {
        return this.#core.c.memory.buffer.byteLength;
    }

    /** Opens a rig from the bytes of its file; compact: examples in 16 bits, half the memory. */
    open(bytes, { compact = false } = {}) {
        const core = this.#core;
        if (!(bytes instanceof ArrayBuffer) && !ArrayBuffer.isView(bytes)) refuse("open needs the bytes of a rig");
        const array = ArrayBuffer.isView(bytes) ? bytes : new Uint8Array(bytes);
        const open = (at) => core.c.rig_open(at, array.byteLength, compact ? 1 : 0);
        return new Rig(core, core.lend([array], open) || core.fail());
    }
}

let started = null;

/** Starts a runtime. Without an argument: the one used by load(), from the file next to this module. */
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

/** Loads a rig from a URL or from bytes; in node, also from a path. */
export const load = async (source, { runtime, compact } = {}) => {
    const [bytes, opener] = await Promise.all([fetched(source, "rig"), start(runtime)]);
    return opener.open(bytes, { compact });
};
