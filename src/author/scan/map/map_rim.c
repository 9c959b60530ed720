/*
 * Measures the bending of a displaced surface across the edges of its filled holes, and at the same edges of the
 * surface without holes: angles between the normals of the faces on both sides of an edge.
 */
#include "author/scan/map/map.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double degrees = 57.29577951308232;

/* Returns 3 if the face has a filled vertex, 2 if it has a faired one at most, 0 if all were measured, -1 if it is not
 * inside the part. */
static int face_kind(const exi_map_net *net, const ex_displacement_map *map, int face) {
    int kind = 0;
    for (int c = net->face_starts[face]; c < net->face_starts[face + 1]; c++) {
        const int state = map->states[net->corners[c]];
        if (state == EX_DISPLACEMENT_MAP_OUTSIDE)
            return -1;
        if (state == EX_DISPLACEMENT_MAP_FILLED || state == EX_DISPLACEMENT_MAP_LENT)
            kind = 3;
        else if (state == EX_DISPLACEMENT_MAP_FAIRED && kind < 2)
            kind = 2;
    }
    return kind;
}

/* Computes a polygon's normal as the sum over its edges (Newell); returns false if it has none. */
static bool face_normal(const exi_map_net *net, const exi_map_surface *surface, const ex_displacement_map *map,
                        int face, double out[3]) {
    double first[3], p[3], q[3];
    out[0] = out[1] = out[2] = 0;
    exi_map_displace(surface, map, net->corners[net->face_starts[face]], first);
    for (int c = net->face_starts[face]; c < net->face_starts[face + 1]; c++) {
        double n[3];
        exi_map_displace(surface, map, net->corners[c], p);
        exi_map_displace(surface, map, exi_map_net_beside(net, c, 1), q);
        exi_subtract(p, first, p);
        exi_subtract(q, first, q);
        exi_cross(p, q, n);
        for (int k = 0; k < 3; k++)
            out[k] += n[k];
    }
    return exi_unit3(out);
}

static double angle_between(const exi_map_net *net, const exi_map_surface *surface, const ex_displacement_map *map,
                            int a, int b) {
    double p[3], q[3], n[3];
    if (!face_normal(net, surface, map, a, p) || !face_normal(net, surface, map, b, q))
        return 0;
    exi_cross(p, q, n);
    return degrees * atan2(sqrt(exi_dot3(n, n)), exi_dot3(p, q));
}

/* Returns the other face of the edge from a corner to the next, or -1. */
static int across(const exi_map_net *net, int corner) {
    const int a = net->corners[corner], b = exi_map_net_beside(net, corner, 1);
    for (int i = net->vertex_starts[b]; i < net->vertex_starts[b + 1]; i++)
        if (exi_map_net_beside(net, net->vertex_corners[i], 1) == a)
            return net->corner_faces[net->vertex_corners[i]];
    return -1;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void sum_up(double *angles, int count, double *rms, double *high) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += angles[i] * angles[i];
    qsort(angles, (size_t)count, sizeof *angles, compare_doubles);
    *rms = count ? sqrt(sum / count) : 0;
    *high = count ? angles[(int)(0.95 * (count - 1))] : 0;
}

/* kinds [face_count]; angles and whole_angles [corner count] or NULL. */
static int measure(const exi_map_net *net, const exi_map_surface *surface, const ex_displacement_map *map,
                   const ex_displacement_map *whole, int *kinds, double *angles, double *whole_angles) {
    int count = 0;
    for (int f = 0; f < net->face_count; f++)
        kinds[f] = face_kind(net, map, f);
    for (int c = 0; c < net->face_starts[net->face_count]; c++) {
        const int face = net->corner_faces[c], other = across(net, c);
        if (other < 0 || kinds[other] < 0 || kinds[face] <= kinds[other]) /* each edge once, from the filled side */
            continue;
        angles[count] = angle_between(net, surface, map, face, other);
        if (whole)
            whole_angles[count] = angle_between(net, surface, whole, face, other);
        count++;
    }
    return count;
}

ex_result ex_displacement_map_measure_rim(const ex_rig *rig, int level, const ex_transform *joints,
                                          const ex_displacement_map *map, const ex_displacement_map *whole,
                                          ex_displacement_map_rim *rim, ex_error *error) {
    if (!rig || !map || !rim)
        return exi_misuse_error(error, __func__, "no rig, no map, or no pointer for the answer");
    exi_map_net net;
    exi_map_surface surface = {0};
    *rim = (ex_displacement_map_rim){0};
    ex_result result = exi_map_net_make(rig, level, &net, error);
    if (result == EX_OK)
        result = exi_map_check(map, net.vertex_count, "the map", error);
    if (result == EX_OK && whole)
        result = exi_map_check(whole, net.vertex_count, "the unharmed map", error);
    if (result == EX_OK)
        result = exi_map_surface_make(rig, level, joints, NULL, &surface, error);
    if (result == EX_OK) {
        const size_t corners = (size_t)net.face_starts[net.face_count];
        int *kinds = exi_array_allocate((size_t)net.face_count, sizeof *kinds);
        double *angles = exi_array_allocate(corners, sizeof *angles);
        double *whole_angles = exi_array_allocate(corners, sizeof *whole_angles);
        if (kinds && angles && whole_angles) {
            rim->edge_count = measure(&net, &surface, map, whole, kinds, angles, whole_angles);
            sum_up(angles, rim->edge_count, &rim->rms, &rim->high);
            if (whole)
                sum_up(whole_angles, rim->edge_count, &rim->whole_rms, &rim->whole_high);
        } else {
            result = ex_error_memory(error, "the edges of holes", corners * 16);
        }
        free(kinds);
        free(angles);
        free(whole_angles);
    }
    exi_map_surface_free(&surface);
    exi_map_net_free(&net);
    return result;
}
