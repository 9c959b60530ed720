/*
 * Sums of images: by hand; every code and every float against the formula of sRGB in double; random weights against the
 * same sum in double; one image, and equal images, to the bit; clamping; weights without effect; any division of the
 * range; any number of terms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/shape/pixels.h"
#include "runtime/shape/srgb.h"
#include "support/check.h"

enum { PIXELS = 1531, MOST_TERMS = 41 };

static unsigned char images[MOST_TERMS][PIXELS][4];

static int set_up(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int k = 0; k < MOST_TERMS; k++)
        for (int i = 0; i < PIXELS; i++)
            for (int c = 0; c < 4; c++)
                images[k][i][c] = (unsigned char)(random_bits(&random) >> 40 & 255);
    return 0;
}

/* ---- sRGB in double ---- */

static double decode(double u) {
    return u <= 0.04045 ? u / 12.92 : pow((u + 0.055) / 1.055, 2.4);
}

static double encode(double linear) {
    return linear <= 0.0031308 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void decodes_to_the_nearest_float(void **state) {
    (void)state;
    for (int code = 0; code < 256; code++) {
        const double exact = decode(code / 255.0);
        const float up = nextafterf(exi_srgb_linear[code], 2), down = nextafterf(exi_srgb_linear[code], -1);
        const double off = fabs((double)exi_srgb_linear[code] - exact);
        assert_true(off <= fabs((double)up - exact) && off <= fabs((double)down - exact));
    }
}

/* Every float from the lowest to the highest would be 109 million: all those near a limit, and a sample of the others.
 * The formula in double is accurate to about 1e-13 codes, and no float is that near to a limit. */
static void encodes_to_the_nearest_code(void **state) {
    (void)state;
    uint32_t lowest, highest;
    const float ends[2] = {EXI_SRGB_LOWEST, EXI_SRGB_HIGHEST};
    memcpy(&lowest, &ends[0], 4);
    memcpy(&highest, &ends[1], 4);
    for (uint32_t bits = lowest; bits <= highest; bits += bits < highest - 997 ? 997 : 1) {
        const float linear = float_of(bits);
        assert_int_equal(exi_srgb_encode(linear), (int)floor(255 * encode((double)linear) + 0.5));
    }
    for (int code = 0; code < 255; code++) {
        const float limit = (float)decode((code + 0.5) / 255);
        uint32_t middle;
        memcpy(&middle, &limit, sizeof middle);
        for (uint32_t bits = middle - 200; bits <= middle + 200; bits++) {
            const float linear = float_of(bits);
            const int expected = (double)linear < decode((code + 0.5) / 255) ? code : code + 1;
            assert_int_equal(exi_srgb_encode(linear), expected);
        }
    }
    assert_int_equal(exi_srgb_encode(EXI_SRGB_LOWEST), 0);
    assert_int_equal(exi_srgb_encode(EXI_SRGB_HIGHEST), 255);
}

/* ---- by hand ---- */

/* Half black, half white: 188 in linear light, 127.5 and hence 128 (the even one) as data and in alpha. */
static void blends_by_hand(void **state) {
    (void)state;
    const unsigned char black[4] = {0, 0, 0, 0}, white[4] = {255, 255, 255, 255};
    const exi_pixels_term terms[2] = {{black, 0.5f}, {white, 0.5f}};
    unsigned char out[4];
    exi_pixels_blend(terms, 2, true, 0, 1, out);
    const unsigned char light[4] = {188, 188, 188, 128}, data[4] = {128, 128, 128, 128};
    assert_memory_equal(out, light, 4);
    exi_pixels_blend(terms, 2, false, 0, 1, out);
    assert_memory_equal(out, data, 4);
    /* Channels are not mixed: 0.25 of one and 0.5 of the other, as data. */
    const unsigned char a[4] = {4, 40, 100, 200}, b[4] = {20, 2, 50, 10}, mixed[4] = {11, 11, 50, 55};
    const exi_pixels_term unequal[2] = {{a, 0.25f}, {b, 0.5f}};
    exi_pixels_blend(unequal, 2, false, 0, 1, out);
    assert_memory_equal(out, mixed, 4);
}

/* ---- against double ---- */

/* A code other than the nearest is allowed if the sum is no further from the limit between the two than the rounding of
 * floats: for weights that sum to 1, within 1e-4 of a code except for the darkest. */
static void assert_blended(const exi_pixels_term *terms, int count, bool srgb, size_t i, const unsigned char *out) {
    for (int c = 0; c < 4; c++) {
        const bool light = srgb && c < 3;
        double sum = 0, size = 0;
        for (int k = 0; k < count; k++) {
            const double code = terms[k].image[4 * i + (size_t)c];
            const double term =
                isfinite(terms[k].weight) ? (double)terms[k].weight * (light ? decode(code / 255) : code) : 0;
            sum += term;
            size += fabs(term);
        }
        const double allowed = size * (count + 2) * FLT_EPSILON;
        const double full = light ? 1 : 255, low = sum - allowed, high = sum + allowed;
        const double least = low < 0 ? 0 : low > full ? full : low, most = high < 0 ? 0 : high > full ? full : high;
        const int from = (int)floor((light ? 255 * encode(least) : least) + 0.5 - 1e-12);
        const int to = (int)floor((light ? 255 * encode(most) : most) + 0.5);
        const int got = out[4 * i + (size_t)c];
        if (got < from || got > to)
            fail_msg("%d terms, srgb %d: channel %d of pixel %zu is %d, not %d to %d", count, (int)srgb, c, i, got,
                     from, to);
    }
}

static void agrees_with_double(void **state) {
    (void)state;
    uint64_t random = 3;
    static unsigned char out[PIXELS][4];
    for (int count = 0; count <= MOST_TERMS; count++)
        for (int srgb = 0; srgb < 2; srgb++) {
            exi_pixels_term terms[MOST_TERMS];
            double sum = 0;
            for (int k = 0; k < count; k++) {
                /* Every third time weights like cardinal ones, some negative; otherwise convex ones, some of them 0. */
                const double weight = random_between(&random, count % 3 ? 0 : -1, 1);
                terms[k] = (exi_pixels_term){images[k][0], k % 5 == 3 ? 0 : (float)weight};
                sum += (double)terms[k].weight;
            }
            for (int k = 0; k < count && count % 3; k++)
                terms[k].weight = (float)((double)terms[k].weight / sum);
            memset(out, 0xAA, sizeof out);
            exi_pixels_blend(terms, count, srgb, 0, PIXELS, out[0]);
            for (size_t i = 0; i < PIXELS; i++)
                assert_blended(terms, count, srgb, i, out[0]);
        }
}

/* ---- exact ---- */

static void gives_an_image_back(void **state) {
    (void)state;
    static unsigned char all[256][4], out[256][4];
    for (int code = 0; code < 256; code++)
        for (int c = 0; c < 4; c++)
            all[code][c] = (unsigned char)((code + 64 * c) & 255);
    for (int srgb = 0; srgb < 2; srgb++)
        for (int count = 1; count <= MOST_TERMS; count++) {
            exi_pixels_term one[MOST_TERMS], equal[MOST_TERMS], spread[MOST_TERMS];
            for (int k = 0; k < count; k++) {
                one[k] = (exi_pixels_term){k == count / 2 ? all[0] : images[k][0], k == count / 2 ? 1 : 0};
                equal[k] = (exi_pixels_term){all[0], 1.0f / (float)count};
                /* 1 - 3 + 3 - 3 + … */
                spread[k] = (exi_pixels_term){all[0], k == 0 ? 1 : k % 2 == 0 ? 3 : k == count - 1 ? 0 : -3};
            }
            const exi_pixels_term *const lists[3] = {one, equal, spread};
            for (int list = 0; list < 3; list++) {
                memset(out, 0, sizeof out);
                exi_pixels_blend(lists[list], count, srgb, 0, 256, out[0]);
                assert_memory_equal(out, all, sizeof all);
            }
        }
}

static void clamps(void **state) {
    (void)state;
    static const struct {
        float first, second;
        unsigned char light, data;
    } cases[] = {
        {-1, 0, 0, 0},      {2, 0, 255, 255},        {-FLT_MAX, 0, 0, 0},          {FLT_MAX, 0, 255, 255},
        {1, -2, 0, 0},      {3, -1, 255, 255},       {FLT_MAX, FLT_MAX, 255, 255}, {-FLT_MAX, -FLT_MAX, 0, 0},
        {0, 0, 0, 0},       {-0.0f, 0, 0, 0},        {FLT_MIN / 4, 0, 0, 0},       {FLT_MAX, -FLT_MAX, 0, 0},
        {NAN, 1, 200, 200}, {1, INFINITY, 200, 200}, {-INFINITY, 1, 200, 200},     {NAN, INFINITY, 0, 0},
    };
    const unsigned char grey[4] = {200, 200, 200, 200};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const exi_pixels_term terms[2] = {{grey, cases[i].first}, {grey, cases[i].second}};
        unsigned char out[4];
        exi_pixels_blend(terms, 2, true, 0, 1, out);
        for (int c = 0; c < 4; c++)
            assert_int_equal(out[c], c < 3 ? cases[i].light : cases[i].data);
        exi_pixels_blend(terms, 2, false, 0, 1, out);
        for (int c = 0; c < 4; c++)
            assert_int_equal(out[c], cases[i].data);
    }
}

