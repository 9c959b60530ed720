/*
 * Falloffs by leave-one-out: the error of the choice is that of removing points one by one and solving again, no factor
 * next to it is better, no chosen system needs a ridge; and the cost of a ridge.
 */
#include "author/project/build/falloff.h"
#include "author/project/projects.h"

enum { EXAMPLES = 5, ZEROS = 2, POINTS = EXAMPLES + ZEROS, VERTICES = 9 };

static double random_number(uint32_t *seed) {
    *seed = *seed * 1664525U + 1013904223U;
    return (*seed >> 8) / 8388608.0 - 1;
}

/* A space of two numbers and a rotation, and sparse offsets. */
typedef struct space {
    ex_axis axes[3];
    double points[POINTS][6], zero[EXAMPLES];
    ex_pseudo pseudos[ZEROS];
    uint32_t vertices[EXAMPLES][VERTICES];
    float deltas[EXAMPLES][VERTICES][3];
    ex_offsets offsets[EXAMPLES];
    ex_weigher_def def;
} space;

static void make_space(space *s, uint32_t seed) {
    *s = (space){
        .axes = {ex_axis_scalar(0, 1, 0), ex_axis_scalar(-10, 10, 0), ex_axis_rotation(EX_AXIS_ROTATION, NULL)}};
    for (int i = 0; i < POINTS; i++) {
        s->points[i][0] = random_number(&seed);
        s->points[i][1] = 10 * random_number(&seed);
        for (int c = 0; c < 4; c++)
            s->points[i][2 + c] = random_number(&seed);
    }
    for (int p = 0; p < ZEROS; p++)
        s->pseudos[p] = (ex_pseudo){.at = s->points[EXAMPLES + p], .weights = s->zero};
    for (int k = 0; k < EXAMPLES; k++) {
        int count = 0;
        for (uint32_t v = 0; v < VERTICES; v++) {
            if (random_number(&seed) > 0.3)
                continue;
            s->vertices[k][count] = v;
            for (int c = 0; c < 3; c++)
                s->deltas[k][count][c] = (float)random_number(&seed);
            count++;
        }
        s->offsets[k] = (ex_offsets){.count = count, .vertices = s->vertices[k], .deltas = &s->deltas[k][0][0]};
    }
    s->def = ex_weigher_def_default();
    s->def.kind = EX_WEIGHER_GAUSSIAN;
    s->def.axes = s->axes;
    s->def.axis_count = 3;
    s->def.example_count = EXAMPLES;
    s->def.points = &s->points[0][0];
    s->def.pseudos = s->pseudos;
    s->def.pseudo_count = ZEROS;
}

/* sum [VERTICES][3] of weighted offsets, minus those of example `own` if it is one. */
static double square_off(const space *s, const double *weights, int own) {
    double sum[VERTICES][3] = {{0}}, square = 0;
    for (int k = 0; k < EXAMPLES; k++)
        for (int i = 0; i < s->offsets[k].count; i++)
            for (int c = 0; c < 3; c++)
                sum[s->vertices[k][i]][c] += (weights[k] - (k == own)) * (double)s->deltas[k][i][c];
    for (int v = 0; v < VERTICES; v++)
        square += sum[v][0] * sum[v][0] + sum[v][1] * sum[v][1] + sum[v][2] * sum[v][2];
    return square;
}

