/*
 * The demo `elbow`: sculpts come back; a section through the bent elbow is as large as that of the straight arm,
 * whereas skinning alone loses it (Pose Space Deformation, figures 2 and 9); a heavy load swells the biceps (section
 * 5.3), and a light one leaves the first layer alone.
 */
#include "posed.h"

#include "demos/arm/arm.h"
#include "support/sections.h"

static posed_demo demo;

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    posed_open(&demo, "elbow");
    return 0;
}

static int tear_down(void **state) {
    posed_close(&demo);
    return scratch_tear_down(state);
}

/* ---- sections ---- */

/* The half-angle plane through the joint. */
static double elbow_section(const float *positions, double degrees) {
    const double half = degrees * 3.14159265358979323846 / 360;
    return section_area(demo.mesh, positions, (const double[3]){ARM_ELBOW, 0, 0},
                        (const double[3]){cos(half), sin(half), 0});
}

/* Section of the upper arm (`along` below 0) or the forearm, at that distance from the joint. */
static double limb_section(const float *positions, double degrees, double along) {
    const double angle = along > 0 ? degrees * 3.14159265358979323846 / 180 : 0;
    const double normal[3] = {cos(angle), sin(angle), 0};
    return section_area(demo.mesh, positions, (const double[3]){ARM_ELBOW + along * normal[0], along * normal[1], 0},
                        normal);
}

static void sections_are_measured(void **state) {
    (void)state;
    ex_mesh *sphere = exi_demo_sphere(4);
    float *positions = malloc(12 * (size_t)sphere->vertex_count);
    for (int i = 0; i < 3 * sphere->vertex_count; i++)
        positions[i] = (float)sphere->positions[i];
    const double normal[3] = {0, 1.5, 2}, at[3] = {0, 0.3, 0.4}, past[3] = {0, 0.9, 1.2};
    assert_true(fabs(section_area(sphere, positions, at, normal) / (3.14159265 * 0.75) - 1) < 0.01);
    assert_true(section_area(sphere, positions, past, normal) == 0);
    free(positions);
    ex_mesh_destroy(sphere);
}

/* Every 10 degrees: at the joint, and on both sides of it at the flesh that a bend moves. */
static void elbow_keeps_its_section(void **state) {
    (void)state;
    static const double places[] = {-0.16, -0.12, -0.09, 0.09, 0.12, 0.16};
    enum { PLACES = sizeof places / sizeof *places };
    const double straight = elbow_section(posed_at(&demo, true, "elbow=0"), 0);
    double limb[PLACES], least = INFINITY, least_limb = INFINITY, skinned = INFINITY;
    for (int i = 0; i < PLACES; i++)
        limb[i] = limb_section(demo.positions, 0, places[i]);
    for (int load = 0; load <= 1; load++)
        for (int degrees = 0; degrees <= 140; degrees += 10) {
            posed_at(&demo, true, "elbow=%d load=%d", degrees, load);
            const double part = elbow_section(demo.positions, degrees) / straight;
            least = fmin(least, part);
            for (int i = 0; i < PLACES; i++)
                least_limb = fmin(least_limb, limb_section(demo.positions, degrees, places[i]) / limb[i]);
            const double alone = elbow_section(posed_at(&demo, false, "elbow=%d", degrees), degrees) / straight;
            skinned = degrees == 110 ? alone : skinned;
            print_message("%3d degrees, load %d: section %.0f %% of the straight arm's, of skinning alone %.0f %%\n",
                          degrees, load, 100 * part, 100 * alone);
        }
    print_message("least: elbow %.3f, limb %.3f, skinning alone at 110 degrees %.3f\n", least, least_limb, skinned);
    assert_true(least >= 0.9);
    assert_true(least_limb >= 0.9);
    /* As long as flesh does not meet in the crease: the cosine of half the angle. */
    assert_true(fabs(skinned - cos(55 * 3.14159265358979323846 / 180)) < 0.02);
}

/* ---- effects of the layers ---- */

static void every_sculpt_comes_back(void **state) {
    (void)state;
    check_sculpts(&demo, false);
}

/* Between the sculpts too, an arm without a load does not cross itself, up to where its flesh meets. */
static void does_not_cross_itself(void **state) {
    (void)state;
    for (int degrees = 0; degrees <= 140; degrees += 10)
        for (int load = 0; load <= 1; load++) {
            int crossings = -1;
            posed_at(&demo, true, "elbow=%d load=%d", degrees, load);
            assert_int_equal(ex_mesh_count_self_intersections(demo.mesh, demo.positions, &crossings, NULL), EX_OK);
            if (crossings > 0)
                fail_msg("%d crossings at %d degrees, load %d", crossings, degrees, load);
        }
}

/* The section of the upper arm through the biceps. */
static double biceps(int degrees, double load) {
    return limb_section(posed_at(&demo, true, "elbow=%d load=%g", degrees, load), degrees, -0.12);
}

static void load_swells_the_biceps(void **state) {
    (void)state;
    for (int degrees = 60; degrees <= 140; degrees += 10) {
        const double light = biceps(degrees, 0), heavy = biceps(degrees, 1);
        assert_true(heavy > 1.08 * light);
        assert_true(biceps(degrees, 0.5) > light && biceps(degrees, 0.5) < heavy);
    }
    print_message("section through the biceps at 110 degrees: %.1f cm^2 light, %.1f heavy; straight %.1f\n",
                  1e4 * biceps(110, 0), 1e4 * biceps(110, 1), 1e4 * biceps(0, 0));
    /* A straight arm carries without flexing. */
    assert_true(fabs(biceps(0, 1) / biceps(0, 0) - 1) < 1e-4);
    assert_true(biceps(100, 0) > 1.05 * biceps(0, 0));
}

/* The second layer's weights are 0 at all sculpts of the first. */
static void first_layer_is_protected(void **state) {
    (void)state;
    static const double angles[] = {0, 60, 100, 140};
    for (int i = 0; i < 4; i++) {
        double weights[6], point[2] = {angles[i], 0};
        ex_weigher_evaluate(ex_rig_weigher(demo.rig, 1), point, weights);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(weights[k]) < 1e-9);
    }
}

static void and_under_dual_quaternions(void **state) {
    (void)state;
    check_sculpts_of_dual_quaternions("elbow");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_are_measured),      cmocka_unit_test(every_sculpt_comes_back),
        cmocka_unit_test(and_under_dual_quaternions), cmocka_unit_test(elbow_keeps_its_section),
        cmocka_unit_test(does_not_cross_itself),      cmocka_unit_test(load_swells_the_biceps),
        cmocka_unit_test(first_layer_is_protected),
    };
    return cmocka_run_group_tests_name("demos.elbow", tests, set_up, tear_down);
}
