/*
 * Meshes for tests; see meshes.h.
 */
#include "support/meshes.h"

#include <string.h>

const char obj_with_everything[] = "# all that is read\n"
                                   "mtllib cloth.mtl\n"
                                   "v 0 0 0\n"
                                   "v 1 0 0.1\n"
                                   "v 1 1 -2.5e-3\n"
                                   "v 0 1 1e300\n"
                                   "v 0.5 0.5 0.3333333333333333\n"
                                   "vt 0 0\n"
                                   "vt 1 0 0\n"
                                   "vt 0.25\n"
                                   "vn 0 0 1\n"
                                   "vn 0 1 0\n"
                                   "f 1 2 3\n"
                                   "g shirt left\n"
                                   "usemtl cotton\n"
                                   "f 1/1 2/2 3/3 4/1\n"
                                   "f 1//1 2//2 3//1\n"
                                   "g\n"
                                   "s 1\n"
                                   "f 1/1/1 2/2/2 3/3/1 4/1/1 5/2/2\n"
                                   "g shirt   left\n"
                                   "usemtl linen\n"
                                   "f -3 -2 -1\n"
                                   "l 1 2\n"
                                   "t crease 2/1/0 0 1 2.5\n"
                                   "t mark 0/0/2 one two\n";

static bool same_bytes(const void *a, const void *b, size_t size) {
    return (a == NULL) == (b == NULL) && (!a || size == 0 || memcmp(a, b, size) == 0);
}

static bool same_texts(char *const *a, char *const *b, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return true;
}

static bool same_tags(const ex_mesh *a, const ex_mesh *b) {
    if (a->tag_count != b->tag_count)
        return false;
    for (int i = 0; i < a->tag_count; i++) {
        const ex_tag *s = &a->tags[i], *t = &b->tags[i];
        if (strcmp(s->name, t->name) != 0 || s->int_count != t->int_count || s->float_count != t->float_count ||
            s->string_count != t->string_count || !same_bytes(s->ints, t->ints, (size_t)s->int_count * sizeof(int)) ||
            !same_bytes(s->floats, t->floats, (size_t)s->float_count * sizeof(double)) ||
            !same_texts(s->strings, t->strings, s->string_count))
            return false;
    }
    return true;
}

bool meshes_are_same(const ex_mesh *a, const ex_mesh *b) {
    if (a->vertex_count != b->vertex_count || a->texcoord_count != b->texcoord_count ||
        a->normal_count != b->normal_count || a->face_count != b->face_count || a->corner_count != b->corner_count ||
        a->group_count != b->group_count || a->material_count != b->material_count)
        return false;
    size_t vertices = (size_t)a->vertex_count, corners = (size_t)a->corner_count * sizeof(int);
    size_t faces = (size_t)a->face_count * sizeof(int);
    return same_bytes(a->positions, b->positions, vertices * 3 * sizeof(double)) &&
           same_bytes(a->colours, b->colours, vertices * 3 * sizeof(float)) &&
           same_bytes(a->texcoords, b->texcoords, (size_t)a->texcoord_count * 2 * sizeof(double)) &&
           same_bytes(a->normals, b->normals, (size_t)a->normal_count * 3 * sizeof(double)) &&
           same_bytes(a->face_offsets, b->face_offsets, faces + sizeof(int)) &&
           same_bytes(a->corners, b->corners, corners) &&
           same_bytes(a->corner_texcoords, b->corner_texcoords, corners) &&
           same_bytes(a->corner_normals, b->corner_normals, corners) &&
           same_bytes(a->face_groups, b->face_groups, faces) &&
           same_bytes(a->face_materials, b->face_materials, faces) &&
           same_texts(a->group_names, b->group_names, a->group_count) &&
           same_texts(a->material_names, b->material_names, a->material_count) &&
           (a->material_library == NULL) == (b->material_library == NULL) &&
           (!a->material_library || strcmp(a->material_library, b->material_library) == 0) && same_tags(a, b);
}
