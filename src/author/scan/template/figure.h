/*
 * figure.h - the dials of a scanned body; private to src/author/scan.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_TEMPLATE_FIGURE_H
#define EXEMPLAR_AUTHOR_SCAN_TEMPLATE_FIGURE_H

#include "author/scan/build/body_build.h"

#include <jansson.h>

/* Adds the layer `figure` (figure 8): girth and the lengths of bones as dials, with forms and joints in figure/. */
ex_result exi_body_add_figure(exi_body *body, json_t *layers);

#endif
