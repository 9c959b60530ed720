/*
 * Labels of a session: found/ and the reference's names to labels/, manual labels left alone, earlier labels left alone
 * unless requested, names taken from a table, and the page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <exemplar/author/image.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"
#include "support/subjects.h"

enum { SCANS = 6 };
static const int chosen[SCANS] = {0, 4, 11, 33, 45, 80};
static subject *somebody;

static void must(ex_result result, const ex_error *error) {
    if (result != EX_OK)
        fail_msg("%s", error->text);
}

static char *copy_of(const char *path) {
    char *copy = exi_text_copy(path, strlen(path));
    assert_non_null(copy);
    return copy;
}

static void write_text(const char *name, const char *text) {
    scratch_write(name, text, strlen(text));
}

/* scan.json, skeleton, markers, found/ and the reference's labels. */
static ex_scan_session *write_session(void) {
    static const char *const folders[] = {"found", "labels", "scans"};
    char text[8192] = "";
    ex_error error = {0};
    ex_scan_session *session;
    for (int i = 0; i < 3; i++)
        must(ex_make_directory(scratch_path(folders[i]), &error), &error);
    must(ex_kinematics_write(scratch_path("skeleton.json"), somebody->begin, &error), &error);
    strcat(text, "marker,joint,r,g,b\n");
    for (int s = 0; s < somebody->begin->site_count; s++) {
        const ex_site *site = &somebody->begin->sites[s];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s,%s,%d,%d,%d\n", site->name,
                 somebody->begin->joints[site->joint].name, site->colour[0], site->colour[1], site->colour[2]);
    }
    write_text("markers.csv", text);
    snprintf(text, sizeof text,
             "{\"exemplar_scan\": 1, \"skeleton\": \"skeleton.json\", \"markers\": \"markers.csv\", \"reference\": "
             "\"reference\", \"parts\": [{\"name\": \"all\", \"joints\": [\"waist\", \"abdomen\", \"clavicle.L\", "
             "\"shoulder.L\", \"elbow.L\", \"forearm.L\", \"wrist.L\"], \"covers\": [\"elbow.L\"]}], \"scans\": [");
    for (int i = 0; i < SCANS; i++) {
        const subject_scan *scan = &somebody->scans[chosen[i]];
        char name[64];
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "%s{\"name\": \"%s\", \"part\": \"all\", \"files\": [\"scans/one.ply\"]}", i ? ", " : "", scan->name);
        snprintf(name, sizeof name, "found/%s.csv", scan->name);
        must(ex_found_write(scratch_path(name), scan->found, scan->found_count, &error), &error);
    }
    strcat(text, "]}\n");
    write_text("scan.json", text);
    int count;
    ex_labelled *reference = subject_reference(somebody, &count);
    must(ex_labels_write(scratch_path("labels/reference.csv"), reference, count, &error), &error);
    ex_labels_free(reference, count);
    char *folder = copy_of(scratch_path(""));
    must(ex_scan_session_read(folder, &session, &error), &error);
    free(folder);
    return session;
}

static int set_up(void **state) {
    subject_def def = subject_usual();
    def.per_joint = 4;
    def.whole_reference = true;
    somebody = subject_create(&def);
    return scratch_set_up(state);
}

static int tear_down(void **state) {
    subject_destroy(somebody);
    return scratch_tear_down(state);
}

static ex_scan_labelling *must_label(const ex_scan_session *session, const bool *redo) {
    const ex_scan_label_options options = {.redo = redo};
    ex_scan_labelling *labels;
    ex_error error = {0};
    must(ex_scan_label(session, &options, &labels, &error), &error);
    return labels;
}

/* Number of certain labels of a scan; each is at its marker. */
static int check_labels(int i) {
    const subject_scan *scan = &somebody->scans[chosen[i]];
    char name[64];
    ex_labelled *labels;
    ex_error error = {0};
    int count, sure = 0;
    snprintf(name, sizeof name, "labels/%s.csv", scan->name);
    must(ex_labels_read(scratch_path(name), &labels, &count, &error), &error);
    for (int n = 0; n < count; n++) {
        const int site = ex_kinematics_find_site(somebody->truth, labels[n].name);
        assert_true(site >= 0);
        for (int f = 0; f < scan->found_count && labels[n].confidence >= EX_LABEL_SURE; f++)
            if (scan->truth[f] == site) {
                assert_row_near(labels[n].position, scan->found[f].position, 3, 2e-6);
                sure++;
            }
    }
    ex_labels_free(labels, count);
    return sure;
}

