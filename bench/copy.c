/*
 * bench/copy.c - the limits of the machine: reading in one stream and in two, and copying, for amounts that fit the
 * first, second and third level of a usual cache, and none. Reading means adding every number to one of twelve sums, as
 * many at once as a register holds. Two streams are two halves of the memory read side by side.
 */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__AVX__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
enum { WIDES = 6, STEP = WIDES * LANES };
typedef float wide __attribute__((vector_size(LANES * sizeof(float))));

typedef struct reading {
    const float *values;
    size_t count; /* a multiple of 2 * STEP */
    bool two;
    int passes; /* enough that starting and ending a run do not matter */
    volatile float sink;
} reading;

static inline void add_step(const float *values, wide sums[WIDES]) {
    for (int i = 0; i < WIDES; i++)
        sums[i] += *(const wide *)(values + i * LANES);
}

static inline float total(const wide sums[WIDES]) {
    float sum = 0;
    for (int i = 0; i < WIDES; i++)
        for (int k = 0; k < LANES; k++)
            sum += sums[i][k];
    return sum;
}

/* Two steps per turn: one after the other, or from the two halves. */
static void read_all(void *context) {
    reading *r = context;
    const size_t gap = r->two ? r->count / 2 : STEP, turn = r->two ? STEP : 2 * STEP;
    const float *end = r->two ? r->values + r->count / 2 : r->values + r->count;
    for (int pass = 0; pass < r->passes; pass++) {
        wide first[WIDES] = {{0}}, second[WIDES] = {{0}};
        for (const float *values = r->values; values < end; values += turn) {
            add_step(values, first);
            add_step(values + gap, second);
        }
        r->sink = total(first) + total(second);
    }
}

double exi_read_speed(size_t bytes, int streams, int repeat) {
    size_t step = 2 * STEP * sizeof(float), size = (bytes + step - 1) / step * step;
    float *values = malloc(size + 64);
    if (!values)
        return 0;
    reading r = {.count = size / sizeof(float), .two = streams == 2, .passes = 1 + (int)(((size_t)1 << 20) / size)};
    for (size_t i = 0; i < r.count + 64 / sizeof(float); i++)
        values[i] = (float)(i % 7);
    r.values = (const float *)(((uintptr_t)values + 63) / 64 * 64); /* with the library's alignment of tables */
    exi_work work = {read_all, &r};
    double ns = exi_measure_alone(&work, repeat);
    free(values);
    return (double)size * r.passes / ns;
}

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
    for (size_t i = 0; good && i < sizeof levels / sizeof levels[0]; i++)
        good = read_row(bench, levels[i].bytes, 1, levels[i].name) &&
               read_row(bench, levels[i].bytes, 2, levels[i].name) && copy_row(bench, levels[i].bytes, levels[i].name);
    return good;
}
