/*
 * Makes a displacement map for every scan: casts rays, lends to and fills holes, and writes it; also the mirror images
 * of those that belong to one side. Maps newer than all of their sources are kept.
 */
#define _POSIX_C_SOURCE 200809L /* file times to less than a second */

#include "author/base/array.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *exi_body_map_name(const exi_body_part *part, const char *folder, const char *scan) {
    const size_t size = strlen(folder) + strlen(scan) + 24;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%s/%s%s.ply", folder, scan, part->mirrored ? ".mirrored" : "");
    return name;
}

ex_result exi_body_cast(const exi_body *body, int scan, double reach, const unsigned char *covered,
                        ex_displacement_map **map) {
    const ex_scan_entry *entry = &body->session->scans[scan];
    ex_mesh **meshes = NULL;
    ex_transform *joints = exi_array_allocate((size_t)ex_rig_joint_count(body->rig), sizeof *joints);
    ex_result result =
        joints ? ex_scan_meshes(body->session, scan, &meshes, body->error) : ex_error_memory(body->error, "a pose", 0);
    if (result == EX_OK) {
        ex_template_pose(body->fitted->kinematics, &body->fitted->poses[body->poses[scan]], joints);
        const ex_displacement_map_def def = {.rig = body->rig,
                                             .level = body->level,
                                             .joints = joints,
                                             .meshes = meshes,
                                             .mesh_count = entry->file_count,
                                             .covered = covered,
                                             .reach = reach,
                                             .noise = body->session->noise,
                                             .tasks = body->options->tasks};
        result =
            ex_error_within(body->error, ex_displacement_map_cast(&def, map, body->error), "scan '%s'", entry->name);
    }
    for (int i = 0; meshes && i < entry->file_count; i++)
        ex_mesh_destroy(meshes[i]);
    free(meshes);
    free(joints);
    return result;
}

/* ---- existing maps ---- */

static bool newer_than(const struct stat *made, const char *path) {
    struct stat from;
    if (!path || stat(path, &from) != 0)
        return false;
    return from.st_mtim.tv_sec < made->st_mtim.tv_sec ||
           (from.st_mtim.tv_sec == made->st_mtim.tv_sec && from.st_mtim.tv_nsec <= made->st_mtim.tv_nsec);
}

static bool is_up_to_date(const exi_body *body, int scan, const char *path) {
    const ex_scan_entry *entry = &body->session->scans[scan];
    static const char *const others[] = {"scan.json", "fit.json", "cage.obj", "template/body.glb"};
    struct stat made;
    bool good = !body->options->force && stat(path, &made) == 0;
    for (int i = 0; good && i < entry->file_count; i++) {
        char *from = exi_body_path(body, entry->files[i]);
        good = newer_than(&made, from);
        free(from);
    }
    for (int i = 0; good && i < 4; i++) {
        char *from = exi_body_path(body, others[i]);
        good = newer_than(&made, from);
        free(from);
    }
    return good;
}

/* ---- lending ---- */

/* Finds the part's other scans, and weights by the distance of their poses from the scan's. lenders and weights
 * [scan_count]; returns their number. */
static int find_lenders(const exi_body *body, int scan, ex_displacement_map *const *maps,
                        const ex_displacement_map **lenders, double *weights) {
    const ex_scan_entry *entries = body->session->scans;
    const ex_scan_part *part = &body->session->parts[entries[scan].part];
    int count = 0;
    for (int i = 0; i < body->session->scan_count; i++) {
        double square = 0;
        if (i == scan || entries[i].part != entries[scan].part || !maps[i])
            continue;
        for (int j = 0; j < part->joint_count; j++) {
            const int joint = ex_kinematics_find_joint(body->fitted->kinematics, part->joints[j]);
            const double *a = body->fitted->poses[body->poses[i]].rotations[joint];
            const double *b = body->fitted->poses[body->poses[scan]].rotations[joint];
            const double dot = fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
            const double angle = 2 * acos(dot > 1 ? 1 : dot);
            square += angle * angle;
        }
        weights[count] = 1 / (1e-4 + square * square);
        lenders[count++] = maps[i];
    }
    return count;
}

/* ---- one map ---- */

static void measure(const exi_body *body, const ex_displacement_map *map, ex_scan_coverage *coverage) {
    double counts[EX_DISPLACEMENT_MAP_STATE_COUNT] = {0}, square = 0, all = 0;
    for (int v = 0; v < body->vertex_count; v++) {
        counts[map->states[v]]++;
        if (map->states[v] == EX_DISPLACEMENT_MAP_OUTSIDE)
            continue;
        all++;
        square += (double)map->displacements[v] * (double)map->displacements[v];
    }
    all = all > 0 ? all : 1;
    coverage->hit = (counts[EX_DISPLACEMENT_MAP_HIT] + counts[EX_DISPLACEMENT_MAP_FAIRED]) / all;
    coverage->lent = counts[EX_DISPLACEMENT_MAP_LENT] / all;
    coverage->filled = counts[EX_DISPLACEMENT_MAP_FILLED] / all;
    coverage->rms = sqrt(square / all);
}

static ex_result write_map(const exi_body *body, const exi_body_part *part, const char *scan,
                           const ex_displacement_map *map) {
    char *name = exi_body_map_name(part, "maps", scan), *path = name ? exi_body_path(body, name) : NULL;
    ex_result result =
        path ? ex_displacement_map_write(path, map, body->error) : ex_error_memory(body->error, "a path", 0);
    free(name);
    free(path);
    return result;
}

