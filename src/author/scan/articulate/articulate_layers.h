/*
 * articulate_layers.h - layers of an articulation with forms left out; private to src/author/scan.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_ARTICULATE_ARTICULATE_LAYERS_H
#define EXEMPLAR_AUTHOR_SCAN_ARTICULATE_ARTICULATE_LAYERS_H

#include "author/scan/articulate/articulation.h"

/* Returns the gaussian of two poses' rotations [joint_count][4] at some joints. */
double exi_art_kernel(double (*p)[4], double (*q)[4], const int *axes, int axis_count, double falloff);
/* Makes layers of the forms that are not left out; needs a net. */
ex_result exi_art_find_layers(const exi_articulation *a, ex_articulated_layers **layers, ex_error *error);
/* Computes what they add to the rest form [vertex_count][3]. */
ex_result exi_art_evaluate_layers(const exi_articulation *a, const ex_articulated_layers *layers, double (*turns)[4],
                                  double *deltas, ex_error *error);

#endif
