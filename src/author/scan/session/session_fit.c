/*
 * Fits a session: turns labels of its scans into sightings, locks joints as the scans' parts say, and first moves the
 * skeleton to the reference's markers.
 */
#include "author/base/array.h"
#include "author/scan/fit/fit_body.h"
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
    int left_count;
    int *left;         /* [session->scan_count]: scans of the session that do not fit the others */
    double *left_offs; /* [session->scan_count]: their distances, metres */
    double left_usual; /* the distance of the others */
    ex_sighting *sightings;
    size_t sighting_count, sighting_capacity;
    ex_error *error;
} work;

/* Releases the work of make_scans. */
static void free_scans(work *w) {
    free(w->locked);
    free(w->entries);
    free(w->starts);
    free(w->rotations);
    free(w->neutral);
    free(w->frames);
    w->locked = NULL;
    w->entries = NULL;
    w->starts = NULL;
    w->rotations = w->neutral = w->frames = NULL;
}

static void free_work(work *w) {
    ex_kinematics_destroy(w->kinematics);
    free(w->scans);
    free(w->left);
    free(w->left_offs);
    free_scans(w);
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
    ex_result result = ex_scan_labels_read(w->session, path, &labelled, &count, w->error);
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
    ex_result result =
        exi_fit_stand(w->session->kinematics, w->sightings, w->sighting_count, w->reference,
                      entry->posed ? (const double(*)[4])entry->pose.rotations : NULL, &stance, w->error);
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
    bool *locked = w->locked + (size_t)scan * joints;
    ex_kin_pose *start = &w->starts[scan];
    memset(locked, true, joints);
    locked[0] = false;
    for (int p = 0; p < entry->part_count; p++) {
        const ex_scan_part *part = &w->session->parts[entry->parts[p]];
        for (int i = 0; i < part->solve_count; i++) {
            const int joint = ex_kinematics_find_joint(w->kinematics, part->solves[i]);
            if (joint >= 0)
                locked[joint] = false;
        }
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

/* ---- sides ---- */

enum { LOOKS = 4 };
/* The pose of the markers is this many times less likely than that with both sides exchanged, in squared standard
 * deviations; and by that much at least. */
#define SWAPPED       1.3
#define SWAPPED_LEAST 30

/* Puts every site on the joint of the other side. */
static void exchange_sides(ex_kinematics *k) {
    for (int s = 0; s < k->site_count; s++) {
        const int joint = k->sites[s].joint;
        int twin = k->joints[joint].mirror;
        for (int j = 0; j < k->joint_count && twin < 0; j++)
            twin = k->joints[j].mirror == joint ? j : -1;
        k->sites[s].joint = twin >= 0 ? twin : joint;
    }
}

/* Refuses labels of left on the right side: knees, elbows and feet would then bend backwards in most scans. */
static ex_result check_sides(work *w) {
    ex_kinematics *exchanged = ex_kinematics_copy(w->session->kinematics);
    const size_t joints = (size_t)w->kinematics->joint_count;
    double(*rotations)[4] = exi_array_allocate(joints, sizeof *rotations), costs[2] = {0};
    ex_result result =
        exchanged && rotations ? EX_OK : ex_error_memory(w->error, "the fit", joints * sizeof *rotations);
    bool pairs = false;
    for (size_t j = 0; j < joints; j++)
        pairs = pairs || w->kinematics->joints[j].mirror >= 0;
    if (result == EX_OK)
        exchange_sides(exchanged);
    for (int look = 0; look < LOOKS && pairs && result == EX_OK; look++) {
        const int scan = look == 0 ? w->reference : (int)((long)look * w->scan_count / LOOKS);
        for (int side = 0; side < 2 && result == EX_OK; side++) {
            exi_stance stance = {.pose.rotations = rotations};
            result = exi_fit_stand(side ? exchanged : w->session->kinematics, w->sightings, w->sighting_count, scan,
                                   NULL, &stance, w->error);
            costs[side] += result == EX_OK && isfinite(stance.off) ? stance.cost : 0;
        }
    }
    ex_kinematics_destroy(exchanged);
    free(rotations);
    if (result == EX_OK && costs[0] > SWAPPED * costs[1] && costs[0] > costs[1] + SWAPPED_LEAST)
        result = ex_error_set(w->error, EX_ERROR_DATA,
                              "left and right seem to be exchanged: with the names of both sides swapped, the markers "
                              "show a person, and as they are, limbs bend backwards. The person's left is +x if "
                              "they face +z. Correct the labels or the table of markers");
    return result;
}

/* ---- scans that do not fit ---- */

#define MISFIT       2.5   /* times as far off as usual */
#define MISFIT_LEAST 0.008 /* metres */

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Computes the median distance of a scan's markers, which are the sightings from *at on; values [sighting_count] is
 * work. */
static double median_off(const work *w, const ex_kin_fit *fit, int scan, size_t *at, double *values) {
    size_t count = 0;
    for (; *at < w->sighting_count && w->sightings[*at].scan == scan; ++*at)
        if (isfinite(fit->errors[*at]))
            values[count++] = fit->errors[*at];
    qsort(values, count, sizeof *values, compare_doubles);
    return count > 0 ? values[count / 2] : 0;
}

/* Removes scans whose markers are much farther off than those of the others: another person, or other names. Returns
 * DATA if these are many. any: true if some were removed. */
static ex_result leave_out(work *w, const ex_kin_fit *fit, bool *any) {
    const size_t count = (size_t)w->scan_count;
    double *values = exi_array_allocate(w->sighting_count + 2 * count, sizeof *values);
    int *numbers = exi_array_allocate(count, sizeof *numbers), kept = 0;
    *any = false;
    if (!values || !numbers) {
        free(values);
        free(numbers);
        return ex_error_memory(w->error, "the fit", w->sighting_count * sizeof *values);
    }
    double *offs = values + w->sighting_count, *sorted = offs + count;
    size_t at = 0;
    for (int i = 0; i < w->scan_count; i++)
        sorted[i] = offs[i] = median_off(w, fit, i, &at, values);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    const double usual = sorted[count / 2], limit = fmax(MISFIT * usual, MISFIT_LEAST);
    for (int i = 0; i < w->scan_count; i++) {
        const bool out = i != w->reference && offs[i] > limit;
        numbers[i] = out ? -1 : kept;
        if (out) {
            w->left_usual = usual;
            w->left_offs[w->left_count] = offs[i];
            w->left[w->left_count++] = w->scans[i];
            *any = true;
            continue;
        }
        w->scans[kept++] = w->scans[i];
    }
    const int out = w->scan_count - kept;
    if (out > 0) {
        size_t left = 0;
        for (size_t i = 0; i < w->sighting_count; i++) {
            if (numbers[w->sightings[i].scan] < 0)
                continue;
            w->sightings[left] = w->sightings[i];
            w->sightings[left].scan = numbers[w->sightings[i].scan];
            left++;
        }
        w->sighting_count = left;
        w->reference = numbers[w->reference];
        w->scan_count = kept;
    }
    free(values);
    free(numbers);
    if (3 * out > (int)count)
        return ex_error_set(w->error, EX_ERROR_DATA,
                            "%d of %d scans do not fit the others, '%s' among them: are they of one person, and are "
                            "their markers named alike?",
                            out, (int)count, w->session->scans[w->left[w->left_count - 1]].name);
    return EX_OK;
}

static bool note_left_out(const work *w, ex_scan_fitted *fitted) {
    fitted->left_names = calloc((size_t)w->left_count + 1, sizeof *fitted->left_names);
    fitted->left_reasons = calloc((size_t)w->left_count + 1, sizeof *fitted->left_reasons);
    bool good = fitted->left_names && fitted->left_reasons;
    for (int i = 0; i < w->left_count && good; i++) {
        const char *name = w->session->scans[w->left[i]].name;
        char why[160];
        snprintf(why, sizeof why,
                 "its markers are %.0f mm from where they are predicted, those of the others %.0f mm: another person, "
                 "or exchanged names?",
                 1000 * w->left_offs[i], 1000 * w->left_usual);
        fitted->left_count = i + 1;
        fitted->left_names[i] = exi_text_copy(name, strlen(name));
        fitted->left_reasons[i] = exi_text_copy(why, strlen(why));
        good = fitted->left_names[i] && fitted->left_reasons[i];
    }
    return good;
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
        made->neutral = exi_array_copy(fit->neutral, joints, sizeof *fit->neutral);
        good = made->names && made->poses && made->rms && made->kinematics && made->neutral &&
               note_open(w, fit, made) && note_left_out(w, made);
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

static ex_result fit_scans(work *w, const ex_scan_fit_options *o, ex_kin_fit **fit) {
    ex_kinematics_destroy(w->kinematics);
    free_scans(w);
    w->kinematics = ex_kinematics_copy(w->session->kinematics);
    ex_result result = w->kinematics ? make_scans(w) : ex_error_memory(w->error, "the fit", 0);
    if (result != EX_OK)
        return result;
    const ex_kin_fit_def def = {.kinematics = w->kinematics,
                                .scan_count = w->scan_count,
                                .scans = w->entries,
                                .sighting_count = (int)w->sighting_count,
                                .sightings = w->sightings,
                                .reference = w->reference,
                                .free_bones = o->free_bones,
                                .usual = w->session->kinematics,
                                .neutral = (const double(*)[4])w->neutral,
                                .loss = o->loss,
                                .even = o->even,
                                .rigid = o->rigid,
                                .progress = o->progress,
                                .tasks = o->tasks};
    return ex_kinematics_fit(&def, fit, w->error);
}

/* Fits, and again without the scans that do not fit. */
static ex_result fit_all(work *w, const ex_scan_fit_options *o, ex_kin_fit **fit) {
    ex_result result = o->free_bones ? EX_OK : check_sides(w);
    if (result == EX_OK)
        result = fit_scans(w, o, fit);
    for (bool again = !o->free_bones; result == EX_OK && again && w->scan_count > 3;) {
        result = leave_out(w, *fit, &again);
        if (result != EX_OK || !again)
            break;
        ex_kin_fit_destroy(*fit);
        *fit = NULL;
        result = fit_scans(w, o, fit);
    }
    return result == EX_OK ? exi_fit_check_body(*fit, w->sightings, w->sighting_count, w->error) : result;
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
    w.left = exi_array_allocate((size_t)session->scan_count, sizeof *w.left);
    w.left_offs = exi_array_allocate((size_t)session->scan_count, sizeof *w.left_offs);
    ex_result result =
        w.kinematics && w.scans && w.left && w.left_offs ? read_labels(&w) : ex_error_memory(error, "the fit", 0);
    if (result == EX_OK)
        result = fit_all(&w, o, fit);
    if (result == EX_OK)
        result = make_fitted(&w, *fit, fitted);
    if (result != EX_OK) {
        ex_kin_fit_destroy(*fit);
        *fit = NULL;
    }
    free_work(&w);
    return result;
}
