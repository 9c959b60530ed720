/*
 * Creation of a skeleton: sorts parents before children, computes rest matrices and inverse binds, and refuses
 * everything that would make an evaluation fail, naming the joint.
 */
#include "runtime/pose/skeleton.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/pose/local.inl"
#include "runtime/pose/matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 'joint 3 ("elbow")', or just the number. */
typedef struct joint_text {
    char text[EXI_NAME_MAX + 32];
} joint_text;

static joint_text call(const ex_skeleton_def *def, int joint) {
    joint_text t;
    const char *name = def->names ? def->names[joint] : NULL;
    if (name && exi_is_name(name))
        snprintf(t.text, sizeof t.text, "joint %d (\"%s\")", joint, name);
    else
        snprintf(t.text, sizeof t.text, "joint %d", joint);
    return t;
}

static size_t name_length(const ex_skeleton_def *def, int joint) {
    return def->names && def->names[joint] ? strlen(def->names[joint]) : 0;
}

static ex_result check_def(const ex_skeleton_def *def, ex_error *error) {
    if (def->joint_count < 1 || !def->parents || !def->rest)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a skeleton needs at least one joint, parents and rest transforms");
    if (def->joint_count > EX_JOINT_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "the skeleton has %d joints; at most %d are allowed",
                            def->joint_count, EX_JOINT_MAX);
    for (int j = 0; j < def->joint_count; j++) {
        if (def->names && def->names[j] && def->names[j][0] && !exi_is_name(def->names[j]))
            return ex_error_set(error, EX_ERROR_DATA,
                                "the name of joint %d is longer than %d bytes, or not readable text", j, EXI_NAME_MAX);
        if (def->parents[j] == j)
            return ex_error_set(error, EX_ERROR_DATA, "%s is its own parent", call(def, j).text);
        if (def->parents[j] < -1 || def->parents[j] >= def->joint_count)
            return ex_error_set(error, EX_ERROR_DATA, "the parent of %s is joint %d, but joints are numbered 0 to %d",
                                call(def, j).text, def->parents[j], def->joint_count - 1);
        if (!exi_transform_finite(&def->rest[j]))
            return ex_error_set(error, EX_ERROR_DATA, "the rest transform of %s is not finite", call(def, j).text);
    }
    return EX_OK;
}

static bool layout(ex_skeleton *s, const ex_skeleton_def *def) {
    const size_t joints = (size_t)s->joint_count;
    size_t texts = joints;
    for (int j = 0; j < s->joint_count; j++)
        texts += name_length(def, j);
    exi_size total = {.bytes = sizeof *s};
    s->parents = exi_size_add(&total, joints, sizeof(int32_t), EXI_ALIGN);
    s->order = exi_size_add(&total, joints, sizeof(int32_t), EXI_ALIGN);
    s->rest = exi_size_add(&total, joints, sizeof(ex_transform), EXI_ALIGN);
    s->rest_worlds = exi_size_add(&total, joints, 12 * sizeof(double), EXI_ALIGN);
    s->inverse_binds = exi_size_add(&total, joints, 12 * sizeof(double), EXI_ALIGN);
    s->bind_centres = exi_size_add(&total, joints, 3 * sizeof(double), EXI_ALIGN);
    s->turns = exi_size_add(&total, joints, sizeof(exi_turn_tables), EXI_ALIGN);
    s->name_starts = exi_size_add(&total, joints, sizeof(uint32_t), EXI_ALIGN);
    s->names = exi_size_add(&total, texts, 1, EXI_ALIGN);
    s->size = total.bytes;
    return !total.overflow && texts <= UINT32_MAX;
}

static void copy_names(ex_skeleton *s, const ex_skeleton_def *def) {
    uint32_t *starts = exi_skeleton_at(s, s->name_starts);
    char *names = exi_skeleton_at(s, s->names);
    uint32_t end = 0;
    for (int j = 0; j < s->joint_count; j++) {
        size_t length = name_length(def, j);
        starts[j] = end;
        if (length > 0)
            memcpy(names + end, def->names[j], length);
        end += (uint32_t)length + 1;
    }
}

