/*
 * The instruction sets of a build that has several, and the one in use (set.c).
 */
#ifndef EXI_SETS_H
#define EXI_SETS_H

#if defined(EXI_SETS) && !defined(__x86_64__) && !defined(_M_X64)
#error "EXI_SETS is for x86-64"
#endif

/* From the narrowest to the widest. */
enum { EXI_SETS_UNKNOWN, EXI_SETS_SSE2, EXI_SETS_AVX2, EXI_SETS_AVX512 };

/* The set in use; EXI_SETS_UNKNOWN before the first question. */
extern int exi_set_in_use;
/* Asks the machine, and returns the set. */
int exi_set_find(void);

static inline int exi_set(void) {
#if defined(__GNUC__)
    const int set = __atomic_load_n(&exi_set_in_use, __ATOMIC_RELAXED);
#else
    const int set = *(volatile int *)&exi_set_in_use;
#endif
    return set ? set : exi_set_find();
}

#endif
