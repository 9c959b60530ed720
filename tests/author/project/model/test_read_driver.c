/* Drivers in project files: the values of every key, and the sentences of errors. */
#include "author/project/projects.h"

#include "author/project/model/driver.h"
#include "author/project/skeleton/skeleton.h"

static const char sound[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'unit': 'cm', 'skeleton': 's.glb',\n"
    "'driver': {'mesh': 'body.obj', 'frame': {'joint': 'hips'}, 'frames': {'count': 16, 'fit': 0.5, 'look': 2, "
    "'whole': 0.1, 'influences': 3}},\n"
    "'layers': [{'name': 'plain', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'examples': [{'name': 'e', 'mesh': "
    "'e.obj', 'at': {'body': 'k.obj'}}]},\n"
    "{'name': 'driven', 'space': [{'name': 'body', 'driver': true}, {'name': 'stiff', 'min': 0, 'max': 2}], 'weigh': "
    "{'kind': 'convex', 'ridge': 1e-6, 'driver_weights': {'file': 'w.txt'}, 'regions': [{'look': {'group': 'arm'}, "
    "'mask': {'colour': 'r'}}]},\n"
    "'examples': [{'name': 'a', 'mesh': 'a.obj', 'at': {'stiff': 2, 'body': 'ka.obj'}}, {'name': 'b', 'mesh': 'b.obj', "
    "'at': {'body': 'kb.obj'}, 'posed': false, 'locals': {'hips': [1, 2, 3, 0, 0, 0, 1, 1, 1, 1]}}]}],\n"
    "'settle': {'residual': false, 'thickness': 0.5, 'push': false, 'bind': 'binds.json'}}";

static void everything_is_read(void **state) {
    (void)state;
    ex_project *project = parse_project(sound);
    const ex_project_view *view = ex_project_get(project);
    const ex_project_driver *driver = &view->driver;
    const ex_project_layer *layer = &view->layers[1];
    assert_string_equal(driver->name, "body");
    assert_string_equal(driver->mesh, "body.obj");
    assert_string_equal(driver->joint, "hips");
    assert_string_equal(driver->bind, "binds.json");
    assert_int_equal(driver->options.frame, EX_WHOLE_FRAME_JOINT);
    assert_true(driver->options.frames == 16 && driver->options.fit == 0.5 && driver->options.look == 2);
    assert_true(driver->options.whole == 0.1 && driver->options.influences == 3);
    assert_true(driver->residual && driver->options.residual == EX_RESIDUAL_NONE && !driver->options.push);
    check_near(driver->options.thickness, 0.005, 1e-15);
    assert_string_equal(view->layers[0].examples[0].driver, "k.obj");
    assert_true(!view->layers[0].driven && layer->driven);
    assert_true(layer->domain == EX_DOMAIN_FORM && layer->unposed);
    assert_int_equal(layer->dimension, 1);
    assert_true(layer->weigh.ridge == 1e-6 && layer->weigh.points[0] == 2 && layer->weigh.points[1] == 0);
    assert_int_equal(layer->driver_weights.kind, EX_MASK_FILE);
    assert_int_equal(layer->region_count, 1);
    assert_string_equal(layer->regions[0].look.source, "arm");
    assert_int_equal(layer->regions[0].mask.kind, EX_MASK_COLOUR);
    assert_string_equal(layer->examples[0].driver, "ka.obj");
    assert_true(!layer->examples[0].rest && layer->examples[1].rest);
    assert_int_equal(layer->examples[1].local_count, 1);
    assert_true(layer->examples[1].locals[0].relative.translation[1] == 2);
    ex_project_destroy(project);
}

static void little_has_to_be_said(void **state) {
    (void)state;
    ex_project *project =
        parse_project("{'exemplar': 1, 'mesh': 'm.obj', 'driver': {'mesh': 'b.obj'}, 'layers': [{'name': 'l', 'space': "
                      "[{'name': 'b', 'driver': true}], 'weigh': {'kind': 'convex'}, 'examples': [{'name': 'a', "
                      "'mesh': 'a.obj', 'at': {'b': 'k.obj'}}]}]}");
    const ex_drive_options *o = &ex_project_get(project)->driver.options, usual = ex_drive_options_default();
    assert_true(o->frames == 1 && o->frame == EX_WHOLE_FRAME_FIT && o->residual == EX_RESIDUAL_COUNT);
    assert_true(o->fit == usual.fit && o->look == usual.look && o->whole == usual.whole);
    assert_true(o->push == usual.push && o->thickness == usual.thickness && o->influences == usual.influences);
    assert_int_equal(ex_project_get(project)->layers[0].dimension, 0);
    ex_project_destroy(project);
}

static void a_layer_that_follows_motion_is_read(void **state) {
    (void)state;
    ex_project *project = parse_project(
        "{'exemplar': 1, 'mesh': 'm.obj', 'driver': {'mesh': 'b.obj', 'frames': 3}, 'layers': [{'name': 'l', 'space': "
        "[{'name': 'b', 'driver': true}], 'weigh': {'kind': 'motion', 'predictor': 'p.predictor', 'driver_weights': "
        "{'group': 'arm'}}, 'examples': [{'name': 'a', 'mesh': 'a.obj'}, {'name': 'c', 'mesh': 'c.obj', 'posed': "
        "false, 'at': {'d': 0.5}}]}, {'name': 'k', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'examples': [{'name': "
        "'e', 'mesh': 'e.obj', 'at': {'d': 1, 'b': 'k.obj'}}]}]}");
    const ex_project_layer *layer = &ex_project_get(project)->layers[0];
    assert_string_equal(layer->predictor, "p.predictor");
    assert_int_equal(layer->driver_weights.kind, EX_MASK_GROUP);
    assert_true(layer->driven && layer->unposed && layer->dimension == 0 && layer->example_count == 2);
    assert_true(layer->examples[0].rest && layer->examples[1].rest && !layer->examples[0].driver);
    assert_true(layer->examples[0].points[1][0] == 0 && layer->examples[1].points[1][0] == 0.5);
    assert_null(ex_project_get(project)->layers[1].predictor);
    assert_string_equal(ex_project_get(project)->layers[1].examples[0].driver, "k.obj");
    ex_project_destroy(project);
}

/* A part of the sound text, its replacement, and the sentence. */
static const struct {
    const char *from, *to, *said;
} bad[] = {
    {"'mesh': 'body.obj', ", "", "driver.mesh: missing"},
    {"'mesh': 'body.obj', ", "'mash': 1, ", "driver.mash: unknown key; did you mean \"mesh\""},
    {"{'joint': 'hips'}", "'fits'", "driver.frame: unknown value \"fits\"; did you mean \"fit\""},
    {"{'joint': 'hips'}", "{}", "driver.frame: one of"},
    {"{'joint': 'hips'}", "{'bone': 'hips'}", "driver.frame.bone: unknown key"},
    {"'skeleton': 's.glb',", "", "driver.frame.joint: the project has no joints"},
    {"{'joint': 'hips'}", "'none'", "driver.frame: 16 frames move"},
    {"'count': 16", "'count': 5000", "driver.frames.count: a whole number from 0 to 1024"},
    {"'fit': 0.5", "'fit': 0", "driver.frames.fit: must be above 0"},
    {"'whole': 0.1", "'whole': -1", "driver.frames.whole: must not be negative"},
    {"'influences': 3", "'influences': 0", "driver.frames.influences: a whole number"},
    {"'residual': false", "'residual': 'key'", "settle.residual: unknown value \"key\"; did you mean \"keys\""},
    {"'thickness': 0.5", "'thickness': -1", "settle.thickness: must not be negative"},
    {"'push': false", "'pull': false", "settle.pull: unknown key"},
    {"'driver': true", "'driver': false", "layers[1].space[0].driver: true is needed"},
    {"'driver': true", "'driver': true, 'min': 0", "layers[1].space[0].min: unknown key"},
    {"'kind': 'convex'", "'kind': 'cardinal'", "layers[1].weigh.driver_weights: unknown key"},
    {"{'name': 'd', 'min': 0, 'max': 1}", "{'name': 'body', 'driver': true}",
     "layers[0].space[0].driver: a driver axis needs"},
    {"{'name': 'd', 'min': 0, 'max': 1}", "{'name': 'body', 'min': 0, 'max': 1}", "'body' is the driver, but in"},
    {"'stiff', 'min': 0, 'max': 2}", "'stiff', 'rotation': 'full'}", "layers[1].space[1]: besides the driver"},
    {"{'name': 'stiff', 'min': 0, 'max': 2}", "{'name': 'c', 'driver': true}", "'body' is already the driver axis"},
    {"'kind': 'convex', ", "'kind': 'convex', 'one_region': true, ", "layers[1].weigh.regions: \"one_region\""},
    {"'regions': [{'look': {'group': 'arm'}, 'mask': {'colour': 'r'}}]", "'regions': []",
     "layers[1].weigh.regions: a list of 1 to"},
    {"'look': {'group': 'arm'}", "'look': {'joints': ['hips']}", "layers[1].weigh.regions[0].look: one of"},
    {", 'mask': {'colour': 'r'}", "", "layers[1].weigh.regions[0].mask: missing"},
    {"'stiff': 2, 'body': 'ka.obj'", "'stiff': 2", "layers[1].examples[0].at.body: missing"},
    {"'body': 'ka.obj'", "'body': 3", "layers[1].examples[0].at.body: the file of a form"},
    {"'at': {'body': 'k.obj'}", "'at': {}, 'posed': false", "layers[0].examples[0].posed: only forms that a driver"},
    {"[1, 2, 3, 0, 0, 0, 1, 1, 1, 1]", "[1]", "layers[1].examples[1].locals.hips: ten numbers"},
    {"{'joint': 'hips'}", "'fit'", "layers[1].examples[1].locals: an object of joint names"},
    {"'mesh': 'a.obj', 'at'", "'mesh': 'a.obj', 'skeleton': 's.glb', 'at'", "cannot move joints"},
    {"'mesh': 'a.obj', 'at'", "'mesh': 'a.obj', 'reference': true, 'at'", "only a layer with"},
    {"'examples': [{'name': 'a'", "'shape': 'offsets', 'examples': [{'name': 'a'",
     "layers[1].shape: a layer weighed by a"},
    {"'examples': [{'name': 'a'", "'pseudo': [{'at': {}, 'weights': {}}], 'examples': [{'name': 'a'",
     "layers[1].pseudo: a layer weighed by a driver has no"},
    {"'examples': [{'name': 'a'", "'shape': 'trajectory', 'trajectory': {}, 'examples': [{'name': 'a'",
     "layers[1].trajectory: in a layer weighed by a driver"},
};

static char *replace(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    char *made = malloc(strlen(text) + strlen(to) + 1);
    assert_true(at && made);
    sprintf(made, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return made;
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = replace(sound, bad[i].from, bad[i].to);
        ex_project *project = NULL;
        ex_error error = {0};
        assert_int_not_equal(try_parse(text, &project, &error), EX_OK);
        if (!strstr(error.text, bad[i].said))
            fail_msg("%s: %s: not '%s'", bad[i].to, error.text, bad[i].said);
        free(text);
    }
}

/* Of a project that has none. */
static void drivers_are_needed(void **state) {
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"'layers': [], 'settle': {}", "settle: there is nothing to settle on"},
        {"'layers': [], 'driver': {'mesh': 'b.obj'}", "driver: no layer follows it"},
        {"'layers': [{'name': 'l', 'space': [{'name': 'b', 'driver': true}], 'weigh': {'kind': 'convex'}, 'examples': "
         "[]}]",
         "the project has no driver"},
        {"'driver': {'mesh': 'b.obj'}, 'layers': [{'name': 'l', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'weigh': "
         "{'kind': 'convex'}, 'examples': []}]",
         "layers[0].space: \"kind\": \"convex\" needs a driver"},
        {"'driver': {'mesh': 'b.obj', 'frames': 2}, 'layers': [{'name': 'l', 'space': [{'name': 'b', 'driver': true}], "
         "'weigh': {'kind': 'convex'}, 'shape': 'trajectory', 'examples': []}]",
         "layers[0].shape: trajectories allow only one region, but there are 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        ex_project *project = NULL;
        ex_error error = {0};
        snprintf(text, sizeof text, "{'exemplar': 1, 'mesh': 'm.obj', %s}", cases[i].text);
        assert_int_equal(try_parse(text, &project, &error), EX_ERROR_DATA);
        if (!strstr(error.text, cases[i].said))
            fail_msg("%s: not '%s'", error.text, cases[i].said);
    }
}

