/*
 * The files of a simulated session: what the scanner saw, what people would add, and what is true.
 */
#include "author/scan/simulate_files.h"

#include "author/formats/array.h"
#include "author/formats/file.h"
#include "author/formats/json.h"
#include "author/formats/number.h"
#include "author/scan/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/formats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { CHANCE_LABEL = 0x1ABE1, CHANCE_ROUGH = 0x2006 };

/* Metres that someone who clicks on a marker is off its middle. */
#define CLICK 0.001

static bool exists(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file != NULL;
}

char *exi_simulated_path(const exi_simulated *s, const char *kind, const char *name, const char *ending) {
    const ex_scan_session session = {.folder = (char *)s->def->folder};
    return ex_scan_path(&session, kind, name, ending);
}

/* The path of a file that is to be written; NULL where it is not, or without memory, which *result says. */
static char *path_to_write(const exi_simulated *s, const char *kind, const char *name, const char *ending,
                           ex_result *result, ex_error *error) {
    char *path = exi_simulated_path(s, kind, name, ending);
    *result = path ? EX_OK : exi_error_memory(error, "a path", 0);
    if (path && !s->def->force && exists(path)) {
        free(path);
        return NULL;
    }
    return path;
}

/* ---- tables ---- */

static void put_word(exi_file_writer *writer, const char *word) {
    const bool quoted = strpbrk(word, ",\"\n\r") != NULL || word[0] == ' ';
    if (quoted)
        exi_file_write(writer, "\"", 1);
    for (; *word; word++)
        exi_file_write(writer, quoted && *word == '"' ? "\"\"" : word, quoted && *word == '"' ? 2 : 1);
    if (quoted)
        exi_file_write(writer, "\"", 1);
}

static void put_numbers(exi_file_writer *writer, const double *numbers, int count) {
    char text[33] = ",";
    for (int i = 0; i < count; i++)
        exi_file_write(writer, text, (size_t)exi_format_float(text + 1, (float)numbers[i]) + 1);
}

ex_result exi_write_markers(const exi_simulated *s, ex_error *error) {
    ex_result result;
    char *path = path_to_write(s, "", "markers", ".csv", &result, error);
    exi_file_writer writer;
    if (!path)
        return result;
    result = exi_file_open(&writer, path, error);
    free(path);
    if (result != EX_OK)
        return result;
    exi_file_printf(&writer, "marker,joint,r,g,b\n");
    for (int i = 0; i < s->def->paint_count; i++) {
        const ex_paint *paint = &s->def->paints[i];
        put_word(&writer, paint->name);
        exi_file_write(&writer, ",", 1);
        put_word(&writer, ex_skeleton_name(ex_rig_skeleton(s->def->simulation.rig), paint->joint));
        exi_file_printf(&writer, ",%d,%d,%d\n", paint->colour[0], paint->colour[1], paint->colour[2]);
    }
    return exi_file_commit(&writer, error);
}

/* Of the reference, as someone who clicks on what can be seen. */
static ex_result write_labels(const exi_simulated *s, int pose, const ex_scan_shot *shot, ex_error *error) {
    ex_result result;
    char *path = path_to_write(s, "labels", s->def->simulation.names[pose], ".csv", &result, error);
    exi_file_writer writer;
    if (!path)
        return result;
    result = exi_file_open(&writer, path, error);
    free(path);
    if (result != EX_OK)
        return result;
    exi_file_printf(&writer, "marker,x,y,z,confidence\n");
    for (int i = 0; i < shot->paint_count; i++) {
        double direction[3], at[3];
        if (!shot->visible[i])
            continue;
        exi_chance_direction(exi_chance(exi_chance(s->def->simulation.seed, CHANCE_LABEL), (uint64_t)i), direction);
        for (int k = 0; k < 3; k++)
            at[k] = shot->places[i][k] + CLICK * direction[k];
        put_word(&writer, s->def->paints[i].name);
        put_numbers(&writer, at, 3);
        exi_file_write(&writer, ",1\n", 3);
    }
    return exi_file_commit(&writer, error);
}

