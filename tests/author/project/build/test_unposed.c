/*
 * Sculpts at poses: un-posed, blended and posed again they come back, with either method of skinning, over several
 * layers, with masks and with their own skeletons; vertices that cannot come back are named.
 */
#include "author/project/projects.h"

#include "support/arms.h"

static const char plain[] =
    "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'skinning': '%s', 'layers': []}";

static ex_rig *plain_arm(const char *method) {
    char text[300];
    snprintf(text, sizeof text, plain, method);
    return build_text(text);
}

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    arm_write_scene("arm.glb", arm_scene(1));
    arm_form(0.6, 0.15, positions);
    arm_write_mesh("child.obj", positions);
    arm_write_scene("child.glb", arm_scene(0.6));
    /* The same bones in a file saved in another pose: only the binding of the mesh matters. */
    ex_scene *scene = arm_scene(0.6);
    scene->nodes[ARM_PLACE].transform.translation[1] = 3;
    scene->nodes[ARM_FORE].transform.rotation[2] = 0.5;
    arm_write_scene("child_moved.glb", scene);
    return 0;
}

/* Writes a sculpt and returns its size. */
static double write_sculpt(const char *name, const ex_rig *rig, const char *const *words, uint32_t seed) {
    double positions[3 * ARM_VERTICES];
    arm_sculpt(rig, words, 0.05, seed, positions);
    arm_write_mesh(name, positions);
    ex_mesh *mesh = arm_mesh(positions);
    double size = ex_mesh_size(mesh);
    ex_mesh_destroy(mesh);
    return size;
}

/* The largest distance of a vertex from the file's, in sizes of the form; without vertices that have `skip` set. */
static double miss(const ex_rig *rig, const char *const *words, const char *name, const bool *skip) {
    float positions[3 * ARM_VERTICES];
    ex_mesh *mesh = NULL;
    double worst = 0;
    arm_evaluate(rig, words, positions);
    assert_int_equal(ex_mesh_read(scratch_path(name), &mesh, NULL), EX_OK);
    for (int i = 0; i < 3 * ARM_VERTICES; i++) {
        double off = fabs((double)positions[i] - mesh->positions[i]);
        worst = off > worst && !(skip && skip[i / 3]) ? off : worst;
    }
    worst /= ex_mesh_size(mesh);
    ex_mesh_destroy(mesh);
    return worst;
}

static void check_comes_back(const ex_rig *rig, const char *const *words, const char *name) {
    double off = miss(rig, words, name, NULL);
    if (!(off < 1e-5))
        fail_msg("%s is missed by %g of its size", name, off);
}

typedef const char *const words[5];

static words at_rest = {NULL}, bent = {"elbow=100", NULL}, strong = {"gender=1", NULL},
             both = {"elbow=60", "gender=0.7", "joint:hand=x30y-20", NULL},
             flexed = {"elbow=100", "gender=0.5", "flex=1", "joint:upper=z-35", NULL};

static const char arm_space[] =
    "'space': [{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140}, {'name': 'gender', 'min': 0, "
    "'max': 1}]";

static const char arm_project[] =
    "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'skinning': '%s', 'layers': [\n"
    "{'name': 'arm', %s, 'shape': 'unposed', 'examples': [\n"
    " {'name': 'rest', 'mesh': 'rest.obj', 'at': {}},\n"
    " {'name': 'bent', 'mesh': 'bent.obj', 'at': {'elbow': 100}},\n"
    " {'name': 'strong', 'mesh': 'strong.obj', 'at': {'gender': 1}},\n"
    " {'name': 'both', 'mesh': 'both.obj', 'at': {'elbow': 60, 'gender': 0.7}, 'joints': {'hand': {'x': 30, 'y': "
    "-20}}}]},\n"
    "{'name': 'flex', 'space': [{'name': 'flex', 'min': 0, 'max': 1}], 'shape': 'unposed', 'weigh': {'kind': "
    "'cardinal'}, 'examples': [\n"
    " {'name': 'not', 'mesh': 'rest.obj', 'at': {'flex': 0}},\n"
    " {'name': 'flexed', 'mesh': 'flexed.obj', 'at': {'flex': 1, 'elbow': 100, 'gender': 0.5}, 'joints': {'upper': "
    "{'z': -35}}}]%s}]}";

