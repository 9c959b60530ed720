/*
 * Finds the plane of symmetry of a mesh as it stands (mirror_match.h).
 *
 * Candidates have the direction that joints in pairs give, or that of x or z, and go through the origin, the middle of
 * the box, or the middle of the joints. A candidate counts by the share of vertices with a vertex at their mirror
 * image, and by how near the surface is to the images. The best one is fitted to the pairs of vertices that it finds,
 * closer and closer: for pairs p q with the means p0 and q0, the normal of the best plane is the eigenvector of
 *
 *     A = sum of (p - p0) (q - q0)^T + (q - q0) (p - p0)^T
 *
 * with the lowest eigenvalue, and the plane contains (p0 + q0) / 2. A round number is preferred if it is as good.
 */
#include "author/base/array.h"
#include "author/base/eigen.h"
#include "author/project/sculpt/mirror_match.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 4000, CANDIDATES = 24 };
/* In sizes of the mesh: a vertex is at its image; the surface is not near it at all. */
#define EXACT 1e-4
#define FAR   1e-2
/* A candidate that is less than this better is not preferred to an earlier one. */
#define BETTER 0.002

typedef struct search {
    const exi_standing *s;
    const exi_plane_joints *joints;
    int *found;       /* [vertex_count] scratch */
    double middle[3]; /* of joints in pairs */
    double reach;     /* largest distance of the plane from there; INFINITY without pairs */
    exi_plane candidates[CANDIDATES];
    int count;
} search;

/* Returns the vertex nearest to p among the corners of the nearest triangle, or -1; *surface: the distance of that. */
static int nearest_vertex(const exi_standing *s, const double p[3], double *surface, double *apart) {
    const float at[3] = {(float)p[0], (float)p[1], (float)p[2]};
    ex_closest closest;
    int best = -1;
    ex_bounds_closest(s->surface, at, INFINITY, &closest);
    *surface = closest.triangle >= 0 ? sqrt((double)closest.distance_sq) : INFINITY;
    *apart = INFINITY;
    for (int k = 0; closest.triangle >= 0 && k < 3; k++) {
        const int v = (int)s->triangles[3 * (size_t)closest.triangle + (size_t)k];
        const double *q = s->positions + 3 * (size_t)v, d = hypot(hypot(q[0] - p[0], q[1] - p[1]), q[2] - p[2]);
        if (d < *apart) {
            *apart = d;
            best = v;
        }
    }
    return best;
}

static int stride(const exi_standing *s) {
    const int by = s->mesh->vertex_count / SAMPLES;
    return by > 1 ? by : 1;
}

/* Returns how good a plane is, from 0 to 2; *near: the part of it that the surface gives, from 0 to 1. */
static double judge(const exi_standing *s, const exi_plane *plane, double *near) {
    double sum = 0, exact = 0, count = 0;
    for (int v = 0; v < s->mesh->vertex_count; v += stride(s)) {
        double image[3], surface, apart;
        exi_plane_point(plane, s->positions + 3 * (size_t)v, image);
        nearest_vertex(s, image, &surface, &apart);
        sum += surface < FAR * s->size ? 1 - surface / (FAR * s->size) : 0;
        exact += apart <= EXACT * s->size;
        count++;
    }
    *near = count > 0 ? sum / count : 0;
    return count > 0 ? (sum + exact) / count : 0;
}

/* Fits the plane to the vertices that are within `reach` of their images; false if there are too few. */
static bool fit(const search *f, exi_plane *plane, double reach) {
    const exi_standing *s = f->s;
    double p0[3] = {0}, q0[3] = {0}, a[9] = {0}, values[3], vectors[9];
    int *found = f->found, count = 0;
    for (int v = 0; v < s->mesh->vertex_count; v += stride(s)) {
        double image[3], surface, apart;
        exi_plane_point(plane, s->positions + 3 * (size_t)v, image);
        found[v] = nearest_vertex(s, image, &surface, &apart);
        found[v] = apart <= reach ? found[v] : -1;
        for (int c = 0; found[v] >= 0 && c < 3; c++) {
            p0[c] += s->positions[3 * (size_t)v + (size_t)c];
            q0[c] += s->positions[3 * (size_t)found[v] + (size_t)c];
        }
        count += found[v] >= 0;
    }
    for (int c = 0; count > 0 && c < 3; c++) {
        p0[c] /= count;
        q0[c] /= count;
    }
    for (int v = 0; count > 0 && v < s->mesh->vertex_count; v += stride(s))
        for (int i = 0; found[v] >= 0 && i < 3; i++)
            for (int k = 0; k < 3; k++) {
                const double *p = s->positions + 3 * (size_t)v, *q = s->positions + 3 * (size_t)found[v];
                a[3 * i + k] += (p[i] - p0[i]) * (q[k] - q0[k]) + (q[i] - q0[i]) * (p[k] - p0[k]);
            }
    if (count < 4 || count * stride(s) < s->mesh->vertex_count / 10)
        return false;
    exi_eigen(a, 3, values, vectors);
    const double *n = vectors + 6;
    if (fabs(exi_dot3(n, plane->normal)) < 0.98) /* it has slipped to another symmetry */
        return false;
    memcpy(plane->normal, n, sizeof plane->normal);
    plane->offset = 0;
    for (int c = 0; c < 3; c++)
        plane->offset += n[c] * (p0[c] + q0[c]) / 2;
    return true;
}

