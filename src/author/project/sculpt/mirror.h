/*
 * mirror.h - state of mirroring examples; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_H
#define EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_H

#include "author/project/sculpt/mirror_pose.h"

/* An example that was mirrored, and its image in the changed tree. */
typedef struct exi_image {
    int from, from_place; /* layer, and index in its list, of the example */
    int to, place;        /* of its image */
    bool new_layer;
    int damped_count;
    double *wanted; /* [vertex_count][3]: the mirrored sculpt, in metres with y up, if the example has one beside its
                       file; or NULL */
    ex_mirrored mirrored;
} exi_image;

/* An example that is mirrored after all others. */
typedef struct exi_put_off {
    int layer, place;
} exi_put_off;

typedef struct exi_mirroring {
    const ex_mirroring *def;
    ex_build_options options; /* the caller's, which also count damped vertices */
    exi_amendment amendment;
    exi_mirror mirror; /* its view is that of the changed tree */
    ex_rig *rig;       /* of the project as it was */
    ex_mesh *mesh;     /* the project's as in its file, without normals */
    exi_standing standing;
    exi_standing bound;            /* the mesh in its own space, if that was tried */
    bool as_bound;                 /* true: counterparts are those of the mesh as bound, which is more symmetric */
    exi_plane bound_plane;         /* its plane then */
    double metres;                 /* factor from the distances of counterparts to metres of the mesh as it stands */
    exi_counterpart *counterparts; /* [vertex_count] */
    double *linear;                /* [vertex_count][3][3]: from the mesh to the mesh as it stands; NULL: the same */
    bool many;                     /* true for a layer or a side */

    /* the current example */
    int from;                       /* index of its layer */
    int from_place;                 /* its index in the layer's list */
    const ex_project_layer *source; /* that layer, in the project as it was */
    const json_t *entry;            /* the example, in the original tree */
    exi_mirrored_axis *axes;        /* [axis_count] of that layer */
    int axis_count;
    int to; /* index of the layer that gets the mirrored example */
    bool new_layer;
    int place;
    bool skipped; /* true if it has no image of its own */

    int changed; /* first layer of the tree that changed since a rig was last built; INT_MAX: none */
    exi_image *images;
    size_t image_count, image_capacity;
    exi_put_off *put_off;
    size_t put_off_count, put_off_capacity;
    char taken[400]; /* the names of examples that are in the way */
    int taken_count;
    int left_out;        /* examples of the side, or of the layer, that cannot be mirrored */
    char left_text[400]; /* the first of them, and why */
} exi_mirroring;

/* Returns the mirrored axis of the axis of that name of the example's layer; NULL for another layer's. */
const exi_mirrored_axis *exi_mirroring_axis(const exi_mirroring *m, const char *name);
/* Checks that a falloff or metric given as a list over the axes holds in the layer that gets the example: the axes must
 * be in the same order. A new layer has them so. A metric also depends on their directions and units. */
ex_result exi_mirroring_check_list(const exi_mirroring *m, const char *key, const json_t *value, ex_error *error);
/* Returns {"axis": number} with the mirrored names and in their units; other kinds of falloff unchanged. NULL without
 * memory. */
json_t *exi_mirroring_falloff(const exi_mirroring *m, const json_t *falloff);
/* Mirrors the axes that a place names, in its order, including those of other layers. */
ex_result exi_mirroring_place(const exi_mirroring *m, const json_t *at, json_t **out, ex_error *error);

/* ---- layers (mirror_layer.c) ---- */

/* Finds the layer over the mirrored axes: m->to, and m->new_layer if there is none yet. */
ex_result exi_mirroring_find_layer(exi_mirroring *m, ex_error *error);
/* Appends a copy of the layer over the mirrored axes, without examples, to the changed tree. */
ex_result exi_mirroring_start_layer(exi_mirroring *m, ex_error *error);
/* Adds the mirror images of the pseudo-examples of m->from to the layer m->to, which has all images of its examples. */
ex_result exi_mirroring_pseudos(exi_mirroring *m, ex_error *error);

/* ---- forms (mirror_form.c) ---- */

/* Prepares counterparts: how the mesh stands, the plane, and joints in pairs. */
ex_result exi_mirroring_prepare(exi_mirroring *m, ex_error *error);
/* Writes the mirrored form of the example to a file, as the form of the example at m->place of m->to; and mirrors its
 * sculpt, if that is a file of its own. Fills in the image's `wanted` and `mirrored`. */
ex_result exi_mirroring_form(exi_mirroring *m, exi_image *image, ex_error *error);
/* With the rig built: makes the rig give the image its mirrored sculpt through the layers after it. */
ex_result exi_mirroring_fit(exi_mirroring *m, const exi_image *image, ex_error *error);
/* Mirrors values [vertex_count] of the mesh. NULL without memory; release with free. */
float *exi_mirroring_values(const exi_mirroring *m, const float *values);
void exi_mirroring_release(exi_mirroring *m);

#endif
