/*
 * Angles of joints from a fitted skeleton, with OpenSim's names and signs.
 *
 * A bone's own axes are three columns of O, in the frame of its joint: x forwards, y up along the bone, z to the right,
 * for a person who stands with hanging arms and palms to the front. With R the world rotations of a bone and of the one
 * before it (p), a joint's rotation is
 *
 *     M = (R_p O_p)^T R O = Rz(a) Rx(b) Ry(c),   a = atan2(-M01, M11), b = asin(M21), c = atan2(-M20, M22)
 *
 * Thighs, shins and arms take y from the centres of their joints and z from the axis of the knee or the elbow. Pelvis,
 * trunk, head and feet have no such lines: in the static trial they are upright and flat. Without one, the pelvis is
 * level between its front and back markers, and the others are as the skeleton has them.
 */
#include "author/scan/capture/capture.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES 57.295779513082321

/* ---- columns ---- */

typedef enum bone { PELVIS, CHEST, HEAD, THIGH, SHANK, FOOT, UPPER, FORE, BONES } bone;

static const struct {
    const char *joint;
    bool sided;
} bones[BONES] = {
    [PELVIS] = {"hips", false}, [CHEST] = {"chest", false}, [HEAD] = {"head", false},     [THIGH] = {"hip", true},
    [SHANK] = {"knee", true},   [FOOT] = {"ankle", true},   [UPPER] = {"shoulder", true}, [FORE] = {"forearm", true},
};

/* Angles a, b and c of each joint; 0: none. Signs are for the right side; b and c turn round on the left. */
static const struct {
    bone parent, child;
    const char *names[3];
    int signs[3];
} joints[] = {
    {PELVIS, THIGH, {"hip_flexion", "hip_adduction", "hip_rotation"}, {1, 1, 1}},
    {THIGH, SHANK, {"knee_angle"}, {-1}},
    {SHANK, FOOT, {"ankle_angle", "subtalar_angle", "ankle_rotation"}, {1, 1, 1}},
    {PELVIS, CHEST, {"lumbar_extension", "lumbar_bending", "lumbar_rotation"}, {1, 1, 1}},
    {CHEST, HEAD, {"neck_extension", "neck_bending", "neck_rotation"}, {1, 1, 1}},
    {CHEST, UPPER, {"arm_flex", "arm_add", "arm_rot"}, {1, 1, 1}},
    {UPPER, FORE, {"elbow_flex", NULL, "pro_sup"}, {1, 1, 1}},
};
enum { JOINTS = (int)(sizeof joints / sizeof *joints), COLUMNS_MOST = 64 };

typedef struct work {
    const ex_capture *capture;
    const ex_kinematics *kinematics;
    int numbers[BONES][2];            /* joints of the left and the right side; -1: none, or without markers */
    double axes[BONES][2][3][3];      /* O: [column][component] */
    double knees[2][3], elbows[2][3]; /* centres, in the frame of the thigh and the upper arm */
    double (*turns)[4];               /* [joint_count] */
    double (*places)[3];
} work;

/* ---- vectors ---- */

