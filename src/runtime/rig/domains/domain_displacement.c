/*
 * Displacements: S(u, q) = T(u, q) + d(u, q) n(u, q), where T is the posed and refined surface, n its limit normal, and
 * d the sum over layers of the blended displacements (Allen, Curless and Popovic 2002, equations 1 and 2).
 *
 * A task is a piece of the level's vertices: it sums their displacements layer after layer, then moves their positions.
 * A vertex's sum has a fixed order, so results do not depend on the tasks. If a rig's levels are left out, nothing is
 * displaced.
 */
#include "runtime/base/result.h"
#include "runtime/rig/domains/domain.h"

#include <string.h>

/* The contents of the maps are checked when they are laid out. */
static ex_result check(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error) {
    if (def->options.without_levels)
        return EX_OK; /* nothing to check */
    if (!def->stencils || !ex_stencils_on_limit(def->stencils))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "displacements need a rig whose refined levels all lie on the limit surface");
    if (!layer->displacement.maps || layer->form.deltas || layer->form.shifts)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a layer of displacements takes displacements, not forms or joints");
    for (int k = 0; k < layer->weigh.example_count; k++)
        if (!layer->displacement.maps[k])
            return ex_error_set(error, EX_ERROR_ARGUMENT, "example '%s' has no displacements", layer->example_names[k]);
    return exi_check_mask(layer, ex_stencils_vertex_count(def->stencils, ex_stencils_level_count(def->stencils)),
                          error);
}

/* ---- creation ---- */

/* Makes the list of displaced vertices twice: to count them, and to write them into the block. */
static ex_result make(exi_making *m, int layer, ex_error *error) {
    if (m->counts.levels == 0)
        return EX_OK;
    const ex_layer_def *from = &m->def->layers[layer];
    const float *const *maps = from->displacement.maps;
    exi_displacements_def def = {.vertex_count = m->def->levels[m->counts.levels - 1].vertex_count,
                                 .example_count = from->weigh.example_count,
                                 .storage = m->options.storage};
    def.listed_count = exi_displacements_list(maps, def.example_count, def.vertex_count, from->mask, NULL);
    exi_displacements *made = NULL;
    ex_result result = exi_displacements_create(&def, m->allocator, &made, error);
    if (result != EX_OK)
        return result;
    m->parts[layer] = made;
    exi_displacements_list(maps, def.example_count, def.vertex_count, from->mask,
                           (uint32_t *)((uintptr_t)made + (uintptr_t)made->vertices));
    for (int k = 0; k < def.example_count; k++) {
        uint32_t bad = 0;
        if (!exi_displacements_set(made, k, maps[k], true, from->mask, &bad))
            return ex_error_set(error, EX_ERROR_DATA,
                                "example '%s': the displacement of refined vertex %u is not finite",
                                from->example_names[k], (unsigned)bad);
    }
    return EX_OK;
}

static ex_result read_layer(exi_making *m, int layer, ex_error *error) {
    const exi_unpack *u = m->file;
    const exi_layer_record *record = &m->layers[layer];
    exi_pack_entry entry;
    if (m->counts.levels == 0)
        return EX_OK;
    if (!ex_stencils_on_limit(m->stencils))
        return exi_unpack_unsound(error, "levels and displacements");
    const uint32_t *vertices = (const void *)exi_unpack_find(u, EX_SECTION_DISPLACED, layer, &entry);
    exi_displacements_def def = {.vertex_count = exi_unpack_level(u, u->counts.levels).vertices,
                                 .example_count = record->example_count,
                                 .listed_count = (int)(entry.size / 4),
                                 .vertices = vertices,
                                 .storage = m->options.storage};
    for (int i = 0; i < def.listed_count; i++)
        if (vertices[i] >= (uint32_t)def.vertex_count || (i > 0 && vertices[i] <= vertices[i - 1]))
            return exi_unpack_unsound(error, "levels and displaced vertices");
    exi_displacements *made = NULL;
    ex_result result = exi_displacements_create(&def, m->allocator, &made, error);
    m->parts[layer] = made;
    for (int k = 0; result == EX_OK && k < def.example_count; k++) {
        uint32_t bad = 0;
        const int index = exi_example_index(record, k);
        const float *values = (const void *)exi_unpack_find(u, EX_SECTION_DISPLACEMENTS, index, NULL);
        if (!exi_displacements_set(made, k, values, false, NULL, &bad))
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "example %d of the rig: the displacement of refined vertex %u is not finite",
                                  index + 1, (unsigned)bad);
    }
    return result;
}

