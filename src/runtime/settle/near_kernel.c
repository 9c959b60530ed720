/*
 * Closest points of a cluster of neighbours at once. Each point first tests one triangle that is probably near (the
 * closest one a frame ago, or in a key), which bounds the distance of the answer. The boxes of these bounds together
 * make a region, and one traversal of the tree gathers the blocks that reach into it. Every point then tests the boxes
 * of these few blocks, and looks at those that may hold something nearer. The answers are bit for bit those of
 * ex_bounds_closest: it does not matter which blocks are tested, as long as the one with the answer is among them
 * (closest_kernel.c).
 *
 * A single query waits for its own intermediate results, and for unpredictable branches. So the work runs in stages
 * over all points, four at a time, almost without branches: the pairs to test become a queue, and each point keeps the
 * lowest key found. A key is the bits of the squared distance, then the triangle's number, which is the order of
 * ex_bounds_closest too.
 *
 * Points without a hint search individually, and so do all points if the region is too large even for four of them:
 * when the points are not neighbours, or are far away.
 */
#include "runtime/settle/closest.h"
#include "runtime/settle/settler.h"

enum { GATHERED = 64, VISITED = 96, FAN = EXI_TREE_FAN, QUEUED = EXI_CLUSTER * GATHERED, CANDIDATES = 64 };

/* Blocks that reach into a region: their numbers and their boxes, four together. */
typedef struct gathering {
    uint32_t block[GATHERED + FAN], box[GATHERED + FAN]; /* box: its index in the nodes, in floats */
    float boxes[GATHERED / 4 + 1][6][4];
    int count;
} gathering;

typedef struct region {
    exi_fan low[3], high[3]; /* the same in all lanes */
} region;

/* A point and a block to test. */
typedef struct pair {
    uint16_t point, block;
} pair;

typedef struct candidate {
    uint32_t triangle, point;
} candidate;

static inline exi_vector load_points(float (*points)[3], int first) {
    exi_quad v[3];
    exi_quad_load_triples(points[first], v);
    return (exi_vector){v[0], v[1], v[2]};
}

/* A key orders by distance, then by number; 0 means none, so a distance of 0 is the lowest key above it. */
static inline void make_keys(exi_quad distance_sq, const uint32_t *triangles, uint64_t keys[4]) {
    const exi_quad least = exi_quad_splat(FLT_MIN);
    exi_quad_keys(exi_quad_pick(least, distance_sq, least, distance_sq), exi_quad_splat(FLT_MAX), triangles, keys);
}

/* The squared distance of a key. */
static inline float near_of(uint64_t key) {
    const uint32_t bits = (uint32_t)(key >> 32);
    float near;
    memcpy(&near, &bits, sizeof near);
    return near;
}

/* ---- known triangles ---- */

static inline exi_vector corner_of(const exi_view *view, const uint32_t *triangles, int corner) {
    exi_quad m[4];
    EXI_WRITE_OUT
    for (int i = 0; i < 4; i++) {
        const uint32_t vertex = view->corners[3 * (size_t)triangles[i] + (size_t)corner];
        m[i] = exi_quad_load_three(view->positions + 3 * (size_t)vertex);
    }
    exi_quad_transpose(m);
    return (exi_vector){m[0], m[1], m[2]};
}

/*
 * Filter of the blocks' triangles. With x the closest point known so far, e from it to the query point, and any F, a
 * triangle whose corners p_i are all in front of a plane,
 *
 *     (F - e) . (p_i - x) > F . F / 2,
 *
 * is farther away than |e|, since |e - y|^2 = e.e - 2 e.y + y.y, and y.y >= 2 F.y - F.F. The three F lead from x to the
 * edges of its triangle: they exclude what lies beyond an edge, unless it rises there more steeply than towards the
 * point. The test costs a quarter of a closest point. A margin allows for rounding: `scale` is the size of the numbers.
 */
typedef struct planes {
    float x[3][EXI_CLUSTER], normal[3][3][EXI_CLUSTER], offset[3][EXI_CLUSTER]; /* [plane][axis] */
} planes;

static inline void store_vector(float (*to)[EXI_CLUSTER], int first, exi_vector a) {
    exi_quad_store(to[0] + first, a.x);
    exi_quad_store(to[1] + first, a.y);
    exi_quad_store(to[2] + first, a.z);
}

