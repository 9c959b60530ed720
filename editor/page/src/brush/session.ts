// A sculpt in the making: the cage at a pose, what was painted on it, and the strokes so far. It is shown in place of the
// surface until it is inserted or discarded. The form belongs to its pose; what is painted belongs to none.
import type { App, Tool } from "../core/app";
import type { Project, ProjectLayer } from "../core/project";
import type { Stage } from "../core/stage";
import { weigherOf } from "../core/weighers";
import { Walker, type Region } from "./region";
import { meansOf } from "./smooth";
import { exampleAt, standAt, takeStand, type Stand } from "./stand";
import { strokeOf, Strokes } from "./strokes";
import { mirrorOf, topologyOf, type Topology } from "./topology";

/** Whether the layer's forms stand before anything poses them, whatever the pose. */
export const isAtRest = (stage: Stage, layer: ProjectLayer | null): boolean => {
    const { rig } = stage;
    if (!layer || (!rig.skinning && !rig.driver)) return false; // all the same
    const shape = layer.shape ?? "positions";
    return (
        rig.driver !== null ||
        shape === "positions" ||
        shape === "trajectory" ||
        layer["posed"] === false ||
        !weigherOf(layer.weigh).hasPoints
    );
};

/** Whether such forms are sculpted as they stand: what a driver moves cannot be taken back here; what a skin moves can. */
const isSculptedAtRest = (stage: Stage, layer: ProjectLayer | null): boolean =>
    stage.rig.driver !== null && isAtRest(stage, layer);

/** The cage at the stage's pose, in the order of the source. */
export const cageOf = (stage: Stage, pose = stage.pose, atRest = false): Float32Array => {
    const surface = stage.rig.surface({ level: 0, split: false, normals: false });
    try {
        return surface.evaluate(pose, { unskinned: atRest, unsettled: atRest }).positions.slice();
    } finally {
        surface.dispose();
    }
};

export class Session {
    readonly strokes = new Strokes();
    readonly positions: Float32Array;
    readonly paint: Float32Array;
    stand: Stand = { at: {}, joints: null, lost: [] };
    /** Whether what is shown is not posed. */
    atRest = false;
    /** Whether the pose was changed since the form was taken. */
    isStale = false;
    /** The layer and the mask that the paint was taken from. */
    painted: string | null = null;

    readonly walker: Walker;
    #means: Float32Array | null = null;
    #mirror: Int32Array | null = null;

    constructor(readonly topology: Topology) {
        this.positions = new Float32Array(3 * topology.vertexCount);
        this.paint = new Float32Array(topology.vertexCount).fill(1);
        this.walker = new Walker(topology);
    }

    get means(): Float32Array {
        return (this.#means ??= meansOf(this.topology));
    }
    get mirror(): Int32Array {
        return (this.#mirror ??= mirrorOf(this.topology));
    }
    get isSculpted(): boolean {
        return this.strokes.count(this.positions) > 0;
    }
    get isPainted(): boolean {
        return this.strokes.count(this.paint) > 0;
    }

    /** Shows the form at the pose as it is; it is taken when the first stroke begins. */
    show(app: App): void {
        this.strokes.forget(this.positions); // what was undone was of another pose
        this.atRest = isSculptedAtRest(app.stage, app.layer);
        this.positions.set(cageOf(app.stage, app.stage.pose, this.atRest));
        this.isStale = true;
    }

    /** Takes the form at the pose, which is brought to what a file can say of it. */
    take(app: App): void {
        const { stage, rigLayer, layer } = app;
        const example = rigLayer && layer ? exampleAt(rigLayer, layer.examples, stage.pose) : null;
        this.stand = standAt(stage.pose, rigLayer, example);
        this.atRest = isSculptedAtRest(stage, layer);
        this.positions.set(cageOf(stage, stage.pose, this.atRest));
        this.isStale = false;
    }

    /** Brings the stage's pose back to the sculpt's. */
    hold(stage: Stage): void {
        takeStand(stage.pose, this.stand);
    }

    /** Everything, with weight 1. */
    whole(): Region {
        const { vertexCount, lead } = this.topology;
        const all = Uint32Array.from({ length: vertexCount }, (_, v) => v);
        const vertices = lead ? all.filter((v) => lead[v] === v) : all;
        return { count: vertices.length, vertices, leads: vertices.length,
            weights: new Float32Array(vertices.length).fill(1), mirrored: null };
    }

    /** Does a change as one stroke; whether anything changed. */
    change(label: string, tool: Tool["id"], work: () => void): boolean {
        const [array, width] = tool === "paint" ? ([this.paint, 1] as const) : ([this.positions, 3] as const);
        const before = array.slice();
        work();
        return this.keep(label, array, width, before);
    }
    keep(label: string, array: Float32Array, width: number, before: Float32Array): boolean {
        const stroke = strokeOf(label, array, width, before);
        if (stroke) this.strokes.push(stroke);
        return stroke !== null;
    }
}

/** Topologies are kept as long as the mesh is the same one: after every build the rig is another. */
export class Topologies {
    #key = "";
    #topology: Topology | null = null;

    of(stage: Stage, tree: Project): Topology {
        const { rig } = stage;
        const mesh = rig.mesh(0);
        const key = [tree.mesh, rig.vertexCount, mesh.faceCount, mesh.corners.length].join("|");
        if (key !== this.#key || !this.#topology) {
            this.#topology = topologyOf(rig);
            this.#key = key;
        }
        return this.#topology;
    }
}
