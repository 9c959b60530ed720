/*
 * scan.json: every wrong key, kind, name and reference has a sentence; round trips; defaults; the table of markers;
 * paths relative to the folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "author/scan/session/session.h"
#include "author/scan/session/table.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

#include <exemplar/author/files.h>

static void write_text(const char *name, const char *text) {
    scratch_write(name, text, strlen(text));
}

static const char skeleton[] =
    "{\"exemplar_skeleton\": 1, \"name\": \"limb\", \"joints\": ["
    "{\"name\": \"hips\", \"joint\": \"base\", \"translation\": [0, 1, 0]},"
    "{\"name\": \"shoulder\", \"parent\": \"hips\", \"joint\": \"ball\", \"translation\": [0.2, 0, 0]},"
    "{\"name\": \"elbow\", \"parent\": \"shoulder\", \"joint\": \"hinge\", \"translation\": [0.3, 0, 0],"
    " \"axis\": [0, 0.6, -0.8]},"
    "{\"name\": \"tip\", \"parent\": \"elbow\", \"joint\": \"fixed\", \"translation\": [0.2, 0, 0]}],"
    "\"markers\": [{\"name\": \"old\", \"joint\": \"elbow\", \"at\": [0.1, 0.02, 0.03]}]}";

#define PARTS "\"parts\": [{\"name\": \"arm\", \"joints\": [\"elbow\"], \"covers\": [\"shoulder\", \"elbow\"]}]"
#define SCANS                                                                                                          \
    "\"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": [\"a.ply\"]},"                                        \
    "{\"name\": \"b\", \"part\": \"arm\", \"files\": [\"b.ply\"]}]"
#define HEAD "\"exemplar_scan\": 1, \"skeleton\": \"limb.json\", \"reference\": \"a\""

static ex_result read_text(const char *text, ex_scan_session **session, ex_error *error) {
    write_text("limb.json", skeleton);
    write_text("scan.json", text);
    return ex_scan_session_read(scratch_path("."), session, error);
}

/* ---- errors ---- */

