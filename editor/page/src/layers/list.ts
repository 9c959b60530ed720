// A list to choose from: one tab stop, arrow keys, Home and End, clicks. Rows are kept and changed in place and share
// one set of listeners, so a thousand of them stay fast.
import { h } from "../core/dom";

export interface Row<T> {
    readonly element: HTMLLIElement;
    key: string;
    item: T;
    /** The contents shown besides the item. A row is left alone while both stay the same. */
    stamp: string;
}

export interface ListOptions<T> {
    label: string;
    /** Unique key of a row. */
    key(item: T, index: number): string;
    /** The contents of a new row. */
    make(): Node[];
    stamp(item: T, index: number): string;
    fill(row: Row<T>, index: number): void;
    isChosen(item: T, index: number): boolean;
    choose(item: T, index: number): void;
    /** Double click, or Enter. */
    open?(item: T, index: number): void;
    /** A click on a button inside a row. */
    press?(button: HTMLButtonElement, item: T, index: number): void;
}

export class List<T> {
    readonly element: HTMLUListElement;
    #rows: Row<T>[] = [];
    #chosen: string | null = null;
    #by = new WeakMap<Element, Row<T>>();

    constructor(readonly options: ListOptions<T>) {
        this.element = h("ul", { class: "list", role: "listbox", "aria-label": options.label });
        this.element.addEventListener("click", (event) => this.#click(event));
        this.element.addEventListener("dblclick", (event) => {
            const row = this.#rowAt(event.target);
            if (row && !(event.target as Element).closest("button, input")) this.#open(row);
        });
        this.element.addEventListener("keydown", (event) => this.#key(event));
    }

    get rows(): readonly Row<T>[] {
        return this.#rows;
    }
    row(key: string): Row<T> | undefined {
        return this.#rows.find((row) => row.key === key);
    }
    get hasFocus(): boolean {
        return this.element.contains(document.activeElement);
    }

    /** Shows these items. If a row's key is gone, the row goes to the item in its position, which was renamed. */
    update(items: readonly T[]): void {
        const { key, stamp, fill, isChosen } = this.options;
        const keys = items.map(key);
        const wanted = new Set(keys);
        const old = new Map(this.#rows.map((row) => [row.key, row]));
        const spare = this.#rows.map((row) => (wanted.has(row.key) ? null : row));
        const chosen = items.findIndex(isChosen);
        const had = this.hasFocus;
        const before = this.#chosen;
        this.#rows = items.map((item, i) => {
            let row = old.get(keys[i]!);
            if (!row && spare[i]) [row, spare[i]] = [spare[i]!, null];
            row ??= this.#make(item);
            const now = stamp(item, i);
            if (row.item !== item || row.stamp !== now || row.key !== keys[i]) {
                Object.assign(row, { item, stamp: now, key: keys[i] });
                fill(row, i);
            }
            const state = String(i === chosen);
            if (row.element.getAttribute("aria-selected") !== state) row.element.setAttribute("aria-selected", state);
            const stop = i === Math.max(chosen, 0) ? 0 : -1;
            if (row.element.tabIndex !== stop) row.element.tabIndex = stop;
            if (this.element.children[i] !== row.element) this.element.insertBefore(row.element, this.element.children[i] ?? null);
            return row;
        });
        while (this.element.children.length > items.length) this.element.lastElementChild!.remove();
        // The focus follows the choice, whoever made it, so that only one row is marked.
        this.#chosen = keys[chosen] ?? null;
        const active = document.activeElement;
        const moves = active instanceof HTMLLIElement && this.#chosen !== null && this.#chosen !== before;
        if (!had || (this.hasFocus && !moves) || active === this.#rows[chosen]?.element) return;
        this.focus();
        this.reveal();
    }

    /** Scrolls the chosen row into view. */
    reveal(): void {
        const row = this.#rows.find((r) => r.element.getAttribute("aria-selected") === "true");
        row?.element.scrollIntoView({ block: "nearest" });
    }

    focus(): void {
        this.#rows.find((row) => row.element.tabIndex === 0)?.element.focus({ preventScroll: true });
    }

    #make(item: T): Row<T> {
        const element = h("li", { role: "option", class: "row", tabindex: -1 }, ...this.options.make());
        const row = { element, key: "", item, stamp: "\0" };
        this.#by.set(element, row);
        return row;
    }

    #rowAt(target: EventTarget | null): Row<T> | undefined {
        const element = (target as Element | null)?.closest("li");
        return element ? this.#by.get(element) : undefined;
    }

    #click(event: MouseEvent): void {
        const row = this.#rowAt(event.target);
        if (!row || (event.target as Element).closest("input")) return;
        const index = this.#rows.indexOf(row);
        const button = (event.target as Element).closest("button");
        if (button) this.options.press?.(button, row.item, index);
        else {
            row.element.focus({ preventScroll: true }); // first, so that nothing scrolls under the pointer
            this.options.choose(row.item, index);
        }
    }

    #open(row: Row<T>): void {
        this.options.open?.(row.item, this.#rows.indexOf(row));
    }

    #key(event: KeyboardEvent): void {
        if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
        if ((event.target as Element).closest("input")) return;
        const row = this.#rowAt(event.target);
        const at = row ? this.#rows.indexOf(row) : -1;
        const last = this.#rows.length - 1;
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last, PageDown: at + 8, PageUp: at - 8 }[event.key];
        if (to !== undefined) {
            event.preventDefault();
            const index = Math.min(Math.max(to, 0), last);
            const next = this.#rows[index];
            if (!next || next.element.getAttribute("aria-selected") === "true") return;
            this.options.choose(next.item, index);
            next.element.focus({ preventScroll: true });
            next.element.scrollIntoView({ block: "nearest" });
        } else if ((event.key === "Enter" || event.key === " ") && row) {
            event.preventDefault();
            this.#open(row);
        }
    }
}
