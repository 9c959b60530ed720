// Findings of `check` and notes of the build, by severity, each at its place in the project. A click goes there.
import type { App } from "../core/app";
import { h } from "../core/dom";
import type { Place, Project } from "../core/project";
import type { Finding } from "../core/server";
import { livingExamples } from "../core/space";
import { calmed } from "../core/weighers";
import { count, pseudoName } from "../core/words";
import { spotOf, textOf, type Spot } from "./places";

const GROUPS = [
    ["error", "error"],
    ["warning", "warning"],
    ["note", "note"],
] as const;

/** The place of a finding in words, or its path if there are none. */
const whereWords = (tree: Project, finding: Finding, spot: Spot): string => {
    if (spot.layer === null) return finding.where;
    const layer = tree.layers[spot.layer]!.name;
    const points = [...spot.examples.map((name) => `'${name}'`), ...spot.pseudo.map((i) => pseudoName(tree.layers[spot.layer!]!.pseudo?.[i], i))];
    return points.length ? `${layer}: ${points.join(", ")}` : layer;
};

/** Reads the place in the text of a finding: "… inside the range, at bend=0.3 thickness=0.8: …". */
const placeIn = (tree: Project, layer: number, text: string): Place | null => {
    const axes = tree.layers[layer]!.space.filter((axis) => !axis.rotation);
    const place: Place = {};
    for (const axis of axes) {
        const at = text.lastIndexOf(` ${axis.name}=`);
        const value = at < 0 ? NaN : parseFloat(text.slice(at + axis.name.length + 2));
        if (Number.isFinite(value)) place[axis.name] = value;
    }
    return Object.keys(place).length === axes.length && axes.length > 0 ? place : null;
};

/** Reads the words of a pose, `kick=0.5 "left arm=0.2" head=q:0,0,0,1`, as a place of the layer. */
const poseOf = (tree: Project, layer: number, words: string): Place => {
    const place: Place = {};
    for (const axis of tree.layers[layer]!.space) {
        // A value has no spaces and no quotes, and a name may have spaces, but no "=".
        const word = [...words.matchAll(/(?:^| )(?:"([^"=]*)=([^"]*)"|([^ "=]+)=([^ "]*))/g)].find((match) => (match[1] ?? match[3]) === axis.name);
        const value = word?.[2] ?? word?.[4];
        const numbers = value?.replace(/^q:/, "").split(",").map(Number);
        if (numbers?.every(Number.isFinite)) place[axis.name] = axis.rotation ? numbers : numbers[0]!;
    }
    return place;
};

const goTo = (app: App, finding: Finding): void => {
    const { layer, examples, pseudo } = spotOf(app.tree, finding);
    if (layer === null) return;
    app.select({ layer, example: examples[0] ?? null, pseudo: examples.length ? null : (pseudo[0] ?? null) });
    const whole = finding.pose === undefined ? null : poseOf(app.tree, layer, finding.pose);
    const isAtPlace = finding.kind === "weight_range" || finding.kind === "mixture";
    const place = isAtPlace ? placeIn(app.tree, layer, finding.text) : null;
    const point = pseudo[0] === undefined ? undefined : app.layer?.pseudo?.[pseudo[0]];
    if (whole) app.pose((pose) => app.stage.setPlace(pose.rest(), whole)); // axes that it does not name are at rest
    else if (place) app.setPlace(place);
    else if (examples[0] !== undefined) app.goTo(layer, examples[0]);
    else if (point) app.setPlace(point.at);
};

/** Makes the layer of a finding calm, in one undo step. The findings may be those of an earlier project until they have
 * been asked again, so nothing is mended before. */
const mend = (app: App, layer: number): void => {
    if (app.checking > 0 || app.busy !== null) {
        app.say("The project is still being checked. Wait a moment, then try again.");
        return;
    }
    app.cancel();
    const { name } = app.tree.layers[layer]!;
    app.edit(`made ${name} calm`, (tree) => calmed(tree, layer));
    app.say(`Made ${name} calm. Undo takes it back.`, "good");
};

