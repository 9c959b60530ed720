// The view: everything it shows besides the form, and joints with the mouse.
import { apart, changed, drag, expect, positions, settled } from "./harness.mjs";
import { collisions } from "./landscape.mjs";

const show = (page, display) => page.evaluate((d) => (window.exemplar.show(d), window.exemplar.frame()), display);

/** Number of clearly coloured pixels of each of twelve hues, without the lower rows, which have the legend. */
const hues = ({ width, height, data }) => {
    const counts = new Array(12).fill(0);
    for (let i = 0; i < 4 * width * (height - 80); i += 4) {
        const [r, g, b] = [data[i], data[i + 1], data[i + 2]];
        const [least, most] = [Math.min(r, g, b), Math.max(r, g, b)];
        if (most - least < 40) continue;
        const turn = most === r ? (g - b) / (most - least) : most === g ? 2 + (b - r) / (most - least) : 4 + (r - g) / (most - least);
        counts[Math.floor(((turn + 6) % 6) * 2)]++;
    }
    return counts;
};

const wireAndColours = async (bench) => {
    const page = await bench.open(bench.demo("arm"));
    const plain = await bench.pixels(page, "#view");
    await page.keyboard.press("w");
    const wire = changed(plain, await bench.pixels(page, "#view"));
    expect(wire > 1500, `edges change ${wire} pixels`);
    await page.keyboard.press("w");
    expect(changed(plain, await bench.pixels(page, "#view")) === 0, "edges do not go away again");
    await page.evaluate(() => {
        const { exemplar } = window;
        exemplar.select({ example: "bent_male" });
        exemplar.goTo(0, "bent_male");
    });
    await page.keyboard.press("c");
    const there = hues(await bench.pixels(page, "#view"));
    const legend = await page.textContent(".view-legend");
    expect(/bent_male.*[\d.]+ (mm|cm|m)$/.test(legend), `the legend says '${legend}'`);
    await page.keyboard.press("r");
    const away = hues(await bench.pixels(page, "#view"));
    // The scale starts at violet.
    const moved = (counts) => counts.slice(0, 8).reduce((sum, count) => sum + count, 0);
    expect(moved(there) > 3000, `at the example there are hues ${there}`);
    expect(moved(away) < moved(there) / 10, `at rest there are hues ${away}`);
    // At the example, the difference is zero.
    await page.keyboard.press("c");
    const far = hues(await bench.pixels(page, "#view"));
    await page.evaluate(() => window.exemplar.goTo(0, "bent_male"));
    const near = hues(await bench.pixels(page, "#view"));
    expect(moved(far) > 3000 && moved(near) === 0, `difference: hues ${far} at rest, ${near} at the example`);
    expect(page.problems.length === 0, page.problems.join("; "));
    return `${wire} pixels of edges`;
};

const clientOf = (page, joint) => page.evaluate((j) => {
    const at = window.exemplar.stage.pose.worldJoints().subarray(16 * j + 12, 16 * j + 15);
    return document.getElementById("view").pointToClient([...at]);
}, joint);

const turned = (page, joint) => page.evaluate((j) => window.exemplar.stage.pose.jointFromRest(j), joint);

