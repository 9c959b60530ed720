/*
 * In-betweens of two forms, in the frame of the start (surface.c), and the screw that undoes the alignment.
 *
 * Poisson: the form x whose gradients are nearest to the triangles' own, R^t ((1 - t) I + t S):
 *   minimise  sum over triangles of area |grad x - g|^2  +  sum over links of weight |x_a - x_b - d|^2,
 * one symmetric system L x = b for the three coordinates, factorised once.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/trajectory/surface.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"

#define ITERATIONS 30

/* Limits, so that an int can count nine numbers per triangle. */
enum { VERTEX_MOST = 100000000, TRIANGLE_MOST = 200000000 };

const char *ex_between_name(ex_between_method method) {
    static const char *const names[] = {
#define EX_BETWEEN_NAME(name, text) text,
        EX_BETWEEN_LIST(EX_BETWEEN_NAME)
#undef EX_BETWEEN_NAME
    };
    return method >= 0 && method < EX_BETWEEN_COUNT ? names[method] : "";
}

/* ---- the system ---- */

/* The vertex that is held in place, so that the system has a unique solution. Its final position does not matter. */
#define HELD 0

typedef struct assembly {
    int *starts, *rows;
    double *values;
} assembly;

/* Adds `value` at row a, column c, a >= c; the pattern must contain it. */
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

