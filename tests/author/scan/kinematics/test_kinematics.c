/*
 * Kinematics: frames worked by hand, mirrored joints in mirrored poses, round trips of skeleton files, every error, and
 * the skeletons that come with the program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/scan/kinematics/kinematics.h"
#include "runtime/base/vector.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HALF 0.70710678118654752440

static ex_kinematics *parse(const char *text) {
    ex_kinematics *made = NULL;
    ex_error error = {0};
    if (ex_kinematics_parse(text, strlen(text), "s.json", &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    return made;
}

static ex_kinematics *shipped(const char *name) {
    ex_kinematics *made = NULL;
    ex_error error = {0};
    if (ex_kinematics_read(name, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    return made;
}

#define ARM                                                                                                            \
    "{\"exemplar_skeleton\": 1, \"name\": \"arm\", \"joints\": [\n"                                                    \
    "{\"name\": \"trunk\", \"joint\": \"base\", \"translation\": [0, 1, 0]},\n"                                        \
    "{\"name\": \"arm.L\", \"parent\": \"trunk\", \"joint\": \"ball\", \"translation\": [0.25, 0.5, 0]},\n"            \
    "{\"name\": \"hand.L\", \"parent\": \"arm.L\", \"joint\": \"hinge\", \"translation\": [0.5, 0, 0.125],\n"          \
    " \"axis\": [0, -2, 0], \"lock\": [\"axis\"], \"range\": [-10, 150]},\n"                                           \
    "{\"name\": \"arm.R\", \"parent\": \"trunk\", \"joint\": \"ball\", \"mirror\": \"arm.L\"},\n"                      \
    "{\"name\": \"hand.R\", \"parent\": \"arm.R\", \"joint\": \"hinge\", \"mirror\": \"hand.L\"},\n"                   \
    "{\"name\": \"tip\", \"parent\": \"hand.L\", \"joint\": \"fixed\", \"translation\": [0.125, 0, 0]}],\n"            \
    "\"markers\": [{\"name\": \"a\", \"joint\": \"hand.L\", \"at\": [0.125, 0, 0.5], \"colour\": [255, 0, 7]},\n"      \
    "{\"name\": \"b\", \"joint\": \"trunk\"}]}\n"

static void test_frames(void **state) {
    (void)state;
    ex_kinematics *k = parse(ARM);
    double turns[6][4] = {{0, HALF, 0, HALF}, {0, 0, HALF, HALF}, {0, -HALF, 0, HALF},
                          {0, 0, 0, 1},       {0, 0, 0, 1},       {0, 0, 0, 1}};
    const ex_kin_pose pose = {.translation = {1, 2, 3}, .rotations = turns};
    double rotations[6][4], places[6][3], alone[6][3], m[3];
    ex_kin_frames(k, &pose, rotations, places);
    ex_kin_frames(k, &pose, NULL, alone);
    /* The base turns x to -z, so that the left arm begins behind it; the arm then turns its x to y. */
    const double arm[3] = {1, 2.5, 2.75}, hand[3] = {1.125, 3, 2.75};
    assert_row_near(places[1], arm, 3, 1e-15);
    assert_row_near(places[2], hand, 3, 1e-15);
    exi_rotate(rotations[2], k->sites[0].local, m);
    for (int i = 0; i < 3; i++)
        m[i] += places[2][i];
    /* hand: x -> z, z -> -x; arm: x -> y, y -> -x; base: x -> -z, z -> x. (1/8, 0, 1/2) -> (-1/2, 0, 1/8) ->
     * (0, -1/2, 1/8) -> (1/8, -1/2, 0) */
    const double seen[3] = {1.25, 2.5, 2.75};
    assert_row_near(m, seen, 3, 1e-15);
    for (int j = 0; j < 6; j++)
        assert_row_near(alone[j], places[j], 3, 0);
    assert_near(ex_kin_angle(&k->joints[2], turns[2]), 90, 1e-12);
    const double other[4] = {0, HALF, 0, -HALF}, over[4] = {0, -1, 0, 0}, back[4] = {0, 1, 0, 0};
    assert_near(ex_kin_angle(&k->joints[2], other), 90, 1e-12);
    assert_near(ex_kin_angle(&k->joints[2], over), 180, 1e-12);
    assert_near(ex_kin_angle(&k->joints[2], back), 180, 1e-12);
    assert_near(ex_kin_angle(&k->joints[2], turns[0]), -90, 1e-12);
    assert_near(ex_kin_angle(&k->joints[2], turns[1]), 0, 1e-12);
    ex_kinematics_destroy(k);
}

