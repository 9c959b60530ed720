/*
 * The state of the driver in every frame (exemplar/predict.h), as the runtime will compute it, from the moving frames
 * that were gathered. Frames whose past is not known yet, the first of each take, are not learned from.
 */
#include "author/base/array.h"
#include "author/drive/motion/drive_motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* MOST: frames that are learned from. PIECES: a single take is cut into this many, to be held out one by one. */
enum { MOST = EXI_GATHER_LEARNED, PIECES = 5 };

/* Motion is measured over the time of one frame, but at least over this, since differences of short times are noise. */
static const double least_step = 1.0 / 30, usual_step = 1.0 / 24;

/* Frames that are farther apart, in seconds, show no motion. Some programs count times in frames: 1 apart. */
static const double most_step = 0.25;

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Finds the usual time between frames. */
static ex_result find_step(exi_motion_learner *l) {
    size_t count = 0, found = 0;
    for (int i = 0; i < l->refs.count; i++)
        count += (size_t)l->parts[i].frame_count;
    double *steps = exi_array_allocate(count, sizeof *steps);
    if (!steps)
        return ex_error_memory(l->error, "the times of frames", count * sizeof *steps);
    for (int i = 0; i < l->refs.count; i++)
        for (int f = 1; f < l->parts[i].frame_count; f++) {
            const double step = l->parts[i].times[f] - l->parts[i].times[f - 1];
            if (step > 0)
                steps[found++] = step;
        }
    qsort(steps, found, sizeof *steps, compare);
    const double step = found > 0 ? steps[found / 2] : usual_step;
    const double whole = floor(least_step / step + 0.5);
    l->step = step * (whole > 1 ? whole : 1);
    free(steps);
    if (step > most_step)
        return ex_error_set(l->error, EX_ERROR_DATA,
                            "frames are %g s apart, which shows no motion: if the caches count their times in "
                            "frames, give --fps, or else use --method keys",
                            step);
    return EX_OK;
}

/* The middle of each moving frame's vertices at rest; of all vertices for a frame without any. */
static ex_result find_centres(exi_motion_learner *l) {
    const ex_driver_def *d = &l->plan.driver.driver;
    l->centres = exi_array_allocate((size_t)d->frame_count, 3 * sizeof *l->centres);
    if (!l->centres)
        return ex_error_memory(l->error, "the moving frames", (size_t)d->frame_count * 12);
    for (int f = 0; f < d->frame_count; f++) {
        double sum[3] = {0}, total = 0;
        const bool empty = d->starts[f + 1] == d->starts[f];
        const uint32_t from = empty ? 0 : d->starts[f], to = empty ? (uint32_t)d->vertex_count : d->starts[f + 1];
        for (uint32_t i = from; i < to; i++) {
            const double weight = empty ? 1 : (double)d->weights[i];
            const float *p = d->reference + 3 * (size_t)(empty ? i : d->vertices[i]);
            total += weight;
            for (int c = 0; c < 3; c++)
                sum[c] += weight * (double)p[c];
        }
        for (int c = 0; c < 3; c++)
            l->centres[3 * f + c] = (float)(sum[c] / total);
    }
    return EX_OK;
}

/* A predictor that only observes. */
static ex_result make_observer(const exi_motion_learner *l, ex_predictor **observer) {
    const size_t length = (size_t)l->state_length;
    float *zeros = calloc(length, sizeof *zeros);
    if (!zeros)
        return ex_error_memory(l->error, "a state", length * sizeof *zeros);
    const ex_predictor_def def = {.frame_count = l->plan.driver.driver.frame_count,
                                  .centres = l->centres,
                                  .up = {l->up[0], l->up[1], l->up[2]},
                                  .step = l->step,
                                  .fastest = 1e8,
                                  .sizes = true,
                                  .component_count = 1,
                                  .landmark_count = 1,
                                  .weight_count = 1,
                                  .mean = zeros,
                                  .scales = zeros,
                                  .components = zeros,
                                  .landmarks = zeros,
                                  .base = zeros,
                                  .slopes = zeros,
                                  .pulls = zeros,
                                  .known = zeros,
                                  .width = 1,
                                  .familiar = 1};
    const ex_result result = ex_predictor_create(&def, NULL, observer, l->error);
    free(zeros);
    return result;
}

