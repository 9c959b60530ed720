// The step that a build is at, in words, and how far it is.
import type { Progress } from "./server";

const WORDS: { [step: string]: string } = {
    mesh: "Reading the mesh",
    driver: "Reading the driver",
    subdividing: "Subdividing the mesh",
    solving: "Solving the spaces",
    sending: "Sending the rig",
};

/** "Building layer 'moods': 'happy', 3 of 8", "Finding trajectories of layer 'moves', 43 %". */
export const progressWords = ({ step, layer, example, number, count, fraction }: Progress): string => {
    if (example !== undefined) return `Building layer '${layer ?? ""}': '${example}', ${number ?? 0} of ${count ?? 0}`;
    if (step === "trajectories")
        return `Finding trajectories${layer ? ` of layer '${layer}'` : ""}, ${Math.floor(100 * (fraction ?? 0))} %`;
    return WORDS[step ?? ""] ?? "Building";
};

/** Calls `show` with the step of the build now and then, until the returned function is called. */
export const followProgress = (ask: () => Promise<Progress>, show: (progress: Progress) => void, every = 200): (() => void) => {
    let isDone = false;
    const look = async (): Promise<void> => {
        const progress = await ask().catch(() => null);
        if (isDone) return;
        if (progress?.step) show(progress);
        setTimeout(() => void look(), every);
    };
    void look();
    return () => {
        isDone = true;
    };
};
