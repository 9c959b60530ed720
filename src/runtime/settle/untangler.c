/*
 * Creation of an untangler: the garment's triangles, their tree, and the neighbours of every vertex.
 */
#include "runtime/settle/untangler.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

static ex_result check(const ex_untangler_def *def, ex_error *error) {
    if (def->vertex_count < 0 || def->triangle_count < 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the number of vertices or triangles is negative");
    if ((def->vertex_count > 0 && !def->positions) || (def->triangle_count > 0 && !def->triangles))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "positions or triangles are missing");
    return EX_OK; /* ex_tree_create checks the rest */
}

/* Lists the corners of the triangles around each vertex; a neighbour may be there twice, once for each triangle. */
static void fill_rings(ex_untangler *u) {
    const uint32_t *triangles = exi_tree_at(u, u->triangles);
    uint32_t *ring = exi_tree_at(u, u->ring), *rings = exi_tree_at(u, u->rings);
    const size_t corners = 3 * (size_t)u->triangle_count;
    memset(ring, 0, ((size_t)u->vertex_count + 1) * sizeof *ring);
    for (size_t i = 0; i < corners; i++)
        ring[triangles[i] + 1] += 2;
    for (int v = 0; v < u->vertex_count; v++)
        ring[v + 1] += ring[v];
    for (size_t i = 0; i < corners; i++) {
        const uint32_t *corner = triangles + i / 3 * 3;
        uint32_t *to = &ring[triangles[i]];
        rings[(*to)++] = corner[(i + 1) % 3];
        rings[(*to)++] = corner[(i + 2) % 3];
    }
    memmove(ring + 1, ring, (size_t)u->vertex_count * sizeof *ring); /* they have moved to their ends */
    ring[0] = 0;
}

static ex_result allocate(const ex_untangler_def *def, const ex_tree *tree, const ex_allocator *allocator,
                          ex_untangler **untangler, ex_error *error) {
    const size_t vertices = (size_t)def->vertex_count, triangles = (size_t)def->triangle_count;
    ex_untangler head = {.vertex_count = def->vertex_count, .triangle_count = def->triangle_count};
    exi_size total = {.bytes = sizeof head}, scratch = {0};
    head.triangles = exi_size_add(&total, triangles, 3 * sizeof(uint32_t), EXI_ALIGN);
    head.tree = exi_size_add(&total, (size_t)tree->size, 1, EXI_ALIGN);
    head.ring = exi_size_add(&total, vertices + 1, sizeof(uint32_t), EXI_ALIGN);
    head.rings = exi_size_add(&total, triangles, 6 * sizeof(uint32_t), EXI_ALIGN);
    head.fit = exi_size_add(&scratch, ex_bounds_size(tree), 1, EXI_ALIGN);
    head.best = exi_size_add(&scratch, vertices, 3 * sizeof(float), EXI_ALIGN);
    head.homes = exi_size_add(&scratch, vertices, 4 * sizeof(float), EXI_ALIGN);
    head.moves = exi_size_add(&scratch, vertices, sizeof(exi_move), EXI_ALIGN);
    head.spread = exi_size_add(&scratch, vertices, 3 * sizeof(float), EXI_ALIGN);
    head.active = exi_size_add(&scratch, vertices, 1, EXI_ALIGN);
    exi_size_add(&scratch, 1, EXI_ALIGN, 1); /* the memory may start at any address */
    if (total.overflow || scratch.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the untangler is too large for this machine's memory");
    head.size = total.bytes;
    head.scratch = scratch.bytes;
    ex_untangler *made = exi_block_create(allocator, total.bytes);
    if (!made)
        return ex_error_memory(error, "the untangler", total.bytes);
    *made = head;
    if (triangles > 0)
        memcpy(exi_tree_at(made, head.triangles), def->triangles, 3 * triangles * sizeof(uint32_t));
    memcpy(exi_tree_at(made, head.tree), tree, (size_t)tree->size);
    fill_rings(made);
    *untangler = made;
    return EX_OK;
}

ex_result ex_untangler_create(const ex_untangler_def *def, const ex_allocator *allocator, ex_untangler **untangler,
                              ex_error *error) {
    if (!def || !untangler)
        return exi_misuse_error(error, __func__, "no definition, or no pointer for the untangler");
    *untangler = NULL;
    ex_tree *tree = NULL;
    const ex_tree_def of_tree = {.vertex_count = def->vertex_count,
                                 .positions = def->positions,
                                 .triangle_count = def->triangle_count,
                                 .triangles = def->triangles};
    ex_result result = check(def, error);
    if (result == EX_OK)
        result = ex_tree_create(&of_tree, allocator, &tree, error);
    if (result == EX_OK)
        result = allocate(def, tree, allocator, untangler, error);
    ex_tree_destroy(tree);
    return result;
}

void ex_untangler_destroy(ex_untangler *untangler) {
    exi_block_destroy(untangler);
}

size_t ex_untangler_scratch_size(const ex_untangler *untangler) {
    return untangler ? (size_t)untangler->scratch : (size_t)exi_misuse(__func__, "no untangler");
}
