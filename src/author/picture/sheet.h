/*
 * sheet.h - the maps of one plot: how they lie on the sheet and what their colours mean. Private to this folder.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_SHEET_H
#define EXEMPLAR_AUTHOR_PICTURE_SHEET_H

#include "author/picture/plot.h"

/* Bands of colour between two contours. */
#define EXI_SHEET_BANDS 2

typedef struct exi_sheet {
    const exi_plot *plot;
    exi_canvas *canvas;
    exi_labels labels;
    int columns, rows;
    double width, height; /* of a map */
    bool diverging;       /* there are weights below 0 */
    double limit;         /* the weight that has the last colour */
    double step;          /* between two contours */
} exi_sheet;

/* plot_maps.c: where map `index` lies; and the bands, from -count / 2 on: band b has the weights from b to b + 1 times
 * step / EXI_SHEET_BANDS. */
exi_box exi_sheet_map(const exi_sheet *sheet, int index);
int exi_sheet_bands(const exi_sheet *sheet);
exi_colour exi_sheet_colour(const exi_sheet *sheet, int band, bool pale);

/* plot_map.c: one map with its example's name and, where it stands at the edge, its axes. */
ex_result exi_sheet_draw_map(exi_sheet *sheet, int index, ex_error *error);

#endif
