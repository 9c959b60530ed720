/*
 * Principal forms: rows of any size become orthonormal; they hold the variance that they should, more of it the more of
 * them there are; and turned to be uncorrelated, they hold the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/drive/motion/drive_motion.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 120, NUMBERS = 77, DIRECTIONS = 10 };

static void fill(uint64_t *random, float *numbers, size_t count, double most) {
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)random_between(random, -most, most);
}

/* Rows are of length 1 and at right angles; those from `count` on are 0. */
static void assert_orthonormal(const float *rows, int count, int total, size_t length) {
    for (int a = 0; a < total; a++)
        for (int b = 0; b <= a; b++) {
            double product = 0;
            for (size_t i = 0; i < length; i++)
                product += (double)rows[(size_t)a * length + i] * (double)rows[(size_t)b * length + i];
            assert_near(product, a == b && a < count, 2e-6);
        }
}

/* Sums over many frames of large clothes are long; forms of a small thing are short. */
static void rows_of_any_size_become_orthonormal(void **context) {
    (void)context;
    static const double sizes[] = {1e-9, 1e-3, 1, 1e3, 1e7, 1e12};
    uint64_t random = 1;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        float rows[DIRECTIONS * NUMBERS];
        fill(&random, rows, DIRECTIONS * NUMBERS, sizes[s]);
        exi_motion_orthonormal(rows, DIRECTIONS, NUMBERS);
        assert_orthonormal(rows, DIRECTIONS, DIRECTIONS, NUMBERS);
    }
}

static void rows_that_depend_on_others_become_zero(void **context) {
    (void)context;
    uint64_t random = 2;
    float rows[6 * NUMBERS];
    fill(&random, rows, 3 * NUMBERS, 100);
    for (int i = 0; i < NUMBERS; i++) {
        rows[3 * NUMBERS + i] = rows[i];
        rows[4 * NUMBERS + i] = rows[i] - 2 * rows[NUMBERS + i] + rows[2 * NUMBERS + i];
        rows[5 * NUMBERS + i] = 0;
    }
    exi_motion_orthonormal(rows, 6, NUMBERS);
    assert_orthonormal(rows, 3, 6, NUMBERS);
}

/* Rows of data: a mean, directions whose spread halves from one to the next, and noise. */
typedef struct sample {
    float data[ROWS * NUMBERS], mean[NUMBERS], directions[DIRECTIONS * NUMBERS];
} sample;

static void make_sample(sample *s, double size) {
    uint64_t random = 3;
    fill(&random, s->directions, DIRECTIONS * NUMBERS, 1);
    exi_motion_orthonormal(s->directions, DIRECTIONS, NUMBERS);
    fill(&random, s->data, ROWS * NUMBERS, 1e-5 * size);
    for (int r = 0; r < ROWS; r++)
        for (int d = 0; d < DIRECTIONS; d++) {
            const float c = (float)(size * pow(0.5, d) * random_between(&random, -1, 1));
            for (int i = 0; i < NUMBERS; i++)
                s->data[r * NUMBERS + i] += c * s->directions[d * NUMBERS + i] + (float)(d == 0 ? 2 * size : 0);
        }
    for (int i = 0; i < NUMBERS; i++) {
        double sum = 0;
        for (int r = 0; r < ROWS; r++)
            sum += (double)s->data[r * NUMBERS + i];
        s->mean[i] = (float)(sum / ROWS);
    }
}

/* Squares that rows do not hold, over all. */
static double left_of(const sample *s, const float *rows, int count) {
    double left = 0, all = 0;
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < NUMBERS; i++)
            all += pow((double)s->data[r * NUMBERS + i] - (double)s->mean[i], 2);
        for (int k = 0; k < count; k++) {
            double c = 0;
            for (int i = 0; i < NUMBERS; i++)
                c += (double)rows[k * NUMBERS + i] * ((double)s->data[r * NUMBERS + i] - (double)s->mean[i]);
            left -= c * c;
        }
    }
    return (all + left) / all;
}

static void forms_hold_most_of_the_variance(void **context) {
    (void)context;
    static sample s;
    static const double sizes[] = {1e-3, 1, 1e4};
    for (size_t size = 0; size < 3; size++) {
        double before = 1;
        make_sample(&s, sizes[size]);
        for (int count = 1; count <= DIRECTIONS; count++) {
            float basis[DIRECTIONS * NUMBERS];
            assert_true(exi_motion_principal(s.data, ROWS, NUMBERS, s.mean, count, basis, NULL));
            assert_orthonormal(basis, count, count, NUMBERS);
            const double left = left_of(&s, basis, count), given = left_of(&s, s.directions, count);
            assert_true(left < before);
            assert_true(left <= 1.02 * given + 1e-6);
            before = left;
        }
        assert_true(before < 1e-6);
    }
}

