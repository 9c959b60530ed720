/*
 * Describes how trajectories were found, in the words of a project file, so that a rig can be unpacked into a project
 * that finds the same ones again. Defaults are not written.
 */
#include "author/base/json.h"
#include "author/project/build/project_trajectories.h"

#include "runtime/base/result.h"

#include <string.h>

static bool describe_paper(json_t *object, const ex_trajectory_options *o) {
    static const char *const terms[] = {"pose", "rotation", "gradient"};
    const bool without[] = {o->without_pose, o->without_rotation, o->without_gradient};
    const double weights[] = {o->pose_weight, o->rotation_weight, o->gradient_weight};
    json_t *term_list = json_array(), *weight_list = json_object();
    bool done = term_list && weight_list;
    for (int i = 0; done && i < 3; i++) {
        if (!without[i])
            done = json_array_append_new(term_list, json_string(terms[i])) == 0;
        if (done && weights[i] > 0)
            done = exi_json_set(weight_list, terms[i], exi_json_make_number(weights[i]));
    }
    done = exi_json_set(object, "terms", term_list) && done;
    if (json_object_size(weight_list) > 0)
        done = exi_json_set(object, "weights", weight_list) && done;
    else
        json_decref(weight_list);
    done = done && exi_json_set(object, "bases", json_boolean(o->bases));
    if (done && o->segment_angle > 0)
        done = exi_json_set(object, "segment_angle", exi_json_make_number(o->segment_angle));
    if (done && o->root >= 0)
        done = exi_json_set(object, "root", json_integer(o->root));
    return done;
}

static bool describe_segments(json_t *object, const int *segments, int face_count) {
    json_t *list = json_array();
    bool done = list != NULL;
    for (int f = 0; done && f < face_count; f++)
        done = json_array_append_new(list, json_integer(segments[f])) == 0;
    return exi_json_set(object, "segments", list) && done;
}

json_t *exi_trajectory_options_describe(const ex_trajectory_options *o) {
    json_t *object = json_object();
    bool done = object && exi_json_set(object, "mode", json_string(ex_trajectory_mode_name(o->mode)));
    if (done && o->iterations > 0)
        done = exi_json_set(object, "iterations", json_integer(o->iterations));
    if (done && o->mode == EX_TRAJECTORY_GUIDED)
        done = exi_json_set(object, "correctors",
                            o->corrector_count < 0 ? json_string("auto") : json_integer(o->corrector_count));
    if (done && o->mode == EX_TRAJECTORY_PAPER)
        done = describe_paper(object, o);
    if (!done) {
        json_decref(object);
        return NULL;
    }
    return object;
}

bool exi_project_trajectories_describe(json_t *note, const ex_project_layer *layer,
                                       const exi_project_trajectories *paths, int face_count) {
    json_t *object = exi_trajectory_options_describe(layer->trajectory.options);
    if (!object || (paths->face_segments && !describe_segments(object, paths->face_segments, face_count))) {
        json_decref(object);
        return false;
    }
    return exi_json_set(note, layer->name, object);
}

/* ---- back ---- */

static const char *first_layer_without(const ex_rig *rig, const json_t *note) {
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        if (!ex_rig_layer_is_sum(rig, l) &&
            !ex_weigher_get_info(ex_rig_weigher(rig, l))->is_driven && /* whose options are the defaults */
            !json_is_object(json_object_get(note, ex_rig_layer_name(rig, l))))
            return ex_rig_layer_name(rig, l);
    return NULL;
}

ex_result exi_project_trajectories_note_read(const ex_rig *rig, json_t **note, ex_error *error) {
    *note = NULL;
    for (int i = 0; i < ex_rig_attachment_count(rig) && !*note; i++) {
        const ex_attachment held = ex_rig_attachment(rig, i);
        if (strcmp(held.kind, EXI_PATHS_NOTE) != 0)
            continue;
        const ex_result result = exi_json_load(held.data, held.size, note, NULL);
        if (result == EX_ERROR_MEMORY)
            return ex_error_memory(error, "a note", held.size);
        if (result != EX_OK)
            return ex_error_set(error, EX_ERROR_DATA,
                                "the rig's note about how its trajectories were found is damaged");
    }
    const char *missing = first_layer_without(rig, *note);
    if (!missing)
        return EX_OK;
    json_decref(*note);
    *note = NULL;
    return ex_error_set(
        error, EX_ERROR_DATA,
        "layer '%s' has trajectories, but the rig does not record how they were found, so it cannot be unpacked",
        missing);
}
