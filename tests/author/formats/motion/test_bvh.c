/*
 * BVH files: a small one worked by hand, everything that writers of such files do differently, every error, and the
 * files that are available.
 */
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"
#include "support/skip.h"

#include <exemplar/author.h>

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SMALL_JOINTS                                                                                                   \
    "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 90 1\n  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation "        \
    "Yrotation\n  JOINT Knee\n  {\n    OFFSET 1 -40 0\n    CHANNELS 3 Zrotation Yrotation Xrotation\n    End Site\n"   \
    "    {\n      OFFSET 0 -45 0\n    }\n  }\n}\n"
#define SMALL SMALL_JOINTS "MOTION\nFrames: 2\nFrame Time: 0.25\n1 2 3 90 0 0 0 0 0\n-1 2.5e1 .5 90 90 0 -30 20 10\n"

static ex_clip *parse(const char *text) {
    ex_clip *clip = NULL;
    ex_error error = {0};
    if (ex_bvh_parse(text, strlen(text), "m.bvh", &clip, &error) != EX_OK)
        fail_msg("%s", error.text);
    return clip;
}

static const ex_transform *local(const ex_clip *clip, int frame, int joint) {
    return &clip->locals[frame * clip->joint_count + joint];
}

static void check_floats(const float *row, const double *expected, int count, double tolerance) {
    for (int i = 0; i < count; i++)
        assert_near((double)row[i], expected[i], tolerance);
}

/* The matrix of a turn about a coordinate axis, entry by entry. */
static void turn_matrix(int axis, double degrees, double m[3][3]) {
    const double c = cos(degrees * acos(-1) / 180), s = sin(degrees * acos(-1) / 180);
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    memset(m, 0, 9 * sizeof(double));
    m[axis][axis] = 1;
    m[a][a] = m[b][b] = c;
    m[a][b] = -s;
    m[b][a] = s;
}

static void multiply(const double a[3][3], const double b[3][3], double out[3][3]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

/* The local rotation is R1 R2 R3 in the order of its channels. */
static void check_rotation(const ex_transform *t, const int axes[3], const double degrees[3]) {
    double m[3][3], n[3][3], product[3][3];
    float matrix[12];
    turn_matrix(axes[0], degrees[0], m);
    turn_matrix(axes[1], degrees[1], n);
    multiply((const double(*)[3])m, (const double(*)[3])n, product);
    turn_matrix(axes[2], degrees[2], n);
    multiply((const double(*)[3])product, (const double(*)[3])n, m);
    ex_transform_matrix(t, matrix);
    for (int i = 0; i < 9; i++)
        assert_near((double)matrix[4 * (i / 3) + i % 3], m[i / 3][i % 3], 2e-7);
}

static void by_hand(void **state) {
    (void)state;
    ex_clip *clip = parse(SMALL);
    assert_int_equal(clip->joint_count, 3);
    assert_int_equal(clip->frame_count, 2);
    assert_int_equal(clip->dial_count, 0);
    assert_string_equal(clip->joints[0].name, "Hips");
    assert_string_equal(clip->joints[1].name, "Knee");
    assert_string_equal(clip->joints[2].name, "Knee_end");
    assert_true(!clip->joints[0].end && !clip->joints[1].end && clip->joints[2].end);
    for (int j = 0; j < 3; j++)
        assert_int_equal(clip->joints[j].parent, j - 1);
    check_floats(clip->joints[0].rest.translation, (double[]){0, 90, 1}, 3, 0);
    check_floats(clip->joints[2].rest.translation, (double[]){0, -45, 0}, 3, 0);
    assert_true(clip->times[0] == 0 && clip->times[1] == 0.25);
    assert_true(clip->root_moves && clip->ground == 0);
    check_floats(local(clip, 0, 0)->translation, (double[]){1, 2, 3}, 3, 0);
    check_floats(local(clip, 1, 0)->translation, (double[]){-1, 25, 0.5}, 3, 0);
    check_floats(local(clip, 1, 1)->translation, (double[]){1, -40, 0}, 3, 0);
    const double h = sqrt(0.5);
    check_floats(local(clip, 0, 0)->rotation, (double[]){0, 0, h, h}, 4, 1e-7);
    check_rotation(local(clip, 1, 0), (int[]){2, 0, 1}, (double[]){90, 90, 0});
    check_rotation(local(clip, 1, 1), (int[]){2, 1, 0}, (double[]){-30, 20, 10});
    check_floats(local(clip, 1, 2)->rotation, (double[]){0, 0, 0, 1}, 4, 0);
    ex_clip_destroy(clip);
}

/* All six orders, and one axis twice. */
static void orders_of_channels(void **state) {
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {2, 0, 2}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        char text[500];
        const int *o = orders[i];
        snprintf(text, sizeof text,
                 "HIERARCHY\nROOT a\n{\nOFFSET 1 2 3\nCHANNELS 3 %crotation %crotation %crotation\n}\nMOTION\nFrames: "
                 "1\nFrame Time: 1\n10 20 -70\n",
                 'X' + o[0], 'X' + o[1], 'X' + o[2]);
        ex_clip *clip = parse(text);
        check_rotation(local(clip, 0, 0), o, (double[]){10, 20, -70});
        check_floats(local(clip, 0, 0)->translation, (double[]){1, 2, 3}, 3, 0);
        assert_false(clip->root_moves);
        ex_clip_destroy(clip);
    }
}

