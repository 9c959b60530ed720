/*
 * Trees and fits: every triangle once, a bounded depth for hostile surfaces, a fit that equals a new tree to the bit,
 * the same bytes for every division of the work, triangles that are not finite, invalid definitions, memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "surfaces.h"

#include "runtime/base/memory.h"
#include "runtime/settle/tree.h"

/* ---- the tree ---- */

static void check_tree(const surface *s, const ex_tree *tree) {
    const int count = s->def.triangle_count;
    const uint32_t *children = exi_tree_at(tree, tree->children);
    const exi_tree_block *blocks = exi_tree_at(tree, tree->blocks);
    unsigned char *seen = calloc((size_t)count + 1, 1), *node_seen = calloc((size_t)tree->node_count, 1);
    unsigned char *block_seen = calloc((size_t)tree->block_count + 1, 1);
    assert_int_equal(ex_tree_triangle_count(tree), count);
    assert_true(tree->level_count >= 1 && tree->level_count <= EXI_TREE_DEPTH);
    assert_int_equal(tree->levels[0], 0);
    assert_int_equal(tree->levels[tree->level_count], tree->node_count);
    for (int level = 0; level < tree->level_count; level++)
        for (int n = tree->levels[level]; n < tree->levels[level + 1]; n++)
            for (int i = 0; i < EXI_TREE_FAN; i++) {
                const uint32_t child = children[EXI_TREE_FAN * n + i], block = child & ~EXI_TREE_BLOCK;
                if (child & EXI_TREE_BLOCK) {
                    assert_true(block < (uint32_t)tree->block_count && !block_seen[block]++);
                } else if (child) { /* of the next level */
                    assert_true(child >= (uint32_t)tree->levels[level + 1] &&
                                child < (uint32_t)tree->levels[level + 2]);
                    assert_false(node_seen[child]++);
                }
            }
    for (int b = 0; b < tree->block_count; b++) {
        assert_true(block_seen[b]);
        for (int lane = 0; lane < 4; lane++) {
            const uint32_t t = blocks[b].triangle[lane];
            assert_true(t < (uint32_t)count);
            assert_true(!seen[t]++ || t == blocks[b].triangle[0]); /* or a lane that repeats */
            for (int i = 0; i < 3; i++)
                assert_int_equal(blocks[b].vertex[i][lane], s->triangles[3 * t + (uint32_t)i]);
        }
    }
    for (int t = 0; t < count; t++)
        assert_true(seen[t]);
    free(seen);
    free(node_seen);
    free(block_seen);
}

static void test_every_triangle(void **state) {
    (void)state;
    for (int kind = 0; kind < SURFACE_KINDS; kind++) {
        surface s = surface_of_kind(kind);
        for (int count = s.def.triangle_count; count >= 0; count -= 1 + count / 9) {
            s.def.triangle_count = count;
            ex_tree *tree = tree_of(&s.def);
            check_tree(&s, tree);
            ex_tree_destroy(tree);
        }
        surface_close(&s);
    }
}

/* A tree of good quality: a query visits few triangles. Also if some of them are not finite. */
static void test_sorted(void **state) {
    (void)state;
    for (int broken = 0; broken < 2; broken++) {
        surface s = surface_ball(29);
        const float kept = s.positions[100];
        s.positions[100] = broken ? NAN : kept;
        ex_tree *tree = tree_of(&s.def);
        s.positions[100] = kept;
        check_tree(&s, tree);
        assert_true(tree->level_count <= 9);
        assert_true(tree->block_count <= s.def.triangle_count / 2);
        assert_true(tree->size <= 32 * (uint64_t)s.def.triangle_count);
        void *memory;
        const ex_bounds *fit = fit_of(tree, s.positions, &memory);
        const exi_fit_node *nodes = exi_tree_at(fit, fit->nodes);
        double visited = 0;
        for (int n = 0; n < fit->node_count; n++) /* the chance of a far ray through the ball to meet the box */
            for (int i = 0; i < EXI_TREE_FAN; i++) {
                double e[3];
                for (int c = 0; c < 3; c++)
                    e[c] = (double)nodes[n].box[3 + c][i] - (double)nodes[n].box[c][i];
                if (e[0] >= 0)
                    visited += (e[0] * e[1] + e[1] * e[2] + e[2] * e[0]) / 12;
            }
        assert_true(visited < 50);
        free(memory);
        ex_tree_destroy(tree);
        surface_close(&s);
    }
}

