// Where a rig's form usually is: what the view sees when it opens, and what the ground lies below.
import type { Rig } from "@exemplar/runtime";
import type { Stage } from "../core/stage";
import { boxOf, radiusOf } from "../core/form";

const SOME = 16; // of a driver's forms

/** Where a driver is in some of its examples: what it drives is there too. */
const drivenPlaces = (rig: Rig): Float32Array => {
    const keys = rig.layers.flatMap((layer) => layer.examples.map(({ index }) => ({ layer, index })));
    const step = Math.ceil(keys.length / SOME);
    const forms = keys
        .filter((_, i) => i % step === 0)
        .map(({ layer, index }) => layer.driverForm(index))
        .filter((form) => form !== null);
    const size = 3 * rig.driver!.vertexCount;
    const all = new Float32Array(size * forms.length);
    forms.forEach((form, i) => all.set(form, size * i));
    return all;
};

/** Points all around it. By the mesh itself where that will do, so that an edit of a space moves neither the ground nor
 * the eye; a surface may be elsewhere than its cage. */
export const usualPlaces = ({ rig, surface }: Stage): Float32Array => {
    if (rig.driver) return drivenPlaces(rig);
    const mesh = rig.restPositions();
    const rest = rig.pose();
    const shown = surface.evaluate(rest).positions;
    rest.dispose();
    const [a, b] = [boxOf(mesh), boxOf(shown)];
    const [small, large] = [radiusOf(a), radiusOf(b)].sort((p, q) => p - q);
    const away = Math.hypot(...[0, 1, 2].map((i) => 0.5 * (a[i]! + a[i + 3]! - b[i]! - b[i + 3]!)));
    return large! < 2 * small! && away < small! ? mesh : shown.slice();
};
