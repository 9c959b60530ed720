/*
 * cli/bake/between.c - measures how far a baked file leaves the paths of the rig between two frames.
 *
 * Between two keys, morph weights run along a line, and so do vertices: halfway they are at the mean of the two forms.
 * The rig is evaluated at the pose halfway, and all forms are at rest, since a file poses the joints as the rig does.
 * The distance falls with the square of the time between frames, which gives the rate that keeps it small.
 */
#include "between.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Distances up to this part of the size are not worth a note; the rate that is named stays within the other. */
static const double much = 1e-2, little = 5e-3;
/* At a higher rate, frames come nearer to where a path turns most. */
static const double margin = 1.2;

typedef struct walk {
    const ex_rig *rig;
    ex_evaluation how;
    size_t vertex_count;
    float *forms[3]; /* [vertex_count][3]: of a frame, of the next one, and halfway */
    void *scratch;
    ex_pose halfway;
} walk;

static bool has_paths(const ex_rig *rig, const bool *muted) {
    bool any = false;
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        any = any || (!(muted ? muted[l] : ex_rig_layer_muted(rig, l)) && !ex_rig_layer_is_sum(rig, l));
    return any;
}

static bool open_walk(walk *w) {
    bool good = (w->scratch = malloc(ex_rig_scratch_size(w->rig, &w->how, 1) + 1));
    w->halfway = ex_pose_create(w->rig);
    for (int i = 0; i < 3; i++)
        good = (w->forms[i] = malloc(w->vertex_count * 3 * sizeof(float) + 1)) && good;
    return good && w->halfway.inputs;
}

static void close_walk(walk *w) {
    for (int i = 0; i < 3; i++)
        free(w->forms[i]);
    free(w->halfway.inputs); /* and the joints, in the same allocation */
    free(w->scratch);
}

static void evaluate(walk *w, const ex_pose *pose, int form) {
    const ex_output output = {.positions = w->forms[form]};
    ex_rig_evaluate(w->rig, pose, &output, &w->how, w->scratch);
}

/* Sets the pose halfway between two. */
static void set_halfway(walk *w, const ex_pose *a, const ex_pose *b) {
    for (int i = 0; i < ex_rig_pose_size(w->rig); i++)
        w->halfway.inputs[i] = 0.5 * (a->inputs[i] + b->inputs[i]);
    for (int k = 0; k < ex_rig_input_count(w->rig); k++) {
        const int at = ex_rig_input_offset(w->rig, k);
        ex_transform x = ex_transform_identity(), y = x;
        if (at < 0 || ex_rig_input_axis(w->rig, k).kind == EX_AXIS_SCALAR)
            continue;
        for (int i = 0; i < 4; i++) {
            x.rotation[i] = (float)a->inputs[at + i];
            y.rotation[i] = (float)b->inputs[at + i];
        }
        x = ex_transform_interpolate(&x, &y, 0.5);
        for (int i = 0; i < 4; i++)
            w->halfway.inputs[at + i] = (double)x.rotation[i];
    }
    for (int j = 0; j < ex_rig_joint_count(w->rig); j++)
        w->halfway.joints[j] = ex_transform_interpolate(&a->joints[j], &b->joints[j], 0.5);
}

/* Returns the largest distance of a vertex halfway from the mean of its places in the two frames. */
static double measure(const walk *w) {
    double most = 0;
    for (size_t v = 0; v < w->vertex_count; v++) {
        double square = 0;
        for (size_t i = 3 * v; i < 3 * v + 3; i++) {
            const double mean = 0.5 * ((double)w->forms[0][i] + (double)w->forms[1][i]);
            square += ((double)w->forms[2][i] - mean) * ((double)w->forms[2][i] - mean);
        }
        most = square > most ? square : most;
    }
    return sqrt(most);
}

bool exi_bake_between_measure(const ex_rig *rig, const ex_motion *motion, const ex_bake_options *options,
                              exi_bake_between *between) {
    walk w = {.rig = rig,
              .how = {.muted = options->muted, .level = options->level, .unskinned = true, .tasks = options->tasks},
              .vertex_count = (size_t)ex_rig_level_vertex_count(rig, options->level)};
    *between = (exi_bake_between){.measured = has_paths(rig, options->muted) && motion->pose_count > 1};
    if (!between->measured)
        return true;
    const bool good = open_walk(&w);
    if (good)
        evaluate(&w, &motion->poses[0], 0);
    for (int f = 0; good && f + 1 < motion->pose_count; f++) {
        const ex_pose *a = &motion->poses[f], *b = a + 1;
        evaluate(&w, b, 1);
        set_halfway(&w, a, b);
        evaluate(&w, &w.halfway, 2);
        const double off = measure(&w);
        if (off > between->largest)
            *between = (exi_bake_between){true, off, f, motion->times[f + 1] - motion->times[f]};
        float *form = w.forms[0];
        w.forms[0] = w.forms[1];
        w.forms[1] = form;
    }
    close_walk(&w);
    return good;
}

bool exi_bake_between_note(const exi_bake_between *between, double size, char *text, size_t text_size) {
    if (!between->measured || between->largest <= much * size)
        return false;
    snprintf(text, text_size,
             "between frames %d and %d, straight lines leave the path by up to %.2g m (%.2g %% of the height); about "
             "%.0f frames per second stay within %.2g %%",
             between->frame + 1, between->frame + 2, between->largest, 100 * between->largest / size,
             ceil(margin * sqrt(between->largest / (little * size)) / between->seconds), 100 * little);
    return true;
}
