/*
 * Chooses the frames that become keys (DrivenShape, 2.1). The first is the one nearest to the reference mesh, or those
 * chosen by hand. Each further key is the frame whose driver is farthest from its nearest key, by the sum of squared
 * vertex distances in the moving frame of the whole; or the frame whose driven form the rig of the present keys misses
 * most. A frame that resembles a key is never taken: no driver could tell two such keys apart.
 */
#include "author/drive/learn/learn.h"

#include "author/base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most frames at which the present keys are judged. */
enum { SAMPLE_MAX = 150 };

static bool same_database(double a, double b) {
    return a == b;
}

bool exi_learn_is_key(const exi_learner *l, int frame) {
    for (int k = 0; k < l->key_count; k++)
        if (l->keys[k].frame == frame)
            return true;
    return false;
}

int exi_learn_spread(const exi_learner *l, double database, bool keys, int most, int *frames) {
    long long total = 0, seen = 0;
    int count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < l->refs.count; i++) {
            const exi_reference *item = &l->refs.items[i];
            if (!isnan(database) && !same_database(item->database, database))
                continue;
            for (int f = item->first; f < item->first + item->frame_count; f++) {
                if (!exi_references_is_spread(&l->refs, f) || (!keys && exi_learn_is_key(l, f)))
                    continue;
                if (pass == 0) {
                    total++;
                    continue;
                }
                /* Cuts the frames into `most` equal stretches and takes the middle frame of each. */
                const long long wanted = total <= most ? seen : ((2LL * count + 1) * total) / (2LL * most);
                if (seen == wanted && count < most)
                    frames[count++] = f;
                seen++;
            }
        }
    return count;
}

/* ---- a key ---- */

static ex_result add_key(exi_learner *l, int frame, double database) {
    const size_t n = (size_t)l->refs.driver_count, m = (size_t)l->refs.driven_count;
    exi_learned_key *key = &l->keys[l->key_count];
    *key = (exi_learned_key){.frame = frame, .database = database, .mean_error = -1};
    snprintf(key->name, sizeof key->name, "frame_%03d", exi_references_number(&l->refs, frame) + 1);
    key->driver = exi_array_allocate(n, 3 * sizeof(float));
    key->driven = exi_array_allocate(m, 3 * sizeof(float));
    key->home = exi_array_allocate(n, 3 * sizeof(float));
    l->key_count++;
    if (!key->driver || !key->driven || !key->home)
        return ex_error_memory(l->error, "a key", (2 * n + m) * 3 * sizeof(float));
    const ex_result result = exi_references_read(&l->refs, frame, key->driver, key->driven, l->error);
    if (result == EX_OK)
        exi_whole_back(l->places + 12 * (size_t)frame, key->driver, (int)n, key->home);
    return result;
}

/* The frames of a database, in l->ranges. Returns the number of ranges. */
static int find_ranges(const exi_learner *l, double database) {
    int count = 0;
    for (int i = 0; i < l->refs.count; i++)
        if (same_database(l->refs.items[i].database, database))
            l->ranges[count++] = (exi_far_range){l->refs.items[i].first, l->refs.items[i].frame_count};
    return count;
}

/* Bounds distances after a key was added. */
static void look_from_key(exi_learner *l, double database, int first) {
    const int k = l->key_count - 1;
    exi_far_look(&l->far, l->ranges, find_ranges(l, database), l->keys[k].frame, k, k == first);
}

/* Distance of a frame from the keys of its database. */
static ex_result measure_frame(void *user, int frame, double *square, int *nearest) {
    exi_learner *l = user;
    const double database = exi_references_of(&l->refs, frame)->database;
    const ex_result result = exi_references_read(&l->refs, frame, l->driver, NULL, l->error);
    *square = INFINITY;
    if (result != EX_OK)
        return result;
    exi_whole_back(l->places + 12 * (size_t)frame, l->driver, l->refs.driver_count, l->home);
    for (int k = 0; k < l->key_count; k++) {
        if (!same_database(l->keys[k].database, database))
            continue;
        const double d = exi_form_squares(l->home, l->keys[k].home, l->whole.weights, l->refs.driver_count);
        if (d < *square) {
            *square = d;
            *nearest = k;
        }
    }
    return EX_OK;
}