/* A pose whose right side is the mirror image of its left: so is the body. */
static void test_mirrored_poses(void **state) {
    (void)state;
    uint64_t seed = 5;
    ex_kinematics *k = shipped("upper");
    for (int j = 1; j < k->joint_count; j++)
        for (int i = 0; i < 3; i++) {
            k->joints[j].translation[i] += random_between(&seed, -0.1, 0.1);
            k->joints[j].axis[i] += random_between(&seed, -0.3, 0.3);
        }
    for (int j = 1; j < k->joint_count; j++)
        exi_normalise(k->joints[j].axis, 3);
    for (int j = 1; j < 3; j++) /* the spine is in the middle */
        k->joints[j].translation[0] = 0;
    exi_kinematics_mirror(k);
    double turns[13][4], places[13][3];
    for (int j = 0; j < k->joint_count; j++) {
        const int other = k->joints[j].mirror;
        double *q = turns[j];
        if (k->joints[j].freedom == EX_FREEDOM_HINGE) {
            const double half = other >= 0
                                    ? 0.5 * 3.14159265358979 / 180 * ex_kin_angle(&k->joints[other], turns[other])
                                    : random_between(&seed, -1, 1);
            for (int i = 0; i < 3; i++)
                q[i] = sin(half) * k->joints[j].axis[i];
            q[3] = cos(half);
            continue;
        }
        for (int i = 0; i < 4; i++)
            q[i] = j < 3 ? i == 3 : random_between(&seed, -1, 1);
        exi_normalise(q, 4);
        if (other >= 0) {
            memcpy(q, turns[other], sizeof turns[j]);
            q[1] = -q[1];
            q[2] = -q[2];
        }
    }
    const ex_kin_pose pose = {.rotations = turns};
    ex_kin_frames(k, &pose, NULL, places);
    for (int j = 0; j < k->joint_count; j++)
        if (k->joints[j].mirror >= 0) {
            const double *left = places[k->joints[j].mirror], image[3] = {-left[0], left[1], left[2]};
            assert_row_near(places[j], image, 3, 1e-12);
        }
    ex_kinematics_destroy(k);
}

static void check_equal(const ex_kinematics *a, const ex_kinematics *b) {
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->joint_count, b->joint_count);
    assert_int_equal(a->site_count, b->site_count);
    for (int j = 0; j < a->joint_count; j++) {
        const ex_kin_joint *x = &a->joints[j], *y = &b->joints[j];
        assert_string_equal(x->name, y->name);
        assert_true(x->parent == y->parent && x->freedom == y->freedom && x->mirror == y->mirror);
        assert_true(x->lock_translation == y->lock_translation && x->lock_axis == y->lock_axis);
        assert_row_near(x->translation, y->translation, 3, 0);
        assert_row_near(x->axis, y->axis, 3, 1e-15);
        assert_near(x->least, y->least, 0);
        assert_near(x->most, y->most, 0);
    }
    for (int s = 0; s < a->site_count; s++) {
        assert_string_equal(a->sites[s].name, b->sites[s].name);
        assert_true(a->sites[s].joint == b->sites[s].joint && a->sites[s].placed == b->sites[s].placed);
        assert_row_near(a->sites[s].local, b->sites[s].local, 3, 0);
        assert_memory_equal(a->sites[s].colour, b->sites[s].colour, 3);
    }
}

