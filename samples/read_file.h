/* read_file.h - reads a file into memory, for the samples that use only the runtime, which opens no files. */
#ifndef SAMPLES_READ_FILE_H
#define SAMPLES_READ_FILE_H

#include <stdio.h>
#include <stdlib.h>

/* The bytes of a file, caller frees; NULL if it cannot be read. */
static inline void *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    long length = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        length = ftell(file);
    char *bytes = length > 0 ? malloc((size_t)length) : NULL;
    if (bytes) {
        rewind(file);
        *size = fread(bytes, 1, (size_t)length, file);
    }
    if (file)
        fclose(file);
    return bytes;
}

#endif
