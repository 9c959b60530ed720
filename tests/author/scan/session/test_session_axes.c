/*
 * Unit and up axis of a session: six axes are proper rotations; points come back; keys are read, written and refused;
 * labels of a whole body tell unit and axis, and so does a person's shape; points get a surface that faces out; large
 * meshes become small ones of the same form.
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

#include "author/base/array.h"
#include "author/scan/session/session.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

static const char *const ups[] = {"x", "y", "z", "-x", "-y", "-z"};
enum { UPS = 6 };

static void write_text(const char *name, const char *text) {
    scratch_write(name, text, strlen(text));
}

/* ---- conversion ---- */

static void test_turns(void **state) {
    (void)state;
    for (int u = 0; u < UPS; u++) {
        const int axis = ups[u][strlen(ups[u]) - 1] - 'x';
        double m[3][3], up[3] = {0};
        exi_scan_turn(ups[u], m);
        assert_near(m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                        m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                        m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]),
                    1, 0);
        up[axis] = ups[u][0] == '-' ? -1 : 1;
        ex_scan_session s = {.unit = 0.0254};
        memcpy(s.up, ups[u], strlen(ups[u]) + 1);
        double p[3] = {up[0] * 100, up[1] * 100, up[2] * 100};
        ex_scan_from_files(&s, p);
        assert_near(p[0], 0, 1e-15);
        assert_near(p[1], 2.54, 1e-12);
        assert_near(p[2], 0, 1e-15);
        double q[3] = {1, 2, 3};
        ex_scan_to_files(&s, q);
        ex_scan_from_files(&s, q);
        for (int c = 0; c < 3; c++)
            assert_near(q[c], c + 1, 1e-12);
    }
}

/* Rows keep the unit of their file; size of markers too. */
static void test_tables(void **state) {
    (void)state;
    const ex_scan_session s = {.unit = 0.01, .up = "z"};
    ex_labelled *labels = NULL;
    ex_found_marker *found = NULL;
    int count = 0;
    char *text = NULL;
    size_t size = 0;
    ex_error error = {0};
    write_text("l.csv", "marker,x,y,z,confidence\na,10,20,170,\n");
    assert_int_equal(ex_scan_labels_read(&s, scratch_path("l.csv"), &labels, &count, &error), EX_OK);
    assert_near(labels[0].position[0], 0.1, 1e-9);
    assert_near(labels[0].position[1], 1.7, 1e-9);
    assert_near(labels[0].position[2], -0.2, 1e-9);
    assert_int_equal(ex_scan_labels_write(&s, scratch_path("m.csv"), labels, count, &error), EX_OK);
    assert_int_equal(ex_file_read(scratch_path("m.csv"), &text, &size, &error), EX_OK);
    assert_non_null(strstr(text, "a,10,20,170,\n"));
    free(text);
    ex_labels_free(labels, count);
    write_text("f.csv", "x,y,z,r,g,b,size,view,strength\n10,20,170,1,2,3,1.2,0,0.5\n");
    assert_int_equal(ex_scan_found_read(&s, scratch_path("f.csv"), &found, &count, &error), EX_OK);
    assert_near(found[0].position[1], 1.7, 1e-9);
    assert_near(found[0].size, 0.012, 1e-9);
    assert_int_equal(ex_scan_found_write(&s, scratch_path("g.csv"), found, count, &error), EX_OK);
    assert_int_equal(ex_file_read(scratch_path("g.csv"), &text, &size, &error), EX_OK);
    assert_non_null(strstr(text, "10,20,170,1,2,3,1.2,0,0.5\n"));
    free(text);
    free(found);
}

/* ---- keys ---- */

#define SESSION(keys)                                                                                                  \
    "{\"exemplar_scan\": 1, \"skeleton\": \"full\", \"reference\": \"a\", " keys                                       \
    "\"scans\": [{\"name\": \"a\", \"files\": [\"a.ply\"]}]}"

static ex_result read_session(const char *text, ex_scan_session **session, ex_error *error) {
    write_text("scan.json", text);
    return ex_scan_session_read(scratch_path("."), session, error);
}

