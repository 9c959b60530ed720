/*
 * Map files: match joints of a clip with joints of a rig, as strict JSON.
 *
 *     {"joints": {"upperarm01.L": "LeftArm", "lowerarm01.L": {"from": "LeftForeArm", "hinge": "x"},
 *                 "clavicle.L": {"from": "LeftShoulder", "align": false}}}
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/base/keys.h"
#include "author/motion/motion.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

static ex_result read_hinge(const json_t *value, const exi_place *place, double hinge[3], ex_error *error) {
    const char *word = json_string_value(value);
    double length = 0;
    if (word && strlen(word) == 1 && strchr("xyz", word[0])) {
        hinge[word[0] - 'x'] = 1;
        return EX_OK;
    }
    if (json_array_size(value) != 3)
        return ex_error_set(error, EX_ERROR_DATA, "%s: a direction is \"x\", \"y\", \"z\" or a list of three numbers",
                            place->text);
    for (size_t i = 0; i < 3; i++) {
        const exi_place at = exi_place_index(place, i);
        ex_result result = exi_json_number(json_array_get(value, i), &at, &hinge[i], error);
        if (result != EX_OK)
            return result;
        length += hinge[i] * hinge[i];
    }
    return length > 0 ? EX_OK : ex_error_set(error, EX_ERROR_DATA, "%s: this direction is zero", place->text);
}

static ex_result read_pair(exi_reader *r, const char *joint, const json_t *value, const exi_place *place,
                           ex_joint_pair *pair) {
    static const char *const keys[] = {"from", "hinge", "align", NULL};
    const char *from = json_string_value(value);
    ex_result result = EX_OK;
    if (json_is_object(value)) {
        const exi_place at = exi_place_key(place, "hinge"), from_place = exi_place_key(place, "from");
        const exi_place align_place = exi_place_key(place, "align");
        const json_t *hinge = json_object_get(value, "hinge"), *named = json_object_get(value, "from");
        const json_t *align = json_object_get(value, "align");
        result = exi_check_keys(r, value, place, keys);
        from = json_string_value(named);
        if (result == EX_OK && (!from || !from[0]))
            result = ex_error_set(r->error, EX_ERROR_DATA, "%s: the name of the motion's joint is needed here",
                                  from_place.text);
        if (result == EX_OK && hinge)
            result = read_hinge(hinge, &at, pair->hinge, r->error);
        if (result == EX_OK && align && !json_is_boolean(align))
            result = ex_error_set(r->error, EX_ERROR_DATA, "%s: true or false is needed here", align_place.text);
        pair->as_it_rests = json_is_false(align);
    } else if (!from || !from[0]) {
        result = ex_error_set(r->error, EX_ERROR_DATA,
                              "%s: \"JOINT\" of the motion, or {\"from\": \"JOINT\", \"hinge\": \"x\"}, is needed here",
                              place->text);
    }
    if (result != EX_OK)
        return result;
    pair->joint = exi_text_copy(joint, strlen(joint));
    pair->from = exi_text_copy(from, strlen(from));
    return pair->joint && pair->from ? EX_OK : ex_error_memory(r->error, "the map", strlen(joint) + strlen(from));
}

static ex_result read_map(exi_reader *r, const json_t *root, ex_joint_map *map) {
    static const char *const keys[] = {"joints", NULL};
    const exi_place whole = {""}, place = exi_place_key(&whole, "joints");
    const json_t *joints = json_object_get(root, "joints");
    if (!json_is_object(root))
        return ex_error_set(r->error, EX_ERROR_DATA, "a map is an object: {\"joints\": {\"OURS\": \"THEIRS\"}}");
    ex_result result = exi_check_keys(r, root, &whole, keys);
    if (result != EX_OK)
        return result;
    if (json_object_size(joints) == 0 || json_object_size(joints) > EX_JOINT_MAX)
        return ex_error_set(r->error, EX_ERROR_DATA,
                            "joints: an object with at least one pair is needed here: {\"OURS\": \"THEIRS\"}");
    map->pairs = calloc(json_object_size(joints), sizeof *map->pairs);
    if (!map->pairs)
        return ex_error_memory(r->error, "the map", json_object_size(joints) * sizeof *map->pairs);
    const char *joint;
    json_t *value;
    json_object_foreach((json_t *)joints, joint, value) {
        const exi_place at = exi_place_key(&place, joint);
        result = read_pair(r, joint, value, &at, &map->pairs[map->pair_count++]);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

ex_result ex_joint_map_read(const char *path, ex_joint_map **map, ex_error *error) {
    if (!path || !map)
        return exi_misuse_error(error, __func__, "no path, or no pointer for the map");
    json_t *root = NULL;
    exi_reader r = {.error = error};
    *map = NULL;
    ex_result result = exi_json_read(path, &root, error);
    ex_joint_map *made = result == EX_OK ? calloc(1, sizeof *made) : NULL;
    if (result == EX_OK)
        result = made ? ex_error_within(error, read_map(&r, root, made), "%s", path)
                      : ex_error_memory(error, "the map", sizeof *made);
    if (result == EX_OK)
        *map = made;
    else
        ex_joint_map_destroy(made);
    json_decref(root);
    return result;
}

void ex_joint_map_destroy(ex_joint_map *map) {
    if (!map)
        return;
    for (int i = 0; i < map->pair_count; i++) {
        free(map->pairs[i].joint);
        free(map->pairs[i].from);
    }
    free(map->pairs);
    free(map);
}
