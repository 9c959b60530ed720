/*
 * Reads point caches frame by frame.
 *
 *   PC2   little-endian: "POINTCACHE2" and a NUL, version 1, vertices, start, step, frames, then x y z of every vertex
 *         at every frame; start and step are in seconds here
 *   MDD   big-endian: frames, vertices, a time in seconds for every frame, then the same
 *
 * Numbered OBJ files and Alembic have files of their own.
 */
#define _XOPEN_SOURCE 700

#include "author/formats/cache/cache.h"

#include "author/base/array.h"
#include "author/formats/cache/alembic/alembic.h"
#include "author/formats/foreign.h"

#include <exemplar/author/files.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct ex_cache_reader {
    ex_cache_info info;
    char *path;
    FILE *file;     /* of PC2 and MDD */
    uint64_t first; /* offset of the first frame in it */
    float *times;   /* of MDD */
    exi_obj_frames objs;
    exi_alembic_reader alembic;
};

size_t ex_cache_file_length(const char *path) {
    const char *name;
    const size_t length = exi_alembic_split(path, &name);
    return length > 0 ? length : strlen(path);
}

ex_cache_kind ex_cache_kind_of(const char *path) {
    static const char *const endings[EX_CACHE_KIND_COUNT] = {
        [EX_CACHE_PC2] = ".pc2", [EX_CACHE_MDD] = ".mdd", [EX_CACHE_OBJ] = ".obj", [EX_CACHE_ABC] = ".abc"};
    const char *name;
    int kind = 0;
    if (!path)
        exi_misuse(__func__, "no path");
    while (path && kind < EX_CACHE_KIND_COUNT && !ex_path_ends_with(path, endings[kind]))
        kind++;
    if (path && kind == EX_CACHE_KIND_COUNT && exi_alembic_split(path, &name) > 0)
        kind = EX_CACHE_ABC;
    return path ? (ex_cache_kind)kind : EX_CACHE_KIND_COUNT;
}

/* ---- bytes ---- */

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static ex_result read_error(const ex_cache_reader *r, ex_error *error) {
    if (ferror(r->file))
        return ex_file_error(error, "read", r->path, errno != 0 ? errno : EIO);
    return ex_error_set(error, EX_ERROR_DATA, "%s: the file became shorter while it was being read", r->path);
}

static ex_result read_bytes(ex_cache_reader *r, void *bytes, size_t size, ex_error *error) {
    errno = 0;
    return fread(bytes, 1, size, r->file) == size ? EX_OK : read_error(r, error);
}

static ex_result open_file(ex_cache_reader *r, uint64_t *size, ex_error *error) {
    struct stat status;
    r->file = fopen(r->path, "rb");
    if (!r->file || fstat(fileno(r->file), &status) != 0)
        return ex_file_error(error, "read", r->path, errno);
    if (!S_ISREG(status.st_mode))
        return ex_error_set(error, EX_ERROR_FILE,
                            "'%s' is not a file: a point cache cannot be read from a pipe or a device", r->path);
    *size = (uint64_t)status.st_size;
    return EX_OK;
}

/* ---- headers ---- */

static ex_result check_counts(const ex_cache_reader *r, uint32_t vertices, uint32_t frames, ex_error *error) {
    if (vertices < 1 || vertices > INT_MAX || frames < 1 || frames > INT_MAX)
        return ex_error_set(error, EX_ERROR_DATA,
                            "%s: the header states %ld vertices and %ld frames: there must be at least one of each",
                            r->path, (long)(int32_t)vertices, (long)(int32_t)frames);
    return EX_OK;
}

/* Checks that the file holds what its header claims. Products fit: both counts are below 2^31. */
static ex_result check_size(const ex_cache_reader *r, uint64_t size, ex_error *error) {
    const uint64_t frame = 12 * (uint64_t)r->info.vertex_count, room = size > r->first ? size - r->first : 0;
    const uint64_t there = room / frame, promised = (uint64_t)r->info.frame_count;
    if (size < r->first || there < promised)
        return ex_error_set(error, EX_ERROR_DATA,
                            "%s: the file ends too early: it has %llu of %llu frames of %d vertices", r->path,
                            (unsigned long long)there, (unsigned long long)promised, r->info.vertex_count);
    if (room - promised * frame != 0)
        return ex_error_set(error, EX_ERROR_DATA, "%s: the file has %llu bytes more than %d frames of %d vertices need",
                            r->path, (unsigned long long)(room - promised * frame), r->info.frame_count,
                            r->info.vertex_count);
    return EX_OK;
}

