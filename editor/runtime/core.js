// Shared by the other modules: errors, WebAssembly memory as arrays, and objects with an address in it.

/** An error of the library, as one sentence; `result` is its ex_result, or 0 if these modules refused. */
export class ExemplarError extends Error {
    constructor(message, result = 0) {
        super(message);
        this.name = "ExemplarError";
        this.result = result;
    }
}

export const refuse = (message) => {
    throw new ExemplarError(message);
};

/** The index of a thing, given its index or its name. */
export const find = (things, what, key) => {
    const index = typeof key === "string" ? things.findIndex((thing) => thing.name === key) : key;
    if (Number.isInteger(index) && index >= 0 && index < things.length) return index;
    const names = things.map((thing) => thing.name).join(", ") || "none";
    return refuse(`there is no ${what} ${JSON.stringify(key)}; known: ${names}`);
};

/** `length` numbers as doubles; null if none are given. */
export const point = (values, length, what) => {
    if (values === undefined || values === null) return null;
    const numbers = Float64Array.from(typeof values === "number" ? [values] : values);
    const count = numbers.length === 1 ? "1 number" : `${numbers.length} numbers`;
    if (numbers.length !== length) refuse(`${what} has ${count}, but needs ${length}`);
    return numbers;
};

/** The module's exports, and its memory as arrays. */
export class Core {
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

    /** Throws the library's last error, with numbers of examples, from 1, replaced by their names. */
    fail(examples = []) {
        const named = (words, k) => (examples[k - 1] ? `example '${examples[k - 1].name}'` : words);
        const text = this.text(this.c.error_text()).replace(/(?<!-|no )\bexample (\d+)/g, named);
        throw new ExemplarError(text, this.c.error_result());
    }

    /** A copy of numbers in memory; null if the address is 0. */
    copy(Type, place, length) {
        return place ? this.view(Type, place, length).slice() : null;
    }

    // Calls body with memory blocks of these sizes in bytes (0: none), freed after the call.
    #rooms(sizes, body) {
        const places = [];
        try {
            for (const size of sizes) {
                const place = size > 0 ? this.c.memory_allocate(size) : 0;
                places.push(place);
                if (size > 0 && !place) this.fail();
            }
            return body(...places);
        } finally {
            for (const place of places) this.c.memory_release(place);
        }
    }

    /** Calls body with the addresses of copies of these arrays (null: 0), freed after the call. */
    lend(given, body) {
        // Allocation may move memory, and with it any array that is a view of it.
        const arrays = given.map((array) => (array?.buffer === this.c.memory.buffer ? array.slice() : array));
        const sizes = arrays.map((array) => (array ? Math.max(array.byteLength, 1) : 0));
        return this.#rooms(sizes, (...places) => {
            arrays.forEach((array, i) => {
                if (!array) return;
                const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
                this.view(Uint8Array, places[i], array.byteLength).set(bytes);
            });
            return body(...places);
        });
    }

    /** The numbers that `body` writes to the address it gets; null if it returns false. */
    numbers(Type, length, body) {
        return this.#rooms([Math.max(length * Type.BYTES_PER_ELEMENT, 1)], (place) => {
            const written = body(place);
            return written === 0 ? null : this.view(Type, place, length).slice();
        });
    }
}

/** A view that is created again when memory has moved. */
export class View {
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

export const PLACE = Symbol("place");
export const CHILDREN = Symbol("children");
/** The part that a rig shares with its twins. */
export const BLOCK = Symbol("block");

/** Base of rigs, poses and surfaces: an address in memory until they are disposed of. */
export class Owned {
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
