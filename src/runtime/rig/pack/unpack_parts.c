/*
 * Skeleton, skin and stencils from their sections. Arrays are gathered in the form that the parts' rooms take, and
 * those rooms check parents, cycles, weights, finite numbers and rows. This file checks what they cannot: that arrays
 * are as long as they claim.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/pack/unpack.h"

#include <string.h>

/* Adds to an error of another room that it is about the rig. */
static ex_result within_rig(ex_error *error, ex_result result, const char *part) {
    return ex_error_within(error, result, "the rig's %s", part);
}

/* ---- skeleton ---- */

typedef struct joint_arrays {
    int *parents;
    ex_transform *rest;
    float *inverse_binds; /* [joints][12] */
    const char **names;
} joint_arrays;

/* Converts four columns of four to three rows of four; false if the fourth row is not 0 0 0 1. */
static bool read_matrix(const char *bytes, float rows[12]) {
    float m[16];
    memcpy(m, bytes, sizeof m);
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 3; r++)
            rows[4 * r + c] = m[4 * c + r];
    return m[3] == 0 && m[7] == 0 && m[11] == 0 && m[15] == 1;
}

static ex_result read_joints(const exi_unpack *u, const joint_arrays *arrays, ex_error *error) {
    const char *names = exi_unpack_section(u, EX_SECTION_STRINGS, 0, NULL);
    const char *binds = exi_unpack_section(u, EX_SECTION_INVERSE_BINDS, 0, NULL);
    const uint32_t names_size = u->counts.string_size;
    if (names_size == 0 || names[names_size - 1] != 0)
        return exi_unpack_unsound(error, "names");
    for (int j = 0; j < u->counts.joints; j++) {
        const exi_pack_joint joint = exi_unpack_joint(u, j);
        if (joint.name >= names_size)
            return exi_unpack_unsound(error, "names of joints");
        arrays->names[j] = names + joint.name;
        arrays->parents[j] = joint.parent;
        arrays->rest[j] = joint.rest;
        if (!read_matrix(binds + (size_t)j * 64, arrays->inverse_binds + 12 * (size_t)j))
            return ex_error_set(error, EX_ERROR_DATA, "the rig's inverse bind matrix of joint %d is not affine", j);
    }
    return EX_OK;
}

ex_result exi_unpack_skeleton(const exi_unpack *u, const ex_allocator *allocator, ex_skeleton **skeleton,
                              ex_error *error) {
    *skeleton = NULL;
    if (u->counts.joints == 0)
        return EX_OK;
    const size_t joints = (size_t)u->counts.joints;
    exi_size total = {0};
    const size_t names = exi_size_add(&total, joints, sizeof(char *), 8);
    const size_t parents = exi_size_add(&total, joints, sizeof(int), 8);
    const size_t rest = exi_size_add(&total, joints, sizeof(ex_transform), 8);
    const size_t binds = exi_size_add(&total, joints, 12 * sizeof(float), 8);
    char *memory = exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "the rig's skeleton", total.bytes);
    const joint_arrays arrays = {.parents = (int *)(void *)(memory + parents),
                                 .rest = (ex_transform *)(void *)(memory + rest),
                                 .inverse_binds = (float *)(void *)(memory + binds),
                                 .names = (const char **)(void *)(memory + names)};
    ex_result result = read_joints(u, &arrays, error);
    if (result == EX_OK) {
        const ex_skeleton_def def = {.joint_count = u->counts.joints,
                                     .parents = arrays.parents,
                                     .rest = arrays.rest,
                                     .inverse_binds = arrays.inverse_binds,
                                     .names = arrays.names};
        result = within_rig(error, ex_skeleton_create(&def, allocator, skeleton, error), "skeleton");
    }
    exi_release(allocator, memory, total.bytes);
    return result;
}

/* ---- skin ---- */

typedef struct skin_arrays {
    uint32_t *starts, *joints; /* NULL: count only */
    float *weights;
} skin_arrays;

/* Gathers the non-zero influences of all vertices; returns their number. */
static uint64_t gather_influences(const exi_unpack *u, const uint32_t *gather, const skin_arrays *out) {
    uint64_t count = 0;
    for (int v = 0; v < u->counts.vertices; v++) {
        const size_t at = 4 * (size_t)(gather ? gather[v] : (uint32_t)v);
        if (out)
            out->starts[v] = (uint32_t)count;
        for (int set = 0; set < u->counts.skin_sets; set++) {
            const char *joints = exi_unpack_section(u, EX_SECTION_SKIN_JOINTS, set, NULL);
            const char *weights = exi_unpack_section(u, EX_SECTION_SKIN_WEIGHTS, set, NULL);
            for (size_t i = at; i < at + 4; i++) {
                const float weight = ((const float *)(const void *)weights)[i];
                if (weight == 0)
                    continue;
                if (out) {
                    out->joints[count] = ((const uint16_t *)(const void *)joints)[i];
                    out->weights[count] = weight;
                }
                count++;
            }
        }
    }
    if (out)
        out->starts[u->counts.vertices] = (uint32_t)count;
    return count;
}

