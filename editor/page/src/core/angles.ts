// Rotations as angles, alike in all panels. A full rotation has three, as in project files. A swing has two, about the
// axes perpendicular to its direction. A twist has one.
import type { Input } from "@exemplar/runtime";
import { showNumber } from "./dom";
import { rotationOf } from "./project";
import { across, anglesOf, byVector, dot, multiply, normalised, swingOf, twistAngle, twistOf, unit, vectorOf,
    type Direction, type Rotation } from "./rotation";

export interface Angles {
    names: string[];
    read(q: Rotation): number[];
    write(angles: number[], q: Rotation): Rotation;
}

export const anglesFor = (kind: Input["kind"], about: Direction): Angles => {
    if (kind === "twist")
        return {
            names: ["turn"],
            read: (q) => [twistAngle(q, about)],
            write: ([turn], q) => multiply(swingOf(q, about), byVector(about.map((c) => c * turn!))),
        };
    if (kind === "swing") {
        const [[first, a], [second, b]] = across(about);
        return {
            names: [first, second],
            read: (q) => [dot(vectorOf(swingOf(q, about)), a), dot(vectorOf(swingOf(q, about)), b)],
            write: ([x, y], q) =>
                multiply(byVector([0, 1, 2].map((i) => x! * a[i]! + y! * b[i]!)), twistOf(q, about)),
        };
    }
    return { names: ["x", "y", "z"], read: anglesOf, write: ([x, y, z]) => rotationOf({ x: x!, y: y!, z: z! }) };
};

/** "y −60° z −40°": zero angles of a full rotation are left out. */
export const turnWords = ({ kind, about }: Pick<Input, "kind" | "about">, q: ArrayLike<number>): string => {
    const known = about && Math.hypot(...about) > 0;
    const angles = anglesFor(known ? kind : "rotation", known ? unit(about) : [0, 1, 0]);
    const values = angles.read(normalised(q)).map((angle) => showNumber(angle, 100));
    if (values.length === 1) return `${values[0]}°`;
    const named = values.map((value, i) => [value, `${angles.names[i]} ${value}°`] as const);
    const some = values.length > 2 ? named.filter(([value]) => value !== "0") : named;
    return some.map(([, text]) => text).join(" ") || "0°";
};
