/*
 * Mends sightings: pairs of markers that changed places, false sightings, and markers without a label.
 *
 * Let a and b be where two markers would be if they went on as before. In a frame with a' and b' they have changed
 * places if these are much nearer the other way round:
 *
 *     |b' - a| + |a' - b| < SHORT (|a' - a| + |b' - b|)
 *
 * Each such moment begins or ends an exchange; of the two ways to read them, the one with fewer exchanged frames is
 * taken. Once poses are known, a sighting far from its prediction is false. If another false one is near its
 * prediction, and the other way round, the two changed places; if a marker without a label is near it, that one is
 * taken.
 */
#include "author/scan/capture/capture.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 10, WORST = 5, OFTEN = 3, SAMPLES = 500 };
#define SHORT 0.3
#define APART 0.02 /* metres: closer pairs are not told apart */
#define FALSE 0.03 /* metres from the prediction, at least, and WORST times the marker's usual distance */

static double distance(const float *a, const float *b) {
    return sqrt(
        (double)((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2])));
}

static float *position(const exi_capture_work *w, int frame, int marker) {
    return w->markers->positions + 3 * ((size_t)frame * (size_t)w->markers->marker_count + (size_t)marker);
}

static void exchange(const exi_capture_work *w, int frame, int a, int b) {
    float *p = position(w, frame, a), *q = position(w, frame, b), kept[3];
    memcpy(kept, p, sizeof kept);
    memcpy(p, q, sizeof kept);
    memcpy(q, kept, sizeof kept);
    w->out->markers[a].swapped_count++;
    w->out->markers[b].swapped_count++;
}

/* ---- between frames ---- */

static bool have_changed(const float *a0, const float *b0, const float *a1, const float *b1) {
    const double keep = distance(a0, a1) + distance(b0, b1);
    return keep > APART && distance(a0, b0) > APART && distance(b1, a0) + distance(a1, b0) < SHORT * keep;
}

/* Goes through the moments at which a pair changes places. Counts the frames in odd sections, or exchanges those. */
static int go_through(const exi_capture_work *w, int a, int b, int mend) {
    int last = -1, before_last = -1, odd = 0, frames[2] = {0};
    float tracks[2][2][3] = {{{0}}}; /* the last positions and those before, with the places put right */
    for (int f = w->still_count; f < w->markers->frame_count; f++) {
        const float *p = exi_capture_seen(w->markers, f, a), *q = exi_capture_seen(w->markers, f, b);
        if (!p || !q)
            continue;
        float now[2][3], likely[2][3];
        memcpy(now[odd], p, sizeof now[0]);
        memcpy(now[!odd], q, sizeof now[0]);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < 3; i++) /* as fast as before */
                likely[k][i] =
                    tracks[0][k][i] + (before_last == f - 2 && last == f - 1 ? tracks[0][k][i] - tracks[1][k][i] : 0);
        if (last >= 0 && f - last <= GAP && have_changed(likely[0], likely[1], now[0], now[1])) {
            odd = !odd;
            memcpy(now[odd], p, sizeof now[0]);
            memcpy(now[!odd], q, sizeof now[0]);
        }
        frames[odd]++;
        if (mend >= 0 && odd == mend)
            exchange(w, f, a, b);
        memcpy(tracks[1], tracks[0], sizeof tracks[1]);
        memcpy(tracks[0], now, sizeof tracks[0]);
        before_last = last;
        last = f;
    }
    return frames[1] == 0 ? -1 : frames[1] <= frames[0] ? 1 : 0;
}

ex_result exi_capture_unswap(exi_capture_work *w) {
    for (int a = 0; a < w->markers->marker_count; a++)
        for (int b = a + 1; b < w->markers->marker_count; b++) {
            if (w->meanings[a].kind == EXI_MARKER_COMPUTED || w->meanings[b].kind == EXI_MARKER_COMPUTED ||
                (w->meanings[a].kind == EXI_MARKER_BLANK && w->meanings[b].kind == EXI_MARKER_BLANK))
                continue;
            const int before = w->out->markers[a].swapped_count, mend = go_through(w, a, b, -1);
            if (mend < 0)
                continue;
            go_through(w, a, b, mend);
            const int count = w->out->markers[a].swapped_count - before;
            if (!exi_capture_note(w, "%s and %s had changed places in %d frame%s, which is put right",
                                  w->markers->names[a], w->markers->names[b], count, count == 1 ? "" : "s"))
                return exi_capture_no_memory(w);
        }
    return EX_OK;
}

/* ---- against predictions ---- */

typedef struct mending {
    exi_capture_work *w;
    double (*predicted)[3]; /* [marker_count]; NaN if not used */
    double *usual;          /* [marker_count] median distance */
    double *errors;         /* [frame_count] */
    double (*turns)[4];
    double (*places)[3];
    bool changed;
} mending;

static bool has_pose(const exi_capture_work *w, int frame) {
    return w->poses[frame].rotations && !isnan(w->rms[frame]);
}

static void predict(mending *d, int frame) {
    exi_capture_work *w = d->w;
    ex_kin_frames(w->kinematics, &w->poses[frame], d->turns, d->places);
    for (int m = 0; m < w->markers->marker_count; m++) {
        d->predicted[m][0] = NAN;
        if (w->out->sites[m] >= 0)
            exi_capture_predict(&w->kinematics->sites[w->out->sites[m]], (const double(*)[4])d->turns,
                                (const double(*)[3])d->places, d->predicted[m]);
    }
}

