// Turns a sculpt into an example, following section 4 of "Shape by Example": fix bad vertices at the pose where they
// occur, then insert the result there. The server's build un-poses the form; this file only describes it.
import type { Layer, Pose } from "@exemplar/runtime";
import type { App } from "../core/app";
import { apartOf, sizeOf } from "../core/form";
import { freeName, setLayer, widened, type Project, type ProjectExample, type ProjectLayer } from "../core/project";
import { Stage } from "../core/stage";
import { weigherOf } from "../core/weighers";
import { laterThan, slopeAt } from "./later";
import { cageOf, isAtRest, type Session } from "./session";
import { exampleAt, isRest, pseudosAt, takeStand } from "./stand";

export interface Inserted {
    readonly example: string;
    readonly replaced: boolean;
    /** Distance in metres between the sculpt and the new rig's form at the same pose. */
    readonly maximum: number;
    readonly rms: number;
    readonly size: number;
}

/** The reason why the selected layer takes no form, and what to do about it; null if it takes one. */
export const refusalOf = (layer: ProjectLayer | null, rigLayer: Layer | null): string | null => {
    if (!layer || !rigLayer) return "There is no layer to insert into. Add one first (Shift+A).";
    const said = `Layer '${layer.name}'`;
    if (rigLayer.domain === "pixels") return `${said} blends pixels: select a layer of forms.`;
    if (rigLayer.domain === "displacement")
        return `${said} takes displacement maps: select a layer of forms, or add one.`;
    if (rigLayer.kind.isDriven)
        return `${said} follows a driver and learns from simulations ('exemplar drive'): select another layer.`;
    if (layer.muted) return `${said} is muted: unmute it first (Shift+M).`;
    return null;
};

/** A file name with characters that every file system accepts. */
export const fileName = (name: string): string => name.normalize("NFC").replace(/[^\p{L}\p{N}._-]+/gu, "_") || "sculpt";

const withMuted = <T>(layers: readonly Layer[], work: () => T): T => {
    const before = layers.map((layer) => layer.muted);
    for (const layer of layers) layer.muted = true;
    try {
        return work();
    } finally {
        layers.forEach((layer, i) => (layer.muted = before[i]));
    }
};

interface Place {
    readonly index: number;
    /** The example already at this place. */
    readonly example: string | null;
}

/** Differences up to this, as a part of the size, are rounding. */
const SAME = 1e-6;

const isDirect = (tree: Project, { index }: Place): boolean => !weigherOf(tree.layers[index].weigh).hasPoints;

// The sculpted change in the terms of the layer's forms. If they apply before skinning, the change is un-posed.
const changeOf = (stage: Stage, session: Session, pose: Pose, atRest: boolean): ArrayLike<number> => {
    const now = cageOf(stage, pose, session.atRest);
    if (session.atRest || !atRest) return session.positions.map((x, i) => x - now[i]);
    const rest = cageOf(stage, pose, true);
    const [from, to] = [pose.unpose(now, rest), pose.unpose(session.positions, rest)];
    return to.map((x, i) => x - from[i]); // 0 where nothing was touched
};

interface Form {
    readonly positions: Float32Array;
    /** True if later layers change it at the sculpt's pose, so that it is not the sculpt. */
    readonly isChanged: boolean;
}

// The contents of the example's file, computed with a rig that already has an example there. Any rig will do if the
// form has no effect elsewhere.
const formOf = (stage: Stage, tree: Project, session: Session, place: Place): Form => {
    const layer = stage.layer(tree.layers[place.index].name)!;
    const later = laterThan(tree, place.index).flatMap((l) => stage.layer(l.name) ?? []);
    const pose = stage.rig.pose();
    takeStand(pose, session.stand);
    const atRest = isAtRest(stage, tree.layers[place.index]);
    const change = changeOf(stage, session, pose, atRest);
    const slope = place.example ? slopeAt(stage, tree, place.index, place.example, pose) : 1;
    if (!(Math.abs(slope) > 1e-3))
        throw new Error(`A later layer undoes what you sculpt here in layer '${layer.name}': select the later layer.`);
    const seen = cageOf(stage, pose, session.atRest);
    const below = withMuted(later, () => cageOf(stage, pose, session.atRest));
    const isChanged = Math.abs(slope - 1) > SAME || apartOf(seen, below).maximum > SAME * sizeOf(seen);
    const own = layer.examples.find((example) => example.name === place.example);
    const form = withMuted(later, () => {
        if (!isDirect(tree, place)) return cageOf(stage, pose, atRest);
        pose.rest(); // it acts with its own axis at 1 and everything else at rest
        if (own) pose.set(layer.inputs[own.index].index, 1);
        return own ? cageOf(stage, pose, atRest) : withMuted([layer], () => cageOf(stage, pose, atRest));
    });
    pose.dispose();
    return { positions: form.map((x, i) => x + change[i] / slope), isChanged };
};

// If later layers are measured from this one, first builds a trial rig to see their effect on any form at this place.
const formToSend = async (app: App, session: Session, place: Place): Promise<Form> => {
    const { tree, stage } = app;
    if (place.example || isDirect(tree, place) || !laterThan(tree, place.index).length)
        return formOf(stage, tree, session, place);
    const example = freeName("any", tree.layers[place.index].examples.map((e) => e.name));
    const tried = setLayer(tree, place.index, (layer) => ({
        ...layer,
        examples: [...layer.examples, placed(stage, session, layer, { name: example, mesh: tree.mesh })],
    }));
    const built = await app.server!.build(JSON.stringify(tried));
    const trial = new Stage(app.runtime.open(built.rig), tried);
    try {
        return formOf(trial, tried, session, { ...place, example });
    } finally {
        trial.dispose();
    }
};

