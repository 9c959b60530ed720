/*
 * Clips on rigs of other proportions, other rest poses and other axes: the resulting places of joints, worked by
 * hand.
 */
#include "skeletons.h"

#include "support/fail_alloc.h"

/* A clip in a T pose, the arm along x, in another unit of length. */
static const bone man[] = {
    {"Hips", -1, 0, 0, 0, {0}},    {"Chest", 0, 0, 40, 0, {0}},  {"Arm", 1, 10, 0, 0, {0}},
    {"ForeArm", 2, 30, 0, 0, {0}}, {"_fist", 3, 20, 0, 0, {0}},  {"Leg", 0, 10, 0, 0, {0}},
    {"Foot", 5, 0, -90, 0, {0}},   {"_toe", 6, 0, -10, 10, {0}}, {"Head", 1, 0, 20, 0, {0}},
    {"_top", 8, 0, 10, 0, {0}},
};
enum { MAN = sizeof man / sizeof *man, HIPS = 0, CHEST, ARM, FOREARM, LEG = 5, FOOT, HEAD = 8 };

/* A rig of a tenth of the size whose arm hangs down, with joints in between, turned axes, and a root on the floor. */
static const bone doll[] = {
    {"ground", -1, 0, -0.5f, 0, {0}},
    {"hips", 0, 0, 5, 0, {0, 0.6f, 0, 0.8f}},
    {"chest", 1, 0, 3, 0, {0, 0, 0, 0}},
    {"arm", 2, 0.28f, 0, 0.96f, {0.6f, 0, 0, 0.8f}}, /* at (1, 3, 0) in the world except for the hips' height */
    {"arm_twist", 3, 0, -0.28f, 0.96f, {0, 0, 0, 0}},
    {"fore_arm", 4, 0, -0.28f, 0.96f, {0, 0, 0, 0}},
    {"fist", 5, 0, -0.28f, 0.96f, {0, 0, 0, 0}},
};
enum { DOLL = sizeof doll / sizeof *doll, D_HIPS = 1, D_CHEST, D_ARM, D_TWIST, D_FOREARM, D_FIST };

/* The world places of the doll at rest: its arm hangs along -y. */
static void doll_at_rest(void **state) {
    (void)state;
    ex_rig *rig = bones_rig(doll, DOLL);
    ex_pose pose = ex_pose_create(rig);
    float worlds[DOLL][12];
    pose_worlds(rig, &pose, worlds);
    check_place(worlds[D_HIPS], 0, 4.5, 0);
    check_place(worlds[D_ARM], 1, 7.5, 0);
    check_place(worlds[D_TWIST], 1, 6.5, 0);
    check_place(worlds[D_FOREARM], 1, 5.5, 0);
    check_place(worlds[D_FIST], 1, 4.5, 0);
    free(pose.inputs);
    ex_rig_destroy(rig);
}

