/*
 * In-betweens of two forms, in the frame of the start (surface.c), and the screw that puts the alignment back.
 *
 * Poisson: the form x whose gradients are nearest to the triangles' own, R^t ((1 - t) I + t S):
 *   minimise  sum over triangles of area |grad x - g|^2  +  sum over links of weight |x_a - x_b - d|^2,
 * one symmetric system L x = b for the three coordinates, factorised once.
 *
 * As rigid as possible: the same with rotations that are found with the form. Local step: every triangle takes the
 * rotation that brings (1 - t) I + t S nearest to its gradient; in its plane, with P = [dx/du dx/dv] S_t (3 x 2), that
 * is P (P^T P)^(-1/2), in closed form. Global step: solve again. Begun at Poisson's form, with a fixed number of steps.
 *
 * Triangles by themselves do not mind being folded: left to it, the surface crumples where it is squeezed. So a
 * triangle's rotation, relative to R^t, leans by COUPLING towards each of its neighbours', and steps have momentum
 * (Nesterov's, begun again where it leads uphill), which brings 30 of them as far as 200 without. On the kick of
 * body_kick, 0 to 48 half-way: 99th percentile of stretch 0.036 after 30 plain steps, with 31 edges folded by 20
 * degrees more than in either end; 0.020 and 99 edges after 200; with both, 0.026 and 18.
 *
 * The form may turn as a whole meanwhile, and is brought back onto Poisson's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/formats/array.h"
#include "author/trajectory/surface.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"

#define ITERATIONS 30
#define COUPLING   0.01

const char *ex_between_name(ex_between_method method) {
    static const char *const names[] = {
#define EX_BETWEEN_NAME(name, text) text,
        EX_BETWEEN_LIST(EX_BETWEEN_NAME)
#undef EX_BETWEEN_NAME
    };
    return method >= 0 && method < EX_BETWEEN_COUNT ? names[method] : "";
}

/* ---- links ---- */

/* The rotation of a link at time t: what the triangles around both its ends turn by, averaged. */
void exi_link_rotation(const ex_between *b, const exi_link *link, double t, double rotation[3][3]) {
    double m[12] = {0}, stretch[3][3];
    for (int e = 0; e < 2; e++)
        for (int k = b->triangle_starts[link->vertices[e]]; k < b->triangle_starts[link->vertices[e] + 1]; k++) {
            const int triangle = b->triangle_list[k] / 3;
            double w[3], r[3][3];
            for (int i = 0; i < 3; i++)
                w[i] = t * b->turns[3 * triangle + i];
            exi_turn_matrix(w, r);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    m[4 * i + j] += b->areas[triangle] * r[i][j];
        }
    exi_polar(m, rotation, stretch);
}

/* The same from the form itself: the rotation that is nearest to the gradients around both ends. */
static void link_rotation_of(const ex_between *b, const exi_link *link, const double *form, double rotation[3][3]) {
    double m[12] = {0}, stretch[3][3];
    for (int e = 0; e < 2; e++)
        for (int k = b->triangle_starts[link->vertices[e]]; k < b->triangle_starts[link->vertices[e] + 1]; k++) {
            const int triangle = b->triangle_list[k] / 3, *c = b->triangles + 3 * triangle;
            const double *slopes = b->slopes + 9 * triangle, *n0 = b->normals + 3 * triangle;
            double e1[3], e2[3], n[3];
            exi_subtract(form + 3 * c[1], form + 3 * c[0], e1);
            exi_subtract(form + 3 * c[2], form + 3 * c[0], e2);
            exi_cross(e1, e2, n);
            exi_unit3(n);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    m[4 * i + j] +=
                        b->areas[triangle] * (form[3 * c[0] + i] * slopes[j] + form[3 * c[1] + i] * slopes[3 + j] +
                                              form[3 * c[2] + i] * slopes[6 + j] + n[i] * n0[j]);
        }
    exi_polar(m, rotation, stretch);
}

static void add_link(const exi_link *link, double rotation[3][3], double t, double *right) {
    double d[3];
    for (int i = 0; i < 3; i++)
        d[i] = (1 - t) * link->start[i] + t * link->end[i];
    exi_apply(rotation, d, d);
    for (int i = 0; i < 3; i++) {
        right[3 * link->vertices[0] + i] += link->weight * d[i];
        right[3 * link->vertices[1] + i] -= link->weight * d[i];
    }
}

