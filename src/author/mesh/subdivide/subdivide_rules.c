/*
 * One level of subdivision: the weights of its vertices over those of the level before.
 *
 * Catmull-Clark (E. Catmull, J. Clark, 1978), n edges at the vertex v, far ends e, face centres f:
 *     face   the mean of its corners
 *     edge   (a + b + f1 + f2) / 4, a crease (a + b) / 2
 *     vertex (n - 2)/n v + sum e / n^2 + sum f / n^2, on a crease 3/4 v + (e1 + e2) / 8, a corner v
 * Loop (C. Loop, 1987):
 *     edge   3/8 (a + b) + 1/8 (c + d), a crease (a + b) / 2
 *     vertex (1 - n beta) v + beta sum e, beta = (5/8 - (3/8 + cos(2 pi / n)/4)^2) / n; creases and corners as above
 * Bilinear: means; vertices stay.
 *
 * Semi-sharp creases (T. DeRose, M. Kass, T. Truong, 1998): sharpness decreases by one per level. While it is 1 or more
 * the sharp rule holds, below that a blend. A vertex that is itself sharp is a corner; otherwise one with no or one
 * sharp edge is smooth, with two on a crease, with more a corner. If the next level's vertex has a different rule, the
 * two are blended by the mean of the sharpnesses that end.
 */
#include "author/base/array.h"
#include "author/mesh/subdivide/subdivide.h"

#include <math.h>
#include <stdlib.h>

/* ---- rings ---- */

bool exi_ring_allocate(exi_ring *ring, int most_spokes) {
    const size_t count = (size_t)most_spokes + 1;
    *ring = (exi_ring){0};
    ring->spokes = exi_array_allocate(count, sizeof *ring->spokes);
    ring->edges = exi_array_allocate(count, sizeof *ring->edges);
    ring->sectors = exi_array_allocate(count, sizeof *ring->sectors);
    ring->spoke_sharpness = exi_array_allocate(count, sizeof(double));
    ring->child_spoke_sharpness = exi_array_allocate(count, sizeof(double));
    ring->weights[0] = exi_array_allocate(count, sizeof(double));
    ring->weights[1] = exi_array_allocate(count, sizeof(double));
    return ring->spokes && ring->edges && ring->sectors && ring->spoke_sharpness && ring->child_spoke_sharpness &&
           ring->weights[0] && ring->weights[1];
}

void exi_ring_free(exi_ring *ring) {
    free(ring->spokes);
    free(ring->edges);
    free(ring->sectors);
    free(ring->spoke_sharpness);
    free(ring->child_spoke_sharpness);
    free(ring->weights[0]);
    free(ring->weights[1]);
    *ring = (exi_ring){0};
}

static void add_spoke(exi_ring *ring, const exi_topology *t, int far_end, int edge) {
    ring->spokes[ring->spoke_count] = far_end;
    ring->edges[ring->spoke_count] = edge;
    ring->spoke_sharpness[ring->spoke_count++] = t->edge_sharpness[edge];
}

void exi_ring_read(exi_ring *ring, const exi_topology *t, int v) {
    const int begin = t->vertex_corners[v];
    ring->vertex = v;
    ring->spoke_count = ring->sector_count = 0;
    ring->closed = false;
    ring->sharpness = t->vertex_sharpness[v];
    for (int c = begin; c >= 0;) {
        add_spoke(ring, t, t->corners[exi_next(t, c)], t->corner_edges[c]);
        ring->sectors[ring->sector_count++] = c;
        int previous = exi_previous(t, c);
        c = t->opposites[previous];
        if (c < 0)
            add_spoke(ring, t, t->corners[previous], t->corner_edges[previous]);
        ring->closed = c == begin;
        if (ring->closed)
            break;
    }
}

/* ---- sharpness ---- */

static double one_less(double sharpness) {
    return sharpness >= EXI_SHARP_FOREVER ? sharpness : sharpness > 1 ? sharpness - 1 : 0;
}

/* G. Chaikin's rule: mixes in a quarter of the mean of the other creases at the vertex. */
void exi_ring_sharpen(exi_ring *ring, bool chaikin) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < ring->spoke_count && chaikin; i++)
        if (ring->spoke_sharpness[i] > 0 && ring->spoke_sharpness[i] < EXI_SHARP_FOREVER) {
            sum += ring->spoke_sharpness[i];
            count++;
        }
    for (int i = 0; i < ring->spoke_count; i++) {
        double s = ring->spoke_sharpness[i];
        if (s > 0 && s < EXI_SHARP_FOREVER && count > 1)
            s = 0.75 * s + 0.25 * (sum - s) / (count - 1);
        ring->child_spoke_sharpness[i] = one_less(s);
    }
    ring->child_sharpness = one_less(ring->sharpness);
}

