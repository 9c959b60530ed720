/*
 * The local step of as-rigid-as-possible forms (rigid.c has the energy), EXI_LANES triangles at a time.
 *
 * In the plane of a triangle at the start, with P = [dx/du dx/dv] S_t (3 x 2), the nearest rotation is P (P^T
 * P)^(-1/2), in closed form. It leans by COUPLING towards each neighbour's, both relative to R^t. Loops over lanes are
 * written for the compiler to make one instruction of several triangles: differences of places are taken in double,
 * the rest is in float.
 */
#include <math.h>
#include <string.h>

#include "author/trajectory/trajectory.h"
#include "runtime/shape/mixture_pose.inl"

#define COUPLING 0.01F
#define UPRIGHT  0.34F /* cosine of 70 degrees */

enum { LANES = EXI_LANES };

#define EACH_LANE for (int l = 0; l < LANES; l++)

typedef float row[LANES];

size_t exi_facings_size(int triangle_count) {
    return ((size_t)triangle_count + LANES - 1) / LANES * sizeof(exi_facings);
}

void exi_facing_begin(const ex_between *b, int triangle, double r[3][3], exi_facings *facings) {
    exi_facings *f = facings + triangle / LANES;
    const int l = triangle % LANES;
    for (int k = 0; k < 3; k++) {
        const double *e = k < 2 ? b->frames + 6 * (size_t)triangle + 3 * k : b->normals + 3 * (size_t)triangle;
        double turned[3];
        exi_apply(r, e, turned);
        for (int i = 0; i < 3; i++)
            f->frame[k][i][l] = (float)turned[i];
        for (int i = 0; i < 4; i++)
            f->turns[l][4 * k + i] = i == k;
    }
}

/* ---- triangles of a form ---- */

/* Their gradients du, dv in their planes, S_t (xx, xy, yy), and the nearest pair of perpendicular directions to their
 * product: p, q. */
typedef struct flat_triangles {
    row du[3], dv[3], s[3], p[3], q[3], slopes[4], area;
} flat_triangles;

/* The triangle of a lane; lanes beyond the last one have that one. */
static size_t triangle_of(const ex_between *b, int first, int lane) {
    return (size_t)(first + lane < b->triangle_count ? first + lane : b->triangle_count - 1);
}

/* p, q = [p q] G^(-1/2), G being their products. In double: of triangles that are nearly a line, little is left. */
static void straighten(row p[3], row q[3]) {
    EACH_LANE {
        const double x[3] = {(double)p[0][l], (double)p[1][l], (double)p[2][l]};
        const double y[3] = {(double)q[0][l], (double)q[1][l], (double)q[2][l]};
        const double xx = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], yy = y[0] * y[0] + y[1] * y[1] + y[2] * y[2];
        const double xy = x[0] * y[0] + x[1] * y[1] + x[2] * y[2], determinant = xx * yy - xy * xy;
        const double least = 1e-28 * xx * yy, s = sqrt(determinant > least ? determinant : least);
        const double size = s * sqrt(xx + yy + 2 * s), scale = size > 0 ? 1 / size : 0;
        const double a = (yy + s) * scale, b = -xy * scale, c = (xx + s) * scale;
        for (int i = 0; i < 3; i++) {
            p[i][l] = (float)(a * x[i] + b * y[i]);
            q[i][l] = (float)(b * x[i] + c * y[i]);
        }
    }
}

static void flatten(const ex_between *b, double t, const double *form, int first, flat_triangles *f) {
    row d1[3], d2[3];
    EACH_LANE {
        const size_t k = triangle_of(b, first, l);
        const double *plane = b->planes + 8 * k;
        const int *c = b->triangles + 3 * k;
        const double *x0 = form + 3 * c[0], *x1 = form + 3 * c[1], *x2 = form + 3 * c[2];
        for (int i = 0; i < 3; i++) {
            d1[i][l] = (float)(x1[i] - x0[i]);
            d2[i][l] = (float)(x2[i] - x0[i]);
        }
        for (int i = 0; i < 4; i++)
            f->slopes[i][l] = (float)plane[i];
        f->s[0][l] = (float)(1 - t + t * plane[4]);
        f->s[1][l] = (float)(t * plane[5]);
        f->s[2][l] = (float)(1 - t + t * plane[6]);
        f->area[l] = first + l < b->triangle_count ? (float)plane[7] : 0;
    }
    for (int i = 0; i < 3; i++)
        EACH_LANE {
            f->du[i][l] = f->slopes[0][l] * d1[i][l] + f->slopes[2][l] * d2[i][l];
            f->dv[i][l] = f->slopes[1][l] * d1[i][l] + f->slopes[3][l] * d2[i][l];
            f->p[i][l] = f->du[i][l] * f->s[0][l] + f->dv[i][l] * f->s[1][l];
            f->q[i][l] = f->du[i][l] * f->s[1][l] + f->dv[i][l] * f->s[2][l];
        }
    straighten(f->p, f->q);
}

