/*
 * The children of a node side by side: exi_fan holds a float for each of them, with the operations of exi_quad that
 * have the same names. And the children that a search through the tree has postponed:
 *
 *     exi_pending_add     returns the nearest child of a node with near <= far, or 0, and postpones the others
 *     exi_pending_next    returns the last one postponed that is not farther than `far`, up to the rounding of keys, or
 * 0
 *
 * A postponed child has a key: the smallest possible distance, as the bits of a float that is not negative, which sort
 * like integers. No key is 0, since no child is the root.
 */
#ifndef EXI_SETTLE_FAN_H
#define EXI_SETTLE_FAN_H

#include "runtime/base/simd.h"
#include "runtime/settle/tree.h"

#if EXI_TREE_FAN == 4

typedef exi_quad exi_fan;
static inline exi_fan exi_fan_load(const float *p) {
    return exi_quad_load(p);
}
static inline exi_fan exi_fan_splat(float a) {
    return exi_quad_splat(a);
}
static inline exi_fan exi_fan_sub(exi_fan a, exi_fan b) {
    return exi_quad_sub(a, b);
}
static inline exi_fan exi_fan_mul(exi_fan a, exi_fan b) {
    return exi_quad_mul(a, b);
}
static inline exi_fan exi_fan_madd(exi_fan a, exi_fan b, exi_fan c) {
    return exi_quad_madd(a, b, c);
}
static inline exi_fan exi_fan_min(exi_fan a, exi_fan b) {
    return exi_quad_min(a, b);
}
static inline exi_fan exi_fan_max(exi_fan a, exi_fan b) {
    return exi_quad_max(a, b);
}
static inline uint32_t exi_fan_at_most(exi_fan a, exi_fan b) {
    return exi_quad_at_most(a, b);
}

#elif defined(EXI_SET_AVX2) || defined(EXI_SET_AVX512)

typedef __m256 exi_fan;
static inline exi_fan exi_fan_load(const float *p) {
    return _mm256_loadu_ps(p);
}
static inline exi_fan exi_fan_splat(float a) {
    return _mm256_set1_ps(a);
}
static inline exi_fan exi_fan_sub(exi_fan a, exi_fan b) {
    return _mm256_sub_ps(a, b);
}
static inline exi_fan exi_fan_mul(exi_fan a, exi_fan b) {
    return _mm256_mul_ps(a, b);
}
static inline exi_fan exi_fan_madd(exi_fan a, exi_fan b, exi_fan c) {
    return _mm256_fmadd_ps(a, b, c);
}
static inline exi_fan exi_fan_min(exi_fan a, exi_fan b) {
    return _mm256_min_ps(a, b);
}
static inline exi_fan exi_fan_max(exi_fan a, exi_fan b) {
    return _mm256_max_ps(a, b);
}
static inline uint32_t exi_fan_at_most(exi_fan a, exi_fan b) {
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ));
}

#else

typedef struct exi_fan {
    exi_quad a, b;
} exi_fan;
static inline exi_fan exi_fan_load(const float *p) {
    return (exi_fan){exi_quad_load(p), exi_quad_load(p + 4)};
}
static inline exi_fan exi_fan_splat(float a) {
    return (exi_fan){exi_quad_splat(a), exi_quad_splat(a)};
}
static inline exi_fan exi_fan_sub(exi_fan a, exi_fan b) {
    return (exi_fan){exi_quad_sub(a.a, b.a), exi_quad_sub(a.b, b.b)};
}
static inline exi_fan exi_fan_mul(exi_fan a, exi_fan b) {
    return (exi_fan){exi_quad_mul(a.a, b.a), exi_quad_mul(a.b, b.b)};
}
static inline exi_fan exi_fan_madd(exi_fan a, exi_fan b, exi_fan c) {
    return (exi_fan){exi_quad_madd(a.a, b.a, c.a), exi_quad_madd(a.b, b.b, c.b)};
}
static inline exi_fan exi_fan_min(exi_fan a, exi_fan b) {
    return (exi_fan){exi_quad_min(a.a, b.a), exi_quad_min(a.b, b.b)};
}
static inline exi_fan exi_fan_max(exi_fan a, exi_fan b) {
    return (exi_fan){exi_quad_max(a.a, b.a), exi_quad_max(a.b, b.b)};
}
static inline uint32_t exi_fan_at_most(exi_fan a, exi_fan b) {
    return exi_quad_at_most(a.a, b.a) | exi_quad_at_most(a.b, b.b) << 4;
}

