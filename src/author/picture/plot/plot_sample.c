/*
 * Samples the weights in the area of a plot with the rig itself: sets and evaluates a pose at every sample, so that
 * axes that are read from joints, clamped or shared show what evaluation does with them. First coarsely, to find the
 * examples that matter; then finely for those that are drawn. A panel of a comparison reads the layer's axes as
 * evaluation does, and asks its own weigher. Samples are spread over tasks; each writes its own numbers.
 */
#include "author/picture/plot/plot.h"

#include "author/base/array.h"
#include "author/base/progress.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COARSE = 33, /* samples along an axis for the choice; 1 more than a power of 2, so that the ends of the range and
                    its middle are nearly met */
    COARSE_LINE = 257, /* the same for one axis */
    CHUNK = 64,        /* samples per task */
    SLOTS = 16         /* simultaneous tasks */
};

/* Data of one task. */
typedef struct slot {
    ex_pose pose;
    double *weights; /* [examples of all layers] */
    double *point;   /* [dimension of the layer] */
    void *scratch;
    double low, high; /* weights inside the range */
} slot;

typedef struct sampling {
    exi_plot *plot;
    int counts[2];
    int first; /* chunk of the first slot */
    slot slots[SLOTS];
    double *peaks[SLOTS]; /* [example_count]; NULL in the second round */
} sampling;

static ex_result open_slots(sampling *s, bool peaks, ex_error *error) {
    const ex_rig *rig = s->plot->rig;
    const size_t examples = (size_t)ex_rig_example_count(rig);
    for (int i = 0; i < SLOTS; i++) {
        slot *t = &s->slots[i];
        t->pose = ex_pose_create(rig);
        t->weights = exi_array_allocate(examples, sizeof *t->weights);
        t->point =
            exi_array_allocate((size_t)ex_weigher_dimension(ex_rig_weigher(rig, s->plot->layer)), sizeof *t->point);
        t->low = INFINITY;
        t->high = -INFINITY;
        t->scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
        s->peaks[i] = peaks ? calloc((size_t)s->plot->example_count + 1, sizeof *s->peaks[i]) : NULL;
        if (!t->pose.inputs || !t->weights || !t->point || !t->scratch || (peaks && !s->peaks[i]))
            return ex_error_memory(error, "the weights of a plot", examples * sizeof *t->weights);
        const ex_pose *from = s->plot->def->pose;
        if (from && from->inputs && ex_rig_pose_size(rig) > 0)
            memcpy(t->pose.inputs, from->inputs, (size_t)ex_rig_pose_size(rig) * sizeof *from->inputs);
        if (from && from->joints && ex_rig_joint_count(rig) > 0)
            memcpy(t->pose.joints, from->joints, (size_t)ex_rig_joint_count(rig) * sizeof *from->joints);
    }
    return EX_OK;
}

static void close_slots(sampling *s) {
    for (int i = 0; i < SLOTS; i++) {
        free(s->slots[i].pose.inputs);
        free(s->slots[i].weights);
        free(s->slots[i].point);
        free(s->slots[i].scratch);
        free(s->peaks[i]);
    }
}

/* Returns the layer's weights at one sample. */
static const double *evaluate(const sampling *s, slot *t, int sample) {
    const exi_plot *p = s->plot;
    const int at[2] = {sample % s->counts[0], sample / s->counts[0]};
    for (int i = 0; i < p->axis_count; i++) {
        const exi_plot_axis *axis = &p->axes[i];
        const double value = axis->low + (axis->high - axis->low) * at[i] / (s->counts[i] - 1);
        ex_rig_set_input(p->rig, axis->input, &value, &t->pose);
    }
    if (!p->weigher) {
        ex_rig_evaluate(p->rig, &t->pose, &(ex_output){.weights = t->weights}, NULL, t->scratch);
        return t->weights + ex_rig_first_example(p->rig, p->layer);
    }
    double *point = t->point;
    for (int a = 0; a < ex_weigher_axis_count(p->weigher); a++) {
        const int input = ex_rig_layer_input(p->rig, p->layer, a);
        const ex_axis axis = ex_rig_input_axis(p->rig, input);
        ex_rig_get_input(p->rig, input, &t->pose, point);
        point += ex_axis_width(&axis);
    }
    ex_weigher_evaluate(p->weigher, t->point, t->weights);
    return t->weights;
}

