/*
 * Joins the caches in pieces into one. Frames are read and written one at a time through the library, with the times
 * that a single run would give them, so that the result has the same bytes.
 */
#define _GNU_SOURCE

#include "farm.h"

#include "cli/base/files.h"
#include "common/array.h"
#include "motion.h"
#include "piece.h"

#include <exemplar/author.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct joiner {
    const exi_farm *farm;
    const json_t *result;
    const char *output;
    int frame_count, vertex_count, done;
    double *times;
    ex_cache_writer *writer;
    float *positions;
    char *folder; /* for parts that are being read */
    int *bad;
    ex_error *error;
} joiner;

/* ---- times ---- */

static ex_result times_of_driver(joiner *j, int offset) {
    const char *driver = exi_farm_text(j->result, "driver");
    const double rate = exi_farm_number(j->result, "rate");
    ex_cache_reader *reader = NULL;
    const ex_result result = ex_cache_open(driver, &reader, j->error);
    for (int i = 0; result == EX_OK && i < j->frame_count; i++)
        j->times[i] = ex_drive_time(reader, offset + i, rate);
    ex_cache_close(reader);
    return result;
}

static ex_result times_of_motion(joiner *j, int offset) {
    const char *path = exi_farm_text(j->result, "motion");
    ex_motion *motion = NULL;
    const ex_result result = exi_farm_motion(exi_farm_text(j->result, "rig"), path[0] ? path : NULL,
                                             json_object_get(j->result, "options"), &motion, j->error);
    for (int i = 0; result == EX_OK && i < j->frame_count && offset + i < motion->pose_count; i++)
        j->times[i] = motion->times[offset + i];
    ex_motion_destroy(motion);
    return result;
}

static ex_result find_times(joiner *j) {
    const int offset = (int)exi_farm_number(j->result, "offset");
    j->times = array_allocate((size_t)j->frame_count, sizeof *j->times);
    if (!j->times)
        return ex_error_memory(j->error, "the times of frames", (size_t)j->frame_count * sizeof *j->times);
    memset(j->times, 0, (size_t)j->frame_count * sizeof *j->times);
    return strcmp(exi_farm_text(j->result, "times"), "driver") == 0 ? times_of_driver(j, offset)
                                                                    : times_of_motion(j, offset);
}

/* ---- frames ---- */

/* Starts the output when the first part is known. */
static ex_result start(joiner *j, const ex_cache_reader *reader) {
    const int vertices = j->vertex_count = ex_cache_get_info(reader).vertex_count;
    j->positions = array_allocate((size_t)vertices, 3 * sizeof *j->positions);
    if (!j->positions)
        return ex_error_memory(j->error, "a frame", (size_t)vertices * 3 * sizeof *j->positions);
    return ex_cache_create(j->output, vertices, j->frame_count, j->times, ex_cache_mesh(reader), &j->writer, j->error);
}

/* Appends the frames of a cache that was taken out of its piece. */
static ex_result append(joiner *j, const char *path) {
    ex_cache_reader *reader = NULL;
    ex_result result = ex_cache_open(path, &reader, j->error);
    if (result == EX_OK && !j->writer)
        result = start(j, reader);
    const ex_cache_info info = result == EX_OK ? ex_cache_get_info(reader) : (ex_cache_info){.frame_count = 0};
    const int count = info.frame_count;
    if (result == EX_OK && info.vertex_count != j->vertex_count)
        result = ex_error_set(j->error, EX_ERROR_DATA, "the pieces of '%s' have %d and %d vertices: plan again",
                              j->output, j->vertex_count, info.vertex_count);
    for (int f = 0; result == EX_OK && f < count; f++, j->done++) {
        result = ex_cache_read(reader, f, j->positions, j->error);
        if (result == EX_OK)
            result = ex_cache_write(j->writer, j->positions, j->error);
    }
    ex_cache_close(reader);
    return result;
}

/* A part of numbered files: each becomes the file of its frame, unchanged. */
static ex_result take_numbered(joiner *j, const exi_piece *piece, const char *name, ex_file_set *set) {
    const size_t stem = strlen(name) - strlen(".obj");
    const char *slash = strrchr(j->output, '/'), *file = slash ? slash + 1 : j->output;
    ex_result result = EX_OK;
    /* Files of a piece are sorted by name; numbers have the same number of digits within a part. */
    for (int i = 0; result == EX_OK && i < piece->file_count; i++) {
        const char *one = piece->files[i].name;
        if (strncmp(one, name, stem) != 0 || one[stem] != '_' || !ex_path_ends_with(one, ".obj"))
            continue;
        char *frame = ex_cache_frame_path(file, j->done++, j->frame_count),
             *to = frame ? exi_path_inside(ex_file_set_folder(set), frame, "") : NULL;
        result = to ? exi_piece_extract(piece, i, to, false, j->error) : ex_error_memory(j->error, "a path", 64);
        free(frame);
        free(to);
    }
    return result;
}

