/*
 * labels.h - where labels may stand so that none lies upon another. Private to authoring.
 *
 * Whoever draws text into a picture asks here first: a label has places where it could stand, the best first, and takes
 * the first that is free; what has no place is left out rather than written over something.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_CANVAS_LABELS_H
#define EXEMPLAR_AUTHOR_PICTURE_CANVAS_LABELS_H

#include "author/picture/canvas/canvas.h"

typedef struct exi_labels {
    exi_box bounds; /* no label leaves it */
    exi_box *boxes; /* what is taken */
    size_t count, capacity;
    bool failed; /* without memory: nothing is free any more */
} exi_labels;

void exi_labels_free(exi_labels *labels);

/* Whether two boxes have a common inside. */
bool exi_box_overlaps(exi_box a, exi_box b);

/* Takes a box, whether it is free or not. */
void exi_labels_take(exi_labels *labels, exi_box box);
bool exi_labels_is_free(const exi_labels *labels, exi_box box);

/* One text and the anchors it may have, each with the way it is anchored. */
typedef struct exi_label_place {
    double x, y;
    exi_across across;
    exi_along along;
} exi_label_place;

/* Draws the text at the first place that is free and takes it; false where none is. */
bool exi_labels_draw(exi_labels *labels, exi_canvas *canvas, const exi_label_place *places, int count,
                     const exi_type *type, const char *text);
/* The places around a point, at a distance from it: the corners first, for lines run through points more often
 * level and upright than slanting. */
#define EXI_LABEL_AROUND 8
void exi_labels_around(double x, double y, double distance, exi_label_place places[EXI_LABEL_AROUND]);

/*
 * Labels in one column, each `height` high and wanted at centres[i]: moves the centres so that none overlap and all lie
 * between low and high, keeping their order and the sum of squared moves as small as it can be. False where they do not
 * fit, or without memory; the centres are then as they were.
 */
bool exi_labels_spread(double *centres, int count, double height, double low, double high);

/* The text, or as much of it as fits into a width at a size with … after it: into a buffer that is returned. */
#define EXI_LABEL_SIZE 272
const char *exi_label_fit(char buffer[EXI_LABEL_SIZE], const char *text, double size, double width);

#endif
