/*
 * Cuts the cage into patches for crowds: pieces that fit on a multiprocessor, with their neighbours if there are
 * normals. Patches are runs of consecutive vertices if that needs hardly more of them. Otherwise vertices are halved
 * along the longest side of their box at rest, into as few pieces as have room for their neighbours.
 */
#include "cuda/lay/lay_crowd.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <string.h>

void exi_crowd_plan_close(exi_crowd_plan *p) {
    if (p->memory)
        exi_release(p->allocator, p->memory, p->size);
    if (p->ring_lay.memory)
        exi_release(p->allocator, p->ring_lay.memory, p->ring_lay.used);
}

/* ---- rings on the host ---- */

static ex_result open_rings(const ex_rig *rig, exi_crowd_plan *p, ex_error *error) {
    const ex_rig_mesh mesh = ex_rig_level_mesh(rig, 0);
    exi_gpu_level level = {.vertices = mesh.vertex_count};
    exi_lay lay = {.allocator = p->allocator};
    ex_result result = exi_lay_rings(&mesh, &lay, &level, error);
    if (result != EX_OK || lay.used == 0)
        return result;
    const size_t size = lay.used;
    lay = (exi_lay){.memory = exi_allocate(p->allocator, size), .allocator = p->allocator};
    if (!lay.memory)
        return ex_error_memory(error, "the rings of the cage", size);
    memset(lay.memory, 0, size);
    lay.base = (uintptr_t)lay.memory;
    result = exi_lay_rings(&mesh, &lay, &level, error);
    p->ring_lay = lay;
    p->ring_lay.used = size;
    p->ring_starts = level.ring_starts;
    p->rings = level.rings;
    return result;
}

ex_result exi_crowd_plan_open(const ex_rig *rig, const ex_allocator *allocator, exi_crowd_plan *p, ex_error *error) {
    *p = (exi_crowd_plan){
        .vertices = rig->counts.vertices, .joints = rig->skin ? rig->counts.joints : 0, .allocator = allocator};
    const size_t n = (size_t)p->vertices;
    exi_size total = {0};
    const size_t at[] = {exi_size_add(&total, n, 3 * sizeof(float), EXI_ALIGN),
                         exi_size_add(&total, n, sizeof(uint32_t), EXI_ALIGN),
                         exi_size_add(&total, n + 1, sizeof(uint32_t), EXI_ALIGN),
                         exi_size_add(&total, n, sizeof(uint32_t), EXI_ALIGN),
                         exi_size_add(&total, n, sizeof(uint32_t), EXI_ALIGN),
                         exi_size_add(&total, (size_t)p->joints, sizeof(float), EXI_ALIGN)};
    char *memory = exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "the patches of a crowd", total.bytes);
    p->memory = memory;
    p->size = total.bytes;
    p->positions = (void *)(memory + at[0]);
    p->order = (void *)(memory + at[1]);
    p->starts = (void *)(memory + at[2]);
    p->row_of = (void *)(memory + at[3]);
    p->seen = (void *)(memory + at[4]);
    p->joint_weights = (void *)(memory + at[5]);
    ex_rig_rest_mesh(rig, p->positions);
    return exi_rig_levels(rig)[0].normals ? open_rings(rig, p, error) : EX_OK;
}

/* ---- cutting ---- */

static bool before(const exi_crowd_plan *p, int axis, uint32_t a, uint32_t b) {
    const float x = p->positions[3 * (size_t)a + (size_t)axis], y = p->positions[3 * (size_t)b + (size_t)axis];
    return x < y || (!(y < x) && a < b);
}

static void swap(uint32_t *a, uint32_t *b) {
    const uint32_t t = *a;
    *a = *b;
    *b = t;
}

