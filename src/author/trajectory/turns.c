/*
 * Angular velocities from paths. If x' = R(t w) v with constant w and v (equation 4), x'' = w x x'; integrated twice,
 * with y = x - x(0):
 *
 *   y(t) = c t + w x Y(t),   Y(t) = integral of y from 0 to t
 *
 * which is linear in c and w and needs no derivative of the path. Least squares over the sampled times, with c
 * eliminated for every vertex separately, leave H w = h with a 3 x 3 matrix H per vertex: large across the path of a
 * vertex that moves far, zero along a straight one. Neighbours should rotate alike where their paths leave it open, and
 * a little beyond, since blends of several examples magnify differences between neighbours:
 *
 *   minimise  sum over vertices of (area / whole area) / size^2 (w^T H w - 2 w^T h)  +  SMOOTH integral |grad w|^2
 *
 * The first term has no unit and does not depend on the resolution of the mesh; nor does the second.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/trajectory/guided.h"
#include "author/trajectory/matrix.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#define SMOOTH 3e-5
#define HOLD   1e-9 /* pull of every vertex towards 0 */

typedef struct turning {
    const ex_between *between;
    double *blocks;  /* [vertex_count][6]: xx yy zz xy xz yz */
    double *inverse; /* [vertex_count][6]: inverse of the block with its part of the Laplacian */
} turning;

/* Computes the integrals from 0 to every sample, and to 1, of the polynomial through 0, the samples and 1, as weights
 * of the values at the samples and at 1; the value at 0 is 0. Uses Gauss's rule on each piece, which is exact here. */
static void integral_weights(double weights[EXI_SAMPLES + 1][EXI_SAMPLES + 1]) {
    static const double points[5] = {0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842, 0.953089922969332};
    static const double shares[5] = {0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683,
                                     0.118463442528095};
    double times[EXI_SAMPLES + 2];
    for (int i = 0; i < EXI_SAMPLES; i++)
        times[i + 1] = exi_sample_time(i);
    times[0] = 0;
    times[EXI_SAMPLES + 1] = 1;
    memset(weights, 0, sizeof(double) * (EXI_SAMPLES + 1) * (EXI_SAMPLES + 1));
    for (int piece = 0; piece <= EXI_SAMPLES; piece++) {
        if (piece > 0)
            memcpy(weights[piece], weights[piece - 1], sizeof weights[piece]);
        const double width = times[piece + 1] - times[piece];
        for (int g = 0; g < 5; g++) {
            const double t = times[piece] + width * points[g];
            for (int i = 1; i < EXI_SAMPLES + 2; i++) {
                double value = 1;
                for (int j = 0; j < EXI_SAMPLES + 2; j++)
                    value *= j == i ? 1 : (t - times[j]) / (times[i] - times[j]);
                weights[piece][i - 1] += width * shares[g] * value;
            }
        }
    }
}

/* Adds factor ([Y]x^T [Z]x), that is (Y . Z) I - Z Y^T, its symmetric part. */
static void add_product(double block[6], const double y[3], const double z[3], double factor) {
    const double dot = exi_dot3(y, z);
    block[0] += factor * (dot - y[0] * z[0]);
    block[1] += factor * (dot - y[1] * z[1]);
    block[2] += factor * (dot - y[2] * z[2]);
    block[3] -= factor * 0.5 * (y[0] * z[1] + y[1] * z[0]);
    block[4] -= factor * 0.5 * (y[0] * z[2] + y[2] * z[0]);
    block[5] -= factor * 0.5 * (y[1] * z[2] + y[2] * z[1]);
}

/* Computes H and h of one vertex. With r(t) = y - c t - w x Y: c = sum t (y - w x Y) / sum t^2. */
static void normal_equations(const double y[EXI_SAMPLES + 1][3], double weights[EXI_SAMPLES + 1][EXI_SAMPLES + 1],
                             double block[6], double right[3]) {
    double integrals[EXI_SAMPLES + 1][3] = {{0}}, mean[3] = {0}, mean_integral[3] = {0}, squares = 0;
    for (int k = 0; k <= EXI_SAMPLES; k++) {
        const double t = k < EXI_SAMPLES ? exi_sample_time(k) : 1;
        for (int j = 0; j <= EXI_SAMPLES; j++)
            for (int i = 0; i < 3; i++)
                integrals[k][i] += weights[k][j] * y[j][i];
        for (int i = 0; i < 3; i++) {
            mean[i] += t * y[k][i];
            mean_integral[i] += t * integrals[k][i];
        }
        squares += t * t;
    }
    for (int k = 0; k <= EXI_SAMPLES; k++) {
        const double t = k < EXI_SAMPLES ? exi_sample_time(k) : 1;
        double a[3], b[3], moment[3];
        for (int i = 0; i < 3; i++) {
            a[i] = integrals[k][i] - t * mean_integral[i] / squares;
            b[i] = y[k][i] - t * mean[i] / squares;
        }
        add_product(block, a, a, 1);
        exi_cross(a, b, moment); /* d/dw of |b - w x a|^2 / 2 = |a|^2 w - a (a . w) - a x b */
        for (int i = 0; i < 3; i++)
            right[i] += moment[i];
    }
}

