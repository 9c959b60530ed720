/*
 * Writes Wavefront OBJ, in an order that obj_read.c reads back unchanged.
 */
#include "author/mesh/mesh_check.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <math.h>
#include <string.h>

/* One line, assembled here and written at once: a stdio call for each number would take half of the time. */
typedef struct line {
    ex_file_writer *writer;
    int size;
    char text[512];
} line;

static void put_bytes(line *l, const char *bytes, size_t size) {
    if (size > sizeof l->text - (size_t)l->size) {
        ex_file_write(l->writer, l->text, (size_t)l->size);
        l->size = 0;
    }
    if (size > sizeof l->text) {
        ex_file_write(l->writer, bytes, size);
        return;
    }
    memcpy(l->text + l->size, bytes, size);
    l->size += (int)size;
}

static void put_text(line *l, const char *text) {
    put_bytes(l, text, strlen(text));
}

static void put_double(line *l, double value) {
    char buffer[32];
    put_bytes(l, " ", 1);
    put_bytes(l, buffer, (size_t)ex_format_double(buffer, value));
}

static void put_float(line *l, float value) {
    char buffer[32];
    put_bytes(l, " ", 1);
    put_bytes(l, buffer, (size_t)ex_format_float(buffer, value));
}

static void put_int(line *l, long long value) {
    char buffer[24];
    char *at = buffer + sizeof buffer;
    unsigned long long rest = value < 0 ? 0ULL - (unsigned long long)value : (unsigned long long)value;
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        *--at = '-';
    put_bytes(l, at, (size_t)(buffer + sizeof buffer - at));
}

static void end_line(line *l) {
    put_bytes(l, "\n", 1);
    ex_file_write(l->writer, l->text, (size_t)l->size);
    l->size = 0;
}

/* Writes a keyword and a name. A backslash at the end of a line would join the next one to it. */
static void write_name(line *l, const char *keyword, const char *name) {
    put_text(l, keyword);
    size_t size = strlen(name);
    if (size > 0) {
        put_bytes(l, " ", 1);
        put_bytes(l, name, size);
        if (name[size - 1] == '\\')
            put_bytes(l, " ", 1);
    }
    end_line(l);
}

static void write_vertices(line *l, const ex_mesh *mesh) {
    for (size_t v = 0; v < (size_t)mesh->vertex_count; v++) {
        put_bytes(l, "v", 1);
        for (size_t k = 0; k < 3; k++)
            put_double(l, mesh->positions[3 * v + k]);
        for (size_t k = 0; mesh->colours && k < 3; k++)
            put_float(l, fminf(fmaxf(mesh->colours[3 * v + k], 0), 1));
        end_line(l);
    }
}

static void write_numbers(line *l, const char *keyword, const double *numbers, int count, int width) {
    for (int i = 0; i < count; i++) {
        put_text(l, keyword);
        for (int k = 0; k < width; k++)
            put_double(l, *numbers++);
        end_line(l);
    }
}

/* True if every corner of the face has the attribute: OBJ has it for all corners of a face or for none. */
static bool all_have(const int *indices, int begin, int end) {
    for (int c = begin; indices && c < end; c++)
        if (indices[c] < 0)
            return false;
    return indices != NULL;
}

static void write_face(line *l, const ex_mesh *mesh, int face) {
    int begin = mesh->face_offsets[face], end = mesh->face_offsets[face + 1];
    bool texcoords = all_have(mesh->corner_texcoords, begin, end), normals = all_have(mesh->corner_normals, begin, end);
    put_bytes(l, "f", 1);
    for (int c = begin; c < end; c++) {
        put_bytes(l, " ", 1);
        put_int(l, (long long)mesh->corners[c] + 1);
        if (texcoords || normals)
            put_bytes(l, "/", 1);
        if (texcoords)
            put_int(l, (long long)mesh->corner_texcoords[c] + 1);
        if (normals) {
            put_bytes(l, "/", 1);
            put_int(l, (long long)mesh->corner_normals[c] + 1);
        }
    }
    end_line(l);
}

static void write_faces(line *l, const ex_mesh *mesh) {
    int group = -1, material = -1;
    for (int f = 0; f < mesh->face_count; f++) {
        int face_group = mesh->face_groups ? mesh->face_groups[f] : -1;
        int face_material = mesh->face_materials ? mesh->face_materials[f] : -1;
        if (face_group != group)
            write_name(l, "g", face_group < 0 ? "" : mesh->group_names[face_group]);
        if (face_material != material)
            write_name(l, "usemtl", face_material < 0 ? "" : mesh->material_names[face_material]);
        group = face_group;
        material = face_material;
        write_face(l, mesh, f);
    }
}

