// Contour lines through a grid of numbers by marching squares, joined so that dashes run along them.

/** `values` are n × n numbers, row by row. Returns polylines in units of the grid, x then y. */
export const contours = (values: ArrayLike<number>, n: number, level: number): [number, number][][] => {
    // Crossings of the line with the edges of cells. An edge is identified by its first corner and its direction.
    const links = new Map<number, number[]>();
    const join = (a: number, b: number): void => {
        (links.get(a) ?? links.set(a, []).get(a)!).push(b);
        (links.get(b) ?? links.set(b, []).get(b)!).push(a);
    };
    for (let j = 0; j + 1 < n; j++)
        for (let i = 0; i + 1 < n; i++) {
            const k = j * n + i;
            const [a, b, c, d] = [values[k]! > level, values[k + 1]! > level, values[k + n + 1]! > level, values[k + n]! > level];
            if (a === b && b === c && c === d) continue;
            const [low, right, high, left] = [2 * k, 2 * (k + 1) + 1, 2 * (k + n), 2 * k + 1];
            const crossed = [a !== b && low, b !== c && right, c !== d && high, d !== a && left].filter((e) => e !== false);
            if (crossed.length === 2) join(crossed[0]!, crossed[1]!);
            else {
                // Saddle: the value in the middle decides which corners belong together.
                const middle = (values[k]! + values[k + 1]! + values[k + n]! + values[k + n + 1]!) / 4 > level;
                if (middle === a) (join(low, right), join(high, left));
                else (join(low, left), join(high, right));
            }
        }
    const placeOf = (edge: number): [number, number] => {
        const k = edge >> 1;
        const [i, j] = [k % n, Math.floor(k / n)];
        const [from, to] = [values[k]!, values[edge & 1 ? k + n : k + 1]!];
        const t = (level - from) / (to - from);
        return edge & 1 ? [i, j + t] : [i + t, j];
    };
    const lines: [number, number][][] = [];
    const walk = (start: number): void => {
        const line: [number, number][] = [placeOf(start)];
        for (let at = start, next = links.get(at)?.pop(); next !== undefined; next = links.get(at)?.pop()) {
            const back = links.get(next)!;
            back.splice(back.indexOf(at), 1);
            line.push(placeOf(next));
            at = next;
        }
        if (line.length > 1) lines.push(line);
    };
    // First the lines that start at the border of the grid; the rest are closed.
    for (const [edge, others] of links) if (others.length === 1) walk(edge);
    for (const [edge, others] of links) if (others.length > 0) walk(edge);
    return lines;
};
