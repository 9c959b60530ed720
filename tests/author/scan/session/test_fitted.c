/* fit.json: round trips, to the last digit except for angles of hinges; errors are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/scan.h>

#include "runtime/base/vector.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

enum { JOINTS = 4, SCANS = 3 };

static void write_text(const char *name, const char *text) {
    scratch_write(name, text, strlen(text));
}

#define JOINT_LIST                                                                                                     \
    "{\"name\": \"hips\", \"joint\": \"base\", \"translation\": [0, 1, 0]},"                                           \
    "{\"name\": \"shoulder\", \"parent\": \"hips\", \"joint\": \"ball\", \"translation\": [0.2, 0, 0]},"               \
    "{\"name\": \"elbow\", \"parent\": \"shoulder\", \"joint\": \"hinge\", \"translation\": [0.3, 0, 0],"              \
    " \"axis\": [0, 0.6, -0.8]},"                                                                                      \
    "{\"name\": \"tip\", \"parent\": \"elbow\", \"joint\": \"fixed\", \"translation\": [0.2, 0, 0]}"
#define SKELETON "{\"exemplar_skeleton\": 1, \"name\": \"limb\", \"joints\": [" JOINT_LIST "]}"

static ex_kinematics *make_kinematics(void) {
    static const char text[] =
        "{\"exemplar_skeleton\": 1, \"name\": \"limb\", \"joints\": [" JOINT_LIST "],"
        "\"markers\": [{\"name\": \"m\", \"joint\": \"elbow\", \"at\": [0.1, 0.02, 0.03], \"colour\": [1, 2, 3]},"
        "{\"name\": \"n\", \"joint\": \"hips\"}]}";
    ex_kinematics *kinematics = NULL;
    ex_error error = {0};
    if (ex_kinematics_parse(text, strlen(text), "limb", &kinematics, &error) != EX_OK)
        fail_msg("%s", error.text);
    return kinematics;
}

/* Random poses: bases anywhere, balls and hinges turned by anything; the first not at all. */
typedef struct fit_case {
    ex_scan_fitted fitted;
    char *names[SCANS];
    ex_kin_pose poses[SCANS];
    double rotations[SCANS][JOINTS][4], rms[SCANS];
} fit_case;

static void open_case(fit_case *c) {
    uint64_t random = 4;
    *c = (fit_case){.names = {"stand", "arm 1", "\xC3\xA4rm"}, .rms = {0, 0.00123456789012345, NAN}};
    c->fitted = (ex_scan_fitted){
        .kinematics = make_kinematics(), .scan_count = SCANS, .names = c->names, .poses = c->poses, .rms = c->rms};
    for (int i = 0; i < SCANS; i++) {
        c->poses[i].rotations = c->rotations[i];
        for (int j = 0; j < JOINTS; j++) {
            double *q = c->rotations[i][j];
            q[3] = 1;
            if (i == 0 || j == 3)
                continue;
            const double half = random_between(&random, -3.1, 3.1);
            if (j == 2) {
                for (int k = 0; k < 3; k++)
                    q[k] = sin(half) * c->fitted.kinematics->joints[2].axis[k];
                q[3] = cos(half);
            } else {
                for (int k = 0; k < 4; k++)
                    q[k] = random_between(&random, -1, 1);
                exi_normalise(q, 4);
            }
        }
        for (int k = 0; k < 3; k++)
            c->poses[i].translation[k] = random_between(&random, -2, 2);
    }
}

