/*
 * Solves some frames of motion capture as scans of a fit without a reference.
 *
 * A ball joint with fewer than three markers may turn in ways that its markers hardly show: about the line through
 * them, or, with a hinge beyond it, to the mirrored side of a plane. Left alone, such a joint flips from frame to
 * frame. So three points near it are added to the skeleton and seen, with little weight, where the starting pose has
 * them.
 */
#include "author/base/array.h"
#include "author/scan/capture/capture.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOLD_REACH  0.05 /* metres from the joint */
#define HOLD_WEIGHT 0.01 /* in markers */
enum { ENOUGH = 3 };

typedef struct work {
    const exi_capture_batch *batch;
    ex_kinematics *kinematics; /* with the points added */
    int site_count;            /* without the points */
    int sighting_count;
    ex_sighting *sightings;
    ex_kin_scan *scans;
    ex_kin_pose *starts;
    double (*rotations)[4]; /* [count][joint_count] */
    double (*turns)[4];     /* [joint_count] */
    double (*places)[3];
    double (*seen)[3]; /* [site_count] */
    ex_error *error;
} work;

static void free_work(work *w) {
    ex_kinematics_destroy(w->kinematics);
    free(w->sightings);
    free(w->scans);
    free(w->starts);
    free(w->rotations);
    free(w->turns);
    free(w->places);
    free(w->seen);
}

/* ---- the skeleton ---- */

/* True if it has markers, on it or beyond, but few of its own. */
static bool is_weak(const exi_capture_batch *batch, int joint) {
    const ex_kinematics *kinematics = batch->kinematics;
    int own = 0, all = 0;
    for (int s = 0; s < kinematics->site_count; s++) {
        int j = kinematics->sites[s].joint;
        own += j == joint;
        while (j > joint)
            j = kinematics->joints[j].parent;
        all += j == joint;
    }
    return kinematics->joints[joint].freedom == EX_FREEDOM_BALL && !batch->locked[joint] && own < ENOUGH && all > 0;
}

static bool add_points(work *w) {
    const exi_capture_batch *batch = w->batch;
    const int joints = batch->kinematics->joint_count;
    w->kinematics = ex_kinematics_copy(batch->kinematics);
    if (!w->kinematics)
        return false;
    ex_kinematics *made = w->kinematics;
    w->site_count = made->site_count;
    ex_site *sites = realloc(made->sites, (size_t)(w->site_count + 3 * joints + 1) * sizeof *sites);
    if (!sites)
        return false;
    made->sites = sites;
    for (int j = 1; j < joints; j++)
        for (int i = 0; i < 3 && is_weak(batch, j); i++) {
            ex_site *site = &sites[made->site_count];
            *site = (ex_site){.name = exi_text_copy("held", 4), .joint = j, .placed = true};
            site->local[i] = HOLD_REACH;
            if (!site->name)
                return false;
            made->site_count++;
        }
    return true;
}

/* ---- frames ---- */

static void add_sighting(work *w, int scan, int site, const double at[3], double weight) {
    ex_sighting *sighting = &w->sightings[w->sighting_count++];
    *sighting = (ex_sighting){.scan = scan, .site = site, .weight = weight};
    memcpy(sighting->position, at, sizeof sighting->position);
}

static void add_seen(work *w, int scan) {
    const exi_capture_batch *batch = w->batch;
    for (int m = 0; m < batch->markers->marker_count; m++) {
        const float *p = batch->sites[m] >= 0 ? exi_capture_seen(batch->markers, batch->frames[scan], m) : NULL;
        if (p)
            add_sighting(w, scan, batch->sites[m], (const double[3]){(double)p[0], (double)p[1], (double)p[2]}, 1);
    }
}

/* Finds the starting pose, and adds the points at their positions in it. */
static void start_frame(work *w, int scan) {
    const exi_capture_batch *batch = w->batch;
    const size_t joints = (size_t)w->kinematics->joint_count;
    for (int s = 0; s < w->kinematics->site_count; s++)
        w->seen[s][0] = NAN;
    for (int m = 0; m < batch->markers->marker_count; m++) {
        const float *p = batch->sites[m] >= 0 ? exi_capture_seen(batch->markers, batch->frames[scan], m) : NULL;
        for (int i = 0; i < 3 && p; i++)
            w->seen[batch->sites[m]][i] = (double)p[i];
    }
    w->starts[scan].rotations = w->rotations + (size_t)scan * joints;
    exi_capture_start(w->kinematics, batch->locked, (const double(*)[3])w->seen, batch->likely[scan], &w->starts[scan],
                      w->turns, w->places);
    w->scans[scan] = (ex_kin_scan){.name = "a frame", .locked = batch->locked, .start = &w->starts[scan]};
    for (int s = w->site_count; s < w->kinematics->site_count; s++) {
        const ex_site *site = &w->kinematics->sites[s];
        double at[3];
        exi_rotate(w->turns[site->joint], site->local, at);
        for (int i = 0; i < 3; i++)
            at[i] += w->places[site->joint][i];
        add_sighting(w, scan, s, at, HOLD_WEIGHT);
    }
}

static bool open_work(work *w) {
    const exi_capture_batch *batch = w->batch;
    const size_t count = (size_t)batch->count, joints = (size_t)batch->kinematics->joint_count;
    if (!add_points(w))
        return false;
    const size_t sites = (size_t)w->kinematics->site_count;
    w->sightings = exi_array_allocate(count * sites, sizeof *w->sightings);
    w->scans = calloc(count, sizeof *w->scans);
    w->starts = calloc(count, sizeof *w->starts);
    w->rotations = exi_array_allocate(count * joints, sizeof *w->rotations);
    w->turns = exi_array_allocate(joints, sizeof *w->turns);
    w->places = exi_array_allocate(joints, sizeof *w->places);
    w->seen = exi_array_allocate(sites, sizeof *w->seen);
    return w->sightings && w->scans && w->starts && w->rotations && w->turns && w->places && w->seen;
}

/* Removes the points from the result again. */
static void drop_points(const work *w, ex_kin_fit *fit) {
    for (int s = w->site_count; s < fit->kinematics->site_count; s++)
        free(fit->kinematics->sites[s].name);
    fit->kinematics->site_count = w->site_count;
}

ex_result exi_capture_solve(const exi_capture_batch *batch, ex_kin_fit **fit, ex_error *error) {
    work w = {.batch = batch, .error = error};
    *fit = NULL;
    ex_result result = open_work(&w) ? EX_OK
                                     : ex_error_set(error, EX_ERROR_MEMORY,
                                                    "not enough memory for the fit of %d frames", batch->count);
    if (result == EX_OK) {
        for (int i = 0; i < batch->count; i++)
            add_seen(&w, i);
        for (int i = 0; i < batch->count; i++)
            start_frame(&w, i);
        const ex_kin_fit_def def = {.kinematics = w.kinematics,
                                    .scan_count = batch->count,
                                    .scans = w.scans,
                                    .sighting_count = w.sighting_count,
                                    .sightings = w.sightings,
                                    .reference = -1,
                                    .lock_sites = batch->poses_only,
                                    .lock_kinematics = batch->poses_only,
                                    .loss = batch->loss,
                                    .even = batch->poses_only,
                                    .progress = batch->progress,
                                    .tasks = batch->tasks};
        result = ex_kinematics_fit(&def, fit, error);
    }
    if (result == EX_OK)
        drop_points(&w, *fit);
    free_work(&w);
    return result;
}
