/*
 * Closest points in both directions.
 *
 * Each vertex of the template finds the nearest point of the scan that faces the same way, and some points of the scan
 * find the template's surface, so that a limb which no vertex reaches pulls too. A vertex is not matched
 *   - onto the rim of a hole: there the surface is missing, not near;
 *   - if the point found is itself nearest to a part of the skin far from the vertex at rest: a hand that rests on the
 *     thigh finds the thigh, but the thigh's point is nearest to the thigh.
 * Residuals r get the weight of Geman and McClure, (m / (m + r^2))^2 with m = (TUNING scale)^2. The scale is estimated
 * from the residuals: 1.4826 times their median.
 */
#include "author/scan/register/register.h"

#include "author/base/array.h"
#include "runtime/base/memory.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TUNING 2.5
/* Distance at rest, in sizes of the template, up to which skin counts as the same place; and in residuals. */
#define SAME_SKIN     0.03
#define SAME_RESIDUAL 1.5
/* A gap in the directions of a point's neighbours that makes it a rim, in radians. */
#define RIM_GAP 2.2
/* Pulls that slide must be beside their point, in spacings of the scan's points. */
#define BESIDE 2.0
/* Vertices with more skin than this, in squares of the typical edge, are matched at every level. */
#define DENSE 0.7
enum { GRAIN = 256, AROUND = 48, AROUND_LEAST = 4 };

/* ---- rims ---- */

static int order_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* True if the directions to a point's neighbours leave a gap. */
static bool is_rim(const exi_reg_scan *scan, const exi_reg_tree *tree, int point) {
    const exi_reg_point *own = &scan->points[point];
    int found[AROUND];
    double angles[AROUND + 1], n[3], a[3] = {0}, b[3];
    int count = exi_reg_tree_around(tree, own, 2 * scan->spacing, 0.2, AROUND, found), used = 0, least = 0;
    for (int k = 0; k < 3; k++) {
        n[k] = (double)own->normal[k];
        least = fabs(n[k]) < fabs(n[least]) ? k : least;
    }
    a[least] = 1;
    exi_cross(n, a, b);
    (void)exi_unit3(b);
    exi_cross(b, n, a);
    for (int i = 0; i < count; i++) {
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = (double)(scan->points[found[i]].at[k] - own->at[k]);
        const double x = exi_dot3(d, a), y = exi_dot3(d, b);
        if (x * x + y * y > 0.01 * scan->spacing * scan->spacing)
            angles[used++] = atan2(y, x);
    }
    if (used < AROUND_LEAST)
        return true;
    qsort(angles, (size_t)used, sizeof *angles, order_numbers);
    angles[used] = angles[0] + 2 * 3.14159265358979;
    double gap = 0;
    for (int i = 0; i < used; i++)
        gap = fmax(gap, angles[i + 1] - angles[i]);
    return gap > RIM_GAP;
}

/* ---- from the template to the scan ---- */

typedef struct job {
    exi_reg_matcher *m;
    const exi_reg_rule *rule;
} job;

static double rest_distance(const exi_reg_shape *s, int a, int b) {
    double d[3];
    exi_subtract(s->rest[a], s->rest[b], d);
    return sqrt(exi_dot3(d, d));
}

static double facing_of(const exi_reg_point *a, const exi_reg_point *b) {
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (double)a->normal[k] * (double)b->normal[k];
    return sum;
}

static double distance_of(const exi_reg_point *a, const exi_reg_point *b) {
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (double)(a->at[k] - b->at[k]) * (double)(a->at[k] - b->at[k]);
    return sqrt(sum);
}

/* The number of vertices that a vertex stands for; 0 if it is passed over. Those with much skin always count: hands and
 * face have most of a template's vertices, and the trunk few. */
static int times_of(const exi_reg_matcher *m, const exi_reg_rule *rule, int vertex) {
    if (m->shape->areas[vertex] > DENSE * m->shape->edge * m->shape->edge)
        return 1;
    return vertex % rule->stride == 0 ? rule->stride : 0;
}

