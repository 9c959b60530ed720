// What was done: every state of the project, back to the one that was opened. A state has the tree and, as soon as the
// server has said it, the very text of the file; so undoing and saving gives back the same bytes.
import type { Project } from "./project";

export interface State {
    readonly label: string;
    readonly tree: Project;
    /** What a save writes; null until it is known. */
    text: string | null;
}

export class History {
    #states: State[];
    #index = 0;
    #saved: State;

    constructor(tree: Project, text: string | null) {
        this.#states = [{ label: "opened", tree, text }];
        this.#saved = this.#states[0]!;
    }

    get state(): State {
        return this.#states[this.#index]!;
    }
    get tree(): Project {
        return this.state.tree;
    }
    get changed(): boolean {
        return this.state !== this.#saved;
    }
    /** What undo would take back, and redo bring back; null where there is nothing. */
    get undoLabel(): string | null {
        return this.#index > 0 ? this.state.label : null;
    }
    get redoLabel(): string | null {
        return this.#states[this.#index + 1]?.label ?? null;
    }

    /** A new state after this one; those that were undone are gone. */
    push(label: string, tree: Project): State {
        const state: State = { label, tree, text: null };
        this.#states.splice(this.#index + 1, Infinity, state);
        this.#index++;
        return state;
    }

    undo(): boolean {
        if (this.#index === 0) return false;
        this.#index--;
        return true;
    }

    redo(): boolean {
        if (this.#index + 1 >= this.#states.length) return false;
        this.#index++;
        return true;
    }

    /** Takes a state back that turned out to be impossible, and what was done after it; whether that is seen: it may have
     * been undone already. */
    refuse(state: State): boolean {
        const at = this.#states.indexOf(state);
        if (at < 1) return false;
        this.#states.splice(at);
        if (this.#index < at) return false;
        this.#index = at - 1;
        return true;
    }

    /** Whether a state is among those that can be gone to. */
    holds(state: State): boolean {
        return this.#states.includes(state);
    }

    markSaved(state: State): void {
        this.#saved = state;
    }
}
