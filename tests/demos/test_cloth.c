/*
 * The cloth solver of the demos: cloth falls under gravity, stays outside the body it lies on, is held by friction and
 * by pins, moves to targets, and the result is the same every time.
 */
#include "support/check.h"
#include "support/fail_alloc.h"

#include "demos/demos.h"
#include "demos/garment/cloth_parts.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A square of side x side cells in the plane y = height, from -half to half. */
static ex_mesh *make_sheet(int side, double half, double height) {
    ex_mesh *mesh = ex_mesh_create();
    const int n = side + 1;
    mesh->vertex_count = n * n;
    mesh->face_count = 2 * side * side;
    mesh->corner_count = 3 * mesh->face_count;
    mesh->positions = malloc(3 * sizeof(double) * (size_t)mesh->vertex_count);
    mesh->corners = malloc(sizeof(int) * (size_t)mesh->corner_count);
    mesh->face_offsets = malloc(sizeof(int) * ((size_t)mesh->face_count + 1));
    assert_true(mesh->positions && mesh->corners && mesh->face_offsets);
    for (int v = 0; v < mesh->vertex_count; v++) {
        mesh->positions[3 * v] = half * (2.0 * (v % n) / side - 1);
        mesh->positions[3 * v + 1] = height;
        mesh->positions[3 * v + 2] = half * (2.0 * (v / n) / side - 1);
    }
    for (int c = 0; c < side * side; c++) {
        const int a = c / side * n + c % side, quad[6] = {a, a + n, a + n + 1, a, a + n + 1, a + 1};
        memcpy(mesh->corners + 6 * c, quad, sizeof quad);
    }
    for (int f = 0; f <= mesh->face_count; f++)
        mesh->face_offsets[f] = 3 * f;
    return mesh;
}

static exi_cloth *make_cloth(const exi_cloth_def *def) {
    exi_cloth *cloth = NULL;
    assert_int_equal(exi_cloth_create(def, &cloth, NULL), EX_OK);
    return cloth;
}

static double mean_of(const double *positions, int count, int axis) {
    double sum = 0;
    for (int v = 0; v < count; v++)
        sum += positions[3 * v + axis];
    return sum / count;
}

/* No contact and no drag: velocity grows by g h in every substep, so that n of them go g h^2 n (n + 1) / 2 deep. */
static void it_falls(void **state) {
    (void)state;
    ex_mesh *sheet = make_sheet(4, 0.1, 5), *ball = exi_demo_sphere(0);
    exi_cloth_def def = exi_cloth_def_default();
    def.cloth = sheet;
    def.driver = ball;
    def.drag = 0;
    def.substeps = 10;
    exi_cloth *cloth = make_cloth(&def);
    exi_cloth_step(cloth, ball->positions, NULL);
    const double h = def.frame_time / 10, depth = def.gravity * h * h * 55;
    for (int v = 0; v < sheet->vertex_count; v++) {
        assert_near(exi_cloth_positions(cloth)[3 * v], sheet->positions[3 * v], 1e-12);
        assert_near(exi_cloth_positions(cloth)[3 * v + 1], 5 - depth, 1e-12);
    }
    exi_cloth_destroy(cloth);
    ex_mesh_destroy(sheet);
    ex_mesh_destroy(ball);
}

/* A stiff sheet that starts slightly out of shape comes to rest; nothing else removes its energy. */
static void it_does_not_shake(void **state) {
    (void)state;
    ex_mesh *sheet = make_sheet(4, 0.05, 5), *ball = exi_demo_sphere(0);
    double start[75], before[75], fastest = 0;
    uint64_t seed = 5;
    for (int i = 0; i < 75; i++)
        start[i] = sheet->positions[i] + random_between(&seed, -1e-4, 1e-4);
    exi_cloth_def def = exi_cloth_def_default();
    def.cloth = sheet;
    def.start = start;
    def.driver = ball;
    def.drag = def.gravity = 0;
    exi_cloth *cloth = make_cloth(&def);
    for (int frame = 0; frame < 30; frame++) {
        memcpy(before, exi_cloth_positions(cloth), sizeof before);
        exi_cloth_step(cloth, ball->positions, NULL);
    }
    for (int i = 0; i < 75; i++)
        fastest = fmax(fastest, fabs(exi_cloth_positions(cloth)[i] - before[i]) / def.frame_time);
    assert_true(fastest < 1e-3);
    exi_cloth_destroy(cloth);
    ex_mesh_destroy(sheet);
    ex_mesh_destroy(ball);
}

