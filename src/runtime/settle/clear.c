/*
 * Tells loose cloth apart, which needs no search of its own. A signed distance s changes by at most the way that a
 * point moves, so a point q that is known answers for its neighbours:
 *
 *     s(p) >= s(q) - |p - q| > g    =>    p is outside, and farther from the driver than its gap g.
 *
 * In a cluster, one point of every four is asked where the keys promise room: the blended gap of the keys is about the
 * distance that a point will have. Without keys, it is asked everywhere. What was found for it is used again. The
 * choice depends on keys and weights alone, never on hints. With a state, points whose last distances clear them are
 * not asked at all (keep_kernel.c).
 */
#include "runtime/settle/settler.h"

enum { FOUR = 4, FOURS = EXI_CLUSTER / FOUR };

static inline float between(const float a[3], const float b[3]) {
    const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrtf(x * x + y * y + z * z);
}

/* With less room than this part of the driver's size, a point answers for too few. */
#define ROOM 0.005f

/* Finds how much farther than its gap the farthest point of a four is from q: the distance that q needs. */
static float needed(float (*points)[3], const float *gaps, int begin, int end, const float q[3]) {
    float most = 0;
    for (int i = begin; i < end; i++) {
        const float one = between(points[i], q) + gaps[i];
        most = one > most ? one : most;
    }
    return most;
}

uint32_t exi_clear_cluster(const exi_push *push, float (*points)[3], const float *gaps, const float *room, int count,
                           exi_near *near, uint32_t *found, float *least) {
    const bool keyed = push->keys.weights != NULL;
    int asked[FOURS], asks = 0;
    const float enough = ROOM * 1e6f * push->tolerance; /* which is 1e-6 of the size, or more */
    float most = 0;
    for (int i = 0; i < count; i++)
        most = room[i] > most ? room[i] : most;
    *found = 0;
    if (keyed && most < enough)
        return 0;
    for (int begin = 0; begin < count; begin += FOUR) {
        const int end = begin + FOUR < count ? begin + FOUR : count, q = begin + (end - begin) / 2;
        float lowest = INFINITY;
        for (int i = begin; i < end; i++)
            lowest = room[i] < lowest ? room[i] : lowest;
        asked[asks] = q;
        asks += !keyed || (lowest > enough && lowest > 1.2f * needed(points, gaps, begin, end, points[q]));
    }
    if (asks < 2) /* costs as much as it saves */
        return 0;
    float chosen[EXI_CLUSTER][3];
    exi_near own;
    for (int k = 0; k < asks; k++) {
        memcpy(chosen[k], points[asked[k]], sizeof chosen[k]);
        own.triangle[k] = near->triangle[asked[k]];
    }
    exi_near_cluster(&push->view, chosen, asks, &own);
    uint32_t clear = 0;
    for (int k = 0; k < asks; k++) {
        exi_near_copy(&own, k, near, asked[k]);
        *found |= 1u << asked[k];
        if (own.triangle[k] == EXI_NO_TRIANGLE)
            continue;
        const float s = exi_side_distance(&push->driver, push->triangles[own.triangle[k]], &own, k);
        const float known = s * (1 - 4e-6f) - 4e-6f * push->view.scale; /* for rounding */
        for (int i = 0; i < count; i++) {
            const float far = known - (1 + 4e-6f) * between(points[i], points[asked[k]]);
            if (far > gaps[i])
                clear |= 1u << i;
            if (least && far > least[i])
                least[i] = far;
        }
    }
    return clear;
}
