/*
 * The direct weigher: the axes are the weights, axis i for example i. For blend shapes and mixtures set by hand.
 */
#include "runtime/base/result.h"
#include "runtime/weigh/weigher.h"

static ex_result check(const ex_weigher_def *def, ex_error *error) {
    for (int i = 0; i < def->axis_count; i++)
        if (def->axes[i].kind != EX_AXIS_SCALAR)
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "axis %d is a rotation: a direct weigher has scalar axes only", i);
    if (def->axis_count != def->example_count)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a direct weigher has one axis per example: %d axes, %d examples",
                            def->axis_count, def->example_count);
    if (def->pseudo_count != 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a direct weigher has no space, so it cannot have pseudo-examples");
    return EX_OK;
}

ex_weigher_def ex_weigher_def_direct(const ex_axis *axes, int count) {
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_DIRECT;
    def.axes = axes;
    def.axis_count = def.example_count = count;
    return def;
}

static bool is_sound_head(const ex_weigher *w) {
    return w->scalar_count == w->example_count && w->rotation_count == 0 && w->pseudo_count == 0;
}

const exi_weigher_kind exi_weigher_direct = {
    .info = {.help = "Each axis is the weight of its example.", .has_gpu_code = true},
    .check = check,
    .is_sound_head = is_sound_head,
};
