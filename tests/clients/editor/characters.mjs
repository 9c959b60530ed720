// Two characters from the web, with data at EX_DATA or ../shared/data: in the editor and in an exported page, on a wide
// screen and on a phone. They are complete, in their own colours, on a ground with a shadow, and play their clips. With
// PICTURES, screenshots go to that folder.
import { existsSync, mkdtempSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, moved, positions, settled, WIDE } from "./harness.mjs";
import { framed, misplaced, seen } from "./phone.mjs";
import { boxes } from "./whole.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const DATA = process.env.EX_DATA || resolve(ROOT, "../shared/data");
const PHONE = { width: 400, height: 800, touch: true };

/** The colours that must be seen: [name, test of red, green and blue, least share of the picture]. */
const CHARACTERS = {
    RobotExpressive: { clip: "Walking", colours: [
        ["orange", (r, g, b) => r > 150 && g > 90 && g < 0.85 * r && b < 0.6 * g, 0.05],
        ["black", (r, g, b) => Math.max(r, g, b) < 90, 0.005],
    ] },
    CesiumMan: { clip: "clip 1", colours: [
        ["blue", (r, g, b) => b > 150 && r < 0.75 * b && g < b, 0.003],
        ["green", (r, g, b) => g > 80 && r < 0.9 * g && b < 0.6 * g, 0.003],
        ["white", (r, g, b) => Math.min(r, g, b) > 240, 0.005],
    ] },
};

const isColoured = ({ data }, colours, what) => {
    for (const [name, test, least] of colours) {
        let count = 0;
        for (let i = 0; i < data.length; i += 4) count += test(data[i], data[i + 1], data[i + 2]);
        const share = count / (data.length / 4);
        expect(share > least, `${what}: only ${(100 * share).toFixed(2)} % of the view is ${name}`);
    }
};

/** Without the ground, a good part of the picture changes: the grid, and the shadow, which darkens a patch below. */
const hasShadow = async (bench, page, what) => {
    const ground = (on) => page.evaluate((shown) => window.exemplar.show({ ground: shown }), on);
    const lit = await bench.pixels(page, "#view");
    await ground(false);
    const bare = await bench.pixels(page, "#view");
    await ground(true);
    let dark = 0;
    for (let i = 0; i < lit.data.length; i += 4)
        if (bare.data[i + 1] - lit.data[i + 1] > 20 && bare.data[i + 1] > 180) dark++;
    const share = dark / (lit.data.length / 4);
    expect(share > 0.002, `${what}: the shadow covers only ${(100 * share).toFixed(2)} % of the view`);
};

const play = async (page, clip, what) => {
    await page.selectOption("#play-source", { label: clip });
    await page.waitForFunction((wanted) => {
        const select = document.getElementById("play-source");
        return select.selectedOptions[0]?.textContent === wanted && / of \d+, /.test(document.querySelector(".play .where").textContent);
    }, clip);
    const duration = Number(await page.getAttribute(".play .scrub", "max"));
    if ((await page.textContent(".play .toggle")) === "Play") await page.click(".play .toggle");
    const before = await positions(page);
    await moved(page, before, `${what}: the clip does not move it`);
    await page.click(".play .toggle");
    // Whole at ten times.
    for (let i = 0; i < 10; i++) {
        await page.evaluate((time) => {
            const scrub = document.querySelector(".play .scrub");
            scrub.value = String(time);
            scrub.dispatchEvent(new Event("input"));
            window.exemplar.frame();
        }, (duration * i) / 10);
        framed(await seen(page), `${what} at ${((duration * i) / 10).toFixed(2)} s`, 0.4);
    }
};

const shot = async (page, name) => {
    if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `${name}.png`) });
};

const character = (name) => async (bench) => {
    const source = join(DATA, "gltf", `${name}.glb`);
    const { clip, colours } = CHARACTERS[name];
    if (!existsSync(source)) {
        console.log(`skipped: no data at EX_DATA (gltf/${name}.glb)`);
        return "";
    }
    const folder = mkdtempSync(join(bench.work, `${name}-`));
    const project = join(folder, "project", `${name}.json`);
    const exported = join(folder, `${name}.html`);
    bench.run("init", source, "-o", dirname(project), "-q");
    bench.run("edit", "--export", exported, project, "-q");
    const address = await bench.serve(project);
    for (const [kind, at] of [["editor", address], ["exported", `file://${exported}`]])
        for (const [size, options] of [["wide", WIDE], ["phone", PHONE]]) {
            const what = `${kind}, ${size}`;
            const page = await bench.page(at, options);
            await settled(page);
            if (kind === "editor") {
                framed(await seen(page), what, 0.5);
                isColoured(await bench.pixels(page, "#view"), colours, what);
                await hasShadow(bench, page, what);
                await shot(page, `${name}-${kind}-${size}-rest`);
            }
            await play(page, clip, what);
            isColoured(await bench.pixels(page, "#view"), colours, `${what}, in motion`);
            await shot(page, `${name}-${kind}-${size}-playing`);
            if (size === "wide") {
                const { problems } = await page.evaluate(boxes);
                expect(problems.length === 0, `${what}: ${problems.slice(0, 6).join("; ")}`);
            } else {
                const wrong = await misplaced(page);
                expect(wrong.length === 0, `${what}: ${wrong.slice(0, 6).join("; ")}`);
            }
            expect(page.problems.length === 0, page.problems.join("; "));
            await page.context().close();
        }
    return "in the editor and exported, wide and on a phone";
};

export const cases = Object.fromEntries(Object.keys(CHARACTERS).map((name) => [`a character from the web: ${name}`, character(name)]));