static void invert(const double s[6], double out[6]) {
    const double a = s[1] * s[2] - s[5] * s[5], b = s[4] * s[5] - s[3] * s[2], c = s[3] * s[5] - s[1] * s[4];
    const double scale = 1 / (s[0] * a + s[3] * b + s[4] * c);
    out[0] = a * scale;
    out[3] = b * scale;
    out[4] = c * scale;
    out[1] = (s[0] * s[2] - s[4] * s[4]) * scale;
    out[5] = (s[3] * s[4] - s[0] * s[5]) * scale;
    out[2] = (s[0] * s[1] - s[3] * s[3]) * scale;
}

static void apply(void *user, const double *x, double *y) {
    const turning *s = user;
    const ex_between *b = s->between;
    for (int v = 0; v < b->vertex_count; v++)
        exi_s3_apply(s->blocks + 6 * (size_t)v, x + 3 * (size_t)v, y + 3 * (size_t)v);
    for (int t = 0; t < b->triangle_count; t++) {
        const int *c = b->triangles + 3 * (size_t)t;
        const double *g = b->slopes + 9 * (size_t)t;
        for (int i = 0; i < 3; i++) { /* of component i: its gradient, and the pull on each corner */
            double gradient[3];
            for (int j = 0; j < 3; j++)
                gradient[j] = SMOOTH * b->areas[t] *
                              (x[3 * c[0] + i] * g[j] + x[3 * c[1] + i] * g[3 + j] + x[3 * c[2] + i] * g[6 + j]);
            for (int k = 0; k < 3; k++)
                y[3 * c[k] + i] += exi_dot3(gradient, g + 3 * k);
        }
    }
}

static void precondition(void *user, const double *r, double *z) {
    const turning *s = user;
    for (int v = 0; v < s->between->vertex_count; v++)
        exi_s3_apply(s->inverse + 6 * (size_t)v, r + 3 * (size_t)v, z + 3 * (size_t)v);
}

static void assemble(turning *s, const double *paths, double *right) {
    const ex_between *b = s->between;
    const size_t n = (size_t)b->vertex_count;
    double weights[EXI_SAMPLES + 1][EXI_SAMPLES + 1], total = 0;
    integral_weights(weights);
    for (int v = 0; v < b->vertex_count; v++)
        total += b->vertex_areas[v];
    for (int v = 0; v < b->vertex_count; v++) {
        double y[EXI_SAMPLES + 1][3], block[6] = {0}, *own = s->blocks + 6 * v;
        for (int k = 0; k <= EXI_SAMPLES; k++)
            exi_subtract(k < EXI_SAMPLES ? paths + 3 * ((size_t)k * n + (size_t)v) : b->aligned + 3 * v,
                         b->start + 3 * v, y[k]);
        normal_equations(y, weights, block, right + 3 * v);
        const double scale = total > 0 ? b->vertex_areas[v] / (total * b->size * b->size) : 0;
        for (int i = 0; i < 6; i++)
            own[i] = scale * block[i] + (i < 3 ? HOLD / (double)n : 0);
        for (int i = 0; i < 3; i++)
            right[3 * v + i] *= scale;
        memcpy(s->inverse + 6 * v, own, sizeof block);
    }
    for (int t = 0; t < b->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            const double *g = b->slopes + 9 * (size_t)t + 3 * k;
            for (int i = 0; i < 3; i++)
                s->inverse[6 * b->triangles[3 * t + k] + i] += SMOOTH * b->areas[t] * exi_dot3(g, g);
        }
    for (int v = 0; v < b->vertex_count; v++) {
        double block[6];
        memcpy(block, s->inverse + 6 * v, sizeof block);
        invert(block, s->inverse + 6 * v);
    }
}

ex_result exi_guided_turns(const ex_between *b, const double *paths, double *turns, ex_error *error) {
    const size_t n = (size_t)b->vertex_count;
    turning s = {b, exi_array_allocate(6 * n, sizeof(double)), exi_array_allocate(6 * n, sizeof(double))};
    double *right = calloc(3 * n, sizeof *right), *work = malloc(exi_cg_work_size(3 * b->vertex_count));
    ex_result result = EX_OK;
    if (s.blocks && s.inverse && right && work) {
        assemble(&s, paths, right);
        memset(turns, 0, 3 * n * sizeof *turns);
        const exi_cg_def def = {3 * b->vertex_count, apply, precondition, &s, 1e-4, 400};
        exi_cg(&def, right, turns, work);
        for (int v = 0; v < b->vertex_count; v++) {
            const double length = sqrt(exi_dot3(turns + 3 * v, turns + 3 * v)), most = 0.9 * EX_TURN_MAX;
            for (int i = 0; i < 3 && length > most; i++)
                turns[3 * v + i] *= most / length;
        }
    } else {
        result = ex_error_memory(error, "angular velocities", 24 * n * sizeof *work);
    }
    free(s.blocks);
    free(s.inverse);
    free(right);
    free(work);
    return result;
}
