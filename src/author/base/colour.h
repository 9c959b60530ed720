/*
 * colour.h - colours of pictures: sRGB with alpha, the space in which differences look even, and maps from numbers to
 * colours that keep their order for people who do not see all of them. Private to authoring. Any thread.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_COLOUR_H
#define EXEMPLAR_AUTHOR_BASE_COLOUR_H

#include <stdbool.h>

/* Codes of sRGB, and how much of what lies below is covered, from 0 to 1. */
typedef struct exi_colour {
    unsigned char red, green, blue;
    double alpha;
} exi_colour;

/* From 0xRRGGBB, opaque; a grey; and a colour that covers only so much. */
exi_colour exi_colour_hex(unsigned code);
exi_colour exi_colour_grey(int code);
exi_colour exi_colour_faded(exi_colour colour, double alpha);
/* An opaque mixture that looks so far on the way to white; over white, the same in every viewer, which alpha is not. */
exi_colour exi_colour_paled(exi_colour colour, double part);

/* OKLab: lightness from 0 to 1, and two differences (green to red, blue to yellow). */
void exi_colour_to_oklab(exi_colour colour, double lab[3]);
/* The nearest colour that a screen has: its chroma is reduced as far as it takes, lightness and hue stay. */
exi_colour exi_colour_from_oklab(const double lab[3]);

/* Dark violet over blue and green to a light yellow, lightness rising evenly; t from 0 to 1. */
exi_colour exi_colour_sequential(double t);
/* Blue, light grey at 0, orange; t from -1 to 1, as dark on either side. */
exi_colour exi_colour_diverging(double t);

/* How the curve `index` of several is told from the others: eight colours, and beyond eight, dashes and another
 * lightness too. Lengths are in widths of the line; 0: no dashes. */
#define EXI_COLOUR_COUNT 8
typedef struct exi_look {
    exi_colour colour;
    double dash, gap;
} exi_look;
exi_look exi_colour_category(int index);

#endif
