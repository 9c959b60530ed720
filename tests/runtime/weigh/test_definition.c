/*
 * Every error of a weigher's definition gives its result and a sentence that names it; failing memory gives
 * EX_ERROR_MEMORY and no leak.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/spaces.h"

#include <math.h>
#include <string.h>

enum { EXAMPLES = 5 };

static const char *const names[EXAMPLES] = {"straight", "bent", "fat", "thin", "tall"};

static void open_space(sample_space *s) {
    sample_space_mixed(s, EXAMPLES, 70);
    s->def.names = names;
    sample_space_add_pseudo(s, (double[]){0, 0, 1, 0, 33, 0, 1, 0, 0, 1, 0, 0, 0}, s->points + s->dimension);
}

static void no_kind(sample_space *s) {
    s->def.kind = (ex_weigher_kind)9;
}
static void no_axes(sample_space *s) {
    s->def.axis_count = 0;
}
static void fewer_than_no_axes(sample_space *s) {
    s->def.axis_count = -1;
}
static void null_axes(sample_space *s) {
    s->def.axes = NULL;
}
static void many_axes(sample_space *s) {
    s->def.axis_count = EX_AXIS_MAX + 1;
}
static void no_examples(sample_space *s) {
    s->def.example_count = 0;
}
static void fewer_than_no_examples(sample_space *s) {
    s->def.example_count = -3;
}
static void many_examples(sample_space *s) {
    s->def.example_count = INT32_MAX;
}
static void fewer_than_no_pseudos(sample_space *s) {
    s->def.pseudo_count = -1;
}
static void many_pseudos(sample_space *s) {
    s->def.pseudo_count = INT32_MAX;
}
static void null_points(sample_space *s) {
    s->def.points = NULL;
}
static void null_pseudos(sample_space *s) {
    s->def.pseudos = NULL;
}
static void unknown_axis_kind(sample_space *s) {
    s->axes[2].kind = EX_AXIS_KIND_COUNT;
}
static void negative_scale(sample_space *s) {
    s->axes[3].scale = -1;
}
static void scale_not_finite(sample_space *s) {
    s->axes[3].scale = NAN;
}
static void min_not_finite(sample_space *s) {
    s->axes[1].min = -INFINITY;
}
static void max_not_finite(sample_space *s) {
    s->axes[1].max = NAN;
}
static void rest_not_finite(sample_space *s) {
    s->axes[1].rest = NAN;
}
static void empty_range(sample_space *s) {
    s->axes[1].max = s->axes[1].min;
}
static void range_upside_down(sample_space *s) {
    s->axes[1].max = s->axes[1].min - 1;
}
static void range_too_wide(sample_space *s) {
    s->axes[1].min = -1.7e308;
    s->axes[1].max = 1.7e308;
}
static void rest_rotation_not_finite(sample_space *s) {
    s->axes[0].rest_rotation[2] = NAN;
}
static void direction_not_finite(sample_space *s) {
    s->axes[2].about[0] = INFINITY;
}
static void swing_about_nothing(sample_space *s) {
    memset(s->axes[2].about, 0, sizeof s->axes[2].about);
}
static void twist_about_nothing(sample_space *s) {
    memset(s->axes[3].about, 0, sizeof s->axes[3].about);
}
static void point_not_finite(sample_space *s) {
    s->points[2 * s->dimension + 4] = NAN;
}
static void nameless_point_not_finite(sample_space *s) {
    point_not_finite(s);
    s->def.names = NULL;
}
static void pseudo_without_place(sample_space *s) {
    s->pseudos[0].at = NULL;
}
static void pseudo_without_source(sample_space *s) {
    s->pseudos[0].from = NULL;
}
static void pseudo_with_two_sources(sample_space *s) {
    s->pseudos[0].weights = s->points;
}
static void pseudo_place_not_finite(sample_space *s) {
    s->at[4] = NAN;
}
static void pseudo_source_not_finite(sample_space *s) {
    s->from[4] = INFINITY;
}
static void pseudo_weights_not_finite(sample_space *s) {
    static const double row[EXAMPLES] = {0, 0, 0, 0, NAN};
    s->pseudos[0].from = NULL;
    s->pseudos[0].weights = row;
}
static void no_kernel(sample_space *s) {
    s->def.kernel = EX_KERNEL_COUNT;
}
static void no_radius(sample_space *s) {
    s->def.radius = 0;
}
static void radius_not_finite(sample_space *s) {
    s->def.radius = INFINITY;
}
static void negative_ridge(sample_space *s) {
    s->def.ridge = -1e-9;
}
static void ridge_not_finite(sample_space *s) {
    s->def.ridge = NAN;
}
static void thin_plate_alone(sample_space *s) {
    s->def.kernel = EX_KERNEL_THIN_PLATE;
    s->def.linear = false;
}
static void triharmonic_alone(sample_space *s) {
    s->def.kernel = EX_KERNEL_TRIHARMONIC;
    s->def.linear = false;
}
static void no_power(sample_space *s) {
    s->def.kind = EX_WEIGHER_SHEPARD;
    s->def.power = 0;
}
static void power_not_finite(sample_space *s) {
    s->def.kind = EX_WEIGHER_SHEPARD;
    s->def.power = NAN;
}
static void no_neighbours(sample_space *s) {
    s->def.kind = EX_WEIGHER_NEAREST;
    s->def.neighbours = 0;
}
static void many_neighbours(sample_space *s) {
    s->def.kind = EX_WEIGHER_NEAREST;
    s->def.neighbours = EX_NEIGHBOUR_MAX + 1;
}
static void make_direct(sample_space *s) {
    s->def.kind = EX_WEIGHER_DIRECT;
    s->def.pseudo_count = 0;
    s->def.points = NULL;
    s->def.axis_count = s->def.example_count = 3;
    for (int i = 0; i < 3; i++)
        s->axes[i] = ex_axis_scalar(0, 1, 0);
}
static void direct_with_rotation(sample_space *s) {
    make_direct(s);
    s->axes[1] = ex_axis_rotation(EX_AXIS_TWIST, NULL);
}
static void direct_with_other_count(sample_space *s) {
    make_direct(s);
    s->def.example_count = 2;
}
static void direct_with_pseudo(sample_space *s) {
    make_direct(s);
    s->def.pseudo_count = 1;
}
static void put_at_one_place(sample_space *s) {
    memcpy(s->points + 3 * s->dimension, s->points + s->dimension, (size_t)s->dimension * sizeof(double));
}
static void one_place(sample_space *s) {
    put_at_one_place(s);
}
static void one_place_shepard(sample_space *s) {
    put_at_one_place(s);
    s->def.kind = EX_WEIGHER_SHEPARD;
}
static void one_place_nearest(sample_space *s) {
    put_at_one_place(s);
    s->def.kind = EX_WEIGHER_NEAREST;
}
static void one_place_gaussian(sample_space *s) {
    put_at_one_place(s);
    s->def.kind = EX_WEIGHER_GAUSSIAN;
}
static void one_place_other_sign(sample_space *s) {
    put_at_one_place(s);
    for (int k = 0; k < 4; k++)
        s->points[3 * s->dimension + k] *= -1;
}
static void one_place_with_pseudo(sample_space *s) {
    memcpy(s->at, s->points, (size_t)s->dimension * sizeof(double));
}
static void one_place_of_pseudos(sample_space *s) {
    sample_space_add_pseudo(s, s->at, s->points);
}

static const struct {
    void (*spoil)(sample_space *s);
    ex_result result;
    const char *words[2];
} cases[] = {
    {no_kind, EX_ERROR_ARGUMENT, {"kind 9"}},
    {no_axes, EX_ERROR_ARGUMENT, {"at least one axis"}},
    {fewer_than_no_axes, EX_ERROR_ARGUMENT, {"at least one axis"}},
    {null_axes, EX_ERROR_ARGUMENT, {"axis"}},
    {many_axes, EX_ERROR_LIMIT, {"256", "257"}},
    {no_examples, EX_ERROR_ARGUMENT, {"at least one example"}},
    {fewer_than_no_examples, EX_ERROR_ARGUMENT, {"at least one example"}},
    {many_examples, EX_ERROR_LIMIT, {"at most"}},
    {fewer_than_no_pseudos, EX_ERROR_ARGUMENT, {"pseudo-examples"}},
    {many_pseudos, EX_ERROR_LIMIT, {"at most"}},
    {null_points, EX_ERROR_ARGUMENT, {"missing"}},
    {null_pseudos, EX_ERROR_ARGUMENT, {"missing"}},
    {unknown_axis_kind, EX_ERROR_ARGUMENT, {"axis 2", "kind 5"}},
    {negative_scale, EX_ERROR_ARGUMENT, {"axis 3", "scale -1"}},
    {scale_not_finite, EX_ERROR_ARGUMENT, {"axis 3", "scale"}},
    {min_not_finite, EX_ERROR_DATA, {"axis 1", "finite"}},
    {max_not_finite, EX_ERROR_DATA, {"axis 1", "finite"}},
    {rest_not_finite, EX_ERROR_DATA, {"axis 1", "rest"}},
    {empty_range, EX_ERROR_ARGUMENT, {"axis 1", "greater"}},
    {range_upside_down, EX_ERROR_ARGUMENT, {"axis 1", "greater"}},
    {range_too_wide, EX_ERROR_ARGUMENT, {"axis 1"}},
    {rest_rotation_not_finite, EX_ERROR_DATA, {"axis 0", "rest rotation"}},
    {direction_not_finite, EX_ERROR_DATA, {"axis 2", "direction"}},
    {swing_about_nothing, EX_ERROR_ARGUMENT, {"axis 2", "zero"}},
    {twist_about_nothing, EX_ERROR_ARGUMENT, {"axis 3", "zero"}},
    {point_not_finite, EX_ERROR_DATA, {"'fat'", "number 5"}},
    {nameless_point_not_finite, EX_ERROR_DATA, {"example 3", "number 5"}},
    {pseudo_without_place, EX_ERROR_ARGUMENT, {"pseudo-example 1"}},
    {pseudo_without_source, EX_ERROR_ARGUMENT, {"pseudo-example 1"}},
    {pseudo_with_two_sources, EX_ERROR_ARGUMENT, {"pseudo-example 1", "either"}},
    {pseudo_place_not_finite, EX_ERROR_DATA, {"pseudo-example 1"}},
    {pseudo_source_not_finite, EX_ERROR_DATA, {"pseudo-example 1"}},
    {pseudo_weights_not_finite, EX_ERROR_DATA, {"pseudo-example 1"}},
    {no_kernel, EX_ERROR_ARGUMENT, {"kernel 8"}},
    {no_radius, EX_ERROR_ARGUMENT, {"radius 0"}},
    {radius_not_finite, EX_ERROR_ARGUMENT, {"radius"}},
    {negative_ridge, EX_ERROR_ARGUMENT, {"ridge"}},
    {ridge_not_finite, EX_ERROR_ARGUMENT, {"ridge"}},
    {thin_plate_alone, EX_ERROR_ARGUMENT, {"thin_plate", "linear"}},
    {triharmonic_alone, EX_ERROR_ARGUMENT, {"triharmonic", "linear"}},
    {no_power, EX_ERROR_ARGUMENT, {"power 0"}},
    {power_not_finite, EX_ERROR_ARGUMENT, {"power"}},
    {no_neighbours, EX_ERROR_ARGUMENT, {"k 0: must be"}},
    {many_neighbours, EX_ERROR_ARGUMENT, {"k 65: must be"}},
    {direct_with_rotation, EX_ERROR_ARGUMENT, {"axis 1", "direct"}},
    {direct_with_other_count, EX_ERROR_ARGUMENT, {"3 axes", "2 examples"}},
    {direct_with_pseudo, EX_ERROR_ARGUMENT, {"direct", "pseudo-example"}},
    {one_place, EX_ERROR_SINGULAR, {"'bent'", "'thin'"}},
    {one_place_other_sign, EX_ERROR_SINGULAR, {"'bent'", "'thin'"}},
    {one_place_shepard, EX_ERROR_SINGULAR, {"'bent'", "'thin'"}},
    {one_place_nearest, EX_ERROR_SINGULAR, {"'bent'", "'thin'"}},
    {one_place_gaussian, EX_ERROR_SINGULAR, {"'bent'", "'thin'"}},
    {one_place_with_pseudo, EX_ERROR_SINGULAR, {"'straight'", "pseudo-example 1"}},
    {one_place_of_pseudos, EX_ERROR_SINGULAR, {"pseudo-example 1", "pseudo-example 2"}},
};

static void every_mistake_has_its_sentence(void **state) {
    (void)state;
    failing_allocator f;
    failing_allocator_open(&f);
    int failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample_space s;
        open_space(&s);
        cases[i].spoil(&s);
        ex_weigher *weigher = NULL;
        ex_error error = {0};
        ex_result result = ex_weigher_create(&s.def, &f.allocator, &weigher, &error);
        if (result != cases[i].result || weigher || !strstr(error.text, cases[i].words[0])) {
            print_error("case %zu ('%s'): result %d, '%s'\n", i, cases[i].words[0], (int)result, error.text);
            failed++;
            ex_weigher_destroy(weigher);
            continue;
        }
        assert_sentence(&error, cases[i].result, cases[i].words[1] ? cases[i].words[1] : cases[i].words[0]);
        assert_int_equal(ex_weigher_create(&s.def, &f.allocator, &weigher, NULL), cases[i].result);
        failing_allocator_close(&f);
    }
    assert_int_equal(failed, 0);
}

static void the_unspoilt_space_is_fine(void **state) {
    (void)state;
    sample_space s;
    open_space(&s);
    ex_weigher_destroy(weigher_of(&s.def));
    make_direct(&s);
    ex_weigher_destroy(weigher_of(&s.def));
}

/* Names of 255 bytes, of which no character may be cut in the middle. */
static void long_names_stay_readable(void **state) {
    (void)state;
    char long_names[2][256] = {"x", "yz"};
    for (int i = 0; i < 2; i++)
        while (strlen(long_names[i]) < 253)
            strcat(long_names[i], "\xC3\xA4");
    const char *both[EXAMPLES] = {"a", long_names[0], "c", long_names[1], "e"};
    sample_space s;
    open_space(&s);
    s.def.names = both;
    put_at_one_place(&s);
    ex_weigher *weigher = NULL;
    ex_error error = {0};
    assert_int_equal(ex_weigher_create(&s.def, NULL, &weigher, &error), EX_ERROR_SINGULAR);
    assert_sentence(&error, EX_ERROR_SINGULAR, "x\xC3\xA4");
    assert_sentence(&error, EX_ERROR_SINGULAR, "yz\xC3\xA4");
    assert_sentence(&error, EX_ERROR_SINGULAR, "at the same place");
}

