/*
 * Finds starting poses of scans joint by joint, from the base on: the rotation that brings a joint's own markers
 * closest to their sightings (Kabsch: the polar decomposition of their covariance), with free translation, since bones
 * are not known yet; for a hinge, the best angle, in closed form. Markers that do not fit get less and less weight on
 * the way. A few steps of Levenberg-Marquardt follow. The scan's given start, and other scans' poses, are also tried
 * and used if they fit better.
 */
#include "author/scan/fit/fit.h"

#include "runtime/base/functions.inl"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 8, POSE_STEPS = 15, ENOUGH = 3 };
/* Metres, RMS: markers nearer than this to one line do not determine the rotation about it. */
#define WIDE 0.008
/* Maximum width of the loss of rigid fits, metres. */
#define BASE_WIDTH 0.06

/* ---- rigid fits ---- */

/* Markers of a joint, in its frame and in the world, and their weights. */
typedef struct cloud {
    int count;
    const exi_fit *fit;
    double (*model)[3], (*seen)[3], *weights;
} cloud;

static void centre(const cloud *c, double model[3], double seen[3]) {
    double sum = 0;
    memset(model, 0, 3 * sizeof *model);
    memset(seen, 0, 3 * sizeof *seen);
    for (int i = 0; i < c->count; i++) {
        sum += c->weights[i];
        for (int k = 0; k < 3; k++) {
            model[k] += c->weights[i] * c->model[i][k];
            seen[k] += c->weights[i] * c->seen[i][k];
        }
    }
    for (int k = 0; k < 3; k++) {
        model[k] /= sum;
        seen[k] /= sum;
    }
}

/* Returns the approximate RMS distance of the markers from the line that fits them best: the second root of their
 * covariance. */
static double breadth(const cloud *c) {
    double model[3], seen[3], s[9] = {0}, sum = 0;
    centre(c, model, seen);
    for (int i = 0; i < c->count; i++) {
        double d[3];
        exi_subtract(c->model[i], model, d);
        sum += c->weights[i];
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                s[3 * a + b] += c->weights[i] * d[a] * d[b];
    }
    const double trace = (s[0] + s[4] + s[8]) / sum;
    double minors = s[0] * s[4] - s[1] * s[1] + s[0] * s[8] - s[2] * s[2] + s[4] * s[8] - s[5] * s[5];
    minors /= sum * sum;
    return trace > 0 && minors > 0 ? sqrt(minors / trace) : 0;
}

/* Finds the rotation that brings the model closest to the sightings, about a fixed pair of points. */
static void best_rotation(const cloud *c, const double model[3], const double seen[3], double rotation[9]) {
    double m[12] = {0}, r[3][3], stretch[3][3];
    for (int i = 0; i < c->count; i++) {
        double a[3], b[3];
        exi_subtract(c->seen[i], seen, a);
        exi_subtract(c->model[i], model, b);
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
                m[4 * k + l] += c->weights[i] * a[k] * b[l];
    }
    exi_polar(m, r, stretch);
    memcpy(rotation, r, 9 * sizeof *rotation);
}

/* The same among rotations about an axis (in the world, before turning `above`), as an angle. */
static double best_angle(const cloud *c, const double model[3], const double seen[3], const double above[9],
                         const double axis[3]) {
    double sine = 0, cosine = 0;
    for (int i = 0; i < c->count; i++) {
        double a[3], b[3], turned[3], across[3];
        exi_subtract(c->seen[i], seen, a);
        exi_subtract(c->model[i], model, b);
        for (int k = 0; k < 3; k++)
            turned[k] = above[k] * a[0] + above[3 + k] * a[1] + above[6 + k] * a[2];
        exi_cross(b, turned, across);
        sine += c->weights[i] * exi_dot3(axis, across);
        cosine += c->weights[i] * (exi_dot3(b, turned) - exi_dot3(axis, b) * exi_dot3(axis, turned));
    }
    const double angle = exi_angle(fabs(sine), fabs(cosine));
    return (cosine < 0 ? 3.14159265358979323846 - angle : angle) * (sine < 0 ? -1 : 1);
}