static ex_result write_places(const exi_simulated *s, int pose, const ex_scan_shot *shot, ex_error *error) {
    char *path = exi_simulated_path(s, "truth/markers", s->def->simulation.names[pose], ".csv");
    exi_file_writer writer;
    ex_result result = path ? exi_file_open(&writer, path, error) : exi_error_memory(error, "a path", 0);
    free(path);
    if (result != EX_OK)
        return result;
    exi_file_printf(&writer, "marker,x,y,z,visible\n");
    for (int i = 0; i < shot->paint_count; i++) {
        put_word(&writer, s->def->paints[i].name);
        put_numbers(&writer, shot->places[i], 3);
        exi_file_printf(&writer, ",%d\n", shot->visible[i]);
    }
    return exi_file_commit(&writer, error);
}

/* ---- scans ---- */

static char *mesh_path(const exi_simulated *s, int pose, int view) {
    char ending[32];
    snprintf(ending, sizeof ending, "_%d.ply", view + 1);
    return exi_simulated_path(s, "scans", s->def->simulation.names[pose], s->def->simulation.merged ? ".ply" : ending);
}

static bool has_file(char *path) {
    const bool has = path && exists(path);
    free(path);
    return has;
}

/* Truth about its markers is written last. */
bool exi_has_scan(const exi_simulated *s, int pose) {
    const char *name = s->def->simulation.names[pose];
    bool has = !s->def->force;
    if (has && (s->def->parts[pose] < 0 || s->def->surfaces))
        has = has_file(exi_simulated_path(s, "truth/surface", name, ".ply"));
    if (s->def->parts[pose] < 0)
        return has;
    for (int v = 0; has && v < (s->def->simulation.merged ? 1 : s->def->simulation.view_count); v++)
        has = has_file(mesh_path(s, pose, v));
    return has && has_file(exi_simulated_path(s, "truth/markers", name, ".csv"));
}

ex_result exi_write_surface(const exi_simulated *s, int pose, ex_error *error) {
    const ex_scan_simulation *simulation = &s->def->simulation;
    const ex_evaluation how = {.level = simulation->level};
    const size_t size = ex_rig_scratch_size(simulation->rig, &how, 1);
    float *positions =
        exi_array_allocate(3 * (size_t)ex_rig_level_vertex_count(simulation->rig, how.level), sizeof *positions);
    void *scratch = malloc(size + 1);
    char *path = exi_simulated_path(s, "truth/surface", simulation->names[pose], ".ply");
    ex_mesh *mesh = NULL;
    ex_result result = positions && scratch && path ? EX_OK : exi_error_memory(error, "a surface", size);
    if (result == EX_OK) {
        const ex_surface surface = {.level = how.level, .positions = positions};
        ex_rig_evaluate(simulation->rig, &simulation->poses[pose], &(ex_output){.positions = positions}, &how, scratch);
        result = ex_rig_to_mesh(simulation->rig, &surface, &mesh, error);
    }
    if (result == EX_OK)
        result = ex_ply_write(path, mesh, EX_PLY_LITTLE_ENDIAN, error);
    ex_mesh_destroy(mesh);
    free(path);
    free(positions);
    free(scratch);
    return result;
}

ex_result exi_write_scan(const exi_simulated *s, int pose, int *seen, ex_error *error) {
    ex_scan_shot *shot = NULL;
    ex_result result = exi_scanner_shoot(&s->scanner, pose, pose != s->reference, &shot, error);
    for (int v = 0; result == EX_OK && v < shot->mesh_count; v++) {
        char *path = mesh_path(s, pose, v);
        result = path ? ex_ply_write(path, shot->meshes[v], EX_PLY_LITTLE_ENDIAN, error)
                      : exi_error_memory(error, "a path", 0);
        free(path);
    }
    if (result == EX_OK && pose == s->reference)
        result = write_labels(s, pose, shot, error);
    if (result == EX_OK)
        result = write_places(s, pose, shot, error);
    for (int i = 0; result == EX_OK && i < shot->paint_count; i++)
        *seen += shot->visible[i];
    ex_scan_shot_destroy(shot);
    return result;
}

/* ---- what the scanner was told ---- */

static uint64_t mix_bytes(uint64_t key, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        key = exi_chance(key, ((const unsigned char *)bytes)[i]);
    return key;
}

/* Of everything that scans depend on but the numbers in scanner.json: the rig as far as it was looked at, the poses,
 * the markers. */
