/*
 * project.h - internals of a project: the JSON tree, which is edited and written, and the view parsed from it. Private
 * to authoring.
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
    json_t *stored;  /* the tree as last read from or saved to its file; NULL if it has no file yet */
    exi_arena arena; /* owns all that the view points to */
    ex_project_view view;
};

/* Parses root into arena and view. Every error names its place in the file. */
ex_result exi_project_interpret(json_t *root, const char *path, exi_arena *arena, ex_project_view *view,
                                ex_error *error);

/* True if the layer's axes are its weights: each example is a slider. */
static inline bool exi_layer_is_direct(const ex_project_layer *layer) {
    const ex_weigher_info *info = ex_weigher_kind_info(layer->weigh.kind);
    return !info->has_points && !info->is_driven;
}

/* Converts a setting to a rotation, of any length but 0; false if it is none. */
bool exi_setting_rotation(const ex_setting *setting, double q[4]);
/* Fails because the axis or joint takes another kind of value. Returns EX_ERROR_DATA. */
ex_result exi_setting_mismatch(const ex_setting *setting, ex_axis_kind kind, ex_error *error);

/* True if a joint can be moved or stretched that far. Beyond, evaluation treats it as at rest. Turns are always
 * possible. */
bool exi_reading_reaches(const ex_reading *reading, const double *value);

/* Fails because the rig has no axis or joint of that name. Suggests the nearest name of either kind, or else lists the
 * names of that kind. Returns EX_ERROR_DATA. */
ex_result exi_unknown_input(const ex_rig *rig, bool joint, const char *name, ex_error *error);

/* Returns the joint that joint:NAME names, or -1; and writes its rotation relative to rest, of any length but 0, into
 * the pose. */
int exi_find_rig_joint(const ex_rig *rig, const char *name);
void exi_turn_joint(const ex_rig *rig, int joint, const double q[4], const ex_pose *pose);
/* Parses a table of poses from text that ends with NUL at `size`; `path` names it in errors. */
ex_result exi_pose_table_parse(const char *text, size_t size, const char *path, const ex_rig *rig, ex_pose_table *table,
                               ex_error *error);

/* Removes the example from the given weights of a layer's pseudo-examples, in the tree, and keeps their sum, as
 * ex_weigher_edit does. False without memory. */
bool exi_drop_weights(json_t *layer, const char *name);

/* Reads a mesh of the project, in metres with y up. */
ex_result exi_project_read_mesh(const ex_project_view *view, const char *relative, ex_mesh **mesh, ex_error *error);
/* Turns a position in metres, y up, into the project's unit and up axis. */
void exi_project_unconvert(const ex_project_view *view, const float position[3], double out[3]);

/* Reads the values of a mask's source [vertex_count]; *mask is NULL if there is none. In a file, numbers may be up to
 * `most`. Release with free. skeleton and skin may be NULL. */
ex_result exi_project_read_values(const ex_project_view *view, const ex_project_mask *source, double most,
                                  const ex_mesh *mesh, const ex_skeleton *skeleton, const ex_skin *skin, float **mask,
                                  ex_error *error);

/* Reads the layer's mask [vertex_count]; *mask is NULL if it has none. Release with free. skeleton and skin may be
 * NULL. */
ex_result exi_project_read_mask(const ex_project_view *view, const ex_project_layer *layer, const ex_mesh *mesh,
                                const ex_skeleton *skeleton, const ex_skin *skin, float **mask, ex_error *error);

#endif
