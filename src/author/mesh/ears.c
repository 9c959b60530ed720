/*
 * Ear clipping (G. H. Meisters, "Polygons have ears", 1975): goes round the polygon and cuts off the next corner that
 * is an ear, which is one that bends outwards and has no other corner inside it. If rounding, spikes or self-crossing
 * leave no ear, the flattest corner is cut off, which does the least harm to the rest.
 *
 * Only corners that bend inwards can lie inside an ear. Three things keep the time near n log n:
 *
 *   - Corners are sorted along a Morton curve, under a tree of boxes, so that an ear meets only corners near it.
 *   - A corner that is no ear keeps the corner that blocks it, and is tested again only once that one is gone, or once
 *     its own triangle changed. A tree over the ring finds the next corner to test.
 *   - The same tree finds the flattest corner.
 *
 * Both trees are binary and complete: node k has the children 2k and 2k + 1, and the leaves follow the inner nodes.
 */
#include "author/mesh/ears.h"

#include "author/base/array.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NOTHING = -1, TREE_DEPTH = 32 };

struct exi_ear_clipper {
    double (*points)[2];
    int leaf_count;        /* of either tree: a power of two */
    int *next, *previous;  /* the ring */
    double *least;         /* [2 leaf_count] smallest |area| of a corner below the node; INFINITY for those cut off */
    unsigned char *untold; /* [2 leaf_count] 1 if a corner below the node must be tested */
    uint64_t *order;       /* [count] Morton codes and corners */
    int *leaves;           /* of corners, in the tree of boxes */
    double (*boxes)[4];    /* [2 leaf_count] lower and upper ends of the corners below the node */
    unsigned char *inward; /* [2 leaf_count] 1 if a corner below the node bends inwards or not at all */
    int *owners;           /* corners by leaf of the tree of boxes */
    int *blockers;         /* corner inside the ear of a corner, or NOTHING */
    int *blocked_next, *blocked_previous, *first_blocked; /* corners with the same blocker */
    int *lapsed; /* corners that bend inwards since an ear beside them was cut */
    int lapsed_count;
};

void exi_ears_destroy(exi_ear_clipper *c) {
    if (!c)
        return;
    free(c->points);
    free(c->next);
    free(c->previous);
    free(c->least);
    free(c->untold);
    free(c->order);
    free(c->leaves);
    free(c->boxes);
    free(c->inward);
    free(c->owners);
    free(c->blockers);
    free(c->blocked_next);
    free(c->blocked_previous);
    free(c->first_blocked);
    free(c->lapsed);
    free(c);
}

static int leaves_for(int count) {
    int leaf_count = 1;
    while (leaf_count < count)
        leaf_count *= 2;
    return leaf_count;
}

exi_ear_clipper *exi_ears_create(int most) {
    const size_t corners = (size_t)most, nodes = 2 * (size_t)leaves_for(most);
    exi_ear_clipper *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->points = exi_array_allocate(corners, sizeof *c->points);
    c->next = exi_array_allocate(corners, sizeof *c->next);
    c->previous = exi_array_allocate(corners, sizeof *c->previous);
    c->least = exi_array_allocate(nodes, sizeof *c->least);
    c->untold = exi_array_allocate(nodes, 1);
    c->order = exi_array_allocate(corners, sizeof *c->order);
    c->leaves = exi_array_allocate(corners, sizeof *c->leaves);
    c->boxes = exi_array_allocate(nodes, sizeof *c->boxes);
    c->inward = exi_array_allocate(nodes, 1);
    c->owners = exi_array_allocate(corners, sizeof *c->owners);
    c->blockers = exi_array_allocate(corners, sizeof *c->blockers);
    c->blocked_next = exi_array_allocate(corners, sizeof *c->blocked_next);
    c->blocked_previous = exi_array_allocate(corners, sizeof *c->blocked_previous);
    c->first_blocked = exi_array_allocate(corners, sizeof *c->first_blocked);
    c->lapsed = exi_array_allocate(2 * corners, sizeof *c->lapsed);
    if (c->points && c->next && c->previous && c->least && c->untold && c->order && c->leaves && c->boxes &&
        c->inward && c->owners && c->blockers && c->blocked_next && c->blocked_previous && c->first_blocked &&
        c->lapsed)
        return c;
    exi_ears_destroy(c);
    return NULL;
}

