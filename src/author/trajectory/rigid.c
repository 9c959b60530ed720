/*
 * As-rigid-as-possible forms.
 *
 * Solves Poisson's system (between.c) with rotations that are found together with the form. Local step: every triangle
 * takes the rotation that brings (1 - t) I + t S nearest to its gradient (facings.c). Global step: solve again. Starts
 * from Poisson's form and does a fixed number of steps.
 *
 * Nothing in this energy keeps triangles from folding: without more, the surface crumples where it is squeezed. So a
 * triangle's rotation, relative to R^t, leans by COUPLING towards each of its neighbours', and steps have momentum
 * (Nesterov's, restarted where it leads uphill), with which 30 steps get as far as 200 without. On the kick of
 * body_kick, 0 to 48 half-way: 99th percentile of stretch 0.036 after 30 plain steps, with 31 edges folded by 20
 * degrees more than in either end; 0.020 and 99 edges after 200; with both, 0.026 and 18. Triangles that fold over all
 * the same are turned back (facings.c): between five poses of a human body, a fortieth of the folds is left.
 *
 * The form may rotate as a whole meanwhile, and is aligned with Poisson's again.
 */
#include <math.h>
#include <string.h>

#include "author/trajectory/surface.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"

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

/* ---- steps ---- */

double exi_further(double uphill, double *momentum) {
    const double before = *momentum;
    *momentum = uphill > 0 ? 1 : 0.5 * (1 + sqrt(1 + 4 * before * before));
    return uphill > 0 ? 0 : (before - 1) / *momentum;
}

/* Computes the next point to look at, in `at`: beyond `now`, seen from `last`, unless that leads uphill. */
static void advance(size_t count, const double *now, const double *last, double *at, double *momentum) {
    double uphill = 0;
    for (size_t i = 0; i < count; i++)
        uphill += (at[i] - now[i]) * (now[i] - last[i]);
    const double further = exi_further(uphill, momentum);
    for (size_t i = 0; i < count; i++)
        at[i] = now[i] + further * (now[i] - last[i]);
}

/* Aligns the last form with the first. */
static void settle(const ex_between *b, const double *last, const double *first, double *positions) {
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

void exi_between_rigid_several(const ex_between *const *betweens, int count, double t, int steps,
                               double *const *positions, double *const *work) {
    const size_t n = 3 * (size_t)betweens[0]->vertex_count; /* work: the pull, the first form, the last, the rest */
    double momentum[EXI_TOGETHER];
    void *facings[EXI_TOGETHER];
    exi_goal *goals[EXI_TOGETHER];
    for (int i = 0; i < count; i++) {
        const ex_between *b = betweens[i];
        momentum[i] = 1;
        facings[i] = work[i] + 3 * n;
        goals[i] = exi_between_goals(b, work[i]);
        exi_between_poisson(b, t, positions[i], work[i]);
        exi_goals_set(b, t, goals[i]);
        memcpy(work[i] + n, positions[i], n * sizeof **work);
        memcpy(work[i] + 2 * n, positions[i], n * sizeof **work);
    }
    for (int k = 0; k < steps; k++) {
        for (int i = 0; i < count; i++) {
            exi_local_step(betweens[i], goals[i], positions[i], facings[i], work[i]);
            exi_links_pull(betweens[i], t, positions[i], work[i]);
        }
        exi_between_solve_changes(betweens[0], count, work, work);
        for (int i = 0; i < count; i++) {
            double *right = work[i], *last = right + 2 * n;
            for (size_t v = 0; v < n; v++)
                right[v] += positions[i][v];
            advance(n, right, last, positions[i], &momentum[i]);
            memcpy(last, right, n * sizeof *last);
        }
    }
    for (int i = 0; i < count; i++)
        settle(betweens[i], work[i] + 2 * n, work[i] + n, positions[i]);
}

void exi_between_rigid(const ex_between *b, double t, int steps, double *positions, double *work) {
    exi_between_rigid_several(&b, 1, t, steps, &positions, &work);
}
