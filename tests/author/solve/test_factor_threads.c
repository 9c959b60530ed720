/* Several threads solve with one factor at once and get the same bits as one alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/matrices.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 5 };

typedef struct share {
    const exi_factor *factor;
    double *x, *work;
} share;

static void *solve(void *argument) {
    share *s = argument;
    for (int i = 0; i < ROUNDS; i++)
        exi_factor_solve(s->factor, s->x, s->work);
    exi_factor_solve_1(s->factor, s->x, s->work);
    return NULL;
}

static void test_threads_get_the_same_bits(void **state) {
    (void)state;
    graph g = graph_sphere(15, 20);
    matrix m = matrix_from_graph(&g, 1, true);
    exi_factor *f = NULL;
    assert_int_equal(exi_factor_create(&m.view, NULL, &f, NULL), EX_OK);
    const int n = m.view.n;
    share shares[THREADS + 1]; /* the last is for the one alone */
    pthread_t threads[THREADS];
    for (int i = 0; i <= THREADS; i++) {
        shares[i] = (share){f, random_numbers(3 * n, 4), malloc(exi_factor_work_size(f))};
        assert_non_null(shares[i].work);
    }
    solve(&shares[THREADS]);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, solve, &shares[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_memory_equal(shares[i].x, shares[THREADS].x, (size_t)(3 * n) * sizeof(double));
    for (int i = 0; i <= THREADS; i++) {
        free(shares[i].x);
        free(shares[i].work);
    }
    exi_factor_destroy(f);
    graph_free(&g);
    matrix_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_get_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