/* Two poses that are nearly equal through wide kernels: no solution, and the sentence says what to try. */
static void a_system_without_solution_is_told(void **state) {
    (void)state;
    sample_space s;
    sample_space_scalars(&s, 1, 20, 71);
    s.def.kernel = EX_KERNEL_GAUSSIAN;
    s.def.radius = 1e4;
    ex_weigher *weigher = NULL;
    ex_error error = {0};
    assert_int_equal(ex_weigher_create(&s.def, NULL, &weigher, &error), EX_ERROR_SINGULAR);
    assert_null(weigher);
    assert_sentence(&error, EX_ERROR_SINGULAR, "gaussian");
    assert_sentence(&error, EX_ERROR_SINGULAR, "ridge");
    s.def.ridge = 1e-6; /* and it helps */
    ex_weigher_destroy(weigher_of(&s.def));
}

static ex_result create(void *context, const ex_allocator *allocator) {
    ex_weigher *weigher = NULL;
    ex_error error = {0};
    ex_result result = ex_weigher_create(context, allocator, &weigher, &error);
    assert_true((result == EX_OK) == (weigher != NULL));
    if (result != EX_OK)
        assert_sentence(&error, EX_ERROR_MEMORY, "memory");
    ex_weigher_destroy(weigher);
    return result;
}

