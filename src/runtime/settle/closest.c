/*
 * Closest point on a form's triangles, four triangles at a time.
 *
 * With a, b, c relative to the query point, n = ab x ac and n' = n / |ab|^2, the foot of the perpendicular has the
 * coordinates
 *
 *     u = -ac . (n' x a) / (n . n'),    v = ab . (n' x a) / (n . n')
 *
 * It counts if u, v, 1 - u - v >= 0; on an edge p + t e the closest point is t = clamp(-p.e / e.e, 0, 1). The nearest
 * of these four points of the triangle is the result, by distances measured from the points themselves: so slivers and
 * triangles without area, where u and v are inaccurate, give a point on an edge that is as near. Dividing n by |ab|^2
 * keeps all products within squares of lengths, so triangles of any size from 1e-18 to 1e18 work.
 *
 * The point is then moved into the box of its own three corners. Rounding is monotonic, so its distance, computed in
 * the same steps as the distance of a box, is never below that of any box around the triangle, to the last bit: no box
 * that contains the answer is skipped, and the answer does not depend on the tree.
 */
#include "runtime/settle/closest.h"
#include "runtime/base/result.h"

/* The bound is never infinite, which keeps out missing children: their boxes are infinite. */
void exi_fit_search(const ex_bounds *fit, const float point[3], ex_closest *best, uint32_t *block) {
    const exi_vector q = {exi_quad_splat(point[0]), exi_quad_splat(point[1]), exi_quad_splat(point[2])};
    const exi_fit_node *nodes = exi_tree_at(fit, fit->nodes);
    const exi_fit_block *blocks = exi_tree_at(fit, fit->blocks);
    uint64_t stack[EXI_TREE_STACK], keys[4], key = 0;
    int height = 0;
    exi_quad limit = exi_quad_splat(best->distance_sq);
    for (;;) {
        const uint32_t child = (uint32_t)key;
        if (child & EXI_TREE_BLOCK) {
            if (exi_look(&blocks[child & ~EXI_TREE_BLOCK], q, best))
                *block = child & ~EXI_TREE_BLOCK;
            limit = exi_quad_splat(best->distance_sq);
            key = 0;
        } else {
            const exi_fit_node *node = &nodes[child];
            exi_quad_keys(exi_box_distances(node->box, q), limit, node->child, keys);
            height = exi_tree_push(stack, height, keys, &key);
        }
        if (key)
            continue;
        do {
            if (height == 0)
                return;
            key = stack[--height];
        } while (exi_tree_key_near(key) > best->distance_sq);
    }
}

bool ex_bounds_closest(const ex_bounds *fit, const float point[3], float reach, ex_closest *closest) {
    if (!fit || !point || !closest)
        return exi_misuse(__func__, "no fit or point, or no pointer for the answer");
    ex_closest best = {.triangle = -1, .distance_sq = reach * reach < FLT_MAX ? reach * reach : FLT_MAX};
    bool finite = reach >= 0;
    for (int c = 0; c < 3; c++)
        finite = finite && fabsf(point[c]) < EXI_TREE_LARGEST;
    if (finite) {
        uint32_t block;
        exi_fit_search(fit, point, &best, &block);
        for (int c = 0; c < 3 && best.triangle >= 0; c++)
            best.point[c] += point[c];
    }
    if (best.triangle < 0)
        best = (ex_closest){.triangle = -1};
    *closest = best;
    return best.triangle >= 0;
}
