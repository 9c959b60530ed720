/*
 * Opens a gathered file: checks its checksum, then every count, place and number in it. A large file is mapped, not
 * copied: forms are used where they are.
 */
#include "author/drive/gather/gathered.h"
#include "author/drive/gather/gathered_format.h"

#include "author/base/array.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts ---- */

static void read_meshes(exi_in *in, ex_gathered *g) {
    for (int i = 0; i < 2; i++) {
        const size_t at = in->at;
        ex_mesh *mesh = in->failed ? NULL : exi_in_mesh(in);
        *(i ? &g->driven : &g->driver) = mesh;
        g->blocks[i] = in->bytes + at;
        g->block_sizes[i] = in->at - at;
    }
    g->info.driver = g->driver;
    g->info.driven = g->driven;
}

static void read_description(exi_in *in, ex_gathered *g) {
    ex_gathered_info *info = &g->info;
    (void)exi_in_bytes(in, 1, sizeof(exi_gathered_header));
    info->method = (ex_learn_method)exi_in_int(in, 0, EX_LEARN_METHOD_COUNT - 1);
    info->driver_path = exi_in_text(in);
    info->driven_path = exi_in_text(in);
    info->driver_bytes = exi_in_long(in);
    info->driven_bytes = exi_in_long(in);
    info->cache_frame_count = exi_in_int(in, 1, INT_MAX);
    info->first = exi_in_int(in, 0, info->cache_frame_count - 1);
    info->count = exi_in_int(in, 1, in->failed ? 1 : info->cache_frame_count - info->first);
    info->rate = exi_in_number(in);
    info->database = exi_in_number(in);
    info->database_axis = exi_in_text(in);
    g->driver_scale = exi_in_number(in);
    g->driven_scale = exi_in_number(in);
    in->failed |= !info->driver_path || !info->driven_path || !(info->rate >= 0) || !(g->driver_scale > 0) ||
                  !(g->driven_scale > 0);
    read_meshes(in, g);
    if (in->failed)
        return;
    const size_t at = in->at;
    g->options = ex_drive_options_default();
    exi_in_options(in, &g->options, info->method, g->driver->vertex_count, g->driven->vertex_count);
    g->blocks[2] = in->bytes + at;
    g->block_sizes[2] = in->at - at;
    info->options = &g->options;
}

static void read_frames(exi_in *in, ex_gathered *g) {
    const exi_references counts = {.driver_count = g->driver->vertex_count, .driven_count = g->driven->vertex_count};
    const int kept = exi_in_int(in, 1, g->info.count), first = g->info.first;
    bool spread = false;
    g->info.kept_count = kept;
    g->kept = exi_in_bytes(in, (size_t)kept, sizeof *g->kept);
    g->spread = exi_in_bytes(in, (size_t)kept, sizeof *g->spread);
    for (int i = 0; !in->failed && i < kept; i++) {
        in->failed |= g->kept[i] < (i > 0 ? g->kept[i - 1] + 1 : first) || g->kept[i] - first >= g->info.count ||
                      g->spread[i] > 1;
        spread |= g->spread[i] == 1;
    }
    in->failed |= !spread;
    g->forms = exi_in_floats(in, (size_t)kept, exi_gathered_frame_size(&counts));
}

