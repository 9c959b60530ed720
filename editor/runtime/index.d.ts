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
    /** The direction that a joint's angle, slide or stretch, or a swing or twist, is about; null for others. In the
     * joint's own axes at rest, of any length; without a meaning for a whole rotation. */
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
    /** Keep from frame to frame what makes a driven rig quicker; results stay within 1e-6. Default false. */
    state?: boolean;
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

/** Arrays that are properties are views into WebAssembly's memory: ask the object again after any call but evaluate(). */
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
    /** A number, or x y z w of a rotation. An input that reads a joint moves that joint. */
    set(input: string | number, value: Point): this;
    /** As evaluation sees it. */
    get(input: string | number): number | number[];
    /** Changes what is given of a joint's transform relative to its parent. */
    setJoint(joint: string | number, change: { translation?: Numbers; rotation?: Numbers; scale?: Numbers }): this;
    /** A joint's rotation relative to its rest, in its own axes at rest: x y z w, w not negative. */
    jointFromRest(joint: string | number): number[];
    /** Sets that rotation; the joint's translation and scale stay. */
    turnJoint(joint: string | number, rotation: Numbers): this;
    /** The joints' world matrices as evaluation places them, [joints][16] column after column; examples' own skeletons count. */
    worldJoints(): Float32Array;
    /** The positions that the skin would move to `posed` at this pose, three numbers a source vertex. Where the skin
     * flattens the surface they tend to `rest`. */
    unpose(posed: Numbers, rest: Numbers): Float64Array;
    /** Takes over a pose of the same rig, or of a twin. */
    copy(other: Pose): this;
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
    /** Fills everything for a pose of the rig, or of a twin of it. Allocates nothing and cannot fail. */
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

/** How far a point reaches, in distances of the space: one number an axis, or one for all; 0 is the default. */
export type Falloff = number | Numbers;

/** One change of a layer's space. Numbers of pseudo-examples are those when the edit comes to its turn. */
export type LayerEdit =
    | { move: string | number; at: Point }
    | ({ movePseudo: number } & Partial<PseudoPlace>)
    | { addPseudo: PseudoPlace & { falloff?: Falloff } }
    | { removePseudo: number }
    /** An example's name, or a point's number: examples first, then pseudo-examples. Without a value: the default. */
    | { falloff: string | number; value?: Falloff };

/** A value of a parameter: a number, a whole number, a switch or a word. */
export type Setting = number | boolean | string;

/** A parameter of a kind of weigher, as the library's table has it. */
export interface Parameter {
    /** As in project files. */
    readonly name: string;
    readonly help: string;
    readonly type: "number" | "whole" | "switch" | "choice";
    /** The default. */
    readonly preset: Setting;
    /** Numbers: the range; most may be Infinity. */
    readonly least: number;
    readonly most: number;
    /** Numbers: least itself is out of the range. */
    readonly above: boolean;
    /** Numbers: what a slider runs over, from and to: in equal factors where both are above 0, else, and for whole
     * numbers, in equal steps; to Infinity: to the number of examples. */
    readonly usual: readonly [from: number, to: number];
    /** Choices: what there is. */
    readonly words: readonly { readonly name: string; readonly help: string }[];
}

/** A kind of weigher. */
export interface Weigher {
    /** As in project files. */
    readonly name: string;
    readonly help: string;
    readonly parameters: readonly Parameter[];
    /** Examples stand at points of the space; if not, the axes are the weights. */
    readonly hasPoints: boolean;
    /** Every point may have a falloff of its own. */
    readonly hasFalloffs: boolean;
    /** Weights can be solved for sets of examples. */
    readonly hasSets: boolean;
    /** Solves a system that has a condition number. */
    readonly hasCondition: boolean;
    /** Weighs the form of a driver. */
    readonly isDriven: boolean;
}

/** How a layer is weighed, as in project files: a kind, and the parameters of that kind (runtime.weighers). */
export interface WeigherSettings {
    kind: string;
    [parameter: string]: Setting;
}

export interface Ridge {
    /** 0: none, the examples are reached exactly. */
    readonly ridge: number;
    /** The condition number without it; may be Infinity. */
    readonly condition: number;
    /** The point to blame where it came by itself (examples first, then pseudo-examples), else -1. */
    readonly point: number;
    /** That point's largest falloff. */
    readonly falloff: number;
}

