/*
 * unpack.h - declarations shared by the parts of unpacking; private to authoring.
 *
 *   unpack.c           the folder, and the loop over everything
 *   unpack_project.c   the project file as JSON
 *   unpack_layers.c    examples as files
 *   unpack_trajectories.c     other data of layers of trajectories
 *   looks_files.c      materials and images
 *   unpack_driver.c    the driver, and other data of the layer that it weighs
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_IMPORT_UNPACK_H
#define EXEMPLAR_AUTHOR_PROJECT_IMPORT_UNPACK_H

#include "author/project/build/measure.h"
#include "author/project/model/driver.h"
#include "author/project/model/project.h"

#include <exemplar/author/files.h>

#define EXI_UNPACKED_MESH "mesh.obj"
/* In a project called "skeleton", whose rig takes that name, the other one. */
#define EXI_UNPACKED_SKELETON       "skeleton.glb"
#define EXI_UNPACKED_OTHER_SKELETON "joints.glb"
#define EXI_UNPACKED_MATERIALS      "materials.gltf"
/* The same for a project called "clips". */
#define EXI_UNPACKED_CLIPS       "clips.glb"
#define EXI_UNPACKED_OTHER_CLIPS "animations.glb"
#define EXI_UNPACKED_DRIVER      "driver.obj"
#define EXI_UNPACKED_BINDS       "binds.json"

/* Name of a file of an example. */
typedef struct exi_file_name {
    char text[128];
} exi_file_name;
/* Returns PREFIX_007_NAME.ENDING, in characters that every file system accepts. */
exi_file_name exi_file_name_make(const char *prefix, int number, const char *name, const char *ending);
typedef enum exi_unpacked_kind {
    EXI_UNPACKED_FILE, /* file of the layer's domain: a form, an image, a map */
    EXI_UNPACKED_BONES,
    EXI_UNPACKED_DRIVER_FORM,
    EXI_UNPACKED_KIND_COUNT
} exi_unpacked_kind;
exi_file_name exi_unpacked_name(const ex_rig *rig, int layer, int example, exi_unpacked_kind kind);
/* Names of the files of a layer of trajectories: its mask, and the given segments. */
exi_file_name exi_unpacked_mask_name(int layer);
exi_file_name exi_unpacked_segments_name(int layer);

/* True if an example has a file of that kind. shifts: scratch [joint_count][3]. */
bool exi_unpacked_has(const ex_rig *rig, int layer, int example, exi_unpacked_kind kind, float *shifts);

/* The folder being filled, with a set of files that appears as a whole, or not at all. */
typedef struct exi_new_folder {
    const char *path;
    bool overwrite;
    ex_file_set *set;
    char **made;
    int made_count;
    size_t made_capacity;
} exi_new_folder;

/* The driver of a rig, as it will be written to files. */
typedef struct exi_unpacked_driver {
    bool there;
    ex_rig_driver driver; /* pointers into the rig */
    ex_bind binds[EX_BIND_MAX];
    int layer;                /* index of the layer that it weighs, or -1 */
    ex_mesh *mesh;            /* of the driver */
    ex_drive_options options; /* the original options */
    float *masks;             /* [region_count][vertex_count] of hand-made regions, or NULL */
    exi_arena arena;
} exi_unpacked_driver;
ex_result exi_unpack_driver_open(exi_unpacked_driver *d, const ex_rig *rig, ex_error *error);
void exi_unpack_driver_close(exi_unpacked_driver *d);
/* Add "driver" and "settle" to the project; the layer's keys in "weigh"; and an example's keys. False without
 * memory. */
bool exi_unpack_describe_driver(const exi_unpacked_driver *d, const ex_rig *rig, json_t *root);
bool exi_unpack_describe_settle(const exi_unpacked_driver *d, json_t *root);
bool exi_unpack_describe_driven(const exi_unpacked_driver *d, const ex_rig *rig, int layer, json_t *object,
                                json_t *weigh);
