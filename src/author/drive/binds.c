/*
 * Files of binds (DrivenShape, 2.6): they limit the driver faces on which parts of the driven mesh may be settled, so
 * that one leg of a pair of trousers does not snap to the other leg.
 *
 *     {"binds": [{"driven": "left_trouser", "driver": ["left_leg", "left_foot"]},
 *                {"driven": {"colour": "r"}, "driver": {"colour": "r"}}]}
 *
 * A driven vertex named by several entries (at the seam of two groups) sees the faces of all of them.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/base/keys.h"
#include "author/drive/drive.h"
#include "author/mesh/groups.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>
#include <stdlib.h>
#include <string.h>

/* Most entries of a file: one bit each. */
enum { ENTRIES = 64 };

typedef struct reading {
    exi_reader reader;
    const ex_mesh *driver, *driven;
    int triangle_count;
    uint64_t *triangles; /* [triangle_count] of the driver: bits of the entries that name it */
    uint64_t *vertices;  /* [vertex_count] of the driven mesh: likewise */
} reading;

/* ---- selections ---- */

/* Marks the corners of a group's faces, or the triangles of its faces. The other array is NULL. */
static ex_result mark_group(const ex_mesh *mesh, const char *name, uint64_t bit, uint64_t *vertices,
                            uint64_t *triangles, const char *which, const exi_place *place, ex_error *error) {
    bool found = false;
    int triangle = 0;
    for (int f = 0; mesh->face_groups && f < mesh->face_count; f++) {
        const int group = mesh->face_groups[f], begin = mesh->face_offsets[f], end = mesh->face_offsets[f + 1];
        const bool named = group >= 0 && exi_names_group(mesh->group_names[group], name);
        for (int c = begin; named && vertices && c < end; c++)
            vertices[mesh->corners[c]] |= bit;
        for (int t = 0; named && triangles && t < end - begin - 2; t++)
            triangles[triangle + t] |= bit;
        triangle += end - begin - 2;
        found = found || named;
    }
    if (found)
        return EX_OK;
    const char *near = ex_suggest(name, (const char *const *)mesh->group_names, mesh->group_count);
    return near ? ex_error_set(error, EX_ERROR_DATA, "%s: the %s has no group '%s'; did you mean '%s'?", place->text,
                               which, name, near)
                : ex_error_set(error, EX_ERROR_DATA, "%s: the %s has no faces in a group '%s'", place->text, which,
                               name);
}

/* True if the vertex has more of this colour than of the others. */
static bool has_colour(const ex_mesh *mesh, int vertex, int channel) {
    const float *c = mesh->colours + 3 * (size_t)vertex;
    return c[channel] > c[(channel + 1) % 3] && c[channel] > c[(channel + 2) % 3];
}

/* Marks vertices or triangles of a colour. One corner is enough: a triangle between two colours belongs to both. */
static ex_result mark_colour(const ex_mesh *mesh, char letter, uint64_t bit, uint64_t *vertices, uint64_t *triangles,
                             const char *which, const exi_place *place, ex_error *error) {
    const int channel = letter == 'r' ? 0 : letter == 'g' ? 1 : 2;
    bool found = false;
    if (!mesh->colours)
        return ex_error_set(error, EX_ERROR_DATA, "%s: the %s has no vertex colours", place->text, which);
    for (int v = 0; v < mesh->vertex_count; v++)
        if (has_colour(mesh, v, channel)) {
            found = true;
            if (vertices)
                vertices[v] |= bit;
        }
    if (!found)
        return ex_error_set(error, EX_ERROR_DATA, "%s: no vertex of the %s has more '%c' than other colours",
                            place->text, which, letter);
    int *corners = NULL, count = 0;
    ex_result result = triangles ? ex_mesh_triangulate(mesh, &corners, &count, error) : EX_OK;
    for (int t = 0; result == EX_OK && t < count; t++)
        for (int i = 0; i < 3; i++)
            if (has_colour(mesh, mesh->corners[corners[3 * (size_t)t + (size_t)i]], channel))
                triangles[t] |= bit;
    free(corners);
    return result;
}

/* Marks a list as unpacking writes it: vertices of the driven mesh or triangles of the driver, counted from 0. */
static ex_result mark_list(const json_t *list, int count, uint64_t bit, uint64_t *marks, const exi_place *place,
                           ex_error *error) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) >= count)
            return ex_error_set(error, EX_ERROR_DATA, "%s[%zu]: a whole number from 0 to %d is needed here",
                                place->text, i, count - 1);
        marks[json_integer_value(value)] |= bit;
    }
    return json_array_size(list) > 0
               ? EX_OK
               : ex_error_set(error, EX_ERROR_DATA, "%s: a list of numbers is needed here", place->text);
}

