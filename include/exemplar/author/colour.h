/*
 * exemplar/author/colour.h - colours of pictures: sRGB with alpha, OKLab, in which equal distances look equal, and maps
 * from numbers to colours that keep their order for colour-blind readers. Thread-safe.
 */
#ifndef EXEMPLAR_AUTHOR_COLOUR_H
#define EXEMPLAR_AUTHOR_COLOUR_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A colour: sRGB codes, and alpha, the fraction of the background that is covered, from 0 to 1. */
typedef struct ex_colour {
    unsigned char red, green, blue;
    double alpha;
} ex_colour;

/* Return an opaque colour from 0xRRGGBB, a grey, a colour with another alpha. */
EX_API ex_colour ex_colour_hex(unsigned code);
EX_API ex_colour ex_colour_grey(int code);
EX_API ex_colour ex_colour_faded(ex_colour colour, double alpha);
/* Returns an opaque mixture that looks `part` of the way to white. Over white it looks the same in every viewer, which
 * alpha does not. */
EX_API ex_colour ex_colour_paled(ex_colour colour, double part);

/* Converts to OKLab: lightness from 0 to 1, and two differences (green to red, blue to yellow). */
EX_API void ex_colour_to_oklab(ex_colour colour, double lab[3]);
/* Returns the nearest displayable colour: reduces chroma as needed, keeps lightness and hue. */
EX_API ex_colour ex_colour_from_oklab(const double lab[3]);

/* Returns a colour for t from 0 to 1: dark violet through blue and green to a light yellow, lightness rising evenly. */
EX_API ex_colour ex_colour_sequential(double t);
/* Returns a colour for t from -1 to 1: blue, light grey at 0, orange, equally dark at both ends. */
EX_API ex_colour ex_colour_diverging(double t);

/* A style that tells one curve from the others: eight colours, and beyond eight also dashes and another lightness.
 * Lengths are in line widths; 0: no dashes. */
#define EX_COLOUR_COUNT 8
typedef struct ex_look {
    ex_colour colour;
    double dash, gap;
} ex_look;
/* Returns the style of curve `index`. */
EX_API ex_look ex_colour_category(int index);

#ifdef __cplusplus
}
#endif
#endif
