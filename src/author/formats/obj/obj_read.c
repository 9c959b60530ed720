/*
 * Reads Wavefront OBJ: vertices, texture coordinates, normals, names, and final checks. obj_faces.c reads faces,
 * obj_tags.c crease tags.
 *
 * Smoothing groups, lines, points, curves and keywords of other programs are ignored; a word that could not be a
 * keyword is an error, so that a file of another kind is refused at its start.
 */
#include "author/base/array.h"
#include "author/formats/foreign.h"
#include "author/formats/obj/obj_tags.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

ex_result exi_obj_reserve(exi_obj_reader *reader, int count, const char *what) {
    if (count < INT_MAX - 1)
        return EX_OK;
    return exi_obj_fail(&reader->scan, reader->scan.line, EX_ERROR_LIMIT, "a mesh can have at most %d %s", INT_MAX - 1,
                        what);
}

/* Reads the numbers of a line, at most `most`; more are an error. */
static ex_result read_numbers(exi_obj_scan *scan, const char *what, double *numbers, int most, int *count) {
    for (*count = 0; *count < most && exi_obj_next_word(scan); ++*count) {
        ex_result result = exi_obj_read_double(scan, what, &numbers[*count]);
        if (result != EX_OK)
            return result;
    }
    return exi_obj_expect_line_end(scan);
}

/* Appends `width` numbers to an array of doubles. */
static ex_result push_numbers(exi_obj_reader *reader, double **items, size_t *capacity, int *count, const double *item,
                              int width, const char *what) {
    ex_result result = exi_obj_reserve(reader, *count, what);
    if (result != EX_OK)
        return result;
    size_t size = (size_t)width * sizeof **items;
    double *moved = exi_array_grow(*items, capacity, (size_t)*count + 1, size);
    if (!moved)
        return exi_obj_no_memory(&reader->scan);
    *items = moved;
    memcpy(moved + (size_t)*count * (size_t)width, item, size);
    ++*count;
    return EX_OK;
}

/* Colours are created at the first vertex that has one; NAN means "none" until the end of the file. */
static ex_result push_colour(exi_obj_reader *reader, int vertex, const double *colour) {
    ex_mesh *mesh = reader->mesh;
    if (!mesh->colours && !colour)
        return EX_OK;
    bool first = !mesh->colours;
    float *moved = exi_array_grow(mesh->colours, &reader->colour_capacity, (size_t)vertex + 1, 3 * sizeof *moved);
    if (!moved)
        return exi_obj_no_memory(&reader->scan);
    mesh->colours = moved;
    for (size_t i = 0; first && i < 3 * (size_t)vertex; i++)
        moved[i] = NAN;
    for (size_t k = 0; k < 3; k++) {
        if (colour && !(colour[k] >= 0 && colour[k] <= 255))
            return exi_obj_fail(&reader->scan, reader->scan.line, EX_ERROR_DATA,
                                "the vertex has a colour outside 0 to 1, and outside 0 to 255");
        float value = colour ? (float)colour[k] : NAN;
        moved[3 * (size_t)vertex + k] = value;
        reader->largest_colour = fmaxf(reader->largest_colour, value);
    }
    return EX_OK;
}

/* x y z, x y z w, x y z r g b, or x y z w r g b. */
static ex_result read_vertex(exi_obj_reader *reader) {
    exi_obj_scan *scan = &reader->scan;
    double numbers[7];
    int count;
    ex_result result = read_numbers(scan, "a coordinate", numbers, 7, &count);
    if (result != EX_OK)
        return result;
    if (count < 3 || count == 5)
        return exi_obj_fail(scan, scan->line, EX_ERROR_FORMAT,
                            "the vertex has %d number%s; it needs 3, or 6 with a colour", count, count == 1 ? "" : "s");
    bool weighted = count == 4 || count == 7;
    if (weighted && numbers[3] != 1)
        return exi_obj_fail(
            scan, scan->line, EX_ERROR_DATA,
            "the vertex has weight %g: rational vertices belong to curved surfaces, which are not supported",
            numbers[3]);
    result = push_colour(reader, reader->mesh->vertex_count, count >= 6 ? numbers + (weighted ? 4 : 3) : NULL);
    if (result != EX_OK)
        return result;
    return push_numbers(reader, &reader->mesh->positions, &reader->position_capacity, &reader->mesh->vertex_count,
                        numbers, 3, "vertices");
}