static void find_some(void *context, int begin, int end) {
    const job *j = context;
    exi_reg_matcher *m = j->m;
    for (int v = begin; v < end; v++) {
        const bool wanted = times_of(m, j->rule, v) > 0 && (!m->def->matching || m->def->matching[v] > 0);
        int found = wanted ? exi_reg_tree_nearest(m->tree, &m->points[v], j->rule->reach, j->rule->facing) : -1;
        if (found >= 0) {
            const exi_reg_point *point = &m->scan->points[found];
            const int back = exi_reg_tree_nearest(&m->own, point, INFINITY, j->rule->facing);
            if (back < 0 || rest_distance(m->shape, v, back) >
                                SAME_SKIN * m->shape->size + SAME_RESIDUAL * distance_of(point, &m->points[v]))
                found = -1;
        }
        m->forward[v] = found;
    }
}

/* The residual as the energy has it. */
static double residual(const double d[3], const double n[3], double across) {
    const double along = exi_dot3(d, n);
    return sqrt(across * exi_dot3(d, d) + (1 - across) * along * along);
}

static void between(const exi_reg_point *from, const exi_reg_point *to, double d[3], double n[3]) {
    for (int k = 0; k < 3; k++) {
        d[k] = (double)(to->at[k] - from->at[k]);
        n[k] = (double)to->normal[k];
    }
}

/* Drops matches onto rims and those that lie beside their vertex; collects the residuals of the others. */
static int sift(exi_reg_matcher *m, const exi_reg_rule *rule) {
    int count = 0;
    for (int v = 0; v < m->shape->count; v++) {
        const int found = m->forward[v];
        double d[3], n[3];
        if (found < 0)
            continue;
        between(&m->points[v], &m->scan->points[found], d, n);
        const double along = exi_dot3(d, n), beside = sqrt(fmax(0, exi_dot3(d, d) - along * along));
        if (m->scan->rims[found] < 0)
            m->scan->rims[found] = is_rim(m->scan, m->tree, found);
        if (m->scan->rims[found] || (rule->across < 0.07 && beside > BESIDE * m->scan->spacing + fabs(along)))
            m->forward[v] = -1;
        else
            m->residuals[count++] =
                (exi_reg_residual){residual(d, n, rule->across), m->shape->areas[v] * times_of(m, rule, v)};
    }
    return count;
}

static double robust(double r, double scale) {
    const double m = TUNING * TUNING * scale * scale;
    return m / (m + r * r) * (m / (m + r * r));
}

/* ---- from the scan to the template ---- */

double exi_reg_closest_around(const exi_reg_shape *s, const double (*x)[3], int vertex, const exi_reg_point *point,
                              int vertices[3], double shares[3]) {
    const double q[3] = {(double)point->at[0], (double)point->at[1], (double)point->at[2]};
    double least = INFINITY;
    for (int i = s->around_starts[vertex]; i < s->around_starts[vertex + 1]; i++) {
        const uint32_t *c = s->triangles + 3 * (size_t)s->around[i];
        double found[3];
        const double sq = exi_reg_closest(x[c[0]], x[c[1]], x[c[2]], q, found);
        if (!(sq < least))
            continue;
        least = sq;
        for (int k = 0; k < 3; k++) {
            vertices[k] = (int)c[k];
            shares[k] = found[k];
        }
    }
    return sqrt(least);
}

typedef struct back_job {
    exi_reg_matcher *m;
    const exi_reg_rule *rule;
    const double (*x)[3];
    int step;
    exi_reg_pull *pulls;
} back_job;