ex_result exi_unpack_skin(const exi_unpack *u, const uint32_t *gather, const ex_allocator *allocator, ex_skin **skin,
                          ex_error *error) {
    *skin = NULL;
    if (u->counts.skin_sets == 0)
        return EX_OK;
    const uint64_t count = gather_influences(u, gather, NULL);
    if (count > UINT32_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "the rig's skin has more than 4294967295 influences");
    exi_size total = {0};
    const size_t starts = exi_size_add(&total, (size_t)u->counts.vertices + 1, sizeof(uint32_t), 8);
    const size_t joints = exi_size_add(&total, (size_t)count, sizeof(uint32_t), 8);
    const size_t weights = exi_size_add(&total, (size_t)count, sizeof(float), 8);
    char *memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "the rig's skin", total.bytes);
    const skin_arrays arrays = {.starts = (uint32_t *)(void *)(memory + starts),
                                .joints = (uint32_t *)(void *)(memory + joints),
                                .weights = (float *)(void *)(memory + weights)};
    gather_influences(u, gather, &arrays);
    const ex_skin_def def = {.vertex_count = u->counts.vertices,
                             .joint_count = u->counts.joints,
                             .starts = arrays.starts,
                             .joints = arrays.joints,
                             .weights = arrays.weights};
    ex_result result = within_rig(error, ex_skin_create(&def, allocator, skin, error), "skin");
    exi_release(allocator, memory, total.bytes);
    return result;
}

/* ---- stencils ---- */

typedef struct stencil_section {
    exi_pack_stencils head;
    const int *offsets, *indices;
    const float *weights, *tangents;
} stencil_section;

/* True if the section is as long as its head says, and the rows end where the weights do. */
static bool read_stencils(const exi_unpack *u, int table, stencil_section *s) {
    exi_pack_entry entry;
    const char *bytes = exi_unpack_section(u, EX_SECTION_STENCILS, table, &entry);
    memcpy(&s->head, bytes, sizeof s->head);
    const exi_pack_stencils *head = &s->head;
    const int level = table < u->counts.levels ? table + 1 : u->counts.levels;
    if (head->vertex_count != exi_unpack_level(u, level).vertices || head->weight_count < 0 || head->has_tangents > 1 ||
        head->reserved != 0)
        return false;
    const uint64_t weights = (uint64_t)head->weight_count;
    if (entry.size != sizeof *head + ((uint64_t)head->vertex_count + 1 + weights * (head->has_tangents ? 4 : 2)) * 4)
        return false;
    s->offsets = (const int *)(const void *)(bytes + sizeof *head);
    s->indices = s->offsets + head->vertex_count + 1;
    s->weights = (const float *)(const void *)(s->indices + weights);
    s->tangents = head->has_tangents ? s->weights + weights : NULL;
    return s->offsets[head->vertex_count] == head->weight_count;
}

static const double *widen(double **out, const float *values, size_t count) {
    double *const start = *out;
    for (size_t i = 0; i < count; i++)
        start[i] = (double)values[i];
    *out += count;
    return start;
}

static ex_result make_stencils(const exi_unpack *u, const stencil_section *sections, int count, double *numbers,
                               const ex_allocator *allocator, ex_stencils **stencils, ex_error *error) {
    ex_stencil_rows rows[33];
    for (int i = 0; i < count; i++) {
        const stencil_section *s = &sections[i];
        const size_t weights = (size_t)s->head.weight_count;
        rows[i] = (ex_stencil_rows){.vertex_count = s->head.vertex_count, .offsets = s->offsets, .indices = s->indices};
        rows[i].weights = widen(&numbers, s->weights, weights);
        rows[i].tangents = s->tangents ? widen(&numbers, s->tangents, 2 * weights) : NULL;
    }
    const ex_stencils_def def = {.control_count = u->counts.vertices,
                                 .level_count = u->counts.levels,
                                 .levels = rows,
                                 .limit = count > u->counts.levels ? &rows[u->counts.levels] : NULL};
    return within_rig(error, ex_stencils_create(&def, allocator, stencils, error), "stencils");
}

ex_rig_refinement exi_unpack_refinement(const exi_unpack *u) {
    const exi_rig_counts *c = &u->counts;
    const bool limit = (c->refinement & EXI_REFINED_LIMIT) != 0;
    ex_rig_refinement r = {.level_count = c->levels, .level = c->level, .all_on_limit = c->levels > 0 && !limit};
    for (int i = 0; i < c->levels; i++) {
        exi_pack_stencils head;
        memcpy(&head, exi_unpack_section(u, EX_SECTION_STENCILS, i, NULL), sizeof head);
        r.vertex_counts[i] = exi_unpack_level(u, i + 1).vertices;
        r.all_on_limit = r.all_on_limit && head.has_tangents == 1;
    }
    r.has_limit = limit || r.all_on_limit;
    return r;
}

ex_result exi_unpack_stencils(const exi_unpack *u, const ex_allocator *allocator, ex_stencils **stencils,
                              ex_error *error) {
    *stencils = NULL;
    if (!(u->counts.refinement & EXI_REFINED))
        return EX_OK;
    stencil_section sections[33];
    const int count = u->counts.levels + ((u->counts.refinement & EXI_REFINED_LIMIT) != 0);
    exi_size total = {0};
    for (int i = 0; i < count; i++) {
        if (!read_stencils(u, i, &sections[i]))
            return exi_unpack_unsound(error, "levels and their stencils");
        exi_size_add(&total, (size_t)sections[i].head.weight_count, (sections[i].tangents ? 3 : 1) * sizeof(double),
                     sizeof(double));
    }
    double *numbers = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!numbers)
        return ex_error_memory(error, "the rig's stencils", total.bytes);
    ex_result result = make_stencils(u, sections, count, numbers, allocator, stencils, error);
    exi_release(allocator, numbers, total.bytes);
    return result;
}
