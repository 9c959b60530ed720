// Hints for the first start: one after the other, each beside the thing that it explains, never on it. They go when they
// are dismissed, and come back by "Show hints again" in the help.
import { h } from "../core/dom";
import { choiceOf, keepChoice } from "../core/kept";

interface Hint {
    /** The first of these that is on the page. */
    target: string;
    title: string;
    text: string;
}

const HINTS: readonly Hint[] = [
    { target: ".axes .axis", title: "Pose the rig", text: "Drag a slider, or type a number. Double-click its name to go back to rest." },
    { target: "#map", title: "The space of examples",
        text: "Drag in the map to blend. Drag a point to move its example: the forms between follow at once." },
    { target: "#view", title: "The form", text: "Drag to turn it, use the wheel or two fingers to zoom. Drop a form or a motion file anywhere." },
    { target: "details.part:has(.brush)", title: "Fix a form, and keep it",
        text: "Pose, pull the form with a brush, then press Insert as example. It is kept at this pose." },
];
const GAP = 10; // pixels between a hint and its target
const EDGE = 6; // and the edge of the window

const isShown = (element: Element): boolean =>
    element.checkVisibility({ checkVisibilityCSS: true }) && element.getClientRects().length > 0;

/** The part of the target that can be seen: columns scroll. */
const seenBox = (target: Element): { left: number; top: number; right: number; bottom: number } => {
    const { left, top, right, bottom } = target.getBoundingClientRect();
    const box = { left: Math.max(0, left), top: Math.max(0, top), right: Math.min(innerWidth, right), bottom: Math.min(innerHeight, bottom) };
    const column = target.closest(".column")?.getBoundingClientRect();
    return column ? { ...box, top: Math.max(box.top, column.top), bottom: Math.min(box.bottom, column.bottom) } : box;
};

/** Puts the hint beside its target: on the first side with room. Without any, at the edge farthest from it. */
const place = (element: HTMLElement, target: Element): void => {
    const box = seenBox(target);
    const { offsetWidth: width, offsetHeight: height } = element;
    const along = (from: number, size: number, whole: number): number => Math.max(EDGE, Math.min(from, whole - size - EDGE));
    const middle = along((box.top + box.bottom - height) / 2, height, innerHeight);
    const centre = along((box.left + box.right - width) / 2, width, innerWidth);
    const sides = [
        { side: "left", x: box.left - width - GAP, y: middle, fits: box.left - width - GAP >= EDGE },
        { side: "right", x: box.right + GAP, y: middle, fits: box.right + GAP + width <= innerWidth - EDGE },
        { side: "below", x: centre, y: box.bottom + GAP, fits: box.bottom + GAP + height <= innerHeight - EDGE },
        { side: "above", x: centre, y: box.top - height - GAP, fits: box.top - height - GAP >= EDGE },
    ];
    const at = sides.find(({ fits }) => fits) ??
        { side: "none", x: centre, y: box.top > innerHeight - box.bottom ? EDGE : innerHeight - height - EDGE };
    element.dataset["side"] = at.side;
    element.style.left = `${at.x}px`;
    element.style.top = `${at.y}px`;
    const aim = at.side === "left" || at.side === "right" ? (box.top + box.bottom) / 2 - at.y : (box.left + box.right) / 2 - at.x;
    element.style.setProperty("--aim", `${Math.max(14, Math.min(aim, (at.side === "left" || at.side === "right" ? height : width) - 14))}px`);
};

let close: (() => void) | null = null;

/** Shows the hints from the first. */
export const showHints = (): void => {
    close?.();
    const found = HINTS.flatMap((hint) => {
        const target = [...document.querySelectorAll(hint.target)].find(isShown);
        return target ? [{ ...hint, element: target }] : [];
    });
    let at = 0;
    const title = h("strong", {});
    const text = h("p", {});
    const number = h("span", { class: "number" });
    const next = h("button", { class: "primary", onclick: () => go(at + 1) });
    const element = h("aside", { class: "tip", role: "note", "aria-live": "polite", "aria-label": "Hint" }, title, text,
        h("div", { class: "actions" }, number, h("button", { class: "dismiss", onclick: () => done() }, "Dismiss"), next));
    // Every frame: columns scroll, parts fold, and pictures that arrive move what is below them.
    const follow = (): void => {
        const target = found[at]?.element;
        if (!element.isConnected) return;
        if (!target?.isConnected) return done();
        place(element, target);
        requestAnimationFrame(follow);
    };
    const done = (): void => {
        keepChoice("hints", "seen");
        close = null;
        element.remove();
        found.forEach((hint) => hint.element.classList.remove("hinted"));
    };
    const go = (to: number): void => {
        found[at]?.element.classList.remove("hinted");
        at = to;
        const hint = found[at];
        if (!hint) return done();
        hint.element.scrollIntoView({ block: "nearest", behavior: "instant" });
        hint.element.classList.add("hinted");
        title.textContent = hint.title;
        text.textContent = hint.text;
        number.textContent = `${at + 1} of ${found.length}`;
        next.textContent = at + 1 < found.length ? "Next" : "Done";
    };
    if (found.length === 0) return;
    document.body.append(element);
    close = done;
    go(0);
    follow();
};

/** Shows them unless they were seen. */
export const firstHints = (): void => {
    if (choiceOf("hints") === null) requestAnimationFrame(() => requestAnimationFrame(showHints));
};