/*
 * Follows each joint up to a root or to a joint that is already placed, and appends the reversed path. `state` (the
 * memory of the bind centres, filled later) marks joints: 0 not seen, 1 on the path, -1 placed. Returns a joint that is
 * its own ancestor, or -1.
 */
static int sort_joints(ex_skeleton *s, double *state) {
    const int32_t *parents = exi_skeleton_at(s, s->parents);
    int32_t *order = exi_skeleton_at(s, s->order);
    int placed = 0;
    for (int first = 0; first < s->joint_count; first++) {
        int length = 0;
        for (int j = first; j >= 0 && state[j] >= 0; j = parents[j]) {
            if (state[j] > 0)
                return j;
            state[j] = 1;
            order[placed + length++] = j;
        }
        for (int i = 0; i < length / 2; i++) {
            int32_t t = order[placed + i];
            order[placed + i] = order[placed + length - 1 - i];
            order[placed + length - 1 - i] = t;
        }
        for (int i = 0; i < length; i++)
            state[order[placed + i]] = -1;
        placed += length;
    }
    return -1;
}

/* True if q has unit length to float precision. It is then left unchanged, so that the output of ex_skeleton_rest makes
 * the same skeleton again. */
static bool has_length_1(const float q[4]) {
    const double x = (double)q[0], y = (double)q[1], z = (double)q[2], w = (double)q[3];
    return fabs(x * x + y * y + z * z + w * w - 1) <= 0x1p-22;
}

static ex_result fill_rest(ex_skeleton *s, const ex_skeleton_def *def, ex_error *error) {
    const int32_t *parents = exi_skeleton_at(s, s->parents), *order = exi_skeleton_at(s, s->order);
    ex_transform *rest = exi_skeleton_at(s, s->rest);
    double(*worlds)[12] = exi_skeleton_at(s, s->rest_worlds);
    const ex_transform none = ex_transform_identity();
    for (int i = 0; i < s->joint_count; i++) {
        const int j = order[i];
        exi_local local;
        exi_local_read(&def->rest[j], &none, &local);
        rest[j] = def->rest[j];
        for (int c = 0; c < 4 && !has_length_1(def->rest[j].rotation); c++)
            rest[j].rotation[c] = (float)local.rotation[c];
        exi_local_read(&rest[j], &none, &local);
        exi_matrix_compose(local.translation, local.rotation, local.scale, worlds[j]);
        if (parents[j] >= 0)
            exi_matrix_multiply(worlds[parents[j]], worlds[j], worlds[j]);
        if (!exi_matrix_usable(worlds[j]))
            return ex_error_set(error, EX_ERROR_DATA, "the rest transforms move %s beyond 1e30", call(def, j).text);
    }
    return EX_OK;
}

/* The bind itself, not its inverse, gives the position of the joint in the bound mesh. */
static ex_result fill_binds(ex_skeleton *s, const ex_skeleton_def *def, ex_error *error) {
    const double(*worlds)[12] = exi_skeleton_at(s, s->rest_worlds);
    double(*inverses)[12] = exi_skeleton_at(s, s->inverse_binds);
    double(*centres)[3] = exi_skeleton_at(s, s->bind_centres);
    for (int j = 0; j < s->joint_count; j++) {
        double bind[12];
        if (!def->inverse_binds) {
            memcpy(bind, worlds[j], sizeof bind);
            if (!exi_matrix_invert(bind, inverses[j]) || !exi_matrix_usable(inverses[j]))
                return ex_error_set(error, EX_ERROR_DATA,
                                    "%s or one of its parents is scaled to 0 at rest, so the mesh cannot be bound to "
                                    "it: give inverse bind matrices",
                                    call(def, j).text);
        } else {
            exi_matrix_from_floats(def->inverse_binds + 12 * (size_t)j, inverses[j]);
            if (!exi_matrix_usable(inverses[j]))
                return ex_error_set(error, EX_ERROR_DATA, "the inverse bind matrix of %s is not finite, or beyond 1e30",
                                    call(def, j).text);
            if (!exi_matrix_invert(inverses[j], bind) || !exi_matrix_usable(bind))
                return ex_error_set(error, EX_ERROR_DATA, "the inverse bind matrix of %s is singular",
                                    call(def, j).text);
        }
        for (int c = 0; c < 3; c++)
            centres[j][c] = bind[4 * c + 3];
    }
    return EX_OK;
}

