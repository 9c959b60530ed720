// Finds the surface under the pointer, for brushes.
import { Vector3 } from "three";
import type { Rig, Surface } from "@exemplar/runtime";
import type { Hit, Picker } from "../core/app";
import type { View } from "./view";
import { castRay } from "./raycast";
import { BrushRing } from "./ring";

type Place = { clientX: number; clientY: number };

export class ViewPicker implements Picker {
    readonly canvas: HTMLCanvasElement;
    #cage: { rig: Rig; surface: Surface } | null = null;
    readonly #ring = new BrushRing();
    /** True if the cage no longer matches the pose. */
    #isStale = true;

    constructor(readonly view: View) {
        this.canvas = view.canvas;
        view.stand.overlay.add(this.#ring.object);
        view.app.on("fill", () => (this.#isStale = true));
    }

    /** The ray through a place on the canvas: its start and direction. */
    ray(place: Place): { from: Vector3; along: Vector3 } {
        const { left, top, width, height } = this.view.picture(place);
        const camera = this.view.eye.aim(width / height);
        const x = (2 * (place.clientX - left)) / width - 1;
        const y = 1 - (2 * (place.clientY - top)) / height;
        const from = new Vector3(x, y, -1).unproject(camera);
        const to = new Vector3(x, y, 1).unproject(camera);
        return { from, along: to.sub(from).normalize() };
    }

    hit(place: Place): Hit | null {
        const { app, actors } = this.view;
        const { from, along } = this.ray(place);
        const faces = app.sculpt ? actors.sourceFaces : actors.faces;
        const positions = app.sculpt?.positions ?? app.stage.surface.positions;
        const triangles = faces.triangles.array as Uint32Array;
        const found = castRay(positions, triangles, from.toArray(), along.toArray());
        if (!found) return null;
        const corners = [0, 1, 2].map((i) => triangles[3 * found.triangle + i]!);
        const at = corners.map((c) => new Vector3(positions[3 * c]!, positions[3 * c + 1]!, positions[3 * c + 2]!));
        const point = from.addScaledVector(along, found.distance);
        const normal = at[1]!.clone().sub(at[0]!).cross(at[2]!.clone().sub(at[0]!)).normalize();
        if (normal.dot(along) > 0) normal.negate();
        const most = found.shares.indexOf(Math.max(...found.shares));
        return { point: point.toArray(), normal: normal.toArray(), vertex: this.#source(corners[most]!, point) };
    }

    // The nearest vertex of the cage.
    #source(corner: number, point: Vector3): number {
        const { app } = this.view;
        if (app.sculpt) return corner;
        const { mesh, surface, rig, pose } = app.stage;
        if (surface.level === 0) return mesh.sources?.[corner] ?? corner;
        if (this.#cage?.rig !== rig) {
            this.#cage = { rig, surface: rig.surface({ level: 0, split: false, normals: false }) };
            this.#isStale = true;
        }
        if (this.#isStale) this.#cage.surface.evaluate(pose, { unskinned: app.display.unposed });
        this.#isStale = false;
        const { positions } = this.#cage.surface;
        let nearest = 0;
        let least = Infinity;
        for (let i = 0; i < positions.length; i += 3) {
            const [x, y, z] = [positions[i]! - point.x, positions[i + 1]! - point.y, positions[i + 2]! - point.z];
            const distance = x * x + y * y + z * z;
            if (distance < least) [least, nearest] = [distance, i / 3];
        }
        return nearest;
    }

    drag(point: ArrayLike<number>, from: Place, to: Place): [number, number, number] {
        const pixel = this.pixel(point);
        const { right, up } = this.view.eye;
        const [x, y] = [(to.clientX - from.clientX) * pixel, (from.clientY - to.clientY) * pixel];
        return [right.x * x + up.x * y, right.y * x + up.y * y, right.z * x + up.z * y];
    }

    pixel(point: ArrayLike<number>): number {
        const { width, height } = this.view.picture({ clientX: -1 });
        return this.view.eye.pixel(point, width, height);
    }

    showRing(hit: Hit, radius: number): void {
        this.#ring.show(hit, radius);
        this.view.redraw();
    }

    hideRing(): void {
        if (!this.#ring.object.visible) return;
        this.#ring.object.visible = false;
        this.view.redraw();
    }
}
