/* The convex weigher: to come. */
#include "runtime/base/result.h"
#include "runtime/weigh/weigher.h"

static ex_result check(const ex_weigher_def *def, ex_error *error) {
    (void)def;
    return exi_error(error, EX_ERROR_ARGUMENT, "convex weighers are not there yet");
}

const exi_weigher_kind exi_weigher_convex = {true, false, check, NULL, NULL, NULL};

void ex_weigher_evaluate_from(const ex_weigher *weigher, const double *point, double *weights, void *state,
                              void *scratch) {
    (void)state;
    (void)scratch;
    ex_weigher_evaluate(weigher, point, weights);
}

size_t ex_weigher_state_size(const ex_weigher *weigher) {
    (void)weigher;
    return 0;
}

size_t ex_weigher_scratch_size(const ex_weigher *weigher) {
    (void)weigher;
    return 0;
}

double ex_weigher_hull_distance_sq(const ex_weigher *weigher, const double *point, double self, const double *weights) {
    (void)weigher;
    (void)point;
    (void)self;
    (void)weights;
    return 0;
}
