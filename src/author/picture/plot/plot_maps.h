/*
 * plot_maps.h - the maps of one plot: their layout and colour scale. Private to this folder.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_PLOT_PLOT_MAPS_H
#define EXEMPLAR_AUTHOR_PICTURE_PLOT_PLOT_MAPS_H

#include "author/picture/plot/plot.h"

/* Colour bands between two contours. */
#define EXI_MAPS_BANDS 2

typedef struct exi_maps {
    const exi_plot *plot; /* the panel that is drawn; map i is at place i * plot->count + plot->number */
    ex_canvas *canvas;
    exi_labels labels;
    int columns, rows;
    double width, height; /* size of a map */
    bool diverging;       /* true if there are weights below 0 */
    double limit;         /* weight that has the last colour */
    double step;          /* weight between two contours */
} exi_maps;

static inline int exi_maps_place(const exi_maps *maps, int index) {
    return index * maps->plot->count + maps->plot->number;
}

/* plot_maps.c: the box of map `index`; and the bands, from -count / 2 on. Band b covers the weights from b to b + 1
 * times step / EXI_MAPS_BANDS. */
ex_box exi_maps_box(const exi_maps *maps, int index);
int exi_maps_bands(const exi_maps *maps);
ex_colour exi_maps_colour(const exi_maps *maps, int band, bool pale);

/* plot_map.c: draws one map with its example's name and, at the edge of the picture, its axes. */
ex_result exi_maps_draw_one(exi_maps *maps, int index, ex_error *error);

#endif
