/* Motions from files: tables, BVH files and scenes, at their own frames, at other rates and in part. */
#include "skeletons.h"

#include "support/arms.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

static const bone leg[] = {{"Hip", -1, 0, 2, 0, {0}}, {"Knee", 0, 0, -1, 0, {0}}, {"Foot", 1, 0, -1, 0, {0}}};

static ex_rig *rig;

static int set_up(void **state) {
    rig = bones_rig(leg, 3);
    return scratch_set_up(state);
}

static int tear_down(void **state) {
    ex_rig_destroy(rig);
    return scratch_tear_down(state);
}

static const char *write_text(const char *name, const char *text) {
    scratch_write(name, text, strlen(text));
    return scratch_path(name);
}

static ex_motion *read_motion(const char *path, const ex_motion_options *options) {
    ex_motion *motion = NULL;
    ex_error error = {0};
    if (ex_motion_read(path, rig, options, &motion, &error) != EX_OK)
        fail_msg("%s", error.text);
    return motion;
}

static void check_failure(const char *path, const ex_motion_options *options, ex_result result, const char *word) {
    ex_motion *motion = (ex_motion *)&result;
    ex_error error = {0};
    assert_int_equal(ex_motion_read(path, rig, options, &motion, &error), result);
    assert_sentence(&error, result, word);
    assert_null(motion);
}

/* ---- tables ---- */

static void tables(void **state) {
    (void)state;
    ex_motion *motion = read_motion(write_text("t.csv", "smile\n0\n0.5\n1\n"), NULL);
    assert_int_equal(motion->pose_count, 3);
    assert_int_equal(motion->matched_count, 1);
    assert_true(motion->scale == 1 && motion->times[2] == 2 / 24.0 && motion->poses[1].inputs[0] == 0.5);
    ex_motion_destroy(motion);

    /* 0 to 90 degrees about x in a second, given by quaternions of which one has the other sign. */
    char text[400];
    snprintf(text, sizeof text,
             "time,smile,turn.x,turn.y,turn.z,turn.w,joint:Knee.x,joint:Knee.y,joint:Knee.z,joint:Knee.w\n"
             "1,0,0,0,0,1,0,0,0,1\n2,1,%.17g,0,0,%.17g,%.17g,0,0,%.17g\n",
             -sqrt(0.5), -sqrt(0.5), -sqrt(0.5), -sqrt(0.5));
    motion = read_motion(write_text("t.csv", text), &(ex_motion_options){.fps = 3});
    assert_int_equal(motion->pose_count, 4);
    assert_int_equal(motion->matched_count, 3);
    for (int p = 0; p < 4; p++) {
        const double half = p / 3.0 * acos(-1) / 4, tolerance = 1e-6;
        assert_near(motion->times[p], 1 + p / 3.0, 1e-12);
        assert_near(motion->poses[p].inputs[0], p / 3.0, 1e-12);
        assert_near(motion->poses[p].inputs[1], sin(half), tolerance);
        assert_near(motion->poses[p].inputs[4], cos(half), tolerance);
        assert_near((double)motion->poses[p].joints[1].rotation[0], sin(half), tolerance);
        assert_near((double)motion->poses[p].joints[1].rotation[3], cos(half), tolerance);
    }
    ex_motion_destroy(motion);

    check_failure(write_text("t.csv", "time,smile\n1,0\n1,1\n"), NULL, EX_ERROR_DATA,
                  "pose 2 is at 1 s, but the one before it is at 1 s: times must increase");
    check_failure(write_text("t.csv", "grin\n0\n"), NULL, EX_ERROR_DATA, "grin");
}

/* ---- BVH ---- */

