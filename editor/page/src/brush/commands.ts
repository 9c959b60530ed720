// Commands of the brushes, with their keys.
import type { App } from "../core/app";
import type { Brush } from "./controller";
import { isBrush } from "./controller";
import { insertNow } from "./sculpt_controls";
import type { Strokes } from "./pointer";

export const addBrushCommands = (app: App, brush: Brush, strokes: () => Strokes | null): void => {
    const isOn = (): boolean => isBrush(app.tool) || brush.session !== null;
    const toggle = (tool: "grab" | "smooth" | "paint") => () => app.setTool(app.tool === tool ? "orbit" : tool);
    // Escape cancels an unfinished stroke, or else discards the strokes, which undo brings back, or else puts the brush
    // down.
    const escape = (): void => {
        if (strokes()?.isActive) strokes()!.cancel();
        else if (brush.isBusy || !isBrush(app.tool)) brush.discard();
        else app.setTool("orbit");
    };
    app.commands.add(
        { id: "brush-grab", label: "Grab: drag vertices", group: "Brush", keys: ["B"], run: toggle("grab") },
        { id: "brush-smooth", label: "Smooth: remove bumps", group: "Brush", keys: ["D"], run: toggle("smooth") },
        { id: "brush-paint", label: "Paint a mask or a group", group: "Brush", keys: ["A"], run: toggle("paint") },
        { id: "brush-orbit", label: "Discard the strokes, or put the brush down", group: "Brush", keys: ["Escape"],
            run: escape, enabled: isOn },
        { id: "brush-larger", label: "Larger brush (also Shift+wheel)", group: "Brush", keys: ["E"],
            run: () => brush.scale(1.15), enabled: isOn },
        { id: "brush-smaller", label: "Smaller brush", group: "Brush", keys: ["Q"], run: () => brush.scale(1 / 1.15),
            enabled: isOn },
        { id: "brush-insert", label: "Insert the sculpt as an example", group: "Brush", keys: ["Enter"],
            run: () => insertNow(app, brush), enabled: () => brush.session?.isSculpted ?? false },
    );
};
