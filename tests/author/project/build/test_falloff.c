/*
 * Falloffs that are chosen: their error is that of removing points one by one and solving again, their weights are as
 * measured and never swing where they need not, they are no needles, no chosen system needs a ridge; and the cost of a
 * ridge. That no other factor is better is tested by oracle.falloff.
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

/* Error over all examples: each point is removed and guessed, the others keep their falloffs. chosen [POINTS][3]. */
static double brute_error(const space *s, const double *chosen) {
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
            memcpy(falloffs[examples + zeros], chosen + (size_t)(3 * i), sizeof falloffs[0]);
            if (i < EXAMPLES)
                memcpy(points[examples++], s->points[i], sizeof points[0]);
            else
                pseudos[zeros++] = s->pseudos[i - EXAMPLES];
        }
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

/* The lowest and the highest weight at many places of the range. */
static void find_swing(const ex_weigher_def *def, const double *falloffs, double *low, double *high) {
    enum { SAMPLES = 4000, LONGEST = 64 };
    ex_weigher_def own = *def;
    ex_weigher *weigher = NULL;
    double point[6] = {0}, weights[LONGEST];
    uint32_t seed = 77;
    assert_true(def->example_count <= LONGEST);
    own.falloffs = falloffs;
    assert_int_equal(ex_weigher_create(&own, NULL, &weigher, NULL), EX_OK);
    assert_true(ex_weigher_get_ridge(weigher).ridge == 0);
    *low = 0;
    *high = 1;
    for (int i = 0; i < SAMPLES; i++) {
        for (int a = 0, at = 0; a < def->axis_count; a++)
            for (int c = 0; c < ex_axis_width(&def->axes[a]); c++) {
                const ex_axis *axis = &def->axes[a];
                const double x = random_number(&seed);
                point[at++] = axis->kind == EX_AXIS_SCALAR ? axis->min + (axis->max - axis->min) * (x + 1) / 2 : x;
            }
        ex_weigher_evaluate(weigher, point, weights);
        for (int k = 0; k < def->example_count; k++) {
            *low = fmin(*low, weights[k]);
            *high = fmax(*high, weights[k]);
        }
    }
    ex_weigher_destroy(weigher);
}

static void the_choice_is_as_it_says(void **state) {
    (void)state;
    int own = 0;
    for (uint32_t seed = 1; seed < 12; seed++) {
        space s;
        exi_falloff_choice choice;
        double low, high, usual[3 * POINTS];
        make_space(&s, seed);
        double *gram = exi_gram_of_offsets(s.offsets, EXAMPLES);
        assert_non_null(gram);
        assert_int_equal(exi_falloff_choose(&s.def, gram, &choice, NULL), EX_OK);
        free(gram);
        assert_non_null(choice.falloffs);
        for (int i = 0; i < 3 * POINTS; i++) {
            usual[i] = choice.usual;
            assert_true(choice.falloffs[i] == choice.falloffs[i / 3 * 3]); /* the same for all axes */
            if (!choice.own)
                assert_true(choice.falloffs[i] == choice.factor * choice.usual);
        }
        own += choice.own;
        assert_true(choice.factor >= 0.25 && choice.factor <= 8);
        check_near(choice.worth.error, brute_error(&s, choice.falloffs), 1e-5 * choice.worth.error);
        check_near(choice.worth_usual.error, brute_error(&s, usual), 1e-5 * choice.worth_usual.error);
        assert_true(choice.worth.cost <= choice.worth_usual.cost);
        find_swing(&s.def, choice.falloffs, &low, &high);
        check_near(low, choice.worth.low, 0.05);
        check_near(high, choice.worth.high, 0.05);
        assert_true(low > -0.25 && high < 1.25);
        free(choice.falloffs);
    }
    assert_true(own > 0);
}

/* Offsets of one vertex: those of example k of point k. */
typedef struct line {
    ex_axis axes[2];
    double points[64][2], zero[64];
    float deltas[64][3];
    ex_pseudo pseudo;
    ex_weigher_def def;
    ex_offsets offsets[64];
    uint32_t vertices[64];
} line;

static const uint32_t first_vertex = 0;

