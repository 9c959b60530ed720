/*
 * Layers of trajectories, built: ends and rigid motions are exact, layers before and after them, skins, masks and
 * weighers as with other layers; and all of it again after unpacking, to the bit.
 */
#include "author/project/bars.h"

#include "support/arms.h"
#include "support/whole_rigs.h"

#define DIRECT                                                                                                         \
    "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': 1}, {'name': " \
    "'y', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'shape': 'trajectory', %s 'examples': [{'name': 'a', "    \
    "'mesh': 'a.obj'}, {'name': 'b', 'mesh': 'b.obj'}]}]}"

/* Largest distance of positions from the bar of that bend. */
static double off_bar(const float *positions, double angle) {
    double farthest = 0;
    for (int v = 0; v < BAR_VERTICES; v++) {
        double p[3];
        bar_corner(angle, v, p);
        for (int c = 0; c < 3; c++)
            farthest = fmax(farthest, fabs((double)positions[3 * v + c] - p[c]));
    }
    return farthest;
}

static void ends_are_the_forms(void **state) {
    (void)state;
    static const char *const how[] = {
        "", "'trajectory': {'correctors': 0},", "'trajectory': {'mode': 'paper'},",
        ("'trajectory': {'mode': 'paper', 'terms': ['pose'], 'iterations': 2, 'bases': true, "
         "'segment_angle': 30},")};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        char text[1000];
        float positions[3 * BAR_VERTICES];
        snprintf(text, sizeof text, DIRECT, how[i]);
        ex_rig *rig = build_text(text);
        assert_int_equal(ex_rig_layer_domain(rig, 0), EX_DOMAIN_TRAJECTORY);
        assert_int_equal(ex_rig_layer_reference(rig, 0), -1);
        evaluate(rig, (double[]){0, 0}, positions, NULL);
        assert_true(off_bar(positions, 0) < 1e-6);
        evaluate(rig, (double[]){1, 0}, positions, NULL);
        assert_true(off_bar(positions, 2.2) < 2e-6);
        evaluate(rig, (double[]){0, 1}, positions, NULL);
        assert_true(off_bar(positions, -1.4) < 2e-6);
        ex_rig_destroy(rig);
    }
}

static void building_stops(void **state) {
    (void)state;
    static const char *const how[] = {"", "'trajectory': {'correctors': 2},", "'trajectory': {'mode': 'paper'},"};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        char text[1000];
        snprintf(text, sizeof text, DIRECT, how[i]);
        ex_project *project = parse_project(text);
        check_stops(project);
        ex_project_destroy(project);
    }
}

/* The trajectories of a rig, opened: names and forms of all examples. */
static void rigs_hold_their_paths(void **state) {
    (void)state;
    static const double bends[] = {2.2, -1.4};
    char text[1000];
    snprintf(text, sizeof text, DIRECT, "");
    ex_rig *rig = build_text(text);
    ex_rig_trajectories *paths = NULL;
    assert_int_equal(ex_rig_trajectories_open(rig, 0, &paths, NULL), EX_OK);
    assert_int_equal(paths->def.example_count, 2);
    for (int k = 0; k < 2; k++) {
        assert_string_equal(paths->def.names[k], k == 0 ? "a" : "b");
        for (int v = 0; v < BAR_VERTICES; v++) {
            double p[3];
            bar_corner(bends[k], v, p);
            for (int c = 0; c < 3; c++)
                check_near(paths->def.examples[k][3 * v + c], p[c], 2e-6);
        }
    }
    ex_rig_trajectories_close(paths);
    ex_rig_destroy(rig);
}

/* Rigs whose paths differ: the correctors are compared too. */
static void paths_are_compared(void **state) {
    (void)state;
    char text[1000];
    snprintf(text, sizeof text, DIRECT, "'trajectory': {'correctors': 1},");
    ex_rig *rig = build_text(text);
    snprintf(text, sizeof text, DIRECT, "'trajectory': {'correctors': 2},");
    ex_rig *other = build_text(text);
    ex_differences *list = NULL;
    assert_int_equal(ex_rig_compare(rig, other, 1e-7, &list, NULL), EX_OK);
    int correctors = 0;
    for (int i = 0; i < list->count; i++)
        correctors += strstr(list->items[i].text, "correctors") != NULL;
    assert_int_equal(correctors, 1);
    ex_differences_destroy(list);
    ex_rig_destroy(rig);
    ex_rig_destroy(other);
}

