/*
 * Published quadratic programs (qp in EX_DATA, from the Maros and Meszaros collection) against their published optima.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/quadratic.h"
#include "support/check.h"
#include "support/skip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct program {
    exi_quadratic p;
    double constant;
    double *matrix, *linear, *rows, *sides, *equalities, *values, *inequalities, *lower, *upper, *bounds;
} program;

static double *numbers(size_t count) {
    double *memory = calloc(count + 1, sizeof *memory);
    assert_non_null(memory);
    return memory;
}

static double number(FILE *file) {
    char word[64], *end;
    assert_int_equal(fscanf(file, "%63s", word), 1);
    const double value = strtod(word, &end);
    assert_true(*end == '\0');
    return value;
}

static void word(FILE *file, const char *expected) {
    char text[64];
    assert_int_equal(fscanf(file, "%63s", text), 1);
    assert_string_equal(text, expected);
}

static void triplets(FILE *file, double *matrix, int columns) {
    const int count = (int)number(file);
    for (int i = 0; i < count; i++) {
        const int row = (int)number(file), at = (int)number(file);
        matrix[(size_t)row * (size_t)columns + (size_t)at] = number(file);
    }
}

/* Rows with equal sides are equalities, rows with a single 1 bounds, the others inequalities. */
static void sort_rows(program *q, int n, int m) {
    for (int i = 0; i < n; i++) {
        q->bounds[i] = -INFINITY;
        q->bounds[n + i] = INFINITY;
    }
    for (int k = 0; k < m; k++) {
        const double *row = q->rows + (size_t)k * (size_t)n, low = q->sides[2 * k], high = q->sides[2 * k + 1];
        int filled = 0, at = 0;
        for (int i = 0; i < n; i++)
            if (row[i] != 0) {
                filled++;
                at = i;
            }
        if (low == high) {
            memcpy(q->equalities + (size_t)q->p.equality_count * (size_t)n, row, (size_t)n * sizeof *row);
            q->values[q->p.equality_count++] = low;
        } else if (filled == 1 && row[at] == 1) {
            q->bounds[at] = low > q->bounds[at] ? low : q->bounds[at];
            q->bounds[n + at] = high < q->bounds[n + at] ? high : q->bounds[n + at];
        } else {
            memcpy(q->inequalities + (size_t)q->p.inequality_count * (size_t)n, row, (size_t)n * sizeof *row);
            q->lower[q->p.inequality_count] = low;
            q->upper[q->p.inequality_count++] = high;
        }
    }
}

static bool open_program(program *q, const char *name, int *rows) {
    char path[1000], line[400];
    snprintf(path, sizeof path, "%s/qp/%s.txt", data_folder(), name);
    FILE *file = fopen(path, "r");
    memset(q, 0, sizeof *q);
    if (!file)
        return false;
    assert_non_null(fgets(line, sizeof line, file)); /* description of the file */
    word(file, "n");
    const int n = (int)number(file);
    word(file, "m");
    const int m = *rows = (int)number(file);
    word(file, "r");
    q->constant = number(file);
    const size_t table = (size_t)m * (size_t)n;
    q->matrix = numbers((size_t)n * (size_t)n);
    q->linear = numbers((size_t)n);
    q->rows = numbers(table);
    q->sides = numbers(2 * (size_t)m);
    q->equalities = numbers(table);
    q->values = numbers((size_t)m);
    q->inequalities = numbers(table);
    q->lower = numbers((size_t)m);
    q->upper = numbers((size_t)m);
    q->bounds = numbers(2 * (size_t)n);
    word(file, "P");
    triplets(file, q->matrix, n);
    word(file, "q");
    for (int i = 0; i < n; i++)
        q->linear[i] = number(file);
    word(file, "A");
    triplets(file, q->rows, n);
    word(file, "lu");
    for (int i = 0; i < 2 * m; i++)
        q->sides[i] = number(file);
    fclose(file);
    sort_rows(q, n, m);
    q->p = (exi_quadratic){n,         q->p.equality_count, q->p.inequality_count,
                           q->matrix, q->linear,           q->equalities,
                           q->values, q->inequalities,     q->lower,
                           q->upper,  q->bounds,           q->bounds + n};
    return true;
}

static void close_program(program *q) {
    double *all[] = {q->matrix, q->linear,       q->rows,  q->sides, q->equalities,
                     q->values, q->inequalities, q->lower, q->upper, q->bounds};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* By the file's own rows, in the units of each. */
static void assert_feasible(const program *q, const double *x, int rows) {
    for (int k = 0; k < rows; k++) {
        double value = 0, size = 0;
        for (int i = 0; i < q->p.unknown_count; i++) {
            const double term = q->rows[(size_t)k * (size_t)q->p.unknown_count + (size_t)i] * x[i];
            value += term;
            size += fabs(term);
        }
        assert_true(value >= q->sides[2 * k] - 1e-9 * (size + 1e-3) &&
                    value <= q->sides[2 * k + 1] + 1e-9 * (size + 1e-3));
    }
}

static void published_optima(void **state) {
    (void)state;
    char line[400], name[64];
    FILE *list = fopen(need_data("qp/REFERENCE.tsv"), "r");
    assert_non_null(list);
    int solved = 0;
    assert_non_null(fgets(line, sizeof line, list));
    while (fgets(line, sizeof line, list)) {
        program q;
        double optimum = 0;
        int rows = 0;
        assert_int_equal(sscanf(line, "%63s %*d %*d %*f %lf", name, &optimum), 2);
        if (!open_program(&q, name, &rows))
            fail_msg("%s is listed, but not there", name);
        double *x = numbers((size_t)q.p.unknown_count);
        int *active = calloc((size_t)q.p.unknown_count, sizeof *active), count = 0;
        void *scratch = malloc(exi_quadratic_scratch_size(&q.p));
        exi_quadratic_info info;
        assert_true(active && scratch);
        exi_quadratic_result result = exi_quadratic_solve(&q.p, x, active, &count, scratch, &info);
        print_message(
            "%-9s %3d unknowns: %.10g, published %.10g; stationarity %.1e, violation %.1e; %d steps, %d rounds\n", name,
            q.p.unknown_count, info.objective + q.constant, optimum, info.stationarity, info.violation, info.iterations,
            info.rounds);
        assert_int_equal(result, EXI_QUADRATIC_SOLVED);
        assert_true(info.stationarity <= 1e-10 && info.violation <= 1e-10);
        /* Optima of 0 that are below the rounding of terms as large as the constant: to that rounding. */
        assert_near(info.objective + q.constant, optimum, 1e-8 * fabs(optimum) + 1e-11 * fabs(q.constant) + 1e-30);
        assert_feasible(&q, x, rows);
        solved++;
        free(x);
        free(active);
        free(scratch);
        close_program(&q);
    }
    fclose(list);
    assert_true(solved >= 21);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_optima)};
    return cmocka_run_group_tests_name("runtime.base.quadratic_real", tests, NULL, NULL);
}
