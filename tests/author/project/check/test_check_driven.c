/*
 * Checks and changes of projects that a driver moves.
 */
#include "author/project/driven.h"
#include "checks.h"
#include "support/words.h"

static sleeve arm;

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    sleeve_open(&arm, 7, 6);
    write_driven(&arm);
    return 0;
}

static int tear_down(void **state) {
    sleeve_close(&arm);
    return scratch_tear_down(state);
}

static void sound_projects(void **state) {
    (void)state;
    static const char *const texts[] = {DRIVEN("", "", "unposed", "]"), DRIVEN(", 'frames': 3", "", "unposed", "]"),
                                        DRIVEN("", "", "trajectory", "]")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ex_check *check = check_text(texts[i]);
        assert_int_equal(check->error_count + check->warning_count, 0);
        assert_int_equal(count_kind(check, "leave_one_out", EX_SEVERITY_NOTE, NULL), SLEEVE_KEYS);
        ex_check_destroy(check);
    }
}

/* A project with one of its examples at another file of the driver. */
static char *with_file(const char *file) {
    static const char text[] = DRIVEN("", "", "unposed", "]");
    const char *at = strstr(text, "arm3.obj");
    char *made = malloc(sizeof text + strlen(file));
    assert_true(at && made);
    sprintf(made, "%.*s%s%s", (int)(at - text), text, file, at + 8);
    return made;
}

static void forms_of_others(void **state) {
    (void)state;
    char *text = with_file("sleeve.obj");
    expect_one(text, "driver_form", EX_SEVERITY_ERROR, "layers[0].examples[3].at.body", "not a form of the driver");
    free(text);
    size_t size;
    char *form = scratch_read("arm3.obj", &size);
    form = realloc(form, size + 1);
    form[size] = 0;
    char *face = strstr(form, "\nf ");
    assert_non_null(face);
    memcpy(face, "\nf 3", 4);
    write_text("other.obj", form);
    free(form);
    text = with_file("other.obj");
    expect_one(text, "driver_form", EX_SEVERITY_ERROR, "layers[0].examples[3].at.body", "face 0");
    ex_project *project = parse_project(text);
    ex_rig *rig = NULL;
    ex_error error = {0};
    assert_int_equal(ex_project_build(project, NULL, &rig, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "examples[3] 'key3'"));
    assert_non_null(strstr(error.text, "face 0"));
    ex_project_destroy(project);
    free(text);
}

static void keys_that_coincide(void **state) {
    (void)state;
    float *near = malloc(3 * (size_t)arm.driver->vertex_count * sizeof *near);
    assert_non_null(near);
    memcpy(near, arm.drivers[2], 3 * (size_t)arm.driver->vertex_count * sizeof *near);
    near[4] += 0.001F;
    write_form("near.obj", arm.driver, near);
    free(near);
    char *text = with_file("near.obj");
    expect_one(text, "close_examples", EX_SEVERITY_WARNING, "layers[0]", "'key2' and 'key3'");
    free(text);
    text = with_file("arm2.obj");
    ex_project *project = parse_project(text);
    ex_rig *rig = NULL;
    ex_error error = {0};
    assert_int_equal(ex_project_build(project, NULL, &rig, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "the same form at examples 'key2' and 'key3'"));
    ex_project_destroy(project);
    free(text);
}

/* Faces written the other way round. */
static void drivers_inside_out(void **state) {
    (void)state;
    ex_mesh *turned = ex_mesh_copy(arm.driver);
    ex_error error = {0};
    assert_non_null(turned);
    for (int f = 0; f < turned->face_count; f++) {
        int *corners = turned->corners + turned->face_offsets[f], second = corners[1];
        corners[1] = corners[3];
        corners[3] = second;
    }
    assert_int_equal(ex_obj_write(scratch_path("turned.obj"), turned, &error), EX_OK);
    for (int k = 0; k < SLEEVE_KEYS; k++) {
        char name[24];
        snprintf(name, sizeof name, "turned%d.obj", k);
        write_form(name, turned, arm.drivers[k]);
    }
    ex_mesh_destroy(turned);
    char text[] = DRIVEN("", "", "unposed", "], 'settle': {'residual': 'none'}         ");
    char *wide = malloc(2 * sizeof text), *to = wide;
    assert_non_null(wide);
    for (const char *at = text; *at;)
        if (strncmp(at, "'arm", 4) == 0) {
            to += sprintf(to, "'turned");
            at += 4;
        } else {
            *to++ = *at++;
        }
    *to = 0;
    expect_one(wide, "inside_out", EX_SEVERITY_WARNING, "driver.mesh", "point inwards");
    free(wide);
}

