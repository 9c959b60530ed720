/*
 * Measures a scan: casts rays once for all of its parts, and makes a map of what they hit for each of them. These maps
 * have holes still. They may be there already, in measured/, made by another process. The reference scan is cast on the
 * mirror images of parts too.
 */
#include "author/base/array.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- files ---- */

static char *map_path(const exi_body *body, int example, exi_body_stage stage) {
    const exi_body_example *own = &body->examples[example];
    char *name = exi_body_map_name(&body->parts[own->part], stage == EXI_BODY_MEASURED ? "measured" : "maps",
                                   &body->session->scans[own->scan]);
    char *path = name ? exi_body_path(body, name) : NULL;
    free(name);
    return path;
}

ex_result exi_body_write_map(const exi_body *body, int example, exi_body_stage stage, const ex_displacement_map *map) {
    char *path = map_path(body, example, stage), made_from[EXI_MADE_FROM_SIZE];
    ex_result result =
        path ? exi_body_stamp_text(body, example, stage, made_from) : ex_error_memory(body->error, "a path", 0);
    if (result == EX_OK)
        result = exi_displacement_map_write(path, map, made_from, body->error);
    free(path);
    return result;
}

ex_result exi_body_read_current(const exi_body *body, int example, exi_body_stage stage, ex_displacement_map **map) {
    char *path = map_path(body, example, stage);
    bool current = false;
    *map = NULL;
    ex_result result =
        path ? exi_body_is_current(body, example, stage, path, &current) : ex_error_memory(body->error, "a path", 0);
    if (result == EX_OK && current)
        result = ex_displacement_map_read(path, map, NULL) == EX_ERROR_MEMORY
                     ? ex_error_memory(body->error, "a map", (size_t)body->vertex_count * 5)
                     : EX_OK; /* one that is broken is made again */
    if (*map && (*map)->vertex_count != body->vertex_count) {
        ex_displacement_map_destroy(*map);
        *map = NULL;
    }
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

/* ---- a scan ---- */

/* Casts rays for all examples of a scan, [first, end), at once. */
static ex_result cast_scan(const exi_body *body, int first, int end, ex_displacement_map **maps) {
    const size_t count = (size_t)body->vertex_count;
    unsigned char *covered = calloc(count, 1);
    ex_displacement_map *all = NULL;
    ex_result result = covered ? EX_OK : ex_error_memory(body->error, "a map", count);
    for (int e = first; result == EX_OK && e < end; e++)
        for (size_t v = 0; body->examples[e].part >= 0 && v < count; v++)
            covered[v] |= body->parts[body->examples[e].part].covered[v];
    if (result == EX_OK)
        result = exi_body_cast(body, body->examples[first].scan, body->session->reach / 2, covered, &all);
    for (int e = first; result == EX_OK && e < end; e++) {
        if (body->examples[e].part < 0)
            continue;
        const unsigned char *own = body->parts[body->examples[e].part].covered;
        ex_displacement_map_destroy(maps[e]);
        maps[e] = ex_displacement_map_create(body->vertex_count);
        if (!maps[e])
            result = ex_error_memory(body->error, "a map", 0);
        for (size_t v = 0; v < count && result == EX_OK; v++) {
            maps[e]->displacements[v] = own[v] ? all->displacements[v] : 0;
            maps[e]->states[v] = own[v] ? all->states[v] : EX_DISPLACEMENT_MAP_OUTSIDE;
        }
    }
    ex_displacement_map_destroy(all);
    free(covered);
    return result;
}

ex_result exi_body_measure(exi_body *body, int first, bool again, bool write, ex_displacement_map **maps, bool *kept) {
    bool there = !again, any = false;
    int end = first;
    ex_result result = EX_OK;
    for (; end < body->example_count && body->examples[end].scan == body->examples[first].scan; end++) {
        if (body->examples[end].part < 0)
            continue;
        any = true;
        if (there && result == EX_OK)
            result = exi_body_read_current(body, end, EXI_BODY_MEASURED, &maps[end]);
        there &= maps[end] != NULL;
    }
    if (result == EX_OK && any && !there)
        result = cast_scan(body, first, end, maps);
    for (int e = first; e < end && result == EX_OK; e++) {
        if (body->examples[e].part < 0)
            continue;
        if (write && !there)
            result = exi_body_write_map(body, e, EXI_BODY_MEASURED, maps[e]);
        if (result == EX_OK)
            result = check_hits(body, e, maps[e]);
        if (body->examples[e].part < 0) {
            ex_displacement_map_destroy(maps[e]);
            maps[e] = NULL;
        }
    }
    if (kept)
        *kept = there && any;
    return result;
}

bool exi_body_is_asked(const exi_body *body, int scan) {
    const ex_scan_build_options *options = body->options;
    return options->step == EX_SCAN_BUILD_ALL || !options->scans || options->scans[scan];
}

ex_result exi_body_make_measured(exi_body *body) {
    const int count = body->example_count;
    ex_displacement_map **maps = calloc((size_t)count + 1, sizeof *maps);
    ex_result result = maps ? EX_OK : ex_error_memory(body->error, "the maps", 0);
    for (int e = 0; e < count && result == EX_OK; e++) {
        const int scan = body->examples[e].scan;
        bool kept = false;
        if (!exi_body_is_asked(body, scan) || (e > 0 && body->examples[e - 1].scan == scan))
            continue;
        result = exi_body_measure(body, e, body->options->force, true, maps, &kept);
        body->built->kept_count += kept;
        for (int i = e; i < count && body->examples[i].scan == scan; i++) {
            ex_displacement_map_destroy(maps[i]);
            maps[i] = NULL;
        }
    }
    for (int e = 0; maps && e < count; e++)
        ex_displacement_map_destroy(maps[e]);
    free(maps);
    return result;
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
