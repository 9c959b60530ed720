/*
 * Measures the error that a rig of some keys leaves: evaluates it on frames of the references. The error of a frame is
 * the mean distance of the driven vertices from their true positions. Frames are read a few at a time and evaluated in
 * parallel, each in separate memory, so that errors do not depend on the threads.
 */
#include "author/drive/learn/learn.h"

#include "author/base/array.h"
#include "runtime/base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH = 32 };

typedef struct slot {
    float *driver, *driven, *made;
    double *inputs;
    void *scratch;
    double error;
} slot;

typedef struct measurer {
    const ex_rig *rig;
    int vertex_count;
    int count; /* number of slots */
    slot slots[BATCH];
} measurer;

static ex_result open_measurer(measurer *m, const exi_learner *l, const ex_rig *rig, int frame_count) {
    static const ex_evaluation plain;
    const size_t scratch = ex_rig_scratch_size(rig, &plain, 1), inputs = (size_t)ex_rig_pose_size(rig) + 1;
    *m = (measurer){
        .rig = rig, .vertex_count = l->refs.driven_count, .count = frame_count < BATCH ? frame_count : BATCH};
    bool good = true;
    for (int i = 0; i < m->count; i++) {
        slot *s = &m->slots[i];
        s->driver = exi_array_allocate((size_t)l->refs.driver_count, 3 * sizeof(float));
        s->driven = exi_array_allocate((size_t)l->refs.driven_count, 3 * sizeof(float));
        s->made = exi_array_allocate((size_t)l->refs.driven_count, 3 * sizeof(float));
        s->inputs = exi_array_allocate(inputs, sizeof(double));
        s->scratch = exi_array_allocate(scratch, 1);
        good = good && s->driver && s->driven && s->made && s->inputs && s->scratch;
    }
    return good ? EX_OK : ex_error_memory(l->error, "measuring", (size_t)m->count * scratch);
}

static void close_measurer(measurer *m) {
    for (int i = 0; i < m->count; i++) {
        free(m->slots[i].driver);
        free(m->slots[i].driven);
        free(m->slots[i].made);
        free(m->slots[i].inputs);
        free(m->slots[i].scratch);
    }
}

static void measure_slots(void *context, int begin, int end) {
    measurer *m = context;
    for (int i = begin; i < end; i++) {
        slot *s = &m->slots[i];
        const ex_pose pose = {.inputs = s->inputs, .driver = s->driver};
        ex_rig_evaluate(m->rig, &pose, &(ex_output){.positions = s->made}, NULL, s->scratch);
        s->error = exi_form_mean(s->made, s->driven, m->vertex_count);
    }
}

/* Error of the nearest key's driven form, moved by the moving frame of the whole. */
static double measure_nearest(const exi_learner *l, int frame, slot *s) {
    const exi_learned_key *key = &l->keys[l->far.nearest[frame]];
    exi_whole_back(l->places + 12 * (size_t)key->frame, key->driven, l->refs.driven_count, s->made);
    exi_whole_move(l->places + 12 * (size_t)frame, s->made, l->refs.driven_count, s->made);
    return exi_form_mean(s->made, s->driven, l->refs.driven_count);
}

static ex_result fill_slot(const exi_learner *l, const ex_rig *rig, int frame, slot *s) {
    const int axis = l->def->database_axis ? ex_rig_input_find(rig, l->def->database_axis) : -1;
    const ex_pose pose = {.inputs = s->inputs};
    ex_rig_rest_pose(rig, &pose);
    if (axis >= 0)
        ex_rig_set_input(rig, axis, &exi_references_of(&l->refs, frame)->database, &pose);
    return exi_references_read(&l->refs, frame, s->driver, s->driven, l->error);
}

ex_result exi_learn_measure(exi_learner *l, const ex_rig *rig, const int *frames, int count, double *errors,
                            double *nearest) {
    measurer m;
    ex_result result = open_measurer(&m, l, rig, count);
    for (int first = 0; result == EX_OK && first < count; first += BATCH) {
        const int size = count - first < BATCH ? count - first : BATCH;
        for (int i = 0; result == EX_OK && i < size; i++)
            result = fill_slot(l, rig, frames[first + i], &m.slots[i]);
        if (result != EX_OK)
            break;
        exi_run(l->def->tasks, size, 1, measure_slots, &m);
        for (int i = 0; i < size; i++) {
            errors[first + i] = m.slots[i].error;
            if (nearest)
                nearest[first + i] = measure_nearest(l, frames[first + i], &m.slots[i]);
        }
        if (!exi_learn_tell(l, "measuring", (double)(first + size) / count))
            result = exi_progress_stopped(l->error);
    }
    close_measurer(&m);
    return result;
}
