/*
 * From a session to a body: at the pose of a scan it is the scan, between two scans half of both; overlapping parts add
 * their changes; the mirror image; dials; errors.
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

#include <exemplar/author/formats.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scanned.h"
#include "support/scratch.h"

/* The body of a session with its cage unchanged. */
static ex_rig *make_body(scanned *s, const scanned_def *def) {
    scanned_open(s, def);
    ex_scan_built_destroy(scanned_build(s, &scanned_as_is));
    return scanned_body();
}

/* Distance of the body from a surface. */
static double off(const scanned *s, const ex_rig *body, double left, double right, const float *surface) {
    float *positions = scanned_evaluate(s, body, left, right, NULL, 0);
    const double distance = scanned_distance(s, positions, surface);
    free(positions);
    return distance;
}

/* ---- one part ---- */

static void test_scans_come_back(void **state) {
    (void)state;
    scanned s;
    scanned_open(&s, &scanned_one);
    ex_scan_built *built = scanned_build(&s, &scanned_as_is);
    assert_int_equal(built->vertex_count, s.template->cage->vertex_count);
    assert_int_equal(built->face_count, s.template->cage->face_count);
    assert_int_equal(built->level, SCANNED_LEVEL);
    assert_int_equal(built->level_count, s.count);
    assert_int_equal(built->scan_count, 2);
    assert_int_equal(built->kept_count, 0);
    assert_near(built->refitted, 0, 0);
    for (int i = 0; i < 2; i++)
        assert_true(built->scans[i].hit > 0.9 && built->scans[i].rms > 0.001 && built->scans[i].rms < 0.02);
    ex_scan_built_destroy(built);
    ex_rig *body = scanned_body();
    /* The area of the part equals the scan, the rest the template. */
    for (int bent = 0; bent <= 60; bent += 30) { /* the swelling is proportional to the bend, so that between is half */
        float *truth = scanned_truth(&s, bent, 0), *at = scanned_evaluate(&s, body, bent, 0, NULL, 0), *plain, *n,
              *rest;
        scanned_plain(&s, bent, 0, &plain, &n, &rest);
        double inside = 0, outside = 0;
        for (int v = 0; v < s.count; v++)
            for (int c = 0; c < 3; c++) {
                const double x = (double)rest[3 * v], a = fabs((double)at[3 * v + c] - (double)truth[3 * v + c]);
                const double b = fabs((double)at[3 * v + c] - (double)plain[3 * v + c]);
                inside = x > -0.2 && x < 0.6 && a > inside ? a : inside;
                outside = x < -0.4 && b > outside ? b : outside;
            }
        assert_near(inside, 0, 1.5e-4); /* scans are slightly smoothed */
        assert_near(outside, 0, 1e-6);
        free(truth);
        free(at);
        free(plain);
        free(n);
        free(rest);
    }
    /* Multiples of ten degrees around all scans, as fractions of half a turn. */
    const ex_axis axis = ex_rig_input_axis(body, ex_rig_input_find(body, "elbow.L"));
    assert_near(axis.min, 0, 0);
    assert_near(axis.max, 60, 0);
    assert_near(axis.scale, 1.0 / 180, 1e-15);
    /* The files that the project names are there. */
    static const char *const files[] = {"maps/stand.ply", "maps/bent.ply", "changes/stand.ply", "changes/bent.ply",
                                        "masks/arm.txt",  "cage.obj",      "skeleton.glb",      "figure/girth.obj"};
    for (int i = 0; i < 8; i++) {
        size_t size;
        free(scratch_read(files[i], &size));
        assert_true(size > 0);
    }
    ex_rig_destroy(body);
    scanned_close(&s);
}

/* With only one part, the way of combining parts does not matter. */
static void test_alone(void **state) {
    (void)state;
    scanned_def mixed = scanned_one;
    scanned s;
    ex_rig *body = make_body(&s, &scanned_one);
    float *added[2] = {scanned_evaluate(&s, body, 60, 0, NULL, 0), scanned_evaluate(&s, body, 21, 0, NULL, 0)};
    ex_rig_destroy(body);
    scanned_close(&s);
    mixed.options = "\"add\": false, ";
    body = make_body(&s, &mixed);
    assert_near(off(&s, body, 60, 0, added[0]), 0, 1e-6);
    assert_near(off(&s, body, 21, 0, added[1]), 0, 1e-6);
    assert_int_equal(ex_rig_layer_count(body), 2); /* the part and the figure; no base */
    free(added[0]);
    free(added[1]);
    ex_rig_destroy(body);
    scanned_close(&s);
}

