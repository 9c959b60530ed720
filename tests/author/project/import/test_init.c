/*
 * Projects from scenes and from forms: built and posed they equal them; errors; failing memory. (Names, several meshes
 * and messages: tests/cli/init.py; files of other programs: tests/oracle/init_oracle.py.)
 */
#include "author/project/projects.h"

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
    if (ex_project_init(scene, scratch_path(folder), "it", NULL, NULL, &error) != EX_OK ||
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

/* ---- seams ---- */

/* Faces, three vertices each, as a scene of one mesh in which the place of a vertex on the x axis identifies it
 * (positions are those of `spots`) and every corner has a separate vertex and texture coordinate. */
static const float spots[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {-1, -1, -1}, {-1, 0, 2}};

static ex_scene *split_scene(const int (*faces)[3], int face_count) {
    const int count = 3 * face_count;
    ex_scene *scene = ex_scene_create();
    scene->meshes = calloc(1, sizeof *scene->meshes);
    scene->mesh_count = 1;
    ex_scene_primitive *p = scene->meshes[0].primitives = calloc(1, sizeof *p);
    scene->meshes[0].primitive_count = 1;
    *p = (ex_scene_primitive){.mode = EX_SCENE_TRIANGLES, .material = -1, .vertex_count = count};
    p->positions = malloc((size_t)count * 3 * sizeof *p->positions);
    p->texcoords[0] = malloc((size_t)count * 2 * sizeof(float));
    p->colours = malloc((size_t)count * 4 * sizeof(float));
    for (int v = 0; v < count; v++) {
        memcpy(p->positions + 3 * v, spots[faces[v / 3][v % 3]], sizeof spots[0]);
        p->texcoords[0][2 * v] = (float)(v / 6); /* the same for two faces in a row */
        p->texcoords[0][2 * v + 1] = 0.5F;
        for (int k = 0; k < 4; k++)
            p->colours[4 * v + k] = 0.25F;
    }
    scene->meshes[0].target_count = 1;
    p->targets = calloc(1, sizeof *p->targets);
    p->targets[0].positions = calloc((size_t)count * 3, sizeof(float));
    assert_true(ex_scene_add_node(scene, "it", -1, 0) == 0);
    return scene;
}

static ex_mesh *mesh_of_scene(const ex_scene *scene, bool keep_seams) {
    static int number;
    char folder[32], path[48];
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    snprintf(folder, sizeof folder, "seams%d", number++);
    snprintf(path, sizeof path, "%s/mesh.obj", folder);
    if (ex_project_init(scene, scratch_path(folder), "it", &(ex_init_options){.keep_seams = keep_seams}, NULL,
                        &error) != EX_OK ||
        ex_obj_read(scratch_path(path), &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static void check_joined(const int (*faces)[3], int face_count, int vertices, int faces_left) {
    ex_scene *scene = split_scene(faces, face_count);
    ex_mesh *mesh = mesh_of_scene(scene, false), *kept = mesh_of_scene(scene, true);
    assert_int_equal(mesh->vertex_count, vertices);
    assert_int_equal(mesh->face_count, faces_left);
    assert_int_equal(kept->vertex_count, 3 * face_count);
    assert_int_equal(kept->face_count, face_count);
    ex_mesh_destroy(mesh);
    ex_mesh_destroy(kept);
    ex_scene_destroy(scene);
}

static const int tetrahedron[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};

static void seams_close(void **state) {
    (void)state;
    check_joined(tetrahedron, 4, 4, 4);
    /* Two triangles side by side; in opposite directions; that touch at a corner. */
    check_joined((const int[2][3]){{0, 1, 2}, {2, 1, 4}}, 2, 4, 2);
    check_joined((const int[2][3]){{0, 1, 2}, {1, 2, 4}}, 2, 6, 2);
    check_joined((const int[2][3]){{0, 1, 2}, {0, 5, 6}}, 2, 6, 2);
    /* Three faces at the edge 0 1. */
    check_joined((const int[3][3]){{0, 1, 2}, {1, 0, 3}, {0, 1, 5}}, 3, 9, 3);
    /* A sheet of two triangles with a back. */
    check_joined((const int[4][3]){{0, 1, 2}, {2, 1, 4}, {0, 2, 1}, {2, 4, 1}}, 4, 12, 4);
    /* A face without area between two that meet there. */
    check_joined((const int[3][3]){{0, 1, 2}, {0, 2, 2}, {0, 2, 5}}, 3, 4, 2);
}

/* Four faces at the edge from vertex 0 to the place of 1, 2 and 3. The last face would join these, and so merge those
 * edges. */
static void no_edge_gets_crowded(void **state) {
    (void)state;
    const int places[8] = {0, 1, 1, 1, 2, 3, 4, 5}, faces[15] = {0, 1, 4, 1, 0, 5, 0, 2, 6, 2, 0, 7, 3, 5, 6};
    ex_scene *scene = split_scene(tetrahedron, 4);
    ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    p->vertex_count = 8;
    for (int v = 0; v < 8; v++)
        memcpy(p->positions + 3 * v, spots[places[v]], sizeof spots[0]);
    p->index_count = 15;
    p->indices = malloc(sizeof faces);
    memcpy(p->indices, faces, sizeof faces);
    ex_mesh *mesh = mesh_of_scene(scene, false);
    assert_int_equal(mesh->vertex_count, 8);
    ex_mesh_destroy(mesh);
    ex_scene_destroy(scene);
}

/* Every texture coordinate is still at its corner, and no vertex has one twice. */
static void corners_keep_what_is_theirs(void **state) {
    (void)state;
    ex_scene *scene = split_scene(tetrahedron, 4);
    ex_mesh *mesh = mesh_of_scene(scene, false);
    assert_int_equal(mesh->corner_count, 12);
    for (int c = 0; c < 12; c++) {
        assert_true(mesh->texcoords[2 * mesh->corner_texcoords[c]] == c / 6);
        for (int k = 0; k < 3; k++)
            assert_true(mesh->positions[3 * mesh->corners[c] + k] == (double)spots[tetrahedron[c / 3][c % 3]][k]);
    }
    assert_int_equal(mesh->texcoord_count, 8);
    ex_mesh_destroy(mesh);
    ex_scene_destroy(scene);
}

/* Any difference keeps two vertices apart: a target, a colour, a place that differs in the last bit. */
static void what_differs_stays_apart(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        ex_scene *scene = split_scene((const int[2][3]){{0, 1, 2}, {2, 1, 4}}, 2);
        ex_scene_primitive *p = &scene->meshes[0].primitives[0];
        if (i == 1)
            p->targets[0].positions[3 * 3 + 1] = 1e-30F; /* vertex 3 is the second face's 2 */
        else if (i == 2)
            p->colours[4 * 3] = 0.5F;
        else if (i == 3)
            p->positions[3 * 3 + 1] = nextafterf(1, 2);
        ex_mesh *mesh = mesh_of_scene(scene, false);
        assert_int_equal(mesh->vertex_count, i == 0 ? 4 : 6);
        ex_mesh_destroy(mesh);
        ex_scene_destroy(scene);
    }
}

/* ---- errors ---- */

static void count_note(void *user, const char *text) {
    assert_true(strlen(text) > 10);
    ++*(int *)user;
}

static void check_refused(const ex_scene *scene, ex_result expected, const char *word) {
    ex_error error = {0};
    const int before = scratch_entry_count();
    assert_int_equal(ex_project_init(scene, scratch_path("refused"), "it", NULL, NULL, &error), expected);
    assert_sentence(&error, expected, word);
    assert_int_equal(scratch_entry_count(), before);
}

static void refused(void **state) {
    (void)state;
    ex_scene *scene = little_scene();
    scene->nodes[0].hidden = true;
    check_refused(scene, EX_ERROR_DATA, "there is no mesh");
    scene->nodes[0].hidden = false;
    scene->nodes[1].parent = 2; /* and 2's is 1 */
    check_refused(scene, EX_ERROR_DATA, "");
    ex_scene_destroy(scene);
}

static void overwriting(void **state) {
    (void)state;
    ex_scene *scene = little_scene();
    ex_error error = {0};
    int notes = 0;
    const ex_init_report report = {.note = count_note, .user = &notes};
    const char *folder = scratch_path("twice");
    assert_int_equal(ex_project_init(scene, folder, "it", NULL, &report, &error), EX_OK);
    assert_int_equal(notes, 0);
    assert_int_equal(ex_project_init(scene, folder, "it", NULL, NULL, &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "it.json exists already");
    assert_int_equal(ex_project_init(scene, folder, "other", NULL, NULL, &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "mesh.obj exists already");
    assert_int_equal(ex_project_init(scene, folder, "it", &(ex_init_options){.overwrite = true}, NULL, &error), EX_OK);
    ex_scene_destroy(scene);
}

static ex_result init_once(void *context) {
    return ex_project_init(context, scratch_path("memory"), "it", &(ex_init_options){.overwrite = true}, NULL, NULL);
}

/* The JSON library's allocations fail too while it makes only the project file: the writer of scenes can do without
 * some of its own. */
static void memory(void **state) {
    (void)state;
    json_malloc_t allocate;
    json_free_t release;
    ex_scene *scenes[] = {little_scene(), scene_with_everything(), split_scene(tetrahedron, 4), little_scene()};
    scenes[3]->nodes[0].skin = -1;
    json_get_alloc_funcs(&allocate, &release);
    for (int i = 0; i < 4; i++) {
        if (i == 3)
            json_set_alloc_funcs(malloc, free);
        assert_true(fail_alloc_sweep(init_once, scenes[i]) > 20);
        json_set_alloc_funcs(allocate, release);
        ex_scene_destroy(scenes[i]);
    }
}

/* ---- from forms ---- */

static const char strip[] = "v 0 0 0\nv 1 0 0\nv 1.2 1 0\nv 0 1 0\nv 0.3 2.2 0\nf 1 2 3 4\nf 4 3 5\n";
/* The same with its last vertex moved, and vertices 1 and 5 exchanged. */
static const char swapped[] = "v 0.3 2.2 1\nv 1 0 0\nv 1.2 1 0\nv 0 1 0\nv 0 0 0\nf 5 2 3 4\nf 4 3 1\n";

static ex_result forms_once(void *context) {
    return ex_project_init_forms(context, scratch_path("memory"), "it", &(ex_init_options){.overwrite = true}, NULL,
                                 NULL);
}

static void forms(void **state) {
    (void)state;
    ex_error error = {0};
    int notes = 0;
    const char *const axes[] = {"x", "y"};
    const double at[] = {1, 0};
    char rest[512], shape[512];
    write_text("strip.obj", strip);
    write_text("swapped.obj", swapped);
    snprintf(rest, sizeof rest, "%s", scratch_path("strip.obj"));
    snprintf(shape, sizeof shape, "%s", scratch_path("swapped.obj"));
    const ex_init_form form = {.path = shape, .name = "bump", .at = at};
    ex_init_forms all = {
        .rest = {.path = rest, .name = "strip"}, .forms = &form, .form_count = 1, .axes = axes, .axis_count = 1};
    const ex_init_report report = {.note = count_note, .user = &notes};
    if (ex_project_init_forms(&all, scratch_path("forms"), "it", NULL, &report, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(notes, 1); /* of the order */
    ex_project *project = NULL;
    assert_int_equal(ex_project_read(scratch_path("forms/it.json"), &project, &error), EX_OK);
    ex_rig *rig = build_project(project);
    float positions[15];
    double one = 1;
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    ex_rig_evaluate(rig, &(ex_pose){.inputs = &one}, &(ex_output){.positions = positions}, NULL, scratch);
    assert_float_equal(positions[14], 1, 1e-6);
    assert_float_equal(positions[0], 0, 1e-6);
    free(scratch);
    ex_rig_destroy(rig);
    ex_project_destroy(project);

    const double nowhere[] = {0, 0};
    const ex_init_form same = {.path = shape, .name = "bump", .at = nowhere};
    all.forms = &same;
    assert_int_equal(ex_project_init_forms(&all, scratch_path("none"), "it", NULL, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "'bump' and 'strip' are at the same place");
    all.forms = &form;
    all.axis_count = 2; /* both forms have y = 0: an axis without a range */
    assert_int_equal(ex_project_init_forms(&all, scratch_path("none"), "it", NULL, NULL, &error), EX_ERROR_DATA);
    all.axis_count = 1;

    assert_true(fail_alloc_sweep(forms_once, &all) > 20);
    all.axis_count = 0;
    all.trajectory = true;
    assert_true(fail_alloc_sweep(forms_once, &all) > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seams_close),
        cmocka_unit_test(no_edge_gets_crowded),
        cmocka_unit_test(corners_keep_what_is_theirs),
        cmocka_unit_test(what_differs_stays_apart),
        cmocka_unit_test(skin_and_targets),
        cmocka_unit_test(arm),
        cmocka_unit_test(refused),
        cmocka_unit_test(overwriting),
        cmocka_unit_test(memory),
        cmocka_unit_test(forms),
    };
    return cmocka_run_group_tests_name("author.project.init", tests, scratch_set_up, scratch_tear_down);
}
