/*
 * project_trajectories.h - the trajectories of a layer while a project is built, checked or unpacked: found from its
 * examples, or taken from a rig; private to authoring.
 *
 *   project_trajectories.c  found, taken, and what they make of weights
 *   segments_file.c         files of segments
 *   trajectories_note.c     how they were found, as a rig keeps it
 *
 * An example's form is mesh + difference, in double: so paths that are found again after unpacking are the same to the
 * bit.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_BUILD_PROJECT_TRAJECTORIES_H
#define EXEMPLAR_AUTHOR_PROJECT_BUILD_PROJECT_TRAJECTORIES_H

#include "author/base/json.h"
#include "author/project/model/project.h"

#include <exemplar/author/trajectory.h>

typedef struct exi_project_trajectories {
    ex_trajectories_def def;
    ex_trajectories *found; /* by ex_trajectories_create, or NULL */
    ex_trajectories taken;  /* from a rig */
    exi_arena arena;        /* of def and taken */
    exi_arena rig_arena;    /* of what comes from a rig besides */
    double *form;           /* [vertex_count][3]: room for exi_project_trajectories_add */
    int *face_segments;     /* [face_count] as given, -1: not; or NULL */
    ex_mesh *mesh;          /* of a rig, or NULL */
} exi_project_trajectories;

/* What a layer's paths are made of. */
typedef struct exi_project_trajectories_source {
    const ex_mesh *mesh; /* positions rounded to float; must stay */
    int example_count;
    const char *const *names;   /* [example_count]; must stay */
    int reference;              /* or -1 */
    const float *const *deltas; /* [example_count] of [vertex_count][3] */
} exi_project_trajectories_source;

/* The source as a definition, without any paths yet. To be closed in any case, also one that is all zero. */
ex_result exi_project_trajectories_open(exi_project_trajectories *paths, const exi_project_trajectories_source *source,
                                        ex_error *error);
void exi_project_trajectories_close(exi_project_trajectories *paths);

/* Finds the paths of a project's layer: reads the file of segments, where it names one. */
ex_result exi_project_trajectories_find(exi_project_trajectories *paths, const ex_project_view *view,
                                        const ex_project_layer *layer, const ex_mesh *mesh, const ex_tasks *tasks,
                                        const ex_progress *progress, ex_error *error);
/* Those of a layer of the rig, which must stay. */
ex_result exi_project_trajectories_take(exi_project_trajectories *paths, const ex_rig *rig, int layer, ex_error *error);

/* sum [vertex_count][3] += mask * (path - mesh) at weights [example_count]; mask may be NULL. False without memory. */
bool exi_project_trajectories_add(const exi_project_trajectories *paths, const double *weights, const float *mask,
                                  double *sum);

/* Up to here a guided path keeps to the in-betweens that it follows: the 99th and 99.9th percentile of the triangles'
 * stretch against theirs. */
#define EXI_PATH_RATIO_99  2.0
#define EXI_PATH_RATIO_999 3.0

/* The number of the layer's reference, or -1. */
int exi_layer_reference(const ex_project_layer *layer);

/* ---- segments ---- */

/* Lines `face segment`, faces counted from 1, segments from 0; # starts a comment. segments [face_count], -1 for faces
 * that are not named. */
ex_result exi_segments_read(const char *path, int face_count, int *segments, ex_error *error);
/* The same as a file. */
ex_result exi_segments_write(const char *path, int face_count, const int *segments, ex_error *error);

/* ---- notes ---- */

/*
 * A rig does not say how its paths were found. A note of this kind does: JSON text, an object with an entry for each
 * layer of trajectories, the value of "trajectory" in a project file, but "segments" is the list of the faces'.
 */
#define EXI_PATHS_NOTE "trajectories"

/* Options in the words of a project file, without segments; NULL without memory. */
json_t *exi_trajectory_options_describe(const ex_trajectory_options *options);
/* Adds a layer's entry; false without memory. */
bool exi_project_trajectories_describe(json_t *note, const ex_project_layer *layer,
                                       const exi_project_trajectories *paths, int face_count);
/* The rig's note; an error where it is damaged, or where a layer of trajectories is not in it. NULL in *note where the
 * rig has no such layers. */
ex_result exi_project_trajectories_note_read(const ex_rig *rig, json_t **note, ex_error *error);

#endif
