/*
 * references.h - the animations that are learned from, frame by frame; and the moving frame of the whole driver, in
 * which its forms are compared. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_LEARN_REFERENCES_H
#define EXEMPLAR_AUTHOR_DRIVE_LEARN_REFERENCES_H

#include "runtime/base/result.h"

#include <exemplar/author/drive.h>

typedef struct exi_reference {
    ex_cache_reader *driver, *driven;
    const ex_drive_reference *from;
    int first; /* its first frame among those of all */
    int frame_count;
    double database;
} exi_reference;

typedef struct exi_references {
    int count;
    exi_reference *items;           /* [count] */
    int frame_count;                /* of all */
    int driver_count, driven_count; /* vertices */
    const ex_mesh *driver, *driven;
} exi_references;

/* Opens every cache and checks it against the meshes and against its partner; exi_references_close either way. */
ex_result exi_references_open(exi_references *refs, const ex_learn_def *def, ex_error *error);
void exi_references_close(exi_references *refs);

/* The reference that a frame of all belongs to. */
const exi_reference *exi_references_of(const exi_references *refs, int frame);
/* One frame of all; either form may be NULL. */
ex_result exi_references_read(const exi_references *refs, int frame, float *driver, float *driven, ex_error *error);

/* ---- the whole driver's moving frame ---- */

typedef struct exi_whole {
    ex_driver *driver;
    float *weights; /* [vertex_count]: what vertices count for when forms are compared: their areas, times what was
                       asked for; they sum to 1 */
} exi_whole;

/* Fitted to all vertices, or to a group's, each counting by its area; one that stays where it is for the others: with a
 * joint, which caches have none of, too. exi_whole_close either way. */
ex_result exi_whole_open(exi_whole *whole, const ex_mesh *driver, const ex_drive_options *options, ex_error *error);
void exi_whole_close(exi_whole *whole);

/* out = T^-1 form, T rigid: where it would be had the driver not moved; and out = T form. Each may be in place. */
void exi_whole_back(const float matrix[12], const float *form, int count, float *out);
void exi_whole_move(const float matrix[12], const float *form, int count, float *out);

/* Sum over vertices of the squares of distances, each times its weight. */
double exi_form_squares(const float *a, const float *b, const float *weights, int count);
/* Mean over vertices of the distances. */
double exi_form_mean(const float *a, const float *b, int count);

/* Tells of progress; false where the caller wants it to stop. */
bool exi_drive_tell(const ex_progress *progress, const char *doing, double part);
ex_result exi_drive_stopped(ex_error *error);

#endif
