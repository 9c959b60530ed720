// The visible part of the plane and its position in the canvas, in CSS pixels.
import type { Box } from "../core/labels";

export interface Range {
    min: number;
    max: number;
}

/** Room for text at the edges. */
const EDGE = { left: 40, right: 10, top: 10, bottom: 34 };

export class Plane {
    x: Range = { min: 0, max: 1 };
    y: Range = { min: 0, max: 1 };
    box: Box = { left: 0, top: 0, width: 1, height: 1 };

    /** `numbers`: the width of the widest number at the left edge. */
    resize(width: number, height: number, numbers = 0): void {
        const left = Math.max(EDGE.left, Math.min(Math.ceil(numbers) + 20, width / 3));
        this.box = {
            left,
            top: EDGE.top,
            width: Math.max(width - left - EDGE.right, 10),
            height: Math.max(height - EDGE.top - EDGE.bottom, 10),
        };
    }

    toPixel(x: number, y: number): [number, number] {
        const { left, top, width, height } = this.box;
        return [
            left + ((x - this.x.min) / (this.x.max - this.x.min)) * width,
            top + ((this.y.max - y) / (this.y.max - this.y.min)) * height,
        ];
    }
    toValue(px: number, py: number): [number, number] {
        const { left, top, width, height } = this.box;
        return [
            this.x.min + ((px - left) / width) * (this.x.max - this.x.min),
            this.y.max - ((py - top) / height) * (this.y.max - this.y.min),
        ];
    }
    contains(px: number, py: number, slack = 0): boolean {
        const { left, top, width, height } = this.box;
        return px >= left - slack && px <= left + width + slack && py >= top - slack && py <= top + height + slack;
    }
    /** CSS pixels per unit. */
    get scale(): [number, number] {
        return [this.box.width / (this.x.max - this.x.min), this.box.height / (this.y.max - this.y.min)];
    }

    pan(dx: number, dy: number): void {
        const [sx, sy] = this.scale;
        this.x = { min: this.x.min - dx / sx, max: this.x.max - dx / sx };
        this.y = { min: this.y.min + dy / sy, max: this.y.max + dy / sy };
    }
    /** Zooms about a point that stays in place. */
    zoom(px: number, py: number, factor: number, limits: { x: Range; y: Range }): void {
        const [x, y] = this.toValue(px, py);
        const about = (range: Range, value: number, limit: Range): Range => {
            const span = limit.max - limit.min;
            const now = range.max - range.min;
            const f = Math.min(Math.max(now * factor, span / 50), span * 8) / now;
            return { min: value - (value - range.min) * f, max: value + (range.max - value) * f };
        };
        this.x = about(this.x, x, limits.x);
        this.y = about(this.y, y, limits.y);
    }
}

/** A range that contains another range and the values, with a margin. */
export const fitted = (range: Range, values: readonly number[], margin = 0.07): Range => {
    let { min, max } = range;
    for (const value of values)
        if (Number.isFinite(value)) {
            min = Math.min(min, value);
            max = Math.max(max, value);
        }
    const more = (max - min || 1) * margin;
    return { min: min - more, max: max + more };
};

/** Round numbers in a range, at least `gap` pixels apart; angles in the usual steps. */
export const ticksOf = (range: Range, pixels: number, gap: number, degrees: boolean): number[] => {
    const least = ((range.max - range.min) * gap) / pixels;
    let step: number | undefined;
    if (degrees) step = [1, 2, 5, 10, 15, 30, 45, 90, 180].find((s) => s >= least);
    const power = 10 ** Math.floor(Math.log10(least));
    step ??= [1, 2, 5, 10].find((s) => s * power >= least)! * power;
    const ticks: number[] = [];
    for (let i = Math.ceil(range.min / step - 1e-9); i * step <= range.max + 1e-9 * step; i++)
        ticks.push(Number((i * step).toPrecision(12)));
    return ticks;
};
