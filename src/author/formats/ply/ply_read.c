/*
 * Reads PLY: the meaning of properties, vertices, faces, and the cells of a range grid; ignores everything else.
 */
#include "author/base/array.h"
#include "author/formats/foreign.h"
#include "author/formats/ply/ply.h"

#include <exemplar/author/files.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Meaning of a vertex property. */
typedef enum role { X, Y, Z, NX, NY, NZ, RED, GREEN, BLUE, U, V, ROLES, UNUSED = ROLES } role;

typedef struct reader {
    exi_ply ply;
    ex_mesh *mesh;
    bool seen_vertices, seen_faces;
    double colour_scale; /* value of full colour for integers */
    float largest_colour;
    bool vertex_texcoords, vertex_normals;
    int *cells; /* of a range grid [cell_count]: vertices, or -1 */
    size_t cell_count;
    size_t corner_capacity, texcoord_capacity, corner_texcoord_capacity;
} reader;

static role find_role(const exi_ply_property *property) {
    static const struct {
        const char *name;
        role role;
    } names[] = {{"x", X},
                 {"y", Y},
                 {"z", Z},
                 {"nx", NX},
                 {"ny", NY},
                 {"nz", NZ},
                 {"red", RED},
                 {"green", GREEN},
                 {"blue", BLUE},
                 {"r", RED},
                 {"g", GREEN},
                 {"b", BLUE},
                 {"u", U},
                 {"v", V},
                 {"s", U},
                 {"t", V},
                 {"texture_u", U},
                 {"texture_v", V},
                 {"texture_s", U},
                 {"texture_t", V},
                 {"diffuse_red", RED},
                 {"diffuse_green", GREEN},
                 {"diffuse_blue", BLUE}};
    for (size_t i = 0; i < sizeof names / sizeof *names && property->count_type == EXI_PLY_NONE; i++)
        if (exi_ply_is(property->name, property->name_size, names[i].name))
            return names[i].role;
    return UNUSED;
}

/* ---- vertices ---- */

static bool allocate_vertices(reader *r, size_t count, const bool has[ROLES]) {
    ex_mesh *mesh = r->mesh;
    mesh->vertex_count = (int)count;
    mesh->positions = exi_array_allocate(3 * count, sizeof *mesh->positions);
    bool good = mesh->positions != NULL;
    if (has[RED] && has[GREEN] && has[BLUE]) {
        mesh->colours = exi_array_allocate(3 * count, sizeof *mesh->colours);
        good = good && mesh->colours;
    }
    if (has[NX] && has[NY] && has[NZ]) {
        r->vertex_normals = true;
        mesh->normal_count = (int)count;
        mesh->normals = exi_array_allocate(3 * count, sizeof *mesh->normals);
        good = good && mesh->normals;
    }
    if (has[U] && has[V]) {
        r->vertex_texcoords = true;
        mesh->texcoord_count = (int)count;
        mesh->texcoords = exi_array_allocate(2 * count, sizeof *mesh->texcoords);
        r->texcoord_capacity = count;
        good = good && mesh->texcoords;
    }
    return good;
}

static void store_vertex(reader *r, size_t v, const double values[ROLES]) {
    ex_mesh *mesh = r->mesh;
    for (size_t k = 0; k < 3; k++) {
        mesh->positions[3 * v + k] = values[X + k];
        if (r->vertex_normals)
            mesh->normals[3 * v + k] = values[NX + k];
        if (mesh->colours) {
            float colour = (float)(values[RED + k] / r->colour_scale);
            mesh->colours[3 * v + k] = colour < 0 ? 0 : colour;
            r->largest_colour = colour > r->largest_colour ? colour : r->largest_colour;
        }
    }
    for (size_t k = 0; r->vertex_texcoords && k < 2; k++)
        mesh->texcoords[2 * v + k] = values[U + k];
}

/* Reads the length of a list. Refuses one that is longer than the rest of the file before allocating memory for it. A
 * text can give any length, even one that no integer holds. */
