// Pointer input on the map. A press on an example or a pseudo-example drags it, a press on a handle changes an
// example's reach. With Alt, or after "Use this form", a press takes the form there and a release places it. Anywhere else
// it moves the pose. Escape cancels the drag.
import type { App } from "../core/app";
import { ticks } from "./draw";
import { moveTo, placeForm, takeForm } from "./edit";
import { handleAt, reachOf, type Handle } from "./falloff";
import { secondOf, type Second } from "./second";
import type { Busy, MapState, Mark } from "./state";

/** Pixels: the distance at which a mark is still hit, and the motion that starts a drag. */
const REACH = 10;
const START = 3;

type Point = [number, number];

interface Hit {
    mark: Mark;
    end: "at" | "from";
}

/** The nearest mark within reach: the selected one first, then those near the shown plane. */
export const markAt = (state: MapState, [px, py]: Point): Hit | null => {
    let best: (Hit & { cost: number }) | null = null;
    for (const mark of state.marks) {
        const ends: ["at" | "from", number, number][] = [["at", mark.x, mark.y]];
        if (mark.from) ends.push(["from", mark.from.x, mark.from.y]);
        for (const [end, x, y] of ends) {
            const [mx, my] = state.plane.toPixel(x, y);
            const distance = Math.hypot(mx - px, my - py);
            if (distance > (end === "from" ? REACH - 3 : REACH)) continue;
            const cost = distance + 20 * Math.min(mark.off, 2) + (end === "from" ? 3 : 0) - (mark.selected ? 60 : 0);
            if (!best || cost < best.cost) best = { mark, end, cost };
        }
    }
    if (best) return best;
    const tile = state.tiles.find(({ left, top, width, height }) => px >= left && px <= left + width && py >= top && py <= top + height);
    return tile?.mark ? { mark: tile.mark, end: "at" } : null;
};

/** One drag, from the press on. */
interface Drag {
    readonly busy: Exclude<Busy, null>;
    /** Handle of the reach. */
    readonly handle?: number;
    move(at: Point, event: PointerEvent): void;
    drop?(at: Point): void;
    /** Takes back changes outside the preview. */
    undo?(): void;
}

/** With Ctrl, rounds to the ticks along each shown axis. */
const snapped = (state: MapState, values: Point, event: { ctrlKey: boolean; metaKey: boolean }): Point => {
    if (!event.ctrlKey && !event.metaKey) return values;
    const at = ticks(state);
    const nearest = (list: number[], value: number): number =>
        list.reduce((best, tick) => (Math.abs(tick - value) < Math.abs(best - value) ? tick : best), list[0] ?? value);
    return [nearest(at.x, values[0]), nearest(at.y, values[1])];
};

const dragPose = (app: App, state: MapState): Drag => {
    const { stage } = app;
    const before = stage.rig.pose().copy(stage.pose);
    return {
        busy: "pose",
        move: (at, event) => {
            const values = snapped(state, state.plane.toValue(...at), event);
            setPose(app, state, state.pointAt(...values));
        },
        // The poses of a rig that is gone are gone too.
        drop: () => {
            if (!before.disposed) before.dispose();
        },
        undo: () => {
            if (app.stage === stage) app.pose((pose) => pose.copy(before));
            if (!before.disposed) before.dispose();
        },
    };
};

/** Sets the shown axes of the pose to those of a point. */
export const setPose = (app: App, state: MapState, point: number[]): void =>
    app.pose((pose) => {
        const inputs = new Map([state.x, state.y].filter((c) => c !== null).map((c) => [c.input.index, c]));
        for (const { input, offset } of inputs.values())
            pose.set(input.index, input.width === 1 ? point[offset]! : point.slice(offset, offset + input.width));
    });

const dragSecond = (app: App, state: MapState, second: Second): Drag => ({
    busy: "textures",
    move: (at, event) => {
        const values = snapped(state, state.plane.toValue(...at), event);
        app.pose((pose) => second.inputs.forEach((input, i) => input && pose.set(input.index, values[i]!)));
    },
    undo: () =>
        app.pose((pose) =>
            second.inputs.forEach((input, i) => input && pose.set(input.index, i === 0 ? second.x : second.y)),
        ),
});

