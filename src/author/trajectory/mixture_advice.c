/*
 * Says what would mend a mixture that stretches more than the as-rigid-as-possible form.
 *
 * Parts that turn far between two of its poses need a pose between them: beyond half a turn, two poses do not say which
 * way round. The turn of a triangle between poses with rotation vectors w_i and w_j counts as |w_i - w_j|; that of a
 * pair of poses is the least that 99 % of the area stay below.
 */
#include "author/trajectory/mixture_choice.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>

/* Poses with the largest weights, among which turns are looked for. */
enum { POSE_MOST = 8 };

static const double far_turn = 150; /* degrees */
static const double far_share = 0.01;
/* Examples that share less than this part of what they move, move different parts. */
static const double little_common = 0.25;

/* ---- turns ---- */

typedef struct turned_area {
    double angle_sq, area;
} turned_area;

static int compare_turned(const void *a, const void *b) {
    const double x = ((const turned_area *)a)->angle_sq, y = ((const turned_area *)b)->angle_sq;
    return x > y ? -1 : x < y;
}

/* Returns the turn in degrees from one pose to another. */
static double turn_of(const ex_between *from, const ex_between *to, turned_area *work) {
    const ex_between *any = from ? from : to;
    const size_t count = (size_t)any->triangle_count;
    double whole = 0, above = 0;
    for (size_t t = 0; t < count; t++) {
        work[t] = (turned_area){.angle_sq = 0, .area = any->areas[t]};
        whole += any->areas[t];
        for (size_t i = 3 * t; i < 3 * t + 3; i++) {
            const double d = (from ? from->turns[i] : 0) - (to ? to->turns[i] : 0);
            work[t].angle_sq += d * d;
        }
    }
    qsort(work, count, sizeof *work, compare_turned);
    size_t t = 0;
    while (t + 1 < count && (above += work[t].area) < far_share * whole)
        t++;
    return count > 0 ? sqrt(work[t].angle_sq) * (180 / 3.14159265358979323846) : 0;
}

/* Finds the poses of a mixture with the largest weights: examples, -1 for the reference. Returns their number. */
static int find_poses(const ex_mixture_report *report, const ex_measured_mixture *mixture, int poses[POSE_MOST]) {
    double shares[POSE_MOST];
    int count = 0;
    for (int k = -1; k < report->example_count; k++) {
        const double share = fabs(k < 0 ? mixture->rest : mixture->weights[k]);
        if (share < 1e-9 || (count == POSE_MOST && share <= shares[count - 1]))
            continue;
        int at = count < POSE_MOST ? count++ : count - 1;
        for (; at > 0 && shares[at - 1] < share; at--) {
            shares[at] = shares[at - 1];
            poses[at] = poses[at - 1];
        }
        shares[at] = share;
        poses[at] = k;
    }
    return count;
}

static bool find_turn(const ex_betweens *betweens, const int *poses, int count, ex_mixture_report *report) {
    turned_area *work = exi_array_allocate((size_t)betweens->first->triangle_count, sizeof *work);
    report->turned[0] = report->turned[1] = -1;
    for (int i = 0; work && i < count; i++)
        for (int j = i + 1; j < count; j++) {
            const ex_between *from = poses[i] < 0 ? NULL : betweens->items[poses[i]];
            const ex_between *to = poses[j] < 0 ? NULL : betweens->items[poses[j]];
            const double turn = turn_of(from, to, work);
            if (turn <= report->turn)
                continue;
            report->turn = turn;
            report->turned[0] = poses[i] < poses[j] ? poses[i] : poses[j];
            report->turned[1] = poses[i] < poses[j] ? poses[j] : poses[i];
        }
    free(work);
    return work != NULL;
}

/* ---- the remedy ---- */

/* True if at least two of the poses are examples, and no two of these move the same parts. */
static bool are_apart(const ex_trajectories *trajectories, const int *poses, int count) {
    int examples = 0;
    for (int i = 0; i < count; i++) {
        examples += poses[i] >= 0;
        for (int j = 0; j < count; j++)
            if (i != j && poses[i] >= 0 && poses[j] >= 0 &&
                (double)trajectories->overlaps[poses[i] * trajectories->example_count + poses[j]] > little_common)
                return false;
    }
    return examples > 1;
}

static ex_mixture_remedy find_remedy(const ex_trajectories_def *def, const ex_trajectories *trajectories,
                                     const ex_mixture_report *report, const int *poses, int count) {
    const ex_measured_mixture *worst = &report->mixtures[report->worst];
    const int correctors = def->options.corrector_count;
    if (!ex_mixture_is_weak(worst))
        return EX_MIXTURE_SOUND;
    if (def->options.mode == EX_TRAJECTORY_PAPER)
        return EX_MIXTURE_TO_GUIDED;
    if (report->turn > far_turn)
        return EX_MIXTURE_TO_BETWEEN;
    if (are_apart(trajectories, poses, count))
        return EX_MIXTURE_TO_LAYERS;
    const int most = trajectories->mixture.node_count > 0 ? EX_MIXTURE_CORRECTOR_MAX : EX_CORRECTOR_MAX;
    if (correctors >= 0 && correctors < most)
        return EX_MIXTURE_TO_CORRECT;
    return EX_MIXTURE_TO_SCULPT;
}

bool exi_mixture_advise(const ex_trajectories_def *def, const ex_trajectories *trajectories,
                        const ex_betweens *betweens, ex_mixture_report *report) {
    int poses[POSE_MOST];
    const int count = find_poses(report, &report->mixtures[report->worst], poses);
    if (!find_turn(betweens, poses, count, report))
        return false;
    report->remedy = find_remedy(def, trajectories, report, poses, count);
    return true;
}
