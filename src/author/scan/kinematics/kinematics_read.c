/*
 * Reads a skeleton file: strict JSON, as project files are. Unknown, missing or wrong values are refused with their
 * place.
 */
#include "author/base/json.h"
#include "author/base/keys.h"
#include "author/scan/kinematics/kinematics.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/base/vector.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ex_result read_vector(exi_reader *r, const json_t *object, const exi_place *place, const char *key,
                             double out[3]) {
    const json_t *list = json_object_get(object, key);
    exi_place at = exi_place_key(place, key);
    if (!json_is_array(list) || json_array_size(list) != 3)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: %s: three numbers [x, y, z] are needed here", at.text,
                            list ? "not valid" : "missing");
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && i < 3; i++) {
        exi_place here = exi_place_index(&at, i);
        result = exi_json_number(json_array_get(list, i), &here, &out[i], r->error);
        if (result == EX_OK && !(fabs(out[i]) <= 1e6))
            result = ex_error_set(r->error, EX_ERROR_DATA, "%s: no body is that large: give metres", here.text);
    }
    return result;
}

/* Reads a name that must be new among those read before; a copy in *name. */
static ex_result read_name(exi_reader *r, const json_t *object, const exi_place *place, char **name) {
    const char *text = NULL;
    ex_result result = exi_get_text(r, object, place, "name", true, &text);
    if (result == EX_OK && !exi_is_name(text))
        result = ex_error_set(r->error, EX_ERROR_DATA, "%s.name: 1 to %d bytes of readable text are needed",
                              place->text, EXI_NAME_MAX);
    if (result != EX_OK)
        return result;
    *name = malloc(strlen(text) + 1);
    if (!*name)
        return ex_error_memory(r->error, "the skeleton", strlen(text) + 1);
    strcpy(*name, text);
    return EX_OK;
}

/* Finds the joint among the first `count` that a key names. */
static ex_result read_joint_name(exi_reader *r, const json_t *object, const exi_place *place, const char *key,
                                 const ex_kinematics *made, int count, int *joint) {
    const char *text = NULL;
    exi_place at = exi_place_key(place, key);
    ex_result result = exi_get_text(r, object, place, key, true, &text);
    if (result != EX_OK)
        return result;
    *joint = ex_kinematics_find_joint(made, text);
    if (*joint >= count && count < made->joint_count)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: '%s' must come before '%s' in the list", at.text, text,
                            made->joints[count].name);
    if (*joint < 0)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: there is no joint called '%s'", at.text, text);
    return EX_OK;
}

/* ---- joints ---- */

static ex_result read_locks(exi_reader *r, const json_t *object, const exi_place *place, ex_kin_joint *joint) {
    static const char *const words[] = {"translation", "axis"};
    const json_t *list = json_object_get(object, "lock");
    exi_place at = exi_place_key(place, "lock");
    if (!list)
        return EX_OK;
    if (!json_is_array(list))
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: a list is needed here: [\"translation\", \"axis\"]", at.text);
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && i < json_array_size(list); i++) {
        exi_place here = exi_place_index(&at, i);
        int which = 0;
        result = exi_choose(r, json_array_get(list, i), &here, words, 2, &which);
        if (result == EX_OK && which == 1 && joint->freedom != EX_FREEDOM_HINGE)
            result = ex_error_set(r->error, EX_ERROR_DATA, "%s: only a hinge has an axis", here.text);
        if (result == EX_OK)
            *(which == 0 ? &joint->lock_translation : &joint->lock_axis) = true;
    }
    return result;
}

