/*
 * Values by name as people type them, for changes of projects; poses in words are tested in
 * author/project/pose/test_pose_text.c.
 */
#include "support/fail_alloc.h"
#include "support/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char text[] =
    "{\"exemplar\": 1, \"mesh\": \"m.obj\", \"skeleton\": \"s.glb\", \"layers\": [{\"name\": \"l\", \"space\": "
    "[{\"name\": \"d\", \"min\": 0, \"max\": 1}, {\"name\": \"far\", \"min\": 0, \"max\": 130}, {\"name\": \"aim\", "
    "\"joint\": \"arm\", \"rotation\": \"full\"}], "
    "\"examples\": [{\"name\": \"e\", \"mesh\": \"m.obj\", \"at\": {}}]}]}";

static ex_project *project;

static int set_up(void **state) {
    (void)state;
    return ex_project_parse(text, sizeof text - 1, "p.json", &project, NULL) != EX_OK;
}

static int tear_down(void **state) {
    (void)state;
    ex_project_destroy(project);
    return 0;
}

static void reads_places(void **state) {
    (void)state;
    const char *const words[] = {"d=-0.5", "aim=x30y-10", "aim=q:0,0,3,4", "joint:arm=z5", "zzz=what", NULL};
    ex_place place = place_of_words(project, words);
    const ex_setting *s = place.settings;
    assert_int_equal(place.count, 5);
    assert_true(strcmp(s[0].name, "d") == 0 && s[0].kind == EX_SETTING_NUMBER && s[0].number == -0.5 && !s[0].joint);
    assert_true(s[1].kind == EX_SETTING_TURNS && s[1].turn_count == 2);
    assert_true(s[1].turns[0].axis == 0 && s[1].turns[0].degrees == 30);
    assert_true(s[1].turns[1].axis == 1 && s[1].turns[1].degrees == -10);
    assert_true(s[2].kind == EX_SETTING_ROTATION && s[2].rotation[2] == 3 && s[2].rotation[3] == 4);
    assert_true(strcmp(s[3].name, "arm") == 0 && s[3].joint && s[3].turns[0].axis == 2);
    assert_true(strcmp(s[4].name, "zzz") == 0 && !s[4].joint); /* the library refuses it, and lists the known ones */
    exi_place_free(&place);
}

static void reads_joints_and_numbers(void **state) {
    (void)state;
    const char *const joints[] = {"joint:arm=x20", "hand=x30"}, *const weights[] = {"a=0.5,b=0.25", "c=1"};
    ex_place place;
    assert_int_equal(exi_joints_read(joints, 2, &place, NULL), EX_OK);
    assert_true(place.settings[0].joint && place.settings[1].joint);
    assert_string_equal(place.settings[0].name, "arm");
    assert_string_equal(place.settings[1].name, "hand");
    exi_place_free(&place);
    assert_int_equal(exi_numbers_read(weights, 2, &place, NULL), EX_OK);
    assert_int_equal(place.count, 3);
    assert_true(strcmp(place.settings[1].name, "b") == 0 && place.settings[1].number == 0.25);
    assert_true(strcmp(place.settings[2].name, "c") == 0 && place.settings[2].number == 1);
    exi_place_free(&place);
    assert_int_equal(exi_falloff_read("0.75", &place, NULL), EX_OK);
    assert_true(place.count == 1 && !place.settings[0].name && place.settings[0].number == 0.75);
    exi_place_free(&place);
    assert_int_equal(exi_falloff_read("d=2", &place, NULL), EX_OK);
    assert_true(place.count == 1 && strcmp(place.settings[0].name, "d") == 0 && place.settings[0].number == 2);
    exi_place_free(&place);
}

static void says_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        char kind;
        const char *word, *sentence;
    } cases[] = {
        {'a', "d=1e", "d=1e: a number is needed after '=', from 0 to 1"},
        {'a', "d=50%", "d=50%: write a fraction: d=0.5"},
        {'a', "d=100 %", "d=100 %: write a fraction: d=1"},
        {'a', "far=50%", "far=50%: a number is needed after '=', from 0 to 130"},
        {'a', "d=1,aim=x2", "d=1,aim=x2: write each setting as a word of its own: d=1 aim=x2"},
        {'a', "aim=x2,d=1", "aim=x2,d=1: write each setting as a word of its own: aim=x2 d=1"},
        {'a', "d=1,5", "d=1,5: write a decimal point: d=1.5"},
        {'a', "d=30mm", "d=30mm: write the number alone: d=30"},
        {'a', "d", "'d' is not of the form axis=value"},
        {'a', "=1", "'=1' is not of the form axis=value"},
        {'a', "aim=30", "aim=30: a rotation is written with letters for the joint's axes, such as x90"},
        {'a', "aim=90z", "aim=90z: write the letter first: z90"},
        {'a', "aim=-20.5x1e1y", "write the letter first: x-20.5y1e1"},
        {'a', "aim=x90,y10", "aim=x90,y10: write turns without commas: x90y10"},
        {'a', "aim=90q", "a rotation is written"},
        {'a', "aim=90z5", "a rotation is written"},
        {'j', "joint:arm=90z", "joint:arm=90z: write the letter first: z90"},
        {'a', "aim=x1y1z1x1y1z1x1y1z1", "a rotation is written"}, /* more than EX_SETTING_TURN_MAX */
        {'a', "\xE9=1", "not valid UTF-8"},
        {'j', "arm=20", "arm=20: a rotation is written"},
        {'j', "arm", "'arm' is not of the form joint:NAME=x20"},
        {'w', "a=1,b", "'b' is not of the form example=weight"},
        {'w', "a=1,b=x", "b=x: a number is needed after '='"},
        {'f', "x", "falloff: 'x' is not of the form NUMBER or AXIS=NUMBER,..."},
        {'f', "\xE9=1", "falloff: a setting is not valid UTF-8 text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *word = cases[i].word;
        ex_place place;
        ex_error error = {0};
        const ex_result result = cases[i].kind == 'a'
                                     ? exi_place_read(ex_project_get(project), &word, 1, &place, &error)
                                 : cases[i].kind == 'j' ? exi_joints_read(&word, 1, &place, &error)
                                 : cases[i].kind == 'w' ? exi_numbers_read(&word, 1, &place, &error)
                                                        : exi_falloff_read(word, &place, &error);
        if (result != EX_ERROR_DATA || !strstr(error.text, cases[i].sentence))
            fail_msg("%s: '%s'", word, error.text);
        exi_place_free(&place);
    }
}

static void reads_sizes(void **state) {
    (void)state;
    static const char *const good[] = {"300x200", "300X200", "300*200"};
    static const char *const bad[] = {"",      "x",    "300x",      "x300",    "0",
                                      "300x0", "-3x3", "300x200x2", "300y200", "300 x200"};
    double size[2];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(exi_size_read(good[i], size) && size[0] == 300 && size[1] == 200);
    assert_true(exi_size_read("300", size) && size[0] == 300 && size[1] == 300);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(exi_size_read(bad[i], size));
}

static ex_result read_once(void *context) {
    const char *const words[] = {"d=1", "joint:arm=x20"};
    ex_place place;
    (void)context;
    const ex_result result = exi_place_read(ex_project_get(project), words, 2, &place, NULL);
    exi_place_free(&place);
    return result;
}

static void survives_without_memory(void **state) {
    (void)state;
    assert_int_equal(fail_alloc_sweep(read_once, NULL), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_places),
        cmocka_unit_test(reads_joints_and_numbers),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(reads_sizes),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
