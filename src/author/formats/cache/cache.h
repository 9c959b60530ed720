/*
 * cache.h - shared by the files that read and write point caches; private to the formats.
 *
 *   cache.c        PC2 and MDD: reading, and the kinds
 *   cache_obj.c    numbered OBJ files: reading and writing
 *   cache_write.c  PC2 and MDD: writing, and the writer of all kinds
 *   alembic/       Alembic: reading and writing
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_CACHE_CACHE_H
#define EXEMPLAR_AUTHOR_FORMATS_CACHE_CACHE_H

#include "runtime/base/result.h"

#include <exemplar/author/cache.h>
#include <exemplar/author/files.h>

/* Frame rate of numbered OBJ files, which have no times. */
#define EXI_CACHE_OBJ_FPS 24.0

/* Bytes before a PC2 file's frames, and its signature. */
#define EXI_PC2_HEADER 32
#define EXI_PC2_MARK   "POINTCACHE2" /* followed by a NUL */

/* ---- numbered OBJ files ---- */

typedef struct exi_obj_frames {
    int count;
    char **paths;  /* [count], in the order of their numbers */
    int *numbers;  /* [count]; -1: one mesh, without a number */
    ex_mesh *mesh; /* of the first file */
} exi_obj_frames;

ex_result exi_obj_frames_open(const char *path, exi_obj_frames *frames, ex_error *error);
ex_result exi_obj_frames_read(const exi_obj_frames *frames, int frame, float *positions, ex_error *error);
void exi_obj_frames_close(exi_obj_frames *frames);

/* Writes frames as a set of files, which get their places at the end. */
typedef struct exi_obj_writer {
    ex_file_set *set;
    char *name;   /* of the frames, without number and .obj */
    char *hidden; /* buffer for the path of a frame in the set */
    size_t size;  /* of the buffer */
    ex_mesh *mesh;
    int digits, written;
} exi_obj_writer;

ex_result exi_obj_writer_open(exi_obj_writer *writer, const char *path, int frame_count, const ex_mesh *mesh,
                              ex_error *error);
ex_result exi_obj_writer_add(exi_obj_writer *writer, const float *positions, ex_error *error);
/* Moves the frames to their places, or removes them; closes the writer. */
ex_result exi_obj_writer_finish(exi_obj_writer *writer, bool keep, ex_error *error);

/* ---- numbers ---- */

static inline uint32_t exi_cache_bits(const unsigned char bytes[4], bool big_endian) {
    const int at[4] = {big_endian ? 3 : 0, big_endian ? 2 : 1, big_endian ? 1 : 2, big_endian ? 0 : 3};
    return (uint32_t)bytes[at[0]] | (uint32_t)bytes[at[1]] << 8 | (uint32_t)bytes[at[2]] << 16 |
           (uint32_t)bytes[at[3]] << 24;
}

static inline void exi_cache_put_bits(unsigned char bytes[4], uint32_t bits, bool big_endian) {
    for (int i = 0; i < 4; i++)
        bytes[big_endian ? 3 - i : i] = (unsigned char)(bits >> 8 * i);
}

#endif
