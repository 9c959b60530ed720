// State of the map: the selected layer's coordinates, the two along the edges, the visible part, and the marks on it.
// Read from the App for every frame.
import type { Layer } from "@exemplar/runtime";
import type { App } from "../core/app";
import { pointOf, type ProjectLayer } from "../core/project";
import type { Finding } from "../core/server";
import { weigherOf } from "../core/weighers";
import { pseudoName } from "../core/words";
import { coordinatesOf, examplePoint, type Coordinate } from "./axes";
import type { Placed } from "../core/labels";
import type { Tile } from "./forms";
import { fitted, Plane, type Range } from "./plane";

export interface Mark {
    readonly kind: "example" | "pseudo";
    /** Name to display. */
    readonly name: string;
    /** Index in the layer's list in the file. */
    readonly index: number;
    readonly point: number[];
    /** Position along the edges; y is 1 or 0 if weights are shown. */
    readonly x: number;
    readonly y: number;
    /** The place where the form of a pseudo-example is taken. */
    readonly from: { point: number[]; x: number; y: number } | null;
    /** The place where its form was taken in this session, for a pseudo-example that stores only weights. */
    readonly origin: { x: number; y: number } | null;
    /** Distance from the shown plane, in parts of the other ranges. */
    readonly off: number;
    readonly muted: boolean;
    readonly selected: boolean;
    readonly finding: Finding | null;
}

/** A form taken from the map, to be placed. */
export interface Taken {
    readonly x: number;
    readonly y: number;
    readonly point: number[];
    readonly weights: { [example: string]: number };
}

export type Chosen = "selected" | "none" | "smallest" | `=${string}`;

/** The current drag. */
export type Busy = null | "pose" | "textures" | "mark" | "take" | "reach" | "pan";

export const WEIGHTS = "weights";

export class MapState {
    readonly plane = new Plane();
    layer: Layer | null = null;
    tree: ProjectLayer | null = null;
    coordinates: Coordinate[] = [];
    x: Coordinate | null = null;
    /** Null: weights along x. */
    y: Coordinate | null = null;
    marks: Mark[] = [];
    /** The pose in the layer's space. */
    pose: number[] = [];
    chosen: Chosen = "selected";
    taken: Taken | null = null;
    /** Places where forms were taken, by the weights object, which stays the same from step to step. */
    readonly origins = new WeakMap<object, number[]>();
    busy: Busy = null;
    /** The handle of the reach being dragged; -1: none. */
    handle = -1;
    /** The pointer in pixels of the canvas; null outside. */
    pointer: [number, number] | null = null;
    picture = true;
    /** Show forms on the map. */
    forms = true;
    /** The map fills the window. */
    isLarge = false;
    /** Pictures of marks that a pointer can grab. */
    tiles: readonly Tile[] = [];
    /** The names and numbers on the map, in pixels of the canvas. */
    labels: readonly Placed[] = [];
    /** The sides on which names stood last. */
    readonly sides = new Map<string, number>();

    /** The layer and space that the coordinates belong to. */
    #axesOf: unknown[] = [];
    /** The chosen coordinates of each layer. */
    #kept = new Map<number, { x: string; y: string }>();
    #fittedFor = "";
    #found: { of: readonly Finding[] | null; worst: Map<string, Finding> } = { of: null, worst: new Map() };

    constructor(readonly app: App) {}

    /** The reason why there is no map, as a sentence; null if there is one. */
    get missing(): string | null {
        const { tree, layer } = this;
        if (!tree) return "There is no layer yet. Add one under Layers.";
        const kinds = [weigherOf(tree.weigh), ...(layer ? [layer.kind] : [])];
        if (kinds.some((kind) => !kind.hasPoints && kind.isDriven))
            return "This layer follows the motion of a driver, which a map cannot show. Play a point cache of the driver.";
        if (kinds.some((kind) => !kind.hasPoints))
            return "This layer has no map: each of its axes is the weight of one example. Move the axes below.";
        if (kinds.some((kind) => kind.isDriven))
            return "This layer follows the form of a driver, which a map cannot show. Play a point cache of the driver, or blend two of its forms below.";
        if (!layer) return "This layer is being built. Its map follows.";
        if (this.coordinates.length === 0) return "This layer has no axes to show.";
        return null;
    }

    /** True if the map shows weights over one axis, instead of a plane. */
    get isGraph(): boolean {
        return this.y === null;
    }

    // ---- following the App ----

    update(): void {
        const { app } = this;
        this.tree = app.layer;
        this.layer = app.rigLayer;
        this.#findAxes();
        if (this.missing !== null) {
            this.marks = [];
            return;
        }
        this.pose = this.posePoint(this.layer!);
        this.marks = this.#readMarks();
        const now = `${app.selection.layer} ${this.x!.id} ${this.y?.id}`;
        if (now !== this.#fittedFor) {
            this.#fittedFor = now;
            this.fit();
        }
    }

    posePoint(layer: Layer): number[] {
        const { pose } = this.app.stage;
        return layer.inputs.flatMap((input) => (input.kind === "driver" ? [] : pose.get(input.index)));
    }

