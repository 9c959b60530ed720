/*
 * Estimates how long learning will take. Times two small rigs, of one key and of a few, made and evaluated as learning
 * does. Making a rig of k keys is taken to cost b0 + b1 k, and evaluating it at a frame e0 + e1 k. Reading frames was
 * timed by the first pass. The steps ahead are then counted: rigs that judge the keys so far, rigs that compare numbers
 * of moving frames, the rig itself, and its errors.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include "author/drive/learn/learn.h"

#include "author/base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PROBE_KEYS = 4, PROBE_FRAMES = 8, JUDGED_MAX = 150, TRIED_FRAMES = 100, FOLDS = 4, NUMBERS = 4, REPEATS = 5 };
#define SHORT 0.05 /* seconds */

double exi_learn_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds to make a rig, and to evaluate it at one frame. */
typedef struct cost {
    double build, frame;
} cost;

static bool read_keys(exi_learner *l, exi_learned_key *keys, int count) {
    bool good = true;
    for (int k = 0; good && k < count; k++) {
        keys[k].frame = (int)((2LL * k + 1) * l->refs.frame_count / (2LL * count));
        snprintf(keys[k].name, sizeof keys[k].name, "probe_%d", k);
        keys[k].driver = exi_array_allocate((size_t)l->refs.driver_count, 3 * sizeof(float));
        keys[k].driven = exi_array_allocate((size_t)l->refs.driven_count, 3 * sizeof(float));
        good = keys[k].driver && keys[k].driven &&
               exi_references_read(&l->refs, keys[k].frame, keys[k].driver, keys[k].driven, l->error) == EX_OK;
    }
    return good;
}

/* Times a rig of the first keys. False if it cannot be built: two of the frames may be alike. */
static bool time_rig(exi_learner *l, int count, cost *made) {
    ex_drive_options options = l->def->options;
    int frames[PROBE_FRAMES];
    double errors[PROBE_FRAMES];
    ex_rig *rig = NULL;
    if (options.residual == EX_RESIDUAL_COUNT)
        options.residual = options.frames == 0 || options.frames == 1 ? EX_RESIDUAL_KEYS : EX_RESIDUAL_NONE;
    const double start = exi_learn_clock();
    if (exi_learn_build(l, &(exi_key_choice){.last = count}, &options, &rig) != EX_OK)
        return false;
    const double built = exi_learn_clock();
    const int used = exi_learn_spread(l, NAN, true, PROBE_FRAMES, frames);
    const bool good = exi_learn_measure(l, rig, frames, used, errors, NULL) == EX_OK;
    *made = (cost){.build = built - start, .frame = (exi_learn_clock() - built) / used};
    ex_rig_destroy(rig);
    return good;
}

/* The same, repeated while it is short: the least time is the one that other work disturbed least. */
static bool time_best(exi_learner *l, int count, cost *made) {
    const double start = exi_learn_clock();
    bool good = time_rig(l, count, made);
    for (int i = 1; good && i < REPEATS && exi_learn_clock() - start < SHORT; i++) {
        cost again;
        good = time_rig(l, count, &again);
        made->build = fmin(made->build, good ? again.build : made->build);
        made->frame = fmin(made->frame, good ? again.frame : made->frame);
    }
    return good;
}

/* Times both rigs, with the learner's keys replaced by some frames. */
static bool time_rigs(exi_learner *l, int count, cost made[2]) {
    exi_learned_key probes[PROBE_KEYS] = {0}, *const keys = l->keys;
    ex_error *const error = l->error, own = {.result = EX_OK};
    ex_error lost = own;
    const double done = l->done, share = l->share;
    l->error = &lost;
    l->done += share; /* the first pass is over; timing is no progress */
    l->share = 0;
    bool good = read_keys(l, probes, count);
    l->keys = probes;
    good = good && time_best(l, 1, &made[0]) && time_best(l, count, &made[1]);
    l->keys = keys;
    l->error = error;
    l->done = done;
    l->share = share;
    for (int k = 0; k < PROBE_KEYS; k++) {
        free(probes[k].driver);
        free(probes[k].driven);
    }
    return good;
}

static int count_databases(const exi_learner *l) {
    int count = 0;
    for (int i = 0; i < l->refs.count; i++) {
        bool seen = false;
        for (int j = 0; j < i; j++)
            seen |= l->refs.items[j].database == l->refs.items[i].database;
        count += !seen;
    }
    return count;
}

ex_result exi_learn_foresee(exi_learner *l, double seconds_read) {
    const ex_learn_def *def = l->def;
    const int frames = l->refs.frame_count, databases = count_databases(l);
    const int probes = frames < PROBE_KEYS ? frames : PROBE_KEYS;
    cost made[2];
    if (!def->estimate || !def->estimate->tell || probes < 2 || !time_rigs(l, probes, made))
        return l->stopped ? exi_progress_stopped(l->error) : EX_OK;
    const double b1 = fmax(0, (made[1].build - made[0].build) / (probes - 1)), b0 = fmax(0, made[0].build - b1);
    const double e1 = fmax(0, (made[1].frame - made[0].frame) / (probes - 1)), e0 = fmax(0, made[0].frame - e1);
    const int most = frames / databases > 1 ? frames / databases : 1, judged = most < JUDGED_MAX ? most : JUDGED_MAX;
    const int keys = def->key_count < most ? def->key_count : most, all = keys * databases;
    /* the driver is read once more to find the nearest key of each frame: about half of the first pass */
    double seconds = 0.5 * seconds_read;
    if (def->choice == EX_KEY_CHOICE_WORST || def->until > 0)
        for (int k = 1; k < keys; k++)
            seconds += databases * (b0 + b1 * k + judged * (e0 + e1 * k));
    const bool open = def->options.frames < 0, carried = def->options.residual != EX_RESIDUAL_COUNT;
    if (open || (!carried && def->options.frames > 1)) {
        const double left = all > 1 ? all - (double)all / FOLDS : all;
        const int folds = keys < 2       ? 1
                          : keys < FOLDS ? keys
                                         : FOLDS,
                  tried = frames < TRIED_FRAMES ? frames : TRIED_FRAMES;
        seconds += (open ? NUMBERS : 1) * (carried ? 1 : 2) * (folds * (b0 + b1 * left) + tried * (e0 + e1 * left));
    }
    seconds += b0 + b1 * all + frames * (e0 + e1 * all);
    def->estimate->tell(def->estimate->user, seconds);
    return EX_OK;
}
