// The weights of the selected layer's examples as bars around a zero line, in the order of the file. With many
// examples, only the largest are shown. Bars move by transforms, and texts change only if they differ.
import type { App } from "../core/app";
import { h } from "../core/dom";

const MOST = 24; // rows
const NOTHING = 0.0005; // smaller weights show as 0.000
const SCALES = [1, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000, 1e4, 1e6];
const LEFT = 0.25; // share of the bar's width for negative weights, at a third of the scale

interface Row {
    readonly element: HTMLButtonElement;
    readonly name: HTMLElement;
    readonly bar: HTMLElement;
    readonly number: HTMLElement;
    example: string;
    text: string;
    scale: number;
}

const shown = (weight: number): string => {
    const text = Math.abs(weight) >= 1000 ? weight.toPrecision(4) : weight.toFixed(3);
    return (Number(text) === 0 ? "0.000" : text).replace("-", "\u2212");
};

/** A scale that fits all weights. */
const scaleOf = (weights: ArrayLike<number>): number => {
    let need = 0;
    for (let k = 0; k < weights.length; k++) need = Math.max(need, weights[k]!, -3 * weights[k]!);
    return SCALES.find((scale) => need <= scale * 1.0005) ?? need;
};

/** The largest in magnitude, in their order, without zeros unless all are zero. */
const largest = (weights: ArrayLike<number>, count: number): number[] => {
    const chosen: number[] = [];
    let least = 0;
    for (let k = 0; k < weights.length; k++) {
        const size = Math.abs(weights[k]!);
        if (chosen.length < count) chosen.push(k);
        else if (size > Math.abs(weights[chosen[least]!]!)) chosen[least] = k;
        else continue;
        if (chosen.length === count)
            for (let i = (least = 0); i < count; i++)
                if (Math.abs(weights[chosen[i]!]!) < Math.abs(weights[chosen[least]!]!)) least = i;
    }
    const some = chosen.filter((k) => Math.abs(weights[k]!) >= NOTHING);
    return (some.length ? some : chosen).sort((a, b) => a - b);
};

export const weightsPanel = (app: App): HTMLElement => {
    const list = h("div", { class: "bars", role: "group", "aria-label": "Weights of the examples" });
    const more = h("p", { class: "more" });
    const sum = h("p", { class: "sum" });
    const rows: Row[] = [];
    let names = ""; // the examples of the rows

    const makeRow = (): Row => {
        const [name, bar, number] = [h("span", { class: "name" }), h("span", { class: "bar" }), h("span", { class: "value" })];
        const element = h("button", { class: "weight",
            onclick: () => app.select({ example: row.example, pseudo: null }),
            ondblclick: () => app.goTo(app.selection.layer, row.example),
            onkeydown: (event: KeyboardEvent) => {
                if (event.key !== "Enter" || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                app.select({ example: row.example, pseudo: null });
                app.goTo(app.selection.layer, row.example);
            },
        }, name, h("span", { class: "track" }, bar), number);
        const row: Row = { element, name, bar, number, example: "", text: "", scale: NaN };
        return row;
    };
    const setRow = (row: Row, example: string, muted: boolean): void => {
        row.example = example;
        row.name.textContent = example;
        row.element.title = `${example}${muted ? ", muted" : ""}\nDouble click or Enter: go there`;
        row.element.classList.toggle("muted", muted);
        row.element.setAttribute("aria-pressed", String(example === app.selection.example));
        row.text = "";
        row.scale = NaN;
    };
    const setCount = (count: number): void => {
        while (rows.length > count) rows.pop()!.element.remove();
        while (rows.length < count) {
            rows.push(makeRow());
            list.append(rows.at(-1)!.element);
        }
    };
    const showWeight = (row: Row, weight: number | null, scale: number): void => {
        const text = weight === null ? "muted" : shown(weight);
        if (text !== row.text) {
            row.text = text;
            row.number.textContent = text;
            row.bar.classList.toggle("below", (weight ?? 0) < 0);
        }
        const length = (Math.abs(weight ?? 0) / scale) * (1 - LEFT);
        if (length === row.scale) return;
        row.scale = length;
        row.bar.style.transform = `scaleX(${length.toFixed(4)})`;
    };

    const update = (): void => {
        const { layer, rigLayer } = app;
        const all = app.stage.surface.weights;
        const weights = rigLayer ? all.subarray(rigLayer.firstExample, rigLayer.firstExample + rigLayer.examples.length) : [];
        const count = rigLayer?.examples.length ?? 0;
        const few = (layer?.examples.length ?? 0) <= MOST;
        const chosen = few ? null : largest(weights, MOST);
        // Few examples: all of the file, muted ones too. Many: the largest of those in the rig.
        const wanted = few
            ? (layer?.examples ?? []).map(({ name, muted }) => ({ name, muted: !!muted }))
            : chosen!.map((k) => ({ name: rigLayer!.examples[k]!.name, muted: false }));
        const key = wanted.map(({ name, muted }) => `${muted ? "-" : "+"}${name}`).join("\n") + `\n${app.selection.example}`;
        if (key !== names) {
            names = key;
            setCount(wanted.length);
            wanted.forEach(({ name, muted }, i) => setRow(rows[i]!, name, muted));
        }
        const scale = scaleOf(weights);
        let next = 0;
        rows.forEach((row, i) => {
            const { muted } = wanted[i]!;
            const k = chosen ? chosen[i]! : muted ? -1 : next++;
            showWeight(row, k < 0 || k >= count ? (muted ? null : 0) : weights[k]!, scale);
        });
        showRest(weights, chosen);
        let total = 0;
        for (let k = 0; k < count; k++) total += weights[k]!;
        const text = `Sum ${shown(total)}${scale > 1 ? ` \u00b7 a full bar is ${scale}` : ""}`;
        if (sum.textContent !== text) sum.textContent = text;
    };
    const showRest = (weights: ArrayLike<number>, chosen: number[] | null): void => {
        let text = "";
        const rest = chosen ? weights.length - chosen.length : 0;
        if (chosen && rest > 0) {
            const least = Math.min(...chosen.map((k) => Math.abs(weights[k]!)));
            text = chosen.length < MOST ? `and ${rest} more, below 0.001` : `and ${rest} more, none above ${shown(least)}`;
        }
        if (more.textContent !== text) more.textContent = text;
        more.hidden = text === "";
    };
    app.on("frame", update);
    app.on("selection", update);
    return h("div", { class: "weights" }, list, more, sum);
};
