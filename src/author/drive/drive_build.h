/*
 * drive_build.h - a driven rig while it is built; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_DRIVE_BUILD_H
#define EXEMPLAR_AUTHOR_DRIVE_DRIVE_BUILD_H

#include "author/base/json.h"
#include "author/drive/drive.h"
#include "author/mesh/rig_mesh.h"

#include <exemplar/author/trajectory.h>

typedef struct exi_drive_building {
    const ex_drive_def *def;
    exi_drive_plan driving;
    exi_moving_frames carrier;
    ex_mesh *driven; /* a copy, positions rounded to float */
    exi_rig_mesh rig_mesh;
    exi_text note;
    exi_arena arena;
    const char **names;  /* [key_count] */
    const float **forms; /* [key_count] drivers */
    const float **deltas;
    double *databases;
    double **unposed; /* [key_count] of [driven, then driver vertices][3]: forms in the moving frames */
    ex_trajectories *paths;
    ex_layer_def layer;
} exi_drive_building;

/* Finds the trajectories of driven mesh and driver together, from rest to every key, and stores them in the layer. */
ex_result exi_drive_build_trajectories(exi_drive_building *b, ex_error *error);

#endif
