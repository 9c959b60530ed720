// Entry point: opens the project from the server, or the rig in the page, and creates the panels.
import { start, ExemplarError, type Runtime } from "@exemplar/runtime";
import wasm from "@exemplar/runtime/exemplar.wasm";
import { App } from "./core/app";
import { painted } from "./core/dom";
import { draftOf } from "./core/draft";
import { treeOf } from "./core/exported";
import { History } from "./core/history";
import { unpack } from "./core/packed";
import { followProgress } from "./core/progress";
import { projectOf, type Project } from "./core/project";
import { Refusal, Server, type Built, type Opened } from "./core/server";
import { Stage } from "./core/stage";
import { openUnbuilt, takeUnbuilt } from "./core/unbuilt";
import { setWeighers } from "./core/weighers";
import { addCommands } from "./panels/actions";
import { headerPanel } from "./panels/header";
import { layout } from "./panels/layout";
import { failurePage } from "./panels/failure";
import { openingPage } from "./panels/opening";
import { firstHints } from "./panels/hints";
import { remember } from "./panels/remember";
import { startPage } from "./panels/start";
import { setTheme } from "./panels/theme";
import { watchFile } from "./panels/watch";

const openExported = async (runtime: Promise<Runtime>, element: HTMLElement): Promise<App> => {
    const [made, bytes] = await Promise.all([runtime, unpack(element)]);
    const rig = made.open(new Uint8Array(bytes));
    const tree = treeOf(rig);
    return new App(made, null, element.dataset["name"] ?? "rig", new History(tree, null), new Stage(rig, tree));
};

const OFTEN = 80; // milliseconds between looks at the progress
const PATIENCE = 250; // milliseconds before a draft is asked for

const openServed = async (runtime: Promise<Runtime>, server: Server, opened: Opened): Promise<App> => {
    if (opened.error !== null) throw new Refusal(opened.error, 422, opened.where);
    const tree = projectOf(opened.text);
    const page = openingPage(server, opened.name);
    document.getElementById("start")?.replaceWith(page.element);
    const beside = takeUnbuilt() ? null : await server.beside(opened).catch(() => null);
    // Building beside the first picture would make it late.
    const building = (beside ? painted() : Promise.resolve()).then(() => server.build(opened.text));
    const wait = (): Promise<[Built, Project]> =>
        firstOf(server, building, tree).finally(followProgress(() => server.progress(), page.show, OFTEN));
    const [built, drawn] = beside ? [beside, { ...tree }] : await wait();
    if (beside)
        building.catch((error: unknown) => {
            // A project that cannot be built is not to be edited: opened again, the page says why.
            if (error instanceof Refusal && !error.isCancelled && error.status !== 0) openUnbuilt();
        });
    const stage = new Stage((await runtime).open(built.rig), drawn);
    const app = new App(await runtime, server, opened.name, new History(tree, opened.text), stage);
    app.built = built;
    app.version = opened.version;
    if (drawn !== tree) app.opening = { state: app.history.state, built: building };
    return app;
};

/** The build, or if that takes a while the draft, whichever is there first; and its tree. A draft that fails is left
 * out: the build says why. */
const firstOf = (server: Server, building: Promise<Built>, tree: Project): Promise<[Built, Project]> => {
    const draft = draftOf(tree);
    const whole = building.then((built): [Built, Project] => [built, tree]);
    if (!draft) return whole;
    let isBuilt = false;
    void whole.then(() => (isBuilt = true), () => (isBuilt = true));
    const never = new Promise<never>(() => undefined);
    const other = new Promise((later) => setTimeout(later, PATIENCE)).then(async (): Promise<[Built, Project]> =>
        isBuilt ? never : server.build(JSON.stringify(draft), true).then((built) => [built, draft], () => never));
    return Promise.race([whole, other]);
};

const run = async (): Promise<void> => {
    setTheme();
    const place = document.getElementById("app")!;
    const exported = document.getElementById("rig");
    const server = exported ? null : new Server();
    let name: string | null = exported?.dataset["name"] ?? null;
    // It compiles while the tool reads the project.
    const runtime = start(wasm).then((made) => (setWeighers(made.weighers), made));
    void runtime.catch(() => undefined);
    try {
        const opened = await server?.project();
        name ??= opened?.name ?? null;
        if (name) document.title = `${name} – Exemplar`;
        if (opened?.empty) {
            place.replaceChildren(startPage(server!, opened.name));
            document.body.dataset["ready"] = "empty";
            return;
        }
        const app = exported ? await openExported(runtime, exported) : await openServed(runtime, server!, opened!);
        addCommands(app);
        place.replaceChildren(headerPanel(app), ...layout(app));
        app.commands.listen();
        if (server) {
            remember(app);
            watchFile(app);
            firstHints();
        }
        app.frame();
        void (app.opening ? app.build() : app.check());
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
