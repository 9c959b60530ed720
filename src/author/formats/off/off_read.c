/*
 * Reads OFF, the object file format of Geomview (section "OFF Files" of its manual), as text and as big-endian
 * binary. Text is read as programs write it rather than as the manual says:
 *
 *   [ST][C][N]OFF [BINARY]     may be missing, or run into the counts ("OFF8 6 12")
 *   vertices faces [edges]     the edges are not read
 *   x y z [nx ny nz] [r g b [a]] [u v]         once for each vertex
 *   n v1 … vn [colour]                         once for each face, counting from 0; its colour is not read
 *
 * A line is a vertex or a face, which may go on in further lines until it has its numbers. Colours are accepted without
 * the letter C too. Faces of one or two corners are points and lines of Geomview, and skipped.
 */
#include "author/base/array.h"
#include "author/formats/foreign.h"
#include "author/formats/obj/obj_scan.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that may follow the position and normal of a vertex: a colour and texture coordinates, and some to spare. */
enum { MOST_REST = 8 };

typedef struct reader {
    exi_obj_scan scan; /* of a binary file, only its header has lines */
    ex_mesh *mesh;
    bool binary, normals, colours, texcoords; /* by the header */
    int vertex_count, face_count;             /* by the header */
    float largest_colour;
    bool odd_colour; /* a number that no colour has */
    size_t corner_capacity;
} reader;

