/*
 * Finding markers: on a plane by hand, on scans of a painted tube against the truth, from several views, moved and
 * turned, at every sampling; distractors; degenerate meshes; errors with their sentences; failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/scan.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/spots.h"

static double distance(const double a[3], const double b[3]) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static ex_found_marker *must_find(ex_mesh *const *meshes, int mesh_count, int *count) {
    ex_found_marker *markers;
    ex_error error;
    if (ex_find_markers(meshes, mesh_count, NULL, &markers, count, &error) != EX_OK)
        fail_msg("%s", error.text);
    return markers;
}

/* ---- by hand ---- */

enum { SIDE = 31 };

/* A square of 60 mm with a vertex every 2 mm, its middle at the origin, of one colour. */
static ex_mesh *make_square(const unsigned char skin[3]) {
    ex_mesh *mesh = ex_mesh_create();
    mesh->vertex_count = SIDE * SIDE;
    mesh->face_count = (SIDE - 1) * (SIDE - 1);
    mesh->corner_count = 4 * mesh->face_count;
    mesh->positions = calloc((size_t)mesh->vertex_count, 3 * sizeof *mesh->positions);
    mesh->colours = calloc((size_t)mesh->vertex_count, 3 * sizeof *mesh->colours);
    mesh->corners = calloc((size_t)mesh->corner_count, sizeof *mesh->corners);
    mesh->face_offsets = calloc((size_t)mesh->face_count + 1, sizeof *mesh->face_offsets);
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            const int v = j * SIDE + i;
            mesh->positions[3 * v] = 0.002 * (i - SIDE / 2);
            mesh->positions[3 * v + 1] = 0.002 * (j - SIDE / 2);
            for (int k = 0; k < 3; k++)
                mesh->colours[3 * v + k] = (float)(skin[k] / 255.0);
        }
    for (int f = 0; f < mesh->face_count; f++) {
        const int v = f / (SIDE - 1) * SIDE + f % (SIDE - 1);
        memcpy(mesh->corners + 4 * f, (int[]){v, v + 1, v + SIDE + 1, v + SIDE}, 4 * sizeof(int));
        mesh->face_offsets[f + 1] = 4 * (f + 1);
    }
    return mesh;
}

static void paint_disc(ex_mesh *mesh, double x, double y, double size, const unsigned char colour[3]) {
    for (int v = 0; v < mesh->vertex_count; v++)
        if (hypot(mesh->positions[3 * v] - x, mesh->positions[3 * v + 1] - y) < size / 2)
            for (int k = 0; k < 3; k++)
                mesh->colours[3 * v + k] = (float)(colour[k] / 255.0);
}

static const unsigned char skin[3] = {224, 172, 140}, blue[3] = {30, 60, 170}, green[3] = {30, 120, 60},
                           yellow[3] = {230, 210, 50};

static void finds_a_disc_on_a_plane(void **state) {
    (void)state;
    ex_mesh *mesh = make_square(skin);
    int count;
    paint_disc(mesh, 0, 0, 0.0121, blue);
    ex_found_marker *markers = must_find(&mesh, 1, &count);
    assert_int_equal(count, 1);
    assert_row_near(markers[0].position, ((double[]){0, 0, 0}), 3, 1e-6);
    assert_row_near(markers[0].colour, ((double[]){30, 60, 170}), 3, 1e-3);
    /* 29 vertices of 4 square millimetres. */
    assert_near(markers[0].size, 2 * sqrt(29 * 4e-6 / 3.14159265358979), 1e-6);
    assert_int_equal(markers[0].view, 0);
    /* The distance of both colours in OKLab. */
    assert_near(markers[0].strength, 0.4458, 0.005);
    free(markers);
    ex_mesh_destroy(mesh);
}

