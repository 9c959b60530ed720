// Guided paths between many poses: what changes their space at once, what needs new paths, and the poses of findings.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { apart, drag, expect, json, onMap, positions, save, settled } from "./harness.mjs";

const row = (name) => `.examples [role=option]:has(.name:text-is("${name}"))`;
const WEAK = { mode: "paper", iterations: 2, terms: ["pose"] }; // stretches bars that bend

/** The text of a form with every vertex twisted about the bar, by an angle for its whole length. */
const twisted = (text, angle) => {
    const all = [...text.matchAll(/^v (\S+) (\S+) (\S+)/gm)].map((match) => match.slice(1).map(Number));
    const [low, high] = [0, 1].map((end) => [0, 1, 2].map((i) => (end ? Math.max : Math.min)(...all.map((v) => v[i]))));
    const middle = low.map((l, i) => (l + high[i]) / 2);
    return text.replace(/^v (\S+) (\S+) (\S+)/gm, (_, x, y, z) => {
        const a = (angle * (x - low[0])) / (high[0] - low[0]);
        const [u, w] = [y - middle[1], z - middle[2]];
        return `v ${x} ${middle[1] + u * Math.cos(a) - w * Math.sin(a)} ${middle[2] + u * Math.sin(a) + w * Math.cos(a)}`;
    });
};

/** A bar with five poses over two axes. */
const bar = (bench, weigh = { kind: "calm" }, trajectory = { correctors: 2 }) => {
    const project = bench.demo("bar");
    const folder = dirname(project);
    const straight = readFileSync(join(folder, "straight.obj"), "utf8");
    writeFileSync(join(folder, "left.obj"), twisted(straight, 1.6));
    writeFileSync(join(folder, "right.obj"), twisted(straight, -1.2));
    const tree = json(project);
    const at = (bend, twist) => ({ bend, twist });
    tree.layers = [{ name: "bar", shape: "trajectory", trajectory, weigh,
        space: [{ name: "bend", min: 0, max: 1 }, { name: "twist", min: -1, max: 1 }],
        examples: [{ name: "straight", reference: true, at: at(0, 0) }, { name: "half", mesh: "bend90.obj", at: at(0.6, 0) },
            { name: "bent", mesh: "bend160.obj", at: at(1, 0) }, { name: "left", mesh: "left.obj", at: at(0, 1) },
            { name: "right", mesh: "right.obj", at: at(0, -1) }] }];
    writeFileSync(project, JSON.stringify(tree, null, 2) + "\n");
    return project;
};

/** The tool's form of the saved project at a place, as it was built from the files. */
const formOf = (bench, project, place) => {
    const rig = project.replace(/\.json$/, "-own.glb");
    const form = project.replace(/\.json$/, "-own.obj");
    bench.run("build", project, "-q", "-o", rig);
    bench.run("pose", rig, ...Object.entries(place).map(([name, value]) => `${name}=${value}`), "--no-normals", "-o", form, "-q");
    return Float32Array.from([...readFileSync(form, "utf8").matchAll(/^v (\S+) (\S+) (\S+)/gm)].flatMap((m) => m.slice(1).map(Number)));
};

const shown = (page) => page.evaluate(() => {
    window.exemplar.frame();
    const { stage } = window.exemplar;
    return [...stage.rig.surface({ level: 0, split: false, normals: false }).evaluate(stage.pose).positions];
});
const seconds = (page) => page.evaluate(() => window.exemplar.built.seconds);
const go = (page, place) => page.evaluate((at) => window.exemplar.setPlace(at), place);

/** The page shows what the tool builds from the saved files. */
const compare = async (bench, page, project, place) => {
    await go(page, place);
    await save(page);
    const error = apart(formOf(bench, project, place), await shown(page));
    expect(error < 2e-6, `the page is ${error} m off the tool`);
    return error;
};

/** Moving an example, or another weigher, changes the form at once, and keeps the paths: no build finds them again. */
const live = async (bench) => {
    const project = bar(bench);
    const page = await bench.open(project);
    const first = await seconds(page);
    const place = { bend: 0.45, twist: 0.4 };
    await go(page, place);
    const before = await positions(page);
    const from = await onMap(page, [0.6, 0]);
    const to = await onMap(page, [0.45, 0.2]);
    const during = await drag(page, from, to, { during: () => positions(page) });
    expect(apart(before, during) > 1e-3, "moving an example changes nothing");
    await settled(page);
    expect(apart(during, await positions(page)) < 1e-6, "the surface is another when it is built");
    const moved = await seconds(page);
    const at = await page.evaluate(() => window.exemplar.tree.layers[0].examples[1].at);
    expect(Math.abs(at.bend - 0.45) < 0.05 && Math.abs(at.twist - 0.2) < 0.05, `it is at ${JSON.stringify(at)}`);
    let error = await compare(bench, page, project, place);
    await page.evaluate(() => document.querySelectorAll("details:has(> .weigher)").forEach((part) => (part.open = true)));
    await page.selectOption(".weigher select[aria-label=Kind]", "cardinal");
    error = Math.max(error, await compare(bench, page, project, place));
    const weighed = await seconds(page);
    expect(moved < first / 4 && weighed < first / 4, `builds took ${first}, then ${moved} and ${weighed} s`);
    expect(page.problems.length === 0, page.problems.join("; "));
    return `a build of ${first.toFixed(1)} s, then ${moved.toFixed(2)} s; ${(1e6 * error).toFixed(2)} µm`;
};