static ex_result read_length(reader *r, const exi_ply_property *property, size_t *length) {
    double given;
    ex_result result = exi_ply_next(&r->ply, property->count_type, &given);
    if (result != EX_OK)
        return result;
    if (given < 0)
        return exi_ply_fail(&r->ply, EX_ERROR_DATA, "a list has the length %.0f", given);
    const size_t least = r->ply.header.encoding == EX_PLY_ASCII ? 1 : exi_ply_type_size(property->type);
    if (given > (double)(r->ply.end - r->ply.at) / (double)least)
        return exi_ply_fail(&r->ply, EX_ERROR_FORMAT, "the file ends too early: copy or export it again");
    *length = (size_t)given;
    return EX_OK;
}

static ex_result skip_list(reader *r, const exi_ply_property *property) {
    size_t length = 0;
    ex_result result = read_length(r, property, &length);
    return result == EX_OK ? exi_ply_skip(&r->ply, property->type, length) : result;
}

static ex_result read_vertices(reader *r, const exi_ply_element *element) {
    exi_ply *ply = &r->ply;
    exi_ply_property *properties = ply->header.properties + element->first_property;
    bool has[ROLES + 1] = {false};
    if (r->seen_vertices)
        return exi_ply_fail(ply, EX_ERROR_DATA, "has two lists of vertices");
    r->seen_vertices = true;
    r->colour_scale = 1;
    for (int i = 0; i < element->property_count; i++) {
        role found = find_role(&properties[i]);
        properties[i].role = (int)found;
        has[found] = true;
        if (found >= RED && found <= BLUE && properties[i].type < EXI_PLY_FLOAT32)
            r->colour_scale = exi_ply_type_size(properties[i].type) == 2 ? 65535 : 255;
    }
    if (!has[X] || !has[Y] || !has[Z])
        return exi_ply_fail(ply, EX_ERROR_DATA, "the vertices lack x, y or z");
    if (element->count > INT_MAX / 4)
        return exi_ply_fail(ply, EX_ERROR_LIMIT, "a mesh can have at most %d vertices", INT_MAX / 4);
    if (!allocate_vertices(r, element->count, has))
        return exi_ply_no_memory(ply);
    for (size_t v = 0; v < element->count; v++) {
        double values[ROLES + 1] = {0};
        for (int i = 0; i < element->property_count; i++) {
            ex_result result = properties[i].count_type != EXI_PLY_NONE
                                   ? skip_list(r, &properties[i])
                                   : exi_ply_next(ply, properties[i].type, &values[properties[i].role]);
            if (result != EX_OK)
                return result;
        }
        store_vertex(r, v, values);
    }
    /* Some programs write byte values as floats. */
    for (size_t i = 0; r->mesh->colours && r->largest_colour > 1 && i < 3 * element->count; i++)
        r->mesh->colours[i] = r->mesh->colours[i] < 255 ? r->mesh->colours[i] / 255.0f : 1.0f;
    return EX_OK;
}

/* ---- faces ---- */

typedef enum face_role { CORNERS, TEXCOORDS, OTHER } face_role;

static face_role find_face_role(const exi_ply_property *property) {
    if (property->count_type == EXI_PLY_NONE)
        return OTHER;
    if (exi_ply_is(property->name, property->name_size, "vertex_indices") ||
        exi_ply_is(property->name, property->name_size, "vertex_index"))
        return CORNERS;
    return exi_ply_is(property->name, property->name_size, "texcoord") ? TEXCOORDS : OTHER;
}

/* Reserves room for `more` items of `size` bytes after `used`. */
static ex_result reserve(reader *r, void **items, size_t *capacity, size_t used, size_t more, size_t size) {
    if (used + more > INT_MAX / 4)
        return exi_ply_fail(&r->ply, EX_ERROR_LIMIT, "a mesh can have at most %d corners", INT_MAX / 4);
    void *moved = exi_array_grow(*items, capacity, used + more, size);
    if (!moved)
        return exi_ply_no_memory(&r->ply);
    *items = moved;
    return EX_OK;
}