/* away: from the query points to x; corners are absolute. */
static inline void make_planes(const exi_view *view, exi_vector x, exi_vector away, const exi_vector corners[3],
                               int first, planes *out) {
    const exi_quad slack = exi_quad_splat(4e-6f * view->scale), half = exi_quad_splat(0.5f);
    const exi_quad square = exi_v_dot(away, away);
    store_vector(out->x, first, x);
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        const exi_vector a = exi_v_subtract(corners[i], x), edge = exi_v_subtract(corners[(i + 1) % 3], corners[i]);
        const exi_quad t = exi_quad_mul(exi_v_dot(a, edge), exi_v_invert(exi_v_dot(edge, edge)));
        const exi_vector f = {exi_quad_msub(t, edge.x, a.x), exi_quad_msub(t, edge.y, a.y),
                              exi_quad_msub(t, edge.z, a.z)};
        const exi_vector n = {exi_quad_add(f.x, away.x), exi_quad_add(f.y, away.y), exi_quad_add(f.z, away.z)};
        /* |n| <= 1.5 (|F|^2 + |e|^2)^1/2 */
        const exi_quad f_sq = exi_v_dot(f, f), sum = exi_quad_max(exi_quad_add(f_sq, square), exi_quad_splat(1e-36f));
        const exi_quad length = exi_quad_mul(sum, exi_quad_inverse_root(sum));
        const exi_quad room = exi_quad_madd(slack, length, exi_quad_mul(sum, exi_quad_splat(2e-6f)));
        store_vector(out->normal[i], first, n);
        exi_quad_store(out->offset[i] + first, exi_quad_madd(half, f_sq, room));
    }
}

/* Four points and a triangle for each; the data of a point is in the rows of exi_near from first on. */
static inline void answer_four(const exi_view *view, exi_vector q, const uint32_t *triangles, int first, exi_near *near,
                               uint64_t *keys, planes *out) {
    const exi_vector corners[3] = {corner_of(view, triangles, 0), corner_of(view, triangles, 1),
                                   corner_of(view, triangles, 2)};
    const exi_answer a = exi_closest_of(corners[0], corners[1], corners[2], q);
    exi_quad_store(near->distance_sq + first, a.distance_sq);
    exi_quad_store(near->u + first, a.u);
    exi_quad_store(near->v + first, a.v);
    store_vector(near->away, first, a.point);
    exi_quad_store(near->along + first, a.along);
    /* Arithmetic on a corner that is not finite depends on the machine, so those points search. Very large ones do,
     * too. */
    const exi_quad size =
        exi_quad_add(exi_quad_add(exi_v_dot(corners[0], corners[0]), exi_v_dot(corners[1], corners[1])),
                     exi_v_dot(corners[2], corners[2]));
    make_keys(exi_quad_pick(exi_quad_splat(9e35f), size, a.distance_sq, exi_quad_splat(NAN)), triangles, keys);
    const exi_vector x = {exi_quad_add(q.x, a.point.x), exi_quad_add(q.y, a.point.y), exi_quad_add(q.z, a.point.z)};
    if (out)
        make_planes(view, x, a.point, corners, first, out);
}

/* Returns the key of the closest triangle of all; `known` is the key of one, or 0. */
static uint64_t search(const exi_view *view, const float point[3], uint64_t known) {
    ex_closest best = {.triangle = -1, .distance_sq = FLT_MAX};
    if (known) {
        best.triangle = (int)(uint32_t)known;
        best.distance_sq = near_of(known);
    }
    uint32_t block;
    uint64_t keys[4];
    exi_fit_search(view->fit, point, &best, &block);
    if (best.triangle < 0)
        return 0;
    const uint32_t found = (uint32_t)best.triangle, triangles[4] = {found, found, found, found};
    make_keys(exi_quad_splat(best.distance_sq), triangles, keys);
    return keys[0];
}

/* Tests the triangles that points have as hints, and sets keys. A point without a hint takes its neighbour's. The first
 * point searches, and so does one whose triangle is not finite. */