static void every_sculpt_comes_back(void **state) {
    (void)state;
    for (int method = 0; method < EX_SKINNING_COUNT; method++) {
        const char *name = ex_skinning_name((ex_skinning)method);
        ex_rig *rig = plain_arm(name);
        char text[3000];
        write_sculpt("bent.obj", rig, (words){"joint:fore=z100", NULL}, 1);
        write_sculpt("strong.obj", rig, at_rest, 2);
        write_sculpt("both.obj", rig, (words){"joint:fore=z60", "joint:hand=x30y-20", NULL}, 3);
        write_sculpt("flexed.obj", rig, (words){"joint:fore=z100", "joint:upper=z-35", NULL}, 4);
        ex_rig_destroy(rig);
        snprintf(text, sizeof text, arm_project, name, arm_space, "");
        rig = build_text(text);
        assert_int_equal(ex_rig_skinning(rig), method);
        check_comes_back(rig, at_rest, "rest.obj");
        check_comes_back(rig, bent, "bent.obj");
        check_comes_back(rig, strong, "strong.obj");
        check_comes_back(rig, both, "both.obj");
        check_comes_back(rig, flexed, "flexed.obj");
        /* Not by chance: elsewhere the result differs. */
        assert_true(miss(rig, at_rest, "bent.obj", NULL) > 0.1);
        assert_true(miss(rig, bent, "flexed.obj", NULL) > 0.01);
        ex_rig_destroy(rig);
        /* Vertices outside a mask keep the first layer's result, and the rest comes back. */
        snprintf(text, sizeof text, arm_project, name, arm_space, ", 'mask': {'joints': ['fore', 'hand']}");
        rig = build_text(text);
        bool upper[ARM_VERTICES], others[ARM_VERTICES];
        const ex_skin *skin = ex_rig_skin(rig);
        int count = 0;
        for (int v = 0; v < ARM_VERTICES; v++) {
            uint32_t joints[8];
            float weights[8];
            bool moved_by_upper = false;
            for (int i = ex_skin_influences(skin, v, joints, weights) - 1; i >= 0; i--)
                moved_by_upper = moved_by_upper || joints[i] == 0;
            upper[v] = moved_by_upper;
            others[v] = ex_skin_influences(skin, v, joints, weights) > 1 || joints[0] != 0;
            count += !upper[v];
        }
        assert_true(count > ARM_SIDES);
        assert_true(miss(rig, flexed, "flexed.obj", upper) < 1e-5);
        assert_true(miss(rig, flexed, "flexed.obj", others) > 1e-3);
        ex_rig_destroy(rig);
    }
}

/* An example sculpted on its own bones: they are blended along. */
static void skeletons_come_along(void **state) {
    (void)state;
    for (int method = 0; method < EX_SKINNING_COUNT; method++) {
        const char *name = ex_skinning_name((ex_skinning)method);
        char text[3000];
        snprintf(text, sizeof text,
                 "{'exemplar': 1, 'mesh': 'child.obj', 'skeleton': 'child.glb', 'skinning': '%s', 'layers': []}", name);
        double positions[3 * ARM_VERTICES];
        arm_form(0.6, 0.2, positions); /* as bound */
        arm_write_mesh("child.obj", positions);
        ex_rig *child = build_text(text), *rig = plain_arm(name);
        write_sculpt("child_bent.obj", child, (words){"joint:fore=z80", "joint:upper=y20", NULL}, 5);
        write_sculpt("bent.obj", rig, (words){"joint:fore=z100", NULL}, 1);
        ex_rig_destroy(child);
        ex_rig_destroy(rig);
        snprintf(
            text, sizeof text,
            "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'skinning': '%s', 'layers': [\n"
            "{'name': 'arm', %s, 'shape': 'unposed', 'examples': [{'name': 'rest', 'mesh': 'rest.obj', 'at': {}},\n"
            " {'name': 'bent', 'mesh': 'bent.obj', 'at': {'elbow': 100}},\n"
            " {'name': 'child', 'mesh': 'child.obj', 'at': {'gender': 1}, 'skeleton': 'child_moved.glb'}]},\n"
            "{'name': 'more', 'space': [{'name': 'more', 'min': 0, 'max': 1}], 'shape': 'unposed', 'examples': [\n"
            " {'name': 'none', 'mesh': 'rest.obj', 'at': {}},\n"
            " {'name': 'child', 'mesh': 'child_bent.obj', 'at': {'more': 1, 'gender': 0.5, 'elbow': 80}, "
            "'skeleton': 'child.glb', 'joints': {'upper': {'y': 20}}}]}]}",
            name, arm_space);
        rig = build_text(text);
        check_comes_back(rig, at_rest, "rest.obj");
        check_comes_back(rig, bent, "bent.obj");
        check_comes_back(rig, strong, "child.obj");
        check_comes_back(rig, (words){"more=1", "gender=0.5", "elbow=80", "joint:upper=y20", NULL}, "child_bent.obj");
        /* By hand: joints at 0, 1, 2 become joints at 0, 0.6, 1.2; the second already has half of that. */
        float shifts[3 * ARM_JOINTS];
        const float expected[2][3] = {{0, -0.4F, -0.8F}, {0, -0.2F, -0.4F}};
        for (int layer = 0; layer < 2; layer++) {
            assert_true(ex_rig_example_shifts(rig, layer, layer == 0 ? 2 : 1, shifts));
            for (int j = 0; j < ARM_JOINTS; j++) {
                check_near((double)shifts[3 * j], (double)expected[layer][j], 1e-6);
                check_near((double)shifts[3 * j + 1], 0, 1e-6);
                check_near((double)shifts[3 * j + 2], 0, 1e-6);
            }
        }
        assert_false(ex_rig_example_shifts(rig, 0, 0, shifts));
        ex_rig_destroy(rig);
    }
}