static ex_result open_pc2(ex_cache_reader *r, uint64_t size, ex_error *error) {
    unsigned char header[EXI_PC2_HEADER] = {0};
    if (size < sizeof header)
        return ex_error_set(error, EX_ERROR_FORMAT,
                            "%s: the file has only %llu bytes: it is not a PC2 file, or it was cut short", r->path,
                            (unsigned long long)size);
    ex_result result = read_bytes(r, header, sizeof header, error);
    if (result != EX_OK)
        return result;
    if (memcmp(header, EXI_PC2_MARK, sizeof EXI_PC2_MARK) != 0)
        return ex_error_set(error, EX_ERROR_FORMAT, "%s is no PC2 file: it does not begin with " EXI_PC2_MARK, r->path);
    if (exi_cache_bits(header + 12, false) != 1)
        return ex_error_set(error, EX_ERROR_VERSION, "%s: this is version %ld of PC2; only version 1 is supported",
                            r->path, (long)(int32_t)exi_cache_bits(header + 12, false));
    const uint32_t vertices = exi_cache_bits(header + 16, false), frames = exi_cache_bits(header + 28, false);
    const float start = float_of(exi_cache_bits(header + 20, false));
    const float step = float_of(exi_cache_bits(header + 24, false));
    result = check_counts(r, vertices, frames, error);
    if (result == EX_OK && (!isfinite(start) || !isfinite(step) || (frames > 1 && !(step > 0))))
        result =
            ex_error_set(error, EX_ERROR_DATA, "%s: the frames start at %g and are %g apart, which are not valid times",
                         r->path, (double)start, (double)step);
    r->info.vertex_count = (int)vertices;
    r->info.frame_count = (int)frames;
    r->info.start = (double)start;
    r->info.step = frames > 1 ? (double)step : 0;
    r->first = sizeof header;
    return result == EX_OK ? check_size(r, size, error) : result;
}

static ex_result read_times(ex_cache_reader *r, ex_error *error) {
    const size_t count = (size_t)r->info.frame_count;
    r->times = exi_array_allocate(count, sizeof *r->times);
    if (!r->times)
        return ex_error_memory(error, "the times of the cache", count * sizeof *r->times);
    ex_result result = read_bytes(r, r->times, count * sizeof *r->times, error);
    for (size_t f = 0; f < count && result == EX_OK; f++) {
        unsigned char bytes[4];
        memcpy(bytes, &r->times[f], sizeof bytes);
        r->times[f] = float_of(exi_cache_bits(bytes, true));
        if (!isfinite(r->times[f]) || (f > 0 && r->times[f] < r->times[f - 1]))
            result = ex_error_set(error, EX_ERROR_DATA, "%s: the time of frame %zu is %g: times must increase", r->path,
                                  f + 1, (double)r->times[f]);
    }
    return result;
}

static ex_result open_mdd(ex_cache_reader *r, uint64_t size, ex_error *error) {
    unsigned char header[8] = {0};
    if (size < sizeof header)
        return ex_error_set(error, EX_ERROR_FORMAT,
                            "%s: the file has only %llu bytes: it is not an MDD file, or it was cut short", r->path,
                            (unsigned long long)size);
    ex_result result = read_bytes(r, header, sizeof header, error);
    if (result != EX_OK)
        return result;
    const uint32_t frames = exi_cache_bits(header, true), vertices = exi_cache_bits(header + 4, true);
    result = check_counts(r, vertices, frames, error);
    r->info.vertex_count = (int)vertices;
    r->info.frame_count = (int)frames;
    r->first = sizeof header + 4 * (uint64_t)frames;
    if (result == EX_OK)
        result = check_size(r, size, error);
    if (result == EX_OK)
        result = read_times(r, error);
    if (result == EX_OK) {
        r->info.start = (double)r->times[0];
        r->info.step = frames > 1 ? (double)r->times[1] - (double)r->times[0] : 0;
    }
    return result;
}

static ex_result open_objs(ex_cache_reader *r, ex_error *error) {
    ex_result result = exi_obj_frames_open(r->path, &r->objs, error);
    if (result != EX_OK)
        return result;
    r->info.vertex_count = r->objs.mesh->vertex_count;
    r->info.frame_count = r->objs.count;
    r->info.step = r->objs.count > 1 ? 1 / EXI_CACHE_OBJ_FPS : 0;
    return EX_OK;
}

static ex_result open_alembic(ex_cache_reader *r, ex_error *error) {
    const ex_result result = exi_alembic_reader_open(&r->alembic, r->path, error);
    if (result != EX_OK)
        return result;
    r->info.vertex_count = r->alembic.vertex_count;
    r->info.frame_count = r->alembic.frame_count;
    r->info.start = exi_alembic_reader_time(&r->alembic, 0);
    r->info.step = r->info.frame_count > 1 ? exi_alembic_reader_time(&r->alembic, 1) - r->info.start : 0;
    return EX_OK;
}