static void look_first(const exi_view *view, float (*points)[3], int count, exi_near *near, uint64_t *keys,
                       planes *out) {
    uint32_t last = EXI_NO_TRIANGLE;
    for (int i = 0; i < count && last == EXI_NO_TRIANGLE; i++)
        last = near->triangle[i] < view->triangle_count ? near->triangle[i] : EXI_NO_TRIANGLE;
    if (last == EXI_NO_TRIANGLE)
        last = (uint32_t)search(view, points[0], 0);
    for (int first = 0; first < count; first += 4) {
        for (int i = first; i < first + 4; i++)
            last = near->triangle[i] = near->triangle[i] < view->triangle_count ? near->triangle[i] : last;
        answer_four(view, load_points(points, first), near->triangle + first, first, near, keys + first, out);
        bool known = true;
        for (int i = first; i < first + 4; i++)
            known = known && keys[i];
        if (known)
            continue;
        uint64_t found[4], same[4];
        for (int i = 0; i < 4; i++) {
            found[i] = keys[first + i] ? keys[first + i] : search(view, points[first + i], 0);
            near->triangle[first + i] = (uint32_t)found[i];
        }
        answer_four(view, load_points(points, first), near->triangle + first, first, near, same, out);
        memcpy(keys + first, found, sizeof found);
    }
}

/* Computes the remaining results for points that found another triangle than the first. */
static void look_again(const exi_view *view, float (*points)[3], int count, exi_near *near, const uint64_t *keys) {
    int changed[EXI_CLUSTER + 4], changes = 0;
    for (int i = 0; i < count; i++) {
        changed[changes] = i;
        changes += keys[i] != 0 && (uint32_t)keys[i] != near->triangle[i];
        near->triangle[i] = keys[i] ? (uint32_t)keys[i] : EXI_NO_TRIANGLE;
    }
    for (int k = changes; k % 4; k++)
        changed[k] = changed[changes - 1];
    for (int k = 0; k < changes; k += 4) {
        uint32_t triangles[4];
        uint64_t same[4];
        float of[4][3];
        exi_near four;
        for (int i = 0; i < 4; i++) {
            triangles[i] = near->triangle[changed[k + i]];
            memcpy(of[i], points[changed[k + i]], sizeof of[i]);
        }
        answer_four(view, load_points(of, 0), triangles, 0, &four, same, NULL);
        for (int i = 0; i < 4; i++) {
            const int to = changed[k + i];
            near->distance_sq[to] = four.distance_sq[i];
            near->u[to] = four.u[i];
            near->v[to] = four.v[i];
            for (int c = 0; c < 3; c++)
                near->away[c][to] = four.away[c][i];
            near->along[to] = four.along[i];
        }
    }
}

/* ---- the region ---- */

/* The region around all points within their distances. Rounded outwards: everything outside is farther in float
 * arithmetic. */
static region region_of(float (*points)[3], int begin, int end, const exi_near *near) {
    exi_quad lows[4], highs[4];
    for (int c = 0; c < 4; c++) {
        lows[c] = exi_quad_splat(INFINITY);
        highs[c] = exi_quad_splat(-INFINITY);
    }
    const exi_quad zero = exi_quad_splat(0), outwards = exi_quad_splat(3e-7f);
    for (int first = begin; first < end; first += 4) {
        const exi_vector q = load_points(points, first);
        const exi_quad p[3] = {q.x, q.y, q.z};
        const exi_quad square = exi_quad_max(exi_quad_load(near->distance_sq + first), exi_quad_splat(1e-36f));
        const exi_quad reach =
            exi_quad_mul(exi_quad_mul(square, exi_quad_splat(1.000002f)), exi_quad_inverse_root(square));
        for (int c = 0; c < 3; c++) {
            const exi_quad far = exi_quad_madd(outwards, exi_quad_with_sign(p[c], zero), reach);
            lows[c] = exi_quad_min(lows[c], exi_quad_sub(p[c], far));
            highs[c] = exi_quad_max(highs[c], exi_quad_add(p[c], far));
        }
    }
    float low[4], high[4];
    exi_quad_transpose(lows);
    exi_quad_transpose(highs);
    exi_quad_store(low, exi_quad_min(exi_quad_min(lows[0], lows[1]), exi_quad_min(lows[2], lows[3])));
    exi_quad_store(high, exi_quad_max(exi_quad_max(highs[0], highs[1]), exi_quad_max(highs[2], highs[3])));
    region r;
    for (int c = 0; c < 3; c++) {
        r.low[c] = exi_fan_splat(low[c]);
        r.high[c] = exi_fan_splat(high[c]);
    }
    return r;
}

