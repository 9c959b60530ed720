/*
 * A driver as sections of a file, and back. A definition is first written as sections, and the rig is made from those:
 * so a rig and its unpacked copy are the same, and files and definitions get the same checks.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/drive/drive.h"

#include <math.h>
#include <string.h>

/* ---- writing ---- */

/* Appends arrays; if `to` is NULL, it only counts. */
typedef struct pen {
    char *to;
    exi_size total;
} pen;

static void put(pen *p, const void *from, size_t count, size_t size) {
    const size_t at = exi_size_add(&p->total, count, size, 4);
    if (p->to && count > 0)
        memcpy(p->to + at, from, count * size);
}

static size_t entries_of(const ex_influences *influences, size_t rows) {
    return influences->starts ? influences->starts[rows] : 0;
}

static void write_driver(pen *p, const ex_rig_def *def) {
    const ex_rig_driver *d = def->driver;
    const size_t rows = (size_t)def->mesh.vertex_count + (size_t)d->driver.vertex_count;
    const size_t fits = d->driver.starts[d->driver.frame_count], carries = entries_of(&d->carry, rows);
    size_t bind_triangles = 0;
    for (int b = 0; b < d->bind_count; b++)
        bind_triangles += (size_t)d->binds[b].triangle_count;
    exi_pack_driver head = {.vertices = d->driver.vertex_count,
                            .frames = d->driver.frame_count,
                            .fits = (int32_t)fits,
                            .carries = (int32_t)carries,
                            .triangles = d->triangle_count,
                            .binds = d->bind_count,
                            .bind_triangles = (int32_t)bind_triangles,
                            .flags = (d->push ? EXI_DRIVER_PUSH : 0u) | (d->joints ? EXI_DRIVER_JOINTS : 0u),
                            .residual = (int32_t)d->residual,
                            .thickness = d->thickness};
    put(p, &head, 1, sizeof head);
    put(p, d->driver.reference, (size_t)head.vertices, 3 * sizeof(float));
    put(p, d->driver.starts, (size_t)head.frames + 1, sizeof(uint32_t));
    put(p, d->driver.vertices, fits, sizeof(uint32_t));
    put(p, d->driver.weights, fits, sizeof(float));
    put(p, d->joints, d->joints ? (size_t)head.frames : 0, sizeof(int32_t));
    put(p, d->carry.starts, carries > 0 ? rows + 1 : 0, sizeof(uint32_t));
    put(p, d->carry.weights, carries, sizeof(float));
    put(p, d->triangles, (size_t)head.triangles, 3 * sizeof(uint32_t));
    uint32_t start = 0;
    put(p, &start, d->bind_count > 0, sizeof start);
    for (int b = 0; b < d->bind_count; b++) {
        start += (uint32_t)d->binds[b].triangle_count;
        put(p, &start, 1, sizeof start);
    }
    for (int b = 0; b < d->bind_count; b++)
        put(p, d->binds[b].triangles, (size_t)d->binds[b].triangle_count, sizeof(uint32_t));
    put(p, d->carry.places, carries, sizeof(uint16_t));
    put(p, d->vertex_binds, d->bind_count > 0 ? (size_t)def->mesh.vertex_count : 0, sizeof(uint16_t));
    put(p, NULL, 0, 4);
}

static void write_regions(pen *p, const ex_layer_def *layer, size_t rows) {
    const size_t influences = entries_of(&layer->driven.regions, rows);
    exi_pack_regions head = {.views = layer->driven.view_count, .influences = (int32_t)influences};
    for (int r = 0; r < layer->driven.view_count; r++)
        head.samples += layer->driven.views[r].count;
    put(p, &head, 1, sizeof head);
    for (int r = 0; r < layer->driven.view_count; r++)
        put(p, &layer->driven.views[r].frame, 1, sizeof(int32_t));
    uint32_t start = 0;
    put(p, &start, 1, sizeof start);
    for (int r = 0; r < layer->driven.view_count; r++) {
        start += (uint32_t)layer->driven.views[r].count;
        put(p, &start, 1, sizeof start);
    }
    for (int r = 0; r < layer->driven.view_count; r++)
        put(p, layer->driven.views[r].vertices, (size_t)layer->driven.views[r].count, sizeof(uint32_t));
    for (int r = 0; r < layer->driven.view_count; r++)
        put(p, layer->driven.views[r].weights, (size_t)layer->driven.views[r].count, sizeof(float));
    put(p, layer->driven.regions.starts, influences > 0 ? rows + 1 : 0, sizeof(uint32_t));
    put(p, layer->driven.regions.weights, influences, sizeof(float));
    put(p, layer->driven.regions.places, influences, sizeof(uint16_t));
    put(p, NULL, 0, 4);
}

