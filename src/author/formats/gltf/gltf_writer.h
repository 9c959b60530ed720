/*
 * gltf_writer.h - shared by the files of the glTF writer: the growing tree and buffer. Files: gltf_write.c (nodes,
 * skins, animations, the output files), gltf_write_mesh.c, gltf_write_looks.c, gltf_write_arrays.c (accessors).
 *
 * `failed` records lack of memory and is checked at the end: a NULL never reaches a finished tree.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_GLTF_GLTF_WRITER_H
#define EXEMPLAR_AUTHOR_FORMATS_GLTF_GLTF_WRITER_H

#include "author/base/json.h"
#include "author/formats/scene/scene.h"

/* Use of an array; the view tells viewers. */
typedef enum exi_gltf_use { EXI_GLTF_DATA, EXI_GLTF_VERTICES, EXI_GLTF_INDICES } exi_gltf_use;

typedef struct exi_gltf_known exi_gltf_known;

typedef struct exi_gltf_writer {
    const ex_scene *scene;
    const char *path;
    bool embed_files; /* true: image files are copied into the buffer */
    ex_error *error;
    json_t *root, *views, *accessors, *used;
    exi_text bin;
    exi_gltf_known *known; /* arrays written so far, so that none is written twice */
    size_t known_count, known_capacity;
    int *known_first; /* by hash: number of the newest array, counting from 1; 0 for none */
    bool failed;
} exi_gltf_writer;

void exi_gltf_set(exi_gltf_writer *w, json_t *object, const char *key, json_t *value);
/* Sets a list or an object that has entries, and drops an empty one. */
void exi_gltf_set_filled(exi_gltf_writer *w, json_t *object, const char *key, json_t *value);
void exi_gltf_append(exi_gltf_writer *w, json_t *array, json_t *value);
/* Sets a name if there is one; bytes that are not UTF-8 become question marks. */
void exi_gltf_set_name(exi_gltf_writer *w, json_t *object, const char *name);
/* Makes a number; whole ones without a point. */
json_t *exi_gltf_number(double value);
json_t *exi_gltf_numbers(exi_gltf_writer *w, const double *values, int count);

/* Appends bytes to the buffer, at a multiple of 4. Returns the index of their view. */
int exi_gltf_add_view(exi_gltf_writer *w, const void *bytes, size_t size, exi_gltf_use use);
/* Add accessors; bounds adds the minimum and maximum of each column. */
int exi_gltf_add_floats(exi_gltf_writer *w, const float *values, int count, int width, exi_gltf_use use, bool bounds);
/* Adds rows of three of a morph target. If few of them are not 0, writes only those (a sparse accessor). */
int exi_gltf_add_differences(exi_gltf_writer *w, const float *values, int count, bool bounds);
/* Adds whole numbers in the fewest bytes: 1 (joints only), 2 or 4. */
int exi_gltf_add_indices(exi_gltf_writer *w, const int *values, int count, int vertex_count);
int exi_gltf_add_joints(exi_gltf_writer *w, const uint16_t *values, int count);

void exi_gltf_write_meshes(exi_gltf_writer *w);
ex_result exi_gltf_write_looks(exi_gltf_writer *w);

/* Converts a relative file name to a URI. Release with free; NULL without memory. */
char *exi_gltf_path_to_uri(const char *path);

#endif