static ex_result read_range(exi_reader *r, const json_t *object, const exi_place *place, ex_kin_joint *joint) {
    const json_t *list = json_object_get(object, "range");
    exi_place at = exi_place_key(place, "range");
    if (!list)
        return EX_OK;
    if (joint->freedom != EX_FREEDOM_HINGE)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: only a hinge has a range", at.text);
    if (!json_is_array(list) || json_array_size(list) != 2 || !json_is_number(json_array_get(list, 0)) ||
        !json_is_number(json_array_get(list, 1)))
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: two numbers of degrees [least, most] are needed here",
                            at.text);
    joint->least = json_number_value(json_array_get(list, 0));
    joint->most = json_number_value(json_array_get(list, 1));
    if (!(joint->least < joint->most) || joint->least < -360 || joint->most > 360)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: degrees from -360 to 360, the least first, are needed here",
                            at.text);
    return EX_OK;
}

/* Reads translation and axis; a mirrored joint has only those that are locked. */
static ex_result read_place(exi_reader *r, const json_t *object, const exi_place *place, ex_kin_joint *joint) {
    const bool mirrored = joint->mirror >= 0, hinge = joint->freedom == EX_FREEDOM_HINGE;
    const struct {
        const char *key;
        bool allowed, shared;
        double *out;
    } vectors[] = {{"translation", true, mirrored && !joint->lock_translation, joint->translation},
                   {"axis", hinge, mirrored && !joint->lock_axis, joint->axis}};
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < 2; i++) {
        exi_place at = exi_place_key(place, vectors[i].key);
        const bool given = json_object_get(object, vectors[i].key) != NULL;
        if (given && !vectors[i].allowed)
            result = ex_error_set(r->error, EX_ERROR_DATA, "%s: only a hinge has an axis", at.text);
        else if (given && vectors[i].shared)
            result = ex_error_set(r->error, EX_ERROR_DATA,
                                  "%s: a mirrored joint has that of the other one: leave it out, or lock it", at.text);
        else if (vectors[i].allowed && !vectors[i].shared)
            result = read_vector(r, object, place, vectors[i].key, vectors[i].out);
        if (result == EX_OK && i == 1 && hinge && !vectors[i].shared && !exi_normalise(joint->axis, 3))
            result = ex_error_set(r->error, EX_ERROR_DATA, "%s: an axis has a direction, not three zeros", at.text);
    }
    return result;
}

static ex_result read_joint(exi_reader *r, const json_t *object, const exi_place *place, ex_kinematics *made, int j) {
    static const char *const keys[] = {"name",   "parent", "joint", "translation", "axis",
                                       "mirror", "lock",   "range", NULL};
    static const char *const freedoms[] = {
#define NAME(id, text) text,
        EX_FREEDOM_LIST(NAME)
#undef NAME
    };
    ex_kin_joint *joint = &made->joints[j];
    exi_place kind_at = exi_place_key(place, "joint"), mirror_at = exi_place_key(place, "mirror");
    int freedom = 0;
    joint->parent = joint->mirror = -1;
    ex_result result = exi_choose(r, json_object_get(object, "joint"), &kind_at, freedoms, EX_FREEDOM_COUNT, &freedom);
    joint->freedom = (ex_freedom)freedom;
    if (result == EX_OK)
        result = exi_check_keys(r, object, place, keys);
    if (result == EX_OK && (freedom == EX_FREEDOM_BASE) != (j == 0))
        result =
            ex_error_set(r->error, EX_ERROR_DATA, "%s: the first joint, and no other, is the \"base\"", kind_at.text);
    if (result == EX_OK && j == 0 && (json_object_get(object, "parent") || json_object_get(object, "mirror")))
        result =
            ex_error_set(r->error, EX_ERROR_DATA, "%s: the base cannot have a parent or mirror a joint", place->text);
    if (result == EX_OK && j > 0)
        result = read_joint_name(r, object, place, "parent", made, j, &joint->parent);
    if (result == EX_OK && json_object_get(object, "mirror"))
        result = read_joint_name(r, object, place, "mirror", made, j, &joint->mirror);
    if (result == EX_OK && joint->mirror >= 0 &&
        (joint->mirror == 0 || made->joints[joint->mirror].freedom != joint->freedom))
        result = ex_error_set(r->error, EX_ERROR_DATA,
                              "%s: a joint can only mirror one of the same kind, and not the base", mirror_at.text);
    if (result == EX_OK)
        result = read_locks(r, object, place, joint);
    if (result == EX_OK)
        result = read_range(r, object, place, joint);
    return result == EX_OK ? read_place(r, object, place, joint) : result;
}