/** The reason why a move does not change the form at the pose; null if it does. */
const whyStill = (state: MapState, before: Float64Array): string | null => {
    const { layer, pose, marks } = state;
    const now = layer!.weights(pose);
    if (now.length !== before.length || now.some((weight, k) => Math.abs(weight - before[k]!) > 1e-6)) return null;
    const here = marks.find((mark) => !mark.muted && layer!.distance(mark.point, pose) < 1e-6);
    return here
        ? `The pose is at '${here.name}', which keeps its form. Move the pose to see the change.`
        : "This changes nothing at the current pose. Move the pose to see the change.";
};

const dragMark = (app: App, state: MapState, { mark, end }: Hit, start: Point): Drag => {
    const before = state.layer!.weights(state.pose).slice();
    let told = false;
    const home = end === "from" ? mark.from! : mark;
    const [hx, hy] = state.plane.toPixel(home.x, home.y);
    const grip: Point = [hx - start[0], hy - start[1]];
    return {
        busy: "mark",
        move: (at, event) => {
            const values = snapped(state, state.plane.toValue(at[0] + grip[0], at[1] + grip[1]), event);
            // By now the form shows the previous move. Small moves need no message.
            const why = !told && !mark.muted && app.isDragging && Math.hypot(at[0] - start[0], at[1] - start[1]) > 25 ? whyStill(state, before) : null;
            if (why) app.say(why);
            told ||= why !== null;
            app.preview(moveTo(state, mark, end, ...values));
        },
        drop: () => {
            app.frame();
            const why = mark.muted ? null : whyStill(state, before);
            app.commit(`moved '${mark.name}'`);
            if (why) app.say(why);
        },
    };
};

const dragForm = (app: App, state: MapState, start: Point): Drag => {
    const taken = takeForm(state, ...state.plane.toValue(...start));
    const waiting = state.taken;
    state.taken = taken;
    const count = state.tree?.pseudo?.length ?? 0;
    let moved = false;
    return {
        busy: "take",
        move: (at, event) => {
            moved = true;
            app.preview(placeForm(state, taken, ...snapped(state, state.plane.toValue(...at), event)));
        },
        drop: (at) => {
            // A click places the form that was taken before, at the pose.
            if (!moved && waiting) app.preview(placeForm(state, waiting, ...state.plane.toValue(...at)));
            state.taken = null;
            if (!moved && !waiting) {
                app.say("Drag from a place with the right form to the place where you want it.");
                return;
            }
            app.commit("placed a form");
            app.select({ example: null, pseudo: count });
        },
        undo: () => {
            state.taken = null;
        },
    };
};

const dragHandle = (app: App, state: MapState, handle: Handle, start: Point): Drag => ({
    busy: "reach",
    handle: reachOf(state)?.handles.findIndex(({ x, y }) => x === handle.x && y === handle.y) ?? -1,
    move: (at) => app.preview(handle.change(at[0] - start[0], at[1] - start[1])),
    drop: () => app.commit(handle.label),
});

const pan = (app: App, state: MapState, start: Point): Drag => {
    let last = start;
    return {
        busy: "pan",
        move: (at) => {
            state.plane.pan(at[0] - last[0], at[1] - last[1]);
            last = at;
            app.invalidate();
        },
    };
};

/** The drag that a press here starts. */
const begin = (app: App, state: MapState, at: Point, event: PointerEvent): { drag: Drag; hit: Hit | null } | null => {
    if (event.button === 1) return { drag: pan(app, state, at), hit: null };
    if (event.button !== 0) return null;
    if (event.altKey || state.taken) return { drag: dragForm(app, state, at), hit: null };
    const hit = markAt(state, at);
    if (hit) return { drag: dragMark(app, state, hit, at), hit };
    const handle = handleAt(reachOf(state), at);
    if (handle) return { drag: dragHandle(app, state, handle, at), hit: null };
    if (event.shiftKey) return { drag: pan(app, state, at), hit: null };
    const second = secondOf(app, state);
    if (second) {
        const [sx, sy] = state.plane.toPixel(second.x, second.y);
        if (Math.abs(sx - at[0]) <= 8 && Math.abs(sy - at[1]) <= 8)
            return { drag: dragSecond(app, state, second), hit: null };
    }
    return { drag: dragPose(app, state), hit: null };
};