static void test_keys(void **state) {
    (void)state;
    static const struct {
        const char *text, *word;
    } wrong[] = {{SESSION("\"unit\": \"yd\","), "unit: "},
                 {SESSION("\"unit\": -1,"), "unit: "},
                 {SESSION("\"up\": \"w\","), "up: "},
                 {SESSION("\"up\": 2,"), "up: "},
                 {SESSION("\"points\": -1,"), "points: "}};
    ex_scan_session *s = NULL;
    ex_error error = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(read_session(wrong[i].text, &s, &error), EX_ERROR_DATA);
        assert_sentence(&error, EX_ERROR_DATA, wrong[i].word);
    }
    assert_int_equal(read_session(SESSION("\"unit\": \"in\", \"up\": \"-z\", \"points\": 5000,"), &s, &error), EX_OK);
    for (int again = 0; again < 2; again++) { /* written and read */
        assert_near(s->unit, 0.0254, 1e-12);
        assert_string_equal(s->up, "-z");
        assert_false(s->unit_found || s->up_found);
        assert_int_equal(s->points, 5000);
        if (again == 0) {
            assert_int_equal(ex_scan_session_write(s, &error), EX_OK);
            ex_scan_session_destroy(s);
            assert_int_equal(ex_scan_session_read(scratch_path("."), &s, &error), EX_OK);
        }
    }
    ex_scan_session_destroy(s);
    assert_int_equal(read_session(SESSION("\"unit\": \"auto\", \"up\": \"auto\","), &s, &error), EX_OK);
    assert_near(s->unit, 1, 0); /* nothing tells */
    assert_string_equal(s->up, "y");
    assert_true(s->unit_found && s->up_found);
    assert_int_equal(s->points, EX_SCAN_POINTS);
    ex_scan_session_destroy(s);
}

/* ---- names ---- */

/* A marker at each joint of the whole body, 1.2 times as large as a usual one, facing anywhere. */
static void write_labels(double metres, const char *up, double yaw) {
    ex_kinematics *k = NULL;
    ex_scan_session s = {.unit = metres};
    static char table[8192], labels[8192];
    int t = snprintf(table, sizeof table, "marker,joint\n"), l = snprintf(labels, sizeof labels, "marker,x,y,z\n");
    double places[64][3], rotations[64][4] = {{0}};
    memcpy(s.up, up, strlen(up) + 1);
    assert_int_equal(ex_kinematics_read("full", &k, NULL), EX_OK);
    for (int j = 0; j < k->joint_count; j++)
        rotations[j][3] = 1;
    const ex_kin_pose pose = {.rotations = rotations};
    ex_kin_frames(k, &pose, NULL, places);
    for (int j = 0; j < k->joint_count; j++) {
        const double x = 1.2 * places[j][0], z = 1.2 * places[j][2];
        double p[3] = {x * cos(yaw) + z * sin(yaw), 1.2 * places[j][1], z * cos(yaw) - x * sin(yaw)};
        ex_scan_to_files(&s, p);
        t += snprintf(table + t, sizeof table - (size_t)t, "m%d,%s\n", j, k->joints[j].name);
        l += snprintf(labels + l, sizeof labels - (size_t)l, "m%d,%.6f,%.6f,%.6f\n", j, p[0], p[1], p[2]);
    }
    write_text("markers.csv", table);
    write_text("labels/a.csv", labels);
    ex_kinematics_destroy(k);
}

static void test_names(void **state) {
    (void)state;
    static const double metres[] = {1, 0.01, 0.001, 0.0254};
    ex_scan_session *s = NULL;
    ex_error error = {0};
    assert_int_equal(ex_make_directory(scratch_path("labels"), &error), EX_OK);
    for (int u = 0; u < UPS; u++)
        for (int m = 0; m < 4; m++) {
            write_labels(metres[m], ups[u], 0.7 * u);
            assert_int_equal(read_session(SESSION("\"markers\": \"markers.csv\","), &s, &error), EX_OK);
            assert_near(s->unit, metres[m], 1e-12);
            assert_string_equal(s->up, ups[u]);
            assert_string_equal(s->axes_from, "labels/a.csv");
            ex_scan_session_destroy(s);
        }
    /* The session says one of them. */
    assert_int_equal(read_session(SESSION("\"markers\": \"markers.csv\", \"unit\": \"m\","), &s, &error), EX_OK);
    assert_near(s->unit, 1, 0);
    assert_string_equal(s->up, "-z");
    ex_scan_session_destroy(s);
}

