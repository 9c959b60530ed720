/*
 * reader.h - reads a project file, part by part; private to authoring. base/keys.h parses objects.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_MODEL_READER_H
#define EXEMPLAR_AUTHOR_PROJECT_MODEL_READER_H

#include "author/base/keys.h"
#include "author/project/model/project.h"

typedef struct exi_project_reader {
    exi_reader keys;
    ex_project_view *view;
} exi_project_reader;

/* read_mask.c: {"file": …}, {"group": …}, {"colour": …} or, if `joints`, {"joints": …}. */
ex_result exi_read_mask(exi_project_reader *r, const json_t *object, const exi_place *place, bool joints,
                        ex_project_mask *out);

/* read_driver.c: "driver" and "settle" of the project; call after its skeleton is read. */
ex_result exi_read_driver(exi_project_reader *r, const json_t *root);
/* Reads if the layer follows the driver, and then how it weighs; call after its weigher, shape and space are read. */
ex_result exi_read_driven(exi_project_reader *r, const json_t *layer, const exi_place *place, ex_project_layer *out);
/* Checks that a layer follows the driver; call after the spaces of all layers are read. */
ex_result exi_check_followed(exi_project_reader *r);
/* Reads the driver's form in "at", and if the form is at rest. */
ex_result exi_read_driver_form(exi_project_reader *r, const json_t *object, const exi_place *place,
                               const ex_project_layer *layer, ex_project_example *example);

/* read_space.c: reads a layer's space; then, after all layers' spaces are read, checks their axes against each
 * other. */
ex_result exi_read_space(exi_project_reader *r, const json_t *layer, const exi_place *place, ex_project_layer *out);
ex_result exi_link_spaces(exi_project_reader *r, const json_t *layers);

/* read_weigh.c */
ex_result exi_read_weigh(exi_project_reader *r, const json_t *layer, const exi_place *place, ex_weigher_def *def);

/* read_falloff.c: falloffs and metrics of all points of a layer, including zeros. */
ex_result exi_read_falloffs(exi_project_reader *r, const json_t *layer, const exi_place *place, ex_project_layer *out);

/* read_examples.c: drops the axis of each muted example of a direct layer; call after the layer's space is read. */
void exi_drop_muted_axes(const json_t *layer, ex_project_layer *out);
/* These need the spaces of all layers. */
ex_result exi_read_examples(exi_project_reader *r, const json_t *layer, const exi_place *place, ex_project_layer *out);
ex_result exi_read_pseudos(exi_project_reader *r, const json_t *layer, const exi_place *place, ex_project_layer *out);

/* read_point.c. Returns the axis of that name in the layer, or else in the first layer that has it, or NULL. */
const ex_project_axis *exi_find_axis(const exi_project_reader *r, const ex_project_layer *layer, const char *name);
/* Reads one number or four, depending on the axis. */
ex_result exi_read_value(exi_project_reader *r, const json_t *value, const exi_place *place,
                         const ex_project_axis *axis, double *numbers);
/* Checks that every name in the object is an axis of the project, and its value is of that axis's kind. */
ex_result exi_check_axes(exi_project_reader *r, const json_t *object, const exi_place *place,
                         const ex_project_layer *layer);
const ex_transform *exi_find_joint(const ex_project_joint *joints, int count, const char *name);
/* Converts an object of axis names and values to a point of the layer's space, with joints [joint_count] moved. Axes
 * whose value is of another kind than the layer's axis count as not named (building refuses them). NULL without
 * memory. */
double *exi_point_in(exi_project_reader *r, const json_t *object, const ex_project_joint *joints, int joint_count,
                     const ex_project_layer *layer);
/* Reads a point of the layer's space; joints do not matter. */
ex_result exi_read_point(exi_project_reader *r, const json_t *object, const exi_place *place,
                         const ex_project_layer *layer, const double **point);

/* read_pose.c: reads an example's whole pose from its "at" and "joints": its joints, its points in all layers, and its
 * own. `index` is the example's index in its layer; below 0 for a muted example of a direct layer, whose axis the layer
 * does not have. */
ex_result exi_read_pose(exi_project_reader *r, const json_t *object, const exi_place *place,
                        const ex_project_layer *layer, int index, ex_project_example *example);
/* True if the written value equals the joint's reading, up to rounding. `joint` is relative to rest. */
bool exi_reading_agrees(const ex_reading *reading, const ex_transform *joint, const double *written,
                        const double *read);

#endif
