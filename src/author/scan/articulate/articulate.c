/*
 * Articulates registered meshes: checks the input, starts from a skeleton or from bones that it finds, and repeats
 * poses and centres, rest form, weights until the distance no longer falls.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/scan/articulate/articulation.h"
#include "author/scan/kinematics/kinematics.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- checks ---- */

static const char *form_name(const ex_articulate_def *def, int form, char text[32]) {
    if (def->names && def->names[form])
        return def->names[form];
    snprintf(text, 32, "form %d", form + 1);
    return text;
}

static ex_result check_numbers(const ex_articulate_def *def, ex_error *error) {
    char text[32];
    for (int f = 0; f < def->form_count; f++)
        for (size_t v = 0; v < (size_t)def->mesh->vertex_count; v++) {
            const double *p = def->forms[f] + 3 * v;
            const float *c = def->confidences ? def->confidences[f] : NULL;
            if (c && !(c[v] >= 0 && c[v] <= 1))
                return ex_error_set(error, EX_ERROR_DATA, "%s: the confidence of vertex %zu is not from 0 to 1",
                                    form_name(def, f, text), v);
            if ((!c || c[v] > 0) && !(isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2])))
                return ex_error_set(error, EX_ERROR_DATA, "%s: the position of vertex %zu is not a finite number",
                                    form_name(def, f, text), v);
        }
    return EX_OK;
}

static ex_result check_weights(const ex_articulate_def *def, ex_error *error) {
    const int count = def->skeleton->joint_count;
    if (def->influence_count < 1 || !def->joints || !def->weights)
        return ex_error_set(error, EX_ERROR_DATA,
                            "a skeleton needs skin weights to start from: which joint moves which vertex");
    for (size_t v = 0; v < (size_t)def->mesh->vertex_count; v++) {
        double sum = 0;
        for (size_t i = v * (size_t)def->influence_count; i < (v + 1) * (size_t)def->influence_count; i++) {
            if (!(def->weights[i] >= 0) || (def->weights[i] > 0 && def->joints[i] >= count))
                return ex_error_set(error, EX_ERROR_DATA,
                                    "vertex %zu has a weight below 0, or of a joint that the skeleton does not have",
                                    v);
            sum += (double)def->weights[i];
        }
        if (!(fabs(sum - 1) < 0.01))
            return ex_error_set(error, EX_ERROR_DATA, "the skin weights of vertex %zu sum to %g, but must sum to 1", v,
                                sum);
    }
    return EX_OK;
}

static ex_result check(const ex_articulate_def *def, ex_error *error) {
    if (!def || !def->mesh || def->mesh->vertex_count < 1 || def->form_count < 1 || !def->forms)
        return exi_misuse_error(error, "ex_articulate", "a mesh and forms are required");
    if (def->influence_most < 0 || def->influence_most > EX_ARTICULATE_INFLUENCES || def->bone_count < 0 ||
        def->bone_count > EX_ARTICULATE_BONES || def->round_most < 0)
        return exi_misuse_error(error, "ex_articulate", "a number is out of range");
    if (def->form_count < 2)
        return ex_error_kind(error,
                             ex_error_set(error, EX_ERROR_DATA,
                                          "one form alone does not show how a body moves: give the same mesh in at "
                                          "least two poses, better ten"),
                             "one_form");
    ex_result result = check_numbers(def, error);
    return result == EX_OK && def->skeleton ? check_weights(def, error) : result;
}

/* Half the diagonal of the first form that shows anything. */
static double get_unit(const ex_articulate_def *def) {
    double least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t v = 0; v < (size_t)def->mesh->vertex_count; v++)
        for (int i = 0; i < 3; i++) {
            const float *c = def->confidences ? def->confidences[0] : NULL;
            const double x = def->forms[0][3 * v + (size_t)i];
            if (c && c[v] == 0)
                continue;
            least[i] = x < least[i] ? x : least[i];
            most[i] = x > most[i] ? x : most[i];
        }
    double square = 0;
    for (int i = 0; i < 3; i++)
        square += most[i] > least[i] ? (most[i] - least[i]) * (most[i] - least[i]) : 0;
    return square > 0 ? 0.5 * sqrt(square) : 1;
}

