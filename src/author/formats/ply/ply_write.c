/*
 * Writes PLY, in the narrowest types that ply_read.c reads back unchanged.
 */
#include "author/base/array.h"
#include "author/formats/ply/ply.h"
#include "author/mesh/mesh_check.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct sheet {
    ex_file_writer *writer;
    const ex_mesh *mesh;
    ex_ply_encoding encoding;
    exi_ply_type position, normal, texcoord, colour, length; /* types; EXI_PLY_NONE if absent */
    bool face_texcoords;
    int *vertex_normals, *vertex_texcoords; /* [vertex_count] index of a vertex's value, or NULL */
    bool line_begun;
} sheet;

/* ---- attributes and their types ---- */

static exi_ply_type narrowest(const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        if ((double)(float)numbers[i] != numbers[i])
            return EXI_PLY_FLOAT64;
    return EXI_PLY_FLOAT32;
}

static exi_ply_type narrowest_colour(const float *colours, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float byte = rintf(colours[i] * 255.0f);
        if (!(byte >= 0 && byte <= 255) || (float)((double)byte / 255.0) != colours[i])
            return EXI_PLY_FLOAT32;
    }
    return EXI_PLY_UINT8;
}

/* Finds the value of an attribute at each vertex. NULL if corners of one vertex differ, some have none, or memory runs
 * out, which sets *failed. Vertices without a face take the value of their own index, or the first. */
static int *per_vertex(const ex_mesh *mesh, const int *corner_values, int value_count, bool *failed) {
    if (!corner_values || value_count == 0)
        return NULL;
    int *values = exi_array_allocate((size_t)mesh->vertex_count, sizeof *values);
    *failed = *failed || !values;
    for (int v = 0; values && v < mesh->vertex_count; v++)
        values[v] = -1;
    for (int c = 0; values && c < mesh->corner_count; c++) {
        int *value = &values[mesh->corners[c]];
        if (corner_values[c] < 0 || (*value >= 0 && *value != corner_values[c])) {
            free(values);
            return NULL;
        }
        *value = corner_values[c];
    }
    for (int v = 0; values && v < mesh->vertex_count; v++)
        if (values[v] < 0)
            values[v] = v < value_count ? v : 0;
    return values;
}

static bool any_texcoord(const ex_mesh *mesh) {
    for (int c = 0; mesh->corner_texcoords && c < mesh->corner_count; c++)
        if (mesh->corner_texcoords[c] >= 0)
            return true;
    return false;
}

static bool plan(sheet *s) {
    const ex_mesh *mesh = s->mesh;
    bool failed = false;
    s->position = narrowest(mesh->positions, 3 * (size_t)mesh->vertex_count);
    s->normal = s->texcoord = s->colour = EXI_PLY_NONE;
    s->vertex_normals = per_vertex(mesh, mesh->corner_normals, mesh->normal_count, &failed);
    s->vertex_texcoords = per_vertex(mesh, mesh->corner_texcoords, mesh->texcoord_count, &failed);
    if (s->vertex_normals)
        s->normal = narrowest(mesh->normals, 3 * (size_t)mesh->normal_count);
    s->face_texcoords = !s->vertex_texcoords && any_texcoord(mesh);
    if (s->vertex_texcoords || s->face_texcoords)
        s->texcoord = narrowest(mesh->texcoords, 2 * (size_t)mesh->texcoord_count);
    if (mesh->colours)
        s->colour = narrowest_colour(mesh->colours, 3 * (size_t)mesh->vertex_count);
    int longest = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        int length = mesh->face_offsets[f + 1] - mesh->face_offsets[f];
        longest = length > longest ? length : longest;
    }
    s->length = longest * (s->face_texcoords ? 2 : 1) < 256 ? EXI_PLY_UINT8 : EXI_PLY_INT32;
    return !failed;
}

/* ---- numbers ---- */

static void put(sheet *s, exi_ply_type type, double value) {
    if (s->encoding == EX_PLY_ASCII) {
        char text[33] = " ";
        int size =
            type == EXI_PLY_FLOAT32 ? ex_format_float(text + 1, (float)value) : ex_format_double(text + 1, value);
        ex_file_write(s->writer, s->line_begun ? text : text + 1, (size_t)size + s->line_begun);
        s->line_begun = true;
        return;
    }
    uint64_t bits = 0;
    uint32_t low;
    float single = (float)value;
    size_t size = exi_ply_type_size(type);
    if (type == EXI_PLY_FLOAT64)
        memcpy(&bits, &value, sizeof bits);
    else if (type == EXI_PLY_FLOAT32) {
        memcpy(&low, &single, sizeof low);
        bits = low;
    } else
        bits = (uint64_t)(int64_t)value;
    unsigned char bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[s->encoding == EX_PLY_BIG_ENDIAN ? size - 1 - i : i] = (unsigned char)(bits >> (8 * i) & 0xFF);
    ex_file_write(s->writer, bytes, size);
}

