/** The level of the limit surface, where a rig has one beside its levels. */
export const LIMIT: -1;

/** What was refused, as one sentence. */
export class ExemplarError extends Error {
    /** The library's ex_result; 0 where this module refused. */
    readonly result: number;
}

export type Numbers = ArrayLike<number> & Iterable<number>;
/** One number, or as many as a point has: one an axis, four (x y z w) for a rotation. */
export type Point = number | Numbers;
export type Bytes = ArrayBuffer | ArrayBufferView;

export interface Input {
    readonly index: number;
    readonly name: string;
    readonly unit: string;
    readonly kind: "scalar" | "rotation" | "swing" | "twist" | "driver";
    /** Numbers of its value: 1, 4 for a rotation, 0 for a driver. */
    readonly width: number;
    readonly min: number;
    readonly max: number;
    readonly rest: number | number[];
    /** Where a dial starts in pose.inputs; -1 for what is read from a joint or a driver. */
    readonly offset: number;
    /** The joint that it reads; -1 for a dial. */
    readonly joint: number;
}

export interface Joint {
    readonly index: number;
    readonly name: string;
    /** -1 for a root. */
    readonly parent: number;
}

export interface Texture {
    readonly index: number;
    readonly name: string;
    readonly width: number;
    readonly height: number;
    readonly srgb: boolean;
}

export interface Example {
    readonly index: number;
    readonly name: string;
}

export interface SurfaceOptions {
    /** 0 is the cage; default: what the rig's maker wants shown. */
    level?: number;
    /** Split vertices, which a renderer needs, or the source's own; default true. */
    split?: boolean;
    /** Default true. */
    normals?: boolean;
    /** Default false. */
    tangents?: boolean;
    /** Default false. */
    textures?: boolean;
}

export interface EvaluateOptions {
    /** Leave the form at rest: no posing by the skeleton or by a driver. */
    unskinned?: boolean;
    /** No settling onto the driver. */
    unsettled?: boolean;
}

export interface OpenOptions {
    /** Examples in 16 bits: half the memory. */
    compact?: boolean;
}

/** Arrays are views into WebAssembly's memory: ask the object again after anything that makes a rig, pose or surface. */
export class Pose {
    private constructor();
    readonly rig: Rig;
    readonly disposed: boolean;
    /** The dials, one after the other (input.offset). */
    readonly inputs: Float64Array;
    /** Ten numbers a joint: translation, rotation x y z w, scale; relative to the parent. */
    readonly joints: Float32Array;
    /** Three numbers a vertex of the driver. */
    readonly driver: Float32Array;
    set(input: string | number, value: Point): this;
    get(input: string | number): number | number[];
    setJoint(joint: string | number, change: { translation?: Numbers; rotation?: Numbers; scale?: Numbers }): this;
    rest(): this;
    dispose(): void;
}

export class Surface {
    private constructor();
    readonly rig: Rig;
    readonly disposed: boolean;
    readonly level: number;
    readonly split: boolean;
    readonly vertexCount: number;
    readonly positions: Float32Array;
    readonly normals: Float32Array | null;
    readonly tangents: Float32Array | null;
    /** Of the examples of all layers (layer.firstExample). */
    readonly weights: Float64Array;
    /** Smallest x y z, largest x y z. */
    readonly box: Float32Array;
    /** Rows of red green blue alpha; null where textures were not asked for. */
    texture(name: string | number): Uint8ClampedArray | null;
    evaluate(pose: Pose, options?: EvaluateOptions): this;
    dispose(): void;
}

export class Mesh {
    private constructor();
    readonly level: number;
    readonly vertexCount: number;
    readonly splitCount: number;
    readonly triangleCount: number;
    readonly faceCount: number;
    /** Which vertex each split vertex is; null where none is split. */
    readonly sources: Uint32Array | null;
    readonly texcoords: Float32Array | null;
    readonly triangles: Uint32Array;
    readonly faceSizes: Uint32Array;
    readonly corners: Uint32Array;
}

export interface PseudoPlace {
    at: Point;
    /** The point whose weights it takes over; or `weights`. */
    from?: Point;
    /** One number an example. */
    weights?: Numbers;
}

export class Layer {
    private constructor();
    readonly index: number;
    readonly name: string;
    readonly domain: "form" | "pixels" | "offsets" | "trajectory" | "displacement";
    readonly weigher: "cardinal" | "direct" | "shepard" | "nearest" | "gaussian" | "convex";
    readonly inputs: readonly Input[];
    /** Numbers in a point. */
    readonly dimension: number;
    readonly firstExample: number;
    readonly texture: string | null;
    readonly examples: readonly Example[];
    readonly edited: boolean;
    readonly pseudoCount: number;
    muted: boolean;
    examplePoint(example: string | number): Float64Array | null;
    pseudoPoint(index: number): Float64Array;
    moveExample(example: string | number, at: Point): void;
    addPseudo(pseudo: PseudoPlace & { falloff?: Point }): number;
    movePseudo(index: number, pseudo: Partial<PseudoPlace>): void;
    removePseudo(index: number): void;
    setFalloff(example: string | number, falloff: Point): void;
    reset(): void;
    weights(at: Point): Float64Array;
}

export class Rig {
    private constructor();
    readonly disposed: boolean;
    readonly layers: readonly Layer[];
    readonly inputs: readonly Input[];
    readonly joints: readonly Joint[];
    readonly textures: readonly Texture[];
    readonly levelCount: number;
    readonly shownLevel: number;
    layer(name: string | number): Layer;
    input(name: string | number): Input;
    mesh(level?: number): Mesh;
    pose(values?: Record<string, Point>): Pose;
    surface(options?: SurfaceOptions): Surface;
    /** Gives back the rig with its poses and surfaces. */
    dispose(): void;
}

export class Runtime {
    private constructor();
    readonly version: string;
    readonly simd: string;
    /** The version of rig files that it reads. */
    readonly format: number;
    readonly memorySize: number;
    open(bytes: Bytes, options?: OpenOptions): Rig;
}

/** Starts a runtime. Without an argument: the one that load() uses, from the file beside this module. */
export function start(wasm?: string | URL | Bytes | WebAssembly.Module | Runtime): Promise<Runtime>;

/** A rig from an address or from bytes; in node, from a path too. */
export function load(
    rig: string | URL | Bytes,
    options?: OpenOptions & { runtime?: string | URL | Bytes | WebAssembly.Module | Runtime },
): Promise<Rig>;
