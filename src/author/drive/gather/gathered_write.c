/*
 * Writes a gathered file (docs/reference/gathered.md): what it was made from, both meshes, the options that count, and
 * the data. Frames of keys are read from the caches as they are written.
 */
#define _XOPEN_SOURCE 700 /* stat */

#include "author/drive/gather/gathered.h"
#include "author/drive/gather/gathered_format.h"

#include "author/base/array.h"
#include "author/base/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The size of a cache of one file; 0 for others. */
static int64_t file_size(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? (int64_t)status.st_size : 0;
}

static void write_description(exi_out *out, const exi_gathering *g) {
    const ex_gather_def *def = g->def;
    const exi_reference *item = &g->refs.items[0];
    exi_gathered_header head = {.version = EXI_GATHERED_VERSION};
    memcpy(head.magic, EXI_GATHERED_MAGIC, sizeof head.magic);
    exi_out_bytes(out, &head, sizeof head);
    exi_out_int(out, (int64_t)def->method);
    exi_out_text(out, def->reference.driver);
    exi_out_text(out, def->reference.driven);
    exi_out_int(out, file_size(def->reference.driver));
    exi_out_int(out, file_size(def->reference.driven));
    exi_out_int(out, ex_cache_get_info(item->driver).frame_count);
    exi_out_int(out, def->reference.first);
    exi_out_int(out, item->used_count);
    exi_out_number(out, def->reference.rate);
    exi_out_number(out, def->reference.database);
    exi_out_text(out, def->database_axis);
    exi_out_number(out, def->driver_scale > 0 ? def->driver_scale : 1);
    exi_out_number(out, def->driven_scale > 0 ? def->driven_scale : 1);
    exi_out_mesh(out, def->driver);
    exi_out_mesh(out, def->driven);
    exi_out_options(out, &def->options, def->method, def->driver->vertex_count, def->driven->vertex_count);
}

/* Frames of keys: which, whether they are evenly spread, and both forms. */
static ex_result write_frames(exi_out *out, const exi_gathering *g) {
    const exi_references *refs = &g->refs;
    const exi_reference *item = &refs->items[0];
    const size_t n = 3 * (size_t)refs->driver_count, numbers = exi_gathered_frame_size(refs);
    const size_t kept = (size_t)item->frame_count;
    int *frames = exi_array_allocate(kept, sizeof *frames);
    uint8_t *spread = exi_array_allocate(kept, sizeof *spread);
    float *forms = calloc(numbers, sizeof *forms);
    ex_result result =
        frames && spread && forms ? EX_OK : ex_error_memory(g->error, "frames", 5 * kept + numbers * sizeof *forms);
    if (result == EX_OK) {
        for (int i = 0; i < item->frame_count; i++) {
            frames[i] = exi_references_place(refs, i);
            spread[i] = exi_references_is_spread(refs, i);
        }
        exi_out_int(out, item->frame_count);
        exi_out_bytes(out, frames, kept * sizeof *frames);
        exi_out_bytes(out, spread, kept * sizeof *spread);
    }
    for (int i = 0; result == EX_OK && i < item->frame_count; i++) {
        result = exi_references_read(refs, i, forms, forms + n, g->error);
        if (result == EX_OK)
            exi_out_bytes(out, forms, numbers * sizeof *forms);
        if (result == EX_OK && !exi_progress_tell(g->def->progress, "writing", 0.8 + 0.2 * (i + 1) / item->frame_count))
            result = exi_progress_stopped(g->error);
    }
    free(frames);
    free(spread);
    free(forms);
    return result;
}

static void write_motion(exi_out *out, const exi_gathering *g) {
    const exi_motion_part *m = &g->motion;
    const size_t frames = (size_t)m->frame_count, moving = (size_t)m->moving_count, kept = (size_t)m->kept_count;
    const size_t numbers = 3 * (size_t)g->refs.driven_count, rows = (size_t)m->row_count;
    exi_out_int(out, m->moving_count);
    exi_out_int(out, m->stride);
    exi_out_int(out, m->kept_count);
    exi_out_int(out, g->def->form_count);
    exi_out_int(out, m->reduced ? m->row_count : 0);
    exi_out_bytes(out, m->times, frames * sizeof *m->times);
    exi_out_bytes(out, m->matrices, 12 * frames * moving * sizeof *m->matrices);
    exi_out_bytes(out, m->sizes, frames * moving * sizeof *m->sizes);
    if (!m->reduced) {
        exi_out_bytes(out, m->forms, kept * numbers * sizeof *m->forms);
        return;
    }
    exi_out_bytes(out, m->mean, numbers * sizeof *m->mean);
    exi_out_bytes(out, m->basis, rows * numbers * sizeof *m->basis);
    exi_out_bytes(out, m->coefficients, kept * rows * sizeof *m->coefficients);
    exi_out_bytes(out, m->left, kept * sizeof *m->left);
}

ex_result exi_gathered_write(exi_gathering *g, const char *path) {
    ex_file_writer writer;
    exi_out out;
    ex_result result = ex_file_open(&writer, path, g->error);
    if (result != EX_OK)
        return result;
    exi_out_start(&out, &writer);
    write_description(&out, g);
    if (g->def->method == EX_LEARN_MOTION)
        write_motion(&out, g);
    else
        result = write_frames(&out, g);
    if (result != EX_OK) {
        ex_file_abandon(&writer);
        return result;
    }
    exi_out_end(&out);
    return ex_file_commit(&writer, g->error);
}
