// New examples from files: the layer that takes them, their places, and the tree that includes them.
import type { App } from "../core/app";
import { isPosed, nextPlace, presentPlace } from "../core/present";
import { freeName, pointOf, setLayer, widened, type Project, type ProjectExample, type ProjectLayer } from "../core/project";
import { weigherOf } from "../core/weighers";
import { stemOf } from "../core/words";

export const FORMS = ["obj", "ply", "off", "glb", "gltf"];
const KINDS = { mesh: FORMS, image: ["png", "jpg", "jpeg"], map: ["ply"] } as const;
type Kind = keyof typeof KINDS;

const ending = (file: string): string => /\.([^.]+)$/.exec(file)?.[1]?.toLowerCase() ?? "";
const kindOf = (layer: ProjectLayer): Kind =>
    layer.shape === "pixels" ? "image" : layer.shape === "displacement" ? "map" : "mesh";
const takes = (layer: ProjectLayer, file: string): boolean =>
    !weigherOf(layer.weigh).isDriven && (KINDS[kindOf(layer)] as readonly string[]).includes(ending(file));

// ---- the layer ----

/** The selected layer, or the only one that takes this kind of file. */
export const layerFor = (app: App, file: string): number | null => {
    if (app.layer && takes(app.layer, file)) return app.selection.layer;
    const fit = app.tree.layers.flatMap((layer, i) => (takes(layer, file) ? [i] : []));
    return fit.length === 1 ? fit[0]! : null;
};

const FOREIGN = ["fbx", "blend", "usd", "usda", "usdc", "usdz", "stl", "dae", "abc", "ma", "mb"];
const IMAGES = ["webp", "avif", "heic", "ktx2", "gif", "bmp", "tga", "exr", "tif", "tiff"];
const MARKERS = ["c3d", "trc"];
const MOTIONS = ["bvh", "csv"];
const CACHES = ["pc2", "mdd", "abc"];

/** True for a file that moves the rig: by its ending, or for glTF by its animations. A rig that follows a driver moves by
 * point caches alone. */
export const isMotion = async (app: App, file: File): Promise<boolean> => {
    const end = ending(file.name);
    if (app.stage.rig.driver) return CACHES.includes(end);
    if (MOTIONS.includes(end)) return true;
    return (end === "glb" || end === "gltf") && (await isAnimated(file));
};

const isAnimated = async (file: File): Promise<boolean> => {
    try {
        const head = new DataView(await file.slice(0, 20).arrayBuffer());
        const isBinary = head.byteLength === 20 && head.getUint32(0, true) === 0x46546c67; // "glTF"
        const json = isBinary ? file.slice(20, 20 + head.getUint32(12, true)) : file;
        const { animations } = JSON.parse(await json.text()) as { animations?: unknown[] };
        return (animations?.length ?? 0) > 0;
    } catch {
        return false; // the tool says what is wrong with it
    }
};

/** The reason why a file cannot become an example. */
export const refusalOf = (app: App, file: string): string => {
    const end = ending(file);
    const layer = app.layer;
    if (end === "json") return `${file} looks like a project: open it with 'exemplar edit ${file}'.`;
    if (MARKERS.includes(end))
        return `${file} has markers, not joints: 'exemplar scan fit ${file} --bvh ${stemOf(file)}.bvh' finds a motion that you can drop here.`;
    if (MOTIONS.includes(end) && app.stage.rig.driver)
        return `${file} moves joints, but this rig follows a driver: drop a point cache of the driver (.pc2, .mdd or .abc).`;
    if (IMAGES.includes(end)) return `${file} cannot be read: save the image as PNG or JPEG.`;
    if (FOREIGN.includes(end)) return `${file} cannot be read: export the form as OBJ, PLY, OFF or glTF, in the same vertex order.`;
    if ((KINDS.image as readonly string[]).includes(end)) return `${file} is an image: select a layer of pixels, or add one first (Shift+A).`;
    if (!FORMS.includes(end)) return `${file} cannot become an example: use a .obj, .ply, .off, .glb, .gltf, .png or .jpg file.`;
    if (layer && weigherOf(layer.weigh).isDriven)
        return `Layer '${layer.name}' follows a driver: its examples also need a form of the driver. Use 'exemplar example add'.`;
    return `${file} is a form: select a layer of forms.`;
};

