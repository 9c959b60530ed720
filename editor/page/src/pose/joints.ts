// Joints that no axis reads: three angles each, relative to rest. Created when the list is opened.
import type { Joint } from "@exemplar/runtime";
import type { App } from "../core/app";
import { h } from "../core/dom";
import { normalised, type Rotation } from "../core/rotation";
import { filterField } from "./filter";
import type { Row } from "./dial";
import { angleFields, wholeAngles } from "./turn";

const jointRow = (app: App, joint: Joint): Row => {
    const get = (): Rotation => normalised(app.stage.pose.jointFromRest(joint.index));
    const set = (q: Rotation): void => app.pose((pose) => pose.turnJoint(joint.index, q));
    const toRest = (): void => set([0, 0, 0, 1]);
    const fields = angleFields(joint.name, wholeAngles, get, set);
    return {
        name: joint.name,
        element: h("div", { class: "axis joint", "data-joint": joint.name, onfocusin: () => app.chooseJoint(joint.name) },
            h("button", { class: "name", title: `${joint.name}: double click for its rest`, ondblclick: toRest,
                onkeydown: (event: KeyboardEvent) => event.key === "Enter" && toRest() }, joint.name),
            ...fields.elements),
        update: () => fields.show(get()),
    };
};

/** The list, folded; null if axes read every joint. */
export const jointsPart = (app: App): { element: HTMLElement; update(): void } | null => {
    const { rig } = app.stage;
    const read = new Set(rig.inputs.map((input) => input.joint));
    const joints = rig.joints.filter((joint) => !read.has(joint.index));
    if (!joints.length) return null;
    let rows: Row[] = [];
    const update = (): void => {
        if (element.open) for (const row of rows) row.update();
    };
    const element = h("details", { class: "joints", ontoggle: () => {
        if (element.open && !rows.length) {
            rows = joints.map((joint) => jointRow(app, joint));
            if (rows.length > 12) element.append(filterField("Filter joints", rows));
            element.append(...rows.map((row) => row.element));
        }
        update();
    } }, h("summary", { title: "Joints that no axis reads: angles from rest, in degrees" },
        `Joints (${joints.length})`));
    return { element, update };
};
