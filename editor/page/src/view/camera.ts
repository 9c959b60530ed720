// The camera: a target, a distance and two angles, in perspective or orthographic. The field of view applies to the
// smaller side of the picture, so a narrow picture shows as much as a wide one.
import { OrthographicCamera, PerspectiveCamera, Vector3 } from "three";
import { boxOf, radiusOf } from "../core/form";

const TAN = Math.tan((15 * Math.PI) / 180);
const MARGIN = 1.16;

export class Eye {
    readonly target = new Vector3();
    distance = 3;
    /** Radians about the vertical axis; 0 looks from +z, at the front of a form. */
    yaw = 0.2;
    /** Radians above the horizon. */
    pitch = 0.14;
    orthographic = false;
    /** True until someone moves the camera: it then still follows the size of the picture. */
    isFirst = true;
    /** Radius of the scene, for the near and far planes. */
    radius = 1;
    readonly right = new Vector3();
    readonly up = new Vector3();
    /** The direction from the target to the eye. */
    readonly back = new Vector3();
    #perspective = new PerspectiveCamera();
    #parallel = new OrthographicCamera();

    get camera(): PerspectiveCamera | OrthographicCamera {
        return this.orthographic ? this.#parallel : this.#perspective;
    }

    #axes(): void {
        const [sy, cy, sp, cp] = [Math.sin(this.yaw), Math.cos(this.yaw), Math.sin(this.pitch), Math.cos(this.pitch)];
        this.right.set(cy, 0, -sy);
        this.back.set(sy * cp, sp, cy * cp);
        this.up.crossVectors(this.back, this.right);
    }

    /** Tangents of half the fields of view, horizontally and vertically. */
    #tangents(aspect: number): [number, number] {
        return aspect < 1 ? [TAN, TAN / aspect] : [TAN * aspect, TAN];
    }

    /** Updates the camera for a picture with this aspect ratio (width over height). */
    aim(aspect: number): PerspectiveCamera | OrthographicCamera {
        this.#axes();
        const { camera, distance, radius } = this;
        const [across, up] = this.#tangents(aspect);
        camera.far = distance + 16 * radius;
        camera.near = this.orthographic ? distance - 16 * radius : Math.max(0.01 * distance, distance - 8 * radius);
        if (camera instanceof PerspectiveCamera) {
            camera.fov = (2 * Math.atan(up) * 180) / Math.PI;
            camera.aspect = aspect;
        } else {
            camera.left = -(camera.right = across * distance);
            camera.bottom = -(camera.top = up * distance);
        }
        camera.position.copy(this.target).addScaledVector(this.back, distance);
        camera.rotation.set(-this.pitch, this.yaw, 0, "YXZ");
        camera.updateMatrixWorld();
        camera.updateProjectionMatrix();
        return camera;
    }

    /** Width in metres of a pixel at a point, in a picture of this size. */
    pixel(point: ArrayLike<number>, width: number, height: number): number {
        const { target, back, distance } = this;
        const depth = this.orthographic
            ? distance
            : distance -
              (point[0]! - target.x) * back.x -
              (point[1]! - target.y) * back.y -
              (point[2]! - target.z) * back.z;
        return (2 * Math.max(depth, 1e-3 * distance) * this.#tangents(width / height)[1]) / height;
    }

    /** Fits all these points, keeping the direction of the view. */
    frame(positions: ArrayLike<number>, aspect: number): void {
        this.#axes();
        const { target, right, up, back } = this;
        const box = boxOf(positions);
        this.radius = radiusOf(box);
        target.set(0.5 * (box[0]! + box[3]!), 0.5 * (box[1]! + box[4]!), 0.5 * (box[2]! + box[5]!));
        const [across, high] = this.#tangents(aspect);
        let distance = 0.1 * this.radius;
        for (let i = 0; i < positions.length; i += 3) {
            const [x, y, z] = [positions[i]! - target.x, positions[i + 1]! - target.y, positions[i + 2]! - target.z];
            const side = Math.abs(x * right.x + y * right.y + z * right.z) / across;
            const rise = Math.abs(x * up.x + y * up.y + z * up.z) / high;
            const near = this.orthographic ? 0 : x * back.x + y * back.y + z * back.z;
            distance = Math.max(distance, near + MARGIN * Math.max(side, rise));
        }
        this.distance = distance;
    }

    /** The camera as numbers, null until someone moves it; and the same again. */
    read(): number[] | null {
        const { target, distance, yaw, pitch, orthographic } = this;
        return this.isFirst ? null : [target.x, target.y, target.z, distance, yaw, pitch, Number(orthographic)];
    }
    take([x, y, z, distance, yaw, pitch, orthographic]: readonly number[]): void {
        if (orthographic === undefined || !(distance! > 0)) return;
        this.target.set(x!, y!, z!);
        [this.distance, this.yaw, this.pitch, this.orthographic, this.isFirst] = [distance!, yaw!, pitch!, orthographic === 1, false];
    }

    orbit(yaw: number, pitch: number): void {
        this.isFirst = false;
        this.yaw += yaw;
        this.pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, this.pitch + pitch));
    }

    /** Shifts by metres in the plane of the picture. */
    pan(x: number, y: number): void {
        this.isFirst = false;
        this.#axes();
        this.target.addScaledVector(this.right, x).addScaledVector(this.up, y);
    }

    /** Zooms (closer below 1) towards a place in the plane of the target, in metres from the centre. */
    dolly(factor: number, x = 0, y = 0): void {
        const before = this.distance;
        this.distance = Math.max(1e-3 * this.radius, Math.min(40 * this.radius, this.distance * factor));
        const share = 1 - this.distance / before;
        this.pan(x * share, y * share);
    }

    look(yaw: number, pitch: number): void {
        this.isFirst = false;
        // The same view again: switch to the opposite side.
        const same = Math.abs(Math.sin((this.yaw - yaw) / 2)) < 1e-6 && Math.abs(this.pitch - pitch) < 1e-6;
        const pole = Math.abs(pitch) > 1;
        this.yaw = same && !pole ? yaw + Math.PI : yaw;
        this.pitch = same && pole ? -pitch : pitch;
    }
}
