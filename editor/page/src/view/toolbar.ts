// The bar above the view with its display settings; each button has a key.
import type { App, Display } from "../core/app";
import { commandButton, tipOf } from "../core/buttons";
import type { Command } from "../core/commands";
import { h } from "../core/dom";
import type { View } from "./view";

const SURFACES: [Display["surface"], string][] = [["material", "Material"], ["shaded", "Shaded"], ["texture", "Texture"], ["normals", "Normals"]];
const COLOURS: [Display["colour"], string][] = [
    ["none", "No colours"], ["weight", "Weight"], ["difference", "Difference"], ["mask", "Mask"],
];

const next = <T>(values: readonly T[], value: T): T => values[(values.indexOf(value) + 1) % values.length]!;

const surfacesOf = (view: View): Display["surface"][] =>
    SURFACES.map(([value]) => value).filter((value) =>
        value === "texture" ? view.actors.hasTexture : value !== "material" || view.actors.hasLooks);

const command = (id: string, label: string, keys: string[], run: () => void, enabled?: () => boolean): Command => ({
    id, label, keys, run, group: "View", ...(enabled ? { enabled } : {}),
});

const toggle = (app: App, what: "wire" | "skeleton" | "ground" | "unposed" | "onion") => (): void =>
    app.show({ [what]: !app.display[what] });

const addCameraCommands = (app: App, view: View): void => {
    const { eye } = view;
    const step = (id: string, label: string, keys: string[], change: () => void): void =>
        app.commands.add(command(id, label, keys, () => {
            change();
            view.redraw();
        }));
    const turn = Math.PI / 12;
    const pan = (x: number, y: number) => (): void => eye.pan(0.08 * x * eye.distance, 0.08 * y * eye.distance);
    step("view-front", "Front view; press again for the back", ["1"], () => eye.look(0, 0));
    step("view-side", "Side view; press again for the other side", ["3"], () => eye.look(Math.PI / 2, 0));
    step("view-top", "Top view; press again for the bottom", ["7"], () => eye.look(0, Math.PI / 2));
    step("orbit-left", "Turn the view left", ["ArrowLeft"], () => eye.orbit(-turn, 0));
    step("orbit-right", "Turn the view right", ["ArrowRight"], () => eye.orbit(turn, 0));
    step("orbit-up", "Turn the view up", ["ArrowUp"], () => eye.orbit(0, turn));
    step("orbit-down", "Turn the view down", ["ArrowDown"], () => eye.orbit(0, -turn));
    step("pan-left", "Pan left", ["Shift+ArrowLeft"], pan(-1, 0));
    step("pan-right", "Pan right", ["Shift+ArrowRight"], pan(1, 0));
    step("pan-up", "Pan up", ["Shift+ArrowUp"], pan(0, 1));
    step("pan-down", "Pan down", ["Shift+ArrowDown"], pan(0, -1));
    step("nearer", "Zoom in", ["+", "="], () => eye.dolly(0.85));
    step("farther", "Zoom out", ["-"], () => eye.dolly(1 / 0.85));
};

const addCommands = (app: App, view: View): void => {
    const { display } = app;
    const hasJoints = (): boolean => app.stage.rig.joints.length > 0;
    app.commands.add(
        command("frame", "Show the whole form", ["F"], () => view.frame()),
        command("orthographic", "Parallel or perspective view", ["O"], () => {
            view.eye.orthographic = !view.eye.orthographic;
            app.emit("display");
            view.redraw();
        }),
        command("wire", "Show edges", ["W"], toggle(app, "wire")),
        command("shading", "Material, shaded, texture or normals", ["S"], () =>
            app.show({ surface: next(surfacesOf(view), display.surface) })),
        command("colour", "Colours: weight, difference, mask or none", ["C"], () =>
            app.show({ colour: next(COLOURS.map(([value]) => value), display.colour) })),
        command("skeleton", "Show joints, to turn them", ["J"], toggle(app, "skeleton"), hasJoints),
        command("ground", "Show the ground", ["Shift+G"], toggle(app, "ground")),
        command("unposed", "Show the form before skinning", ["U"], toggle(app, "unposed")),
        command("onion", "Show the nearest examples as ghosts behind the form", ["K"], toggle(app, "onion")),
    );
    addCameraCommands(app, view);
};

export const viewToolbar = (app: App, view: View): HTMLElement => {
    addCommands(app, view);
    const button = (id: string, text: string): HTMLButtonElement => commandButton(app, id, text);
    // After a choice by mouse, the keys belong to the view again.
    const choice = (id: string, name: string, choose: (value: string) => void): HTMLSelectElement => {
        let byMouse = false;
        const select = h("select", {
            "aria-label": name,
            title: tipOf(app, id),
            onpointerdown: () => (byMouse = true),
            onkeydown: () => (byMouse = false),
            onchange: () => {
                choose(select.value);
                if (byMouse) view.canvas.focus({ preventScroll: true });
            },
        });
        return select;
    };
    const wire = button("wire", "Edges");
    const skeleton = button("skeleton", "Joints");
    const ground = button("ground", "Ground");
    const unposed = button("unposed", "Un-posed");
    const flat = button("orthographic", "Parallel");
    const onion = button("onion", "Onion skins");
    const surface = choice("shading", "Surface", (value) => app.show({ surface: value as Display["surface"] }));
    const colour = choice("colour", "Colours", (value) => app.show({ colour: value as Display["colour"] }));
    colour.append(...COLOURS.map(([value, text]) => h("option", { value }, text)));

    const update = (): void => {
        const { display } = app;
        const pressed = (b: HTMLElement, on: boolean): void => b.setAttribute("aria-pressed", String(on));
        pressed(wire, display.wire);
        pressed(skeleton, display.skeleton);
        pressed(ground, display.ground);
        pressed(unposed, display.unposed);
        pressed(flat, view.eye.orthographic);
        pressed(onion, display.onion);
        skeleton.disabled = app.stage.rig.joints.length === 0;
        const surfaces = surfacesOf(view);
        surface.replaceChildren(...SURFACES.filter(([value]) => surfaces.includes(value)).map(([value, text]) =>
            h("option", { value, selected: value === display.surface }, text)));
        colour.value = display.colour;
    };
    app.on("display", update);
    app.on("rig", update);
    update();
    return h("div", { class: "view-bar", role: "toolbar", "aria-label": "View" },
        surface, colour, wire, skeleton, onion, ground, unposed, flat, button("frame", "Frame all"));
};
