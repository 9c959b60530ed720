// Things in words, for messages.

/** What went wrong, as a sentence. */
export const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Sentences one after the other, each with its full stop. */
export const sentences = (...all: string[]): string => all.map((one) => (/[.!?…]$/.test(one) ? one : `${one}.`)).join(" ");

/** "1 example", "1,200 examples". */
export const count = (n: number, one: string, many = `${one}s`): string => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/** What a pseudo-example is called: by its name, or counted from 1. */
export const pseudoName = (pseudo: { name?: string } | undefined, index: number): string =>
    pseudo?.name ?? `pseudo-example ${index + 1}`;

/** A small length, to two figures. */
export const millimetres = (metres: number): string => `${Number((1000 * metres).toPrecision(2))} mm`;

/** The name of a file without its ending. */
export const stemOf = (file: string): string => file.replace(/\.[^./]+$/, "") || file;
