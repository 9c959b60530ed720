/*
 * Every operation of the quad type, lane by lane, against the same in plain floats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/simd.h"
#include "support/check.h"

#include <math.h>

static void fill(uint64_t *random, float *values, int count) {
    for (int i = 0; i < count; i++)
        values[i] = (float)(random_between(random, -1, 1) * pow(10, random_between(random, -6, 6)));
}

/* Fused or not: one of the two roundings, exactly. */
static void arithmetic(void **state) {
    (void)state;
    uint64_t random = 16;
    for (int round = 0; round < 10000; round++) {
        float a[4], b[4], c[4], to[11][4];
        fill(&random, a, 4);
        fill(&random, b, 4);
        fill(&random, c, 4);
        const exi_quad x = exi_quad_load(a), y = exi_quad_load(b), z = exi_quad_load(c);
        exi_quad_store(to[0], exi_quad_add(x, y));
        exi_quad_store(to[1], exi_quad_sub(x, y));
        exi_quad_store(to[2], exi_quad_mul(x, y));
        exi_quad_store(to[3], exi_quad_min(x, y));
        exi_quad_store(to[4], exi_quad_max(x, y));
        exi_quad_store(to[5], exi_quad_madd(x, y, z));
        exi_quad_store(to[6], exi_quad_msub(x, y, z));
        exi_quad_store(to[7], exi_quad_with_sign(x, y));
        exi_quad_store(to[8], exi_quad_pick(x, y, z, x));
        exi_quad_store(to[9], exi_quad_div(x, y));
        exi_quad_store(to[10], exi_quad_load_three(a));
        const unsigned bits = exi_quad_at_most(x, y);
        for (int i = 0; i < 4; i++) {
            volatile float product = a[i] * b[i];
            volatile float sum = c[i] + product, difference = c[i] - product;
            assert_true(to[0][i] == a[i] + b[i] && to[1][i] == a[i] - b[i] && to[2][i] == product);
            assert_true(to[3][i] == fminf(a[i], b[i]) && to[4][i] == fmaxf(a[i], b[i]));
            assert_true(to[5][i] == sum || to[5][i] == fmaf(a[i], b[i], c[i]));
            assert_true(to[6][i] == difference || to[6][i] == fmaf(-a[i], b[i], c[i]));
            assert_true(to[7][i] == copysignf(a[i], b[i]));
            assert_true(to[8][i] == (a[i] > b[i] ? c[i] : a[i]));
            assert_true(to[9][i] == a[i] / b[i]);
            assert_true(to[10][i] == (i < 3 ? a[i] : 0));
            assert_int_equal(bits >> i & 1, a[i] <= b[i]);
        }
    }
}

static void lanes(void **state) {
    (void)state;
    const float a[4] = {1.5f, 2.5f, 3.5f, 4.5f};
    float to[5][4];
    exi_quad_store(to[0], exi_quad_lane0(exi_quad_load(a)));
    exi_quad_store(to[1], exi_quad_lane1(exi_quad_load(a)));
    exi_quad_store(to[2], exi_quad_lane2(exi_quad_load(a)));
    exi_quad_store(to[3], exi_quad_lane3(exi_quad_load(a)));
    exi_quad_store(to[4], exi_quad_splat(7));
    for (int r = 0; r < 5; r++)
        for (int i = 0; i < 4; i++)
            assert_true(to[r][i] == (r < 4 ? a[r] : 7));
}

static void rearranging(void **state) {
    (void)state;
    float from[16], to[16], triples[12], back[12];
    exi_quad m[4], v[3];
    for (int i = 0; i < 16; i++)
        from[i] = (float)i;
    for (int r = 0; r < 4; r++)
        m[r] = exi_quad_load(from + 4 * r);
    exi_quad_transpose(m);
    for (int r = 0; r < 4; r++)
        exi_quad_store(to + 4 * r, m[r]);
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            assert_true(to[4 * r + c] == from[4 * c + r]);
    exi_quad_load_triples(from + 1, v);
    for (int c = 0; c < 3; c++) {
        exi_quad_store(triples + 4 * c, v[c]);
        for (int i = 0; i < 4; i++)
            assert_true(triples[4 * c + i] == from[1 + 3 * i + c]);
    }
    exi_quad_store_triples(back, v);
    assert_memory_equal(back, from + 1, sizeof back);
    exi_quad_store(to, exi_quad_load_three(from + 13)); /* the last three: nothing after them is read */
    assert_true(to[0] == 13 && to[1] == 14 && to[2] == 15 && to[3] == 0);
}

