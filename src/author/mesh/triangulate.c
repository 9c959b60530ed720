/*
 * Cuts polygons into triangles: quads along the better diagonal, larger faces by ear clipping (G. H. Meisters,
 * "Polygons have ears", 1975) in the plane across their area vector.
 *
 * A face of n corners gives n - 2 triangles whatever its shape. If rounding, spikes or self-crossing leave no ear, the
 * flattest corner is cut off, which does the least harm to the rest. Only corners that bend inwards can lie inside an
 * ear, so convex faces take time proportional to n, others to n times the inward corners.
 */
#include "author/base/array.h"
#include "author/mesh/mesh_check.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Scratch memory for one face; all arrays have the size of the largest face. */
typedef struct ear_clipper {
    double (*points)[2]; /* in the face's plane */
    int *next, *previous;
    int *inward; /* indices of corners that bend inwards or not at all */
    int inward_count;
} ear_clipper;

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

/* Twice the signed area of a triangle in the plane. */
static double area(const double a[2], const double b[2], const double c[2]) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static double corner_area(const ear_clipper *clipper, int i) {
    return area(clipper->points[clipper->previous[i]], clipper->points[i], clipper->points[clipper->next[i]]);
}

static bool same_point(const double a[2], const double b[2]) {
    return a[0] == b[0] && a[1] == b[1];
}

/* True if the corner is an ear: it bends outwards and has no other corner inside it or on its edge. Corners at exactly
 * the place of one of its three do not count: bridges to holes run along the same line twice. */
static bool is_ear(const ear_clipper *clipper, int i) {
    if (!(corner_area(clipper, i) > 0))
        return false;
    const double *a = clipper->points[clipper->previous[i]], *b = clipper->points[i];
    const double *c = clipper->points[clipper->next[i]];
    for (int k = 0; k < clipper->inward_count; k++) {
        const double *p = clipper->points[clipper->inward[k]];
        if (same_point(p, a) || same_point(p, b) || same_point(p, c))
            continue;
        if (area(a, b, p) >= 0 && area(b, c, p) >= 0 && area(c, a, p) >= 0)
            return false;
    }
    return true;
}

static int flattest_corner(const ear_clipper *clipper, int start) {
    int best = start;
    double least = INFINITY;
    int i = start;
    do {
        double size = fabs(corner_area(clipper, i));
        if (size < least) {
            least = size;
            best = i;
        }
        i = clipper->next[i];
    } while (i != start);
    return best;
}

static void collect_inward(ear_clipper *clipper, int start) {
    clipper->inward_count = 0;
    int i = start;
    do {
        if (!(corner_area(clipper, i) > 0))
            clipper->inward[clipper->inward_count++] = i;
        i = clipper->next[i];
    } while (i != start);
}

/* Removes corners that were cut off or now bend outwards. Cutting an ear never makes a corner bend inwards. */
static void refresh_inward(ear_clipper *clipper) {
    int kept = 0;
    for (int k = 0; k < clipper->inward_count; k++) {
        int i = clipper->inward[k];
        bool there = clipper->next[clipper->previous[i]] == i;
        if (there && !(corner_area(clipper, i) > 0))
            clipper->inward[kept++] = i;
    }
    clipper->inward_count = kept;
}

static void clip_ears(ear_clipper *clipper, int first, int count, int *triangles) {
    for (int i = 0; i < count; i++) {
        clipper->next[i] = i + 1 < count ? i + 1 : 0;
        clipper->previous[i] = i > 0 ? i - 1 : count - 1;
    }
    collect_inward(clipper, 0);
    int at = 0, missed = 0;
    for (int left = count; left > 2;) {
        if (missed < left && !is_ear(clipper, at)) {
            at = clipper->next[at];
            missed++;
            continue;
        }
        bool forced = missed >= left;
        if (forced)
            at = flattest_corner(clipper, at);
        int before = clipper->previous[at], after = clipper->next[at];
        *triangles++ = first + before;
        *triangles++ = first + at;
        *triangles++ = first + after;
        clipper->next[before] = after;
        clipper->previous[after] = before;
        if (forced)
            collect_inward(clipper, after);
        else if (clipper->inward_count > 0)
            refresh_inward(clipper);
        /* Continuing after the neighbour spreads the cuts around the face instead of making a fan of needles. */
        at = clipper->next[after];
        missed = 0;
        left--;
    }
}

static void cut_face(const ex_mesh *mesh, int first, int count, ear_clipper *clipper, int *triangles) {
    if (count == 3) {
        for (int i = 0; i < 3; i++)
            triangles[i] = first + i;
    } else if (count == 4) {
        cut_quad(mesh, first, triangles);
    } else if (flatten(mesh, first, count, clipper->points)) {
        clip_ears(clipper, first, count, triangles);
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

static void free_clipper(ear_clipper *clipper) {
    free(clipper->points);
    free(clipper->next);
    free(clipper->previous);
    free(clipper->inward);
}

static bool allocate_clipper(ear_clipper *clipper, int size) {
    clipper->points = exi_array_allocate((size_t)size, sizeof *clipper->points);
    clipper->next = exi_array_allocate((size_t)size, sizeof *clipper->next);
    clipper->previous = exi_array_allocate((size_t)size, sizeof *clipper->previous);
    clipper->inward = exi_array_allocate((size_t)size, sizeof *clipper->inward);
    return clipper->points && clipper->next && clipper->previous && clipper->inward;
}

ex_result ex_mesh_triangulate(const ex_mesh *mesh, int **triangles, int *triangle_count, ex_error *error) {
    *triangles = NULL;
    *triangle_count = 0;
    ex_result result = exi_mesh_check_faces(mesh, error);
    if (result != EX_OK)
        return result;
    int count = mesh->face_count > 0 ? mesh->corner_count - 2 * mesh->face_count : 0;
    int largest = largest_face(mesh);
    ear_clipper clipper = {0};
    int *out = exi_array_allocate((size_t)count, 3 * sizeof *out);
    if (!out || (largest > 4 && !allocate_clipper(&clipper, largest))) {
        free(out);
        free_clipper(&clipper);
        return ex_error_set(error, EX_ERROR_MEMORY, "not enough memory to cut %d faces into triangles",
                            mesh->face_count);
    }
    int *write = out;
    for (int f = 0; f < mesh->face_count; f++) {
        int first = mesh->face_offsets[f], face_size = mesh->face_offsets[f + 1] - first;
        cut_face(mesh, first, face_size, &clipper, write);
        write += 3 * (size_t)(face_size - 2);
    }
    free_clipper(&clipper);
    *triangles = out;
    *triangle_count = count;
    return EX_OK;
}