static ex_result read_side(reading *r, const json_t *value, const exi_place *place, uint64_t bit, bool of_driver) {
    static const char *const keys[2][3] = {{"colour", "vertices", NULL}, {"colour", "triangles", NULL}};
    const char *listed = keys[of_driver][1];
    const ex_mesh *mesh = of_driver ? r->driver : r->driven;
    const char *which = of_driver ? "driver" : "driven mesh", *word = json_string_value(value);
    uint64_t *vertices = of_driver ? NULL : r->vertices, *triangles = of_driver ? r->triangles : NULL;
    ex_error *error = r->reader.error;
    ex_result result = EX_OK;
    if (word && word[0])
        return mark_group(mesh, word, bit, vertices, triangles, which, place, error);
    if (json_is_object(value)) {
        const char *colour = json_string_value(json_object_get(value, "colour"));
        result = exi_check_keys(&r->reader, value, place, keys[of_driver]);
        if (result == EX_OK && json_object_get(value, listed) && !json_object_get(value, "colour")) {
            const exi_place at = exi_place_key(place, listed);
            return mark_list(json_object_get(value, listed), of_driver ? r->triangle_count : mesh->vertex_count, bit,
                             of_driver ? triangles : vertices, &at, error);
        }
        if (result == EX_OK && (!colour || strlen(colour) != 1 || !strchr("rgb", colour[0])))
            return ex_error_set(error, EX_ERROR_DATA, "%s.colour: \"r\", \"g\" or \"b\" is needed here", place->text);
        return result == EX_OK ? mark_colour(mesh, colour[0], bit, vertices, triangles, which, place, error) : result;
    }
    for (size_t i = 0; result == EX_OK && i < json_array_size(value); i++) {
        const exi_place at = exi_place_index(place, i);
        const char *name = json_string_value(json_array_get(value, i));
        result = name && name[0]
                     ? mark_group(mesh, name, bit, vertices, triangles, which, &at, error)
                     : ex_error_set(error, EX_ERROR_DATA, "%s: the name of a group is needed here", at.text);
    }
    if (result == EX_OK && json_array_size(value) == 0)
        return ex_error_set(error, EX_ERROR_DATA,
                            "%s: the name of a group of faces, a list of names, or {\"colour\": \"r\"} is needed here",
                            place->text);
    return result;
}

static ex_result read_entries(reading *r, const json_t *root) {
    static const char *const root_keys[] = {"binds", NULL}, *const keys[] = {"driven", "driver", NULL};
    const exi_place whole = {""}, list_place = exi_place_key(&whole, "binds");
    const json_t *list = json_object_get(root, "binds");
    if (!json_is_object(root))
        return ex_error_set(r->reader.error, EX_ERROR_DATA, "an object {\"binds\": […]} is needed here");
    ex_result result = exi_check_keys(&r->reader, root, &whole, root_keys);
    if (result == EX_OK && (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > ENTRIES))
        result = ex_error_set(r->reader.error, EX_ERROR_DATA, "%s: a list of 1 to %d binds is needed here",
                              list_place.text, ENTRIES);
    for (size_t i = 0; result == EX_OK && i < json_array_size(list); i++) {
        const exi_place place = exi_place_index(&list_place, i);
        const exi_place driven = exi_place_key(&place, "driven"), driver = exi_place_key(&place, "driver");
        const json_t *entry = json_array_get(list, i);
        if (!json_is_object(entry))
            return ex_error_set(r->reader.error, EX_ERROR_DATA,
                                "%s: an object {\"driven\": …, \"driver\": …} is needed here", place.text);
        result = exi_check_keys(&r->reader, entry, &place, keys);
        if (result == EX_OK)
            result = read_side(r, json_object_get(entry, "driven"), &driven, (uint64_t)1 << i, false);
        if (result == EX_OK)
            result = read_side(r, json_object_get(entry, "driver"), &driver, (uint64_t)1 << i, true);
    }
    return result;
}

/* ---- binds ---- */

