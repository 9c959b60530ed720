/*
 * Writes clips to BVH files. A BVH skeleton has no rotations at rest: its joints are parallel to the world's axes
 * there. So the rest is written as offsets between joint positions, and the motion as rotations relative to it,
 *
 *     D_j(t) = W_j(t) W_j(0)^-1,    channels = D_parent^-1 D_j = R_z R_x R_y
 *
 * which leaves every joint where it was, at rest and in motion. Of the angles that give the same rotation, those
 * nearest to the frame before are written, so that curves do not jump. A clip that could not be read back is refused.
 */
#include "author/base/array.h"
#include "author/formats/motion/bvh.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/base/vector.h"

#include <exemplar/author/base.h>
#include <exemplar/author/clip.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE 0.017453292519943295769

/* Times may differ from even ones by this fraction of a frame. */
#define UNEVEN 0.01

typedef struct place {
    double turn[4];
    double at[3];
} place;

typedef struct work {
    const ex_clip *clip;
    int *order;          /* [joint_count]: order in the file, each joint right before its children */
    int *depths;         /* [joint_count] */
    bool *moves;         /* [joint_count]: true if it has position channels too */
    place *rest, *now;   /* [joint_count]: in the world */
    double (*angles)[3]; /* [joint_count]: z, x, y of the frame before */
    int bad_joint;       /* the first with a number that cannot be read; -1: none */
    int bad_frame;       /* -1: its rest */
} work;

/* ---- joint positions ---- */

static void read_turn(const float from[4], double turn[4]) {
    double length = 0;
    for (int i = 0; i < 4; i++)
        length += (double)from[i] * (double)from[i];
    for (int i = 0; i < 4; i++)
        turn[i] = length > 0 ? (double)from[i] / sqrt(length) : i == 3;
}

