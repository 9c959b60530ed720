/*
 * Applies a driven rig to a new animation of its driver. Reads each frame, evaluates it with the state of the previous
 * one, measures it if a report is wanted, and writes it. Memory holds a few frames, however long the caches are.
 *
 * A part of the frames has the bytes that they have in the whole. Settling and predictors look back, without a limit
 * that is exact: so the state begins anew every block of frames (apply_block.c), and a part begins with its block.
 */
#include "author/drive/apply/apply.h"
#include "author/base/progress.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct applier {
    const ex_apply_def *def;
    int layer;
    ex_cache_reader *driver, *truth;
    int frame_count, driver_count, vertex_count; /* frame_count: those that are used */
    double *inputs, *weights;                    /* weights [ex_rig_example_count] */
    float *form, *unsettled, *made, *right;
    void *scratch, *state;
    double primed; /* seconds between the past that the rig was given and the cache's first frame; 0: none */
    int block;     /* frames after which the state begins anew */
    exi_apply_output output;
    exi_wear wear;
    ex_error *error;
} applier;

/* ---- opening ---- */

static ex_result check_truth(applier *a) {
    const ex_apply_def *def = a->def;
    const int counts[2] = {ex_cache_get_info(a->driver).frame_count, ex_cache_get_info(a->truth).frame_count};
    int used = 0;
    if (def->count > 0) {
        const ex_result result = exi_take_check(a->truth, def->truth, def->first, def->count, 0, &used, a->error);
        return result == EX_OK
                   ? exi_take_check_pair(a->driver, def->driver, a->truth, def->truth, def->first, def->count, a->error)
                   : result;
    }
    const ex_result result = ex_drive_check_pair(a->driver, def->driver, a->truth, def->truth, a->error);
    if (result == EX_OK && counts[0] != counts[1])
        return ex_error_kind(a->error,
                             ex_error_set(a->error, EX_ERROR_DATA,
                                          "'%s' has %d frames but '%s' has %d: they cannot be compared", def->driver,
                                          counts[0], def->truth, counts[1]),
                             "frames_differ_applied");
    return result;
}

static ex_result open_caches(applier *a) {
    const ex_apply_def *def = a->def;
    ex_rig_driver driver;
    ex_result result = exi_take_check_rig(def->rig, &driver, &a->layer, a->error);
    if (result != EX_OK)
        return result;
    a->driver_count = driver.driver.vertex_count;
    a->vertex_count = ex_rig_vertex_count(def->rig);
    result = ex_drive_open_cache(def->driver, "driver", a->driver_count, NULL, &a->driver, a->error);
    if (result == EX_OK && def->truth)
        result = ex_drive_open_cache(def->truth, "driven", a->vertex_count, NULL, &a->truth, a->error);
    if (result == EX_OK)
        result = exi_take_check(a->driver, def->driver, def->first, def->count, def->rate, &a->frame_count, a->error);
    if (result == EX_OK)
        a->block = ex_drive_block(def->rig, a->driver, def->rate);
    return result == EX_OK && a->truth ? check_truth(a) : result;
}

/* Sets the axis of databases: the layer's scalar axis. */
static ex_result set_database(applier *a) {
    const ex_rig *rig = a->def->rig;
    const ex_pose pose = {.inputs = a->inputs};
    ex_rig_rest_pose(rig, &pose);
    if (isnan(a->def->database))
        return EX_OK;
    for (int i = 0; i < ex_weigher_axis_count(ex_rig_weigher(rig, a->layer)); i++) {
        const int input = ex_rig_layer_input(rig, a->layer, i);
        if (ex_rig_input_axis(rig, input).kind == EX_AXIS_SCALAR) {
            ex_rig_set_input(rig, input, &a->def->database, &pose);
            return EX_OK;
        }
    }
    return ex_error_set(a->error, EX_ERROR_ARGUMENT, "this rig has only one database: there is no axis to set");
}

