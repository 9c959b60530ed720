/*
 * Fits a session: turns labels of its scans into sightings, locks joints as the scans' parts say, and first moves the
 * skeleton to the reference's markers.
 */
#include "author/base/array.h"
#include "author/scan/fit/fit_stand.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct work {
    const ex_scan_session *session;
    double sure;
    bool free_bones;
    ex_kinematics *kinematics; /* starting values of the fit */
    int scan_count;
    int *scans; /* [session->scan_count]: scans with labels */
    int reference;
    bool *locked; /* [scan_count][joint_count] */
    ex_kin_scan *entries;
    ex_kin_pose *starts;
    double (*rotations)[4]; /* [scan_count][joint_count] */
    double (*neutral)[4];   /* [joint_count]: rotations of the reference from the skeleton's neutral pose */
    double (*frames)[4];    /* [joint_count]: the same, in the world */
    ex_sighting *sightings;
    size_t sighting_count, sighting_capacity;
    ex_error *error;
} work;

static void free_work(work *w) {
    ex_kinematics_destroy(w->kinematics);
    free(w->scans);
    free(w->locked);
    free(w->entries);
    free(w->starts);
    free(w->rotations);
    free(w->neutral);
    free(w->frames);
    free(w->sightings);
}

/* ---- labels ---- */