/* Nothing in the energy keeps a triangle from folding over: it is as rigid then. One that has turned by more than 70
 * degrees from R^t is drawn back to it. */
static void unfold(const exi_facings *f, row p[3], row q[3]) {
    EACH_LANE {
        const float x = p[1][l] * q[2][l] - p[2][l] * q[1][l], y = p[2][l] * q[0][l] - p[0][l] * q[2][l];
        const float z = p[0][l] * q[1][l] - p[1][l] * q[0][l];
        const float cosine = x * f->frame[2][0][l] + y * f->frame[2][1][l] + z * f->frame[2][2][l];
        const float back = cosine < UPRIGHT ? 1.0F : 0.0F;
        for (int i = 0; i < 3; i++) {
            p[i][l] += back * (f->frame[0][i][l] - p[i][l]);
            q[i][l] += back * (f->frame[1][i][l] - q[i][l]);
        }
    }
}

/* Stores the rotations that take the frames to p, q and their normal. */
static void keep_turns(row p[3], row q[3], exi_facings *f) {
    row n[3];
    EACH_LANE {
        n[0][l] = p[1][l] * q[2][l] - p[2][l] * q[1][l];
        n[1][l] = p[2][l] * q[0][l] - p[0][l] * q[2][l];
        n[2][l] = p[0][l] * q[1][l] - p[1][l] * q[0][l];
    }
    row turns[12];
    memset(turns, 0, sizeof turns);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            EACH_LANE turns[4 * i + j][l] =
                p[i][l] * f->frame[0][j][l] + q[i][l] * f->frame[1][j][l] + n[i][l] * f->frame[2][j][l];
    EACH_LANE for (int i = 0; i < 12; i++) f->turns[l][i] = turns[i][l];
}

/* ---- facings ---- */

/* R^t: the rotations R(t w). */
static void turn_lanes(const ex_between *b, double t, int first, row r[3][3]) {
    double w[3][LANES], a[LANES], sinc[LANES], most = 0;
    EACH_LANE {
        const double *turn = b->turns + 3 * triangle_of(b, first, l);
        for (int i = 0; i < 3; i++)
            w[i][l] = t * turn[i];
    }
    EACH_LANE {
        const double z = w[0][l] * w[0][l] + w[1][l] * w[1][l] + w[2][l] * w[2][l];
        exi_mixture_factors(z, &a[l], &sinc[l]);
        most = z > most ? z : most;
    }
    EACH_LANE {
        const double x = w[0][l], y = w[1][l], z = w[2][l];
        r[0][0][l] = (float)(1 - a[l] * (y * y + z * z));
        r[0][1][l] = (float)(a[l] * x * y - sinc[l] * z);
        r[0][2][l] = (float)(a[l] * x * z + sinc[l] * y);
        r[1][0][l] = (float)(a[l] * x * y + sinc[l] * z);
        r[1][1][l] = (float)(1 - a[l] * (x * x + z * z));
        r[1][2][l] = (float)(a[l] * y * z - sinc[l] * x);
        r[2][0][l] = (float)(a[l] * x * z - sinc[l] * y);
        r[2][1][l] = (float)(a[l] * y * z + sinc[l] * x);
        r[2][2][l] = (float)(1 - a[l] * (x * x + y * y));
    }
    for (int l = 0; most > EXI_MIXTURE_NEAR && l < LANES; l++) { /* a turn and more */
        double far[3][3];
        exi_turn_matrix((double[3]){w[0][l], w[1][l], w[2][l]}, far);
        for (int i = 0; i < 9; i++)
            r[i / 3][i % 3][l] = (float)far[i / 3][i % 3];
    }
}