static void test_there_and_back(void **state) {
    (void)state;
    const char *const names[] = {"upper", "full", NULL};
    for (int i = 0; i < 3; i++) {
        ex_kinematics *k = names[i] ? shipped(names[i]) : parse(ARM), *again = NULL, *copy = ex_kinematics_copy(k);
        ex_error error = {0};
        assert_int_equal(ex_kinematics_write(scratch_path("s.json"), k, &error), EX_OK);
        assert_int_equal(ex_kinematics_read(scratch_path("s.json"), &again, &error), EX_OK);
        check_equal(k, again);
        check_equal(k, copy);
        ex_kinematics_destroy(copy);
        ex_kinematics_destroy(again);
        ex_kinematics_destroy(k);
    }
    ex_kinematics *k = parse(ARM);
    const double axis[3] = {0, 1, 0}, translation[3] = {-0.5, 0, 0.125};
    assert_row_near(k->joints[4].axis, axis, 3, 0); /* turned back: the elbow of the other arm bends forwards, too */
    assert_row_near(k->joints[4].translation, translation, 3, 0);
    assert_int_equal(ex_kinematics_find_joint(k, "hand.R"), 4);
    assert_int_equal(ex_kinematics_find_joint(k, "hand"), -1);
    assert_int_equal(ex_kinematics_find_site(k, "b"), 1);
    assert_int_equal(ex_kinematics_find_site(k, "c"), -1);
    assert_string_equal(ex_freedom_name(EX_FREEDOM_HINGE), "hinge");
    assert_string_equal(ex_freedom_name((ex_freedom)77), "unknown");
    ex_kinematics_destroy(k);
    ex_kinematics_destroy(NULL);
}

/* On the floor, 1.75 m tall, hands at the sides: as described in the skeletons. */
static void test_shipped(void **state) {
    (void)state;
    ex_kinematics *upper = shipped("upper"), *full = shipped("full");
    assert_int_equal(upper->joint_count, 13);
    assert_int_equal(full->site_count, 41);
    double turns[64][4] = {{0}}, places[64][3];
    for (int j = 0; j < 64; j++)
        turns[j][3] = 1;
    const ex_kin_pose pose = {.translation = {0, full->joints[0].translation[1], 0}, .rotations = turns};
    ex_kin_frames(full, &pose, NULL, places);
    double low = 9, high = 0, out = 0;
    for (int s = 0; s < full->site_count; s++) {
        const double *p = places[full->sites[s].joint], *m = full->sites[s].local;
        assert_true(full->sites[s].placed);
        low = p[1] + m[1] < low ? p[1] + m[1] : low;
        high = p[1] + m[1] > high ? p[1] + m[1] : high;
        out = p[0] + m[0] > out ? p[0] + m[0] : out;
        /* Joints named L are on the left, and their R is the mirror image. */
        char other[16];
        snprintf(other, sizeof other, "%s", full->sites[s].name);
        if (other[0] != 'L' || strcmp(other, "RBAC") == 0)
            continue;
        other[0] = 'R';
        const int r = ex_kinematics_find_site(full, other);
        assert_true(r >= 0);
        const double *q = places[full->sites[r].joint], *n = full->sites[r].local;
        assert_true(p[0] + m[0] > 0);
        assert_near(q[0] + n[0], -(p[0] + m[0]), 1e-12);
        assert_near(q[1] + n[1], p[1] + m[1], 1e-12);
        assert_near(q[2] + n[2], p[2] + m[2], 1e-12);
    }
    assert_true(low > 0 && low < 0.1 && high > 1.6 && high < 1.75 && out > 0.7 && out < 0.95);
    ex_kinematics_destroy(upper);
    ex_kinematics_destroy(full);
}

/* ---- errors ---- */

