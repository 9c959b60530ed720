/*
 * As-rigid-as-possible forms.
 *
 * Solves Poisson's system (between.c) with rotations that are found together with the form. Local step: every triangle
 * takes the rotation that brings (1 - t) I + t S nearest to its gradient; in its plane, with P = [dx/du dx/dv] S_t (3 x
 * 2), that is P (P^T P)^(-1/2), in closed form. Global step: solve again. Starts from Poisson's form and does a fixed
 * number of steps.
 *
 * Nothing in this energy keeps triangles from folding: without more, the surface crumples where it is squeezed. So a
 * triangle's rotation, relative to R^t, leans by COUPLING towards each of its neighbours', and steps have momentum
 * (Nesterov's, restarted where it leads uphill), with which 30 steps get as far as 200 without. On the kick of
 * body_kick, 0 to 48 half-way: 99th percentile of stretch 0.036 after 30 plain steps, with 31 edges folded by 20
 * degrees more than in either end; 0.020 and 99 edges after 200; with both, 0.026 and 18.
 *
 * The form may rotate as a whole meanwhile, and is aligned with Poisson's again.
 */
#include <math.h>
#include <string.h>

#include "author/trajectory/surface.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"

#define COUPLING 0.01

/* ---- links ---- */

/* Adds to m the rotation of the triangles around a vertex at time t, or, with a form, their rotation in it. Those
 * without area add nothing; a vertex with many of them has as many links that count. */
