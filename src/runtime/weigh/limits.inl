/*
 * Limits of axes: beyond the outermost points, weights are held or fade (ex_limit). Common subset of C and CUDA.
 *
 * Holding: a scalar feature x above the largest of the points, `high`, becomes high + s t (1 - t/2)^2 with
 * t = (x - high)/s up to t = 2, and high beyond. So weights come to rest without a corner, and then are those of the
 * end exactly. s is 1/32 of the distance from the outermost point to its nearest neighbour.
 *
 * Fading: scalars are held as well, and weights are multiplied by (1 - t^2)^2, t = excess / width up to 1, and by 0
 * beyond. So no weight grows on its way to nothing. The excess of a scalar is how far it is beyond the points. That of
 * a rotation is how much farther it is from the nearest point than the width, which is the mean distance of neighbours.
 */
#ifndef EXI_LIMITS_INL
#define EXI_LIMITS_INL

#include "runtime/weigh/block.h"

/* Limit of an axis. EXTRAPOLATE where there is nothing to do. */
typedef struct exi_limit_record {
    double limit; /* ex_limit, not KIND */
    double low, high, low_soft, high_soft, width;
} exi_limit_record;

/* [axis_count], at the end of a block that has LIMITS. */
EXI_INLINE exi_limit_record *exi_limits(const ex_weigher *w) {
    const size_t size = (size_t)w->axis_count * sizeof(exi_limit_record);
    return (exi_limit_record *)(void *)exi_table_mut((ex_weigher *)(uintptr_t)w, w->size - size);
}

/* Distance beyond an end at which something that is x beyond it counts. */
EXI_INLINE double exi_limit_soften(double x, double soft) {
    const double t = x / soft;
    return t < 2 ? x * (1 - 0.5 * t) * (1 - 0.5 * t) : 0;
}

EXI_INLINE double exi_limit_bell(double excess, double width) {
    const double t = excess / width;
    return !(t > 0) ? 1 : t < 1 ? (1 - t * t) * (1 - t * t) : 0;
}

/* Holds a scalar feature unless its axis extrapolates. Returns the factor by which the axis fades all weights. */
EXI_INLINE double exi_limit_scalar(const exi_limit_record *record, double *feature) {
    const double above = *feature - record->high, below = record->low - *feature;
    if (record->limit == EX_LIMIT_EXTRAPOLATE || !(above > 0 || below > 0))
        return 1;
    *feature = above > 0 ? record->high + exi_limit_soften(above, record->high_soft)
                         : record->low - exi_limit_soften(below, record->low_soft);
    return record->limit == EX_LIMIT_FADE ? exi_limit_bell(above > 0 ? above : below, record->width) : 1;
}

/* The factor by which the axes that are rotations fade all weights at a row of features. */
EXI_INLINE double exi_limit_rotations(const ex_weigher *w, const double *features) {
    const exi_limit_record *record = exi_limits(w);
    const exi_axis_record *axis = exi_axes(w);
    const exi_rotation_metric *rotation = (const exi_rotation_metric *)(const void *)exi_table(w, w->rotations);
    double factor = 1;
    int place = w->scalar_count;
    EXI_ROLLED for (int i = 0; w->rotation_count > 0 && i < w->axis_count; i++) {
        if (axis[i].kind == EX_AXIS_SCALAR)
            continue;
        const bool fades = record[i].limit == EX_LIMIT_FADE;
        const int size = (int)rotation->width;
        double nearest = INFINITY;
        EXI_ROLLED for (int j = 0; fades && j < exi_point_count(w); j++) {
            const double distance = exi_rotation_distance(features + place, exi_features(w, j) + place, size,
                                                          (w->flags & EXI_WEIGHER_ANGULAR) != 0) *
                                    rotation->scale;
            nearest = distance < nearest ? distance : nearest;
        }
        if (fades)
            factor *= exi_limit_bell(nearest - record[i].width, record[i].width);
        place += size;
        rotation++;
    }
    return factor;
}

#endif
