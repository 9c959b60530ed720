/*
 * Templates of skeletons: surfaces without cracks that face outwards and are symmetric, and control points that joints
 * move by halves, which gives the half-way rotation about the joint.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/project.h>
#include <exemplar/author/scan_body.h>

#include "runtime/base/vector.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/skeletons.h"

static ex_kinematics *shipped(const char *name) {
    ex_kinematics *kinematics = NULL;
    ex_error error = {0};
    if (ex_kinematics_read(name, &kinematics, &error) != EX_OK)
        fail_msg("%s", error.text);
    return kinematics;
}

static ex_template *make(const ex_kinematics *kinematics, const ex_template_options *options) {
    ex_template *made = NULL;
    ex_error error = {0};
    if (ex_template_create(kinematics, options, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    return made;
}

/* ---- surfaces ---- */

/* Number of edges of only one face; fails if an edge occurs twice in one direction. */
static int count_boundary(const ex_mesh *mesh) {
    int count = 0;
    for (int c = 0; c < mesh->corner_count; c++) {
        const int from = mesh->corners[c], to = mesh->corners[c % 4 == 3 ? c - 3 : c + 1];
        int same = 0, back = 0;
        for (int d = 0; d < mesh->corner_count; d++) {
            const int a = mesh->corners[d], b = mesh->corners[d % 4 == 3 ? d - 3 : d + 1];
            same += a == from && b == to;
            back += a == to && b == from;
        }
        assert_int_equal(same, 1);
        assert_true(back <= 1);
        count += back == 0;
    }
    return count;
}

/* Cones from a point inside to all faces; open ends are small. */
static double volume(const ex_mesh *mesh, const double inside[3]) {
    double sum = 0;
    for (int f = 0; f < mesh->face_count; f++)
        for (int k = 1; k < 3; k++) {
            const int *corners = mesh->corners + mesh->face_offsets[f];
            double a[3], b[3], c[3], n[3];
            exi_subtract(mesh->positions + 3 * corners[0], inside, a);
            exi_subtract(mesh->positions + 3 * corners[k], inside, b);
            exi_subtract(mesh->positions + 3 * corners[k + 1], inside, c);
            exi_cross(b, c, n);
            sum += exi_dot3(a, n) / 6;
        }
    return sum;
}

static void check_skin(const ex_template *made, const ex_kinematics *kinematics) {
    const ex_scene_primitive *p = made->scene->meshes[0].primitives;
    ex_error error = {0};
    assert_int_equal(ex_scene_check(made->scene, &error), EX_OK);
    assert_int_equal(p->vertex_count, made->cage->vertex_count);
    assert_int_equal(made->scene->skins[0].joint_count, kinematics->joint_count);
    for (int v = 0; v < p->vertex_count; v++) {
        double sum = 0;
        for (int i = 0; i < p->influence_count; i++) {
            assert_true(p->joints[v * p->influence_count + i] < kinematics->joint_count);
            sum += (double)p->weights[v * p->influence_count + i];
        }
        assert_near(sum, 1, 1e-6);
    }
    for (int j = 0; j < kinematics->joint_count; j++) {
        const ex_scene_node *node = &made->scene->nodes[made->scene->skins[0].joints[j]];
        assert_string_equal(node->name, kinematics->joints[j].name);
        assert_row_near(node->transform.translation, kinematics->joints[j].translation, 3, 0);
        assert_row_near(node->transform.rotation, ((double[4]){0, 0, 0, 1}), 4, 0);
    }
}

static bool has_group(const ex_mesh *mesh, const char *name) {
    for (int i = 0; i < mesh->group_count; i++)
        if (strcmp(mesh->group_names[i], name) == 0)
            return true;
    return false;
}

