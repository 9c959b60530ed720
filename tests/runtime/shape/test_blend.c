/*
 * Blends against the same sum in double, for sizes around those of the tiles, any stride, float and 16 bit, and any
 * division of the work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/shape/forms.h"
#include "support/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/shape.h>

enum { MOST_VERTICES = 20011, MOST_EXAMPLES = 64 };

static float *base, *deltas[MOST_EXAMPLES];

static int set_up(void **state) {
    (void)state;
    uint64_t random = 80;
    base = malloc(3 * MOST_VERTICES * sizeof *base);
    for (int i = 0; i < 3 * MOST_VERTICES; i++)
        base[i] = (float)random_between(&random, -2, 2);
    for (int k = 0; k < MOST_EXAMPLES; k++) {
        deltas[k] = malloc(3 * MOST_VERTICES * sizeof *base);
        for (int i = 0; i < 3 * MOST_VERTICES; i++)
            deltas[k][i] = (float)random_between(&random, -1, 1) * (k == 5 ? 1e-6f : k == 6 ? 1e6f : 1);
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(base);
    for (int k = 0; k < MOST_EXAMPLES; k++)
        free(deltas[k]);
    return 0;
}

static ex_forms *forms_of(int vertex_count, int example_count, ex_storage storage) {
    ex_forms_def def = {.vertex_count = vertex_count,
                        .example_count = example_count,
                        .base = base,
                        .deltas = (const float *const *)deltas,
                        .storage = storage};
    ex_forms *forms = NULL;
    ex_error error = {0};
    if (ex_forms_create(&def, NULL, &forms, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(ex_forms_vertex_count(forms), vertex_count);
    assert_int_equal(ex_forms_example_count(forms), example_count);
    return forms;
}

static void blend(const ex_forms *forms, const float *weights, float *positions, size_t stride, const ex_tasks *tasks) {
    void *scratch = malloc(ex_forms_scratch_size(forms));
    ex_forms_blend(forms, weights, positions, stride, tasks, scratch);
    free(scratch);
}

/* Every third weight is 0, some are negative or large. */
static void choose_weights(float *weights, int count) {
    for (int k = 0; k < count; k++)
        weights[k] = k % 3 == 2 ? 0 : (k % 2 ? -0.75f : 1.5f) / (float)(1 + k / 4);
}

/* Rounding of the sum in float, and the largest error of 16-bit storage, as stated in shape.h; on average it must be no
 * more than 2e-5 of the sum of |weight| times largest difference. */
static void assert_blended(const float *positions, size_t stride, int vertex_count, int example_count,
                           const float *weights, ex_storage storage) {
    double reach = 0, square = 0;
    for (int k = 0; storage == EX_STORAGE_16_BIT && k < example_count; k++) {
        double largest = 0;
        for (int i = 0; i < 3 * vertex_count; i++)
            largest = fabs((double)deltas[k][i]) > largest ? fabs((double)deltas[k][i]) : largest;
        reach += largest * fabs((double)weights[k]);
    }
    const double steps = 1.6e-5 * reach * (1 + example_count);
    for (int v = 0; v < vertex_count; v++) {
        const float *triple = (const float *)(const void *)((const char *)positions + (size_t)v * stride);
        for (int c = 0; c < 3; c++) {
            double sum = (double)base[3 * v + c], size = fabs(sum);
            for (int k = 0; k < example_count; k++) {
                double term = (double)weights[k] * (double)deltas[k][3 * v + c];
                sum += term;
                size += fabs(term);
            }
            double allowed = size * (example_count + 2) * FLT_EPSILON + steps * (1 + 1e-5);
            square += ((double)triple[c] - sum) * ((double)triple[c] - sum);
            if (!(fabs((double)triple[c] - sum) <= allowed))
                fail_msg("%d vertices, %d examples, storage %d: vertex %d is %g, not %g", vertex_count, example_count,
                         (int)storage, v, (double)triple[c], sum);
        }
    }
    if (storage == EX_STORAGE_16_BIT && vertex_count >= 100)
        assert_true(sqrt(square / (3 * vertex_count)) <= 2e-5 * reach);
}

static void sums_agree_with_double(void **state) {
    (void)state;
    static const int vertices[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 1000}, examples[] = {1, 2, 7, 64};
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++)
        for (int v = 0; v < 12; v++)
            for (int e = 0; e < 4; e++) {
                ex_forms *forms = forms_of(vertices[v], examples[e], (ex_storage)storage);
                float weights[MOST_EXAMPLES], *positions = malloc((size_t)vertices[v] * 3 * sizeof *positions);
                choose_weights(weights, examples[e]);
                blend(forms, weights, positions, 0, NULL);
                assert_blended(positions, 12, vertices[v], examples[e], weights, (ex_storage)storage);
                free(positions);
                ex_forms_destroy(forms);
            }
}