static ex_result attempt_names(void *context) {
    ex_scan_session *s = NULL;
    (void)context;
    const ex_result result = ex_scan_session_read(scratch_path("."), &s, NULL);
    ex_scan_session_destroy(s);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    assert_int_equal(ex_make_directory(scratch_path("labels"), NULL), EX_OK);
    write_labels(0.01, "z", 0);
    write_text("scan.json", SESSION("\"markers\": \"markers.csv\","));
    assert_true(fail_alloc_sweep(attempt_names, NULL) > 10);
}

/* ---- points ---- */

/* Points evenly on a sphere of radius 1 (a spiral of the golden angle). */
static ex_mesh *make_sphere(int count) {
    ex_mesh *mesh = ex_mesh_create();
    mesh->vertex_count = count;
    mesh->positions = exi_array_allocate(3 * (size_t)count, sizeof *mesh->positions);
    for (int i = 0; i < count; i++) {
        const double y = 1 - (2 * i + 1.0) / count, r = sqrt(1 - y * y), angle = 2.399963229728653 * i;
        mesh->positions[3 * i] = 5 + r * cos(angle);
        mesh->positions[3 * i + 1] = y;
        mesh->positions[3 * i + 2] = r * sin(angle);
    }
    return mesh;
}

/* Area of all triangles, and the part of it that faces out. */
static double measure_area(const ex_mesh *mesh, double *out) {
    double sum = 0;
    *out = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        const double *p[3];
        double a[3], b[3];
        for (int k = 0; k < 3; k++)
            p[k] = mesh->positions + 3 * (size_t)mesh->corners[mesh->face_offsets[f] + k];
        for (int c = 0; c < 3; c++) {
            a[c] = p[1][c] - p[0][c];
            b[c] = p[2][c] - p[0][c];
        }
        const double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
        const double area = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
        sum += area;
        *out += n[0] * (p[0][0] - 5) + n[1] * p[0][1] + n[2] * p[0][2] > 0 ? area : 0;
    }
    return sum;
}

static void test_points(void **state) {
    (void)state;
    const double whole = 4 * 3.14159265358979;
    for (int own = 0; own < 2; own++) { /* with normals that point in, and without */
        ex_mesh *mesh = make_sphere(4000);
        double out;
        if (own) {
            mesh->normals = exi_array_allocate(3 * 4000, sizeof *mesh->normals);
            mesh->normal_count = 4000;
            for (int i = 0; i < 3 * 4000; i++)
                mesh->normals[i] = (i % 3 == 0 ? 5 : 0) - mesh->positions[i];
        }
        assert_int_equal(exi_scan_mesh_points(mesh, 0, NULL), EX_OK);
        assert_near(measure_area(mesh, &out), whole, 0.03 * whole);
        assert_near(out, own ? 0 : whole, 0.03 * whole);
        ex_mesh_destroy(mesh);
    }
    ex_mesh *few = make_sphere(7);
    ex_error error = {0};
    assert_int_equal(exi_scan_mesh_points(few, 0, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "its 7 points are too few");
    ex_mesh_destroy(few);
}

static void test_thin(void **state) {
    (void)state;
    const double whole = 4 * 3.14159265358979;
    ex_mesh *mesh = make_sphere(20000);
    double out, spacing = 0, most = 0;
    assert_int_equal(exi_scan_mesh_points(mesh, 0, NULL), EX_OK);
    assert_int_equal(ex_scan_thin(&mesh, 1, 20000, &spacing, NULL), EX_OK);
    assert_int_equal(mesh->vertex_count, 20000); /* few enough */
    assert_near(spacing, 0, 0);
    assert_int_equal(ex_scan_thin(&mesh, 1, 3000, &spacing, NULL), EX_OK);
    assert_true(mesh->vertex_count <= 3000 && mesh->vertex_count > 1800);
    assert_near(measure_area(mesh, &out), whole, 0.05 * whole);
    assert_true(out > 0.97 * whole * 0.95);
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double *p = mesh->positions + 3 * (size_t)v;
        most = fmax(most, fabs(sqrt((p[0] - 5) * (p[0] - 5) + p[1] * p[1] + p[2] * p[2]) - 1));
    }
    assert_true(most < spacing * spacing / 2);
    ex_mesh_destroy(mesh);
}

