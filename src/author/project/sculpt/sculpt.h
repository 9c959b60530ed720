/*
 * sculpt.h - turns sculpts into examples, and makes other changes to a project on disk; private to authoring.
 *
 *   ../pose/spoken.c  places as the JSON of a project
 *   amend.c         changes to project and folder that are made completely or not at all
 *   sculpt_form.c   the form of a sculpt: read, put into the mesh's order, written next to the project
 *   sculpt_size.c   sculpts in another unit
 *   sculpt_layer.c  chooses the layer of a place; new layers
 *   sculpt_range.c  ranges of axes that hold a place
 *   sculpt_fit.c    the file that gives the sculpt back through all layers
 *   sculpt_error.c  how well an example is reproduced
 *   sculpt_loss.c   what it changes at the poses of other examples
 *   sculpt.c        the whole of it
 *   change.c        moves, removes and mutes examples; pseudo-examples
 *   rename.c        names of examples, layers and axes
 *   mirror_map.c    counterparts of names, and of the vertices of a symmetric mesh
 *   mirror_match.c  counterparts of the vertices of any mesh
 *   mirror_plane.c  the plane of symmetry
 *   mirror_joints.c counterparts of joints
 *   mirror_pose.c   counterparts of axes and places
 *   mirror_layer.c  the layer over mirrored axes, its mask and pseudo-examples
 *   mirror_form.c   mirrored offsets
 *   mirror.c        mirrors examples, layers and sides
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SCULPT_SCULPT_H
#define EXEMPLAR_AUTHOR_PROJECT_SCULPT_SCULPT_H

#include "author/project/model/project.h"
#include "runtime/base/result.h"

/* ---- places ---- */

/* A place as JSON. Each pointer owns its object or list. */
typedef struct exi_spoken {
    json_t *at;     /* axis names and values */
    json_t *joints; /* joint names and rotations */
    json_t *axes;   /* axes that the project does not have yet, in the order of `at` */
    bool falloff;   /* true if a falloff is given with them: a layer that is added must have falloffs */
} exi_spoken;

/* Resolves settings against the axes of the project. A joint in `at` means an axis that reads it and can hold the
 * value. If there is none, it becomes a new axis if `new_axes`; otherwise it is refused. */
ex_result exi_spoken_read(const ex_project_view *view, ex_place at, ex_place joints, bool new_axes, exi_spoken *spoken,
                          ex_error *error);
void exi_spoken_free(exi_spoken *spoken);

/* Convert numbers to an object; and those of a falloff, which may be one number for all axes. */
ex_result exi_named_numbers(ex_place place, json_t **numbers, ex_error *error);
ex_result exi_falloff_json(ex_place place, json_t **falloff, ex_error *error);
/* Refuses a falloff for the points of a layer whose weigher has none. */
ex_result exi_falloff_check(const ex_project_layer *layer, ex_error *error);

/* Fails because no layer has an axis of that name; suggests the nearest, or lists them. Returns EX_ERROR_DATA. */
ex_result exi_unknown_axis(const ex_project_view *view, const char *name, ex_error *error);
/* Returns the axis of that name in any layer, or NULL. */
const ex_project_axis *exi_view_axis(const ex_project_view *view, const char *name);
/* Returns a rotation as a project file writes it: {"x": 30} for a turn about one axis, else x y z w. NULL without
 * memory. */
json_t *exi_json_make_rotation(const double q[4]);

/* ---- changes that are made completely or not at all ---- */

typedef struct exi_amendment {
    ex_project *project;
    const ex_build_options *options;  /* may be NULL */
    ex_project trial;                 /* the changed project: a tree to be changed, then read */
    ex_rig *rig;                      /* built from trial */
    int damped_layer, damped_example; /* the example whose damped vertices are counted while building */
    int damped_count;
    bool refuse_far; /* true to refuse a sculpt that is far from the form at its pose */
    double *wanted;  /* [vertex_count][3]: the sculpt itself, in metres with y up; NULL: the example's file */
    char what[600];  /* the change in a few words, for the list of versions */
    char **made;     /* [made_count] files and folders written for it, absolute or relative to the current directory */
    size_t made_count, made_capacity;
} exi_amendment;

/* Copies the project's tree to a->trial.root. */
ex_result exi_amend_open(exi_amendment *a, ex_project *project, const ex_build_options *options, ex_error *error);
/* Removes written files, unless the change was saved. */
void exi_amend_close(exi_amendment *a);

