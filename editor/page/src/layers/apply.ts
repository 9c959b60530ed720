import type { App } from "../core/app";
import type { Edit } from "./edits";

/** Makes an edit one step of the project; says why where it cannot be, and answers with that sentence. */
export const apply = (app: App, edit: Edit): string | null => {
    if ("refused" in edit) {
        app.say(edit.refused, "bad");
        return edit.refused;
    }
    app.edit(edit.label, () => edit.tree);
    return null;
};
