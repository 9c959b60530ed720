/*
 * Sorts triangles into a tree with EXI_TREE_FAN children per node by the surface-area heuristic (J. Goldsmith and J.
 * Salmon, "Automatic creation of object hierarchies for ray tracing", 1987), in bins (I. Wald, "On fast construction of
 * SAH-based bounding volume hierarchies", 2007):
 *
 *     cost of a cut = area(left) blocks(left) + area(right) blocks(right),    blocks(n) = ceil(n / 4)
 *
 * over the 15 boundaries of 16 bins in each of the three axes. A node's triangles are cut as often as it has
 * room for children, each time the part with the largest area. A part without extent, or deeper than
 * EXI_TREE_DEPTH_SORTED, is cut into halves. So the cost is O(n log n), and the depth is bounded, for any triangles.
 * Nodes are processed level by level, without recursion.
 */
#include "runtime/settle/tree.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/simd.h"

#include <string.h>

enum { BINS = 16, TRIANGLES_MAX = 1 << 29 };

/* The box of a triangle. */
typedef struct item {
    float low[3];
    uint32_t triangle;
    float high[3];
    uint32_t unused;
} item;

/* A part of the items. */
typedef struct part {
    uint32_t begin, end;
} part;

typedef struct box {
    exi_quad low, high;
} box;

typedef struct builder {
    item *items;        /* [triangle_count] */
    part *nodes;        /* [node_count], at most one for each triangle and the root */
    uint32_t *children; /* [node_count][EXI_TREE_FAN] */
    part *leaves;       /* [leaf_count], at most one for each triangle */
    uint32_t node_count, leaf_count;
} builder;

/* ---- boxes ---- */

static inline box empty_box(void) {
    return (box){exi_quad_splat(INFINITY), exi_quad_splat(-INFINITY)};
}

static inline void grow(box *b, exi_quad low, exi_quad high) {
    b->low = exi_quad_min(b->low, low);
    b->high = exi_quad_max(b->high, high);
}

/* Half the surface area, in double, which neither overflows nor underflows here. */
static double area(const box *b) {
    float extent[4];
    exi_quad_store(extent, exi_quad_sub(b->high, b->low));
    const double x = (double)extent[0], y = (double)extent[1], z = (double)extent[2];
    return x >= 0 ? x * y + y * z + z * x : 0;
}

static double area_of(const item *items, part p) {
    box b = empty_box();
    for (uint32_t i = p.begin; i < p.end; i++)
        grow(&b, exi_quad_load_three(items[i].low), exi_quad_load_three(items[i].high));
    return area(&b);
}

/* Twice the middle of an item. */
static inline exi_quad middle(const item *it) {
    return exi_quad_add(exi_quad_load_three(it->low), exi_quad_load_three(it->high));
}

/* ---- one cut ---- */

typedef struct binning {
    exi_quad low, scale; /* bin = (middle - low) * scale */
    box boxes[3][BINS];
    uint32_t counts[3][BINS];
} binning;

static inline void bins_of(const binning *b, const item *it, int bins[3]) {
    float at[4];
    exi_quad_store(at, exi_quad_mul(exi_quad_sub(middle(it), b->low), b->scale));
    for (int c = 0; c < 3; c++) {
        const int bin = (int)at[c];
        bins[c] = bin < BINS - 1 ? bin : BINS - 1;
    }
}

static void fill_bins(binning *b, const item *items, part p) {
    box middles = empty_box();
    for (uint32_t i = p.begin; i < p.end; i++)
        grow(&middles, middle(&items[i]), middle(&items[i]));
    float extent[4];
    exi_quad_store(extent, exi_quad_sub(middles.high, middles.low));
    for (int c = 0; c < 3; c++)
        extent[c] = extent[c] > 1e-36f ? (float)BINS / extent[c] : 0; /* 0: all in the first bin, no cut */
    b->low = middles.low;
    b->scale = exi_quad_load_three(extent);
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < BINS; k++) {
            b->boxes[c][k] = empty_box();
            b->counts[c][k] = 0;
        }
    for (uint32_t i = p.begin; i < p.end; i++) {
        const exi_quad low = exi_quad_load_three(items[i].low), high = exi_quad_load_three(items[i].high);
        int bins[3];
        bins_of(b, &items[i], bins);
        for (int c = 0; c < 3; c++) {
            grow(&b->boxes[c][bins[c]], low, high);
            b->counts[c][bins[c]]++;
        }
    }
}

static double blocks_of(uint32_t count) {
    return (double)((count + EXI_TREE_LEAF - 1) / EXI_TREE_LEAF);
}