#endif

static inline uint32_t exi_float_bits(float a) {
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

/* ---- postponed children ---- */

#if EXI_TREE_FAN == 8 && (defined(EXI_SET_AVX2) || defined(EXI_SET_AVX512))

/* The last three bits of a key are the child's place in its node, and 8 is added. The distance is rounded down to that:
 * the search looks at a child too many at worst. */
typedef struct exi_pending {
    uint32_t keys[EXI_TREE_STACK], children[EXI_TREE_STACK];
    int count;
} exi_pending;

/* One step of a sorting network, larger first: the lanes of the mask keep the larger of two. */
#define EXI_FAN_STEP(keys, others, mask)                                                                               \
    _mm256_blend_epi32(_mm256_min_epi32(keys, others), _mm256_max_epi32(keys, others), mask)

/* Eight keys, larger first (K. E. Batcher, "Sorting networks and their applications", 1968). */
static inline __m256i exi_fan_sort(__m256i a) {
    a = EXI_FAN_STEP(a, _mm256_shuffle_epi32(a, 0xB1), 0x55);
    a = EXI_FAN_STEP(a, _mm256_shuffle_epi32(a, 0x1B), 0x33);
    a = EXI_FAN_STEP(a, _mm256_shuffle_epi32(a, 0xB1), 0x55);
    const __m256i back = _mm256_shuffle_epi32(_mm256_permute4x64_epi64(a, 0x4E), 0x1B);
    a = EXI_FAN_STEP(a, back, 0x0F);
    a = EXI_FAN_STEP(a, _mm256_shuffle_epi32(a, 0x4E), 0x33);
    return EXI_FAN_STEP(a, _mm256_shuffle_epi32(a, 0xB1), 0x55);
}

/* Bits of the lanes with near <= far; in those lanes keys[0] are the keys and 0 elsewhere, keys[1] are the keys and the
 * largest integer elsewhere. */
static inline uint32_t exi_fan_keys(exi_fan near, exi_fan far, __m256i keys[2]) {
    const __m256i places = _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15), none = _mm256_set1_epi32(INT32_MAX);
    const __m256i floors = _mm256_andnot_si256(_mm256_set1_epi32(7), _mm256_castps_si256(near));
    const __m256i all = _mm256_add_epi32(floors, places);
#if defined(EXI_SET_AVX512)
    const __mmask8 taken = _mm256_cmp_ps_mask(near, far, _CMP_LE_OQ);
    keys[0] = _mm256_maskz_mov_epi32(taken, all);
    keys[1] = _mm256_mask_mov_epi32(none, taken, all);
    return taken;
#else
    const __m256 taken = _mm256_cmp_ps(near, far, _CMP_LE_OQ);
    keys[0] = _mm256_and_si256(_mm256_castps_si256(taken), all);
    keys[1] = _mm256_blendv_epi8(none, all, _mm256_castps_si256(taken));
    return (uint32_t)_mm256_movemask_ps(taken);
#endif
}

/* The nearest is found before the others are sorted, which the search does not wait for. */
static inline uint32_t exi_pending_add(exi_pending *p, exi_fan near, exi_fan far, const uint32_t *child) {
    __m256i keys[2];
    const uint32_t bits = exi_fan_keys(near, far, keys);
    if (!(bits & (bits - 1)))
        return bits ? child[exi_lowest_bit(bits)] : 0;
    const __m256i children = _mm256_loadu_si256((const __m256i *)(const void *)child);
    __m256i least = _mm256_min_epi32(keys[1], _mm256_shuffle_epi32(keys[1], 0xB1));
    least = _mm256_min_epi32(least, _mm256_shuffle_epi32(least, 0x4E));
    least = _mm256_min_epi32(least, _mm256_permute4x64_epi64(least, 0x4E));
    const __m256i nearest = _mm256_permutevar8x32_epi32(children, least);
    const __m256i sorted = exi_fan_sort(keys[0]);
    _mm256_storeu_si256((__m256i *)(void *)(p->keys + p->count), sorted);
    _mm256_storeu_si256((__m256i *)(void *)(p->children + p->count), _mm256_permutevar8x32_epi32(children, sorted));
    p->count += _mm_popcnt_u32(bits) - 1;
    return (uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(nearest));
}

