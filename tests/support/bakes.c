/*
 * Motions, an arm, and a viewer for the tests of baking; see bakes.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/bakes.h"
#include "support/check.h"
#include "support/poses.h"
#include "support/rigs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- motions ---- */

ex_motion *bake_motion(const ex_rig *rig, int frame_count, uint64_t seed, double reach) {
    const int joints = ex_rig_joint_count(rig), size = ex_rig_pose_size(rig);
    ex_motion *motion = calloc(1, sizeof *motion);
    uint64_t random = seed;
    motion->pose_count = frame_count;
    motion->poses = calloc((size_t)frame_count, sizeof *motion->poses);
    motion->times = calloc((size_t)frame_count, sizeof *motion->times);
    motion->scale = 1;
    double speeds[256], angles[256];
    for (int j = 0; j < joints && j < 256; j++) {
        speeds[j] = random_between(&random, 0.5, 1.5);
        angles[j] = random_between(&random, 0.2, 1) * reach;
    }
    for (int f = 0; f < frame_count; f++) {
        ex_pose *pose = &motion->poses[f];
        const double t = f / 24.0;
        motion->times[f] = 3 + t; /* motions need not begin at 0 */
        pose->inputs = calloc((size_t)size + 1, sizeof *pose->inputs);
        pose->joints = calloc((size_t)joints + 1, sizeof *pose->joints);
        ex_rig_rest_pose(rig, pose);
        for (int j = 0; j < joints; j++) { /* about z, as the elbow reads it, and a little about x */
            const double half = angles[j] * sin(3 * speeds[j] * t + j) * 0.00872664626,
                         twist = 0.3 * angles[j] * sin(2 * t + 2 * j) * 0.00872664626;
            const double a[4] = {0, 0, sin(half), cos(half)}, b[4] = {sin(twist), 0, 0, cos(twist)};
            float *q = pose->joints[j].rotation;
            const double r[4] = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
            double ab[4], made[4];
            ab[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
            ab[1] = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
            ab[2] = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
            ab[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
            made[0] = r[3] * ab[0] + r[0] * ab[3] + r[1] * ab[2] - r[2] * ab[1];
            made[1] = r[3] * ab[1] - r[0] * ab[2] + r[1] * ab[3] + r[2] * ab[0];
            made[2] = r[3] * ab[2] + r[0] * ab[1] - r[1] * ab[0] + r[2] * ab[3];
            made[3] = r[3] * ab[3] - r[0] * ab[0] - r[1] * ab[1] - r[2] * ab[2];
            const double sign = f % 3 == 1 ? -1 : 1; /* the sign of a quaternion has no meaning */
            for (int c = 0; c < 4; c++)
                q[c] = (float)(sign * made[c]);
        }
        if (joints > 0)
            pose->joints[0].translation[1] += (float)(0.1 * sin(t));
        for (int i = 0; i < ex_rig_input_count(rig); i++) {
            const ex_axis axis = ex_rig_input_axis(rig, i);
            if (ex_rig_input_offset(rig, i) < 0 || axis.kind != EX_AXIS_SCALAR ||
                strcmp(ex_rig_input_name(rig, i), "unused") == 0)
                continue;
            const double value = axis.min + (axis.max - axis.min) * (0.5 + 0.5 * sin(t * (1 + i) + i));
            ex_rig_set_input(rig, i, &value, pose);
        }
    }
    return motion;
}

void bake_motion_free(ex_motion *motion) {
    for (int f = 0; f < motion->pose_count; f++) {
        free(motion->poses[f].inputs);
        free(motion->poses[f].joints);
    }
    free(motion->poses);
    free(motion->times);
    free(motion);
}

/* ---- the arm ---- */

/* Three examples over the elbow that move some of eight vertices about the middle: 0-5, 2-7, and 4-7. */
static void add_offsets(bake_arm *arm, int slot, bool moved, ex_offset_frame frame) {
    static const char *const names[] = {"a", "b", "c"}, *const axes[] = {"elbow"};
    static const double points[] = {30, 60, 100};
    static const int firsts[] = {0, 2, 4}, lasts[] = {6, 8, 8};
    static const char *const layers[] = {"rest", "moved", "skinned"};
    const int count = arm->base.def.mesh.vertex_count;
    uint64_t random = 11;
    for (int i = 0; i < 8; i++)
        arm->vertices[i] = (uint32_t)(count / 2 - 4 + i);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 24; i++)
            arm->deltas[k][i] = (float)random_between(&random, -0.03, 0.03);
        arm->offsets[k] = (ex_offsets){
            .count = lasts[k] - firsts[k], .vertices = arm->vertices + firsts[k], .deltas = arm->deltas[k]};
    }
    arm->axes[slot][0] = arm->base.form_axes[0];
    arm->sources[slot] = arm->base.form_sources[0];
    ex_layer_def *layer = &arm->layers[arm->def.layer_count++];
    *layer = (ex_layer_def){.name = layers[slot],
                            .domain = EX_DOMAIN_OFFSETS,
                            .weigh = ex_weigher_def_default(),
                            .axis_names = axes,
                            .sources = &arm->sources[slot],
                            .example_names = names,
                            .offsets.examples = arm->offsets,
                            .offsets.frame = frame,
                            .offsets.moved = moved};
    layer->weigh.kind = EX_WEIGHER_GAUSSIAN;
    layer->weigh.axes = arm->axes[slot];
    layer->weigh.axis_count = 1;
    layer->weigh.example_count = 3;
    layer->weigh.points = points;
}

