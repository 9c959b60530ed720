/*
 * Clothes cut out of a body: they have the faces that they should, alike for thick and thin bodies; they keep their
 * room, go straight over a dent, and are open at their edges. Simulated on the body's motion, they follow it and stay
 * outside.
 */
#include "support/check.h"
#include "support/fail_alloc.h"

#include "demos/garment/cloth_parts.h"
#include "demos/garment/dress.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A trunk along y: rings of quads, closed by two polygons. It has a dent all around in its middle. */
enum { RINGS = 25, ROUND = 32, FACES = (RINGS - 1) * ROUND + 2, FIRST = 4, LAST = 20 };
static const double height = 0.5, room = 0.01;

static char *copy_text(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    assert_non_null(copy);
    return strcpy(copy, text);
}

static void place(double radius, double dent, double *positions) {
    for (int v = 0; v < RINGS * ROUND; v++) {
        const double y = height * (v / ROUND) / (RINGS - 1) - height / 2,
                     a = 2 * 3.14159265358979323846 * (v % ROUND) / ROUND;
        const double r = radius - dent * exp(-y * y / (2 * 0.03 * 0.03));
        positions[3 * v] = r * sin(a);
        positions[3 * v + 1] = y;
        positions[3 * v + 2] = r * cos(a);
    }
}

static ex_mesh *make_trunk(double radius, double dent) {
    ex_mesh *mesh = ex_mesh_create();
    assert_non_null(mesh);
    mesh->vertex_count = RINGS * ROUND;
    mesh->face_count = FACES;
    mesh->corner_count = 4 * (FACES - 2) + 2 * ROUND;
    mesh->positions = malloc(3 * sizeof(double) * RINGS * ROUND);
    mesh->corners = malloc(sizeof(int) * (size_t)mesh->corner_count);
    mesh->face_offsets = malloc(sizeof(int) * (FACES + 1));
    mesh->face_groups = malloc(sizeof(int) * FACES);
    mesh->group_count = 2;
    mesh->group_names = malloc(2 * sizeof(char *));
    assert_true(mesh->positions && mesh->corners && mesh->face_offsets && mesh->face_groups && mesh->group_names);
    mesh->group_names[0] = copy_text("skin");
    mesh->group_names[1] = copy_text("skin shirt outer");
    place(radius, dent, mesh->positions);
    for (int f = 0; f < FACES - 2; f++) {
        const int ring = f / ROUND, a = f % ROUND, b = (a + 1) % ROUND;
        const int quad[4] = {ring * ROUND + a, ring * ROUND + b, (ring + 1) * ROUND + b, (ring + 1) * ROUND + a};
        memcpy(mesh->corners + 4 * f, quad, sizeof quad);
        mesh->face_offsets[f] = 4 * f;
        mesh->face_groups[f] = ring >= FIRST && ring < LAST;
    }
    for (int cap = 0; cap < 2; cap++) {
        mesh->face_offsets[FACES - 2 + cap] = 4 * (FACES - 2) + cap * ROUND;
        mesh->face_groups[FACES - 2 + cap] = 0;
        for (int i = 0; i < ROUND; i++)
            mesh->corners[4 * (FACES - 2) + cap * ROUND + i] = cap ? (RINGS - 1) * ROUND + i : ROUND - 1 - i;
    }
    mesh->face_offsets[FACES] = mesh->corner_count;
    return mesh;
}

static ex_mesh *dress(const ex_mesh *body) {
    bool worn[FACES];
    exi_dress_def def = exi_dress_def_default();
    ex_mesh *garment = NULL;
    def.body = body;
    def.worn = worn;
    def.room = room;
    assert_int_equal(exi_dress_group(body, "shirt", worn), (LAST - FIRST) * ROUND);
    assert_int_equal(exi_dress_make(&def, &garment, NULL), EX_OK);
    return garment;
}

/* The least distance of a form from a body's, negative inside. */
static double least_distance(const ex_mesh *triangles, const double *body, const double *form, int count) {
    exi_cloth_driver d;
    double least = 1;
    assert_int_equal(exi_cloth_driver_make(triangles, &d, NULL), EX_OK);
    exi_cloth_driver_next(&d, body);
    exi_cloth_driver_move(&d, 1);
    for (int v = 0; v < count; v++) {
        exi_cloth_contact contact;
        if (exi_cloth_driver_touch(&d, form + 3 * (size_t)v, 1, &contact))
            least = fmin(least, contact.distance);
    }
    exi_cloth_driver_free(&d);
    return least;
}