#define LEG_FRAMES(count) LEG_JOINTS "MOTION\nFrames: " count "\nFrame Time: 0.5\n"
#define LEG_JOINTS                                                                                                     \
    "HIERARCHY\nROOT hip\n{\nOFFSET 0 0 0\nCHANNELS 4 Xposition Yposition Zposition Xrotation\nJOINT knee\n{\nOFFSET " \
    "0 -10 0\nCHANNELS 1 Zrotation\nJOINT foot\n{\nOFFSET 0 -10 0\nEnd Site\n{\nOFFSET 0 0 5\n}\n}\n}\n}\n"

/* A knee turns by 200 degrees and back. Its rotations have either sign in the file, but the skeleton's turns do not
 * jump. */
static void signs_follow_the_rest(void **state) {
    (void)state;
    enum { KEYS = 5 };
    const double degrees[KEYS] = {200, 100, 0, 100, 200};
    for (int signs = 0; signs < 1 << KEYS; signs++) {
        char text[600] = "time,joint:Knee.x,joint:Knee.y,joint:Knee.z,joint:Knee.w\n";
        for (int k = 0; k < KEYS; k++) {
            const double half = degrees[k] * acos(-1) / 360, sign = signs >> k & 1 ? -1 : 1;
            snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%.17g,0,0,%.17g\n", k, sign * sin(half),
                     sign * cos(half));
        }
        ex_motion *motion = read_motion(write_text("t.csv", text), &(ex_motion_options){.fps = 100});
        float before[4] = {0, 0, 0, 1}, turns[3][4];
        void *scratch = malloc(ex_skeleton_scratch_size(ex_rig_skeleton(rig)));
        for (int p = 0; p < motion->pose_count; p++) {
            double along = 0;
            ex_skeleton_evaluate(ex_rig_skeleton(rig), &(ex_skeleton_input){.locals = motion->poses[p].joints},
                                 &(ex_skeleton_output){.turns = turns[0]}, scratch);
            for (int i = 0; i < 4; i++)
                along += (double)turns[1][i] * (double)before[i];
            if (p > 0 && !(along > 0.99))
                fail_msg("a jump at pose %d, with signs %d", p, signs);
            memcpy(before, turns[1], sizeof before);
        }
        free(scratch);
        ex_motion_destroy(motion);
    }
}

