/*
 * Four corners of faces side by side, in float: the angle between two edges a and b. With s = |a x b| and c = a . b,
 * s^2 + c^2 = |a|^2 |b|^2, so one root scales both to sine and cosine. The smaller of the two is at most sqrt(1/2),
 * where asin is a short polynomial (relative minimax, found by Lawson's iteration; 2e-8 and rounding):
 *
 *     angle = asin s up to 45 degrees, then pi/2 - asin c, and from 135 degrees on pi - asin s
 *
 * which is as accurate for needles as for squares. Lanes are independent, so the result does not depend on which four
 * corners share a register.
 */
#ifndef EXI_CORNERS_H
#define EXI_CORNERS_H

#include "runtime/base/simd.h"

#include <stdbool.h>

/* Range of |a|^2 |b|^2 for floats: edges from 3e-8 to 3e7 long are inside; others need doubles. */
#define EXI_CORNER_LEAST 1e-30f
#define EXI_CORNER_MOST  1e30f

static inline exi_quad exi_corner_dot(const exi_quad a[3], const exi_quad b[3]) {
    return exi_quad_madd(a[2], b[2], exi_quad_madd(a[1], b[1], exi_quad_mul(a[0], b[0])));
}

/* Computes angles in [0, pi]. *size_sq is |a|^2 |b|^2; if that is outside the range above, the angle is meaningless. */
static inline exi_quad exi_corner_angles(const exi_quad a[3], const exi_quad b[3], exi_quad *size_sq) {
    static const float terms[] = {1.0f,          0.166670576f,  0.0748466253f, 0.0469131768f,
                                  0.0141620124f, 0.0833557099f, -0.1018475f,   0.116612583f};
    enum { TERMS = sizeof terms / sizeof terms[0] };
    const exi_quad zero = exi_quad_splat(0), least = exi_quad_splat(1e-37f);
    exi_quad across[3];
    across[0] = exi_quad_msub(a[2], b[1], exi_quad_mul(a[1], b[2]));
    across[1] = exi_quad_msub(a[0], b[2], exi_quad_mul(a[2], b[0]));
    across[2] = exi_quad_msub(a[1], b[0], exi_quad_mul(a[0], b[1]));
    const exi_quad sine_sq = exi_corner_dot(across, across), cosine = exi_corner_dot(a, b);
    const exi_quad cosine_sq = exi_quad_mul(cosine, cosine), scale_sq = exi_quad_add(sine_sq, cosine_sq);
    const exi_quad inverse = exi_quad_inverse_root(scale_sq);
    const exi_quad smaller = exi_quad_mul(exi_quad_min(sine_sq, cosine_sq), exi_quad_mul(inverse, inverse));
    const exi_quad z = exi_quad_max(smaller, least);
    exi_quad p = exi_quad_splat(terms[TERMS - 1]);
    EXI_WRITE_OUT
    for (int i = TERMS - 2; i >= 0; i--)
        p = exi_quad_madd(p, z, exi_quad_splat(terms[i]));
    const exi_quad asine = exi_quad_mul(exi_quad_mul(z, exi_quad_inverse_root(z)), p);
    const exi_quad beside = exi_quad_sub(exi_quad_splat(1.57079633f), asine);
    const exi_quad acute = exi_quad_pick(sine_sq, cosine_sq, beside, asine);
    *size_sq = scale_sq;
    return exi_quad_pick(zero, cosine, exi_quad_sub(exi_quad_splat(3.14159265f), acute), acute);
}

/* Edges from a vertex to up to four others, whose indices are `step` apart; lanes beyond count repeat the first. */
static inline void exi_corner_edges(const char *positions, size_t stride, const float *from, const uint32_t *to,
                                    size_t step, int count, exi_quad edges[3]) {
    exi_quad others[4];
    EXI_WRITE_OUT
    for (int lane = 0; lane < EXI_QUAD_LANES; lane++) {
        const size_t other = to[lane < count ? step * (size_t)lane : 0];
        others[lane] = exi_quad_load_three((const float *)(const void *)(positions + other * stride));
    }
    exi_quad_transpose(others);
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        edges[c] = exi_quad_sub(others[c], exi_quad_splat(from[c]));
}

#endif