static void test_invalid(void **state) {
    static const struct {
        const char *text, *word, *second;
        ex_result result;
    } cases[] = {
        {"[]", "object", "scan.json", EX_ERROR_DATA},
        {"{", "scan.json", "scan.json", EX_ERROR_FORMAT},
        {"{" PARTS "," SCANS "}", "exemplar_scan: missing", "scan.json", EX_ERROR_DATA},
        {"{\"exemplar_scan\": 2, \"skeleton\": \"limb.json\", \"reference\": \"a\"," PARTS "," SCANS "}",
         "exemplar_scan", "reads version 1", EX_ERROR_VERSION},
        {"{\"exemplar_scan\": \"1\", \"skeleton\": \"limb.json\", \"reference\": \"a\"," PARTS "," SCANS "}",
         "exemplar_scan", "reads version 1", EX_ERROR_VERSION},
        {"{" HEAD "," PARTS "," SCANS ", \"level\": 3}", "level:", "\"levels\"", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"levels\": 0}", "levels", "1", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"levels\": 2.5}", "levels", "whole", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"neighbours\": 0}", "neighbours", "1", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"reach\": 0}", "reach", "above 0", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"noise\": -1}", "noise", "above 0", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"reach\": \"far\"}", "reach", "number", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"mirror\": 1}", "mirror", "true", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"add\": \"yes\"}", "add", "true", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"lend\": null}", "lend", "true", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"markers\": 3}", "markers", "text", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"cage\": \"\"}", "cage", "empty", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"markers\": \"none.csv\"}", "none.csv", "cannot", EX_ERROR_FILE},
        {"{\"exemplar_scan\": 1, \"skeleton\": \"no.json\", \"reference\": \"a\"," PARTS "," SCANS "}", "no.json",
         "cannot", EX_ERROR_FILE},
        {"{\"exemplar_scan\": 1, \"skeleton\": \"limb.json\", \"reference\": \"z\"," PARTS "," SCANS "}", "reference",
         "'z'", EX_ERROR_DATA},
        {"{" HEAD "," PARTS "," SCANS ", \"average\": \"z\"}", "average", "'z'", EX_ERROR_DATA},
        /* parts */
        {"{" HEAD ", \"parts\": []," SCANS "}", "parts", "at least one", EX_ERROR_DATA},
        {"{" HEAD ", \"parts\": {}," SCANS "}", "parts", "list", EX_ERROR_DATA},
        {"{" HEAD ", \"parts\": [3]," SCANS "}", "parts[0]", "object", EX_ERROR_DATA},
        {"{" HEAD ", \"parts\": [{\"name\": \"arm\", \"covers\": [\"elbow\"]}]," SCANS "}", "parts[0].joints",
         "missing", EX_ERROR_DATA},
        {"{" HEAD ", \"parts\": [{\"name\": \"arm\", \"joints\": [\"elbow\"], \"cover\": 1}]," SCANS "}",
         "parts[0].cover:", "\"covers\"", EX_ERROR_DATA},
        {"{" HEAD ", \"parts\": [{\"name\": \"arm\", \"joints\": [\"elbw\"], \"covers\": [\"elbow\"]}]," SCANS "}",
         "parts[0].joints[0]", "did you mean 'elbow'", EX_ERROR_DATA},
        {"{" HEAD
         ", \"parts\": [{\"name\": \"arm\", \"joints\": [\"elbow\"], \"covers\": [\"elbow\", \"knee\"]}]," SCANS "}",
         "parts[0].covers[1]", "'knee'", EX_ERROR_DATA},
        {"{" HEAD ", \"parts\": [{\"name\": \"arm\", \"joints\": [\"elbow\"], \"solve\": [\"x\"], \"covers\": "
         "[\"elbow\"]}]," SCANS "}",
         "parts[0].solve[0]", "'x'", EX_ERROR_DATA},
        {"{" HEAD ", \"parts\": [{\"name\": \"arm\", \"joints\": \"elbow\", \"covers\": [\"elbow\"]}]," SCANS "}",
         "parts[0].joints", "list of names", EX_ERROR_DATA},
        {"{" HEAD ", \"parts\": [{\"name\": \"arm\", \"joints\": [\"elbow\", 3], \"covers\": [\"elbow\"]}]," SCANS "}",
         "parts[0].joints[1]", "name", EX_ERROR_DATA},
        {"{" HEAD ", \"parts\": [{\"name\": \"arm\", \"joints\": [\"elbow\"], \"covers\": [\"elbow\"]}, {\"name\": "
         "\"arm\", \"joints\": [\"elbow\"], \"covers\": [\"elbow\"]}]," SCANS "}",
         "parts[1].name", "already a part 'arm'", EX_ERROR_DATA},
        {"{" HEAD ", \"parts\": [{\"name\": \"../arm\", \"joints\": [\"elbow\"], \"covers\": [\"elbow\"]}]," SCANS "}",
         "parts[0].name", "name of a part", EX_ERROR_DATA},
        /* scans */
        {"{" HEAD "," PARTS ", \"scans\": []}", "scans", "at least one", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [null]}", "scans[0]", "object", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": [\"arm\", \"leg\"], \"files\": [\"a.ply\"]}]}",
         "scans[0].part", "'leg'", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": [\"arm\", \"arm\"], \"files\": [\"a.ply\"]}]}",
         "scans[0].part[1]", "already in this list", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": [], \"files\": [\"a.ply\"]}]}", "scans[0].part",
         "list of names", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": 3, \"files\": [\"a.ply\"]}]}", "scans[0].part",
         "", EX_ERROR_DATA},
        {"{" HEAD ", \"parts\": [{\"name\": \"arm\", \"joints\": [\"elbow\"], \"covers\": [\"elbow\"]}, {\"name\": "
         "\"leg\", \"joints\": [\"elbow\"], \"covers\": [\"elbow\"]}], \"scans\": [{\"name\": \"a\", \"files\": "
         "[\"a.ply\"]}, {\"name\": \"a.leg\", \"part\": \"leg\", \"files\": [\"b.ply\"]}]}",
         "a.leg", "rename", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": \"leg\", \"files\": [\"a.ply\"]}]}",
         "scans[0].part", "'leg'", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": []}]}", "scans[0].files",
         "list of names", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a/b\", \"part\": \"arm\", \"files\": [\"a.ply\"]}]}",
         "scans[0].name", "'a/b'", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \".a\", \"part\": \"arm\", \"files\": [\"a.ply\"]}]}",
         "scans[0].name", "'.a'", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": [\"a.ply\"]}, {\"name\": "
         "\"a\", \"part\": \"arm\", \"files\": [\"b.ply\"]}]}",
         "scans[1].name", "already a scan 'a'", EX_ERROR_DATA},
        /* held back */
        {"{" HEAD "," PARTS
         ", \"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": [\"a.ply\"], \"held\": true}]}",
         "scans[0].held", "template person", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": [\"a.ply\"], \"held\": 1}]}",
         "scans[0].held", "true or false", EX_ERROR_DATA},
        /* poses */
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": [\"a.ply\"], \"pose\": 3}]}",
         "scans[0].pose", "object", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": [\"a.ply\"], \"pose\": "
         "{\"knee\": 3}}]}",
         "scans[0].pose", "'knee'", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": [\"a.ply\"], \"pose\": "
         "{\"tip\": 3}}]}",
         "pose", "fixed", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": [\"a.ply\"], \"pose\": "
         "{\"elbow\": [0, 0, 0, 1]}}]}",
         "elbow", "degrees", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": [\"a.ply\"], \"pose\": "
         "{\"shoulder\": 30}}]}",
         "shoulder", "[x, y, z, w]", EX_ERROR_DATA},
        {"{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": [\"a.ply\"], \"pose\": "
         "{\"shoulder\": [0, 0, 0, 0]}}]}",
         "shoulder", "rotation", EX_ERROR_DATA},
    };
    (void)state;
    size_t right = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ex_scan_session *session = (ex_scan_session *)&session;
        ex_error error = {0};
        const ex_result result = read_text(cases[i].text, &session, &error);
        if (result != cases[i].result || !strstr(error.text, cases[i].word) || !strstr(error.text, cases[i].second))
            print_error("case %d: result %d, '%s' has no '%s' or '%s'\n", (int)i, (int)result, error.text,
                        cases[i].word, cases[i].second);
        else
            right++;
        assert_null(session);
    }
    assert_int_equal(right, sizeof cases / sizeof cases[0]);
    ex_scan_session *session = NULL;
    ex_error error = {0};
    assert_int_equal(ex_scan_session_read(scratch_path("nowhere"), &session, &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "nowhere/scan.json");
    ex_scan_session_destroy(NULL);
}

/* Names that the body needs, or that would become the same file. */
static void test_taken_names(void **state) {
    (void)state;
    static const char *const parts[] = {"base", "figure", ".arm", "a:b"}, *const scans[] = {"x.mirrored"};
    char text[700];
    ex_scan_session *session = NULL;
    ex_error error = {0};
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text,
                 "{" HEAD ", \"parts\": [{\"name\": \"%s\", \"joints\": [\"elbow\"], \"covers\": [\"elbow\"]}],"
                 "\"scans\": [{\"name\": \"a\", \"part\": \"%s\", \"files\": [\"a.ply\"]}]}",
                 parts[i], parts[i]);
        assert_int_equal(read_text(text, &session, &error), EX_ERROR_DATA);
        assert_sentence(&error, EX_ERROR_DATA, "parts[0].name");
    }
    for (int i = 0; i < 1; i++) {
        snprintf(text, sizeof text,
                 "{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": [\"a.ply\"]},"
                 "{\"name\": \"%s\", \"part\": \"arm\", \"files\": [\"a.ply\"]}]}",
                 scans[i]);
        assert_int_equal(read_text(text, &session, &error), EX_ERROR_DATA);
        assert_sentence(&error, EX_ERROR_DATA, "scans[1].name");
    }
}

