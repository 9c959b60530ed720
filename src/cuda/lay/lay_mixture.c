/*
 * Layout of a mixture for the GPU (block.h): tables of nodes and edges as the runtime has them, the edges of each node,
 * and for each group of vertices the list of nodes that move them, so that a block needs the matrices of those only.
 */
#include "cuda/lay/lay.h"

static uint64_t copy(const exi_trajectories *p, uint64_t table, size_t count, size_t size, exi_lay *lay) {
    const void *at;
    exi_lay_copy(lay, exi_trajectories_at(p, table), count * size, &at);
    return at ? exi_lay_offset(lay, at) : 0;
}

/* ---- nodes and edges ---- */

/* A row of all correctors for each term, so that threads with a corrector each read side by side. */
static uint64_t lay_curves(const exi_trajectories *p, exi_lay *lay) {
    const size_t terms = (size_t)p->mixture.term_count, correctors = (size_t)p->mixture.corrector_count;
    const float *from = exi_trajectories_at(p, p->mixture.curves);
    const void *at;
    float *to = exi_lay_take(lay, terms * correctors, sizeof *to, &at);
    for (size_t i = 0; to && i < terms * correctors; i++)
        to[i] = from[i % correctors * terms + i / correctors];
    return at ? exi_lay_offset(lay, at) : 0;
}

static void lay_nodes(const exi_trajectories *p, exi_lay *lay, exi_gpu_mixture *made) {
    const exi_mixture *m = &p->mixture;
    const size_t nodes = 3 * (size_t)m->node_stride, corners = (size_t)m->corner_count, terms = (size_t)m->term_count;
    const size_t edges = (size_t)m->edge_count;
    made->terms = copy(p, m->terms, terms, sizeof(ex_mixture_term), lay);
    made->curves = lay_curves(p, lay);
    made->turns = copy(p, m->turns, corners - 1, nodes * sizeof(float), lay);
    made->places = copy(p, m->places, corners, nodes * sizeof(float), lay);
    made->steps = copy(p, m->steps, corners, 6 * (size_t)m->edge_stride * sizeof(float), lay);
    made->solve = copy(p, m->solve, (size_t)m->node_count, (size_t)m->node_stride * sizeof(float), lay);
    made->pulls = copy(p, m->pulls, edges, sizeof(float), lay);
    made->edges = copy(p, m->edges, edges, 2 * sizeof(uint16_t), lay);
}

/* The edges of each node, in their order. */
static void lay_ends(const exi_trajectories *p, exi_lay *lay, exi_gpu_mixture *made) {
    const exi_mixture *m = &p->mixture;
    const uint16_t *edges = exi_trajectories_at(p, m->edges);
    const size_t count = 2 * (size_t)m->edge_count;
    const void *at;
    uint32_t *starts = exi_lay_take(lay, (size_t)m->node_count + 1, sizeof *starts, &at);
    made->end_starts = exi_lay_offset(lay, at);
    uint16_t *ends = exi_lay_take(lay, count, sizeof *ends, &at);
    made->ends = at ? exi_lay_offset(lay, at) : 0;
    if (!starts || !ends)
        return;
    for (size_t i = 0; i < count; i++) /* counts become ends; filling from the back turns them into starts */
        starts[edges[i]]++;
    for (int n = 0; n < m->node_count; n++)
        starts[n + 1] += starts[n];
    for (size_t i = count; i-- > 0;)
        ends[--starts[edges[i]]] = (uint16_t)i;
}

/* ---- vertices ---- */

/* Lists the nodes of a group's vertices with shares, in ascending order; places: of each node, those of others are -1.
 * Returns their number. */