/* Gathers blocks; returns false if there are too many. Nodes are processed in the order in which they are found: the
 * next one is known before this one is done, so the processor can start with it. */
static bool gather(const ex_bounds *fit, const region *r, gathering *g) {
    const exi_fit_node *nodes = exi_tree_at(fit, fit->nodes);
    uint32_t found[VISITED + FAN] = {0};
    int count = 0;
    for (int next = 0, end = 1; next < end; next++) {
        const uint32_t number = found[next];
        const exi_fit_node *node = &nodes[number];
        const uint32_t bits = exi_node_meets(node, r->low, r->high);
        if (count > GATHERED - FAN || end > VISITED - FAN)
            return false;
        EXI_WRITE_OUT
        for (uint32_t i = 0; i < FAN; i++) {
            const uint32_t child = node->child[i], hit = bits >> i & 1, is_block = child >> 31;
            found[end] = child;
            end += (int)(hit & ~is_block);
            g->block[count] = child & ~EXI_TREE_BLOCK;
            g->box[count] = number * (uint32_t)(sizeof *node / sizeof(float)) + i;
            count += (int)(hit & is_block);
        }
    }
    g->count = count;
    const float *boxes = exi_tree_at(fit, fit->nodes);
    for (int k = 0; k < count; k++)
        for (int c = 0; c < 6; c++)
            g->boxes[k / 4][c][k % 4] = boxes[g->box[k] + FAN * (uint32_t)c];
    for (int k = count; k % 4; k++)
        for (int c = 0; c < 6; c++)
            g->boxes[k / 4][c][k % 4] = c < 3 ? INFINITY : -INFINITY;
    return true;
}

/* ---- candidates ---- */

/* Queues the blocks that may hold something as near, for every point. */
static int queue_up(const gathering *g, float (*points)[3], int begin, int end, const exi_near *near, pair *queue) {
    int length = 0;
    for (int i = begin; i < end; i++) {
        const exi_vector q = {exi_quad_splat(points[i][0]), exi_quad_splat(points[i][1]), exi_quad_splat(points[i][2])};
        const exi_quad best = exi_quad_splat(near->distance_sq[i]);
        uint64_t bits = 0;
        for (int k = 0; k < g->count; k += 4)
            bits |= (uint64_t)exi_quad_at_most(exi_box_distances(g->boxes[k / 4], q), best) << k;
        for (; bits; bits &= bits - 1)
            queue[length++] = (pair){(uint16_t)i, (uint16_t)exi_lowest_bit(bits)};
    }
    return length;
}

static inline exi_quad least_over(const planes *p, int plane, int i, exi_vector a, exi_vector b, exi_vector c) {
    const exi_vector n = {exi_quad_splat(p->normal[plane][0][i]), exi_quad_splat(p->normal[plane][1][i]),
                          exi_quad_splat(p->normal[plane][2][i])};
    const exi_quad least = exi_quad_min(exi_quad_min(exi_v_dot(n, a), exi_v_dot(n, b)), exi_v_dot(n, c));
    return exi_quad_sub(least, exi_quad_splat(p->offset[plane][i]));
}

/* Computes the candidates' distances, four at a time, with a key for each. */
static void compare(const exi_view *view, float (*points)[3], candidate *candidates, int count, uint64_t *keys) {
    for (int k = count; k % 4; k++)
        candidates[k] = candidates[count - 1];
    for (int k = 0; k < count; k += 4) {
        exi_quad of[4];
        uint32_t triangles[4];
        uint64_t found[4];
        EXI_WRITE_OUT
        for (int i = 0; i < 4; i++) {
            triangles[i] = candidates[k + i].triangle;
            of[i] = exi_quad_load_three(points[candidates[k + i].point]);
        }
        exi_quad_transpose(of);
        const exi_vector q = {of[0], of[1], of[2]};
        const exi_answer a = exi_closest_of(corner_of(view, triangles, 0), corner_of(view, triangles, 1),
                                            corner_of(view, triangles, 2), q);
        make_keys(a.distance_sq, triangles, found);
        for (int i = 0; i < 4; i++) {
            uint64_t *key = &keys[candidates[k + i].point];
            *key = (*key - 1 < found[i] - 1 ? *key - 1 : found[i] - 1) + 1; /* 0, which means none, is the largest */
        }
    }
}