static void bodies_get_garments_with_the_same_faces(void **state) {
    (void)state;
    ex_mesh *thin = make_trunk(0.1, 0), *thick = make_trunk(0.16, 0.04);
    ex_mesh *small = dress(thin), *large = dress(thick);
    assert_int_equal(small->vertex_count, (LAST - FIRST + 1) * ROUND);
    assert_int_equal(small->face_count, 2 * (LAST - FIRST) * ROUND);
    assert_int_equal(ex_mesh_compare_connectivity(small, large, NULL), EX_OK);
    /* Its vertices are the body's, in their order. */
    for (int v = 0; v < small->vertex_count; v++) {
        const double *p = small->positions + 3 * (size_t)v, *q = thin->positions + 3 * ((size_t)v + FIRST * ROUND);
        assert_true(hypot(p[0], p[2]) > hypot(q[0], q[2]));
        assert_near(p[0] * q[2] - p[2] * q[0], 0, 1e-3);
    }
    ex_mesh_destroy(small);
    ex_mesh_destroy(large);
    ex_mesh_destroy(thin);
    ex_mesh_destroy(thick);
}

static void a_garment_keeps_its_room_and_bridges_a_dent(void **state) {
    (void)state;
    ex_mesh *body = make_trunk(0.15, 0.03), *garment = dress(body), *triangles = exi_dress_triangles(body);
    assert_non_null(triangles);
    const double least = least_distance(triangles, body->positions, garment->positions, garment->vertex_count);
    assert_true(least > 0.99 * room && least < 1.01 * room);
    double mean = 0;
    for (int v = 0; v < ROUND; v++) {
        const double *p = garment->positions + 3 * ((size_t)(LAST - FIRST) / 2 * ROUND + (size_t)v);
        mean += hypot(p[0], p[2]) / ROUND;
    }
    assert_true(mean > 0.15 - 0.03 + 1.3 * room);
    ex_mesh_destroy(body);
    ex_mesh_destroy(garment);
    ex_mesh_destroy(triangles);
}

static void the_uppermost_edge_is_found(void **state) {
    (void)state;
    ex_mesh *body = make_trunk(0.12, 0), *garment = dress(body), *closed = exi_dress_triangles(body);
    bool pinned[RINGS * ROUND];
    assert_int_equal(exi_dress_top(garment, pinned), ROUND);
    for (int v = 0; v < garment->vertex_count; v++)
        assert_int_equal(pinned[v], v >= (LAST - FIRST) * ROUND);
    assert_int_equal(exi_dress_top(closed, pinned), 0);
    for (int v = 0; v < closed->vertex_count; v++)
        assert_false(pinned[v]);
    ex_mesh_destroy(body);
    ex_mesh_destroy(garment);
    ex_mesh_destroy(closed);
}

typedef struct walk {
    const ex_mesh *body;
    int moved, seen, stop;
    double least, mean;
    const ex_mesh *garment;
} walk;

/* The trunk goes aside by 4 mm a frame and becomes thicker. */
static ex_result move(void *user, int frame, double *driver, ex_error *error) {
    walk *w = user;
    if (frame == w->stop)
        return ex_error_set(error, EX_ERROR_FILE, "no such frame");
    w->moved++;
    place(0.12 + 0.0005 * (frame + 5), 0, driver);
    for (int v = 0; v < RINGS * ROUND; v++)
        driver[3 * v] += 0.004 * frame;
    return EX_OK;
}

static ex_result watch(void *user, int frame, const double *driver, const double *driven, ex_error *error) {
    walk *w = user;
    (void)error;
    assert_int_equal(frame, w->seen++);
    w->least = fmin(w->least, least_distance(w->body, driver, driven, w->garment->vertex_count));
    w->mean = 0;
    for (int v = 0; v < w->garment->vertex_count; v++)
        w->mean += driven[3 * v] / w->garment->vertex_count;
    return EX_OK;
}

