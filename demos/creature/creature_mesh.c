/*
 * The skin of the creature as triangles: a surface net. Every cell of a lattice that the skin crosses has one vertex,
 * at the mean of the points where the cell's edges leave the solid; every edge of the lattice that leaves it has a quad
 * of the four cells around it, split along its shorter diagonal. If the nodes inside a cell, or those outside, are not
 * connected along its edges, nodes are removed from the solid until they are: then the skin has one piece in every
 * cell, and is closed and manifold. The result is uneven; creature_relax.c improves it.
 */
#include "creature.h"

#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes are at origin + spacing * (i, j, k); a cell has the index of its lowest node. */
typedef struct net {
    const exi_creature_flesh *flesh;
    double origin[3], spacing;
    int size[3];   /* number of nodes */
    float *values; /* [size x][size y][size z] */
    int *cells[2]; /* [size y][size z]: vertices of the cells of two layers, -1 for none */
    ex_mesh *mesh;
    size_t vertex_room, corner_room;
} net;

static void node_place(const net *n, int i, int j, int k, double p[3]) {
    const int at[3] = {i, j, k};
    for (int c = 0; c < 3; c++)
        p[c] = n->origin[c] + n->spacing * at[c];
}

static float *value_at(const net *n, int i, int j, int k) {
    return &n->values[((size_t)i * (size_t)n->size[1] + (size_t)j) * (size_t)n->size[2] + (size_t)k];
}

/* A value is a lower bound of the distance to the skin, so nodes within it share the value: only their sign matters. */
static void fill_values(const net *n) {
    for (int i = 0; i < n->size[0]; i++)
        for (int j = 0; j < n->size[1]; j++)
            for (int k = 0; k < n->size[2];) {
                double p[3];
                node_place(n, i, j, k, p);
                const double value = exi_creature_field(n->flesh, p, NULL);
                int same = (int)(fabs(value) / n->spacing) - 1;
                for (same = same < 1 ? 1 : same; same > 0 && k < n->size[2]; same--)
                    *value_at(n, i, j, k++) = (float)value;
            }
}

/* True if the corners in a set, bits x + 2 y + 4 z of a cell, are connected along the cell's edges. */
static bool hangs_together(unsigned set) {
    unsigned reached = set & (0u - set), before = 0;
    while (reached != before) {
        const unsigned x = (reached & 0x55u) << 1 | (reached & 0xAAu) >> 1;
        const unsigned y = (reached & 0x33u) << 2 | (reached & 0xCCu) >> 2;
        const unsigned z = (reached & 0x0Fu) << 4 | (reached & 0xF0u) >> 4;
        before = reached;
        reached |= (x | y | z) & set;
    }
    return reached == set;
}

/* Removes the shallowest inside corner of a cell that has more than one piece of skin. */
static bool simplify_cell(const net *n, int i, int j, int k) {
    unsigned inside = 0;
    float *least = NULL;
    for (unsigned c = 0; c < 8; c++) {
        float *value = value_at(n, i + (int)(c & 1), j + (int)(c >> 1 & 1), k + (int)(c >> 2));
        if (*value >= 0)
            continue;
        inside |= 1u << c;
        least = !least || *value > *least ? value : least;
    }
    if (inside == 0 || (hangs_together(inside) && hangs_together(~inside & 0xFFu)))
        return false;
    *least = (float)(1e-3 * n->spacing);
    return true;
}

static void simplify(const net *n) {
    bool changed = true;
    while (changed) { /* ends, because the inside shrinks */
        changed = false;
        for (int i = 0; i + 1 < n->size[0]; i++)
            for (int j = 0; j + 1 < n->size[1]; j++)
                for (int k = 0; k + 1 < n->size[2]; k++)
                    changed |= simplify_cell(n, i, j, k);
    }
}

static bool add_vertex(net *n, const double p[3]) {
    double *grown =
        array_grow(n->mesh->positions, &n->vertex_room, (size_t)n->mesh->vertex_count + 1, 3 * sizeof(double));
    if (!grown)
        return false;
    n->mesh->positions = grown;
    memcpy(grown + 3 * (size_t)n->mesh->vertex_count++, p, 3 * sizeof *p);
    return true;
}

/* Adds the vertex of the cell of layer i at j, k, if the skin crosses it. */
static bool add_cell(net *n, int i, int j, int k, int *cell) {
    double sum[3] = {0, 0, 0};
    int crossings = 0;
    *cell = -1;
    for (int axis = 0; axis < 3; axis++)
        for (int e = 0; e < 4; e++) {
            int from[3] = {0, 0, 0};
            from[(axis + 1) % 3] = e & 1;
            from[(axis + 2) % 3] = e >> 1;
            int to[3] = {from[0], from[1], from[2]};
            to[axis] = 1;
            const double a = (double)*value_at(n, i + from[0], j + from[1], k + from[2]);
            const double b = (double)*value_at(n, i + to[0], j + to[1], k + to[2]);
            if ((a < 0) == (b < 0))
                continue;
            double p[3];
            node_place(n, i + from[0], j + from[1], k + from[2], p);
            p[axis] += n->spacing * a / (a - b);
            for (int c = 0; c < 3; c++)
                sum[c] += p[c];
            crossings++;
        }
    if (crossings == 0)
        return true;
    for (int c = 0; c < 3; c++)
        sum[c] /= crossings;
    *cell = n->mesh->vertex_count;
    return add_vertex(n, sum);
}