/* Points on one or two axes from 0 to 1, and rest at 0. points [count][axes]; each example moves the first vertex, or
 * one of its own. */
static void make_line(line *l, int axes, const double *points, int count, bool own_vertices) {
    *l = (line){.axes = {ex_axis_scalar(0, 1, 0), ex_axis_scalar(0, 1, 0)}};
    for (int k = 0; k < count; k++) {
        l->vertices[k] = (uint32_t)k;
        l->deltas[k][0] = 1;
        l->offsets[k] = (ex_offsets){
            .count = 1, .vertices = own_vertices ? &l->vertices[k] : &first_vertex, .deltas = l->deltas[k]};
    }
    l->pseudo = (ex_pseudo){.at = l->points[63], .weights = l->zero};
    l->def = ex_weigher_def_default();
    l->def.kind = EX_WEIGHER_GAUSSIAN;
    l->def.axes = l->axes;
    l->def.axis_count = axes;
    l->def.points = points;
    l->def.example_count = count;
    l->def.pseudos = &l->pseudo;
    l->def.pseudo_count = 1;
}

static exi_falloff_choice choose(const line *l) {
    exi_falloff_choice choice;
    double *gram = exi_gram_of_offsets(l->offsets, l->def.example_count);
    assert_non_null(gram);
    assert_int_equal(exi_falloff_choose(&l->def, gram, &choice, NULL), EX_OK);
    free(gram);
    assert_non_null(choice.falloffs);
    return choice;
}

/* An elbow with sculpts at 30, 60, 80, 100 and 140 degrees. By leave-one-out alone it got weights of -1.41 to 1.56. */
static void an_elbow_does_not_ring(void **state) {
    (void)state;
    enum { COUNT = 5 };
    const double points[COUNT] = {30 / 140.0, 60 / 140.0, 80 / 140.0, 100 / 140.0, 1};
    for (int own_vertices = 0; own_vertices < 2; own_vertices++) {
        line l;
        double low, high, weights[COUNT];
        make_line(&l, 1, points, COUNT, own_vertices);
        for (int k = 0; k < COUNT; k++) {
            l.deltas[k][0] = (float)sin(points[k]);
            l.deltas[k][1] = (float)sin(2 * points[k]);
        }
        exi_falloff_choice choice = choose(&l);
        find_swing(&l.def, choice.falloffs, &low, &high);
        assert_true(choice.own && low > -0.15 && high < 1.15);
        /* Half a step away, examples are not needles. */
        assert_true(choice.worth.dip < 0.2);
        assert_true(choice.worth_usual.low < -0.4 && choice.worth_usual.cost > 3 && choice.worth.cost < 1.1);
        /* Examples stay exact. */
        ex_weigher *weigher = NULL;
        l.def.falloffs = choice.falloffs;
        assert_int_equal(ex_weigher_create(&l.def, NULL, &weigher, NULL), EX_OK);
        for (int k = 0; k < COUNT; k++) {
            ex_weigher_evaluate(weigher, &points[k], weights);
            for (int i = 0; i < COUNT; i++)
                check_near(weights[i], i == k, 1e-12);
        }
        ex_weigher_destroy(weigher);
        free(choice.falloffs);
    }
}

/* On a grid, wide kernels are calm, and smooth forms are predicted as well as leave-one-out alone would. */
static void grids_keep_their_accuracy(void **state) {
    (void)state;
    enum { SIDE = 3, COUNT = SIDE * SIDE - 1 };
    double points[COUNT][2], low, high;
    line l;
    for (int k = 0; k < COUNT; k++) {
        points[k][0] = (k + 1) % SIDE / (SIDE - 1.0);
        points[k][1] = (k + 1) / SIDE / (SIDE - 1.0);
    }
    make_line(&l, 2, &points[0][0], COUNT, false);
    for (int k = 0; k < COUNT; k++) {
        const double x = points[k][0], y = points[k][1];
        l.deltas[k][0] = (float)(x + 0.5 * y + 0.2 * x * x);
        l.deltas[k][1] = (float)(y - 0.3 * x * y);
        l.deltas[k][2] = (float)(0.4 * y * y - x);
    }
    exi_falloff_choice choice = choose(&l);
    find_swing(&l.def, choice.falloffs, &low, &high);
    assert_true(!choice.own && choice.factor > 2 && choice.worth.error < 0.05 && low > -0.2 && high < 1.2);
    free(choice.falloffs);
}

