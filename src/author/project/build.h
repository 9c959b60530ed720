/*
 * build.h - what lives while a rig is being built; private to authoring.
 *
 *   build.c         the way from project to rig
 *   build_layers.c  layers: forms measured, images read
 *   build_notes.c   what building chose or had to add
 *   refinement.c    refined levels
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_BUILD_H
#define EXEMPLAR_AUTHOR_PROJECT_BUILD_H

#include "author/project/measure.h"
#include "author/project/refinement.h"

#include <exemplar/author/image.h>

typedef struct exi_building {
    const ex_project_view *view;
    ex_build_options options;
    ex_mesh *mesh;
    exi_rig_mesh rig_mesh;
    ex_skeleton *skeleton;
    ex_skin *skin;
    exi_refinement refinement;
    exi_measure measure;
    ex_layer_def *layers; /* [layer_count]; masks go into the differences here, not there */
    ex_image ***images;   /* [layer_count], NULL for layers of forms, of [example_count] */
    int example_total, example_done;
} exi_building;

void exi_build_report(const exi_building *b, const char *what);

/* build_notes.c. The falloffs of a layer that leaves them to leave-one-out, into layer->weigh, allocated; and a note.
 */
ex_result exi_build_falloffs(const exi_building *b, int index, ex_layer_def *layer, ex_error *error);
/* A note for every gaussian layer whose weigher had to add a ridge. */
void exi_build_note_ridges(const exi_building *b, const ex_rig *rig);

/* Reads all layers, in their order, into b->layers. */
ex_result exi_build_layers(exi_building *b, ex_error *error);
void exi_build_free_layers(exi_building *b);

#endif
