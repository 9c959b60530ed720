/*
 * Sparse offsets: rest form(v), or posed form(v), += mask(v) sum_k w_k d_k(v), for the few vertices that an example
 * moves (Lewis, Cordner and Fong 2000). All layers of one frame are laid out together (shape/patches.h). A file stores
 * them for split vertices, as glTF requires: for each vertex either all of its split vertices or none, with the same
 * offset.
 */
#include "runtime/base/result.h"
#include "runtime/rig/jacobian.h"

#include <math.h>
#include <string.h>

/* Number of offsets turned at a time. */
enum { TURNED = 128 };
/* Smaller weights count as 0: a pose beyond the falloffs of a layer costs nothing. */
static const double least_weight = 1e-12;

/* The lists of vertices are checked when they are inverted (patches_create.c). */
static ex_result check(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error) {
    if ((unsigned)layer->offsets.frame >= EX_OFFSET_FRAME_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "unknown frame of offsets");
    if (layer->offsets.moved && !ex_weigher_kind_info(layer->weigh.kind)->has_sets)
        return ex_error_set(
            error, EX_ERROR_ARGUMENT,
            "a %s weigher cannot weigh each vertex among only the examples that move it: use a gaussian weigher",
            ex_weigher_kind_name(layer->weigh.kind));
    if (!layer->offsets.examples || layer->form.deltas || layer->form.shifts)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a layer of offsets takes offsets, not forms or joints");
    return exi_check_mask(layer, def->mesh.vertex_count, error);
}

/* ---- creation ---- */

/* All layers of a rig under construction. */
typedef struct offsets_making {
    exi_offset_layer *layers; /* [layers of the rig]; example_count is 0 for other domains */
    exi_incidence *sets;      /* the same: examples that move each vertex */
    uint32_t *bits;           /* sets of the largest layer, in the layout of a weigher */
    size_t bits_size;
    exi_patches *patches[EX_OFFSET_FRAME_COUNT];
} offsets_making;

static offsets_making *own_of(const exi_making *m) {
    return m->own[EX_DOMAIN_OFFSETS];
}

static ex_result add_layer(exi_making *m, int layer, const exi_offset_layer *from, ex_error *error) {
    const size_t count = (size_t)m->counts.layers;
    if (!own_of(m)) {
        offsets_making *o = exi_making_keep(m, 1, sizeof *o);
        exi_offset_layer *layers = exi_making_keep(m, count, sizeof *layers);
        exi_incidence *sets = exi_making_keep(m, count, sizeof *sets);
        if (!o || !layers || !sets)
            return ex_error_memory(error, "the offsets", count * (sizeof *layers + sizeof *sets));
        o->layers = layers;
        o->sets = sets;
        m->own[EX_DOMAIN_OFFSETS] = o;
    }
    offsets_making *o = own_of(m);
    exi_incidence *sets = &o->sets[layer];
    o->layers[layer] = *from;
    o->layers[layer].first_weight = m->weights;
    ex_result result = exi_incidence_open(from, m->counts.vertices, m->allocator, sets, error);
    if (result != EX_OK)
        return result;
    const size_t bits = (size_t)sets->set_count * exi_set_words(from->example_count) * sizeof *o->bits;
    o->bits_size = from->moved && bits > o->bits_size ? bits : o->bits_size;
    const int64_t weights = from->moved ? (int64_t)sets->weight_of[sets->set_count] : from->example_count;
    if (m->weights + weights > INT32_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "the offsets need more than %d weights", INT32_MAX);
    m->layers[layer].first_weight = m->weights;
    m->layers[layer].weight_count = (int32_t)weights;
    m->weights += (int)weights;
    return EX_OK;
}

static ex_result make(exi_making *m, int layer, ex_error *error) {
    const ex_layer_def *def = &m->def->layers[layer];
    m->layers[layer].frame = (int32_t)def->offsets.frame;
    m->layers[layer].flags |= def->offsets.moved ? EXI_LAYER_MOVED : 0;
    return add_layer(m, layer,
                     &(exi_offset_layer){.examples = def->offsets.examples,
                                         .example_count = def->weigh.example_count,
                                         .names = def->example_names,
                                         .mask = def->mask,
                                         .moved = def->offsets.moved,
                                         .part = (int)def->offsets.frame},
                     error);
}

