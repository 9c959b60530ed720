// Colours for numbers: from dark violet to light yellow, in even steps of lightness. Computed in Oklab (Björn Ottosson
// 2020, bottosson.github.io/posts/oklab): lightness rises evenly while the hue turns from violet through blue and green
// to yellow.

const SIZE = 256;

// Oklab to linear RGB, with the published matrices.
const linearOf = (l: number, a: number, b: number): number[] => {
    const [p, q, r] = [
        (l + 0.3963377774 * a + 0.2158037573 * b) ** 3,
        (l - 0.1055613458 * a - 0.0638541728 * b) ** 3,
        (l - 0.0894841775 * a - 1.291485548 * b) ** 3,
    ];
    return [
        4.0767416621 * p - 3.3077115913 * q + 0.2309699292 * r,
        -1.2684380046 * p + 2.6097574011 * q - 0.3413193965 * r,
        -0.0041960863 * p - 0.7034186147 * q + 1.707614701 * r,
    ];
};
const encode = (v: number): number => (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055);

const colourAt = (t: number): number[] => {
    const hue = ((300 - 195 * t) * Math.PI) / 180;
    let chroma = 0.12 + 0.05 * t;
    // The strongest colour that a screen can show at that lightness and hue.
    for (;;) {
        const rgb = linearOf(0.4 + 0.51 * t, chroma * Math.cos(hue), chroma * Math.sin(hue));
        if (chroma < 0.01 || rgb.every((v) => v >= 0 && v <= 1)) return rgb.map((v) => 255 * encode(Math.min(1, Math.max(0, v))));
        chroma -= 0.004;
    }
};

/** RGBA for 0 to 1 in 256 steps, as sRGB bytes. */
export const colourTable = (): Uint8Array => {
    const table = new Uint8Array(4 * SIZE);
    for (let i = 0; i < SIZE; i++) table.set([...colourAt(i / (SIZE - 1)).map(Math.round), 255], 4 * i);
    return table;
};

/** The same as a CSS gradient. */
export const colourGradient = (): string => {
    const stops = Array.from({ length: 13 }, (_, i) => `rgb(${colourAt(i / 12).map(Math.round).join(" ")})`);
    return `linear-gradient(to right, ${stops.join(", ")})`;
};

/** The value rounded up to 1, 2, 5, 10, … */
export const roundUp = (value: number): number => {
    if (!(value > 0)) return 1;
    const power = 10 ** Math.floor(Math.log10(value));
    return power * ([1, 2, 5].find((step) => step * power >= 0.999999 * value) ?? 10);
};

/** A length in a suitable unit. */
export const showLength = (metres: number, unitOf = metres): string => {
    const [factor, unit] = unitOf < 0.02 ? [1000, "mm"] : unitOf < 1 ? [100, "cm"] : [1, "m"];
    return `${Number((metres * factor).toPrecision(3))} ${unit}`;
};
