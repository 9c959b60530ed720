/*
 * cli/edit/edit_export.c - exemplar edit --export: the editor's page with a rig in it, as one file.
 *
 * Two places of the page change. The rig, compressed and in base64, replaces <!--rig--> in an element that no browser
 * runs; the rig's clips follow in elements of their own, sampled as poses, because only authoring reads animations. And
 * the page's policy no longer allows any connection, so whoever opens the file can be sure that nothing leaves it.
 *
 * Browsers decompress gzip themselves. A rig with textures shrinks to a fifth: its images are plain pixels.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/base/emit.h"
#include "cli/base/encode.h"
#include "cli/base/files.h"
#include "cli/base/report.h"
#include "cli/project/damped.h"
#include "common/pool.h"
#include "edit_page.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <exemplar/author/motion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

/* Largest rig that browsers still accept as one base64 text, even if it does not shrink. */
#define RIG_SIZE_MAX ((size_t)400000000)

/* ---- the rig ---- */

typedef struct content {
    char *bytes; /* of a rig file */
    size_t size;
    char *name; /* of a file: "blob.glb" */
    ex_rig *rig;
    ex_scene *clips; /* the rig's, or NULL */
} content;

/* Reads a rig file once: the bytes that are written are those that were checked. */
static ex_result read_rig(const char *path, content *c, ex_error *error) {
    if (exi_file_kind_of(path) == EXI_FILE_UNKNOWN) { /* perhaps of another program, which this explains */
        ex_rig *rig = NULL;
        const ex_result result = ex_rig_read(path, NULL, &rig, error);
        ex_rig_destroy(rig);
        if (result != EX_OK)
            return result;
    }
    ex_result result = ex_file_read(path, &c->bytes, &c->size, error);
    if (result == EX_OK)
        result = ex_error_within(error, ex_rig_unpack(c->bytes, c->size, NULL, NULL, &c->rig, error), "%s", path);
    return result;
}

static void on_note(void *user, const char *text) {
    (void)user;
    exi_print_to(stderr, "exemplar: %s\n", text);
}

static ex_result build_rig(const ex_call *call, const char *path, content *c, ex_error *error) {
    ex_project *project = NULL;
    exi_damped_list damped;
    exi_progress progress;
    exi_pool *pool = exi_pool_create(call->threads);
    exi_damped_start(&damped);
    exi_progress_start(&progress, call);
    ex_result result = ex_project_read(path, &project, error);
    if (result == EX_OK) {
        const ex_build_options how = {.progress = &progress.hook,
                                      .damped = &damped.hook,
                                      .note = call->quiet ? NULL : on_note,
                                      .tasks = exi_pool_tasks(pool)};
        result = ex_project_build(project, &how, &c->rig, error);
    }
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    ex_project_destroy(project);
    if (result == EX_OK && damped.failed)
        result = ex_error_memory(error, "the rig", 0);
    if (result == EX_OK)
        result = exi_rig_encode(c->rig, &c->bytes, &c->size, error);
    if (result == EX_OK && !call->quiet)
        exi_damped_print(&damped, c->rig);
    exi_damped_free(&damped);
    return result;
}

static ex_result open_content(const ex_call *call, const char *path, bool project, content *c, ex_error *error) {
    char *stem = exi_path_stem(path);
    c->name = stem ? exi_path_inside("", stem, ".glb") : NULL;
    free(stem);
    if (!c->name)
        return ex_error_memory(error, "the page", strlen(path));
    ex_result result = project ? build_rig(call, path, c, error) : read_rig(path, c, error);
    if (result == EX_OK && ex_rig_joint_count(c->rig) + ex_rig_pose_size(c->rig) > 0)
        result = ex_error_within(error, ex_rig_clips(c->rig, &c->clips, error), "%s", path);
    if (result == EX_OK && c->size > RIG_SIZE_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT,
                            "%s: this rig has %zu MB, but a page holds at most 400: use fewer or smaller examples",
                            path, c->size / 1000000);
    return result;
}

/* ---- the page ---- */

/* zlib level, 0 to 9. Level 9 takes four times as long for 2 % less. */
enum { COMPRESSION_LEVEL = 6 };

