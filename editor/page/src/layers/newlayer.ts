// The dialog for a new layer: its name, the kind of its examples, and its axes.
import type { App } from "../core/app";
import { showDialog } from "../core/dialog";
import { h } from "../core/dom";
import { isRefused, rangeWords, refuse } from "../core/refuse";
import type { Axis } from "../core/project";
import { sentenceOf } from "../core/words";
import { AxisRows } from "./newaxis";
import { addLayer, TEXTURES, type NewLayer } from "./newlayer_tree";

const SHAPES = [
    ["offsets", "offsets: correctives on top of earlier layers"],
    ["positions", "positions: complete forms at rest"],
    ["unposed", "un-posed: complete forms, sculpted on the posed skeleton"],
    ["trajectory", "trajectories: forms that are far apart"],
    ["pixels", "pixels: images of a texture"],
] as const;

const nameRefusal = (app: App, layer: NewLayer): string | null => {
    if (layer.name === "") return "Give the layer a name.";
    if (app.tree.layers.some((other) => other.name === layer.name))
        return `Another layer is called '${layer.name}': type another name.`;
    return null;
};

const refusalOf = (layer: NewLayer): string | null => {
    if (layer.space.length === 0) return "A layer needs at least one axis.";
    const names = layer.space.map((axis) => axis.name);
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined) return `Two axes are called '${twice}'.`;
    if (layer.shape === "pixels" && !layer.file) return "A layer of pixels starts with an image: choose a PNG file.";
    if (layer.shape === "trajectory" && !layer.file) return "Trajectories run from the mesh to a form: choose its file.";
    return null;
};

/** The reason why the name or the range of an axis is not valid; null if they are. */
const axisName = (app: App, axis: Axis): string | null => {
    if (axis.name === "") return "Give each axis a name.";
    if (/[=,"]/.test(axis.name) || axis.name === "time" || axis.name.startsWith("joint:"))
        return `'${axis.name}' cannot be the name of an axis: use no = , or ", and neither 'time' nor 'joint:…'.`;
    const known = app.tree.layers.flatMap((layer) => layer.space).find((other) => other.name === axis.name);
    if (known && JSON.stringify(known) !== JSON.stringify(axis))
        return `There is already an axis '${axis.name}': choose it from the list, or use another name.`;
    return null;
};
const axisRange = (axis: Axis): string | null => {
    if (axis.rotation || axis.driver) return null;
    const { min = NaN, max = NaN, rest } = axis;
    if (!Number.isFinite(min) || !Number.isFinite(max)) return "Type a number for both ends of the range.";
    if (!(min < max)) return `The range must go from a smaller number to a larger one: not from ${min} to ${max}.`;
    if (typeof rest === "number" && !(rest >= min && rest <= max)) return `Its value at rest must be a number ${rangeWords(min, max)}.`;
    return null;
};

export const showNewLayer = (app: App): void => {
    const hasJoints = app.stage.rig.joints.length > 0;
    const shapes = SHAPES.filter(([shape]) => shape !== "unposed" || hasJoints);
    const name = h("input", { type: "text", "aria-label": "Name of the layer", autofocus: true, spellcheck: "false" });
    const shape = h("select", { "aria-label": "Kind of examples" }, ...shapes.map(([value, text]) => h("option", { value }, text)));
    const texture = h("select", { "aria-label": "Texture" }, ...TEXTURES.map((value) => h("option", { value }, value.replace("_", " "))));
    const file = h("input", { type: "file", "aria-label": "File" });
    const [textureRow, fileRow] = [h("label", {}, h("span", {}, "Texture"), texture), h("label", {}, h("span", {}, "File"), file)];
    const axes = new AxisRows(app);
    const refused = h("p", { class: "bad", role: "alert" });
    const update = (): void => {
        const [pixels, path] = [shape.value === "pixels", shape.value === "trajectory"];
        textureRow.hidden = !pixels;
        fileRow.hidden = !pixels && !path;
        file.accept = pixels ? ".png,.jpg,.jpeg" : ".obj,.ply,.off,.glb,.gltf";
    };
    shape.addEventListener("change", update);
    update();

    const add = async (): Promise<void> => {
        const space = axes.read();
        const layer: NewLayer = {
            name: name.value.trim(),
            shape: shape.value as NewLayer["shape"],
            texture: texture.value,
            space,
            file: fileRow.hidden ? null : (file.files?.[0] ?? null),
        };
        refuse(name, nameRefusal(app, layer));
        const isGood = axes.refuse((axis) => axisName(app, axis), axisRange);
        refused.textContent = refusalOf(layer) ?? "";
        if (refused.textContent || isRefused(name) || !isGood) return;
        submit.disabled = true; // a second press would add a second layer
        try {
            await addLayer(app, layer);
            dialog.close();
        } catch (error) {
            refused.textContent = sentenceOf(error);
        }
        submit.disabled = false;
    };
    const submit = h("button", { class: "primary", type: "submit" }, "Add layer");
    const form = h(
        "form",
        {},
        h("label", {}, h("span", {}, "Name"), name),
        h("label", {}, h("span", {}, "Examples"), shape),
        textureRow,
        fileRow,
        h("h2", {}, "Axes"),
        axes.element,
        refused,
        h(
            "p",
            { class: "actions" },
            submit,
            h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
        ),
    );
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        void add();
    });
    const dialog = showDialog("newlayer", "New layer", h("h1", {}, "New layer"), form);
};
