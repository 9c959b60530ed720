/*
 * Skinned glTF files of other programs as projects: mesh and skeleton from one file, posed along its animation by the
 * rig and by glTF's own formula in double; and unpacked and built again to the same bytes.
 */
#include "author/project/projects.h"
#include "support/skip.h"

#include <unistd.h>

/* Vertices of all nodes with the skin, as glTF places them at these worlds: [vertex_count][3]. */
static int place_vertices(const ex_scene *scene, const double *worlds, double *out, int room) {
    int count = 0;
    for (int n = 0; n < scene->node_count; n++) {
        const ex_scene_node *node = &scene->nodes[n];
        if (node->mesh < 0 || node->skin < 0)
            continue;
        double *matrices = malloc((size_t)scene->skins[node->skin].joint_count * 16 * sizeof *matrices);
        assert_non_null(matrices);
        ex_scene_skin_matrices(scene, node->skin, worlds, matrices);
        for (int p = 0; p < scene->meshes[node->mesh].primitive_count; p++) {
            const ex_scene_primitive *primitive = &scene->meshes[node->mesh].primitives[p];
            for (int v = 0; v < primitive->vertex_count; v++, count++) {
                assert_true(count < room);
                for (int r = 0; r < 3; r++) {
                    double sum = 0;
                    for (int i = 0; i < primitive->influence_count; i++) {
                        const double *m = matrices + 16 * primitive->joints[v * primitive->influence_count + i];
                        const float *x = primitive->positions + 3 * v;
                        sum += (double)primitive->weights[v * primitive->influence_count + i] *
                               (m[r] * (double)x[0] + m[4 + r] * (double)x[1] + m[8 + r] * (double)x[2] + m[12 + r]);
                    }
                    out[3 * count + r] = sum;
                }
            }
        }
        free(matrices);
    }
    return count;
}

/* Joints that the file moves, in the rig's pose. Nodes above a root joint are part of its transform. */
static void pose_joints(const ex_scene *scene, const ex_rig *rig, const ex_scene_transform *transforms,
                        const double *worlds, const ex_pose *pose) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    for (int j = 0; j < ex_skeleton_joint_count(skeleton); j++) {
        const int node = scene->skins[0].joints[j];
        const ex_scene_transform *t = &transforms[node];
        if (ex_skeleton_parent(skeleton, j) < 0) {
            float rows[12];
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 4; c++)
                    rows[4 * r + c] = (float)worlds[16 * node + 4 * c + r];
            assert_true(ex_transform_from_matrix(rows, &pose->joints[j]) < 1e-5);
            continue;
        }
        assert_int_equal(scene->nodes[node].parent, scene->skins[0].joints[ex_skeleton_parent(skeleton, j)]);
        for (int c = 0; c < 3; c++) {
            pose->joints[j].translation[c] = (float)t->translation[c];
            pose->joints[j].scale[c] = (float)t->scale[c];
        }
        for (int c = 0; c < 4; c++)
            pose->joints[j].rotation[c] = (float)t->rotation[c];
    }
}

static double compare(const ex_scene *scene, const ex_rig *rig, double time) {
    const size_t nodes = (size_t)scene->node_count, vertices = (size_t)ex_rig_vertex_count(rig);
    ex_scene_transform *transforms = malloc(nodes * sizeof *transforms);
    double *worlds = malloc(nodes * 16 * sizeof *worlds), *expected = malloc(vertices * 3 * sizeof *expected);
    float *positions = malloc(vertices * 3 * sizeof *positions);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    ex_pose pose = ex_pose_create(rig);
    assert_true(transforms && worlds && expected && positions && scratch && pose.inputs);
    ex_scene_sample(scene, scene->animation_count > 0 ? 0 : -1, time, transforms);
    assert_int_equal(ex_scene_worlds(scene, transforms, worlds, NULL), EX_OK);
    assert_int_equal(place_vertices(scene, worlds, expected, (int)vertices), vertices);
    pose_joints(scene, rig, transforms, worlds, &pose);
    ex_rig_evaluate(rig, &pose, &(ex_output){.positions = positions}, NULL, scratch);
    double worst = 0, low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < 3 * vertices; i++) {
        double off = fabs((double)positions[i] - expected[i]);
        worst = off > worst ? off : worst;
        low[i % 3] = expected[i] < low[i % 3] ? expected[i] : low[i % 3];
        high[i % 3] = expected[i] > high[i % 3] ? expected[i] : high[i % 3];
    }
    free(transforms);
    free(worlds);
    free(expected);
    free(positions);
    free(scratch);
    free(pose.inputs);
    return worst / hypot(high[0] - low[0], hypot(high[1] - low[1], high[2] - low[2]));
}

static void follow_their_animations(void **state) {
    (void)state;
    static const char *const files[] = {"gltf/CesiumMan.glb", "gltf/RiggedFigure.glb", "gltf/RiggedSimple.glb",
                                        "gltf/SimpleSkin.gltf", "hand/left.glb"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char text[2400];
        ex_scene *scene = NULL;
        ex_error error;
        const char *path = need_data(files[i]);
        if (ex_scene_read(path, &scene, &error) != EX_OK)
            fail_msg("%s", error.text);
        snprintf(text, sizeof text, "{'exemplar': 1, 'mesh': '%s', 'skeleton': '%s', 'layers': []}", path, path);
        ex_rig *rig = build_text(text);
        double worst = 0;
        for (int k = 0; k < 10; k++) {
            double off = compare(scene, rig, scene->animation_count > 0 ? k * ex_scene_duration(scene, 0) / 9 : 0);
            worst = off > worst ? off : worst;
        }
        if (!(worst < 1e-5))
            fail_msg("%s: off by %g of its size", files[i], worst);
        ex_rig_destroy(rig);
        ex_scene_destroy(scene);
        check_round_trip(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(follow_their_animations)};
    return cmocka_run_group_tests_name("author.project.real_bodies", tests, scratch_set_up, scratch_tear_down);
}