/* One triangle, pinned at two corners, hangs by two equal edges; at rest their pulls carry its weight. */
static void it_hangs_by_its_edges(void **state) {
    (void)state;
    ex_mesh *one = make_sheet(1, 0.1, 3), *ball = exi_demo_sphere(0);
    one->vertex_count = 3;
    one->face_count = 1;
    one->corner_count = 3;
    const double corners[9] = {-0.1, 3, 0, 0, 2.9, 0, 0.1, 3, 0};
    memcpy(one->positions, corners, sizeof corners);
    memcpy(one->corners, (const int[3]){0, 1, 2}, 3 * sizeof(int));
    const bool pinned[3] = {true, false, true};
    exi_cloth_def def = exi_cloth_def_default();
    def.cloth = one;
    def.driver = ball;
    def.pinned = pinned;
    def.stretch = 2;
    def.drag = 40;
    exi_cloth *cloth = make_cloth(&def);
    for (int frame = 0; frame < 60; frame++)
        exi_cloth_step(cloth, ball->positions, NULL);
    const double *p = exi_cloth_positions(cloth);
    const double area = 0.01, rest = sqrt(0.02), stiffness = def.stretch * area / 0.02;
    const double x = p[3], y = 3 - p[4], length = sqrt(0.01 + y * y);
    assert_near(x, 0, 1e-6);
    assert_true(length > 1.02 * rest);
    assert_near(2 * stiffness * (length - rest) * y / length, area * def.density / 3 * def.gravity, 1e-5);
    exi_cloth_destroy(cloth);
    ex_mesh_destroy(one);
    ex_mesh_destroy(ball);
}

/* A sheet falls onto a ball that rises: no vertex is ever nearer than the thickness, edges nearly keep their lengths,
 * it finally lies still, and a second run gives the same. */
static void it_lies_on_what_moves(void **state) {
    (void)state;
    enum { SIDE = 14, FRAMES = 40 };
    ex_mesh *sheet = make_sheet(SIDE, 0.25, 0.36), *ball = exi_demo_sphere(2);
    double *form = malloc(3 * sizeof(double) * (size_t)ball->vertex_count), *first = NULL, speed = 0;
    assert_non_null(form);
    for (int i = 0; i < 3 * ball->vertex_count; i++)
        ball->positions[i] *= 0.3;
    exi_cloth_def def = exi_cloth_def_default();
    def.cloth = sheet;
    def.driver = ball;
    def.substeps = 16;
    def.search = 4;
    def.friction = 1;
    const size_t bytes = 3 * sizeof(double) * (size_t)sheet->vertex_count;
    for (int run = 0; run < 2; run++) {
        exi_cloth *cloth = make_cloth(&def);
        double *before = malloc(bytes);
        assert_non_null(before);
        for (int frame = 1; frame <= FRAMES; frame++) {
            const double risen = 0.2 * (frame < 20 ? frame / 20.0 : 1);
            for (int i = 0; i < 3 * ball->vertex_count; i++)
                form[i] = ball->positions[i] + (i % 3 == 1 ? risen : 0);
            memcpy(before, exi_cloth_positions(cloth), bytes);
            exi_cloth_step(cloth, form, NULL);
            const double *p = exi_cloth_positions(cloth);
            speed = 0;
            for (int v = 0; v < sheet->vertex_count; v++) {
                double away[3] = {p[3 * v], p[3 * v + 1] - risen, p[3 * v + 2]}, moved[3];
                assert_true(sqrt(exi_dot3(away, away)) >
                            0.3 * 0.95 + def.thickness); /* its faces are inside a sphere */
                exi_subtract(p + 3 * v, before + 3 * v, moved);
                speed = fmax(speed, sqrt(exi_dot3(moved, moved)) / def.frame_time);
            }
        }
        free(before);
        if (run == 0) {
            first = malloc(bytes);
            assert_non_null(first);
            memcpy(first, exi_cloth_positions(cloth), bytes);
        }
        assert_memory_equal(first, exi_cloth_positions(cloth), bytes);
        exi_cloth_destroy(cloth);
    }
    print_message("fastest vertex at the end: %.3f m/s\n", speed);
    assert_true(speed < 0.05);
    double longest = 0;
    for (int h = 0; h < sheet->corner_count; h++) {
        const int a = sheet->corners[h], b = sheet->corners[h % 3 == 2 ? h - 2 : h + 1];
        double was[3], is[3];
        exi_subtract(sheet->positions + 3 * a, sheet->positions + 3 * b, was);
        exi_subtract(first + 3 * a, first + 3 * b, is);
        longest = fmax(longest, sqrt(exi_dot3(is, is) / exi_dot3(was, was)));
    }
    print_message("longest edge: %.3f of what it was\n", longest);
    assert_true(longest < 1.1);
    free(first);
    free(form);
    ex_mesh_destroy(sheet);
    ex_mesh_destroy(ball);
}

