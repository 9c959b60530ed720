/*
 * Gathers one reference into a file: the first stage of learning (ex_drive_learn), for one pair of caches alone. The
 * second stage takes such files instead of caches, and makes the same rig.
 */
#include "author/drive/gather/gather.h"

#include "author/base/progress.h"
#include "author/drive/learn/learn_check.h"
#include "author/drive/motion/drive_motion.h"
#include "author/drive/motion/learn_motion.h"

#include <math.h>

static bool go_on(void *user, const char *doing, double part) {
    const ex_gather_def *def = user;
    return exi_progress_tell(def->progress, doing, 0.8 * part);
}

/* Frames given by hand must be among those that are used. */
static ex_result check_given(const exi_gathering *g) {
    const exi_reference *item = &g->refs.items[0];
    for (int i = 0; i < g->def->given_count; i++) {
        const int place = g->def->given[i] - g->def->reference.first;
        if (place < 0 || place >= item->used_count)
            return ex_error_set(g->error, EX_ERROR_ARGUMENT,
                                "there is no frame %d to keep: frames %d to %d of '%s' are used", g->def->given[i] + 1,
                                g->def->reference.first + 1, g->def->reference.first + item->used_count,
                                g->def->reference.driver);
        for (int j = 0; j < i; j++)
            if (g->def->given[j] == g->def->given[i])
                return ex_error_set(g->error, EX_ERROR_ARGUMENT, "frame %d is given twice", g->def->given[i] + 1);
    }
    return EX_OK;
}

static ex_result gather_keys(exi_gathering *g, const ex_learn_def *lesson, const char *path) {
    const ex_gather_def *def = g->def;
    const exi_gather_watch watch = {go_on, (void *)(uintptr_t)def};
    const exi_gather_keys how = {
        .key_count = def->key_count, .given_count = def->given_count, .given = def->given, .watch = &watch};
    exi_whole whole = {.driver = NULL};
    ex_result result = exi_references_open(&g->refs, lesson, g->error);
    if (result == EX_OK)
        result = check_given(g);
    if (result == EX_OK && !def->any_fit)
        result = exi_references_check_fit(&g->refs, g->error);
    if (result == EX_OK)
        result = exi_whole_open(&whole, def->driver, &def->options, g->error);
    if (result == EX_OK)
        result = exi_gather_frames(&g->refs, 0, &whole, &how, g->error);
    if (result == EX_OK)
        result = exi_gathered_write(g, path);
    exi_whole_close(&whole);
    exi_references_close(&g->refs);
    return result;
}

static ex_result gather_motion(exi_gathering *g, const ex_learn_def *lesson, const char *path) {
    exi_motion_learner l = {.def = lesson, .memory = EXI_MOTION_MEMORY, .error = g->error, .share = 1};
    ex_result result = exi_motion_open(&l, NULL);
    if (result == EX_OK)
        result = exi_motion_gather(&l, true);
    if (result == EX_OK) {
        g->refs = l.refs;
        g->motion = l.parts[0];
        result = exi_gathered_write(g, path);
    }
    exi_motion_close(&l);
    return result;
}

ex_result ex_drive_gather(const ex_gather_def *def, const char *path, ex_error *error) {
    ex_error own;
    if (!def || !path || !def->reference.driver || !def->reference.driven)
        return exi_misuse_error(error, __func__, "gathering needs two meshes, two caches and a path");
    if (def->given_count < 0 || (def->given_count > 0 && !def->given))
        return exi_misuse_error(error, __func__, "no frames");
    exi_gathering g = {.def = def, .error = error ? error : &own};
    const bool motion = def->method == EX_LEARN_MOTION;
    const ex_learn_def lesson = {.driver = def->driver,
                                 .driven = def->driven,
                                 .database_axis = def->database_axis,
                                 .reference_count = 1,
                                 .references = &def->reference,
                                 .method = def->method,
                                 .key_count = def->key_count == 0 ? EXI_GATHER_FAR : def->key_count,
                                 .form_count = def->form_count,
                                 .landmark_count = 1,
                                 .driver_scale = def->driver_scale,
                                 .driven_scale = def->driven_scale,
                                 .any_fit = def->any_fit,
                                 .options = def->options,
                                 .progress = def->progress,
                                 .tasks = def->tasks};
    const ex_result result = exi_learn_check(&lesson, error);
    return result != EX_OK ? result : (motion ? gather_motion : gather_keys)(&g, &lesson, path);
}
