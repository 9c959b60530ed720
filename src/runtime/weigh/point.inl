/*
 * A point of a space, axis by axis: replacements for unusable numbers, and the features by which points are compared
 * (docs/design.md, "Spaces"). Common subset of C and CUDA.
 */
#ifndef EXI_POINT_INL
#define EXI_POINT_INL

#include "runtime/base/vector.h"
#include "runtime/weigh/block.h"

/* Scalars are limited to this many ranges from rest, so that weights are always finite. */
#define EXI_FARTHEST 1e6

EXI_INLINE bool exi_all_finite(const double *values, int count) {
    for (int i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

EXI_INLINE double exi_axis_clean_scalar(const exi_axis_record *axis, double value) {
    if (!isfinite(value))
        return axis->rest;
    double range = axis->max - axis->min;
    double low = exi_axis_clamps(axis) ? axis->min : axis->rest - EXI_FARTHEST * range;
    double high = exi_axis_clamps(axis) ? axis->max : axis->rest + EXI_FARTHEST * range;
    return value < low ? low : value > high ? high : value;
}

/* point may be NULL for rest. */
EXI_INLINE void exi_axis_clean_rotation(const exi_axis_record *axis, const double *point, double clean[4]) {
    bool sound = point && exi_all_finite(point, 4);
    for (int k = 0; k < 4; k++)
        clean[k] = sound ? point[k] : axis->rest_rotation[k];
    if (!exi_normalise(clean, 4)) {
        clean[0] = clean[1] = clean[2] = 0;
        clean[3] = 1;
    }
}

EXI_INLINE double exi_axis_scalar_feature(const exi_axis_record *axis, double clean) {
    return (clean - axis->min) * axis->true_scale;
}

/* Three numbers for a swing, four for others. */
EXI_INLINE void exi_axis_rotation_features(const exi_axis_record *axis, const double q[4], double *features) {
    double about[3] = {axis->about[0], axis->about[1], axis->about[2]};
    exi_normalise(about, 3);
    if (axis->kind == EX_AXIS_SWING)
        exi_rotate(q, about, features);
    else if (axis->kind == EX_AXIS_TWIST)
        exi_twist(q, about, features);
    else
        for (int k = 0; k < 4; k++)
            features[k] = q[k];
}

#endif
