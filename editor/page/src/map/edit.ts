// Project edits made on the map: moves of examples and pseudo-examples, and new pseudo-examples.
import type { Layer } from "@exemplar/runtime";
import { setExample, setLayer, setPseudo, type Place, type Project, type ProjectPseudo } from "../core/project";
import { placeWith } from "./axes";
import type { MapState, Mark, Taken } from "./state";

type Change = (tree: Project) => Project;

/** Moves the mark, or the place where its form is taken, to values of the shown axes. */
export const moveTo = (state: MapState, mark: Mark, end: "at" | "from", x: number, y: number): Change => {
    const layer = state.app.selection.layer;
    const values = state.values(x, y);
    if (mark.kind === "example")
        return (tree) =>
            setExample(tree, layer, mark.name, (example) => ({
                ...example,
                at: placeWith(example.at ?? {}, mark.point, values),
            }));
    const point = end === "from" ? mark.from!.point : mark.point;
    return (tree) =>
        setPseudo(tree, layer, mark.index, (pseudo) => ({
            ...pseudo,
            [end]: placeWith((end === "from" ? pseudo.from : pseudo.at) ?? {}, point, values),
        }));
};

/** Takes the form at a point of the map, as the weights of the examples there. */
export const takeForm = (state: MapState, x: number, y: number): Taken => {
    const layer = state.layer!;
    const point = state.pointAt(x, y);
    const weights = layer.weights(point);
    const rounded = layer.examples.map((example, k) => [example.name, Number(weights[k]!.toFixed(7))] as const);
    return { x, y, point, weights: Object.fromEntries(rounded.filter(([, weight]) => weight !== 0)) };
};

const placeOf = (layer: Layer, state: MapState, x: number, y: number): Place => {
    const point = state.pointAt(x, y);
    const every = state.coordinates.map((c) => [c, c.read(point)] as const);
    const named: Place = {};
    const all = placeWith({}, point, every);
    for (const input of layer.inputs) if (all[input.name] !== undefined) named[input.name] = all[input.name]!;
    return named;
};

/** Adds a taken form as a pseudo-example at values of the shown axes; other axes are as in the pose. */
export const placeForm = (state: MapState, taken: Taken, x: number, y: number): Change => {
    state.origins.set(taken.weights, taken.point);
    const pseudo: ProjectPseudo = { at: placeOf(state.layer!, state, x, y), weights: taken.weights };
    return (tree) =>
        setLayer(tree, state.app.selection.layer, (layer) => ({ ...layer, pseudo: [...(layer.pseudo ?? []), pseudo] }));
};