static ex_result edit(void *context, const ex_allocator *allocator) {
    static const double at[13] = {1, 0, 0, 0, 70, 1, 0, 0, 0, 1, 0, 0, 0};
    const ex_edit edits[] = {{.kind = EX_EDIT_ADD_PSEUDO, .at = at, .from = at},
                             {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = 1}};
    ex_weigher *edited = NULL;
    ex_result result = ex_weigher_edit(context, edits, 2, allocator, &edited, NULL);
    ex_weigher_destroy(edited);
    return result;
}

static ex_result measure(void *context, const ex_allocator *allocator) {
    double condition = 0;
    return ex_weigher_condition(context, allocator, &condition, NULL);
}

static void memory_runs_out(void **state) {
    (void)state;
    static const ex_weigher_kind kinds[] = {EX_WEIGHER_CARDINAL, EX_WEIGHER_GAUSSIAN, EX_WEIGHER_SHEPARD,
                                            EX_WEIGHER_NEAREST};
    for (int i = 0; i < 4; i++)
        for (int kernel = 0; kernel < 2; kernel++) {
            sample_space s;
            open_space(&s);
            s.def.kind = kinds[i];
            s.def.kernel = kernel ? EX_KERNEL_BIHARMONIC : EX_KERNEL_BSPLINE;
            assert_true(failing_allocator_sweep(create, &s.def) >= 2);
            ex_weigher *weigher = weigher_of(&s.def);
            assert_true(failing_allocator_sweep(edit, weigher) >= 3);
            int measured = failing_allocator_sweep(measure, weigher);
            assert_true(i > 1 ? measured == 0 : measured >= 1);
            ex_weigher_destroy(weigher);
        }
    sample_space s;
    open_space(&s);
    make_direct(&s);
    assert_int_equal(failing_allocator_sweep(create, &s.def), 1);
}