static bool is_inside(const exi_plot *p, int axis, int sample) {
    const exi_plot_axis *a = &p->axes[axis];
    const double value = a->low + (a->high - a->low) * sample / (a->count - 1);
    const double slack = 1e-9 * (a->high - a->low);
    return value >= a->axis.min - slack && value <= a->axis.max + slack;
}

static void note_peaks(sampling *s, int index, int sample) {
    const double *weights = evaluate(s, &s->slots[index], sample);
    for (int k = 0; k < s->plot->example_count; k++) {
        const double size = fabs(weights[k]);
        s->peaks[index][k] = size > s->peaks[index][k] ? size : s->peaks[index][k];
    }
}

static void note_weights(sampling *s, int index, int sample) {
    exi_plot *p = s->plot;
    const double *weights = evaluate(s, &s->slots[index], sample);
    const size_t total = (size_t)s->counts[0] * (size_t)s->counts[1];
    const bool inside =
        is_inside(p, 0, sample % s->counts[0]) && (p->axis_count == 1 || is_inside(p, 1, sample / s->counts[0]));
    slot *t = &s->slots[index];
    double outside = -1;
    for (int k = 0; k < p->example_count; k++) {
        const double out = weights[k] - 1.1 > -0.1 - weights[k] ? weights[k] - 1.1 : -0.1 - weights[k];
        outside = out > outside ? out : outside;
        t->low = inside && weights[k] < t->low ? weights[k] : t->low;
        t->high = inside && weights[k] > t->high ? weights[k] : t->high;
    }
    p->extremes[sample] = (float)outside;
    for (int i = 0; i < p->drawn_count; i++)
        p->weights[(size_t)i * total + (size_t)sample] = (float)weights[p->drawn[i]];
}

/* Runs the chunks [begin, end) of the current ones; chunk and slot have the same index. */
static void run_chunks(void *context, int begin, int end) {
    sampling *s = context;
    const int total = s->counts[0] * s->counts[1];
    for (int i = begin; i < end; i++) {
        const int from = (s->first + i) * CHUNK, to = from + CHUNK < total ? from + CHUNK : total;
        for (int sample = from; sample < to; sample++)
            (s->peaks[i] ? note_peaks : note_weights)(s, i, sample);
    }
}

/* Reports progress from `before` on, `share` for all panels together. */
static ex_result run_all(sampling *s, double before, double share, ex_error *error) {
    share /= s->plot->count;
    before += share * s->plot->number;
    const int chunks = (s->counts[0] * s->counts[1] + CHUNK - 1) / CHUNK;
    for (s->first = 0; s->first < chunks; s->first += SLOTS) {
        exi_run(s->plot->def->tasks, chunks - s->first < SLOTS ? chunks - s->first : SLOTS, 1, run_chunks, s);
        if (!exi_progress_tell(s->plot->def->progress, "sampling weights", before + share * s->first / chunks))
            return exi_progress_stopped(error);
    }
    return EX_OK;
}

/* ---- the choice ---- */

typedef struct rank {
    double peak;
    int example;
} rank;

static int compare_ranks(const void *a, const void *b) {
    const rank *x = a, *y = b;
    return x->peak != y->peak ? (x->peak < y->peak) - (x->peak > y->peak) : x->example - y->example;
}