/* On a hill the middle of the disc is above its centroid, by r^2 / 4 R. */
static void stays_on_the_surface(void **state) {
    (void)state;
    ex_mesh *mesh = make_square(skin);
    int count;
    paint_disc(mesh, 0, 0, 0.0121, blue);
    for (int v = 0; v < mesh->vertex_count; v++) {
        double *p = mesh->positions + 3 * v;
        p[2] = 0.5 - (p[0] * p[0] + p[1] * p[1]) / (2 * 0.03);
    }
    ex_found_marker *markers = must_find(&mesh, 1, &count);
    assert_int_equal(count, 1);
    assert_row_near(markers[0].position, ((double[]){0, 0, 0.5}), 3, 2e-5);
    free(markers);
    ex_mesh_destroy(mesh);
}

/* Two discs of different colours that touch; and with the edge of the scan through one. */
static void tells_neighbours_apart(void **state) {
    (void)state;
    ex_mesh *mesh = make_square(skin);
    int count;
    paint_disc(mesh, -0.006, 0.001, 0.012, blue);
    paint_disc(mesh, 0.006, -0.001, 0.012, yellow);
    ex_found_marker *markers = must_find(&mesh, 1, &count);
    assert_int_equal(count, 2);
    for (int i = 0; i < 2; i++) {
        const double at[3] = {markers[i].position[0] < 0 ? -0.006 : 0.006, markers[i].position[0] < 0 ? 0.001 : -0.001};
        assert_true(distance(markers[i].position, at) < 5e-4);
        assert_near(markers[i].colour[2], at[0] < 0 ? 170 : 50, 1e-3);
    }
    free(markers);
    ex_mesh_destroy(mesh);
    /* A disc with a sliver missing is placed at its middle; the middle of half a disc is unknown. */
    mesh = make_square(skin);
    paint_disc(mesh, 0.0265, 0, 0.012, blue);
    paint_disc(mesh, -0.0310, 0, 0.012, green);
    markers = must_find(&mesh, 1, &count);
    assert_int_equal(count, 1);
    assert_true(distance(markers[0].position, (double[]){0.0265, 0, 0}) < 1e-3);
    free(markers);
    ex_mesh_destroy(mesh);
}

/* Each of these is painted alone, and none is a marker. */
static void leaves_out_what_is_none(void **state) {
    (void)state;
    for (int kind = 0; kind < 11; kind++) {
        ex_mesh *mesh = make_square(skin);
        int count;
        for (int v = 0; v < mesh->vertex_count; v++) {
            const double x = mesh->positions[3 * v], y = mesh->positions[3 * v + 1], r = hypot(x, y);
            float *c = mesh->colours + 3 * v;
            const bool painted = (kind == 0 && r < 0.0025) ||                         /* a mole */
                                 (kind == 1 && r < 0.0135) ||                         /* too large */
                                 (kind == 2 && fabs(y - x) < 0.003) ||                /* a vein, from edge to edge */
                                 (kind == 3 && fabs(y) < 0.003 && fabs(x) < 0.013) || /* a stroke */
                                 (kind == 4 && r > 0.006 && r < 0.009) ||             /* a ring */
                                 (kind == 5 && x < 0) ||                              /* a sleeve */
                                 (kind == 6 && ((int)floor(x / 0.012) + (int)floor(y / 0.012)) % 2 == 0); /* checks */
            for (int k = 0; k < 3; k++)
                c[k] = kind == 7   ? c[k] * (float)(1 - 0.5 * exp(-r * r / 8e-5))                /* a shadow */
                       : kind == 8 ? c[k] * (float)(1 - (k > 0 ? 0.55 : 0) * exp(-r * r / 1e-4)) /* a blush */
                       : kind == 9 && r < 0.006  ? 0.8f * c[k] /* a stain that darkens */
                       : kind == 10 && r < 0.006 ? NAN         /* no colour */
                       : painted                 ? (float)(blue[k] / 255.0)
                                                 : c[k];
        }
        ex_found_marker *markers = must_find(&mesh, 1, &count);
        if (count != 0)
            fail_msg("%d found of kind %d, size %g", count, kind, markers[0].size);
        free(markers);
        ex_mesh_destroy(mesh);
    }
}

