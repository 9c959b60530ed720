/* cli/base/encode.c - encodes through an unnamed file, which the library's writers accept like any other. */
#define _POSIX_C_SOURCE 200809L

#include "encode.h"

#include <exemplar/author/files.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static ex_result write_rig(const char *path, const void *rig, ex_error *error) {
    return ex_rig_write(path, rig, error);
}

static ex_result write_project(const char *path, const void *project, ex_error *error) {
    return ex_project_write(project, path, error);
}

static ex_result write_obj(const char *path, const void *mesh, ex_error *error) {
    return ex_obj_write(path, mesh, error);
}

static ex_result encode(ex_result (*write)(const char *path, const void *thing, ex_error *error), const void *thing,
                        char **bytes, size_t *size, ex_error *error) {
    char path[32];
    FILE *file = tmpfile();
    if (!file && errno == ENOMEM)
        return ex_file_error(error, "write", "a temporary file", ENOMEM);
    if (!file)
        return ex_error_set(error, EX_ERROR_FILE,
                            "there is no room for a temporary file: set TMPDIR to a folder with free space");
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(file));
    ex_result result = write(path, thing, error);
    if (result == EX_OK) {
        rewind(file);
        result = ex_file_read(path, bytes, size, error);
    }
    fclose(file);
    return result;
}

ex_result exi_rig_encode(const ex_rig *rig, char **bytes, size_t *size, ex_error *error) {
    return encode(write_rig, rig, bytes, size, error);
}

ex_result exi_rig_encode_bare(const ex_rig *rig, char **bytes, size_t *size, ex_error *error) {
    *size = ex_rig_pack_size(rig);
    *bytes = malloc(*size + 1);
    if (!*bytes)
        return ex_error_memory(error, "the rig", *size);
    (*bytes)[*size] = '\0';
    const ex_result result = ex_rig_pack(rig, *bytes, *size, error);
    if (result != EX_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return result;
}

ex_result exi_project_encode(const ex_project *project, char **bytes, size_t *size, ex_error *error) {
    return encode(write_project, project, bytes, size, error);
}

ex_result exi_obj_encode(const ex_mesh *mesh, char **bytes, size_t *size, ex_error *error) {
    return encode(write_obj, mesh, bytes, size, error);
}
