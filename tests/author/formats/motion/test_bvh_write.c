/*
 * Writing BVH files: reading back gives the clip's joints at their places, also if it has rotations at rest; a small
 * file by its text; and errors.
 */
#define _XOPEN_SOURCE 700

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"
#include "support/skip.h"

#include <exemplar/author.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { JOINTS = 5, FRAMES = 30 };

static void set_random(uint64_t *random, ex_transform *t, double turn, double move) {
    for (int i = 0; i < 4; i++)
        t->rotation[i] += (float)random_between(random, -turn, turn);
    for (int i = 0; i < 3; i++)
        t->translation[i] += (float)random_between(random, -move, move);
}

/* A trunk with two arms, one of them with a hand's end; rotations at rest if requested. Joints need not be in the order
 * of the file. */
static ex_clip *make_clip(double rest_turn, bool slides) {
    static const int parents[JOINTS] = {-1, 0, 0, 1, 2};
    static const char *const names[JOINTS] = {"hips", "arm.L", "arm.R", "hand.L", "arm.R_end"};
    uint64_t random = 5;
    ex_clip *clip = calloc(1, sizeof *clip);
    assert_non_null(clip);
    clip->joint_count = JOINTS;
    clip->frame_count = FRAMES;
    clip->root_moves = true;
    clip->joints = calloc(JOINTS, sizeof *clip->joints);
    clip->times = calloc(FRAMES, sizeof *clip->times);
    clip->locals = calloc(JOINTS * FRAMES, sizeof *clip->locals);
    assert_true(clip->joints && clip->times && clip->locals);
    for (int j = 0; j < JOINTS; j++) {
        clip->joints[j].name = strdup(names[j]);
        clip->joints[j].parent = parents[j];
        clip->joints[j].rest = ex_transform_identity();
        clip->joints[j].end = j == 4;
        set_random(&random, &clip->joints[j].rest, rest_turn, 1);
    }
    for (int f = 0; f < FRAMES; f++) {
        clip->times[f] = f * 0.01;
        for (int j = 0; j < JOINTS; j++) {
            ex_transform *t = &clip->locals[f * JOINTS + j];
            *t = clip->joints[j].rest;
            if (j < 4)
                set_random(&random, t, 1.5, j == 0 || (slides && j == 3) ? 1 : 0);
        }
    }
    return clip;
}

static void world(const ex_clip *clip, int frame, double (*places)[3], double (*matrices)[12]) {
    for (int j = 0; j < clip->joint_count; j++) {
        const ex_transform *t = frame < 0 ? &clip->joints[j].rest : &clip->locals[frame * clip->joint_count + j];
        float m[12];
        ex_transform_matrix(t, m);
        const int p = clip->joints[j].parent;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++) {
                double sum = p < 0 ? (double)m[4 * r + c] : c == 3 ? matrices[p][4 * r + 3] : 0;
                for (int k = 0; k < 3 && p >= 0; k++)
                    sum += matrices[p][4 * r + k] * (double)m[4 * k + c];
                matrices[j][4 * r + c] = sum;
            }
        for (int r = 0; r < 3; r++)
            places[j][r] = matrices[j][4 * r + 3];
    }
}

static int find(const ex_clip *clip, const char *name) {
    for (int j = 0; j < clip->joint_count; j++)
        if (strcmp(clip->joints[j].name, name) == 0)
            return j;
    fail_msg("no joint '%s'", name);
    return -1;
}

static void check_same(const ex_clip *a, const ex_clip *b) {
    assert_int_equal(a->frame_count, b->frame_count);
    assert_true(a->root_moves == b->root_moves);
    for (int f = -1; f < a->frame_count; f++) {
        double places[2][40][3], matrices[2][40][12];
        assert_true(a->joint_count <= 40 && b->joint_count <= 40);
        world(a, f, places[0], matrices[0]);
        world(b, f, places[1], matrices[1]);
        for (int j = 0; j < a->joint_count; j++)
            assert_row_near(places[1][find(b, a->joints[j].name)], places[0][j], 3, 3e-6);
        if (f >= 0)
            assert_near(b->times[f], a->times[f] - a->times[0], 1e-6);
    }
}

static ex_clip *there_and_back(const ex_clip *clip) {
    ex_clip *again = NULL;
    ex_error error = {0};
    if (ex_bvh_write(scratch_path("a.bvh"), clip, &error) != EX_OK ||
        ex_bvh_read(scratch_path("a.bvh"), &again, &error) != EX_OK)
        fail_msg("%s", error.text);
    return again;
}

static void round_trips(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        ex_clip *clip = make_clip(k & 1 ? 1 : 0, k & 2);
        ex_clip *again = there_and_back(clip);
        assert_int_equal(again->joint_count, JOINTS + 1); /* an end for the hand */
        check_same(clip, again);
        ex_clip_destroy(clip);
        ex_clip_destroy(again);
    }
}