/* Variants by different writers of BVH files: all are the same motion. */
static void variants(void **state) {
    (void)state;
    static const char *const texts[] = {
        "HIERARCHY\r\nROOT A\r\n{\r\n\tOFFSET\t0.0\t1.0\t0.0\r\n\tCHANNELS 2 Yposition Xrotation\r\n\tEnd "
        "Site\r\n\t{\r\n\t\tOFFSET 0 1 0\r\n\t}\r\n}\r\nMOTION\r\nFrames:\t2\r\nFrame Time:\t0.5\r\n3\t90\t\r\n4 "
        "-90\r\n\r\n",
        "hierarchy\nroot A {\noffset 0 1 0 channels 2 yposition XROTATION end site { offset 0 1 0 } } motion frames : "
        "2 "
        "frame time : 0.5\n3 90\n4 -90",
        "\xEF\xBB\xBFHIERARCHY\rROOT A\r{\rOFFSET 0 1 0\rCHANNELS 2 Yposition Xrotation\rEnd Site\r{\rOFFSET 0 1 "
        "0\r}\r}\rMOTION\rFrames: 2\rFrame Time: 5e-1\r+3 9E1\r4.0 -9.0e+1\r",
        "HIERARCHY\n\nROOT A{\nCHANNELS 2 Yposition Xrotation\nOFFSET 0 1 0\nEnd Site{OFFSET 0 1 "
        "0}}\nMOTION\nFrames:2\n"
        "Frame Time:.5\n\n 3 90 \n\n 4 -90 \n\n\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ex_clip *clip = parse(texts[i]);
        assert_int_equal(clip->joint_count, 2);
        assert_int_equal(clip->frame_count, 2);
        assert_string_equal(clip->joints[0].name, "A");
        assert_true(clip->times[1] == 0.5);
        check_floats(local(clip, 0, 0)->translation, (double[]){0, 3, 0}, 3, 0);
        check_floats(local(clip, 1, 0)->translation, (double[]){0, 4, 0}, 3, 0);
        const double h = sqrt(0.5);
        check_floats(local(clip, 0, 0)->rotation, (double[]){h, 0, 0, h}, 4, 1e-7);
        ex_clip_destroy(clip);
    }
}

/* Several roots, joints without channels, positions on inner joints, names with blanks and colons. */
static void many_joints(void **state) {
    (void)state;
    ex_clip *clip =
        parse("HIERARCHY\nROOT man: hips \n{\nOFFSET 0 0 0\nCHANNELS 0\nJOINT left leg{\nOFFSET 1 2 3\n"
              "CHANNELS 6 Zposition Xrotation Xposition Yrotation Yposition Zrotation\n}\nJOINT right\n{\n"
              "OFFSET 4 5 6\nEnd Site\n{\nOFFSET 0 1 0\n}\nEnd Site\n{\nOFFSET 1 0 0\n}\n}\n}\nROOT prop\n{\n"
              "OFFSET 7 8 9\nCHANNELS 1 Xposition\n}\nMOTION\nFrames: 1\nFrame Time: 0.04\n1 0 2 0 3 90 4\n");
    assert_int_equal(clip->joint_count, 6);
    assert_string_equal(clip->joints[0].name, "man: hips");
    assert_string_equal(clip->joints[1].name, "left leg");
    assert_string_equal(clip->joints[3].name, "right_end");
    assert_int_equal(clip->joints[4].parent, 2);
    assert_int_equal(clip->joints[5].parent, -1);
    assert_true(clip->root_moves);
    check_floats(local(clip, 0, 1)->translation, (double[]){2, 3, 1}, 3, 0);
    check_floats(local(clip, 0, 2)->translation, (double[]){4, 5, 6}, 3, 0);
    check_floats(local(clip, 0, 5)->translation, (double[]){4, 8, 9}, 3, 0);
    check_floats(local(clip, 0, 1)->rotation, (double[]){0, 0, sqrt(0.5), sqrt(0.5)}, 4, 1e-7);
    ex_clip_destroy(clip);
}