const withoutJoints = ({ joints: _, ...example }: ProjectExample): ProjectExample => example;
// The sculpt that the form before it was made for.
const withoutSculpt = ({ sculpt: _, ...example }: ProjectExample): ProjectExample => example;

const placed = (stage: Stage, session: Session, layer: ProjectLayer, example: ProjectExample): ProjectExample => {
    if (!weigherOf(layer.weigh).hasPoints) return example;
    const { at, joints } = session.stand;
    if (isAtRest(stage, layer) || !joints) return { ...withoutJoints(example), at };
    return { ...example, at, joints };
};

// True if the example's place in the file says all of the sculpt's pose, so that the sculpt can be compared with the rig
// there.
const isPlaced = (stage: Stage, layer: ProjectLayer, { stand, atRest }: Session, existing: ProjectExample | null): boolean => {
    if (atRest) return false; // the form shown was not posed
    if (weigherOf(layer.weigh).hasPoints) return !(isAtRest(stage, layer) && stand.joints);
    const own = existing ? layer.space[layer.examples.indexOf(existing)]?.name : undefined;
    return !stand.joints && Object.entries(stand.at).every(([name, value]) => {
        const input = stage.rig.inputs.find((i) => i.name === name);
        return name === own || !input || isRest(input, value);
    });
};

const addAxis = (tree: Project, layer: ProjectLayer, name: string): ProjectLayer => {
    if (weigherOf(layer.weigh).hasPoints) return layer;
    const taken = tree.layers.flatMap((l) => l.space.map((axis) => axis.name));
    const axis = freeName(name.replace(/[=,"]/g, " ").replace(/^(joint:|time$)/, "sculpt "), taken);
    return { ...layer, space: [...layer.space, { name: axis, min: 0, max: 1 }] };
};

/** Sends the form, edits the project, moves the pose to the example and measures the new rig there. Returns null if
 * the project could not be built: the edit was then taken back, with a message. Throws refusals of the server. */
export const insertSculpt = async (app: App, session: Session, wanted: string): Promise<Inserted | null> => {
    const server = app.server!;
    await app.build();
    const { tree, stage } = app;
    const index = app.selection.layer;
    const layer = tree.layers[index];
    const rigLayer = app.rigLayer;
    if (!layer || !rigLayer || stage.built !== tree) return null;

    const pose = stage.rig.pose();
    takeStand(pose, session.stand);
    const existing = exampleAt(rigLayer, layer.examples.filter((example) => !example.muted), pose);
    if (existing?.["reference"])
        throw new Error(`Example '${existing.name}' is the mesh itself, where all trajectories start: go to another pose.`);
    const replacedPseudos = new Set(pseudosAt(rigLayer, layer.pseudo ?? [], pose));
    pose.dispose();
    const form = await formToSend(app, session, { index, example: existing?.name ?? null });
    const name = existing?.name ?? freeName(wanted, layer.examples.map((example) => example.name));
    const send = (file: string, positions: Float32Array): Promise<string> =>
        server.addForm(fileName(file), tree.mesh, positions, tree.unit ?? "m", tree.up ?? "y");
    const path = await send(name, form.positions);
    // 'exemplar check' compares the rig with the sculpt itself.
    const kept = form.isChanged && isPlaced(stage, layer, session, existing)
        ? { mesh: path, sculpt: await send(`${name}_sculpt`, session.positions) } : { mesh: path };

    const edited = (l: ProjectLayer): ProjectLayer => {
        const pseudo = (l.pseudo ?? []).filter((_, i) => !replacedPseudos.has(i));
        const left = replacedPseudos.size ? { ...l, pseudo } : l;
        if (existing)
            return { ...left, examples: left.examples.map((example) =>
                example.name === name ? placed(stage, session, l, { ...withoutSculpt(example), ...kept }) : example) };
        return addAxis(tree, { ...left, examples: [...left.examples, placed(stage, session, l, { name, ...kept })] }, name);
    };
    const now = app.history.tree.layers.findIndex((l) => l.name === layer.name); // layers may have been added or removed meanwhile
    if (now < 0) throw new Error(`Layer '${layer.name}' is gone.`);
    app.edit(existing ? `sculpt on '${name}'` : `sculpt '${name}'`, (t) =>
        widened(setLayer(t, now, edited), weigherOf(layer.weigh).hasPoints ? session.stand.at : undefined));
    await app.build();
    const there = app.tree.layers[now]?.examples.find((example) => example.name === name);
    if (there?.mesh !== path || app.stage.built !== app.tree) return null;

    takeStand(app.stage.pose, session.stand);
    const axis = !weigherOf(layer.weigh).hasPoints && !existing ? app.tree.layers[now].space.at(-1) : undefined;
    if (axis) app.stage.pose.set(axis.name, 1);
    const made = cageOf(app.stage, app.stage.pose, session.atRest);
    return { example: name, replaced: !!existing, ...apartOf(made, session.positions), size: sizeOf(made) };
};

/** The likely reason why the new rig does not reproduce the sculpt exactly. */
export const lossOf = (app: App, name: string): string => {
    const index = app.selection.layer;
    const layer = app.tree.layers[index];
    const k = layer?.examples.filter((example) => !example.muted).findIndex((example) => example.name === name);
    const damped = app.built?.damped.find((d) => d.layer === index && d.example === k);
    if (damped)
        return `${damped.count} vertices cannot be un-posed safely here, because skinning flattens the surface: ` +
            `a layer of offsets with "frame": "skinned" avoids this.`;
    if (layer?.mask) return "The layer's mask removes part of it.";
    if (layer?.["participation"] === "moved") return "Other examples of the layer move vertices that this one does not.";
    if (app.tree.layers.length > index + 1) return "A later layer changes it: see the findings.";
    return "See the findings.";
};