static void bvh(void **state) {
    (void)state;
    const double expected[3] = {2, 3, 1};
    char path[1000];
    snprintf(path, sizeof path, "%s",
             write_text("walk.BVH", LEG_FRAMES("3") "0 20 0 0 0\n10 20 0 90 0\n20 30 10 90 -90\n"));
    ex_motion *motion = read_motion(path, NULL);
    assert_int_equal(motion->pose_count, 3);
    assert_int_equal(motion->matched_count, 3);
    assert_near(motion->scale, 0.1, 1e-7);
    assert_true(motion->times[2] == 1);
    for (int c = 0; c < 3; c++)
        assert_near((double)motion->poses[2].joints[0].translation[c], expected[c], 1e-6);
    assert_near((double)motion->poses[1].joints[0].rotation[0], sqrt(0.5), 1e-6);
    assert_near((double)motion->poses[2].joints[1].rotation[2], -sqrt(0.5), 1e-6);
    ex_motion_destroy(motion);

    /* Between the frames: a third of a turn of 90 degrees is one of 30. */
    motion = read_motion(path, &(ex_motion_options){.fps = 6, .start = 0.5});
    assert_int_equal(motion->pose_count, 4);
    assert_near(motion->times[1], 0.5 + 1 / 6.0, 1e-12);
    assert_near((double)motion->poses[1].joints[1].rotation[2], -sin(15 * acos(-1) / 180), 1e-6);
    assert_near((double)motion->poses[1].joints[0].translation[1], 2 + 1 / 3.0, 1e-6);
    ex_motion_destroy(motion);

    motion = read_motion(path, &(ex_motion_options){.start = 0.5, .end = 0.9});
    assert_int_equal(motion->pose_count, 1);
    assert_true(motion->times[0] == 0.5);
    ex_motion_destroy(motion);
    motion = read_motion(path, &(ex_motion_options){.start = 0.75, .end = 0.75});
    assert_int_equal(motion->pose_count, 1);
    assert_near((double)motion->poses[0].joints[1].rotation[2], -sin(22.5 * acos(-1) / 180), 1e-6);
    ex_motion_destroy(motion);

    motion = read_motion(path, &(ex_motion_options){.start = 0.25, .end = INFINITY});
    assert_int_equal(motion->pose_count, 2);
    assert_true(motion->times[0] == 0.5);
    ex_motion_destroy(motion);

    check_failure(path, &(ex_motion_options){.fps = -1}, EX_ERROR_ARGUMENT, "-1 frames per second");
    check_failure(path, &(ex_motion_options){.fps = NAN}, EX_ERROR_ARGUMENT, "frames per second");
    check_failure(path, &(ex_motion_options){.start = INFINITY}, EX_ERROR_ARGUMENT, "times in seconds");
    check_failure(path, &(ex_motion_options){.start = 0.75, .end = 0.5}, EX_ERROR_ARGUMENT, "before it starts");
    check_failure(path, &(ex_motion_options){.start = 3}, EX_ERROR_ARGUMENT,
                  "goes from 0 s to 1 s, so it cannot start at 3 s");
    check_failure(path, &(ex_motion_options){.start = 3, .end = INFINITY}, EX_ERROR_ARGUMENT, "it cannot start at 3 s");
    check_failure(path, &(ex_motion_options){.end = -INFINITY}, EX_ERROR_ARGUMENT, "times in seconds");
    check_failure(path, &(ex_motion_options){.end = NAN}, EX_ERROR_ARGUMENT, "times in seconds");
    check_failure(path, &(ex_motion_options){.start = -2, .end = -1}, EX_ERROR_ARGUMENT,
                  "goes from 0 s to 1 s, so it cannot end at -1 s");
    check_failure(path, &(ex_motion_options){.start = 3, .end = 4}, EX_ERROR_ARGUMENT, "it cannot start at 3 s");
    check_failure(write_text("cut.bvh", LEG_FRAMES("3") "0 20 0 0 0\n10 20"), NULL, EX_ERROR_DATA,
                  "cut.bvh:24: the file ends too early, within a frame: it has 1 of 3 frames");
    check_failure(write_text("alien.bvh",
                             "HIERARCHY\nROOT b\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n}\nMOTION\nFrames: "
                             "1\nFrame Time: 1\n0\n"),
                  NULL, EX_ERROR_DATA, "alien.bvh: no joint of the motion ('b') has the name of one of the rig's");
    check_failure(write_text("walk.fbx", ""), NULL, EX_ERROR_FORMAT,
                  "walk.fbx: this is an FBX file; motion is read from .bvh");
    check_failure(scratch_path("none.bvh"), NULL, EX_ERROR_FILE, "none.bvh");
}

/* ---- scenes ---- */

enum { KEYS = 3 };

static void add_channel(ex_scene_animation *animation, int node, ex_scene_path path, int width, const float *values) {
    static const float times[KEYS] = {0, 0.5f, 2};
    ex_scene_channel *channel = &animation->channels[animation->channel_count++];
    *channel = (ex_scene_channel){.node = node,
                                  .path = path,
                                  .interpolation = EX_SCENE_LINEAR,
                                  .key_count = KEYS,
                                  .width = width,
                                  .times = malloc(sizeof times),
                                  .values = malloc(KEYS * (size_t)width * sizeof *values)};
    assert_true(channel->times && channel->values);
    memcpy(channel->times, times, sizeof times);
    memcpy(channel->values, values, KEYS * (size_t)width * sizeof *values);
}

static char *copy_text(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    assert_non_null(copy);
    return strcpy(copy, text);
}

