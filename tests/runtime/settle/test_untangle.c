/*
 * Crossings of a garment with itself: counted by hand and by examining every pair, removed from sheets that go through
 * each other, above a driver; and everything that may be wrong with a definition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dress.h"
#include "support/failing_allocator.h"

static ex_untangler *untangler_of(const surface *s) {
    const ex_untangler_def def = {s->def.vertex_count, s->positions, s->def.triangle_count, s->triangles};
    ex_untangler *made = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_untangler_create(&def, NULL, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    return made;
}

static void *scratch_of(const ex_untangler *u) {
    const size_t size = ex_untangler_scratch_size(u);
    void *scratch = malloc(size);
    memset(scratch, 0xA5, size);
    return scratch;
}

static int count_of(const surface *s) {
    ex_untangler *u = untangler_of(s);
    void *scratch = scratch_of(u);
    const int count = ex_untangler_count(u, s->positions, 0, NULL, scratch);
    free(scratch);
    ex_untangler_destroy(u);
    return count;
}

/* ---- counting ---- */

/* The parameters of the line a b on a plane p0 + v e + w f, by Cramer's rule: another way than that of cross.c. */
static bool goes_through(const double a[3], const double b[3], double p[3][3]) {
    double d[3], e[3], f[3], g[3], n[3], h[3];
    between(a, b, d);
    between(p[0], p[1], e);
    between(p[0], p[2], f);
    between(p[0], a, g);
    outer(d, f, n);
    const double determinant = inner(e, n);
    if (determinant == 0)
        return false;
    outer(g, e, h);
    const double v = inner(g, n) / determinant, w = inner(d, h) / determinant, t = inner(f, h) / determinant;
    return v > 0 && w > 0 && v + w < 1 && t > 0 && t < 1;
}

static int count_all(const surface *s) {
    int count = 0;
    for (int a = 0; a < s->def.triangle_count; a++)
        for (int b = a + 1; b < s->def.triangle_count; b++) {
            double p[3][3], q[3][3];
            bool shared = false, crossing = false;
            for (int i = 0; i < 9; i++)
                shared = shared || s->triangles[3 * a + i / 3] == s->triangles[3 * b + i % 3];
            corners_of(&s->def, a, p);
            corners_of(&s->def, b, q);
            for (int i = 0; i < 3; i++)
                crossing = crossing || goes_through(p[i], p[(i + 1) % 3], q) || goes_through(q[i], q[(i + 1) % 3], p);
            count += crossing && !shared;
        }
    return count;
}

static void test_by_hand(void **state) {
    (void)state;
    surface s = surface_open("two", 6, 2);
    const float through[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2f, 0.2f, -1, 0.3f, 0.2f, 1, 0.2f, 0.3f, 1};
    memcpy(s.positions, through, sizeof through);
    for (uint32_t i = 0; i < 6; i++)
        s.triangles[i] = i;
    assert_int_equal(count_of(&s), 1);
    s.positions[11] = 0; /* a corner touches */
    assert_int_equal(count_of(&s), 0);
    s.positions[11] = 0.5f; /* above */
    assert_int_equal(count_of(&s), 0);
    s.positions[11] = -1;
    s.positions[9] = s.positions[12] = s.positions[15] = 2; /* beside */
    assert_int_equal(count_of(&s), 0);
    memcpy(s.positions, through, sizeof through);
    s.triangles[5] = 0; /* shares a corner */
    assert_int_equal(count_of(&s), 0);
    s.triangles[5] = 5;
    s.positions[4] = NAN;
    assert_int_equal(count_of(&s), 0);
    surface_close(&s);
}

static void test_all_pairs(void **state) {
    (void)state;
    int found = 0;
    for (int seed = 1; seed < 6; seed++) {
        surface soup = surface_soup(600, (uint64_t)seed), sheet = surface_grid(16);
        uint64_t random = (uint64_t)seed;
        for (int i = 0; i < 3 * sheet.def.vertex_count; i++) /* crumpled */
            sheet.positions[i] += (float)random_between(&random, -1, 1);
        assert_int_equal(count_of(&soup), count_all(&soup));
        assert_int_equal(count_of(&sheet), count_all(&sheet));
        found += count_all(&soup) + count_all(&sheet);
        surface_close(&soup);
        surface_close(&sheet);
    }
    assert_true(found > 1000);
}

/* ---- untangling ---- */

enum { ROW = 25, SHEET = ROW * ROW };

