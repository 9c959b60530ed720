/*
 * The demo `emotion` (Pose Space Deformation, section 4 and figures 6 and 7): expressions come back at their points;
 * from neutral to smiling the mouth rises through the half-smile and never falls, whereas with a slider per expression
 * one must be raised and lowered again.
 */
#include "posed.h"

enum { EXPRESSIONS = 9, HALF_SMILE = 0, SMILE = 1 };

static posed_demo demo;

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    posed_open(&demo, "emotion");
    return 0;
}

static int tear_down(void **state) {
    posed_close(&demo);
    return scratch_tear_down(state);
}

/* Closing lids meet eyeballs, and the lips each other: the test of `face` counts all other crossings. */
static void every_expression_comes_back(void **state) {
    (void)state;
    check_sculpts(&demo, true);
    assert_int_equal(ex_project_get(demo.project)->layers[0].example_count, EXPRESSIONS);
}

/* Only moved vertices are kept, and eyeballs are not among them. */
static void eyeballs_stay(void **state) {
    (void)state;
    int eyes = -1, faces = 0;
    for (int g = 0; g < demo.mesh->group_count; g++)
        eyes = strcmp(demo.mesh->group_names[g], "eyes") == 0 ? g : eyes;
    assert_true(eyes >= 0);
    posed_at(&demo, true, "happiness=0.9 arousal=0.7");
    for (int f = 0; f < demo.mesh->face_count; f++) {
        if (demo.mesh->face_groups[f] != eyes)
            continue;
        faces++;
        for (int i = demo.mesh->face_offsets[f]; i < demo.mesh->face_offsets[f + 1]; i++)
            for (int c = 0; c < 3; c++) {
                const int at = 3 * demo.mesh->corners[i] + c;
                assert_true(demo.positions[at] == (float)demo.mesh->positions[at]);
            }
    }
    assert_true(faces > 50);
    for (int k = 0; k < EXPRESSIONS; k++)
        assert_true(ex_rig_example_offset_count(demo.rig, 0, k) < demo.mesh->vertex_count * 3 / 4);
}

/* The vertex that the smile lifts most on one side: a corner of the mouth. */
static int mouth_corner(int side) {
    int corner = 0;
    float most = 0;
    posed_at(&demo, true, "happiness=1");
    for (int v = 0; v < demo.mesh->vertex_count; v++) {
        const float lift = demo.positions[3 * v + 1] - (float)demo.mesh->positions[3 * v + 1];
        if (lift > most && side * demo.mesh->positions[3 * v] > 0) {
            most = lift;
            corner = v;
        }
    }
    assert_true(most > 0.004f && demo.mesh->positions[3 * corner + 1] < -0.05);
    return corner;
}

static void mouth_rises_all_the_way(void **state) {
    (void)state;
    double lifts[2];
    for (int side = 0; side < 2; side++) {
        const int corner = mouth_corner(side ? -1 : 1);
        const double start = demo.mesh->positions[3 * corner + 1];
        double before = start - 1e-7;
        for (int i = 0; i <= 50; i++) {
            posed_at(&demo, true, "happiness=%g", i / 50.0);
            const double height = (double)demo.positions[3 * corner + 1];
            if (!(height > before))
                fail_msg("a corner of the mouth falls at a happiness of %g", i / 50.0);
            before = height;
            lifts[side] = i == 25 ? height - start : lifts[side];
        }
        print_message("corner of the mouth: %.2f mm up at the half-smile, %.2f mm at the smile\n", 1000 * lifts[side],
                      1000 * (before - start));
    }
    assert_true(lifts[0] > 1.2 * lifts[1]); /* a separate, asymmetric sculpt, not half of the smile */
}

/* The half-smile's weight rises and falls again automatically; it is all one dial that only rises. */
static void half_smile_is_on_the_way(void **state) {
    (void)state;
    double weights[EXPRESSIONS + 2], highest = 0;
    int at = -1;
    for (int i = 0; i <= 20; i++) {
        ex_weigher_evaluate(ex_rig_weigher(demo.rig, 0), (const double[2]){i / 20.0, 0}, weights);
        if (weights[HALF_SMILE] > highest) {
            highest = weights[HALF_SMILE];
            at = i;
        }
    }
    assert_true(abs(at - 10) <= 1);
    assert_true(fabs(weights[SMILE] - 1) < 1e-9 && fabs(weights[HALF_SMILE]) < 1e-9);
    ex_weigher_evaluate(ex_rig_weigher(demo.rig, 0), (const double[2]){0, 0}, weights);
    for (int k = 0; k < EXPRESSIONS; k++)
        assert_true(fabs(weights[k]) < 1e-9); /* neutral */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_expression_comes_back),
        cmocka_unit_test(eyeballs_stay),
        cmocka_unit_test(mouth_rises_all_the_way),
        cmocka_unit_test(half_smile_is_on_the_way),
    };
    return cmocka_run_group_tests_name("demos.emotion", tests, set_up, tear_down);
}