/* Only one block is held, and evaluation allocates nothing. */
static void one_block_is_kept(void **state) {
    (void)state;
    sample_space s;
    open_space(&s);
    failing_allocator f;
    failing_allocator_open(&f);
    ex_weigher *weigher = NULL;
    assert_int_equal(ex_weigher_create(&s.def, &f.allocator, &weigher, NULL), EX_OK);
    assert_int_equal(f.live, 1);
    assert_int_equal((uintptr_t)weigher % 64, 0);
    failing_allocator_arm(&f, 0);
    double weights[EXAMPLES];
    ex_weigher_evaluate(weigher, s.points, weights);
    assert_int_equal(f.made, 0);
    ex_weigher_destroy(weigher);
    ex_weigher_destroy(NULL);
    failing_allocator_close(&f);
}

static void names_of_kinds_and_kernels(void **state) {
    (void)state;
    assert_string_equal(ex_kernel_name(EX_KERNEL_BSPLINE), "bspline");
    assert_string_equal(ex_kernel_name(EX_KERNEL_MULTIQUADRIC), "multiquadric");
    assert_string_equal(ex_kernel_name(EX_KERNEL_COUNT), "unknown kernel");
    assert_string_equal(ex_weigher_kind_name(EX_WEIGHER_CARDINAL), "cardinal");
    assert_string_equal(ex_weigher_kind_name(EX_WEIGHER_NEAREST), "nearest");
    assert_string_equal(ex_weigher_kind_name((ex_weigher_kind)-1), "unknown weigher");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_has_its_sentence),
        cmocka_unit_test(the_unspoilt_space_is_fine),
        cmocka_unit_test(long_names_stay_readable),
        cmocka_unit_test(a_system_without_solution_is_told),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(one_block_is_kept),
        cmocka_unit_test(names_of_kinds_and_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
