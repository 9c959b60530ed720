/*
 * project.h - the inside of a project: the JSON tree, which is what is edited and written, and the view parsed from it.
 * Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_MODEL_PROJECT_H
#define EXEMPLAR_AUTHOR_PROJECT_MODEL_PROJECT_H

#include "author/base/arena.h"
#include "author/base/names.h"
#include "author/base/values.h"

#include <exemplar/author/project.h>
#include <jansson.h>

struct ex_project {
    char *path;
    json_t *root;
    json_t *stored;  /* the tree that its file held when it was last read or saved, or NULL: it has no file yet */
    exi_arena arena; /* what the view points to */
    ex_project_view view;
};

/* Parses root into arena and view; all that is wrong with it is an error that names the place. */
ex_result exi_project_interpret(json_t *root, const char *path, exi_arena *arena, ex_project_view *view,
                                ex_error *error);

/* The rotation that a setting means, of any length but 0; false where it means none. */
bool exi_setting_rotation(const ex_setting *setting, double q[4]);
/* Says that the axis or joint takes another kind of value. Returns EX_ERROR_DATA. */
ex_result exi_setting_mismatch(const ex_setting *setting, ex_axis_kind kind, ex_error *error);

/* Whether a joint can be moved or stretched so far; beyond, evaluation takes it to be at rest. Turns always can. */
bool exi_reading_reaches(const ex_reading *reading, const double *value);

/* Says that the rig has no such axis, or joint, with the nearest name of both or all of that kind. Returns
 * EX_ERROR_DATA. */
ex_result exi_unknown_input(const ex_rig *rig, bool joint, const char *name, ex_error *error);

/* The joint that joint:NAME means, or -1; and its rotation relative to rest, of any length but 0, into the pose. */
int exi_find_rig_joint(const ex_rig *rig, const char *name);
void exi_turn_joint(const ex_rig *rig, int joint, const double q[4], const ex_pose *pose);
/* A table of poses from text that ends with NUL at `size`; `path` stands for it in errors. */
ex_result exi_pose_table_parse(const char *text, size_t size, const char *path, const ex_rig *rig, ex_pose_table *table,
                               ex_error *error);

/* Given weights of a layer's pseudo-examples, in the tree, lose those of the example and keep their sum, as
 * ex_weigher_edit does it. False without memory. */
bool exi_drop_weights(json_t *layer, const char *name);

/* Reads a mesh of the project, in metres with y up. */
ex_result exi_project_read_mesh(const ex_project_view *view, const char *relative, ex_mesh **mesh, ex_error *error);

/* What a mask is taken from [vertex_count], or NULL in *mask where there is none. In a file, numbers go up to `most`.
 * Release with free. skeleton and skin may be NULL. */
ex_result exi_project_read_values(const ex_project_view *view, const ex_project_mask *source, double most,
                                  const ex_mesh *mesh, const ex_skeleton *skeleton, const ex_skin *skin, float **mask,
                                  ex_error *error);

/* The layer's mask [vertex_count], or NULL in *mask where it has none. Release with free. skeleton and skin may be
 * NULL. */
ex_result exi_project_read_mask(const ex_project_view *view, const ex_project_layer *layer, const ex_mesh *mesh,
                                const ex_skeleton *skeleton, const ex_skin *skin, float **mask, ex_error *error);

#endif
