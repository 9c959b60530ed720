/*
 * Simulates a scan session of a rig, with the truth. Writes small files first, then the scans, in parallel, and
 * scan.json last, so that a session exists only when complete. Existing files are kept: an interrupted run continues.
 */
#include "author/base/array.h"
#include "author/scan/session/session.h"
#include "author/scan/simulate/simulate_files.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of scans between two reports of progress. */
enum { BATCH = 16 };

/* Error of a person with a tape measure. */
#define TAPE_METRES  0.02
#define TAPE_DEGREES 10.0

/* ---- input ---- */

/* True if no joint is turned and no bone is longer. */
static bool is_at_rest(const ex_rig *rig, const ex_pose *pose) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    for (int j = 0; j < ex_rig_joint_count(rig) && pose->joints; j++) {
        const ex_transform rest = ex_skeleton_rest(skeleton, j);
        const float *a = rest.rotation, *b = pose->joints[j].rotation;
        const float along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3],
                    length = b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3];
        if (along * along < (1 - 1e-6f) * length)
            return false;
    }
    return true;
}

static ex_result find_reference(exi_simulated *s, ex_error *error) {
    const ex_scan_simulate_def *def = s->def;
    int scans = 0;
    s->reference = def->reference;
    for (int p = 0; p < def->simulation.pose_count; p++) {
        if (def->parts[p] < 0)
            continue;
        scans++;
        if (s->reference < 0 && is_at_rest(def->simulation.rig, &def->simulation.poses[p]))
            s->reference = p;
    }
    if (scans == 0)
        return ex_error_set(error, EX_ERROR_DATA, "all poses are held back: there is nothing to scan");
    if (s->reference < 0)
        return ex_error_kind(error, ex_error_set(error, EX_ERROR_DATA, "no scan has all joints at rest"),
                             "no_reference");
    s->average = def->average < 0 ? s->reference : def->average;
    if (def->parts[s->reference] < 0 || def->parts[s->average] < 0)
        return ex_error_set(error, EX_ERROR_DATA, "'%s' is held back and not scanned, so it cannot be the reference",
                            def->simulation.names[def->parts[s->reference] < 0 ? s->reference : s->average]);
    return EX_OK;
}