/** Deleting and adding an example finds new paths, in the background, and says so while it lasts. */
const refitted = async (bench) => {
    const project = bar(bench);
    const first = readFileSync(project);
    const page = await bench.open(project);
    const place = { bend: 0.5, twist: 0.5 };
    await go(page, place);
    const before = await positions(page);
    await page.click(row("half"));
    await page.keyboard.press("Delete");
    expect((await page.evaluate(() => window.exemplar.busy)) === "Building", "it does not say that it builds");
    await settled(page);
    expect(apart(before, await positions(page)) > 1e-3, "the form is the same without an example");
    let error = await compare(bench, page, project, place);

    // A new one, from a file.
    const text = twisted(readFileSync(join(dirname(project), "bend90.obj"), "utf8"), 0.5);
    await go(page, { bend: 0.5, twist: -0.5 });
    await page.evaluate(async (content) => {
        const data = new DataTransfer();
        data.items.add(new File([content], "askew.obj"));
        for (const kind of ["dragover", "drop"])
            document.getElementById("app").dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: data }));
    }, text);
    await page.waitForFunction(() => window.exemplar.tree.layers[0].examples.some((e) => e.name === "askew"));
    await settled(page);
    error = Math.max(error, await compare(bench, page, project, { bend: 0.5, twist: -0.5 }));
    const own = [...text.matchAll(/^v (\S+) (\S+) (\S+)/gm)].flatMap((match) => match.slice(1).map(Number));
    expect(apart(Float32Array.from(own), await shown(page)) < 1e-5, "the new example does not come back");
    error = Math.max(error, await compare(bench, page, project, { bend: 0.3, twist: -0.4 }));

    // Paths start at the reference: it cannot go.
    await page.click(row("straight"));
    await page.keyboard.press("Delete");
    const said = await page.textContent("footer .message");
    expect(/reference.* cannot be deleted/.test(said), `it says '${said}'`);
    await settled(page);

    // Undoing goes back to paths that were kept.
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+z");
    await save(page);
    expect((await seconds(page)) < 1, `undoing took ${await seconds(page)} s`);
    expect(readFileSync(project).equals(first), "undoing does not give the first bytes back");
    return `${(1e6 * error).toFixed(2)} µm`;
};

/** A click on a finding about a mixture brings its pose: by the weights of a direct layer, by the place in a space. */
const found = async (bench) => {
    const selector = ".findings button.finding:has-text('as-rigid-as-possible')";
    const pose = (page) => page.evaluate(() => window.exemplar.stage.rig.inputs.map((input) => `${input.name}=${window.exemplar.stage.pose.get(input.index)}`));
    const space = bar(bench, { kind: "calm" }, WEAK);
    const direct = bench.demo("bar");
    const tree = json(direct);
    Object.assign(tree.layers[0], { trajectory: WEAK });
    tree.layers[0].space.forEach((axis) => (axis.name = `to ${axis.name}`)); // in quotes, in the words of a pose
    writeFileSync(direct, JSON.stringify(tree));
    const all = [];
    for (const project of [space, direct]) {
        const page = await bench.open(project);
        await page.waitForSelector(selector);
        const [finding] = await page.evaluate(() => window.exemplar.findings.filter(({ kind }) => kind === "mixture"));
        expect(finding.severity === "warning" && finding.pose, `found is ${JSON.stringify(finding)}`);
        const wanted = Object.fromEntries([...finding.pose.matchAll(/"?([\w ]+)=([-\d.e]+)"?/g)].map(([, name, value]) => [name.trim(), Number(value)]));
        // From anywhere: dials that the pose does not name go to rest.
        await page.evaluate(() => window.exemplar.stage.rig.inputs.forEach(({ name }) => window.exemplar.setPlace({ [name]: 0.77 })));
        await page.click(selector);
        const now = Object.fromEntries((await pose(page)).map((word) => [word.split("=")[0], Number(word.split("=")[1])]));
        for (const [name, value] of Object.entries(now))
            expect(Math.abs(value - (wanted[name] ?? 0)) < 1e-6, `at ${JSON.stringify(now)}, not at ${finding.pose}`);
        expect(Object.keys(wanted).every((name) => name in now), `${finding.pose} names other dials`);
        all.push(finding.pose);
    }
    return all.join("; ");
};

export const cases = {
    "mixture: a space that changes live": live,
    "mixture: examples that come and go": refitted,
    "mixture: the pose of a finding": found,
};
