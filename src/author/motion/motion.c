/*
 * Motions: poses of a rig over time, from clips, tables of poses and files. Of q and -q, which are the same rotation, a
 * pose uses the one nearer to the previous pose, so that a track of quaternions has no jumps. Where the joint comes
 * nearest to its rest, it has the sign of the rest: skeletons take signs beyond 150 degrees from the pose
 * (ex_skeleton_output), and shorter arcs below.
 */
#include "author/motion/motion.h"
#include "author/base/array.h"
#include "author/formats/foreign.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_FPS 24.0
/* Room for a list of clips in a sentence. */
enum { CLIP_LIST = 240 };

/* ---- poses ---- */

/* Allocates poses at rest and their arrays in one block, which begins with the poses; NULL without memory. */
static ex_pose *create_poses(const ex_rig *rig, int count) {
    const size_t inputs = (size_t)ex_rig_pose_size(rig), joints = (size_t)ex_rig_joint_count(rig);
    exi_size size = {0}, pose_size = {0};
    exi_size_add(&pose_size, inputs, sizeof(double), sizeof(double));
    const size_t joints_at = exi_size_add(&pose_size, joints, sizeof(ex_transform), sizeof(double));
    exi_size_add(&pose_size, 0, 1, sizeof(double));
    exi_size_add(&size, (size_t)count, sizeof(ex_pose), sizeof(double));
    const size_t first = exi_size_add(&size, (size_t)count, pose_size.bytes, sizeof(double));
    char *block = size.overflow || pose_size.overflow ? NULL : malloc(size.bytes + 1);
    ex_pose *poses = (ex_pose *)(void *)block;
    for (size_t i = 0; block && i < (size_t)count; i++) {
        char *at = block + first + i * pose_size.bytes;
        poses[i] = (ex_pose){.inputs = (double *)(void *)at,
                             .joints = joints ? (ex_transform *)(void *)(at + joints_at) : NULL};
        ex_rig_rest_pose(rig, &poses[i]);
    }
    return poses;
}

/* Notes the range of the file's own frames. */
static void set_range(ex_motion *motion, const double *times, int count) {
    motion->first = times[0];
    motion->last = times[count - 1];
}

static ex_motion *create_motion(const ex_rig *rig, int count, const double *times) {
    ex_motion *motion = calloc(1, sizeof *motion);
    if (!motion)
        return NULL;
    *motion = (ex_motion){.pose_count = count, .scale = 1};
    motion->times = exi_array_copy(times, (size_t)count, sizeof *times);
    motion->poses = motion->times ? create_poses(rig, count) : NULL;
    if (motion->poses) {
        set_range(motion, times, count);
        return motion;
    }
    ex_motion_destroy(motion);
    return NULL;
}

static ex_result no_memory(const ex_rig *rig, int count, ex_error *error) {
    const size_t pose = (size_t)ex_rig_pose_size(rig) * sizeof(double) +
                        (size_t)ex_rig_joint_count(rig) * sizeof(ex_transform) + sizeof(ex_pose);
    return ex_error_memory(error, "the motion", (size_t)count * pose);
}

/* Returns the offset in inputs of a rotation among the pose's dials, or -1. */
static int rotation_offset(const ex_rig *rig, int input) {
    return ex_rig_input_axis(rig, input).kind == EX_AXIS_SCALAR ? -1 : ex_rig_input_offset(rig, input);
}

static double product(const float a[4], const float b[4]) {
    return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2] +
           (double)a[3] * (double)b[3];
}

/* Gives the whole track of a joint the sign that its rest has, at the pose nearest to that. */
static void sign_as_rest(const ex_rig *rig, const ex_motion *motion, int joint) {
    const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(rig), joint);
    double nearest = 0;
    for (int p = 0; p < motion->pose_count; p++) {
        const double along = product(motion->poses[p].joints[joint].rotation, rest.rotation);
        nearest = fabs(along) > fabs(nearest) ? along : nearest;
    }
    for (int p = 0; p < motion->pose_count && nearest < 0; p++)
        for (int i = 0; i < 4; i++)
            motion->poses[p].joints[joint].rotation[i] = -motion->poses[p].joints[joint].rotation[i];
}