/* ---- markers ---- */

static ex_result read_colour(exi_reader *r, const json_t *object, const exi_place *place, ex_site *site) {
    const json_t *list = json_object_get(object, "colour");
    exi_place at = exi_place_key(place, "colour");
    bool good = !list || json_array_size(list) == 3;
    for (size_t i = 0; list && good && i < 3; i++) {
        const json_t *value = json_array_get(list, i);
        good = json_is_integer(value) && json_integer_value(value) >= 0 && json_integer_value(value) <= 255;
        if (good)
            site->colour[i] = (unsigned char)json_integer_value(value);
    }
    return good ? EX_OK
                : ex_error_set(r->error, EX_ERROR_DATA, "%s: three whole numbers from 0 to 255 are needed here",
                               at.text);
}

static ex_result read_marker(exi_reader *r, const json_t *object, const exi_place *place, ex_kinematics *made, int s) {
    static const char *const keys[] = {"name", "joint", "at", "colour", NULL};
    ex_site *site = &made->sites[s];
    ex_result result = exi_check_keys(r, object, place, keys);
    if (result == EX_OK)
        result = read_joint_name(r, object, place, "joint", made, made->joint_count, &site->joint);
    site->placed = json_object_get(object, "at") != NULL;
    if (result == EX_OK && site->placed)
        result = read_vector(r, object, place, "at", site->local);
    return result == EX_OK ? read_colour(r, object, place, site) : result;
}

/* ---- the file ---- */

static ex_result read_names(exi_reader *r, const json_t *list, const exi_place *place, ex_kinematics *made,
                            bool joints) {
    ex_result result = EX_OK;
    const int count = joints ? made->joint_count : made->site_count;
    for (int i = 0; result == EX_OK && i < count; i++) {
        exi_place here = exi_place_index(place, (size_t)i);
        const json_t *object = json_array_get(list, (size_t)i);
        char **name = joints ? &made->joints[i].name : &made->sites[i].name;
        if (!json_is_object(object))
            return ex_error_set(r->error, EX_ERROR_DATA, "%s: an object { … } is needed here", here.text);
        result = read_name(r, object, &here, name);
        for (int k = 0; result == EX_OK && k < i; k++)
            if (strcmp(*name, joints ? made->joints[k].name : made->sites[k].name) == 0)
                result = ex_error_set(r->error, EX_ERROR_DATA, "%s.name: %s %d is also called '%s'", here.text,
                                      joints ? "joint" : "marker", k, *name);
    }
    return result;
}