/* ---- the state ---- */

void exi_art_free(exi_articulation *a) {
    free(a->tree);
    free(a->centres);
    free(a->origin_centres);
    free(a->origin);
    free(a->turns);
    free(a->bases);
    free(a->rest);
    free(a->joints);
    free(a->weights);
    free(a->first_joints);
    free(a->first_weights);
}

static bool allocate(exi_articulation *a, int joint_count) {
    const size_t joints = (size_t)joint_count, forms = (size_t)a->form_count;
    const size_t room = (size_t)a->vertex_count * (size_t)a->influence_count;
    a->joint_count = joint_count;
    a->tree = calloc(joints, sizeof *a->tree);
    a->centres = calloc(joints, sizeof *a->centres);
    a->origin_centres = calloc(joints, sizeof *a->origin_centres);
    a->origin = calloc(3 * (size_t)a->vertex_count, sizeof *a->origin);
    a->turns = calloc(joints * forms, sizeof *a->turns);
    a->bases = calloc(forms, sizeof *a->bases);
    if (!a->rest)
        a->rest = calloc(3 * (size_t)a->vertex_count, sizeof *a->rest);
    a->joints = calloc(room, sizeof *a->joints);
    a->weights = calloc(room, sizeof *a->weights);
    a->first_joints = calloc(room, sizeof *a->first_joints);
    a->first_weights = calloc(room, sizeof *a->first_weights);
    for (size_t i = 0; a->turns && i < joints * forms; i++)
        a->turns[i][3] = 1;
    return a->tree && a->centres && a->origin_centres && a->origin && a->turns && a->bases && a->rest && a->joints &&
           a->weights && a->first_joints && a->first_weights;
}

ex_result exi_art_allocate(exi_articulation *a, int joint_count, ex_error *error) {
    return allocate(a, joint_count) ? EX_OK : ex_error_memory(error, "the body", (size_t)a->vertex_count * 200);
}

ex_result exi_art_copy(const exi_articulation *from, exi_articulation *to, ex_error *error) {
    const size_t joints = (size_t)from->joint_count, forms = (size_t)from->form_count;
    const size_t room = (size_t)from->vertex_count * (size_t)from->influence_count;
    *to = *from;
    to->rest = NULL;
    if (!allocate(to, from->joint_count)) {
        exi_art_free(to);
        return ex_error_memory(error, "the body", (size_t)from->vertex_count * 200);
    }
    memcpy(to->tree, from->tree, joints * sizeof *to->tree);
    memcpy(to->centres, from->centres, joints * sizeof *to->centres);
    memcpy(to->origin_centres, from->origin_centres, joints * sizeof *to->origin_centres);
    memcpy(to->origin, from->origin, 3 * (size_t)from->vertex_count * sizeof *to->origin);
    memcpy(to->turns, from->turns, joints * forms * sizeof *to->turns);
    memcpy(to->bases, from->bases, forms * sizeof *to->bases);
    memcpy(to->rest, from->rest, 3 * (size_t)from->vertex_count * sizeof *to->rest);
    memcpy(to->joints, from->joints, room * sizeof *to->joints);
    memcpy(to->weights, from->weights, room * sizeof *to->weights);
    memcpy(to->first_joints, from->first_joints, room * sizeof *to->first_joints);
    memcpy(to->first_weights, from->first_weights, room * sizeof *to->first_weights);
    return EX_OK;
}

static void open_empty(const ex_articulate_def *def, exi_articulation *a) {
    const int most = def->influence_most > 0 ? def->influence_most : 4;
    *a = (exi_articulation){.def = def,
                            .vertex_count = def->mesh->vertex_count,
                            .form_count = def->form_count,
                            .influence_most = most,
                            .influence_count = EX_ARTICULATE_INFLUENCES,
                            .noise = 0.01,
                            .centre_sigma = def->skeleton ? 0.012 : 0.02,
                            .unit = get_unit(def)};
}