static void keep_signs(const ex_rig *rig, const ex_motion *motion) {
    const int joints = ex_rig_joint_count(rig), inputs = ex_rig_input_count(rig);
    for (int p = 1; p < motion->pose_count; p++) {
        const ex_pose *before = &motion->poses[p - 1], *pose = &motion->poses[p];
        for (int j = 0; j < joints; j++) {
            const float *a = before->joints[j].rotation;
            float *b = pose->joints[j].rotation;
            if (product(a, b) < 0)
                for (int i = 0; i < 4; i++)
                    b[i] = -b[i];
        }
        for (int k = 0; k < inputs; k++) {
            const int at = rotation_offset(rig, k);
            if (at < 0)
                continue;
            const double *a = before->inputs + at;
            double *b = pose->inputs + at;
            if (a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0)
                for (int i = 0; i < 4; i++)
                    b[i] = -b[i];
        }
    }
    for (int j = 0; j < joints; j++)
        sign_as_rest(rig, motion, j);
}

/* ---- from clips ---- */

static void fill_dials(const ex_clip *clip, const ex_rig *rig, const exi_match *match, const ex_motion *motion) {
    for (int i = 0; i < match->input_count; i++)
        for (int p = 0; match->dials[i] >= 0 && p < motion->pose_count; p++)
            motion->poses[p].inputs[ex_rig_input_offset(rig, i)] = (double)clip->dials[match->dials[i]].values[p];
}

static ex_result fill_joints(const ex_clip *clip, const ex_rig *rig, const exi_match *match, ex_motion *motion,
                             ex_error *error) {
    exi_retarget retarget;
    if (match->joint_count == 0)
        return EX_OK;
    ex_result result = exi_retarget_open(&retarget, clip, rig, match, error);
    if (result != EX_OK)
        return result;
    for (int p = 0; p < motion->pose_count; p++)
        exi_retarget_frame(&retarget, p, motion->poses[p].joints);
    motion->scale = retarget.own ? 1 : retarget.scale;
    exi_retarget_close(&retarget);
    return EX_OK;
}

ex_result ex_motion_from_clip(const ex_clip *clip, const ex_rig *rig, const ex_joint_map *map, ex_motion **motion,
                              ex_error *error) {
    if (!clip || !rig || !motion || clip->frame_count < 1)
        return exi_misuse_error(error, __func__, "no clip with frames, no rig, or no pointer for the motion");
    exi_match match;
    *motion = NULL;
    ex_result result = exi_match_make(clip, rig, map, &match, error);
    if (result != EX_OK)
        return result;
    ex_motion *made = create_motion(rig, clip->frame_count, clip->times);
    result = made ? fill_joints(clip, rig, &match, made, error) : no_memory(rig, clip->frame_count, error);
    if (result == EX_OK) {
        fill_dials(clip, rig, &match, made);
        keep_signs(rig, made);
        made->matched_count = match.matched_count;
        *motion = made;
    } else {
        ex_motion_destroy(made);
    }
    exi_match_free(&match);
    return result;
}

/* ---- from tables ---- */

static ex_result time_table(const char *path, ex_pose_table *table, ex_error *error) {
    const bool timed = table->times != NULL;
    if (!timed)
        table->times = exi_array_allocate((size_t)table->pose_count, sizeof *table->times);
    if (!table->times)
        return ex_error_memory(error, "the times of the motion", (size_t)table->pose_count * sizeof(double));
    for (int p = 0; p < table->pose_count; p++) {
        if (!timed)
            table->times[p] = p / TABLE_FPS;
        else if (p > 0 && !(table->times[p] > table->times[p - 1]))
            return ex_error_set(error, EX_ERROR_DATA,
                                "%s: pose %d is at %g s, but the one before it is at %g s: times must increase", path,
                                p + 1, table->times[p], table->times[p - 1]);
    }
    return EX_OK;
}

static void blend_inputs(const ex_rig *rig, const ex_pose *a, const ex_pose *b, double part, const ex_pose *out) {
    for (int i = 0; i < ex_rig_pose_size(rig); i++)
        out->inputs[i] = (1 - part) * a->inputs[i] + part * b->inputs[i];
    for (int k = 0; k < ex_rig_input_count(rig); k++) {
        const int at = rotation_offset(rig, k);
        if (at < 0)
            continue;
        ex_transform x = ex_transform_identity(), y = x;
        for (int i = 0; i < 4; i++) {
            x.rotation[i] = (float)a->inputs[at + i];
            y.rotation[i] = (float)b->inputs[at + i];
        }
        x = ex_transform_interpolate(&x, &y, part);
        for (int i = 0; i < 4; i++)
            out->inputs[at + i] = (double)x.rotation[i];
    }
}

