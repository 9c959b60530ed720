// Weights of two settings over one axis, one graph above the other on the same scales: a curve per example, the
// selected one strong, parts below 0 and above 1 filled. The other axes are at the pose.
import type { Input, Layer } from "@exemplar/runtime";
import type { App } from "../core/app";
import { coloursOf, type Colours } from "../core/colours";
import { h, setText, showNumber } from "../core/dom";
import { offsetsOf } from "../core/project";
import { weigherOf } from "../core/weighers";

const SAMPLES = 200;
const BEYOND = 0.15; // of the range, shown on either side
const MOST = 12; // curves drawn; above, only the selected example's and the largest ones
const QUICK = 8; // milliseconds: curves that take longer, of many examples, wait until nothing moves
const PATIENCE = 150; // milliseconds without a frame
const LARGEST = 2; // weights farther than this from 0 to 1 are cut off
const EDGE = { left: 30, right: 4, top: 4, bottom: 4 };

interface Curves {
    xs: number[];
    /** [samples][examples] */
    weights: Float64Array;
    count: number;
    /** The lowest and highest weight inside the range of the axis. */
    span: [least: number, most: number];
}

const sampled = (app: App, layer: Layer, input: Input): Curves => {
    const { pose } = app.stage;
    const at = layer.inputs.flatMap((i) => (i.kind === "driver" ? [] : pose.get(i.index)));
    const offset = offsetsOf(layer)[layer.inputs.findIndex((i) => i.index === input.index)]!;
    const margin = BEYOND * (input.max - input.min);
    const step = (input.max - input.min + 2 * margin) / SAMPLES;
    const xs = Array.from({ length: SAMPLES + 1 }, (_, i) => input.min - margin + i * step);
    const points = new Float64Array(xs.length * layer.dimension);
    xs.forEach((x, i) => {
        points.set(at, i * layer.dimension);
        points[i * layer.dimension + offset] = x;
    });
    const [weights, count] = [layer.weightsGrid(points, xs.length), layer.examples.length];
    let [least, most] = [Infinity, -Infinity];
    weights.forEach((weight, i) => {
        const x = xs[Math.floor(i / count)]!;
        if (x >= input.min && x <= input.max) [least, most] = [Math.min(least, weight), Math.max(most, weight)];
    });
    return { xs, weights, count, span: [least, most] };
};

/** The scale of both graphs. */
const scaleOf = (curves: readonly Curves[]): [number, number] => [
    Math.max(-LARGEST, Math.min(-0.15, ...curves.map(({ span }) => span[0] - 0.05))),
    Math.min(1 + LARGEST, Math.max(1.15, ...curves.map(({ span }) => span[1] + 0.05))),
];

/** The examples to draw, the selected one last. */
const drawn = ({ weights, count }: Curves, selected: number): number[] => {
    const peaks = Array.from({ length: count }, (_, k) => {
        let peak = 0;
        for (let i = k; i < weights.length; i += count) peak = Math.max(peak, Math.abs(weights[i]!));
        return [k, peak] as const;
    });
    const all = peaks.sort((a, b) => b[1] - a[1]).slice(0, MOST).map(([k]) => k).filter((k) => k !== selected);
    return selected < 0 ? all : [...all, selected];
};

