/*
 * Learns a driven rig from reference animations (DrivenShape, 2.1). First gathers from each reference the frames that
 * are needed (author/drive/gather), unless that was done before. A pass over these finds the driver's placement in
 * every frame, and refuses numbers that are not finite. Then it chooses keys, one database after another, then moving
 * frames and residual; then it builds the rig and measures it on evenly spread frames. Memory holds the keys, a few
 * frames, and a few numbers for every frame: the caches may be larger than memory.
 */
#include "author/drive/learn/learn.h"

#include "author/base/array.h"
#include "author/drive/drive.h"
#include "author/drive/gather/gather.h"
#include "author/drive/learn/learn_check.h"
#include "author/drive/motion/learn_motion.h"

#include <math.h>
#include <stdlib.h>

bool exi_learn_tell(exi_learner *l, const char *doing, double part) {
    const double done = l->done + part * l->share;
    l->stopped |= !exi_progress_tell(l->def->progress, doing, l->gathered + (1 - l->gathered) * done);
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

ex_result exi_learn_check(const ex_learn_def *def, ex_error *error) {
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

/* The reference whose caches have the frame of this number. */
static const exi_reference *find_item(const exi_references *refs, int number) {
    int i = 0;
    while (i + 1 < refs->count && number >= refs->items[i + 1].start)
        i++;
    return &refs->items[i];
}

static ex_result check_given(const exi_learner *l) {
    for (int i = 0; i < l->def->given_count; i++) {
        const int number = l->def->given[i];
        if (number < 0 || number >= l->refs.number_count)
            return ex_error_set(l->error, EX_ERROR_ARGUMENT, "there is no frame %d: the references have frames 1 to %d",
                                number + 1, l->refs.number_count);
        const exi_reference *item = find_item(&l->refs, number);
        const int place = number - item->start - item->from->first;
        if (place < 0 || place >= item->used_count)
            return ex_error_set(l->error, EX_ERROR_ARGUMENT,
                                "frame %d cannot become a key: the range of its caches leaves it out", number + 1);
        if (exi_references_find(&l->refs, number) < 0)
            return ex_error_set(l->error, EX_ERROR_ARGUMENT,
                                "'%s' does not hold frame %d: gather it again with --at %d", item->gathered->path,
                                number + 1, number - item->start + 1);
    }
    return EX_OK;
}

/* ---- gathering ---- */

typedef struct watching {
    exi_learner *learner;
    int reference, count;
} watching;

static bool go_on(void *user, const char *doing, double part) {
    const watching *w = user;
    return exi_learn_tell(w->learner, doing, (w->reference + part) / w->count);
}

/* The first stage: reduces references of very many frames. */
static ex_result gather(exi_learner *l) {
    const ex_learn_def *def = l->def;
    int *given = exi_array_allocate((size_t)def->given_count, sizeof *given);
    ex_result result = given ? EX_OK : ex_error_memory(l->error, "frames", (size_t)def->given_count * sizeof *given);
    for (int i = 0; result == EX_OK && i < l->refs.count; i++) {
        watching w = {l, i, l->refs.count};
        const exi_gather_watch watch = {go_on, &w};
        exi_gather_keys how = {.key_count = def->key_count, .given = given, .watch = &watch};
        for (int k = 0; k < def->given_count; k++)
            if (find_item(&l->refs, def->given[k]) == &l->refs.items[i])
                given[how.given_count++] = def->given[k] - l->refs.items[i].start;
        result = exi_gather_frames(&l->refs, i, &l->whole, &how, l->error);
    }
    free(given);
    return result;
}

/* A pass over the frames: finds the driver's placement in each, and sketches it. */
static ex_result place_frames(exi_learner *l) {
    const int n = l->refs.driver_count;
    ex_result result = EX_OK;
    for (int f = 0; result == EX_OK && f < l->refs.frame_count; f++) {
        result = exi_references_read(&l->refs, f, l->driver, l->driven, l->error);
        if (result != EX_OK)
            break;
        ex_driver_place(l->whole.driver, l->driver, l->places + 12 * (size_t)f);
        exi_whole_back(l->places + 12 * (size_t)f, l->driver, n, l->home);
        exi_far_sketch(&l->far, f, l->home);
        if (!exi_learn_tell(l, "reading frames", (double)(f + 1) / l->refs.frame_count))
            result = exi_progress_stopped(l->error);
    }
    return result;
}

static ex_result open_references(exi_learner *l, ex_gathered *const *files) {
    const ex_learn_def *def = l->def;
    if (files)
        return exi_references_from(&l->refs, def, files, l->error);
    return exi_references_open(&l->refs, def, l->error);
}

static ex_result open_learner(exi_learner *l, ex_gathered *const *files) {
    const ex_learn_def *def = l->def;
    ex_result result = open_references(l, files);
    if (result == EX_OK)
        result = check_given(l);
    if (result == EX_OK && !def->any_fit)
        result = exi_references_check_fit(&l->refs, l->error);
    if (result == EX_OK)
        result = exi_whole_open(&l->whole, def->driver, &def->options, l->error);
    l->share = 0.5;
    if (result == EX_OK && !files)
        result = gather(l);
    l->gathered = l->refs.frame_count < l->refs.used_count && !files ? 0.5 : 0;
    l->share = 0.1;
    if (result == EX_OK)
        result = exi_far_open(&l->far, def->driver, l->whole.weights, l->refs.frame_count, l->error);
    if (result != EX_OK)
        return result;
    const size_t frames = (size_t)l->refs.frame_count, n = (size_t)l->refs.driver_count;
    /* Room for the most keys of every database, and those given by hand. */
    l->key_room = def->given_count + (def->key_count < l->refs.frame_count ? def->key_count : l->refs.frame_count);
    if (l->key_room > INT32_MAX / def->reference_count)
        return ex_error_set(l->error, EX_ERROR_LIMIT, "a rig has at most %d keys", EX_CONVEX_MAX);
    l->key_room *= def->reference_count;
    l->places = exi_array_allocate(frames, 12 * sizeof *l->places);
    l->ranges = exi_array_allocate((size_t)l->refs.count, sizeof *l->ranges);
    l->keys = calloc((size_t)l->key_room, sizeof *l->keys);
    l->driver = exi_array_allocate(n, 3 * sizeof(float));
    l->home = exi_array_allocate(n, 3 * sizeof(float));
    l->driven = exi_array_allocate((size_t)l->refs.driven_count, 3 * sizeof(float));
    if (!l->places || !l->ranges || !l->keys || !l->driver || !l->home || !l->driven)
        return ex_error_memory(l->error, "learning", frames * 48 + n * 36);
    l->alike = exi_gather_alike(def->driver);
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
    free(l->ranges);
    exi_far_close(&l->far);
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
            l->share = 0.45 / databases;
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
        const int count = exi_learn_spread(l, NAN, true, frames, all);
        result = exi_learn_measure(l, rig, all, count, errors, errors + frames);
        for (int i = 0; result == EX_OK && i < count; i++) {
            const double share = exi_references_share(&l->refs, all[i]);
            made->error += share * errors[i] / l->refs.used_count;
            made->nearest += share * errors[frames + i] / l->refs.used_count;
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

static ex_result learn_motion(const ex_learn_def *def, ex_gathered *const *files, ex_rig **rig, ex_learned **learned,
                              ex_error *error) {
    return exi_learn_motion(def, files, EXI_MOTION_MEMORY, rig, learned, error);
}

static ex_result learn_keys(const ex_learn_def *def, ex_gathered *const *files, ex_rig **rig, ex_learned **learned,
                            ex_error *error) {
    exi_learner l = {.def = def, .error = error};
    ex_drive_options options = def->options;
    ex_result result = open_learner(&l, files);
    const double start = exi_learn_clock();
    if (result == EX_OK)
        result = place_frames(&l);
    if (result == EX_OK)
        result = exi_learn_foresee(&l, exi_learn_clock() - start);
    if (result == EX_OK)
        result = choose_keys(&l);
    l.done = 0.55;
    l.share = 0.05;
    if (result == EX_OK)
        result = exi_learn_find_nearest(&l);
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
    close_learner(&l);
    return result;
}

ex_result ex_drive_learn(const ex_learn_def *def, ex_rig **rig, ex_learned **learned, ex_error *error) {
    if (!rig)
        return exi_misuse_error(error, __func__, "no pointer for the rig");
    *rig = NULL;
    if (learned)
        *learned = NULL;
    ex_error own;
    exi_gathered_set set = {.count = 0};
    const bool gathered = def && def->gathered_count > 0;
    ex_result result = gathered ? exi_gathered_set_open(&set, def, error) : EX_OK;
    if (gathered)
        def = &set.def;
    if (result == EX_OK)
        result = exi_learn_check(def, error);
    if (result == EX_OK)
        result = (def->method == EX_LEARN_MOTION ? learn_motion : learn_keys)(def, gathered ? set.files : NULL, rig,
                                                                              learned, error ? error : &own);
    if (result != EX_OK) {
        ex_rig_destroy(*rig);
        *rig = NULL;
    }
    exi_gathered_set_close(&set);
    return result;
}

void ex_learned_free(ex_learned *learned) {
    if (!learned)
        return;
    free(learned->frames);
    free(learned->mean_error);
    free(learned);
}
