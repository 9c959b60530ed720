/*
 * Baking rigs that glTF can express: the file, read back and played by the tests' own viewer, is the rig at every
 * frame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/bakes.h"
#include "support/check.h"
#include "support/scratch.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ex_bake_report bake(const ex_rig *rig, const ex_motion *motion, const char *name,
                           const ex_bake_options *options) {
    ex_error error = {.result = EX_OK};
    ex_bake_report report;
    if (ex_bake_glb(rig, motion, scratch_path(name), options, &report, &error) != EX_OK)
        fail_msg("%s", error.text);
    return report;
}

/* Bakes and plays; whatever the parts, nothing is lost, and the report agrees. */
static ex_bake_report assert_exact(const ex_rig *rig, int frames, const ex_bake_options *options) {
    ex_motion *motion = bake_motion(rig, frames, 7, 80);
    const ex_bake_report report = bake(rig, motion, "exact.glb", options);
    const int level = options ? options->level : 0;
    const ex_bake_error error =
        bake_compare(scratch_path("exact.glb"), rig, motion, level, options ? options->muted : NULL);
    assert_true(report.exact);
    assert_int_equal(report.frame_count, frames);
    assert_true(report.size > 0.5);
    assert_near(error.largest, 0, 1e-6 * report.size);
    assert_near(report.total.largest, 0, 1e-6 * report.size);
    assert_true(report.total.rms <= report.total.largest);
    assert_near(report.influences.largest, 0, 0);
    bake_motion_free(motion);
    return report;
}

static void test_forms_skin_and_shifts(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(7, 6, EX_SKINNING_LINEAR, 0);
    const ex_bake_report report = assert_exact(rig, 40, NULL);
    assert_int_equal(report.target_count, 3); /* "straight" is the mesh itself */
    assert_int_equal(report.unused_count, 0);
    assert_int_equal(report.influence_most, 2);
    /* 3 channels per joint and one of weights; scales and most translations never change. */
    assert_int_equal(report.key_count_full, 40 * (3 * CHARACTER_JOINTS + 1));
    assert_true(report.key_count < report.key_count_full && report.key_count >= 40 * 4);
    ex_rig_destroy(rig);
}

static void test_offsets(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(7, 6, EX_SKINNING_LINEAR, BAKE_OFFSETS);
    assert_int_equal(assert_exact(rig, 25, NULL).target_count, 6);
    ex_rig_destroy(rig);
    rig = bake_arm_rig(7, 6, EX_SKINNING_LINEAR, BAKE_OFFSETS | BAKE_MOVED);
    /* Vertices 0-1 are moved by a, 2-3 by a and b, 4-5 by all, 6-7 by b and c: 1 + 2 + 3 + 2 targets. */
    assert_int_equal(assert_exact(rig, 25, NULL).target_count, 6 + 8);
    ex_rig_destroy(rig);
}

static void test_without_a_skin_everything_is_exact(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(7, 6, EX_SKINNING_LINEAR, BAKE_BARE | BAKE_UNUSED);
    assert_exact(rig, 9, NULL);
    assert_exact(rig, 9, &(ex_bake_options){.level = 1});
    assert_exact(rig, 9, &(ex_bake_options){.level = EX_LEVEL_LIMIT});
    ex_rig_destroy(rig);
}

static void test_unused_and_muted(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(5, 4, EX_SKINNING_LINEAR, BAKE_UNUSED | BAKE_SKINNED);
    bool muted[BAKE_LAYERS] = {[CHARACTER_LAYERS] = true};
    const ex_bake_report report = assert_exact(rig, 12, &(ex_bake_options){.muted = muted});
    assert_int_equal(report.unused_count, 1);
    assert_int_equal(report.target_count, 4);
    ex_rig_destroy(rig);
}

