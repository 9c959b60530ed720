/*
 * Edits of the calm weigher without another solve. With P = [1 B] the tables of a weigher are part of one symmetric
 * inverse (calm_solve.c has the system):
 *
 *   T = [K P; P' 0]^-1 = [C D; D' E],    r = C F,    plane = D' F
 *
 * Without pseudo-examples F is the identity, so r is C. With one whose weights are 0, only its column of C is missing:
 * C is symmetric and C 1 = 0. E follows from K D + P E = 0 at a few points. An edit is then a sum of products of
 * vectors, T + sum of a_k y_k y_k':
 *
 *   a point j leaves           y = T_j                 a = -1/T_jj
 *   its rounding changes       y = T_j                 a = -d/(1 + d T_jj)     K_jj becomes K_jj + d
 *   a point comes              y = [T u; -1]           a = 1/(K_new - u' T u)  u its row of [K P]
 *
 * T_j is column j after the products before it. Each costs n^2 operations, a solve costs n^3. -K stays positive
 * definite where 1' r = 0 if T_jj < 0 for what leaves, 1 + d T_jj > 0, K_new - u' T u < 0, and E without the constant
 * is positive definite at the end. A sum of rounding errors grows from edit to edit; so the result is tried at some
 * points, and where that or anything else is not as it should be, the caller solves.
 */
#include "runtime/base/dense.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/weigh/calm.h"
#include "runtime/weigh/calm.inl"
#include "runtime/weigh/plane.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A solve of fewer points is hardly slower. More points that come, or more products, are left to the solve. */
enum { FEWEST = 32, ADDED_MOST = 8, PRODUCT_MOST = 64, RUN_MOST = 64 };
/* Points at which E is found, and the result tried, besides the lowest and the highest on every axis. Up to ALL_MOST
 * points are all tried. */
enum { SAMPLES = 40, ALL_MOST = 128 };
/* Vectors that the result is tried with: errors of two near examples have opposite signs and may cancel in one. Points
 * that changed are also tried for every example. */
enum { VECTORS = 2, CHANGED_MOST = 8 };
/* Largest error of a weight, root mean square over the examples, where the result is tried. Signs of a vector that is
 * tried differ, so errors of m examples add up to sqrt(m) as much. And largest error of any one weight. */
static const double tolerance = 1e-11, sum_most = 30, tolerance_one = 1e-10;

/* Columns of the old table that come one after another in the new one, too. */
typedef struct run {
    int from, to, count;
} run;

/*
 * Both sets of points have one numbering, "all": the old points, then those that come. A vector of T has an entry for
 * each of them, then one for each column of P.
 */
typedef struct update {
    const ex_weigher *old;
    ex_weigher *w;
    exi_cardinal from, to;
    int old_count, count, all; /* points: old, new, all */
    int q, length;             /* columns of P, of T */
    int *number;               /* [count]: the number of a new point among all */
    int *now;                  /* [all]: the new point, or -1 for one that leaves */
    double *nearest;           /* [count]: distance to the nearest other point */
    double corner;             /* C of the old pseudo-example with itself */
    double *corner_plane;      /* [q]: D of the old pseudo-example */
    double *e;                 /* [q][q]: E before the products */
    double *small;             /* [q][2q] */
    double *y;                 /* [PRODUCT_MOST][length] */
    double *columns;           /* [PRODUCT_MOST][m]: y in the order of the new examples */
    double *row;               /* [length], scratch */
    double *plane;             /* exi_plane_work of the larger */
    double *tried;             /* [VECTORS][m] */
    double *turned;            /* [VECTORS][count]: r times these */
    double *sloped;            /* [VECTORS][q]: the plane times these */
    double a[PRODUCT_MOST];
    int product_count;
    run runs[RUN_MOST];
    int run_count;
    void *memory;
    size_t size;
} update;

/* ---- the old tables as T ---- */