static void add_direct(bake_arm *arm) {
    static const char *const names[] = {"fat", "thin"}, *const axes[] = {"used", "unused"};
    for (int a = 0; a < 2; a++)
        arm->axes[3][a] = ex_axis_scalar(0, 1, 0);
    arm->direct[0] = arm->base.deltas[1];
    arm->direct[1] = arm->base.deltas[2];
    ex_layer_def *layer = &arm->layers[arm->def.layer_count++];
    *layer = (ex_layer_def){.name = "direct",
                            .weigh = ex_weigher_def_default(),
                            .axis_names = axes,
                            .example_names = names,
                            .form.deltas = arm->direct};
    layer->weigh.kind = EX_WEIGHER_DIRECT;
    layer->weigh.axes = arm->axes[3];
    layer->weigh.axis_count = 2;
    layer->weigh.example_count = 2;
}

ex_rig *bake_arm_rig(int rings, int sides, ex_skinning skinning, int parts) {
    bake_arm arm;
    memset(&arm, 0, sizeof arm);
    character_open(&arm.base, rings, sides, skinning);
    arm.def = arm.base.def;
    arm.def.level = 0;
    memcpy(arm.layers, arm.base.layers, sizeof arm.base.layers);
    arm.def.layers = arm.layers;
    if (parts & BAKE_BARE) {
        arm.def.skeleton = NULL;
        arm.def.skin = NULL;
        arm.base.form_sources[0].joint = -1;
        arm.base.form_sources[0].reading = (ex_reading){.kind = EX_READING_NONE};
        arm.layers[0].form.shifts = NULL;
    }
    if (parts & BAKE_OFFSETS)
        add_offsets(&arm, 0, false, EX_OFFSET_FRAME_REST);
    if (parts & BAKE_MOVED)
        add_offsets(&arm, 1, true, EX_OFFSET_FRAME_REST);
    if (parts & BAKE_SKINNED)
        add_offsets(&arm, 2, false, EX_OFFSET_FRAME_SKINNED);
    if (parts & BAKE_UNUSED)
        add_direct(&arm);
    ex_rig *rig = rig_of(&arm.def);
    character_close(&arm.base);
    return rig;
}

/* ---- a viewer ---- */

void bake_truth(const ex_rig *rig, const ex_motion *motion, int frame, int level, const bool *muted,
                double *positions) {
    const size_t count = (size_t)ex_rig_level_vertex_count(rig, level);
    const ex_evaluation how = {.level = level, .muted = muted};
    float *single = malloc(count * 3 * sizeof *single);
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1));
    ex_rig_evaluate(rig, &motion->poses[frame], &(ex_output){.positions = single}, &how, scratch);
    for (size_t i = 0; i < 3 * count; i++)
        positions[i] = (double)single[i];
    free(scratch);
    free(single);
}

/* The rig's mesh at the level, before any layer and pose. */
static float *rest_of(const ex_rig *rig, int level) {
    const size_t count = (size_t)ex_rig_level_vertex_count(rig, level);
    bool muted[32];
    memset(muted, true, sizeof muted);
    assert_true(ex_rig_layer_count(rig) <= 32);
    const ex_evaluation how = {.level = level, .muted = muted, .unskinned = true};
    float *rest = malloc(count * 3 * sizeof *rest);
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1));
    ex_rig_evaluate(rig, NULL, &(ex_output){.positions = rest}, &how, scratch);
    free(scratch);
    return rest;
}

static void replay_vertex(const ex_scene_primitive *p, int v, int target_count, const double *weights,
                          const double *matrices, double out[3]) {
    double x[3];
    for (int c = 0; c < 3; c++) {
        x[c] = (double)p->positions[3 * v + c];
        for (int k = 0; k < target_count; k++)
            x[c] += weights[k] * (p->targets[k].positions ? (double)p->targets[k].positions[3 * v + c] : 0);
        out[c] = matrices ? 0 : x[c];
    }
    for (int i = 0; matrices && i < p->influence_count; i++) {
        const double *m = matrices + 16 * p->joints[v * p->influence_count + i];
        const double w = (double)p->weights[v * p->influence_count + i];
        for (int c = 0; c < 3; c++)
            out[c] += w * (m[c] * x[0] + m[4 + c] * x[1] + m[8 + c] * x[2] + m[12 + c]);
    }
}