static void test_round_trip(void **state) {
    (void)state;
    fit_case c;
    ex_scan_fitted *read = NULL;
    ex_error error = {0};
    open_case(&c);
    /* The reference stands otherwise than the skeleton, and a scan does not fit. */
    double neutral[JOINTS][4] = {{0, 0, 0, 1}, {0, 0.6, 0, 0.8}, {0, 0, 0, 1}, {0, 0, 0, 1}};
    char *left = (char *)"guest", *why = (char *)"another person";
    c.fitted.neutral = neutral;
    c.fitted.left_count = 1;
    c.fitted.left_names = &left;
    c.fitted.left_reasons = &why;
    assert_int_equal(ex_scan_fitted_write(scratch_path("fit.json"), &c.fitted, &error), EX_OK);
    if (ex_scan_fitted_read(scratch_path("fit.json"), &read, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(read->scan_count, SCANS);
    assert_int_equal(read->left_count, 1);
    assert_string_equal(read->left_names[0], "guest");
    assert_string_equal(read->left_reasons[0], "another person");
    for (int j = 0; j < JOINTS; j++)
        assert_row_near(read->neutral[j], neutral[j], 4, 1e-15);
    /* In frames of the neutral pose, joints and scans are at the same places. */
    ex_scan_fitted *plain = NULL;
    assert_int_equal(ex_scan_fitted_neutral(read, &plain, &error), EX_OK);
    for (int i = 0; i < SCANS; i++) {
        double a[JOINTS][3], b[JOINTS][3];
        ex_kin_frames(read->kinematics, &read->poses[i], NULL, a);
        ex_kin_frames(plain->kinematics, &plain->poses[i], NULL, b);
        for (int j = 0; j < JOINTS; j++)
            assert_row_near(a[j], b[j], 3, 1e-12);
    }
    assert_near(fabs(plain->poses[0].rotations[1][1]), 0.6, 1e-12); /* the first scan has no joint turned */
    ex_scan_fitted_destroy(plain);
    for (int i = 0; i < SCANS; i++) {
        assert_string_equal(read->names[i], c.names[i]);
        assert_row_near(read->poses[i].translation, c.poses[i].translation, 3, 0);
        assert_near(read->rms[i], i == 1 ? c.rms[1] : 0, 0); /* unknown values are 0 */
        for (int j = 0; j < JOINTS; j++) {
            const double *a = read->poses[i].rotations[j], *b = c.rotations[i][j];
            const double sign = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1;
            assert_row_near(a, ((const double[4]){sign * b[0], sign * b[1], sign * b[2], sign * b[3]}), 4, 1e-14);
        }
    }
    const ex_kinematics *a = read->kinematics, *b = c.fitted.kinematics;
    assert_int_equal(a->joint_count, JOINTS);
    assert_int_equal(a->site_count, 2);
    for (int j = 0; j < JOINTS; j++) {
        assert_string_equal(a->joints[j].name, b->joints[j].name);
        assert_int_equal(a->joints[j].freedom, b->joints[j].freedom);
        assert_row_near(a->joints[j].translation, b->joints[j].translation, 3, 0);
        assert_row_near(a->joints[j].axis, b->joints[j].axis, 3, 1e-15);
    }
    assert_row_near(a->sites[0].local, b->sites[0].local, 3, 0);
    assert_true(a->sites[0].placed);
    assert_false(a->sites[1].placed);
    /* Written again it is the same file. */
    size_t size[2];
    assert_int_equal(ex_scan_fitted_write(scratch_path("again.json"), read, &error), EX_OK);
    ex_scan_fitted_destroy(read);
    assert_int_equal(ex_scan_fitted_read(scratch_path("again.json"), &read, &error), EX_OK);
    assert_int_equal(ex_scan_fitted_write(scratch_path("third.json"), read, &error), EX_OK);
    char *second = scratch_read("again.json", &size[0]), *third = scratch_read("third.json", &size[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(second, third, size[0]);
    free(second);
    free(third);
    ex_scan_fitted_destroy(read);
    ex_kinematics_destroy(c.fitted.kinematics);
}

static void test_invalid(void **state) {
    static const struct {
        const char *text, *word, *second;
        ex_result result;
    } cases[] = {
        {"[3]", "fit.json", "object", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON "}", "fit.json", "scans: missing", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"scans\": []}", "fit.json", "skeleton: missing", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 2, \"skeleton\": " SKELETON ", \"scans\": []}", "exemplar_fit", "reads version 1",
         EX_ERROR_VERSION},
        {"{\"exemplar_fit\": 1, \"skeleton\": 3, \"scans\": []}", "skeleton", "object", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON ", \"scans\": [], \"x\": 1}", "fit.json", "x: unknown",
         EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON ", \"scans\": []}", "scans", "at least one", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON ", \"scans\": [1]}", "scans[0]", "object", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON ", \"scans\": [{\"name\": \"a\", \"pose\": {}}]}",
         "scans[0].base", "missing", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON ", \"scans\": [{\"name\": \"a\", \"base\": [1, 2], \"pose\": "
         "{}}]}",
         "scans[0].base", "three", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON ", \"scans\": [{\"name\": \"a\", \"base\": [1, 2, \"x\"], "
         "\"pose\": {}}]}",
         "scans[0].base[2]", "number", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON ", \"scans\": [{\"name\": \"a\", \"base\": [1, 2, 3], "
         "\"pose\": []}]}",
         "scans[0].pose", "object", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON ", \"scans\": [{\"name\": \"a\", \"base\": [1, 2, 3], "
         "\"pose\": {\"knee\": 1}}]}",
         "scans[0].pose", "'knee'", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON ", \"scans\": [{\"name\": \"a\", \"base\": [1, 2, 3], "
         "\"pose\": {\"tip\": 1}}]}",
         "tip", "fixed", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON ", \"scans\": [{\"name\": \"a\", \"base\": [1, 2, 3], "
         "\"pose\": {}, \"rms\": \"low\"}]}",
         "scans[0]", "rms", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON ", \"scans\": [{\"name\": 1, \"base\": [1, 2, 3], \"pose\": "
         "{}}]}",
         "scans[0].name", "text", EX_ERROR_DATA},
        {"{\"exemplar_fit\": 1, \"skeleton\": " SKELETON ", \"scans\": [{\"name\": \"a\", \"base\": [1, 2, 3], "
         "\"pose\": {}}, {\"name\": \"a\", \"base\": [1, 2, 3], \"pose\": {}}]}",
         "scans[1].name", "already a scan 'a'", EX_ERROR_DATA},
    };
    (void)state;
    size_t right = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ex_scan_fitted *fitted = (ex_scan_fitted *)&fitted;
        ex_error error = {0};
        write_text("fit.json", cases[i].text);
        const ex_result result = ex_scan_fitted_read(scratch_path("fit.json"), &fitted, &error);
        if (result != cases[i].result || !strstr(error.text, cases[i].word) || !strstr(error.text, cases[i].second))
            print_error("case %d: result %d, '%s' has no '%s' or '%s'\n", (int)i, (int)result, error.text,
                        cases[i].word, cases[i].second);
        else
            right++;
        assert_null(fitted);
    }
    assert_int_equal(right, sizeof cases / sizeof cases[0]);
    ex_scan_fitted *fitted = NULL;
    ex_error error = {0};
    assert_int_equal(ex_scan_fitted_read(scratch_path("none.json"), &fitted, &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "none.json");
    ex_scan_fitted_destroy(NULL);
}

/* ---- memory ---- */

static ex_result attempt_read(void *context) {
    ex_scan_fitted *fitted = NULL;
    const ex_result result = ex_scan_fitted_read(context, &fitted, NULL);
    ex_scan_fitted_destroy(fitted);
    return result;
}

typedef struct written {
    const char *path;
    const ex_scan_fitted *fitted;
} written;

static ex_result attempt_write(void *context) {
    const written *w = context;
    return ex_scan_fitted_write(w->path, w->fitted, NULL);
}

static void test_memory(void **state) {
    (void)state;
    fit_case c;
    ex_error error = {0};
    char path[300];
    open_case(&c);
    snprintf(path, sizeof path, "%s", scratch_path("fit.json"));
    assert_int_equal(ex_scan_fitted_write(path, &c.fitted, &error), EX_OK);
    assert_true(fail_alloc_sweep(attempt_read, path) > 20);
    assert_true(fail_alloc_sweep(attempt_write, &(written){path, &c.fitted}) > 0);
    ex_kinematics_destroy(c.fitted.kinematics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_invalid, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_memory, scratch_set_up, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