/* Moles of 5 mm are a sample wide, and up to three long, at any viewing angle. */
static void leaves_out_moles(void **state) {
    (void)state;
    spotted s;
    int count;
    spotted_open(&s, 0.3, 0.03, 6);
    memcpy(s.moles, s.markers, sizeof s.moles);
    s.mole_count = s.marker_count;
    s.marker_count = 0;
    for (int i = 0; i < s.mole_count; i++) {
        s.moles[i].size = 0.005;
        memcpy(s.moles[i].colour, (unsigned char[]){90, 60, 45}, 3);
    }
    ex_mesh *views[2] = {spotted_scan(&s, 0), spotted_scan(&s, 180)};
    ex_found_marker *markers = must_find(views, 2, &count);
    assert_true(s.mole_count > 60 && count <= 1);
    free(markers);
    ex_mesh_destroy(views[0]);
    ex_mesh_destroy(views[1]);
}

/* ---- against the truth ---- */

typedef struct tally {
    int visible, hit, found, matched;
    double square;
} tally;

/* Counts the markers of a painted tube that were found; only those that a view sees completely and not too slantwise
 * count. */
static void compare(const spotted *s, const ex_found_marker *markers, int count, int views, tally *t) {
    t->found += count;
    for (int m = 0; m < s->marker_count; m++) {
        double best = 0, nearest = 0.004;
        for (int i = 0; i < views; i++) {
            const double facing = spotted_facing(s, m, 360.0 * i / views);
            best = facing > best ? facing : best;
        }
        for (int i = 0; i < count; i++) {
            const double apart = distance(markers[i].position, s->markers[m].place);
            nearest = apart < nearest ? apart : nearest;
        }
        t->visible += best > 0.6;
        t->hit += best > 0.6 && nearest < 0.004;
        t->matched += nearest < 0.004;
        t->square += nearest < 0.004 ? nearest * nearest : 0;
    }
}

static void finds_markers_on_scans(void **state) {
    (void)state;
    tally t = {0};
    spotted s;
    ex_mesh *views[4];
    int count;
    spotted_open(&s, 0.3, 0.03, 1);
    for (int i = 0; i < 4; i++)
        views[i] = spotted_scan(&s, 90 * i);
    ex_found_marker *markers = must_find(views, 4, &count);
    compare(&s, markers, count, 4, &t);
    for (int i = 0; i < count; i++)
        assert_true(markers[i].size > 0.007 && markers[i].size < 0.018 && markers[i].view >= 0 && markers[i].view < 4 &&
                    markers[i].strength > 0.06);
    free(markers);
    for (int i = 0; i < 4; i++)
        ex_mesh_destroy(views[i]);
    assert_true(t.visible > 75);
    assert_true(t.hit >= 0.98 * t.visible);
    assert_true(t.found - t.matched <= 0.01 * t.found);
    assert_true(sqrt(t.square / t.matched) < 0.0008);
}

/* Finer scans are more exact, wherever their edges are relative to a marker. */
static void finds_more_exactly_with_more_samples(void **state) {
    (void)state;
    static const double pitches[3][2] = {{0.005, 0.002}, {0.0025, 0.0025}, {0.001, 0.001}};
    static const double errors[3] = {0.0009, 0.0005, 0.00025};
    for (int i = 0; i < 3; i++) {
        spotted s;
        tally t = {0};
        int count;
        spotted_open(&s, i == 2 ? 0.06 : 0.2, 0.03, 5);
        memcpy(s.pitch, pitches[i], sizeof s.pitch);
        s.noise = 0.0002;
        ex_mesh *mesh = spotted_scan(&s, 0);
        ex_found_marker *markers = must_find(&mesh, 1, &count);
        compare(&s, markers, count, 1, &t);
        assert_true(t.visible >= 3);
        assert_true(t.hit >= 0.95 * t.visible);
        assert_true(sqrt(t.square / t.matched) < errors[i]);
        free(markers);
        ex_mesh_destroy(mesh);
    }
}

