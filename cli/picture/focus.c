/*
 * cli/picture/focus.c - finds the vertices that a picture is about.
 *
 * Around a joint: a joint's own part of the skin reaches from it to the next joint, so its nearest tenth tells how
 * thick the form is there. Everything of the joint, its parent and its children within REACH times that distance is in
 * view, as the form is at rest. So an elbow shows the ends of both arms and not the hip beside it.
 */
#include "focus.h"

#include "cli/base/report.h"
#include "cli/pose/forms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fraction of a joint's own vertices that are near, and reach of the view, in their distances from the joint. */
#define NEAR  0.1
#define REACH 2.2
/* Least skin weight of a joint's own vertices, and of those in view. */
#define OWN_WEIGHT  0.5f
#define VIEW_WEIGHT 0.2f
/* Least part of an example's largest movement that counts as moved. */
#define MOVED 0.05f

static bool no_memory(void) {
    exi_failed_memory();
    return false;
}

bool exi_focus_check(const ex_call *call, const exi_focus_words *words) {
    if ((words->joint != NULL) + (words->group != NULL) + (words->example != NULL) > 1)
        exi_wrong_usage(call->command, "--look-at, --around and --fit exclude each other: give one of them");
    else if (words->example && (strncmp(words->example, "example:", 8) != 0 || !words->example[8]))
        exi_wrong_usage(call->command, "--fit needs example:NAME or example:LAYER/NAME, not '%s'", words->example);
    else
        return true;
    return false;
}

/* Keeps the vertices with a value of at least `least`. */
static bool keep(const float *values, int count, float least, exi_focus *focus) {
    focus->vertices = malloc(((size_t)count + 1) * sizeof *focus->vertices);
    if (!focus->vertices)
        return no_memory();
    for (int v = 0; v < count; v++)
        if (values[v] >= least)
            focus->vertices[focus->count++] = v;
    return true;
}

/* ---- around a joint ---- */

static bool is_near(const ex_skeleton *skeleton, int a, int b) {
    return a == b || ex_skeleton_parent(skeleton, a) == b || ex_skeleton_parent(skeleton, b) == a;
}

static bool is_below(const ex_skeleton *skeleton, int joint, int top) {
    while (joint >= 0 && joint != top)
        joint = ex_skeleton_parent(skeleton, joint);
    return joint == top;
}

typedef enum part { PART_OWN, PART_NEAR, PART_BELOW } part;

/* Adds up the skin weights of the joints of a part, at the level's vertices. */
static bool sum_weights(const ex_rig *rig, int level, int count, int joint, part which, float *sum) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    ex_error error = {.result = EX_OK};
    float *one = malloc(((size_t)count + 1) * sizeof *one);
    if (!one)
        return no_memory();
    memset(sum, 0, (size_t)count * sizeof *sum);
    for (int j = 0; j < ex_rig_joint_count(rig) && error.result == EX_OK; j++) {
        if (which == PART_OWN    ? j != joint
            : which == PART_NEAR ? !is_near(skeleton, j, joint)
                                 : !is_below(skeleton, j, joint))
            continue;
        if (ex_rig_joint_weights(rig, j, level, one, &error) == EX_OK)
            for (int v = 0; v < count; v++)
                sum[v] += one[v];
    }
    free(one);
    if (error.result != EX_OK)
        exi_failed(&error);
    return error.result == EX_OK;
}

/* Distances of the level's vertices from a joint, both at rest. */
static bool measure(const ex_rig *rig, int level, int count, int joint, float *distances) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    const ex_evaluation how = {.level = level};
    exi_form rest = {.positions = NULL};
    float *worlds = malloc(12 * (size_t)ex_rig_joint_count(rig) * sizeof *worlds);
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1) + ex_skeleton_scratch_size(skeleton) + 1);
    const bool good = exi_form_open(&rest, rig, &(exi_form_wish){.level = level}) && worlds && scratch;
    if (good) {
        const ex_output where = exi_form_output(&rest);
        ex_skeleton_evaluate(skeleton, NULL, &(ex_skeleton_output){.worlds = worlds}, scratch);
        ex_rig_evaluate(rig, NULL, &where, &how, scratch);
        const float *world = worlds + 12 * (size_t)joint;
        for (int v = 0; v < count; v++) {
            const float *p = rest.positions + 3 * (size_t)v;
            const float x = p[0] - world[3], y = p[1] - world[7], z = p[2] - world[11];
            distances[v] = sqrtf(x * x + y * y + z * z);
        }
    }
    exi_form_close(&rest, rig);
    free(worlds);
    free(scratch);
    return good || no_memory();
}

