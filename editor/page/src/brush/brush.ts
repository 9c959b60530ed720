// The panel of the brushes. Fix bad vertices at the pose where you see them, and insert the result as an example. Paint
// masks and groups.
import type { App, Tool } from "../core/app";
import { commandButton } from "../core/buttons";
import { h } from "../core/dom";
import { isRefused, rangeWords, refuse } from "../core/refuse";
import { addBrushCommands } from "./commands";
import { Brush, isBrush } from "./controller";
import { paintControls } from "./paint_controls";
import { Strokes } from "./pointer";
import { insertNow, sculptControls } from "./sculpt_controls";

const TOOLS: readonly (readonly [Tool["id"], string])[] = [
    ["orbit", "Look"],
    ["grab", "Grab"],
    ["smooth", "Smooth"],
    ["paint", "Paint"],
];
const HINTS: Record<Tool["id"], string> = {
    orbit: "Choose a brush to fix vertices at this pose.",
    grab: "Drag the form. Shift smooths, the right button turns the view.",
    smooth: "Stroke over rough areas. Open edges stay in place.",
    paint: "Stroke to add. Ctrl removes, Shift softens.",
};

/** Names the parts of the surface (texture, subdivision) that are hidden while a brush is active. */
const cageSentence = ({ stage: { rig } }: App): string => {
    const gone = [rig.textures.length && "texture", rig.shownLevel > 0 && "subdivision"].filter(Boolean);
    if (!gone.length) return "";
    return `The brush works on the cage, without ${gone.join(" and ")}.`;
};

/** A slider and a number field for the same value. */
const dial = (label: string, unit: string, range: readonly [number, number, number], set: (value: number) => void) => {
    const [min, max, step] = range;
    const slider = h("input", { type: "range", min, max, step, "aria-label": label });
    const number = h("input", { type: "number", min, step: "any", "aria-label": `${label}${unit && `, ${unit}`}` });
    slider.addEventListener("input", () => set(slider.valueAsNumber));
    number.addEventListener("change", () => set(number.valueAsNumber));
    number.addEventListener("keydown", (event) => event.key === "Enter" && number.blur());
    const row = h("label", { class: "dial" }, h("span", {}, label), slider, number, unit && h("span", { class: "unit" }, unit));
    return { row, slider, number };
};

const toolButtons = (app: App): HTMLButtonElement[] =>
    TOOLS.map(([id, text]) => commandButton(app, `brush-${id}`, text, { "data-tool": id }));

export const brushPanel = (app: App): HTMLElement => {
    if (!app.server)
        return h("div", { class: "brush" }, h("p", { class: "quiet" },
            "Brushes write files next to a project. Open a project with 'exemplar edit' to use them."));
    const brush = new Brush(app);
    let strokes: Strokes | null = null;
    addBrushCommands(app, brush, () => strokes);

    const buttons = toolButtons(app);
    // The slider is logarithmic, from a thousandth of the form to all of it. The number is in millimetres.
    const radius = dial("Radius", "mm", [-3, 0, 0.01], () => undefined);
    const strength = dial("Strength", "", [0, 1, 0.01], (value) => {
        const isGood = value >= 0 && value <= 1;
        refuse(strength.number, isGood ? null : `Type a number ${rangeWords(0, 1)}.`);
        if (isBrush(app.tool) && isGood) brush.strength[app.tool] = value;
        update();
    });
    radius.slider.oninput = () => {
        refuse(radius.number, null);
        brush.setRadius(brush.size * 10 ** radius.slider.valueAsNumber);
    };
    radius.number.onchange = () => {
        const isGood = radius.number.valueAsNumber > 0;
        refuse(radius.number, isGood ? null : "Type a number of millimetres above 0.");
        if (isGood) brush.setRadius(radius.number.valueAsNumber / 1000);
    };
    for (const { number } of [radius, strength]) number.addEventListener("blur", () => update());
    const symmetric = h("input", { type: "checkbox", onchange: () => (brush.symmetric = symmetric.checked) });
    const hint = h("p", { class: "quiet hint" });
    const cage = h("p", { class: "quiet" });
    const settings = h("div", { class: "settings" }, radius.row, strength.row,
        h("label", { class: "check", title: "Mirror every stroke across x = 0. Vertices are matched by their positions at rest." },
            symmetric, "Symmetric in x"));
    const sculpt = sculptControls(app, brush);
    const paint = paintControls(app, brush);
    const report = h("p", { class: "report", role: "status" });
    const panel = h("div", { class: "brush" }, h("div", { class: "tools", role: "group", "aria-label": "Brushes" }, ...buttons),
        hint, cage, settings, sculpt.element, paint.element, report);

    // Buttons and sliders would keep Enter, and the button of a brush would put the brush down.
    panel.addEventListener("keydown", (event) => {
        const target = event.target as Element;
        if (event.key !== "Enter" || !brush.session?.isSculpted || target.closest(".actions, input[type=text]")) return;
        event.preventDefault();
        if (target instanceof HTMLInputElement) target.blur(); // takes the typed number
        void insertNow(app, brush);
    });

    const update = (): void => {
        const { tool } = app;
        for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset["tool"] === tool));
        hint.textContent = HINTS[tool];
        cage.textContent = brush.session ? cageSentence(app) : "";
        cage.hidden = cage.textContent === "";
        settings.hidden = !isBrush(tool);
        if (brush.radius > 0) {
            radius.slider.value = String(Math.log10(brush.radius / brush.size));
            if (document.activeElement !== radius.number && !isRefused(radius.number)) radius.number.value = String(Number((1000 * brush.radius).toPrecision(3)));
        }
        if (isBrush(tool)) {
            strength.slider.value = String(brush.strength[tool]);
            if (document.activeElement !== strength.number && !isRefused(strength.number)) strength.number.value = String(brush.strength[tool]);
        }
        sculpt.update();
        paint.update();
        report.textContent = brush.report?.text ?? "";
        report.dataset["kind"] = brush.report?.kind ?? "";
        report.hidden = !brush.report;
    };
    brush.onchange = update;
    app.on("tool", () => {
        if (app.picker) strokes ??= new Strokes(brush, app.picker);
        if (!isBrush(app.tool)) strokes?.hideRing();
        // Unfold the panel if a key selected the brush.
        const part = panel.closest("details");
        if (part && isBrush(app.tool)) part.open = true;
        update();
        if (isBrush(app.tool)) panel.scrollIntoView({ block: "nearest" });
    });
    app.on("tree", update);
    app.on("rig", update);
    app.on("selection", update);
    update();
    return panel;
};
