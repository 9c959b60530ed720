// The data in an exported page (cli/edit/edit_export.c): gzip as base64, in elements that no browser runs. The browser
// decompresses it; nothing is fetched, which the page's policy would forbid.
import { Refusal } from "./server";

const OLD = "This browser is too old for this page: it cannot decompress the rig. Use " +
    "Chrome 91, Firefox 113, Safari 16.4 or a later version.";
const TORN = "This page is incomplete or damaged. Download or export it again.";

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => {
    const text = atob(base64.trim());
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
};

/** The bytes in an element. Its text is dropped, so read it once. */
export const unpack = async (element: HTMLElement): Promise<ArrayBuffer> => {
    if (typeof DecompressionStream === "undefined") throw new Refusal(OLD, 0);
    const text = element.textContent ?? "";
    element.textContent = ""; // phones have little memory
    try {
        const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
        return await new Response(stream).arrayBuffer();
    } catch {
        throw new Refusal(TORN, 0);
    }
};
