// The map over the whole window, and back. Everything that it covers rests meanwhile, so that neither Tab nor a screen
// reader goes there; messages at the bottom stay.
import type { App } from "../core/app";
import type { Range } from "./plane";
import type { MapState } from "./state";

/** The elements beside this one and beside each element around it. */
const beside = (element: HTMLElement): HTMLElement[] => {
    const found: HTMLElement[] = [];
    for (let inner = element; inner.parentElement && inner.tagName !== "MAIN"; inner = inner.parentElement)
        for (const other of inner.parentElement.children)
            if (other !== inner && other instanceof HTMLElement && other.tagName !== "FOOTER") found.push(other);
    return found;
};

export const addEnlarge = (app: App, state: MapState, panel: HTMLElement, canvas: HTMLCanvasElement): void => {
    let resting: HTMLElement[] = [];
    let before: { x: Range; y: Range; of: string } | null = null; // the part that the small map shows
    const set = (isLarge: boolean): void => {
        if (state.isLarge === isLarge) return;
        state.isLarge = isLarge;
        const { x, y } = state.plane;
        if (isLarge) {
            before = { x, y, of: `${state.x?.id} ${state.y?.id}` };
            state.fit();
        } else if (before?.of === `${state.x?.id} ${state.y?.id}`) Object.assign(state.plane, { x: before.x, y: before.y });
        else state.fit();
        const part = panel.closest("details");
        if (part && isLarge) part.open = true;
        panel.classList.toggle("enlarged", isLarge);
        for (const element of resting) element.inert = false;
        resting = isLarge ? beside(panel).filter((element) => !element.inert) : [];
        for (const element of resting) element.inert = true;
        state.pointer = null; // it points elsewhere now
        canvas.focus({ preventScroll: true });
        app.invalidate();
    };
    app.commands.add({ id: "map-enlarge", label: "Show the map in the whole window, or return (also Escape)", group: "Space", keys: ["L"],
        enabled: () => state.missing === null, run: () => set(!state.isLarge) });
    // Before all other commands of Escape, and after the map's own, which end a drag.
    addEventListener("keydown", (event) => {
        if (event.key !== "Escape" || !state.isLarge || event.defaultPrevented) return;
        if (document.querySelector("dialog:modal") || (event.target as Element).closest?.("input, select")) return;
        event.preventDefault();
        event.stopPropagation();
        set(false);
    }, true);
    // A layer without a map has nothing to enlarge.
    app.on("frame", () => state.missing !== null && set(false));
};
