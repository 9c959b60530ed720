/*
 * Skeleton and skin of the demo `arm`, as a scene: three joints, and smooth weights across elbow and wrist that depend
 * only on the position along the arm. They are spread over a length, as riggers do. The blended matrices visibly shrink
 * the elbow (Shape by Example, figure 6), but leave 0.57 of it at 110 degrees, the cosine of half the angle, and
 * un-posing stays far from having to damp.
 */
#include "arm.h"
#include "demos/bones.h"

static double smooth_step(double a, double b, double x) {
    double t = (x - a) / (b - a);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

static void weigh_vertex(const double place[3], float weights[BONES_MAX]) {
    const double x = place[0];
    const double forearm = smooth_step(ARM_ELBOW - 0.09, ARM_ELBOW + 0.09, x);
    const double hand = smooth_step(ARM_WRIST - 0.03, ARM_WRIST + 0.03, x);
    /* The two zones do not overlap: one weight is 0, and the others are w and 1 - w. */
    weights[1] = (float)(x < (ARM_ELBOW + ARM_WRIST) / 2 ? forearm : 1 - hand);
    weights[0] = x < (ARM_ELBOW + ARM_WRIST) / 2 ? 1 - weights[1] : 0;
    weights[2] = x < (ARM_ELBOW + ARM_WRIST) / 2 ? 0 : 1 - weights[1];
    weights[3] = 0;
}

ex_result exi_arm_scene(const ex_mesh *rest, ex_scene **scene, ex_error *error) {
    static const exi_bone bones[ARM_JOINTS] = {
        {"shoulder", -1, {0, 0, 0}}, {"forearm", 0, {ARM_ELBOW, 0, 0}}, {"hand", 1, {ARM_WRIST, 0, 0}}};
    return exi_bones_scene(&(exi_bones){"arm", bones, ARM_JOINTS, weigh_vertex}, rest, scene, error);
}
