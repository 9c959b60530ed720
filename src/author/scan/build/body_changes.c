/*
 * Computes the scans' changes. Blended by masks that sum to 1, as in section 5.2, overlapping parts halve each other's
 * effects: a chest moved by both the arm and the waist shows neither fully. So the body in the reference pose is stored
 * once, and each scan as its change of its own part there:
 *
 *     d = sum over parts of mask_p d_p(reference) + sum over parts of change_p (d_p(q) - d_p(reference)).
 *
 * Changes fade out towards the edge of a part's cover, and are complete from the middle of an overlap on. Where only
 * one part moves, this equals the paper's blend; a scan is reproduced where its change counts fully. `"add": false` in
 * scan.json selects the paper's blend.
 */
#include "author/base/array.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

double exi_body_change(double mask) {
    const double t = 2 * mask < 1 ? 2 * mask : 1;
    return t * t * (3 - 2 * t);
}

/* ---- references ---- */

static void mirror_values(const exi_body *body, const float *from, float *to) {
    for (int v = 0; v < body->vertex_count; v++)
        to[body->mirror[v]] = from[v];
}

static ex_result find_reference(exi_body *body, exi_body_part *part, double (*rest)[4], double *weights,
                                exi_map_source source, void *user) {
    const ex_scan_session *session = body->session;
    ex_result result = EX_OK;
    part->reference = calloc((size_t)body->vertex_count, sizeof *part->reference);
    if (!part->reference)
        return ex_error_memory(body->error, "a part", (size_t)body->vertex_count * sizeof *part->reference);
    exi_scan_weigh(body, part, rest, -1, session->neighbours, weights);
    for (int i = 0; i < session->scan_count && result == EX_OK; i++) {
        const ex_displacement_map *map = NULL;
        if (weights[i] == 0)
            continue;
        result = source(user, i, &map);
        for (int v = 0; result == EX_OK && v < body->vertex_count; v++)
            part->reference[v] += (float)(weights[i] * (double)map->displacements[v]);
    }
    return result;
}

ex_result exi_body_find_references(exi_body *body, exi_map_source source, void *user) {
    const size_t joints = (size_t)body->fitted->kinematics->joint_count;
    double(*rest)[4] = exi_array_allocate(joints, sizeof *rest);
    double *weights = exi_array_allocate((size_t)body->session->scan_count, sizeof *weights);
    ex_result result = rest && weights ? EX_OK : ex_error_memory(body->error, "the parts", joints * sizeof *rest);
    for (size_t j = 0; result == EX_OK && j < joints; j++)
        memcpy(rest[j], (const double[4]){0, 0, 0, 1}, sizeof rest[j]);
    for (int p = 0; p < body->part_count && result == EX_OK; p++) {
        exi_body_part *part = &body->parts[p];
        if (!part->mirrored) {
            result = find_reference(body, part, rest, weights, source, user);
            continue;
        }
        part->reference = calloc((size_t)body->vertex_count, sizeof *part->reference);
        if (part->reference)
            mirror_values(body, body->parts[part->part - body->session->parts].reference, part->reference);
        else
            result = ex_error_memory(body->error, "a part", (size_t)body->vertex_count * sizeof *part->reference);
    }
    free(rest);
    free(weights);
    return result;
}

void exi_body_base(const exi_body *body, float *base) {
    memset(base, 0, (size_t)body->vertex_count * sizeof *base);
    for (int p = 0; p < body->part_count; p++)
        for (int v = 0; v < body->vertex_count; v++)
            base[v] += body->parts[p].mask[v] * body->parts[p].reference[v];
}

/* ---- files ---- */

/* Reads one map at a time. */
typedef struct reader {
    exi_body *body;
    ex_displacement_map *map;
} reader;

static ex_result read_map(void *user, int scan, const ex_displacement_map **map) {
    reader *r = user;
    const ex_scan_entry *entry = &r->body->session->scans[scan];
    char *name = exi_body_map_name(&r->body->parts[entry->part], "maps", entry->name);
    char *path = name ? exi_body_path(r->body, name) : NULL;
    ex_displacement_map_destroy(r->map);
    r->map = NULL;
    ex_result result =
        path ? ex_displacement_map_read(path, &r->map, r->body->error) : ex_error_memory(r->body->error, "a path", 0);
    if (result == EX_OK && r->map->vertex_count != r->body->vertex_count)
        result =
            ex_error_kind(r->body->error,
                          ex_error_set(r->body->error, EX_ERROR_DATA, "%s has %d vertices, but the template has %d",
                                       path, r->map->vertex_count, r->body->vertex_count),
                          "old_maps");
    *map = r->map;
    free(name);
    free(path);
    return result;
}

static ex_result write_change(exi_body *body, const exi_body_part *part, const char *scan,
                              const ex_displacement_map *map, ex_displacement_map *change) {
    const float *reference = body->parts[part->part - body->session->parts].reference;
    char *name = exi_body_map_name(part, "changes", scan), *path = name ? exi_body_path(body, name) : NULL;
    for (int v = 0; v < body->vertex_count; v++) {
        const int to = part->mirrored ? body->mirror[v] : v;
        change->displacements[to] = body->session->add ? map->displacements[v] - reference[v] : map->displacements[v];
        change->states[to] = map->states[v];
    }
    ex_result result =
        path ? ex_displacement_map_write(path, change, body->error) : ex_error_memory(body->error, "a path", 0);
    free(name);
    free(path);
    return result;
}

static ex_result write_base(exi_body *body, ex_displacement_map *map) {
    char *path = exi_body_path(body, "base.ply");
    exi_body_base(body, map->displacements);
    for (int v = 0; v < body->vertex_count; v++) {
        float mask = 0;
        for (int p = 0; p < body->part_count; p++)
            mask += body->parts[p].mask[v];
        map->states[v] = mask > 0 ? EX_DISPLACEMENT_MAP_HIT : EX_DISPLACEMENT_MAP_OUTSIDE;
    }
    ex_result result =
        path ? ex_displacement_map_write(path, map, body->error) : ex_error_memory(body->error, "a path", 0);
    free(path);
    return result;
}

ex_result exi_body_write_changes(exi_body *body) {
    reader r = {.body = body};
    ex_displacement_map *change = ex_displacement_map_create(body->vertex_count);
    ex_result result = change ? exi_body_find_references(body, read_map, &r) : ex_error_memory(body->error, "a map", 0);
    if (result == EX_OK && body->session->add)
        result = write_base(body, change);
    for (int i = 0; i < body->session->scan_count && result == EX_OK; i++) {
        const ex_scan_entry *entry = &body->session->scans[i];
        const ex_displacement_map *map = NULL;
        if (body->poses[i] < 0)
            continue;
        result = read_map(&r, i, &map);
        for (int p = 0; p < body->part_count && result == EX_OK; p++) {
            if (body->parts[p].part == &body->session->parts[entry->part])
                result = write_change(body, &body->parts[p], entry->name, map, change);
        }
    }
    ex_displacement_map_destroy(r.map);
    ex_displacement_map_destroy(change);
    return result;
}
