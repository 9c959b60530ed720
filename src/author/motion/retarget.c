/*
 * Retargeting: poses a rig's joints at a frame of a clip.
 *
 * A clip of the rig's own skeleton is copied. For any other clip, let W be the world rotation of a joint of the rig and
 * V that of its counterpart in the clip, both at time t, with t = 0 at rest, and A the rotation of the rig's bones at
 * rest onto the clip's (bones.c):
 *
 *     W(t) = V(t) V(0)^-1 A W(0)
 *
 * The local rotation is W_parent(t)^-1 W(t). A joint with a hinge h keeps only the turn about h of its rotation
 * relative to rest. The root follows its counterpart's path x(t), scaled (path.c).
 */
#include "author/base/array.h"
#include "author/motion/motion.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/local.inl"
#include "runtime/pose/matrix.h"

#include <stdlib.h>
#include <string.h>

/* Largest difference at rest between skeletons that count as the same: positions in sizes of the skeleton, and
 * rotations and scales as numbers. */
#define SAME_PLACE 1e-5
#define SAME_TURN  1e-4

/* ---- the rig's own skeleton ---- */

static bool is_identity(const ex_transform *t) {
    const ex_transform identity = ex_transform_identity();
    for (int i = 0; i < 3; i++)
        if (t->translation[i] != 0 || t->scale[i] != 1)
            return false;
    return memcmp(t->rotation, identity.rotation, sizeof t->rotation) == 0;
}

/* Returns the transform of the clip's joint relative to the nearest matched joint above. It is the unchanged local
 * transform if all joints between are identities. back [joint_count of the clip]: index of the rig's joint that it
 * moves, or -1. */
static ex_transform relative(const ex_clip *clip, const int *back, const ex_transform *locals, int joint) {
    ex_transform t = locals ? locals[joint] : clip->joints[joint].rest;
    for (int j = clip->joints[joint].parent; j >= 0 && back[j] < 0; j = clip->joints[j].parent) {
        const ex_transform *above = locals ? &locals[j] : &clip->joints[j].rest;
        float a[12], b[12];
        double x[12], y[12];
        if (is_identity(above))
            continue;
        ex_transform_matrix(above, a);
        ex_transform_matrix(&t, b);
        exi_matrix_from_floats(a, x);
        exi_matrix_from_floats(b, y);
        exi_matrix_multiply(x, y, x);
        exi_matrix_to_floats(x, a);
        ex_transform_from_matrix(a, &t);
    }
    return t;
}

static int matched_above(const ex_clip *clip, const int *back, int joint) {
    for (int j = clip->joints[joint].parent; j >= 0; j = clip->joints[j].parent)
        if (back[j] >= 0)
            return back[j];
    return -1;
}

static bool same_rest(const ex_transform *a, const ex_transform *b, double size) {
    const ex_transform rest = ex_transform_identity();
    exi_local x, y;
    double place = 0, turn = 0, other = 0, scale = 0;
    exi_local_read(a, &rest, &x);
    exi_local_read(b, &rest, &y);
    for (int i = 0; i < 3; i++) {
        place += (x.translation[i] - y.translation[i]) * (x.translation[i] - y.translation[i]);
        scale += fabs(x.scale[i] - y.scale[i]);
    }
    for (int i = 0; i < 4; i++) {
        turn += (x.rotation[i] - y.rotation[i]) * (x.rotation[i] - y.rotation[i]);
        other += (x.rotation[i] + y.rotation[i]) * (x.rotation[i] + y.rotation[i]);
    }
    return sqrt(place) <= SAME_PLACE * size && sqrt(turn < other ? turn : other) <= SAME_TURN && scale <= SAME_TURN;
}

/* True if every matched joint has the same parent as its counterpart and the same rest. */
static bool is_own(const exi_retarget *r) {
    const exi_bones *b = &r->bones;
    const double size = exi_reach(b->rest, b->joint_count);
    for (int j = 0; j < b->joint_count; j++) {
        const int source = b->match->joints[j], parent = ex_skeleton_parent(b->skeleton, j);
        const double *hinge = b->match->hinges[j];
        if (source < 0)
            continue;
        if (r->back[source] != j || hinge[0] != 0 || hinge[1] != 0 || hinge[2] != 0 ||
            matched_above(b->clip, r->back, source) != parent)
            return false;
        const ex_transform theirs = relative(b->clip, r->back, NULL, source), ours = ex_skeleton_rest(b->skeleton, j);
        if (!same_rest(&theirs, &ours, size > 0 ? size : 1))
            return false;
    }
    return true;
}

/* ---- frames ---- */

static void conjugate(const double q[4], double out[4]) {
    for (int i = 0; i < 4; i++)
        out[i] = i < 3 ? -q[i] : q[i];
}

