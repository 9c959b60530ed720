/*
 * Cross-validation (leave-one-out): predicts each scan from the others of its part, where it was measured. This
 * estimates the error at a pose that was never scanned, without knowing the truth. Displacements are compared, along
 * the template's normals.
 */
#include "author/base/array.h"
#include "author/scan/report/scan_report.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void exi_distances_add(exi_distances *d, double value) {
    float *grown = exi_array_grow(d->values, &d->capacity, d->count + 1, sizeof *grown);
    if (!grown) {
        d->failed = true;
        return;
    }
    d->values = grown;
    d->values[d->count++] = (float)fabs(value);
}

static int order(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

ex_scan_distance exi_distances_sum(exi_distances *d) {
    ex_scan_distance sum = {0};
    double square = 0;
    for (size_t i = 0; i < d->count; i++)
        square += (double)d->values[i] * (double)d->values[i];
    if (d->count > 0) {
        qsort(d->values, d->count, sizeof *d->values, order);
        sum = (ex_scan_distance){.rms = sqrt(square / (double)d->count),
                                 .high = (double)d->values[(size_t)(0.95 * (double)(d->count - 1))],
                                 .count = (int)d->count};
    }
    free(d->values);
    *d = (exi_distances){0};
    return sum;
}

/* ---- scans left out ---- */

/* Returns -1 if there is none. */
static int heaviest(const double *weights, int count) {
    int best = -1;
    for (int i = 0; i < count; i++)
        best = weights[i] > 0 && (best < 0 || weights[i] > weights[best]) ? i : best;
    return best;
}

ex_result exi_report_left_out(exi_scan_work *work) {
    const exi_body *body = &work->body;
    const ex_scan_session *session = body->session;
    const int count = body->example_count;
    double *weights = exi_array_allocate((size_t)count, sizeof *weights);
    exi_distances all[4] = {{0}};
    ex_scan_surfaces *out = &work->report->left_out;
    if (!weights)
        return ex_error_memory(work->error, "the report", (size_t)count * sizeof *weights);
    for (int i = 0; i < count; i++) {
        const exi_body_example *own = &body->examples[i];
        if (!work->maps[i] || own->part < 0)
            continue;
        const exi_body_part *part = &body->parts[own->part];
        exi_scan_weigh(body, part, body->fitted->poses[body->poses[own->scan]].rotations, i, session->neighbours,
                       weights);
        const int nearest = heaviest(weights, count);
        if (nearest < 0)
            continue;                                /* the only scan of its part */
        const ex_displacement_map *reference = NULL; /* unless it is this example, or none of the part */
        for (int k = 0; k < count && !reference && own->scan != session->reference; k++)
            reference = body->examples[k].scan == session->reference && body->examples[k].part == own->part
                            ? work->maps[k]
                            : NULL;
        out->pose_count++;
        for (int v = 0; v < body->vertex_count; v++) {
            const double truth = (double)work->maps[i]->displacements[v];
            double blend = 0;
            if (work->maps[i]->states[v] != EX_DISPLACEMENT_MAP_HIT || part->mask[v] < 0.5F)
                continue;
            for (int k = 0; k < count; k++)
                blend += weights[k] != 0 ? weights[k] * (double)work->maps[k]->displacements[v] : 0;
            exi_distances_add(&all[0], truth - blend);
            exi_distances_add(&all[1], truth);
            exi_distances_add(&all[2], truth - (double)work->maps[nearest]->displacements[v]);
            if (reference)
                exi_distances_add(&all[3], truth - (double)reference->displacements[v]);
        }
    }
    free(weights);
    const bool failed = all[0].failed || all[1].failed || all[2].failed || all[3].failed;
    out->body = exi_distances_sum(&all[0]);
    out->plain = exi_distances_sum(&all[1]);
    out->nearest = exi_distances_sum(&all[2]);
    out->old = exi_distances_sum(&all[3]);
    return failed ? ex_error_memory(work->error, "the report", 0) : EX_OK;
}
