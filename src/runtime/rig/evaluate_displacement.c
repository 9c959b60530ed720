/*
 * The displaced surface: S(u, q) = T(u, q) + d(u, q) n(u, q), where T is the posed and refined surface, n its limit
 * normal, and d the sum over layers of the blended displacements (Allen, Curless and Popovic 2002, equations 1 and 2).
 *
 * A task is a piece of the level's vertices: its displacements are summed layer after layer, then its positions moved.
 * A vertex's sum has one order, so nothing depends on the tasks.
 */
#include "runtime/base/memory.h"
#include "runtime/rig/evaluate.h"

#include <string.h>

int exi_rig_open_displacing(const exi_rig_job *j, int pose) {
    const exi_pose_scratch *s = &j->scratch[pose];
    exi_displacement_term *terms = s->displacement_terms;
    int count = 0;
    if (j->level == 0)
        return 0;
    for (int l = 0; l < j->rig->counts.layers; l++) {
        const exi_displacements *d = exi_rig_displacements_of(j->rig, l);
        const double *weights = s->weights + exi_rig_layers(j->rig)[l].first_example;
        if (!d || exi_rig_is_muted(j, l))
            continue;
        exi_displacing *displacing = &s->displacing[count++];
        *displacing = (exi_displacing){.displacements = d, .terms = terms};
        for (int k = 0; k < d->example_count; k++)
            if ((float)weights[k] != 0)
                terms[displacing->term_count++] = (exi_displacement_term){(uint32_t)k, (float)weights[k]};
        terms += displacing->term_count;
    }
    return count;
}

/* What is worked on by all tasks. */
typedef struct displacement_job {
    const exi_displacing *displacing;
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
            exi_displacements_add(j.displacing[l].displacements, j.displacing[l].terms, j.displacing[l].term_count,
                                  first, last, sums);
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

void exi_rig_displace(const exi_rig_job *j, int pose, int count, const ex_output *output, const float *normals,
                      size_t normal_stride) {
    displacement_job job = {.displacing = j->scratch[pose].displacing,
                            .count = count,
                            .vertex_count = ex_rig_level_vertex_count(j->rig, j->level),
                            .positions = (char *)output->positions,
                            .normals = (const char *)normals,
                            .stride = output->position_stride ? output->position_stride : 3 * sizeof(float),
                            .normal_stride = normal_stride};
    exi_run(j->tasks, (job.vertex_count + EXI_DISPLACED - 1) / EXI_DISPLACED, 2, displace_pieces, &job);
}

/* Normals have length 1 but for rounding, and displacements are rounded too: a millionth more. */
void exi_rig_grow_displaced_box(const exi_rig_job *j, int pose, int count, float box[6]) {
    double bound = 0;
    for (int l = 0; l < count; l++) {
        const exi_displacing *displacing = &j->scratch[pose].displacing[l];
        bound += exi_displacements_bound(displacing->displacements, displacing->terms, displacing->term_count);
    }
    for (int c = 0; c < 3 && bound > 0; c++) {
        box[c] -= (float)(bound * (1 + 1e-6));
        box[3 + c] += (float)(bound * (1 + 1e-6));
    }
}