static ex_result read_corners(reader *r, const exi_ply_property *property, int face) {
    ex_mesh *mesh = r->mesh;
    double value;
    size_t length = 0;
    void *items = mesh->corners;
    ex_result result = read_length(r, property, &length);
    if (result != EX_OK)
        return result;
    if (length < 3)
        return exi_ply_fail(&r->ply, EX_ERROR_DATA, "face %d (counting from 0) has %zu corners; it needs at least 3",
                            face, length);
    int start = mesh->face_offsets[face];
    result = reserve(r, &items, &r->corner_capacity, (size_t)start, length, sizeof *mesh->corners);
    mesh->corners = items;
    for (int i = 0; i < (int)length && result == EX_OK; i++) {
        result = exi_ply_next(&r->ply, property->type, &value);
        if (result != EX_OK)
            return result;
        if (!(value >= 0 && value < mesh->vertex_count))
            return exi_ply_fail(&r->ply, EX_ERROR_DATA,
                                "face %d (counting from 0) refers to vertex %.0f, but there are %d", face, value,
                                mesh->vertex_count);
        mesh->corners[start + i] = (int)value;
    }
    mesh->corner_count = start + (int)length;
    return result;
}

/* Reads two numbers for each corner. A list of another length, which programs write for none, leaves the face without
 * texture coordinates. */
static ex_result read_face_texcoords(reader *r, const exi_ply_property *property, int *first, int *count) {
    ex_mesh *mesh = r->mesh;
    size_t length = 0;
    void *items = mesh->texcoords;
    ex_result result = read_length(r, property, &length);
    if (result != EX_OK)
        return result;
    *first = mesh->texcoord_count;
    result = reserve(r, &items, &r->texcoord_capacity, (size_t)mesh->texcoord_count, length / 2 + 1,
                     2 * sizeof *mesh->texcoords);
    mesh->texcoords = items;
    *count = result == EX_OK ? (int)(length / 2) : 0;
    for (int i = 0; result == EX_OK && i < (int)length; i++) {
        double ignored, *place = i < 2 * *count ? &mesh->texcoords[2 * (size_t)*first + (size_t)i] : &ignored;
        result = exi_ply_next(&r->ply, property->type, place);
    }
    if (result == EX_OK)
        mesh->texcoord_count += *count;
    return result;
}

/* Stores the corners of a face that has texture coordinates, or -1 for each. */
static ex_result store_face_texcoords(reader *r, int face, int first, int count) {
    ex_mesh *mesh = r->mesh;
    int start = mesh->face_offsets[face], corners = mesh->corner_count - start;
    int *moved =
        exi_array_grow(mesh->corner_texcoords, &r->corner_texcoord_capacity, (size_t)mesh->corner_count, sizeof *moved);
    if (!moved)
        return exi_ply_no_memory(&r->ply);
    mesh->corner_texcoords = moved;
    for (int i = 0; i < corners; i++)
        moved[start + i] = count == corners ? first + i : -1;
    if (count != corners)
        mesh->texcoord_count = first;
    return EX_OK;
}

static ex_result read_face(reader *r, const exi_ply_element *element, int face, bool texcoords) {
    const exi_ply_property *properties = r->ply.header.properties + element->first_property;
    int first = r->mesh->texcoord_count, count = 0;
    ex_result result = EX_OK;
    for (int i = 0; i < element->property_count && result == EX_OK; i++) {
        face_role found = (face_role)properties[i].role;
        if (found == CORNERS)
            result = read_corners(r, &properties[i], face);
        else if (found == TEXCOORDS && texcoords)
            result = read_face_texcoords(r, &properties[i], &first, &count);
        else if (properties[i].count_type != EXI_PLY_NONE)
            result = skip_list(r, &properties[i]);
        else
            result = exi_ply_skip(&r->ply, properties[i].type, 1);
    }
    r->mesh->face_offsets[face + 1] = r->mesh->corner_count;
    return result == EX_OK && texcoords ? store_face_texcoords(r, face, first, count) : result;
}

