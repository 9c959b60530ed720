/* cli/edit/edit_driver.c - motion for a rig that follows a driver: a point cache of the driver's forms. The page gets
 * all of it; 'exemplar drive apply' reads it frame by frame. */
#define _POSIX_C_SOURCE 200809L

#include "cli/base/files.h"
#include "cli/base/report.h"
#include "edit.h"

#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

#define ANSWER_MOST ((size_t)256 << 20)

/* ---- names of caches ---- */

/* Length of NAME_ in NAME_0001.obj. */
static size_t stem_size(const char *name) {
    size_t size = strlen(name) - strlen(".obj");
    while (size > 0 && name[size - 1] >= '0' && name[size - 1] <= '9')
        size--;
    return size;
}

bool exi_edit_is_cache_name(const char *name) {
    const ex_cache_kind kind = ex_cache_kind_of(name);
    if (kind == EX_CACHE_OBJ)
        return stem_size(name) < strlen(name) - strlen(".obj");
    return kind != EX_CACHE_KIND_COUNT;
}

bool exi_edit_is_same_cache(const char *name, const char *other) {
    if (ex_cache_kind_of(name) != EX_CACHE_OBJ || ex_cache_kind_of(other) != EX_CACHE_OBJ)
        return strcmp(name, other) == 0;
    return stem_size(name) == stem_size(other) && strncmp(name, other, stem_size(name)) == 0;
}

bool exi_edit_is_driver_motion(const char *path, int vertex_count) {
    ex_cache_reader *reader = NULL;
    if (ex_cache_open(path, &reader, NULL) != EX_OK)
        return false;
    const ex_cache_info info = ex_cache_get_info(reader);
    ex_cache_close(reader);
    return info.vertex_count == vertex_count && info.frame_count > 1;
}

/* ---- as an answer ---- */

/* Reads floats [frames][vertices][3], caller frees; NULL after an error. */
static float *read_forms(ex_cache_reader *reader, const char *path, ex_error *error) {
    const ex_cache_info info = ex_cache_get_info(reader);
    const size_t size = 3 * (size_t)info.vertex_count;
    float *forms = malloc((size_t)info.frame_count * size * sizeof *forms);
    if (!forms)
        ex_error_memory(error, "the driver's forms", (size_t)info.frame_count * size * sizeof *forms);
    for (int f = 0; forms && f < info.frame_count; f++)
        if (ex_drive_read_frame(reader, path, f, forms + (size_t)f * size, error) != EX_OK) {
            free(forms);
            return NULL;
        }
    return forms;
}

static bool is_small_enough(const exi_edit *edit, const ex_cache_info *info, const char *name, exi_answer *answer) {
    char bytes[EXI_TEXT_SIZE], most[EXI_TEXT_SIZE], frames[EXI_TEXT_SIZE];
    const double size = 12.0 * info->vertex_count * info->frame_count;
    if (size <= (double)ANSWER_MOST)
        return true;
    char *rig = exi_path_with_ending(edit->name, ".glb");
    exi_refuse(answer, 413,
               "'%s' has %s, %s in all, but a page can hold %s: cut it into parts to look at it; 'exemplar drive apply "
               "%s --driver %s -o OUT.pc2' follows all of it",
               name, exi_text_count(frames, info->frame_count, "frame"), exi_text_bytes(bytes, size),
               exi_text_bytes(most, ANSWER_MOST), rig ? rig : "RIG.glb", name);
    free(rig);
    return false;
}

static void reply(const exi_edit *edit, ex_cache_reader *reader, const char *name, exi_answer *answer) {
    const ex_cache_info info = ex_cache_get_info(reader);
    exi_reply reply;
    char id[24];
    if (!exi_reply_start(&reply, answer, 200))
        return;
    snprintf(id, sizeof id, "%d", edit->motion_count + 1);
    exi_emit_text(&reply.json, "motion", id);
    exi_emit_text(&reply.json, "name", name);
    exi_emit_number(&reply.json, "frames", info.frame_count);
    exi_emit_number(&reply.json, "inputs", 0); /* the page leaves the rest of the pose as it is */
    exi_emit_number(&reply.json, "joints", 0);
    exi_emit_number(&reply.json, "driver", info.vertex_count);
    exi_emit_number(&reply.json, "matched", 0);
    exi_emit_number(&reply.json, "scale", 1);
    exi_emit_open(&reply.json, "times", '[');
    for (int f = 0; f < info.frame_count; f++)
        exi_emit_number(&reply.json, NULL, ex_cache_time(reader, f));
    exi_emit_close(&reply.json, ']');
    exi_reply_end(&reply);
    answer->framed = answer->status == 200;
}

bool exi_edit_reply_driver(const exi_edit *edit, const char *path, const char *name, exi_answer *answer) {
    ex_cache_reader *reader = NULL;
    ex_error error = {.result = EX_OK};
    float *forms = NULL;
    if (ex_drive_open_cache(path, "driver", edit->driver_count, NULL, &reader, &error) == EX_OK) {
        const ex_cache_info info = ex_cache_get_info(reader);
        if (is_small_enough(edit, &info, name, answer) && (forms = read_forms(reader, path, &error))) {
            answer->bytes = answer->owned = forms;
            answer->size = (size_t)info.frame_count * (size_t)info.vertex_count * 12;
            reply(edit, reader, name, answer);
        }
    }
    ex_cache_close(reader);
    if (error.result != EX_OK) {
        exi_edit_hide_folder(path, &error);
        exi_refuse_error(edit, answer, 422, &error, NULL);
    }
    return answer->framed;
}
