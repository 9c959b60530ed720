// The pages of `exemplar scan label`: landmarks that are clicked on a scan, by mouse and by touch, and questions about
// doubtful names. The scan is the template person itself, so that the true places are known.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "./harness.mjs";

/** A session with one scan: the template, moved. Returns the folder. */
function session(bench) {
    const folder = mkdtempSync(join(bench.work, "landmarks-")), human = join(import.meta.dirname, "../../../src/author/scan/human/human.glb");
    mkdirSync(join(folder, "scans"));
    bench.run("pose", human, "-o", join(folder, "rest.obj"), "-q");
    const shift = [1.5, 0.9, -2];
    const text = readFileSync(join(folder, "rest.obj"), "utf8").replace(/^v (\S+) (\S+) (\S+).*$/gm, (_, ...at) =>
        "v " + [0, 1, 2].map((c) => +at[c] + shift[c]).join(" "));
    for (const name of ["stand", "again"]) writeFileSync(join(folder, `scans/${name}.obj`), text);
    writeFileSync(join(folder, "scan.json"), JSON.stringify({ exemplar_scan: 1, skeleton: "full", reference: "stand",
        scans: ["stand", "again"].map((name) => ({ name, files: [`scans/${name}.obj`] })) }));
    return { folder, shift };
}

/** Turns the page's view so that a landmark faces it, and returns its pixel. */
const aim = (page, at) => page.evaluate((at) => {
    const inside = view.mesh.inside(at), n = view.mesh.normal(inside);
    view.yaw = Math.atan2(n[0], n[2]);
    view.pitch = Math.asin(n[1]);
    view.target = inside;
    view.tall = 0.6;
    drawScene();
    const box = view.canvas.getBoundingClientRect(), [x, y] = view.project(inside);
    return [box.left + x, box.top + y];
}, at);

async function clicks(bench, { touch, width, height }) {
    const { folder, shift } = session(bench), file = join(folder, "landmarks.html");
    bench.run("scan", "label", folder, "--page", file);
    const page = await bench.page(`file://${file}`, { width, height, touch, wait: false });
    expect(await page.getAttribute("body", "data-ready") === "true", "the page did not open");
    const truth = await page.evaluate(() => data.landmarks.map((l) => ({ name: l.name, at: l.at })));
    expect(truth.length === 22, `${truth.length} landmarks`);
    const count = () => page.textContent("#count");
    expect(/0 clicked, 6 more needed/.test(await count()), await count());
    // A drag turns, and clicks nothing.
    const box = await page.locator("#scene").boundingBox();
    const before = await page.evaluate(() => view.yaw);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 60, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    expect(Math.abs(await page.evaluate(() => view.yaw) - before) > 0.2, "a drag did not turn the scan");
    expect(/0 clicked/.test(await count()), "a drag clicked");
    for (const { name, at } of truth) {
        expect(await page.evaluate(() => now) === name, `${name} is not asked for`);
        const [x, y] = await aim(page, at.map((v, c) => v + shift[c]));
        if (touch) await page.touchscreen.tap(x, y);
        else await page.mouse.click(x, y);
    }
    expect(/22 clicked, a good number/.test(await count()), await count());
    expect(await page.isHidden("#warn"), `warned: ${await page.textContent("#warn")}`);
    // Undo, skip, and the next scan.
    await page.click("#undo");
    expect(/21 clicked/.test(await count()), "undo took nothing back");
    expect(await page.textContent("#title") === "Right heel", await page.textContent("#title"));
    await page.click("#skip");
    await page.click("#on");
    expect(/again: 0 clicked/.test(await count()), await count());
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
    const csv = join(folder, "clicks.csv");
    await download.saveAs(csv);
    bench.run("scan", "label", folder, "--csv", csv);
    const rows = readFileSync(join(folder, "landmarks/stand.csv"), "utf8").trim().split("\n").slice(1).map((line) => line.split(","));
    expect(rows.length === 21, `${rows.length} rows`);
    for (const [name, ...at] of rows) {
        const true_at = truth.find((t) => t.name === name).at;
        const off = Math.hypot(...[0, 1, 2].map((c) => +at[c] - true_at[c] - shift[c]));
        expect(off < 0.006, `${name} is ${(1000 * off).toFixed(1)} mm off`);
    }
    expect(!page.problems.length, page.problems.join("; "));
    await page.close();
}

