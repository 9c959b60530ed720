/*
 * Mixtures together with everything else a rig can have: a skin, masks, layers of forms and of offsets before and after
 * them, joints as axes, and subdivision. Every weigher gives its weights. The form at rest is compared with the mixture
 * in double (ex_trajectories_form) plus the sums of the other layers; the posed and refined surface with that of a rig
 * that has this form as its only example.
 */
#include "author/project/bars.h"

#include "support/arms.h"

enum { NUMBERS = 3 * ARM_VERTICES, POSES = 6 };

static const char *const weighers[] = {
    "'kind': 'cardinal'",
    "'kind': 'cardinal', 'kernel': 'thin_plate'",
    "'kind': 'cardinal', 'kernel': 'triharmonic'",
    "'kind': 'cardinal', 'kernel': 'multiquadric', 'linear': false",
    "'kind': 'calm'",
    "'kind': 'gaussian'",
    "'kind': 'shepard'",
    "'kind': 'nearest', 'k': 3",
};

/* A tube bent in the plane of x and y by an angle, and twisted about itself by another. */
static void write_tube(const char *name, double bend, double twist) {
    double positions[NUMBERS];
    arm_form(1, 0.2, positions);
    for (int v = 0; v < ARM_VERTICES; v++) {
        double *p = positions + 3 * v;
        const double x = p[0], t = twist * x / 2, a = bend * x / 2;
        const double u = p[1] * cos(t) - p[2] * sin(t), w = p[1] * sin(t) + p[2] * cos(t);
        p[0] = (bend == 0 ? x : 2 / bend * sin(a)) - u * sin(a);
        p[1] = (bend == 0 ? 0 : 2 / bend * (1 - cos(a))) + u * cos(a);
        p[2] = w;
    }
    arm_write_mesh(name, positions);
}

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    double positions[NUMBERS];
    write_tube("rest.obj", 0, 0);
    write_tube("up.obj", 1.4, 0);
    write_tube("down.obj", -1.1, 0);
    write_tube("left.obj", 0, 1.2);
    write_tube("right.obj", 0, -1);
    write_tube("both.obj", 1, 0.9);
    arm_write_scene("arm.glb", arm_scene(1));
    arm_form(1, 0.26, positions);
    arm_write_mesh("fat.obj", positions);
    arm_form(1, 0.2, positions);
    for (int v = 0; v < ARM_SIDES; v++)
        positions[3 * v + 1] += 0.05; /* a few vertices, for a layer of offsets */
    arm_write_mesh("lump.obj", positions);
    FILE *file = fopen(scratch_path("mask.txt"), "w");
    assert_non_null(file);
    for (int v = 0; v < ARM_VERTICES; v++)
        fprintf(file, "%d %.3f\n", v, 0.25 + 0.75 * v / ARM_VERTICES);
    fclose(file);
    return 0;
}

#define AXES                                                                                                           \
    "[{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': -100, 'max': 100}, {'name': 'turn', 'min': -1, "         \
    "'max': 1}]"
#define FORM(name, elbow, turn)                                                                                        \
    "{'name': '" name "', 'mesh': '" name ".obj', 'at': {'elbow': " elbow ", 'turn': " turn "}}"
#define SURFACE "'subdivide': {'scheme': 'catmull_clark', 'levels': 2, 'limit': true}"

static ex_rig *build_whole(const char *weigher, const char *mask) {
    char text[4000];
    snprintf(text, sizeof text,
             "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': ["
             "{'name': 'girth', 'space': [{'name': 'girth', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, "
             "'examples': [{'name': 'fat', 'mesh': 'fat.obj'}]}, "
             "{'name': 'paths', 'shape': 'trajectory', 'space': " AXES
             ", 'weigh': {%s}, %s'examples': [{'name': 'rest', "
             "'reference': true, 'at': {'elbow': 0, 'turn': 0}}, " FORM("up", "80", "0") ", " FORM(
                 "down", "-80",
                 "0") ", " FORM("left", "0",
                                "0.8") ", " FORM("right", "0",
                                                 "-0.8") ", " FORM("both", "60",
                                                                   "0.7") "]}"
                                                                          ", {'name': 'lumps', 'shape': 'offsets', "
                                                                          "'posed': false, 'space': [{'name': 'lump', "
                                                                          "'min': 0, 'max': 1}], "
                                                                          "'weigh': {'kind': 'gaussian'}, 'examples': "
                                                                          "[{'name': 'lump', 'mesh': 'lump.obj', 'at': "
                                                                          "{'lump': 1}}]}], "
                                                                          "" SURFACE "}",
             weigher, mask);
    return build_text(text);
}

/* A rig whose only example, at weight 1, is the form. */
static ex_rig *build_form(const double *form) {
    arm_write_mesh("form.obj", form);
    return build_text("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [{'name': 'form', 'space': "
                      "[{'name': 'w', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'examples': [{'name': 'form', "
                      "'mesh': 'form.obj'}]}], " SURFACE "}");
}

static float *evaluate_at(const ex_rig *rig, const ex_pose *pose, const ex_evaluation *how, double *weights) {
    void *scratch = malloc(ex_rig_scratch_size(rig, how, 1));
    float *positions = malloc(3 * (size_t)ex_rig_level_vertex_count(rig, how->level) * sizeof *positions);
    assert_true(scratch && positions);
    ex_rig_evaluate(rig, pose, &(ex_output){.positions = positions, .weights = weights}, how, scratch);
    free(scratch);
    return positions;
}