static ex_result finish(exi_making *m, ex_error *error) {
    offsets_making *o = own_of(m);
    o->bits = exi_making_keep(m, o->bits_size, 1);
    ex_result result = o->bits ? EX_OK : ex_error_memory(error, "the offsets", o->bits_size);
    for (int part = 0; result == EX_OK && part < EX_OFFSET_FRAME_COUNT; part++)
        result = exi_patches_create(o->layers, o->sets, m->counts.layers, part, m->counts.vertices, m->allocator,
                                    &o->patches[part], error);
    return result;
}

static void close(exi_making *m) {
    const offsets_making *o = own_of(m);
    for (int l = 0; l < m->counts.layers; l++)
        exi_incidence_close(&o->sets[l]);
    for (int part = 0; part < EX_OFFSET_FRAME_COUNT; part++)
        exi_block_destroy(o->patches[part]);
}

/* Sets in the layout of ex_weigher_def; valid until the next layer's. */
static void weigher(exi_making *m, int layer, ex_weigher_def *def) {
    const offsets_making *o = own_of(m);
    if (!o->layers[layer].moved)
        return;
    def->set_count = o->sets[layer].set_count;
    exi_incidence_bits(&o->sets[layer], o->layers[layer].example_count, o->bits);
    def->sets = def->set_count > 0 ? o->bits : NULL;
}

static void place(exi_making *m, exi_placing *p) {
    p->head.weights = m->weights;
    p->head.weight_examples = exi_place(p, m->weights, sizeof(uint32_t));
    p->head.offset_counts = exi_place(p, m->counts.examples, sizeof(exi_offset_count));
    for (int i = 0; i < EX_OFFSET_FRAME_COUNT; i++)
        p->head.patches[i] = exi_place_part(p, own_of(m)->patches[i]);
}

/* Returns the first split vertex of a vertex, and their number. */
static uint32_t splits_of(const ex_rig *rig, uint32_t vertex, uint32_t *count) {
    *count = 1;
    if (!(rig->counts.flags & EXI_RIG_SEAMS))
        return vertex;
    const uint32_t *sources = exi_rig_at(rig, exi_rig_levels(rig)[0].sources);
    const uint32_t splits = (uint32_t)rig->counts.splits;
    uint32_t low = 0, high = splits;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (sources[middle] < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + *count < splits && sources[low + *count] == vertex)
        ++*count;
    return low;
}

static void count_entries(const exi_incidence *s, const ex_rig *rig, exi_offset_count *counts) {
    for (uint32_t v = 0; v < (uint32_t)s->vertex_count; v++) {
        uint32_t splits = 0;
        splits_of(rig, s->vertices[v], &splits);
        for (uint32_t i = s->starts[v]; i < s->starts[v + 1]; i++) {
            counts[s->examples[i]].vertices++;
            counts[s->examples[i]].splits += splits;
        }
    }
}

static ex_result fill(exi_making *m, ex_rig *rig, int layer, ex_error *error) {
    (void)error;
    const exi_layer_record *record = &m->layers[layer];
    const exi_offset_layer *from = &own_of(m)->layers[layer];
    const exi_incidence *s = &own_of(m)->sets[layer];
    uint32_t *examples = (uint32_t *)exi_rig_at_mut(rig, rig->weight_examples) + record->first_weight;
    rig->most_weights = record->weight_count > rig->most_weights ? record->weight_count : rig->most_weights;
    for (int k = 0; !from->moved && k < from->example_count; k++)
        *examples++ = (uint32_t)k;
    for (int i = 0; from->moved && i < s->set_count; i++)
        for (uint32_t k = s->starts[s->first_of[i]]; k < s->starts[s->first_of[i] + 1]; k++)
            *examples++ = s->examples[k];
    count_entries(s, rig, (exi_offset_count *)exi_rig_at_mut(rig, rig->offset_counts) + record->first_example);
    return EX_OK;
}

/* ---- files ---- */

static bool sound(exi_layer_record *layer, int texture_count) {
    (void)texture_count;
    const bool is = layer->frame >= 0 && layer->frame < EX_OFFSET_FRAME_COUNT;
    layer->frame = 0;
    layer->flags &= ~(uint32_t)EXI_LAYER_MOVED;
    return is;
}