static ex_result check_joints(const exi_simulated *s, const ex_scan_part *part, char *const *names, int count,
                              ex_error *error) {
    const ex_kinematics *k = s->truth->kinematics;
    if (!exi_scan_is_part_name(part->name))
        return ex_error_set(error, EX_ERROR_DATA,
                            "'%s' cannot be the name of a part, because a file and a layer get that name", part->name);
    for (int i = 0; i < count; i++) {
        for (int other = 0; other < i; other++)
            if (strcmp(names[other], names[i]) == 0)
                return ex_error_set(error, EX_ERROR_DATA, "part '%s' names the joint '%s' twice", part->name, names[i]);
        if (ex_kinematics_find_joint(k, names[i]) >= 0)
            continue;
        const char **all = exi_array_allocate((size_t)k->joint_count, sizeof *all);
        for (int j = 0; all && j < k->joint_count; j++)
            all[j] = k->joints[j].name;
        const char *near = all ? ex_suggest(names[i], all, k->joint_count) : NULL;
        free((void *)all);
        return ex_error_set(error, EX_ERROR_DATA, "part '%s': the rig has no joint '%s'%s%s%s", part->name, names[i],
                            near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return EX_OK;
}

/* Makes one part that covers all joints; its space is that of the movable joints below the base. */
static ex_result make_whole(exi_simulated *s, ex_error *error) {
    const ex_kinematics *k = s->truth->kinematics;
    ex_scan_part *whole = &s->whole;
    whole->name = "body";
    whole->joints = exi_array_allocate((size_t)k->joint_count, sizeof *whole->joints);
    whole->covers = exi_array_allocate((size_t)k->joint_count, sizeof *whole->covers);
    if (!whole->joints || !whole->covers)
        return ex_error_memory(error, "the parts", (size_t)k->joint_count * sizeof *whole->joints);
    for (int j = 0; j < k->joint_count; j++) {
        whole->covers[whole->cover_count++] = k->joints[j].name;
        if (k->joints[j].freedom != EX_FREEDOM_BASE && k->joints[j].freedom != EX_FREEDOM_FIXED)
            whole->joints[whole->joint_count++] = k->joints[j].name;
    }
    if (whole->joint_count == 0)
        whole->joints[whole->joint_count++] = k->joints[0].name;
    s->parts = whole;
    s->part_count = 1;
    return EX_OK;
}

static ex_result check_parts(exi_simulated *s, ex_error *error) {
    ex_result result = EX_OK;
    s->parts = s->def->part_list;
    s->part_count = s->def->part_count;
    if (s->part_count == 0)
        return make_whole(s, error);
    for (int i = 0; i < s->part_count && result == EX_OK; i++) {
        const ex_scan_part *part = &s->parts[i];
        if (part->joint_count == 0 || part->cover_count == 0)
            return ex_error_set(error, EX_ERROR_DATA,
                                "part '%s' needs joints to move it, and joints whose bones it covers", part->name);
        result = check_joints(s, part, part->joints, part->joint_count, error);
        if (result == EX_OK)
            result = check_joints(s, part, part->covers, part->cover_count, error);
        if (result == EX_OK && part->solves)
            result = check_joints(s, part, part->solves, part->solve_count, error);
    }
    return result;
}

static ex_result check_def(const ex_scan_simulate_def *def, ex_error *error) {
    const char *wrong =
        !def || !def->folder || !def->simulation.rig ? "no folder or no rig"
        : !def->simulation.poses || !def->simulation.names || !def->parts || def->simulation.pose_count < 1
            ? "no poses, or poses without names and parts"
        : def->part_count > 0 && !def->part_list ? "no parts"
        : def->paint_count > 0 && !def->paints   ? "no markers"
        : def->reference >= def->simulation.pose_count || def->average >= def->simulation.pose_count
            ? "no such reference"
            : NULL;
    for (int p = 0; !wrong && p < def->simulation.pose_count; p++)
        wrong = def->parts[p] >= (def->part_count > 0 ? def->part_count : 1) ? "no such part" : NULL;
    return wrong ? exi_misuse_error(error, "ex_scan_simulate", wrong) : EX_OK;
}

/* ---- the work ---- */

typedef struct batch {
    const exi_simulated *s;
    const int *poses;
    ex_error errors[BATCH];
    int seen[BATCH];
} batch;

static void scan_batch(void *context, int begin, int end) {
    batch *b = context;
    for (int i = begin; i < end; i++) {
        const ex_scan_simulate_def *def = b->s->def;
        const int pose = b->poses[i];
        ex_error *error = &b->errors[i];
        ex_result result = EX_OK;
        if (def->parts[pose] < 0 || def->surfaces)
            result = exi_write_surface(b->s, pose, error);
        if (result == EX_OK && def->parts[pose] >= 0)
            result = exi_write_scan(b->s, pose, &b->seen[i], error);
        error->result = result;
    }
}

static ex_result scan_all(const exi_simulated *s, const int *poses, int count, ex_scan_simulated *made,
                          ex_error *error) {
    int scans = 0;
    double seen = 0;
    for (int first = 0; first < count; first += BATCH) {
        const int size = count - first < BATCH ? count - first : BATCH;
        batch b = {.s = s, .poses = poses + first};
        const ex_progress *progress = s->def->progress;
        if (progress && progress->report && !progress->report(progress->user, "scanning", (double)first / count))
            return ex_error_set(error, EX_ERROR_FILE, "scanning was stopped");
        exi_run(s->def->tasks, size, 1, scan_batch, &b);
        for (int i = 0; i < size; i++) {
            if (b.errors[i].result != EX_OK) {
                if (error)
                    *error = b.errors[i];
                return ex_error_within(error, b.errors[i].result, "%s", s->def->simulation.names[b.poses[i]]);
            }
            scans += s->def->parts[b.poses[i]] >= 0;
            seen += b.seen[i];
        }
    }
    made->seen = scans > 0 ? seen / scans : 0;
    return EX_OK;
}

static ex_result make_folders(const exi_simulated *s, ex_error *error) {
    static const char *const names[] = {"scans", "labels", "truth/markers", "truth/surface"};
    ex_result result = EX_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && result == EX_OK; i++) {
        char *path = exi_simulated_path(s, "", names[i], "");
        result = path ? ex_make_directory(path, error) : ex_error_memory(error, "a path", 0);
        free(path);
    }
    return result;
}

static ex_result write_all(const exi_simulated *s, ex_scan_simulated *made, ex_error *error) {
    ex_result (*const files[])(const exi_simulated *, ex_error *) = {
        make_folders, exi_write_scanner, exi_write_poses, exi_write_skeletons, exi_write_frames, exi_write_markers};
    const int pose_count = s->def->simulation.pose_count;
    int *poses = exi_array_allocate((size_t)pose_count, sizeof *poses), count = 0;
    ex_result result = poses ? EX_OK : ex_error_memory(error, "the poses", (size_t)pose_count * sizeof *poses);
    for (size_t i = 0; i < sizeof files / sizeof *files && result == EX_OK; i++)
        result = files[i](s, error);
    for (int p = 0; p < pose_count && result == EX_OK; p++) {
        const bool has = exi_has_scan(s, p), scanned = s->def->parts[p] >= 0;
        made->scan_count += scanned;
        made->held_count += !scanned;
        made->kept_count += has && scanned;
        if (!has)
            poses[count++] = p;
    }
    if (result == EX_OK)
        result = scan_all(s, poses, count, made, error);
    if (result == EX_OK)
        result = exi_write_session(s, error);
    free(poses);
    return result;
}

ex_result ex_scan_simulate(const ex_scan_simulate_def *def, ex_scan_simulated *made, ex_error *error) {
    ex_scan_simulated unwanted;
    exi_simulated s = {.def = def};
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    made = made ? made : &unwanted;
    *made = (ex_scan_simulated){.scan_count = 0};
    const ex_scan_simulation *simulation = &def->simulation;
    result = find_reference(&s, error);
    if (result == EX_OK)
        result = exi_scanner_open(&s.scanner, simulation, def->paints, def->paint_count, error);
    if (result == EX_OK)
        result = ex_scan_truth_create(simulation->rig, simulation->poses, simulation->pose_count, s.reference, &s.truth,
                                      error);
    if (result == EX_OK)
        result = check_parts(&s, error);
    if (result == EX_OK) {
        snprintf(made->reference, sizeof made->reference, "%s", simulation->names[s.reference]);
        s.measured = ex_kinematics_copy(s.truth->kinematics);
        result = s.measured ? EX_OK : ex_error_memory(error, "the skeleton", 0);
    }
    if (result == EX_OK) {
        ex_scan_disturb(s.measured, TAPE_METRES, TAPE_DEGREES, simulation->seed);
        result = write_all(&s, made, error);
    }
    exi_scanner_close(&s.scanner);
    ex_scan_truth_destroy(s.truth);
    ex_kinematics_destroy(s.measured);
    free(s.whole.joints);
    free(s.whole.covers);
    return result;
}
