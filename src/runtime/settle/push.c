/*
 * Pushes the points of a cluster out of the driver (DrivenShape, section 2.5): a point whose signed distance s (side.c)
 * is below its gap g moves to the plane at distance g in front of its closest point x,
 *
 *     n . (y - x) >= g,    n = +-(p - x) / |p - x|,  or the pseudo-normal if p is nearly x,
 *
 * by the shortest way. In a crease, the closest point then changes. So the last three planes are kept, and the point
 * moves to the nearest position in front of all of them, which is exact for creases and corners with flat sides; moving
 * from plane to plane instead takes dozens of steps in a narrow crease. If the driver leaves no room, the position with
 * the largest signed distance found so far is kept.
 *
 * The closest point of a deep point jumps from side to side as it moves, and in a thin limb it may lie on the far side.
 * The closest points in the keys tell where a point belongs, and change smoothly with the weights w_k. So the point
 * first moves by
 *
 *     sum over k of w_k max(0, g - n_k . (p - h_k)) n_k,
 *
 * with h_k its place on the driver and n_k the triangle's normal there. If this leads to the same side as the direction
 * out at its closest point, it moves by at most three times the distance it lacks: cloth that has slid away from its
 * places is not pushed without need. The remaining correction is then small, and does not jump. A point on the other
 * side that is not even a twentieth of that way deep has not come through the limb, but slid around it: it leaves where
 * it is.
 */
#include "runtime/settle/settler.h"

enum { PLANES = 3 };

/* Depth up to which a point leaves by its own side, as part of the way to that of its keys. */
#define SHALLOW 0.05f

typedef struct plane {
    float normal[3];
    float offset; /* normal . y >= offset */
} plane;

typedef struct pushing {
    float best[3], best_lack; /* position so far that is least below its gap, and by how much */
    plane planes[PLANES];
    int plane_count;
} pushing;

static float dot(const float a[3], const float b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Direction out of the driver, at a signed distance. */
static void direction(const exi_push *push, const exi_near *near, int i, float s, float out[3]) {
    const float distance = sqrtf(near->distance_sq[i]);
    if (distance > 16 * push->tolerance) {
        for (int c = 0; c < 3; c++)
            out[c] = near->away[c][i] / -s;
        return;
    }
    exi_driver_side(&push->driver, push->triangles[near->triangle[i]], near->u[i], near->v[i], out);
    const float length = sqrtf(dot(out, out));
    for (int c = 0; c < 3; c++)
        out[c] = length > 0 ? out[c] / length : 0;
}

/* ---- planes ---- */

/* Solves the count x count system of the planes' normals; false if they are nearly parallel. */
static bool solve(const plane *const *planes, int count, const float *lack, double *move) {
    double m[PLANES][PLANES + 1];
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < count; k++)
            m[i][k] = (double)dot(planes[i]->normal, planes[k]->normal);
        m[i][count] = (double)lack[i];
    }
    for (int i = 0; i < count; i++) {
        if (m[i][i] < 0.02)
            return false;
        for (int r = 0; r < count; r++) {
            const double factor = r == i ? 0 : m[r][i] / m[i][i];
            for (int k = i; k <= count; k++)
                m[r][k] -= factor * m[i][k];
        }
    }
    for (int i = 0; i < count; i++) {
        move[i] = m[i][count] / m[i][i];
        if (move[i] < 0)
            return false;
    }
    return true;
}

/* Moves the point onto the planes of a subset; false if that violates another plane. */
static bool move_onto(const pushing *p, unsigned subset, float tolerance, const float point[3], float moved[3]) {
    const plane *chosen[PLANES];
    float lack[PLANES];
    double move[PLANES];
    int count = 0;
    for (int i = 0; i < p->plane_count; i++)
        if (subset >> i & 1) {
            chosen[count] = &p->planes[i];
            lack[count++] = p->planes[i].offset - dot(p->planes[i].normal, point);
        }
    if (!solve(chosen, count, lack, move))
        return false;
    for (int c = 0; c < 3; c++) {
        double sum = (double)point[c];
        for (int i = 0; i < count; i++)
            sum += move[i] * (double)chosen[i]->normal[c];
        moved[c] = (float)sum;
    }
    for (int i = 0; i < p->plane_count; i++)
        if (!(subset >> i & 1) && dot(p->planes[i].normal, moved) < p->planes[i].offset - tolerance)
            return false;
    return true;
}

