/*
 * The demo `creature`: its skin is one closed surface at any size of triangles, of full triangles that lie on its flesh
 * and are the same on every run; its poses keep volume and edges and cross themselves nowhere.
 */
#include "posed.h"
#include "surfaces.h"

#include "demos/creature/creature.h"
#include "support/check.h"
#include "support/fail_alloc.h"

static void the_field_is_a_distance_at_most(void **state) {
    (void)state;
    exi_creature_flesh flesh;
    exi_creature_flesh_make(&flesh);
    uint64_t seed = 3;
    for (int i = 0; i < 2000; i++) {
        double p[3], q[3], g[3], apart = 0, squared = 0;
        for (int c = 0; c < 3; c++) {
            p[c] = random_between(&seed, -1.2, 1.0) * (c == 2 ? 0.3 : 1);
            q[c] = p[c] + random_between(&seed, -0.05, 0.05);
            apart += (p[c] - q[c]) * (p[c] - q[c]);
        }
        const double value = exi_creature_field(&flesh, p, g);
        assert_true(fabs(exi_creature_field(&flesh, q, NULL) - value) <= sqrt(apart) * (1 + 1e-9));
        /* The gradient against differences, except near a bar's axis or the edge of a soft union. */
        double difference[3];
        for (int c = 0; c < 3; c++) {
            double a[3] = {p[0], p[1], p[2]}, b[3] = {p[0], p[1], p[2]};
            a[c] -= 1e-6;
            b[c] += 1e-6;
            difference[c] = (exi_creature_field(&flesh, b, NULL) - exi_creature_field(&flesh, a, NULL)) / 2e-6;
            squared += (difference[c] - g[c]) * (difference[c] - g[c]);
        }
        assert_true(squared < 1e-6 || value < -0.02);
    }
    /* Left and right are alike. */
    const double left[3] = {0.21, 0.3, -0.15}, right[3] = {0.21, 0.3, 0.15};
    assert_near(exi_creature_field(&flesh, left, NULL), exi_creature_field(&flesh, right, NULL), 1e-12);
}

static void the_skin_is_a_closed_surface(void **state) {
    (void)state;
    static const double spacings[] = {0.07, 0.055, 0.043};
    exi_creature_flesh flesh;
    exi_creature_flesh_make(&flesh);
    for (size_t i = 0; i < sizeof spacings / sizeof *spacings; i++) {
        ex_mesh *mesh = exi_creature_mesh(spacings[i]);
        assert_non_null(mesh);
        check_sphere(mesh);
        assert_true(mesh->face_count > 4.9 / (spacings[i] * spacings[i]));
        assert_true(mesh->face_count < 6.9 / (spacings[i] * spacings[i]));
        for (int v = 0; v < mesh->vertex_count; v++)
            assert_true(fabs(exi_creature_field(&flesh, mesh->positions + 3 * v, NULL)) < 0.02 * spacings[i]);
        ex_mesh_destroy(mesh);
    }
}

/* The least angle of any triangle, in degrees. */
static double least_angle(const ex_mesh *mesh) {
    double least = 180;
    for (int h = 0; h < mesh->corner_count; h++) {
        const int t = h / 3 * 3, a = mesh->corners[h], b = mesh->corners[t + (h + 1) % 3],
                  c = mesh->corners[t + (h + 2) % 3];
        const double ab = edge_length(mesh->positions, a, b), ac = edge_length(mesh->positions, a, c),
                     bc = edge_length(mesh->positions, b, c);
        least = fmin(least, acos((ab * ab + ac * ac - bc * bc) / (2 * ab * ac)) * 180 / 3.14159265358979);
    }
    return least;
}

static void triangles_are_full_and_always_the_same(void **state) {
    (void)state;
    ex_mesh *mesh = exi_creature_mesh(CREATURE_SPACING), *again = exi_creature_mesh(CREATURE_SPACING);
    assert_true(mesh && again);
    print_message("%d triangles, least angle %.1f degrees\n", mesh->face_count, least_angle(mesh));
    assert_true(least_angle(mesh) > 15);
    assert_int_equal(mesh->vertex_count, again->vertex_count);
    assert_memory_equal(mesh->positions, again->positions, (size_t)mesh->vertex_count * 3 * sizeof(double));
    assert_memory_equal(mesh->corners, again->corners, (size_t)mesh->corner_count * sizeof(int));
    ex_mesh_destroy(mesh);
    ex_mesh_destroy(again);
}

