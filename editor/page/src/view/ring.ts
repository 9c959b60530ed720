// The radius of a brush: a ring on the surface, drawn over everything else.
import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineLoop, Vector3 } from "three";
import type { Hit } from "../core/app";

const PARTS = 64;
const FORWARD = new Vector3(0, 0, 1);

/** A circle of radius 1 in the x y plane. */
export const circle = (): BufferGeometry => {
    const points = new Float32Array(3 * PARTS);
    for (let i = 0; i < PARTS; i++) {
        const angle = (2 * Math.PI * i) / PARTS;
        points.set([Math.cos(angle), Math.sin(angle), 0], 3 * i);
    }
    return new BufferGeometry().setAttribute("position", new BufferAttribute(points, 3));
};

export class BrushRing {
    readonly object = new LineLoop(circle(), new LineBasicMaterial({ color: 0xf07818 })); // visible on clay and on both backgrounds

    constructor() {
        this.object.visible = this.object.frustumCulled = false;
    }

    show({ point, normal }: Hit, radius: number): void {
        const up = new Vector3(...normal);
        this.object.quaternion.setFromUnitVectors(FORWARD, up);
        this.object.position.set(...point).addScaledVector(up, 0.02 * radius);
        this.object.scale.setScalar(radius);
        this.object.visible = true;
    }
}
