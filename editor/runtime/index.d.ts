/** The level of the limit surface, for rigs that have one. */
export const LIMIT: -1;

/** An error, as one sentence. */
export class ExemplarError extends Error {
    /** The library's ex_result; 0 if this module refused. */
    readonly result: number;
}

export type Numbers = ArrayLike<number> & Iterable<number>;
/** One number, or all numbers of a point: one per axis, four (x y z w) for a rotation. */
export type Point = number | Numbers;
export type Bytes = ArrayBuffer | ArrayBufferView;

export interface Input {
    readonly index: number;
    readonly name: string;
    readonly unit: string;
    readonly kind: "scalar" | "rotation" | "swing" | "twist" | "driver";
    /** Numbers in its value: 1, 4 for a rotation, 0 for a driver. */
    readonly width: number;
    readonly min: number;
    readonly max: number;
    readonly rest: number | number[];
    /** Index in pose.inputs where a dial starts; -1 for an input that reads a joint or a driver. */
    readonly offset: number;
    /** The joint that it reads; -1 for a dial. */
    readonly joint: number;
    /** The axis of a joint's angle, slide or stretch, or of a swing or twist, in the joint's own axes at rest, of
     * any length; null for other inputs. It has no meaning for a full rotation. */
    readonly about: readonly number[] | null;
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
    /** 0 is the cage. Default: the level chosen by the maker of the rig. */
    level?: number;
    /** Split vertices, which a renderer needs, or the vertices of the source; default true. */
    split?: boolean;
    /** Default true. */
    normals?: boolean;
    /** Default false. */
    tangents?: boolean;
    /** Default false. */
    textures?: boolean;
    /** Keep data from frame to frame: it makes a driven rig faster, with results within 1e-6, and clothes that were
     * learned from motion remember (pose.elapsed). Default false. */
    state?: boolean;
}

export interface EvaluateOptions {
    /** Leave the form at rest: not posed by the skeleton or a driver. */
    unskinned?: boolean;
    /** Do not settle onto the driver. */
    unsettled?: boolean;
    /** Leave the textures as they are: blending them takes longer than all else. */
    unpainted?: boolean;
}

export interface OpenOptions {
    /** Store examples in 16 bits: half the memory. */
    compact?: boolean;
}

/** Array properties are views into WebAssembly memory: read them again after any call except evaluate(). */
export class Pose {
    private constructor();
    readonly rig: Rig;
    readonly disposed: boolean;
    /** The dials, one after the other (input.offset). */
    readonly inputs: Float64Array;
    /** Ten numbers per joint: translation, rotation x y z w, scale; relative to the parent. */
    readonly joints: Float32Array;
    /** Three numbers per vertex of the driver. */
    readonly driver: Float32Array;
    /** Seconds since the frame before, for clothes that were learned from motion. 0, the default, is a cut: they hang
     * still. Setting it begins the next frame, also with the same number; surfaces may evaluate a frame again, or leave
     * frames out. They need `state` to remember. */
    elapsed: number;
    /** Sets a number, or a rotation as x y z w. An input that reads a joint moves that joint. */
    set(input: string | number, value: Point): this;
    /** The value as evaluation sees it. */
    get(input: string | number): number | number[];
    /** Changes the given parts of a joint's transform relative to its parent. */
    setJoint(joint: string | number, change: { translation?: Numbers; rotation?: Numbers; scale?: Numbers }): this;
    /** A joint's rotation relative to rest, in its own axes at rest: x y z w, with w not negative. */
    jointFromRest(joint: string | number): number[];
    /** Sets that rotation. The joint's translation and scale stay. */
    turnJoint(joint: string | number, rotation: Numbers): this;
    /** The joints' world matrices in evaluation, [joints][16] column by column, including skeletons of examples. */
    worldJoints(): Float32Array;
    /** The inverse of skinning: positions that the skin would move to `posed` at this pose, three numbers per source
     * vertex. Where the skin flattens the surface, they tend to `rest`. */
    unpose(posed: Numbers, rest: Numbers): Float64Array;
    /** Copies a pose of the same rig, or of a twin; `elapsed` stays. */
    copy(other: Pose): this;
    /** Resets everything to rest; `elapsed` stays. */
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
    /** Weights of the examples of all layers (layer.firstExample). */
    readonly weights: Float64Array;
    /** Smallest x y z, largest x y z. */
    readonly box: Float32Array;
    /** RGBA rows; null unless the surface has textures. */
    texture(name: string | number): Uint8ClampedArray | null;
    /** Fills everything for a pose of the rig, or of a twin. Allocates nothing and cannot fail. */
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
    /** The source vertex of each split vertex; null if none is split. */
    readonly sources: Uint32Array | null;
    readonly texcoords: Float32Array | null;
    readonly triangles: Uint32Array;
    readonly faceSizes: Uint32Array;
    readonly corners: Uint32Array;
}