static ex_result take_part(joiner *j, int task, const char *name, ex_file_set *set) {
    exi_piece piece;
    char *path = exi_farm_piece_path(j->farm, task), *to = NULL;
    ex_result result = path ? exi_piece_open(path, j->farm->tasks[task].fingerprint, &piece, j->error)
                            : ex_error_memory(j->error, "a path", 64);
    if (result == EX_OK && set) {
        result = take_numbered(j, &piece, name, set);
    } else if (result == EX_OK) {
        const int file = exi_piece_find(&piece, name);
        to = exi_path_inside(j->folder, "part", strrchr(name, '.'));
        result = file < 0
                     ? ex_error_kind(j->error,
                                     ex_error_set(j->error, EX_ERROR_DATA, "the piece '%s' has no '%s'", path, name),
                                     "bad_piece")
                 : to ? exi_piece_extract(&piece, file, to, false, j->error)
                      : ex_error_memory(j->error, "a path", 64);
        if (result == EX_OK)
            result = append(j, to);
        if (to)
            (void)unlink(to);
    }
    if (result != EX_OK)
        *j->bad = task;
    if (path)
        exi_piece_close(&piece);
    free(to);
    free(path);
    return result;
}

/* ---- the whole ---- */

static ex_result open_set(const joiner *j, ex_file_set **set) {
    char *folder = text_copy(j->output), *slash = folder ? strrchr(folder, '/') : NULL;
    if (!folder)
        return ex_error_memory(j->error, "a path", 64);
    *(slash ? slash : folder) = 0;
    const ex_result result = ex_file_set_open(folder, true, set, j->error);
    free(folder);
    return result;
}

static ex_result join(joiner *j) {
    const json_t *parts = json_object_get(j->result, "parts");
    ex_file_set *set = NULL;
    const bool numbered = ex_cache_kind_of(j->output) == EX_CACHE_OBJ; /* they have no times */
    ex_result result = numbered ? open_set(j, &set) : find_times(j);
    for (size_t i = 0; result == EX_OK && i < json_array_size(parts); i++) {
        const json_t *part = json_array_get(parts, i);
        result = take_part(j, (int)json_integer_value(json_array_get(part, 0)),
                           json_string_value(json_array_get(part, 1)), set);
    }
    if (result == EX_OK && j->done != j->frame_count)
        result = ex_error_set(j->error, EX_ERROR_DATA, "the pieces of '%s' have %d frames and not %d: plan again",
                              j->output, j->done, j->frame_count);
    if (set && result == EX_OK)
        return ex_file_set_commit(set, NULL, j->error);
    ex_file_set_abandon(set, NULL);
    const ex_result finished = ex_cache_finish(j->writer, result == EX_OK, result == EX_OK ? j->error : NULL);
    return result == EX_OK ? finished : result;
}

ex_result exi_farm_join_cache(const exi_farm *farm, const json_t *result, int *frames, int *bad, ex_error *error) {
    joiner j = {.farm = farm,
                .result = result,
                .output = exi_farm_text(result, "output"),
                .frame_count = (int)exi_farm_number(result, "frames"),
                .bad = bad,
                .error = error};
    /* scratch/FINGERPRINT.HOST.PID-ITEM, which is swept away if this process dies. */
    char *mark = exi_farm_mark_name(farm, 0), name[512];
    const char *part = json_string_value(json_array_get(json_array_get(json_object_get(result, "parts"), 0), 1));
    snprintf(name, sizeof name, "%s-%.*s", mark ? strrchr(mark, '/') + 1 : "", part ? (int)strcspn(part, "/") : 0,
             part ? part : "");
    j.folder = mark ? exi_farm_path(farm, "scratch", name, "") : NULL;
    ex_result made = j.folder ? ex_make_directory(j.folder, error) : ex_error_memory(error, "a path", 64);
    if (made == EX_OK)
        made = join(&j);
    if (j.folder)
        exi_farm_remove_tree(j.folder);
    *frames = j.done;
    free(mark);
    free(j.folder);
    free(j.times);
    free(j.positions);
    return made;
}