/* Joints in pairs keep a plane from going through the middle of an arm, which is symmetric too. */
static void add(search *f, const double normal[3], double offset) {
    if (f->count < CANDIDATES && fabs(exi_dot3(normal, f->middle) - offset) <= f->reach) {
        memcpy(f->candidates[f->count].normal, normal, 3 * sizeof *normal);
        f->candidates[f->count++].offset = offset;
    }
}

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Adds planes of one direction. */
static ex_result add_direction(search *f, const double n[3], const double (*pairs)[2][3], int pair_count,
                               ex_error *error) {
    const exi_standing *s = f->s;
    double low = INFINITY, high = -INFINITY;
    for (int v = 0; v < s->mesh->vertex_count; v++) {
        const double at = exi_dot3(n, s->positions + 3 * (size_t)v);
        low = fmin(low, at);
        high = fmax(high, at);
    }
    add(f, n, 0);
    if (high > low)
        add(f, n, (low + high) / 2);
    if (pair_count == 0)
        return EX_OK;
    double *middles = exi_array_allocate((size_t)pair_count, sizeof *middles);
    if (!middles)
        return ex_error_memory(error, "mirroring", (size_t)pair_count * sizeof *middles);
    for (int i = 0; i < pair_count; i++)
        middles[i] = (exi_dot3(n, pairs[i][0]) + exi_dot3(n, pairs[i][1])) / 2;
    qsort(middles, (size_t)pair_count, sizeof *middles, compare_numbers);
    add(f, n, middles[pair_count / 2]);
    free(middles);
    return EX_OK;
}

/* Adds the fitted plane, and before it the one along an axis or through the origin if that is nearly the same. */
static void add_fitted(search *f, const exi_plane *from) {
    static const double reaches[] = {3e-2, 1e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4};
    exi_plane plane = *from;
    size_t fits = 0;
    while (fits < sizeof reaches / sizeof *reaches && fit(f, &plane, reaches[fits] * f->s->size))
        fits++;
    if (fits == 0)
        return;
    for (int c = 0; c < 3; c++)
        if (fabs(plane.normal[c]) > 1 - 1e-5) {
            double axis[3] = {0};
            axis[c] = 1;
            const double offset = plane.normal[c] > 0 ? plane.offset : -plane.offset;
            if (fabs(offset) < 1e-3 * f->s->size)
                add(f, axis, 0);
            add(f, axis, offset);
        }
    add(f, plane.normal, plane.offset);
}

/* Returns the share of joints with a joint at their mirror image. */
static double judge_joints(const search *f, const exi_plane *plane) {
    const ex_skeleton *skeleton = f->joints->skeleton;
    const int count = skeleton ? ex_skeleton_joint_count(skeleton) : 0;
    int found = 0;
    for (int j = 0; j < count; j++) {
        double image[3];
        bool there = false;
        exi_plane_point(plane, f->joints->centres + 3 * (size_t)j, image);
        for (int k = 0; !there && k < count; k++) {
            const double *p = f->joints->centres + 3 * (size_t)k;
            there = hypot(hypot(p[0] - image[0], p[1] - image[1]), p[2] - image[2]) <= FAR * f->s->size &&
                    exi_joint_depth(skeleton, j) == exi_joint_depth(skeleton, k);
        }
        found += there;
    }
    return count > 0 ? (double)found / count : 0;
}

static int best_of(const search *f, double *near, double *points) {
    int best = 0;
    double most = -1;
    for (int i = 0; i < f->count; i++) {
        double surface;
        const double vertices = judge(f->s, &f->candidates[i], &surface);
        const double rank = vertices + (f->joints->pair_count == 0 ? judge_joints(f, &f->candidates[i]) : 0);
        if (rank > most + BETTER) {
            best = i;
            most = rank;
            *near = surface;
            *points = vertices;
        }
    }
    return best;
}

ex_result exi_mirror_find_plane(const exi_standing *s, const exi_plane_joints *joints, exi_plane *plane, double *near,
                                double *points, ex_error *error) {
    const int pair_count = joints->pair_count;
    const double(*pairs)[2][3] = joints->pairs;
    search f = {.s = s, .joints = joints, .reach = pair_count > 0 ? 0 : INFINITY};
    double across[3] = {0};
    f.found = exi_array_allocate((size_t)s->mesh->vertex_count, sizeof *f.found);
    ex_result result =
        f.found ? EX_OK : ex_error_memory(error, "mirroring", (size_t)s->mesh->vertex_count * sizeof *f.found);
    for (int i = 0; i < pair_count; i++) {
        double apart[3];
        exi_subtract(pairs[i][0], pairs[i][1], apart);
        f.reach += 0.15 * sqrt(exi_dot3(apart, apart)) / pair_count;
        for (int c = 0; c < 3; c++) {
            across[c] += apart[c];
            f.middle[c] += (pairs[i][0][c] + pairs[i][1][c]) / (2 * pair_count);
        }
    }
    const bool known = pair_count > 0 && exi_normalise(across, 3);
    for (int c = 0; result == EX_OK && c < 3; c++) {
        double axis[3] = {0};
        axis[c] = 1;
        if (known ? fabs(across[c]) > 0.97 : c != 1)
            result = add_direction(&f, axis, pairs, pair_count, error);
    }
    if (result == EX_OK && known)
        result = add_direction(&f, across, pairs, pair_count, error);
    *near = *points = 0;
    if (result == EX_OK && known && f.count == 0)
        add(&f, across, exi_dot3(across, f.middle));
    if (result == EX_OK && f.count == 0)
        result = ex_error_set(error, EX_ERROR_DATA,
                              "the plane of symmetry was not found: all joints in pairs are at one place");
    if (result == EX_OK) {
        const exi_plane best = f.candidates[best_of(&f, near, points)];
        add_fitted(&f, &best);
        *plane = f.candidates[best_of(&f, near, points)];
    }
    free(f.found);
    return result;
}
