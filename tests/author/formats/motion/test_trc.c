/* TRC files: a small one worked by hand, variants by different writers, and every error. */
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

#include <exemplar/author.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEYS  "PathFileType\t4\t(X/Y/Z)\twalk.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\n"
#define NAMES "Frame#\tTime\tHEAD\t\t\tTOE\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n"
#define SMALL                                                                                                          \
    KEYS "60\t60\t2\t2\tmm\t60\n" NAMES "\n5\t0.00\t100\t1700\t-3.5\t200\t50\t1e1\n6\t0.02\t\t\t\t210\t60\t20\n"

static ex_markers *parse(const char *text) {
    ex_markers *markers = NULL;
    ex_error error = {0};
    if (ex_trc_parse(text, strlen(text), "m.trc", &markers, &error) != EX_OK)
        fail_msg("%s", error.text);
    return markers;
}

static void check_small(const ex_markers *markers) {
    static const double expected[4][3] = {{0.1, 1.7, -0.0035}, {0.2, 0.05, 0.01}, {0}, {0.21, 0.06, 0.02}};
    assert_int_equal(markers->marker_count, 2);
    assert_string_equal(markers->names[0], "HEAD");
    assert_string_equal(markers->names[1], "TOE");
    assert_int_equal(markers->frame_count, 2);
    assert_int_equal(markers->first_frame, 5);
    assert_true(markers->rate == 60);
    assert_string_equal(markers->up, "+Y");
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++)
            if (k == 2)
                assert_true(isnan(markers->positions[3 * k + i]));
            else
                assert_near((double)markers->positions[3 * k + i], expected[k][i], 1e-7);
}

/* Variants by different writers: all have the same markers. */
static void variants(void **state) {
    (void)state;
    static const char *const texts[] = {
        SMALL,
        "\xEF\xBB\xBFPathFileType\t4\t(X/Y/Z)\r\nNumMarkers\tUNITS\tDataRate\tNumFrames\t\r\n2\tmm\t60\t2\t\r\n"
        "Frame#\tTime\tWalker:HEAD\t\t\tWalker:TOE\r\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\r\n"
        "5\t0\t100\t1700\t-3.5\t200\t50\t10\t\t\r\n6\t0.02\tNaN\tnan\tNaN\t210\t60\t20\r\n\r\n",
        KEYS "60\t60\t2\t2\tm\t60\n" NAMES "5\t0.00\t .1 \t1.7\t-.0035\t0.2\t0.05\t0.01\n6\t0\t3\t\t\t0.21\t0.06\t0.02",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ex_markers *markers = parse(texts[i]);
        check_small(markers);
        ex_markers_destroy(markers);
    }
    /* Lines that end with CR alone; wider than high, but not clearly: y is up. */
    ex_markers *markers = parse("PathFileType\rNumFrames\tNumMarkers\tUnits\r1\t2\tm\rFrame#\tTime\tA\t\t\tB\r\r"
                                "1\t0\t1\t2\t0\t2\t1.2\t0\r");
    assert_string_equal(markers->up, "+Y");
    assert_true(markers->rate == 0);
    assert_near((double)markers->positions[3], 2, 1e-6);
    ex_markers_destroy(markers);
    /* Of two units the last counts. */
    markers = parse("PathFileType\nNumFrames\tNumMarkers\tUnits\tUnits\n1\t2\tcm\tm\nFrame#\tTime\tA\t\t\tB\n\n"
                    "1\t0\t1\t2\t0\t2\t1.2\t0\n");
    assert_string_equal(markers->unit, "m");
    ex_markers_destroy(markers);
    /* Z seems to be up; cells are missing at the end of a line. */
    markers = parse(KEYS "60\t60\t2\t2\tcm\t60\n" NAMES "1\t0\t1\t2\t170\t1\t3\t5\n2\t0\t1\t2\t170\n");
    assert_string_equal(markers->up, "+Z");
    assert_near((double)markers->positions[1], 1.7, 1e-6);
    assert_near((double)markers->positions[2], -0.02, 1e-6);
    assert_true(isnan(markers->positions[9]));
    ex_markers_destroy(markers);
}

