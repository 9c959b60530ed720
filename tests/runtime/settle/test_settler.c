/*
 * Settlers: errors of definitions, failing memory, and frames of a motion: the same bytes with any state, with any
 * tasks, at any stride.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dress.h"

#include "runtime/settle/order.h"
#include "support/failing_allocator.h"

/* ---- definitions ---- */

typedef struct wrong {
    const char *word;
    ex_result result;
    void (*spoil)(ex_settler_def *def);
} wrong;

static float far_positions[3 * 25];
static uint32_t bad_triangles[3], bad_keys[4];
static float bad_places[8], bad_gaps[4];
static const uint32_t descending[2] = {3, 2}, outside[1] = {99}, first_two[2] = {0, 1};
static ex_bind bad_bind;
static uint16_t bad_vertex_binds[2];

static void spoil_counts(ex_settler_def *def) {
    def->vertex_count = -1;
}
static void spoil_binds(ex_settler_def *def) {
    def->bind_count = EX_BIND_MAX + 1;
}
static void spoil_key_count(ex_settler_def *def) {
    def->key_count = 1025;
}
static void spoil_positions(ex_settler_def *def) {
    def->driver_positions = NULL;
}
static void spoil_vertex_binds(ex_settler_def *def) {
    bad_bind = (ex_bind){2, first_two};
    def->bind_count = 1;
    def->binds = &bad_bind;
}
static void spoil_keys(ex_settler_def *def) {
    def->key_places = NULL;
}
static void spoil_position(ex_settler_def *def) {
    memcpy(far_positions, def->driver_positions, sizeof far_positions);
    far_positions[3 * 7 + 1] = NAN;
    def->driver_positions = far_positions;
}
static void spoil_corner(ex_settler_def *def) {
    memcpy(bad_triangles, (const uint32_t[3]){0, 1, 25}, sizeof bad_triangles);
    def->triangles = bad_triangles;
    def->triangle_count = 1;
    def->key_count = 0;
}
static void set_bind(ex_settler_def *def, int count, const uint32_t *triangles) {
    bad_bind = (ex_bind){count, triangles};
    def->bind_count = 1;
    def->binds = &bad_bind;
    memset(bad_vertex_binds, 0, sizeof bad_vertex_binds);
    def->vertex_binds = bad_vertex_binds;
}
static void spoil_empty_bind(ex_settler_def *def) {
    set_bind(def, 0, first_two);
}
static void spoil_descending(ex_settler_def *def) {
    set_bind(def, 2, descending);
}
static void spoil_outside(ex_settler_def *def) {
    set_bind(def, 1, outside);
}
static void spoil_vertex_bind(ex_settler_def *def) {
    set_bind(def, 2, first_two);
    bad_vertex_binds[1] = 2;
}
static void spoil_key_triangle(ex_settler_def *def) {
    memcpy(bad_keys, (const uint32_t[4]){0, 1, 2, 32}, sizeof bad_keys);
    def->key_triangles = bad_keys;
}
static void spoil_place(ex_settler_def *def) {
    bad_places[3] = INFINITY;
    def->key_places = bad_places;
}
static void spoil_gap(ex_settler_def *def) {
    bad_gaps[2] = NAN;
    def->key_gaps = bad_gaps;
}
static void spoil_driver(ex_settler_def *def) {
    def->triangle_count = 0;
}

static void test_refused(void **state) {
    (void)state;
    static const wrong cases[] = {
        {"1025 keys", EX_ERROR_LIMIT, spoil_key_count},
        {"negative", EX_ERROR_ARGUMENT, spoil_counts},
        {"257 sets", EX_ERROR_LIMIT, spoil_binds},
        {"missing", EX_ERROR_ARGUMENT, spoil_positions},
        {"which of them", EX_ERROR_ARGUMENT, spoil_vertex_binds},
        {"places", EX_ERROR_ARGUMENT, spoil_keys},
        {"vertex 7", EX_ERROR_DATA, spoil_position},
        {"vertex 25", EX_ERROR_DATA, spoil_corner},
        {"set 0", EX_ERROR_DATA, spoil_empty_bind},
        {"ascend", EX_ERROR_DATA, spoil_descending},
        {"triangle 99", EX_ERROR_DATA, spoil_outside},
        {"bound to set 2", EX_ERROR_DATA, spoil_vertex_bind},
        {"key 2, driven vertex 1", EX_ERROR_DATA, spoil_key_triangle},
        {"key 1, driven vertex 1", EX_ERROR_DATA, spoil_place},
        {"key 2, driven vertex 0", EX_ERROR_DATA, spoil_gap},
        {"no triangle", EX_ERROR_ARGUMENT, spoil_driver},
    };
    surface s = surface_grid(4);
    const uint32_t triangles[4] = {0, 1, 2, 3};
    const float places[8] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ex_settler_def def = settler_def(&s, 2);
        ex_settler *settler = (ex_settler *)&def;
        ex_error error = {.result = EX_OK};
        def.key_count = 2;
        def.key_triangles = triangles;
        def.key_places = places;
        cases[i].spoil(&def);
        assert_int_equal(ex_settler_create(&def, NULL, &settler, &error), cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
        assert_null(settler);
    }
    surface_close(&s);
}

