/*
 * init.h - declarations shared by the parts of starting a project from a scene; private to authoring.
 *
 *   init.c           the folder and the project file
 *   init_unify.c     all parts of a character as one scene with one skin (init_unify.h)
 *   init_targets.c   morph targets as axes and forms
 *   init_seams.c     finds vertices that glTF splits, to be joined again
 *   init_close.c     the mesh with those joined
 *   init_skeleton.c  the skin as a separate file
 *   init_clips.c     animations as a separate file
 *   init_looks.c     materials as a separate file, and images
 *   init_forms.c     a project from forms instead of a scene
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_IMPORT_INIT_H
#define EXEMPLAR_AUTHOR_PROJECT_IMPORT_INIT_H

#include "author/formats/scene/scene.h"
#include "author/project/model/project.h"
#include "runtime/base/text.h"

/* An axis of the layer of targets. */
typedef struct exi_init_axis {
    char name[EXI_NAME_MAX + 1];
    bool joinable; /* true if the file names it: a target of that name in another mesh is then the same axis */
    int part;      /* first part that has it */
    int target;    /* its number there */
    double rest;
} exi_init_axis;

typedef struct exi_init {
    const ex_scene *given;        /* the file */
    ex_scene *scene;              /* its parts with one skin, or none; the file's nodes come first */
    const ex_init_report *report; /* may be NULL */
    bool *wanted;                 /* [node_count of the scene] */
    double *worlds;               /* [node_count of the file][16] */
    ex_mesh *mesh;
    exi_scene_part *parts; /* parts that the mesh was joined from */
    int part_count;
    int *joined; /* [vertices of the parts] index of the mesh's vertex; NULL: the same */
    exi_init_axis *axes;
    int axis_count;
    size_t axis_capacity;
    int *part_axes; /* [part_count]: start of the axes of its targets in target_axes */
    int *target_axes;
    ex_scene *skeleton; /* the skin and the mesh it moves; NULL without a skin */
    ex_scene *looks;    /* NULL without materials */
    ex_scene *clips;    /* NULL without animations */
    const char *skeleton_file, *clips_file;
    json_t *root; /* the project file */
} exi_init;

/* Makes the JSON of a scalar axis; NULL without memory. */
json_t *exi_init_make_axis(const char *name, double min, double max, double rest);

/* Passes a sentence to the report, if there is one. */
void exi_init_note(const exi_init *init, const char *format, ...) EX_PRINTF(2, 3);

/* Makes an unused name, cut to length: appends " 2", " 3", … if the name is taken, with no number below `first`.
 * Returns the number after the one used, or first. */
typedef bool (*exi_name_taken)(const void *context, const char *name);
int exi_name_make_unique(char name[EXI_NAME_MAX + 1], int first, exi_name_taken taken, const void *context);

/* Makes a name cut to length, with _ for bytes that no name may have: control characters, and invalid UTF-8. */
void exi_name_clean(const char *given, char name[EXI_NAME_MAX + 1]);
/* Makes a valid axis name (docs/reference/project.md): it comes before = on command lines and heads columns. */
void exi_axis_name_clean(const char *given, char name[EXI_NAME_MAX + 1]);

/* Makes init->scene of the file. main_skin: the one whose bind space is kept, or -1. */
ex_result exi_init_unify(exi_init *init, const ex_scene *from, int main_skin, ex_error *error);

/* Finds the axes of all targets. */
ex_result exi_init_find_targets(exi_init *init, ex_error *error);
/* Computes the mesh's positions [vertex_count][3] with the target of an axis at 1 and all others at 0. */
void exi_init_target_form(const exi_init *init, int axis, double *positions);

/* Returns the index in the mesh of a vertex of a part. */
static inline size_t exi_init_vertex(const exi_init *init, const exi_scene_part *part, size_t vertex) {
    const size_t at = (size_t)part->first_vertex + vertex;
    return init->joined ? (size_t)init->joined[at] : at;
}
/* Joins vertices that are the same except for normals and texture coordinates. */
ex_result exi_init_join_seams(exi_init *init, ex_error *error);
/* joined [vertex_count]: the first vertex that each is joined with; receives the new indices. scratch [vertex_count].
 * False without memory. */
bool exi_init_close_up(exi_init *init, int *joined, int *scratch);
/* True if two vertices of a triangle have the same number in numbers [vertex_count]. It then has no area however it
 * moves. */
bool exi_init_face_flat(const int *numbers, const ex_mesh *mesh, int face);

/* Gives every joint a name of its own; false without memory. */
bool exi_init_name_joints(const exi_init *init);

/* Makes a scene of the skin with its joints, the nodes above them, and the mesh with its weights; valid enough to build
 * from. */
ex_result exi_init_make_skeleton(exi_init *init, ex_error *error);

/* Make the scenes of animations, with the names that joints and axes have in the project, and of materials, with all
 * images inside. */
ex_result exi_init_make_clips(exi_init *init, ex_error *error);
ex_result exi_init_make_looks(exi_init *init, ex_error *error);

#endif
