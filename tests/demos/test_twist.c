/*
 * The demo `twist` (Pose Space Deformation, figure 3): skinning alone closes the forearm like the wrapper of a sweet,
 * sculpts in the skinned frame keep it open, between them too.
 */
#include "posed.h"

#include "demos/arm/arm.h"
#include "support/sections.h"

static posed_demo demo;

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    posed_open(&demo, "twist");
    return 0;
}

static int tear_down(void **state) {
    posed_close(&demo);
    return scratch_tear_down(state);
}

static double section_at(const float *positions, double x) {
    return section_area(demo.mesh, positions, (const double[3]){x, 0, 0}, (const double[3]){1, 0, 0});
}

/* The smallest remaining fraction of the straight forearm's sections. */
static double least_section(const char *words, bool layers) {
    enum { PLACES = 45 };
    double straight[PLACES], least = INFINITY;
    posed_at(&demo, true, "twist=0");
    for (int i = 0; i < PLACES; i++)
        straight[i] = section_at(demo.positions, 0.33 + 0.005 * i);
    posed_at(&demo, layers, "%s", words);
    for (int i = 0; i < PLACES; i++)
        least = fmin(least, section_at(demo.positions, 0.33 + 0.005 * i) / straight[i]);
    return least;
}

static void every_sculpt_comes_back(void **state) {
    (void)state;
    check_sculpts(&demo, false);
    assert_int_equal(ex_rig_layer_frame(demo.rig, 0), EX_OFFSET_FRAME_SKINNED);
}

static void forearm_keeps_its_sections(void **state) {
    (void)state;
    for (int degrees = 0; degrees <= 180; degrees += 10) {
        char words[32];
        snprintf(words, sizeof words, "twist=%d", degrees);
        const double kept = least_section(words, true), alone = least_section(words, false);
        print_message("%3d degrees: least section %.0f %% of the straight arm's, of skinning alone %.1f %%\n", degrees,
                      100 * kept, 100 * alone);
        assert_true(kept >= 0.9);
        if (degrees == 180)
            assert_true(alone <= 0.05);
    }
}

static void does_not_cross_itself(void **state) {
    (void)state;
    for (int degrees = 0; degrees <= 180; degrees += 20) {
        int crossings = -1;
        posed_at(&demo, true, "twist=%d", degrees);
        assert_int_equal(ex_mesh_count_self_intersections(demo.mesh, demo.positions, &crossings, NULL), EX_OK);
        assert_int_equal(crossings, 0);
    }
}

/* Offsets turn with their vertices: a lifted arm is the same arm. */
static void goes_along_with_the_arm(void **state) {
    (void)state;
    const int count = demo.mesh->vertex_count;
    float *level = malloc(12 * (size_t)count);
    assert_non_null(level);
    memcpy(level, posed_at(&demo, true, "twist=150"), 12 * (size_t)count);
    const float *lifted = posed_at(&demo, true, "twist=150 joint:shoulder=z90");
    for (int v = 0; v < count; v++) {
        assert_true(fabsf(lifted[3 * v] + level[3 * v + 1]) < 1e-5f);
        assert_true(fabsf(lifted[3 * v + 1] - level[3 * v]) < 1e-5f);
        assert_true(fabsf(lifted[3 * v + 2] - level[3 * v + 2]) < 1e-5f);
    }
    free(level);
}

/* Sculpts of offsets are marked like other examples; the zero that holds the layer at rest is not. */
static void sheets_mark_the_sculpts(void **state) {
    (void)state;
    ex_sheet_def def = ex_sheet_def_default();
    ex_sheet_info info;
    ex_image *image = NULL;
    def.rig = demo.rig;
    def.axis_count = 1;
    def.axes[0] = ex_rig_input_find(demo.rig, "twist");
    def.counts[0] = 4;
    def.beyond[0][0] = def.beyond[0][1] = 0;
    def.cell = EX_SHEET_CELL_MIN;
    assert_int_equal(ex_sheet_image(&def, &image, &info, NULL), EX_OK);
    assert_int_equal(info.example_count, 3);
    assert_int_equal(info.pseudo_count, 0);
    ex_image_destroy(image);
}

static void and_under_dual_quaternions(void **state) {
    (void)state;
    check_sculpts_of_dual_quaternions("twist");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sculpt_comes_back),    cmocka_unit_test(and_under_dual_quaternions),
        cmocka_unit_test(forearm_keeps_its_sections), cmocka_unit_test(does_not_cross_itself),
        cmocka_unit_test(goes_along_with_the_arm),    cmocka_unit_test(sheets_mark_the_sculpts),
    };
    return cmocka_run_group_tests_name("demos.twist", tests, set_up, tear_down);
}