const draw = (canvas: HTMLCanvasElement, curves: Curves, span: [number, number], selected: number, input: Input, at: number, colours: Colours): void => {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height) return;
    const ratio = devicePixelRatio;
    const [w, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== tall) [canvas.width, canvas.height] = [w, tall];
    const context = canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { xs, weights, count } = curves;
    const box = { left: EDGE.left, top: EDGE.top, width: width - EDGE.left - EDGE.right, height: height - EDGE.top - EDGE.bottom };
    const toX = (x: number): number => box.left + ((x - xs[0]!) / (xs[SAMPLES]! - xs[0]!)) * box.width;
    const toY = (y: number): number => box.top + ((span[1] - y) / (span[1] - span[0])) * box.height;
    context.clearRect(0, 0, width, height);
    context.fillStyle = colours.ground;
    context.fillRect(toX(input.min), box.top, toX(input.max) - toX(input.min), box.height);

    context.font = `10px ${colours.font}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const line = (y: number, colour: string): void => {
        context.strokeStyle = colour;
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(box.left, Math.round(toY(y)) + 0.5);
        context.lineTo(box.left + box.width, Math.round(toY(y)) + 0.5);
        context.stroke();
    };
    context.fillStyle = colours.quiet;
    for (const y of [0, 1]) {
        line(y, colours.line);
        context.fillText(String(y), box.left - 5, toY(y));
    }
    // The ends of the scale, if there is room beside 0 and 1.
    for (const y of span) {
        const edge = y === span[0] ? box.top + box.height - 5 : box.top + 5;
        if (Math.min(Math.abs(edge - toY(0)), Math.abs(edge - toY(1))) > 11) context.fillText(showNumber(Number(y.toFixed(1))), box.left - 5, edge);
    }

    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
    const trace = (k: number): void => {
        context.beginPath();
        xs.forEach((x, i) => context.lineTo(toX(x), toY(weights[i * count + k]!)));
    };
    const outside = (k: number, from: number, above: boolean): void => {
        context.save();
        context.beginPath();
        context.rect(box.left, above ? box.top : toY(from), box.width, above ? toY(from) - box.top : box.top + box.height - toY(from));
        context.clip();
        trace(k);
        context.lineTo(box.left + box.width, toY(from));
        context.lineTo(box.left, toY(from));
        context.closePath();
        context.globalAlpha = 0.25;
        context.fillStyle = colours.bad;
        context.fill();
        context.restore();
    };
    for (const k of drawn(curves, selected)) {
        if (selected < 0 || k === selected) {
            outside(k, 0, false);
            outside(k, 1, true);
        }
        trace(k);
        context.globalAlpha = selected < 0 ? 0.9 : k === selected ? 1 : 0.4;
        context.strokeStyle = k === selected ? colours.accent : colours.quiet;
        context.lineWidth = k === selected ? 2 : 1.25;
        context.stroke();
    }
    context.globalAlpha = 0.8;
    context.strokeStyle = colours.accent;
    context.lineWidth = 1;
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(toX(at), box.top);
    context.lineTo(toX(at), box.top + box.height);
    context.stroke();
    context.restore();
};

const spanWords = ([least, most]: Curves["span"]): string => {
    const show = (value: number): string => value.toFixed(2).replace(/^-0\.00$/, "0.00").replace("-", "\u2212");
    return `${show(least)} to ${show(most)}`;
};

/** The graphs, with a choice of the axis if there are several. */
export const comparedCurves = (app: App) => {
    const axis = h("select", { "aria-label": "Axis of the curves", title: "The axis that the curves go along", onchange: () => app.invalidate() });
    const [names, canvases] = [["A", "B"].map(() => h("figcaption", {})), ["A", "B"].map((name) => h("canvas", { role: "img", "data-curves": name.toLowerCase() }))];
    const ends = h("p", { class: "ends", "aria-hidden": "true" }, h("span"), h("span"), h("span"));
    const element = h("div", { class: "curves", hidden: true }, axis, ...canvases.map((canvas, i) => h("figure", {}, names[i]!, canvas)), ends);
    let [took, later] = [0, 0];
    const look = (): void => {
        const { compare, stage, other } = app;
        const layers = compare && other ? [stage.layerOf(app.tree, compare.layer), other.layerOf(app.tree, compare.layer)] : [];
        const [a, b] = layers;
        const inputs = a && b && a.kind.hasPoints && b.kind.hasPoints ? a.inputs.filter(({ kind }) => kind === "scalar") : [];
        element.hidden = inputs.length === 0 || app.compareRefused !== null;
        if (element.hidden || !a || !b || !element.checkVisibility()) return;
        const start = performance.now();
        const key = JSON.stringify(inputs.map(({ name }) => name));
        if (axis.dataset["of"] !== key) {
            axis.dataset["of"] = key;
            axis.replaceChildren(...inputs.map(({ name }) => h("option", { value: name }, `weights along ${name}`)));
        }
        axis.hidden = inputs.length === 1;
        const input = inputs.find(({ name }) => name === axis.value) ?? inputs[0]!;
        const curves = [a, b].map((layer) => sampled(app, layer, input));
        const scale = scaleOf(curves);
        const selected = a.examples.findIndex(({ name }) => name === app.selection.example);
        const weighs = [app.tree.layers[compare!.layer]?.weigh, compare!.weigh];
        curves.forEach((one, i) => {
            const words = `${"AB"[i]}: ${weigherOf(weighs[i]).name}, ${spanWords(one.span)}`;
            setText(names[i]!, words);
            canvases[i]!.setAttribute("aria-label", `Weights of ${words}, along ${input.name}`);
            draw(canvases[i]!, one, scale, selected, input, app.stage.pose.get(input.index) as number, coloursOf());
        });
        const range = input.max - input.min;
        const said = [showNumber(input.min, range), input.unit ? `${input.name} (${input.unit})` : input.name, showNumber(input.max, range)];
        said.forEach((text, i) => setText(ends.children[i] as HTMLElement, text));
        took = performance.now() - start;
    };
    return {
        element,
        update(): void {
            clearTimeout(later);
            if (took <= QUICK || element.hidden || !app.compare) look();
            else later = window.setTimeout(look, PATIENCE);
        },
    };
};