static ex_result fill(exi_making *m, ex_rig *rig, int layer, ex_error *error) {
    (void)error;
    rig->displaced_layers += m->parts[layer] != NULL;
    return EX_OK;
}

const exi_displacements *exi_rig_displacements_of(const ex_rig *rig, int layer) {
    return exi_rig_layers(rig)[layer].domain == EX_DOMAIN_DISPLACEMENT ? exi_rig_layer_part(rig, layer) : NULL;
}

/* ---- files ---- */

static bool size_displaced(const ex_rig *rig, int layer, int example, uint64_t *size) {
    (void)example;
    const exi_displacements *d = exi_rig_displacements_of(rig, layer);
    *size = d ? (uint64_t)d->listed_count * sizeof(uint32_t) : 0;
    return d != NULL;
}

static void write_displaced(const ex_rig *rig, int layer, int example, void *out) {
    (void)example;
    ex_rig_layer_displaced(rig, layer, out);
}

static bool take_displaced(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    (void)example;
    exi_pack_entry entry;
    if (!exi_unpack_take_least(u, EX_SECTION_DISPLACED, index, 0, error))
        return false;
    exi_unpack_find(u, EX_SECTION_DISPLACED, layer, &entry);
    if (entry.size % 4 == 0 && entry.size <= (uint64_t)exi_unpack_level(u, u->counts.levels).vertices * 4)
        return true;
    exi_unpack_damaged(error, "a list of displaced vertices is longer than the last level has vertices");
    return false;
}

static void write_displacements(const ex_rig *rig, int layer, int example, void *out) {
    exi_displacements_get(exi_rig_displacements_of(rig, layer), example, out);
}

static bool take_displacements(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    (void)example;
    exi_pack_entry entry;
    exi_unpack_find(u, EX_SECTION_DISPLACED, layer, &entry);
    return exi_unpack_take(u, EX_SECTION_DISPLACEMENTS, index, entry.size, error);
}

static const exi_domain_section sections[] = {
    {EX_SECTION_DISPLACED, true, size_displaced, write_displaced, take_displaced},
    {EX_SECTION_DISPLACEMENTS, false, size_displaced, write_displacements, take_displacements}};

/* ---- evaluation ---- */

/* A layer with non-zero weights. */
typedef struct displacing_layer {
    const exi_displacements *displacements;
    const exi_displacement_term *terms; /* examples whose weight is not 0 */
    int term_count;
} displacing_layer;

/* Scratch of one pose. */
typedef struct displacing {
    displacing_layer *layers;     /* [displaced_layers] */
    exi_displacement_term *terms; /* [examples of displacements] */
} displacing;

static void *scratch(const ex_rig *rig, int level, uintptr_t *cursor, bool measuring) {
    const bool displaced = level != 0 && rig->displaced_layers > 0;
    displacing own;
    displacing *s = exi_scratch_take(cursor, displaced, sizeof own);
    own.layers = exi_scratch_take(cursor, displaced ? (size_t)rig->displaced_layers : 0, sizeof *own.layers);
    own.terms = exi_scratch_take(cursor, displaced ? (size_t)rig->counts.displacements : 0, sizeof *own.terms);
    if (displaced && !measuring)
        *s = own;
    return displaced ? s : NULL;
}

static const displacing *scratch_of(const exi_rig_job *j, int pose) {
    return j->scratch[pose].own[EX_DOMAIN_DISPLACEMENT];
}

static int open_layers(const exi_rig_job *j, int pose) {
    const displacing *s = scratch_of(j, pose);
    int count = 0;
    if (!s)
        return 0;
    exi_displacement_term *terms = s->terms;
    for (int l = 0; l < j->rig->counts.layers; l++) {
        const exi_displacements *d = exi_rig_displacements_of(j->rig, l);
        const double *weights = j->scratch[pose].weights + exi_rig_layers(j->rig)[l].first_example;
        if (!d || exi_rig_is_muted(j, l))
            continue;
        displacing_layer *layer = &s->layers[count++];
        *layer = (displacing_layer){.displacements = d, .terms = terms};
        for (int k = 0; k < d->example_count; k++)
            if ((float)weights[k] != 0)
                terms[layer->term_count++] = (exi_displacement_term){(uint32_t)k, (float)weights[k]};
        terms += layer->term_count;
    }
    return count;
}

