/*
 * Derivatives of joint matrices, and of linear skinning (jacobian.c). World matrices are products from the root, and
 * move by the product rule:
 *
 *   d(world) = d(world of parent) local + (world of parent) d(local)
 *
 * A rotation matrix is I plus a quadratic form of the quaternion, so its derivative along dq is exactly half of the
 * difference of the form at q + dq and q - dq. skeleton_evaluate.c has the matrices themselves.
 */
#include "runtime/rig/jacobian.h"

#include "runtime/pose/palette.inl"
#include "runtime/pose/skin.h"

#include <string.h>

/* d(a b); out may be da or db. */
static void multiply_along(const double a[12], const double da[12], const double b[12], const double db[12],
                           double out[12]) {
    double first[12];
    exi_matrix_multiply(da, b, first);
    for (int c = 0; c < 4; c++) {
        const double column[3] = {db[c], db[4 + c], db[8 + c]};
        double turned[3];
        exi_matrix_turn(a, column, turned);
        for (int r = 0; r < 3; r++)
            first[4 * r + c] += turned[r];
    }
    memcpy(out, first, sizeof first);
}

/* d(a b) of quaternions. */
static void turn_along(const double a[4], const double da[4], const double b[4], const double db[4], double out[4]) {
    double first[4], second[4];
    exi_quaternion_multiply(da, b, first);
    exi_quaternion_multiply(a, db, second);
    for (int i = 0; i < 4; i++)
        out[i] = first[i] + second[i];
}

/* The derivative of exi_matrix_compose along `by`. */
static void compose_along(const exi_local *at, const exi_local *by, double out[12]) {
    static const double zero[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    double more[4], less[4], plus[12], minus[12], rotation[12];
    for (int i = 0; i < 4; i++) {
        more[i] = at->rotation[i] + by->rotation[i];
        less[i] = at->rotation[i] - by->rotation[i];
    }
    exi_matrix_compose(zero, more, one, plus);
    exi_matrix_compose(zero, less, one, minus);
    exi_matrix_compose(zero, at->rotation, one, rotation);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            out[4 * r + c] =
                0.5 * (plus[4 * r + c] - minus[4 * r + c]) * at->scale[c] + rotation[4 * r + c] * by->scale[c];
        out[4 * r + 3] = by->translation[r];
    }
}

/* The change of a joint's local translation by shifts [joints][3] (exi_joint_offset). */
static void offset_of(const exi_joints *t, int joint, const double *shifts, double offset[3]) {
    const int parent = t->parents[joint];
    for (int c = 0; c < 3; c++)
        offset[c] = shifts[3 * joint + c] - (parent >= 0 ? shifts[3 * parent + c] : 0);
    exi_matrix_turn(t->inverse_binds + 12 * (size_t)(parent >= 0 ? parent : joint), offset, offset);
    if (parent < 0)
        exi_matrix_turn(t->rest_worlds + 12 * (size_t)joint, offset, offset);
}

/* A joint's local transform, shifts included. */
static void read_local(const exi_jacobian *j, const exi_joints *t, int joint, const ex_transform *transform,
                       exi_local *local) {
    double offset[3];
    exi_local_read(transform, &t->rest[joint], local);
    offset_of(t, joint, j->shifts, offset);
    for (int c = 0; c < 3; c++)
        local->translation[c] += offset[c];
}

/* Computes the world matrix of a joint. Returns 0 if its transform is used, 1 if it rests on its parent, 2 if it rests
 * in the world (exi_joint_rest). */
static int place_joint(const exi_jacobian *j, const exi_joints *t, int joint, exi_local *local, double matrix[12]) {
    double *world = j->worlds + 12 * (size_t)joint;
    const int parent = t->parents[joint];
    for (int rests = 0; rests < 2; rests++) {
        read_local(j, t, joint, rests ? &t->rest[joint] : exi_jacobian_local(j, joint), local);
        exi_matrix_compose(local->translation, local->rotation, local->scale, matrix);
        memcpy(world, matrix, 12 * sizeof *world);
        if (parent >= 0)
            exi_matrix_multiply(j->worlds + 12 * (size_t)parent, matrix, world);
        if (exi_matrix_usable(world))
            return rests;
    }
    memcpy(world, t->rest_worlds + 12 * (size_t)joint, 12 * sizeof *world);
    return 2;
}

static void joint_along(const exi_jacobian *j, const exi_joints *t, int joint, int column, int rests,
                        const exi_local *local, const double matrix[12], exi_local *by) {
    const size_t joints = (size_t)j->joints;
    const int parent = t->parents[joint];
    double *worlds = exi_column_of(j->worlds_along, column, 12 * joints), *world = worlds + 12 * (size_t)joint;
    double offset[3], moved[12];
    *by = (exi_local){.scale = {0}};
    memset(world, 0, 12 * sizeof *world);
    if (rests == 2)
        return;
    if (rests == 0)
        exi_jacobian_local_along(j, column, joint, by);
    offset_of(t, joint, exi_column_of(j->shifts_along, column, 3 * joints), offset);
    for (int c = 0; c < 3; c++)
        by->translation[c] += offset[c];
    compose_along(local, by, moved);
    if (parent < 0)
        memcpy(world, moved, sizeof moved);
    else
        multiply_along(j->worlds + 12 * (size_t)parent, worlds + 12 * (size_t)parent, matrix, moved, world);
}

