// The pose: every input of the rig, by hand and by number. Created again with each rig, and updated every frame.
import type { Input } from "@exemplar/runtime";
import type { App } from "../core/app";
import { h } from "../core/dom";
import { dialRow, type Row } from "./dial";
import { drivenRow } from "./driven";
import { filterField } from "./filter";
import { jointsPart } from "./joints";
import { trianglePart } from "./triangle";
import { turnRow } from "./turn";

const FILTER_FROM = 13; // inputs

const rowOf = (app: App, input: Input): Row =>
    input.kind === "scalar" ? dialRow(app, input) : input.kind === "driver" ? drivenRow(app, input) : turnRow(app, input);

interface Group {
    name: string | null;
    inputs: Input[];
}

/** A layer that corrects one joint and has its name: a heading would only say it twice. */
const isJoint = ({ name, inputs }: Group): boolean => inputs.length === 1 && inputs[0]!.name === name && inputs[0]!.joint >= 0;

/** Puts such groups, if there are several in a row, under one heading. */
const joinJoints = (groups: readonly Group[]): Group[] => {
    const joined: Group[] = [];
    let last: Group | null = null; // of joints
    groups.forEach((group, i) => {
        if (!isJoint(group)) last = null;
        else if (last) return void last.inputs.push(...group.inputs);
        else if (groups[i + 1] && isJoint(groups[i + 1]!)) last = group = { name: "joints", inputs: [...group.inputs] };
        joined.push(group);
    });
    return joined;
};

/** Inputs by the first layer that has them, in the order of the file, as in the map and the lists. A texture that
 * follows the form's axes is not the one to name them. */
const groupsOf = (app: App): Group[] => {
    const { layers, inputs } = app.stage.rig;
    const owner = (input: Input): string | null => {
        const having = layers.filter((layer) => layer.inputs.some((i) => i.index === input.index));
        return (having.find((layer) => layer.domain !== "pixels") ?? having[0])?.name ?? null;
    };
    const names = [...new Set(inputs.map(owner))];
    const groups = names.map((name) => ({ name, inputs: inputs.filter((input) => owner(input) === name) }));
    return groups.length > 1 ? joinJoints(groups) : [{ name: null, inputs: [...inputs] }];
};

const goBy = (app: App, by: number): void => {
    const examples = (app.layer?.examples ?? []).filter((example) => !example.muted);
    if (!examples.length) return;
    const at = examples.findIndex((example) => example.name === app.selection.example);
    const next = examples[at < 0 ? (by > 0 ? 0 : examples.length - 1) : (at + by + examples.length) % examples.length]!;
    app.select({ example: next.name, pseudo: null });
    app.goTo(app.selection.layer, next.name);
};

const addCommands = (app: App, root: HTMLElement): void => {
    const focusFirst = (): void => {
        const part = root.closest("details");
        if (part) part.open = true;
        root.querySelector<HTMLElement>(".axis:not([hidden]) :is(input, canvas, select)")?.focus();
    };
    app.commands.add(
        { id: "pose-first", label: "Go to the first slider of the pose", group: "Pose", keys: ["G"], run: focusFirst },
        { id: "example-before", label: "Go to the previous example", group: "Pose", keys: [","], run: () => goBy(app, -1) },
        { id: "example-after", label: "Go to the next example", group: "Pose", keys: ["."], run: () => goBy(app, 1) },
    );
};

export const axesPanel = (app: App): HTMLElement => {
    const root = h("div", { class: "axes" });
    let part: HTMLDetailsElement | null = null; // the part of the column that contains the panel
    requestAnimationFrame(() => {
        part = root.closest("details");
        part?.addEventListener("toggle", () => update());
    });
    let rows: Row[] = [];
    let joints: ReturnType<typeof jointsPart> = null;
    const triangle = trianglePart(app);

    const build = (): void => {
        const groups = groupsOf(app).map((group) => ({ ...group, rows: group.inputs.map((input) => rowOf(app, input)) }));
        rows = groups.flatMap((group) => group.rows);
        joints = jointsPart(app);
        root.replaceChildren(
            ...(rows.length >= FILTER_FROM ? [filterField("Filter axes", rows)] : []),
            ...groups.map((group) =>
                h("div", { class: "group" }, group.name !== null && h("h3", {}, group.name),
                    ...group.rows.map((row) => row.element))),
            ...(rows.length ? [] : [h("p", { class: "none" }, app.stage.rig.joints.length ? "This rig has no axes: its joints move it." : "This rig has no axes.")]),
            triangle.element,
            ...(joints ? [joints.element] : []),
        );
        triangle.rebuild();
        update();
    };
    const update = (): void => {
        if (part && !part.open) return; // folded: not visible
        for (const row of rows) row.update();
        joints?.update();
    };
    // Keep the focus when a new rig comes: an edit elsewhere may rebuild while someone uses a slider.
    const shape = (): string => JSON.stringify([app.stage.rig.inputs, app.stage.rig.joints,
        app.stage.rig.layers.map((layer) => [layer.name, layer.inputs.map((input) => input.index)])]);
    let built = shape();
    app.on("rig", () => {
        const now = shape();
        if (now === built) triangle.rebuild();
        else build();
        built = now;
    });
    app.on("frame", update);
    addCommands(app, root);
    build();
    return root;
};
