/*
 * Reads and writes fit.json: the fitted skeleton, its markers, and its pose in every scan.
 *
 *     { "exemplar_fit": 1, "skeleton": {…}, "scans": [ {"name": "arm_00", "rms": 0.002, "base": [x, y, z],
 *       "pose": {"hips": [x, y, z, w], "elbow.L": 61.2}, "open": ["wrist.L"]} ] }
 *
 * `open`: joints whose rotation the scan's markers do not determine. Frames of the skeleton are parallel to the world's
 * in the reference scan. "neutral": {"shoulder.L": [x, y, z, w]}, optional, has the rotations of the reference from the
 * neutral pose of the session's skeleton. "left_out": [{"name", "why"}], optional: scans that do not fit the others.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/scan/kinematics/kinematics.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ex_scan_fitted_destroy(ex_scan_fitted *fitted) {
    if (!fitted)
        return;
    for (int i = 0; i < fitted->scan_count; i++) {
        if (fitted->names)
            free(fitted->names[i]);
        if (fitted->poses)
            free(fitted->poses[i].rotations);
    }
    free(fitted->names);
    free(fitted->poses);
    free(fitted->rms);
    for (int i = 0; i < fitted->left_count; i++) {
        if (fitted->left_names)
            free(fitted->left_names[i]);
        if (fitted->left_reasons)
            free(fitted->left_reasons[i]);
    }
    free(fitted->left_names);
    free(fitted->left_reasons);
    free(fitted->neutral);
    free(fitted->opens);
    ex_kinematics_destroy(fitted->kinematics);
    free(fitted);
}

/* ---- reading ---- */

static ex_result read_open(exi_reader *r, const json_t *list, const exi_place *place, ex_scan_fitted *fitted,
                           int scan) {
    const size_t joints = (size_t)fitted->kinematics->joint_count;
    if (!list)
        return EX_OK;
    if (!json_is_array(list))
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: a list of joints is needed here", place->text);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const exi_place at = exi_place_index(place, i);
        const char *name = json_string_value(json_array_get(list, i));
        const int joint = name ? ex_kinematics_find_joint(fitted->kinematics, name) : -1;
        if (joint < 0)
            return ex_error_set(r->error, EX_ERROR_DATA, "%s: the name of a joint is needed here", at.text);
        if (!fitted->opens)
            fitted->opens = calloc((size_t)fitted->scan_count * joints, sizeof *fitted->opens);
        if (!fitted->opens)
            return ex_error_memory(r->error, "the fit", (size_t)fitted->scan_count * joints);
        fitted->opens[(size_t)scan * joints + (size_t)joint] = true;
    }
    return EX_OK;
}

static ex_result read_scan(exi_reader *r, const json_t *object, const exi_place *place, ex_scan_fitted *fitted,
                           int scan) {
    static const char *const keys[] = {"name", "rms", "base", "pose", "open", NULL};
    static const char *const needed[] = {"name", "base", "pose", NULL};
    const exi_place base = exi_place_key(place, "base"), pose = exi_place_key(place, "pose"),
                    open = exi_place_key(place, "open");
    const json_t *numbers = json_object_get(object, "base");
    const char *name = NULL;
    ex_result result = json_is_object(object)
                           ? exi_check_keys(r, object, place, keys)
                           : ex_error_set(r->error, EX_ERROR_DATA, "%s: a scan must be an object", place->text);
    if (result == EX_OK)
        result = exi_require_keys(r, object, place, needed);
    if (result == EX_OK)
        result = exi_get_text(r, object, place, "name", true, &name);
    if (result == EX_OK)
        result = exi_get_number(r, object, place, "rms", &fitted->rms[scan]);
    if (result == EX_OK && json_array_size(numbers) != 3)
        result = ex_error_set(r->error, EX_ERROR_DATA, "%s: a position must be three numbers", base.text);
    for (size_t i = 0; i < 3 && result == EX_OK; i++) {
        const exi_place at = exi_place_index(&base, i);
        double *place_of = &fitted->poses[scan].translation[i];
        result = exi_json_number(json_array_get(numbers, i), &at, place_of, r->error);
        if (result == EX_OK && !(fabs(*place_of) <= 1e6))
            result = ex_error_set(r->error, EX_ERROR_DATA, "%s: no body is that far away: give metres", at.text);
    }
    if (result != EX_OK)
        return result;
    for (int i = 0; i < scan; i++) {
        if (strcmp(fitted->names[i], name) == 0)
            return ex_error_set(r->error, EX_ERROR_DATA, "%s.name: there is already a scan '%s'", place->text, name);
    }
    fitted->names[scan] = exi_text_copy(name, strlen(name));
    fitted->poses[scan].rotations =
        exi_array_allocate((size_t)fitted->kinematics->joint_count, sizeof *fitted->poses[scan].rotations);
    if (!fitted->names[scan] || !fitted->poses[scan].rotations)
        return ex_error_memory(r->error, "the fit", 0);
    result = exi_scan_read_pose(r, json_object_get(object, "pose"), &pose, fitted->kinematics,
                                fitted->poses[scan].rotations);
    return result == EX_OK ? read_open(r, json_object_get(object, "open"), &open, fitted, scan) : result;
}

