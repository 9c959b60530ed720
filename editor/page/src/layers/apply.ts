import type { App } from "../core/app";
import type { Edit } from "./edits";

/** Applies an edit as one step of the project. If it cannot be applied, shows the reason and returns it. */
export const apply = (app: App, edit: Edit): string | null => {
    if ("refused" in edit) {
        app.say(edit.refused, "bad");
        return edit.refused;
    }
    app.edit(edit.label, () => edit.tree);
    return null;
};
