// Takes the pictures of the editor for the pages in docs/: opens demos in a real browser, poses and selects as a reader
// would, and writes PNG files.
//
//   node pictures.mjs TOOL NPM WORK OUT [NAME…]     all, or those whose names contain a word; scripts/editor-pictures calls it
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Bench, drag, settled } from "./harness.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const [tool, npm, work, out] = process.argv.slice(2, 6).map((path) => resolve(path));
const wanted = process.argv.slice(6);

/** As large as a page of the site can show without making the words too small to read. */
const PAGE = { width: 1180, height: 760 };

/** Draws views and maps with twice as many pixels as the screen has, so that their edges are smooth; words stay as they are. */
const smooth = (browser) => {
    const make = browser.newContext.bind(browser);
    browser.newContext = async (options) => {
        const context = await make(options);
        await context.addInitScript(() => Object.defineProperty(window, "devicePixelRatio", { value: 2 }));
        return context;
    };
};

/** Waits until small pictures and graphs, which are drawn when nothing moves, are there; then takes the picture. */
const shoot = async (page, name) => {
    await settled(page);
    await page.mouse.move(5, page.viewportSize().height - 5);
    await page.waitForTimeout(4000);
    await page.evaluate(() => (window.exemplar.frame(), document.activeElement?.blur()));
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(out, `${name}.png`) });
    console.log(`${name}.png`);
    if (page.problems.length) throw new Error(page.problems.join("; "));
};

const place = (page, values) => page.evaluate((at) => window.exemplar.setPlace(at), values);
const select = (page, chosen) => page.evaluate((what) => window.exemplar.select(what), chosen);
const look = (page, numbers) => page.evaluate((camera) => (window.exemplar.camera.take(camera), window.exemplar.frame()), numbers);

const frame = (page) => page.click(".view-bar button:text-is('Frame all')");

/** The highest place of the form on the screen at a share of the view's width. */
const top = (page, share) => page.evaluate((part) => {
    const { picker } = window.exemplar;
    const { left, top, width, height } = picker.canvas.getBoundingClientRect();
    const x = left + part * width;
    for (let y = top; y < top + height; y += 3) if (picker.hit({ clientX: x, clientY: y })) return { x, y };
    throw new Error("the form is not there");
}, share);

/** Folds the panels that a picture is not about: their titles. */
const fold = (page, ...titles) => page.evaluate((closed) => {
    for (const details of document.querySelectorAll("details"))
        if (closed.includes(details.querySelector("summary")?.textContent.trim())) details.open = false;
}, titles);

/** The arm between its examples: layers, map and weights. */
const arm = async (bench) => {
    const page = await bench.open(bench.demo("arm"), PAGE);
    await select(page, { layer: 0, example: "bent_female" });
    await place(page, { shoulder: 20, elbow: 70 });
    await page.evaluate(() => window.exemplar.show({ skeleton: true }));
    await frame(page);
    await shoot(page, "editor-arm");
};

/** The person smiles; the map shows gender and age. */
const human = async (bench) => {
    const page = await bench.open(bench.demo("human"), PAGE);
    await select(page, { layer: 2, example: "female_young" });
    await place(page, { gender: 0.15, age: 50, smile: 1, weight: 0.3 });
    await look(page, [0, 1.16, 0, 2.6, 0.25, 0.04, 0]);
    await shoot(page, "editor-human");
};

/** Two weighers beside each other, where they differ. */
const compare = async (bench) => {
    const page = await bench.open(bench.demo("blob"), PAGE);
    await select(page, { layer: 0, example: "left" });
    await page.evaluate(() => (document.querySelector(".weigher").closest("details").open = true));
    await page.click(".weigher button:text-is('Compare…')");
    await place(page, { bend: 0.85, thickness: 0.6 });
    await settled(page);
    await page.locator("button:text-is('Use settings B')").scrollIntoViewIfNeeded();
    await shoot(page, "editor-compare");
};

/** A stroke of the brush on the bent elbow, before it is inserted. */
const brush = async (bench) => {
    const page = await bench.open(bench.demo("elbow"), { ...PAGE, theme: "dark" });
    await fold(page, "Layers");
    await select(page, { layer: 0, example: "bent_100" });
    await place(page, { elbow: 80 });
    await frame(page);
    await page.evaluate(() => window.exemplar.setTool("grab"));
    const from = await top(page, 0.46);
    await drag(page, { x: from.x, y: from.y + 16 }, { x: from.x, y: from.y - 2 });
    await shoot(page, "editor-brush");
};

/** The page that the tutorial exports, after all of its commands. */
const tutorial = async (bench) => {
    const folder = mkdtempSync(join(bench.work, "tutorial-"));
    const text = readFileSync(join(ROOT, "docs/tutorial.md"), "utf8");
    const blocks = [...text.matchAll(/^(<!-- not run: [^>]+-->\n)?```sh\n(.*?)^```$/gms)].filter((block) => !block[1]);
    execFileSync("bash", ["-e", "-c", blocks.map((block) => block[2]).join("")], { cwd: folder, stdio: "pipe",
        env: { ...process.env, PATH: `${dirname(bench.tool)}:${process.env.PATH}` } });
    const page = await bench.page(pathToFileURL(join(folder, "lesson", "animal.html")).href, { width: 1060, height: 720 });
    await page.click(".play .toggle"); // it plays by itself
    await select(page, { layer: 0, example: "buck" });
    await place(page, { kick: 0.3 });
    await shoot(page, "tutorial-page");
};

const pictures = { "editor-arm": arm, "editor-human": human, "editor-compare": compare, "editor-brush": brush,
    "tutorial-page": tutorial };

mkdirSync(work, { recursive: true });
mkdirSync(out, { recursive: true });
const bench = new Bench(tool, npm, work);
try {
    await bench.start();
    smooth(bench.browser);
    for (const [name, take] of Object.entries(pictures))
        if (!wanted.length || wanted.some((word) => name.includes(word))) await take(bench);
} finally {
    await bench.end();
}
