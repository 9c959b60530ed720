// The documentation site in a real browser, from disk: it fetches nothing, fits a phone, finds words, copies code, is dark
// on a dark system, and plays a rig. Prints "N passed, M failed"; exit 1 if any failed.
//
//   node site.mjs SITE NPM     SITE is a folder that the test docs.site made, NPM a folder with playwright-core in it
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [site, npm] = process.argv.slice(2, 4).map((path) => resolve(path));
const address = (name) => {
    const [file, query] = name.split("?");
    return pathToFileURL(join(site, file)).href + (query ? `?${query}` : "");
};
const expect = (truth, message) => {
    if (!truth) throw new Error(message);
};

const htmlOf = (folder) => readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? (["live", "source"].includes(entry.name) ? [] : htmlOf(join(folder, entry.name)))
        : entry.name.endsWith(".html") ? [relative(site, join(folder, entry.name))] : []);

/** A tab that remembers faults: errors of scripts, files that are missing, anything from a network. */
const tab = async (browser, options) => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    context.setDefaultTimeout(120000); // machines of tests are busy
    const page = await context.newPage();
    page.faults = [];
    page.on("pageerror", (error) => page.faults.push(error.message));
    page.on("requestfailed", (request) => page.faults.push(`${request.url()} failed`));
    page.on("request", (request) => /^https?:/.test(request.url()) && page.faults.push(`${request.url()} is asked for`));
    return page;
};
const clean = (page) => expect(!page.faults.length, page.faults.slice(0, 5).join("; "));

const cases = {
    "pages fit a phone": async (browser) => {
        const page = await tab(browser, { viewport: { width: 400, height: 800 } });
        // Pages of commands are alike, and so are notebooks.
        const names = htmlOf(site).filter((name) => !/commands\/(?!index|drive)|notebooks\/(?!index|sci)/.test(name));
        for (const name of names) {
            await page.goto(address(name), { waitUntil: "domcontentloaded" });
            const wide = await page.evaluate(() => {
                const width = document.documentElement.clientWidth;
                const out = [...document.querySelectorAll("article *")].find((element) =>
                    element.getBoundingClientRect().right > width + 1 && !element.closest(".table-wrapper, pre, .heroes"));
                return document.documentElement.scrollWidth > width || out ? out?.outerHTML.slice(0, 100) ?? "the page" : null;
            });
            expect(!wide, `${name}: ${wide} is wider than the screen`);
        }
        clean(page);
    },
    "the search finds and marks words": async (browser) => {
        const page = await tab(browser);
        await page.goto(address("index.html"));
        await page.fill(".sidebar-search", "corrective");
        await page.press(".sidebar-search", "Enter");
        await page.waitForSelector(".search-hit mark");
        const first = await page.getAttribute(".search-hit a", "href");
        expect(first.startsWith("guides/sculpt.html"), `the first result is ${first}`);
        await page.fill("#query", "no_such_word_anywhere");
        expect((await page.textContent("#search-count")).startsWith("No page"), "it finds a word that is nowhere");
        clean(page);
    },
    "a block is copied, commands without their output": async (browser) => {
        const page = await tab(browser, { permissions: ["clipboard-read", "clipboard-write"] });
        await page.goto(address("reference/commands/figures.html"));
        await page.hover(".highlight-console");
        await page.click(".highlight-console button.copy");
        await page.waitForFunction(() => [...document.querySelectorAll("button.copy")].some((button) => button.textContent === "Copied"));
        const text = await page.evaluate(() => navigator.clipboard.readText());
        expect(/^exemplar figures .*\nls figures\n$/.test(text), `it copied ${JSON.stringify(text)}`);
    },
    "it is dark on a dark system": async (browser) => {
        const background = async (colorScheme) => {
            const page = await tab(browser, { colorScheme });
            await page.goto(address("index.html"));
            return page.evaluate(() => Number(/\d+/.exec(getComputedStyle(document.body).backgroundColor)[0]));
        };
        const [light, dark] = [await background("light"), await background("dark")];
        expect(light > 200 && dark < 60, `the background is ${light} of 255, and ${dark} on a dark system`);
    },
    "a rig plays inside the page": async (browser) => {
        expect(existsSync(join(site, "live/arm.html")), "there is no live page of the arm");
        const page = await tab(browser);
        await page.goto(address("play.html"));
        await page.click(".play-start[href='live/arm.html']");
        const frame = await (await page.waitForSelector(".play-stage iframe")).contentFrame();
        await frame.waitForSelector("canvas");
        const value = () => frame.evaluate(() => [...document.querySelectorAll("input[type=range]")].map((input) => input.value).join());
        const before = await value();
        await frame.waitForFunction((was) => was !== [...document.querySelectorAll("input[type=range]")].map((input) => input.value).join(),
            before);
        clean(page);
    },
};

if (!existsSync(join(site, "index.html"))) {
    console.log("skipped: the test docs.site made no site\n0 passed, 0 failed");
    process.exit(77);
}
const browser = await createRequire(join(npm, "package.json"))("playwright-core").chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});
let passed = 0, failed = 0;
for (const [name, body] of Object.entries(cases)) {
    try {
        await body(browser);
        passed++;
        console.log(`ok: ${name}`);
    } catch (error) {
        failed++;
        console.log(`FAILED: ${name}: ${error.message}`);
    }
}
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
