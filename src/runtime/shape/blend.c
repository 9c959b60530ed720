/*
 * The dense blend: position(v) = base(v) + sum over k of w_k delta_k(v) (Shape by Example, equation 3).
 *
 * It must read 12 bytes a vertex and example (6 in 16 bit), once, and does two operations for every four of them, so
 * what counts is the stream: the sums of a tile stay in registers while the tile's examples pass by. Two tiles, from
 * the two halves of the range, go side by side: two streams keep more of the memory system busy than one (19 instead of
 * 27 ns a vertex at 64 examples out of cache), also more than one stream with prefetch instructions (21); four are no
 * better, and unrolling over examples made it slower. A caller with several blends makes them one after the other over
 * a short range, which is then in a cache for all but the first.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/simd.h"
#include "runtime/shape/forms.h"

#include <math.h>
#include <string.h>

enum { AXIS_WIDES = EXI_TILE / EXI_WIDTH, TILE_WIDES = 3 * AXIS_WIDES, SIDE_BY_SIDE = 2 };

/* Numbers are counted back from their end: where one load has the pointer itself for its address, gcc addresses that
 * one by two registers and joins the others to pairs that cross cache lines. */
static inline void add_floats(const float *end, exi_wide factor, exi_wide sums[TILE_WIDES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < TILE_WIDES; i++)
        sums[i] = exi_madd(exi_load(end - EXI_TILE_FLOATS + i * EXI_WIDTH), factor, sums[i]);
}

static inline void add_shorts(const int16_t *end, exi_ints factor, exi_ints sums[TILE_WIDES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < TILE_WIDES; i += 2)
        exi_add_products(end - EXI_TILE_FLOATS + i * EXI_WIDTH, factor, &sums[i], &sums[i + 1]);
}

/* The sums of tile `a` and, where `both` (a constant where this is called), of tile b. */
static inline void sum_floats(const float *a, const float *b, bool both, const exi_blend *blend,
                              exi_wide sums[SIDE_BY_SIDE][TILE_WIDES]) {
    const exi_term *term = blend->terms, *end = term + blend->term_count;
    for (; term < end; term++) {
        add_floats(a + term->end, exi_splat(term->factor), sums[0]);
        if (both)
            add_floats(b + term->end, exi_splat(term->factor), sums[1]);
    }
}

/* Integers are summed as such, which takes a third of the instructions of turning each into a float, and become floats
 * once: sums += unit * integers. exi_forms_set_terms sees to it that nothing overflows. */
static inline void sum_shorts(const int16_t *a, const int16_t *b, bool both, const exi_blend *blend,
                              exi_wide sums[SIDE_BY_SIDE][TILE_WIDES]) {
    const exi_term *term = blend->terms, *end = term + blend->term_count;
    const exi_wide unit = exi_splat(blend->unit);
    exi_ints whole[SIDE_BY_SIDE][TILE_WIDES];
    EXI_WRITE_OUT
    for (int i = 0; i < TILE_WIDES; i++)
        whole[0][i] = whole[1][i] = exi_zero_ints();
    for (; term < end; term++) {
        const exi_ints factor = exi_splat_short((int16_t)term->whole);
        add_shorts(a + term->end, factor, whole[0]);
        if (both)
            add_shorts(b + term->end, factor, whole[1]);
    }
    EXI_WRITE_OUT
    for (int i = 0; i < TILE_WIDES; i++) {
        sums[0][i] = exi_madd(exi_from_ints(whole[0][i]), unit, sums[0][i]);
        if (both)
            sums[1][i] = exi_madd(exi_from_ints(whole[1][i]), unit, sums[1][i]);
    }
}

/* ---- what becomes of the sums ---- */

static void grow_box(const float values[EXI_TILE_FLOATS], int count, float box[6]) {
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < count; v++) {
            float x = values[c * EXI_TILE + v];
            box[c] = x < box[c] ? x : box[c];
            box[3 + c] = x > box[3 + c] ? x : box[3 + c];
        }
}

/* Any stride, the tile that is not full, boxes. */
static void finish_any(const float values[EXI_TILE_FLOATS], const exi_blend *blend, int tile, int count) {
    const size_t first = (size_t)tile * EXI_TILE;
    for (int v = 0; blend->positions && v < count; v++) {
        float triple[3] = {values[v], values[EXI_TILE + v], values[2 * EXI_TILE + v]};
        memcpy((char *)blend->positions + (first + (size_t)v) * blend->stride, triple, sizeof triple);
    }
    if (blend->box)
        grow_box(values, count, blend->box);
}

static inline void finish(const exi_wide sums[TILE_WIDES], const exi_blend *blend, int tile, int vertex_count) {
    const int left = vertex_count - tile * EXI_TILE;
    if (left < EXI_TILE || blend->stride != 3 * sizeof(float) || !blend->positions || blend->box) {
        float values[EXI_TILE_FLOATS];
        EXI_WRITE_OUT
        for (int i = 0; i < TILE_WIDES; i++)
            exi_store(values + i * EXI_WIDTH, sums[i]);
        finish_any(values, blend, tile, left < EXI_TILE ? left : EXI_TILE);
        return;
    }
    float *out = blend->positions + (size_t)tile * EXI_TILE_FLOATS;
    EXI_WRITE_OUT
    for (int i = 0; i < AXIS_WIDES; i++)
        exi_store_triples(out + i * 3 * EXI_WIDTH, sums[i], sums[AXIS_WIDES + i], sums[2 * AXIS_WIDES + i]);
}

/* ---- the pass over the tiles ---- */

static inline void load_base(const float *base, exi_wide sums[TILE_WIDES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < TILE_WIDES; i++)
        sums[i] = exi_load(base + i * EXI_WIDTH);
}

