/*
 * The demos `bar`, `stretch` and `cylinder`: closed bars; bends keep the centre line's length and turn the end by the
 * given angle; links of the chain are rigid; no example crosses itself.
 */
#include "posed.h"
#include "surfaces.h"

#include "demos/tube.h"
#include "support/check.h"
#include "support/fail_alloc.h"

static void is_closed(void **state) {
    (void)state;
    const exi_tube tube = {.rings = 12, .around = 8, .length = 2, .half = 0.25};
    ex_mesh *mesh = exi_tube_create(&tube);
    assert_non_null(mesh);
    assert_int_equal(mesh->vertex_count, 2 + 20 * 8);
    check_sphere(mesh);
    /* A prism over an octagon: 8 triangles of two radii and 45 degrees; its edges are a little rounded at the ends. */
    assert_near(volume_of(mesh, mesh->positions), 2 * 8 * 0.5 * 0.25 * 0.25 * sin(0.785398163397448), 0.01);
    ex_mesh_destroy(mesh);
}

/* A quarter turn about the middle: the ends' planes are perpendicular, and the line has its length. */
static void bends_by_what_is_said(void **state) {
    (void)state;
    const exi_tube_bend bend = {1, 1, 90};
    exi_tube tube = {.rings = 41, .around = 4, .length = 2, .half = 0.1, .bends = &bend, .bend_count = 1, .hold = 1};
    ex_mesh *mesh = exi_tube_create(&tube);
    assert_non_null(mesh);
    const double *p = mesh->positions;
    double length = 0, middle[2][3];
    for (int r = 0; r < 49; r++) { /* all rings, those of the ends too */
        double *now = middle[r % 2];
        for (int c = 0; c < 3; c++) {
            now[c] = 0;
            for (int i = 0; i < 4; i++)
                now[c] += p[3 * (2 + 4 * r + i) + c] / 4;
        }
        if (r > 0)
            length += sqrt((middle[0][0] - middle[1][0]) * (middle[0][0] - middle[1][0]) +
                           (middle[0][1] - middle[1][1]) * (middle[0][1] - middle[1][1]));
    }
    assert_near(length, 2, 1e-3);
    /* Across, at both ends: from a corner to the opposite one. */
    const double *first = p + 6, *last = p + 3 * (2 + 4 * 48);
    const double across[2][2] = {{first[0] - first[6], first[1] - first[7]}, {last[0] - last[6], last[1] - last[7]}};
    assert_near(across[0][0] * across[1][0] + across[0][1] * across[1][1], 0, 1e-5);
    ex_mesh_destroy(mesh);
}

static void links_are_rigid(void **state) {
    (void)state;
    const exi_tube_bend straight[2] = {{1, 0.4, 0}, {2, 0.4, 0}}, bent[2] = {{1, 0.4, 70}, {2, 0.4, -50}};
    exi_tube tube = {
        .rings = 30, .around = 6, .length = 3, .half = 0.1, .bends = straight, .bend_count = 2, .hinges = true};
    ex_mesh *mesh = exi_tube_create(&tube);
    double *moved = malloc(3 * sizeof(double) * (size_t)mesh->vertex_count);
    assert_true(mesh && moved);
    tube.bends = bent;
    exi_tube_shape(&tube, moved);
    double worst = 0;
    for (int a = 0; a < mesh->vertex_count; a++)
        for (int b = 0; b < a; b++) {
            const double x = mesh->positions[3 * a], y = mesh->positions[3 * b];
            assert_true(fabs(x - 1) > 0.19 && fabs(x - 2) > 0.19);
            if ((int)x == (int)y && x < 3 && y < 3)
                worst = fmax(worst, fabs(edge_length(mesh->positions, a, b) - edge_length(moved, a, b)));
        }
    assert_true(worst < 5e-6); /* positions are rounded to a millionth */
    free(moved);
    ex_mesh_destroy(mesh);
}

