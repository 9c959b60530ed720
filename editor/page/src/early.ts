// A script of its own in front of the large one: while the browser still reads that, it asks for the project and for the
// rig beside it. The server's class takes the answers (core/server.ts).
import { isUnbuilt } from "./core/unbuilt";

/** Reads the answer at once: a browser holds back a rig of many megabytes until it is read. */
const ask = async (address: string): Promise<Response> => {
    const response = await fetch(address, { cache: "no-store" });
    const bytes = response.arrayBuffer();
    bytes.catch(() => undefined); // whoever takes the answer is told
    const json = async (): Promise<unknown> => JSON.parse(new TextDecoder().decode(await bytes));
    return Object.assign(response, { arrayBuffer: () => bytes, json });
};

const isServed = document.getElementById("rig") === null;
const addresses = isServed ? ["api/project", ...(isUnbuilt() ? [] : ["api/beside"])] : [];
window.early = Object.fromEntries(addresses.map((address) => [address, ask(address)]));
for (const answer of Object.values(window.early)) answer.catch(() => undefined);