/* Strides of 12 to 64 bytes; bytes between the triples and after them are unchanged. */
static void strides_leave_gaps_alone(void **state) {
    (void)state;
    static const size_t strides[] = {12, 16, 20, 32, 64};
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++)
        for (int s = 0; s < 5; s++)
            for (int count = 1; count <= 67; count += 11) {
                ex_forms *forms = forms_of(count, 3, (ex_storage)storage);
                const float weights[3] = {0.5f, -1, 0.25f};
                size_t size = (size_t)count * strides[s];
                char *bytes = malloc(size + 64);
                memset(bytes, 0x77, size + 64);
                blend(forms, weights, (float *)(void *)bytes, strides[s], NULL);
                assert_blended((const float *)(const void *)bytes, strides[s], count, 3, weights, (ex_storage)storage);
                for (size_t i = 0; i < size + 64; i++)
                    if (i >= size || i % strides[s] >= 12)
                        assert_int_equal(bytes[i], 0x77);
                free(bytes);
                ex_forms_destroy(forms);
            }
}

/* Weights of 0 give the base to the bit, and a single weight of 1 the example if the sum is exact. */
static void zero_weights_give_the_base(void **state) {
    (void)state;
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        ex_forms *forms = forms_of(100, 7, (ex_storage)storage);
        const float weights[7] = {0, -0.0f, 0, 0, 0, 0, 0};
        float positions[300];
        blend(forms, weights, positions, 0, NULL);
        assert_memory_equal(positions, base, sizeof positions);
        ex_forms_destroy(forms);
    }
}

static void no_examples_and_no_vertices(void **state) {
    (void)state;
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        ex_forms *forms = forms_of(20, 0, (ex_storage)storage);
        float positions[60], none[1] = {0};
        blend(forms, none, positions, 0, NULL);
        assert_memory_equal(positions, base, sizeof positions);
        ex_forms_destroy(forms);
        forms = forms_of(0, 2, (ex_storage)storage);
        positions[0] = 77;
        blend(forms, (float[]){1, 1}, positions, 0, NULL);
        assert_true(positions[0] == 77);
        ex_forms_destroy(forms);
    }
}

/* An example of zeros, and one whose largest difference is negative. */
static void sixteen_bits_hold_the_extremes(void **state) {
    (void)state;
    float zeros[30] = {0}, ends[30] = {0}, positions[30];
    for (int i = 0; i < 10; i++) {
        ends[3 * i] = -4;
        ends[3 * i + 1] = 4;
        ends[3 * i + 2] = 1e-3f;
    }
    const float *both[2] = {zeros, ends};
    ex_forms_def def = {
        .vertex_count = 10, .example_count = 2, .base = zeros, .deltas = both, .storage = EX_STORAGE_16_BIT};
    ex_forms *forms = NULL;
    assert_int_equal(ex_forms_create(&def, NULL, &forms, NULL), EX_OK);
    blend(forms, (float[]){1, 1}, positions, 0, NULL);
    for (int i = 0; i < 10; i++) {
        assert_near((double)positions[3 * i], -4, 1e-6);
        assert_near((double)positions[3 * i + 1], 4, 1e-6);
        assert_near((double)positions[3 * i + 2], 1e-3, 4 * 1.6e-5);
    }
    blend(forms, (float[]){1, 0}, positions, 0, NULL);
    assert_memory_equal(positions, zeros, sizeof positions);
    ex_forms_destroy(forms);
}

/* Examples whose sizes fall: in 16 bit, the last ones are minor and are summed in 16 bits. Errors stay as stated, also
 * if all of them push a vertex in one direction, as far as the sums can hold. */
static void minor_examples(void **state) {
    (void)state;
    enum { VERTICES = 203, EXAMPLES = 121 };
    float *numbers = malloc((size_t)EXAMPLES * 3 * VERTICES * sizeof *numbers), positions[3 * VERTICES];
    const float *all[EXAMPLES];
    uint64_t random = 81;
    for (int sort = 0; sort < 3; sort++) {
        float weights[EXAMPLES], zeros[3 * VERTICES] = {0};
        double reach = 0, square = 0;
        for (int k = 0; k < EXAMPLES; k++) {
            float *example = numbers + (size_t)k * 3 * VERTICES;
            for (int i = 0; i < 3 * VERTICES; i++)
                example[i] = (float)random_between(&random, -1, 1);
            for (int c = 0; c < 3; c++) { /* the extremes: together, against each other, and not at all */
                example[c] = c == 0 ? 1 : c == 1 ? -1 : 0;
                example[3 + c] = k % 2 ? 1 : -1;
                example[6 + c] = 0;
            }
            all[k] = example;
            weights[k] = sort == 2 && k % 20 == 19 ? 0 : (sort == 1 && k % 3 ? -3.0f : 3.0f) / (float)(1 + k * k / 9);
            reach += fabs((double)weights[k]);
        }
        const ex_forms_def def = {.vertex_count = VERTICES,
                                  .example_count = EXAMPLES,
                                  .base = zeros,
                                  .deltas = all,
                                  .storage = EX_STORAGE_16_BIT};
        ex_forms *forms = NULL;
        assert_int_equal(ex_forms_create(&def, NULL, &forms, NULL), EX_OK);
        exi_sum sum;
        exi_term *terms = malloc(ex_forms_scratch_size(forms));
        exi_forms_set_terms(forms, weights, 0, EXAMPLES, true, terms, &sum);
        assert_true(sum.group_count >= 2);
        int minors = 0;
        for (int g = 0; g < sum.group_count; g++)
            minors += sum.groups[g].count;
        assert_true(minors >= 90 && sum.term_count + minors <= EXAMPLES);
        free(terms);
        blend(forms, weights, positions, 0, NULL);
        for (int i = 0; i < 3 * VERTICES; i++) {
            double exact = 0;
            for (int k = 0; k < EXAMPLES; k++)
                exact += (double)weights[k] * (double)all[k][i];
            const double error = (double)positions[i] - exact;
            square += error * error;
            if (!(fabs(error) <= 1.6e-5 * reach * (1 + EXAMPLES)) || (i >= 6 && i < 9 && positions[i] != 0))
                fail_msg("sort %d, number %d is %g, not %g", sort, i, (double)positions[i], exact);
        }
        assert_true(sqrt(square / (3 * VERTICES)) <= 2e-5 * reach);
        ex_forms_destroy(forms);
    }
    free(numbers);
}

