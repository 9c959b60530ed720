/*
 * Reads and writes fit.json: the fitted skeleton, its markers, and its pose in every scan.
 *
 *     { "exemplar_fit": 1, "skeleton": {…}, "scans": [ {"name": "arm_00", "rms": 0.002, "base": [x, y, z],
 *       "pose": {"hips": [x, y, z, w], "elbow.L": 61.2}, "open": ["wrist.L"]} ] }
 *
 * `open`: joints whose rotation the scan's markers do not determine.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/scan/kinematics/kinematics.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"

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

static ex_result read_fitted(exi_reader *r, const json_t *root, ex_scan_fitted *fitted) {
    static const char *const keys[] = {"exemplar_fit", "skeleton", "scans", NULL};
    const exi_place whole = {""}, scans = exi_place_key(&whole, "scans");
    const json_t *list = json_object_get(root, "scans");
    const size_t count = json_array_size(list);
    if (!json_is_object(root))
        return ex_error_set(r->error, EX_ERROR_DATA, "a fit must be an object");
    ex_result result = exi_check_keys(r, root, &whole, keys);
    if (result == EX_OK)
        result = exi_require_keys(r, root, &whole, keys);
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
    result = exi_json_write(path, good ? root : NULL, error);
    json_decref(scans);
    json_decref(root);
    return result;
}