static void examples_do_not_cross_themselves(void **state) {
    (void)state;
    static const char *const files[] = {"straight.obj", "bend90.obj", "bend160.obj", "stretched.obj", "folded.obj"};
    ex_result (*const demos[])(const char *, ex_error *) = {exi_demo_bar, exi_demo_stretch, exi_demo_cylinder};
    for (int d = 0; d < 3; d++) {
        assert_int_equal(demos[d](scratch_path("."), NULL), EX_OK);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            ex_mesh *mesh = NULL;
            int crossings = -1;
            if (ex_mesh_read(scratch_path(files[i]), &mesh, NULL) != EX_OK)
                continue;
            assert_int_equal(ex_mesh_count_self_intersections(mesh, NULL, &crossings, NULL), EX_OK);
            assert_int_equal(crossings, 0);
            if (i == 0)
                check_sphere(mesh);
            ex_mesh_destroy(mesh);
        }
    }
}

#define LAYER                                                                                                          \
    "{\"name\": \"bend\", \"space\": [{\"name\": \"t\", \"min\": 0, \"max\": 1}], \"weigh\": {\"kind\": \"direct\"}, " \
    "\"shape\": \"trajectory\", \"trajectory\": {\"mode\": \"paper\"}, "                                               \
    "\"examples\": [{\"name\": \"bent\", \"mesh\": \"bent.obj\"}]}"
#define OTHER                                                                                                          \
    ", {\"name\": \"other\", \"space\": [{\"name\": \"other\", \"min\": 0, \"max\": 1}], "                             \
    "\"weigh\": {\"kind\": \"direct\"}, \"shape\": \"positions\", "                                                    \
    "\"examples\": [{\"name\": \"same\", \"mesh\": \"straight.obj\"}]}"
#define PROJECT(layers) "{\"exemplar\": 1, \"mesh\": \"straight.obj\", \"layers\": [" layers "]}"

/* A single example takes a shorter path through the blend than one next to another layer, with the same result. */
static void a_path_goes_the_same_way_in_company(void **state) {
    (void)state;
    static const char *const projects[2] = {PROJECT(LAYER), PROJECT(LAYER OTHER)};
    const exi_tube_bend bend = {1, 1, 120};
    exi_tube tube = {.rings = 12, .around = 8, .length = 2, .half = 0.15, .hold = 1};
    ex_mesh *mesh = exi_tube_create(&tube);
    float *alone = malloc(12 * (size_t)mesh->vertex_count);
    assert_non_null(alone);
    assert_int_equal(exi_demo_write_mesh(scratch_path("."), "straight.obj", mesh, NULL), EX_OK);
    tube.bends = &bend;
    tube.bend_count = 1;
    exi_tube_shape(&tube, mesh->positions);
    assert_int_equal(exi_demo_write_mesh(scratch_path("."), "bent.obj", mesh, NULL), EX_OK);
    for (int i = 0; i < 2; i++) {
        posed_demo d;
        assert_int_equal(exi_demo_write_text(scratch_path("."), "path.json", projects[i], NULL), EX_OK);
        posed_read(&d, "path.json");
        const float *at = posed_at(&d, true, i ? "t=0.4 other=0.7" : "t=0.4");
        for (int k = 0; k < 3 * mesh->vertex_count; k++)
            if (i == 0)
                alone[k] = at[k];
            else
                assert_near((double)at[k], (double)alone[k], 1e-5);
        posed_close(&d);
    }
    free(alone);
    ex_mesh_destroy(mesh);
}

static ex_result make_tube(void *context) {
    (void)context;
    ex_mesh *mesh = exi_tube_create(&(exi_tube){.rings = 4, .around = 4, .length = 1, .half = 0.1});
    const ex_result result = mesh ? EX_OK : EX_ERROR_MEMORY;
    ex_mesh_destroy(mesh);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    assert_true(fail_alloc_sweep(make_tube, NULL) >= 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_closed),
        cmocka_unit_test(bends_by_what_is_said),
        cmocka_unit_test(links_are_rigid),
        cmocka_unit_test_setup_teardown(examples_do_not_cross_themselves, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(a_path_goes_the_same_way_in_company, scratch_set_up, scratch_tear_down),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("demos.tube", tests, NULL, NULL);
}
