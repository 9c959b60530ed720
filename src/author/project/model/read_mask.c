/*
 * Reads the source of a mask: a file, a group of faces, a vertex colour, or the skin weights of some joints.
 */
#include "author/project/model/reader.h"
#include "runtime/base/result.h"

#include <string.h>

/* Reads a list of joint names, whose skin weights are summed. */
static ex_result read_joints(exi_project_reader *r, const json_t *list, const exi_place *place, ex_project_mask *mask) {
    size_t count = json_array_size(list);
    if (!r->view->skeleton)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: the project has no joints: add \"skeleton\": \"FILE.glb\" to the project",
                            place->text);
    if (count == 0 || count > EX_JOINT_MAX)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a list of names of joints is needed here", place->text);
    const char **names = exi_arena_allocate(r->keys.arena, count, sizeof *names);
    if (!names)
        return ex_error_memory(r->keys.error, "the project", count * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        exi_place at = exi_place_index(place, i);
        const json_t *name = json_array_get(list, i);
        if (json_string_length(name) == 0)
            return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: the name of a joint is needed here", at.text);
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[k], json_string_value(name)) == 0)
                return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: joint '%s' is already in this list", at.text,
                                    names[k]);
        names[i] = exi_arena_text(r->keys.arena, json_string_value(name));
        if (!names[i])
            return ex_error_memory(r->keys.error, "the project", json_string_length(name));
    }
    mask->joints = names;
    mask->joint_count = (int)count;
    return EX_OK;
}

ex_result exi_read_mask(exi_project_reader *r, const json_t *object, const exi_place *place, bool joints,
                        ex_project_mask *mask) {
    static const char *const kinds[] = {"file", "group", "colour", "joints"};
    static const ex_mask_kind numbers[] = {EX_MASK_FILE, EX_MASK_GROUP, EX_MASK_COLOUR, EX_MASK_JOINTS};
    const int count = joints ? 4 : 3;
    int kind = 0;
    while (kind < count && !json_object_get(object, kinds[kind]))
        kind++;
    if (kind == count || json_object_size(object) != 1)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: one of {\"file\": \"m.txt\"}, {\"group\": \"NAME\"}%s is needed here", place->text,
                            joints ? ", {\"colour\": \"r\"} or {\"joints\": [\"NAME\"]}" : " or {\"colour\": \"r\"}");
    mask->kind = numbers[kind];
    exi_place here = exi_place_key(place, kinds[kind]);
    if (mask->kind == EX_MASK_JOINTS)
        return read_joints(r, json_object_get(object, "joints"), &here, mask);
    ex_result result = exi_get_text(&r->keys, object, place, kinds[kind], true, &mask->source);
    if (result == EX_OK && mask->kind == EX_MASK_COLOUR &&
        (strlen(mask->source) != 1 || !strchr("rgb", mask->source[0])))
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: \"r\", \"g\" or \"b\" is needed here", here.text);
    return result;
}
