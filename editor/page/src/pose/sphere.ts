// A ball for a rotation. A fixed direction (that of the bone) points to a spot on the ball, which you can drag: the
// swing. A ring around the ball has the turn about that direction: the twist. Dots are the spots of examples. The ball
// is seen from the view's camera, so the spot lies where the bone points.
import type { App } from "../core/app";
import { coloursOf } from "../core/colours";
import { h } from "../core/dom";
import { between, byVector, cross, DEGREES, dot, inverse, turned, twistAngle, unit, type Direction, type Rotation } from "../core/rotation";

const SIZE = 132; // CSS pixels
const CENTRE = SIZE / 2;
const RADIUS = 46;
const RING = 59;
const ARROWS: { [key: string]: Direction } = {
    ArrowLeft: [-1, 0, 0],
    ArrowRight: [1, 0, 0],
    ArrowUp: [0, 1, 0],
    ArrowDown: [0, -1, 0],
};

export interface Ball {
    readonly element: HTMLCanvasElement;
    /** Shows a rotation, and those of examples, all relative to rest. */
    draw(rotation: Rotation, examples: readonly Rotation[], frame: Rotation): void;
}

export interface BallParts {
    label: string;
    /** The direction that swings, in the joint's own axes at rest. */
    about: Direction;
    swings: boolean;
    twists: boolean;
    swing(to: Rotation): void;
    twist(degrees: number): void;
    rest(): void;
}

