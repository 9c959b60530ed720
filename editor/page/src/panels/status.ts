// The line at the bottom: the last message, work in progress, the size of the rig, and the time of a drag step.
import type { App } from "../core/app";
import { tipOf } from "../core/buttons";
import { h, setText } from "../core/dom";
import { count } from "../core/words";

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0;

export const statusPanel = (app: App): HTMLElement => {
    const message = h("span", { class: "message", role: "status", "aria-live": "polite" });
    const busy = h("span", { class: "busy" });
    const cancel =
        app.server &&
        h("button", { class: "cancel", title: tipOf(app, "cancel-build"), onclick: () => void app.cancelBuild() }, "Cancel");
    const bar = h("progress", { max: 1, hidden: true, "aria-label": "Progress of the build" });
    const size = h("span", { class: "size" });
    const step = h("span", { class: "step", title: "Time to solve, weigh, blend, skin and fill buffers: median of the last steps" });
    const update = (): void => {
        setText(message, app.message?.text ?? "");
        message.title = app.message?.text ?? "";
        message.dataset["kind"] = app.message?.kind ?? "note";
        setText(busy, app.busy ? `${app.busy}…` : "");
        if (cancel) cancel.hidden = !app.isSlow;
        bar.hidden = app.fraction === null;
        if (app.fraction !== null) bar.value = app.fraction;
        const { surface, rig } = app.stage;
        const examples = rig.layers.reduce((sum, layer) => sum + layer.examples.length, 0);
        setText(size, `${count(surface.vertexCount, "vertex", "vertices")}, ${count(examples, "example")}`);
    };
    app.on("status", update);
    app.on("rig", update);
    app.on("frame", () => {
        if (app.steps.length) setText(step, `drag step ${median(app.steps).toFixed(2)} ms`);
    });
    update();
    return h("footer", {}, message, busy, bar, cancel, step, size);
};