/* The template is moved nearer, and scans still come back. */
static void test_refitted(void **state) {
    (void)state;
    scanned s;
    scanned_open(&s, &scanned_one);
    ex_scan_built *built = scanned_build(&s, NULL);
    assert_true(built->refitted > 0.002);
    assert_true(built->remaining < 0.1 * built->refitted);
    for (int i = 0; i < 2; i++)
        assert_true(built->scans[i].hit > 0.8);
    ex_scan_built_destroy(built);
    ex_rig *body = scanned_body();
    /* Vertices may have moved along the surface: compare the distance from its axis, at the reference. */
    float *positions = scanned_evaluate(&s, body, 0, 0, NULL, 0);
    for (int v = 0; v < s.count; v++) {
        const double x = (double)positions[3 * v];
        const double radius = hypot((double)positions[3 * v + 1] - 1, (double)positions[3 * v + 2]);
        if (x > -0.1 && x < 0.5)
            assert_near(radius, 0.0722 + 0.004 * cos(12 * x), 4e-4);
    }
    free(positions);
    ex_rig_destroy(body);
    scanned_close(&s);
}

/* ---- two parts ---- */

static const scanned_def two = {
    .parts = scanned_both,
    .scans = {{"stand", "left", 0, 0}, {"bent", "left", 60, 0}, {"rest", "right", 0, 0}, {"other", "right", 0, 60}},
    .apart = true};

static void test_added(void **state) {
    (void)state;
    for (int add = 0; add < 2; add++) {
        scanned_def def = two;
        scanned s;
        def.options = add ? "" : "\"add\": false, ";
        ex_rig *body = make_body(&s, &def);
        float *at = scanned_evaluate(&s, body, 60, 60, NULL, 0), *truth = scanned_truth(&s, 60, 60);
        float *alone = scanned_evaluate(&s, body, 60, 0, NULL, 0), *left = scanned_truth(&s, 60, 0), *plain, *n, *rest;
        scanned_plain(&s, 60, 60, &plain, &n, &rest);
        double most = 0, one_sided = 0;
        int counted = 0;
        for (int v = 0; v < s.count; v++) {
            double d[2] = {0, 0};
            if (fabs((double)rest[3 * v]) > 0.01) /* the middle of the overlap */
                continue;
            for (int c = 0; c < 3; c++) {
                d[0] += pow((double)at[3 * v + c] - (double)truth[3 * v + c], 2);
                d[1] += pow((double)alone[3 * v + c] - (double)left[3 * v + c], 2);
            }
            most = sqrt(d[0]) > most ? sqrt(d[0]) : most;
            one_sided = sqrt(d[1]) > one_sided ? sqrt(d[1]) : one_sided;
            counted++;
        }
        assert_true(counted > 8);
        if (add) { /* both changes are complete there */
            assert_near(most, 0, 1.5e-4);
            assert_near(one_sided, 0, 1.5e-4);
        } else { /* half of each */
            assert_true(most > 0.003);
            assert_true(one_sided > 0.0015);
        }
        assert_int_equal(ex_rig_layer_count(body), add ? 4 : 3);
        free(at);
        free(truth);
        free(alone);
        free(left);
        free(plain);
        free(n);
        free(rest);
        ex_rig_destroy(body);
        scanned_close(&s);
    }
}

/* ---- scans of several parts ---- */

static int count_examples(const char *layer) {
    char *text = scratch_read("body.json", NULL), name[64];
    snprintf(name, sizeof name, "\"name\": \"%s\"", layer);
    const char *at = strstr(text, name), *end = at ? strstr(at, "\"shape\"") : NULL;
    const char *from = end ? strstr(end, "\"examples\"") : NULL, *stop = from ? strstr(from, "\n    }") : NULL;
    int count = 0;
    for (const char *p = from; p && (p = strstr(p, "\"map\"")) != NULL && (!stop || p < stop); p++)
        count++;
    free(text);
    return count;
}