/* Largest velocity of a frame in a state. */
static double find_speed(const exi_motion_learner *l, const float *state) {
    const int frames = l->plan.driver.driver.frame_count;
    const float *v = state + ex_state_start(frames, EX_STATE_VELOCITY);
    double most = 0;
    for (int f = 0; f < frames; f++, v += 3) {
        const double speed =
            sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2]);
        most = speed > most ? speed : most;
    }
    return most;
}

typedef struct observing {
    ex_predictor *observer;
    void *history;
    float *state;
    double began;   /* time at which the history began anew */
    double *speeds; /* [frames that are learned from] */
    float *wholes;  /* the same, [9]: rotation of the whole driver */
    int seen;       /* kept frames so far, of all parts */
    int stride;     /* of these, the first of each `stride` is learned from */
} observing;

static void observe_frame(exi_motion_learner *l, observing *o, int home, int f) {
    const exi_motion_part *part = &l->parts[home];
    const size_t moving = (size_t)part->moving_count;
    const float *matrices = part->matrices + 12 * moving * (size_t)f, *sizes = part->sizes + moving * (size_t)f;
    const double time = part->times[f], elapsed = f == 0 ? 0 : time - part->times[f - 1];
    ex_predictor_observe(o->observer, matrices, sizes, elapsed, o->history, o->state);
    if (!(elapsed > 0) || elapsed > 1)
        o->began = time;
    const bool kept = f % part->stride == 0, taken = kept && o->seen % o->stride == 0;
    o->seen += kept;
    if (time - o->began < 2 * l->step * (1 - 1e-9) || !taken)
        return;
    o->speeds[l->frame_count] = find_speed(l, o->state);
    for (int r = 0; r < 3; r++)
        memcpy(o->wholes + 9 * (size_t)l->frame_count + 3 * r, matrices + 12 * (moving - 1) + 4 * (size_t)r,
               3 * sizeof(float));
    memcpy(l->states + (size_t)l->frame_count * (size_t)l->state_length, o->state,
           (size_t)l->state_length * sizeof(float));
    l->takes[l->frame_count] = l->homes[l->frame_count] = home;
    l->frames[l->frame_count++] = f / part->stride;
}

/* Finds the axis that points up, if nobody said it: y, unless the driver turns about another one. As it turns, the
 * direction of an axis changes in its frame, except for the one that it turns about. */
static void find_up(exi_motion_learner *l, const float *wholes) {
    const int moving = l->plan.driver.driver.frame_count, start = ex_state_start(moving, EX_STATE_UP);
    double spread[3];
    int up = 1;
    if (l->up_given)
        return;
    for (int a = 0; a < 3; a++) {
        double mean[3] = {0};
        for (int f = 0; f < l->frame_count; f++)
            for (int c = 0; c < 3; c++)
                mean[c] += (double)wholes[9 * (size_t)f + (size_t)(3 * a + c)] / l->frame_count;
        spread[a] = 1 - mean[0] * mean[0] - mean[1] * mean[1] - mean[2] * mean[2];
    }
    for (int a = 0; a < 3; a++)
        up = spread[a] < 0.25 * spread[1] && spread[1] > 0.02 && spread[a] < spread[up] ? a : up;
    for (int c = 0; c < 3; c++)
        l->up[c] = c == up;
    for (int f = 0; f < l->frame_count; f++)
        memcpy(l->states + (size_t)f * (size_t)l->state_length + start, wholes + 9 * (size_t)f + 3 * (size_t)up,
               3 * sizeof(float));
}

/* Numbers the takes that frames are learned from, without those that are too short. One or two takes are cut into
 * pieces, so that something can be held out. */
static void cut_takes(exi_motion_learner *l) {
    l->take_count = 0;
    for (int i = 0, last = -1; i < l->frame_count; i++) {
        const int take = l->takes[i];
        l->take_count += take != last;
        l->takes[i] = l->take_count - 1;
        last = take;
    }
    if (l->take_count >= 3)
        return;
    for (int first = 0, end; first < l->frame_count; first = end) {
        const int take = l->takes[first];
        for (end = first + 1; end < l->frame_count && l->takes[end] == take;)
            end++;
        for (int i = first; i < end; i++)
            l->takes[i] = PIECES * take + (int)((int64_t)(i - first) * PIECES / (end - first));
    }
    l->take_count *= PIECES;
}