/* ---- valid sessions ---- */

static void test_defaults(void **state) {
    (void)state;
    ex_scan_session *s = NULL;
    ex_error error = {0};
    if (read_text("{" HEAD "," PARTS "," SCANS "}", &s, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_string_equal(s->folder, scratch_path("."));
    assert_string_equal(s->skeleton, "limb.json");
    assert_null(s->markers);
    assert_null(s->cage);
    assert_int_equal(s->levels, 5);
    assert_int_equal(s->neighbours, 8);
    assert_near(s->reach, 0.06, 0);
    assert_near(s->noise, 0.001, 0);
    assert_false(s->mirror);
    assert_true(s->add);
    assert_true(s->lend);
    assert_int_equal(s->reference, 0);
    assert_int_equal(s->average, 0);
    assert_int_equal(s->part_count, 1);
    assert_int_equal(s->parts[0].solve_count, 1); /* its joints */
    assert_string_equal(s->parts[0].solves[0], "elbow");
    assert_int_equal(s->scan_count, 2);
    assert_false(s->scans[1].posed);
    assert_int_equal(s->kinematics->site_count, 1); /* the skeleton's own */
    assert_int_equal(ex_scan_session_find(s, "b"), 1);
    assert_int_equal(ex_scan_session_find(s, "c"), -1);
    char *path = ex_scan_path(s, "found", "b", ".csv");
    assert_string_equal(path, scratch_path("./found/b.csv"));
    free(path);
    path = ex_scan_path(s, "", "body", ".json");
    assert_string_equal(path, scratch_path("./body.json"));
    free(path);
    ex_scan_session_destroy(s);
}

/* A scan may belong to several parts, and belongs to all if it names none. */
static void test_parts(void **state) {
    (void)state;
    for (int round = 0; round < 2; round++) {
        ex_scan_session *s = NULL;
        ex_error error = {0};
        const ex_result result =
            round == 0
                ? read_text("{" HEAD ", \"parts\": [{\"name\": \"arm\", \"joints\": [\"elbow\"], \"covers\": "
                            "[\"elbow\"]}, {\"name\": \"torso\", \"joints\": [\"shoulder\"], \"covers\": "
                            "[\"shoulder\"]}], \"scans\": [{\"name\": \"a\", \"files\": [\"a.ply\"]}, {\"name\": "
                            "\"b\", \"part\": [\"torso\", \"arm\"], \"files\": [\"b.ply\"]}, {\"name\": \"c\", "
                            "\"part\": \"torso\", \"files\": [\"c.ply\"]}]}",
                            &s, &error)
                : ex_scan_session_read(scratch_path("."), &s, &error); /* as it was written */
        if (result != EX_OK)
            fail_msg("%s", error.text);
        assert_int_equal(s->scans[0].part_count, 2);
        assert_int_equal(s->scans[0].parts[0], 0);
        assert_int_equal(s->scans[0].parts[1], 1);
        assert_int_equal(s->scans[1].part_count, 2);
        assert_int_equal(s->scans[1].parts[0], 1);
        assert_int_equal(s->scans[1].parts[1], 0);
        assert_int_equal(s->scans[2].part_count, 1);
        assert_int_equal(s->scans[2].parts[0], 1);
        assert_int_equal(ex_scan_session_write(s, &error), EX_OK);
        ex_scan_session_destroy(s);
    }
}

static const char whole[] =
    "{" HEAD ", \"markers\": \"sub/markers.csv\", \"average\": \"b\", \"cage\": \"own.obj\", \"levels\": 3,"
    "\"reach\": 0.04, \"noise\": 0.0005, \"neighbours\": 5, \"mirror\": true, \"add\": false, \"lend\": false,"
    "\"parts\": [{\"name\": \"arm\", \"joints\": [\"elbow\"], \"solve\": [\"shoulder\", \"elbow\"],"
    " \"covers\": [\"shoulder\", \"elbow\"]}, {\"name\": \"torso\", \"joints\": [\"shoulder\"], \"covers\": "
    "[\"hips\"]}],"
    "\"scans\": [{\"name\": \"a\", \"part\": \"torso\", \"files\": [\"scans/a_1.ply\", \"scans/a_2.ply\"]},"
    "{\"name\": \"b\", \"part\": \"arm\", \"files\": [\"/far/b.ply\"],"
    " \"pose\": {\"elbow\": 100, \"shoulder\": [0, 2, 0, 0]}},"
    "{\"name\": \"c\", \"part\": \"arm\", \"files\": [\"c.ply\"], \"pose\": {\"elbow\": -190.5}}]}";

static const char markers[] = "marker,joint,r,g,b,x,y,z\nold,elbow,1,2,3,,,\nnew,hips,255,0,127.6,0.1,0.2,-0.3\n";

static void write_whole(void) {
    ex_error error = {0};
    assert_int_equal(ex_make_directory(scratch_path("sub"), &error), EX_OK);
    write_text("sub/markers.csv", markers);
}

static void same_words(char **a, char **b, int count) {
    for (int i = 0; i < count; i++)
        assert_string_equal(a[i], b[i]);
}

static void test_round_trip(void **state) {
    (void)state;
    ex_scan_session *s[2] = {NULL, NULL};
    ex_error error = {0};
    write_whole();
    if (read_text(whole, &s[0], &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(ex_scan_session_write(s[0], &error), EX_OK);
    if (ex_scan_session_read(scratch_path("."), &s[1], &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int k = 0; k < 2; k++) { /* as in the file, and as written */
        const ex_scan_session *r = s[k];
        assert_string_equal(r->markers, "sub/markers.csv");
        assert_string_equal(r->cage, "own.obj");
        assert_int_equal(r->levels, 3);
        assert_int_equal(r->neighbours, 5);
        assert_near(r->reach, 0.04, 0);
        assert_near(r->noise, 0.0005, 0);
        assert_true(r->mirror);
        assert_false(r->add);
        assert_false(r->lend);
        assert_int_equal(r->reference, 0);
        assert_int_equal(r->average, 1);
        assert_int_equal(r->part_count, 2);
        assert_int_equal(r->parts[0].solve_count, 2);
        same_words(r->parts[0].solves, (char *[]){"shoulder", "elbow"}, 2);
        assert_int_equal(r->parts[1].solve_count, 1);
        assert_string_equal(r->parts[1].solves[0], "shoulder");
        assert_int_equal(r->scan_count, 3);
        assert_int_equal(r->scans[0].part_count, 1);
        assert_int_equal(r->scans[0].parts[0], 1);
        assert_int_equal(r->scans[0].file_count, 2);
        same_words(r->scans[0].files, (char *[]){"scans/a_1.ply", "scans/a_2.ply"}, 2);
        assert_false(r->scans[0].posed);
        assert_true(r->scans[1].posed);
        const double(*turns)[4] = (const double(*)[4])r->scans[1].pose.rotations;
        const double half = 50 * 3.14159265358979323846 / 180;
        assert_row_near(turns[0], ((const double[4]){0, 0, 0, 1}), 4, 0);
        assert_row_near(turns[1], ((const double[4]){0, 1, 0, 0}), 4, 1e-15);
        assert_row_near(turns[2], ((const double[4]){0, 0.6 * sin(half), -0.8 * sin(half), cos(half)}), 4, 1e-14);
        assert_near(ex_kin_angle(&r->kinematics->joints[2], r->scans[2].pose.rotations[2]), 169.5, 1e-12);
        /* The table replaces the skeleton's own markers, whose places are kept if it has none. */
        assert_int_equal(r->kinematics->site_count, 2);
        const ex_site *sites = r->kinematics->sites;
        assert_true(sites[0].placed && sites[1].placed);
        assert_row_near(sites[0].local, ((const double[3]){0.1, 0.02, 0.03}), 3, 0);
        assert_row_near(sites[1].local, ((const double[3]){0.1, 0.2, -0.3}), 3, 0);
        assert_memory_equal(sites[0].colour, ((const unsigned char[3]){1, 2, 3}), 3);
        assert_memory_equal(sites[1].colour, ((const unsigned char[3]){255, 0, 128}), 3);
        assert_int_equal(sites[1].joint, 0);
    }
    ex_scan_session_destroy(s[0]);
    ex_scan_session_destroy(s[1]);
}

/* Skeletons that come with the program need no file. */
static void test_shipped(void **state) {
    (void)state;
    ex_scan_session *s = NULL;
    ex_error error = {0};
    if (read_text("{\"exemplar_scan\": 1, \"skeleton\": \"upper\", \"reference\": \"a\", \"parts\": [{\"name\": "
                  "\"arm\", \"joints\": [\"elbow.L\"], \"covers\": [\"elbow.L\"]}]," SCANS "}",
                  &s, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true(s->kinematics->joint_count > 8);
    ex_scan_session_destroy(s);
}

/* ---- markers ---- */

static void test_markers(void **state) {
    static const struct {
        const char *text, *word, *second;
        ex_result result;
    } cases[] = {
        {"", "markers.csv", "is empty", EX_ERROR_FORMAT},
        {"marker,place\n", ":1", "'place'", EX_ERROR_DATA},
        {"marker,joint,marker\n", ":1", "twice", EX_ERROR_DATA},
        {"marker,r,g,b\n", ":1", "'joint' is missing", EX_ERROR_DATA},
        {"marker,joints\n", ":1", "did you mean 'joint'", EX_ERROR_DATA},
        {"marker,joint\na,elbow\n\nb,knee\n", ":4", "'knee'", EX_ERROR_DATA},
        {"marker,joint\na\n", ":2", "'joint'", EX_ERROR_DATA},
        {"marker,joint\na,elbow,3\n", ":2", "more values", EX_ERROR_DATA},
        {"marker,joint\n,elbow\n", ":2", "no name", EX_ERROR_DATA},
        {"marker,joint\na,elbow\nb,elbow\na,hips\n", "markers.csv", "'a' appears twice", EX_ERROR_DATA},
        {"marker,joint,r,g,b\na,elbow,256,0,0\n", ":2", "0 to 255", EX_ERROR_DATA},
        {"marker,joint,r,g,b\na,elbow,0,0,-1\n", ":2", "0 to 255", EX_ERROR_DATA},
        {"marker,joint,r,g,b\na,elbow,red,0,0\n", ":2", "'red' in column 'r'", EX_ERROR_DATA},
        {"marker,joint,x,y,z\na,elbow,1,inf,0\n", ":2", "'inf' in column 'y'", EX_ERROR_DATA},
        {"marker,joint,x,y,z\na,elbow,1,,0\n", ":2", "column 'y'", EX_ERROR_DATA},
        {"marker,joint,x,y,z\na,elbow,,1,0\n", ":2", "column 'x'", EX_ERROR_DATA},
        {"marker,joint,x,z\na,elbow,1,0\n", ":2", "column 'y'", EX_ERROR_DATA},
        {"marker,joint\n\"a,elbow\n", ":2", "values between commas", EX_ERROR_FORMAT},
    };
    (void)state;
    size_t right = 0;
    write_whole();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ex_scan_session *session = NULL;
        ex_error error = {0};
        write_text("sub/markers.csv", cases[i].text);
        const ex_result result = read_text(whole, &session, &error);
        if (result != cases[i].result || !strstr(error.text, cases[i].word) || !strstr(error.text, cases[i].second))
            print_error("case %d: result %d, '%s' has no '%s' or '%s'\n", (int)i, (int)result, error.text,
                        cases[i].word, cases[i].second);
        else
            right++;
        assert_null(session);
    }
    assert_int_equal(right, sizeof cases / sizeof cases[0]);
    /* Byte-order marks, blank lines and quotes are fine; a table may have no markers. */
    ex_scan_session *s = NULL;
    ex_error error = {0};
    write_text("sub/markers.csv", "\xEF\xBB\xBFmarker,joint\r\n\r\n\"a, b\",elbow\r\n");
    if (read_text(whole, &s, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(s->kinematics->site_count, 1);
    assert_string_equal(s->kinematics->sites[0].name, "a, b");
    assert_false(s->kinematics->sites[0].placed);
    ex_scan_session_destroy(s);
    write_text("sub/markers.csv", "marker,joint\n");
    assert_int_equal(read_text(whole, &s, &error), EX_OK);
    assert_int_equal(s->kinematics->site_count, 0);
    ex_scan_session_destroy(s);
    /* A marker that has moved to another joint has no place there. */
    write_text("sub/markers.csv", "marker,joint\nold,hips\n");
    assert_int_equal(read_text(whole, &s, &error), EX_OK);
    assert_false(s->kinematics->sites[0].placed);
    ex_scan_session_destroy(s);
}

static void test_tables(void **state) {
    static const char *const columns[] = {"a", "b", "c", NULL};
    (void)state;
    exi_table table;
    ex_error error = {0};
    char line[300] = "a";
    write_text("t.csv", "b,a\n1,2.5\n,-3e2\n");
    assert_int_equal(exi_table_read(scratch_path("t.csv"), columns, 1, &table, &error), EX_OK);
    assert_int_equal(table.row_count, 2);
    assert_int_equal(exi_table_column(&table, "a"), 1);
    assert_int_equal(exi_table_column(&table, "c"), -1);
    assert_string_equal(exi_table_text(&table, 0, 0), "1");
    assert_string_equal(exi_table_text(&table, 0, -1), "");
    double value = 7;
    assert_int_equal(exi_table_number(&table, 1, 0, false, &value, &error), EX_OK);
    assert_near(value, 7, 0);
    assert_int_equal(exi_table_number(&table, 1, 1, true, &value, &error), EX_OK);
    assert_near(value, -300, 0);
    assert_int_equal(exi_table_number(&table, 1, 0, true, &value, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, ":3: '' in column 'b'");
    exi_table_free(&table);
    for (int i = 0; i < 70; i++) /* more columns than any table has */
        strcat(line, ",a");
    write_text("t.csv", line);
    assert_int_equal(exi_table_read(scratch_path("t.csv"), columns, 1, &table, &error), EX_ERROR_DATA);
    assert_int_equal(table.row_count, 0);
    assert_int_equal(exi_table_read(scratch_path("u.csv"), columns, 1, &table, &error), EX_ERROR_FILE);
}

/* ---- meshes ---- */

static void test_meshes(void **state) {
    (void)state;
    ex_scan_session *s = NULL;
    ex_mesh **meshes = NULL;
    ex_error error = {0};
    if (read_text("{" HEAD "," PARTS ", \"scans\": [{\"name\": \"a\", \"part\": \"arm\", \"files\": [\"one.obj\", "
                  "\"two.obj\"]}]}",
                  &s, &error) != EX_OK)
        fail_msg("%s", error.text);
    write_text("one.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    assert_int_equal(ex_scan_meshes(s, 0, &meshes, &error), EX_ERROR_FILE);
    assert_null(meshes);
    write_text("two.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    assert_int_equal(ex_scan_meshes(s, 0, &meshes, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "two.obj has 3 points and no faces");
    write_text("two.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 4 3\n");
    assert_int_equal(ex_scan_meshes(s, 0, &meshes, &error), EX_OK);
    assert_int_equal(meshes[0]->vertex_count, 3);
    assert_int_equal(meshes[1]->vertex_count, 4);
    ex_mesh_destroy(meshes[0]);
    ex_mesh_destroy(meshes[1]);
    free(meshes);
    ex_scan_session_destroy(s);
}

/* ---- memory ---- */

static ex_result attempt_read(void *context) {
    ex_scan_session *s = NULL;
    const ex_result result = ex_scan_session_read(context, &s, NULL);
    ex_scan_session_destroy(s);
    return result;
}

static ex_result attempt_write(void *context) {
    return ex_scan_session_write(context, NULL);
}

static void test_memory(void **state) {
    (void)state;
    ex_scan_session *s = NULL;
    ex_error error = {0};
    char folder[300];
    write_whole();
    if (read_text(whole, &s, &error) != EX_OK)
        fail_msg("%s", error.text);
    snprintf(folder, sizeof folder, "%s", scratch_path("."));
    assert_true(fail_alloc_sweep(attempt_read, folder) > 20);
    assert_true(fail_alloc_sweep(attempt_write, s) > 1);
    ex_scan_session_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_invalid, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_taken_names, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_defaults, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_parts, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_round_trip, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_shipped, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_markers, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_tables, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_meshes, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_memory, scratch_set_up, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
