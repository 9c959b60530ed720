// Plays, scrubs and steps through a track, and sets the pose to it.
import type { App } from "../core/app";
import { frameAt, type Track } from "./track";

const LONGEST = 250; // milliseconds

export class Player {
    time = 0;
    speed = 1;
    loop = true;
    smooth = false;
    #track: Track | null = null;
    #playing = false;
    #last = 0;
    #own = false;
    /** Time of the frame that the pose shows; NaN if the pose is not of the track. */
    #shown = NaN;

    constructor(
        readonly app: App,
        /** Called after every change of the time or the track. */
        readonly changed: () => void,
    ) {
        // If the user moves the pose, stop playing. Clothes do not swing from the motion to there.
        app.on("pose", () => {
            if (this.#own) return;
            this.#shown = NaN;
            app.stage.pose.elapsed = 0;
            this.pause();
        });
    }

    get track(): Track | null {
        return this.#track;
    }
    get hasTrack(): boolean {
        return (this.#track?.duration ?? 0) > 0;
    }
    /** Sets a new track, at its start; or a new version of the same track, at the current time. */
    setTrack(track: Track | null, keep = false): void {
        this.#shown = NaN;
        this.#track = track;
        this.time = keep && track ? Math.min(this.time, track.duration) : 0;
        if (!track) this.#playing = false;
        this.changed();
    }

    get playing(): boolean {
        return this.#playing;
    }
    play(): void {
        if (!this.#track || this.#playing) return;
        if (this.time >= this.#track.duration) this.time = 0;
        this.#playing = true;
        this.#last = performance.now();
        requestAnimationFrame((now) => this.#tick(now));
        this.changed();
    }
    pause(): void {
        if (!this.#playing) return;
        this.#playing = false;
        this.changed();
    }
    toggle(): void {
        if (this.#playing) this.pause();
        else this.play();
    }

    /** Jumps to a time: clothes that follow motion hang still there. */
    seek(time: number): void {
        this.#shown = NaN;
        this.#show(time);
    }

    // Clothes swing if the time goes on from the frame that was shown, at any speed: in slow motion they do the same,
    // only slower. The same frame again stays as it is, and earlier frames, as at the end of a loop, begin anew.
    #show(time: number): void {
        const track = this.#track;
        if (!track) return;
        this.time = Math.min(Math.max(time, 0), track.duration);
        const shown = track.timeOf(this.time, this.smooth);
        const elapsed = shown - this.#shown;
        this.#own = true;
        this.app.pose((pose) => {
            if (elapsed !== 0) pose.elapsed = elapsed > 0 ? elapsed : 0;
            track.set(pose, this.time, this.smooth);
        });
        this.#own = false;
        this.#shown = shown;
        this.changed();
    }
    /** Goes to the previous or the next frame. */
    step(by: number): void {
        if (!this.#track) return;
        this.pause();
        const { times } = this.#track;
        const frame = frameAt(times, this.time);
        const between = this.time > times[frame]! + 1e-6 && by < 0 ? 1 : 0;
        this.#show(times[Math.min(Math.max(frame + by + between, 0), times.length - 1)]!);
    }

    #tick(now: number): void {
        if (!this.#playing || !this.#track) return;
        const { duration } = this.#track;
        // A very long frame, for example while the window was hidden, is not caught up.
        let time = this.time + (Math.min(Math.max(0, now - this.#last), LONGEST) / 1000) * this.speed;
        this.#last = now;
        const ended = time >= duration;
        if (ended && this.loop && duration > 0) time %= duration;
        else if (ended) this.#playing = false;
        this.#show(time);
        if (this.#playing) requestAnimationFrame((next) => this.#tick(next));
    }
}