/* Reads one example: vertices and deltas have room for every entry of the section. */
static ex_result read_example(const exi_making *m, int index, uint32_t *vertices, float *deltas, ex_offsets *out,
                              ex_error *error) {
    exi_pack_entry entry;
    const char *places = exi_unpack_find(m->file, EX_SECTION_OFFSET_PLACES, index, &entry);
    const char *values = exi_unpack_find(m->file, EX_SECTION_OFFSET_VALUES, index, NULL);
    const uint32_t entries = (uint32_t)(entry.size / sizeof(uint32_t)), splits = (uint32_t)m->counts.splits;
    const uint32_t *sources = m->sources;
    *out = (ex_offsets){.vertices = vertices, .deltas = deltas};
    for (uint32_t i = 0, step; i < entries; i += step) {
        uint32_t split;
        memcpy(&split, places + 4 * (size_t)i, sizeof split);
        if (split >= splits)
            return exi_unpack_unsound(error, "offsets");
        const uint32_t vertex = sources ? sources[split] : split;
        if ((m->gather && m->gather[vertex] != split) || (out->count > 0 && vertices[out->count - 1] >= vertex))
            return exi_unpack_unsound(error, "offsets");
        vertices[out->count] = vertex;
        memcpy(deltas + 3 * (size_t)out->count++, values + 12 * (size_t)i, 3 * sizeof *deltas);
        for (step = 1; sources && split + step < splits && sources[split + step] == vertex; step++) {
            uint32_t next = 0;
            if (i + step < entries)
                memcpy(&next, places + 4 * (size_t)(i + step), sizeof next);
            if (next != split + step || memcmp(values + 12 * (size_t)(i + step), values + 12 * (size_t)i, 12) != 0)
                return exi_unpack_unsound(error, "offsets");
        }
    }
    return EX_OK;
}

static ex_result read_layer(exi_making *m, int layer, ex_error *error) {
    const exi_layer_record *record = &m->layers[layer];
    const size_t examples = (size_t)record->example_count;
    uint64_t entries = 0;
    for (int k = 0; k < record->example_count; k++) {
        exi_pack_entry entry;
        exi_unpack_find(m->file, EX_SECTION_OFFSET_PLACES, exi_example_index(record, k), &entry);
        entries += entry.size / sizeof(uint32_t);
    }
    ex_offsets *list = exi_making_keep(m, examples, sizeof *list);
    uint32_t *vertices = exi_making_keep(m, (size_t)entries, sizeof *vertices);
    float *deltas = exi_making_keep(m, (size_t)entries, 3 * sizeof *deltas);
    if (!list || !vertices || !deltas)
        return ex_error_memory(error, "the rig's offsets", (size_t)entries * 16);
    for (int k = 0; k < record->example_count; k++) {
        ex_result result = read_example(m, exi_example_index(record, k), vertices, deltas, &list[k], error);
        if (result != EX_OK)
            return result;
        vertices += list[k].count;
        deltas += 3 * (size_t)list[k].count;
    }
    return add_layer(m, layer,
                     &(exi_offset_layer){.examples = list,
                                         .example_count = record->example_count,
                                         .moved = (record->flags & EXI_LAYER_MOVED) != 0,
                                         .part = record->frame},
                     error);
}

static bool size_places(const ex_rig *rig, int layer, int example, uint64_t *size) {
    const exi_offset_count *counts = exi_rig_at(rig, rig->offset_counts);
    *size = counts[exi_example_index(&exi_rig_layers(rig)[layer], example)].splits * sizeof(uint32_t);
    return true;
}

static bool size_values(const ex_rig *rig, int layer, int example, uint64_t *size) {
    size_places(rig, layer, example, size);
    *size *= 3;
    return true;
}

static bool take_places(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    (void)layer, (void)example;
    exi_pack_entry entry;
    if (!exi_unpack_take_least(u, EX_SECTION_OFFSET_PLACES, index, 0, error))
        return false;
    exi_unpack_find(u, EX_SECTION_OFFSET_PLACES, index, &entry);
    if (entry.size % 4 == 0 && entry.size <= (uint64_t)u->counts.splits * 4)
        return true;
    exi_unpack_damaged(error, "a list of offsets is longer than the mesh has vertices");
    return false;
}

static bool take_values(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    (void)layer, (void)example;
    exi_pack_entry places;
    exi_unpack_find(u, EX_SECTION_OFFSET_PLACES, index, &places);
    return exi_unpack_take(u, EX_SECTION_OFFSET_VALUES, index, places.size * 3, error);
}

/* Output position of the next entry; each may be NULL. */
typedef struct offset_cursor {
    const ex_rig *rig; /* to write each split vertex; NULL: the vertex */
    uint32_t *vertices;
    float *deltas;
} offset_cursor;