/* Returns true if all required weights are those of examples, or 0. */
static bool is_plain(const ex_weigher *w) {
    if (w->pseudo_count > 1 || exi_point_count(w) < FEWEST)
        return false;
    if (w->pseudo_count == 1 && exi_table(w, w->pseudo_given)[0] == 0)
        return false;
    for (int i = 0; i < w->pseudo_count * w->example_count; i++)
        if (exi_table(w, w->pseudo_rows)[i] != 0)
            return false;
    return true;
}

static void set_corner(update *u) {
    const int m = u->old->example_count;
    u->corner = 0;
    for (int a = 0; a < u->q; a++)
        u->corner_plane[a] = a == 0;
    if (u->old->pseudo_count == 0)
        return;
    for (int j = 0; j < m; j++)
        u->corner -= u->from.radial[(size_t)m * (size_t)m + (size_t)j];
    for (int a = 0; a < u->q; a++)
        for (int j = 0; j < m; j++)
            u->corner_plane[a] -= u->from.plane[(size_t)a * (size_t)m + (size_t)j];
}

/* D of old point j, column a. */
static double old_plane(const update *u, int j, int a) {
    const int m = u->old->example_count;
    return j < m ? u->from.plane[(size_t)a * (size_t)m + (size_t)j] : u->corner_plane[a];
}

static double *product(const update *u, int k) {
    return u->y + (size_t)k * (size_t)u->length;
}

/* target += factor * source */
static void add_row(double *restrict target, const double *restrict source, double factor, int count) {
    for (int i = 0; i < count; i++)
        target[i] += factor * source[i];
}

