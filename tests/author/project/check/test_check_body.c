/*
 * Checking bodies: every possible error of a skeleton, its weights, the joints that a project names, its axes and
 * un-posing, and none of them in a sound one.
 */
#include "checks.h"

#include "support/arms.h"

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    arm_write_scene("arm.glb", arm_scene(1));
    arm_form(0.6, 0.2, positions);
    arm_write_mesh("child.obj", positions);
    arm_write_scene("child.glb", arm_scene(0.6));
    arm_form(0.7, 0.2, positions);
    arm_write_mesh("girl.obj", positions);
    return 0;
}

static const char body[] =
    "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': '%s', 'layers': [{'name': 'arm', 'shape': 'unposed', 'space':\n"
    "[{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140}, {'name': 'size', 'min': 0, 'max': 1}],\n"
    "'examples': [{'name': 'rest', 'mesh': 'rest.obj', 'at': {}}, {'name': 'child', 'mesh': 'child.obj', 'at': "
    "{'size': 1}, 'skeleton': 'child.glb'}%s]%s}%s]}";

static char *body_text(const char *skeleton, const char *example, const char *layer, const char *more) {
    static char text[3000];
    snprintf(text, sizeof text, body, skeleton, example, layer, more);
    return text;
}

static void a_good_body_has_neither_errors_nor_warnings(void **state) {
    (void)state;
    expect_good(body_text("arm.glb", "", "", ""));
}

/* ---- the file ---- */

/* Writes the arm with one vertex's weights for upper and fore replaced in the file's bytes: a scene in memory always
 * has sum 1. */
static void write_weights(const char *name, float upper, float fore) {
    const float marks[2] = {0.625F, 0.375F}, put[2] = {upper, fore};
    ex_scene *scene = arm_scene(1);
    ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    size_t size, found = 0;
    memcpy(p->weights + 4 * 5, marks, sizeof marks);
    p->weights[4 * 5 + 2] = 0;
    p->joints[4 * 5 + 1] = 1;
    arm_write_scene(name, scene);
    char *bytes = scratch_read(name, &size);
    for (size_t i = 0; i + sizeof marks <= size; i++)
        if (memcmp(bytes + i, marks, sizeof marks) == 0) {
            memcpy(bytes + i, put, sizeof put);
            found++;
        }
    assert_int_equal(found, 1);
    scratch_write(name, bytes, size);
    free(bytes);
}

static void finds_weights(void **state) {
    (void)state;
    write_weights("zero.glb", 0, 0);
    expect_one(body_text("zero.glb", "", "", ""), "zero_weights", EX_SEVERITY_ERROR, "skeleton",
               "zero.glb: meshes[0].primitives[0]: the joint weights of 1 vertex, the first of them 5 (counting from "
               "0), sum to 0, so no joint moves it");
    write_weights("heavy.glb", 0.625F, 0.5F);
    ex_check *check = check_text(body_text("heavy.glb", "", "", ""));
    const ex_finding *finding = only(check, "unnormalised", EX_SEVERITY_WARNING);
    expect_words(finding, "skeleton", "the farthest off is vertex 5 (counting from 0), by 0.125");
    check_near(finding->value, 0.125, 1e-7);
    assert_int_equal(check->error_count, 0);
    assert_int_equal(check->warning_count, 1);
    ex_check_destroy(check);
    /* Weights that are not finite are not read at all. */
    write_weights("nan.glb", NAN, 0.5F);
    check = check_text(body_text("nan.glb", "", "", ""));
    expect_words(only(check, "unreadable", EX_SEVERITY_ERROR), "skeleton", "not finite");
    assert_int_equal(check->error_count, 1);
    ex_check_destroy(check);
}

static void large(ex_scene *s) {
    for (int i = 0; i < 3 * ARM_VERTICES; i++)
        s->meshes[0].primitives[0].positions[i] *= 100;
}

static void away(ex_scene *s) {
    for (int i = 0; i < ARM_VERTICES; i++)
        s->meshes[0].primitives[0].positions[3 * i] += 5;
}

static void one_off(ex_scene *s) {
    s->meshes[0].primitives[0].positions[3 * 17 + 1] += 0.01F;
}

/* The root moved, after binding. */
static void bound_elsewhere(ex_scene *s) {
    s->nodes[ARM_PLACE].transform.translation[1] += 0.5;
}

/* A joint in the middle moved. */
static void bound_in_another_pose(ex_scene *s) {
    s->nodes[s->skins[0].joints[1]].transform.translation[1] += 0.5;
}

