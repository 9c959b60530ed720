/*
 * wear.h - what happens to a garment after its rig has settled it on the driver: crossings with itself are removed, and
 * it is put over other garments. Private to this folder.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_APPLY_WEAR_H
#define EXEMPLAR_AUTHOR_DRIVE_APPLY_WEAR_H

#include <exemplar/author/drive.h>

/* A garment below this one. */
typedef struct exi_wear_layer {
    const char *path;
    ex_cache_reader *reader;
    int vertex_count;
    int first; /* its frame at the first frame in use */
    float *form;
    ex_settler *settler;
    void *scratch, *state;
} exi_wear_layer;

typedef struct exi_wear {
    const ex_apply_def *def;
    ex_rig_driver driver; /* pointers into the rig */
    ex_bind binds[EX_BIND_MAX];
    int vertex_count;
    bool push;   /* true to push out of the driver */
    bool counts; /* true to count vertices inside garments below */
    ex_untangler *untangler;
    void *untangler_scratch;
    ex_settler *settler; /* of the driver, without keys */
    void *settler_scratch;
    float *gaps, *copy; /* [vertex_count], [vertex_count][3] */
    exi_wear_layer *layers;
    int layer_count;
} exi_wear;

/* Figures of a frame; -1 if they were not measured. */
typedef struct exi_worn {
    int crossings_before, crossings;
    int covered_before, covered; /* vertices inside a garment below, at any depth */
} exi_worn;

/* report: true to count what is inside garments below, and, unless def->brief, crossings in every frame. Call
 * exi_wear_close even after a failure. */
ex_result exi_wear_open(exi_wear *wear, const ex_apply_def *def, int frame_count, bool report, ex_error *error);
/* Changes the form [vertex_count][3], which the rig made for that form of the driver. */
ex_result exi_wear_frame(exi_wear *wear, int frame, const float *driver, float *form, exi_worn *worn, ex_error *error);
/* Counts crossing triangles of a form; -1 without an untangler. */
int exi_wear_count(const exi_wear *wear, const float *form);
void exi_wear_close(exi_wear *wear);

#endif
