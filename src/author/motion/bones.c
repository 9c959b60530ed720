/*
 * Bone directions of a rig and of a clip at rest, and the rotation A of each matched joint that turns the rig's bones
 * onto the clip's. Let A' be the rotation of the joint above, t the direction of a bone in the rig after A', and s its
 * direction in the clip:
 *
 *     A = B A',   B = the rotation that maximises the sum of s_i . (B t_i) (Wahba's problem)
 *
 * B is the rotation in the polar decomposition of M, the sum of s_i t_i^T. If M has rank 1 (one bone, or several with
 * one counterpart, such as toes), the turn about the bone is undetermined, and B is the shortest arc. Starting from A'
 * straightens a forearm that is bent at rest without a twist against its upper arm, and makes a foot lean as its shin
 * does.
 *
 * A bone goes from a matched joint to the next matched joint below it at another position; joints in between are
 * skipped. A joint with nothing matched below it has the bone to its only child or end site, if both sides have exactly
 * one (a head has jaw and eyes, whose positions say nothing about the head). A joint without a bone, or one that the
 * map keeps as it rests, has B = 1.
 */
#include "author/base/array.h"
#include "author/motion/motion.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"

#include <stdlib.h>
#include <string.h>

/* Joints closer together than this fraction of the skeleton's size give no direction: the centimetre between the two
 * axes of an elbow points anywhere. */
#define NO_BONE 7e-3
/* Bones within this of one line (squared sine of the angle) leave the turn about it undetermined. */
#define ONE_LINE 1e-4

/* ---- the two skeletons ---- */

/* Lists of children. */
typedef struct tree {
    int *first, *next;
} tree;

static bool open_tree(tree *t, int count, int (*parent)(const void *of, int i), const void *of) {
    *t = (tree){exi_array_allocate((size_t)count, sizeof(int)), exi_array_allocate((size_t)count, sizeof(int))};
    if (!t->first || !t->next)
        return false;
    for (int i = 0; i < count; i++)
        t->first[i] = -1;
    for (int i = count - 1; i >= 0; i--) {
        const int p = parent(of, i);
        t->next[i] = p >= 0 ? t->first[p] : -1;
        if (p >= 0)
            t->first[p] = i;
    }
    return true;
}

static void close_tree(tree *t) {
    free(t->first);
    free(t->next);
}

static int rig_parent(const void *of, int i) {
    return ex_skeleton_parent(of, i);
}

static int clip_parent(const void *of, int i) {
    return ((const ex_clip *)of)->joints[i].parent;
}

/* Puts each joint after its parent: climbs each chain up to a joint that is already placed. */
static void order_joints(const ex_skeleton *skeleton, int count, int *order, int *chain, bool *placed) {
    int used = 0;
    for (int j = 0; j < count; j++) {
        int length = 0;
        for (int i = j; i >= 0 && !placed[i]; i = ex_skeleton_parent(skeleton, i))
            chain[length++] = i;
        while (length > 0) {
            order[used++] = chain[--length];
            placed[chain[length]] = true;
        }
    }
}

static void find_rest(exi_bones *b) {
    for (int i = 0; i < b->joint_count; i++) {
        const int j = b->order[i], parent = ex_skeleton_parent(b->skeleton, j);
        const ex_transform rest = ex_skeleton_rest(b->skeleton, j);
        exi_world_below(parent >= 0 ? &b->rest[parent] : NULL, &rest, &b->rest[j]);
        b->above[j] = parent < 0 ? -1 : b->match->joints[parent] >= 0 ? parent : b->above[parent];
    }
    exi_clip_worlds(b->clip, -1, b->clip_rest);
}

ex_result exi_bones_open(exi_bones *b, const ex_clip *clip, const ex_rig *rig, const exi_match *match,
                         ex_error *error) {
    const size_t count = (size_t)match->joint_count;
    *b = (exi_bones){.clip = clip, .skeleton = ex_rig_skeleton(rig), .match = match, .joint_count = match->joint_count};
    b->order = exi_array_allocate(count, sizeof *b->order);
    b->above = exi_array_allocate(count, sizeof *b->above);
    b->rest = exi_array_allocate(count, sizeof *b->rest);
    b->clip_rest = exi_array_allocate((size_t)clip->joint_count, sizeof *b->clip_rest);
    b->align = exi_array_allocate(count, sizeof *b->align);
    bool *placed = calloc(count + 1, sizeof *placed);
    if (!b->order || !b->above || !b->rest || !b->clip_rest || !b->align || !placed) {
        free(placed);
        exi_bones_close(b);
        return ex_error_memory(error, "the skeletons", count * sizeof *b->rest);
    }
    order_joints(b->skeleton, b->joint_count, b->order, b->above, placed);
    free(placed);
    find_rest(b);
    return EX_OK;
}

void exi_bones_close(exi_bones *b) {
    free(b->order);
    free(b->above);
    free(b->rest);
    free(b->clip_rest);
    free(b->align);
    *b = (exi_bones){0};
}

/* ---- directions ---- */

/* Bones of one joint, and the sum M over them. */
typedef struct fan {
    int count;
    double turn[4]; /* A' */
    double sum[12]; /* M */
} fan;

static double size_of(const exi_world *worlds, int count) {
    double low[3], high[3], size = 0;
    for (int j = 0; j < count; j++)
        for (int c = 0; c < 3; c++) {
            const double x = worlds[j].matrix[4 * c + 3];
            low[c] = j == 0 || x < low[c] ? x : low[c];
            high[c] = j == 0 || x > high[c] ? x : high[c];
        }
    for (int c = 0; c < 3 && count > 0; c++)
        size += (high[c] - low[c]) * (high[c] - low[c]);
    return sqrt(size);
}

