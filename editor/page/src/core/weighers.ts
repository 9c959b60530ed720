// The kinds of weigher, from the runtime's table.
import type { Weigher, WeigherSettings } from "@exemplar/runtime";
import type { Weigh } from "./project";

let weighers: readonly Weigher[] = [];

/** Called once, before anything reads the table. */
export const setWeighers = (table: readonly Weigher[]): void => {
    weighers = table;
};

export const allWeighers = (): readonly Weigher[] => weighers;

/** The table entry of a layer's weigher; the first one by default. An unknown kind gets the first entry too: the
 * server refuses it with a message. */
export const weigherOf = (weigh: Weigh | undefined): Weigher =>
    weighers.find(({ name }) => name === weigh?.kind) ?? weighers[0]!;

/** The settings of `weigh`, with defaults for the missing ones. */
export const settingsOf = (weigh: Weigh | undefined): WeigherSettings => {
    const { name, parameters } = weigherOf(weigh);
    const given = parameters.map((p) => [p.name, (weigh?.[p.name] as WeigherSettings[string] | undefined) ?? p.preset]);
    return { kind: name, ...Object.fromEntries(given) };
};
