// The clips of a rig: animations that it carries. The server makes motions of them; an exported page has the motions in
// elements of its own (cli/edit/edit_export.c).
import type { Rig } from "@exemplar/runtime";
import { unpack } from "./packed";
import type { Motion } from "./server";

export interface Clip {
    /** As it is listed. */
    readonly name: string;
    /** From 1, as the server counts them. */
    readonly number: number;
    /** The motion, if the page has it. */
    readonly motion?: () => Promise<Motion>;
}

const GLTF = 0x46546c67; // "glTF"

/** Names of the animations in a binary glTF file. */
const namesIn = (bytes: Uint8Array): (string | undefined)[] => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < 20 || view.getUint32(0, true) !== GLTF) return [];
    const text = new TextDecoder().decode(bytes.subarray(20, 20 + view.getUint32(12, true)));
    const { animations } = JSON.parse(text) as { animations?: { name?: string }[] };
    return (animations ?? []).map(({ name }) => name);
};

/** The clips that the server can play. */
export const clipsOf = (rig: Rig): Clip[] => {
    const bytes = rig.driver ? null : rig.attachment("clips");
    if (!bytes) return [];
    return namesIn(bytes).map((name, i) => ({ name: name || `clip ${i + 1}`, number: i + 1 }));
};

const motionOf = async (element: HTMLElement, rig: Rig): Promise<Motion> => {
    const buffer = await unpack(element);
    const frames = Number(element.dataset["frames"]);
    const joints = rig.joints.length;
    const inputs = (buffer.byteLength / frames - 8 - 40 * joints) / 8;
    const times = new Float64Array(buffer, 0, frames);
    const dials = new Float64Array(buffer, times.byteLength, frames * inputs);
    const locals = new Float32Array(buffer, times.byteLength + dials.byteLength, frames * joints * 10);
    const name = element.dataset["name"] ?? "";
    return { motion: "", name, frames, inputs, joints, driver: 0, matched: 0, scale: 1, times: [...times], dials, locals,
        forms: new Float32Array(0) };
};

/** The clips in an exported page. */
export const exportedClips = (rig: Rig): Clip[] =>
    Array.from(document.querySelectorAll<HTMLElement>("script.clip"), (element, i) => {
        let read: Promise<Motion> | null = null; // its element can be read once
        return { name: element.dataset["name"] ?? "", number: i + 1, motion: () => (read ??= motionOf(element, rig)) };
    });