/* ---- the system ---- */

/* The vertex that is held where it is, so that the system has one solution; where it stands afterwards is no matter. */
#define HELD 0

typedef struct assembly {
    int *starts, *rows;
    double *values;
} assembly;

/* Adds `value` at row a, column c, a >= c; the pattern is there already. */
static void add_entry(const assembly *m, int a, int c, double value) {
    int low = m->starts[c], high = m->starts[c + 1] - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (m->rows[middle] < a)
            low = middle + 1;
        else
            high = middle;
    }
    m->values[low] += value;
}

typedef struct pair {
    int column, row;
} pair;

static int compare_pairs(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static pair ordered(int a, int b) {
    return a < b ? (pair){a, b} : (pair){b, a};
}

/* The places of the lower triangle: every vertex with itself, and the ends of edges and links. */
static bool make_pattern(const ex_between *b, assembly *m) {
    const size_t most = (size_t)b->vertex_count + 3 * (size_t)b->triangle_count + (size_t)b->link_count;
    pair *pairs = exi_array_allocate(most, sizeof *pairs);
    if (!pairs)
        return false;
    size_t count = 0, kept = 0;
    for (int v = 0; v < b->vertex_count; v++)
        pairs[count++] = (pair){v, v};
    for (int t = 0; t < b->triangle_count; t++)
        for (int k = 0; k < 3; k++)
            pairs[count++] = ordered(b->triangles[3 * t + k], b->triangles[3 * t + (k + 1) % 3]);
    for (int i = 0; i < b->link_count; i++)
        pairs[count++] = ordered(b->links[i].vertices[0], b->links[i].vertices[1]);
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_pairs(&pairs[kept - 1], &pairs[i]) != 0)
            pairs[kept++] = pairs[i];
    m->starts = calloc((size_t)b->vertex_count + 1, sizeof *m->starts);
    m->rows = exi_array_allocate(kept, sizeof *m->rows);
    m->values = calloc(kept + 1, sizeof *m->values);
    const bool done = m->starts && m->rows && m->values;
    for (size_t i = 0; done && i < kept; i++) {
        m->starts[pairs[i].column + 1]++;
        m->rows[i] = pairs[i].row;
    }
    for (int v = 0; done && v < b->vertex_count; v++)
        m->starts[v + 1] += m->starts[v];
    free(pairs);
    return done;
}

static void fill(const ex_between *b, const assembly *m) {
    double diagonal = 0;
    for (int t = 0; t < b->triangle_count; t++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const int row = b->triangles[3 * t + i], column = b->triangles[3 * t + j];
                const double value = b->areas[t] * exi_dot3(b->slopes + 9 * t + 3 * i, b->slopes + 9 * t + 3 * j);
                diagonal += i == j ? value : 0;
                if (row > column || (row == column && i == j))
                    add_entry(m, row, column, value);
            }
    for (int i = 0; i < b->link_count; i++) {
        const exi_link *link = &b->links[i];
        const pair p = ordered(link->vertices[0], link->vertices[1]);
        add_entry(m, p.column, p.column, link->weight);
        add_entry(m, p.row, p.row, link->weight);
        add_entry(m, p.row, p.column, -link->weight);
    }
    m->values[m->starts[HELD]] += diagonal > 0 ? diagonal / b->vertex_count : 1;
}

static ex_result factorise(ex_between *b, const ex_progress *progress, ex_error *error) {
    assembly m = {0};
    if (!make_pattern(b, &m)) {
        free(m.starts);
        free(m.rows);
        free(m.values);
        return exi_error_memory(error, "the system of in-betweens", 16 * 4 * (size_t)b->vertex_count);
    }
    fill(b, &m);
    b->held = m.values[m.starts[HELD]];
    const exi_symmetric matrix = {b->vertex_count, m.starts, m.rows, m.values};
    /* what HELD got beyond the triangles' and links' share: its right-hand side */
    double own = 0;
    for (int k = b->triangle_starts[HELD]; k < b->triangle_starts[HELD + 1]; k++) {
        const double *slope = b->slopes + 3 * b->triangle_list[k];
        own += b->areas[b->triangle_list[k] / 3] * exi_dot3(slope, slope);
    }
    for (int i = 0; i < b->link_count; i++)
        own += b->links[i].vertices[0] == HELD || b->links[i].vertices[1] == HELD ? b->links[i].weight : 0;
    b->held -= own;
    const ex_result result = exi_factor_create(&matrix, progress, &b->factor, error);
    free(m.starts);
    free(m.rows);
    free(m.values);
    return result;
}