/* Only a root's positions are a path. */
static void inner_positions_are_no_path(void **state) {
    (void)state;
    ex_clip *clip =
        parse("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\nJOINT b\n{\nOFFSET 0 1 0\nCHANNELS 1 "
              "Xposition\n}\n}\nMOTION\nFrames: 1\nFrame Time: 1\n0 5\n");
    assert_false(clip->root_moves);
    check_floats(local(clip, 0, 1)->translation, (double[]){5, 1, 0}, 3, 0);
    ex_clip_destroy(clip);
}

/* Angles that continue past 180 and 360 degrees, and ones that jump by a full turn, give one smooth track. */
static void signs_do_not_jump(void **state) {
    (void)state;
    enum { FRAMES = 200 };
    char *text = malloc(FRAMES * 40 + 500);
    assert_non_null(text);
    size_t size = (size_t)sprintf(text,
                                  "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Yrotation Xrotation\n}\n"
                                  "MOTION\nFrames: %d\nFrame Time: 0.01\n",
                                  FRAMES);
    for (int f = 0; f < FRAMES; f++)
        size += (size_t)sprintf(text + size, "%d %d %d\n", f * 9 + (f % 3 - 1) * 360, 85, f % 2 ? 20 : -340);
    ex_clip *clip = parse(text);
    for (int f = 1; f < FRAMES; f++) {
        double distance = 0;
        for (int i = 0; i < 4; i++)
            distance += pow((double)local(clip, f, 0)->rotation[i] - (double)local(clip, f - 1, 0)->rotation[i], 2);
        assert_true(sqrt(distance) < 0.08);
        check_rotation(local(clip, f, 0), (int[]){2, 1, 0}, (double[]){f * 9, 85, 20});
    }
    ex_clip_destroy(clip);
    free(text);
}