static int compare_numbers(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* Chooses the examples with the largest weights; drops those without any, unless none has any. */
static ex_result choose(exi_plot *p, int most, ex_error *error) {
    rank *ranks = exi_array_allocate((size_t)p->example_count, sizeof *ranks);
    if (!ranks)
        return ex_error_memory(error, "a plot", (size_t)p->example_count * sizeof *ranks);
    for (int k = 0; k < p->example_count; k++)
        ranks[k] = (rank){p->peaks[k], k};
    qsort(ranks, (size_t)p->example_count, sizeof *ranks, compare_ranks);
    p->drawn_count = 0;
    for (int i = 0; i < p->example_count && i < most; i++)
        if (i == 0 || ranks[i].peak > 1e-6)
            p->drawn[p->drawn_count++] = ranks[i].example;
    qsort(p->drawn, (size_t)p->drawn_count, sizeof *p->drawn, compare_numbers);
    free(ranks);
    return EX_OK;
}

static ex_result find_peaks(exi_plot *p, ex_error *error) {
    sampling s = {.plot = p, .counts = {p->axis_count == 1 ? COARSE_LINE : COARSE, p->axis_count == 1 ? 1 : COARSE}};
    ex_result result = open_slots(&s, true, error);
    if (result == EX_OK)
        result = run_all(&s, 0, 0.1, error);
    if (result == EX_OK) {
        for (int k = 0; k < p->example_count; k++) {
            p->peaks[k] = 0;
            for (int i = 0; i < SLOTS; i++)
                p->peaks[k] = s.peaks[i][k] > p->peaks[k] ? s.peaks[i][k] : p->peaks[k];
        }
    }
    close_slots(&s);
    return result;
}

ex_result exi_plot_choose(exi_plot *plots, int count, int most, ex_error *error) {
    ex_result result = EX_OK;
    for (int i = 0; i < count && result == EX_OK; i++) {
        result = find_peaks(&plots[i], error);
        for (int k = 0; k < plots->example_count && result == EX_OK; k++)
            plots->peaks[k] = plots[i].peaks[k] > plots->peaks[k] ? plots[i].peaks[k] : plots->peaks[k];
    }
    if (result == EX_OK)
        result = choose(plots, most, error);
    plots->most = most;
    for (int i = 1; i < count && result == EX_OK; i++) {
        memcpy(plots[i].drawn, plots->drawn, (size_t)plots->drawn_count * sizeof *plots->drawn);
        plots[i].drawn_count = plots->drawn_count;
        plots[i].most = most;
    }
    return result;
}

/* ---- the weights ---- */

static void find_limits(exi_plot *p, int rows) {
    const int columns = p->axes[0].count;
    p->low = p->high = p->outer_low = p->outer_high = 0;
    size_t i = 0;
    for (int k = 0; k < p->drawn_count; k++) {
        for (int y = 0; y < rows; y++) {
            for (int x = 0; x < columns; x++, i++) {
                const double w = (double)p->weights[i];
                p->outer_low = w < p->outer_low ? w : p->outer_low;
                p->outer_high = w > p->outer_high ? w : p->outer_high;
                if (is_inside(p, 0, x) && (p->axis_count == 1 || is_inside(p, 1, y))) {
                    p->low = w < p->low ? w : p->low;
                    p->high = w > p->high ? w : p->high;
                }
            }
        }
    }
}

ex_result exi_plot_sample(exi_plot *p, ex_error *error) {
    const int rows = p->axis_count == 2 ? p->axes[1].count : 1;
    const size_t total = (size_t)p->axes[0].count * (size_t)rows;
    sampling s = {.plot = p, .counts = {p->axes[0].count, rows}};
    p->weights = exi_array_allocate(total * (size_t)p->drawn_count, sizeof *p->weights);
    p->extremes = exi_array_allocate(total, sizeof *p->extremes);
    if (!p->weights || !p->extremes)
        return ex_error_memory(error, "the weights of a plot", total * (size_t)p->drawn_count * sizeof *p->weights);
    ex_result result = open_slots(&s, false, error);
    if (result == EX_OK)
        result = run_all(&s, 0.1, 0.7, error);
    if (result == EX_OK) {
        find_limits(p, rows);
        p->lowest = INFINITY;
        p->highest = -INFINITY;
        for (int i = 0; i < SLOTS; i++) {
            p->lowest = s.slots[i].low < p->lowest ? s.slots[i].low : p->lowest;
            p->highest = s.slots[i].high > p->highest ? s.slots[i].high : p->highest;
        }
    }
    close_slots(&s);
    return result;
}
