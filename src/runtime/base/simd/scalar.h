/*
 * No SIMD: the same operations in plain C, for any machine and for tests.
 */
#ifndef EXI_SIMD_SCALAR_H
#define EXI_SIMD_SCALAR_H

#define EXI_SIMD_NAME "scalar"
#define EXI_TRIPLES_BY_LANES

/* ---- wide ---- */

#define EXI_WIDTH 4
typedef struct exi_wide {
    float lane[4];
} exi_wide;
static inline exi_wide exi_load(const float *p) {
    return (exi_wide){{p[0], p[1], p[2], p[3]}};
}
static inline void exi_store(float *p, exi_wide a) {
    memcpy(p, a.lane, sizeof a.lane);
}
static inline exi_wide exi_splat(float a) {
    return (exi_wide){{a, a, a, a}};
}
static inline exi_wide exi_madd(exi_wide a, exi_wide b, exi_wide c) {
    for (int i = 0; i < 4; i++)
        c.lane[i] = a.lane[i] * b.lane[i] + c.lane[i];
    return c;
}
static inline exi_wide exi_add(exi_wide a, exi_wide b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] += b.lane[i];
    return a;
}
static inline exi_wide exi_sub(exi_wide a, exi_wide b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] -= b.lane[i];
    return a;
}
static inline exi_wide exi_mul(exi_wide a, exi_wide b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] *= b.lane[i];
    return a;
}
static inline exi_wide exi_msub(exi_wide a, exi_wide b, exi_wide c) {
    for (int i = 0; i < 4; i++)
        c.lane[i] = c.lane[i] - a.lane[i] * b.lane[i];
    return c;
}
static inline bool exi_any_above(exi_wide a, exi_wide b) {
    bool any = false;
    for (int i = 0; i < 4; i++)
        any = any || a.lane[i] > b.lane[i];
    return any;
}
typedef struct exi_ints {
    int32_t lane[4];
} exi_ints;
static inline exi_ints exi_zero_ints(void) {
    return (exi_ints){{0, 0, 0, 0}};
}
static inline exi_ints exi_splat_short(int16_t a) {
    return (exi_ints){{a, a, a, a}};
}
static inline void exi_add_products(const int16_t *p, exi_ints factor, exi_ints *sums) {
    for (int i = 0; i < 4; i++) {
        sums[0].lane[i] += p[i] * factor.lane[i];
        sums[1].lane[i] += p[4 + i] * factor.lane[i];
    }
}
static inline exi_wide exi_from_ints(exi_ints a) {
    return (exi_wide){{(float)a.lane[0], (float)a.lane[1], (float)a.lane[2], (float)a.lane[3]}};
}
typedef struct exi_shorts {
    int16_t lane[8];
} exi_shorts;
#define EXI_SHORTS 8
static inline exi_shorts exi_shorts_load(const int16_t *p) {
    exi_shorts a;
    memcpy(a.lane, p, sizeof a.lane);
    return a;
}
static inline exi_shorts exi_shorts_splat(int16_t a) {
    return (exi_shorts){{a, a, a, a, a, a, a, a}};
}
static inline exi_shorts exi_add_shares(const int16_t *p, exi_shorts factor, exi_shorts sum) {
    for (int i = 0; i < 8; i++) {
        const int32_t product = (p[i] * factor.lane[i] + 16384) >> 15;
        sum.lane[i] = (int16_t)(uint16_t)((uint32_t)sum.lane[i] + (uint32_t)product);
    }
    return sum;
}
static inline void exi_shorts_widen(exi_shorts a, exi_ints *wides) {
    for (int i = 0; i < 4; i++) {
        wides[0].lane[i] = a.lane[i];
        wides[1].lane[i] = a.lane[4 + i];
    }
}

/* ---- quad ---- */

