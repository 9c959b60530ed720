/*
 * Signs of the rotations of moving frames, for blends of dual quaternions.
 *
 * A frame is fitted to a form, which does not say whether a part turned by 200 or by -160 degrees. But frames lie
 * closely: each differs little from those next to it. So the frames form a tree, and each rotation gets the sign that
 * is nearer to its parent's. A forearm that is wrung by a turn over several frames then blends without a jump, as long
 * as no frame turns by more than 180 degrees against its neighbour. Choosing sides vertex by vertex, against the
 * heaviest frame, jumped as soon as two frames of one vertex were 180 degrees apart.
 *
 * The tree is the maximum spanning tree of the shares s_ab = sum over vertices of w_a w_b (Prim's algorithm).
 */
#include "runtime/pose/frame_tree.h"

#include "runtime/pose/dual.inl"
#include "runtime/pose/skin.h"

#include <string.h>

size_t exi_frame_tree_room(int frame_count) {
    const size_t frames = (size_t)(frame_count > 0 ? frame_count : 0);
    return frames > 65536 ? SIZE_MAX : frames * (frames + 2) * sizeof(double);
}

/* Sums the shares of pairs [frame_count][frame_count]. */
static void sum_shares(const ex_influences *carry, size_t rows, size_t frames, double *shares) {
    memset(shares, 0, frames * frames * sizeof *shares);
    for (size_t v = 0; carry->starts && v < rows; v++)
        for (uint32_t i = carry->starts[v]; i < carry->starts[v + 1]; i++)
            for (uint32_t j = carry->starts[v]; j < i; j++) {
                const size_t a = carry->places[i], b = carry->places[j];
                const double share = (double)carry->weights[i] * (double)carry->weights[j];
                shares[a * frames + b] += share;
                shares[b * frames + a] += share;
            }
}

void exi_frame_tree_make(const ex_influences *carry, size_t rows, int frame_count, exi_frame_link *links, void *room) {
    const size_t frames = (size_t)frame_count;
    double *shares = room, *best = shares + frames * frames, *parents = best + frames;
    sum_shares(carry, rows, frames, shares);
    for (size_t f = 0; f < frames; f++) {
        best[f] = 0;
        parents[f] = -1;
    }
    for (size_t n = 0; n < frames; n++) {
        size_t next = frames;
        for (size_t f = 0; f < frames; f++) /* best is negative for frames in the tree */
            if (best[f] >= 0 && (next == frames || best[f] > best[next]))
                next = f;
        links[n] = (exi_frame_link){(int32_t)next, (int32_t)parents[next]};
        best[next] = -1;
        for (size_t f = 0; f < frames; f++)
            if (best[f] >= 0 && shares[next * frames + f] > best[f]) {
                best[f] = shares[next * frames + f];
                parents[f] = (double)next;
            }
    }
}

void exi_frame_tree_follow(const exi_frame_link *links, ex_palette *palette) {
    float *duals = (float *)((uintptr_t)palette + (uintptr_t)palette->duals);
    for (int n = 0; n < palette->joint_count; n++) {
        float *own = duals + 8 * (size_t)links[n].frame, side = 0;
        const float *parent = links[n].parent >= 0 ? duals + 8 * (size_t)links[n].parent : own;
        for (int i = 0; i < 4; i++)
            side += own[i] * parent[i];
        for (int i = 0; i < 8 && !(side > EXI_DUAL_SIDE); i++)
            own[i] = -own[i];
    }
    palette->side = EXI_DUAL_KEPT;
}
