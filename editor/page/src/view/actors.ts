// Everything on the stage: the form, the compared form next to it, the driver, and a brush's form in place of the form.
// Created again with each rig, and filled every frame.
import type { Material } from "three";
import type { Surface } from "@exemplar/runtime";
import type { App } from "../core/app";
import { painted } from "../core/dom";
import { boxOf } from "../core/form";
import { Form, facesOf, sourceFacesOf, type Faces } from "./form";
import { HardNormals } from "./hard";
import { Heat, type Coloured } from "./heat";
import { FormNormals } from "./normals";
import type { Stand } from "./scene";
import { Materials } from "./looks";
import { ghostMaterial, setMode, surfaceMaterial } from "./shaders";
import { Skin } from "./skin";
import { DriverForm } from "./driver";

export class Actors {
    readonly heat: Heat;
    readonly material;
    readonly #otherMaterial;
    readonly #sculptMaterial;
    readonly #ghost;
    #faces: Faces | null = null;
    #form: Form | null = null;
    #other: Form | null = null;
    #sculpt: { form: Form; normals: FormNormals } | null = null;
    #sourceFaces: Faces | null = null;
    #driver: DriverForm | null = null;
    #skin: Skin | null = null;
    #otherSkin: Skin | null = null;
    /** The rig's materials, those of the faces, and the bytes that they were made from. */
    #looks: { materials: Materials; list: Material[]; bytes: Uint8Array } | null = null;
    /** Times that looks were asked for. */
    #asked = 0;
    #hard: HardNormals | null = null;
    /** Textures of the rig that materials show. */
    #skins: Skin[] = [];

    constructor(readonly app: App, readonly stand: Stand) {
        this.heat = new Heat(app);
        this.material = surfaceMaterial(stand.looks);
        this.#otherMaterial = surfaceMaterial(stand.looks);
        this.#sculptMaterial = surfaceMaterial(stand.looks);
        this.#ghost = ghostMaterial(stand.looks);
        app.showsTextures = () => this.#mode === "material" || this.#mode === "texture";
    }