/* As many keys and as many sets as there may be. */
static void test_most(void **state) {
    (void)state;
    static ex_bind binds[EX_BIND_MAX];
    surface s = surface_grid(1);
    ex_settler_def def = settler_def(&s, 0);
    def.key_count = EXI_KEY_MAX;
    ex_settler_destroy(settler_of(&def));
    for (int b = 0; b < EX_BIND_MAX; b++)
        binds[b] = (ex_bind){2, first_two};
    def.binds = binds;
    def.bind_count = EX_BIND_MAX;
    ex_settler_destroy(settler_of(&def));
    surface_close(&s);
}

/* Nothing driven, no driver, and no keys although the job requires them. */
static void test_empty(void **state) {
    (void)state;
    surface s = surface_grid(1);
    ex_settler_def def = settler_def(&s, 0);
    ex_settler *settler = settler_of(&def);
    ex_settle_job job = {.driver = s.positions, .blended = s.positions, .push = true, .residual = EX_RESIDUAL_CLOSEST};
    settle_once(settler, &job, NULL);
    ex_settler_destroy(settler);
    def.vertex_count = 1;
    def.triangle_count = 0;
    settler = settler_of(&def);
    float driven[3] = {1, 2, 3};
    const float weights[1] = {1};
    job.driven = driven;
    job.weights = weights;
    job.thickness = 1;
    for (int kind = 0; kind < EX_RESIDUAL_COUNT; kind++) {
        job.residual = (ex_residual)kind;
        const ex_settled settled = settle_once(settler, &job, NULL);
        assert_int_equal(settled.penetrating, 0);
        assert_true(driven[0] == 1 && driven[1] == 2 && driven[2] == 3);
    }
    ex_settler_destroy(settler);
    ex_settler_destroy(NULL);
    assert_string_equal(ex_residual_name(EX_RESIDUAL_KEYS), "keys");
    assert_string_equal(ex_residual_name(EX_RESIDUAL_COUNT), "unknown residual");
    surface_close(&s);
}

static ex_result attempt(void *context, const ex_allocator *allocator) {
    ex_settler *settler = NULL;
    const ex_result result = ex_settler_create(context, allocator, &settler, NULL);
    assert_true((settler != NULL) == (result == EX_OK));
    ex_settler_destroy(settler);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    surface s = surface_grid(4);
    ex_settler_def def = settler_def(&s, 2);
    static const uint16_t vertex_binds[2] = {0, 1};
    const ex_bind bind = {2, first_two};
    def.bind_count = 1;
    def.binds = &bind;
    def.vertex_binds = vertex_binds;
    assert_int_equal(failing_allocator_sweep(attempt, &def), 6); /* work; two trees, and work for each; the settler */
    surface_close(&s);
}

