/*
 * Cuts polygons into triangles: quads along the better diagonal, larger faces by ear clipping (ears.c) in the plane
 * across their area vector. A face of n corners gives n - 2 triangles whatever its shape.
 */
#include "author/base/array.h"
#include "author/mesh/ears.h"
#include "author/mesh/mesh_check.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

static const double *corner_position(const ex_mesh *mesh, int corner) {
    return mesh->positions + 3 * (size_t)mesh->corners[corner];
}

/* ---- quads ---- */

/* Cosine-like agreement of the triangles abc and acd: positive if both face the same way. */
static double agreement(const double *a, const double *b, const double *c, const double *d) {
    double ab[3], ac[3], ad[3], first[3], second[3];
    exi_subtract(b, a, ab);
    exi_subtract(c, a, ac);
    exi_subtract(d, a, ad);
    exi_cross(ab, ac, first);
    exi_cross(ac, ad, second);
    return exi_dot3(first, second);
}

static double distance_sq(const double *a, const double *b) {
    double difference[3];
    exi_subtract(a, b, difference);
    return exi_dot3(difference, difference);
}

static void cut_quad(const ex_mesh *mesh, int first, int *triangles) {
    const double *p[4];
    for (int i = 0; i < 4; i++)
        p[i] = corner_position(mesh, first + i);
    bool even_fits = agreement(p[0], p[1], p[2], p[3]) > 0;
    bool odd_fits = agreement(p[1], p[2], p[3], p[0]) > 0;
    /* The small margin keeps the last bit from deciding how a square is cut. */
    bool odd = even_fits == odd_fits ? distance_sq(p[1], p[3]) < distance_sq(p[0], p[2]) * (1 - 1e-6) : odd_fits;
    int shift = odd ? 1 : 0;
    const int cut[6] = {0, 1, 2, 0, 2, 3};
    for (int i = 0; i < 6; i++)
        triangles[i] = first + (cut[i] + shift) % 4;
}

/* ---- larger faces ---- */

/* Projects the face along its area vector (Newell's sum). False if that is zero. */
static bool flatten(const ex_mesh *mesh, int first, int count, double (*points)[2]) {
    const double *origin = corner_position(mesh, first);
    double normal[3] = {0, 0, 0};
    for (int i = 1; i + 1 < count; i++) {
        double a[3], b[3], n[3];
        exi_subtract(corner_position(mesh, first + i), origin, a);
        exi_subtract(corner_position(mesh, first + i + 1), origin, b);
        exi_cross(a, b, n);
        for (int k = 0; k < 3; k++)
            normal[k] += n[k];
    }
    double length = sqrt(exi_dot3(normal, normal));
    if (!(length > 0) || !isfinite(length))
        return false;
    int flat = fabs(normal[0]) < fabs(normal[1]) ? 0 : 1;
    if (fabs(normal[2]) < fabs(normal[flat]))
        flat = 2;
    double axis[3] = {0, 0, 0}, u[3], v[3];
    axis[flat] = 1;
    for (int k = 0; k < 3; k++)
        normal[k] /= length;
    exi_cross(axis, normal, u);
    exi_cross(normal, u, v);
    for (int i = 0; i < count; i++) {
        double p[3];
        exi_subtract(corner_position(mesh, first + i), origin, p);
        points[i][0] = exi_dot3(p, u);
        points[i][1] = exi_dot3(p, v);
    }
    return true;
}

static void cut_face(const ex_mesh *mesh, int first, int count, exi_ear_clipper *clipper, int *triangles) {
    if (count == 3) {
        for (int i = 0; i < 3; i++)
            triangles[i] = first + i;
    } else if (count == 4) {
        cut_quad(mesh, first, triangles);
    } else if (flatten(mesh, first, count, exi_ears_points(clipper))) {
        exi_ears_clip(clipper, first, count, triangles);
    } else {
        for (int i = 1; i + 1 < count; i++, triangles += 3) {
            triangles[0] = first;
            triangles[1] = first + i;
            triangles[2] = first + i + 1;
        }
    }
}

static int largest_face(const ex_mesh *mesh) {
    int largest = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        int count = mesh->face_offsets[f + 1] - mesh->face_offsets[f];
        largest = count > largest ? count : largest;
    }
    return largest;
}

ex_result ex_mesh_triangulate(const ex_mesh *mesh, int **triangles, int *triangle_count, ex_error *error) {
    *triangles = NULL;
    *triangle_count = 0;
    ex_result result = exi_mesh_check_faces(mesh, error);
    if (result != EX_OK)
        return result;
    int count = mesh->face_count > 0 ? mesh->corner_count - 2 * mesh->face_count : 0;
    int largest = largest_face(mesh);
    exi_ear_clipper *clipper = largest > 4 ? exi_ears_create(largest) : NULL;
    int *out = exi_array_allocate((size_t)count, 3 * sizeof *out);
    if (!out || (largest > 4 && !clipper)) {
        free(out);
        exi_ears_destroy(clipper);
        return ex_error_set(error, EX_ERROR_MEMORY, "not enough memory to cut %d faces into triangles",
                            mesh->face_count);
    }
    int *write = out;
    for (int f = 0; f < mesh->face_count; f++) {
        int first = mesh->face_offsets[f], face_size = mesh->face_offsets[f + 1] - first;
        cut_face(mesh, first, face_size, clipper, write);
        write += 3 * (size_t)(face_size - 2);
    }
    exi_ears_destroy(clipper);
    *triangles = out;
    *triangle_count = count;
    return EX_OK;
}
