/*
 * Compares two meshes: faces by their vertices, vertices by distance, and attributes of corners and faces by value,
 * since two programs may number the same texture coordinates differently.
 */
#include <exemplar/author/mesh.h>

#include <math.h>
#include <string.h>

static bool near(double a, double b, double tolerance) {
    return a == b || fabs(a - b) <= tolerance;
}

static int face_size(const ex_mesh *mesh, int face) {
    return mesh->face_offsets[face + 1] - mesh->face_offsets[face];
}

static int first_other_face(const ex_mesh *a, const ex_mesh *b) {
    const int shared = a->face_count < b->face_count ? a->face_count : b->face_count;
    for (int f = 0; f < shared; f++)
        if (face_size(a, f) != face_size(b, f) ||
            memcmp(a->corners + a->face_offsets[f], b->corners + b->face_offsets[f],
                   (size_t)face_size(a, f) * sizeof *a->corners) != 0)
            return f;
    return a->face_count == b->face_count ? -1 : shared;
}

/* Scales distances by the largest so far, so that squares neither overflow nor vanish. */
static void measure(const ex_mesh *a, const ex_mesh *b, double tolerance, ex_mesh_difference *out) {
    double sum = 0;
    out->measured = true;
    for (int v = 0; v < a->vertex_count; v++) {
        const double *p = a->positions + 3 * (size_t)v, *q = b->positions + 3 * (size_t)v;
        const double d = hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]);
        out->moved_count += !(d <= tolerance);
        if (out->farthest_vertex < 0 || d > out->farthest) {
            sum = d > 0 ? sum * (out->farthest / d) * (out->farthest / d) : 0;
            out->farthest = d;
            out->farthest_vertex = v;
        }
        sum += out->farthest > 0 ? (d / out->farthest) * (d / out->farthest) : 0;
    }
    out->rms = a->vertex_count > 0 ? out->farthest * sqrt(sum / a->vertex_count) : 0;
}

static bool colours_differ(const ex_mesh *a, const ex_mesh *b, double tolerance) {
    if (!a->colours || !b->colours)
        return a->colours != b->colours;
    for (size_t i = 0; i < 3 * (size_t)a->vertex_count; i++)
        if (!near((double)a->colours[i], (double)b->colours[i], tolerance))
            return true;
    return false;
}

/* Values that corners refer to, [width] numbers each. */
typedef struct corner_values {
    const int *numbers; /* [corner_count], -1 for none; or NULL */
    const double *values;
} corner_values;

static bool corners_differ(int count, corner_values a, corner_values b, int width, double tolerance) {
    for (int c = 0; c < count; c++) {
        const int i = a.numbers ? a.numbers[c] : -1, k = b.numbers ? b.numbers[c] : -1;
        if ((i < 0) != (k < 0))
            return true;
        for (int n = 0; i >= 0 && n < width; n++)
            if (!near(a.values[(size_t)i * (size_t)width + (size_t)n], b.values[(size_t)k * (size_t)width + (size_t)n],
                      tolerance))
                return true;
    }
    return false;
}

static bool labels_differ(int count, const int *a, char *const *a_names, const int *b, char *const *b_names) {
    for (int f = 0; f < count; f++) {
        const char *x = a && a[f] >= 0 ? a_names[a[f]] : "", *y = b && b[f] >= 0 ? b_names[b[f]] : "";
        if (strcmp(x, y) != 0)
            return true;
    }
    return false;
}

static bool tag_differs(const ex_tag *a, const ex_tag *b, double tolerance) {
    bool differs = strcmp(a->name, b->name) != 0 || a->int_count != b->int_count || a->float_count != b->float_count ||
                   a->string_count != b->string_count;
    for (int i = 0; !differs && i < a->int_count; i++)
        differs = a->ints[i] != b->ints[i];
    for (int i = 0; !differs && i < a->float_count; i++)
        differs = !near(a->floats[i], b->floats[i], tolerance);
    for (int i = 0; !differs && i < a->string_count; i++)
        differs = strcmp(a->strings[i], b->strings[i]) != 0;
    return differs;
}

static bool tags_differ(const ex_mesh *a, const ex_mesh *b, double tolerance) {
    bool differs = a->tag_count != b->tag_count;
    for (int i = 0; !differs && i < a->tag_count; i++)
        differs = tag_differs(&a->tags[i], &b->tags[i], tolerance);
    return differs;
}

bool ex_mesh_difference_none(const ex_mesh_difference *d) {
    return d->first_face < 0 && d->measured && d->moved_count == 0 && !d->colours && !d->texcoords && !d->normals &&
           !d->groups && !d->materials && !d->tags;
}

ex_mesh_difference ex_mesh_compare(const ex_mesh *a, const ex_mesh *b, double tolerance) {
    ex_mesh_difference out = {.first_face = first_other_face(a, b), .farthest_vertex = -1, .size = ex_mesh_size(a)};
    if (a->vertex_count == b->vertex_count)
        measure(a, b, tolerance, &out);
    if (!out.measured || out.first_face >= 0)
        return out;
    out.colours = colours_differ(a, b, tolerance);
    out.texcoords = corners_differ(a->corner_count, (corner_values){a->corner_texcoords, a->texcoords},
                                   (corner_values){b->corner_texcoords, b->texcoords}, 2, tolerance);
    out.normals = corners_differ(a->corner_count, (corner_values){a->corner_normals, a->normals},
                                 (corner_values){b->corner_normals, b->normals}, 3, tolerance);
    out.groups = labels_differ(a->face_count, a->face_groups, a->group_names, b->face_groups, b->group_names);
    out.materials =
        labels_differ(a->face_count, a->face_materials, a->material_names, b->face_materials, b->material_names);
    out.tags = tags_differ(a, b, tolerance);
    return out;
}
