/*
 * Convex quadratic programs by the dual active-set method (Goldfarb and Idnani, 1983): start from the minimum without
 * constraints, then repeatedly add the most violated constraint. Each step moves x and the multipliers so that all
 * active constraints continue to hold and no multiplier falls below 0; a constraint whose multiplier would fall below 0
 * is removed. x is always the optimum for the active constraints and the objective only rises, so no active set occurs
 * twice.
 *
 * This requires a definite G. If G is not definite, a proximal iteration surrounds it:
 *
 *   x_(k+1) = the minimum of 1/2 x'Gx + g'x + ridge/2 |x - x_k|^2
 *
 * Its limit is an optimum of the original program (Rockafellar, 1976), with the residual ridge |x_(k+1) - x_k|. Every
 * round starts with the active constraints of the last: from the second round on it is two triangular solves. If there
 * is no limit, the difference of two rounds tends to a direction along which the objective decreases without bound.
 */
#include "runtime/base/quadratic.h"

#include "runtime/base/quadratic_factor.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double no_limit = 1e20;
/* Tolerances: G is definite if its pivots keep this fraction of their diagonal; the ridge relative to the largest
 * entry; the remainder of a normal that depends on others; the residuals to reach. */
static const double definite = 1e-9, ridge_part = 1e-6, dependent = 1e-18, wanted = 1e-10, strict = 1e-13;
enum { ROUNDS = 500 };

typedef struct solver {
    const exi_quadratic *program;
    int n, rows, all; /* unknowns; equalities and inequalities; those plus bounds */
    exi_active_factor factor;
    double ridge;
    double *x, *centre;        /* [n]; the proximal iteration's last x */
    double *lengths;           /* [rows]: of the normals */
    double *multipliers;       /* [n + 1], of the active constraints */
    double *normal, *step;     /* [n] */
    double *rates;             /* [n + 1] */
    double *residual, *values; /* [n] each */
    int *active;               /* [n]: number + 1, negative if it holds from above */
    char *places;              /* [all]: 1 if active, 2 if it depends on others and holds with them */
    int iterations, limit;
} solver;

size_t exi_quadratic_scratch_size(const exi_quadratic *program) {
    const size_t n = (size_t)program->unknown_count;
    const size_t rows = (size_t)program->equality_count + (size_t)program->inequality_count;
    return (exi_active_factor_size((int)n) + 7 * n + 2 + rows) * sizeof(double) + (rows + n + 7) / 8 * 8;
}

static void open_solver(solver *s, const exi_quadratic *program, double *x, int *active, void *scratch) {
    const size_t n = (size_t)program->unknown_count;
    double *next = scratch;
    *s = (solver){.program = program, .n = (int)n, .x = x, .active = active};
    s->rows = program->equality_count + program->inequality_count;
    s->all = s->rows + s->n;
    s->limit = 20 * s->all + 200;
    exi_active_factor_open(&s->factor, s->n, next);
    next += exi_active_factor_size(s->n);
    s->centre = next;
    s->multipliers = s->centre + n;
    s->normal = s->multipliers + n + 1;
    s->step = s->normal + n;
    s->rates = s->step + n;
    s->residual = s->rates + n + 1;
    s->values = s->residual + n;
    s->lengths = s->values + n;
    s->places = (char *)(s->lengths + s->rows);
}

/* ---- constraints ---- */

