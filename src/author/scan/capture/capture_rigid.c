/*
 * Puts markers on bones by rigidity, with the poses of all frames known. In the frame of a bone a marker that it
 * carries stays where it is: with q_f its position there in frame f, and c their mean,
 *
 *     s = root of the mean of |q_f - c|^2
 *
 * is small for the right bone. Bones with nearly the same s (a trial may hardly move between them) are decided by the
 * distance from the bone. Markers whose name tells the bone are placed on it, if s allows.
 */
#include "author/scan/capture/capture.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 150, SEEN_LEAST = 3 };
#define LOOSE_NAMED   0.06  /* metres that a marker may move against the bone of its name */
#define LOOSE_UNKNOWN 0.02  /* against another */
#define ALIKE         1.25  /* spreads that differ by less do not decide */
#define FAR           0.45  /* metres from the joint: not on this bone */
#define STILL         0.005 /* metres: does not move */

typedef struct trial {
    exi_capture_work *w;
    int count; /* sampled frames */
    int frames[SAMPLES + 1];
    double (*turns)[4];  /* [count][joint_count] */
    double (*places)[3]; /* [count][joint_count] */
} trial;

typedef struct fit {
    int seen;
    double local[3], spread;
} fit;

static bool open_trial(trial *t) {
    exi_capture_work *w = t->w;
    const size_t joints = (size_t)w->kinematics->joint_count;
    const int motion = w->markers->frame_count - w->still_count, step = motion / SAMPLES + 1;
    t->turns = exi_array_allocate((size_t)(SAMPLES + 1 + w->still_count) * joints, sizeof *t->turns);
    t->places = exi_array_allocate((size_t)(SAMPLES + 1 + w->still_count) * joints, sizeof *t->places);
    if (!t->turns || !t->places)
        return false;
    for (int f = 0; f < w->markers->frame_count && t->count < SAMPLES; f += f < w->still_count ? 1 : step) {
        if (!w->poses[f].rotations || isnan(w->rms[f]))
            continue;
        ex_kin_frames(w->kinematics, &w->poses[f], t->turns + (size_t)t->count * joints,
                      t->places + (size_t)t->count * joints);
        t->frames[t->count++] = f;
    }
    return true;
}

/* The marker in the frame of a joint; two passes, the second without the frames that are far off in the first. */
static fit fit_marker(const trial *t, int marker, int joint) {
    const size_t joints = (size_t)t->w->kinematics->joint_count;
    fit found = {0};
    double limit = INFINITY;
    for (int pass = 0; pass < 2; pass++) {
        double sum[3] = {0}, squares = 0;
        int count = 0;
        for (int i = 0; i < t->count; i++) {
            const float *p = exi_capture_seen(t->w->markers, t->frames[i], marker);
            if (!p)
                continue;
            const size_t at = (size_t)i * joints + (size_t)joint;
            const double *q = t->turns[at], back[4] = {-q[0], -q[1], -q[2], q[3]};
            const double off[3] = {(double)p[0] - t->places[at][0], (double)p[1] - t->places[at][1],
                                   (double)p[2] - t->places[at][2]};
            double local[3], d[3];
            exi_rotate(back, off, local);
            exi_subtract(local, found.local, d);
            if (pass > 0 && exi_dot3(d, d) > limit)
                continue;
            for (int k = 0; k < 3; k++)
                sum[k] += local[k];
            squares += exi_dot3(local, local);
            count++;
        }
        if (count == 0)
            return found;
        for (int k = 0; k < 3; k++)
            found.local[k] = sum[k] / count;
        found.seen = count;
        found.spread = sqrt(fmax(0, squares / count - exi_dot3(found.local, found.local)));
        limit = 9 * found.spread * found.spread + 1e-8;
    }
    return found;
}

/* Metres from the bone that begins at a joint: the line to its first child, or the joint itself. */
static double from_bone(const ex_kinematics *kinematics, int joint, const double local[3]) {
    double d[3] = {local[0], local[1], local[2]};
    for (int k = joint + 1; k < kinematics->joint_count; k++) {
        const double *t = kinematics->joints[k].translation;
        const double length = exi_dot3(t, t);
        if (kinematics->joints[k].parent != joint || length == 0)
            continue;
        const double along = fmin(1, fmax(0, exi_dot3(t, local) / length));
        for (int i = 0; i < 3; i++)
            d[i] = local[i] - along * t[i];
        break;
    }
    return sqrt(exi_dot3(d, d));
}

static bool carries_markers(const ex_kinematics *kinematics, int joint) {
    for (int s = 0; s < kinematics->site_count; s++)
        if (kinematics->sites[s].joint == joint)
            return true;
    return false;
}

/* The metres that a marker moves in all; used for those that stay in the room. */
static double travel(const ex_markers *markers, int marker) {
    float low[3] = {0}, high[3] = {0};
    bool any = false;
    for (int f = 0; f < markers->frame_count; f++) {
        const float *p = exi_capture_seen(markers, f, marker);
        for (int i = 0; i < 3 && p; i++) {
            low[i] = !any || p[i] < low[i] ? p[i] : low[i];
            high[i] = !any || p[i] > high[i] ? p[i] : high[i];
        }
        any = any || p;
    }
    return (double)fmaxf(high[0] - low[0], fmaxf(high[1] - low[1], high[2] - low[2]));
}