async function exchanged(bench) {
    const { folder, shift } = session(bench), file = join(folder, "landmarks.html");
    bench.run("scan", "label", folder, "--page", file);
    const page = await bench.page(`file://${file}`, { wait: false });
    const said = (change) => page.evaluate(([shift, change]) => {
        const points = Object.fromEntries(data.landmarks.map((l) => [l.name, l.at.map((v, c) => v + shift[c])]));
        const other = (n) => n.replace(/[LR]$/, (s) => (s === "L" ? "R" : "L"));
        const names = Object.keys(points).filter((n) => new RegExp(change).test(n));
        const moved = Object.fromEntries(names.map((n) => [other(n), points[n]]));
        return warnings({ ...points, ...moved });
    }, [shift, change]);
    expect((await said("^$")).length === 0, "warned of a person as they are");
    const all = await said("\\.[LR]$");
    expect(all.some((text) => /Left shoulder and right shoulder look exchanged/.test(text)), `all: ${all}`);
    const feet = await said("^(ankle_outside|heel|toe_tip)\\.");
    expect(feet.some((text) => /Left ankle is on the inside of this foot/.test(text)), `feet: ${feet}`);
    const wrist = await said("^wrist_top\\.");
    expect(wrist.some((text) => /Left elbow and left wrist are too far apart: are left wrist and right wrist exchanged/.test(text)),
        `wrists: ${wrist}`);
    const ankle = await said("^(knee|ankle_outside|heel|toe_tip)\\.");
    expect(ankle.some((text) => /Left knee and right knee look exchanged|inside of this foot/.test(text)), `legs: ${ankle}`);
    await page.close();
}

/** Two spots with doubtful names: one is confirmed, one is no marker. Neither is asked about again. */
async function questions(bench) {
    const { folder } = session(bench), file = join(folder, "names.html");
    const write = (name, text) => writeFileSync(join(folder, name), text);
    for (const name of ["found", "labels"]) mkdirSync(join(folder, name));
    const settings = JSON.parse(readFileSync(join(folder, "scan.json"), "utf8"));
    write("scan.json", JSON.stringify({ ...settings, markers: "markers.csv" }));
    write("markers.csv", "marker,joint,r,g,b\nfront,head,200,0,0\nbelly,waist,0,200,0\n");
    const front = "1.5,1.482,-1.846", belly = "1.5,0.936,-1.874";
    for (const name of ["stand", "again"]) write(`found/${name}.csv`, `x,y,z,r,g,b\n${front},200,0,0\n${belly},0,200,0\n`);
    write("labels/stand.csv", `marker,x,y,z\nfront,${front}\nbelly,${belly}\n`);
    write("labels/again.csv", `marker,x,y,z,confidence\nfront,${front},0.5\nbelly,${belly},0.6\n`);
    write("labels/doubtful.csv", `scan,marker,x,y,z,confidence,other\nagain,front,${front},0.5,belly\nagain,belly,${belly},0.6,\n`);
    bench.run("scan", "label", folder, "--page", file);
    const page = await bench.page(`file://${file}`, { wait: false });
    const cards = page.locator("article");
    expect(await cards.count() === 2, `${await cards.count()} questions`);
    expect(await cards.nth(0).locator("img").count() === 3, "no pictures of the spot and of both names on the reference");
    expect(await cards.nth(1).locator("img").count() === 2, "no pictures of the spot and of its name on the reference");
    const red = await cards.nth(0).locator("img").first().evaluate(async (image) => {
        await image.decode();
        return image.naturalWidth;
    });
    expect(red === 200, "a picture of another size");
    await cards.nth(0).getByRole("button", { name: "front" }).click();
    await cards.nth(1).getByText("No marker").click();
    expect(/All questions are answered/.test(await page.textContent("#asked > p")), await page.textContent("#asked > p"));
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
    await download.saveAs(join(folder, "names.csv"));
    bench.run("scan", "label", folder, "--csv", join(folder, "names.csv"));
    const lines = readFileSync(join(folder, "labels/again.csv"), "utf8").trim().split("\n");
    expect(lines.length === 2 && lines[1] === `front,${front},`, lines.join(" | "));
    expect(readFileSync(join(folder, "no_markers.csv"), "utf8") === `scan,x,y,z\nagain,${belly}\n`, "not noted");
    bench.run("scan", "label", folder, "--page", file, "--scan", "again");
    const later = await bench.page(`file://${file}`, { wait: false });
    expect(await later.locator("article").count() === 0, "asked again");
    expect(!page.problems.length && !later.problems.length, [...page.problems, ...later.problems].join("; "));
    await page.close();
    await later.close();
}

export const cases = {
    "names: doubtful ones are asked once": questions,
    "landmarks: clicked by mouse, filed where they are": (bench) => clicks(bench, { width: 1280, height: 800 }),
    "landmarks: tapped on a phone": (bench) => clicks(bench, { width: 390, height: 844, touch: true }),
    "landmarks: left and right exchanged": exchanged,
};
