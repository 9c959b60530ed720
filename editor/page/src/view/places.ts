// The usual place of a rig's form: what the view shows at first, and the height of the ground.
import type { Rig } from "@exemplar/runtime";
import type { Stage } from "../core/stage";
import { boxOf, radiusOf } from "../core/form";

const SOME = 16; // samples of a driver's forms

/** Points of the driver in some of its examples, since the driven mesh is near it; or at rest, if examples have no
 * driver: those of a layer that follows motion. */
const drivenPlaces = (rig: Rig): Float32Array => {
    const keys = rig.layers.flatMap((layer) => layer.examples.map(({ index }) => ({ layer, index })));
    const step = Math.ceil(keys.length / SOME);
    const forms = keys
        .filter((_, i) => i % step === 0)
        .map(({ layer, index }) => layer.driverForm(index))
        .filter((form) => form !== null);
    if (!forms.length) {
        const rest = rig.pose();
        forms.push(rest.driver.slice());
        rest.dispose();
    }
    const size = 3 * rig.driver!.vertexCount;
    const all = new Float32Array(size * forms.length);
    forms.forEach((form, i) => all.set(form, size * i));
    return all;
};

const WIDER = 1.6; // times the rest form's radius, at most, for the first view

/** Points for the first view: the form at rest and at its examples, which a page may play, unless they go far away. */
export const firstPlaces = (stage: Stage): Float32Array => {
    const { rig, built, surface } = stage;
    const rest = usualPlaces(stage);
    if (rig.driver) return rest;
    const examples = built.layers.flatMap((layer) => layer.examples.map((example) => ({ layer, example })));
    const step = Math.ceil(examples.length / SOME);
    const box = boxOf(rest);
    const pose = rig.pose();
    for (const { layer, example } of examples.filter((_, i) => i % step === 0)) {
        stage.setExample(pose, layer.name, example);
        const there = surface.evaluate(pose).box;
        for (let i = 0; i < 6; i++) box[i] = (i < 3 ? Math.min : Math.max)(box[i]!, there[i]!);
    }
    pose.dispose();
    if (!(radiusOf(box) < WIDER * radiusOf(boxOf(rest)))) return rest;
    // All of the form, and the middles of the sides of the box, whose corners are mostly empty.
    const middle = [0, 1, 2].map((i) => 0.5 * (box[i]! + box[i + 3]!));
    const sides = box.flatMap((value, i) => middle.map((at, axis) => (axis === i % 3 ? value : at)));
    const all = new Float32Array(rest.length + sides.length);
    all.set(rest);
    all.set(sides, rest.length);
    return all;
};

/** The box that stands on the ground: of the places around the form, down to the lowest point of what is shown at rest.
 * A cage reaches deeper than its surface. */
export const groundBox = (stage: Stage): number[] => {
    const { rig, surface } = stage;
    const box = boxOf(usualPlaces(stage));
    if (rig.driver) return box;
    const rest = rig.pose();
    box[1] = surface.evaluate(rest).box[1]!;
    rest.dispose();
    return box;
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