static ex_result unknown_marker(work *w, const char *path, const char *name) {
    const int count = w->kinematics->site_count;
    const char **names = exi_array_allocate((size_t)count, sizeof *names);
    for (int i = 0; names && i < count; i++)
        names[i] = w->kinematics->sites[i].name;
    const char *near = names ? ex_suggest(name, names, count) : NULL;
    free((void *)names);
    return ex_error_set(w->error, EX_ERROR_DATA, "%s: the session has no marker '%s'%s%s%s", path, name,
                        near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static ex_result add_labels(work *w, int scan, const char *path) {
    ex_labelled *labelled = NULL;
    int count = 0;
    ex_result result = ex_labels_read(path, &labelled, &count, w->error);
    for (int i = 0; i < count && result == EX_OK; i++) {
        const int site = ex_kinematics_find_site(w->kinematics, labelled[i].name);
        if (site < 0) {
            result = unknown_marker(w, path, labelled[i].name);
            break;
        }
        if (labelled[i].confidence < w->sure)
            continue;
        ex_sighting *grown =
            exi_array_grow(w->sightings, &w->sighting_capacity, w->sighting_count + 1, sizeof *w->sightings);
        if (!grown) {
            result = ex_error_memory(w->error, "the labels", w->sighting_count * sizeof *grown);
            break;
        }
        w->sightings = grown;
        ex_sighting *sighting = &grown[w->sighting_count++];
        *sighting = (ex_sighting){.scan = scan, .site = site, .weight = 1};
        memcpy(sighting->position, labelled[i].position, sizeof sighting->position);
    }
    ex_labels_free(labelled, count);
    return result;
}

static ex_result read_labels(work *w) {
    ex_result result = EX_OK;
    w->reference = -1;
    for (int i = 0; i < w->session->scan_count && result == EX_OK; i++) {
        char *path = ex_scan_path(w->session, "labels", w->session->scans[i].name, ".csv");
        const size_t before = w->sighting_count;
        if (!path)
            return ex_error_memory(w->error, "a path", 0);
        if (exi_scan_is_there(path))
            result = add_labels(w, w->scan_count, path);
        if (w->sighting_count > before) {
            w->reference = i == w->session->reference ? w->scan_count : w->reference;
            w->scans[w->scan_count++] = i;
        } else if (i == w->session->reference && result == EX_OK) {
            result = ex_error_set(w->error, EX_ERROR_DATA,
                                  "the reference scan '%s' has no labelled markers: name them by hand in %s",
                                  w->session->scans[i].name, path);
        }
        free(path);
    }
    return result;
}

/* ---- the starting skeleton ---- */

/* Computes the middle of the bone that a joint moves: between it and the mean of its child joints. */
static void bone_middle(const ex_kinematics *kinematics, const double (*places)[3], int joint, double middle[3]) {
    double sum[3] = {0};
    int count = 0;
    for (int i = joint + 1; i < kinematics->joint_count; i++) {
        if (kinematics->joints[i].parent != joint)
            continue;
        for (int c = 0; c < 3; c++)
            sum[c] += places[i][c];
        count++;
    }
    for (int c = 0; c < 3; c++)
        middle[c] = count ? (places[joint][c] + sum[c] / count) / 2 : places[joint][c];
}

/* Collects middles of bones, and of the markers on them in the reference; returns the number of bones. */
static int gather_middles(const work *w, double (*bones)[3], double (*markers)[3]) {
    const ex_kinematics *kinematics = w->kinematics;
    double(*places)[3] = exi_array_allocate((size_t)kinematics->joint_count, sizeof *places);
    int count = 0;
    if (!places)
        return 0;
    ex_kin_pose rest = {.rotations = w->rotations};
    memcpy(rest.translation, kinematics->joints[0].translation, sizeof rest.translation);
    ex_kin_frames(kinematics, &rest, NULL, places);
    for (int j = 0; j < kinematics->joint_count; j++) {
        double sum[3] = {0};
        int seen = 0;
        for (size_t i = 0; i < w->sighting_count; i++) {
            const ex_sighting *s = &w->sightings[i];
            if (s->scan != w->reference || kinematics->sites[s->site].joint != j)
                continue;
            for (int c = 0; c < 3; c++)
                sum[c] += s->position[c];
            seen++;
        }
        if (seen < 2)
            continue;
        bone_middle(kinematics, (const double(*)[3])places, j, bones[count]);
        for (int c = 0; c < 3; c++)
            markers[count][c] = sum[c] / seen;
        count++;
    }
    free(places);
    return count;
}

/* Metres, of an adult: a skeleton whose bones are nearer to their markers stands as the reference does. */
#define NEAR 0.06

static bool is_locked(const ex_kinematics *kinematics) {
    bool locked = false;
    for (int j = 0; j < kinematics->joint_count; j++)
        locked = locked || kinematics->joints[j].lock_translation || kinematics->joints[j].lock_axis;
    return locked;
}

/* Turns the skeleton so that it stands as the reference does: its frames stay parallel to the world. */
static ex_result turn_skeleton(work *w) {
    ex_kinematics *k = w->kinematics;
    const ex_scan_entry *entry = &w->session->scans[w->session->reference];
    exi_stance stance = {.pose.rotations = w->neutral};
    ex_result result = exi_fit_stand(w->session->kinematics, w->sightings, w->sighting_count, w->reference,
                                     entry->posed ? (const double(*)[4])entry->pose.rotations : NULL, &stance,
                                     w->error);
    if (result != EX_OK || !isfinite(stance.off))
        return result;
    ex_kin_frames(w->session->kinematics, &stance.pose, w->frames, NULL);
    for (int j = 0; j < k->joint_count; j++) {
        ex_kin_joint *joint = &k->joints[j];
        double turned[3];
        if (joint->parent < 0) {
            memcpy(joint->translation, stance.pose.translation, sizeof joint->translation);
            continue;
        }
        exi_rotate(w->frames[joint->parent], joint->translation, turned);
        for (int c = 0; c < 3; c++)
            joint->translation[c] = stance.scale * turned[c];
        exi_rotate(w->frames[joint->parent], joint->axis, joint->axis);
    }
    for (int s = 0; s < k->site_count; s++)
        exi_rotate(w->frames[k->sites[s].joint], k->sites[s].local, k->sites[s].local);
    return EX_OK;
}

/* Moves and scales the skeleton if that brings its bones much closer to their markers. If it then stands otherwise than
 * the reference, its joints are turned. */
static ex_result bring_skeleton(work *w) {
    const size_t joints = (size_t)w->kinematics->joint_count;
    double(*bones)[3] = exi_array_allocate(2 * joints, sizeof *bones), (*markers)[3] = bones + joints;
    double means[2][3] = {{0}}, product = 0, square = 0, off = 0, left = 0;
    if (!bones)
        return ex_error_memory(w->error, "the skeleton", 2 * joints * sizeof *bones);
    const int count = gather_middles(w, bones, markers);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            means[0][c] += bones[i][c] / count;
            means[1][c] += markers[i][c] / count;
        }
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            product += (bones[i][c] - means[0][c]) * (markers[i][c] - means[1][c]);
            square += (bones[i][c] - means[0][c]) * (bones[i][c] - means[0][c]);
        }
    const double scale = count > 2 && square > 0 && product > 0 ? product / square : 1;
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            const double moved = means[1][c] + scale * (bones[i][c] - means[0][c]) - markers[i][c];
            off += (bones[i][c] - markers[i][c]) * (bones[i][c] - markers[i][c]);
            left += moved * moved;
        }
    free(bones);
    const bool posed = w->session->scans[w->session->reference].posed;
    if (!w->free_bones && !is_locked(w->kinematics) && count > 2 &&
        (posed || sqrt((off < 4 * left ? off : left) / count) > NEAR * scale))
        return turn_skeleton(w);
    if (count == 0 || off < 4 * left)
        return EX_OK;
    for (size_t j = 0; j < joints; j++) {
        double *t = w->kinematics->joints[j].translation;
        for (int c = 0; c < 3; c++) {
            if (j == 0)
                t[c] = means[1][c] + scale * (t[c] - means[0][c]);
            else if (!w->kinematics->joints[j].lock_translation)
                t[c] *= scale;
        }
    }
    return EX_OK;
}

