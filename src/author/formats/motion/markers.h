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

/* Adds a sentence to the notes. False without memory. */
bool exi_markers_note(ex_markers *markers, const char *format, ...) EX_PRINTF(2, 3);

/*
 * Settles the unit and the up direction of markers just read, whose positions are in the file's axes and in metres by
 * the file's unit. stated: the direction that the file names, or NULL; usual: that of the format. unit_stated: the file
 * names its unit. Scales and turns the positions, and adds notes.
 */
ex_result exi_markers_settle(ex_markers *markers, const char *stated, const char *usual, bool unit_stated,
                             ex_error *error);

/* Name of the direction along an axis of the file, 0 to 2, by its sign. */
const char *exi_markers_direction(int axis, bool positive);

/* Rotates positions from the file's axes so that `up` becomes y; sets it. EX_ERROR_ARGUMENT if it is no direction. */
ex_result exi_markers_turn(ex_markers *markers, const char *up, ex_error *error);

#endif
