// @exemplar/runtime: rigs of Exemplar in a page or in node, by the same C runtime compiled to WebAssembly.
//
// load() gives a Rig, which is what the file holds. A Pose is where its inputs and joints are, a Surface is where
// results go: surface.evaluate(pose) fills the arrays surface.positions, .normals and so on. Those arrays are views into
// WebAssembly's memory, which moves when it grows: ask the object again after any call but evaluate(), rather than
// keeping an array. What methods return is a copy. What is given back with dispose() must not be used again, and says
// so.
import { Core, ExemplarError, refuse } from "./core.js";
import { Layer } from "./layer.js";
import { Pose } from "./pose.js";
import { Rig } from "./rig.js";
import { Mesh, Surface } from "./surface.js";
import { weighersOf } from "./weighers.js";

export { ExemplarError, Layer, Mesh, Pose, Rig, Surface };

/** The level of the limit surface, where a rig has one beside its levels. */
export const LIMIT = -1;

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

    /** The kinds of weigher with their parameters, as project files name them; the first is the default. */
    get weighers() {
        return weighersOf(this.#core);
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