static void missing_files(void **state) {
    (void)state;
    char *text = with_file("nowhere.obj");
    expect_one(text, "driver_form", EX_SEVERITY_ERROR, "layers[0].examples[3].at.body", "nowhere.obj");
    free(text);
}

/* An example added on a form of the driver, listed, moved, muted, removed. */
static void examples_are_changed(void **state) {
    (void)state;
    ex_project *project = NULL;
    ex_error error = {0};
    ex_sculpted made;
    char body[300], form[300], *json = with_quotes(DRIVEN("", "", "unposed", "]"));
    float *driver = malloc(3 * (size_t)arm.driver->vertex_count * sizeof *driver);
    float *driven = malloc(3 * (size_t)arm.driven->vertex_count * sizeof *driven);
    assert_true(driver && driven);
    sleeve_form(&arm, 45, 0.3, 0.2, driver, driven);
    write_form("arm45.obj", arm.driver, driver);
    write_form("sleeve45.obj", arm.driven, driven);
    write_text("p.json", json);
    snprintf(body, sizeof body, "%s", scratch_path("arm45.obj"));
    snprintf(form, sizeof form, "%s", scratch_path("sleeve45.obj"));
    assert_int_equal(ex_project_read(scratch_path("p.json"), &project, &error), EX_OK);
    const ex_place at = PLACE({.name = "body", .kind = EX_SETTING_FILE, .file = body});
    const ex_sculpt sculpt = {.layer = "driven", .name = "half", .form = form, .at = at};
    if (ex_project_add_sculpt(project, &sculpt, NULL, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    check_near(made.error, 0, 1e-5);
    assert_int_equal(ex_project_get(project)->layers[0].example_count, SLEEVE_KEYS + 1);
    assert_string_equal(ex_project_get(project)->layers[0].examples[SLEEVE_KEYS].driver, "arm45.obj");
    assert_string_equal(ex_project_get(project)->layers[0].examples[SLEEVE_KEYS].mesh, "sleeve45.obj");
    const ex_sculpt twice = {.layer = "driven", .name = "again", .form = form, .at = at};
    assert_int_equal(ex_project_add_sculpt(project, &twice, NULL, &made, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "is already at that place"));
    const ex_sculpt outside = {.layer = "driven",
                               .name = "out",
                               .form = form,
                               .at = PLACE({.name = "body", .kind = EX_SETTING_FILE, .file = "/nowhere/arm.obj"})};
    assert_int_not_equal(ex_project_add_sculpt(project, &outside, NULL, &made, &error), EX_OK);
    const ex_example_ref half = {.layer = "driven", .name = "half"};
    assert_int_equal(ex_project_mute(project, half, true, NULL, &error), EX_OK);
    assert_int_equal(ex_project_mute(project, half, false, NULL, &error), EX_OK);
    assert_int_equal(ex_project_remove_example(project, half, NULL, &error), EX_OK);
    assert_int_equal(ex_project_get(project)->layers[0].example_count, SLEEVE_KEYS);
    const ex_edit edit = {.kind = EX_EDIT_ADD_EXAMPLE, .at = (double[]){0}};
    assert_int_equal(ex_project_edit(project, 0, &edit, "x", "x.obj", &error), EX_ERROR_ARGUMENT);
    ex_project_destroy(project);
    free(json);
    free(driver);
    free(driven);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sound_projects),     cmocka_unit_test(forms_of_others),
                                       cmocka_unit_test(keys_that_coincide), cmocka_unit_test(missing_files),
                                       cmocka_unit_test(drivers_inside_out), cmocka_unit_test(examples_are_changed)};
    return cmocka_run_group_tests_name("author.project.check_driven", tests, set_up, tear_down);
}
