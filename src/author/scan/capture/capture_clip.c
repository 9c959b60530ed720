/*
 * Converts motion capture to a clip, to drive other rigs, and to a fit's file.
 */
#include "author/scan/capture/capture.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ex_result no_memory(const ex_capture *capture, ex_error *error) {
    return ex_error_set(error, EX_ERROR_MEMORY, "not enough memory for the motion of %d frames", capture->frame_count);
}

/* ---- a clip ---- */

/* Computes the mean of the markers on a joint without children; returns false if it has children or no markers. */
static bool find_end(const ex_kinematics *kinematics, int joint, double end[3]) {
    int count = 0;
    for (int j = joint + 1; j < kinematics->joint_count; j++)
        if (kinematics->joints[j].parent == joint)
            return false;
    end[0] = end[1] = end[2] = 0;
    for (int s = 0; s < kinematics->site_count; s++)
        if (kinematics->sites[s].joint == joint) {
            for (int i = 0; i < 3; i++)
                end[i] += kinematics->sites[s].local[i];
            count++;
        }
    for (int i = 0; i < 3 && count > 0; i++)
        end[i] /= count;
    return count > 0;
}

static bool add_joint(ex_clip *clip, const char *name, const char *more, int parent, const double at[3]) {
    const size_t size = strlen(name) + strlen(more) + 1;
    ex_clip_joint *joint = &clip->joints[clip->joint_count];
    joint->name = malloc(size);
    if (!joint->name)
        return false;
    snprintf(joint->name, size, "%s%s", name, more);
    joint->parent = parent;
    joint->end = *more != '\0';
    joint->rest = ex_transform_identity();
    for (int i = 0; i < 3; i++)
        joint->rest.translation[i] = (float)at[i];
    clip->joint_count++;
    return true;
}

static bool add_joints(const ex_kinematics *kinematics, ex_clip *clip) {
    double end[3];
    bool good = true;
    for (int j = 0; j < kinematics->joint_count && good; j++)
        good = add_joint(clip, kinematics->joints[j].name, "", kinematics->joints[j].parent,
                         kinematics->joints[j].translation);
    for (int j = 0; j < kinematics->joint_count && good; j++)
        if (find_end(kinematics, j, end))
            good = add_joint(clip, kinematics->joints[j].name, "_end", j, end);
    return good;
}

ex_result ex_capture_to_clip(const ex_capture *capture, ex_clip **clip, ex_error *error) {
    if (!capture || !clip)
        return exi_misuse_error(error, __func__, "no motion, or no pointer for the clip");
    const ex_kinematics *kinematics = capture->kinematics;
    const size_t frames = (size_t)capture->frame_count, most = 2 * (size_t)kinematics->joint_count;
    ex_clip *made = calloc(1, sizeof *made);
    *clip = NULL;
    if (!made)
        return no_memory(capture, error);
    made->joints = calloc(most, sizeof *made->joints);
    made->times = exi_array_allocate(frames, sizeof *made->times);
    made->locals = exi_array_allocate(frames * most, sizeof *made->locals);
    if (!made->joints || !made->times || !made->locals || !add_joints(kinematics, made)) {
        ex_clip_destroy(made);
        return no_memory(capture, error);
    }
    made->frame_count = capture->frame_count;
    made->root_moves = true;
    for (size_t f = 0; f < frames; f++) {
        ex_transform *locals = made->locals + f * (size_t)made->joint_count;
        made->times[f] = (double)f / (capture->rate > 0 ? capture->rate : 100);
        for (int j = 0; j < made->joint_count; j++)
            locals[j] = made->joints[j].rest;
        for (int j = 0; j < kinematics->joint_count; j++) {
            const double *q = capture->poses[f].rotations[j];
            const ex_transform *before = f > 0 ? locals - made->joint_count : NULL;
            double along = 0;
            for (int i = 0; i < 4; i++)
                along += before ? q[i] * (double)before[j].rotation[i] : 0;
            for (int i = 0; i < 4; i++)
                locals[j].rotation[i] = (float)(along < 0 ? -q[i] : q[i]);
        }
        for (int i = 0; i < 3; i++)
            locals[0].translation[i] = (float)capture->poses[f].translation[i];
    }
    *clip = made;
    return EX_OK;
}

/* ---- a fit's file ---- */

ex_result ex_capture_to_fitted(const ex_capture *capture, ex_scan_fitted **fitted, ex_error *error) {
    if (!capture || !fitted)
        return exi_misuse_error(error, __func__, "no motion, or no pointer for the fit");
    const size_t count = (size_t)capture->frame_count, joints = (size_t)capture->kinematics->joint_count;
    ex_scan_fitted *made = calloc(1, sizeof *made);
    *fitted = NULL;
    if (!made)
        return no_memory(capture, error);
    made->scan_count = capture->frame_count;
    made->kinematics = ex_kinematics_copy(capture->kinematics);
    made->names = calloc(count, sizeof *made->names);
    made->poses = calloc(count, sizeof *made->poses);
    made->rms = calloc(count, sizeof *made->rms);
    bool good = made->kinematics && made->names && made->poses && made->rms;
    for (size_t f = 0; f < count && good; f++) {
        char name[32];
        const int size = snprintf(name, sizeof name, "frame_%lld", (long long)capture->first_frame + (long long)f);
        const ex_kin_pose *pose = &capture->poses[f];
        made->names[f] = exi_text_copy(name, (size_t)size);
        made->poses[f] = *pose;
        made->poses[f].rotations = exi_array_copy(pose->rotations, joints, sizeof *pose->rotations);
        made->rms[f] = isnan(capture->rms[f]) ? 0 : capture->rms[f];
        good = made->names[f] && made->poses[f].rotations;
    }
    if (!good) {
        ex_scan_fitted_destroy(made);
        return no_memory(capture, error);
    }
    *fitted = made;
    return EX_OK;
}
