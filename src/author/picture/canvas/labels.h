/*
 * labels.h - where labels may stand so that none lies upon another. Private to authoring.
 *
 * Whoever draws text into a picture asks here first: a label has places where it could stand, the best first, and takes
 * the first that is free; what has no place is left out rather than written over something.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_CANVAS_LABELS_H
#define EXEMPLAR_AUTHOR_PICTURE_CANVAS_LABELS_H

#include <exemplar/author/canvas.h>

typedef struct exi_labels {
    ex_box bounds; /* no label leaves it */
    ex_box *boxes; /* what is taken */
    size_t count, capacity;
    bool failed; /* without memory: nothing is free any more */
} exi_labels;

void exi_labels_free(exi_labels *labels);

/* Whether two boxes have a common inside. */
bool exi_box_overlaps(ex_box a, ex_box b);

/* Takes a box, whether it is free or not. */
void exi_labels_take(exi_labels *labels, ex_box box);
bool exi_labels_is_free(const exi_labels *labels, ex_box box);

/* One text and the anchors it may have, each with the way it is anchored. */
typedef struct exi_label_place {
    double x, y;
    ex_across across;
    ex_along along;
} exi_label_place;

/* Draws the text at the first place that is free and takes it; false where none is. */
bool exi_labels_draw(exi_labels *labels, ex_canvas *canvas, const exi_label_place *places, int count,
                     const ex_lettering *type, const char *text);
/* The places around a point, at a distance from it: the corners first, for lines run through points more often
 * level and upright than slanting. */
#define EXI_LABEL_AROUND 8
void exi_labels_around(double x, double y, double distance, exi_label_place places[EXI_LABEL_AROUND]);

/* Every text that was drawn, in order, and its box: for tests that look whether any two overlap. */
int exi_canvas_text_count(const ex_canvas *canvas);
ex_box exi_canvas_text(const ex_canvas *canvas, int index, const char **text);

#endif