static inline uint32_t exi_pending_next(exi_pending *p, float far) {
    const uint32_t limit = (exi_float_bits(far) | 7) + 8;
    while (p->count > 0)
        if (p->keys[--p->count] <= limit)
            return p->children[p->count];
    return 0;
}

#else

/* Keys with their children in the lower half. */
typedef struct exi_pending {
    uint64_t keys[EXI_TREE_STACK];
    int count;
} exi_pending;

static inline uint64_t exi_key_lower(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Sorts two keys, larger first. */
static inline void exi_key_sort(uint64_t *a, uint64_t *b) {
    const uint64_t high = *a > *b ? *a : *b, low = *a > *b ? *b : *a;
    *a = high;
    *b = low;
}

/* Makes keys of four children, larger first; 0 where near > far. Returns the lowest that is not 0, or 0. There is no
 * branch that depends on the keys, since their number is unpredictable. */
static inline uint64_t exi_keys_of(exi_quad near, exi_quad far, const uint32_t *child, uint64_t keys[4]) {
    exi_quad_keys(near, far, child, keys);
    uint64_t a = keys[0], b = keys[1], c = keys[2], d = keys[3];
    const uint64_t nearest = exi_key_lower(exi_key_lower(a - 1, b - 1), exi_key_lower(c - 1, d - 1)) + 1;
    exi_key_sort(&a, &b);
    exi_key_sort(&c, &d);
    exi_key_sort(&a, &c);
    exi_key_sort(&b, &d);
    exi_key_sort(&b, &c);
    keys[0] = a;
    keys[1] = b;
    keys[2] = c;
    keys[3] = d;
    return nearest;
}

#if EXI_TREE_FAN == 4

static inline uint32_t exi_pending_add(exi_pending *p, exi_fan near, exi_fan far, const uint32_t *child) {
    uint64_t keys[4];
    const uint64_t nearest = exi_keys_of(near, far, child, keys);
    for (int i = 0; i < 3; i++)
        p->keys[p->count + i] = keys[i];
    p->count += (keys[1] != 0) + (keys[2] != 0) + (keys[3] != 0);
    return (uint32_t)nearest;
}

#else

/* Four that are sorted, then the four with the nearest. */
static inline uint32_t exi_pending_add(exi_pending *p, exi_fan near, exi_fan far, const uint32_t *child) {
    const uint32_t bits = exi_fan_at_most(near, far);
    if (!(bits & (bits - 1)))
        return bits ? child[exi_lowest_bit(bits)] : 0;
    uint64_t keys[2][4];
    const uint64_t first = exi_keys_of(near.a, far.a, child, keys[0]);
    const uint64_t second = exi_keys_of(near.b, far.b, child + 4, keys[1]);
    const int nearer = second - 1 < first - 1; /* 0, which means none, is the largest */
    for (int half = 0; half < 2; half++) {
        const uint64_t *from = keys[half ? nearer : !nearer];
        for (int i = 0; i < 4; i++)
            p->keys[p->count + i] = from[i];
        p->count += (from[0] != 0) + (from[1] != 0) + (from[2] != 0) + (from[3] != 0);
    }
    return (uint32_t)p->keys[--p->count];
}

#endif

static inline uint32_t exi_pending_next(exi_pending *p, float far) {
    while (p->count > 0) {
        const uint64_t key = p->keys[--p->count];
        if ((uint32_t)(key >> 32) <= exi_float_bits(far))
            return (uint32_t)key;
    }
    return 0;
}

#endif
#endif