double (*exi_ears_points(exi_ear_clipper *clipper))[2] {
    return clipper->points;
}

/* ---- areas ---- */

/* Twice the signed area of a triangle in the plane. It never falls if c moves along an axis to the left of ab, rounding
 * included, which is why boxes can be left out without changing an answer. */
static double area(const double a[2], const double b[2], const double c[2]) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static double corner_area(const exi_ear_clipper *c, int i) {
    return area(c->points[c->previous[i]], c->points[i], c->points[c->next[i]]);
}

static bool same_point(const double a[2], const double b[2]) {
    return a[0] == b[0] && a[1] == b[1];
}

/* ---- the tree over the ring ---- */

static void set_least(exi_ear_clipper *c, int corner, double size) {
    int node = c->leaf_count + corner;
    c->least[node] = size < INFINITY ? size : INFINITY;
    for (node /= 2; node > 0; node /= 2) {
        const double low = c->least[2 * node], high = c->least[2 * node + 1];
        c->least[node] = low < high ? low : high;
    }
}

static void set_flag(unsigned char *flags, int node, unsigned char flag) {
    flags[node] = flag;
    for (node /= 2; node > 0; node /= 2)
        flags[node] = flags[2 * node] | flags[2 * node + 1];
}

static void set_untold(exi_ear_clipper *c, int corner, unsigned char flag) {
    set_flag(c->untold, c->leaf_count + corner, flag);
}

static bool is_untold(const exi_ear_clipper *c, int node) {
    return c->untold[node];
}

static bool is_least(const exi_ear_clipper *c, int node) {
    return c->least[node] == c->least[1];
}

/* Returns the first corner at or after `at`, round the ring, whose leaf fits; NOTHING if none does. A node fits if one
 * of its children does. */
static int first_from(const exi_ear_clipper *c, int at, bool (*fits)(const exi_ear_clipper *, int)) {
    if (!fits(c, 1))
        return NOTHING;
    int node = c->leaf_count + at;
    if (!fits(c, node)) {
        while (node > 1 && (node % 2 == 1 || !fits(c, node + 1)))
            node /= 2;
        node = node > 1 ? node + 1 : 1;
    }
    while (node < c->leaf_count)
        node = fits(c, 2 * node) ? 2 * node : 2 * node + 1;
    return node - c->leaf_count;
}

static int flattest_corner(const exi_ear_clipper *c, int at) {
    return c->least[1] < INFINITY ? first_from(c, at, is_least) : at;
}

/* ---- the tree of boxes ---- */

/* Spreads 16 bits to the even places of 32. */
static uint64_t spread(uint64_t bits) {
    bits = (bits | bits << 8) & 0x00FF00FF;
    bits = (bits | bits << 4) & 0x0F0F0F0F;
    bits = (bits | bits << 2) & 0x33333333;
    return (bits | bits << 1) & 0x55555555;
}

static uint64_t along(double from, double to, double at) {
    const double part = (at - from) / (to - from) * 65535;
    return part > 0 ? part < 65535 ? (uint64_t)part : 65535 : 0;
}

static int compare_codes(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void sort_corners(exi_ear_clipper *c, int count) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], c->points[i][k]);
            high[k] = fmax(high[k], c->points[i][k]);
        }
    for (int i = 0; i < count; i++) {
        const double *p = c->points[i];
        const uint64_t code = spread(along(low[0], high[0], p[0])) | spread(along(low[1], high[1], p[1])) << 1;
        c->order[i] = code << 32 | (uint64_t)i;
    }
    qsort(c->order, (size_t)count, sizeof *c->order, compare_codes);
}

