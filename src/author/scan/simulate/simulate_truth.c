/*
 * Computes the true kinematics of a rig's skeleton. With G_j(p) the world rotation of joint j in pose p, its frame
 * there is W_j(p) = G_j(p) G_j(r)^-1, which is the identity in the reference r. It turns by W_parent^-1 W_j; bones are
 * the joints' distances in the reference; and an axis a of the joint is G_j(r) a.
 */
#include "author/base/array.h"
#include "author/scan/simulate/simulate.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Tolerance in metres, and in components of an axis or a quaternion: forms and transforms of rigs are float. */
#define SAME 1e-4

typedef struct truth_maker {
    const ex_rig *rig;
    const ex_skeleton *skeleton;
    const ex_pose *poses;
    int pose_count, reference, rig_joint_count;
    float *worlds;           /* [rig_joint_count][12] */
    double (*rest_turns)[4]; /* [joint_count]: G_j(r), inverted */
    bool *influences;        /* [rig_joint_count]: true if it moves skin */
    bool *moves;             /* [rig_joint_count]: true if it is turned in a pose */
    bool *matters;           /* [rig_joint_count]: true for either, or if one below does */
    void *scratch;
    ex_scan_truth *truth;
    ex_error *error;
} truth_maker;

/* ---- list of joints ---- */

static void find_influences(truth_maker *m) {
    const ex_skin *skin = ex_rig_skin(m->rig);
    uint32_t joints[EX_INFLUENCE_MAX];
    for (int v = 0; skin && v < ex_skin_vertex_count(skin); v++) {
        const int count = ex_skin_influences(skin, v, joints, NULL);
        for (int i = 0; i < count; i++)
            m->influences[joints[i]] = true;
    }
    for (int p = 0; p < m->pose_count; p++)
        for (int j = 0; j < m->rig_joint_count && m->poses[p].joints; j++) {
            const ex_transform rest = ex_skeleton_rest(m->skeleton, j);
            const float *a = rest.rotation, *b = m->poses[p].joints[j].rotation;
            const float along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3],
                        length = b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3];
            m->moves[j] = m->moves[j] || along * along < (1 - 1e-6f) * length;
        }
    for (int j = 0; j < m->rig_joint_count; j++)
        for (int up = j; up >= 0 && (m->influences[j] || m->moves[j]); up = ex_skeleton_parent(m->skeleton, up))
            m->matters[up] = true;
}

/* Returns the root that matters, or -1 with an error message. */
static int find_base(const truth_maker *m) {
    int base = -1;
    for (int j = 0; j < m->rig_joint_count; j++) {
        if (ex_skeleton_parent(m->skeleton, j) >= 0 || !m->matters[j])
            continue;
        if (base >= 0) {
            ex_error_set(
                m->error, EX_ERROR_DATA,
                "the rig's skeleton has two roots that move its skin, '%s' and '%s': a scanned body needs exactly one",
                ex_skeleton_name(m->skeleton, base), ex_skeleton_name(m->skeleton, j));
            return -1;
        }
        base = j;
    }
    if (base < 0)
        ex_error_set(m->error, EX_ERROR_DATA, "the rig's skeleton moves nothing, so scans cannot find it");
    return base;
}

/* Lists the rig's joints below the base, parents first. */
static ex_result list_joints(truth_maker *m) {
    ex_kinematics *k = m->truth->kinematics;
    int base = find_base(m);
    if (base < 0)
        return EX_ERROR_DATA;
    int *joints = m->truth->joints;
    joints[0] = base;
    k->joints[0].parent = -1;
    k->joint_count = 1;
    for (int i = 0; i < k->joint_count; i++)
        for (int j = 0; j < m->rig_joint_count; j++)
            if (ex_skeleton_parent(m->skeleton, j) == joints[i]) {
                k->joints[k->joint_count].parent = i;
                joints[k->joint_count++] = j;
            }
    for (int i = 0; i < k->joint_count; i++) {
        const char *name = ex_skeleton_name(m->skeleton, joints[i]);
        k->joints[i].mirror = -1;
        if (!name[0])
            return ex_error_set(m->error, EX_ERROR_DATA, "joint %d of the rig's skeleton has no name", joints[i]);
        for (int j = 0; j < i; j++)
            if (strcmp(k->joints[j].name, name) == 0)
                return ex_error_set(m->error, EX_ERROR_DATA, "two joints of the rig's skeleton are called '%s'", name);
        k->joints[i].name = exi_text_copy(name, strlen(name));
        if (!k->joints[i].name)
            return ex_error_memory(m->error, "the skeleton", strlen(name));
    }
    return EX_OK;
}

