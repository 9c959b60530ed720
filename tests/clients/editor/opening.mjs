// A project opens: the steps that the page names, a draft while trajectories are found, and trajectories that were
// found before.
import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { apart, expect, positions, settled } from "./harness.mjs";

/** Notes every text of the steps, and the first picture's state, from the very first. */
const watch = () => {
    window.steps = [];
    new MutationObserver(() => {
        const bar = document.querySelector(".opening progress");
        const text = (document.querySelector(".opening .step") ?? document.querySelector("footer .busy"))?.textContent;
        if (text && window.steps.at(-1) !== text) window.steps.push(text);
        if (bar) window.hadBar = true;
        if (document.querySelector("footer progress:not([hidden])")) window.hadLine = true;
        if (document.body?.dataset.ready && !window.first)
            window.first = { isDraft: window.exemplar.stage.built !== window.exemplar.history.tree };
    }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
};

const open = async (bench, project, cache, prepare = () => undefined) => {
    const context = await bench.browser.newContext({ viewport: { width: 1024, height: 768 } });
    const page = await context.newPage();
    await page.addInitScript(watch);
    await prepare(page);
    await page.goto(await bench.serve(project, cache));
    await page.waitForSelector("body[data-ready=true]", { timeout: 60000 });
    return page;
};

const halfway = (page) => page.evaluate(() => window.exemplar.pose((pose) => {
    const { inputs } = window.exemplar.stage.rig;
    for (const input of inputs) if (input.kind === "scalar") pose.set(input.index, 0.5 * (input.min + input.max));
}));

const slow = async (bench) => {
    const project = bench.demo("creature");
    rmSync(project.replace(/json$/, "glb"));
    const cache = mkdtempSync(join(bench.work, "cache-"));
    const page = await open(bench, project, cache);
    const { first, hadBar } = await page.evaluate(() => ({ first: window.first, hadBar: window.hadBar }));
    expect(first.isDraft, "the first picture waits for the trajectories");
    expect(hadBar, "there is no bar while it opens");
    await halfway(page);
    const straight = await positions(page);
    await settled(page);
    // Meanwhile the line below said what was done.
    const { said, hadLine } = await page.evaluate(() => ({ said: window.steps, hadLine: window.hadLine }));
    expect(hadLine && said.some((text) => /^Finding trajectories of layer '.+', \d+ %/.test(text)), `it said ${said.join("; ")}`);
    const curved = await positions(page);
    expect(apart(straight, curved) > 0.01, "the draft already has trajectories");
    expect(await page.evaluate(() => document.querySelector("footer progress").hidden), "the bar stays");
    for (const server of bench.servers.splice(0)) server.kill("SIGINT");
    // The next time they are there, and nothing is found again.
    const again = await open(bench, project, cache);
    await settled(again);
    const steps = await again.evaluate(() => window.steps);
    expect(!steps.some((text) => /trajectories/.test(text)), `trajectories are found again: ${steps.join("; ")}`);
    await halfway(again);
    expect(apart(curved, await positions(again)) === 0, "those from the cache are others");
};

/** The rig of an earlier build is the first picture, unless a file of the project is newer. */
const beside = async (bench) => {
    const project = bench.demo("creature");
    const rig = project.replace(/json$/, "glb");
    const now = Date.now() / 1000;
    const first = async (time) => {
        utimesSync(rig, time, time);
        let release;
        const measured = new Promise((resolve) => (release = resolve));
        // The build waits until the form before it is measured; a draft does not.
        const hold = (route) => measured.then(() => route.continue());
        const page = await open(bench, project, mkdtempSync(join(bench.work, "cache-")), (one) => one.route(/api\/build$/, hold));
        await halfway(page);
        const before = await positions(page);
        release();
        await settled(page);
        return apart(before, await positions(page));
    };
    const [newer, older] = [await first(now + 60), await first(now - 1e6)];
    expect(newer < 1e-6, `the form of the rig that is there moves by ${newer} when the project is built`);
    expect(older > 0.01, "a rig that is older than its project is shown");
    return "";
};

/** A project whose rig is there but that cannot be built is not opened, also where the browser stores nothing. */
const unbuilt = async (bench) => {
    const project = bench.demo("blob");
    utimesSync(project.replace(/json$/, "glb"), Date.now() / 1000 + 60, Date.now() / 1000 + 60);
    const page = await (await bench.browser.newContext()).newPage();
    const asked = [];
    await page.addInitScript(() => {
        const refused = { get: () => { throw new DOMException("no storage", "SecurityError"); } };
        for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, refused);
    });
    await page.route("**/api/beside", (route) => {
        asked.push("beside");
        return route.continue();
    });
    await page.route("**/api/build*", (route) => {
        asked.push("whole");
        return route.fulfill({ status: 422, contentType: "application/json", body: JSON.stringify({ error: "broken on purpose" }) });
    });
    await page.goto(await bench.serve(project));
    await page.waitForSelector("body[data-ready=failed]");
    expect(/broken on purpose/.test(await page.textContent(".failure .sentence")), "the page does not say why");
    expect(asked.join() === "beside,whole,whole", `it asked for ${asked}`);
};

export const cases = {
    "a rig whose project cannot be built": unbuilt,
    "the rig of an earlier build is shown first": beside,
    "a project with trajectories opens at once": slow,
};