static void labels_session(void **state) {
    (void)state;
    ex_scan_session *session = write_session();
    ex_scan_labelling *labels = must_label(session, NULL);
    size_t size;
    assert_int_equal(labels->scan_count, SCANS);
    assert_true(labels->kept[0] && !labels->kept[1]);
    for (int i = 1; i < SCANS; i++) {
        assert_int_equal(labels->found[i], somebody->scans[chosen[i]].found_count);
        assert_true(labels->sure[i] >= 0.8 * labels->found[i]);
        assert_int_equal(check_labels(i), labels->sure[i]);
    }
    char *doubts = scratch_read("labels/doubtful.csv", &size);
    assert_non_null(strstr(doubts, "scan,marker,x,y,z,confidence,other\n"));
    int lines = 0;
    for (const char *c = doubts; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 1 + labels->doubt_count);
    free(doubts);
    ex_scan_labelling_destroy(labels);

    /* By hand, a label that no program would give; then again, and again all of it. */
    const subject_scan *scan = &somebody->scans[chosen[2]];
    char name[64], row[256];
    const int wrong = scan->truth[0] == 5 ? 6 : 5;
    snprintf(name, sizeof name, "%s.csv", scan->name);
    snprintf(row, sizeof row, "marker,x,y,z\n%s,%.6f,%.6f,%.6f\n", somebody->truth->sites[wrong].name,
             scan->found[0].position[0], scan->found[0].position[1], scan->found[0].position[2]);
    write_text(name, row);
    ex_scan_taken *taken = NULL;
    ex_error error = {0};
    char *path = copy_of(scratch_path(name));
    must(ex_scan_take(session, 2, path, &taken, &error), &error);
    free(path);
    assert_false(taken->landmarks);
    for (int i = 0; i < taken->scan_count; i++)
        assert_int_equal(taken->taken[i], i == 2);
    ex_scan_taken_destroy(taken);
    const bool redo[SCANS] = {true, false, true, true, false, false};
    labels = must_label(session, redo);
    assert_true(labels->kept[0] && labels->kept[1] && !labels->kept[2] && !labels->kept[3]);
    assert_int_equal(labels->by_hand[2], 1);
    ex_scan_labelling_destroy(labels);
    snprintf(name, sizeof name, "labels/%s.csv", scan->name);
    char *text = scratch_read(name, &size);
    snprintf(row, sizeof row, "marker,x,y,z,confidence\n%s,", somebody->truth->sites[wrong].name);
    assert_true(strncmp(text, row, strlen(row)) == 0); /* first, and with nothing behind the last comma */
    assert_true(strstr(text, ",\n") == strchr(text + strlen(row), '\n') - 1);
    free(text);
    ex_scan_session_destroy(session);
}