/** Drags a bone by 30° about its joint while its parent is turned: that joint turns by 30°, and the form follows. */
const joints = async (bench) => {
    const page = await bench.open(bench.demo("arm"));
    await page.keyboard.press("1");
    await page.keyboard.press("o");
    await page.keyboard.press("f");
    await page.evaluate(() => window.exemplar.setPlace({ shoulder: 20, elbow: 10 }));
    await show(page, { skeleton: true });
    const [elbow, hand] = [await clientOf(page, 1), await clientOf(page, 2)];
    const before = await positions(page);
    const angle = -Math.PI / 6; // y points down on the page
    const middle = { x: 0.6 * (hand.x - elbow.x), y: 0.6 * (hand.y - elbow.y) };
    const end = {
        x: elbow.x + middle.x * Math.cos(angle) - middle.y * Math.sin(angle),
        y: elbow.y + middle.x * Math.sin(angle) + middle.y * Math.cos(angle),
    };
    await drag(page, { x: elbow.x + middle.x, y: elbow.y + middle.y }, end);
    const value = await page.evaluate(() => window.exemplar.stage.pose.get("elbow"));
    expect(Math.abs(value - 40) < 1, `the elbow is at ${value}° instead of 40°`);
    expect(apart(before, await positions(page)) > 0.05, "the form does not follow");
    const label = await page.textContent(".joint-label");
    expect(/forearm.*z (39|40|41)\.\d°/.test(label), `the label says '${label}'`);
    // The joint itself, from another side: a hinge stays a hinge, except with Shift.
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    const place = await clientOf(page, 1);
    await drag(page, place, { x: place.x + 30, y: place.y - 25 }, { steps: 5 });
    let [x, y, z, w] = await turned(page, 1);
    expect(Math.hypot(x, y) < 1e-5 && Math.abs((2 * Math.atan2(z, w) * 180) / Math.PI - value) > 2,
        `the hinge is at ${[x, y, z, w]}`);
    await drag(page, place, { x: place.x + 30, y: place.y - 25 }, { key: "Shift", steps: 5 });
    [x, y, z, w] = await turned(page, 1);
    expect(Math.hypot(x, y) > 0.05, `freely, it is at ${[x, y, z, w]}`);
    // A bone follows the pointer also if its parent is turned out of the picture plane.
    await page.keyboard.press("r");
    await page.evaluate(() => window.exemplar.pose((pose) => pose.turnJoint("shoulder", [0.25, -0.35, 0.15, 0.89])));
    const [start, tip] = [await clientOf(page, 1), await clientOf(page, 2)];
    const way = Math.atan2(tip.y - start.y, tip.x - start.x);
    const on = (turn, share) => ({
        x: start.x + share * Math.hypot(tip.x - start.x, tip.y - start.y) * Math.cos(way + turn),
        y: start.y + share * Math.hypot(tip.x - start.x, tip.y - start.y) * Math.sin(way + turn),
    });
    await drag(page, on(0, 0.6), on(0.7, 0.9), { key: "Shift", steps: 5 });
    const after = await clientOf(page, 2);
    const off = Math.atan2(after.y - start.y, after.x - start.x) - way - 0.7;
    expect(Math.abs(Math.sin(off)) < 0.02, `the bone is ${(off * 180) / Math.PI}° beside the pointer`);
    await page.keyboard.press("r");
    await page.keyboard.press("]");
    await page.keyboard.press("Shift+X");
    [x, y, z, w] = await turned(page, 2);
    expect(Math.abs((2 * Math.atan2(x, w) * 180) / Math.PI + 5) < 1e-3, `after a key, the hand is at ${[x, y, z, w]}`);
    expect(page.problems.length === 0, page.problems.join("; "));
    return `elbow at ${value.toFixed(2)}°`;
};

const texture = async (bench) => {
    const page = await bench.open(bench.demo("face"));
    const skin = await bench.pixels(page, "#view");
    const form = await positions(page);
    await show(page, { surface: "shaded" });
    const clay = await bench.pixels(page, "#view");
    expect(changed(skin, clay) > 20000, `the texture changes ${changed(skin, clay)} pixels`);
    await show(page, { surface: "texture" });
    await page.evaluate(() => {
        const { exemplar } = window;
        const layer = exemplar.stage.rig.layers.find((l) => l.domain === "pixels");
        const { inputs } = layer;
        exemplar.pose((pose) => inputs.forEach((input) => pose.set(input.index, input.rest === input.max ? input.min : input.max)));
    });
    const flushed = changed(skin, await bench.pixels(page, "#view"));
    expect(flushed > 500, `another texture changes ${flushed} pixels`);
    expect(apart(form, await positions(page)) === 0, "the texture's axis moves the form");
    expect(page.problems.length === 0, page.problems.join("; "));
};

