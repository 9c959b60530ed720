// The page's fields for weighers, made from the runtime's table: every parameter of every kind has one, with its help,
// default and range. Runs the page's own sources on a minimal document.
//
//   node fields.mjs MODULES PACKAGE PAGE_SOURCES FOLDER
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, folder, sources, work] = process.argv.slice(2).map((word) => resolve(word));

class Part {
    children = [];
    attributes = {};
    dataset = {};
    heard = {};
    parentElement = null;
    constructor(tag) {
        this.tag = tag;
    }
    setAttribute(key, value) {
        this.attributes[key] = String(value);
        if (key.startsWith("data-")) this.dataset[key.slice(5)] = String(value);
    }
    getAttribute(key) {
        return this.attributes[key] ?? null;
    }
    removeAttribute(key) {
        delete this.attributes[key];
    }
    append(...parts) {
        for (const part of parts) if (part instanceof Part) part.parentElement = this;
        this.children.push(...parts);
    }
    remove() {
        if (this.parentElement) this.parentElement.children = this.parentElement.children.filter((part) => part !== this);
        this.parentElement = null;
    }
    replaceChildren(...parts) {
        this.children = [];
        this.append(...parts);
    }
    addEventListener(name, hear) {
        this.heard[name] = hear;
    }
    contains() {
        return false;
    }
    all() {
        return [this, ...this.children.flatMap((part) => (part instanceof Part ? part.all() : []))];
    }
    querySelector(tag) {
        return this.all().find((part) => part.tag === tag) ?? null;
    }
}
Object.assign(globalThis, { Node: Part, HTMLElement: Part });
globalThis.document = { activeElement: null, createElement: (tag) => new Part(tag), createTextNode: (text) => text };

const bundled = async () => {
    const esbuild = createRequire(join(modules, "esbuild/package.json"))("esbuild");
    mkdirSync(work, { recursive: true });
    const from = (name, file) => `export { ${name} } from ${JSON.stringify(join(sources, file))};\n`;
    writeFileSync(join(work, "entry.ts"), from("WeighFields", "weigh/weigh_fields") + from("kindsFor", "weigh/weigh") +
        from("setWeighers, settingsOf", "core/weighers") + from("widened", "core/project"));
    const outfile = join(work, "fields.mjs");
    await esbuild.build({ entryPoints: [join(work, "entry.ts")], bundle: true, format: "esm", outfile, logLevel: "error" });
    return import(pathToFileURL(outfile));
};

const { WeighFields, kindsFor, setWeighers, settingsOf, widened } = await bundled();
const { start } = await import(pathToFileURL(join(folder, "index.js")));
const { weighers } = await start(readFileSync(join(folder, "exemplar.wasm")));
setWeighers(weighers);

let weigh = {};
const layer = () => ({ name: "layer", space: [], examples: [1, 2, 3, 4, 5].map((i) => ({ name: `${i}` })), weigh });
const fields = new WeighFields({ prefix: "", get: () => weigh, preview: (w) => (weigh = w), commit: (w) => (weigh = w), isServed: true });
const show = (next) => {
    weigh = next;
    fields.update(layer());
};
const control = (key) => fields.element.all().find((part) => part.dataset["key"] === key);
const type = (key, number) => {
    control(key).valueAsNumber = number;
    control(key).heard.change();
    fields.update(layer());
};

show({});
assert.equal(control("kind").value, weighers[0].name);
assert.deepEqual(kindsFor(layer()).map(({ name }) => name),
    weighers.filter((kind) => kind.hasPoints && !kind.isDriven).map(({ name }) => name));
assert.deepEqual(kindsFor({ ...layer(), participation: "moved" }).map(({ name }) => name),
    weighers.filter((kind) => kind.hasSets).map(({ name }) => name));

for (const kind of weighers) {
    show({ kind: kind.name });
    assert.equal(Boolean(control("reach")), kind.hasFalloffs, kind.name);
    for (const { name, type: is, preset, help, least, most, above, words } of kind.parameters) {
        const part = control(name);
        assert.ok(part, `${kind.name} has no field for ${name}`);
        assert.ok(part.title.startsWith(help.replace(/\.$/, "")), `${kind.name}.${name}: ${part.title}`);
        assert.deepEqual(settingsOf(weigh)[name], preset);
        if (is === "switch") {
            assert.equal(part.checked, preset);
        } else if (is === "choice") {
            assert.equal(part.value, preset);
            assert.deepEqual(part.children.map((option) => option.attributes.value), words.map((word) => word.name));
        } else {
            assert.equal(part.value, String(preset));
            for (const bad of [least - 1, most + 1, NaN, ...(above ? [least] : [])]) {
                if (bad === Infinity || bad === -Infinity) continue;
                type(name, bad);
                assert.equal(part.attributes["aria-invalid"], "true", `${kind.name}.${name} does not refuse ${bad}`);
            }
            assert.equal(weigh[name], undefined, `${kind.name}.${name} takes what is out of its range`);
            const range = control(`${name}-range`);
            for (const at of ["0", "1000", "400"]) {
                range.value = at;
                range.heard.input();
                range.heard.change();
                const value = weigh[name];
                assert.ok(above ? value > least : value >= least, `${kind.name}.${name} slides to ${value}`);
                assert.ok(value <= most && (is !== "whole" || Number.isInteger(value)), `${kind.name}.${name} slides to ${value}`);
                fields.update(layer());
                assert.ok(is === "whole" || Math.abs(Number(range.value) - Number(at)) < 10, `${name}: ${at}, ${range.value}`);
            }
        }
    }
}
// A slider for a count of examples goes up to the number of examples.
show({ kind: "nearest" });
control("k-range").value = "1000";
control("k-range").heard.input();
assert.equal(weigh.k, 5);

// ---- ranges ----

// As 'exemplar example add' widens them: in all layers, with the scale they had; what needs no change is shared.
const tree = {
    layers: [
        { name: "a", space: [{ name: "bend", min: 0, max: 80 }, { name: "turn", rotation: "full" }] },
        { name: "b", space: [{ name: "bend", min: -10, max: 90, scale: 0.5, clamp: true }, { name: "x", min: 0, max: 1 }] },
        { name: "c", space: [{ name: "x", min: 0, max: 1 }] },
    ],
};
const wide = widened(tree, { bend: 120, turn: { x: 400 }, x: 0.5 });
assert.deepEqual(wide.layers[0].space[0], { name: "bend", min: 0, max: 120, scale: 1 / 80 });
assert.deepEqual(wide.layers[1].space[0], { name: "bend", min: -10, max: 120, scale: 0.5, clamp: true });
assert.equal(wide.layers[1].space[1], tree.layers[1].space[1]);
assert.equal(wide.layers[2], tree.layers[2]);
assert.equal(widened(tree, { bend: -10 }).layers[0].space[0].min, -10);
assert.equal(widened(tree, { bend: 40 }), tree);
assert.equal(widened(tree, undefined), tree);
console.log(`${weighers.length} kinds`);