/* The arm of the tests, its forearm and hand turned and moved by keys, in the second of two animations. */
static ex_scene *animated_arm(void) {
    static const float turns[KEYS][4] = {{0, 0, 0, 1}, {0, 0.6f, 0, 0.8f}, {-0.6f, 0, 0, -0.8f}};
    static const float places[KEYS][3] = {{0.5f, 0, 0}, {0.25f, 1, 0}, {0, 0, 1}};
    ex_scene *scene = arm_scene(0.5);
    scene->animations = calloc(2, sizeof *scene->animations);
    assert_non_null(scene->animations);
    scene->animation_count = 2;
    for (int a = 0; a < 2; a++) {
        scene->animations[a].name = copy_text(a ? "wave" : "still");
        scene->animations[a].channels = calloc(3, sizeof *scene->animations[a].channels);
        assert_non_null(scene->animations[a].channels);
    }
    add_channel(&scene->animations[0], ARM_UPPER, EX_SCENE_ROTATION, 4, &turns[0][0]);
    add_channel(&scene->animations[1], ARM_FORE, EX_SCENE_ROTATION, 4, &turns[0][0]);
    add_channel(&scene->animations[1], ARM_HAND, EX_SCENE_TRANSLATION, 3, &places[0][0]);
    return scene;
}

