// Joints and bones, drawn over the form. The pointer finds, names and turns them. A joint's ball turns it freely; its
// ring and its bones turn it in the plane of the picture.
import {
    BufferAttribute, BufferGeometry, Color, Group, InstancedMesh, LineBasicMaterial, LineLoop, Matrix4, OctahedronGeometry,
    Vector3,
} from "three";
import type { Pose, Rig } from "@exemplar/runtime";
import type { App } from "../core/app";
import type { Eye } from "./camera";
import { circle } from "./ring";
import { boneMaterial } from "./shaders";

const RING = 64; // CSS pixels
const NEAR = { joint: 11, bone: 6, ring: 6 };
const COLOURS = { plain: new Color(0x5f86bd), hover: new Color(0xf0b440), chosen: new Color(0xf07818) };

/** On the page, in CSS pixels. */
interface Place {
    x: number;
    y: number;
}

export interface Touched {
    joint: number;
    part: "joint" | "bone" | "ring";
}

/** A bone from (0,0,0) to (0,1,0), thickest near its start. */
const boneGeometry = (): BufferGeometry => {
    const points = [[0, 0, 0], [1, 0.14, 0], [0, 0.14, 1], [-1, 0.14, 0], [0, 0.14, -1], [0, 1, 0]];
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(points.flat()), 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 1, 5, 2, 1, 5, 3, 2, 5, 4, 3, 5, 1, 4]);
    return geometry;
};

export class Skeleton {
    readonly object = new Group();
    hovered: Touched | null = null;
    chosen = -1;
    readonly #material = boneMaterial();
    readonly #ring = new LineLoop(circle(), new LineBasicMaterial({ color: COLOURS.chosen }));
    #rig: Rig | null = null;
    #rest: Pose | null = null;
    #joints: InstancedMesh | null = null;
    #bones: InstancedMesh | null = null;
    /** The joint at the end of each bone. */
    #ends: number[] = [];
    #places = new Float32Array(0);
    #size = 1;

    constructor(readonly app: App) {
        this.#ring.frustumCulled = false;
    }

    get isShown(): boolean {
        return this.app.display.skeleton && this.app.stage.rig.joints.length > 0 && this.app.sculpt === null;
    }

