/*
 * Sculpts that become examples: by hand on a square, with other orders of vertices, and errors; other changes of
 * examples; and failing memory, after which project and folder are unchanged.
 */
#include "author/project/projects.h"

#include "author/project/sculpt/reorder.h"
#include "author/project/sculpt/sculpt.h"
#include "support/arms.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/words.h"

#include <exemplar/author/files.h>

static const char square_project[] =
    "{'exemplar': 1, 'mesh': 'flat.obj', 'layers': [{'name': 'dial', 'shape': 'offsets', 'space': [{'name': 'd', "
    "'min': 0, 'max': 2}, {'name': 'e', 'min': 0, 'max': 1}], 'weigh': {'kind': 'gaussian'}, 'examples': [{'name': "
    "'one', 'mesh': 'one.obj', 'at': {'d': 1}}]}, {'name': 'free', 'space': [{'name': 'f', 'min': 0, 'max': 1}], "
    "'examples': [{'name': 'rest', 'mesh': 'flat.obj', 'at': {'f': 0}}]}]}";

static const char arm_project[] = "{'exemplar': 1, 'mesh': '../rest.obj', 'skeleton': '../arm.glb', 'layers': []}";

/* Writes the text as a project and reads it. */
static ex_project *open_project(const char *name, const char *text) {
    char *quoted = with_quotes(text);
    ex_project *project = NULL;
    ex_error error = {0};
    write_text(name, quoted);
    free(quoted);
    if (ex_project_read(scratch_path(name), &project, &error) != EX_OK)
        fail_msg("%s", error.text);
    return project;
}

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    double positions[3 * ARM_VERTICES];
    write_square("flat.obj", 0, 0, 0, 0);
    write_square("one.obj", 0, 0.25, 0, 0);
    write_square("two.obj", 0, 0, 0, 0.5);
    write_text("turned.obj", "v 0 1 0.5\nv 1 1 0\nv 1 0 0\nv 0 0 0\nf 4 3 2 1\n");
    write_text("cut.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0.5\nf 1 2 3\nf 1 3 4\n");
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    arm_write_scene("arm.glb", arm_scene(1));
    return 0;
}

/* The complete text of a file. Release with free. */
static char *text_of(const char *name) {
    size_t size;
    char *bytes = scratch_read(name, &size), *text = malloc(size + 1);
    assert_non_null(text);
    memcpy(text, bytes, size);
    text[size] = 0;
    free(bytes);
    return text;
}

static void check_text(const char *name, const char *fragment) {
    char *text = text_of(name), *quoted = with_quotes(fragment);
    if (!strstr(text, quoted))
        fail_msg("'%s' is not in %s", quoted, text);
    free(text);
    free(quoted);
}

/* ---- by hand ---- */