/* Computes the unit direction from one joint to another; false if they are at one position. */
static bool find_direction(const exi_world *from, const exi_world *to, double size, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = to->matrix[4 * c + 3] - from->matrix[4 * c + 3];
    return sqrt(exi_dot3(out, out)) > NO_BONE * size && exi_normalise(out, 3);
}

typedef struct search {
    exi_bones *bones;
    tree rig, clip;
    double size, clip_size;
} search;

/* Adds the bone from joint a to joint b of the rig, which matches that from joint c to joint d of the clip. */
static bool add_bone(const search *s, int a, int b, int c, int d, fan *f) {
    double from[3], to[3];
    if (!find_direction(&s->bones->rest[a], &s->bones->rest[b], s->size, from) ||
        !find_direction(&s->bones->clip_rest[c], &s->bones->clip_rest[d], s->clip_size, to))
        return false;
    exi_rotate(f->turn, from, from);
    f->count++;
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++)
            f->sum[4 * r + k] += to[r] * from[k];
    return true;
}

static bool lies_below(const ex_clip *clip, int joint, int above) {
    while (joint > above)
        joint = clip->joints[joint].parent;
    return joint == above;
}

/* Adds all bones of a joint: down to the first matched joints at other positions. */
static void gather(const search *s, int joint, fan *f) {
    const exi_match *match = s->bones->match;
    const int source = match->joints[joint];
    for (int j = s->rig.first[joint]; j >= 0;) {
        const int own = match->joints[j];
        const bool found = own >= 0 && own != source && lies_below(s->bones->clip, own, source) &&
                           add_bone(s, joint, j, source, own, f);
        int next = found ? -1 : s->rig.first[j];
        for (; next < 0 && j != joint; j = ex_skeleton_parent(s->bones->skeleton, j))
            next = s->rig.next[j];
        j = next;
        if (j < 0)
            break;
    }
}

/* Adds the bone to the only child of both, if nothing below is matched. */
static void gather_end(const search *s, int joint, fan *f) {
    const int source = s->bones->match->joints[joint], a = s->rig.first[joint], b = s->clip.first[source];
    if (a >= 0 && b >= 0 && s->rig.next[a] < 0 && s->clip.next[b] < 0)
        add_bone(s, joint, a, source, b, f);
}

/* ---- rotations ---- */

static void find_arc(const double from[3], const double to[3], double q[4]) {
    exi_cross(from, to, q);
    q[3] = 1 + exi_dot3(from, to);
    if (q[3] > 1e-12 && exi_normalise(q, 4))
        return;
    /* Half a turn, about any perpendicular axis. */
    const double axis[3] = {fabs(from[0]) < 0.6, !(fabs(from[0]) < 0.6), 0};
    exi_cross(from, axis, q);
    q[3] = 0;
    exi_normalise(q, 4);
}

/* True if all bones lie along one line: the second singular value of their sum vanishes. */
static bool along_one_line(const double m[12]) {
    double first = 0, second = 0;
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            const int r1 = (r + 1) % 3, k1 = (k + 1) % 3;
            const double minor = m[4 * r + k] * m[4 * r1 + k1] - m[4 * r + k1] * m[4 * r1 + k];
            first += m[4 * r + k] * m[4 * r + k];
            second += minor * minor;
        }
    return second < ONE_LINE * first * first;
}

/* M = s t^T up to a factor: t is along its rows, and s = M t. */
static void find_line(const double m[12], double from[3], double to[3]) {
    int longest = 0;
    for (int r = 1; r < 3; r++)
        if (exi_dot3(m + 4 * r, m + 4 * r) > exi_dot3(m + 4 * longest, m + 4 * longest))
            longest = r;
    memcpy(from, m + 4 * longest, 3 * sizeof *from);
    exi_normalise(from, 3);
    for (int r = 0; r < 3; r++)
        to[r] = exi_dot3(m + 4 * r, from);
    exi_normalise(to, 3);
}

static void align_joint(const search *s, int joint) {
    exi_bones *b = s->bones;
    fan f = {.turn = {0, 0, 0, 1}};
    double q[4] = {0, 0, 0, 1};
    if (b->above[joint] >= 0)
        memcpy(f.turn, b->align[b->above[joint]], sizeof f.turn);
    if (!b->match->as_they_rest[joint])
        gather(s, joint, &f);
    if (f.count == 0 && !b->match->as_they_rest[joint])
        gather_end(s, joint, &f);
    if (f.count > 0 && along_one_line(f.sum)) {
        double from[3], to[3];
        find_line(f.sum, from, to);
        find_arc(from, to, q);
    } else if (f.count > 0) {
        double rotation[3][3], stretch[3][3];
        exi_polar(f.sum, rotation, stretch);
        exi_quaternion_of((const double(*)[3])rotation, q);
    }
    exi_quaternion_multiply(q, f.turn, b->align[joint]);
    exi_normalise(b->align[joint], 4);
}

bool exi_bones_align(exi_bones *b) {
    search s = {
        .bones = b, .size = size_of(b->rest, b->joint_count), .clip_size = size_of(b->clip_rest, b->clip->joint_count)};
    const bool good = open_tree(&s.rig, b->joint_count, rig_parent, b->skeleton) &&
                      open_tree(&s.clip, b->clip->joint_count, clip_parent, b->clip);
    for (int i = 0; i < b->joint_count && good; i++)
        if (b->match->joints[b->order[i]] >= 0)
            align_joint(&s, b->order[i]);
    close_tree(&s.rig);
    close_tree(&s.clip);
    return good;
}
