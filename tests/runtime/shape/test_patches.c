/*
 * Sparse offsets: sums against a simple loop over every entry, with any sets, sizes and masks; reading back; sets of
 * examples in order of first appearance; errors are named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/memory.h"
#include "runtime/shape/patches.h"
#include "support/check.h"
#include "support/failing_allocator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 3, MOST = 70 };

/* Layers of random entries; layer 1 is weighed by sets, layer 2 has a mask. */
typedef struct sample {
    int mesh_count;
    exi_offset_layer layers[LAYERS];
    ex_offsets examples[LAYERS][MOST];
    float *mask;
    exi_incidence sets[LAYERS];
    exi_patches *patches;
    int weights;
    uint32_t *weight_examples;
} sample;

static void fill_example(ex_offsets *o, int mesh_count, double part, uint64_t *random) {
    uint32_t *vertices = malloc((size_t)mesh_count * sizeof *vertices);
    float *deltas = malloc((size_t)mesh_count * 3 * sizeof *deltas);
    *o = (ex_offsets){.vertices = vertices, .deltas = deltas};
    for (uint32_t v = 0; v < (uint32_t)mesh_count; v++) {
        if (random_between(random, 0, 1) > part)
            continue;
        vertices[o->count] = v;
        for (int c = 0; c < 3; c++) /* now and then an entry that moves nothing */
            deltas[3 * o->count + c] = v % 17 == 3 ? 0 : (float)random_between(random, -1, 1);
        o->count++;
    }
}

static ex_result make(sample *s, const ex_allocator *allocator, ex_error *error) {
    ex_result result = EX_OK;
    s->weights = 0;
    for (int l = 0; result == EX_OK && l < LAYERS; l++) {
        result = exi_incidence_open(&s->layers[l], s->mesh_count, allocator, &s->sets[l], error);
        if (result != EX_OK)
            break;
        s->layers[l].first_weight = s->weights;
        s->weights += s->layers[l].moved ? (int)s->sets[l].weight_of[s->sets[l].set_count] : s->layers[l].example_count;
    }
    return result == EX_OK
               ? exi_patches_create(s->layers, s->sets, LAYERS, 0, s->mesh_count, allocator, &s->patches, error)
               : result;
}

static void unmake(sample *s) {
    for (int l = 0; l < LAYERS; l++)
        exi_incidence_close(&s->sets[l]);
    memset(s->sets, 0, sizeof s->sets);
    exi_block_destroy(s->patches);
    s->patches = NULL;
}

static void open_sample(sample *s, int mesh_count, int example_count, double part) {
    uint64_t random = 5;
    memset(s, 0, sizeof *s);
    s->mesh_count = mesh_count;
    s->mask = malloc((size_t)mesh_count * sizeof *s->mask);
    for (int v = 0; v < mesh_count; v++)
        s->mask[v] = v % 5 == 0 ? 0 : (float)random_between(&random, 0, 1);
    for (int l = 0; l < LAYERS; l++) {
        for (int k = 0; k < example_count; k++)
            fill_example(&s->examples[l][k], mesh_count, part, &random);
        s->layers[l] = (exi_offset_layer){.examples = s->examples[l],
                                          .example_count = example_count,
                                          .mask = l == 2 ? s->mask : NULL,
                                          .moved = l == 1};
    }
}

static void close_sample(sample *s) {
    unmake(s);
    for (int l = 0; l < LAYERS; l++)
        for (int k = 0; k < s->layers[l].example_count; k++) {
            free((void *)(uintptr_t)s->examples[l][k].vertices);
            free((void *)(uintptr_t)s->examples[l][k].deltas);
        }
    free(s->mask);
    free(s->weight_examples);
}

