/*
 * Layout of the data for the shape stage (block.h): forms in tiles of 32, trajectories, offsets vertex by vertex, the
 * skin. The runtime's tiles have 8 or 16 vertices, so a tile here is a whole number of those, side by side.
 */
#include "cuda/lay/lay.h"

#include "runtime/base/result.h"
#include "runtime/pose/skin.h"
#include "runtime/rig/rig.h"

#include <string.h>

_Static_assert(EXI_GPU_TILE % EXI_TILE == 0, "tiles of the GPU are made of whole tiles of the runtime");

/* ---- forms ---- */

enum { PIECES = EXI_GPU_TILE / EXI_TILE, TILE_NUMBERS = 3 * EXI_GPU_TILE };

/* Converts tiles of the runtime to tiles of the GPU: `from` has [tile_count][count][3][EXI_TILE] numbers of `size`
 * bytes. Reads `from` in order; writes are close together too. */
static void copy_tiles(const char *from, int tile_count, int count, size_t size, char *to) {
    const size_t piece = EXI_TILE * size, row = EXI_GPU_TILE * size;
    for (int tile = 0; tile < tile_count; tile++) {
        char *place = to + (size_t)(tile / PIECES) * (size_t)count * 3 * row + (size_t)(tile % PIECES) * piece;
        for (size_t i = 0; i < 3 * (size_t)count; i++, from += piece, place += row)
            memcpy(place, from, piece);
    }
}

static void lay_forms(const ex_forms *forms, exi_lay *lay, exi_gpu *head) {
    const size_t number = forms->storage == EX_STORAGE_FLOAT ? sizeof(float) : sizeof(int16_t);
    const size_t tiles = (size_t)head->tiles, count = (size_t)forms->example_count;
    const void *at;
    char *base = exi_lay_take(lay, tiles, TILE_NUMBERS * sizeof(float), &at);
    head->base = at;
    char *numbers = exi_lay_take(lay, tiles, count * TILE_NUMBERS * number, &at);
    head->numbers = at;
    exi_lay_copy(lay, (const char *)forms + forms->scales, count * sizeof(float), &at);
    head->scales = at;
    if (base)
        copy_tiles((const char *)forms + forms->base, forms->tile_count, 1, sizeof(float), base);
    if (numbers)
        copy_tiles((const char *)forms + forms->tiles, forms->tile_count, forms->example_count, number, numbers);
}

/* ---- trajectories ---- */

/* Bytes of a layer's block that weighing reads: without tables of vertices and of nodes. */
static uint64_t front_of(const exi_trajectories *paths) {
    return paths->mixture.node_count > 0 ? paths->mixture.given_places
           : paths->segments             ? paths->segments
           : paths->mask                 ? paths->mask
                                         : paths->deltas;
}

static void lay_path(const exi_trajectories *paths, int layer, exi_lay *lay, exi_gpu *head, exi_gpu_trajectory *path) {
    const exi_trajectory_example *examples = exi_trajectories_examples(paths);
    const void *at;
    *path = (exi_gpu_trajectory){.layer = layer,
                                 .sum = exi_trajectories_is_sum(paths),
                                 .first_form = paths->first_form,
                                 .corrector_count = paths->corrector_count,
                                 .first_segment = head->segments,
                                 .segment_count = paths->flags & EXI_PATHS_BASES ? paths->segment_count : 0};
    for (int k = 0; k < paths->example_count; k++) {
        path->turn_count += examples[k].turns >= 0;
        path->velocity_count += examples[k].velocities >= 0;
    }
    exi_lay_copy(lay, paths, (size_t)front_of(paths), &at);
    path->paths = exi_lay_offset(lay, at);
    head->segments += path->segment_count;
}

/* In the order of their layers. */
void exi_lay_trajectories(const ex_rig *rig, exi_lay *lay, exi_gpu *head) {
    const void *at;
    exi_gpu_trajectory *paths = exi_lay_take(lay, (size_t)rig->path_layers, sizeof *paths, &at), path;
    head->paths = at;
    for (int l = 0; l < rig->counts.layers; l++) {
        const exi_trajectories *from = exi_rig_trajectories_of(rig, l);
        if (!from)
            continue;
        lay_path(from, l, lay, head, &path);
        if (paths)
            paths[head->path_count] = path;
        head->path_count++;
        head->alone = path;
    }
}

/* Lays out their tables of vertices, which only shape reads. */
static void lay_path_tables(const ex_rig *rig, exi_lay *lay, exi_gpu *head) {
    exi_gpu_trajectory *paths =
        lay->memory && head->paths ? (void *)(lay->memory + exi_lay_offset(lay, head->paths)) : NULL;
    const size_t vertices = (size_t)head->vertices;
    int path = 0;
    for (int l = 0; l < rig->counts.layers; l++) {
        const exi_trajectories *from = exi_rig_trajectories_of(rig, l);
        const void *mask, *segments;
        if (!from)
            continue;
        exi_lay_copy(lay, exi_trajectories_at(from, from->mask), from->mask ? vertices * sizeof(float) : 0, &mask);
        exi_lay_copy(lay, exi_trajectories_at(from, from->segments),
                     from->flags & EXI_PATHS_BASES ? vertices * sizeof(uint16_t) : 0, &segments);
        head->alone.mask = mask ? exi_lay_offset(lay, mask) : 0;
        head->alone.segments = segments ? exi_lay_offset(lay, segments) : 0;
        exi_lay_mixture(from, lay, head, &head->alone.mixture);
        if (paths) {
            paths[path].mask = head->alone.mask;
            paths[path].segments = head->alone.segments;
            paths[path].mixture = head->alone.mixture;
        }
        path++;
    }
}