static ex_result read_faces(reader *r, const exi_ply_element *element) {
    exi_ply *ply = &r->ply;
    ex_mesh *mesh = r->mesh;
    int corner_lists = 0, texcoord_lists = 0;
    for (int i = 0; i < element->property_count; i++) {
        exi_ply_property *property = &ply->header.properties[element->first_property + i];
        face_role found = find_face_role(property);
        property->role = (int)found;
        corner_lists += found == CORNERS;
        texcoord_lists += found == TEXCOORDS;
    }
    if (r->seen_faces || !r->seen_vertices)
        return exi_ply_fail(ply, EX_ERROR_DATA, "has faces twice, or before its vertices");
    if (corner_lists != 1 && element->count > 0)
        return exi_ply_fail(ply, EX_ERROR_DATA, "the faces have no list called vertex_indices, or several");
    if (element->count > INT_MAX / 4)
        return exi_ply_fail(ply, EX_ERROR_LIMIT, "a mesh can have at most %d faces", INT_MAX / 4);
    r->seen_faces = true;
    free(mesh->face_offsets);
    mesh->face_offsets = exi_array_allocate(element->count + 1, sizeof *mesh->face_offsets);
    if (!mesh->face_offsets)
        return exi_ply_no_memory(ply);
    mesh->face_offsets[0] = 0;
    ex_result result = EX_OK;
    bool texcoords = texcoord_lists == 1 && !r->vertex_texcoords;
    for (size_t f = 0; f < element->count && result == EX_OK; f++) {
        result = read_face(r, element, (int)f, texcoords);
        mesh->face_count = (int)f + 1;
    }
    return result;
}

/* ---- range grids ---- */

static ex_result read_cell(reader *r, const exi_ply_property *property, size_t cell) {
    size_t length = 0;
    double value;
    ex_result result = read_length(r, property, &length);
    if (result != EX_OK)
        return result;
    if (length > 1)
        return exi_ply_fail(&r->ply, EX_ERROR_DATA,
                            "cell %zu of the range grid (counting from 0) has %zu vertices; it can have at most one",
                            cell, length);
    r->cells[cell] = -1;
    if (length == 0)
        return EX_OK;
    result = exi_ply_next(&r->ply, property->type, &value);
    if (result != EX_OK)
        return result;
    if (!(value >= 0 && value < INT_MAX))
        return exi_ply_fail(&r->ply, EX_ERROR_DATA,
                            "cell %zu of the range grid (counting from 0) refers to vertex %.0f, which does not exist",
                            cell, value);
    r->cells[cell] = (int)value;
    return EX_OK;
}

static ex_result read_grid(reader *r, const exi_ply_element *element) {
    const exi_ply_property *properties = r->ply.header.properties + element->first_property;
    int lists = 0;
    for (int i = 0; i < element->property_count; i++)
        lists += find_face_role(&properties[i]) == CORNERS;
    if (lists != 1 || r->cells)
        return exi_ply_fail(&r->ply, EX_ERROR_DATA,
                            "the range grid has no list called vertex_indices, or several, or appears twice");
    r->cells = exi_array_allocate(element->count, sizeof *r->cells);
    if (!r->cells)
        return exi_ply_no_memory(&r->ply);
    r->cell_count = element->count;
    ex_result result = EX_OK;
    for (size_t cell = 0; cell < element->count && result == EX_OK; cell++)
        for (int i = 0; i < element->property_count && result == EX_OK; i++)
            result = find_face_role(&properties[i]) == CORNERS  ? read_cell(r, &properties[i], cell)
                     : properties[i].count_type != EXI_PLY_NONE ? skip_list(r, &properties[i])
                                                                : exi_ply_skip(&r->ply, properties[i].type, 1);
    return result;
}

/* ---- the file ---- */

