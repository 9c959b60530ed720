/*
 * build.h - what lives while a rig is being built; private to authoring.
 *
 *   build.c         the way from project to rig
 *   build_layers.c  layers: forms measured; domains/ has the rest
 *   build_trajectories.c   layers of trajectories
 *   build_driven.c  the layer that a driver weighs
 *   build_notes.c   what building chose or had to add
 *   refinement.c    refined levels
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_BUILD_BUILD_H
#define EXEMPLAR_AUTHOR_PROJECT_BUILD_BUILD_H

#include "author/project/build/measure.h"
#include "author/project/model/refinement.h"

typedef struct exi_building {
    const ex_project_view *view;
    ex_build_options options;
    ex_mesh *mesh;
    exi_rig_mesh rig_mesh;
    ex_skeleton *skeleton;
    ex_skin *skin;
    exi_refinement refinement;
    exi_project_driver driver; /* all zero where there is none */
    exi_measure measure;
    ex_layer_def *layers;            /* [layer_count]; masks go into the differences here, not there */
    void **own;                      /* [layer_count]: what a layer's domain keeps, or NULL */
    exi_project_trajectories *paths; /* [layer_count], all zero for layers of others than trajectories */
    json_t *path_note;               /* how trajectories were found; NULL where there are none */
    ex_trajectories *driven_paths;   /* of the layer that a driver weighs, or NULL */
    int example_total, example_done;
} exi_building;

void exi_build_report(const exi_building *b, const char *what);

/* build_notes.c. The falloffs of a layer that leaves them to leave-one-out, into layer->weigh, allocated; and a note.
 */
ex_result exi_build_falloffs(const exi_building *b, int index, ex_layer_def *layer, ex_error *error);
/* A note for every gaussian layer whose weigher had to add a ridge. */
void exi_build_note_ridges(const exi_building *b, const ex_rig *rig);

/* build_trajectories.c. The trajectories of a layer whose examples are measured, into layer; and notes. */
ex_result exi_build_trajectories(exi_building *b, int index, ex_layer_def *layer, ex_error *error);
/* What finding the trajectories of an example takes, when measuring one takes 1: for the progress. */
#define EXI_BUILD_PATH_COST 8
/* Notes about paths that do not follow well. */
void exi_build_note_trajectories(const exi_building *b, int index);

/* build_driven.c. The driver and its forms at the examples. */
ex_result exi_build_driver(exi_building *b, ex_error *error);
/* What the layer that the driver weighs has besides its forms, which are measured. */
ex_result exi_build_driven(exi_building *b, int index, ex_layer_def *layer, ex_error *error);
void exi_build_free_driven(ex_layer_def *layer);

/* Reads all layers, in their order, into b->layers. */
ex_result exi_build_layers(exi_building *b, ex_error *error);
void exi_build_free_layers(exi_building *b);

#endif
