// A field whose value is refused keeps what was typed. It is marked, and a sentence beside it says what is allowed, until
// someone types in it again or its value changes elsewhere.
import { h, setText } from "./dom";

const sentences = new WeakMap<HTMLElement, HTMLElement>();
const listened = new WeakSet<HTMLElement>();

export const isRefused = (field: HTMLElement): boolean => field.getAttribute("aria-invalid") === "true";

/** Marks a field, with a sentence at the end of `row`; null takes both away. */
export const refuse = (field: HTMLElement, sentence: string | null, row: Element | null = field.parentElement): void => {
    const said = sentences.get(field) ?? h("p", { class: "refused", role: "alert", id: `refused-${Math.random().toString(36).slice(2)}` });
    sentences.set(field, said);
    if (sentence === null) {
        field.removeAttribute("aria-invalid");
        field.removeAttribute("aria-describedby");
        said.remove();
        return;
    }
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", said.id);
    if (said.parentElement !== row) row?.append(said);
    setText(said, sentence);
    if (listened.has(field)) return;
    listened.add(field);
    field.addEventListener("input", () => refuse(field, null));
};

const shown = (value: number): string => String(value).replace("-", "\u2212");

/** "from 0 to 140", "of at least 1", "above 0": numbers that are allowed. `above`: without the least itself. */
export const rangeWords = (least: number, most: number, above = false): string => {
    const [low, high] = [Number.isFinite(least), Number.isFinite(most)];
    if (low && high) return `${above ? "above" : "from"} ${shown(least)} ${above ? "and at most" : "to"} ${shown(most)}`;
    if (low) return above ? `above ${shown(least)}` : `of at least ${shown(least)}`;
    return high ? `of at most ${shown(most)}` : "";
};
