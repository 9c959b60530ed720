/*
 * Fair filling of holes (Allen, Curless, Popovic, section 4.2, equation 4):
 *
 *     minimise  sum over j of  kappa_j (d_j - measured d_j)^2 + (1 - kappa_j) (Laplacian d at j - target_j)^2
 *
 * with kappa 0 in holes, 1 / (ramp + 1), 2 / (ramp + 1), … on the rings of measured vertices around them, and 1 beyond,
 * where nothing changes. The target is 0, or, where other maps lend their detail, the mean of their Laplacians. Then
 * the difference from them becomes the thin plate, and meets the edge of the hole just as smoothly. Laplacians are
 * averaged, not maps, since a mean of maps jumps where the next of them has a hole.
 *
 * The unknowns are the vertices of holes and ramps, in one sparse symmetric system, which is factorised. If a part
 * shows too little to determine its plate (nothing, or a corner), a faint pull towards the present values decides.
 */
#include "author/scan/map/map.h"

#include "author/base/array.h"
#include "author/solve/solve.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RAMP = 3, RAMP_MOST = 1000 };
/* The faint pull, and how often it is made a thousand times stronger if the system has no solution. */
#define PULL 1e-9
enum { PULLS = 3 };
#define CG_TOLERANCE 1e-12

typedef struct filling {
    ex_displacement_map *map;
    const exi_map_net *net;
    const exi_map_lent *lent;
    const ex_fill_options *options;
    int *rings;     /* [vertex_count]: 0 in holes, 1 … ramp around them, -1 beyond and outside */
    double *slacks; /* [vertex_count]: 1 - kappa; 0 if nothing changes */
    int *unknowns;  /* [vertex_count]: number among the unknowns, or -1 */
    int *vertices;  /* [n] */
    int n;
    exi_plate plate;
    int *column_starts; /* [n + 1] rows of the plate that contain an unknown */
    int *column_rows;
    double *column_values;
    int *starts, *rows; /* the system */
    double *values;
    double *right; /* [n] right-hand side, then the solution */
} filling;

/* ---- vertices that change ---- */

static bool is_hole(const ex_displacement_map *map, int v) {
    return map->states[v] == EX_DISPLACEMENT_MAP_FILLED || map->states[v] == EX_DISPLACEMENT_MAP_LENT;
}

static bool is_measured(const ex_displacement_map *map, int v) {
    return map->states[v] == EX_DISPLACEMENT_MAP_HIT || map->states[v] == EX_DISPLACEMENT_MAP_FAIRED;
}

static void find_rings(filling *f, int ramp, double weight) {
    const exi_map_net *net = f->net;
    f->n = 0;
    for (int v = 0; v < net->vertex_count; v++)
        f->rings[v] = is_hole(f->map, v) ? 0 : -1;
    for (int ring = 1; ring <= ramp; ring++)
        for (int v = 0; v < net->vertex_count; v++) {
            if (f->rings[v] != -1 || !is_measured(f->map, v))
                continue;
            for (int i = net->ring_starts[v]; i < net->ring_starts[v + 1] && f->rings[v] == -1; i++)
                if (f->rings[net->ring[i]] == ring - 1)
                    f->rings[v] = ring;
        }
    for (int v = 0; v < net->vertex_count; v++) {
        const bool free = f->rings[v] >= 0;
        f->slacks[v] = free ? weight * (1 - f->rings[v] / (ramp + 1.0)) : 0;
        f->unknowns[v] = free ? f->n : -1;
        if (free)
            f->vertices[f->n++] = v;
    }
}

/* ---- the system ---- */

