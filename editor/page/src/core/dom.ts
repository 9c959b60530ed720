// Elements in one call: h("button", { class: "primary", onclick: save }, "Save").
type Attributes = { [name: string]: string | number | boolean | null | undefined | ((event: never) => void) };
export type Child = Node | string | null | undefined | false;

export const h = <K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Attributes = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    element.append(...children.filter((child): child is Node | string => !!child));
    return element;
};

/** Only if it differs: setting the same text again would repeat it in screen readers and lay it out again. */
export const setText = (element: HTMLElement, text: string): void => {
    if (element.textContent !== text) element.textContent = text;
};

/** A number to display: three decimals of its range, without trailing zeros. */
export const showNumber = (value: number, range = 1): string => {
    const digits = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(Math.abs(range) || 1)) - 1));
    return Number(value.toFixed(digits)).toString().replace("-", "\u2212");
};

/** After the next picture is on the screen, or soon in a tab that shows none. */
export const painted = (): Promise<void> => new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 300);
});