/* Sums of the largest weights do not overflow on the way: terms that cancel do so. */
static void sums_large_weights(void **state) {
    (void)state;
    const unsigned char white[4] = {255, 255, 255, 255};
    exi_pixels_term terms[4];
    for (int k = 0; k < 4; k++)
        terms[k] = (exi_pixels_term){white, k < 2 ? FLT_MAX : -FLT_MAX};
    for (int srgb = 0; srgb < 2; srgb++) {
        unsigned char out[4] = {9, 9, 9, 9};
        exi_pixels_blend(terms, 4, srgb, 0, 1, out);
        for (int c = 0; c < 4; c++)
            assert_int_equal(out[c], 0);
        exi_pixels_blend(terms, 3, srgb, 0, 1, out);
        for (int c = 0; c < 4; c++)
            assert_int_equal(out[c], 255);
    }
}

/* Terms without effect are not even read, and do not move the others to other groups. */
static void skips_what_does_not_count(void **state) {
    (void)state;
    static unsigned char out[PIXELS][4], expected[PIXELS][4];
    exi_pixels_term terms[3 * MOST_TERMS], live[MOST_TERMS];
    for (int k = 0; k < MOST_TERMS; k++) {
        live[k] = terms[3 * k + 1] = (exi_pixels_term){images[k][0], 1.0f / (float)(k + 3)};
        terms[3 * k] = (exi_pixels_term){NULL, k % 2 ? 0 : NAN};
        terms[3 * k + 2] = (exi_pixels_term){NULL, k % 2 ? -0.0f : -INFINITY};
    }
    for (int srgb = 0; srgb < 2; srgb++)
        for (int count = 1; count <= MOST_TERMS; count += 5) {
            exi_pixels_blend(live, count, srgb, 0, PIXELS, expected[0]);
            exi_pixels_blend(terms, 3 * count, srgb, 0, PIXELS, out[0]);
            assert_memory_equal(out, expected, sizeof out);
        }
}