bool exi_unpack_describe_key(const ex_rig *rig, int layer, int example, json_t *object);
/* Checks that the names of its files are free; and writes the files, except for forms. */
ex_result exi_unpack_check_driver(const exi_unpacked_driver *d, const ex_rig *rig, const exi_new_folder *folder,
                                  ex_error *error);
ex_result exi_unpack_write_driver(const exi_unpacked_driver *d, const ex_rig *rig, exi_new_folder *folder,
                                  ex_error *error);
/* Writes a mask to a file (unpack_trajectories.c). */
ex_result exi_unpack_write_mask(const float *mask, int vertex_count, const char *path, ex_error *error);

/* Makes the project file. NULL without memory, or, with a sentence in error, if the rig cannot be described. paths: the
 * rig's note (project_trajectories.h), or NULL. project: name of its file. */
ex_result exi_unpack_describe(const ex_rig *rig, const json_t *paths, const exi_unpacked_driver *driver,
                              const char *project, json_t **root, ex_error *error);

/* Return the names of these files, which are not that of the project's rig, NAME.glb, on any disk. */
const char *exi_unpacked_skeleton(const char *project);
const char *exi_unpacked_clips(const char *project);

/* looks_files.c. Looks may be NULL. Checks that the names of the files are free. */
ex_result exi_looks_check_free(const ex_scene *looks, const exi_new_folder *folder, ex_error *error);
/* Writes the files. All images must be inside; they then refer to files. */
ex_result exi_looks_write(ex_scene *looks, exi_new_folder *folder, ex_error *error);

/* Returns the path of a file to be written, hidden until the end and owned by the folder; NULL and an error without
 * memory. */
const char *exi_new_folder_add(exi_new_folder *folder, const char *name, ex_error *error);

/* Fails with EX_ERROR_FILE if a file of that name exists. Called for every name before anything is written. */
ex_result exi_new_folder_check_free(const exi_new_folder *folder, const char *name, ex_error *error);
/* Makes the folder if it is missing, and starts the set; exi_new_folder_close ends it, if this fails, too. */
ex_result exi_new_folder_open(exi_new_folder *folder, ex_error *error);
/* Ends the work: moves the files to their places, the project last, unless `result` of writing them is a failure.
 * Returns the result of both. */
ex_result exi_new_folder_close(exi_new_folder *folder, const char *project, ex_result result, ex_error *error);

/* State while forms are written. */
typedef struct exi_unpacking {
    const ex_rig *rig;
    exi_new_folder *folder;
    ex_mesh form;              /* the mesh's faces, and its own positions */
    double *centres;           /* [joint_count][3] */
    exi_project_driver driver; /* only its forms */
    exi_measure measure;
    float ***deltas, ***shifts;      /* [layer_count] of [example_count]; shifts NULL for an example without any */
    ex_offsets **offsets;            /* [layer_count] of [example_count], NULL for layers of forms */
    exi_project_trajectories *paths; /* [layer_count], all zero for layers of other domains */
    float **masks;                   /* [layer_count] masks of these, each may be NULL */
} exi_unpacking;

/* Writes the files of all examples; forms get the faces of mesh, which is the rig's at rest and is left unchanged.
 * view: the project file as it will be read. */
ex_result exi_unpack_layers(const ex_rig *rig, const ex_project_view *view, const ex_mesh *mesh,
                            const exi_unpacked_driver *driver, exi_new_folder *folder, ex_error *error);

/* Adds to a layer of trajectories how they were found, and the names of its files; false without memory. */
bool exi_unpack_describe_trajectories(const ex_rig *rig, int layer, const json_t *paths, json_t *object);
/* Checks that the names of these files are free; and writes the files. */
ex_result exi_unpack_check_trajectories(const ex_rig *rig, int layer, const json_t *paths, const exi_new_folder *folder,
                                        ex_error *error);
ex_result exi_unpack_write_trajectories(const ex_rig *rig, int layer, const json_t *paths, const ex_mesh *mesh,
                                        exi_new_folder *folder, ex_error *error);

#endif
