/*
 * One binary for several instruction sets. A kernel file (…_kernel.c) is compiled once for each set of the target: on
 * x86-64 for SSE2, AVX2 with FMA, and AVX-512; elsewhere for one. The functions that others call are defined with
 * EXI_ENTRY:
 *
 *     EXI_ENTRY(exi_add, (float *sum, int count), (sum, count)) { … }
 *
 * The body gets a name for each set, and exi_add calls the one for the machine. All else in a kernel file is static.
 * The build defines EXI_SETS, and for a set other than the first EXI_SET_AVX2 or EXI_SET_AVX512. Without EXI_SETS there
 * is one set, chosen by the compiler's flags, and EXI_ENTRY defines plain functions.
 */
#ifndef EXI_SET_H
#define EXI_SET_H

#include "runtime/base/sets.h"

#if !defined(EXI_SET_AVX512) && !defined(EXI_SET_AVX2) && !defined(EX_SIMD_SCALAR) &&                                  \
    (defined(__x86_64__) || defined(_M_X64))
#if !defined(EXI_SETS) && defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) &&                    \
    defined(__AVX512BW__) && defined(__FMA__)
#define EXI_SET_AVX512
#elif !defined(EXI_SETS) && defined(__AVX2__) && defined(__FMA__)
#define EXI_SET_AVX2
#else
#define EXI_SET_SSE2
#endif
#endif

/* 'static' where all files are one. */
#if !defined(EXI_PRIVATE)
#define EXI_PRIVATE
#endif

#if !defined(EXI_SETS)
#define EXI_ENTRY(name, parameters, arguments)          EXI_PRIVATE void name parameters
#define EXI_ENTRY_OF(type, name, parameters, arguments) EXI_PRIVATE type name parameters
#elif defined(EXI_SET_AVX512)
#define EXI_ENTRY(name, parameters, arguments) EXI_ENTRY_OF(void, name, parameters, arguments)
#define EXI_ENTRY_OF(type, name, parameters, arguments)                                                                \
    EXI_PRIVATE type name##_avx512 parameters;                                                                         \
    EXI_PRIVATE type name##_avx512 parameters
#elif defined(EXI_SET_AVX2)
#define EXI_ENTRY(name, parameters, arguments) EXI_ENTRY_OF(void, name, parameters, arguments)
#define EXI_ENTRY_OF(type, name, parameters, arguments)                                                                \
    EXI_PRIVATE type name##_avx2 parameters;                                                                           \
    EXI_PRIVATE type name##_avx2 parameters
#else
#define EXI_ENTRY(name, parameters, arguments)                                                                         \
    EXI_PRIVATE void name##_avx512 parameters;                                                                         \
    EXI_PRIVATE void name##_avx2 parameters;                                                                           \
    static void name##_sse2 parameters;                                                                                \
    EXI_PRIVATE void name parameters {                                                                                 \
        const int set = exi_set();                                                                                     \
        if (set == EXI_SETS_AVX512)                                                                                    \
            name##_avx512 arguments;                                                                                   \
        else if (set == EXI_SETS_AVX2)                                                                                 \
            name##_avx2 arguments;                                                                                     \
        else                                                                                                           \
            name##_sse2 arguments;                                                                                     \
    }                                                                                                                  \
    static void name##_sse2 parameters
#define EXI_ENTRY_OF(type, name, parameters, arguments)                                                                \
    EXI_PRIVATE type name##_avx512 parameters;                                                                         \
    EXI_PRIVATE type name##_avx2 parameters;                                                                           \
    static type name##_sse2 parameters;                                                                                \
    EXI_PRIVATE type name parameters {                                                                                 \
        const int set = exi_set();                                                                                     \
        return set == EXI_SETS_AVX512 ? name##_avx512 arguments                                                        \
               : set == EXI_SETS_AVX2 ? name##_avx2 arguments                                                          \
                                      : name##_sse2 arguments;                                                         \
    }                                                                                                                  \
    static type name##_sse2 parameters
#endif

#endif