/* Returns the axis, and the first bin of the right side; -1 if there is no cut. */
static int best_cut(const binning *b, uint32_t count, int *first) {
    double best = (double)INFINITY;
    int axis = -1;
    for (int c = 0; c < 3; c++) {
        double right_cost[BINS];
        box right = empty_box(), left = empty_box();
        uint32_t right_count = 0, left_count = 0;
        for (int k = BINS - 1; k > 0; k--) {
            grow(&right, b->boxes[c][k].low, b->boxes[c][k].high);
            right_count += b->counts[c][k];
            right_cost[k] = area(&right) * blocks_of(right_count);
        }
        for (int k = 1; k < BINS; k++) {
            grow(&left, b->boxes[c][k - 1].low, b->boxes[c][k - 1].high);
            left_count += b->counts[c][k - 1];
            const double cost = area(&left) * blocks_of(left_count) + right_cost[k];
            if (left_count > 0 && left_count < count && cost < best) {
                best = cost;
                axis = c;
                *first = k;
            }
        }
    }
    return axis;
}

/* Moves the items and returns the start of the right side; cuts in halves if no other cut exists. */
static uint32_t cut(item *items, part p, bool halves) {
    binning b;
    int axis = -1, first = 0;
    if (!halves) {
        fill_bins(&b, items, p);
        axis = best_cut(&b, p.end - p.begin, &first);
    }
    if (axis < 0)
        return p.begin + (p.end - p.begin) / 2;
    uint32_t left = p.begin, right = p.end;
    for (;;) {
        int bins[3] = {0};
        for (; left < right && (bins_of(&b, &items[left], bins), bins[axis] < first); left++)
            ;
        for (; left < right && (bins_of(&b, &items[right - 1], bins), bins[axis] >= first); right--)
            ;
        if (left >= right)
            return left;
        const item swapped = items[left];
        items[left++] = items[--right];
        items[right] = swapped;
    }
}

/* ---- nodes ---- */

/* Cuts the node's part into up to EXI_TREE_FAN, and sets its children. */
static void split_node(builder *b, uint32_t node, bool halves) {
    part parts[EXI_TREE_FAN] = {b->nodes[node]};
    double areas[EXI_TREE_FAN] = {(double)INFINITY};
    int count = 1;
    while (count < EXI_TREE_FAN) {
        int largest = -1;
        for (int i = 0; i < count; i++)
            if (parts[i].end - parts[i].begin > EXI_TREE_LEAF && (largest < 0 || areas[i] > areas[largest]))
                largest = i;
        if (largest < 0)
            break;
        const part whole = parts[largest];
        const uint32_t middle = cut(b->items, whole, halves);
        parts[largest].end = middle;
        parts[count] = (part){middle, whole.end};
        for (int i = 0; i < 2; i++) {
            const int k = i ? count : largest;
            /* Halves: of equal sizes, so that every child has an equal part of the triangles. */
            areas[k] = halves ? (double)(parts[k].end - parts[k].begin) : area_of(b->items, parts[k]);
        }
        count++;
    }
    for (int i = 0; i < count; i++) {
        const uint32_t size = parts[i].end - parts[i].begin;
        uint32_t *child = &b->children[EXI_TREE_FAN * (size_t)node + (size_t)i];
        if (size > EXI_TREE_LEAF) {
            *child = b->node_count;
            b->nodes[b->node_count++] = parts[i];
        } else if (size > 0) {
            *child = EXI_TREE_BLOCK | b->leaf_count;
            b->leaves[b->leaf_count++] = parts[i];
        }
    }
}

static void build(builder *b, ex_tree *head) {
    b->nodes[0] = (part){0, (uint32_t)head->triangle_count};
    b->node_count = 1;
    for (uint32_t begin = 0; begin < b->node_count; head->level_count++) {
        const uint32_t end = b->node_count;
        for (uint32_t i = begin; i < end; i++)
            split_node(b, i, head->level_count >= EXI_TREE_DEPTH_SORTED);
        begin = end;
        head->levels[head->level_count + 1] = (int32_t)end;
    }
    head->node_count = (int32_t)b->node_count;
    head->block_count = (int32_t)b->leaf_count;
}

/* ---- the definition ---- */

static ex_result check_def(const ex_tree_def *def, ex_error *error) {
    if (def->vertex_count < 0 || def->triangle_count < 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the number of vertices or triangles is negative");
    if (def->triangle_count > 0 && (!def->positions || !def->triangles))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "positions or triangles are missing");
    if (def->stride != 0 && (def->stride < 3 * sizeof(float) || def->stride % sizeof(float) != 0))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the stride is %zu bytes; it must be a multiple of 4, and at least 12", def->stride);
    if (def->triangle_count > TRIANGLES_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "there are %d triangles; a tree holds at most %d",
                            def->triangle_count, TRIANGLES_MAX);
    for (int t = 0; t < def->triangle_count; t++)
        for (int i = 0; i < 3; i++)
            if (def->triangles[3 * (size_t)t + (size_t)i] >= (uint32_t)def->vertex_count)
                return ex_error_set(error, EX_ERROR_DATA,
                                    "triangle %d (counting from 0) refers to vertex %u, but there are %d", t,
                                    (unsigned)def->triangles[3 * (size_t)t + (size_t)i], def->vertex_count);
    return EX_OK;
}

