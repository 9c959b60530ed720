/*
 * Learns a driven rig from the motion of its driver: states of the driver, principal forms of the driven mesh, and a
 * regression from one to the other, on all frames of all takes. Caches are read frame by frame, at most twice, when
 * takes are gathered (author/drive/gather).
 */
#include "author/base/array.h"
#include "author/drive/motion/drive_motion.h"
#include "author/drive/motion/learn_motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* FRAMES: default number of moving frames of parts. SHOWN: frames on which the result is measured. */
enum { FRAMES = 24, SHOWN = 200 };

ex_result exi_motion_tell(exi_motion_learner *l, const char *doing, double part) {
    return exi_progress_tell(l->def->progress, doing, l->done + part * l->share) ? EX_OK
                                                                                 : exi_progress_stopped(l->error);
}

static ex_result check(exi_motion_learner *l) {
    const ex_learn_def *def = l->def;
    const double length = sqrt(def->up[0] * def->up[0] + def->up[1] * def->up[1] + def->up[2] * def->up[2]);
    if (def->form_count < 1 || def->form_count >= EX_CONVEX_MAX)
        return ex_error_set(l->error, EX_ERROR_ARGUMENT, "1 to %d forms can be learned, not %d", EX_CONVEX_MAX - 1,
                            def->form_count);
    if (def->landmark_count < 1 || def->landmark_count > EX_PREDICTOR_LANDMARK_MAX)
        return ex_error_set(l->error, EX_ERROR_ARGUMENT, "1 to %d landmarks can be learned, not %d",
                            EX_PREDICTOR_LANDMARK_MAX, def->landmark_count);
    if (!isfinite(length))
        return ex_error_set(l->error, EX_ERROR_ARGUMENT, "the direction up is not finite");
    l->up_given = length > 0;
    for (int c = 0; c < 3; c++)
        l->up[c] = l->up_given ? (float)(def->up[c] / length) : c == 1;
    if (def->database_axis || def->given_count > 0 || def->until > 0)
        return ex_error_set(l->error, EX_ERROR_ARGUMENT,
                            "learning from motion has no keys: databases, frames given as keys and an error to reach "
                            "belong to --method keys");
    if (def->options.paths || def->options.region_count > 0)
        return ex_error_set(l->error, EX_ERROR_ARGUMENT,
                            "learning from motion takes neither trajectories nor regions made by hand");
    return EX_OK;
}

static bool go_on(void *user, const char *doing, double part) {
    exi_motion_learner *l = user;
    return exi_motion_tell(l, doing, (l->part + part) / l->refs.count) == EX_OK;
}

/* Everything that gathering and learning need of the meshes. */
static ex_result open_meshes(exi_motion_learner *l) {
    const ex_learn_def *def = l->def;
    ex_result result = exi_drive_plan_make(def->driver, def->driven, &l->options, 0, &l->plan, l->error);
    if (result != EX_OK)
        return result;
    l->driven = ex_mesh_copy(def->driven);
    l->driver_form = exi_array_allocate((size_t)l->refs.driver_count, 3 * sizeof(float));
    l->driven_form = exi_array_allocate((size_t)l->refs.driven_count, 3 * sizeof(float));
    l->parts = calloc((size_t)l->refs.count, sizeof *l->parts);
    if (!l->driven || !l->driver_form || !l->driven_form || !l->parts)
        return ex_error_memory(l->error, "a frame", (size_t)l->refs.driver_count * 24);
    result = exi_rig_mesh_make(l->driven, &l->rig_mesh, l->error);
    if (result == EX_OK)
        result = exi_rig_mesh_smooth(&l->rig_mesh, l->error);
    result = ex_error_within(l->error, result, "driven mesh");
    if (result == EX_OK)
        result =
            exi_moving_frames_open(&l->carrier, &l->plan.driver, l->rig_mesh.positions, l->refs.driven_count, l->error);
    l->watch = (exi_gather_watch){go_on, l};
    l->gather = (exi_gather_motion){.refs = &l->refs,
                                    .plan = &l->plan,
                                    .carrier = &l->carrier,
                                    .mesh = l->rig_mesh.positions,
                                    .form_count = def->form_count,
                                    .memory = l->memory,
                                    .driver_form = l->driver_form,
                                    .driven_form = l->driven_form,
                                    .watch = &l->watch,
                                    .tasks = def->tasks,
                                    .error = l->error};
    return result;
}

ex_result exi_motion_open(exi_motion_learner *l, ex_gathered *const *files) {
    const ex_learn_def *def = l->def;
    ex_drive_options *options = &l->options;
    ex_result result = check(l);
    if (result != EX_OK)
        return result;
    *options = def->options;
    options->frames = options->frames < 0 ? FRAMES : options->frames;
    options->one_region = true;
    options->residual = EX_RESIDUAL_NONE;
    if (options->frames < 2 || options->frames >= EX_PREDICTOR_FRAME_MAX)
        return ex_error_set(l->error, EX_ERROR_ARGUMENT,
                            "learning from motion needs 2 to %d moving frames of parts, not %d",
                            EX_PREDICTOR_FRAME_MAX - 1, options->frames);
    result = files ? exi_references_from(&l->refs, def, files, l->error) : exi_references_open(&l->refs, def, l->error);
    if (result == EX_OK && !def->any_fit)
        result = exi_references_check_fit(&l->refs, l->error);
    if (result == EX_OK)
        result = open_meshes(l);
    return result;
}

