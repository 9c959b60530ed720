/*
 * Forms that are left out: everything is made without them, then only their poses are fitted. Beside it, one form
 * alone: un-posed, and posed like the form that was left out. Or forms against a finished body.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/scan/articulate/articulate_layers.h"
#include "author/scan/articulate/articulation.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUP_MOST = 12, ROUNDS = 4, POSE_STEPS = 40 };

void ex_left_outs_destroy(ex_left_outs *report) {
    if (!report)
        return;
    for (int f = 0; f < report->form_count; f++) {
        if (report->poses)
            free(report->poses[f].rotations);
        if (report->positions)
            free(report->positions[f]);
        if (report->distances)
            free(report->distances[f]);
    }
    free(report->poses);
    free(report->positions);
    free(report->distances);
    free(report->forms);
    free(report);
}

/* Returns a report for this number of forms; NULL without memory. */
static ex_left_outs *make_report(int form_count, int vertex_count, int joint_count) {
    const size_t forms = (size_t)form_count, vertices = (size_t)vertex_count;
    ex_left_outs *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->form_count = form_count;
    made->forms = calloc(forms, sizeof *made->forms);
    made->poses = calloc(forms, sizeof *made->poses);
    made->positions = calloc(forms, sizeof *made->positions);
    made->distances = calloc(forms, sizeof *made->distances);
    bool good = made->forms && made->poses && made->positions && made->distances;
    for (size_t f = 0; good && f < forms; f++) {
        made->poses[f].rotations = calloc((size_t)joint_count, sizeof *made->poses[f].rotations);
        made->positions[f] = calloc(3 * vertices, sizeof **made->positions);
        made->distances[f] = calloc(vertices, sizeof **made->distances);
        good = made->poses[f].rotations && made->positions[f] && made->distances[f];
    }
    if (good)
        return made;
    ex_left_outs_destroy(made);
    return NULL;
}

/* Keeps a form as predicted, and its distances. */
static ex_result keep_form(const exi_articulation *a, int form, const double *rest, double (*turns)[4],
                           const double base[3], ex_left_outs *report, ex_error *error) {
    const size_t numbers = 3 * (size_t)a->vertex_count;
    double *posed = exi_array_allocate(numbers, sizeof *posed);
    ex_result result = posed ? exi_art_pose(a, turns, base, rest, posed, error)
                             : ex_error_memory(error, "the report", numbers * sizeof *posed);
    for (size_t v = 0; result == EX_OK && v < (size_t)a->vertex_count; v++) {
        double square = 0;
        for (size_t i = 3 * v; i < 3 * v + 3; i++) {
            report->positions[form][i] = (float)posed[i];
            if (exi_art_seen(a, form, (int)v) > 0)
                square += (posed[i] - a->def->forms[form][i]) * (posed[i] - a->def->forms[form][i]);
        }
        report->distances[form][v] = exi_art_seen(a, form, (int)v) > 0 ? (float)sqrt(square) : NAN;
    }
    if (result == EX_OK) {
        memcpy(report->poses[form].rotations, turns, (size_t)a->joint_count * sizeof *turns);
        memcpy(report->poses[form].translation, base, sizeof report->poses[form].translation);
    }
    free(posed);
    return result;
}

/* Fits the pose of a form to a rest form and measures it. turns [joint_count] is the start and the result. */
static ex_result measure(const exi_articulation *a, int form, const double *rest, double (*turns)[4], double base[3],
                         double *rms, double *high, ex_error *error) {
    exi_art_moments m;
    ex_result result = exi_art_moments_make(a, form, rest, &m, error);
    if (result != EX_OK)
        return result;
    result = exi_art_fit_pose(a, &m, POSE_STEPS, turns, base, error);
    exi_art_moments_free(&m);
    return result == EX_OK ? exi_art_distance(a, form, turns, base, rest, rms, high, error) : result;
}

