// Blends three poses by a point in a triangle. Its corners are examples of the selected layer, or rest, and its
// barycentric coordinates are the blend (Trajectory Warping, figure 5).
import type { Layer, Pose } from "@exemplar/runtime";
import type { App } from "../core/app";
import { blendPoses } from "../core/blend";
import { h } from "../core/dom";
import { CENTRE, fieldOf, type Coordinates } from "./trianglefield";

const REST = "\u0000rest"; // not the name of any example
const PICTURE = 48; // CSS pixels

interface Corner {
    readonly element: HTMLElement;
    readonly select: HTMLSelectElement;
    readonly picture: HTMLCanvasElement;
    readonly number: HTMLElement;
    drawn: string;
}

/** The three examples nearest to the pose; without places, those with the largest weights. */
const nearest = (app: App, layer: Layer): string[] => {
    const { pose, surface } = app.stage;
    const placed = layer.kind.hasPoints && !layer.kind.isDriven;
    const point = placed ? layer.inputs.flatMap((input) => pose.get(input.index)) : [];
    const far = layer.examples.map(({ index, name }) => {
        const at = placed ? layer.examplePoint(index) : null;
        return { name, distance: at ? layer.distance(point, at) : -surface.weights[layer.firstExample + index]! };
    });
    return far.sort((a, b) => a.distance - b.distance).slice(0, 3).map(({ name }) => name);
};

export const trianglePart = (app: App): { element: HTMLDetailsElement; rebuild(): void } => {
    let at: Coordinates = [...CENTRE];
    let set = false; // true if the pose matches the point
    let poses: Pose[] = [];

    const makeCorner = (k: number): Corner => {
        const label = `Corner ${"ABC"[k]}`;
        const ratio = Math.max(1, Math.round(devicePixelRatio));
        const picture = h("canvas", { width: PICTURE * ratio, height: PICTURE * ratio });
        const number = h("span", { class: "coordinate" });
        const select = h("select", { "aria-label": label, title: label, onchange: () => (drawPictures(), go()) });
        const there = h("button", { class: "picture", "aria-label": `${label}: go there`, title: "Go there", onclick: () => {
            at = [0, 0, 0];
            at[k] = 1;
            go();
        } }, picture);
        return { element: h("div", { class: "corner" }, there, select, number), select, picture, number, drawn: "" };
    };
    const corners = [0, 1, 2].map(makeCorner) as [Corner, Corner, Corner];
    const field = fieldOf((to) => {
        at = to;
        go();
    });

    const setCorner = (pose: Pose, name: string): void => {
        const layer = app.layer;
        const example = layer?.examples.find((e) => e.name === name);
        if (layer && example) app.stage.setExample(pose, layer.name, example);
        else pose.rest();
    };
    const go = (): void => {
        if (poses[0]?.disposed ?? true) poses = corners.map(() => app.stage.rig.pose());
        corners.forEach((corner, k) => setCorner(poses[k]!, corner.select.value));
        app.pose((pose) => blendPoses(pose, poses, at));
        set = true;
        show();
    };
    const show = (): void => {
        if (!element.open) return;
        field.draw(at, set);
        corners.forEach(({ number }, k) => {
            const text = at[k]!.toFixed(3);
            if (number.textContent !== text) number.textContent = text;
        });
    };
    const drawPictures = (): void => {
        if (!element.open) return;
        const looks = document.documentElement.dataset["theme"] ?? "";
        for (const corner of corners) {
            const wanted = `${looks} ${app.selection.layer} ${corner.select.value}`;
            if (corner.drawn === wanted) continue;
            corner.drawn = wanted;
            app.pictures?.draw(corner.picture, (pose) => setCorner(pose, corner.select.value));
        }
    };

    // ---- choices ----

    let listed = "";
    const choose = (names: readonly string[]): void => {
        corners.forEach(({ select }, k) => (select.value = names[k] ?? REST));
        drawPictures();
    };
    const list = (): void => {
        const living = (app.layer?.examples ?? []).filter((example) => !example.muted);
        element.hidden = living.length < 2 || !app.rigLayer;
        const key = `${app.layer?.name}\n${living.map((example) => example.name).join("\n")}`;
        if (key === listed || !element.open) return;
        const before = corners.map((corner) => corner.select.value);
        const kept = listed !== "" && before.every((name) => name === REST || living.some((e) => e.name === name));
        listed = key;
        for (const { select } of corners)
            select.replaceChildren(...living.map(({ name }) => h("option", { value: name }, name)),
                h("option", { value: REST }, "(rest)"));
        const rest = app.rigLayer && !app.rigLayer.kind.hasPoints ? [REST] : [];
        choose(kept ? before : [...rest, ...living.map((example) => example.name)]);
    };
    const rebuild = (): void => {
        for (const corner of corners) corner.drawn = "";
        list();
        drawPictures();
        show();
    };
    const [a, b, c] = corners;
    const element = h("details", { class: "triangle", ontoggle: rebuild },
        h("summary", { title: "Blend three examples: the distances of the point from the sides are the weights" },
            "Blend of three"),
        a.element, field.element, h("div", { class: "feet" }, b.element, c.element),
        h("button", { class: "nearest", title: "Use the three examples nearest to the pose as corners", onclick: () => {
            if (app.rigLayer) choose(nearest(app, app.rigLayer));
            set = false;
            show();
        } }, "Nearest three"));

    app.on("pose", () => (set = false));
    app.on("selection", list);
    app.on("tree", list);
    app.on("display", () => {
        drawPictures();
        show();
    });
    app.on("frame", show);
    return { element, rebuild };
};
