/*
 * Reads groups and streams of an Ogawa file, each from its place in the file.
 */
#define _XOPEN_SOURCE 700

#include "author/formats/cache/alembic/ogawa.h"

#include "author/base/array.h"

#include <exemplar/author/files.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NUMBER = 8 }; /* bytes of a count and of a reference */

static ex_result read_at(const exi_ogawa *o, uint64_t at, void *bytes, size_t size, ex_error *error) {
    errno = 0;
    if (fseeko(o->file, (off_t)at, SEEK_SET) != 0)
        return ex_file_error(error, "read", o->path, errno);
    if (fread(bytes, 1, size, o->file) == size)
        return EX_OK;
    if (ferror(o->file))
        return ex_file_error(error, "read", o->path, errno != 0 ? errno : EIO);
    return ex_error_set(error, EX_ERROR_DATA, "%s: the file became shorter while it was being read", o->path);
}

ex_result exi_ogawa_damaged(const exi_ogawa *file, const char *what, ex_error *error) {
    return ex_error_set(error, EX_ERROR_DATA, "%s: the Alembic file is damaged: %s", file->path, what);
}

static ex_result check_header(const exi_ogawa *o, const unsigned char *header, ex_error *error) {
    static const unsigned char hdf[] = {0x89, 'H', 'D', 'F'};
    if (o->size >= sizeof hdf && memcmp(header, hdf, sizeof hdf) == 0)
        return ex_error_set(error, EX_ERROR_FORMAT,
                            "%s is an Alembic file of the old kind, HDF5, which is not read: save it as Ogawa",
                            o->path);
    if (o->size < EXI_OGAWA_HEADER || memcmp(header, EXI_OGAWA_MARK, sizeof EXI_OGAWA_MARK - 1) != 0)
        return ex_error_set(error, EX_ERROR_FORMAT,
                            "%s is no Alembic file, or it was cut short: it does not begin with " EXI_OGAWA_MARK,
                            o->path);
    if (header[5] != 0xFF)
        return ex_error_set(error, EX_ERROR_DATA,
                            "%s: the program that wrote this Alembic file did not finish it: export it again", o->path);
    if (header[6] != 0 || header[7] != 1)
        return ex_error_set(error, EX_ERROR_VERSION, "%s: this is version %d of Ogawa; only version 1 is supported",
                            o->path, header[6] << 8 | header[7]);
    return EX_OK;
}

ex_result exi_ogawa_open(exi_ogawa *file, const char *path, size_t length, exi_ogawa_group *root, ex_error *error) {
    unsigned char header[EXI_OGAWA_HEADER] = {0};
    struct stat status;
    *file = (exi_ogawa){.path = exi_text_copy(path, length)};
    if (!file->path)
        return ex_error_memory(error, "the path", length);
    ex_result result = EX_OK;
    file->file = fopen(file->path, "rb");
    if (!file->file || fstat(fileno(file->file), &status) != 0)
        result = ex_file_error(error, "read", file->path, errno);
    else if (!S_ISREG(status.st_mode))
        result = ex_error_set(error, EX_ERROR_FILE,
                              "'%s' is not a file: a point cache cannot be read from a pipe or a device", file->path);
    else
        file->size = (uint64_t)status.st_size;
    if (result == EX_OK)
        result = read_at(file, 0, header, file->size < sizeof header ? (size_t)file->size : sizeof header, error);
    if (result == EX_OK)
        result = check_header(file, header, error);
    if (result == EX_OK)
        result = exi_ogawa_enter(file, exi_ogawa_number(header + 8, NUMBER), root, error);
    if (result != EX_OK)
        exi_ogawa_close(file);
    return result;
}

void exi_ogawa_close(exi_ogawa *file) {
    if (file->file)
        fclose(file->file);
    free(file->path);
    *file = (exi_ogawa){0};
}

