/*
 * gltf_writer.h - what the parts of the glTF writer share: the tree and the buffer that grow. Parts: gltf_write.c
 * (nodes, skins, animations, the files), gltf_write_mesh.c, gltf_write_looks.c, gltf_write_arrays.c (accessors).
 *
 * Failures for lack of memory are kept in `failed` and looked at in the end: a NULL never reaches a finished tree.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_GLTF_GLTF_WRITER_H
#define EXEMPLAR_AUTHOR_FORMATS_GLTF_GLTF_WRITER_H

#include "author/base/json.h"
#include "author/formats/scene/scene.h"

/* What an array is for; the view says so to viewers. */
typedef enum exi_gltf_use { EXI_GLTF_DATA, EXI_GLTF_VERTICES, EXI_GLTF_INDICES } exi_gltf_use;

typedef struct exi_gltf_known exi_gltf_known;

typedef struct exi_gltf_writer {
    const ex_scene *scene;
    const char *path;
    bool embed_files; /* images that are files go into the buffer */
    ex_error *error;
    json_t *root, *views, *accessors, *used;
    exi_text bin;
    exi_gltf_known *known; /* arrays written so far: the same one is not written twice */
    size_t known_count, known_capacity;
    bool failed;
} exi_gltf_writer;

void exi_gltf_set(exi_gltf_writer *w, json_t *object, const char *key, json_t *value);
void exi_gltf_append(exi_gltf_writer *w, json_t *array, json_t *value);
/* A name where there is one; bytes that are not UTF-8 become question marks. */
void exi_gltf_set_name(exi_gltf_writer *w, json_t *object, const char *name);
/* Whole numbers without a point. */
json_t *exi_gltf_number(double value);
json_t *exi_gltf_numbers(exi_gltf_writer *w, const double *values, int count);

/* Bytes into the buffer, at a multiple of 4; the number of their view. */
int exi_gltf_add_view(exi_gltf_writer *w, const void *bytes, size_t size, exi_gltf_use use);
/* Accessors; bounds adds the smallest and largest of each column. */
int exi_gltf_add_floats(exi_gltf_writer *w, const float *values, int count, int width, exi_gltf_use use, bool bounds);
/* Rows of three of a morph target: where few of them are not 0, only those are written (a sparse accessor). */
int exi_gltf_add_differences(exi_gltf_writer *w, const float *values, int count, bool bounds);
/* Whole numbers in as few bytes as they fit, 1 (joints only), 2 or 4. */
int exi_gltf_add_indices(exi_gltf_writer *w, const int *values, int count, int vertex_count);
int exi_gltf_add_joints(exi_gltf_writer *w, const uint16_t *values, int count);

void exi_gltf_write_meshes(exi_gltf_writer *w);
ex_result exi_gltf_write_looks(exi_gltf_writer *w);

/* A relative file name as a URI. Release with free; NULL without memory. */
char *exi_gltf_path_to_uri(const char *path);

#endif
