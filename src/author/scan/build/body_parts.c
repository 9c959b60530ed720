/*
 * Body parts over the refined template: finds the vertices that each covers, the masks that blend them, and their
 * mirror images. A part whose joints are all on one side covers only that side of the bones in the middle: the left
 * shoulder's scans do not describe the right half of the chest. A part with joints of both sides covers all of them.
 */
#include "author/base/array.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/project.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the side of a joint of a pair, 1 or -1; 0: it has no partner. */
static int side_of(const exi_body *body, const char *name) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    const int joint = ex_kinematics_find_joint(kinematics, name);
    const int other = joint >= 0 ? exi_body_other_joint(body, joint) : joint;
    double x[2] = {0};
    if (joint == other)
        return 0;
    for (int i = 0; i < 2; i++) /* in the neutral pose, relative to each other */
        for (int j = i ? other : joint; j > 0; j = kinematics->joints[j].parent) {
            const double *q = body->frames[kinematics->joints[j].parent], back[4] = {-q[0], -q[1], -q[2], q[3]};
            double t[3];
            exi_rotate(back, kinematics->joints[j].translation, t);
            x[i] += t[0];
        }
    return x[0] < x[1] ? -1 : 1;
}

/* Returns the side that all paired joints of a part are on; 0 if it has none, or some of both sides. */
static int find_side(const exi_body *body, const ex_scan_part *part) {
    bool sides[2] = {false, false};
    for (int i = 0; i < part->joint_count + part->cover_count; i++) {
        const int side = side_of(body, i < part->joint_count ? part->joints[i] : part->covers[i - part->joint_count]);
        if (side != 0)
            sides[side > 0] = true;
    }
    return sides[0] == sides[1] ? 0 : sides[1] ? 1 : -1;
}

/* Marks the cover of a part: its own bones, and its own side of the bones in the middle. */
static ex_result find_covered(const exi_body *body, exi_body_part *part, const float *places, unsigned char *middle) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    const char **own = exi_array_allocate(2 * (size_t)part->part->cover_count, sizeof *own);
    const char **between = own ? own + part->part->cover_count : NULL;
    int own_count = 0, between_count = 0;
    ex_result result = EX_OK;
    if (!own)
        return ex_error_memory(body->error, "a part", 2 * (size_t)part->part->cover_count * sizeof *own);
    for (int i = 0; i < part->part->cover_count; i++) {
        const int joint = ex_kinematics_find_joint(kinematics, part->part->covers[i]);
        if (part->side != 0 && joint >= 0 && exi_body_other_joint(body, joint) == joint)
            between[between_count++] = part->part->covers[i];
        else
            own[own_count++] = part->part->covers[i];
    }
    if (own_count > 0)
        result = ex_displacement_map_covered(body->rig, body->level, own, own_count, part->covered, body->error);
    if (result == EX_OK && between_count > 0)
        result = ex_displacement_map_covered(body->rig, body->level, between, between_count, middle, body->error);
    for (int v = 0; v < body->vertex_count && result == EX_OK && between_count > 0; v++) {
        const double other = body->mirror ? (double)places[3 * body->mirror[v]] : kinematics->joints[0].translation[0];
        const double x = (double)places[3 * v] - other;
        if (middle[v] && part->side * x >= 0)
            part->covered[v] = 1;
    }
    free((void *)own);
    return ex_error_within(body->error, result, "part '%s'", part->part->name);
}

static void mirror_covered(const exi_body *body, const exi_body_part *from, exi_body_part *to) {
    for (int v = 0; v < body->vertex_count; v++)
        to->covered[body->mirror[v]] = from->covered[v];
}

static ex_result make_masks(exi_body *body) {
    const unsigned char **covered = exi_array_allocate((size_t)body->part_count, sizeof *covered);
    float **masks = exi_array_allocate((size_t)body->part_count, sizeof *masks);
    ex_result result = EX_OK;
    if (!covered || !masks) {
        result = ex_error_memory(body->error, "the masks", (size_t)body->part_count * sizeof *masks);
    } else {
        for (int p = 0; p < body->part_count; p++) {
            covered[p] = body->parts[p].covered;
            masks[p] = body->parts[p].mask;
        }
        result = ex_displacement_map_masks(body->rig, body->level, covered, body->part_count, masks, body->error);
    }
    free((void *)covered);
    free((void *)masks);
    return result;
}

