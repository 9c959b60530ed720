/*
 * Writes the files of a simulated session that all scans share: skeletons, poses, and scan.json.
 */
#include "author/base/arena.h"
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/scan/simulate/simulate_files.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { CHANCE_ROUGH = 0x2006 };

/* ---- skeletons ---- */

/* Adds the markers to the true skeleton, at their places in the reference. */
static ex_result add_sites(const exi_simulated *s, ex_kinematics *k, ex_error *error) {
    const exi_skin_surface *surface = &s->scanner.surface;
    const ex_evaluation how = {.level = surface->level};
    const int count = s->def->paint_count, joints = k->joint_count;
    float *posed = exi_array_allocate(3 * (size_t)surface->vertex_count, sizeof *posed);
    void *scratch = malloc(ex_rig_scratch_size(surface->rig, &how, 1) + 1);
    ex_result result = EX_OK;
    free(k->sites); /* a copy of an empty list */
    k->sites = calloc((size_t)count + 1, sizeof *k->sites);
    if (!posed || !scratch || !k->sites)
        result = ex_error_memory(error, "the markers", (size_t)count * sizeof *k->sites);
    if (result == EX_OK)
        ex_rig_evaluate(surface->rig, &s->def->simulation.poses[s->reference], &(ex_output){.positions = posed}, &how,
                        scratch);
    for (int i = 0; result == EX_OK && i < count; i++) {
        const ex_paint *paint = &s->def->paints[i];
        ex_site *site = &k->sites[k->site_count];
        double point[3];
        site->joint = -1;
        for (int j = 0; j < joints; j++)
            site->joint = s->truth->joints[j] == paint->joint ? j : site->joint;
        if (site->joint < 0) /* on a joint that is not below the base */
            continue;
        exi_surface_point(surface, posed, paint->triangle, paint->place, point);
        exi_subtract(point, s->truth->places[(size_t)s->reference * (size_t)joints + (size_t)site->joint], site->local);
        site->placed = true;
        memcpy(site->colour, paint->colour, sizeof site->colour);
        site->name = exi_text_copy(paint->name, strlen(paint->name));
        k->site_count++;
        if (!site->name)
            result = ex_error_memory(error, "the markers", strlen(paint->name));
    }
    free(posed);
    free(scratch);
    return result;
}

static ex_result write_fit(const exi_simulated *s, ex_kinematics *k, ex_error *error) {
    ex_result result;
    char *path = exi_simulated_target(s, "truth", "fit", ".json", &result, error);
    if (!path)
        return result;
    ex_scan_fitted fitted = {.kinematics = k,
                             .scan_count = s->truth->pose_count,
                             .names = (char **)s->def->simulation.names,
                             .poses = s->truth->poses,
                             .rms = calloc((size_t)s->truth->pose_count, sizeof *fitted.rms)};
    result = fitted.rms ? ex_scan_fitted_write(path, &fitted, error) : ex_error_memory(error, "the fit", 0);
    free(fitted.rms);
    free(path);
    return result;
}

ex_result exi_write_skeletons(const exi_simulated *s, ex_error *error) {
    ex_result result;
    char *path = exi_simulated_target(s, "", "skeleton", ".json", &result, error);
    if (path)
        result = ex_kinematics_write(path, s->measured, error);
    free(path);
    if (result != EX_OK)
        return result;
    ex_kinematics *whole = ex_kinematics_copy(s->truth->kinematics);
    result = whole ? add_sites(s, whole, error) : ex_error_memory(error, "the skeleton", 0);
    path = result == EX_OK ? exi_simulated_target(s, "truth", "skeleton", ".json", &result, error) : NULL;
    if (path)
        result = ex_kinematics_write(path, whole, error);
    if (result == EX_OK)
        result = write_fit(s, whole, error);
    free(path);
    ex_kinematics_destroy(whole);
    return result;
}

