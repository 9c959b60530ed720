// Weights that stay calm: the remedy beside a finding, the limits of axes, and the curves of a comparison.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { apart, changed, expect, json, positions, save, settled } from "./harness.mjs";

const openWeigher = (page) => page.evaluate(() =>
    document.querySelectorAll("details:has(> .weigher)").forEach((part) => (part.open = true)));

/** Waits until the findings are those of the project as it is now. */
const checked = async (page) => {
    await settled(page);
    await page.waitForFunction(() => window.exemplar.checking === 0 && window.exemplar.busy === null);
};

/** A blob whose Gaussians reach too far, with a falloff and a metric of its own at a point of either kind. */
const ringing = (bench) => {
    const project = bench.demo("blob");
    const tree = json(project);
    const [layer] = tree.layers;
    layer.weigh = { kind: "gaussian", falloff: 2 };
    layer.examples[1].falloff = 1.5;
    layer.examples[2].metric = [[1, 0.2], [0.2, 1.2]];
    layer.pseudo[0].falloff = 1.8;
    writeFileSync(project, JSON.stringify(tree, null, 2) + "\n");
    return project;
};

/** "Calm" beside a finding makes the project that `check --mend` makes, in one undo step, and the finding goes. */
const mended = async (bench) => {
    const project = ringing(bench);
    const first = readFileSync(project);
    const folder = join(bench.work, "mended");
    rmSync(folder, { recursive: true, force: true });
    cpSync(dirname(project), folder, { recursive: true });
    const other = join(folder, "blob.json");
    bench.run("check", other, "--mend");
    const page = await bench.open(project);
    const button = ".findings details[data-severity=warning] li:has-text('inside the range') button.mend";
    await page.waitForSelector(button);
    await checked(page);
    const before = await page.evaluate(() => window.exemplar.findings.filter((finding) => finding.remedy).length);
    expect(before > 0 && (await page.$$(button)).length === before, `${before} findings have a remedy`);
    await page.evaluate(() => window.exemplar.setPlace({ bend: 0.99, thickness: 0.67 }));
    const wild = await positions(page);
    await page.click(button);
    await checked(page);
    expect((await page.$(button)) === null, "the finding is still there");
    expect(apart(wild, await positions(page)) > 1e-3, "the surface is the same");
    const label = await page.evaluate(() => window.exemplar.undoLabel);
    expect(label === "made blob calm", `the step is called ${label}`);
    await save(page);
    expect(JSON.stringify(json(project)) === JSON.stringify(json(other)), `saved ${JSON.stringify(json(project).layers[0])}`);
    await page.keyboard.press("Control+z");
    await checked(page);
    await page.waitForSelector(button);
    await save(page);
    expect(readFileSync(project).equals(first), "one undo does not give the first bytes back");
    expect(page.problems.length === 0, page.problems.join("; "));
    return `${before} with a remedy`;
};

/** Each choice beyond the examples shows in the surface and the map before the build, and stays the same after it. */
const limits = async (bench) => {
    const project = bench.demo("blob");
    const first = readFileSync(project);
    const page = await bench.open(project);
    await openWeigher(page);
    const field = ".weigher select[data-axis=bend]";
    expect((await page.inputValue(field)) === "", "a choice is set before anyone made it");
    await page.evaluate(() => {
        window.exemplar.select({ example: "right" });
        window.exemplar.setPlace({ bend: 2.6, thickness: 0 });
    });
    await page.selectOption("#map-y", "weights");
    const [onward, drawn] = [await positions(page), await bench.pixels(page, "#map")];
    const weight = () => page.evaluate(() => window.exemplar.rigLayer.weights([2.6, 0])[2]);
    const seen = { "": await weight() };
    // Live: the edit is shown by the rig that is on the stage, before the server has built another.
    for (const limit of ["hold", "fade"]) {
        const live = await page.evaluate(([selector, value]) => {
            const { exemplar } = window;
            const before = exemplar.stage;
            const select = document.querySelector(selector);
            select.value = value;
            select.dispatchEvent(new Event("change"));
            exemplar.frame();
            return { same: exemplar.stage === before, positions: [...exemplar.stage.surface.positions] };
        }, [field, limit]);
        expect(live.same, "the rig was built before it was looked at");
        expect(apart(live.positions, onward) > 1e-3, `${limit} changes nothing`);
        await save(page);
        expect(json(project).layers[0].space[0].limit === limit, JSON.stringify(json(project).layers[0].space));
        expect(apart(live.positions, await positions(page)) < 1e-5, `${limit} is another form when it is built`);
        seen[limit] = await weight();
        expect(changed(drawn, await bench.pixels(page, "#map")) > 20, `the map does not show ${limit}`);
    }
    expect(Math.abs(seen.hold - 1) < 0.02 && Math.abs(seen.fade) < 1e-6 && Math.abs(seen[""]) > 1.05, JSON.stringify(seen));
    await page.selectOption(field, "");
    await save(page);
    expect(!("limit" in json(project).layers[0].space[0]), "leaving it to the weigher keeps the key");
    for (let i = 0; i < 3; i++) await page.keyboard.press("Control+z");
    await save(page);
    expect(readFileSync(project).equals(first), "undoing does not give the first bytes back");
    expect(page.problems.length === 0, page.problems.join("; "));
    return `weight ${seen[""].toFixed(2)}, held ${seen.hold.toFixed(2)}, faded ${seen.fade.toFixed(2)}`;
};

/** A comparison begins with calm, and draws the weights of both on the same scales. */
const curves = async (bench) => {
    const project = ringing(bench);
    const page = await bench.open(project);
    await openWeigher(page);
    await page.click(".weigher button:text-is('Compare…')");
    expect((await page.inputValue(".weigher select[aria-label='Kind of B']")) === "calm", "B is not calm");
    await page.selectOption(".weigher select[aria-label='Axis of the curves']", "thickness");
    await page.evaluate(() => window.exemplar.setPlace({ bend: 0.9, thickness: 0.6 }));
    await settled(page);
    await page.waitForTimeout(300); // curves that take long to weigh wait until nothing moves
    const spans = await page.$$eval(".weigher figcaption", (captions) => captions.map((caption) =>
        /: (\w+), (\S+) to (\S+)$/.exec(caption.textContent.replaceAll("\u2212", "-")).slice(1)));
    expect(spans[0][0] === "gaussian" && spans[1][0] === "calm", JSON.stringify(spans));
    expect(Number(spans[0][1]) < -0.3 && Number(spans[1][1]) > -0.15, JSON.stringify(spans));
    await page.locator(".weigher .curves").scrollIntoViewIfNeeded();
    const [a, b] = [await bench.pixels(page, "canvas[data-curves=a]"), await bench.pixels(page, "canvas[data-curves=b]")];
    expect(changed(a, b) > 100, "both graphs are the same");
    await page.selectOption(".weigher select[aria-label='Kind of B']", "gaussian");
    await settled(page);
    expect(page.problems.length === 0, page.problems.join("; "));
    return spans.map(([kind, least, most]) => `${kind} ${least} to ${most}`).join(", ");
};

export const cases = {
    "calm: the remedy beside a finding": mended,
    "calm: beyond the examples": limits,
    "calm: both curves of a comparison": curves,
};