/** Functions used by brushes and thumbnails. */
const picking = async (bench) => {
    const page = await bench.open(bench.demo("emotion"));
    await settled(page);
    const said = await page.evaluate(() => {
        const { picker, pictures, stage, layer } = window.exemplar;
        const { left, top, width, height } = picker.canvas.getBoundingClientRect();
        const at = { clientX: left + width / 2, clientY: top + height / 2 };
        const times = Array.from({ length: 40 }, () => {
            const start = performance.now();
            picker.hit(at);
            return performance.now() - start;
        });
        const time = times.sort((a, b) => a - b)[20];
        const hit = picker.hit(at);
        const client = picker.canvas.pointToClient(hit.point);
        const cage = stage.rig.surface({ level: 0, split: false, normals: false }).evaluate(stage.pose).positions;
        let nearest = Infinity;
        const far = (v) => Math.hypot(...[0, 1, 2].map((i) => cage[3 * v + i] - hit.point[i]));
        for (let v = 0; v < cage.length / 3; v++) nearest = Math.min(nearest, far(v));
        const moved = picker.drag(hit.point, at, { clientX: at.clientX + 40, clientY: at.clientY - 30 });
        const there = picker.canvas.pointToClient(hit.point.map((v, i) => v + moved[i]));
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = 64;
        const draw = (example) => {
            pictures.draw(canvas, (pose) => stage.setExample(pose, layer.name, example));
            return [...canvas.getContext("2d").getImageData(0, 0, 64, 64).data];
        };
        const [one, two] = [draw(layer.examples[0]), draw(layer.examples[1])];
        return {
            time, off: Math.hypot(client.x - at.clientX, client.y - at.clientY), found: far(hit.vertex), nearest,
            dragged: [there.x - at.clientX, there.y - at.clientY], one, two, outside: picker.hit({ clientX: left + 2, clientY: top + 2 }),
        };
    });
    expect(said.off < 0.1, `the hit is ${said.off} pixels beside the pointer`);
    expect(said.found <= said.nearest * 1.5 + 1e-9, `a vertex at ${said.found} was taken where one is at ${said.nearest}`);
    expect(Math.abs(said.dragged[0] - 40) < 0.5 && Math.abs(said.dragged[1] + 30) < 0.5, `a drag goes ${said.dragged}`);
    expect(said.outside === null, "something was hit where nothing is");
    const covered = said.one.filter((v, i) => i % 4 === 3 && v > 200).length;
    expect(covered > 500 && covered < 4000, `a small picture has ${covered} pixels`);
    expect(said.one.some((v, i) => Math.abs(v - said.two[i]) > 40), "two examples have the same picture");
    return `a hit takes ${said.time.toFixed(2)} ms`;
};

const pixel = ({ width, data }, x, y) => [...data.subarray(4 * (Math.round(y) * width + Math.round(x)), 4 * (Math.round(y) * width + Math.round(x)) + 3)];
const sumOf = (rgb) => rgb[0] + rgb[1] + rgb[2];

/** Clay before a backdrop that darkens downwards, with a shadow below the form, also where the form goes below its
 * ground at rest. */
const light = async (bench) => {
    for (const [theme, top, bottom] of [["light", [238, 240, 242], [223, 227, 232]], ["dark", [46, 51, 56], [31, 35, 38]]]) {
        const page = await bench.open(bench.demo("arm"), { theme });
        for (const shoulder of [0, -60]) {
            await page.evaluate((at) => window.exemplar.setPlace({ shoulder: at }), shoulder);
            await page.keyboard.press("f");
            await page.waitForTimeout(100);
            // The middle of the form, and the place on the ground below its lowest vertex, in pixels of the canvas.
            const [middle, foot] = await page.evaluate(() => {
                const canvas = document.getElementById("view");
                const { left, top } = canvas.getBoundingClientRect();
                const { box, positions } = window.exemplar.stage.surface;
                let low = 0;
                for (let i = 0; i < positions.length; i += 3) if (positions[i + 1] < positions[low + 1]) low = i;
                const at = (point) => {
                    const { x, y } = canvas.pointToClient(point);
                    return [x - left, y - top];
                };
                return [at([0, 1, 2].map((i) => 0.5 * (box[i] + box[i + 3]))), at([...positions.subarray(low, low + 3)])];
            });
            const shown = await bench.pixels(page, "#view");
            await show(page, { ground: false });
            const bare = await bench.pixels(page, "#view");
            await show(page, { ground: true });
            const [x, y] = [foot[0], foot[1] + 5];
            const [under, without] = [sumOf(pixel(shown, x, y)), sumOf(pixel(bare, x, y))];
            expect(under < 0.9 * without, `${theme}, shoulder ${shoulder}: below the form is ${under}, without a ground ${without}`);
            const clay = pixel(shown, ...middle);
            expect(clay[0] > clay[1] + 12 && clay[1] > clay[2] + 12, `${theme}: the form is ${clay}`);
            const ends = [pixel(bare, 4, 1), pixel(bare, 4, bare.height - 2)];
            expect(ends[0].every((v, i) => Math.abs(v - top[i]) < 3) && ends[1].every((v, i) => Math.abs(v - bottom[i]) < 3),
                `${theme}: the backdrop goes from ${ends[0]} to ${ends[1]}`);
        }
    }
};