static ex_result fill(ex_skeleton *s, const ex_skeleton_def *def, ex_error *error) {
    int32_t *parents = exi_skeleton_at(s, s->parents);
    for (int j = 0; j < s->joint_count; j++)
        parents[j] = def->parents[j];
    copy_names(s, def);
    int cyclic = sort_joints(s, exi_skeleton_at(s, s->bind_centres));
    if (cyclic >= 0)
        return ex_error_set(error, EX_ERROR_DATA, "%s is its own ancestor: the parents form a loop",
                            call(def, cyclic).text);
    ex_result result = fill_rest(s, def, error);
    return result == EX_OK ? fill_binds(s, def, error) : result;
}

ex_result ex_skeleton_create(const ex_skeleton_def *def, const ex_allocator *allocator, ex_skeleton **skeleton,
                             ex_error *error) {
    if (!def || !skeleton) {
        exi_misuse(__func__, "no definition, or no pointer for the skeleton");
        return EX_ERROR_ARGUMENT;
    }
    *skeleton = NULL;
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    ex_skeleton head = {.joint_count = def->joint_count};
    if (!layout(&head, def))
        return ex_error_set(error, EX_ERROR_LIMIT, "the skeleton is too large for this machine's memory");
    ex_skeleton *made = exi_block_create(allocator, (size_t)head.size);
    if (!made)
        return ex_error_memory(error, "the skeleton", (size_t)head.size);
    *made = head;
    result = fill(made, def, error);
    if (result != EX_OK) {
        exi_block_destroy(made);
        return result;
    }
    exi_skeleton_fill_turns(made);
    *skeleton = made;
    return EX_OK;
}

void ex_skeleton_destroy(ex_skeleton *skeleton) {
    exi_block_destroy(skeleton);
}

/* ---- access ---- */

static bool has_joint(const ex_skeleton *skeleton, int joint, const char *function) {
    return skeleton && joint >= 0 && joint < skeleton->joint_count ? true : exi_misuse(function, "no such joint");
}

int ex_skeleton_joint_count(const ex_skeleton *skeleton) {
    return exi_is_given(skeleton, __func__, "no skeleton") ? skeleton->joint_count : 0;
}

int ex_skeleton_parent(const ex_skeleton *skeleton, int joint) {
    if (!has_joint(skeleton, joint, __func__))
        return -1;
    return ((const int32_t *)exi_skeleton_at(skeleton, skeleton->parents))[joint];
}

const char *ex_skeleton_name(const ex_skeleton *skeleton, int joint) {
    if (!has_joint(skeleton, joint, __func__))
        return "";
    const uint32_t *starts = exi_skeleton_at(skeleton, skeleton->name_starts);
    return (const char *)exi_skeleton_at(skeleton, skeleton->names) + starts[joint];
}

int ex_skeleton_find(const ex_skeleton *skeleton, const char *name) {
    if (!exi_is_given(skeleton, __func__, "no skeleton"))
        return -1;
    for (int j = 0; name && j < skeleton->joint_count; j++)
        if (strcmp(ex_skeleton_name(skeleton, j), name) == 0)
            return j;
    return -1;
}

ex_transform ex_skeleton_rest(const ex_skeleton *skeleton, int joint) {
    if (!has_joint(skeleton, joint, __func__))
        return ex_transform_identity();
    return ((const ex_transform *)exi_skeleton_at(skeleton, skeleton->rest))[joint];
}

double ex_skeleton_scale(const ex_skeleton *skeleton) {
    return exi_is_given(skeleton, __func__, "no skeleton") ? skeleton->scale : 0;
}

void ex_skeleton_inverse_bind(const ex_skeleton *skeleton, int joint, float matrix[12]) {
    if (!has_joint(skeleton, joint, __func__))
        return;
    const double(*inverses)[12] = exi_skeleton_at(skeleton, skeleton->inverse_binds);
    exi_matrix_to_floats(inverses[joint], matrix);
}