/* Error over all examples with one falloff for all: each point is removed and guessed. */
static double brute_error(const space *s, double falloff) {
    double sum = 0, all = 0;
    const double none[EXAMPLES] = {0};
    for (int left = 0; left < POINTS; left++) {
        double points[EXAMPLES][6], falloffs[POINTS][3], weights[EXAMPLES] = {0}, given[EXAMPLES];
        ex_pseudo pseudos[ZEROS];
        ex_weigher_def def = s->def;
        ex_weigher *weigher = NULL;
        int examples = 0, zeros = 0;
        for (int i = 0; i < POINTS; i++) {
            if (i == left)
                continue;
            if (i < EXAMPLES)
                memcpy(points[examples++], s->points[i], sizeof points[0]);
            else
                pseudos[zeros++] = s->pseudos[i - EXAMPLES];
        }
        for (int i = 0; i < 3 * POINTS; i++)
            falloffs[i / 3][i % 3] = falloff;
        def.points = &points[0][0];
        def.pseudos = pseudos;
        def.example_count = examples;
        def.pseudo_count = zeros;
        def.falloffs = &falloffs[0][0];
        assert_int_equal(ex_weigher_create(&def, NULL, &weigher, NULL), EX_OK);
        ex_weigher_evaluate(weigher, s->points[left], given);
        ex_weigher_destroy(weigher);
        for (int k = 0, at = 0; k < EXAMPLES; k++)
            weights[k] = k == left ? 0 : given[at++];
        sum += square_off(s, weights, left);
        all += left < EXAMPLES ? square_off(s, none, left) : 0;
    }
    return sqrt(sum / all);
}

static void the_choice_is_the_best(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed < 8; seed++) {
        space s;
        exi_falloff_choice choice;
        make_space(&s, seed);
        double *gram = exi_gram_of_offsets(s.offsets, EXAMPLES);
        assert_non_null(gram);
        assert_int_equal(exi_falloff_choose(&s.def, gram, &choice, NULL), EX_OK);
        free(gram);
        assert_non_null(choice.falloffs);
        const double falloff = choice.falloffs[0];
        for (int i = 0; i < 3 * POINTS; i++)
            assert_true(choice.falloffs[i] == falloff);
        assert_true(falloff == choice.factor * choice.usual && choice.factor >= 0.25 && choice.factor <= 8);
        check_near(choice.error, brute_error(&s, falloff), 1e-5 * choice.error);
        check_near(choice.error_usual, brute_error(&s, choice.usual), 1e-5 * choice.error_usual);
        ex_weigher *weigher = NULL;
        s.def.falloffs = choice.falloffs;
        assert_int_equal(ex_weigher_create(&s.def, NULL, &weigher, NULL), EX_OK);
        assert_true(ex_weigher_get_ridge(weigher).ridge == 0);
        ex_weigher_destroy(weigher);
        for (int step = -8; step <= 12; step++) {
            const double other = choice.usual * exp2(step / 4.0);
            double falloffs[3 * POINTS];
            for (int i = 0; i < 3 * POINTS; i++)
                falloffs[i] = other;
            s.def.falloffs = falloffs;
            assert_int_equal(ex_weigher_create(&s.def, NULL, &weigher, NULL), EX_OK);
            if (ex_weigher_get_ridge(weigher).condition < 1e8)
                assert_true(brute_error(&s, other) >= choice.error * (1 - 1e-5));
            ex_weigher_destroy(weigher);
        }
        free(choice.falloffs);
    }
}

/* Wider kernels guess data as smooth as a parabola better: the solve sets the limit. */
static void no_choice_needs_a_ridge(void **state) {
    (void)state;
    enum { COUNT = 12 };
    const ex_axis axis = ex_axis_scalar(0, 1, 0);
    double points[COUNT];
    float deltas[COUNT][3] = {{0}};
    const uint32_t vertex = 0;
    ex_offsets offsets[COUNT];
    for (int k = 0; k < COUNT; k++) {
        points[k] = k / (COUNT - 1.0);
        deltas[k][0] = (float)(1 + points[k] * points[k]);
        offsets[k] = (ex_offsets){.count = 1, .vertices = &vertex, .deltas = deltas[k]};
    }
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_GAUSSIAN;
    def.axes = &axis;
    def.axis_count = 1;
    def.points = points;
    def.example_count = COUNT;
    exi_falloff_choice choice;
    double *gram = exi_gram_of_offsets(offsets, COUNT);
    assert_non_null(gram);
    assert_int_equal(exi_falloff_choose(&def, gram, &choice, NULL), EX_OK);
    free(gram);
    assert_non_null(choice.falloffs);
    assert_true(choice.factor > 1 && choice.factor < 4 && choice.error < choice.error_usual);
    ex_weigher *weigher = NULL;
    def.falloffs = choice.falloffs;
    assert_int_equal(ex_weigher_create(&def, NULL, &weigher, NULL), EX_OK);
    assert_true(ex_weigher_get_ridge(weigher).condition <= EX_CONDITION_LIMIT);
    ex_weigher_destroy(weigher);
    free(choice.falloffs);
}