/* A mixture's data for the driver's vertices. */
static void write_mixture(pen *p, const ex_rig_def *def, const ex_layer_def *layer) {
    const ex_mixture *m = &layer->trajectory.mixture;
    const size_t first = (size_t)def->mesh.vertex_count, count = (size_t)def->driver->driver.vertex_count;
    if (!layer->trajectory.examples || m->node_count == 0)
        return;
    put(p, m->shares + EX_NODE_SHARES * first, count, EX_NODE_SHARES * sizeof(float));
    for (int j = 0; j < m->corrector_count; j++)
        put(p, m->correctors[j] + 3 * first, count, 3 * sizeof(float));
    put(p, m->nodes + EX_NODE_SHARES * first, count, EX_NODE_SHARES * sizeof(uint16_t));
}

static void write_key(pen *p, const ex_rig_def *def, const ex_layer_def *layer, int key) {
    put(p, layer->driven.keys[key], (size_t)def->driver->driver.vertex_count, 3 * sizeof(float));
    if (layer->driven.joints && layer->driven.joints[key] && def->skeleton)
        put(p, layer->driven.joints[key], (size_t)ex_skeleton_joint_count(def->skeleton), sizeof(ex_transform));
    if (!layer->trajectory.examples)
        return;
    const ex_trajectory *path = &layer->trajectory.examples[key];
    const size_t first = 3 * (size_t)def->mesh.vertex_count, count = (size_t)def->driver->driver.vertex_count;
    if (path->turns)
        put(p, path->turns + first, count, 3 * sizeof(float));
    for (int c = 0; c < path->corrector_count; c++)
        put(p, path->correctors[c] + first, count, 3 * sizeof(float));
}

/* One section: measured, or written at the next position. */

static void write_section(pen *all, const ex_rig_def *def, const ex_layer_def *layer, int key, exi_bytes *bytes) {
    const size_t at = exi_size_add(&all->total, 0, 1, 16);
    pen p = {.to = all->to ? all->to + at : NULL};
    if (!layer)
        write_driver(&p, def);
    else if (layer->driven.predictor && ex_weigher_kind_info(layer->weigh.kind)->is_predicted) {
        if (key < 0)
            put(&p, layer->driven.predictor, exi_part_size(layer->driven.predictor), 1);
    } else if (key < 0) {
        write_regions(&p, layer, (size_t)def->mesh.vertex_count + (size_t)def->driver->driver.vertex_count);
        write_mixture(&p, def, layer);
    } else
        write_key(&p, def, layer, key);
    exi_size_add(&all->total, p.total.bytes, 1, 16);
    all->total.overflow |= p.total.overflow;
    if (bytes)
        *bytes = (exi_bytes){.data = p.to, .size = p.total.bytes};
}

static bool is_driven(const ex_layer_def *layer) {
    return ex_weigher_kind_info(layer->weigh.kind)->is_driven;
}

ex_result exi_drive_encode(const ex_rig_def *def, const ex_allocator *allocator, exi_drive_source *source,
                           void **memory, size_t *size, ex_error *error) {
    size_t examples = 0;
    for (int l = 0; l < def->layer_count; l++)
        examples += (size_t)def->layers[l].weigh.example_count;
    pen all = {0};
    exi_bytes *regions = NULL, *keys = NULL;
    *memory = NULL;
    for (int pass = 0; pass < 2; pass++) {
        all.total = (exi_size){0};
        const size_t regions_at = exi_size_add(&all.total, (size_t)def->layer_count, sizeof(exi_bytes), 16);
        const size_t keys_at = exi_size_add(&all.total, examples, sizeof(exi_bytes), 16);
        if (pass > 0) {
            regions = (exi_bytes *)(void *)(all.to + regions_at);
            keys = (exi_bytes *)(void *)(all.to + keys_at);
        }
        write_section(&all, def, NULL, -1, pass > 0 ? &source->driver : NULL);
        size_t first = 0;
        for (int l = 0; l < def->layer_count; first += (size_t)def->layers[l++].weigh.example_count) {
            const ex_layer_def *layer = &def->layers[l];
            if (!is_driven(layer))
                continue;
            write_section(&all, def, layer, -1, regions ? &regions[l] : NULL);
            for (int k = 0; k < layer->weigh.example_count; k++)
                write_section(&all, def, layer, k, keys ? &keys[first + (size_t)k] : NULL);
        }
        if (pass > 0)
            break;
        *size = all.total.bytes;
        *memory = all.total.overflow ? NULL : exi_allocate(allocator, *size);
        if (!*memory)
            return ex_error_memory(error, "the driver", *size);
        memset(*memory, 0, *size);
        all.to = *memory;
    }
    source->regions = regions;
    source->keys = keys;
    return EX_OK;
}

