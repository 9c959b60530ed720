/*
 * Writes a skeleton file. Values that a mirrored joint shares with its counterpart are left out, as reading requires.
 * The reader checks what is written, so that it can be read back.
 */
#include "author/base/json.h"
#include "author/base/keys.h"
#include "author/scan/kinematics/kinematics.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"

#include <math.h>

static bool set_lock(json_t *object, const ex_kin_joint *joint) {
    if (!joint->lock_translation && !joint->lock_axis)
        return true;
    json_t *list = json_array();
    bool done = list != NULL;
    if (done && joint->lock_translation)
        done = json_array_append_new(list, json_string("translation")) == 0;
    if (done && joint->lock_axis)
        done = json_array_append_new(list, json_string("axis")) == 0;
    return exi_json_set(object, "lock", list) && done;
}

static json_t *make_joint(const ex_kinematics *kinematics, int j) {
    const ex_kin_joint *joint = &kinematics->joints[j];
    const double range[2] = {joint->least, joint->most};
    const bool hinge = joint->freedom == EX_FREEDOM_HINGE, mirrored = joint->mirror >= 0;
    json_t *object = json_object();
    bool done = object && exi_json_set(object, "name", json_string(joint->name));
    if (done && joint->parent >= 0)
        done = exi_json_set(object, "parent", json_string(kinematics->joints[joint->parent].name));
    done = done && exi_json_set(object, "joint", json_string(ex_freedom_name(joint->freedom)));
    if (done && (!mirrored || joint->lock_translation))
        done = exi_json_set(object, "translation", exi_json_make_numbers(joint->translation, 3));
    if (done && hinge && (!mirrored || joint->lock_axis))
        done = exi_json_set(object, "axis", exi_json_make_numbers(joint->axis, 3));
    if (done && mirrored)
        done = exi_json_set(object, "mirror", json_string(kinematics->joints[joint->mirror].name));
    done = done && set_lock(object, joint);
    if (done && hinge && (joint->least != 0 || joint->most != 0))
        done = exi_json_set(object, "range", exi_json_make_numbers(range, 2));
    if (done)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *make_marker(const ex_kinematics *kinematics, int s) {
    const ex_site *site = &kinematics->sites[s];
    const double colour[3] = {site->colour[0], site->colour[1], site->colour[2]};
    json_t *object = json_object();
    bool done = object && exi_json_set(object, "name", json_string(site->name)) &&
                exi_json_set(object, "joint", json_string(kinematics->joints[site->joint].name));
    if (done && site->placed)
        done = exi_json_set(object, "at", exi_json_make_numbers(site->local, 3));
    if (done && (colour[0] > 0 || colour[1] > 0 || colour[2] > 0))
        done = exi_json_set(object, "colour", exi_json_make_numbers(colour, 3));
    if (done)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *make_json(const ex_kinematics *kinematics) {
    json_t *root = json_object(), *joints = json_array(), *markers = json_array();
    bool done = root && joints && markers && exi_json_set(root, "exemplar_skeleton", json_integer(1)) &&
                exi_json_set(root, "name",
                             json_string(kinematics->name && kinematics->name[0] ? kinematics->name : "skeleton"));
    for (int j = 0; done && j < kinematics->joint_count; j++)
        done = json_array_append_new(joints, make_joint(kinematics, j)) == 0;
    for (int s = 0; done && s < kinematics->site_count; s++)
        done = json_array_append_new(markers, make_marker(kinematics, s)) == 0;
    done = done && json_object_set(root, "joints", joints) == 0 && json_object_set(root, "markers", markers) == 0;
    json_decref(joints);
    json_decref(markers);
    if (done)
        return root;
    json_decref(root);
    return NULL;
}

/* JSON has only finite numbers and readable text. */
static ex_result check_values(const ex_kinematics *kinematics, ex_error *error) {
    for (int j = 0; j < kinematics->joint_count; j++) {
        const ex_kin_joint *joint = &kinematics->joints[j];
        double sum = joint->least + joint->most;
        for (int c = 0; c < 3; c++)
            sum += joint->translation[c] + (joint->freedom == EX_FREEDOM_HINGE ? joint->axis[c] : 0);
        if (!exi_is_name(joint->name) || !isfinite(sum))
            return ex_error_set(
                error, EX_ERROR_DATA,
                "joint %d (counting from 0) has no name of readable text, or a number that is not finite", j);
    }
    for (int s = 0; s < kinematics->site_count; s++) {
        const ex_site *site = &kinematics->sites[s];
        const double sum = site->placed ? site->local[0] + site->local[1] + site->local[2] : 0;
        if (!exi_is_name(site->name) || !isfinite(sum))
            return ex_error_set(error, EX_ERROR_DATA,
                                "marker %d has no name of readable text, or a number that is not finite", s + 1);
    }
    return kinematics->name && !exi_is_text(kinematics->name)
               ? ex_error_set(error, EX_ERROR_DATA, "the name of the skeleton is not readable text")
               : EX_OK;
}

ex_result exi_kinematics_make_json(const ex_kinematics *kinematics, const char *path, json_t **json, ex_error *error) {
    exi_arena arena = {0};
    exi_reader reader = {.arena = &arena, .error = error};
    ex_kinematics *again = NULL;
    *json = NULL;
    ex_result result = check_values(kinematics, error);
    if (result == EX_OK && !(*json = make_json(kinematics)))
        return ex_error_memory(error, "the skeleton", (size_t)kinematics->joint_count * 200);
    if (result == EX_OK)
        result = exi_kinematics_interpret(&reader, *json, path, &again);
    ex_kinematics_destroy(again);
    exi_arena_free(&arena);
    if (result == EX_OK)
        return EX_OK;
    json_decref(*json);
    *json = NULL;
    return ex_error_within(error, result, "cannot write '%s'", path);
}

ex_result ex_kinematics_write(const char *path, const ex_kinematics *kinematics, ex_error *error) {
    json_t *root = NULL;
    ex_result result = exi_kinematics_make_json(kinematics, path, &root, error);
    if (result == EX_OK)
        result = exi_json_write(path, root, error);
    json_decref(root);
    return result;
}