/* Eight points of valence five where arms leave the trunk, eight of valence three at the ends of hands. */
static void upper_body(void **state) {
    (void)state;
    ex_kinematics *kinematics = shipped("upper");
    ex_template *made = make(kinematics, NULL);
    const ex_mesh *cage = made->cage;
    assert_int_equal(cage->face_count, 80);
    assert_int_equal(cage->vertex_count, 88);
    assert_int_equal(cage->corner_count, 4 * cage->face_count);
    assert_int_equal(ex_template_extraordinary_count(made), 16);
    assert_int_equal(count_boundary(cage), 16); /* hips and neck */
    const double v = volume(cage, (double[]){0, 1.2, 0});
    assert_true(v > 0.02 && v < 0.08);
    for (int j = 0; j < kinematics->joint_count; j++)
        assert_true(has_group(cage, kinematics->joints[j].name));
    check_skin(made, kinematics);
    ex_template_destroy(made);
    ex_kinematics_destroy(kinematics);
}

/* Closed, of the sphere's kind: V - E + F = 2. */
static void whole_body(void **state) {
    (void)state;
    ex_kinematics *kinematics = shipped("full");
    ex_template *made = make(kinematics, NULL);
    const ex_mesh *cage = made->cage;
    assert_int_equal(count_boundary(cage), 0);
    assert_int_equal(cage->vertex_count - 2 * cage->face_count + cage->face_count, 2);
    const double v = volume(cage, (double[]){0, 1.2, 0});
    assert_true(v > 0.04 && v < 0.12);
    assert_true(has_group(cage, "toe.L") && has_group(cage, "head") && has_group(cage, "clavicle.R"));
    check_skin(made, kinematics);
    ex_template_destroy(made);
    ex_kinematics_destroy(kinematics);
}

/* Exactly about x = 0; about the base's x, for a body at any place, up to rounding. */
static void mirrored(void **state) {
    (void)state;
    static const char *const names[] = {"upper", "full"};
    for (int i = 0; i < 4; i++) {
        ex_kinematics *kinematics = shipped(names[i % 2]);
        const double middle = i < 2 ? 0 : 0.0371;
        int *map = NULL;
        ex_error error = {0};
        kinematics->joints[0].translation[0] = middle;
        ex_template *made = make(kinematics, NULL);
        if (ex_mesh_mirror_map(made->cage, 0, middle, 1e-9, &map, &error) != EX_OK)
            fail_msg("%s", error.text);
        for (int v = 0; v < made->cage->vertex_count; v++) {
            const double *a = made->cage->positions + 3 * v, *b = made->cage->positions + 3 * map[v];
            assert_true(map[v] != v && a[1] == b[1] && a[2] == b[2]);
            assert_near(a[0] + b[0], 2 * middle, i < 2 ? 0 : 1e-15);
        }
        free(map);
        ex_template_destroy(made);
        ex_kinematics_destroy(kinematics);
    }
}

static int find(const ex_kinematics *kinematics, const char *name) {
    const int joint = ex_kinematics_find_joint(kinematics, name);
    assert_true(joint >= 0);
    return joint;
}

/* The reference may stand in any pose, and left and right may differ: the cage is planned in the neutral pose, so it
 * has the same faces, on all joints, and its rings lie around the bones of the reference. */
