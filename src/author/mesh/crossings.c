/*
 * Finds crossing pairs of triangles with a bounding-volume tree (runtime/settle): every triangle queries those of a
 * lower index whose boxes overlap its own. On a surface that leaves a few dozen pairs per triangle, however many
 * triangles there are.
 *
 * The tree's boxes come from positions rounded to float. Rounding is monotonic, so boxes that overlap still do: it
 * affects only which pairs are looked at. The test itself is in double.
 */
#include "author/mesh/crossings.h"

#include "author/base/array.h"
#include "author/mesh/cross.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/simd.h"
#include "runtime/settle/tree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Triangles queried together; each block has a count, whichever thread looks at it. */
enum { BLOCK = 256 };

struct exi_crossings {
    int vertex_count, triangle_count, block_count;
    uint32_t *triangles; /* [triangle_count][3] */
    float *positions;    /* [vertex_count][3], minus origin */
    double origin[3];
    ex_tree *tree;
    void *memory;
    const ex_bounds *fit;
    long long *counts; /* one per block */

    /* of the present form */
    const double *exact;
    double tolerance;
};

/* Rounds relative to the origin of the mesh, for every form alike: far from (0, 0, 0) floats would be coarse. */
static void round_positions(exi_crossings *c, const double *positions) {
    for (size_t i = 0; i < 3 * (size_t)c->vertex_count; i++)
        c->positions[i] = (float)(positions[i] - c->origin[i % 3]);
}

static bool share_vertex(const uint32_t *a, const uint32_t *b) {
    bool shared = false;
    for (int i = 0; i < 3; i++)
        shared = shared || a[i] == b[0] || a[i] == b[1] || a[i] == b[2];
    return shared;
}

static bool pair_crosses(const exi_crossings *c, const uint32_t *a, const uint32_t *b) {
    double p[3][3], q[3][3];
    for (int i = 0; i < 3; i++) {
        memcpy(p[i], c->exact + 3 * (size_t)a[i], sizeof p[i]);
        memcpy(q[i], c->exact + 3 * (size_t)b[i], sizeof q[i]);
    }
    return exi_triangles_cross(p, q, c->tolerance);
}

/* Returns the boxes, of four, that overlap the box low to high, as bits; rows are x y z. */
static inline unsigned meets(const exi_quad box_low[3], const exi_quad box_high[3], const exi_quad low[3],
                             const exi_quad high[3]) {
    unsigned bits = 15;
    for (int k = 0; k < 3; k++)
        bits &= exi_quad_at_most(box_low[k], high[k]) & exi_quad_at_most(low[k], box_high[k]);
    return bits;
}

/* Of a node's children. */
static inline unsigned node_meets(const exi_fit_node *node, const exi_quad low[3], const exi_quad high[3]) {
    unsigned bits = 0;
    for (int four = 0; four < EXI_TREE_FAN; four += 4) {
        exi_quad box_low[3], box_high[3];
        for (int k = 0; k < 3; k++) {
            box_low[k] = exi_quad_load(node->box[k] + four);
            box_high[k] = exi_quad_load(node->box[3 + k] + four);
        }
        bits |= meets(box_low, box_high, low, high) << four;
    }
    return bits;
}

static inline unsigned block_meets(const exi_fit_block *block, const exi_quad low[3], const exi_quad high[3]) {
    exi_quad box_low[3], box_high[3];
    for (int k = 0; k < 3; k++) {
        const exi_quad x = exi_quad_load(block->corner[0][k]), y = exi_quad_load(block->corner[1][k]);
        const exi_quad z = exi_quad_load(block->corner[2][k]);
        box_low[k] = exi_quad_min(exi_quad_min(x, y), z);
        box_high[k] = exi_quad_max(exi_quad_max(x, y), z);
    }
    return meets(box_low, box_high, low, high);
}

/* True for an unused lane: it repeats a triangle of another lane, and each triangle must count once. */
static bool is_repeated(const exi_fit_block *block, int lane) {
    for (int i = 0; i < lane; i++)
        if (block->triangle[i] == block->triangle[lane])
            return true;
    return false;
}

static int count_in_block(const exi_crossings *c, const exi_fit_block *block, uint32_t triangle, const exi_quad low[3],
                          const exi_quad high[3]) {
    const uint32_t *own = c->triangles + 3 * (size_t)triangle;
    const unsigned bits = block_meets(block, low, high);
    int count = 0;
    for (int lane = 0; lane < EXI_TREE_LEAF; lane++) {
        const uint32_t other = block->triangle[lane];
        if (!(bits >> lane & 1) || other >= triangle || is_repeated(block, lane))
            continue;
        const uint32_t *vertices = c->triangles + 3 * (size_t)other;
        count += !share_vertex(own, vertices) && pair_crosses(c, own, vertices);
    }
    return count;
}