export interface PseudoPlace {
    at: Point;
    /** The point to take the weights from; or give `weights`. */
    from?: Point;
    /** One number per example. */
    weights?: Numbers;
}

/** The reach of a point in distances of the space: one number per axis, or one for all; 0 is the default. */
export type Falloff = number | Numbers;

/** One change of a layer's space. Indices of pseudo-examples are those at the turn of the edit. */
export type LayerEdit =
    | { move: string | number; at: Point }
    | ({ movePseudo: number } & Partial<PseudoPlace>)
    | { addPseudo: PseudoPlace & { falloff?: Falloff } }
    | { removePseudo: number }
    /** An example's name, or a point's number: examples first, then pseudo-examples. The default without a value. */
    | { falloff: string | number; value?: Falloff };

/** A value of a parameter: a number, an integer, a boolean or a word. */
export type Setting = number | boolean | string;

/** A parameter of a kind of weigher, from the library's table. */
export interface Parameter {
    /** As in project files. */
    readonly name: string;
    readonly help: string;
    readonly type: "number" | "whole" | "switch" | "choice";
    /** The default. */
    readonly preset: Setting;
    /** Numbers: the range; `most` may be Infinity. */
    readonly least: number;
    readonly most: number;
    /** Numbers: true if `least` itself is not allowed. */
    readonly above: boolean;
    /** Numbers: the range of a slider. Steps are equal factors if both ends are above 0, else, and for integers,
     * equal steps. `to` may be Infinity, which means the number of examples. */
    readonly usual: readonly [from: number, to: number];
    /** Choices: the allowed words. */
    readonly words: readonly { readonly name: string; readonly help: string }[];
}

/** A kind of weigher. */
export interface Weigher {
    /** As in project files. */
    readonly name: string;
    readonly help: string;
    readonly parameters: readonly Parameter[];
    /** Examples are points of the space; if false, the axes are the weights. */
    readonly hasPoints: boolean;
    /** Every point may have its own falloff. */
    readonly hasFalloffs: boolean;
    /** Weights can be solved for sets of examples. */
    readonly hasSets: boolean;
    /** Solves a system that has a condition number. */
    readonly hasCondition: boolean;
    /** Weighs the form of a driver. */
    readonly isDriven: boolean;
}

/** The settings of a weigher, as in project files: a kind, and its parameters (runtime.weighers). */
export interface WeigherSettings {
    kind: string;
    [parameter: string]: Setting;
}

/** Behaviour beyond the outermost points on an axis: that of the kind (calm holds, all others extrapolate), or one of
 * its own. */
export type Limit = "kind" | "hold" | "fade" | "extrapolate";

export interface Ridge {
    /** 0: none, examples are reproduced exactly. */
    readonly ridge: number;
    /** The condition number without the ridge; may be Infinity. */
    readonly condition: number;
    /** The point that caused an automatic ridge (examples first, then pseudo-examples), else -1. */
    readonly point: number;
    /** That point's largest falloff. */
    readonly falloff: number;
}