/* Keeps the strongest starting weights of each vertex, without repetitions, with sum 1. */
static void take_weights(const uint16_t *joints, const float *weights, int count, exi_articulation *a) {
    const size_t most = (size_t)a->influence_count;
    for (size_t v = 0; v < (size_t)a->vertex_count; v++) {
        uint16_t *to = a->joints + v * most;
        double *out = a->weights + v * most, sum = 0;
        size_t used = 0;
        for (size_t i = 0; i < (size_t)count; i++) {
            const uint16_t joint = joints[v * (size_t)count + i];
            const double w = (double)weights[v * (size_t)count + i];
            size_t k = 0;
            while (k < used && to[k] != joint)
                k++;
            if (!(w > 0))
                continue;
            if (k == most) { /* in place of the weakest */
                k = 0;
                for (size_t j = 1; j < most; j++)
                    k = out[j] < out[k] ? j : k;
                if (out[k] >= w)
                    continue;
                out[k] = 0;
            }
            used += k == used;
            out[k] += w;
            to[k] = joint;
        }
        for (size_t i = 0; i < used; i++)
            sum += out[i];
        for (size_t i = 0; i < used; i++)
            out[i] /= sum;
    }
}

static void remember_first(exi_articulation *a) {
    const size_t room = (size_t)a->vertex_count * (size_t)a->influence_count;
    memcpy(a->first_joints, a->joints, room * sizeof *a->joints);
    memcpy(a->first_weights, a->weights, room * sizeof *a->weights);
}

static void take_tree(const ex_kinematics *kinematics, exi_articulation *a) {
    for (int b = 0; b < a->joint_count; b++) {
        const ex_kin_joint *joint = &kinematics->joints[b];
        a->tree[b] = (exi_art_joint){.parent = joint->parent, .freedom = joint->freedom};
        memcpy(a->tree[b].axis, joint->axis, sizeof joint->axis);
        for (int i = 0; i < 3; i++)
            a->centres[b][i] = joint->translation[i] + (joint->parent >= 0 ? a->centres[joint->parent][i] : 0);
    }
}

static bool begins_with_one_of(const char *name, const char *const *words) {
    for (; name && *words; words++)
        if (strncmp(name, *words, strlen(*words)) == 0)
            return true;
    return false;
}

/* Finds collar bones and the joints of the spine by their names. */
static void find_anatomy(const ex_kinematics *kinematics, exi_articulation *a) {
    static const char *const collars[] = {"clavicle", "Clavicle", NULL};
    static const char *const spines[] = {"waist", "abdomen", "chest", "spine", "Spine",
                                         "neck",  "Neck",    "head",  "Head",  NULL};
    for (int b = 1; b < a->joint_count; b++) {
        const int parent = a->tree[b].parent;
        double along[3];
        a->tree[b].spine = begins_with_one_of(kinematics->joints[b].name, spines);
        if (a->tree[parent].freedom != EX_FREEDOM_BALL || a->tree[parent].collar ||
            !begins_with_one_of(kinematics->joints[parent].name, collars))
            continue;
        exi_subtract(a->centres[b], a->centres[parent], along);
        a->tree[parent].collar = exi_unit3(along);
        memcpy(a->tree[parent].axis, along, sizeof along);
    }
}

static void take_poses(const ex_kin_pose *poses, exi_articulation *a) {
    for (int f = 0; f < a->form_count; f++) {
        memcpy(a->turns + (size_t)f * (size_t)a->joint_count, poses[f].rotations,
               (size_t)a->joint_count * sizeof *a->turns);
        memcpy(a->bases[f], poses[f].translation, sizeof a->bases[f]);
    }
}