static ex_skeleton *hips_alone(void) {
    const ex_transform rest = ex_transform_identity();
    ex_skeleton *skeleton = NULL;
    const ex_skeleton_def def = {
        .joint_count = 1, .parents = (int[]){-1}, .rest = &rest, .names = (const char *[]){"hips"}};
    assert_int_equal(ex_skeleton_create(&def, NULL, &skeleton, NULL), EX_OK);
    return skeleton;
}

/* An example's own transforms hold for every joint, the first too; others are at rest. */
static void joints_at_examples(void **state) {
    (void)state;
    ex_skeleton *skeleton = hips_alone();
    ex_project *project = parse_project(sound);
    const exi_project_driver driver = {.options.frame = EX_WHOLE_FRAME_JOINT};
    const ex_transform *const *joints = NULL;
    assert_int_equal(exi_project_driver_joints(&driver, &ex_project_get(project)->layers[1], skeleton, &joints, NULL),
                     EX_OK);
    assert_true(joints[0][0].translation[1] == 0 && joints[1][0].translation[1] == 2);
    exi_project_driver_free_joints(joints);
    ex_project_destroy(project);
    ex_skeleton_destroy(skeleton);
}

/* Every joint of a region's mask is looked for. */
static void masks_of_regions_name_joints(void **state) {
    (void)state;
    static const struct {
        const char *joints, *said;
    } cases[] = {{"['hipz', 'hips']", "layers[1].weigh.regions[0].mask.joints[0]: "},
                 {"['hips', 'hipz']", "layers[1].weigh.regions[0].mask.joints[1]: "},
                 {"['hips']", NULL}};
    ex_skeleton *skeleton = hips_alone();
    const char *at = strstr(sound, "{'colour': 'r'}");
    for (int i = 0; i < 3; i++) {
        char text[sizeof sound + 40];
        snprintf(text, sizeof text, "%.*s{'joints': %s}%s", (int)(at - sound), sound, cases[i].joints, at + 15);
        ex_project *project = parse_project(text);
        ex_error error = {0};
        const ex_result result = exi_project_check_joints(ex_project_get(project), skeleton, &error);
        assert_int_equal(result, cases[i].said ? EX_ERROR_DATA : EX_OK);
        if (cases[i].said && !strstr(error.text, cases[i].said))
            fail_msg("%s", error.text);
        ex_project_destroy(project);
    }
    ex_skeleton_destroy(skeleton);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read),
        cmocka_unit_test(little_has_to_be_said),
        cmocka_unit_test(a_layer_that_follows_motion_is_read),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(drivers_are_needed),
        cmocka_unit_test(masks_of_regions_name_joints),
        cmocka_unit_test(joints_at_examples),
    };
    return cmocka_run_group_tests_name("author.project.read_driver", tests, scratch_set_up, scratch_tear_down);
}
