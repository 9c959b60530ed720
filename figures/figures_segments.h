/* figures/figures_segments.h - draws the segments of a form in a figure, as colours and as a tree. */
#ifndef EXEMPLAR_CLI_FIGURES_SEGMENTS_H
#define EXEMPLAR_CLI_FIGURES_SEGMENTS_H

#include "figures.h"

#include <exemplar/author/canvas.h>

/* Renders the shot's form on the given mesh, in the colours of its segments; def has no items. */
ex_result exi_figures_segments_image(const ex_mesh *mesh, const exi_shot *shot, ex_render_def def, ex_image **image,
                                     ex_error *error);

/* Draws the tree in the same colours around a point, with the root at the left; numbers start at 1. */
void exi_figures_segments_tree(ex_canvas *canvas, double x, double y, double room, const ex_segments *segments);

#endif
