/*
 * Rows: entries of an array of the caller's, `stride` bytes apart. Per-frame calls check them before they touch one, so
 * that none is read or written at an address that is not aligned.
 */
#ifndef EXI_ROWS_H
#define EXI_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if rows of `size` bytes of floats can be `stride` bytes apart (0: packed): aligned, and without overlap. NULL
 * has no rows. */
static inline bool exi_rows_fit(const void *rows, size_t stride, size_t size) {
    const size_t whole = sizeof(float);
    return !rows || ((uintptr_t)rows % whole == 0 && (stride == 0 || (stride % whole == 0 && stride >= size)));
}

/* The misuse otherwise. */
#define EXI_ROWS_MISUSE "an address or a stride is not a multiple of 4 bytes, or a stride is shorter than an entry"

#endif