/* A rig with the scene's own skeleton. */
static ex_rig *arm_rig(void) {
    double positions[ARM_VERTICES][3];
    static const char text[] = "{\"exemplar\": 1, \"mesh\": \"arm.obj\", \"skeleton\": \"arm.glb\", \"layers\": []}";
    ex_project *project = NULL;
    ex_rig *made = NULL;
    ex_error error = {0};
    arm_form(0.5, 0.2, &positions[0][0]);
    arm_write_mesh("arm.obj", &positions[0][0]);
    arm_write_scene("arm.glb", arm_scene(0.5));
    scratch_write("arm.json", text, strlen(text));
    if (ex_project_read(scratch_path("arm.json"), &project, &error) != EX_OK ||
        ex_project_build(project, NULL, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_project_destroy(project);
    return made;
}

static void check_transform(const ex_transform *t, const ex_transform *rest, const float *rotation,
                            const float *translation) {
    for (int i = 0; i < 4; i++)
        assert_near((double)t->rotation[i], (double)(rotation ? rotation : rest->rotation)[i], 1e-6);
    for (int i = 0; i < 3; i++) {
        assert_near((double)t->translation[i], (double)(translation ? translation : rest->translation)[i], 1e-6);
        assert_true(t->scale[i] == rest->scale[i]);
    }
}

/* The first key of many clips is a frame after 0. A range is cut to the motion, whose own range the result has. */
static void ranges_are_cut(void **state) {
    (void)state;
    static const struct {
        double start, end, fps;
        int count;
        double first, last;
    } rows[] = {{0, 4, 0, 3, 0.033, 1},         {0, 0.5, 0, 2, 0.033, 0.5}, {-1, 0.5, 0, 2, 0.033, 0.5},
                {0.01, 0.5, 0, 2, 0.033, 0.5},  {0.5, 9, 0, 2, 0.5, 1},     {0, 4, 10, 10, 0.033, 0.933},
                {0, 0.033, 0, 1, 0.033, 0.033}, {1, 7, 10, 1, 1, 1},        {0, 0, 0, 3, 0.033, 1}};
    const char *path = write_text("late.csv", "time,smile\n0.033,0\n0.5,0.5\n1,1\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ex_motion_options options = {.start = rows[i].start, .end = rows[i].end, .fps = rows[i].fps};
        ex_motion *motion = read_motion(path, &options);
        assert_int_equal(motion->pose_count, rows[i].count);
        assert_near(motion->times[0], rows[i].first, 1e-12);
        assert_near(motion->times[motion->pose_count - 1], rows[i].last, 1e-12);
        assert_true(motion->first == 0.033 && motion->last == 1);
        ex_motion_destroy(motion);
    }
    check_failure(path, &(ex_motion_options){.end = 0.01}, EX_ERROR_ARGUMENT,
                  "goes from 0.033 s to 1 s, so it cannot end at 0.01 s");
}

static void scenes(void **state) {
    (void)state;
    ex_rig *arm = arm_rig(), *kept = rig;
    const ex_skeleton *skeleton = ex_rig_skeleton(arm);
    char path[1000];
    arm_write_scene("wave.glb", animated_arm());
    snprintf(path, sizeof path, "%s", scratch_path("wave.glb"));
    rig = arm;
    ex_motion *motion = read_motion(path, &(ex_motion_options){.clip = "wave"});
    assert_int_equal(motion->pose_count, KEYS);
    assert_int_equal(motion->matched_count, ARM_JOINTS);
    assert_true(motion->scale == 1 && motion->times[1] == 0.5 && motion->times[2] == 2);
    const int upper = ex_skeleton_find(skeleton, "upper"), fore = ex_skeleton_find(skeleton, "fore");
    const ex_transform rest = ex_skeleton_rest(skeleton, upper), fore_rest = ex_skeleton_rest(skeleton, fore);
    for (int p = 0; p < KEYS; p++) { /* nothing moves the upper arm, whose rest has a node above it in it */
        check_transform(&motion->poses[p].joints[upper], &rest, NULL, NULL);
        assert_true(fabs((double)motion->poses[p].joints[fore].translation[0] - (double)fore_rest.translation[0]) <
                    1e-6);
    }
    check_transform(&motion->poses[1].joints[fore], &fore_rest, (const float[]){0, 0.6f, 0, 0.8f}, NULL);
    check_transform(&motion->poses[2].joints[fore], &fore_rest, (const float[]){0.6f, 0, 0, 0.8f}, NULL);
    ex_motion_destroy(motion);

    motion = read_motion(path, &(ex_motion_options){.clip = "2", .fps = 10, .start = 0, .end = 0.5});
    assert_int_equal(motion->pose_count, 6);
    const double half = 0.4 * asin(0.6); /* at 0.2 s of 0.5 */
    check_transform(&motion->poses[2].joints[fore], &fore_rest,
                    (const float[]){0, (float)sin(half), 0, (float)cos(half)}, NULL);
    ex_motion_destroy(motion);

    motion = read_motion(path, NULL); /* the first */
    check_transform(&motion->poses[1].joints[fore], &fore_rest, NULL, NULL);
    ex_motion_destroy(motion);

    check_failure(path, &(ex_motion_options){.clip = "wavy"}, EX_ERROR_DATA, "did you mean 'wave'?");
    check_failure(path, &(ex_motion_options){.clip = "3"}, EX_ERROR_DATA,
                  "there is no clip '3': the clips are 'still', 'wave'");
    arm_write_scene("still.glb", arm_scene(0.5));
    check_failure(scratch_path("still.glb"), NULL, EX_ERROR_DATA, "it has no clips");
    rig = kept;
    ex_rig_destroy(arm);
}

/* A clip of a scene: joints, nodes above them, keys, floor. */
static void scene_clips(void **state) {
    (void)state;
    ex_scene *scene = animated_arm();
    ex_clip *clip = NULL;
    ex_error error = {0};
    assert_int_equal(ex_scene_to_clip(scene, 1, 0, &clip, &error), EX_OK);
    assert_int_equal(clip->joint_count, 5); /* with the node above and the one between */
    assert_int_equal(clip->frame_count, KEYS);
    assert_true(clip->root_moves);
    for (int j = 0; j < clip->joint_count; j++)
        assert_true(clip->joints[j].parent < j && !clip->joints[j].end);
    ex_clip_destroy(clip);
    assert_int_equal(ex_scene_to_clip(scene, 0, 4, &clip, &error), EX_OK);
    assert_int_equal(clip->frame_count, 9);
    assert_true(clip->times[8] == 2 && !clip->root_moves);
    ex_clip_destroy(clip);
    ex_scene_destroy(scene);
}

static const float values[KEYS][2] = {{0, 1}, {0.5f, 0}, {1, 0.25f}};

/* An arm with two morph targets, moved by its only animation. */
static ex_scene *morphing_arm(void) {
    ex_scene *scene = arm_scene(0.5);
    ex_scene_mesh *mesh = &scene->meshes[scene->nodes[ARM_MESH].mesh];
    mesh->target_count = 2;
    mesh->target_names = calloc(2, sizeof *mesh->target_names);
    assert_non_null(mesh->target_names);
    mesh->target_names[1] = copy_text("Smile");
    for (int p = 0; p < mesh->primitive_count; p++)
        mesh->primitives[p].targets = calloc(2, sizeof *mesh->primitives[p].targets);
    scene->animations = calloc(1, sizeof *scene->animations);
    assert_non_null(scene->animations);
    scene->animation_count = 1;
    scene->animations[0].channels = calloc(1, sizeof *scene->animations[0].channels);
    assert_non_null(scene->animations[0].channels);
    add_channel(&scene->animations[0], ARM_MESH, EX_SCENE_WEIGHTS, 2, &values[0][0]);
    return scene;
}

/* Morph targets become dials. */
static void weights(void **state) {
    (void)state;
    ex_scene *scene = morphing_arm();
    ex_clip *clip = NULL;
    ex_error error = {0};
    if (ex_scene_to_clip(scene, 0, 0, &clip, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(clip->dial_count, 2);
    assert_string_equal(clip->dials[0].name, "target0");
    assert_string_equal(clip->dials[1].name, "Smile");
    for (int f = 0; f < KEYS; f++)
        assert_true(clip->dials[0].values[f] == values[f][0] && clip->dials[1].values[f] == values[f][1]);
    ex_motion *motion = bring(clip, rig, NULL);
    assert_int_equal(motion->matched_count, 1);
    assert_true(motion->poses[2].inputs[0] == 0.25);
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_scene_destroy(scene);
}

/* ---- memory ---- */

typedef struct attempt {
    char path[1000];
    ex_motion_options options;
    const ex_scene *scene;
    int animation;
} attempt;

static ex_result read_once(void *context) {
    const attempt *a = context;
    ex_motion *motion = NULL;
    ex_result result = ex_motion_read(a->path, rig, &a->options, &motion, NULL);
    assert_int_equal(motion != NULL, result == EX_OK);
    ex_motion_destroy(motion);
    return result;
}

static ex_result clip_once(void *context) {
    const attempt *a = context;
    ex_clip *clip = NULL;
    ex_result result = ex_scene_to_clip(a->scene, a->animation, 3, &clip, NULL);
    assert_int_equal(clip != NULL, result == EX_OK);
    ex_clip_destroy(clip);
    return result;
}

static void survives_without_memory(void **state) {
    (void)state;
    attempt a = {.options = {.fps = 3}, .animation = 1};
    snprintf(a.path, sizeof a.path, "%s", write_text("t.csv", "smile\n0\n1\n1\n0\n0\n"));
    assert_true(fail_alloc_sweep(read_once, &a) > 5);
    snprintf(a.path, sizeof a.path, "%s", write_text("t.bvh", LEG_FRAMES("2") "0 20 0 0 0\n10 20 0 90 0\n"));
    assert_true(fail_alloc_sweep(read_once, &a) > 20);
    ex_scene *scene = animated_arm();
    a.scene = scene;
    assert_true(fail_alloc_sweep(clip_once, &a) > 10);
    ex_scene_destroy(scene);
    scene = morphing_arm();
    a.scene = scene;
    a.animation = 0;
    assert_true(fail_alloc_sweep(clip_once, &a) > 10);
    ex_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),  cmocka_unit_test(signs_follow_the_rest),   cmocka_unit_test(bvh),
        cmocka_unit_test(scenes),  cmocka_unit_test(ranges_are_cut),          cmocka_unit_test(scene_clips),
        cmocka_unit_test(weights), cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
