/*
 * Bounds of distances that a state keeps from frame to frame: the patches they are made with, that they are true for
 * any motion and lose nothing in a rigid one, and long motions that are settled with a state and without: the same
 * bytes in every frame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dress.h"

#include "runtime/settle/settler.h"

enum { ACROSS = 32, COUNT = ACROSS * ACROSS, FRAMES = 96 };

/* ---- a body that bends, twists and sways, and cloth around it ---- */

/* A point of the body's space at a time: long in x, as a limb. */
static void bend(const double p[3], double time, float out[3]) {
    const double x = 0.5 * p[0], angle = 0.8 * sin(time) * x * 2, twist = 0.4 * sin(1.3 * time) * p[0];
    const double breath = 0.12 * (1 + 0.03 * sin(3 * time));
    const double y = breath * (p[1] * cos(twist) - p[2] * sin(twist));
    const double z = breath * (p[1] * sin(twist) + p[2] * cos(twist));
    out[0] = (float)(x * cos(angle) - y * sin(angle) + 0.3 * sin(0.7 * time));
    out[1] = (float)(x * sin(angle) + y * cos(angle) + 0.1 * sin(2.1 * time));
    out[2] = (float)(z + 0.2 * sin(0.9 * time));
}

static void pose_body(const surface *ball, double time, float *out) {
    for (int v = 0; v < ball->def.vertex_count; v++) {
        const double p[3] = {(double)ball->positions[3 * v], (double)ball->positions[3 * v + 1],
                             (double)ball->positions[3 * v + 2]};
        bend(p, time, out + 3 * v);
    }
}

/* Cloth whose folds go from `low` to `high` of the body's thickness outside, and slide along it. */
static void pose_cloth(double time, double low, double high, float *out) {
    for (int v = 0; v < COUNT; v++) {
        const double a = 6.2831853 * (v % ACROSS) / ACROSS, b = 1.6 * (v / ACROSS) / ACROSS - 0.8 + 0.02 * sin(time);
        const double fold = 0.5 + 0.5 * sin(5 * a + 0.7 * time) * cos(4 * b);
        const double radius = 1 + low + (high - low) * fold;
        bend((const double[3]){sin(b), radius * cos(b) * cos(a), radius * cos(b) * sin(a)}, time, out + 3 * v);
    }
}

/* ---- patches ---- */

static void test_patches(void **state) {
    (void)state;
    static const int sizes[] = {1, 3, 12, 30};
    for (int k = 0; k < 4; k++) {
        surface s = surface_welded_ball(sizes[k]);
        const ex_settler_def def = settler_def(&s, 4);
        ex_settler *settler = settler_of(&def);
        assert_int_equal(settler->kept_set, 0);
        assert_true(settler->patch_count > 0 && (k < 3 || settler->patch_count > 8));
        const uint32_t *starts = exi_tree_at(settler, settler->patch_starts);
        const uint32_t *vertices = exi_tree_at(settler, settler->patch_vertices);
        for (int t = 0; t < s.def.triangle_count; t++) { /* is in one of them with all its corners */
            bool whole = false;
            for (int p = 0; !whole && p < settler->patch_count; p++) {
                int corners = 0;
                for (uint32_t i = starts[p]; i < starts[p + 1]; i++)
                    for (int c = 0; c < 3; c++)
                        corners += vertices[i] == s.triangles[3 * t + c];
                assert_true(corners <= 3);
                whole = corners == 3;
            }
            assert_true(whole);
        }
        ex_settler_destroy(settler);
        surface_close(&s);
    }
}