static uint64_t fingerprint(const exi_simulated *s) {
    const ex_scan_simulate_def *def = s->def;
    const exi_skin_surface *surface = &s->scanner.surface;
    uint64_t key = mix_bytes(1, surface->rest, 12 * (size_t)surface->vertex_count);
    const size_t frames = (size_t)s->truth->pose_count * (size_t)s->truth->kinematics->joint_count;
    key = mix_bytes(key, surface->triangles, 12 * (size_t)surface->triangle_count);
    key = mix_bytes(key, s->truth->rotations, frames * sizeof *s->truth->rotations);
    key = mix_bytes(key, def->text ? def->text : "", def->text ? def->size : 0);
    for (int i = 0; i < def->paint_count; i++) {
        const ex_paint *paint = &def->paints[i];
        key = exi_chance(exi_chance_text(key, paint->name), (uint64_t)paint->joint);
        key = exi_chance(mix_bytes(key, paint->place, sizeof paint->place), (uint64_t)paint->triangle);
        key = mix_bytes(key, paint->colour, sizeof paint->colour);
    }
    return key;
}

static json_t *scanner_json(const exi_simulated *s) {
    const ex_scan_simulation *m = &s->def->simulation;
    char of[32], seed[32];
    snprintf(of, sizeof of, "%016llx", (unsigned long long)fingerprint(s));
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)m->seed);
    json_t *root = json_object();
    const struct {
        const char *key;
        json_t *value;
    } entries[] = {{"exemplar_simulation", json_integer(1)},
                   {"of", json_string(of)},
                   {"seed", json_string(seed)},
                   {"level", json_integer(m->level)},
                   {"views", json_integer(m->view_count)},
                   {"merged", json_boolean(m->merged)},
                   {"pitch", exi_json_make_numbers(m->pitch, 2)},
                   {"noise", exi_json_make_number(m->noise)},
                   {"grazing", exi_json_make_number(m->grazing)},
                   {"marker_size", exi_json_make_number(m->marker_size)},
                   {"missing", exi_json_make_number(m->missing)},
                   {"stray", exi_json_make_number(m->stray)},
                   {"reference", json_string(m->names[s->reference])},
                   {"average", json_string(m->names[s->average])},
                   {"rough", exi_json_make_number(s->def->rough < 0 ? -1 : s->def->rough)}};
    bool good = root != NULL;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        good = json_object_set_new(root, entries[i].key, entries[i].value) == 0 && good;
    if (good)
        return root;
    json_decref(root);
    return NULL;
}

ex_result exi_write_scanner(const exi_simulated *s, ex_error *error) {
    char *path = exi_simulated_path(s, "truth", "scanner", ".json"),
         *session = exi_simulated_path(s, "", "scan", ".json");
    json_t *told = scanner_json(s), *before = NULL;
    ex_result result = path && session && told ? EX_OK : exi_error_memory(error, "the scanner", 0);
    const bool again = result == EX_OK && !s->def->force && exists(path);
    if (result == EX_OK && !again && !s->def->force && exists(session))
        result = exi_error(error, EX_ERROR_DATA,
                           "'%s' holds a scan session that was not simulated: give another folder", s->def->folder);
    if (again && (exi_json_read(path, &before, NULL) != EX_OK || !json_equal(told, before)))
        result =
            exi_error(error, EX_ERROR_DATA,
                      "'%s' holds scans with other options, of another rig or of other poses: give --force to write "
                      "over them, or another folder",
                      s->def->folder);
    if (result == EX_OK && !again)
        result = exi_json_write(path, told, error);
    json_decref(told);
    json_decref(before);
    free(path);
    free(session);
    return result;
}

ex_result exi_write_poses(const exi_simulated *s, ex_error *error) {
    ex_result result;
    exi_file_writer writer;
    char *path = s->def->text ? path_to_write(s, "truth", "poses", ".csv", &result, error) : NULL;
    if (!path)
        return s->def->text ? result : EX_OK;
    result = exi_file_open(&writer, path, error);
    free(path);
    if (result != EX_OK)
        return result;
    exi_file_write(&writer, s->def->text, s->def->size);
    return exi_file_commit(&writer, error);
}

/* ---- skeletons ---- */

