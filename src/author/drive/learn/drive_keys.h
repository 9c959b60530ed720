/* drive_keys.h - the keys of a driven rig beside each other; private to authoring and the tool. */
#ifndef EXEMPLAR_AUTHOR_DRIVE_LEARN_DRIVE_KEYS_H
#define EXEMPLAR_AUTHOR_DRIVE_LEARN_DRIVE_KEYS_H

#include "author/drive/learn/references.h"

/* Roots of mean squares over the driver's surface, in the moving frame of the whole. */
typedef struct exi_key_distance {
    double from_mesh; /* from the driver's mesh */
    int nearest;      /* the nearest other key of the same database; -1: none */
    double distance;  /* from it */
} exi_key_distance;

/* distances [key_count]. */
ex_result exi_key_distances(const ex_drive_def *def, exi_key_distance *distances, ex_error *error);

#endif