static ex_result open_applier(applier *a, bool report) {
    const ex_rig *rig = a->def->rig;
    const ex_evaluation how = {.unsettled = a->def->unsettled, .tasks = a->def->tasks};
    ex_result result = open_caches(a);
    if (result != EX_OK)
        return result;
    const size_t n = (size_t)a->driver_count, m = (size_t)a->vertex_count;
    const size_t scratch = ex_rig_scratch_size(rig, &how, 1), state = ex_rig_state_size(rig);
    a->inputs = exi_array_allocate((size_t)ex_rig_pose_size(rig), sizeof *a->inputs);
    a->weights = exi_array_allocate((size_t)ex_rig_example_count(rig), sizeof *a->weights);
    a->form = exi_array_allocate(n, 3 * sizeof(float));
    a->made = exi_array_allocate(m, 3 * sizeof(float));
    a->unsettled = report && a->truth ? exi_array_allocate(m, 3 * sizeof(float)) : NULL;
    a->right = a->truth ? exi_array_allocate(m, 3 * sizeof(float)) : NULL;
    a->scratch = exi_array_allocate(scratch, 1);
    a->state = calloc(state > 0 ? state : 1, 1);
    if (!a->inputs || !a->weights || !a->form || !a->made || (report && a->truth && !a->unsettled) ||
        (a->truth && !a->right) || !a->scratch || !a->state)
        return ex_error_memory(a->error, "applying", (n + 3 * m) * 12 + scratch + state);
    result = set_database(a);
    if (result == EX_OK)
        result = exi_wear_open(&a->wear, a->def, a->frame_count, report, a->error);
    if (result == EX_OK && a->def->output)
        result = exi_apply_output_open(&a->output, a->def, a->driver, a->frame_count, a->error);
    return result;
}

static void close_applier(applier *a) {
    ex_cache_close(a->driver);
    ex_cache_close(a->truth);
    exi_wear_close(&a->wear);
    free(a->inputs);
    free(a->weights);
    free(a->form);
    free(a->made);
    free(a->unsettled);
    free(a->right);
    free(a->scratch);
    free(a->state);
    free(a->output.picked);
    free(a->output.written);
}

/* ---- the past ---- */

/* Seconds since the frame before, or since the past that the rig was given before the first. */
static double elapsed_before(const applier *a, int frame) {
    return frame > 0 ? ex_drive_time(a->driver, frame, a->def->rate) - ex_drive_time(a->driver, frame - 1, a->def->rate)
                     : a->primed;
}

static ex_result read_driver(applier *a, int frame) {
    return exi_take_read(a->driver, a->def->driver, frame, a->def->driver_scale, a->form, a->error);
}

/* Shows the rig a driver without making its form: only its state changes. */
static void show(applier *a, const float *driver, double elapsed) {
    const ex_pose pose = {.inputs = a->inputs, .driver = driver, .elapsed = elapsed};
    const ex_evaluation how = {.unsettled = true, .states = &a->state, .tasks = a->def->tasks};
    ex_rig_evaluate(a->def->rig, &pose, &(ex_output){.weights = a->weights}, &how, a->scratch);
}

/* Gives a rig that follows motion a past before the cache's first frame, so that it does not begin at rest. */
static ex_result prime(applier *a, const ex_predictor *predictor) {
    const size_t numbers = 3 * (size_t)a->driver_count;
    const exi_take take = {a->driver,    a->def->driver,      0, ex_cache_get_info(a->driver).frame_count,
                           a->def->rate, a->def->driver_scale};
    float *past = exi_array_allocate(2 * numbers, sizeof *past);
    const ex_result result = past ? exi_take_past(&take, predictor, past, a->form, &a->primed, a->error)
                                  : ex_error_memory(a->error, "a frame", 2 * numbers * sizeof *past);
    for (int k = 0; result == EX_OK && a->primed > 0 && k < 2; k++)
        show(a, past + (size_t)k * numbers, k * a->primed);
    free(past);
    return result;
}

/* Begins the state anew at a frame of the cache: with the frames before it, for a rig that follows motion. */
static ex_result begin(applier *a, int frame) {
    const ex_predictor *predictor = ex_rig_layer_predictor(a->def->rig, a->layer);
    memset(a->state, 0, ex_rig_state_size(a->def->rig));
    if (!predictor)
        return EX_OK;
    int from = frame;
    while (from > 0 && !exi_apply_is_past(predictor, frame - from,
                                          ex_drive_time(a->driver, frame, a->def->rate) -
                                              ex_drive_time(a->driver, from, a->def->rate)))
        from--;
    ex_result result = from == 0 ? prime(a, predictor) : EX_OK;
    for (int f = from; result == EX_OK && f < frame; f++) {
        result = read_driver(a, f);
        if (result == EX_OK)
            show(a, a->form, elapsed_before(a, f));
    }
    return result;
}

