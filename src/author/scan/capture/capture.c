/*
 * Fits a skeleton to motion capture. Frames are scans of a fit without a reference:
 *
 *   1. match labels with sites, and leave out sites without a marker;
 *   2. scale the skeleton by the distances between markers on the same bone, which do not depend on the pose;
 *   3. find bones, axes and sites from frames spread over the trial that show many markers, and from the static trial;
 *   4. find the poses of all frames with those held, starting from the nearest known frame;
 *   5. mend sightings, and put other markers on bones by their distances; if that changed anything, 3 and 4 again.
 */
#include "author/scan/capture/capture.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 40, BLOCK = 256, MENDINGS = 2 };

static void destroy_poses(ex_kin_pose *poses, int count) {
    for (int f = 0; poses && f < count; f++)
        free(poses[f].rotations);
    free(poses);
}

void ex_capture_destroy(ex_capture *capture) {
    if (!capture)
        return;
    destroy_poses(capture->poses, capture->frame_count);
    destroy_poses(capture->still_poses, capture->still_count);
    free(capture->still_seen);
    for (int m = 0; capture->markers && m < capture->marker_count; m++)
        free(capture->markers[m].name);
    for (int i = 0; capture->notes && i < capture->note_count; i++)
        free(capture->notes[i]);
    ex_kinematics_destroy(capture->kinematics);
    free(capture->markers);
    free(capture->notes);
    free(capture->sites);
    free(capture->rms);
    free(capture->opens);
    free(capture);
}

const float *exi_capture_seen(const ex_markers *markers, int frame, int marker) {
    const float *p = markers->positions + 3 * ((size_t)frame * (size_t)markers->marker_count + (size_t)marker);
    return isnan(p[0]) ? NULL : p;
}

void exi_capture_predict(const ex_site *site, const double (*rotations)[4], const double (*places)[3], double at[3]) {
    exi_rotate(rotations[site->joint], site->local, at);
    for (int i = 0; i < 3; i++)
        at[i] += places[site->joint][i];
}

ex_result exi_capture_no_memory(const exi_capture_work *w) {
    return ex_error_set(w->error, EX_ERROR_MEMORY, "not enough memory for the fit of %d frames",
                        w->motion->frame_count);
}

