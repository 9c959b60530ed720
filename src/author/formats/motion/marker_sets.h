/*
 * marker_sets.h - what the names of markers mean in the usual marker sets: the bone, and the place on it. Facts as one
 * table; used by the readers of marker files and by motion capture.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_MOTION_MARKER_SETS_H
#define EXEMPLAR_AUTHOR_FORMATS_MOTION_MARKER_SETS_H

#include <stdbool.h>

typedef enum exi_marker_kind {
    EXI_MARKER_PLACE,    /* a place on the body that can be felt: `at` is good to a few centimetres */
    EXI_MARKER_BONE,     /* only the bone is known: a marker of a cluster, or a wand */
    EXI_MARKER_COMPUTED, /* a point that another program computed, such as the centre of a joint: not a marker */
    EXI_MARKER_NUMBERS,  /* no point at all: angles, forces, moments or powers of a model */
    EXI_MARKER_BLANK,    /* has no label: *12, U3, point7 */
    EXI_MARKER_UNKNOWN
} exi_marker_kind;

typedef struct exi_marker_meaning {
    exi_marker_kind kind;
    int place;        /* number of the place without its side; -1 if it is none */
    int side;         /* 1: left, -1: right, 0: in the middle */
    char joint[24];   /* of the skeleton "full"; "" if it has no bone */
    double at[3];     /* relative to the joint, in the axes of "full" (an adult with the arms held out) */
    double height;    /* of a standing adult's marker above the floor, metres */
    double across[2]; /* the same: to the left, and forwards */
} exi_marker_meaning;

/* Looks a name up, without regard to case, punctuation and the subject's prefix. Sides may be before or after:
 * "R.Knee.Lat", "LKNE", "LeftKnee", "Knee_L". */
exi_marker_meaning exi_marker_look_up(const char *name);

/* Keeps letters, in upper case, and digits; drops a prefix that ends in a colon. */
enum { EXI_MARKER_WORD = 48 };
void exi_marker_word(const char *name, char word[EXI_MARKER_WORD]);

#endif
