/*
 * Measures a registered template: distances to the scan's own triangles, not to the points that stand for it; a
 * confidence for every vertex; the share of the scan that it covers; and triangles that were turned over.
 */
#include "author/mesh/mesh_search.h"
#include "author/scan/register/register.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points of the scan that are tried for the share covered. */
enum { COVER_MOST = 20000 };

/* Distance to the scan: to its triangles, or to the plane of the point that the vertex is matched with. */
static double distance(const exi_reg_matcher *m, const exi_search *faces, int vertex, double reach) {
    const exi_reg_point *own = &m->points[vertex], *point = &m->scan->points[m->forward[vertex]];
    ex_closest found;
    double along = 0;
    for (int k = 0; k < 3; k++)
        along += (double)(point->at[k] - own->at[k]) * (double)point->normal[k];
    along = fabs(along);
    if (ex_bounds_closest(faces->bounds, own->at, (float)(2 * reach), &found))
        return fmin(sqrt((double)found.distance_sq), fmax(along, reach));
    return along;
}

static void measure_vertices(exi_reg_matcher *m, const exi_search *faces, const exi_reg_rule *rule, double noise,
                             ex_registered *out) {
    const double scale = fmax(m->scale, noise);
    double sum = 0;
    for (int v = 0; v < m->shape->count; v++) {
        out->confidences[v] = 0;
        if (m->shape->loose[v] || (m->def->matching && !(m->def->matching[v] > 0)))
            continue;
        if (m->forward[v] < 0) {
            out->unmatched_count++;
            continue;
        }
        const double away = distance(m, faces, v, rule->reach), part = away / (3 * scale);
        double facing = 0;
        for (int k = 0; k < 3; k++)
            facing += (double)m->points[v].normal[k] * (double)m->scan->points[m->forward[v]].normal[k];
        facing = fmin(1, fmax(0, (facing - rule->facing) / (0.9 - rule->facing)));
        const double sure = facing / ((1 + part * part) * (1 + part * part));
        out->confidences[v] = (float)sure;
        if (!(sure > 0)) {
            out->unmatched_count++;
            continue;
        }
        out->matched_count++;
        sum += away * away;
    }
    out->rms = out->matched_count > 0 ? sqrt(sum / out->matched_count) : 0;
}

static void measure_cover(const exi_reg_matcher *m, const exi_reg_rule *rule, ex_registered *out) {
    const int step = m->scan->count / COVER_MOST + 1;
    double near = 0, all = 0;
    for (int i = 0; i < m->scan->count; i += step) {
        int vertices[3];
        double shares[3];
        const exi_reg_point *point = &m->scan->points[i];
        const int v = exi_reg_tree_nearest(&m->own, point, rule->reach + EXI_REG_SLACK * m->shape->edge, 0);
        all += (double)m->scan->areas[i];
        if (v >= 0 && !m->shape->loose[v] &&
            exi_reg_closest_around(m->shape, (const double(*)[3])out->vertices, v, point, vertices, shares) <
                rule->reach)
            near += (double)m->scan->areas[i];
    }
    double kept = 0;
    for (int i = 0; i < m->scan->count; i++)
        kept += (double)m->scan->areas[i];
    out->covered = all > 0 && kept + m->scan->left_out > 0 ? near / all * kept / (kept + m->scan->left_out) : 0;
}

/* Triangles whose normal opposes that of one of their corners. */
static bool is_turned_over(const exi_reg_shape *s, const double (*x)[3], const exi_reg_point *points, int triangle) {
    const uint32_t *c = s->triangles + 3 * (size_t)triangle;
    double a[3], b[3], n[3], facing = 0;
    exi_subtract(x[c[1]], x[c[0]], a);
    exi_subtract(x[c[2]], x[c[0]], b);
    exi_cross(a, b, n);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            facing += n[k] * (double)points[c[i]].normal[k];
    return facing < 0;
}

static ex_result count_flipped(const exi_reg_matcher *m, const double (*start)[3], ex_registered *out,
                               ex_error *error) {
    exi_reg_point *before = exi_array_allocate((size_t)m->shape->count, sizeof *before);
    if (!before)
        return ex_error_memory(error, "the template", (size_t)m->shape->count * sizeof *before);
    exi_reg_shape_points(m->shape, start, before);
    for (int t = 0; t < m->shape->triangle_count; t++)
        out->flipped_count += is_turned_over(m->shape, (const double(*)[3])out->vertices, m->points, t) &&
                              !is_turned_over(m->shape, start, before, t);
    free(before);
    return EX_OK;
}

ex_result exi_reg_measure(exi_reg_matcher *m, const double (*start)[3], const exi_reg_rule *rule, double noise,
                          ex_registered *out, ex_error *error) {
    exi_search faces;
    ex_result result = exi_search_make(&faces, m->def->scans, m->def->scan_count, error);
    if (result == EX_OK) {
        measure_vertices(m, &faces, rule, noise, out);
        measure_cover(m, rule, out);
        result = count_flipped(m, start, out, error);
    }
    exi_search_free(&faces);
    double sum = 0;
    for (int a = 0; a < m->def->anchor_count; a++) {
        double at[3], d[3];
        exi_reg_anchor_at(&m->def->anchors[a], (const double(*)[3])out->vertices, at);
        exi_subtract(at, m->def->anchors[a].target, d);
        sum += exi_dot3(d, d);
    }
    out->anchor_rms = m->def->anchor_count > 0 ? sqrt(sum / m->def->anchor_count) : 0;
    out->sample_count = m->scan->count;
    return result;
}
