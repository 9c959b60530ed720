/*
 * Path of a rig's root. It follows the path (x, y, z) of its counterpart in the clip, scaled:
 *
 *     (s x, f + s (y - ground), s z)
 *
 * Feet that are still in the clip should be still on the rig, and on the floor. The bones of both skeletons point the
 * same way (bones.c), so a foot is below its hip by the same number of leg lengths in both; the path from the root to
 * the hip has no part in that. Let l be the length of the leg, from the first matched joint on the path from the root
 * to the clip's lowest joint down to the last one. Let h be the height of the root above the lowest joint below it
 * while the clip is at rest (with the rig posed like the clip). With primes for the clip's:
 *
 *     s = l / l',   f = floor + h - s h'
 *
 * where the floor is at the rig's lowest joint at rest. Without legs, h is the root's height above that, s = h / h' and
 * f = floor. Without heights either (a root on the floor), s is the ratio of the skeletons' reaches.
 */
#include "author/base/array.h"
#include "author/motion/motion.h"

#include <math.h>
#include <stdlib.h>

double exi_reach(const exi_world *worlds, int count) {
    double reach = 0;
    for (int j = 1; j < count; j++) {
        double d = 0;
        for (int c = 0; c < 3; c++)
            d += (worlds[j].matrix[4 * c + 3] - worlds[0].matrix[4 * c + 3]) *
                 (worlds[j].matrix[4 * c + 3] - worlds[0].matrix[4 * c + 3]);
        reach = d > reach ? d : reach;
    }
    return sqrt(reach);
}

static double height(const exi_world *world) {
    return world->matrix[7];
}

static double distance(const exi_world *a, const exi_world *b) {
    double d = 0;
    for (int c = 0; c < 3; c++)
        d += (a->matrix[4 * c + 3] - b->matrix[4 * c + 3]) * (a->matrix[4 * c + 3] - b->matrix[4 * c + 3]);
    return sqrt(d);
}

/* ---- moving joints ---- */

/* Returns the number of children of each joint [joint_count]; NULL without memory. */
static int *count_children(const ex_clip *clip) {
    int *children = calloc((size_t)clip->joint_count + 1, sizeof *children);
    for (int j = 0; children && j < clip->joint_count; j++)
        if (clip->joints[j].parent >= 0)
            children[clip->joints[j].parent]++;
    return children;
}

/* True if a joint of the clip follows a path: it belongs to the trunk below a root, before anything branches off, or it
 * moves relative to its parent. An arm that is taken without its body stays at the rig's position. */
static bool goes_somewhere(const ex_clip *clip, const int *children, int joint, double size) {
    bool trunk = true;
    for (int j = clip->joints[joint].parent; j >= 0 && trunk; j = clip->joints[j].parent)
        trunk = children[j] == 1;
    const float *rest = clip->joints[joint].rest.translation;
    bool moved = false;
    for (int f = 0; f < clip->frame_count && !trunk && !moved; f++) {
        const float *at = clip->locals[(size_t)f * (size_t)clip->joint_count + (size_t)joint].translation;
        for (int c = 0; c < 3; c++)
            moved = moved || fabs((double)at[c] - (double)rest[c]) > EXI_STANDS_STILL * size;
    }
    return trunk || moved;
}

/* ---- legs ---- */

/* Returns the lowest joint of the clip at or below one; the first of equal legs. lowest [joint_count] is scratch.
 * Parents come before their children, so one pass from the end has seen everything below a joint when it reaches it. */
static int find_lowest(const exi_bones *b, int joint, int *lowest) {
    for (int j = 0; j < b->clip->joint_count; j++)
        lowest[j] = j;
    for (int j = b->clip->joint_count - 1; j > joint; j--) {
        const int parent = b->clip->joints[j].parent;
        if (parent >= 0 && height(&b->clip_rest[lowest[j]]) <= height(&b->clip_rest[lowest[parent]]))
            lowest[parent] = lowest[j];
    }
    return lowest[joint];
}

