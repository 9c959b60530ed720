/* bench/bench.c - the groups, and the ratios and verdicts of a row. */
#include "bench/bench.h"

const exi_bench_group exi_bench_groups[] = {
    {"copy", "how fast this machine reads and copies", exi_bench_copy},
    {"blend", "sums of forms", exi_bench_blend},
    {"skin", "moving vertices with joints", exi_bench_skin},
    {"solve", "solving a space", exi_bench_solve},
    {"convex", "weights of a driver among keys", exi_bench_convex},
    {"evaluate", "a pose of a rig", exi_bench_evaluate},
    {"subdivide", "subdivision to a level and to the limit", exi_bench_subdivide},
    {"tree", "closest points and rays", exi_bench_tree},
    {"settle", "fitting cloth onto a body, frame by frame", exi_bench_settle},
    {"drive", "clothes that follow a body, all steps", exi_bench_drive},
    {"normals", "normals and tangents of a mesh", exi_bench_normals},
    {"edit", "solving again after an edit, and a pose", exi_bench_edit},
    {"offsets", "pose space: sparse offsets in layers", exi_bench_offsets},
#ifdef EX_BENCH_INSIDE
    {"sparse", "sparse systems: factorising and solving", exi_bench_sparse},
#endif
    {"trajectory", "trajectories beside the linear blend", exi_bench_trajectory},
    {"mixture", "mixtures of many examples", exi_bench_mixture},
    {"warp", "finding trajectories", exi_bench_warp},
#ifdef EX_BENCH_INSIDE
    {"person", "finding trajectories of a real body", exi_bench_person},
#endif
    {"paper", "frames of the paper's characters", exi_bench_paper},
    {"fit", "finding a skeleton from markers", exi_bench_fit},
    {"displace", "frames of a displaced body", exi_bench_displace},
};
const int exi_bench_group_count = (int)(sizeof exi_bench_groups / sizeof exi_bench_groups[0]);

double exi_row_ratio(const exi_row *row) {
    return row->peer_ns > 0 && row->ns > 0 ? row->peer_ns / row->ns : 0;
}

double exi_row_read(const exi_row *row) {
    return row->read_speed > 0 && row->ns > 0 ? row->bytes / row->ns / row->read_speed : 0;
}

int exi_row_verdict(const exi_row *row) {
    bool goals = row->goal_ratio > 0 || row->goal_read > 0 || row->goal_rate > 0;
    double ratio = exi_row_ratio(row);
    bool missed = (row->goal_ratio > 0 && ratio > 0 && ratio < row->goal_ratio) ||
                  (row->goal_read > 0 && exi_row_read(row) < row->goal_read) ||
                  (row->goal_rate > 0 && 1e9 / row->ns < row->goal_rate);
    if (missed)
        return -1;
    return goals && !(row->goal_ratio > 0 && ratio <= 0) ? 1 : 0;
}