/* A triangle that is not finite may be finite in another form: here it is put at the origin. */
static void fill_items(item *items, const ex_tree_def *def) {
    const size_t stride = def->stride ? def->stride : 3 * sizeof(float);
    for (int t = 0; t < def->triangle_count; t++) {
        item it = {.triangle = (uint32_t)t};
        bool finite = true;
        for (int i = 0; i < 3; i++) {
            const char *at = (const char *)def->positions + def->triangles[3 * (size_t)t + (size_t)i] * stride;
            const float *position = (const float *)(const void *)at;
            for (int c = 0; c < 3; c++) {
                const float x = position[c];
                finite = finite && fabsf(x) < EXI_TREE_LARGEST;
                it.low[c] = i == 0 || x < it.low[c] ? x : it.low[c];
                it.high[c] = i == 0 || x > it.high[c] ? x : it.high[c];
            }
        }
        items[t] = finite ? it : (item){.triangle = (uint32_t)t};
    }
}

static void fill_tree(ex_tree *tree, const builder *b, const ex_tree_def *def) {
    exi_tree_block *blocks = exi_tree_at(tree, tree->blocks);
    memcpy(exi_tree_at(tree, tree->children), b->children,
           (size_t)tree->node_count * EXI_TREE_FAN * sizeof *b->children);
    for (uint32_t k = 0; k < b->leaf_count; k++)
        for (uint32_t lane = 0; lane < EXI_TREE_LEAF; lane++) {
            const part p = b->leaves[k];
            const uint32_t triangle = b->items[p.begin + lane < p.end ? p.begin + lane : p.begin].triangle;
            blocks[k].triangle[lane] = triangle;
            for (int i = 0; i < 3; i++)
                blocks[k].vertex[i][lane] = def->triangles[3 * (size_t)triangle + (size_t)i];
        }
}

static ex_result create(const ex_tree_def *def, const ex_allocator *allocator, builder *b, ex_tree **tree,
                        ex_error *error) {
    ex_tree head = {.vertex_count = def->vertex_count, .triangle_count = def->triangle_count};
    fill_items(b->items, def);
    build(b, &head);
    exi_size total = {.bytes = sizeof head};
    head.children = exi_size_add(&total, (size_t)head.node_count, EXI_TREE_FAN * sizeof(uint32_t), EXI_ALIGN);
    head.blocks = exi_size_add(&total, (size_t)head.block_count, sizeof(exi_tree_block), EXI_ALIGN);
    head.size = total.bytes;
    if (total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the tree is too large for this machine's memory");
    ex_tree *made = exi_block_create(allocator, total.bytes);
    if (!made)
        return ex_error_memory(error, "the tree", total.bytes);
    *made = head;
    fill_tree(made, b, def);
    *tree = made;
    return EX_OK;
}

ex_result ex_tree_create(const ex_tree_def *def, const ex_allocator *allocator, ex_tree **tree, ex_error *error) {
    if (!def || !tree)
        return exi_misuse_error(error, __func__, "no definition, or no pointer for the tree");
    *tree = NULL;
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    const size_t count = (size_t)def->triangle_count;
    exi_size total = {0};
    const size_t items = exi_size_add(&total, count, sizeof(item), EXI_ALIGN);
    const size_t nodes = exi_size_add(&total, count + 1, sizeof(part), EXI_ALIGN);
    const size_t children = exi_size_add(&total, count + 1, EXI_TREE_FAN * sizeof(uint32_t), EXI_ALIGN);
    const size_t leaves = exi_size_add(&total, count, sizeof(part), EXI_ALIGN);
    if (total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the tree is too large for this machine's memory");
    char *work = exi_allocate(allocator, total.bytes);
    if (!work)
        return ex_error_memory(error, "sorting the triangles", total.bytes);
    memset(work + children, 0, (count + 1) * EXI_TREE_FAN * sizeof(uint32_t));
    builder b = {.items = (item *)(void *)(work + items),
                 .nodes = (part *)(void *)(work + nodes),
                 .children = (uint32_t *)(void *)(work + children),
                 .leaves = (part *)(void *)(work + leaves)};
    result = create(def, allocator, &b, tree, error);
    exi_release(allocator, work, total.bytes);
    return result;
}

void ex_tree_destroy(ex_tree *tree) {
    exi_block_destroy(tree);
}

int ex_tree_triangle_count(const ex_tree *tree) {
    return tree ? tree->triangle_count : exi_misuse(__func__, "no tree");
}
