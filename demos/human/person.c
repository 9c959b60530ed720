/* A body of the demo person, posed joint by joint. */
#include "demos/human/person.h"
#include "demos/vector.h"

#include "common/array.h"

#include <exemplar/author/motion.h>
#include <exemplar/author/project.h>
#include <exemplar/maths.h>
#include <exemplar/rig_inspect.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

ex_result exi_person_rig(ex_rig **rig, ex_error *error) {
    size_t size;
    const void *bytes = exi_person_bytes(&size);
    return ex_rig_unpack(bytes, size, NULL, NULL, rig, error);
}

void exi_person_turn(const exi_person *person, const char *name, const char *side, int axis, double degrees) {
    char whole[32];
    double sine, cosine, turn[4] = {0}, back[4];
    snprintf(whole, sizeof whole, "%s%s", name, side);
    const int joint = ex_skeleton_find(ex_rig_skeleton(person->rig), whole);
    float *rotation = person->pose.joints[joint].rotation;
    const double before[4] = {(double)rotation[0], (double)rotation[1], (double)rotation[2], (double)rotation[3]};
    ex_sin_cos(degrees * PI / 360, &sine, &cosine);
    turn[axis == EXI_PERSON_BEND ? 0 : axis] = sine;
    turn[3] = cosine;
    if (axis != EXI_PERSON_BEND) { /* the same turn in the joint's own axes */
        for (int c = 0; c < 4; c++)
            back[c] = c < 3 ? -person->axes[joint][c] : person->axes[joint][c];
        quaternion_multiply(back, turn, turn);
        quaternion_multiply(turn, person->axes[joint], turn);
    }
    quaternion_multiply(before, turn, turn);
    for (int c = 0; c < 4; c++)
        rotation[c] = (float)turn[c];
}

ex_result exi_person_stand(exi_person *person, const exi_stance *stance, ex_error *error) {
    ex_motion *motion = NULL;
    ex_result result = EX_OK;
    ex_rig_rest_pose(person->rig, &person->pose);
    if (stance->clip)
        result = ex_rig_motion(person->rig, &(ex_motion_options){.clip = stance->clip}, &motion, error);
    if (motion) {
        const ex_pose *from = &motion->poses[stance->key];
        memcpy(person->pose.inputs, from->inputs, (size_t)ex_rig_pose_size(person->rig) * sizeof *from->inputs);
        memcpy(person->pose.joints, from->joints, (size_t)ex_rig_joint_count(person->rig) * sizeof *from->joints);
    }
    ex_motion_destroy(motion);
    for (int i = 0; i < EXI_STANCE_TURNS && stance->turns[i].joint; i++)
        exi_person_turn(person, stance->turns[i].joint, stance->turns[i].side, stance->turns[i].axis,
                        stance->turns[i].degrees);
    return result;
}

void exi_person_evaluate(const exi_person *person) {
    ex_rig_evaluate(person->rig, &person->pose, &(ex_output){.positions = person->positions}, NULL, person->scratch);
}

/* Joints come after their parents. */
static void find_axes(exi_person *person) {
    const ex_skeleton *skeleton = ex_rig_skeleton(person->rig);
    for (int j = 0; j < ex_skeleton_joint_count(skeleton); j++) {
        const ex_transform rest = ex_skeleton_rest(skeleton, j);
        const int parent = ex_skeleton_parent(skeleton, j);
        for (int c = 0; c < 4; c++)
            person->axes[j][c] = (double)rest.rotation[c];
        if (parent >= 0)
            quaternion_multiply(person->axes[parent], person->axes[j], person->axes[j]);
    }
}

ex_result exi_person_open(exi_person **opened, ex_error *error) {
    exi_person *person = *opened = calloc(1, sizeof *person);
    if (!person)
        return ex_error_memory(error, "a body", sizeof *person);
    const ex_result result = exi_person_rig(&person->rig, error);
    if (result != EX_OK)
        return result;
    person->pose = ex_pose_create(person->rig);
    person->scratch = malloc(ex_rig_scratch_size(person->rig, NULL, 1));
    person->positions = array_allocate(3 * (size_t)ex_rig_vertex_count(person->rig), sizeof *person->positions);
    person->axes = array_allocate((size_t)ex_rig_joint_count(person->rig), sizeof *person->axes);
    if (!person->pose.inputs || !person->scratch || !person->positions || !person->axes)
        return ex_error_memory(error, "a body", 0);
    ex_rig_rest_pose(person->rig, &person->pose);
    find_axes(person);
    return EX_OK;
}

void exi_person_close(exi_person *person) {
    if (!person)
        return;
    ex_rig_destroy(person->rig);
    free(person->pose.inputs);
    free(person->scratch);
    free(person->positions);
    free(person->axes);
    free(person);
}
