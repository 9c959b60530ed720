/*
 * How the bones of a rig and of a clip lie at rest, and the rotation A of each matched joint that turns the rig's bones
 * there onto the clip's:
 *
 *     one bone        the shortest arc from its direction t in the rig to its direction s in the clip
 *     several bones   max over A of the sum of s_i . (A t_i): the rotation in the polar decomposition of
 *                     the sum of s_i t_i^T (Wahba's problem)
 *
 * A bone goes from a matched joint to the next matched one below it that is elsewhere; joints in between are passed
 * over. A joint with nothing matched below it has the bone to its only child or end site, where both sides have just
 * one (a head has jaw and eyes, and where those lie says nothing of it), and else the rotation of the joint above.
 */
#include "author/formats/array.h"
#include "author/motion/motion.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"

#include <stdlib.h>
#include <string.h>

/* Joints nearer to each other than this part of the skeleton's size give no direction. */
#define NO_BONE 1e-5
/* Bones that lie along one line up to this (the sine of the angle, squared) leave the turn about it open. */
#define ONE_LINE 1e-4

/* ---- the two skeletons ---- */

/* Children in lists. */
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

/* Each joint after its parent: chains are climbed until a joint that has its place. */
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
        return exi_error_memory(error, "the skeletons", count * sizeof *b->rest);
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

/* Bones of one joint, and what they sum to. */
typedef struct fan {
    int count;
    double from[3], to[3]; /* the first: in the rig, in the clip */
    double sum[12];        /* of s t^T */
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

/* The unit direction from one joint to another; false where they stand at one place. */
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

/* The bone from joint a to joint b of the rig, which is that from joint c to joint d of the clip. */
static bool add_bone(const search *s, int a, int b, int c, int d, fan *f) {
    double from[3], to[3];
    if (!find_direction(&s->bones->rest[a], &s->bones->rest[b], s->size, from) ||
        !find_direction(&s->bones->clip_rest[c], &s->bones->clip_rest[d], s->clip_size, to))
        return false;
    if (f->count++ == 0) {
        memcpy(f->from, from, sizeof from);
        memcpy(f->to, to, sizeof to);
    }
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

/* All bones of a joint: below it as far as the first matched ones that are elsewhere. */
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

/* The bone to the only child of both, where nothing below is matched. */
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
    /* Half a turn: about anything perpendicular. */
    const double axis[3] = {fabs(from[0]) < 0.6, !(fabs(from[0]) < 0.6), 0};
    exi_cross(from, axis, q);
    q[3] = 0;
    exi_normalise(q, 4);
}

/* Whether all bones lie along one line: the second singular value of their sum vanishes. */
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

static void align_joint(const search *s, int joint) {
    static const double none[4] = {0, 0, 0, 1};
    exi_bones *b = s->bones;
    fan f = {0};
    gather(s, joint, &f);
    if (f.count == 0)
        gather_end(s, joint, &f);
    double *q = b->align[joint];
    if (f.count == 0)
        memcpy(q, b->above[joint] >= 0 ? b->align[b->above[joint]] : none, sizeof none);
    else if (f.count == 1 || along_one_line(f.sum))
        find_arc(f.from, f.to, q);
    else {
        double rotation[3][3], stretch[3][3];
        exi_polar(f.sum, rotation, stretch);
        exi_quaternion_of((const double(*)[3])rotation, q);
    }
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