/** The nearest examples as ghosts: behind the form, in other colours, with their names; of a skinned rig, and of a
 * subdivided one. */
const onion = async (bench) => {
    const said = [];
    for (const [demo, place, nearest] of [["arm", { shoulder: 20, elbow: 40 }, ["straight_female", "up_female"]],
        ["creature", { leap: 0.6, sit: 0.3 }, ["leap", "sit"]]]) {
        const page = await bench.open(bench.demo(demo));
        await page.evaluate((at) => window.exemplar.setPlace(at), place);
        await page.keyboard.press("f");
        await settled(page);
        const plain = await bench.pixels(page, "#view");
        await page.click("button:text-is('Onion skins')");
        const skins = await bench.pixels(page, "#view");
        const labels = await collisions(page, ".view-labels");
        expect(labels.wrong.length === 0 && nearest.every((name) => labels.names.includes(name)), `${demo}: names ${labels.names}; ${labels.wrong}`);
        const count = changed(plain, skins);
        expect(count > 3000, `${demo}: ghosts change ${count} pixels`);
        // Pixels that changed, and which of them show the form.
        const { width, data } = skins;
        const places = [];
        for (let i = 0; i < data.length; i += 4 * 37)
            if ([0, 1, 2].some((c) => Math.abs(data[i + c] - plain.data[i + c]) > 24)) places.push([(i / 4) % width, Math.floor(i / 4 / width)]);
        const onForm = await page.evaluate((list) => {
            const { picker } = window.exemplar;
            const { left, top } = picker.canvas.getBoundingClientRect();
            const names = document.querySelector(".view-labels").labels();
            const isText = (x, y) => names.some((n) => x > n.left - 90 && x < n.left + n.width + 90 && y > n.top - 90 && y < n.top + n.height + 90);
            return list.filter(([x, y]) => !isText(left + x, top + y) && [-2, 0, 2].every((d) => picker.hit({ clientX: left + x + d, clientY: top + y + d }))).length;
        }, places);
        expect(onForm === 0, `${demo}: ${onForm} of ${places.length} changed pixels are on the form`);
        const level = await page.evaluate(() => window.exemplar.stage.surface.level);
        await page.keyboard.press("k");
        expect(changed(plain, await bench.pixels(page, "#view")) === 0, "the ghosts do not go away");
        expect(page.problems.length === 0, page.problems.join("; "));
        said.push(`${demo} at level ${level}: ${count} pixels`);
        await page.context().close();
    }
    return said.join(", ");
};

/** The names of joints and ghosts, at both widths. */
const jointNames = async (bench) => {
    const page = await bench.open(bench.demo("arm"));
    for (const width of [1440, 400]) {
        await page.setViewportSize({ width, height: 800 });
        await show(page, { skeleton: true, onion: true });
        for (const [place, chosen] of [[{ elbow: 110 }, 0], [{ elbow: 0, shoulder: -60 }, 1]]) {
            await page.evaluate((at) => window.exemplar.setPlace(at), place);
            await page.keyboard.press("]");
            await settled(page);
            const { wrong, names } = await collisions(page, ".view-labels");
            const name = await page.evaluate((j) => window.exemplar.stage.rig.joints[j].name, chosen);
            expect(wrong.length === 0 && names.includes(name), `${width} pixels: ${wrong}; names ${names}, not ${name}`);
        }
        await page.keyboard.press("[");
        await page.keyboard.press("[");
        await page.keyboard.press("[");
        await page.keyboard.press("]");
    }
};

export const cases = {
    "edges and colours": wireAndColours,
    "joints under the mouse": joints,
    "a texture": texture,
    "light and shadow": light,
    "onion skins": onion,
    "names in the view": jointNames,
    "picking and small pictures": picking,
};
