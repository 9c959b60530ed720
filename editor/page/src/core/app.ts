// The page's one state: the project and its history, the rig on the stage, what is selected and how it is shown.
// Panels read it, change it by its methods, and hear of changes by events; none knows another.
import type { Layer, Pose, Runtime } from "@exemplar/runtime";
import { Commands } from "./commands";
import { History, type State } from "./history";
import { projectOf, type Place, type Project, type ProjectExample, type ProjectLayer, type Weigh } from "./project";
import { Refusal, type Built, type Finding, type Server } from "./server";
import { Stage } from "./stage";
import { sentenceOf, sentences } from "./words";

export interface Selection {
    /** In tree.layers. */
    layer: number;
    example: string | null;
    /** In the layer's list of the file. */
    pseudo: number | null;
}

export interface Display {
    surface: "shaded" | "texture" | "normals";
    wire: boolean;
    skeleton: boolean;
    ground: boolean;
    /** What colours the surface: weight (how far the selected example moves each vertex now), difference to the selected
     * example, mask of the selected layer, or nothing. */
    colour: "none" | "weight" | "difference" | "mask";
    /** Form before the skeleton poses it. */
    unposed: boolean;
}

export interface Tool {
    readonly id: "orbit" | "grab" | "smooth" | "paint";
}

interface Events {
    /** The project, or its preview while something is dragged. */
    tree: void;
    /** Another rig is on the stage, at the same pose as far as it has the same inputs and joints. */
    rig: void;
    pose: void;
    selection: void;
    display: void;
    tool: void;
    /** The surface is new: buffers are filled here, and measured; nothing else is done. */
    fill: void;
    /** After that: draw. */
    frame: void;
    /** Messages, saving, building, findings. */
    status: void;
    /** A save was refused: the file is not what it was. */
    conflict: void;
}
type Name = keyof Events;

export interface Message {
    text: string;
    kind: "note" | "good" | "bad";
}

export interface Hit {
    /** On the surface, in metres. */
    point: [number, number, number];
    normal: [number, number, number];
    /** The nearest vertex, in the order of the source. */
    vertex: number;
}

/** From the pointer to the surface; made by the view, which has the camera. */
export interface Picker {
    readonly canvas: HTMLCanvasElement;
    /** What the pointer is over, or null. */
    hit(event: { clientX: number; clientY: number }): Hit | null;
    /** How far a point moves with the pointer, in the plane of the view through it, in metres. */
    drag(point: ArrayLike<number>, from: { clientX: number; clientY: number }, to: { clientX: number; clientY: number }):
        [number, number, number];
    /** Metres that a CSS pixel is wide at a point. */
    pixel(point: ArrayLike<number>): number;
    /** Shows how far a brush reaches: a ring on the surface, of a radius in metres. */
    showRing(hit: Hit, radius: number): void;
    hideRing(): void;
}

/** What a brush shows in place of the surface: the cage (level 0), in the order of the source. */
export interface Sculpt {
    /** [vertices][3] */
    readonly positions: Float32Array;
    /** Painted values [vertices], shown as colours; or null. */
    readonly paint: Float32Array | null;
}

/** Strokes of a brush that are in no project yet: undone before the project's own steps, and done again likewise. */
export interface Undoable {
    readonly undoLabel: string | null;
    readonly redoLabel: string | null;
    undo(): void;
    redo(): void;
}

/** Small pictures of forms; made by the view, which has the renderer. */
export interface Pictures {
    /** Draws the form at a pose into a canvas, at the canvas's own size, in the view's looks. `set` gets the pose at
     * rest. What no form covers stays transparent. */
    draw(canvas: HTMLCanvasElement, set: (pose: Pose) => void): void;
}

export class App {
    readonly commands = new Commands();
    readonly display: Display = {
        surface: "shaded",
        wire: false,
        skeleton: false,
        ground: true,
        colour: "none",
        unposed: false,
    };
    selection: Selection = { layer: 0, example: null, pseudo: null };
    /** The layer's other settings, shown beside the project's own. */
    compare: { layer: number; weigh: Weigh } | null = null;
    other: Stage | null = null;
    /** Why those settings cannot be shown: the other stage is then as the rig was built. */
    compareRefused: string | null = null;
    tool: Tool["id"] = "orbit";
    pictures: Pictures | null = null;
    picker: Picker | null = null;
    sculpt: Sculpt | null = null;
    strokes: Undoable | null = null;
    findings: Finding[] = [];
    /** How many checks are under way. */
    checking = 0;
    message: Message | null = null;
    busy: string | null = null;
    built: Built | null = null;
    version: string | null = null;
    /** What is on disk instead, since a save was refused for it; null where the file is gone. */
    conflict: string | null = null;
    /** Nothing has come from the server for a while: it was ended. */
    isAlone = false;
    /** Milliseconds of the last steps while something was dragged: solve, weights, blend, skin, filling buffers. */
    readonly steps: number[] = [];