/* Moves the vertices that sort before the one at `middle` in front of it (C. A. R. Hoare: Algorithm 65, Find). */
static void part_at(const exi_crowd_plan *p, int axis, uint32_t *v, int count, int middle) {
    int low = 0, high = count - 1;
    while (low < high) {
        const uint32_t pivot = v[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (before(p, axis, v[i], pivot))
                i++;
            while (before(p, axis, pivot, v[j]))
                j--;
            if (i <= j)
                swap(&v[i++], &v[j--]);
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

static int longest_axis(const exi_crowd_plan *p, const uint32_t *v, int count) {
    float low[3] = {0}, high[3] = {0};
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            const float x = p->positions[3 * (size_t)v[i] + (size_t)c];
            low[c] = i == 0 || x < low[c] ? x : low[c];
            high[c] = i == 0 || x > high[c] ? x : high[c];
        }
    int axis = 0;
    for (int c = 1; c < 3; c++)
        axis = high[c] - low[c] > high[axis] - low[axis] ? c : axis;
    return axis;
}

static void sort_ascending(uint32_t *v, int count) {
    for (int gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (int i = gap; i < count; i++) {
            const uint32_t moved = v[i];
            int j = i;
            for (; j >= gap && v[j - gap] > moved; j -= gap)
                v[j] = v[j - gap];
            v[j] = moved;
        }
}

static void cut(exi_crowd_plan *p, uint32_t *v, int count, int parts) {
    if (parts == 1) {
        sort_ascending(v, count);
        p->starts[p->patch_count++] = (uint32_t)(v - p->order);
        return;
    }
    const int left = parts / 2, middle = (int)((int64_t)count * left / parts);
    part_at(p, longest_axis(p, v, count), v, count, middle);
    cut(p, v, middle, left);
    cut(p, v + middle, count - middle, parts - left);
}

/* ---- one patch ---- */

/* Finds its rows; false if there are too many. */
bool exi_crowd_plan_patch(exi_crowd_plan *p, int patch) {
    const uint32_t *own = p->order + p->starts[patch];
    const uint32_t mark = (uint32_t)patch + 1;
    p->owned = (int)(p->starts[patch + 1] - p->starts[patch]);
    p->row_count = 0;
    if (p->owned > p->most)
        return false;
    for (int i = 0; i < p->owned; i++) {
        p->seen[own[i]] = mark;
        p->row_of[own[i]] = (uint32_t)p->row_count;
        p->rows[p->row_count++] = own[i];
    }
    for (int i = 0; p->rings && i < p->owned; i++)
        for (uint32_t k = p->ring_starts[own[i]]; k < p->ring_starts[own[i] + 1]; k++) {
            const uint32_t v = p->rings[k] & ~EXI_GPU_RING_START;
            if (p->seen[v] == mark)
                continue;
            if (p->row_count == p->most)
                return false;
            p->seen[v] = mark;
            p->rows[p->row_count++] = v;
        }
    sort_ascending(p->rows + p->owned, p->row_count - p->owned);
    for (int i = p->owned; i < p->row_count; i++)
        p->row_of[p->rows[i]] = (uint32_t)i;
    return true;
}

/* Finds the longest run of consecutive vertices from `first` on whose rows fit, a multiple of four except for the last.
 * Returns its end; `first` if there is none. */
static uint32_t find_run(exi_crowd_plan *p, uint32_t first, uint32_t mark) {
    const uint32_t vertices = (uint32_t)p->vertices;
    uint32_t end = first;
    int rows = 0;
    for (uint32_t v = first; v < vertices && v < first + (uint32_t)p->most && rows < 2 * p->most; v++) {
        rows += p->seen[v] != mark;
        p->seen[v] = mark;
        for (uint32_t k = p->rings ? p->ring_starts[v] : 0; p->rings && k < p->ring_starts[v + 1]; k++) {
            const uint32_t beside = p->rings[k] & ~EXI_GPU_RING_START;
            rows += p->seen[beside] != mark;
            p->seen[beside] = mark;
        }
        if (rows <= p->most && ((v + 1 - first) % 4 == 0 || v + 1 == vertices))
            end = v + 1;
    }
    return end;
}

/* Cuts into runs of consecutive vertices: output is then contiguous, and neighbours of consecutive vertices are mostly
 * consecutive. Returns false if more than `most` patches would be needed. */
static bool cut_runs(exi_crowd_plan *p, int most) {
    p->patch_count = 0;
    for (int v = 0; v < p->vertices; v++) {
        p->order[v] = (uint32_t)v;
        p->seen[v] = 0;
    }
    for (uint32_t first = 0; first < (uint32_t)p->vertices;) {
        const uint32_t end = find_run(p, first, (uint32_t)p->patch_count + 1);
        if (end == first || p->patch_count == most)
            return false;
        p->starts[p->patch_count++] = first;
        first = end;
    }
    p->starts[p->patch_count] = (uint32_t)p->vertices;
    memset(p->seen, 0, (size_t)p->vertices * sizeof *p->seen); /* patches will be opened */
    return true;
}

static bool cut_into(exi_crowd_plan *p, int parts) {
    for (int v = 0; v < p->vertices; v++) {
        p->order[v] = (uint32_t)v;
        p->seen[v] = 0;
    }
    p->patch_count = 0;
    cut(p, p->order, p->vertices, parts);
    p->starts[parts] = (uint32_t)p->vertices;
    for (int i = 0; i < parts; i++)
        if (!exi_crowd_plan_patch(p, i))
            return false;
    memset(p->seen, 0, (size_t)p->vertices * sizeof *p->seen); /* patches will be opened again */
    return true;
}

/* Cuts into as few patches as possible, into runs if they are not many more; false if neighbours take more room than
 * the vertices themselves. */
bool exi_crowd_plan_cut(exi_crowd_plan *p) {
    const int most = p->vertices / (p->most / 4) + 1;
    for (int parts = (p->vertices + p->most - 1) / p->most; parts <= most; parts += 1 + parts / 24)
        if (cut_into(p, parts)) {
            p->runs = cut_runs(p, parts + parts / 4 + 1);
            return p->runs || cut_into(p, parts);
        }
    return false;
}
