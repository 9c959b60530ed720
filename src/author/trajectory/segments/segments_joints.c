/*
 * Joints between segments, and bases that carry rigid segments exactly.
 *
 * A chain of rigid links, each rotating by R(t w_c) about its joint J_c on its parent p, moves a point x of link c by
 *
 *   d(t) = (R(t w_c) - I)(x - J_c) + (R(t w_p) - I)(J_c - J_p) + ...          and  (R(t w) - I) q = t R~(t w) (w x q):
 *
 * the vertices' own pair is (w_c, w_c x (x - J_c)), and every link on the path to the root whose parent moves appends
 * the pair of its joint, (w_p, w_p x (J_c - J_p)). It is stored with the link that hangs on the joint, not with the
 * parent, since the children of one segment have different joints. The root stands still (segments_frame.c), and so do
 * the joints on it: a link at distance d from the root is carried by d - 1 bases.
 *
 * J_c is the point at which the motions of both segments agree at the end, in all examples: least squares over |M_p(J)
 * - M_c(J)|^2, starting at the middle of what both share. Directions in which the two hardly rotate against each other
 * determine nothing, and a joint is not moved along them.
 */
#include "author/base/array.h"
#include "author/trajectory/matrix.h"
#include "author/trajectory/segments/segments.h"
#include "runtime/base/dense.h"
#include "runtime/base/result.h"

#include <stdlib.h>

#define LEAST_TURN 0.02 /* radians between two segments needed to find an axis */

/* Computes mean rotation, centroid and moved centroid of every segment, motions [count][9]. */
static void mean_motions(const ex_between *b, const exi_segmentation *s, double *motions) {
    memset(motions, 0, 9 * (size_t)s->count * sizeof *motions);
    for (int t = 0; t < b->triangle_count; t++) {
        double *m = &motions[9 * s->triangles[t]];
        for (size_t k = 0; k < 3; k++) {
            m[k] += b->areas[t] * b->turns[3 * (size_t)t + k];
            for (size_t c = 0; c < 3; c++) {
                size_t at = 3 * (size_t)b->triangles[3 * (size_t)t + c] + k;
                m[3 + k] += b->areas[t] / 3 * b->start[at];
                m[6 + k] += b->areas[t] / 3 * b->aligned[at];
            }
        }
    }
    for (int i = 0; i < 9 * s->count; i++)
        motions[i] = s->areas[i / 9] > 0 ? motions[i] / s->areas[i / 9] : 0;
}

/* Moves a point by a segment's motion, at the end. */
static void move_point(const double motion[9], const double point[3], double moved[3]) {
    double r[9], arm[3];
    exi_turn_matrix(motion, (double(*)[3])r);
    exi_subtract(point, motion + 3, arm);
    memcpy(moved, motion + 6, 3 * sizeof *moved);
    exi_m3_add(r, arm, 1, moved);
}

/* Sets joints to the middle of what segments share with their parents: vertices, otherwise links between the two. */
static void find_middles(const exi_segments_input *in, exi_segmentation *s, double *weights) {
    const ex_between *b = in->any;
    for (int v = 0; v < b->vertex_count; v++)
        for (int k = b->triangle_starts[v]; k < b->triangle_starts[v + 1]; k++) {
            int child = s->triangles[b->triangle_list[k] / 3], meets = 0;
            for (int i = b->triangle_starts[v]; i < b->triangle_starts[v + 1] && s->parents[child] >= 0; i++)
                meets = meets || s->triangles[b->triangle_list[i] / 3] == s->parents[child];
            for (int i = b->triangle_starts[v]; i < k && meets; i++)
                meets = s->triangles[b->triangle_list[i] / 3] != child; /* each vertex once */
            weights[child] += meets;
            for (int m = 0; m < 3 && meets; m++)
                s->joints[3 * child + m] += b->start[3 * (size_t)v + (size_t)m];
        }
    for (int i = 0; i < b->link_count; i++)
        for (int e = 0; e < 2; e++) {
            const int *ends = b->links[i].vertices;
            int child = s->vertices[ends[e]];
            if (!s->loose[child] || s->parents[child] != s->vertices[ends[1 - e]])
                continue;
            weights[child]++;
            for (int m = 0; m < 3; m++)
                s->joints[3 * child + m] +=
                    (b->start[3 * (size_t)ends[0] + (size_t)m] + b->start[3 * (size_t)ends[1] + (size_t)m]) / 2;
        }
    for (int i = 0; i < 3 * s->count; i++)
        s->joints[i] = weights[i / 3] > 0 ? s->joints[i] / weights[i / 3] : 0;
}