/* All the same; all at one point; a line; a line ever denser; and a million in a row. */
static void test_hostile(void **state) {
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        const int count = kind == 4 ? 1000000 : 100000;
        surface s = surface_open("hostile", count + 2, count);
        for (int v = 0; v < count + 2; v++) {
            float *p = s.positions + 3 * v;
            if (kind == 0)
                p[v % 3] = 1;
            if (kind == 2 || kind == 4)
                p[0] = (float)v;
            if (kind == 3)
                p[0] = ldexpf(1, -(v % 140));
            if (kind == 4)
                p[1] = (float)(v % 2) * 1e-3f;
        }
        for (int i = 0; i < 3 * count; i++)
            s.triangles[i] = (uint32_t)(kind == 0 ? i % 3 : i / 3 + i % 3);
        ex_tree *tree = tree_of(&s.def);
        check_tree(&s, tree);
        void *memory;
        const ex_bounds *fit = fit_of(tree, s.positions, &memory);
        ex_closest c;
        ex_hit hit;
        assert_true(ex_bounds_closest(fit, (float[]){5, 1, 2}, INFINITY, &c));
        if (kind < 2)
            assert_int_equal(c.triangle, 0);
        const ex_ray down = {{0.3f, 0.3f, 5}, {0, 0, -1}, 0, INFINITY}, along = {{-1, 0, 0}, {1, 0, 0}, 0, INFINITY};
        ex_bounds_ray(fit, &down, &hit);
        ex_bounds_ray(fit, &along, &hit);
        free(memory);
        ex_tree_destroy(tree);
        surface_close(&s);
    }
}

/* ---- fits ---- */

typedef struct answers {
    ex_closest closest[10000];
    ex_hit hits[10000];
} answers;

/* Near vertices and edges as often as anywhere: where triangles are equally near. */
static void ask(const ex_bounds *fit, const surface *s, answers *a) {
    uint64_t random = 3;
    memset(a, 0, sizeof *a);
    for (int i = 0; i < 10000; i++) {
        const float *v = s->positions + 3 * (random_bits(&random) % (uint64_t)s->def.vertex_count);
        ex_ray ray = {.t_min = 0, .t_max = INFINITY};
        float q[3];
        for (int c = 0; c < 3; c++) {
            const float off = (float)random_between(&random, -1, 1);
            q[c] = i % 2 ? 3 * off : fabsf(v[c]) < 10 ? v[c] + (i % 4 == 2 ? 0 : 0.1f * off) : off;
            ray.origin[c] = i % 8 < 4 ? 3 * off : rintf(3 * off);
            ray.direction[c] = (fabsf(v[c]) < 10 ? v[c] : 0) - ray.origin[c];
        }
        ex_bounds_closest(fit, q, INFINITY, &a->closest[i]);
        ex_bounds_ray(fit, &ray, &a->hits[i]);
    }
}

static void test_refit_as_rebuilt(void **state) {
    (void)state;
    answers *refitted = malloc(sizeof *refitted), *rebuilt = malloc(sizeof *rebuilt);
    for (int kind = 0; kind < SURFACE_KINDS; kind++) {
        surface s = surface_of_kind(kind);
        ex_tree *tree = tree_of(&s.def);
        uint64_t random = 8;
        for (int round = 0; round < 3; round++) {
            /* Bent; scattered again; without any order. A grid stays on integers, for ties. */
            for (int v = 0; v < s.def.vertex_count; v++) {
                float *p = s.positions + 3 * v;
                if (round == 0)
                    p[1] += kind == 4 ? rintf(0.3f * p[0]) : 0.3f * p[0] * p[0];
                for (int c = 0; c < 3 && round > 0; c++)
                    p[c] = kind == 4 ? rintf((float)random_between(&random, -3, 3))
                                     : (float)random_between(&random, -1, 1);
            }
            void *memory, *new_memory;
            const ex_bounds *fit = fit_of(tree, s.positions, &memory), *made_new = fit_whole(&s.def, &new_memory);
            ask(fit, &s, refitted);
            ask(made_new, &s, rebuilt);
            assert_memory_equal(refitted, rebuilt, sizeof *refitted);
            free(memory);
            free(new_memory);
        }
        ex_tree_destroy(tree);
        surface_close(&s);
    }
    free(refitted);
    free(rebuilt);
}

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)grain;
    for (int end = count, size = *(int *)user; end > 0; end -= size)
        body(context, end > size ? end - size : 0, end);
}

