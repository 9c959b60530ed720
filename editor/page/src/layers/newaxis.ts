// Fields for the axes of a new layer: dials, readings of joints, or axes of other layers.
import type { App } from "../core/app";
import { h } from "../core/dom";
import { refuse } from "../core/refuse";
import type { Axis } from "../core/project";
import { weigherOf } from "../core/weighers";

const READS = [
    ["angle x", "angle about x"],
    ["angle y", "angle about y"],
    ["angle z", "angle about z"],
    ["full", "full rotation"],
    ["swing x", "swing: direction of x"],
    ["swing y", "swing: direction of y"],
    ["swing z", "swing: direction of z"],
] as const;

interface AxisRow {
    element: HTMLElement;
    name: HTMLInputElement;
    /** The end of the range. */
    max: HTMLInputElement;
    read(): Axis;
}

const number = (label: string, value: number): [field: HTMLInputElement, whole: HTMLLabelElement] => {
    const field = h("input", { type: "number", step: "any", value });
    return [field, h("label", {}, label, field)];
};

export class AxisRows {
    readonly element: HTMLElement;
    #rows: AxisRow[] = [];
    #list = h("div", { class: "axisrows" });

    constructor(readonly app: App) {
        this.element = h("div", {}, this.#list, h("button", { type: "button", onclick: () => this.#add() }, "Add an axis"));
        this.#add();
    }

    /** The axes as typed. Names may be empty and ranges invalid. */
    read(): Axis[] {
        return this.#rows.map((row) => row.read());
    }

    /** Marks the names and ranges that are refused; false if there are any. */
    refuse(ofName: (axis: Axis) => string | null, ofRange: (axis: Axis) => string | null): boolean {
        let isGood = true;
        for (const row of this.#rows) {
            const axis = row.read();
            const [name, range] = [ofName(axis), ofRange(axis)];
            refuse(row.name, name, row.element);
            refuse(row.max, range, row.element);
            isGood &&= name === null && range === null;
        }
        return isGood;
    }

    #known(): Axis[] {
        const all = this.app.tree.layers.filter((layer) => weigherOf(layer.weigh).hasPoints).flatMap((layer) => layer.space);
        return all.filter((axis, i) => !axis.driver && all.findIndex((other) => other.name === axis.name) === i);
    }

    #add(): void {
        const known = this.#known();
        const { joints } = this.app.stage.rig;
        const what = h(
            "select",
            { "aria-label": "Kind of axis" },
            h("option", { value: "dial" }, "a new dial"),
            joints.length > 0 && h("option", { value: "joint" }, "a joint"),
            ...known.map((axis, i) => h("option", { value: String(i) }, `the axis ${axis.name}`)),
        );
        const name = h("input", { type: "text", "aria-label": "Name of the axis", placeholder: "name", spellcheck: "false" });
        const joint = h("select", { "aria-label": "Joint" }, ...joints.map((j) => h("option", { value: j.name }, j.name)));
        const reads = h("select", { "aria-label": "Reading of the joint" }, ...READS.map(([value, text]) => h("option", { value }, text)));
        const [[min, minimum], [max, maximum], [rest, atRest]] = [number("from", 0), number("to", 1), number("at rest", 0)];
        const remove = h("button", { type: "button", title: "Remove this axis", "aria-label": "Remove this axis", onclick: () => this.#remove(row) }, "Remove");
        const update = (): void => {
            const [dial, ofJoint] = [what.value === "dial", what.value === "joint"];
            const angle = reads.value.startsWith("angle");
            name.hidden = !dial && !ofJoint;
            joint.hidden = reads.hidden = !ofJoint;
            minimum.hidden = maximum.hidden = !(dial || (ofJoint && angle));
            atRest.hidden = !dial;
        };
        what.addEventListener("change", () => {
            if (what.value === "joint") [min.value, max.value] = ["-90", "90"];
            update();
        });
        reads.addEventListener("change", update);
        update();
        const read = (): Axis => {
            if (what.value !== "dial" && what.value !== "joint") return known[Number(what.value)]!;
            const range = { min: min.valueAsNumber, max: max.valueAsNumber };
            if (what.value === "dial")
                return { name: name.value.trim(), ...range, ...(Number.isFinite(rest.valueAsNumber) ? { rest: rest.valueAsNumber } : {}) };
            const [kind, about] = reads.value.split(" ");
            const axis = { name: name.value.trim() || joint.value, joint: joint.value };
            if (kind === "angle") return { ...axis, angle: about, ...range };
            return { ...axis, rotation: kind as "full" | "swing", ...(about ? { about } : {}) };
        };
        for (const field of [min, rest]) field.addEventListener("input", () => refuse(max, null));
        const row: AxisRow = { name, max, element: h("div", { class: "axisrow" }, what, joint, reads, name, minimum, maximum, atRest, remove), read };
        this.#rows.push(row);
        this.#list.append(row.element);
        if (this.#rows.length > 1) what.focus();
    }

    #remove(row: AxisRow): void {
        if (this.#rows.length === 1) return;
        this.#rows = this.#rows.filter((r) => r !== row);
        row.element.remove();
        this.element.querySelector("button")?.focus();
    }
}
