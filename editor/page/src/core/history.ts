// Undo history: every state of the project since it was opened. A state has the tree and, once the server has sent it,
// the exact text of the file. So undoing and saving gives back the same bytes.
import type { Project } from "./project";

export interface State {
    readonly label: string;
    readonly tree: Project;
    /** The text that a save writes; null until it is known. */
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
    /** Labels of the steps that undo and redo would apply; null if there are none. */
    get undoLabel(): string | null {
        return this.#index > 0 ? this.state.label : null;
    }
    get redoLabel(): string | null {
        return this.#states[this.#index + 1]?.label ?? null;
    }

    /** Adds a state after the current one, and drops undone states. */
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

    /** Removes a state that cannot be built, and all states after it. Returns true if that changes the current
     * state: it may have been undone already. */
    refuse(state: State): boolean {
        const at = this.#states.indexOf(state);
        if (at < 1) return false;
        this.#states.splice(at);
        if (this.#index < at) return false;
        this.#index = at - 1;
        return true;
    }

    /** Goes to the state with that tree. False if undo and redo cannot reach it. */
    goTo(tree: Project): boolean {
        const at = this.#states.findIndex((state) => state.tree === tree);
        if (at >= 0) this.#index = at;
        return at >= 0;
    }

    /** True if the state is the current one or undo reaches it. */
    follows(state: State): boolean {
        const at = this.#states.indexOf(state);
        return at >= 0 && at <= this.#index;
    }

    markSaved(state: State): void {
        this.#saved = state;
    }
}
