/*
 * Carries a template person to the scans of a session (ex_scan_carry).
 *
 * 1. The reference. Landmarks have places on the template. Of markers only the bone is known: the mean of a bone's
 *    markers is near the middle of the bone's skin. Figure and pose follow from these and the surface, then the
 * template is registered. Now every marker of the reference has a place on the template.
 * 2. Some scans together with the reference: the figure, from several poses.
 * 3. Every other scan: its pose, then registration. It starts from the person as the reference shows them, un-posed by
 *    skinning and posed again, so that hands and face are already theirs.
 */
#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/scan/person/person.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Scans that determine the figure together; least number of things to start from. */
enum { TOGETHER = 8, START_LEAST = 6 };
/* A scan does not fit if the posed template is farther from it than this many times the median of all, or than this. */
static const double worse_times = 2.5, worse_least = 0.012, seen_least = 0.3;

ex_result exi_carry_no_memory(const exi_carry *w) {
    return ex_error_memory(w->error, "carrying the template", (size_t)w->vertex_count * 64);
}

/* ---- the session ---- */

ex_result exi_carry_fit(exi_carry *w, exi_carry_scan *const *ones, exi_carry_input *inputs, int count, bool lock) {
    exi_human_scan *scans = exi_array_allocate((size_t)count, sizeof *scans);
    ex_result result = scans ? EX_OK : exi_carry_no_memory(w);
    for (int i = 0; scans && i < count; i++)
        scans[i] = inputs[i].scan;
    if (result == EX_OK)
        result = exi_human_fit(w->human, scans, count, w->figure, lock, NULL, w->options->tasks, w->error);
    for (int i = 0; result == EX_OK && i < count; i++) {
        ones[i]->pose = scans[i].pose;
        ones[i]->posed = true;
        ones[i]->report->figure_rms = scans[i].rms;
        ones[i]->matched = scans[i].matched;
    }
    free(scans);
    return result;
}

static ex_result do_reference(exi_carry *w) {
    exi_carry_scan *o = &w->ones[w->reference];
    exi_carry_input in = {0};
    ex_registered *registered = NULL;
    char why[sizeof o->report->reason];
    exi_carry_forget_look(w, o->scan);
    ex_result result = exi_carry_start(w, o);
    if (result == EX_OK)
        result = exi_carry_open(w, o, &in);
    if (result == EX_OK && !exi_carry_check_files(w, o, &in, why, sizeof why))
        result = exi_carry_refuse(w, o, &in, why);
    if (result == EX_OK && !exi_carry_check_count(w, o, &in, START_LEAST, why, sizeof why))
        result = exi_carry_refuse(w, o, &in, why);
    if (result == EX_OK)
        result = exi_carry_fit(w, &o, &in, 1, false);
    exi_human_figure(w->human, w->figure, w->rest, w->joints);
    if (result == EX_OK && !exi_carry_check_pose(w, o, &in, why, sizeof why))
        result = exi_carry_refuse(w, o, &in, why);
    /* Markers get places, unless they have told poses. Several poses show better where an elbow is. */
    if (result == EX_OK && !o->told)
        result = exi_carry_register(w, o, &in, &registered);
    if (result == EX_OK && !o->told)
        result = exi_carry_place_markers(w, o, registered);
    ex_registered_destroy(registered);
    exi_carry_close(w, o, &in);
    return result;
}

/* True for a scan that the body is made without. */
static bool is_held(const exi_carry *w, const exi_carry_scan *o) {
    return w->session->scans[o->scan].held;
}

/* Returns the scan that is the n-th after the reference, without those that are held back or left out; -1: there is
 * none. */
