/*
 * The tables of the kinds of weigher: their entries are sound, and everything made from them (defaults, checks, blocks
 * and back, stored weighers) agrees with them, for every parameter of every kind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/weigh/weigher.h"
#include "support/check.h"
#include "support/spaces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every parameter of every kind, one after the other. */
#define FOR_EACH_PARAMETER(kind, p)                                                                                    \
    for (int kind = 0; kind < ex_weigher_kind_count(); kind++)                                                         \
        for (const ex_parameter *p = ex_weigher_kind_info((ex_weigher_kind)kind)->parameters,                          \
                                *p##_end = p + ex_weigher_kind_info((ex_weigher_kind)kind)->parameter_count;           \
             p < p##_end; p++)

static void tables_are_sound(void **state) {
    (void)state;
    assert_int_equal(ex_weigher_kind_count(), EX_WEIGHER_COUNT);
    for (int kind = 0; kind < EX_WEIGHER_COUNT; kind++) {
        const ex_weigher_info *info = ex_weigher_kind_info((ex_weigher_kind)kind);
        assert_true(strlen(info->help) > 10);
        assert_true(info->has_points || info->is_predicted ||
                    !(info->has_falloffs || info->has_sets || info->is_driven));
        assert_true(info->is_driven || !info->is_predicted);
        assert_true(info->has_condition == (exi_weigher_kind_of((uint32_t)kind)->condition != NULL));
        assert_true(info->has_sets == (exi_weigher_kind_of((uint32_t)kind)->evaluate_sets != NULL));
        for (int i = 0; i < info->parameter_count; i++)
            for (int j = 0; j < i; j++) {
                assert_string_not_equal(info->parameters[i].name, info->parameters[j].name);
                assert_true(info->parameters[i].offset != info->parameters[j].offset);
            }
    }
    FOR_EACH_PARAMETER(kind, p) {
        assert_true(strlen(p->help) > 10 && p->help[strlen(p->help) - 1] == '.');
        assert_true(p->offset + p->size <= sizeof(ex_weigher_def));
        assert_int_equal(ex_parameter_check(p, p->preset, NULL), EX_OK);
        const bool number = p->type == EX_PARAMETER_NUMBER || p->type == EX_PARAMETER_WHOLE;
        assert_true(number ? p->usual[0] < p->usual[1] && p->usual[0] >= p->least : p->usual[1] == 0);
        assert_true((p->type == EX_PARAMETER_CHOICE) == (p->word_count > 0));
        assert_int_equal(p->size, p->type == EX_PARAMETER_NUMBER                   ? sizeof(double)
                                  : p->type == EX_PARAMETER_SWITCH || p->size == 1 ? sizeof(bool)
                                                                                   : sizeof(int));
        for (int w = 0; w < p->word_count; w++)
            assert_true(strlen(p->words[w].name) > 0 && strlen(p->words[w].help) > 0);
    }
    const ex_weigher_info *none = ex_weigher_kind_info((ex_weigher_kind)EX_WEIGHER_COUNT);
    assert_true(none->parameter_count == 0 && !none->has_points && !none->is_driven);
}

/* A field that two kinds share has the same meaning. */
static void shared_fields_agree(void **state) {
    (void)state;
    FOR_EACH_PARAMETER(a, p) {
        FOR_EACH_PARAMETER(b, q) {
            if (p->offset != q->offset)
                continue;
            assert_string_equal(p->name, q->name);
            assert_true(p->type == q->type && p->preset == q->preset);
        }
    }
}

static void the_default_is_of_presets(void **state) {
    (void)state;
    const ex_weigher_def def = ex_weigher_def_default();
    assert_int_equal(def.kind, EX_WEIGHER_CARDINAL);
    FOR_EACH_PARAMETER(kind, p)
    assert_true(ex_parameter_get(p, &def) == p->preset);
    /* Unchanged from earlier versions. */
    assert_true(def.kernel == EX_KERNEL_BSPLINE && def.linear && def.radius == 1 && def.ridge == 0 && def.power == 2 &&
                def.neighbours == 8 && !def.paper_form);
}

/* A value that is allowed and not the default; the bounds; and some that are not allowed. */
static double another_value(const ex_parameter *p) {
    if (p->type == EX_PARAMETER_SWITCH)
        return p->preset == 0;
    if (p->type == EX_PARAMETER_CHOICE)
        return p->preset == 0 ? p->word_count - 1 : 0;
    return p->type == EX_PARAMETER_WHOLE ? p->preset + (p->preset < p->most ? 1 : -1)
                                         : 0.5 * (p->usual[0] + (isfinite(p->usual[1]) ? p->usual[1] : 1));
}

static void values_go_in_and_out(void **state) {
    (void)state;
    FOR_EACH_PARAMETER(kind, p) {
        ex_weigher_def def = ex_weigher_def_default(), before = def;
        ex_parameter_set(p, &def, another_value(p));
        assert_true(ex_parameter_get(p, &def) == another_value(p) && another_value(p) != p->preset);
        ex_parameter_set(p, &def, p->preset);
        assert_memory_equal(&def, &before, sizeof def);
    }
}

static void expect_refusal(const ex_parameter *p, double value, const char *part) {
    ex_error error = {0};
    if (ex_parameter_check(p, value, &error) != EX_ERROR_ARGUMENT || !strstr(error.text, part))
        fail_msg("%s %g: '%s' was expected, not '%s'", p->name, value, part, error.text);
}

static void ranges_are_kept(void **state) {
    (void)state;
    FOR_EACH_PARAMETER(kind, p) {
        const bool number = p->type == EX_PARAMETER_NUMBER || p->type == EX_PARAMETER_WHOLE;
        expect_refusal(p, NAN, "must ");
        expect_refusal(p, INFINITY, "must ");
        expect_refusal(p, (number ? p->least : 0) - 1, "must ");
        if (p->type != EX_PARAMETER_NUMBER)
            expect_refusal(p, 0.5, "must ");
        if (p->type == EX_PARAMETER_CHOICE)
            expect_refusal(p, p->word_count, p->words[0].name);
        if (!number)
            continue;
        assert_int_equal(ex_parameter_check(p, p->least, NULL), p->above ? EX_ERROR_ARGUMENT : EX_OK);
        if (isfinite(p->most)) {
            assert_int_equal(ex_parameter_check(p, p->most, NULL), EX_OK);
            expect_refusal(p, p->most + 1, "must ");
        }
    }
}

/* The sentence of the first parameter of a kind, with a range made by the test. */
static void sentences_say_the_range(void **state) {
    (void)state;
    ex_parameter p = {.name = "x", .least = 0, .most = INFINITY, .above = true};
    expect_refusal(&p, 0, "must be above 0");
    p.above = false;
    expect_refusal(&p, -1, "must not be negative");
    p.least = 2;
    expect_refusal(&p, 1, "must be at least 2");
    p.most = 5;
    expect_refusal(&p, 6, "must be 2 to 5");
    p.above = true;
    expect_refusal(&p, 2, "must be above 2 and at most 5");
    p.type = EX_PARAMETER_WHOLE;
    p.above = false;
    expect_refusal(&p, 2.5, "must be a whole number 2 to 5");
}

static void values_are_put_into_words(void **state) {
    (void)state;
    const ex_weigher_info *info = ex_weigher_kind_info(EX_WEIGHER_CARDINAL);
    static const char *const words[] = {"triharmonic", "not linear", "radius 1.5", "ridge 0"};
    const double values[] = {EX_KERNEL_TRIHARMONIC, 0, 1.5, 0};
    char text[40];
    assert_int_equal(info->parameter_count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ex_parameter_text(&info->parameters[i], values[i], text, sizeof text), strlen(words[i]));
        assert_string_equal(text, words[i]);
    }
    for (int k = 0; k < EX_KERNEL_COUNT; k++)
        assert_string_equal(info->parameters[0].words[k].name, ex_kernel_name((ex_kernel)k));
}