/* Adds the triangles that any of these entries names. */
static bool add_bind(const reading *r, uint64_t entries, ex_drive_binds *binds) {
    int count = 0;
    for (int t = 0; t < r->triangle_count; t++)
        count += (r->triangles[t] & entries) != 0;
    uint32_t *list = exi_array_allocate((size_t)count, sizeof *list);
    if (!list)
        return false;
    binds->binds[binds->bind_count++] = (ex_bind){.triangle_count = count, .triangles = list};
    for (int t = 0, at = 0; t < r->triangle_count; t++)
        if ((r->triangles[t] & entries) != 0)
            list[at++] = (uint32_t)t;
    return true;
}

static ex_result sort_out(const reading *r, ex_drive_binds *binds, ex_error *error) {
    uint64_t sets[EX_BIND_MAX];
    const size_t count = (size_t)r->driven->vertex_count;
    binds->binds = exi_array_allocate(EX_BIND_MAX, sizeof *binds->binds);
    binds->vertex_binds = exi_array_allocate(count, sizeof *binds->vertex_binds);
    if (!binds->binds || !binds->vertex_binds)
        return ex_error_memory(error, "the binds", count * sizeof *binds->vertex_binds);
    for (size_t v = 0; v < count; v++) {
        int b = 0;
        if (r->vertices[v] == 0)
            continue;
        while (b < binds->bind_count && sets[b] != r->vertices[v])
            b++;
        if (b == EX_BIND_MAX)
            return ex_error_set(error, EX_ERROR_LIMIT, "the entries overlap in more than %d ways", EX_BIND_MAX);
        if (b == binds->bind_count) {
            sets[b] = r->vertices[v];
            if (!add_bind(r, sets[b], binds))
                return ex_error_memory(error, "the binds", (size_t)r->triangle_count * 4);
        }
        binds->vertex_binds[v] = (uint16_t)b;
    }
    for (size_t v = 0; v < count; v++)
        if (r->vertices[v] == 0)
            binds->vertex_binds[v] = (uint16_t)binds->bind_count;
    return EX_OK;
}

/* ---- the file ---- */

static ex_result parse(const char *path, json_t **root, ex_error *error) {
    char *text = NULL;
    size_t size = 0;
    json_error_t problem;
    ex_result result = ex_file_read(path, &text, &size, error);
    if (result != EX_OK)
        return result;
    const size_t mark = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    result = exi_json_load(text + mark, size - mark, root, &problem);
    if (result != EX_OK)
        result = result == EX_ERROR_MEMORY
                     ? ex_error_memory(error, "the binds", size)
                     : ex_error_set(error, EX_ERROR_FORMAT, "%s:%d:%d: %s", path, problem.line, problem.column,
                                    size == 0 ? "the file is empty" : problem.text);
    free(text);
    return result;
}

static ex_result read_binds(const json_t *root, const ex_mesh *driver, const ex_mesh *driven, ex_drive_binds *binds,
                            ex_error *error) {
    reading r = {.reader = {.error = error}, .driver = driver, .driven = driven};
    for (int f = 0; f < driver->face_count; f++)
        r.triangle_count += driver->face_offsets[f + 1] - driver->face_offsets[f] - 2;
    r.triangles = calloc((size_t)r.triangle_count + 1, sizeof *r.triangles);
    r.vertices = calloc((size_t)driven->vertex_count + 1, sizeof *r.vertices);
    ex_result result = r.triangles && r.vertices ? read_entries(&r, root)
                                                 : ex_error_memory(error, "the binds", 8 * (size_t)r.triangle_count);
    if (result == EX_OK)
        result = sort_out(&r, binds, error);
    free(r.triangles);
    free(r.vertices);
    return result;
}

ex_result ex_drive_read_binds(const char *path, const ex_mesh *driver, const ex_mesh *driven, ex_drive_binds **binds,
                              ex_error *error) {
    *binds = NULL;
    ex_error local = {0};
    error = error ? error : &local;
    json_t *root = NULL;
    ex_result result = parse(path, &root, error);
    if (result != EX_OK)
        return result;
    ex_drive_binds *made = calloc(1, sizeof *made);
    result = made ? ex_error_within(error, read_binds(root, driver, driven, made, error), "%s", path)
                  : ex_error_memory(error, "the binds", sizeof *made);
    json_decref(root);
    if (result == EX_OK)
        *binds = made;
    else
        ex_drive_free_binds(made);
    return result;
}

void ex_drive_free_binds(ex_drive_binds *binds) {
    if (!binds)
        return;
    for (int b = 0; b < binds->bind_count; b++)
        free((void *)binds->binds[b].triangles);
    free(binds->binds);
    free(binds->vertex_binds);
    free(binds);
}
