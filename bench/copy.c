/*
 * bench/copy.c - the limits of the machine with the instruction set in use: its clock; multiply-adds of numbers in
 * registers; reading in one stream and in two, and copying, for amounts that fit the first, second and third level of a
 * usual cache, and none. Reading means adding every number to one of twelve sums, as many at once as a register holds.
 * Two streams are two halves of the memory read side by side.
 */
#include "bench/bench.h"

#include <exemplar/base.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_MAX = 6 * 16 }; /* floats of a step with the widest registers */

typedef struct reading {
    const float *values;
    size_t count; /* a multiple of 2 * STEP_MAX */
    bool two;
    int passes; /* enough that starting and ending a run do not matter */
    volatile float sink;
    float (*read)(const struct reading *r);
} reading;

/* Before a loop over registers: they are registers only if it is unrolled. */
#if defined(__GNUC__)
#define WRITE_OUT _Pragma("GCC unroll 32")
#else
#define WRITE_OUT
#endif

/* The set that every build has. */
#define NAME(x) x##_base
#define TARGET
#if defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#define LANES 4
#define SUMS  20
#define MULTIPLY_ADD(sum, factor)                                                                                      \
    ((wide_base)vfmaq_f32((float32x4_t)(sum), (float32x4_t)(factor), (float32x4_t)(factor)))
#else
#define LANES                     4
#define SUMS                      12
#define MULTIPLY_ADD(sum, factor) ((sum) * (factor) + (factor)) /* not a constant product, which would be made once */
#endif
#include "bench/limits.inl"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define NAME(x)                   x##_avx2
#define TARGET                    __attribute__((target("avx2,fma")))
#define LANES                     8
#define SUMS                      12
#define MULTIPLY_ADD(sum, factor) ((wide_avx2)_mm256_fmadd_ps((__m256)(factor), (__m256)(factor), (__m256)(sum)))
#include "bench/limits.inl"

#define NAME(x)                   x##_avx512
#define TARGET                    __attribute__((target("avx512f")))
#define LANES                     16
#define SUMS                      16
#define MULTIPLY_ADD(sum, factor) ((wide_avx512)_mm512_fmadd_ps((__m512)(factor), (__m512)(factor), (__m512)(sum)))
#include "bench/limits.inl"
#endif

static float (*reader(void))(const reading *r) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (strcmp(ex_simd_name(), "avx512") == 0)
        return read_avx512;
    if (strcmp(ex_simd_name(), "avx2") == 0)
        return read_avx2;
#endif
    return read_base;
}

static double (*multiplier(void))(volatile float *sink) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (strcmp(ex_simd_name(), "avx512") == 0)
        return multiply_avx512;
    if (strcmp(ex_simd_name(), "avx2") == 0)
        return multiply_avx2;
#endif
    return multiply_base;
}

static void read_all(void *context) {
    reading *r = context;
    for (int pass = 0; pass < r->passes; pass++)
        r->sink = r->read(r);
}

double exi_read_speed(size_t bytes, int streams, int repeat) {
    size_t step = 2 * STEP_MAX * sizeof(float), size = (bytes + step - 1) / step * step;
    float *values = malloc(size + 64);
    if (!values)
        return 0;
    reading r = {.count = size / sizeof(float),
                 .two = streams == 2,
                 .passes = 1 + (int)(((size_t)1 << 20) / size),
                 .read = reader()};
    for (size_t i = 0; i < r.count + 64 / sizeof(float); i++)
        values[i] = (float)(i % 7);
    r.values = (const float *)(((uintptr_t)values + 63) / 64 * 64); /* with the library's alignment of tables */
    exi_work work = {read_all, &r};
    double ns = exi_measure_alone(&work, repeat);
    free(values);
    return (double)size * r.passes / ns;
}

/* ---- clock and multiply-adds ---- */

typedef struct counting {
    double (*multiply)(volatile float *sink);
    double made;
    volatile float sink;
    volatile unsigned long long number;
} counting;

static void multiply_once(void *context) {
    counting *c = context;
    c->made = c->multiply(&c->sink);
}

/* Additions that wait for each other, one a cycle on every processor of today. */
static void count_cycles(void *context) {
    enum { TURNS = 1000, EACH = 32 };
    counting *c = context;
    unsigned long long number = c->number, step = number | 1;
    for (int turn = 0; turn < TURNS; turn++) {
        WRITE_OUT
        for (int i = 0; i < EACH; i++) {
            number += step;
#if defined(__GNUC__)
            __asm__ volatile("" : "+r"(number)); /* keeps the compiler from multiplying instead */
#endif
        }
    }
    c->number = number;
    c->made = (double)TURNS * EACH;
}

static void limit_rows(const exi_bench *bench) {
    counting c = {.multiply = multiplier(), .sink = 0.5f, .number = 1};
#if defined(__GNUC__)
    const exi_work cycles = {count_cycles, &c};
    exi_row clock = {
        .group = "copy", .work = "clock", .rate_unit = "GHz", .ns = exi_measure_alone(&cycles, bench->repeat)};
    clock.rate = c.made / clock.ns;
    bench->report(bench->user, &clock);
#endif
    const exi_work work = {multiply_once, &c};
    exi_row row = {.group = "copy",
                   .work = "multiply-adds of floats",
                   .rate_unit = "G/s",
                   .ns = exi_measure_alone(&work, bench->repeat)};
    row.rate = c.made / row.ns;
    bench->report(bench->user, &row);
}

/* ---- reading and copying ---- */

typedef struct copying {
    char *from, *to;
    size_t size;
} copying;

static void copy_once(void *context) {
    const copying *c = context;
    memcpy(c->to, c->from, c->size);
    c->from[0] = (char)(c->to[c->size - 1] + 1); /* so that the compiler cannot omit a copy */
}

static bool copy_row(const exi_bench *bench, size_t bytes, const char *name) {
    copying c = {malloc(bytes / 2), malloc(bytes / 2), bytes / 2};
    bool good = c.from && c.to;
    if (good) {
        memset(c.from, 1, c.size);
        memset(c.to, 1, c.size);
        exi_work work = {copy_once, &c};
        exi_row row = {.group = "copy", .bytes = (double)bytes, .ns = exi_measure_alone(&work, bench->repeat)};
        snprintf(row.work, sizeof row.work, "copy %s", name);
        bench->report(bench->user, &row);
    }
    free(c.from);
    free(c.to);
    return good;
}

static bool read_row(const exi_bench *bench, size_t bytes, int streams, const char *name) {
    double speed = exi_read_speed(bytes, streams, bench->repeat);
    exi_row row = {.group = "copy", .bytes = (double)bytes, .ns = speed > 0 ? (double)bytes / speed : 0};
    snprintf(row.work, sizeof row.work, "read %s%s", name, streams == 2 ? ", two streams" : "");
    if (speed > 0)
        bench->report(bench->user, &row);
    return speed > 0;
}

bool exi_bench_copy(const exi_bench *bench) {
    static const struct {
        const char *name;
        size_t bytes;
    } levels[] = {{"32 KiB", (size_t)32 << 10},
                  {"512 KiB", (size_t)512 << 10},
                  {"8 MiB", (size_t)8 << 20},
                  {"128 MiB", (size_t)128 << 20}};
    bool good = true;
    limit_rows(bench);
    for (size_t i = 0; good && i < sizeof levels / sizeof levels[0]; i++)
        good = read_row(bench, levels[i].bytes, 1, levels[i].name) &&
               read_row(bench, levels[i].bytes, 2, levels[i].name) && copy_row(bench, levels[i].bytes, levels[i].name);
    return good;
}
