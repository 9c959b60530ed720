/*
 * Checks that stored bytes are a valid weigher. Counts determine every offset and the size, so those are computed again
 * and compared. Then every number must be finite, every parameter in the range of its table, every axis a possible one,
 * and sets of examples of the expected sizes; the kind checks its own tables. A weigher that passes can be evaluated
 * without reading outside itself.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/weigh/weigher.h"

#include <math.h>
#include <string.h>

static bool sound_flags(const ex_weigher *w) {
    const exi_weigher_kind *kind = exi_weigher_kind_of(w->kind);
    const uint32_t limits = kind->info.has_points && !kind->info.is_driven ? EXI_WEIGHER_LIMITS : 0;
    return (w->flags & ~(exi_weigher_flags(w->kind) | limits)) == (kind->angular ? EXI_WEIGHER_ANGULAR : 0);
}

/* True if sizes computed from these counts cannot overflow; later checks show if they are correct. */
static bool sound_set_counts(const ex_weigher *w) {
    if (w->set_count == 0 || !exi_weigher_kind_of(w->kind)->info.has_sets)
        return w->set_count == 0 && w->set_weight_count == 0 && w->set_square_count == 0;
    return w->set_count > 0 && w->set_weight_count <= INT32_MAX &&
           w->set_square_count <= w->set_weight_count * (uint64_t)w->example_count;
}

/* Checks features and numbers of a point, for axes without a driver. */
static bool sound_dimension(const ex_weigher *w) {
    return w->feature_count >= 1 && w->scalar_count <= w->axis_count &&
           w->rotation_count == w->axis_count - w->scalar_count &&
           w->dimension == w->scalar_count + 4 * (int64_t)w->rotation_count && w->feature_count <= w->dimension;
}

static bool sound_head(const ex_weigher *w) {
    const exi_weigher_kind *kind = exi_weigher_kind_of(w->kind);
    if (!kind || w->kernel >= EX_KERNEL_COUNT || !sound_flags(w))
        return false;
    if (w->axis_count < 1 || w->example_count < 1 || w->pseudo_count < 0 || w->scalar_count < 0 ||
        w->rotation_count < 0 || w->dimension < 1 || w->feature_count < 0)
        return false;
    if (w->example_count > EX_POINT_MAX || w->pseudo_count > EX_POINT_MAX - w->example_count)
        return false;
    if (kind->info.has_points && w->axis_count > EX_AXIS_MAX)
        return false;
    return (kind->info.is_driven || sound_dimension(w)) && sound_set_counts(w) &&
           (!kind->is_sound_head || kind->is_sound_head(w));
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
        if (axis.kind == EX_AXIS_DRIVER &&
            (!exi_weigher_kind_of(w->kind)->info.is_driven || axis.width != w->example_count))
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

/* True if the lists of examples match the sets' bits, and the sums of their sizes the layout. */
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

ex_result exi_weigher_validate(const ex_weigher *w, size_t size, ex_error *error) {
    bool sound = size >= sizeof *w && size % 8 == 0 && sound_head(w) && sound_layout(w, size);
    for (size_t i = sizeof *w; sound && i < size; i += sizeof(double)) {
        double value;
        if (i >= w->sets && i < w->points)
            continue;
        memcpy(&value, (const char *)w + i, sizeof value);
        sound = isfinite(value);
    }
    sound = sound && isfinite(w->radius) && isfinite(w->ridge) && isfinite(w->power) && exi_parameters_are_sound(w) &&
            sound_axes(w) && sound_sets(w) && (!(w->flags & EXI_WEIGHER_LIMITS) || exi_limits_are_sound(w));
    if (sound && exi_weigher_kind_of(w->kind)->is_sound)
        sound = exi_weigher_kind_of(w->kind)->is_sound(w);
    return sound ? EX_OK : ex_error_set(error, EX_ERROR_DATA, "a stored space is damaged");
}