/* The inverse bind of a joint with its shift, and the derivative of its fourth column. */
static void bind_of(const exi_joints *t, int joint, const double *shifts, double inverse[12]) {
    double turned[3];
    memcpy(inverse, t->inverse_binds + 12 * (size_t)joint, 12 * sizeof *inverse);
    exi_matrix_turn(inverse, shifts + 3 * (size_t)joint, turned);
    for (int c = 0; c < 3; c++)
        inverse[4 * c + 3] -= turned[c];
}

static void bind_along(const exi_joints *t, int joint, const double *shifts_along, double out[12]) {
    double turned[3];
    memset(out, 0, 12 * sizeof *out);
    exi_matrix_turn(t->inverse_binds + 12 * (size_t)joint, shifts_along + 3 * (size_t)joint, turned);
    for (int c = 0; c < 3; c++)
        out[4 * c + 3] = -turned[c];
}

/* Skinning matrices from world matrices; one that a palette cannot use is the identity, and stays it. */
static void bind_joint(const exi_jacobian *j, const exi_joints *t, int joint) {
    const size_t joints = (size_t)j->joints, at = 12 * (size_t)joint;
    double inverse[12], by[12], *matrix = j->matrices + at;
    bind_of(t, joint, j->shifts, inverse);
    exi_matrix_multiply(j->worlds + at, inverse, matrix);
    bool usable = true;
    for (int i = 0; i < 12; i++)
        usable = usable && fabs(matrix[i]) <= EXI_PALETTE_MOST;
    for (int i = 0; i < 12 && !usable; i++)
        matrix[i] = i % 5 == 0;
    for (int c = 0; c < j->columns && usable; c++) {
        bind_along(t, joint, exi_column_of(j->shifts_along, c, 3 * joints), by);
        multiply_along(j->worlds + at, exi_column_of(j->worlds_along, c, 12 * joints) + at, inverse, by,
                       exi_column_of(j->matrices_along, c, 12 * joints) + at);
    }
}

/* The turn of a joint from rest in the world, before `bound` (joint.inl). */
static void turn_joint(const exi_jacobian *j, const exi_joints *t, int joint, int rests, const exi_local *local,
                       double *own) {
    const int parent = t->parents[joint];
    own[0] = own[1] = own[2] = 0;
    own[3] = 1;
    if (rests == 2)
        return;
    if (rests == 0) {
        exi_quaternion_multiply(t->tables[joint].before, local->rotation, own);
        exi_quaternion_multiply(own, t->tables[joint].after, own);
        for (int i = 0; i < 4 && !(own[3] > EXI_TURN_SIDE); i++)
            own[i] = -own[i];
    }
    double *turn = j->turns + 4 * (size_t)joint;
    if (parent >= 0)
        exi_quaternion_multiply(j->turns + 4 * (size_t)parent, own, turn);
    else
        memcpy(turn, own, 4 * sizeof *turn);
}

static void turn_joint_along(const exi_jacobian *j, const exi_joints *t, int joint, int column, int rests,
                             const exi_local *local, const exi_local *by, const double own[4]) {
    const int parent = t->parents[joint];
    double *turns = exi_column_of(j->turns_along, column, 4 * (size_t)j->joints), moved[4] = {0, 0, 0, 0}, plain[4];
    double *turn = turns + 4 * (size_t)joint;
    memset(turn, 0, 4 * sizeof *turn);
    if (rests == 2)
        return;
    if (rests == 0) {
        exi_quaternion_multiply(t->tables[joint].before, by->rotation, moved);
        exi_quaternion_multiply(moved, t->tables[joint].after, moved);
        exi_quaternion_multiply(t->tables[joint].before, local->rotation, plain);
        exi_quaternion_multiply(plain, t->tables[joint].after, plain);
        for (int i = 0; i < 4 && !(plain[3] > EXI_TURN_SIDE); i++)
            moved[i] = -moved[i];
    }
    if (parent < 0)
        memcpy(turn, moved, sizeof moved);
    else
        turn_along(j->turns + 4 * (size_t)parent, turns + 4 * (size_t)parent, own, moved, turn);
}