/* Joints that are moved and stretched, not only turned; and an angle, a slide and a stretch that say so. */
static void joints_that_slide_and_stretch(void **state) {
    (void)state;
    const char *project =
        "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [{'name': 'l', 'space': [\n"
        " {'name': 'out', 'joint': 'fore', 'slide': [0.2, 1, 0.5], 'min': 0, 'max': 1},\n"
        " {'name': 'thick', 'joint': 'hand', 'stretch': 'y', 'min': 0.5, 'max': 2},\n"
        " {'name': 'turn', 'joint': 'upper', 'rotation': 'full'}], 'shape': 'unposed',\n"
        " 'examples': [{'name': 'rest', 'mesh': 'rest.obj', 'at': {}}%s]}]}";
    char text[2000];
    snprintf(text, sizeof text, project, "");
    ex_rig *rig = build_text(text);
    words moved = {"out=0.3", "thick=1.7", "turn=x20y40z-10", NULL};
    write_sculpt("moved.obj", rig, moved, 6);
    ex_rig_destroy(rig);
    snprintf(
        text, sizeof text, project,
        ", {'name': 'moved', 'mesh': 'moved.obj', 'at': {'out': 0.3, 'thick': 1.7, 'turn': {'x': 20, 'y': 40, 'z': "
        "-10}}}");
    rig = build_text(text);
    check_comes_back(rig, moved, "moved.obj");
    check_comes_back(rig, at_rest, "rest.obj");
    ex_rig_destroy(rig);
}

typedef struct damage {
    int calls, layer, example, count, first;
    bool damped[ARM_VERTICES];
} damage;

static void note_damage(void *user, int layer, int example, const ex_damped *list, int count) {
    damage *d = user;
    d->calls++;
    d->layer = layer;
    d->example = example;
    d->count = count;
    for (int i = 0; i < count; i++)
        d->damped[list[i].vertex] = true;
}