/* Returns a layer of the changed tree. */
json_t *exi_amend_layer(const exi_amendment *a, int layer);
/* Reads the changed tree; may be called again after further changes. */
ex_result exi_amend_read(exi_amendment *a, ex_error *error);
/* Builds a->rig from the tree last read. */
ex_result exi_amend_build(exi_amendment *a, ex_error *error);
/* Writes the project, keeping a copy of the previous file, and applies the change to the project. */
ex_result exi_amend_save(exi_amendment *a, ex_error *error);
/* Says what the change is, for the list of versions: "example 'bent' moved". */
void exi_amend_name(exi_amendment *a, const char *format, ...) EX_PRINTF(2, 3);
/* Reads, builds and saves the change if result is EX_OK; then closes the amendment. */
ex_result exi_amend_end(exi_amendment *a, ex_result result, ex_error *error);
/* Reports a sentence about a choice. */
void exi_amend_note(const exi_amendment *a, const char *format, ...) EX_PRINTF(2, 3);

/* ---- names ---- */

/* Returns the layer of that name; or -1, with a sentence that suggests the nearest name. */
int exi_find_layer(const ex_project_view *view, const char *name, ex_error *error);
/* Returns the index of the example in its layer's list in the file; -1 and a sentence if there is none, or several, or
 * no name is given. */
int exi_find_example(const ex_project_view *view, ex_example_ref which, int *layer, ex_error *error);
/* Returns the example at that index of the list, muted or not. */
const ex_project_example *exi_example_at(const ex_project_layer *layer, int place);

/* ---- forms ---- */

/* A sculpt as read: positions in the mesh's order, in the project's unit and with its up axis. */
typedef struct exi_sculpt_form {
    ex_mesh *mesh;   /* the project's as in its file; without normals, and with the sculpt's positions */
    bool reordered;  /* true if the file has the vertices, or faces, in another order */
    bool scaled;     /* true if its positions are not those of the file */
    const char *how; /* "texture coordinates", … */
} exi_sculpt_form;

/* Reads the project's mesh as in its file, without normals. */
ex_result exi_read_raw_mesh(const ex_project_view *view, ex_mesh **mesh, ex_error *error);
/* Reads the file that the sculpt names. `example`: the sculpt's, in a->trial; its pose helps to tell vertices apart. */
ex_result exi_sculpt_read(const exi_amendment *a, const ex_sculpt *sculpt, const ex_project_example *example,
                          exi_sculpt_form *form, ex_error *error);
/* Copies the positions of a form into a mesh, in the mesh's order. *how: NULL, or "texture coordinates", … if vertices
 * or faces are in another order. path and mesh_name are for messages. */
ex_result exi_take_form(const char *path, const char *mesh_name, const ex_mesh *form, ex_mesh *mesh, const char **how,
                        ex_error *error);
/* True if the form is so large or small that it must be in another unit than the mesh, which has the size `own` at
 * rest, as posed. `unit` is the mesh's, in metres. Writes the end of a sentence: "is 100 times as large as the mesh: it
 * is likely in centimetres; …". */
bool exi_form_has_other_unit(double own, const ex_mesh *form, double unit, char *text, size_t size);
/* Refuses a sculpt in another unit, or far away from the mesh, which is given as in its file. Both are compared as the
 * skin poses the mesh at rest. Results: DATA, MEMORY. */
ex_result exi_sculpt_check_size(const ex_project_view *view, const char *path, const ex_mesh *mesh,
                                const ex_mesh *sculpt, ex_error *error);
/* Returns an unused file name below the project's folder, LAYER/NAME.obj, relative to that folder; and the same with
 * another ending. Release with free; NULL without memory. */
char *exi_sculpt_free_file(const ex_project_view *view, const char *layer, const char *name);
char *exi_layer_free_file(const ex_project_view *view, const char *layer, const char *name, const char *ending);
/* Makes `path` relative to the project's folder if it lies inside and is readable text; otherwise *relative is NULL.
 * Release with free. */
ex_result exi_path_below_project(const ex_project_view *view, const char *path, char **relative, ex_error *error);
/* Writes a form there; it is removed if the amendment fails. Up to two for an amendment. */
ex_result exi_sculpt_write(exi_amendment *a, const char *relative, const ex_mesh *mesh, ex_error *error);
/* Makes the folder of a file that is going to be written; it is removed if the amendment fails. Returns the path of the
 * file; and remembers the file after it was written, and takes over the path. */
ex_result exi_amend_make_room(exi_amendment *a, const char *relative, char **path, ex_error *error);
ex_result exi_amend_made(exi_amendment *a, char *path, ex_error *error);

/* ---- layers ---- */

