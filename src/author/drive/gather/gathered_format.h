/*
 * gathered_format.h - the beginning of a gathered file, for the files that write and read it. Private to this folder.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_GATHER_GATHERED_FORMAT_H
#define EXEMPLAR_AUTHOR_DRIVE_GATHER_GATHERED_FORMAT_H

#include "author/drive/learn/references.h"

#include <stdint.h>

#define EXI_GATHERED_MAGIC   "EXGATHER"
#define EXI_GATHERED_VERSION 1u

typedef struct exi_gathered_header {
    char magic[8];
    uint32_t version, reserved;
} exi_gathered_header;

/* Numbers of one frame of keys: both forms, padded to eight bytes. */
static inline size_t exi_gathered_frame_size(const exi_references *refs) {
    const size_t numbers = 3 * ((size_t)refs->driver_count + (size_t)refs->driven_count);
    return numbers + numbers % 2;
}

#endif