/* Wider kernels guess data as smooth as a parabola better: the weights and the solve set the limit. */
static void no_choice_needs_a_ridge(void **state) {
    (void)state;
    enum { COUNT = 12 };
    double points[COUNT], low, high;
    line l;
    for (int k = 0; k < COUNT; k++)
        points[k] = k / (COUNT - 1.0);
    make_line(&l, 1, points, COUNT, false);
    l.def.pseudo_count = 0;
    for (int k = 0; k < COUNT; k++)
        l.deltas[k][0] = (float)(1 + points[k] * points[k]);
    exi_falloff_choice choice = choose(&l);
    ex_weigher *weigher = NULL;
    find_swing(&l.def, choice.falloffs, &low, &high);
    assert_true(low > -0.2 && high < 1.2 && choice.worth.error < 0.6);
    l.def.falloffs = choice.falloffs;
    assert_int_equal(ex_weigher_create(&l.def, NULL, &weigher, NULL), EX_OK);
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
    assert_true(choice.falloffs[4] == 0.125 && choice.falloffs[3] == choice.falloffs[5] && choice.falloffs[3] != 0.125);
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
    if (!strstr(notes, "layer 'l': \"auto\" chose "))
        fail_msg("%s", notes);
    ex_axis axis;
    ex_pseudo pseudos[1];
    ex_weigher_def def;
    ex_weigher_describe(ex_rig_weigher(rig, 0), &def, &axis, pseudos);
    assert_true(def.falloffs[0] > 0 && def.falloffs[1] > 0 && def.falloffs[3] > 0);
    assert_non_null(strstr(notes, " inside the range, leave-one-out error "));
    assert_non_null(strstr(notes, " % (with the default: "));
    ex_rig_destroy(rig);
    assert_null(strstr(notes, "no falloff is calmer"));
    /* Falloffs of examples stay, so that nothing is calm. */
    rig = build_noting("'falloff': 'auto'",
                       "{'name': 'one', 'mesh': 'one.obj', 'at': {'d': 1}, 'falloff': 2}, {'name': 'half', 'mesh': "
                       "'half.obj', 'at': {'d': 0.5}, 'falloff': 2}, {'name': 'most', 'mesh': 'most.obj', 'at': {'d': "
                       "0.6}, 'falloff': 2}");
    if (!strstr(notes, "; no falloff is calmer, but \"kind\": \"calm\" may be: 'exemplar check' tries it\n"))
        fail_msg("%s", notes);
    ex_rig_destroy(rig);
    /* Two that are near each other, for which the usual distance of neighbours reaches too far. */
    rig = build_noting("'falloff': 'auto'",
                       "{'name': 'one', 'mesh': 'one.obj', 'at': {'d': 1}}, {'name': 'half', 'mesh': 'half.obj', 'at': "
                       "{'d': 0.5}}, {'name': 'most', 'mesh': 'most.obj', 'at': {'d': 0.50001}}");
    if (!strstr(notes, " % (the default would need a ridge)") || strstr(notes, "inf"))
        fail_msg("%s", notes);
    ex_rig_destroy(rig);
    rig = build_noting("'falloff': 'auto'", "{'name': 'one', 'mesh': 'one.obj', 'at': {'d': 1}}");
    if (!strstr(notes, "layer 'l': 2 points are too few to choose a falloff;"))
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
        cmocka_unit_test(the_choice_is_as_it_says),     cmocka_unit_test(an_elbow_does_not_ring),
        cmocka_unit_test(grids_keep_their_accuracy),    cmocka_unit_test(no_choice_needs_a_ridge),
        cmocka_unit_test(inner_products_agree),         cmocka_unit_test(given_falloffs_stay),
        cmocka_unit_test(a_ridge_costs_what_it_misses), cmocka_unit_test(building_says_what_it_did),
    };
    return cmocka_run_group_tests_name("author.project.falloff", tests, scratch_set_up, scratch_tear_down);
}