/* ---- reading ---- */

typedef struct eye {
    const char *from;
    size_t left;
    bool short_of; /* true if bytes ran out */
} eye;

static const void *get(eye *e, size_t count, size_t size) {
    size_t bytes = 0;
    if (!exi_multiply(count, size, &bytes) || bytes > SIZE_MAX - 3 || (bytes + 3) / 4 * 4 > e->left) {
        e->short_of = true;
        return NULL;
    }
    const void *at = e->from;
    e->from += (bytes + 3) / 4 * 4;
    e->left -= (bytes + 3) / 4 * 4;
    return at;
}

static ex_result broken(ex_error *error, const char *what) {
    return ex_error_set(error, EX_ERROR_DATA, "the driver of the rig is broken: %s", what);
}

/* True if starts [count + 1] ascend from 0 to total, with steps of at least `least`. */
static bool rising(const uint32_t *starts, size_t count, size_t total, uint32_t least) {
    if (starts[0] != 0 || starts[count] != total)
        return false;
    for (size_t i = 0; i < count; i++)
        if (starts[i + 1] < starts[i] || starts[i + 1] - starts[i] < least)
            return false;
    return true;
}

static bool sound_influences(const ex_influences *f, size_t rows, size_t total, int places) {
    if (!rising(f->starts, rows, total, 1))
        return false;
    for (size_t i = 0; i < total; i++)
        if (f->places[i] >= places || !(f->weights[i] >= 0) || !(f->weights[i] <= 1.0001F))
            return false;
    for (size_t v = 0; v < rows; v++) {
        double sum = 0;
        for (uint32_t i = f->starts[v]; i < f->starts[v + 1]; i++)
            sum += (double)f->weights[i];
        if (!(fabs(sum - 1) < 1e-3))
            return false;
    }
    return true;
}

static bool below(const uint32_t *values, size_t count, int limit) {
    for (size_t i = 0; i < count; i++)
        if (values[i] >= (uint32_t)limit)
            return false;
    return true;
}

static ex_result read_binds(eye *e, const exi_pack_driver *head, ex_bind *binds, ex_error *error) {
    const uint32_t *starts = get(e, head->binds > 0 ? (size_t)head->binds + 1 : 0, sizeof(uint32_t));
    const uint32_t *triangles = get(e, (size_t)head->bind_triangles, sizeof(uint32_t));
    if (e->short_of || (head->binds > 0 && !rising(starts, (size_t)head->binds, (size_t)head->bind_triangles, 1)) ||
        !below(triangles, (size_t)head->bind_triangles, head->triangles))
        return broken(error, "the bindings of its vertices");
    for (int b = 0; b < head->binds; b++)
        binds[b] = (ex_bind){.triangle_count = (int)(starts[b + 1] - starts[b]), .triangles = triangles + starts[b]};
    return EX_OK;
}

static bool sound_head(const exi_pack_driver *h) {
    return h->vertices >= 1 && h->frames >= 1 && h->frames <= EX_DRIVER_FRAME_MAX && h->fits >= 0 && h->carries >= 0 &&
           h->triangles >= 1 && h->binds >= 0 && h->binds <= EX_BIND_MAX && h->bind_triangles >= 0 && h->flags <= 3 &&
           h->residual >= 0 && h->residual < EX_RESIDUAL_COUNT && h->thickness >= 0 && h->thickness < 1e18F;
}