static void refuses(void **state) {
    (void)state;
    ex_scan_session *session = write_session();
    ex_scan_labelling *labels;
    ex_error error = {0};
    static const struct {
        const char *text, *words;
    } tables[] = {
        {"marker,x,y,z\nelbo.L_01,1,2,3\n", "did you mean 'elbow.L_01'?"},
        {"landmark,x,y,z\nnose,1,2,3\n", "a cage and no template person"},
        {"x,y,z\n1,2,3\n", "a column 'marker' or 'landmark'"},
        {"marker,landmark,x,y,z\na,b,1,2,3\n", "a column 'marker' or 'landmark'"},
        {"scan,marker,x,y,z\nnone_such,elbow.L_01,1,2,3\n", ":2: the session has no scan 'none_such'"},
        {"marker,x,y,z\nelbow.L_01,1,,3\n", "is not a number"},
        {"marker,x,y,z\n,,,\n", "has no name"},
        {"marker,x,y,z\nelbow.L_01,1,2,3\nelbow.L_01,4,2,3\n", "is already on line 2"},
        {"marker,x,y,z,confidence\nelbow.L_01,1,2,3,2\n", "from 0 to 1"},
        {"marker,x,y,z\nelbow.L_01,1e300,2,3\n", "too far away"},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        ex_scan_taken *taken = NULL;
        write_text("t.csv", tables[i].text);
        assert_int_equal(ex_scan_take(session, 1, scratch_path("t.csv"), &taken, &error), EX_ERROR_DATA);
        assert_sentence(&error, EX_ERROR_DATA, tables[i].words);
        assert_null(taken);
    }
    const bool redo[SCANS] = {true, true, true, true, true, true};
    const ex_scan_label_options options = {.redo = redo};
    write_text("labels/reference.csv", "marker,x,y,z\n");
    assert_int_equal(ex_scan_label(session, &options, &labels, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "has no labels");
    assert_null(labels);
    remove(scratch_path("found/reference.csv"));
    assert_int_equal(ex_scan_label(session, NULL, &labels, &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "found/reference.csv");
    ex_scan_session_destroy(session);
}

/* ---- the page ---- */

/* A wall, a metre wide, with a red dot a quarter from its left and its top; the marker is where the dot is. */
static void write_wall(void) {
    ex_mesh *mesh = ex_mesh_create();
    enum { SIDE = 41 };
    ex_error error = {0};
    assert_non_null(mesh);
    mesh->vertex_count = SIDE * SIDE;
    mesh->face_count = (SIDE - 1) * (SIDE - 1);
    mesh->corner_count = 4 * mesh->face_count;
    mesh->positions = calloc(3 * SIDE * SIDE, sizeof *mesh->positions);
    mesh->colours = calloc(3 * SIDE * SIDE, sizeof *mesh->colours);
    mesh->face_offsets = calloc((size_t)mesh->face_count + 1, sizeof *mesh->face_offsets);
    mesh->corners = calloc((size_t)mesh->corner_count, sizeof *mesh->corners);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const int v = y * SIDE + x;
            mesh->positions[3 * v] = x / 40.0;
            mesh->positions[3 * v + 1] = 0.3 * y / 40.0;
            const bool red = abs(x - 10) <= 1 && abs(y - 30) <= 1;
            for (int c = 0; c < 3; c++)
                mesh->colours[3 * v + c] = red ? c == 0 : 0.8f;
        }
    for (int f = 0; f < mesh->face_count; f++) {
        const int v = f / (SIDE - 1) * SIDE + f % (SIDE - 1), around[4] = {v, v + 1, v + SIDE + 1, v + SIDE};
        memcpy(mesh->corners + 4 * f, around, sizeof around);
        mesh->face_offsets[f + 1] = 4 * (f + 1);
    }
    must(ex_mesh_write(scratch_path("scans/one.ply"), mesh, &error), &error);
    ex_mesh_destroy(mesh);
    const ex_found_marker dot = {.position = {0.25, 0.225, 0}, .colour = {255, 0, 0}, .size = 0.012};
    must(ex_found_write(scratch_path("found/arm_03.csv"), &dot, 1, &error), &error);
}

static unsigned digit(char c) {
    return c >= 'A' && c <= 'Z'   ? (unsigned)(c - 'A')
           : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 26
           : c >= '0' && c <= '9' ? (unsigned)(c - '0') + 52
           : c == '+'             ? 62
                                  : 63;
}

/* The first picture of the page. */
static ex_image *read_picture(const char *page) {
    const char *at = strstr(page, "base64,");
    ex_image *image;
    ex_error error = {0};
    assert_non_null(at);
    at += strlen("base64,");
    const size_t length = (size_t)(strchr(at, '"') - at);
    unsigned char *bytes = calloc(length, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i + 3 < length; i += 4) {
        const unsigned bits = digit(at[i]) << 18 | digit(at[i + 1]) << 12 | digit(at[i + 2]) << 6 | digit(at[i + 3]);
        for (unsigned k = 0; k < 3; k++)
            bytes[i / 4 * 3 + k] = (unsigned char)(bits >> (16 - 8 * k));
    }
    must(ex_image_parse(bytes, length / 4 * 3, "picture", &image, &error), &error);
    free(bytes);
    return image;
}

static void spots_are_on_markers(void **state) {
    (void)state;
    ex_scan_session *session = write_session();
    const int scan = 1;
    ex_error error = {0};
    size_t size;
    int view;
    double x, y;
    write_wall();
    char *path = copy_of(scratch_path("page.html"));
    must(ex_scan_label_page(session, &scan, 1, path, NULL, NULL, &error), &error);
    free(path);
    char *page = scratch_read("page.html", &size);
    const char *seen = strstr(page, "\"seen\":[[");
    assert_non_null(seen);
    assert_int_equal(sscanf(seen, "\"seen\":[[%d,%lf,%lf]]", &view, &x, &y), 3); /* from the front alone */
    assert_int_equal(view, 0);
    ex_image *image = read_picture(page);
    const unsigned char *pixel = image->pixels + 4 * ((size_t)y * (size_t)image->width + (size_t)x);
    assert_true(pixel[0] > 100 && pixel[1] < 60 && pixel[2] < 60);
    assert_null(strstr(page, "src=\"http"));
    assert_null(strstr(page, "href=\"http"));
    assert_non_null(strstr(page, "{\"name\":\"elbow.L_01\""));
    ex_image_destroy(image);
    free(page);
    ex_scan_session_destroy(session);
}

/* ---- memory ---- */

typedef struct attempt {
    const ex_scan_session *session;
    const char *page;
} attempt;

static ex_result label_again(void *context) {
    const attempt *a = context;
    ex_scan_labelling *labels = NULL;
    const ex_result result = ex_scan_label(a->session, NULL, &labels, NULL);
    ex_scan_labelling_destroy(labels);
    return result;
}

static void memory(void **state) {
    (void)state;
    ex_scan_session *session = write_session();
    attempt a = {.session = session};
    for (int i = 1; i < SCANS; i++) { /* labelled before: no search */
        char name[64];
        snprintf(name, sizeof name, "labels/%s.csv", somebody->scans[chosen[i]].name);
        write_text(name, "marker,x,y,z,confidence\nelbow.L_01,1,2,3,0.95\nelbow.L_02,1,2,4,0.5\n");
    }
    assert_true(fail_alloc_sweep(label_again, &a) > 20);
    ex_scan_session_destroy(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(labels_session), cmocka_unit_test(refuses),
                                       cmocka_unit_test(spots_are_on_markers), cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
