// A number field: type, or step with arrow keys and wheel. It shows values set elsewhere, except while someone types in
// it.
import { h } from "../core/dom";
import { isRefused, refuse } from "../core/refuse";

export interface NumberField {
    readonly element: HTMLInputElement;
    show(value: number): void;
}

/** At most `digits` decimals, without trailing zeros. */
const written = (value: number, digits: number): string => Number(value.toFixed(digits)).toString();

/** Decimals worth showing for a range. */
export const digitsOf = (range: number): number =>
    Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.abs(range) || 1))));

/** About a hundredth of a range: 1, 2 or 5 times a power of ten. */
export const stepOf = (range: number): number => {
    const wanted = Math.abs(range) / 100 || 0.01;
    const ten = 10 ** Math.floor(Math.log10(wanted));
    return ten * ([1, 2, 5].find((n) => n * ten >= wanted * 0.999) ?? 10);
};

/** Steps of an arrow key or the wheel: ten with Shift, a tenth with Alt. */
const stepsOf = (event: KeyboardEvent | WheelEvent): number => {
    const by = event.shiftKey ? 10 : event.altKey ? 0.1 : 1;
    if (event instanceof WheelEvent) return -Math.sign(event.deltaY || event.deltaX) * by;
    return { ArrowUp: by, ArrowRight: by, ArrowDown: -by, ArrowLeft: -by }[event.key] ?? 0;
};

/** Lets arrow keys and the wheel step a value. The wheel works only while the control has the focus, so scrolling a
 * column does not change values under the pointer. */
export const stepBy = (element: HTMLElement, keys: readonly string[], add: (steps: number) => void): void => {
    element.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || !keys.includes(event.key)) return;
        event.preventDefault();
        add(stepsOf(event));
    });
    element.addEventListener(
        "wheel",
        (event) => {
            if (document.activeElement !== element || event.ctrlKey) return;
            event.preventDefault();
            add(stepsOf(event));
        },
        { passive: false },
    );
};

/** `allowed` completes "Type a number": " from 0 to 140". `taken` returns the value after it was set, which is another one
 * if the axis ends there. */
export const numberField = (
    options: { label: string; title?: string; digits: number; step: number; allowed?: string; taken?: () => number },
    set: (value: number) => void,
): NumberField => {
    let shown = NaN;
    let latest = 0;
    let writing = false; // typed text not entered yet
    let kept = NaN; // the value while refused text stays in the field
    const element = h("input", { type: "text", inputmode: "decimal", class: "number", "aria-label": options.label,
        title: options.title, autocomplete: "off", spellcheck: "false" });
    const parsed = (): number => {
        const text = element.value.trim().replace(",", ".").replace("\u2212", "-");
        return text === "" ? NaN : Number(text);
    };
    const row = (): Element | null => element.closest(".axis");
    /** Says why the text is refused; null if it is not. */
    const refusal = (): string | null => {
        const value = parsed();
        const allowed = options.allowed ?? "";
        if (!Number.isFinite(value)) return `Type a number${allowed}.`;
        const near = Math.abs((options.taken?.() ?? value) - value) <= 1e-6 * (1 + Math.abs(value));
        return near ? null : `It stays at ${written(options.taken!(), options.digits)}: type a number${allowed}.`;
    };
    const show = (value: number): void => {
        latest = value;
        if (isRefused(element) && !Number.isNaN(kept) && !Object.is(value, kept)) {
            writing = false;
            shown = kept = NaN;
            refuse(element, null);
        }
        if (writing || Object.is(value, shown)) return;
        shown = value;
        const text = written(value, options.digits);
        if (element.value === text) return;
        element.value = text;
        if (document.activeElement === element) element.select(); // while playing: typing replaces the whole value
    };
    const leave = (givesUp = false): void => {
        if (!writing) return;
        const sentence = givesUp ? null : refusal();
        refuse(element, sentence, row());
        kept = sentence === null ? NaN : latest;
        if (sentence !== null) return;
        writing = false;
        shown = NaN;
        show(latest);
    };
    element.addEventListener("input", () => {
        writing = true;
        kept = NaN;
        const value = parsed();
        if (!Number.isFinite(value)) return element.setAttribute("aria-invalid", "true");
        refuse(element, null);
        set(value);
        latest = options.taken?.() ?? value;
    });
    element.addEventListener("blur", () => leave());
    element.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return;
        leave(event.key === "Escape");
        element.select();
    });
    element.addEventListener("focus", () => element.select());
    stepBy(element, ["ArrowUp", "ArrowDown"], (steps) => {
        leave(true);
        set(Number((latest + steps * options.step).toPrecision(10)));
    });
    return { element, show };
};