/* ---- any range ---- */

static void does_not_depend_on_the_range(void **state) {
    (void)state;
    uint64_t random = 17;
    static const int counts[] = {1, 3, 8, 9, 21};
    static unsigned char whole[PIXELS][4], out[PIXELS][4];
    for (int round = 0; round < 10; round++) {
        const bool srgb = round % 2;
        const int count = counts[round / 2];
        exi_pixels_term terms[MOST_TERMS];
        for (int k = 0; k < count; k++)
            terms[k] = (exi_pixels_term){images[k][0], (float)random_between(&random, -0.3, 0.7)};
        exi_pixels_blend(terms, count, srgb, 0, PIXELS, whole[0]);
        for (int piece = 0; piece < 300; piece++) {
            const size_t begin = (size_t)(random_bits(&random) >> 33) % PIXELS;
            const size_t most = piece % 2 ? 9 : PIXELS, left = PIXELS - begin;
            const size_t end = begin + (size_t)(random_bits(&random) >> 33) % (left < most ? left + 1 : most);
            memset(out, 0x5A, sizeof out);
            exi_pixels_blend(terms, count, srgb, begin, end, out[0]);
            assert_memory_equal(out[begin], whole[begin], 4 * (end - begin));
            for (size_t i = 0; i < PIXELS; i++)
                for (int c = 0; c < 4 && (i < begin || i >= end); c++)
                    assert_int_equal(out[i][c], 0x5A);
        }
    }
}

/* Images end where their blocks of memory do, for the sanitizer and valgrind. */
static void reads_no_further_than_the_end(void **state) {
    (void)state;
    for (size_t size = 0; size <= 9; size++) {
        unsigned char *image = malloc(4 * size + 1), *out = malloc(4 * size + 1), *tight = image + 1;
        memset(image, 77, 4 * size + 1);
        const exi_pixels_term terms[3] = {{tight, 0.5f}, {tight, 0.25f}, {tight, 0.25f}};
        for (int srgb = 0; srgb < 2; srgb++) {
            exi_pixels_blend(terms, 3, srgb, 0, size, out);
            for (size_t i = 0; i < 4 * size; i++)
                assert_int_equal(out[i], 77);
        }
        free(image);
        free(out);
    }
}

/* More terms than in practice: each adds its rounding, no more. */
static void takes_any_number_of_terms(void **state) {
    (void)state;
    enum { MANY = 5000 };
    static exi_pixels_term terms[MANY];
    static unsigned char out[PIXELS][4];
    for (int k = 0; k < MANY; k++)
        terms[k] = (exi_pixels_term){images[k % MOST_TERMS][0], 1.0f / MANY};
    for (int srgb = 0; srgb < 2; srgb++) {
        exi_pixels_blend(terms, MANY, srgb, 100, 130, out[0]);
        for (size_t i = 100; i < 130; i++)
            assert_blended(terms, MANY, srgb, i, out[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_to_the_nearest_float),
        cmocka_unit_test(encodes_to_the_nearest_code),
        cmocka_unit_test(blends_by_hand),
        cmocka_unit_test(agrees_with_double),
        cmocka_unit_test(gives_an_image_back),
        cmocka_unit_test(clamps),
        cmocka_unit_test(sums_large_weights),
        cmocka_unit_test(skips_what_does_not_count),
        cmocka_unit_test(does_not_depend_on_the_range),
        cmocka_unit_test(reads_no_further_than_the_end),
        cmocka_unit_test(takes_any_number_of_terms),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