/* Finds the speed that all but a thousandth of the frames stay below, and leaves out those that were moved by a cut,
 * and the two after them, which see it as an acceleration. */
static ex_result drop_cuts(exi_motion_learner *l, const double *speeds) {
    const size_t count = (size_t)l->frame_count, length = (size_t)l->state_length;
    double *sorted = exi_array_copy(speeds, count, sizeof *sorted);
    if (!sorted)
        return ex_error_memory(l->error, "states", count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    l->fastest = count > 0 ? sorted[(count - 1) * 999 / 1000] : 0;
    free(sorted);
    size_t kept = 0, cut = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        cut = speeds[i] > EXI_MOTION_CUT * l->fastest && speeds[i] > 1 ? i : cut;
        if (cut <= i && i - cut < 3)
            continue;
        memmove(l->states + kept * length, l->states + i * length, length * sizeof *l->states);
        l->takes[kept] = l->takes[i];
        l->homes[kept] = l->homes[i];
        l->frames[kept++] = l->frames[i];
    }
    l->frame_count = (int)kept;
    return EX_OK;
}

static ex_result observe_all(exi_motion_learner *l, observing *o) {
    int kept = 0;
    for (int i = 0; i < l->refs.count; i++)
        kept += l->parts[i].kept_count;
    o->stride = (kept + MOST - 1) / MOST;
    const size_t room = (size_t)(kept / o->stride + 1);
    l->frames = exi_array_allocate(room, sizeof *l->frames);
    l->homes = exi_array_allocate(room, sizeof *l->homes);
    l->takes = exi_array_allocate(room, sizeof *l->takes);
    l->states = exi_array_allocate(room, (size_t)l->state_length * sizeof *l->states);
    o->speeds = exi_array_allocate(room, sizeof *o->speeds);
    o->wholes = exi_array_allocate(room, 9 * sizeof *o->wholes);
    if (!l->frames || !l->homes || !l->takes || !l->states || !o->speeds || !o->wholes)
        return ex_error_memory(l->error, "states", room * (size_t)l->state_length * sizeof *l->states);
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < l->refs.count; i++) {
        for (int f = 0; f < l->parts[i].frame_count; f++)
            observe_frame(l, o, i, f);
        result = exi_motion_tell(l, "reading motion", (i + 1.0) / l->refs.count);
    }
    if (result == EX_OK)
        find_up(l, o->wholes);
    if (result == EX_OK)
        result = drop_cuts(l, o->speeds);
    if (result == EX_OK && l->frame_count < 3 * PIECES)
        result = ex_error_set(l->error, EX_ERROR_DATA,
                              "learning from motion needs at least %d frames after the first two of each take; there "
                              "are %d: add takes, or use --method keys",
                              3 * PIECES, l->frame_count);
    if (result == EX_OK)
        cut_takes(l);
    return result;
}

ex_result exi_motion_observe(exi_motion_learner *l) {
    observing o = {.observer = NULL};
    l->state_length = ex_state_start(l->plan.driver.driver.frame_count, EX_STATE_KIND_COUNT);
    o.state = exi_array_allocate((size_t)l->state_length, sizeof(float));
    ex_result result = o.state ? EX_OK : ex_error_memory(l->error, "a state", (size_t)l->state_length * sizeof(float));
    if (result == EX_OK)
        result = find_step(l);
    if (result == EX_OK)
        result = find_centres(l);
    if (result == EX_OK)
        result = make_observer(l, &o.observer);
    if (result == EX_OK) {
        o.history = calloc(ex_predictor_history_size(o.observer), 1);
        result = o.history ? observe_all(l, &o)
                           : ex_error_memory(l->error, "a history", ex_predictor_history_size(o.observer));
    }
    ex_predictor_destroy(o.observer);
    free(o.history);
    free(o.speeds);
    free(o.wholes);
    free(o.state);
    return result;
}
