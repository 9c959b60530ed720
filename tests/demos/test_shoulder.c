/*
 * The demo `shoulder` (Pose Space Deformation, figure 8): sculpts come back, over an axis that ignores the quaternion's
 * sign and the turn about the arm; between them the joint stays as thick as at rest, whereas skinning alone makes it
 * thinner, and no two triangles meet.
 */
#include "posed.h"

#include "demos/bones.h"
#include "demos/shoulder/shoulder.h"
#include "support/fail_alloc.h"

enum { SCULPTS = 7 };

static posed_demo demo;

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    posed_open(&demo, "shoulder");
    return 0;
}

static int tear_down(void **state) {
    posed_close(&demo);
    return scratch_tear_down(state);
}

/* ---- the form ---- */

static void is_a_closed_surface(void **state) {
    (void)state;
    const ex_mesh *mesh = demo.mesh;
    static unsigned char edges[SHOULDER_VERTICES][SHOULDER_VERTICES];
    double volume = 0;
    int count = 0;
    assert_int_equal(mesh->vertex_count, SHOULDER_VERTICES);
    assert_int_equal(mesh->face_count, SHOULDER_FACES);
    for (int f = 0; f < mesh->face_count; f++) {
        const int *c = mesh->corners + mesh->face_offsets[f], n = mesh->face_offsets[f + 1] - mesh->face_offsets[f];
        for (int i = 0; i < n; i++)
            edges[c[i]][c[(i + 1) % n]]++;
        for (int i = 1; i + 1 < n; i++) {
            const double *p = mesh->positions + 3 * c[0], *q = mesh->positions + 3 * c[i],
                         *r = mesh->positions + 3 * c[i + 1];
            volume += (p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) +
                       p[2] * (q[0] * r[1] - q[1] * r[0])) /
                      6;
        }
    }
    for (int i = 0; i < SHOULDER_VERTICES; i++)
        for (int k = 0; k < SHOULDER_VERTICES; k++) {
            assert_true(edges[i][k] <= 1 && edges[i][k] == edges[k][i]);
            count += edges[i][k];
        }
    assert_int_equal(SHOULDER_VERTICES - count / 2 + SHOULDER_FACES, 2);
    assert_true(volume > 0.015 && volume < 0.02); /* faces look outwards */
    for (int v = 0; v < SHOULDER_VERTICES; v++)
        assert_true(fabs(exi_shoulder_field(mesh->positions + 3 * v)) < 1e-6);
}

/* ---- the space ---- */

static void every_sculpt_comes_back(void **state) {
    (void)state;
    check_sculpts(&demo, false);
}

static void weights_at(const double rotation[4], double weights[SCULPTS]) {
    ex_rig_rest_pose(demo.rig, &demo.pose);
    const int arm = ex_skeleton_find(ex_rig_skeleton(demo.rig), "arm");
    for (int c = 0; c < 4; c++)
        demo.pose.joints[arm].rotation[c] = (float)rotation[c];
    ex_rig_evaluate(demo.rig, &demo.pose, &(ex_output){.weights = weights}, NULL, demo.scratch);
}

static void weights_do_not_see_sign_and_turn(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        /* Directions all around, and turns about the arm before them. */
        const double tilt = 0.012 * i, way = 2.4 * i, half = 0.7 * i;
        const double swing[4] = {0, sin(tilt / 2) * sin(way), sin(tilt / 2) * cos(way), cos(tilt / 2)};
        const double s = sin(half), c = cos(half);
        const double turned[4] = {swing[3] * s, swing[1] * c + swing[2] * s, swing[2] * c - swing[1] * s, swing[3] * c};
        const double opposite[4] = {-swing[0], -swing[1], -swing[2], -swing[3]};
        double one[SCULPTS], other[SCULPTS], third[SCULPTS], largest = 0;
        weights_at(swing, one);
        weights_at(opposite, other);
        weights_at(turned, third);
        for (int k = 0; k < SCULPTS; k++) {
            assert_true(one[k] == other[k]);
            assert_true(fabs(one[k] - third[k]) < 1e-5);
            largest = fmax(largest, fabs(one[k]));
        }
        assert_true(largest < 1.5);
    }
}

