/*
 * Checking mixtures of the examples of trajectories: weak ones are warned of with their weights and pose, good ones and
 * those that later layers mend are not; weights are those that the layer's weigher gives.
 */
#include "author/project/bars.h"
#include "author/project/check/checks.h"

/* The paper's first energy alone stretches bars that bend. */
#define WEAK "'trajectory': {'mode': 'paper', 'iterations': 2, 'terms': ['pose']}, "

#define DIRECT(how, first, second)                                                                                     \
    "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'up', 'min': 0, 'max': 1}, "         \
    "{'name': 'down', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'shape': 'trajectory', " how                  \
    "'examples': [{'name': 'high', 'mesh': '" first "'}, {'name': 'low', 'mesh': '" second "'}]}"

#define SPACE(how)                                                                                                     \
    "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'l', 'space': [{'name': 'd', 'min': -1, 'max': 1}], "        \
    "'weigh': {'kind': 'cardinal'}, 'shape': 'trajectory', " how                                                       \
    "'examples': [{'name': 'rest', 'reference': true, 'at': {'d': 0}}, {'name': 'high', 'mesh': 'a.obj', 'at': "       \
    "{'d': 1}}, {'name': 'low', 'mesh': 'b.obj', 'at': {'d': -1}}]}]}"

static void weak_mixtures_are_warned_of(void **state) {
    (void)state;
    ex_check *check = check_text(DIRECT(WEAK, "a.obj", "b.obj") "]}");
    const ex_finding *found = only(check, "mixture", EX_SEVERITY_WARNING);
    expect_words(found, "layers[0]", "of 44 mixtures in 'l', "); /* 3 pairs at 11 times, the thirds, 10 random ones */
    expect_words(found, "layers[0]", "\"mode\": \"guided\" would follow it");
    expect_words(found, "layers[0]", " high"); /* the weights, by the names of the examples */
    assert_true(found->value > 2);
    char value[32];
    snprintf(value, sizeof value, "%.2f times as much", found->value);
    expect_words(found, "layers[0]", value);
    assert_non_null(found->pose); /* the pose, by the names of the axes */
    assert_true(strncmp(found->pose, "up=0.", 5) == 0 || strncmp(found->pose, "down=0.", 7) == 0);
    assert_null(strstr(found->pose, "high"));
    ex_check_destroy(check);
}

static void good_mixtures_are_noted(void **state) {
    (void)state;
    write_bar("near.obj", 0.05);
    write_bar("beside.obj", -0.06);
    ex_check *check = check_text(DIRECT("", "near.obj", "beside.obj") "]}");
    const ex_finding *found = only(check, "mixture", EX_SEVERITY_NOTE);
    expect_words(found, "layers[0]", "of 44 mixtures in 'l', 0 are weak; the worst is ");
    assert_true(found->value >= 1 && found->value < 2);
    assert_int_equal(check->warning_count, 0);
    ex_check_destroy(check);
}

static void weights_are_those_of_the_weigher(void **state) {
    (void)state;
    ex_check *check = check_text(SPACE(WEAK));
    const ex_finding *found = only(check, "mixture", EX_SEVERITY_WARNING);
    double d = 0, told = 0, weights[3];
    expect_words(found, "layers[0]", "of 110 mixtures in 'l', ");
    expect_words(found, "layers[0]", found->pose); /* the place in the space, and the weights there */
    assert_int_equal(sscanf(found->pose, "d=%lf", &d), 1);
    assert_true(d > -1 && d < 1);
    expect_words(found, "layers[0]", " rest)");
    const char *bracket = strchr(found->text, '(');
    assert_true(bracket && sscanf(bracket, "(%lf high", &told) == 1);
    ex_rig *rig = build_text(SPACE(WEAK));
    ex_weigher_evaluate(ex_rig_weigher(rig, 0), &d, weights);
    assert_true(fabs(weights[1] - told) < 0.01);
    ex_rig_destroy(rig);
    ex_check_destroy(check);
}

static ex_check *check_with(const char *text, ex_check_options options) {
    ex_project *project = parse_project(text);
    ex_check *check = NULL;
    ex_error error;
    if (ex_project_check(project, &options, &check, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_project_destroy(project);
    return check;
}

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int i = count; i-- > 0;)
        body(context, i, i + 1);
}

static void numbers_are_the_callers(void **state) {
    (void)state;
    const char *text = DIRECT(WEAK, "a.obj", "b.obj") "]}";
    ex_check *check = check_with(text, (ex_check_options){.mixture_count = -1});
    assert_int_equal(count_kind(check, "mixture", EX_SEVERITY_WARNING, NULL), 0);
    assert_int_equal(count_kind(check, "mixture", EX_SEVERITY_NOTE, NULL), 0);
    ex_check_destroy(check);
    check = check_with(text, (ex_check_options){.mixture_count = 2});
    expect_words(only(check, "mixture", EX_SEVERITY_WARNING), "layers[0]", "of 22 mixtures in 'l', ");
    ex_check_destroy(check);
    const ex_tasks tasks = {run_backwards, NULL};
    ex_check *serial = check_text(text), *spread = check_with(text, (ex_check_options){.tasks = &tasks});
    assert_string_equal(only(serial, "mixture", EX_SEVERITY_WARNING)->text,
                        only(spread, "mixture", EX_SEVERITY_WARNING)->text);
    ex_check_destroy(serial);
    ex_check_destroy(spread);
}

typedef struct watch {
    double last;
    int mixtures, most;
} watch;

