/*
 * The motion weigher: the weights that a predictor (exemplar/predict.h) gave for the motion of a driver. They are the
 * numbers on its driver axis, one for each example, so there is nothing to compute here.
 */
#include "runtime/base/result.h"
#include "runtime/weigh/weigher.h"

static ex_result check(const ex_weigher_def *def, ex_error *error) {
    if (def->axis_count != 1 || def->axes[0].kind != EX_AXIS_DRIVER || def->axes[0].width != def->example_count)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a motion weigher has one axis, a driver, with a number for each example");
    if (def->pseudo_count != 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a motion weigher has no points, so it cannot have pseudo-examples");
    return EX_OK;
}

static bool is_sound_head(const ex_weigher *w) {
    return w->axis_count == 1 && w->scalar_count == 0 && w->rotation_count == 0 && w->feature_count == 0 &&
           w->pseudo_count == 0 && w->dimension == w->example_count && w->example_count <= EX_CONVEX_MAX;
}

const exi_weigher_kind exi_weigher_motion = {
    .info = {.help = "Weights learned from how the driver moves: its pose, gravity, speed and acceleration.",
             .is_driven = true,
             .is_predicted = true},
    .check = check,
    .is_sound_head = is_sound_head,
};
