// The page's only state: the project and its history, the rig on the stage, the selection, and the display settings.
// Panels read it, change it through its methods, and listen to its events. No panel knows another.
import type { Layer, Pose, Runtime } from "@exemplar/runtime";
import { Commands } from "./commands";
import { History, type State } from "./history";
import { followProgress, progressWords } from "./progress";
import { projectOf, type Place, type Project, type ProjectExample, type ProjectLayer, type Weigh } from "./project";
import { Refusal, type Built, type Finding, type Server } from "./server";
import { Stage } from "./stage";
import { sentenceOf, sentences } from "./words";

export interface Selection {
    /** Index in tree.layers. */
    layer: number;
    example: string | null;
    /** Index in the layer's list in the file. */
    pseudo: number | null;
}

export interface Display {
    /** "material": the rig's own materials. */
    surface: "material" | "shaded" | "texture" | "normals";
    wire: boolean;
    skeleton: boolean;
    ground: boolean;
    /** Colours on the surface: "weight" (how far the selected example moves each vertex now), "difference" (distance
     * to the selected example), "mask" (of the selected layer), or none. */
    colour: "none" | "weight" | "difference" | "mask";
    /** Show the form before skinning. */
    unposed: boolean;
    /** Show the nearest examples behind the form. */
    onion: boolean;
}

export interface Tool {
    readonly id: "orbit" | "grab" | "smooth" | "paint";
}

interface Events {
    /** The project changed, or its preview during a drag. */
    tree: void;
    /** A new rig is on the stage, at the same pose as far as inputs and joints match. */
    rig: void;
    pose: void;
    selection: void;
    display: void;
    tool: void;
    /** The surface was evaluated. Only fill buffers here: this step is timed. */
    fill: void;
    /** After "fill": draw. */
    frame: void;
    /** Messages, saving, building or findings changed. */
    status: void;
    /** The first view should show other places. */
    places: void;
    /** A save was refused because the file has changed on disk. */
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
    /** The nearest vertex, in the order of the source file. */
    vertex: number;
}

/** Finds the surface under the pointer. Made by the view, which has the camera. */
export interface Picker {
    readonly canvas: HTMLCanvasElement;
    /** The place on the surface under the pointer, or null. */
    hit(event: { clientX: number; clientY: number }): Hit | null;
    /** Motion of a point that follows the pointer in its plane parallel to the screen, in metres. */
    drag(point: ArrayLike<number>, from: { clientX: number; clientY: number }, to: { clientX: number; clientY: number }):
        [number, number, number];
    /** Width of a CSS pixel at a point, in metres. */
    pixel(point: ArrayLike<number>): number;
    /** Shows a brush's radius (metres) as a ring on the surface. */
    showRing(hit: Hit, radius: number): void;
    hideRing(): void;
}

/** Shown by a brush in place of the surface: the cage (level 0), in the vertex order of the source file. */
export interface Sculpt {
    /** [vertices][3] */
    readonly positions: Float32Array;
    /** Painted values [vertices], shown as colours; or null. */
    readonly paint: Float32Array | null;
}

/** Brush strokes that are not in the project yet. Undo and redo apply to them before the project's own steps. */
export interface Undoable {
    readonly undoLabel: string | null;
    readonly redoLabel: string | null;
    undo(): void;
    redo(): void;
}

/** The camera as numbers, to keep and to take back. Made by the view. */
export interface Camera {
    /** Null while the view fits the form by itself. */
    read(): number[] | null;
    take(numbers: readonly number[]): void;
}

/** Small pictures of forms. Made by the view, which has the renderer. */
export interface Pictures {
    /** Draws the form at a pose into a canvas, at the canvas's size, in the style of the view. `set` gets the rest
     * pose. The background stays transparent. */
    draw(canvas: HTMLCanvasElement, set: (pose: Pose) => void): void;
    /** The same without waiting for the GPU: the picture is in the canvas when the promise is kept. */
    drawLater(canvas: HTMLCanvasElement, set: (pose: Pose) => void): Promise<void>;
}

/** Milliseconds before a build counts as slow. */
export const SLOW = 500;