/* ---- scans ---- */

/* Converts rotations from the neutral pose to such from the reference: with Q the frames of the reference, a frame
 * R becomes R Q^-1. */
static void turn_pose(const work *w, double (*from)[4], double (*to)[4]) {
    const ex_kinematics *k = w->kinematics;
    for (int j = 0; j < k->joint_count; j++) {
        const double *q = w->frames[j], back[4] = {-q[0], -q[1], -q[2], q[3]};
        double turned[4];
        exi_quaternion_multiply(from[j], back, turned);
        if (k->joints[j].parent >= 0)
            exi_quaternion_multiply(w->frames[k->joints[j].parent], turned, turned);
        memcpy(to[j], turned, sizeof turned);
    }
}

static void make_scan(work *w, int scan) {
    const size_t joints = (size_t)w->kinematics->joint_count;
    const ex_scan_entry *entry = &w->session->scans[w->scans[scan]];
    const ex_scan_part *part = &w->session->parts[entry->part];
    bool *locked = w->locked + (size_t)scan * joints;
    ex_kin_pose *start = &w->starts[scan];
    memset(locked, true, joints);
    locked[0] = false;
    for (int i = 0; i < part->solve_count; i++) {
        const int joint = ex_kinematics_find_joint(w->kinematics, part->solves[i]);
        if (joint >= 0)
            locked[joint] = false;
    }
    memcpy(start->translation, w->kinematics->joints[0].translation, sizeof start->translation);
    start->rotations = w->rotations + (size_t)scan * joints;
    if (entry->posed && (scan != w->reference || w->free_bones))
        turn_pose(w, entry->pose.rotations, start->rotations);
    w->entries[scan] = (ex_kin_scan){.name = entry->name,
                                     .locked = locked,
                                     .base_locked = scan == w->reference && w->free_bones,
                                     .start = scan == w->reference || entry->posed ? start : NULL};
}

static ex_result make_scans(work *w) {
    const size_t joints = (size_t)w->kinematics->joint_count, count = (size_t)w->scan_count;
    w->locked = exi_array_allocate(count * joints, sizeof *w->locked);
    w->entries = exi_array_allocate(count, sizeof *w->entries);
    w->starts = exi_array_allocate(count, sizeof *w->starts);
    w->rotations = exi_array_allocate(count * joints, sizeof *w->rotations);
    w->neutral = exi_array_allocate(joints, sizeof *w->neutral);
    w->frames = exi_array_allocate(joints, sizeof *w->frames);
    if (!w->locked || !w->entries || !w->starts || !w->rotations || !w->neutral || !w->frames)
        return ex_error_memory(w->error, "the fit", count * joints * sizeof *w->rotations);
    for (size_t i = 0; i < count * joints; i++)
        memcpy(w->rotations[i], (const double[4]){0, 0, 0, 1}, sizeof w->rotations[i]);
    for (size_t j = 0; j < joints; j++) {
        memcpy(w->neutral[j], (const double[4]){0, 0, 0, 1}, sizeof w->neutral[j]);
        memcpy(w->frames[j], (const double[4]){0, 0, 0, 1}, sizeof w->frames[j]);
    }
    ex_result result = bring_skeleton(w);
    for (int i = 0; i < w->scan_count && result == EX_OK; i++)
        make_scan(w, i);
    return result;
}

/* ---- the result ---- */

/* Records undetermined rotations of a scan; for a joint reported once for all scans, those where it was held as in the
 * reference. Returns false without memory. */
