/*
 * driver.h - the driver of a project while a rig is built, checked or unpacked: its mesh, its moving frames, and its
 * forms at the examples. Private to authoring.
 *
 *   driver.c         reads and prepares the driver
 *   measure_carry.c  poses the mesh by the moving frames
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_MODEL_DRIVER_H
#define EXEMPLAR_AUTHOR_PROJECT_MODEL_DRIVER_H

#include "author/drive/drive.h"
#include "author/project/model/project.h"

typedef struct exi_driver_form {
    const char *path; /* as an example names it */
    float *form;      /* [driver vertex_count][3] */
} exi_driver_form;

typedef struct exi_project_driver {
    const ex_project_view *view;
    ex_mesh *mesh;            /* of the driver */
    ex_drive_options options; /* complete; the fields below own their arrays */
    ex_drive_binds *binds;
    float *driver_weights;
    ex_drive_region *regions;
    exi_drive_plan driving;
    ex_driver *driver;
    ex_predictor *predictor; /* of the layer that follows motion, or NULL */
    ex_skin *carry;          /* skin of the project's mesh made of the moving frames; NULL if the mesh has a skin */
    struct exi_frame_link *links; /* [frame_count]; NULL without `carry` */
    exi_driver_form *forms;
    int form_count;
    size_t form_capacity;
} exi_project_driver;

/* Reads the driver's mesh, masks, binds and predictor, and spreads the moving frames. mesh: the project's. skeleton and
 * skin may be NULL. Always close it. */
ex_result exi_project_driver_open(exi_project_driver *driver, const ex_project_view *view, const ex_mesh *mesh,
                                  const ex_skeleton *skeleton, const ex_skin *skin, ex_error *error);
/* Does the same with known options, of a rig. Always takes ownership of of_driver. */
ex_result exi_project_driver_take(exi_project_driver *driver, const ex_project_view *view, ex_mesh *of_driver,
                                  const ex_drive_options *options, const ex_mesh *mesh, const ex_skeleton *skeleton,
                                  const ex_skin *skin, ex_error *error);
void exi_project_driver_close(exi_project_driver *driver);

/* Reads a form of the driver, compares it with the driver's mesh, rounds it to float and stores it under its path. */
ex_result exi_project_driver_read_form(exi_project_driver *driver, const char *path, ex_error *error);
/* Stores a copy of a known form [driver vertex_count][3]. */
ex_result exi_project_driver_add_form(exi_project_driver *driver, const char *path, const float *form, ex_error *error);
/* Returns the driver's form at an example's whole pose; NULL: the driver's mesh. */
const float *exi_project_driver_form(const exi_project_driver *driver, const ex_project_example *example);

/* Fills in the driver's part of a layer that it weighs: forms, into keys [example_count], and regions; or the
 * predictor. */
void exi_project_driver_fill(const exi_project_driver *driver, const ex_project_layer *source, const float **keys,
                             ex_layer_def *layer);

/* Poses the skeleton at the layer's examples if a moving frame follows a joint; otherwise sets *joints to NULL. */
ex_result exi_project_driver_joints(const exi_project_driver *driver, const ex_project_layer *source,
                                    const ex_skeleton *skeleton, const ex_transform *const **joints, ex_error *error);
void exi_project_driver_free_joints(const ex_transform *const *joints);

/* Computes locals [joint_count] of an example's whole pose. */
void exi_example_joints(const ex_skeleton *skeleton, const ex_project_example *example, ex_transform *locals);

#endif
