/*
 * Chooses the number of moving frames, and how the residual is carried, by cross-validation: leaves out a quarter of
 * the keys in turn, and judges the rig of the others at the frames of the references that were nearest to those left
 * out. Frames between keys tell little, since all choices do well there; the rig will meet poses that resemble no key.
 * If more frames gain next to nothing, fewer are preferred.
 */
#include "author/drive/learn/learn.h"
#include "runtime/base/memory.h"

#include <math.h>

enum { FOLDS = 4, FOLD_FRAMES = 25, SAMPLE_MAX = FOLDS * FOLD_FRAMES };

/* More frames must reduce the error by more than this fraction. */
static const double worth = 0.02;

/* Frames to judge by: those of fold i are frames[starts[i]] to frames[starts[i + 1] - 1]. */
typedef struct sample {
    int folds; /* 0: no key can be left out, and all frames that are not keys are used */
    int frames[SAMPLE_MAX];
    int starts[FOLDS + 1];
} sample;

/* Number of keys in the smallest database. */
static int fewest_keys(const exi_learner *l) {
    int fewest = l->key_count;
    for (int k = 0; k < l->key_count; k++) {
        int alike = 0;
        for (int j = 0; j < l->key_count; j++)
            alike += l->keys[j].database == l->keys[k].database;
        fewest = alike < fewest ? alike : fewest;
    }
    return fewest;
}

/* Takes at most FOLD_FRAMES evenly spread frames whose nearest key is in the fold. */
static int take_fold(const exi_learner *l, int fold, int folds, int *frames) {
    long long total = 0, seen = 0;
    int count = 0;
    for (int f = 0; f < l->refs.frame_count; f++)
        total += exi_references_is_spread(&l->refs, f) && l->far.nearest[f] % folds == fold;
    for (int f = 0; f < l->refs.frame_count; f++) {
        if (!exi_references_is_spread(&l->refs, f) || l->far.nearest[f] % folds != fold)
            continue;
        const long long wanted = total <= FOLD_FRAMES ? seen : ((2LL * count + 1) * total) / (2LL * FOLD_FRAMES);
        if (seen++ == wanted && count < FOLD_FRAMES)
            frames[count++] = f;
    }
    return count;
}

static void take_sample(const exi_learner *l, sample *s) {
    const int fewest = fewest_keys(l);
    *s = (sample){.folds = fewest < 2 ? 0 : fewest < FOLDS ? fewest : FOLDS};
    for (int i = 0; i < s->folds; i++)
        s->starts[i + 1] = s->starts[i] + take_fold(l, i, s->folds, s->frames + s->starts[i]);
    if (s->folds == 0)
        s->starts[1] = exi_learn_spread(l, NAN, false, SAMPLE_MAX, s->frames);
}

/* Options tried, and their error. */
typedef struct trial {
    ex_drive_options options;
    double error;
} trial;

/* Rigs of all folds of some trials, made side by side. */
typedef struct making {
    const exi_learner *learner;
    const sample *sample;
    trial trials[2];
    ex_rig *rigs[2 * FOLDS]; /* [trial][fold] */
    ex_result results[2 * FOLDS];
    ex_error errors[2 * FOLDS];
} making;

static int count_rounds(const sample *s) {
    return s->folds > 0 ? s->folds : 1;
}

static void make_rigs(void *context, int begin, int end) {
    making *m = context;
    const int rounds = count_rounds(m->sample);
    for (int i = begin; i < end; i++) {
        exi_learner l = *m->learner;
        const exi_key_choice choice = {
            .last = l.key_count, .axis = l.def->database_axis != NULL, .fold = i % rounds, .folds = m->sample->folds};
        l.error = &m->errors[i];
        m->results[i] = exi_learn_build(&l, &choice, &m->trials[i / rounds].options, &m->rigs[i]);
    }
}

