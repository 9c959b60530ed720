/*
 * cli/figures_paths.c - figures of trajectory warping that are forms along the way: an animal's pose on straight lines
 * and on paths (1), what the gradient term does (3), heads (4), three poses at once (5), a tail that curls (7).
 */
#include "figures.h"

/* The same five steps of two rigs, one row each; ends in blue. */
static ex_result two_rows(exi_figures *f, const ex_rig *const rigs[2], const char *const poses[5],
                          const char *const titles[2], exi_shots how, const char *path) {
    exi_shot shots[10];
    for (int i = 0; i < 10; i++) {
        const int end = i % 5 == 0 || i % 5 == 4;
        shots[i] = (exi_shot){.rig = rigs[i / 5],
                              .pose = poses[i % 5],
                              .tone = end     ? 1
                                      : i < 5 ? 2
                                              : 0,
                              .title = titles[i / 5],
                              .note = poses[i % 5]};
    }
    how.shots = shots;
    how.count = 10;
    how.columns = 5;
    return exi_figures_shots(f, &how, path);
}

ex_result exi_figure_creature(exi_figures *f, const char *path) {
    static const char *const poses[5] = {"kick=0", "kick=0.25", "kick=0.5", "kick=0.75", "kick=1"};
    const ex_rig *rigs[2] = {exi_figures_rig_variant(f, "creature", "linear"), exi_figures_rig(f, "creature")};
    if (!rigs[0] || !rigs[1])
        return f->error->result;
    exi_figures_fact(f, "triangles, as they are drawn", "40k", "%d",
                     ex_rig_level_mesh(rigs[1], ex_rig_level(rigs[1])).triangle_count);
    return two_rows(f, rigs, poses, (const char *const[2]){"straight lines", "paths"},
                    (exi_shots){.yaw = 15, .pitch = 8, .size = 1.1}, path);
}

ex_result exi_figure_stretch(exi_figures *f, const char *path) {
    static const char *const poses[5] = {"t=0", "t=0.25", "t=0.5", "t=0.75", "t=1"};
    const ex_rig *rigs[2] = {exi_figures_rig_variant(f, "stretch", "plain"), exi_figures_rig(f, "stretch")};
    if (!rigs[0] || !rigs[1])
        return f->error->result;
    return two_rows(f, rigs, poses, (const char *const[2]){"without", "with the gradient term"},
                    (exi_shots){.yaw = 8, .pitch = 8, .size = 1}, path);
}

ex_result exi_figure_heads(exi_figures *f, const char *path) {
    static const char *const poses[5] = {"t=0", "t=0.25", "t=0.5", "t=0.75", "t=1"};
    exi_shot shots[5];
    const ex_rig *rig = exi_figures_rig(f, "heads");
    if (!rig)
        return f->error->result;
    for (int i = 0; i < 5; i++)
        shots[i] = (exi_shot){.rig = rig, .pose = poses[i], .tone = i % 4 == 0, .title = poses[i]};
    exi_figures_fact(f, "triangles, as they are drawn", "48k", "%d",
                     ex_rig_level_mesh(rig, ex_rig_level(rig)).triangle_count);
    return exi_figures_shots(
        f, &(exi_shots){.shots = shots, .count = 5, .columns = 5, .yaw = 30, .pitch = 6, .size = 1.1}, path);
}

ex_result exi_figure_three(exi_figures *f, const char *path) {
    exi_shot shots[] = {
        {.pose = "leap=0", .tone = 1, .title = "standing", .note = "the reference"},
        {.pose = "leap=1", .tone = 1, .title = "leap", .note = "an example"},
        {.pose = "sit=1", .tone = 1, .title = "sit", .note = "an example"},
        {.pose = "leap=0.5", .title = "half-way to a leap", .note = "leap 0.5"},
        {.pose = "leap=0.33 sit=0.33", .title = "the middle of all", .note = "leap 0.33, sit 0.33"},
        {.pose = "sit=0.5", .title = "half-way to sitting", .note = "sit 0.5"},
        {.pose = "leap=0.2 sit=0.6", .title = "near sitting", .note = "leap 0.2, sit 0.6"},
        {.pose = "leap=0.5 sit=0.5", .title = "between both", .note = "leap 0.5, sit 0.5"},
        {.pose = "leap=0.6 sit=0.2", .title = "near the leap", .note = "leap 0.6, sit 0.2"},
    };
    const ex_rig *rig = exi_figures_rig(f, "creature");
    if (!rig)
        return f->error->result;
    for (int i = 0; i < 9; i++)
        shots[i].rig = rig;
    return exi_figures_shots(
        f, &(exi_shots){.shots = shots, .count = 9, .columns = 3, .yaw = 15, .pitch = 8, .size = 1.2}, path);
}

ex_result exi_figure_tail(exi_figures *f, const char *path) {
    static const float tail[6] = {-1.3f, 0.38f, 0, -0.1f, 1.15f, 0};
    const ex_rig *linear = exi_figures_rig_variant(f, "creature", "linear"), *rig = exi_figures_rig(f, "creature");
    if (!linear || !rig)
        return f->error->result;
    const exi_shot shots[] = {
        {.rig = rig, .pose = "curl=0", .tone = 1, .title = "at rest"},
        {.rig = linear, .pose = "curl=0.6", .tone = 2, .title = "straight lines", .note = "curl 0.6"},
        {.rig = rig, .pose = "curl=0.6", .title = "paths", .note = "curl 0.6"},
        {.rig = rig, .pose = "curl=1", .tone = 1, .title = "curled", .note = "an example"},
    };
    return exi_figures_shots(
        f, &(exi_shots){.shots = shots, .count = 4, .columns = 4, .yaw = 10, .pitch = 6, .size = 1.2, .close_up = tail},
        path);
}