static void back_some(void *context, int begin, int end) {
    const back_job *j = context;
    const exi_reg_matcher *m = j->m;
    for (int i = begin; i < end; i++) {
        const exi_reg_point *point = &m->scan->points[i * j->step];
        exi_reg_pull *pull = &j->pulls[i];
        pull->weight = 0;
        const int v =
            exi_reg_tree_nearest(&m->own, point, j->rule->reach + EXI_REG_SLACK * m->shape->edge, j->rule->facing);
        if (v < 0 || (m->def->matching && !(m->def->matching[v] > 0)) || m->shape->loose[v])
            continue;
        const double away = exi_reg_closest_around(m->shape, j->x, v, point, pull->vertices, pull->shares);
        if (!(away < j->rule->reach))
            continue;
        double d[3] = {0};
        for (int k = 0; k < 3; k++) {
            pull->target[k] = (double)point->at[k];
            pull->normal[k] = (double)point->normal[k];
            d[k] = pull->target[k];
            for (int c = 0; c < 3; c++)
                d[k] -= pull->shares[c] * j->x[pull->vertices[c]][k];
        }
        pull->across = j->rule->across;
        pull->weight = robust(residual(d, pull->normal, j->rule->across), m->scale) * facing_of(point, &m->points[v]) *
                       (m->def->matching ? (double)m->def->matching[v] : 1);
    }
}

/* ---- both ---- */

static int order_residuals(const void *a, const void *b) {
    const exi_reg_residual *x = a, *y = b;
    return (x->size > y->size) - (x->size < y->size);
}

/* The median, by area. */
static double middle(exi_reg_residual *residuals, int count) {
    double total = 0, sum = 0;
    if (count == 0)
        return 0;
    qsort(residuals, (size_t)count, sizeof *residuals, order_residuals);
    for (int i = 0; i < count; i++)
        total += residuals[i].area;
    int at = 0;
    while (at < count - 1 && (sum += residuals[at].area) < total / 2)
        at++;
    return residuals[at].size;
}

static int forward_pulls(exi_reg_matcher *m, const exi_reg_rule *rule, exi_reg_pull *pulls) {
    int count = 0;
    for (int v = 0; v < m->shape->count; v++) {
        const int found = m->forward[v];
        double d[3], n[3];
        m->forward_weights[v] = 0;
        if (found < 0)
            continue;
        const exi_reg_point *point = &m->scan->points[found];
        between(&m->points[v], point, d, n);
        double w = robust(residual(d, n, rule->across), m->scale) * facing_of(point, &m->points[v]);
        w *= m->def->matching ? (double)m->def->matching[v] : 1;
        m->forward_weights[v] = (float)w;
        exi_reg_pull *pull = &pulls[count++];
        *pull = (exi_reg_pull){.vertices = {v, v, v}, .shares = {1, 0, 0}, .across = rule->across};
        pull->weight = w * m->shape->areas[v] * times_of(m, rule, v);
        for (int k = 0; k < 3; k++) {
            pull->target[k] = (double)point->at[k];
            pull->normal[k] = n[k];
        }
    }
    return count;
}

ex_result exi_reg_match(exi_reg_matcher *m, const double (*x)[3], const exi_reg_rule *rule, exi_reg_pull *pulls,
                        int *pull_count, ex_error *error) {
    const exi_reg_shape *s = m->shape;
    exi_reg_shape_points(s, x, m->points);
    exi_reg_tree_free(&m->own);
    if (!exi_reg_tree_make(m->points, s->count, (double)m->tree->length, &m->own))
        return ex_error_memory(error, "the search of closest points", (size_t)s->count * 40);
    exi_run(m->def->tasks, s->count, GRAIN, find_some, &(job){m, rule});
    m->matched = sift(m, rule);
    const double scale = 1.4826 * middle(m->residuals, m->matched);
    m->scale = fmin(fmax(scale, rule->floor), fmax(rule->reach / 2, rule->floor));
    *pull_count = forward_pulls(m, rule, pulls);
    m->back_matched = 0;
    if (rule->back_most < 1)
        return EX_OK;
    const int step = (m->scan->count + rule->back_most - 1) / rule->back_most;
    const int tries = (m->scan->count + step - 1) / step;
    exi_reg_pull *back = pulls + *pull_count;
    exi_run(m->def->tasks, tries, GRAIN, back_some, &(back_job){m, rule, x, step, back});
    for (int i = 0; i < tries; i++)
        if (back[i].weight > 0)
            back[m->back_matched++] = back[i];
    for (int i = 0; i < m->back_matched; i++)
        back[i].weight *= rule->back * exi_reg_point_area(m->scan) * step;
    *pull_count += m->back_matched;
    return EX_OK;
}