/* Computes the largest distance of a segment's corners from its centroid. */
static void find_radii(const ex_between *b, const exi_segmentation *s, const double *motions, double *radii) {
    memset(radii, 0, (size_t)s->count * sizeof *radii);
    for (int k = 0; k < 3 * b->triangle_count; k++) {
        double arm[3];
        int segment = s->triangles[k / 3];
        exi_subtract(&b->start[3 * (size_t)b->triangles[k]], &motions[9 * segment + 3], arm);
        radii[segment] = fmax(radii[segment], sqrt(exi_dot3(arm, arm)));
    }
}

/* motions [example][count][9] */
static void place_joint(const exi_segments_input *in, const exi_segmentation *s, int child, const double *motions,
                        double most) {
    double columns[9] = {0}, v[9], sizes[3], right[3] = {0}, shift[3] = {0}, *joint = &s->joints[3 * child];
    for (int k = 0; k < in->example_count; k++) {
        const double *own = &motions[9 * ((size_t)k * (size_t)s->count + (size_t)child)];
        const double *parent = &motions[9 * ((size_t)k * (size_t)s->count + (size_t)s->parents[child])];
        double r[9], difference[9], a[3], b[3];
        if (!in->betweens[k])
            continue;
        exi_turn_matrix(parent, (double(*)[3])difference);
        exi_turn_matrix(own, (double(*)[3])r);
        for (int i = 0; i < 9; i++)
            difference[i] -= r[i];
        move_point(parent, joint, a);
        move_point(own, joint, b);
        exi_subtract(b, a, a);
        exi_m3_multiply_transposed(difference, difference, 1, columns);
        exi_m3_add_transposed(difference, a, 1, right);
    }
    exi_svd(columns, 3, 3, v, sizes); /* symmetric: rows of columns are u s */
    for (int i = 0; i < 3; i++)
        if (sizes[i] > LEAST_TURN * LEAST_TURN)
            for (int k = 0; k < 3; k++)
                shift[k] += v[3 * i + k] * exi_dot3(&columns[3 * i], right) / (sizes[i] * sizes[i]);
    /* A joint outside the smaller of the two is no joint: the parts are not rigid enough to determine it. */
    for (int k = 0; k < 3 && exi_dot3(shift, shift) <= most * most; k++)
        joint[k] += shift[k];
}

ex_result exi_segments_joints(const exi_segments_input *in, exi_segmentation *s, ex_error *error) {
    size_t count = (size_t)s->count;
    double *motions = exi_array_allocate((size_t)in->example_count * count, 9 * sizeof *motions);
    double *work = calloc(count, sizeof *work);
    s->joints = calloc(count, 3 * sizeof *s->joints);
    bool done = motions && work && s->joints;
    if (done) {
        find_middles(in, s, work);
        for (int k = 0; k < in->example_count; k++)
            if (in->betweens[k])
                mean_motions(in->betweens[k], s, &motions[9 * (size_t)k * count]);
        for (int k = 0; k < in->example_count; k++)
            if (in->betweens[k] == in->any)
                find_radii(in->any, s, &motions[9 * (size_t)k * count], work);
        for (int i = 0; i < s->count; i++)
            if (s->parents[i] >= 0)
                place_joint(in, s, i, motions, fmin(work[i], work[s->parents[i]]));
    }
    free(motions);
    free(work);
    return done ? EX_OK : ex_error_memory(error, "joints of segments", count * 12 * sizeof *motions);
}

bool exi_segments_carried(const exi_segmentation *s, int segment) {
    return s->parents[segment] >= 0 && s->parents[s->parents[segment]] >= 0;
}

void exi_segments_bases(const ex_between *between, const exi_segmentation *s, double *bases, double *work) {
    mean_motions(between, s, work);
    memset(bases, 0, 6 * (size_t)s->count * sizeof *bases);
    for (int i = 0; i < s->count; i++) {
        double arm[3], *w = &bases[6 * i];
        if (!exi_segments_carried(s, i))
            continue;
        memcpy(w, &work[9 * s->parents[i]], 3 * sizeof *w);
        exi_subtract(&s->joints[3 * i], &s->joints[3 * s->parents[i]], arm);
        exi_cross(w, arm, w + 3);
    }
}