#define HEAD    "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 2 Xrotation Yposition\n}\n"
#define MOTIONS HEAD "MOTION\nFrames: 3\nFrame Time: 0.1\n"

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *text;
        ex_result result;
        const char *sentence;
    } cases[] = {
        {"", EX_ERROR_FORMAT, "m.bvh:1: the file ends where 'HIERARCHY' is needed"},
        {"\n\nPK\x03\x04", EX_ERROR_FORMAT, "m.bvh:3: 'HIERARCHY' is needed at the start of a BVH file, not 'PK?"},
        {"HIERARCHY\nMOTION\n", EX_ERROR_FORMAT, "m.bvh:2: the hierarchy has no joint"},
        {"HIERARCHY\nROOT\n{", EX_ERROR_FORMAT, "m.bvh:2: the joint has no name"},
        {"HIERARCHY\nROOT \xFF\xFE\n{", EX_ERROR_FORMAT, "m.bvh:2: '?"},
        {"HIERARCHY\nROOT a\nOFFSET 0 0 0", EX_ERROR_FORMAT,
         "m.bvh:3: '{' is needed after the name of a joint, not 'OFFSET'"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0\n}", EX_ERROR_FORMAT, "m.bvh:5: '}' in OFFSET is not a number"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 nan 0\n}", EX_ERROR_FORMAT, "m.bvh:4: 'nan' in OFFSET is not a number"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 1e300 0\n}", EX_ERROR_FORMAT, "'1e300' in OFFSET is not a number"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nOFFSET 0 0 0\n}", EX_ERROR_FORMAT, "m.bvh:5: joint 'a' has OFFSET twice"},
        {"HIERARCHY\nROOT a\n{\n}\n", EX_ERROR_FORMAT, "m.bvh:4: joint 'a' has no OFFSET"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS x", EX_ERROR_FORMAT,
         "m.bvh:5: CHANNELS of joint 'a' must begin with"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS -3 Xrotation", EX_ERROR_FORMAT, "not with '-3'"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 999999999999 Xrotation", EX_ERROR_FORMAT, "not with '9999999"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 2 Xrotation\n}", EX_ERROR_FORMAT,
         "m.bvh:6: '}' is not a channel"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation Yrotation\n}", EX_ERROR_FORMAT,
         "m.bvh:5: 'Yrotation' cannot be in a hierarchy"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xscale\n}", EX_ERROR_FORMAT,
         "m.bvh:5: 'Xscale' is not a channel"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 2 Xposition Xposition\n}", EX_ERROR_FORMAT,
         "joint 'a' has the channel Xposition twice"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 2 Xposition", EX_ERROR_FORMAT,
         "the file ends among the channels"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nROOT b\n{", EX_ERROR_FORMAT, "m.bvh:5: a ROOT is inside joint 'a'"},
        {"HIERARCHY\nJOINT a\n{", EX_ERROR_FORMAT, "m.bvh:2: a JOINT is outside any joint"},
        {"HIERARCHY\nEnd Site\n{", EX_ERROR_FORMAT, "m.bvh:2: an End Site is outside"},
        {"HIERARCHY\nOFFSET 1 2 3", EX_ERROR_FORMAT, "m.bvh:2: OFFSET is outside any joint"},
        {"HIERARCHY\n}", EX_ERROR_FORMAT, "m.bvh:2: a brace is closed that was not opened"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nEnd Sight\n{", EX_ERROR_FORMAT,
         "'Site' is needed after 'End', not 'Sight'"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nEnd Site\n{\nJOINT b\n{", EX_ERROR_FORMAT,
         "m.bvh:7: an End Site can have only an OFFSET"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nEnd Site\n{\nCHANNELS 1 Xrotation\n", EX_ERROR_FORMAT,
         "m.bvh:7: an End Site can have only an OFFSET"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nMOTION", EX_ERROR_FORMAT, "m.bvh:5: MOTION begins while the brace of"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n", EX_ERROR_FORMAT, "the file ends in its hierarchy"},
        {"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n}\nMOTION\nFrames: 1\nFrame Time: 1\n", EX_ERROR_DATA,
         "m.bvh:6: no joint has channels"},
        {HEAD "MOTION\n", EX_ERROR_FORMAT, "the file ends where 'Frames: COUNT' is needed"},
        {HEAD "MOTION\nFrame: 3\n", EX_ERROR_FORMAT, "m.bvh:8: 'Frames: COUNT' is needed here, not 'Frame'"},
        {HEAD "MOTION\nFrames: many\n", EX_ERROR_FORMAT, "m.bvh:8: 'many' is not a number of frames"},
        {HEAD "MOTION\nFrames: 3000000000\n", EX_ERROR_FORMAT, "m.bvh:8: '3000000000' is not a number of frames"},
        {HEAD "MOTION\nFrames: -3\n", EX_ERROR_DATA, "m.bvh:8: there are -3 frames: a motion needs at least one"},
        {HEAD "MOTION\nFrames: 0\nFrame Time: 1\n", EX_ERROR_DATA, "there are 0 frames"},
        {HEAD "MOTION\nFrames: 1\nFrame Time: 0\n1 2\n", EX_ERROR_DATA, "m.bvh:9: the Frame Time is 0 seconds"},
        {HEAD "MOTION\nFrames: 1\nFrame Time: -0.1\n1 2\n", EX_ERROR_DATA, "the Frame Time is -0.1 seconds"},
        {HEAD "MOTION\nFrames: 1\nFrame Time: 0,04\n1 2\n", EX_ERROR_FORMAT, "'0,04' in Frame Time is not a number"},
        {HEAD "MOTION\nFrames: 1\nFrame Time:", EX_ERROR_FORMAT,
         "the file ends where a number of Frame Time is needed"},
        {HEAD "MOTION\nFrames: 2000000000\nFrame Time: 1\n1 2\n3 4\n", EX_ERROR_DATA,
         "the file ends too early: it has 2 of 2000000000 frames"},
        {MOTIONS, EX_ERROR_DATA, "the file ends too early: it has 0 of 3 frames"},
        {MOTIONS "1 2\n3 4\n", EX_ERROR_DATA, "the file ends too early: it has 2 of 3 frames"},
        {MOTIONS "1 2\n3 4\n5", EX_ERROR_DATA, "m.bvh:12: the file ends too early, within a frame: it has 2 of 3"},
        {MOTIONS "1 2\n3", EX_ERROR_DATA, "the file ends too early, within a frame: it has 1 of 3 frames"},
        {MOTIONS "1 2\n3 4\n5 6\n7 8\n", EX_ERROR_DATA, "m.bvh:13: there are more frames than the 3 that"},
        {MOTIONS "1 2\n3\n5 6\n", EX_ERROR_DATA, "m.bvh:11: frame 2 has 1 number, but the joints have 2 channels"},
        {MOTIONS "1 2\n3 4 5\n5 6\n", EX_ERROR_DATA, "m.bvh:11: frame 2 has 3 numbers, but the joints have 2 channels"},
        {MOTIONS "1 2\n3 nan\n5 6\n", EX_ERROR_DATA,
         "m.bvh:11: 'nan' is not a number, or beyond 1e15: channel Yposition of joint 'a' in frame 2"},
        {MOTIONS "1 2\n-inf 1\n5 6\n", EX_ERROR_DATA,
         "'-inf' is not a number, or beyond 1e15: channel Xrotation of joint 'a' in frame 2"},
        {MOTIONS "1 2\n1.5.6 1\n5 6\n", EX_ERROR_DATA, "'1.5.6' is not a number"},
        {MOTIONS "1 2\n1e200 1\n5 6\n", EX_ERROR_DATA, "'1e200' is not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_clip *clip = (ex_clip *)&state;
        ex_error error = {0};
        ex_result result = ex_bvh_parse(cases[i].text, strlen(cases[i].text), "m.bvh", &clip, &error);
        if (result != cases[i].result || !strstr(error.text, cases[i].sentence))
            fail_msg("case %zu: %d, %s", i, (int)result, error.text);
        assert_null(clip);
    }
}

/* A file truncated anywhere is refused, unless only its last number is cut, which cannot be detected. */
static void cut_anywhere(void **state) {
    (void)state;
    const size_t size = strlen(SMALL), last = 3;
    for (size_t i = 0; i < size - last; i++) {
        ex_clip *clip = NULL;
        ex_error error = {0};
        char *copy = malloc(i + 1);
        assert_non_null(copy);
        memcpy(copy, SMALL, i);
        assert_int_not_equal(ex_bvh_parse(copy, i, "m.bvh", &clip, &error), EX_OK);
        assert_null(clip);
        free(copy);
    }
}

static ex_result read_once(void *context) {
    ex_clip *clip = NULL;
    ex_result result = ex_bvh_read(context, &clip, NULL);
    assert_int_equal(clip != NULL, result == EX_OK);
    ex_clip_destroy(clip);
    return result;
}

static void files_and_memory(void **state) {
    (void)state;
    ex_clip *clip = NULL;
    ex_error error = {0};
    char path[1000];
    scratch_write("m.bvh", SMALL, strlen(SMALL));
    snprintf(path, sizeof path, "%s", scratch_path("m.bvh"));
    assert_true(fail_alloc_sweep(read_once, path) > 8);
    assert_int_equal(ex_bvh_read(scratch_path("none.bvh"), &clip, &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "none.bvh");
}

/* ---- available files ---- */

static void check_real(const char *path) {
    ex_clip *clip = NULL;
    ex_error error = {0};
    if (ex_bvh_read(path, &clip, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true(clip->joint_count > 1 && clip->frame_count > 0 && clip->times[clip->frame_count - 1] >= 0);
    for (int f = 0; f < clip->frame_count; f++)
        for (int j = 0; j < clip->joint_count; j++) {
            const float *q = local(clip, f, j)->rotation;
            const float length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
            assert_true(length > 0.99999f && length < 1.00001f);
        }
    ex_clip_destroy(clip);
}

static int check_folder(const char *folder, int depth) {
    DIR *directory = opendir(folder);
    int count = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[2000];
        const size_t length = strlen(entry->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".bvh") == 0) {
            check_real(path);
            count++;
        } else if (entry->d_name[0] != '.' && depth > 0) {
            count += check_folder(path, depth - 1);
        }
    }
    if (directory)
        closedir(directory);
    return count;
}

static void real_files(void **state) {
    (void)state;
    assert_true(check_folder(need_data("mocap"), 3) > 0);
    check_folder(need_data("makehuman"), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(orders_of_channels),
        cmocka_unit_test(variants),
        cmocka_unit_test(many_joints),
        cmocka_unit_test(inner_positions_are_no_path),
        cmocka_unit_test(signs_do_not_jump),
        cmocka_unit_test(refuses),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test_setup_teardown(files_and_memory, scratch_set_up, scratch_tear_down),
        cmocka_unit_test(real_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