static void poses_keep_volume_and_edges(void **state) {
    (void)state;
    ex_mesh *mesh = exi_creature_mesh(CREATURE_SPACING), *form = ex_mesh_copy(mesh);
    ex_skin *skin = exi_creature_skin(mesh);
    int crossings = 0;
    assert_non_null(skin);
    assert_int_equal(ex_mesh_count_self_intersections(mesh, NULL, &crossings, NULL), EX_OK);
    assert_int_equal(crossings, 0);
    const double volume = volume_of(mesh, mesh->positions);
    assert_true(volume > 0.07 && volume < 0.1); /* triangles look outwards */
    check_sphere(mesh);
    for (int pose = 0; pose < CREATURE_POSES; pose++) {
        assert_int_equal(exi_creature_posed(mesh, skin, (exi_creature_pose)pose, form->positions, NULL), EX_OK);
        assert_int_equal(ex_mesh_count_self_intersections(form, NULL, &crossings, NULL), EX_OK);
        print_message("%s: volume %.3f, edges beyond 1.5: %.4f, beyond 3: %.4f, crossings %d\n",
                      exi_creature_pose_names[pose], volume_of(mesh, form->positions) / volume,
                      stretched_part(mesh, form->positions, 1.5), stretched_part(mesh, form->positions, 3), crossings);
        assert_near(volume_of(mesh, form->positions) / volume, 1, 0.12);
        assert_true(stretched_part(mesh, form->positions, 1.5) < 0.08);
        assert_true(stretched_part(mesh, form->positions, 3) < 0.002);
        assert_int_equal(crossings, 0);
        double lowest = 1, farthest = 0;
        for (int v = 0; v < mesh->vertex_count; v++) {
            lowest = fmin(lowest, form->positions[3 * v + 1]);
            farthest = fmax(farthest, fabs(form->positions[3 * v] - mesh->positions[3 * v]));
        }
        assert_near(lowest, pose == CREATURE_LEAP ? 0.12 : 0, 1e-5);
        assert_true(farthest > 0.2);
    }
    ex_skin_destroy(skin);
    ex_mesh_destroy(form);
    ex_mesh_destroy(mesh);
}

/* Through the rig, with large triangles: every example comes back, the tail's on top of no pose; and halfway to a kick,
 * where straight lines shrink the feet, paths keep them. */
static void the_rig_keeps_its_ends(void **state) {
    (void)state;
    posed_demo d;
    assert_int_equal(exi_creature_write(scratch_path("."), 0.07, NULL), EX_OK);
    posed_read(&d, "creature.json");
    for (int pose = 0; pose < CREATURE_POSES; pose++) {
        char file[32];
        ex_mesh *form = NULL;
        double worst = 0;
        snprintf(file, sizeof file, "%s.obj", exi_creature_pose_names[pose]);
        assert_int_equal(ex_mesh_read(scratch_path(file), &form, NULL), EX_OK);
        assert_int_equal(ex_mesh_compare_connectivity(d.mesh, form, NULL), EX_OK);
        const float *at = posed_at(&d, true, "%s=1", exi_creature_pose_names[pose]);
        for (int i = 0; i < 3 * form->vertex_count; i++)
            worst = fmax(worst, fabs((double)at[i] - form->positions[i]) / ex_mesh_size(form));
        assert_true(worst < 1e-6);
        ex_mesh_destroy(form);
    }
    double *half = malloc(3 * sizeof(double) * (size_t)d.mesh->vertex_count), part[2];
    assert_non_null(half);
    for (int linear = 0; linear < 2; linear++) {
        if (linear) {
            posed_close(&d);
            posed_read(&d, "creature_linear.json");
        }
        const float *at = posed_at(&d, true, "kick=0.5");
        for (int i = 0; i < 3 * d.mesh->vertex_count; i++)
            half[i] = (double)at[i];
        part[linear] = stretched_part(d.mesh, half, 1.5);
    }
    print_message("edges beyond 1.5 half-way to a kick: %.4f, on straight lines %.4f\n", part[0], part[1]);
    assert_true(part[0] < 0.03 && part[1] > 0.1);
    free(half);
    posed_close(&d);
}

static ex_result make_creature(void *context) {
    (void)context;
    ex_mesh *mesh = exi_creature_mesh(0.12);
    ex_skin *skin = mesh ? exi_creature_skin(mesh) : NULL;
    ex_result result = EX_ERROR_MEMORY;
    if (skin)
        result = exi_creature_posed(mesh, skin, CREATURE_SIT, mesh->positions, NULL);
    ex_skin_destroy(skin);
    ex_mesh_destroy(mesh);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    assert_true(fail_alloc_sweep(make_creature, NULL) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_field_is_a_distance_at_most),
        cmocka_unit_test(the_skin_is_a_closed_surface),
        cmocka_unit_test(triangles_are_full_and_always_the_same),
        cmocka_unit_test(poses_keep_volume_and_edges),
        cmocka_unit_test_setup_teardown(the_rig_keeps_its_ends, scratch_set_up, scratch_tear_down),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("demos.creature", tests, NULL, NULL);
}