static void rotate(const double q[4], const double v[3], double out[3]) {
    double t[3], u[3];
    for (int i = 0; i < 3; i++)
        t[i] = 2 * (q[(i + 1) % 3] * v[(i + 2) % 3] - q[(i + 2) % 3] * v[(i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        u[i] = q[(i + 1) % 3] * t[(i + 2) % 3] - q[(i + 2) % 3] * t[(i + 1) % 3];
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + q[3] * t[i] + u[i];
}

/* locals NULL: at rest. */
static void find_places(const ex_clip *clip, const ex_transform *locals, place *places) {
    for (int j = 0; j < clip->joint_count; j++) {
        const ex_transform *local = locals ? &locals[j] : &clip->joints[j].rest;
        const place *above = clip->joints[j].parent >= 0 ? &places[clip->joints[j].parent] : NULL;
        double turn[4], at[3];
        read_turn(local->rotation, turn);
        for (int i = 0; i < 3; i++)
            at[i] = (double)local->translation[i];
        if (above) {
            rotate(above->turn, at, at);
            exi_quaternion_multiply(above->turn, turn, turn);
        }
        for (int i = 0; i < 3; i++)
            places[j].at[i] = at[i] + (above ? above->at[i] : 0);
        memcpy(places[j].turn, turn, sizeof turn);
    }
}

static void inverse(const double q[4], double out[4]) {
    for (int i = 0; i < 4; i++)
        out[i] = i < 3 ? -q[i] : q[i];
}

/* Computes D_j; the identity if there is no joint. */
static void turned_by(const work *w, int joint, double turn[4]) {
    double back[4];
    memcpy(turn, (const double[4]){0, 0, 0, 1}, 4 * sizeof *turn);
    if (joint < 0)
        return;
    inverse(w->rest[joint].turn, back);
    exi_quaternion_multiply(w->now[joint].turn, back, turn);
}

/* Computes rotation and position of a joint now, relative to its parent, in BVH's sense. */
static void find_local(const work *w, int joint, double turn[4], double at[3]) {
    const int parent = w->clip->joints[joint].parent;
    double above[4], back[4];
    turned_by(w, parent, above);
    turned_by(w, joint, turn);
    inverse(above, back);
    exi_quaternion_multiply(back, turn, turn);
    for (int i = 0; i < 3; i++)
        at[i] = w->now[joint].at[i] - (parent >= 0 ? w->now[parent].at[i] : 0);
    rotate(back, at, at);
}

static double offset(const work *w, int joint, int axis) {
    const int parent = w->clip->joints[joint].parent;
    return w->rest[joint].at[axis] - (parent >= 0 ? w->rest[parent].at[axis] : 0);
}

/* ---- angles ---- */

static double nearest_turn(double angle, double before) {
    return angle + 360 * floor((before - angle) / 360 + 0.5);
}

/* z, x, y in degrees, R = R_z R_x R_y; before: the angles of the frame before, which are replaced. */
static void find_angles(const double q[4], double before[3]) {
    double column[3][3], found[2][3], distances[2] = {0};
    for (int i = 0; i < 3; i++)
        rotate(q, (const double[3]){i == 0, i == 1, i == 2}, column[i]);
    const double across = sqrt(column[0][2] * column[0][2] + column[2][2] * column[2][2]);
    found[0][1] = atan2(column[1][2], across) / DEGREE;
    if (across > 1e-9) {
        found[0][0] = atan2(-column[1][0], column[1][1]) / DEGREE;
        found[0][2] = atan2(-column[0][2], column[2][2]) / DEGREE;
    } else { /* z and y rotate about the same axis: z takes all */
        found[0][0] = atan2(column[0][1], column[0][0]) / DEGREE;
        found[0][2] = 0;
    }
    found[1][0] = found[0][0] + 180;
    found[1][1] = 180 - found[0][1];
    found[1][2] = found[0][2] + 180;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) {
            found[k][i] = nearest_turn(found[k][i], before[i]);
            distances[k] += fabs(found[k][i] - before[i]);
        }
    memcpy(before, found[distances[1] < distances[0] - 1e-6], 3 * sizeof *before);
}

/* ---- the file ---- */

static void put_number(ex_file_writer *file, double value) {
    char text[33];
    text[0] = ' ';
    const int size = ex_format_float(text + 1, (float)value);
    ex_file_write(file, text, (size_t)size + 1);
}

static void put_joint_number(ex_file_writer *file, work *w, int joint, int frame, double value) {
    if (w->bad_joint < 0 && !(fabs(value) < EXI_BVH_NUMBER_MOST)) {
        w->bad_joint = joint;
        w->bad_frame = frame;
    }
    put_number(file, value);
}

static void put_offset(ex_file_writer *file, work *w, int joint, int depth) {
    ex_file_printf(file, "%*sOFFSET", 2 * depth, "");
    for (int i = 0; i < 3; i++)
        put_joint_number(file, w, joint, -1, joint >= 0 ? offset(w, joint, i) : 0);
    ex_file_printf(file, "\n");
}

static void put_end(ex_file_writer *file, work *w, int joint, int depth) {
    ex_file_printf(file, "%*sEnd Site\n%*s{\n", 2 * depth, "", 2 * depth, "");
    put_offset(file, w, joint, depth + 1);
    ex_file_printf(file, "%*s}\n", 2 * depth, "");
}

/* Replaces what would end a name: braces, colons, control characters, and blanks at both ends. */
static char name_character(const char *name, size_t i) {
    const bool outer = i == 0 || name[i + 1] == 0;
    return strchr("{}:\x7F", name[i]) || (name[i] > 0 && name[i] < ' ') || (outer && name[i] == ' ') ? '_' : name[i];
}

static void put_name(ex_file_writer *file, const char *name) {
    for (size_t i = 0; name[i]; i++)
        ex_file_printf(file, "%c", name_character(name, i));
}

static bool is_readable(const char *name) {
    char text[EXI_NAME_MAX + 2] = {0};
    for (size_t i = 0; name && name[i] && i <= EXI_NAME_MAX; i++)
        text[i] = name_character(name, i);
    return exi_is_name(text);
}

static void put_joints(ex_file_writer *file, work *w) {
    const int count = w->clip->joint_count;
    ex_file_printf(file, "HIERARCHY\n");
    for (int i = 0; i < count; i++) {
        const int j = w->order[i], depth = w->depths[j], next = i + 1 < count ? w->depths[w->order[i + 1]] : 0;
        if (w->clip->joints[j].end) {
            put_end(file, w, j, depth);
        } else {
            ex_file_printf(file, "%*s%s ", 2 * depth, "", depth == 0 ? "ROOT" : "JOINT");
            put_name(file, w->clip->joints[j].name);
            ex_file_printf(file, "\n%*s{\n", 2 * depth, "");
            put_offset(file, w, j, depth + 1);
            ex_file_printf(file, "%*sCHANNELS %sZrotation Xrotation Yrotation\n", 2 * depth + 2, "",
                           w->moves[j] ? "6 Xposition Yposition Zposition " : "3 ");
            if (next <= depth) /* readers expect the end of a bone */
                put_end(file, w, -1, depth + 1);
        }
        for (int d = depth - w->clip->joints[j].end; d >= next; d--)
            ex_file_printf(file, "%*s}\n", 2 * d, "");
    }
}

static double frame_time(const ex_clip *clip) {
    const int last = clip->frame_count - 1;
    return last > 0 ? (clip->times[last] - clip->times[0]) / last : 1.0 / 24;
}

static void put_frames(ex_file_writer *file, work *w) {
    const ex_clip *clip = w->clip;
    const int last = clip->frame_count - 1;
    ex_file_printf(file, "MOTION\nFrames: %d\nFrame Time:", clip->frame_count);
    put_number(file, frame_time(clip));
    ex_file_printf(file, "\n");
    for (int f = 0; f <= last; f++) {
        find_places(clip, clip->locals + (size_t)f * (size_t)clip->joint_count, w->now);
        for (int i = 0; i < clip->joint_count; i++) {
            const int j = w->order[i];
            double turn[4], at[3];
            if (clip->joints[j].end)
                continue;
            find_local(w, j, turn, at);
            find_angles(turn, w->angles[j]);
            for (int k = 0; k < 3 && w->moves[j]; k++)
                put_joint_number(file, w, j, f, at[k]);
            for (int k = 0; k < 3; k++)
                put_joint_number(file, w, j, f, w->angles[j][k]);
        }
        ex_file_printf(file, "\n");
    }
}

/* ---- preparation ---- */

static void order_below(work *w, int parent, int depth, int *count) {
    for (int j = parent + 1; j < w->clip->joint_count; j++)
        if (w->clip->joints[j].parent == parent) {
            w->depths[j] = depth;
            w->order[(*count)++] = j;
            order_below(w, j, depth + 1, count);
        }
}

/* Finds joints that ever move relative to their parent. */
static void find_moving(work *w) {
    const ex_clip *clip = w->clip;
    double size = 0;
    for (int j = 0; j < clip->joint_count; j++)
        for (int i = 0; i < 3; i++)
            size = fabs(offset(w, j, i)) > size ? fabs(offset(w, j, i)) : size;
    for (int f = 0; f < clip->frame_count; f++) {
        find_places(clip, clip->locals + (size_t)f * (size_t)clip->joint_count, w->now);
        for (int j = 0; j < clip->joint_count; j++) {
            double turn[4], at[3];
            find_local(w, j, turn, at);
            for (int i = 0; i < 3; i++)
                w->moves[j] = w->moves[j] || fabs(at[i] - offset(w, j, i)) > 1e-5 * size;
        }
    }
    for (int j = 0; j < clip->joint_count; j++)
        w->moves[j] = w->moves[j] || (clip->joints[j].parent < 0 && clip->root_moves);
}

static ex_result check_joints(const ex_clip *clip, const char *path, ex_error *error) {
    int count = clip->joint_count;
    for (int j = 0; j < clip->joint_count; j++) {
        const ex_clip_joint *joint = &clip->joints[j];
        if (!is_readable(joint->name))
            return ex_error_set(error, EX_ERROR_DATA,
                                "cannot write '%s': joint %d has no name of 1 to %d bytes of readable text", path, j,
                                EXI_NAME_MAX);
        if (joint->parent < -1 || joint->parent >= j || (joint->end && joint->parent < 0))
            return ex_error_set(error, EX_ERROR_DATA,
                                "cannot write '%s': the parent of joint '%s' is not a joint before it", path,
                                joint->name);
        bool leads = joint->end || clip->joint_count <= EX_JOINT_MAX / 2;
        for (int k = j + 1; k < clip->joint_count && !leads; k++)
            leads = clip->joints[k].parent == j;
        count += !leads; /* an end is written for it */
    }
    if (count > EX_JOINT_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "cannot write '%s': it would have more than %d joints", path,
                            EX_JOINT_MAX);
    return EX_OK;
}

static ex_result check_clip(const ex_clip *clip, const char *path, ex_error *error) {
    const int last = clip->frame_count - 1;
    const double step = frame_time(clip);
    ex_result result = check_joints(clip, path, error);
    if (result != EX_OK)
        return result;
    if (!((float)step > 0) || !(step < EXI_BVH_NUMBER_MOST))
        return ex_error_set(error, EX_ERROR_DATA,
                            "cannot write '%s': its %d frames go from %g s to %g s, and each must come after the last",
                            path, clip->frame_count, clip->times[0], clip->times[last]);
    for (int f = 1; f < last; f++) {
        if (!(fabs(clip->times[f] - clip->times[0] - f * step) <= UNEVEN * step))
            return ex_error_set(error, EX_ERROR_DATA,
                                "%s: BVH needs evenly spaced frames, but frame %d is at %g s, not at %g s", path, f + 1,
                                clip->times[f], clip->times[0] + f * step);
    }
    for (int j = 0; j < clip->joint_count; j++)
        for (int k = j + 1; k < clip->joint_count && clip->joints[j].end; k++)
            if (clip->joints[k].parent == j)
                return ex_error_set(error, EX_ERROR_DATA, "%s: '%s' is the end of a bone, so '%s' cannot be its child",
                                    path, clip->joints[j].name, clip->joints[k].name);
    return EX_OK;
}

static ex_result abandon(ex_file_writer *file, const work *w, const char *path, ex_error *error) {
    char when[32] = "at rest";
    ex_file_abandon(file);
    if (w->bad_frame >= 0)
        snprintf(when, sizeof when, "in frame %d", w->bad_frame + 1);
    return ex_error_set(
        error, EX_ERROR_DATA,
        "cannot write '%s': a number of joint '%s' %s is not finite, or beyond " EXI_BVH_NUMBER_MOST_TEXT, path,
        w->clip->joints[w->bad_joint].name, when);
}

ex_result ex_bvh_write(const char *path, const ex_clip *clip, ex_error *error) {
    if (!path || !clip || clip->joint_count < 1 || clip->frame_count < 1 || clip->joints[0].end)
        return exi_misuse_error(error, __func__, "no path, or no clip with joints and frames");
    const size_t count = (size_t)clip->joint_count;
    work w = {.clip = clip,
              .order = exi_array_allocate(2 * count, sizeof *w.order),
              .moves = calloc(count, sizeof *w.moves),
              .rest = exi_array_allocate(2 * count, sizeof *w.rest),
              .angles = calloc(count, sizeof *w.angles),
              .bad_joint = -1};
    ex_result result = check_clip(clip, path, error);
    if (result == EX_OK && !(w.order && w.moves && w.rest && w.angles))
        result = ex_error_memory(error, "the motion", count * sizeof *w.rest);
    if (result == EX_OK) {
        ex_file_writer file;
        int ordered = 0;
        w.depths = w.order + count;
        w.now = w.rest + count;
        order_below(&w, -1, 0, &ordered);
        find_places(clip, NULL, w.rest);
        find_moving(&w);
        result = ex_file_open(&file, path, error);
        if (result == EX_OK) {
            put_joints(&file, &w);
            put_frames(&file, &w);
            result = w.bad_joint < 0 ? ex_file_commit(&file, error) : abandon(&file, &w, path, error);
        }
    }
    free(w.order);
    free(w.moves);
    free(w.rest);
    free(w.angles);
    return result;
}