static void it_is_simulated_on_any_motion(void **state) {
    (void)state;
    ex_mesh *body = make_trunk(0.12, 0), *garment = dress(body), *triangles = exi_dress_triangles(body);
    walk w = {.body = triangles, .garment = garment, .stop = 99, .least = 1};
    exi_cloth_play play = {
        .cloth = exi_cloth_def_default(), .first = -5, .end = 12, .move = move, .frame = watch, .user = &w};
    play.cloth.cloth = garment;
    play.cloth.driver = triangles;
    play.cloth.gravity = 0;
    play.cloth.substeps = 10;
    assert_int_equal(exi_cloth_simulate(&play, NULL), EX_OK);
    assert_int_equal(w.seen, 12);
    assert_int_equal(w.moved, 5 + 12 + 1);
    assert_true(w.least > 0.7 * play.cloth.thickness);
    assert_near(w.mean, 0.004 * 11, 0.008); /* as far as its room lets it lag */
    /* A frame that cannot be read ends it. */
    w = (walk){.body = triangles, .garment = garment, .stop = 3, .least = 1};
    assert_int_equal(exi_cloth_simulate(&play, NULL), EX_ERROR_FILE);
    assert_int_equal(w.seen, 3);
    ex_mesh_destroy(body);
    ex_mesh_destroy(garment);
    ex_mesh_destroy(triangles);
}

static void wrong_input_is_refused(void **state) {
    (void)state;
    ex_mesh *body = make_trunk(0.1, 0), *garment = NULL;
    bool worn[FACES];
    exi_dress_def def = exi_dress_def_default();
    assert_int_equal(exi_dress_group(body, "shir", worn), 0);
    assert_int_equal(exi_dress_group(body, "", worn), 0);
    assert_int_equal(exi_dress_group(body, "skin", worn), FACES);
    assert_int_equal(exi_dress_group(body, "outer", worn), (LAST - FIRST) * ROUND);
    assert_int_equal(exi_dress_make(&def, &garment, NULL), EX_ERROR_ARGUMENT);
    def.body = body;
    def.worn = worn;
    assert_int_equal(exi_dress_make(NULL, &garment, NULL), EX_ERROR_ARGUMENT);
    assert_int_equal(exi_dress_make(&def, NULL, NULL), EX_ERROR_ARGUMENT);
    def.room = 0;
    assert_int_equal(exi_dress_make(&def, &garment, NULL), EX_ERROR_ARGUMENT);
    def.room = room;
    memset(worn, 0, sizeof worn);
    assert_int_equal(exi_dress_make(&def, &garment, NULL), EX_ERROR_DATA);
    assert_null(garment);
    assert_int_equal(exi_cloth_simulate(&(exi_cloth_play){.cloth = exi_cloth_def_default()}, NULL), EX_ERROR_ARGUMENT);
    ex_mesh_destroy(body);
}

static ex_result dress_and_move(void *context) {
    const ex_mesh *body = context;
    bool worn[FACES], pinned[RINGS * ROUND];
    exi_dress_def def = exi_dress_def_default();
    exi_cloth_play play = {.cloth = exi_cloth_def_default(), .end = 1};
    ex_mesh *garment = NULL, *triangles = exi_dress_triangles(body);
    def.body = body;
    def.worn = worn;
    exi_dress_group(body, "shirt", worn);
    ex_result result = triangles ? exi_dress_make(&def, &garment, NULL) : EX_ERROR_MEMORY;
    play.cloth.cloth = garment;
    play.cloth.driver = triangles;
    play.cloth.pinned = pinned;
    play.cloth.substeps = 1;
    if (result == EX_OK)
        result = exi_dress_top(garment, pinned) < 0 ? EX_ERROR_MEMORY : exi_cloth_simulate(&play, NULL);
    ex_mesh_destroy(garment);
    ex_mesh_destroy(triangles);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    ex_mesh *body = make_trunk(0.1, 0);
    assert_true(fail_alloc_sweep(dress_and_move, body) > 30);
    ex_mesh_destroy(body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_get_garments_with_the_same_faces),
        cmocka_unit_test(a_garment_keeps_its_room_and_bridges_a_dent),
        cmocka_unit_test(the_uppermost_edge_is_found),
        cmocka_unit_test(it_is_simulated_on_any_motion),
        cmocka_unit_test(wrong_input_is_refused),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("demos.dress", tests, NULL, NULL);
}
