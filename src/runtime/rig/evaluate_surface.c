/*
 * From the posed cage to the surface: refined positions, normals, tangents, split vertices. One pose at a time; each
 * stage cuts itself into tasks, if there are any. Everything is made in source order in the caller's arrays; split
 * vertices are then spread within them from the end, since none comes before its source.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/domains/domain.h"

#include <string.h>

static const exi_level_record *level_record(const ex_rig *rig, int level) {
    return &exi_rig_levels(rig)[level == EX_LEVEL_LIMIT ? rig->counts.levels : level];
}

static size_t stride_of(size_t given, size_t close) {
    return given ? given : close;
}

/* Bytes for the tangents of all split vertices, from which those in source order are picked. */
static size_t tangent_room(const exi_level_record *record) {
    return record->tangents ? ((size_t)record->splits * 4 * sizeof(float) + 63) / 64 * 64 : 0;
}

static const exi_surface_verbs *surface_verbs(const ex_rig *rig, int domain) {
    return exi_rig_has_domain(rig, domain) ? exi_domains[domain]->surface : NULL;
}

/* Bytes for the limit normals along which a level is displaced, if the caller has no room for normals. */
static size_t normal_room(const ex_rig *rig, int level) {
    for (int d = 0; level != 0 && d < EX_DOMAIN_COUNT; d++)
        if (surface_verbs(rig, d))
            return ((size_t)level_record(rig, level)->vertices * 3 * sizeof(float) + 63) / 64 * 64;
    return 0;
}

size_t exi_rig_shared_size(const ex_rig *rig, int level) {
    if (ex_rig_level_vertex_count(rig, level) == 0)
        return 0;
    const exi_level_record *record = level_record(rig, level);
    const ex_normals *normals = exi_rig_part(rig, record->normals);
    const ex_tangents *tangents = exi_rig_part(rig, record->tangents);
    size_t refining = level != 0 ? normal_room(rig, level) + ex_stencils_scratch_size(ex_rig_stencils(rig)) : 0;
    size_t shading = normals ? ex_normals_scratch_size(normals) : 0;
    size_t turning = tangents ? tangent_room(record) + ex_tangents_scratch_size(tangents) : 0;
    size_t most = refining > shading ? refining : shading;
    most = most > turning ? most : turning;
    for (int d = 0; d < EX_DOMAIN_COUNT; d++) {
        size_t own = exi_rig_has_domain(rig, d) && exi_domains[d]->shared ? exi_domains[d]->shared(rig, level) : 0;
        most = most > own ? most : own;
    }
    return (most + 63) / 64 * 64;
}

/* ---- stages ---- */

/* Layers that act on the refined surface at a pose, by domain. */
typedef struct displacing {
    int counts[EX_DOMAIN_COUNT], total;
} displacing;

static displacing open_displacing(const exi_rig_job *j, int pose) {
    displacing out = {.total = 0};
    for (int d = 0; j->level != 0 && d < EX_DOMAIN_COUNT; d++)
        if (surface_verbs(j->rig, d))
            out.total += out.counts[d] = surface_verbs(j->rig, d)->open(j, pose);
    return out;
}

/* Grows the cage's box by the largest displacement of these layers, plus a millionth for the rounding of normals and
 * displacements. */
static void grow_box(const exi_rig_job *j, int pose, const displacing *by, float box[6]) {
    double bound = 0;
    for (int d = 0; d < EX_DOMAIN_COUNT; d++)
        bound += by->counts[d] > 0 ? surface_verbs(j->rig, d)->bound(j, pose, by->counts[d]) : 0;
    for (int c = 0; c < 3 && bound > 0; c++) {
        box[c] -= (float)(bound * (1 + 1e-6));
        box[3 + c] += (float)(bound * (1 + 1e-6));
    }
}

/* Computes the level's positions, on the limit surface if layers displace it, and displaces them; also limit normals,
 * if they are the surface's own. */
static void refine(const exi_rig_job *j, int pose, const ex_output *output, bool limit_normals, const displacing *by) {
    ex_refine job = {.level = j->level,
                     .control = j->scratch[pose].control,
                     .positions = output->positions,
                     .position_stride = output->position_stride,
                     .normals = limit_normals || by->total > 0 ? output->normals : NULL,
                     .normal_stride = stride_of(output->normal_stride, 3 * sizeof(float))};
    if (by->total > 0 && !job.normals) {
        job.normals = j->shared;
        job.normal_stride = 3 * sizeof(float);
    }
    ex_stencils_apply(ex_rig_stencils(j->rig), &job, j->tasks, (char *)j->shared + normal_room(j->rig, j->level));
    for (int d = 0; d < EX_DOMAIN_COUNT; d++)
        if (by->counts[d] > 0)
            surface_verbs(j->rig, d)->add(j, pose, by->counts[d], output, job.normals, job.normal_stride);
}