ex_result exi_drive_read_driver(exi_bytes bytes, int vertex_count, int joint_count, ex_rig_driver *d, ex_bind *binds,
                                ex_error *error) {
    eye e = {.from = bytes.data, .left = bytes.size};
    exi_pack_driver head = {0};
    const void *at = get(&e, 1, sizeof head);
    if (at)
        memcpy(&head, at, sizeof head);
    if (!at || !sound_head(&head))
        return broken(error, "its counts contradict each other");
    const size_t rows = (size_t)vertex_count + (size_t)head.vertices, carries = (size_t)head.carries;
    *d = (ex_rig_driver){.residual = (ex_residual)head.residual,
                         .push = (head.flags & EXI_DRIVER_PUSH) != 0,
                         .thickness = head.thickness,
                         .bind_count = head.binds,
                         .triangle_count = head.triangles};
    d->driver = (ex_driver_def){.vertex_count = head.vertices, .frame_count = head.frames};
    d->driver.reference = get(&e, (size_t)head.vertices, 3 * sizeof(float));
    d->driver.starts = get(&e, (size_t)head.frames + 1, sizeof(uint32_t));
    d->driver.vertices = get(&e, (size_t)head.fits, sizeof(uint32_t));
    d->driver.weights = get(&e, (size_t)head.fits, sizeof(float));
    d->joints = get(&e, head.flags & EXI_DRIVER_JOINTS ? (size_t)head.frames : 0, sizeof(int32_t));
    d->carry.starts = get(&e, carries > 0 ? rows + 1 : 0, sizeof(uint32_t));
    d->carry.weights = get(&e, carries, sizeof(float));
    d->triangles = get(&e, (size_t)head.triangles, 3 * sizeof(uint32_t));
    if (e.short_of || !rising(d->driver.starts, (size_t)head.frames, (size_t)head.fits, 0))
        return broken(error, "its tables are shorter than its counts");
    ex_result result = read_binds(&e, &head, binds, error);
    if (result != EX_OK)
        return result;
    d->binds = head.binds > 0 ? binds : NULL;
    d->carry.places = get(&e, carries, sizeof(uint16_t));
    d->vertex_binds = get(&e, head.binds > 0 ? (size_t)vertex_count : 0, sizeof(uint16_t));
    if (e.short_of || e.left > 0)
        return broken(error, "its tables are longer or shorter than its counts");
    if (!(head.flags & EXI_DRIVER_JOINTS))
        d->joints = NULL;
    if (head.binds == 0)
        d->vertex_binds = NULL;
    if (carries == 0)
        d->carry = (ex_influences){0};
    bool jointed = false;
    for (int f = 0; d->joints && f < head.frames; f++) {
        jointed |= d->joints[f] >= 0;
        if (d->joints[f] < -1 || d->joints[f] >= joint_count ||
            (d->joints[f] >= 0 && d->driver.starts[f + 1] > d->driver.starts[f]))
            return broken(error, "a frame follows a joint that does not exist, or follows vertices too");
    }
    if (!jointed)
        d->joints = NULL;
    for (int v = 0; d->vertex_binds && v < vertex_count; v++)
        if (d->vertex_binds[v] > head.binds)
            return broken(error, "the bindings of its vertices");
    if (!below(d->triangles, 3 * (size_t)head.triangles, head.vertices))
        return broken(error, "a triangle refers to a vertex that does not exist");
    if (carries > 0 && !sound_influences(&d->carry, rows, carries, head.frames))
        return broken(error, "every vertex needs frames that exist, with weights that sum to 1");
    return EX_OK;
}

ex_result exi_drive_read_regions(exi_bytes bytes, int vertex_count, const ex_rig_driver *driver, int *view_count,
                                 ex_region *views, ex_influences *regions, ex_error *error) {
    eye e = {.from = bytes.data, .left = bytes.size};
    exi_pack_regions head = {0};
    const void *at = get(&e, 1, sizeof head);
    if (at)
        memcpy(&head, at, sizeof head);
    if (!at || head.views < 1 || head.views > EX_DRIVER_FRAME_MAX || head.samples < head.views || head.influences < 0)
        return broken(error, "the counts of a layer's regions contradict each other");
    const size_t rows = (size_t)vertex_count + (size_t)driver->driver.vertex_count;
    const size_t count = (size_t)head.influences;
    const int32_t *frames = get(&e, (size_t)head.views, sizeof(int32_t));
    const uint32_t *starts = get(&e, (size_t)head.views + 1, sizeof(uint32_t));
    const uint32_t *vertices = get(&e, (size_t)head.samples, sizeof(uint32_t));
    const float *weights = get(&e, (size_t)head.samples, sizeof(float));
    *regions = (ex_influences){0};
    regions->starts = get(&e, count > 0 ? rows + 1 : 0, sizeof(uint32_t));
    regions->weights = get(&e, count, sizeof(float));
    regions->places = get(&e, count, sizeof(uint16_t));
    if (e.short_of || e.left > 0 || !rising(starts, (size_t)head.views, (size_t)head.samples, 1))
        return broken(error, "the tables of a layer's regions are longer or shorter than its counts");
    if (count == 0)
        *regions = (ex_influences){0};
    if (count > 0 && !sound_influences(regions, rows, count, head.views))
        return broken(error, "every vertex needs regions that exist, with weights that sum to 1");
    if (count == 0 && head.views > 1 && head.views != driver->driver.frame_count)
        return broken(error, "a layer has regions, but its vertices are not assigned to them");
    *view_count = head.views;
    for (int r = 0; r < head.views; r++) {
        if (frames[r] < 0 || frames[r] >= driver->driver.frame_count)
            return broken(error, "a region refers to a frame that does not exist");
        views[r] = (ex_region){.frame = frames[r],
                               .count = (int)(starts[r + 1] - starts[r]),
                               .vertices = vertices + starts[r],
                               .weights = weights + starts[r]};
    }
    return EX_OK;
}