static void build_boxes(exi_ear_clipper *c, int count) {
    sort_corners(c, count);
    for (int k = 0; k < c->leaf_count; k++) {
        double *box = c->boxes[c->leaf_count + k];
        box[0] = box[1] = INFINITY;
        box[2] = box[3] = -INFINITY;
        if (k >= count)
            continue;
        const int corner = (int)(c->order[k] & 0xFFFFFFFFu);
        c->owners[k] = corner;
        c->leaves[corner] = c->leaf_count + k;
        box[0] = box[2] = c->points[corner][0];
        box[1] = box[3] = c->points[corner][1];
    }
    for (int node = c->leaf_count - 1; node > 0; node--)
        for (int k = 0; k < 2; k++) {
            const double *left = c->boxes[2 * node], *right = c->boxes[2 * node + 1];
            c->boxes[node][k] = fmin(left[k], right[k]);
            c->boxes[node][2 + k] = fmax(left[2 + k], right[2 + k]);
        }
}

/* True if all of a box is on the right of ab, so that none of its points can be inside. */
static bool is_beyond(const double box[4], const double a[2], const double b[2]) {
    const double nearest[2] = {b[1] - a[1] > 0 ? box[0] : box[2], b[0] - a[0] > 0 ? box[3] : box[1]};
    return area(a, b, nearest) < 0;
}

/* True if the box is a single point, at one of the three corners. */
static bool is_same_point(const double box[4], const double *a, const double *b, const double *c) {
    return same_point(box, box + 2) && (same_point(box, a) || same_point(box, b) || same_point(box, c));
}

/* Returns a corner that bends inwards and lies in the triangle of corner i or on its edge, or NOTHING. Corners at
 * exactly the place of one of its three do not count: bridges to holes run along the same line twice. */
static int find_blocker(const exi_ear_clipper *clipper, int i) {
    const double *a = clipper->points[clipper->previous[i]], *b = clipper->points[i];
    const double *c = clipper->points[clipper->next[i]];
    int stack[TREE_DEPTH], depth = 0;
    stack[depth++] = 1;
    while (depth > 0) {
        const int node = stack[--depth];
        const double *box = clipper->boxes[node];
        if (!clipper->inward[node] || is_same_point(box, a, b, c) || is_beyond(box, a, b) || is_beyond(box, b, c) ||
            is_beyond(box, c, a))
            continue;
        if (node < clipper->leaf_count) {
            stack[depth++] = 2 * node + 1;
            stack[depth++] = 2 * node;
            continue;
        }
        const double *p = box;
        if (area(a, b, p) >= 0 && area(b, c, p) >= 0 && area(c, a, p) >= 0)
            return clipper->owners[node - clipper->leaf_count];
    }
    return NOTHING;
}

/* ---- corners that are no ears ---- */

static void block(exi_ear_clipper *c, int corner, int blocker) {
    const int second = c->first_blocked[blocker];
    c->blockers[corner] = blocker;
    c->blocked_next[corner] = second;
    c->blocked_previous[corner] = NOTHING;
    if (second != NOTHING)
        c->blocked_previous[second] = corner;
    c->first_blocked[blocker] = corner;
}

static void unblock(exi_ear_clipper *c, int corner) {
    if (c->blockers[corner] == NOTHING)
        return;
    const int before = c->blocked_previous[corner], after = c->blocked_next[corner];
    if (before == NOTHING)
        c->first_blocked[c->blockers[corner]] = after;
    else
        c->blocked_next[before] = after;
    if (after != NOTHING)
        c->blocked_previous[after] = before;
    c->blockers[corner] = NOTHING;
}

static bool is_inward(const exi_ear_clipper *c, int corner) {
    return c->inward[c->leaves[corner]];
}

/* Lets a corner no longer block others. */
static void turn_outward(exi_ear_clipper *c, int corner) {
    set_flag(c->inward, c->leaves[corner], 0);
    while (c->first_blocked[corner] != NOTHING) {
        const int waiting = c->first_blocked[corner];
        unblock(c, waiting);
        set_untold(c, waiting, 1);
    }
}

