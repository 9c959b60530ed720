/*
 * build.h - state of a rig while it is built; private to authoring.
 *
 *   build.c         the way from project to rig
 *   build_layers.c  layers: measured forms; domains/ has the rest
 *   build_trajectories.c   layers of trajectories
 *   build_driven.c  the layer that a driver weighs
 *   build_scenes.c  looks and clips
 *   build_notes.c   notes on choices and additions made by building
 *   refinement.c    refined levels
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_BUILD_BUILD_H
#define EXEMPLAR_AUTHOR_PROJECT_BUILD_BUILD_H

#include "author/base/progress.h"
#include "author/project/build/measure.h"
#include "author/project/model/refinement.h"

#include <exemplar/author/scene.h>

/* Files of a project that are not written yet, for exi_project_try. */
typedef struct exi_unwritten {
    /* Makes the form of an example of the only layer, or the project's mesh for -1. */
    ex_result (*make_form)(const void *user, int example, ex_mesh **mesh, ex_error *error);
    const void *user;
    const ex_scene *skeleton; /* NULL if the project names none */
    const char *word;         /* what the examples were made from, for errors: "morph target" */
} exi_unwritten;

/* A scene as the bytes of a .glb file; NULL if there is none. */
typedef struct exi_scene_bytes {
    unsigned char *bytes;
    size_t size;
} exi_scene_bytes;

typedef struct exi_building {
    const ex_project_view *view;
    const exi_unwritten *unwritten; /* NULL: files are read */
    ex_build_options options;
    ex_mesh *mesh;
    exi_rig_mesh rig_mesh;
    ex_skeleton *skeleton;
    ex_skin *skin;
    exi_refinement refinement;
    exi_project_driver driver; /* all zero if there is none */
    exi_measure measure;
    ex_layer_def *layers;            /* [layer_count]; masks are applied to the differences here, not passed on */
    void **own;                      /* [layer_count]: private data of the layer's domain, or NULL */
    exi_project_trajectories *paths; /* [layer_count], all zero for layers of other domains */
    json_t *path_note;               /* how trajectories were found; NULL if there are none */
    ex_trajectories *driven_paths;   /* of the layer that a driver weighs, or NULL */
    exi_scene_bytes looks, clips;
    int example_total, example_done;
} exi_building;

/* Reports the step that begins. An error if the caller wants to stop. */
ex_result exi_build_report(const exi_building *b, const char *what, ex_error *error);

/*
 * Builds a project of at most one layer of forms before its files are written, with all checks of ex_project_read and
 * ex_project_build: if this works, the files can be read and built. Otherwise the sentence is about the contents, not
 * about files. root: the project file.
 */
ex_result exi_project_try(json_t *root, const exi_unwritten *files, ex_error *error);

/* Reads the form of an example, or the mesh for -1; `relative` is its file. */
ex_result exi_build_read_form(const exi_building *b, int example, const char *relative, ex_mesh **mesh,
                              ex_error *error);

/* build_notes.c. Chooses the falloffs of a layer (falloff.h) if the layer asks for that.
 * Allocates them in layer->weigh; adds a note. */
ex_result exi_build_falloffs(const exi_building *b, int index, ex_layer_def *layer, ex_error *error);
/* Adds notes about faces that were mended to be subdivided. */
void exi_build_note_mends(const exi_building *b);
/* Adds a note for every gaussian layer whose weigher had to add a ridge. */
void exi_build_note_ridges(const exi_building *b, const ex_rig *rig);
/* Adds a note for every layer with a weight beyond 2 either way inside its range. */
void exi_build_note_swings(const exi_building *b, const ex_rig *rig);

/* build_trajectories.c. Finds the trajectories of a layer whose examples are measured, into layer; adds notes. */
ex_result exi_build_trajectories(exi_building *b, int index, ex_layer_def *layer, ex_error *error);
/* Cost of finding the trajectories of an example relative to measuring it; for progress. */
#define EXI_BUILD_PATH_COST 8
/* Adds notes about paths that do not follow well. */
void exi_build_note_trajectories(const exi_building *b, int index);

/* build_driven.c. Reads the driver and its forms at the examples. */
ex_result exi_build_driver(exi_building *b, ex_error *error);
/* Fills in the layer that the driver weighs, except for its forms, which are measured. */
ex_result exi_build_driven(exi_building *b, int index, ex_layer_def *layer, ex_error *error);
void exi_build_free_driven(ex_layer_def *layer);

/* build_scenes.c. Reads looks and clips. */
ex_result exi_build_scenes(exi_building *b, ex_error *error);
void exi_build_free_scenes(exi_building *b);

/* Reads all layers, in their order, into b->layers. */
ex_result exi_build_layers(exi_building *b, ex_error *error);
void exi_build_free_layers(exi_building *b);

#endif
