/*
 * Normals of baked files: a box with hard edges keeps them, and a target turns them with its faces. By hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/bakes.h"
#include "support/check.h"
#include "support/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A box: corner v has the coordinates of its bits; face f looks along axis f / 2, backwards if f is odd. */
enum { CORNERS = 8, FACES = 6, SPLITS = 24 };

typedef struct box {
    float positions[CORNERS][3], normals[SPLITS][3], lean[CORNERS][3];
    uint32_t sources[SPLITS], sizes[FACES], corners[SPLITS], triangles[2 * FACES][3];
    ex_axis axis;
    const float *deltas[1];
    ex_layer_def layer;
    ex_rig_def def;
} box;

/* The split vertex of a corner that looks along an axis. */
static uint32_t split_of(int corner, int axis) {
    return (uint32_t)(3 * corner + axis);
}

/* tilt: the share of the next axis in a normal, as an artist may have turned it. */
static void box_open(box *b, float tilt) {
    static const char *const names[] = {"lean"};
    memset(b, 0, sizeof *b);
    for (int v = 0; v < CORNERS; v++)
        for (int a = 0; a < 3; a++) {
            const uint32_t s = split_of(v, a);
            b->positions[v][a] = v >> a & 1 ? 1.0F : 0;
            b->sources[s] = (uint32_t)v;
            b->normals[s][a] = (v >> a & 1 ? 1.0F : -1.0F) / sqrtf(1 + tilt * tilt);
            b->normals[s][(a + 1) % 3] = tilt / sqrtf(1 + tilt * tilt);
        }
    for (int f = 0; f < FACES; f++) {
        const int a = f / 2, up = (a + 1) % 3, side = (a + 2) % 3, at = f % 2 ? 0 : 1 << a;
        const int round[4] = {at, at | 1 << up, at | 1 << up | 1 << side, at | 1 << side};
        b->sizes[f] = 4;
        for (int c = 0; c < 4; c++)
            b->corners[4 * f + c] = split_of(round[f % 2 ? 3 - c : c], a);
        for (int t = 0; t < 2; t++)
            for (int c = 0; c < 3; c++)
                b->triangles[2 * f + t][c] = b->corners[4 * f + (c == 0 ? 0 : t + c)];
    }
    /* The top moves along x by its height: faces that look along x turn by 45 degrees about z. */
    for (int v = 0; v < CORNERS; v++)
        b->lean[v][0] = b->positions[v][1];
    b->axis = ex_axis_scalar(0, 1, 0);
    b->deltas[0] = b->lean[0];
    b->layer = (ex_layer_def){.name = "lean",
                              .weigh = ex_weigher_def_default(),
                              .axis_names = names,
                              .example_names = names,
                              .form.deltas = b->deltas};
    b->layer.weigh.kind = EX_WEIGHER_DIRECT;
    b->layer.weigh.axes = &b->axis;
    b->layer.weigh.axis_count = b->layer.weigh.example_count = 1;
    b->def = ex_rig_def_default();
    b->def.mesh = (ex_rig_mesh){.vertex_count = CORNERS,
                                .positions = b->positions[0],
                                .split_count = SPLITS,
                                .split_source = b->sources,
                                .normals = b->normals[0],
                                .face_count = FACES,
                                .corner_count = SPLITS,
                                .face_sizes = b->sizes,
                                .corners = b->corners,
                                .triangle_count = 2 * FACES,
                                .triangles = b->triangles[0]};
    b->def.layers = &b->layer;
    b->def.layer_count = 1;
}

static ex_scene *bake_box(const box *b) {
    ex_rig *rig = NULL;
    ex_scene *scene = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_rig_create(&b->def, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_motion *motion = bake_motion(rig, 8, 7, 80);
    if (ex_bake_glb(rig, motion, scratch_path("box.glb"), NULL, NULL, &error) != EX_OK ||
        ex_scene_read(scratch_path("box.glb"), &scene, &error) != EX_OK)
        fail_msg("%s", error.text);
    bake_motion_free(motion);
    ex_rig_destroy(rig);
    assert_int_equal(scene->meshes[0].primitive_count, 1);
    assert_int_equal(scene->meshes[0].primitives[0].vertex_count, SPLITS);
    assert_int_equal(scene->meshes[0].target_count, 1);
    return scene;
}

/* The axis that a split of the file looks along, found by its largest component, and its corner. */
static int axis_of(const float *normal) {
    int axis = 0;
    for (int a = 1; a < 3; a++)
        axis = fabsf(normal[a]) > fabsf(normal[axis]) ? a : axis;
    return axis;
}

static void test_hard_edges(void **state) {
    (void)state;
    box b;
    box_open(&b, 0);
    ex_scene *scene = bake_box(&b);
    const ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    bool seen[SPLITS] = {false};
    for (size_t v = 0; v < SPLITS; v++) {
        const float *n = p->normals + 3 * v, *change = p->targets[0].normals + 3 * v, *x = p->positions + 3 * v;
        const int axis = axis_of(n), corner = (x[0] > 0.5F) + 2 * (x[1] > 0.5F) + 4 * (x[2] > 0.5F);
        const double sign = corner >> axis & 1 ? 1 : -1;
        /* The faces along x turn with the lean; the others stay: y and z slide in themselves. */
        const double turned = sqrt(0.5);
        const double leans[3] = {axis == 0 ? sign * turned : 0, axis == 0 ? -sign * turned : 0, 0};
        assert_false(seen[split_of(corner, axis)]);
        seen[split_of(corner, axis)] = true;
        for (int c = 0; c < 3; c++) {
            assert_near((double)n[c], c == axis ? sign : 0, 1e-6);
            assert_near((double)n[c] + (double)change[c], axis == 0 ? leans[c] : c == axis ? sign : 0, 1e-6);
        }
    }
    ex_scene_destroy(scene);
}

/* Normals that are not those of the faces stay as they are at rest, and turn with the faces by the same 45 degrees. */
static void test_tilted(void **state) {
    (void)state;
    box b;
    box_open(&b, 0.25F);
    ex_scene *scene = bake_box(&b);
    const ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    for (size_t v = 0; v < SPLITS; v++) {
        const float *n = p->normals + 3 * v, *change = p->targets[0].normals + 3 * v, *x = p->positions + 3 * v;
        const int axis = axis_of(n), corner = (x[0] > 0.5F) + 2 * (x[1] > 0.5F) + 4 * (x[2] > 0.5F);
        const float *own = b.normals[split_of(corner, axis)];
        const double half = sqrt(0.5), m[3] = {(double)own[0], (double)own[1], (double)own[2]};
        /* About z, from x towards -y. */
        const double turned[3] = {half * (m[0] + m[1]), half * (m[1] - m[0]), m[2]};
        for (int c = 0; c < 3; c++) {
            assert_near((double)n[c], m[c], 1e-6);
            assert_near((double)n[c] + (double)change[c], axis == 0 ? turned[c] : m[c], 1e-6);
        }
    }
    ex_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hard_edges), cmocka_unit_test(test_tilted)};
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
