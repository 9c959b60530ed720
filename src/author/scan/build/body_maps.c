/*
 * Makes a displacement map of every scan for each of its parts: casts rays once, lends to and fills holes, and writes
 * it. The reference scan is cast on the mirror images of parts too. Maps newer than all of their sources are kept.
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

/* Least part of a bone's surface that some scan must show. */
#define LEAST_SEEN 0.1

char *exi_body_map_name(const exi_body_part *part, const char *folder, const ex_scan_entry *scan) {
    const size_t size = strlen(folder) + strlen(scan->name) + strlen(part->part->name) + 24;
    const bool several = scan->part_count > 1;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%s/%s%s%s%s.ply", folder, scan->name, several ? "." : "", several ? part->part->name : "",
                 part->mirrored ? ".mirrored" : "");
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

/* Finds the part's other examples, and weights by the distance of their poses from this one's. lenders and weights
 * [example_count]; returns their number. */
static int find_lenders(const exi_body *body, int example, ex_displacement_map *const *maps,
                        const ex_displacement_map **lenders, double *weights) {
    const exi_body_example *own = &body->examples[example];
    const ex_scan_part *part = &body->session->parts[own->part];
    int count = 0;
    for (int i = 0; i < body->example_count; i++) {
        double square = 0;
        if (i == example || body->examples[i].part != own->part || !maps[i])
            continue;
        for (int j = 0; j < part->joint_count; j++) {
            const int joint = ex_kinematics_find_joint(body->fitted->kinematics, part->joints[j]);
            const double *a = body->fitted->poses[body->poses[body->examples[i].scan]].rotations[joint];
            const double *b = body->fitted->poses[body->poses[own->scan]].rotations[joint];
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

/* Adds an example's coverage to its scan's, which is the mean over the scan's parts. */
static void measure(const exi_body *body, int example, const ex_displacement_map *map) {
    double counts[EX_DISPLACEMENT_MAP_STATE_COUNT] = {0}, square = 0, all = 0;
    ex_scan_coverage *coverage = &body->built->scans[body->examples[example].scan];
    int before = 0;
    for (int i = 0; i < example; i++)
        before += body->examples[i].scan == body->examples[example].scan && body->examples[i].part >= 0;
    for (int v = 0; v < body->vertex_count; v++) {
        counts[map->states[v]]++;
        if (map->states[v] == EX_DISPLACEMENT_MAP_OUTSIDE)
            continue;
        all++;
        square += (double)map->displacements[v] * (double)map->displacements[v];
    }
    all = all > 0 ? all : 1;
    const double values[4] = {(counts[EX_DISPLACEMENT_MAP_HIT] + counts[EX_DISPLACEMENT_MAP_FAIRED]) / all,
                              counts[EX_DISPLACEMENT_MAP_LENT] / all, counts[EX_DISPLACEMENT_MAP_FILLED] / all,
                              square / all};
    const double n = before, rms = coverage->rms;
    coverage->hit = (n * coverage->hit + values[0]) / (n + 1);
    coverage->lent = (n * coverage->lent + values[1]) / (n + 1);
    coverage->filled = (n * coverage->filled + values[2]) / (n + 1);
    coverage->rms = sqrt((n * rms * rms + values[3]) / (n + 1));
}

static ex_result write_map(const exi_body *body, int example, const ex_displacement_map *map) {
    const exi_body_example *own = &body->examples[example];
    char *name = exi_body_map_name(&body->parts[own->part], "maps", &body->session->scans[own->scan]);
    char *path = name ? exi_body_path(body, name) : NULL;
    ex_result result =
        path ? ex_displacement_map_write(path, map, body->error) : ex_error_memory(body->error, "a path", 0);
    free(name);
    free(path);
    return result;
}

static bool is_hit(const ex_displacement_map *map, int v) {
    return map->states[v] == EX_DISPLACEMENT_MAP_HIT;
}

static int count_hits(const exi_body *body, const ex_displacement_map *map) {
    int hits = 0;
    for (int v = 0; v < body->vertex_count; v++)
        hits += is_hit(map, v);
    return hits;
}

/* A scan of one part must show it; one of several is left out of those that it does not show. */
static ex_result check_hits(exi_body *body, int example, const ex_displacement_map *map) {
    const ex_scan_entry *entry = &body->session->scans[body->examples[example].scan];
    const char *part = body->session->parts[body->examples[example].part].name;
    if (count_hits(body, map) > 0)
        return EX_OK;
    if (entry->part_count == 1)
        return ex_error_set(
            body->error, EX_ERROR_DATA,
            "scan '%s' shows nothing of part '%s' within %g m of the template: check its labels and fit", entry->name,
            part, body->session->reach);
    exi_body_leave_out(body, example, "it shows nothing of it near the template");
    return EX_OK;
}

static ex_result finish_map(exi_body *body, int example, ex_displacement_map *map, ex_displacement_map *const *maps) {
    const ex_scan_entry *entry = &body->session->scans[body->examples[example].scan];
    const size_t count = (size_t)body->example_count;
    const ex_displacement_map **lenders = exi_array_allocate(count, sizeof *lenders);
    double *weights = exi_array_allocate(count, sizeof *weights);
    ex_result result = EX_OK;
    if (lenders && weights)
        result = ex_displacement_map_fill_lent(map, body->rig, body->level, lenders, weights,
                                               maps ? find_lenders(body, example, maps, lenders, weights) : 0, NULL,
                                               body->error);
    else
        result = ex_error_memory(body->error, "filling holes", count * 16);
    free(lenders);
    free(weights);
    if (result == EX_OK)
        result = exi_body_smooth(body, map);
    if (result == EX_OK)
        measure(body, example, map);
    if (result == EX_OK)
        result = write_map(body, example, map);
    return ex_error_within(body->error, result, "scan '%s'", entry->name);
}

/* ---- the other side ---- */

ex_result exi_body_other_side(const exi_body *body, const exi_body_part *part, const float *from, double reach,
                              bool smooth, ex_displacement_map **map) {
    const int reference = body->session->reference;
    ex_displacement_map *image = ex_displacement_map_create(body->vertex_count);
    ex_result result = image ? EX_OK : ex_error_memory(body->error, "a map", 0);
    *map = NULL;
    for (int v = 0; v < body->vertex_count && result == EX_OK; v++) {
        const int to = body->mirror[v];
        image->displacements[to] = part->covered[to] ? from[v] : 0;
        image->states[to] = part->covered[to] ? EX_DISPLACEMENT_MAP_HIT : EX_DISPLACEMENT_MAP_OUTSIDE;
    }
    if (result == EX_OK && body->poses[reference] >= 0)
        result = exi_body_cast(body, reference, reach, part->covered, map);
    if (result == EX_OK && (!*map || count_hits(body, *map) == 0)) {
        ex_displacement_map_destroy(*map);
        *map = image;
        return EX_OK;
    }
    const ex_displacement_map *lender = image;
    if (result == EX_OK)
        result = ex_displacement_map_fill_lent(*map, body->rig, body->level, &lender, (const double[1]){1}, 1, NULL,
                                               body->error);
    if (result == EX_OK && smooth)
        result = exi_body_smooth(body, *map);
    ex_displacement_map_destroy(image);
    return result;
}

/* ---- all maps ---- */

static void report(const exi_body *body, const char *what, int done, int count) {
    const ex_progress *progress = body->options->progress;
    if (progress)
        progress->report(progress->user, what, (double)done / count);
}

/* Keeps the example's map if it is newer than all of its sources; *kept is true if so. */
static ex_result keep_map(exi_body *body, int example, bool *kept) {
    const exi_body_example *own = &body->examples[example];
    char *name = exi_body_map_name(&body->parts[own->part], "maps", &body->session->scans[own->scan]);
    char *path = name ? exi_body_path(body, name) : NULL;
    ex_displacement_map *map = NULL;
    ex_result result = path ? EX_OK : ex_error_memory(body->error, "a path", 0);
    *kept = false;
    if (result == EX_OK && is_up_to_date(body, own->scan, path) &&
        ex_displacement_map_read(path, &map, NULL) == EX_OK && map->vertex_count == body->vertex_count) {
        measure(body, example, map);
        body->built->kept_count++;
        *kept = true;
    }
    ex_displacement_map_destroy(map);
    free(name);
    free(path);
    return result;
}

/* Casts rays for the examples of a scan from `first` on that have no map yet, all at once; maps [example_count]. */
static ex_result cast_scan(exi_body *body, int first, const bool *kept, ex_displacement_map **maps) {
    const int scan = body->examples[first].scan;
    const size_t count = (size_t)body->vertex_count;
    unsigned char *covered = calloc(count, 1);
    ex_displacement_map *all = NULL;
    bool any = false;
    ex_result result = covered ? EX_OK : ex_error_memory(body->error, "a map", count);
    for (int e = first; result == EX_OK && e < body->example_count && body->examples[e].scan == scan; e++) {
        if (body->examples[e].part < 0 || (kept && kept[e]))
            continue;
        any = true;
        for (size_t v = 0; v < count; v++)
            covered[v] |= body->parts[body->examples[e].part].covered[v];
    }
    if (result == EX_OK && any)
        result = exi_body_cast(body, scan, body->session->reach / 2, covered, &all);
    for (int e = first; result == EX_OK && any && e < body->example_count && body->examples[e].scan == scan; e++) {
        if (body->examples[e].part < 0 || (kept && kept[e]))
            continue;
        const unsigned char *own = body->parts[body->examples[e].part].covered;
        maps[e] = ex_displacement_map_create(body->vertex_count);
        if (!maps[e])
            result = ex_error_memory(body->error, "a map", 0);
        for (size_t v = 0; v < count && result == EX_OK; v++) {
            maps[e]->displacements[v] = own[v] ? all->displacements[v] : 0;
            maps[e]->states[v] = own[v] ? all->states[v] : EX_DISPLACEMENT_MAP_OUTSIDE;
        }
        if (result == EX_OK)
            result = check_hits(body, e, maps[e]);
        if (body->examples[e].part < 0) {
            ex_displacement_map_destroy(maps[e]);
            maps[e] = NULL;
        }
    }
    ex_displacement_map_destroy(all);
    free(covered);
    return result;
}

/* Checks that each bone that a part covers is measured by one of its scans at least, here and there: else the cage is
 * not on the body. */
static ex_result check_bones(const exi_body *body, ex_displacement_map *const *maps) {
    unsigned char *own = exi_array_allocate((size_t)body->vertex_count, 1);
    ex_result result = own ? EX_OK : ex_error_memory(body->error, "a part", (size_t)body->vertex_count);
    for (int p = 0; p < body->session->part_count && result == EX_OK; p++) {
        const exi_body_part *part = &body->parts[p];
        for (int i = 0; i < part->part->cover_count && result == EX_OK; i++) {
            const char *joint = part->part->covers[i];
            double most = -1;
            if (ex_displacement_map_covered(body->rig, body->level, (const char *const *)&joint, 1, own, NULL) != EX_OK)
                continue; /* without faces of its own */
            for (int e = 0; e < body->example_count; e++) {
                int hits = 0, all = 0;
                if (!maps[e] || body->examples[e].part != p)
                    continue;
                for (int v = 0; v < body->vertex_count; v++) {
                    all += own[v] && part->covered[v];
                    hits += own[v] && part->covered[v] && is_hit(maps[e], v);
                }
                most = all > 0 && (double)hits / all > most ? (double)hits / all : most;
            }
            if (most >= 0 && most < LEAST_SEEN)
                result = ex_error_set(body->error, EX_ERROR_DATA,
                                      "no scan of part '%s' shows the bone of '%s' where the cage has it: at most %.0f "
                                      "%% of it is near a scan; check the labels of its markers, and look at "
                                      "template/cage.obj over the reference scan",
                                      part->part->name, joint, 100 * most);
        }
    }
    free(own);
    return result;
}

/* Fills and writes the maps of all examples, which lend to each other if they are asked to. */
static ex_result finish_maps(exi_body *body, ex_displacement_map *const *maps) {
    ex_result result = EX_OK;
    for (int e = 0; e < body->example_count && result == EX_OK; e++) {
        report(body, "filling holes", e, body->example_count);
        ex_displacement_map *own = maps[e] ? ex_displacement_map_create(body->vertex_count) : NULL;
        if (!maps[e])
            continue;
        if (!own)
            return ex_error_memory(body->error, "a map", 0);
        memcpy(own->displacements, maps[e]->displacements, (size_t)body->vertex_count * sizeof *own->displacements);
        memcpy(own->states, maps[e]->states, (size_t)body->vertex_count);
        result = finish_map(body, e, own, body->session->lend ? maps : NULL);
        ex_displacement_map_destroy(own);
    }
    return result;
}

/* Finds the maps that are kept; if scans lend to each other, all of them or none. */
static ex_result keep_maps(exi_body *body, bool *kept, bool *all) {
    ex_result result = EX_OK;
    *all = true;
    for (int e = 0; e < body->example_count && result == EX_OK; e++) {
        if (body->examples[e].part < 0)
            continue;
        result = keep_map(body, e, &kept[e]);
        *all &= kept[e];
    }
    if (!*all && body->session->lend) {
        memset(kept, 0, (size_t)body->example_count * sizeof *kept);
        memset(body->built->scans, 0, (size_t)body->session->scan_count * sizeof *body->built->scans);
        body->built->kept_count = 0;
    }
    return result;
}

ex_result exi_body_make_maps(exi_body *body) {
    const int count = body->example_count;
    bool *kept = calloc((size_t)count + 1, sizeof *kept), all = false;
    ex_displacement_map **maps = calloc((size_t)count + 1, sizeof *maps);
    ex_result result =
        kept && maps ? keep_maps(body, kept, &all) : ex_error_memory(body->error, "the maps", (size_t)count * 8);
    for (int e = 0; e < count && result == EX_OK && !all; e++) {
        report(body, "casting rays", e, count);
        if (e == 0 || body->examples[e].scan != body->examples[e - 1].scan)
            result = cast_scan(body, e, kept, maps);
    }
    if (result == EX_OK && body->built->kept_count == 0)
        result = check_bones(body, maps);
    if (result == EX_OK && !all)
        result = finish_maps(body, maps);
    for (int e = 0; maps && e < count; e++)
        ex_displacement_map_destroy(maps[e]);
    free(maps);
    free(kept);
    return result;
}
