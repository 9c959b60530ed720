// Packs the editor's page into one file. The script (src/main.ts and its imports, including three.js), the small one in
// front of it (src/early.ts), the style (style.css, then each panel's own, next to its source) and the WebAssembly module
// go into index.html. The same sources give the same bytes.
//
//   node build.mjs [--modules FOLDER] [--runtime FOLDER] [--output FILE]
//   node build.mjs --types …                      checks the types instead, and writes only a tsconfig.json
//
// modules: the folder that 'npm ci' filled (default: node_modules here); runtime: the package @exemplar/runtime
// (default: the output of the preset wasm); output: default build/editor/editor.html.
//
// The page carries its own policy (<meta http-equiv="Content-Security-Policy">): only these scripts run, and the page
// fetches only from its own origin. 'exemplar edit --export' (cli/edit/edit_export.c) relies on two markers, each in
// the page exactly once: RIG, which the rig replaces, and CONNECT, which becomes 'none'.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const RIG = "<!--rig-->";
const CONNECT = "connect-src 'self'";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "src");

const fail = (sentence) => {
    console.error(`build.mjs: ${sentence}`);
    process.exit(1);
};

const { values: options } = parseArgs({
    options: {
        modules: { type: "string", default: join(here, "node_modules") },
        runtime: { type: "string", default: join(here, "../../build/wasm/package") },
        output: { type: "string", default: join(here, "../../build/editor/editor.html") },
        types: { type: "boolean", default: false },
    },
});
const modules = resolve(options.modules);
const runtime = resolve(options.runtime);
const output = resolve(options.output);

// ---- types ----

// The packages need not lie above the sources, so their paths go into a tsconfig.json next to the output.
const checkTypes = () => {
    const places = { "@exemplar/runtime": [join(here, "../runtime/index.d.ts")] };
    for (const name of ["three", "@types/three"]) {
        const typed = join(modules, "@types/three");
        places[name] = [typed];
        places[`${name}/*`] = [join(typed, "*")];
    }
    places["three/addons/*"] = [join(modules, "@types/three/examples/jsm/*")];
    const config = {
        extends: join(here, "tsconfig.json"),
        compilerOptions: { paths: places },
        include: [source],
    };
    const path = join(dirname(output), "tsconfig.json");
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(path, JSON.stringify(config, null, 2));
    try {
        execFileSync(process.execPath, [join(modules, "typescript/bin/tsc"), "-p", path], { stdio: "inherit" });
    } catch (error) {
        process.exit(error.status ?? 1);
    }
};

// ---- the parts ----

const bundleScript = async (entry, format) => {
    const esbuild = createRequire(join(modules, "any.js"))("esbuild");
    const result = await esbuild.build({
        entryPoints: [join(source, entry)],
        bundle: true,
        write: false,
        minify: true,
        format,
        platform: "browser",
        target: "es2022",
        legalComments: "none", // all notices are at the top of the page
        loader: { ".wasm": "binary" },
        alias: { "@exemplar/runtime": runtime },
        nodePaths: [modules],
        external: ["node:*"], // @exemplar/runtime imports these in node only
        tsconfig: join(here, "tsconfig.json"),
        logLevel: "warning",
    });
    return result.outputFiles[0].text.trim();
};

const minifyStyle = async () => {
    const esbuild = createRequire(join(modules, "any.js"))("esbuild");
    const panels = readdirSync(source, { recursive: true }).filter((path) => path.endsWith(".css")).sort();
    const files = [join(here, "style.css"), ...panels.map((path) => join(source, path))];
    const style = files.map((path) => readFileSync(path, "utf8")).join("\n");
    return (await esbuild.transform(style, { loader: "css", minify: true, target: "es2022" })).code.trim();
};

// Copyright lines of everything in the page (editor/NOTICE, which is installed too), under one licence.
const notices = () => {
    const parts = (path) => {
        const text = readFileSync(path, "utf8");
        const line = /^Copyright .*$/m.exec(text)?.[0];
        const terms = text.slice(text.indexOf("Permission is hereby granted")).trim();
        if (!line) fail(`${path} has no line with the copyright: look at what the page has to carry`);
        return { line, terms, words: terms.replace(/\s+/g, " ") };
    };
    const ours = parts(join(here, "../../LICENSE"));
    const three = parts(join(modules, "three/LICENSE"));
    if (three.words !== ours.words) fail("three.js has another licence now: look at what the page has to carry");
    const notice = readFileSync(join(here, "../NOTICE"), "utf8");
    for (const { line } of [ours, three])
        if (!notice.includes(line)) fail(`editor/NOTICE lacks the line '${line}'`);
    return `<!--\n${notice}\nThe MIT licence:\n\n${ours.terms}\n-->`;
};

// ---- the page ----

// Refuses text that an HTML parser would change: the hash in the policy would no longer match.
const checkInline = (what, text, end) => {
    for (const bad of [end, "<!--", "\r", "\0"])
        if (text.toLowerCase().includes(bad)) fail(`the ${what} holds ${JSON.stringify(bad)}: write it another way`);
};

// Replaces a marker that must be in the page exactly once.
const put = (html, place, text) => {
    const parts = html.split(place);
    if (parts.length !== 2) fail(`${place} must stand in index.html once: there it is ${parts.length - 1} times`);
    return parts.join(text);
};

const makePage = async () => {
    const [script, early, style] =
        await Promise.all([bundleScript("main.ts", "esm"), bundleScript("early.ts", "iife"), minifyStyle()]);
    checkInline("script", script, "</script");
    checkInline("early script", early, "</script");
    checkInline("style", style, "</style");
    const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
    const policy = [
        "default-src 'none'",
        `script-src ${hash(early)} ${hash(script)} 'wasm-unsafe-eval'`,
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        CONNECT,
        "base-uri 'none'",
        "form-action 'none'",
    ].join("; ");
    let html = readFileSync(join(here, "index.html"), "utf8");
    html = put(html, "<!--policy-->", `<meta http-equiv="Content-Security-Policy" content="${policy}">`);
    html = put(html, "<!--style-->", `${notices()}\n<style>${style}</style>`);
    html = put(html, "<!--early-->", `<script>${early}</script>`);
    html = put(html, "<!--script-->", `<script type="module">${script}</script>`);
    put(html, RIG, ""); // check only: the export needs both markers
    put(html, CONNECT, "");
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(output, html);
};

await (options.types ? checkTypes() : makePage());