/* Headers and lines that writers get wrong, and whose meaning is clear: all have the same markers. */
static void malformed(void **state) {
    (void)state;
    static const struct {
        const char *text, *note; /* note: NULL if there is none */
    } cases[] = {
        /* blanks after PathFileType, and doubled tabs between keys, values and names */
        {"PathFileType  4\t(X/Y/Z)\twalk.trc\nDataRate\t\tNumFrames\t\tNumMarkers\tUnits\n60\t2\t\t2\t\tmm\n"
         "Frame#\tTime\tHEAD\t\t\t\tTOE\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n"
         "5\t0\t100\t1700\t-3.5\t200\t50\t10\n6\t0.02\t\t\t\t210\t60\t20\n",
         NULL},
        {"PathFileType \t4\t(X/Y/Z)\n" /* every tab twice, also around a gap */
         "DataRate\tNumFrames\tNumMarkers\tUnits\n60\t2\t2\tmm\nFrame#\tTime\tHEAD\t\t\tTOE\n\n"
         "5\t\t0\t\t100\t\t1700\t\t-3.5\t\t200\t\t50\t\t10\n6\t\t.02\t\t\t\t\t\t\t\t210\t\t60\t\t20\n",
         "more tabs than columns"},
        {KEYS "60\t60\t2\t2\tmm\t60\nFrame\tTime (s)\tHEAD\t\t\tTOE\n" /* no line of X1; zeros for a gap */
              "5\t0\t100\t1700\t-3.5\t200\t50\t10\n6\t0.02\t0\t0\t0\t210\t60\t20\n",
         NULL},
        {KEYS "60\t60\t9\t3\tmm\t60\n" NAMES "5\t0\t100\t1700\t-3.5\t200\t50\t10\n6\t.02\t\t\t\t210\t60\t20\n",
         "NumMarkers is 3, but there are 2 names"},
        {KEYS "60\t60\t1\t2\tmm\t60\n" NAMES "5\t0\t100\t1700\t-3.5\t200\t50\t10\n6\t.02\t\t\t\t210\t60\t20\n",
         "NumFrames is 1, but there are 2 frames"},
        {"PathFileType 4 (X/Y/Z) walk.trc\nDataRate NumFrames NumMarkers Units\n60 2 2 mm\n" /* blanks alone */
         "Frame# Time HEAD TOE\n X1 Y1 Z1 X2 Y2 Z2\n5  0 100 1700 -3.5 200 50 10\n6 0.02 nan nan nan 210 60 20\n",
         NULL},
        {KEYS "60\t60\t2\t2\tmm\t60\n\nFRAME #\tTIME\tHEAD\t\t\tTOE\r\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\r\n\r\n"
              "5\t0\t100\t1700\t-3.5\t200\t50\t10\t\r\n6\t0.02\t\t\t\t210\t60\t20\t\t\r\n",
         NULL},
        {KEYS "60\t60\t2\t2\tmm\t60\nFrame#\tHEAD\t\t\tTOE\n\tX1\tY1\tZ1\tX2\tY2\tZ2\n" /* no times */
              "5\t100\t1700\t-3.5\t200\t50\t10\n6\t\t\t\t210\t60\t20\n",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_markers *markers = parse(cases[i].text);
        check_small(markers);
        assert_true(cases[i].note ? markers->note_count > 0 : markers->note_count == 0);
        if (cases[i].note && !strstr(markers->notes[0], cases[i].note))
            fail_msg("case %zu: %s", i, markers->notes[0]);
        ex_markers_destroy(markers);
    }
}

/* The same person in all six directions and in other units: always upright, and of the same size. */
static void stands(void **state) {
    (void)state;
    static const char *const names[] = {"LASI", "RASI", "LPSI", "RPSI", "LKNE", "RKNE", "LANK", "RANK", "LHEE", "C7"};
    static const double at[][3] = {{.12, 1.01, .1},  {-.12, 1.01, .1}, {.06, 1.02, -.1}, {-.06, 1.02, -.1},
                                   {.15, .5, 0},     {-.15, .5, 0},    {.13, .08, -.02}, {-.13, .08, -.02},
                                   {.09, .03, -.08}, {0, 1.45, -.08}};
    static const struct {
        const char *up;
        int axes[3], signs[3]; /* of the file, for x, y, z */
    } ways[] = {{"+Y", {0, 1, 2}, {1, 1, 1}},  {"-Y", {0, 1, 2}, {1, -1, -1}}, {"+Z", {0, 2, 1}, {1, 1, -1}},
                {"-Z", {0, 2, 1}, {1, -1, 1}}, {"+X", {1, 0, 2}, {-1, 1, 1}},  {"-X", {1, 0, 2}, {1, -1, 1}}};
    static const struct {
        const char *said, *is;
        double size;
    } units[] = {{"mm", "mm", 1000}, {"mm", "m", 1},           {"m", "mm", 1000},
                 {"cm", "cm", 100},  {"mm", "in", 1 / 0.0254}, {"", "m", 1}};
    for (int way = 0; way < 6; way++)
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            char text[4000], *out = text;
            out += sprintf(out, "PathFileType\nDataRate\tNumFrames\tNumMarkers%s\n100\t2\t10\t%s\nFrame#\tTime",
                           *units[u].said ? "\tUnits" : "", units[u].said);
            for (int m = 0; m < 10; m++)
                out += sprintf(out, "\t%s\t\t", names[m]);
            out += sprintf(out, "\n\n");
            for (int f = 0; f < 2; f++) {
                out += sprintf(out, "%d\t0", f + 1);
                for (int m = 0; m < 10; m++) {
                    double p[3];
                    for (int i = 0; i < 3; i++)
                        p[ways[way].axes[i]] =
                            ways[way].signs[i] * (at[m][i] + (i == 1 ? -0.9 : 0.1 * f)) * units[u].size;
                    out += sprintf(out, "\t%.5f\t%.5f\t%.5f", p[0], p[1], p[2]);
                }
                out += sprintf(out, "\n");
            }
            ex_markers *markers = parse(text);
            assert_string_equal(markers->up, ways[way].up);
            assert_string_equal(markers->unit, units[u].is);
            const bool mended = strcmp(units[u].said, units[u].is) != 0;
            assert_int_equal(markers->note_count, (way > 0) + mended);
            for (int m = 0; m < 10; m++)
                for (int i = 0; i < 3; i++)
                    assert_near((double)markers->positions[3 * m + i], at[m][i] - (i == 1 ? 0.9 : 0), 1e-4);
            ex_markers_destroy(markers);
        }
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *text;
        ex_result result;
        const char *word;
    } cases[] = {
        {"", EX_ERROR_FORMAT, "m.trc:1: this is not a TRC file"},
        {"Frame\n", EX_ERROR_FORMAT, "m.trc:1: this is not a TRC file"},
        {"PathFileType\n", EX_ERROR_FORMAT, "m.trc:2: the file ends where the line with DataRate"},
        {KEYS, EX_ERROR_FORMAT, "m.trc:3: the file ends where the values"},
        {KEYS "x\t1\t1\t1\tmm\n", EX_ERROR_FORMAT, "m.trc:3: 'x' is not a number; it is below 'DataRate'"},
        {KEYS "1\t1\n", EX_ERROR_DATA, "m.trc:3: NumFrames and NumMarkers are both needed"},
        {KEYS "1\t1\t0\t1\tmm\n", EX_ERROR_DATA, "m.trc:3: NumFrames and NumMarkers are both needed"},
        {KEYS "1\t1\t1\t1e99\tmm\n", EX_ERROR_DATA, "m.trc:3: NumFrames and NumMarkers are both needed"},
        {KEYS "1\t1\t1\t1\tparsec\n", EX_ERROR_DATA, "m.trc:3: the unit below 'Units' is unknown"},
        {KEYS "1\t1\t1\t2\tmm\n", EX_ERROR_FORMAT, "m.trc:4: the line with Frame#"},
        {KEYS "1\t1\t1\t3\tmm\n" NAMES "1\t0\n", EX_ERROR_DATA, "m.trc:4: there are 2 names, but NumMarkers is 3"},
        {KEYS "1\t1\t1\t2\tmm\nFrame#\tTime\t\t\t\tA\n\n1\t0\t\t\t\t1\t2\t3\n", EX_ERROR_DATA,
         "m.trc:4: there are 1 names, but NumMarkers is 2"},
        {KEYS "1\t1\t1\t2\tmm\nFrame#\tTime\t\t\n\n", EX_ERROR_DATA, "m.trc:4: there are no names of markers"},
        {KEYS "1\t1\t1\t2\tmm\n" NAMES "1\t0\t1,5\t2\t3\t4\t5\t6\n", EX_ERROR_DATA,
         "m.trc:6: '1,5' of marker 'HEAD' has a comma: export the file with a point in numbers"},
        {KEYS "1\t1\t1\t1\tmm\nFrame#\tTime\tA", EX_ERROR_FORMAT, "m.trc:5: the file ends where the line with X1"},
        {KEYS "1\t1\t3\t2\tmm\n" NAMES "1\t0\n2\t0\n", EX_ERROR_DATA, "ends too early: it has 2 of 3 frames"},
        {KEYS "1\t1\t2000000000\t2\tmm\n" NAMES "1\t0\n", EX_ERROR_DATA,
         "ends too early: it has 1 of 2000000000 frames"},
        {KEYS "1\t1\t1\t2\tmm\n" NAMES "\n\nx\t0\n", EX_ERROR_FORMAT, "m.trc:8: 'x' is not the number of a frame"},
        {KEYS "1\t1\t1\t2\tmm\n" NAMES "1\t0\t1\t2\t3x\n", EX_ERROR_DATA,
         "m.trc:6: '3x' is not a coordinate of marker 'HEAD'"},
        {KEYS "1\t1\t1\t2\tmm\n" NAMES "1\t0\t1\t1e30\t3\n", EX_ERROR_DATA, "'1e30' is not a coordinate"},
        {KEYS "1\t1\t1\t2\tmm\n" NAMES "1\t0\t1\t1\t3\t1\t2\t3\t4\n", EX_ERROR_DATA,
         "m.trc:6: '4' comes after the last of 2 markers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_markers *markers = (ex_markers *)&i;
        ex_error error = {0};
        assert_int_equal(ex_trc_parse(cases[i].text, strlen(cases[i].text), "m.trc", &markers, &error),
                         cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
        assert_null(markers);
    }
}

/* Many markers named and many lines without any: no memory is allocated that the file does not fill. */
static void lying(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    char *text = malloc(COUNT * 12 + 1000), *at = text;
    assert_non_null(text);
    at += sprintf(at, KEYS "1\t1\t%d\t%d\tmm\nFrame#\tTime", COUNT, COUNT);
    for (int i = 0; i < COUNT; i++)
        at += sprintf(at, "\t%d\t\t", i);
    at += sprintf(at, "\n\n");
    for (int i = 0; i < COUNT; i++)
        at += sprintf(at, "1\n");
    ex_markers *markers = NULL;
    ex_error error = {0};
    assert_int_equal(ex_trc_parse(text, (size_t)(at - text), "m.trc", &markers, &error), EX_ERROR_LIMIT);
    assert_sentence(&error, EX_ERROR_LIMIT, "lines are too short for 2000 markers");
    free(text);
}

static void cut_anywhere(void **state) {
    (void)state;
    const size_t size = sizeof SMALL - 1;
    for (size_t cut = 0; cut < size; cut++) {
        char *copy = malloc(cut + 1);
        ex_markers *markers = NULL;
        assert_non_null(copy);
        memcpy(copy, SMALL, cut);
        const ex_result result = ex_trc_parse(copy, cut, "m.trc", &markers, NULL);
        assert_true((result == EX_OK) == (markers != NULL));
        if (cut < size - 20) /* before the last line */
            assert_int_not_equal(result, EX_OK);
        ex_markers_destroy(markers);
        free(copy);
    }
}

static ex_result attempt(void *context) {
    ex_markers *markers = NULL;
    const ex_result result = ex_markers_read(context, &markers, NULL);
    ex_markers_destroy(markers);
    return result;
}

static void memory(void **state) {
    (void)state;
    scratch_write("m.trc", SMALL, sizeof SMALL - 1);
    char path[1000];
    snprintf(path, sizeof path, "%s", scratch_path("m.trc"));
    assert_in_range(fail_alloc_sweep(attempt, path), 6, 40);
    ex_markers *markers = NULL;
    assert_int_equal(ex_trc_read(path, &markers, NULL), EX_OK);
    check_small(markers);
    ex_markers_destroy(markers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants),
        cmocka_unit_test(malformed),
        cmocka_unit_test(stands),
        cmocka_unit_test(refuses),
        cmocka_unit_test(lying),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test_setup_teardown(memory, scratch_set_up, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
