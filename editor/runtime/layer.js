// A layer of a rig: a space with examples that can be moved, and a weigher that can be changed.
import { find, PLACE, point, refuse } from "./core.js";
import { encode } from "./edits.js";
import { numberOf, settingOf, weighersOf } from "./weighers.js";

// In the order of the library's lists, with the words of project files.
const DOMAINS = ["form", "pixels", "offsets", "trajectory", "displacement"];
const FRAMES = ["rest", "skinned"];
const LIMITS = ["kind", "hold", "fade", "extrapolate"];

const whole = (value, what) => (Number.isInteger(value) ? value : refuse(`${what} must be a whole number`));

/** Edits and settings apply to every pose of the rig, but not to its twins. */
export class Layer {
    #core;
    #rig;
    constructor(core, rig, index) {
        this.#core = core;
        this.#rig = rig;
        this.index = index;
        const place = rig[PLACE];
        const numbers = this.#numbers();
        this.name = core.text(core.c.layer_name(place, index));
        this.domain = DOMAINS[numbers[0]];
        this.inputs = Array.from({ length: numbers[3] }, (_, a) => rig.inputs[core.c.layer_input(place, index, a)]);
        this.dimension = numbers[6];
        this.firstExample = numbers[7];
        this.texture = numbers[8] < 0 ? null : core.text(core.c.texture_name(place, numbers[8]));
        this.frame = FRAMES[numbers[9]];
        this.examples = Array.from({ length: numbers[4] }, (_, k) => ({
            index: k,
            name: core.text(core.c.example_name(place, index, k)),
        }));
    }

