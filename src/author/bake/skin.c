/*
 * The skin of a baked file. At a refined level a vertex is a weighted sum of the cage's vertices, and so are its
 * influences: w_j(v) = sum over c of s_c(v) w_j(c), with the level's stencils s. The largest are kept and scaled back
 * to a sum of 1; frames.c measures the error this makes.
 */
#include "author/bake/bake.h"

#include "author/base/array.h"

#include <stdlib.h>

/* Influences of all vertices, in the layout of ex_skin_def. */
typedef struct influences {
    uint32_t *starts; /* [vertex_count + 1] */
    uint32_t *joints;
    float *weights;
    size_t joint_capacity, weight_capacity;
    int most; /* the most of any vertex */
} influences;

static void free_influences(influences *list) {
    free(list->starts);
    free(list->joints);
    free(list->weights);
}

static bool add_influence(influences *list, size_t at, uint32_t joint, float weight) {
    uint32_t *joints = exi_array_grow(list->joints, &list->joint_capacity, at + 1, sizeof *joints);
    if (joints)
        list->joints = joints;
    float *weights = exi_array_grow(list->weights, &list->weight_capacity, at + 1, sizeof *weights);
    if (weights)
        list->weights = weights;
    if (!joints || !weights)
        return false;
    list->joints[at] = joint;
    list->weights[at] = weight;
    return true;
}

/* Sorts by falling weight; the lower joint wins a tie. Lists are short. */
static void sort_row(uint32_t *joints, float *weights, int count) {
    for (int i = 1; i < count; i++) {
        const uint32_t joint = joints[i];
        const float weight = weights[i];
        int k = i;
        for (; k > 0 && (weights[k - 1] < weight || (weights[k - 1] == weight && joints[k - 1] > joint)); k--) {
            weights[k] = weights[k - 1];
            joints[k] = joints[k - 1];
        }
        weights[k] = weight;
        joints[k] = joint;
    }
}

/* ---- all influences ---- */

/* Accumulates weights by joint, for one vertex at a time. */
typedef struct mixer {
    double *sums;     /* [joint_count]; all 0 between vertices */
    uint32_t *used;   /* [joint_count]: joints of this vertex */
    uint32_t *joints; /* [joint_count]: influences of one cage vertex */
    float *weights;
} mixer;

static bool close_row(influences *list, mixer *m, int vertex, int used) {
    const size_t begin = list->starts[vertex];
    size_t at = begin;
    bool good = true;
    for (int i = 0; i < used; i++) {
        const float weight = (float)m->sums[m->used[i]];
        m->sums[m->used[i]] = 0;
        if (good && weight > 0) /* stencils may subtract a little */
            good = add_influence(list, at++, m->used[i], weight);
    }
    list->starts[vertex + 1] = (uint32_t)at;
    if (!good)
        return false;
    sort_row(list->joints + begin, list->weights + begin, (int)(at - begin));
    list->most = (int)(at - begin) > list->most ? (int)(at - begin) : list->most;
    return true;
}

static int mix(const ex_skin *skin, int vertex, double part, mixer *m, int used) {
    const int count = ex_skin_influences(skin, vertex, m->joints, m->weights);
    for (int i = 0; i < count; i++) {
        if (m->sums[m->joints[i]] == 0)
            m->used[used++] = m->joints[i];
        m->sums[m->joints[i]] += part * (double)m->weights[i];
        if (m->sums[m->joints[i]] == 0) /* it stays in the list */
            m->sums[m->joints[i]] = 1e-300;
    }
    return used;
}

static ex_result gather(const exi_bake *bake, const ex_stencil_rows *rows, influences *list) {
    const ex_skin *skin = ex_rig_skin(bake->rig);
    const size_t joints = (size_t)bake->joint_count;
    mixer m = {.sums = calloc(joints, sizeof *m.sums),
               .used = exi_array_allocate(joints, sizeof *m.used),
               .joints = exi_array_allocate(joints, sizeof *m.joints),
               .weights = exi_array_allocate(joints, sizeof *m.weights)};
    list->starts = exi_array_allocate((size_t)bake->vertex_count + 1, sizeof *list->starts);
    bool good = m.sums && m.used && m.joints && m.weights && list->starts;
    if (good)
        list->starts[0] = 0;
    for (int v = 0; good && v < bake->vertex_count; v++) {
        int used = 0;
        if (!rows)
            used = mix(skin, v, 1, &m, 0);
        for (int i = rows ? rows->offsets[v] : 0; rows && i < rows->offsets[v + 1]; i++)
            used = mix(skin, rows->indices[i], rows->weights[i], &m, used);
        good = close_row(list, &m, v, used);
    }
    free(m.sums);
    free(m.used);
    free(m.joints);
    free(m.weights);
    return good ? EX_OK : ex_error_memory(bake->error, "the skin", (size_t)bake->vertex_count * 32);
}

static ex_result gather_level(const exi_bake *bake, influences *list) {
    if (bake->level == 0)
        return gather(bake, NULL, list);
    const ex_stencils *stencils = ex_rig_stencils(bake->rig);
    const size_t count = (size_t)ex_stencils_weight_count(stencils, bake->level);
    int *offsets = exi_array_allocate((size_t)bake->vertex_count + 1, sizeof *offsets);
    int *indices = exi_array_allocate(count, sizeof *indices);
    double *weights = exi_array_allocate(count, sizeof *weights);
    ex_result result = EX_ERROR_MEMORY;
    if (offsets && indices && weights) {
        ex_stencils_read(stencils, bake->level, offsets, indices, weights, NULL);
        const ex_stencil_rows rows = {
            .vertex_count = bake->vertex_count, .offsets = offsets, .indices = indices, .weights = weights};
        result = gather(bake, &rows, list);
    } else {
        ex_error_memory(bake->error, "the level's stencils", count * 12);
    }
    free(offsets);
    free(indices);
    free(weights);
    return result;
}

/* ---- the largest influences ---- */

/* Compacts the lists in place: nothing is read after it was overwritten. */
static void keep_heaviest(influences *list, int vertex_count, int most) {
    uint32_t at = 0, begin = 0;
    for (int v = 0; v < vertex_count; v++) {
        const uint32_t end = list->starts[v + 1];
        for (uint32_t i = begin; i < end && i < begin + (uint32_t)most; i++, at++) {
            list->joints[at] = list->joints[i];
            list->weights[at] = list->weights[i];
        }
        begin = end;
        list->starts[v + 1] = at;
    }
}

static ex_result create(const exi_bake *bake, const influences *list, ex_skin **skin) {
    const ex_skin_def def = {.vertex_count = bake->vertex_count,
                             .joint_count = bake->joint_count,
                             .starts = list->starts,
                             .joints = list->joints,
                             .weights = list->weights};
    return ex_skin_create(&def, NULL, skin, bake->error);
}

ex_result exi_bake_make_skin(exi_bake *bake) {
    if (!ex_rig_skin(bake->rig))
        return EX_OK;
    influences list = {.starts = NULL};
    const int most = bake->options.influence_most;
    ex_result result = gather_level(bake, &list);
    if (result == EX_OK && list.most > most) {
        result = create(bake, &list, &bake->full);
        keep_heaviest(&list, bake->vertex_count, most);
    }
    if (result == EX_OK)
        result = create(bake, &list, &bake->skin);
    free_influences(&list);
    return result;
}
