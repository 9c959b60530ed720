/*
 * Finds and holds the unknowns that the markers do not determine ("open"). A rotation of a scan is open if the noise of
 * the markers leaves it uncertain by more than LOOSE_TURN, by the inverse of the scan's normal matrix. A small
 * weight then holds it at its start, so that it turns no more than the sightings require. Joints without markers come
 * first, then the deepest: if waist and chest share a twist, the waist stays still. A translation or an axis is open if
 * the inverse of the reduced matrix says so; it is then held at its start in the loose directions.
 */
#include "author/bake/bake.h"
#include "author/base/eigen.h"
#include "author/scan/fit/fit.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGMA       0.002 /* metres: noise of a marker in each direction, at least */
#define LOOSE_TURN  0.25  /* radians */
#define LOOSE_PLACE 0.03  /* metres */
#define LOOSE_SHARE 0.85  /* of the variance of a prior */
#define HOLD        100.0 /* sightings */
#define HOLD_TURN   1e-4  /* in the same unit, times a square metre */

static bool beyond(const exi_fit *f, int joint, int other) {
    return f->walk[other] >= f->walk[joint] && f->walk[other] < f->walk_end[joint];
}

static int count_beyond(const exi_fit *f, int scan, int joint) {
    int count = 0;
    for (int m = f->scans[scan].begin; m < f->scans[scan].end; m++)
        count += beyond(f, joint, f->marks[m].joint);
    return count;
}

/* ---- poses ---- */

/* True if a rotation is loose, by the factor of the scan's matrix. */
static bool is_loose(const exi_fit *f, exi_fit_chunk *k, int scan, int joint) {
    const int n = f->scans[scan].pose_count, rows = f->kinematics->joints[joint].freedom == EX_FREEDOM_HINGE ? 1 : 3;
    const int column = f->pose_columns[(size_t)scan * (size_t)f->joint_count + (size_t)joint];
    const double *u = f->factors + (size_t)scan * (size_t)f->pose_most * (size_t)f->pose_most;
    const double sigma = f->person && f->base_moves && f->noise > SIGMA * sqrt(3) ? f->noise / sqrt(3) : SIGMA;
    for (int c = column; column >= 0 && c < column + rows; c++) {
        double variance = 0;
        if (!(k->step[f->pose_most + c] > 0)) /* the diagonal: nothing depends on it */
            return true;
        memset(k->step, 0, (size_t)n * sizeof *k->step);
        k->step[c] = 1;
        exi_cholesky_forward(u, n, k->step);
        for (int i = 0; i < n; i++)
            variance += k->step[i] * k->step[i];
        if (!(sigma * sigma * variance < LOOSE_TURN * LOOSE_TURN) || u[(size_t)c * (size_t)(n + 1)] > 1e100)
            return true;
    }
    return false;
}

static int loosest(exi_fit *f, exi_fit_chunk *k, int scan) {
    int found = -1;
    exi_fit_pose_normal(f, k, scan, 1e-9);
    for (int w = f->joint_count - 1; w > 0; w--) {
        const int j = f->order[w];
        bool own = false;
        if (f->open[(size_t)scan * (size_t)f->joint_count + (size_t)j] || !is_loose(f, k, scan, j))
            continue;
        for (int m = f->scans[scan].begin; m < f->scans[scan].end; m++)
            own = own || (f->marks[m].active && f->marks[m].joint == j);
        if (!own)
            return j;
        found = found < 0 ? j : found;
    }
    return found;
}

static void open_pose(exi_fit *f, int scan, int joint) {
    const size_t at = (size_t)scan * (size_t)f->joint_count + (size_t)joint;
    f->open[at] = true;
    f->turn_holds[at] = HOLD_TURN;
}

static void open_chunks(void *context, int begin, int end) {
    exi_fit *f = context;
    for (int c = begin; c < end; c++)
        for (int scan = c; scan < f->scan_count; scan += f->chunk_count) {
            if (f->scans[scan].hopeless)
                continue;
            for (int j = loosest(f, &f->chunks[c], scan); j >= 0; j = loosest(f, &f->chunks[c], scan))
                open_pose(f, scan, j);
        }
}