/* Mean error of a trial over all frames of the sample. */
static ex_result judge(exi_learner *l, making *m, int number) {
    const sample *s = m->sample;
    const int rounds = count_rounds(s), count = s->starts[rounds];
    const double done = l->done, share = l->share;
    double errors[SAMPLE_MAX], mean = 0;
    ex_result result = EX_OK;
    l->share = share / rounds;
    for (int i = 0; result == EX_OK && i < rounds; i++) {
        const int k = number * rounds + i;
        l->done = done + i * l->share;
        result = m->results[k];
        if (result != EX_OK)
            *l->error = m->errors[k];
        else
            result = exi_learn_measure(l, m->rigs[k], s->frames + s->starts[i], s->starts[i + 1] - s->starts[i],
                                       errors + s->starts[i], NULL);
    }
    for (int i = 0; result == EX_OK && i < count; i++)
        mean += errors[i] / count;
    m->trials[number].error = mean;
    l->done = done;
    l->share = share;
    return result;
}

/* Finds the better residual for a number of frames, unless it is given. The error is INFINITY, with the reason in
 * *reason, if the driver is too small for that many frames. */
static ex_result try_frames(exi_learner *l, const ex_drive_options *options, int frames, const sample *s, trial *best,
                            ex_error *reason) {
    static const ex_residual residuals[] = {EX_RESIDUAL_KEYS, EX_RESIDUAL_NONE};
    const bool given = options->residual != EX_RESIDUAL_COUNT;
    const int count = given ? 1 : 2;
    const double done = l->done, share = l->share;
    making m = {.learner = l, .sample = s};
    ex_result result = EX_OK;
    *best = (trial){.options = *options, .error = INFINITY};
    for (int r = 0; r < count; r++) {
        m.trials[r].options = *options;
        m.trials[r].options.frames = frames;
        m.trials[r].options.residual = given ? options->residual : residuals[r];
    }
    /* With a hook, the rigs of both are made side by side. */
    const int rounds = count_rounds(s);
    if (l->def->tasks)
        exi_run(l->def->tasks, count * rounds, 1, make_rigs, &m);
    l->share = share / count;
    for (int r = 0; result == EX_OK && r < count; r++) {
        l->done = done + r * l->share;
        for (int i = r * rounds; result == EX_OK && i < (r + 1) * rounds; i++) {
            result = exi_learn_tell(l, "measuring", 0) ? EX_OK : exi_progress_stopped(l->error);
            if (result == EX_OK && !l->def->tasks)
                make_rigs(&m, i, i + 1);
        }
        if (result == EX_OK)
            result = judge(l, &m, r);
        if (result == EX_ERROR_DATA && options->frames < 0) {
            *reason = *l->error;
            result = EX_OK;
        } else if (result == EX_OK && m.trials[r].error < best->error) {
            *best = m.trials[r];
        }
    }
    for (int i = 0; i < 2 * FOLDS; i++)
        ex_rig_destroy(m.rigs[i]);
    l->done = done;
    l->share = share;
    return result;
}

ex_result exi_learn_tune(exi_learner *l, ex_drive_options *options) {
    static const int numbers[] = {1, 8, 16, 32};
    const bool open = options->frames < 0;
    const int count = open ? (int)(sizeof numbers / sizeof numbers[0]) : 1;
    const double done = l->done, share = l->share;
    sample s;
    trial best = {.error = INFINITY};
    ex_error reason = {.result = EX_OK};
    take_sample(l, &s);
    /* Keeps the options if they leave nothing open, or there is nothing to try them on. */
    if (s.starts[s.folds > 0 ? s.folds : 1] == 0 ||
        (!open && (options->residual != EX_RESIDUAL_COUNT || options->frames < 2)))
        return EX_OK;
    l->share = share / count;
    for (int i = 0; i < count; i++) {
        trial here;
        l->done = done + i * l->share;
        const ex_result result = try_frames(l, options, open ? numbers[i] : options->frames, &s, &here, &reason);
        if (result != EX_OK)
            return result;
        if (here.error < (isinf(best.error) ? best.error : (1 - worth) * best.error))
            best = here;
    }
    l->done = done + share;
    l->share = share;
    if (isinf(best.error)) {
        *l->error = reason;
        return reason.result;
    }
    *options = best.options;
    return EX_OK;
}
