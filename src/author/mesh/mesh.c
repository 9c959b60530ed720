/*
 * Meshes as plain data: create, copy, release, measure and compare them.
 */
#include "author/base/array.h"
#include "author/mesh/mesh_check.h"
#include "author/mesh/mesh_normals.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ex_mesh *ex_mesh_create(void) {
    ex_mesh *mesh = malloc(sizeof *mesh);
    if (mesh)
        *mesh = (ex_mesh){0};
    return mesh;
}

static void free_texts(char **texts, int count) {
    if (!texts)
        return;
    for (int i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

void ex_mesh_destroy(ex_mesh *mesh) {
    if (!mesh)
        return;
    free(mesh->positions);
    free(mesh->colours);
    free(mesh->texcoords);
    free(mesh->normals);
    free(mesh->face_offsets);
    free(mesh->corners);
    free(mesh->corner_texcoords);
    free(mesh->corner_normals);
    free_texts(mesh->group_names, mesh->group_count);
    free(mesh->face_groups);
    free_texts(mesh->material_names, mesh->material_count);
    free(mesh->face_materials);
    free(mesh->material_library);
    for (int i = 0; i < mesh->tag_count; i++) {
        ex_tag *tag = &mesh->tags[i];
        free(tag->name);
        free(tag->ints);
        free(tag->floats);
        free_texts(tag->strings, tag->string_count);
    }
    free(mesh->tags);
    free(mesh);
}

/* ---- copying: helpers copy NULL as NULL, return false without memory; the copy owns what it has so far ---- */

static bool copy_doubles(double **copy, const double *items, int count, int width) {
    *copy = items ? exi_array_copy(items, (size_t)count, (size_t)width * sizeof *items) : NULL;
    return *copy || !items;
}

static bool copy_floats(float **copy, const float *items, int count, int width) {
    *copy = items ? exi_array_copy(items, (size_t)count, (size_t)width * sizeof *items) : NULL;
    return *copy || !items;
}

static bool copy_ints(int **copy, const int *items, int count) {
    *copy = items ? exi_array_copy(items, (size_t)count, sizeof *items) : NULL;
    return *copy || !items;
}

static bool copy_text(char **copy, const char *text) {
    *copy = text ? exi_text_copy(text, strlen(text)) : NULL;
    return *copy || !text;
}

/* *copied always counts what the copy owns, so that it can be released half-way. */
static bool copy_texts(char ***copy, int *copied, char *const *texts, int count) {
    *copied = 0;
    *copy = NULL;
    if (!texts)
        return true;
    *copy = exi_array_allocate((size_t)count, sizeof **copy);
    if (!*copy)
        return false;
    for (int i = 0; i < count; i++) {
        if (!copy_text(&(*copy)[i], texts[i]))
            return false;
        ++*copied;
    }
    return true;
}

static bool copy_tags(ex_mesh *copy, const ex_mesh *mesh) {
    if (!mesh->tags)
        return true;
    copy->tags = exi_array_allocate((size_t)mesh->tag_count, sizeof *copy->tags);
    if (!copy->tags)
        return false;
    for (int i = 0; i < mesh->tag_count; i++) {
        const ex_tag *from = &mesh->tags[i];
        ex_tag *tag = &copy->tags[copy->tag_count++];
        *tag = (ex_tag){.int_count = from->int_count, .float_count = from->float_count};
        if (!copy_text(&tag->name, from->name) || !copy_ints(&tag->ints, from->ints, from->int_count) ||
            !copy_doubles(&tag->floats, from->floats, from->float_count, 1) ||
            !copy_texts(&tag->strings, &tag->string_count, from->strings, from->string_count))
            return false;
    }
    return true;
}

static bool copy_vertices(ex_mesh *copy, const ex_mesh *mesh) {
    copy->vertex_count = mesh->vertex_count;
    copy->texcoord_count = mesh->texcoord_count;
    copy->normal_count = mesh->normal_count;
    return copy_doubles(&copy->positions, mesh->positions, mesh->vertex_count, 3) &&
           copy_floats(&copy->colours, mesh->colours, mesh->vertex_count, 3) &&
           copy_doubles(&copy->texcoords, mesh->texcoords, mesh->texcoord_count, 2) &&
           copy_doubles(&copy->normals, mesh->normals, mesh->normal_count, 3);
}

static bool copy_faces(ex_mesh *copy, const ex_mesh *mesh) {
    copy->face_count = mesh->face_count;
    copy->corner_count = mesh->corner_count;
    return copy_ints(&copy->face_offsets, mesh->face_offsets, mesh->face_offsets ? mesh->face_count + 1 : 0) &&
           copy_ints(&copy->corners, mesh->corners, mesh->corner_count) &&
           copy_ints(&copy->corner_texcoords, mesh->corner_texcoords, mesh->corner_count) &&
           copy_ints(&copy->corner_normals, mesh->corner_normals, mesh->corner_count) &&
           copy_ints(&copy->face_groups, mesh->face_groups, mesh->face_count) &&
           copy_ints(&copy->face_materials, mesh->face_materials, mesh->face_count);
}

static bool copy_names(ex_mesh *copy, const ex_mesh *mesh) {
    return copy_texts(&copy->group_names, &copy->group_count, mesh->group_names, mesh->group_count) &&
           copy_texts(&copy->material_names, &copy->material_count, mesh->material_names, mesh->material_count) &&
           copy_text(&copy->material_library, mesh->material_library);
}

void exi_mesh_drop_normals(ex_mesh *mesh) {
    free(mesh->corner_normals);
    free(mesh->normals);
    mesh->corner_normals = NULL;
    mesh->normals = NULL;
    mesh->normal_count = 0;
}

ex_mesh *ex_mesh_copy(const ex_mesh *mesh) {
    ex_mesh *copy = ex_mesh_create();
    if (!copy)
        return NULL;
    if (copy_vertices(copy, mesh) && copy_faces(copy, mesh) && copy_names(copy, mesh) && copy_tags(copy, mesh))
        return copy;
    ex_mesh_destroy(copy);
    return NULL;
}

/* ---- measuring and comparing ---- */

double ex_mesh_size(const ex_mesh *mesh) {
    if (mesh->vertex_count == 0)
        return 0;
    double sum_sq = 0;
    for (int axis = 0; axis < 3; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < mesh->vertex_count; v++) {
            double x = mesh->positions[3 * (size_t)v + (size_t)axis];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        sum_sq += (high - low) * (high - low);
    }
    return sqrt(sum_sq);
}

/* Writes "4 5 9", with dots in place of what does not fit. */
static void list_corners(char *text, size_t size, const int *corners, int count) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        if (size - used < 20) {
            snprintf(text + used, size - used, " …");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, i > 0 ? " %d" : "%d", corners[i]);
    }
}

