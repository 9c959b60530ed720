/*
 * Entries in 16 bit: every half float comes back unchanged, and numbers between two go to the nearer, or to the even
 * one; signed integers by hand; frames, and the layout of four numbers in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda/stages/write.inl"
#include "support/check.h"

#include <math.h>
#include <string.h>

/* A half float that is finite and not negative, from the meaning of its bits; also 0x7C00, as if the range
 * continued. */
static double half_of(uint32_t bits) {
    const int exponent = (int)(bits >> 10), whole = (int)(bits & 1023);
    return exponent == 0 ? ldexp(whole, -24) : ldexp(1024 + whole, exponent - 25);
}

static void assert_half(float value, uint32_t expected) {
    assert_int_equal(exi_gpu_half(value), expected);
    assert_int_equal(exi_gpu_half(-value), expected | 0x8000U);
}

static void halves(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x7C00; bits++) {
        const float here = (float)half_of(bits), middle = (float)((half_of(bits) + half_of(bits + 1)) / 2);
        assert_half(here, bits);
        assert_half(middle, bits + (bits & 1));
        assert_half(nextafterf(middle, 0), bits);
        assert_half(nextafterf(middle, INFINITY), bits + 1);
    }
    assert_half(0, 0);
    assert_half(1, 0x3C00);
    assert_half(65504, 0x7BFF);
    assert_half(65519.996F, 0x7BFF);
    assert_half(65520, 0x7C00); /* infinite */
    assert_half(1e30F, 0x7C00);
    assert_half(INFINITY, 0x7C00);
    assert_half(5.9604645e-8F, 1); /* 2^-24, the smallest */
    assert_half(1e-40F, 0);
    assert_int_equal(exi_gpu_half(NAN) & 0x7FFF, 0x7E00);
}

static void snorms(void **state) {
    (void)state;
    static const struct {
        float value;
        int expected;
    } rows[] = {{0, 0},           {1, 32767},        {-1, -32767},        {2, 32767},
                {-1e30F, -32767}, {INFINITY, 32767}, {-INFINITY, -32767}, {NAN, 0},
                {0.5F, 16384},    {-0.5F, -16384},   {1.4F / 32767, 1},   {1.6F / 32767, 2},
                {0.4F / 32767, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal((int16_t)exi_gpu_snorm(rows[i].value), rows[i].expected);
    for (int n = -32767; n <= 32767; n++)
        assert_int_equal((int16_t)exi_gpu_snorm((float)n / 32767.0F), n);
}

/* The second of two instances, third entry of five, sixteen bytes apart. */
static void entries(void **state) {
    (void)state;
    float from[2][5][3] = {{{0}}};
    uint16_t out[2][5][8];
    const exi_gpu_job job = {.count = 2, .level = {.vertices = 5, .splits = 5}};
    exi_gpu_writing w = {.from = from[0][0],
                         .to = {.data = out, .stride = sizeof out[0][0], .instance_stride = sizeof out[0]},
                         .frame = {10, 20, 30, 4},
                         .last = 1};
    memcpy(from[1][2], (const float[3]){12, 16, 35}, sizeof from[1][2]);
    memset(out, 0x55, sizeof out);
    w.to.number = EX_CUDA_SNORM;
    w.in_frame = true;
    exi_gpu_write(&job, &w, 1, 2);
    const uint16_t framed[8] = {16384, 0x8001, 32767, 32767, 0x5555, 0x5555, 0x5555, 0x5555};
    assert_memory_equal(out[1][2], framed, sizeof framed);
    w.to.number = EX_CUDA_HALF;
    w.in_frame = false;
    exi_gpu_write(&job, &w, 1, 2);
    const uint16_t plain[8] = {0x4A00, 0x4C00, 0x5060, 0x3C00, 0x5555, 0x5555, 0x5555, 0x5555};
    assert_memory_equal(out[1][2], plain, sizeof plain);
    memcpy(from[1][2], (const float[3]){0, -1, 0.5F}, sizeof from[1][2]);
    w.to.number = EX_CUDA_SNORM;
    w.last = 0;
    exi_gpu_write(&job, &w, 1, 2);
    const uint16_t normal[4] = {0, 0x8001, 16384, 0};
    assert_memory_equal(out[1][2], normal, sizeof normal);
    w.to.number = EX_CUDA_FLOAT;
    exi_gpu_write(&job, &w, 1, 2);
    assert_memory_equal(out[1][2], from[1][2], sizeof from[1][2]);
    assert_int_equal(out[1][2][6], 0x5555);
    assert_int_equal(out[1][1][0], 0x5555);
    assert_int_equal(out[0][2][0], 0x5555);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves),
        cmocka_unit_test(snorms),
        cmocka_unit_test(entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
