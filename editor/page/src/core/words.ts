// Texts for messages.

/** The message of an error. */
export const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A number with its unit: "30°", "25 years". */
export const withUnit = (text: string | number, unit: string): string => `${text}${unit && unit !== "°" ? " " : ""}${unit}`;

/** Joins sentences, each with a full stop. */
export const sentences = (...all: string[]): string => all.map((one) => (/[.!?…]$/.test(one) ? one : `${one}.`)).join(" ");

/** "1,200". toLocaleString takes as long as half a picture when it is first called. */
export const grouped = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

/** "1 example", "1,200 examples". */
export const count = (n: number, one: string, many = `${one}s`): string => `${grouped(n)} ${n === 1 ? one : many}`;

/** Name of a pseudo-example, or its number counted from 1. */
export const pseudoName = (pseudo: { name?: string } | undefined, index: number): string =>
    pseudo?.name ?? `pseudo-example ${index + 1}`;

/** A small length with two significant digits. */
export const millimetres = (metres: number): string => `${Number((1000 * metres).toPrecision(2))} mm`;

/** A file name without its ending. */
export const stemOf = (file: string): string => file.replace(/\.[^./]+$/, "") || file;