// ---- the places ----

export type Placed = Pick<ProjectExample, "at" | "joints">;

export interface Places {
    places: Placed[];
    /** A remark about the places, or the reason why there are fewer than wanted. */
    said: string | null;
}

const exampleHere = (app: App, index: number, at: Placed["at"]): string | null => {
    const rig = app.stage.layerOf(app.tree, index);
    if (!rig || !rig.kind.hasPoints || rig.kind.isDriven) return null;
    const point = pointOf(rig, at);
    const layer = app.tree.layers[index]!;
    const found = layer.examples.find((e) => !e.muted && rig.distance(point, pointOf(rig, e.at)) < 1e-6);
    return found?.name ?? null;
};

/** Places for `wanted` new examples: the current pose, then points next to it. A form sculpted on the posed skeleton
 * belongs to one pose only. */
export const placesFor = (app: App, index: number, wanted: number): Places => {
    const layer = app.tree.layers[index]!;
    if (!weigherOf(layer.weigh).hasPoints) return { places: Array.from({ length: wanted }, () => ({})), said: null };
    const present = presentPlace(app, index);
    const inTheWay = exampleHere(app, index, present.at);
    if (isPosed(layer)) {
        if (inTheWay !== null)
            return {
                places: [],
                said: `'${inTheWay}' is already at this pose. Delete it first, or go to the pose of the new form.`,
            };
        const said = wanted > 1 ? "Only the first was added. Go to the pose of each other form and add it there." : null;
        return { places: [present], said };
    }
    const places: Placed[] = inTheWay === null ? [present] : [];
    const taken = [present.at, ...layer.examples.map((e) => e.at ?? {}), ...(layer.pseudo ?? []).map((p) => p.at)];
    while (places.length < wanted) {
        const at = nextPlace(app, index, present.at, taken);
        if (!at) break;
        places.push({ ...present, at });
        taken.push(at);
    }
    const beside =
        inTheWay !== null
            ? `'${inTheWay}' is already at this pose, so the new ${wanted > 1 ? "ones are" : "one is"} next to it. Drag ${wanted > 1 ? "them" : "it"} into place.`
            : wanted > 1
              ? "The first is at this pose, the others next to it. Drag them into place."
              : null;
    if (places.length === wanted) return { places, said: beside };
    return {
        places,
        said: places.length
            ? `There was room for only ${places.length} of ${wanted}. Add the others at other poses.`
            : `'${inTheWay}' is already at this pose. Go to another pose and add it there.`,
    };
};

// ---- the new tree ----

export interface Added {
    /** Name of the dropped file. */
    file: string;
    /** Path in the project's folder. */
    path: string;
    placed: Placed;
}

/** The project with the new examples at the end of the layer, and the names they got. */
export const withExamples = (tree: Project, index: number, added: readonly Added[]): { tree: Project; names: string[] } => {
    const layer = tree.layers[index]!;
    const taken = layer.examples.map((example) => example.name);
    const axes = new Set(tree.layers.flatMap((l) => l.space.map((axis) => axis.name)));
    const names: string[] = [];
    const examples: ProjectExample[] = [];
    const space = [...layer.space];
    for (const { file, path, placed } of added) {
        const name = freeName(stemOf(file), [...taken, ...names]);
        names.push(name);
        examples.push({ name, [kindOf(layer)]: path, ...placed });
        if (!weigherOf(layer.weigh).hasPoints) {
            // In a direct layer, each example has its own axis, which is its weight.
            const axis = freeName(name.replace(/[=,"]/g, " "), axes);
            axes.add(axis);
            space.push({ name: axis, min: 0, max: 1 });
        }
    }
    const change = (l: ProjectLayer): ProjectLayer => ({
        ...l,
        ...(space.length > l.space.length ? { space } : {}),
        examples: [...l.examples, ...examples],
    });
    const wide = added.reduce((t, { placed }) => widened(t, placed.at), setLayer(tree, index, change));
    return { tree: wide, names };
};