/* Any division, any stride, memory of any alignment: the same bytes. */
static void test_cuts(void **state) {
    (void)state;
    surface s = surface_ball(20);
    ex_tree *tree = tree_of(&s.def);
    const size_t size = ex_bounds_size(tree);
    char *memory = calloc(1, size), *other = calloc(1, size + 16);
    const ex_bounds *fit = ex_bounds_fit(tree, s.positions, 0, memory, NULL);
    const size_t bytes = size - EXI_ALIGN;
    float *strided = calloc((size_t)s.def.vertex_count, 20);
    for (int i = 0; i < 3 * s.def.vertex_count; i++)
        strided[5 * (i / 3) + i % 3] = s.positions[i];
    for (int pieces = 1; pieces < 100; pieces += 12) {
        memset(other, 0, size + 16);
        ex_tasks tasks = {run_backwards, &pieces};
        const ex_bounds *cut = ex_bounds_fit(tree, strided, 20, other + pieces / 12 % 2 * 16, &tasks);
        assert_memory_equal(fit, cut, bytes);
        assert_int_equal((uintptr_t)cut % EXI_ALIGN, 0);
    }
    /* The definition's stride: the same tree. */
    ex_tree *tree_strided = NULL;
    ex_tree_def def = s.def;
    def.positions = strided;
    def.stride = 20;
    assert_int_equal(ex_tree_create(&def, NULL, &tree_strided, NULL), EX_OK);
    assert_memory_equal(tree, tree_strided, (size_t)tree->size);
    ex_tree_destroy(tree_strided);
    free(strided);
    free(memory);
    free(other);
    ex_tree_destroy(tree);
    surface_close(&s);
}

/* Never found, and without effect: the answers of the others alone. Found again once they are finite. */
static void test_not_finite(void **state) {
    (void)state;
    enum { COUNT = 203, FINITE = 51 };
    surface s = surface_soup(COUNT, 4), whole = surface_soup(COUNT, 4), others = surface_soup(COUNT, 4);
    const float bad[] = {NAN, INFINITY, -INFINITY, 1e18f, -3e38f};
    for (int t = 0; t < COUNT; t++) /* some of every block, and complete blocks */
        if (t % 3 != 0 || t > 150)
            s.positions[9 * t + t % 9] = bad[t % 5];
    for (int t = 0; t < FINITE; t++)
        memcpy(others.triangles + 3 * t, s.triangles + 9 * t, 3 * sizeof *s.triangles);
    others.def.triangle_count = FINITE;
    void *memory, *others_memory;
    answers *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    ask(fit_whole(&others.def, &others_memory), &s, b);
    for (int i = 0; i < 10000; i++) {
        b->closest[i].triangle *= 3;
        b->hits[i].triangle *= b->hits[i].triangle < 0 ? 1 : 3;
    }
    free(others_memory);
    ex_tree *tree = NULL;
    for (int made_from_whole = 0; made_from_whole < 2; made_from_whole++) {
        tree = tree_of(made_from_whole ? &whole.def : &s.def);
        check_tree(&s, tree);
        ask(fit_of(tree, s.positions, &memory), &s, a);
        assert_memory_equal(a, b, sizeof *a);
        free(memory);
        if (!made_from_whole)
            ex_tree_destroy(tree);
    }
    ex_tree *broken = tree_of(&s.def);
    void *whole_memory;
    const ex_bounds *fit = fit_of(broken, whole.positions, &memory);
    ask(fit, &whole, a);
    ask(fit_whole(&whole.def, &whole_memory), &whole, b);
    assert_memory_equal(a, b, sizeof *a);
    ex_tree_destroy(broken);
    /* None at all. */
    for (int i = 0; i < 9 * COUNT; i++)
        s.positions[i] = NAN;
    free(memory);
    fit = fit_of(tree, s.positions, &memory);
    ask(fit, &s, a);
    for (int i = 0; i < 10000; i++)
        assert_true(a->closest[i].triangle == -1 && a->hits[i].triangle == -1);
    free(memory);
    free(whole_memory);
    free(a);
    free(b);
    ex_tree_destroy(tree);
    surface_close(&s);
    surface_close(&whole);
    surface_close(&others);
}