static void any_reference(void **state) {
    (void)state;
    static const struct {
        const char *joint;
        double q[4];
    } turns[] = {{"waist", {0.2, 0.1, 0.1, 1}},      {"shoulder.L", {0, 0, 0.7, 0.7}}, {"elbow.L", {0, -0.6, 0, 0.8}},
                 {"shoulder.R", {0.1, 0, 0.5, 0.8}}, {"hip.L", {-0.6, 0, 0.1, 0.7}},   {"knee.L", {0.7, 0, 0, 0.7}},
                 {"hips", {0.1, 0.6, 0.1, 0.8}}};
    enum { TURNS = sizeof turns / sizeof turns[0] };
    ex_kinematics *kinematics = shipped("full"), *posed = ex_kinematics_copy(kinematics);
    ex_template *plain = make(kinematics, NULL);
    const size_t joints = (size_t)kinematics->joint_count;
    double(*neutral)[4] = malloc(joints * sizeof *neutral);
    double(*places)[3] = malloc(joints * sizeof *places);
    ex_error error = {0};
    assert_true(posed && neutral && places);
    /* Lean the first bone of the trunk, and make one side longer: a fit finds such things. */
    posed->joints[find(posed, "waist")].translation[2] += 0.05;
    for (int i = 0; i < 3; i++)
        posed->joints[find(posed, "elbow.L")].translation[i] *= 1.1;
    for (size_t j = 0; j < joints; j++) {
        posed->joints[j].mirror = -1;
        memcpy(neutral[j], (const double[4]){0, 0, 0, 1}, sizeof neutral[j]);
    }
    for (int i = 0; i < TURNS; i++) {
        double *q = neutral[find(posed, turns[i].joint)], length = 0;
        for (int c = 0; c < 4; c++)
            length += turns[i].q[c] * turns[i].q[c];
        for (int c = 0; c < 4; c++)
            q[c] = turns[i].q[c] / sqrt(length);
    }
    if (ex_kinematics_rebase(posed, (const double(*)[4])neutral, true, NULL, 0, &error) != EX_OK)
        fail_msg("%s", error.text);
    const ex_template_options options = {.neutral = (const double(*)[4])neutral};
    ex_template *made = make(posed, &options);
    assert_int_equal(made->cage->vertex_count, plain->cage->vertex_count);
    assert_int_equal(made->cage->face_count, plain->cage->face_count);
    assert_int_equal(made->cage->group_count, plain->cage->group_count);
    for (size_t j = 0; j < joints; j++)
        for (int c = 0; c < 3; c++)
            places[j][c] = posed->joints[j].translation[c] + (j > 0 ? places[posed->joints[j].parent][c] : 0);
    const ex_scene_primitive *p = made->scene->meshes[0].primitives;
    int limb = 0;
    for (int v = 0; v < made->cage->vertex_count; v++) /* points of one lower arm or leg are near that bone */
        for (int i = 0; i < p->influence_count; i++) {
            const int joint = p->joints[v * p->influence_count + i];
            if (p->weights[v * p->influence_count + i] < 0.9F || strncmp(posed->joints[joint].name, "knee", 4) != 0)
                continue;
            double bone[3], away[3];
            exi_subtract(places[joint + 1], places[joint], bone);
            exi_subtract(made->cage->positions + 3 * v, places[joint], away);
            const double length = exi_dot3(bone, bone), t = exi_dot3(away, bone) / length;
            for (int c = 0; c < 3; c++)
                away[c] -= t * bone[c];
            assert_true(t > 0 && t < 1 && exi_dot3(away, away) < 0.15 * 0.15);
            limb++;
        }
    assert_true(limb >= 8);
    check_skin(made, posed);
    free(neutral);
    free(places);
    ex_template_destroy(made);
    ex_template_destroy(plain);
    ex_kinematics_destroy(posed);
    ex_kinematics_destroy(kinematics);
}

/* ---- half-way frames ---- */

/* The cage at a pose. */
static float *pose_cage(const ex_rig *rig, const ex_kinematics *kinematics, const ex_kin_pose *pose) {
    ex_transform joints[64];
    const ex_evaluation evaluation = {.level = 0};
    float *positions = malloc(3 * sizeof(float) * (size_t)ex_rig_vertex_count(rig));
    void *scratch = malloc(ex_rig_scratch_size(rig, &evaluation, 1));
    assert_true(positions && scratch && kinematics->joint_count <= 64);
    ex_template_pose(kinematics, pose, joints);
    const ex_output output = {.positions = positions};
    ex_rig_evaluate(rig, &(ex_pose){.joints = joints}, &output, &evaluation, scratch);
    free(scratch);
    return positions;
}