/* The form at rest in double. */
static void expect_form(const ex_rig *rig, const double *weights, bool masked, double form[NUMBERS]) {
    ex_rig_trajectories *paths = NULL;
    ex_error error = {0};
    double path[NUMBERS];
    float mesh[NUMBERS];
    if (ex_rig_trajectories_open(rig, 1, &paths, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true(paths->found.mixture.node_count > 0);
    assert_true(ex_trajectories_form(&paths->found, &paths->def, weights + ex_rig_first_example(rig, 1), -1, path));
    ex_rig_rest_mesh(rig, mesh);
    for (size_t i = 0; i < NUMBERS; i++) {
        const double mask = masked ? round(1000 * (0.25 + 0.75 * (double)(i / 3) / ARM_VERTICES)) / 1000 : 1;
        form[i] = (double)mesh[i] + mask * (path[i] - (double)mesh[i]);
    }
    ex_rig_trajectories_close(paths);
    for (int l = 0; l < 3; l += 2) {
        float delta[NUMBERS];
        ex_rig_example_delta(rig, l, 0, delta);
        for (size_t i = 0; i < NUMBERS; i++)
            form[i] += weights[ex_rig_first_example(rig, l)] * (double)delta[i];
    }
}

static double apart(const float *a, const float *b, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

static void compare(const ex_rig *rig, const char *const *words, bool masked, double range[2]) {
    double weights[16], form[NUMBERS];
    float expected[NUMBERS];
    ex_pose pose = arm_pose(rig, words);
    assert_true(ex_rig_example_count(rig) <= 16);
    float *rest = evaluate_at(rig, &pose, &(ex_evaluation){.unskinned = true}, weights);
    expect_form(rig, weights, masked, form);
    for (size_t i = 0; i < NUMBERS; i++)
        expected[i] = (float)form[i];
    assert_true(apart(rest, expected, NUMBERS) < 2e-6);
    const int first = ex_rig_first_example(rig, 1);
    for (int k = 1; k < 6; k++) {
        range[0] = fmin(range[0], weights[first + k]);
        range[1] = fmax(range[1], weights[first + k]);
    }
    ex_rig *plain = build_form(form);
    ex_pose posed = arm_pose(plain, (const char *const[]){"w=1", NULL});
    memcpy(posed.joints, pose.joints, (size_t)ex_rig_joint_count(rig) * sizeof *pose.joints);
    static const int levels[] = {0, 1, 2, EX_LEVEL_LIMIT};
    for (int i = 0; i < 4; i++) {
        const ex_evaluation how = {.level = levels[i]};
        float *a = evaluate_at(rig, &pose, &how, NULL), *b = evaluate_at(plain, &posed, &how, NULL);
        assert_true(apart(a, b, 3 * (size_t)ex_rig_level_vertex_count(rig, levels[i])) < 5e-6);
        if (levels[i] == 0) /* the skin does move it */
            assert_true(apart(a, rest, NUMBERS) > 0.1);
        free(a);
        free(b);
    }
    free(rest);
    free(pose.inputs);
    free(posed.inputs);
    ex_rig_destroy(plain);
}

static void all_kinds_at_once(void **state) {
    (void)state;
    static const char *const poses[POSES][5] = {
        {"elbow=35", "turn=0.3", "girth=0.6", "lump=0.7", NULL},
        {"elbow=-50", "turn=0.6", NULL},
        {"elbow=70", "turn=-0.5", "girth=-0.3", NULL},
        {"elbow=100", "turn=1", "lump=1", NULL},
        {"elbow=-95", "turn=-1", "joint:upper=z40", NULL},
        {"elbow=140", "turn=1.6", "girth=1.2", "lump=1.4", NULL},
    };
    double range[2] = {0, 0};
    for (size_t w = 0; w < sizeof weighers / sizeof *weighers; w++) {
        const bool masked = w % 2 == 1;
        ex_rig *rig = build_whole(weighers[w], masked ? "'mask': {'file': 'mask.txt'}, " : "");
        for (int i = 0; i < POSES; i++)
            compare(rig, poses[i], masked, range);
        ex_rig_destroy(rig);
    }
    assert_true(range[0] < -0.3 && range[1] > 1.3); /* also where weights leave 0 to 1 */
}

static void examples_come_back(void **state) {
    (void)state;
    static const struct {
        const char *words[3], *mesh;
    } cases[] = {{{"elbow=80", "turn=0", NULL}, "up.obj"},
                 {{"elbow=0", "turn=-0.8", NULL}, "right.obj"},
                 {{"elbow=60", "turn=0.7", NULL}, "both.obj"}};
    for (size_t w = 0; w < sizeof weighers / sizeof *weighers; w++) {
        ex_rig *rig = build_whole(weighers[w], "");
        for (int i = 0; i < 3; i++) {
            ex_pose pose = arm_pose(rig, cases[i].words);
            ex_mesh *mesh = NULL;
            float *rest = evaluate_at(rig, &pose, &(ex_evaluation){.unskinned = true}, NULL);
            assert_int_equal(ex_mesh_read(scratch_path(cases[i].mesh), &mesh, NULL), EX_OK);
            for (size_t v = 0; v < NUMBERS; v++)
                check_near((double)rest[v], mesh->positions[v], 3e-6);
            ex_mesh_destroy(mesh);
            free(rest);
            free(pose.inputs);
        }
        ex_rig_destroy(rig);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_kinds_at_once), cmocka_unit_test(examples_come_back)};
    return cmocka_run_group_tests_name("author.project.mixture_whole", tests, set_up, scratch_tear_down);
}