static const struct {
    const char *from, *to, *word;
    ex_result result;
} wrongs[] = {
    {"{\"exemplar_skeleton\": 1", "{\"exemplar_skeleton\": 2", "use a newer version", EX_ERROR_VERSION},
    {"\"exemplar_skeleton\": 1", "\"exemplar_skeleton\": \"1\"", "version number 1", EX_ERROR_DATA},
    {"\"exemplar_skeleton\": 1,", "", "exemplar_skeleton: missing", EX_ERROR_DATA},
    {"\"name\": \"arm\"", "\"nane\": \"arm\"", "did you mean \"name\"", EX_ERROR_DATA},
    {"\"name\": \"arm\"", "\"name\": 5", "name: a text", EX_ERROR_DATA},
    {"\"name\": \"arm\"", "\"name\": \"a\x7f\"", "name: readable text", EX_ERROR_DATA},
    {"\"joints\": [", "\"joints\": [5, ", "joints[0]: an object", EX_ERROR_DATA},
    {"]}\n", "]}}", "s.json:", EX_ERROR_FORMAT},
    {"\"name\": \"trunk\",", "", "joints[0].name: missing", EX_ERROR_DATA},
    {"\"joint\": \"base\"", "\"joint\": \"ball\"", "joints[0].joint: the first joint", EX_ERROR_DATA},
    {"\"joint\": \"base\"", "\"joint\": \"base\", \"parent\": \"arm.L\"", "have a parent", EX_ERROR_DATA},
    {"\"joint\": \"ball\", \"translation\"", "\"joint\": \"bal\", \"translation\"", "did you mean \"ball\"",
     EX_ERROR_DATA},
    {"\"joint\": \"ball\", \"translation\"", "\"joint\": \"base\", \"translation\"", "no other", EX_ERROR_DATA},
    {"\"parent\": \"trunk\", \"joint\": \"ball\", \"tr", "\"joint\": \"ball\", \"tr", "joints[1].parent: missing",
     EX_ERROR_DATA},
    {"\"parent\": \"arm.L\"", "\"parent\": \"arm.Q\"", "no joint called 'arm.Q'", EX_ERROR_DATA},
    {"\"parent\": \"arm.L\"", "\"parent\": \"hand.R\"", "must come before 'hand.L'", EX_ERROR_DATA},
    {"\"name\": \"hand.L\"", "\"name\": \"arm.L\"", "joint 1 is also called 'arm.L'", EX_ERROR_DATA},
    {"\"name\": \"hand.L\"", "\"name\": \"\"", "must not be empty", EX_ERROR_DATA},
    {"[0.25, 0.5, 0]", "[0.25, 0.5]", "joints[1].translation: not valid", EX_ERROR_DATA},
    {"[0.25, 0.5, 0]", "[0.25, \"x\", 0]", "joints[1].translation[1]: a number", EX_ERROR_DATA},
    {"[0.25, 0.5, 0]", "[0.25, 2e6, 0]", "metres", EX_ERROR_DATA},
    {", \"translation\": [0.25, 0.5, 0]", "", "joints[1].translation: missing", EX_ERROR_DATA},
    {"\"axis\": [0, -2, 0]", "\"axis\": [0, 0, 0]", "an axis has a direction", EX_ERROR_DATA},
    {"\"axis\": [0, -2, 0],", "", "joints[2].axis: missing", EX_ERROR_DATA},
    {"\"translation\": [0.25,", "\"axis\": [1, 0, 0], \"translation\": [0.25,", "only a hinge has an axis",
     EX_ERROR_DATA},
    {"\"lock\": [\"axis\"]", "\"lock\": [\"place\"]", "joints[2].lock[0]", EX_ERROR_DATA},
    {"\"lock\": [\"axis\"]", "\"lock\": true", "a list is needed", EX_ERROR_DATA},
    {"\"mirror\": \"arm.L\"", "\"mirror\": \"arm.L\", \"lock\": [\"axis\"]", "only a hinge", EX_ERROR_DATA},
    {"\"mirror\": \"arm.L\"", "\"mirror\": \"hand.L\"", "one of the same kind", EX_ERROR_DATA},
    {"\"mirror\": \"arm.L\"", "\"mirror\": \"hand.R\"", "must come before", EX_ERROR_DATA},
    {"\"mirror\": \"arm.L\"", "\"mirror\": \"arm.L\", \"translation\": [0, 0, 0]", "leave it out, or lock it",
     EX_ERROR_DATA},
    {"[-10, 150]", "[-10]", "joints[2].range: two numbers", EX_ERROR_DATA},
    {"[-10, 150]", "[10, -150]", "the least first", EX_ERROR_DATA},
    {"\"translation\": [0.25,", "\"range\": [0, 1], \"translation\": [0.25,", "only a hinge has a range",
     EX_ERROR_DATA},
    {"\"markers\": [", "\"markers\": [[], ", "markers[0]: an object", EX_ERROR_DATA},
    {"\"joint\": \"hand.L\", \"at\"", "\"joint\": \"foot\", \"at\"", "markers[0].joint: there is no joint",
     EX_ERROR_DATA},
    {"[0.125, 0, 0.5]", "0.5", "markers[0].at", EX_ERROR_DATA},
    {"[255, 0, 7]", "[256, 0, 7]", "markers[0].colour: three whole numbers", EX_ERROR_DATA},
    {"\"name\": \"b\"", "\"name\": \"a\"", "marker 0 is also called 'a'", EX_ERROR_DATA},
    {"\"name\": \"b\"", "\"name\": \"b\", \"name\": \"b\"", "s.json:", EX_ERROR_FORMAT},
};