    #numbers() {
        const { c } = this.#core;
        return this.#core.numbers(Int32Array, 11, (at) => c.layer_numbers(this.#rig[PLACE], this.index, at));
    }

    /** The table entry of its weigher. */
    get kind() {
        return weighersOf(this.#core)[this.#numbers()[2]];
    }
    get weigher() {
        return this.kind.name;
    }
    get pseudoCount() {
        return this.#numbers()[5];
    }
    get edited() {
        return this.#numbers()[10] !== 0;
    }
    get muted() {
        return this.#numbers()[1] !== 0;
    }
    set muted(muted) {
        this.#core.c.layer_mute(this.#rig[PLACE], this.index, muted ? 1 : 0);
    }

    // ---- points ----

    #at(index) {
        const place = this.#core.c.layer_point(this.#rig[PLACE], this.index, index);
        return this.#core.copy(Float64Array, place, this.dimension);
    }

    #pseudo(index) {
        const count = this.pseudoCount;
        if (Number.isInteger(index) && index >= 0 && index < count) return index;
        return refuse(`there is no pseudo-example ${index} in the layer "${this.name}": it has ${count}`);
    }

    #point(values) {
        const numbers = point(values, this.dimension, `a point of the layer "${this.name}"`);
        return numbers ?? refuse(`a point of the layer "${this.name}" has ${this.dimension} numbers`);
    }

    /** The current point of an example; null if the axes are the weights. */
    examplePoint(example) {
        return this.#at(find(this.examples, "example", example));
    }

    pseudoPoint(index) {
        return this.#at(this.examples.length + this.#pseudo(index));
    }

    /** A pseudo-example: its point, and either the point it takes weights from or its own weights. */
    pseudo(index) {
        const { c } = this.#core;
        const at = this.pseudoPoint(index);
        const read = (place) => c.layer_pseudo(this.#rig[PLACE], this.index, index, place);
        const [from, weights] = this.#core.numbers(Uint32Array, 2, read) ?? this.#core.fail();
        return {
            at,
            from: this.#core.copy(Float64Array, from, this.dimension),
            weights: this.#core.copy(Float64Array, weights, this.examples.length),
        };
    }

    /** The distance between two points as the layer's weigher measures it. */
    distance(a, b) {
        const points = [this.#point(a), this.#point(b)];
        return this.#core.lend(points, (p, q) => this.#core.c.layer_distance(this.#rig[PLACE], this.index, p, q));
    }

    // ---- weights ----

    /** The weights of the examples at a point of the space, whatever the pose. */
    weights(at) {
        return this.weightsGrid(this.#point(at), 1);
    }

    /** The same at many points: [count][examples]. */
    weightsGrid(points, count) {
        const length = whole(count, "the number of points") * this.dimension;
        const numbers = points instanceof Float64Array ? points : Float64Array.from(points);
        if (numbers.length !== length)
            refuse(`${count} points of the layer "${this.name}" need ${length} numbers, not ${numbers.length}`);
        return this.#core.lend([numbers], (from) =>
            this.#core.numbers(Float64Array, count * this.examples.length, (to) =>
                this.#core.c.layer_weigh(this.#rig[PLACE], this.index, count, from, to),
            ),
        );
    }

    /** The condition number of the weigher's system; costs as much as the solve. */
    condition() {
        const read = (at) => this.#core.c.layer_condition(this.#rig[PLACE], this.index, at);
        return (this.#core.numbers(Float64Array, 1, read) ?? this.#core.fail())[0];
    }

    /** The ridge of the layer, the condition number without it, and the point that caused an automatic ridge. */
    get ridgeAdded() {
        const read = (at) => this.#core.c.layer_ridge(this.#rig[PLACE], this.index, at);
        const [ridge, condition, blamed, falloff] = this.#core.numbers(Float64Array, 4, read);
        return { ridge, condition, point: blamed, falloff };
    }

    /** Falloffs of the points of a gaussian layer, [points][axes], 0 for the default; null for others. */
    get falloffs() {
        const place = this.#core.c.layer_falloffs(this.#rig[PLACE], this.index);
        const points = this.examples.length + this.pseudoCount;
        return this.#core.copy(Float64Array, place, points * this.inputs.length);
    }

    // ---- edits ----

    /** Applies several edits in order and solves once: all or none. */
    edit(edits) {
        const pseudos = Array.from({ length: this.pseudoCount }, (_, i) => this.pseudoPoint(i));
        const { name, examples, dimension } = this;
        const list = Array.from(edits);
        const { words, values } = encode(list, { name, examples, dimension, axes: this.inputs.length, pseudos });
        if (list.length === 0) return;
        const rig = this.#rig[PLACE];
        this.#core.lend([words, values], (...places) => {
            if (!this.#core.c.layer_edit(rig, this.index, list.length, ...places)) this.#core.fail(examples);
        });
    }

    /** Moves an example, by name or number, to a point: one number per axis, four for a rotation. */
    moveExample(example, at) {
        this.edit([{ move: example, at }]);
    }

    /** Adds a pseudo-example at a point, with the weights of another point or its own; returns its number. */
    addPseudo(pseudo) {
        this.edit([{ addPseudo: pseudo }]);
        return this.pseudoCount - 1;
    }

    /** Moves a pseudo-example, and changes the source of its weights if given. */
    movePseudo(index, { at, from, weights }) {
        this.edit([{ movePseudo: index, at, from, weights }]);
    }

    removePseudo(index) {
        this.edit([{ removePseudo: index }]);
    }

    /** Sets the reach of an example of a gaussian layer along each axis, in distances of the space. */
    setFalloff(example, falloff) {
        const index = find(this.examples, "example", example);
        this.edit([{ falloff: index, value: falloff ?? refuse("setFalloff needs a number, or one number per axis") }]);
    }

    /** The weigher's settings in the words of project files: its kind and the parameters of that kind. */
    get settings() {
        const { name, parameters } = this.kind;
        const read = (at) => this.#core.c.layer_settings(this.#rig[PLACE], this.index, at);
        const values = this.#core.numbers(Float64Array, parameters.length, read);
        return { kind: name, ...Object.fromEntries(parameters.map((p, i) => [p.name, settingOf(p, values[i])])) };
    }

    /** Changes the weigher of the same points and pseudo-examples. Missing parameters keep their values, or get the
     * default. */
    set(settings) {
        const weighers = weighersOf(this.#core);
        const now = this.settings;
        const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
        const kind = find(weighers, "kind of weigher", given.kind ?? now.kind);
        const { name, parameters } = weighers[kind];
        const known = ["kind", ...parameters.map((p) => p.name)];
        const unknown = Object.keys(given).find((key) => !known.includes(key));
        if (unknown !== undefined) refuse(`a ${name} weigher has no setting "${unknown}"; known: ${known.join(", ")}`);
        const values = parameters.map((p) => numberOf(p, given[p.name] ?? now[p.name] ?? p.preset));
        this.#core.lend([Float64Array.from(values)], (at) => {
            if (!this.#core.c.layer_set(this.#rig[PLACE], this.index, kind, at)) this.#core.fail();
        });
    }

    /** The behaviour beyond the outermost points on each axis, in the words of project files; "kind" if the project
     * says nothing. */
    get limits() {
        const read = (at) => this.#core.c.layer_limits(this.#rig[PLACE], this.index, at);
        const numbers = this.#core.numbers(Int32Array, this.inputs.length, read) ?? this.#core.fail();
        return Array.from(numbers, (number) => LIMITS[number]);
    }

    /** Changes them: one word for each axis. */
    setLimits(limits) {
        const words = Array.from(limits);
        if (words.length !== this.inputs.length)
            refuse(`the layer "${this.name}" needs ${this.inputs.length} limits, one for each axis, not ${words.length}`);
        const numbers = words.map((word) => LIMITS.indexOf(word));
        const bad = numbers.indexOf(-1);
        if (bad >= 0) refuse(`there is no limit ${JSON.stringify(words[bad])}; known: ${LIMITS.join(", ")}`);
        this.#core.lend([Int32Array.from(numbers)], (at) => {
            if (!this.#core.c.layer_limit(this.#rig[PLACE], this.index, at)) this.#core.fail();
        });
    }

    /** Undoes all edits and settings. */
    reset() {
        this.#core.c.layer_reset(this.#rig[PLACE], this.index);
    }

    // ---- contents of examples ----

    // The numbers that `body` writes for an example of this layer; null if it has none.
    #numbersOf(example, Type, length, body) {
        const index = find(this.examples, "example", example);
        return this.#core.numbers(Type, length, (at) => body(this.#rig[PLACE], this.index, index, at));
    }

    /** The mask, a number per source vertex; null if there is none, or if the build has multiplied it in. */
    mask() {
        const read = (at) => this.#core.c.layer_mask(this.#rig[PLACE], this.index, at);
        return this.#core.numbers(Float32Array, this.#rig.vertexCount, read);
    }

    /** The displacement of each source vertex by an example, mask included; null for pixels. */
    delta(example) {
        const index = find(this.examples, "example", example);
        if (this.domain === "pixels") return null;
        return this.#numbersOf(index, Float32Array, 3 * this.#rig.vertexCount, this.#core.c.example_delta);
    }

    /** An example's image as RGBA rows; null unless the layer is of pixels. */
    image(example) {
        const index = find(this.examples, "example", example);
        if (this.texture === null) return null;
        const { width, height } = this.#rig.textures.find(({ name }) => name === this.texture);
        const place = this.#core.c.example_image(this.#rig[PLACE], this.index, index);
        return this.#core.copy(Uint8ClampedArray, place, 4 * width * height);
    }

    /** The driver's vertices at an example, three numbers each; null unless a driver weighs the layer. */
    driverForm(example) {
        const place = this.#core.c.example_driver(this.#rig[PLACE], this.index, find(this.examples, "example", example));
        return this.#core.copy(Float32Array, place, 3 * (this.#rig.driver?.vertexCount ?? 0));
    }

    /** The joints at an example that a driver weighs, ten numbers each; null if they are at rest. */
    exampleJoints(example) {
        return this.#numbersOf(example, Float32Array, 10 * this.#rig.joints.length, this.#core.c.example_joints);
    }
}