export class App {
    readonly commands = new Commands();
    readonly display: Display = {
        surface: "shaded",
        wire: false,
        skeleton: false,
        ground: true,
        colour: "none",
        unposed: false,
        onion: false,
    };
    selection: Selection = { layer: 0, example: null, pseudo: null };
    /** Settings to compare with the project's own, for one layer. */
    compare: { layer: number; weigh: Weigh } | null = null;
    other: Stage | null = null;
    /** Points that the view fits until the user turns it, in place of the rig's own: those of a motion. */
    places: Float32Array | null = null;
    /** The reason why those settings cannot be shown. The second stage then shows the rig as built. */
    compareRefused: string | null = null;
    tool: Tool["id"] = "orbit";
    pictures: Pictures | null = null;
    picker: Picker | null = null;
    camera: Camera | null = null;
    /** False while the view shows forms without textures, which are then not blended. Set by the view. */
    showsTextures: () => boolean = () => true;
    /** The joint that was chosen last, in the view or in the list of joints, by its name. */
    joint: string | null = null;
    /** Loads a motion file and plays it. Made by the player. */
    playFile: ((file: File) => Promise<void>) | null = null;
    sculpt: Sculpt | null = null;
    strokes: Undoable | null = null;
    findings: Finding[] = [];
    /** Number of checks in progress. */
    checking = 0;
    message: Message | null = null;
    busy: string | null = null;
    /** The part of the build that is done, from 0 to 1; null if it is not known. */
    fraction: number | null = null;
    /** The first build, if it was still running when the page showed a draft. */
    opening: { state: State; built: Promise<Built> } | null = null;
    /** True if a build takes so long that it is worth a button to cancel it. */
    isSlow = false;
    built: Built | null = null;
    version: string | null = null;
    /** Version on disk that made a save fail; null if the file is gone. */
    conflict: string | null = null;
    /** True if the server has not answered for a while, which means it was closed. */
    isAlone = false;
    /** Milliseconds of the latest drag steps: solve, weights, blend, skin, buffers. */
    readonly steps: number[] = [];

    #preview: Project | null = null;
    #listeners: { [K in Name]?: (() => void)[] } = {};
    #frame = 0;
    #building: Promise<void> | null = null;
    #saving: Promise<boolean> | null = null;
    #refused: unknown = null;
    #fading = 0;
    #slowing = 0;
    #unfollow: (() => void) | null = null;
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

    // ---- reading the state ----

    /** The project as shown, which is the preview during a drag. */
    get tree(): Project {
        return this.#preview ?? this.history.tree;
    }
    get isDragging(): boolean {
        return this.#preview !== null;
    }
    /** Brush work that is not saved as an example, mask or group yet, in a word; null if there is none. */
    get pending(): string | null {
        return this.sculpt && this.strokes?.undoLabel ? (this.sculpt.paint ? "painting" : "sculpt") : null;
    }
    /** True if closing the page would lose work. */
    get isUnsaved(): boolean {
        return this.isDragging || this.history.changed || this.pending !== null;
    }
    get layer(): ProjectLayer | null {
        return this.tree.layers[this.selection.layer] ?? null;
    }
    /** The selected layer in the rig; null if the rig does not have it yet. */
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
    /** The part of a selection that still exists: an undo or a refusal may have removed the rest. */
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

    chooseJoint(joint: string | null): void {
        if (this.joint === joint) return;
        this.joint = joint;
        this.emit("selection");
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

    /** Shows a message until the next action. Messages other than errors also disappear after enough time to read
     * them. */
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

    pose(change: (pose: Pose) => void): void {
        change(this.stage.pose);
        this.emit("pose");
        this.invalidate();
    }
    setPlace(place: Place): void {
        this.pose((pose) => this.stage.setPlace(pose, place));
    }
    /** Sets the pose to an example's. */
    goTo(layer: number, name: string): void {
        const l = this.tree.layers[layer];
        const example = l?.examples.find((e) => e.name === name);
        if (l && example) this.pose((pose) => this.stage.setExample(pose, l.name, example));
    }

    // ---- editing ----

    /** Shows a change during a drag without keeping it. Each call starts from the kept project. */
    preview(change: (tree: Project) => Project): void {
        if (!this.#preview) this.#hush();
        this.#preview = change(this.history.tree);
        this.emit("tree");
        this.invalidate();
    }
    /** Keeps the preview as one undo step. */
    commit(label: string): void {
        const tree = this.#preview;
        if (!tree) return;
        if (this.#frame) this.frame(); // an error from before the last move may no longer hold
        if (this.#refused) {
            this.cancel();
            return;
        }
        this.#preview = null;
        this.#keep(label, tree);
    }
    /** Drops the preview. */
    cancel(): void {
        if (!this.#preview) return;
        this.#preview = null;
        this.#refused = null;
        this.emit("tree");
        this.invalidate();
    }
    /** Changes the project in one undo step. */
    edit(label: string, change: (tree: Project) => Project): void {
        this.#preview = null;
        this.#keep(label, change(this.history.tree));
    }
    /** Labels of the steps that undo and redo would apply; null if there are none. */
    get undoLabel(): string | null {
        return this.strokes?.undoLabel ?? this.history.undoLabel;
    }
    get redoLabel(): string | null {
        return this.strokes?.redoLabel ?? this.history.redoLabel;
    }
    undo(): void {
        if (this.isDragging) return this.cancel(); // an unfinished drag counts as the last step
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
        this.say(`Redone: ${label}.`);
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
        this.frame(); // without a server the runtime decides
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

    /** Shows the kept project after it was replaced. */
    #show(): void {
        const { layer, example, pseudo } = this.selection;
        this.selection = this.#existing(this.selection);
        this.emit("tree");
        const now = this.selection;
        if (now.layer !== layer || now.example !== example || now.pseudo !== pseudo) this.emit("selection");
        this.invalidate();
    }

    // ---- building and saving ----

    /** Builds the kept project on the server until the rig on the stage matches it. Builds run one at a time;
     * changes made meanwhile are built next. A change that cannot be built is taken back. */
    build(): Promise<void> {
        if (!this.server) return Promise.resolve();
        this.#building ??= this.#buildAll().finally(() => {
            this.#building = null;
            this.busy = null;
            this.#setSlow(false);
        });
        return this.#building;
    }
    #setSlow(isSlow: boolean): void {
        clearTimeout(this.#slowing);
        this.isSlow = isSlow;
        this.#unfollow?.();
        this.#unfollow = null;
        this.fraction = null;
        if (isSlow)
            this.#unfollow = followProgress(() => this.server!.progress(), (progress) => {
                this.busy = progressWords(progress);
                this.fraction = progress.fraction ?? null;
                this.emit("status");
            });
        this.emit("status");
    }

