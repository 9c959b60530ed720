/*
 * Weights of a sum in 16-bit storage. Common subset of C and CUDA.
 *
 * Weights are integers W of 16 bits. A sum of W times 16-bit numbers fits into 32 bits if the |W| add up to at most
 * 65536, rounding included. So a unit is the sum of |weight * scale| divided by (65536 minus half the number of
 * examples), and at least the largest divided by 32767. Rounding the weights then costs about as much accuracy as
 * rounding the numbers did.
 */
#ifndef EXI_TERMS_INL
#define EXI_TERMS_INL

#include "runtime/base/functions.inl"

/* The part of the range that a weight uses. */
EXI_INLINE double exi_short_size(float weight, float scale) {
    return fabs((double)weight * (double)scale);
}

/* The unit, from the sum and the largest of the sizes of `count` weights. */
EXI_INLINE double exi_short_unit(double sum, double largest, int count) {
    const int most = count < 32768 ? count : 65536;
    const double unit = sum / (65536 - most / 2);
    return unit > largest / 32767 ? unit : largest / 32767;
}

/* The unit of `count` terms that are summed in 16 bits, from the sum of their sizes. W times a number of 16 bits is
 * divided by 32768 and rounded. The |W|, half a unit each for rounding them, and half a unit each for rounding the
 * products add up to at most 32767. */
EXI_INLINE double exi_minor_unit(double sum, int count) {
    return sum * 32768 / (32767 - count);
}

/* W, for a unit above 0. */
EXI_INLINE int32_t exi_short_whole(float weight, float scale, double unit) {
    return (int32_t)lrint((double)weight * (double)scale / unit);
}

#endif