/* One form alone: its un-posed vertices, skinned. `a` has the weights that this takes. */
static ex_result measure_one(const exi_articulation *a, int form, double (*turns)[4], double base[3], ex_left_out *out,
                             ex_error *error) {
    const int one = form == 0 ? 1 : 0;
    const size_t count = (size_t)a->joint_count, numbers = 3 * (size_t)a->vertex_count;
    double *rest = exi_array_allocate(numbers, sizeof *rest);
    if (!rest)
        return ex_error_memory(error, "the report", numbers * sizeof *rest);
    memcpy(turns, a->turns + (size_t)form * count, count * sizeof *turns);
    memcpy(base, a->bases[form], sizeof a->bases[form]);
    ex_result result = exi_art_unpose(a, one, a->turns + (size_t)one * count, a->bases[one], NULL, rest, error);
    for (size_t i = 0; i < numbers; i++)
        rest[i] += a->rest[i];
    if (result == EX_OK)
        result = measure(a, form, rest, turns, base, &out->one_rms, &out->one_high, error);
    free(rest);
    return result;
}

/* Measures a form by skinning, then with layers. */
static ex_result measure_form(const exi_articulation *a, const ex_articulated_layers *layers, int form,
                              double (*turns)[4], double base[3], ex_left_outs *report, ex_error *error) {
    ex_left_out *out = &report->forms[form];
    const size_t count = (size_t)a->joint_count, numbers = 3 * (size_t)a->vertex_count;
    double *rest = exi_array_allocate(numbers, sizeof *rest);
    if (!rest)
        return ex_error_memory(error, "the report", numbers * sizeof *rest);
    memcpy(turns, a->turns + (size_t)form * count, count * sizeof *turns);
    memcpy(base, a->bases[form], sizeof a->bases[form]);
    ex_result result = measure(a, form, NULL, turns, base, &out->skinned_rms, &out->skinned_high, error);
    for (int round = 0; round < 2 && result == EX_OK; round++) { /* layers follow the pose, and the pose follows them */
        result = exi_art_evaluate_layers(a, layers, turns, rest, error);
        for (size_t i = 0; i < numbers && result == EX_OK; i++)
            rest[i] += a->rest[i];
        if (result == EX_OK)
            result = measure(a, form, rest, turns, base, &out->rms, &out->high, error);
    }
    if (result == EX_OK)
        result = keep_form(a, form, rest, turns, base, report, error);
    free(rest);
    return result;
}

/* Goes back to the starting weights; poses and centres stay as a start. */
static void restart(exi_articulation *a) {
    const size_t room = (size_t)a->vertex_count * (size_t)a->influence_count;
    memcpy(a->joints, a->first_joints, room * sizeof *a->joints);
    memcpy(a->weights, a->first_weights, room * sizeof *a->weights);
}

/* Leaves a group out: forms whose number is `group` modulo group_count. */
static ex_result leave_group(const exi_articulation *whole, const exi_articulation *plain, int group, bool *left,
                             ex_left_outs *report, ex_error *error) {
    exi_articulation a;
    ex_articulated_layers *layers = NULL;
    int rounds;
    double(*turns)[4] = exi_array_allocate((size_t)whole->joint_count, sizeof *turns), base[3];
    ex_result result = turns ? exi_art_copy(whole, &a, error) : ex_error_memory(error, "the report", 0);
    if (result != EX_OK) {
        free(turns);
        return result;
    }
    for (int f = 0; f < a.form_count; f++)
        left[f] = f % report->group_count == group;
    a.left_out = left;
    restart(&a);
    result = exi_art_find_rest(&a, error);
    if (result == EX_OK)
        result = exi_art_rounds(&a, ROUNDS, NULL, 0, 1, &rounds, error);
    if (result == EX_OK)
        result = exi_art_find_layers(&a, &layers, error);
    for (int f = 0; f < a.form_count && result == EX_OK; f++) {
        if (!left[f])
            continue;
        result = measure_form(&a, layers, f, turns, base, report, error);
        if (result == EX_OK)
            result = measure_one(whole->drawn ? plain : &a, f, turns, base, &report->forms[f], error);
    }
    ex_articulated_layers_destroy(layers);
    exi_art_free(&a);
    free(turns);
    return result;
}