/* On a line in random order: every cluster is a piece of it, and so is every four. */
static void test_order(void **state) {
    (void)state;
    enum { COUNT = 10 * EXI_CLUSTER + 5 };
    float points[COUNT][3];
    uint32_t order[COUNT];
    for (int i = 0; i < COUNT; i++) {
        points[i][0] = points[i][1] = 1;
        points[i][2] = (float)(i * 89 % COUNT);
        order[i] = (uint32_t)i;
    }
    exi_order_cluster((const float(*)[3])points, order, 0, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal((int)points[order[i]][2] / 4, i / 4);
}

/* ---- frames ---- */

enum { CLOTH = 150, KEYS = 5, FRAMES = 12 };

typedef struct show {
    surface body;
    ex_settler *settler;
    float *blended[FRAMES], *driver[FRAMES];
    float cloth[FRAMES][3 * CLOTH], weights[FRAMES][KEYS * CLOTH];
} show;

/* A ball that swells, wobbles and turns; every fifth frame is completely different. */
static void form_at(const surface *rest, double time, double swing, float *out) {
    const double by[3] = {0.3 * time, 0.1 * sin(time), 0};
    for (int v = 0; v < rest->def.vertex_count; v++)
        for (int c = 0; c < 3; c++)
            out[3 * v + c] = rest->positions[3 * v + c] *
                             (float)(1 + swing * sin(3 * time + 4 * (double)rest->positions[3 * v + (c + 1) % 3]));
    move_rigidly(out, rest->def.vertex_count, 0.2 * time, by, out);
}

static void open_show(show *h) {
    uint64_t seed = 77;
    uint32_t triangles[KEYS * CLOTH];
    float places[2 * KEYS * CLOTH], gaps[KEYS * CLOTH];
    h->body = surface_welded_ball(4);
    ex_settler_def def = settler_def(&h->body, CLOTH);
    def.key_count = KEYS;
    for (int i = 0; i < KEYS * CLOTH; i++) {
        /* neighbours in the keys, and some that are strays */
        triangles[i] = (uint32_t)((i % CLOTH + (i % 7 == 0 ? 60 : i / CLOTH)) % h->body.def.triangle_count);
        places[2 * i] = (float)random_between(&seed, 0, 0.5);
        places[2 * i + 1] = (float)random_between(&seed, 0, 0.5);
        gaps[i] = (float)random_between(&seed, -0.01, 0.05);
    }
    def.key_triangles = triangles;
    def.key_places = places;
    def.key_gaps = gaps;
    h->settler = settler_of(&def);
    for (int f = 0; f < FRAMES; f++) {
        const double time = f % 5 == 4 ? 40.0 * f : 0.1 * f;
        h->blended[f] = malloc((size_t)h->body.def.vertex_count * 12);
        h->driver[f] = malloc((size_t)h->body.def.vertex_count * 12);
        form_at(&h->body, time, 0.1, h->blended[f]);
        form_at(&h->body, time, 0.14, h->driver[f]);
        for (int v = 0; v < CLOTH; v++) {
            const uint32_t *corner = h->body.triangles + 3 * triangles[v];
            for (int c = 0; c < 3; c++)
                h->cloth[f][3 * v + c] = h->blended[f][3 * corner[0] + (uint32_t)c] * 0.6f +
                                         h->blended[f][3 * corner[1] + (uint32_t)c] * 0.4f +
                                         0.03f * (float)sin(9 * v + 0.1 * f + c);
            for (int k = 0; k < KEYS; k++)
                h->weights[f][KEYS * v + k] = (k + f) % 3 ? 0 : 0.5f;
        }
    }
}

static void close_show(show *h) {
    for (int f = 0; f < FRAMES; f++) {
        free(h->blended[f]);
        free(h->driver[f]);
    }
    ex_settler_destroy(h->settler);
    surface_close(&h->body);
}

static ex_settled show_frame(const show *h, int f, ex_residual residual, const ex_tasks *tasks, void *state,
                             size_t stride, float *out) {
    const size_t step = stride ? stride / sizeof(float) : 3;
    for (size_t v = 0; v < CLOTH; v++)
        memcpy(out + v * step, h->cloth[f] + 3 * v, 12);
    const ex_settle_job job = {.blended = h->blended[f],
                               .driver = h->driver[f],
                               .driven = out,
                               .stride = stride,
                               .residual = residual,
                               .weights = h->weights[f],
                               .push = true,
                               .thickness = 0.03f,
                               .tasks = tasks};
    return settle_once(h->settler, &job, state);
}

static void test_any_state(void **state) {
    (void)state;
    show h;
    open_show(&h);
    const size_t size = ex_settler_state_size(h.settler);
    uint64_t seed = 9;
    for (int residual = 0; residual < EX_RESIDUAL_COUNT; residual++) {
        unsigned char *kept = calloc(1, size + 1);
        int pushed = 0;
        for (int f = 0; f < FRAMES; f++) {
            float cold[3 * CLOTH], warm[3 * CLOTH];
            if (f % 4 == 3)
                for (size_t i = 0; i < size; i++)
                    kept[i] = (unsigned char)(f == 3 ? 0xFF : f == 7 && i % 4 > 0 ? 0 : random_bits(&seed));
            const ex_settled a = show_frame(&h, f, (ex_residual)residual, NULL, NULL, 0, cold);
            const ex_settled b = show_frame(&h, f, (ex_residual)residual, NULL, kept, 0, warm);
            assert_memory_equal(cold, warm, sizeof cold);
            assert_memory_equal(&a, &b, sizeof a);
            pushed += a.pushed;
        }
        assert_true(pushed > FRAMES); /* there was something to do */
        assert_int_equal(kept[size], 0);
        free(kept);
    }
    close_show(&h);
}

/* A motion with pauses, jumps back, jumps elsewhere, and a driver that is partly lost: the same with the state of any
 * previous frame as without. */
static void test_interrupted(void **state) {
    (void)state;
    show h;
    open_show(&h);
    static const int frames[] = {0, 1, 1, 1, 2, 9, 3, 4, 4, 0, 5, 6};
    unsigned char *kept = calloc(1, ex_settler_state_size(h.settler));
    const size_t count = 3 * (size_t)h.body.def.vertex_count;
    float *driver = malloc(count * sizeof *driver);
    int pushed = 0, lost = 0;
    for (int i = 0; i < (int)(sizeof frames / sizeof frames[0]); i++) {
        const int f = frames[i];
        const float leap = i == 4 || i == 5 ? 40 : 0;
        for (size_t k = 0; k < count; k++)
            driver[k] = i == 7 && k % 3 == 0 && k < count / 2 ? NAN : h.driver[f][k] + leap;
        float cold[3 * CLOTH], warm[3 * CLOTH];
        for (int k = 0; k < 3 * CLOTH; k++)
            cold[k] = warm[k] = h.cloth[f][k] + leap;
        ex_settle_job job = {
            .driver = driver, .driven = cold, .weights = h.weights[f], .push = true, .thickness = 0.03f};
        const ex_settled a = settle_once(h.settler, &job, NULL);
        job.driven = warm;
        const ex_settled b = settle_once(h.settler, &job, kept);
        assert_memory_equal(cold, warm, sizeof cold);
        assert_memory_equal(&a, &b, sizeof a);
        pushed += a.pushed;
        lost += i == 7 && a.pushed > 0;
    }
    assert_true(pushed > 100 && lost == 1);
    free(driver);
    free(kept);
    close_show(&h);
}

/* From the last to the first, in pieces of uneven size. */
static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)grain;
    int *pieces = user;
    for (int end = count, size = 1; end > 0; size = size % 5 + 2) {
        const int begin = end > size ? end - size : 0;
        body(context, begin, end);
        end = begin;
        ++*pieces;
    }
}