/* Two sheets, 4 mm apart, of squares of 1 cm; the upper one dips through the lower one by `deep` at a few places. */
static surface two_sheets(double deep) {
    surface s = surface_open("sheets", 2 * SHEET, 4 * (ROW - 1) * (ROW - 1));
    static const int dips[3][2] = {{6, 6}, {17, 8}, {12, 18}};
    int n = 0;
    for (int v = 0; v < 2 * SHEET; v++) {
        const int x = v % ROW, y = v / ROW % ROW;
        s.positions[3 * v] = 0.01f * (float)x;
        s.positions[3 * v + 1] = 0.01f * (float)y + (v < SHEET ? 0 : 0.0031f);
        s.positions[3 * v + 2] = v < SHEET ? 0 : 0.004f;
        for (int d = 0; v >= SHEET && d < 3; d++) {
            const double r = hypot(x - dips[d][0], y - dips[d][1]);
            s.positions[3 * v + 2] -= (float)((0.004 + deep) * exp(-r * r / 4));
        }
    }
    for (int f = 0; f < 2 * (ROW - 1) * (ROW - 1); f++) {
        const int cell = f % ((ROW - 1) * (ROW - 1)), sheet = f / ((ROW - 1) * (ROW - 1));
        const uint32_t v = (uint32_t)(sheet * SHEET + cell / (ROW - 1) * ROW + cell % (ROW - 1));
        const uint32_t corners[6] = {v, v + 1, v + ROW, v + 1, v + ROW + 1, v + ROW};
        for (int i = 0; i < 6; i++)
            s.triangles[n++] = corners[i];
    }
    return s;
}

static void test_sheets(void **state) {
    (void)state;
    for (int depth = 1; depth <= 4; depth++) {
        surface s = two_sheets(0.002 * depth);
        float *before = malloc(6 * SHEET * sizeof *before);
        memcpy(before, s.positions, 6 * SHEET * sizeof *before);
        ex_untangler *u = untangler_of(&s);
        void *scratch = scratch_of(u);
        const int crossing = count_all(&s);
        assert_true(crossing > 20);
        const ex_untangled result = ex_untangle(u, &(ex_untangle_job){.positions = s.positions}, scratch);
        assert_int_equal(result.before, crossing);
        assert_int_equal(result.after, 0);
        assert_int_equal(count_all(&s), 0);
        double farthest = 0;
        int moved = 0;
        for (int v = 0; v < 2 * SHEET; v++) {
            double square = 0;
            for (int c = 0; c < 3; c++)
                square += pow((double)s.positions[3 * v + c] - (double)before[3 * v + c], 2);
            farthest = fmax(farthest, sqrt(square));
            moved += square > 1e-8;
        }
        assert_true(farthest < 0.02 && moved < SHEET); /* what is far away stays */
        /* Without crossings nothing moves. */
        memcpy(before, s.positions, 6 * SHEET * sizeof *before);
        assert_int_equal(ex_untangle(u, &(ex_untangle_job){.positions = s.positions}, scratch).before, 0);
        assert_memory_equal(before, s.positions, 6 * SHEET * sizeof *before);
        free(scratch);
        free(before);
        ex_untangler_destroy(u);
        surface_close(&s);
    }
}

/* A slab just below: vertices may not be pushed into it, and keep their gaps. */
static void test_driver(void **state) {
    (void)state;
    surface s = two_sheets(0.004), slab = surface_box(6, 1, 0.2, 1);
    surface_weld(&slab);
    for (int v = 0; v < slab.def.vertex_count; v++) { /* its top is 1 mm below the lower sheet */
        const float y = slab.positions[3 * v + 1], z = slab.positions[3 * v + 2];
        slab.positions[3 * v + 1] = -z;
        slab.positions[3 * v + 2] = y - 0.101f;
    }
    const ex_settler_def def = settler_def(&slab, 2 * SHEET);
    ex_settler *settler = settler_of(&def);
    ex_untangler *u = untangler_of(&s);
    void *scratch = scratch_of(u), *settling = malloc(ex_settler_scratch_size(settler));
    float gaps[2 * SHEET];
    for (int v = 0; v < 2 * SHEET; v++) {
        const float height = s.positions[3 * v + 2] + 0.001f;
        gaps[v] = height < 0.001f ? fmaxf(height, 0) : 0.001f;
    }
    ex_untangle_job job = {.positions = s.positions,
                           .settler = settler,
                           .driver = slab.positions,
                           .gaps = gaps,
                           .settler_scratch = settling};
    const int before = count_all(&s);
    const ex_untangled result = ex_untangle(u, &job, scratch);
    assert_int_equal(result.before, before);
    assert_int_equal(result.after, count_all(&s));
    assert_true(result.after * 10 <= result.before);
    for (int v = 0; v < 2 * SHEET; v++)
        assert_true((double)s.positions[3 * v + 2] > (double)gaps[v] - 0.001 - 2e-5);
    free(scratch);
    free(settling);
    ex_untangler_destroy(u);
    ex_settler_destroy(settler);
    surface_close(&s);
    surface_close(&slab);
}

