/*
 * Pushes the points of a cluster out of the driver (DrivenShape, section 2.5): one whose signed distance s (side.c) is
 * below its gap g goes to the plane that lies g before its closest point x,
 *
 *     n . (y - x) >= g,    n = +-(p - x) / |p - x|,  or the pseudo-normal where p is nearly x,
 *
 * by the shortest way. In a crease the closest point is then another: the last three planes are kept, and the point
 * goes to the nearest place before all of them, which is exact for creases and corners of flat sides; going from plane
 * to plane instead takes dozens of steps in a narrow one. Where the driver leaves no room the place with the largest
 * signed distance that was met stays.
 *
 * A point deep in a thin limb may be nearer to the far side. The triangle that it was closest to in a key knows better:
 * where the surface there looks the other way, and the point is behind it, the point first goes to its place on that
 * triangle.
 */
#include "runtime/settle/settler.h"

enum { PLANES = 3 };

typedef struct plane {
    float normal[3];
    float offset; /* normal . y >= offset */
} plane;

typedef struct pushing {
    float best[3], best_short; /* the place so far that is least below its gap, and by how much */
    plane planes[PLANES];
    int plane_count;
} pushing;

static float dot(const float a[3], const float b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The signed distance, and the direction out. */
static float side(const exi_push *push, const float point[3], const exi_nearest *n, float out[3]) {
    const uint32_t triangle = push->triangles[n->at.triangle];
    float normal[3], away[3];
    exi_driver_side(&push->driver, triangle, n->at.u, n->at.v, normal);
    for (int c = 0; c < 3; c++)
        away[c] = point[c] - n->at.point[c];
    const float distance = sqrtf(n->at.distance_sq), length = sqrtf(dot(normal, normal));
    const float sign = dot(away, normal) < 0 ? -1.0f : 1.0f;
    const bool close = distance < 16 * push->tolerance && length > 0;
    const float scale = close ? 1 / length : distance > 0 ? sign / distance : 0;
    for (int c = 0; c < 3; c++)
        out[c] = scale * (close ? normal[c] : away[c]);
    return sign * distance;
}

/* ---- planes ---- */

/* Solves the count x count system of the planes' normals; false where they are nearly parallel. */
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

/* Moves the point to the planes of a subset; false where another plane is then not kept. */
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

/* To the nearest place before all planes, of which the last is the newest: fewest first. */
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

/* ---- the thin limb ---- */

/* Goes to the triangle of a key where the closest point is on its far side. */
static bool go_home(const exi_push *push, const exi_bound *bound, const float out[3], float gap, float point[3]) {
    float normal[3], home[3];
    if (!bound || !exi_driver_normal(&push->driver, bound->triangle, normal) || !(dot(normal, out) < 0))
        return false;
    float behind = 0;
    for (int c = 0; c < 3; c++) {
        home[c] = (1 - bound->u - bound->v) * push->driver.positions[3 * (size_t)bound->corner[0] + (size_t)c] +
                  bound->u * push->driver.positions[3 * (size_t)bound->corner[1] + (size_t)c] +
                  bound->v * push->driver.positions[3 * (size_t)bound->corner[2] + (size_t)c];
        behind += (point[c] - home[c]) * normal[c];
    }
    if (!(behind < 0))
        return false;
    for (int c = 0; c < 3; c++)
        point[c] = home[c] + gap * normal[c];
    return true;
}

/* ---- clusters ---- */

/* One move of a point that is too near. */
static void move(const exi_push *push, pushing *p, const exi_nearest *n, const exi_bound *bound, float gap,
                 const float out[3], int round, float point[3]) {
    if (round == 0 && go_home(push, bound, out, gap, point))
        return;
    plane newest = {{out[0], out[1], out[2]}, dot(out, n->at.point) + gap};
    step(push, p, &newest, point);
}

void exi_push_cluster(const exi_push *push, float (*points)[3], const float *gaps, const exi_bound *const *bounds,
                      int count, exi_nearest *nearest, ex_settled *tally) {
    int active[EXI_CLUSTER], active_count = 0;
    pushing state[EXI_CLUSTER];
    float outs[EXI_CLUSTER][3];
    exi_near(push->fit, (const float(*)[3])points, count, nearest);
    for (int i = 0; i < count; i++) {
        if (nearest[i].at.triangle < 0)
            continue;
        /* Most are farther away than their gap: only the side is to be known. */
        const float s = side(push, points[i], &nearest[i], outs[i]);
        if (s >= gaps[i] - push->tolerance)
            continue;
        state[i].plane_count = 0;
        state[i].best_short = gaps[i] - s;
        memcpy(state[i].best, points[i], sizeof state[i].best);
        active[active_count++] = i;
        tally->penetrating++;
        tally->deepest = s < tally->deepest ? s : tally->deepest;
    }
    const int pushed = active_count;
    int all[EXI_CLUSTER];
    memcpy(all, active, sizeof all);
    exi_nearest found[EXI_CLUSTER];
    for (int i = 0; i < active_count; i++)
        found[i] = nearest[active[i]];
    for (int round = 0; round < EXI_PUSHES && active_count > 0; round++) {
        float moved[EXI_CLUSTER][3];
        for (int k = 0; k < active_count; k++) {
            const int i = active[k];
            move(push, &state[i], &found[k], bounds[i], gaps[i], outs[i], round, points[i]);
            memcpy(moved[k], points[i], sizeof moved[k]);
        }
        exi_near(push->fit, (const float(*)[3])moved, active_count, found);
        int left = 0;
        for (int k = 0; k < active_count; k++) {
            const int i = active[k];
            if (found[k].at.triangle < 0)
                continue;
            const float lack = gaps[i] - side(push, points[i], &found[k], outs[i]);
            if (lack < state[i].best_short) {
                state[i].best_short = lack;
                memcpy(state[i].best, points[i], sizeof state[i].best);
            }
            if (lack <= push->tolerance)
                continue;
            active[left] = i;
            found[left++] = found[k];
        }
        active_count = left;
    }
    for (int k = 0; k < pushed; k++) {
        const int i = all[k];
        memcpy(points[i], state[i].best, sizeof state[i].best);
        tally->left += state[i].best_short > push->left;
    }
    tally->pushed += pushed;
}