static void test_several_parts(void **state) {
    (void)state;
    scanned s;
    scanned_open(&s, &scanned_shared);
    ex_scan_built *built = scanned_build(&s, &scanned_as_is);
    assert_int_equal(built->left_count, 0);
    ex_scan_built_destroy(built);
    ex_rig *body = scanned_body();
    for (int i = 0; i < 3; i++) { /* each scan comes back on both sides */
        float *truth = scanned_truth(&s, scanned_shared.scans[i].left, scanned_shared.scans[i].right);
        float *at = scanned_evaluate(&s, body, scanned_shared.scans[i].left, scanned_shared.scans[i].right, NULL, 0),
              *plain, *n, *rest;
        scanned_plain(&s, 0, 0, &plain, &n, &rest);
        double most[2] = {0};
        for (int v = 0; v < s.count; v++)
            for (int c = 0; c < 3; c++) {
                const double x = (double)rest[3 * v], a = fabs((double)at[3 * v + c] - (double)truth[3 * v + c]);
                if (fabs(x) > 0.25 && fabs(x) < 0.6 && a > most[x > 0])
                    most[x > 0] = a;
            }
        assert_near(most[0], 0, 2e-4);
        assert_near(most[1], 0, 2e-4);
        free(truth);
        free(at);
        free(plain);
        free(n);
        free(rest);
    }
    static const char *const files[] = {"maps/stand.left.ply", "maps/stand.right.ply", "changes/bent.right.ply"};
    for (int i = 0; i < 3; i++) {
        size_t size;
        free(scratch_read(files[i], &size));
        assert_true(size > 0);
    }
    ex_rig_destroy(body);
    scanned_close(&s);
}

/* A joint that is not determined leaves the scan out of its own part alone. */
static void test_open_joint(void **state) {
    (void)state;
    scanned s;
    scanned_open(&s, &scanned_shared);
    bool *opens = calloc(3 * SCANNED_JOINTS, sizeof *opens);
    assert_non_null(opens);
    opens[1 * SCANNED_JOINTS + SCANNED_RIGHT] = true;
    free(s.fitted->opens);
    s.fitted->opens = opens;
    ex_scan_built *built = scanned_build(&s, &scanned_as_is);
    assert_int_equal(built->left_count, 1);
    assert_int_equal(built->left_out[0].scan, 1);
    assert_int_equal(built->left_out[0].part, 1);
    assert_string_equal(built->left_out[0].text, "scan 'bent' is left out of part 'right': its markers do not "
                                                 "determine the pose of 'elbow.R'");
    assert_int_equal(count_examples("left"), 3);
    assert_int_equal(count_examples("right"), 2);
    ex_scan_built_destroy(built);
    /* Both: the scan is left out of both, and the others stay. */
    opens[1 * SCANNED_JOINTS + SCANNED_LEFT] = true;
    built = scanned_build(&s, &scanned_as_is);
    assert_int_equal(built->left_count, 2);
    assert_int_equal(count_examples("left"), 2);
    ex_scan_built_destroy(built);
    scanned_close(&s);
}

/* A part with joints of both sides covers the whole trunk. */
static void test_both_sides(void **state) {
    (void)state;
    static const scanned_def def = {
        .parts = "{\"name\": \"arms\", \"joints\": [\"elbow.L\", \"elbow.R\"], \"covers\": [\"hips\", \"elbow.L\", "
                 "\"tip.L\", \"elbow.R\", \"tip.R\"]}",
        .scans = {{"stand", "arms", 0, 0}, {"bent", "arms", 60, 20}}};
    scanned s;
    ex_rig *body = make_body(&s, &def);
    float *truth = scanned_truth(&s, 0, 0);
    assert_near(off(&s, body, 0, 0, truth), 0, 2.5e-4); /* everywhere, the trunk's right half included */
    free(truth);
    ex_rig_destroy(body);
    scanned_close(&s);
}

/* ---- the mirror image ---- */

