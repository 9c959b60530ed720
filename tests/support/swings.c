#include "support/swings.h"

#include "support/scratch.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

drive_pose swing_at(int seed, double time) {
    const double shift = 0.7 * seed, slow = 2.6 + 0.2 * seed, quick = 5.1;
    const double bend = 45 - 30 * cos(slow * time + shift) - 12 * cos(quick * time + 2 * shift);
    const double speed = 30 * slow * sin(slow * time + shift) + 12 * quick * sin(quick * time + 2 * shift);
    return (drive_pose){.bend = bend,
                        .twist = 25 * sin(1.7 * time + 2 * shift),
                        .turn = 40 * time,
                        .along = 0.3 * time,
                        .wrinkle = 1 + speed / 200};
}

static void write_take(swing_lesson *l, int take, int frame_count, double factor) {
    drive_pose *poses = malloc((size_t)(frame_count > 0 ? frame_count : 1) * sizeof *poses);
    char names[2][32];
    for (int f = 0; f < frame_count; f++) {
        poses[f] = swing_at(take, f / 25.0);
        poses[f].wrinkle *= factor;
    }
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "%s_%d.pc2", i ? "sleeve" : "bar", take);
        snprintf(l->paths[2 * take + i], sizeof l->paths[0], "%s", scratch_path(names[i]));
    }
    drive_write(names[0], names[1], poses, frame_count);
    l->references[take] = (ex_drive_reference){.driver = l->paths[2 * take], .driven = l->paths[2 * take + 1]};
    free(poses);
}

void swing_open(swing_lesson *l, int take_count, const int *frame_counts) {
    memset(l, 0, sizeof *l);
    l->def = (ex_learn_def){.driver = drive_driver_mesh(),
                            .driven = drive_driven_mesh(),
                            .driver_name = "body",
                            .reference_count = take_count,
                            .references = l->references,
                            .method = EX_LEARN_MOTION,
                            .form_count = 8,
                            .landmark_count = 400,
                            .up = {0, 1, 0},
                            .options = ex_drive_options_default()};
    l->def.options.frames = 4;
    for (int t = 0; t < take_count; t++)
        write_take(l, t, frame_counts[t], 1);
}

void swing_rewrite(swing_lesson *l, int take, int frame_count, double factor) {
    write_take(l, take, frame_count, factor);
}

void swing_close(swing_lesson *l) {
    ex_mesh_destroy((ex_mesh *)(uintptr_t)l->def.driver);
    ex_mesh_destroy((ex_mesh *)(uintptr_t)l->def.driven);
}