/* Scaled, and mirrored. */
static void bound_in_centimetres(ex_scene *s) {
    for (int c = 0; c < 3; c++)
        s->nodes[ARM_PLACE].transform.scale[c] *= 0.01;
}

static void bound_mirrored(ex_scene *s) {
    s->nodes[ARM_PLACE].transform.scale[0] *= -1;
}

/* Bind matrices in centimetres, with a rest pose to match: the mesh stays, but its joints are said to be far away. */
static void far_joint(ex_scene *s) {
    for (int j = 0; j < ARM_JOINTS; j++)
        s->skins[0].inverse_binds[16 * j + 13] += 500;
}

static void nothing_bound(ex_scene *s) {
    s->nodes[ARM_MESH].skin = -1;
    ex_scene_primitive *p = &s->meshes[0].primitives[0];
    p->influence_count = 0;
    free(p->joints);
    free(p->weights);
    p->joints = NULL;
    p->weights = NULL;
}

static void finds_skeletons(void **state) {
    (void)state;
    const struct {
        void (*damage)(ex_scene *s);
        const char *kind;
        ex_severity severity;
        const char *words;
        int errors, warnings;
    } cases[] = {
        {large, "bind", EX_SEVERITY_ERROR, "the mesh it was bound to is 100 times as large as the project's mesh", 1,
         0},
        {away, "bind", EX_SEVERITY_ERROR, "of the mesh's size away from it", 1, 0},
        {one_off, "bind", EX_SEVERITY_ERROR, "nothing at the position of vertex 17 of the mesh", 1, 0},
        {bound_elsewhere, "rest_pose", EX_SEVERITY_NOTE, "at rest its joints move the whole mesh: it was bound in", 0,
         0},
        {bound_in_another_pose, "rest_pose", EX_SEVERITY_NOTE, "at rest its joints move the mesh by up to", 0, 0},
        {bound_in_centimetres, "rest_pose", EX_SEVERITY_NOTE, "move the whole mesh and scale it by 0.01: it was bound",
         0, 0},
        {bound_mirrored, "rest_pose", EX_SEVERITY_NOTE, "move the whole mesh and mirror it: it was bound in", 0, 0},
        {far_joint, "far_joints", EX_SEVERITY_WARNING, "3 joints where the mesh was bound lie far from it", 0, 1},
        {nothing_bound, "unbound", EX_SEVERITY_WARNING, "nothing is bound to its skeleton", 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_scene *scene = arm_scene(1);
        cases[i].damage(scene);
        arm_write_scene("bad.glb", scene);
        char *text = body_text("bad.glb", "", "", "");
        if (strstr(cases[i].kind, "far_") || strstr(cases[i].kind, "rest_")) /* the child would be as far */
            text = "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'bad.glb', 'layers': []}";
        ex_check *check = check_text(text);
        expect_words(only(check, cases[i].kind, cases[i].severity), "skeleton", cases[i].words);
        assert_int_equal(check->error_count, cases[i].errors);
        assert_int_equal(check->warning_count, cases[i].warnings);
        ex_check_destroy(check);
    }
    ex_check *check = check_text(body_text("none.glb", "", "", ""));
    expect_words(only(check, "unreadable", EX_SEVERITY_ERROR), "skeleton", "none.glb");
    assert_int_equal(check->error_count, 1);
    ex_check_destroy(check);
}

/* A fifth joint for a vertex: few viewers show it. */
static void notes_many_influences(void **state) {
    (void)state;
    ex_scene *scene = arm_scene(1);
    ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    int joints[6] = {ARM_UPPER, ARM_FORE, ARM_HAND};
    float *binds = calloc(16 * 6, sizeof *binds), *weights = calloc(8 * ARM_VERTICES, sizeof *weights);
    uint16_t *places = calloc(8 * ARM_VERTICES, sizeof *places);
    assert_true(binds && weights && places);
    memcpy(binds, scene->skins[0].inverse_binds, 16 * 3 * sizeof *binds);
    for (int j = 3; j < 6; j++) {
        char name[24];
        snprintf(name, sizeof name, "more%d", j);
        joints[j] = ex_scene_add_node(scene, name, -1, -1);
        for (int i = 0; i < 16; i++)
            binds[16 * j + i] = i % 5 == 0;
    }
    for (int v = 0; v < ARM_VERTICES; v++)
        for (int i = 0; i < 4; i++) {
            weights[8 * v + i] = p->weights[4 * v + i];
            places[8 * v + i] = p->joints[4 * v + i];
        }
    for (int i = 0; i < 5; i++) {
        weights[8 * 7 + i] = 0.2F;
        places[8 * 7 + i] = (uint16_t)i;
    }
    free(p->weights);
    free(p->joints);
    free(scene->skins[0].inverse_binds);
    free(scene->skins[0].joints);
    p->weights = weights;
    p->joints = places;
    p->influence_count = 8;
    scene->skins[0].inverse_binds = binds;
    scene->skins[0].joint_count = 6;
    scene->skins[0].joints = malloc(sizeof joints);
    assert_non_null(scene->skins[0].joints);
    memcpy(scene->skins[0].joints, joints, sizeof joints);
    arm_write_scene("many.glb", scene);
    ex_check *check = check_text("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'many.glb', 'layers': []}");
    const ex_finding *finding = only(check, "influences", EX_SEVERITY_NOTE);
    expect_words(finding, "skeleton", "1 vertex is moved by more than 4 joints, up to 5");
    check_near(finding->value, 5, 0);
    ex_check_destroy(check);
}

/* ---- joints ---- */

static void finds_every_missing_joint(void **state) {
    (void)state;
    ex_check *check = check_text(
        body_text("arm.glb",
                  ", {'name': 'b', 'mesh': 'rest.obj', 'at': {'elbow': 30}, 'joints': {'hnad': {'x': 1}, 'knee': "
                  "{'x': 2}}}",
                  ", 'mask': {'joints': ['fore', 'uper']}",
                  ", {'name': 'more', 'space': [{'name': 'n', 'joint': 'neck', 'angle': 'x', 'min': 0, 'max': 90}], "
                  "'examples': [{'name': 'r', 'mesh': 'rest.obj', 'at': {'n': 50}}]}"));
    static const char *const wheres[] = {"layers[1].space[0].joint", "layers[0].examples[2].joints.hnad",
                                         "layers[0].examples[2].joints.knee", "layers[0].mask.joints[1]"};
    static const char *const words[] = {"no joint 'neck'", "no joint 'hnad'; did you mean 'hand'?", "no joint 'knee'",
                                        "no joint 'uper'; did you mean 'upper'?"};
    int count = 0;
    for (int i = 0; i < check->finding_count; i++)
        if (strcmp(check->findings[i].kind, "joint") == 0) {
            assert_true(count < 4);
            expect_words(&check->findings[i], wheres[count], words[count]);
            count++;
        }
    assert_int_equal(count, 4);
    assert_int_equal(check->error_count, 4);
    ex_check_destroy(check);
}

static void finds_skeletons_of_examples(void **state) {
    (void)state;
    ex_scene *scene = ex_scene_create();
    assert_non_null(scene);
    ex_scene_add_node(scene, "fore", -1, -1);
    arm_write_scene("fore.glb", scene);
    scene = ex_scene_create();
    ex_scene_add_node(scene, "cube", -1, -1);
    arm_write_scene("cube.glb", scene);
    const struct {
        const char *file, *words;
    } cases[] = {{"fore.glb", "fore.glb: it lacks joint 'upper', which the project's skeleton has, and 1 more"},
                 {"cube.glb", "cube.glb: it has no skeleton"},
                 {"none.glb", "none.glb"}};
    for (int i = 0; i < 3; i++) {
        char example[200];
        snprintf(example, sizeof example,
                 ", {'name': 'girl', 'mesh': 'girl.obj', 'at': {'size': 0.5}, 'skeleton': '%s'}", cases[i].file);
        expect_one(body_text("arm.glb", example, "", ""), "skeleton", EX_SEVERITY_ERROR,
                   "layers[0].examples[2].skeleton", cases[i].words);
    }
    /* As far from the mesh as the child, without its own bones; and a sculpt on the project's bones. */
    expect_one(body_text("arm.glb", ", {'name': 'girl', 'mesh': 'girl.obj', 'at': {'size': 0.5}}", "", ""),
               "no_skeleton", EX_SEVERITY_WARNING, "layers[0].examples[2]",
               "'girl' has no skeleton of its own, although its form differs from the mesh as much as that of "
               "'child', which has one");
    expect_good(body_text("arm.glb", ", {'name': 'half', 'mesh': 'rest.obj', 'at': {'size': 0.5}}", "", ""));
}

/* ---- axes ---- */

static void finds_axes_that_disturb_each_other(void **state) {
    (void)state;
    const struct {
        const char *axes;
        bool good;
        const char *words;
    } cases[] = {
        {"{'name': 'other', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 90}", false,
         "'elbow' and 'other' overlap: setting 'other' changes what 'elbow' reads from joint 'fore' (from 21 to"},
        {"{'name': 'other', 'joint': 'fore', 'rotation': 'full'}", false, "setting 'other' changes what 'elbow' reads"},
        {"{'name': 'other', 'joint': 'fore', 'angle': [1, 0, 1], 'min': -60, 'max': 60}", false, "'elbow'"},
        {"{'name': 'other', 'joint': 'fore', 'angle': 'x', 'min': -60, 'max': 60}", true, ""},
        {"{'name': 'other', 'joint': 'hand', 'angle': 'z', 'min': -60, 'max': 60}", true, ""},
        {"{'name': 'other', 'joint': 'fore', 'slide': 'x', 'min': -60, 'max': 60}", true, ""},
        {"{'name': 'other', 'joint': 'fore', 'stretch': 'x', 'min': 0.5, 'max': 2}", true, ""},
        {"{'name': 'other', 'joint': 'fore', 'rotation': 'swing', 'about': 'z'}", true, ""},
        {"{'name': 'other', 'joint': 'hand', 'angle': 'x', 'min': -60, 'max': 60}, {'name': 'x', 'joint': 'hand', "
         "'angle': 'y', 'min': -60, 'max': 60}",
         true, ""},
        {"{'name': 'x', 'joint': 'fore', 'slide': [1, 1, 0], 'min': -6, 'max': 6}, {'name': 'other', 'joint': 'fore', "
         "'slide': 'x', 'min': -60, 'max': 60}",
         false, "'x' and 'other' overlap"},
        {"{'name': 'x', 'joint': 'fore', 'angle': 'x', 'min': -60, 'max': 60}, {'name': 'other', 'joint': 'fore', "
         "'angle': 'y', 'min': -60, 'max': 60}",
         false, "and 'other' overlap"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [{'name': 'arm', 'space':\n"
                 "[{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140}, %s],\n"
                 "'examples': [{'name': 'rest', 'mesh': 'rest.obj', 'at': {}}]}, {'name': 'again', 'space':\n"
                 "[{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140}],\n"
                 "'examples': [{'name': 'rest', 'mesh': 'rest.obj', 'at': {}}]}]}",
                 cases[i].axes);
        if (cases[i].good)
            expect_good(text);
        else
            expect_one(text, "overlap", EX_SEVERITY_WARNING,
                       strstr(cases[i].axes, "}, {") ? "layers[0].space[2]" : "layers[0].space[1]", cases[i].words);
    }
}

/* ---- un-posing ---- */

static const char twisted[] =
    "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'skinning': '%s', 'layers': [{'name': 'l', 'space': "
    "[{'name': 'twist', 'joint': 'fore', 'angle': 'x', 'min': 0, 'max': 200}], 'shape': 'unposed', 'examples': "
    "[{'name': 'rest', 'mesh': 'rest.obj', 'at': {}}, {'name': 'twisted', 'mesh': 'twisted.obj', 'at': {'twist': %d}}]"
    "}]}";

/* Each joint moves half of the middle ring: turned by t, linear skinning scales it by cos(t/2). */
static void finds_vertices_that_collapse(void **state) {
    (void)state;
    char text[1000];
    double positions[3 * ARM_VERTICES];
    ex_rig *rig = build_text(
        "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'skinning': 'dual_quaternion', 'layers': []}");
    const struct {
        int degrees;
        const char *words[2];
    } cases[] = {{180, {"joint:fore=x180", NULL}}, {162, {"joint:fore=x162", NULL}}, {150, {"joint:fore=x150", NULL}}};
    for (int i = 0; i < 3; i++) {
        arm_sculpt(rig, cases[i].words, 0.02, 7, positions);
        arm_write_mesh("twisted.obj", positions);
        snprintf(text, sizeof text, twisted, "linear", cases[i].degrees);
        ex_check *check = check_text(text);
        if (i == 0) {
            const ex_finding *damped = only(check, "damped", EX_SEVERITY_WARNING);
            expect_words(
                damped, "layers[0].examples[1]",
                "'twisted': 6 vertices cannot be un-posed safely, because skinning flattens the surface there");
            check_near(damped->value, ARM_SIDES, 0);
            for (int s = 0; s < ARM_SIDES; s++) { /* all by number, with their distances */
                char number[20];
                snprintf(number, sizeof number, "%d by ", ARM_RINGS / 2 * ARM_SIDES + s);
                assert_non_null(strstr(damped->text, number));
            }
            assert_int_equal(check->warning_count, 1);
        } else if (i == 1) {
            const ex_finding *near = only(check, "nearly_damped", EX_SEVERITY_NOTE);
            expect_words(near, "layers[0].examples[1]", "'twisted': 6 vertices are nearly flattened at this pose");
            check_near(near->value, cos(81 * 3.14159265358979 / 180), 1e-4);
            assert_int_equal(count_kind(check, "damped", EX_SEVERITY_WARNING, NULL), 0);
        } else {
            assert_int_equal(count_kind(check, "nearly_damped", EX_SEVERITY_NOTE, NULL), 0);
            assert_int_equal(check->warning_count, 0);
        }
        assert_int_equal(check->error_count, 0);
        ex_check_destroy(check);
        snprintf(text, sizeof text, twisted, "dual_quaternion", cases[i].degrees);
        expect_good(text);
    }
    ex_rig_destroy(rig);
}

static void finds_layers_without_a_skin_to_un_pose(void **state) {
    (void)state;
    ex_scene *scene = arm_scene(1);
    nothing_bound(scene);
    arm_write_scene("loose.glb", scene);
    ex_check *check = check_text(body_text("loose.glb", "", "", ""));
    expect_words(only(check, "unmeasured", EX_SEVERITY_ERROR), "layers[0]",
                 "the forms of 'arm' cannot be un-posed, because no joint moves the mesh");
    ex_check_destroy(check);
}

/* ---- forms and ranges that were meant otherwise ---- */

static const char bent_arm[] =
    "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [{'name': 'l', 'space': [{'name': 'elbow', "
    "'joint': 'fore', 'angle': 'z', 'min': 0, 'max': %g}], 'shape': '%s', 'examples': [{'name': 'rest', 'mesh': "
    "'rest.obj', 'at': {}}, {'name': 'bent', 'mesh': '%s', 'at': {'elbow': %g}}]}]}";

static void finds_forms_that_were_made_otherwise(void **state) {
    (void)state;
    char text[1000];
    double positions[3 * ARM_VERTICES];
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': []}");
    arm_sculpt(rig, (const char *const[]){"joint:fore=z90", NULL}, 0.02, 7, positions);
    arm_write_mesh("sculpt.obj", positions);
    for (int v = 0; v < ARM_VERTICES; v++) {
        const double y = positions[3 * v + 1];
        positions[3 * v + 1] = -positions[3 * v + 2];
        positions[3 * v + 2] = y;
    }
    arm_write_mesh("z_up.obj", positions);
    arm_sculpt(rig, (const char *const[]){NULL}, 0.02, 7, positions);
    arm_write_mesh("at_rest.obj", positions);
    ex_rig_destroy(rig);
    const struct {
        const char *shape, *mesh, *words; /* words NULL: no error */
    } cases[] = {{"unposed", "sculpt.obj", NULL},
                 {"positions", "at_rest.obj", NULL},
                 {"positions", "sculpt.obj", "should have \"shape\": \"unposed\"?"},
                 {"unposed", "at_rest.obj", "should have \"shape\": \"positions\", or at another pose"},
                 {"unposed", "z_up.obj", "turned by 90 degrees about x: was it exported with another up axis"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, bent_arm, 90.0, cases[i].shape, cases[i].mesh, 90.0);
        if (cases[i].words)
            expect_one(text, "misread", EX_SEVERITY_WARNING, "layers[0].examples[1]", cases[i].words);
        else
            expect_good(text);
    }
}

static void finds_ranges_in_radians(void **state) {
    (void)state;
    char text[1000];
    snprintf(text, sizeof text, bent_arm, 1.5707963, "positions", "rest.obj", 1.5);
    expect_one(text, "radians", EX_SEVERITY_WARNING, "layers[0].space[0]", "is only 1.5708 degrees wide");
    snprintf(text, sizeof text, bent_arm, 10.0, "positions", "rest.obj", 9.0);
    expect_good(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_body_has_neither_errors_nor_warnings),
        cmocka_unit_test(finds_weights),
        cmocka_unit_test(finds_skeletons),
        cmocka_unit_test(notes_many_influences),
        cmocka_unit_test(finds_every_missing_joint),
        cmocka_unit_test(finds_skeletons_of_examples),
        cmocka_unit_test(finds_axes_that_disturb_each_other),
        cmocka_unit_test(finds_vertices_that_collapse),
        cmocka_unit_test(finds_layers_without_a_skin_to_un_pose),
        cmocka_unit_test(finds_forms_that_were_made_otherwise),
        cmocka_unit_test(finds_ranges_in_radians),
    };
    return cmocka_run_group_tests_name("author.project.check_body", tests, set_up, scratch_tear_down);
}
