/*
 * Learns a driven rig from reference animations (DrivenShape, 2.1). A first pass over the caches finds the driver's
 * placement in every frame, and refuses numbers that are not finite. Then it chooses keys, one database after another,
 * then moving frames and residual; then it builds the rig and measures it on all frames. Memory holds the keys, a few
 * frames, and a few numbers for every frame: the caches may be larger than memory.
 */
#include "author/drive/learn/learn.h"

#include "author/base/array.h"
#include "author/drive/drive.h"
#include "author/drive/motion/learn_motion.h"

#include <math.h>
#include <stdlib.h>

/* Forms are alike if they differ by less than this fraction of the driver's size, as a root mean square. That is the
 * precision floats have some tens of sizes away from the origin, and to which a rig is exact. */
static const double alike_part = 1e-5;

bool exi_learn_tell(exi_learner *l, const char *doing, double part) {
    l->stopped |= !exi_progress_tell(l->def->progress, doing, l->done + part * l->share);
    return !l->stopped;
}

ex_result exi_learn_build(const exi_learner *l, const exi_key_choice *choice, const ex_drive_options *options,
                          ex_rig **rig) {
    const size_t most = (size_t)(choice->last - choice->first);
    ex_drive_key *keys = exi_array_allocate(most, sizeof *keys);
    int count = 0;
    if (!keys)
        return ex_error_memory(l->error, "keys", most * sizeof *keys);
    for (int k = choice->first; k < choice->last; k++)
        if (choice->folds == 0 || k % choice->folds != choice->fold)
            keys[count++] = (ex_drive_key){.name = l->keys[k].name,
                                           .driver = l->keys[k].driver,
                                           .driven = l->keys[k].driven,
                                           .database = l->keys[k].database};
    const ex_drive_def def = {.driver = l->def->driver,
                              .driven = l->def->driven,
                              .driver_name = l->def->driver_name ? l->def->driver_name : "body",
                              .database_axis = choice->axis ? l->def->database_axis : NULL,
                              .key_count = count,
                              .keys = keys,
                              .options = *options};
    const ex_result result = ex_drive_build(&def, rig, l->error);
    free(keys);
    return result;
}

/* ---- preparation ---- */

static ex_result check_def(const ex_learn_def *def, ex_error *error) {
    if (!def || !def->driver || !def->driven || def->reference_count < 1 || !def->references)
        return exi_misuse_error(error, __func__, "learning needs two meshes and a reference");
    const ex_result named =
        exi_drive_names_check(def->driver_name ? def->driver_name : "body", def->database_axis, error);
    if (named != EX_OK)
        return named;
    if ((unsigned)def->method >= EX_LEARN_METHOD_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "unknown method of learning");
    if (def->method == EX_LEARN_KEYS && (def->key_count < 1 || def->key_count > EX_CONVEX_MAX))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "1 to %d keys can be chosen, not %d", EX_CONVEX_MAX,
                            def->key_count);
    if (!(def->until >= 0) || !isfinite(def->until))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the error to reach is %g: it must be a length of 0 or more",
                            def->until);
    ex_result scales = exi_take_check_scale(def->driver_scale, "driver", error);
    if (scales == EX_OK)
        scales = exi_take_check_scale(def->driven_scale, "driven", error);
    if (scales != EX_OK)
        return scales;
    if (def->driver->vertex_count < 1 || def->driven->vertex_count < 1)
        return ex_error_set(error, EX_ERROR_DATA, "the %s mesh has no vertices",
                            def->driver->vertex_count < 1 ? "driver" : "driven");
    for (int i = 0; i < def->reference_count; i++) {
        if (!isfinite(def->references[i].database))
            return ex_error_set(error, EX_ERROR_ARGUMENT, "the database of '%s' has no finite value",
                                def->references[i].driver);
        if (!def->database_axis && def->references[i].database != def->references[0].database)
            return ex_error_set(
                error, EX_ERROR_ARGUMENT,
                "the references belong to several databases, but the axis that tells them apart has no name");
    }
    return EX_OK;
}

