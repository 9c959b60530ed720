// A filter field: shows only the rows whose names contain its text.
import { h } from "../core/dom";

export const filterField = (label: string, rows: readonly { name: string; element: HTMLElement }[]): HTMLInputElement => {
    const filter = (): void => {
        const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        for (const { name, element } of rows) element.hidden = !words.every((word) => name.toLowerCase().includes(word));
        for (const group of new Set(rows.map((row) => row.element.closest<HTMLElement>(".group"))))
            if (group) group.hidden = !group.querySelector(".axis:not([hidden])");
    };
    const field = h("input", { type: "text", class: "filter", placeholder: `${label}…`, "aria-label": label,
        autocomplete: "off", spellcheck: "false", oninput: filter });
    return field;
};
