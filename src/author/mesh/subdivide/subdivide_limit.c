/*
 * Limit points and tangents: left eigenvectors of the matrix that takes the ring around a vertex to the ring one level
 * on. A ring is the vertex v, its n spokes e and, for Catmull-Clark, the far corners f of the quads between them. The
 * eigenvector of the eigenvalue 1 gives the point, those of the next largest eigenvalues the tangents.
 *
 * Smooth (M. Halstead, M. Kass, T. DeRose, 1993; C. Loop, 1987), t = 2 pi / n:
 *     Catmull-Clark   point n/(n + 5) v + 4/(n (n + 5)) sum e + 1/(n (n + 5)) sum f
 *     Loop            point (1 - n w) v + w sum e,  w = 1/(n + 3/(8 beta))
 *     tangents        e_i: cos(i t), f_i: g cos((i + 1/2) t); the other with sines
 *                     g = cos(t/2) / (8 L - 2), L = (5 + c + sqrt((9 + c) (1 + c))) / 16, c = cos t  (Catmull-Clark)
 * Crease or boundary between spokes 0 and n with n faces on the side, t = pi / n:
 *     point 2/3 v + (e_0 + e_n) / 6, tangent along e_0 - e_n
 *     across: e_i: sin(i t), f_i: g sin((i + 1/2) t) inside, and from the eigenvector's equations for the rest
 *         (L - 1/2) l_0 - l_v/8 = q_0,  (L - 3/4) l_v - l_0 = q_v,   L as above, or 3/8 + c/4 for Loop
 *     with q the contribution of the inside to e_0 and v. These are the unmodified rules; the masks that are often
 *     printed belong to rules that were altered around the vertex (H. Biermann, A. Levin, D. Zorin, 2000). One face:
 *     L = 1/4 coincides with another eigenvalue, and e_0 + e_n - 2 v is left.
 * Interior creases have a tangent plane on each side: the mean of the two across is taken. A dart, one crease that ends
 * here, has no closed form on its axis: its eigenvectors are found by iteration. Corners have no tangent plane: the
 * mean of the spokes' directions is used instead.
 *
 * Remaining sharpness is reduced first, ring by ring: S1 … Sk are the rings' matrices until it is gone, and the masks
 * of what remains are multiplied through them.
 */
#include "author/base/array.h"
#include "author/mesh/subdivide/subdivide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* A row over the ring: [0] vertex, then spokes, then sectors. rows: point, two tangents; the last two are scratch. */
typedef struct limit_work {
    exi_ring ring;
    double *rows[5];
    size_t size; /* part of a row in use */
} limit_work;

static double *spokes_of(double *row) {
    return row + 1;
}

static double *sectors_of(const limit_work *w, double *row) {
    return row + 1 + w->ring.spoke_count;
}

/* ---- one level of a ring ---- */

/* Adds `factor` times the centre of a sector's quad. */
static void add_middle(const limit_work *w, double *row, int sector, double factor) {
    int after = sector + 1 < w->ring.spoke_count ? sector + 1 : 0;
    row[0] += 0.25 * factor;
    spokes_of(row)[sector] += 0.25 * factor;
    spokes_of(row)[after] += 0.25 * factor;
    sectors_of(w, row)[sector] += 0.25 * factor;
}

static void add_spoke(const limit_work *w, const exi_subdivide_rules *rules, double *row, int i, double factor) {
    const exi_ring *ring = &w->ring;
    const int n = ring->spoke_count, before = i > 0 ? i - 1 : n - 1, after = i + 1 < n ? i + 1 : 0;
    double child = ring->child_spoke_sharpness[i];
    double sharp = factor * exi_edge_rule(rules, ring->spoke_sharpness[i], child, child), smooth = factor - sharp;
    const bool loop = rules->scheme == EX_SCHEME_LOOP;
    row[0] += 0.5 * sharp + (loop ? 0.375 : 0.25) * smooth;
    spokes_of(row)[i] += 0.5 * sharp + (loop ? 0.375 : 0.25) * smooth;
    if (smooth == 0)
        return;
    if (loop) {
        spokes_of(row)[before] += 0.125 * smooth;
        spokes_of(row)[after] += 0.125 * smooth;
    } else {
        add_middle(w, row, before, 0.25 * smooth);
        add_middle(w, row, i, 0.25 * smooth);
    }
}

