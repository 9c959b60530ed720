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
 *
 * The mirror image of a part has the reference scan's own surface as its reference, since no person is symmetric. Its
 * changes are those of the part, mirrored, relative to the part at the mirrored pose of the reference.
 */
#include "author/base/array.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double exi_body_change(double mask) {
    const double t = 2 * mask < 1 ? 2 * mask : 1;
    return t * t * (3 - 2 * t);
}

/* ---- references ---- */

/* Computes what the part's scans give with no joint turned; of a mirror image, at its own vertices. */
static ex_result blend_maps(exi_body *body, const exi_body_part *part, double (*rest)[4], double *weights,
                            exi_map_source source, void *user, float *blend) {
    ex_result result = EX_OK;
    exi_scan_weigh(body, part, rest, -1, body->session->neighbours, weights);
    for (int e = 0; e < body->example_count && result == EX_OK; e++) {
        const ex_displacement_map *map = NULL;
        if (weights[e] == 0)
            continue;
        result = source(user, e, &map);
        for (int v = 0; result == EX_OK && v < body->vertex_count; v++)
            blend[part->mirrored ? body->mirror[v] : v] += (float)(weights[e] * (double)map->displacements[v]);
    }
    return result;
}

/* Makes sides/PART.ply, the reference scan on a mirror image, or reads it: while a body is built, it is made. */
static ex_result find_side(exi_body *body, exi_body_part *part, ex_displacement_map **map) {
    const size_t size = strlen(part->name) + 16;
    char *name = malloc(size), *path = NULL;
    const float *own = body->parts[part->part - body->session->parts].reference;
    if (name) {
        snprintf(name, size, "sides/%s.ply", part->name);
        path = exi_body_path(body, name);
    }
    ex_result result = path ? EX_OK : ex_error_memory(body->error, "a path", 0);
    if (result == EX_OK && !body->built) {
        const ex_result read = ex_displacement_map_read(path, map, body->error);
        result = read == EX_ERROR_MEMORY ? read : EX_OK; /* one that is not there, or of no use, is made */
        if (*map && (*map)->vertex_count != body->vertex_count) {
            ex_displacement_map_destroy(*map);
            *map = NULL;
        }
    }
    if (result == EX_OK && !*map)
        result = exi_body_other_side(body, part, own, body->session->reach / 2, true, map);
    if (result == EX_OK && body->built)
        result = ex_displacement_map_write(path, *map, body->error);
    free(name);
    free(path);
    return result;
}

static ex_result find_reference(exi_body *body, exi_body_part *part, double (*rest)[4], double *weights,
                                exi_map_source source, void *user) {
    const size_t count = (size_t)body->vertex_count;
    float *blend = calloc(count, sizeof *blend);
    ex_displacement_map *side = NULL;
    if (!blend)
        return ex_error_memory(body->error, "a part", count * sizeof *blend);
    *(part->mirrored ? &part->image : &part->reference) = blend;
    ex_result result = blend_maps(body, part, rest, weights, source, user, blend);
    if (result != EX_OK || !part->mirrored)
        return result;
    result = find_side(body, part, &side);
    if (result == EX_OK) {
        part->reference = exi_array_copy(side->displacements, count, sizeof *side->displacements);
        result = part->reference ? EX_OK : ex_error_memory(body->error, "a part", count * sizeof *blend);
    }
    ex_displacement_map_destroy(side);
    return result;
}

/* The session's parts come first, and their images need them. */
ex_result exi_body_find_references(exi_body *body, exi_map_source source, void *user) {
    const size_t joints = (size_t)body->fitted->kinematics->joint_count;
    double(*rest)[4] = exi_array_allocate(joints, sizeof *rest);
    double *weights = exi_array_allocate((size_t)body->example_count, sizeof *weights);
    ex_result result = rest && weights ? EX_OK : ex_error_memory(body->error, "the parts", joints * sizeof *rest);
    for (size_t j = 0; result == EX_OK && j < joints; j++)
        memcpy(rest[j], (const double[4]){0, 0, 0, 1}, sizeof rest[j]);
    for (int p = 0; p < body->part_count && result == EX_OK; p++)
        result = find_reference(body, &body->parts[p], rest, weights, source, user);
    free(rest);
    free(weights);
    return result;
}

double exi_body_change_at(const exi_body *body, const exi_body_part *part, const ex_displacement_map *map, int v) {
    const double value = (double)map->displacements[part->mirrored ? body->mirror[v] : v];
    const double own = (double)part->reference[v], seen = part->image ? (double)part->image[v] : own;
    return body->session->add ? value - seen : value - seen + own;
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

static ex_result read_map(void *user, int example, const ex_displacement_map **map) {
    reader *r = user;
    const exi_body_example *own = &r->body->examples[example];
    char *name = exi_body_map_name(&r->body->parts[own->part], "maps", &r->body->session->scans[own->scan]);
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

static ex_result write_change(exi_body *body, const exi_body_part *part, const ex_scan_entry *scan,
                              const ex_displacement_map *map, ex_displacement_map *change) {
    char *name = exi_body_map_name(part, "changes", scan), *path = name ? exi_body_path(body, name) : NULL;
    for (int v = 0; v < body->vertex_count; v++) {
        const unsigned char state = map->states[part->mirrored ? body->mirror[v] : v];
        change->displacements[v] =
            state == EX_DISPLACEMENT_MAP_OUTSIDE ? 0 : (float)exi_body_change_at(body, part, map, v);
        change->states[v] = state;
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
    for (int e = 0; e < body->example_count && result == EX_OK; e++) {
        const exi_body_example *own = &body->examples[e];
        const ex_displacement_map *map = NULL;
        if (own->part < 0)
            continue;
        result = read_map(&r, e, &map);
        for (int p = 0; p < body->part_count && result == EX_OK; p++) {
            if (body->parts[p].part == &body->session->parts[own->part])
                result = write_change(body, &body->parts[p], &body->session->scans[own->scan], map, change);
        }
    }
    ex_displacement_map_destroy(r.map);
    ex_displacement_map_destroy(change);
    return result;
}
