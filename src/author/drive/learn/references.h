/*
 * references.h - the reference animations that a rig is learned from, frame by frame; and the moving frame of the whole
 * driver, in which its forms are compared. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_LEARN_REFERENCES_H
#define EXEMPLAR_AUTHOR_DRIVE_LEARN_REFERENCES_H

#include "runtime/base/result.h"

#include <exemplar/author/drive.h>

typedef struct exi_reference {
    ex_cache_reader *driver, *driven;
    const ex_drive_reference *from;
    int first; /* index of its first frame among the frames of all references */
    int frame_count;
    double database;
} exi_reference;

typedef struct exi_references {
    int count;
    exi_reference *items;           /* [count] */
    int frame_count;                /* over all references */
    int driver_count, driven_count; /* numbers of vertices */
    const ex_mesh *driver, *driven;
    double driven_scale; /* factor for the positions of driven caches */
} exi_references;

/* Opens every cache; checks it against the meshes and its partner. Call exi_references_close even after a failure. */
ex_result exi_references_open(exi_references *refs, const ex_learn_def *def, ex_error *error);
void exi_references_close(exi_references *refs);
/* Refuses driven forms in another unit than their driver, or far from it (references_fit.c). */
ex_result exi_references_check_fit(const exi_references *refs, ex_error *error);

/* Returns the reference that a frame belongs to, counting frames over all references. */
const exi_reference *exi_references_of(const exi_references *refs, int frame);
/* Reads one frame, counted over all references. Either form may be NULL. */
ex_result exi_references_read(const exi_references *refs, int frame, float *driver, float *driven, ex_error *error);

/* ---- the whole driver's moving frame ---- */

typedef struct exi_whole {
    ex_driver *driver;
    float *weights; /* [vertex_count]: weights for comparing forms: area times given weight, of sum 1 */
} exi_whole;

/* Fits the frame to all vertices, or to those of a group, weighted by area. For the other options the frame stays where
 * it is; also for a joint, since caches have no joints. Call exi_whole_close even after a failure. */
ex_result exi_whole_open(exi_whole *whole, const ex_mesh *driver, const ex_drive_options *options, ex_error *error);
void exi_whole_close(exi_whole *whole);

/* out = T^-1 form, T rigid: removes the driver's motion; and the inverse, out = T form. Both may work in place. */
void exi_whole_back(const float matrix[12], const float *form, int count, float *out);
void exi_whole_move(const float matrix[12], const float *form, int count, float *out);

/* Sum over vertices of weighted squared distances. */
double exi_form_squares(const float *a, const float *b, const float *weights, int count);
/* Mean distance over vertices. */
double exi_form_mean(const float *a, const float *b, int count);

#endif
