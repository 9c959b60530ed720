// The usual place of a rig's form: what the view shows at first, and the height of the ground.
import type { Rig } from "@exemplar/runtime";
import type { Stage } from "../core/stage";
import { boxOf, radiusOf } from "../core/form";

const SOME = 16; // samples of a driver's forms

/** Points of the driver in some of its examples, since the driven mesh is near it. */
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

/** Points around the form. From the mesh itself if possible, so that an edit of a space moves neither ground nor
 * camera. The surface may be away from its cage, and then counts instead. */
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