static bool note_open(const work *w, const ex_kin_fit *fit, ex_scan_fitted *fitted) {
    const size_t joints = (size_t)w->kinematics->joint_count;
    fitted->opens = calloc((size_t)w->scan_count * joints, sizeof *fitted->opens);
    for (int i = 0; fitted->opens && i < fit->open_count; i++) {
        const ex_kin_open *open = &fit->opens[i];
        for (int scan = 0; open->joint >= 0 && scan < w->scan_count; scan++) {
            const size_t at = (size_t)scan * joints + (size_t)open->joint;
            const double *q = fit->poses[scan].rotations[open->joint];
            const bool held = q[0] == 0 && q[1] == 0 && q[2] == 0 && scan != w->reference && !w->locked[at];
            if (open->scan == scan || (open->scan < 0 && held))
                fitted->opens[at] = true;
        }
    }
    return fitted->opens != NULL;
}

static ex_result make_fitted(const work *w, const ex_kin_fit *fit, ex_scan_fitted **fitted) {
    const size_t joints = (size_t)w->kinematics->joint_count, count = (size_t)w->scan_count;
    ex_scan_fitted *made = calloc(1, sizeof *made);
    int *seen = calloc(count, sizeof *seen);
    bool good = made && seen;
    if (good) {
        made->scan_count = w->scan_count;
        made->names = calloc(count, sizeof *made->names);
        made->poses = calloc(count, sizeof *made->poses);
        made->rms = calloc(count, sizeof *made->rms);
        made->kinematics = ex_kinematics_copy(fit->kinematics);
        good = made->names && made->poses && made->rms && made->kinematics && note_open(w, fit, made);
    }
    for (size_t i = 0; i < count && good; i++) {
        const char *name = w->session->scans[w->scans[i]].name;
        made->names[i] = exi_text_copy(name, strlen(name));
        made->poses[i] = fit->poses[i];
        made->poses[i].rotations = exi_array_copy(fit->poses[i].rotations, joints, sizeof *fit->poses[i].rotations);
        good = made->names[i] && made->poses[i].rotations;
    }
    for (size_t i = 0; i < w->sighting_count && good; i++) {
        if (isnan(fit->errors[i])) /* a marker without a known place */
            continue;
        made->rms[w->sightings[i].scan] += fit->errors[i] * fit->errors[i];
        seen[w->sightings[i].scan]++;
    }
    for (size_t i = 0; i < count && good; i++)
        made->rms[i] = seen[i] > 0 ? sqrt(made->rms[i] / seen[i]) : 0;
    free(seen);
    if (good) {
        *fitted = made;
        return EX_OK;
    }
    ex_scan_fitted_destroy(made);
    return ex_error_memory(w->error, "the fit", count * joints);
}

ex_result ex_scan_fit(const ex_scan_session *session, const ex_scan_fit_options *options, ex_scan_fitted **fitted,
                      ex_kin_fit **fit, ex_error *error) {
    if (!session || !fitted || !fit)
        return exi_misuse_error(error, __func__, "no session, or no pointer for the fit");
    const ex_scan_fit_options plain = {0}, *o = options ? options : &plain;
    work w = {.session = session, .sure = o->sure != 0 ? o->sure : 0.9, .free_bones = o->free_bones, .error = error};
    *fitted = NULL;
    *fit = NULL;
    w.kinematics = ex_kinematics_copy(session->kinematics);
    w.scans = exi_array_allocate((size_t)session->scan_count, sizeof *w.scans);
    ex_result result = w.kinematics && w.scans ? read_labels(&w) : ex_error_memory(error, "the fit", 0);
    if (result == EX_OK)
        result = make_scans(&w);
    if (result == EX_OK) {
        const ex_kin_fit_def def = {.kinematics = w.kinematics,
                                    .scan_count = w.scan_count,
                                    .scans = w.entries,
                                    .sighting_count = (int)w.sighting_count,
                                    .sightings = w.sightings,
                                    .reference = w.reference,
                                    .free_bones = o->free_bones,
                                    .usual = session->kinematics,
                                    .neutral = (const double(*)[4])w.neutral,
                                    .loss = o->loss,
                                    .even = o->even,
                                    .rigid = o->rigid,
                                    .progress = o->progress,
                                    .tasks = o->tasks};
        result = ex_kinematics_fit(&def, fit, error);
    }
    if (result == EX_OK)
        result = make_fitted(&w, *fit, fitted);
    if (result != EX_OK) {
        ex_kin_fit_destroy(*fit);
        *fit = NULL;
    }
    free_work(&w);
    return result;
}
