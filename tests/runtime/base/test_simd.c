/*
 * Every operation of the wide type, lane by lane, against the same in plain floats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/simd.h"
#include "support/check.h"

#include <math.h>

enum { WIDTH = EXI_WIDTH, WIDES = EXI_SHORTS / EXI_WIDTH };

static void fill(uint64_t *random, float *values) {
    for (int i = 0; i < WIDTH; i++)
        values[i] = (float)(random_between(random, -1, 1) * pow(10, random_between(random, -6, 6)));
}

static void loads_and_stores_anywhere(void **state) {
    (void)state;
    float from[3 * WIDTH], to[3 * WIDTH];
    for (int i = 0; i < 3 * WIDTH; i++)
        from[i] = (float)i + 0.5f;
    for (int start = 0; start <= 2 * WIDTH; start++) {
        memset(to, 0, sizeof to);
        exi_store(to + start, exi_load(from + start));
        for (int i = 0; i < 3 * WIDTH; i++)
            assert_true(to[i] == (i >= start && i < start + WIDTH ? from[i] : 0));
    }
}

static void splat_fills_all_lanes(void **state) {
    (void)state;
    float to[WIDTH];
    exi_store(to, exi_splat(-2.75f));
    for (int i = 0; i < WIDTH; i++)
        assert_true(to[i] == -2.75f);
}

/* Fused or not: one of the two roundings, exactly. */
static void multiplies_and_adds(void **state) {
    (void)state;
    uint64_t random = 6;
    for (int round = 0; round < 10000; round++) {
        float a[WIDTH], b[WIDTH], c[WIDTH], to[WIDTH];
        fill(&random, a);
        fill(&random, b);
        fill(&random, c);
        exi_store(to, exi_madd(exi_load(a), exi_load(b), exi_load(c)));
        for (int i = 0; i < WIDTH; i++) {
            volatile float product = a[i] * b[i];
            volatile float apart = product + c[i];
            assert_true(to[i] == apart || to[i] == fmaf(a[i], b[i], c[i]));
        }
    }
}

/* All 65536 of them in every lane, times factors up to the ends of 16 bits, added to other numbers. */
static void products_of_16_bits_are_exact(void **state) {
    (void)state;
    static const int16_t factors[] = {0, 1, -1, 255, -256, 12345, 32767, -32767, -32768};
    for (int first = 0; first < 65536; first++) {
        int16_t from[EXI_SHORTS], factor = factors[first % 9], second = factors[first % 7];
        float to[EXI_SHORTS];
        for (int i = 0; i < EXI_SHORTS; i++)
            from[i] = (int16_t)(uint16_t)(first + 4097 * i);
        exi_ints sums[WIDES];
        for (int i = 0; i < WIDES; i++)
            sums[i] = exi_zero_ints();
        exi_add_products(from, exi_splat_short(factor), sums);
        exi_add_products(from, exi_splat_short((int16_t)(second / 2)), sums);
        for (int i = 0; i < WIDES; i++)
            exi_store(to + i * WIDTH, exi_from_ints(sums[i]));
        for (int i = 0; i < EXI_SHORTS; i++)
            if (to[i] != (float)(from[i] * factor + from[i] * (second / 2)))
                fail_msg("%d in lane %d times %d and %d became %g", from[i], i, factor, second / 2, (double)to[i]);
    }
}

/* round(x factor / 32768), halves up, added and wrapped around. */
static void shares_are_rounded_and_wrap(void **state) {
    (void)state;
    static const int factors[] = {-32767, -16384, -12345, -3, -1, 0, 1, 2, 16384, 30000, 32767};
    int16_t from[EXI_SHORTS];
    float to[EXI_SHORTS];
    for (int first = -32767; first < 32000; first += 331)
        for (int f = 0; f < 11; f++) {
            for (int i = 0; i < EXI_SHORTS; i++)
                from[i] = (int16_t)(first + 37 * i);
            const exi_shorts factor = exi_shorts_splat((int16_t)factors[f]), start = exi_shorts_load(from);
            const exi_shorts sum = exi_add_shares(from, factor, exi_add_shares(from, exi_shorts_splat(-77), start));
            exi_ints wides[WIDES];
            exi_shorts_widen(sum, wides);
            for (int i = 0; i < WIDES; i++)
                exi_store(to + i * WIDTH, exi_from_ints(wides[i]));
            for (int i = 0; i < EXI_SHORTS; i++) {
                const double exact = floor(from[i] * factors[f] / 32768.0 + 0.5) + floor(from[i] * -77 / 32768.0 + 0.5);
                const double wrapped = exact + from[i];
                const double expected = wrapped - 65536 * floor((wrapped + 32768) / 65536);
                if ((double)to[i] != expected)
                    fail_msg("%d in lane %d times %d became %g, not %g", from[i], i, factors[f], (double)to[i],
                             expected);
            }
        }
}