/* Computes the local rotation of a matched joint below `above`, which may be NULL. */
static void turn_joint(const exi_retarget *r, int joint, const exi_world *above, ex_transform *local) {
    const exi_bones *b = &r->bones;
    const int source = b->match->joints[joint];
    double q[4], inverse[4];
    conjugate(b->clip_rest[source].rotation, inverse);
    exi_quaternion_multiply(r->clip_worlds[source].rotation, inverse, q);
    exi_quaternion_multiply(q, b->align[joint], q);
    exi_quaternion_multiply(q, b->rest[joint].rotation, q);
    if (above) {
        conjugate(above->rotation, inverse);
        exi_quaternion_multiply(inverse, q, q);
    }
    double hinge[3] = {b->match->hinges[joint][0], b->match->hinges[joint][1], b->match->hinges[joint][2]};
    if (exi_normalise(hinge, 3)) {
        double rest[4], turn[4];
        for (int i = 0; i < 4; i++)
            rest[i] = (double)local->rotation[i];
        conjugate(rest, inverse);
        exi_quaternion_multiply(inverse, q, turn);
        exi_normalise(turn, 4);
        exi_twist(turn, hinge, turn);
        exi_quaternion_multiply(rest, turn, q);
    }
    exi_normalise(q, 4);
    for (int i = 0; i < 4; i++)
        local->rotation[i] = (float)q[i];
}

static void move_joint(const exi_retarget *r, int joint, const exi_world *above, ex_transform *local) {
    const double *at = r->clip_worlds[r->bones.match->joints[joint]].matrix;
    double place[3] = {r->scale * at[3], r->floor + r->scale * (at[7] - r->bones.clip->ground), r->scale * at[11]};
    double inverse[12];
    if (above && !exi_matrix_invert(above->matrix, inverse))
        return;
    if (above)
        exi_matrix_move(inverse, place, place);
    for (int c = 0; c < 3; c++)
        local->translation[c] = (float)place[c];
}

static void copy_frame(const exi_retarget *r, int frame, ex_transform *joints) {
    const exi_bones *b = &r->bones;
    const ex_transform *locals = b->clip->locals + (size_t)frame * (size_t)b->clip->joint_count;
    for (int j = 0; j < b->joint_count; j++)
        joints[j] = b->match->joints[j] >= 0 ? relative(b->clip, r->back, locals, b->match->joints[j])
                                             : ex_skeleton_rest(b->skeleton, j);
}

void exi_retarget_frame(exi_retarget *r, int frame, ex_transform *joints) {
    const exi_bones *b = &r->bones;
    if (r->own) {
        copy_frame(r, frame, joints);
        return;
    }
    exi_clip_worlds(b->clip, frame, r->clip_worlds);
    for (int i = 0; i < b->joint_count; i++) {
        const int j = b->order[i], parent = ex_skeleton_parent(b->skeleton, j);
        const exi_world *above = parent >= 0 ? &r->worlds[parent] : NULL;
        joints[j] = ex_skeleton_rest(b->skeleton, j);
        if (b->match->joints[j] >= 0)
            turn_joint(r, j, above, &joints[j]);
        if (r->moves[j])
            move_joint(r, j, above, &joints[j]);
        exi_world_below(above, &joints[j], &r->worlds[j]);
    }
}

ex_result exi_retarget_open(exi_retarget *r, const ex_clip *clip, const ex_rig *rig, const exi_match *match,
                            ex_error *error) {
    const size_t count = (size_t)match->joint_count, clip_count = (size_t)clip->joint_count;
    *r = (exi_retarget){.scale = 1};
    ex_result result = exi_bones_open(&r->bones, clip, rig, match, error);
    if (result != EX_OK)
        return result;
    r->back = exi_array_allocate(clip_count, sizeof *r->back);
    r->moves = calloc(count + 1, sizeof *r->moves);
    r->clip_worlds = exi_array_allocate(clip_count, sizeof *r->clip_worlds);
    r->worlds = exi_array_allocate(count, sizeof *r->worlds);
    if (!r->back || !r->moves || !r->clip_worlds || !r->worlds) {
        exi_retarget_close(r);
        return ex_error_memory(error, "the skeletons", (count + clip_count) * sizeof(exi_world));
    }
    for (size_t j = 0; j < clip_count; j++)
        r->back[j] = -1;
    for (int j = match->joint_count - 1; j >= 0; j--)
        if (match->joints[j] >= 0)
            r->back[match->joints[j]] = j;
    r->own = is_own(r);
    if (r->own)
        return EX_OK;
    if (exi_bones_align(&r->bones) && exi_path_find(r))
        return EX_OK;
    exi_retarget_close(r);
    return ex_error_memory(error, "the skeletons", (count + clip_count) * sizeof(int));
}

void exi_retarget_close(exi_retarget *r) {
    exi_bones_close(&r->bones);
    free(r->back);
    free(r->moves);
    free(r->clip_worlds);
    free(r->worlds);
    *r = (exi_retarget){0};
}
