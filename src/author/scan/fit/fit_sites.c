/*
 * Places sites where the reference scan shows them, or where most scans do that see them.
 */
#include "author/scan/fit/fit.h"

#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Finds the point with the least sum of distances to the positions of a site in its joint's frame, over scans
 * (Weiszfeld). */
static int middle(const double (*points)[3], int count, double out[3]) {
    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            out[k] += points[i][k] / count;
    for (int round = 0; round < 30; round++) {
        double sum = 0, next[3] = {0};
        for (int i = 0; i < count; i++) {
            double d[3];
            exi_subtract(points[i], out, d);
            const double w = 1 / (sqrt(exi_dot3(d, d)) + 1e-4);
            sum += w;
            for (int k = 0; k < 3; k++)
                next[k] += w * points[i][k];
        }
        for (int k = 0; k < 3; k++)
            out[k] = next[k] / sum;
    }
    return count;
}

/* Computes each mark's position in its joint's frame, for every fitted scan: [mark]. */
static void bring_home(exi_fit *f, double (*homes)[3]) {
    exi_fit_frames *frames = &f->chunks[0].frames;
    for (int i = 0; i < f->scan_count; i++) {
        if (f->scans[i].begin == f->scans[i].end)
            continue;
        exi_fit_frame(f, &f->now, i, frames);
        for (int m = f->scans[i].begin; m < f->scans[i].end; m++) {
            const double *r = frames->rotations[f->marks[m].joint];
            double d[3];
            exi_subtract(f->marks[m].at, frames->places[f->marks[m].joint], d);
            for (int k = 0; k < 3; k++)
                homes[m][k] = r[k] * d[0] + r[3 + k] * d[1] + r[6 + k] * d[2];
        }
    }
}

/* True if a mark determines its site's place: its scan is fitted, and every joint on the way is determined there. */
static bool says_where(const exi_fit *f, const exi_fit_mark *mark) {
    return f->scans[mark->scan].fitted && (mark->active || !f->placed[mark->site]);
}

ex_result exi_fit_replace_sites(exi_fit *f, double limit) {
    double(*homes)[3] = exi_arena_allocate(&f->arena, (size_t)f->mark_count, sizeof *homes);
    double(*points)[3] = exi_arena_allocate(&f->arena, (size_t)f->scan_count + (size_t)f->mark_count, sizeof *points);
    if (!homes || !points)
        return ex_error_memory(f->error, "the fit of a skeleton", (size_t)f->mark_count * sizeof *homes);
    bring_home(f, homes);
    for (int s = 0; s < f->site_count; s++) {
        int count = 0;
        for (int m = 0; m < f->mark_count; m++)
            if (f->marks[m].site == s && says_where(f, &f->marks[m]))
                memcpy(points[count++], homes[m], sizeof *points);
        double at[3], d[3];
        if (count == 0)
            continue;
        middle((const double(*)[3])points, count, at);
        exi_subtract(at, f->now.locals[s], d);
        if (f->placed[s] && (count < 3 || exi_dot3(d, d) < limit * limit))
            continue;
        memcpy(f->now.locals[s], at, sizeof at);
        f->placed[s] = true;
        f->tied[s] = false;
    }
    return EX_OK;
}

void exi_fit_activate(exi_fit *f) {
    for (int m = 0; m < f->mark_count; m++)
        f->marks[m].active = f->placed[f->marks[m].site] && !f->scans[f->marks[m].scan].hopeless;
}

/* ---- the reference ---- */

/* Metres: a skeleton farther than this from its markers is moved to them; nearer, it stays. */
#define FAR 0.15

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Moves the reference's base to its markers, by the median of their offsets from their sites, or from the middle of
 * their bones. */
static ex_result move_base(exi_fit *f) {
    const int reference = f->def->reference;
    const exi_fit_scan *s = &f->scans[reference];
    const exi_fit_frames *frames = &f->chunks[0].frames;
    const int count = s->end - s->begin;
    double shift[3] = {0};
    double *values = exi_arena_allocate(&f->arena, (size_t)count, sizeof *values);
    if (!values)
        return ex_error_memory(f->error, "the fit of a skeleton", (size_t)count * sizeof *values);
    for (int i = 0; i < 3 && count > 0; i++) {
        for (int m = 0; m < count; m++) {
            const exi_fit_mark *mark = &f->marks[s->begin + m];
            const int next = f->walk[mark->joint] + 1;
            double at[3];
            memcpy(at, frames->places[mark->joint], sizeof at);
            if (f->placed[mark->site])
                exi_fit_predict(f, &f->now, frames, mark->site, at);
            else if (next < f->walk_end[mark->joint])
                at[i] = 0.5 * (at[i] + frames->places[f->order[next]][i]);
            values[m] = mark->at[i] - at[i];
        }
        qsort(values, (size_t)count, sizeof *values, compare_doubles);
        shift[i] = values[count / 2];
    }
    for (int i = 0; exi_dot3(shift, shift) > FAR * FAR && i < 3; i++)
        f->now.bases[reference][i] += shift[i];
    return EX_OK;
}

ex_result exi_fit_place_reference(exi_fit *f) {
    const int reference = f->def->reference;
    ex_result result = EX_OK;
    if (reference < 0)
        return EX_OK;
    exi_fit_frames *frames = &f->chunks[0].frames;
    exi_fit_scan *s = &f->scans[reference];
    s->fitted = true;
    exi_fit_frame(f, &f->now, reference, frames);
    if (!f->def->scans[reference].start)
        result = move_base(f);
    exi_fit_frame(f, &f->now, reference, frames);
    for (int m = s->begin; !f->def->lock_sites && m < s->end; m++) {
        const exi_fit_mark *mark = &f->marks[m];
        const double *r = frames->rotations[mark->joint];
        double d[3];
        exi_subtract(mark->at, frames->places[mark->joint], d);
        for (int i = 0; i < 3; i++)
            f->now.locals[mark->site][i] = r[i] * d[0] + r[3 + i] * d[1] + r[6 + i] * d[2];
        f->placed[mark->site] = f->tied[mark->site] = true;
    }
    return result;
}