/* ---- frames ---- */

static void evaluate(applier *a, int in_cache, ex_driven *info) {
    const ex_pose pose = {.inputs = a->inputs, .driver = a->form, .elapsed = elapsed_before(a, in_cache)};
    const ex_output output = {.positions = a->made, .weights = a->weights, .driven = info};
    const ex_evaluation how = {.unsettled = a->def->unsettled, .states = &a->state, .tasks = a->def->tasks};
    ex_rig_evaluate(a->def->rig, &pose, &output, &how, a->scratch);
}

/* Brings the state to where it is before the first frame in use, from the beginning of its block. */
static ex_result run_in(applier *a) {
    const int start = a->def->first / a->block * a->block;
    ex_result result = begin(a, start);
    for (int f = start; result == EX_OK && f < a->def->first; f++) {
        ex_driven info = {.unsettled = NULL};
        result = read_driver(a, f);
        if (result == EX_OK)
            evaluate(a, f, &info);
    }
    return result;
}

static ex_result apply_frame(applier *a, int frame, exi_gauge *gauge) {
    const int in_cache = a->def->first + frame;
    ex_result result = frame > 0 && in_cache % a->block == 0 ? begin(a, in_cache) : EX_OK;
    if (result == EX_OK)
        result = read_driver(a, in_cache);
    if (result == EX_OK && a->truth)
        result = exi_take_read(a->truth, a->def->truth, in_cache, a->def->driven_scale, a->right, a->error);
    if (result != EX_OK)
        return result;
    ex_driven info = {.unsettled = a->unsettled};
    exi_worn worn;
    evaluate(a, in_cache, &info);
    result = exi_wear_frame(&a->wear, frame, a->form, a->made, &worn, a->error);
    if (result != EX_OK)
        return result;
    if (gauge)
        exi_gauge_add(gauge, &(exi_applied){.frame = frame,
                                            .time = ex_drive_time(a->driver, in_cache, a->def->rate),
                                            .driver = a->form,
                                            .driven = a->made,
                                            .truth = a->right,
                                            .unsettled = a->unsettled,
                                            .weights = a->weights + ex_rig_first_example(a->def->rig, a->layer),
                                            .info = &info,
                                            .wear = &a->wear,
                                            .worn = &worn});
    return a->output.writer ? exi_apply_output_write(&a->output, frame, a->made, a->error) : EX_OK;
}

ex_result ex_drive_apply(const ex_apply_def *def, ex_drive_report **report, ex_error *error) {
    if (!def || !def->rig || !def->driver || (!def->output && !report))
        return exi_misuse_error(error, __func__, "no rig, no driver, or nothing to do");
    if (report)
        *report = NULL;
    ex_result result = exi_take_check_scale(def->driver_scale, "driver", error);
    if (result == EX_OK)
        result = exi_take_check_scale(def->driven_scale, "driven", error);
    if (result != EX_OK)
        return result;
    applier a = {.def = def, .error = error};
    exi_gauge gauge = {.rig = NULL};
    ex_drive_report *made = NULL;
    result = open_applier(&a, report != NULL);
    if (result == EX_OK && report)
        result = exi_gauge_open(&gauge, def, a.layer, a.frame_count, &made, error);
    if (result == EX_OK)
        result = run_in(&a);
    for (int f = 0; result == EX_OK && f < a.frame_count; f++) {
        result = apply_frame(&a, f, report ? &gauge : NULL);
        if (result == EX_OK &&
            !exi_progress_tell(def->progress, "following the driver", (double)(f + 1) / a.frame_count))
            result = exi_progress_stopped(error);
    }
    if (result == EX_OK && report)
        exi_gauge_finish(&gauge);
    const ex_result finished = ex_cache_finish(a.output.writer, result == EX_OK, result == EX_OK ? error : NULL);
    result = result == EX_OK ? finished : result;
    exi_gauge_close(&gauge);
    close_applier(&a);
    if (result == EX_OK && report)
        *report = made;
    else
        ex_drive_report_free(made);
    return result;
}

void ex_drive_report_free(ex_drive_report *report) {
    if (!report)
        return;
    free(report->frames);
    free(report->weights);
    free(report->vertex_errors);
    free(report);
}
