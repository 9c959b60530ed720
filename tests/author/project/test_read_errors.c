/*
 * Projects that are wrong: each is a sound one with a single change, and the sentence must name the place, exactly, and
 * where a name was mistyped the one that was meant.
 */
#include "projects.h"

static const char sound[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'up': 'y', 'unit': 'm', 'layers': [\n"
    "{'name': 'arm', 'space': [{'name': 'elbow', 'min': 0, 'max': 140, 'rest': 5, 'clamp': false, 'scale': 1},\n"
    "{'name': 'turn', 'rotation': 'twist', 'about': 'x', 'rest': [0, 0, 0, 1]}],\n"
    "'weigh': {'kind': 'cardinal', 'kernel': 'bspline', 'linear': true, 'radius': 1.5, 'ridge': 0},\n"
    "'shape': 'positions',\n"
    "'examples': [{'name': 'straight', 'mesh': 's.obj', 'at': {'elbow': 0}},\n"
    "{'name': 'bent', 'mesh': 'b.obj', 'at': {'elbow': 90, 'turn': {'x': 30}}}],\n"
    "'pseudo': [{'from': {'elbow': 60}, 'at': {'elbow': 75}}, {'weights': {'bent': 1}, 'at': {'elbow': 120}}],\n"
    "'mask': {'colour': 'r'}},\n"
    "{'name': 'dials', 'space': [{'name': 'smile', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'},\n"
    "'examples': [{'name': 'grin', 'mesh': 'g.obj'}]},\n"
    "{'name': 'near', 'space': [{'name': 'where', 'min': 0, 'max': 1}], 'weigh': {'kind': 'nearest', 'k': 3},\n"
    "'examples': [{'name': 'n', 'mesh': 'n.obj', 'at': {'where': 0, 'turn': [0, 1, 0, 0]}}]},\n"
    "{'name': 'far', 'space': [{'name': 'elbow', 'min': 0, 'max': 1}], 'weigh': {'kind': 'shepard', 'power': 2},\n"
    "'examples': [{'name': 'n', 'mesh': 'n.obj', 'at': {'elbow': 0}}]}]}\n";

typedef struct change {
    const char *from, *to; /* the first place where `from` stands in the sound text */
    const char *place;     /* what the sentence starts with after the file's name */
    const char *words;     /* what else stands in it, or NULL */
} change;

static const change changes[] = {
    /* the whole */
    {"'exemplar': 1,", "", "exemplar: missing", NULL},
    {"'exemplar': 1", "'exemplar': 0", "exemplar: ", "version number 1"},
    {"'exemplar': 1", "'exemplar': 1.0", "exemplar: ", "version number 1"},
    {"'exemplar': 1", "'exemplar': '1'", "exemplar: ", NULL},
    {"'mesh': 'm.obj',", "", "mesh: missing", NULL},
    {"'m.obj'", "7", "mesh: ", "text in quotes"},
    {"'m.obj'", "''", "mesh: ", "must not be empty"},
    {"'unit'", "'units'", "units: unknown key", "did you mean \"unit\"?"},
    {"'unit'", "'xyzzy'", "xyzzy: unknown key", NULL},
    {"'unit': 'm'", "'unit': 'yard'", "unit: ", "\"cm\""},
    {"'unit': 'm'", "'unit': 0", "unit: ", NULL},
    {"'unit': 'm'", "'unit': -2", "unit: ", NULL},
    {"'unit': 'm'", "'unit': null", "unit: ", NULL},
    {"'up': 'y'", "'up': 'x'", "up: ", NULL},
    {"'up': 'y'", "'up': true", "up: \"y\", \"z\" is needed here", NULL},
    /* layers */
    {"'layers': [", "'layers': {}, 'x': [", "x: unknown key", NULL},
    {"{'name': 'dials'", "3, {'name': 'dials'", "layers[1]: an object", NULL},
    {"'name': 'arm', ", "", "layers[0].name: missing", NULL},
    {"'name': 'dials'", "'name': 'arm'", "layers[1].name: layer 0 is called 'arm' too", NULL},
    {"'name': 'arm'", "'name': 'a\\u0007b'", "layers[0].name: ", "readable"},
    {"'shape'", "'shapes'", "layers[0].shapes: unknown key", "did you mean \"shape\"?"},
    {"'positions'", "'position'", "layers[0].shape: unknown value \"position\"", "did you mean \"positions\"?"},
    {"'positions'", "'pixels'", "layers[0].shape: \"positions\" is needed here", NULL},
    /* axes */
    {"[{'name': 'smile', 'min': 0, 'max': 1}]", "[]", "layers[1].space: a list", NULL},
    {"[{'name': 'smile', 'min': 0, 'max': 1}]", "{}", "layers[1].space: a list", NULL},
    {"'name': 'elbow', ", "", "layers[0].space[0].name: missing", NULL},
    {"'name': 'turn'", "'name': 'elbow'", "layers[0].space[1].name: this space has an axis 'elbow' already", NULL},
    {"'name': 'elbow'", "'name': 'a=b'", "layers[0].space[0].name: ", NULL},
    {"'name': 'elbow'", "'name': 'a,b'", "layers[0].space[0].name: ", NULL},
    {"'name': 'elbow'", "'name': 'time'", "layers[0].space[0].name: ", "'time'"},
    {"'name': 'elbow'", "'name': 'joint:wrist'", "layers[0].space[0].name: ", NULL},
    {"'min': 0, 'max': 140", "'min': 0", "layers[0].space[0].max: missing", NULL},
    {"'min': 0, 'max': 140", "'max': 140", "layers[0].space[0].min: missing", NULL},
    {"'min': 0, 'max': 140", "'min': 140, 'max': 140", "layers[0].space[0]: max (140)", NULL},
    {"'min': 0, 'max': 140", "'min': 0, 'max': '140'", "layers[0].space[0].max: a number", NULL},
    {"'min': 0, 'max': 140", "'min': 0, 'mac': 140", "layers[0].space[0].mac: ", "did you mean \"max\"?"},
    {"'rest': 5", "'rest': [0, 0, 0, 1]", "layers[0].space[0].rest: a number", NULL},
    {"'clamp': false", "'clamp': 0", "layers[0].space[0].clamp: true or false", NULL},
    {"'scale': 1", "'scale': 0", "layers[0].space[0].scale: must be above 0", NULL},
    {"'scale': 1", "'scale': -1", "layers[0].space[0].scale: must be above 0", NULL},
    {"'twist'", "'twits'", "layers[0].space[1].rotation: ", "did you mean \"twist\"?"},
    {"'twist'", "'full'", "layers[0].space[1].about: ", NULL},
    {"'about': 'x', ", "", "layers[0].space[1]: ", "\"about\""},
    {"'about': 'x'", "'about': 'q'", "layers[0].space[1].about: ", NULL},
    {"'about': 'x'", "'about': [1, 0]", "layers[0].space[1].about: ", NULL},
    {"'about': 'x'", "'about': [1, 0, 'a']", "layers[0].space[1].about[2]: a number", NULL},
    {"'about': 'x'", "'about': [0, 0, 0]", "layers[0].space[1].about: this direction is zero", NULL},
    {"'about': 'x'", "'about': 'x', 'min': 0", "layers[0].space[1].min: unknown key", NULL},
    {"'rest': [0, 0, 0, 1]", "'rest': 0", "layers[0].space[1].rest: a rotation", NULL},
    {"'rest': [0, 0, 0, 1]", "'rest': [0, 0, 0, 0]", "layers[0].space[1].rest: a rotation cannot be four zeros", NULL},
    {"'rest': [0, 0, 0, 1]", "'rest': [0, 0, 1]", "layers[0].space[1].rest: ", "four numbers"},
    {"'rest': [0, 0, 0, 1]", "'rest': [0, null, 0, 1]", "layers[0].space[1].rest[1]: a number", NULL},
    /* weighers */
    {"{'kind': 'direct'}", "'direct'", "layers[1].weigh: an object", NULL},
    {"'cardinal'", "'cardnal'", "layers[0].weigh.kind: ", "did you mean \"cardinal\"?"},
    {"'cardinal'", "'xyzzy'", "layers[0].weigh.kind: \"cardinal\", \"direct\", \"shepard\", \"nearest\"", NULL},
    {"'bspline'", "'b-spline'", "layers[0].weigh.kernel: ", "did you mean \"bspline\"?"},
    {"'bspline'", "4", "layers[0].weigh.kernel: ", "\"multiquadric\""},
    {"'linear': true", "'linear': 'yes'", "layers[0].weigh.linear: true or false", NULL},
    {"'bspline', 'linear': true", "'thin_plate', 'linear': false", "layers[0].weigh.linear: ", "thin_plate"},
    {"'bspline', 'linear': true", "'triharmonic', 'linear': false", "layers[0].weigh.linear: ", "triharmonic"},
    {"'radius': 1.5", "'radius': 0", "layers[0].weigh.radius: must be above 0", NULL},
    {"'ridge': 0", "'ridge': -1", "layers[0].weigh.ridge: must not be negative", NULL},
    {"'ridge': 0", "'power': 2", "layers[0].weigh.power: unknown key", NULL},
    {"'k': 3", "'kernel': 'bspline'", "layers[2].weigh.kernel: unknown key", NULL},
    {"'k': 3", "'k': 0", "layers[2].weigh.k: a whole number", NULL},
    {"'k': 3", "'k': 2.5", "layers[2].weigh.k: a whole number", NULL},
    {"'k': 3", "'k': 65", "layers[2].weigh.k: must be at most 64", NULL},
    {"'k': 3", "'k': 4294967297", "layers[2].weigh.k: a whole number", NULL},
    {"'k': 3", "'form': 'papers'", "layers[2].weigh.form: ", "did you mean \"paper\"?"},
    {"'power': 2", "'power': 0", "layers[3].weigh.power: must be above 0", NULL},
    {"'power': 2", "'power': 65", "layers[3].weigh.power: ", "at most 64"},
    /* examples */
    {"[{'name': 'grin', 'mesh': 'g.obj'}]", "[]", "layers[1].examples: a list", NULL},
    {"'name': 'straight', ", "", "layers[0].examples[0].name: missing", NULL},
    {"'mesh': 'b.obj', ", "", "layers[0].examples[1].mesh: missing", NULL},
    {"'name': 'bent'", "'name': 'straight'", "layers[0].examples[1].name: example 0", "'straight'"},
    {"'mesh': 's.obj', 'at'", "'mesh': 's.obj', 'att'", "layers[0].examples[0].att: ", "did you mean \"at\"?"},
    {", 'at': {'elbow': 0}},\n", "},\n", "layers[0].examples[0]: \"at\" is missing", NULL},
    {"'at': {'elbow': 90", "'at': {'elbw': 90", "layers[0].examples[1].at.elbw: ", "did you mean 'elbow'?"},
    {"'at': {'elbow': 90", "'at': {'knee': 90", "layers[0].examples[1].at.knee: ", "no axis 'knee'"},
    {"'at': {'elbow': 90", "'at': {'elbow': '90'", "layers[0].examples[1].at.elbow: a number", NULL},
    {"'at': {'elbow': 0}", "'at': [0]", "layers[0].examples[0].at: an object", NULL},
    {"{'x': 30}", "30", "layers[0].examples[1].at.turn: a rotation", NULL},
    {"{'x': 30}", "{'w': 30}", "layers[0].examples[1].at.turn.w: ", "x, y and z"},
    {"{'x': 30}", "{'xx': 30}", "layers[0].examples[1].at.turn.xx: ", NULL},
    {"{'x': 30}", "{'x': '30'}", "layers[0].examples[1].at.turn.x: a number", NULL},
    {"{'x': 30}", "[1, 2, 3]", "layers[0].examples[1].at.turn: ", "four numbers"},
    {"'turn': [0, 1, 0, 0]", "'turn': 'x'", "layers[2].examples[0].at.turn: a rotation", NULL},
    {"'turn': [0, 1, 0, 0]", "'smile': {'x': 1}", "layers[2].examples[0].at.smile: a number", NULL},
    {"'mesh': 'g.obj'", "'mesh': 'g.obj', 'at': {'smile': 1}", "layers[1].examples[0].at: ", "direct"},
    {"[{'name': 'grin', 'mesh': 'g.obj'}]", "[{'name': 'a', 'mesh': 'a.obj'}, {'name': 'b', 'mesh': 'b.obj'}]",
     "layers[1].examples: a direct layer has one example per axis", "2 for 1"},
    {"[{'name': 'smile', 'min': 0, 'max': 1}]",
     "[{'name': 'smile', 'min': 0, 'max': 1}, {'name': 'frown', 'min': 0, 'max': 1}]",
     "layers[1].examples: a direct layer has one example per axis", "1 for 2"},
    /* pseudo-examples */
    {"[{'from': {'elbow': 60}, 'at': {'elbow': 75}}, {'weights': {'bent': 1}, 'at': {'elbow': 120}}]", "3",
     "layers[0].pseudo: a list", NULL},
    {"'from': {'elbow': 60}, ", "", "layers[0].pseudo[0]: ", "\"from\" or \"weights\""},
    {"'from': {'elbow': 60}", "'from': {}, 'weights': {}", "layers[0].pseudo[0]: ", "\"from\" or \"weights\""},
    {"'weights': {'bent': 1}, 'at'", "'weights': {'bent': 1}, 'to'", "layers[0].pseudo[1].to: unknown key", NULL},
    {", 'at': {'elbow': 120}", "", "layers[0].pseudo[1].at: missing", NULL},
    {"{'bent': 1}", "{'bend': 1}", "layers[0].pseudo[1].weights.bend: ", "did you mean 'bent'?"},
    {"{'bent': 1}", "{'qqqq': 1}", "layers[0].pseudo[1].weights.qqqq: this layer has no example 'qqqq'", NULL},
    {"{'bent': 1}", "{'bent': 'x'}", "layers[0].pseudo[1].weights.bent: a number", NULL},
    {"{'bent': 1}", "[0, 1]", "layers[0].pseudo[1].weights: an object", NULL},
    {"'from': {'elbow': 60}", "'from': {'ellbow': 60}", "layers[0].pseudo[0].from.ellbow: ", "'elbow'?"},
    {"'weigh': {'kind': 'direct'}", "'weigh': {'kind': 'direct'}, 'pseudo': [{'from': {}, 'at': {}}]",
     "layers[1].pseudo: a direct layer", NULL},
    /* masks */
    {"{'colour': 'r'}", "{'colour': 'a'}", "layers[0].mask.colour: ", NULL},
    {"{'colour': 'r'}", "{'colour': 'rg'}", "layers[0].mask.colour: ", NULL},
    {"{'colour': 'r'}", "{'colour': 1}", "layers[0].mask.colour: a text", NULL},
    {"{'colour': 'r'}", "{'color': 'r'}", "layers[0].mask: one of", NULL},
    {"{'colour': 'r'}", "{'colour': 'r', 'group': 'g'}", "layers[0].mask: one of", NULL},
    {"{'colour': 'r'}", "'r'", "layers[0].mask: one of", NULL},
};

static char *changed(const change *c) {
    const char *at = strstr(sound, c->from);
    if (!at)
        fail_msg("'%s' does not stand in the sound project", c->from);
    size_t before = (size_t)(at - sound), size = strlen(sound) + strlen(c->to) + 1;
    char *text = malloc(size);
    assert_non_null(text);
    snprintf(text, size, "%.*s%s%s", (int)before, sound, c->to, at + strlen(c->from));
    return text;
}

static void the_sound_one_is_read(void **state) {
    (void)state;
    ex_project_destroy(parse_project(sound));
}

static void names_the_place(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const change *c = &changes[i];
        char *text = changed(c), start[1200];
        ex_project *project = (ex_project *)(uintptr_t)1;
        ex_error error = {0};
        ex_result result = try_parse(text, &project, &error);
        snprintf(start, sizeof start, "%s: %s", scratch_path("x.json"), c->place);
        if (result != EX_ERROR_DATA || error.result != EX_ERROR_DATA)
            fail_msg("%s -> %s: result %d, '%s'", c->from, c->to, (int)result, error.text);
        assert_null(project);
        if (strncmp(error.text, start, strlen(start)) != 0 || (c->words && !strstr(error.text, c->words)))
            fail_msg("%s -> %s: '%s'", c->from, c->to, error.text);
        /* Without a place for the sentence the result is the same. */
        assert_int_equal(try_parse(text, &project, NULL), EX_ERROR_DATA);
        free(text);
    }
}

/* What is not JSON is refused by line. */
static void names_the_line(void **state) {
    (void)state;
    const struct {
        const char *text;
        int line;
        const char *words;
    } cases[] = {
        {"\n\n", 3, ""},
        {"{'exemplar': 1,\n'mesh': 'm.obj',\n'mesh': 'n.obj', 'layers': []}", 3, "duplicate"},
        {"{'exemplar': 1, 'mesh': 'm.obj', 'layers': []}\nmore", 2, "end of file expected"},
        {"{'exemplar': 1, 'mesh': 'm.obj', 'layers': []} {}", 1, "end of file expected"},
        {"{'exemplar': NaN}", 1, "NaN"},
        {"{'exemplar': Infinity}", 1, ""},
        {"{'unit': 1e999}", 1, "overflow"},
        {"{'exemplar': 99999999999999999999}", 1, "big"},
        {"{'exemplar': 1,}", 1, ""},
        {"{'exemplar': 01}", 1, ""},
        {"{exemplar: 1}", 1, ""},
        {"{'mesh': 'a\\u0000b'}", 1, "NUL"},
        {"{'mesh': 'a\nb'}", 1, ""},
        {"/* no */ {}", 1, ""},
        {"{'mesh': 'm.obj'", 1, ""},
        {"'text'", 1, ""},
        {"7", 1, ""},
        {"{'mesh': '\xff\xfe'}", 1, "decode byte"},
        {"\x7f"
         "ELF\x02\x01\x01",
         1, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_project *project = (ex_project *)(uintptr_t)1;
        ex_error error = {0};
        ex_result result = try_parse(cases[i].text, &project, &error);
        char start[1100];
        snprintf(start, sizeof start, "%s:%d:", scratch_path("x.json"), cases[i].line);
        if (result != EX_ERROR_FORMAT || strncmp(error.text, start, strlen(start)) != 0 ||
            !strstr(error.text, cases[i].words))
            fail_msg("%s: result %d, '%s'", cases[i].text, (int)result, error.text);
        assert_null(project);
    }
}

static void refuses_what_is_no_object(void **state) {
    (void)state;
    ex_project *project;
    ex_error error;
    assert_int_equal(try_parse("[]", &project, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "a project is a JSON object"));
    assert_int_equal(try_parse("{'exemplar': 1, 'mesh': 'm.obj', 'layers': {}}", &project, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "x.json: layers: a list of layers"));
}

static void refuses_other_versions(void **state) {
    (void)state;
    ex_project *project;
    ex_error error;
    /* A newer project may have keys that this program does not know: its number is looked at first. */
    assert_int_equal(try_parse("{'news': 7, 'exemplar': 2, 'mesh': 'm.obj', 'layers': []}", &project, &error),
                     EX_ERROR_VERSION);
    assert_non_null(strstr(error.text, "version 2"));
    assert_null(project);
}

static void refuses_deep_nesting(void **state) {
    (void)state;
    const size_t depth = 1000000;
    char *text = malloc(depth);
    assert_non_null(text);
    memset(text, '[', depth);
    ex_project *project;
    ex_error error;
    assert_int_equal(ex_project_parse(text, depth, "deep.json", &project, &error), EX_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "deep.json:1:"));
    assert_non_null(strstr(error.text, "depth"));
    free(text);
}

static void reads_no_further_than_its_size(void **state) {
    (void)state;
    char *text = with_quotes(sound);
    ex_project *project;
    for (size_t size = 0; size < strlen(text) - 2; size += 7) {
        char *exact = malloc(size + 1);
        assert_non_null(exact);
        memcpy(exact, text, size);
        assert_int_equal(ex_project_parse(exact, size, "cut.json", &project, NULL), EX_ERROR_FORMAT);
        free(exact);
    }
    free(text);
}

static void names_files_that_cannot_be_read(void **state) {
    (void)state;
    ex_project *project;
    ex_error error;
    assert_int_equal(ex_project_read(scratch_path("missing.json"), &project, &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "missing.json"));
    scratch_write("rig.json", "glTF\2\0\0\0", 8);
    assert_int_equal(ex_project_read(scratch_path("rig.json"), &project, &error), EX_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "exemplar unpack"));
    scratch_write("gltf.json", "glT", 3);
    assert_int_equal(ex_project_read(scratch_path("gltf.json"), &project, &error), EX_ERROR_FORMAT);
    assert_null(strstr(error.text, "unpack"));
    scratch_write("empty.json", "", 0);
    assert_int_equal(ex_project_read(scratch_path("empty.json"), &project, &error), EX_ERROR_FORMAT);
    assert_null(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sound_one_is_read),
        cmocka_unit_test(names_the_place),
        cmocka_unit_test(names_the_line),
        cmocka_unit_test(refuses_what_is_no_object),
        cmocka_unit_test(refuses_other_versions),
        cmocka_unit_test(refuses_deep_nesting),
        cmocka_unit_test(reads_no_further_than_its_size),
        cmocka_unit_test(names_files_that_cannot_be_read),
    };
    return cmocka_run_group_tests_name("author.project.read_errors", tests, scratch_set_up, scratch_tear_down);
}
