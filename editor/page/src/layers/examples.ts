// The examples and pseudo-examples of the selected layer, one row with a picture for each.
import type { App } from "../core/app";
import { h } from "../core/dom";
import type { ProjectExample, ProjectLayer, ProjectPseudo } from "../core/project";
import { weigherOf } from "../core/weighers";
import { pseudoName } from "../core/words";
import { apply } from "./apply";
import { muteExample } from "./edits";
import { List, type Row } from "./list";
import { setMark } from "./mark";
import type { Marks } from "../findings/places";
import { drawImage, Thumbnails } from "./thumbnails";
import { placeWords, shortPlace } from "./words";

export type Point = { example: ProjectExample; pseudo?: never } | { pseudo: ProjectPseudo; example?: never };

const keyOf = (point: Point, index: number, examples: number): string =>
    point.example ? `e/${point.example.name}` : `p/${index - examples}`;

export class ExampleList {
    readonly list: List<Point>;
    #thumbnails: Thumbnails;
    // The same object for the same example, so that rows can detect changes.
    #points = new WeakMap<ProjectExample | ProjectPseudo, Point>();
    #layer: ProjectLayer | null = null;

    constructor(
        readonly app: App,
        readonly marks: () => Marks,
    ) {
        this.#thumbnails = new Thumbnails(app);
        this.list = new List<Point>({
            label: "Examples of the layer",
            key: (point, i) => keyOf(point, i, this.#examples),
            make: () => this.#make(),
            stamp: (point, i) => this.#stamp(point, i),
            fill: (row, i) => this.#fill(row, i),
            isChosen: (point, i) => this.#isChosen(point, i),
            choose: (point, i) => this.#choose(point, i),
            open: (point, i) => {
                this.#choose(point, i);
                app.commands.run("go-there");
            },
            press: (_, point) => {
                if (point.example) apply(app, muteExample(app.history.tree, app.selection.layer, point.example.name));
            },
        });
        this.list.element.classList.add("examples");
    }

    get #examples(): number {
        return this.#layer?.examples.length ?? 0;
    }

    update(): void {
        const layer = this.app.layer;
        this.#layer = layer;
        const of = (point: Point): Point => {
            const thing = point.example ?? point.pseudo;
            const known = this.#points.get(thing) ?? point;
            this.#points.set(thing, known);
            return known;
        };
        this.list.update([
            ...(layer?.examples ?? []).map((example) => of({ example })),
            ...(layer?.pseudo ?? []).map((pseudo) => of({ pseudo })),
        ]);
    }

    #make(): Node[] {
        const mute = h("button", { class: "mute", tabindex: -1, "data-do": "mute" }, "Mute");
        return [
            this.#thumbnails.make(),
            h("span", { class: "words" }, h("span", { class: "name" }), h("span", { class: "about" })),
            h("span", { class: "mark", role: "img", hidden: true }, "!"),
            ...(this.app.server ? [mute] : []),
        ];
    }

    #mark(point: Point, index: number) {
        const key = keyOf(point, index, this.#examples);
        return this.marks().points.get(`${this.app.selection.layer}/${key}`);
    }

    // Includes the layer, since rows of two layers may have the same key, and its axes, which decide how places are
    // written.
    #stamp(point: Point, index: number): string {
        const mark = this.#mark(point, index);
        return `${this.app.selection.layer}/${this.#layer!.space.length}/${mark?.severity ?? ""}${mark?.text ?? ""}`;
    }

    #isChosen(point: Point, index: number): boolean {
        const { example, pseudo } = this.app.selection;
        if (pseudo !== null) return !point.example && index - this.#examples === pseudo;
        return point.example !== undefined && point.example.name === example;
    }

    #choose(point: Point, index: number): void {
        if (point.example) this.app.select({ example: point.example.name, pseudo: null });
        else this.app.select({ example: null, pseudo: index - this.#examples });
    }

    #fill(row: Row<Point>, index: number): void {
        const { element, item: point } = row;
        const layer = this.#layer!;
        const { example, pseudo } = point;
        const find = (selector: string) => element.querySelector<HTMLElement>(selector)!;
        const name = example ? example.name : pseudoName(pseudo, index - this.#examples);
        const kind = weigherOf(layer.weigh);
        const direct = !kind.hasPoints && !kind.isDriven;
        const place = (example ?? pseudo).at;
        const inputs = this.app.rigLayer?.inputs;
        const about = direct ? (layer.space[index]?.name ?? "") : placeWords(layer, place, inputs);
        const muted = example?.muted ?? false;
        // Short names for unnamed ones, as there is little room.
        const short = example || pseudo.name ? name : name.replace("pseudo-example", "pseudo");
        find(".name").replaceChildren(...short.split(/(?<=[_.-])/).flatMap((part, i) => (i ? [h("wbr"), part] : [part])));
        find(".about").textContent = direct ? about : shortPlace(layer, place, inputs);
        const keys = `Double click or Enter: go there${this.app.server ? "; F2: rename" : ""}`;
        element.title = `${name}: ${about}${muted ? ", muted" : ""}\n${keys}`;
        element.classList.toggle("muted", muted);
        element.classList.toggle("pseudo", !example);
        element.setAttribute("aria-label", `${name}, ${about}${muted ? ", muted" : ""}`);
        const mute = element.querySelector<HTMLButtonElement>(".mute");
        if (mute) {
            mute.hidden = !example;
            mute.setAttribute("aria-pressed", String(muted));
            mute.title = muted ? `Let '${name}' count again (M)` : `Leave '${name}' out of the space (M)`;
        }
        setMark(find(".mark"), this.#mark(point, index));
        this.#picture(element.querySelector("canvas")!, this.app.selection.layer, point);
    }

    #picture(canvas: HTMLCanvasElement, layer: number, point: Point): void {
        const { app } = this;
        this.#thumbnails.set(canvas, () => {
            const { stage } = app;
            const rig = stage.layerOf(app.tree, layer);
            const k = point.example && rig?.examples.find((e) => e.name === point.example.name)?.index;
            const rows = k !== undefined && rig?.texture ? rig.image(k) : null;
            const texture = rows && stage.rig.textures.find((t) => t.name === rig!.texture);
            if (rows && texture) drawImage(canvas, rows, texture.width, texture.height);
            else
                app.pictures?.draw(canvas, (pose) => {
                    if (point.example) stage.setExample(pose, rig?.name ?? "", point.example);
                    else stage.setPlace(pose.rest(), point.pseudo.at);
                });
        });
    }
}