static void triples_are_interleaved(void **state) {
    (void)state;
    float from[3 * WIDTH], to[3 * WIDTH + 2] = {0};
    for (int i = 0; i < 3 * WIDTH; i++)
        from[i] = (float)(i + 1);
    to[3 * WIDTH + 1] = -1;
    exi_store_triples(to + 1, exi_load(from), exi_load(from + WIDTH), exi_load(from + 2 * WIDTH));
    for (int i = 0; i < WIDTH; i++)
        for (int c = 0; c < 3; c++)
            assert_true(to[1 + 3 * i + c] == from[c * WIDTH + i]);
    assert_true(to[0] == 0 && to[3 * WIDTH + 1] == -1);
}

static void triples_are_taken_apart(void **state) {
    (void)state;
    float from[3 * WIDTH + 1], to[3][WIDTH];
    exi_wide v[3];
    for (int i = 0; i <= 3 * WIDTH; i++)
        from[i] = (float)i;
    exi_load_triples(from + 1, v);
    for (int c = 0; c < 3; c++)
        exi_store(to[c], v[c]);
    for (int i = 0; i < WIDTH; i++)
        for (int c = 0; c < 3; c++)
            assert_true(to[c][i] == (float)(1 + 3 * i + c));
}

static void inverse_roots_are_near(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int round = 0; round < 10000; round++) {
        float a[WIDTH], to[WIDTH];
        for (int i = 0; i < WIDTH; i++)
            a[i] = (float)pow(10, random_between(&random, -30, 30));
        exi_store(to, exi_inverse_root(exi_load(a)));
        for (int i = 0; i < WIDTH; i++)
            assert_true(fabs((double)to[i] * sqrt((double)a[i]) - 1) < 3e-7);
    }
}

/* Blocks are loaded from anywhere, and each is a four-by-four with the same block of three others. */
static void blocks_are_quads(void **state) {
    (void)state;
    enum { BLOCKS = WIDTH / 4 };
    float from[4][BLOCKS][5], to[WIDTH];
    exi_wide m[4], same[4];
    for (int i = 0; i < 4; i++) {
        const float *at[BLOCKS];
        exi_quad quads[BLOCKS];
        for (int b = 0; b < BLOCKS; b++) {
            for (int k = 0; k < 5; k++)
                from[i][b][k] = (float)(100 * i + 10 * b + k);
            at[b] = from[i][BLOCKS - 1 - b] + 1;
            quads[b] = exi_quad_load(at[b]);
        }
        m[i] = exi_load_blocks(at);
        same[i] = exi_of_quads(quads);
    }
    for (int twice = 0; twice < 2; twice++) {
        exi_transpose_blocks(twice ? same : m);
        for (int i = 0; i < 4; i++) {
            exi_store(to, twice ? same[i] : m[i]);
            for (int k = 0; k < WIDTH; k++)
                assert_true(to[k] == from[k % 4][BLOCKS - 1 - k / 4][i + 1]);
        }
    }
}

/* A four-by-four of each block, and back; matrices times points; blocks that turn. */
static void threes_are_three_quads(void **state) {
    (void)state;
    float m[4][16], to[12], weights[4] = {0.5f, 0.25f, 2, -1};
    const float *rows[4] = {m[0], m[1], m[2], m[3]};
    exi_three t[4], x[3];
    for (int i = 0; i < 64; i++)
        m[i / 16][i % 16] = (float)(i % 16 < 12 ? i * i % 17 : 0);
    for (int i = 0; i < 4; i++)
        t[i] = exi_three_load(m[i]);
    exi_three_transpose(t);
    for (int column = 0; column < 4; column++) {
        exi_quad q[3], next[3];
        exi_three_quads(t[column], q);
        exi_three_quads(exi_three_next(t[column]), next);
        for (int row = 0; row < 3; row++) {
            float lanes[4], other[4];
            exi_quad_store(lanes, q[row]);
            exi_quad_store(other, next[row]);
            for (int i = 0; i < 4; i++) {
                assert_true(lanes[i] == m[i][4 * row + column]);
                assert_true(other[i] == m[i][4 * ((row + 1) % 3) + column]);
            }
        }
        exi_three_store_triples(to, exi_three_of(q));
        for (int i = 0; i < 12; i++)
            assert_true(to[i] == m[i / 3][4 * (i % 3) + column]);
    }
    exi_quad sum[3];
    exi_three_quads(exi_three_added(m[1], 3, exi_three_sum(rows, weights, 4)), sum);
    for (int row = 0; row < 3; row++) {
        float lanes[4];
        exi_quad_store(lanes, sum[row]);
        for (int c = 0; c < 4; c++) {
            const int e = 4 * row + c;
            assert_true(lanes[c] == 0.5f * m[0][e] + 3.25f * m[1][e] + 2 * m[2][e] - m[3][e]);
        }
    }
    exi_three_load_triples(m[2], x);
    for (int c = 0; c < 3; c++) {
        exi_quad q[3];
        exi_three_quads(x[c], q);
        for (int block = 0; block < 3; block++) {
            float lanes[4];
            exi_quad_store(lanes, q[block]);
            for (int i = 0; i < 4; i++)
                assert_true(lanes[i] == m[2][3 * i + c]);
        }
    }
}

