// The triangle: a point in it by pointer and keys, as barycentric coordinates.
import { coloursOf } from "../core/colours";
import { h } from "../core/dom";

export type Coordinates = [number, number, number];
export const CENTRE: Readonly<Coordinates> = [1 / 3, 1 / 3, 1 / 3];

const WIDTH = 172; // CSS pixels
const HEIGHT = 150;
const EDGE = 10;
const CORNERS = [[WIDTH / 2, EDGE], [EDGE, HEIGHT - EDGE], [WIDTH - EDGE, HEIGHT - EDGE]] as const;
const CATCH = 6; // pixels within which a corner is hit exactly

const pointOf = (at: Readonly<Coordinates>): [number, number] => [
    at[0] * CORNERS[0][0] + at[1] * CORNERS[1][0] + at[2] * CORNERS[2][0],
    at[0] * CORNERS[0][1] + at[1] * CORNERS[1][1] + at[2] * CORNERS[2][1],
];

/** Barycentric coordinates of the triangle's point nearest to a pixel. */
const coordinatesAt = (x: number, y: number): Coordinates => {
    const caught = CORNERS.findIndex(([cx, cy]) => Math.hypot(cx - x, cy - y) < CATCH);
    if (caught >= 0) return [0, 1, 2].map((k) => (k === caught ? 1 : 0)) as Coordinates;
    const [[ax, ay], [bx, by], [cx, cy]] = CORNERS;
    const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
    const b = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / area;
    const c = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / area;
    const inside = [1 - b - c, b, c].map((value) => Math.max(0, value));
    const sum = inside[0]! + inside[1]! + inside[2]!;
    return inside.map((value) => value / sum) as Coordinates;
};

export const fieldOf = (move: (to: Coordinates) => void) => {
    const ratio = Math.max(1, Math.round(devicePixelRatio));
    const canvas = h("canvas", {
        class: "field", tabindex: 0, width: WIDTH * ratio, height: HEIGHT * ratio, role: "application",
        "aria-label": "The point between the three corners", title: "Drag the point (arrow keys; Home: the middle)",
    });
    const context = canvas.getContext("2d")!;
    let now: Readonly<Coordinates> = CENTRE;

    const follow = (event: PointerEvent): void => {
        const box = canvas.getBoundingClientRect();
        move(coordinatesAt(event.clientX - box.left, event.clientY - box.top));
    };
    canvas.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        canvas.setPointerCapture(event.pointerId);
        follow(event);
    });
    canvas.addEventListener("pointermove", (event) => canvas.hasPointerCapture(event.pointerId) && follow(event));
    canvas.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const by = event.shiftKey ? 20 : 4;
        const way = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] }[event.key];
        if (!way && event.key !== "Home") return;
        event.preventDefault();
        const [x, y] = pointOf(now);
        move(way ? coordinatesAt(x + way[0]!, y + way[1]!) : [...CENTRE]);
    });

    let drawn = "";
    const draw = (at: Readonly<Coordinates>, set: boolean): void => {
        now = at;
        const key = `${at} ${set} ${document.documentElement.dataset["theme"]}`;
        if (key === drawn) return;
        drawn = key;
        const { raised, quiet, line, accent } = coloursOf();
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, WIDTH, HEIGHT);
        context.beginPath();
        for (const [x, y] of CORNERS) context.lineTo(x, y);
        context.closePath();
        context.fillStyle = raised;
        context.fill();
        context.strokeStyle = quiet;
        context.lineWidth = 1.5;
        context.lineJoin = "round";
        context.stroke();
        const [x, y] = pointOf(at);
        context.strokeStyle = line;
        context.lineWidth = 1;
        for (const [cx, cy] of CORNERS) {
            context.beginPath();
            context.moveTo(cx, cy);
            context.lineTo(x, y);
            context.stroke();
        }
        // Hollow if the pose has changed elsewhere since.
        context.beginPath();
        context.arc(x, y, 5.5, 0, 2 * Math.PI);
        context.fillStyle = set ? accent : raised;
        context.strokeStyle = set ? accent : quiet;
        context.lineWidth = 2;
        context.fill();
        context.stroke();
    };
    return { element: canvas, draw };
};
