/*
 * Finds the farthest frame from its nearest key (DrivenShape, 2.1) without reading all frames for each key. The
 * driver's vertices are cut into groups of neighbours. On each group, x, the difference of a frame from the mesh, is
 * approximated by an affine function of the vertex, with four functions f that are orthonormal by the weights w:
 *
 *     c(x) = sum over vertices of w f x,    r(x) = x - sum over functions of c f,
 *     d^2(a, b) = |c(a) - c(b)|^2 + |r(a) - r(b)|^2,
 *     (|r(a)| - |r(b)|)^2  <=  |r(a) - r(b)|^2  <=  (|r(a)| + |r(b)|)^2.
 *
 * A sketch holds c and |r|, so it bounds distances from above and below. Limbs turn as a whole, so r is small. The
 * frame with the highest bound is read and measured; if it is then still highest, it is the farthest, and all others
 * need not be read. Few frames are measured, and the choice is the one that measuring all would make. Constant
 * functions on more groups were tried: their bounds left ten times as many frames to be measured.
 */
#include "author/drive/gather/far.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 24, FUNCTIONS = 4, ROW = 3 * FUNCTIONS };

/* Rounding errors, as a part of the distances from the mesh. */
static const double slack = 1e-6;

/* ---- groups ---- */

/* Spreads the centres of groups over the mesh, each the vertex farthest from the ones before, and gives every vertex to
 * the nearest. */
static void make_groups(exi_far *far, double *apart) {
    const int n = far->vertex_count;
    int centre = 0;
    for (int v = 0; v < n; v++)
        apart[v] = INFINITY;
    for (far->group_count = 0; far->group_count < GROUPS && far->group_count < n; far->group_count++) {
        const float *c = far->reference + 3 * (size_t)centre;
        int next = 0;
        for (int v = 0; v < n; v++) {
            const float *p = far->reference + 3 * (size_t)v;
            const double d[3] = {(double)p[0] - (double)c[0], (double)p[1] - (double)c[1], (double)p[2] - (double)c[2]};
            const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if (square < apart[v]) {
                apart[v] = square;
                far->groups[v] = far->group_count;
            }
            next = apart[v] > apart[next] ? v : next;
        }
        centre = next;
    }
}

/* Makes the four functions of a group orthonormal by the weights, from 1 and the coordinates; those that depend on
 * others become 0. All groups at once: products [group_count]. */
static void make_functions(exi_far *far, double *products) {
    const int n = far->vertex_count;
    for (int v = 0; v < n; v++) {
        far->functions[FUNCTIONS * (size_t)v] = 1;
        memcpy(far->functions + FUNCTIONS * (size_t)v + 1, far->reference + 3 * (size_t)v, 3 * sizeof(float));
    }
    for (int i = 0; i < FUNCTIONS; i++)
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j <= i; j++) {
                memset(products, 0, (size_t)far->group_count * sizeof *products);
                for (int v = 0; v < n; v++) {
                    const float *f = far->functions + FUNCTIONS * (size_t)v;
                    products[far->groups[v]] += (double)far->weights[v] * (double)f[i] * (double)f[j];
                }
                for (int v = 0; v < n; v++) {
                    float *f = far->functions + FUNCTIONS * (size_t)v;
                    const double product = products[far->groups[v]];
                    f[i] = i == j ? (float)(product > 1e-20 ? (double)f[i] / sqrt(product) : 0)
                                  : (float)((double)f[i] - product * (double)f[j]);
                }
            }
}

ex_result exi_far_open(exi_far *far, const ex_mesh *driver, const float *weights, int frame_count, ex_error *error) {
    const size_t n = (size_t)driver->vertex_count, frames = (size_t)frame_count;
    *far = (exi_far){.vertex_count = driver->vertex_count, .weights = weights, .frame_count = frame_count};
    double *apart = exi_array_allocate(n, sizeof *apart);
    far->reference = exi_array_allocate(n, 3 * sizeof *far->reference);
    far->groups = calloc(n + 1, sizeof *far->groups);
    far->functions = exi_array_allocate(n, FUNCTIONS * sizeof *far->functions);
    far->sums = calloc(GROUPS, ROW * sizeof *far->sums);
    bool room = apart && far->reference && far->groups && far->functions && far->sums;
    if (room) {
        for (size_t i = 0; i < 3 * n; i++)
            far->reference[i] = (float)driver->positions[i];
        make_groups(far, apart);
        make_functions(far, far->sums);
        far->rows = exi_array_allocate(frames, ROW * (size_t)far->group_count * sizeof *far->rows);
        far->rests = exi_array_allocate(frames, sizeof *far->rests);
        far->from_mesh = exi_array_allocate(frames, sizeof *far->from_mesh);
        far->high = exi_array_allocate(frames, sizeof *far->high);
        far->low = exi_array_allocate(frames, sizeof *far->low);
        far->sure = calloc(frames + 1, sizeof *far->sure);
        far->nearest = exi_array_allocate(frames, sizeof *far->nearest);
        room = far->rows && far->rests && far->from_mesh && far->high && far->low && far->sure && far->nearest;
    }
    free(apart);
    return room ? EX_OK : ex_error_memory(error, "frames", frames * (4 * ROW * GROUPS + 44) + 44 * n);
}