static ex_result skip_element(reader *r, const exi_ply_element *element) {
    ex_result result = EX_OK;
    /* Rows without properties take no bytes, and could be any number. */
    for (size_t row = 0; element->property_count > 0 && row < element->count && result == EX_OK; row++)
        for (int i = 0; i < element->property_count && result == EX_OK; i++) {
            const exi_ply_property *property = &r->ply.header.properties[element->first_property + i];
            result = property->count_type != EXI_PLY_NONE ? skip_list(r, property)
                                                          : exi_ply_skip(&r->ply, property->type, 1);
        }
    return result;
}

static ex_result read_elements(reader *r) {
    ex_result result = EX_OK;
    for (int i = 0; i < r->ply.header.element_count && result == EX_OK; i++) {
        const exi_ply_element *element = &r->ply.header.elements[i];
        bool vertices = exi_ply_is(element->name, element->name_size, "vertex");
        bool faces = exi_ply_is(element->name, element->name_size, "face");
        if (exi_ply_least_size(&r->ply, element) > (size_t)(r->ply.end - r->ply.at))
            return exi_ply_fail(&r->ply, EX_ERROR_FORMAT, "the file ends too early: the header states %zu of '%.*s'",
                                element->count, (int)(element->name_size < 40 ? element->name_size : 40),
                                element->name);
        bool cells = exi_ply_is(element->name, element->name_size, "range_grid");
        result = vertices ? read_vertices(r, element)
                 : faces  ? read_faces(r, element)
                 : cells  ? read_grid(r, element)
                          : skip_element(r, element);
    }
    return result;
}

/* Texture coordinates and normals of vertices become those of their corners. */
static ex_result finish(reader *r) {
    ex_mesh *mesh = r->mesh;
    if (!r->seen_vertices || mesh->vertex_count == 0)
        return ex_error_set(r->ply.error, EX_ERROR_FORMAT, "%s has no vertices", r->ply.name);
    if (r->cells && mesh->face_count == 0) {
        ex_result result = exi_ply_grid_faces(&r->ply, r->cells, r->cell_count, mesh);
        if (result != EX_OK)
            return result;
    }
    if (!mesh->face_offsets) {
        mesh->face_offsets = exi_array_allocate(1, sizeof *mesh->face_offsets);
        if (!mesh->face_offsets)
            return exi_ply_no_memory(&r->ply);
        mesh->face_offsets[0] = 0;
    }
    size_t corners = (size_t)mesh->corner_count;
    if (r->vertex_texcoords) {
        mesh->corner_texcoords = exi_array_copy(mesh->corners, corners, sizeof *mesh->corners);
        if (!mesh->corner_texcoords)
            return exi_ply_no_memory(&r->ply);
    }
    if (r->vertex_normals) {
        mesh->corner_normals = exi_array_copy(mesh->corners, corners, sizeof *mesh->corners);
        if (!mesh->corner_normals)
            return exi_ply_no_memory(&r->ply);
    }
    return EX_OK;
}

ex_result ex_ply_parse(const void *bytes, size_t size, const char *name, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    bytes = bytes ? bytes : "";
    const unsigned char *start = bytes;
    reader r = {.ply = {.name = name, .at = start, .end = start + size, .error = error}};
    r.mesh = ex_mesh_create();
    ex_result result = r.mesh ? exi_ply_read_header(&r.ply) : exi_ply_no_memory(&r.ply);
    if (result == EX_OK)
        result = read_elements(&r);
    if (result == EX_OK)
        result = finish(&r);
    free(r.cells);
    free(r.ply.header.elements);
    free(r.ply.header.properties);
    if (result == EX_OK)
        *mesh = r.mesh;
    else
        ex_mesh_destroy(r.mesh);
    return exi_foreign_explain(error, result, EXI_CONTENT_MESH, name, ".ply", bytes, size);
}

ex_result ex_ply_read(const char *path, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    char *bytes;
    size_t size;
    ex_result result = ex_file_read(path, &bytes, &size, error);
    if (result != EX_OK)
        return result;
    result = ex_ply_parse(bytes, size, path, mesh, error);
    free(bytes);
    return result;
}
