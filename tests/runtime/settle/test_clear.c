/*
 * test_clear.c - loose cloth, for which one vertex answers for its neighbours: the same bits as when every vertex
 * searches, also where the keys promise room that is not there, and correct by examining every triangle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dress.h"

enum { ACROSS = 40, COUNT = ACROSS * ACROSS };

/* A sheet of cloth around one half of a ball, from `low` to `high` outside in waves. */
static void make_sheet(double low, double high, float *driven) {
    for (int v = 0; v < COUNT; v++) {
        const double a = 3.0 * (v % ACROSS) / ACROSS, b = 2.4 * (v / ACROSS) / ACROSS - 1.2;
        const double radius = 1 + low + (high - low) * (0.5 + 0.5 * sin(9 * a) * cos(7 * b));
        driven[3 * v] = (float)(radius * cos(a) * cos(b));
        driven[3 * v + 1] = (float)(radius * sin(a) * cos(b));
        driven[3 * v + 2] = (float)(radius * sin(b));
    }
}

/* A settler with one key; gaps: the same for all vertices, or 0: unknown, so that every vertex searches. */
static ex_settler *settler_with_room(const surface *s, const float *driven, float gap) {
    ex_settler_def def = settler_def(s, COUNT);
    ex_settler *bare = settler_of(&def);
    static uint32_t triangles[COUNT];
    static float places[2 * COUNT], gaps[COUNT];
    measure_once(bare, s->positions, driven, triangles, places, NULL);
    ex_settler_destroy(bare);
    for (int v = 0; v < COUNT; v++)
        gaps[v] = gap;
    def.key_count = 1;
    def.key_triangles = triangles;
    def.key_places = places;
    def.key_gaps = gap > 0 ? gaps : NULL;
    return settler_of(&def);
}

static void test_same_bits(void **state) {
    (void)state;
    static const double ranges[4][2] = {{0.3, 0.5}, {0.01, 0.4}, {-0.2, 0.5}, {-0.6, -0.3}};
    surface s = surface_welded_ball(12);
    static float sheet[3 * COUNT], weights[COUNT];
    for (int v = 0; v < COUNT; v++)
        weights[v] = 1;
    for (int r = 0; r < 4; r++) {
        make_sheet(ranges[r][0], ranges[r][1], sheet);
        float searched[3 * COUNT], settled[3 * COUNT];
        ex_settler *plain = settler_with_room(&s, sheet, 0), *loose = settler_with_room(&s, sheet, 0.5f);
        ex_settle_job job = {.driver = s.positions, .push = true, .thickness = 0.02f, .weights = weights};
        memcpy(searched, sheet, sizeof sheet);
        memcpy(settled, sheet, sizeof sheet);
        job.driven = searched;
        const ex_settled one = settle_once(plain, &job, NULL);
        job.driven = settled;
        const ex_settled other = settle_once(loose, &job, NULL);
        assert_memory_equal(searched, settled, sizeof settled);
        assert_int_equal(one.penetrating, other.penetrating);
        assert_memory_equal(&one.deepest, &other.deepest, sizeof one.deepest);
        int inside = 0;
        for (int v = 0; v < COUNT; v += 7) {
            const double before = dress_distance(&s.def, sheet + 3 * v, NULL);
            inside += before < 0.02 - 1e-5;
            assert_true(dress_distance(&s.def, settled + 3 * v, NULL) > 0.02 - 1e-4);
            if (before > 0.02 + 1e-5)
                assert_memory_equal(settled + 3 * v, sheet + 3 * v, 12);
        }
        assert_true(r == 0 ? inside == 0 : inside > 0);
        ex_settler_destroy(plain);
        ex_settler_destroy(loose);
    }
    surface_close(&s);
}

/* A state of garbage changes nothing. */
static void test_any_state(void **state) {
    (void)state;
    surface s = surface_welded_ball(12);
    static float sheet[3 * COUNT], weights[COUNT];
    for (int v = 0; v < COUNT; v++)
        weights[v] = 1;
    make_sheet(-0.05, 0.5, sheet);
    ex_settler *settler = settler_with_room(&s, sheet, 0.4f);
    float expected[3 * COUNT], settled[3 * COUNT];
    memcpy(expected, sheet, sizeof sheet);
    ex_settle_job job = {
        .driver = s.positions, .driven = expected, .push = true, .thickness = 0.02f, .weights = weights};
    settle_once(settler, &job, NULL);
    const size_t size = ex_settler_state_size(settler);
    unsigned char *bytes = malloc(size);
    uint64_t seed = 5;
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)(i % 4 > 1 && round % 2 ? 0 : random_between(&seed, 0, 255.9));
        memcpy(settled, sheet, sizeof sheet);
        job.driven = settled;
        settle_once(settler, &job, bytes);
        assert_memory_equal(settled, expected, sizeof settled);
    }
    free(bytes);
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* A key without weights tells neighbours apart and where to look first: the same bytes as without any key, and as with
 * keys of another place. */
static void test_key_without_weights(void **state) {
    (void)state;
    surface s = surface_welded_ball(12);
    static float sheet[3 * COUNT], turned[3 * COUNT];
    make_sheet(-0.05, 0.3, sheet);
    move_rigidly(sheet, COUNT, 1.0, (const double[3]){0.1, 0.2, 0}, turned);
    const ex_settler_def def = settler_def(&s, COUNT);
    ex_settler *settlers[] = {settler_of(&def), settler_with_room(&s, sheet, 0), settler_with_room(&s, turned, 0.3f)};
    float settled[3][3 * COUNT];
    ex_settled reports[3];
    for (int k = 0; k < 3; k++) {
        memcpy(settled[k], sheet, sizeof sheet);
        const ex_settle_job job = {.driver = s.positions, .driven = settled[k], .push = true, .thickness = 0.02f};
        reports[k] = settle_once(settlers[k], &job, NULL);
        assert_memory_equal(settled[k], settled[0], sizeof settled[0]);
        assert_memory_equal(&reports[k], &reports[0], sizeof reports[0]);
    }
    assert_true(reports[0].pushed > 0 && reports[0].pushed < COUNT);
    for (int k = 0; k < 3; k++)
        ex_settler_destroy(settlers[k]);
    surface_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_any_state),
        cmocka_unit_test(test_key_without_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