static void test_closed_only(void **state) {
    (void)state;
    surface s = surface_welded_ball(6);
    ex_settler_def def = settler_def(&s, 40);
    for (int k = 0; k < 5; k++) {
        uint32_t all[12 * 36 + 1];
        uint16_t bound[40] = {0};
        const ex_bind some = {.triangle_count = s.def.triangle_count - (k == 3), .triangles = all};
        for (int t = 0; t < s.def.triangle_count; t++)
            all[t] = (uint32_t)t;
        def.triangle_count = s.def.triangle_count - (k == 1); /* a hole */
        def.open = k == 2;
        def.bind_count = k >= 3; /* some triangles, or all of them one by one */
        def.binds = &some;
        def.vertex_binds = bound;
        ex_settler *settler = settler_of(&def);
        assert_int_equal(settler->kept_set, k == 0 || k == 4 ? 0 : -1);
        assert_true((ex_settler_state_size(settler) > 2 * 40 * sizeof(uint32_t)) == (k == 0 || k == 4));
        ex_settler_destroy(settler);
    }
    def.bind_count = 0;
    const uint32_t swapped = s.triangles[0]; /* one triangle reversed */
    s.triangles[0] = s.triangles[1];
    s.triangles[1] = swapped;
    ex_settler *settler = settler_of(&def);
    assert_int_equal(settler->kept_set, -1);
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* ---- bounds ---- */

/* The bounds of all points after a step, from their true distances before it. */
static int step(const ex_settler *settler, const float *from, const float *to, const float *before, const float *points,
                float *least, float *kept) {
    exi_patch_four *fours = malloc(((size_t)settler->patch_count + 3) / 4 * sizeof *fours);
    int known = 0;
    memset(kept, 0, COUNT * sizeof *kept);
    if (exi_keep_prepare(settler, from, to, fours, NULL))
        for (int v = 0; v < COUNT; v += EXI_CLUSTER)
            known += exi_keep_cluster(settler, fours, (const float(*)[3])(const void *)(points + 3 * v), before + 3 * v,
                                      least + v, v + 21 > COUNT ? 11 : EXI_CLUSTER, kept + v);
    free(fours);
    return known;
}

static void test_true_bounds(void **state) {
    (void)state;
    static const double steps[] = {0, 0.003, 0.02, 0.1, 0.5, 2};
    surface s = surface_welded_ball(16);
    const ex_settler_def def = settler_def(&s, COUNT);
    ex_settler *settler = settler_of(&def);
    const size_t size = 3 * (size_t)s.def.vertex_count * sizeof(float);
    float *from = malloc(size), *to = malloc(size), before[3 * COUNT], after[3 * COUNT], was[COUNT], is[COUNT];
    float kept[COUNT];
    for (int k = 0; k < 6; k++) {
        int useful = 0;
        for (int f = 0; f < 12; f++) {
            pose_body(&s, 0.5 * f, from);
            pose_body(&s, 0.5 * f + steps[k], to);
            pose_cloth(0.5 * f, -0.1, 0.5, before);
            pose_cloth(0.5 * f + steps[k], -0.1, 0.5, after);
            measure_once(settler, from, before, NULL, NULL, was);
            measure_once(settler, to, after, NULL, NULL, is);
            const int known = step(settler, from, to, before, after, was, kept);
            assert_true(known > COUNT / 2);
            for (int v = 0; v < COUNT; v++) {
                assert_true(kept[v] <= 0 || kept[v] <= is[v] * 1.000001f);
                assert_true(kept[v] <= 0 || was[v] > 0);
                useful += kept[v] > 0.5f * is[v] && is[v] > 0;
            }
        }
        assert_true(k < 2 ? useful > 12 * COUNT / 2 : useful < (k == 5 ? COUNT : 12 * COUNT));
    }
    /* A rigid motion loses next to nothing, except by its angle: cos(a / 2) of the distance. */
    move_rigidly(from, s.def.vertex_count, 0.05, (const double[3]){0.3, -2, 1}, to);
    move_rigidly(before, COUNT, 0.05, (const double[3]){0.3, -2, 1}, after);
    measure_once(settler, from, before, NULL, NULL, was);
    step(settler, from, to, before, after, was, kept);
    int known = 0;
    for (int v = 0; v < COUNT - EXI_CLUSTER; v++) {
        known += was[v] > 0.001f;
        assert_true(was[v] < 0.001f || (kept[v] > 0.99f * was[v] - 5e-4f && kept[v] <= 1.000001f * was[v]));
    }
    assert_true(known > COUNT / 2);
    /* Nothing is known of a point that is not finite. */
    before[4] = NAN;
    after[30] = INFINITY;
    step(settler, from, to, before, after, was, kept);
    assert_true(kept[1] <= 0 && kept[10] <= 0);
    to[5] = NAN;
    assert_int_equal(step(settler, from, to, before, after, was, kept), 0);
    free(from);
    free(to);
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* ---- frames ---- */

typedef struct motion {
    const char *name;
    double low, high; /* of the cloth */
    double rate;      /* time per frame */
    bool keyed, open, halves, holed;
    double swing; /* at random, cloth is so much farther out for some frames */
} motion;

static ex_settler *dress(const motion *m, surface *ball, const float *body, const float *cloth) {
    surface s = *ball;
    s.positions = (float *)(uintptr_t)body;
    s.def.triangle_count -= m->holed ? 20 : 0;
    ex_settler_def def = settler_def(&s, COUNT);
    static uint32_t half[2][12 * 144];
    static uint16_t bound[COUNT];
    const int count = s.def.triangle_count;
    for (int t = 0; t < count; t++)
        half[0][t] = half[1][t] = (uint32_t)t;
    const ex_bind binds[] = {{count / 2, half[0]}, {count - count / 4, half[1]}};
    for (int v = 0; v < COUNT; v++)
        bound[v] = (uint16_t)(v / 16 % 3); /* two parts, and all */
    def.open = m->open;
    def.bind_count = m->halves ? 2 : 0;
    def.binds = binds;
    def.vertex_binds = bound;
    static uint32_t triangles[COUNT];
    static float places[2 * COUNT], gaps[COUNT];
    ex_settler *bare = settler_of(&def);
    measure_once(bare, body, cloth, triangles, places, gaps);
    def.key_count = m->keyed;
    def.key_triangles = triangles;
    def.key_places = places;
    def.key_gaps = gaps;
    ex_settler *settler = settler_of(&def);
    ex_settler_destroy(bare);
    return settler;
}

static void play(const motion *m) {
    surface ball = surface_welded_ball(12);
    const size_t size = 3 * (size_t)ball.def.vertex_count * sizeof(float);
    float *body = malloc(size), cloth[3 * COUNT], settled[3 * COUNT], weights[COUNT];
    pose_body(&ball, 0, body);
    pose_cloth(0, m->low, m->high, cloth);
    ex_settler *settler = dress(m, &ball, body, cloth);
    unsigned char *kept = calloc(1, ex_settler_state_size(settler) + 1);
    int pushed = 0, inside = 0;
    for (int v = 0; v < COUNT; v++)
        weights[v] = 1;
    double time = 0, out = 0;
    uint64_t seed = 3;
    for (int f = 0; f < (m->swing > 0 ? 4 * FRAMES : FRAMES); f++) {
        out = random_between(&seed, 0, 1) < 0.3 ? m->swing * random_between(&seed, 0, 1) : out;
        time += m->rate * (f % 13 == 12 ? 6 : 1); /* frames are dropped */
        pose_body(&ball, time, body);
        pose_cloth(time, m->low + out, m->high + out, cloth);
        if (f % 16 == 9) /* the body jumps into the cloth, and back */
            for (int i = 0; i < 3 * ball.def.vertex_count; i++)
                body[i] += i % 3 == 1 ? 0.15f : 0;
        if (f % 32 == 20) /* all of it is elsewhere for a frame */
            for (int i = 0; i < 3 * COUNT; i++)
                cloth[i] += 2;
        if (f % 24 == 17) { /* a part is lost */
            body[3 * 40] = NAN;
            body[3 * 200 + 1] = INFINITY;
            cloth[3 * 77] = NAN;
        }
        if (f == 50) /* another character's frame */
            memset(kept, 0, ex_settler_state_size(settler) / 2);
        ex_settle_job job = {.driver = body,
                             .push = f % 20 != 19, /* not in every frame */
                             .thickness = f % 10 < 8 ? 0.003f : 0.02f,
                             .weights = m->keyed ? weights : NULL};
        memcpy(settled, cloth, sizeof cloth);
        job.driven = settled;
        const ex_settled cold = settle_once(settler, &job, NULL);
        job.driven = cloth;
        const ex_settled warm = settle_once(settler, &job, kept);
        if (memcmp(cloth, settled, sizeof cloth) != 0 || memcmp(&cold, &warm, sizeof cold) != 0)
            fail_msg("%s: frame %d differs", m->name, f);
        pushed += cold.pushed;
        inside += cold.inside;
    }
    assert_int_equal(kept[ex_settler_state_size(settler)], 0);
    assert_true(pushed > 0 && inside > 0 && inside < FRAMES * COUNT);
    free(kept);
    free(body);
    ex_settler_destroy(settler);
    surface_close(&ball);
}

static void test_motions(void **state) {
    (void)state;
    static const motion motions[] = {
        {"loose", 0.25, 0.4, 0.04, false, false, false, false, 0},
        {"loose, with a key", 0.25, 0.4, 0.04, true, false, false, false, 0},
        {"loose, slow", 0.2, 0.9, 0.005, false, false, false, false, 0},
        {"tight", 0.02, 0.05, 0.04, true, false, false, false, 0},
        {"tight, slow", 0.01, 0.05, 0.002, false, false, false, false, 0},
        {"partly inside", -0.2, 0.6, 0.02, false, false, false, false, 0},
        {"fast", 0.1, 0.6, 0.3, false, false, false, false, 0},
        {"sheet", 0.05, 0.4, 0.02, false, true, false, false, 0},
        {"with a hole", 0.05, 0.4, 0.02, false, false, false, true, 0},
        {"bound to parts", 0.05, 0.4, 0.02, true, false, true, false, 0},
        {"now tight, now loose", -0.05, 0.02, 0.002, false, false, false, false, 0.3},
    };
    for (size_t k = 0; k < sizeof motions / sizeof motions[0]; k++)
        play(&motions[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_closed_only),
        cmocka_unit_test(test_true_bounds),
        cmocka_unit_test(test_motions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