/* Interpolates a table's poses at a time. */
static void sample_table(const ex_rig *rig, const ex_pose_table *table, double time, const ex_pose *out) {
    double part;
    const int at = exi_find_time(table->times, table->pose_count, time, &part), joints = ex_rig_joint_count(rig);
    const ex_pose *a = &table->poses[at], *b = part > 0 ? a + 1 : a;
    const ex_pose *whole = part == 0 ? a : part == 1 ? b : NULL;
    if (whole)
        memcpy(out->inputs, whole->inputs, (size_t)ex_rig_pose_size(rig) * sizeof *out->inputs);
    else
        blend_inputs(rig, a, b, part, out);
    for (int j = 0; j < joints; j++)
        out->joints[j] = whole ? whole->joints[j] : ex_transform_interpolate(&a->joints[j], &b->joints[j], part);
}

/* Counts joints and dials that leave rest in any pose. */
static ex_result count_moved(const ex_rig *rig, ex_motion *motion, ex_error *error) {
    ex_pose rest = ex_pose_create(rig);
    if (!rest.inputs)
        return ex_error_memory(error, "a pose", sizeof rest);
    for (int j = 0; j < ex_rig_joint_count(rig); j++) {
        bool moved = false;
        for (int p = 0; p < motion->pose_count && !moved; p++)
            moved = memcmp(&motion->poses[p].joints[j], &rest.joints[j], sizeof rest.joints[j]) != 0;
        motion->matched_count += moved;
    }
    for (int k = 0; k < ex_rig_input_count(rig); k++) {
        const int at = ex_rig_input_offset(rig, k), width = ex_rig_input_axis(rig, k).kind == EX_AXIS_SCALAR ? 1 : 4;
        bool moved = false;
        for (int p = 0; at >= 0 && p < motion->pose_count && !moved; p++)
            for (int i = 0; i < width; i++)
                moved = moved || motion->poses[p].inputs[at + i] != rest.inputs[at + i];
        motion->matched_count += moved;
    }
    free(rest.inputs);
    return EX_OK;
}

static ex_result read_table(const char *path, const ex_rig *rig, const ex_motion_options *options, ex_motion **motion,
                            ex_error *error) {
    ex_pose_table table;
    double *times = NULL;
    int count = 0;
    ex_result result = ex_pose_table_read(path, rig, &table, error);
    if (result != EX_OK)
        return result;
    result = time_table(path, &table, error);
    if (result == EX_OK)
        result = exi_motion_times(path, options, table.times, table.pose_count, &times, &count, error);
    ex_motion *made = result == EX_OK ? create_motion(rig, count, times) : NULL;
    if (result == EX_OK && !made)
        result = no_memory(rig, count, error);
    for (int p = 0; made && p < count; p++)
        sample_table(rig, &table, times[p], &made->poses[p]);
    if (made) {
        set_range(made, table.times, table.pose_count);
        keep_signs(rig, made);
        result = count_moved(rig, made, error);
    }
    if (result == EX_OK)
        *motion = made;
    else
        ex_motion_destroy(made);
    free(times);
    ex_pose_table_free(&table);
    return result;
}

/* ---- from files ---- */

static ex_result bring(const char *path, const ex_clip *clip, const ex_rig *rig, const ex_motion_options *options,
                       ex_motion **motion, ex_error *error) {
    return ex_error_within(error, ex_motion_from_clip(clip, rig, options ? options->map : NULL, motion, error), "%s",
                           path);
}

static bool wants_all(const ex_motion_options *o) {
    return !o || (o->fps == 0 && o->start == 0 && o->end == 0);
}

/* Resamples the clip before retargeting, since the rig may have many times as many joints. */
static ex_result read_bvh(const char *path, const ex_rig *rig, const ex_motion_options *options, ex_motion **motion,
                          ex_error *error) {
    ex_clip *clip = NULL, *sampled = NULL;
    double *times = NULL;
    int count = 0;
    ex_result result = ex_bvh_read(path, &clip, error);
    if (result == EX_OK && !wants_all(options)) {
        result = exi_motion_times(path, options, clip->times, clip->frame_count, &times, &count, error);
        if (result == EX_OK)
            result = exi_clip_resample(clip, times, count, &sampled, error);
    }
    if (result == EX_OK)
        result = bring(path, sampled ? sampled : clip, rig, options, motion, error);
    if (result == EX_OK)
        set_range(*motion, clip->times, clip->frame_count);
    free(times);
    ex_clip_destroy(sampled);
    ex_clip_destroy(clip);
    return result;
}

/* Lists names as "'walk', 'run' and 9 more", as many as the room holds. */
static void list_names(const char *const *names, int count, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < count; i++) {
        const bool last = i == count - 1;
        const size_t needed = strlen(names[i]) + sizeof "', ''" + (last ? 0 : sizeof " and 1000000000 more");
        if (used + needed > size) {
            snprintf(text + used, size - used, "%s%d more", i > 0 ? " and " : "", count - i);
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s'%s'", i > 0 ? ", " : "", names[i]);
    }
}