/* Compresses to gzip without a name or a time, so that the same bytes give the same bytes. NULL without memory; release
 * with free. */
static char *compress_bytes(const char *bytes, size_t size, size_t *packed) {
    z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size};
    const int gzip = 16 + MAX_WBITS;
    if (deflateInit2(&stream, COMPRESSION_LEVEL, Z_DEFLATED, gzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    const uLong room = deflateBound(&stream, (uLong)size);
    char *to = malloc(room);
    stream.next_out = (Bytef *)to;
    stream.avail_out = (uInt)room;
    if (to && deflate(&stream, Z_FINISH) != Z_STREAM_END) {
        free(to);
        to = NULL;
    }
    *packed = stream.total_out;
    deflateEnd(&stream);
    return to;
}

static void write_base64(ex_file_writer *w, const char *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4096];
    size_t length = 0;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned a = (unsigned char)bytes[i], b = left > 1 ? (unsigned char)bytes[i + 1] : 0,
                       c = left > 2 ? (unsigned char)bytes[i + 2] : 0;
        text[length++] = digits[a >> 2];
        text[length++] = digits[(a & 3) << 4 | b >> 4];
        text[length++] = left > 1 ? digits[(b & 15) << 2 | c >> 6] : '=';
        text[length++] = left > 2 ? digits[c & 63] : '=';
        if (length == sizeof text || left <= 3) {
            ex_file_write(w, text, length);
            length = 0;
        }
    }
}

/* Writes bytes compressed, as text. False without memory. */
static bool write_packed(ex_file_writer *w, const char *bytes, size_t size) {
    size_t packed;
    char *small = compress_bytes(bytes, size, &packed);
    if (small)
        write_base64(w, small, packed);
    free(small);
    return small != NULL;
}

/* Writes a name, escaped for markup. */
static void write_name(ex_file_writer *w, const char *text) {
    for (; *text; text++) {
        if (strchr("&<>\"", *text) || (unsigned char)*text < ' ')
            ex_file_printf(w, "&#%d;", *text);
        else
            ex_file_write(w, text, 1);
    }
}

/* Writes the page up to a text that occurs once, and moves *page past that text. build.mjs has checked that it is
 * there. */
static void write_until(ex_file_writer *w, const char **page, const char *end, const char *text) {
    const size_t length = strlen(text);
    const char *at = *page;
    while (at + length <= end && memcmp(at, text, length) != 0) {
        const char *next = memchr(at + 1, text[0], (size_t)(end - at - 1));
        at = next ? next : end;
    }
    ex_file_write(w, *page, (size_t)(at - *page));
    *page = at + length <= end ? at + length : end;
}

/* ---- clips ---- */

/* Times as doubles [frames], then dials as doubles [frames][inputs], then joints as floats [frames][joints][10]; NULL
 * without memory. Release with free. */
static char *lay_out_motion(const ex_rig *rig, const ex_motion *motion, size_t *size) {
    const size_t inputs = (size_t)ex_rig_pose_size(rig) * sizeof(double),
                 joints = (size_t)ex_rig_joint_count(rig) * sizeof(ex_transform), frames = (size_t)motion->pose_count,
                 times = frames * sizeof(double);
    _Static_assert(sizeof(ex_transform) == 10 * sizeof(float), "a transform must be ten floats");
    *size = times + frames * (inputs + joints);
    char *bytes = malloc(*size + 1);
    if (!bytes)
        return NULL;
    memcpy(bytes, motion->times, times);
    for (size_t f = 0; f < frames; f++) {
        if (inputs > 0)
            memcpy(bytes + times + f * inputs, motion->poses[f].inputs, inputs);
        if (joints > 0)
            memcpy(bytes + times + frames * inputs + f * joints, motion->poses[f].joints, joints);
    }
    return bytes;
}