/** Right, up and towards the viewer, in world axes. */
const camera = (app: App): [Direction, Direction, Direction] => {
    const origin = [0, 0, 0];
    const at = (clientX: number, clientY: number) => ({ clientX, clientY });
    const along = (x: number, y: number) => app.picker?.drag(origin, at(0, 0), at(x, y));
    const [x, y] = [along(1, 0), along(0, -1)];
    if (!x || !y || !(Math.hypot(...x) > 0) || !(Math.hypot(...y) > 0)) return [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    const right = unit(x);
    const up = unit(y);
    return [right, up, unit(cross(right, up))];
};

/** The spot under a pointer, in units of the radius: on the near side, and beyond the edge on the far side. */
const spotAt = (x: number, y: number, side: 1 | -1): Direction => {
    const r = Math.hypot(x, y);
    if (r <= 1) return [x, y, side * Math.sqrt(1 - r * r)];
    return [x / r / r, y / r / r, -side * Math.sqrt(1 - 1 / r / r)];
};

export const ball = (app: App, parts: BallParts): Ball => {
    const ratio = Math.max(1, Math.round(devicePixelRatio));
    const canvas = h("canvas", {
        class: "ball", tabindex: 0, width: SIZE * ratio, height: SIZE * ratio, role: "application", "aria-label": parts.label,
        title: [parts.swings && "Drag the spot to swing (arrow keys)", parts.twists && "drag the ring to turn (Page Up, Page Down)",
            "double click for rest (Home)"].filter(Boolean).join("; "),
    });
    const context = canvas.getContext("2d")!;
    let [right, up, near] = camera(app);
    let now: Direction = parts.about; // the direction now, in the axes of the joint's parent
    let frame: Rotation = [0, 0, 0, 1]; // from the parent to the world
    let twist = 0;

    const onScreen = (direction: Direction): Direction => {
        const world = turned(frame, direction);
        return [dot(world, right), dot(world, up), dot(world, near)];
    };
    const fromScreen = ([x, y, z]: Direction): Direction => {
        const world = [0, 1, 2].map((i) => x * right[i]! + y * up[i]! + z * near[i]!);
        return turned(inverse(frame), world);
    };
    const swingTo = (spot: Direction): void => parts.swing(between(parts.about, unit(fromScreen(spot))));

    // ---- the pointer ----

    const place = (event: PointerEvent): [number, number] => {
        const box = canvas.getBoundingClientRect();
        return [event.clientX - box.left - CENTRE, CENTRE - (event.clientY - box.top)];
    };
    let held: ((x: number, y: number) => void) | null = null;
    const grab = (x: number, y: number): ((x: number, y: number) => void) | null => {
        const r = Math.hypot(x, y);
        if (parts.twists && (r > (RADIUS + RING) / 2 || !parts.swings)) {
            const start = twist;
            const first = Math.atan2(x, y) * DEGREES;
            // By the pointer's motion around the centre, so nothing jumps when the handle is caught off its middle.
            return (toX, toY) => {
                const angle = start + Math.atan2(toX, toY) * DEGREES - first;
                parts.twist(angle - 360 * Math.round(angle / 360));
            };
        }
        if (!parts.swings) return null;
        const [spotX, spotY, depth] = onScreen(now);
        const [dx, dy] = [spotX * RADIUS - x, spotY * RADIUS - y];
        const caught = Math.hypot(dx, dy) < 12;
        const side = caught && depth < 0 ? -1 : 1;
        const [offX, offY] = caught ? [dx, dy] : [0, 0];
        return (toX, toY) => swingTo(spotAt((toX + offX) / RADIUS, (toY + offY) / RADIUS, side));
    };
    canvas.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        held = grab(...place(event));
        if (!held) return;
        canvas.setPointerCapture(event.pointerId);
        held(...place(event));
    });
    canvas.addEventListener("pointermove", (event) => held?.(...place(event)));
    const release = (): void => void (held = null);
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("dblclick", () => parts.rest());

    // ---- keys ----

    // Turns along the ball in the direction of the arrow, and on over to the far side.
    const swingBy = (way: Direction, degrees: number): void => {
        const spot = onScreen(now);
        const left = Math.acos(Math.min(1, Math.max(-1, dot(spot, way)))) * DEGREES;
        if (left > degrees) {
            const axis = unit(cross(spot, way));
            swingTo(turned(byVector([axis[0] * degrees, axis[1] * degrees, axis[2] * degrees]), spot));
        } else {
            const over = Math.max(degrees - left, 0.1) / DEGREES;
            const [c, s] = [Math.cos(over), Math.sin(over)];
            swingTo([way[0] * c, way[1] * c, (spot[2] >= 0 ? -1 : 1) * s]);
        }
    };
    canvas.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const by = event.shiftKey ? 10 : 2;
        const way = ARROWS[event.key];
        if (way && parts.swings) swingBy(way, by);
        else if (way && parts.twists) parts.twist(twist + (way[0] + way[1]) * by);
        else if (event.key === "PageUp" && parts.twists) parts.twist(twist + by);
        else if (event.key === "PageDown" && parts.twists) parts.twist(twist - by);
        else if (event.key === "Home") parts.rest();
        else return;
        event.preventDefault();
    });

    // ---- drawing ----

    let colours = coloursOf();
    const circle = (x: number, y: number, r: number): void => {
        context.beginPath();
        context.arc(CENTRE + x, CENTRE - y, r, 0, 2 * Math.PI);
    };
    const dotAt = (direction: Direction, r: number, colour: string): void => {
        const [x, y, z] = onScreen(direction);
        circle(x * RADIUS, y * RADIUS, r);
        context.fillStyle = z >= 0 ? colour : colours.raised;
        context.fill();
        context.strokeStyle = colour;
        context.lineWidth = 1.5;
        context.stroke();
    };
    // A great circle perpendicular to a direction; its far half is dashed.
    const greatCircle = (across: Direction): void => {
        const a = unit(cross(across, Math.abs(across[0]) < 0.6 ? [1, 0, 0] : [0, 1, 0]));
        const b = cross(across, a);
        context.lineWidth = 1;
        context.strokeStyle = colours.line;
        let pen = false;
        context.beginPath();
        for (let i = 0; i <= 48; i++) {
            const [c, s] = [Math.cos((i / 24) * Math.PI), Math.sin((i / 24) * Math.PI)];
            const [x, y, z] = onScreen([a[0] * c + b[0] * s, a[1] * c + b[1] * s, a[2] * c + b[2] * s]);
            if (z >= -0.01) context[pen ? "lineTo" : "moveTo"](CENTRE + x * RADIUS, CENTRE - y * RADIUS);
            pen = z >= -0.01;
        }
        context.stroke();
    };
    const ring = (angles: readonly number[]): void => {
        circle(0, 0, RING);
        context.strokeStyle = colours.line;
        context.lineWidth = 3;
        context.stroke();
        const at = (degrees: number): [number, number] => [
            RING * Math.sin(degrees / DEGREES),
            RING * Math.cos(degrees / DEGREES),
        ];
        for (const angle of angles) {
            circle(...at(angle), 2.5);
            context.fillStyle = colours.quiet;
            context.fill();
        }
        circle(...at(twist), 5);
        context.fillStyle = colours.accent;
        context.fill();
    };

    let drawn: readonly unknown[] = [];
    const draw = (rotation: Rotation, examples: readonly Rotation[], world: Rotation): void => {
        colours = coloursOf();
        [right, up, near] = camera(app);
        const wanted = [...rotation, ...world, ...right, ...up, examples, colours];
        if (wanted.every((value, i) => value === drawn[i])) return;
        drawn = wanted;
        frame = world;
        now = turned(rotation, parts.about);
        twist = twistAngle(rotation, parts.about);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, SIZE, SIZE);
        circle(0, 0, RADIUS);
        context.fillStyle = colours.raised;
        context.fill();
        context.strokeStyle = colours.quiet;
        context.lineWidth = 1;
        context.stroke();
        for (const axis of [[1, 0, 0], [0, 1, 0], [0, 0, 1]] as Direction[]) greatCircle(axis);
        const [x, y] = onScreen(now);
        context.beginPath();
        context.moveTo(CENTRE, CENTRE);
        context.lineTo(CENTRE + x * RADIUS, CENTRE - y * RADIUS);
        context.strokeStyle = colours.accent;
        context.lineWidth = 2.5;
        context.stroke();
        if (parts.swings) for (const example of examples) dotAt(turned(example, parts.about), 3, colours.quiet);
        dotAt(now, 5.5, colours.accent);
        if (parts.twists) ring(examples.map((example) => twistAngle(example, parts.about)));
    };
    return { element: canvas, draw };
};