/** Edits and settings hold for every pose of the rig; what cannot be solved throws and changes nothing. */
export class Layer {
    private constructor();
    readonly index: number;
    readonly name: string;
    readonly domain: "form" | "pixels" | "offsets" | "trajectory" | "displacement";
    /** What is known of how it is weighed. */
    readonly kind: Weigher;
    /** The name of that. */
    readonly weigher: string;
    readonly inputs: readonly Input[];
    /** Numbers in a point. */
    readonly dimension: number;
    readonly firstExample: number;
    readonly texture: string | null;
    /** Where offsets are added: before the form is posed, or after. */
    readonly frame: "rest" | "skinned";
    readonly examples: readonly Example[];
    /** Whether anything of its space is not as in the file. */
    readonly edited: boolean;
    readonly pseudoCount: number;
    /** A copy; change it by set(). */
    readonly settings: WeigherSettings;
    /** Of a gaussian layer, [points][axes], 0 where by default; null for others. A copy. */
    readonly falloffs: Float64Array | null;
    /** The ridge that the layer's solve has. */
    readonly ridgeAdded: Ridge;
    muted: boolean;
    /** Null where the axes are the weights. */
    examplePoint(example: string | number): Float64Array | null;
    pseudoPoint(index: number): Float64Array;
    /** One of `from` and `weights` is null. */
    pseudo(index: number): { at: Float64Array; from: Float64Array | null; weights: Float64Array | null };
    /** Several edits in their order, solved once: all or none. */
    edit(edits: Iterable<LayerEdit>): void;
    moveExample(example: string | number, at: Point): void;
    addPseudo(pseudo: PseudoPlace & { falloff?: Falloff }): number;
    movePseudo(index: number, pseudo: Partial<PseudoPlace>): void;
    removePseudo(index: number): void;
    setFalloff(example: string | number, falloff: Falloff): void;
    /** Another kind or other parameters for the same points; falloffs are kept from gaussian to gaussian. */
    set(settings: { readonly [parameter: string]: Setting | undefined }): void;
    /** Takes all edits and settings back. */
    reset(): void;
    weights(at: Point): Float64Array;
    /** Weights [count][examples] at points [count][dimension]. */
    weightsGrid(points: Numbers, count: number): Float64Array;
    /** As the layer's weigher measures it. */
    distance(a: Point, b: Point): number;
    /** The condition number of what the weigher solved; costs as much as the solve. */
    condition(): number;
    /** A number a source vertex; null where there is none, or where building multiplied it in (all but trajectories). */
    mask(): Float32Array | null;
    /** By how much an example moves each source vertex, mask included, three numbers each; null for pixels. */
    delta(example: string | number): Float32Array | null;
    /** Rows of red green blue alpha; null where the layer is not of pixels. */
    image(example: string | number): Uint8ClampedArray | null;
    /** The driver's vertices at an example; null where no driver weighs the layer. */
    driverForm(example: string | number): Float32Array | null;
    /** The joints at an example that a driver weighs, [joints][10] as in pose.joints; null where they are at rest. */
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
    /** Of the source mesh. */
    readonly vertexCount: number;
    /** Null where no skin moves the rig. */
    readonly skinning: "linear" | "dual_quaternion" | null;
    /** The mesh whose form is an input. */
    readonly driver: Driver | null;
    layer(name: string | number): Layer;
    input(name: string | number): Input;
    /** Where a joint is at rest, relative to its parent: ten numbers as in pose.joints. */
    joint(name: string | number): Float32Array;
    /** The mesh before any layer, three numbers a source vertex. */
    restPositions(): Float32Array;
    mesh(level?: number): Mesh;
    pose(values?: Record<string, Point>): Pose;
    surface(options?: SurfaceOptions): Surface;
    /** A second rig over the same forms, edited and muted as this one is now, and from now on by itself. */
    twin(): Rig;
    /** Gives back the rig with its poses and surfaces; the forms with the last of its twins. */
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

/** Starts a runtime. Without an argument: the one that load() uses, from the file beside this module. */
export function start(wasm?: string | URL | Bytes | WebAssembly.Module | Runtime): Promise<Runtime>;

/** A rig from an address or from bytes; in node, from a path too. */
export function load(
    rig: string | URL | Bytes,
    options?: OpenOptions & { runtime?: string | URL | Bytes | WebAssembly.Module | Runtime },
): Promise<Rig>;