/* Writes one clip of the rig as an element. A clip that moves nothing of the rig is left out. */
static ex_result write_clip(ex_file_writer *w, const content *c, int number, ex_error *error) {
    char text[24];
    ex_motion *motion = NULL;
    ex_error refusal = {.result = EX_OK};
    size_t size;
    snprintf(text, sizeof text, "%d", number + 1);
    const ex_result result =
        ex_rig_motion(c->rig, &(ex_motion_options){.clip = text, .fps = EXI_CLIP_FPS}, &motion, &refusal);
    if (result != EX_OK)
        return result == EX_ERROR_MEMORY ? ex_error_memory(error, "a clip", 0) : EX_OK;
    char *bytes = lay_out_motion(c->rig, motion, &size);
    bool written = bytes != NULL;
    if (bytes) {
        const char *name = c->clips->animations[number].name;
        ex_file_printf(w, "\n<script type=\"text/plain\" class=\"clip\" data-frames=\"%d\" data-name=\"",
                       motion->pose_count);
        write_name(w, name && name[0] ? name : text);
        ex_file_printf(w, "\">");
        written = write_packed(w, bytes, size);
        ex_file_printf(w, "</script>");
    }
    free(bytes);
    ex_motion_destroy(motion);
    return written ? EX_OK : ex_error_memory(error, "a clip", size);
}

static ex_result write_page(const char *path, const content *c, double *size, ex_error *error) {
    ex_file_writer w;
    size_t page_size;
    const char *page = (const char *)exi_edit_page(&page_size), *end = page + page_size;
    ex_result result = ex_file_open(&w, exi_is_standard_output(path) ? "/dev/stdout" : path, error);
    if (result != EX_OK)
        return result;
    write_until(&w, &page, end, "connect-src 'self'");
    ex_file_printf(&w, "connect-src 'none'");
    write_until(&w, &page, end, "<!--rig-->");
    ex_file_printf(&w, "<script type=\"text/plain\" id=\"rig\" data-name=\"");
    write_name(&w, c->name);
    ex_file_printf(&w, "\">");
    if (!write_packed(&w, c->bytes, c->size))
        result = ex_error_memory(error, "the page", c->size);
    ex_file_printf(&w, "</script>");
    for (int i = 0; result == EX_OK && c->clips && i < c->clips->animation_count; i++)
        result = write_clip(&w, c, i, error);
    if (result != EX_OK) {
        ex_file_abandon(&w);
        return result;
    }
    ex_file_write(&w, page, (size_t)(end - page));
    *size = w.file ? (double)ftello(w.file) : 0;
    return ex_file_commit(&w, error);
}

/* ---- the command ---- */

static void print_line(const ex_call *call, const char *page, double size, const content *c) {
    char whole[EXI_TEXT_SIZE], part[EXI_TEXT_SIZE];
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "page", page);
        exi_emit_number(&json, "size", size);
        exi_emit_text(&json, "rig", c->name);
        exi_emit_number(&json, "rig_size", (double)c->size);
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else if (!call->quiet) {
        exi_print("%s: a page of %s, with %s (%s) in it\n", page, exi_text_bytes(whole, size), c->name,
                  exi_text_bytes(part, (double)c->size));
    }
}

int exi_edit_export(const ex_call *call, const char *page, const char *rig) {
    int exit_code = EX_EXIT_DONE;
    if (exi_edit_missing())
        return exi_failed_text("%s", exi_edit_missing());
    if (exi_is_standard_output(page) && call->json)
        return exi_wrong_usage(call->command, "the page and --json cannot both go to standard output");
    if (!exi_output_check(call->command, page, ".html or .htm", rig, &exit_code))
        return exit_code;
    const bool project = exi_file_kind_of(rig) == EXI_FILE_PROJECT;
    if (!project && !exi_expect_kind(rig, EXI_FILE_RIG))
        return EX_EXIT_FAILED;
    content c = {0};
    double size = 0;
    ex_error error = {.result = EX_OK};
    ex_result result = open_content(call, rig, project, &c, &error);
    if (result == EX_OK)
        result = write_page(page, &c, &size, &error);
    if (result != EX_OK)
        exit_code = exi_failed(&error);
    else if (!exi_is_standard_output(page))
        print_line(call, page, size, &c);
    free(c.bytes);
    free(c.name);
    ex_rig_destroy(c.rig);
    ex_scene_destroy(c.clips);
    return exit_code;
}
