/*
 * markers.h - what readers of marker files share: names, units, and which way is up; private to the formats.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_MOTION_MARKERS_H
#define EXEMPLAR_AUTHOR_FORMATS_MOTION_MARKERS_H

#include "runtime/base/result.h"

#include <exemplar/author/markers.h>

/* Coordinates beyond this many metres are no places of markers. */
#define EXI_MARKER_FAR 1e6

/* Without regard to case. */
bool exi_markers_same_word(const char *a, const char *b);

/* Metres in a unit of that name; 0 where it is none. */
double exi_markers_unit(const char *unit);

/* Takes the subject's prefix off names where they stay different without it, gives names to those that have none, and
 * makes names different. False without memory. */
bool exi_markers_tidy_names(ex_markers *markers);

/* The direction that is up, NULL without memory, by how the positions lie, which are as the file has them; `otherwise`
 * where they do not say. */
const char *exi_markers_guess_up(const ex_markers *markers, const char *otherwise);

/* Turns positions from the file's axes so that `up` is y; sets it. EX_ERROR_ARGUMENT where it is no direction. */
ex_result exi_markers_turn(ex_markers *markers, const char *up, ex_error *error);

#endif
