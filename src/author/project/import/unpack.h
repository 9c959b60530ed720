/*
 * unpack.h - what the parts of unpacking share; private to authoring.
 *
 *   unpack.c           the folder, and the way through all of it
 *   unpack_project.c   the project file as JSON
 *   unpack_layers.c    examples as files
 *   unpack_trajectories.c     what layers of trajectories have besides
 *   unpack_driver.c    the driver, and what the layer that it weighs has besides
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_IMPORT_UNPACK_H
#define EXEMPLAR_AUTHOR_PROJECT_IMPORT_UNPACK_H

#include "author/project/build/measure.h"
#include "author/project/model/driver.h"
#include "author/project/model/project.h"

#define EXI_UNPACKED_MESH     "mesh.obj"
#define EXI_UNPACKED_SKELETON "skeleton.glb"
#define EXI_UNPACKED_DRIVER   "driver.obj"
#define EXI_UNPACKED_BINDS    "binds.json"

/* Names of an example's files. */
typedef struct exi_file_name {
    char text[128];
} exi_file_name;
/* PREFIX_007_NAME.ENDING, of characters that every file system takes. */
exi_file_name exi_file_name_make(const char *prefix, int number, const char *name, const char *ending);
typedef enum exi_unpacked_kind {
    EXI_UNPACKED_FILE, /* what its layer's domain has: a form, an image, a map */
    EXI_UNPACKED_BONES,
    EXI_UNPACKED_DRIVER_FORM,
    EXI_UNPACKED_KIND_COUNT
} exi_unpacked_kind;
exi_file_name exi_unpacked_name(const ex_rig *rig, int layer, int example, exi_unpacked_kind kind);
/* Files of a layer of trajectories: its mask, and the segments that were given. */
exi_file_name exi_unpacked_mask_name(int layer);
exi_file_name exi_unpacked_segments_name(int layer);

/* Whether an example has a file of that kind. shifts: room for [joint_count][3]. */
bool exi_unpacked_has(const ex_rig *rig, int layer, int example, exi_unpacked_kind kind, float *shifts);

/* The folder being filled. Files that were not there before are taken away again if the work fails. */
typedef struct exi_new_folder {
    const char *path;
    bool overwrite;
    char **made;
    int made_count;
    size_t made_capacity;
} exi_new_folder;

/* The driver of a rig, as files will have it. */
typedef struct exi_unpacked_driver {
    bool there;
    ex_rig_driver driver; /* pointers into the rig */
    ex_bind binds[EX_BIND_MAX];
    int layer;                /* that it weighs, or -1 */
    ex_mesh *mesh;            /* of the driver */
    ex_drive_options options; /* as they were */
    float *masks;             /* [region_count][vertex_count] of regions made by hand, or NULL */
    exi_arena arena;
} exi_unpacked_driver;
ex_result exi_unpack_driver_open(exi_unpacked_driver *d, const ex_rig *rig, ex_error *error);
void exi_unpack_driver_close(exi_unpacked_driver *d);
/* Adds "driver" and "settle" to the whole; what the layer has in "weigh"; and what an example has. False without
 * memory.
 */
bool exi_unpack_describe_driver(const exi_unpacked_driver *d, const ex_rig *rig, json_t *root);
bool exi_unpack_describe_settle(const exi_unpacked_driver *d, json_t *root);
bool exi_unpack_describe_driven(const exi_unpacked_driver *d, const ex_rig *rig, int layer, json_t *object,
                                json_t *weigh);
bool exi_unpack_describe_key(const ex_rig *rig, int layer, int example, json_t *object);
/* Looks whether the names of its files are free, and writes them: all but forms. */
ex_result exi_unpack_check_driver(const exi_unpacked_driver *d, const ex_rig *rig, const exi_new_folder *folder,
                                  ex_error *error);
ex_result exi_unpack_write_driver(const exi_unpacked_driver *d, const ex_rig *rig, exi_new_folder *folder,
                                  ex_error *error);
/* A mask as a file (unpack_trajectories.c). */
ex_result exi_unpack_write_mask(const float *mask, int vertex_count, const char *path, ex_error *error);

/* The project file. NULL without memory, or, with a sentence in error, where the rig cannot be described. paths: the
 * rig's note (project_trajectories.h), or NULL. */
ex_result exi_unpack_describe(const ex_rig *rig, const json_t *paths, const exi_unpacked_driver *driver, json_t **root,
                              ex_error *error);

/* The path of a file to be written, which the folder keeps; NULL and an error without memory. */
const char *exi_new_folder_add(exi_new_folder *folder, const char *name, ex_error *error);

/* EX_ERROR_FILE where a file of that name is there already: asked of every name before anything is written. */
ex_result exi_new_folder_check_free(const exi_new_folder *folder, const char *name, ex_error *error);
/* Ends the work; without keep, what is new in the folder is removed. */
void exi_new_folder_close(exi_new_folder *folder, bool keep);

/* What lives while forms are written. */
typedef struct exi_unpacking {
    const ex_rig *rig;
    exi_new_folder *folder;
    ex_mesh form;              /* the mesh's faces alone, and positions of its own */
    double *centres;           /* [joint_count][3] */
    exi_project_driver driver; /* its forms alone */
    exi_measure measure;
    float ***deltas, ***shifts;      /* [layer_count] of [example_count]; shifts NULL where an example has none */
    ex_offsets **offsets;            /* [layer_count] of [example_count], NULL for layers of forms */
    exi_project_trajectories *paths; /* [layer_count], all zero for layers of others than trajectories */
    float **masks;                   /* [layer_count], of these, each may be NULL */
} exi_unpacking;

/* Writes the files of all examples: forms with the faces of mesh, which is the rig's at rest and is left so. view is
 * what the project file will be read as. */
ex_result exi_unpack_layers(const ex_rig *rig, const ex_project_view *view, const ex_mesh *mesh,
                            const exi_unpacked_driver *driver, exi_new_folder *folder, ex_error *error);

/* Adds to a layer of trajectories how they were found, with the names of its files; false without memory. */
bool exi_unpack_describe_trajectories(const ex_rig *rig, int layer, const json_t *paths, json_t *object);
/* Looks whether the names of these files are free, and writes them. */
ex_result exi_unpack_check_trajectories(const ex_rig *rig, int layer, const json_t *paths, const exi_new_folder *folder,
                                        ex_error *error);
ex_result exi_unpack_write_trajectories(const ex_rig *rig, int layer, const json_t *paths, const ex_mesh *mesh,
                                        exi_new_folder *folder, ex_error *error);

#endif
