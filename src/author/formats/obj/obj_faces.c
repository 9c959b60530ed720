/*
 * Faces of an OBJ file: `f v…`, `f v/t…`, `f v//n…`, `f v/t/n…`, counting from 1, or backwards from -1.
 *
 * Vertices may come after the faces that use them, so positive numbers are checked at the end of the file; negative
 * ones are resolved at once.
 */
#include "author/base/array.h"
#include "author/formats/obj/obj_reader.h"

#include <exemplar/author/base.h>

#include <limits.h>

/* Appends to an array that is created at the first item that is not -1. */
static ex_result push_optional(exi_obj_reader *reader, int **items, size_t *capacity, int count, int item) {
    if (!*items && item < 0)
        return EX_OK;
    bool first = !*items;
    int *moved = exi_array_grow(*items, capacity, (size_t)count + 1, sizeof **items);
    if (!moved)
        return exi_obj_no_memory(&reader->scan);
    for (int i = 0; first && i < count; i++)
        moved[i] = -1;
    moved[count] = item;
    *items = moved;
    return EX_OK;
}

static ex_result push_corner(exi_obj_reader *reader, int vertex, int texcoord, int normal) {
    ex_mesh *mesh = reader->mesh;
    int count = mesh->corner_count;
    ex_result result = exi_obj_reserve(reader, count, "corners");
    if (result != EX_OK)
        return result;
    int *moved = exi_array_grow(mesh->corners, &reader->corner_capacity, (size_t)count + 1, sizeof *moved);
    if (!moved)
        return exi_obj_no_memory(&reader->scan);
    mesh->corners = moved;
    moved[count] = vertex;
    result = push_optional(reader, &mesh->corner_texcoords, &reader->corner_texcoord_capacity, count, texcoord);
    if (result == EX_OK)
        result = push_optional(reader, &mesh->corner_normals, &reader->corner_normal_capacity, count, normal);
    if (result == EX_OK)
        mesh->corner_count = count + 1;
    return result;
}

/* Converts a number from the file to an index from 0. `count` is the number of items so far. */
static ex_result settle_index(const exi_obj_reader *reader, int number, int count, const char *what, int *index) {
    if (number == 0)
        return exi_obj_fail(&reader->scan, reader->scan.line, EX_ERROR_DATA,
                            "the face refers to %s 0, but OBJ files count from 1", what);
    if (number < 0 && number < -count)
        return exi_obj_fail(&reader->scan, reader->scan.line, EX_ERROR_DATA,
                            "the face refers to %s %d, but there are only %d so far", what, number, count);
    *index = number < 0 ? count + number : number - 1;
    return EX_OK;
}

/* Reads the number after a '/', if any; -1 if there is none. */
static ex_result read_attribute(exi_obj_reader *reader, const char *word, int count, const char *what, int *index) {
    exi_obj_scan *scan = &reader->scan;
    *index = -1;
    if (exi_obj_at_word_end(scan) || *scan->at != '/')
        return EX_OK;
    scan->at++;
    if (exi_obj_at_word_end(scan) || *scan->at == '/')
        return EX_OK;
    int number;
    if (!ex_parse_int(&scan->at, scan->end, &number))
        return exi_obj_unreadable(scan, word, "a corner");
    return settle_index(reader, number, count, what, index);
}

/* Reads one corner. *style tells its attributes, which must be those of the corners before it. */
static ex_result read_corner(exi_obj_reader *reader, int *style) {
    exi_obj_scan *scan = &reader->scan;
    const ex_mesh *mesh = reader->mesh;
    const char *word = scan->at;
    int number = 0, vertex = -1, texcoord = -1, normal = -1;
    if (!ex_parse_int(&scan->at, scan->end, &number))
        return exi_obj_unreadable(scan, word, "a corner");
    ex_result result = settle_index(reader, number, mesh->vertex_count, "vertex", &vertex);
    if (result == EX_OK)
        result = read_attribute(reader, word, mesh->texcoord_count, "texture coordinate", &texcoord);
    if (result == EX_OK)
        result = read_attribute(reader, word, mesh->normal_count, "normal", &normal);
    if (result != EX_OK)
        return result;
    if (!exi_obj_at_word_end(scan))
        return exi_obj_unreadable(scan, word, "a corner");
    int this_style = (texcoord >= 0 ? 1 : 0) + (normal >= 0 ? 2 : 0);
    if (*style >= 0 && this_style != *style)
        return exi_obj_fail(scan, scan->line, EX_ERROR_FORMAT,
                            "some corners of the face have texture coordinates or normals and others do not");
    *style = this_style;
    return push_corner(reader, vertex, texcoord, normal);
}