static void sift(const exi_view *view, const gathering *g, const planes *p, float (*points)[3], const exi_near *near,
                 const pair *queue, int length, uint64_t *keys) {
    const exi_fit_block *blocks = exi_tree_at(view->fit, view->fit->blocks);
    candidate candidates[CANDIDATES + 4];
    int count = 0;
    for (int k = 0; k < length; k++) {
        const int i = queue[k].point;
        const exi_fit_block *block = &blocks[g->block[queue[k].block]];
        const exi_vector x = {exi_quad_splat(p->x[0][i]), exi_quad_splat(p->x[1][i]), exi_quad_splat(p->x[2][i])};
        const exi_vector a = exi_v_subtract(exi_v_load(block->corner[0]), x);
        const exi_vector b = exi_v_subtract(exi_v_load(block->corner[1]), x);
        const exi_vector c = exi_v_subtract(exi_v_load(block->corner[2]), x);
        const exi_quad beyond = exi_quad_max(exi_quad_max(least_over(p, 0, i, a, b, c), least_over(p, 1, i, a, b, c)),
                                             least_over(p, 2, i, a, b, c));
        const uint32_t in = exi_quad_at_most(beyond, exi_quad_splat(0));
        EXI_WRITE_OUT
        for (int lane = 0; lane < 4; lane++) {
            const uint32_t triangle = block->triangle[lane];
            candidates[count] = (candidate){triangle, (uint32_t)i};
            count += (int)(in >> lane & (uint32_t)(triangle != near->triangle[i]));
        }
        if (count > CANDIDATES - 4) {
            compare(view, points, candidates, count, keys);
            count = 0;
        }
    }
    compare(view, points, candidates, count, keys);
}

/* If there are too many blocks around the points, processes one half of the points after the other, down to fours,
 * which then search individually. */
static void look_through(const exi_view *view, const planes *p, float (*points)[3], int begin, int end,
                         const exi_near *near, uint64_t *keys) {
    const region r = region_of(points, begin, end, near);
    gathering g;
    pair queue[QUEUED];
    if (gather(view->fit, &r, &g)) {
        const int length = queue_up(&g, points, begin, end, near, queue);
        sift(view, &g, p, points, near, queue, length, keys);
    } else if (end - begin > 4) {
        const int middle = begin + (end - begin + 7) / 8 * 4;
        look_through(view, p, points, begin, middle, near, keys);
        look_through(view, p, points, middle, end, near, keys);
    } else {
        for (int i = begin; i < end; i++)
            keys[i] = search(view, points[i], keys[i]);
    }
}

EXI_ENTRY(exi_near_cluster, (const exi_view *view, float (*points)[3], int count, exi_near *near),
          (view, points, count, near)) {
    bool missing[EXI_CLUSTER];
    int whole = -1;
    for (int i = 0; i < count; i++) {
        missing[i] = !exi_finite3(points[i]);
        whole = missing[i] ? whole : i;
    }
    if (whole < 0 || view->triangle_count == 0) {
        for (int i = 0; i < count; i++)
            near->triangle[i] = EXI_NO_TRIANGLE;
        return;
    }
    float kept[EXI_CLUSTER][3];
    memcpy(kept, points, sizeof kept);
    for (int i = 0; i < EXI_CLUSTER; i++)
        if (i >= count || missing[i]) {
            memcpy(kept[i], points[whole], sizeof kept[i]);
            near->triangle[i] = near->triangle[whole];
        }
    uint64_t keys[EXI_CLUSTER];
    planes p;
    look_first(view, kept, count, near, keys, &p);
    if (keys[whole])
        look_through(view, &p, kept, 0, count, near, keys);
    look_again(view, kept, count, near, keys);
    for (int i = 0; i < count; i++)
        if (missing[i])
            near->triangle[i] = EXI_NO_TRIANGLE;
}