ex_result exi_motion_gather(exi_motion_learner *l, bool forms) {
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < l->refs.count; i++) {
        const ex_gathered *file = l->refs.items[i].gathered;
        l->part = i;
        if (!file)
            result = exi_gather_part(&l->gather, i, forms, &l->parts[i]);
        else if (file->motion.moving_count != l->plan.driver.driver.frame_count)
            result =
                ex_error_set(l->error, EX_ERROR_DATA,
                             "%s: this gathered file does not go with its own meshes: gather it again", file->path);
        else
            l->parts[i] = file->motion;
    }
    return result;
}

void exi_motion_close(exi_motion_learner *l) {
    for (int i = 0; l->parts && i < l->refs.count; i++)
        exi_motion_part_free(&l->parts[i]);
    free(l->parts);
    ex_predictor_destroy(l->predictor);
    exi_moving_frames_close(&l->carrier);
    exi_rig_mesh_free(&l->rig_mesh);
    ex_mesh_destroy(l->driven);
    exi_drive_plan_free(&l->plan);
    exi_references_close(&l->refs);
    free(l->driver_form);
    free(l->driven_form);
    free(l->frames);
    free(l->homes);
    free(l->takes);
    free(l->centres);
    free(l->states);
    free(l->mean);
    free(l->forms);
    free(l->coefficients);
}

/* ---- the report ---- */

/* Mean error of one frame, as predicted from its state, before settling. Moving frames are rigid: it is the same before
 * and after they move the forms. */
static ex_result measure_frame(exi_motion_learner *l, int i, double *weights, float *forms, void *scratch,
                               double *error) {
    const size_t vertices = (size_t)l->refs.driven_count, numbers = 3 * vertices;
    float *right = forms, *made = forms + numbers;
    const ex_result result = exi_motion_form(l, i, right);
    if (result != EX_OK)
        return result;
    (void)ex_predictor_evaluate(l->predictor, l->states + (size_t)i * (size_t)l->state_length, weights, scratch);
    for (size_t k = 0; k < numbers; k++)
        made[k] = (float)(weights[0] * (double)l->mean[k]);
    for (int f = 0; f < l->form_count; f++)
        exi_motion_add(made, l->forms + (size_t)f * numbers, weights[f + 1], numbers);
    *error += exi_form_mean(made, right, (int)vertices);
    return EX_OK;
}

static ex_result describe(exi_motion_learner *l, ex_learned **learned) {
    ex_learned *made = calloc(1, sizeof *made);
    double *weights = exi_array_allocate((size_t)l->form_count + 1, sizeof *weights);
    float *form = exi_array_allocate(6 * (size_t)l->refs.driven_count, sizeof *form);
    void *scratch = exi_array_allocate(ex_predictor_scratch_size(l->predictor), 1);
    ex_result result = made && weights && form && scratch ? EX_OK : ex_error_memory(l->error, "what was learned", 0);
    const int shown = l->frame_count < SHOWN ? l->frame_count : SHOWN;
    for (int i = 0; result == EX_OK && i < shown; i++) {
        result = measure_frame(l, (int)((int64_t)i * l->frame_count / shown), weights, form, scratch, &made->error);
        if (result == EX_OK)
            result = exi_motion_tell(l, "measuring", (double)(i + 1) / shown);
    }
    if (result == EX_OK) {
        ex_predictor_def def;
        ex_predictor_describe(l->predictor, NULL, &def);
        made->error /= shown;
        made->nearest = -1;
        made->frame_count = l->plan.driver.driver.frame_count - 1;
        made->residual = EX_RESIDUAL_NONE;
        made->form_count = l->form_count;
        made->landmark_count = def.landmark_count;
        made->learned_count = l->frame_count;
        made->form_error = sqrt(l->form_square);
        made->left_out = l->choice.error;
        made->width = l->choice.width;
        made->ridge = l->choice.ridge;
        made->motion = l->choice.weights[EX_STATE_VELOCITY];
        made->sizes = l->choice.weights[EX_STATE_SIZE];
        for (int c = 0; c < 3; c++)
            made->up[c] = (double)l->up[c];
        *learned = made;
        made = NULL;
    }
    free(weights);
    free(form);
    free(scratch);
    ex_learned_free(made);
    return result;
}

static ex_result gather(exi_motion_learner *l) {
    return exi_motion_gather(l, false);
}

ex_result exi_learn_motion(const ex_learn_def *def, ex_gathered *const *files, size_t memory, ex_rig **rig,
                           ex_learned **learned, ex_error *error) {
    static const struct {
        ex_result (*run)(exi_motion_learner *);
        double share;
    } steps[] = {{gather, 0.3},
                 {exi_motion_observe, 0.05},
                 {exi_motion_find_forms, 0.15},
                 {exi_motion_select, 0.3},
                 {exi_motion_regress, 0.1}};
    exi_motion_learner l = {.def = def, .memory = memory, .error = error};
    ex_result result = exi_motion_open(&l, files);
    for (size_t i = 0; result == EX_OK && i < sizeof steps / sizeof *steps; i++) {
        l.share = steps[i].share;
        result = steps[i].run(&l);
        l.done += l.share;
    }
    if (result == EX_OK)
        result = exi_motion_build(&l, rig);
    l.share = 0.1;
    if (result == EX_OK && learned)
        result = describe(&l, learned);
    exi_motion_close(&l);
    return result;
}
