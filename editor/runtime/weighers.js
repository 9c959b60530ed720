// Kinds of weigher and their parameters, from the library's tables.
import { refuse } from "./core.js";

const readParameter = (core, kind, index) => {
    const { c } = core;
    const [preset, least, most, above, from, to, count] =
        core.numbers(Float64Array, 7, (at) => c.parameter_numbers(kind, index, at));
    const parameter = {
        name: core.text(c.parameter_name(kind, index)),
        help: core.text(c.parameter_help(kind, index)),
        type: core.text(c.parameter_type(kind, index)),
        least,
        most,
        above: above !== 0,
        usual: [from, to],
        words: Array.from({ length: count }, (_, word) => ({
            name: core.text(c.word_name(kind, index, word)),
            help: core.text(c.word_help(kind, index, word)),
        })),
    };
    return { ...parameter, preset: settingOf(parameter, preset) };
};

const readWeighers = (core) =>
    Array.from({ length: core.c.weigher_count() }, (_, kind) => {
        const [count, hasPoints, hasFalloffs, hasSets, hasCondition, isDriven] =
            core.numbers(Int32Array, 6, (at) => core.c.weigher_numbers(kind, at));
        return {
            name: core.text(core.c.weigher_name(kind)),
            help: core.text(core.c.weigher_help(kind)),
            parameters: Array.from({ length: count }, (_, index) => readParameter(core, kind, index)),
            hasPoints: hasPoints !== 0,
            hasFalloffs: hasFalloffs !== 0,
            hasSets: hasSets !== 0,
            hasCondition: hasCondition !== 0,
            isDriven: isDriven !== 0,
        };
    });

const read = new WeakMap();
/** All kinds, in the library's order; the first is the default. */
export const weighersOf = (core) => {
    if (!read.has(core)) read.set(core, readWeighers(core));
    return read.get(core);
};

/** Converts the library's number of a parameter to the value in project files. */
export const settingOf = ({ type, words }, number) =>
    type === "switch" ? number !== 0 : type === "choice" ? words[number].name : number;

/** Converts a value back; refuses one of another type. */
export const numberOf = ({ name, type, words }, setting) => {
    if (type === "switch") return setting ? 1 : 0;
    if (type === "choice") {
        const index = words.findIndex((word) => word.name === setting);
        const names = () => words.map((word) => word.name).join(", ");
        return index >= 0 ? index : refuse(`there is no ${name} ${JSON.stringify(setting)}; known: ${names()}`);
    }
    if (type === "whole" && !Number.isInteger(setting)) refuse(`${name} must be a whole number`);
    return typeof setting === "number" ? setting : refuse(`${name} must be a number`);
};
