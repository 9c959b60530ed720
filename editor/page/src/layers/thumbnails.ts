// Small pictures of forms in lists. They are drawn when they are in sight and out of date, a few per frame, and never
// during a drag.
import type { App } from "../core/app";

const BUDGET = 6; // milliseconds per frame
const SIZE = 44; // CSS pixels

export class Thumbnails {
    #draw = new Map<HTMLCanvasElement, () => void>();
    #drawn = new WeakMap<HTMLCanvasElement, number>();
    #seen = new Set<HTMLCanvasElement>();
    #age = 1;
    #asked = 0;
    #observer: IntersectionObserver;

    constructor(readonly app: App) {
        this.#observer = new IntersectionObserver((entries) => this.#look(entries), { rootMargin: "120px" });
        const stale = (): void => {
            this.#age++;
            this.#ask();
        };
        app.on("rig", stale);
        app.on("display", stale);
        app.on("tree", () => {
            // With a server, every change brings a new rig.
            if (!app.server && !app.isDragging) stale();
            else this.#ask();
        });
    }

    make(): HTMLCanvasElement {
        const canvas = document.createElement("canvas");
        const size = Math.round(SIZE * Math.min(devicePixelRatio || 1, 2));
        canvas.width = canvas.height = size;
        canvas.className = "thumbnail";
        canvas.setAttribute("aria-hidden", "true");
        return canvas;
    }

    /** Sets the drawing function of a canvas. */
    set(canvas: HTMLCanvasElement, draw: () => void): void {
        if (!this.#draw.has(canvas)) this.#observer.observe(canvas);
        this.#draw.set(canvas, draw);
        this.#drawn.delete(canvas);
        this.#ask();
    }

    forget(canvas: HTMLCanvasElement): void {
        this.#observer.unobserve(canvas);
        this.#draw.delete(canvas);
        this.#seen.delete(canvas);
    }

    #look(entries: IntersectionObserverEntry[]): void {
        for (const { target, isIntersecting } of entries) {
            const canvas = target as HTMLCanvasElement;
            if (!canvas.isConnected) this.forget(canvas);
            else if (isIntersecting) this.#seen.add(canvas);
            else this.#seen.delete(canvas);
        }
        this.#ask();
    }

    #ask(): void {
        this.#asked ||= requestAnimationFrame(() => this.#some());
    }

    #some(): void {
        this.#asked = 0;
        if (this.app.isDragging) return; // the end of the drag calls again
        const end = performance.now() + BUDGET;
        for (const canvas of this.#seen) {
            if (this.#drawn.get(canvas) === this.#age) continue;
            if (performance.now() > end) {
                this.#ask();
                return;
            }
            this.#drawn.set(canvas, this.#age);
            try {
                this.#draw.get(canvas)?.();
            } catch (error) {
                console.warn(error); // go on without the picture
            }
        }
    }
}

/** Draws an RGBA image as large as fits. */
export const drawImage = (canvas: HTMLCanvasElement, rows: Uint8ClampedArray, width: number, height: number): void => {
    const whole = new OffscreenCanvas(width, height);
    whole.getContext("2d")!.putImageData(new ImageData(new Uint8ClampedArray(rows), width, height), 0, 0);
    const scale = Math.min(canvas.width / width, canvas.height / height);
    const [w, h] = [width * scale, height * scale];
    const context = canvas.getContext("2d")!;
    context.imageSmoothingQuality = "high";
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(whole, (canvas.width - w) / 2, (canvas.height - h) / 2, w, h);
};
