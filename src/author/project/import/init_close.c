/*
 * The mesh after vertices were joined: removes joined vertices and the faces between them, and moves texture
 * coordinates and normals to corners.
 */
#include "author/project/import/init.h"

#include "author/base/rows.h"

#include <string.h>

bool exi_init_face_flat(const int *numbers, const ex_mesh *mesh, int face) {
    const int *v = mesh->corners + 3 * (size_t)face;
    return numbers[v[0]] == numbers[v[1]] || numbers[v[1]] == numbers[v[2]] || numbers[v[2]] == numbers[v[0]];
}

/* Renumbers the remaining vertices and moves them together; joined becomes the new index of every vertex. */
static void number_anew(int *joined, ex_mesh *mesh) {
    int count = 0;
    for (int v = 0; v < mesh->vertex_count; v++) {
        if (joined[v] < v) {
            joined[v] = joined[joined[v]];
            continue;
        }
        joined[v] = count;
        memmove(mesh->positions + 3 * (size_t)count, mesh->positions + 3 * (size_t)v, 3 * sizeof *mesh->positions);
        if (mesh->colours)
            memmove(mesh->colours + 3 * (size_t)count, mesh->colours + 3 * (size_t)v, 3 * sizeof *mesh->colours);
        count++;
    }
    mesh->vertex_count = count;
}

static void move_face(ex_mesh *mesh, int from, int to) {
    for (size_t k = 0; k < 3; k++) {
        mesh->corners[3 * (size_t)to + k] = mesh->corners[3 * (size_t)from + k];
        if (mesh->corner_texcoords)
            mesh->corner_texcoords[3 * (size_t)to + k] = mesh->corner_texcoords[3 * (size_t)from + k];
        if (mesh->corner_normals)
            mesh->corner_normals[3 * (size_t)to + k] = mesh->corner_normals[3 * (size_t)from + k];
    }
    mesh->face_groups[to] = mesh->face_groups[from];
    if (mesh->face_materials)
        mesh->face_materials[to] = mesh->face_materials[from];
}

/* Drops faces between two joined vertices, which had no area in any pose. Returns the number dropped. */
static int drop_flat_faces(const int *joined, ex_mesh *mesh) {
    int count = 0;
    for (int f = 0; f < mesh->face_count; f++)
        if (!exi_init_face_flat(joined, mesh, f))
            move_face(mesh, f, count++);
    const int dropped = mesh->face_count - count;
    mesh->face_count = count;
    mesh->corner_count = 3 * count;
    for (int c = 0; c < mesh->corner_count; c++)
        mesh->corners[c] = joined[mesh->corners[c]];
    return dropped;
}

/* Texture coordinates or normals; a corner has the one of its old vertex. */
typedef struct values {
    const double *numbers; /* [count][width] */
    size_t width;
    const int *joined; /* [count] */
} values;

static uint64_t hash_value(const void *context, int row) {
    const values *v = context;
    uint64_t hash = exi_mix(0, (uint64_t)v->joined[row]);
    for (size_t k = 0; k < v->width; k++)
        hash = exi_mix_number(hash, v->numbers[(size_t)row * v->width + k]);
    return hash;
}

static bool same_value(const void *context, int a, int b) {
    const values *v = context;
    bool same = v->joined[a] == v->joined[b];
    for (size_t k = 0; same && k < v->width; k++)
        same = v->numbers[(size_t)a * v->width + k] == v->numbers[(size_t)b * v->width + k];
    return same;
}

/* Merges equal values of one vertex, so that seams of texture coordinates lie only where they differ. */
static bool join_values(const int *joined, double *numbers, size_t width, int *count, int *corner_values,
                        const ex_mesh *mesh, int *first) {
    const values v = {.numbers = numbers, .width = width, .joined = joined};
    if (!numbers)
        return true;
    if (!exi_rows_find_first(&(exi_rows){.context = &v, .hash = hash_value, .same = same_value}, *count, first))
        return false;
    int kept = 0;
    for (int i = 0; i < *count; i++) {
        if (first[i] < i) {
            first[i] = first[first[i]];
            continue;
        }
        memmove(numbers + width * (size_t)kept, numbers + width * (size_t)i, width * sizeof *numbers);
        first[i] = kept++;
    }
    *count = kept;
    for (int c = 0; c < mesh->corner_count; c++)
        corner_values[c] = corner_values[c] >= 0 ? first[corner_values[c]] : -1;
    return true;
}

bool exi_init_close_up(exi_init *init, int *joined, int *scratch) {
    ex_mesh *mesh = init->mesh;
    const int before = mesh->vertex_count;
    number_anew(joined, mesh);
    const int dropped = drop_flat_faces(joined, mesh);
    if (mesh->vertex_count < before)
        exi_init_note(init,
                      "%d of %d vertices, split at seams of normals or texture coordinates, are merged with others",
                      before - mesh->vertex_count, before);
    if (dropped > 0)
        exi_init_note(init, "%d face%s left out: after merging vertices, no area is left", dropped,
                      dropped == 1 ? " is" : "s are");
    return join_values(joined, mesh->texcoords, 2, &mesh->texcoord_count, mesh->corner_texcoords, mesh, scratch) &&
           join_values(joined, mesh->normals, 3, &mesh->normal_count, mesh->corner_normals, mesh, scratch);
}