    #findAxes(): void {
        const { layer, tree, app } = this;
        if (!layer || !tree || !layer.kind.hasPoints || layer.kind.isDriven) {
            this.coordinates = [];
            this.#axesOf = [];
            return;
        }
        if (this.#axesOf[0] === layer && this.#axesOf[1] === tree.space) return;
        this.#axesOf = [layer, tree.space];
        this.coordinates = coordinatesOf(layer, tree.space);
        const kept = this.#kept.get(app.selection.layer);
        const find = (id: string | undefined) => this.coordinates.find((c) => c.id === id);
        this.x = find(kept?.x) ?? this.coordinates[0] ?? null;
        const other = this.coordinates.find((c) => c !== this.x) ?? null;
        this.y = kept?.y === WEIGHTS ? null : (find(kept?.y) ?? other);
    }

    /** Shows a coordinate along an edge. If the other edge has the same one, that edge changes. */
    show(edge: "x" | "y", id: string): void {
        const wanted = this.coordinates.find((c) => c.id === id) ?? null;
        const { x, y } = this;
        if (edge === "x" && wanted) {
            this.x = wanted;
            if (wanted === y) this.y = x;
        } else if (edge === "y") {
            this.y = wanted;
            if (wanted && wanted === x) this.x = y ?? this.coordinates.find((c) => c !== wanted) ?? x;
        }
        if (this.tree) this.#kept.set(this.app.selection.layer, { x: this.x!.id, y: this.y?.id ?? WEIGHTS });
        this.update();
        this.app.invalidate();
    }

    // ---- visible part ----

    get ranges(): { x: Range; y: Range } {
        return { x: this.x ?? { min: 0, max: 1 }, y: this.y ?? { min: 0, max: 1 } };
    }

    /** Shows all examples and the full ranges. */
    fit(): void {
        if (!this.x) return;
        const xs = this.marks.flatMap((mark) => [mark.x, ...(mark.from ? [mark.from.x] : [])]);
        const ys = this.marks.flatMap((mark) => [mark.y, ...(mark.from ? [mark.from.y] : [])]);
        // Room for pictures at the edge of the enlarged map.
        const margin = this.isLarge ? 0.1 : undefined;
        this.plane.x = fitted(this.x, xs, margin);
        this.plane.y = this.y ? fitted(this.y, ys, margin) : { min: -0.35, max: 1.35 };
    }

    /** The pose's point with the shown coordinates set to these values. */
    pointAt(x: number, y: number): number[] {
        const point = [...this.pose];
        this.x!.write(point, x);
        this.y?.write(point, y);
        return point;
    }

    /** The shown coordinates with values, for placeWith. */
    values(x: number, y: number): (readonly [Coordinate, number])[] {
        return this.y ? [[this.x!, x], [this.y, y]] : [[this.x!, x]];
    }

    /** The example whose weight is drawn; -1: the smallest of all; null: none. */
    get chosenWeight(): number | null {
        const { chosen, layer } = this;
        if (!layer || chosen === "none") return null;
        if (chosen === "smallest") return -1;
        const name = chosen === "selected" ? this.app.selection.example : chosen.slice(1);
        return layer.examples.find((example) => example.name === name)?.index ?? null;
    }

    #off(point: ArrayLike<number>): number {
        let sum = 0;
        for (const c of this.coordinates) {
            if (c === this.x || c === this.y) continue;
            sum += ((c.read(point) - c.read(this.pose)) / (c.max - c.min)) ** 2;
        }
        return Math.sqrt(sum);
    }

    /** The worst finding at each point, by its path. There may be a thousand of each. */
    #findings(): Map<string, Finding> {
        const { findings } = this.app;
        if (this.#found.of === findings) return this.#found.worst;
        const worst = new Map<string, Finding>();
        for (const finding of findings) {
            const point = /^layers\[\d+\]\.(?:examples|pseudo)\[\d+\]/.exec(finding.where)?.[0];
            if (!point || finding.severity === "note") continue;
            if (finding.severity === "error" ? worst.get(point)?.severity !== "error" : !worst.has(point)) worst.set(point, finding);
        }
        this.#found = { of: findings, worst };
        return worst;
    }

    #readMarks(): Mark[] {
        const { layer, tree, x, y, app } = this;
        const { selection } = app;
        const found = this.#findings();
        const finding = (list: string, index: number): Finding | null =>
            found.get(`layers[${selection.layer}].${list}[${index}]`) ?? null;
        const place = (point: number[], height: number) => ({ point, x: x!.read(point), y: y ? y.read(point) : height });
        const examples = tree!.examples.map((example, index): Mark => {
            const point = examplePoint(layer!, example);
            const selected = selection.example === example.name && selection.pseudo === null;
            return { kind: "example", name: example.name, index, ...place(point, 1), from: null, origin: null, off: this.#off(point),
                muted: example.muted ?? false, selected, finding: finding("examples", index) };
        });
        const pseudos = (tree!.pseudo ?? []).map((pseudo, index): Mark => {
            const point = pointOf(layer!, pseudo.at);
            const origin = this.origins.get(pseudo.weights ?? pseudo);
            const from = pseudo.from ? place(pointOf(layer!, pseudo.from), 0) : null;
            return { kind: "pseudo", name: pseudoName(pseudo, index), index, ...place(point, 0), from,
                origin: origin && !from ? place(origin, 0) : null, off: this.#off(point), muted: false, selected: selection.pseudo === index,
                finding: finding("pseudo", index) };
        });
        return [...examples, ...pseudos];
    }

    get selectedMark(): Mark | null {
        return this.marks.find((mark) => mark.selected) ?? null;
    }
}
