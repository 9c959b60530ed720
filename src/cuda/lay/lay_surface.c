/*
 * Layout of the surface's tables for the GPU (block.h): for the cage and every level the rings of its vertices and the
 * sources of split vertices, stencils in tiles of 32 vertices, and the displacements of the last level.
 *
 * A tile has as many rows as its vertex with the most control vertices. Refined vertices are numbered by origin
 * (vertices, edges, faces), so few rows are longer than needed.
 */
#include "cuda/lay/lay.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/refine/stencils.h"
#include "runtime/rig/rig.h"

#include <string.h>

/* ---- stencils ---- */

/* The rows of a table, in float. */
typedef struct rows {
    int *offsets, *indices;
    float *weights, *tangents;
    void *memory;
    size_t size;
} rows;

static ex_result read_rows(const ex_stencils *stencils, int level, const ex_allocator *allocator, rows *r,
                           ex_error *error) {
    const size_t vertices = (size_t)ex_stencils_vertex_count(stencils, level);
    const size_t terms = (size_t)ex_stencils_weight_count(stencils, level);
    const bool tangents = ex_stencils_has_tangents(stencils, level);
    exi_size total = {0};
    const size_t at[4] = {exi_size_add(&total, vertices + 1, sizeof *r->offsets, EXI_ALIGN),
                          exi_size_add(&total, terms, sizeof *r->indices, EXI_ALIGN),
                          exi_size_add(&total, terms, sizeof *r->weights, EXI_ALIGN),
                          exi_size_add(&total, tangents ? terms : 0, 2 * sizeof *r->tangents, EXI_ALIGN)};
    if (total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the stencils are too large for this machine's memory");
    char *memory = exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "the stencils", total.bytes);
    *r = (rows){.offsets = (void *)(memory + at[0]),
                .indices = (void *)(memory + at[1]),
                .weights = (void *)(memory + at[2]),
                .tangents = tangents ? (void *)(memory + at[3]) : NULL,
                .memory = memory,
                .size = total.bytes};
    exi_stencils_read_floats(stencils, level, r->offsets, r->indices, r->weights, r->tangents);
    return EX_OK;
}

/* Finds the length of each tile's longest row, from the batches, which state theirs. */
static ex_result measure_tiles(const ex_stencils *stencils, int level, const ex_allocator *allocator, uint64_t *sum,
                               ex_error *error) {
    const exi_stencil_table *table = exi_stencils_table(stencils, level);
    const exi_stencil_batch *batches = (const void *)((const char *)stencils + table->batches);
    const uint32_t *vertices = (const void *)((const char *)stencils + table->vertices);
    const size_t tiles = ((size_t)table->vertex_count + EXI_GPU_TILE - 1) / EXI_GPU_TILE;
    const size_t size = tiles * sizeof(uint32_t);
    uint32_t *most = exi_allocate(allocator, size);
    if (!most)
        return ex_error_memory(error, "the stencils", size);
    memset(most, 0, size);
    for (int b = 0; b < table->batch_count; b++)
        for (uint32_t i = 0; i < batches[b].vertex_count; i++) {
            uint32_t *tile = &most[vertices[batches[b].vertices + i] / EXI_GPU_TILE];
            *tile = batches[b].support_count > *tile ? batches[b].support_count : *tile;
        }
    *sum = 0;
    for (size_t t = 0; t < tiles; t++)
        *sum += most[t];
    exi_release(allocator, most, size);
    return EX_OK;
}

/* Surplus rows of a vertex use its own first control vertex, with weight 0: numbers that are not finite elsewhere in
 * the cage have no effect. */
static void fill_lane(const rows *r, int v, size_t begin, size_t end, uint32_t *support, float *weights,
                      float *tangents) {
    const size_t lane = (size_t)(v % EXI_GPU_TILE), first = (size_t)r->offsets[v];
    const size_t count = (size_t)r->offsets[v + 1] - first;
    for (size_t row = begin, k = 0; row < end; row++, k++) {
        const bool own = k < count;
        const size_t from = first + (own ? k : 0), to = row * EXI_GPU_TILE + lane;
        support[to] = count > 0 ? (uint32_t)r->indices[from] : 0;
        weights[to] = own ? r->weights[from] : 0;
        for (size_t t = 0; t < 2 && tangents; t++)
            tangents[(2 * row + t) * EXI_GPU_TILE + lane] = own ? r->tangents[2 * from + t] : 0;
    }
}

static void fill_tiles(const rows *r, int vertices, uint32_t *starts, uint32_t *support, float *weights,
                       float *tangents) {
    size_t end = 0;
    starts[0] = 0;
    for (int first = 0; first < vertices; first += EXI_GPU_TILE) {
        const int last = vertices - first < EXI_GPU_TILE ? vertices : first + EXI_GPU_TILE;
        const size_t begin = end;
        for (int v = first; v < last; v++) {
            const size_t count = (size_t)(r->offsets[v + 1] - r->offsets[v]);
            end = begin + count > end ? begin + count : end;
        }
        for (int v = first; v < last; v++)
            fill_lane(r, v, begin, end, support, weights, tangents);
        starts[first / EXI_GPU_TILE + 1] = (uint32_t)end;
    }
}