/* Sets weights from the markers' errors, first as 1/r (which a few false ones hardly affect), in the end by the
 * loss. */
static void reweigh(cloud *c, const double rotation[9], const double model[3], const double seen[3], int round,
                    double width) {
    for (int i = 0; i < c->count; i++) {
        double a[3], b[3], r[3];
        exi_subtract(c->seen[i], seen, a);
        exi_subtract(c->model[i], model, b);
        for (int k = 0; k < 3; k++)
            r[k] = rotation[3 * k] * b[0] + rotation[3 * k + 1] * b[1] + rotation[3 * k + 2] * b[2] - a[k];
        const double r_sq = exi_dot3(r, r);
        if (round < ROUNDS / 2)
            c->weights[i] = 1 / (sqrt(r_sq) + 0.1 * width);
        else
            exi_loss(r_sq, width, &c->weights[i]);
        c->weights[i] += 1e-9;
    }
}

/* ---- a scan, joint by joint ---- */

static int gather(const exi_fit *f, exi_fit_chunk *k, int scan, int joint, int levels, cloud *c) {
    const exi_fit_scan *s = &f->scans[scan];
    const double *r = k->frames.rotations[joint];
    c->count = 0;
    for (int m = s->begin; m < s->end; m++) {
        const exi_fit_mark *mark = &f->marks[m];
        int up = mark->joint, level = 0;
        for (; up != joint && up > joint && level <= levels; level++)
            up = f->kinematics->joints[up].parent;
        if (!mark->active || up != joint || level > levels)
            continue;
        double at[3], d[3];
        exi_fit_predict(f, &f->now, &k->frames, mark->site, at);
        exi_subtract(at, k->frames.places[joint], d);
        for (int i = 0; i < 3; i++)
            c->model[c->count][i] = r[i] * d[0] + r[3 + i] * d[1] + r[6 + i] * d[2];
        memcpy(c->seen[c->count], mark->at, sizeof mark->at);
        c->weights[c->count++] = 1;
    }
    return c->count;
}