bool exi_capture_note(exi_capture_work *w, const char *format, ...) {
    char sentence[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    char **notes = realloc(w->out->notes, ((size_t)w->out->note_count + 1) * sizeof *notes);
    if (!notes)
        return false;
    w->out->notes = notes;
    notes[w->out->note_count] = exi_text_copy(sentence, strlen(sentence));
    if (!notes[w->out->note_count])
        return false;
    w->out->note_count++;
    return true;
}

static double now(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- labels ---- */

/* "A, B, C and 12 more" */
static void list_names(char *text, size_t size, int count, const char *(*name)(const void *, int), const void *from) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && i < 6 && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.24s", i ? ", " : "", name(from, i));
    if (count > 6 && used < size)
        snprintf(text + used, size - used, " and %d more", count - 6);
}

static const char *marker_name(const void *from, int i) {
    return ((const ex_markers *)from)->names[i];
}

static const char *site_name(const void *from, int i) {
    return ((const ex_kinematics *)from)->sites[i].name;
}

static ex_result too_few(const exi_capture_work *w, const ex_kinematics *full, int matched) {
    char markers[200], sites[200];
    int blank = 0;
    for (int m = 0; m < w->motion->marker_count; m++)
        blank += w->meanings[m].kind == EXI_MARKER_BLANK;
    if (2 * blank > w->motion->marker_count)
        return ex_error_set(w->error, EX_ERROR_DATA,
                            "%d of %d markers have no label, and only %d have a known one: label at least %d in the "
                            "program that recorded them, or give a labelled static trial (--static) of a motion that "
                            "begins, ends or passes near its pose",
                            blank, w->motion->marker_count, matched, EXI_CAPTURE_MATCHES);
    list_names(markers, sizeof markers, w->markers->marker_count, marker_name, w->markers);
    list_names(sites, sizeof sites, full->site_count, site_name, full);
    return ex_error_set(w->error, EX_ERROR_DATA,
                        "%d of the markers (%s) have the name of a marker of the skeleton '%s' (%s), but %d are needed",
                        matched, markers, full->name, sites, EXI_CAPTURE_MATCHES);
}

static ex_result match(exi_capture_work *w, const ex_kinematics *full) {
    ex_result result = exi_capture_match_all(w);
    if (result == EX_OK)
        result = exi_capture_unswap(w);
    if (result == EX_OK)
        result = exi_capture_start_clusters(w);
    int matched = 0; /* markers of the motion */
    for (int m = 0; m < w->motion->marker_count; m++)
        matched += w->out->sites[m] >= 0;
    return result == EX_OK && matched < EXI_CAPTURE_MATCHES ? too_few(w, full, matched) : result;
}

static void count_sightings(exi_capture_work *w) {
    for (int f = 0; f < w->markers->frame_count; f++) {
        w->counts[f] = 0;
        for (int m = 0; m < w->markers->marker_count; m++)
            w->counts[f] += w->out->sites[m] >= 0 && exi_capture_seen(w->markers, f, m);
    }
}

/* ---- joints ---- */

/* The ball joint that a ball joint without markers carries, if it carries only that; -1 otherwise. */
static int carried(const ex_kinematics *kinematics, int j) {
    bool marked = kinematics->joints[j].freedom != EX_FREEDOM_BALL;
    int ball = -1, balls = 0, others = 0;
    for (int s = 0; s < kinematics->site_count; s++)
        marked = marked || kinematics->sites[s].joint == j;
    for (int k = j + 1; k < kinematics->joint_count; k++)
        if (kinematics->joints[k].parent == j) {
            const bool is_ball = kinematics->joints[k].freedom == EX_FREEDOM_BALL;
            ball = is_ball ? k : ball;
            balls += is_ball;
            others += !is_ball;
        }
    return !marked && balls == 1 && others == 0 ? ball : -1;
}

/* Of a ball joint that only carries another and has no markers, and that one, nothing shows how the two share a
 * rotation about the bone between them: one stays at rest. That is the first, or, for the trunk, the one that fits
 * worse. */
static void lock_joints(exi_capture_work *w) {
    for (int j = 1; j < w->kinematics->joint_count; j++)
        w->locked[j] = false;
    for (int j = 1; j < w->kinematics->joint_count; j++) {
        const int next = carried(w->kinematics, j);
        if (next >= 0)
            w->locked[w->bends_low && w->kinematics->joints[j].parent == 0 ? next : j] = true;
    }
}

/* True if the trunk has two joints, of which one stays at rest. */
static bool has_choice(const exi_capture_work *w) {
    for (int j = 1; j < w->kinematics->joint_count; j++)
        if (w->kinematics->joints[j].parent == 0 && carried(w->kinematics, j) >= 0)
            return true;
    return false;
}

/* ---- bones ---- */

/* Chooses all frames of the static trial, and others evenly among those that show nine tenths of what the best one
 * shows. */
static ex_result choose_frames(exi_capture_work *w) {
    const int wanted = w->options->frames > 0 ? w->options->frames : FRAMES, first = w->still_count;
    int most = 0, good = 0, at = 0, taken = 0;
    for (int f = first; f < w->markers->frame_count; f++)
        most = w->counts[f] > most ? w->counts[f] : most;
    if (most < EXI_CAPTURE_SIGHTINGS)
        return ex_error_set(w->error, EX_ERROR_DATA,
                            "no frame shows more than %d markers of the skeleton, but a pose needs %d", most,
                            EXI_CAPTURE_SIGHTINGS);
    for (int f = first; f < w->markers->frame_count; f++)
        good += 10 * w->counts[f] >= 9 * most;
    const int count = good < wanted ? good : wanted;
    free(w->chosen);
    w->chosen_count = 0;
    w->chosen = exi_array_allocate((size_t)(count + first), sizeof *w->chosen);
    if (!w->chosen)
        return exi_capture_no_memory(w);
    for (int f = 0; f < first; f++)
        if (w->counts[f] >= EXI_CAPTURE_SIGHTINGS)
            w->chosen[w->chosen_count++] = f;
    for (int f = first; f < w->markers->frame_count && taken < count; f++) {
        if (10 * w->counts[f] < 9 * most)
            continue;
        if ((int64_t)at * count / good >= taken) {
            w->chosen[w->chosen_count++] = f;
            taken++;
        }
        at++;
    }
    return EX_OK;
}

static exi_capture_batch make_batch(const exi_capture_work *w, const int *frames, int count,
                                    const ex_kin_pose *const *likely) {
    return (exi_capture_batch){.markers = w->markers,
                               .sites = w->out->sites,
                               .locked = w->locked,
                               .count = count,
                               .frames = frames,
                               .likely = likely,
                               .loss = w->options->loss,
                               .tasks = w->options->tasks};
}

static ex_result find_bones(exi_capture_work *w) {
    const size_t joints = (size_t)w->kinematics->joint_count;
    ex_kin_pose rest = {.rotations = exi_array_allocate(joints, sizeof *rest.rotations)};
    const ex_kin_pose **likely = exi_array_allocate((size_t)w->chosen_count, sizeof *likely);
    ex_result result = rest.rotations && likely ? EX_OK : exi_capture_no_memory(w);
    for (size_t j = 0; j < joints && result == EX_OK; j++)
        memcpy(rest.rotations[j], (const double[4]){0, 0, 0, 1}, sizeof *rest.rotations);
    for (int i = 0; i < w->chosen_count && result == EX_OK; i++)
        likely[i] = w->poses[w->chosen[i]].rotations ? &w->poses[w->chosen[i]] : &rest;
    if (result == EX_OK) {
        exi_capture_batch batch = make_batch(w, w->chosen, w->chosen_count, likely);
        batch.kinematics = w->kinematics;
        batch.progress = w->options->progress;
        ex_kin_fit_destroy(w->bones);
        w->bones = NULL;
        result = exi_capture_solve(&batch, &w->bones, w->error);
    }
    free(rest.rotations);
    free((void *)likely);
    return result;
}

static bool keep_pose(exi_capture_work *w, int frame, const ex_kin_pose *pose) {
    ex_kin_pose *kept = &w->poses[frame], made = *pose;
    made.rotations = exi_array_copy(pose->rotations, (size_t)w->kinematics->joint_count, sizeof *pose->rotations);
    if (!made.rotations)
        return false;
    free(kept->rotations);
    *kept = made;
    return true;
}

/* Sums the squared errors of the markers, which come before those of the points that hold weak joints. */
static double sum_errors(const exi_capture_work *w, const ex_kin_fit *fit) {
    double sum = 0;
    for (int i = 0, k = 0; i < w->chosen_count; i++)
        for (const int last = k + w->counts[w->chosen[i]]; k < last; k++)
            sum += fit->errors[k] * fit->errors[k];
    return sum;
}

/* Gives the chosen frames likely poses for the other joint of the trunk: those found, with its turn moved there. */
static ex_result turn_low(exi_capture_work *w, const ex_kin_fit *high) {
    const ex_kinematics *kinematics = w->kinematics;
    for (int i = 0; i < w->chosen_count; i++) {
        double(*turns)[4] = high->poses[i].rotations;
        if (!keep_pose(w, w->chosen[i], &high->poses[i]))
            return exi_capture_no_memory(w);
        for (int j = 1; j < kinematics->joint_count; j++) {
            const int next = kinematics->joints[j].parent == 0 ? carried(kinematics, j) : -1;
            if (next < 0)
                continue;
            double(*moved)[4] = w->poses[w->chosen[i]].rotations;
            exi_quaternion_multiply(turns[j], turns[next], moved[j]);
            memcpy(moved[next], (const double[4]){0, 0, 0, 1}, sizeof *moved);
        }
    }
    return EX_OK;
}

/* The trunk may bend at its first joint or at its second: takes the one that fits better. */
static ex_result bend_trunk(exi_capture_work *w) {
    ex_kin_fit *high = w->bones;
    ex_result result = turn_low(w, high);
    w->bones = NULL;
    w->bends_low = true;
    lock_joints(w);
    if (result == EX_OK)
        result = find_bones(w);
    if (result == EX_OK && sum_errors(w, w->bones) < sum_errors(w, high)) {
        ex_kin_fit_destroy(high);
        return EX_OK;
    }
    for (int i = 0; i < w->chosen_count; i++) {
        free(w->poses[w->chosen[i]].rotations);
        w->poses[w->chosen[i]].rotations = NULL;
    }
    ex_kin_fit_destroy(w->bones);
    w->bones = high;
    w->bends_low = false;
    lock_joints(w);
    return result;
}

/* ---- all frames ---- */

/* Returns the fitted pose of the nearest chosen frame. */
static const ex_kin_pose *nearest_chosen(const exi_capture_work *w, int frame) {
    int best = 0;
    for (int i = 1; i < w->chosen_count; i++)
        if (abs(w->chosen[i] - frame) < abs(w->chosen[best] - frame))
            best = i;
    return &w->bones->poses[best];
}

static ex_result pose_block(exi_capture_work *w, const int *frames, int count) {
    const ex_kin_pose *likely[BLOCK];
    ex_kin_fit *fit = NULL;
    for (int i = 0; i < count; i++)
        likely[i] = nearest_chosen(w, frames[i]);
    exi_capture_batch batch = make_batch(w, frames, count, likely);
    batch.kinematics = w->bones->kinematics;
    batch.poses_only = true;
    ex_result result = exi_capture_solve(&batch, &fit, w->error);
    for (int i = 0, k = 0; i < count && result == EX_OK; i++) {
        double sum = 0;
        const int seen = w->counts[frames[i]];
        for (int last = k + seen; k < last; k++)
            sum += fit->errors[k] * fit->errors[k];
        w->rms[frames[i]] = sqrt(sum / seen);
        if (frames[i] >= w->still_count) {
            w->out->error += sum;
            w->out->sighting_count += seen;
        }
        if (!keep_pose(w, frames[i], &fit->poses[i]))
            result = exi_capture_no_memory(w);
    }
    ex_kin_fit_destroy(fit);
    return result;
}

static ex_result find_poses(exi_capture_work *w) {
    int frames[BLOCK], count = 0;
    ex_result result = EX_OK;
    w->out->error = 0;
    w->out->sighting_count = 0;
    for (int f = 0; f < w->markers->frame_count && result == EX_OK; f++) {
        w->rms[f] = NAN;
        if (w->counts[f] >= EXI_CAPTURE_SIGHTINGS)
            frames[count++] = f;
        if (count == BLOCK || (count > 0 && f == w->markers->frame_count - 1)) {
            result = pose_block(w, frames, count);
            count = 0;
        }
    }
    w->out->error = sqrt(w->out->error / (w->out->sighting_count > 0 ? w->out->sighting_count : 1));
    return result;
}

/* Bones, then the poses of all frames. */
static ex_result solve(exi_capture_work *w) {
    count_sightings(w);
    ex_result result = choose_frames(w);
    if (result == EX_OK) {
        if (!w->scaled) {
            exi_capture_scale(w);

            exi_capture_size_bones(w);
            w->scaled = true;
        }
        lock_joints(w);
        result = find_bones(w);
    }
    if (result == EX_OK && !w->bent) {
        w->bent = true;
        result = has_choice(w) ? bend_trunk(w) : EX_OK;
    }
    return result == EX_OK ? find_poses(w) : result;
}

/* Takes the bones found as the start of the next round. */
static ex_result take_bones(exi_capture_work *w) {
    ex_kinematics *copy = ex_kinematics_copy(w->bones->kinematics);
    if (!copy)
        return exi_capture_no_memory(w);
    ex_kinematics_destroy(w->kinematics);
    w->kinematics = copy;
    return EX_OK;
}

/* Solves, mends, and solves again while that changes anything. */
static ex_result solve_all(exi_capture_work *w) {
    ex_result result = solve(w);
    for (int round = 0; round < MENDINGS && result == EX_OK; round++) {
        bool changed = false;
        result = take_bones(w);
        if (result == EX_OK)
            result = exi_capture_mend(w, &changed);
        if (result == EX_OK && round == 0)
            result = exi_capture_place_others(w, &changed);
        if (result == EX_OK && !changed)
            break;
        if (result == EX_OK)
            result = solve(w);
    }
    return result;
}

/* Gives frames without a pose that of the nearest frame with one. */
static ex_result fill_poses(exi_capture_work *w) {
    const int count = w->markers->frame_count;
    for (int f = w->still_count; f < count; f++) {
        const ex_kin_pose *nearest = NULL;
        if (w->counts[f] >= EXI_CAPTURE_SIGHTINGS)
            continue;
        for (int d = 1; d < count && !nearest; d++)
            for (int side = -1; side <= 1 && !nearest; side += 2)
                if (f + side * d >= w->still_count && f + side * d < count &&
                    w->counts[f + side * d] >= EXI_CAPTURE_SIGHTINGS)
                    nearest = &w->poses[f + side * d];
        if (!nearest || !keep_pose(w, f, nearest))
            return exi_capture_no_memory(w);
    }
    return EX_OK;
}

/* ---- the entry point ---- */

static ex_result open_work(exi_capture_work *w) {
    ex_capture *out = w->out;
    const ex_kinematics *from = w->options->kinematics;
    ex_result result = exi_capture_join(w);
    if (result != EX_OK)
        return result;
    if (from)
        w->kinematics = ex_kinematics_copy(from);
    else
        result = ex_kinematics_read("full", &w->kinematics, w->error);
    const size_t frames = (size_t)w->markers->frame_count, markers = (size_t)w->markers->marker_count;
    w->counts = calloc(frames + 1, sizeof *w->counts);
    w->locked = w->kinematics ? calloc((size_t)w->kinematics->joint_count, sizeof *w->locked) : NULL;
    w->meanings = calloc(markers + 1, sizeof *w->meanings);
    w->poses = calloc(frames + 1, sizeof *w->poses);
    w->rms = calloc(frames + 1, sizeof *w->rms);
    out->sites = exi_array_allocate(markers, sizeof *out->sites);
    out->markers = calloc(markers + 1, sizeof *out->markers);
    out->zero_frame = -1;
    out->first_frame = w->motion->first_frame;
    out->rate = w->motion->rate;
    bool good =
        w->kinematics && w->locked && w->counts && w->meanings && w->poses && w->rms && out->sites && out->markers;
    for (size_t m = 0; m < markers && good; m++) {
        out->marker_count++;
        good = (out->markers[m].name = exi_text_copy(w->markers->names[m], strlen(w->markers->names[m]))) != NULL;
    }
    return result == EX_OK && !good ? exi_capture_no_memory(w) : result;
}

/* Keeps the positions of sites in a frame of the static trial; NaN if not seen. */
static void keep_still(const exi_capture_work *w, int frame, double (*seen)[3]) {
    for (int s = 0; s < w->out->kinematics->site_count; s++)
        seen[s][0] = seen[s][1] = seen[s][2] = NAN;
    for (int m = 0; m < w->markers->marker_count; m++) {
        const float *p = w->out->sites[m] >= 0 ? exi_capture_seen(w->markers, frame, m) : NULL;
        for (int i = 0; i < 3 && p; i++)
            seen[w->out->sites[m]][i] = (double)p[i];
    }
}

/* Moves poses to the result: those of the static trial apart. */
static ex_result keep_poses(exi_capture_work *w) {
    ex_capture *out = w->out;
    const int count = w->motion->frame_count;
    out->poses = calloc((size_t)count + 1, sizeof *out->poses);
    out->rms = calloc((size_t)count + 1, sizeof *out->rms);
    out->still_poses = w->still_count > 0 ? calloc((size_t)w->still_count, sizeof *out->still_poses) : NULL;
    const size_t sites = (size_t)out->kinematics->site_count;
    out->still_seen = w->still_count > 0 ? calloc((size_t)w->still_count * (sites + 1), sizeof *out->still_seen) : NULL;
    if (!out->poses || !out->rms || (w->still_count > 0 && !(out->still_poses && out->still_seen)))
        return exi_capture_no_memory(w);
    for (int f = 0; f < w->markers->frame_count; f++) {
        if (f >= w->still_count) {
            out->poses[out->frame_count] = w->poses[f];
            out->rms[out->frame_count++] = w->rms[f];
        } else if (w->counts[f] >= EXI_CAPTURE_SIGHTINGS) {
            keep_still(w, f, out->still_seen + (size_t)out->still_count * sites);
            out->still_poses[out->still_count++] = w->poses[f];
        } else {
            free(w->poses[f].rotations);
        }
        w->poses[f].rotations = NULL;
    }
    return EX_OK;
}

/* Moves the fit's bones to the result. */
static ex_result keep_bones(exi_capture_work *w) {
    ex_capture *out = w->out;
    const size_t count = (size_t)w->bones->open_count;
    out->opens = exi_array_copy(w->bones->opens, count, sizeof *out->opens);
    if (!out->opens)
        return exi_capture_no_memory(w);
    out->open_count = (int)count;
    for (int i = 0; i < out->open_count; i++)
        if (out->opens[i].scan >= 0)
            out->opens[i].scan = w->chosen[out->opens[i].scan] - w->still_count;
    out->kinematics = w->bones->kinematics;
    w->bones->kinematics = NULL;
    return EX_OK;
}

static void close_work(exi_capture_work *w) {
    ex_kin_fit_destroy(w->bones);
    ex_kinematics_destroy(w->kinematics);
    destroy_poses(w->poses, w->markers ? w->markers->frame_count : 0);
    ex_markers_destroy(w->markers);
    free(w->meanings);
    free(w->rms);
    free(w->locked);
    free(w->counts);
    free(w->chosen);
}

ex_result ex_capture_fit(const ex_markers *markers, const ex_capture_options *options, ex_capture **capture,
                         ex_error *error) {
    if (!markers || !capture || markers->frame_count < 1 || markers->marker_count < 1)
        return exi_misuse_error(error, __func__, "no markers, or no pointer for the motion");
    const ex_capture_options plain = {0};
    const double start = now();
    *capture = NULL;
    exi_capture_work w = {.motion = markers, .options = options ? options : &plain, .error = error};
    w.out = calloc(1, sizeof *w.out);
    ex_markers *named = NULL;
    int frame = 0;
    ex_result result = w.out ? exi_capture_label(markers, w.options, &named, &frame, error) : exi_capture_no_memory(&w);
    w.motion = named ? named : markers;
    if (result == EX_OK)
        result = open_work(&w);
    if (result == EX_OK && named &&
        !exi_capture_note(&w, "the motion has no labels: they were found from the static trial, in frame %d",
                          frame + markers->first_frame))
        result = exi_capture_no_memory(&w);
    ex_kinematics *full = result == EX_OK ? ex_kinematics_copy(w.kinematics) : NULL;
    if (result == EX_OK && !full)
        result = exi_capture_no_memory(&w);
    if (result == EX_OK)
        result = match(&w, full);
    if (result == EX_OK)
        result = solve_all(&w);
    if (result == EX_OK)
        result = fill_poses(&w);
    if (result == EX_OK)
        result = keep_bones(&w);
    if (result == EX_OK)
        result = keep_poses(&w);
    ex_kinematics_destroy(full);
    close_work(&w);
    exi_capture_unlabel(named);
    if (result == EX_OK) {
        w.out->seconds = now() - start;
        *capture = w.out;
    } else {
        ex_capture_destroy(w.out);
    }
    return result;
}