static void test_wrong(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        char text[4096];
        const char *at = strstr(ARM, wrongs[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - ARM), ARM, wrongs[i].to, at + strlen(wrongs[i].from));
        ex_kinematics *k = (ex_kinematics *)text;
        ex_error error = {0};
        if (ex_kinematics_parse(text, strlen(text), "s.json", &k, &error) != wrongs[i].result)
            fail_msg("%zu (%s): %s", i, wrongs[i].to, error.text);
        assert_sentence(&error, wrongs[i].result, wrongs[i].word);
        assert_sentence(&error, wrongs[i].result, "s.json");
        assert_null(k);
    }
    ex_kinematics *k = NULL;
    ex_error error = {0};
    assert_int_equal(ex_kinematics_parse("", 0, "e.json", &k, &error), EX_ERROR_FORMAT);
    assert_sentence(&error, EX_ERROR_FORMAT, "e.json is empty");
    assert_int_equal(ex_kinematics_parse("[]", 2, "e.json", &k, &error), EX_ERROR_DATA);
    assert_int_equal(ex_kinematics_read("no/such.json", &k, &error), EX_ERROR_FILE);
    assert_int_equal(ex_kinematics_parse("[]", 2, "e.json", &k, NULL), EX_ERROR_DATA);
}

static ex_result attempt(void *context) {
    (void)context;
    ex_kinematics *k = NULL;
    ex_error error = {0};
    ex_result result = ex_kinematics_parse(ARM, sizeof ARM - 1, "s.json", &k, &error);
    ex_kinematics *copy = result == EX_OK ? ex_kinematics_copy(k) : NULL;
    if (result == EX_OK && !copy)
        result = EX_ERROR_MEMORY;
    if (result == EX_OK)
        result = ex_kinematics_write(scratch_path("m.json"), copy, &error);
    ex_kinematics_destroy(copy);
    ex_kinematics_destroy(k);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    assert_true(fail_alloc_sweep(attempt, NULL) > 30);
}

/* Other frames: everything stays where it is in the world, hinges stay hinges and turn by another angle, and the way
 * back gives the same skeleton. */
