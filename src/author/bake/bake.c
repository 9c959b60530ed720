/*
 * Bakes a motion to a standard file: describes it, adds targets if the rig's own are not enough, drops keys, measures
 * and writes.
 */
#include "author/bake/bake.h"

#include "author/base/array.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- limits of glTF ---- */

const char *ex_bake_inexact(const ex_rig *rig, const bool *muted, int level) {
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        if (!(muted ? muted[l] : ex_rig_layer_muted(rig, l)) && !ex_rig_layer_is_sum(rig, l))
            return "glTF morphs along straight lines, but a layer moves along trajectories";
    for (int l = 0; level != 0 && l < ex_rig_layer_count(rig); l++)
        if (!(muted ? muted[l] : ex_rig_layer_muted(rig, l)) && ex_rig_layer_stage(rig, l) == EX_STAGE_SURFACE)
            return "glTF morphs along straight lines, but a layer displaces along normals";
    if (!ex_rig_skin(rig))
        return NULL;
    if (ex_rig_skinning(rig) != EX_SKINNING_LINEAR)
        return "glTF does not support dual quaternions";
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        if (!(muted ? muted[l] : ex_rig_layer_muted(rig, l)) && ex_rig_layer_stage(rig, l) == EX_STAGE_POSED)
            return "glTF morphs before it poses, but a layer adds its offsets afterwards";
    return level != 0 ? "the rig poses first and then refines, but glTF poses the refined surface" : NULL;
}

/* ---- opening and closing ---- */

static void drop_targets(exi_bake *bake) {
    for (int k = 0; k < bake->target_count; k++) {
        free(bake->targets[k].name);
        free(bake->targets[k].vertices);
        free(bake->targets[k].deltas);
    }
    bake->target_count = 0;
}

static void close_bake(exi_bake *bake) {
    drop_targets(bake);
    for (int i = 0; i < bake->channel_count; i++) {
        free(bake->channels[i].values);
        free(bake->channels[i].usual);
        free(bake->channels[i].keys);
    }
    free(bake->muted);
    free(bake->rest);
    ex_skin_destroy(bake->skin);
    ex_skin_destroy(bake->full);
    free(bake->targets);
    free(bake->weights);
    free(bake->rest_weights);
    free(bake->locals);
    free(bake->times);
    free(bake->channels);
}

static ex_result check(const exi_bake *bake) {
    const ex_bake_options *o = &bake->options;
    if (bake->motion->pose_count < 1)
        return ex_error_set(bake->error, EX_ERROR_DATA, "the motion has no frames");
    if (bake->vertex_count == 0)
        return ex_error_set(bake->error, EX_ERROR_ARGUMENT, "the rig has no level %d", o->level);
    if (o->influence_most < 1 || o->influence_most > EX_INFLUENCE_MAX)
        return ex_error_set(bake->error, EX_ERROR_ARGUMENT, "a vertex has 1 to %d influences, not %d", EX_INFLUENCE_MAX,
                            o->influence_most);
    if (o->target_count < 0 || !(o->thin >= 0) || !(o->error_most >= 0) || !isfinite(o->thin) ||
        !isfinite(o->error_most))
        return ex_error_set(
            bake->error, EX_ERROR_ARGUMENT,
            "the number of targets and the errors must not be negative: %d targets, thinned within %g m, at most %g m",
            o->target_count, o->thin, o->error_most);
    return EX_OK;
}

static ex_result open_bake(exi_bake *bake) {
    const ex_rig *rig = bake->rig;
    ex_bake_options *o = &bake->options;
    const int layers = ex_rig_layer_count(rig);
    o->influence_most = o->influence_most == 0 ? 4 : o->influence_most;
    bake->level = o->level;
    bake->vertex_count = ex_rig_level_vertex_count(rig, o->level);
    bake->joint_count = ex_rig_joint_count(rig);
    bake->frame_count = bake->motion->pose_count;
    const ex_result result = check(bake);
    if (result != EX_OK)
        return result;
    bake->muted = exi_array_allocate((size_t)layers, sizeof *bake->muted);
    bake->size = ex_bake_size(rig);
    if (!bake->muted || !(bake->size >= 0))
        return ex_error_memory(bake->error, "the layers", (size_t)layers);
    for (int l = 0; l < layers; l++)
        bake->muted[l] = o->muted ? o->muted[l] : ex_rig_layer_muted(rig, l);
    return EX_OK;
}

/* ---- stages ---- */

