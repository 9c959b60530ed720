/*
 * An example seen from the root segment (trajectory warping, section 5.3: "align the models by the root part first").
 *
 * Appended bases assume that the root stands still, but after the alignment of whole forms it still moves. Moving that
 * motion into the screw keeps a chain whose joints rotate about parallel axes in its plane, which a screw about a
 * slightly tilted axis would not. Rotations change from R to Q^T R, with Q the root's; stretches stay.
 */
#include "author/base/array.h"
#include "author/trajectory/matrix.h"
#include "author/trajectory/segments/segments.h"
#include "author/trajectory/surface.h"
#include "runtime/base/result.h"

#include <stdlib.h>

/* Computes the root's rotation in the frame of the alignment, as q and as a vector on the branch of its triangles. */
static void root_turn(const ex_between *b, const exi_segmentation *s, double rotation[3][3], double q[9],
                      double turn[3]) {
    double whole[9], area = 0, mean[3] = {0, 0, 0};
    memset(q, 0, 9 * sizeof *q);
    exi_turn_matrix(b->screw.turn, (double(*)[3])whole);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 3; k++)
            q[i] += whole[3 * k + i / 3] * rotation[k][i % 3];
    for (int t = 0; t < b->triangle_count; t++)
        if (s->triangles[t] == s->order[0]) {
            area += b->areas[t];
            for (int k = 0; k < 3; k++)
                mean[k] += b->areas[t] * b->turns[3 * (size_t)t + (size_t)k];
        }
    for (int k = 0; k < 3; k++)
        mean[k] = area > 0 ? mean[k] / area : 0;
    exi_turn_vector((const double(*)[3])q, turn);
    exi_turn_nearest(turn, mean);
}

static void turn_triangles(ex_between *framed, const double q[9], const double root[3]) {
    double *turns = framed->turns;
    for (int t = 0; t < framed->triangle_count; t++) {
        double r[9], m[9] = {0}, *w = &turns[3 * (size_t)t], near[3];
        exi_subtract(w, root, near);
        exi_turn_matrix(w, (double(*)[3])r);
        exi_m3_multiply_transposed(q, r, 1, m);
        exi_turn_vector((const double(*)[3])m, w);
        exi_turn_nearest(w, near);
    }
}

ex_result exi_segments_frame(const ex_between *between, const exi_segmentation *s, ex_between *framed,
                             ex_error *error) {
    size_t n = (size_t)between->vertex_count, m = (size_t)between->triangle_count;
    *framed = *between;
    framed->aligned = exi_array_allocate(n, 3 * sizeof(double));
    framed->turns = exi_array_copy(between->turns, 3 * m, sizeof(double));
    double *weights = calloc(n, sizeof *weights);
    bool done = framed->aligned && framed->turns && weights;
    if (done) {
        double rotation[3][3], from[3], to[3], q[9], root[3], near[3];
        for (size_t k = 0; k < 3 * m; k++)
            weights[between->triangles[k]] += s->triangles[k / 3] == s->order[0] ? between->areas[k / 3] / 3 : 0;
        exi_surface_fit((int)n, weights, between->start, between->end, rotation, from, to);
        root_turn(between, s, rotation, q, root);
        turn_triangles(framed, q, root);
        for (size_t v = 0; v < n; v++) {
            double arm[3];
            exi_subtract(&between->end[3 * v], to, arm);
            exi_apply_transpose(rotation, arm, arm);
            for (size_t i = 0; i < 3; i++)
                framed->aligned[3 * v + i] = from[i] + arm[i];
        }
        /* The screw about the same centre, on the branch that continues the alignment's, if that can be inverted. */
        double arm[3], turned[3], shift[3], *turn = framed->screw.turn;
        for (int i = 0; i < 3; i++)
            near[i] = between->screw.turn[i] + root[i];
        exi_turn_vector((const double(*)[3])rotation, turn);
        exi_turn_nearest(turn, near);
        if (exi_dot3(turn, turn) > EX_TURN_MAX * EX_TURN_MAX)
            exi_turn_vector((const double(*)[3])rotation, turn);
        exi_subtract(from, between->centre, arm);
        exi_apply(rotation, arm, turned);
        for (int i = 0; i < 3; i++)
            shift[i] = to[i] - between->centre[i] - turned[i];
        exi_mean_turn_invert(turn, shift, framed->screw.move);
    }
    free(weights);
    if (!done)
        exi_segments_frame_free(framed);
    return done ? EX_OK : ex_error_memory(error, "the frame of the root segment", n * 7 * sizeof(double));
}

void exi_segments_frame_free(ex_between *framed) {
    free(framed->aligned);
    free(framed->turns);
    framed->aligned = NULL;
    framed->turns = NULL;
}
