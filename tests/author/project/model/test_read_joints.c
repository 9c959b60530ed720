/*
 * Reading projects with a skeleton: axes that read joints, and the complete poses of examples, in all layers. Poses are
 * worked by hand. Errors are in test_read_errors.c.
 */
#include "author/project/projects.h"

#include "support/fail_alloc.h"

/* Two layers that share axes: of 'ball' the first takes the swing, the second the twist. */
static const char text[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'skeleton': 's.glb', 'unit': 'cm', 'layers': [\n"
    "{'name': 'arm', 'shape': 'unposed', 'space': [\n"
    "{'name': 'elbow', 'joint': 'forearm', 'angle': 'x', 'min': 0, 'max': 140, 'clamp': true},\n"
    "{'name': 'ball', 'joint': 'upper', 'rotation': 'swing', 'about': 'y'},\n"
    "{'name': 'reach', 'joint': 'forearm', 'slide': [0, 3, 4], 'min': 0, 'max': 5},\n"
    "{'name': 'thick', 'joint': 'forearm', 'stretch': 'z', 'min': 0, 'max': 2},\n"
    "{'name': 'dial', 'min': 2, 'max': 3}],\n"
    "'examples': [{'name': 'rest', 'mesh': 'a.obj', 'at': {}},\n"
    "{'name': 'bent', 'mesh': 'b.obj', 'skeleton': 'b.glb', 'at': {'elbow': 90.1, 'pitch': 390, 'dial': 2.5}},\n"
    "{'name': 'moved', 'mesh': 'c.obj', 'at': {'reach': -2.5, 'thick': 0.3, 'ball': {'x': 60}}},\n"
    "{'name': 'sculpted', 'mesh': 'd.obj', 'joints': {'forearm': {'x': 40, 'y': 20}, 'hand': [0, 0, 3, 4],\n"
    "'upper': {'x': 60, 'y': 50}, 'toe': {}}, 'at': {'pitch': 340}}],\n"
    "'pseudo': [{'from': {'elbow': 500}, 'at': {'elbow': 600, 'pitch': 9}}],\n"
    "'mask': {'joints': ['forearm', 'hand']}},\n"
    "{'name': 'skin', 'shape': 'pixels', 'texture': 'base_color', 'space': [\n"
    "{'name': 'pitch', 'joint': 'hand', 'angle': 'z', 'min': 300, 'max': 400},\n"
    "{'name': 'ball', 'joint': 'upper', 'rotation': 'twist', 'about': [0, 2, 0]},\n"
    "{'name': 'elbow', 'joint': 'forearm', 'angle': [2, 0, 0], 'min': 300, 'max': 400}],\n"
    "'examples': [{'name': 'p', 'image': 'p.png', 'at': {'pitch': 340.5}}]},\n"
    "{'name': 'fist', 'space': [{'name': 'dial', 'min': 0, 'max': 9, 'rest': 2},\n"
    "{'name': 'elbow', 'joint': 'forearm', 'angle': 'x', 'min': 0, 'max': 1}],\n"
    "'weigh': {'kind': 'direct'}, 'examples': [{'name': 'd', 'mesh': 'd.obj'}, {'name': 'e', 'mesh': 'e.obj'}]}]}\n";

static void check_numbers(const double *values, const double *expected, int count, double tolerance) {
    assert_non_null(values);
    for (int i = 0; i < count; i++)
        if (!(fabs(values[i] - expected[i]) <= tolerance))
            fail_msg("number %d is %.17g, not %.17g", i, values[i], expected[i]);
}

static void reads_the_whole(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    const ex_project_view *view = ex_project_get(project);
    assert_string_equal(view->skeleton, "s.glb");
    assert_int_equal(view->skinning, EX_SKINNING_LINEAR);
    assert_false(view->subdivide);
    assert_true(view->layers[0].domain == EX_DOMAIN_FORM && view->layers[0].unposed);
    assert_int_equal(view->layers[1].domain, EX_DOMAIN_PIXELS);
    assert_true(view->layers[2].domain == EX_DOMAIN_FORM && !view->layers[2].unposed);
    assert_string_equal(ex_project_layer_shape(&view->layers[0]), "unposed");
    assert_string_equal(ex_project_layer_shape(&view->layers[1]), "pixels");
    assert_string_equal(ex_project_layer_shape(&view->layers[2]), "positions");
    assert_null(view->layers[0].pixels.texture);
    assert_string_equal(view->layers[1].pixels.texture, "base_color");
    assert_int_equal(view->layers[0].mask.kind, EX_MASK_JOINTS);
    assert_int_equal(view->layers[0].mask.joint_count, 2);
    assert_string_equal(view->layers[0].mask.joints[0], "forearm");
    assert_string_equal(view->layers[0].mask.joints[1], "hand");
    const ex_project_example *examples = view->layers[0].examples, *pixels = view->layers[1].examples;
    assert_null(examples[0].skeleton);
    assert_string_equal(examples[1].skeleton, "b.glb");
    assert_string_equal(examples[1].mesh, "b.obj");
    assert_null(examples[1].image);
    assert_null(pixels[0].mesh);
    assert_string_equal(pixels[0].image, "p.png");
    ex_project_destroy(project);
}

static void reads_refinement(void **state) {
    (void)state;
    static const struct {
        const char *written;
        ex_subdivide_def def;
    } cases[] = {
        {"{'scheme': 'loop'}", {EX_SCHEME_LOOP, 1, false, EX_BOUNDARY_FROM_TAGS, false}},
        {"{'scheme': 'catmull_clark', 'levels': 10}",
         {EX_SCHEME_CATMULL_CLARK, 10, false, EX_BOUNDARY_FROM_TAGS, false}},
        {"{'levels': 0, 'scheme': 'bilinear', 'limit': true}",
         {EX_SCHEME_BILINEAR, 0, true, EX_BOUNDARY_FROM_TAGS, false}},
        {"{'scheme': 'loop', 'boundary': 'tags'}", {EX_SCHEME_LOOP, 1, false, EX_BOUNDARY_FROM_TAGS, false}},
        {"{'scheme': 'loop', 'boundary': 'none'}", {EX_SCHEME_LOOP, 1, false, EX_BOUNDARY_NONE, false}},
        {"{'scheme': 'loop', 'boundary': 'edges'}", {EX_SCHEME_LOOP, 1, false, EX_BOUNDARY_EDGES, false}},
        {"{'scheme': 'loop', 'boundary': 'edges_and_corners', 'limit': false}",
         {EX_SCHEME_LOOP, 1, false, EX_BOUNDARY_EDGES_AND_CORNERS, false}},
        {"{'scheme': 'loop', 'limit': 'all'}", {EX_SCHEME_LOOP, 1, true, EX_BOUNDARY_FROM_TAGS, true}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char whole[300];
        snprintf(whole, sizeof whole, "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [], 'subdivide': %s}",
                 cases[i].written);
        ex_project *project = parse_project(whole);
        const ex_project_view *view = ex_project_get(project);
        const ex_subdivide_def *a = &view->subdivision, *b = &cases[i].def;
        assert_true(view->subdivide);
        if (a->scheme != b->scheme || a->levels != b->levels || a->limit != b->limit || a->boundary != b->boundary ||
            a->all != b->all)
            fail_msg("%s", cases[i].written);
        ex_project_destroy(project);
    }
    ex_project *project = parse_project("{'exemplar': 1, 'mesh': 'm.obj', 'skinning': 'dual_quaternion', "
                                        "'skeleton': 's.glb', 'layers': []}");
    assert_int_equal(ex_project_get(project)->skinning, EX_SKINNING_DUAL_QUATERNION);
    ex_project_destroy(project);
}

static void check_reading(const ex_project_axis *axis, const char *joint, const ex_reading *expected) {
    assert_string_equal(axis->joint, joint);
    assert_int_equal(axis->reading.kind, expected->kind);
    check_numbers(axis->reading.about, expected->about, 3, 0);
    assert_true(axis->reading.middle == expected->middle);
    assert_true(axis->reading.unit == expected->unit);
    assert_int_equal(axis->reading.part, expected->part);
}

static void reads_axes(void **state) {
    (void)state;
    const ex_reading elbow = {.kind = EX_READING_ANGLE, .about = {1, 0, 0}, .middle = 70};
    const ex_reading pitch = {.kind = EX_READING_ANGLE, .about = {0, 0, 1}, .middle = 350};
    const ex_reading ball = {.kind = EX_READING_ROTATION, .about = {0, 1, 0}, .part = EX_AXIS_ROTATION};
    const ex_reading reach = {.kind = EX_READING_SLIDE, .about = {0, 3, 4}, .unit = 0.01};
    const ex_reading thick = {.kind = EX_READING_STRETCH, .about = {0, 0, 1}};
    ex_project *project = parse_project(text);
    const ex_project_layer *layers = ex_project_get(project)->layers;
    const ex_project_axis *arm = layers[0].axes, *skin = layers[1].axes, *fist = layers[2].axes;
    /* A name in several layers is read as in the first of them. */
    check_reading(&arm[0], "forearm", &elbow);
    check_reading(&skin[2], "forearm", &elbow);
    check_reading(&fist[1], "forearm", &elbow);
    check_reading(&skin[0], "hand", &pitch);
    check_reading(&arm[2], "forearm", &reach);
    check_reading(&arm[3], "forearm", &thick);
    /* One layer takes the swing and another the twist: setting the input sets the entire rotation. */
    check_reading(&arm[1], "upper", &ball);
    check_reading(&skin[1], "upper", &ball);
    assert_int_equal(arm[1].axis.kind, EX_AXIS_SWING);
    assert_int_equal(skin[1].axis.kind, EX_AXIS_TWIST);
    assert_null(arm[4].joint);
    assert_int_equal(arm[4].reading.kind, EX_READING_NONE);
    assert_true(arm[0].axis.clamp && arm[0].axis.max == 140 && skin[2].axis.max == 400);
    /* At rest they have the joint's rest, whatever the range. */
    assert_true(arm[0].axis.rest == 0 && skin[2].axis.rest == 0 && skin[0].axis.rest == 360);
    assert_true(arm[2].axis.rest == 0 && arm[3].axis.rest == 1 && arm[4].axis.rest == 2);
    check_numbers(arm[1].axis.rest_rotation, (double[]){0, 0, 0, 1}, 4, 0);
    assert_null(arm[0].unit);
    for (int l = 0; l < 3; l++)
        for (int i = 0; i < layers[l].axis_count; i++)
            check_same_axis(&layers[l].weigh.axes[i], &layers[l].axes[i].axis);
    ex_project_destroy(project);
}

/* A swing or twist that no other layer takes otherwise keeps to its part, with a direction of any length. */
static void keeps_parts_that_agree(void **state) {
    (void)state;
    ex_project *project =
        parse_project("{'exemplar': 1, 'mesh': 'm.obj', 'skeleton': 's.glb', 'layers': [\n"
                      "{'name': 'a', 'space': [{'name': 's', 'joint': 'j', 'rotation': 'swing', 'about': 'x'},\n"
                      "{'name': 't', 'joint': 'j', 'rotation': 'twist', 'about': 'x'}],\n"
                      "'examples': [{'name': 'e', 'mesh': 'm.obj', 'at': {'s': {'y': 90}, 't': {'x': 90}}}]},\n"
                      "{'name': 'b', 'space': [{'name': 's', 'joint': 'j', 'rotation': 'swing', 'about': [5, 0, 0]}],\n"
                      "'examples': [{'name': 'e', 'mesh': 'm.obj', 'at': {}}]}]}");
    const ex_project_layer *layers = ex_project_get(project)->layers;
    assert_int_equal(layers[0].axes[0].reading.part, EX_AXIS_SWING);
    assert_int_equal(layers[0].axes[1].reading.part, EX_AXIS_TWIST);
    assert_int_equal(layers[1].axes[0].reading.part, EX_AXIS_SWING);
    check_numbers(layers[1].axes[0].reading.about, (double[]){1, 0, 0}, 3, 0);
    /* The swing and the twist together: first x, then y. Each axis has what was written. */
    const ex_project_example *e = &layers[0].examples[0];
    assert_int_equal(e->joint_count, 1);
    const float *q = e->joints[0].relative.rotation;
    check_numbers((double[]){q[0], q[1], q[2], q[3]}, (double[]){0.5, 0.5, -0.5, 0.5}, 4, 1e-7);
    const double h = sqrt(0.5);
    check_numbers(e->at, (double[]){0, h, 0, h, h, 0, 0, h}, 8, 1e-15);
    check_numbers(e->points[1], (double[]){0, h, 0, h}, 4, 1e-15);
    ex_project_destroy(project);
}

static const ex_project_joint *joint_of(const ex_project_example *example, const char *name) {
    for (int i = 0; i < example->joint_count; i++)
        if (strcmp(example->joints[i].name, name) == 0)
            return &example->joints[i];
    fail_msg("example '%s' does not move joint '%s'", example->name, name);
    return NULL;
}

static void check_transform(const ex_project_joint *joint, const ex_transform *expected) {
    const float *a = (const float *)&joint->relative, *b = (const float *)expected;
    for (int i = 0; i < 10; i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-7f))
            fail_msg("joint '%s': number %d is %g, not %g", joint->name, i, (double)a[i], (double)b[i]);
}

static void moves_joints(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    const ex_project_example *e = ex_project_get(project)->layers[0].examples;
    const double degree = 3.14159265358979323846 / 180;
    assert_int_equal(e[0].joint_count, 0);
    assert_null(e[0].joints);
    assert_int_equal(e[1].joint_count, 2);
    const ex_transform bent = {.rotation = {(float)sin(45.05 * degree), 0, 0, (float)cos(45.05 * degree)},
                               .scale = {1, 1, 1}};
    check_transform(joint_of(&e[1], "forearm"), &bent);
    const ex_transform pitched = {.rotation = {0, 0, (float)sin(15 * degree), (float)cos(15 * degree)},
                                  .scale = {1, 1, 1}};
    check_transform(joint_of(&e[1], "hand"), &pitched);
    /* Centimetres along a direction of length 5; scaled; 'ball' turns by 60 degrees. */
    assert_int_equal(e[2].joint_count, 2);
    const ex_transform moved = {.translation = {0, -0.015f, -0.02f}, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 0.3f}};
    check_transform(joint_of(&e[2], "forearm"), &moved);
    const ex_transform turned = {.rotation = {0.5f, 0, 0, (float)sqrt(0.75)}, .scale = {1, 1, 1}};
    check_transform(joint_of(&e[2], "upper"), &turned);
    /* 'toe' is at rest; 'pitch' turns the hand, which "joints" turned otherwise, about the same axis. */
    assert_int_equal(e[3].joint_count, 3);
    const ex_transform hand = {.rotation = {0, 0, (float)sin(170 * degree), (float)cos(170 * degree)},
                               .scale = {1, 1, 1}};
    check_transform(joint_of(&e[3], "hand"), &hand);
    ex_project_destroy(project);
}

/* Rotations are the same whatever their sign. */
static void check_rotation(const double *q, const double *expected) {
    double dot = q[0] * expected[0] + q[1] * expected[1] + q[2] * expected[2] + q[3] * expected[3];
    check_near(fabs(dot), 1, 1e-6);
}

static void places_examples_in_all_layers(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    const ex_project_layer *layers = ex_project_get(project)->layers;
    const ex_project_example *e = layers[0].examples;
    /* elbow, ball, reach, thick, dial; pitch, ball, elbow; dial, elbow */
    check_numbers(e[0].at, (double[]){0, 0, 0, 0, 1, 0, 1, 2}, 8, 0);
    check_numbers(e[0].points[1], (double[]){360, 0, 0, 0, 1, 0}, 6, 0);
    check_numbers(e[0].points[2], (double[]){2, 0}, 2, 0);
    /* Given values are exact to the bit, in every layer. */
    check_numbers(e[1].at, (double[]){90.1, 0, 0, 0, 1, 0, 1, 2.5}, 8, 0);
    assert_true(e[1].points[0][0] == 90.1 && e[1].points[1][5] == 90.1 && e[1].points[2][1] == 90.1);
    assert_true(e[1].points[2][0] == 2.5);
    assert_true(layers[0].weigh.points[8] == 90.1);
    assert_true(e[2].at[5] == -2.5 && e[2].at[6] == 0.3);
    check_numbers(e[2].points[1] + 1, (double[]){0.5, 0, 0, sqrt(0.75)}, 4, 1e-15);
    /* Values that are not given are read: the turn about x of x 40, y 20 is 40; 'ball' is the complete rotation of its
     * joint. */
    check_near(e[3].at[0], 40, 1e-5);
    check_near(e[3].points[2][1], 40, 1e-5);
    const double degree = 3.14159265358979323846 / 180, a = 30 * degree, b = 25 * degree;
    check_rotation(e[3].at + 1, (double[]){sin(a) * cos(b), cos(a) * sin(b), sin(a) * sin(b), cos(a) * cos(b)});
    check_near(e[3].at[5], 0, 0);
    check_near(e[3].at[6], 1, 0);
    assert_memory_equal(e[3].at, e[3].points[0], 8 * sizeof(double));
    assert_memory_equal(e[3].at, layers[0].weigh.points + 24, 8 * sizeof(double));
    /* In a direct layer, example i has axis i at 1: a dial, and an angle of one degree. */
    const ex_project_example *fist = layers[2].examples;
    assert_null(fist[0].at);
    check_numbers(fist[0].points[2], (double[]){1, 0}, 2, 0);
    check_numbers(fist[1].points[2], (double[]){2, 1}, 2, 0);
    assert_int_equal(fist[0].joint_count, 0);
    assert_string_equal(joint_of(&fist[1], "forearm")->name, "forearm");
    assert_true(fist[1].points[0][0] == 1);
    ex_project_destroy(project);
}

/* The turn that the example 'bent' of 'skin' names is the joint's own: 340.5 is nearer to 350 than -19.5. */
static void reads_turns_near_the_middle(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    const ex_project_layer *layers = ex_project_get(project)->layers;
    assert_true(layers[1].examples[0].at[0] == 340.5);
    ex_project_destroy(project);
}

/* Points of pseudo-examples are numbers and move nothing, so any turn may be named. */
static void pseudo_examples_are_points(void **state) {
    (void)state;
    ex_project *project = parse_project(text);
    const ex_pseudo *p = &ex_project_get(project)->layers[0].weigh.pseudos[0];
    check_numbers(p->from, (double[]){500, 0, 0, 0, 1, 0, 1, 2}, 8, 0);
    check_numbers(p->at, (double[]){600, 0, 0, 0, 1, 0, 1, 2}, 8, 0);
    ex_project_destroy(project);
}

/* Every given value comes back to the bit, on the turn of the range; and writing the values read from a joint with
 * three angles, over that joint, is no contradiction. */
static void values_survive_the_joint(void **state) {
    (void)state;
    static const double angles[] = {-109.999, -90, -1e-3, 0, 1e-9, 0.1, 33.3333333, 90, 179.9999, 180, 200, 249.9};
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        char whole[1000];
        snprintf(whole, sizeof whole,
                 "{'exemplar': 1, 'mesh': 'm.obj', 'skeleton': 's.glb', 'layers': [{'name': 'a', 'space': [\n"
                 "{'name': 'b', 'joint': 'j', 'angle': [1, 2, 3], 'min': 0, 'max': 140},\n"
                 "{'name': 's', 'joint': 'j', 'slide': [3, 2, 1], 'metres': 0.3, 'min': 0, 'max': 140}],\n"
                 "'examples': [{'name': 'e', 'mesh': 'm.obj', 'at': {'b': %.17g, 's': %.17g}}]}]}",
                 angles[i], angles[i]);
        ex_project *project = parse_project(whole);
        const double *at = ex_project_get(project)->layers[0].examples[0].at;
        assert_true(ex_project_get(project)->layers[0].axes[1].reading.unit == 0.3);
        assert_true(at[0] == angles[i] && at[1] == angles[i]);
        ex_project_destroy(project);
    }
}