/* Moves to the nearest position in front of all planes, the last of which is the newest; tries the smallest subsets
 * first. */
static void step(const exi_push *push, pushing *p, const plane *newest, float point[3]) {
    static const unsigned subsets[PLANES][4] = {{1, 1, 1, 1}, {2, 3, 3, 3}, {4, 5, 6, 7}};
    if (p->plane_count == PLANES) {
        p->planes[0] = p->planes[1];
        p->planes[1] = p->planes[2];
        p->plane_count--;
    }
    p->planes[p->plane_count++] = *newest;
    float moved[3];
    for (int k = 0; k < 4; k++)
        if (move_onto(p, subsets[p->plane_count - 1][k], push->tolerance, point, moved)) {
            memcpy(point, moved, sizeof moved);
            return;
        }
    const float lack = newest->offset - dot(newest->normal, point);
    for (int c = 0; c < 3; c++)
        point[c] += lack * newest->normal[c];
}

/* ---- by the keys ---- */

/* Returns the distance by which a key's triangle wants the point moved, and the direction; 0 if the point is in front
 * of it. */
static float lack_of(const exi_push *push, const exi_bound *bound, float gap, const float point[3], float normal[3]) {
    if (!exi_driver_normal(&push->driver, bound->corner, normal))
        return 0;
    float height = 0;
    for (int c = 0; c < 3; c++) {
        const float home =
            (1 - bound->u - bound->v) * push->driver.positions[3 * (size_t)bound->corner[0] + (size_t)c] +
            bound->u * push->driver.positions[3 * (size_t)bound->corner[1] + (size_t)c] +
            bound->v * push->driver.positions[3 * (size_t)bound->corner[2] + (size_t)c];
        height += (point[c] - home) * normal[c];
    }
    return height < gap ? gap - height : 0;
}

/* Moves the point at place i of the cluster, whose closest point lies towards `out`, as its keys require. */
static bool go_home(const exi_push *push, int i, const float out[3], float s, float gap, float point[3]) {
    const exi_push_keys *keys = &push->keys;
    float sum[3] = {0, 0, 0};
    for (int k = 0; keys->weights && k < keys->count; k++) {
        const float weight = keys->weights[(size_t)keys->order[i] * (size_t)keys->count + (size_t)k];
        const exi_bound *bound = keys->bounds + (size_t)k * keys->stride + i;
        float normal[3];
        if (!(weight > 0))
            continue;
        const float lack = weight * lack_of(push, bound, gap, point, normal);
        for (int c = 0; lack > 0 && c < 3; c++)
            sum[c] += lack * normal[c];
    }
    const float length = sqrtf(dot(sum, sum)), most = 3 * (gap - s);
    if (!(length > push->tolerance) || !isfinite(length))
        return false;
    if (dot(sum, out) <= 0 && -s < SHALLOW * length)
        return false;
    const float scale = dot(sum, out) > 0 && length > most ? most / length : 1;
    for (int c = 0; c < 3; c++)
        point[c] += scale * sum[c];
    return true;
}

/* ---- clusters ---- */

/* One move of a point that is too near, from s and its closest point. */
static void move(const exi_push *push, pushing *p, const exi_near *near, int i, int place, float s, float gap,
                 bool first, float point[3]) {
    plane newest;
    direction(push, near, i, s, newest.normal);
    if (first && go_home(push, place, newest.normal, s, gap, point))
        return;
    newest.offset = gap;
    for (int c = 0; c < 3; c++)
        newest.offset += newest.normal[c] * (point[c] + near->away[c][i]);
    step(push, p, &newest, point);
}

/* Points that have not yet reached their gap. */
typedef struct waiting {
    float points[EXI_CLUSTER][3];
    float distances[EXI_CLUSTER]; /* signed */
    int places[EXI_CLUSTER];      /* in the cluster */
    int count;
    exi_near near;
    pushing state[EXI_CLUSTER];
} waiting;

