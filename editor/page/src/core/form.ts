// Forms as numbers, three per vertex: bounds, and distances between two forms.

/** Smallest x y z, largest x y z. */
export type Box = ArrayLike<number>;

export const boxOf = (positions: ArrayLike<number>): number[] => {
    const box = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
    for (let i = 0; i < positions.length; i += 3)
        for (let axis = 0; axis < 3; axis++) {
            const value = positions[i + axis]!;
            if (value < box[axis]!) box[axis] = value;
            if (value > box[axis + 3]!) box[axis + 3] = value;
        }
    return box[0]! <= box[3]! ? box : [-0.5, -0.5, -0.5, 0.5, 0.5, 0.5];
};

/** Half of the box's diagonal. */
export const radiusOf = (box: Box): number =>
    0.5 * Math.hypot(box[3]! - box[0]!, box[4]! - box[1]!, box[5]! - box[2]!) || 1;

/** The largest extent along x, y or z. */
export const sizeOf = (positions: ArrayLike<number>): number => {
    const box = boxOf(positions);
    return Math.max(...[0, 1, 2].map((i) => box[i + 3]! - box[i]!));
};

/** Maximum and root mean square of the distances between the vertices of two forms; each distance into `distances`
 * if given. */
export const apartOf = (a: Float32Array, b: Float32Array, distances?: Float32Array): { maximum: number; rms: number } => {
    let [most, sum] = [0, 0];
    for (let v = 0, i = 0; i + 2 < a.length; v++, i += 3) {
        const [x, y, z] = [a[i]! - b[i]!, a[i + 1]! - b[i + 1]!, a[i + 2]! - b[i + 2]!];
        const square = x * x + y * y + z * z;
        if (distances) distances[v] = Math.sqrt(square);
        if (square > most) most = square;
        sum += square;
    }
    return { maximum: Math.sqrt(most), rms: Math.sqrt(sum / Math.max(1, a.length / 3)) };
};