/* The right side of this person is thicker by 6 mm. The body has that, and mirrored changes are added to it. */
static void test_uneven(void **state) {
    (void)state;
    scanned_def def = scanned_one;
    scanned s;
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    def.options = "\"mirror\": true, ";
    def.apart = false;
    scanned_open(&s, &def);
    if (ex_ply_read(scratch_path("stand.ply"), &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int v = 0; v < mesh->vertex_count; v++) {
        double *p = mesh->positions + 3 * v, t = p[0] < -0.1 ? 1 : p[0] > 0 ? 0 : -p[0] / 0.1;
        const double radius = hypot(p[1] - 1, p[2]), scale = (radius + 0.006 * t * t * (3 - 2 * t)) / radius;
        p[1] = 1 + (p[1] - 1) * scale;
        p[2] *= scale;
    }
    if (ex_ply_write(scratch_path("stand.ply"), mesh, EX_PLY_LITTLE_ENDIAN, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh_destroy(mesh);
    for (int refit = 0; refit < 2; refit++) {
        ex_scan_built_destroy(scanned_build(&s, refit ? NULL : &scanned_as_is));
        ex_rig *body = scanned_body();
        float *rest = scanned_evaluate(&s, body, 0, 0, NULL, 0);
        int counted = 0;
        for (int v = 0; v < s.count; v++) {
            const double x = (double)rest[3 * v];
            const double radius = hypot((double)rest[3 * v + 1] - 1, (double)rest[3 * v + 2]);
            if (fabs(x) < 0.15 || fabs(x) > 0.5)
                continue;
            assert_near(radius, 0.0722 + 0.004 * cos(12 * x) + (x < 0 ? 0.006 : 0), 6e-4);
            counted++;
        }
        assert_true(counted > 200);
        /* The right elbow bends as the left one does, 6 mm farther out. */
        float *left = scanned_evaluate(&s, body, 60, 0, NULL, 0), *right = scanned_evaluate(&s, body, 0, 60, NULL, 0);
        double swollen[2] = {0};
        int numbers[2] = {0};
        for (int v = 0; v < s.count; v++) {
            const double x = (double)rest[3 * v];
            if (fabs(x) < 0.16 || fabs(x) > 0.2) /* near the hips, where skin swells and hardly turns */
                continue;
            const float *at = x > 0 ? left + 3 * v : right + 3 * v;
            swollen[x > 0] +=
                hypot((double)at[1] - 1, (double)at[2]) - hypot((double)rest[3 * v + 1] - 1, (double)rest[3 * v + 2]);
            numbers[x > 0]++;
        }
        assert_true(numbers[0] > 8 && numbers[1] > 8);
        assert_true(swollen[1] / numbers[1] > 0.004);
        assert_near(swollen[0] / numbers[0], swollen[1] / numbers[1], 1e-3);
        free(rest);
        free(left);
        free(right);
        ex_rig_destroy(body);
    }
    scanned_close(&s);
}

static void test_mirrored(void **state) {
    (void)state;
    scanned_def def = scanned_one;
    scanned s;
    def.options = "\"mirror\": true, ";
    def.apart = false;
    ex_rig *body = make_body(&s, &def);
    float *left = scanned_evaluate(&s, body, 50, 0, NULL, 0), *right = scanned_evaluate(&s, body, 0, 50, NULL, 0);
    float *rest = scanned_evaluate(&s, body, 0, 0, NULL, 0);
    int found = 0;
    for (int v = 0; v < s.count; v++)
        for (int w = 0; w < s.count; w++) {
            const float *a = rest + 3 * v, *b = rest + 3 * w;
            if (fabs((double)(a[0] + b[0])) > 3e-4 || fabs((double)(a[1] - b[1])) > 3e-4 ||
                fabs((double)(a[2] - b[2])) > 3e-4)
                continue;
            const double image[3] = {-(double)left[3 * v], (double)left[3 * v + 1], (double)left[3 * v + 2]};
            assert_row_near(
                ((const double[3]){(double)right[3 * w], (double)right[3 * w + 1], (double)right[3 * w + 2]}), image, 3,
                2e-4); /* the reference is measured on both sides */
            found++;
        }
    assert_int_equal(found, s.count);
    assert_true(scanned_distance(&s, left, rest) > 0.1);
    assert_string_equal(ex_rig_layer_name(body, 2), "arm.R");
    /* Each side has its own half of the trunk. */
    char *mask = scratch_read("masks/arm.txt", NULL);
    int lines = 0;
    for (char *line = mask; *line; line = strchr(line, '\n') + 1, lines++) {
        const long v = strtol(line, NULL, 10);
        assert_true(v >= 0 && v < s.count && (double)rest[3 * v] > -1e-5);
    }
    assert_true(lines > s.count / 3 && lines < 2 * s.count / 3);
    free(mask);
    free(left);
    free(right);
    free(rest);
    ex_rig_destroy(body);
    scanned_close(&s);
}

/* ---- dials ---- */

static void test_dials(void **state) {
    (void)state;
    scanned s;
    ex_rig *body = make_body(&s, &scanned_one);
    float *rest = scanned_evaluate(&s, body, 0, 0, NULL, 0), *thick = scanned_evaluate(&s, body, 0, 0, "girth", 0.25);
    float *lengthened = scanned_evaluate(&s, body, 0, 0, "elbow.length", 0.05);
    for (int v = 0; v < s.count; v++) {
        const double x = (double)rest[3 * v];
        if (x < 0.41 || x > 0.47)
            continue;
        /* The template is a quarter thicker; the scans' contribution is unchanged. */
        const float *a = rest + 3 * v, *b = thick + 3 * v;
        const double before = hypot((double)a[1] - 1, (double)a[2]), after = hypot((double)b[1] - 1, (double)b[2]);
        const double skin = scanned_skin(a, 0, 0);
        assert_near(after - skin, 1.25 * (before - skin), 5e-4);
    }
    double reach[2] = {0, 0};
    for (int v = 0; v < s.count; v++) {
        reach[0] = (double)rest[3 * v] > reach[0] ? (double)rest[3 * v] : reach[0];
        reach[1] = (double)lengthened[3 * v] > reach[1] ? (double)lengthened[3 * v] : reach[1];
    }
    assert_near(reach[1] - reach[0], 0.05, 1e-5);
    /* The joint has moved along: a bent forearm is unchanged, farther out. */
    float *bent = scanned_evaluate(&s, body, 60, 0, NULL, 0);
    float *farther = scanned_evaluate(&s, body, 60, 0, "elbow.length", 0.05);
    int counted = 0;
    for (int v = 0; v < s.count; v++) {
        if ((double)rest[3 * v] < 0.42)
            continue;
        assert_near((double)farther[3 * v] - (double)bent[3 * v], 0.05, 1e-4);
        assert_near((double)farther[3 * v + 1], (double)bent[3 * v + 1], 1e-4);
        counted++;
    }
    assert_true(counted > 100);
    free(rest);
    free(thick);
    free(lengthened);
    free(bent);
    free(farther);
    ex_rig_destroy(body);
    scanned_close(&s);
}

/* ---- errors ---- */

static void test_refused(void **state) {
    (void)state;
    scanned s;
    scanned_open(&s, &two);
    /* A part without a scan whose pose is known. */
    s.fitted->names[2][0] = s.fitted->names[3][0] = 'x';
    scanned_refuse(&s, &scanned_as_is, EX_ERROR_DATA, "part 'right'");
    scanned_refuse(&s, NULL, EX_ERROR_DATA, "part 'right'");
    s.fitted->names[2][0] = 'r';
    s.fitted->names[3][0] = 'o';
    /* Two scans with the same pose. */
    double bent[4];
    memcpy(bent, s.fitted->poses[1].rotations[SCANNED_LEFT], sizeof bent);
    memcpy(s.fitted->poses[1].rotations[SCANNED_LEFT], (const double[4]){0, 0, 0, -1}, sizeof bent);
    scanned_refuse(&s, &scanned_as_is, EX_ERROR_DATA, "scans 'stand' and 'bent' of part 'left' have the same pose");
    memcpy(s.fitted->poses[1].rotations[SCANNED_LEFT], bent, sizeof bent);
    /* A scan at another place. */
    s.fitted->poses[1].translation[0] += 3;
    scanned_refuse(&s, &scanned_as_is, EX_ERROR_DATA, "scan 'bent' shows nothing of part 'left'");
    s.fitted->poses[1].translation[0] -= 3;
    scanned_close(&s);
    /* A template of another skeleton. */
    scanned_open(&s, &scanned_one);
    ex_kinematics *kinematics = s.fitted->kinematics;
    free(kinematics->joints[4].name);
    kinematics->joint_count = 4;
    scanned_refuse(&s, &scanned_as_is, EX_ERROR_DATA, "5 joints, but the fit has 4");
    scanned_close(&s);
    scanned_open(&s, &scanned_one);
    assert_int_equal(remove(scratch_path("template/cage.obj")), 0);
    scanned_refuse(&s, &scanned_as_is, EX_ERROR_FILE, "cage.obj");
    scanned_close(&s);
    scanned_open(&s, &scanned_one);
    assert_int_equal(remove(scratch_path("bent.ply")), 0);
    scanned_refuse(&s, &scanned_as_is, EX_ERROR_FILE, "bent.ply");
    scanned_close(&s);
    ex_scan_built_destroy(NULL);
}

/* Scans that do not show a bone where the cage has it: what is built would be no body. */
static void test_unseen_bone(void **state) {
    (void)state;
    scanned_def def = scanned_one;
    scanned s;
    scanned_open(&s, &def);
    for (int i = 0; i < 2; i++) {
        ex_mesh *mesh = NULL;
        ex_error error = {0};
        const char *path = scratch_path(i ? "bent.ply" : "stand.ply");
        if (ex_ply_read(path, &mesh, &error) != EX_OK)
            fail_msg("%s", error.text);
        for (int v = 0; v < mesh->vertex_count; v++) /* the arm is somewhere else */
            mesh->positions[3 * v + 2] += mesh->positions[3 * v] > 0.3 || mesh->positions[3 * v + 1] > 1.2 ? 3 : 0;
        if (ex_ply_write(path, mesh, EX_PLY_LITTLE_ENDIAN, &error) != EX_OK)
            fail_msg("%s", error.text);
        ex_mesh_destroy(mesh);
    }
    scanned_refuse(&s, &scanned_as_is, EX_ERROR_DATA, "no scan of part 'arm' shows the bone of 'tip.L'");
    scanned_close(&s);
}

/* A reference scan with the arm beside the cage, out of reach of its rays: the surface would stick out of the person.
 */
static void test_no_body(void **state) {
    (void)state;
    scanned s;
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    scanned_open(&s, &scanned_one);
    if (ex_ply_read(scratch_path("stand.ply"), &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int v = 0; v < mesh->vertex_count; v++)
        mesh->positions[3 * v + 2] += mesh->positions[3 * v] > 0.3 ? 0.3 : 0;
    if (ex_ply_write(scratch_path("stand.ply"), mesh, EX_PLY_LITTLE_ENDIAN, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh_destroy(mesh);
    scanned_refuse(&s, &scanned_as_is, EX_ERROR_DATA, "this is no body");
    scanned_close(&s);
}

/* ---- memory ---- */

static ex_result attempt_build(void *context) {
    const scanned *s = context;
    ex_scan_built *built = NULL;
    remove(scratch_path("cage.obj")); /* one that cannot be read is written again, also if out of memory */
    const ex_result result =
        ex_scan_build(s->session, s->fitted, &(ex_scan_build_options){.force = true}, &built, NULL);
    ex_scan_built_destroy(built);
    return result;
}

static ex_result attempt_measure(void *context) {
    const scanned *s = context;
    ex_scan_report report;
    return ex_scan_measure(s->session, s->fitted, NULL, NULL, &report, NULL);
}

/* Some of more than a thousand allocations; other tests cover each part. */
static void test_memory(void **state) {
    (void)state;
    static const struct {
        ex_result (*attempt)(void *);
        int step;
    } ways[] = {{attempt_build, 401}, {attempt_measure, 173}};
    scanned_def def = scanned_one;
    scanned s;
    def.options = "\"mirror\": true, ";
    def.apart = false;
    scanned_open(&s, &def);
    for (int w = 0; w < 2; w++)
        for (int n = 1;; n += ways[w].step) {
            fail_alloc_arm(n);
            const ex_result result = ways[w].attempt(&s);
            const bool reached = fail_alloc_reached();
            fail_alloc_arm(0);
            assert_int_equal(result, reached ? EX_ERROR_MEMORY : EX_OK);
            if (!reached)
                break;
        }
    scanned_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_scans_come_back, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_alone, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_refitted, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_added, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_mirrored, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_several_parts, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_open_joint, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_both_sides, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_uneven, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_dials, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_refused, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_unseen_bone, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_no_body, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_memory, scratch_set_up, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