/* Computes the length of the leg that ends at `foot`, in both skeletons. False if fewer than two matched joints lead to
 * it. */
static bool measure_leg(const exi_retarget *r, int root, int foot, double *ours, double *theirs) {
    const exi_bones *b = &r->bones;
    int below = -1;
    *ours = *theirs = 0;
    for (int j = foot; j != root; j = b->clip->joints[j].parent) {
        if (r->back[j] < 0)
            continue;
        if (below >= 0) {
            *ours += distance(&b->rest[r->back[j]], &b->rest[r->back[below]]);
            *theirs += distance(&b->clip_rest[j], &b->clip_rest[below]);
        }
        below = j;
    }
    return *ours > EXI_STANDS_STILL * exi_reach(b->rest, b->joint_count) &&
           *theirs > EXI_STANDS_STILL * exi_reach(b->clip_rest, b->clip->joint_count);
}

/* Returns the height of a joint of the rig above the lowest one below it while the clip is at rest; joints
 * [joint_count] is scratch. */
static double height_aligned(exi_retarget *r, int joint, ex_transform *joints) {
    const exi_bones *b = &r->bones;
    double low;
    exi_retarget_frame(r, -1, joints);
    low = height(&r->worlds[joint]);
    for (int i = 0; i < b->joint_count; i++) {
        int j = i;
        while (j >= 0 && j != joint)
            j = ex_skeleton_parent(b->skeleton, j);
        if (j == joint && height(&r->worlds[i]) < low)
            low = height(&r->worlds[i]);
    }
    return height(&r->worlds[joint]) - low;
}

/* ---- the whole ---- */

static void find_scale(exi_retarget *r, int joint, int *lowest, ex_transform *joints) {
    const exi_bones *b = &r->bones;
    const int source = b->match->joints[joint], foot = find_lowest(b, source, lowest);
    const double reach = exi_reach(b->rest, b->joint_count), clip_reach = exi_reach(b->clip_rest, b->clip->joint_count);
    const double theirs = height(&b->clip_rest[source]) - height(&b->clip_rest[foot]);
    const double ours = height(&b->rest[joint]) - r->floor;
    double leg, clip_leg;
    r->scale = 1;
    if (measure_leg(r, source, foot, &leg, &clip_leg)) {
        r->scale = leg / clip_leg;
        r->floor += height_aligned(r, joint, joints) - r->scale * theirs;
    } else if (ours > EXI_STANDS_STILL * reach && theirs > EXI_STANDS_STILL * clip_reach)
        r->scale = ours / theirs;
    else if (reach > 0 && clip_reach > 0)
        r->scale = reach / clip_reach;
}

bool exi_path_find(exi_retarget *r) {
    const exi_bones *b = &r->bones;
    const double clip_reach = exi_reach(b->clip_rest, b->clip->joint_count);
    int *children = count_children(b->clip), first = -1;
    int *lowest = exi_array_allocate((size_t)b->clip->joint_count, sizeof *lowest);
    ex_transform *joints = exi_array_allocate((size_t)b->joint_count, sizeof *joints);
    const bool good = children && lowest && joints;
    for (int j = 0; j < b->joint_count; j++)
        r->floor = j == 0 || height(&b->rest[j]) < r->floor ? height(&b->rest[j]) : r->floor;
    for (int i = 0; i < b->joint_count && good; i++) {
        const int j = b->order[i], source = b->match->joints[j];
        r->moves[j] = source >= 0 && b->above[j] < 0 && b->clip->root_moves &&
                      goes_somewhere(b->clip, children, source, clip_reach);
        if (r->moves[j] && first < 0)
            first = j;
    }
    if (good && first >= 0)
        find_scale(r, first, lowest, joints);
    free(children);
    free(lowest);
    free(joints);
    return good;
}