/* ---- offsets ---- */

/* Visits every offset that is not 0 0 0, patch by patch: those of a vertex come in the order of layers and examples.
 * Returns their number, and with `starts` counts them by vertex; with `offsets` too, stores each at its vertex's next
 * place. */
static uint64_t go_through(const exi_patches *p, uint32_t *starts, exi_gpu_offset *offsets) {
    const uint32_t *chunks = (const void *)((const char *)p + p->starts);
    const uint32_t *terms = (const void *)((const char *)p + p->terms);
    const exi_patch *patches = (const void *)((const char *)p + p->patches);
    const uint16_t *places = (const void *)((const char *)p + p->places);
    const float *numbers = (const void *)((const char *)p + p->numbers);
    uint64_t count = 0;
    for (int chunk = 0; chunk < p->chunk_count; chunk++)
        for (uint32_t i = chunks[chunk]; i < chunks[chunk + 1]; i++) {
            const exi_patch *patch = &patches[i];
            const float *delta = numbers + patch->numbers;
            for (int v = 0; v < patch->count; v++)
                for (int k = 0; k < patch->term_count; k++, delta += 3) {
                    if (delta[0] == 0 && delta[1] == 0 && delta[2] == 0)
                        continue;
                    count++;
                    const size_t vertex = (size_t)chunk * EXI_CHUNK + places[patch->places + (uint64_t)v];
                    if (offsets)
                        offsets[starts[vertex]++] = (exi_gpu_offset){.delta = {delta[0], delta[1], delta[2]},
                                                                     .weight = terms[patch->terms + (uint32_t)k]};
                    else if (starts)
                        starts[vertex + 1]++;
                }
        }
    return count;
}

static ex_result lay_offsets(const exi_patches *patches, exi_lay *lay, exi_gpu *head, ex_offset_frame frame,
                             ex_error *error) {
    const size_t vertices = (size_t)head->vertices;
    const uint64_t count = patches ? go_through(patches, NULL, NULL) : 0;
    const void *at;
    if (count > UINT32_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT,
                            "the layers of offsets have %.0f offsets; the GPU takes at most %.0f", (double)count,
                            (double)UINT32_MAX);
    if (count == 0)
        return EX_OK;
    uint32_t *starts = exi_lay_take(lay, vertices + 1, sizeof *starts, &at);
    head->offset_starts[frame] = at;
    exi_gpu_offset *offsets = exi_lay_take(lay, (size_t)count, sizeof *offsets, &at);
    head->offsets[frame] = at;
    if (!starts || !offsets)
        return EX_OK;
    go_through(patches, starts, NULL);
    for (size_t v = 0; v < vertices; v++)
        starts[v + 1] += starts[v];
    go_through(patches, starts, offsets); /* now each start is at the next one's old place */
    memmove(starts + 1, starts, vertices * sizeof *starts);
    starts[0] = 0;
    return EX_OK;
}

/* ---- skin ---- */

static void lay_skin(const ex_skin *skin, exi_lay *lay, exi_gpu *head) {
    const size_t vertices = (size_t)head->vertices;
    if (!skin)
        return;
    const exi_skin_tables t = exi_skin_tables_of(skin);
    const void *at;
    exi_lay_copy(lay, t.joints, EXI_SHORT * vertices * sizeof *t.joints, &at);
    head->skin_joints = at;
    exi_lay_copy(lay, t.weights, EXI_SHORT * vertices * sizeof *t.weights, &at);
    head->skin_weights = at;
    if (t.long_count == 0)
        return;
    const size_t influences = t.long_starts[t.long_count];
    uint32_t *starts = exi_lay_take(lay, vertices + 1, sizeof *starts, &at);
    head->long_starts = at;
    exi_lay_copy(lay, t.long_joints, influences * sizeof *t.long_joints, &at);
    head->long_joints = at;
    exi_lay_copy(lay, t.long_weights, influences * sizeof *t.long_weights, &at);
    head->long_weights = at;
    for (size_t v = 0, place = 0; starts && v < vertices; v++) {
        if (place < (size_t)t.long_count && (size_t)t.long_vertices[place] == v)
            place++;
        starts[v + 1] = t.long_starts[place];
    }
}

/* ---- entry point ---- */

ex_result exi_lay_shape(const ex_rig *rig, exi_lay *lay, exi_gpu *head, ex_error *error) {
    const ex_forms *forms = exi_rig_forms(rig);
    head->tiles = (head->vertices + EXI_GPU_TILE - 1) / EXI_GPU_TILE;
    head->forms = forms->example_count;
    head->sum_forms = rig->counts.forms;
    head->storage = forms->storage;
    head->offset_weights = rig->weights;
    lay_forms(forms, lay, head);
    lay_path_tables(rig, lay, head);
    lay_skin(exi_rig_part(rig, rig->skin), lay, head);
    for (int frame = 0; frame < EX_OFFSET_FRAME_COUNT; frame++) {
        const exi_patches *patches = exi_rig_part(rig, rig->patches[frame]);
        const ex_result result = lay_offsets(patches, lay, head, (ex_offset_frame)frame, error);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}