static int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The distance within which the nearest tenth of the chosen vertices lies; 0 if there are none. */
static float near_distance(const float *distances, const float *weights, int count, float least, float *sorted) {
    int kept = 0;
    for (int v = 0; v < count; v++)
        if (weights[v] >= least)
            sorted[kept++] = distances[v];
    if (kept == 0)
        return 0;
    qsort(sorted, (size_t)kept, sizeof *sorted, compare_floats);
    return sorted[(int)(NEAR * (kept - 1))];
}

/* Without skin weights, all vertices belong to every joint. */
static bool weigh(const ex_rig *rig, int level, int count, int joint, part which, float *weights) {
    if (ex_rig_skin(rig))
        return sum_weights(rig, level, count, joint, which, weights);
    for (int v = 0; v < count; v++)
        weights[v] = 1;
    return true;
}

static bool find_around(const ex_rig *rig, int level, int count, int joint, exi_focus *focus) {
    float *distances = malloc(((size_t)count + 1) * sizeof *distances);
    float *weights = malloc(((size_t)count + 1) * sizeof *weights);
    float *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    bool good = (distances && weights && sorted) || no_memory();
    good = good && measure(rig, level, count, joint, distances) && weigh(rig, level, count, joint, PART_OWN, weights);
    float distance = good ? near_distance(distances, weights, count, OWN_WEIGHT, sorted) : 0;
    part shown = PART_NEAR;
    if (good && distance <= 0) {
        /* A joint without a part of its own, such as a root: that of all joints below it. */
        shown = PART_BELOW;
        good = weigh(rig, level, count, joint, PART_BELOW, weights);
        distance = good ? near_distance(distances, weights, count, VIEW_WEIGHT, sorted) : 0;
    } else if (good) {
        good = weigh(rig, level, count, joint, shown, weights);
    }
    for (int v = 0; good && v < count; v++)
        weights[v] = distances[v] <= (float)REACH * distance ? weights[v] : 0;
    good = good && keep(weights, count, VIEW_WEIGHT, focus);
    free(distances);
    free(weights);
    free(sorted);
    return good;
}

/* The joint of that name, or the one that the axis of that name reads; or -1. */
static int joint_of(const ex_rig *rig, const char *name) {
    const int joint = ex_skeleton_find(ex_rig_skeleton(rig), name);
    const int input = joint < 0 ? ex_rig_input_find(rig, name) : -1;
    return input >= 0 ? ex_rig_input_source(rig, input).joint : joint;
}