/* Names, materials, normals and their differences. */
static void test_what_is_in_the_file(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(7, 6, EX_SKINNING_LINEAR, BAKE_OFFSETS);
    ex_motion *motion = bake_motion(rig, 10, 7, 80);
    bake(rig, motion, "walk.glb", NULL);
    ex_scene *scene;
    assert_int_equal(ex_scene_read(scratch_path("walk.glb"), &scene, NULL), EX_OK);
    assert_string_equal(scene->nodes[0].name, "walk");
    assert_string_equal(scene->nodes[2].name, "elbow");
    assert_string_equal(scene->meshes[0].target_names[0], "arm/bent");
    assert_string_equal(scene->meshes[0].target_names[3], "rest/a");
    assert_int_equal(scene->image_count, 1);
    assert_near(ex_scene_duration(scene, 0), 9 / 24.0, 1e-6);
    const ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    assert_int_equal(p->vertex_count, 7 * (6 + 1)); /* a seam */
    assert_non_null(p->texcoords[0]);
    for (int v = 0; v < p->vertex_count; v++)
        for (int k = 0; k < scene->meshes[0].target_count; k++) {
            /* rest plus difference is a normal again */
            double square = 0, moved = 0;
            for (int c = 0; c < 3; c++) {
                const double n = (double)p->normals[3 * v + c] + (double)p->targets[k].normals[3 * v + c];
                square += n * n;
                moved += fabs((double)p->targets[k].normals[3 * v + c]);
            }
            assert_near(square, 1, 1e-5);
            assert_true(k < 3 || moved < 0.7);
        }
    /* The motion's quaternions change their signs; those of the file do not. */
    for (int i = 0; i < scene->animations[0].channel_count; i++) {
        const ex_scene_channel *channel = &scene->animations[0].channels[i];
        for (int k = 1; channel->path == EX_SCENE_ROTATION && k < channel->key_count; k++) {
            double dot = 0;
            for (int c = 0; c < 4; c++)
                dot += (double)channel->values[4 * k + c] * (double)channel->values[4 * k - 4 + c];
            assert_true(dot > 0.5);
        }
    }
    ex_scene_destroy(scene);
    /* Eight vertices of offsets are not written as all 49. */
    size_t size;
    char *bytes = scratch_read("walk.glb", &size);
    bytes[size - 1] = 0;
    for (size_t i = 0; i + 1 < size; i++)
        bytes[i] = bytes[i] ? bytes[i] : ' ';
    assert_non_null(strstr(bytes, "\"sparse\""));
    free(bytes);
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

/* ---- influences ---- */

/* The rig's form at rest under all influences and under the four heaviest, in double. */
static double count_loss(const ex_rig *rig, const ex_motion *motion, double *rms) {
    enum { MOST = WHOLE_JOINTS };
    const int vertices = ex_rig_vertex_count(rig), joints = ex_rig_joint_count(rig);
    const ex_evaluation how = {.unskinned = true};
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1)),
         *bones = malloc(ex_skeleton_scratch_size(ex_rig_skeleton(rig)));
    float *form = malloc((size_t)vertices * 12), shifts[WHOLE_JOINTS][3], one[WHOLE_JOINTS][3];
    double *weights = malloc((size_t)ex_rig_example_count(rig) * sizeof *weights), largest = 0, squares = 0;
    float matrices[WHOLE_JOINTS][12];
    for (int f = 0; f < motion->pose_count; f++) {
        ex_rig_evaluate(rig, &motion->poses[f], &(ex_output){.positions = form, .weights = weights}, &how, scratch);
        memset(shifts, 0, sizeof shifts);
        for (int l = 0, at = 0; l < ex_rig_layer_count(rig); l++)
            for (int k = 0; k < ex_weigher_example_count(ex_rig_weigher(rig, l)); k++, at++)
                if (ex_rig_example_shifts(rig, l, k, one[0]))
                    for (int j = 0; j < joints; j++)
                        for (int c = 0; c < 3; c++)
                            shifts[j][c] += (float)weights[at] * one[j][c];
        const ex_skeleton_input input = {.locals = motion->poses[f].joints, .shifts = shifts[0]};
        ex_skeleton_evaluate(ex_rig_skeleton(rig), &input, &(ex_skeleton_output){.matrices = matrices[0]}, bones);
        for (int v = 0; v < vertices; v++) {
            uint32_t list[MOST];
            float parts[MOST];
            const int count = ex_skin_influences(ex_rig_skin(rig), v, list, parts);
            double sum = 0, off[3] = {0, 0, 0}, square = 0;
            for (int i = 0; i < count && i < 4; i++)
                sum += (double)parts[i];
            for (int i = 0; i < count; i++) {
                const double w = (double)parts[i] - (i < 4 ? (double)parts[i] / sum : 0);
                const float *m = matrices[list[i]], *x = form + 3 * v;
                for (int c = 0; c < 3; c++)
                    off[c] += w * ((double)m[4 * c] * (double)x[0] + (double)m[4 * c + 1] * (double)x[1] +
                                   (double)m[4 * c + 2] * (double)x[2] + (double)m[4 * c + 3]);
            }
            for (int c = 0; c < 3; c++)
                square += off[c] * off[c];
            squares += square;
            largest = sqrt(square) > largest ? sqrt(square) : largest;
        }
    }
    *rms = sqrt(squares / ((double)motion->pose_count * vertices));
    free(scratch);
    free(bones);
    free(form);
    free(weights);
    return largest;
}