/* A root that turns by 90 degrees about x, then y; with both at once z and y cannot be distinguished. */
static void by_hand(void **state) {
    (void)state;
    static const char expected[] =
        "HIERARCHY\nROOT a_b\n{\n  OFFSET 0 0.5 0\n  CHANNELS 3 Zrotation Xrotation Yrotation\n  End Site\n  {\n"
        "    OFFSET 0 0 0\n  }\n}\nMOTION\nFrames: 3\nFrame Time: 0.5\n 0 90 0\n 0 0 90\n 90 90 0\n";
    const float h = 0.70710677f;
    ex_clip_joint joint = {.name = (char[]){"a:b"}, .parent = -1, .rest = ex_transform_identity()};
    joint.rest.translation[1] = 0.5f;
    ex_transform locals[3] = {joint.rest, joint.rest, joint.rest};
    memcpy(locals[0].rotation, (float[]){h, 0, 0, h}, 16);
    memcpy(locals[1].rotation, (float[]){0, h, 0, h}, 16);
    memcpy(locals[2].rotation, (float[]){0.5f, 0.5f, 0.5f, 0.5f}, 16); /* z 90 after x 90 */
    double times[3] = {1, 1.5, 2};
    const ex_clip clip = {.joint_count = 1, .joints = &joint, .frame_count = 3, .times = times, .locals = locals};
    ex_error error = {0};
    size_t size = 0;
    assert_int_equal(ex_bvh_write(scratch_path("b.bvh"), &clip, &error), EX_OK);
    char *text = scratch_read("b.bvh", &size);
    /* Angles are rounded as floats are: compared as numbers. */
    const size_t heading = (size_t)(strstr(expected, " 0 90 0") - expected);
    assert_memory_equal(text, expected, heading);
    double numbers[9];
    assert_int_equal(sscanf(text + heading, "%lf %lf %lf %lf %lf %lf %lf %lf %lf", &numbers[0], &numbers[1],
                            &numbers[2], &numbers[3], &numbers[4], &numbers[5], &numbers[6], &numbers[7], &numbers[8]),
                     9);
    /* The last stays near the frame before: z 0, y 90 would be a smaller change, if it were the same rotation. */
    const double rows[2][3] = {{0, 90, 0}, {0, 0, 90}};
    for (int f = 0; f < 2; f++)
        assert_row_near(numbers + 3 * f, rows[f], 3, 1e-3);
    assert_near(numbers[7], 90, 0.05);
    assert_near(fmod(numbers[6] + numbers[8] + 720, 360), 90, 1e-3);
    free(text);
}

/* A joint that keeps turning has no jumps. */
static void turns_on(void **state) {
    (void)state;
    enum { COUNT = 100 };
    ex_clip_joint joint = {.name = (char[]){"a"}, .parent = -1, .rest = ex_transform_identity()};
    ex_transform locals[COUNT];
    double times[COUNT];
    for (int f = 0; f < COUNT; f++) {
        const double half = f * 10 * acos(-1) / 360;
        locals[f] = joint.rest;
        locals[f].rotation[0] = (float)sin(half);
        locals[f].rotation[3] = (float)cos(half);
        times[f] = f;
    }
    const ex_clip clip = {.joint_count = 1, .joints = &joint, .frame_count = COUNT, .times = times, .locals = locals};
    size_t size = 0;
    assert_int_equal(ex_bvh_write(scratch_path("t.bvh"), &clip, NULL), EX_OK);
    char *text = scratch_read("t.bvh", &size), *at = strstr(text, "Frame Time: 1\n");
    assert_non_null(at);
    at += strlen("Frame Time: 1\n");
    for (int f = 0; f < COUNT; f++) {
        const double z = strtod(at, &at), x = strtod(at, &at), y = strtod(at, &at);
        assert_near(x, 10 * f, 1e-3);
        assert_near(z, 0, 1e-3);
        assert_near(y, 0, 1e-3);
    }
    free(text);
}