/* With the clip at rest the doll has the clip's pose; then each turn of the clip turns the doll equally. */
static void directions_and_turns(void **state) {
    (void)state;
    ex_rig *rig = bones_rig(doll, DOLL);
    ex_clip *clip = bones_clip(man, MAN, 4);
    turn_local(clip_local(clip, 1, ARM), 2, 90);     /* the arm up */
    turn_local(clip_local(clip, 2, FOREARM), 1, 90); /* the forearm to the back */
    turn_local(clip_local(clip, 3, HIPS), 1, 180);   /* all of it turned round */
    ex_motion *motion = bring(clip, rig, NULL);
    assert_int_equal(motion->matched_count, 4);
    const double s = 5 / 100.0; /* 4.5 + 0.5 over the 100 from the hips down to the toes */
    assert_near(motion->scale, s, 1e-7);
    float worlds[DOLL][12];
    const double floor = -0.5;
    pose_worlds(rig, &motion->poses[0], worlds);
    check_place(worlds[D_HIPS], 0, floor, 0); /* which are at height 0 in the clip, that is on its ground */
    check_place(worlds[D_CHEST], 0, floor + 3, 0);
    check_place(worlds[D_ARM], 1, floor + 3, 0);
    check_place(worlds[D_TWIST], 2, floor + 3, 0);
    check_place(worlds[D_FOREARM], 3, floor + 3, 0);
    check_place(worlds[D_FIST], 4, floor + 3, 0); /* along the end site */
    pose_worlds(rig, &motion->poses[1], worlds);
    check_place(worlds[D_ARM], 1, floor + 3, 0);
    check_place(worlds[D_FOREARM], 1, floor + 5, 0);
    check_place(worlds[D_FIST], 1, floor + 6, 0);
    pose_worlds(rig, &motion->poses[2], worlds);
    check_place(worlds[D_FOREARM], 3, floor + 3, 0);
    check_place(worlds[D_FIST], 3, floor + 3, -1);
    pose_worlds(rig, &motion->poses[3], worlds);
    check_place(worlds[D_ARM], -1, floor + 3, 0);
    check_place(worlds[D_FIST], -4, floor + 3, 0);
    /* Joints in between stay at rest, and so do those that nothing moves. */
    const ex_transform twist = ex_skeleton_rest(ex_rig_skeleton(rig), D_TWIST);
    for (int p = 0; p < 4; p++)
        assert_memory_equal(&motion->poses[p].joints[D_TWIST], &twist, sizeof twist);
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

/* The path: scaled by the heights of the hips, from floor to floor, in the frame of the parent. */
static void path(void **state) {
    (void)state;
    bone turned[DOLL];
    memcpy(turned, doll, sizeof doll);
    turned[0].turn[1] = turned[0].turn[3] = (float)sqrt(0.5); /* z of the hips' parent is x */
    turned[0].x = 7;
    ex_rig *rig = bones_rig(turned, DOLL);
    ex_clip *clip = bones_clip(man, MAN, 2);
    const float to[3] = {200, 120, -40};
    memcpy(clip_local(clip, 1, HIPS)->translation, to, sizeof to);
    clip->ground = 20;
    ex_motion *motion = bring(clip, rig, NULL);
    float worlds[DOLL][12];
    assert_near(motion->scale, 0.05, 1e-7);
    pose_worlds(rig, &motion->poses[1], worlds);
    check_place(worlds[D_HIPS], 10, -0.5 + 5, -2);
    check_place(worlds[0], 7, -0.5, 0);
    ex_motion_destroy(motion);
    /* A clip that only turns leaves the root where the rig has it. */
    clip->root_moves = false;
    motion = bring(clip, rig, NULL);
    const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(rig), D_HIPS);
    for (int p = 0; p < 2; p++)
        assert_memory_equal(motion->poses[p].joints[D_HIPS].translation, rest.translation, sizeof rest.translation);
    assert_true(motion->scale == 1);
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

/* An arm without its body does not follow the body's path. */
static void parts_stay(void **state) {
    (void)state;
    ex_rig *rig = bones_rig(doll, DOLL);
    ex_clip *clip = bones_clip(man, MAN, 2);
    clip_local(clip, 1, HIPS)->translation[0] = 500;
    turn_local(clip_local(clip, 1, ARM), 2, 90);
    ex_joint_pair pairs[] = {{"arm", "Arm", {0}, false}, {"fore_arm", "ForeArm", {0}, false}};
    ex_motion *motion = bring(clip, rig, &(ex_joint_map){2, pairs});
    float worlds[DOLL][12];
    pose_worlds(rig, &motion->poses[1], worlds);
    check_place(worlds[D_ARM], 1, 7.5, 0);
    check_place(worlds[D_FOREARM], 1, 9.5, 0);
    assert_int_equal(motion->matched_count, 2);
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

/* Only the turn about the hinge is left, and the joint below compensates. */
static void hinges(void **state) {
    (void)state;
    static const bone arm[] = {
        {"Arm", -1, 0, 5, 0, {0}}, {"ForeArm", 0, 1, 0, 0, {0}}, {"Hand", 1, 1, 0, 0, {0}}, {"_tip", 2, 1, 0, 0, {0}}};
    static const bone ours[] = {{"Arm", -1, 0, 5, 0, {0}},
                                {"ForeArm", 0, 1, 0, 0, {0}},
                                {"Hand", 1, 1, 0, 0, {0}},
                                {"Tip", 2, 0.5f, 0, 0, {0}}};
    ex_rig *rig = bones_rig(ours, 4);
    ex_clip *clip = bones_clip(arm, 4, 2);
    turn_local(clip_local(clip, 1, 1), 0, 25); /* comes first, about its own axis */
    turn_local(clip_local(clip, 1, 1), 2, 60);
    ex_joint_pair pairs[] = {
        {"Arm", "Arm", {0}, false}, {"ForeArm", "ForeArm", {0, 0, 3}, false}, {"Hand", "Hand", {0}, false}};
    ex_motion *motion = bring(clip, rig, &(ex_joint_map){3, pairs});
    const float *q = motion->poses[1].joints[1].rotation;
    assert_near((double)q[0], 0, 1e-6);
    assert_near((double)q[1], 0, 1e-6);
    assert_near(fabs(2 * atan2((double)q[2], (double)q[3])), 60 * acos(-1) / 180, 1e-5);
    float worlds[4][12];
    pose_worlds(rig, &motion->poses[1], worlds);
    /* The hand has the complete turn: Rz(60) Rx(25), whose second column is cos 25 (-sin 60, cos 60), sin 25. */
    const double c25 = cos(25 * acos(-1) / 180), s25 = sin(25 * acos(-1) / 180);
    assert_near((double)worlds[2][1], -c25 * sqrt(0.75), 1e-5);
    assert_near((double)worlds[2][5], c25 * 0.5, 1e-5);
    assert_near((double)worlds[2][9], s25, 1e-5);
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

/* Hips with three bones: a rig that rests lying on its back and turned is turned upright, exactly. */
static void several_bones(void **state) {
    (void)state;
    static const bone theirs[] = {{"Hips", -1, 0, 9, 0, {0}},
                                  {"Spine", 0, 0.1f, 3, 0.2f, {0}},
                                  {"L", 0, 1, -1, 0, {0}},
                                  {"R", 0, -1, -1, 0.1f, {0}}};
    /* The same turned by 90 degrees about x (y becomes z, z becomes -y), and twice as large. */
    static const bone ours[] = {{"Hips", -1, 0, 9, 0, {0}},
                                {"Spine", 0, 0.2f, -0.4f, 6, {0}},
                                {"L", 0, 2, 0, -2, {0}},
                                {"R", 0, -2, -0.2f, -2, {0}}};
    ex_rig *rig = bones_rig(ours, 4);
    ex_clip *clip = bones_clip(theirs, 4, 1);
    ex_motion *motion = bring(clip, rig, NULL);
    const double h = sqrt(0.5);
    const float *q = motion->poses[0].joints[0].rotation;
    assert_near((double)(q[3] < 0 ? -q[0] : q[0]), -h, 1e-6);
    assert_near((double)q[1], 0, 1e-6);
    assert_near((double)q[2], 0, 1e-6);
    assert_near(fabs((double)q[3]), h, 1e-6);
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    /* Two bones along one line do not determine the turn about it: then there is none. */
    static const bone line[] = {{"Hips", -1, 0, 9, 0, {0}}, {"L", 0, 1, 0, 0, {0}}, {"R", 0, -1, 0, 0, {0}}};
    clip = bones_clip(line, 3, 1);
    ex_rig *beam =
        bones_rig((const bone[]){{"Hips", -1, 0, 9, 0, {0}}, {"L", 0, 0, 2, 0, {0}}, {"R", 0, 0, -2, 0, {0}}}, 3);
    motion = bring(clip, beam, NULL);
    q = motion->poses[0].joints[0].rotation;
    assert_near(fabs((double)q[2]), h, 1e-6);
    assert_near((double)q[0], 0, 1e-6);
    assert_near((double)q[1], 0, 1e-6);
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(beam);
    ex_rig_destroy(rig);
}

/* A forearm that is bent at rest, forwards, below an upper arm that hangs: straight in a T pose, and nothing is twisted
 * against the upper arm. By shortest arcs from the rest alone it would be, by a quarter turn. */
static void bent_at_rest(void **state) {
    (void)state;
    static const bone theirs[] = {
        {"Arm", -1, 0, 5, 0, {0}}, {"ForeArm", 0, 2, 0, 0, {0}}, {"Hand", 1, 2, 0, 0, {0}}, {"_tip", 2, 1, 0, 0, {0}}};
    static const bone ours[] = {
        {"Arm", -1, 0, 5, 0, {0}}, {"ForeArm", 0, 0, -2, 0, {0}}, {"Hand", 1, 0, 0, 2, {0}}, {"Tip", 2, 0, 0, 1, {0}}};
    ex_rig *rig = bones_rig(ours, 4);
    ex_clip *clip = bones_clip(theirs, 4, 1);
    ex_motion *motion = bring(clip, rig, NULL);
    float worlds[4][12];
    pose_worlds(rig, &motion->poses[0], worlds);
    check_place(worlds[3], (double)worlds[0][3] + 5, worlds[0][7], worlds[0][11]);
    /* Relative to the upper arm, the forearm's z is turned onto its -y about x, a quarter turn. */
    const float *q = motion->poses[0].joints[1].rotation;
    assert_near(fabs((double)q[0]), sqrt(0.5), 1e-6);
    assert_near((double)q[1], 0, 1e-6);
    assert_near((double)q[2], 0, 1e-6);
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

/* Several toes follow one: the middle between them points along the other skeleton's foot. */
static void toes(void **state) {
    (void)state;
    static const bone theirs[] = {{"Foot", -1, 0, 1, 0, {0}}, {"Toe", 0, 0, 0, 2, {0}}, {"_end", 1, 0, 0, 1, {0}}};
    static const bone ours[] = {{"Foot", -1, 0, 1, 0, {0}}, {"big", 0, 1, 0, 1, {0}}, {"little", 0, 1, 0, -1, {0}}};
    ex_rig *rig = bones_rig(ours, 3);
    ex_clip *clip = bones_clip(theirs, 3, 1);
    ex_joint_pair pairs[] = {{"Foot", "Foot", {0}, false}, {"big", "Toe", {0}, false}, {"little", "Toe", {0}, false}};
    ex_motion *motion = bring(clip, rig, &(ex_joint_map){3, pairs});
    float worlds[3][12];
    pose_worlds(rig, &motion->poses[0], worlds);
    check_place(worlds[1], (double)worlds[0][3] - 1, worlds[0][7], (double)worlds[0][11] + 1);
    check_place(worlds[2], (double)worlds[0][3] + 1, worlds[0][7], (double)worlds[0][11] + 1);
    /* As it rests: nothing of this. */
    pairs[0].as_it_rests = true;
    ex_motion_destroy(motion);
    motion = bring(clip, rig, &(ex_joint_map){3, pairs});
    pose_worlds(rig, &motion->poses[0], worlds);
    check_place(worlds[1], (double)worlds[0][3] + 1, worlds[0][7], (double)worlds[0][11] + 1);
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

/* Hips far above their legs in the clip, and level with them in the rig: feet that are on the ground in the clip are on
 * the floor in the rig, legs straight or bent, and keep their place. */
static void feet_stand(void **state) {
    (void)state;
    static const bone theirs[] = {{"Hips", -1, 0, 0, 0, {0}},
                                  {"UpLeg", 0, 2, -5, 0, {0}},
                                  {"Leg", 1, 6, -8, 0, {0}}, /* straddling */
                                  {"Foot", 2, 6, -8, 0, {0}},
                                  {"_toe", 3, 0, 0, 3, {0}}};
    static const bone ours[] = {{"Hips", -1, 0, 2.5f, 0, {0}},
                                {"UpLeg", 0, 0.3f, 0, 0, {0}},
                                {"Leg", 1, 0, -1, 0, {0}},
                                {"Foot", 2, 0, -1, 0, {0}}};
    ex_rig *rig = bones_rig(ours, 4);
    ex_clip *clip = bones_clip(theirs, 5, 2);
    const double straddle = atan2(0.6, 0.8) * 180 / acos(-1);
    turn_local(clip_local(clip, 0, 1), 2, -straddle); /* upright */
    clip_local(clip, 0, 0)->translation[1] = 25;
    turn_local(clip_local(clip, 1, 1), 2, -straddle);
    turn_local(clip_local(clip, 1, 1), 0, 90 - straddle); /* the foot stays; the hips are farther on by 0.8 legs */
    clip_local(clip, 1, 0)->translation[1] = 17;
    clip_local(clip, 1, 0)->translation[2] = 16;
    ex_joint_pair pairs[] = {{"Hips", "Hips", {0}, true},
                             {"UpLeg", "UpLeg", {0}, false},
                             {"Leg", "Leg", {0}, false},
                             {"Foot", "Foot", {0}, false}};
    ex_motion *motion = bring(clip, rig, &(ex_joint_map){4, pairs});
    assert_near(motion->scale, 0.1, 1e-7); /* a leg of 2 for one of 20 */
    float worlds[4][12];
    for (int p = 0; p < 2; p++) {
        pose_worlds(rig, &motion->poses[p], worlds);
        check_place(worlds[0], 0, p == 0 ? 2.5 : 1.7, p == 0 ? 0 : 1.6);
        check_place(worlds[3], 0.3, 0.5, 0); /* where our foot rests */
    }
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

/* The last bone: along the end site if both sides have one child, otherwise like the joint above. */
static void last_bones(void **state) {
    (void)state;
    static const bone theirs[] = {{"a", -1, 0, 9, 0, {0}}, {"b", 0, 0, -2, 0, {0}}, {"_e", 1, 0, 0, 3, {0}}};
    static const bone ours[] = {
        {"a", -1, 0, 9, 0, {0}}, {"b", 0, 2, 0, 0, {0}}, {"c", 1, 1, 0, 0, {0}}, {"d", 1, 0, 1, 0, {0}}};
    ex_clip *clip = bones_clip(theirs, 3, 1);
    for (int count = 3; count <= 4; count++) {
        ex_rig *rig = bones_rig(ours, count);
        ex_motion *motion = bring(clip, rig, NULL);
        float worlds[4][12];
        pose_worlds(rig, &motion->poses[0], worlds);
        assert_near((double)(worlds[1][7] - worlds[0][7]), -2, 1e-5);
        assert_near((double)(worlds[2][7] - worlds[1][7]), count == 3 ? 0 : -1, 1e-5);
        assert_near((double)(worlds[2][11] - worlds[1][11]), count == 3 ? 1 : 0, 1e-5);
        ex_motion_destroy(motion);
        ex_rig_destroy(rig);
    }
    ex_clip_destroy(clip);
}

/* Bones that point opposite ways, joints at one place, and a skeleton that is a single point. */
static void odd_skeletons(void **state) {
    (void)state;
    static const bone up[] = {
        {"a", -1, 0, 1, 0, {0}}, {"zero", 0, 0, 0, 0, {0}}, {"b", 1, 0, 2, 0, {0}}, {"_e", 2, 0, 2, 0, {0}}};
    static const bone down[] = {
        {"a", -1, 0, 9, 0, {0}}, {"zero", 0, 0, 0, 0, {0}}, {"b", 1, 0, -2, 0, {0}}, {"c", 2, 0, -2, 0, {0}}};
    ex_rig *rig = bones_rig(down, 4);
    ex_clip *clip = bones_clip(up, 4, 1);
    ex_motion *motion = bring(clip, rig, NULL);
    float worlds[4][12];
    pose_worlds(rig, &motion->poses[0], worlds);
    assert_near((double)(worlds[2][7] - worlds[0][7]), 2, 1e-5);
    assert_near((double)(worlds[3][7] - worlds[2][7]), 2, 1e-5);
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
    static const bone point[] = {{"a", -1, 0, 0, 0, {0}}, {"b", 0, 0, 0, 0, {0}}};
    rig = bones_rig((const bone[]){{"a", -1, 0, 0, 0, {0.6f, 0, 0, 0.8f}}, {"b", 0, 0, 0, 0, {0}}}, 2);
    clip = bones_clip(point, 2, 1);
    motion = bring(clip, rig, NULL);
    assert_true(motion->scale == 1);
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 4; i++)
            assert_true(isfinite(motion->poses[0].joints[j].rotation[i]));
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

/* The rig's own joints, with a node above that turns: unchanged transforms, to the bit. */
static void own_skeleton(void **state) {
    (void)state;
    ex_rig *rig = bones_rig(doll, DOLL);
    bone nodes[DOLL + 1] = {{"scene", -1, 0, 0, 0, {0}}};
    for (int j = 0; j < DOLL; j++) {
        nodes[j + 1] = doll[j];
        nodes[j + 1].parent++;
    }
    ex_clip *clip = bones_clip(nodes, DOLL + 1, 3);
    uint64_t random = 7;
    for (int f = 0; f < 3; f++)
        for (int j = 1; j <= DOLL; j++) {
            ex_transform *local = clip_local(clip, f, j);
            turn_local(local, j % 3, random_between(&random, -30, 30));
            for (int c = 0; c < 3; c++) {
                local->translation[c] += (float)random_between(&random, -1, 1);
                local->scale[c] = (float)random_between(&random, 0.5, 2);
            }
        }
    ex_motion *motion = bring(clip, rig, NULL);
    assert_int_equal(motion->matched_count, DOLL);
    assert_true(motion->scale == 1);
    for (int f = 0; f < 3; f++)
        for (int j = 0; j < DOLL; j++)
            assert_memory_equal(&motion->poses[f].joints[j], clip_local(clip, f, j + 1), sizeof(ex_transform));
    ex_motion_destroy(motion);
    /* The node above moves: its descendants move along. */
    for (int f = 0; f < 3; f++)
        clip_local(clip, f, 0)->translation[1] = 10;
    motion = bring(clip, rig, NULL);
    assert_near((double)motion->poses[0].joints[0].translation[1], (double)clip_local(clip, 0, 1)->translation[1] + 10,
                1e-6);
    ex_motion_destroy(motion);
    /* With a hinge it is no copy. */
    ex_joint_pair pairs[] = {{"arm", "arm", {1, 0, 0}, false}};
    motion = bring(clip, rig, &(ex_joint_map){1, pairs});
    assert_memory_not_equal(&motion->poses[0].joints[D_ARM], clip_local(clip, 0, D_ARM + 1), sizeof(ex_transform));
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

/* Quaternions of consecutive poses are near each other, however far the clip turns. */
static void no_flips(void **state) {
    (void)state;
    enum { FRAMES = 300 };
    ex_rig *rig = bones_rig(doll, DOLL);
    ex_clip *clip = bones_clip(man, MAN, FRAMES);
    for (int f = 0; f < FRAMES; f++)
        for (int j = 0; j < MAN; j++)
            if (!clip->joints[j].end) {
                turn_local(clip_local(clip, f, j), j % 3, 5 * f);
                turn_local(clip_local(clip, f, j), (j + 1) % 3, 90);
                for (int i = 0; i < 4 && f % 2; i++)
                    clip_local(clip, f, j)->rotation[i] *= -1;
            }
    ex_motion *motion = bring(clip, rig, NULL);
    for (int f = 1; f < FRAMES; f++)
        for (int j = 0; j < DOLL; j++) {
            double d = 0;
            for (int i = 0; i < 4; i++)
                d += pow((double)motion->poses[f].joints[j].rotation[i] -
                             (double)motion->poses[f - 1].joints[j].rotation[i],
                         2);
            assert_true(sqrt(d) < 0.2);
        }
    ex_motion_destroy(motion);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

typedef struct attempt {
    const ex_clip *clip;
    const ex_rig *rig;
} attempt;

static ex_result bring_once(void *context) {
    const attempt *a = context;
    ex_motion *motion = NULL;
    ex_result result = ex_motion_from_clip(a->clip, a->rig, NULL, &motion, NULL);
    assert_int_equal(motion != NULL, result == EX_OK);
    ex_motion_destroy(motion);
    return result;
}

static void survives_without_memory(void **state) {
    (void)state;
    ex_rig *rig = bones_rig(doll, DOLL);
    ex_clip *clip = bones_clip(man, MAN, 2);
    attempt a = {clip, rig};
    assert_true(fail_alloc_sweep(bring_once, &a) > 20);
    ex_clip_destroy(clip);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doll_at_rest),
        cmocka_unit_test(directions_and_turns),
        cmocka_unit_test(path),
        cmocka_unit_test(parts_stay),
        cmocka_unit_test(hinges),
        cmocka_unit_test(several_bones),
        cmocka_unit_test(odd_skeletons),
        cmocka_unit_test(last_bones),
        cmocka_unit_test(own_skeleton),
        cmocka_unit_test(no_flips),
        cmocka_unit_test(survives_without_memory),
        cmocka_unit_test(bent_at_rest),
        cmocka_unit_test(toes),
        cmocka_unit_test(feet_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
