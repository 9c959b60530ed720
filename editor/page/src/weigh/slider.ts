// The scale of a parameter's slider: converts its 0 to 1000 to a value, and back.
import type { Parameter } from "@exemplar/runtime";

export interface Slider {
    value(at: number): number;
    at(value: number): number;
}

const tidy = (value: number): number => Number(value.toPrecision(3));

const inFactors = (from: number, to: number): Slider => ({
    value: (at) => tidy(from * (to / from) ** (at / 1000)),
    at: (value) => (1000 * Math.log(Math.max(value, from) / from)) / Math.log(to / from),
});
const inSteps = (from: number, to: number, round: (value: number) => number): Slider => ({
    value: (at) => round(from + ((to - from) * at) / 1000),
    at: (value) => (1000 * (value - from)) / (to - from),
});
/** The same with 0 at its start. */
const fromZero = (slider: Slider): Slider => ({
    value: (at) => (at <= 0 ? 0 : slider.value(at)),
    at: (value) => (value <= 0 ? 0 : slider.at(value)),
});

type Range = Pick<Parameter, "type" | "least" | "most" | "above" | "usual">;

export const sliderOf = ({ type, least, most, above, usual }: Range, examples: number): Slider => {
    const from = usual[0];
    const to = Number.isFinite(usual[1]) ? usual[1] : Math.max(from + 1, Math.min(examples, most));
    if (type === "whole") return inSteps(from, to, Math.round);
    if (!(from > 0 && to > 0)) return inSteps(from, to, tidy);
    return least === 0 && !above ? fromZero(inFactors(from, to)) : inFactors(from, to);
};

export const isInRange = ({ type, least, most, above }: Range, value: number): boolean =>
    Number.isFinite(value) && value <= most && (above ? value > least : value >= least) && (type !== "whole" || Number.isInteger(value));