/* Half a turn about the bone: linear skinning collapses the ring in the middle, which no rest form can undo. */
static void what_collapses_is_named(void **state) {
    (void)state;
    ex_rig *rig = plain_arm("dual_quaternion");
    write_sculpt("twisted.obj", rig, (words){"joint:fore=x180", NULL}, 7);
    ex_rig_destroy(rig);
    const char *project = "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'skinning': '%s', 'layers': "
                          "[{'name': 'l', 'space': [{'name': 'twist', 'joint': 'fore', 'angle': 'x', 'min': 0, "
                          "'max': 200}], 'shape': 'unposed', 'examples': [{'name': 'rest', 'mesh': 'rest.obj', 'at': "
                          "{}}, {'name': 'twisted', 'mesh': 'twisted.obj', 'at': {'twist': 180}}]%s}]}";
    for (int turn = 0; turn < 3; turn++) {
        char text[1000];
        damage d = {0};
        const ex_damped_report report = {note_damage, &d};
        const ex_build_options options = {.damped = &report};
        ex_error error;
        snprintf(text, sizeof text, project, turn == 1 ? "dual_quaternion" : "linear",
                 turn == 2 ? ", 'mask': {'file': 'none.txt'}" : "");
        write_text("none.txt", "");
        ex_project *parsed = parse_project(text);
        if (ex_project_build(parsed, &options, &rig, &error) != EX_OK)
            fail_msg("%s", error.text);
        if (turn == 0) {
            assert_int_equal(d.calls, 1);
            assert_int_equal(d.layer, 0);
            assert_int_equal(d.example, 1);
            /* The middle ring is moved half by each. */
            assert_true(d.count >= ARM_SIDES && d.count < ARM_VERTICES);
            float delta[3 * ARM_VERTICES];
            ex_rig_example_delta(rig, 0, 1, delta);
            for (int s = 0; s < ARM_SIDES; s++) {
                const int v = ARM_RINGS / 2 * ARM_SIDES + s;
                assert_true(d.damped[v]);
                /* Collapsed vertices keep their rest position. */
                check_near((double)delta[3 * v + 1], 0, 1e-4);
                check_near((double)delta[3 * v + 2], 0, 1e-4);
            }
            assert_true(miss(rig, (words){"twist=180", NULL}, "twisted.obj", d.damped) < 1e-5);
            assert_true(miss(rig, (words){"twist=180", NULL}, "twisted.obj", NULL) > 1e-3);
        } else {
            assert_int_equal(d.calls, 0); /* nothing collapses; or a mask leaves it out */
        }
        ex_rig_destroy(rig);
        ex_project_destroy(parsed);
    }
}

static void names_what_cannot_be_unposed(void **state) {
    (void)state;
    const char *project = "{'exemplar': 1, 'mesh': 'rest.obj', %s 'layers': [{'name': 'l', 'space': [{'name': 'd', "
                          "'min': 0, 'max': 1}], 'shape': 'unposed', 'examples': [{'name': 'far', 'mesh': '%s', 'at': "
                          "{}}]}]}";
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    positions[3 * 7 + 2] = 1e39;
    arm_write_mesh("far.obj", positions);
    /* A skin that nothing is bound to. */
    ex_scene *scene = arm_scene(1);
    scene->nodes[ARM_MESH].skin = -1;
    scene->nodes[ARM_MESH].mesh = -1;
    arm_write_scene("bones.glb", scene);
    ex_project *masked = parse_project(
        "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'bones.glb', 'layers': [{'name': 'l', 'space': [{'name': 'd', "
        "'min': 0, 'max': 1}], 'mask': {'joints': ['hand']}, 'examples': [{'name': 'e', 'mesh': 'rest.obj', 'at': "
        "{'d': 1}}]}]}");
    ex_rig *none = NULL;
    ex_error said = {0};
    assert_int_equal(ex_project_build(masked, NULL, &none, &said), EX_ERROR_DATA);
    if (!strstr(said.text, "no joint moves the mesh, so there are no skin weights"))
        fail_msg("%s", said.text);
    ex_project_destroy(masked);
    const char *cases[][3] = {{"'skeleton': 'arm.glb',", "far.obj", "vertex 7 is too far away for a float"},
                              {"'skeleton': 'bones.glb',", "rest.obj", "no joint moves the mesh"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        ex_rig *rig = NULL;
        ex_error error = {0};
        snprintf(text, sizeof text, project, cases[i][0], cases[i][1]);
        ex_project *parsed = parse_project(text);
        assert_int_equal(ex_project_build(parsed, NULL, &rig, &error), EX_ERROR_DATA);
        if (!strstr(error.text, cases[i][2]) || !strstr(error.text, "layers[0].examples[0] 'far'"))
            fail_msg("%s", error.text);
        ex_project_destroy(parsed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sculpt_comes_back),       cmocka_unit_test(skeletons_come_along),
        cmocka_unit_test(joints_that_slide_and_stretch), cmocka_unit_test(what_collapses_is_named),
        cmocka_unit_test(names_what_cannot_be_unposed),
    };
    return cmocka_run_group_tests_name("author.project.unposed", tests, set_up, scratch_tear_down);
}