/* Halfway, a rigidly turned bar is turned by half. */
static void turns_stay_rigid(void **state) {
    (void)state;
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 't', 'min': "
                             "0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'shape': 'trajectory', 'examples': [{'name': "
                             "'t', 'mesh': 't.obj'}]}]}");
    float positions[3 * BAR_VERTICES];
    evaluate(rig, (double[]){0.5}, positions, NULL);
    for (int v = 4; v < BAR_VERTICES; v++) {
        double p[3], q[3], length = 0, now = 0;
        bar_corner(0, v, p);
        bar_corner(0, v - 4, q);
        for (int c = 0; c < 3; c++) {
            const double d = (double)positions[3 * v + c] - (double)positions[3 * v - 12 + c];
            length += (p[c] - q[c]) * (p[c] - q[c]);
            now += d * d;
        }
        check_near(sqrt(now), sqrt(length), 1e-5);
        check_near((double)positions[3 * v + 2], p[2] + 1.5, 1e-5);
    }
    const double along[2] = {(double)(positions[12] - positions[0]), (double)(positions[13] - positions[1])};
    check_near(atan2(along[1], along[0]), 1.25, 1e-5);
    ex_rig_destroy(rig);
}

/* The reference's own place and weight matter to the weigher; its form is the mesh. */
static void a_cardinal_layer_has_a_reference(void **state) {
    (void)state;
    ex_rig *rig = build_text(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'd', 'min': 0, 'max': 10}], "
        "'weigh': {'kind': 'cardinal'}, 'shape': 'trajectory', 'examples': [{'name': 'a', 'mesh': 'a.obj', 'at': {'d': "
        "10}}, {'name': 'r', 'reference': true, 'at': {'d': 4}}, {'name': 'b', 'mesh': 'b.obj', 'at': {'d': 0}}]}]}");
    float positions[3 * BAR_VERTICES];
    assert_int_equal(ex_rig_layer_reference(rig, 0), 1);
    evaluate(rig, (double[]){10}, positions, NULL);
    assert_true(off_bar(positions, 2.2) < 5e-6);
    evaluate(rig, (double[]){4}, positions, NULL);
    assert_true(off_bar(positions, 0) < 5e-6);
    evaluate(rig, (double[]){0}, positions, NULL);
    assert_true(off_bar(positions, -1.4) < 5e-6);
    ex_rig_destroy(rig);
}

#define LAYERS                                                                                                         \
    "{'exemplar': 1, 'mesh': 'm.obj', 'layers': ["                                                                     \
    "{'name': 'before', 'space': [{'name': 'p', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'examples': "       \
    "[{'name': 'b', 'mesh': 'b.obj'}]},"                                                                               \
    "{'name': 'warp', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'weigh': {'kind': 'cardinal'}, 'shape': "          \
    "'trajectory', 'mask': {'file': 'mask.txt'}, 'examples': [{'name': 'r', 'reference': true, 'at': {}}, {'name': "   \
    "'a', 'mesh': 'a.obj', 'at': {'d': 1, 'p': 0.5}}]},"                                                               \
    "{'name': 'after', 'space': [{'name': 'd', 'min': 0, 'max': 1}, {'name': 'q', 'min': 0, 'max': 1}], 'protect': "   \
    "true, 'shape': "                                                                                                  \
    "'offsets', 'examples': [{'name': 't', 'mesh': 't.obj', 'at': {'d': 0.5, 'q': 1}}]}]}"