static void twos_are_two_quads(void **state) {
    (void)state;
    float m[4][8];
    exi_two t[4];
    for (int i = 0; i < 32; i++)
        m[i / 8][i % 8] = (float)(i * i % 19);
    for (int i = 0; i < 4; i++)
        t[i] = exi_two_load(m[i]);
    exi_two_transpose(t);
    const exi_quad two = exi_quad_splat(2);
    for (int c = 0; c < 4; c++) {
        float first[4], second[4];
        const exi_two by = exi_two_madd(t[c], two, exi_two_mul(t[c], two));
        exi_quad_store(first, exi_two_first(by));
        exi_quad_store(second, exi_two_second(by));
        for (int i = 0; i < 4; i++)
            assert_true(first[i] == 4 * m[i][c] && second[i] == 4 * m[i][4 + c]);
    }
}

static void quads_are_parted(void **state) {
    (void)state;
    float from[2 * WIDTH], even[WIDTH], odd[WIDTH];
    for (int i = 0; i < 2 * WIDTH; i++)
        from[i] = (float)i;
    exi_store(even, exi_even_quads(exi_load(from), exi_load(from + WIDTH)));
    exi_store(odd, exi_odd_quads(exi_load(from), exi_load(from + WIDTH)));
    for (int i = 0; i < WIDTH; i++) {
        assert_true(even[i] == from[i / 4 * 8 + i % 4]);
        assert_true(odd[i] == from[i / 4 * 8 + 4 + i % 4]);
    }
}

/* All 256 codes in every lane; numbers are rounded, ties to even. */
static void bytes_are_numbers(void **state) {
    (void)state;
    for (int first = 0; first < 256; first++) {
        unsigned char from[4 * WIDTH > 16 ? 4 * WIDTH : 16], to[16];
        float numbers[16], alphas[WIDTH];
        for (int i = 0; i < (int)sizeof from; i++)
            from[i] = (unsigned char)(first + 37 * i);
        exi_wide v[16 / WIDTH];
        exi_load_bytes(from, v);
        for (int i = 0; i < 16 / WIDTH; i++) {
            exi_store(numbers + i * WIDTH, v[i]);
            v[i] = exi_add(v[i], exi_splat(first % 2 ? 0.4f : -0.4f));
            v[i] = exi_min(exi_max(v[i], exi_splat(0)), exi_splat(255));
        }
        exi_store_bytes(to, v);
        exi_store(alphas, exi_load_fourth_bytes(from));
        for (int i = 0; i < 16; i++)
            assert_true(numbers[i] == (float)from[i] && to[i] == from[i]);
        for (int i = 0; i < WIDTH; i++)
            assert_true(alphas[i] == (float)from[4 * i + 3]);
    }
    float halves[16];
    unsigned char to[16];
    exi_wide v[16 / WIDTH];
    for (int i = 0; i < 16; i++)
        halves[i] = (float)i + 0.5f;
    for (int i = 0; i < 16 / WIDTH; i++)
        v[i] = exi_load(halves + i * WIDTH);
    exi_store_bytes(to, v);
    for (int i = 0; i < 16; i++)
        assert_int_equal(to[i], (i + 1) / 2 * 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores_anywhere),
        cmocka_unit_test(splat_fills_all_lanes),
        cmocka_unit_test(multiplies_and_adds),
        cmocka_unit_test(products_of_16_bits_are_exact),
        cmocka_unit_test(shares_are_rounded_and_wrap),
        cmocka_unit_test(triples_are_interleaved),
        cmocka_unit_test(triples_are_taken_apart),
        cmocka_unit_test(inverse_roots_are_near),
        cmocka_unit_test(blocks_are_quads),
        cmocka_unit_test(threes_are_three_quads),
        cmocka_unit_test(twos_are_two_quads),
        cmocka_unit_test(quads_are_parted),
        cmocka_unit_test(bytes_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