void exi_fit_find_open_poses(exi_fit *f) {
    /* Treat all markers as right: only their positions matter here. */
    double *widths = f->site_widths, *weights = f->site_weights;
    double *even = f->shared_right; /* long enough, and not in use */
    const size_t count = (size_t)f->scan_count * (size_t)f->joint_count;
    for (size_t i = 0; i < count; i++) /* rotations that were open while sites had no place may be determined now */
        if (f->open[i]) {
            f->open[i] = false;
            f->turn_holds[i] = 0;
        }
    for (int s = 0; s < f->site_count; s++)
        even[s] = 1;
    double *wide = f->shared_diagonal;
    for (int s = 0; s < f->site_count; s++)
        wide[s] = INFINITY;
    f->site_widths = wide;
    f->site_weights = even;
    exi_run(f->def->tasks, f->chunk_count, 1, open_chunks, f);
    f->site_widths = widths;
    f->site_weights = weights;
}

/* ---- bones and axes ---- */

/* Computes rows and columns [first, first + count) of the inverse of the factorised reduced matrix. */
static void inverse_block(exi_fit *f, int first, int count, double *block) {
    const int n = f->shared_count;
    double *columns = f->chunks[0].matrix; /* not in use now */
    for (int k = 0; k < count; k++) {
        double *x = columns + (size_t)k * (size_t)n;
        memset(x, 0, (size_t)n * sizeof *x);
        x[first + k] = 1;
        exi_cholesky_forward(f->shared_matrix, n, x);
    }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++) {
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += columns[(size_t)a * (size_t)n + (size_t)i] * columns[(size_t)b * (size_t)n + (size_t)i];
            block[count * a + b] = sum;
        }
}

/* Returns the largest rotation of a joint in any scan relative to the first, in radians. */
static double turned_most(const exi_fit *f, int joint) {
    double most = 0;
    const bool hinge = f->kinematics->joints[joint].freedom == EX_FREEDOM_HINGE;
    for (int i = 1; i < f->scan_count; i++) {
        const size_t a = (size_t)joint, b = (size_t)i * (size_t)f->joint_count + (size_t)joint;
        double dot = 0, d = f->now.angles[b] - f->now.angles[a];
        for (int k = 0; k < 4; k++)
            dot += f->now.turns[a][k] * f->now.turns[b][k];
        if (!hinge)
            d = 2 * acos(fabs(dot) < 1 ? fabs(dot) : 1);
        most = fabs(d) > most ? fabs(d) : most;
    }
    return most;
}

/* Returns the looseness of a joint's bone or axis: the standard deviation, in units of LOOSE_…, and its direction. */
static double looseness(exi_fit *f, double sigma, int j, bool axis, double direction[3]) {
    const int base = f->shared_count - f->kin_count;
    const int column = axis ? f->axis_columns[j] : f->translation_columns[j], count = axis ? 2 : 3;
    double block[9], values[3], vectors[9];
    if (column < 0 || (axis ? f->axis_owners[j] : f->translation_owners[j]) != j)
        return 0;
    inverse_block(f, base + column, count, block);
    exi_eigen(block, count, values, vectors);
    memcpy(direction, vectors, (size_t)count * sizeof *direction);
    /* Along a hinge's own axis a position is never seen. */
    if (!axis && f->kinematics->joints[j].freedom == EX_FREEDOM_HINGE && f->preferences[j] <= 0 &&
        fabs(exi_dot3(direction, f->now.axes[j])) > 0.7)
        return 0;
    return sigma * sqrt(values[0]) / (axis ? LOOSE_TURN : LOOSE_PLACE);
}