void exi_far_close(exi_far *far) {
    free(far->reference);
    free(far->groups);
    free(far->functions);
    free(far->sums);
    free(far->rows);
    free(far->rests);
    free(far->from_mesh);
    free(far->high);
    free(far->low);
    free(far->sure);
    free(far->nearest);
    *far = (exi_far){.vertex_count = 0};
}

/* ---- sketches ---- */

void exi_far_sketch(exi_far *far, int frame, const float *home) {
    const size_t numbers = ROW * (size_t)far->group_count;
    float *row = far->rows + numbers * (size_t)frame;
    double held = 0;
    memset(far->sums, 0, numbers * sizeof *far->sums);
    for (int v = 0; v < far->vertex_count; v++) {
        const double w = (double)far->weights[v];
        const float *a = home + 3 * (size_t)v, *b = far->reference + 3 * (size_t)v;
        const float *f = far->functions + FUNCTIONS * (size_t)v;
        const double x[3] = {w * ((double)a[0] - (double)b[0]), w * ((double)a[1] - (double)b[1]),
                             w * ((double)a[2] - (double)b[2])};
        double *sum = far->sums + ROW * (size_t)far->groups[v];
        for (int i = 0; i < FUNCTIONS; i++)
            for (int c = 0; c < 3; c++)
                sum[3 * i + c] += (double)f[i] * x[c];
    }
    for (size_t i = 0; i < numbers; i++) {
        row[i] = (float)far->sums[i];
        held += far->sums[i] * far->sums[i];
    }
    far->from_mesh[frame] = exi_form_squares(home, far->reference, far->weights, far->vertex_count);
    const double rest = far->from_mesh[frame] - held;
    far->rests[frame] = (float)(rest > 0 ? sqrt(rest) : 0);
    far->high[frame] = far->low[frame] = far->from_mesh[frame];
    far->sure[frame] = 0;
    far->nearest[frame] = -1;
}

void exi_far_look(exi_far *far, const exi_far_range *ranges, int range_count, int key, int before, bool fresh) {
    const int numbers = ROW * far->group_count;
    const float *to = far->rows + (size_t)numbers * (size_t)key;
    for (int r = 0; r < range_count; r++)
        for (int f = ranges[r].first; f < ranges[r].first + ranges[r].count; f++) {
            const float *from = far->rows + (size_t)numbers * (size_t)f;
            const double rests[2] = {(double)far->rests[f], (double)far->rests[key]};
            const double error = slack * (sqrt(far->from_mesh[f]) + sqrt(far->from_mesh[key]));
            double square = 0;
            if (f == key) {
                far->high[f] = far->low[f] = 0;
                far->sure[f] = before + 1;
                far->nearest[f] = before;
                continue;
            }
            for (int i = 0; i < numbers; i++) {
                const double d = (double)from[i] - (double)to[i];
                square += d * d;
            }
            const double most = sqrt(square + (rests[0] + rests[1]) * (rests[0] + rests[1])) + error;
            const double least = fmax(0, sqrt(square + (rests[0] - rests[1]) * (rests[0] - rests[1])) - error);
            /* A key that is surely farther than the nearest one changes nothing. */
            if (!fresh && far->sure[f] == before && least * least >= far->high[f]) {
                far->sure[f] = before + 1;
                continue;
            }
            far->sure[f] = 0;
            far->high[f] = fresh || most * most < far->high[f] ? most * most : far->high[f];
            far->low[f] = fresh || least * least < far->low[f] ? least * least : far->low[f];
        }
}

/* ---- the farthest ---- */

ex_result exi_far_settle(exi_far *far, int frame, exi_far_measure *by) {
    if (far->sure[frame] == by->key_count)
        return EX_OK;
    double square = 0;
    const ex_result result = by->measure(by->user, frame, &square, &far->nearest[frame]);
    far->high[frame] = far->low[frame] = square;
    far->sure[frame] = by->key_count;
    by->left -= by->left > 0;
    return result;
}

ex_result exi_far_find(exi_far *far, const exi_far_range *ranges, int range_count, exi_far_measure *by, int *farthest) {
    for (;;) {
        int best = -1;
        for (int r = 0; r < range_count; r++)
            for (int f = ranges[r].first; f < ranges[r].first + ranges[r].count; f++)
                best = best < 0 || far->high[f] > far->high[best] ? f : best;
        *farthest = best;
        if (best < 0 || far->sure[best] == by->key_count || by->left <= 0)
            return EX_OK;
        const ex_result result = exi_far_settle(far, best, by);
        if (result != EX_OK)
            return result;
    }
}