/* Bytes in and out, integers and numbers between, of which halves go to the even neighbour. */
static void bytes(void **state) {
    (void)state;
    unsigned char from[17], to[16];
    float lanes[16];
    exi_quad v[4];
    for (int first = 0; first < 256; first += 15) {
        for (int i = 0; i < 17; i++)
            from[i] = (unsigned char)((first + i) & 255);
        exi_quad_load_bytes(from + 1, v);
        for (int i = 0; i < 16; i++) {
            exi_quad_store(lanes + i / 4 * 4, v[i / 4]);
            assert_true(lanes[i] == (float)from[i + 1]);
        }
        exi_quad_store_bytes(to, v);
        assert_memory_equal(to, from + 1, 16);
        exi_quad_store(lanes, exi_quad_load_fourth_bytes(from + 1));
        for (int i = 0; i < 4; i++)
            assert_true(lanes[i] == (float)from[4 * i + 4]);
    }
    for (int code = 0; code < 255; code++) {
        const float numbers[4] = {(float)code + 0.4999f, (float)code + 0.5f, (float)code + 0.5001f,
                                  nextafterf((float)code + 0.5f, 0)};
        for (int k = 0; k < 4; k++)
            v[k] = exi_quad_splat(numbers[k]);
        exi_quad_store_bytes(to, v);
        assert_int_equal(to[0], code);
        assert_int_equal(to[4], code + code % 2);
        assert_int_equal(to[8], code + 1);
        assert_int_equal(to[12], code);
    }
}

/* NaN is never greater, and makes nothing greater. */
static void picking_beside_no_numbers(void **state) {
    (void)state;
    const float a[4] = {NAN, 1, 2, INFINITY}, b[4] = {0, NAN, 1, 1};
    float to[4];
    exi_quad_store(to, exi_quad_pick(exi_quad_load(a), exi_quad_load(b), exi_quad_splat(1), exi_quad_splat(2)));
    assert_true(to[0] == 2 && to[1] == 2 && to[2] == 1 && to[3] == 1);
    assert_int_equal(exi_quad_at_most(exi_quad_load(a), exi_quad_load(b)), 0);
    assert_int_equal(exi_quad_at_most(exi_quad_load(b), exi_quad_load(a)), 12);
    assert_int_equal(exi_quad_at_most(exi_quad_splat(0.0f), exi_quad_splat(-0.0f)), 15);
    exi_quad_store(to, exi_quad_with_sign(exi_quad_splat(-3), exi_quad_splat(-0.0f)));
    assert_true(to[0] == -3);
    exi_quad_store(to, exi_quad_with_sign(exi_quad_splat(-3), exi_quad_splat(0.0f)));
    assert_true(to[0] == 3);
}

/* Bits before numbers, or 0; not for NaN. */
static void keys(void **state) {
    (void)state;
    const float a[4] = {1, 2, NAN, 0}, b[4] = {1, 1.5f, 3, NAN}, c[4] = {0, INFINITY, 1e-40f, 2},
                most[4] = {0, 1, 1, 9};
    const uint32_t numbers[4] = {7, 8, 0xFFFFFFFFu, 0x80000001u};
    uint64_t to[4];
    exi_quad_keys(exi_quad_load(a), exi_quad_load(b), numbers, to);
    assert_true(to[0] == 0x3F80000000000007u && to[1] == 0 && to[2] == 0 && to[3] == 0);
    exi_quad_keys(exi_quad_load(c), exi_quad_load(most), numbers, to);
    assert_true(to[0] == 7 && to[1] == 0 && to[2] == 0x000116C2FFFFFFFFu && to[3] == 0x4000000080000001u);
}

static void inverse_roots(void **state) {
    (void)state;
    uint64_t random = 17;
    double worst = 0;
    for (int round = 0; round < 100000; round++) {
        float a[4], to[4];
        for (int i = 0; i < 4; i++)
            a[i] = (float)pow(10, random_between(&random, -30, 30));
        exi_quad_store(to, exi_quad_inverse_root(exi_quad_load(a)));
        for (int i = 0; i < 4; i++)
            worst = fmax(worst, fabs((double)to[i] * sqrt((double)a[i]) - 1));
    }
    assert_true(worst < 3e-7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic),    cmocka_unit_test(lanes),
        cmocka_unit_test(rearranging),   cmocka_unit_test(picking_beside_no_numbers),
        cmocka_unit_test(inverse_roots), cmocka_unit_test(bytes),
        cmocka_unit_test(keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
