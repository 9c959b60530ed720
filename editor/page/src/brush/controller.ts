// State of the brushes: the current sculpt and its settings, when it starts, and what ends it.
import type { App, Hit, Message, Tool, Undoable } from "../core/app";
import { sizeOf } from "../core/form";
import type { Project } from "../core/project";
import { maskOf } from "./masks";
import type { Region } from "./region";
import { Session, Topologies } from "./session";

export type Kind = Exclude<Tool["id"], "orbit">;

export const isBrush = (tool: Tool["id"]): tool is Kind => tool !== "orbit";

export class Brush implements Undoable {
    session: Session | null = null;
    /** Metres. */
    radius = 0;
    readonly strength: Record<Kind, number> = { grab: 1, smooth: 0.5, paint: 0.5 };
    symmetric = false;
    /** The form's largest extent, in metres. */
    size = 1;
    /** Name for the next example, if the user typed one. */
    name = "";
    /** Accuracy of the last insert, for the panel. Valid while the project is still `tree`. */
    report: { text: string; kind: "good" | "bad"; tree: Project } | null = null;
    onchange: () => void = () => undefined;

    /** The last discarded sculpt, until something else is done. Undo brings it back. */
    #discarded: Session | null = null;
    /** The last message. */
    #said: Message | null = null;
    readonly #topologies = new Topologies();
    #holding = false;

    constructor(readonly app: App) {
        app.strokes = this;
        app.on("tool", () => this.#onTool());
        app.on("pose", () => this.#onPose());
        app.on("selection", () => this.#onSelection());
        app.on("rig", () => this.#onRig());
        app.on("tree", () => {
            this.#discarded = null;
            if (this.report?.tree !== app.history.tree) this.report = null;
        });
        addEventListener("beforeunload", (event) => {
            if (this.isBusy) event.preventDefault();
        });
    }

    get isBusy(): boolean {
        return this.session !== null && (this.session.isSculpted || this.session.isPainted);
    }

    /** Shows a message that holds until the next brush action. */
    say(text: string, kind: Message["kind"] = "note"): void {
        this.app.say(text, kind);
        this.#said = this.app.message;
    }
    hush(): void {
        this.report = null;
        if (this.#said && this.app.message === this.#said) this.app.message = null;
        this.#said = null;
    }

    // ---- start and end ----

    start(): Session {
        if (this.session) return this.session;
        const { app } = this;
        const session = new Session(this.#topologies.of(app.stage, app.tree));
        if (app.display.unposed) {
            app.show({ unposed: false });
            this.say("Brushes work on the posed form, so Un-posed is now off.");
        }
        this.#discarded = null;
        this.#take(session);
        this.#takePaint(session);
        this.session = session;
        this.size = sizeOf(session.positions);
        if (!(this.radius > 0)) this.radius = Number((0.12 * this.size).toPrecision(2));
        this.changed();
        return session;
    }

    #take(session: Session): void {
        session.take(this.app);
        const { lost } = session.stand;
        if (lost.length) this.say(`An example cannot store the motion of ${lost.join(", ")}, so a sculpt has it at rest.`);
        this.#announcePose();
    }

    #takePaint(session: Session): void {
        const { app } = this;
        const source = JSON.stringify([app.layer?.name, app.layer?.mask, app.tree.mesh]);
        if (session.isPainted || session.painted === source) return;
        session.painted = source;
        maskOf(app, session.topology.vertexCount).then(
            (values) => {
                if (session.isPainted || session.painted !== source) return;
                session.paint.set(values);
                this.changed();
            },
            (error: unknown) => app.fail(error),
        );
    }

    // Taking a form rounds the pose, so the other panels must show the new values.
    #announcePose(): void {
        this.#holding = true;
        this.app.emit("pose");
        this.#holding = false;
    }

    /** Ends the sculpt, and shows the surface again. */
    end(): void {
        this.session = null;
        this.changed();
    }

    discard(): void {
        const { session } = this;
        if (!session) return;
        const lost = this.isBusy;
        this.end();
        this.app.setTool("orbit");
        this.#discarded = lost ? session : null;
        if (lost) this.say(`The ${session.isSculpted ? "sculpt" : "painting"} was discarded. Undo brings it back.`);
        this.changed();
    }

    /** Shows the sculpt after a change. */
    changed(): void {
        const { app, session } = this;
        const paint = session && (app.tool === "paint" || (app.tool === "orbit" && session.isPainted)) ? session.paint : null;
        app.sculpt = session ? { positions: session.positions, paint } : null;
        app.emit("status");
        app.invalidate();
        this.onchange();
    }

    // ---- changes made elsewhere ----

    #onTool(): void {
        if (isBrush(this.app.tool)) this.start();
        else if (this.session && !this.isBusy) this.session = null;
        this.changed();
    }

    #onPose(): void {
        const { session, app } = this;
        if (!session || this.#holding) return;
        if (!session.isSculpted) {
            this.#retake(session);
            return;
        }
        session.hold(app.stage);
        this.say("A sculpt belongs to its pose. Insert or discard it before you go on.", "bad");
        this.#announcePose();
    }

    // While an axis is dragged, the pose must not be rounded under the hand. The first stroke rounds it.
    #retake(session: Session): void {
        session.show(this.app);
        this.changed();
    }

    #onSelection(): void {
        const { session } = this;
        if (!session) return;
        if (!session.isSculpted) session.show(this.app);
        this.#takePaint(session);
        this.changed();
    }

    #onRig(): void {
        const { session, app } = this;
        if (!session) return;
        const topology = this.#topologies.of(app.stage, app.tree);
        if (topology.vertexCount !== session.topology.vertexCount) {
            if (this.isBusy) this.say("The mesh has changed, so the sculpt on the old mesh is gone.", "bad");
            this.session = null;
            if (isBrush(app.tool)) this.start();
        } else if (session.isSculpted) session.hold(app.stage);
        else session.show(app);
        if (this.session === session) this.#takePaint(session);
        this.changed();
    }

    // ---- settings ----

    scale(factor: number): void {
        this.setRadius(this.radius * factor);
    }
    setRadius(radius: number): void {
        if (!(radius > 0)) return;
        this.radius = Number(radius.toPrecision(3));
        this.onchange();
    }

    // ---- strokes ----

    /** The vertices under the brush. */
    region(session: Session, hit: Hit): Region {
        const mirror = this.symmetric ? session.mirror : null;
        return session.walker.region(session.positions, hit.point, hit.vertex, this.radius, mirror);
    }

    /** Before the first stroke, rounds the pose to values that a file can hold. */
    settle(session: Session): void {
        if (session.isStale) this.#take(session);
    }

    get undoLabel(): string | null {
        return this.session ? this.session.strokes.undoLabel : this.#discarded && "discarding the sculpt";
    }
    get redoLabel(): string | null {
        return this.session?.strokes.redoLabel ?? null;
    }
    undo(): void {
        if (!this.session && this.#discarded) {
            this.session = this.#discarded;
            this.#discarded = null;
            if (this.session.isSculpted) this.session.hold(this.app.stage);
            else this.session.show(this.app);
            this.#announcePose();
            this.say("The sculpt is back.");
        } else {
            const label = this.undoLabel;
            this.session?.strokes.undo();
            this.say(`Undone: ${label}.`);
        }
        this.changed();
    }
    redo(): void {
        const label = this.redoLabel;
        this.session?.strokes.redo();
        this.say(`Redone: ${label}.`);
        this.changed();
    }
}