static ex_result finish_map(exi_body *body, int scan, ex_displacement_map *map, ex_displacement_map *const *maps) {
    const ex_scan_entry *entry = &body->session->scans[scan];
    ex_result result = EX_OK;
    double hits = 0;
    for (int v = 0; v < body->vertex_count; v++)
        hits += map->states[v] == EX_DISPLACEMENT_MAP_HIT;
    if (hits == 0)
        return ex_error_set(
            body->error, EX_ERROR_DATA,
            "scan '%s' shows nothing of part '%s' within %g m of the template: check its labels and fit", entry->name,
            body->session->parts[entry->part].name, body->session->reach);
    const size_t scans = (size_t)body->session->scan_count;
    const ex_displacement_map **lenders = exi_array_allocate(scans, sizeof *lenders);
    double *weights = exi_array_allocate(scans, sizeof *weights);
    if (lenders && weights)
        result = ex_displacement_map_fill_lent(map, body->rig, body->level, lenders, weights,
                                               maps ? find_lenders(body, scan, maps, lenders, weights) : 0, NULL,
                                               body->error);
    else
        result = ex_error_memory(body->error, "filling holes", scans * 16);
    free(lenders);
    free(weights);
    if (result == EX_OK)
        result = exi_body_smooth(body, map);
    if (result == EX_OK)
        measure(body, map, &body->built->scans[scan]);
    if (result == EX_OK)
        result = write_map(body, &body->parts[entry->part], entry->name, map);
    return ex_error_within(body->error, result, "scan '%s'", entry->name);
}

/* ---- all maps ---- */

static void report(const exi_body *body, const char *what, int done, int count) {
    const ex_progress *progress = body->options->progress;
    if (progress)
        progress->report(progress->user, what, (double)done / count);
}

/* Keeps the scan's map if it is newer than all of its sources; *kept is true if so. */
static ex_result keep_map(exi_body *body, int scan, bool *kept) {
    const ex_scan_entry *entry = &body->session->scans[scan];
    char *name = exi_body_map_name(&body->parts[entry->part], "maps", entry->name);
    char *path = name ? exi_body_path(body, name) : NULL;
    ex_displacement_map *map = NULL;
    ex_result result = path ? EX_OK : ex_error_memory(body->error, "a path", 0);
    *kept = false;
    if (result == EX_OK && is_up_to_date(body, scan, path) && ex_displacement_map_read(path, &map, NULL) == EX_OK &&
        map->vertex_count == body->vertex_count) {
        measure(body, map, &body->built->scans[scan]);
        body->built->kept_count++;
        *kept = true;
    }
    ex_displacement_map_destroy(map);
    free(name);
    free(path);
    return result;
}

static ex_result make_one(exi_body *body, int scan) {
    ex_displacement_map *map = NULL;
    bool kept = false;
    ex_result result = keep_map(body, scan, &kept);
    if (result == EX_OK && !kept) {
        const int part = body->session->scans[scan].part;
        result = exi_body_cast(body, scan, body->session->reach / 2, body->parts[part].covered, &map);
        if (result == EX_OK)
            result = finish_map(body, scan, map, NULL);
    }
    ex_displacement_map_destroy(map);
    return result;
}

/* If scans lend to each other, all maps are kept or none. */
static ex_result keep_all(exi_body *body, bool *kept) {
    ex_result result = EX_OK;
    *kept = true;
    for (int i = 0; i < body->session->scan_count && *kept && result == EX_OK; i++) {
        if (body->poses[i] >= 0)
            result = keep_map(body, i, kept);
    }
    if (!*kept)
        body->built->kept_count = 0;
    return result;
}

static ex_result make_lending(exi_body *body) {
    const int count = body->session->scan_count;
    bool kept = false;
    ex_result kept_result = keep_all(body, &kept);
    if (kept || kept_result != EX_OK)
        return kept_result;
    ex_displacement_map **maps = calloc((size_t)count, sizeof *maps);
    ex_result result = maps ? EX_OK : ex_error_memory(body->error, "the maps", (size_t)count * sizeof *maps);
    for (int i = 0; i < count && result == EX_OK; i++) {
        report(body, "casting rays", i, count);
        if (body->poses[i] >= 0)
            result = exi_body_cast(body, i, body->session->reach / 2, body->parts[body->session->scans[i].part].covered,
                                   &maps[i]);
    }
    for (int i = 0; i < count && result == EX_OK; i++) {
        report(body, "filling holes", i, count);
        ex_displacement_map *own = maps[i] ? ex_displacement_map_create(body->vertex_count) : NULL;
        if (!maps[i])
            continue;
        if (!own) {
            result = ex_error_memory(body->error, "a map", 0);
            break;
        }
        memcpy(own->displacements, maps[i]->displacements, (size_t)body->vertex_count * sizeof *own->displacements);
        memcpy(own->states, maps[i]->states, (size_t)body->vertex_count);
        result = finish_map(body, i, own, maps);
        ex_displacement_map_destroy(own);
    }
    for (int i = 0; maps && i < count; i++)
        ex_displacement_map_destroy(maps[i]);
    free(maps);
    return result;
}

ex_result exi_body_make_maps(exi_body *body) {
    const int count = body->session->scan_count;
    ex_result result = EX_OK;
    if (body->session->lend)
        return make_lending(body);
    for (int i = 0; i < count && result == EX_OK; i++) {
        report(body, "displacement maps", i, count);
        if (body->poses[i] >= 0)
            result = make_one(body, i);
    }
    return result;
}