static void write_mask(double first) {
    char text[600];
    size_t size = 0;
    for (int v = 0; v < BAR_VERTICES; v++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%d %g\n", v, v < 8 ? first : 1.0);
    write_text("mask.txt", text);
}

/* Checks that the rig shows the later layer's form, which was rigidly turned, at its pose. */
static void check_after(const ex_rig *rig) {
    float positions[3 * BAR_VERTICES];
    evaluate(rig, (double[]){0, 0.5, 1}, positions, NULL);
    for (int v = 0; v < BAR_VERTICES; v++) {
        double p[3];
        bar_corner(0, v, p);
        check_near((double)positions[3 * v], cos(2.5) * p[0] - sin(2.5) * p[1], 1e-5);
        check_near((double)positions[3 * v + 1], sin(2.5) * p[0] + cos(2.5) * p[1], 1e-5);
        check_near((double)positions[3 * v + 2], p[2] + 3, 1e-5);
    }
}

/* Measured against the result of the layers before: at its pose, an example is the form of its file. */
static void layers_stand_on_layers(void **state) {
    (void)state;
    write_mask(1);
    ex_rig *rig = build_text(LAYERS);
    float positions[3 * BAR_VERTICES];
    evaluate(rig, (double[]){0.5, 1, 0}, positions, NULL);
    assert_true(off_bar(positions, 2.2) < 1e-5);
    check_after(rig);
    ex_rig_destroy(rig);
    check_round_trip(LAYERS);
}

static void masks_are_kept(void **state) {
    (void)state;
    float positions[3 * BAR_VERTICES], mask[BAR_VERTICES];
    write_mask(0.25);
    ex_rig *rig = build_text(LAYERS);
    assert_true(ex_rig_layer_mask(rig, 1, mask) && mask[0] == 0.25F && mask[8] == 1);
    evaluate(rig, (double[]){0, 1, 0}, positions, NULL);
    for (int v = 0; v < 8; v++) { /* a quarter of the way along x, from the straight line */
        double p[3], whole[3], delta[3 * BAR_VERTICES];
        float d[3 * BAR_VERTICES];
        ex_rig_example_delta(rig, 1, 1, d);
        bar_corner(0, v, p);
        for (int c = 0; c < 3; c++) {
            delta[c] = (double)d[3 * v + c];
            whole[c] = p[c] + 0.25 * delta[c];
            check_near((double)positions[3 * v + c], whole[c], 1e-5);
        }
    }
    check_after(rig);
    ex_rig_destroy(rig);
    check_round_trip(LAYERS);
}

static void unpacking_gives_the_same(void **state) {
    (void)state;
    static const char *const how[] = {
        "", "'trajectory': {'correctors': 1, 'turns': false, 'iterations': 3},", "'muted': true,",
        "'trajectory': {'mode': 'paper', 'terms': ['rotation', 'pose'], 'weights': {'pose': 2.5}},",
        ("'trajectory': {'mode': 'paper', 'iterations': 2, 'bases': true, 'segments': 'seg.txt', 'segment_angle': 25, "
         "'root': 0},")};
    write_text("seg.txt",
               "# the first part, and the last\n1 0\n2 0\n3 0 # all around\n4 0\n17 0\n\n13 1\n14 1\n15 1\n16 "
               "1\n18 1\n");
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        char text[1000];
        snprintf(text, sizeof text, DIRECT, how[i]);
        check_round_trip(text);
    }
    check_round_trip(
        "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'd', 'min': 0, 'max': 10}], "
        "'weigh': {'kind': 'shepard'}, 'shape': 'trajectory', 'examples': [{'name': 'a', 'mesh': 'a.obj', 'at': {'d': "
        "10}}, {'name': 'r', 'reference': true, 'at': {'d': 4}}], 'pseudo': [{'from': {'d': 8}, 'at': {'d': 7}}]}]}");
}

static void a_skin_poses_what_trajectories_make(void **state) {
    (void)state;
    double positions[3 * ARM_VERTICES];
    float straight[3 * ARM_VERTICES], bent[3 * ARM_VERTICES];
    static const char *const text =
        "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [{'name': 'l', 'space': [{'name': 'fat', "
        "'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'shape': 'trajectory', 'examples': [{'name': 'fat', "
        "'mesh': 'fat.obj'}]}]}";
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    arm_write_scene("arm.glb", arm_scene(1));
    arm_form(1, 0.4, positions);
    arm_write_mesh("fat.obj", positions);
    ex_rig *rig = build_text(text);
    arm_evaluate(rig, (const char *const[]){"fat=1", NULL}, straight);
    arm_evaluate(rig, (const char *const[]){"fat=1", "joint:upper=z90", NULL}, bent);
    for (int v = 0; v < ARM_VERTICES; v++) {
        double a = 0, b = 0;
        for (int c = 0; c < 3; c++) {
            check_near((double)straight[3 * v + c], positions[3 * v + c], 1e-5);
            a += (double)(straight[3 * v + c] - straight[c]) * (double)(straight[3 * v + c] - straight[c]);
            b += (double)(bent[3 * v + c] - bent[c]) * (double)(bent[3 * v + c] - bent[c]);
        }
        check_near(sqrt(a), sqrt(b), 1e-4); /* the entire arm turned about its shoulder */
    }
    assert_true(fabs((double)(bent[3 * ARM_VERTICES - 3] - straight[3 * ARM_VERTICES - 3])) > 0.5);
    ex_rig_destroy(rig);
    check_round_trip(text);
}

