/*
 * Colours: round trips, maps whose lightness only rises, and categories that stay distinct also for people who lack one
 * kind of cones, simulated by the matrices that G. Machado, M. Oliveira and L. Fernandes published ("A
 * Physiologically-based Model for Simulation of Color Vision Deficiency", 2009; severity 1).
 */
#include "support/check.h"

#include <exemplar/author/colour.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static double distance(ex_colour a, ex_colour b) {
    double p[3], q[3];
    ex_colour_to_oklab(a, p);
    ex_colour_to_oklab(b, q);
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
}

static double lightness(ex_colour colour) {
    double lab[3];
    ex_colour_to_oklab(colour, lab);
    return lab[0];
}

static double decode(double u) {
    return u <= 0.04045 ? u / 12.92 : pow((u + 0.055) / 1.055, 2.4);
}

static unsigned char encode(double x) {
    x = x < 0 ? 0 : x > 1 ? 1 : x;
    return (unsigned char)(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055) + 0.5);
}

static const double deuteranopia[9] = {0.367322, 0.860646,  -0.227968, 0.280085, 0.672501,
                                       0.047413, -0.011820, 0.042940,  0.968881};
static const double protanopia[9] = {0.152286, 1.052583,  -0.204868, 0.114503, 0.786281,
                                     0.099216, -0.003882, -0.048116, 1.051998};

static ex_colour seen_with(const double m[9], ex_colour c) {
    const double r = decode(c.red / 255.0), g = decode(c.green / 255.0), b = decode(c.blue / 255.0);
    return (ex_colour){encode(m[0] * r + m[1] * g + m[2] * b), encode(m[3] * r + m[4] * g + m[5] * b),
                       encode(m[6] * r + m[7] * g + m[8] * b), 1};
}

static void goes_there_and_back(void **state) {
    (void)state;
    for (unsigned code = 0; code < 0x1000000; code += 0x010307 * 3) {
        const ex_colour colour = ex_colour_hex(code & 0xFFFFFF);
        double lab[3];
        ex_colour_to_oklab(colour, lab);
        const ex_colour back = ex_colour_from_oklab(lab);
        assert_near(back.red, colour.red, 1);
        assert_near(back.green, colour.green, 1);
        assert_near(back.blue, colour.blue, 1);
    }
    double white[3];
    ex_colour_to_oklab(ex_colour_hex(0xFFFFFF), white);
    assert_row_near(white, ((double[]){1, 0, 0}), 3, 1e-6);
}

/* A colour outside the gamut keeps its lightness. */
static void stays_within_what_screens_have(void **state) {
    (void)state;
    for (double hue = 0; hue < 6.28; hue += 0.1) {
        const double lab[3] = {0.6, 0.4 * cos(hue), 0.4 * sin(hue)};
        double back[3];
        ex_colour_to_oklab(ex_colour_from_oklab(lab), back);
        assert_near(back[0], 0.6, 0.01);
        assert_near(remainder(atan2(back[2], back[1]) - hue, 2 * 3.14159265358979), 0, 0.05);
    }
}

static void sequential_map_rises_evenly(void **state) {
    (void)state;
    for (int i = 0; i < 64; i++) {
        const ex_colour a = ex_colour_sequential(i / 64.0), b = ex_colour_sequential((i + 1) / 64.0);
        const double step = lightness(b) - lightness(a);
        assert_true(step > 0.007 && step < 0.016);
        /* No step of hue or chroma stands out either. */
        assert_true(distance(a, b) < 0.03);
        /* Nor is the order lost where cones are. */
        assert_true(lightness(seen_with(deuteranopia, b)) > lightness(seen_with(deuteranopia, a)) - 0.004);
    }
    assert_true(lightness(ex_colour_sequential(0)) < 0.3 && lightness(ex_colour_sequential(1)) > 0.93);
    assert_near(lightness(ex_colour_sequential(NAN)), lightness(ex_colour_sequential(0)), 0);
    assert_near(lightness(ex_colour_sequential(7)), lightness(ex_colour_sequential(1)), 0);
}

static void diverging_map_is_even_on_both_sides(void **state) {
    (void)state;
    for (int i = 1; i <= 32; i++) {
        const ex_colour low = ex_colour_diverging(-i / 32.0), high = ex_colour_diverging(i / 32.0);
        assert_near(lightness(low), lightness(high), 0.01);
        assert_true(lightness(low) < lightness(ex_colour_diverging(-(i - 1) / 32.0)));
        assert_true(low.blue > low.red && high.red > high.blue);
        if (i >= 8) {
            assert_true(distance(low, high) > 0.08);
            assert_true(distance(seen_with(deuteranopia, low), seen_with(deuteranopia, high)) > 0.06);
            assert_true(distance(seen_with(protanopia, low), seen_with(protanopia, high)) > 0.06);
        }
    }
    const ex_colour middle = ex_colour_diverging(0);
    assert_near(middle.red, middle.blue, 2);
    assert_near(middle.red, middle.green, 2);
}

static void categories_stay_apart(void **state) {
    (void)state;
    for (int i = 0; i < EX_COLOUR_COUNT; i++) {
        for (int k = 0; k < i; k++) {
            const ex_colour a = ex_colour_category(i).colour, b = ex_colour_category(k).colour;
            const double least = i - k == 1 ? 0.19 : 0.07;
            assert_true(distance(a, b) > 0.1);
            assert_true(distance(seen_with(deuteranopia, a), seen_with(deuteranopia, b)) > least);
            assert_true(distance(seen_with(protanopia, a), seen_with(protanopia, b)) > least);
        }
    }
}

/* Beyond eight, dashes distinguish them; no two looks are the same. */
static void further_categories_differ(void **state) {
    (void)state;
    for (int i = 0; i < 32; i++) {
        const ex_look a = ex_colour_category(i);
        assert_int_equal(a.dash > 0, i >= EX_COLOUR_COUNT);
        for (int k = 0; k < i; k++) {
            const ex_look b = ex_colour_category(k);
            assert_true(a.dash != b.dash || distance(a.colour, b.colour) > 0.08);
        }
    }
    assert_near(ex_colour_category(-4).colour.blue, ex_colour_category(0).colour.blue, 0);
}

static void paling_goes_to_white(void **state) {
    (void)state;
    const ex_colour colour = ex_colour_hex(0xD55E00);
    assert_near(distance(ex_colour_paled(colour, 0), colour), 0, 0.005);
    assert_near(lightness(ex_colour_paled(colour, 0.5)), (1 + lightness(colour)) / 2, 0.005);
    assert_near(lightness(ex_colour_paled(colour, 1)), 1, 0.005);
    assert_near(ex_colour_faded(colour, 0.25).alpha, 0.25, 0);
    assert_int_equal(ex_colour_grey(-3).red, 0);
    assert_int_equal(ex_colour_grey(300).red, 255);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_there_and_back),         cmocka_unit_test(stays_within_what_screens_have),
        cmocka_unit_test(sequential_map_rises_evenly), cmocka_unit_test(diverging_map_is_even_on_both_sides),
        cmocka_unit_test(categories_stay_apart),       cmocka_unit_test(further_categories_differ),
        cmocka_unit_test(paling_goes_to_white),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