/* ---- frames ---- */

static void invert(const double q[4], double out[4]) {
    for (int i = 0; i < 3; i++)
        out[i] = -q[i];
    out[3] = q[3];
}

/* Computes the frames of all joints in a pose; `turns` are G_j. */
static void place_joints(truth_maker *m, int pose, double (*turns)[4], double (*places)[3]) {
    const ex_skeleton_input input = {.locals = m->poses[pose].joints};
    const ex_skeleton_output output = {.worlds = m->worlds};
    ex_skeleton_evaluate(m->skeleton, &input, &output, m->scratch);
    for (int i = 0; i < m->truth->kinematics->joint_count; i++) {
        const float *world = m->worlds + 12 * (size_t)m->truth->joints[i];
        ex_transform transform;
        ex_transform_from_matrix(world, &transform);
        for (int k = 0; k < 4; k++)
            turns[i][k] = (double)transform.rotation[k];
        exi_normalise(turns[i], 4);
        for (int k = 0; k < 3; k++)
            places[i][k] = (double)world[4 * k + 3];
    }
}

static void find_frames(truth_maker *m) {
    ex_scan_truth *t = m->truth;
    const int count = t->kinematics->joint_count;
    place_joints(m, m->reference, m->rest_turns, t->places);
    for (int i = 0; i < count; i++) {
        const int parent = t->kinematics->joints[i].parent;
        double *bone = t->kinematics->joints[i].translation;
        invert(m->rest_turns[i], m->rest_turns[i]);
        memcpy(bone, t->places[i], sizeof(double[3]));
        if (parent >= 0)
            exi_subtract(t->places[i], t->places[parent], bone);
    }
    for (int p = 0; p < m->pose_count; p++) {
        double(*turns)[4] = t->rotations + (size_t)p * (size_t)count,
        (*places)[3] = t->places + (size_t)p * (size_t)count;
        place_joints(m, p, turns, places);
        memcpy(t->poses[p].translation, places[0], sizeof(double[3]));
        for (int i = 0; i < count; i++) {
            double back[4] = {0, 0, 0, 1}, *q = t->poses[p].rotations[i];
            exi_quaternion_multiply(turns[i], m->rest_turns[i], turns[i]);
            if (i > 0)
                invert(turns[t->kinematics->joints[i].parent], back);
            exi_quaternion_multiply(back, turns[i], q);
            const double sign = q[3] < 0 ? -1 : 1;
            for (int k = 0; k < 4; k++)
                q[k] *= sign;
        }
    }
}

/* ---- freedoms ---- */