/* A rig made by other means has no record of how its trajectories were found, or an invalid one. */
static void unpacking_wants_the_note(void **state) {
    (void)state;
    static const struct {
        const char *note, *words;
    } cases[] = {
        {NULL, "has trajectories, but the rig does not record how they were found"},
        {"{", "note about how its trajectories were found is damaged"},
        {"{\"other\": {}}", "has trajectories, but the rig does not record"},
        {"{\"%s\": {\"mode\": \"best\"}}", "trajectory.mode: "},
        {"{\"%s\": {\"mode\": \"paper\", \"segments\": [7]}}", "is damaged"},
    };
    whole_rig w;
    whole_rig_open(&w, 12, WHOLE_PATHS);
    const char *layer = NULL;
    for (int l = 0; l < w.def.layer_count; l++)
        layer = w.def.layers[l].domain == EX_DOMAIN_TRAJECTORY ? w.def.layers[l].name : layer;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400] = "", folder[32];
        ex_rig *rig = NULL;
        ex_error error = {0};
        for (const char *at = cases[i].note; at && *at; at++) /* the layer's name, as JSON has it, for %s */
            if (at[0] == '%' && at[1] == 's') {
                for (const char *c = layer; *c; c++)
                    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%c", *c == '"' ? "\\" : "", *c);
                at++;
            } else {
                snprintf(text + strlen(text), sizeof text - strlen(text), "%c", *at);
            }
        const ex_attachment note = {.kind = "trajectories", .data = text, .size = strlen(text)};
        ex_rig_def def = w.def;
        def.notes = &note;
        def.note_count = cases[i].note ? 1 : 0;
        assert_int_equal(ex_rig_create(&def, NULL, &rig, &error), EX_OK);
        snprintf(folder, sizeof folder, "note%zu", i);
        assert_int_equal(ex_project_unpack(rig, scratch_path(folder), "p", false, &error), EX_ERROR_DATA);
        if (!strstr(error.text, cases[i].words))
            fail_msg("'%s' is not in '%s'", cases[i].words, error.text);
        ex_rig_destroy(rig);
    }
    whole_rig_close(&w);
}

static void collect(void *user, const char *text) {
    strncat(user, text, 900 - strlen(user));
    strcat(user, "\n");
}

static void building_says_what_did_not_converge(void **state) {
    (void)state;
    char text[1000], notes[1000] = "";
    ex_rig *rig = NULL;
    ex_error error = {0};
    snprintf(text, sizeof text, DIRECT, "'trajectory': {'mode': 'paper', 'iterations': 1},");
    ex_project *project = parse_project(text);
    const ex_build_options options = {.note = collect, .note_user = notes};
    assert_int_equal(ex_project_build(project, &options, &rig, &error), EX_OK);
    assert_non_null(strstr(notes, "layer 'l': the trajectory to 'a' was still changing after 1 step"));
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

static void refuse(const char *how, const char *words) {
    char text[1000];
    ex_rig *rig = NULL;
    ex_error error = {0};
    snprintf(text, sizeof text, DIRECT, how);
    ex_project *project = parse_project(text);
    assert_int_not_equal(ex_project_build(project, NULL, &rig, &error), EX_OK);
    if (!strstr(error.text, words))
        fail_msg("'%s' is not in '%s'", words, error.text);
    ex_project_destroy(project);
}

static void files_of_segments_are_read_strictly(void **state) {
    (void)state;
#define SEGMENTS "'trajectory': {'mode': 'paper', 'bases': true, 'segments': 'bad.txt'},"
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"1 0\n19 0\n", "bad.txt:2: there is no face 19: the mesh has 18 (counting from 1"},
        {"0 0\n", "bad.txt:1: there is no face 0"},
        {"1 -1\n", "bad.txt:1: segments are numbered 0 to 1023, but this is -1"},
        {"1 1024\n", "bad.txt:1: segments are numbered 0 to 1023"},
        {"# two\n1 2 3\n", "bad.txt:2: a line 'face segment' is needed here"},
        {"1\n", "bad.txt:1: a line 'face segment' is needed here"},
        {"1 0.5\n", "bad.txt:1: a line 'face segment' is needed here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text("bad.txt", cases[i].text);
        refuse(SEGMENTS, cases[i].words);
    }
    refuse("'trajectory': {'mode': 'paper', 'segments': 'missing.txt'},", "layer 'l': segments: cannot read");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_compared),
        cmocka_unit_test(rigs_hold_their_paths),
        cmocka_unit_test(ends_are_the_forms),
        cmocka_unit_test(building_stops),
        cmocka_unit_test(turns_stay_rigid),
        cmocka_unit_test(a_cardinal_layer_has_a_reference),
        cmocka_unit_test(layers_stand_on_layers),
        cmocka_unit_test(masks_are_kept),
        cmocka_unit_test(unpacking_gives_the_same),
        cmocka_unit_test(a_skin_poses_what_trajectories_make),
        cmocka_unit_test(unpacking_wants_the_note),
        cmocka_unit_test(building_says_what_did_not_converge),
        cmocka_unit_test(files_of_segments_are_read_strictly),
    };
    return cmocka_run_group_tests_name("author.project.trajectory", tests, write_bars, scratch_tear_down);
}