static void set(double out[3], double x, double y, double z) {
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* Columns x forwards, y up, z right from y and a direction to the left; keeps y, or the left. */
static bool make_axes(const double up[3], const double left[3], bool keep_left, double out[3][3]) {
    double y[3] = {up[0], up[1], up[2]}, l[3] = {left[0], left[1], left[2]};
    double *first = keep_left ? l : y, *second = keep_left ? y : l;
    if (!exi_normalise(first, 3))
        return false;
    const double along = exi_dot3(first, second);
    for (int i = 0; i < 3; i++)
        second[i] -= along * first[i];
    if (!exi_normalise(second, 3))
        return false;
    exi_cross(l, y, out[0]);
    memcpy(out[1], y, sizeof y);
    set(out[2], -l[0], -l[1], -l[2]);
    return true;
}

static void to_local(const double turn[4], const double world[3], double local[3]) {
    const double back[4] = {-turn[0], -turn[1], -turn[2], turn[3]};
    exi_rotate(back, world, local);
}

/* ---- markers of the skeleton ---- */

static const ex_site *find_site(const work *w, const char *name, int side) {
    char sided[16];
    snprintf(sided, sizeof sided, "%s%s", side == 0 ? "L" : side == 1 ? "R" : "", name);
    const exi_marker_meaning wanted = exi_marker_look_up(sided);
    for (int s = 0; s < w->kinematics->site_count; s++) {
        const exi_marker_meaning meaning = exi_marker_look_up(w->kinematics->sites[s].name);
        if (meaning.kind == EXI_MARKER_PLACE && meaning.place == wanted.place && meaning.side == wanted.side)
            return &w->kinematics->sites[s];
    }
    return NULL;
}

/* The centre of a joint at the end of a bone: between the inner and the outer marker; or, along the axis, as far inside
 * the outer marker as on an adult; or where the fit has it. */
static void find_centre(const work *w, const ex_site *outer, const ex_site *inner, const double fitted[3],
                        const double outwards[3], double depth, double centre[3]) {
    memcpy(centre, fitted, 3 * sizeof *centre);
    if (outer && inner && outer->joint == inner->joint) {
        for (int i = 0; i < 3; i++)
            centre[i] = (outer->local[i] + inner->local[i]) / 2;
    } else if (outer) {
        double d[3];
        exi_subtract(outer->local, fitted, d);
        const double along = exi_dot3(d, outwards) - depth * (w->capture->scale > 0 ? w->capture->scale : 1);
        for (int i = 0; i < 3; i++)
            centre[i] += along * outwards[i];
    }
}

/* The direction to the left along the axis of a knee or an elbow. */
static void find_axis(const ex_site *outer, const ex_site *inner, const double axis[3], int side, double left[3]) {
    memcpy(left, axis, 3 * sizeof *left);
    if (outer && inner && outer->joint == inner->joint) {
        exi_subtract(outer->local, inner->local, left);
        for (int i = 0; i < 3 && side == 1; i++)
            left[i] = -left[i];
    }
    exi_normalise(left, 3);
}

/* ---- axes of bones ---- */

static int child_of(const work *w, int joint) {
    for (int j = joint + 1; j < w->kinematics->joint_count; j++)
        if (w->kinematics->joints[j].parent == joint)
            return j;
    return -1;
}

static void set_plain(work *w) {
    for (int b = 0; b < BONES; b++)
        for (int side = 0; side < 2; side++) {
            set(w->axes[b][side][0], 0, 0, 1);
            set(w->axes[b][side][1], 0, 1, 0);
            set(w->axes[b][side][2], -1, 0, 0);
        }
}

/* The mean of a world direction in a joint's frame over the frames of the static trial. */
static bool still_direction(const work *w, int joint, void (*direction)(const work *, double[3]), double local[3]) {
    set(local, 0, 0, 0);
    for (int f = 0; f < w->capture->still_count; f++) {
        double world[3], own[3];
        ex_kin_frames(w->kinematics, &w->capture->still_poses[f], w->turns, w->places);
        direction(w, world);
        to_local(w->turns[joint], world, own);
        for (int i = 0; i < 3; i++)
            local[i] += own[i];
    }
    return w->capture->still_count > 0 && exi_normalise(local, 3);
}

static void world_up(const work *w, double out[3]) {
    (void)w;
    set(out, 0, 1, 0);
}

static void pelvis_left(const work *w, double out[3]) {
    const double left[3] = {-w->axes[PELVIS][0][2][0], -w->axes[PELVIS][0][2][1], -w->axes[PELVIS][0][2][2]};
    exi_rotate(w->turns[w->numbers[PELVIS][0]], left, out);
}

static void shank_left(const work *w, int side, double out[3]) {
    const double left[3] = {-w->axes[SHANK][side][2][0], -w->axes[SHANK][side][2][1], -w->axes[SHANK][side][2][2]};
    exi_rotate(w->turns[w->numbers[SHANK][side]], left, out);
}

static void left_shank_left(const work *w, double out[3]) {
    shank_left(w, 0, out);
}

static void right_shank_left(const work *w, double out[3]) {
    shank_left(w, 1, out);
}

static void set_pelvis(work *w) {
    const ex_site *front[2], *back[2], *sacrum = find_site(w, "SACR", 2);
    const int joint = w->numbers[PELVIS][0];
    double left[3] = {1, 0, 0}, up[3], behind[3];
    for (int side = 0; side < 2; side++) {
        front[side] = find_site(w, "ASI", side);
        back[side] = find_site(w, "PSI", side);
    }
    if (joint < 0)
        return;
    if (front[0] && front[1])
        exi_subtract(front[0]->local, front[1]->local, left);
    else if (back[0] && back[1])
        exi_subtract(back[0]->local, back[1]->local, left);
    if (still_direction(w, joint, world_up, up)) {
        make_axes(up, left, true, w->axes[PELVIS][0]);
    } else if (front[0] && front[1] && ((back[0] && back[1]) || sacrum)) {
        double ahead[3];
        for (int i = 0; i < 3; i++) {
            behind[i] = back[0] && back[1] ? (back[0]->local[i] + back[1]->local[i]) / 2 : sacrum->local[i];
            ahead[i] = (front[0]->local[i] + front[1]->local[i]) / 2 - behind[i];
        }
        exi_cross(ahead, left, up);
        make_axes(up, left, true, w->axes[PELVIS][0]);
    }
    memcpy(w->axes[PELVIS][1], w->axes[PELVIS][0], sizeof w->axes[PELVIS][0]);
}

static void set_upright(work *w, bone b) {
    double up[3], left[3];
    const int joint = w->numbers[b][0];
    if (joint < 0 || w->numbers[PELVIS][0] < 0 || !still_direction(w, joint, world_up, up) ||
        !still_direction(w, joint, pelvis_left, left))
        return;
    make_axes(up, left, false, w->axes[b][0]);
    memcpy(w->axes[b][1], w->axes[b][0], sizeof w->axes[b][0]);
}

static void set_leg(work *w, int side) {
    const int hip = w->numbers[THIGH][side], knee = w->numbers[SHANK][side], foot = w->numbers[FOOT][side];
    const ex_site *outer = find_site(w, "KNE", side), *inner = find_site(w, "KNM", side);
    double left[3], outwards[3], up[3], ankle[3], shift;
    if (hip < 0 || knee < 0)
        return;
    const ex_kin_joint *joint = &w->kinematics->joints[knee];
    find_axis(outer, inner, joint->axis, side, left);
    for (int i = 0; i < 3; i++)
        outwards[i] = side == 0 ? left[i] : -left[i];
    find_centre(w, outer, inner, joint->translation, outwards, 0.06, w->knees[side]);
    set(up, -w->knees[side][0], -w->knees[side][1], -w->knees[side][2]);
    make_axes(up, left, false, w->axes[THIGH][side]);
    /* The shin: along the axis the centre of the knee is where the thigh has it; across, where the hinge is. */
    double d[3];
    exi_subtract(w->knees[side], joint->translation, d);
    shift = exi_dot3(d, joint->axis);
    const int below = foot >= 0 ? foot : child_of(w, knee);
    if (below < 0)
        return;
    outer = find_site(w, "ANK", side);
    inner = find_site(w, "ANKM", side);
    find_centre(w, outer && outer->joint == knee ? outer : NULL, inner && inner->joint == knee ? inner : NULL,
                w->kinematics->joints[below].translation, outwards, 0.05, ankle);
    for (int i = 0; i < 3; i++)
        up[i] = shift * joint->axis[i] - ankle[i];
    make_axes(up, left, false, w->axes[SHANK][side]);
    if (foot >= 0 && still_direction(w, foot, world_up, up) &&
        still_direction(w, foot, side == 0 ? left_shank_left : right_shank_left, left))
        make_axes(up, left, false, w->axes[FOOT][side]);
}

static void set_arm(work *w, int side) {
    const int upper = w->numbers[UPPER][side], fore = w->numbers[FORE][side];
    const double sign = side == 0 ? 1 : -1;
    const ex_site *outer = find_site(w, "ELB", side), *inner = find_site(w, "MEL", side);
    double left[3], back[3], outwards[3], up[3];
    if (upper < 0)
        return;
    const int elbow = child_of(w, upper);
    if (elbow < 0)
        return;
    const ex_kin_joint *joint = &w->kinematics->joints[elbow];
    set(back, -joint->axis[0], -joint->axis[1], -joint->axis[2]);
    find_axis(outer, inner, back, side, left);
    for (int i = 0; i < 3; i++)
        outwards[i] = sign * left[i];
    find_centre(w, outer && inner ? outer : NULL, inner, joint->translation, outwards, 0.035, w->elbows[side]);
    set(up, -w->elbows[side][0], -w->elbows[side][1], -w->elbows[side][2]);
    make_axes(up, left, false, w->axes[UPPER][side]);
    if (fore < 0)
        return;
    const ex_site *thumb = find_site(w, "WRA", side), *little = find_site(w, "WRB", side);
    const int wrist = child_of(w, fore);
    double end[3] = {sign, 0, 0};
    set(left, 0, 0, sign); /* the palm is down, the thumb in front */
    if (thumb && little && thumb->joint == fore && little->joint == fore) {
        exi_subtract(thumb->local, little->local, left);
        for (int i = 0; i < 3; i++) {
            left[i] *= sign;
            end[i] = (thumb->local[i] + little->local[i]) / 2;
        }
    } else if (wrist >= 0) {
        memcpy(end, w->kinematics->joints[wrist].translation, sizeof end);
    }
    /* The forearm begins at the elbow, which is before the joint that twists. */
    for (int i = 0; i < 3; i++)
        up[i] = -w->kinematics->joints[fore].translation[i] - end[i];
    make_axes(up, left, false, w->axes[FORE][side]);
}

/* ---- all ---- */

static bool has_markers(const ex_kinematics *kinematics, int joint) {
    for (int s = 0; s < kinematics->site_count; s++)
        if (kinematics->sites[s].joint == joint)
            return true;
    return false;
}

/* Bones that carry markers. */
static void find_bones(work *w) {
    for (int b = 0; b < BONES; b++)
        for (int side = 0; side < 2; side++) {
            char name[32];
            snprintf(name, sizeof name, "%s%s", bones[b].joint, !bones[b].sided ? "" : side == 0 ? ".L" : ".R");
            const int joint = ex_kinematics_find_joint(w->kinematics, name);
            w->numbers[b][side] = joint >= 0 && has_markers(w->kinematics, joint) ? joint : -1;
        }
}

static void decompose(const double (*parent)[3], const double (*child)[3], double angles[3]) {
    double m[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            m[i][k] = exi_dot3(parent[i], child[k]);
    angles[0] = DEGREES * atan2(-m[0][1], m[1][1]);
    angles[1] = DEGREES * asin(fmax(-1, fmin(1, m[2][1])));
    angles[2] = DEGREES * atan2(-m[2][0], m[2][2]);
}

static void turn_axes(const work *w, bone b, int side, double out[3][3]) {
    for (int k = 0; k < 3; k++)
        exi_rotate(w->turns[w->numbers[b][side]], w->axes[b][side][k], out[k]);
}

static void add_name(ex_capture_angles *angles, const char *name, const char *more) {
    snprintf(angles->names[angles->count++], sizeof *angles->names, "%.30s%s", name, more);
}

/* Writes one frame, or, without values, the names. */
static void add_frame(const work *w, ex_capture_angles *angles, double *row, const ex_kin_pose *pose) {
    static const char *const base[6] = {"pelvis_tilt", "pelvis_list", "pelvis_rotation",
                                        "pelvis_tx",   "pelvis_ty",   "pelvis_tz"};
    static const double world[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double parent[3][3], child[3][3], found[3];
    int column = 0;
    if (row)
        turn_axes(w, PELVIS, 0, child);
    if (row)
        decompose(world, (const double(*)[3])child, found);
    for (int i = 0; i < 6; i++, column++)
        if (row)
            row[column] = i < 3 ? found[i] : pose->translation[i - 3];
        else
            add_name(angles, base[i], "");
    for (int k = 0; k < JOINTS; k++) {
        const bool sided = bones[joints[k].child].sided;
        for (int s = 0; s < (sided ? 2 : 1); s++) {
            const int side = sided ? 1 - s : 0; /* right first */
            if (w->numbers[joints[k].parent][side] < 0 || w->numbers[joints[k].child][side] < 0)
                continue;
            if (row) {
                turn_axes(w, joints[k].parent, side, parent);
                turn_axes(w, joints[k].child, side, child);
                decompose((const double(*)[3])parent, (const double(*)[3])child, found);
            }
            for (int i = 0; i < 3; i++) {
                if (!joints[k].names[i])
                    continue;
                if (!row)
                    add_name(angles, joints[k].names[i], !sided ? "" : side == 0 ? "_l" : "_r");
                else
                    row[column] = joints[k].signs[i] * (sided && side == 0 && i > 0 ? -1 : 1) * found[i];
                column++;
            }
        }
    }
}

/* ---- other skeletons ---- */

static void add_plain_frame(const work *w, ex_capture_angles *angles, double *row, const ex_kin_pose *pose) {
    static const char *const ends[3] = {"_z", "_x", "_y"};
    static const double world[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int column = 0;
    for (int j = 0; j < w->kinematics->joint_count; j++) {
        const ex_kin_joint *joint = &w->kinematics->joints[j];
        if (joint->freedom == EX_FREEDOM_FIXED)
            continue;
        if (joint->freedom == EX_FREEDOM_HINGE) {
            if (row)
                row[column] = ex_kin_angle(joint, pose->rotations[j]);
            else
                add_name(angles, joint->name, "");
            column++;
            continue;
        }
        double axes[3][3], found[3] = {0};
        for (int k = 0; k < 3 && row; k++)
            exi_rotate(pose->rotations[j], world[k], axes[k]);
        if (row)
            decompose(world, (const double(*)[3])axes, found);
        for (int i = 0; i < 3; i++, column++)
            if (row)
                row[column] = found[i];
            else
                add_name(angles, joint->name, ends[i]);
    }
}

/* ---- the entry points ---- */

/* Takes out jumps by whole turns from frame to frame. */
static void unwrap(ex_capture_angles *angles) {
    for (int c = 0; c < angles->count; c++)
        for (int f = 1; f < angles->frame_count && strncmp(angles->names[c], "pelvis_t", 8) != 0; f++) {
            double *value = &angles->values[(size_t)f * (size_t)angles->count + (size_t)c];
            const double before = value[-angles->count];
            *value -= 360 * floor((*value - before) / 360 + 0.5);
        }
}

ex_result ex_capture_to_angles(const ex_capture *capture, ex_capture_angles **angles, ex_error *error) {
    if (!capture || !angles)
        return exi_misuse_error(error, __func__, "no motion, or no pointer for the angles");
    const size_t joint_count = (size_t)capture->kinematics->joint_count, frames = (size_t)capture->frame_count;
    work w = {.capture = capture, .kinematics = capture->kinematics};
    ex_capture_angles *made = calloc(1, sizeof *made);
    *angles = NULL;
    w.turns = exi_array_allocate(joint_count, sizeof *w.turns);
    w.places = exi_array_allocate(joint_count, sizeof *w.places);
    if (made)
        made->names = calloc(3 * joint_count + COLUMNS_MOST, sizeof *made->names);
    bool good = made && made->names && w.turns && w.places;
    if (good) {
        set_plain(&w);
        find_bones(&w);
        const bool body = w.numbers[PELVIS][0] >= 0;
        set_pelvis(&w);
        set_upright(&w, CHEST);
        set_upright(&w, HEAD);
        for (int side = 0; side < 2; side++) {
            set_leg(&w, side);
            set_arm(&w, side);
        }
        void (*add)(const work *, ex_capture_angles *, double *, const ex_kin_pose *) =
            body ? add_frame : add_plain_frame;
        add(&w, made, NULL, NULL);
        made->frame_count = capture->frame_count;
        made->rate = capture->rate;
        made->values = exi_array_allocate(frames * (size_t)made->count, sizeof *made->values);
        good = made->values != NULL;
        for (size_t f = 0; f < frames && good; f++) {
            ex_kin_frames(capture->kinematics, &capture->poses[f], w.turns, w.places);
            add(&w, made, made->values + f * (size_t)made->count, &capture->poses[f]);
        }
    }
    free(w.turns);
    free(w.places);
    if (!good) {
        ex_capture_angles_destroy(made);
        return ex_error_set(error, EX_ERROR_MEMORY, "not enough memory for the angles of %d frames",
                            capture->frame_count);
    }
    unwrap(made);
    *angles = made;
    return EX_OK;
}

void ex_capture_angles_destroy(ex_capture_angles *angles) {
    if (!angles)
        return;
    free(angles->names);
    free(angles->values);
    free(angles);
}

ex_result ex_capture_angles_write(const char *path, const ex_capture_angles *angles, ex_error *error) {
    if (!path || !angles)
        return exi_misuse_error(error, __func__, "no path, or no angles");
    const bool mot = ex_path_ends_with(path, ".mot");
    const char between = mot ? '\t' : ',';
    ex_file_writer file;
    ex_result result = ex_file_open(&file, path, error);
    if (result != EX_OK)
        return result;
    if (mot)
        ex_file_printf(&file, "Coordinates\nversion=1\nnRows=%d\nnColumns=%d\ninDegrees=yes\n\nendheader\n",
                       angles->frame_count, angles->count + 1);
    ex_file_printf(&file, "time");
    for (int c = 0; c < angles->count; c++)
        ex_file_printf(&file, "%c%s", between, angles->names[c]);
    ex_file_printf(&file, "\n");
    for (int f = 0; f < angles->frame_count; f++) {
        ex_file_printf(&file, "%.6f", f / (angles->rate > 0 ? angles->rate : 100));
        for (int c = 0; c < angles->count; c++)
            ex_file_printf(&file, "%c%.6f", between, angles->values[(size_t)f * (size_t)angles->count + (size_t)c]);
        ex_file_printf(&file, "\n");
    }
    return ex_file_commit(&file, error);
}

/* ---- comparing ---- */

/* Plug-in Gait's angles: x, y and z of a point are these columns of ours. */
static const struct {
    const char *point;
    bool sided;
    const char *columns[3];
    int signs[3];
} others[] = {
    {"HIPANGLES", true, {"hip_flexion", "hip_adduction", "hip_rotation"}, {1, 1, 1}},
    {"KNEEANGLES", true, {"knee_angle"}, {1}},
    {"ANKLEANGLES", true, {"ankle_angle"}, {1}},
    {"PELVISANGLES", true, {"pelvis_tilt"}, {-1}},
    {"SHOULDERANGLES", true, {"arm_flex"}, {1}},
    {"ELBOWANGLES", true, {"elbow_flex"}, {1}},
};
enum { OTHERS = (int)(sizeof others / sizeof *others) };

static int find_column(const ex_capture_angles *angles, const char *name, int side, bool sided) {
    char full[48];
    snprintf(full, sizeof full, "%s%s", name, !sided || strncmp(name, "pelvis", 6) == 0 ? "" : side == 0 ? "_l" : "_r");
    for (int c = 0; c < angles->count; c++)
        if (strcmp(angles->names[c], full) == 0)
            return c;
    return -1;
}

static ex_capture_compared compare_column(const ex_capture_angles *angles, const ex_markers *markers, int angle,
                                          int axis, int column, int sign) {
    ex_capture_compared out = {0};
    double sum = 0, squares = 0;
    snprintf(out.name, sizeof out.name, "%s", angles->names[column]);
    snprintf(out.other, sizeof out.other, "%.30s %c", markers->angle_names[angle], 'x' + axis);
    for (int f = 0; f < angles->frame_count && f < markers->frame_count; f++) {
        const double theirs =
            (double)markers->angles[3 * ((size_t)f * (size_t)markers->angle_count + (size_t)angle) + (size_t)axis];
        if (isnan(theirs))
            continue;
        double d = angles->values[(size_t)f * (size_t)angles->count + (size_t)column] - sign * theirs;
        d -= 360 * floor(d / 360 + 0.5);
        sum += d;
        squares += d * d;
        out.frame_count++;
    }
    if (out.frame_count > 0) {
        out.mean = sum / out.frame_count;
        out.rms = sqrt(squares / out.frame_count);
        out.spread = sqrt(fmax(0, squares / out.frame_count - out.mean * out.mean));
    }
    return out;
}

ex_result ex_capture_compare(const ex_capture_angles *angles, const ex_markers *markers, ex_capture_compared **compared,
                             int *count, ex_error *error) {
    if (!angles || !markers || !compared || !count)
        return exi_misuse_error(error, __func__, "no angles, no markers, or no pointer for the comparison");
    *compared = NULL;
    *count = 0;
    if (markers->angle_count == 0)
        return EX_OK;
    ex_capture_compared *made = calloc(3 * (size_t)markers->angle_count, sizeof *made);
    if (!made)
        return ex_error_set(error, EX_ERROR_MEMORY, "not enough memory for the comparison of %d angles",
                            markers->angle_count);
    for (int a = 0; a < markers->angle_count; a++) {
        char word[EXI_MARKER_WORD];
        exi_marker_word(markers->angle_names[a], word);
        const int side = word[0] == 'L' ? 0 : word[0] == 'R' ? 1 : -1;
        for (int k = 0; k < OTHERS && side >= 0; k++)
            for (int i = 0; i < 3 && strcmp(word + 1, others[k].point) == 0; i++) {
                const int column =
                    others[k].columns[i] ? find_column(angles, others[k].columns[i], side, others[k].sided) : -1;
                if (column < 0)
                    continue;
                made[*count] = compare_column(angles, markers, a, i, column, others[k].signs[i]);
                *count += made[*count].frame_count > 0;
            }
    }
    if (*count == 0) {
        free(made);
        made = NULL;
    }
    *compared = made;
    return EX_OK;
}