ex_result exi_art_open(const ex_articulate_def *def, const ex_articulated *from, exi_articulation *a, ex_error *error) {
    open_empty(def, a);
    ex_result result = exi_art_allocate(a, from->kinematics->joint_count, error);
    if (result == EX_OK) {
        take_tree(from->kinematics, a);
        if (def->skeleton)
            find_anatomy(from->kinematics, a);
        take_poses(from->poses, a);
        memcpy(a->rest, from->rest, 3 * (size_t)a->vertex_count * sizeof *a->rest);
        take_weights(from->joints, from->weights, from->influence_count, a);
        remember_first(a);
    } else {
        exi_art_free(a);
    }
    return result;
}

ex_result exi_art_first(exi_articulation *a, ex_error *error) {
    const size_t most = (size_t)a->influence_count, room = (size_t)a->vertex_count * most;
    uint16_t *joints = exi_array_copy(a->joints, room, sizeof *joints);
    double *weights = exi_array_copy(a->weights, room, sizeof *weights);
    ex_result result = joints && weights ? EX_OK : ex_error_memory(error, "the weights", room * sizeof *weights);
    if (result == EX_OK) {
        memset(a->joints, 0, room * sizeof *a->joints);
        memset(a->weights, 0, room * sizeof *a->weights);
    }
    if (result == EX_OK && a->def->skeleton) {
        take_weights(a->def->joints, a->def->weights, a->def->influence_count, a);
    } else if (result == EX_OK) {
        for (size_t v = 0; v < (size_t)a->vertex_count; v++) {
            size_t best = v * most;
            for (size_t i = v * most; i < (v + 1) * most; i++)
                best = weights[i] > weights[best] ? i : best;
            a->joints[v * most] = joints[best];
            a->weights[v * most] = 1;
        }
        result = exi_art_blur(a, error);
    }
    if (result == EX_OK) {
        remember_first(a);
        memcpy(a->joints, joints, room * sizeof *joints);
        memcpy(a->weights, weights, room * sizeof *weights);
        a->drawn = a->def->skeleton != NULL;
    }
    free(joints);
    free(weights);
    return result;
}

/* ---- the start with a skeleton ---- */

static ex_result start_with_skeleton(exi_articulation *a, ex_error *error) {
    const ex_articulate_def *def = a->def;
    ex_result result = exi_art_allocate(a, def->skeleton->joint_count, error);
    if (result != EX_OK)
        return result;
    take_tree(def->skeleton, a);
    find_anatomy(def->skeleton, a);
    take_weights(def->joints, def->weights, def->influence_count, a);
    remember_first(a);
    a->drawn = true;
    memcpy(a->rest, def->rest ? def->rest : def->forms[0], 3 * (size_t)a->vertex_count * sizeof *a->rest);
    for (size_t v = 0; !def->rest && def->confidences && def->confidences[0] && v < (size_t)a->vertex_count; v++)
        for (size_t i = 0; i < 3 && def->confidences[0][v] == 0; i++)
            a->rest[3 * v + i] = 0; /* filled from its neighbours once the rest form is found */
    if (!def->rest && def->starts) {
        take_poses(def->starts, a);
        result = exi_art_find_rest(a, error);
        if (result == EX_OK)
            exi_art_anchor(a);
        return result;
    }
    return exi_art_start(a, error);
}

/* Takes given poses where they are nearer than those of rigid fits. */
static ex_result try_starts(exi_articulation *a, ex_error *error) {
    const size_t count = (size_t)a->joint_count;
    ex_result result = EX_OK;
    for (int f = 0; f < a->form_count && result == EX_OK; f++) {
        double own = 0, given = 0;
        result = exi_art_distance(a, f, a->turns + (size_t)f * count, a->bases[f], NULL, &own, NULL, error);
        if (result == EX_OK)
            result = exi_art_distance(a, f, a->def->starts[f].rotations, a->def->starts[f].translation, NULL, &given,
                                      NULL, error);
        if (result == EX_OK && given < own) {
            memcpy(a->turns + (size_t)f * count, a->def->starts[f].rotations, count * sizeof *a->turns);
            memcpy(a->bases[f], a->def->starts[f].translation, sizeof a->bases[f]);
        }
    }
    return result;
}

/* ---- the rounds ---- */

