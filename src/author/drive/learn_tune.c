/*
 * How many moving frames, and how the residual is carried: what serves best is tried on frames of the references that
 * are no keys, and fewer frames are preferred where more gain next to nothing.
 */
#include "author/drive/learn.h"

#include <math.h>

enum { SAMPLE_MAX = 100 };

/* More frames must gain more than this part of the error. */
static const double worth = 0.02;

static ex_result try_options(exi_learner *l, const ex_drive_options *options, const int *frames, int count,
                             double *mean) {
    double errors[SAMPLE_MAX];
    ex_rig *rig = NULL;
    ex_result result = exi_learn_build(l, 0, l->key_count, l->def->database_axis != NULL, options, &rig);
    if (result == EX_OK)
        result = exi_learn_measure(l, rig, frames, count, errors, NULL);
    *mean = 0;
    for (int i = 0; result == EX_OK && i < count; i++)
        *mean += errors[i] / count;
    ex_rig_destroy(rig);
    return result;
}

ex_result exi_learn_tune(exi_learner *l, ex_drive_options *options) {
    static const int numbers[] = {1, 8, 16, 32};
    static const ex_residual residuals[] = {EX_RESIDUAL_KEYS, EX_RESIDUAL_NONE};
    const int number_count = options->frames < 0 ? 4 : 1;
    const double done = l->done, share = l->share;
    int frames[SAMPLE_MAX];
    const int count = exi_learn_spread(l, NAN, false, SAMPLE_MAX, frames);
    ex_drive_options best = *options;
    double least = INFINITY;
    ex_result result = EX_OK;
    ex_error first = {.result = EX_OK};
    /* What leaves nothing open, or has nothing to be tried on, is taken as it is. */
    if (count == 0 || (options->frames >= 0 && (options->residual != EX_RESIDUAL_COUNT || options->frames < 2)))
        return EX_OK;
    for (int i = 0; i < number_count; i++) {
        double here = INFINITY;
        ex_drive_options choice = *options;
        choice.frames = options->frames < 0 ? numbers[i] : options->frames;
        ex_drive_options best_here = choice;
        for (int r = 0; r < 2; r++) {
            double mean;
            if (options->residual != EX_RESIDUAL_COUNT && r > 0)
                break;
            choice.residual = options->residual != EX_RESIDUAL_COUNT ? options->residual : residuals[r];
            l->share = share / (2 * number_count);
            l->done = done + (2 * i + r) * l->share;
            result = try_options(l, &choice, frames, count, &mean);
            if (result == EX_ERROR_DATA && options->frames < 0) { /* too small a driver for so many frames */
                if (first.result == EX_OK && l->error)
                    first = *l->error;
                continue;
            }
            if (result != EX_OK)
                return result;
            if (mean < here) {
                here = mean;
                best_here = choice;
            }
        }
        if (here < least * (isinf(least) ? 1 : 1 - worth)) {
            least = here;
            best = best_here;
        }
    }
    l->done = done + share;
    l->share = share;
    if (isinf(least)) {
        if (l->error)
            *l->error = first;
        return EX_ERROR_DATA;
    }
    *options = best;
    return EX_OK;
}