/* ---- wrong, and little memory ---- */

static void test_bad_definitions(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) {
        surface s = surface_ball(1);
        ex_tree_def def = s.def;
        ex_result expected = EX_ERROR_ARGUMENT;
        const char *word = "";
        switch (i) {
        case 0:
            def.vertex_count = -1;
            word = "negative";
            break;
        case 1:
            def.triangle_count = -1;
            word = "negative";
            break;
        case 2:
            def.positions = NULL;
            word = "positions";
            break;
        case 3:
            def.triangles = NULL;
            word = "triangles";
            break;
        case 4:
            def.stride = 8;
            word = "8 bytes";
            break;
        case 5:
            def.stride = 14;
            word = "14 bytes";
            break;
        case 6:
            s.triangles[3 * 7 + 1] = (uint32_t)def.vertex_count;
            expected = EX_ERROR_DATA;
            word = "triangle 7";
            break;
        case 7:
            s.triangles[3 * 11 + 2] = UINT32_MAX;
            expected = EX_ERROR_DATA;
            word = "triangle 11";
            break;
        case 8:
            s.triangles[0] = (uint32_t)def.vertex_count;
            expected = EX_ERROR_DATA;
            word = "triangle 0";
            break;
        default:
            def.triangle_count = INT32_MAX;
            expected = EX_ERROR_LIMIT;
            word = "2147483647";
            break;
        }
        ex_tree *tree = (ex_tree *)1;
        ex_error error = {.result = EX_OK};
        assert_int_equal(ex_tree_create(&def, NULL, &tree, &error), expected);
        assert_null(tree);
        assert_sentence(&error, expected, word);
        surface_close(&s);
    }
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

static void test_misuse(void **state) {
    (void)state;
    surface s = surface_ball(1);
    ex_tree *tree = tree_of(&s.def), *other = NULL;
    char memory[64];
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    assert_int_equal(ex_tree_create(NULL, NULL, &other, NULL), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_tree_create(&s.def, NULL, NULL, NULL), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_bounds_size(NULL), 0);
    assert_null(ex_bounds_fit(NULL, s.positions, 0, memory, NULL));
    assert_null(ex_bounds_fit(tree, NULL, 0, memory, NULL));
    assert_null(ex_bounds_fit(tree, s.positions, 0, NULL, NULL));
    assert_int_equal(ex_tree_triangle_count(NULL), 0);
    assert_int_equal(misuses, 7);
    assert_null(ex_bounds_fit(tree, s.positions, 13, memory, NULL));
    assert_null(ex_bounds_fit(tree, s.positions, 8, memory, NULL));
    assert_null(ex_bounds_fit(tree, (const float *)((uintptr_t)s.positions + 2), 0, memory, NULL));
    assert_int_equal(misuses, 10);
    ex_set_misuse_hook(NULL);
    ex_tree_destroy(NULL);
    ex_tree_destroy(tree);
    surface_close(&s);
}

static ex_result attempt(void *context, const ex_allocator *allocator) {
    ex_tree *tree = NULL;
    ex_result result = ex_tree_create(context, allocator, &tree, NULL);
    ex_tree_destroy(tree);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    surface s = surface_ball(3);
    assert_int_equal(failing_allocator_sweep(attempt, &s.def), 2);
    surface_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_triangle),   cmocka_unit_test(test_sorted), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_refit_as_rebuilt), cmocka_unit_test(test_cuts),   cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_bad_definitions),  cmocka_unit_test(test_misuse), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