static void write_offset(void *context, uint32_t vertex, const float delta[3]) {
    offset_cursor *cursor = context;
    uint32_t count = 1;
    const uint32_t first = cursor->rig ? splits_of(cursor->rig, vertex, &count) : vertex;
    for (uint32_t i = 0; i < count; i++) {
        if (cursor->vertices)
            *cursor->vertices++ = first + i;
        for (int c = 0; cursor->deltas && c < 3; c++)
            *cursor->deltas++ = delta[c];
    }
}

/* Visits every vertex that an example moves, ascending. */
static void visit(const ex_rig *rig, int layer, int example, exi_offset_visit each, void *context) {
    const exi_patches *patches = exi_rig_part(rig, rig->patches[exi_rig_layers(rig)[layer].frame]);
    if (patches)
        exi_patches_visit(patches, layer, (uint32_t)example, exi_rig_at(rig, rig->weight_examples), each, context);
}

static void write_places(const ex_rig *rig, int layer, int example, void *out) {
    visit(rig, layer, example, write_offset, &(offset_cursor){rig, out, NULL});
}

static void write_values(const ex_rig *rig, int layer, int example, void *out) {
    visit(rig, layer, example, write_offset, &(offset_cursor){rig, NULL, out});
}

static const exi_domain_section sections[] = {
    {EX_SECTION_OFFSET_PLACES, false, size_places, write_places, take_places},
    {EX_SECTION_OFFSET_VALUES, false, size_values, write_values, take_values}};

/* ---- evaluation ---- */

/* Scratch of a pose: a weight for every example, or for every set and example in it, of all layers. */
static void *scratch(const ex_rig *rig, int level, uintptr_t *cursor, bool measuring) {
    (void)level, (void)measuring;
    return exi_scratch_take(cursor, (size_t)rig->weights, sizeof(float));
}

static void weigh(const exi_rig_job *j, int layer, const double *weights, exi_pose_scratch *s) {
    const exi_layer_record *record = &exi_rig_layers(j->rig)[layer];
    float *own = (float *)s->own[EX_DOMAIN_OFFSETS] + record->first_weight;
    for (int k = 0; k < record->weight_count; k++)
        own[k] = !weights || fabs(weights[k]) < least_weight ? 0.0F : (float)weights[k];
}

static const exi_patches *patches_of(const ex_rig *rig, ex_stage stage) {
    return exi_rig_part(rig, rig->patches[stage == EX_STAGE_POSED ? EX_OFFSET_FRAME_SKINNED : EX_OFFSET_FRAME_REST]);
}

static bool touches(const ex_rig *rig, ex_stage stage, int chunk) {
    return exi_patches_has(patches_of(rig, stage), chunk);
}

/* Adds offsets of the frame `skinned`: sums over the layers, then turns with the skin. Only a few at a time, since
 * threads may have small stacks and the sums take most of that. positions: of vertex 0. */
static void add_skinned(const exi_patches *patches, const exi_pose_scratch *s, int chunk, float *positions,
                        size_t stride) {
    exi_patch_sums sums;
    float vectors[TURNED][3];
    uint32_t vertices[TURNED];
    ex_turn_job turn = {
        .vertices = vertices, .vectors = &vectors[0][0], .positions = positions, .position_stride = stride};
    exi_patches_sum(patches, chunk, s->own[EX_DOMAIN_OFFSETS], &sums);
    for (int i = 0; i < sums.touched_count; i++) {
        const float *sum = sums.sums[sums.touched[i]];
        if (sum[0] == 0 && sum[1] == 0 && sum[2] == 0)
            continue;
        vertices[turn.count] = (uint32_t)chunk * EXI_CHUNK + sums.touched[i];
        memcpy(vectors[turn.count++], sum, sizeof *vectors);
        if (turn.count == TURNED) {
            ex_skin_turn(s->skin, s->skinned_by, &turn);
            turn.count = 0;
        }
    }
    ex_skin_turn(s->skin, s->skinned_by, &turn);
}

/* A form that is not posed is not turned. */
static void add(const exi_rig_job *j, const exi_pose_scratch *s, ex_stage stage, int chunk, float *position,
                size_t stride) {
    const exi_patches *patches = patches_of(j->rig, stage);
    const uintptr_t before = (uintptr_t)chunk * EXI_CHUNK * stride;
    if (stage == EX_STAGE_POSED && s->skinned_by)
        add_skinned(patches, s, chunk, (float *)((uintptr_t)position - before), stride);
    else
        exi_patches_add(patches, chunk, s->own[EX_DOMAIN_OFFSETS], position, stride);
}