/* True if the layer's examples are forms at rest, as "positions" and "trajectory" have them. */
bool exi_layer_at_rest(const ex_project_layer *layer);
/* Returns the index of the layer that a sculpt at this place belongs to. In this order: the direct layer whose slider
 * alone is at 1, with *target the example's index in its list, else -1; the layer of offsets over exactly the axes that
 * are moved; the layer of forms whose space has all of them; a new layer of offsets, appended to the changed tree. -1
 * and a sentence if it is ambiguous. */
int exi_choose_layer(exi_amendment *a, const exi_spoken *spoken, bool *made, int *target, ex_error *error);
/* Returns the layer of offsets over exactly these axes, whose names are the object's keys; -1: none; -2: several. */
int exi_layer_over(const ex_project_view *view, const json_t *axes);
/* Returns an unused layer name: the wish, with a number appended if needed. Release with free. */
char *exi_new_layer_name(const ex_project_view *view, const char *wish);

/* Widens the ranges of axes in the changed tree until they hold the place, an object of axis names and values. */
ex_result exi_widen_axes(const exi_amendment *a, const json_t *at, ex_error *error);

/* ---- the file that gives the sculpt back ---- */

/* A sculpt and the file of its example. */
typedef struct exi_fit {
    exi_amendment *amendment; /* with the sculpt in `wanted` */
    int layer, place;         /* the example, in the changed tree */
    bool at_rest;             /* true if the file has the form at rest, not at the example's pose */
    ex_mesh *mesh;            /* the file's content, in the project's unit and up axis */
} exi_fit;

/* Converts the positions of a form [vertex_count][3] to metres with y up. */
void exi_form_to_metres(const ex_project_view *view, const ex_mesh *form, double *out);
/* Sets the positions of f->mesh to a form at the example's pose, in metres with y up; un-posed if it is at rest. Needs
 * a rig that has the example, whatever its form. */
ex_result exi_fit_form(const exi_fit *f, const double *wanted, ex_error *error);
/* With the rig built: corrects the file by what later layers add at the example's pose, and builds again. The sculpt
 * itself is then a file of its own, which the example names. */
ex_result exi_fit_later(const exi_fit *f, ex_error *error);
/* With the rig built, and a file of the example that this change made: gives it the sculpt, and builds and corrects it
 * as above. */
ex_result exi_fit_again(const exi_fit *f, ex_error *error);

/* ---- how well an example is reproduced ---- */

/* Returns the example's whole pose on a rig of the project, possibly with other layers. Release with free(pose.inputs),
 * which is NULL without memory. */
ex_pose exi_example_pose(const ex_rig *rig, const ex_project_view *view, const ex_project_example *example);
/* Layers that count in an evaluation. */
typedef struct exi_counted {
    int shown;        /* counts even if it is muted; or -1 */
    int end;          /* layers from this one on do not count */
    int without;      /* does not count; or -1 */
    bool before_skin; /* true: offsets that are added after skinning do not count */
} exi_counted;
/* Evaluates the form [vertex_count][3] at that pose. */
ex_result exi_example_evaluate(const ex_rig *rig, const ex_project_view *view, const ex_project_example *example,
                               const exi_counted *counted, float *positions, ex_error *error);
/* The same with all layers; layer `shown` is shown even if it is muted. */
ex_result exi_example_form(const ex_rig *rig, const ex_project_view *view, const ex_project_example *example, int shown,
                           float *positions, ex_error *error);
/* Fills in everything but how the sculpt was read. */
ex_result exi_sculpt_measure(const exi_amendment *a, int layer, int place, ex_sculpted *made, ex_error *error);
/* Builds; measures the example at `place` of the layer's list, and says what looks wrong. */
ex_result exi_amend_try(exi_amendment *a, int layer, int place, ex_error *error);
ex_result exi_amend_measure(exi_amendment *a, int layer, int place, ex_sculpted *made, ex_error *error);
/* All of it, and saves. */
ex_result exi_amend_finish(exi_amendment *a, int layer, int place, ex_sculpted *made, ex_error *error);
/* With the rig built: sets what all other examples lose at their poses. */
ex_result exi_sculpt_loss(const exi_amendment *a, int layer, int place, bool new_layer, ex_sculpted *made,
                          ex_error *error);
/* Returns another example of the layer at the same point as the one at `place`, or NULL. */
const ex_project_example *exi_example_in_the_way(const ex_project_layer *layer, int place);
/* Returns the index of a pseudo-example of the file at the same point as that example, or -1. */
int exi_pseudo_in_the_way(const ex_project_layer *layer, int place);

#endif