    #build(rig: Rig): void {
        for (const mesh of [this.#joints, this.#bones]) {
            mesh?.geometry.dispose();
            mesh?.dispose();
        }
        this.#rig = rig;
        this.#rest = rig.pose();
        this.#ends = rig.joints.filter((joint) => joint.parent >= 0).map((joint) => joint.index);
        this.#joints = new InstancedMesh(new OctahedronGeometry(1, 1), this.#material, rig.joints.length);
        this.#bones = new InstancedMesh(boneGeometry(), this.#material, Math.max(1, this.#ends.length));
        this.#bones.count = this.#ends.length;
        this.#joints.frustumCulled = this.#bones.frustumCulled = false;
        this.object.clear();
        this.object.add(this.#bones, this.#joints, this.#ring);
        if (this.chosen >= rig.joints.length) this.chosen = -1;
        this.hovered = null;
    }

    /** Position of a joint. */
    place(joint: number): Vector3 {
        return new Vector3().fromArray(this.#places, 3 * joint);
    }

    /** Updates from the shown pose; `size` is half the form's size. */
    fill(size: number): void {
        this.object.visible = this.isShown;
        if (!this.object.visible) return;
        const { rig, pose } = this.app.stage;
        if (this.#rig !== rig) this.#build(rig);
        const worlds = (this.app.display.unposed ? this.#rest! : pose).worldJoints();
        const count = rig.joints.length;
        if (this.#places.length !== 3 * count) this.#places = new Float32Array(3 * count);
        for (let j = 0; j < count; j++) this.#places.set(worlds.subarray(16 * j + 12, 16 * j + 15), 3 * j);
        const lengths = this.#ends.map((j) => this.place(j).distanceTo(this.place(rig.joints[j]!.parent))).sort((a, b) => a - b);
        const usual = lengths[lengths.length >> 1] ?? size;
        this.#size = Math.max(0.006 * size, Math.min(0.02 * size, 0.12 * usual));
        this.#lay();
    }

    #lay(): void {
        const { joints } = this.#rig!;
        const matrix = new Matrix4();
        const [across, along, away] = [new Vector3(), new Vector3(), new Vector3()];
        joints.forEach((_, j) => {
            const at = this.place(j);
            const size = this.#size * (j === this.chosen || j === this.hovered?.joint ? 1.35 : 1);
            this.#joints!.setMatrixAt(j, matrix.makeScale(size, size, size).setPosition(at));
            this.#joints!.setColorAt(j, this.#colour(j));
        });
        this.#ends.forEach((end, i) => {
            const start = this.place(joints[end]!.parent);
            along.copy(this.place(end)).sub(start);
            const wide = Math.min(0.1 * along.length(), 0.9 * this.#size);
            across.set(1, 0, 0);
            if (Math.abs(along.x) > 0.8 * along.length()) across.set(0, 0, 1);
            away.crossVectors(across, along).normalize();
            across.crossVectors(along, away).normalize();
            matrix.makeBasis(across.multiplyScalar(wide), along, away.multiplyScalar(wide)).setPosition(start);
            this.#bones!.setMatrixAt(i, matrix);
            this.#bones!.setColorAt(i, this.#colour(joints[end]!.parent));
        });
        for (const mesh of [this.#joints!, this.#bones!]) {
            mesh.instanceMatrix.needsUpdate = true;
            if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
        }
    }

    #colour(joint: number): Color {
        return joint === this.chosen ? COLOURS.chosen : joint === this.hovered?.joint ? COLOURS.hover : COLOURS.plain;
    }

    /** Updates the colours after another joint was pointed at or selected. */
    mark(): void {
        if (this.isShown && this.#rig === this.app.stage.rig) this.#lay();
    }

    /** Before drawing: turns the ring to the camera and keeps its size on the screen. */
    aim(eye: Eye, width: number, height: number): void {
        this.#ring.visible = this.chosen >= 0 && !this.app.display.unposed;
        if (!this.isShown || !this.#ring.visible) return;
        const at = this.place(this.chosen);
        this.#ring.position.copy(at);
        this.#ring.quaternion.copy(eye.camera.quaternion);
        this.#ring.scale.setScalar(RING * eye.pixel(at.toArray(), width, height));
    }

    /** The joint or bone at a place on the page; `project` maps a point to the page. */
    find(x: number, y: number, project: (point: Vector3) => Place): Touched | null {
        if (!this.isShown || this.#rig !== this.app.stage.rig) return null;
        const places = this.#rig.joints.map((joint) => project(this.place(joint.index)));
        const far = (at: Place): number => Math.hypot(at.x - x, at.y - y);
        const order = places.map((_, j) => j).sort((a, b) => far(places[a]!) - far(places[b]!));
        const nearest = order[0]!;
        if (far(places[nearest]!) < NEAR.joint) return { joint: nearest, part: "joint" };
        if (this.chosen >= 0 && Math.abs(far(places[this.chosen]!) - RING) < NEAR.ring)
            return { joint: this.chosen, part: "ring" };
        let found: Touched | null = null;
        let least = NEAR.bone;
        for (const end of this.#ends) {
            const { parent } = this.#rig.joints[end]!;
            const distance = fromSegment({ x, y }, places[parent]!, places[end]!);
            if (distance < least) [least, found] = [distance, { joint: parent, part: "bone" }];
        }
        return found;
    }
}

const fromSegment = (p: Place, a: Place, b: Place): number => {
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const share = Math.max(0, Math.min(1, ((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(p.x - a.x - share * dx, p.y - a.y - share * dy);
};

/** The radius in pixels of the ball that turns a joint. */
export const BALL = RING;
