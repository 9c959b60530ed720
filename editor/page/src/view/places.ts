// The usual place of a rig's form: what the view shows at first, and the height of the ground.
import type { Rig, Surface } from "@exemplar/runtime";
import type { Stage } from "../core/stage";
import { boxOf, radiusOf } from "../core/form";

const SOME = 16; // samples of a driver's forms, and of examples

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

/** The form at rest on a surface. */
const atRest = (surface: Surface): Surface => {
    const rest = surface.rig.pose();
    surface.evaluate(rest);
    rest.dispose();
    return surface;
};

/** Points around the form. From the mesh itself if possible, so that an edit of a space moves neither ground nor
 * camera. The surface may be away from its cage, and then counts instead. */
const usual = (surface: Surface): Float32Array => {
    const mesh = surface.rig.restPositions();
    const shown = surface.positions;
    const [a, b] = [boxOf(mesh), boxOf(shown)];
    const [small, large] = [radiusOf(a), radiusOf(b)].sort((p, q) => p - q);
    const away = Math.hypot(...[0, 1, 2].map((i) => 0.5 * (a[i]! + a[i + 3]! - b[i]! - b[i + 3]!)));
    return large! < 2 * small! && away < small! ? mesh : shown.slice();
};

/** The form at rest and at its examples, which a page may play, unless they go far away. */
const withExamples = (stage: Stage, rest: Float32Array, surface: Surface): Float32Array => {
    const examples = stage.built.layers.flatMap((layer) => layer.examples.map((example) => ({ layer, example })));
    const step = Math.ceil(examples.length / SOME);
    const box = boxOf(rest);
    const pose = stage.rig.pose();
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

export interface Places {
    /** The box that stands on the ground: of the places around the form, down to the lowest point of what is shown at
     * rest. A cage reaches deeper than its surface. */
    readonly ground: number[];
    /** Points for the first view. */
    first(): Float32Array;
}

/** Measured on a surface without normals and textures, which take longer than all else. */
export const placesOf = (stage: Stage): Places => {
    const { rig } = stage;
    if (rig.driver) {
        const places = drivenPlaces(rig);
        return { ground: boxOf(places), first: () => places };
    }
    const { level } = stage.surface;
    const measured = <T>(measure: (surface: Surface) => T): T => {
        const surface = rig.surface({ level, split: false, normals: false });
        const result = measure(surface);
        surface.dispose();
        return result;
    };
    return measured((surface) => {
        const places = usual(atRest(surface));
        const ground = boxOf(places);
        ground[1] = surface.box[1]!;
        return { ground, first: () => measured((other) => withExamples(stage, places, other)) };
    });
};
