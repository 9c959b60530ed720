// Undo for brush strokes: each stroke keeps the numbers it changed.

export interface Stroke {
    readonly label: string;
    /** The changed array, its numbers per vertex, and the changed vertices. */
    readonly array: Float32Array;
    readonly width: number;
    readonly vertices: Uint32Array;
    readonly before: Float32Array;
    readonly after: Float32Array;
}

export const strokeOf = (label: string, array: Float32Array, width: number, before: Float32Array): Stroke | null => {
    const changed: number[] = [];
    for (let v = 0; v * width < array.length; v++)
        for (let c = 0; c < width; c++)
            if (array[v * width + c] !== before[v * width + c]) {
                changed.push(v);
                break;
            }
    if (!changed.length) return null;
    const take = (from: Float32Array): Float32Array => {
        const numbers = new Float32Array(changed.length * width);
        changed.forEach((v, i) => numbers.set(from.subarray(v * width, (v + 1) * width), i * width));
        return numbers;
    };
    return { label, array, width, vertices: Uint32Array.from(changed), before: take(before), after: take(array) };
};

const put = ({ array, width, vertices }: Stroke, numbers: Float32Array): void =>
    vertices.forEach((v, i) => array.set(numbers.subarray(i * width, (i + 1) * width), v * width));

export class Strokes {
    #done: Stroke[] = [];
    #undone: Stroke[] = [];

    push(stroke: Stroke): void {
        this.#done.push(stroke);
        this.#undone = [];
    }
    get undoLabel(): string | null {
        return this.#done.at(-1)?.label ?? null;
    }
    get redoLabel(): string | null {
        return this.#undone.at(-1)?.label ?? null;
    }
    undo(): void {
        const stroke = this.#done.pop();
        if (!stroke) return;
        put(stroke, stroke.before);
        this.#undone.push(stroke);
    }
    redo(): void {
        const stroke = this.#undone.pop();
        if (!stroke) return;
        put(stroke, stroke.after);
        this.#done.push(stroke);
    }
    /** Number of strokes on an array. */
    count(array: Float32Array): number {
        return this.#done.filter((stroke) => stroke.array === array).length;
    }
    /** Forgets the strokes of an array. */
    forget(array: Float32Array): void {
        this.#done = this.#done.filter((stroke) => stroke.array !== array);
        this.#undone = this.#undone.filter((stroke) => stroke.array !== array);
    }
}
