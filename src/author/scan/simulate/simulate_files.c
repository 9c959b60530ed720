/*
 * Writes the files of each scan of a simulated session: the scanner's meshes, the labels a person would add, and the
 * true markers; and the scanner's settings.
 */
#include "author/scan/simulate/simulate_files.h"

#include "author/base/array.h"
#include "author/base/json.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANCE_LABEL = 0x1ABE1 };

/* Metres: error of a person who clicks on a marker. */
#define CLICK 0.001

char *exi_simulated_path(const exi_simulated *s, const char *kind, const char *name, const char *ending) {
    const ex_scan_session session = {.folder = (char *)s->def->folder};
    return ex_scan_path(&session, kind, name, ending);
}

char *exi_simulated_target(const exi_simulated *s, const char *kind, const char *name, const char *ending,
                           ex_result *result, ex_error *error) {
    char *path = exi_simulated_path(s, kind, name, ending);
    *result = path ? EX_OK : ex_error_memory(error, "a path", 0);
    if (path && !s->def->force && exi_scan_is_there(path)) {
        free(path);
        return NULL;
    }
    return path;
}

/* ---- tables ---- */

static void put_word(ex_file_writer *writer, const char *word) {
    const bool quoted = strpbrk(word, ",\"\n\r") != NULL || word[0] == ' ';
    if (quoted)
        ex_file_write(writer, "\"", 1);
    for (; *word; word++)
        ex_file_write(writer, quoted && *word == '"' ? "\"\"" : word, quoted && *word == '"' ? 2 : 1);
    if (quoted)
        ex_file_write(writer, "\"", 1);
}

static void put_numbers(ex_file_writer *writer, const double *numbers, int count) {
    char text[33] = ",";
    for (int i = 0; i < count; i++)
        ex_file_write(writer, text, (size_t)ex_format_float(text + 1, (float)numbers[i]) + 1);
}

ex_result exi_write_markers(const exi_simulated *s, ex_error *error) {
    ex_result result;
    char *path = exi_simulated_target(s, "", "markers", ".csv", &result, error);
    ex_file_writer writer;
    if (!path)
        return result;
    result = ex_file_open(&writer, path, error);
    free(path);
    if (result != EX_OK)
        return result;
    ex_file_printf(&writer, "marker,joint,r,g,b\n");
    for (int i = 0; i < s->def->paint_count; i++) {
        const ex_paint *paint = &s->def->paints[i];
        put_word(&writer, paint->name);
        ex_file_write(&writer, ",", 1);
        put_word(&writer, ex_skeleton_name(ex_rig_skeleton(s->def->simulation.rig), paint->joint));
        ex_file_printf(&writer, ",%d,%d,%d\n", paint->colour[0], paint->colour[1], paint->colour[2]);
    }
    return ex_file_commit(&writer, error);
}

/* Labels of the reference, as by a person who clicks on visible markers. */
static ex_result write_labels(const exi_simulated *s, int pose, const ex_scan_shot *shot, ex_error *error) {
    ex_result result;
    char *path = exi_simulated_target(s, "labels", s->def->simulation.names[pose], ".csv", &result, error);
    ex_file_writer writer;
    if (!path)
        return result;
    result = ex_file_open(&writer, path, error);
    free(path);
    if (result != EX_OK)
        return result;
    ex_file_printf(&writer, "marker,x,y,z,confidence\n");
    for (int i = 0; i < shot->paint_count; i++) {
        double direction[3], at[3];
        if (!shot->visible[i])
            continue;
        exi_chance_direction(exi_chance(exi_chance(s->def->simulation.seed, CHANCE_LABEL), (uint64_t)i), direction);
        for (int k = 0; k < 3; k++)
            at[k] = shot->places[i][k] + CLICK * direction[k];
        put_word(&writer, s->def->paints[i].name);
        put_numbers(&writer, at, 3);
        ex_file_write(&writer, ",1\n", 3);
    }
    return ex_file_commit(&writer, error);
}

static ex_result write_places(const exi_simulated *s, int pose, const ex_scan_shot *shot, ex_error *error) {
    char *path = exi_simulated_path(s, "truth/markers", s->def->simulation.names[pose], ".csv");
    ex_file_writer writer;
    ex_result result = path ? ex_file_open(&writer, path, error) : ex_error_memory(error, "a path", 0);
    free(path);
    if (result != EX_OK)
        return result;
    ex_file_printf(&writer, "marker,x,y,z,visible\n");
    for (int i = 0; i < shot->paint_count; i++) {
        put_word(&writer, s->def->paints[i].name);
        put_numbers(&writer, shot->places[i], 3);
        ex_file_printf(&writer, ",%d\n", shot->visible[i]);
    }
    return ex_file_commit(&writer, error);
}

/* ---- scans ---- */

static char *mesh_path(const exi_simulated *s, int pose, int view) {
    char ending[32];
    snprintf(ending, sizeof ending, "_%d.ply", view + 1);
    return exi_simulated_path(s, "scans", s->def->simulation.names[pose], s->def->simulation.merged ? ".ply" : ending);
}

static bool has_file(char *path) {
    const bool has = path && exi_scan_is_there(path);
    free(path);
    return has;
}

/* The truth about its markers is written last. */
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
    ex_result result = positions && scratch && path ? EX_OK : ex_error_memory(error, "a surface", size);
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
                      : ex_error_memory(error, "a path", 0);
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

/* ---- the scanner's settings ---- */

static uint64_t mix_bytes(uint64_t key, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        key = exi_chance(key, ((const unsigned char *)bytes)[i]);
    return key;
}

/* Covers everything that scans depend on except the numbers in scanner.json: the used parts of the rig, the poses, the
 * markers. */
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
    ex_result result = path && session && told ? EX_OK : ex_error_memory(error, "the scanner", 0);
    const bool again = result == EX_OK && !s->def->force && exi_scan_is_there(path);
    if (result == EX_OK && !again && !s->def->force && exi_scan_is_there(session))
        result = ex_error_set(error, EX_ERROR_DATA,
                              "'%s' holds a scan session that was not simulated: give another folder", s->def->folder);
    if (again && (exi_json_read(path, &before, NULL) != EX_OK || !json_equal(told, before)))
        result = ex_error_kind(error,
                               ex_error_set(error, EX_ERROR_DATA,
                                            "'%s' holds scans made with other options, another rig or other poses",
                                            s->def->folder),
                               "other_scans");
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
    ex_file_writer writer;
    char *path = s->def->text ? exi_simulated_target(s, "truth", "poses", ".csv", &result, error) : NULL;
    if (!path)
        return s->def->text ? result : EX_OK;
    result = ex_file_open(&writer, path, error);
    free(path);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, s->def->text, s->def->size);
    return ex_file_commit(&writer, error);
}
