// The row below the view: plays a motion, or the examples of the selected layer. Scrub, step, bake.
import type { App } from "../core/app";
import { commandButton } from "../core/buttons";
import { clipsOf, exportedClips, type Clip } from "../core/clips";
import { h } from "../core/dom";
import { bakeForm } from "./bake";
import { Player } from "./player";
import { matchWords, wordsOf, Source } from "./source";
import { examplesTrack, motionTrack, namesOf, placesOf, reachOf } from "./track";

const ENDS = ".bvh,.csv,.glb,.gltf";
const DRIVER_ENDS = ".pc2,.mdd,.abc"; // numbered files come as many: they are listed from the folder
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const FEW = 10; // frames per second: slower motions look like steps
const EXAMPLES = "examples";
const OPEN = "open";
const FILE = "file"; // an opened file; paths in the folder begin with a slash, clips with a hash

const addCommands = (app: App, player: Player): void => {
    const enabled = (): boolean => player.hasTrack;
    app.commands.add(
        { id: "play", label: "Play or pause", group: "Play", keys: ["Space"], run: () => player.toggle(), enabled },
        { id: "frame-before", label: "Previous frame", group: "Play", keys: ["<"], run: () => player.step(-1), enabled },
        { id: "frame-after", label: "Next frame", group: "Play", keys: [">"], run: () => player.step(1), enabled },
    );
};

/** The controls of time, and a function that updates them. */
const controls = (app: App, player: Player): { elements: HTMLElement[]; smooth: HTMLElement; show(): void } => {
    const button = (text: string, id: string, kind: string): HTMLButtonElement =>
        commandButton(app, id, text, { class: kind, "aria-label": kind === "step" ? app.commands.get(id).label : null });
    const toggle = (text: string, title: string, get: () => boolean, set: (on: boolean) => void): HTMLButtonElement =>
        h("button", { title, "aria-pressed": String(get()), onclick: () => {
            set(!get());
            show();
        } }, text);
    const play = button("Play", "play", "toggle");
    const [before, after] = [button("Back", "frame-before", "step"), button("Next", "frame-after", "step")];
    const scrub = h("input", { type: "range", class: "scrub", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time",
        oninput: () => (player.pause(), player.seek(scrub.valueAsNumber)) });
    const where = h("span", { class: "where" });
    const speed = h("select", { "aria-label": "Speed", title: "Speed", onchange: () => (player.speed = Number(speed.value)) },
        ...SPEEDS.map((value) => h("option", { value, selected: value === 1 }, `${value}×`)));
    const loop = toggle("Loop", "Start again at the end", () => player.loop, (on) => (player.loop = on));
    const smooth = toggle("Between frames", "Blend between two frames instead of showing the nearest one", () => player.smooth,
        (on) => {
            player.smooth = on;
            if (!player.playing) player.seek(player.time);
        });

    smooth.classList.add("between");

    const show = (): void => {
        const { track, time, hasTrack } = player;
        for (const control of [play, before, after, scrub])
            if (control.disabled === hasTrack) control.disabled = !hasTrack;
        const wanted = player.playing ? "Pause" : "Play";
        if (play.textContent !== wanted) play.textContent = wanted;
        for (const [control, on] of [[loop, player.loop], [smooth, player.smooth]] as const)
            if (control.ariaPressed !== String(on)) control.ariaPressed = String(on);
        const longest = String(track?.duration || 1);
        if (scrub.max !== longest) scrub.max = longest;
        if (scrub.valueAsNumber !== time) scrub.value = String(time);
        const text = hasTrack ? track!.describe(time) : "";
        if (where.textContent === text) return;
        where.textContent = where.title = text;
        scrub.setAttribute("aria-valuetext", text);
    };
    return { elements: [play, before, after, scrub, where, h("span", { class: "break" }), speed, loop, smooth], smooth, show };
};