static void measure_box(const ex_output *output, int count) {
    const size_t stride = stride_of(output->position_stride, 3 * sizeof(float));
    float *box = output->box;
    for (int c = 0; c < 3; c++)
        box[c] = box[3 + c] = output->positions[c];
    for (int v = 1; v < count; v++) {
        const float *p = (const float *)((uintptr_t)output->positions + (size_t)v * stride);
        for (int c = 0; c < 3; c++) {
            box[c] = p[c] < box[c] ? p[c] : box[c];
            box[3 + c] = p[c] > box[3 + c] ? p[c] : box[3 + c];
        }
    }
}

static void make_tangents(const exi_rig_job *j, const ex_output *output, const exi_level_record *record) {
    const ex_tangents *tangents = exi_rig_part(j->rig, record->tangents);
    const size_t stride = stride_of(output->tangent_stride, 4 * sizeof(float));
    const bool direct = j->split || !(record->flags & EXI_RIG_SEAMS);
    float *room = j->shared;
    ex_tangents_job job = {.positions = output->positions,
                           .position_stride = output->position_stride,
                           .normals = output->normals,
                           .normal_stride = output->normal_stride,
                           .out = direct ? output->tangents : room,
                           .out_stride = direct ? stride : 4 * sizeof(float)};
    ex_tangents_compute(tangents, &job, j->tasks, (char *)j->shared + tangent_room(record));
    if (direct)
        return;
    const uint32_t *sources = exi_rig_at(j->rig, record->sources);
    for (size_t i = (size_t)record->splits; i-- > 0;) /* from the end: the first of a vertex stays */
        memcpy((char *)output->tangents + sources[i] * stride, room + 4 * i, 4 * sizeof(float));
}

static void spread(const uint32_t *sources, int split_count, float *values, size_t stride) {
    for (size_t i = (size_t)split_count; values && i-- > 0;)
        memmove((char *)values + i * stride, (char *)values + sources[i] * stride, 3 * sizeof(float));
}

/* Keeps the requested outputs that are possible; the others are misuse, reported once and not written. */
static void check_wishes(const exi_level_record *record, ex_output *o, bool limit_normals) {
    if (o->normals && (!o->positions || !(record->normals || limit_normals))) {
        exi_misuse("ex_rig_evaluate", "normals need positions, faces, and a rig made with normals");
        o->normals = NULL;
    }
    if (o->tangents && (!o->normals || !record->tangents)) {
        exi_misuse("ex_rig_evaluate", "tangents need normals, texture coordinates, and a rig made with tangents");
        o->tangents = NULL;
    }
}

void exi_rig_finish(const exi_rig_job *j, int pose) {
    const ex_rig *rig = j->rig;
    ex_output output = j->outputs[pose];
    const exi_level_record *record = level_record(rig, j->level);
    const displacing by = open_displacing(j, pose);
    const bool limit_normals =
        j->level != 0 && by.total == 0 && ex_stencils_has_tangents(ex_rig_stencils(rig), j->level);
    check_wishes(record, &output, limit_normals);
    if (!output.positions) {
        if (output.box)
            grow_box(j, pose, &by, output.box);
        return;
    }
    if (j->level != 0) {
        refine(j, pose, &output, limit_normals, &by);
        if (output.box)
            measure_box(&output, ex_rig_level_vertex_count(rig, j->level));
    }
    if (output.normals && !limit_normals)
        ex_normals_compute(exi_rig_part(rig, record->normals), output.positions, output.position_stride, output.normals,
                           output.normal_stride, j->tasks, j->shared);
    if (output.tangents)
        make_tangents(j, &output, record);
    if (j->split && record->flags & EXI_RIG_SEAMS) {
        const uint32_t *sources = exi_rig_at(rig, record->sources);
        spread(sources, record->splits, output.positions, stride_of(output.position_stride, 3 * sizeof(float)));
        spread(sources, record->splits, output.normals, stride_of(output.normal_stride, 3 * sizeof(float)));
    }
}