/* More forms than the data have directions: the others are 0. */
static void spare_forms_are_zero(void **context) {
    (void)context;
    static sample s;
    float basis[6 * NUMBERS];
    make_sample(&s, 1);
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < NUMBERS; i++)
            s.data[r * NUMBERS + i] = s.mean[i] + (float)(r - 60) * s.directions[i];
    assert_true(exi_motion_principal(s.data, ROWS, NUMBERS, s.mean, 6, basis, NULL));
    assert_near(left_of(&s, basis, 1), 0, 1e-6);
    for (int i = NUMBERS; i < 6 * NUMBERS; i++)
        assert_true(isfinite(basis[i]));
}

typedef struct seen {
    double last;
    int count, most;
} seen;

static bool see(void *user, double part) {
    seen *s = user;
    assert_true(part > s->last && part <= 1);
    s->last = part;
    return ++s->count < s->most;
}

static void finding_forms_can_be_stopped(void **context) {
    (void)context;
    static sample s;
    float basis[3 * NUMBERS], plain[3 * NUMBERS];
    make_sample(&s, 1);
    assert_true(exi_motion_principal(s.data, ROWS, NUMBERS, s.mean, 3, plain, NULL));
    for (int most = 1; most < 300; most *= 4) {
        seen told = {.most = most};
        const exi_motion_watch watch = {see, &told};
        assert_false(exi_motion_principal(s.data, ROWS, NUMBERS, s.mean, 3, basis, &watch));
        assert_int_equal(told.count, most);
    }
    seen told = {.most = 1 << 20};
    const exi_motion_watch watch = {see, &told};
    assert_true(exi_motion_principal(s.data, ROWS, NUMBERS, s.mean, 3, basis, &watch));
    assert_near(told.last, 1, 1e-12);
    assert_memory_equal(basis, plain, sizeof basis);
}

static void aligned_forms_are_uncorrelated_and_sorted(void **context) {
    (void)context;
    static sample s;
    enum { COUNT = 7 };
    float basis[COUNT * NUMBERS];
    double coefficients[ROWS * COUNT], products[COUNT * COUNT] = {0}, made[COUNT * COUNT] = {0};
    make_sample(&s, 1);
    assert_true(exi_motion_principal(s.data, ROWS, NUMBERS, s.mean, COUNT, basis, NULL));
    for (int r = 0; r < ROWS; r++) {
        double *c = coefficients + r * COUNT;
        for (int k = 0; k < COUNT; k++) {
            c[k] = 0;
            for (int i = 0; i < NUMBERS; i++)
                c[k] += (double)basis[k * NUMBERS + i] * ((double)s.data[r * NUMBERS + i] - (double)s.mean[i]);
        }
        for (int k = 0; k < COUNT * COUNT; k++)
            products[k] += c[k / COUNT] * c[k % COUNT];
    }
    const double before = left_of(&s, basis, COUNT);
    assert_true(exi_motion_align(products, COUNT, basis, NUMBERS, coefficients, ROWS));
    assert_orthonormal(basis, COUNT, COUNT, NUMBERS);
    assert_near(left_of(&s, basis, COUNT), before, 1e-6);
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < COUNT; k++) {
            double c = 0;
            for (int i = 0; i < NUMBERS; i++)
                c += (double)basis[k * NUMBERS + i] * ((double)s.data[r * NUMBERS + i] - (double)s.mean[i]);
            assert_near(coefficients[r * COUNT + k], c, 1e-5);
            for (int j = 0; j < COUNT; j++)
                made[k * COUNT + j] += coefficients[r * COUNT + k] * coefficients[r * COUNT + j];
        }
    for (int k = 0; k < COUNT; k++)
        for (int j = 0; j < k; j++) {
            assert_near(made[k * COUNT + j], 0, 1e-6 * made[0]);
            assert_true(made[j * COUNT + j] >= made[k * COUNT + k]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_any_size_become_orthonormal),
        cmocka_unit_test(rows_that_depend_on_others_become_zero),
        cmocka_unit_test(forms_hold_most_of_the_variance),
        cmocka_unit_test(spare_forms_are_zero),
        cmocka_unit_test(finding_forms_can_be_stopped),
        cmocka_unit_test(aligned_forms_are_uncorrelated_and_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
