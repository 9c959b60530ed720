// A sculpt in progress: the cage at a pose, the painted values, and the strokes so far. It replaces the surface on the
// screen until it is inserted or discarded. The form belongs to its pose; painted values belong to no pose.
import type { App, Tool } from "../core/app";
import type { Project, ProjectLayer } from "../core/project";
import type { Stage } from "../core/stage";
import { weigherOf } from "../core/weighers";
import { Walker, type Region } from "./region";
import { meansOf } from "./smooth";
import { exampleAt, standAt, takeStand, type Stand } from "./stand";
import { strokeOf, Strokes } from "./strokes";
import { mirrorOf, topologyOf, type Topology } from "./topology";

/** True if the layer's forms apply at rest, before skinning, whatever the pose. */
export const isAtRest = (stage: Stage, layer: ProjectLayer | null): boolean => {
    const { rig } = stage;
    if (!layer || (!rig.skinning && !rig.driver)) return false; // both are the same
    const shape = layer.shape ?? "positions";
    return (
        rig.driver !== null ||
        shape === "positions" ||
        shape === "trajectory" ||
        layer["posed"] === false ||
        !weigherOf(layer.weigh).hasPoints
    );
};

/** True if the forms must be sculpted at rest: a driver's motion cannot be undone here, but skinning can. */
const isSculptedAtRest = (stage: Stage, layer: ProjectLayer | null): boolean =>
    stage.rig.driver !== null && isAtRest(stage, layer);

/** The cage at the stage's pose, in the vertex order of the source file. */
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
    /** True if the form shown is not posed. */
    atRest = false;
    /** True if the pose has changed since the form was taken. */
    isStale = false;
    /** The layer and the mask that painting started from. */
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

    /** Shows the form at the current pose. The first stroke takes it. */
    show(app: App): void {
        this.strokes.forget(this.positions); // undone strokes belonged to another pose
        this.atRest = isSculptedAtRest(app.stage, app.layer);
        this.positions.set(cageOf(app.stage, app.stage.pose, this.atRest));
        this.isStale = true;
    }

    /** Takes the form at the pose, after rounding the pose to values that a file can hold. */
    take(app: App): void {
        const { stage, rigLayer, layer } = app;
        const example = rigLayer && layer ? exampleAt(rigLayer, layer.examples, stage.pose) : null;
        this.stand = standAt(stage.pose, rigLayer, example);
        this.atRest = isSculptedAtRest(stage, layer);
        this.positions.set(cageOf(stage, stage.pose, this.atRest));
        this.isStale = false;
    }

    /** Sets the stage's pose back to the sculpt's. */
    hold(stage: Stage): void {
        takeStand(stage.pose, this.stand);
    }

    /** All vertices, with weight 1. */
    whole(): Region {
        const { vertexCount, lead } = this.topology;
        const all = Uint32Array.from({ length: vertexCount }, (_, v) => v);
        const vertices = lead ? all.filter((v) => lead[v] === v) : all;
        return { count: vertices.length, vertices, leads: vertices.length,
            weights: new Float32Array(vertices.length).fill(1), mirrored: null };
    }

    /** Runs a change as one stroke. Returns true if anything changed. */
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

/** Keeps topologies while the mesh stays the same, since every build makes a new rig. */
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
