/* Matching joints: by name, with the changes that programs make to names, and by map files, with every error. */
#include "skeletons.h"

#include "support/fail_alloc.h"
#include "support/scratch.h"

/* Joints of a rig that move with the one turned joint of a clip of these names, as letters. */
static const char *moved(const bone *theirs, int their_count, int turned, const bone *ours, int our_count) {
    static char letters[BONES_MOST + 1];
    ex_rig *rig = bones_rig(ours, our_count);
    ex_clip *clip = bones_clip(theirs, their_count, 2);
    turn_local(clip_local(clip, 1, turned), 0, 30);
    ex_motion *motion = bring(clip, rig, NULL);
    int count = 0;
    for (int j = 0; j < our_count; j++)
        if (memcmp(motion->poses[0].joints[j].rotation, motion->poses[1].joints[j].rotation, 4 * sizeof(float)) != 0)
            letters[count++] = (char)('a' + j);
    letters[count] = 0;
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
    return letters;
}

/* Joints side by side, so that no turn compensates another. */
static void names(void **state) {
    (void)state;
    static const bone ours[] = {{"Left Arm", -1, 0, 0, 0, {0}},
                                {"left_arm", -1, 1, 0, 0, {0}},
                                {"hand.L", -1, 2, 0, 0, {0}},
                                {"\xC3\x84rmel", -1, 3, 0, 0, {0}},
                                {"", -1, 4, 0, 0, {0}}};
    static const struct {
        const char *name, *moved;
    } cases[] = {
        {"Left Arm", "a"},   {"left_arm", "b"},       {"LEFTARM", "a"}, {"mixamorig:LeftArm", "a"},
        {"a:b:Hand_L", "c"}, {"x:\xC3\x84rmel", "d"}, {"Hand L", "c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bone theirs[] = {{cases[i].name, -1, 0, 0, 0, {0}}, {"other", -1, 0, 0, 0, {0}}};
        if (strcmp(moved(theirs, 2, 0, ours, 5), cases[i].moved) != 0)
            fail_msg("%s", cases[i].name);
    }
    /* Letter by letter comes first, and no joint of the clip moves two by its name. */
    static const bone both[] = {{"LEFT ARM", -1, 0, 0, 0, {0}}, {"left_arm", -1, 0, 0, 0, {0}}};
    assert_string_equal(moved(both, 2, 0, ours, 5), "a");
    assert_string_equal(moved(both, 2, 1, ours, 5), "b");
    /* An end site moves nothing. */
    static const bone ends[] = {{"_hand.L", -1, 0, 0, 0, {0}}, {"left_arm", -1, 0, 0, 0, {0}}};
    assert_string_equal(moved(ends, 2, 0, ours, 5), "");
}

static void dials(void **state) {
    (void)state;
    ex_rig *rig = bones_rig(NULL, 0);
    ex_clip *clip = bones_clip((const bone[]){{"root", -1, 0, 0, 0, {0}}}, 1, 2);
    ex_error error = {0};
    ex_motion *motion = NULL;
    assert_int_equal(ex_motion_from_clip(clip, rig, NULL, &motion, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "the rig has no skeleton, and none of its dials");
    float values[2] = {0.25f, 0.75f}, turns[2] = {1, 1};
    char name[] = "Face:Smile", turn[] = "turn";
    ex_clip_dial made[2] = {{name, values}, {turn, turns}};
    clip->dials = made;
    clip->dial_count = 2;
    motion = bring(clip, rig, NULL);
    assert_int_equal(motion->matched_count, 1); /* turn is a rotation, which no weight moves */
    assert_true(motion->poses[0].inputs[0] == 0.25 && motion->poses[1].inputs[0] == 0.75);
    assert_true(motion->poses[1].inputs[4] == 1 && motion->poses[1].inputs[1] == 0);
    assert_null(motion->poses[1].joints);
    ex_motion_destroy(motion);
    const ex_joint_pair pair = {name, name, {0}, false};
    assert_int_equal(ex_motion_from_clip(clip, rig, &(ex_joint_map){1, (ex_joint_pair *)&pair}, &motion, &error),
                     EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "the map names joints, but the rig has no skeleton");
    clip->dials = NULL;
    clip->dial_count = 0;
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

static void pairs_are_told(void **state) {
    (void)state;
    static const bone ours[] = {{"hip", -1, 0, 0, 0, {0}}, {"knee", 0, 1, 0, 0, {0}}, {"toe", 1, 2, 0, 0, {0}}};
    static const bone theirs[] = {{"x:Knee", -1, 0, 0, 0, {0}}, {"tail", 0, 0, 0, 0, {0}}, {"HIP", 0, 0, 0, 0, {0}}};
    ex_rig *rig = bones_rig(ours, 3);
    ex_clip *clip = bones_clip(theirs, 3, 1);
    ex_error error = {0};
    int joints[3] = {7, 7, 7};
    assert_int_equal(ex_clip_match(clip, rig, NULL, joints, NULL, &error), EX_OK);
    assert_true(joints[0] == 2 && joints[1] == 0 && joints[2] == -1);
    ex_joint_pair pair = {(char *)"toe", (char *)"tail", {0}, false};
    assert_int_equal(ex_clip_match(clip, rig, &(ex_joint_map){1, &pair}, joints, NULL, &error), EX_OK);
    assert_true(joints[0] == -1 && joints[1] == -1 && joints[2] == 1);
    pair.from = (char *)"none";
    assert_int_equal(ex_clip_match(clip, rig, &(ex_joint_map){1, &pair}, joints, NULL, &error), EX_ERROR_DATA);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

static void refuses(void **state) {
    (void)state;
    static const bone theirs[] = {{"Hips", -1, 0, 1, 0, {0}},
                                  {"LeftUpLeg", 0, 0, 1, 0, {0}},
                                  {"LeftLeg", 1, 0, 1, 0, {0}},
                                  {"_end", 2, 0, 1, 0, {0}}};
    static const bone ours[] = {{"root", -1, 0, 1, 0, {0}}, {"upperleg01.L", 0, 0, 1, 0, {0}}};
    ex_rig *rig = bones_rig(ours, 2);
    ex_clip *clip = bones_clip(theirs, 4, 1);
    ex_motion *motion = NULL;
    ex_error error = {0};
    assert_int_equal(ex_motion_from_clip(clip, rig, NULL, &motion, &error), EX_ERROR_DATA);
    assert_null(motion);
    for (const char **word = (const char *[]){"'Hips', 'LeftUpLeg'", "'root', 'upperleg01.L'", "map file",
                                              "{\"joints\": {\"root\": \"Hips\"}}", NULL};
         *word; word++)
        assert_sentence(&error, EX_ERROR_DATA, *word);
    static const struct {
        const char *joint, *from, *sentence;
    } cases[] = {
        {"uperleg01.L", "LeftUpLeg", "'uperleg01.L', which the rig does not have; did you mean 'upperleg01.L'?"},
        {"root", "hip", "'hip', which the motion does not have; did you mean 'Hips'?"},
        {"zzzzzzzz", "Hips", "'zzzzzzzz', which the rig does not have"},
        {"root", "_end", "'_end', which the motion does not have"},
        {"Hips", "root", "joint 'Hips' on the left, where the rig's joints belong, but it is the motion's"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_joint_pair pair = {(char *)cases[i].joint, (char *)cases[i].from, {0}, false};
        assert_int_equal(ex_motion_from_clip(clip, rig, &(ex_joint_map){1, &pair}, &motion, &error), EX_ERROR_DATA);
        assert_sentence(&error, EX_ERROR_DATA, cases[i].sentence);
    }
    char root[] = "root", hips[] = "Hips";
    ex_joint_pair twice[] = {{root, hips, {0}, false}, {root, hips, {0}, false}};
    assert_int_equal(ex_motion_from_clip(clip, rig, &(ex_joint_map){2, twice}, &motion, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "the map names joint 'root' of the rig twice");
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

/* ---- map files ---- */

static void reads_maps(void **state) {
    (void)state;
    static const char text[] =
        "\xEF\xBB\xBF{\"joints\": {\"upperarm01.L\": \"LeftArm\",\n \"lowerarm01.L\": {\"from\": "
        "\"LeftForeArm\", \"hinge\": \"y\"}, \"k\": {\"from\": \"b\", \"hinge\": [0, 1, -2], \"align\": true},\"c\": "
        "{\"from\": \"d\", \"align\": false}}}";
    ex_joint_map *map = NULL;
    ex_error error = {0};
    scratch_write("m.json", text, strlen(text));
    if (ex_joint_map_read(scratch_path("m.json"), &map, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(map->pair_count, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(map->pairs[i].as_it_rests, i == 3);
    assert_string_equal(map->pairs[0].joint, "upperarm01.L");
    assert_string_equal(map->pairs[0].from, "LeftArm");
    assert_string_equal(map->pairs[1].from, "LeftForeArm");
    assert_true(map->pairs[0].hinge[0] == 0 && map->pairs[0].hinge[1] == 0 && map->pairs[0].hinge[2] == 0);
    assert_true(map->pairs[1].hinge[0] == 0 && map->pairs[1].hinge[1] == 1 && map->pairs[1].hinge[2] == 0);
    assert_true(map->pairs[2].hinge[0] == 0 && map->pairs[2].hinge[1] == 1 && map->pairs[2].hinge[2] == -2);
    ex_joint_map_destroy(map);
    ex_joint_map_destroy(NULL);
}

static void refuses_maps(void **state) {
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "m.json is empty"},
        {"{\"joints\": {\"a\": \"b\"}", "m.json:1:"},
        {"{\"joints\": {\"a\": \"b\", \"a\": \"c\"}}", "m.json:1:"},
        {"[]", "a map is an object"},
        {"{\"joint\": {}}", "joints"},
        {"{\"joints\": {}}", "at least one pair"},
        {"{\"joints\": [\"a\"]}", "at least one pair"},
        {"{\"joints\": {\"a\": 3}}", "joints.a: \"JOINT\" of the motion"},
        {"{\"joints\": {\"a\": \"\"}}", "joints.a: \"JOINT\" of the motion"},
        {"{\"joints\": {\"a\": {}}}", "joints.a.from: the name of the motion's joint"},
        {"{\"joints\": {\"a\": {\"from\": \"b\", \"hing\": \"x\"}}}", "hinge"},
        {"{\"joints\": {\"a\": {\"from\": \"b\", \"hinge\": \"w\"}}}", "joints.a.hinge: a direction is"},
        {"{\"joints\": {\"a\": {\"from\": \"b\", \"hinge\": [1, 2]}}}", "joints.a.hinge: a direction is"},
        {"{\"joints\": {\"a\": {\"from\": \"b\", \"hinge\": [0, 0, 0]}}}", "joints.a.hinge: this direction is zero"},
        {"{\"joints\": {\"a\": {\"from\": \"b\", \"hinge\": [1, \"2\", 3]}}}", "joints.a.hinge[1]: a number"},
        {"{\"joints\": {\"a\": {\"from\": \"b\", \"align\": 0}}}", "joints.a.align: true or false"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_joint_map *map = (ex_joint_map *)&state;
        ex_error error = {0};
        scratch_write("m.json", cases[i].text, strlen(cases[i].text));
        ex_result result = ex_joint_map_read(scratch_path("m.json"), &map, &error);
        if (result == EX_OK || !strstr(error.text, cases[i].sentence) || !strstr(error.text, "m.json"))
            fail_msg("case %zu: %s", i, error.text);
        assert_null(map);
    }
    ex_joint_map *map = NULL;
    assert_int_equal(ex_joint_map_read(scratch_path("none.json"), &map, NULL), EX_ERROR_FILE);
}

static ex_result read_once(void *context) {
    ex_joint_map *map = NULL;
    ex_result result = ex_joint_map_read(context, &map, NULL);
    assert_int_equal(map != NULL, result == EX_OK);
    ex_joint_map_destroy(map);
    return result;
}

static void survives_without_memory(void **state) {
    (void)state;
    static const char text[] = "{\"joints\": {\"a\": \"b\", \"c\": {\"from\": \"d\", \"hinge\": \"x\"}}}";
    char path[1000];
    scratch_write("m.json", text, strlen(text));
    snprintf(path, sizeof path, "%s", scratch_path("m.json"));
    assert_true(fail_alloc_sweep(read_once, path) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(dials),
        cmocka_unit_test(pairs_are_told),
        cmocka_unit_test(refuses),
        cmocka_unit_test(reads_maps),
        cmocka_unit_test(refuses_maps),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