static void test_tasks_and_strides(void **state) {
    (void)state;
    show h;
    open_show(&h);
    int pieces = 0;
    const ex_tasks tasks = {run_backwards, &pieces};
    for (int residual = 0; residual < EX_RESIDUAL_COUNT; residual++) {
        float one[3 * CLOTH], other[5 * CLOTH] = {0};
        const ex_settled a = show_frame(&h, 1, (ex_residual)residual, NULL, NULL, 12, one);
        const ex_settled b = show_frame(&h, 1, (ex_residual)residual, &tasks, NULL, 20, other);
        for (int v = 0; v < CLOTH; v++) {
            assert_memory_equal(one + 3 * v, other + 5 * v, 12);
            assert_true(other[5 * v + 3] == 0 && other[5 * v + 4] == 0);
        }
        assert_memory_equal(&a, &b, sizeof a);
    }
    assert_true(pieces >= 6);
    close_show(&h);
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

/* Strides and addresses that are not multiples of four bytes, and a stride shorter than a triple, move nothing. */
static void test_unaligned(void **state) {
    (void)state;
    static const size_t strides[] = {13, 14, 8, 0};
    show h;
    open_show(&h);
    float driven[4 * CLOTH] = {0}, distance[CLOTH], none[4 * CLOTH] = {0};
    void *scratch = malloc(ex_settler_scratch_size(h.settler));
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    distance[0] = 77;
    for (int i = 0; i < 4; i++) {
        float *at = (float *)((uintptr_t)driven + (i == 3));
        const ex_settle_job job = {
            .driver = h.driver[0], .driven = at, .stride = strides[i], .push = true, .thickness = 1};
        ex_settle(h.settler, &job, NULL, scratch);
        ex_settler_measure(h.settler, h.driver[0], at, strides[i], NULL, NULL, distance, NULL, scratch);
    }
    ex_set_misuse_hook(NULL);
    assert_int_equal(misuses, 8);
    assert_memory_equal(driven, none, sizeof driven);
    assert_true(distance[0] == 77);
    free(scratch);
    close_show(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_most),
        cmocka_unit_test(test_empty),       cmocka_unit_test(test_memory),
        cmocka_unit_test(test_order),       cmocka_unit_test(test_any_state),
        cmocka_unit_test(test_interrupted), cmocka_unit_test(test_tasks_and_strides),
        cmocka_unit_test(test_unaligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
