// The kinds of weigher, as the runtime's table has them: what a project's layer is weighed by.
import type { Weigher, WeigherSettings } from "@exemplar/runtime";
import type { Weigh } from "./project";

let weighers: readonly Weigher[] = [];

/** Once, before anything else asks. */
export const setWeighers = (table: readonly Weigher[]): void => {
    weighers = table;
};

export const allWeighers = (): readonly Weigher[] => weighers;

/** What is known of how something is weighed; without a kind it is the first. A kind that this runtime has not is taken
 * for the first too: the server refuses it with a sentence. */
export const weigherOf = (weigh: Weigh | undefined): Weigher =>
    weighers.find(({ name }) => name === weigh?.kind) ?? weighers[0]!;

/** The settings of `weigh`, with what it leaves out. */
export const settingsOf = (weigh: Weigh | undefined): WeigherSettings => {
    const { name, parameters } = weigherOf(weigh);
    const given = parameters.map((p) => [p.name, (weigh?.[p.name] as WeigherSettings[string] | undefined) ?? p.preset]);
    return { kind: name, ...Object.fromEntries(given) };
};