/* The same numbers as complete rows. */
static void inner_products_agree(void **state) {
    (void)state;
    space s;
    float rows[EXAMPLES][VERTICES][3] = {{{0}}};
    const float *list[EXAMPLES];
    make_space(&s, 3);
    for (int k = 0; k < EXAMPLES; k++) {
        for (int i = 0; i < s.offsets[k].count; i++)
            memcpy(rows[k][s.vertices[k][i]], s.deltas[k][i], sizeof rows[k][0]);
        list[k] = &rows[k][0][0];
    }
    double *sparse = exi_gram_of_offsets(s.offsets, EXAMPLES), *dense = exi_gram_of_rows(list, EXAMPLES, 3 * VERTICES);
    assert_true(sparse && dense);
    for (int i = 0; i < EXAMPLES * EXAMPLES; i++)
        check_near(sparse[i], dense[i], 1e-12);
    free(sparse);
    free(dense);
}

static void given_falloffs_stay(void **state) {
    (void)state;
    space s;
    exi_falloff_choice choice;
    double falloffs[3 * POINTS] = {0};
    make_space(&s, 2);
    falloffs[4] = 0.125;
    s.def.falloffs = falloffs;
    double *gram = exi_gram_of_offsets(s.offsets, EXAMPLES);
    assert_int_equal(exi_falloff_choose(&s.def, gram, &choice, NULL), EX_OK);
    assert_true(choice.falloffs[4] == 0.125 && choice.falloffs[3] == choice.falloffs[0] && choice.falloffs[0] != 0.125);
    free(choice.falloffs);
    /* Two points, without anything to guess, keep the default. */
    s.def.example_count = 2;
    s.def.pseudo_count = 0;
    assert_int_equal(exi_falloff_choose(&s.def, gram, &choice, NULL), EX_OK);
    assert_true(!choice.falloffs && choice.factor == 1);
    memset(gram, 0, EXAMPLES * EXAMPLES * sizeof *gram);
    s.def.example_count = EXAMPLES;
    assert_int_equal(exi_falloff_choose(&s.def, gram, &choice, NULL), EX_OK);
    assert_true(!choice.falloffs && choice.factor == 1);
    free(gram);
}

static void a_ridge_costs_what_it_misses(void **state) {
    (void)state;
    const ex_axis axis = ex_axis_scalar(0, 1, 0);
    const double points[2] = {0, 1};
    ex_weigher_def def = ex_weigher_def_default();
    ex_weigher *weigher = NULL;
    double cost = -1;
    int example = -1;
    def.kind = EX_WEIGHER_GAUSSIAN;
    def.axes = &axis;
    def.axis_count = 1;
    def.points = points;
    def.example_count = 2;
    def.falloffs = (double[]){1, 1};
    assert_int_equal(ex_weigher_create(&def, NULL, &weigher, NULL), EX_OK);
    assert_true(exi_ridge_cost(weigher, &cost, &example));
    assert_true(cost < 1e-12);
    ex_weigher_destroy(weigher);
    /* Phi = 1 a; a 1: with a ridge r the weights at an example are Phi (Phi + r)^-1 = 1 - r (Phi + r)^-1. */
    const double a = exp(-0.5), r = 0.25;
    def.ridge = r;
    assert_int_equal(ex_weigher_create(&def, NULL, &weigher, NULL), EX_OK);
    assert_true(exi_ridge_cost(weigher, &cost, &example));
    check_near(cost, r * (1 + r) / ((1 + r) * (1 + r) - a * a), 1e-12);
    ex_weigher_destroy(weigher);
    /* Of a set with one example only that one is held to anything. */
    def.sets = (uint32_t[]){1, 2};
    def.set_count = 2;
    assert_int_equal(ex_weigher_create(&def, NULL, &weigher, NULL), EX_OK);
    assert_true(exi_ridge_cost(weigher, &cost, &example));
    check_near(cost, r / (1 + r), 1e-12);
    ex_weigher_destroy(weigher);
}

