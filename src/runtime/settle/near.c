/*
 * Closest points of a cluster of neighbours at once. Each point first looks at one block that is probably near (where
 * its closest point was a frame ago, or in a key), which bounds how far away the answer can be; the boxes of those
 * bounds together make a region, and one way down the tree gathers the blocks that reach into it. Every point then asks
 * the boxes of these few, four at a time, and looks at those that may hold something nearer. So the tree is walked once
 * for all, and the answers are those of ex_fit_closest to the bit: which blocks are looked at does not matter, as long
 * as none is left out that holds the answer (closest.c).
 *
 * A region that is too large, since a point knows nothing or its neighbours are none, is given up: its points search on
 * their own.
 */
#include "runtime/settle/settler.h"

enum { GATHERED = 64 };

/* Blocks that reach into a region: boxes four in a register. */
typedef struct gathering {
    float box[GATHERED / 4][6][4];
    uint32_t block[GATHERED];
    int count;
} gathering;

typedef struct region {
    float low[3], high[3];
} region;

/* Around a point by the distance that is known. Rounded outwards: what lies outside is farther in float arithmetic. */
static void grow(region *r, const float point[3], float distance_sq) {
    const float reach = sqrtf(distance_sq) * 1.000001f;
    for (int c = 0; c < 3; c++) {
        const float far = reach + 3e-7f * fabsf(point[c]);
        const float low = point[c] - far, high = point[c] + far;
        r->low[c] = low < r->low[c] ? low : r->low[c];
        r->high[c] = high > r->high[c] ? high : r->high[c];
    }
}

/* False where there are too many. */
static bool gather(const ex_fit *fit, const region *r, gathering *g) {
    const exi_fit_node *nodes = exi_tree_at(fit, fit->nodes);
    uint32_t stack[EXI_TREE_STACK];
    int height = 1;
    exi_quad low[3], high[3];
    for (int c = 0; c < 3; c++) {
        low[c] = exi_quad_splat(r->low[c]);
        high[c] = exi_quad_splat(r->high[c]);
    }
    g->count = 0;
    stack[0] = 0;
    while (height > 0) {
        const exi_fit_node *node = &nodes[stack[--height]];
        exi_quad apart = exi_quad_sub(exi_quad_load(node->box[0]), high[0]);
        apart = exi_quad_max(apart, exi_quad_sub(low[0], exi_quad_load(node->box[3])));
        for (int c = 1; c < 3; c++) {
            apart = exi_quad_max(apart, exi_quad_sub(exi_quad_load(node->box[c]), high[c]));
            apart = exi_quad_max(apart, exi_quad_sub(low[c], exi_quad_load(node->box[3 + c])));
        }
        const unsigned bits = exi_quad_at_most(apart, exi_quad_splat(0));
        for (int i = 0; i < 4; i++) {
            if (!(bits >> i & 1))
                continue;
            const uint32_t child = node->child[i];
            if (!(child & EXI_TREE_BLOCK)) {
                stack[height++] = child;
                continue;
            }
            if (g->count == GATHERED)
                return false;
            for (int c = 0; c < 6; c++)
                g->box[g->count / 4][c][g->count % 4] = node->box[c][i];
            g->block[g->count++] = child & ~EXI_TREE_BLOCK;
        }
    }
    /* The last four are whole. */
    for (int k = g->count; k % 4; k++)
        for (int c = 0; c < 6; c++)
            g->box[k / 4][c][k % 4] = c < 3 ? INFINITY : -INFINITY;
    return true;
}

static void look_around(const exi_fit_block *blocks, const gathering *g, const float point[3], exi_nearest *nearest) {
    const exi_vector q = {exi_quad_splat(point[0]), exi_quad_splat(point[1]), exi_quad_splat(point[2])};
    const uint32_t seen = nearest->block;
    for (int k = 0; k < g->count; k += 4) {
        unsigned bits = exi_quad_at_most(exi_box_distances(g->box[k / 4], q), exi_quad_splat(nearest->at.distance_sq));
        for (int i = k; bits; i++, bits >>= 1)
            if ((bits & 1) && g->block[i] != seen && exi_look(&blocks[g->block[i]], q, &nearest->at))
                nearest->block = g->block[i];
    }
}

void exi_near(const ex_fit *fit, const float (*points)[3], int count, exi_nearest *nearest) {
    const exi_fit_block *blocks = exi_tree_at(fit, fit->blocks);
    region r = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    uint32_t last = EXI_NO_BLOCK;
    for (int i = 0; i < count; i++) {
        exi_nearest *n = &nearest[i];
        n->at = (ex_closest){.triangle = -1, .distance_sq = FLT_MAX};
        if (!exi_finite3(points[i]))
            continue;
        const exi_vector q = {exi_quad_splat(points[i][0]), exi_quad_splat(points[i][1]), exi_quad_splat(points[i][2])};
        if (n->block >= (uint32_t)fit->block_count)
            n->block = last; /* its neighbour's */
        if (n->block == EXI_NO_BLOCK || !exi_look(&blocks[n->block], q, &n->at))
            exi_fit_search(fit, points[i], &n->at, &n->block);
        last = n->block;
        grow(&r, points[i], n->at.distance_sq);
    }
    gathering g;
    const bool gathered = count > 2 && gather(fit, &r, &g);
    for (int i = 0; i < count; i++) {
        if (!exi_finite3(points[i]))
            continue;
        if (gathered)
            look_around(blocks, &g, points[i], &nearest[i]);
        else
            exi_fit_search(fit, points[i], &nearest[i].at, &nearest[i].block);
        if (nearest[i].at.triangle >= 0)
            for (int c = 0; c < 3; c++)
                nearest[i].at.point[c] += points[i][c];
    }
}