static void place_joints(exi_jacobian *j) {
    const ex_skeleton *skeleton = ex_rig_skeleton(j->rig);
    const int32_t *order = exi_skeleton_at(skeleton, skeleton->order);
    const exi_joints t = exi_joints_of(skeleton, NULL, NULL, NULL, NULL);
    for (int i = 0; i < j->joints; i++) {
        const int joint = order[i];
        exi_local local, by;
        double matrix[12], own[4];
        const int rests = place_joint(j, &t, joint, &local, matrix);
        if (j->turns) {
            double *turn = j->turns + 4 * (size_t)joint;
            turn[0] = turn[1] = turn[2] = 0;
            turn[3] = 1;
            turn_joint(j, &t, joint, rests, &local, own);
        }
        for (int c = 0; c < j->columns; c++) {
            joint_along(j, &t, joint, c, rests, &local, matrix, &by);
            if (j->turns)
                turn_joint_along(j, &t, joint, c, rests, &local, &by, own);
        }
        bind_joint(j, &t, joint);
    }
    for (int joint = 0; j->turns && joint < j->joints; joint++) {
        double *turn = j->turns + 4 * (size_t)joint;
        exi_quaternion_multiply(turn, t.tables[joint].bound, turn);
        for (int c = 0; c < j->columns; c++) {
            double *along = exi_column_of(j->turns_along, c, 4 * (size_t)j->joints) + 4 * (size_t)joint;
            exi_quaternion_multiply(along, t.tables[joint].bound, along);
        }
    }
}

/* ---- vertices ---- */

/* Weights of a vertex's joints. */
typedef struct influences {
    uint32_t joints[EX_INFLUENCE_MAX];
    float weights[EX_INFLUENCE_MAX];
    int count;
} influences;

/* sum += weight of each joint times its row of `width` numbers. */
static void sum_rows(const influences *by, const double *rows, int width, double *sum) {
    memset(sum, 0, (size_t)width * sizeof *sum);
    for (int i = 0; i < by->count; i++)
        for (int k = 0; k < width; k++)
            sum[k] += (double)by->weights[i] * rows[(size_t)by->joints[i] * (size_t)width + (size_t)k];
}

/* N(q) x = 2 (w u x x + u x (u x x)): the turn of x by q is x + N(q) x / |q|^2. */
static void form_of(const double q[4], const double x[3], double out[3]) {
    double a[3], b[3];
    exi_cross(q, x, a);
    exi_cross(q, a, b);
    for (int i = 0; i < 3; i++)
        out[i] = 2 * (q[3] * a[i] + b[i]);
}

static double square_of(const double q[4]) {
    return exi_dot3(q, q) + q[3] * q[3];
}

/* The derivative of x turned by q (exi_rotation_turn), as q and x move. */
static void turned_along(const double q[4], const double dq[4], const double x[3], const double dx[3], double out[3]) {
    const double square = square_of(q), by = 2 * (exi_dot3(q, dq) + q[3] * dq[3]);
    double more[4], less[4], plus[3], minus[3], own[3], moved[3];
    for (int i = 0; i < 4; i++) {
        more[i] = q[i] + dq[i];
        less[i] = q[i] - dq[i];
    }
    form_of(more, x, plus);
    form_of(less, x, minus);
    form_of(q, x, own);
    form_of(q, dx, moved);
    for (int i = 0; i < 3; i++)
        out[i] = dx[i] + (0.5 * (plus[i] - minus[i]) + moved[i] - own[i] * by / square) / square;
}

static void pose_vertex(exi_jacobian *j, const influences *by, int v) {
    const size_t at = 3 * (size_t)v, joints = (size_t)j->joints;
    double matrix[12], moved[12], q[4], dq[4], x[3];
    memcpy(x, j->form + at, sizeof x);
    sum_rows(by, j->matrices, 12, matrix);
    const double *offset = j->turned ? j->turned + at : NULL;
    bool cancelled = false;
    if (offset) {
        sum_rows(by, j->turns, 4, q);
        cancelled = !(square_of(q) > (double)EXI_DUAL_LEAST);
        if (cancelled)
            memcpy(q, j->turns + 4 * (size_t)by->joints[0], sizeof q);
    }
    for (int c = 0; c < j->columns; c++) {
        double *along = exi_column_of(j->along, c, j->size) + at, held[3], turned[3];
        sum_rows(by, exi_column_of(j->matrices_along, c, 12 * joints), 12, moved);
        exi_matrix_turn(matrix, along, held);
        exi_matrix_move(moved, x, along);
        for (int k = 0; k < 3; k++)
            along[k] += held[k];
        if (!offset)
            continue;
        const double *turns = exi_column_of(j->turns_along, c, 4 * joints);
        sum_rows(by, turns, 4, dq);
        if (cancelled)
            memcpy(dq, turns + 4 * (size_t)by->joints[0], sizeof dq);
        turned_along(q, dq, offset, exi_column_of(j->turned_along, c, j->size) + at, turned);
        for (int k = 0; k < 3; k++)
            along[k] += turned[k];
    }
}

void exi_jacobian_pose(exi_jacobian *j) {
    if (!j->skinned) { /* offsets of all frames are added as they are */
        for (size_t i = 0; j->turned_along && i < (size_t)j->columns * j->size; i++)
            j->along[i] += j->turned_along[i];
        return;
    }
    influences by;
    place_joints(j);
    for (int v = 0; v < j->vertices; v++) {
        by.count = ex_skin_influences(ex_rig_skin(j->rig), v, by.joints, by.weights);
        pose_vertex(j, &by, v);
    }
}