    /** Stops the build in progress. The rig on the stage stays; redo builds the change again. */
    async cancelBuild(): Promise<void> {
        if (!this.server || !this.#building) return;
        this.busy = "Cancelling";
        this.#setSlow(false);
        await this.server.cancel().catch((error: unknown) => this.fail(error));
    }

    async #buildAll(): Promise<void> {
        for (let state = this.history.state; this.stage.built !== state.tree; state = this.history.state) {
            this.busy = "Building";
            const first = this.opening?.state === state ? this.opening.built : null;
            this.opening = null;
            this.#setSlow(first !== null);
            if (!first) this.#slowing = window.setTimeout(() => this.#setSlow(true), SLOW);
            try {
                const built = await (first ?? this.server!.build(state.text ?? JSON.stringify(state.tree)));
                state.text ??= built.text;
                if (this.history.state !== state) continue;
                this.setRig(built, state);
            } catch (error) {
                if (error instanceof Refusal && error.isCancelled && this.history.goTo(this.stage.built)) {
                    this.#show();
                    this.say("The build was cancelled. The rig before it stays; redo builds the change again.");
                    return;
                }
                const isFirst = this.history.state === state && this.history.undoLabel === null;
                if (!(error instanceof Refusal) || error.status === 0 || isFirst) {
                    this.fail(error);
                    return;
                }
                const wasThere = this.history.refuse(state);
                this.#show();
                if (wasThere) this.say(sentences(error.message, "The change was undone."), "bad");
            }
        }
        void this.check();
    }

    /** Builds the same project again. The server keeps only the last rig, which may be another one by now: from an
     * edit that was undone during its build, from a trial build, or from a second page. */
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
        // Last, when nothing refers to them any more.
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
    /** Writes the project file. Refused if another program has changed it since, unless `overwrite` is set. Saves
     * run one at a time, since each needs the version made by the one before. */
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
            if (pending) this.say(`Saved ${this.name} without the ${pending}, which is not inserted yet.`);
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

    /** Loads the file from disk as one undo step, so unsaved work is not lost. */
    async load(): Promise<void> {
        const opened = await this.server!.project();
        if (opened.error !== null) throw new Refusal(opened.error, 422, opened.where);
        this.cancel();
        const state = this.history.push(`loaded ${this.name}`, projectOf(opened.text));
        state.text = opened.text;
        this.#changed();
        await this.build();
        if (!this.history.follows(state)) return; // the build failed, and a message said so
        this.version = opened.version;
        this.history.markSaved(state);
        this.say(`Loaded ${this.name}.`, "good");
    }

    // ---- frames ----

    /** Requests a frame; repeated calls are free. */
    invalidate(): void {
        this.#frame ||= requestAnimationFrame(() => this.frame());
    }

    /** Evaluates the shown project now. */
    frame(): void {
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
        const start = performance.now();
        this.#follow(this.stage, this.tree);
        this.#evaluate(this.stage);
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
        // The same object while nothing changes, so nothing is solved again.
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
        // By the pose itself, not the copy: its surface remembers the same frames.
        this.#evaluate(this.other);
    }

    #evaluate({ surface }: Stage): void {
        // A comparison counts differences of textures, shown or not.
        const unpainted = !this.showsTextures() && !this.compare;
        surface.evaluate(this.stage.pose, { unskinned: this.display.unposed, unpainted });
    }
}
