// Entry point: opens the project from the server, or the rig in the page, and creates the panels.
import { start, ExemplarError, type Runtime } from "@exemplar/runtime";
import wasm from "@exemplar/runtime/exemplar.wasm";
import { App, SLOW } from "./core/app";
import { h } from "./core/dom";
import { treeOf } from "./core/exported";
import { History } from "./core/history";
import { projectOf } from "./core/project";
import { Refusal, Server, type Opened } from "./core/server";
import { Stage } from "./core/stage";
import { setWeighers } from "./core/weighers";
import { addCommands } from "./panels/actions";
import { headerPanel } from "./panels/header";
import { layout } from "./panels/layout";
import { failurePage } from "./panels/failure";
import { startPage } from "./panels/start";
import { setTheme } from "./panels/theme";
import { watchFile } from "./panels/watch";

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64.trim()), (c) => c.charCodeAt(0));

const openExported = (runtime: Runtime, element: HTMLElement): App => {
    const rig = runtime.open(bytesOf(element.textContent ?? ""));
    const tree = treeOf(rig);
    return new App(runtime, null, element.dataset["name"] ?? "rig", new History(tree, null), new Stage(rig, tree));
};

const openServed = async (runtime: Runtime, server: Server, opened: Opened): Promise<App> => {
    if (opened.error !== null) throw new Refusal(opened.error, 422, opened.where);
    const cancel = h("button", { onclick: () => void server.cancel() }, "Cancel");
    const slow = setTimeout(() => document.getElementById("start")?.append("building the rig ", cancel), SLOW);
    const built = await server.build(opened.text).finally(() => clearTimeout(slow));
    const tree = projectOf(opened.text);
    const stage = new Stage(runtime.open(built.rig), tree);
    const app = new App(runtime, server, opened.name, new History(tree, opened.text), stage);
    app.built = built;
    app.version = opened.version;
    return app;
};

const run = async (): Promise<void> => {
    setTheme();
    const place = document.getElementById("app")!;
    const exported = document.getElementById("rig");
    const server = exported ? null : new Server();
    let name: string | null = exported?.dataset["name"] ?? null;
    try {
        const opened = await server?.project();
        name ??= opened?.name ?? null;
        if (name) document.title = `${name} – Exemplar`;
        if (opened?.empty) {
            place.replaceChildren(startPage(server!, opened.name));
            document.body.dataset["ready"] = "empty";
            return;
        }
        const runtime = await start(wasm);
        setWeighers(runtime.weighers);
        const app = exported ? openExported(runtime, exported) : await openServed(runtime, server!, opened!);
        addCommands(app);
        place.replaceChildren(headerPanel(app), ...layout(app));
        app.commands.listen();
        if (server) watchFile(app);
        app.frame();
        void app.check();
        // For tests, and for the browser's console.
        Object.assign(window, { exemplar: app });
        document.body.dataset["ready"] = "true";
    } catch (error) {
        if (!(error instanceof Refusal || error instanceof ExemplarError)) console.error(error);
        place.replaceChildren(failurePage(error, name));
        document.body.dataset["ready"] = "failed";
    }
};

void run();