/* Replaces row by row times the ring's matrix; work is another row. */
static void pull_back(const limit_work *w, const exi_subdivide_rules *rules, double *row, double *work) {
    const exi_ring *ring = &w->ring;
    exi_vertex_mask mask = exi_vertex_rule(rules, ring);
    memset(work, 0, w->size * sizeof *work);
    work[0] += mask.vertex * row[0];
    for (int i = 0; i < ring->spoke_count; i++) {
        spokes_of(work)[i] += mask.spokes[i] * row[0];
        add_spoke(w, rules, work, i, spokes_of(row)[i]);
    }
    for (int i = 0; i < ring->sector_count && rules->scheme == EX_SCHEME_CATMULL_CLARK; i++)
        add_middle(w, work, i, mask.sector * row[0] + sectors_of(w, row)[i]);
    memcpy(row, work, w->size * sizeof *row);
}

/* ---- masks of rings whose rules no longer change ---- */

/* Returns the eigenvalue of waves around a ring, and the amplitude of sectors relative to spokes (0 for Loop). */
static double wave(ex_scheme scheme, double t, double *sector) {
    const double c = cos(t);
    *sector = 0;
    if (scheme == EX_SCHEME_LOOP)
        return 0.375 + 0.25 * c;
    if (1 + c < 1e-9) /* t = pi with only two edges: nothing ties the sectors to them */
        return 0.25;
    double value = (5 + c + sqrt((9 + c) * (1 + c))) / 16;
    *sector = cos(t / 2) / (8 * value - 2);
    return value;
}

static void add_wave(const limit_work *w, ex_scheme scheme, int first, double *cosines, double *sines) {
    const int n = w->ring.spoke_count;
    double sector, t = 2 * pi / n;
    wave(scheme, t, &sector);
    for (int i = 0; i < n; i++) {
        int from_first = (i - first + n) % n;
        spokes_of(cosines)[i] = cos(from_first * t);
        spokes_of(sines)[i] = sin(from_first * t);
        sectors_of(w, cosines)[i] = sector * cos((from_first + 0.5) * t);
        sectors_of(w, sines)[i] = sector * sin((from_first + 0.5) * t);
    }
    if (n == 2 && scheme == EX_SCHEME_CATMULL_CLARK) { /* two faces around a vertex: only the faces lie across */
        sectors_of(w, sines)[first] = 1;
        sectors_of(w, sines)[1 - first] = -1;
        spokes_of(sines)[0] = spokes_of(sines)[1] = 0;
    }
}

static void smooth_mask(limit_work *w, ex_scheme scheme) {
    const int n = w->ring.spoke_count;
    double *point = w->rows[0], c = 0.375 + 0.25 * cos(2 * pi / n);
    double spoke = 4.0 / (n * (n + 5.0)), sector = 1.0 / (n * (n + 5.0));
    if (scheme == EX_SCHEME_LOOP) {
        spoke = 1.0 / (n + 0.375 * n / (0.625 - c * c));
        sector = 0;
    }
    point[0] = 1 - n * (spoke + sector);
    for (int i = 0; i < n; i++) {
        spokes_of(point)[i] = spoke;
        sectors_of(w, point)[i] = sector;
    }
    add_wave(w, scheme, 0, w->rows[1], w->rows[2]);
}

/* Adds `sign` times the direction into the side with `faces` sectors from spoke `first` on; weights sum to 1 in
 * size. */
static void add_across(limit_work *w, ex_scheme scheme, int first, int faces, double sign) {
    const int n = w->ring.spoke_count;
    double *side = w->rows[3], *out = w->rows[2], sector, t = pi / faces;
    memset(side, 0, w->size * sizeof *side);
    int last = (first + faces) % n;
    if (faces == 1) {
        side[0] = -2;
        spokes_of(side)[first] = spokes_of(side)[last] = 1;
    } else {
        double value = wave(scheme, t, &sector), into_spoke = 0, into_vertex = 0;
        for (int i = 1; i < faces; i++) {
            spokes_of(side)[(first + i) % n] = sin(i * t);
            into_vertex += 0.375 * sin(i * t);
        }
        for (int i = 0; i < faces && scheme != EX_SCHEME_LOOP; i++) {
            sectors_of(w, side)[(first + i) % w->ring.sector_count] = sector * sin((i + 0.5) * t);
            into_vertex += 0.25 * sector * sin((i + 0.5) * t);
        }
        into_spoke = scheme == EX_SCHEME_LOOP ? sin(t) / 8 : sin(t) / 16 + 0.25 * sector * sin(t / 2);
        double divisor = (value - 1) * (value - 0.25);
        side[0] = ((value - 0.5) * into_vertex + into_spoke) / divisor;
        spokes_of(side)[first] = spokes_of(side)[last] = (into_spoke * (value - 0.75) + into_vertex / 8) / divisor;
    }
    double size = 0;
    for (size_t i = 0; i < w->size; i++)
        size += fabs(side[i]);
    for (size_t i = 0; i < w->size; i++)
        out[i] += sign * side[i] / size;
}

