/*
 * Paper mode: Gauss-Newton steps on the energies of the trajectory-warping paper (equations 19, 20), for each example.
 *
 * A step solves (J^T J + damping) x = -J^T F by conjugate gradients. It is shortened, to an eighth at most, until the
 * energy falls; if that does not help, the damping is raised, and a successful step lowers it again. The energy never
 * rises. The remaining misses are dropped at the end, which is equation 23: whoever shows the trajectory computes the
 * displacement velocities from the turns.
 */
#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/trajectory/matrix.h"
#include "author/trajectory/paper/paper.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <stdlib.h>

#define STEP_COUNT    10    /* as in the paper */
#define CONVERGED     1e-3  /* a step that lowers the energy by less than this fraction is the last */
#define ZERO          1e-22 /* as a fraction of the energy without any velocity: nothing is left to find */
#define DAMPING_LEAST 1e-9
#define DAMPING_MOST  1e3
#define CG_TOLERANCE  1e-2 /* of one step: the next makes up for it; 1e-3 takes twice the time and gains nothing */
#define CG_ITERATIONS 100  /* late steps along flat valleys, as with bases, would take hundreds and gain nothing */

/* Moves the present state along x, and stores the result in the other one. */
static void move_state(exi_paper *paper, const double *x, double step) {
    const exi_paper_state *from = &paper->states[paper->present];
    exi_paper_state *to = &paper->states[1 - paper->present];
    size_t n = (size_t)paper->between->vertex_count, s = (size_t)paper->segment_count;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++) {
            double held = paper->shares[i] != 0 ? step : 0;
            to->misses[3 * i + k] = from->misses[3 * i + k] + held * x[6 * i + k];
            to->turns[3 * i + k] = from->turns[3 * i + k] + held * x[6 * i + 3 + k];
        }
    for (size_t k = 0; k < 6 * s; k++) {
        to->bases[k] = from->bases[k] + (exi_paper_solved(paper, (int)(k / 6)) ? step * x[6 * n + k] : 0);
    }
    exi_paper_limit(paper, to);
    exi_paper_evaluate(paper, to);
}

/* Energy without any motion: the scale for what counts as zero. */
static double still_energy(const exi_paper *paper) {
    double sum = 0;
    for (size_t k = 0; k < 3 * (size_t)paper->between->vertex_count; k++)
        sum += paper->targets[k] * paper->targets[k];
    return paper->weights[EXI_PAPER_POSE] > 0 ? sum * paper->weights[EXI_PAPER_POSE] : sum;
}

static void describe(const exi_paper *paper, struct ex_trajectory_fit *fit) {
    const exi_paper_state *s = &paper->states[paper->present];
    fit->energy[0] = s->total;
    for (int k = 0; k < EXI_PAPER_TERM_COUNT; k++)
        fit->energy[1 + k] = paper->weights[k] * s->energy[k];
}

ex_result exi_paper_minimise(exi_paper *paper, int most, struct ex_trajectory_fit *fit, const ex_progress *progress,
                             ex_error *error) {
    size_t n = (size_t)exi_paper_size(paper);
    double *memory = exi_array_allocate(2 * n, sizeof *memory), *work = malloc(exi_cg_work_size((int)n));
    ex_result result = memory && work ? EX_OK : ex_error_memory(error, "steps of trajectories", 6 * n * sizeof *memory);
    double damping = DAMPING_LEAST, still = still_energy(paper);
    *fit = (struct ex_trajectory_fit){.iterations = 0};
    fit->converged = paper->states[paper->present].total <= ZERO * still;
    while (result == EX_OK && fit->iterations < most && !fit->converged) {
        double *right = memory, *x = memory + n, before = paper->states[paper->present].total;
        exi_paper_linearise(paper, damping);
        result = exi_coarse_refill(paper, error);
        if (result != EX_OK)
            break;
        exi_paper_gradient(paper, right);
        for (size_t k = 0; k < n; k++) {
            right[k] = -right[k];
            x[k] = 0;
        }
        exi_cg_def def = {.n = (int)n,
                          .apply = exi_paper_apply,
                          .precondition = exi_paper_precondition,
                          .user = paper,
                          .tolerance = CG_TOLERANCE,
                          .iteration_most = CG_ITERATIONS};
        exi_cg(&def, right, x, work);
        double step = 1;
        move_state(paper, x, step);
        while (step > 0.125 && !(paper->states[1 - paper->present].total < before))
            move_state(paper, x, step /= 2);
        if (paper->states[1 - paper->present].total < before) {
            paper->present = 1 - paper->present;
            fit->iterations++;
            double after = paper->states[paper->present].total;
            fit->converged = before - after <= CONVERGED * before || after <= ZERO * still;
            damping = step == 1 ? fmax(damping / 10, DAMPING_LEAST) : fmax(10 * damping, 1e-4);
            if (!exi_progress_tell(progress, "fitting trajectories", fmin(1, (double)fit->iterations / most)))
                result = exi_progress_stopped(error);
        } else if (damping >= DAMPING_MOST) {
            fit->converged = true; /* no direction leads down */
        } else {
            damping = fmax(30 * damping, 1e-4);
        }
    }
    describe(paper, fit);
    free(memory);
    free(work);
    return result;
}