static void set_turn(exi_fit *f, int scan, int joint, const double rotation[9], const double above[9]) {
    double q[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            q[i][j] = above[i] * rotation[j] + above[3 + i] * rotation[3 + j] + above[6 + i] * rotation[6 + j];
    exi_quaternion_of((const double(*)[3])q, f->now.turns[(size_t)scan * (size_t)f->joint_count + (size_t)joint]);
}

static void start_base(exi_fit *f, exi_fit_chunk *k, int scan, cloud *c, double width) {
    double model[3], seen[3], rotation[9];
    const size_t row = (size_t)scan * (size_t)f->joint_count;
    if (f->scans[scan].base_column < 0 || f->pose_columns[row] < 0)
        return;
    for (int levels = 0; levels < f->depth; levels++) {
        gather(f, k, scan, 0, levels, c);
        if (c->count >= ENOUGH && breadth(c) > WIDE)
            break;
    }
    if (c->count < ENOUGH)
        return;
    for (int round = 0; round < ROUNDS; round++) {
        centre(c, model, seen);
        best_rotation(c, model, seen, rotation);
        reweigh(c, rotation, model, seen, round, width);
    }
    static const double no_turn[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    set_turn(f, scan, 0, rotation, no_turn);
    for (int i = 0; i < 3; i++)
        f->now.bases[scan][i] =
            seen[i] - (rotation[3 * i] * model[0] + rotation[3 * i + 1] * model[1] + rotation[3 * i + 2] * model[2]);
}

static void start_joint(exi_fit *f, exi_fit_chunk *k, int scan, int joint, cloud *c, double width) {
    const ex_kin_joint *kin = &f->kinematics->joints[joint];
    const size_t at = (size_t)scan * (size_t)f->joint_count + (size_t)joint;
    const bool hinge = kin->freedom == EX_FREEDOM_HINGE;
    double model[3] = {0}, seen[3], rotation[9], above[9], axis[3];
    if (f->pose_columns[at] < 0)
        return;
    gather(f, k, scan, joint, 0, c);
    if (c->count < (hinge ? 1 : 2))
        return;
    /* With few markers, use the joint's position. */
    const bool placed = c->count < ENOUGH || (!hinge && breadth(c) <= WIDE);
    memcpy(above, k->frames.rotations[kin->parent], sizeof above);
    memcpy(axis, f->now.axes[joint], sizeof axis);
    memcpy(seen, k->frames.places[joint], sizeof seen);
    for (int round = 0; round < ROUNDS; round++) {
        if (!placed)
            centre(c, model, seen);
        if (hinge) {
            f->now.angles[at] = best_angle(c, model, seen, above, axis);
            exi_fit_frame(f, &f->now, scan, &k->frames);
            memcpy(rotation, k->frames.rotations[joint], sizeof rotation);
        } else {
            best_rotation(c, model, seen, rotation);
        }
        reweigh(c, rotation, model, seen, round, width);
    }
    if (!hinge)
        set_turn(f, scan, joint, rotation, above);
}

static void start_pose(exi_fit *f, exi_fit_chunk *k, int scan, cloud *c) {
    const double width = f->site_count > 0 && f->site_widths[0] < BASE_WIDTH ? f->site_widths[0] : BASE_WIDTH;
    exi_fit_frame(f, &f->now, scan, &k->frames);
    start_base(f, k, scan, c, width);
    for (int w = 1; w < f->joint_count; w++) {
        exi_fit_frame(f, &f->now, scan, &k->frames);
        start_joint(f, k, scan, f->order[w], c, width);
    }
}

/* ---- candidates ---- */

/* Copy the pose of scan `from` in state `s`, and back. */
static void copy_pose(const exi_fit *f, const exi_fit_state *from, int i, exi_fit_state *to, int k) {
    const size_t n = (size_t)f->joint_count, a = (size_t)i * n, b = (size_t)k * n;
    memcpy(to->bases[k], from->bases[i], sizeof to->bases[k]);
    memcpy(to->turns[b], from->turns[a], n * sizeof *to->turns);
    memcpy(to->angles + b, from->angles + a, n * sizeof *to->angles);
}

typedef struct starting {
    exi_fit *fit;
    cloud *clouds;        /* [chunk] */
    exi_fit_state best;   /* [scan] poses */
    exi_fit_state others; /* poses of scans as found before */
    bool again;           /* true: only scans that fit badly, starting from other scans' poses */
    double bad;           /* mean cost per mark beyond which a scan fits badly */
} starting;

static int active_count(const exi_fit *f, int scan) {
    int count = 0;
    for (int m = f->scans[scan].begin; m < f->scans[scan].end; m++)
        count += f->marks[m].active;
    return count;
}

/* Keeps the pose in `now` if it is better than the best so far. */
static void keep_better(starting *s, int scan, double cost, double *best) {
    if (!(cost < *best))
        return;
    *best = cost;
    copy_pose(s->fit, &s->fit->now, scan, &s->best, scan);
}

/* Copies the joints' rotations of another scan, where this one leaves them free, keeping the base. */
static void borrow(exi_fit *f, const exi_fit_state *others, int other, int scan) {
    const size_t a = (size_t)other * (size_t)f->joint_count, b = (size_t)scan * (size_t)f->joint_count;
    for (int j = 1; j < f->joint_count; j++)
        if (f->pose_columns[b + (size_t)j] >= 0) {
            memcpy(f->now.turns[b + (size_t)j], others->turns[a + (size_t)j], sizeof *others->turns);
            f->now.angles[b + (size_t)j] = others->angles[a + (size_t)j];
        }
}

enum { BORROWED = 4 };

static void try_others(starting *s, exi_fit_chunk *k, int scan, double *best) {
    exi_fit *f = s->fit;
    int nearest[BORROWED];
    double costs[BORROWED];
    for (int i = 0; i < BORROWED; i++) {
        nearest[i] = -1;
        costs[i] = INFINITY;
    }
    for (int other = 0; other < f->scan_count; other++) {
        if (other == scan || !f->scans[other].fitted)
            continue;
        copy_pose(f, &s->best, scan, &f->now, scan);
        borrow(f, &s->others, other, scan);
        double cost = exi_fit_scan_cost(f, &f->now, k, scan);
        int at = other;
        for (int i = 0; i < BORROWED; i++)
            if (cost < costs[i]) {
                const double c = costs[i];
                const int n = nearest[i];
                costs[i] = cost;
                nearest[i] = at;
                cost = c;
                at = n;
            }
    }
    for (int i = 0; i < BORROWED && nearest[i] >= 0; i++) {
        copy_pose(f, &s->best, scan, &f->now, scan);
        borrow(f, &s->others, nearest[i], scan);
        keep_better(s, scan, exi_fit_solve_pose(f, k, scan, POSE_STEPS), best);
    }
}

static void start_chunks(void *context, int begin, int end) {
    starting *s = context;
    exi_fit *f = s->fit;
    for (int c = begin; c < end; c++)
        for (int scan = c; scan < f->scan_count; scan += f->chunk_count) {
            exi_fit_scan *own = &f->scans[scan];
            exi_fit_chunk *k = &f->chunks[c];
            const int count = active_count(f, scan);
            if (own->pose_count == 0 || own->waiting || count < ENOUGH || (own->fitted && !s->again))
                continue;
            if (s->again && own->cost <= s->bad * count)
                continue;
            exi_fit_frame(f, &f->now, scan, &k->frames); /* as it is: the caller's start, which may be elsewhere */
            if (!own->fitted)
                start_base(f, k, scan, &s->clouds[c], BASE_WIDTH);
            double best = exi_fit_solve_pose(f, k, scan, POSE_STEPS);
            copy_pose(f, &f->now, scan, &s->best, scan);
            copy_pose(f, &f->begin, scan, &f->now, scan);
            start_pose(f, k, scan, &s->clouds[c]);
            keep_better(s, scan, exi_fit_solve_pose(f, k, scan, POSE_STEPS), &best);
            if (s->again)
                try_others(s, k, scan, &best);
            copy_pose(f, &s->best, scan, &f->now, scan);
            own->cost = best;
            own->fitted = true;
        }
}

static bool open_starting(exi_fit *f, starting *s) {
    *s = (starting){.fit = f};
    s->clouds = exi_arena_allocate(&f->arena, (size_t)f->chunk_count, sizeof *s->clouds);
    bool done = s->clouds && exi_fit_make_state(f, &s->best) && exi_fit_make_state(f, &s->others);
    int most = 0;
    for (int i = 0; i < f->scan_count; i++)
        most = f->scans[i].end - f->scans[i].begin > most ? f->scans[i].end - f->scans[i].begin : most;
    for (int c = 0; done && c < f->chunk_count; c++) {
        s->clouds[c].model = exi_arena_allocate(&f->arena, (size_t)most, sizeof *s->clouds[c].model);
        s->clouds[c].seen = exi_arena_allocate(&f->arena, (size_t)most, sizeof *s->clouds[c].seen);
        s->clouds[c].weights = exi_arena_allocate(&f->arena, (size_t)most, sizeof *s->clouds[c].weights);
        done = s->clouds[c].model && s->clouds[c].seen && s->clouds[c].weights;
    }
    return done;
}

/* ---- all scans ---- */

static ex_result refuse(exi_fit *f, int scan) {
    const ex_kin_scan *own = &f->def->scans[scan];
    const exi_fit_scan *s = &f->scans[scan];
    const char *name = own->name ? own->name : "?";
    const int count = active_count(f, scan);
    if (s->end - s->begin < ENOUGH)
        return ex_error_set(f->error, EX_ERROR_DATA,
                            "scan '%s' shows %d named marker%s, but %d are needed to find its pose: name more of them, "
                            "or leave the scan out",
                            name, s->end - s->begin, s->end - s->begin == 1 ? "" : "s", ENOUGH);
    const char *reference = f->def->scans[f->def->reference].name;
    if (count == 0)
        return ex_error_set(f->error, EX_ERROR_DATA,
                            "scan '%s' has no marker in common with the reference scan '%s' or with scans linked to "
                            "it: name some that both show, or leave it out",
                            name, reference ? reference : "?");
    return ex_error_set(f->error, EX_ERROR_DATA,
                        "scan '%s' has %d marker%s in common with the reference scan '%s' and scans linked to it, but "
                        "%d are needed: name more of them, or leave it out",
                        name, count, count == 1 ? "" : "s", reference ? reference : "?", ENOUGH);
}

ex_result exi_fit_start(exi_fit *f) {
    starting s;
    if (!open_starting(f, &s))
        return ex_error_memory(f->error, "the fit of a skeleton", (size_t)f->mark_count * sizeof(double) * 8);
    exi_fit_copy_state(f, &f->now, &f->begin);
    for (int left = f->scan_count, before = left + 1; left > 0 && left < before;) {
        exi_fit_activate(f);
        exi_fit_lay_out(f, false, false);
        exi_run(f->def->tasks, f->chunk_count, 1, start_chunks, &s);
        before = left;
        left = 0;
        for (int i = 0; i < f->scan_count; i++) {
            if (f->scans[i].pose_count == 0 && active_count(f, i) > 0)
                f->scans[i].fitted = true; /* nothing to find */
            left += !f->scans[i].fitted;
        }
        ex_result result = f->def->lock_sites ? EX_OK : exi_fit_replace_sites(f, INFINITY);
        if (result != EX_OK)
            return result;
    }
    exi_fit_activate(f);
    for (int i = 0; i < f->scan_count; i++) {
        if (f->scans[i].fitted)
            continue;
        if (f->def->reference >= 0)
            return refuse(f, i);
        f->scans[i].hopeless = true;
    }
    exi_fit_activate(f);
    exi_fit_copy_state(f, &f->now, &f->next);
    return EX_OK;
}

static void wake_chunks(void *context, int begin, int end) {
    exi_fit *f = context;
    for (int c = begin; c < end; c++)
        for (int scan = c; scan < f->scan_count; scan += f->chunk_count) {
            exi_fit_scan *s = &f->scans[scan];
            if (s->waiting && !s->hopeless)
                exi_fit_solve_pose(f, &f->chunks[c], scan, 2 * POSE_STEPS);
            s->waiting = false;
        }
}

void exi_fit_wake(exi_fit *f) {
    exi_run(f->def->tasks, f->chunk_count, 1, wake_chunks, f);
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

ex_result exi_fit_restart(exi_fit *f) {
    starting s;
    double *means = exi_arena_allocate(&f->arena, (size_t)f->scan_count, sizeof *means);
    if (!means || !open_starting(f, &s))
        return ex_error_memory(f->error, "the fit of a skeleton", (size_t)f->mark_count * sizeof(double) * 8);
    exi_fit_cost(f, &f->now);
    int count = 0;
    for (int i = 0; i < f->scan_count; i++) {
        const int marks = active_count(f, i);
        if (!f->scans[i].hopeless && !f->scans[i].waiting && marks > 0)
            means[count++] = f->scans[i].cost / marks;
    }
    if (count == 0)
        return EX_OK;
    qsort(means, (size_t)count, sizeof *means, compare_doubles);
    s.again = true;
    s.bad = 3 * means[count / 2] + 1e-6;
    exi_fit_copy_state(f, &f->now, &s.others);
    exi_run(f->def->tasks, f->chunk_count, 1, start_chunks, &s);
    return EX_OK;
}
