/*
 * Projects from scenes: built and posed they stand as the scene does; what is refused; memory that runs out. (Names,
 * several meshes and messages: tests/cli/init.py; files of others: tests/oracle/init_oracle.py.)
 */
#include "projects.h"

#include <jansson.h>

#include "support/arms.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scenes.h"

static ex_scene *little_scene(void) {
    unsigned char buffer[LITTLE_SIZE];
    size_t size;
    ex_scene *scene = NULL;
    ex_error error = {0};
    little_buffer(buffer);
    char *glb = make_glb(little_json, buffer, LITTLE_SIZE, &size);
    if (ex_scene_parse(glb, size, "little.glb", false, &scene, &error) != EX_OK)
        fail_msg("%s", error.text);
    free(glb);
    return scene;
}

static ex_rig *build_scene(const ex_scene *scene, const char *folder) {
    char path[64];
    ex_project *project = NULL;
    ex_error error = {0};
    snprintf(path, sizeof path, "%s/it.json", folder);
    if (ex_project_init(scene, scratch_path(folder), "it", false, NULL, &error) != EX_OK ||
        ex_project_read(scratch_path(path), &project, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_rig *rig = build_project(project);
    ex_project_destroy(project);
    return rig;
}

/* Vertex v of the scene's skinned mesh, in double, from glTF's own definition. */
static void scene_vertex(const ex_scene *scene, const ex_scene_transform *transforms, const double *weights, int mesh,
                         int v, double out[3]) {
    const ex_scene_primitive *p = &scene->meshes[mesh].primitives[0];
    double worlds[16 * 16], matrices[16 * 16], x[3];
    assert_true(scene->node_count <= 16);
    assert_int_equal(ex_scene_worlds(scene, transforms, worlds, NULL), EX_OK);
    ex_scene_skin_matrices(scene, 0, worlds, matrices);
    for (int c = 0; c < 3; c++) {
        x[c] = (double)p->positions[3 * v + c];
        for (int t = 0; t < scene->meshes[mesh].target_count; t++)
            x[c] += weights[t] * (double)p->targets[t].positions[3 * v + c];
        out[c] = 0;
    }
    for (int i = 0; i < p->influence_count; i++) {
        const double *m = matrices + 16 * p->joints[v * p->influence_count + i];
        const double w = (double)p->weights[v * p->influence_count + i];
        for (int r = 0; r < 3; r++)
            out[r] += w * (m[r] * x[0] + m[4 + r] * x[1] + m[8 + r] * x[2] + m[12 + r]);
    }
}

static void check_stands(const ex_rig *rig, const char *const *words, const ex_scene *scene, int mesh,
                         const ex_scene_transform *transforms, const double *weights) {
    float positions[3 * 128];
    const int count = ex_rig_vertex_count(rig);
    assert_true(count <= 128 && count == scene->meshes[mesh].primitives[0].vertex_count);
    arm_evaluate(rig, words, positions);
    for (int v = 0; v < count; v++) {
        double expected[3];
        scene_vertex(scene, transforms, weights, mesh, v, expected);
        for (int c = 0; c < 3; c++)
            assert_near((double)positions[3 * v + c], expected[c], 1e-5);
    }
}

static void skin_and_targets(void **state) {
    (void)state;
    ex_scene *scene = little_scene();
    ex_rig *rig = build_scene(scene, "little");
    assert_int_equal(ex_rig_layer_count(rig), 1);
    assert_int_equal(ex_rig_joint_count(rig), 2);
    assert_string_equal(ex_rig_layer_name(rig, 0), "targets");
    assert_string_equal(ex_rig_example_name(rig, 0, 0), "target0");
    assert_true(ex_rig_input_axis(rig, 0).rest == 0.5);
    check_stands(rig, (const char *const[]){NULL}, scene, 0, NULL, (const double[]){0.5});
    check_stands(rig, (const char *const[]){"target0=-2", NULL}, scene, 0, NULL, (const double[]){-2});
    ex_scene_transform transforms[3];
    for (int n = 0; n < 3; n++)
        transforms[n] = scene->nodes[n].transform;
    transforms[2].rotation[2] = 0.6;
    transforms[2].rotation[3] = 0.8;
    check_stands(rig, (const char *const[]){"target0=0.25", "joint:joint 1=q:0,0,0.6,0.8", NULL}, scene, 0, transforms,
                 (const double[]){0.25});
    ex_rig_destroy(rig);
    ex_scene_destroy(scene);
}

/* Nodes above and between the joints, vertices in a binding pose that is not rest. */
static void arm(void **state) {
    (void)state;
    ex_scene *scene = arm_scene(1);
    scene->nodes[ARM_UPPER].transform.translation[1] += 0.5; /* moved since it was bound */
    ex_rig *rig = build_scene(scene, "arm");
    assert_int_equal(ex_rig_layer_count(rig), 0);
    assert_int_equal(ex_rig_joint_count(rig), ARM_JOINTS);
    check_stands(rig, (const char *const[]){NULL}, scene, 0, NULL, NULL);
    ex_rig_destroy(rig);
    ex_scene_destroy(scene);
}

/* ---- what cannot be had ---- */

static void count_note(void *user, const char *text) {
    assert_true(strlen(text) > 10);
    ++*(int *)user;
}

static void check_refused(const ex_scene *scene, ex_result expected, const char *word) {
    ex_error error = {0};
    const int before = scratch_entry_count();
    assert_int_equal(ex_project_init(scene, scratch_path("refused"), "it", false, NULL, &error), expected);
    assert_sentence(&error, expected, word);
    assert_int_equal(scratch_entry_count(), before);
}

static void refused(void **state) {
    (void)state;
    ex_scene *scene = little_scene();
    free(scene->skins[0].inverse_binds);
    scene->skins[0].inverse_binds = NULL;
    check_refused(scene, EX_ERROR_DATA, "no inverse bind matrices");
    ex_scene_destroy(scene);

    scene = little_scene();
    scene->nodes[0].hidden = true;
    check_refused(scene, EX_ERROR_DATA, "there is no mesh");
    scene->nodes[0].hidden = false;
    scene->nodes[1].parent = 2; /* and 2's is 1 */
    check_refused(scene, EX_ERROR_DATA, "");
    ex_scene_destroy(scene);

    scene = little_scene();
    scene->nodes[1].transform = (ex_scene_transform){.rotation = {0, 0, 0, 1}, .scale = {1, 4, 1}};
    scene->nodes[2].transform.rotation[2] = 0.5;
    scene->skins[0].joint_count = 1; /* the stretched node is no joint any more */
    scene->skins[0].joints[0] = 2;
    memset(scene->meshes[0].primitives[0].joints, 0, 12 * sizeof(uint16_t));
    check_refused(scene, EX_ERROR_DATA, "scales unevenly");
    ex_scene_destroy(scene);
}

static void overwriting(void **state) {
    (void)state;
    ex_scene *scene = little_scene();
    ex_error error = {0};
    int notes = 0;
    const ex_init_report report = {.note = count_note, .user = &notes};
    const char *folder = scratch_path("twice");
    assert_int_equal(ex_project_init(scene, folder, "it", false, &report, &error), EX_OK);
    assert_int_equal(notes, 1); /* of the animation */
    assert_int_equal(ex_project_init(scene, folder, "it", false, NULL, &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "it.json is there already");
    assert_int_equal(ex_project_init(scene, folder, "other", false, NULL, &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "mesh.obj is there already");
    assert_int_equal(ex_project_init(scene, folder, "it", true, NULL, &error), EX_OK);
    ex_scene_destroy(scene);
}

static ex_result init_once(void *context) {
    return ex_project_init(context, scratch_path("memory"), "it", true, NULL, NULL);
}

/* The JSON library's allocations fail too where only the project file is made with it: the writer of scenes can do
 * without some of its own. */
static void memory(void **state) {
    (void)state;
    json_malloc_t allocate;
    json_free_t release;
    ex_scene *scenes[] = {little_scene(), scene_with_everything(), little_scene()};
    scenes[2]->nodes[0].skin = -1;
    json_get_alloc_funcs(&allocate, &release);
    for (int i = 0; i < 3; i++) {
        if (i == 2)
            json_set_alloc_funcs(malloc, free);
        assert_true(fail_alloc_sweep(init_once, scenes[i]) > 20);
        json_set_alloc_funcs(allocate, release);
        ex_scene_destroy(scenes[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skin_and_targets), cmocka_unit_test(arm),    cmocka_unit_test(refused),
        cmocka_unit_test(overwriting),      cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests_name("author.project.init", tests, scratch_set_up, scratch_tear_down);
}
