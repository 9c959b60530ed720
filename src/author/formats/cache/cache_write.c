/*
 * Writes point caches frame by frame: PC2 and MDD into a file that gets its name at the end, numbered OBJ files into a
 * folder from which they are moved to their places at the end.
 */
#include "author/formats/cache/cache.h"

#include "author/base/array.h"

#include "author/formats/cache/alembic/alembic.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1024 }; /* numbers converted to bytes at once */

struct ex_cache_writer {
    ex_cache_kind kind;
    int vertex_count, frame_count, written;
    char *path;
    ex_file_writer file;
    exi_obj_writer objs;
    exi_alembic_writer alembic;
    bool failed; /* true if a frame was refused: there will be no cache */
};

static void put_float(unsigned char bytes[4], float value, bool big_endian) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    exi_cache_put_bits(bytes, bits, big_endian);
}

static void write_pc2_header(ex_cache_writer *w, const double *times) {
    unsigned char header[EXI_PC2_HEADER] = {0};
    const double step = w->frame_count > 1 ? (times[w->frame_count - 1] - times[0]) / (w->frame_count - 1) : 1;
    memcpy(header, EXI_PC2_MARK, sizeof EXI_PC2_MARK);
    exi_cache_put_bits(header + 12, 1, false);
    exi_cache_put_bits(header + 16, (uint32_t)w->vertex_count, false);
    put_float(header + 20, (float)times[0], false);
    put_float(header + 24, (float)step, false);
    exi_cache_put_bits(header + 28, (uint32_t)w->frame_count, false);
    ex_file_write(&w->file, header, sizeof header);
}

static void write_mdd_header(ex_cache_writer *w, const double *times) {
    unsigned char bytes[4];
    exi_cache_put_bits(bytes, (uint32_t)w->frame_count, true);
    ex_file_write(&w->file, bytes, sizeof bytes);
    exi_cache_put_bits(bytes, (uint32_t)w->vertex_count, true);
    ex_file_write(&w->file, bytes, sizeof bytes);
    for (int f = 0; f < w->frame_count; f++) {
        put_float(bytes, (float)times[f], true);
        ex_file_write(&w->file, bytes, sizeof bytes);
    }
}

/* Checks that times still rise as floats, which is how the file stores them. */
static ex_result check_times(const char *path, const double *times, int count, ex_error *error) {
    for (int f = 0; f < count; f++)
        if (!isfinite((float)times[f]) || (f > 0 && !(times[f] > times[f - 1])))
            return ex_error_set(error, EX_ERROR_DATA,
                                "cannot write '%s': the time of frame %d is %g: times must increase", path, f + 1,
                                times[f]);
    if (count > 1 && !((float)((times[count - 1] - times[0]) / (count - 1)) > 0))
        return ex_error_set(error, EX_ERROR_DATA, "cannot write '%s': its frames are only %g s apart", path,
                            (times[count - 1] - times[0]) / (count - 1));
    return EX_OK;
}

bool ex_cache_needs_mesh(const char *path) {
    const ex_cache_kind kind = ex_cache_kind_of(path);
    return kind == EX_CACHE_OBJ || kind == EX_CACHE_ABC;
}

static ex_result open_file(ex_cache_writer *w, const double *times, const ex_mesh *mesh, ex_error *error) {
    ex_result result = ex_file_open_bulk(&w->file, w->path, error);
    if (result != EX_OK)
        return result;
    if (w->kind == EX_CACHE_ABC) {
        result = exi_alembic_writer_open(&w->alembic, &w->file, w->path, w->frame_count, times, mesh, error);
        if (result != EX_OK)
            ex_file_abandon(&w->file);
        return result;
    }
    if (w->kind == EX_CACHE_PC2)
        write_pc2_header(w, times);
    else
        write_mdd_header(w, times);
    return EX_OK;
}

