/*
 * A start for marker sets that only tell the bones of their markers: clusters such as RTH1 to RTH4.
 *
 * In one frame that shows as many of them as any, each bone's markers become one, at their mean, which is taken to be
 * in the middle of the bone. The hips also get two points that tell their heading: left is from the right half of the
 * body to the left one, and up is up. A pose that brings the skeleton there gives all markers their places on their
 * bones. That pose is a guess: angles found later are off by what it was off.
 */
#include "author/scan/capture/capture.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOINTS_LEAST = 3 };
#define ARM 0.1 /* metres, of the points that tell the heading */

typedef struct guess {
    exi_capture_work *w;
    int frame;
    double (*means)[3]; /* [joint_count] of the markers on a bone */
    double (*local)[3]; /* [joint_count] where that is on the bone */
    int *counts;        /* [joint_count] */
    double left[3];     /* of the body, in the world */
    double scale;
} guess;

/* The joint of a marker whose bone or place is known, or -1. */
static int joint_of(const exi_capture_work *w, int marker) {
    const exi_marker_meaning *meaning = &w->meanings[marker];
    if (meaning->kind != EXI_MARKER_BONE && meaning->kind != EXI_MARKER_PLACE)
        return -1;
    return ex_kinematics_find_joint(w->kinematics, meaning->joint);
}

/* The frame in which most markers with a bone are seen; the straightest legs among them: the hips highest above the
 * rest. */
static int best_frame(const exi_capture_work *w) {
    int best = w->still_count, most = -1;
    double highest = -INFINITY;
    for (int f = w->still_count; f < w->markers->frame_count; f++) {
        int count = 0, high = 0;
        double hips = 0, all = 0;
        for (int m = 0; m < w->markers->marker_count; m++) {
            const float *p = joint_of(w, m) >= 0 ? exi_capture_seen(w->markers, f, m) : NULL;
            count += p != NULL;
            all += p ? (double)p[1] : 0;
            if (p && joint_of(w, m) == 0) {
                hips += (double)p[1];
                high++;
            }
        }
        const double height = high > 0 ? hips / high - all / count : -INFINITY;
        if (count > most || (count == most && height > highest)) {
            best = f;
            most = count;
            highest = height;
        }
    }
    return best;
}

/* Means by bone, the size by their distances, and the heading. */
static bool measure(guess *g) {
    const exi_capture_work *w = g->w;
    double seen = 0, own = 0, middle[2][3] = {{0}};
    int bones = 0, sides[2] = {0};
    for (int m = 0; m < w->markers->marker_count; m++) {
        const int j = joint_of(w, m);
        const float *p = j >= 0 ? exi_capture_seen(w->markers, g->frame, m) : NULL;
        if (!p)
            continue;
        for (int i = 0; i < 3; i++) {
            g->means[j][i] += (double)p[i];
            g->local[j][i] += w->meanings[m].at[i];
        }
        g->counts[j]++;
        if (w->meanings[m].side == 0)
            continue;
        const int side = w->meanings[m].side > 0 ? 0 : 1;
        sides[side]++;
        for (int i = 0; i < 3; i++)
            middle[side][i] += (double)p[i];
    }
    for (int j = 0; j < w->kinematics->joint_count; j++)
        for (int i = 0; i < 3 && g->counts[j] > 0; i++) {
            g->means[j][i] /= g->counts[j];
            g->local[j][i] /= g->counts[j];
        }
    /* Heights of bones of the skeleton, with the arms out, against those seen. */
    for (int j = 0; j < w->kinematics->joint_count; j++) {
        double height = g->local[j][1];
        bones += g->counts[j] > 0;
        if (g->counts[j] == 0 || strncmp(w->kinematics->joints[j].name, "shoulder", 8) == 0 ||
            strncmp(w->kinematics->joints[j].name, "forearm", 7) == 0)
            continue;
        for (int k = j; k > 0; k = w->kinematics->joints[k].parent)
            height += w->kinematics->joints[k].translation[1];
        seen += fabs(g->means[j][1] - g->means[0][1]);
        own += fabs(height - g->local[0][1]);
    }
    g->scale = own > 0 && seen > 0 ? seen / own : 1;
    for (int i = 0; i < 3; i++)
        g->left[i] = sides[0] > 0 && sides[1] > 0 && i != 1 ? middle[0][i] / sides[0] - middle[1][i] / sides[1] : 0;
    return g->counts[0] > 0 && bones >= JOINTS_LEAST && exi_normalise(g->left, 3);
}

/* ---- the pose ---- */

static void scale(ex_kinematics *kinematics, double by) {
    for (int j = 0; j < kinematics->joint_count; j++)
        for (int i = 0; i < 3; i++)
            kinematics->joints[j].translation[i] *= by;
    for (int s = 0; s < kinematics->site_count; s++)
        for (int i = 0; i < 3; i++)
            kinematics->sites[s].local[i] *= by;
}

