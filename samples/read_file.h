/* read_file.h - a whole file in memory, for the samples that use the runtime alone, which opens no files. */
#ifndef SAMPLES_READ_FILE_H
#define SAMPLES_READ_FILE_H

#include <stdio.h>
#include <stdlib.h>

/* The bytes of a file, to be freed; NULL where it cannot be read. */
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
