// The source of a motion, a file or a path in the project's folder, and the motion that the server read from it for a
// rig. With another rig it is read again.
import type { App } from "../core/app";
import type { Clip } from "../core/clips";
import { Refusal, type Motion } from "../core/server";
import { count, stemOf } from "../core/words";

export class Source {
    #read: { build: string; motion: Motion } | null = null;

    constructor(
        readonly app: App,
        readonly file: File | string | Clip,
    ) {}

    get name(): string {
        return typeof this.file === "string" ? this.file : this.file.name;
    }

    /** The server has another motion by now, so read it again next time. */
    forget(): void {
        this.#read = null;
    }

    /** The motion for the current rig. */
    async motion(): Promise<Motion> {
        if (typeof this.file === "object" && "motion" in this.file && this.file.motion) return this.file.motion();
        for (let tries = 0; ; tries++) {
            await this.app.build();
            const { build } = this.app.built!;
            if (this.#read?.build === build) return this.#read.motion;
            try {
                const motion = await this.app.server!.motion(build, this.file);
                this.#read = { build, motion };
                return motion;
            } catch (error) {
                if (tries > 3) throw error;
                if (this.app.built!.build !== build) continue; // an edit came first
                if (!(error instanceof Refusal && error.status === 409)) throw error;
                await this.app.rebuild(); // the server has another rig
            }
        }
    }
}

const FEW = 4; // names in a message, which has two lines

/** "'hip', 'knee' and 5 more" */
const listed = (names: readonly string[]): string => {
    const some = names.slice(0, FEW).map((name) => `'${name}'`);
    if (names.length > FEW) some.push(`${names.length - FEW} more`);
    return some.length < 2 ? some.join("") : `${some.slice(0, -1).join(", ")} and ${some.at(-1)!}`;
};

/** The joints that were matched and those that were not, in words, and what to do about these. */
export const matchWords = (motion: Motion): string => {
    const { name, names = [], unmoved = [], unused = [] } = motion;
    if (names.length === 0) return wordsOf(motion);
    const words = [`${wordsOf(motion)} By name: ${listed(names)}.`];
    if (unmoved.length && unused.length)
        words.push(`These stay at rest: ${listed(unmoved)}. The file also has ${listed(unused)}: pair them in ` +
            `${stemOf(name)}.map.json beside the project, as {"joints": {"${unmoved[0]!}": "${unused[0]!}"}}.`);
    else if (unmoved.length) words.push(`These stay at rest: ${listed(unmoved)}.`);
    return words.join(" ");
};

/** A description of the motion. */
export const wordsOf = ({ name, frames, matched, inputs, times, driver }: Motion): string => {
    const seconds = Number(((times.at(-1) ?? 0) - (times[0] ?? 0)).toFixed(2));
    if (driver) return `${name}: ${count(frames, "frame")} of the driver, ${seconds} s.`;
    const [one, many] = inputs > 0 ? ["joint or axis", "joints and axes"] : ["joint", "joints"];
    const moved = matched > 0 ? `; it moves ${count(matched, one, many)} of the rig` : "";
    return `${name}: ${count(frames, "frame")}, ${seconds} s${moved}.`;
};