/* Odd names, numbers and times: a clip is refused with a sentence, or what was written is read back. */
static void odd_clips_are_read_back_or_refused(void **state) {
    (void)state;
    static char long_name[400];
    memset(long_name, 'n', sizeof long_name - 1);
    char *const names[] = {"",     " ",     "a b", " a ",  "a\rb",     "a\tb",   "{",    "}",    "a{b}",    ":",
                           "\x7F", "a\x01", "é",   "\xFF", "End Site", "MOTION", "ROOT", "_end", long_name, NULL};
    static const float numbers[] = {INFINITY, -INFINITY, NAN, 3e38f, 1e15f, 1e14f, 1e-38f, 1e-45f, -0.0f, 0};
    static const double times[][2] = {{0, 0}, {0, 1e-60}, {0, 1e300}, {0, INFINITY},  {0, NAN}, {NAN, 1},
                                      {2, 1}, {0, 1e-30}, {-1, 1},    {1e300, 2e300}, {5, 5.04}};
    int written = 0, refused = 0;
    for (int i = 0; i < 300; i++) {
        ex_clip_joint joints[2] = {{.name = "a", .parent = -1, .rest = ex_transform_identity()},
                                   {.name = "b", .parent = 0, .rest = ex_transform_identity()}};
        ex_transform locals[4];
        double own[2] = {0, 1};
        if (i < 20)
            joints[1].name = names[i];
        else if (i < 31)
            memcpy(own, times[i - 20], sizeof own);
        else if (i < 41)
            joints[1].rest.translation[i % 3] = numbers[i - 31];
        for (int k = 0; k < 4; k++)
            locals[k] = joints[k % 2].rest;
        if (i >= 41 && i < 51)
            locals[i % 4].translation[i % 3] = numbers[i - 41];
        else if (i >= 51 && i < 61)
            locals[i % 4].rotation[i % 4] = numbers[i - 51];
        else if (i >= 61 && i < 64)
            joints[1].parent = i == 61 ? 1 : i == 62 ? 5 : -2;
        else if (i == 64)
            joints[1] = (ex_clip_joint){.name = "b", .parent = -1, .rest = joints[0].rest, .end = true};
        else if (i > 64)
            break;
        const ex_clip clip = {.joint_count = 2, .joints = joints, .frame_count = 2, .times = own, .locals = locals};
        ex_clip *again = NULL;
        ex_error error = {0};
        remove(scratch_path("odd.bvh"));
        if (ex_bvh_write(scratch_path("odd.bvh"), &clip, &error) != EX_OK) {
            assert_sentence(&error, EX_ERROR_DATA, "odd.bvh");
            refused++;
            continue;
        }
        if (ex_bvh_read(scratch_path("odd.bvh"), &again, &error) != EX_OK)
            fail_msg("case %d: %s", i, error.text);
        assert_int_equal(again->frame_count, 2);
        assert_int_equal(again->joint_count, 3); /* with the end */
        ex_clip_destroy(again);
        written++;
    }
    assert_int_equal(written, 42);
    assert_int_equal(refused, 23);
}

static void refuses(void **state) {
    (void)state;
    ex_clip *clip = make_clip(0, false);
    ex_error error = {0};
    clip->times[7] += 0.001;
    assert_int_equal(ex_bvh_write(scratch_path("r.bvh"), clip, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "frame 8 is at 0.071 s, not at 0.07 s");
    clip->times[7] -= 0.001;
    clip->joints[1].end = true;
    assert_int_equal(ex_bvh_write(scratch_path("r.bvh"), clip, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "'arm.L' is the end of a bone, so 'hand.L' cannot be its child");
    clip->joints[1].end = false;
    assert_int_equal(ex_bvh_write(scratch_path("none/r.bvh"), clip, &error), EX_ERROR_FILE);
    assert_int_equal(scratch_entry_count(), 0);
    ex_clip_destroy(clip);
}

static ex_result attempt(void *context) {
    return ex_bvh_write(scratch_path("m.bvh"), context, NULL);
}

static void memory(void **state) {
    (void)state;
    ex_clip *clip = make_clip(1, true);
    assert_in_range(fail_alloc_sweep(attempt, clip), 4, 12);
    ex_clip_destroy(clip);
}

static void real_file(void **state) {
    (void)state;
    ex_clip *clip = NULL;
    ex_error error = {0};
    if (ex_bvh_read(need_data("mocap/bvh/02_03.bvh"), &clip, &error) != EX_OK)
        fail_msg("%s", error.text);
    clip->frame_count = clip->frame_count < 20 ? clip->frame_count : 20;
    ex_clip *again = there_and_back(clip);
    assert_int_equal(again->joint_count, clip->joint_count);
    for (int f = -1; f < clip->frame_count; f++) {
        double places[2][64][3], matrices[2][64][12];
        world(clip, f, places[0], matrices[0]);
        world(again, f, places[1], matrices[1]);
        for (int j = 0; j < clip->joint_count; j++) {
            assert_row_near(places[1][j], places[0][j], 3, 5e-5); /* of about 30 */
            assert_row_near(matrices[1][j], matrices[0][j], 3, 2e-6);
        }
    }
    ex_clip_destroy(clip);
    ex_clip_destroy(again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(by_hand, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(round_trips, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(turns_on, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(refuses, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(odd_clips_are_read_back_or_refused, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(memory, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(real_file, scratch_set_up, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
