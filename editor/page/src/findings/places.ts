// Finds the place of a finding in the project: from its path, and from example names in its text.
import type { Project, ProjectLayer } from "../core/project";
import type { Finding } from "../core/server";
import { pseudoName } from "../core/words";

export interface Spot {
    layer: number | null;
    /** Names; the first is the one to go to. */
    examples: string[];
    pseudo: number[];
}

// "examples 'thin' and 'thick'", "pseudo-example 1": findings of `check` about two points of a layer.
const named = (layer: ProjectLayer, text: string): Pick<Spot, "examples" | "pseudo"> => {
    const pseudo = [...text.matchAll(/pseudo-example (\d+)/g)].map((match) => Number(match[1]) - 1);
    return {
        examples: layer.examples.map((example) => example.name).filter((name) => text.includes(`'${name}'`)),
        pseudo: pseudo.filter((index) => index < (layer.pseudo?.length ?? 0)),
    };
};

export const spotOf = (tree: Project, finding: Pick<Finding, "where" | "text">): Spot => {
    const path = /^layers\[(\d+)\](?:\.(examples|pseudo)\[(\d+)\])?/.exec(finding.where);
    const layer = path && tree.layers[Number(path[1])];
    if (!path || !layer) return { layer: null, examples: [], pseudo: [] };
    const spot: Spot = { layer: Number(path[1]), examples: [], pseudo: [] };
    const index = Number(path[3]);
    if (path[2] === "examples") return { ...spot, examples: layer.examples[index] ? [layer.examples[index].name] : [] };
    if (path[2] === "pseudo") return { ...spot, pseudo: layer.pseudo?.[index] ? [index] : [] };
    return { ...spot, ...named(layer, finding.text) };
};

/** The text of a finding, with pseudo-examples named as on the page, and without the project's key for a remedy that has
 * a button. */
export const textOf = (tree: Project, { where, text }: Pick<Finding, "where" | "text">): string => {
    const layer = tree.layers[Number(/^layers\[(\d+)\]/.exec(where)?.[1] ?? -1)];
    return text.replace(' ("kind": "calm")', "").replace(/pseudo-example (\d+)/g, (_, number: string) => pseudoName(layer?.pseudo?.[Number(number) - 1], Number(number) - 1));
};

export interface Mark {
    severity: "error" | "warning";
    text: string;
}

export interface Marks {
    layers: Map<number, Mark>;
    /** "layer/e/name" or "layer/p/index" */
    points: Map<string, Mark>;
}

const add = <K>(marks: Map<K, Mark>, key: K, finding: Finding): void => {
    const old = marks.get(key);
    const severity = finding.severity === "error" || old?.severity === "error" ? "error" : "warning";
    marks.set(key, { severity, text: old ? `${old.text}\n${finding.text}` : finding.text });
};

/** The marks of each row. Notes are measurements and get no mark. */
export const marksOf = (tree: Project, findings: readonly Finding[]): Marks => {
    const marks: Marks = { layers: new Map(), points: new Map() };
    for (const finding of findings) {
        if (finding.severity === "note") continue;
        const { layer, examples, pseudo } = spotOf(tree, finding);
        if (layer === null) continue;
        const said = { ...finding, text: textOf(tree, finding) };
        add(marks.layers, layer, said);
        for (const name of examples) add(marks.points, `${layer}/e/${name}`, said);
        for (const index of pseudo) add(marks.points, `${layer}/p/${index}`, said);
    }
    return marks;
};
