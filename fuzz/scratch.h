/*
 * scratch.h - files for targets whose readers take a path: in the folder that TMPDIR names, in memory where the system
 * has such a folder, else in /tmp.
 */
#ifndef EXEMPLAR_FUZZ_SCRATCH_H
#define EXEMPLAR_FUZZ_SCRATCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct scratch_path {
    char text[512];
} scratch_path;

/* A path of this process that ends in `name`. */
static inline scratch_path scratch_name(const char *name) {
    scratch_path path;
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder)
        folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (snprintf(path.text, sizeof path.text, "%s/fuzz.%d.%s", folder, (int)getpid(), name) >= (int)sizeof path.text)
        abort();
    return path;
}

static inline void scratch_write(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
}

#endif
