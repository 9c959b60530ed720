/*
 * Colour maps, computed in OKLab (B. Ottosson, "A perceptual color space for image processing", 2020), in which equal
 * steps look equal; the matrices below are the published ones. A map is a path through lightness and hue. If a screen
 * cannot show the wanted chroma, the largest that it can show is found by bisection.
 *
 * The categories are those of M. Okabe and K. Ito ("Color Universal Design", 2008), chosen to stay distinct for people
 * who lack one of the three kinds of cones. Their order is ours: each is far from the one before it also in simulated
 * deuteranopia and protanopia (tests), and yellow, which hardly shows as a line on white, comes last.
 */

#include <exemplar/author/colour.h>

#include <math.h>

static const double pi = 3.14159265358979323846;

ex_colour ex_colour_hex(unsigned code) {
    return (ex_colour){(unsigned char)(code >> 16 & 255), (unsigned char)(code >> 8 & 255), (unsigned char)(code & 255),
                       1};
}

ex_colour ex_colour_grey(int code) {
    unsigned char level = (unsigned char)(code < 0 ? 0 : code > 255 ? 255 : code);
    return (ex_colour){level, level, level, 1};
}

ex_colour ex_colour_faded(ex_colour colour, double alpha) {
    colour.alpha *= alpha;
    return colour;
}

/* ---- OKLab ---- */

static double decode(double code) {
    return code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4);
}

static double encode(double linear) {
    return linear <= 0.0031308 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

void ex_colour_to_oklab(ex_colour colour, double lab[3]) {
    const double r = decode(colour.red / 255.0), g = decode(colour.green / 255.0), b = decode(colour.blue / 255.0);
    const double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
    lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
    lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

/* Converts to linear red, green and blue. True if a screen can show them. */
static bool linear_of(const double lab[3], double rgb[3]) {
    const double l = lab[0] + 0.3963377774 * lab[1] + 0.2158037573 * lab[2];
    const double m = lab[0] - 0.1055613458 * lab[1] - 0.0638541728 * lab[2];
    const double s = lab[0] - 0.0894841775 * lab[1] - 1.2914855480 * lab[2];
    rgb[0] = 4.0767416621 * l * l * l - 3.3077115913 * m * m * m + 0.2309699292 * s * s * s;
    rgb[1] = -1.2684380046 * l * l * l + 2.6097574011 * m * m * m - 0.3413193965 * s * s * s;
    rgb[2] = -0.0041960863 * l * l * l - 0.7034186147 * m * m * m + 1.7076147010 * s * s * s;
    const double slack = 1e-4; /* below a quarter of a code */
    for (int i = 0; i < 3; i++)
        if (!(rgb[i] >= -slack && rgb[i] <= 1 + slack))
            return false;
    return true;
}

static unsigned char code_of(double linear) {
    double code = 255 * encode(linear < 0 ? 0 : linear > 1 ? 1 : linear);
    return (unsigned char)(code + 0.5);
}

ex_colour ex_colour_from_oklab(const double lab[3]) {
    double rgb[3], low = 0, high = 1;
    if (!linear_of(lab, rgb)) {
        for (int step = 0; step < 24; step++) {
            const double part = (low + high) / 2;
            if (linear_of((double[]){lab[0], part * lab[1], part * lab[2]}, rgb))
                low = part;
            else
                high = part;
        }
        linear_of((double[]){lab[0], low * lab[1], low * lab[2]}, rgb);
    }
    return (ex_colour){code_of(rgb[0]), code_of(rgb[1]), code_of(rgb[2]), 1};
}

ex_colour ex_colour_paled(ex_colour colour, double part) {
    double lab[3];
    ex_colour_to_oklab(colour, lab);
    lab[0] += part * (1 - lab[0]);
    lab[1] -= part * lab[1];
    lab[2] -= part * lab[2];
    return ex_colour_from_oklab(lab);
}

/* ---- maps ---- */

static ex_colour of_hue(double lightness, double chroma, double degrees) {
    const double hue = degrees * pi / 180;
    return ex_colour_from_oklab((double[]){lightness, chroma * cos(hue), chroma * sin(hue)});
}

static double limited(double t, double low, double high) {
    return t > low ? t < high ? t : high : low; /* NaN becomes low */
}

ex_colour ex_colour_sequential(double t) {
    t = limited(t, 0, 1);
    /* Less chroma at the ends, so that the lightest colour is nearly white and steps stay even. */
    const double chroma = 0.04 + 0.085 * sin(pi * t);
    return of_hue(0.24 + 0.72 * t, chroma, 295 - 190 * t);
}

ex_colour ex_colour_diverging(double t) {
    t = limited(t, -1, 1);
    const double far = fabs(t);
    /* Orange has less lightness for its chroma than blue; both ends get the same lightness and chroma. */
    return of_hue(0.955 - 0.385 * far, 0.15 * pow(far, 0.85), t < 0 ? 252 : 52);
}

ex_look ex_colour_category(int index) {
    static const unsigned codes[EX_COLOUR_COUNT] = {
        0x0072B2, /* blue */
        0xD55E00, /* vermilion */
        0x56B4E9, /* sky blue */
        0xE69F00, /* orange */
        0xCC79A7, /* reddish purple */
        0x000000, /* black */
        0x009E73, /* bluish green */
        0xF0E442, /* yellow */
    };
    /* One dash pattern for each further round of the eight colours: dashes, short dashes, dots. */
    static const double patterns[4][2] = {{0, 0}, {5, 3}, {2.5, 2.5}, {0.5, 2.5}};
    static const double shades[4] = {1, 0.82, 1.12, 0.7};
    if (index < 0)
        index = 0;
    const int round = index / EX_COLOUR_COUNT % 4;
    ex_look look = {ex_colour_hex(codes[index % EX_COLOUR_COUNT]), patterns[round][0], patterns[round][1]};
    if (round > 0) {
        double lab[3];
        ex_colour_to_oklab(look.colour, lab);
        lab[0] = lab[0] == 0 ? 0.15 * round : limited(lab[0] * shades[round], 0, 0.9);
        look.colour = ex_colour_from_oklab(lab);
    }
    return look;
}