static double dot(const double *a, const double *b, int count) {
    double sums[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++)
            sums[k] += a[i + k] * b[i + k];
    for (; i < count; i++)
        sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Column j of T, for an old point, after the products so far. */
static void get_column(const update *u, int j, double *t) {
    const size_t m = (size_t)u->old->example_count;
    memset(t, 0, (size_t)u->length * sizeof *t);
    memcpy(t, u->from.radial + (size_t)j * m, m * sizeof *t);
    if (u->old->pseudo_count > 0)
        t[m] = (size_t)j < m ? u->from.radial[m * m + (size_t)j] : u->corner;
    for (int a = 0; a < u->q; a++)
        t[u->all + a] = old_plane(u, j, a);
    for (int k = 0; k < u->product_count; k++)
        add_row(t, product(u, k), u->a[k] * product(u, k)[j], u->length);
}

/* y = T x after the products so far. x is 0 at points that left. */
static void multiply(const update *u, const double *x, double *y) {
    const int m = u->old->example_count, q = u->q;
    const double *p = x + u->all;
    memset(y, 0, (size_t)u->length * sizeof *y);
    exi_calm_add_rows(y, u->from.radial, x, u->old_count, m);
    if (u->old->pseudo_count > 0)
        y[m] = dot(u->from.radial + (size_t)m * (size_t)m, x, m) + u->corner * x[m];
    for (int a = 0; a < q; a++) {
        const double *d = u->from.plane + (size_t)a * (size_t)m;
        double *z = &y[u->all + a];
        add_row(y, d, p[a], m);
        *z = dot(d, x, m);
        if (u->old->pseudo_count > 0) {
            y[m] += p[a] * u->corner_plane[a];
            *z += x[m] * u->corner_plane[a];
        }
        *z += dot(u->e + (size_t)a * (size_t)q, p, q);
    }
    for (int k = 0; k < u->product_count; k++)
        add_row(y, product(u, k), u->a[k] * dot(product(u, k), x, u->length), u->length);
}

/* ---- samples ---- */

/* Returns the i-th sample of w's points, or -1 after the last: some at equal steps, then the ends of every axis. */
static int sample(const ex_weigher *w, int shift, int i) {
    const int n = exi_point_count(w);
    if (i < SAMPLES)
        return (int)(((int64_t)i * n / SAMPLES + shift) % n);
    const int axis = (i - SAMPLES) / 2;
    if (axis >= w->scalar_count)
        return -1;
    int end = 0;
    for (int j = 1; j < n; j++) {
        const double beyond = exi_features(w, j)[axis] - exi_features(w, end)[axis];
        if (i % 2 ? beyond > 0 : beyond < 0)
            end = j;
    }
    return end;
}

/* Column a of P at a row of features. */
static double plane_at(const double *features, const double *mean, int a) {
    return a == 0 ? 1 : features[a - 1] - mean[a - 1];
}

/* E from P'P E = -P' K D, both over the samples. Returns false if the samples are in a plane. */
static bool find_e(update *u) {
    const int q = u->q;
    double *kd = u->row;
    memset(u->small, 0, (size_t)q * (size_t)(2 * q) * sizeof *u->small);
    for (int i = 0, l; (l = sample(u->old, 0, i)) >= 0; i++) {
        const double *at = exi_features(u->old, l);
        memset(kd, 0, (size_t)q * sizeof *kd);
        for (int j = 0; j < u->old_count; j++) {
            const double d = exi_feature_distance(u->old, at, exi_features(u->old, j));
            const double value = exi_calm_kernel(d, u->from.inverse_radii[j]);
            for (int a = 0; a < q; a++)
                kd[a] += value * old_plane(u, j, a);
        }
        for (int a = 0; a < q; a++) {
            double *row = u->small + (size_t)a * (size_t)(2 * q);
            const double p = plane_at(at, u->from.mean, a);
            for (int b = 0; b < q; b++)
                row[b] += p * plane_at(at, u->from.mean, b);
            add_row(row + q, kd, -p, q);
        }
    }
    if (exi_solve(u->small, q, q) == 0)
        return false;
    for (int a = 0; a < q; a++)
        for (int b = 0; b < q; b++)
            u->e[a * q + b] = (u->small[a * 2 * q + q + b] + u->small[b * 2 * q + q + a]) / 2;
    return true;
}

/* ---- places ---- */

static double measure_nearest(const ex_weigher *w, int i) {
    double nearest = DBL_MAX;
    for (int j = 0; j < exi_point_count(w); j++)
        if (j != i)
            nearest = fmin(nearest, exi_feature_distance(w, exi_features(w, i), exi_features(w, j)));
    return nearest;
}

/* True if no point is at another's place, or so nearly that only all distances could tell. */
static bool are_apart(const update *u) {
    double farthest = 0;
    for (int j = 1; j < u->count; j++)
        farthest = fmax(farthest, exi_feature_distance(u->w, exi_features(u->w, 0), exi_features(u->w, j)));
    for (int i = 0; i < u->count; i++)
        if (!(u->nearest[i] > EXI_ONE_PLACE * 2 * farthest))
            return false;
    return true;
}

/*
 * Sets nearest distances and the new radii. A radius is the same share of the nearest distance everywhere, unless it
 * had to be halved for the old points: false then.
 */
static bool set_radii(update *u) {
    const double share = exi_calm_share(exi_own_parameters(u->old)[0]);
    const double expected = share * measure_nearest(u->old, 0);
    if (!(fabs(u->from.inverse_radii[0] - expected) <= 1e-12 * expected))
        return false;
    for (int i = 0; i < u->count; i++) {
        const int own = u->number[i];
        const double *at = exi_features(u->w, i);
        double nearest = share > 0 && own < u->old_count ? u->from.inverse_radii[own] / share : 0;
        bool lost = !(nearest > 0);
        for (int k = 0; !lost && k < u->old_count; k++)
            lost = u->now[k] < 0 && exi_feature_distance(u->w, at, exi_features(u->old, k)) <= nearest * (1 + 1e-9);
        if (lost)
            nearest = measure_nearest(u->w, i);
        bool nearer = lost;
        for (int k = u->old_count; !lost && k < u->all; k++) {
            const double d = exi_feature_distance(u->w, at, exi_features(u->w, u->now[k]));
            nearer = nearer || d < nearest;
            nearest = fmin(nearest, d);
        }
        u->nearest[i] = nearest;
        u->to.inverse_radii[i] = nearer ? share * nearest : u->from.inverse_radii[own];
    }
    return are_apart(u);
}

/* ---- products ---- */

static double *next_product(const update *u) {
    return u->product_count < PRODUCT_MOST ? product(u, u->product_count) : NULL;
}

static bool remove_points(update *u) {
    for (int j = 0; j < u->old_count; j++) {
        if (u->now[j] >= 0)
            continue;
        double *t = next_product(u);
        if (!t)
            return false;
        get_column(u, j, t);
        if (!(t[j] < 0))
            return false;
        u->a[u->product_count++] = -1 / t[j];
    }
    return true;
}

static bool round_points(update *u) {
    for (int j = 0; j < u->old_count; j++) {
        if (u->now[j] < 0)
            continue;
        const double was = u->from.inverse_radii[j], is = u->to.inverse_radii[u->now[j]];
        if (fabs(is - was) <= 1e-15 * was)
            continue;
        double *t = next_product(u);
        if (!t)
            return false;
        get_column(u, j, t);
        const double change = exi_calm_kernel(0, is) - exi_calm_kernel(0, was), size = 1 + change * t[j];
        if (!(size > 1e-6))
            return false;
        u->a[u->product_count++] = -change / size;
    }
    return true;
}

static bool add_points(update *u) {
    for (int k = u->old_count; k < u->all; k++) {
        const double *at = exi_features(u->w, u->now[k]);
        double *y = next_product(u), *x = u->row;
        if (!y)
            return false;
        memset(x, 0, (size_t)u->length * sizeof *x);
        for (int j = 0; j < k; j++)
            if (u->now[j] >= 0)
                x[j] = exi_feature_distance(u->w, at, exi_features(u->w, u->now[j]));
        for (int a = 0; a < u->q; a++)
            x[u->all + a] = plane_at(at, u->from.mean, a);
        multiply(u, x, y);
        const double left = exi_calm_kernel(0, u->to.inverse_radii[u->now[k]]) - dot(x, y, u->length);
        if (!(left < 0))
            return false;
        y[k] = -1;
        u->a[u->product_count++] = 1 / left;
    }
    return true;
}

/* True if E without the constant is positive definite. */
static bool is_definite(const update *u) {
    const int s = u->q - 1;
    for (int a = 0; a < s; a++)
        for (int b = 0; b < s; b++) {
            double sum = u->e[(a + 1) * u->q + b + 1];
            for (int k = 0; k < u->product_count; k++)
                sum += u->a[k] * product(u, k)[u->all + 1 + a] * product(u, k)[u->all + 1 + b];
            u->small[a * s + b] = sum;
        }
    return exi_solve_definite(u->small, s, 0);
}

/* ---- the new tables ---- */

static bool set_runs(update *u) {
    u->run_count = 0;
    for (int j = 0; j < u->w->example_count; j++) {
        const int from = u->number[j];
        run *last = u->run_count > 0 ? &u->runs[u->run_count - 1] : NULL;
        if (from >= u->old_count)
            continue;
        if (last && last->to + last->count == j && last->from + last->count == from) {
            last->count++;
            continue;
        }
        if (u->run_count == RUN_MOST)
            return false;
        u->runs[u->run_count++] = (run){.from = from, .to = j, .count = 1};
    }
    return true;
}

/* An old row [old examples] in the order of the new examples, 0 for those that come. */
static void spread(const update *u, const double *old_row, double *row) {
    memset(row, 0, (size_t)u->w->example_count * sizeof *row);
    for (int i = 0; i < u->run_count; i++)
        memcpy(row + u->runs[i].to, old_row + u->runs[i].from, (size_t)u->runs[i].count * sizeof *row);
}

/* Writes r and the plane, which becomes relative to the new mean, and r times the vector to try. */
static void write_tables(update *u) {
    const int m = u->w->example_count, old_m = u->old->example_count, count = u->product_count;
    double factors[PRODUCT_MOST];
    for (int k = 0; k < count; k++)
        for (int j = 0; j < m; j++)
            u->columns[(size_t)k * (size_t)m + (size_t)j] = product(u, k)[u->number[j]];
    for (int i = 0; i < u->count; i++) {
        const int own = u->number[i];
        double *row = u->to.radial + (size_t)i * (size_t)m;
        if (own < u->old_count)
            spread(u, u->from.radial + (size_t)own * (size_t)old_m, row);
        else
            memset(row, 0, (size_t)m * sizeof *row);
        for (int k = 0; k < count; k++)
            factors[k] = u->a[k] * product(u, k)[own];
        exi_calm_add_rows(row, u->columns, factors, count, m);
        for (int v = 0; v < VECTORS; v++)
            u->turned[v * u->count + i] = dot(row, u->tried + (size_t)v * (size_t)m, m);
    }
    memset(u->to.plane, 0, (size_t)(1 + u->w->scalar_count) * (size_t)m * sizeof *u->to.plane);
    exi_plane_mean(u->w, u->to.mean);
    for (int a = 0; a < u->q; a++) {
        double *row = u->to.plane + (size_t)a * (size_t)m;
        spread(u, u->from.plane + (size_t)a * (size_t)old_m, row);
        for (int k = 0; k < count; k++)
            factors[k] = u->a[k] * product(u, k)[u->all + a];
        exi_calm_add_rows(row, u->columns, factors, count, m);
        if (a > 0)
            add_row(u->to.plane, row, u->to.mean[a - 1] - u->from.mean[a - 1], m);
    }
    for (int v = 0; v < VECTORS; v++)
        for (int a = 0; a < u->q; a++)
            u->sloped[v * u->q + a] = dot(u->to.plane + (size_t)a * (size_t)m, u->tried + (size_t)v * (size_t)m, m);
}

/* Vectors without structure, of entries from 0.5 to 1.5 of either sign. */
static void set_tried(const update *u) {
    uint32_t bits = 1;
    for (int j = 0; j < VECTORS * u->w->example_count; j++) {
        bits = bits * 1664525u + 1013904223u;
        const double size = 0.5 + (double)(bits >> 8 & 0xffff) / 65536;
        u->tried[j] = bits >> 31 ? size : -size;
    }
}

static bool is_small(const update *u, double sum) {
    return fabs(sum) <= tolerance * fmin(sqrt((double)u->w->example_count), sum_most);
}

/* True if the equation of a new point holds, times the vectors that are tried. */
static bool holds_at(const update *u, int l) {
    const int m = u->w->example_count;
    const double *at = exi_features(u->w, l);
    double sums[VECTORS] = {0};
    for (int j = 0; j < u->count; j++) {
        const double d = exi_feature_distance(u->w, at, exi_features(u->w, j));
        const double value = exi_calm_kernel(d, u->to.inverse_radii[j]);
        for (int v = 0; v < VECTORS; v++)
            sums[v] += value * u->turned[v * u->count + j];
    }
    for (int v = 0; v < VECTORS; v++) {
        for (int a = 0; a < u->q; a++)
            sums[v] += plane_at(at, u->to.mean, a) * u->sloped[v * u->q + a];
        if (!is_small(u, sums[v] - (l < m ? u->tried[v * m + l] : 0)))
            return false;
    }
    return true;
}

/* True if it holds for every example. */
static bool holds_for_all(const update *u, int l) {
    exi_calm_evaluate_free(u->w, exi_features(u->w, l), u->row);
    for (int i = 0; i < u->w->example_count; i++)
        if (!(fabs(u->row[i] - (i == l)) <= tolerance_one))
            return false;
    return true;
}

/* True if 1' r = 0 and B' r = 0, times the vectors. */
static bool is_balanced(const update *u) {
    for (int v = 0; v < VECTORS; v++)
        for (int a = 0; a < u->q; a++) {
            double sum = 0;
            for (int j = 0; j < u->count; j++)
                sum += u->turned[v * u->count + j] * plane_at(exi_features(u->w, j), u->to.mean, a);
            if (!is_small(u, sum))
                return false;
        }
    return true;
}

static bool holds(const update *u) {
    int changed = 0, shift = 0;
    if (!is_balanced(u))
        return false;
    for (int i = 0; i < u->count; i++) {
        const int own = u->number[i];
        const bool is_new = own >= u->old_count || u->from.inverse_radii[own] != u->to.inverse_radii[i];
        shift = own >= u->old_count ? i : shift;
        if ((is_new || u->count <= ALL_MOST) && !holds_at(u, i))
            return false;
        if (is_new && changed++ < CHANGED_MOST && !holds_for_all(u, i))
            return false;
    }
    for (int i = 0, l; u->count > ALL_MOST && (l = sample(u->w, shift, i)) >= 0; i++)
        if (!holds_at(u, l))
            return false;
    return true;
}

/* ---- entry point ---- */

static ex_result open_update(update *u, const ex_allocator *allocator, ex_error *error) {
    const size_t q = (size_t)u->q, n = (size_t)u->count, m = (size_t)u->w->example_count, all = (size_t)u->all;
    const size_t work = exi_plane_work(u->w) + exi_plane_work(u->old);
    exi_size total = {0};
    const size_t number = exi_size_add(&total, n + all, sizeof(int), 8);
    const size_t doubles = exi_size_add(
        &total, n + q + 3 * q * q + PRODUCT_MOST * (all + q + m) + (all + q) + work + VECTORS * (m + n + q),
        sizeof(double), 8);
    char *memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "editing a space", total.bytes);
    u->memory = memory;
    u->size = total.bytes;
    u->number = (int *)(void *)(memory + number);
    u->now = u->number + n;
    u->nearest = (double *)(void *)(memory + doubles);
    u->corner_plane = u->nearest + n;
    u->e = u->corner_plane + q;
    u->small = u->e + q * q;
    u->y = u->small + 2 * q * q;
    u->columns = u->y + PRODUCT_MOST * (all + q);
    u->row = u->columns + PRODUCT_MOST * m;
    u->plane = u->row + all + q;
    u->tried = u->plane + work;
    u->turned = u->tried + VECTORS * m;
    u->sloped = u->turned + VECTORS * n;
    return EX_OK;
}

