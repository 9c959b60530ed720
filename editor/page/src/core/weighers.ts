// The kinds of weigher, from the runtime's table, and layers of a project with other settings.
import type { Weigher, WeigherSettings } from "@exemplar/runtime";
import { setLayer, type Project, type Weigh } from "./project";

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

// ---- new trees from old ones ----

const withoutReach = <T extends object>(point: T): T => {
    if (!("falloff" in point) && !("metric" in point)) return point;
    const { falloff: _, metric: __, ...rest } = point as T & { falloff?: unknown; metric?: unknown };
    return rest as T;
};

/** A layer with these settings. Points keep their own falloffs only if the kind has falloffs. */
export const weighed = (tree: Project, index: number, weigh: Weigh): Project =>
    setLayer(tree, index, (layer) => {
        const changed = { ...layer, weigh };
        if (weigherOf(weigh).hasFalloffs) return changed;
        if (layer.examples.some((e) => withoutReach(e) !== e)) changed.examples = layer.examples.map(withoutReach);
        if (layer.pseudo?.some((p) => withoutReach(p) !== p)) changed.pseudo = layer.pseudo.map(withoutReach);
        return changed;
    });

/** A calm layer, as `exemplar check --mend` makes it. */
export const calmed = (tree: Project, index: number): Project => weighed(tree, index, { kind: "calm" });