ex_result exi_art_rounds(exi_articulation *a, int round_most, const ex_progress *progress, double from, double to,
                         int *round_count, ex_error *error) {
    double before = INFINITY, now = 0;
    ex_result result = EX_OK;
    *round_count = 0;
    for (int r = 0; r < round_most && result == EX_OK; r++) {
        if (!exi_progress_tell(progress, "poses, rest form and weights", from + (to - from) * r / round_most))
            return exi_progress_stopped(error);
        result = exi_art_fit(a, r == 0 ? 20 : 6, !a->def->lock_centres, error);
        if (result == EX_OK)
            result = exi_art_find_rest(a, error);
        if (result == EX_OK)
            result = exi_art_rms(a, &now, error);
        if (result == EX_OK && !a->def->lock_weights)
            result = exi_art_find_weights(a, now, error);
        a->noise = fmin(0.02, fmax(0.001, 2 * now / a->unit));
        *round_count = r + 1;
        if (now < 1e-7 * a->unit || now > 0.995 * before)
            break;
        before = now;
    }
    if (result == EX_OK) /* poses and rest form of the last weights */
        result = exi_art_fit(a, 10, !a->def->lock_centres, error);
    if (result == EX_OK)
        result = exi_art_find_rest(a, error);
    return result == EX_OK && !a->def->lock_centres ? exi_art_place_base(a, error) : result;
}

/* ---- the result ---- */

void ex_articulated_destroy(ex_articulated *articulated) {
    if (!articulated)
        return;
    for (int f = 0; articulated->poses && f < articulated->form_count; f++)
        free(articulated->poses[f].rotations);
    ex_kinematics_destroy(articulated->kinematics);
    free(articulated->open);
    free(articulated->poses);
    free(articulated->rest);
    free(articulated->joints);
    free(articulated->weights);
    free(articulated->rms);
    free(articulated->high);
    free(articulated);
}

static bool make_poses(const exi_articulation *a, ex_articulated *made) {
    made->poses = calloc((size_t)a->form_count, sizeof *made->poses);
    made->form_count = a->form_count;
    for (int f = 0; f < a->form_count && made->poses; f++) {
        ex_kin_pose *pose = &made->poses[f];
        pose->rotations =
            exi_array_copy(a->turns + (size_t)f * (size_t)a->joint_count, (size_t)a->joint_count, sizeof *a->turns);
        memcpy(pose->translation, a->bases[f], sizeof pose->translation);
        if (!pose->rotations)
            return false;
    }
    return made->poses != NULL;
}

static bool make_weights(const exi_articulation *a, ex_articulated *made) {
    const size_t most = (size_t)a->influence_count;
    size_t wide = (size_t)a->influence_most;
    for (size_t i = 0; a->def->lock_weights && i < (size_t)a->vertex_count * most; i++)
        wide = a->weights[i] > 0 && i % most >= wide ? i % most + 1 : wide;
    made->influence_count = (int)wide;
    made->joints = calloc((size_t)a->vertex_count * wide, sizeof *made->joints);
    made->weights = calloc((size_t)a->vertex_count * wide, sizeof *made->weights);
    for (size_t v = 0; made->joints && made->weights && v < (size_t)a->vertex_count; v++)
        for (size_t i = 0; i < wide; i++) {
            made->joints[v * wide + i] = a->weights[v * most + i] > 0 ? a->joints[v * most + i] : 0;
            made->weights[v * wide + i] = (float)a->weights[v * most + i];
        }
    return made->joints && made->weights;
}

static void set_centres(const exi_articulation *a, ex_kinematics *kinematics) {
    for (int b = 0; b < a->joint_count; b++)
        for (int i = 0; i < 3; i++) {
            const int parent = a->tree[b].parent;
            kinematics->joints[b].translation[i] = a->centres[b][i] - (parent >= 0 ? a->centres[parent][i] : 0);
        }
}

