// Poses: the whole input of a rig.
import { BLOCK, CHILDREN, find, Owned, PLACE, point, refuse, View } from "./core.js";

/** Created by rig.pose(), at rest. */
export class Pose extends Owned {
    #core;
    #rig;
    #inputs;
    #joints;
    #driver;
    constructor(core, rig, sizes) {
        const { c } = core;
        const place = c.pose_open(rig[PLACE]) || core.fail();
        super("pose", place, (at) => {
            rig[CHILDREN].delete(this);
            c.pose_close(at);
        });
        rig[CHILDREN].add(this);
        this.#core = core;
        this.#rig = rig;
        this.#inputs = new View(core, Float64Array, c.pose_inputs(place), sizes.pose);
        this.#joints = new View(core, Float32Array, c.pose_joints(place), 10 * sizes.joints);
        this.#driver = new View(core, Float32Array, c.pose_driver(place), 3 * sizes.driver);
    }

    get rig() {
        return this.#rig;
    }
    /** The dials, as consecutive numbers (input.offset). */
    get inputs() {
        return this[PLACE] && this.#inputs.array;
    }
    /** Local transforms, ten numbers per joint: translation, rotation x y z w, scale. */
    get joints() {
        return this[PLACE] && this.#joints.array;
    }
    /** The driver's vertices, three numbers each; empty if the rig has no driver. */
    get driver() {
        return this[PLACE] && this.#driver.array;
    }

    /** Seconds since the frame before, for clothes that remember. Setting it begins a frame: 0 after a cut. */
    get elapsed() {
        return this.#core.c.pose_elapsed(this[PLACE]);
    }
    set elapsed(seconds) {
        if (!(Number.isFinite(seconds) && seconds >= 0))
            refuse(`"elapsed" is ${seconds}, but needs seconds: a number of at least 0`);
        this.#core.c.pose_elapse(this[PLACE], seconds);
    }

    #input(name) {
        const input = this.#rig.inputs[find(this.#rig.inputs, "input", name)];
        if (input.kind === "driver") refuse(`the input "${input.name}" is a mesh: write its vertices into pose.driver`);
        return input;
    }

    /** Sets an input: a number, or a rotation as x y z w. An input that reads a joint moves that joint. */
    set(name, value) {
        const input = this.#input(name);
        const numbers = point(value, input.width, `the input "${input.name}"`);
        if (!numbers) refuse(`the input "${input.name}" needs a value`);
        this.#core.lend([numbers], (at) => this.#core.c.pose_set(this.#rig[PLACE], this[PLACE], input.index, at));
        return this;
    }

    /** An input as evaluation sees it: a number, or an array of four. */
    get(name) {
        const input = this.#input(name);
        const read = (at) => this.#core.c.pose_get(this.#rig[PLACE], this[PLACE], input.index, at);
        const numbers = this.#core.numbers(Float64Array, input.width, read);
        return input.width === 1 ? numbers[0] : Array.from(numbers);
    }

    /** Changes the given parts of a joint's local transform. */
    setJoint(name, { translation, rotation, scale }) {
        const start = 10 * find(this.#rig.joints, "joint", name);
        const { joints } = this;
        const parts = [
            [point(translation, 3, "a translation"), 0],
            [point(rotation, 4, "a rotation"), 3],
            [point(scale, 3, "a scale"), 7],
        ];
        for (const [values, offset] of parts) if (values) joints.set(values, start + offset);
        return this;
    }

    /** A joint's rotation relative to rest, x y z w. */
    jointFromRest(name) {
        const joint = find(this.#rig.joints, "joint", name);
        const read = (at) => this.#core.c.pose_turned(this.#rig[PLACE], this[PLACE], joint, at);
        return Array.from(this.#core.numbers(Float64Array, 4, read));
    }

    /** Sets a joint's rotation relative to rest. Its translation and scale stay. */
    turnJoint(name, rotation) {
        const joint = find(this.#rig.joints, "joint", name);
        const numbers = point(rotation, 4, "a rotation") ?? refuse("turnJoint needs a rotation, x y z w");
        this.#core.lend([numbers], (at) => this.#core.c.pose_turn(this.#rig[PLACE], this[PLACE], joint, at));
        return this;
    }

    /** The joints' world matrices in evaluation, sixteen numbers each, column by column. */
    worldJoints() {
        const place = this.#core.c.pose_worlds(this.#rig[PLACE], this[PLACE]);
        return this.#core.copy(Float32Array, place, 16 * this.#rig.joints.length) ?? new Float32Array(0);
    }

    /** The inverse of skinning: positions that the skin would move to these at this pose, three numbers per source
     * vertex. */
    unpose(posed, rest) {
        const length = 3 * this.#rig.vertexCount;
        if (!this.#rig.skinning) refuse("unpose needs a rig with a skin");
        if (posed?.length !== length || rest?.length !== length) refuse(`unpose needs two arrays of ${length} numbers`);
        const numbers = this.#core.lend([Float32Array.from(posed), Float32Array.from(rest)], (from, to) =>
            this.#core.numbers(Float64Array, length, (at) =>
                this.#core.c.pose_unpose(this.#rig[PLACE], this[PLACE], from, to, at)));
        return numbers ?? this.#core.fail();
    }

    /** Copies another pose of the rig or of a twin; `elapsed` stays. */
    copy(other) {
        if (!(other instanceof Pose) || other.rig[BLOCK] !== this.#rig[BLOCK])
            refuse("copy needs a pose of the same rig");
        this.inputs.set(other.inputs);
        this.joints.set(other.joints);
        this.driver.set(other.driver);
        return this;
    }

    /** Resets everything to rest; `elapsed` stays. */
    rest() {
        this.#core.c.pose_rest(this.#rig[PLACE], this[PLACE]);
        return this;
    }
}
