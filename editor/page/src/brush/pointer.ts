// Turns pointer events into strokes. It listens before the view does: a press on the form starts a stroke, a press next
// to it is left to the view.
import type { Hit, Picker } from "../core/app";
import { isBrush, type Brush, type Kind } from "./controller";
import { grab } from "./grab";
import { paint } from "./paint";
import type { Region } from "./region";
import { smooth, smoothValues } from "./smooth";
import type { Session } from "./session";

interface Stroke {
    readonly id: number;
    readonly kind: Kind;
    readonly session: Session;
    readonly array: Float32Array;
    readonly before: Float32Array;
    /** The vertices held by a grab. */
    readonly held: { region: Region; hit: Hit; down: PointerEvent } | null;
    /** Positions of the last dab and of the pointer. */
    last: PointerEvent;
    now: PointerEvent;
    frame: number;
}

const LABELS: Record<Kind, string> = { grab: "grab", smooth: "smooth", paint: "paint" };
const DABS = 6; // per frame, at any speed of the pointer

export class Strokes {
    #stroke: Stroke | null = null;

    constructor(
        readonly brush: Brush,
        readonly picker: Picker,
    ) {
        const { canvas } = picker;
        const listen = <K extends keyof HTMLElementEventMap>(name: K, listener: (event: HTMLElementEventMap[K]) => void) =>
            canvas.addEventListener(name, listener, { capture: true, passive: false });
        listen("pointerdown", (event) => this.#onDown(event));
        listen("pointermove", (event) => this.#onMove(event));
        listen("pointerup", (event) => this.#onUp(event));
        listen("pointercancel", (event) => this.#stroke?.id === event.pointerId && this.cancel());
        listen("lostpointercapture", (event) => this.#stroke?.id === event.pointerId && this.cancel());
        listen("pointerleave", () => this.hideRing());
        listen("wheel", (event) => this.#onWheel(event));
    }

    get isActive(): boolean {
        return this.#stroke !== null;
    }

    // ---- the ring that shows the radius ----

    hideRing(): void {
        this.picker.hideRing();
    }

    #showRing(hit: Hit | null): void {
        if (hit) this.picker.showRing(hit, this.brush.radius);
        else this.picker.hideRing();
    }

    // ---- a stroke ----

    #kindOf(event: PointerEvent): Kind | null {
        const { tool } = this.brush.app;
        if (!isBrush(tool)) return null;
        return tool === "grab" && event.shiftKey ? "smooth" : tool;
    }

    #onDown(event: PointerEvent): void {
        const kind = this.#kindOf(event);
        if (event.button !== 0 || event.altKey || this.#stroke || !kind) return;
        const session = this.brush.start();
        if (kind !== "paint") this.brush.settle(session);
        const hit = this.picker.hit(event);
        if (!hit) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        this.picker.canvas.setPointerCapture(event.pointerId);
        const array = kind === "paint" ? session.paint : session.positions;
        const held = kind === "grab" ? { region: this.brush.region(session, hit), hit, down: event } : null;
        this.brush.hush();
        this.#stroke = { id: event.pointerId, kind, session, array, before: array.slice(), held, last: event, now: event,
            frame: 0 };
        if (!held) {
            this.#dab(this.#stroke, event, hit);
            this.#frame();
        }
    }

    #onMove(event: PointerEvent): void {
        const stroke = this.#stroke;
        if (stroke?.id !== event.pointerId) {
            if (isBrush(this.brush.app.tool) && event.buttons === 0) this.#showRing(this.picker.hit(event));
            else this.hideRing();
            return;
        }
        event.stopImmediatePropagation();
        stroke.now = event;
        if (!stroke.held) return;
        this.hideRing();
        this.#pull(stroke, event);
    }

    #pull({ session, before, held }: Stroke, event: PointerEvent): void {
        const { region, hit, down } = held!;
        const move = this.picker.drag(hit.point, down, event);
        grab(session.positions, before, region, move.map((x) => x * this.brush.strength.grab));
        this.brush.changed();
    }

    // While the button is down, there is a dab in every frame, and enough dabs between two frames to leave no gaps.
    #frame(): void {
        const stroke = this.#stroke;
        if (!stroke || stroke.held) return;
        stroke.frame = requestAnimationFrame(() => {
            if (this.#stroke !== stroke) return;
            this.#dabs(stroke);
            this.#frame();
        });
    }

    #dabs(stroke: Stroke): void {
        const { last, now } = stroke;
        const [dx, dy] = [now.clientX - last.clientX, now.clientY - last.clientY];
        const hit = this.picker.hit(now);
        this.#showRing(hit);
        const spacing = hit ? Math.max(2, this.brush.radius / this.picker.pixel(hit.point) / 3) : 20;
        const count = Math.min(DABS, Math.max(1, Math.floor(Math.hypot(dx, dy) / spacing)));
        for (let i = 1; i < count; i++) {
            const at = { clientX: last.clientX + (dx * i) / count, clientY: last.clientY + (dy * i) / count };
            this.#dab(stroke, now, this.picker.hit(at));
        }
        this.#dab(stroke, now, hit);
        stroke.last = now;
    }

    #dab({ kind, session }: Stroke, event: PointerEvent, hit: Hit | null): void {
        if (!hit) return;
        const { brush } = this;
        const region = brush.region(session, hit);
        const strength = brush.strength[kind];
        if (kind === "smooth") smooth(session.positions, session.topology, session.means, region, strength);
        else if (event.shiftKey) smoothValues(session.paint, session.topology, session.means, region, strength);
        else paint(session.paint, region, strength, event.ctrlKey || event.metaKey ? 0 : 1);
        brush.changed();
    }

    #onUp(event: PointerEvent): void {
        const stroke = this.#stroke;
        if (stroke?.id !== event.pointerId) return;
        event.stopImmediatePropagation();
        stroke.now = event;
        if (stroke.held) this.#pull(stroke, event);
        else if (stroke.last !== event) this.#dabs(stroke);
        this.#end(stroke);
        stroke.session.keep(LABELS[stroke.kind], stroke.array, stroke.kind === "paint" ? 1 : 3, stroke.before);
        this.brush.changed();
    }

    #end(stroke: Stroke): void {
        cancelAnimationFrame(stroke.frame);
        this.#stroke = null;
        if (this.picker.canvas.hasPointerCapture(stroke.id)) this.picker.canvas.releasePointerCapture(stroke.id);
    }

    /** Takes back an unfinished stroke. */
    cancel(): void {
        const stroke = this.#stroke;
        if (!stroke) return;
        this.#end(stroke);
        stroke.array.set(stroke.before);
        this.brush.changed();
    }

    #onWheel(event: WheelEvent): void {
        if (!event.shiftKey || !isBrush(this.brush.app.tool)) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        // Some systems turn the wheel sideways while Shift is held.
        this.brush.scale((event.deltaY || event.deltaX) < 0 ? 1.1 : 1 / 1.1);
    }
}