/* A centre is open if the joint turns by less than 10 degrees between any form and the first. */
static void find_open(const exi_articulation *a, bool *open) {
    const size_t count = (size_t)a->joint_count;
    for (size_t b = 1; b < count; b++) {
        double least = 1;
        for (size_t f = 1; f < (size_t)a->form_count; f++) {
            const double *p = a->turns[b], *q = a->turns[f * count + b];
            least = fmin(least, fabs(p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]));
        }
        open[b] = least > 0.99619; /* cosine of 5 degrees, half the angle */
    }
}

static ex_result finish(exi_articulation *a, ex_kinematics *kinematics, ex_articulated *made, ex_error *error) {
    ex_result result = EX_OK;
    double sum = 0;
    made->kinematics = kinematics;
    made->vertex_count = a->vertex_count;
    made->rms = calloc((size_t)a->form_count, sizeof *made->rms);
    made->high = calloc((size_t)a->form_count, sizeof *made->high);
    made->rest = exi_array_copy(a->rest, 3 * (size_t)a->vertex_count, sizeof *made->rest);
    if (!made->rms || !made->high || !made->rest || !make_poses(a, made) || !make_weights(a, made))
        return ex_error_memory(error, "the body", (size_t)a->vertex_count * 100);
    set_centres(a, kinematics);
    find_open(a, made->open);
    for (int f = 0; f < a->form_count && result == EX_OK; f++) {
        result = exi_art_distance(a, f, a->turns + (size_t)f * (size_t)a->joint_count, a->bases[f], NULL, &made->rms[f],
                                  &made->high[f], error);
        sum += made->rms[f] * made->rms[f];
    }
    made->all_rms = sqrt(sum / a->form_count);
    return result;
}

/* Copies the skeleton without its markers, and without mirror images: the two sides of a person differ. */
static ex_kinematics *copy_skeleton(const ex_kinematics *skeleton) {
    ex_kinematics *copy = ex_kinematics_copy(skeleton);
    for (int i = 0; copy && i < copy->site_count; i++)
        free(copy->sites[i].name);
    for (int b = 0; copy && b < copy->joint_count; b++)
        copy->joints[b].mirror = -1;
    if (copy)
        copy->site_count = 0;
    return copy;
}

/* True if some vertex moves against the others, by more than rounding. */
static ex_result check_motion(const exi_articulation *a, ex_error *error) {
    double(*mean)[3] = calloc((size_t)a->form_count, sizeof *mean);
    double most = 0;
    if (!mean)
        return ex_error_memory(error, "the forms", (size_t)a->form_count * sizeof *mean);
    for (int f = 0; f < a->form_count; f++) {
        double count = 0;
        for (size_t v = 0; v < (size_t)a->vertex_count; v++)
            for (size_t i = 0; i < 3 && exi_art_seen(a, f, (int)v) > 0 && exi_art_seen(a, 0, (int)v) > 0; i++) {
                mean[f][i] += a->def->forms[f][3 * v + i] - a->def->forms[0][3 * v + i];
                count += 1.0 / 3;
            }
        for (int i = 0; i < 3 && count > 0; i++)
            mean[f][i] /= count;
    }
    for (int f = 1; f < a->form_count; f++)
        for (size_t v = 0; v < (size_t)a->vertex_count; v++)
            for (size_t i = 0; i < 3 && exi_art_seen(a, f, (int)v) > 0 && exi_art_seen(a, 0, (int)v) > 0; i++)
                most = fmax(most, fabs(a->def->forms[f][3 * v + i] - a->def->forms[0][3 * v + i] - mean[f][i]));
    free(mean);
    if (most > 1e-4 * a->unit)
        return EX_OK;
    return ex_error_kind(error,
                         ex_error_set(error, EX_ERROR_DATA,
                                      "all %d forms are the same, apart from where they stand: nothing moves, so no "
                                      "joints can be found",
                                      a->form_count),
                         "nothing_moves");
}

