// Encodes a list of edits of a layer's space for the library: names become numbers, defaults are filled in, and every
// index is checked as of its turn.
import { find, point, refuse } from "./core.js";

const KINDS = { move: 0, movePseudo: 3, addPseudo: 4, removePseudo: 5, falloff: 6 }; // ex_edit_kind
const KEYS = {
    move: ["at"],
    movePseudo: ["at", "from", "weights"],
    addPseudo: [],
    removePseudo: [],
    falloff: ["value"],
};

const kindOf = (edit) => {
    const keys = Object.keys(edit ?? {});
    const [kind, ...others] = keys.filter((key) => key in KINDS);
    if (kind === undefined || others.length > 0)
        refuse(`an edit has one of ${Object.keys(KINDS).join(", ")}; this one has ${keys.join(", ") || "nothing"}`);
    const unknown = keys.find((key) => key !== kind && !KEYS[kind].includes(key));
    if (unknown !== undefined) refuse(`an edit with "${kind}" has no "${unknown}"`);
    return kind;
};

/** The edits as words, six per edit, and values (glue_layer.c). The second argument describes the layer: its name,
 * its examples, the numbers per point, the number of axes, and the points of its pseudo-examples. */
export const encode = (edits, { name, examples, dimension, axes, pseudos }) => {
    const words = [];
    const values = [];
    const places = Array.from(pseudos);
    const what = (key) => `"${key}" in an edit of the layer "${name}"`;
    const put = (numbers) => {
        if (!numbers) return -1;
        const start = values.length;
        for (const number of numbers) values.push(number); // a call has no room for very many arguments
        return start;
    };
    const pseudo = (index) => {
        if (Number.isInteger(index) && index >= 0 && index < places.length) return index;
        return refuse(`there is no pseudo-example ${index} in the layer "${name}": it has ${places.length}`);
    };
    const falloff = (value) => {
        const numbers = typeof value === "number" ? new Array(axes).fill(value) : value;
        return put(point(numbers, axes, what("falloff")));
    };
    const source = ({ from, weights }) => [
        put(point(from, dimension, what("from"))),
        put(point(weights, examples.length, what("weights"))),
    ];

    const kinds = {
        move: ({ move, at }) => {
            const index = find(examples, "example", move);
            const to = point(at, dimension, what("at")) ?? refuse('an example is moved to a point: give "at"');
            return [index, put(to), -1, -1, -1];
        },
        movePseudo: ({ movePseudo, at, ...drawn }) => {
            const index = pseudo(movePseudo);
            places[index] = point(at, dimension, what("at")) ?? places[index];
            return [index, put(places[index]), ...source(drawn), -1];
        },
        addPseudo: ({ addPseudo }) => {
            const { at, from, weights } = addPseudo ?? {};
            const given = (value) => value !== undefined && value !== null;
            if (!given(at) || given(from) === given(weights))
                refuse('a pseudo-example needs "at" and either "from" or "weights"');
            places.push(point(at, dimension, what("at")));
            return [0, put(places.at(-1)), ...source(addPseudo), falloff(addPseudo.falloff)];
        },
        removePseudo: ({ removePseudo }) => {
            const index = pseudo(removePseudo);
            places.splice(index, 1);
            return [index, -1, -1, -1, -1];
        },
        falloff: ({ falloff: of, value }) => {
            const index = typeof of === "string" ? find(examples, "example", of) : of;
            if (!Number.isInteger(index) || index < 0 || index >= examples.length + places.length)
                refuse(`there is no point ${index} in the layer "${name}": it has ${examples.length + places.length}`);
            return [index, -1, -1, -1, falloff(value ?? 0)];
        },
    };
    for (const edit of edits) {
        const kind = kindOf(edit);
        words.push(KINDS[kind], ...kinds[kind](edit));
    }
    return { words: Int32Array.from(words), values: Float64Array.from(values) };
};