/** Edits and settings apply to every pose of the rig. One that cannot be solved throws and changes nothing. */
export class Layer {
    private constructor();
    readonly index: number;
    readonly name: string;
    readonly domain: "form" | "pixels" | "offsets" | "trajectory" | "displacement";
    /** The table entry of its weigher. */
    readonly kind: Weigher;
    /** The name of its kind. */
    readonly weigher: string;
    readonly inputs: readonly Input[];
    /** Numbers in a point. */
    readonly dimension: number;
    readonly firstExample: number;
    readonly texture: string | null;
    /** Stage where offsets are added: before skinning, or after. */
    readonly frame: "rest" | "skinned";
    readonly examples: readonly Example[];
    /** True if its space differs from the file. */
    readonly edited: boolean;
    readonly pseudoCount: number;
    /** A copy; change it with set(). */
    readonly settings: WeigherSettings;
    /** One for each axis. A copy; change it with setLimits(). */
    readonly limits: readonly Limit[];
    /** For a gaussian layer [points][axes], 0 for the default; null for others. A copy. */
    readonly falloffs: Float64Array | null;
    /** The ridge used in the layer's solve. */
    readonly ridgeAdded: Ridge;
    muted: boolean;
    /** Null if the axes are the weights. */
    examplePoint(example: string | number): Float64Array | null;
    pseudoPoint(index: number): Float64Array;
    /** One of `from` and `weights` is null. */
    pseudo(index: number): { at: Float64Array; from: Float64Array | null; weights: Float64Array | null };
    /** Applies several edits in order and solves once: all or none. */
    edit(edits: Iterable<LayerEdit>): void;
    moveExample(example: string | number, at: Point): void;
    addPseudo(pseudo: PseudoPlace & { falloff?: Falloff }): number;
    movePseudo(index: number, pseudo: Partial<PseudoPlace>): void;
    removePseudo(index: number): void;
    setFalloff(example: string | number, falloff: Falloff): void;
    /** Sets another kind or other parameters for the same points. Falloffs are kept from gaussian to gaussian. */
    set(settings: { readonly [parameter: string]: Setting | undefined }): void;
    /** Sets the limit of each axis for the same points. */
    setLimits(limits: Iterable<Limit>): void;
    /** Undoes all edits and settings. */
    reset(): void;
    weights(at: Point): Float64Array;
    /** Weights [count][examples] at points [count][dimension]. */
    weightsGrid(points: Numbers, count: number): Float64Array;
    /** The distance used by the layer's weigher. */
    distance(a: Point, b: Point): number;
    /** The condition number of the weigher's system; costs as much as the solve. */
    condition(): number;
    /** A number per source vertex; null if there is no mask, or if the build has multiplied it in (all but
     * trajectories). */
    mask(): Float32Array | null;
    /** The displacement of each source vertex by an example, mask included, three numbers each; null for pixels. */
    delta(example: string | number): Float32Array | null;
    /** RGBA rows; null unless the layer is of pixels. */
    image(example: string | number): Uint8ClampedArray | null;
    /** The driver's vertices at an example; null unless a driver weighs the layer. */
    driverForm(example: string | number): Float32Array | null;
    /** The joints at an example that a driver weighs, [joints][10] as in pose.joints; null if they are at rest. */
    exampleJoints(example: string | number): Float32Array | null;
}

export interface Driver {
    readonly vertexCount: number;
    /** Three vertices each. */
    readonly triangles: Uint32Array;
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
    /** Vertices of the source mesh. */
    readonly vertexCount: number;
    /** Null if the rig has no skin. */
    readonly skinning: "linear" | "dual_quaternion" | null;
    /** The mesh that is an input of the rig. */
    readonly driver: Driver | null;
    layer(name: string | number): Layer;
    input(name: string | number): Input;
    /** A joint's transform at rest, relative to its parent: ten numbers as in pose.joints. */
    joint(name: string | number): Float32Array;
    /** The mesh before any layer, three numbers per source vertex. */
    restPositions(): Float32Array;
    /** The cage's normals at rest, as its file has them, three numbers per split vertex; null if there are none. Where
     * those of one vertex differ, the form has a hard edge. A copy. */
    restNormals(): Float32Array | null;
    /** Names of what the rig carries for other programs. */
    readonly attachments: readonly string[];
    /** A copy of the bytes of one of them: "looks" is a binary glTF file with the rig's materials and their images,
     * "clips" one with its animations, "materials" says which face has which. Null if there are none. */
    attachment(kind: string): Uint8Array<ArrayBuffer> | null;
    mesh(level?: number): Mesh;
    pose(values?: Record<string, Point>): Pose;
    surface(options?: SurfaceOptions): Surface;
    /** A second rig with the same forms, edited and muted as this one is now, and independent from then on. */
    twin(): Rig;
    /** Frees the rig with its poses and surfaces. The forms are freed with the last twin. */
    dispose(): void;
}

export class Runtime {
    private constructor();
    readonly version: string;
    readonly simd: string;
    /** The version of rig files that it reads. */
    readonly format: number;
    readonly memorySize: number;
    /** The kinds of weigher with their parameters; the first is the default. */
    readonly weighers: readonly Weigher[];
    open(bytes: Bytes, options?: OpenOptions): Rig;
}

/** Starts a runtime. Without an argument: the one used by load(), from the file next to this module. */
export function start(wasm?: string | URL | Bytes | WebAssembly.Module | Runtime): Promise<Runtime>;

/** Loads a rig from a URL or from bytes; in node, also from a path. */
export function load(
    rig: string | URL | Bytes,
    options?: OpenOptions & { runtime?: string | URL | Bytes | WebAssembly.Module | Runtime },
): Promise<Rig>;
