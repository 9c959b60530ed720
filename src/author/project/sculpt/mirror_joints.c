/*
 * Counterparts of joints. Names come first: LeftArm and RightArm. But exporters number joints as they like
 * (arm_L_2 and arm_R_3), and some give them no side at all. So a counterpart by name is taken only if it is near the
 * mirror image of the joint at rest, or at least not much farther from it than the joint that is nearest. Otherwise
 * that one is taken if it is close, and if the joint is the nearest one to its image in turn.
 */
#include "author/base/array.h"
#include "author/project/sculpt/mirror_pose.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In sizes of the skeleton: near by name; near by position alone. And how much farther a name may be. */
#define NEAR_NAMED  0.03
#define NEAR_PLACED 0.03
#define FARTHER     4.0

static double distance(const double *a, const double *b) {
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

ex_result exi_mirror_read_joints(exi_mirror *m, ex_error *error) {
    if (!m->skeleton)
        return EX_OK;
    const size_t count = (size_t)ex_skeleton_joint_count(m->skeleton);
    float *worlds = exi_array_allocate(count, 12 * sizeof *worlds);
    void *scratch = exi_array_allocate(ex_skeleton_scratch_size(m->skeleton), 1);
    m->centres = exi_array_allocate(count, 3 * sizeof *m->centres);
    m->joints = exi_array_allocate(count, sizeof *m->joints);
    const bool fits = worlds && scratch && m->centres && m->joints;
    if (fits)
        ex_skeleton_evaluate(m->skeleton, NULL, &(ex_skeleton_output){.worlds = worlds}, scratch);
    for (size_t i = 0; fits && i < 3 * count; i++)
        m->centres[i] = (double)worlds[12 * (i / 3) + 4 * (i % 3) + 3];
    free(worlds);
    free(scratch);
    return fits ? EX_OK : ex_error_memory(error, "the joints", count * 100);
}

/* Makes the rows perpendicular and of unit length. */
static void straighten(double a[9]) {
    exi_normalise(a, 3);
    for (int i = 1; i < 3; i++) {
        for (int k = 0; k < i; k++) {
            const double along = exi_dot3(a + 3 * (size_t)i, a + 3 * (size_t)k);
            for (int c = 0; c < 3; c++)
                a[3 * i + c] -= along * a[3 * k + c];
        }
        exi_normalise(a + 3 * (size_t)i, 3);
    }
}

/* Writes the linear part of a matrix [12] without its scale. */
static void linear_part(const float *matrix, double a[9]) {
    for (size_t k = 0; k < 9; k++)
        a[k] = (double)matrix[4 * (k / 3) + k % 3];
    straighten(a);
}

ex_result exi_mirror_read_frames(exi_mirror *m, const exi_plane *bound, ex_error *error) {
    const size_t count = (size_t)ex_skeleton_joint_count(m->skeleton);
    float *matrices = exi_array_allocate(count, 12 * sizeof *matrices);
    void *scratch = exi_array_allocate(ex_skeleton_scratch_size(m->skeleton), 1);
    m->frames = exi_array_allocate(count, sizeof *m->frames);
    const bool fits = matrices && scratch && m->frames;
    if (fits)
        ex_skeleton_evaluate(m->skeleton, NULL, &(ex_skeleton_output){.matrices = matrices}, scratch);
    for (size_t j = 0; fits && j < count; j++) {
        const size_t other = m->joints[j] >= 0 ? (size_t)m->joints[j] : j;
        double here[9], there[9];
        linear_part(matrices + 12 * j, here);
        linear_part(matrices + 12 * other, there);
        for (size_t i = 0; i < 3; i++) {
            double row[3]; /* of F_j' T */
            exi_plane_direction(bound, there + 3 * i, row);
            for (size_t k = 0; k < 3; k++)
                m->frames[j][3 * i + k] = exi_dot3(row, here + 3 * k);
        }
    }
    free(matrices);
    free(scratch);
    return fits ? EX_OK : ex_error_memory(error, "the joints", count * 100);
}

/* Returns the joint that the name of a joint leads to; itself if that has no side; -1: none; -2: without memory. */
static int find_named(const ex_skeleton *skeleton, int joint) {
    char *other = ex_mirror_name(ex_skeleton_name(skeleton, joint));
    if (!other)
        return -2;
    const bool same = strcmp(other, ex_skeleton_name(skeleton, joint)) == 0;
    const int found = same ? joint : other[0] ? ex_skeleton_find(skeleton, other) : -1;
    free(other);
    return found;
}

double (*exi_mirror_named_pairs(const exi_mirror *m, int *count))[2][3] {
    const int joints = m->skeleton ? ex_skeleton_joint_count(m->skeleton) : 0;
    double(*pairs)[2][3] = exi_array_allocate((size_t)joints, sizeof *pairs);
    *count = 0;
    for (int j = 0; pairs && j < joints; j++) {
        const int other = find_named(m->skeleton, j);
        if (other == -2) {
            free(pairs);
            return NULL;
        }
        if (other < 0 || other == j || exi_side_of_name(ex_skeleton_name(m->skeleton, j)) != EX_SIDE_LEFT)
            continue;
        memcpy(pairs[*count][0], m->centres + 3 * (size_t)j, sizeof pairs[0][0]);
        memcpy(pairs[(*count)++][1], m->centres + 3 * (size_t)other, sizeof pairs[0][1]);
    }
    return pairs;
}

int exi_joint_depth(const ex_skeleton *skeleton, int joint) {
    int depth = 0;
    while ((joint = ex_skeleton_parent(skeleton, joint)) >= 0)
        depth++;
    return depth;
}

/* Returns the joint nearest to the image of a joint, of those that are as deep in the hierarchy; -1: none. A joint
 * whose name has a side is not its own counterpart. */
static int find_placed(const exi_mirror *m, int joint, double *least) {
    double image[3];
    int best = -1;
    const bool sided = exi_side_of_name(ex_skeleton_name(m->skeleton, joint)) != EX_SIDE_NONE;
    const int depth = exi_joint_depth(m->skeleton, joint);
    *least = INFINITY;
    exi_plane_point(&m->plane, m->centres + 3 * (size_t)joint, image);
    for (int j = 0; j < ex_skeleton_joint_count(m->skeleton); j++) {
        const double d = distance(m->centres + 3 * (size_t)j, image);
        if (sided && j == joint)
            continue;
        if ((d < *least || (d == *least && j == joint)) && exi_joint_depth(m->skeleton, j) == depth) {
            *least = d;
            best = j;
        }
    }
    return best;
}

static double skeleton_size(const exi_mirror *m) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < 3 * ex_skeleton_joint_count(m->skeleton); i++) {
        low[i % 3] = fmin(low[i % 3], m->centres[i]);
        high[i % 3] = fmax(high[i % 3], m->centres[i]);
    }
    return distance(high, low);
}

