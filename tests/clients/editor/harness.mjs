// Shared by the editor's cases: the tool's server, a real Chromium, a mouse, screen pixels, and a tally.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequire } from "node:module";

export const fail = (message) => {
    throw new Error(message);
};
export const expect = (truth, message) => truth || fail(message);

/** For cases that need more room than the default of 1024 × 768, which draws in half the time. */
export const WIDE = { width: 1440, height: 900 };

/** The tool, demo projects and the browser; one for the entire run. */
export class Bench {
    constructor(tool, npm, work) {
        this.tool = tool;
        this.npm = npm;
        this.work = work;
        this.playwright = createRequire(join(npm, "package.json"))("playwright-core");
        this.servers = [];
        this.passed = 0;
        this.failed = 0;
    }

    async start() {
        this.browser = await this.playwright.chromium.launch({
            executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
            args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                "--ignore-gpu-blocklist", "--force-device-scale-factor=1"],
        });
        const context = await this.browser.newContext();
        this.decoder = await context.newPage(); // a blank page that decodes PNG files
    }

    async end() {
        await this.browser?.close();
        for (const server of this.servers) server.kill("SIGINT");
    }

    /** Runs the tool and returns its output. */
    run(...words) {
        return execFileSync(this.tool, words.map(String), { encoding: "utf8", stdio: "pipe", maxBuffer: 1 << 28 });
    }

    /** A separate copy of a demo's project; the demo is made once. */
    demo(name) {
        this.demos ??= new Map();
        if (!this.demos.has(name)) {
            const folder = join(this.work, "demos", name);
            this.run("demo", name, "-o", folder, "--force", "-q");
            this.demos.set(name, folder);
        }
        const folder = mkdtempSync(join(this.work, `${name}-`));
        cpSync(this.demos.get(name), folder, { recursive: true });
        return join(folder, `${name}.json`);
    }

    /** Starts the editor of a project and returns its address. */
    serve(project, cache = join(this.work, "cache")) {
        const server = spawn(this.tool, ["edit", project, "--no-open"],
            { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, XDG_CACHE_HOME: cache } });
        this.servers.push(server);
        return new Promise((resolve, reject) => {
            let said = "";
            server.stdout.on("data", (bytes) => {
                said += bytes;
                const address = /http:\S+/.exec(said);
                if (address) resolve(address[0]);
            });
            server.on("exit", () => reject(new Error(`'exemplar edit' ended: ${said}`)));
        });
    }

    /** A new page at an address. */
    async page(address, { width = 1024, height = 768, theme = "light", wait = true, touch = false, hints = false } = {}) {
        const context = await this.browser.newContext({ viewport: { width, height }, colorScheme: theme, hasTouch: touch,
            isMobile: touch });
        if (!hints && address.startsWith("http")) await context.addCookies([{ name: "exemplar_hints", value: "seen", url: address }]);
        const page = await context.newPage();
        page.problems = [];
        page.on("pageerror", (error) => page.problems.push(error.message));
        page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
        await page.goto(address);
        await page.waitForSelector("body[data-ready]", { timeout: 60000 });
        if (wait) {
            const state = await page.getAttribute("body", "data-ready");
            expect(state === "true", `the page did not open: ${await page.textContent("main")}`);
            await settled(page);
        }
        return page;
    }

    async open(project, options) {
        return this.page(await this.serve(project), options);
    }

    /** RGB of an element as seen on the screen, row by row. */
    async pixels(page, selector) {
        await page.evaluate(() => window.exemplar?.frame());
        const png = await page.locator(selector).first().screenshot();
        return this.decode(png);
    }

    async decode(png) {
        const { width, height, data } = await this.decoder.evaluate(async (base64) => {
            const image = new Image();
            image.src = `data:image/png;base64,${base64}`;
            await image.decode();
            const canvas = new OffscreenCanvas(image.width, image.height);
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            const { data } = context.getImageData(0, 0, image.width, image.height);
            let text = "";
            for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
            return { width: image.width, height: image.height, data: btoa(text) };
        }, png.toString("base64"));
        return { width, height, data: Buffer.from(data, "base64") };
    }

    /** Runs one case and prints one line. */
    async check(name, body) {
        const pages = this.browser.contexts().length;
        const start = performance.now();
        try {
            const said = await body(this);
            this.passed++;
            console.log(`ok      ${name}${said ? `: ${said}` : ""} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
        } catch (error) {
            this.failed++;
            console.log(`FAILED  ${name}: ${error.message}\n${error.stack?.split("\n").slice(1, 4).join("\n")}`);
        }
        for (const context of this.browser.contexts().slice(pages)) await context.close();
        for (const server of this.servers.splice(0)) server.kill("SIGINT");
    }
}

/** Waits until no build is running and the result was drawn. */
export const settled = (page) =>
    page.evaluate(async () => {
        const { exemplar } = window;
        for (;;) {
            await exemplar.build();
            if (!exemplar.server || exemplar.stage.built === exemplar.history.tree) break;
        }
        const next = () => new Promise((done) => requestAnimationFrame(done));
        while (document.body.dataset.looks === "later") await next();
        exemplar.frame();
        await next();
        await next();
    });

/** Waits until the form has moved from where it was. */
export const moved = async (page, before, what) => {
    for (let i = 0; apart(before, await positions(page)) <= 0.01; i++) {
        expect(i < 100, what);
        await page.waitForTimeout(100);
    }
};

/** Waits for a number of browser frames. */
export const frames = (page, count) => page.evaluate(async (n) => {
    for (let i = 0; i < n; i++) await new Promise((done) => requestAnimationFrame(done));
}, count);

/** The surface shown, as numbers. */
export const positions = async (page) => Float32Array.from(
    await page.evaluate(() => (window.exemplar.frame(), [...window.exemplar.stage.surface.positions])));

/** The largest difference of two arrays, and the largest extent of the first. */
export const apart = (a, b) => {
    expect(a.length === b.length, `${a.length} numbers are compared with ${b.length}`);
    let most = 0;
    for (let i = 0; i < a.length; i++) most = Math.max(most, Math.abs(a[i] - b[i]));
    return most;
};

/** Number of pixels that differ clearly between two pictures. */
export const changed = (a, b) => {
    expect(a.data.length === b.data.length, "the pictures have different sizes");
    let count = 0;
    for (let i = 0; i < a.data.length; i += 4)
        if (Math.abs(a.data[i] - b.data[i]) + Math.abs(a.data[i + 1] - b.data[i + 1]) +
            Math.abs(a.data[i + 2] - b.data[i + 2]) > 24) count++;
    return count;
};

/** Screen position of a point of the map. */
export const onMap = (page, values) =>
    page.evaluate((point) => document.getElementById("map").pointToClient(point), values);

/** Drags with the mouse in steps, optionally with a key held; `during` is called before the button is released. */
export const drag = async (page, from, to, { key = null, steps = 12, during = null } = {}) => {
    await page.mouse.move(from.x, from.y);
    if (key) await page.keyboard.down(key);
    await page.mouse.down();
    for (let i = 1; i <= steps; i++) {
        await page.mouse.move(from.x + ((to.x - from.x) * i) / steps, from.y + ((to.y - from.y) * i) / steps);
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done())));
    }
    const seen = during ? await during() : null;
    await page.mouse.up();
    if (key) await page.keyboard.up(key);
    return seen;
};

export const save = async (page) => {
    await settled(page);
    await page.keyboard.press("Control+s");
    await page.waitForFunction(() => !window.exemplar.history.changed, null, { timeout: 20000 });
};

export const json = (path) => JSON.parse(readFileSync(path, "utf8"));
export const scratch = (prefix) => mkdtempSync(join(tmpdir(), prefix));
