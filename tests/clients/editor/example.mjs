// The example page of @exemplar/runtime (editor/runtime/example.html): serves the package folder as published, with
// three.js from the other clients.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { changed, expect } from "./harness.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

// Serves a folder, and one file next to it by name, on its own port.
const serveFolder = (folder, name, file) =>
    new Promise((resolve) => {
        const server = createServer((request, response) => {
            const path = normalize(new URL(request.url, "http://localhost").pathname);
            try {
                const bytes = readFileSync(path === `/${name}` ? file : join(folder, path));
                const type = TYPES[extname(path)] ?? "application/octet-stream";
                response.writeHead(200, { "Content-Type": type }).end(bytes);
            } catch {
                response.writeHead(404).end();
            }
        });
        server.listen(0, "127.0.0.1", () => resolve(server));
    });

const example = async (bench) => {
    const rig = bench.demo("arm").replace(/\.json$/, ".glb");
    const server = await serveFolder(join(dirname(bench.tool), "../wasm/package"), "arm.glb", rig);
    try {
        const context = await bench.browser.newContext({ viewport: { width: 800, height: 600 } });
        const page = await context.newPage();
        const problems = [];
        page.on("pageerror", (error) => problems.push(error.message));
        await context.route(/^https:/, (route) => {
            const [, path] = /\/three@[\d.]+\/(.*)$/.exec(route.request().url()) ?? [];
            const headers = { "Access-Control-Allow-Origin": "*", "Content-Type": "text/javascript" };
            return path ? route.fulfill({ path: join(bench.npm, "node_modules/three", path), headers }) : route.abort();
        });
        const address = `http://127.0.0.1:${server.address().port}/example.html`;
        await page.goto(`${address}?rig=arm.glb`);
        await page.waitForSelector("form label:nth-of-type(4)", { timeout: 15000 });
        const picture = await bench.pixels(page, "canvas");
        const elbow = page.locator("label", { hasText: "elbow" });
        await elbow.locator("input").fill("90");
        expect((await elbow.locator("output").textContent()) === "90.0", "the value is not shown");
        const bent = changed(picture, await bench.pixels(page, "canvas"));
        expect(bent > 1000, `bending the elbow changes ${bent} pixels`);
        await page.goto(`${address}?rig=none.glb`);
        await page.waitForFunction(() => document.querySelector("form").textContent.includes("cannot be fetched: 404"));
        expect(problems.every((problem) => problem.includes("404")), problems.join("; "));
        return `${bent} pixels changed`;
    } finally {
        server.close();
    }
};

export const cases = { "the runtime's page of example code": example };