ex_result exi_mirror_pair_joints(exi_mirror *m, ex_error *error) {
    const int count = m->skeleton ? ex_skeleton_joint_count(m->skeleton) : 0;
    const double size = count > 0 ? skeleton_size(m) : 0;
    double across = 0;
    for (int j = 0; j < count; j++) {
        const int named = find_named(m->skeleton, j);
        if (named == -2)
            return ex_error_memory(error, "a name", 0);
        double image[3], placed_off, back;
        const int placed = find_placed(m, j, &placed_off);
        exi_plane_point(&m->plane, m->centres + 3 * (size_t)j, image);
        const double off = named >= 0 ? distance(m->centres + 3 * (size_t)named, image) : INFINITY;
        const bool close = placed_off <= NEAR_PLACED * size && find_placed(m, placed, &back) == j;
        m->joints[j] = off <= NEAR_NAMED * size || (named >= 0 && off <= FARTHER * placed_off) ? named
                       : close                                                                 ? placed
                       : named >= 0 && named != j                                              ? named
                                                                                               : -1;
        const ex_side side = exi_side_of_name(ex_skeleton_name(m->skeleton, j));
        if (m->joints[j] >= 0 && m->joints[j] != j && side != EX_SIDE_NONE)
            for (int c = 0; c < 3; c++)
                across += (side == EX_SIDE_LEFT ? 1 : -1) * m->plane.normal[c] *
                          (m->centres[3 * (size_t)j + (size_t)c] - m->centres[3 * (size_t)m->joints[j] + (size_t)c]);
    }
    m->left = (across > 0) - (across < 0);
    return EX_OK;
}

char *exi_mirror_joint(const exi_mirror *m, const char *joint, ex_error *error) {
    const int here = m->skeleton ? ex_skeleton_find(m->skeleton, joint) : -1;
    if (here >= 0 && m->joints[here] >= 0) {
        const char *name = ex_skeleton_name(m->skeleton, m->joints[here]);
        char *copy = exi_text_copy(name, strlen(name));
        if (!copy)
            ex_error_memory(error, "a name", strlen(name));
        return copy;
    }
    char *other = ex_mirror_name(joint);
    if (!other)
        ex_error_memory(error, "a name", strlen(joint));
    else if (here < 0)
        ex_error_set(error, EX_ERROR_DATA, "the skeleton has no joint '%s'", joint);
    else if (strcmp(other, joint) == 0)
        ex_error_set(error, EX_ERROR_DATA,
                     "joint '%s' has no counterpart: its name has no left or right in it, and no joint is at its "
                     "mirror image",
                     joint);
    else
        ex_error_set(error, EX_ERROR_DATA, "joint '%s' has no counterpart: the skeleton has no joint '%s'", joint,
                     other);
    free(other);
    return NULL;
}

ex_side exi_mirror_joint_side(const exi_mirror *m, const char *joint) {
    const ex_side named = exi_side_of_name(joint);
    const int here = m->skeleton ? ex_skeleton_find(m->skeleton, joint) : -1;
    if (named != EX_SIDE_NONE || here < 0 || m->joints[here] < 0 || m->joints[here] == here || m->left == 0)
        return named;
    double at = -m->plane.offset;
    for (int c = 0; c < 3; c++)
        at += m->plane.normal[c] * m->centres[3 * (size_t)here + (size_t)c];
    return at * m->left > 0 ? EX_SIDE_LEFT : EX_SIDE_RIGHT;
}