/* Data shared by all tasks. */
typedef struct displacement_job {
    const displacing_layer *layers;
    int count, vertex_count;
    char *positions;
    const char *normals;
    size_t stride, normal_stride;
} displacement_job;

static void displace_pieces(void *context, int begin, int end) {
    const displacement_job j = *(const displacement_job *)context;
    for (int piece = begin; piece < end; piece++) {
        const int first = piece * EXI_DISPLACED;
        const int last = j.vertex_count - first < EXI_DISPLACED ? j.vertex_count : first + EXI_DISPLACED;
        float sums[EXI_DISPLACED] = {0};
        for (int l = 0; l < j.count; l++)
            exi_displacements_add(j.layers[l].displacements, j.layers[l].terms, j.layers[l].term_count, first, last,
                                  sums);
        if (j.stride == 3 * sizeof(float) && j.normal_stride == 3 * sizeof(float)) {
            float *p = (float *)(void *)j.positions + 3 * (size_t)first;
            const float *n = (const float *)(const void *)j.normals + 3 * (size_t)first;
            for (int i = 0; i < last - first; i++)
                for (int c = 0; c < 3; c++)
                    p[3 * i + c] += sums[i] * n[3 * i + c];
            continue;
        }
        for (int v = first; v < last; v++) {
            float *p = (float *)(void *)(j.positions + (size_t)v * j.stride);
            const float *n = (const float *)(const void *)(j.normals + (size_t)v * j.normal_stride);
            for (int c = 0; c < 3; c++)
                p[c] += sums[v - first] * n[c];
        }
    }
}

static void add(const exi_rig_job *j, int pose, int count, const ex_output *output, const float *normals,
                size_t normal_stride) {
    displacement_job job = {.layers = scratch_of(j, pose)->layers,
                            .count = count,
                            .vertex_count = ex_rig_level_vertex_count(j->rig, j->level),
                            .positions = (char *)output->positions,
                            .normals = (const char *)normals,
                            .stride = output->position_stride ? output->position_stride : 3 * sizeof(float),
                            .normal_stride = normal_stride};
    exi_run(j->tasks, (job.vertex_count + EXI_DISPLACED - 1) / EXI_DISPLACED, 2, displace_pieces, &job);
}

static double bound(const exi_rig_job *j, int pose, int count) {
    double sum = 0;
    for (int l = 0; l < count; l++) {
        const displacing_layer *layer = &scratch_of(j, pose)->layers[l];
        sum += exi_displacements_bound(layer->displacements, layer->terms, layer->term_count);
    }
    return sum;
}

static const exi_surface_verbs surface = {open_layers, add, bound};

/* ---- access ---- */

static const exi_displacements *layer_of(const ex_rig *rig, int layer, const char *function) {
    return exi_rig_has_layer(rig, layer, function) ? exi_rig_displacements_of(rig, layer) : NULL;
}

int ex_rig_layer_displaced(const ex_rig *rig, int layer, uint32_t *vertices) {
    const exi_displacements *d = layer_of(rig, layer, __func__);
    if (d && vertices && d->listed_count > 0)
        memcpy(vertices, exi_displacements_vertices(d), (size_t)d->listed_count * sizeof *vertices);
    return d ? d->listed_count : 0;
}

void ex_rig_example_displacements(const ex_rig *rig, int layer, int example, float *values) {
    const exi_displacements *d = layer_of(rig, layer, __func__);
    if (!d)
        return;
    if (example < 0 || example >= d->example_count || !values)
        exi_misuse(__func__, "no such example, or no pointer for the result");
    else
        exi_displacements_get(d, example, values);
}

/* The mesh itself does not change. */
static void delta(const ex_rig *rig, int layer, int example, float *out) {
    (void)layer, (void)example;
    memset(out, 0, (size_t)rig->counts.vertices * 3 * sizeof *out);
}

const exi_domain exi_domain_displacement = {.stage = EX_STAGE_SURFACE,
                                            .gpu = true,
                                            .counted = offsetof(exi_rig_counts, displacements),
                                            .check = check,
                                            .make = make,
                                            .read = read_layer,
                                            .fill = fill,
                                            .sections = sections,
                                            .section_count = 2,
                                            .scratch = scratch,
                                            .surface = &surface,
                                            .delta = delta};
