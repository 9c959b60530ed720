// Controls of the paint brush: fill, invert or smooth everything, and save the values as a mask or a group.
import type { App } from "../core/app";
import { h } from "../core/dom";
import { refuse } from "../core/refuse";
import { count, sentenceOf } from "../core/words";
import type { Brush } from "./controller";
import { insideOf, maskRefusal, saveAsGroup, useAsMask } from "./masks";
import { smoothValues } from "./smooth";

const facesInside = (sizes: Uint32Array, corners: Uint32Array, inside: Uint8Array): number => {
    let [count, at] = [0, 0];
    for (const size of sizes) {
        let all = true;
        for (let i = 0; i < size; i++) all &&= inside[corners[at + i]] === 1;
        if (all) count++;
        at += size;
    }
    return count;
};

export const paintControls = (app: App, brush: Brush) => {
    const all = (label: string, title: string, work: (values: Float32Array) => void): HTMLButtonElement =>
        h("button", { title, onclick: () => {
            const session = brush.start();
            session.change(label.toLowerCase(), "paint", () => work(session.paint));
            brush.changed();
        } }, label);
    let busy = false; // a second press would write a second file
    const guarded = async (work: () => Promise<string | null>): Promise<void> => {
        if (busy) return;
        busy = true;
        brush.hush();
        try {
            const said = await work();
            if (said) {
                brush.session?.strokes.forget(brush.session.paint);
                brush.say(said, "good");
            } else if (app.message?.kind !== "bad") brush.say("The project could not be built. What you painted is still here.", "bad");
        } catch (error) {
            brush.say(`${sentenceOf(error)} What you painted is still here.`, "bad");
        }
        busy = false;
        brush.changed();
    };

    const mask = (): Promise<void> => guarded(async () => {
        const { paint } = brush.start();
        const held = paint.reduce((sum, value) => sum + (value > 0 ? 1 : 0), 0);
        if (!held) throw new Error("Nothing is painted. A mask of zeros would turn the layer off.");
        const done = await useAsMask(app, paint);
        return done ? `Layer '${app.layer!.name}' acts on ${held.toLocaleString("en")} of ${count(paint.length, "vertex", "vertices")}.` : null;
    });
    const group = (): Promise<void> => guarded(async () => {
        const { paint, topology } = brush.start();
        const called = name.value.trim();
        refuse(name, called ? null : "Type a name for the group.");
        if (!called) throw new Error("A group needs a name.");
        const faces = facesInside(topology.faces.sizes, topology.faces.corners, insideOf(paint));
        if (!faces) throw new Error("No face has all its vertices painted above one half.");
        const done = await saveAsGroup(app, called, paint);
        return done ? `Group '${called}' has ${count(faces, "face")}; the project's mesh is ${app.tree.mesh} now.` : null;
    });

    const start = h("p", { class: "quiet" });
    const use = h("button", { class: "primary", onclick: () => void mask() }, "Use as mask");
    const name = h("input", { type: "text", "aria-label": "Name of the group", placeholder: "group", spellcheck: "false" });
    const save = h("button", { title: "Faces with all vertices painted above one half become a group of the mesh",
        onclick: () => void group() }, "Save as group");
    name.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        name.blur();
        void group();
    });
    const element = h("div", { class: "painting" },
        start,
        h("div", { class: "actions" },
            all("Fill", "Paint everything: 1 everywhere", (values) => values.fill(1)),
            all("Clear", "Remove all paint: 0 everywhere", (values) => values.fill(0)),
            all("Invert", "Swap painted and bare: 1 becomes 0, and 0 becomes 1", (values) => values.forEach((x, i) => (values[i] = 1 - x))),
            all("Soften", "Smooth the paint everywhere", (values) => {
                const session = brush.start();
                smoothValues(values, session.topology, session.means, session.whole(), 0.5);
            })),
        h("div", { class: "actions" }, use),
        h("div", { class: "actions group" }, name, save));

    const update = (): void => {
        element.hidden = app.tool !== "paint";
        if (element.hidden) return;
        const refusal = maskRefusal(app);
        use.disabled = refusal !== null;
        const layer = app.layer?.name ?? "";
        use.textContent = `Use as mask of '${layer}'`;
        use.title = refusal ?? `Layer '${layer}' does nothing where the paint is 0`;
        start.textContent =
            refusal ?? (app.layer?.mask ? "Painting starts from the layer's mask." : "The layer has no mask yet: painting starts from 1.");
    };
    return { element, update };
};
