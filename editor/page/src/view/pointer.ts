// Mouse and touch control of the view: turn, shift, zoom. The left button turns, unless something else takes it (a
// brush on the form, a joint). The right button, or Alt, always turns. The middle button, or Shift, shifts. Two fingers
// shift and pinch.
import type { Eye } from "./camera";

const TURN = 0.0085; // radians per pixel

export interface Grab {
    move(event: PointerEvent): void;
    end(event: PointerEvent, cancelled: boolean): void;
}

export interface PointerOptions {
    canvas: HTMLCanvasElement;
    eye: Eye;
    /** The picture under the pointer, in CSS pixels of the page. */
    picture(event: { clientX: number }): { left: number; top: number; width: number; height: number };
    isBrushing(): boolean;
    /** An object under the pointer that takes the drag before the view turns. */
    grab(event: PointerEvent): Grab | null;
    hover(event: PointerEvent | null): void;
    changed(): void;
}

export const listenToPointer = (options: PointerOptions): void => {
    const { canvas, eye } = options;
    const fingers = new Map<number, PointerEvent>();
    let grab: Grab | null = null;
    let grabbed = -1;
    let pan = false;

    const pixelAt = (event: { clientX: number }): number => {
        const { width, height } = options.picture(event);
        return eye.pixel(eye.target.toArray(), width, height);
    };
    const turn = (dx: number, dy: number): void => eye.orbit(-TURN * dx, TURN * dy);
    const shift = (event: PointerEvent, dx: number, dy: number): void => {
        const pixel = pixelAt(event);
        eye.pan(-dx * pixel, dy * pixel);
    };
    const nearer = (event: MouseEvent | PointerEvent, x: number, y: number, factor: number): void => {
        const { left, top, width, height } = options.picture(event);
        const pixel = pixelAt(event);
        eye.dolly(factor, (x - left - width / 2) * pixel, (top + height / 2 - y) * pixel);
    };

    const pinch = (event: PointerEvent, before: PointerEvent): void => {
        const other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId)!;
        const spread = (e: PointerEvent): number => Math.hypot(e.clientX - other.clientX, e.clientY - other.clientY);
        shift(event, (event.clientX - before.clientX) / 2, (event.clientY - before.clientY) / 2);
        const middle = [(event.clientX + other.clientX) / 2, (event.clientY + other.clientY) / 2] as const;
        nearer(event, ...middle, spread(before) / Math.max(spread(event), 1));
    };

    const down = (event: PointerEvent): void => {
        if (grab) return;
        canvas.setPointerCapture(event.pointerId);
        if (event.button === 1) event.preventDefault(); // no scrolling by the middle button
        if (event.button === 0 && !event.altKey && fingers.size === 0) grab = options.grab(event);
        if (grab) grabbed = event.pointerId;
        else fingers.set(event.pointerId, event);
        pan = event.button === 1 || event.shiftKey;
    };
    canvas.addEventListener("pointerdown", down);
    // A brush listens first and keeps presses on the form, except with Alt.
    canvas.addEventListener(
        "pointerdown",
        (event) => {
            if (!options.isBrushing() || !event.altKey) return;
            event.stopImmediatePropagation();
            down(event);
        },
        { capture: true },
    );
    canvas.addEventListener("pointermove", (event) => {
        if (grab) {
            if (event.pointerId === grabbed) grab.move(event);
            return;
        }
        const before = fingers.get(event.pointerId);
        if (!before) {
            options.hover(event);
            return;
        }
        const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
        if (fingers.size === 2) pinch(event, before);
        else if (pan) shift(event, dx, dy);
        else turn(dx, dy);
        fingers.set(event.pointerId, event);
        options.changed();
    });
    const release = (cancelled: boolean) => (event: PointerEvent): void => {
        fingers.delete(event.pointerId);
        if (!grab || event.pointerId !== grabbed) return;
        const ended = grab;
        grab = null;
        ended.end(event, cancelled);
    };
    canvas.addEventListener("pointerup", release(false));
    canvas.addEventListener("pointercancel", release(true));
    canvas.addEventListener("lostpointercapture", release(true));
    canvas.addEventListener("pointerleave", () => options.hover(null));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener(
        "wheel",
        (event) => {
            event.preventDefault();
            const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1);
            nearer(event, event.clientX, event.clientY, Math.exp(Math.max(-300, Math.min(300, pixels)) * 0.0015));
            options.changed();
        },
        { passive: false },
    );
};
