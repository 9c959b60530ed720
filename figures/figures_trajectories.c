/*
 * figures/figures_trajectories.c - figures of trajectory warping that show forms along the way: an animal's pose along
 * straight lines and along paths (1), the effect of the gradient term (3), heads (4) and three poses at once (5).
 * Beyond the paper, twelve mixtures of four poses.
 */
#include "figures.h"

#include <stdio.h>

/* The same five steps of two rigs, one row each; the end forms are blue. */
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
    static const struct {
        double weights[3]; /* of standing, a leap, sitting */
        const char *title;
    } blends[] = {
        {{1, 0, 0}, "standing, the reference"},
        {{0, 1, 0}, "leap, an example"},
        {{0, 0, 1}, "sit, an example"},
        {{0.5, 0.5, 0}, "half-way to a leap"},
        {{0.34, 0.33, 0.33}, "the middle of all"},
        {{0.5, 0, 0.5}, "half-way to sitting"},
        {{0.2, 0.6, 0.2}, "near the leap"},
        {{0, 0.5, 0.5}, "between both"},
        {{0.2, 0.2, 0.6}, "near sitting"},
    };
    enum { COUNT = sizeof blends / sizeof blends[0] };
    exi_shot shots[COUNT];
    char poses[COUNT][48], notes[COUNT][48];
    const ex_rig *rig = exi_figures_rig(f, "creature");
    if (!rig)
        return f->error->result;
    for (int i = 0; i < COUNT; i++) {
        const double *w = blends[i].weights;
        snprintf(poses[i], sizeof poses[i], "leap=%g sit=%g", w[1], w[2]);
        snprintf(notes[i], sizeof notes[i], "%g, %g, %g", w[0], w[1], w[2]);
        shots[i] = (exi_shot){
            .rig = rig, .pose = poses[i], .tone = i < 3, .weights = w, .title = blends[i].title, .note = notes[i]};
    }
    return exi_figures_shots(
        f, &(exi_shots){.shots = shots, .count = COUNT, .columns = 3, .yaw = 15, .pitch = 8, .size = 1.2}, path);
}

ex_result exi_figure_mixtures(exi_figures *f, const char *path) {
    static const struct {
        double weights[4]; /* of standing, a leap, sitting, a kick */
        const char *title;
    } blends[] = {
        {{1, 0, 0, 0}, "standing, the reference"},
        {{0, 1, 0, 0}, "leap, an example"},
        {{0, 0, 1, 0}, "sit, an example"},
        {{0, 0, 0, 1}, "kick, an example"},
        {{0, 0.5, 0.5, 0}, "leap and sit"},
        {{0, 0.5, 0, 0.5}, "leap and kick"},
        {{0, 0, 0.5, 0.5}, "sit and kick"},
        {{0.5, 0.5, 0, 0}, "standing and leap"},
        {{0, 0.33, 0.33, 0.34}, "all but standing"},
        {{0.34, 0, 0.33, 0.33}, "all but the leap"},
        {{0.34, 0.33, 0, 0.33}, "all but sitting"},
        {{0.34, 0.33, 0.33, 0}, "all but the kick"},
        {{0.25, 0.25, 0.25, 0.25}, "a quarter of each"},
        {{0.2, 0.4, 0.2, 0.2}, "fifths, near the leap"},
        {{0.2, 0.2, 0.4, 0.2}, "fifths, near sitting"},
        {{0.2, 0.2, 0.2, 0.4}, "fifths, near the kick"},
    };
    enum { COUNT = sizeof blends / sizeof blends[0] };
    exi_shot shots[COUNT];
    char poses[COUNT][64], notes[COUNT][64];
    const ex_rig *rig = exi_figures_rig(f, "creature");
    if (!rig)
        return f->error->result;
    for (int i = 0; i < COUNT; i++) {
        const double *w = blends[i].weights;
        snprintf(poses[i], sizeof poses[i], "leap=%g sit=%g kick=%g", w[1], w[2], w[3]);
        snprintf(notes[i], sizeof notes[i], "%g, %g, %g, %g", w[0], w[1], w[2], w[3]);
        shots[i] = (exi_shot){.rig = rig, .pose = poses[i], .tone = i < 4, .title = blends[i].title, .note = notes[i]};
    }
    return exi_figures_shots(
        f, &(exi_shots){.shots = shots, .count = COUNT, .columns = 4, .yaw = 15, .pitch = 8, .size = 1.2}, path);
}