/* Says that there is no such joint, and names the nearest or the first ones. */
static void refuse_joint(const ex_rig *rig, const char *name) {
    enum { NAMED_MOST = 8 };
    const int count = ex_rig_joint_count(rig);
    const bool axis = ex_rig_input_find(rig, name) >= 0;
    const char **names = malloc(((size_t)count + 1) * sizeof *names);
    char list[300] = "";
    size_t used = 0;
    int named = 0;
    for (int j = 0; names && j < count; j++)
        names[j] = ex_skeleton_name(ex_rig_skeleton(rig), j);
    const char *near = names && !axis ? ex_suggest(name, names, count) : NULL;
    for (; names && named < count && named < NAMED_MOST && used + strlen(names[named]) + 3 < sizeof list; named++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", named > 0 ? ", " : "", names[named]);
    if (!names)
        exi_failed_memory();
    else if (near)
        exi_failed_text("the rig has no joint '%s': did you mean '%s'?", name, near);
    else
        exi_failed_text(axis ? "the axis '%s' reads no joint: --look-at needs one of %s%s"
                             : "the rig has no joint '%s'; its joints are: %s%s",
                        name, list, named < count ? ", …" : "");
    free(names);
}

static bool find_joint(const char *name, const ex_rig *rig, int level, const ex_mesh *mesh, exi_focus *focus) {
    const ex_skeleton *skeleton = rig ? ex_rig_skeleton(rig) : NULL;
    const int joint = skeleton ? joint_of(rig, name) : -1;
    if (!skeleton) {
        exi_failed_text(rig ? "the rig has no skeleton, so --look-at cannot find the joint '%s'"
                            : "a form has no joints, so --look-at cannot find '%s': render a rig",
                        name);
        return false;
    }
    if (joint < 0) {
        refuse_joint(rig, name);
        return false;
    }
    if (!find_around(rig, level, mesh->vertex_count, joint, focus))
        return false;
    if (focus->count == 0)
        exi_failed_text("the joint '%s' moves no vertex: --look-at needs one that does", name);
    return focus->count > 0;
}

/* ---- groups ---- */

/* True if the mesh has a group of that name, with or without faces. */
static bool has_group(const ex_mesh *mesh, const char *name) {
    for (int i = 0; i < mesh->group_count; i++)
        if (strcmp(mesh->group_names[i], name) == 0)
            return true;
    return false;
}

/* hide: names of hidden faces, which the mesh lacks; or NULL. */
static bool find_group(const char *name, const char *hide, const ex_mesh *mesh, exi_focus *focus) {
    ex_error error = {.result = EX_OK};
    float *mask = calloc((size_t)mesh->vertex_count + 1, sizeof *mask);
    if (!mask)
        return no_memory();
    const bool good = ex_mask_from_group(mesh, name, mask, &error) == EX_OK;
    if (!good && has_group(mesh, name))
        exi_failed_text(
            hide ? "'%s' is hidden (--hide): it cannot fill the picture" : "the group '%s' has no faces to show", name);
    else if (!good)
        exi_failed(&error);
    const bool kept = good && keep(mask, mesh->vertex_count, 0.5f, focus);
    free(mask);
    if (kept && focus->count == 0)
        exi_failed_text("the group '%s' has no faces to show", name);
    return kept && focus->count > 0;
}

/* ---- examples ---- */

/* The example of a layer that has this name, or -1. */
static int find_in_layer(const ex_rig *rig, int layer, const char *name) {
    const int count = ex_weigher_example_count(ex_rig_weigher(rig, layer));
    for (int k = 0; k < count; k++)
        if (strcmp(name, ex_rig_example_name(rig, layer, k)) == 0)
            return k;
    return -1;
}

bool exi_focus_example(const ex_rig *rig, const char *words, int *layer, int *example) {
    int found = 0;
    for (int i = 0; i < ex_rig_layer_count(rig); i++) {
        const char *name = ex_rig_layer_name(rig, i);
        const size_t length = strlen(name);
        if (ex_rig_layer_stage(rig, i) == EX_STAGE_TEXTURE)
            continue;
        if (strncmp(words, name, length) == 0 && words[length] == '/') {
            const int k = find_in_layer(rig, i, words + length + 1);
            if (k >= 0) {
                *layer = i;
                *example = k;
                return true;
            }
        }
        const int k = find_in_layer(rig, i, words);
        if (k >= 0) {
            *layer = i;
            *example = k;
            found++;
        }
    }
    if (found > 1)
        exi_failed_text("several layers have an example '%s': name one as LAYER/%s", words, words);
    else if (found == 0)
        exi_failed_text("the rig has no form '%s': name one as LAYER/EXAMPLE ('exemplar info' lists them)", words);
    return found == 1;
}

void exi_focus_pose(const ex_rig *rig, int layer, int example, ex_pose *pose) {
    const ex_weigher *weigher = ex_rig_weigher(rig, layer);
    const double *point = ex_weigher_point(weigher, example);
    if (!point && example < ex_weigher_axis_count(weigher))
        ex_rig_set_input(rig, ex_rig_layer_input(rig, layer, example), &(double){1}, pose);
    for (int a = 0; point && a < ex_weigher_axis_count(weigher); a++) {
        const int input = ex_rig_layer_input(rig, layer, a);
        const ex_axis axis = ex_rig_input_axis(rig, input);
        if (axis.kind != EX_AXIS_DRIVER)
            ex_rig_set_input(rig, input, point, pose);
        point += ex_axis_width(&axis);
    }
    const float *driver = ex_rig_example_driver(rig, layer, example);
    if (driver)
        pose->driver = driver;
    if (driver && pose->joints)
        ex_rig_example_joints(rig, layer, example, pose->joints);
}

static bool find_moved(const char *words, const ex_rig *rig, int level, const ex_mesh *mesh, exi_focus *focus) {
    int layer, example;
    ex_error error = {.result = EX_OK};
    if (!rig) {
        exi_failed_text("a form has no examples, so --fit cannot find '%s': render a rig", words);
        return false;
    }
    if (!exi_focus_example(rig, words, &layer, &example))
        return false;
    float *amounts = calloc((size_t)mesh->vertex_count + 1, sizeof *amounts), most = 0;
    if (!amounts)
        return no_memory();
    bool good = ex_rig_example_amounts(rig, layer, example, level, amounts, &error) == EX_OK;
    if (!good)
        exi_failed(&error);
    for (int v = 0; good && v < mesh->vertex_count; v++)
        most = amounts[v] > most ? amounts[v] : most;
    if (good && !(most > 0)) {
        exi_failed_text("the example '%s' moves no vertex, so there is nothing to fit: leave --fit out", words);
        good = false;
    }
    good = good && keep(amounts, mesh->vertex_count, MOVED * most, focus);
    free(amounts);
    return good;
}

bool exi_focus_find(const exi_focus_words *words, const ex_rig *rig, int level, const ex_mesh *mesh, exi_focus *focus) {
    *focus = (exi_focus){.vertices = NULL};
    if (words->joint)
        return find_joint(words->joint, rig, level, mesh, focus);
    if (words->group)
        return find_group(words->group, words->hide, mesh, focus);
    return !words->example || find_moved(words->example + 8, rig, level, mesh, focus);
}