    /** Faces of the shown level. */
    get faces(): Faces {
        return (this.#faces ??= facesOf(this.app.stage.rig, this.app.stage.mesh));
    }
    /** Faces of the cage, in the vertex order of the source file. */
    get sourceFaces(): Faces {
        return (this.#sourceFaces ??= sourceFacesOf(this.app.stage.rig.mesh(0)));
    }
    get form(): Form | null {
        return this.#form;
    }
    get hasLooks(): boolean {
        return this.app.stage.rig.attachments.includes("looks");
    }
    get hasTexture(): boolean {
        return this.app.stage.rig.textures.length > 0 && this.faces.texcoords !== null;
    }

    /** The median length of a sample of edges, in metres. */
    edgeLength(): number {
        const edges = this.faces.edges().array;
        const { positions } = this.app.stage.surface;
        const step = 2 * Math.ceil(edges.length / 512);
        const lengths: number[] = [];
        for (let e = 0; e + 1 < edges.length; e += step) {
            const [a, b] = [3 * edges[e]!, 3 * edges[e + 1]!];
            lengths.push(Math.hypot(...[0, 1, 2].map((i) => positions[a + i]! - positions[b + i]!)));
        }
        return lengths.sort((a, b) => a - b)[lengths.length >> 1] ?? 1;
    }

    /** After a new rig. */
    rebuild(): void {
        const { stage } = this.app;
        this.heat.forget();
        const old = [this.#form, this.#other, this.#sculpt?.form, this.#driver, this.#skin, this.#otherSkin];
        for (const thing of old) thing?.dispose();
        this.#other = this.#sculpt = this.#driver = this.#skin = this.#otherSkin = this.#faces = this.#sourceFaces = null;
        this.#form = new Form(this.stand.gl, this.faces, this.material);
        this.stand.scenes[0].add(this.#form.object);
        if (this.hasTexture) this.#skin = new Skin(stage.rig);
        this.material.uniforms["skin"]!.value = this.#skin?.texture ?? null;
        this.#hard = HardNormals.of(stage.rig, stage.mesh);
        void this.#openLooks();
        if (stage.rig.driver) {
            this.#driver = new DriverForm(this.stand.gl, stage.rig.driver, this.#ghost);
            this.stand.scenes[0].add(this.#driver.object);
        }
    }

    /** Loads the rig's materials, unless they are those of the rig before. The form is clay until then. */
    async #openLooks(): Promise<void> {
        const { rig } = this.app.stage;
        const asked = ++this.#asked;
        const bytes = rig.attachment("looks");
        for (const skin of this.#skins.splice(0)) skin.dispose();
        document.body.dataset["looks"] = bytes ? "later" : "none"; // for tests
        const old = this.#looks;
        const same = old && bytes && old.bytes.length === bytes.length && old.bytes.every((byte, i) => byte === bytes[i]);
        const materials = same ? old.materials : bytes && (await Materials.open(bytes).catch(() => null));
        // Compiling materials takes up to a second in software: clay is seen first.
        if (bytes && !same) await painted();
        if (asked !== this.#asked) { // another rig came meanwhile and opens its own
            if (!same && materials) materials.dispose();
            return;
        }
        if (old && !same) old.materials.dispose();
        this.#looks = null;
        document.body.dataset["looks"] = materials ? "shown" : "none";
        if (!bytes || !materials) return;
        const { only } = materials;
        const { faces } = this;
        const list = faces.materials.length || !only ? materials.list(faces.materials) : [only];
        materials.vertexColours(faces.colours !== null);
        if (faces.texcoords)
            rig.textures.forEach(({ name }, index) => {
                const end = name.endsWith("/base_color") ? name.slice(0, -"/base_color".length) : null;
                if (name !== "base_color" && end === null) return;
                const skin = new Skin(rig, index);
                this.#skins.push(skin);
                materials.paint(end, skin.texture);
            });
        this.stand.light();
        this.#looks = { materials, list, bytes };
        this.app.invalidate();
    }

    /** The normals, with the hard edges of the file. */
    #normalsOf({ positions, normals }: Surface): Float32Array | null {
        return this.#hard?.at(positions) ?? normals;
    }

    #fillOther(): void {
        const { other, display } = this.app;
        if (this.#other) this.#other.object.visible = other !== null;
        if (!other) return;
        if (!this.#other) {
            this.#other = new Form(this.stand.gl, this.faces, this.#otherMaterial);
            this.stand.scenes[1].add(this.#other.object);
        }
        if (this.hasTexture && this.#otherSkin?.rig !== other.rig) {
            this.#otherSkin?.dispose();
            this.#otherSkin = new Skin(other.rig);
            this.#otherMaterial.uniforms["skin"]!.value = this.#otherSkin.texture;
        }
        this.#other.fill(other.surface.positions, this.#normalsOf(other.surface));
        this.#other.wire(display.wire, this.stand.wire);
        this.stand.moved(1, other.surface.box);
    }

    #colour(): void {
        const { stage, other } = this.app;
        const targets: Coloured[] = [{ form: this.#form!, material: this.material, surface: stage.surface }];
        if (other && this.#other) targets.push({ form: this.#other, material: this.#otherMaterial, surface: other.surface });
        const mode = this.heat.fill(targets) ? "heat" : this.#mode;
        for (const { form, material } of targets) {
            form.object.material = mode === "material" ? this.#looks!.list : material;
            if (mode !== "material") setMode(material, mode);
        }
    }

    #fillSculpt(): void {
        const { sculpt, display } = this.app;
        if (this.#sculpt) this.#sculpt.form.object.visible = sculpt !== null;
        if (!sculpt) return;
        if (!this.#sculpt) {
            const faces = this.sourceFaces;
            const form = new Form(this.stand.gl, faces, this.#sculptMaterial);
            this.#sculpt = { form, normals: new FormNormals(faces.triangles.array as Uint32Array, faces.count) };
            this.stand.scenes[0].add(form.object);
        }
        const { form, normals } = this.#sculpt;
        form.fill(sculpt.positions, normals.of(sculpt.positions));
        form.wire(display.wire, this.stand.wire);
        if (sculpt.paint) form.heat(sculpt.paint);
        this.#sculptMaterial.uniforms["heatScale"]!.value = 1;
        setMode(this.#sculptMaterial, sculpt.paint ? "paint" : display.surface === "normals" ? "normals" : "shaded");
    }

    get #mode(): "material" | "shaded" | "texture" | "normals" {
        const { surface } = this.app.display;
        if (surface === "material" && !this.#looks) return "shaded";
        return surface === "texture" && !this.hasTexture ? "shaded" : surface;
    }

    /** Fills the buffers with the current state. */
    fill(): void {
        const { stage, other, display, sculpt } = this.app;
        const form = this.#form!;
        const textured = display.surface === "texture" && this.hasTexture;
        form.object.visible = sculpt === null;
        form.fill(stage.surface.positions, this.#normalsOf(stage.surface));
        form.wire(display.wire, this.stand.wire);
        this.stand.moved(0, sculpt ? boxOf(sculpt.positions) : stage.surface.box);
        this.#fillOther();
        this.#colour();
        this.#fillSculpt();
        if (this.#driver) {
            this.#driver.object.visible = !display.unposed;
            this.#driver.fill(stage.pose.driver);
        }
        // Last: three.js reads the pixels when it draws, and the steps above may have moved them.
        if (this.#mode === "material") for (const skin of this.#skins) skin.fill(stage.surface);
        if (!textured) return;
        this.#skin?.fill(stage.surface);
        if (other) this.#otherSkin?.fill(other.surface);
    }
}
