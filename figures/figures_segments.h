/* figures/figures_segments.h - segments of a form in a figure: as colours, and as the tree in which they hang. */
#ifndef EXEMPLAR_CLI_FIGURES_SEGMENTS_H
#define EXEMPLAR_CLI_FIGURES_SEGMENTS_H

#include "figures.h"

#include <exemplar/author/canvas.h>

/* The shot's form, whose mesh is given, in the colours of its segments; def without items. */
ex_result exi_figures_segments_image(const ex_mesh *mesh, const exi_shot *shot, ex_render_def def, ex_image **image,
                                     ex_error *error);

/* The tree in the same colours around a point, the root to the left: numbers from 1. */
void exi_figures_segments_tree(ex_canvas *canvas, double x, double y, double room, const ex_segments *segments);

#endif