static ex_result check_given(const exi_learner *l) {
    for (int i = 0; i < l->def->given_count; i++) {
        const int number = l->def->given[i];
        if (number < 0 || number >= l->refs.number_count)
            return ex_error_set(l->error, EX_ERROR_ARGUMENT, "there is no frame %d: the references have frames 1 to %d",
                                number + 1, l->refs.number_count);
        if (exi_references_find(&l->refs, number) < 0)
            return ex_error_set(l->error, EX_ERROR_ARGUMENT,
                                "frame %d cannot become a key: the range of its caches leaves it out", number + 1);
    }
    return EX_OK;
}

/* The first pass: finds the driver's placement in every frame, and its distance from the mesh's own form. */
static ex_result place_frames(exi_learner *l) {
    const ex_mesh *mesh = l->def->driver;
    const int n = l->refs.driver_count;
    float *reference = exi_array_allocate((size_t)n, 3 * sizeof *reference);
    ex_result result = reference ? EX_OK : ex_error_memory(l->error, "the driver", (size_t)n * 12);
    for (size_t i = 0; reference && i < 3 * (size_t)n; i++)
        reference[i] = (float)mesh->positions[i];
    for (int f = 0; result == EX_OK && f < l->refs.frame_count; f++) {
        result = exi_references_read(&l->refs, f, l->driver, l->driven, l->error);
        if (result != EX_OK)
            break;
        ex_driver_place(l->whole.driver, l->driver, l->places + 12 * (size_t)f);
        exi_whole_back(l->places + 12 * (size_t)f, l->driver, n, l->home);
        l->distance[f] = exi_form_squares(l->home, reference, l->whole.weights, n);
        l->nearest[f] = -1;
        if (!exi_learn_tell(l, "reading frames", (double)(f + 1) / l->refs.frame_count))
            result = exi_progress_stopped(l->error);
    }
    free(reference);
    return result;
}

static ex_result open_learner(exi_learner *l) {
    const ex_learn_def *def = l->def;
    ex_result result = exi_references_open(&l->refs, def, l->error);
    if (result == EX_OK)
        result = check_given(l);
    if (result == EX_OK && !def->any_fit)
        result = exi_references_check_fit(&l->refs, l->error);
    if (result == EX_OK)
        result = exi_whole_open(&l->whole, def->driver, &def->options, l->error);
    if (result != EX_OK)
        return result;
    const size_t frames = (size_t)l->refs.frame_count, n = (size_t)l->refs.driver_count;
    /* Room for the most keys of every database, and those given by hand. */
    l->key_room = def->given_count + (def->key_count < l->refs.frame_count ? def->key_count : l->refs.frame_count);
    if (l->key_room > INT32_MAX / def->reference_count)
        return ex_error_set(l->error, EX_ERROR_LIMIT, "a rig has at most %d keys", EX_CONVEX_MAX);
    l->key_room *= def->reference_count;
    l->places = exi_array_allocate(frames, 12 * sizeof *l->places);
    l->distance = exi_array_allocate(frames, sizeof *l->distance);
    l->nearest = exi_array_allocate(frames, sizeof *l->nearest);
    l->keys = calloc((size_t)l->key_room, sizeof *l->keys);
    l->driver = exi_array_allocate(n, 3 * sizeof(float));
    l->home = exi_array_allocate(n, 3 * sizeof(float));
    l->driven = exi_array_allocate((size_t)l->refs.driven_count, 3 * sizeof(float));
    if (!l->places || !l->distance || !l->nearest || !l->keys || !l->driver || !l->home || !l->driven)
        return ex_error_memory(l->error, "learning", frames * 60 + n * 36);
    const double size = alike_part * ex_mesh_size(def->driver);
    l->alike = size * size;
    return EX_OK;
}

static void close_learner(exi_learner *l) {
    for (int k = 0; k < l->key_count; k++) {
        free(l->keys[k].driver);
        free(l->keys[k].driven);
        free(l->keys[k].home);
    }
    free(l->keys);
    free(l->places);
    free(l->distance);
    free(l->nearest);
    free(l->driver);
    free(l->home);
    free(l->driven);
    exi_whole_close(&l->whole);
    exi_references_close(&l->refs);
}

/* ---- entry points ---- */