static ex_result check_corners(const exi_obj_reader *reader, int line, int first) {
    const int count = reader->mesh->corner_count - first;
    if (count < 3)
        return exi_obj_fail(&reader->scan, line, EX_ERROR_DATA, "the face has %d corner%s; it needs at least 3", count,
                            count == 1 ? "" : "s");
    return EX_OK;
}

/* Stores the face's group and material, its end and its line. */
static ex_result push_face(exi_obj_reader *reader, int line) {
    ex_mesh *mesh = reader->mesh;
    int count = mesh->face_count, group, material;
    ex_result result = exi_obj_reserve(reader, count, "faces");
    if (result == EX_OK)
        result = exi_obj_names_use(&reader->groups, &reader->scan, &mesh->group_names, &mesh->group_count, &group);
    if (result == EX_OK)
        result = push_optional(reader, &mesh->face_groups, &reader->face_group_capacity, count, group);
    if (result == EX_OK)
        result = exi_obj_names_use(&reader->materials, &reader->scan, &mesh->material_names, &mesh->material_count,
                                   &material);
    if (result == EX_OK)
        result = push_optional(reader, &mesh->face_materials, &reader->face_material_capacity, count, material);
    if (result != EX_OK)
        return result;
    int *offsets = exi_array_grow(mesh->face_offsets, &reader->offset_capacity, (size_t)count + 2, sizeof *offsets);
    if (!offsets)
        return exi_obj_no_memory(&reader->scan);
    mesh->face_offsets = offsets;
    int *lines = exi_array_grow(reader->face_lines, &reader->line_capacity, (size_t)count + 1, sizeof *lines);
    if (!lines)
        return exi_obj_no_memory(&reader->scan);
    reader->face_lines = lines;
    offsets[count + 1] = mesh->corner_count;
    lines[count] = line;
    mesh->face_count = count + 1;
    reader->group_waits = false;
    return EX_OK;
}

ex_result exi_obj_read_face(exi_obj_reader *reader) {
    int line = reader->scan.line, first = reader->mesh->corner_count, style = -1;
    while (exi_obj_next_word(&reader->scan)) {
        ex_result result = read_corner(reader, &style);
        if (result != EX_OK)
            return result;
    }
    ex_result result = check_corners(reader, line, first);
    return result == EX_OK ? push_face(reader, line) : result;
}

/* `indices` may be NULL, and hold -1. */
static ex_result check_range(const exi_obj_reader *reader, int face, const int *indices, int count, const char *what,
                             const char *whats) {
    const ex_mesh *mesh = reader->mesh;
    for (int c = mesh->face_offsets[face]; indices && c < mesh->face_offsets[face + 1]; c++)
        if (indices[c] >= count)
            return exi_obj_fail(&reader->scan, reader->face_lines[face], EX_ERROR_DATA,
                                "the face refers to %s %lld, but the file has %d %s", what, (long long)indices[c] + 1,
                                count, whats);
    return EX_OK;
}

ex_result exi_obj_check_faces(const exi_obj_reader *reader) {
    const ex_mesh *mesh = reader->mesh;
    ex_result result = EX_OK;
    for (int f = 0; f < mesh->face_count && result == EX_OK; f++) {
        result = check_range(reader, f, mesh->corners, mesh->vertex_count, "vertex", "vertices");
        if (result == EX_OK)
            result = check_range(reader, f, mesh->corner_texcoords, mesh->texcoord_count, "texture coordinate",
                                 "texture coordinates");
        if (result == EX_OK)
            result = check_range(reader, f, mesh->corner_normals, mesh->normal_count, "normal", "normals");
    }
    return result;
}
