// Keeps the pose, the view, the selection and the folded parts when the page is loaded again. All of it goes by names, and
// whatever the project no longer has is left out.
import type { App, Display } from "../core/app";
import { keepState, stateOf } from "../core/kept";

interface Kept {
    inputs: { [name: string]: number | number[] };
    joints: { [name: string]: number[] };
    camera: number[] | null;
    layer: string | null;
    example: string | null;
    display: Partial<Display>;
    /** Parts by their headings: true if open. */
    parts: { [title: string]: boolean };
    /** Scroll positions of the columns. */
    scrolls: number[];
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const isNumbers = (value: unknown, size: number): value is number[] =>
    Array.isArray(value) && value.length === size && value.every(isNumber);
const objectOf = (value: unknown): { [key: string]: unknown } =>
    typeof value === "object" && value !== null ? (value as { [key: string]: unknown }) : {};

const parts = (): HTMLDetailsElement[] => [...document.querySelectorAll<HTMLDetailsElement>("details.part")];
const titleOf = (part: HTMLElement): string => part.querySelector("summary")?.textContent ?? "";
const columns = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(".column")];

const read = (app: App): Kept => {
    const { rig, pose } = app.stage;
    return {
        inputs: Object.fromEntries(rig.inputs.filter((input) => input.kind !== "driver")
            .map((input) => [input.name, input.width === 1 ? (pose.get(input.index) as number) : [...(pose.get(input.index) as ArrayLike<number> as number[])]])),
        joints: Object.fromEntries(rig.joints.map((joint) => [joint.name, [...pose.jointFromRest(joint.index)]])),
        camera: app.camera?.read() ?? null,
        layer: app.layer?.name ?? null,
        example: app.selection.example,
        display: { ...app.display },
        parts: Object.fromEntries(parts().map((part) => [titleOf(part), part.open])),
        scrolls: columns().map((column) => column.scrollTop),
    };
};

const takePose = (app: App, kept: { [key: string]: unknown }): void => {
    const { rig, pose } = app.stage;
    const [joints, inputs] = [objectOf(kept["joints"]), objectOf(kept["inputs"])];
    for (const joint of rig.joints) {
        const turn = joints[joint.name];
        if (isNumbers(turn, 4) && Math.abs(Math.hypot(...turn) - 1) < 0.01) pose.turnJoint(joint.index, turn);
    }
    for (const input of rig.inputs) {
        const value = inputs[input.name];
        if (input.kind === "scalar" ? isNumber(value) : input.kind !== "driver" && isNumbers(value, input.width))
            pose.set(input.index, value as number | number[]);
    }
};

const takeDisplay = (app: App, kept: { [key: string]: unknown }): void => {
    const now = app.display as unknown as { [key: string]: unknown };
    const { surface, colour, ...rest } = kept;
    const known = Object.entries(rest).filter(([key, value]) => key in now && typeof value === typeof now[key]);
    Object.assign(app.display, Object.fromEntries(known));
    const { rig, mesh } = app.stage;
    const has = { shaded: true, normals: true, texture: rig.textures.length > 0 && !!mesh.texcoords, material: rig.attachments.includes("looks") };
    if (typeof surface === "string" && has[surface as keyof typeof has]) app.display.surface = surface as Display["surface"];
    if (["none", "weight", "difference", "mask"].includes(colour as string)) app.display.colour = colour as Display["colour"];
};

const take = (app: App, state: unknown): void => {
    const kept = objectOf(state);
    takePose(app, kept);
    takeDisplay(app, objectOf(kept["display"]));
    const layer = app.tree.layers.findIndex(({ name }) => name === kept["layer"]);
    if (layer >= 0) app.select({ layer, example: typeof kept["example"] === "string" ? kept["example"] : null, pseudo: null });
    if (Array.isArray(kept["camera"]) && kept["camera"].every(isNumber)) app.camera?.take(kept["camera"]);
    const open = objectOf(kept["parts"]);
    for (const part of parts()) if (typeof open[titleOf(part)] === "boolean") part.open = open[titleOf(part)] as boolean;
    const scrolls = kept["scrolls"];
    requestAnimationFrame(() => requestAnimationFrame(() => columns().forEach((column, i) => {
        if (Array.isArray(scrolls) && isNumber(scrolls[i])) column.scrollTop = scrolls[i];
    })));
    app.emit("display");
    app.emit("pose");
};

/** Takes what was kept, and keeps it again when the page goes. */
export const remember = (app: App): void => {
    const state = stateOf(app.name);
    if (state) take(app, state);
    addEventListener("pagehide", () => keepState(app.name, read(app)));
};