static double off(const float *seen, const double predicted[3]) {
    const double e[3] = {(double)seen[0] - predicted[0], (double)seen[1] - predicted[1],
                         (double)seen[2] - predicted[2]};
    return sqrt(exi_dot3(e, e));
}

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median distance of each marker from its prediction. */
static void find_usual(mending *d) {
    exi_capture_work *w = d->w;
    const int step = w->markers->frame_count / SAMPLES + 1;
    for (int m = 0; m < w->markers->marker_count; m++) {
        int count = 0;
        for (int f = 0; f < w->markers->frame_count && w->out->sites[m] >= 0; f += step) {
            const float *p = exi_capture_seen(w->markers, f, m);
            if (!p || !has_pose(w, f))
                continue;
            const ex_site *site = &w->kinematics->sites[w->out->sites[m]];
            double at[3];
            ex_kin_frames(w->kinematics, &w->poses[f], d->turns, d->places);
            exi_capture_predict(site, (const double(*)[4])d->turns, (const double(*)[3])d->places, at);
            d->errors[count++] = off(p, at);
        }
        qsort(d->errors, (size_t)count, sizeof *d->errors, compare_numbers);
        d->usual[m] = count > 0 ? d->errors[count / 2] : 0;
    }
}

static double limit(const mending *d, int marker) {
    return fmax(FALSE, WORST * d->usual[marker]);
}

static bool is_false(const mending *d, int frame, int marker) {
    const float *p = d->w->out->sites[marker] >= 0 ? exi_capture_seen(d->w->markers, frame, marker) : NULL;
    return p && off(p, d->predicted[marker]) > limit(d, marker);
}

/* The marker without a label nearest to a prediction; -1 if none is near. */
static int find_blank(const mending *d, int frame, int marker) {
    const exi_capture_work *w = d->w;
    double least = limit(d, marker);
    int best = -1;
    for (int m = 0; m < w->markers->marker_count; m++) {
        const float *p = w->out->sites[m] < 0 && w->meanings[m].kind == EXI_MARKER_BLANK
                             ? exi_capture_seen(w->markers, frame, m)
                             : NULL;
        if (p && off(p, d->predicted[marker]) < least) {
            least = off(p, d->predicted[marker]);
            best = m;
        }
    }
    return best;
}

static void hide(const exi_capture_work *w, int frame, int marker) {
    float *p = position(w, frame, marker);
    p[0] = p[1] = p[2] = NAN;
}

static void mend_frame(mending *d, int f) {
    exi_capture_work *w = d->w;
    const int count = w->markers->marker_count;
    predict(d, f);
    for (int a = 0; a < count; a++) /* pairs */
        for (int b = a + 1; b < count && is_false(d, f, a); b++)
            if (is_false(d, f, b) && off(position(w, f, b), d->predicted[a]) < limit(d, a) &&
                off(position(w, f, a), d->predicted[b]) < limit(d, b)) {
                exchange(w, f, a, b);
                d->changed = true;
            }
    for (int a = 0; a < count; a++) {
        const bool wrong = is_false(d, f, a), used = w->out->sites[a] >= 0;
        const int blank =
            used && (wrong || !exi_capture_seen(w->markers, f, a)) && f >= w->still_count ? find_blank(d, f, a) : -1;
        if (blank >= 0) {
            memcpy(position(w, f, a), position(w, f, blank), 3 * sizeof(float));
            hide(w, f, blank);
            w->out->markers[a].filled_count++;
            w->out->markers[blank].filled_count++;
        } else if (wrong) {
            hide(w, f, a);
            w->out->markers[a].dropped_count++;
        }
        d->changed = d->changed || wrong || blank >= 0;
    }
}

/* Words for what became of markers without a label. */
static void say(exi_capture_work *w) {
    for (int m = 0; m < w->markers->marker_count; m++) {
        ex_capture_marker *marker = &w->out->markers[m];
        if (w->meanings[m].kind == EXI_MARKER_BLANK && w->out->sites[m] < 0 && marker->filled_count > 0)
            snprintf(marker->text, sizeof marker->text, "no label: taken for markers that were not seen, in %d frame%s",
                     marker->filled_count, marker->filled_count == 1 ? "" : "s");
    }
}

/* A marker that is false in most frames does not fit at all. */
static void drop_bad(mending *d) {
    exi_capture_work *w = d->w;
    for (int m = 0; m < w->markers->marker_count; m++) {
        int seen = 0;
        for (int f = 0; f < w->markers->frame_count; f++)
            seen += exi_capture_seen(w->markers, f, m) != NULL;
        ex_capture_marker *marker = &w->out->markers[m];
        if (w->out->sites[m] >= 0 && marker->dropped_count > 0 && seen < marker->dropped_count / OFTEN)
            snprintf(marker->text, sizeof marker->text, "in most frames far from where the others predict it");
    }
}

ex_result exi_capture_mend(exi_capture_work *w, bool *changed) {
    const size_t joints = (size_t)w->kinematics->joint_count, markers = (size_t)w->markers->marker_count;
    mending d = {.w = w,
                 .predicted = exi_array_allocate(markers, sizeof *d.predicted),
                 .usual = calloc(markers, sizeof *d.usual),
                 .errors = exi_array_allocate((size_t)w->markers->frame_count, sizeof *d.errors),
                 .turns = exi_array_allocate(joints, sizeof *d.turns),
                 .places = exi_array_allocate(joints, sizeof *d.places)};
    const bool good = d.predicted && d.usual && d.errors && d.turns && d.places;
    if (good) {
        find_usual(&d);
        for (int f = 0; f < w->markers->frame_count; f++)
            if (has_pose(w, f))
                mend_frame(&d, f);
        say(w);
        drop_bad(&d);
        *changed = *changed || d.changed;
    }
    free(d.predicted);
    free(d.usual);
    free(d.errors);
    free(d.turns);
    free(d.places);
    return good ? EX_OK : exi_capture_no_memory(w);
}