static json_t *rows_json(const double *numbers, int count, int width) {
    json_t *list = json_array();
    for (int i = 0; i < count && list; i++)
        if (json_array_append_new(list, exi_json_make_numbers(numbers + (size_t)i * (size_t)width, width)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *frames_json(const exi_simulated *s) {
    const ex_scan_truth *t = s->truth;
    const int count = t->kinematics->joint_count;
    json_t *root = json_object(), *joints = json_array(), *poses = json_array();
    bool good = root && joints && poses;
    for (int j = 0; j < count && good; j++)
        good = json_array_append_new(joints, json_string(t->kinematics->joints[j].name)) == 0;
    for (int p = 0; p < t->pose_count && good; p++) {
        const size_t at = (size_t)p * (size_t)count;
        json_t *pose = json_object();
        good = pose && json_object_set_new(pose, "name", json_string(s->def->simulation.names[p])) == 0 &&
               json_object_set_new(pose, "rotations", rows_json(t->rotations[at], count, 4)) == 0 &&
               json_object_set_new(pose, "places", rows_json(t->places[at], count, 3)) == 0;
        good = json_array_append_new(poses, pose) == 0 && good;
    }
    good = good && json_object_set(root, "joints", joints) == 0 && json_object_set(root, "poses", poses) == 0;
    json_decref(joints);
    json_decref(poses);
    if (good)
        return root;
    json_decref(root);
    return NULL;
}

ex_result exi_write_frames(const exi_simulated *s, ex_error *error) {
    ex_result result;
    char *path = exi_simulated_target(s, "truth", "frames", ".json", &result, error);
    if (!path)
        return result;
    json_t *root = frames_json(s);
    result = exi_json_write(path, root, error);
    json_decref(root);
    free(path);
    return result;
}

/* ---- the session ---- */

/* Makes a rough pose: every turned joint is off by up to a number of degrees. */
static void rough_pose(const exi_simulated *s, int pose, double (*rotations)[4]) {
    const ex_kinematics *k = s->truth->kinematics;
    const uint64_t key =
        exi_chance_text(exi_chance(s->def->simulation.seed, CHANCE_ROUGH), s->def->simulation.names[pose]);
    for (int j = 0; j < k->joint_count; j++) {
        const double *q = s->truth->poses[pose].rotations[j];
        const ex_kin_joint *measured = &s->measured->joints[j];
        const bool hinge = k->joints[j].freedom == EX_FREEDOM_HINGE;
        const uint64_t chance = exi_chance(key, (uint64_t)j);
        double axis[3], turn[4];
        memcpy(rotations[j], (double[4]){0, 0, 0, 1}, sizeof rotations[j]);
        if (exi_dot3(q, q) < 1e-12 || k->joints[j].freedom == EX_FREEDOM_FIXED)
            continue;
        exi_chance_direction(chance, axis);
        double half = s->def->rough * PI / 360 * (2 * exi_chance_part(exi_chance(chance, 1)) - 1);
        if (hinge) { /* about the measured axis */
            memcpy(axis, measured->axis, sizeof axis);
            half += ex_kin_angle(&k->joints[j], q) * PI / 360;
        }
        for (int i = 0; i < 3; i++)
            turn[i] = sin(half) * axis[i];
        turn[3] = cos(half);
        exi_quaternion_multiply(turn, hinge ? (const double[4]){0, 0, 0, 1} : q, rotations[j]);
    }
}

static ex_result fill_entry(const exi_simulated *s, int pose, exi_arena *arena, ex_scan_entry *entry, ex_error *error) {
    const int files = s->def->simulation.merged ? 1 : s->def->simulation.view_count;
    const size_t size = strlen(s->def->simulation.names[pose]) + 32;
    entry->name = (char *)s->def->simulation.names[pose];
    entry->part_count = 1;
    entry->parts = (int *)&s->def->parts[pose];
    entry->files = exi_arena_allocate(arena, (size_t)files, sizeof *entry->files);
    entry->posed = s->def->rough >= 0;
    if (entry->posed)
        entry->pose.rotations =
            exi_arena_allocate(arena, (size_t)s->measured->joint_count, sizeof *entry->pose.rotations);
    if (!entry->files || (entry->posed && !entry->pose.rotations))
        return ex_error_memory(error, "the session", size);
    for (int v = 0; v < files; v++, entry->file_count++) {
        entry->files[v] = exi_arena_allocate(arena, size, 1);
        if (!entry->files[v])
            return ex_error_memory(error, "the session", size);
        if (s->def->simulation.merged)
            snprintf(entry->files[v], size, "scans/%s.ply", entry->name);
        else
            snprintf(entry->files[v], size, "scans/%s_%d.ply", entry->name, v + 1);
    }
    if (entry->posed)
        rough_pose(s, pose, entry->pose.rotations);
    return EX_OK;
}

ex_result exi_write_session(const exi_simulated *s, ex_error *error) {
    const ex_scan_simulate_def *def = s->def;
    exi_arena arena = {NULL};
    ex_result result;
    char *path = exi_simulated_target(s, "", "scan", ".json", &result, error);
    if (!path)
        return result;
    free(path);
    const double noise = def->simulation.noise;
    ex_scan_session session = {
        .folder = (char *)def->folder,
        .skeleton = "skeleton.json",
        .kinematics = s->measured,
        .markers = "markers.csv",
        .unit = 1,
        .up = "y",
        .levels = 5,
        .reach = 0.06,
        .noise = noise > 1e-4 ? noise : 1e-4, /* must be above 0 */
        .neighbours = 8,
        .mirror = def->mirror,
        .add = true,
        .lend = true,
        .part_count = s->part_count,
        .parts = exi_arena_allocate(&arena, (size_t)s->part_count, sizeof *session.parts),
        .scans = exi_arena_allocate(&arena, (size_t)def->simulation.pose_count, sizeof *session.scans)};
    if (!session.parts || !session.scans)
        result = ex_error_memory(error, "the session", sizeof *session.scans);
    for (int i = 0; result == EX_OK && i < s->part_count; i++)
        session.parts[i] = s->parts[i];
    for (int p = 0; result == EX_OK && p < def->simulation.pose_count; p++) {
        if (def->parts[p] < 0)
            continue;
        if (p == s->reference)
            session.reference = session.scan_count;
        if (p == s->average)
            session.average = session.scan_count;
        result = fill_entry(s, p, &arena, &session.scans[session.scan_count++], error);
    }
    if (result == EX_OK)
        result = ex_scan_session_write(&session, error);
    exi_arena_free(&arena);
    return result;
}
