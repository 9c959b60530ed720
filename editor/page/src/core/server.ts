// Requests to the tool's server, as described in editor/README.md.
import type { Clip } from "./clips";

/** A refusal: the server's sentence, the HTTP status, and the place in the project if there is one. */
export class Refusal extends Error {
    constructor(
        message: string,
        readonly status: number,
        readonly where: string | null = null,
        readonly version: string | null = null,
        /** The existing file that is in the way, if that is the reason. */
        readonly exists: string | null = null,
        /** True for a build that was cancelled. */
        readonly isCancelled = false,
    ) {
        super(message);
        this.name = "Refusal";
    }
}

export interface Opened {
    name: string;
    text: string;
    version: string | null;
    error: string | null;
    where: string | null;
    /** True for a project that is still to be made. */
    empty?: boolean;
}

export interface Built {
    build: string;
    text: string;
    notes: string[];
    damped: { layer: number; example: number; count: number }[];
    seconds: number;
    rig: Uint8Array;
}

/** The step that a build is at; null if none runs. */
export interface Progress {
    step: "mesh" | "driver" | "subdividing" | "example" | "trajectories" | "solving" | "sending" | null;
    layer?: string;
    example?: string;
    /** Of the example in its layer, from 1. */
    number?: number;
    count?: number;
    /** Of the whole build. */
    fraction?: number;
}

export interface Finding {
    severity: "error" | "warning" | "note";
    kind: string;
    where: string;
    text: string;
    value: number | null;
    /** "calm" if a calm layer was tried and mends it. */
    remedy?: string;
    /** The pose that it is about, in words, if dials can set it. */
    pose?: string;
}

export interface Motion {
    motion: string;
    name: string;
    frames: number;
    inputs: number;
    joints: number;
    /** Number of driver vertices, and then no inputs or joints; 0 for other motions. */
    driver: number;
    matched: number;
    /** Joints and dials of the rig that the file moves, joints of the rig that it does not, and joints of the file that
     * move nothing; only for files that name joints. */
    names?: string[];
    unmoved?: string[];
    unused?: string[];
    scale: number;
    times: number[];
    /** [frames][inputs] */
    dials: Float64Array;
    /** [frames][joints][10] */
    locals: Float32Array;
    /** [frames][driver][3] */
    forms: Float32Array;
}

export interface Targets {
    names: string[];
    rests: number[];
    vertices: number;
    forms: Float32Array[];
}

export interface Baked {
    path: string;
    frames: number;
    maximum: number | null;
    rms: number | null;
    notes: string[];
}

type Query = Record<string, string | number>;

declare global {
    interface Window {
        /** Answers that early.ts asked for, by address; each is taken once. */
        early?: Record<string, Promise<Response>>;
    }
}

const takeEarly = (method: string, address: string): Promise<Response> | undefined => {
    if (method !== "GET") return undefined;
    const answer = window.early?.[address];
    delete window.early?.[address];
    return answer;
};

