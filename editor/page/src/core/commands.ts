// All commands with their names and keys. Buttons, keyboard and the list of keys use this table.

export interface Command {
    id: string;
    /** The action, as a tooltip: "Undo". */
    label: string;
    group: "Project" | "Edit" | "Pose" | "Space" | "View" | "Brush" | "Play";
    /** "Ctrl+Z", "Shift+P", "ArrowLeft", "?". Ctrl means Command on a Mac. */
    keys: string[];
    /** `key` is the pressed key, if a key started the command. */
    run(key?: string): void | Promise<void>;
    /** If false, the button is disabled and the key does nothing. */
    enabled?(): boolean;
}

const keyOf = (event: KeyboardEvent): string => {
    const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
    const shifted = event.shiftKey && (event.key.length > 1 || /[A-Z]/i.test(event.key));
    return [
        (event.ctrlKey || event.metaKey) && "Ctrl",
        event.altKey && "Alt",
        shifted && "Shift",
        key === " " ? "Space" : key,
    ]
        .filter(Boolean)
        .join("+");
};

// A field with uncommitted typing: undo keys belong to it.
let written: EventTarget | null = null;

const isText = (target: EventTarget | null): target is HTMLInputElement =>
    target instanceof HTMLInputElement && !/^(range|checkbox|radio|file|button|color)$/.test(target.type);

// A text field keeps its keys while someone types, a slider keeps its arrow keys, and a dialog keeps all keys.
const isTaken = (event: KeyboardEvent): boolean => {
    const target = event.target as HTMLElement;
    if (document.querySelector("dialog:modal")) return true;
    if (event.ctrlKey || event.metaKey) return /^[zy]$/i.test(event.key) && target === written;
    if (target.isContentEditable || target.closest("textarea, select")) return true;
    const input = target.closest("input");
    if (!input) return target.closest("button, a, summary, [role=option]") !== null && /^( |Enter)$/.test(event.key);
    if (input.type === "range") return /^(Arrow|Home|End|Page)/.test(event.key);
    if (input.type === "checkbox" || input.type === "radio") return /^( |Arrow)/.test(event.key);
    return true;
};

export class Commands {
    readonly list: Command[] = [];

    add(...commands: Command[]): void {
        this.list.push(...commands);
    }

    get(id: string): Command {
        const command = this.list.find((c) => c.id === id);
        if (!command) throw new Error(`no command '${id}'`);
        return command;
    }

    run(id: string): void {
        const command = this.get(id);
        if (command.enabled?.() ?? true) void command.run();
    }

    listen(): void {
        addEventListener("input", ({ target, isTrusted }) => {
            if (isTrusted && isText(target)) written = target;
        });
        for (const left of ["change", "focusin"]) addEventListener(left, () => (written = null));
        addEventListener("keydown", (event) => {
            if (event.defaultPrevented) return;
            if (isTaken(event)) {
                // Leaving a field makes all keys available again.
                if (event.key === "Escape" && isText(event.target) && !event.target.closest("dialog")) event.target.blur();
                return;
            }
            const key = keyOf(event);
            const command = this.list.find((c) => c.keys.includes(key) && (c.enabled?.() ?? true));
            if (!command) return;
            event.preventDefault();
            void command.run(key);
        });
    }
}