/* Reads the count at an offset, and checks that this number of items of that size follows it. */
static ex_result read_count(const exi_ogawa *o, uint64_t at, uint64_t item, uint64_t *count, ex_error *error) {
    unsigned char bytes[NUMBER];
    if (at < EXI_OGAWA_HEADER || at > o->size || o->size - at < NUMBER)
        return exi_ogawa_damaged(o, "a part of it lies beyond its end, so it may have been cut short", error);
    ex_result result = read_at(o, at, bytes, sizeof bytes, error);
    if (result != EX_OK)
        return result;
    *count = exi_ogawa_number(bytes, NUMBER);
    if (*count > (o->size - at - NUMBER) / item)
        return exi_ogawa_damaged(o, "a part of it is longer than the file, so it may have been cut short", error);
    return EX_OK;
}

ex_result exi_ogawa_enter(const exi_ogawa *file, uint64_t reference, exi_ogawa_group *group, ex_error *error) {
    *group = (exi_ogawa_group){0};
    if (reference & EXI_OGAWA_STREAM)
        return exi_ogawa_damaged(file, "there are bytes in place of a group", error);
    if (reference == 0)
        return EX_OK;
    group->at = reference + NUMBER;
    return read_count(file, reference, NUMBER, &group->count, error);
}

ex_result exi_ogawa_find(const exi_ogawa *file, uint64_t reference, exi_ogawa_stream *stream, ex_error *error) {
    const uint64_t at = reference & ~EXI_OGAWA_STREAM;
    *stream = (exi_ogawa_stream){0};
    if (!(reference & EXI_OGAWA_STREAM))
        return exi_ogawa_damaged(file, "there is a group in place of bytes", error);
    if (at == 0)
        return EX_OK;
    stream->at = at + NUMBER;
    return read_count(file, at, 1, &stream->size, error);
}

ex_result exi_ogawa_child(const exi_ogawa *file, exi_ogawa_group group, uint64_t index, uint64_t *reference,
                          ex_error *error) {
    unsigned char bytes[NUMBER];
    if (index >= group.count)
        return exi_ogawa_damaged(file, "a group has too few parts", error);
    const ex_result result = read_at(file, group.at + NUMBER * index, bytes, sizeof bytes, error);
    if (result == EX_OK)
        *reference = exi_ogawa_number(bytes, NUMBER);
    return result;
}

ex_result exi_ogawa_enter_child(const exi_ogawa *file, exi_ogawa_group group, uint64_t index, exi_ogawa_group *child,
                                ex_error *error) {
    uint64_t reference = 0;
    const ex_result result = exi_ogawa_child(file, group, index, &reference, error);
    return result == EX_OK ? exi_ogawa_enter(file, reference, child, error) : result;
}

ex_result exi_ogawa_find_child(const exi_ogawa *file, exi_ogawa_group group, uint64_t index, exi_ogawa_stream *child,
                               ex_error *error) {
    uint64_t reference = 0;
    const ex_result result = exi_ogawa_child(file, group, index, &reference, error);
    return result == EX_OK ? exi_ogawa_find(file, reference, child, error) : result;
}

ex_result exi_ogawa_read(const exi_ogawa *file, exi_ogawa_stream stream, uint64_t from, void *bytes, size_t size,
                         ex_error *error) {
    if (from > stream.size || size > stream.size - from)
        return exi_ogawa_damaged(file, "a value has too few bytes", error);
    return size > 0 ? read_at(file, stream.at + from, bytes, size, error) : EX_OK;
}

ex_result exi_ogawa_read_all(const exi_ogawa *file, exi_ogawa_stream stream, unsigned char **bytes, ex_error *error) {
    *bytes = exi_array_allocate((size_t)stream.size, 1);
    if (!*bytes)
        return ex_error_memory(error, "a part of the Alembic file", (size_t)stream.size);
    const ex_result result = exi_ogawa_read(file, stream, 0, *bytes, (size_t)stream.size, error);
    if (result != EX_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return result;
}
