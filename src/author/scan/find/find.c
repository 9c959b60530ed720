/*
 * Finds markers on the coloured meshes of a scan (Allen, Curless, Popovic 2002, section 2.3), and joins those that
 * several views show. Two finds less than half a marker apart that face the same way and have similar colours are one.
 * Its position is the weighted mean of all finds; a view has more weight the more squarely it looks.
 */
#include "author/scan/find/find.h"

#include "author/base/array.h"
#include "author/mesh/mesh_check.h"

#include <exemplar/author/colour.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void free_finder(exi_finder *f) {
    free(f->starts);
    free(f->others);
    free(f->rims);
    free(f->states);
    free(f->areas);
    free(f->normals);
    free(f->colours);
    free(f->residuals);
    free(f->strengths);
    free(f->queue);
    free(f->stamps);
    free(f->taken);
    free(f->spots);
}

/* ---- one mesh ---- */

static ex_result check_mesh(const ex_mesh *mesh, ex_error *error) {
    if (mesh->face_count == 0 || mesh->vertex_count == 0)
        return ex_error_set(error, EX_ERROR_DATA,
                            "it has %d points and no faces: markers are found on a surface, so mesh it first",
                            mesh->vertex_count);
    if (!mesh->colours)
        return ex_error_set(error, EX_ERROR_DATA,
                            "it has no colours: markers are found by colour, so export the scan with a colour at every "
                            "vertex (red, green, blue in PLY)");
    return exi_mesh_check_faces(mesh, error);
}

/* Appends the markers found on one mesh to the list. */
static ex_result find_on(const ex_mesh *mesh, int view, const ex_find_options *options, exi_spot_found **spots,
                         int *count, size_t *capacity, ex_error *error) {
    exi_finder f = {.mesh = mesh, .options = *options, .view = view, .vertex_count = mesh->vertex_count};
    ex_result result = check_mesh(mesh, error);
    if (result == EX_OK)
        result = exi_find_graph(&f, error);
    if (result == EX_OK)
        result = exi_find_skin(&f, error);
    if (result == EX_OK)
        result = exi_find_spots(&f, error);
    if (result == EX_OK && f.spot_count > 0) {
        const size_t total = (size_t)*count + (size_t)f.spot_count;
        exi_spot_found *grown = exi_array_grow(*spots, capacity, total, sizeof *grown);
        if (grown) {
            memcpy(grown + *count, f.spots, (size_t)f.spot_count * sizeof *grown);
            *spots = grown;
            *count = (int)total;
        } else {
            result = ex_error_memory(error, "the markers found", total * sizeof *grown);
        }
    }
    free_finder(&f);
    return result;
}

/* ---- several views ---- */

/* Best first, then by position, so that the order does not depend on the order of views. */
static int order_best(const void *a, const void *b) {
    const exi_spot_found *first = a, *second = b;
    if (first->weight != second->weight)
        return first->weight > second->weight ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (first->marker.position[k] != second->marker.position[k])
            return first->marker.position[k] < second->marker.position[k] ? -1 : 1;
    return first->marker.view - second->marker.view;
}

/* A find, sorted by x. */
typedef struct entry {
    double x;
    int spot;
} entry;

static int order_entries(const void *a, const void *b) {
    const entry *first = a, *second = b;
    return first->x != second->x ? (first->x < second->x ? -1 : 1) : first->spot - second->spot;
}

static bool are_one(const exi_spot_found *a, const exi_spot_found *b, double reach) {
    double apart_sq = 0, facing = 0, colour_sq = 0, lab[2][3];
    for (int k = 0; k < 3; k++) {
        const double d = a->marker.position[k] - b->marker.position[k];
        apart_sq += d * d;
        facing += a->normal[k] * b->normal[k];
    }
    if (a->marker.view == b->marker.view)
        reach *= 2.0 / 3;
    if (apart_sq > reach * reach || facing < 0)
        return false;
    const exi_spot_found *both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        const double *c = both[i]->marker.colour;
        ex_colour_to_oklab(
            (ex_colour){(unsigned char)(c[0] + 0.5), (unsigned char)(c[1] + 0.5), (unsigned char)(c[2] + 0.5), 1},
            lab[i]);
    }
    for (int k = 0; k < 3; k++)
        colour_sq += (lab[0][k] - lab[1][k]) * (lab[0][k] - lab[1][k]);
    return colour_sq < 0.2 * 0.2;
}

