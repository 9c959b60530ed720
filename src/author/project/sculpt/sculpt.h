/*
 * sculpt.h - how sculpts become examples, and what else changes a project on disk; private to authoring.
 *
 *   ../pose/spoken.c  places as the JSON that a project has for them
 *   amend.c         a change of project and folder that is made whole or not at all
 *   sculpt_form.c   the form of a sculpt: read, put into the mesh's order, written beside the project
 *   sculpt_layer.c  which layer a place belongs to; new layers
 *   sculpt_error.c  how well an example comes back
 *   sculpt.c        the whole of it
 *   change.c        examples moved, removed and muted; pseudo-examples
 *   mirror_map.c    counterparts of names and vertices
 *   mirror_pose.c   counterparts of joints, axes and places
 *   mirror_layer.c  the layer over mirrored axes
 *   mirror.c        examples mirrored
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SCULPT_SCULPT_H
#define EXEMPLAR_AUTHOR_PROJECT_SCULPT_SCULPT_H

#include "author/project/model/project.h"
#include "runtime/base/result.h"

/* ---- places ---- */

/* What a place says. Every pointer is an object or a list of its own. */
typedef struct exi_spoken {
    json_t *at;     /* axis names and values */
    json_t *joints; /* joint names and rotations */
    json_t *axes;   /* axes that the project does not have yet, in the order in which `at` names them */
} exi_spoken;

/* Reads settings against the axes of the project. A joint in `at` is an axis that reads it and can hold the value;
 * where there is none it becomes a new axis if `new_axes`, or else is refused. */
ex_result exi_spoken_read(const ex_project_view *view, ex_place at, ex_place joints, bool new_axes, exi_spoken *spoken,
                          ex_error *error);
void exi_spoken_free(exi_spoken *spoken);

/* Numbers as an object; and those of a falloff, which may be one for all axes. */
ex_result exi_named_numbers(ex_place place, json_t **numbers, ex_error *error);
ex_result exi_falloff_json(ex_place place, json_t **falloff, ex_error *error);

/* The axis of that name in any layer, or NULL. */
const ex_project_axis *exi_view_axis(const ex_project_view *view, const char *name);
/* A rotation as a project file has it: {"x": 30} for a turn about one axis, else x y z w. NULL without memory. */
json_t *exi_json_make_rotation(const double q[4]);

/* ---- changes that are made whole or not at all ---- */

typedef struct exi_amendment {
    ex_project *project;
    const ex_build_options *options;  /* or NULL */
    ex_project trial;                 /* as it will be: a tree to be changed, then read */
    ex_rig *rig;                      /* built from it */
    int damped_layer, damped_example; /* whose damped vertices are counted while building */
    int damped_count;
    char *made_file, *made_folder; /* written for it, absolute or as seen from here; or NULL */
} exi_amendment;

/* Starts with a copy of the tree in a->trial.root. */
ex_result exi_amend_open(exi_amendment *a, ex_project *project, const ex_build_options *options, ex_error *error);
/* Takes back what was written, unless it was made to last. */
void exi_amend_close(exi_amendment *a);

/* A layer of the changed tree. */
json_t *exi_amend_layer(const exi_amendment *a, int layer);
/* Reads the changed tree; may be called again after further changes. */
ex_result exi_amend_read(exi_amendment *a, ex_error *error);
/* Builds what was read. */
ex_result exi_amend_build(exi_amendment *a, ex_error *error);
/* Writes the project, keeping what it was, and makes the change the project's own. */
ex_result exi_amend_save(exi_amendment *a, ex_error *error);
/* Says a sentence about what was chosen. */
void exi_amend_note(const exi_amendment *a, const char *format, ...) EX_PRINTF(2, 3);

/* ---- names ---- */

/* The layer of that name, or -1 and a sentence with the nearest. */
int exi_find_layer(const ex_project_view *view, const char *name, ex_error *error);
/* Where in its layer's list in the file the example is; -1 and a sentence where there is none, or several, or no
 * name is given. */
int exi_find_example(const ex_project_view *view, ex_example_ref which, int *layer, ex_error *error);
/* The example at that place of the list, muted or not. */
const ex_project_example *exi_example_at(const ex_project_layer *layer, int place);

/* ---- forms ---- */

/* A sculpt, read: the positions in the mesh's order, in the project's unit and with its up. */
typedef struct exi_sculpt_form {
    ex_mesh *mesh;   /* the project's, as its file has it; without normals, and with the sculpt's positions */
    bool reordered;  /* the file has the vertices, or faces, in another order */
    const char *how; /* "texture coordinates", … */
} exi_sculpt_form;

/* The project's mesh as its file has it, without normals. */
ex_result exi_read_raw_mesh(const ex_project_view *view, ex_mesh **mesh, ex_error *error);
/* `example`: the sculpt's, in a->trial, whose pose helps to tell vertices apart. */
ex_result exi_sculpt_read(const exi_amendment *a, const char *path, const ex_project_example *example,
                          exi_sculpt_form *form, ex_error *error);
/* A file below the project's folder that is not there yet, LAYER/NAME.obj, as seen from that folder. Release with
 * free; NULL without memory. */
char *exi_sculpt_free_file(const ex_project_view *view, const char *layer, const char *name);
/* `path` as seen from the project's folder where it lies in it and is readable text, else NULL, in *relative. Release
 * with free. */
ex_result exi_path_below_project(const ex_project_view *view, const char *path, char **relative, ex_error *error);
/* Writes a form there; it goes again where the amendment fails. */
ex_result exi_sculpt_write(exi_amendment *a, const char *relative, const ex_mesh *mesh, ex_error *error);

/* ---- layers ---- */

/* The number of the layer of offsets over just these axes, or of the new one that is appended to the changed tree:
 * -1 and a sentence where it cannot be told. */
int exi_choose_layer(exi_amendment *a, const exi_spoken *spoken, bool *made, ex_error *error);
/* The layer of offsets with just these axes, whose names are the object's keys; -1: none; -2: several. */
int exi_layer_over(const ex_project_view *view, const json_t *axes);
/* A name that no layer has: the wish, or with a number behind it. Release with free. */
char *exi_new_layer_name(const ex_project_view *view, const char *wish);

/* ---- how well it holds ---- */

/* The example's whole pose on a rig of the project, or of it with other layers. Release with free(pose.inputs), which
 * is NULL without memory. */
ex_pose exi_example_pose(const ex_rig *rig, const ex_project_view *view, const ex_project_example *example);
/* The form [vertex_count][3] at that pose; layer `shown` is shown also where it is muted. */
ex_result exi_example_form(const ex_rig *rig, const ex_project_view *view, const ex_project_example *example, int shown,
                           float *positions, ex_error *error);
/* Fills in all but how the sculpt came there. */
ex_result exi_sculpt_measure(const exi_amendment *a, int layer, int place, ex_sculpted *made, ex_error *error);
/* The weight of a layer that is farthest from [0, 1] at `samples` places spread evenly over its range; weight 0 where
 * none leaves it. false without memory. (check_space.c) */
typedef struct exi_swing {
    int example; /* as built */
    double weight;
    char place[256]; /* in words */
} exi_swing;
bool exi_worst_weight(const ex_project_layer *layer, const ex_weigher *weigher, int samples, exi_swing *swing);
/* Builds, measures the example at `place` of the layer's list, and saves. */
ex_result exi_amend_finish(exi_amendment *a, int layer, int place, ex_sculpted *made, ex_error *error);
/* The example of the layer that stands where the one at `place` stands, or NULL. */
const ex_project_example *exi_example_in_the_way(const ex_project_layer *layer, int place);

#endif