/* Computes a triangle's box. False if a corner is not finite, or too far away for the tree. */
static bool find_box(const exi_crossings *c, uint32_t triangle, exi_quad low[3], exi_quad high[3]) {
    const uint32_t *v = c->triangles + 3 * (size_t)triangle;
    bool finite = true;
    for (size_t k = 0; k < 3; k++) {
        float least = INFINITY, most = -INFINITY;
        for (int i = 0; i < 3; i++) {
            const float x = c->positions[3 * (size_t)v[i] + k];
            finite = finite && fabsf(x) < EXI_TREE_LARGEST;
            least = x < least ? x : least;
            most = x > most ? x : most;
        }
        low[k] = exi_quad_splat(least);
        high[k] = exi_quad_splat(most);
    }
    return finite;
}

static long long count_triangle(const exi_crossings *c, uint32_t triangle) {
    const exi_fit_node *nodes = exi_tree_at(c->fit, c->fit->nodes);
    const exi_fit_block *blocks = exi_tree_at(c->fit, c->fit->blocks);
    uint32_t stack[EXI_TREE_STACK];
    int height = 1;
    exi_quad low[3], high[3];
    if (!find_box(c, triangle, low, high))
        return 0;
    long long count = 0;
    stack[0] = 0;
    while (height > 0) {
        const exi_fit_node *node = &nodes[stack[--height]];
        const unsigned bits = node_meets(node, low, high);
        for (int i = 0; i < EXI_TREE_FAN; i++) {
            if (!(bits >> i & 1))
                continue;
            const uint32_t child = node->child[i];
            if (child & EXI_TREE_BLOCK)
                count += count_in_block(c, &blocks[child & ~EXI_TREE_BLOCK], triangle, low, high);
            else
                stack[height++] = child;
        }
    }
    return count;
}

static void count_blocks(void *context, int begin, int end) {
    const exi_crossings *c = context;
    for (int block = begin; block < end; block++) {
        const int first = block * BLOCK, left = c->triangle_count - first, count = left < BLOCK ? left : BLOCK;
        c->counts[block] = 0;
        for (int i = first; i < first + count; i++)
            c->counts[block] += count_triangle(c, (uint32_t)i);
    }
}

void exi_crossings_destroy(exi_crossings *c) {
    if (!c)
        return;
    free(c->counts);
    free(c->memory);
    ex_tree_destroy(c->tree);
    free(c->positions);
    free(c->triangles);
    free(c);
}

static ex_result fill(exi_crossings *c, const double *positions, const int *triangles, ex_error *error) {
    const size_t numbers = 3 * (size_t)c->vertex_count, corners = 3 * (size_t)c->triangle_count;
    c->triangles = exi_array_allocate(corners, sizeof *c->triangles);
    c->positions = exi_array_allocate(numbers, sizeof *c->positions);
    c->counts = exi_array_allocate((size_t)c->block_count, sizeof *c->counts);
    if (!c->triangles || !c->positions || !c->counts)
        return ex_error_memory(error, "looking for crossings",
                               numbers * sizeof *c->positions + corners * sizeof *c->triangles);
    for (size_t i = 0; i < corners; i++)
        c->triangles[i] = (uint32_t)triangles[i];
    for (int k = 0; k < 3 && c->vertex_count > 0; k++)
        c->origin[k] = fabs(positions[k]) < (double)EXI_TREE_LARGEST ? positions[k] : 0;
    round_positions(c, positions);
    const ex_tree_def def = {.vertex_count = c->vertex_count,
                             .positions = c->positions,
                             .triangle_count = c->triangle_count,
                             .triangles = c->triangles};
    const ex_result result = ex_tree_create(&def, NULL, &c->tree, error);
    if (result != EX_OK)
        return result;
    c->memory = malloc(ex_bounds_size(c->tree));
    return c->memory ? EX_OK : ex_error_memory(error, "looking for crossings", ex_bounds_size(c->tree));
}

ex_result exi_crossings_create(int vertex_count, const double *positions, int triangle_count, const int *triangles,
                               exi_crossings **crossings, ex_error *error) {
    *crossings = NULL;
    exi_crossings *c = calloc(1, sizeof *c);
    if (!c)
        return ex_error_memory(error, "looking for crossings", sizeof *c);
    c->vertex_count = vertex_count;
    c->triangle_count = triangle_count;
    c->block_count = triangle_count / BLOCK + (triangle_count % BLOCK != 0);
    const ex_result result = fill(c, positions, triangles, error);
    if (result != EX_OK) {
        exi_crossings_destroy(c);
        return result;
    }
    *crossings = c;
    return EX_OK;
}

ex_result exi_crossings_count(exi_crossings *c, const double *positions, double tolerance, const ex_tasks *tasks,
                              int *pair_count, ex_error *error) {
    *pair_count = 0;
    c->exact = positions;
    c->tolerance = tolerance;
    round_positions(c, positions);
    c->fit = ex_bounds_fit(c->tree, c->positions, 0, c->memory, tasks);
    exi_run(tasks, c->block_count, 1, count_blocks, c);
    long long count = 0;
    for (int block = 0; block < c->block_count; block++)
        count += c->counts[block];
    if (count > INT_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "more than %d pairs of triangles cross each other", INT_MAX);
    *pair_count = (int)count;
    return EX_OK;
}
