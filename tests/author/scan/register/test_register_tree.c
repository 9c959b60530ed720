/* Nearest points that face the same way, compared with a search through all of them. */
#include "author/scan/register/register.h"
#include "support/check.h"
#include "support/fail_alloc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { COUNT = 700, QUERIES = 300 };

static exi_reg_point random_point(uint64_t *state) {
    exi_reg_point point;
    double n[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        point.at[k] = (float)random_between(state, -0.5, 0.5);
        n[k] = random_between(state, -1, 1);
        sum += n[k] * n[k];
    }
    for (int k = 0; k < 3; k++)
        point.normal[k] = (float)(n[k] / sqrt(sum));
    return point;
}

static double facing(const exi_reg_point *a, const exi_reg_point *b) {
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (double)a->normal[k] * (double)b->normal[k];
    return sum;
}

static double apart(const exi_reg_point *a, const exi_reg_point *b) {
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (double)(a->at[k] - b->at[k]) * (double)(a->at[k] - b->at[k]);
    return sqrt(sum);
}

static double together(const exi_reg_point *a, const exi_reg_point *b, double length) {
    return apart(a, b) * apart(a, b) + length * length * 2 * (1 - facing(a, b));
}

static void nearest(void **context) {
    (void)context;
    exi_reg_point points[COUNT];
    uint64_t state = 3;
    for (int i = 0; i < COUNT; i++)
        points[i] = random_point(&state);
    for (int count = 0; count <= COUNT; count += count < 20 ? 1 : 340) {
        exi_reg_tree tree;
        const double length = 0.2, reach = 0.3, least = 0.3;
        int hits = 0;
        assert_true(exi_reg_tree_make(points, count, length, &tree));
        for (int q = 0; q < QUERIES; q++) {
            const exi_reg_point own = random_point(&state);
            int best = -1;
            for (int i = 0; i < count; i++)
                if (apart(&own, &points[i]) < reach && facing(&own, &points[i]) > least &&
                    (best < 0 || together(&own, &points[i], length) < together(&own, &points[best], length)))
                    best = i;
            const int found = exi_reg_tree_nearest(&tree, &own, reach, least);
            assert_int_equal(found < 0, best < 0);
            if (best >= 0)
                assert_near(together(&own, &points[found], length), together(&own, &points[best], length), 1e-6);
            hits += found >= 0;
        }
        assert_true(count < 300 || hits > QUERIES / 4);
        exi_reg_tree_free(&tree);
    }
}

static void around(void **context) {
    (void)context;
    exi_reg_point points[COUNT];
    exi_reg_tree tree;
    uint64_t state = 9;
    int total = 0;
    for (int i = 0; i < COUNT; i++)
        points[i] = random_point(&state);
    assert_true(exi_reg_tree_make(points, COUNT, 0.05, &tree));
    for (int q = 0; q < QUERIES; q++) {
        const exi_reg_point own = random_point(&state);
        int found[COUNT], expected = 0;
        const int count = exi_reg_tree_around(&tree, &own, 0.25, 0.2, COUNT, found);
        for (int i = 0; i < COUNT; i++)
            expected += apart(&own, &points[i]) < 0.25 && facing(&own, &points[i]) > 0.2;
        assert_int_equal(count, expected);
        assert_int_equal(exi_reg_tree_around(&tree, &own, 0.25, 0.2, 2, found), expected < 2 ? expected : 2);
        total += count;
    }
    assert_true(total > 1000);
    exi_reg_tree_free(&tree);
}

/* Equal points: no endless division, and the first one is found. */
static void equal(void **context) {
    (void)context;
    exi_reg_point points[COUNT];
    exi_reg_tree tree;
    uint64_t state = 1;
    const exi_reg_point one = random_point(&state);
    for (int i = 0; i < COUNT; i++)
        points[i] = one;
    assert_true(exi_reg_tree_make(points, COUNT, 0.05, &tree));
    assert_int_equal(exi_reg_tree_nearest(&tree, &one, 1, 0.5), 0);
    exi_reg_tree_free(&tree);
}

static ex_result make(void *context) {
    exi_reg_tree tree;
    if (!exi_reg_tree_make(context, 50, 1, &tree))
        return EX_ERROR_MEMORY;
    exi_reg_tree_free(&tree);
    return EX_OK;
}

static void memory(void **context) {
    (void)context;
    exi_reg_point points[50];
    uint64_t state = 1;
    for (int i = 0; i < 50; i++)
        points[i] = random_point(&state);
    assert_true(fail_alloc_sweep(make, points) >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nearest), cmocka_unit_test(around), cmocka_unit_test(equal),
                                       cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
