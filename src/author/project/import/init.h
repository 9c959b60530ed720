/*
 * init.h - what the parts of starting a project from a scene share; private to authoring.
 *
 *   init.c           the folder and the project file
 *   init_targets.c   morph targets as axes and forms
 *   init_seams.c     vertices that glTF splits, which are to be joined again
 *   init_close.c     the mesh with those joined
 *   init_skeleton.c  the skin as a file of its own
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_IMPORT_INIT_H
#define EXEMPLAR_AUTHOR_PROJECT_IMPORT_INIT_H

#include "author/formats/scene/scene.h"
#include "author/project/model/project.h"
#include "runtime/base/text.h"

/* An axis of the layer of targets. */
typedef struct exi_init_axis {
    char name[EXI_NAME_MAX + 1];
    bool joinable; /* the file names it, so that a target of that name in another mesh is the same one */
    int part;      /* the first one that has it */
    double rest;
} exi_init_axis;

typedef struct exi_init {
    const ex_scene *scene;
    const ex_init_report *report; /* or NULL */
    int skin;                     /* that is taken, or -1 */
    bool *wanted;                 /* [node_count] */
    double *worlds;               /* [node_count][16] */
    ex_mesh *mesh;
    exi_scene_part *parts; /* that the mesh was joined from */
    int part_count;
    int *joined; /* [vertices of the parts] the mesh's vertex of each; NULL: they are the mesh's */
    exi_init_axis *axes;
    int axis_count;
    size_t axis_capacity;
    int *part_axes; /* [part_count]: where the axes of its targets start in target_axes */
    int *target_axes;
    ex_scene *skeleton; /* the skin and what it moves; NULL without a skin */
} exi_init;

/* Says a sentence to whoever listens. */
void exi_init_note(const exi_init *init, const char *format, ...) EX_PRINTF(2, 3);

/* A name cut to length that is in no use yet: with " 2", " 3", … behind it where it is taken, and with no number below
 * `first`. Returns the number after the one that it got, or first. */
typedef bool (*exi_name_taken)(const void *context, const char *name);
int exi_name_make_unique(char name[EXI_NAME_MAX + 1], int first, exi_name_taken taken, const void *context);

/* The axes of all targets. */
ex_result exi_init_find_targets(exi_init *init, ex_error *error);
/* The mesh's positions [vertex_count][3] with the target of an axis at 1 and all others at 0. */
void exi_init_target_form(const exi_init *init, int axis, double *positions);

/* The mesh's vertex that a vertex of a part is. */
static inline size_t exi_init_vertex(const exi_init *init, const exi_scene_part *part, size_t vertex) {
    const size_t at = (size_t)part->first_vertex + vertex;
    return init->joined ? (size_t)init->joined[at] : at;
}
/* Makes one of the vertices that are the same but for normals and texture coordinates. */
ex_result exi_init_join_seams(exi_init *init, ex_error *error);
/* joined [vertex_count]: the first vertex that each becomes one with; it receives the new numbers. scratch
 * [vertex_count]. False without memory. */
bool exi_init_close_up(exi_init *init, int *joined, int *scratch);
/* Whether two vertices of a triangle have the same number [vertex_count], so that it has no area whatever moves it. */
bool exi_init_face_flat(const int *numbers, const ex_mesh *mesh, int face);

/* The skin with its joints, the nodes above them, and the mesh with its weights; sound enough to build from. */
ex_result exi_init_make_skeleton(exi_init *init, ex_error *error);

#endif