/* The tables of the forms, where they are. Kept apart from ex_forms because positions could, for all the compiler
 * knows, be written over that. */
typedef struct tables {
    const float *base;
    const float *floats; /* or */
    const int16_t *shorts;
    size_t step; /* numbers from a tile's examples to the next tile's */
    int vertex_count;
} tables;

static tables tables_of(const ex_forms *forms) {
    const uintptr_t block = (uintptr_t)forms;
    return (tables){.base = (const float *)(block + (uintptr_t)forms->base),
                    .floats = (const float *)(block + (uintptr_t)forms->tiles),
                    .shorts = (const int16_t *)(block + (uintptr_t)forms->tiles),
                    .step = (size_t)forms->example_count * EXI_TILE_FLOATS,
                    .vertex_count = forms->vertex_count};
}

/* One blend of tile a and, where `both`, of tile b; `both` and `is_float` are constants where this is called. */
static inline void blend_pair(const tables *t, const exi_blend *blend, int a, int b, bool both, bool is_float) {
    exi_wide sums[SIDE_BY_SIDE][TILE_WIDES];
    load_base(t->base + (size_t)a * EXI_TILE_FLOATS, sums[0]);
    load_base(t->base + (size_t)b * EXI_TILE_FLOATS, sums[1]);
    if (is_float)
        sum_floats(t->floats + (size_t)a * t->step, t->floats + (size_t)b * t->step, both, blend, sums);
    else
        sum_shorts(t->shorts + (size_t)a * t->step, t->shorts + (size_t)b * t->step, both, blend, sums);
    finish(sums[0], blend, a, t->vertex_count);
    if (both)
        finish(sums[1], blend, b, t->vertex_count);
}

static inline void blend_all(const tables *t, const exi_blend *blend, int begin, int end, bool is_float) {
    const int half = (end - begin) / 2;
    for (int tile = begin; tile < begin + half; tile++)
        blend_pair(t, blend, tile, tile + half, true, is_float);
    for (int tile = begin + 2 * half; tile < end; tile++)
        blend_pair(t, blend, tile, tile, false, is_float);
}

void exi_forms_blend_tiles(const ex_forms *forms, const exi_blend *blend, int begin, int end) {
    const tables t = tables_of(forms);
    const exi_blend copy = *blend;
    if (forms->storage == EX_STORAGE_FLOAT)
        blend_all(&t, &copy, begin, end, true);
    else
        blend_all(&t, &copy, begin, end, false);
}

static void set_float_terms(const ex_forms *forms, const float *weights, exi_term *terms, exi_blend *blend) {
    for (int k = 0; k < forms->example_count; k++)
        if (weights[k] != 0)
            terms[blend->term_count++] = (exi_term){.end = ((uint32_t)k + 1) * EXI_TILE_FLOATS, .factor = weights[k]};
}

/*
 * Weights as integers W of 16 bits. A sum of W times 16-bit numbers stays within 32 bits where the |W| add up to 65536
 * at most, rounding included: so a unit is the sum of |weight * scale| over 65536 less half the number of examples, and
 * no less than the largest over 32767. What rounding the weights costs is then about what rounding the numbers has
 * cost.
 */
static void set_short_terms(const ex_forms *forms, const float *weights, exi_term *terms, exi_blend *blend) {
    const float *scales = (const float *)((uintptr_t)forms + (uintptr_t)forms->scales);
    double sum = 0, largest = 0;
    for (int k = 0; k < forms->example_count; k++) {
        double size = fabs((double)weights[k] * (double)scales[k]);
        sum += size;
        largest = size > largest ? size : largest;
    }
    const int count = forms->example_count < 32768 ? forms->example_count : 65536;
    double unit = sum / (65536 - count / 2);
    unit = unit > largest / 32767 ? unit : largest / 32767;
    blend->unit = (float)unit;
    for (int k = 0; unit > 0 && k < forms->example_count; k++) {
        int32_t whole = (int32_t)lrint((double)weights[k] * (double)scales[k] / unit);
        if (whole != 0)
            terms[blend->term_count++] = (exi_term){.end = ((uint32_t)k + 1) * EXI_TILE_FLOATS, .whole = whole};
    }
}

void exi_forms_set_terms(const ex_forms *forms, const float *weights, exi_term *terms, exi_blend *blend) {
    blend->terms = terms;
    blend->term_count = 0;
    if (forms->storage == EX_STORAGE_FLOAT)
        set_float_terms(forms, weights, terms, blend);
    else
        set_short_terms(forms, weights, terms, blend);
}

/* ---- the public blend ---- */

typedef struct blend_task {
    const ex_forms *forms;
    exi_blend blend;
} blend_task;

static void blend_range(void *context, int begin, int end) {
    const blend_task *task = context;
    exi_forms_blend_tiles(task->forms, &task->blend, begin, end);
}

size_t ex_forms_scratch_size(const ex_forms *forms) {
    return (size_t)forms->example_count * sizeof(exi_term) + sizeof(exi_term);
}

void ex_forms_blend(const ex_forms *forms, const float *weights, float *positions, size_t stride, const ex_tasks *tasks,
                    void *scratch) {
    if (!forms || !weights || !positions || !scratch) {
        exi_misuse(__func__, "no forms, weights or scratch, or nowhere to put the positions");
        return;
    }
    blend_task task = {.forms = forms, .blend = {.positions = positions, .stride = stride ? stride : 12}};
    exi_forms_set_terms(forms, weights, scratch, &task.blend);
    exi_run(tasks, forms->tile_count, 4096 / EXI_TILE, blend_range, &task);
}