static ex_result read_texcoord(exi_obj_reader *reader) {
    double numbers[3] = {0, 0, 0};
    int count;
    ex_result result = read_numbers(&reader->scan, "a texture coordinate", numbers, 3, &count);
    if (result != EX_OK)
        return result;
    if (count < 1)
        return exi_obj_fail(&reader->scan, reader->scan.line, EX_ERROR_FORMAT, "the texture coordinate has no numbers");
    return push_numbers(reader, &reader->mesh->texcoords, &reader->texcoord_capacity, &reader->mesh->texcoord_count,
                        numbers, 2, "texture coordinates");
}

static ex_result read_normal(exi_obj_reader *reader) {
    double numbers[3];
    int count;
    ex_result result = read_numbers(&reader->scan, "a normal", numbers, 3, &count);
    if (result != EX_OK)
        return result;
    if (count < 3)
        return exi_obj_fail(&reader->scan, reader->scan.line, EX_ERROR_FORMAT, "the normal has %d number%s; it needs 3",
                            count, count == 1 ? "" : "s");
    return push_numbers(reader, &reader->mesh->normals, &reader->normal_capacity, &reader->mesh->normal_count, numbers,
                        3, "normals");
}

static ex_result read_group(exi_obj_reader *reader) {
    reader->group_waits = true;
    return exi_obj_names_read(&reader->groups, &reader->scan, "default");
}

/* An object becomes a group, unless a `g` for the same faces comes before it, which is the finer name. */
static ex_result read_object(exi_obj_reader *reader) {
    if (reader->group_waits)
        return EX_OK;
    return exi_obj_names_read(&reader->groups, &reader->scan, "default");
}

static ex_result read_material(exi_obj_reader *reader) {
    return exi_obj_names_read(&reader->materials, &reader->scan, "");
}

/* Joins several libraries into one text, as they may be on one line. */
static ex_result read_library(exi_obj_reader *reader) {
    ex_mesh *mesh = reader->mesh;
    exi_obj_names line = {0};
    ex_result result = exi_obj_names_read(&line, &reader->scan, "");
    if (result == EX_OK && line.current_size > 0 &&
        (!mesh->material_library || strcmp(mesh->material_library, line.current) != 0)) {
        size_t before = mesh->material_library ? strlen(mesh->material_library) + 1 : 0;
        char *joined = realloc(mesh->material_library, before + line.current_size + 1);
        if (joined) {
            if (before > 0)
                joined[before - 1] = ' ';
            memcpy(joined + before, line.current, line.current_size + 1);
            mesh->material_library = joined;
        } else {
            result = exi_obj_no_memory(&reader->scan);
        }
    }
    exi_obj_names_free(&line);
    return result;
}

typedef struct keyword {
    const char *word;
    ex_result (*read)(exi_obj_reader *reader);
} keyword;

static const keyword keywords[] = {{"v", read_vertex},      {"f", exi_obj_read_face},  {"vt", read_texcoord},
                                   {"vn", read_normal},     {"g", read_group},         {"o", read_object},
                                   {"t", exi_obj_read_tag}, {"usemtl", read_material}, {"mtllib", read_library}};

/* Reads a line that is not empty. */
static ex_result read_line(exi_obj_reader *reader) {
    exi_obj_scan *scan = &reader->scan;
    const char *word = scan->at;
    size_t size = exi_obj_skip_word(scan);
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (strncmp(keywords[i].word, word, size) == 0 && keywords[i].word[size] == '\0')
            return keywords[i].read(reader);
    for (size_t i = 0; i < size; i++) {
        bool letter = (word[i] >= 'a' && word[i] <= 'z') || (word[i] >= 'A' && word[i] <= 'Z');
        if (!letter && word[i] != '_' && !(i > 0 && word[i] >= '0' && word[i] <= '9'))
            return exi_obj_unreadable(scan, word, "a keyword of an OBJ file");
    }
    return EX_OK;
}

