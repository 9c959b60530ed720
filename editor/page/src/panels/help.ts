// The list of mouse actions, and of all commands with their keys, from the table of commands.
import type { App } from "../core/app";
import { showDialog } from "../core/dialog";
import { h } from "../core/dom";
import { showHints } from "./hints";

const pretty = (key: string): string =>
    key
        .replace("Ctrl", navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl")
        .replace(/Arrow(\w+)/, (_, way: string) => ({ Left: "←", Right: "→", Up: "↑", Down: "↓" })[way] ?? way)
        .replace("Escape", "Esc")
        .replace(/^-$/, "−");

// Several keys with the same modifiers name them once: Alt+← → ↑ ↓.
const keysOf = (keys: readonly string[]): HTMLElement[] => {
    const modifiers = (key: string): string => key.slice(0, key.lastIndexOf("+", key.length - 2) + 1);
    return keys.map((key, i) => {
        const held = modifiers(key);
        const said = i > 0 && held === modifiers(keys[i - 1]!);
        return h("kbd", {}, pretty(said ? key.slice(held.length) : key));
    });
};

// Actions that are not commands.
const MOUSE = [
    ["Drag in the view", "Turn the view; with Shift or the middle button, pan"],
    ["Drag in the map", "Move the pose; with Shift, pan"],
    ["Drag a point", "Move an example or pseudo-example; with Ctrl, snap to the grid"],
    ["Alt+drag in the map", "Take the form at the start and place it at the end"],
    ["Double click", "Go to an example, or restore a default"],
    ["Wheel", "Zoom"],
] as const;
const TOUCH = [
    ["One finger in the view", "Turn the view"],
    ["Two fingers", "Shift and zoom the view"],
    ["Drag in the map", "Move the pose"],
    ["Drag a point", "Move an example or pseudo-example"],
    ["Double tap", "Go to an example, or restore a default"],
] as const;
const SERVED = [["Shift+wheel", "Larger or smaller brush"], ["Drop a file", "Add a form at the pose, or play a motion"]] as const;

const table = (title: string, rows: (readonly [(Node | string)[], string])[]): HTMLElement =>
    h(
        "section",
        {},
        h("h2", {}, title),
        h("dl", {}, ...rows.map(([keys, label]) => h("div", {}, h("dt", {}, ...keys), h("dd", {}, label)))),
    );

export const showHelp = (app: App): void => {
    const groups = [...new Set(app.commands.list.map((command) => command.group))];
    showDialog(
        "help",
        "Keys",
        h(
            "form",
            { method: "dialog", class: "top" },
            h("h1", {}, "Mouse and keys"),
            h("span", { class: "actions" },
                app.server && h("button", { class: "hints", onclick: () => setTimeout(showHints) }, "Show hints again"),
                h("button", { class: "primary" }, "Close")),
        ),
        h(
            "div",
            { class: "groups" },
            matchMedia("(any-pointer: coarse)").matches &&
                table("Fingers", TOUCH.map(([what, label]) => [[what], label] as const)),
            table("Mouse", [...MOUSE, ...(app.server ? SERVED : [])].map(([what, label]) => [[what], label] as const)),
            ...groups.map((group) =>
                table(
                    group,
                    app.commands.list
                        .filter((command) => command.group === group && command.keys.length > 0)
                        .map((command) => [keysOf(command.keys), command.label] as const),
                ),
            ),
        ),
    );
};
