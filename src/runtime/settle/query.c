/*
 * Queries of single points and rays. The searches are in closest_kernel.c and ray_kernel.c.
 */
#include "runtime/base/result.h"
#include "runtime/settle/tree.h"

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

bool ex_bounds_ray(const ex_bounds *fit, const ex_ray *ray, ex_hit *hit) {
    if (!fit || !ray || !hit)
        return exi_misuse(__func__, "no fit or ray, or no pointer for the hit");
    return exi_ray_find(fit, ray, false, hit);
}

bool ex_bounds_blocked(const ex_bounds *fit, const ex_ray *ray) {
    if (!fit || !ray)
        return exi_misuse(__func__, "no fit or ray");
    ex_hit hit;
    return exi_ray_find(fit, ray, true, &hit);
}