const calmButton = (app: App, layer: number): HTMLElement =>
    h("button", { class: "mend", title: "Make the layer calm: its weights then stay near 0 to 1. Falloffs of its examples go. One undo step.",
        "aria-label": `Make ${app.tree.layers[layer]!.name} calm`, onclick: () => mend(app, layer) }, "Calm");

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const item = (app: App, finding: Finding): HTMLElement => {
    const spot = spotOf(app.tree, finding);
    const where = h("span", { class: "where" }, whereWords(app.tree, finding, spot));
    const text = h("span", { class: "text" }, sentence(textOf(app.tree, finding)));
    if (spot.layer === null) return h("li", {}, h("div", { class: "finding" }, where, text));
    return h("li", {}, h("button", { class: "finding", title: "Select it and go there", onclick: () => goTo(app, finding) }, where, text),
        finding.remedy === "calm" && calmButton(app, spot.layer));
};

/** Notes of the last build as findings, without those that `check` reports too. */
const fromBuild = (app: App): Finding[] => {
    const { built, tree } = app;
    const notes = (built?.notes ?? []).map((text): Finding => {
        const name = /^layer '(.+?)': /.exec(text)?.[1];
        const layer = tree.layers.findIndex((l) => l.name === name);
        return layer < 0
            ? { severity: "note", kind: "build", where: "building", text, value: null }
            : { severity: "note", kind: "build", where: `layers[${layer}]`, text: text.slice(name!.length + 10), value: null };
    });
    // The build counts only examples that are not muted.
    const damped = (built?.damped ?? []).flatMap(({ layer, example, count: n }): Finding[] => {
        const l = tree.layers[layer];
        const index = l ? l.examples.indexOf(livingExamples(l)[example]!) : -1;
        const where = `layers[${layer}].examples[${index}]`;
        if (app.findings.some((finding) => finding.kind === "damped" && finding.where === where)) return [];
        const text = `${count(n, "vertex", "vertices")} cannot be un-posed safely at this pose and will not be reproduced exactly`;
        return [{ severity: "warning", kind: "damped", where, text, value: n }];
    });
    return [...damped, ...notes];
};

const group = (app: App, severity: string, name: string, findings: Finding[], open: boolean): HTMLElement => {
    const list = h("ul", {});
    const details = h(
        "details",
        { open, "data-severity": severity },
        h("summary", {}, h("span", { class: "mark", "data-severity": severity, "aria-hidden": "true" }, severity === "note" ? "i" : "!"), count(findings.length, name)),
        list,
    );
    // There may be a thousand notes, one per example: they are made when the part is opened.
    const fill = (): void => {
        if (details.open && !list.firstChild) list.append(...findings.map((finding) => item(app, finding)));
    };
    details.addEventListener("toggle", fill);
    fill();
    return details;
};

export const findingsPanel = (app: App): HTMLElement => {
    const state = h("p", { class: "state", role: "status" });
    const groups = h("div", {});
    const open = new Set<string>(["error", "warning"]);
    let seen: unknown[] = [];
    const update = (): void => {
        const busy = app.checking > 0 || app.busy !== null;
        const all = [...app.findings, ...fromBuild(app)];
        state.textContent = busy
            ? "Checking…"
            : all.length === 0
              ? "Nothing found."
              : all.every((finding) => finding.severity === "note")
                ? "No errors or warnings."
                : "";
        state.hidden = state.textContent === "";
        if (seen[0] === app.findings && seen[1] === app.built) return;
        seen = [app.findings, app.built];
        const had = groups.contains(document.activeElement);
        groups.replaceChildren(
            ...GROUPS.flatMap(([severity, name]) => {
                const some = all.filter((finding) => finding.severity === severity);
                if (!some.length) return [];
                const element = group(app, severity, name, some, open.has(severity));
                element.addEventListener("toggle", () => {
                    if ((element as HTMLDetailsElement).open) open.add(severity);
                    else open.delete(severity);
                });
                return [element];
            }),
        );
        if (had) groups.querySelector("summary")?.focus(); // the finding with the focus may be gone
    };
    app.on("status", update);
    app.on("rig", update);
    update();
    return h("div", { class: "findings" }, state, groups);
};