static ex_result lay_stencils(const ex_stencils *stencils, int which, exi_lay *lay, exi_gpu_level *level,
                              ex_error *error) {
    const size_t tiles = ((size_t)level->vertices + EXI_GPU_TILE - 1) / EXI_GPU_TILE;
    const void *at = NULL;
    uint64_t count = 0;
    ex_result result = measure_tiles(stencils, which, lay->allocator, &count, error);
    if (result != EX_OK)
        return result;
    if (count > UINT32_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "the stencils of a level are too large for the GPU; refine less");
    const size_t lanes = (size_t)count * EXI_GPU_TILE;
    level->has_tangents = ex_stencils_has_tangents(stencils, which);
    uint32_t *starts = exi_lay_take(lay, tiles + 1, sizeof *starts, &at);
    level->tile_starts = at;
    uint32_t *support = exi_lay_take(lay, lanes, sizeof *support, &at);
    level->support = at;
    float *weights = exi_lay_take(lay, lanes, sizeof *weights, &at);
    level->weights = at;
    float *tangents = exi_lay_take(lay, level->has_tangents ? lanes : 0, 2 * sizeof *tangents, &at);
    level->tangents = at;
    if (!starts)
        return EX_OK;
    rows r = {0};
    result = read_rows(stencils, which, lay->allocator, &r, error);
    if (result != EX_OK)
        return result;
    fill_tiles(&r, level->vertices, starts, support, weights, tangents);
    exi_release(lay->allocator, r.memory, r.size);
    return EX_OK;
}

/* ---- displacements ---- */

static void lay_displacement(const ex_rig *rig, int layer, exi_lay *lay, exi_gpu_displacement *to) {
    const exi_displacements *d = exi_rig_displacements_of(rig, layer);
    const size_t examples = (size_t)d->example_count;
    const size_t number = d->storage == EX_STORAGE_FLOAT ? sizeof(float) : sizeof(int16_t);
    const uint32_t *vertices = exi_displacements_vertices(d);
    const void *at = NULL;
    *to = (exi_gpu_displacement){.layer = layer,
                                 .example_count = d->example_count,
                                 .first_example = exi_rig_layers(rig)[layer].first_example,
                                 .storage = d->storage,
                                 .stride = d->stride};
    int32_t *slots = exi_lay_take(lay, (size_t)d->vertex_count, sizeof *slots, &at);
    to->slots = at;
    for (int v = 0; slots && v < d->vertex_count; v++)
        slots[v] = -1;
    for (int i = 0; slots && i < d->listed_count; i++)
        slots[vertices[i]] = i;
    exi_lay_copy(lay, (const char *)d + d->values, examples * (size_t)d->stride * number, &at);
    to->values = at;
    exi_lay_copy(lay, (const char *)d + d->scales, examples * sizeof(float), &at);
    to->scales = at;
}

static void lay_displacements(const ex_rig *rig, exi_lay *lay, exi_gpu *head) {
    const void *at = NULL;
    exi_gpu_displacement *table = exi_lay_take(lay, (size_t)rig->displaced_layers, sizeof *table, &at);
    head->displacements = at;
    head->displacement_count = 0;
    for (int l = 0; l < rig->counts.layers; l++) {
        exi_gpu_displacement made;
        if (!exi_rig_displacements_of(rig, l))
            continue;
        lay_displacement(rig, l, lay, &made);
        if (table)
            table[head->displacement_count] = made;
        head->displacement_count++;
    }
}

/* ---- levels ---- */

/* Lays out rings and split vertices, which come from the faces. */
static ex_result lay_faces(const ex_rig *rig, int which, exi_lay *lay, exi_gpu_level *level, ex_error *error) {
    const ex_rig_mesh mesh = ex_rig_level_mesh(rig, which);
    const void *at = NULL;
    *level = (exi_gpu_level){.vertices = mesh.vertex_count, .splits = mesh.split_count};
    if (mesh.split_source) {
        exi_lay_copy(lay, mesh.split_source, (size_t)mesh.split_count * sizeof *mesh.split_source, &at);
        level->sources = at;
    }
    return exi_rig_levels(rig)[which].normals ? exi_lay_rings(&mesh, lay, level, error) : EX_OK;
}

ex_result exi_lay_surface(const ex_rig *rig, exi_lay *lay, exi_gpu *head, exi_gpu_levels *levels, ex_error *error) {
    const int last = rig->counts.levels;
    const ex_stencils *stencils = ex_rig_stencils(rig);
    *levels = (exi_gpu_levels){.count = last + 1, .numbered = last + 1};
    if (stencils && ex_stencils_on_limit(stencils))
        levels->limit = last;
    else if (ex_rig_level_vertex_count(rig, EX_LEVEL_LIMIT) > 0)
        levels->limit = levels->count++;
    if (levels->count > EXI_GPU_LEVEL_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "the rig has %d levels; the GPU takes at most %d", last,
                            EXI_GPU_LEVEL_MAX - 2);
    for (int i = 0; i <= last; i++) {
        ex_result result = lay_faces(rig, i, lay, &levels->levels[i], error);
        if (result == EX_OK && i > 0)
            result = lay_stencils(stencils, i, lay, &levels->levels[i], error);
        if (result != EX_OK)
            return result;
    }
    if (levels->limit > last) { /* the faces of the last level, and its own sums */
        levels->levels[levels->limit] = levels->levels[last];
        const ex_result result = lay_stencils(stencils, EX_LEVEL_LIMIT, lay, &levels->levels[levels->limit], error);
        if (result != EX_OK)
            return result;
    }
    lay_displacements(rig, lay, head);
    return EX_OK;
}
