/*
 * Queries of points and rays, one or many. The searches are in closest_kernel.c and ray_kernel.c.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/rows.h"
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

/* ---- many ---- */

enum { GRAIN = 64 }; /* queries of a piece: a few dozen microseconds */

typedef struct closest_job {
    const ex_bounds *fit;
    const char *points;
    size_t stride;
    float reach;
    ex_closest *closest;
} closest_job;

static void find_closest(void *context, int begin, int end) {
    const closest_job *j = context;
    for (int i = begin; i < end; i++) {
        float point[3];
        memcpy(point, j->points + j->stride * (size_t)i, sizeof point);
        ex_bounds_closest(j->fit, point, j->reach, &j->closest[i]);
    }
}

void ex_bounds_closest_many(const ex_bounds *fit, int count, const float *points, size_t stride, float reach,
                            ex_closest *closest, const ex_tasks *tasks) {
    if (!fit || count < 0 || (count > 0 && (!points || !closest))) {
        exi_misuse(__func__, "no fit or points, or no array for the answers");
        return;
    }
    if (!exi_rows_fit(points, stride, 12)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return;
    }
    closest_job j = {fit, (const char *)points, stride ? stride : 12, reach, closest};
    exi_run(tasks, count, GRAIN, find_closest, &j);
}

/* Either hits or blocked is NULL. */
typedef struct ray_job {
    const ex_bounds *fit;
    const ex_rays *rays;
    ex_hit *hits;
    bool *blocked;
} ray_job;

static ex_ray ray_at(const ex_rays *rays, int i) {
    const size_t from = rays->origin_stride ? rays->origin_stride : 12,
                 to = rays->direction_stride ? rays->direction_stride : 12;
    ex_ray ray = {.t_min = rays->t_min ? rays->t_min[i] : 0, .t_max = rays->t_max ? rays->t_max[i] : INFINITY};
    memcpy(ray.origin, (const char *)rays->origins + from * (size_t)i, sizeof ray.origin);
    memcpy(ray.direction, (const char *)rays->directions + to * (size_t)i, sizeof ray.direction);
    return ray;
}

static void find_hits(void *context, int begin, int end) {
    const ray_job *j = context;
    for (int i = begin; i < end; i++) {
        const ex_ray ray = ray_at(j->rays, i);
        if (j->hits)
            ex_bounds_ray(j->fit, &ray, &j->hits[i]);
        else
            j->blocked[i] = ex_bounds_blocked(j->fit, &ray);
    }
}

static void cast(const char *function, const ray_job *j, const ex_tasks *tasks) {
    const ex_rays *r = j->rays;
    if (!j->fit || !r || r->count < 0 || (r->count > 0 && (!r->origins || !r->directions || (!j->hits && !j->blocked))))
        exi_misuse(function, "no fit or rays, or no array for the answers");
    else if (!exi_rows_fit(r->origins, r->origin_stride, 12) || !exi_rows_fit(r->directions, r->direction_stride, 12) ||
             !exi_rows_fit(r->t_min, 0, 4) || !exi_rows_fit(r->t_max, 0, 4))
        exi_misuse(function, EXI_ROWS_MISUSE);
    else
        exi_run(tasks, r->count, GRAIN, find_hits, (void *)j);
}

void ex_bounds_ray_many(const ex_bounds *fit, const ex_rays *rays, ex_hit *hits, const ex_tasks *tasks) {
    cast(__func__, &(ray_job){.fit = fit, .rays = rays, .hits = hits}, tasks);
}

void ex_bounds_blocked_many(const ex_bounds *fit, const ex_rays *rays, bool *blocked, const ex_tasks *tasks) {
    cast(__func__, &(ray_job){.fit = fit, .rays = rays, .blocked = blocked}, tasks);
}