/* Reports an error with the file, and the line if it is text. */
EX_PRINTF(3, 4) static ex_result fail(const reader *r, ex_result result, const char *format, ...) {
    char sentence[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (r->binary)
        return ex_error_set(r->scan.error, result, "%s: %s", r->scan.name, sentence);
    return exi_obj_fail(&r->scan, r->scan.line, result, "%s", sentence);
}

static ex_result no_memory(const reader *r) {
    return fail(r, EX_ERROR_MEMORY, "not enough memory for the mesh");
}

static ex_result ends_early(const reader *r) {
    return fail(r, EX_ERROR_FORMAT, "the file ends too early: copy or export it again");
}

/* ---- numbers ---- */

/* Moves to the next word, on this line or below. False at the end of the file. */
static bool find_word(reader *r) {
    while (!exi_obj_next_word(&r->scan)) {
        if (r->scan.at == r->scan.end || r->scan.line == INT_MAX)
            return false;
        exi_obj_next_line(&r->scan);
    }
    return true;
}

/* Reads four bytes of binary data, the highest first. */
static ex_result read_bits(reader *r, uint32_t *bits) {
    const unsigned char *at = (const unsigned char *)r->scan.at;
    if (r->scan.end - r->scan.at < 4)
        return ends_early(r);
    *bits = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    r->scan.at += 4;
    return EX_OK;
}

static ex_result read_double(reader *r, const char *what, double *value) {
    uint32_t bits = 0;
    float number;
    if (!r->binary)
        return find_word(r) ? exi_obj_read_double(&r->scan, what, value) : ends_early(r);
    ex_result result = read_bits(r, &bits);
    if (result != EX_OK)
        return result;
    memcpy(&number, &bits, sizeof number);
    *value = (double)number;
    return isfinite(number) ? EX_OK : fail(r, EX_ERROR_DATA, "holds a number that is not finite");
}

static ex_result read_int(reader *r, const char *what, int *value) {
    uint32_t bits = 0;
    if (!r->binary)
        return find_word(r) ? exi_obj_read_int(&r->scan, what, value) : ends_early(r);
    ex_result result = read_bits(r, &bits);
    if (result == EX_OK)
        memcpy(value, &bits, sizeof *value);
    return result;
}

/* ---- the header ---- */

/* Moves past the word if it begins here, in letters of any case. */
static bool take(reader *r, const char *word) {
    const size_t size = strlen(word);
    if ((size_t)(r->scan.end - r->scan.at) < size)
        return false;
    for (size_t i = 0; i < size; i++) {
        const char c = r->scan.at[i];
        if ((c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c) != word[i])
            return false;
    }
    r->scan.at += size;
    return true;
}

/* Reads the word OFF with the letters before it. A file that begins with a number has none. */
static ex_result read_word(reader *r) {
    const char *start = r->scan.at;
    r->texcoords = take(r, "ST");
    r->colours = take(r, "C");
    r->normals = r->scan.at < r->scan.end && *r->scan.at == 'N' && take(r, "N");
    const bool other = take(r, "4N") || take(r, "4") || take(r, "N"); /* 4 coordinates, or any number */
    if (take(r, "OFF"))
        return other ? fail(r, EX_ERROR_DATA,
                            "the vertices have another number of coordinates than 3: export the mesh with x, y and z")
                     : EX_OK;
    r->scan.at = start;
    r->texcoords = r->colours = r->normals = false;
    if (*start >= '0' && *start <= '9')
        return EX_OK;
    return fail(r, EX_ERROR_FORMAT, "does not begin with 'OFF': this is not an OFF file");
}

/* Moves past the end of the line; binary data begin there. */
static void enter_binary(reader *r) {
    while (r->scan.at < r->scan.end && *r->scan.at != '\n')
        r->scan.at++;
    r->scan.at += r->scan.at < r->scan.end;
    r->binary = true;
}

/* Moves past the number of edges, which may be missing, or on a line of its own if the other counts are too. */
static ex_result skip_edges(reader *r, bool apart) {
    int edges;
    if (r->binary || exi_obj_next_word(&r->scan))
        return read_int(r, "the number of edges", &edges);
    exi_obj_scan ahead = r->scan;
    if (!apart || !find_word(r))
        return EX_OK;
    exi_obj_skip_word(&r->scan);
    if (exi_obj_next_word(&r->scan))
        r->scan = ahead;
    return EX_OK;
}

static ex_result read_counts(reader *r) {
    ex_result result = read_int(r, "the number of vertices", &r->vertex_count);
    const int line = r->scan.line;
    if (result == EX_OK)
        result = read_int(r, "the number of faces", &r->face_count);
    if (result == EX_OK)
        result = skip_edges(r, r->scan.line != line);
    if (result != EX_OK)
        return result;
    if (r->vertex_count < 0 || r->face_count < 0)
        return fail(r, EX_ERROR_DATA, "the number of vertices or of faces is below 0");
    if (r->vertex_count > INT_MAX / 4 || r->face_count > INT_MAX / 4)
        return fail(r, EX_ERROR_LIMIT, "a mesh can have at most %d vertices and as many faces", INT_MAX / 4);
    if (r->vertex_count == 0)
        return fail(r, EX_ERROR_FORMAT, "has no vertices");
    /* The fewest bytes that they take; what the header states may be anything. */
    const size_t left = (size_t)(r->scan.end - r->scan.at), vertex = r->binary ? 12 : 6, face = r->binary ? 8 : 2;
    if ((size_t)r->vertex_count > left / vertex + 1 || (size_t)r->face_count > left / face + 1)
        return ends_early(r);
    return EX_OK;
}

static ex_result read_header(reader *r) {
    if (r->scan.at == r->scan.end)
        return ex_error_set(r->scan.error, EX_ERROR_FORMAT, "%s is empty", r->scan.name);
    if (r->scan.end - r->scan.at >= 3 && memcmp(r->scan.at, "\xEF\xBB\xBF", 3) == 0)
        r->scan.at += 3;
    ex_result result = find_word(r) ? read_word(r) : ends_early(r);
    if (result != EX_OK)
        return result;
    if (exi_obj_next_word(&r->scan) && take(r, "BINARY"))
        enter_binary(r);
    return read_counts(r);
}

/* ---- vertices ---- */

static bool allocate(reader *r) {
    ex_mesh *mesh = r->mesh;
    const size_t count = (size_t)r->vertex_count;
    mesh->vertex_count = r->vertex_count;
    mesh->positions = exi_array_allocate(3 * count, sizeof *mesh->positions);
    mesh->face_offsets = exi_array_allocate((size_t)r->face_count + 1, sizeof *mesh->face_offsets);
    bool good = mesh->positions && mesh->face_offsets;
    if (good)
        mesh->face_offsets[0] = 0;
    if (r->normals) {
        mesh->normal_count = r->vertex_count;
        mesh->normals = exi_array_allocate(3 * count, sizeof *mesh->normals);
        good = good && mesh->normals;
    }
    if (r->texcoords) {
        mesh->texcoord_count = r->vertex_count;
        mesh->texcoords = exi_array_allocate(2 * count, sizeof *mesh->texcoords);
        good = good && mesh->texcoords;
    }
    return good;
}

/* Stores a colour of 3 or 4 numbers. Vertices without one have NAN until the end of the file. */
static ex_result store_colour(reader *r, int vertex, const double *colour, int count) {
    ex_mesh *mesh = r->mesh;
    if (!mesh->colours) {
        mesh->colours = exi_array_allocate(3 * (size_t)mesh->vertex_count, sizeof *mesh->colours);
        if (!mesh->colours)
            return no_memory(r);
        for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
            mesh->colours[i] = NAN;
    }
    for (int k = 0; k < count; k++) {
        r->odd_colour = r->odd_colour || colour[k] < 0 || colour[k] > 255;
        r->largest_colour = fmaxf(r->largest_colour, (float)colour[k]); /* opacity counts from 0 to 255 too */
        if (k < 3)
            mesh->colours[3 * (size_t)vertex + (size_t)k] = (float)colour[k];
    }
    return EX_OK;
}

/* Reads the numbers after the position and the normal: those of the line, or as many as the header says. */
static ex_result read_rest(reader *r, double rest[MOST_REST], int *count) {
    const int wanted = (r->colours ? 4 : 0) + (r->texcoords ? 2 : 0);
    ex_result result = EX_OK;
    for (*count = 0; result == EX_OK && *count < MOST_REST; ++*count) {
        if (r->binary ? *count == wanted : !exi_obj_next_word(&r->scan))
            break;
        result = read_double(r, "a number of a vertex", &rest[*count]);
    }
    return result;
}

static ex_result read_vertex(reader *r, int vertex) {
    ex_mesh *mesh = r->mesh;
    double rest[MOST_REST];
    int count = 0;
    ex_result result = EX_OK;
    for (size_t k = 0; k < 3 && result == EX_OK; k++)
        result = read_double(r, "a coordinate", &mesh->positions[3 * (size_t)vertex + k]);
    for (size_t k = 0; r->normals && k < 3 && result == EX_OK; k++)
        result = read_double(r, "a normal", &mesh->normals[3 * (size_t)vertex + k]);
    if (result == EX_OK)
        result = read_rest(r, rest, &count);
    if (result != EX_OK)
        return result;
    const int colour = count - (r->texcoords ? 2 : 0);
    if (colour < 0 || colour == 2 || colour > 4)
        return fail(r, EX_ERROR_FORMAT, "%s",
                    r->texcoords ? "the vertex needs x, y, z, and at the end 2 texture coordinates"
                                 : "the vertex needs 3 numbers, or 6 or 7 with a colour, on a line of its own");
    for (int k = 0; r->texcoords && k < 2; k++)
        mesh->texcoords[2 * (size_t)vertex + (size_t)k] = rest[colour + k];
    return colour >= 3 ? store_colour(r, vertex, rest, colour) : EX_OK; /* one number is the place in a list */
}

/* Makes vertices without a colour white, and scales colours that range up to 255 to 1. Without the letter C, numbers
 * that are no colours may be anything. */
static ex_result finish_colours(reader *r) {
    ex_mesh *mesh = r->mesh;
    const float scale = r->largest_colour > 1 ? 255.0f : 1.0f;
    if (r->odd_colour && r->colours)
        return fail(r, EX_ERROR_DATA, "a vertex has a colour outside 0 to 1, and outside 0 to 255");
    if (r->odd_colour) {
        free(mesh->colours);
        mesh->colours = NULL;
    }
    for (size_t i = 0; mesh->colours && i < 3 * (size_t)mesh->vertex_count; i++)
        mesh->colours[i] = isnan(mesh->colours[i]) ? 1.0f : mesh->colours[i] / scale;
    return EX_OK;
}

/* ---- faces ---- */

/* Moves past the colour of a face: the rest of its line, or as many numbers as the file says. */
static ex_result skip_colour(reader *r) {
    int count;
    if (!r->binary) {
        exi_obj_next_line(&r->scan);
        return EX_OK;
    }
    ex_result result = read_int(r, "the number of a colour's parts", &count);
    if (result != EX_OK)
        return result;
    if (count < 0 || count > (r->scan.end - r->scan.at) / 4)
        return ends_early(r);
    r->scan.at += 4 * (size_t)count;
    return EX_OK;
}

static ex_result read_face(reader *r, int face) {
    ex_mesh *mesh = r->mesh;
    int count, corner;
    ex_result result = read_int(r, "the number of corners of a face", &count);
    if (result != EX_OK)
        return result;
    if (count < 0 || count > r->scan.end - r->scan.at)
        return ends_early(r);
    if ((size_t)mesh->corner_count + (size_t)count > INT_MAX / 4)
        return fail(r, EX_ERROR_LIMIT, "a mesh can have at most %d corners", INT_MAX / 4);
    int *moved =
        exi_array_grow(mesh->corners, &r->corner_capacity, (size_t)mesh->corner_count + (size_t)count, sizeof *moved);
    if (!moved)
        return no_memory(r);
    mesh->corners = moved;
    for (int i = 0; i < count; i++) {
        result = read_int(r, "a vertex of a face", &corner);
        if (result != EX_OK)
            return result;
        if (corner < 0 || corner >= mesh->vertex_count)
            return fail(r, EX_ERROR_DATA, "face %d refers to vertex %d, but there are %d (counting from 0)", face,
                        corner, mesh->vertex_count);
        moved[mesh->corner_count + i] = corner;
    }
    if (count >= 3) {
        mesh->corner_count += count;
        mesh->face_offsets[++mesh->face_count] = mesh->corner_count;
    }
    return skip_colour(r);
}

/* ---- the file ---- */

/* Normals and texture coordinates of vertices become those of their corners. */
static ex_result finish_corners(reader *r) {
    ex_mesh *mesh = r->mesh;
    const size_t corners = (size_t)mesh->corner_count;
    if (!mesh->corners)
        mesh->corners = exi_array_allocate(0, sizeof *mesh->corners);
    if (mesh->corners && r->normals)
        mesh->corner_normals = exi_array_copy(mesh->corners, corners, sizeof *mesh->corners);
    if (mesh->corners && r->texcoords)
        mesh->corner_texcoords = exi_array_copy(mesh->corners, corners, sizeof *mesh->corners);
    return mesh->corners && (!r->normals || mesh->corner_normals) && (!r->texcoords || mesh->corner_texcoords)
               ? EX_OK
               : no_memory(r);
}

static ex_result read_mesh(reader *r) {
    ex_result result = read_header(r);
    if (result == EX_OK && !allocate(r))
        result = no_memory(r);
    for (int v = 0; v < r->vertex_count && result == EX_OK; v++)
        result = read_vertex(r, v);
    if (result == EX_OK)
        result = finish_colours(r);
    for (int f = 0; f < r->face_count && result == EX_OK; f++)
        result = read_face(r, f);
    return result == EX_OK ? finish_corners(r) : result;
}

ex_result ex_off_parse(const void *bytes, size_t size, const char *name, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    const char *start = bytes ? bytes : "";
    reader r = {.scan = {.at = start, .end = start + size, .line = 1, .name = name, .error = error}};
    r.mesh = ex_mesh_create();
    ex_result result = r.mesh ? read_mesh(&r) : no_memory(&r);
    if (result == EX_OK)
        *mesh = r.mesh;
    else
        ex_mesh_destroy(r.mesh);
    return exi_foreign_explain(error, result, EXI_CONTENT_MESH, name, ".off", start, size);
}

ex_result ex_off_read(const char *path, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    char *bytes;
    size_t size;
    ex_result result = ex_file_read(path, &bytes, &size, error);
    if (result != EX_OK)
        return result;
    result = ex_off_parse(bytes, size, path, mesh, error);
    free(bytes);
    return result;
}