static int other_scan(const exi_carry *w, int n) {
    for (int k = 1; k < w->one_count; k++) {
        const int i = (w->reference + k) % w->one_count;
        if (!is_held(w, &w->ones[i]) && !w->ones[i].report->left_out && n-- == 0)
            return i;
    }
    return -1;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of the scans of the figure: of those alone, so that no scan depends on the order of the others. */
static double median_figure_rms(exi_carry_scan *const *chosen, int chosen_count) {
    double values[TOGETHER];
    int count = 0;
    for (int i = 0; i < chosen_count; i++)
        values[count++] = chosen[i]->report->figure_rms;
    qsort(values, (size_t)count, sizeof *values, compare);
    return count > 0 ? values[count / 2] : 0;
}

/* Fits the figure to the reference and a few others, spread over the list. */
static ex_result do_together(exi_carry *w) {
    exi_carry_scan *chosen[TOGETHER];
    exi_carry_input inputs[TOGETHER];
    int count = 0, usable = 1;
    ex_result result = EX_OK;
    memset(inputs, 0, sizeof inputs);
    while (other_scan(w, usable - 1) >= 0)
        usable++;
    chosen[count++] = &w->ones[w->reference];
    for (int k = 0; k < TOGETHER - 1; k++) {
        const int other = other_scan(w, usable <= TOGETHER ? k : (int)((double)(k + 1) * usable / TOGETHER) - 1);
        if (other >= 0 && chosen[count - 1] != &w->ones[other])
            chosen[count++] = &w->ones[other];
    }
    for (int i = 0; i < count && result == EX_OK; i++) {
        chosen[i]->together = true;
        result = exi_carry_open(w, chosen[i], &inputs[i]);
    }
    if (result == EX_OK)
        result = exi_carry_fit(w, chosen, inputs, count, false);
    for (int i = 0; i < count; i++)
        exi_carry_close(w, chosen[i], &inputs[i]);
    exi_human_figure(w->human, w->figure, w->rest, w->joints);
    w->usual = median_figure_rms(chosen, count);
    return result;
}

/* True if a scan that was posed fits the person as the others do. */
static bool is_near(const exi_carry *w, const exi_carry_scan *o, char *why, size_t size) {
    const double usual = w->usual, most = worse_times * usual > worse_least ? worse_times * usual : worse_least;
    if (o->report->figure_rms <= most)
        return true;
    snprintf(
        why, size,
        "it is %.0f mm (rms) from the person of the others, who are %.0f mm from theirs: look whether it shows this "
        "person",
        1000 * o->report->figure_rms, 1000 * usual);
    return false;
}

/* Registers a scan; a scan on which this fails has a reason in `why`. */
static ex_result register_one(exi_carry *w, exi_carry_scan *o, const exi_carry_input *in, ex_registered **registered,
                              char *why, size_t size) {
    const ex_result result = exi_carry_register(w, o, in, registered);
    if (result == EX_OK && o->report->seen < seen_least)
        snprintf(why, size,
                 "only %.0f %% of the body could be found on it: look whether it shows this person, and all of them",
                 100 * o->report->seen);
    if (result != EX_ERROR_DATA)
        return result;
    snprintf(why, size, "%s", w->error ? w->error->text : "it cannot be registered");
    return EX_OK;
}

/* Registers a scan, or leaves it out. shown [joint_count]: the bones that it shows. */
static ex_result carry_one(exi_carry *w, exi_carry_scan *o, float *shown) {
    exi_carry_input in = {0};
    ex_registered *registered = NULL;
    const bool reference = o == &w->ones[w->reference];
    char why[sizeof o->report->reason] = "";
    memset(shown, 0, (size_t)w->joint_count * sizeof *shown);
    if (o->report->left_out)
        return EX_OK;
    exi_carry_forget_look(w, o->scan);
    ex_result result = exi_carry_open(w, o, &in);
    if (result == EX_OK && !o->posed)
        result = exi_carry_fit(w, &o, &in, 1, true);
    if (result == EX_OK && is_near(w, o, why, sizeof why))
        result = register_one(w, o, &in, &registered, why, sizeof why);
    if (result == EX_OK && why[0] && reference)
        result = exi_carry_refuse(w, o, &in, why);
    else if (result == EX_OK && why[0])
        exi_carry_leave_out(w, o, &in, why);
    if (result == EX_OK && !why[0] && reference)
        result = exi_carry_take_person(w, o, registered);
    if (result == EX_OK && !why[0])
        exi_carry_find_shown(w, registered, shown);
    if (result == EX_OK && !why[0])
        result = exi_carry_write_registered(w, o, registered);
    if (result == EX_OK && !why[0] && !is_held(w, o))
        result = exi_carry_place_markers(w, o, registered);
    ex_registered_destroy(registered);
    exi_carry_close(w, o, &in);
    return result;
}

/* Does a scan, or takes it from its record. */
static ex_result do_one(exi_carry *w, exi_carry_scan *o, bool again) {
    float *shown = exi_array_allocate((size_t)w->joint_count, sizeof *shown);
    const int one = (int)(o - w->ones);
    bool there = false;
    ex_result result = shown ? EX_OK : exi_carry_no_memory(w);
    w->turn = one == w->reference ? -1 : is_held(w, o) ? w->one_count + one : one;
    if (result == EX_OK && one != w->reference && !again && !o->report->left_out)
        result = exi_carry_read_carried(w, o, shown, &there);
    if (result == EX_OK && !there)
        result = carry_one(w, o, shown);
    if (result == EX_OK && !there && one != w->reference && w->options->step != EX_SCAN_CARRY_ALL)
        result = exi_carry_write_carried(w, o, shown);
    for (int j = 0; j < w->joint_count && result == EX_OK; j++)
        w->shown[j] = shown[j] > w->shown[j] ? shown[j] : w->shown[j];
    w->turn = -1;
    free(shown);
    return result;
}

/* True if the scan has a marker that no scan before it has given a place. */
static bool is_first(exi_carry *w, const exi_carry_scan *o) {
    bool first = false;
    w->turn = (int)(o - w->ones);
    for (int i = 0; i < o->count && !first; i++)
        first = !exi_carry_is_known(w, &w->places[o->points[i].name]);
    w->turn = -1;
    return first && !is_held(w, o) && !o->report->left_out;
}

/* Does the scans other than the reference, those that are held back last. firsts: only those that may give places to
 * markers. */
static ex_result do_others(exi_carry *w, bool firsts) {
    ex_result result = EX_OK;
    int done = 0;
    for (int k = 0; k < 2 * w->one_count && result == EX_OK; k++) {
        const int i = k % w->one_count;
        if (i == w->reference || is_held(w, &w->ones[i]) != (k >= w->one_count) ||
            (firsts && !is_first(w, &w->ones[i])))
            continue;
        if (!exi_progress_tell(w->options->progress, w->session->scans[w->ones[i].scan].name,
                               (double)++done / (w->one_count + 1)))
            result = exi_progress_stopped(w->error);
        else
            result = do_one(w, &w->ones[i], w->options->force);
    }
    return result;
}

/* ---- steps ---- */

/* True if the step is about this scan. */
static bool is_asked(const exi_carry *w, const exi_carry_scan *o) {
    return !w->options->scans || w->options->scans[o->scan];
}

/* Finds the figure of the reference alone. */
static ex_result find_reference(exi_carry *w) {
    const ex_scan_carry_step step = w->options->step;
    const bool again = w->options->force && (step == EX_SCAN_CARRY_ALL || step == EX_SCAN_CARRY_REFERENCE);
    bool there = false;
    ex_result result = again ? EX_OK : exi_carry_read_reference(w, &there);
    if (result == EX_OK && !there)
        result = exi_carry_fit_markers(w);
    if (result == EX_OK && !there)
        result = do_reference(w);
    return result == EX_OK && !there && step != EX_SCAN_CARRY_ALL ? exi_carry_write_reference(w) : result;
}

/* Screens the scans of a step: those asked for, or all. */
static ex_result screen(exi_carry *w, bool all) {
    const ex_scan_carry_step step = w->options->step;
    const bool again = w->options->force && (step == EX_SCAN_CARRY_ALL || step == EX_SCAN_CARRY_SCREEN);
    ex_result result = EX_OK;
    for (int i = 0; i < w->one_count && result == EX_OK; i++) {
        bool there = false, needed = all || is_asked(w, &w->ones[i]);
        for (int k = i + 1; k < w->one_count && !needed && w->session->scans[w->ones[k].scan].follows; k++)
            needed = is_asked(w, &w->ones[k]); /* a frame needs those before it */
        if (i == w->reference || !needed)
            continue;
        if (!again)
            result = exi_carry_read_screened(w, &w->ones[i], &there);
        if (result == EX_OK && !there)
            result = exi_carry_screen(w, &w->ones[i]);
        if (result == EX_OK && !there && step != EX_SCAN_CARRY_ALL)
            result = exi_carry_write_screened(w, &w->ones[i]);
    }
    return result;
}

/* Finds the figure of several scans, and registers the reference. */
static ex_result find_figure(exi_carry *w) {
    const ex_scan_carry_step step = w->options->step;
    const bool again = w->options->force && (step == EX_SCAN_CARRY_ALL || step == EX_SCAN_CARRY_FIGURE);
    bool there = false;
    ex_result result =
        again ? EX_OK : exi_carry_read_figure(w, step == EX_SCAN_CARRY_SCAN ? w->options->scans : NULL, &there);
    if (result != EX_OK || there)
        return result;
    if (step == EX_SCAN_CARRY_SCAN) /* it needs all of them */
        result = screen(w, true);
    if (result == EX_OK)
        result = do_together(w);
    if (result == EX_OK)
        result = do_one(w, &w->ones[w->reference], true);
    if (step == EX_SCAN_CARRY_ALL || result != EX_OK)
        return result;
    /* The figure is known, and so are the keys of records. Then markers get places, in the order of the scans. */
    result = exi_carry_write_figure(w);
    if (result == EX_OK)
        result = do_others(w, true);
    return result == EX_OK ? exi_carry_write_figure(w) : result;
}

/* ---- entry point ---- */

static ex_result open_work(exi_carry *w) {
    const char *person = w->session->person;
    char *path = person && strcmp(person, "human") != 0 ? exi_scan_file(w->session->folder, person) : NULL;
    ex_result result = exi_human_read(path, &w->human, w->error);
    free(path);
    if (result != EX_OK)
        return result;
    const size_t vertices = (size_t)(w->vertex_count = w->human->mesh->vertex_count);
    const size_t joints = (size_t)(w->joint_count = w->human->kinematics->joint_count);
    w->ones = exi_arena_allocate(&w->arena, (size_t)w->session->scan_count + 1, sizeof *w->ones);
    w->figure = exi_arena_allocate(&w->arena, (size_t)w->human->figure_count + 1, sizeof *w->figure);
    w->rest = exi_arena_allocate(&w->arena, vertices, sizeof *w->rest);
    w->joints = exi_arena_allocate(&w->arena, joints, sizeof *w->joints);
    w->rotations = exi_arena_allocate(&w->arena, joints, sizeof *w->rotations);
    w->posed = exi_arena_allocate(&w->arena, joints, sizeof *w->posed);
    w->matching = exi_arena_allocate(&w->arena, vertices, sizeof *w->matching);
    w->stiffness = exi_arena_allocate(&w->arena, vertices, sizeof *w->stiffness);
    w->shown = exi_arena_allocate(&w->arena, joints, sizeof *w->shown);
    w->mesh = ex_mesh_copy(w->human->mesh);
    w->report = calloc(1, sizeof *w->report);
    if (w->report)
        w->report->scans = calloc((size_t)w->session->scan_count, sizeof *w->report->scans);
    if (!w->ones || !w->figure || !w->rest || !w->joints || !w->rotations || !w->posed || !w->matching || !w->shown ||
        !w->stiffness || !w->mesh || !w->report || !w->report->scans)
        return exi_carry_no_memory(w);
    exi_carry_set_stiffness(w);
    return exi_carry_find_outside(w);
}

static ex_result carry(exi_carry *w) {
    const ex_scan_carry_step step = w->options->step;
    char *folder = exi_scan_file(w->session->folder, "registered");
    ex_result result = exi_carry_read_points(w);
    for (int i = 0, one = 0; i < w->session->scan_count && step == EX_SCAN_CARRY_ALL; i++) {
        if (one < w->one_count && w->ones[one].scan == i)
            one++; /* its picture is removed when it is done again */
        else
            exi_carry_forget_look(w, i);
    }
    if (result == EX_OK && w->reference < 0)
        result =
            ex_error_set(w->error, EX_ERROR_DATA,
                         "the reference scan '%s' has neither landmarks (landmarks/%s.csv) nor named markers "
                         "(labels/%s.csv)",
                         w->session->scans[w->session->reference].name, w->session->scans[w->session->reference].name,
                         w->session->scans[w->session->reference].name);
    for (int i = 0; i < w->one_count; i++) {
        w->ones[i].report = &w->report->scans[i];
        w->report->scans[i].scan = w->ones[i].scan;
    }
    w->report->scan_count = w->one_count;
    if (result == EX_OK)
        exi_carry_hash(w);
    if (result == EX_OK && step != EX_SCAN_CARRY_REFERENCE && step != EX_SCAN_CARRY_SCREEN)
        result = folder ? ex_make_directory(folder, w->error) : exi_carry_no_memory(w);
    if (result == EX_OK)
        result = find_reference(w);
    if (result == EX_OK && step != EX_SCAN_CARRY_REFERENCE)
        result = screen(w, step == EX_SCAN_CARRY_ALL || step == EX_SCAN_CARRY_FIGURE);
    if (result == EX_OK && step != EX_SCAN_CARRY_REFERENCE && step != EX_SCAN_CARRY_SCREEN)
        result = find_figure(w);
    for (int i = 0; i < w->one_count && result == EX_OK && step == EX_SCAN_CARRY_SCAN; i++)
        if (i != w->reference && is_asked(w, &w->ones[i]))
            result = do_one(w, &w->ones[i], w->options->force);
    if (result == EX_OK && step == EX_SCAN_CARRY_ALL)
        result = do_others(w, false);
    if (result == EX_OK && step == EX_SCAN_CARRY_ALL)
        result = exi_carry_write_person(w);
    free(folder);
    return result;
}

/* Scans without points are left out, too. */
static void add_pointless(exi_carry *w) {
    for (int i = 0; i < w->session->scan_count; i++) {
        bool has = false;
        for (int k = 0; k < w->one_count; k++)
            has = has || w->ones[k].scan == i;
        if (has)
            continue;
        ex_carried_scan *scan = &w->report->scans[w->report->scan_count++];
        *scan = (ex_carried_scan){.scan = i, .left_out = true};
        snprintf(scan->reason, sizeof scan->reason, "it has neither landmarks nor named markers");
    }
}

void ex_scan_carried_destroy(ex_scan_carried *carried) {
    if (!carried)
        return;
    free(carried->scans);
    free(carried);
}

ex_result ex_scan_carry(const ex_scan_session *session, const ex_scan_carry_options *options, ex_scan_carried **carried,
                        ex_error *error) {
    if (!session || !carried)
        return exi_misuse_error(error, __func__, "no session, or no pointer for the report");
    const ex_scan_carry_options plain = {0};
    exi_carry w = {.session = session, .options = options ? options : &plain, .turn = -1, .error = error};
    struct timespec began, ended;
    timespec_get(&began, TIME_UTC);
    w.sure = w.options->sure != 0 ? w.options->sure : 0.9;
    *carried = NULL;
    ex_result result = open_work(&w);
    if (result == EX_OK)
        result = carry(&w);
    if (result == EX_OK) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < w.vertex_count; v++) {
            low = fmin(low, w.rest[v][1]);
            high = fmax(high, w.rest[v][1]);
        }
        timespec_get(&ended, TIME_UTC);
        add_pointless(&w);
        w.report->height = high - low;
        exi_carry_name_unseen(&w, w.report->unseen, sizeof w.report->unseen);
        w.report->seconds = (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec);
        *carried = w.report;
    } else {
        ex_scan_carried_destroy(w.report);
    }
    for (int i = 0; w.ones && i < session->scan_count; i++)
        free(w.ones[i].points);
    free(w.places);
    ex_mesh_destroy(w.mesh);
    exi_human_destroy(w.human);
    exi_arena_free(&w.arena);
    return result;
}
