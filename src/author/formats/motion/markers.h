/*
 * markers.h - shared by readers of marker files: names, units, and the up direction; private to the formats.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_MOTION_MARKERS_H
#define EXEMPLAR_AUTHOR_FORMATS_MOTION_MARKERS_H

#include "runtime/base/result.h"

#include <exemplar/author/markers.h>

/* Coordinates beyond this many metres are invalid. */
#define EXI_MARKER_FAR 1e6

/* Compares, ignoring case. */
bool exi_markers_same_word(const char *a, const char *b);

/* Metres per unit of that name; 0 if the unit is unknown. */
double exi_markers_unit(const char *unit);

/* Removes the subject's prefix from names if they stay unique, names markers that have no name, and makes names unique.
 * False without memory. */
bool exi_markers_tidy_names(ex_markers *markers);

/* Guesses the up direction from the positions, which must be in the file's axes. Returns `otherwise` if they do not
 * tell, NULL without memory. */
const char *exi_markers_guess_up(const ex_markers *markers, const char *otherwise);

/* Rotates positions from the file's axes so that `up` becomes y; sets it. EX_ERROR_ARGUMENT if it is no direction. */
ex_result exi_markers_turn(ex_markers *markers, const char *up, ex_error *error);

#endif