static ex_result read_lines(exi_obj_reader *reader) {
    exi_obj_scan *scan = &reader->scan;
    while (scan->at < scan->end) {
        ex_result result = exi_obj_next_word(scan) ? read_line(reader) : EX_OK;
        if (result != EX_OK)
            return result;
        if (scan->line == INT_MAX)
            return exi_obj_fail(scan, scan->line, EX_ERROR_LIMIT, "the file has too many lines");
        exi_obj_next_line(scan);
    }
    return EX_OK;
}

/* Refuses text that would otherwise cause a puzzling error later. */
static ex_result check_text(exi_obj_scan *scan) {
    if (scan->at == scan->end)
        return ex_error_set(scan->error, EX_ERROR_FORMAT, "%s is empty", scan->name);
    const char *nul = memchr(scan->at, '\0', (size_t)(scan->end - scan->at));
    if (nul) {
        int line = 1;
        for (const char *c = scan->at; c < nul && line < INT_MAX; c++)
            line += *c == '\n';
        return exi_obj_fail(scan, line, EX_ERROR_FORMAT, "a zero byte: this is not an OBJ file, or not one in UTF-8");
    }
    if (scan->end - scan->at >= 3 && memcmp(scan->at, "\xEF\xBB\xBF", 3) == 0)
        scan->at += 3;
    return EX_OK;
}

/* Makes vertices without a colour white; scales colours that range up to 255 to 1. */
static void finish_colours(exi_obj_reader *reader) {
    float *colours = reader->mesh->colours;
    float scale = reader->largest_colour > 1 ? 255.0f : 1.0f;
    for (size_t i = 0; colours && i < 3 * (size_t)reader->mesh->vertex_count; i++)
        colours[i] = isnan(colours[i]) ? 1.0f : colours[i] / scale;
}

static ex_result finish(exi_obj_reader *reader) {
    ex_mesh *mesh = reader->mesh;
    if (mesh->vertex_count == 0)
        return ex_error_set(reader->scan.error, EX_ERROR_FORMAT, "%s has no vertices: is it an OBJ file?",
                            reader->scan.name);
    if (!mesh->face_offsets) {
        mesh->face_offsets = exi_array_allocate(1, sizeof *mesh->face_offsets);
        if (!mesh->face_offsets)
            return exi_obj_no_memory(&reader->scan);
    }
    mesh->face_offsets[0] = 0;
    ex_result result = exi_obj_check_faces(reader);
    if (result == EX_OK)
        result = exi_obj_check_tags(reader);
    if (result == EX_OK)
        finish_colours(reader);
    return result;
}

ex_result ex_obj_parse(const char *text, size_t size, const char *name, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    text = text ? text : "";
    exi_obj_reader reader = {.scan = {.at = text, .end = text + size, .line = 1, .name = name, .error = error}};
    reader.groups.current_number = -1;
    reader.materials.current_number = -1;
    reader.mesh = ex_mesh_create();
    ex_result result = reader.mesh ? check_text(&reader.scan) : exi_obj_no_memory(&reader.scan);
    if (result == EX_OK)
        result = read_lines(&reader);
    if (result == EX_OK)
        result = finish(&reader);
    free(reader.face_lines);
    free(reader.tag_lines);
    exi_obj_names_free(&reader.groups);
    exi_obj_names_free(&reader.materials);
    if (result == EX_OK)
        *mesh = reader.mesh;
    else
        ex_mesh_destroy(reader.mesh);
    return exi_foreign_explain(error, result, EXI_CONTENT_MESH, name, ".obj", text, size);
}

ex_result ex_obj_read(const char *path, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    char *text;
    size_t size;
    ex_result result = ex_file_read(path, &text, &size, error);
    if (result != EX_OK)
        return result;
    result = ex_obj_parse(text, size, path, mesh, error);
    free(text);
    return result;
}