/* Returns the only axis of the rig that reads the joint as an angle, or -1. */
static int find_angle(const truth_maker *m, int rig_joint) {
    int found = -1;
    for (int i = 0; i < ex_rig_input_count(m->rig); i++) {
        const ex_axis_source source = ex_rig_input_source(m->rig, i);
        if (source.joint != rig_joint || source.reading.kind != EX_READING_ANGLE)
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

/* True if all poses turn it about that axis alone. */
static bool turns_about(const truth_maker *m, int joint, const double axis[3]) {
    for (int p = 0; p < m->pose_count; p++) {
        const double *q = m->truth->poses[p].rotations[joint];
        double off[3];
        exi_cross(q, axis, off);
        if (exi_dot3(off, off) > SAME * SAME)
            return false;
    }
    return true;
}

/* Any small other rotation in the poses is rounding. */
static void make_hinge(truth_maker *m, int joint, const double axis[3]) {
    ex_kin_joint *hinge = &m->truth->kinematics->joints[joint];
    hinge->freedom = EX_FREEDOM_HINGE;
    memcpy(hinge->axis, axis, sizeof hinge->axis);
    for (int p = 0; p < m->pose_count; p++) {
        double *q = m->truth->poses[p].rotations[joint], twist[4];
        exi_twist(q, axis, twist);
        memcpy(q, twist, sizeof twist);
    }
}

static void find_range(const truth_maker *m, int input, ex_kin_joint *hinge) {
    const ex_axis range = ex_rig_input_axis(m->rig, input);
    double at_reference = 0;
    ex_rig_get_input(m->rig, input, &m->poses[m->reference], &at_reference);
    hinge->least = range.min - at_reference;
    hinge->most = range.max - at_reference;
}

static void find_freedoms(truth_maker *m) {
    ex_kinematics *k = m->truth->kinematics;
    for (int i = 0; i < k->joint_count; i++) {
        const int rig_joint = m->truth->joints[i], input = find_angle(m, rig_joint);
        k->joints[i].freedom = i == 0                                            ? EX_FREEDOM_BASE
                               : m->influences[rig_joint] || m->moves[rig_joint] ? EX_FREEDOM_BALL
                                                                                 : EX_FREEDOM_FIXED;
        if (i == 0 || input < 0 || k->joints[i].freedom == EX_FREEDOM_FIXED)
            continue;
        double about[3], axis[3], turn[4];
        memcpy(about, ex_rig_input_source(m->rig, input).reading.about, sizeof about);
        if (!exi_unit3(about))
            continue;
        invert(m->rest_turns[i], turn);
        exi_rotate(turn, about, axis);
        if (!exi_unit3(axis) || !turns_about(m, i, axis))
            continue;
        make_hinge(m, i, axis);
        find_range(m, input, &k->joints[i]);
    }
}

/* ---- left and right ---- */

static bool are_near(const double a[3], const double b[3]) {
    double off[3];
    exi_subtract(a, b, off);
    return exi_dot3(off, off) < SAME * SAME;
}

static void turn_over(ex_kin_joint *hinge) {
    const double least = hinge->least;
    for (int k = 0; k < 3; k++)
        hinge->axis[k] = -hinge->axis[k];
    hinge->least = -hinge->most;
    hinge->most = -least;
}

static void mirror_vectors(const ex_kin_joint *of, double translation[3], double axis[3]) {
    for (int k = 0; k < 3; k++) {
        translation[k] = k == 0 ? -of->translation[k] : of->translation[k];
        axis[k] = k == 0 ? of->axis[k] : -of->axis[k];
    }
}

/* If only one of a pair is read as an angle, as in a rig whose shape depends on one arm alone, the other is a hinge
 * too, unless it turns otherwise. */
static void match_hinges(truth_maker *m, int joint, int other) {
    ex_kinematics *k = m->truth->kinematics;
    const bool here = k->joints[joint].freedom == EX_FREEDOM_HINGE,
               there = k->joints[other].freedom == EX_FREEDOM_HINGE;
    const int hinge = here ? joint : other, ball = here ? other : joint;
    double translation[3], axis[3];
    mirror_vectors(&k->joints[hinge], translation, axis);
    if (here == there || k->joints[ball].freedom != EX_FREEDOM_BALL || !turns_about(m, ball, axis))
        return;
    k->joints[ball].least = k->joints[hinge].least;
    k->joints[ball].most = k->joints[hinge].most;
    make_hinge(m, ball, axis);
}

static void find_mirror(truth_maker *m, int joint, int other) {
    ex_kinematics *k = m->truth->kinematics;
    ex_kin_joint *here = &k->joints[joint];
    const ex_kin_joint *there = &k->joints[other];
    const int parent = here->parent, other_parent = there->parent;
    double translation[3], axis[3], back[3];
    mirror_vectors(there, translation, axis);
    if (here->freedom == EX_FREEDOM_FIXED || !are_near(here->translation, translation) ||
        (parent != other_parent && k->joints[parent].mirror != other_parent))
        return;
    match_hinges(m, joint, other);
    mirror_vectors(there, translation, axis);
    for (int i = 0; i < 3; i++)
        back[i] = -axis[i];
    if (here->freedom == EX_FREEDOM_HINGE && are_near(here->axis, back))
        turn_over(here);
    if (here->freedom != there->freedom || (here->freedom == EX_FREEDOM_HINGE && !are_near(here->axis, axis)))
        return;
    here->mirror = other;
    memcpy(here->translation, translation, sizeof translation);
    if (here->freedom == EX_FREEDOM_HINGE)
        memcpy(here->axis, axis, sizeof axis);
}

static ex_result find_mirrors(truth_maker *m) {
    ex_kinematics *k = m->truth->kinematics;
    for (int i = 1; i < k->joint_count; i++) {
        char *name = ex_mirror_name(k->joints[i].name);
        if (!name)
            return ex_error_memory(m->error, "the skeleton", strlen(k->joints[i].name));
        for (int j = 1; j < i; j++)
            if (strcmp(k->joints[j].name, name) == 0)
                find_mirror(m, i, j);
        free(name);
    }
    return EX_OK;
}

/* ---- the entry point ---- */

static ex_result allocate(truth_maker *m) {
    const size_t joints = (size_t)m->rig_joint_count, poses = (size_t)m->pose_count;
    ex_scan_truth *t = m->truth = calloc(1, sizeof *t);
    bool fits = t != NULL;
    if (fits) {
        t->kinematics = calloc(1, sizeof *t->kinematics);
        t->joints = exi_array_allocate(joints, sizeof *t->joints);
        t->poses = calloc(poses, sizeof *t->poses);
        t->rotations = exi_array_allocate(poses * joints, sizeof *t->rotations);
        t->places = exi_array_allocate(poses * joints, sizeof *t->places);
        fits = t->kinematics && t->joints && t->poses && t->rotations && t->places;
    }
    if (fits) {
        t->pose_count = m->pose_count;
        t->kinematics->name = exi_text_copy("rig", 3);
        t->kinematics->joints = calloc(joints, sizeof *t->kinematics->joints);
        fits = t->kinematics->name && t->kinematics->joints;
    }
    for (int p = 0; fits && p < m->pose_count; p++) {
        t->poses[p].rotations = exi_array_allocate(joints, sizeof *t->poses[p].rotations);
        fits = t->poses[p].rotations != NULL;
    }
    m->worlds = exi_array_allocate(12 * joints, sizeof *m->worlds);
    m->rest_turns = exi_array_allocate(joints, sizeof *m->rest_turns);
    m->influences = calloc(3 * joints, sizeof *m->influences);
    m->moves = m->influences ? m->influences + joints : NULL;
    m->matters = m->influences ? m->influences + 2 * joints : NULL;
    m->scratch = malloc(ex_skeleton_scratch_size(m->skeleton) + 1);
    fits = fits && m->worlds && m->rest_turns && m->influences && m->scratch;
    return fits ? EX_OK : ex_error_memory(m->error, "the poses of the skeleton", poses * joints * 88);
}

ex_result ex_scan_truth_create(const ex_rig *rig, const ex_pose *poses, int pose_count, int reference,
                               ex_scan_truth **truth, ex_error *error) {
    if (!rig || !poses || !truth || reference < 0 || reference >= pose_count)
        return exi_misuse_error(error, "ex_scan_truth_create", "no rig, no poses, or no such reference");
    truth_maker m = {.rig = rig,
                     .skeleton = ex_rig_skeleton(rig),
                     .poses = poses,
                     .pose_count = pose_count,
                     .reference = reference,
                     .rig_joint_count = ex_rig_joint_count(rig),
                     .error = error};
    *truth = NULL;
    if (!m.skeleton)
        return ex_error_set(error, EX_ERROR_DATA, "the rig has no skeleton that scans could find");
    ex_result result = allocate(&m);
    if (result == EX_OK) {
        find_influences(&m);
        result = list_joints(&m);
    }
    if (result == EX_OK) {
        find_frames(&m);
        find_freedoms(&m);
        result = find_mirrors(&m);
    }
    free(m.worlds);
    free(m.rest_turns);
    free(m.influences);
    free(m.scratch);
    if (result == EX_OK)
        *truth = m.truth;
    else
        ex_scan_truth_destroy(m.truth);
    return result;
}

void ex_scan_truth_destroy(ex_scan_truth *truth) {
    if (!truth)
        return;
    for (int p = 0; truth->poses && p < truth->pose_count; p++)
        free(truth->poses[p].rotations);
    ex_kinematics_destroy(truth->kinematics);
    free(truth->joints);
    free(truth->poses);
    free(truth->rotations);
    free(truth->places);
    free(truth);
}

void ex_scan_disturb(ex_kinematics *k, double metres, double degrees, uint64_t seed) {
    for (int i = 1; i < k->joint_count; i++) {
        ex_kin_joint *joint = &k->joints[i];
        uint64_t chance = exi_chance_text(exi_chance(seed, 0xB01E), joint->name);
        double direction[3], side[3];
        if (joint->freedom == EX_FREEDOM_FIXED) {
            joint->lock_translation = true;
            continue;
        }
        if (joint->mirror >= 0) {
            double axis[3];
            mirror_vectors(&k->joints[joint->mirror], joint->translation, axis);
            if (joint->freedom == EX_FREEDOM_HINGE)
                memcpy(joint->axis, axis, sizeof axis);
            continue;
        }
        exi_chance_direction(chance, direction);
        chance = exi_chance(chance, 1);
        for (int a = 0; a < 3; a++)
            joint->translation[a] += metres * exi_chance_part(chance) * direction[a];
        if (joint->freedom != EX_FREEDOM_HINGE)
            continue;
        chance = exi_chance(chance, 2);
        exi_chance_direction(chance, direction);
        exi_cross(joint->axis, direction, side);
        if (!exi_unit3(side))
            continue;
        const double angle = degrees * PI / 180 * exi_chance_part(exi_chance(chance, 3));
        for (int a = 0; a < 3; a++)
            joint->axis[a] = cos(angle) * joint->axis[a] + sin(angle) * side[a];
        exi_unit3(joint->axis);
    }
}
