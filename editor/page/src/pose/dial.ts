// One number of the pose: its name, a slider over its range with a mark at rest, and a field for exact values. The
// field may go outside the range if the axis is not clamped.
import type { Input } from "@exemplar/runtime";
import type { App } from "../core/app";
import { h } from "../core/dom";
import { rangeWords } from "../core/refuse";
import { digitsOf, numberField, stepBy, stepOf } from "./slider";

/** A row of the panel; `update` shows its part of the pose. */
export interface Row {
    readonly element: HTMLElement;
    readonly name: string;
    update(): void;
}

const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

/** The unit to display: that of the file, or degrees for an angle. */
const unitOf = (app: App, input: Input): string => {
    if (input.unit) return /^deg(ree)?s?$/i.test(input.unit) ? "°" : input.unit;
    const axis = app.tree.layers.flatMap((layer) => layer.space).find(({ name }) => name === input.name);
    return axis?.["angle"] !== undefined ? "°" : "";
};

export const dialRow = (app: App, input: Input): Row => {
    const range = input.max - input.min;
    const rest = input.rest as number;
    const unit = unitOf(app, input);
    const set = (value: number): void => app.pose((pose) => pose.set(input.index, value));
    const value = (): number => app.stage.pose.get(input.index) as number;
    const step = stepOf(range);

    const slider = h("input", {
        type: "range", min: input.min, max: input.max, step: "any", "aria-label": input.name,
        title: `${input.name}: ${input.min} to ${input.max}${unit && ` ${unit}`}`.replace(" °", "°"),
        oninput: () => set(slider.valueAsNumber),
    });
    stepBy(slider, KEYS, (steps) =>
        set(Math.min(input.max, Math.max(input.min, Number((value() + steps * step).toPrecision(10))))));
    const field = numberField({ label: `${input.name}, exact value`, digits: digitsOf(range), step,
        allowed: ` ${rangeWords(input.min, input.max)}`, taken: value }, set);
    const name = h("button", {
        class: "name", title: `${input.name}: double click for its rest value, ${rest}`,
        ondblclick: () => set(rest),
        onkeydown: (event: KeyboardEvent) => event.key === "Enter" && set(rest),
    }, input.name);
    const at = Math.min(1, Math.max(0, (rest - input.min) / range));
    const track = h("span", { class: "track", style: `--rest: ${at}` }, slider);

    let shown = NaN;
    let thumb = ""; // slider value set for it
    return {
        name: input.name,
        element: h("div", { class: "axis dial", "data-input": input.name }, name, track, field.element,
            h("span", { class: unit.length > 2 ? "unit long" : "unit", title: unit }, unit)),
        update: () => {
            const now = value();
            field.show(now);
            if (now === shown && slider.value === thumb) return; // if a pose was refused, only the thumb has moved
            shown = now;
            slider.value = String(now);
            thumb = slider.value;
        },
    };
};