export class Server {
    async #ask(method: string, path: string, query: Query = {}, body?: BodyInit, headers?: HeadersInit) {
        const search = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]));
        const address = `api/${path}${search.size ? `?${search}` : ""}`;
        let response: Response;
        try {
            response = await (takeEarly(method, address) ??
                fetch(address, { method, body: body ?? null, headers: headers ?? {}, cache: "no-store" }));
        } catch {
            throw new Refusal("The tool does not answer. It was probably closed: start 'exemplar edit' again.", 0);
        }
        if (response.ok) return response;
        const said = (await response.json().catch(() => ({}))) as
            { error?: string; where?: string; version?: string; exists?: string; cancelled?: boolean };
        throw new Refusal(
            said.error ?? `The server refused this (status ${response.status}).`,
            response.status,
            said.where ?? null,
            said.version ?? null,
            said.exists ?? null,
            said.cancelled ?? false,
        );
    }

    async #json<T>(method: string, path: string, query?: Query, body?: BodyInit, headers?: HeadersInit): Promise<T> {
        return (await (await this.#ask(method, path, query, body, headers)).json()) as T;
    }

    async #framed<T>(path: string, query: Query, body: BodyInit | null): Promise<[T, ArrayBuffer, number]> {
        const bytes = await (await this.#ask(body === null ? "GET" : "POST", path, query, body ?? undefined)).arrayBuffer();
        const size = new DataView(bytes).getUint32(0, true);
        const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, size))) as T;
        return [head, bytes, 4 + size];
    }

    project(): Promise<Opened> {
        return this.#json("GET", "project");
    }
    async version(): Promise<string | null> {
        return (await this.#json<{ version: string | null }>("GET", "version")).version;
    }
    async save(text: string, version: string | null): Promise<string> {
        const headers = { "If-Match": version ?? "*", "Content-Type": "application/json" };
        return (await this.#json<{ version: string }>("PUT", "project", {}, text, headers)).version;
    }
    /** A draft waits for no other build, and motions do not know its rig. */
    async build(text: string, isDraft = false): Promise<Built> {
        const [head, bytes, place] = await this.#framed<Omit<Built, "rig">>("build", isDraft ? { keep: 0 } : {}, text);
        return { ...head, rig: new Uint8Array(bytes, place) };
    }
    /** The rig that an earlier build wrote beside the project, if it is newer than the project's files; else null. */
    async beside({ text, version }: Opened): Promise<Built | null> {
        const [head, bytes, place] = await this.#framed<{ version: string | null }>("beside", {}, null);
        const rig = new Uint8Array(bytes, place);
        return head.version === version && rig.length > 0 ? { text, build: "beside", notes: [], damped: [], seconds: 0, rig } : null;
    }
    progress(): Promise<Progress> {
        return this.#json("GET", "progress");
    }
    /** Cancels builds that run or wait; they are then refused. Returns their number. */
    async cancel(): Promise<number> {
        return (await this.#json<{ cancelled: number }>("POST", "cancel", {}, "")).cancelled;
    }
    async check(text: string): Promise<Finding[]> {
        return (await this.#json<{ findings: Finding[] }>("POST", "check", {}, text)).findings;
    }

    async #written(path: string, query: Query, body: BodyInit): Promise<string> {
        return (await this.#json<{ path: string }>("POST", path, query, body)).path;
    }
    /** Sends a dropped file and returns its path in the project. */
    addFile(name: string, bytes: Blob): Promise<string> {
        return this.#written("file", { name }, bytes);
    }
    /** Sends a file from which a new project is to be made. */
    addSculpt(name: string, bytes: Blob): Promise<string> {
        return this.#written("sculpt", { name }, bytes);
    }
    /** Makes the project from the files that were sent. */
    async start(): Promise<void> {
        await this.#json("POST", "start", {}, "");
    }
    /** Sends a form, vertex positions [vertices][3] in metres with y up. */
    addForm(name: string, mesh: string, positions: Float32Array, unit: string | number = "m", up = "y") {
        return this.#written("form", { name, mesh, unit, up }, positions as BufferSource);
    }
    addMask(name: string, values: Float32Array): Promise<string> {
        return this.#written("mask", { name, count: values.length }, values as BufferSource);
    }
    /** The mask of a layer of the project, one number per vertex; null if it has none. */
    async mask(text: string, layer: number): Promise<Float32Array | null> {
        const [{ count }, bytes, place] = await this.#framed<{ count: number }>("values", { layer }, text);
        return count ? new Float32Array(bytes, place, count) : null;
    }
    addGroup(name: string, mesh: string, inside: Uint8Array): Promise<string> {
        return this.#written("group", { name, mesh }, inside as BufferSource);
    }

    /** The morph targets of a glTF file that the project names: names, weights at rest, and unless `only` the names are
     * wanted their forms, in the unit and the axes of the file. */
    async targets(mesh: string, only = false): Promise<Targets> {
        const query: Query = only ? { mesh, only: "names" } : { mesh };
        const [head, bytes, place] = await this.#framed<Omit<Targets, "forms">>("targets", query, null);
        const forms = only ? [] : head.names.map((_, i) => new Float32Array(bytes, place + 12 * head.vertices * i, 3 * head.vertices));
        return { ...head, forms };
    }

    async motions(): Promise<string[]> {
        return (await this.#json<{ files: string[] }>("GET", "motions")).files;
    }
    /** Reads a motion, given as a file, as a path in the project's folder, or as a clip of the rig. */
    async motion(build: string, file: File | string | Clip): Promise<Motion> {
        const isFile = file instanceof File;
        const query: Query = typeof file === "string" ? { build, path: file }
            : isFile ? { build, name: file.name } : { build, clip: file.number };
        const body = isFile ? file : "";
        const [head, bytes, place] = await this.#framed<Omit<Motion, "dials" | "locals" | "forms">>("motion", query, body);
        const dials = new Float64Array(bytes, place, head.frames * head.inputs);
        const locals = new Float32Array(bytes, place + dials.byteLength, head.frames * head.joints * 10);
        const forms = new Float32Array(bytes, place + dials.byteLength + locals.byteLength, head.frames * head.driver * 3);
        return { ...head, name: typeof file === "string" ? head.name : file.name, dials, locals, forms };
    }
    /** `database`: for a driven rig with such an axis, the value to bake. */
    bake(build: string, motion: string, name: string, overwrite: boolean, database: number | null): Promise<Baked> {
        const query: Query = { build, motion, name, overwrite: overwrite ? 1 : 0 };
        return this.#json("POST", "bake", database === null ? query : { ...query, database }, "");
    }
}