/* A scan that was turned and moved has its markers turned and moved; the order of views does not matter. */
static void follows_the_scan(void **state) {
    (void)state;
    spotted s;
    int count, again;
    spotted_open(&s, 0.15, 0.03, 9);
    ex_mesh *views[2] = {spotted_scan(&s, 0), spotted_scan(&s, 60)}, *swapped[2] = {views[1], views[0]};
    ex_found_marker *markers = must_find(views, 2, &count), *other = must_find(swapped, 2, &again);
    assert_int_equal(count, again);
    for (int i = 0; i < count; i++) {
        assert_memory_equal(markers[i].colour, other[i].colour, sizeof markers[i].colour);
        assert_int_equal(markers[i].view, 1 - other[i].view);
        assert_true(distance(markers[i].position, other[i].position) < 1e-12);
    }
    free(other);
    for (int i = 0; i < 2; i++)
        for (int v = 0; v < views[i]->vertex_count; v++) {
            double *p = views[i]->positions + 3 * v, x = p[0];
            p[0] = p[1] + 5, p[1] = p[2] - 3, p[2] = x + 0.25;
        }
    other = must_find(views, 2, &again);
    int alike = 0;
    for (int i = 0; i < again; i++)
        for (int k = 0; k < count; k++) {
            const double *p = markers[k].position;
            alike += distance(other[i].position, (double[]){p[1] + 5, p[2] - 3, p[0] + 0.25}) < 1e-3;
        }
    /* The cells' cubes are divided differently, so that a marginal marker may be missed. */
    assert_true(abs(again - count) <= 1 && alike >= count - 1);
    free(other);
    free(markers);
    for (int i = 0; i < 2; i++)
        ex_mesh_destroy(views[i]);
}

/* ---- meshes that are hardly any ---- */

static void survives_strange_meshes(void **state) {
    (void)state;
    for (int kind = 0; kind < 9; kind++) {
        spotted s;
        ex_found_marker *markers;
        int count;
        uint64_t random = 3;
        spotted_open(&s, 0.08, 0.03, 4);
        ex_mesh *mesh = spotted_scan(&s, 0);
        int whole;
        free(must_find(&mesh, 1, &whole));
        for (int v = 0; v < mesh->vertex_count; v++)
            for (int k = 0; k < 3; k++) {
                double *p = &mesh->positions[3 * v + k];
                float *c = &mesh->colours[3 * v + k];
                if (kind == 0)
                    *c = 0;
                else if (kind == 1)
                    *c = v % 97 == 0 ? NAN : *c;
                else if (kind == 2)
                    *p = v % 97 == 0 ? (k == 0 ? NAN : INFINITY) : *p;
                else if (kind == 3)
                    *p = NAN;
                else if (kind == 4)
                    *p = 0.01;
                else if (kind == 5)
                    *c = (float)random_between(&random, -2, 3);
            }
        if (kind == 6) /* every face twice, once reversed */
            for (int c = 0; c + 5 < mesh->corner_count; c += 6)
                memcpy(mesh->corners + c + 3, (int[]){mesh->corners[c + 2], mesh->corners[c + 1], mesh->corners[c]},
                       3 * sizeof(int));
        if (kind == 7) /* faces between any vertices */
            for (int c = 0; c < mesh->corner_count; c++)
                mesh->corners[c] = (int)(random_bits(&random) % (uint64_t)mesh->vertex_count);
        if (kind == 8) { /* one face; all other vertices alone */
            mesh->face_count = 1;
            mesh->corner_count = 3;
        }
        const ex_result result = ex_find_markers(&mesh, 1, NULL, &markers, &count, NULL);
        assert_true(result == EX_OK || (kind == 7 && result == EX_ERROR_DATA));
        if (kind == 0 || kind == 3 || kind == 4 || kind == 8)
            assert_int_equal(count, 0);
        if (kind == 1 || kind == 2) {
            /* Holes of a sample. A missing colour is not black either. */
            if (abs(count - whole) > 1)
                fail_msg("%d found, and %d without damage", count, whole);
            for (int i = 0; i < count; i++)
                assert_true(isfinite(markers[i].position[0]) && isfinite(markers[i].colour[0]));
        }
        free(markers);
        ex_mesh_destroy(mesh);
    }
}