/* Few examples, and those with many weights of 0, are not minor. */
static void few_examples_are_not_minor(void **state) {
    (void)state;
    for (int count = 1; count <= MOST_EXAMPLES; count += 9) {
        ex_forms *forms = forms_of(20, count, EX_STORAGE_16_BIT);
        exi_term *terms = malloc(ex_forms_scratch_size(forms));
        float weights[MOST_EXAMPLES];
        exi_sum sum;
        choose_weights(weights, count); /* every third is 0 */
        exi_forms_set_terms(forms, weights, 0, count, true, terms, &sum);
        assert_int_equal(sum.group_count, 0);
        free(terms);
        ex_forms_destroy(forms);
    }
}

/* Pieces of odd sizes, from the back, some of them empty. */
static int cut_calls, cut_step;
static void cut_oddly(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int end = count, size = cut_step; end > 0; end -= size, size = size % 13 + cut_step) {
        size = size < end ? size : end;
        body(context, end - size, end);
        body(context, end, end);
        cut_calls++;
    }
}

static void cuts_do_not_matter(void **state) {
    (void)state;
    static const int vertices[] = {MOST_VERTICES, 4999, 10000};
    const ex_tasks tasks = {cut_oddly, NULL};
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++)
        for (int v = 0; v < 3; v++) {
            ex_forms *forms = forms_of(vertices[v], 9, (ex_storage)storage);
            float weights[9];
            choose_weights(weights, 9);
            size_t size = (size_t)vertices[v] * 3 * sizeof(float);
            float *serial = malloc(size), *cut = malloc(size);
            blend(forms, weights, serial, 0, NULL);
            assert_blended(serial, 12, vertices[v], 9, weights, (ex_storage)storage);
            for (cut_step = 1; cut_step < 300;
                 cut_step = 3 * cut_step + 1) { /* tiles; 4999 vertices have 312 or more */
                memset(cut, 0, size);
                cut_calls = 0;
                blend(forms, weights, cut, 0, &tasks);
                assert_true(cut_calls > 1);
                assert_memory_equal(cut, serial, size);
            }
            free(serial);
            free(cut);
            ex_forms_destroy(forms);
        }
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

/* Nothing is written with a stride or at an address that is not a multiple of four bytes, or with too small a stride.
 */
static void unaligned_rows_are_misuse(void **state) {
    (void)state;
    static const size_t strides[] = {13, 14, 8, 0};
    ex_forms *forms = forms_of(4, 1, EX_STORAGE_FLOAT);
    char bytes[80], *scratch = malloc(ex_forms_scratch_size(forms));
    memset(bytes, 0x77, sizeof bytes);
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    float *aligned = (float *)(((uintptr_t)bytes + 3) / 4 * 4);
    for (int i = 0; i < 4; i++)
        ex_forms_blend(forms, (float[]){1}, (float *)((uintptr_t)aligned + (i == 3)), strides[i], NULL, scratch);
    ex_forms_blend(forms, (float[]){1}, aligned, 0, NULL, scratch + 1);
    ex_set_misuse_hook(NULL);
    assert_int_equal(misuses, 5);
    for (size_t i = 0; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 0x77);
    free(scratch);
    ex_forms_destroy(forms);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_agree_with_double),         cmocka_unit_test(strides_leave_gaps_alone),
        cmocka_unit_test(zero_weights_give_the_base),     cmocka_unit_test(no_examples_and_no_vertices),
        cmocka_unit_test(sixteen_bits_hold_the_extremes), cmocka_unit_test(cuts_do_not_matter),
        cmocka_unit_test(unaligned_rows_are_misuse),      cmocka_unit_test(minor_examples),
        cmocka_unit_test(few_examples_are_not_minor),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
