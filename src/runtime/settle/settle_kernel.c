/*
 * The residual of a cluster (settle.c has the equations): sums of the motions at the places where its vertices are or
 * were closest, a row of the rotation in a register.
 */
#include "runtime/settle/carry.h"
#include "runtime/settle/settle.h"

/* Bits for four keys from k on, set if any point of the cluster has a weight above 0 for that key. */
static uint32_t keys_that_count(const exi_settling *s, const exi_working *w, int k) {
    const int count = s->settler->key_count, rest = count - k;
    const exi_quad zero = exi_quad_splat(0), one = exi_quad_splat(1);
    exi_quad above = zero;
    for (int i = 0; i < w->cluster->count; i++) {
        const float *weights = s->job->weights + (size_t)w->order[i] * (size_t)count + k;
        float last[4] = {0, 0, 0, 0};
        if (rest < 4)
            memcpy(last, weights, (size_t)rest * sizeof *last);
        above = exi_quad_add(above, exi_quad_pick(exi_quad_load(rest < 4 ? last : weights), zero, one, zero));
    }
    return exi_quad_at_most(above, zero) ^ 15;
}

/* A key with non-zero weights: start of the cluster's bounds in it. */
typedef struct key_row {
    const exi_bound *bounds;
    int key;
} key_row;

/* Moves a point by its keys' motions, if `carried`, and finds its gap and its heaviest key. */
EXI_KERNEL void by_keys_of(const exi_settling *s, exi_working *w, int i, const key_row *rows, int count, bool carried,
                           bool whole) {
    const float *weights = s->job->weights + (size_t)w->order[i] * (size_t)s->settler->key_count;
    const exi_motions motions = s->motions; /* a copy: no write here can change it */
    const exi_quad zero = exi_quad_splat(0), at = exi_carry_from(&motions, w->points[i]);
    const exi_bound *heaviest = NULL;
    exi_quad sum[3] = {zero, zero, zero};
    float gap = 0, most = 0;
    for (int k = 0; k < count; k++) {
        const exi_bound *bound = rows[k].bounds + i;
        const float given = weights[rows[k].key], weight = given > 0 ? given : 0;
        gap += weight * bound->gap;
        heaviest = weight > most ? bound : heaviest;
        most = weight > most ? weight : most;
        if (carried && (whole || exi_carry_known(&motions, bound->corner)))
            exi_carry_add(&motions, bound->corner, bound->u, bound->v, weight, at, sum);
    }
    w->bounds[i] = heaviest;
    if (carried && exi_finite3(w->points[i]))
        exi_carry_apply(sum, w->points[i]);
    if (heaviest) {
        w->gaps[i] = gap < w->gaps[i] ? gap : w->gaps[i];
        w->room[i] = gap < EXI_TREE_LARGEST ? gap : 0;
    }
}

/* Skips keys for which no point of the cluster has a weight. */
EXI_ENTRY(exi_settle_keys, (const exi_settling *s, exi_working *w, bool carried), (s, w, carried)) {
    const exi_bound *bounds = exi_tree_at(s->settler, s->settler->bounds);
    key_row rows[EXI_KEY_MAX];
    int count = 0;
    for (int k = 0; k < s->settler->key_count; k += 4)
        for (uint32_t bits = keys_that_count(s, w, k); bits; bits &= bits - 1) {
            const int key = k + exi_lowest_bit(bits);
            rows[count++] = (key_row){bounds + (size_t)key * (size_t)s->settler->vertex_count + w->cluster->first, key};
        }
    for (int i = 0; i < w->cluster->count; i++)
        if (!carried)
            by_keys_of(s, w, i, rows, count, false, true);
        else if (s->motions.whole)
            by_keys_of(s, w, i, rows, count, true, true);
        else
            by_keys_of(s, w, i, rows, count, true, false);
}

EXI_ENTRY(exi_settle_closest, (const exi_settling *s, const uint32_t *corners, exi_working *w), (s, corners, w)) {
    const exi_quad zero = exi_quad_splat(0);
    for (int i = 0; i < w->cluster->count; i++) {
        const uint32_t triangle = w->near.triangle[i], *corner = corners + 3 * (size_t)triangle;
        exi_quad sum[3] = {zero, zero, zero};
        if (triangle == EXI_NO_TRIANGLE || !exi_carry_known(&s->motions, corner))
            continue;
        exi_carry_add(&s->motions, corner, w->near.u[i], w->near.v[i], 1, exi_carry_from(&s->motions, w->points[i]),
                      sum);
        exi_carry_apply(sum, w->points[i]);
    }
}