/* ---- vertices ---- */

static int count_sharp(const double *sharpness, int count) {
    int sharp = 0;
    for (int i = 0; i < count; i++)
        sharp += sharpness[i] > 0;
    return sharp;
}

/* Returns 0: smooth, 2: crease, 3: corner. A vertex stays if it has no faces, or nothing is smoothed. */
static int vertex_kind(const exi_subdivide_rules *rules, const exi_ring *ring, double sharpness, const double *spokes) {
    int sharp = count_sharp(spokes, ring->spoke_count);
    if (rules->scheme == EX_SCHEME_BILINEAR || ring->sector_count == 0 || sharpness > 0 || sharp > 2)
        return 3;
    return sharp == 2 ? 2 : 0;
}

static double loop_beta(int n) {
    double c = 0.375 + 0.25 * cos(6.283185307179586477 / n);
    return (0.625 - c * c) / n;
}

/* Adds `factor` times the rule of a kind. */
static void add_rule(const exi_subdivide_rules *rules, const exi_ring *ring, int kind, const double *sharpness,
                     double factor, exi_vertex_mask *mask) {
    const int n = ring->spoke_count;
    if (kind == 3) {
        mask->vertex += factor;
    } else if (kind == 2) {
        mask->vertex += 0.75 * factor;
        for (int i = 0; i < n; i++)
            mask->spokes[i] += sharpness[i] > 0 ? 0.125 * factor : 0;
    } else {
        double spoke = rules->scheme == EX_SCHEME_LOOP ? loop_beta(n) : 1.0 / ((double)n * n);
        mask->vertex += factor * (rules->scheme == EX_SCHEME_LOOP ? 1 - n * spoke : (n - 2.0) / n);
        mask->sector += factor * (rules->scheme == EX_SCHEME_LOOP ? 0 : spoke);
        for (int i = 0; i < n; i++)
            mask->spokes[i] += factor * spoke;
    }
}

/* Share of the old rule where the rule changes: the mean of the sharpnesses that end, at most 1. */
static double old_share(const exi_ring *ring) {
    double sum = 0;
    int count = 0;
    if (ring->sharpness > 0 && !(ring->child_sharpness > 0)) {
        sum += ring->sharpness;
        count++;
    }
    for (int i = 0; i < ring->spoke_count; i++)
        if (ring->spoke_sharpness[i] > 0 && !(ring->child_spoke_sharpness[i] > 0)) {
            sum += ring->spoke_sharpness[i];
            count++;
        }
    if (count == 0)
        return 0;
    return sum / count > 1 ? 1 : sum / count;
}

exi_vertex_mask exi_vertex_rule(const exi_subdivide_rules *rules, const exi_ring *ring) {
    exi_vertex_mask mask = {.spokes = ring->weights[0]};
    const int kind = vertex_kind(rules, ring, ring->sharpness, ring->spoke_sharpness);
    const int next = vertex_kind(rules, ring, ring->child_sharpness, ring->child_spoke_sharpness);
    for (int i = 0; i < ring->spoke_count; i++)
        mask.spokes[i] = 0;
    double share = kind == next ? 1 : old_share(ring);
    if (share > 0)
        add_rule(rules, ring, kind, ring->spoke_sharpness, share, &mask);
    if (share < 1)
        add_rule(rules, ring, next, ring->child_spoke_sharpness, 1 - share, &mask);
    return mask;
}

double exi_edge_rule(const exi_subdivide_rules *rules, double sharpness, double child_a, double child_b) {
    if (rules->scheme == EX_SCHEME_BILINEAR || sharpness >= 1 || (sharpness > 0 && child_a > 0 && child_b > 0))
        return 1;
    return sharpness > 0 ? sharpness : 0;
}

/* ---- a level ---- */

static void add(exi_row_sum *sum, int v, double weight) {
    exi_row_sum_add(sum, v, weight, 0, 0);
}

static void add_face(exi_row_sum *sum, const exi_topology *t, int face, double weight) {
    const int begin = t->face_offsets[face], end = t->face_offsets[face + 1];
    for (int c = begin; c < end && weight != 0; c++)
        add(sum, t->corners[c], weight / (end - begin));
}