static bool watch_report(void *user, const char *what, double fraction) {
    watch *seen = user;
    assert_true(fraction >= seen->last && fraction <= 1);
    seen->last = fraction;
    seen->mixtures += strcmp(what, "measuring mixtures") == 0;
    return seen->mixtures < seen->most;
}

static void progress_rises_and_stops(void **state) {
    (void)state;
    watch seen = {.most = 1000};
    const ex_progress progress = {watch_report, &seen};
    const ex_check_options options = {.progress = &progress};
    ex_project *project = parse_project(DIRECT(WEAK, "a.obj", "b.obj") "]}");
    ex_check *check = NULL;
    ex_error error;
    assert_int_equal(ex_project_check(project, &options, &check, &error), EX_OK);
    assert_true(seen.mixtures >= 3 && seen.last > 0.9);
    ex_check_destroy(check);
    seen = (watch){.most = 2};
    assert_int_equal(ex_project_check(project, &options, &check, &error), EX_ERROR_FILE);
    assert_null(check);
    assert_int_equal(seen.mixtures, 2);
    ex_project_destroy(project);
}

typedef struct refuser {
    int left, refused;
} refuser;

static bool refuse_after(void *user, const char *what, double fraction) {
    refuser *s = user;
    (void)what;
    (void)fraction;
    s->refused += s->left <= 0;
    return s->left-- > 0;
}

/* At every report: mesh, examples, the search for paths, mixtures. */
static void stops_at_once_anywhere(void **state) {
    (void)state;
    ex_project *project = parse_project(DIRECT(WEAK, "a.obj", "b.obj") "]}");
    ex_result result = EX_ERROR_FILE;
    int reports = 0;
    for (; result != EX_OK; reports++) {
        refuser s = {.left = reports};
        const ex_progress progress = {refuse_after, &s};
        ex_check *check = NULL;
        ex_error error = {0};
        result = ex_project_check(project, &(ex_check_options){.progress = &progress}, &check, &error);
        assert_int_equal(s.refused, result != EX_OK);
        assert_int_equal(result, s.refused ? EX_ERROR_FILE : EX_OK);
        assert_int_equal(check != NULL, result == EX_OK);
        ex_check_destroy(check);
    }
    assert_true(reports > 8);
    ex_project_destroy(project);
}

/* ---- later layers ---- */

static int count_weak(const ex_finding *found) {
    int measured = 0, weak = -1;
    assert_int_equal(sscanf(found->text, "of %d mixtures in 'l', %d are weak", &measured, &weak), 2);
    return weak;
}

/* Writes the as-rigid-as-possible form at weights of the project's examples. */
static void write_rigid(const char *text, const double *weights, const char *name) {
    ex_rig *rig = build_text(text);
    ex_rig_trajectories *paths = NULL;
    ex_mesh *mesh = NULL;
    assert_int_equal(ex_rig_trajectories_open(rig, 0, &paths, NULL), EX_OK);
    assert_int_equal(ex_mesh_read(scratch_path("m.obj"), &mesh, NULL), EX_OK);
    double path[3 * BAR_VERTICES];
    assert_int_equal(ex_mixture_forms(&paths->def, &paths->found, weights, path, NULL, mesh->positions, NULL, NULL),
                     EX_OK);
    assert_int_equal(ex_mesh_write(scratch_path(name), mesh, NULL), EX_OK);
    ex_mesh_destroy(mesh);
    ex_rig_trajectories_close(paths);
    ex_rig_destroy(rig);
}

static void later_layers_mend_mixtures(void **state) {
    (void)state;
    const double weights[2] = {0.7, 0.3};
    char text[4000];
    ex_check *check = check_text(DIRECT(WEAK, "a.obj", "b.obj") "]}");
    const int before = count_weak(only(check, "mixture", EX_SEVERITY_WARNING));
    const double value = only(check, "mixture", EX_SEVERITY_WARNING)->value;
    ex_check_destroy(check);
    write_rigid(DIRECT(WEAK, "a.obj", "b.obj") "]}", weights, "fixed.obj");
    static const char *const forms[2] = {"fixed.obj", "a.obj"};
    int after[2];
    for (int i = 0; i < 2; i++) { /* a sculpt that is rigid, and one that is not */
        snprintf(text, sizeof text,
                 "%s, {'name': 'fix', 'shape': 'offsets', 'protect': true, 'space': [{'name': 'down', 'min': 0, 'max': "
                 "1}, {'name': 'up', 'min': 0, 'max': 1}], 'weigh': {'kind': 'calm'}, 'examples': [{'name': 'fixed', "
                 "'mesh': '%s', 'at': {'up': 0.7, 'down': 0.3}}]}]}",
                 DIRECT(WEAK, "a.obj", "b.obj"), forms[i]);
        check = check_text(text);
        const ex_finding *found = only(check, "mixture", EX_SEVERITY_WARNING);
        after[i] = count_weak(found);
        assert_true(found->value <= value && (i == 1 || found->value < 0.95 * value)); /* with the layer */
        assert_string_not_equal(found->pose, "up=0.7 down=0.3");                       /* it is sculpted */
        ex_check_destroy(check);
    }
    assert_true(after[0] < before - 2); /* also mixtures near the sculpt */
    assert_true(after[1] > after[0] && after[1] < before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weak_mixtures_are_warned_of),      cmocka_unit_test(good_mixtures_are_noted),
        cmocka_unit_test(weights_are_those_of_the_weigher), cmocka_unit_test(numbers_are_the_callers),
        cmocka_unit_test(stops_at_once_anywhere),           cmocka_unit_test(progress_rises_and_stops),
        cmocka_unit_test(later_layers_mend_mixtures),
    };
    return cmocka_run_group_tests(tests, write_bars, scratch_tear_down);
}
