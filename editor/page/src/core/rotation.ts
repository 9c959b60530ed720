// Rotations as x y z w: swing and twist, three angles, directions. As in the library, a rotation is its twist followed
// by its swing. The swing gives the direction that a bone points in, the twist its turn about that direction.

export type Rotation = [number, number, number, number];
export type Direction = [number, number, number];
export const DEGREES = 180 / Math.PI;
export const NONE: Readonly<Rotation> = [0, 0, 0, 1];

export const unit = (v: ArrayLike<number>): Direction => {
    const length = Math.hypot(v[0]!, v[1]!, v[2]!) || 1;
    return [v[0]! / length, v[1]! / length, v[2]! / length];
};
export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;
export const cross = (a: ArrayLike<number>, b: ArrayLike<number>): Direction => [
    a[1]! * b[2]! - a[2]! * b[1]!,
    a[2]! * b[0]! - a[0]! * b[2]!,
    a[0]! * b[1]! - a[1]! * b[0]!,
];

export const normalised = (q: ArrayLike<number>): Rotation => {
    const length = Math.hypot(q[0]!, q[1]!, q[2]!, q[3]!);
    return length > 0 ? [q[0]! / length, q[1]! / length, q[2]! / length, q[3]! / length] : [...NONE];
};
export const inverse = (q: ArrayLike<number>): Rotation => [-q[0]!, -q[1]!, -q[2]!, q[3]!];

/** a, then b in a's own axes. */
export const multiply = (a: ArrayLike<number>, b: ArrayLike<number>): Rotation => {
    const [ax, ay, az, aw] = [a[0]!, a[1]!, a[2]!, a[3]!];
    const [bx, by, bz, bw] = [b[0]!, b[1]!, b[2]!, b[3]!];
    return [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    ];
};

/** A direction, turned. */
export const turned = (q: ArrayLike<number>, v: ArrayLike<number>): Direction => {
    const t = cross(q, v).map((c) => 2 * c);
    const u = cross(q, t);
    return [v[0]! + q[3]! * t[0]! + u[0], v[1]! + q[3]! * t[1]! + u[1], v[2]! + q[3]! * t[2]! + u[2]];
};

/** The rotation of a rotation vector: about its direction, by its length in degrees. */
export const byVector = (v: ArrayLike<number>): Rotation => {
    const angle = Math.hypot(v[0]!, v[1]!, v[2]!);
    const s = angle > 0 ? Math.sin(angle / 2 / DEGREES) / angle : 0;
    return [v[0]! * s, v[1]! * s, v[2]! * s, Math.cos(angle / 2 / DEGREES)];
};
/** The rotation vector of a rotation, at most 180 long. */
export const vectorOf = (q: ArrayLike<number>): Direction => {
    const sign = q[3]! < 0 ? -1 : 1;
    const length = Math.hypot(q[0]!, q[1]!, q[2]!);
    const s = length > 0 ? (2 * sign * DEGREES * Math.atan2(length, Math.abs(q[3]!))) / length : 0;
    return [q[0]! * s, q[1]! * s, q[2]! * s];
};

/** The part of a rotation about a unit direction. Identity if the rotation reverses that direction. */
export const twistOf = (q: ArrayLike<number>, about: ArrayLike<number>): Rotation => {
    const along = dot(q, about);
    if (Math.hypot(along, q[3]!) < 1e-9) return [...NONE];
    return normalised([about[0]! * along, about[1]! * along, about[2]! * along, q[3]!]);
};
export const swingOf = (q: ArrayLike<number>, about: ArrayLike<number>): Rotation =>
    multiply(q, inverse(twistOf(q, about)));
/** Degrees of the twist, from -180 to 180. */
export const twistAngle = (q: ArrayLike<number>, about: ArrayLike<number>): number => dot(vectorOf(twistOf(q, about)), about);

export const AXES: readonly (readonly [name: "x" | "y" | "z", axis: Readonly<Direction>])[] = [
    ["x", [1, 0, 0]],
    ["y", [0, 1, 0]],
    ["z", [0, 0, 1]],
];
/** Two directions perpendicular to one, with names: coordinate axes if it is one, else u and v. */
export const across = (about: Readonly<Direction>): [readonly [string, Direction], readonly [string, Direction]] => {
    const main = about.findIndex((c) => Math.abs(c) > 1 - 1e-9);
    if (main >= 0) {
        const [a, b] = AXES.filter((_, i) => i !== main);
        return [[a![0], [...a![1]]], [b![0], [...b![1]]]];
    }
    const u = unit(cross(about, Math.abs(about[0]) < 0.6 ? [1, 0, 0] : [0, 1, 0]));
    return [["u", u], ["v", cross(about, u)]];
};

/** The shortest rotation from one unit direction to another. */
export const between = (from: ArrayLike<number>, to: ArrayLike<number>): Rotation => {
    const w = 1 + dot(from, to);
    if (w > 1e-9) return normalised([...cross(from, to), w]);
    const side = Math.abs(from[0]!) < 0.6 ? [1, 0, 0] : [0, 1, 0];
    return [...unit(cross(from, side)), 0];
};

/** Three angles in degrees, x then y then z, each about the axis as turned by those before, as in project files. */
export const anglesOf = (q: ArrayLike<number>): Direction => {
    const [x, y, z, w] = normalised(q);
    const sine = 2 * (x * z + w * y);
    if (Math.abs(sine) > 1 - 1e-12) // y points straight up or down: x and z turn about the same axis
        return [DEGREES * 2 * Math.atan2(x, w), DEGREES * Math.sign(sine) * (Math.PI / 2), 0];
    return [
        DEGREES * Math.atan2(2 * (w * x - y * z), 1 - 2 * (x * x + y * y)),
        DEGREES * Math.asin(sine),
        DEGREES * Math.atan2(2 * (w * z - x * y), 1 - 2 * (y * y + z * z)),
    ];
};

/** The normalised weighted sum, all in the hemisphere of the first. */
export const blended = (rotations: readonly ArrayLike<number>[], weights: readonly number[]): Rotation => {
    const first = rotations[0]!;
    const sum: Rotation = [0, 0, 0, 0];
    rotations.forEach((q, k) => {
        const sign = dot(q, first) + q[3]! * first[3]! < 0 ? -weights[k]! : weights[k]!;
        for (let i = 0; i < 4; i++) sum[i]! += sign * q[i]!;
    });
    return normalised(sum);
};

/** Distance between two rotations: 0 if they are the same. */
export const apart = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
    1 - Math.abs(dot(a, b) + a[3]! * b[3]!);