ex_result ex_cache_open(const char *path, ex_cache_reader **reader, ex_error *error) {
    if (!path || !reader)
        return exi_misuse_error(error, __func__, "no path, or no pointer for the reader");
    *reader = NULL;
    const ex_cache_kind kind = ex_cache_kind_of(path);
    uint64_t size = 0;
    if (kind == EX_CACHE_KIND_COUNT)
        return exi_foreign_ending(error, EXI_CONTENT_CACHE, path);
    ex_cache_reader *r = calloc(1, sizeof *r);
    char *copy = exi_text_copy(path, strlen(path));
    if (!r || !copy) {
        free(r);
        free(copy);
        return ex_error_memory(error, "the cache", sizeof *r);
    }
    r->path = copy;
    r->info.kind = kind;
    ex_result result = kind == EX_CACHE_OBJ   ? open_objs(r, error)
                       : kind == EX_CACHE_ABC ? open_alembic(r, error)
                                              : open_file(r, &size, error);
    if (result == EX_OK && r->file)
        result = kind == EX_CACHE_PC2 ? open_pc2(r, size, error) : open_mdd(r, size, error);
    if (result == EX_OK)
        *reader = r;
    else
        ex_cache_close(r);
    return result;
}

ex_cache_info ex_cache_get_info(const ex_cache_reader *reader) {
    if (!reader) {
        exi_misuse(__func__, "no reader");
        return (ex_cache_info){0};
    }
    return reader->info;
}

const ex_mesh *ex_cache_mesh(const ex_cache_reader *reader) {
    return reader->info.kind == EX_CACHE_ABC ? reader->alembic.mesh : reader->objs.mesh;
}

double ex_cache_time(const ex_cache_reader *reader, int frame) {
    if (!reader || frame < 0 || frame >= reader->info.frame_count)
        return exi_misuse(__func__, "no such frame");
    if (reader->info.kind == EX_CACHE_ABC)
        return exi_alembic_reader_time(&reader->alembic, frame);
    return reader->times ? (double)reader->times[frame] : reader->info.start + frame * reader->info.step;
}

/* ---- frames ---- */

static ex_result convert(const ex_cache_reader *r, int frame, float *positions, ex_error *error) {
    const size_t count = 3 * (size_t)r->info.vertex_count;
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[4];
        memcpy(bytes, &positions[i], sizeof bytes);
        positions[i] = float_of(exi_cache_bits(bytes, r->info.kind == EX_CACHE_MDD));
        if (!isfinite(positions[i]))
            return ex_error_set(error, EX_ERROR_DATA, "%s: in frame %d, vertex %zu (counting from 0) is not a number",
                                r->path, frame + 1, i / 3);
    }
    return EX_OK;
}

ex_result ex_cache_read(ex_cache_reader *reader, int frame, float *positions, ex_error *error) {
    if (!reader || !positions || frame < 0 || frame >= reader->info.frame_count)
        return exi_misuse_error(error, __func__, "no reader, no such frame, or no pointer for the result");
    if (reader->info.kind == EX_CACHE_OBJ)
        return exi_obj_frames_read(&reader->objs, frame, positions, error);
    if (reader->info.kind == EX_CACHE_ABC)
        return exi_alembic_reader_read(&reader->alembic, frame, positions, error);
    const size_t size = 12 * (size_t)reader->info.vertex_count;
    const uint64_t at = reader->first + (uint64_t)frame * size;
    if (fseeko(reader->file, (off_t)at, SEEK_SET) != 0)
        return ex_file_error(error, "read", reader->path, errno);
    ex_result result = read_bytes(reader, positions, size, error);
    return result == EX_OK ? convert(reader, frame, positions, error) : result;
}

const char *ex_cache_path(const ex_cache_reader *reader, int frame) {
    if (reader->info.kind == EX_CACHE_ABC)
        return reader->alembic.archive.file.path;
    return reader->objs.count > 0 ? reader->objs.paths[frame] : reader->path;
}

int ex_cache_number(const ex_cache_reader *reader, int frame) {
    if (!reader || frame < 0 || frame >= reader->info.frame_count) {
        exi_misuse(__func__, "no such frame");
        return -1;
    }
    return reader->objs.count > 0 ? reader->objs.numbers[frame] : -1;
}

void ex_cache_close(ex_cache_reader *reader) {
    if (!reader)
        return;
    if (reader->file)
        fclose(reader->file);
    exi_obj_frames_close(&reader->objs);
    exi_alembic_reader_close(&reader->alembic);
    free(reader->times);
    free(reader->path);
    free(reader);
}