void exi_facings_of(const ex_between *b, double t, const double *form, exi_facings *facings) {
    for (int first = 0; first < b->triangle_count; first += LANES, facings++) {
        row r[3][3], e[3][3];
        flat_triangles f;
        turn_lanes(b, t, first, r);
        EACH_LANE {
            const size_t k = triangle_of(b, first, l);
            for (int i = 0; i < 3; i++) {
                e[0][i][l] = (float)b->frames[6 * k + (size_t)i];
                e[1][i][l] = (float)b->frames[6 * k + 3 + (size_t)i];
                e[2][i][l] = (float)b->normals[3 * k + (size_t)i];
            }
        }
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++)
                EACH_LANE facings->frame[k][i][l] =
                    r[i][0][l] * e[k][0][l] + r[i][1][l] * e[k][1][l] + r[i][2][l] * e[k][2][l];
        flatten(b, t, form, first, &f);
        unfold(facings, f.p, f.q);
        keep_turns(f.p, f.q, facings);
    }
}

/* ---- the step ---- */

/* Leans the planes of some triangles towards where their neighbours' rotations would take them. The result is nearly
 * orthogonal: one step of Newton's iteration for the polar factor, B (3 I - B^T B) / 2, makes it so. */
static void lean(const ex_between *b, int first, const exi_facings *facings, row p[3], row q[3]) {
    const exi_facings *own = &facings[first / LANES];
    row sum[12], scale;
    EACH_LANE {
        const int *others = b->neighbours + 3 * triangle_of(b, first, l);
        float total[12] = {0};
        scale[l] = 1;
        for (int k = 0; k < 3; k++) {
            if (others[k] < 0)
                continue;
            const float *turn = facings[others[k] / LANES].turns[others[k] % LANES];
            scale[l] += COUPLING;
            for (int i = 0; i < 12; i++)
                total[i] += turn[i];
        }
        scale[l] = 1 / scale[l];
        for (int i = 0; i < 12; i++)
            sum[i][l] = total[i];
    }
    for (int i = 0; i < 3; i++)
        EACH_LANE {
            const float x = sum[4 * i][l], y = sum[4 * i + 1][l], z = sum[4 * i + 2][l];
            p[i][l] += COUPLING * (x * own->frame[0][0][l] + y * own->frame[0][1][l] + z * own->frame[0][2][l]);
            q[i][l] += COUPLING * (x * own->frame[1][0][l] + y * own->frame[1][1][l] + z * own->frame[1][2][l]);
            p[i][l] *= scale[l];
            q[i][l] *= scale[l];
        }
    EACH_LANE {
        const float pp = p[0][l] * p[0][l] + p[1][l] * p[1][l] + p[2][l] * p[2][l];
        const float pq = p[0][l] * q[0][l] + p[1][l] * q[1][l] + p[2][l] * q[2][l];
        const float qq = q[0][l] * q[0][l] + q[1][l] * q[1][l] + q[2][l] * q[2][l];
        for (int i = 0; i < 3; i++) {
            const float x = p[i][l], y = q[i][l];
            p[i][l] = (1.5F - 0.5F * pp) * x - 0.5F * pq * y;
            q[i][l] = (1.5F - 0.5F * qq) * y - 0.5F * pq * x;
        }
    }
}

void exi_local_step(const ex_between *b, double t, const double *form, exi_facings *facings, double *right) {
    for (int first = 0; first < b->triangle_count; first += LANES) {
        row own[2][3], y1[3], y2[3];
        flat_triangles f;
        flatten(b, t, form, first, &f);
        unfold(&facings[first / LANES], f.p, f.q);
        memcpy(own[0], f.p, sizeof f.p);
        memcpy(own[1], f.q, sizeof f.q);
        lean(b, first, facings, f.p, f.q);
        keep_turns(own[0], own[1], &facings[first / LANES]);
        for (int i = 0; i < 3; i++)
            EACH_LANE { /* area ([p q] S_t - gradient), times the slopes */
                const float u = f.area[l] * (f.p[i][l] * f.s[0][l] + f.q[i][l] * f.s[1][l] - f.du[i][l]);
                const float v = f.area[l] * (f.p[i][l] * f.s[1][l] + f.q[i][l] * f.s[2][l] - f.dv[i][l]);
                y1[i][l] = u * f.slopes[0][l] + v * f.slopes[1][l];
                y2[i][l] = u * f.slopes[2][l] + v * f.slopes[3][l];
            }
        EACH_LANE {
            const int *c = b->triangles + 3 * triangle_of(b, first, l);
            for (int i = 0; f.area[l] > 0 && i < 3; i++) {
                right[3 * c[1] + i] += (double)y1[i][l];
                right[3 * c[2] + i] += (double)y2[i][l];
                right[3 * c[0] + i] -= (double)y1[i][l] + (double)y2[i][l];
            }
        }
    }
}