static ex_result articulate(exi_articulation *a, ex_articulated *made, ex_error *error) {
    const ex_articulate_def *def = a->def;
    ex_kinematics *kinematics = NULL;
    ex_result result = check_motion(a, error);
    if (result == EX_OK)
        result = exi_art_net_make(def->mesh, def->forms[0], &a->net, error);
    if (result == EX_OK && def->skeleton) {
        kinematics = copy_skeleton(def->skeleton);
        result = kinematics ? start_with_skeleton(a, error) : ex_error_memory(error, "the skeleton", 0);
    } else if (result == EX_OK) {
        result = exi_art_find_bones(a, &kinematics, error);
    }
    if (result == EX_OK && def->skeleton && def->starts)
        result = try_starts(a, error);
    if (result == EX_OK)
        result = exi_art_find_rest(a, error);
    if (result == EX_OK) {
        made->open = calloc((size_t)a->joint_count, sizeof *made->open);
        result = made->open ? EX_OK : ex_error_memory(error, "the joints", (size_t)a->joint_count);
    }
    if (result == EX_OK)
        result = exi_art_rounds(a, def->round_most > 0 ? def->round_most : 12, def->progress, 0.1, 1,
                                &made->round_count, error);
    if (result == EX_OK)
        result = finish(a, kinematics, made, error);
    if (made->kinematics != kinematics)
        ex_kinematics_destroy(kinematics);
    exi_art_net_free(&a->net);
    return result;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

ex_result ex_articulate(const ex_articulate_def *def, ex_articulated **articulated, ex_error *error) {
    *articulated = NULL;
    ex_result result = check(def, error);
    if (result != EX_OK)
        return result;
    const double start = seconds();
    exi_articulation a;
    ex_articulated *made = calloc(1, sizeof *made);
    open_empty(def, &a);
    result = made ? articulate(&a, made, error) : ex_error_memory(error, "the body", sizeof *made);
    exi_art_free(&a);
    if (result != EX_OK) {
        ex_articulated_destroy(made);
        return result;
    }
    made->seconds = seconds() - start;
    *articulated = made;
    return EX_OK;
}

ex_result ex_articulated_pose(const ex_articulated *articulated, const ex_kin_pose *pose, const double *deltas,
                              double *positions, ex_error *error) {
    const ex_kinematics *kinematics = articulated->kinematics;
    const size_t count = (size_t)kinematics->joint_count, most = (size_t)articulated->influence_count;
    double(*frames)[4] = exi_array_allocate(count, sizeof *frames),
    (*places)[3] = exi_array_allocate(count, sizeof *places);
    double(*rest)[3] = exi_array_allocate(count, sizeof *rest),
    (*matrices)[9] = exi_array_allocate(count, sizeof *matrices);
    const bool good = frames && places && rest && matrices;
    if (good)
        ex_kin_frames(kinematics, pose, frames, places);
    for (size_t b = 0; good && b < count; b++) {
        const ex_kin_joint *joint = &kinematics->joints[b];
        exi_quaternion_matrix(frames[b], matrices[b]);
        for (int i = 0; i < 3; i++)
            rest[b][i] = joint->translation[i] + (joint->parent >= 0 ? rest[joint->parent][i] : 0);
    }
    for (size_t v = 0; good && v < (size_t)articulated->vertex_count; v++) {
        double sum[3] = {0};
        for (size_t i = 0; i < most; i++) {
            const double w = (double)articulated->weights[v * most + i];
            const size_t b = articulated->joints[v * most + i];
            double x[3];
            for (size_t c = 0; c < 3; c++)
                x[c] = articulated->rest[3 * v + c] + (deltas ? deltas[3 * v + c] : 0) - rest[b][c];
            for (size_t c = 0; c < 3 && w > 0; c++)
                sum[c] += w * (matrices[b][3 * c] * x[0] + matrices[b][3 * c + 1] * x[1] +
                               matrices[b][3 * c + 2] * x[2] + places[b][c]);
        }
        memcpy(positions + 3 * v, sum, sizeof sum);
    }
    free(frames);
    free(places);
    free(rest);
    free(matrices);
    return good ? EX_OK : ex_error_memory(error, "the pose", count * 200);
}