static void says_what_is_wrong(void **state) {
    (void)state;
    ex_found_marker *markers;
    ex_error error;
    int count = 7;
    ex_mesh *mesh = make_square(skin), *other = make_square(skin), *both[2] = {mesh, other};
    const ex_find_options wrong[] = {{.size = 0, .least = 0.5, .most = 2},
                                     {.size = NAN, .least = 0.5, .most = 2},
                                     {.size = 0.012, .least = 2, .most = 1},
                                     {.size = 0.012, .least = 0.5, .most = 2, .threshold = 1.5}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(ex_find_markers(&mesh, 1, &wrong[i], &markers, &count, &error), EX_ERROR_ARGUMENT);
        assert_sentence(&error, EX_ERROR_ARGUMENT, "must be");
        assert_null(markers);
        assert_int_equal(count, 0);
    }
    free(other->colours);
    other->colours = NULL;
    assert_int_equal(ex_find_markers(both, 2, NULL, &markers, &count, &error), EX_ERROR_DATA);
    assert_string_equal(error.text, "view 2: it has no colours: markers are found by colour, so export the scan with a "
                                    "colour at every vertex (red, green, blue in PLY)");
    other->face_count = 0;
    assert_int_equal(ex_find_markers(&other, 1, NULL, &markers, &count, &error), EX_ERROR_DATA);
    assert_string_equal(error.text, "it has 961 points and no faces: markers are found on a surface, so mesh it first");
    mesh->corners[5] = 2000;
    assert_int_equal(ex_find_markers(&mesh, 1, NULL, &markers, &count, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "vertex 2000");
    mesh->corners[5] = 0;
    for (int i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->positions[i] *= 1000; /* millimetres */
    assert_int_equal(ex_find_markers(&mesh, 1, NULL, &markers, &count, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "is it in metres");
    ex_mesh_destroy(mesh);
    ex_mesh_destroy(other);
}

static ex_result find_with_little_memory(void *context) {
    ex_found_marker *markers;
    int count;
    ex_error error = {.result = EX_OK};
    const ex_result result = ex_find_markers((ex_mesh *const *)context, 2, NULL, &markers, &count, &error);
    if ((result == EX_OK) != (markers != NULL) || error.result != result)
        return EX_ERROR_DATA;
    free(markers);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    ex_mesh *meshes[2] = {make_square(skin), make_square(skin)};
    paint_disc(meshes[0], 0, 0, 0.012, blue);
    paint_disc(meshes[1], 0.015, 0, 0.012, green);
    assert_true(fail_alloc_sweep(find_with_little_memory, meshes) > 40);
    for (int i = 0; i < 2; i++)
        ex_mesh_destroy(meshes[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_disc_on_a_plane),
        cmocka_unit_test(stays_on_the_surface),
        cmocka_unit_test(tells_neighbours_apart),
        cmocka_unit_test(leaves_out_what_is_none),
        cmocka_unit_test(leaves_out_moles),
        cmocka_unit_test(finds_markers_on_scans),
        cmocka_unit_test(finds_more_exactly_with_more_samples),
        cmocka_unit_test(follows_the_scan),
        cmocka_unit_test(survives_strange_meshes),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
