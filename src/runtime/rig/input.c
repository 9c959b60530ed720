/*
 * Inputs and poses: a dial's numbers are in the pose; an input with a joint is read from the joint's local transform
 * relative to its rest (exemplar/pose.h), and setting it writes that transform.
 */
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <string.h>

static void rest_of(const exi_input_record *input, double *value) {
    if (input->axis.kind == EX_AXIS_SCALAR)
        *value = input->axis.rest;
    else
        memcpy(value, input->axis.rest_rotation, sizeof input->axis.rest_rotation);
}

void ex_rig_rest_pose(const ex_rig *rig, const ex_pose *pose) {
    if (!rig || !pose) {
        exi_misuse(__func__, "no rig or no pose");
        return;
    }
    const exi_input_record *inputs = exi_rig_inputs(rig);
    for (int i = 0; pose->inputs && i < rig->counts.inputs; i++)
        if (inputs[i].offset >= 0)
            rest_of(&inputs[i], pose->inputs + inputs[i].offset);
    for (int j = 0; pose->joints && j < rig->counts.joints; j++)
        pose->joints[j] = ex_skeleton_rest(ex_rig_skeleton(rig), j);
}

void ex_rig_get_input(const ex_rig *rig, int input, const ex_pose *pose, double *value) {
    if (!rig || !value || input < 0 || input >= rig->counts.inputs) {
        exi_misuse(__func__, "no such input, or no pointer for its value");
        return;
    }
    const exi_input_record *record = &exi_rig_inputs(rig)[input];
    if (record->joint >= 0) { /* read at rest, too, so that missing joints and joints given at rest agree */
        const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(rig), record->joint);
        const ex_reading reading = exi_input_reading(record);
        ex_reading_read(&reading, &rest, pose && pose->joints ? &pose->joints[record->joint] : &rest, value);
    } else if (record->axis.kind == EX_AXIS_DRIVER) { /* a form is not a number */
        *value = 0;
    } else if (pose && pose->inputs) {
        memcpy(value, pose->inputs + record->offset, (record->axis.kind == EX_AXIS_SCALAR ? 1 : 4) * sizeof *value);
    } else {
        rest_of(record, value);
    }
}

void ex_rig_set_input(const ex_rig *rig, int input, const double *value, const ex_pose *pose) {
    if (!rig || !value || !pose || input < 0 || input >= rig->counts.inputs) {
        exi_misuse(__func__, "no such input, or no value or pose");
        return;
    }
    const exi_input_record *record = &exi_rig_inputs(rig)[input];
    if (record->axis.kind == EX_AXIS_DRIVER) {
        exi_misuse(__func__, "a driver is set as ex_pose.driver");
        return;
    }
    if (record->joint < 0 ? !pose->inputs : !pose->joints) {
        exi_misuse(__func__, "the pose has no array for this input");
        return;
    }
    if (record->joint < 0) {
        memcpy(pose->inputs + record->offset, value, (record->axis.kind == EX_AXIS_SCALAR ? 1 : 4) * sizeof *value);
        return;
    }
    ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(rig), record->joint);
    ex_reading reading = exi_input_reading(record);
    ex_reading_write(&reading, &rest, value, &pose->joints[record->joint]);
}

/* Numbers of an input; 0 for none of the rig, which the single functions report. */
static size_t width_of(const ex_rig *rig, int input) {
    if (input < 0 || input >= rig->counts.inputs)
        return 0;
    const ex_axis_kind kind = exi_rig_inputs(rig)[input].axis.kind;
    return kind == EX_AXIS_SCALAR || kind == EX_AXIS_DRIVER ? 1 : 4;
}

static bool is_many(const ex_rig *rig, int input, int pose_count, const double *values, const ex_pose *poses) {
    return rig && input >= 0 && input < rig->counts.inputs && pose_count >= 0 && (pose_count == 0 || (values && poses));
}

void ex_rig_set_input_many(const ex_rig *rig, int input, int pose_count, const double *values, const ex_pose *poses) {
    if (!is_many(rig, input, pose_count, values, poses)) {
        exi_misuse(__func__, "no such input, no values or poses, or a negative number of poses");
        return;
    }
    const size_t width = width_of(rig, input);
    for (int i = 0; i < pose_count; i++)
        ex_rig_set_input(rig, input, values + width * (size_t)i, &poses[i]);
}

void ex_rig_get_input_many(const ex_rig *rig, int input, int pose_count, const ex_pose *poses, double *values) {
    if (!is_many(rig, input, pose_count, values, poses)) {
        exi_misuse(__func__, "no such input, no values or poses, or a negative number of poses");
        return;
    }
    const size_t width = width_of(rig, input);
    for (int i = 0; i < pose_count; i++)
        ex_rig_get_input(rig, input, &poses[i], values + width * (size_t)i);
}