/* The marker that is used for the place of this one, or -1. */
static int place_of(const exi_capture_work *w, int marker) {
    for (int m = 0; m < w->markers->marker_count; m++)
        if (m != marker && w->out->sites[m] >= 0 && w->meanings[marker].place >= 0 &&
            w->meanings[m].place == w->meanings[marker].place && w->meanings[m].side == w->meanings[marker].side)
            return m;
    return -1;
}

static bool put_named(const trial *t, int marker, bool *added) {
    exi_capture_work *w = t->w;
    const int joint = ex_kinematics_find_joint(w->kinematics, w->meanings[marker].joint);
    ex_capture_marker *said = &w->out->markers[marker];
    if (joint < 0) {
        snprintf(said->text, sizeof said->text, "on a bone that the skeleton does not have");
        return true;
    }
    const fit found = fit_marker(t, marker, joint);
    const char *bone = w->kinematics->joints[joint].name;
    const bool far = from_bone(w->kinematics, joint, found.local) > FAR;
    if (found.seen == 0)
        snprintf(said->text, sizeof said->text, "not seen together with others");
    else if ((far || found.spread > LOOSE_NAMED) && place_of(w, marker) >= 0)
        snprintf(said->text, sizeof said->text, "%.40s has its place, and it %s %.30s: another person?",
                 w->markers->names[place_of(w, marker)], far ? "is far from" : "moves against", bone);
    else if (far)
        snprintf(said->text, sizeof said->text, "is far from its bone, %.40s", bone);
    else if (found.spread > LOOSE_NAMED)
        snprintf(said->text, sizeof said->text, "moves %.0f mm against its bone, %.40s", 1000 * found.spread, bone);
    else {
        snprintf(said->text, sizeof said->text, "by its name on %.40s (moves %.1f mm against it)", bone,
                 1000 * found.spread);
        *added = true;
        return exi_capture_add_site(w, marker, joint, found.local);
    }
    return true;
}

static bool put_unknown(const trial *t, int marker, bool *added) {
    exi_capture_work *w = t->w;
    ex_capture_marker *said = &w->out->markers[marker];
    const bool blank = w->meanings[marker].kind == EXI_MARKER_BLANK;
    const char *what = blank ? "no label, and " : "unknown name, and ";
    double least = INFINITY;
    int best = -1, seen = 0, nearest = -1;
    fit kept = {0};
    if (travel(w->markers, marker) < STILL && travel(w->markers, 0) > 10 * STILL) {
        snprintf(said->text, sizeof said->text, "%sdoes not move: not on the body", what);
        return true;
    }
    for (int round = 0; round < 2; round++) {
        double closest = INFINITY;
        for (int j = 0; j < w->kinematics->joint_count; j++) {
            if (!carries_markers(w->kinematics, j))
                continue;
            const fit found = fit_marker(t, marker, j);
            const double off = from_bone(w->kinematics, j, found.local);
            seen = found.seen;
            if (found.seen < SEEN_LEAST || off > FAR)
                continue;
            if (round == 0 && found.spread < least) {
                least = found.spread;
                nearest = j;
            }
            if (round == 1 && found.spread <= fmax(ALIKE * least, least + 0.001) && off < closest) {
                closest = off;
                best = j;
                kept = found;
            }
        }
    }
    if (seen < SEEN_LEAST || 10 * seen < t->count)
        snprintf(said->text, sizeof said->text, "%sseen in too few frames to find its bone", what);
    else if (best < 0)
        snprintf(said->text, sizeof said->text, "%snot near any bone", what);
    else if (kept.spread > LOOSE_UNKNOWN)
        snprintf(said->text, sizeof said->text, "%smoves against every bone (%.0f mm against %.40s)", what,
                 1000 * least, w->kinematics->joints[nearest].name);
    else {
        snprintf(said->text, sizeof said->text, "put on %.40s by rigidity (moves %.1f mm against it)",
                 w->kinematics->joints[best].name, 1000 * kept.spread);
        *added = true;
        return exi_capture_add_site(w, marker, best, kept.local);
    }
    return true;
}

ex_result exi_capture_place_others(exi_capture_work *w, bool *changed) {
    trial t = {.w = w};
    bool good = open_trial(&t);
    for (int m = 0; m < w->markers->marker_count && good; m++) {
        if (w->out->sites[m] >= 0 || w->meanings[m].kind == EXI_MARKER_COMPUTED || w->out->markers[m].filled_count > 0)
            continue;
        const bool named = w->meanings[m].kind == EXI_MARKER_BONE || w->meanings[m].kind == EXI_MARKER_PLACE;
        good = named ? put_named(&t, m, changed) : put_unknown(&t, m, changed);
    }
    free(t.turns);
    free(t.places);
    return good ? EX_OK : exi_capture_no_memory(w);
}