/* Computes the template in the neutral pose, at the level: the trunk is upright there, and its sides are those of x. */
static ex_result neutral_places(const exi_body *body, float *places) {
    const ex_evaluation evaluation = {.level = body->level};
    ex_transform *joints = exi_array_allocate((size_t)ex_rig_joint_count(body->rig), sizeof *joints);
    void *scratch = malloc(ex_rig_scratch_size(body->rig, &evaluation, 1));
    ex_result result =
        joints && scratch ? exi_body_neutral(body, joints) : ex_error_memory(body->error, "the template", 0);
    const ex_output output = {.positions = places};
    if (result == EX_OK)
        ex_rig_evaluate(body->rig, &(ex_pose){.joints = joints}, &output, &evaluation, scratch);
    free(joints);
    free(scratch);
    return result;
}

static ex_result add_part(exi_body *body, const ex_scan_part *part, const char *name, bool mirrored, int side) {
    const size_t count = (size_t)body->vertex_count;
    exi_body_part *made = &body->parts[body->part_count++];
    *made = (exi_body_part){.part = part, .mirrored = mirrored, .side = side};
    made->name = name ? exi_text_copy(name, strlen(name)) : NULL;
    made->covered = calloc(count, 1);
    made->mask = calloc(count, sizeof *made->mask);
    return made->name && made->covered && made->mask ? EX_OK
                                                     : ex_error_memory(body->error, "a part", count * sizeof(float));
}

static ex_result add_mirrored(exi_body *body, int part) {
    const exi_body_part *from = &body->parts[part];
    char *name = ex_mirror_name(from->name), other[160];
    ex_result result = EX_OK;
    if (!name)
        return ex_error_memory(body->error, "a name", strlen(from->name));
    snprintf(other, sizeof other, "%s.%s", from->name, from->side > 0 ? "R" : "L");
    const char *image = strcmp(name, from->name) == 0 ? other : name;
    for (int p = 0; p < body->part_count && result == EX_OK; p++) {
        if (strcmp(body->parts[p].name, image) == 0)
            result = ex_error_set(body->error, EX_ERROR_DATA,
                                  "part '%s' would be the mirror image of part '%s', which exists: remove one of the "
                                  "two or \"mirror\": true from scan.json",
                                  image, from->name);
    }
    if (result == EX_OK)
        result = add_part(body, from->part, image, true, -from->side);
    if (result == EX_OK)
        mirror_covered(body, &body->parts[part], &body->parts[body->part_count - 1]);
    free(name);
    return result;
}

/* Checks that every part has a scan, since a layer needs an example. */
static ex_result check_scans(const exi_body *body) {
    for (int p = 0; p < body->session->part_count; p++) {
        bool known = false;
        for (int i = 0; i < body->example_count && !known; i++)
            known = body->examples[i].part == p;
        if (!known)
            return ex_error_set(body->error, EX_ERROR_DATA,
                                "part '%s' has no scan whose pose is known: label one of its scans and fit again, add "
                                "the part to the reference scan, or remove it from scan.json",
                                body->session->parts[p].name);
    }
    return EX_OK;
}

ex_result exi_body_find_parts(exi_body *body) {
    const size_t count = (size_t)body->vertex_count;
    const int session_parts = body->session->part_count;
    float *places = exi_array_allocate(3 * count, sizeof *places);
    unsigned char *middle = calloc(count, 1);
    body->parts = calloc(2 * (size_t)session_parts, sizeof *body->parts);
    ex_result result = places && middle && body->parts
                           ? neutral_places(body, places)
                           : ex_error_memory(body->error, "the parts", 3 * count * sizeof *places);
    if (result == EX_OK)
        result = check_scans(body);
    if (result == EX_OK && body->session->mirror)
        result = exi_body_find_mirror(body);
    if (result == EX_OK)
        result = exi_body_net_make(body, places);
    for (int p = 0; p < session_parts && result == EX_OK; p++) {
        const ex_scan_part *part = &body->session->parts[p];
        result = add_part(body, part, part->name, false, find_side(body, part));
        if (result == EX_OK)
            result = find_covered(body, &body->parts[p], places, middle);
    }
    for (int p = 0; p < session_parts && result == EX_OK && body->session->mirror; p++) {
        if (body->parts[p].side != 0)
            result = add_mirrored(body, p);
    }
    free(places);
    free(middle);
    return result == EX_OK ? make_masks(body) : result;
}

void exi_body_free_parts(exi_body *body) {
    for (int p = 0; p < body->part_count; p++) {
        free(body->parts[p].name);
        free(body->parts[p].covered);
        free(body->parts[p].mask);
        free(body->parts[p].reference);
        free(body->parts[p].image);
    }
    free(body->parts);
    free(body->mirror);
    exi_body_net_free(body->net);
    body->net = NULL;
    body->parts = NULL;
    body->mirror = NULL;
    body->part_count = 0;
}