/* Makes targets. Without a number: the rig's own, and more for the rest. With one: those the motion needs most. */
static ex_result make_targets(exi_bake *bake) {
    const double tolerance = bake->options.error_most > 0 ? bake->options.error_most : EX_BAKE_ERROR * bake->size;
    const int wanted = bake->options.target_count;
    bake->exact = wanted == 0 && !ex_bake_inexact(bake->rig, bake->muted, bake->level);
    ex_result result = exi_bake_describe(bake, wanted == 0);
    if (result != EX_OK || bake->exact)
        return result;
    if (bake->target_count >= EXI_BAKE_TARGETS) { /* too many to add to: a few decomposed ones do better */
        drop_targets(bake);
        bake->unused_count = 0;
    }
    return exi_bake_decompose(bake, wanted, tolerance);
}

/* Refuses a file with too large an error, and suggests only remedies for its actual causes. */
static ex_result judge(const exi_bake *bake, const ex_bake_report *report) {
    const double most = bake->options.error_most, lost = report->influences.largest;
    char influences[96] = "";
    if (most == 0 || report->total.largest <= most)
        return EX_OK;
    if (lost > 0)
        snprintf(influences, sizeof influences, "; leaving out influences alone costs %.3g m", lost);
    else if (bake->exact && bake->options.thin == 0)
        snprintf(influences, sizeof influences, "; this error is rounding in the file");
    return ex_error_set(
        bake->error, EX_ERROR_DATA,
        "the file would be up to %.3g m off the rig (frame %d, counting from 1, vertex %d, from 0), but at most %.3g m "
        "is allowed%s: allow %s%s%sa larger error, or write a point cache, which is exact",
        report->total.largest, report->total.frame + 1, report->total.vertex, most, influences,
        lost > 0 ? "more influences, " : "", bake->exact ? "" : "more targets, ",
        bake->options.thin > 0 ? "more keys (thin them less), " : "");
}

/* Compares the file as it will play with the rig. The animation's own values are overwritten and released: copies would
 * take much memory for a long motion, and only the channels are needed from here on. */
static ex_result measure(exi_bake *bake, ex_bake_report *report) {
    exi_bake_play(bake, bake->weights, bake->locals);
    const ex_result result = exi_bake_measure(bake, bake->weights, bake->locals, &report->total);
    free(bake->weights);
    free(bake->locals);
    bake->weights = NULL;
    bake->locals = NULL;
    return result;
}

static void fill_report(const exi_bake *bake, ex_bake_report *report) {
    const ex_skin *skin = ex_rig_skin(bake->rig);
    report->exact = bake->exact;
    report->frame_count = bake->frame_count;
    report->target_count = bake->target_count;
    report->unused_count = bake->unused_count;
    report->influence_most = skin ? ex_skin_get_info(skin).influence_most : 0;
    report->size = bake->size;
    for (int i = 0; i < bake->channel_count; i++) {
        report->key_count += bake->channels[i].key_count;
        report->key_count_full += bake->frame_count;
    }
}

/* "folder/NAME.glb": NAME. Release with free. */
static char *stem_of(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return exi_text_copy(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static ex_result write(const exi_bake *bake, const char *path) {
    ex_scene *scene = NULL;
    char *name = stem_of(path);
    ex_result result =
        name ? exi_bake_make_scene(bake, name, &scene) : ex_error_memory(bake->error, "a name", strlen(path));
    if (result == EX_OK)
        result = ex_scene_write(path, scene, bake->error);
    ex_scene_destroy(scene);
    free(name);
    return result;
}

ex_result ex_bake_glb(const ex_rig *rig, const ex_motion *motion, const char *path, const ex_bake_options *options,
                      ex_bake_report *report, ex_error *error) {
    if (!rig || !motion || !path)
        return exi_misuse_error(error, __func__, "no rig, motion or path");
    if (!ex_path_ends_with(path, ".glb"))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "cannot write '%s': a motion is baked as .glb", path);
    exi_bake bake = {.rig = rig, .motion = motion, .error = error};
    ex_bake_report own = {.exact = false};
    if (options)
        bake.options = *options;
    ex_result result = open_bake(&bake);
    if (result == EX_OK)
        result = make_targets(&bake);
    if (result == EX_OK)
        result = exi_bake_bound_weights(&bake);
    if (result == EX_OK)
        result = exi_bake_measure_influences(&bake, &own.influences);
    if (result == EX_OK)
        result = exi_bake_make_channels(&bake);
    if (result == EX_OK)
        result = exi_bake_thin(&bake);
    if (result == EX_OK)
        result = measure(&bake, &own);
    if (result == EX_OK) {
        fill_report(&bake, &own);
        result = judge(&bake, &own);
        if (report) /* also for a refused file */
            *report = own;
    }
    if (result == EX_OK)
        result = write(&bake, path);
    close_bake(&bake);
    return result;
}