/* a and b are the two sharp spokes, a < b. */
static void crease_mask(limit_work *w, ex_scheme scheme, int a, int b) {
    double *point = w->rows[0], *along = w->rows[1];
    point[0] = 2.0 / 3;
    spokes_of(point)[a] = spokes_of(point)[b] = 1.0 / 6;
    spokes_of(along)[a] = 1;
    spokes_of(along)[b] = -1;
    add_across(w, scheme, a, b - a, 1);
    if (w->ring.closed)
        add_across(w, scheme, b, w->ring.spoke_count - (b - a), -1);
}

static void corner_mask(limit_work *w, ex_scheme scheme) {
    const exi_ring *ring = &w->ring;
    double t = scheme == EX_SCHEME_LOOP ? pi / 3 : pi / 2;
    w->rows[0][0] = 1;
    if (ring->sector_count == 0)
        return;
    if (ring->closed)
        t = 2 * pi / ring->spoke_count;
    else if (t > pi / ring->sector_count)
        t = pi / ring->sector_count;
    for (int i = 0; i < ring->spoke_count; i++)
        for (int k = 0; k < 2; k++) {
            double weight = k == 0 ? cos(i * t) : sin(i * t);
            spokes_of(w->rows[1 + k])[i] = weight;
            w->rows[1 + k][0] -= weight;
        }
}

/* Makes a row even about a spoke, with sum 0 and largest entry 1. Rounding must not bring in the odd tangent or the
 * point, whose eigenvalues can be larger. */
static void even_out(const limit_work *w, double *row, int axis) {
    const int n = w->ring.spoke_count;
    double *spokes = spokes_of(row), *sectors = sectors_of(w, row), largest = 0, sum = 0;
    for (int i = 1; i <= n / 2; i++) {
        int a = (axis + i) % n, b = (axis - i + n) % n;
        spokes[a] = spokes[b] = 0.5 * (spokes[a] + spokes[b]);
    }
    for (int i = 0; i < (n + 1) / 2; i++) {
        int a = (axis + i) % n, b = (axis - 1 - i + 2 * n) % n;
        sectors[a] = sectors[b] = 0.5 * (sectors[a] + sectors[b]);
    }
    for (size_t i = 0; i < w->size; i++)
        sum += row[i];
    row[0] -= sum;
    for (size_t i = 0; i < w->size; i++)
        largest = fabs(row[i]) > largest ? fabs(row[i]) : largest;
    for (size_t i = 0; i < w->size; i++)
        row[i] /= largest;
}

/* The odd tangent is that of the smooth rule, since it is 0 on the crease. */
static void dart_mask(limit_work *w, const exi_subdivide_rules *rules, int axis) {
    double *point = w->rows[0], *even = w->rows[1], *before = w->rows[4];
    smooth_mask(w, rules->scheme);
    add_wave(w, rules->scheme, axis, even, w->rows[2]);
    for (int step = 0; step < 10000; step++) {
        double change = 0;
        memcpy(before, even, w->size * sizeof *before);
        pull_back(w, rules, even, w->rows[3]);
        even_out(w, even, axis);
        for (size_t i = 0; i < w->size; i++)
            change = fabs(even[i] - before[i]) > change ? fabs(even[i] - before[i]) : change;
        memcpy(before, point, w->size * sizeof *before);
        pull_back(w, rules, point, w->rows[3]);
        for (size_t i = 0; i < w->size; i++)
            change = fabs(point[i] - before[i]) > change ? fabs(point[i] - before[i]) : change;
        if (change < 1e-15)
            break;
    }
}

/* ---- a vertex ---- */