ex_result ex_cache_create(const char *path, int vertex_count, int frame_count, const double *times, const ex_mesh *mesh,
                          ex_cache_writer **writer, ex_error *error) {
    if (!path || !writer || !times || vertex_count < 1 || frame_count < 1)
        return exi_misuse_error(error, __func__,
                                "no path, no times, no vertices, no frames, or no pointer for the writer");
    *writer = NULL;
    const ex_cache_kind kind = ex_cache_kind_of(path);
    if (kind == EX_CACHE_KIND_COUNT || (kind == EX_CACHE_ABC && !ex_path_ends_with(path, ".abc")))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "cannot write '%s': point caches are written as .pc2, .mdd, .abc or numbered .obj files",
                            path);
    if (ex_cache_needs_mesh(path) && (!mesh || mesh->vertex_count != vertex_count))
        return exi_misuse_error(error, __func__, "OBJ frames and Alembic need a mesh with the same number of vertices");
    ex_result result = check_times(path, times, frame_count, error);
    if (result != EX_OK)
        return result;
    ex_cache_writer *w = calloc(1, sizeof *w);
    char *copy = exi_text_copy(path, strlen(path));
    if (!w || !copy) {
        free(w);
        free(copy);
        return ex_error_memory(error, "the cache", sizeof *w);
    }
    *w = (ex_cache_writer){.kind = kind, .vertex_count = vertex_count, .frame_count = frame_count, .path = copy};
    w->file.slot = -1;
    result = kind == EX_CACHE_OBJ ? exi_obj_writer_open(&w->objs, path, frame_count, mesh, error)
                                  : open_file(w, times, mesh, error);
    if (result == EX_OK)
        *writer = w;
    else {
        free(w->path);
        free(w);
    }
    return result;
}

static void write_frame(ex_cache_writer *w, const float *positions) {
    const size_t count = 3 * (size_t)w->vertex_count;
    unsigned char bytes[PIECE][4];
    for (size_t at = 0; at < count; at += PIECE) {
        const size_t size = count - at < PIECE ? count - at : PIECE;
        for (size_t i = 0; i < size; i++)
            put_float(bytes[i], positions[at + i], w->kind == EX_CACHE_MDD);
        ex_file_write(&w->file, bytes, 4 * size);
    }
}

ex_result ex_cache_write(ex_cache_writer *writer, const float *positions, ex_error *error) {
    if (!writer || !positions || writer->written == writer->frame_count)
        return exi_misuse_error(error, __func__, "no writer, no positions, or all frames are written");
    ex_result result = EX_OK;
    for (size_t i = 0; i < 3 * (size_t)writer->vertex_count && result == EX_OK; i++)
        if (!isfinite(positions[i]))
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "cannot write '%s': in frame %d, vertex %zu (counting from 0) is not a number",
                                  writer->path, writer->written + 1, i / 3);
    if (result == EX_OK && writer->kind == EX_CACHE_OBJ)
        result = exi_obj_writer_add(&writer->objs, positions, error);
    else if (result == EX_OK && writer->kind == EX_CACHE_ABC)
        exi_alembic_writer_add(&writer->alembic, positions);
    else if (result == EX_OK)
        write_frame(writer, positions);
    writer->written += result == EX_OK;
    writer->failed = writer->failed || result != EX_OK;
    return result;
}

ex_result ex_cache_finish(ex_cache_writer *writer, bool keep, ex_error *error) {
    if (!writer)
        return EX_OK;
    ex_result result = EX_OK;
    const bool whole = writer->written == writer->frame_count && !writer->failed;
    if (keep && !whole)
        result = ex_error_set(error, EX_ERROR_DATA, "cannot write '%s': %d of %d frames were given", writer->path,
                              writer->written, writer->frame_count);
    if (writer->kind == EX_CACHE_ABC)
        exi_alembic_writer_finish(&writer->alembic, keep && whole);
    if (writer->kind == EX_CACHE_OBJ) {
        const ex_result moved = exi_obj_writer_finish(&writer->objs, keep && whole, error);
        result = result == EX_OK ? moved : result;
    } else if (keep && whole) {
        result = ex_file_commit(&writer->file, error);
    } else {
        ex_file_abandon(&writer->file);
    }
    free(writer->path);
    free(writer);
    return result;
}