/* Moves all of them once, and releases those that have arrived. */
static void push_once(const exi_push *push, waiting *w, const float *gaps, bool first) {
    for (int k = 0; k < w->count; k++) {
        const int i = w->places[k];
        move(push, &w->state[k], &w->near, k, i, w->distances[k], gaps[i], first, w->points[k]);
    }
    exi_near_cluster(&push->view, w->points, w->count, &w->near);
    for (int k = 0; k < w->count; k++) {
        pushing *p = &w->state[k];
        if (w->near.triangle[k] == EXI_NO_TRIANGLE) /* a coordinate has become too large */
            continue;
        w->distances[k] = exi_side_distance(&push->driver, push->triangles[w->near.triangle[k]], &w->near, k);
        const float lack = gaps[w->places[k]] - w->distances[k];
        if (lack < p->best_lack) {
            p->best_lack = lack;
            memcpy(p->best, w->points[k], sizeof p->best);
        }
    }
}

/* Stores the points that have arrived, or stay in place; the others close the gaps. */
static void let_go(const exi_push *push, waiting *w, bool all, float (*points)[3], ex_settled *tally) {
    int left = 0;
    for (int k = 0; k < w->count; k++) {
        const pushing *p = &w->state[k];
        if (all || p->best_lack <= push->tolerance || w->near.triangle[k] == EXI_NO_TRIANGLE) {
            memcpy(points[w->places[k]], p->best, sizeof p->best);
            tally->left += p->best_lack > push->left;
            continue;
        }
        w->state[left] = w->state[k];
        w->distances[left] = w->distances[k];
        w->places[left] = w->places[k];
        memmove(w->points[left], w->points[k], sizeof w->points[left]);
        exi_near_copy(&w->near, k, &w->near, left);
        left++;
    }
    w->count = left;
}

/* Finds the closest points of those that are neither clear nor found already. */
static void search_some(const exi_push *push, float (*points)[3], int count, uint32_t done, exi_near *near) {
    float chosen[EXI_CLUSTER][3];
    exi_near found;
    int places[EXI_CLUSTER], some = 0;
    for (int i = 0; i < count; i++) {
        if (done >> i & 1)
            continue;
        memcpy(chosen[some], points[i], sizeof chosen[some]);
        found.triangle[some] = near->triangle[i];
        places[some++] = i;
    }
    if (some > 0)
        exi_near_cluster(&push->view, chosen, some, &found);
    for (int k = 0; k < some; k++)
        exi_near_copy(&found, k, near, places[k]);
}

void exi_push_cluster(const exi_push *push, float (*points)[3], const float *gaps, const float *room, int count,
                      exi_near *near, float *least, ex_settled *tally) {
    waiting w;
    w.count = 0;
    uint32_t found = 0, clear = 0;
    const float sure = 4e-6f * push->view.scale;
    for (int i = 0; least && i < count; i++)
        clear |= (uint32_t)(least[i] - sure > gaps[i]) << i;
    if (!clear)
        clear = exi_clear_cluster(push, points, gaps, room, count, near, &found, least);
    if ((clear | found) == 0)
        exi_near_cluster(&push->view, points, count, near);
    else
        search_some(push, points, count, clear | found, near);
    for (int i = 0; i < count; i++) {
        if ((clear >> i & 1) || near->triangle[i] == EXI_NO_TRIANGLE)
            continue;
        const float s = exi_side_distance(&push->driver, push->triangles[near->triangle[i]], near, i);
        if (least)
            least[i] = s > sure ? s * (1 - 4e-6f) - sure : 0;
        if (s >= gaps[i] - push->tolerance)
            continue;
        if (s < -push->reach ||
            (push->driver.settler->open &&
             exi_driver_ends(&push->driver, push->triangles[near->triangle[i]], near->u[i], near->v[i])))
            continue;
        const int k = w.count++;
        tally->inside += s < -push->tolerance;
        tally->penetrating++;
        tally->deepest = s < tally->deepest ? s : tally->deepest;
        w.state[k].plane_count = 0;
        w.state[k].best_lack = gaps[i] - s;
        memcpy(w.state[k].best, points[i], sizeof w.state[k].best);
        memcpy(w.points[k], points[i], sizeof w.points[k]);
        w.distances[k] = s;
        w.places[k] = i;
        exi_near_copy(near, i, &w.near, k);
    }
    tally->pushed += w.count;
    for (int round = 0; round < EXI_PUSHES && w.count > 0; round++) {
        push_once(push, &w, gaps, round == 0);
        let_go(push, &w, round == EXI_PUSHES - 1, points, tally);
    }
}