ex_left_out ex_left_outs_sum(const ex_left_outs *report, int from, int to) {
    ex_left_out all = {0};
    const double n = to > from ? to - from : 1;
    for (int f = from; f < to; f++) {
        const ex_left_out *one = &report->forms[f];
        all.rms += one->rms * one->rms / n;
        all.skinned_rms += one->skinned_rms * one->skinned_rms / n;
        all.one_rms += one->one_rms * one->one_rms / n;
        all.high += one->high / n;
        all.skinned_high += one->skinned_high / n;
        all.one_high += one->one_high / n;
    }
    all.rms = sqrt(all.rms);
    all.skinned_rms = sqrt(all.skinned_rms);
    all.one_rms = sqrt(all.one_rms);
    return all;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ex_result leave_all(exi_articulation *whole, exi_articulation *plain, ex_left_outs *report, ex_error *error) {
    bool *left = calloc((size_t)whole->form_count, sizeof *left);
    ex_result result = left ? EX_OK : ex_error_memory(error, "the report", 0);
    for (int g = 0; g < report->group_count && result == EX_OK; g++) {
        if (!exi_progress_tell(whole->def->progress, "forms left out", (double)g / report->group_count))
            result = exi_progress_stopped(error);
        else
            result = leave_group(whole, plain, g, left, report, error);
    }
    free(left);
    return result;
}

/* Starts forms that are left out from rigid fits of their bones, or from given poses if these are nearer. */
static ex_result start_left_out(exi_articulation *a, ex_error *error) {
    ex_result result = EX_OK;
    for (int f = 0; f < a->form_count && result == EX_OK; f++) {
        double own = 0, given = INFINITY;
        if (exi_art_counts(a, f))
            continue;
        result = exi_art_start_pose(a, f, error);
        double(*turns)[4] = a->turns + (size_t)f * (size_t)a->joint_count;
        if (result == EX_OK)
            result = exi_art_distance(a, f, turns, a->bases[f], NULL, &own, NULL, error);
        const ex_kin_pose *start = a->def->starts ? &a->def->starts[f] : NULL;
        if (result == EX_OK && start)
            result = exi_art_distance(a, f, start->rotations, start->translation, NULL, &given, NULL, error);
        if (result == EX_OK && given < own) {
            memcpy(turns, start->rotations, (size_t)a->joint_count * sizeof *turns);
            memcpy(a->bases[f], start->translation, sizeof a->bases[f]);
        }
    }
    return result;
}

/* Opens a body, and a plain one for one form alone: with a skeleton, it has the starting weights and poses of its own.
 * Forms that are left out [form_count], or NULL, take no part. */
static ex_result open_both(const ex_articulate_def *def, const ex_articulated *articulated, const bool *left_out,
                           exi_articulation *whole, exi_articulation *plain, ex_error *error) {
    ex_result result = exi_art_open(def, articulated, whole, error);
    if (result != EX_OK)
        return result;
    whole->left_out = left_out;
    result = exi_art_net_make(def->mesh, articulated->rest, &whole->net, error);
    if (result == EX_OK)
        result = exi_art_first(whole, error);
    if (result == EX_OK)
        exi_art_anchor(whole);
    if (result == EX_OK)
        result = start_left_out(whole, error);
    if (result == EX_OK)
        result = exi_art_copy(whole, plain, error);
    if (result == EX_OK) {
        if (whole->drawn) {
            restart(plain);
            result = exi_art_find_rest(plain, error);
        }
        if (result == EX_OK && whole->drawn)
            result = exi_art_fit(plain, 10, false, error);
        if (result == EX_OK)
            return EX_OK;
        exi_art_free(plain);
    }
    exi_art_net_free(&whole->net);
    exi_art_free(whole);
    return result;
}

static void close_both(exi_articulation *whole, exi_articulation *plain) {
    exi_art_net_free(&whole->net);
    exi_art_free(plain);
    exi_art_free(whole);
}

static ex_result finish(ex_left_outs *made, ex_result result, double start, ex_left_outs **report) {
    if (result != EX_OK) {
        ex_left_outs_destroy(made);
        return result;
    }
    made->all = ex_left_outs_sum(made, 0, made->form_count);
    made->seconds = seconds() - start;
    *report = made;
    return EX_OK;
}

ex_result ex_articulate_leave_out(const ex_articulate_def *def, const ex_articulated *articulated,
                                  ex_left_outs **report, ex_error *error) {
    exi_articulation whole, plain;
    const double start = seconds();
    *report = NULL;
    if (def->form_count < 3)
        return ex_error_set(error, EX_ERROR_DATA,
                            "with %d forms none can be left out: give at least 3 to learn how well others are guessed",
                            def->form_count);
    ex_left_outs *made = make_report(def->form_count, def->mesh->vertex_count, articulated->kinematics->joint_count);
    ex_result result = made ? open_both(def, articulated, NULL, &whole, &plain, error)
                            : ex_error_memory(error, "the report", (size_t)def->form_count * sizeof *made->forms);
    if (result == EX_OK) {
        made->group_count = def->form_count < GROUP_MOST ? def->form_count : GROUP_MOST;
        result = leave_all(&whole, &plain, made, error);
        close_both(&whole, &plain);
    }
    return finish(made, result, start, report);
}

/* Measures all forms against a body that was made from the first. */
static ex_result measure_all(const exi_articulation *whole, const exi_articulation *plain,
                             const ex_articulated_layers *layers, ex_left_outs *report, ex_error *error) {
    const ex_articulated_layers none = {.vertex_count = whole->vertex_count, .form_count = whole->form_count};
    double(*turns)[4] = exi_array_allocate((size_t)whole->joint_count, sizeof *turns), base[3];
    ex_result result = turns ? EX_OK : ex_error_memory(error, "the report", 0);
    for (int f = 0; f < whole->form_count && result == EX_OK; f++) {
        if (!exi_progress_tell(whole->def->progress, "forms measured", (double)f / whole->form_count))
            result = exi_progress_stopped(error);
        if (result == EX_OK)
            result = measure_form(whole, layers ? layers : &none, f, turns, base, report, error);
        if (result == EX_OK)
            result = measure_one(whole->drawn ? plain : whole, f, turns, base, &report->forms[f], error);
    }
    free(turns);
    return result;
}

ex_result ex_articulated_measure(const ex_articulate_def *def, const ex_articulated *articulated,
                                 const ex_articulated_layers *layers, ex_left_outs **report, ex_error *error) {
    exi_articulation whole, plain;
    const double start = seconds();
    const int known = articulated->form_count;
    const size_t forms = (size_t)def->form_count;
    *report = NULL;
    if (def->form_count < known)
        return exi_misuse_error(error, __func__, "fewer forms than the body was made from");
    ex_left_outs *made = make_report(def->form_count, def->mesh->vertex_count, articulated->kinematics->joint_count);
    bool *left = calloc(forms, sizeof *left);
    ex_articulated all = *articulated;
    all.poses = exi_array_allocate(forms, sizeof *all.poses);
    ex_result result = made && left && all.poses ? EX_OK : ex_error_memory(error, "the report", forms * 100);
    for (int f = 0; result == EX_OK && f < def->form_count; f++) {
        left[f] = f >= known;
        all.poses[f] = articulated->poses[left[f] ? 0 : f]; /* new forms get their own start */
    }
    if (result == EX_OK)
        result = open_both(def, &all, left, &whole, &plain, error);
    if (result == EX_OK) {
        result = measure_all(&whole, &plain, layers, made, error);
        close_both(&whole, &plain);
    }
    free(left);
    free(all.poses);
    return finish(made, result, start, report);
}
