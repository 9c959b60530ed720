/*
 * Weights of a sum in 16-bit storage. Common subset of C and CUDA.
 *
 * Weights are integers W of 16 bits. A sum of W times 16-bit numbers stays within 32 bits where the |W| add up to 65536
 * at most, rounding included: so a unit is the sum of |weight * scale| over 65536 less half the number of examples, and
 * no less than the largest over 32767. What rounding the weights costs is then about what rounding the numbers has
 * cost.
 */
#ifndef EXI_TERMS_INL
#define EXI_TERMS_INL

#include "runtime/base/functions.inl"

/* What a weight takes of the range. */
EXI_INLINE double exi_short_size(float weight, float scale) {
    return fabs((double)weight * (double)scale);
}

/* From the sum and the largest of the sizes of `count` weights. */
EXI_INLINE double exi_short_unit(double sum, double largest, int count) {
    const int most = count < 32768 ? count : 65536;
    const double unit = sum / (65536 - most / 2);
    return unit > largest / 32767 ? unit : largest / 32767;
}

/* W, for a unit above 0. */
EXI_INLINE int32_t exi_short_whole(float weight, float scale, double unit) {
    return (int32_t)lrint((double)weight * (double)scale / unit);
}

#endif
