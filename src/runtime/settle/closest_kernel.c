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

/* The bound is never infinite, which keeps out missing children: their boxes are infinite. */
EXI_ENTRY(exi_fit_search, (const ex_bounds *fit, const float point[3], ex_closest *best, uint32_t *block),
          (fit, point, best, block)) {
    const exi_vector q = {exi_quad_splat(point[0]), exi_quad_splat(point[1]), exi_quad_splat(point[2])};
    const exi_fan of[3] = {exi_fan_splat(point[0]), exi_fan_splat(point[1]), exi_fan_splat(point[2])};
    const exi_fit_node *nodes = exi_tree_at(fit, fit->nodes);
    const exi_fit_block *blocks = exi_tree_at(fit, fit->blocks);
    exi_pending pending;
    uint32_t child = 0;
    pending.count = 0;
    exi_fan limit = exi_fan_splat(best->distance_sq);
    for (;;) {
        if (child & EXI_TREE_BLOCK) {
            if (exi_look(&blocks[child & ~EXI_TREE_BLOCK], q, best))
                *block = child & ~EXI_TREE_BLOCK;
            limit = exi_fan_splat(best->distance_sq);
            child = 0;
        } else {
            const exi_fit_node *node = &nodes[child];
            child = exi_pending_add(&pending, exi_node_distances(node, of), limit, node->child);
        }
        if (!child)
            child = exi_pending_next(&pending, best->distance_sq);
        if (!child)
            return;
    }
}
