// The driver's form in the pose: a blend of two examples.
import type { Input, Layer, Pose } from "@exemplar/runtime";
import type { App } from "../core/app";
import { blendPoses } from "../core/blend";
import { h } from "../core/dom";
import type { ProjectExample } from "../core/project";
import type { Row } from "./dial";

/** The layer that weighs a driver, and its index in the tree. */
const layerOf = (app: App, input: Input): { layer: Layer; index: number } | null => {
    const layer = app.stage.rig.layers.find((l) => l.inputs.some((i) => i.index === input.index));
    const index = app.tree.layers.findIndex((l) => l.name === layer?.name);
    return layer && index >= 0 ? { layer, index } : null;
};

/** The choice, by input name, since the row is created again with each rig. */
interface Choice {
    names: [string, string];
    t: number;
}
const choices = new WeakMap<App, Map<string, Choice>>();
const choiceOf = (app: App, input: Input): Choice => {
    let all = choices.get(app);
    if (!all) choices.set(app, (all = new Map()));
    let chosen = all.get(input.name);
    if (!chosen) all.set(input.name, (chosen = { names: ["", ""], t: 0 }));
    return chosen;
};

export const drivenRow = (app: App, input: Input): Row => {
    const found = layerOf(app, input);
    const chosen = choiceOf(app, input);
    const examples = (): ProjectExample[] =>
        app.tree.layers[found?.index ?? -1]?.examples.filter((example) => !example.muted) ?? [];
    const choice = (what: string): HTMLSelectElement =>
        h("select", { "aria-label": `${input.name}: ${what}`, title: `${input.name}: ${what}`, onchange: () => go() });
    const [from, to] = [choice("from this example"), choice("to this example")];
    let listed = "";
    // Keep the choice while its examples exist.
    const list = (): void => {
        const names = examples().map((example) => example.name);
        if (names.join("\n") === listed) return;
        listed = names.join("\n");
        [from, to].forEach((select, i) => {
            const value = chosen.names[i]!;
            select.replaceChildren(...names.map((name) => h("option", { value: name }, name)));
            select.selectedIndex = names.includes(value) ? names.indexOf(value) : Math.min(i, names.length - 1);
            chosen.names[i] = select.value;
        });
    };
    list();
    const slider = h("input", { type: "range", min: 0, max: 1, step: 0.01, value: chosen.t,
        "aria-label": `${input.name}: between the two examples`, oninput: () => go() });

    let poses: Pose[] | null = null;
    const go = (): void => {
        chosen.names = [from.value, to.value];
        const t = (chosen.t = slider.valueAsNumber);
        const ends = chosen.names.map((name) => examples().find((example) => example.name === name));
        if (!found || ends.some((example) => !example)) return;
        if (poses?.[0]?.rig !== app.stage.rig) poses = [app.stage.rig.pose(), app.stage.rig.pose()];
        const { layer } = found;
        ends.forEach((example, i) => app.stage.setExample(poses![i]!, layer.name, example!));
        app.pose((pose) => blendPoses(pose, poses!, [1 - t, t]));
    };
    return {
        name: input.name,
        element: h("div", { class: "axis driven", "data-input": input.name },
            h("span", { class: "name", title: `${input.name}: the driver's form` }, input.name), from, slider, to),
        update: list,
    };
};