static int find_entry(const entry *entries, int count, double x) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (entries[middle].x < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Joins spots, best first, into markers [*count]. */
static ex_result join(exi_spot_found *spots, int spot_count, double reach, ex_found_marker *markers, int *count,
                      ex_error *error) {
    entry *entries = exi_array_allocate((size_t)spot_count, sizeof *entries);
    unsigned char *joined = calloc((size_t)spot_count + 1, 1);
    if (!entries || !joined) {
        free(entries);
        free(joined);
        return ex_error_memory(error, "the markers found", (size_t)spot_count * sizeof *entries);
    }
    for (int i = 0; i < spot_count; i++)
        entries[i] = (entry){spots[i].marker.position[0], i};
    qsort(entries, (size_t)spot_count, sizeof *entries, order_entries);
    *count = 0;
    for (int i = 0; i < spot_count; i++) {
        const exi_spot_found *best = &spots[i];
        double place[3] = {0}, total = 0;
        if (joined[i])
            continue;
        const double x = best->marker.position[0];
        for (int e = find_entry(entries, spot_count, x - reach); e < spot_count && entries[e].x <= x + reach; e++) {
            const int other = entries[e].spot;
            if (joined[other] || (other != i && !are_one(best, &spots[other], reach)))
                continue;
            joined[other] = 1;
            for (int k = 0; k < 3; k++)
                place[k] += spots[other].weight * spots[other].marker.position[k];
            total += spots[other].weight;
        }
        markers[*count] = best->marker;
        for (int k = 0; k < 3; k++)
            markers[*count].position[k] = place[k] / total;
        ++*count;
    }
    free(entries);
    free(joined);
    return EX_OK;
}

/* ---- the entry point ---- */

ex_find_options ex_find_options_default(void) {
    return (ex_find_options){.size = 0.012, .least = 0.6, .most = 1.6};
}

static ex_result check_options(const ex_find_options *o, ex_error *error) {
    if (!(o->size > 0 && o->size < 1e3))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the size of markers must be above 0 metres, not %g", o->size);
    if (!(o->least > 0 && o->least < o->most && o->most <= 100))
        return ex_error_set(
            error, EX_ERROR_ARGUMENT,
            "the accepted sizes must be above 0, at most 100 times that of a marker, and increasing, not from %g to %g",
            o->least, o->most);
    if (!(o->threshold >= 0 && o->threshold <= 1))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the threshold must be from 0 to 1, not %g", o->threshold);
    return EX_OK;
}

ex_result ex_find_markers(ex_mesh *const *meshes, int mesh_count, const ex_find_options *options,
                          ex_found_marker **markers, int *count, ex_error *error) {
    if (!meshes || mesh_count < 1 || !markers || !count)
        return exi_misuse_error(error, __func__, "meshes, markers and count are needed");
    const ex_find_options resolved = options ? *options : ex_find_options_default();
    exi_spot_found *spots = NULL;
    int spot_count = 0;
    size_t capacity = 0;
    *markers = NULL;
    *count = 0;
    ex_result result = check_options(&resolved, error);
    for (int i = 0; i < mesh_count && result == EX_OK; i++) {
        result = find_on(meshes[i], i, &resolved, &spots, &spot_count, &capacity, error);
        if (result != EX_OK && mesh_count > 1)
            ex_error_within(error, result, "view %d", i + 1);
    }
    ex_found_marker *made = result == EX_OK ? exi_array_allocate((size_t)spot_count, sizeof *made) : NULL;
    if (result == EX_OK && !made)
        result = ex_error_memory(error, "the markers found", (size_t)spot_count * sizeof *made);
    if (result == EX_OK) {
        if (spot_count > 0)
            qsort(spots, (size_t)spot_count, sizeof *spots, order_best);
        result = join(spots, spot_count, 0.75 * resolved.size, made, count, error);
    }
    free(spots);
    if (result == EX_OK)
        *markers = made;
    else
        free(made);
    return result;
}
