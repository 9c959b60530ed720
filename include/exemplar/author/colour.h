/*
 * exemplar/author/colour.h - colours of pictures: sRGB with alpha, the space in which differences look even, and maps
 * from numbers to colours that keep their order for people who do not see all of them. Any thread.
 */
#ifndef EXEMPLAR_AUTHOR_COLOUR_H
#define EXEMPLAR_AUTHOR_COLOUR_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Codes of sRGB, and how much of what lies below is covered, from 0 to 1. */
typedef struct ex_colour {
    unsigned char red, green, blue;
    double alpha;
} ex_colour;

/* From 0xRRGGBB, opaque; a grey; and a colour that covers only so much. */
EX_API ex_colour ex_colour_hex(unsigned code);
EX_API ex_colour ex_colour_grey(int code);
EX_API ex_colour ex_colour_faded(ex_colour colour, double alpha);
/* An opaque mixture that looks so far on the way to white; over white, the same in every viewer, which alpha is not. */
EX_API ex_colour ex_colour_paled(ex_colour colour, double part);

/* OKLab: lightness from 0 to 1, and two differences (green to red, blue to yellow). */
EX_API void ex_colour_to_oklab(ex_colour colour, double lab[3]);
/* The nearest colour that a screen has: its chroma is reduced as far as it takes, lightness and hue stay. */
EX_API ex_colour ex_colour_from_oklab(const double lab[3]);

/* Dark violet over blue and green to a light yellow, lightness rising evenly; t from 0 to 1. */
EX_API ex_colour ex_colour_sequential(double t);
/* Blue, light grey at 0, orange; t from -1 to 1, as dark on either side. */
EX_API ex_colour ex_colour_diverging(double t);

/* How the curve `index` of several is told from the others: eight colours, and beyond eight, dashes and another
 * lightness too. Lengths are in widths of the line; 0: no dashes. */
#define EX_COLOUR_COUNT 8
typedef struct ex_look {
    ex_colour colour;
    double dash, gap;
} ex_look;
EX_API ex_look ex_colour_category(int index);

#ifdef __cplusplus
}
#endif
#endif
