/*
 * Levenberg-Marquardt. Damping multiplies diagonals, which scales every unknown by its influence, as section 3.3 of the
 * paper requires. It falls tenfold with every step that lowers the cost, and rises with every other.
 */
#include "author/scan/fit/fit.h"

#include <math.h>

#define LAMBDA_FIRST 1e-3
#define LAMBDA_LEAST 1e-7
#define LAMBDA_MOST  1e10
/* Number of steps after one that was too long, before longer ones are tried again. */
enum { WAIT = 3 };

double exi_fit_solve(exi_fit *f, int iterations, double tolerance, const char *what, double from, double to) {
    const bool bones = f->person && f->kin_count > 0;
    int wait = 0;
    if (bones)
        exi_fit_person_turns(f);
    double cost = exi_fit_cost(f, &f->now);
    f->lambda = LAMBDA_FIRST;
    for (int i = 0; i < iterations; i++) {
        if (f->def->progress)
            f->def->progress->report(f->def->progress->user, what, from + (to - from) * i / iterations);
        exi_fit_reduce(f);
        exi_fit_advance(f);
        const double next = exi_fit_cost(f, &f->next);
        f->iteration_count++;
        if (!(next < cost)) { /* or not a number */
            if (next <= cost * (1 + 1e-12) || f->lambda > LAMBDA_MOST)
                break;
            f->lambda *= 10;
            wait = WAIT;
            continue;
        }
        const exi_fit_state accepted = f->next;
        f->next = f->now;
        f->now = accepted;
        const double gain = (cost - next) / cost;
        cost = next;
        if (gain < tolerance)
            break;
        if (bones) {
            exi_fit_person_turns(f);
            cost = exi_fit_cost(f, &f->now);
        }
        if (wait-- <= 0)
            f->lambda = f->lambda * 0.1 > LAMBDA_LEAST ? f->lambda * 0.1 : LAMBDA_LEAST;
    }
    return exi_fit_cost(f, &f->now);
}

/* Updates the cost of one scan at `next`. */
static void keep_pose(exi_fit *f, int scan) {
    const size_t row = (size_t)scan * (size_t)f->joint_count;
    for (int i = 0; i < 3; i++)
        f->now.bases[scan][i] = f->next.bases[scan][i];
    for (int j = 0; j < f->joint_count; j++) {
        for (int i = 0; i < 4; i++)
            f->now.turns[row + (size_t)j][i] = f->next.turns[row + (size_t)j][i];
        f->now.angles[row + (size_t)j] = f->next.angles[row + (size_t)j];
    }
}

double exi_fit_solve_pose(exi_fit *f, exi_fit_chunk *chunk, int scan, int iterations) {
    const int n = f->scans[scan].pose_count;
    const double *u = f->factors + (size_t)scan * (size_t)f->pose_most * (size_t)f->pose_most;
    double *b = f->rights + (size_t)scan * (size_t)f->pose_most;
    double lambda = LAMBDA_FIRST, cost = exi_fit_scan_cost(f, &f->now, chunk, scan);
    for (int i = 0; n > 0 && i < iterations && lambda < LAMBDA_MOST; i++) {
        exi_fit_pose_normal(f, chunk, scan, lambda);
        exi_cholesky_solve(u, n, b);
        exi_fit_step_pose(f, scan, b);
        /* The kinematics and the sites of `next` are from an earlier step: only its pose counts. */
        exi_fit_state trial = f->now;
        trial.bases = f->next.bases;
        trial.turns = f->next.turns;
        trial.angles = f->next.angles;
        const double next = exi_fit_scan_cost(f, &trial, chunk, scan);
        if (!(next < cost)) {
            lambda *= 10;
            continue;
        }
        const double gain = (cost - next) / cost;
        keep_pose(f, scan);
        cost = next;
        lambda *= 0.1;
        if (gain < 1e-4)
            break;
    }
    return cost;
}