/* Adds the smooth rule of an edge with two faces. Triangles among quads ripple under the plain rule; 0.47 in place of
 * 1/4 is OpenSubdiv's remedy. */
static void add_smooth_edge(exi_row_sum *sum, const exi_topology *t, const exi_subdivide_rules *rules, int c,
                            double factor) {
    const int a = t->corners[c], b = t->corners[exi_next(t, c)], other = t->opposites[c];
    if (rules->scheme == EX_SCHEME_LOOP) {
        add(sum, a, 0.375 * factor);
        add(sum, b, 0.375 * factor);
        add(sum, t->corners[exi_previous(t, c)], 0.125 * factor);
        add(sum, t->corners[exi_previous(t, other)], 0.125 * factor);
        return;
    }
    double shares = 0;
    for (int i = 0; i < 2; i++) {
        int f = t->corner_faces[i == 0 ? c : other];
        bool triangle = t->face_offsets[f + 1] - t->face_offsets[f] == 3;
        shares += 0.5 * (rules->smooth_triangles && triangle ? 0.47 : 0.25);
    }
    add(sum, a, (0.5 - shares) * factor);
    add(sum, b, (0.5 - shares) * factor);
    add_face(sum, t, t->corner_faces[c], shares * factor);
    add_face(sum, t, t->corner_faces[other], shares * factor);
}

static void add_edge(exi_row_sum *sum, const exi_topology *t, const exi_subdivide_rules *rules, int edge,
                     const double child[2]) {
    const int c = t->edge_corners[edge];
    double sharp = t->opposites[c] < 0 ? 1 : exi_edge_rule(rules, t->edge_sharpness[edge], child[0], child[1]);
    add(sum, t->corners[c], 0.5 * sharp);
    add(sum, t->corners[exi_next(t, c)], 0.5 * sharp);
    if (sharp < 1)
        add_smooth_edge(sum, t, rules, c, 1 - sharp);
}

static void add_vertex(exi_row_sum *sum, const exi_topology *t, const exi_subdivide_rules *rules,
                       const exi_ring *ring) {
    exi_vertex_mask mask = exi_vertex_rule(rules, ring);
    add(sum, ring->vertex, mask.vertex);
    for (int i = 0; i < ring->spoke_count; i++)
        add(sum, ring->spokes[i], mask.spokes[i]);
    for (int i = 0; i < ring->sector_count; i++)
        add_face(sum, t, t->corner_faces[ring->sectors[i]], mask.sector);
}

/* Makes the rows of vertices, and their new sharpness and that of the near half of their edges. */
static bool level_vertices(const exi_topology *t, const exi_subdivide_rules *rules, exi_ring *ring, exi_row_sum *sum,
                           exi_rows *out, double *child_sharpness, double *child_vertex_sharpness) {
    for (int v = 0; v < t->vertex_count; v++) {
        exi_ring_read(ring, t, v);
        exi_ring_sharpen(ring, rules->chaikin);
        child_vertex_sharpness[v] = ring->child_sharpness;
        for (int i = 0; i < ring->spoke_count; i++) {
            int e = ring->edges[i];
            child_sharpness[2 * (size_t)e + (t->corners[t->edge_corners[e]] == v ? 0 : 1)] =
                ring->child_spoke_sharpness[i];
        }
        add_vertex(sum, t, rules, ring);
        if (!exi_rows_append(out, sum))
            return false;
    }
    return true;
}

bool exi_subdivide_level(const exi_topology *t, const exi_subdivide_rules *rules, exi_row_sum *sum, exi_rows *out,
                         double *child_sharpness, double *child_vertex_sharpness) {
    exi_ring ring;
    for (int e = 0; e < t->edge_count; e++) /* at pinched vertices the ring does not reach all edges */
        child_sharpness[2 * (size_t)e] = child_sharpness[2 * (size_t)e + 1] = one_less(t->edge_sharpness[e]);
    bool good = exi_ring_allocate(&ring, t->most_spokes) &&
                level_vertices(t, rules, &ring, sum, out, child_sharpness, child_vertex_sharpness);
    exi_ring_free(&ring);
    for (int e = 0; e < t->edge_count && good; e++) {
        add_edge(sum, t, rules, e, child_sharpness + 2 * (size_t)e);
        good = exi_rows_append(out, sum);
    }
    for (int f = 0; f < t->face_count && rules->scheme != EX_SCHEME_LOOP && good; f++) {
        add_face(sum, t, f, 1);
        good = exi_rows_append(out, sum);
    }
    return good;
}