/* Lists the plate's rows by unknown. */
static bool sort_columns(filling *f) {
    const exi_plate *p = &f->plate;
    const size_t count = (size_t)p->entry_count;
    f->column_starts = calloc((size_t)f->n + 2, sizeof *f->column_starts);
    f->column_rows = exi_array_allocate(count, sizeof *f->column_rows);
    f->column_values = exi_array_allocate(count, sizeof *f->column_values);
    if (!f->column_starts || !f->column_rows || !f->column_values)
        return false;
    for (int i = 0; i < p->entry_count; i++)
        if (f->unknowns[p->vertices[i]] >= 0)
            f->column_starts[f->unknowns[p->vertices[i]] + 2]++;
    for (int j = 0; j < f->n; j++)
        f->column_starts[j + 2] += f->column_starts[j + 1];
    for (int r = 0; r < p->row_count; r++)
        for (int i = p->starts[r]; i < p->starts[r + 1]; i++) {
            const int j = f->unknowns[p->vertices[i]];
            if (j < 0)
                continue;
            const int at = f->column_starts[j + 1]++;
            f->column_rows[at] = r;
            f->column_values[at] = p->coefficients[i];
        }
    return true;
}

static int compare_ints(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* Computes column j of the lower triangle of the plate's matrix: its rows, into found, and sums [n], which are 0
 * elsewhere. The diagonal is always included. */
static int multiply_column(const filling *f, int j, int *found, int *marks, double *sums) {
    const exi_plate *p = &f->plate;
    int count = 0;
    marks[j] = j + 1;
    found[count++] = j;
    for (int i = f->column_starts[j]; i < f->column_starts[j + 1]; i++) {
        const int r = f->column_rows[i];
        const double times = p->weights[r] * f->column_values[i];
        for (int e = p->starts[r]; e < p->starts[r + 1]; e++) {
            const int k = f->unknowns[p->vertices[e]];
            if (k < j)
                continue;
            if (marks[k] != j + 1) {
                marks[k] = j + 1;
                found[count++] = k;
            }
            sums[k] += times * p->coefficients[e];
        }
    }
    qsort(found, (size_t)count, sizeof *found, compare_ints);
    return count;
}

static bool assemble(filling *f) {
    const size_t n = (size_t)f->n;
    int *marks = calloc(n + 1, sizeof *marks), *found = exi_array_allocate(n, sizeof *found);
    double *sums = calloc(n + 1, sizeof *sums);
    size_t capacity = 0, value_capacity = 0;
    f->starts = exi_array_allocate(n + 1, sizeof *f->starts);
    bool good = marks && found && sums && f->starts;
    if (good)
        f->starts[0] = 0;
    for (int j = 0; good && j < f->n; j++) {
        const int count = multiply_column(f, j, found, marks, sums), first = f->starts[j];
        int *rows = exi_array_grow(f->rows, &capacity, (size_t)(first + count), sizeof *rows);
        f->rows = rows ? rows : f->rows;
        double *values = exi_array_grow(f->values, &value_capacity, (size_t)(first + count), sizeof *values);
        f->values = values ? values : f->values;
        good = rows && values;
        for (int i = 0; good && i < count; i++) {
            f->rows[first + i] = found[i];
            f->values[first + i] = sums[found[i]];
            sums[found[i]] = 0;
        }
        f->starts[j + 1] = first + count;
    }
    free(marks);
    free(found);
    free(sums);
    return good;
}

/* Returns the mean over the lenders that know all of a row; 0 if none does. */
static double find_lent(const filling *f, int row) {
    const exi_plate *p = &f->plate;
    double sum = 0, total = 0;
    for (int i = 0; i < f->lent->count; i++) {
        const ex_displacement_map *lender = f->lent->maps[i];
        double own = 0;
        bool known = true;
        for (int e = p->starts[row]; known && e < p->starts[row + 1]; e++) {
            known = is_measured(lender, p->vertices[e]);
            own += p->coefficients[e] * (double)lender->displacements[p->vertices[e]];
        }
        sum += known ? f->lent->weights[i] * own : 0;
        total += known ? f->lent->weights[i] : 0;
    }
    return total > 0 ? sum / total : 0;
}

/* Returns the target of a row, minus the contribution of vertices that do not change. */
static double find_target(const filling *f, int row) {
    const exi_plate *p = &f->plate;
    double fixed = 0;
    for (int e = p->starts[row]; e < p->starts[row + 1]; e++)
        if (f->unknowns[p->vertices[e]] < 0)
            fixed += p->coefficients[e] * (double)f->map->displacements[p->vertices[e]];
    return find_lent(f, row) - fixed;
}

/* Adds the measured values, and the pull, to the system, and makes the right-hand side. */
static void add_measured(filling *f, int ramp, double pull) {
    const exi_plate *p = &f->plate;
    for (int j = 0; j < f->n; j++) {
        const int v = f->vertices[j];
        const double kappa = f->rings[v] / (ramp + 1.0) + pull;
        f->values[f->starts[j]] += kappa;
        f->right[j] = kappa * (double)f->map->displacements[v];
    }
    for (int r = 0; r < p->row_count; r++) {
        const double target = p->weights[r] * find_target(f, r);
        for (int e = p->starts[r]; e < p->starts[r + 1]; e++)
            if (f->unknowns[p->vertices[e]] >= 0)
                f->right[f->unknowns[p->vertices[e]]] += p->coefficients[e] * target;
    }
}

/* ---- the solve ---- */

static ex_result solve(filling *f, ex_error *error) {
    const exi_symmetric system = {f->n, f->starts, f->rows, f->values};
    exi_factor *factor = NULL;
    ex_result result = exi_factor_create(&system, f->options ? f->options->progress : NULL, &factor, error);
    double pull = PULL;
    for (int i = 0; i < PULLS && result == EX_ERROR_SINGULAR; i++, pull *= 1000) {
        for (int j = 0; j < f->n; j++) {
            f->values[f->starts[j]] += 999 * pull;
            f->right[j] += 999 * pull * (double)f->map->displacements[f->vertices[j]];
        }
        result = exi_factor_create(&system, f->options ? f->options->progress : NULL, &factor, error);
    }
    if (result != EX_OK)
        return ex_error_within(error, result, "filling holes");
    void *work = malloc(exi_factor_work_size(factor));
    if (work)
        exi_factor_solve_1(factor, f->right, work);
    else
        result = ex_error_memory(error, "filling holes", exi_factor_work_size(factor));
    free(work);
    exi_factor_destroy(factor);
    return result;
}

static void apply_system(void *user, const double *x, double *y) {
    const filling *f = user;
    exi_symmetric_apply(&(exi_symmetric){f->n, f->starts, f->rows, f->values}, 1, x, y);
}

static void divide_by_diagonal(void *user, const double *r, double *z) {
    const filling *f = user;
    for (int j = 0; j < f->n; j++)
        z[j] = r[j] / f->values[f->starts[j]];
}

/* Takes some steps from the present values. */
static ex_result step(filling *f, int steps, ex_error *error) {
    double *x = exi_array_allocate((size_t)f->n, sizeof *x), *work = malloc(exi_cg_work_size(f->n));
    const bool good = x && work;
    if (good) {
        for (int j = 0; j < f->n; j++)
            x[j] = (double)f->map->displacements[f->vertices[j]];
        exi_cg(&(exi_cg_def){.n = f->n,
                             .apply = apply_system,
                             .precondition = divide_by_diagonal,
                             .user = f,
                             .tolerance = CG_TOLERANCE,
                             .iteration_most = steps},
               f->right, x, work);
        memcpy(f->right, x, (size_t)f->n * sizeof *x);
    }
    free(x);
    free(work);
    return good ? EX_OK : ex_error_memory(error, "filling holes", exi_cg_work_size(f->n));
}

static bool is_lent(const filling *f, int v) {
    for (int i = 0; i < f->lent->count; i++)
        if (f->lent->weights[i] > 0 && is_measured(f->lent->maps[i], v))
            return true;
    return false;
}

static void write_back(const filling *f) {
    for (int j = 0; j < f->n; j++) {
        const int v = f->vertices[j];
        f->map->displacements[v] = (float)f->right[j];
        f->map->states[v] = (unsigned char)(f->rings[v] > 0 ? EX_DISPLACEMENT_MAP_FAIRED
                                            : is_lent(f, v) ? EX_DISPLACEMENT_MAP_LENT
                                                            : EX_DISPLACEMENT_MAP_FILLED);
    }
}

/* ---- entry points ---- */

static ex_result fill(filling *f, const float *positions, ex_error *error) {
    const size_t count = (size_t)f->net->vertex_count;
    const int ramp = f->options && f->options->ramp > 0 ? f->options->ramp : RAMP;
    const double weight = f->options && f->options->weight > 0 ? f->options->weight : 1;
    f->rings = exi_array_allocate(count, sizeof *f->rings);
    f->slacks = exi_array_allocate(count, sizeof *f->slacks);
    f->unknowns = exi_array_allocate(count, sizeof *f->unknowns);
    f->vertices = exi_array_allocate(count, sizeof *f->vertices);
    f->right = exi_array_allocate(count, sizeof *f->right);
    if (!f->rings || !f->slacks || !f->unknowns || !f->vertices || !f->right)
        return ex_error_memory(error, "filling holes", count * 28);
    find_rings(f, ramp, weight);
    if (f->n == 0)
        return EX_OK;
    if (!exi_plate_make(f->net, positions, f->map->states, f->slacks, &f->plate) || !sort_columns(f) || !assemble(f))
        return ex_error_memory(error, "filling holes", (size_t)f->n * 400);
    add_measured(f, ramp, PULL);
    const ex_result result = f->options && f->options->steps > 0 ? step(f, f->options->steps, error) : solve(f, error);
    if (result == EX_OK)
        write_back(f);
    return result;
}

ex_result exi_map_smooth(ex_displacement_map *map, const exi_map_net *net, const float *positions,
                         const exi_map_lent *lent, const ex_fill_options *options, ex_error *error) {
    const exi_map_lent nothing = {0};
    filling f = {.map = map, .net = net, .lent = lent ? lent : &nothing, .options = options};
    const ex_result result = fill(&f, positions, error);
    exi_plate_free(&f.plate);
    free(f.rings);
    free(f.slacks);
    free(f.unknowns);
    free(f.vertices);
    free(f.column_starts);
    free(f.column_rows);
    free(f.column_values);
    free(f.starts);
    free(f.rows);
    free(f.values);
    free(f.right);
    return result;
}

static ex_result check_lent(const exi_map_lent *lent, int vertex_count, ex_error *error) {
    ex_result result = EX_OK;
    for (int i = 0; i < lent->count && result == EX_OK; i++) {
        result = exi_map_check(lent->maps[i], vertex_count, "the map to borrow from", error);
        if (result == EX_OK && (!(lent->weights[i] >= 0) || !isfinite(lent->weights[i])))
            result =
                ex_error_set(error, EX_ERROR_ARGUMENT, "the weight of a map to borrow from is %g", lent->weights[i]);
    }
    return result;
}

ex_result ex_displacement_map_fill_lent(ex_displacement_map *map, const ex_rig *rig, int level,
                                        const ex_displacement_map *const *lenders, const double *weights,
                                        int lender_count, const ex_fill_options *options, ex_error *error) {
    if (!map || !rig || lender_count < 0 || (lender_count > 0 && (!lenders || !weights)))
        return exi_misuse_error(error, __func__, "no map, no rig, or no maps to borrow from");
    if (options && (options->ramp < 0 || options->ramp > RAMP_MOST || !(options->weight >= 0) ||
                    !isfinite(options->weight) || options->steps < 0))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "filling holes needs a ramp of 0 to %d rings, and a weight and steps that are not negative",
                            RAMP_MOST);
    exi_map_net net;
    exi_map_surface surface = {0};
    const exi_map_lent lent = {lenders, weights, lender_count};
    ex_result result = exi_map_net_make(rig, level, &net, error);
    if (result == EX_OK)
        result = exi_map_check(map, net.vertex_count, "the map", error);
    if (result == EX_OK)
        result = check_lent(&lent, net.vertex_count, error);
    if (result == EX_OK)
        result = exi_map_surface_make(rig, level, NULL, NULL, &surface, error);
    if (result == EX_OK)
        result = exi_map_smooth(map, &net, surface.positions, &lent, options, error);
    exi_map_surface_free(&surface);
    exi_map_net_free(&net);
    return result;
}

ex_result ex_displacement_map_fill(ex_displacement_map *map, const ex_rig *rig, int level,
                                   const ex_displacement_map *lender, const ex_fill_options *options, ex_error *error) {
    const double whole = 1;
    return ex_displacement_map_fill_lent(map, rig, level, &lender, &whole, lender != NULL, options, error);
}
