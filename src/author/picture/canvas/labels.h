/*
 * labels.h - places labels in a picture so that none overlaps another. Private to authoring.
 *
 * A label has candidate places, best first, and takes the first that is free. A label without a free place is left out
 * rather than drawn over something. All code that draws text into a picture uses this.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_CANVAS_LABELS_H
#define EXEMPLAR_AUTHOR_PICTURE_CANVAS_LABELS_H

#include <exemplar/author/canvas.h>

typedef struct exi_labels {
    ex_box bounds; /* labels stay inside it */
    ex_box *boxes; /* boxes already taken */
    size_t count, capacity;
    bool failed; /* out of memory: no place is free any more */
} exi_labels;

void exi_labels_free(exi_labels *labels);

/* True if the insides of two boxes overlap. */
bool exi_box_overlaps(ex_box a, ex_box b);

/* Marks a box as taken, free or not. */
void exi_labels_take(exi_labels *labels, ex_box box);
bool exi_labels_is_free(const exi_labels *labels, ex_box box);

/* A text's candidate anchor and its alignment there. */
typedef struct exi_label_place {
    double x, y;
    ex_across across;
    ex_along along;
} exi_label_place;

/* Draws the text at the first free place and takes that place; false if none is free. */
bool exi_labels_draw(exi_labels *labels, ex_canvas *canvas, const exi_label_place *places, int count,
                     const ex_lettering *type, const char *text);
/* The places around a point, at a distance from it. Corners come first, because lines through points are more often
 * horizontal or vertical than slanted. */
#define EXI_LABEL_AROUND 8
void exi_labels_around(double x, double y, double distance, exi_label_place places[EXI_LABEL_AROUND]);

/* All texts drawn, in order, and their boxes; tests use them to find overlaps. */
int exi_canvas_text_count(const ex_canvas *canvas);
ex_box exi_canvas_text(const ex_canvas *canvas, int index, const char **text);

/* ex_labels_spread, which tells if they fit from lack of memory: false without memory. */
bool exi_labels_spread(double *centres, int count, double height, double low, double high, bool *fit);

#endif