/* ---- forms ---- */

/* What the rigid form keeps of a triangle while it is looked for. */
typedef struct facing {
    float frame[3][3]; /* where R^t takes its plane's two directions and normal at the start */
    float turn[3][3];  /* what its rotation is now, relative to that */
} facing;

/* Work memory, in doubles: three forms, the triangles' facings, and the solver's. */
static size_t facings_size(const ex_between *b) {
    return ((size_t)b->triangle_count * sizeof(facing) + sizeof(double) - 1) / sizeof(double);
}

size_t exi_between_work_size(const ex_between *b) {
    return 9 * (size_t)b->vertex_count + facings_size(b) + exi_factor_work_size(b->factor) / sizeof(double) + 1;
}

static void solve(const ex_between *b, double *right, double *work) {
    for (int i = 0; i < 3; i++)
        right[3 * HELD + i] += b->held * b->start[3 * HELD + i];
    exi_factor_solve(b->factor, right, work + 9 * (size_t)b->vertex_count + facings_size(b));
}

/* The start's centroid is the in-between's too: the screw moves it. */
static void centre(const ex_between *b, double *form) {
    double sum[3] = {0}, total = 0;
    for (int v = 0; v < b->vertex_count; v++) {
        total += b->vertex_areas[v];
        for (int i = 0; i < 3; i++)
            sum[i] += b->vertex_areas[v] * form[3 * v + i];
    }
    for (int v = 0; v < b->vertex_count; v++)
        for (int i = 0; i < 3; i++)
            form[3 * v + i] += total > 0 ? b->centre[i] - sum[i] / total : 0;
}