/* Along a hinge's axis, the places of its joint and of the next are never seen: removes that direction. */
static void take_out(const exi_fit *f, int joint, double block[9]) {
    const double *a = f->now.axes[joint];
    double along[3], both = 0;
    if (f->kinematics->joints[joint].freedom != EX_FREEDOM_HINGE)
        return;
    for (int i = 0; i < 3; i++)
        along[i] = exi_dot3(block + 3 * i, a);
    both = exi_dot3(along, a);
    for (int i = 0; i < 9; i++)
        block[i] += a[i / 3] * (both * a[i % 3] - along[i % 3]) - along[i / 3] * a[i % 3];
}

/* With a prior, nothing needs to be held. Finds what the markers leave nearly as it was. */
static bool find_loose_person(exi_fit *f) {
    const int base = f->shared_count - f->kin_count;
    bool any = false;
    if (f->kin_count == 0)
        return false;
    f->lambda = 1e-12;
    exi_fit_reduce(f);
    exi_cholesky(f->shared_matrix, f->shared_count, f->shared_diagonal, 1e-13);
    for (int j = 1; j < f->joint_count; j++)
        for (int axis = 0; axis < 2; axis++) {
            const int column = axis ? f->axis_columns[j] : f->translation_columns[j], count = axis ? 2 : 3;
            double block[9];
            if (column < 0 || (axis ? f->axis_owners[j] : f->translation_owners[j]) != j)
                continue;
            inverse_block(f, base + column, count, block);
            for (int i = 0; i < count * count; i++)
                block[i] *= exi_fit_person_variance(f);
            if (!axis) {
                take_out(f, j, block);
                take_out(f, f->kinematics->joints[j].parent, block);
            }
            const bool loose = exi_fit_person_looseness(f, j, axis == 1, block) > LOOSE_SHARE;
            (axis ? f->open_axes : f->open_translations)[j] = loose;
            any = any || loose;
        }
    return any;
}

/* Two bones that meet at a joint which never turns are both loose, and become determined once one of them is held. So
 * they are held one after the other, the joint that turns least first. */
bool exi_fit_find_open_shared(exi_fit *f, double sigma) {
    bool any = false;
    if (f->person)
        return find_loose_person(f);
    for (int round = 0; f->kin_count > 0 && round < 4 * f->joint_count; round++) {
        int found = -1;
        bool found_axis = false;
        double least = INFINITY, v[3] = {0};
        f->lambda = 1e-12;
        exi_fit_reduce(f);
        exi_cholesky(f->shared_matrix, f->shared_count, f->shared_diagonal, 1e-13);
        for (int j = 1; j < f->joint_count; j++)
            for (int axis = 0; axis < 2; axis++) {
                double direction[3];
                if (!(looseness(f, sigma, j, axis == 1, direction) > 1))
                    continue;
                const double turned = turned_most(f, j);
                if (turned >= least)
                    continue;
                least = turned;
                found = j;
                found_axis = axis == 1;
                memcpy(v, direction, sizeof v);
            }
        if (found < 0)
            break;
        if (found_axis)
            f->extra_axis[found] = HOLD;
        for (int a = 0; !found_axis && a < 9; a++)
            f->extra_hold[found][a] += HOLD * v[a / 3] * v[a % 3];
        any = (found_axis ? f->open_axes : f->open_translations)[found] = true;
    }
    return any;
}

/* ---- messages ---- */

static ex_kin_open *add_open(ex_kin_fit *out, size_t *capacity, int joint, int site, int scan) {
    if ((size_t)out->open_count == *capacity) {
        const size_t wanted = *capacity ? 2 * *capacity : 16;
        ex_kin_open *grown = realloc(out->opens, wanted * sizeof *grown);
        if (!grown)
            return NULL;
        out->opens = grown;
        *capacity = wanted;
    }
    ex_kin_open *open = &out->opens[out->open_count++];
    *open = (ex_kin_open){.joint = joint, .site = site, .scan = scan};
    return open;
}