/* Finds the clip of that name, or else of that number, counting from 1; NULL: the first. */
static ex_result find_clip(const ex_scene *scene, const char *name, int *animation, ex_error *error) {
    const char *at = name, *end = name ? name + strlen(name) : NULL;
    int number = 0;
    *animation = 0;
    if (!scene || scene->animation_count == 0)
        return ex_error_set(error, EX_ERROR_DATA, "it has no clips (animations)");
    if (!name)
        return EX_OK;
    for (int a = 0; a < scene->animation_count; a++)
        if (scene->animations[a].name && strcmp(scene->animations[a].name, name) == 0) {
            *animation = a;
            return EX_OK;
        }
    if (ex_parse_int(&at, end, &number) && at == end && number >= 1 && number <= scene->animation_count) {
        *animation = number - 1;
        return EX_OK;
    }
    const char **names = exi_array_allocate((size_t)scene->animation_count, sizeof *names);
    if (!names)
        return ex_error_memory(error, "the names of clips", (size_t)scene->animation_count * sizeof *names);
    for (int a = 0; a < scene->animation_count; a++)
        names[a] = scene->animations[a].name ? scene->animations[a].name : "";
    const char *near = ex_suggest(name, names, scene->animation_count);
    char list[CLIP_LIST];
    list_names(names, scene->animation_count, list, sizeof list);
    if (near)
        ex_error_set(error, EX_ERROR_DATA, "there is no clip '%s'; did you mean '%s'? The clips are %s", name, near,
                     list);
    else
        ex_error_set(error, EX_ERROR_DATA, "there is no clip '%s': the clips are %s", name, list);
    free(names);
    return EX_ERROR_DATA;
}

/* Brings a clip of a scene to a rig; `where` is named in errors. */
static ex_result bring_scene(const char *where, const ex_scene *scene, const ex_rig *rig,
                             const ex_motion_options *options, ex_motion **motion, ex_error *error) {
    ex_clip *clip = NULL;
    double *keys = NULL, *times = NULL;
    int animation = 0, key_count = 0, count = 0;
    ex_result result = find_clip(scene, options ? options->clip : NULL, &animation, error);
    if (result == EX_OK)
        result = exi_scene_key_times(scene, animation, &keys, &key_count, error);
    result = ex_error_within(error, result, "%s", where);
    if (result == EX_OK)
        result = exi_motion_times(where, options, keys, key_count, &times, &count, error);
    if (result == EX_OK)
        result =
            ex_error_within(error, exi_scene_to_clip_at(scene, animation, times, count, &clip, error), "%s", where);
    if (result == EX_OK)
        result = bring(where, clip, rig, options, motion, error);
    if (result == EX_OK)
        set_range(*motion, keys, key_count);
    free(keys);
    free(times);
    ex_clip_destroy(clip);
    return result;
}

static ex_result read_scene(const char *path, const ex_rig *rig, const ex_motion_options *options, ex_motion **motion,
                            ex_error *error) {
    ex_scene *scene = NULL;
    ex_result result = ex_scene_read(path, &scene, error);
    if (result == EX_OK)
        result = bring_scene(path, scene, rig, options, motion, error);
    ex_scene_destroy(scene);
    return result;
}

ex_result ex_rig_motion(const ex_rig *rig, const ex_motion_options *options, ex_motion **motion, ex_error *error) {
    if (!rig || !motion || (options && options->map))
        return exi_misuse_error(error, __func__, "no rig, no pointer for the motion, or a map, which it cannot use");
    ex_scene *scene = NULL;
    *motion = NULL;
    ex_result result = ex_rig_clips(rig, &scene, error);
    if (result == EX_OK)
        result = bring_scene(options && options->rig_name ? options->rig_name : "the rig", scene, rig, options, motion,
                             error);
    ex_scene_destroy(scene);
    return result;
}

ex_result ex_motion_read(const char *path, const ex_rig *rig, const ex_motion_options *options, ex_motion **motion,
                         ex_error *error) {
    if (!path || !rig || !motion)
        return exi_misuse_error(error, __func__, "no path, no rig, or no pointer for the motion");
    *motion = NULL;
    if (ex_path_ends_with(path, ".bvh"))
        return read_bvh(path, rig, options, motion, error);
    if (ex_path_ends_with(path, ".glb") || ex_path_ends_with(path, ".gltf"))
        return read_scene(path, rig, options, motion, error);
    if (ex_path_ends_with(path, ".csv"))
        return read_table(path, rig, options, motion, error);
    return exi_foreign_ending(error, EXI_CONTENT_MOTION, path);
}
