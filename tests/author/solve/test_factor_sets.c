/* Factorising and solving have the same bits with every instruction set that the machine has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/matrices.h"

#include <stdlib.h>
#include <string.h>

/* Solutions [3 n] for three right-hand sides, then [n] for one, freed by the caller. */
static double *solve(const matrix *m, int n) {
    exi_factor *f = NULL;
    assert_int_equal(exi_factor_create(&m->view, NULL, &f, NULL), EX_OK);
    double *x = random_numbers(4 * n, 4), *work = malloc(exi_factor_work_size(f));
    assert_non_null(work);
    exi_factor_solve(f, x, work);
    exi_factor_solve_1(f, x + 3 * n, work);
    exi_factor_destroy(f);
    free(work);
    return x;
}

static void test_sets_give_the_same_bits(void **state) {
    (void)state;
    static const char *const sets[] = {"sse2", "avx2", "avx512"};
    static const int sizes[][2] = {{3, 4}, {15, 20}, {41, 60}}; /* the last has panels wider than a tile */
    const char *before = ex_simd_name();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        graph g = graph_sphere(sizes[i][0], sizes[i][1]);
        matrix m = matrix_from_graph(&g, 1, true);
        const int n = m.view.n;
        double *wanted = solve(&m, n);
        for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
            if (!ex_simd_use(sets[s]))
                continue;
            double *x = solve(&m, n);
            assert_memory_equal(x, wanted, (size_t)(4 * n) * sizeof *x);
            free(x);
        }
        ex_simd_use(before);
        free(wanted);
        graph_free(&g);
        matrix_free(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