typedef exi_wide exi_quad;
static inline exi_quad exi_quad_load(const float *p) {
    return (exi_quad){{p[0], p[1], p[2], p[3]}};
}
static inline exi_quad exi_quad_load_three(const float *p) {
    return (exi_quad){{p[0], p[1], p[2], 0}};
}
static inline void exi_quad_store(float *p, exi_quad a) {
    memcpy(p, a.lane, sizeof a.lane);
}
static inline exi_quad exi_quad_splat(float a) {
    return (exi_quad){{a, a, a, a}};
}
static inline exi_quad exi_quad_lane0(exi_quad a) {
    return exi_quad_splat(a.lane[0]);
}
static inline exi_quad exi_quad_lane1(exi_quad a) {
    return exi_quad_splat(a.lane[1]);
}
static inline exi_quad exi_quad_lane2(exi_quad a) {
    return exi_quad_splat(a.lane[2]);
}
static inline exi_quad exi_quad_lane3(exi_quad a) {
    return exi_quad_splat(a.lane[3]);
}
static inline exi_quad exi_quad_add(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] += b.lane[i];
    return a;
}
static inline exi_quad exi_quad_sub(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] -= b.lane[i];
    return a;
}
static inline exi_quad exi_quad_mul(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] *= b.lane[i];
    return a;
}
static inline exi_quad exi_quad_div(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] /= b.lane[i];
    return a;
}
static inline exi_quad exi_quad_min(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}
static inline exi_quad exi_quad_max(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}
static inline exi_quad exi_quad_madd(exi_quad a, exi_quad b, exi_quad c) {
    for (int i = 0; i < 4; i++)
        c.lane[i] = a.lane[i] * b.lane[i] + c.lane[i];
    return c;
}
static inline exi_quad exi_quad_msub(exi_quad a, exi_quad b, exi_quad c) {
    for (int i = 0; i < 4; i++)
        c.lane[i] = c.lane[i] - a.lane[i] * b.lane[i];
    return c;
}
static inline exi_quad exi_quad_inverse_root(exi_quad a) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = 1.0f / sqrtf(a.lane[i]);
    return a;
}
static inline exi_quad exi_quad_with_sign(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++) {
        float size = a.lane[i] < 0 ? -a.lane[i] : a.lane[i];
        a.lane[i] = signbit(b.lane[i]) ? -size : size;
    }
    return a;
}
static inline exi_quad exi_quad_pick(exi_quad a, exi_quad b, exi_quad x, exi_quad y) {
    for (int i = 0; i < 4; i++)
        y.lane[i] = a.lane[i] > b.lane[i] ? x.lane[i] : y.lane[i];
    return y;
}
static inline unsigned exi_quad_at_most(exi_quad a, exi_quad b) {
    unsigned bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (unsigned)(a.lane[i] <= b.lane[i]) << i;
    return bits;
}
static inline void exi_quad_keys(exi_quad a, exi_quad b, const uint32_t *numbers, uint64_t keys[4]) {
    for (int i = 0; i < 4; i++) {
        uint32_t bits;
        memcpy(&bits, &a.lane[i], sizeof bits);
        keys[i] = a.lane[i] <= b.lane[i] ? (uint64_t)bits << 32 | numbers[i] : 0;
    }
}
static inline void exi_quad_transpose(exi_quad m[4]) {
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < r; c++) {
            float t = m[r].lane[c];
            m[r].lane[c] = m[c].lane[r];
            m[c].lane[r] = t;
        }
}
static inline void exi_quad_load_bytes(const unsigned char *p, exi_quad v[4]) {
    for (int i = 0; i < 16; i++)
        v[i / 4].lane[i % 4] = (float)p[i];
}
static inline exi_quad exi_quad_load_fourth_bytes(const unsigned char *p) {
    return (exi_quad){{(float)p[3], (float)p[7], (float)p[11], (float)p[15]}};
}
/* After adding 1.5 * 2^23, a float has no room for a fraction, and its low byte is that of the integer. */
static inline void exi_quad_store_bytes(unsigned char *p, const exi_quad v[4]) {
    for (int i = 0; i < 16; i++) {
        float beside = v[i / 4].lane[i % 4] + 12582912.0f;
        uint32_t bits;
        memcpy(&bits, &beside, sizeof bits);
        p[i] = (unsigned char)(bits & 255);
    }
}

#endif
