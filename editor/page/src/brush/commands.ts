// Commands of the brushes, with their keys.
import type { App } from "../core/app";
import type { Brush } from "./controller";
import { isBrush } from "./controller";
import { insertNow } from "./sculpt_controls";
import type { Strokes } from "./pointer";

export const addBrushCommands = (app: App, brush: Brush, strokes: () => Strokes | null): void => {
    const isOn = (): boolean => isBrush(app.tool) || brush.session !== null;
    const toggle = (tool: "grab" | "smooth" | "paint") => () => app.setTool(app.tool === tool ? "orbit" : tool);
    // Escape first cancels an unfinished stroke, then puts the brush down, then (after a second press) discards the
    // sculpt.
    const escape = (): void => {
        if (strokes()?.isActive) strokes()!.cancel();
        else if (isBrush(app.tool)) app.setTool("orbit");
        else brush.discard();
    };
    app.commands.add(
        { id: "brush-grab", label: "Grab: drag vertices", group: "Brush", keys: ["B"], run: toggle("grab") },
        { id: "brush-smooth", label: "Smooth: remove bumps", group: "Brush", keys: ["D"], run: toggle("smooth") },
        { id: "brush-paint", label: "Paint a mask or a group", group: "Brush", keys: ["A"], run: toggle("paint") },
        { id: "brush-orbit", label: "Put the brush down; press again to discard the sculpt", group: "Brush", keys: ["Escape"],
            run: escape, enabled: isOn },
        { id: "brush-larger", label: "Larger brush (also Shift+wheel)", group: "Brush", keys: ["E"],
            run: () => brush.scale(1.15), enabled: isOn },
        { id: "brush-smaller", label: "Smaller brush", group: "Brush", keys: ["Q"], run: () => brush.scale(1 / 1.15),
            enabled: isOn },
        { id: "brush-insert", label: "Insert the sculpt as an example", group: "Brush", keys: ["Enter"],
            run: () => insertNow(app, brush), enabled: () => brush.session?.isSculpted ?? false },
    );
};