export const playPanel = (app: App): HTMLElement => {
    let source: Source | null = null; // null: the examples
    let folder: string[] = [];
    const findClips = (): Clip[] => (app.server ? clipsOf(app.stage.rig) : exportedClips(app.stage.rig));
    let clips = findClips();
    const player = new Player(app, () => show());
    addCommands(app, player);
    const { elements, smooth, show: showTime } = controls(app, player);
    const bake = h("button", { class: "bake", title: "Write this motion as glTF or a point cache, for programs without Exemplar",
        onclick: () => source && bakeForm(app, source) }, "Bake…");
    const show = (): void => {
        showTime();
        if (smooth.hidden !== (source === null)) smooth.hidden = source === null;
        bake.hidden = source === null || !app.server;
    };

    // ---- source ----

    const select = h("select", { id: "play-source", "aria-label": "Motion to play", title: "Motion to play",
        onchange: () => choose(select.value) });
    const list = (): void => {
        const file = source?.file;
        select.replaceChildren(h("option", { value: EXAMPLES }, "Examples"),
            ...clips.map(({ name, number }) => h("option", { value: `#${number}` }, name)),
            ...(file instanceof File ? [h("option", { value: FILE }, file.name)] : []),
            ...folder.map((path) => h("option", { value: `/${path}` }, path)),
            ...(app.server ? [h("option", { value: OPEN },
                app.stage.rig.driver ? "Open a point cache of the driver…" : "Open a motion…")] : []));
        select.value = file === undefined ? EXAMPLES : file instanceof File ? FILE
            : typeof file === "string" ? `/${file}` : `#${file.number}`;
    };
    const lookIntoFolder = async (): Promise<void> => {
        const found = await app.server!.motions().catch(() => folder);
        const files = found.filter((path) => path !== app.tree["clips"]); // they are in the list by their names
        if (files.join("\n") === folder.join("\n")) return;
        folder = files;
        list();
    };
    const picker = h("input", { type: "file", accept: ENDS, hidden: true, "aria-label": "A motion file",
        onchange: () => picker.files?.[0] && void load(picker.files[0]) });
    const choose = (value: string): void => {
        if (value === OPEN) {
            list(); // the choice stays until there is a file
            picker.value = "";
            picker.accept = app.stage.rig.driver ? DRIVER_ENDS : ENDS;
            picker.click();
        } else if (value === EXAMPLES) {
            source = null;
            listed = "";
            renew();
            show();
        } else if (value.startsWith("/")) void load(value.slice(1));
        else if (value.startsWith("#")) void load(clips[Number(value.slice(1)) - 1]!);
    };
    // Quietly: without a word, and the pose stays until it is played.
    const load = async (file: File | string | Clip, quietly = false, plays = false): Promise<void> => {
        const before = source;
        const wanted = (source = new Source(app, file));
        try {
            const motion = await wanted.motion();
            if (source !== wanted) return;
            const track = motionTrack(motion);
            player.smooth = track.times.length <= FEW * track.duration || clips.includes(file as Clip);
            player.setTrack(track);
            app.places = placesOf(motion);
            app.emit("places");
            if (!quietly) {
                player.seek(0);
                app.say(typeof file === "object" && !(file instanceof File) ? wordsOf(motion) : matchWords(motion));
            }
            if (plays) player.play();
        } catch (error) {
            if (source !== wanted) return;
            source = before;
            app.fail(error);
        }
        list();
        show();
    };
    const reload = async (wanted: Source): Promise<void> => {
        try {
            const motion = await wanted.motion();
            if (source === wanted) player.setTrack(motionTrack(motion), true);
        } catch (error) {
            app.fail(error);
        }
    };

    // ---- changes made elsewhere ----

    let listed = "";
    const renew = (): void => {
        const names = `${app.selection.layer}\n${namesOf(app, app.selection.layer).join("\n")}`;
        if (source || names === listed) return;
        listed = names;
        player.setTrack(examplesTrack(app, app.selection.layer), true);
    };
    app.on("selection", renew);
    app.on("tree", renew);
    let driver = app.stage.rig.driver?.vertexCount;
    app.on("rig", () => {
        const now = app.stage.rig.driver?.vertexCount;
        const same = now === driver;
        driver = now;
        const before = clips.map(({ name }) => name).join("\n");
        clips = findClips();
        if (!same || clips.map(({ name }) => name).join("\n") !== before) {
            list();
            if (app.server) void lookIntoFolder(); // the list of motions depends on the rig
        }
        // A driver's forms do not depend on the meshes that follow it.
        if (source && !(same && now)) void reload(source);
    });
    const root = h("div", { class: "play", role: "group", "aria-label": "Play" }, select, picker, ...elements, bake);
    if (app.server) {
        void lookIntoFolder();
        addEventListener("focus", () => void lookIntoFolder());
        root.addEventListener("dragover", (event) => event.preventDefault());
        root.addEventListener("drop", (event) => {
            event.preventDefault();
            event.stopPropagation(); // a form dropped on the view becomes an example
            const file = event.dataTransfer?.files[0];
            if (file) void load(file, false, true);
        });
        app.playFile = (file) => load(file, false, true);
    }
    list();
    renew();
    // A page to show around begins with motion, unless its reader asked the system for less of it.
    if (!app.server && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
        const moving = app.tree.layers.findIndex((layer, i) => layer.shape !== "pixels" && namesOf(app, i).length > 0);
        if (moving > app.selection.layer) app.select({ layer: moving });
        void (clips[0] ? load(clips[0]) : Promise.resolve()).then(() => {
            if (player.track && !app.stage.rig.driver) {
                app.places = reachOf(app, player.track);
                app.emit("places");
            }
            player.play();
        });
    } else if (clips[0] && !app.tree.layers.some((_, i) => namesOf(app, i).length > 0)) void load(clips[0], true);
    return root;
};