/* The true skeleton with the markers where they are in the reference. */
static ex_result add_sites(const exi_simulated *s, ex_kinematics *k, ex_error *error) {
    const exi_skin_surface *surface = &s->scanner.surface;
    const ex_evaluation how = {.level = surface->level};
    const int count = s->def->paint_count, joints = k->joint_count;
    float *posed = exi_array_allocate(3 * (size_t)surface->vertex_count, sizeof *posed);
    void *scratch = malloc(ex_rig_scratch_size(surface->rig, &how, 1) + 1);
    ex_result result = EX_OK;
    k->sites = calloc((size_t)count + 1, sizeof *k->sites);
    if (!posed || !scratch || !k->sites)
        result = exi_error_memory(error, "the markers", (size_t)count * sizeof *k->sites);
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
        if (site->joint < 0) /* on a joint that hangs on nothing */
            continue;
        exi_surface_point(surface, posed, paint->triangle, paint->place, point);
        exi_subtract(point, s->truth->places[(size_t)s->reference * (size_t)joints + (size_t)site->joint], site->local);
        site->placed = true;
        memcpy(site->colour, paint->colour, sizeof site->colour);
        site->name = exi_text_copy(paint->name, strlen(paint->name));
        k->site_count++;
        if (!site->name)
            result = exi_error_memory(error, "the markers", strlen(paint->name));
    }
    free(posed);
    free(scratch);
    return result;
}

static ex_result write_fit(const exi_simulated *s, ex_kinematics *k, ex_error *error) {
    ex_result result;
    char *path = path_to_write(s, "truth", "fit", ".json", &result, error);
    if (!path)
        return result;
    ex_scan_fitted fitted = {.kinematics = k,
                             .scan_count = s->truth->pose_count,
                             .names = (char **)s->def->simulation.names,
                             .poses = s->truth->poses,
                             .rms = calloc((size_t)s->truth->pose_count, sizeof *fitted.rms)};
    result = fitted.rms ? ex_scan_fitted_write(path, &fitted, error) : exi_error_memory(error, "the fit", 0);
    free(fitted.rms);
    free(path);
    return result;
}

ex_result exi_write_skeletons(const exi_simulated *s, ex_error *error) {
    ex_result result;
    char *path = path_to_write(s, "", "skeleton", ".json", &result, error);
    if (path)
        result = ex_kinematics_write(path, s->measured, error);
    free(path);
    if (result != EX_OK)
        return result;
    ex_kinematics *whole = ex_kinematics_copy(s->truth->kinematics);
    result = whole ? add_sites(s, whole, error) : exi_error_memory(error, "the skeleton", 0);
    path = result == EX_OK ? path_to_write(s, "truth", "skeleton", ".json", &result, error) : NULL;
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
    char *path = path_to_write(s, "truth", "frames", ".json", &result, error);
    if (!path)
        return result;
    json_t *root = frames_json(s);
    result = exi_json_write(path, root, error);
    json_decref(root);
    free(path);
    return result;
}

/* ---- the session ---- */

/* Roughly how the body stands: every joint that is turned, off by up to so many degrees. */
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
        if (hinge) { /* about the axis that is believed in */
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
    entry->part = s->def->parts[pose];
    entry->files = exi_arena_allocate(arena, (size_t)files, sizeof *entry->files);
    entry->posed = s->def->rough >= 0;
    if (entry->posed)
        entry->pose.rotations =
            exi_arena_allocate(arena, (size_t)s->measured->joint_count, sizeof *entry->pose.rotations);
    if (!entry->files || (entry->posed && !entry->pose.rotations))
        return exi_error_memory(error, "the session", size);
    for (int v = 0; v < files; v++, entry->file_count++) {
        entry->files[v] = exi_arena_allocate(arena, size, 1);
        if (!entry->files[v])
            return exi_error_memory(error, "the session", size);
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
    char *path = path_to_write(s, "", "scan", ".json", &result, error);
    if (!path)
        return result;
    free(path);
    const double noise = def->simulation.noise;
    ex_scan_session session = {
        .folder = (char *)def->folder,
        .skeleton = "skeleton.json",
        .kinematics = s->measured,
        .markers = "markers.csv",
        .levels = 5,
        .reach = 0.06,
        .noise = noise > 1e-4 ? noise : 1e-4, /* it is to be above 0 */
        .neighbours = 8,
        .part_count = def->part_count,
        .parts = exi_arena_allocate(&arena, (size_t)def->part_count, sizeof *session.parts),
        .scans = exi_arena_allocate(&arena, (size_t)def->simulation.pose_count, sizeof *session.scans)};
    if (!session.parts || !session.scans)
        result = exi_error_memory(error, "the session", sizeof *session.scans);
    for (int i = 0; result == EX_OK && i < def->part_count; i++)
        session.parts[i] = def->part_list[i];
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
