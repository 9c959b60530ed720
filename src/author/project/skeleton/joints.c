/*
 * Joints by name: finds joints that a project names but its skeleton lacks.
 */
#include "author/base/array.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
    const ex_project_view *view;
    const ex_skeleton *skeleton; /* may be NULL */
    const char **names;          /* of the skeleton's joints */
    int joint_count;
    exi_joint_report report;
    void *user;
} search;

/* Lists the first joints by name. */
static const char *list_joints(const search *s, char list[256]) {
    enum { NAMED_MOST = 8 };
    size_t used = 0;
    list[0] = 0;
    int named = 0;
    while (named < s->joint_count && named < NAMED_MOST && used + strlen(s->names[named]) + 24 < 256) {
        used += (size_t)snprintf(list + used, 256 - used, "%s'%s'", named ? ", " : "", s->names[named]);
        named++;
    }
    if (named < s->joint_count)
        snprintf(list + used, 256 - used, "%s%d %s", named ? " and " : "", s->joint_count - named,
                 named ? "more" : "others");
    return list;
}

static void look_for(const search *s, const char *place, const char *name) {
    ex_error error;
    char list[256];
    if (s->skeleton && ex_skeleton_find(s->skeleton, name) >= 0)
        return;
    const char *near = ex_suggest(name, s->names, s->joint_count);
    if (!s->skeleton)
        ex_error_set(&error, EX_ERROR_DATA, "'%s' is a joint, but the project has no \"skeleton\"", name);
    else if (near)
        ex_error_set(&error, EX_ERROR_DATA, "the skeleton has no joint '%s'; did you mean '%s'?", name, near);
    else
        ex_error_set(&error, EX_ERROR_DATA, "the skeleton has no joint '%s'; its joints are: %s", name,
                     list_joints(s, list));
    s->report(s->user, place, error.text);
}

static void look_at_axes(const search *s, int number) {
    const ex_project_layer *layer = &s->view->layers[number];
    for (int i = 0; i < layer->axis_count; i++)
        if (layer->axes[i].joint) {
            char place[64];
            snprintf(place, sizeof place, "layers[%d].space[%d].joint", number, i);
            look_for(s, place, layer->axes[i].joint);
        }
}

/* True if an axis of the project is read from that joint, which was then looked for already. */
static bool has_axis(const ex_project_view *view, const char *joint) {
    for (int l = 0; l < view->layer_count; l++)
        for (int i = 0; i < view->layers[l].axis_count; i++)
            if (view->layers[l].axes[i].joint && strcmp(view->layers[l].axes[i].joint, joint) == 0)
                return true;
    return false;
}

static void look_at_examples(const search *s, int number) {
    const ex_project_layer *layer = &s->view->layers[number];
    for (int k = 0; k < layer->example_count; k++) {
        const ex_project_example *example = &layer->examples[k];
        exi_place place;
        snprintf(place.text, sizeof place.text, "layers[%d].examples[%d]", number, example->place);
        if (example->skeleton && !s->skeleton)
            s->report(s->user, exi_place_key(&place, "skeleton").text,
                      "an example can have its own skeleton only if the project has a \"skeleton\"");
        place = exi_place_key(&place, "joints");
        for (int i = 0; i < example->joint_count; i++)
            if (!has_axis(s->view, example->joints[i].name))
                look_for(s, exi_place_key(&place, example->joints[i].name).text, example->joints[i].name);
        snprintf(place.text, sizeof place.text, "layers[%d].examples[%d].locals", number, example->place);
        for (int i = 0; i < example->local_count; i++)
            look_for(s, exi_place_key(&place, example->locals[i].name).text, example->locals[i].name);
    }
}

static void look_at_mask(const search *s, int number) {
    const ex_project_layer *layer = &s->view->layers[number];
    for (int r = 0; r < layer->region_count; r++)
        for (int i = 0; i < layer->regions[r].mask.joint_count; i++) {
            char place[96];
            snprintf(place, sizeof place, "layers[%d].weigh.regions[%d].mask.joints[%d]", number, r, i);
            look_for(s, place, layer->regions[r].mask.joints[i]);
        }
    for (int i = 0; i < layer->mask.joint_count; i++) {
        char place[64];
        snprintf(place, sizeof place, "layers[%d].mask.joints[%d]", number, i);
        look_for(s, place, layer->mask.joints[i]);
    }
}

/* Axes come first, in all layers: a place in a space moves joints through them. */
ex_result exi_project_find_missing_joints(const ex_project_view *view, const ex_skeleton *skeleton,
                                          exi_joint_report report, void *user, ex_error *error) {
    search s = {.view = view, .skeleton = skeleton, .report = report, .user = user};
    s.joint_count = skeleton ? ex_skeleton_joint_count(skeleton) : 0;
    s.names = exi_array_allocate((size_t)s.joint_count, sizeof *s.names);
    if (!s.names)
        return ex_error_memory(error, "the names of joints", (size_t)s.joint_count * sizeof *s.names);
    for (int j = 0; j < s.joint_count; j++)
        s.names[j] = ex_skeleton_name(skeleton, j);
    if (view->driver.joint)
        look_for(&s, "driver.frame.joint", view->driver.joint);
    for (int l = 0; l < view->layer_count; l++)
        look_at_axes(&s, l);
    for (int l = 0; l < view->layer_count; l++) {
        look_at_examples(&s, l);
        look_at_mask(&s, l);
    }
    free(s.names);
    return EX_OK;
}

static void keep_first(void *user, const char *place, const char *sentence) {
    ex_error *first = user;
    if (first->result == EX_OK)
        ex_error_set(first, EX_ERROR_DATA, "%s: %s", place, sentence);
}

ex_result exi_project_check_joints(const ex_project_view *view, const ex_skeleton *skeleton, ex_error *error) {
    ex_error first = {.result = EX_OK};
    ex_result result = exi_project_find_missing_joints(view, skeleton, keep_first, &first, error);
    if (result == EX_OK && first.result != EX_OK)
        result = ex_error_set(error, first.result, "%s", first.text);
    return result;
}

/* Well below the limit at which skinning rejects a matrix, since joints are moved one after the other. */
#define REACH 1e9

bool exi_reading_reaches(const ex_reading *reading, const double *value) {
    if (reading->kind == EX_READING_SLIDE)
        return fabs(*value * (reading->unit != 0 ? reading->unit : 1)) <= REACH;
    return reading->kind != EX_READING_STRETCH || fabs(*value) <= REACH;
}