static void advance(exi_ring *ring) {
    memcpy(ring->spoke_sharpness, ring->child_spoke_sharpness, (size_t)ring->spoke_count * sizeof(double));
    ring->sharpness = ring->child_sharpness;
}

static bool fades(double sharpness) {
    return sharpness > 0 && sharpness < EXI_SHARP_FOREVER;
}

static bool ring_fades(const exi_ring *ring) {
    bool any = fades(ring->sharpness);
    for (int i = 0; i < ring->spoke_count; i++)
        any = any || fades(ring->spoke_sharpness[i]);
    return any;
}

static void choose_mask(limit_work *w, const exi_subdivide_rules *rules) {
    const exi_ring *ring = &w->ring;
    int sharp = 0, found[2] = {0, 0};
    for (int i = 0; i < ring->spoke_count; i++)
        if (ring->spoke_sharpness[i] > 0 && sharp++ < 2)
            found[sharp - 1] = i;
    for (int k = 0; k < 3; k++)
        memset(w->rows[k], 0, w->size * sizeof *w->rows[k]);
    if (rules->scheme == EX_SCHEME_BILINEAR || ring->sector_count == 0 || ring->sharpness > 0 || sharp > 2)
        corner_mask(w, rules->scheme);
    else if (sharp == 2)
        crease_mask(w, rules->scheme, found[0], found[1]);
    else if (sharp == 1)
        dart_mask(w, rules, found[0]);
    else
        smooth_mask(w, rules->scheme);
}

/* Makes the ring `level` levels on, and its sharpness one level further. */
static void ring_at(exi_ring *ring, const exi_topology *t, const exi_subdivide_rules *rules, int v, int level) {
    exi_ring_read(ring, t, v);
    exi_ring_sharpen(ring, rules->chaikin);
    for (int i = 0; i < level; i++) {
        advance(ring);
        exi_ring_sharpen(ring, rules->chaikin);
    }
}

static void limit_vertex(limit_work *w, const exi_topology *t, const exi_subdivide_rules *rules, int v) {
    int level = 0;
    ring_at(&w->ring, t, rules, v, 0);
    w->size = 1 + (size_t)w->ring.spoke_count + (size_t)w->ring.sector_count;
    /* Each level subtracts 1 from the largest below 10, so this ends. */
    for (; rules->scheme != EX_SCHEME_BILINEAR && ring_fades(&w->ring); level++) {
        advance(&w->ring);
        exi_ring_sharpen(&w->ring, rules->chaikin);
    }
    choose_mask(w, rules);
    while (level-- > 0) {
        ring_at(&w->ring, t, rules, v, level);
        for (int k = 0; k < 3; k++)
            pull_back(w, rules, w->rows[k], w->rows[3]);
    }
}

static void add_rows(const limit_work *w, const exi_topology *t, exi_row_sum *sum) {
    const exi_ring *ring = &w->ring;
    double *const *rows = w->rows;
    exi_row_sum_add(sum, ring->vertex, rows[0][0], rows[1][0], rows[2][0]);
    for (int i = 0; i < ring->spoke_count; i++)
        exi_row_sum_add(sum, ring->spokes[i], rows[0][1 + i], rows[1][1 + i], rows[2][1 + i]);
    for (int i = 0, at = 1 + ring->spoke_count; i < ring->sector_count; i++, at++)
        exi_row_sum_add(sum, t->corners[exi_next(t, exi_next(t, ring->sectors[i]))], rows[0][at], rows[1][at],
                        rows[2][at]);
}

bool exi_subdivide_limit(const exi_topology *t, const exi_subdivide_rules *rules, int vertex_count, exi_row_sum *sum,
                         exi_rows *out) {
    limit_work w = {0};
    bool good = exi_ring_allocate(&w.ring, t->most_spokes);
    for (int i = 0; i < 5; i++) {
        w.rows[i] = exi_array_allocate(2 * (size_t)t->most_spokes + 3, sizeof(double));
        good = good && w.rows[i];
    }
    for (int v = 0; v < vertex_count && good; v++) {
        limit_vertex(&w, t, rules, v);
        add_rows(&w, t, sum);
        good = exi_rows_append(out, sum);
    }
    for (int i = 0; i < 5; i++)
        free(w.rows[i]);
    exi_ring_free(&w.ring);
    return good;
}