/* True if the corners b are those of a in reverse order. */
static bool is_backwards(const int *a, const int *b, int count) {
    for (int shift = 0; shift < count; shift++) {
        int i = 0;
        while (i < count && b[i] == a[(shift + count - i) % count])
            i++;
        if (i == count)
            return true;
    }
    return false;
}

/* Names a face that differs. */
static ex_result face_differs(const ex_mesh *mesh, const ex_mesh *other, int f, const char *how, ex_error *error) {
    char here[160], there[160];
    list_corners(here, sizeof here, other->corners + other->face_offsets[f],
                 other->face_offsets[f + 1] - other->face_offsets[f]);
    list_corners(there, sizeof there, mesh->corners + mesh->face_offsets[f],
                 mesh->face_offsets[f + 1] - mesh->face_offsets[f]);
    return ex_error_set(error, EX_ERROR_DATA, "face %d has corners %s here and %s in the mesh (counting from 0)%s", f,
                        here, there, how);
}

ex_result ex_mesh_compare_connectivity(const ex_mesh *mesh, const ex_mesh *other, ex_error *error) {
    if (mesh->vertex_count != other->vertex_count)
        return ex_error_set(error, EX_ERROR_DATA, "%d vertices here and %d in the mesh", other->vertex_count,
                            mesh->vertex_count);
    int shared = mesh->face_count < other->face_count ? mesh->face_count : other->face_count;
    int backwards = 0, first_backwards = 0;
    for (int f = 0; f < shared; f++) {
        const int *a = mesh->corners + mesh->face_offsets[f], *b = other->corners + other->face_offsets[f];
        int a_count = mesh->face_offsets[f + 1] - mesh->face_offsets[f];
        int b_count = other->face_offsets[f + 1] - other->face_offsets[f];
        if (a_count == b_count && memcmp(a, b, (size_t)a_count * sizeof *a) == 0)
            continue;
        if (a_count != b_count || !is_backwards(a, b, a_count))
            return face_differs(mesh, other, f, "", error);
        first_backwards = backwards++ == 0 ? f : first_backwards;
    }
    if (mesh->face_count != other->face_count)
        return ex_error_set(
            error, EX_ERROR_DATA,
            "%d faces here and %d in the mesh: face %d (counting from 0) is the first that only one has",
            other->face_count, mesh->face_count, shared);
    /* A few reversed faces are a slip of either file, and no vertex is another for it. */
    if (backwards > 0 && backwards == shared)
        return ex_error_set(error, EX_ERROR_DATA,
                            "its faces are wound the other way round: flip their normals in the program that wrote it");
    if (backwards > shared / 2)
        return face_differs(mesh, other, first_backwards, ": it runs the other way round, as most faces do", error);
    return EX_OK;
}