/* Tests corner i; if it is no ear, keeps the reason. */
static bool is_ear(exi_ear_clipper *c, int i) {
    set_untold(c, i, 0);
    if (!(corner_area(c, i) > 0))
        return false;
    const int blocker = find_blocker(c, i);
    if (blocker == NOTHING)
        return true;
    block(c, i, blocker);
    return false;
}

/* ---- cutting ---- */

static void start(exi_ear_clipper *c, int count) {
    c->leaf_count = leaves_for(count);
    c->lapsed_count = 0;
    build_boxes(c, count);
    memset(c->inward, 0, 2 * (size_t)c->leaf_count);
    memset(c->untold, 0, 2 * (size_t)c->leaf_count);
    for (int i = 0; i < c->leaf_count; i++)
        c->least[c->leaf_count + i] = INFINITY;
    for (int i = 0; i < count; i++) {
        c->next[i] = i + 1 < count ? i + 1 : 0;
        c->previous[i] = i > 0 ? i - 1 : count - 1;
        c->blockers[i] = c->first_blocked[i] = NOTHING;
    }
    for (int i = 0; i < count; i++) {
        const double size = fabs(corner_area(c, i));
        c->least[c->leaf_count + i] = size < INFINITY ? size : INFINITY;
        c->untold[c->leaf_count + i] = 1;
        c->inward[c->leaves[i]] = !(corner_area(c, i) > 0);
    }
    for (int node = c->leaf_count - 1; node > 0; node--) {
        c->least[node] = fmin(c->least[2 * node], c->least[2 * node + 1]);
        c->untold[node] = c->untold[2 * node] | c->untold[2 * node + 1];
        c->inward[node] = c->inward[2 * node] | c->inward[2 * node + 1];
    }
}

/* Takes in the new triangle of a corner whose neighbour was cut off. Cutting an ear makes a corner bend inwards only by
 * rounding, or if the polygon crosses itself: such a corner blocks others only after one was cut off that is no ear. */
static void change_corner(exi_ear_clipper *c, int corner) {
    const double size = corner_area(c, corner);
    set_least(c, corner, fabs(size));
    unblock(c, corner);
    set_untold(c, corner, 1);
    if (is_inward(c, corner) && size > 0)
        turn_outward(c, corner);
    else if (!is_inward(c, corner) && !(size > 0))
        c->lapsed[c->lapsed_count++] = corner;
}

static void take_in_lapsed(exi_ear_clipper *c) {
    for (int k = 0; k < c->lapsed_count; k++) {
        const int i = c->lapsed[k];
        if (c->next[c->previous[i]] == i && !(corner_area(c, i) > 0))
            set_flag(c->inward, c->leaves[i], 1);
    }
    c->lapsed_count = 0;
}

static void cut_off(exi_ear_clipper *c, int corner) {
    const int before = c->previous[corner], after = c->next[corner];
    c->next[before] = after;
    c->previous[after] = before;
    set_least(c, corner, INFINITY);
    set_untold(c, corner, 0);
    unblock(c, corner);
    if (is_inward(c, corner))
        turn_outward(c, corner);
    change_corner(c, before);
    change_corner(c, after);
}

void exi_ears_clip(exi_ear_clipper *c, int first, int count, int *triangles) {
    start(c, count);
    int at = 0;
    for (int left = count; left > 2; left--) {
        int chosen = first_from(c, at, is_untold);
        while (chosen != NOTHING && !is_ear(c, chosen))
            chosen = first_from(c, chosen, is_untold);
        const bool forced = chosen == NOTHING;
        if (forced)
            chosen = flattest_corner(c, at);
        const int after = c->next[chosen];
        *triangles++ = first + c->previous[chosen];
        *triangles++ = first + chosen;
        *triangles++ = first + after;
        cut_off(c, chosen);
        if (forced)
            take_in_lapsed(c);
        /* Continuing after the neighbour spreads the cuts around the face instead of making a fan of needles. */
        at = c->next[after];
    }
}