/* ---- through a build ---- */

static char notes[4000];

static void on_note(void *user, const char *text) {
    assert_true(user == notes);
    strncat(notes, text, sizeof notes - strlen(notes) - 2);
    strcat(notes, "\n");
}

static ex_rig *build_noting(const char *weigh, const char *examples) {
    char text[1500];
    const ex_build_options options = {.note = on_note, .note_user = notes};
    ex_rig *rig = NULL;
    ex_error error = {0};
    notes[0] = 0;
    snprintf(text, sizeof text,
             "{'exemplar': 1, 'mesh': 'square.obj', 'layers': [{'name': 'l', 'space': [{'name': 'd', 'min': 0, 'max': "
             "1}], 'weigh': {'kind': 'gaussian', %s}, 'shape': 'offsets', 'examples': [%s]}]}",
             weigh, examples);
    ex_project *project = parse_project(text);
    if (ex_project_build(project, &options, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_project_destroy(project);
    return rig;
}

static void building_says_what_it_did(void **state) {
    (void)state;
    static const char examples[] = "{'name': 'one', 'mesh': 'one.obj', 'at': {'d': 1}}, {'name': 'half', 'mesh': "
                                   "'half.obj', 'at': {'d': 0.5}}, {'name': 'most', 'mesh': 'most.obj', 'at': {'d': "
                                   "0.75}}";
    write_square("square.obj", 0, 0, 0, 0);
    write_square("one.obj", 1, 0, 0, 2);
    write_square("half.obj", 0.5, 0, 0, 1);
    write_square("most.obj", 0.75, 0, 0.01, 1.5);
    ex_rig *rig = build_noting("'falloff': 'auto'", examples);
    if (!strstr(notes, "layer 'l': leave-one-out chose a falloff of "))
        fail_msg("%s", notes);
    ex_axis axis;
    ex_pseudo pseudos[1];
    ex_weigher_def def;
    ex_weigher_describe(ex_rig_weigher(rig, 0), &def, &axis, pseudos);
    assert_true(def.falloffs[0] > 0 && def.falloffs[0] == def.falloffs[3]);
    assert_non_null(strstr(notes, " %, with the default "));
    ex_rig_destroy(rig);
    /* Two that are near each other, for which the usual distance of neighbours reaches too far. */
    rig = build_noting("'falloff': 'auto'",
                       "{'name': 'one', 'mesh': 'one.obj', 'at': {'d': 1}}, {'name': 'half', 'mesh': 'half.obj', 'at': "
                       "{'d': 0.5}}, {'name': 'most', 'mesh': 'most.obj', 'at': {'d': 0.50001}}");
    if (!strstr(notes, " %; the default would need a ridge") || strstr(notes, "inf"))
        fail_msg("%s", notes);
    ex_rig_destroy(rig);
    rig = build_noting("'falloff': 'auto'", "{'name': 'one', 'mesh': 'one.obj', 'at': {'d': 1}}");
    if (!strstr(notes, "layer 'l': 2 points are too few to choose a falloff by leave-one-out"))
        fail_msg("%s", notes);
    ex_rig_destroy(rig);
    rig = build_noting("'falloff': 0.5", examples);
    assert_string_equal(notes, "");
    ex_rig_destroy(rig);
    rig = build_noting("'falloff': 400", examples);
    if (!strstr(notes, "layer 'l': its points can hardly be told apart") || !strstr(notes, "a falloff of 400"))
        fail_msg("%s", notes);
    ex_rig_destroy(rig);
    rig = build_noting("'ridge': 0.01", examples);
    if (!strstr(notes, "layer 'l': with a ridge of 0.01, example '"))
        fail_msg("%s", notes);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_is_the_best),       cmocka_unit_test(no_choice_needs_a_ridge),
        cmocka_unit_test(inner_products_agree),         cmocka_unit_test(given_falloffs_stay),
        cmocka_unit_test(a_ridge_costs_what_it_misses), cmocka_unit_test(building_says_what_it_did),
    };
    return cmocka_run_group_tests_name("author.project.falloff", tests, scratch_set_up, scratch_tear_down);
}
