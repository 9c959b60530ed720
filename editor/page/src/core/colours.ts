// The page's colours for drawing on a canvas, read again when the theme changes.

export interface Colours {
    ground: string;
    line: string;
    text: string;
    quiet: string;
    accent: string;
    pseudo: string;
    good: string;
    bad: string;
    warn: string;
    panel: string;
    raised: string;
    font: string;
}

let kept: { theme: string | undefined; colours: Colours } | null = null;

/** The same object until the theme changes. */
export const coloursOf = (): Colours => {
    const theme = document.documentElement.dataset["theme"];
    if (kept && kept.theme === theme) return kept.colours;
    const style = getComputedStyle(document.documentElement);
    const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
    const colours: Colours = {
        ground: read("canvas"),
        line: read("line"),
        text: read("text"),
        quiet: read("quiet"),
        accent: read("accent"),
        pseudo: read("pseudo"),
        good: read("good"),
        bad: read("bad"),
        warn: read("warn"),
        panel: read("panel"),
        raised: read("raised"),
        font: style.fontFamily,
    };
    kept = { theme, colours };
    return colours;
};

const EXAMPLES = {
    light: ["#b4380a", "#0f6e67", "#7b35c9", "#a8326e", "#4a6b12", "#1d5fa8", "#8a5a00", "#5a5ad0"],
    dark: ["#ff9b6b", "#5fd4c6", "#c49bff", "#ff8fc4", "#b4d66a", "#86bdff", "#f0c168", "#a9a9ff"],
};

/** The colour of an example, by its index in the layer. */
export const exampleColour = (index: number): string => {
    const colours = EXAMPLES[document.documentElement.dataset["theme"] === "dark" ? "dark" : "light"];
    return colours[index % colours.length]!;
};

/** Red, green, blue of "#rrggbb". */
export const partsOf = (colour: string): [number, number, number] => {
    const number = parseInt(colour.slice(1), 16);
    return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
};