/* Stores the runtime's data: single precision, turns within the limit. */
static ex_result keep(const exi_paper *paper, ex_trajectory *trajectory, ex_error *error) {
    const exi_paper_state *s = &paper->states[paper->present];
    size_t n = (size_t)paper->between->vertex_count, segments = (size_t)paper->segment_count;
    float *turns = exi_array_allocate(n, 3 * sizeof *turns);
    float *bases = segments ? exi_array_allocate(segments, 6 * sizeof *bases) : NULL;
    trajectory->turns = turns;
    trajectory->bases = bases;
    if (!turns || (segments && !bases))
        return ex_error_memory(error, "trajectories", n * 3 * sizeof *turns);
    for (size_t i = 0; i < n; i++) {
        const double *w = &s->turns[3 * i];
        double length = sqrt(exi_dot3(w, w)), factor = length > EX_TURN_MAX * (1 - 1e-6) ? 1 - 1e-6 : 1;
        for (size_t k = 0; k < 3; k++)
            turns[3 * i + k] = (float)(factor * w[k]);
    }
    for (size_t k = 0; k < 6 * segments; k++)
        bases[k] = (float)(k % 6 < 3 ? s->bases[k] : s->bases[k] / paper->scale);
    return EX_OK;
}

/* Maps one example's progress to that of all examples. */
typedef struct share {
    const ex_trajectories_def *def;
    int example;
} share;

static bool report_share(void *user, const char *what, double fraction) {
    const share *s = user;
    return s->def->progress->report(s->def->progress->user, what, (s->example + fraction) / s->def->example_count);
}

/* Fits one example. With segments, it is seen from the root, whose motion becomes the screw. */
static ex_result fit_example(const ex_trajectories_def *def, const ex_between *between,
                             const exi_segmentation *segments, int example, ex_trajectories *trajectories,
                             ex_error *error) {
    exi_paper paper = {.between = NULL};
    ex_between framed = {.vertex_count = 0};
    ex_result result = segments ? exi_segments_frame(between, segments, &framed, error) : EX_OK;
    if (result == EX_OK)
        result = exi_paper_create(&paper, &def->options, segments ? &framed : between, segments, error);
    int most = def->options.iterations > 0 ? def->options.iterations : STEP_COUNT;
    share own = {def, example};
    const ex_progress progress = {.report = def->progress && def->progress->report ? report_share : NULL, .user = &own};
    if (result == EX_OK)
        result = exi_paper_minimise(&paper, most, &trajectories->fits[example], &progress, error);
    if (result == EX_OK)
        result = keep(&paper, &trajectories->trajectories[example], error);
    if (result == EX_OK && segments)
        trajectories->trajectories[example].screw = framed.screw;
    exi_paper_free(&paper);
    exi_segments_frame_free(&framed);
    return result;
}

ex_result exi_paper_fit(const ex_trajectories_def *def, ex_between *const *betweens, ex_trajectories *trajectories,
                        ex_error *error) {
    exi_segments_input in = {.options = &def->options, .example_count = def->example_count, .betweens = betweens};
    exi_segmentation segments = {.count = 0};
    ex_result result = EX_OK;
    for (int k = 0; k < def->example_count && !in.any; k++)
        in.any = betweens[k];
    if (in.any && def->options.bases)
        result = exi_segments_find(&in, &segments, error);
    for (int k = 0; k < def->example_count && result == EX_OK; k++) {
        trajectories->fits[k].converged = true;
        if (!betweens[k])
            continue;
        result = fit_example(def, betweens[k], segments.count ? &segments : NULL, k, trajectories, error);
        result = ex_error_within(error, result, "%s", def->names && def->names[k] ? def->names[k] : "an example");
    }
    if (result == EX_OK && segments.count) {
        /* Ownership moves: destroying the trajectories frees these. */
        trajectories->segments = (ex_segments){segments.count, segments.parents, segments.vertices};
        trajectories->triangle_segments = segments.triangles;
        segments.parents = NULL;
        segments.vertices = NULL;
        segments.triangles = NULL;
    }
    exi_segments_free(&segments);
    return result;
}