static double dot(const double *a, const double *b, int count) {
    double sum[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 3 < count; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < count; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static const double *row_of(const solver *s, int number) {
    const exi_quadratic *p = s->program;
    return number < p->equality_count ? p->equalities + (size_t)number * (size_t)s->n
                                      : p->inequalities + (size_t)(number - p->equality_count) * (size_t)s->n;
}

/* The side of a constraint, from below or above, in units of its normal; infinite if there is none. */
static double side_of(const solver *s, int number, bool above) {
    const exi_quadratic *p = s->program;
    const double *sides = above ? p->bound_upper : p->bound_lower;
    double value, length = 1;
    if (number >= s->rows) {
        value = sides ? sides[number - s->rows] : above ? INFINITY : -INFINITY;
    } else {
        sides = above ? p->upper : p->lower;
        length = s->lengths[number];
        if (number < p->equality_count)
            value = p->equality_values[number];
        else
            value = sides ? sides[number - p->equality_count] : above ? INFINITY : -INFINITY;
    }
    return fabs(value) < no_limit ? value / length : above ? INFINITY : -INFINITY;
}

/* a'x of a constraint's unit normal. */
static double along(const solver *s, int number, const double *x) {
    return number < s->rows ? dot(row_of(s, number), x, s->n) / s->lengths[number] : x[number - s->rows];
}

/* The unit normal a and side b of an active constraint's entry, so that a'x >= b. Returns b. */
static double set_normal(const solver *s, int entry) {
    const int number = (entry > 0 ? entry : -entry) - 1, sign = entry > 0 ? 1 : -1;
    memset(s->normal, 0, (size_t)s->n * sizeof *s->normal);
    if (number < s->rows)
        for (int i = 0; i < s->n; i++)
            s->normal[i] = sign * row_of(s, number)[i] / s->lengths[number];
    else
        s->normal[number - s->rows] = sign;
    return sign * side_of(s, number, entry < 0);
}

static bool is_equality(const solver *s, int entry) {
    const int number = (entry > 0 ? entry : -entry) - 1;
    return number < s->program->equality_count || side_of(s, number, false) == side_of(s, number, true);
}

static double size_of(const double *values, int count) {
    return sqrt(dot(values, values, count));
}

/* Rounding error of a constraint: its side and x are not known better. */
static double slack(double side, double x_size) {
    return strict * (fabs(side) + x_size);
}

/* ---- the point of an active set ---- */

/* residual = -(gradient of the regularised objective - sum of multipliers times normals). Returns the size of its
 * parts. */
static double set_residual(const solver *s, double ridge) {
    const exi_quadratic *p = s->program;
    double largest = 0;
    for (int i = 0; i < s->n; i++) {
        const double *row = p->matrix + (size_t)i * (size_t)s->n;
        double size = fabs(p->linear[i]);
        for (int j = 0; j < s->n; j++)
            size += fabs(row[j] * s->x[j]);
        s->residual[i] = -p->linear[i] - dot(row, s->x, s->n) - ridge * (s->x[i] - s->centre[i]);
        largest = size > largest ? size : largest;
    }
    for (int k = 0; k < s->factor.count; k++) {
        set_normal(s, s->active[k]);
        for (int i = 0; i < s->n; i++)
            s->residual[i] += s->multipliers[k] * s->normal[i];
        largest = fabs(s->multipliers[k]) > largest ? fabs(s->multipliers[k]) : largest;
    }
    return largest;
}

/* Improves x and the multipliers by `times` rounds of solving for the residuals. */
static void refine(solver *s, int times) {
    for (int round = 0; round < times; round++) {
        set_residual(s, s->ridge);
        for (int k = 0; k < s->factor.count; k++) {
            const double side = set_normal(s, s->active[k]);
            s->values[k] = side - dot(s->normal, s->x, s->n);
        }
        exi_active_factor_correct(&s->factor, s->residual, s->values, s->x, s->multipliers);
    }
}

static void take_out(solver *s, int k) {
    s->places[(s->active[k] > 0 ? s->active[k] : -s->active[k]) - 1] = 0;
    for (int number = 0; number < s->all; number++)
        s->places[number] = s->places[number] == 2 ? 0 : s->places[number];
    exi_active_factor_drop(&s->factor, k);
    for (int i = k; i < s->factor.count; i++) {
        s->active[i] = s->active[i + 1];
        s->multipliers[i] = s->multipliers[i + 1];
    }
    s->iterations++;
}

/* Moves x to the minimum over the active constraints, and removes those that would hold it back. */
static void settle(solver *s) {
    for (;;) {
        refine(s, 2);
        double least = 0;
        int worst = -1;
        for (int k = 0; k < s->factor.count; k++)
            if (s->multipliers[k] < least && !is_equality(s, s->active[k])) {
                least = s->multipliers[k];
                worst = k;
            }
        if (worst < 0)
            return;
        take_out(s, worst);
    }
}

/* ---- the dual method ---- */

/* Moves until constraint `entry` holds with equality and is active. Returns SOLVED also if it depends on others and
 * holds. */
static exi_quadratic_result take_in(solver *s, int entry) {
    const double side = set_normal(s, entry), x_size = size_of(s->x, s->n);
    const int number = (entry > 0 ? entry : -entry) - 1;
    double missing = side - dot(s->normal, s->x, s->n), own = 0;
    for (;;) {
        const double free_part = s->factor.count < s->n ? exi_active_factor_look(&s->factor, s->normal) : 0;
        if (s->factor.count == s->n)
            exi_active_factor_look(&s->factor, s->normal);
        const bool depends = !(free_part > dependent);
        exi_active_factor_step(&s->factor, s->step, s->rates);
        double length = INFINITY, open = 0;
        for (int k = s->factor.count; k < s->n; k++)
            open += s->factor.direction[k] * s->factor.direction[k];
        int blocking = -1;
        if (!depends)
            length = missing / open;
        double fastest = 0;
        for (int k = 0; k < s->factor.count; k++)
            fastest = fabs(s->rates[k]) > fastest ? fabs(s->rates[k]) : fastest;
        for (int k = 0; k < s->factor.count; k++) /* rates of 0 within rounding never bring a multiplier to 0 */
            if (s->rates[k] > 1e-13 * fastest && !is_equality(s, s->active[k]) &&
                s->multipliers[k] < length * s->rates[k]) {
                length = s->multipliers[k] / s->rates[k];
                blocking = k;
            }
        /* It follows from the active constraints: it holds with them, within rounding, or cannot hold. */
        const bool holds = depends && fabs(missing) <= 500 * slack(side, x_size);
        if (holds && (is_equality(s, entry) || !isfinite(length))) {
            s->places[number] = 2;
            return EXI_QUADRATIC_SOLVED;
        }
        if (!isfinite(length))
            return EXI_QUADRATIC_INFEASIBLE;
        if (++s->iterations > s->limit)
            return EXI_QUADRATIC_LIMIT;
        for (int k = 0; k < s->factor.count; k++)
            s->multipliers[k] -= length * s->rates[k];
        own += length;
        if (!depends) {
            for (int i = 0; i < s->n; i++)
                s->x[i] += length * s->step[i];
            missing -= length * open;
        }
        if (blocking < 0)
            break;
        take_out(s, blocking);
    }
    s->active[s->factor.count] = entry;
    s->multipliers[s->factor.count] = own;
    s->places[number] = 1;
    exi_active_factor_add(&s->factor);
    return EXI_QUADRATIC_SOLVED;
}

/* Returns the most violated constraint, as an entry; 0 if all hold. */
static int find_violated(const solver *s) {
    const double x_size = size_of(s->x, s->n);
    double most = 0;
    int entry = 0;
    for (int number = 0; number < s->all; number++) {
        if (s->places[number] != 0)
            continue;
        const double value = along(s, number, s->x);
        const double low = side_of(s, number, false), high = side_of(s, number, true);
        const double below = low - value, above = value - high;
        const bool equality = number < s->program->equality_count; /* equalities come first, even if they hold */
        if (below > most + slack(low, x_size) || (equality && below >= 0)) {
            most = equality ? INFINITY : below;
            entry = number + 1;
        } else if (above > most + slack(high, x_size) || (equality && above >= 0)) {
            most = equality ? INFINITY : above;
            entry = -(number + 1);
        }
        if (equality && entry != 0)
            return entry;
    }
    return entry;
}

/* Solves the regularised program, starting from the current active set. */
static exi_quadratic_result solve_definite(solver *s) {
    settle(s);
    for (int polished = 0;;) {
        const int entry = find_violated(s);
        if (entry == 0 && polished == 2)
            return EXI_QUADRATIC_SOLVED;
        if (entry == 0) { /* remove accumulated rounding errors, and check again */
            polished++;
            settle(s);
            continue;
        }
        exi_quadratic_result result = take_in(s, entry);
        if (result != EXI_QUADRATIC_SOLVED)
            return result;
        refine(s, 1); /* or accumulated errors look like a constraint that cannot hold */
    }
}

/* ---- proximal iteration ---- */

/* True if the objective decreases without bound along the last difference of two rounds, in `step`. */
static bool falls_for_ever(const solver *s) {
    const exi_quadratic *p = s->program;
    double largest = 0, size = size_of(s->step, s->n);
    for (int i = 0; i < s->n; i++)
        largest =
            p->matrix[(size_t)i * ((size_t)s->n + 1)] > largest ? p->matrix[(size_t)i * ((size_t)s->n + 1)] : largest;
    if (!(dot(p->linear, s->step, s->n) < -1e-9 * size * size_of(p->linear, s->n)))
        return false;
    for (int i = 0; i < s->n; i++)
        if (fabs(dot(p->matrix + (size_t)i * (size_t)s->n, s->step, s->n)) > 1e-9 * largest * size)
            return false;
    for (int number = 0; number < s->all; number++) {
        const double rate = along(s, number, s->step) / size;
        if ((rate < -1e-9 && isfinite(side_of(s, number, false))) ||
            (rate > 1e-9 && isfinite(side_of(s, number, true))))
            return false;
    }
    return true;
}

/* True if the lower side of some constraint is above its upper side. Checked first, since the other side of an active
 * constraint is never looked at. */
static bool has_crossed_sides(const solver *s) {
    for (int number = 0; number < s->all; number++)
        if (side_of(s, number, false) > side_of(s, number, true))
            return true;
    return false;
}

static bool begin(solver *s, const int *active, int count) {
    const exi_quadratic *p = s->program;
    double largest = 0;
    for (int i = 0; i < s->rows; i++) {
        const double length = size_of(row_of(s, i), s->n);
        s->lengths[i] = length > 0 ? length : 1;
    }
    for (int i = 0; i < s->n; i++)
        largest =
            p->matrix[(size_t)i * ((size_t)s->n + 1)] > largest ? p->matrix[(size_t)i * ((size_t)s->n + 1)] : largest;
    memset(s->places, 0, (size_t)s->all);
    memset(s->x, 0, (size_t)s->n * sizeof *s->x);
    memset(s->centre, 0, (size_t)s->n * sizeof *s->centre);
    s->ridge = 0;
    if (!exi_active_factor_begin(&s->factor, p->matrix, 0, definite)) {
        s->ridge = largest > 0 ? ridge_part * largest : 1;
        if (!exi_active_factor_begin(&s->factor, p->matrix, s->ridge, 0))
            return false;
    }
    /* The caller's constraints, equalities first; invalid ones, and those that depend on others, are skipped. */
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < (pass == 0 ? p->equality_count : count); i++) {
            const int entry = pass == 0 ? i + 1 : active[i];
            if (entry == 0 || entry < -s->all || entry > s->all || s->factor.count == s->n)
                continue;
            const int number = (entry > 0 ? entry : -entry) - 1;
            if (s->places[number] != 0 || !isfinite(side_of(s, number, entry < 0)))
                continue;
            set_normal(s, entry);
            if (!(exi_active_factor_look(&s->factor, s->normal) > 1e-8))
                continue;
            exi_active_factor_add(&s->factor);
            s->places[number] = 1;
            s->multipliers[s->factor.count - 1] = 0;
            s->values[s->factor.count - 1] = entry;
        }
    for (int k = 0; k < s->factor.count; k++)
        s->active[k] = (int)s->values[k];
    return true;
}

static void tell(solver *s, exi_quadratic_info *info) {
    const exi_quadratic *p = s->program;
    const double parts = set_residual(s, 0), x_size = size_of(s->x, s->n);
    info->stationarity = info->violation = info->objective = 0;
    for (int i = 0; i < s->n; i++) {
        const double part = parts > 0 ? fabs(s->residual[i]) / parts : 0;
        info->stationarity = part > info->stationarity ? part : info->stationarity;
        info->objective += s->x[i] * (p->linear[i] + 0.5 * dot(p->matrix + (size_t)i * (size_t)s->n, s->x, s->n));
    }
    for (int number = 0; number < s->all; number++) {
        const double value = along(s, number, s->x);
        for (int above = 0; above < 2; above++) {
            const double side = side_of(s, number, above), over = above ? value - side : side - value;
            const double part = over > 0 ? over / (fabs(side) + x_size) : 0;
            info->violation = part > info->violation ? part : info->violation;
        }
    }
    info->iterations = s->iterations;
}

exi_quadratic_result exi_quadratic_solve(const exi_quadratic *program, double *x, int *active, int *active_count,
                                         void *scratch, exi_quadratic_info *info) {
    solver s;
    exi_quadratic_info own = {0};
    exi_quadratic_result result = EXI_QUADRATIC_LIMIT;
    open_solver(&s, program, x, active, scratch);
    const bool ready = begin(&s, active, *active_count);
    const bool crossed = ready && has_crossed_sides(&s);
    double last = INFINITY;
    for (int still = 0; ready && !crossed && own.rounds < ROUNDS;) {
        memcpy(s.centre, x, (size_t)s.n * sizeof *x);
        result = solve_definite(&s);
        own.rounds++;
        if (result != EXI_QUADRATIC_SOLVED)
            break;
        tell(&s, &own);
        if (s.ridge == 0 || own.stationarity <= 0.1 * wanted)
            break;
        for (int i = 0; i < s.n; i++)
            s.step[i] = x[i] - s.centre[i];
        const double moved = size_of(s.step, s.n);
        still = moved > 0.9 * last ? still + 1 : 0;
        last = moved;
        if (still >= 3 && falls_for_ever(&s)) {
            result = EXI_QUADRATIC_UNBOUNDED;
            break;
        }
        s.limit = s.iterations + 20 * s.all + 200;
    }
    tell(&s, &own);
    if (crossed)
        result = EXI_QUADRATIC_INFEASIBLE;
    if (result == EXI_QUADRATIC_SOLVED && !(own.stationarity <= wanted && own.violation <= wanted))
        result = EXI_QUADRATIC_LIMIT;
    *active_count = s.factor.count;
    if (info)
        *info = own;
    return result;
}