static int compare_rows(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static pair ordered(int a, int b) {
    return a < b ? (pair){a, b} : (pair){b, a};
}

/* The i-th edge of a triangle, then the links. */
static pair pair_at(const ex_between *b, int i) {
    const int edges = 3 * b->triangle_count;
    if (i >= edges)
        return ordered(b->links[i - edges].vertices[0], b->links[i - edges].vertices[1]);
    return ordered(b->triangles[i], b->triangles[i % 3 == 2 ? i - 2 : i + 1]);
}

/* Sorts a column's rows: most have about ten. */
static void sort_rows(int *rows, int count) {
    if (count > 64) {
        qsort(rows, (size_t)count, sizeof *rows, compare_rows);
        return;
    }
    for (int i = 1; i < count; i++) {
        const int row = rows[i];
        int k = i;
        for (; k > 0 && rows[k - 1] > row; k--)
            rows[k] = rows[k - 1];
        rows[k] = row;
    }
}

/* Makes the pattern of the lower triangle: every vertex with itself, and the ends of edges and links. */
static bool make_pattern(const ex_between *b, assembly *m) {
    const int n = b->vertex_count, count = 3 * b->triangle_count + b->link_count;
    m->starts = calloc((size_t)n + 2, sizeof *m->starts);
    m->rows = exi_array_allocate((size_t)n + (size_t)count, sizeof *m->rows);
    if (!m->starts || !m->rows)
        return false;
    for (int i = 0; i < count; i++)
        m->starts[pair_at(b, i).column + 2]++;
    for (int v = 0; v < n; v++)
        m->starts[v + 2] += m->starts[v + 1] + 1;
    for (int v = 0; v < n; v++)
        m->rows[m->starts[v + 1]++] = v;
    for (int i = 0; i < count; i++) {
        const pair p = pair_at(b, i);
        m->rows[m->starts[p.column + 1]++] = p.row;
    }
    int kept = 0;
    for (int v = 0; v < n; v++) {
        const int begin = m->starts[v], end = m->starts[v + 1];
        sort_rows(m->rows + begin, end - begin);
        m->starts[v] = kept;
        for (int i = begin; i < end; i++)
            if (i == begin || m->rows[i] != m->rows[i - 1])
                m->rows[kept++] = m->rows[i];
    }
    m->starts[n] = kept;
    m->values = calloc((size_t)kept + 1, sizeof *m->values);
    return m->values;
}

/* Fills in the values. Returns the weight by which HELD is held. */
static double fill(const ex_between *b, const assembly *m) {
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
    const double held = diagonal > 0 ? diagonal / b->vertex_count : 1;
    m->values[m->starts[HELD]] += held;
    return held;
}

static ex_result factorise(ex_between *b, const ex_progress *progress, ex_error *error) {
    assembly m = {0};
    if (!make_pattern(b, &m)) {
        free(m.starts);
        free(m.rows);
        free(m.values);
        return ex_error_memory(error, "the system of in-betweens", 16 * 4 * (size_t)b->vertex_count);
    }
    b->held = fill(b, &m);
    const exi_symmetric matrix = {b->vertex_count, m.starts, m.rows, m.values};
    ex_result result = exi_factor_create(&matrix, progress, &b->factor, error);
    if (result == EX_ERROR_SINGULAR)
        result = ex_error_within(error, result, "the triangles are too unlike each other (a row is a vertex)");
    free(m.starts);
    free(m.rows);
    free(m.values);
    return result;
}

/* ---- forms ---- */

/* Work memory: three forms, the facings, the goals, and the solver's. */
static size_t doubles(size_t bytes) {
    return (bytes + sizeof(double) - 1) / sizeof(double);
}

size_t exi_between_work_size(const ex_between *b) {
    return 9 * (size_t)b->vertex_count + doubles(exi_facings_size(b)) + doubles(exi_goals_size(b)) +
           doubles(exi_factor_work_size(b->factor));
}

exi_goal *exi_between_goals(const ex_between *b, double *work) {
    return (exi_goal *)(void *)(work + 9 * (size_t)b->vertex_count + doubles(exi_facings_size(b)));
}

void exi_between_solve(const ex_between *b, double *right, double *work) {
    for (int i = 0; i < 3; i++)
        right[3 * HELD + i] += b->held * b->start[3 * HELD + i];
    exi_between_solve_change(b, right, work);
}

void exi_between_solve_changes(const ex_between *b, int count, double *const *rights, double *const *work) {
    double *solving[EXI_TOGETHER];
    for (int i = 0; i < count; i++)
        solving[i] = work[i] + 9 * (size_t)b->vertex_count + doubles(exi_facings_size(b)) + doubles(exi_goals_size(b));
    exi_factor_solve_several(b->factor, count, rights, solving);
}

void exi_between_solve_change(const ex_between *b, double *right, double *work) {
    exi_between_solve_changes(b, 1, &right, &work);
}

/* Moves the form's centroid to the start's: moving it is left to the screw. */
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

void exi_between_poisson(const ex_between *b, double t, double *positions, double *work) {
    memset(positions, 0, 3 * (size_t)b->vertex_count * sizeof *positions);
    for (int k = 0; k < b->triangle_count; k++) {
        if (b->areas[k] == 0)
            continue;
        const double *s = b->stretches + 6 * k, *slopes = b->slopes + 9 * k;
        double w[3], r[3][3];
        for (int i = 0; i < 3; i++)
            w[i] = t * b->turns[3 * k + i];
        exi_turn_matrix(w, r);
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
    exi_links_pull(b, t, NULL, positions);
    exi_between_solve(b, positions, work);
    centre(b, positions);
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
        return ex_error_memory(error, "an in-between", (exi_between_work_size(b) + 3 * n) * sizeof *work);
    if (method == EX_BETWEEN_POISSON) {
        exi_between_poisson(b, t, positions, work);
    } else if (method == EX_BETWEEN_RIGID) {
        exi_between_rigid(b, t, b->iterations, positions, work);
    } else if (method == EX_BETWEEN_POLYNOMIAL) {
        double *forms = work + exi_between_work_size(b);
        for (int i = 0; i < 3; i++)
            exi_between_rigid(b, 0.25 * (i + 1), b->iterations, forms + (size_t)i * n, work);
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

/* ---- creating ---- */

static ex_result check(const ex_between_def *def, ex_error *error) {
    if (def->vertex_count < 1 || def->triangle_count < 0 || def->iterations < 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "an in-between needs at least one vertex, and counts that are not negative");
    if (def->vertex_count > VERTEX_MOST || def->triangle_count > TRIANGLE_MOST)
        return ex_error_set(error, EX_ERROR_LIMIT,
                            "there are %d vertices and %d triangles; at most %d and %d can be joined",
                            def->vertex_count, def->triangle_count, VERTEX_MOST, TRIANGLE_MOST);
    for (int i = 0; i < 3 * def->triangle_count; i++)
        if (def->triangles[i] < 0 || def->triangles[i] >= def->vertex_count)
            return ex_error_set(error, EX_ERROR_DATA,
                                "triangle %d refers to vertex %d, but there are %d (counting from 0)", i / 3,
                                def->triangles[i], def->vertex_count);
    for (int e = 0; e < 2; e++)
        for (int i = 0; i < 3 * def->vertex_count; i++)
            if (!(fabs((e ? def->end : def->start)[i]) < 1e30))
                return ex_error_set(error, EX_ERROR_DATA, "vertex %d (counting from 0) of the %s form is %s", i / 3,
                                    e ? "end" : "start",
                                    isfinite((e ? def->end : def->start)[i])
                                        ? "too far away: coordinates must be below 1e30"
                                        : "not finite");
    return EX_OK;
}

/* Computes every triangle's plane: slopes of corners 1 and 2, stretch in it, area. */
static void flatten(void *context, int begin, int end) {
    const ex_between *b = context;
    for (int t = begin; t < end; t++) {
        double e[2][3], *plane = b->planes + 5 * (size_t)t;
        const double *s = b->stretches + 6 * (size_t)t, *slopes = b->slopes + 9 * (size_t)t;
        exi_surface_frame(b, t, e[0], e[1]);
        memcpy(b->frames + 6 * (size_t)t, e, sizeof e);
        for (int k = 0; k < 4; k++)
            plane[k] = exi_dot3(slopes + 3 + 3 * (k / 2), e[k % 2]);
        for (int k = 0; k < 3; k++) {
            const double *x = e[k / 2], *y = e[(k + 1) / 2];
            const double sy[3] = {s[0] * y[0] + s[3] * y[1] + s[4] * y[2], s[3] * y[0] + s[1] * y[1] + s[5] * y[2],
                                  s[4] * y[0] + s[5] * y[1] + s[2] * y[2]};
            b->strains[3 * (size_t)t + (size_t)k] = exi_dot3(x, sy);
        }
        plane[4] = b->areas[t];
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
    b->planes = calloc(5 * m + 1, sizeof *b->planes);
    b->strains = calloc(3 * m + 1, sizeof *b->strains);
    b->frames = calloc(6 * m + 1, sizeof *b->frames);
    b->neighbours = calloc(3 * m + 1, sizeof *b->neighbours);
    b->vertex_areas = calloc(n, sizeof *b->vertex_areas);
    b->triangle_starts = calloc(n + 1, sizeof *b->triangle_starts);
    b->triangle_list = calloc(3 * m + 1, sizeof *b->triangle_list);
    b->components = calloc(n, sizeof *b->components);
    return b->triangles && b->start && b->end && b->aligned && b->areas && b->slopes && b->normals && b->turns &&
           b->stretches && b->planes && b->strains && b->frames && b->neighbours && b->vertex_areas &&
           b->triangle_starts && b->triangle_list && b->components;
}

/* Takes components, links and the factor from an in-between with the same start. */
static bool borrow(ex_between *b, const ex_between *like) {
    b->links = exi_array_copy(like->links, (size_t)like->link_count, sizeof *b->links);
    b->link_count = like->link_count;
    b->component_count = like->component_count;
    memcpy(b->components, like->components, (size_t)b->vertex_count * sizeof *b->components);
    b->factor = like->factor;
    b->held = like->held;
    b->borrowed = true;
    return b->links != NULL;
}

static ex_result create(const ex_between_def *def, double thin, const ex_between *like, const double *const *others,
                        int other_count, ex_between **between, ex_error *error) {
    ex_result result = EX_OK;
    ex_between *b = calloc(1, sizeof *b);
    if (!b)
        return ex_error_memory(error, "an in-between", sizeof *b);
    b->vertex_count = def->vertex_count;
    b->triangle_count = def->triangle_count;
    b->iterations = def->iterations ? def->iterations : ITERATIONS;
    b->thin = thin;
    b->tasks = def->tasks;
    result = allocate(b, def) ? exi_surface_measure(b, error)
                              : ex_error_memory(error, "an in-between", 300 * (size_t)def->triangle_count);
    if (result == EX_OK && like)
        result = borrow(b, like) ? EX_OK : ex_error_memory(error, "links", (size_t)like->link_count * sizeof *b->links);
    else if (result == EX_OK)
        result = exi_surface_link(b, others, other_count, error);
    if (result == EX_OK)
        result = exi_surface_branch(b, error);
    if (result == EX_OK) {
        exi_surface_link_ends(b);
        exi_run(b->tasks, b->triangle_count, 1024, flatten, b);
        if (!exi_flats_create(b, &b->flats))
            result = ex_error_memory(error, "an in-between", 48 * (size_t)def->triangle_count);
        else if (!like)
            result = factorise(b, def->progress, error);
    }
    if (result != EX_OK) {
        ex_between_destroy(b);
        return result;
    }
    *between = b;
    return EX_OK;
}

ex_result exi_between_create_like(const ex_between_def *def, const ex_between *like, ex_between **between,
                                  ex_error *error) {
    *between = NULL;
    const ex_result result = check(def, error);
    return result == EX_OK ? create(def, like->thin, like, NULL, 0, between, error) : result;
}

ex_result exi_between_create_among(const ex_between_def *def, const double *const *others, int other_count,
                                   ex_between **between, ex_error *error) {
    /* The thinner a triangle, the more strongly it pulls its corners together. Where a whole region consists of
     * needles, rounding destroys how it holds together along them; links do better there. */
    static const double thins[] = {0, 1e-6, 1e-4, 1e-2};
    *between = NULL;
    ex_result result = check(def, error);
    if (result != EX_OK)
        return result;
    result = EX_ERROR_SINGULAR;
    for (size_t i = 0; result == EX_ERROR_SINGULAR && i < sizeof thins / sizeof *thins; i++)
        result = create(def, thins[i], NULL, others, other_count, between, error);
    return result;
}

ex_result ex_between_create(const ex_between_def *def, ex_between **between, ex_error *error) {
    if (!def || !between)
        return exi_misuse_error(error, "ex_between_create", "NULL");
    return exi_between_create_among(def, &def->end, 1, between, error);
}

void ex_between_destroy(ex_between *b) {
    if (!b)
        return;
    if (!b->borrowed)
        exi_factor_destroy(b->factor);
    void *const arrays[] = {b->triangles, b->start,      b->end,          b->aligned,         b->areas,
                            b->slopes,    b->normals,    b->turns,        b->stretches,       b->planes,
                            b->links,     b->components, b->vertex_areas, b->triangle_starts, b->triangle_list,
                            b->frames,    b->neighbours, b->strains};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    exi_flats_free(&b->flats);
    free(b);
}