static ex_result read_root(exi_reader *r, const json_t *root, const char *called, ex_kinematics **kinematics) {
    static const char *const keys[] = {"exemplar_skeleton", "name", "joints", "markers", NULL};
    static const char *const needed[] = {"exemplar_skeleton", "joints", NULL};
    exi_place top = {""}, joints_at = {"joints"}, markers_at = {"markers"};
    const json_t *version = json_object_get(root, "exemplar_skeleton"), *joints = json_object_get(root, "joints"),
                 *markers = json_object_get(root, "markers");
    const char *name = called;
    if (!json_is_object(root))
        return ex_error_set(r->error, EX_ERROR_DATA, "a skeleton is a JSON object: { \"exemplar_skeleton\": 1, … }");
    if (json_is_integer(version) && json_integer_value(version) > 1)
        return ex_error_set(
            r->error, EX_ERROR_VERSION,
            "exemplar_skeleton: this file has version %lld, but this program (%s) reads version 1: use a newer version",
            (long long)json_integer_value(version), EX_VERSION_TEXT);
    ex_result result = exi_check_keys(r, root, &top, keys);
    if (result == EX_OK)
        result = exi_require_keys(r, root, &top, needed);
    if (result == EX_OK && (!json_is_integer(version) || json_integer_value(version) != 1))
        result = ex_error_set(r->error, EX_ERROR_DATA, "exemplar_skeleton: the version number 1 is needed here");
    if (result == EX_OK)
        result = exi_get_text(r, root, &top, "name", false, &name);
    if (result == EX_OK && json_object_get(root, "name") && !exi_is_text(name))
        result = ex_error_set(r->error, EX_ERROR_DATA, "name: readable text is needed here");
    if (result == EX_OK && (!json_is_array(joints) || json_array_size(joints) == 0 || json_array_size(joints) > 10000))
        result = ex_error_set(r->error, EX_ERROR_DATA, "joints: a list of 1 to 10000 joints is needed here");
    if (result == EX_OK && markers && (!json_is_array(markers) || json_array_size(markers) > 100000))
        result = ex_error_set(r->error, EX_ERROR_DATA, "markers: a list of at most 100000 markers is needed here");
    if (result != EX_OK)
        return result;
    ex_kinematics *made = exi_kinematics_create((int)json_array_size(joints), (int)json_array_size(markers));
    *kinematics = made;
    if (!made || !(made->name = malloc(strlen(name) + 1)))
        return ex_error_memory(r->error, "the skeleton", json_array_size(joints) * sizeof *made->joints);
    strcpy(made->name, name);
    for (int j = 0; j < made->joint_count; j++) /* so that names can be found before all are read */
        made->joints[j].parent = -1;
    result = read_names(r, joints, &joints_at, made, true);
    if (result == EX_OK && markers)
        result = read_names(r, markers, &markers_at, made, false);
    for (int j = 0; result == EX_OK && j < made->joint_count; j++) {
        exi_place here = exi_place_index(&joints_at, (size_t)j);
        result = read_joint(r, json_array_get(joints, (size_t)j), &here, made, j);
    }
    for (int s = 0; result == EX_OK && s < made->site_count; s++) {
        exi_place here = exi_place_index(&markers_at, (size_t)s);
        result = read_marker(r, json_array_get(markers, (size_t)s), &here, made, s);
    }
    if (result == EX_OK)
        exi_kinematics_mirror(made);
    return result;
}

ex_result exi_kinematics_interpret(exi_reader *r, const json_t *object, const char *called,
                                   ex_kinematics **kinematics) {
    *kinematics = NULL;
    ex_result result = read_root(r, object, called, kinematics);
    if (result != EX_OK) {
        ex_kinematics_destroy(*kinematics);
        *kinematics = NULL;
    }
    return result;
}

ex_result ex_kinematics_parse(const char *text, size_t size, const char *name, ex_kinematics **kinematics,
                              ex_error *error) {
    exi_arena arena = {0};
    exi_reader reader = {.arena = &arena, .error = error};
    json_t *root = NULL;
    *kinematics = NULL;
    ex_result result = exi_json_parse(text, size, name, &root, error);
    if (result == EX_OK)
        result = ex_error_within(error, exi_kinematics_interpret(&reader, root, name, kinematics), "%s", name);
    exi_arena_free(&arena);
    json_decref(root);
    return result;
}

ex_result ex_kinematics_read(const char *path, ex_kinematics **kinematics, ex_error *error) {
    *kinematics = NULL;
    const char *shipped = exi_shipped_skeleton(path);
    if (shipped)
        return ex_kinematics_parse(shipped, strlen(shipped), path, kinematics, error);
    char *text = NULL;
    size_t size = 0;
    ex_result result = ex_file_read(path, &text, &size, error);
    if (result == EX_OK)
        result = ex_kinematics_parse(text, size, path, kinematics, error);
    free(text);
    return result;
}
