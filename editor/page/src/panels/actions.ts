// Commands that belong to no panel: the project, undo, help.
import type { App } from "../core/app";
import { showHelp } from "./help";
import { setTheme, theme } from "./theme";

export const addCommands = (app: App): void => {
    if (app.server)
        app.commands.add({
            id: "save",
            label: "Save the project",
            group: "Project",
            keys: ["Ctrl+S"],
            run: () => void app.save(),
        });
    // A brush keeps Escape.
    if (app.server)
        app.commands.add({
            id: "cancel-build",
            label: "Cancel a long build",
            group: "Project",
            keys: ["Escape"],
            run: () => app.cancelBuild(),
            enabled: () => app.isSlow && app.tool === "orbit" && !app.sculpt && !app.isDragging,
        });
    app.commands.add(
        {
            id: "undo",
            label: "Undo",
            group: "Edit",
            keys: ["Ctrl+Z"],
            run: () => app.undo(),
            enabled: () => app.undoLabel !== null,
        },
        {
            id: "redo",
            label: "Redo",
            group: "Edit",
            keys: ["Ctrl+Shift+Z", "Ctrl+Y"],
            run: () => app.redo(),
            enabled: () => app.redoLabel !== null,
        },
        {
            id: "rest",
            label: "Go to the rest pose",
            group: "Pose",
            keys: ["R"],
            run: () => app.pose((pose) => pose.rest()),
        },
        {
            id: "theme",
            label: "Light or dark theme",
            group: "View",
            keys: ["Shift+T"],
            run: () => {
                setTheme(theme() === "dark" ? "light" : "dark");
                app.emit("display");
                app.invalidate();
            },
        },
        { id: "help", label: "List of keys", group: "Project", keys: ["?", "F1"], run: () => showHelp(app) },
    );
};