static bool add_triangles(net *n, const int quad[4]) {
    const double *p[4];
    double diagonals[2] = {0, 0};
    for (int i = 0; i < 4; i++)
        p[i] = n->mesh->positions + 3 * (size_t)quad[i];
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 2; d++)
            diagonals[d] += (p[d][c] - p[d + 2][c]) * (p[d][c] - p[d + 2][c]);
    const int first = diagonals[1] < diagonals[0] ? 1 : 0;
    int *grown = array_grow(n->mesh->corners, &n->corner_room, (size_t)n->mesh->corner_count + 6, sizeof(int));
    if (!grown)
        return false;
    n->mesh->corners = grown;
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < 3; i++)
            grown[n->mesh->corner_count++] = quad[(first + 2 * t + i) % 4];
    return true;
}

/* Adds the quad around the edge of the lattice from a node along an axis. */
static bool add_quad(net *n, int i, int j, int k, int axis) {
    const int to[3] = {axis == 0, axis == 1, axis == 2};
    const float a = *value_at(n, i, j, k), b = *value_at(n, i + to[0], j + to[1], k + to[2]);
    if ((a < 0) == (b < 0))
        return true;
    int quad[4];
    for (int q = 0; q < 4; q++) { /* around the axis: 0 0, 1 0, 1 1, 0 1 of the two others */
        int back[3] = {0, 0, 0};
        back[(axis + 1) % 3] = q == 0 || q == 3;
        back[(axis + 2) % 3] = q < 2;
        quad[q] = n->cells[1 - back[0]][(size_t)(j - back[1]) * (size_t)n->size[2] + (size_t)(k - back[2])];
    }
    if (b < 0) { /* anticlockwise as seen from outside */
        const int swap = quad[1];
        quad[1] = quad[3];
        quad[3] = swap;
    }
    return add_triangles(n, quad);
}

/* All nodes but the outermost, which are far outside, have cells on every side. */
static bool walk(net *n) {
    bool done = true;
    for (int i = 0; done && i + 1 < n->size[0]; i++) {
        int *const before = n->cells[1];
        n->cells[1] = n->cells[0];
        n->cells[0] = before;
        for (int j = 0; done && j + 1 < n->size[1]; j++)
            for (int k = 0; done && k + 1 < n->size[2]; k++)
                done = add_cell(n, i, j, k, &n->cells[1][(size_t)j * (size_t)n->size[2] + (size_t)k]);
        for (int j = 1; done && i > 0 && j + 1 < n->size[1]; j++)
            for (int k = 1; done && k + 1 < n->size[2]; k++)
                done = add_quad(n, i, j, k, 0) && add_quad(n, i, j, k, 1) && add_quad(n, i, j, k, 2);
    }
    return done;
}

/* Places a lattice around the animal, with nodes symmetric about its middle plane. */
static void place_lattice(net *n) {
    double low[3] = {1e3, 1e3, 1e3}, high[3] = {-1e3, -1e3, -1e3};
    for (int i = 0; i < n->flesh->count; i++)
        for (int c = 0; c < 3; c++) {
            const exi_creature_bar *bar = &n->flesh->bars[i];
            low[c] = bar->middle[c] - bar->reach < low[c] ? bar->middle[c] - bar->reach : low[c];
            high[c] = bar->middle[c] + bar->reach > high[c] ? bar->middle[c] + bar->reach : high[c];
        }
    for (int c = 0; c < 3; c++) {
        const double middle = (low[c] + high[c]) / 2, half = (high[c] - low[c]) / 2 + 3 * n->spacing;
        n->size[c] = 2 * ((int)(half / n->spacing) + 1);
        n->origin[c] = middle - n->spacing * (n->size[c] - 1) / 2;
    }
}

static bool finish(ex_mesh *mesh) {
    mesh->face_count = mesh->corner_count / 3;
    mesh->face_offsets = array_allocate((size_t)mesh->face_count + 1, sizeof(int));
    for (int f = 0; mesh->face_offsets && f <= mesh->face_count; f++)
        mesh->face_offsets[f] = 3 * f;
    return mesh->face_offsets;
}

ex_mesh *exi_creature_flesh_mesh(const exi_creature_flesh *flesh, double spacing) {
    net n = {.flesh = flesh, .spacing = spacing, .mesh = ex_mesh_create()};
    place_lattice(&n);
    const size_t slice = (size_t)n.size[1] * (size_t)n.size[2];
    n.values = array_allocate(slice * (size_t)n.size[0], sizeof *n.values);
    n.cells[0] = array_allocate(slice, sizeof(int));
    n.cells[1] = array_allocate(slice, sizeof(int));
    bool done = n.mesh && n.values && n.cells[0] && n.cells[1];
    if (done) {
        fill_values(&n);
        simplify(&n);
    }
    done = done && walk(&n) && finish(n.mesh) && exi_creature_relax(flesh, n.mesh);
    free(n.values);
    free(n.cells[0]);
    free(n.cells[1]);
    if (!done) {
        ex_mesh_destroy(n.mesh);
        return NULL;
    }
    return n.mesh;
}

ex_mesh *exi_creature_mesh(double spacing) {
    exi_creature_flesh flesh;
    exi_creature_flesh_make(&flesh);
    return exi_creature_flesh_mesh(&flesh, spacing);
}