static void test_rebase(void **state) {
    (void)state;
    ex_kinematics *full = NULL;
    ex_error error = {0};
    uint64_t seed = 5;
    enum { MOST = 32, POSES = 3 };
    static double turns[MOST][4], rotations[POSES][MOST][4], before[POSES][MOST][3], after[POSES][MOST][3];
    static double world[MOST][4], markers[POSES][64][3];
    ex_kin_pose poses[POSES];
    assert_int_equal(ex_kinematics_read("full", &full, &error), EX_OK);
    ex_kinematics *copy = ex_kinematics_copy(full);
    assert_non_null(copy);
    assert_true(full->joint_count <= MOST && full->site_count <= 64);
    for (int i = -1; i < POSES; i++)
        for (int j = 0; j < full->joint_count; j++) {
            double *q = i < 0 ? turns[j] : rotations[i][j];
            const double angle = random_between(&seed, -0.6, 0.6);
            for (int c = 0; c < 4; c++)
                q[c] = c == 3 ? 1 : random_between(&seed, -0.5, 0.5);
            if (full->joints[j].freedom == EX_FREEDOM_HINGE) {
                for (int c = 0; c < 3; c++)
                    q[c] = sin(angle) * full->joints[j].axis[c];
                q[3] = cos(angle);
            }
            exi_normalise(q, 4);
        }
    for (int i = 0; i < POSES; i++) {
        poses[i] = (ex_kin_pose){.translation = {0.1 * i, 1, -0.2}, .rotations = rotations[i]};
        ex_kin_frames(full, &poses[i], world, before[i]);
        for (int s = 0; s < full->site_count; s++)
            exi_rotate(world[full->sites[s].joint], full->sites[s].local, markers[i][s]);
    }
    const double bent = ex_kin_angle(&full->joints[7], rotations[1][7]), least = full->joints[7].least;
    /* `full` is in its neutral pose, so this leads to the frames of a reference. */
    assert_int_equal(ex_kinematics_rebase(full, (const double(*)[4])turns, true, poses, POSES, &error), EX_OK);
    const double zero = ex_kin_angle(&copy->joints[7], turns[7]);
    assert_near(ex_kin_angle(&full->joints[7], rotations[1][7]), bent - zero, 1e-9);
    assert_near(full->joints[7].least, least - zero, 1e-9);
    int mirrored = 0;
    for (int j = 0; j < full->joint_count; j++) {
        const double *a = full->joints[j].axis, *q = rotations[2][j];
        mirrored += full->joints[j].mirror >= 0;
        if (full->joints[j].freedom != EX_FREEDOM_HINGE)
            continue;
        double across[3];
        exi_cross(a, q, across);
        assert_row_near(across, ((const double[3]){0, 0, 0}), 3, 1e-12);
    }
    assert_true(mirrored < 3); /* the turns are not symmetric */
    for (int i = 0; i < POSES; i++) {
        ex_kin_frames(full, &poses[i], world, after[i]);
        for (int j = 0; j < full->joint_count; j++)
            assert_row_near(after[i][j], before[i][j], 3, 1e-12);
        for (int s = 0; s < full->site_count; s++) {
            double at[3];
            exi_rotate(world[full->sites[s].joint], full->sites[s].local, at);
            assert_row_near(at, markers[i][s], 3, 1e-12);
        }
    }
    /* A body that stands as the reference does has no joint turned. */
    double own[MOST][4];
    memcpy(own, turns, sizeof own);
    ex_kin_pose stance = {.rotations = own};
    ex_kinematics *again = ex_kinematics_copy(copy);
    assert_non_null(again);
    assert_int_equal(ex_kinematics_rebase(again, (const double(*)[4])turns, true, &stance, 1, &error), EX_OK);
    for (int j = 0; j < copy->joint_count; j++)
        assert_near(fabs(own[j][3]), 1, 1e-12);
    assert_int_equal(ex_kinematics_rebase(full, (const double(*)[4])turns, false, NULL, 0, &error), EX_OK);
    for (int j = 0; j < full->joint_count; j++) {
        assert_row_near(full->joints[j].translation, copy->joints[j].translation, 3, 1e-12);
        assert_row_near(full->joints[j].axis, copy->joints[j].axis, 3, 1e-12);
        assert_near(full->joints[j].most, copy->joints[j].most, 1e-9);
    }
    ex_kinematics_destroy(again);
    ex_kinematics_destroy(copy);
    ex_kinematics_destroy(full);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_frames),         cmocka_unit_test(test_mirrored_poses),
                                       cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_shipped),
                                       cmocka_unit_test(test_wrong),          cmocka_unit_test(test_memory),
                                       cmocka_unit_test(test_rebase)};
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
