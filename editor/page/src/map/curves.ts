// Weights over one axis: a curve per example, the chosen one strong, with its part below 0 filled.
import type { Colours } from "../core/colours";
import { NEGATIVE } from "./heat";
import type { MapState } from "./state";

const SAMPLES = 160;

export const drawCurves = (context: CanvasRenderingContext2D, state: MapState, colours: Colours): void => {
    const { layer, plane, chosenWeight } = state;
    const points = new Float64Array((SAMPLES + 1) * layer!.dimension);
    const xs = Array.from({ length: SAMPLES + 1 }, (_, i) => plane.x.min + ((plane.x.max - plane.x.min) * i) / SAMPLES);
    xs.forEach((x, i) => points.set(state.pointAt(x, 0), i * layer!.dimension));
    const weights = layer!.weightsGrid(points, SAMPLES + 1);
    const count = layer!.examples.length;
    const trace = (k: number): void => {
        context.beginPath();
        xs.forEach((x, i) => {
            const [px, py] = plane.toPixel(x, weights[i * count + k]!);
            if (i === 0) context.moveTo(px, py);
            else context.lineTo(px, py);
        });
    };
    const [, zero] = plane.toPixel(0, 0);
    const { left, width, top, height } = plane.box;
    layer!.examples.forEach(({ index }) => {
        if (index === chosenWeight) return;
        trace(index);
        context.strokeStyle = colours.quiet;
        context.globalAlpha = chosenWeight !== null && chosenWeight >= 0 ? 0.35 : 0.8;
        context.lineWidth = 1.25;
        context.stroke();
    });
    const strong = chosenWeight === null || chosenWeight < 0 ? layer!.examples.map((e) => e.index) : [chosenWeight];
    for (const k of strong) {
        if (!Array.from(xs, (_, i) => weights[i * count + k]!).some((weight) => weight < NEGATIVE)) continue;
        context.save();
        context.beginPath();
        context.rect(left, zero, width, top + height - zero);
        context.clip();
        trace(k);
        context.lineTo(left + width, zero);
        context.lineTo(left, zero);
        context.closePath();
        context.globalAlpha = 0.3;
        context.fillStyle = colours.bad;
        context.fill();
        context.restore();
    }
    if (chosenWeight !== null && chosenWeight >= 0) {
        trace(chosenWeight);
        context.globalAlpha = 1;
        context.strokeStyle = colours.accent;
        context.lineWidth = 2;
        context.stroke();
    }
    context.globalAlpha = 1;
};