static void half_way(const double a[4], const double b[4], double out[4]) {
    double dot = 0;
    for (int c = 0; c < 4; c++)
        dot += a[c] * b[c];
    for (int c = 0; c < 4; c++)
        out[c] = a[c] + (dot < 0 ? -b[c] : b[c]);
    assert_true(exi_normalise(out, 4));
}

/* A vertex that two joints, parent and child, move by halves: the half-way rotation about the child's place. */
static void halves_are_half_way(void **state) {
    (void)state;
    ex_kinematics *kinematics = shipped("full");
    ex_template *made = make(kinematics, NULL);
    ex_rig *rig = NULL;
    ex_error error = {0};
    uint64_t seed = 5;
    double rotations[64][4], worlds[64][4], places[64][3], rest[64][4], rest_places[64][3];
    ex_kin_pose pose;
    int seen = 0;
    if (ex_template_rig(made, 1, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(ex_rig_skinning(rig), EX_SKINNING_DUAL_QUATERNION);
    skeleton_rest(kinematics, &pose, rotations);
    ex_kin_frames(kinematics, &pose, rest, rest_places);
    for (int j = 0; j < kinematics->joint_count; j++)
        for (int c = 0; c < 4; c++)
            rotations[j][c] = random_between(&seed, -0.4, 0.4) + (c == 3);
    for (int j = 0; j < kinematics->joint_count; j++)
        assert_true(exi_normalise(rotations[j], 4));
    ex_kin_frames(kinematics, &pose, worlds, places);
    float *posed = pose_cage(rig, kinematics, &pose);
    const ex_scene_primitive *p = made->scene->meshes[0].primitives;
    for (int v = 0; v < p->vertex_count; v++) {
        const uint16_t *joints = p->joints + v * p->influence_count;
        const float *weights = p->weights + v * p->influence_count;
        if (fabsf(weights[0] - 0.5F) > 1e-6F || fabsf(weights[1] - 0.5F) > 1e-6F)
            continue;
        const int child = joints[0] > joints[1] ? joints[0] : joints[1], parent = joints[0] + joints[1] - child;
        if (kinematics->joints[child].parent != parent)
            continue;
        double q[4], away[3], moved[3];
        half_way(worlds[parent], worlds[child], q);
        exi_subtract(made->cage->positions + 3 * v, rest_places[child], away);
        exi_rotate(q, away, moved);
        for (int c = 0; c < 3; c++)
            assert_near((double)posed[3 * v + c], moved[c] + places[child][c], 2e-6);
        seen++;
    }
    assert_true(seen >= 60);
    free(posed);
    ex_rig_destroy(rig);
    ex_template_destroy(made);
    ex_kinematics_destroy(kinematics);
}

/* Turned by 90 degrees, the middle of a forearm turns by half of that, and the elbow not at all. */
static void twist_is_spread(void **state) {
    (void)state;
    ex_kinematics *kinematics = shipped("upper");
    ex_template *made = make(kinematics, NULL);
    ex_rig *rig = NULL;
    ex_error error = {0};
    double rotations[64][4];
    ex_kin_pose pose;
    int seen[2] = {0};
    if (ex_template_rig(made, 1, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    skeleton_rest(kinematics, &pose, rotations);
    skeleton_turn(kinematics, &pose, "forearm.L", (double[]){1, 0, 0}, 90);
    float *posed = pose_cage(rig, kinematics, &pose);
    for (int v = 0; v < made->cage->vertex_count; v++) {
        const double *p = made->cage->positions + 3 * v;
        const double x = p[0] - 0.46, y = p[1] - 1.42, z = p[2] + 0.03; /* from the elbow */
        const bool elbow = fabs(x) < 0.02, middle = fabs(x - 0.13) < 0.02;
        if (!elbow && !middle)
            continue;
        const double turned = atan2((double)posed[3 * v + 2] + 0.03, (double)posed[3 * v + 1] - 1.42) - atan2(z, y);
        assert_near(remainder(turned, 6.283185307179586), elbow ? 0 : 0.7853981633974483, 1e-4);
        seen[middle]++;
    }
    assert_true(seen[0] == 4 && seen[1] == 4);
    free(posed);
    ex_rig_destroy(rig);
    ex_template_destroy(made);
    ex_kinematics_destroy(kinematics);
}

/* ---- poses ---- */

/* Each joint alone, about three axes and back: no face of the cage is reversed, seen from its own bone, nor
 * collapses. */
static void faces_stay(void **state) {
    (void)state;
    ex_kinematics *kinematics = shipped("full");
    ex_template *made = make(kinematics, NULL);
    const ex_mesh *cage = made->cage;
    ex_rig *rig = NULL;
    ex_error error = {0};
    double rotations[64][4], worlds[64][4];
    ex_kin_pose pose;
    if (ex_template_rig(made, 1, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int j = 1; j < kinematics->joint_count; j++)
        for (int turn = 0; turn < 6; turn++) {
            const double axis[3] = {turn / 2 == 0, turn / 2 == 1, turn / 2 == 2}, sign = turn % 2 ? -1 : 1;
            const bool hinge = kinematics->joints[j].freedom == EX_FREEDOM_HINGE;
            const bool clavicle = strncmp(kinematics->joints[j].name, "clavicle", 8) == 0;
            skeleton_rest(kinematics, &pose, rotations);
            skeleton_turn(kinematics, &pose, kinematics->joints[j].name, hinge ? kinematics->joints[j].axis : axis,
                          sign * (hinge      ? 75
                                  : clavicle ? 20
                                             : 45));
            ex_kin_frames(kinematics, &pose, worlds, NULL);
            float *posed = pose_cage(rig, kinematics, &pose);
            for (int f = 0; f < cage->face_count; f++) {
                const int *corners = cage->corners + 4 * f;
                const int joint = skeleton_find(kinematics, cage->group_names[cage->face_groups[f]]);
                double d[2][2][3], n[2][3], turned[3];
                for (int k = 0; k < 2; k++)
                    for (int c = 0; c < 3; c++) {
                        const int a = 3 * corners[k] + c, b = 3 * corners[k + 2] + c;
                        d[0][k][c] = cage->positions[b] - cage->positions[a];
                        d[1][k][c] = (double)(posed[b] - posed[a]);
                    }
                exi_cross(d[0][0], d[0][1], n[0]);
                exi_cross(d[1][0], d[1][1], n[1]);
                exi_rotate(worlds[joint], n[0], turned);
                const double area = exi_dot3(n[0], n[0]);
                if (exi_dot3(turned, n[1]) < 0.1 * area)
                    fail_msg("face %d on %s is turned over by %s", f, kinematics->joints[joint].name,
                             kinematics->joints[j].name);
            }
            free(posed);
        }
    ex_rig_destroy(rig);
    ex_template_destroy(made);
    ex_kinematics_destroy(kinematics);
}

/* ---- other trees ---- */

/* For any tree, the surface is in one piece, faces outwards, and all joints move it. */
static void any_tree(void **state) {
    (void)state;
    static const skeleton_joint chain[] = {{"a", NULL, EX_FREEDOM_BASE, {0, 0, 0}, {0}},
                                           {"b", "a", EX_FREEDOM_BALL, {0.3, 0.1, 0}, {0}},
                                           {"c", "b", EX_FREEDOM_HINGE, {0.6, 0, 0.1}, {0, 0, 1}}};
    static const skeleton_joint animal[] = {{"pelvis", NULL, EX_FREEDOM_BASE, {0, 0.6, -0.4}, {0}},
                                            {"back", "pelvis", EX_FREEDOM_BALL, {0, 0.65, 0}, {0}},
                                            {"chest", "back", EX_FREEDOM_BALL, {0, 0.62, 0.3}, {0}},
                                            {"neck", "chest", EX_FREEDOM_BALL, {0, 0.7, 0.5}, {0}},
                                            {"head", "neck", EX_FREEDOM_BALL, {0, 0.9, 0.65}, {0}},
                                            {"fore.L", "chest", EX_FREEDOM_BALL, {0.12, 0.5, 0.32}, {0}},
                                            {"carpus.L", "fore.L", EX_FREEDOM_HINGE, {0.12, 0.25, 0.32}, {1, 0, 0}},
                                            {"hind.L", "pelvis", EX_FREEDOM_BALL, {0.12, 0.5, -0.4}, {0}},
                                            {"hock.L", "hind.L", EX_FREEDOM_HINGE, {0.12, 0.25, -0.45}, {1, 0, 0}}};
    static const skeleton_joint one_arm[] = {{"base", NULL, EX_FREEDOM_BASE, {0, 1, 0}, {0}},
                                             {"spine", "base", EX_FREEDOM_BALL, {0, 1, 0}, {0}}, /* in one place */
                                             {"neck", "spine", EX_FREEDOM_BALL, {0, 1.5, 0}, {0}},
                                             {"head", "neck", EX_FREEDOM_BALL, {0, 1.6, 0}, {0}},
                                             {"arm", "spine", EX_FREEDOM_BALL, {0.2, 1.4, 0}, {0}},
                                             {"hand", "arm", EX_FREEDOM_BALL, {0.5, 1.3, 0}, {0}},
                                             {"thumb", "hand", EX_FREEDOM_BALL, {0.52, 1.3, 0.03}, {0}},
                                             {"finger", "hand", EX_FREEDOM_BALL, {0.58, 1.3, 0}, {0}}};
    static const struct {
        const skeleton_joint *table;
        int count;
        double inside[3];
    } trees[] = {{chain, 3, {0.3, 0.1, 0}}, {animal, 9, {0, 0.63, 0}}, {one_arm, 8, {0, 1.2, 0}}};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        ex_kinematics *kinematics = skeleton_make(trees[i].table, trees[i].count);
        ex_template *made = make(kinematics, NULL);
        ex_rig *rig = NULL;
        ex_error error = {0};
        count_boundary(made->cage);
        assert_true(volume(made->cage, trees[i].inside) > 0);
        check_skin(made, kinematics);
        if (ex_template_rig(made, 1, &rig, &error) != EX_OK)
            fail_msg("%s", error.text);
        ex_rig_destroy(rig);
        ex_template_destroy(made);
        skeleton_destroy(kinematics);
    }
}

/* Removes the last joint, and its markers. */
static void drop_last(ex_kinematics *kinematics) {
    const int last = --kinematics->joint_count;
    int count = 0;
    free(kinematics->joints[last].name);
    for (int i = 0; i < kinematics->site_count; i++)
        if (kinematics->sites[i].joint == last)
            free(kinematics->sites[i].name);
        else
            kinematics->sites[count++] = kinematics->sites[i];
    kinematics->site_count = count;
}

/* The right leg has no toe, then no foot, and so on: the left one keeps its own, and nothing is mirrored onto the other
 * side. */
static void sides_may_differ(void **state) {
    (void)state;
    ex_kinematics *kinematics = shipped("full");
    for (int lost = 1; lost <= 3; lost++) {
        drop_last(kinematics);
        ex_template *made = make(kinematics, NULL);
        assert_int_equal(count_boundary(made->cage), 0);
        assert_true(volume(made->cage, (double[]){0, 1.2, 0}) > 0.03);
        assert_true(has_group(made->cage, "toe.L") && !has_group(made->cage, "toe.R"));
        check_skin(made, kinematics);
        ex_template_destroy(made);
    }
    ex_kinematics_destroy(kinematics);
}

/* With two fingers of about the same length, the longest path may follow another one on each side. */
static void paths_may_differ(void **state) {
    (void)state;
    static const skeleton_joint hands[] = {{"base", NULL, EX_FREEDOM_BASE, {0, 1, 0}, {0}},
                                           {"chest", "base", EX_FREEDOM_BALL, {0, 1.3, 0}, {0}},
                                           {"head", "chest", EX_FREEDOM_BALL, {0, 1.6, 0}, {0}},
                                           {"arm.L", "chest", EX_FREEDOM_BALL, {0.2, 1.4, 0}, {0}},
                                           {"hand.L", "arm.L", EX_FREEDOM_BALL, {0.5, 1.4, 0}, {0}},
                                           {"middle.L", "hand.L", EX_FREEDOM_BALL, {0.6, 1.4, 0}, {0}},
                                           {"tip.L", "middle.L", EX_FREEDOM_BALL, {0.65, 1.4, 0}, {0}},
                                           {"ring.L", "hand.L", EX_FREEDOM_BALL, {0.651, 1.4, 0.02}, {0}}};
    ex_kinematics *kinematics = skeleton_make(hands, 8);
    for (int side = 0; side < 3; side++) {
        const int joint = skeleton_find(kinematics, side == 1 ? "ring.L" : "ring.R");
        ex_template *made = make(kinematics, NULL);
        count_boundary(made->cage);
        assert_true(volume(made->cage, (double[]){0, 1.2, 0}) > 0);
        check_skin(made, kinematics);
        ex_template_destroy(made);
        kinematics->joints[joint].translation[0] *= 0.9;
    }
    skeleton_destroy(kinematics);
}

/* ---- errors ---- */

static void invalid(void **state) {
    (void)state;
    static const skeleton_joint lone[] = {{"base", NULL, EX_FREEDOM_BASE, {0, 1, 0}, {0}}};
    static const skeleton_joint still[] = {{"base", NULL, EX_FREEDOM_BASE, {0, 1, 0}, {0}},
                                           {"waist", "base", EX_FREEDOM_BALL, {0, 1, 0}, {0}}};
    ex_template *made = NULL;
    ex_error error = {0};
    ex_kinematics *kinematics = skeleton_make(lone, 1);
    assert_int_equal(ex_template_create(kinematics, NULL, &made, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "two joints");
    assert_null(made);
    skeleton_destroy(kinematics);
    kinematics = skeleton_make(still, 2);
    assert_int_equal(ex_template_create(kinematics, NULL, &made, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "one place");
    kinematics->joints[1].translation[1] = NAN;
    assert_int_equal(ex_template_create(kinematics, NULL, &made, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "not finite");
    skeleton_destroy(kinematics);

    ex_rig *rig = NULL;
    kinematics = shipped("upper");
    made = make(kinematics, NULL);
    made->scene->meshes[0].primitives[0].vertex_count--;
    assert_int_equal(ex_template_rig(made, 2, &rig, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "88 vertices");
    assert_null(rig);
    ex_template_destroy(made);
    ex_kinematics_destroy(kinematics);
}

static ex_result attempt(void *context) {
    ex_template *made = NULL;
    ex_rig *rig = NULL;
    ex_error error = {0};
    ex_result result = ex_template_create(context, NULL, &made, &error);
    if (result == EX_OK)
        result = ex_template_rig(made, 1, &rig, &error);
    ex_rig_destroy(rig);
    ex_template_destroy(made);
    return result;
}

static void memory(void **state) {
    (void)state;
    ex_kinematics *kinematics = shipped("upper");
    assert_true(fail_alloc_sweep(attempt, kinematics) > 30);
    ex_kinematics_destroy(kinematics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upper_body),
        cmocka_unit_test(whole_body),
        cmocka_unit_test(any_reference),
        cmocka_unit_test(mirrored),
        cmocka_unit_test(halves_are_half_way),
        cmocka_unit_test(twist_is_spread),
        cmocka_unit_test(faces_stay),
        cmocka_unit_test(any_tree),
        cmocka_unit_test(sides_may_differ),
        cmocka_unit_test(paths_may_differ),
        cmocka_unit_test(invalid),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