static void end_row(sheet *s) {
    if (s->encoding == EX_PLY_ASCII)
        ex_file_write(s->writer, "\n", 1);
    s->line_begun = false;
}

/* ---- the file ---- */

static void write_header(sheet *s) {
    static const char *const encodings[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    static const char *const types[] = {"char", "uchar", "short", "ushort", "int", "uint", "float", "double"};
    const struct {
        exi_ply_type type;
        const char *names[4];
    } rows[] = {{s->position, {"x", "y", "z"}},
                {s->normal, {"nx", "ny", "nz"}},
                {s->vertex_texcoords ? s->texcoord : EXI_PLY_NONE, {"s", "t"}},
                {s->colour, {"red", "green", "blue"}}};
    ex_file_printf(s->writer, "ply\nformat %s 1.0\nelement vertex %d\n", encodings[s->encoding], s->mesh->vertex_count);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; rows[i].type != EXI_PLY_NONE && rows[i].names[k]; k++)
            ex_file_printf(s->writer, "property %s %s\n", types[rows[i].type], rows[i].names[k]);
    ex_file_printf(s->writer, "element face %d\nproperty list %s int vertex_indices\n", s->mesh->face_count,
                   types[s->length]);
    if (s->face_texcoords)
        ex_file_printf(s->writer, "property list %s %s texcoord\n", types[s->length], types[s->texcoord]);
    ex_file_printf(s->writer, "end_header\n");
}

static void write_vertices(sheet *s) {
    const ex_mesh *mesh = s->mesh;
    for (size_t v = 0; v < (size_t)mesh->vertex_count; v++) {
        for (size_t k = 0; k < 3; k++)
            put(s, s->position, mesh->positions[3 * v + k]);
        for (size_t k = 0; s->vertex_normals && k < 3; k++)
            put(s, s->normal, mesh->normals[3 * (size_t)s->vertex_normals[v] + k]);
        for (size_t k = 0; s->vertex_texcoords && k < 2; k++)
            put(s, s->texcoord, mesh->texcoords[2 * (size_t)s->vertex_texcoords[v] + k]);
        for (size_t k = 0; mesh->colours && k < 3; k++) {
            double colour = (double)mesh->colours[3 * v + k];
            put(s, s->colour, s->colour == EXI_PLY_UINT8 ? rint(colour * 255) : colour);
        }
        end_row(s);
    }
}

static void write_faces(sheet *s) {
    const ex_mesh *mesh = s->mesh;
    for (int f = 0; f < mesh->face_count; f++) {
        int begin = mesh->face_offsets[f], end = mesh->face_offsets[f + 1];
        bool texcoords = s->face_texcoords;
        put(s, s->length, end - begin);
        for (int c = begin; c < end; c++) {
            put(s, EXI_PLY_INT32, mesh->corners[c]);
            texcoords = texcoords && mesh->corner_texcoords[c] >= 0;
        }
        if (s->face_texcoords)
            put(s, s->length, texcoords ? 2 * (end - begin) : 0);
        for (int c = begin; texcoords && c < end; c++)
            for (size_t k = 0; k < 2; k++)
                put(s, s->texcoord, mesh->texcoords[2 * (size_t)mesh->corner_texcoords[c] + k]);
        end_row(s);
    }
}

static bool all_finite(const double *numbers, int count, size_t width) {
    for (size_t i = 0; i < (size_t)count * width; i++)
        if (!isfinite(numbers[i]))
            return false;
    return true;
}

static ex_result check_mesh(const char *path, const ex_mesh *mesh, ex_error *error) {
    ex_result result = exi_mesh_check_writable(path, mesh, error);
    if (result != EX_OK)
        return result;
    bool colours = true;
    for (size_t i = 0; mesh->colours && i < 3 * (size_t)mesh->vertex_count; i++)
        colours = colours && isfinite(mesh->colours[i]);
    if (!colours || !all_finite(mesh->positions, mesh->vertex_count, 3) ||
        !all_finite(mesh->normals, mesh->normal_count, 3) || !all_finite(mesh->texcoords, mesh->texcoord_count, 2))
        return ex_error_set(error, EX_ERROR_DATA, "cannot write '%s': the mesh holds a number that is not finite",
                            path);
    return EX_OK;
}

ex_result ex_ply_write(const char *path, const ex_mesh *mesh, ex_ply_encoding encoding, ex_error *error) {
    if ((unsigned)encoding > EX_PLY_BIG_ENDIAN)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "cannot write '%s': PLY has no encoding %d", path, (int)encoding);
    ex_result result = check_mesh(path, mesh, error);
    if (result != EX_OK)
        return result;
    ex_file_writer writer;
    sheet s = {.writer = &writer, .mesh = mesh, .encoding = encoding};
    result = plan(&s) ? ex_file_open(&writer, path, error) : ex_error_memory(error, "the file", 0);
    if (result == EX_OK) {
        write_header(&s);
        write_vertices(&s);
        write_faces(&s);
        result = ex_file_commit(&writer, error);
    }
    free(s.vertex_normals);
    free(s.vertex_texcoords);
    return result;
}
