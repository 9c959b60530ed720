/*
 * Limits of axes: which are in force, and their tables (limits.inl).
 */
#include "runtime/weigh/limits.inl"
#include "runtime/weigh/weigher.h"

#include <float.h>
#include <math.h>

/* Share of the distance to a neighbour over which a held axis comes to rest. */
static const double soft_share = 1.0 / 32;

const char *ex_limit_name(ex_limit limit) {
    static const char *const names[] = {
#define NAME(id, text) text,
        EX_LIMIT_LIST(NAME)
#undef NAME
    };
    return (unsigned)limit < EX_LIMIT_COUNT ? names[limit] : "unknown limit";
}

static ex_limit limit_of(const exi_weigher_kind *kind, const ex_axis *axis) {
    if (!kind->info.has_points || kind->info.is_driven)
        return EX_LIMIT_EXTRAPOLATE;
    const ex_limit limit = axis->limit != EX_LIMIT_KIND ? axis->limit
                           : kind->holds                ? EX_LIMIT_HOLD
                                                        : EX_LIMIT_EXTRAPOLATE;
    return limit == EX_LIMIT_HOLD && axis->kind != EX_AXIS_SCALAR ? EX_LIMIT_EXTRAPOLATE : limit;
}

bool exi_limits_needed(const exi_weigher_kind *kind, const ex_axis *axes, int axis_count) {
    for (int i = 0; i < axis_count; i++)
        if (limit_of(kind, &axes[i]) != EX_LIMIT_EXTRAPOLATE)
            return true;
    return false;
}

/* Distance from a point to its nearest other; 1 for a single point. */
static double nearest_distance(const ex_weigher *w, int point) {
    double nearest = DBL_MAX;
    for (int j = 0; j < exi_point_count(w); j++)
        if (j != point)
            nearest = fmin(nearest, exi_feature_distance(w, exi_features(w, point), exi_features(w, j)));
    return nearest < DBL_MAX ? nearest : 1;
}

static void set_ends(const ex_weigher *w, int scalar, exi_limit_record *record) {
    int lowest = 0, highest = 0;
    for (int j = 1; j < exi_point_count(w); j++) {
        lowest = exi_features(w, j)[scalar] < exi_features(w, lowest)[scalar] ? j : lowest;
        highest = exi_features(w, j)[scalar] > exi_features(w, highest)[scalar] ? j : highest;
    }
    record->low = exi_features(w, lowest)[scalar];
    record->high = exi_features(w, highest)[scalar];
    record->low_soft = soft_share * nearest_distance(w, lowest);
    record->high_soft = soft_share * nearest_distance(w, highest);
}

void exi_limits_set(ex_weigher *w) {
    const exi_weigher_kind *kind = exi_weigher_kind_of(w->kind);
    exi_limit_record *record = exi_limits(w);
    double width = 0;
    int scalar = 0;
    for (int i = 0; i < w->axis_count; i++) {
        const ex_axis axis = exi_axis_restore(&exi_axes(w)[i]);
        record[i] = (exi_limit_record){.limit = limit_of(kind, &axis)};
        if (record[i].limit == EX_LIMIT_FADE && width == 0) {
            for (int j = 0; j < exi_point_count(w); j++)
                width += nearest_distance(w, j);
            width /= exi_point_count(w);
        }
        record[i].width = record[i].limit == EX_LIMIT_FADE ? width : 0;
        if (axis.kind != EX_AXIS_SCALAR)
            continue;
        if (record[i].limit != EX_LIMIT_EXTRAPOLATE)
            set_ends(w, scalar, &record[i]);
        scalar++;
    }
}

bool exi_limits_are_sound(const ex_weigher *w) {
    const exi_limit_record *record = exi_limits(w);
    for (int i = 0; i < w->axis_count; i++) {
        const double limit = record[i].limit;
        if (limit != EX_LIMIT_HOLD && limit != EX_LIMIT_FADE && limit != EX_LIMIT_EXTRAPOLATE)
            return false;
        if (!(record[i].low <= record[i].high) || !(record[i].low_soft >= 0) || !(record[i].high_soft >= 0) ||
            !(record[i].width >= 0))
            return false;
    }
    return true;
}