static void number_points(update *u, const int *origins) {
    int next = u->old_count;
    for (int k = 0; k < u->all; k++)
        u->now[k] = -1;
    for (int i = 0; i < u->count; i++) {
        u->number[i] = origins[i] >= 0 ? origins[i] : next++;
        u->now[u->number[i]] = i;
    }
}

static bool make(update *u) {
    const int rank = u->q - 1;
    if (exi_plane_find(u->old, u->from.mean, u->plane).rank != rank)
        return false;
    exi_plane_mean(u->w, u->to.mean);
    if (exi_plane_find(u->w, u->to.mean, u->plane).rank != rank || !set_radii(u))
        return false;
    set_corner(u);
    set_tried(u);
    if (!find_e(u) || !remove_points(u) || !round_points(u) || !add_points(u) || !is_definite(u) || !set_runs(u))
        return false;
    write_tables(u);
    *exi_calm_bound(u->w) = exi_own_parameters(u->w)[0];
    return holds(u);
}

ex_result exi_calm_resolve(ex_weigher *w, const ex_weigher *old, const int *origins, const ex_allocator *allocator,
                           bool *done, ex_error *error) {
    int added = 0;
    if (!is_plain(old) || !is_plain(w))
        return EX_OK;
    for (int i = 0; i < exi_point_count(w); i++)
        added += origins[i] < 0;
    if (added > ADDED_MOST)
        return EX_OK;
    update u = {.old = old,
                .w = w,
                .from = exi_cardinal_tables(old),
                .to = exi_cardinal_tables(w),
                .old_count = exi_point_count(old),
                .count = exi_point_count(w)};
    u.all = u.old_count + added;
    u.q = 1 + (w->flags & EXI_WEIGHER_LINEAR ? w->scalar_count : 0);
    u.length = u.all + u.q;
    const ex_result result = open_update(&u, allocator, error);
    if (result != EX_OK)
        return result;
    number_points(&u, origins);
    *done = make(&u);
    exi_release(allocator, u.memory, u.size);
    return EX_OK;
}
