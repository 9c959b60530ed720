/*
 * Whether stored bytes are a sound weigher. Counts decide every offset and the size, so those are worked out again and
 * compared; then every number must be finite, every axis be one that could have been made, and sets of examples be of
 * the sizes that were counted on. What passes can be evaluated without reading outside itself.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/weigh/gaussian.h"
#include "runtime/weigh/weigher.h"

#include <math.h>
#include <string.h>

static bool sound_flags(const ex_weigher *w) {
    switch (w->kind) {
    case EX_WEIGHER_CARDINAL:
        return (w->flags & ~(uint32_t)(EXI_WEIGHER_LINEAR | EXI_WEIGHER_SUM_1)) == 0;
    case EX_WEIGHER_SHEPARD:
        return w->flags == EXI_WEIGHER_ANGULAR;
    case EX_WEIGHER_NEAREST:
        return (w->flags & ~(uint32_t)EXI_WEIGHER_PAPER_FORM) == EXI_WEIGHER_ANGULAR;
    case EX_WEIGHER_GAUSSIAN:
        return (w->flags & ~(uint32_t)EXI_WEIGHER_METRICS) == 0;
    default:
        return w->flags == 0;
    }
}

/* So that sizes made of them cannot overflow; whether they are true shows later. */
static bool sound_set_counts(const ex_weigher *w) {
    if (w->set_count == 0 || w->kind != EX_WEIGHER_GAUSSIAN)
        return w->set_count == 0 && w->set_weight_count == 0 && w->set_square_count == 0;
    return w->set_count > 0 && w->set_weight_count <= INT32_MAX &&
           w->set_square_count <= w->set_weight_count * (uint64_t)w->example_count;
}

/* What a convex weigher's axes add up to: a driver as wide as there are examples, and a scalar or none. */
static bool sound_driver(const ex_weigher *w) {
    return w->example_count <= EX_CONVEX_MAX && w->scalar_count <= 1 && w->axis_count == w->scalar_count + 1 &&
           w->rotation_count == 0 && w->dimension == w->example_count + w->scalar_count &&
           w->feature_count == w->scalar_count && w->pseudo_count == 0;
}

static bool sound_head(const ex_weigher *w) {
    bool has_points = w->kind != EX_WEIGHER_DIRECT;
    if (w->kind >= EX_WEIGHER_COUNT || w->kernel >= EX_KERNEL_COUNT || !sound_flags(w))
        return false;
    if (w->axis_count < 1 || w->example_count < 1 || w->pseudo_count < 0 || w->scalar_count < 0 ||
        w->rotation_count < 0 || w->dimension < 1 || w->feature_count < (w->kind != EX_WEIGHER_CONVEX))
        return false;
    if (w->example_count > EX_POINT_MAX || w->pseudo_count > EX_POINT_MAX - w->example_count)
        return false;
    if (has_points ? w->axis_count > EX_AXIS_MAX
                   : (w->scalar_count != w->example_count || w->rotation_count != 0 || w->pseudo_count != 0))
        return false;
    if (w->kind == EX_WEIGHER_CONVEX)
        return sound_driver(w) && sound_set_counts(w);
    if (w->scalar_count > w->axis_count || w->rotation_count != w->axis_count - w->scalar_count ||
        w->dimension != w->scalar_count + 4 * (int64_t)w->rotation_count || w->feature_count > w->dimension)
        return false;
    if (!sound_set_counts(w))
        return false;
    return w->kind != EX_WEIGHER_NEAREST || (w->neighbours >= 1 && w->neighbours <= EX_NEIGHBOUR_MAX);
}

static bool sound_layout(const ex_weigher *w, size_t size) {
    ex_weigher again = *w;
    return exi_weigher_layout(&again) && memcmp(&again, w, sizeof again) == 0 && w->size == size;
}

static bool sound_axes(const ex_weigher *w) {
    int scalars = 0, rotations = 0, features = 0;
    const exi_rotation_metric *rotation = (const exi_rotation_metric *)(const void *)exi_table(w, w->rotations);
    for (int i = 0; i < w->axis_count; i++) {
        const exi_axis_record *record = &exi_axes(w)[i];
        if (!(record->kind >= 0 && record->kind < EX_AXIS_KIND_COUNT) || record->kind != floor(record->kind))
            return false;
        ex_axis axis = exi_axis_restore(record);
        if (exi_axis_check(&axis, i, NULL) != EX_OK || !(record->true_scale > 0))
            return false;
        const int width = exi_feature_width(axis.kind);
        if (axis.kind == EX_AXIS_DRIVER && (w->kind != EX_WEIGHER_CONVEX || axis.width != w->example_count))
            return false;
        scalars += axis.kind == EX_AXIS_SCALAR;
        features += width;
        if (!exi_is_rotation(axis.kind))
            continue;
        if (rotations == w->rotation_count || rotation[rotations++].width != width)
            return false;
    }
    return scalars == w->scalar_count && features == w->feature_count;
}

/* The lists of examples are those of the sets' bits, and the sums of their sizes what the layout was made from. */
static bool sound_sets(const ex_weigher *w) {
    const size_t words = exi_set_words(w->example_count);
    const uint32_t *sets = exi_weigher_sets(w), *sizes = sets + (size_t)w->set_count * words,
                   *members = sizes + w->set_count;
    uint64_t together = 0, squares = 0;
    for (int i = 0; i < w->set_count; i++) {
        const uint32_t *set = sets + (size_t)i * words;
        uint32_t size = 0;
        if (w->example_count % 32 != 0 && set[words - 1] >> (w->example_count % 32) != 0)
            return false;
        for (int k = 0; k < w->example_count; k++) {
            if (!exi_set_has(set, k))
                continue;
            if (together + size >= w->set_weight_count || members[together + size] != (uint32_t)k)
                return false;
            size++;
        }
        if (size == 0 || sizes[i] != size)
            return false;
        together += size;
        squares += (uint64_t)size * size;
    }
    return together == w->set_weight_count && squares == w->set_square_count;
}

/* Whoever asks for the point to blame will look it up. */
static bool sound_ridge(const ex_weigher *w) {
    if (w->kind != EX_WEIGHER_GAUSSIAN)
        return true;
    const double point = exi_gaussian_tables(w).record->point;
    return point >= -1 && point < exi_point_count(w) && point == floor(point);
}

ex_result exi_weigher_validate(const ex_weigher *w, size_t size, ex_error *error) {
    bool sound = size >= sizeof *w && size % 8 == 0 && sound_head(w) && sound_layout(w, size);
    for (size_t i = sizeof *w; sound && i < size; i += sizeof(double)) {
        double value;
        if (i >= w->sets && i < w->points)
            continue;
        memcpy(&value, (const char *)w + i, sizeof value);
        sound = isfinite(value);
    }
    sound = sound && isfinite(w->radius) && isfinite(w->ridge) && isfinite(w->power) && sound_axes(w) &&
            sound_sets(w) && sound_ridge(w) && (w->kind != EX_WEIGHER_CONVEX || exi_convex_is_sound(w));
    return sound ? EX_OK : exi_error(error, EX_ERROR_DATA, "a stored space is not sound");
}
