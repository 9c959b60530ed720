/*
 * project_trajectories.h - the trajectories of a layer while a project is built, checked or unpacked: found from its
 * examples, or taken from a rig; private to authoring.
 *
 *   project_trajectories.c  finds, takes and evaluates them
 *   kept_paths.c            keeps them from one build to the next
 *   paths_file.c            and in files, from one process to the next
 *   segments_file.c         files of segments
 *   trajectories_note.c     how they were found, as stored in a rig
 *
 * An example's form is mesh + difference, in double. Paths found again after unpacking are therefore identical to the
 * bit.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_BUILD_PROJECT_TRAJECTORIES_H
#define EXEMPLAR_AUTHOR_PROJECT_BUILD_PROJECT_TRAJECTORIES_H

#include "author/base/json.h"
#include "author/project/model/project.h"

#include <exemplar/author/project.h>
#include <exemplar/author/trajectory.h>

typedef struct exi_kept_entry exi_kept_entry;

typedef struct exi_project_trajectories {
    ex_trajectories_def def;
    ex_trajectories *found; /* from ex_trajectories_create, or NULL */
    ex_kept_paths *kept;    /* has found, as this entry; else NULL */
    exi_kept_entry *entry;
    ex_trajectories taken; /* from a rig */
    exi_arena arena;       /* holds def and taken */
    exi_arena rig_arena;   /* holds other data taken from a rig */
    double *form;          /* [vertex_count][3]: scratch of exi_project_trajectories_add */
    int *face_segments;    /* [face_count] as given, -1: not given; or NULL */
    ex_mesh *mesh;         /* of a rig, or NULL */
} exi_project_trajectories;

/* Input of a layer's paths. */
typedef struct exi_project_trajectories_source {
    const ex_mesh *mesh; /* positions rounded to float; must outlive the paths */
    int example_count;
    const char *const *names;   /* [example_count]; must outlive the paths */
    int reference;              /* index of an example, or -1 */
    const float *const *deltas; /* [example_count] of [vertex_count][3] */
} exi_project_trajectories_source;

/* Turns the source into a definition, without paths yet. Close in any case, also if all zero. */
ex_result exi_project_trajectories_open(exi_project_trajectories *paths, const exi_project_trajectories_source *source,
                                        ex_error *error);
void exi_project_trajectories_close(exi_project_trajectories *paths);

/* Means of finding paths; all are optional. */
typedef struct exi_path_search {
    ex_kept_paths *kept; /* must outlive the paths */
    const ex_tasks *tasks;
    const ex_progress *progress;
} exi_path_search;

/* Finds the paths of a project's layer, or takes those that were kept; reads the file of segments if the layer names
 * one. */
ex_result exi_project_trajectories_find(exi_project_trajectories *paths, const ex_project_view *view,
                                        const ex_project_layer *layer, const ex_mesh *mesh,
                                        const exi_path_search *search, ex_error *error);
/* Takes the paths of a layer of the rig, which must outlive them. */
ex_result exi_project_trajectories_take(exi_project_trajectories *paths, const ex_rig *rig, int layer, ex_error *error);

/* sum [vertex_count][3] += mask * (path - mesh) at weights [example_count]; mask may be NULL. False without memory. */
bool exi_project_trajectories_add(const exi_project_trajectories *paths, const double *weights, const float *mask,
                                  double *sum);

/* Returns the index of the layer's reference, or -1. */
int exi_layer_reference(const ex_project_layer *layer);

/* ---- kept paths ---- */

/* Identifies the input of paths. */
typedef struct exi_paths_key {
    int vertex_count, triangle_count, example_count;
    uint64_t hash; /* of all forms, triangles and options */
} exi_paths_key;
exi_paths_key exi_paths_key_of(const ex_trajectories_def *def);

/* Returns the entry with that key, to be released after use; NULL if there is none. */
exi_kept_entry *exi_kept_paths_find(ex_kept_paths *kept, const exi_paths_key *key);
/* Adds paths, which it then owns. Returns their entry, to be released after use; NULL without memory, and the paths
 * stay the caller's. */
exi_kept_entry *exi_kept_paths_add(ex_kept_paths *kept, const exi_paths_key *key, ex_trajectories *found);
ex_trajectories *exi_kept_entry_paths(const exi_kept_entry *entry);
void exi_kept_paths_release(ex_kept_paths *kept, exi_kept_entry *entry);

/* Longest name of a folder of kept paths, with its NUL. */
#define EXI_PATHS_FOLDER_SIZE 1024
/* The paths of that key in a file of the folder; NULL if there is no such file or it is damaged. */
ex_trajectories *exi_paths_file_read(const char *folder, const exi_paths_key *key);
/* Writes that file, and removes the oldest ones above `most` bytes. Paths that cannot be written are only not there. */
void exi_paths_file_write(const char *folder, size_t most, const exi_paths_key *key, const ex_trajectories *found);

/* ---- segments ---- */

/* Reads lines `face segment`, faces counted from 1, segments from 0; # starts a comment. segments [face_count], -1 for
 * faces that are not named. */
ex_result exi_segments_read(const char *path, int face_count, int *segments, ex_error *error);
/* Writes such a file. */
ex_result exi_segments_write(const char *path, int face_count, const int *segments, ex_error *error);

/* ---- notes ---- */

/*
 * A rig does not store how its paths were found. A note of this kind does: JSON text, an object with an entry for each
 * layer of trajectories. An entry is the value of "trajectory" in a project file, except that "segments" is the list of
 * the faces' segments.
 */
#define EXI_PATHS_NOTE "trajectories"

/* Returns the options in the words of a project file, without segments; NULL without memory. */
json_t *exi_trajectory_options_describe(const ex_trajectory_options *options);
/* Adds a layer's entry; false without memory. */
bool exi_project_trajectories_describe(json_t *note, const ex_project_layer *layer,
                                       const exi_project_trajectories *paths, int face_count);
/* Reads the rig's note. Fails if it is damaged or lacks a layer of trajectories. *note is NULL if the rig has no such
 * layers. */
ex_result exi_project_trajectories_note_read(const ex_rig *rig, json_t **note, ex_error *error);

#endif
