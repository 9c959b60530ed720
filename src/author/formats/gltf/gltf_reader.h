/*
 * gltf_reader.h - shared by the files of the glTF reader. One reader reads one file, in one thread:
 *
 *   gltf_read.c        framing, asset, extensions, order of reading
 *   gltf_json.c        values of the JSON tree
 *   gltf_buffers.c     buffers and their views
 *   gltf_meshopt.c     views compressed with meshopt
 *   gltf_uri.c         data: URIs and file names
 *   gltf_accessors.c   arrays of numbers
 *   gltf_meshes.c      primitives and targets
 *   gltf_skinning.c    joints and weights of vertices
 *   gltf_nodes.c       nodes and skins
 *   gltf_animations.c  channels
 *   gltf_looks.c       materials, textures, images
 *
 * `where` is the place in the file, meshes[0].primitives[1]; errors read "FILE: WHERE: sentence".
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_GLTF_GLTF_READER_H
#define EXEMPLAR_AUTHOR_FORMATS_GLTF_GLTF_READER_H

#include "author/formats/scene/scene.h"

#include <jansson.h>

#define EXI_WHERE_SIZE 128

/* Bytes that the arrays of a file may take once decoded: the first number, and for each byte of the file the second.
 * Sparse targets and vertices shared by a character's materials stay far below; a bomb does not. */
#define EXI_GLTF_UNFOLDED_SURE     ((size_t)32 << 20)
#define EXI_GLTF_UNFOLDED_PER_BYTE ((size_t)64)

typedef struct exi_gltf_buffer {
    const unsigned char *bytes; /* NULL until first used */
    size_t size, whole;         /* as the file says, and as there are */
    void *owned;                /* or NULL */
} exi_gltf_buffer;

typedef struct exi_gltf {
    const char *path;
    bool open_files;
    ex_error *error;
    json_t *root;
    const unsigned char *bin; /* the BIN chunk, or NULL */
    size_t bin_size;
    json_t *buffer_list, *view_list, *accessor_list; /* arrays of root, or NULL */
    int buffer_count, view_count, accessor_count;
    exi_gltf_buffer *buffers;  /* [buffer_count] */
    exi_gltf_buffer *unpacked; /* [view_count] bytes of compressed views; NULL until first used */
    bool *lost_images;         /* [number of images] true for pictures that cannot be had */
    size_t file_size;          /* of the file, and of other files that it names, as far as they were read */
    size_t unpacked_size;      /* bytes of compressed views so far, once decoded */
    size_t unfolded, budget;   /* bytes of decoded arrays so far, and their limit */
    ex_scene *scene;
} exi_gltf;

/* Counts `bytes` that are about to be decoded. Results: LIMIT, with the limit and what to do. */
ex_result exi_gltf_unfold(exi_gltf *g, size_t bytes, const char *where);

/* ---- errors and memory ---- */

ex_result exi_gltf_fail(const exi_gltf *g, ex_result result, const char *where, const char *format, ...)
    EX_PRINTF(4, 5);
ex_result exi_gltf_no_memory(const exi_gltf *g);

/* Allocates zeroed memory for count items, in *memory; for arrays whose length is bounded by the JSON tree. */
ex_result exi_gltf_allocate(const exi_gltf *g, int count, size_t size, void **memory);

/* ---- values of an object; *value is unchanged if the key is absent ---- */

ex_result exi_gltf_get_int(const exi_gltf *g, const json_t *object, const char *key, int low, int high,
                           const char *where, int *value);
ex_result exi_gltf_get_size(const exi_gltf *g, const json_t *object, const char *key, const char *where, size_t *value);
ex_result exi_gltf_get_bool(const exi_gltf *g, const json_t *object, const char *key, const char *where, bool *value);
ex_result exi_gltf_get_number(const exi_gltf *g, const json_t *object, const char *key, const char *where,
                              double *value);
/* Gets `count` numbers. Sets *present (may be NULL) to true if they are there. */
ex_result exi_gltf_get_numbers(const exi_gltf *g, const json_t *object, const char *key, int count, const char *where,
                               double *values, bool *present);
/* Gets an index into `count` items of a kind. */
ex_result exi_gltf_get_reference(const exi_gltf *g, const json_t *object, const char *key, int count, const char *what,
                                 const char *where, int *value);
/* Gets a copy of a text, or NULL if the key is absent. */
ex_result exi_gltf_get_text(const exi_gltf *g, const json_t *object, const char *key, const char *where, char **text);
/* Gets an array; NULL and *count 0 if the key is absent. With objects_only, every element must be an object. */
ex_result exi_gltf_get_array(const exi_gltf *g, const json_t *object, const char *key, bool objects_only,
                             const char *where, json_t **array, int *count);
/* Gets an object, or NULL if the key is absent. */
ex_result exi_gltf_get_object(const exi_gltf *g, const json_t *object, const char *key, const char *where,
                              json_t **value);

/* ---- bytes ---- */

/* Opens a URI: the bytes of a data: URI, or of a file next to the scene's. The caller frees *owned. */
ex_result exi_gltf_open_uri(const exi_gltf *g, const char *uri, const char *where, unsigned char **owned, size_t *size);
/* True for a data: URI. *mime_type gets a copy of its MIME type, NULL without memory. */
bool exi_gltf_is_data_uri(const char *uri, char **mime_type);
/* Converts a URI to a file name, with percent signs decoded; refuses absolute paths and schemes. */
ex_result exi_gltf_uri_to_path(const exi_gltf *g, const char *uri, const char *where, char **path);

/* Gets `size` bytes of a buffer from `offset` on, and opens the buffer if necessary. */
ex_result exi_gltf_bytes(exi_gltf *g, int buffer, size_t offset, size_t size, const char *where,
                         const unsigned char **bytes);
/* Decodes a compressed view into g->unpacked, unless that is done. *packed_view: whether the view is compressed, and
 * its bytes are to be found there. Results: DATA, LIMIT, MEMORY. */
ex_result exi_gltf_unpack(exi_gltf *g, const json_t *view, int number, bool *packed_view);
/* True for a buffer that only readers without compression need. It may have no bytes. */
bool exi_gltf_is_fallback(const json_t *buffer);

/* Gets the bytes of a view and its stride (0: none given). */
ex_result exi_gltf_view(exi_gltf *g, int view, const unsigned char **bytes, size_t *size, size_t *stride);

/* ---- arrays ---- */

/* Reads a VEC`width` accessor as floats; integers are scaled to [-1, 1] or [0, 1] if the accessor is normalised. width
 * 16 is a MAT4. expected is the number of elements, or -1 for any; *count receives it. All numbers are finite. */
ex_result exi_gltf_floats(exi_gltf *g, int accessor, int width, int expected, const char *where, float **values,
                          int *count);
/* The same for either of two widths; a missing fourth number is 1. */
ex_result exi_gltf_colours(exi_gltf *g, int accessor, int expected, const char *where, float **values);
/* Reads non-negative integers up to `most`. */
ex_result exi_gltf_ints(exi_gltf *g, int accessor, int width, int expected, int most, const char *where, int **values,
                        int *count);

/* ---- parts of the scene, in the order in which they are read ---- */

ex_result exi_gltf_read_looks(exi_gltf *g);
ex_result exi_gltf_read_meshes(exi_gltf *g);
ex_result exi_gltf_read_influences(exi_gltf *g, const json_t *attributes, ex_scene_primitive *primitive,
                                   const char *where);
ex_result exi_gltf_read_nodes(exi_gltf *g);
ex_result exi_gltf_read_skins(exi_gltf *g);
ex_result exi_gltf_read_animations(exi_gltf *g);

#endif
