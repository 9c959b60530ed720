/*
 * The fit of a skeleton in blocks of scans. With c_i(g) the cost of scan i in its best pose for the shared unknowns g,
 *
 *     minimise over g    sum_i c_i(g) + priors(g)
 *
 * by steps of Gauss and Newton: V_i p_i = b_i - W_i g has b_i = 0 in the best pose, so that the reduced system of
 * fit_normal.c, without damping of poses, is that of this function (variable projection: Golub and Pereyra 1973). Each
 * block needs g alone, and no block needs another.
 */
#include "author/scan/fit/fit_blocks.h"

#include "author/scan/fit/fit.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pose, and the reference's turns from the neutral pose, are solved this many times, each until it gains little:
 * enough for the last digits. */
enum { SOLVES = 4, STEPS = 50, TURNS = 10 };

int exi_fit_shared_count(const ex_kinematics *kinematics) {
    return 3 * (2 * kinematics->joint_count + kinematics->site_count);
}

void exi_fit_shared_read(const ex_kinematics *kinematics, double *shared) {
    for (int j = 0; j < kinematics->joint_count; j++, shared += 3)
        memcpy(shared, kinematics->joints[j].translation, 3 * sizeof *shared);
    for (int j = 0; j < kinematics->joint_count; j++, shared += 3)
        memcpy(shared, kinematics->joints[j].axis, 3 * sizeof *shared);
    for (int s = 0; s < kinematics->site_count; s++, shared += 3)
        memcpy(shared, kinematics->sites[s].local, 3 * sizeof *shared);
}

void exi_fit_shared_write(ex_kinematics *kinematics, const double *shared) {
    for (int j = 0; j < kinematics->joint_count; j++, shared += 3)
        memcpy(kinematics->joints[j].translation, shared, 3 * sizeof *shared);
    for (int j = 0; j < kinematics->joint_count; j++, shared += 3)
        memcpy(kinematics->joints[j].axis, shared, 3 * sizeof *shared);
    for (int s = 0; s < kinematics->site_count; s++, shared += 3)
        memcpy(kinematics->sites[s].local, shared, 3 * sizeof *shared);
}

static void load(exi_fit *f, const double *shared) {
    const size_t joints = 3 * (size_t)f->joint_count;
    memcpy(f->now.translations, shared, joints * sizeof *shared);
    memcpy(f->now.axes, shared + joints, joints * sizeof *shared);
    memcpy(f->now.locals, shared + 2 * joints, 3 * (size_t)f->site_count * sizeof *shared);
}

/* Opens the fit at these unknowns, with all columns. */
static ex_result open_fit(exi_fit *f, const ex_kin_fit_def *def, double noise, const double *shared, ex_error *error) {
    ex_result result = exi_fit_open(f, def, error);
    if (result != EX_OK)
        return result;
    f->all_sites = true;
    for (int i = 0; i < f->scan_count; i++)
        f->scans[i].fitted = def->scans[i].start != NULL;
    if (def->scan_count > 1)
        result = exi_fit_start(f);
    exi_fit_begin_again(f, noise);
    load(f, shared);                             /* after priors have noted where the fit began */
    for (int i = 0; i < TURNS && f->person; i++) /* from the same start in every process */
        exi_fit_person_turns(f);
    return result;
}

/* Notes the pose of a scan, and how far its markers are. */
static void take_pose(exi_fit *f, int scan, ex_kin_pose *pose, double *rms) {
    double sum = 0;
    int count = 0;
    memcpy(pose->translation, f->now.bases[scan], sizeof pose->translation);
    for (int j = 0; j < f->joint_count; j++) {
        const size_t at = (size_t)scan * (size_t)f->joint_count + (size_t)j;
        const double *axis = f->now.axes[j], angle = f->now.angles[at];
        memcpy(pose->rotations[j], f->now.turns[at], sizeof *pose->rotations);
        if (f->kinematics->joints[j].freedom == EX_FREEDOM_HINGE)
            exi_fit_turn((const double[3]){angle * axis[0], angle * axis[1], angle * axis[2]}, pose->rotations[j]);
    }
    exi_fit_frame(f, &f->now, scan, &f->chunks[0].frames);
    for (int m = f->scans[scan].begin; m < f->scans[scan].end; m++) {
        double at[3], r[3];
        if (!f->placed[f->marks[m].site])
            continue;
        exi_fit_predict(f, &f->now, &f->chunks[0].frames, f->marks[m].site, at);
        exi_subtract(at, f->marks[m].at, r);
        sum += exi_dot3(r, r);
        count++;
    }
    *rms = count > 0 ? sqrt(sum / count) : 0;
}