static exi_far_measure measurer(exi_learner *l) {
    return (exi_far_measure){
        .measure = measure_frame, .user = l, .key_count = l->key_count, .left = l->refs.frame_count};
}

ex_result exi_learn_find_nearest(exi_learner *l) {
    exi_far_measure by = measurer(l);
    ex_result result = EX_OK;
    for (int f = 0; result == EX_OK && f < l->refs.frame_count; f++) {
        result = exi_far_settle(&l->far, f, &by);
        if (result == EX_OK && !exi_learn_tell(l, "choosing keys", (f + 1.0) / l->refs.frame_count))
            result = exi_progress_stopped(l->error);
    }
    return result;
}

/* ---- the next key ---- */

/* Returns the frame of the database that is nearest to the driver's mesh. */
static int find_first(const exi_learner *l, double database) {
    int best = -1;
    for (int i = 0; i < l->refs.count; i++) {
        const exi_reference *item = &l->refs.items[i];
        for (int f = item->first; same_database(item->database, database) && f < item->first + item->frame_count; f++)
            if (best < 0 || l->far.from_mesh[f] < l->far.from_mesh[best])
                best = f;
    }
    return best;
}

/* Finds the frame of the database that is farthest from its nearest key. */
static ex_result find_farthest(exi_learner *l, double database, int *farthest) {
    exi_far_measure by = measurer(l);
    return exi_far_find(&l->far, l->ranges, find_ranges(l, database), &by, farthest);
}

/* Finds whether a frame resembles a key. */
static ex_result find_alike(exi_learner *l, int frame, bool *alike) {
    exi_far_measure by = measurer(l);
    ex_result result = EX_OK;
    if (l->far.high[frame] > l->alike && l->far.low[frame] <= l->alike)
        result = exi_far_settle(&l->far, frame, &by);
    *alike = l->far.high[frame] <= l->alike;
    return result;
}

/* Builds a rig to judge the present keys. Large numbers of moving frames are tried only at the end. */
static ex_result build_so_far(const exi_learner *l, int first, ex_rig **rig) {
    ex_drive_options options = l->def->options;
    if (options.residual == EX_RESIDUAL_COUNT)
        options.residual = options.frames == 0 || options.frames == 1 ? EX_RESIDUAL_KEYS : EX_RESIDUAL_NONE;
    const exi_key_choice all = {.first = first, .last = l->key_count};
    ex_result result = exi_learn_build(l, &all, &options, rig);
    if (result == EX_ERROR_DATA && options.frames < 0) { /* the driver is too small for many frames */
        options.frames = 1;
        result = exi_learn_build(l, &all, &options, rig);
    }
    return result;
}

typedef struct judgement {
    double mean; /* over the frames looked at, or over all of the database */
    int worst;   /* the frame with the largest error; -1: every frame resembles a key */
} judgement;

static ex_result judge(exi_learner *l, double database, int first, judgement *made) {
    int frames[SAMPLE_MAX];
    double errors[SAMPLE_MAX], most = 0;
    ex_rig *rig = NULL;
    ex_result result = build_so_far(l, first, &rig);
    const int count = exi_learn_spread(l, database, true, SAMPLE_MAX, frames);
    if (result == EX_OK)
        result = exi_learn_measure(l, rig, frames, count, errors, NULL);
    *made = (judgement){.worst = -1};
    for (int i = 0; result == EX_OK && i < count; i++) {
        bool alike = false;
        made->mean += errors[i] / count;
        result = find_alike(l, frames[i], &alike);
        if (!alike && (made->worst < 0 || errors[i] > most)) {
            made->worst = frames[i];
            most = errors[i];
        }
    }
    /* The error must be below the requested one over all spread frames, not only over those looked at. */
    if (result == EX_OK && l->def->until > 0 && made->mean < l->def->until && count == SAMPLE_MAX) {
        int *all = exi_array_allocate((size_t)l->refs.frame_count, sizeof *all);
        double *every = exi_array_allocate((size_t)l->refs.frame_count, sizeof *every);
        if (!all || !every) {
            result = ex_error_memory(l->error, "errors", (size_t)l->refs.frame_count * 12);
        } else {
            const int total = exi_learn_spread(l, database, true, l->refs.frame_count, all);
            result = exi_learn_measure(l, rig, all, total, every, NULL);
            made->mean = 0;
            for (int i = 0; result == EX_OK && i < total; i++)
                made->mean += every[i] / total;
        }
        free(all);
        free(every);
    }
    ex_rig_destroy(rig);
    return result;
}

