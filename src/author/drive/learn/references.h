/*
 * references.h - the reference animations that a rig is learned from, frame by frame; and the moving frame of the whole
 * driver, in which its forms are compared. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_LEARN_REFERENCES_H
#define EXEMPLAR_AUTHOR_DRIVE_LEARN_REFERENCES_H

#include "runtime/base/result.h"

#include <exemplar/author/drive.h>

/* ---- takes: the used part of a cache (takes.c) ---- */

/* Checks a range of a cache, and a frame rate, of which 0 means all and none. Returns the number of used frames in
 * *used. */
ex_result exi_take_check(const ex_cache_reader *reader, const char *path, int first, int count, double rate, int *used,
                         ex_error *error);
/* As ex_drive_check_pair, for frames `first` to first + count - 1. */
ex_result exi_take_check_pair(const ex_cache_reader *driver, const char *driver_path, const ex_cache_reader *driven,
                              const char *driven_path, int first, int count, ex_error *error);
/* Checks the factor for the positions of a cache. what: "driver" or "driven". */
ex_result exi_take_check_scale(double scale, const char *what, ex_error *error);
/* As ex_drive_read_frame, with positions multiplied by the scale before they are checked; 0 means 1. */
ex_result exi_take_read(ex_cache_reader *reader, const char *path, int frame, double scale, float *positions,
                        ex_error *error);

/* Finds the driver of a rig and the layer that follows it. Refuses a rig that has none, or that needs joints, which a
 * cache does not hold. */
ex_result exi_take_check_rig(const ex_rig *rig, ex_rig_driver *driver, int *layer, ex_error *error);

/* The used part of a cache. */
typedef struct exi_take {
    ex_cache_reader *reader;
    const char *path;
    int first, count;
    double rate, scale;
} exi_take;

/* Makes a past of the driver before its first used frame, for a predictor to observe: forms past [2][vertices][3],
 * equal *seconds apart from each other and from the first frame. form [vertices][3] is memory to work in. *seconds is
 * 0, and past undefined, if the take is too short to tell how it moves. */
ex_result exi_take_past(const exi_take *take, const ex_predictor *predictor, float *past, float *form, double *seconds,
                        ex_error *error);

/* ---- references ---- */

typedef struct exi_reference {
    ex_cache_reader *driver, *driven; /* NULL if it was gathered into a file */
    const ex_drive_reference *from;
    int first;       /* index of its first frame among the frames of all references */
    int frame_count; /* number of frames that are kept: all used ones, or some of many */
    int used_count;  /* number of used frames */
    int start;       /* number of the first frame of its caches, as people count: over all caches, from 0 */
    double database;
    const int *kept;       /* [frame_count]: frames of the caches, rising; NULL: all used ones */
    const uint8_t *spread; /* [frame_count]: true for evenly spread frames, which errors are measured on; NULL: all */
    int spread_count;
    const float *forms;          /* of a gathered file, [frame_count][driver and driven vertices, padded][3]; or NULL */
    const ex_gathered *gathered; /* that file, or NULL */
    int *own_kept;               /* or NULL: released with the references */
    uint8_t *own_spread;         /* likewise */
} exi_reference;

typedef struct exi_references {
    int count;
    exi_reference *items;           /* [count] */
    int frame_count;                /* kept frames of all references */
    int used_count;                 /* used frames of all references */
    int number_count;               /* all frames of all references, used or not */
    int driver_count, driven_count; /* numbers of vertices */
    const ex_mesh *driver, *driven;
    double driver_scale, driven_scale; /* factors for the positions of the caches */
} exi_references;

/* Opens every cache; checks it against the meshes and its partner. Call exi_references_close even after a failure. */
ex_result exi_references_open(exi_references *refs, const ex_learn_def *def, ex_error *error);
/* The same for gathered files [def->reference_count]: no cache is opened. */
ex_result exi_references_from(exi_references *refs, const ex_learn_def *def, ex_gathered *const *files,
                              ex_error *error);
void exi_references_close(exi_references *refs);
/* Keeps only some frames of a reference: frames of its caches [count], rising, and which of them are evenly spread.
 * Both arrays then belong to the references. */
void exi_references_keep(exi_references *refs, int reference, int *frames, uint8_t *spread, int count);
/* Refuses driven forms in another unit than their driver, or far from it (references_fit.c). */
ex_result exi_references_check_fit(const exi_references *refs, ex_error *error);

/* Frames are indices from 0 to frame_count - 1: the kept frames of all references, one after the other. */

/* Returns the reference that a frame belongs to, its take. */
const exi_reference *exi_references_of(const exi_references *refs, int frame);
/* Returns the place of a frame in its caches, from 0. */
int exi_references_place(const exi_references *refs, int frame);
/* True for frames that errors are measured on: all, or evenly spread ones of a reference with very many. */
bool exi_references_is_spread(const exi_references *refs, int frame);
/* Returns the number of used frames that a frame stands for when errors are averaged: 1 if all are kept. */
double exi_references_share(const exi_references *refs, int frame);
/* Returns a frame's time, in seconds since the first used frame of its take, for references that are caches. Times
 * never fall within a take; they may repeat if those of the cache do. */
double exi_references_time(const exi_references *refs, int frame);
/* Returns the number of a frame, from 0, for messages and names (ex_drive_reference); and the frame of that number, -1
 * if it is not used. */
int exi_references_number(const exi_references *refs, int frame);
int exi_references_find(const exi_references *refs, int number);
/* Reads one frame. Either form may be NULL. */
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