/* Sums with a layer's weights, or with their derivatives, which are as good as weights. */
static void add_sums(exi_jacobian *j, const exi_layer_record *record, const exi_patches *patches, const double *weights,
                     double *out) {
    exi_patch_sums sums;
    memset(j->numbers, 0, (size_t)j->rig->weights * sizeof *j->numbers);
    for (int k = 0; k < record->weight_count; k++)
        j->numbers[record->first_weight + k] = (float)weights[k];
    for (int chunk = 0; chunk < patches->chunk_count; chunk++) {
        if (!exi_patches_has(patches, chunk))
            continue;
        exi_patches_sum(patches, chunk, j->numbers, &sums);
        for (int i = 0; i < sums.touched_count; i++) {
            const size_t vertex = (size_t)chunk * EXI_CHUNK + sums.touched[i];
            for (size_t c = 0; c < 3; c++)
                out[3 * vertex + c] += (double)sums.sums[sums.touched[i]][c];
        }
    }
}

static void differentiate(exi_jacobian *j, int layer, const double *weights, const double *along) {
    const exi_layer_record *record = &exi_rig_layers(j->rig)[layer];
    const exi_patches *patches = exi_rig_part(j->rig, j->rig->patches[record->frame]);
    const bool turned = record->frame == EX_OFFSET_FRAME_SKINNED;
    if (!patches)
        return;
    add_sums(j, record, patches, weights, turned ? j->turned : j->form);
    for (int c = 0; c < j->columns; c++)
        add_sums(j, record, patches, along + (size_t)c * (size_t)record->weight_count,
                 exi_column_of(turned ? j->turned_along : j->along, c, j->size));
}

/* ---- access ---- */

const char *ex_offset_frame_name(ex_offset_frame frame) {
    static const char *const names[] = {
#define NAME(id, text) text,
        EX_OFFSET_FRAME_LIST(NAME)
#undef NAME
    };
    return (unsigned)frame < EX_OFFSET_FRAME_COUNT ? names[frame] : "unknown";
}

ex_offset_frame ex_rig_layer_frame(const ex_rig *rig, int layer) {
    return exi_rig_has_layer(rig, layer, __func__) ? (ex_offset_frame)exi_rig_layers(rig)[layer].frame
                                                   : EX_OFFSET_FRAME_REST;
}

bool ex_rig_layer_moved(const ex_rig *rig, int layer) {
    return exi_rig_has_layer(rig, layer, __func__) && (exi_rig_layers(rig)[layer].flags & EXI_LAYER_MOVED) != 0;
}

int ex_rig_example_offset_count(const ex_rig *rig, int layer, int example) {
    if (!exi_rig_has_example(rig, layer, example, __func__) || exi_rig_layers(rig)[layer].domain != EX_DOMAIN_OFFSETS)
        return 0;
    const exi_offset_count *counts = exi_rig_at(rig, rig->offset_counts);
    return (int)counts[exi_example_index(&exi_rig_layers(rig)[layer], example)].vertices;
}

void ex_rig_example_offsets(const ex_rig *rig, int layer, int example, uint32_t *vertices, float *deltas) {
    if (ex_rig_example_offset_count(rig, layer, example) > 0)
        visit(rig, layer, example, write_offset, &(offset_cursor){NULL, vertices, deltas});
}

static void write_delta(void *context, uint32_t vertex, const float delta[3]) {
    memcpy((float *)context + 3 * (size_t)vertex, delta, 3 * sizeof *delta);
}

static void delta(const ex_rig *rig, int layer, int example, float *out) {
    memset(out, 0, (size_t)rig->counts.vertices * 3 * sizeof *out);
    visit(rig, layer, example, write_delta, out);
}

const exi_domain exi_domain_offsets = {.stage = EX_STAGE_REST,
                                       .gpu = true,
                                       .counted = offsetof(exi_rig_counts, offsets),
                                       .check = check,
                                       .make = make,
                                       .read = read_layer,
                                       .finish = finish,
                                       .weigher = weigher,
                                       .place = place,
                                       .fill = fill,
                                       .close = close,
                                       .sound = sound,
                                       .sections = sections,
                                       .section_count = 2,
                                       .scratch = scratch,
                                       .weigh = weigh,
                                       .touches = touches,
                                       .add = add,
                                       .differentiate = differentiate,
                                       .delta = delta};