ex_result exi_fit_block(const ex_kin_fit_def *def, double noise, const double *shared, bool own, exi_fit_system *system,
                        ex_kin_pose *poses, double *rms, ex_error *error) {
    exi_fit f;
    ex_result result = open_fit(&f, def, noise, shared, error);
    *system = (exi_fit_system){0};
    for (int k = 0; k < SOLVES && result == EX_OK; k++) {
        for (int i = 0; i < def->scan_count; i++)
            exi_fit_solve_pose(&f, &f.chunks[0], i, STEPS);
        if (k == 0) /* those that fit badly, from poses of others of the block */
            result = exi_fit_restart(&f);
    }
    for (int i = 0; i < def->scan_count && result == EX_OK; i++)
        take_pose(&f, i, &poses[i], &rms[i]);
    if (result == EX_OK) {
        const size_t n = (size_t)(system->n = f.shared_count);
        f.scans[0].waiting = !own;
        f.lambda = 0;
        exi_fit_sum(&f);
        exi_fit_cost(&f, &f.now);
        for (int i = 0; i < f.scan_count; i++)
            system->cost += f.scans[i].cost;
        system->numbers = malloc((n * n + 2 * n + 1) * sizeof *system->numbers);
        if (system->numbers) {
            memcpy(system->numbers, f.shared_matrix, n * n * sizeof(double));
            memcpy(system->numbers + n * n, f.shared_right, n * sizeof(double));
            memcpy(system->numbers + n * n + n, f.shared_diagonal, n * sizeof(double));
        } else {
            result = ex_error_memory(error, "a block", n * n * sizeof(double));
        }
    }
    exi_fit_close(&f);
    return result;
}

ex_result exi_fit_step(const ex_kin_fit_def *def, double noise, const double *shared, const exi_fit_system *sum,
                       double lambda, double *cost, double *next, double (*neutral)[4], ex_error *error) {
    exi_fit f;
    ex_result result = open_fit(&f, def, noise, shared, error);
    const size_t joints = 3 * (size_t)f.joint_count, n = (size_t)sum->n;
    if (result == EX_OK && f.shared_count != sum->n)
        result = ex_error_set(error, EX_ERROR_DATA, "the blocks have %d unknowns, and the skeleton has %d", sum->n,
                              f.shared_count);
    if (result == EX_OK) {
        f.scans[0].waiting = true;
        f.lambda = lambda;
        *cost = sum->cost + exi_fit_prior_cost(&f, &f.now);
    }
    for (int j = 0; result == EX_OK && neutral && j < f.joint_count; j++) {
        memcpy(neutral[j], (const double[4]){0, 0, 0, 1}, sizeof neutral[j]);
        if (f.person)
            exi_fit_person_neutral(&f, j, neutral[j]);
    }
    if (result == EX_OK && next) {
        memcpy(f.shared_matrix, sum->numbers, n * n * sizeof(double));
        memcpy(f.shared_right, sum->numbers + n * n, n * sizeof(double));
        memcpy(f.shared_diagonal, sum->numbers + n * n + n, n * sizeof(double));
        exi_fit_add_priors(&f);
        exi_fit_advance(&f);
        memcpy(next, f.next.translations, joints * sizeof *next);
        memcpy(next + joints, f.next.axes, joints * sizeof *next);
        memcpy(next + 2 * joints, f.next.locals, 3 * (size_t)f.site_count * sizeof *next);
    }
    exi_fit_close(&f);
    return result;
}
