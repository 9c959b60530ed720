// Edits a name in place: Enter keeps it, Escape does not.
import { h } from "../core/dom";
import { refuse } from "../core/refuse";

/** `keep` returns the reason if the name is not valid. */
export const rename = (place: HTMLElement, name: string, keep: (name: string) => string | null, done: () => void): void => {
    if (place.querySelector("input")) return;
    const field = h("input", { type: "text", class: "rename", "aria-label": "New name", value: name, spellcheck: "false" });
    field.value = name;
    let open = true;
    let left = false; // the focus is elsewhere by now and stays there
    const close = (): void => {
        open = false;
        place.classList.remove("renaming");
        refuse(field, null);
        field.remove();
        if (!left) done();
    };
    const take = (): void => {
        if (!open) return;
        const wanted = field.value.trim();
        if (wanted === name) return close();
        open = false; // keeping the name may move the focus
        const sentence = keep(wanted);
        open = true;
        if (sentence === null) return close();
        refuse(field, sentence, place);
    };
    field.addEventListener("keydown", (event) => {
        if (!(event.key === "s" && (event.ctrlKey || event.metaKey))) event.stopPropagation();
        if (event.key === "Enter") take();
        else if (event.key === "Escape") close();
        else return;
        event.preventDefault();
    });
    // A name that is refused stays in the field, until another one is typed or Escape is pressed.
    field.addEventListener("blur", () => {
        left = true;
        take();
    });
    field.addEventListener("focus", () => {
        left = false;
    });
    place.classList.add("renaming");
    place.append(field);
    field.focus();
    field.select();
};
