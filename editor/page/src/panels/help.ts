// All commands with their keys, from the one table there is.
import type { App } from "../core/app";
import { showDialog } from "../core/dialog";
import { h } from "../core/dom";

const pretty = (key: string): string =>
    key
        .replace("Ctrl", navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl")
        .replace(/Arrow(\w+)/, (_, way: string) => ({ Left: "←", Right: "→", Up: "↑", Down: "↓" })[way] ?? way);

export const showHelp = (app: App): void => {
    const groups = [...new Set(app.commands.list.map((command) => command.group))];
    showDialog(
        "help",
        "Keys",
        h("h1", {}, "Keys"),
        h(
            "div",
            { class: "groups" },
            ...groups.map((group) =>
                h(
                    "section",
                    {},
                    h("h2", {}, group),
                    h(
                        "dl",
                        {},
                        ...app.commands.list
                            .filter((command) => command.group === group && command.keys.length > 0)
                            .flatMap((command) => [
                                h("dt", {}, ...command.keys.map((key) => h("kbd", {}, pretty(key)))),
                                h("dd", {}, command.label),
                            ]),
                    ),
                ),
            ),
        ),
        h("form", { method: "dialog" }, h("button", { class: "primary" }, "Close")),
    );
};