    #preview: Project | null = null;
    #listeners: { [K in Name]?: (() => void)[] } = {};
    #frame = 0;
    #building: Promise<void> | null = null;
    #saving: Promise<boolean> | null = null;
    #refused: unknown = null;
    #fading = 0;
    #otherLayer: { from: ProjectLayer; layer: ProjectLayer } | null = null;

    constructor(
        readonly runtime: Runtime,
        readonly server: Server | null,
        readonly name: string,
        public history: History,
        public stage: Stage,
    ) {}

    // ---- events ----

    on(name: Name, listener: () => void): void {
        (this.#listeners[name] ??= []).push(listener);
    }
    emit(name: Name): void {
        for (const listener of this.#listeners[name] ?? []) listener();
    }

    // ---- what is there ----

    /** The project as it is shown: the preview while something is dragged. */
    get tree(): Project {
        return this.#preview ?? this.history.tree;
    }
    get isDragging(): boolean {
        return this.#preview !== null;
    }
    /** What a brush made and no example, mask or group holds yet, in a word; null where there is nothing. */
    get pending(): string | null {
        return this.sculpt && this.strokes?.undoLabel ? (this.sculpt.paint ? "painting" : "sculpt") : null;
    }
    /** Whether closing the page loses anything. */
    get isUnsaved(): boolean {
        return this.isDragging || this.history.changed || this.pending !== null;
    }
    get layer(): ProjectLayer | null {
        return this.tree.layers[this.selection.layer] ?? null;
    }
    /** The selected layer in the rig; null where the rig does not have it yet. */
    get rigLayer(): Layer | null {
        return this.stage.layerOf(this.tree, this.selection.layer);
    }
    get example(): ProjectExample | null {
        return this.layer?.examples.find((example) => example.name === this.selection.example) ?? null;
    }

    select(selection: Partial<Selection>): void {
        const layer = selection.layer ?? this.selection.layer;
        const other = layer !== this.selection.layer;
        this.selection = this.#existing({
            layer,
            example: selection.example !== undefined ? selection.example : other ? null : this.selection.example,
            pseudo: selection.pseudo !== undefined ? selection.pseudo : other ? null : this.selection.pseudo,
        });
        this.emit("selection");
        this.invalidate();
    }
    /** What of a selection is there: an undo, or a refusal, may have taken it away. */
    #existing({ layer, example, pseudo }: Selection): Selection {
        const { layers } = this.tree;
        if (layer >= layers.length) return { layer: Math.max(0, layers.length - 1), example: null, pseudo: null };
        const of = layers[layer]!;
        return {
            layer,
            example: of.examples.some(({ name }) => name === example) ? example : null,
            pseudo: pseudo !== null && pseudo < (of.pseudo?.length ?? 0) ? pseudo : null,
        };
    }

    show(display: Partial<Display>): void {
        Object.assign(this.display, display);
        this.emit("display");
        this.invalidate();
    }

    setTool(tool: Tool["id"]): void {
        this.#hush();
        this.tool = tool;
        this.emit("tool");
        this.invalidate();
    }

    /** A message stands until something else is done; what is no error goes by itself once it can have been read. */
    say(text: string, kind: Message["kind"] = "note"): void {
        clearTimeout(this.#fading);
        this.message = { text, kind };
        if (kind !== "bad") this.#fading = window.setTimeout(() => this.#hush(), Math.max(8000, 80 * text.length));
        this.emit("status");
    }
    #hush(): void {
        clearTimeout(this.#fading);
        if (!this.message) return;
        this.message = null;
        this.emit("status");
    }
    fail(error: unknown): void {
        this.say(sentenceOf(error), "bad");
    }

    // ---- posing ----

    /** Changes the pose. */
    pose(change: (pose: Pose) => void): void {
        change(this.stage.pose);
        this.emit("pose");
        this.invalidate();
    }
    setPlace(place: Place): void {
        this.pose((pose) => this.stage.setPlace(pose, place));
    }
    /** Goes to where an example is. */
    goTo(layer: number, name: string): void {
        const l = this.tree.layers[layer];
        const example = l?.examples.find((e) => e.name === name);
        if (l && example) this.pose((pose) => this.stage.setExample(pose, l.name, example));
    }

    // ---- editing ----

    /** Shows a change without keeping it: for as long as something is dragged. It starts from the kept project. */
    preview(change: (tree: Project) => Project): void {
        if (!this.#preview) this.#hush();
        this.#preview = change(this.history.tree);
        this.emit("tree");
        this.invalidate();
    }
    /** Keeps what the preview shows, as one step that can be undone. */
    commit(label: string): void {
        const tree = this.#preview;
        if (!tree) return;
        if (this.#frame) this.frame(); // what was refused before the last move says nothing about it
        if (this.#refused) {
            this.cancel();
            return;
        }
        this.#preview = null;
        this.#keep(label, tree);
    }
    /** Forgets the preview. */
    cancel(): void {
        if (!this.#preview) return;
        this.#preview = null;
        this.#refused = null;
        this.emit("tree");
        this.invalidate();
    }
    /** Changes the project in one step. */
    edit(label: string, change: (tree: Project) => Project): void {
        this.#preview = null;
        this.#keep(label, change(this.history.tree));
    }
    /** What undo would take back, and redo bring back; null where there is nothing. */
    get undoLabel(): string | null {
        return this.strokes?.undoLabel ?? this.history.undoLabel;
    }
    get redoLabel(): string | null {
        return this.strokes?.redoLabel ?? this.history.redoLabel;
    }
    undo(): void {
        if (this.isDragging) return this.cancel(); // what is under way is the last thing that was done
        this.#hush();
        if (this.strokes?.undoLabel) return this.strokes.undo();
        const label = this.history.undoLabel;
        if (!this.history.undo()) return;
        this.#changed();
        this.say(`Undone: ${label}.`);
    }
    redo(): void {
        this.cancel();
        this.#hush();
        if (this.strokes?.redoLabel) return this.strokes.redo();
        const label = this.history.redoLabel;
        if (!this.history.redo()) return;
        this.#changed();
        this.say(`Done again: ${label}.`);
    }

    #keep(label: string, tree: Project): void {
        if (JSON.stringify(tree) === JSON.stringify(this.history.tree)) {
            this.emit("tree");
            this.invalidate();
            return;
        }
        const state = this.history.push(label, tree);
        this.#changed();
        if (this.server) return;
        this.frame(); // without a server it is the runtime that has the last word
        if (!this.#refused) return;
        this.history.refuse(state);
        this.#show();
    }

    #changed(): void {
        this.#hush();
        this.#show();
        this.emit("status");
        void this.build();
    }

    /** The kept project is another one. */
    #show(): void {
        const { layer, example, pseudo } = this.selection;
        this.selection = this.#existing(this.selection);
        this.emit("tree");
        const now = this.selection;
        if (now.layer !== layer || now.example !== example || now.pseudo !== pseudo) this.emit("selection");
        this.invalidate();
    }

    // ---- building and saving ----

    /** Has the server build the project as it is kept, until the rig on the stage is of it. One build at a time; what
     * was changed meanwhile is built after it. What cannot be built is taken back. */
    build(): Promise<void> {
        if (!this.server) return Promise.resolve();
        this.#building ??= this.#buildAll().finally(() => {
            this.#building = null;
            this.busy = null;
            this.emit("status");
        });
        return this.#building;
    }

    async #buildAll(): Promise<void> {
        for (let state = this.history.state; this.stage.built !== state.tree; state = this.history.state) {
            this.busy = "Building";
            this.emit("status");
            try {
                const built = await this.server!.build(state.text ?? JSON.stringify(state.tree));
                state.text ??= built.text;
                if (this.history.state !== state) continue;
                this.setRig(built, state);
            } catch (error) {
                const isFirst = this.history.state === state && this.history.undoLabel === null;
                if (!(error instanceof Refusal) || error.status === 0 || isFirst) {
                    this.fail(error);
                    return;
                }
                const wasThere = this.history.refuse(state);
                this.#show();
                if (wasThere) this.say(sentences(error.message, "The change was taken back."), "bad");
            }
        }
        void this.check();
    }

    /** Has the server build the same once more: it keeps the last rig alone, and that may be another one (of an edit that
     * was undone while it was built, of a trial, of a second page). */
    async rebuild(): Promise<void> {
        await this.build();
        const { state } = this.history;
        if (!this.server || this.stage.built !== state.tree) return;
        const built = await this.server.build(state.text ?? JSON.stringify(state.tree));
        if (this.history.state === state) this.setRig(built, state);
    }

    setRig(built: Built, state: State): void {
        const old = this.stage;
        this.stage = new Stage(this.runtime.open(built.rig), state.tree, old);
        this.built = built;
        const { other } = this;
        this.other = null;
        this.emit("rig");
        // Last, when nobody holds anything of them any more.
        other?.dispose();
        old.dispose();
        this.invalidate();
    }

    async check(): Promise<void> {
        const { text } = this.history.state;
        if (!this.server || text === null) return;
        this.checking++;
        this.emit("status");
        try {
            const findings = await this.server.check(text);
            if (this.history.state.text === text) this.findings = findings;
        } catch (error) {
            this.findings = [];
            this.fail(error);
        } finally {
            this.checking--;
        }
        this.emit("status");
    }

    get isSaving(): boolean {
        return this.#saving !== null;
    }
    /** Writes the project's file. Refused where somebody else changed it since, unless told to write over it. One at a
     * time: the second needs the version that the first one makes. */
    save(overwrite = false): Promise<boolean> {
        const before = this.#saving ?? Promise.resolve(false);
        const saving = before.then(() => this.#save(overwrite));
        this.#saving = saving;
        return saving.finally(() => {
            if (this.#saving === saving) this.#saving = null;
        });
    }
    async #save(overwrite: boolean): Promise<boolean> {
        if (!this.server) return false;
        await this.build();
        const state = this.history.state;
        if (state.text === null) return false;
        try {
            this.version = await this.server.save(state.text, overwrite ? null : this.version);
            this.history.markSaved(state);
            const { pending } = this;
            if (pending) this.say(`Saved ${this.name} without the ${pending}: it is not inserted yet.`);
            else this.say(`Saved ${this.name}.`, "good");
            return true;
        } catch (error) {
            this.fail(error);
            if (!(error instanceof Refusal && error.status === 409)) return false;
            this.conflict = error.version;
            this.emit("conflict");
            return false;
        } finally {
            this.emit("status");
        }
    }

    /** Takes in what is on disk, as a step that can be undone: nothing that was not saved is lost by it. */
    async load(): Promise<void> {
        const opened = await this.server!.project();
        if (opened.error !== null) throw new Refusal(opened.error, 422, opened.where);
        this.cancel();
        const state = this.history.push(`loaded ${this.name}`, projectOf(opened.text));
        state.text = opened.text;
        this.#changed();
        await this.build();
        if (!this.history.holds(state)) return; // it cannot be built, which was said
        this.version = opened.version;
        this.history.markSaved(state);
        this.say(`Loaded ${this.name}.`, "good");
    }

    // ---- frames ----

    /** Asks for a frame; any number of times. */
    invalidate(): void {
        this.#frame ||= requestAnimationFrame(() => this.frame());
    }

    /** Evaluates what is shown, now. */
    frame(): void {
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
        const start = performance.now();
        this.#follow(this.stage, this.tree);
        this.stage.surface.evaluate(this.stage.pose, { unskinned: this.display.unposed });
        this.#followOther();
        this.emit("fill");
        if (this.isDragging) {
            this.steps.push(performance.now() - start);
            if (this.steps.length > 120) this.steps.shift();
        }
        this.emit("frame");
    }

    #follow(stage: Stage, tree: Project): void {
        try {
            stage.follow(tree);
            this.#refused = null;
        } catch (error) {
            if (!this.#refused) this.fail(error);
            this.#refused = error;
        }
    }

    #followOther(): void {
        if (!this.compare) {
            this.other?.dispose();
            this.other = null;
            return;
        }
        const { layer, weigh } = this.compare;
        this.other ??= this.stage.twin();
        const here = this.tree.layers[layer];
        // The same object as long as nothing changes, so that nothing is solved again.
        if (here && (this.#otherLayer?.from !== here || this.#otherLayer.layer.weigh !== weigh))
            this.#otherLayer = { from: here, layer: { ...here, weigh } };
        const layers = this.tree.layers.map((l, i) => (i === layer ? this.#otherLayer!.layer : l));
        try {
            this.other.follow({ ...this.tree, layers });
            this.compareRefused = null;
        } catch (error) {
            this.compareRefused = sentenceOf(error);
        }
        this.other.pose.copy(this.stage.pose);
        this.other.surface.evaluate(this.other.pose, { unskinned: this.display.unposed });
    }
}