/* Every kind over a space, with each of its parameters different from its default: the block gives it back, and a
 * stored one that is out of range is refused. */
static void blocks_hold_what_was_given(void **state) {
    (void)state;
    FOR_EACH_PARAMETER(kind, p) {
        sample_space s;
        sample_space_mixed(&s, 5, 70);
        s.def.kind = (ex_weigher_kind)kind;
        ex_parameter_set(p, &s.def, another_value(p));
        ex_weigher *weigher = NULL, *copy = NULL;
        ex_error error = {0};
        if (ex_weigher_kind_info(s.def.kind)->is_driven)
            continue; /* test_convex_space.c */
        if (ex_weigher_create(&s.def, NULL, &weigher, &error) != EX_OK)
            fail_msg("%s %s: %s", ex_weigher_kind_name(s.def.kind), p->name, error.text);
        ex_weigher_def back;
        ex_weigher_describe(weigher, &back, NULL, NULL);
        assert_true(ex_parameter_get(p, &back) == another_value(p));
        const size_t size = (size_t)weigher->size;
        assert_int_equal(exi_weigher_validate(weigher, size, NULL), EX_OK);
        assert_true(ex_weigher_get_info(weigher) == ex_weigher_kind_info(s.def.kind));
        copy = malloc(size);
        assert_non_null(copy);
        int found = 0;
        /* Numbers in the head or after the features, whichever holds the value, changed. */
        for (size_t at = 0; p->type == EX_PARAMETER_NUMBER && at < size; at += sizeof(double)) {
            double value = another_value(p);
            memcpy(copy, weigher, size);
            if (memcmp((char *)copy + at, &value, sizeof value) != 0)
                continue;
            value = p->least - 1;
            memcpy((char *)copy + at, &value, sizeof value);
            const size_t own = (size_t)((char *)exi_own_parameters(copy) - (char *)copy);
            const size_t own_end = own + (size_t)exi_own_parameter_count(copy->kind) * sizeof(double);
            if (at < sizeof *copy || (at >= own && at < own_end)) {
                assert_int_equal(exi_weigher_validate(copy, size, NULL), EX_ERROR_DATA);
                found++;
            }
        }
        assert_true(found == 1 || p->type != EX_PARAMETER_NUMBER);
        free(copy);
        ex_weigher_destroy(weigher);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_sound),          cmocka_unit_test(shared_fields_agree),
        cmocka_unit_test(the_default_is_of_presets), cmocka_unit_test(values_go_in_and_out),
        cmocka_unit_test(ranges_are_kept),           cmocka_unit_test(sentences_say_the_range),
        cmocka_unit_test(values_are_put_into_words), cmocka_unit_test(blocks_hold_what_was_given),
    };
    return cmocka_run_group_tests_name("runtime.weigh.kinds", tests, NULL, NULL);
}