/* Angles about two perpendicular axes are turns one after the other, and both hold; the third axis reads the result.
 * The turns x a, y b have z = tan(a/2) tan(b/2) as the tangent of half the third. */
static void two_angles_hold(void **state) {
    (void)state;
    ex_project *project = parse_project(
        "{'exemplar': 1, 'mesh': 'm.obj', 'skeleton': 's.glb', 'layers': [{'name': 'a', 'space': [\n"
        "{'name': 'x', 'joint': 'j', 'angle': 'x', 'min': 0, 'max': 90}, {'name': 'y', 'joint': 'j', 'angle': 'y',\n"
        "'min': 0, 'max': 90}, {'name': 'z', 'joint': 'j', 'angle': 'z', 'min': 0, 'max': 90}],\n"
        "'examples': [{'name': 'e', 'mesh': 'm.obj', 'at': {'x': 40, 'y': 70}},\n"
        "{'name': 'f', 'mesh': 'm.obj', 'at': {'y': 70, 'x': 40}}]}]}");
    const ex_project_example *e = ex_project_get(project)->layers[0].examples;
    const double degree = 3.14159265358979323846 / 180;
    const double third = 2 * atan(tan(20 * degree) * tan(35 * degree)) / degree;
    check_numbers(e[0].at, (double[]){40, 70, third}, 3, 1e-5);
    check_numbers(e[1].at, (double[]){40, 70, -third}, 3, 1e-5);
    assert_true(e[0].at[0] == 40 && e[0].at[1] == 70 && e[1].at[0] == 40 && e[1].at[1] == 70);
    ex_project_destroy(project);
}

/* jansson's own memory does not fail here: test_memory.c tests that. */
static ex_result parse_once(void *context) {
    const char *json = context;
    ex_project *project = NULL;
    ex_result result = ex_project_parse(json, strlen(json), "x.json", &project, NULL);
    assert_int_equal(project != NULL, result == EX_OK);
    ex_project_destroy(project);
    return result;
}

static void survives_without_memory(void **state) {
    (void)state;
    char *json = with_quotes(text);
    assert_true(fail_alloc_sweep(parse_once, json) > 60);
    free(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_whole),
        cmocka_unit_test(reads_refinement),
        cmocka_unit_test(reads_axes),
        cmocka_unit_test(keeps_parts_that_agree),
        cmocka_unit_test(moves_joints),
        cmocka_unit_test(places_examples_in_all_layers),
        cmocka_unit_test(reads_turns_near_the_middle),
        cmocka_unit_test(pseudo_examples_are_points),
        cmocka_unit_test(values_survive_the_joint),
        cmocka_unit_test(two_angles_hold),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests_name("author.project.read_joints", tests, scratch_set_up, scratch_tear_down);
}