static void write_tag(line *l, const ex_tag *tag) {
    put_text(l, "t ");
    put_text(l, tag->name);
    const int counts[3] = {tag->int_count, tag->float_count, tag->string_count};
    for (int i = 0; i < 3; i++) {
        put_text(l, i == 0 ? " " : "/");
        put_int(l, counts[i]);
    }
    for (int i = 0; i < tag->int_count; i++) {
        put_bytes(l, " ", 1);
        put_int(l, tag->ints[i]);
    }
    for (int i = 0; i < tag->float_count; i++)
        put_double(l, tag->floats[i]);
    for (int i = 0; i < tag->string_count; i++) {
        put_bytes(l, " ", 1);
        put_text(l, tag->strings[i]);
    }
    if (tag->string_count > 0)
        put_bytes(l, " ", 1); /* for a word that ends with a backslash */
    end_line(l);
}

/* ---- checks ---- */

static ex_result check_numbers(const char *path, const double *numbers, int count, int width, const char *what,
                               ex_error *error) {
    for (int i = 0; i < count; i++)
        for (int k = 0; k < width; k++)
            if (!isfinite(numbers[(size_t)i * (size_t)width + (size_t)k]))
                return ex_error_set(error, EX_ERROR_DATA, "cannot write '%s': %s %d (counting from 0) is not finite",
                                    path, what, i);
    return EX_OK;
}

static ex_result check_face_names(const char *path, const ex_mesh *mesh, const int *numbers, char *const *names,
                                  int count, ex_error *error) {
    for (int f = 0; numbers && f < mesh->face_count; f++)
        if (numbers[f] >= count)
            return ex_error_set(
                error, EX_ERROR_DATA,
                "cannot write '%s': face %d (counting from 0) has group or material %d, but there are %d", path, f,
                numbers[f], count);
    for (int i = 0; i < count; i++)
        if (strpbrk(names[i], "\r\n"))
            return ex_error_set(error, EX_ERROR_DATA,
                                "cannot write '%s': the name of group or material %d has a line end", path, i);
    return EX_OK;
}

/* True if the text is not empty, and nothing in it would end a word or a line in the file. */
static bool is_word(const char *text) {
    return text && text[0] && !strpbrk(text, " \t\r\n");
}

static ex_result check_tag(const char *path, const ex_tag *tag, int vertex_count, ex_error *error) {
    bool sound = is_word(tag->name);
    for (int i = 0; sound && i < tag->string_count; i++)
        sound = is_word(tag->strings[i]);
    if (!sound)
        return ex_error_set(error, EX_ERROR_DATA, "%s: a tag's name or text is empty or has blanks in it", path);
    const bool vertices = strcmp(tag->name, "crease") == 0 || strcmp(tag->name, "corner") == 0;
    for (int i = 0; vertices && i < tag->int_count; i++)
        if (tag->ints[i] < 0 || tag->ints[i] >= vertex_count)
            return ex_error_set(error, EX_ERROR_DATA, "%s: a %s tag names vertex %d, but there are %d", path, tag->name,
                                tag->ints[i], vertex_count);
    return check_numbers(path, tag->floats, tag->float_count, 1, "number of a tag", error);
}

static ex_result check_mesh(const char *path, const ex_mesh *mesh, ex_error *error) {
    ex_result result = exi_mesh_check_writable(path, mesh, error);
    if (result == EX_OK)
        result = check_numbers(path, mesh->positions, mesh->vertex_count, 3, "vertex", error);
    if (result == EX_OK)
        result = check_numbers(path, mesh->texcoords, mesh->texcoord_count, 2, "texture coordinate", error);
    if (result == EX_OK)
        result = check_numbers(path, mesh->normals, mesh->normal_count, 3, "normal", error);
    if (result == EX_OK)
        result = check_face_names(path, mesh, mesh->face_groups, mesh->group_names, mesh->group_count, error);
    if (result == EX_OK)
        result = check_face_names(path, mesh, mesh->face_materials, mesh->material_names, mesh->material_count, error);
    for (int t = 0; t < mesh->tag_count && result == EX_OK; t++)
        result = check_tag(path, &mesh->tags[t], mesh->vertex_count, error);
    if (result == EX_OK && mesh->material_library && strpbrk(mesh->material_library, "\r\n"))
        result = ex_error_set(error, EX_ERROR_DATA, "%s: the name of the material library has a line end in it", path);
    return result;
}

ex_result ex_obj_write(const char *path, const ex_mesh *mesh, ex_error *error) {
    ex_result result = check_mesh(path, mesh, error);
    if (result != EX_OK)
        return result;
    ex_file_writer writer;
    result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    line l = {.writer = &writer};
    if (mesh->material_library)
        write_name(&l, "mtllib", mesh->material_library);
    write_vertices(&l, mesh);
    write_numbers(&l, "vt", mesh->texcoords, mesh->texcoord_count, 2);
    write_numbers(&l, "vn", mesh->normals, mesh->normal_count, 3);
    write_faces(&l, mesh);
    for (int t = 0; t < mesh->tag_count; t++)
        write_tag(&l, &mesh->tags[t]);
    return ex_file_commit(&writer, error);
}