const CURSORS: { [B in Drag["busy"]]: string } = {
    pose: "crosshair", textures: "grabbing", mark: "grabbing", take: "copy", reach: "grabbing", pan: "grabbing",
};

const cursorAt = (state: MapState, at: Point): string => {
    if (state.taken) return "copy";
    if (markAt(state, at)) return "grab";
    return handleAt(reachOf(state), at) ? "grab" : "crosshair";
};

export const addGestures = (app: App, state: MapState, canvas: HTMLCanvasElement, redraw: () => void): void => {
    let drag: Drag | null = null;
    let start: Point = [0, 0];
    let started = false;

    const placeIn = (event: MouseEvent): Point => {
        const rect = canvas.getBoundingClientRect();
        return [event.clientX - rect.left, event.clientY - rect.top];
    };
    const end = (): void => {
        drag = null;
        state.busy = null;
        state.handle = -1;
        canvas.style.cursor = state.pointer && state.missing === null ? cursorAt(state, state.pointer) : "";
        redraw();
    };
    const stop = (): void => {
        if (!drag) return;
        drag.undo?.();
        app.cancel();
        end();
    };

    canvas.addEventListener("pointerdown", (event) => {
        if (drag || state.missing !== null) return;
        app.frame(); // act on what the screen shows
        start = placeIn(event);
        const begun = begin(app, state, start, event);
        if (!begun) return;
        event.preventDefault();
        canvas.focus({ preventScroll: true });
        canvas.setPointerCapture(event.pointerId);
        ({ drag } = begun);
        state.busy = drag.busy;
        state.handle = drag.handle ?? -1;
        canvas.style.cursor = CURSORS[drag.busy];
        started = false;
        const { hit } = begun;
        if (hit)
            app.select(
                hit.mark.kind === "example"
                    ? { example: hit.mark.name, pseudo: null }
                    : { example: null, pseudo: hit.mark.index },
            );
        if (drag.busy === "pose") {
            started = true; // the pose follows at once
            drag.move(start, event);
        }
        redraw();
    });
    canvas.addEventListener("pointermove", (event) => {
        const at = placeIn(event);
        state.pointer = at;
        if (drag && (started || Math.hypot(at[0] - start[0], at[1] - start[1]) >= START)) {
            started = true;
            drag.move(at, event);
        }
        if (!drag && state.missing === null) canvas.style.cursor = cursorAt(state, at);
        redraw();
    });
    canvas.addEventListener("pointerup", (event) => {
        if (!drag) return;
        const done = drag;
        if (started) done.move(placeIn(event), event);
        if (started || done.busy === "take") done.drop?.(placeIn(event));
        end();
    });
    canvas.addEventListener("pointercancel", stop);
    canvas.addEventListener("lostpointercapture", stop); // after a pointerup nothing is left to stop
    // The edit being dragged was taken back elsewhere, by undo or another edit.
    app.on("tree", () => {
        if (drag && started && !app.isDragging && ["mark", "take", "reach"].includes(drag.busy)) {
            state.taken = null;
            end();
        }
    });
    canvas.addEventListener("pointerleave", () => {
        state.pointer = null;
        redraw();
    });
    addEventListener(
        "keydown",
        (event) => {
            if (event.key !== "Escape" || !(drag || state.taken)) return;
            event.preventDefault();
            event.stopPropagation();
            stop();
            state.taken = null;
            redraw();
        },
        true,
    );
    canvas.addEventListener("dblclick", (event) => {
        if (state.missing !== null) return;
        const at = placeIn(event);
        const hit = markAt(state, at);
        const handle = hit ? null : handleAt(reachOf(state), at);
        if (handle) app.edit(handle.resetLabel, handle.reset);
        else if (hit?.mark.kind === "example") app.goTo(app.selection.layer, hit.mark.name);
        else if (hit) app.setPlace(state.tree?.pseudo?.[hit.mark.index]?.at ?? {});
        else state.fit();
        app.invalidate();
    });
    canvas.addEventListener(
        "wheel",
        (event) => {
            if (state.missing !== null) return;
            event.preventDefault();
            const [px, py] = placeIn(event);
            state.plane.zoom(px, py, Math.exp(Math.min(Math.max(event.deltaY, -200), 200) * 0.002), state.ranges);
            redraw();
        },
        { passive: false },
    );
    canvas.addEventListener("contextmenu", (event) => drag && event.preventDefault());
};