static int list_nodes(const exi_trajectories *p, int group, int32_t places[EX_NODE_MAX]) {
    const uint16_t *nodes = exi_trajectories_at(p, p->mixture.nodes);
    const float *shares = exi_trajectories_at(p, p->mixture.shares);
    const int first = group * EXI_GPU_MIX_GROUP, last = first + EXI_GPU_MIX_GROUP;
    int count = 0;
    for (int n = 0; n < EX_NODE_MAX; n++)
        places[n] = -1;
    for (int i = EX_NODE_SHARES * first; i < EX_NODE_SHARES * (last < p->vertex_count ? last : p->vertex_count); i++)
        if (shares[i] != 0 || i % EX_NODE_SHARES == 0)
            places[nodes[i]] = 0;
    for (int n = 0; n < EX_NODE_MAX; n++)
        if (places[n] == 0)
            places[n] = count++;
    return count;
}

static void lay_groups(const exi_trajectories *p, exi_lay *lay, exi_gpu_mixture *made) {
    const size_t entries = (size_t)p->vertex_count * EX_NODE_SHARES;
    const int groups = (p->vertex_count + EXI_GPU_MIX_GROUP - 1) / EXI_GPU_MIX_GROUP;
    const uint16_t *nodes = exi_trajectories_at(p, p->mixture.nodes);
    const void *at;
    int32_t places[EX_NODE_MAX];
    size_t total = 0;
    made->nodes = copy(p, p->mixture.nodes, entries, sizeof(uint16_t), lay);
    made->shares = copy(p, p->mixture.shares, entries, sizeof(float), lay);
    for (int i = 0; i < groups; i++) {
        const int count = list_nodes(p, i, places);
        made->most_nodes = count > made->most_nodes ? count : made->most_nodes;
        total += (size_t)count;
    }
    uint32_t *starts = exi_lay_take(lay, (size_t)groups + 1, sizeof *starts, &at);
    made->group_starts = exi_lay_offset(lay, at);
    uint16_t *lists = exi_lay_take(lay, total, sizeof *lists, &at);
    made->group_nodes = exi_lay_offset(lay, at);
    uint16_t *own = exi_lay_take(lay, entries, sizeof *own, &at);
    made->places_in_group = exi_lay_offset(lay, at);
    for (int i = 0; own && i < groups; i++) {
        const size_t first = (size_t)i * EXI_GPU_MIX_GROUP * EX_NODE_SHARES;
        starts[i + 1] = starts[i] + (uint32_t)list_nodes(p, i, places);
        for (int n = 0; n < EX_NODE_MAX; n++)
            if (places[n] >= 0)
                lists[starts[i] + (uint32_t)places[n]] = (uint16_t)n;
        for (size_t e = first; e < first + EXI_GPU_MIX_GROUP * EX_NODE_SHARES && e < entries; e++)
            own[e] = (uint16_t)(places[nodes[e]] >= 0 ? places[nodes[e]] : 0); /* those left out have share 0 */
    }
}

/* ---- entry point ---- */

static int32_t larger(int32_t a, int32_t b) {
    return a > b ? a : b;
}

void exi_lay_mixture(const exi_trajectories *paths, exi_lay *lay, exi_gpu *head, exi_gpu_mixture *mixture) {
    const exi_mixture *m = &paths->mixture;
    *mixture = (exi_gpu_mixture){.node_count = m->node_count};
    if (m->node_count == 0)
        return;
    *mixture = (exi_gpu_mixture){.node_count = m->node_count,
                                 .edge_count = m->edge_count,
                                 .corner_count = m->corner_count,
                                 .term_count = m->term_count,
                                 .node_stride = m->node_stride,
                                 .edge_stride = m->edge_stride,
                                 .first_node = head->mixed_nodes,
                                 .first_corner = head->mixed_corners,
                                 .first_term = head->mixed_terms};
    lay_nodes(paths, lay, mixture);
    lay_ends(paths, lay, mixture);
    lay_groups(paths, lay, mixture);
    head->mixed_nodes += m->node_count;
    head->mixed_corners += m->corner_count;
    head->mixed_terms += m->term_count;
    head->most_mixed_nodes = larger(head->most_mixed_nodes, m->node_stride);
    head->most_mixed_corners = larger(head->most_mixed_corners, m->corner_count);
    head->most_mixed_edges = larger(head->most_mixed_edges, m->edge_count);
}
