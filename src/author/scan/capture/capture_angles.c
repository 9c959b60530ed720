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
 * level between its front and back markers, a foot between heel and toe, and the others are as the skeleton has them.
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
    int least; /* markers */
} bones[BONES] = {
    [PELVIS] = {"hips", false, 3},   [CHEST] = {"chest", false, 2}, [HEAD] = {"head", false, 2},
    [THIGH] = {"hip", true, 1},      [SHANK] = {"knee", true, 1},   [FOOT] = {"ankle", true, 2},
    [UPPER] = {"shoulder", true, 1}, [FORE] = {"forearm", true, 1},
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
    int numbers[BONES][2];       /* joints of the left and the right side; -1: none, or without markers */
    const double (*seen)[3];     /* [site_count] markers in a frame of the static trial; NULL: at rest */
    double axes[BONES][2][3][3]; /* O: [column][component] */
    double (*turns)[4];          /* [joint_count] */
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

static int find_site(const work *w, const char *name, int side) {
    char sided[16];
    snprintf(sided, sizeof sided, "%s%s", side == 0 ? "L" : side == 1 ? "R" : "", name);
    const exi_marker_meaning wanted = exi_marker_look_up(sided);
    for (int s = 0; s < w->kinematics->site_count; s++) {
        const exi_marker_meaning meaning = exi_marker_look_up(w->kinematics->sites[s].name);
        if (meaning.kind == EXI_MARKER_PLACE && meaning.place == wanted.place && meaning.side == wanted.side)
            return s;
    }
    return -1;
}

/* The position of a marker in the world: as seen in the static trial, else as the fit predicts it. */
static bool see(const work *w, const char *name, int side, double at[3]) {
    const int s = find_site(w, name, side);
    if (s < 0)
        return false;
    const double *seen = w->seen ? w->seen[s] : NULL;
    if (seen && !isnan(seen[0]))
        memcpy(at, seen, 3 * sizeof *at);
    else
        exi_capture_predict(&w->kinematics->sites[s], (const double(*)[4])w->turns, (const double(*)[3])w->places, at);
    return true;
}

static int count_markers(const ex_kinematics *kinematics, int joint) {
    int count = 0;
    for (int s = 0; s < kinematics->site_count; s++)
        count += kinematics->sites[s].joint == joint;
    return count;
}

/* ---- axes of bones in the world, in one frame ---- */

/* All is found in the world, for a frame of the static trial, or for the skeleton at rest. */
typedef struct stance {
    bool good[BONES][2];
    const double (*seen)[3]; /* [site_count] markers in a frame of the static trial; NULL: at rest */
    double axes[BONES][2][3][3];
} stance;

static double scale_of(const work *w) {
    return w->capture->scale > 0.5 && w->capture->scale < 1.5 ? w->capture->scale : 1;
}

static void middle(const double a[3], const double b[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = (a[i] + b[i]) / 2;
}

static int child_of(const work *w, int joint) {
    for (int j = joint + 1; j < w->kinematics->joint_count; j++)
        if (w->kinematics->joints[j].parent == joint)
            return j;
    return -1;
}

/* The axis of a hinge in the world, which its own turn does not change. */
static void world_axis(const work *w, int hinge, double out[3]) {
    exi_rotate(w->turns[hinge], w->kinematics->joints[hinge].axis, out);
}

/* The centre of a knee, an ankle or an elbow, and the direction to the left along its axis, which begins as the
 * hinge's. Between the inner and the outer marker, with the mean of both axes; or as deep inside the outer marker as on
 * an adult; or where the fit has it. */
static void find_joint(const work *w, const char *outer, const char *inner, int side, double depth, int joint,
                       double left[3], double centre[3]) {
    double out[3], in[3], d[3];
    const double sign = side == 0 ? 1 : -1;
    memcpy(centre, w->places[joint], 3 * sizeof *centre);
    if (!see(w, outer, side, out))
        return;
    if (see(w, inner, side, in)) {
        middle(out, in, centre);
        exi_subtract(out, in, d);
        exi_normalise(d, 3);
        for (int i = 0; i < 3; i++)
            left[i] += sign * d[i];
        exi_normalise(left, 3);
        return;
    }
    exi_subtract(out, centre, d);
    const double along = exi_dot3(d, left) - sign * depth * scale_of(w);
    for (int i = 0; i < 3; i++)
        centre[i] = w->seen ? out[i] - sign * depth * scale_of(w) * left[i] : centre[i] + along * left[i];
}

/* The middles of the front and the back of the pelvis, and its width and depth. */
typedef struct pelvis {
    bool good;
    double front[3], left[3], ahead[3], width, depth;
} pelvis;

static pelvis find_pelvis(const work *w) {
    pelvis p = {0};
    double a[3], b[3], back[3];
    if (!see(w, "ASI", 0, a) || !see(w, "ASI", 1, b))
        return p;
    middle(a, b, p.front);
    exi_subtract(a, b, p.left);
    p.width = sqrt(exi_dot3(p.left, p.left));
    if (see(w, "PSI", 0, a) && see(w, "PSI", 1, b))
        middle(a, b, back);
    else if (!see(w, "SACR", 2, back))
        return p;
    exi_subtract(p.front, back, p.ahead);
    p.depth = sqrt(exi_dot3(p.ahead, p.ahead));
    p.good = exi_normalise(p.left, 3) && exi_normalise(p.ahead, 3);
    return p;
}

static void stand_pelvis(const work *w, stance *out) {
    const pelvis p = find_pelvis(w);
    double up[3] = {0, 1, 0}, left[3] = {1, 0, 0}, a[3], b[3];
    if (w->numbers[PELVIS][0] < 0)
        return;
    if (p.good && !w->seen)
        exi_cross(p.ahead, p.left, up);
    if (p.width > 0)
        memcpy(left, p.left, sizeof left);
    else if (see(w, "PSI", 0, a) && see(w, "PSI", 1, b))
        exi_subtract(a, b, left);
    else
        exi_rotate(w->turns[w->numbers[PELVIS][0]], (const double[3]){1, 0, 0}, left);
    out->good[PELVIS][0] = out->good[PELVIS][1] = make_axes(up, left, true, out->axes[PELVIS][0]);
    memcpy(out->axes[PELVIS][1], out->axes[PELVIS][0], sizeof out->axes[PELVIS][0]);
}

/* In the static trial: upright, and ahead as the pelvis is. */
static void stand_upright(const work *w, bone b, stance *out) {
    const double up[3] = {0, 1, 0};
    double left[3];
    if (w->numbers[b][0] < 0 || !w->seen || !out->good[PELVIS][0])
        return;
    for (int i = 0; i < 3; i++)
        left[i] = -out->axes[PELVIS][0][2][i];
    out->good[b][0] = out->good[b][1] = make_axes(up, left, false, out->axes[b][0]);
    memcpy(out->axes[b][1], out->axes[b][0], sizeof out->axes[b][0]);
}

/* The centre of a hip: half way from where the fit has it to where the pelvis' size puts it (capture_size.c); across
 * only the latter, since thighs hardly turn sideways in most motions. */
static void find_hip(const work *w, int side, double centre[3]) {
    const pelvis p = find_pelvis(w);
    double up[3], d[3];
    memcpy(centre, w->places[w->numbers[THIGH][side]], 3 * sizeof *centre);
    if (!p.good)
        return;
    exi_cross(p.ahead, p.left, up);
    exi_normalise(up, 3);
    for (int i = 0; i < 3; i++)
        d[i] = p.front[i] - (0.24 * p.depth + 0.0099) * p.ahead[i] - (0.30 * p.width + 0.0109) * up[i] +
               (side == 0 ? 1 : -1) * (0.33 * p.width + 0.0073) * p.left[i] - centre[i];
    const double across = exi_dot3(d, p.left);
    for (int i = 0; i < 3; i++)
        centre[i] += d[i] / 2 + across * p.left[i] / 2;
}

static void stand_leg(const work *w, int side, stance *out) {
    const int hip = w->numbers[THIGH][side], knee = w->numbers[SHANK][side], foot = w->numbers[FOOT][side];
    double left[3], hips[3], knees[3], ankles[3], up[3], heel[3], toe[3], ahead[3];
    const double straight[3] = {0, 1, 0};
    if (hip < 0 || knee < 0)
        return;
    find_hip(w, side, hips);
    world_axis(w, knee, left);
    find_joint(w, "KNE", "KNM", side, 0.058, knee, left, knees);
    exi_subtract(hips, knees, up);
    out->good[THIGH][side] = make_axes(up, left, false, out->axes[THIGH][side]);
    const int below = foot >= 0 ? foot : child_of(w, knee);
    if (below < 0)
        return;
    double across[3] = {left[0], left[1], left[2]};
    find_joint(w, "ANK", "ANKM", side, 0.045, below, across, ankles);
    exi_subtract(knees, ankles, up);
    out->good[SHANK][side] = make_axes(up, left, false, out->axes[SHANK][side]);
    if (foot >= 0 && w->seen)
        out->good[FOOT][side] = make_axes(straight, left, false, out->axes[FOOT][side]);
    else if (foot >= 0 && see(w, "HEE", side, heel) && see(w, "TOE", side, toe)) {
        exi_subtract(toe, heel, ahead);
        exi_cross(ahead, left, up);
        out->good[FOOT][side] = make_axes(up, left, true, out->axes[FOOT][side]);
    }
}

/* The centre of a shoulder: below the marker on top of it, as deep as on an adult. A fit finds it badly: most motions
 * turn arms about one axis. */
static void find_shoulder(const work *w, int side, const stance *now, double centre[3]) {
    double top[3];
    memcpy(centre, w->places[w->numbers[UPPER][side]], 3 * sizeof *centre);
    if (!w->seen || !now->good[CHEST][0] || !see(w, "SHO", side, top))
        return;
    for (int i = 0; i < 3; i++)
        centre[i] = top[i] - 0.055 * scale_of(w) * now->axes[CHEST][0][1][i];
}

static void stand_arm(const work *w, int side, stance *out) {
    const int upper = w->numbers[UPPER][side], fore = w->numbers[FORE][side],
              elbow = upper >= 0 ? child_of(w, upper) : -1;
    const double sign = side == 0 ? 1 : -1;
    double left[3], shoulder[3], elbows[3], up[3], thumb[3], little[3], wrist[3];
    if (elbow < 0)
        return;
    world_axis(w, elbow, left);
    for (int i = 0; i < 3; i++)
        left[i] = -left[i];
    find_joint(w, "ELB", "MEL", side, 0.042, elbow, left, elbows);
    find_shoulder(w, side, out, shoulder);
    exi_subtract(shoulder, elbows, up);
    out->good[UPPER][side] = make_axes(up, left, false, out->axes[UPPER][side]);
    if (fore < 0)
        return;
    const int end = child_of(w, fore);
    if (see(w, "WRA", side, thumb) && see(w, "WRB", side, little)) {
        middle(thumb, little, wrist);
        exi_subtract(thumb, little, left);
    } else {
        exi_rotate(w->turns[fore], (const double[3]){0, 0, 1}, left); /* at rest the palm is down, the thumb in front */
        if (end >= 0)
            memcpy(wrist, w->places[end], sizeof wrist);
        else
            return;
    }
    for (int i = 0; i < 3; i++)
        left[i] *= sign;
    exi_subtract(elbows, wrist, up);
    out->good[FORE][side] = make_axes(up, left, false, out->axes[FORE][side]);
}

/* ---- axes of bones on the bones ---- */

/* Adds the axes found in one frame, turned into the frames of the bones. */
static void add_stance(work *w, double sums[BONES][2][3][3]) {
    stance now = {0};
    stand_pelvis(w, &now);
    stand_upright(w, CHEST, &now);
    stand_upright(w, HEAD, &now);
    for (int side = 0; side < 2; side++) {
        stand_leg(w, side, &now);
        stand_arm(w, side, &now);
    }
    for (int b = 0; b < BONES; b++)
        for (int side = 0; side < 2; side++)
            for (int k = 0; k < 3 && now.good[b][side]; k++) {
                double local[3];
                to_local(w->turns[w->numbers[b][side]], now.axes[b][side][k], local);
                for (int i = 0; i < 3; i++)
                    sums[b][side][k][i] += local[i];
            }
}

/* In the frame from which angles count, all bones have the axes of the hips; but thighs and shins are along the lines
 * between their joints, which the motion shows. */
static void add_zero(work *w, double sums[BONES][2][3][3]) {
    const double plain[3][3] = {{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}};
    stance now = {0};
    ex_kin_frames(w->kinematics, &w->capture->poses[w->capture->zero_frame], w->turns, w->places);
    for (int side = 0; side < 2; side++)
        stand_leg(w, side, &now);
    for (int b = 0; b < BONES; b++)
        for (int side = 0; side < 2; side++)
            for (int k = 0; k < 3 && w->numbers[b][side] >= 0; k++) {
                double world[3];
                exi_rotate(w->turns[w->numbers[PELVIS][0]], plain[k], world);
                if ((b == THIGH || b == SHANK) && now.good[b][side])
                    memcpy(world, now.axes[b][side][k], sizeof world);
                to_local(w->turns[w->numbers[b][side]], world, sums[b][side][k]);
            }
}

/* From the frames of the static trial, or the skeleton at rest. */
static bool set_axes(work *w) {
    const size_t joint_count = (size_t)w->kinematics->joint_count;
    double sums[BONES][2][3][3] = {{{{0}}}};
    if (w->capture->still_count == 0 && w->capture->zero_frame < 0) {
        ex_kin_pose rest = {.rotations = exi_array_allocate(joint_count, sizeof *rest.rotations)};
        if (!rest.rotations)
            return false;
        for (size_t j = 0; j < joint_count; j++)
            memcpy(rest.rotations[j], (const double[4]){0, 0, 0, 1}, sizeof *rest.rotations);
        ex_kin_frames(w->kinematics, &rest, w->turns, w->places);
        add_stance(w, sums);
        free(rest.rotations);
    }
    if (w->capture->zero_frame >= 0 && w->numbers[PELVIS][0] >= 0)
        add_zero(w, sums);
    for (int f = 0; f < w->capture->still_count && w->capture->zero_frame < 0; f++) {
        w->seen = (const double(*)[3])w->capture->still_seen + (size_t)f * (size_t)w->kinematics->site_count;
        ex_kin_frames(w->kinematics, &w->capture->still_poses[f], w->turns, w->places);
        add_stance(w, sums);
    }
    w->seen = NULL;
    for (int b = 0; b < BONES; b++)
        for (int side = 0; side < 2; side++) {
            const double left[3] = {-sums[b][side][2][0], -sums[b][side][2][1], -sums[b][side][2][2]};
            if (!make_axes(sums[b][side][1], left, false, w->axes[b][side])) {
                /* As the skeleton stands, with its arms held out. */
                set(w->axes[b][side][0], 0, 0, 1);
                set(w->axes[b][side][1], 0, 1, 0);
                set(w->axes[b][side][2], -1, 0, 0);
            }
        }
    return true;
}

/* ---- all ---- */

/* Bones that carry enough markers: their joint is a point of its own, so that two show all turns. Bones of limbs are
 * also shown by what comes after them. */
static void find_bones(work *w) {
    for (int b = 0; b < BONES; b++)
        for (int side = 0; side < 2; side++) {
            char name[32];
            snprintf(name, sizeof name, "%s%s", bones[b].joint, !bones[b].sided ? "" : side == 0 ? ".L" : ".R");
            const int joint = ex_kinematics_find_joint(w->kinematics, name);
            w->numbers[b][side] = joint >= 0 && count_markers(w->kinematics, joint) >= bones[b].least ? joint : -1;
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
            /* One marker on an arm does not show its roll, nor to which side the elbow bends; two markers on a foot do
             * not show its roll: then the angle is that of its length. */
            const bool thin = bones[joints[k].child].sided && count_markers(w->kinematics, w->numbers[UPPER][side]) < 2;
            const bool rolls = (joints[k].child == UPPER && thin) ||
                               (joints[k].child == FORE && count_markers(w->kinematics, w->numbers[FORE][side]) < 2);
            if (joints[k].child == FORE && thin)
                continue;
            const bool few = joints[k].child == FOOT && count_markers(w->kinematics, w->numbers[FOOT][side]) < 3;
            if (row) {
                turn_axes(w, joints[k].parent, side, parent);
                turn_axes(w, joints[k].child, side, child);
                decompose((const double(*)[3])parent, (const double(*)[3])child, found);
                if (few)
                    found[0] = DEGREES * atan2(exi_dot3(parent[1], child[0]), exi_dot3(parent[0], child[0]));
            }
            for (int i = 0; i < 3; i++) {
                if (!joints[k].names[i] || (few && i > 0) || (rolls && i == 2))
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
        find_bones(&w);
        good = set_axes(&w);
    }
    if (good) {
        const bool body = w.numbers[PELVIS][0] >= 0;
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
