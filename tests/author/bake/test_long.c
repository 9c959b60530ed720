/* Baking a motion with more frames than a decomposition uses: every frame is still weighed and measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/bake/bake.h"
#include "support/bakes.h"
#include "support/check.h"
#include "support/scratch.h"

static void test_long_motion(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(4, 3, EX_SKINNING_DUAL_QUATERNION, 0);
    ex_motion *motion = bake_motion(rig, 700, 5, 70);
    ex_bake_report report;
    ex_error error = {.result = EX_OK};
    if (ex_bake_glb(rig, motion, scratch_path("long.glb"), NULL, &report, &error) != EX_OK)
        fail_msg("%s", error.text);
    const ex_bake_error seen = bake_compare(scratch_path("long.glb"), rig, motion, 0, NULL);
    assert_int_equal(report.frame_count, 700);
    assert_near(report.total.largest, seen.largest, 1e-6 * report.size);
    assert_true(report.total.largest <= EX_BAKE_ERROR * report.size);
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_motion),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
