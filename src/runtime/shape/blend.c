/*
 * The dense blend (blend_kernel.c): the terms of its sums, and the public function.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/rows.h"
#include "runtime/shape/forms.h"
#include "runtime/shape/terms.inl"

/* ---- terms ---- */

static int set_float_terms(const float *weights, int first, int count, exi_term *terms) {
    int used = 0;
    for (int k = 0; k < count; k++)
        if (weights[k] != 0)
            terms[used++] = (exi_term){.end = ((uint32_t)(first + k) + 1) * EXI_TILE_FLOATS, .factor = weights[k]};
    return used;
}

/*
 * The last examples of 16-bit storage may be minor, in up to EXI_MINOR_GROUPS groups from the back, and are then summed
 * in 16 bits, twice as many at a time. A group of n with sizes that sum to m costs about 0.3 sqrt(n) m / 32767. It is
 * as long as 4 n m^2 is at most s^2, with s the sum of all sizes, so that four of them cost 1e-5 s. Principal forms,
 * whose sizes fall, are mostly minor. Groups of few, or with many weights of 0, are none. Returns the number of
 * examples and the sum of their sizes.
 */
enum { LEAST_MINORS = 8, MOST_MINORS = 4096 };

static int find_minors(const float *scales, const float *weights, int count, double sum, double *minor_sum) {
    int minors = 0, used = 0;
    *minor_sum = 0;
    while (minors + EXI_MINOR_STEP <= count && minors < MOST_MINORS) {
        double more = *minor_sum;
        int more_used = 0;
        for (int k = count - minors - EXI_MINOR_STEP; k < count - minors; k++) {
            more += exi_short_size(weights[k], scales[k]);
            more_used += weights[k] != 0;
        }
        if (!(EXI_MINOR_GROUPS * more * more * (minors + EXI_MINOR_STEP) <= sum * sum))
            break;
        *minor_sum = more;
        used += more_used;
        minors += EXI_MINOR_STEP;
    }
    return minors >= LEAST_MINORS && used > minors / 4 * 3 && *minor_sum > 0 ? minors : 0;
}

static void set_factors(const float *scales, const float *weights, int count, double unit, int16_t *factors) {
    for (int k = 0; k < count; k++) {
        const int16_t factor = (int16_t)exi_short_whole(weights[k], scales[k], unit / 32768);
        for (int i = 0; i < EXI_TILE; i++)
            *factors++ = factor;
    }
}

static int set_short_terms(const float *scales, const float *weights, int first, int count, bool minors,
                           exi_term *terms, exi_sum *out) {
    double sum = 0, largest = 0, units[EXI_MINOR_GROUPS];
    for (int k = 0; k < count; k++) {
        double size = exi_short_size(weights[k], scales[k]);
        sum += size;
        largest = size > largest ? size : largest;
    }
    const double unit = exi_short_unit(sum, largest, count);
    int used = 0, rest = count;
    while (minors && unit > 0 && out->group_count < EXI_MINOR_GROUPS) {
        double minor_sum = 0;
        const int found = find_minors(scales, weights, rest, sum, &minor_sum);
        if (found == 0)
            break;
        rest -= found;
        units[out->group_count] = exi_minor_unit(minor_sum, found);
        out->groups[out->group_count] = (exi_minors){.count = found,
                                                     .start = (uint32_t)(first + rest) * EXI_TILE_FLOATS,
                                                     .unit = (float)units[out->group_count]};
        out->group_count++;
    }
    out->unit = (float)unit;
    for (int k = 0; unit > 0 && k < rest; k++) {
        int32_t whole = exi_short_whole(weights[k], scales[k], unit);
        if (whole != 0)
            terms[used++] = (exi_term){.end = ((uint32_t)(first + k) + 1) * EXI_TILE_FLOATS, .whole = whole};
    }
    int16_t *factors = (int16_t *)(void *)(terms + used);
    for (int g = 0, end = count; g < out->group_count; g++) {
        exi_minors *group = &out->groups[g];
        group->factors = factors;
        end -= group->count;
        set_factors(scales + end, weights + end, group->count, units[g], factors);
        factors += (size_t)group->count * EXI_TILE;
    }
    return used;
}

void exi_forms_set_terms(const ex_forms *forms, const float *weights, int first, int count, bool minors,
                         exi_term *terms, exi_sum *sum) {
    const float *scales = (const float *)((uintptr_t)forms + (uintptr_t)forms->scales);
    *sum = (exi_sum){.terms = terms};
    sum->term_count = forms->storage == EX_STORAGE_FLOAT
                          ? set_float_terms(weights + first, first, count, terms)
                          : set_short_terms(scales + first, weights + first, first, count, minors, terms, sum);
}

/* ---- public blend ---- */

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
        exi_misuse(__func__, "no forms, weights or scratch, or no pointer for the positions");
        return;
    }
    if (!exi_rows_fit(positions, stride, 12) || !exi_rows_fit(scratch, 0, 0)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return;
    }
    blend_task task = {.forms = forms, .blend = {.positions = positions, .stride = stride ? stride : 12}};
    exi_forms_set_terms(forms, weights, 0, forms->example_count, true, scratch, &task.blend.sum);
    exi_run(tasks, forms->tile_count, 4096 / EXI_TILE, blend_range, &task);
}