static void add_turns(const ex_between *b, int vertex, double t, const double *form, double m[12]) {
    for (int k = b->triangle_starts[vertex]; k < b->triangle_starts[vertex + 1]; k++) {
        const int triangle = b->triangle_list[k] / 3, *c = b->triangles + 3 * triangle;
        if (b->areas[triangle] == 0)
            continue;
        const double *slopes = b->slopes + 9 * triangle, *n0 = b->normals + 3 * triangle;
        double w[3], r[3][3], e1[3], e2[3], n[3];
        if (form) {
            exi_subtract(form + 3 * c[1], form + 3 * c[0], e1);
            exi_subtract(form + 3 * c[2], form + 3 * c[0], e2);
            exi_cross(e1, e2, n);
            exi_unit3(n);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    r[i][j] = form[3 * c[0] + i] * slopes[j] + form[3 * c[1] + i] * slopes[3 + j] +
                              form[3 * c[2] + i] * slopes[6 + j] + n[i] * n0[j];
        } else {
            for (int i = 0; i < 3; i++)
                w[i] = t * b->turns[3 * triangle + i];
            exi_turn_matrix(w, r);
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                m[4 * i + j] += b->areas[triangle] * r[i][j];
    }
}

/* Computes one rotation for all links between two components. One for each link would feed back, since a link may be
 * long and easily rotates the few triangles at its ends. */
int exi_link_group(const ex_between *b, int first, double t, const double *form, double rotation[3][3]) {
    double m[12] = {0}, stretch[3][3];
    int end = first;
    for (; end < b->link_count && b->links[end].group == b->links[first].group; end++)
        for (int e = 0; e < 2; e++)
            add_turns(b, b->links[end].vertices[e], t, form, m);
    exi_polar(m, rotation, stretch);
    return end;
}

void exi_links_pull(const ex_between *b, double t, const double *form, double *right) {
    for (int begin = 0; begin < b->link_count;) {
        double rotation[3][3];
        const int end = exi_link_group(b, begin, t, form, rotation);
        for (; begin < end; begin++) {
            const exi_link *link = &b->links[begin];
            double d[3];
            for (int i = 0; i < 3; i++)
                d[i] = (1 - t) * link->start[i] + t * link->end[i];
            exi_apply(rotation, d, d);
            for (int i = 0; i < 3; i++) {
                const double now = form ? form[3 * link->vertices[0] + i] - form[3 * link->vertices[1] + i] : 0;
                right[3 * link->vertices[0] + i] += link->weight * (d[i] - now);
                right[3 * link->vertices[1] + i] -= link->weight * (d[i] - now);
            }
        }
    }
}

/* ---- triangles ---- */

void exi_facing_begin(const ex_between *b, int triangle, double r[3][3], exi_facing *f) {
    for (int k = 0; k < 3; k++) {
        const double *e = k < 2 ? b->frames + 6 * (size_t)triangle + 3 * k : b->normals + 3 * (size_t)triangle;
        double turned[3];
        exi_apply(r, e, turned);
        for (int i = 0; i < 3; i++) {
            f->frame[k][i] = (float)turned[i];
            f->turn[k][i] = k == i;
        }
    }
}

/* out = [p q] G^(-1/2), G being their products: the nearest pair of perpendicular unit directions. */
static void straighten(const double p[3], const double q[3], double f1[3], double f2[3]) {
    const double xx = exi_dot3(p, p), xy = exi_dot3(p, q), yy = exi_dot3(q, q), determinant = xx * yy - xy * xy;
    const double s = sqrt(determinant > 1e-30 * xx * yy ? determinant : 1e-30 * xx * yy);
    const double r = sqrt(xx + yy + 2 * s), scale = s * r > 0 ? 1 / (s * r) : 0;
    const double a = (yy + s) * scale, b = -xy * scale, c = (xx + s) * scale;
    for (int i = 0; i < 3; i++) {
        const double x = p[i], y = q[i];
        f1[i] = a * x + b * y;
        f2[i] = b * x + c * y;
    }
}

/* Leans a triangle's plane towards where its neighbours' rotations would take it. The result is nearly orthogonal: one
 * step of Newton's iteration for the polar factor, B (3 I - B^T B) / 2, makes it so. */
static void lean(const ex_between *b, int triangle, const exi_facing *facings, double f1[3], double f2[3]) {
    const exi_facing *own = &facings[triangle];
    const int *others = b->neighbours + 3 * (size_t)triangle;
    float sum[3][3] = {{0}};
    int count = 0;
    for (int k = 0; k < 3; k++) {
        if (others[k] < 0)
            continue;
        const exi_facing *other = &facings[others[k]];
        count++;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                sum[i][j] += other->turn[i][j];
    }
    static const double scales[4] = {1, 1 / (1 + COUPLING), 1 / (1 + 2 * COUPLING), 1 / (1 + 3 * COUPLING)};
    const double scale = scales[count];
    double p[3], q[3];
    for (int i = 0; i < 3; i++) {
        const float x = sum[i][0], y = sum[i][1], z = sum[i][2];
        p[i] =
            scale * (f1[i] + COUPLING * (double)(x * own->frame[0][0] + y * own->frame[0][1] + z * own->frame[0][2]));
        q[i] =
            scale * (f2[i] + COUPLING * (double)(x * own->frame[1][0] + y * own->frame[1][1] + z * own->frame[1][2]));
    }
    const double a = 1.5 - 0.5 * exi_dot3(p, p), c = -0.5 * exi_dot3(p, q), d = 1.5 - 0.5 * exi_dot3(q, q);
    for (int i = 0; i < 3; i++) {
        f1[i] = a * p[i] + c * q[i];
        f2[i] = c * p[i] + d * q[i];
    }
}

/* Stores the rotation that takes the frame to f1, f2 and their normal. */
static void keep_turn(const double f1[3], const double f2[3], exi_facing *f) {
    double n[3];
    exi_cross(f1, f2, n);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            f->turn[i][j] =
                (float)f1[i] * f->frame[0][j] + (float)f2[i] * f->frame[1][j] + (float)n[i] * f->frame[2][j];
}

/* A triangle's gradient in its plane, its S_t, and the nearest pair of perpendicular directions to their product. */
typedef struct flat_triangle {
    double du[3], dv[3], sx, sxy, sy, p[3], q[3];
} flat_triangle;

static inline void flatten(const ex_between *b, double t, const double *form, int triangle, flat_triangle *f) {
    const double *plane = b->planes + 8 * (size_t)triangle;
    const int *c = b->triangles + 3 * (size_t)triangle;
    const double *x0 = form + 3 * c[0], *x1 = form + 3 * c[1], *x2 = form + 3 * c[2];
    f->sx = 1 - t + t * plane[4];
    f->sxy = t * plane[5];
    f->sy = 1 - t + t * plane[6];
    for (int i = 0; i < 3; i++) {
        const double d1 = x1[i] - x0[i], d2 = x2[i] - x0[i];
        f->du[i] = plane[0] * d1 + plane[2] * d2;
        f->dv[i] = plane[1] * d1 + plane[3] * d2;
        f->p[i] = f->du[i] * f->sx + f->dv[i] * f->sxy;
        f->q[i] = f->du[i] * f->sxy + f->dv[i] * f->sy;
    }
    straighten(f->p, f->q, f->p, f->q);
}

void exi_facings_of(const ex_between *b, double t, const double *form, exi_facing *facings) {
    for (int k = 0; k < b->triangle_count; k++) {
        const double w[3] = {t * b->turns[3 * k], t * b->turns[3 * k + 1], t * b->turns[3 * k + 2]};
        double r[3][3];
        flat_triangle f;
        if (b->areas[k] == 0)
            continue;
        exi_turn_matrix(w, r);
        exi_facing_begin(b, k, r, &facings[k]);
        flatten(b, t, form, k, &f);
        keep_turn(f.p, f.q, &facings[k]);
    }
}

void exi_local_step(const ex_between *b, double t, const double *form, exi_facing *facings, double *right) {
    for (int k = 0; k < b->triangle_count; k++) {
        const double *plane = b->planes + 8 * (size_t)k, area = plane[7];
        const int *c = b->triangles + 3 * (size_t)k;
        flat_triangle f;
        if (area == 0)
            continue;
        flatten(b, t, form, k, &f);
        double own[2][3];
        memcpy(own[0], f.p, sizeof f.p);
        memcpy(own[1], f.q, sizeof f.q);
        lean(b, k, facings, f.p, f.q);
        keep_turn(own[0], own[1], &facings[k]);
        double *r0 = right + 3 * c[0], *r1 = right + 3 * c[1], *r2 = right + 3 * c[2];
        for (int i = 0; i < 3; i++) {
            /* area ([p q] S_t - gradient), times the slopes */
            const double a = area * (f.p[i] * f.sx + f.q[i] * f.sxy - f.du[i]);
            const double c2 = area * (f.p[i] * f.sxy + f.q[i] * f.sy - f.dv[i]);
            const double y1 = a * plane[0] + c2 * plane[1], y2 = a * plane[2] + c2 * plane[3];
            r1[i] += y1;
            r2[i] += y2;
            r0[i] -= y1 + y2;
        }
    }
}

void exi_advance(size_t count, const double *now, const double *last, double *at, double *momentum) {
    double uphill = 0;
    for (size_t i = 0; i < count; i++)
        uphill += (at[i] - now[i]) * (now[i] - last[i]);
    const double before = *momentum;
    *momentum = uphill > 0 ? 1 : 0.5 * (1 + sqrt(1 + 4 * before * before));
    const double further = uphill > 0 ? 0 : (before - 1) / *momentum;
    for (size_t i = 0; i < count; i++)
        at[i] = now[i] + further * (now[i] - last[i]);
}

void exi_between_rigid(const ex_between *b, double t, int steps, double *positions, double *work) {
    const size_t n = 3 * (size_t)b->vertex_count;
    double *right = work, *first = work + n, *last = work + 2 * n, momentum = 1;
    exi_facing *facings = (exi_facing *)(work + 3 * n);
    exi_between_poisson(b, t, positions, work);
    memcpy(first, positions, n * sizeof *first);
    memcpy(last, positions, n * sizeof *last);
    for (int k = 0; k < steps; k++) {
        memset(right, 0, n * sizeof *right);
        exi_local_step(b, t, positions, facings, right);
        exi_links_pull(b, t, positions, right);
        exi_between_solve_change(b, right, work);
        for (size_t i = 0; i < n; i++)
            right[i] += positions[i];
        exi_advance(n, right, last, positions, &momentum);
        memcpy(last, right, n * sizeof *last);
    }
    double rotation[3][3], from[3], to[3];
    exi_surface_fit(b->vertex_count, b->vertex_areas, last, first, rotation, from, to);
    for (int v = 0; v < b->vertex_count; v++) {
        double arm[3];
        exi_subtract(last + 3 * v, from, arm);
        exi_apply(rotation, arm, arm);
        for (int i = 0; i < 3; i++)
            positions[3 * v + i] = to[i] + arm[i];
    }
}
