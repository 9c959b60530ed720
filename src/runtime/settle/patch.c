/*
 * Cuts a driver into patches that move almost rigidly from frame to frame (keep_kernel.c): subtrees of its tree of up
 * to EXI_PATCH_BLOCKS blocks, in the tree's order, so that patches in a row are neighbours.
 */
#include "runtime/settle/settler.h"

/* Blocks below a child, or more than EXI_PATCH_BLOCKS. */
static int blocks_below(const ex_tree *tree, uint32_t child) {
    const uint32_t(*children)[EXI_TREE_FAN] = exi_tree_at(tree, tree->children);
    uint32_t stack[EXI_TREE_STACK];
    int height = 0, count = 0;
    stack[height++] = child;
    while (height > 0 && count <= EXI_PATCH_BLOCKS) {
        const uint32_t next = stack[--height];
        count += (next & EXI_TREE_BLOCK) != 0;
        for (int i = 0; !(next & EXI_TREE_BLOCK) && i < EXI_TREE_FAN; i++)
            if (children[next][i])
                stack[height++] = children[next][i];
    }
    return count;
}

/* Adds the vertices below a child that are not marked with this patch. */
static size_t vertices_below(const ex_tree *tree, uint32_t child, uint32_t patch, uint32_t *marks, uint32_t *vertices,
                             size_t total) {
    const uint32_t(*children)[EXI_TREE_FAN] = exi_tree_at(tree, tree->children);
    const exi_tree_block *blocks = exi_tree_at(tree, tree->blocks);
    uint32_t stack[EXI_TREE_STACK];
    int height = 0;
    stack[height++] = child;
    while (height > 0) {
        const uint32_t next = stack[--height];
        for (int i = 0; !(next & EXI_TREE_BLOCK) && i < EXI_TREE_FAN; i++)
            if (children[next][i])
                stack[height++] = children[next][i];
        for (int i = 0; (next & EXI_TREE_BLOCK) && i < 12; i++) {
            const uint32_t vertex = blocks[next & ~EXI_TREE_BLOCK].vertex[i / 4][i % 4];
            if (marks[vertex] == patch + 1)
                continue;
            marks[vertex] = patch + 1;
            if (vertices)
                vertices[total] = vertex;
            total++;
        }
    }
    return total;
}

int exi_patch_cut(const ex_tree *tree, uint32_t *marks, uint32_t *starts, uint32_t *vertices, size_t *total) {
    const uint32_t(*children)[EXI_TREE_FAN] = exi_tree_at(tree, tree->children);
    uint32_t stack[EXI_TREE_STACK];
    int height = 0, count = 0;
    memset(marks, 0, (size_t)tree->vertex_count * sizeof *marks);
    *total = 0;
    if (tree->triangle_count > 0)
        stack[height++] = 0;
    while (height > 0) {
        const uint32_t next = stack[--height];
        if ((next & EXI_TREE_BLOCK) || blocks_below(tree, next) <= EXI_PATCH_BLOCKS) {
            if (starts)
                starts[count] = (uint32_t)*total;
            *total = vertices_below(tree, next, (uint32_t)count, marks, vertices, *total);
            count++;
            continue;
        }
        for (int i = 0; i < EXI_TREE_FAN; i++)
            if (children[next][i])
                stack[height++] = children[next][i];
    }
    if (starts)
        starts[count] = (uint32_t)*total;
    return count;
}

/* Number of triangles around a that have the edge from a to b. */
static int edges_from(const ex_settler *s, uint32_t a, uint32_t b) {
    const uint32_t *triangles = exi_tree_at(s, s->triangles), *first = exi_tree_at(s, s->incident);
    const uint32_t *list = exi_tree_at(s, s->incidences);
    int count = 0;
    for (uint32_t k = first[a]; k < first[a + 1]; k++)
        for (size_t i = 0; i < 3; i++)
            count += triangles[3 * (size_t)list[k] + i] == a && triangles[3 * (size_t)list[k] + (i + 1) % 3] == b;
    return count;
}

/* Limit of the triangles around a vertex: the test takes their number squared. */
enum { VALENCE_MOST = 1024 };

bool exi_patch_closed(const ex_settler *s) {
    const uint32_t *triangles = exi_tree_at(s, s->triangles), *first = exi_tree_at(s, s->incident);
    for (int v = 0; v < s->driver_count; v++)
        if (first[v + 1] - first[v] > VALENCE_MOST)
            return false;
    for (size_t t = 0; t < (size_t)s->triangle_count; t++)
        for (size_t i = 0; i < 3; i++) {
            const uint32_t a = triangles[3 * t + i], b = triangles[3 * t + (i + 1) % 3];
            if (a == b || edges_from(s, a, b) != 1 || edges_from(s, b, a) != 1)
                return false;
        }
    return true;
}