/* Solves for the pose with one site per bone, and two more at the hips. */
static ex_result find_pose(guess *g, ex_kin_pose *pose) {
    exi_capture_work *w = g->w;
    const int joints = w->kinematics->joint_count;
    const size_t most = (size_t)joints + 2;
    ex_kinematics *plain = ex_kinematics_copy(w->kinematics);
    ex_site *sites = calloc(most, sizeof *sites);
    double(*seen)[3] = exi_array_allocate(most, sizeof *seen);
    double(*turns)[4] = exi_array_allocate((size_t)joints, sizeof *turns);
    double(*places)[3] = exi_array_allocate((size_t)joints, sizeof *places);
    double(*rest)[4] = exi_array_allocate((size_t)joints, sizeof *rest);
    ex_result result = plain && sites && seen && turns && places && rest ? EX_OK : exi_capture_no_memory(w);
    if (result == EX_OK) {
        ex_site *kept = plain->sites;
        const int kept_count = plain->site_count;
        const double up[3] = {0, 1, 0};
        int count = 0;
        for (int j = 0; j < joints; j++) {
            memcpy(rest[j], (const double[4]){0, 0, 0, 1}, sizeof *rest);
            if (g->counts[j] == 0)
                continue;
            sites[count] = (ex_site){.joint = j, .placed = true};
            for (int i = 0; i < 3; i++) {
                sites[count].local[i] = g->local[j][i] * g->scale;
                seen[count][i] = g->means[j][i];
            }
            count++;
        }
        for (int k = 0; k < 2; k++, count++) {
            sites[count] = sites[0];
            sites[count].local[k] += ARM;
            for (int i = 0; i < 3; i++)
                seen[count][i] = seen[0][i] + ARM * (k == 0 ? g->left[i] : up[i]);
        }
        plain->sites = sites;
        plain->site_count = count;
        const ex_kin_pose likely = {.rotations = rest};
        exi_capture_start(plain, w->locked, (const double(*)[3])seen, &likely, pose, turns, places);
        plain->sites = kept;
        plain->site_count = kept_count;
    }
    ex_kinematics_destroy(plain);
    free(sites);
    free(seen);
    free(turns);
    free(places);
    free(rest);
    return result;
}

/* Places every marker that the frame shows on its bone. */
static ex_result place(guess *g, const ex_kin_pose *pose) {
    exi_capture_work *w = g->w;
    const size_t joints = (size_t)w->kinematics->joint_count;
    double(*turns)[4] = exi_array_allocate(joints, sizeof *turns);
    double(*places)[3] = exi_array_allocate(joints, sizeof *places);
    bool good = turns && places;
    if (good)
        ex_kin_frames(w->kinematics, pose, turns, places);
    for (int m = 0; m < w->markers->marker_count && good; m++) {
        const int j = joint_of(w, m);
        const float *p = j >= 0 ? exi_capture_seen(w->markers, g->frame, m) : NULL;
        if (!p)
            continue;
        const double back[4] = {-turns[j][0], -turns[j][1], -turns[j][2], turns[j][3]};
        const double off[3] = {(double)p[0] - places[j][0], (double)p[1] - places[j][1], (double)p[2] - places[j][2]};
        double local[3];
        exi_rotate(back, off, local);
        if (w->out->sites[m] >= 0)
            memcpy(w->kinematics->sites[w->out->sites[m]].local, local, sizeof local);
        else
            good = exi_capture_add_site(w, m, j, local);
        if (w->meanings[m].kind == EXI_MARKER_BONE)
            snprintf(w->out->markers[m].text, sizeof w->out->markers[m].text, "by its name on %s",
                     w->kinematics->joints[j].name);
    }
    free(turns);
    free(places);
    return good ? EX_OK : exi_capture_no_memory(w);
}

/* True if enough markers, and of the hips, have a known place. */
static bool is_enough(const exi_capture_work *w) {
    int hips = 0;
    for (int s = 0; s < w->kinematics->site_count; s++)
        hips += w->kinematics->sites[s].joint == 0;
    return w->kinematics->site_count >= EXI_CAPTURE_MATCHES && hips >= 2;
}

ex_result exi_capture_start_clusters(exi_capture_work *w) {
    if (is_enough(w) || w->markers->frame_count < 1)
        return EX_OK;
    int bones = 0;
    for (int m = 0; m < w->markers->marker_count; m++)
        bones += joint_of(w, m) >= 0 && w->out->sites[m] < 0;
    if (bones < EXI_CAPTURE_MATCHES)
        return EX_OK;
    const size_t joints = (size_t)w->kinematics->joint_count;
    guess g = {.w = w,
               .frame = best_frame(w),
               .means = calloc(joints, sizeof *g.means),
               .local = calloc(joints, sizeof *g.local),
               .counts = calloc(joints, sizeof *g.counts)};
    ex_kin_pose pose = {.rotations = exi_array_allocate(joints, sizeof *pose.rotations)};
    ex_result result = g.means && g.local && g.counts && pose.rotations ? EX_OK : exi_capture_no_memory(w);
    if (result == EX_OK && measure(&g)) {
        scale(w->kinematics, g.scale);
        w->scaled = true;
        w->out->scale = g.scale;
        w->out->zero_frame = g.frame - w->still_count;
        result = find_pose(&g, &pose);
        if (result == EX_OK)
            result = place(&g, &pose);
        if (result == EX_OK &&
            !exi_capture_note(
                w,
                "the names tell only the bones of the markers: angles of hips, trunk, arms and feet count "
                "from frame %d, as if the person stood upright there; a static trial with markers at the "
                "joints (--static) gives true ones",
                g.frame - w->still_count + w->markers->first_frame))
            result = exi_capture_no_memory(w);
    }
    free(g.means);
    free(g.local);
    free(g.counts);
    free(pose.rotations);
    return result;
}
