/* read_file.h - reads files, for the samples that use only the runtime, which opens none. */
#ifndef SAMPLES_READ_FILE_H
#define SAMPLES_READ_FILE_H

#include <exemplar/rig.h>
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

/* The rig of a file; NULL after printing why not. */
static inline ex_rig *read_rig(const char *path) {
    size_t size = 0;
    void *bytes = read_file(path, &size);
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (!bytes)
        fprintf(stderr, "cannot read '%s'\n", path);
    else if (ex_rig_unpack(bytes, size, NULL, NULL, &rig, &error) != EX_OK)
        fprintf(stderr, "%s: %s\n", path, error.text);
    free(bytes); /* the rig is a copy */
    return rig;
}

#endif
