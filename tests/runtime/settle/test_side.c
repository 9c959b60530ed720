/*
 * The side of a thin limb on which cloth stays, frame by frame: a tube of 3 cm radius, like a forearm, and cloth that
 * the blend carries deeper than the middle. With keys it leaves on the side where the keys have it, in every frame, and
 * moves on evenly; by the closest point alone it would change sides. Cloth that slid around the limb stays where it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dress.h"

enum { AROUND = 24, RINGS = 12, CLOTH = 40, KEYS = 3, FRAMES = 240 };

static const double radius = 0.03, gap = 0.002;

/* A closed tube along z from 0 to 0.3, with flat ends. */
static surface make_tube(void) {
    surface s = surface_open("tube", AROUND * RINGS + 2, 2 * AROUND * RINGS);
    int n = 0;
    for (int v = 0; v < AROUND * RINGS; v++) {
        const double a = 6.283185307179586 * (v % AROUND) / AROUND;
        s.positions[3 * v] = (float)(radius * cos(a));
        s.positions[3 * v + 1] = (float)(radius * sin(a));
        s.positions[3 * v + 2] = (float)(0.3 * (v / AROUND) / (RINGS - 1));
    }
    s.positions[3 * (AROUND * RINGS + 1) + 2] = 0.3f;
    for (int r = 0; r < RINGS - 1; r++)
        for (int a = 0; a < AROUND; a++) {
            const uint32_t p = (uint32_t)(r * AROUND + a), q = (uint32_t)(r * AROUND + (a + 1) % AROUND);
            const uint32_t corners[6] = {p, q, p + AROUND, q, q + AROUND, p + AROUND};
            memcpy(s.triangles + n, corners, sizeof corners);
            n += 6;
        }
    for (int a = 0; a < AROUND; a++) {
        const uint32_t p = (uint32_t)a, q = (uint32_t)((a + 1) % AROUND), top = AROUND * (RINGS - 1);
        const uint32_t corners[6] = {AROUND * RINGS, q, p, AROUND * RINGS + 1, top + p, top + q};
        memcpy(s.triangles + n, corners, sizeof corners);
        n += 6;
    }
    return s;
}

/* Cloth over the tube's upper side, from -50 to 50 degrees, turned around the tube. */
static void place(int v, double turned, double off, float out[3]) {
    const double a = (v % 8 - 3.5) * 0.25 + turned;
    out[0] = (float)((radius + off) * sin(a));
    out[1] = (float)((radius + off) * cos(a));
    out[2] = (float)(0.05 + 0.04 * (v / 8));
}

static ex_settler *dress_tube(const surface *s) {
    static uint32_t triangles[KEYS * CLOTH];
    static float places[2 * KEYS * CLOTH], gaps[KEYS * CLOTH];
    ex_settler_def def = settler_def(s, CLOTH);
    ex_settler *bare = settler_of(&def);
    for (int k = 0; k < KEYS; k++) {
        float cloth[3 * CLOTH];
        for (int v = 0; v < CLOTH; v++)
            place(v, 0.15 * (k - 1), gap + 0.001 * k, cloth + 3 * v);
        measure_once(bare, s->positions, cloth, triangles + k * CLOTH, places + 2 * k * CLOTH, gaps + k * CLOTH);
    }
    ex_settler_destroy(bare);
    def.key_count = KEYS;
    def.key_triangles = triangles;
    def.key_places = places;
    def.key_gaps = gaps;
    return settler_of(&def);
}

/* Sinks deeper than the middle, up to 0.7 of the way from there to the far side, and comes back; keys change on the
 * way.
 */
static void blend_at(int frame, float *cloth, float *weights) {
    const double phase = 6.283185307179586 * frame / FRAMES, deep = 0.82 * (1 - cos(phase));
    for (int v = 0; v < CLOTH; v++) {
        place(v, 0.1 * sin(phase), gap, cloth + 3 * v);
        cloth[3 * v + 1] *= (float)(1 - deep * (1 + 0.01 * (v % 5)));
        for (int k = 0; k < KEYS; k++)
            weights[KEYS * v + k] = (float)((1 + cos(phase + 2.0943951 * k)) / 3);
    }
}

static double moved(const float *a, const float *b) {
    return sqrt(pow((double)a[0] - (double)b[0], 2) + pow((double)a[1] - (double)b[1], 2) +
                pow((double)a[2] - (double)b[2], 2));
}

static void test_forearm(void **state) {
    (void)state;
    surface s = make_tube();
    ex_settler *settler = dress_tube(&s);
    char *kept = calloc(1, ex_settler_state_size(settler));
    for (int keyed = 0; keyed < 2; keyed++) {
        float last[3 * CLOTH] = {0}, before[3 * CLOTH] = {0};
        int wrong = 0, below = 0;
        double jump = 0, step = 0;
        for (int f = 0; f <= FRAMES; f++) {
            float cloth[3 * CLOTH], from[3 * CLOTH], weights[KEYS * CLOTH];
            blend_at(f, cloth, weights);
            memcpy(from, cloth, sizeof from);
            const ex_settle_job job = {.driver = s.positions,
                                       .driven = cloth,
                                       .push = true,
                                       .thickness = (float)gap,
                                       .weights = keyed ? weights : NULL};
            const ex_settled settled = settle_once(settler, &job, kept);
            assert_int_equal(settled.left, 0);
            for (int v = 0; v < CLOTH; v++) {
                float home[3];
                assert_true(hypot((double)cloth[3 * v], (double)cloth[3 * v + 1]) > radius * 0.99);
                below += from[3 * v + 1] < -0.005f;
                place(v, 0, 0, home);
                wrong += cloth[3 * v] * home[0] + cloth[3 * v + 1] * home[1] < 0; /* more than 90 degrees away */
                step = f > 0 ? fmax(step, moved(from + 3 * v, before + 3 * v)) : 0;
                jump = f > 0 ? fmax(jump, moved(cloth + 3 * v, last + 3 * v)) : 0;
            }
            memcpy(last, cloth, sizeof last);
            memcpy(before, from, sizeof before);
        }
        assert_true(below > 500); /* frames and vertices for which the far side is nearer */
        if (keyed) {
            assert_int_equal(wrong, 0);
            assert_true(jump < 10 * step);
        } else {
            assert_true(wrong > 500 && jump > 30 * step);
        }
    }
    free(kept);
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* Cloth that slid around the tube, as far as to the other side, and touches it there: it is not thrown back. */
static void test_slid(void **state) {
    (void)state;
    surface s = make_tube();
    ex_settler *settler = dress_tube(&s);
    for (int degrees = 0; degrees < 180; degrees += 5) {
        float cloth[3 * CLOTH], from[3 * CLOTH], weights[KEYS * CLOTH];
        for (int v = 0; v < CLOTH; v++) {
            place(v, degrees * 0.017453292, v % 3 ? -0.0005 : 0.001, cloth + 3 * v);
            for (int k = 0; k < KEYS; k++)
                weights[KEYS * v + k] = k == 1;
        }
        memcpy(from, cloth, sizeof from);
        const ex_settle_job job = {
            .driver = s.positions, .driven = cloth, .push = true, .thickness = (float)gap, .weights = weights};
        assert_int_equal(settle_once(settler, &job, NULL).left, 0);
        for (int v = 0; v < CLOTH; v++)
            assert_true(moved(cloth + 3 * v, from + 3 * v) < 0.009);
    }
    ex_settler_destroy(settler);
    surface_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forearm),
        cmocka_unit_test(test_slid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