/* On a plane that rises by 30 degrees (tangent 0.58) a sheet stays with a friction of 1, and slides down with 0.2 as
 * fast as it should: g (sin - 0.2 cos). */
static void friction_holds_it(void **state) {
    (void)state;
    ex_mesh *sheet = make_sheet(4, 0.05, 0.004), *slope = make_sheet(2, 2, 0);
    for (int m = 0; m < 2; m++) {
        ex_mesh *mesh = m ? slope : sheet;
        for (int v = 0; v < mesh->vertex_count; v++) {
            double *p = mesh->positions + 3 * v, x = p[0], y = p[1];
            p[0] = x * sqrt(0.75) - y * 0.5;
            p[1] = x * 0.5 + y * sqrt(0.75);
        }
    }
    for (int slides = 0; slides < 2; slides++) {
        exi_cloth_def def = exi_cloth_def_default();
        def.cloth = sheet;
        def.driver = slope;
        def.friction = slides ? 0.2 : 1;
        def.drag = 0;
        exi_cloth *cloth = make_cloth(&def);
        for (int frame = 0; frame < 15; frame++)
            exi_cloth_step(cloth, slope->positions, NULL);
        const double down = mean_of(sheet->positions, sheet->vertex_count, 1) -
                            mean_of(exi_cloth_positions(cloth), sheet->vertex_count, 1);
        const double time = 15 * def.frame_time, along = def.gravity * (0.5 - 0.2 * sqrt(0.75)) * time * time / 2;
        assert_near(down, slides ? along / 2 : 0, slides ? 0.03 * along : 1e-4);
        exi_cloth_destroy(cloth);
    }
    ex_mesh_destroy(sheet);
    ex_mesh_destroy(slope);
}

/* A flat, pointed tetrahedron: the four planes determine the inside, near its edges and corners too. */
static void sides_are_right_at_edges_and_corners(void **state) {
    (void)state;
    static const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0.1, 0, 0.6}, {0.35, 0.12, 0.2}};
    static const int faces[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    ex_mesh *solid = make_sheet(2, 1, 0);
    solid->vertex_count = 4;
    solid->face_count = 4;
    solid->corner_count = 12;
    memcpy(solid->positions, corners, sizeof corners);
    memcpy(solid->corners, faces, sizeof faces);
    exi_cloth_driver driver;
    assert_int_equal(exi_cloth_driver_make(solid, &driver, NULL), EX_OK);
    exi_cloth_driver_move(&driver, 1);
    uint64_t seed = 7;
    int inside_count = 0;
    for (int i = 0; i < 3000; i++) {
        double p[3], deepest = -1e9;
        for (int c = 0; c < 3; c++)
            p[c] = random_between(&seed, c == 1 ? -0.1 : -0.3, c == 1 ? 0.25 : c == 0 ? 1.3 : 0.9);
        for (int f = 0; f < 4; f++) {
            double a[3], b[3], n[3], d[3];
            exi_subtract(corners[faces[f][1]], corners[faces[f][0]], a);
            exi_subtract(corners[faces[f][2]], corners[faces[f][0]], b);
            exi_cross(a, b, n);
            exi_unit3(n);
            exi_subtract(p, corners[faces[f][0]], d);
            deepest = fmax(deepest, exi_dot3(n, d));
        }
        exi_cloth_contact contact;
        assert_true(exi_cloth_driver_touch(&driver, p, 10, &contact));
        if (fabs(deepest) > 1e-5)
            assert_int_equal(contact.distance < 0, deepest < 0);
        if (deepest < 0) /* inside a convex solid the nearest plane is the nearest place */
            assert_near(contact.distance, deepest, 1e-5);
        for (int c = 0; c < 3; c++)
            assert_near(contact.point[c] + contact.distance * contact.normal[c], p[c], 2e-6);
        inside_count += deepest < 0;
    }
    assert_true(inside_count > 50);
    exi_cloth_driver_free(&driver);
    ex_mesh_destroy(solid);
}

