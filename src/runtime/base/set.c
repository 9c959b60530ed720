/*
 * The instruction set in use: the widest one that the processor and the operating system support, asked once, or a
 * narrower one that the caller asks for.
 *
 * Support of the registers is in two places: CPUID says what the processor has, XGETBV which registers the system
 * saves. AVX-512 is used from the generation on that has VBMI2 (Ice Lake, Zen 4): the processors before it slow down
 * for registers of 512 bits by more than these gain.
 */
#include "runtime/base/set.h"

#include "runtime/base/simd.h"

#include <exemplar/base.h>

int exi_set_in_use;

#if defined(EXI_SETS)

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#else
#include <cpuid.h>
#endif

static void ask(unsigned leaf, unsigned answer[4]) {
#if defined(_MSC_VER) && !defined(__clang__)
    int given[4];
    __cpuidex(given, (int)leaf, 0);
    for (int i = 0; i < 4; i++)
        answer[i] = (unsigned)given[i];
#else
    __cpuid_count(leaf, 0, answer[0], answer[1], answer[2], answer[3]);
#endif
}

static unsigned saved_registers(void) {
#if defined(_MSC_VER) && !defined(__clang__)
    return (unsigned)_xgetbv(0);
#else
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
#endif
}

static int widest(void) {
    enum { FMA = 12, OSXSAVE = 27, AVX = 28 };                                    /* leaf 1, ecx */
    enum { AVX2 = 5, AVX512F = 16, AVX512DQ = 17, AVX512BW = 30, AVX512VL = 31 }; /* leaf 7, ebx */
    enum { VBMI2 = 6 };                                                           /* leaf 7, ecx */
    unsigned first[4], features[4], more[4];
    ask(0, first);
    ask(1, features);
    const unsigned basic = 1u << FMA | 1u << OSXSAVE | 1u << AVX;
    if (first[0] < 7 || (features[2] & basic) != basic)
        return EXI_SETS_SSE2;
    ask(7, more);
    const unsigned saved = saved_registers(), halves = 0x06, wholes = 0xE6;
    if ((saved & halves) != halves || !(more[1] >> AVX2 & 1))
        return EXI_SETS_SSE2;
    const unsigned all = 1u << AVX512F | 1u << AVX512DQ | 1u << AVX512BW | 1u << AVX512VL;
    const bool has = (saved & wholes) == wholes && (more[1] & all) == all && (more[2] >> VBMI2 & 1);
    return has ? EXI_SETS_AVX512 : EXI_SETS_AVX2;
}

static const char *const names[] = {"", "sse2", "avx2", "avx512"};

static void use(int set) {
#if defined(__GNUC__)
    __atomic_store_n(&exi_set_in_use, set, __ATOMIC_RELAXED);
#else
    *(volatile int *)&exi_set_in_use = set;
#endif
}

int exi_set_find(void) {
    const int set = widest();
    use(set);
    return set;
}

const char *ex_simd_name(void) {
    return names[exi_set()];
}

bool ex_simd_use(const char *name) {
    const int most = widest();
    if (!name) {
        use(most);
        return true;
    }
    for (int set = EXI_SETS_SSE2; set <= most; set++)
        if (strcmp(name, names[set]) == 0) {
            use(set);
            return true;
        }
    return false;
}

#else

int exi_set_find(void) {
    return EXI_SETS_UNKNOWN;
}

const char *ex_simd_name(void) {
    return EXI_SIMD_NAME;
}

bool ex_simd_use(const char *name) {
    return !name || strcmp(name, EXI_SIMD_NAME) == 0;
}

#endif