/* The weight of a vertex's example, by the definition: the set of the examples that move it. */
static int weight_number(const sample *s, int l, int example, uint32_t vertex) {
    const exi_incidence *sets = &s->sets[l];
    if (!s->layers[l].moved)
        return s->layers[l].first_weight + example;
    for (int v = 0; v < sets->vertex_count; v++)
        if (sets->vertices[v] == vertex)
            for (uint32_t i = sets->starts[v]; i < sets->starts[v + 1]; i++)
                if (sets->examples[i] == (uint32_t)example)
                    return s->layers[l].first_weight + (int)(sets->weight_of[sets->set_of[v]] + i - sets->starts[v]);
    return -1;
}

static float part_of(const sample *s, int l, int k, int entry, int c) {
    const ex_offsets *o = &s->examples[l][k];
    return o->deltas[3 * entry + c] * (l == 2 ? s->mask[o->vertices[entry]] : 1);
}

static void compare_sums(int mesh_count, int example_count, double part, size_t stride) {
    sample s;
    open_sample(&s, mesh_count, example_count, part);
    ex_error error = {0};
    if (make(&s, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    uint64_t random = 11;
    float *weights = malloc(((size_t)s.weights + 1) * sizeof *weights);
    for (int i = 0; i < s.weights; i++)
        weights[i] = i % 4 == 1 ? 0 : (float)random_between(&random, -1, 1);
    double *expected = calloc((size_t)mesh_count * 3, sizeof *expected);
    for (int l = 0; l < LAYERS; l++)
        for (int k = 0; k < example_count; k++)
            for (int i = 0; i < s.examples[l][k].count; i++) {
                const uint32_t v = s.examples[l][k].vertices[i];
                const int number = weight_number(&s, l, k, v);
                for (int c = 0; number >= 0 && c < 3; c++)
                    expected[3 * v + (uint32_t)c] += (double)weights[number] * (double)part_of(&s, l, k, i, c);
            }
    char *positions = calloc((size_t)mesh_count, stride);
    const int chunks = (mesh_count + EXI_CHUNK - 1) / EXI_CHUNK;
    for (int chunk = 0; s.patches && chunk < chunks; chunk++)
        exi_patches_add(s.patches, chunk, weights, (float *)(void *)(positions + stride * EXI_CHUNK * (size_t)chunk),
                        stride);
    for (int v = 0; v < mesh_count; v++) {
        float own[3];
        memcpy(own, positions + stride * (size_t)v, sizeof own);
        for (int c = 0; c < 3; c++)
            assert_near((double)own[c], expected[3 * v + c], 1e-5);
    }
    free(positions);
    free(expected);
    free(weights);
    close_sample(&s);
}

static void sums_are_those_of_a_plain_loop(void **state) {
    (void)state;
    compare_sums(1, 1, 1, 12);
    compare_sums(7, 3, 0.5, 12);
    compare_sums(40, 0 + 2, 0, 12);
    compare_sums(EXI_CHUNK, 4, 1, 12);
    compare_sums(EXI_CHUNK + 1, 4, 0.3, 17);
    compare_sums(1700, 9, 0.05, 12);
    compare_sums(900, MOST, 0.6, 24); /* more terms than are processed at a time */
}

/* ---- reading back ---- */

typedef struct reading {
    const sample *s;
    int layer, example, next;
} reading;

static void visit(void *context, uint32_t vertex, const float delta[3]) {
    reading *r = context;
    const ex_offsets *o = &r->s->examples[r->layer][r->example];
    while (r->next < o->count && part_of(r->s, r->layer, r->example, r->next, 0) == 0) /* zero entries are not kept */
        r->next++;
    assert_true(r->next < o->count);
    assert_int_equal(vertex, o->vertices[r->next]);
    for (int c = 0; c < 3; c++)
        assert_true(delta[c] == part_of(r->s, r->layer, r->example, r->next, c));
    r->next++;
}

static void examples_are_read_back(void **state) {
    (void)state;
    sample s;
    ex_error error = {0};
    open_sample(&s, 1300, 5, 0.2);
    assert_int_equal(make(&s, NULL, &error), EX_OK);
    s.weight_examples = malloc((size_t)s.weights * sizeof *s.weight_examples);
    uint32_t *next = s.weight_examples;
    for (int l = 0; l < LAYERS; l++) {
        for (uint32_t k = 0; !s.layers[l].moved && k < 5; k++)
            *next++ = k;
        const exi_incidence *sets = &s.sets[l];
        for (int i = 0; s.layers[l].moved && i < sets->set_count; i++)
            for (uint32_t k = sets->starts[sets->first_of[i]]; k < sets->starts[sets->first_of[i] + 1]; k++)
                *next++ = sets->examples[k];
    }
    for (int l = 0; l < LAYERS; l++)
        for (int k = 0; k < 5; k++) {
            reading r = {&s, l, k, 0};
            exi_patches_visit(s.patches, l, (uint32_t)k, s.weight_examples, visit, &r);
            while (r.next < s.examples[l][k].count && part_of(&s, l, k, r.next, 0) == 0)
                r.next++;
            assert_int_equal(r.next, s.examples[l][k].count);
        }
    close_sample(&s);
}

/* ---- sets ---- */

static void sets_come_in_order_of_first_appearance(void **state) {
    (void)state;
    static const uint32_t a[] = {1, 4, 6, 9}, b[] = {4, 5, 9}, c[] = {2, 5};
    static const float moves[12] = {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0};
    const ex_offsets examples[3] = {{4, a, moves}, {3, b, moves}, {2, c, moves}};
    const exi_offset_layer layer = {.examples = examples, .example_count = 3, .moved = true};
    exi_incidence sets;
    uint32_t bits[4];
    ex_error error;
    assert_int_equal(exi_incidence_open(&layer, 12, NULL, &sets, &error), EX_OK);
    assert_int_equal(sets.set_count, 4); /* {a}, {c}, {a b}, {b c} */
    exi_incidence_bits(&sets, 3, bits);
    assert_int_equal(bits[0], 1);
    assert_int_equal(bits[1], 4);
    assert_int_equal(bits[2], 3);
    assert_int_equal(bits[3], 6);
    assert_int_equal(sets.weight_of[4], 6);
    assert_int_equal(sets.vertex_count, 6);
    exi_incidence_close(&sets);
}

static void wrong_entries_are_named(void **state) {
    (void)state;
    static const uint32_t twice[] = {3, 3}, back[] = {5, 2}, beyond[] = {3, 12};
    static const float sound[6] = {1, 1, 1, 1, 1, 1}, bad[6] = {1, 1, 1, 1, NAN, 1};
    const struct {
        ex_offsets example;
        const char *word;
    } cases[] = {{{2, twice, sound}, "out of order"}, {{2, back, sound}, "out of order"},
                 {{2, beyond, sound}, "12"},          {{-1, back, sound}, "lacks"},
                 {{2, NULL, sound}, "lacks"},         {{2, (const uint32_t[]){3, 7}, bad}, "vertex 7 is not finite"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const exi_offset_layer layer = {.examples = &cases[i].example, .example_count = 1};
        exi_incidence sets;
        ex_error error = {0};
        const ex_result result = exi_incidence_open(&layer, 12, NULL, &sets, &error);
        assert_int_not_equal(result, EX_OK);
        assert_sentence(&error, result, cases[i].word);
        exi_incidence_close(&sets);
    }
}

static ex_result attempt(void *context, const ex_allocator *allocator) {
    ex_error error = {0};
    const ex_result result = make(context, allocator, &error);
    unmake(context);
    return result;
}

static void memory_may_run_out(void **state) {
    (void)state;
    sample s;
    open_sample(&s, 600, 3, 0.3);
    assert_true(failing_allocator_sweep(attempt, &s) > 4);
    close_sample(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_a_plain_loop),
        cmocka_unit_test(examples_are_read_back),
        cmocka_unit_test(sets_come_in_order_of_first_appearance),
        cmocka_unit_test(wrong_entries_are_named),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