static ex_result attempt_points(void *context) {
    ex_mesh *mesh = ex_mesh_copy(context);
    ex_result result = mesh ? exi_scan_mesh_points(mesh, 60, NULL) : EX_ERROR_MEMORY;
    if (result == EX_OK)
        result = ex_scan_thin(&mesh, 1, 40, NULL, NULL);
    ex_mesh_destroy(mesh);
    return result;
}

static void test_points_memory(void **state) {
    (void)state;
    ex_mesh *mesh = make_sphere(100);
    assert_true(fail_alloc_sweep(attempt_points, mesh) > 10);
    ex_mesh_destroy(mesh);
}

/* ---- shape ---- */

/* A person of boxes: legs apart, feet, a trunk, a head, arms out; with or without a floor. */
static void write_shape(const ex_scan_session *s, bool with_floor) {
    static const double boxes[][6] = {{-0.2, -0.05, 0, 0.12, -0.08, 0.2},   {0.05, 0.2, 0, 0.12, -0.08, 0.2},
                                      {-0.2, -0.05, 0.1, 0.9, -0.08, 0.08}, {0.05, 0.2, 0.1, 0.9, -0.08, 0.08},
                                      {-0.22, 0.22, 0.9, 1.45, -0.1, 0.1},  {-0.08, 0.08, 1.45, 1.75, -0.1, 0.1},
                                      {-0.85, 0.85, 1.3, 1.4, -0.05, 0.05}, {-1.5, 1.5, -0.001, 0, -1.5, 1.5}};
    static char text[1 << 20];
    int size = 0;
    for (int b = 0; b < (with_floor ? 8 : 7); b++)
        for (int i = 0; i < (b == 7 ? 2000 : 600); i++) { /* on the faces of the box */
            double p[3];
            for (int c = 0; c < 3; c++) {
                const double share = fmod((i + 1) * (c == 0 ? 0.7548776662 : c == 1 ? 0.5698402910 : 0.4142135624), 1);
                p[c] = boxes[b][2 * c] +
                       (boxes[b][2 * c + 1] - boxes[b][2 * c]) * (i % 3 == c ? (double)(i / 3 % 2) : share);
            }
            ex_scan_to_files(s, p);
            size += snprintf(text + size, sizeof text - (size_t)size, "v %.5f %.5f %.5f\n", p[0], p[1], p[2]);
        }
    write_text("a.obj", text);
}

static void test_shape(void **state) {
    (void)state;
    static const double metres[] = {1, 0.01, 0.001, 0.0254};
    ex_scan_session *s = NULL;
    ex_error error = {0};
    for (int i = 0; i < UPS * 4 * 2; i++) {
        ex_scan_session from = {.unit = metres[i % 4]};
        memcpy(from.up, ups[i / 4 % UPS], strlen(ups[i / 4 % UPS]) + 1);
        write_shape(&from, i >= UPS * 4);
        assert_int_equal(read_session("{\"exemplar_scan\": 1, \"skeleton\": \"full\", \"reference\": \"a\", \"scans\": "
                                      "[{\"name\": \"a\", \"files\": [\"a.obj\"]}]}",
                                      &s, &error),
                         EX_OK);
        assert_near(s->unit, from.unit, 1e-12);
        assert_string_equal(s->up, from.up);
        ex_scan_session_destroy(s);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_turns), TEST(test_tables),        TEST(test_keys),
                                       TEST(test_names), TEST(test_memory),        TEST(test_points),
                                       TEST(test_thin),  TEST(test_points_memory), TEST(test_shape)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