/* Reads {"JOINT": [x, y, z, w]}; joints that are not named are not turned. */
static ex_result read_neutral(exi_reader *r, const json_t *object, ex_scan_fitted *fitted) {
    const exi_place whole = {""}, place = exi_place_key(&whole, "neutral");
    const size_t joints = (size_t)fitted->kinematics->joint_count;
    const char *key;
    json_t *value;
    if (!object)
        return EX_OK;
    if (!json_is_object(object))
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: rotations of joints are needed here", place.text);
    fitted->neutral = exi_array_allocate(joints, sizeof *fitted->neutral);
    if (!fitted->neutral)
        return ex_error_memory(r->error, "the fit", joints * sizeof *fitted->neutral);
    for (size_t j = 0; j < joints; j++)
        memcpy(fitted->neutral[j], (const double[4]){0, 0, 0, 1}, sizeof fitted->neutral[j]);
    json_object_foreach((json_t *)object, key, value) {
        const exi_place at = exi_place_key(&place, key);
        const int joint = ex_kinematics_find_joint(fitted->kinematics, key);
        ex_result result =
            joint < 0 ? ex_error_set(r->error, EX_ERROR_DATA, "%s: the skeleton has no joint '%s'", at.text, key)
            : json_array_size(value) != 4
                ? ex_error_set(r->error, EX_ERROR_DATA, "%s: a rotation must be four numbers", at.text)
                : EX_OK;
        for (size_t c = 0; c < 4 && result == EX_OK; c++) {
            const exi_place one = exi_place_index(&at, c);
            result = exi_json_number(json_array_get(value, c), &one, &fitted->neutral[joint][c], r->error);
        }
        if (result == EX_OK && !exi_normalise(fitted->neutral[joint], 4))
            result = ex_error_set(r->error, EX_ERROR_DATA, "%s: a rotation must not be 0", at.text);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

static ex_result read_left_out(exi_reader *r, const json_t *list, ex_scan_fitted *fitted) {
    const exi_place whole = {""}, place = exi_place_key(&whole, "left_out");
    static const char *const keys[] = {"name", "why", NULL};
    const size_t count = json_array_size(list);
    if (!list)
        return EX_OK;
    if (!json_is_array(list) || count > 10000000)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: a list of scans is needed here", place.text);
    fitted->left_names = calloc(count + 1, sizeof *fitted->left_names);
    fitted->left_reasons = calloc(count + 1, sizeof *fitted->left_reasons);
    if (!fitted->left_names || !fitted->left_reasons)
        return ex_error_memory(r->error, "the fit", count * sizeof *fitted->left_names);
    for (size_t i = 0; i < count; i++) {
        const exi_place at = exi_place_index(&place, i);
        const json_t *object = json_array_get(list, i);
        const char *name = NULL, *why = NULL;
        ex_result result = json_is_object(object)
                               ? exi_check_keys(r, object, &at, keys)
                               : ex_error_set(r->error, EX_ERROR_DATA, "%s: a scan must be an object", at.text);
        if (result == EX_OK)
            result = exi_get_text(r, object, &at, "name", true, &name);
        if (result == EX_OK)
            result = exi_get_text(r, object, &at, "why", true, &why);
        if (result != EX_OK)
            return result;
        fitted->left_count = (int)i + 1;
        fitted->left_names[i] = exi_text_copy(name, strlen(name));
        fitted->left_reasons[i] = exi_text_copy(why, strlen(why));
        if (!fitted->left_names[i] || !fitted->left_reasons[i])
            return ex_error_memory(r->error, "the fit", strlen(why));
    }
    return EX_OK;
}

static ex_result read_fitted(exi_reader *r, const json_t *root, ex_scan_fitted *fitted) {
    static const char *const keys[] = {"exemplar_fit", "skeleton", "scans", "neutral", "left_out", NULL};
    static const char *const needed[] = {"exemplar_fit", "skeleton", "scans", NULL};
    const exi_place whole = {""}, scans = exi_place_key(&whole, "scans");
    const json_t *list = json_object_get(root, "scans");
    const size_t count = json_array_size(list);
    if (!json_is_object(root))
        return ex_error_set(r->error, EX_ERROR_DATA, "a fit must be an object");
    ex_result result = exi_check_keys(r, root, &whole, keys);
    if (result == EX_OK)
        result = exi_require_keys(r, root, &whole, needed);
    if (result == EX_OK && json_integer_value(json_object_get(root, "exemplar_fit")) != 1)
        result = ex_error_set(r->error, EX_ERROR_VERSION, "exemplar_fit: this program reads version 1");
    if (result == EX_OK)
        result = ex_error_within(
            r->error, exi_kinematics_interpret(r, json_object_get(root, "skeleton"), "skeleton", &fitted->kinematics),
            "skeleton");
    if (result == EX_OK && (count == 0 || count > 10000000))
        result = ex_error_set(r->error, EX_ERROR_DATA, "scans: a list with at least one scan is needed here");
    if (result != EX_OK)
        return result;
    fitted->names = calloc(count, sizeof *fitted->names);
    fitted->poses = calloc(count, sizeof *fitted->poses);
    fitted->rms = calloc(count, sizeof *fitted->rms);
    fitted->scan_count = (int)count;
    if (!fitted->names || !fitted->poses || !fitted->rms)
        return ex_error_memory(r->error, "the fit", count * sizeof *fitted->poses);
    for (size_t i = 0; i < count && result == EX_OK; i++) {
        const exi_place at = exi_place_index(&scans, i);
        result = read_scan(r, json_array_get(list, i), &at, fitted, (int)i);
    }
    if (result == EX_OK)
        result = read_neutral(r, json_object_get(root, "neutral"), fitted);
    if (result == EX_OK)
        result = read_left_out(r, json_object_get(root, "left_out"), fitted);
    return result;
}

ex_result ex_scan_fitted_read(const char *path, ex_scan_fitted **fitted, ex_error *error) {
    if (!path || !fitted)
        return exi_misuse_error(error, __func__, "no path, or no pointer for the fit");
    exi_arena arena = {0};
    exi_reader r = {.arena = &arena, .error = error};
    json_t *root = NULL;
    *fitted = NULL;
    ex_scan_fitted *made = calloc(1, sizeof *made);
    ex_result result = made ? exi_json_read(path, &root, error) : ex_error_memory(error, "the fit", sizeof *made);
    if (result == EX_OK)
        result = ex_error_within(error, read_fitted(&r, root, made), "%s", path);
    json_decref(root);
    exi_arena_free(&arena);
    if (result == EX_OK)
        *fitted = made;
    else
        ex_scan_fitted_destroy(made);
    return result;
}

/* ---- writing ---- */

/* Lists undetermined joints; NULL without memory. */
static json_t *open_json(const ex_scan_fitted *fitted, int scan) {
    json_t *list = json_array();
    for (int j = 0; list && j < fitted->kinematics->joint_count; j++) {
        const bool is_open =
            fitted->opens && fitted->opens[(size_t)scan * (size_t)fitted->kinematics->joint_count + (size_t)j];
        if (is_open && json_array_append_new(list, json_string(fitted->kinematics->joints[j].name)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *scan_json(const ex_scan_fitted *fitted, int scan) {
    json_t *object = json_object(), *open = open_json(fitted, scan);
    const ex_kin_pose *pose = &fitted->poses[scan];
    const double rms = isfinite(fitted->rms[scan]) ? fitted->rms[scan] : 0;
    bool good = object && open && json_object_set_new(object, "name", json_string(fitted->names[scan])) == 0 &&
                json_object_set_new(object, "rms", exi_json_make_number(rms)) == 0 &&
                json_object_set_new(object, "base", exi_json_make_numbers(pose->translation, 3)) == 0 &&
                json_object_set_new(object, "pose", exi_scan_pose_json(fitted->kinematics, pose->rotations)) == 0;
    if (good && json_array_size(open) > 0)
        good = json_object_set(object, "open", open) == 0;
    json_decref(open);
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

/* Joints that are turned; NULL without memory. */
static json_t *neutral_json(const ex_scan_fitted *fitted) {
    json_t *object = json_object();
    for (int j = 0; object && fitted->neutral && j < fitted->kinematics->joint_count; j++) {
        const double *q = fitted->neutral[j];
        if (q[0] == 0 && q[1] == 0 && q[2] == 0)
            continue;
        if (json_object_set_new(object, fitted->kinematics->joints[j].name, exi_json_make_numbers(q, 4)) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *left_json(const ex_scan_fitted *fitted) {
    json_t *list = json_array();
    for (int i = 0; list && i < fitted->left_count; i++) {
        json_t *object = json_object();
        if (!object || json_object_set_new(object, "name", json_string(fitted->left_names[i])) != 0 ||
            json_object_set_new(object, "why", json_string(fitted->left_reasons[i])) != 0 ||
            json_array_append(list, object) != 0) {
            json_decref(list);
            list = NULL;
        }
        json_decref(object);
    }
    return list;
}

ex_result ex_scan_fitted_write(const char *path, const ex_scan_fitted *fitted, ex_error *error) {
    if (!path || !fitted || fitted->scan_count < 1)
        return exi_misuse_error(error, __func__, "no path, or a fit without scans");
    json_t *skeleton = NULL;
    ex_result result = exi_kinematics_make_json(fitted->kinematics, path, &skeleton, error);
    if (result != EX_OK)
        return result;
    json_t *root = json_object(), *scans = json_array();
    bool good = root && scans && json_object_set_new(root, "exemplar_fit", json_integer(1)) == 0;
    good = json_object_set_new(root, "skeleton", skeleton) == 0 && good;
    for (int i = 0; i < fitted->scan_count && good; i++)
        good = json_array_append_new(scans, scan_json(fitted, i)) == 0;
    good = good && json_object_set(root, "scans", scans) == 0;
    json_t *neutral = neutral_json(fitted), *left = left_json(fitted);
    good = good && neutral && left;
    if (good && json_object_size(neutral) > 0)
        good = json_object_set(root, "neutral", neutral) == 0;
    if (good && json_array_size(left) > 0)
        good = json_object_set(root, "left_out", left) == 0;
    json_decref(neutral);
    json_decref(left);
    result = exi_json_write(path, good ? root : NULL, error);
    json_decref(scans);
    json_decref(root);
    return result;
}

/* ---- frames of the neutral pose ---- */

static bool copy_fitted(const ex_scan_fitted *from, ex_scan_fitted *to) {
    const size_t count = (size_t)from->scan_count, joints = (size_t)from->kinematics->joint_count;
    to->kinematics = ex_kinematics_copy(from->kinematics);
    to->names = calloc(count, sizeof *to->names);
    to->poses = calloc(count, sizeof *to->poses);
    to->rms = exi_array_copy(from->rms, count, sizeof *to->rms);
    to->scan_count = from->scan_count;
    bool good = to->kinematics && to->names && to->poses && to->rms;
    if (good && from->opens)
        good = (to->opens = exi_array_copy(from->opens, count * joints, sizeof *to->opens)) != NULL;
    for (size_t i = 0; good && i < count; i++) {
        to->poses[i] = from->poses[i];
        to->poses[i].rotations = exi_array_copy(from->poses[i].rotations, joints, sizeof *from->poses[i].rotations);
        to->names[i] = exi_text_copy(from->names[i], strlen(from->names[i]));
        good = to->poses[i].rotations && to->names[i];
    }
    return good;
}

ex_result ex_scan_fitted_neutral(const ex_scan_fitted *fitted, ex_scan_fitted **made, ex_error *error) {
    if (!fitted || !made)
        return exi_misuse_error(error, __func__, "no fit, or no pointer for the copy");
    ex_scan_fitted *copy = calloc(1, sizeof *copy);
    *made = NULL;
    ex_result result = copy && copy_fitted(fitted, copy) ? EX_OK : ex_error_memory(error, "the fit", sizeof *copy);
    if (result == EX_OK && fitted->neutral)
        result = ex_kinematics_rebase(copy->kinematics, (const double(*)[4])fitted->neutral, false, copy->poses,
                                      copy->scan_count, error);
    if (result == EX_OK)
        *made = copy;
    else
        ex_scan_fitted_destroy(copy);
    return result;
}