/* With all vertices pinned, it moves with a driver that turns and shifts, up to rounding. */
static void pins_go_with_the_driver(void **state) {
    (void)state;
    ex_mesh *sheet = make_sheet(3, 0.2, 1.1), *ball = exi_demo_sphere(1), *turned = exi_demo_sphere(1);
    bool pinned[16];
    memset(pinned, true, sizeof pinned);
    exi_cloth_def def = exi_cloth_def_default();
    def.cloth = sheet;
    def.driver = ball;
    def.pinned = pinned;
    exi_cloth *cloth = make_cloth(&def);
    for (int v = 0; v < ball->vertex_count; v++) {
        const double *p = ball->positions + 3 * v;
        turned->positions[3 * v] = 0.8 * p[0] - 0.6 * p[1] + 0.3;
        turned->positions[3 * v + 1] = 0.6 * p[0] + 0.8 * p[1];
    }
    exi_cloth_step(cloth, turned->positions, NULL);
    for (int v = 0; v < sheet->vertex_count; v++) {
        const double *p = sheet->positions + 3 * v, *q = exi_cloth_positions(cloth) + 3 * v;
        assert_near(q[0], 0.8 * p[0] - 0.6 * p[1] + 0.3, 1e-9);
        assert_near(q[1], 0.6 * p[0] + 0.8 * p[1], 1e-9);
        assert_near(q[2], p[2], 1e-9);
    }
    exi_cloth_destroy(cloth);
    ex_mesh_destroy(sheet);
    ex_mesh_destroy(ball);
    ex_mesh_destroy(turned);
}

/* It begins at the given form, and hangs below its targets by gravity over their pull. */
static void targets_draw_it(void **state) {
    (void)state;
    ex_mesh *sheet = make_sheet(4, 0.1, 2), *start = make_sheet(4, 0.1, 2.2), *ball = exi_demo_sphere(0);
    exi_cloth_def def = exi_cloth_def_default();
    def.cloth = sheet;
    def.start = start->positions;
    def.driver = ball;
    def.drag = 20;
    exi_cloth *cloth = make_cloth(&def);
    assert_memory_equal(exi_cloth_positions(cloth), start->positions, 3 * sizeof(double) * 25);
    for (int frame = 0; frame < 60; frame++)
        exi_cloth_step(cloth, ball->positions, sheet->positions);
    for (int v = 0; v < sheet->vertex_count; v++)
        assert_near(exi_cloth_positions(cloth)[3 * v + 1], 2 - def.gravity / def.target, 1e-4);
    exi_cloth_destroy(cloth);
    ex_mesh_destroy(sheet);
    ex_mesh_destroy(start);
    ex_mesh_destroy(ball);
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    ex_mesh *sheet = make_sheet(2, 1, 2), *ball = exi_demo_sphere(0);
    exi_cloth_def def = exi_cloth_def_default();
    exi_cloth *cloth = NULL;
    ex_error error;
    def.cloth = sheet;
    def.driver = ball;
    sheet->face_offsets[5] = 16;
    assert_int_equal(exi_cloth_create(&def, &cloth, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "face 4 of the cloth is not a triangle");
    assert_null(cloth);
    sheet->face_offsets[5] = 15;
    memcpy(sheet->corners + 9, (const int[3]){0, 1, 0}, 3 * sizeof(int));
    assert_int_equal(exi_cloth_create(&def, &cloth, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "triangle 3 of the cloth has no area");
    ex_mesh_destroy(sheet);
    ex_mesh_destroy(ball);
}

static ex_result drape(void *context) {
    exi_cloth *cloth = NULL;
    ex_result result = exi_cloth_create(context, &cloth, NULL);
    exi_cloth_destroy(cloth);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    ex_mesh *sheet = make_sheet(2, 1, 2), *ball = exi_demo_sphere(0);
    bool pinned[9] = {true};
    exi_cloth_def def = exi_cloth_def_default();
    def.cloth = sheet;
    def.driver = ball;
    def.pinned = pinned;
    assert_true(fail_alloc_sweep(drape, &def) > 15);
    ex_mesh_destroy(sheet);
    ex_mesh_destroy(ball);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_falls),
        cmocka_unit_test(it_does_not_shake),
        cmocka_unit_test(it_hangs_by_its_edges),
        cmocka_unit_test(it_lies_on_what_moves),
        cmocka_unit_test(friction_holds_it),
        cmocka_unit_test(sides_are_right_at_edges_and_corners),
        cmocka_unit_test(pins_go_with_the_driver),
        cmocka_unit_test(targets_draw_it),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("demos.cloth", tests, NULL, NULL);
}
