/*
 * ogawa.h - Ogawa, the container of Alembic files: groups of references, and streams of bytes; private to the formats.
 *
 *   header  "Ogawa", 0xFF once the file is complete, version 0 1, the offset of the root group
 *   group   the number of references, then the references
 *   stream  the number of bytes, then the bytes
 *
 * All numbers are little-endian. A reference is an offset in the file, with the top bit set for a stream; an offset of
 * 0 is an empty group or stream. Nothing is kept in memory, so files may be larger than it. Every offset and size is
 * checked against the size of the file before it is used.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_CACHE_ALEMBIC_OGAWA_H
#define EXEMPLAR_AUTHOR_FORMATS_CACHE_ALEMBIC_OGAWA_H

#include "runtime/base/result.h"

#include <stdint.h>
#include <stdio.h>

#define EXI_OGAWA_MARK   "Ogawa"
#define EXI_OGAWA_HEADER 16
#define EXI_OGAWA_STREAM 0x8000000000000000u /* top bit of a reference; alone, an empty stream */

typedef struct exi_ogawa {
    FILE *file;
    char *path; /* for errors */
    uint64_t size;
} exi_ogawa;

typedef struct exi_ogawa_group {
    uint64_t at, count; /* offset of the first reference, and their number */
} exi_ogawa_group;

typedef struct exi_ogawa_stream {
    uint64_t at, size; /* offset of the first byte, and their number */
} exi_ogawa_stream;

/* Opens a file whose name has that length and finds the root group. FORMAT if it is not an Ogawa file. On failure, it
 * is closed. */
ex_result exi_ogawa_open(exi_ogawa *file, const char *path, size_t length, exi_ogawa_group *root, ex_error *error);
void exi_ogawa_close(exi_ogawa *file);

/* Sets "PATH: the Alembic file is damaged: WHAT" and returns EX_ERROR_DATA. */
ex_result exi_ogawa_damaged(const exi_ogawa *file, const char *what, ex_error *error);

/* Reads a reference of a group; DATA if it has fewer. */
ex_result exi_ogawa_child(const exi_ogawa *file, exi_ogawa_group group, uint64_t index, uint64_t *reference,
                          ex_error *error);
/* Finds a group or a stream by a reference; DATA if that is the other of them, or outside the file. */
ex_result exi_ogawa_enter(const exi_ogawa *file, uint64_t reference, exi_ogawa_group *group, ex_error *error);
ex_result exi_ogawa_find(const exi_ogawa *file, uint64_t reference, exi_ogawa_stream *stream, ex_error *error);
/* The same for a child of a group. */
ex_result exi_ogawa_enter_child(const exi_ogawa *file, exi_ogawa_group group, uint64_t index, exi_ogawa_group *child,
                                ex_error *error);
ex_result exi_ogawa_find_child(const exi_ogawa *file, exi_ogawa_group group, uint64_t index, exi_ogawa_stream *child,
                               ex_error *error);
/* Reads bytes of a stream that lie within it. */
ex_result exi_ogawa_read(const exi_ogawa *file, exi_ogawa_stream stream, uint64_t from, void *bytes, size_t size,
                         ex_error *error);
/* Reads a whole stream; release with free. */
ex_result exi_ogawa_read_all(const exi_ogawa *file, exi_ogawa_stream stream, unsigned char **bytes, ex_error *error);

static inline uint64_t exi_ogawa_number(const unsigned char *bytes, int size) {
    uint64_t number = 0;
    for (int i = size; i-- > 0;)
        number = number << 8 | bytes[i];
    return number;
}

static inline void exi_ogawa_put(unsigned char *bytes, uint64_t number, int size) {
    for (int i = 0; i < size; i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
}

#endif
