/* tests/editor/probe.h - functions shared by the probes. */
#ifndef EXEMPLAR_TESTS_EDITOR_PROBE_H
#define EXEMPLAR_TESTS_EDITOR_PROBE_H

#include <exemplar/exemplar.h>

#include <stdio.h>
#include <stdlib.h>

/* The rig in a file, or NULL. */
static inline ex_rig *read_rig(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(size + 1);
    ex_rig *rig = NULL;
    if (bytes && fread(bytes, 1, size, file) == size)
        (void)ex_rig_unpack(bytes, size, NULL, NULL, &rig, NULL);
    free(bytes);
    fclose(file);
    return rig;
}

#endif