static void test_by_hand(void **state) {
    (void)state;
    ex_project *project = open_project("hand.json", square_project);
    char *before = text_of("hand.json");
    ex_error error = {0};
    ex_sculpted made;
    const ex_sculpt sculpt = {.name = "two",
                              .form = scratch_path("two.obj"),
                              .at = PLACE(AT("d", 2), AT("e", 1)),
                              .falloff = PLACE(ALL(0.75))};
    if (ex_project_add_sculpt(project, &sculpt, NULL, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    /* One corner, lifted by a half; it comes back unchanged through the layer, because there is no skin. */
    assert_int_equal(made.layer, 0);
    assert_int_equal(made.example, 1);
    assert_false(made.new_layer || made.reordered);
    assert_int_equal(made.vertex_count, 4);
    assert_int_equal(made.moved_count, 1);
    assert_near(made.largest, 0.5, 1e-12);
    assert_near(made.error, 0, 1e-6);
    assert_near(made.size, sqrt(2), 1e-12);
    assert_int_equal(made.damped_count, 0);
    check_text("hand.json", "{'name': 'two', 'mesh': 'two.obj', 'at': {'d': 2, 'e': 1}, 'falloff': 0.75}");
    char *kept = text_of("hand.json~");
    assert_string_equal(kept, before);
    free(kept);
    free(before);
    /* The project in memory is the one on disk. */
    assert_string_equal(ex_project_get(project)->layers[0].examples[1].name, "two");
    ex_project_destroy(project);
}

/* ---- orders ---- */

static void test_orders(void **state) {
    (void)state;
    ex_mesh *mesh = NULL;
    assert_int_equal(ex_mesh_read(scratch_path("rest.obj"), &mesh, NULL), EX_OK);
    uint64_t seed = 5;
    for (int turn = 0; turn < 6; turn++) {
        int new_number[ARM_VERTICES], to[ARM_VERTICES];
        ex_mesh *other = ex_mesh_copy(mesh);
        assert_non_null(other);
        for (int v = 0; v < ARM_VERTICES; v++)
            new_number[v] = v;
        for (int v = ARM_VERTICES - 1; v > 0; v--) {
            const int k = (int)(random_bits(&seed) % (uint64_t)(v + 1)), swap = new_number[v];
            new_number[v] = new_number[k];
            new_number[k] = swap;
        }
        for (int v = 0; v < ARM_VERTICES; v++)
            memcpy(other->positions + 3 * new_number[v], mesh->positions + 3 * v, 3 * sizeof(double));
        for (int c = 0; c < mesh->corner_count; c++)
            other->corners[c] = new_number[mesh->corners[c]];
        bool failed = false;
        if (turn % 2) { /* a few moved, and no texture coordinates */
            free(other->corner_texcoords);
            other->corner_texcoords = NULL;
            for (int v = 0; v < 7; v++)
                other->positions[3 * new_number[v] + 2] += 0.05;
        }
        assert_int_equal(exi_find_order(mesh, other, to, &failed),
                         turn % 2 ? EXI_ORDER_POSITIONS : EXI_ORDER_TEXCOORDS);
        assert_false(failed);
        for (int v = 0; v < ARM_VERTICES; v++)
            assert_int_equal(to[new_number[v]], v);
        ex_mesh_destroy(other);
    }
    ex_mesh_destroy(mesh);
}

/* Keeps notes one after the other, as many as fit. */
static void keep_notes(void *user, const char *text) {
    const size_t used = strlen(user);
    snprintf((char *)user + used, 4 * EX_ERROR_SIZE - used, "%s\n", text);
}

static void test_another_order_is_written_in_the_meshs(void **state) {
    (void)state;
    ex_project *project = open_project("turned.json", square_project);
    char note[4 * EX_ERROR_SIZE] = "";
    const ex_build_options options = {.note = keep_notes, .note_user = note};
    ex_sculpted made;
    const ex_sculpt sculpt = {
        .layer = "dial", .name = "odd/name", .form = scratch_path("turned.obj"), .at = PLACE(AT("e", 1))};
    ex_error error = {0};
    if (ex_project_add_sculpt(project, &sculpt, &options, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true(made.reordered);
    assert_non_null(strstr(note, "rest positions"));
    /* A corner is lifted by half a side. */
    assert_non_null(strstr(note, "of the mesh's size away from the form at its pose"));
    check_text("turned.json", "'mesh': 'dial/odd_name.obj'");
    check_text("dial/odd_name.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0.5\n");
    ex_project_destroy(project);
}

/* ---- errors ---- */

static void test_refused(void **state) {
    (void)state;
    const struct {
        ex_sculpt sculpt;
        ex_result result;
        const char *word;
    } cases[] = {
        {{.name = "n", .form = "two.obj"}, EX_ERROR_ARGUMENT, "give the pose at which"},
        {{.form = "two.obj"}, EX_ERROR_ARGUMENT, "a file and a name"},
        {{.replace = true, .form = "two.obj"}, EX_ERROR_ARGUMENT, "the name or the place"},
        {{.name = "n", .form = "two.obj", .layer = "dial", .at = PLACE(AT("d", 1))},
         EX_ERROR_DATA,
         "example 'one' of layer 'dial' is already at that place"},
        {{.name = "one", .form = "two.obj", .layer = "dial", .at = PLACE(AT("d", 2))},
         EX_ERROR_DATA,
         "has an example 'one'"},
        {{.name = "n", .form = "two.obj", .at = PLACE(TURNED("a", 0, 2))}, EX_ERROR_DATA, "no \"skeleton\""},
        {{.name = "n", .form = "two.obj", .at = PLACE({.name = "d", .kind = EX_SETTING_FILE, .file = "two.obj"})},
         EX_ERROR_DATA,
         "axis 'd' takes a number"},
        {{.name = "n", .form = "two.obj", .at = PLACE(AT("zzzz", 1))},
         EX_ERROR_DATA,
         "this project has no axis 'zzzz'; its axes are: d, e"},
        {{.name = "n", .form = "two.obj", .at = PLACE(AT("d", 0), AT("e", 0))}, EX_ERROR_DATA, "at rest"},
        {{.name = "n", .form = "gone.obj", .layer = "dial", .at = PLACE(AT("d", 2))}, EX_ERROR_FILE, "gone.obj"},
        {{.name = "n", .form = "cut.obj", .layer = "dial", .at = PLACE(AT("d", 2))}, EX_ERROR_DATA, "triangulated"},
        {{.name = "", .form = "two.obj", .layer = "dial", .at = PLACE(AT("d", 2))}, EX_ERROR_DATA, "is not valid"},
        {{.name = "n", .form = "two.obj", .layer = "dial", .falloff = PLACE(ALL(-1)), .at = PLACE(AT("d", 2))},
         EX_ERROR_DATA,
         "falloff"},
        {{.replace = true, .form = "two.obj", .layer = "dial", .at = PLACE(AT("d", 2))},
         EX_ERROR_DATA,
         "nothing to replace"},
        {{.replace = true, .name = "ones", .form = "two.obj"}, EX_ERROR_DATA, "did you mean 'one'?"},
    };
    ex_project *project = open_project("refused.json", square_project);
    char *before = text_of("refused.json");
    const int entries = scratch_entry_count();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_sculpt sculpt = cases[i].sculpt;
        ex_error error = {0};
        char path[1024];
        snprintf(path, sizeof path, "%s", scratch_path(sculpt.form));
        sculpt.form = path;
        assert_int_equal(ex_project_add_sculpt(project, &sculpt, NULL, NULL, &error), cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
        char *after = text_of("refused.json");
        assert_string_equal(after, before);
        free(after);
        assert_int_equal(scratch_entry_count(), entries);
        assert_int_equal(ex_project_get(project)->layers[0].example_count, 1);
    }
    free(before);
    ex_project_destroy(project);
}

/* ---- other changes ---- */

static void test_changes(void **state) {
    (void)state;
    ex_project *project = open_project("changes.json", square_project);
    ex_error error = {0};
    const ex_example_ref one = {.name = "one"}, layer = {.layer = "dial"};
    const ex_sculpt sculpt = {
        .layer = "dial", .name = "two", .form = scratch_path("two.obj"), .at = PLACE(AT("d", 1.5), AT("e", 0.5))};
    assert_int_equal(ex_project_add_sculpt(project, &sculpt, NULL, NULL, &error), EX_OK);
    assert_int_equal(ex_project_move_example(project, one, &(ex_example_move){.at = PLACE(AT("e", 1))}, NULL, &error),
                     EX_OK);
    check_text("changes.json", "'at': {'d': 1, 'e': 1}");
    assert_int_equal(ex_project_move_example(project, one, &(ex_example_move){.at = PLACE(AT("d", 1.5), AT("e", 0.5))},
                                             NULL, &error),
                     EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "example 'two' of layer 'dial' is already at that place");
    assert_int_equal(ex_project_mute(project, one, true, NULL, &error), EX_OK);
    assert_int_equal(ex_project_get(project)->layers[0].muted_count, 1);
    assert_int_equal(ex_project_mute(project, (ex_example_ref){.name = "two"}, true, NULL, &error), EX_ERROR_DATA);
    assert_int_equal(ex_project_mute(project, one, false, NULL, &error), EX_OK);
    assert_int_equal(ex_project_mute(project, layer, true, NULL, &error), EX_OK);
    assert_true(ex_project_get(project)->layers[0].muted);
    assert_int_equal(ex_project_mute(project, layer, false, NULL, &error), EX_OK);
    const ex_pseudo_place pseudo = {
        .layer = "dial", .at = PLACE(AT("d", 2)), .weights = PLACE(AT("one", 0.5), AT("two", 0.25))};
    if (ex_project_add_pseudo(project, &pseudo, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    check_text("changes.json", "{'weights': {'one': 0.5, 'two': 0.25}, 'at': {'d': 2}}");
    /* Weights keep their sum when an example goes. */
    assert_int_equal(ex_project_remove_example(project, one, NULL, &error), EX_OK);
    check_text("changes.json", "{'weights': {'two': 0.75}, 'at': {'d': 2}}");
    const ex_pseudo_place elsewhere = {.layer = "dial", .at = PLACE(AT("e", 0.25)), .from = PLACE(AT("d", 1))};
    assert_int_equal(ex_project_move_pseudo(project, &elsewhere, 0, NULL, &error), EX_OK);
    check_text("changes.json", "'at': {'d': 2, 'e': 0.25}");
    assert_int_equal(ex_project_move_pseudo(project, &elsewhere, 1, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "no pseudo-example 2: it has 1");
    assert_int_equal(ex_project_remove_pseudo(project, "dial", 0, NULL, &error), EX_OK);
    assert_int_equal(ex_project_get(project)->layers[0].pseudo_count, 0);
    ex_project_destroy(project);
}

/* A metric would replace a falloff. */
static void test_a_falloff_takes_the_place_of_a_metric(void **state) {
    (void)state;
    const ex_example_move moves[] = {{.falloff = PLACE(ALL(0.75))}, {.layer_falloff = true}};
    static const char *const falloffs[] = {", 'falloff': 0.75}", "}"};
    for (int i = 0; i < 2; i++) {
        char text[600], expected[200];
        snprintf(text, sizeof text,
                 "{'exemplar': 1, 'mesh': 'flat.obj', 'layers': [{'name': 'dial', 'shape': 'offsets', 'space': "
                 "[{'name': 'd', 'min': 0, 'max': 2}], 'weigh': {'kind': 'gaussian'}, 'examples': [{'name': 'one', "
                 "'mesh': 'one.obj', 'at': {'d': 1}, 'metric': [[9]]}]}]}");
        snprintf(expected, sizeof expected, "{'name': 'one', 'mesh': 'one.obj', 'at': {'d': 1}%s", falloffs[i]);
        ex_project *project = open_project("metric.json", text);
        ex_error error = {0};
        if (ex_project_move_example(project, (ex_example_ref){.name = "one"}, &moves[i], NULL, &error) != EX_OK)
            fail_msg("%s", error.text);
        check_text("metric.json", expected);
        assert_null(ex_project_get(project)->layers[0].weigh.metrics);
        ex_project_destroy(project);
    }
}

/* Names may be longer than their files', whose names are cut in the middle of a character. */
static void test_long_names(void **state) {
    (void)state;
    char name[200] = "", text[1000], expected[300];
    for (int i = 0; i < 60; i++)
        strcat(name, i == 0 ? "x" : "\xC3\xA9");
    snprintf(text, sizeof text,
             "{'exemplar': 1, 'mesh': 'flat.obj', 'layers': [{'name': '%s', 'shape': 'offsets', 'space': [{'name': "
             "'d', 'min': 0, 'max': 2}], 'weigh': {'kind': 'gaussian'}, 'examples': [{'name': 'one', 'mesh': "
             "'one.obj', 'at': {'d': 1}}]}]}",
             name);
    ex_project *project = open_project("long.json", text);
    ex_error error = {0};
    const ex_sculpt sculpt = {.name = name, .form = scratch_path("turned.obj"), .at = PLACE(AT("d", 2))};
    if (ex_project_add_sculpt(project, &sculpt, NULL, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    snprintf(expected, sizeof expected, "'mesh': '%.99s/%.99s.obj'", name, name);
    check_text("long.json", expected);
    ex_project_destroy(project);
}

/* Bytes that are not text: a file with that name is copied, words of them are refused. */
static void test_bytes_that_are_no_text(void **state) {
    (void)state;
    ex_project *project = open_project("bytes.json", square_project);
    ex_error error = {0};
    char form[1024];
    write_square("\xE9t\xE9.obj", 0, 0, 0, 0.5);
    snprintf(form, sizeof form, "%s", scratch_path("\xE9t\xE9.obj"));
    const ex_sculpt sculpt = {.name = "summer", .form = form, .at = PLACE(AT("d", 2), AT("e", 1))};
    if (ex_project_add_sculpt(project, &sculpt, NULL, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    check_text("bytes.json", "'mesh': 'dial/summer.obj'");
    const ex_sculpt wrong[] = {
        {.name = "x", .form = form, .at = PLACE(AT("d", 1.5)), .falloff = PLACE(AT("\xE9", 1))},
        {.name = "x", .form = form, .at = PLACE(AT("d", 1.5)), .layer = "dial", .falloff = PLACE(AT("\xE9", 1))},
        {.name = "x\xE9", .form = form, .at = PLACE(AT("d", 1.5)), .layer = "dial"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(ex_project_add_sculpt(project, &wrong[i], NULL, NULL, &error), EX_ERROR_DATA);
        assert_sentence(&error, EX_ERROR_DATA, i < 2 ? "not valid UTF-8" : "is not valid");
    }
    const ex_pseudo_place pseudo = {.layer = "dial", .at = PLACE(AT("d", 1.5)), .weights = PLACE(AT("\xE9", 0.5))};
    assert_int_equal(ex_project_add_pseudo(project, &pseudo, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "not valid UTF-8");
    ex_project_destroy(project);
}

static void test_calls_without_names(void **state) {
    (void)state;
    ex_project *project = open_project("nameless.json", square_project);
    ex_error error = {0};
    const ex_example_ref nothing = {.layer = "dial"};
    assert_int_equal(
        ex_project_move_example(project, nothing, &(ex_example_move){.at = PLACE(AT("d", 1.5))}, NULL, &error),
        EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "name an example");
    assert_int_equal(ex_project_remove_example(project, nothing, NULL, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "name an example");
    assert_int_equal(ex_project_mute(project, (ex_example_ref){0}, true, NULL, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_project_remove_pseudo(project, NULL, 0, NULL, &error), EX_ERROR_ARGUMENT);
    ex_project_destroy(project);
}

/* ---- memory ---- */

typedef struct attempt {
    ex_project *project;
    ex_sculpt sculpt;
} attempt;

static bool is_there(const char *name) {
    FILE *file = fopen(scratch_path(name), "rb");
    if (file)
        fclose(file);
    return file != NULL;
}

/* After a failure, neither a form nor a kept project is left, and the project has no layer. */
static ex_result try_add(void *context) {
    const attempt *a = context;
    ex_error error = {0};
    ex_sculpted made;
    const ex_result result = ex_project_add_sculpt(a->project, &a->sculpt, NULL, &made, &error);
    const bool done = result == EX_OK;
    assert_int_equal(is_there("memory/fore/bent.obj"), done);
    assert_int_equal(is_there("memory/fore"), done);
    assert_int_equal(is_there("memory/m.json~"), done);
    assert_int_equal(ex_project_get(a->project)->layer_count, done);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    static const char *const bent[] = {"joint:fore=z70y10", NULL};
    double positions[3 * ARM_VERTICES];
    char path[1024];
    assert_int_equal(ex_make_directory(scratch_path("memory"), NULL), EX_OK);
    ex_project *project = open_project("memory/m.json", arm_project);
    ex_rig *rig = build_project(project);
    arm_sculpt(rig, bent, 0.01, 3, positions);
    ex_rig_destroy(rig);
    arm_write_mesh("sculpt.obj", positions);
    snprintf(path, sizeof path, "%s", scratch_path("sculpt.obj"));
    ex_place place = place_of_words(project, bent);
    attempt a = {.project = project,
                 .sculpt = {.name = "bent", .form = path, .at = place, .falloff = PLACE(AT("fore", 40))}};
    assert_true(fail_alloc_sweep(try_add, &a) > 50);
    exi_place_free(&place);
    ex_project_destroy(project);
}

/* Into a layer of forms at rest, below one that adds to it: the form is un-posed, corrected and compared. */
static ex_result try_insert(void *context) {
    const attempt *a = context;
    ex_error error = {0};
    ex_sculpted made;
    const ex_result result = ex_project_add_sculpt(a->project, &a->sculpt, NULL, &made, &error);
    const bool done = result == EX_OK;
    assert_int_equal(is_there("insert/size/half.obj"), done);
    assert_int_equal(is_there("insert/size/half_sculpt.obj"), done);
    assert_int_equal(is_there("insert/size"), done);
    assert_int_equal(is_there("insert/.m.json.versions"), done);
    assert_int_equal(ex_project_get(a->project)->layers[0].example_count, 2 + done);
    assert_true(!done || (made.error < 1e-5 * made.size && made.lost_count == 0 && !made.new_layer));
    return result;
}

static ex_result try_rename(void *context) {
    ex_error error = {0};
    const ex_rename rename = {.kind = EX_RENAME_AXIS, .name = "size", .to = "girth"};
    const ex_result result = ex_project_rename(context, &rename, NULL, &error);
    assert_string_equal(ex_project_get(context)->layers[1].axes[0].name, result == EX_OK ? "girth" : "size");
    return result;
}

static void test_memory_of_inserting(void **state) {
    (void)state;
    static const char *const at[] = {"size=0.5", NULL}, *const turned[] = {"size=0.5", "joint:fore=z30", NULL},
                             *const joint[] = {"joint:fore=z30", NULL};
    double positions[3 * ARM_VERTICES];
    char path[1024];
    assert_int_equal(ex_make_directory(scratch_path("insert"), NULL), EX_OK);
    ex_project *project = open_project("insert/m.json", "{'exemplar': 1, 'mesh': '../rest.obj', 'skeleton': "
                                                        "'../arm.glb', 'layers': [{'name': 'size', 'space': [{'name': "
                                                        "'size', 'min': 0, 'max': 1}], 'weigh': {'kind': 'cardinal'}, "
                                                        "'examples': [{'name': 'a', 'mesh': '../rest.obj', 'at': "
                                                        "{'size': 0}}, {'name': 'b', 'mesh': '../big.obj', 'at': "
                                                        "{'size': 1}}]}, {'name': 'more', 'shape': 'offsets', 'space': "
                                                        "[{'name': 'size', 'min': 0, 'max': 1}], 'weigh': {'kind': "
                                                        "'gaussian'}, 'examples': [{'name': 'c', 'mesh': "
                                                        "'../bigger.obj', 'at': {'size': 1}}]}]}");
    arm_form(1, 0.2, positions);
    for (int v = 0; v < ARM_VERTICES; v++)
        positions[3 * v + 1] *= 1.1;
    arm_write_mesh("big.obj", positions);
    for (int v = 0; v < ARM_VERTICES; v++)
        positions[3 * v + 2] *= 1.2;
    arm_write_mesh("bigger.obj", positions);
    ex_rig *rig = build_project(project);
    arm_sculpt(rig, turned, 0.01, 3, positions);
    ex_rig_destroy(rig);
    arm_write_mesh("sculpt.obj", positions);
    snprintf(path, sizeof path, "%s", scratch_path("sculpt.obj"));
    ex_place place = place_of_words(project, at), joints = place_of_words(project, joint);
    attempt a = {.project = project,
                 .sculpt = {.layer = "size", .name = "half", .form = path, .at = place, .joints = joints}};
    assert_true(fail_alloc_sweep(try_insert, &a) > 50);
    assert_true(fail_alloc_sweep(try_rename, project) > 50);
    exi_place_free(&place);
    exi_place_free(&joints);
    ex_project_destroy(project);
}

static ex_result try_match(void *context) {
    const attempt *a = context;
    ex_error error = {0};
    ex_sculpted made;
    const ex_result result = ex_project_add_sculpt(a->project, &a->sculpt, NULL, &made, &error);
    assert_true(result != EX_OK || (made.reordered && made.moved_count == 1));
    return result;
}

/* Vertices in another order, which are matched with the form at the sculpt's pose: everything is turned away. */
static void test_memory_of_matching(void **state) {
    (void)state;
    static const char *const bent[] = {"joint:fore=z70y10", "joint:upper=y80", NULL};
    double positions[3 * ARM_VERTICES];
    char path[1024];
    assert_int_equal(ex_make_directory(scratch_path("matching"), NULL), EX_OK);
    ex_project *project = open_project("matching/m.json", arm_project);
    ex_rig *rig = build_project(project);
    arm_sculpt(rig, bent, 0, 3, positions);
    ex_rig_destroy(rig);
    ex_mesh *mesh = arm_mesh(positions);
    for (int i = 0; i < 3; i++) {
        const double first = mesh->positions[i];
        mesh->positions[i] = mesh->positions[30 + i] + 0.01;
        mesh->positions[30 + i] = first;
    }
    for (int c = 0; c < mesh->corner_count; c++)
        mesh->corners[c] = mesh->corners[c] == 0 ? 10 : mesh->corners[c] == 10 ? 0 : mesh->corners[c];
    free(mesh->corner_texcoords);
    mesh->corner_texcoords = NULL;
    assert_int_equal(ex_mesh_write(scratch_path("mixed.obj"), mesh, NULL), EX_OK);
    ex_mesh_destroy(mesh);
    snprintf(path, sizeof path, "%s", scratch_path("mixed.obj"));
    ex_place all = place_of_words(project, bent);
    attempt a = {.project = project,
                 .sculpt = {.name = "bent", .form = path, .at = {all.settings, 1}, .joints = {all.settings + 1, 1}}};
    assert_true(fail_alloc_sweep(try_match, &a) > 50);
    exi_place_free(&all);
    assert_int_equal(ex_project_get(project)->layers[0].example_count, 1);
    ex_project_destroy(project);
}

/* Changes that another program has made to the file since it was read are kept, and nothing written on the way is
 * left. */
static void test_changed_by_others(void **state) {
    (void)state;
    ex_project *project = open_project("others.json", square_project), *other = NULL;
    const ex_example_ref layer = {.layer = "dial"};
    ex_error error = {0};
    assert_int_equal(ex_project_read(scratch_path("others.json"), &other, &error), EX_OK);
    assert_int_equal(ex_project_mute(other, layer, true, NULL, &error), EX_OK);
    char *before = text_of("others.json");
    const int entries = scratch_entry_count();
    const ex_sculpt sculpt = {
        .layer = "dial", .name = "two", .form = scratch_path("two.obj"), .at = PLACE(AT("d", 1.5), AT("e", 0.5))};
    assert_int_equal(ex_project_add_sculpt(project, &sculpt, NULL, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "others.json' was changed by another program in the meantime");
    char *after = text_of("others.json");
    assert_string_equal(after, before);
    assert_int_equal(scratch_entry_count(), entries);
    free(after);
    free(before);
    write_text("others.json", "{");
    assert_int_equal(ex_project_mute(project, layer, true, NULL, &error), EX_ERROR_DATA);
    /* The same project with other formatting, and the output of ex_project_write, count as unchanged. */
    char *quoted = with_quotes(square_project);
    write_text("others.json", quoted);
    free(quoted);
    assert_int_equal(ex_project_mute(project, layer, true, NULL, &error), EX_OK);
    const double at[2] = {0.5, 0.5};
    assert_int_equal(
        ex_project_edit(project, 0, &(ex_edit){.kind = EX_EDIT_MOVE_EXAMPLE, .index = 0, .at = at}, NULL, NULL, &error),
        EX_OK);
    assert_int_equal(ex_project_write(project, NULL, &error), EX_OK);
    assert_int_equal(ex_project_mute(project, layer, false, NULL, &error), EX_OK);
    ex_project_destroy(other);
    ex_project_destroy(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_another_order_is_written_in_the_meshs),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_a_falloff_takes_the_place_of_a_metric),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_calls_without_names),
        cmocka_unit_test(test_changed_by_others),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memory_of_inserting),
        cmocka_unit_test(test_memory_of_matching),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_tear_down);
}