static void test_influences(void **state) {
    (void)state;
    whole_rig whole;
    whole_rig_open(&whole, 23, WHOLE_SKELETON | WHOLE_SKIN);
    whole.def.note_count = 0; /* made up, and no groups of a mesh */
    ex_rig *rig = rig_of(&whole.def);
    ex_motion *motion = bake_motion(rig, 15, 3, 60);
    double rms;
    const double loss = count_loss(rig, motion, &rms);
    ex_bake_report report = bake(rig, motion, "four.glb", NULL);
    assert_int_equal(report.influence_most, 6);
    assert_true(report.exact && loss > 1e-3);
    assert_near(report.influences.largest, loss, 1e-5 * report.size);
    assert_near(report.influences.rms, rms, 1e-5 * report.size);
    assert_near(report.total.largest, loss, 1e-5 * report.size); /* nothing else is lost */
    assert_near(report.total.rms, rms, 1e-5 * report.size);
    report = bake(rig, motion, "six.glb", &(ex_bake_options){.influence_most = 6});
    assert_near(report.influences.largest, 0, 0);
    assert_near(report.total.largest, 0, 2e-5 * report.size);
    /* Two roots have a node above them, which glTF requires of the joints of a skin. */
    ex_scene *scene;
    assert_int_equal(ex_scene_read(scratch_path("six.glb"), &scene, NULL), EX_OK);
    assert_int_equal(scene->node_count, 1 + WHOLE_JOINTS + 1);
    assert_int_equal(scene->nodes[1].parent, 1 + WHOLE_JOINTS);
    assert_int_equal(scene->nodes[6].parent, 1 + WHOLE_JOINTS);
    assert_int_equal(scene->nodes[2].parent, 3);
    assert_int_equal(scene->meshes[0].primitives[0].influence_count, 8); /* two sets of four */
    ex_scene_destroy(scene);
    bake_motion_free(motion);
    ex_rig_destroy(rig);
    whole_rig_close(&whole);
}

/* One frame is a pose: nothing moves, and one key is enough. */
static void test_one_frame(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(4, 3, EX_SKINNING_LINEAR, 0);
    const ex_bake_report report = assert_exact(rig, 1, NULL);
    assert_true(report.key_count <= 4 * CHARACTER_JOINTS);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_skin_and_shifts),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_without_a_skin_everything_is_exact),
        cmocka_unit_test(test_unused_and_muted),
        cmocka_unit_test(test_what_is_in_the_file),
        cmocka_unit_test(test_influences),
        cmocka_unit_test(test_one_frame),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