/* Pushing out moves the lower sheet through the upper one, far from all crossings before: they count too, and the form
 * before it stays if it has fewer. */
static void test_pushed(void **state) {
    (void)state;
    for (int wide = 1; wide <= 8; wide += 7) {
        surface s = two_sheets(0.004), slab = surface_box(6, 1, 0.2, 1);
        surface_weld(&slab);
        for (int v = 0; v < slab.def.vertex_count; v++) { /* its top is 1 mm below the lower sheet */
            const float y = slab.positions[3 * v + 1], z = slab.positions[3 * v + 2];
            slab.positions[3 * v + 1] = -z;
            slab.positions[3 * v + 2] = y - 0.101f;
        }
        const ex_settler_def def = settler_def(&slab, 2 * SHEET);
        ex_settler *settler = settler_of(&def);
        ex_untangler *u = untangler_of(&s);
        void *scratch = scratch_of(u), *settling = malloc(ex_settler_scratch_size(settler));
        float gaps[2 * SHEET] = {0};
        for (int v = 0; v < SHEET; v++) /* in a corner, up to 5 mm above the upper sheet */
            gaps[v] = v % ROW >= ROW - wide && v / ROW >= ROW - wide ? 0.01f : 0;
        ex_untangle_job job = {.positions = s.positions,
                               .settler = settler,
                               .driver = slab.positions,
                               .gaps = gaps,
                               .settler_scratch = settling};
        const int before = count_all(&s);
        const ex_untangled result = ex_untangle(u, &job, scratch);
        assert_int_equal(result.before, before);
        assert_int_equal(result.after, count_all(&s));
        assert_true(result.after <= before);
        free(scratch);
        free(settling);
        ex_untangler_destroy(u);
        ex_settler_destroy(settler);
        surface_close(&s);
        surface_close(&slab);
    }
}

/* With a stride, not finite vertices, at any address of scratch: the same bytes. */
static void test_strides(void **state) {
    (void)state;
    surface s = two_sheets(0.003);
    s.positions[3 * 5] = NAN;
    ex_untangler *u = untangler_of(&s);
    float *wide = calloc(2 * SHEET, 20);
    char *scratch = malloc(ex_untangler_scratch_size(u) + 8);
    for (int v = 0; v < 2 * SHEET; v++)
        memcpy(wide + 5 * v, s.positions + 3 * v, 12);
    const ex_untangled one = ex_untangle(u, &(ex_untangle_job){.positions = s.positions}, scratch);
    const ex_untangled other = ex_untangle(u, &(ex_untangle_job){.positions = wide, .stride = 20}, scratch + 4);
    assert_true(one.before > 0);
    assert_int_equal(one.before, other.before);
    assert_int_equal(one.after, other.after);
    for (int v = 0; v < 2 * SHEET; v++)
        assert_memory_equal(wide + 5 * v, s.positions + 3 * v, 12);
    free(scratch);
    free(wide);
    ex_untangler_destroy(u);
    surface_close(&s);
}

/* ---- definitions ---- */

static ex_result attempt(void *context, const ex_allocator *allocator) {
    ex_untangler *made = NULL;
    ex_error error;
    const ex_result result = ex_untangler_create(context, allocator, &made, &error);
    ex_untangler_destroy(made);
    return result;
}

static void test_definitions(void **state) {
    (void)state;
    surface s = surface_grid(3);
    ex_untangler_def def = {s.def.vertex_count, s.positions, s.def.triangle_count, s.triangles};
    assert_int_equal(failing_allocator_sweep(attempt, &def), 3); /* sorting, the tree, the untangler */
    ex_untangler *made = NULL;
    ex_error error = {.result = EX_OK};
    ex_untangler_def wrong = def;
    wrong.vertex_count = -1;
    assert_int_equal(ex_untangler_create(&wrong, NULL, &made, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "negative");
    wrong = def;
    wrong.triangles = NULL;
    assert_int_equal(ex_untangler_create(&wrong, NULL, &made, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "missing");
    wrong = def;
    wrong.vertex_count = 4;
    assert_int_equal(ex_untangler_create(&wrong, NULL, &made, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "vertex");
    const ex_untangler_def empty = {0};
    assert_int_equal(ex_untangler_create(&empty, NULL, &made, &error), EX_OK);
    void *scratch = scratch_of(made);
    assert_int_equal(ex_untangle(made, &(ex_untangle_job){.positions = s.positions}, scratch).before, 0);
    free(scratch);
    ex_untangler_destroy(made);
    surface_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),     cmocka_unit_test(test_all_pairs), cmocka_unit_test(test_sheets),
        cmocka_unit_test(test_driver),      cmocka_unit_test(test_pushed),    cmocka_unit_test(test_strides),
        cmocka_unit_test(test_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