/* Refuses a frame given by hand that resembles a key. */
static ex_result refuse_alike(const exi_learner *l, int number, int frame) {
    const int key = l->keys[l->far.nearest[frame]].frame;
    return key == frame
               ? ex_error_set(l->error, EX_ERROR_DATA, "frame %d is given twice", number + 1)
               : ex_error_set(l->error, EX_ERROR_DATA, "the driver is the same in frames %d and %d: use one of them",
                              exi_references_number(&l->refs, key) + 1, number + 1);
}

/* Takes the frames of this database that were chosen by hand. */
static ex_result take_given(exi_learner *l, double database, int first) {
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < l->def->given_count; i++) {
        const int frame = exi_references_find(&l->refs, l->def->given[i]);
        exi_far_measure by = measurer(l);
        if (!same_database(exi_references_of(&l->refs, frame)->database, database))
            continue;
        if (l->key_count > first)
            result = exi_far_settle(&l->far, frame, &by);
        if (result == EX_OK && l->key_count > first && l->far.high[frame] <= l->alike)
            return refuse_alike(l, l->def->given[i], frame);
        if (result == EX_OK)
            result = add_key(l, frame, database);
        if (result == EX_OK)
            look_from_key(l, database, first);
    }
    return result;
}

/* Refuses a driver that never moves: there is nothing to learn. */
static ex_result check_moves(exi_learner *l, double database) {
    int farthest = 0;
    const ex_result result = find_farthest(l, database, &farthest);
    const exi_reference *item = exi_references_of(&l->refs, farthest);
    int frames = 0;
    for (int i = 0; i < l->refs.count; i++)
        frames += same_database(l->refs.items[i].database, database) ? l->refs.items[i].used_count : 0;
    if (result != EX_OK || frames == 1 || l->far.high[farthest] > l->alike)
        return result;
    return ex_error_set(l->error, EX_ERROR_DATA,
                        "'%s': the driver has the same form in all %d frames%s: there are no keys to choose",
                        l->def->references[item - l->refs.items].driver, frames,
                        l->def->options.frame == EX_WHOLE_FRAME_NONE ? "" : ", apart from where it is");
}

ex_result exi_learn_choose(exi_learner *l, double database, int first) {
    const int most = first + l->def->key_count;
    const bool judged = l->def->choice == EX_KEY_CHOICE_WORST || l->def->until > 0;
    const double done = l->done, share = l->share;
    ex_result result = take_given(l, database, first);
    if (result == EX_OK && l->key_count == first) {
        result = add_key(l, find_first(l, database), database);
        if (result == EX_OK)
            look_from_key(l, database, first);
    }
    if (result == EX_OK)
        result = check_moves(l, database);
    while (result == EX_OK) {
        const int taken = l->key_count - first;
        judgement made = {.mean = -1, .worst = -1};
        l->share = share / (most - first);
        l->done = done + (taken < most - first ? taken : most - first) * l->share;
        if (!exi_learn_tell(l, "choosing keys", 0)) {
            result = exi_progress_stopped(l->error);
            break;
        }
        if (judged && (l->key_count < most || l->def->until > 0)) {
            result = judge(l, database, first, &made);
            l->keys[l->key_count - 1].mean_error = made.mean;
        }
        if (result != EX_OK || l->key_count >= most || (l->def->until > 0 && made.mean < l->def->until))
            break;
        int next = made.worst;
        if (l->def->choice != EX_KEY_CHOICE_WORST || next < 0) {
            result = find_farthest(l, database, &next);
            if (result != EX_OK || l->far.high[next] <= l->alike)
                break; /* every frame left resembles a key */
        }
        result = add_key(l, next, database);
        if (result == EX_OK)
            look_from_key(l, database, first);
    }
    l->done = done + share;
    l->share = share;
    return result;
}
