/*
 * The size of the starting skeleton, and of each of its bones, from distances between markers that hardly depend on the
 * pose: from the outside of the knee to that of the ankle, from heel to toe, across and along the pelvis. Bones are
 * then held near lengths of this person, not of an average one.
 *
 * Centres of hips, relative to the middle between the front iliac spines, with W the distance between these and D that
 * to the back ones (Harrington and others, J. Biomech. 40, 2007, children and adults in magnetic resonance images):
 *
 *     backwards 0.24 D + 9.9 mm,  down 0.30 W + 10.9 mm,  outwards 0.33 W + 7.3 mm
 */
#include "author/scan/capture/capture.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64, PAIRS = 4096 };
#define LEAST 0.7 /* ratios of bones beyond these are wrong labels, not bones */
#define MOST  1.4

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double length(const double a[3], const double b[3]) {
    double d[3];
    exi_subtract(a, b, d);
    return sqrt(exi_dot3(d, d));
}

/* Returns the median over frames of the distance between two markers; 0 if they are never seen together. */
static double seen_distance(const ex_markers *markers, int a, int b) {
    double distances[SAMPLES];
    int count = 0;
    const int step = markers->frame_count / SAMPLES + 1;
    for (int f = 0; f < markers->frame_count; f += step) {
        const float *p = exi_capture_seen(markers, f, a), *q = exi_capture_seen(markers, f, b);
        if (!p || !q)
            continue;
        const double d[3] = {(double)(p[0] - q[0]), (double)(p[1] - q[1]), (double)(p[2] - q[2])};
        distances[count++] = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    qsort(distances, (size_t)count, sizeof *distances, compare_numbers);
    return count > 0 ? distances[count / 2] : 0;
}

/* ---- the whole ---- */

void exi_capture_scale(exi_capture_work *w) {
    const ex_markers *markers = w->markers;
    const ex_kinematics *kinematics = w->kinematics;
    double seen = 0, own = 0;
    int pairs = 0;
    for (int a = 0; a < markers->marker_count; a++)
        for (int b = a + 1; b < markers->marker_count && pairs < PAIRS; b++) {
            const int s = w->out->sites[a], t = w->out->sites[b];
            if (s < 0 || t < 0 || kinematics->sites[s].joint != kinematics->sites[t].joint)
                continue;
            const double *p = kinematics->sites[s].local, *q = kinematics->sites[t].local;
            const double distance = seen_distance(markers, a, b);
            if (distance == 0 || !kinematics->sites[s].placed || !kinematics->sites[t].placed)
                continue;
            seen += distance;
            own += length(p, q);
            pairs++;
        }
    w->out->scale = own > 0 && seen > 0 ? seen / own : 1;
    for (int j = 0; j < kinematics->joint_count; j++)
        for (int i = 0; i < 3; i++)
            kinematics->joints[j].translation[i] *= w->out->scale;
    for (int s = 0; s < kinematics->site_count; s++)
        for (int i = 0; i < 3; i++)
            kinematics->sites[s].local[i] *= w->out->scale;
}

/* ---- bones ---- */

/* The marker at a place of a side (0 left, 1 right, 2 middle), or -1. */
static int find_marker(const exi_capture_work *w, const char *name, int side) {
    char sided[16];
    snprintf(sided, sizeof sided, "%s%s", side == 0 ? "L" : side == 1 ? "R" : "", name);
    const exi_marker_meaning wanted = exi_marker_look_up(sided);
    for (int m = 0; m < w->markers->marker_count; m++)
        if (w->out->sites[m] >= 0 && w->meanings[m].kind == EXI_MARKER_PLACE && w->meanings[m].place == wanted.place &&
            w->meanings[m].side == wanted.side)
            return m;
    return -1;
}

static ex_site *site_of(const exi_capture_work *w, int marker) {
    return &w->kinematics->sites[w->out->sites[marker]];
}

/* Finds the place of a site with the skeleton at rest, from the base. */
static void rest_place(const exi_capture_work *w, const ex_site *site, double at[3]) {
    memcpy(at, site->local, 3 * sizeof *at);
    for (int j = site->joint; j > 0; j = w->kinematics->joints[j].parent)
        for (int i = 0; i < 3; i++)
            at[i] += w->kinematics->joints[j].translation[i];
}

/* Ratio of a distance as seen to that of the skeleton, over both sides; 0 if not seen. */
static double ratio_of(const exi_capture_work *w, const char *from, const char *to) {
    double seen = 0, own = 0, a[3], b[3];
    for (int side = 0; side < 2; side++) {
        const int m = find_marker(w, from, side), n = find_marker(w, to, side);
        const double distance = m >= 0 && n >= 0 ? seen_distance(w->markers, m, n) : 0;
        if (distance == 0)
            continue;
        rest_place(w, site_of(w, m), a);
        rest_place(w, site_of(w, n), b);
        seen += distance;
        own += length(a, b);
    }
    const double ratio = own > 0 ? seen / own : 0;
    return ratio > LEAST && ratio < MOST ? ratio : 0;
}

/* Scales a bone on both sides: the way to the next joint, and its markers. */
static void scale_bone(const exi_capture_work *w, const char *joint, double ratio) {
    for (int side = 0; side < 2 && ratio > 0; side++) {
        char name[24];
        snprintf(name, sizeof name, "%s%s", joint, side == 0 ? ".L" : ".R");
        const int j = ex_kinematics_find_joint(w->kinematics, name);
        for (int k = j + 1; j >= 0 && k < w->kinematics->joint_count; k++)
            for (int i = 0; i < 3 && w->kinematics->joints[k].parent == j; i++)
                w->kinematics->joints[k].translation[i] *= ratio;
        for (int s = 0; j >= 0 && s < w->kinematics->site_count; s++)
            for (int i = 0; i < 3 && w->kinematics->sites[s].joint == j; i++)
                w->kinematics->sites[s].local[i] *= ratio;
    }
}

/* Markers of the pelvis at their distances, and the centres of hips. */
static void size_pelvis(const exi_capture_work *w) {
    int front[2], back[2];
    const int sacrum = find_marker(w, "SACR", 2);
    for (int side = 0; side < 2; side++) {
        front[side] = find_marker(w, "ASI", side);
        back[side] = find_marker(w, "PSI", side);
    }
    const int left = ex_kinematics_find_joint(w->kinematics, "hip.L");
    const int right = ex_kinematics_find_joint(w->kinematics, "hip.R");
    if (front[0] < 0 || front[1] < 0 || left < 0 || right < 0 || ((back[0] < 0 || back[1] < 0) && sacrum < 0))
        return;
    const bool two = back[0] >= 0 && back[1] >= 0;
    const double width = seen_distance(w->markers, front[0], front[1]);
    const double behind = two ? seen_distance(w->markers, back[0], back[1]) : 0;
    const int other = two ? back[0] : sacrum;
    /* From one front marker to the back one of its side: across it is half the difference of the widths. */
    const double slant = seen_distance(w->markers, front[0], other), across = (width - behind) / 2;
    const double depth = sqrt(fmax(0, slant * slant - across * across));
    if (width < 0.1 || width > 0.5 || depth < 0.05 || depth > 0.4)
        return;
    const double ahead = site_of(w, front[0])->local[2], height = site_of(w, front[0])->local[1];
    const double old = ahead - site_of(w, other)->local[2], z = old > 0 ? ahead * depth / old : ahead;
    for (int side = 0; side < 2; side++) {
        const double sign = side == 0 ? 1 : -1;
        const double hip[3] = {sign * (0.33 * width + 0.0073), height - 0.30 * width - 0.0109,
                               z - 0.24 * depth - 0.0099};
        site_of(w, front[side])->local[0] = sign * width / 2;
        site_of(w, front[side])->local[2] = z;
        if (two) {
            site_of(w, back[side])->local[0] = sign * behind / 2;
            site_of(w, back[side])->local[2] = z - depth;
        }
        memcpy(w->kinematics->joints[side == 0 ? left : right].translation, hip, sizeof hip);
    }
    if (sacrum >= 0)
        site_of(w, sacrum)->local[2] = z - depth;
}

void exi_capture_size_bones(exi_capture_work *w) {
    if (strcmp(w->kinematics->name, "full") != 0)
        return;
    const double shin = ratio_of(w, "KNE", "ANK");
    size_pelvis(w);
    scale_bone(w, "knee", shin);
    scale_bone(w, "hip", shin);
    scale_bone(w, "ankle", ratio_of(w, "HEE", "TOE"));
}
