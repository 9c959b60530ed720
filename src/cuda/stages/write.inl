/*
 * One entry of an output array: three floats unchanged, or four 16-bit numbers, the last of them the same for all: half
 * floats (IEEE 754 binary16, to the nearest, ties to even) or integers n in [-32767, 32767] that represent n / 32767.
 * Positions are relative to a frame: (p - centre) / half width, clamped to [-1, 1]. Made from bits, so that host and
 * device agree. Common subset of C and CUDA.
 */
#ifndef EXI_CUDA_WRITE_INL
#define EXI_CUDA_WRITE_INL

#include "cuda/kernels/kernels.h"
#include "runtime/base/functions.inl"

/* Beyond 65504 and what rounds to it: infinity. NaN stays NaN. */
EXI_INLINE uint16_t exi_gpu_half(float value) {
    uint32_t bits, magnitude, made;
    memcpy(&bits, &value, sizeof bits);
    magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
        made = 0x7E00u;
    else if (magnitude >= 0x477FF000u) /* 65520, halfway between 65504 and the next number */
        made = 0x7C00u;
    else if (magnitude >= 0x38800000u) /* 2^-14: drop 13 bits, and change the exponent's bias from 127 to 15 */
        made = (magnitude - 0x38000000u + 0x0FFFu + (magnitude >> 13 & 1u)) >> 13;
    else if (magnitude <= 0x33000000u) /* 2^-25, half of the smallest: a tie, to 0 */
        made = 0;
    else { /* a multiple of 2^-24: the leading bit made explicit, and shifted into place */
        const uint32_t whole = (magnitude & 0x007FFFFFu) | 0x00800000u, shift = 126u - (magnitude >> 23);
        made = (whole + (1u << (shift - 1)) - 1u + (whole >> shift & 1u)) >> shift;
    }
    return (uint16_t)(made | (bits >> 16 & 0x8000u));
}

/* NaN gives 0. */
EXI_INLINE uint16_t exi_gpu_snorm(float value) {
    const float low = value > -1.0f ? value : -1.0f, cut = low < 1.0f ? low : 1.0f;
    const int whole = value == value ? (int)rintf(cut * 32767.0f) : 0;
    return (uint16_t)(int16_t)whole;
}

EXI_INLINE int exi_gpu_write_count(const exi_gpu_job *j, const exi_gpu_writing *w) {
    return w->split && j->level.sources ? j->level.splits : j->level.vertices;
}

/* Returns the triple that an entry is made from. */
EXI_INLINE const float *exi_gpu_write_from(const exi_gpu_job *j, const exi_gpu_writing *w, int instance, int entry) {
    const size_t source = w->split && j->level.sources ? (size_t)j->level.sources[entry] : (size_t)entry;
    return w->from + ((size_t)instance * (size_t)j->level.vertices + source) * 3;
}

/* Four 16-bit numbers as in memory, the first lowest. */
EXI_INLINE uint64_t exi_gpu_write_pack(const exi_gpu_writing *w, const float from[3]) {
    const bool half = w->to.number == EX_CUDA_HALF;
    uint64_t packed = half ? exi_gpu_half(w->last) : exi_gpu_snorm(w->last);
    for (int c = 2; c >= 0; c--) {
        const float value = w->in_frame ? (from[c] - w->frame[c]) / w->frame[3] : from[c];
        packed = packed << 16 | (uint64_t)(half ? exi_gpu_half(value) : exi_gpu_snorm(value));
    }
    return packed;
}

EXI_INLINE void exi_gpu_write(const exi_gpu_job *j, const exi_gpu_writing *w, int instance, int entry) {
    const float *from = exi_gpu_write_from(j, w, instance, entry);
    char *to = (char *)w->to.data + (size_t)instance * w->to.instance_stride + (size_t)entry * w->to.stride;
    if (w->to.number == EX_CUDA_FLOAT) {
        float *floats = (float *)(void *)to;
        for (int c = 0; c < 3; c++)
            floats[c] = from[c];
    } else {
        *(uint64_t *)(void *)to = exi_gpu_write_pack(w, from);
    }
}

#endif