/* At the file's weights at rest a vertex has its position in the rig. */
static bool is_vertex(const ex_scene_mesh *mesh, const ex_scene_primitive *p, int v, const float *rest) {
    double x[3];
    replay_vertex(p, v, mesh->weights ? mesh->target_count : 0, mesh->weights, NULL, x);
    return fabs(x[0] - (double)rest[0]) + fabs(x[1] - (double)rest[1]) + fabs(x[2] - (double)rest[2]) < 2e-6;
}

void bake_replay(const ex_scene *scene, const ex_rig *rig, int level, double time, double *positions) {
    const int count = ex_rig_level_vertex_count(rig, level), nodes = scene->node_count;
    const ex_scene_mesh *mesh = &scene->meshes[0];
    const int animation = scene->animation_count > 0 ? 0 : -1;
    ex_scene_transform *transforms = malloc((size_t)nodes * sizeof *transforms);
    double *worlds = malloc((size_t)nodes * 16 * sizeof *worlds), *matrices = NULL;
    double *weights = calloc((size_t)mesh->target_count + 1, sizeof *weights);
    float *rest = rest_of(rig, level);
    int seen = 0;
    ex_scene_sample(scene, animation, time, transforms);
    ex_scene_sample_weights(scene, animation, time, 0, weights);
    assert_int_equal(ex_scene_worlds(scene, transforms, worlds, NULL), EX_OK);
    if (scene->nodes[0].skin >= 0) {
        matrices = malloc((size_t)scene->skins[0].joint_count * 16 * sizeof *matrices);
        ex_scene_skin_matrices(scene, scene->nodes[0].skin, worlds, matrices);
    }
    for (int v = 0; v < count; v++)
        positions[3 * v] = NAN;
    for (int i = 0; i < mesh->primitive_count; i++) {
        const ex_scene_primitive *p = &mesh->primitives[i];
        for (int v = 0; v < p->vertex_count; v++)
            for (int u = 0; u < count; u++)
                if (is_vertex(mesh, p, v, rest + 3 * u)) {
                    seen += isnan(positions[3 * u]) != 0;
                    replay_vertex(p, v, mesh->target_count, weights, matrices, positions + 3 * u);
                }
    }
    assert_int_equal(seen, count);
    free(transforms);
    free(worlds);
    free(matrices);
    free(weights);
    free(rest);
}

/* Sliders of other programs end at 0 and 1. */
static void assert_weights_are_bounded(const ex_scene *scene) {
    for (int a = 0; a < scene->animation_count; a++)
        for (int i = 0; i < scene->animations[a].channel_count; i++) {
            const ex_scene_channel *channel = &scene->animations[a].channels[i];
            for (int k = 0; channel->path == EX_SCENE_WEIGHTS && k < channel->key_count * channel->width; k++)
                assert_true(channel->values[k] >= 0 && channel->values[k] <= 1);
        }
    for (int k = 0; scene->meshes[0].weights && k < scene->meshes[0].target_count; k++)
        assert_true(scene->meshes[0].weights[k] >= 0 && scene->meshes[0].weights[k] <= 1);
}

ex_bake_error bake_compare(const char *path, const ex_rig *rig, const ex_motion *motion, int level, const bool *muted) {
    const int count = ex_rig_level_vertex_count(rig, level);
    double *a = malloc((size_t)count * 3 * sizeof *a), *b = malloc((size_t)count * 3 * sizeof *b), squares = 0;
    ex_bake_error worst = {.largest = -1};
    ex_error error = {.result = EX_OK};
    ex_scene *scene;
    if (ex_scene_read(path, &scene, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_weights_are_bounded(scene);
    for (int f = 0; f < motion->pose_count; f++) {
        bake_truth(rig, motion, f, level, muted, a);
        bake_replay(scene, rig, level, motion->times[f] - motion->times[0], b);
        for (int v = 0; v < count; v++) {
            double square = 0;
            for (int c = 0; c < 3; c++)
                square += (a[3 * v + c] - b[3 * v + c]) * (a[3 * v + c] - b[3 * v + c]);
            squares += square;
            if (sqrt(square) > worst.largest)
                worst = (ex_bake_error){.largest = sqrt(square), .frame = f, .vertex = v};
        }
    }
    worst.rms = sqrt(squares / ((double)motion->pose_count * count));
    ex_scene_destroy(scene);
    free(a);
    free(b);
    return worst;
}