static void begin_facing(const ex_between *b, int triangle, double r[3][3], facing *f) {
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

void exi_between_poisson(const ex_between *b, double t, double *positions, double *work) {
    facing *facings = (facing *)(work + 9 * (size_t)b->vertex_count);
    memset(positions, 0, 3 * (size_t)b->vertex_count * sizeof *positions);
    for (int k = 0; k < b->triangle_count; k++) {
        if (b->areas[k] == 0)
            continue;
        const double *s = b->stretches + 6 * k, *slopes = b->slopes + 9 * k;
        double w[3], r[3][3];
        for (int i = 0; i < 3; i++)
            w[i] = t * b->turns[3 * k + i];
        exi_turn_matrix(w, r);
        begin_facing(b, k, r, &facings[k]);
        for (int c = 0; c < 3; c++) {
            const double *g = slopes + 3 * c;
            double stretched[3] = {(1 - t) * g[0] + t * (s[0] * g[0] + s[3] * g[1] + s[4] * g[2]),
                                   (1 - t) * g[1] + t * (s[3] * g[0] + s[1] * g[1] + s[5] * g[2]),
                                   (1 - t) * g[2] + t * (s[4] * g[0] + s[5] * g[1] + s[2] * g[2])};
            exi_apply(r, stretched, stretched);
            for (int i = 0; i < 3; i++)
                positions[3 * b->triangles[3 * k + c] + i] += b->areas[k] * stretched[i];
        }
    }
    for (int i = 0; i < b->link_count; i++) {
        double r[3][3];
        exi_link_rotation(b, &b->links[i], t, r);
        add_link(&b->links[i], r, t, positions);
    }
    solve(b, positions, work);
    centre(b, positions);
}

/* out = [p q] G^(-1/2), G being their products: the nearest pair of perpendicular directions of length 1. */
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

/* A triangle's plane leans towards where its neighbours' rotations would take it. */
static void lean(const ex_between *b, int triangle, const facing *facings, double f1[3], double f2[3]) {
    const facing *own = &facings[triangle];
    float sum[3][3] = {{0}};
    for (int k = 0; k < 3; k++) {
        const int other = b->neighbours[3 * (size_t)triangle + (size_t)k];
        for (int i = 0; i < 9 && other >= 0; i++)
            sum[i / 3][i % 3] += facings[other].turn[i / 3][i % 3];
    }
    for (int i = 0; i < 3; i++) {
        f1[i] += COUPLING *
                 (double)(sum[i][0] * own->frame[0][0] + sum[i][1] * own->frame[0][1] + sum[i][2] * own->frame[0][2]);
        f2[i] += COUPLING *
                 (double)(sum[i][0] * own->frame[1][0] + sum[i][1] * own->frame[1][1] + sum[i][2] * own->frame[1][2]);
    }
}

/* The rotation that takes the frame to f1, f2 and their normal. */
static void keep_turn(const double f1[3], const double f2[3], facing *f) {
    double n[3];
    exi_cross(f1, f2, n);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            f->turn[i][j] =
                (float)f1[i] * f->frame[0][j] + (float)f2[i] * f->frame[1][j] + (float)n[i] * f->frame[2][j];
}

/* The right-hand side of the next global step, `right` zero: every triangle's rotation found from the form. */
static void local_step(const ex_between *b, double t, const double *form, facing *facings, double *right) {
    for (int k = 0; k < b->triangle_count; k++) {
        const double *plane = b->planes + 8 * (size_t)k;
        const int *c = b->triangles + 3 * (size_t)k;
        const double *x0 = form + 3 * c[0], *x1 = form + 3 * c[1], *x2 = form + 3 * c[2];
        /* slopes of corners 1 and 2 in the plane, and S_t */
        const double u1 = plane[0], v1 = plane[1], u2 = plane[2], v2 = plane[3];
        const double sx = 1 - t + t * plane[4], sxy = t * plane[5], sy = 1 - t + t * plane[6], area = plane[7];
        double p[3], q[3];
        if (area == 0)
            continue;
        for (int i = 0; i < 3; i++) {
            const double d1 = x1[i] - x0[i], d2 = x2[i] - x0[i], du = u1 * d1 + u2 * d2, dv = v1 * d1 + v2 * d2;
            p[i] = du * sx + dv * sxy;
            q[i] = du * sxy + dv * sy;
        }
        straighten(p, q, p, q);
        double own[2][3] = {{p[0], p[1], p[2]}, {q[0], q[1], q[2]}};
        lean(b, k, facings, p, q);
        straighten(p, q, p, q);
        keep_turn(own[0], own[1], &facings[k]);
        /* area [p q] S_t, times the slopes */
        const double p1 = area * (sx * u1 + sxy * v1), q1 = area * (sxy * u1 + sy * v1);
        const double p2 = area * (sx * u2 + sxy * v2), q2 = area * (sxy * u2 + sy * v2);
        double *r0 = right + 3 * c[0], *r1 = right + 3 * c[1], *r2 = right + 3 * c[2];
        for (int i = 0; i < 3; i++) {
            const double y1 = p[i] * p1 + q[i] * q1, y2 = p[i] * p2 + q[i] * q2;
            r1[i] += y1;
            r2[i] += y2;
            r0[i] -= y1 + y2;
        }
    }
}

/* The next point to look at, in `at`: beyond `now`, seen from `last`, unless that leads uphill. */
static void advance(size_t count, const double *now, const double *last, double *at, double *momentum) {
    double uphill = 0;
    for (size_t i = 0; i < count; i++)
        uphill += (at[i] - now[i]) * (now[i] - last[i]);
    const double before = *momentum;
    *momentum = uphill > 0 ? 1 : 0.5 * (1 + sqrt(1 + 4 * before * before));
    const double further = uphill > 0 ? 0 : (before - 1) / *momentum;
    for (size_t i = 0; i < count; i++)
        at[i] = now[i] + further * (now[i] - last[i]);
}

void exi_between_rigid(const ex_between *b, double t, double *positions, double *work) {
    const size_t n = 3 * (size_t)b->vertex_count;
    double *right = work, *first = work + n, *last = work + 2 * n, momentum = 1;
    facing *facings = (facing *)(work + 3 * n);
    exi_between_poisson(b, t, positions, work);
    memcpy(first, positions, n * sizeof *first);
    memcpy(last, positions, n * sizeof *last);
    for (int k = 0; k < b->iterations; k++) {
        memset(right, 0, n * sizeof *right);
        local_step(b, t, positions, facings, right);
        for (int i = 0; i < b->link_count; i++) {
            double r[3][3];
            link_rotation_of(b, &b->links[i], positions, r);
            add_link(&b->links[i], r, t, right);
        }
        solve(b, right, work);
        advance(n, right, last, positions, &momentum);
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

void exi_between_move(const ex_between *b, double t, double *positions) {
    double w[3], turn[3][3], mean[3][3], shift[3];
    for (int i = 0; i < 3; i++)
        w[i] = t * b->screw.turn[i];
    exi_turn_matrix(w, turn);
    exi_mean_turn(w, mean);
    exi_apply(mean, b->screw.move, shift);
    for (int v = 0; v < b->vertex_count; v++) {
        double arm[3];
        exi_subtract(positions + 3 * v, b->centre, arm);
        exi_apply(turn, arm, arm);
        for (int i = 0; i < 3; i++)
            positions[3 * v + i] = b->centre[i] + arm[i] + t * shift[i];
    }
}

void exi_between_polynomial(const ex_between *b, double t, const double *forms, double *positions) {
    const size_t n = 3 * (size_t)b->vertex_count;
    double basis[5];
    for (int i = 0; i < 5; i++) {
        basis[i] = 1;
        for (int j = 0; j < 5; j++)
            basis[i] *= j == i ? 1 : (t - 0.25 * j) / (0.25 * (i - j));
    }
    for (size_t i = 0; i < n; i++)
        positions[i] = basis[0] * b->start[i] + basis[1] * forms[i] + basis[2] * forms[n + i] +
                       basis[3] * forms[2 * n + i] + basis[4] * b->aligned[i];
}

ex_result ex_between_form(const ex_between *b, ex_between_method method, double t, double *positions, ex_error *error) {
    const size_t n = 3 * (size_t)b->vertex_count;
    if (t == 0 || t == 1) {
        memcpy(positions, t == 0 ? b->start : b->end, n * sizeof *positions);
        return EX_OK;
    }
    double *work = exi_array_allocate(exi_between_work_size(b) + 3 * n, sizeof *work);
    if (!work)
        return exi_error_memory(error, "an in-between", (exi_between_work_size(b) + 3 * n) * sizeof *work);
    if (method == EX_BETWEEN_POISSON) {
        exi_between_poisson(b, t, positions, work);
    } else if (method == EX_BETWEEN_RIGID) {
        exi_between_rigid(b, t, positions, work);
    } else if (method == EX_BETWEEN_POLYNOMIAL) {
        double *forms = work + exi_between_work_size(b);
        for (int i = 0; i < 3; i++)
            exi_between_rigid(b, 0.25 * (i + 1), forms + (size_t)i * n, work);
        exi_between_polynomial(b, t, forms, positions);
    } else {
        for (size_t i = 0; i < n; i++)
            positions[i] = (1 - t) * b->start[i] + t * b->aligned[i];
    }
    exi_between_move(b, t, positions);
    free(work);
    return EX_OK;
}

void ex_between_screw(const ex_between *b, ex_screw *screw, double centre[3]) {
    *screw = b->screw;
    memcpy(centre, b->centre, sizeof b->centre);
}

/* ---- making ---- */

static ex_result check(const ex_between_def *def, ex_error *error) {
    if (def->vertex_count < 1 || def->triangle_count < 0 || def->iterations < 0)
        return exi_error(error, EX_ERROR_ARGUMENT,
                         "an in-between needs at least one vertex, and counts that are not negative");
    if (def->vertex_count > 100000000 || def->triangle_count > 200000000)
        return exi_error(error, EX_ERROR_LIMIT, "more than 100 million vertices");
    for (int i = 0; i < 3 * def->triangle_count; i++)
        if (def->triangles[i] < 0 || def->triangles[i] >= def->vertex_count)
            return exi_error(error, EX_ERROR_DATA, "triangle %d names vertex %d, and there are %d", i / 3 + 1,
                             def->triangles[i] + 1, def->vertex_count);
    for (int e = 0; e < 2; e++)
        for (int i = 0; i < 3 * def->vertex_count; i++)
            if (!(fabs((e ? def->end : def->start)[i]) < 1e30))
                return exi_error(error, EX_ERROR_DATA, "vertex %d of the %s form is not finite", i / 3 + 1,
                                 e ? "end" : "start");
    return EX_OK;
}

/* Every triangle's plane: slopes of corners 1 and 2, stretch in it, area; together, as the local step streams them. */
static void flatten(ex_between *b) {
    for (int t = 0; t < b->triangle_count; t++) {
        double e[2][3], *plane = b->planes + 8 * (size_t)t;
        const double *s = b->stretches + 6 * (size_t)t, *slopes = b->slopes + 9 * (size_t)t;
        exi_surface_frame(b, t, e[0], e[1]);
        memcpy(b->frames + 6 * (size_t)t, e, sizeof e);
        for (int k = 0; k < 4; k++)
            plane[k] = exi_dot3(slopes + 3 + 3 * (k / 2), e[k % 2]);
        for (int k = 0; k < 3; k++) {
            const double *x = e[k / 2], *y = e[(k + 1) / 2];
            const double sy[3] = {s[0] * y[0] + s[3] * y[1] + s[4] * y[2], s[3] * y[0] + s[1] * y[1] + s[5] * y[2],
                                  s[4] * y[0] + s[5] * y[1] + s[2] * y[2]};
            plane[4 + k] = exi_dot3(x, sy);
        }
        plane[7] = b->areas[t];
    }
}

static bool allocate(ex_between *b, const ex_between_def *def) {
    const size_t n = (size_t)def->vertex_count, m = (size_t)def->triangle_count;
    b->triangles = exi_array_copy(def->triangles, 3 * m, sizeof *b->triangles);
    b->start = exi_array_copy(def->start, 3 * n, sizeof *b->start);
    b->end = exi_array_copy(def->end, 3 * n, sizeof *b->end);
    b->aligned = calloc(3 * n, sizeof *b->aligned);
    b->areas = calloc(m + 1, sizeof *b->areas);
    b->slopes = calloc(9 * m + 1, sizeof *b->slopes);
    b->normals = calloc(3 * m + 1, sizeof *b->normals);
    b->turns = calloc(3 * m + 1, sizeof *b->turns);
    b->stretches = calloc(6 * m + 1, sizeof *b->stretches);
    b->planes = calloc(8 * m + 1, sizeof *b->planes);
    b->frames = calloc(6 * m + 1, sizeof *b->frames);
    b->neighbours = calloc(3 * m + 1, sizeof *b->neighbours);
    b->vertex_areas = calloc(n, sizeof *b->vertex_areas);
    b->triangle_starts = calloc(n + 1, sizeof *b->triangle_starts);
    b->triangle_list = calloc(3 * m + 1, sizeof *b->triangle_list);
    b->components = calloc(n, sizeof *b->components);
    return b->triangles && b->start && b->end && b->aligned && b->areas && b->slopes && b->normals && b->turns &&
           b->stretches && b->planes && b->frames && b->neighbours && b->vertex_areas && b->triangle_starts &&
           b->triangle_list && b->components;
}

ex_result ex_between_create(const ex_between_def *def, ex_between **between, ex_error *error) {
    if (!def || !between)
        return exi_misuse_error(error, "ex_between_create", "NULL");
    *between = NULL;
    ex_result result = check(def, error);
    if (result != EX_OK)
        return result;
    ex_between *b = calloc(1, sizeof *b);
    if (!b)
        return exi_error_memory(error, "an in-between", sizeof *b);
    b->vertex_count = def->vertex_count;
    b->triangle_count = def->triangle_count;
    b->iterations = def->iterations ? def->iterations : ITERATIONS;
    b->tasks = def->tasks;
    result = allocate(b, def) ? exi_surface_measure(b, error)
                              : exi_error_memory(error, "an in-between", 300 * (size_t)def->triangle_count);
    if (result == EX_OK)
        result = exi_surface_link(b, error);
    if (result == EX_OK)
        result = exi_surface_branch(b, error);
    if (result == EX_OK) {
        exi_surface_link_ends(b);
        flatten(b);
        result = factorise(b, def->progress, error);
    }
    if (result != EX_OK) {
        ex_between_destroy(b);
        return result;
    }
    *between = b;
    return EX_OK;
}

void ex_between_destroy(ex_between *b) {
    if (!b)
        return;
    exi_factor_destroy(b->factor);
    void *const arrays[] = {b->triangles, b->start,      b->end,          b->aligned,         b->areas,
                            b->slopes,    b->normals,    b->turns,        b->stretches,       b->planes,
                            b->links,     b->components, b->vertex_areas, b->triangle_starts, b->triangle_list,
                            b->frames,    b->neighbours};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(b);
}