static void read_motion(exi_in *in, ex_gathered *g) {
    exi_motion_part *m = &g->motion;
    const size_t frames = (size_t)g->info.count, numbers = 3 * (size_t)g->driven->vertex_count;
    m->frame_count = g->info.count;
    m->moving_count = exi_in_int(in, 1, EX_DRIVER_FRAME_MAX + 1);
    m->stride = exi_in_int(in, 1, INT_MAX);
    m->kept_count = exi_in_int(in, 1, INT_MAX);
    g->given_form_count = exi_in_int(in, 1, EX_CONVEX_MAX - 1);
    m->row_count = exi_in_int(in, 0, 2 * EX_CONVEX_MAX + 16);
    m->reduced = m->row_count > 0;
    if (in->failed || m->kept_count != (g->info.count - 1) / m->stride + 1) {
        in->failed = true;
        return;
    }
    const size_t kept = (size_t)m->kept_count, moving = (size_t)m->moving_count, rows = (size_t)m->row_count;
    m->times = exi_in_doubles(in, frames, 1);
    m->matrices = exi_in_floats(in, frames, 12 * moving);
    m->sizes = exi_in_floats(in, frames, moving);
    for (size_t f = 1; m->times && f < frames; f++)
        in->failed |= m->times[f] < m->times[f - 1];
    if (!m->reduced) {
        m->forms = exi_in_floats(in, kept, numbers);
    } else {
        m->mean = exi_in_floats(in, 1, numbers);
        m->basis = exi_in_floats(in, rows, numbers);
        m->coefficients = exi_in_doubles(in, kept, rows);
        m->left = exi_in_doubles(in, kept, 1);
    }
    double left = 0;
    for (size_t i = 0; m->left && i < kept; i++) {
        in->failed |= m->left[i] < 0;
        left += m->left[i] / (double)kept;
    }
    g->info.kept_count = m->kept_count;
    g->info.form_count = m->row_count;
    g->info.left = sqrt(left / (double)g->driven->vertex_count);
}

/* ---- entry points ---- */

static ex_result read_file(ex_gathered *g, ex_error *error) {
    const char *path = g->path;
    exi_gathered_header head;
    exi_in in = {.arena = &g->arena};
    ex_result result = exi_file_map(path, &g->view, error);
    if (result != EX_OK)
        return result;
    if (g->view.size < sizeof head || memcmp(g->view.bytes, EXI_GATHERED_MAGIC, sizeof head.magic) != 0)
        return ex_error_set(error, EX_ERROR_FORMAT,
                            "%s: this is no gathered file: 'exemplar drive gather' makes one from a pair of caches",
                            path);
    memcpy(&head, g->view.bytes, sizeof head);
    if (head.version != EXI_GATHERED_VERSION)
        return ex_error_set(error, EX_ERROR_FORMAT,
                            "%s: this file has version %u of its format, and this program reads version %u: gather it "
                            "again",
                            path, (unsigned)head.version, EXI_GATHERED_VERSION);
    if (head.reserved == 0 && exi_in_start(&in, g->view.bytes, g->view.size, &g->checksum)) {
        read_description(&in, g);
        if (!in.failed && g->info.method == EX_LEARN_MOTION)
            read_motion(&in, g);
        else if (!in.failed)
            read_frames(&in, g);
        in.failed |= in.at != in.size;
    } else {
        in.failed = true;
    }
    if (in.no_memory)
        return ex_error_memory(error, "a gathered file", g->view.size);
    if (in.failed)
        return ex_error_set(error, EX_ERROR_DATA, "%s: this gathered file is damaged or cut short: gather it again",
                            path);
    return EX_OK;
}

ex_result ex_gathered_open(const char *path, ex_gathered **gathered, ex_error *error) {
    if (!path || !gathered)
        return exi_misuse_error(error, __func__, "no path, or no pointer for the file");
    *gathered = NULL;
    ex_gathered *g = calloc(1, sizeof *g);
    if (g)
        g->path = exi_text_copy(path, strlen(path));
    const ex_result result = g && g->path ? read_file(g, error) : ex_error_memory(error, "a gathered file", sizeof *g);
    if (result == EX_OK)
        *gathered = g;
    else
        ex_gathered_close(g);
    return result;
}

const ex_gathered_info *ex_gathered_get_info(const ex_gathered *gathered) {
    return &gathered->info;
}

void ex_gathered_close(ex_gathered *g) {
    if (!g)
        return;
    ex_mesh_destroy(g->driver);
    ex_mesh_destroy(g->driven);
    exi_arena_free(&g->arena);
    exi_file_unmap(&g->view);
    exi_motion_part_free(&g->motion);
    free(g->path);
    free(g);
}