static void weights_are_calm(void **state) {
    (void)state;
    ex_weigher_def def;
    ex_weigher_describe(ex_rig_weigher(demo.rig, 0), &def, NULL, NULL);
    assert_int_equal(def.example_count, SCULPTS);
    assert_int_equal(def.pseudo_count, 1); /* rest */
    assert_int_equal(def.kind, EX_WEIGHER_CALM);
}

/* ---- the joint ---- */

/* Distance from the joint to the skin halfway between torso and arm, on the side from which the arm swings, relative to
 * that at rest; on the other side flesh is compressed. */
static double thickness(const float *positions, const double to[3]) {
    double least = INFINITY;
    for (int v = 0; v < SHOULDER_VERTICES; v++) {
        const double *p = demo.mesh->positions + 3 * v;
        const float *q = positions + 3 * v;
        if (fabs(p[0]) < 0.012 && p[1] * to[1] + p[2] * to[2] < -0.02) {
            const double rest = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
            least = fmin(least, sqrt((double)(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])) / rest);
        }
    }
    return least;
}

static void joint_keeps_its_thickness(void **state) {
    (void)state;
    const double degree = 3.14159265358979323846 / 180;
    double least = INFINITY, alone = INFINITY;
    for (int y = -80; y <= 40; y += 20)
        for (int z = -70; z <= 60; z += 10) {
            const double to[3] = {cos(y * degree) * cos(z * degree), sin(z * degree),
                                  -sin(y * degree) * cos(z * degree)};
            int crossings = -1;
            if ((y < -60 && abs(z) > 30) || (abs(y) >= 40 && z > 50))
                continue; /* across the chest, or up and to the side: beyond the sculpts */
            posed_at(&demo, true, "shoulder=y%dz%d", y, z);
            least = fmin(least, thickness(demo.positions, to));
            assert_int_equal(ex_mesh_count_self_intersections(demo.mesh, demo.positions, &crossings, NULL), EX_OK);
            if (crossings > 0)
                fail_msg("%d crossings at y%dz%d", crossings, y, z);
            alone = fmin(alone, thickness(posed_at(&demo, false, "shoulder=y%dz%d", y, z), to));
        }
    print_message("least thickness of the joint: %.2f of that at rest, of skinning alone %.2f\n", least, alone);
    assert_true(least > 0.9);
    assert_true(alone < 0.8);
}

/* ---- memory ---- */

static ex_result make_mesh(void *context) {
    (void)context;
    ex_mesh *mesh = exi_shoulder_mesh();
    ex_mesh_destroy(mesh);
    return mesh ? EX_OK : EX_ERROR_MEMORY;
}

static void on_one(const double place[3], float weights[BONES_MAX]) {
    (void)place;
    memset(weights, 0, BONES_MAX * sizeof *weights);
    weights[1] = 1;
}

static ex_result make_scene(void *context) {
    static const exi_bone bones[] = {{"root", -1, {0, 1, 2}}, {"tip", 0, {3, 1, 2}}};
    ex_scene *scene = NULL;
    const ex_result result = exi_bones_scene(&(exi_bones){"thing", bones, 2, on_one}, context, &scene, NULL);
    ex_scene_destroy(scene);
    return result;
}

static void survives_a_lack_of_memory(void **state) {
    (void)state;
    ex_mesh *small = exi_demo_sphere(0);
    assert_true(fail_alloc_sweep(make_mesh, NULL) >= 4);
    assert_true(fail_alloc_sweep(make_scene, small) > 10);
    ex_mesh_destroy(small);
}

static void and_under_dual_quaternions(void **state) {
    (void)state;
    check_sculpts_of_dual_quaternions("shoulder");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_a_closed_surface),        cmocka_unit_test(every_sculpt_comes_back),
        cmocka_unit_test(and_under_dual_quaternions), cmocka_unit_test(weights_do_not_see_sign_and_turn),
        cmocka_unit_test(weights_are_calm),           cmocka_unit_test(joint_keeps_its_thickness),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests_name("demos.shoulder", tests, set_up, tear_down);
}