/* Chooses the keys of every database, in the order in which the databases appear. */
static ex_result choose_keys(exi_learner *l) {
    ex_result result = EX_OK;
    int databases = 0, done = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; result == EX_OK && i < l->refs.count; i++) {
            bool seen = false;
            for (int j = 0; j < i; j++)
                seen |= l->refs.items[j].database == l->refs.items[i].database;
            if (seen)
                continue;
            if (pass == 0) {
                databases++;
                continue;
            }
            l->share = 0.5 / databases;
            l->done = 0.1 + done++ * l->share;
            result = exi_learn_choose(l, l->refs.items[i].database, l->key_count);
        }
    if (result == EX_OK && l->key_count > EX_CONVEX_MAX)
        result = ex_error_set(l->error, EX_ERROR_LIMIT, "%d keys were chosen in all; a rig has at most %d",
                              l->key_count, EX_CONVEX_MAX);
    return result;
}

static ex_result describe(exi_learner *l, const ex_drive_options *options, const ex_rig *rig, ex_learned **learned) {
    const int frames = l->refs.frame_count;
    ex_learned *made = calloc(1, sizeof *made);
    int *all = exi_array_allocate((size_t)frames, sizeof *all);
    double *errors = exi_array_allocate((size_t)frames, 2 * sizeof *errors);
    ex_result result = EX_OK;
    if (made) {
        made->frames = exi_array_allocate((size_t)l->key_count, sizeof *made->frames);
        made->mean_error = exi_array_allocate((size_t)l->key_count, sizeof *made->mean_error);
    }
    if (!made || !all || !errors || !made->frames || !made->mean_error) {
        result = ex_error_memory(l->error, "what was learned", (size_t)frames * 24);
    } else {
        ex_rig_driver driver;
        made->key_count = l->key_count;
        for (int k = 0; k < l->key_count; k++) {
            made->frames[k] = exi_references_number(&l->refs, l->keys[k].frame);
            made->mean_error[k] = l->keys[k].mean_error;
        }
        made->residual = options->residual;
        if (ex_rig_get_driver(rig, &driver, NULL)) {
            made->frame_count = options->frames < 2 && options->frames >= 0 ? 1 : driver.driver.frame_count;
            made->residual = driver.residual;
        }
        for (int f = 0; f < frames; f++)
            all[f] = f;
        result = exi_learn_measure(l, rig, all, frames, errors, errors + frames);
        for (int f = 0; result == EX_OK && f < frames; f++) {
            made->error += errors[f] / frames;
            made->nearest += errors[frames + f] / frames;
        }
    }
    free(all);
    free(errors);
    if (result == EX_OK)
        *learned = made;
    else
        ex_learned_free(made);
    return result;
}

ex_result ex_drive_learn(const ex_learn_def *def, ex_rig **rig, ex_learned **learned, ex_error *error) {
    if (!rig)
        return exi_misuse_error(error, __func__, "no pointer for the rig");
    *rig = NULL;
    if (learned)
        *learned = NULL;
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    ex_error own;
    if (def->method == EX_LEARN_MOTION)
        return exi_learn_motion(def, EXI_MOTION_MEMORY, rig, learned, error ? error : &own);
    exi_learner l = {.def = def, .error = error ? error : &own, .share = 0.1};
    ex_drive_options options = def->options;
    result = open_learner(&l);
    const double start = exi_learn_clock();
    if (result == EX_OK)
        result = place_frames(&l);
    if (result == EX_OK)
        result = exi_learn_foresee(&l, exi_learn_clock() - start);
    if (result == EX_OK)
        result = choose_keys(&l);
    l.done = 0.6;
    l.share = 0.3;
    if (result == EX_OK)
        result = exi_learn_tune(&l, &options);
    if (result == EX_OK)
        result = exi_learn_build(&l, &(exi_key_choice){.last = l.key_count, .axis = def->database_axis != NULL},
                                 &options, rig);
    l.done = 0.9;
    l.share = 0.1;
    if (result == EX_OK && learned)
        result = describe(&l, &options, *rig, learned);
    if (result != EX_OK) {
        ex_rig_destroy(*rig);
        *rig = NULL;
    }
    close_learner(&l);
    return result;
}

void ex_learned_free(ex_learned *learned) {
    if (!learned)
        return;
    free(learned->frames);
    free(learned->mean_error);
    free(learned);
}
