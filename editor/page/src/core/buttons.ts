// Buttons for commands. Each shows its key, and is disabled while its command does not apply.
import type { App } from "./app";
import { h } from "./dom";

/** "Undo (Ctrl+Z)" */
export const tipOf = (app: App, id: string): string => {
    const { label, keys } = app.commands.get(id);
    return keys.length ? `${label} (${keys[0]})` : label;
};

export const commandButton = (app: App, id: string, text: string, attributes: Parameters<typeof h>[1] = {}): HTMLButtonElement =>
    h("button", { title: tipOf(app, id), "data-command": id, onclick: () => app.commands.run(id), ...attributes }, text);

/** Disables the buttons whose commands do not apply now. */
export const dim = (app: App, buttons: readonly HTMLButtonElement[]): void => {
    for (const button of buttons) button.disabled = !(app.commands.get(button.dataset["command"]!).enabled?.() ?? true);
};