static bool list_joint(const exi_fit *f, ex_kin_fit *out, size_t *capacity, int j) {
    const ex_kin_joint *joint = &f->kinematics->joints[j];
    const double length = sqrt(exi_dot3(f->now.translations[j], f->now.translations[j]));
    int marks = 0, asked = 0;
    for (int i = 0; i < f->scan_count; i++) {
        marks += count_beyond(f, i, j);
        asked += i != f->def->reference && joint->freedom != EX_FREEDOM_FIXED &&
                 !(f->def->scans[i].locked && f->def->scans[i].locked[j]);
    }
    if (marks == 0 && asked > 0) {
        ex_kin_open *open = add_open(out, capacity, j, -1, -1);
        if (open)
            snprintf(open->text, sizeof open->text,
                     "%.60s has no markers in any scan: it is not turned, and its bone, %.0f mm, is the skeleton's%s",
                     joint->name, 1000 * length, f->person ? ", scaled" : "");
        return open != NULL;
    }
    const bool still = (f->open_translations[j] || f->open_axes[j]) && turned_most(f, j) < 0.1;
    for (int k = 0; k < 2; k++) {
        if (k == 0 ? !f->open_translations[j] : !f->open_axes[j])
            continue;
        ex_kin_open *open = add_open(out, capacity, j, -1, -1);
        if (!open)
            return false;
        char value[64] = "it is mostly the skeleton's";
        if (k == 0)
            snprintf(value, sizeof value, "its bone, %.0f mm, is mostly the skeleton's%s", 1000 * length,
                     f->person ? ", scaled" : "");
        snprintf(open->text, sizeof open->text, "the %s of %.50s is not determined: %s; %s", k == 0 ? "centre" : "axis",
                 joint->name, still ? "it hardly turned" : "too few turns and markers show it", value);
    }
    int loose = 0;
    for (int i = 0; i < f->scan_count; i++)
        loose += f->open[(size_t)i * (size_t)f->joint_count + (size_t)j];
    if (loose > 3 && 2 * loose > asked) {
        ex_kin_open *open = add_open(out, capacity, j, -1, -1);
        if (open)
            snprintf(open->text, sizeof open->text,
                     "%.50s is not determined in %d of %d scans: it turns as little as the markers allow", joint->name,
                     loose, asked);
        return open != NULL;
    }
    for (int i = 0; asked > 0 && i < f->scan_count; i++) {
        if (!f->open[(size_t)i * (size_t)f->joint_count + (size_t)j])
            continue;
        const int seen = count_beyond(f, i, j);
        ex_kin_open *open = add_open(out, capacity, j, -1, i);
        if (!open)
            return false;
        snprintf(open->text, sizeof open->text, "%.50s cannot be found in scan %.40s: %d marker%s seen beyond it",
                 joint->name, f->def->scans[i].name ? f->def->scans[i].name : "?", seen, seen == 1 ? " is" : "s are");
    }
    return true;
}

ex_result exi_fit_list_open(exi_fit *f, ex_kin_fit *out) {
    size_t capacity = 0;
    bool done = true;
    for (int j = 1; done && j < f->joint_count; j++)
        done = list_joint(f, out, &capacity, j);
    for (int s = 0; done && s < f->site_count; s++) {
        bool seen = false;
        for (int m = 0; !seen && m < f->mark_count; m++)
            seen = f->marks[m].site == s && (f->placed[s] || f->marks[m].active);
        if (seen)
            continue;
        ex_kin_open *open = add_open(out, &capacity, -1, s, -1);
        done = open != NULL;
        if (open)
            snprintf(open->text, sizeof open->text, "marker %.60s is not seen in any scan",
                     f->kinematics->sites[s].name);
    }
    for (int i = 0; done && i < f->scan_count; i++) {
        if (!f->scans[i].hopeless)
            continue;
        ex_kin_open *open = add_open(out, &capacity, -1, -1, i);
        done = open != NULL;
        if (open)
            snprintf(open->text, sizeof open->text, "scan %.60s shows too few markers to find its pose",
                     f->def->scans[i].name ? f->def->scans[i].name : "?");
    }
    return done ? EX_OK : ex_error_memory(f->error, "the fit of a skeleton", capacity * sizeof *out->opens);
}
