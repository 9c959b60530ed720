/* Names of the usual marker sets: bones, sides and kinds; and that the places on the body are where a body has them. */
#include "author/formats/motion/marker_sets.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void names(void **state) {
    (void)state;
    static const struct {
        const char *name;
        exi_marker_kind kind;
        int side;
        const char *joint;
    } cases[] = {
        /* Plug-in Gait and CMU */
        {"LASI", EXI_MARKER_PLACE, 1, "hips"},
        {"Anna:RKNE", EXI_MARKER_PLACE, -1, "hip.R"},
        {"LTOE", EXI_MARKER_PLACE, 1, "toe.L"},
        {"RBAK", EXI_MARKER_PLACE, 0, "chest"},
        {"C7", EXI_MARKER_PLACE, 0, "chest"},
        {"rwra", EXI_MARKER_PLACE, -1, "forearm.R"},
        {"LFWT", EXI_MARKER_PLACE, 1, "hips"},
        /* gait2392 */
        {"V.Sacral", EXI_MARKER_PLACE, 0, "hips"},
        {"R.Knee.Med", EXI_MARKER_PLACE, -1, "hip.R"},
        {"L.Ankle.Lat", EXI_MARKER_PLACE, 1, "knee.L"},
        {"R.Toe.Tip", EXI_MARKER_PLACE, -1, "toe.R"},
        {"R.Thigh.Upper", EXI_MARKER_BONE, -1, "hip.R"},
        {"L.Shank.Rear", EXI_MARKER_BONE, 1, "knee.L"},
        {"Top.Head", EXI_MARKER_PLACE, 0, "head"},
        {"R.Acromium", EXI_MARKER_PLACE, -1, "clavicle.R"},
        /* Rajagopal */
        {"RMFC", EXI_MARKER_PLACE, -1, "hip.R"},
        {"LLMAL", EXI_MARKER_PLACE, 1, "knee.L"},
        {"LTB2", EXI_MARKER_BONE, 1, "knee.L"},
        {"RTH3", EXI_MARKER_BONE, -1, "hip.R"},
        {"RFAradius", EXI_MARKER_PLACE, -1, "forearm.R"},
        {"LCAL", EXI_MARKER_PLACE, 1, "ankle.L"},
        /* Helen Hayes, CODA, clusters and words */
        {"Sacrum", EXI_MARKER_PLACE, 0, "hips"},
        {"L.Post.Fem.", EXI_MARKER_BONE, 1, "hip.L"},
        {"R.Sac.Wand", EXI_MARKER_BONE, -1, "hips"},
        {"pv4", EXI_MARKER_BONE, 0, "hips"},
        {"LSK1", EXI_MARKER_BONE, 1, "knee.L"},
        {"RTA3", EXI_MARKER_BONE, 0, "chest"},
        {"Knee_L", EXI_MARKER_PLACE, 1, "hip.L"},
        {"RightHeel", EXI_MARKER_PLACE, -1, "ankle.R"},
        /* no markers */
        {"LHJC", EXI_MARKER_COMPUTED, 0, ""},
        {"CentreOfMass", EXI_MARKER_COMPUTED, 0, ""},
        {"LKneeAngles", EXI_MARKER_NUMBERS, 0, ""},
        {"RGroundReactionForce", EXI_MARKER_NUMBERS, 0, ""},
        {"*12", EXI_MARKER_BLANK, 0, ""},
        {"Anna:*3", EXI_MARKER_BLANK, 0, ""},
        {"point7", EXI_MARKER_BLANK, 0, ""},
        {"U 14", EXI_MARKER_BLANK, 0, ""},
        {"", EXI_MARKER_BLANK, 0, ""},
        {"lamp", EXI_MARKER_UNKNOWN, 0, ""},
        {"L", EXI_MARKER_UNKNOWN, 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const exi_marker_meaning meaning = exi_marker_look_up(cases[i].name);
        if (meaning.kind != cases[i].kind || meaning.side != cases[i].side ||
            strcmp(meaning.joint, cases[i].joint) != 0)
            fail_msg("%s: kind %d, side %d, on '%s'", cases[i].name, (int)meaning.kind, meaning.side, meaning.joint);
    }
}

/* Heights in order, from toes to the head; sides mirrored. */
static void places(void **state) {
    (void)state;
    static const char *const order[] = {"LHEE", "LANK", "LTIB", "LKNE", "LTHI", "LASI", "T10", "LSHO", "LFHD"};
    for (size_t i = 1; i < sizeof order / sizeof *order; i++)
        assert_true(exi_marker_look_up(order[i]).height > exi_marker_look_up(order[i - 1]).height);
    assert_true(exi_marker_look_up("LASI").across[1] > exi_marker_look_up("LPSI").across[1] + 0.1);
    assert_true(exi_marker_look_up("LTOE").across[1] > exi_marker_look_up("LHEE").across[1] + 0.1);
    assert_true(exi_marker_look_up("LKNE").across[0] > exi_marker_look_up("LKNM").across[0] + 0.05);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        char name[8];
        strcpy(name, order[i]);
        if (name[0] != 'L')
            continue;
        name[0] = 'R';
        const exi_marker_meaning left = exi_marker_look_up(order[i]), right = exi_marker_look_up(name);
        assert_int_equal(left.place, right.place);
        assert_true(fabs(left.at[0] + right.at[0]) < 1e-12 && fabs(left.across[0] + right.across[0]) < 1e-12);
        assert_true(left.at[1] == right.at[1] && left.height == right.height);
    }
    /* The same place has one number, whatever the set. */
    assert_int_equal(exi_marker_look_up("LFWT").place, exi_marker_look_up("L.ASIS").place);
    assert_int_equal(exi_marker_look_up("RMFC").place, exi_marker_look_up("R.Knee.Med").place);
    assert_int_not_equal(exi_marker_look_up("RLFC").place, exi_marker_look_up("RMFC").place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
