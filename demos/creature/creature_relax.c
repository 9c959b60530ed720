/*
 * Evens out a closed mesh of triangles that lies on the creature's skin. Vertices move towards the mean of their
 * neighbours, along the skin, and back onto it; edges whose two opposite angles add up to more than two right angles
 * are flipped (Delaunay's condition, on a surface), which keeps the weights of a Laplacian from becoming negative.
 */
#include "creature.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4, STEPS = 4, PASSES = 12 }; /* rounds of both; smoothing steps per round; passes of flips per round */

/* ---- smoothing ---- */

typedef struct neighbourhood {
    double sum[3];
    int count;
} neighbourhood;

static void smooth(const exi_creature_flesh *flesh, ex_mesh *mesh, neighbourhood *around) {
    memset(around, 0, (size_t)mesh->vertex_count * sizeof *around);
    for (int h = 0; h < mesh->corner_count; h++) { /* each neighbour once: the edge exists in both directions */
        const int v = mesh->corners[h], other = mesh->corners[h % 3 == 2 ? h - 2 : h + 1];
        for (int c = 0; c < 3; c++)
            around[v].sum[c] += mesh->positions[3 * (size_t)other + (size_t)c];
        around[v].count++;
    }
    for (int v = 0; v < mesh->vertex_count; v++) {
        double *p = mesh->positions + 3 * (size_t)v, step[3], g[3], out = 0, squared = 0;
        exi_creature_field(flesh, p, g);
        for (int c = 0; c < 3; c++) {
            step[c] = around[v].sum[c] / around[v].count - p[c];
            out += step[c] * g[c];
            squared += g[c] * g[c];
        }
        for (int c = 0; c < 3; c++)
            p[c] += 0.6 * (step[c] - (squared > 0.01 ? out * g[c] / squared : 0));
        exi_creature_project(flesh, p);
    }
}

/* ---- flips ---- */

/* Half-edge h of triangle h / 3 goes from its corner h to the next; twins[h] is the same edge on the other side. */
typedef struct edges {
    ex_mesh *mesh;
    int *twins;
} edges;

static int next(int h) {
    return h % 3 == 2 ? h - 2 : h + 1;
}

/* Pairs the two halves of every edge: half-edges that leave a vertex are chained, and each one searches for its twin
 * among those that leave its end. */
static bool find_twins(edges *e) {
    const ex_mesh *mesh = e->mesh;
    int *first = malloc((size_t)mesh->vertex_count * sizeof *first);
    int *after = malloc((size_t)mesh->corner_count * sizeof *after);
    for (int v = 0; first && v < mesh->vertex_count; v++)
        first[v] = -1;
    for (int h = 0; first && after && h < mesh->corner_count; h++) {
        after[h] = first[mesh->corners[h]];
        first[mesh->corners[h]] = h;
    }
    for (int h = 0; first && after && h < mesh->corner_count; h++) {
        int twin = first[mesh->corners[next(h)]];
        while (twin >= 0 && mesh->corners[next(twin)] != mesh->corners[h])
            twin = after[twin];
        e->twins[h] = twin;
    }
    const bool done = first && after;
    free(first);
    free(after);
    return done;
}

/* Cotangent of the angle at a, between b and c. */
static double cotangent(const ex_mesh *mesh, int a, int b, int c) {
    const double *p = mesh->positions + 3 * (size_t)a, *q = mesh->positions + 3 * (size_t)b;
    const double *r = mesh->positions + 3 * (size_t)c;
    double u[3], w[3];
    for (int i = 0; i < 3; i++) {
        u[i] = q[i] - p[i];
        w[i] = r[i] - p[i];
    }
    const double x = u[1] * w[2] - u[2] * w[1], y = u[2] * w[0] - u[0] * w[2], z = u[0] * w[1] - u[1] * w[0];
    const double cross = sqrt(x * x + y * y + z * z), least = 1e-12;
    return (u[0] * w[0] + u[1] * w[1] + u[2] * w[2]) / (cross > least ? cross : least);
}

/* True if two vertices are neighbours; h leaves the first. */
static bool are_joined(const edges *e, int h, int other) {
    int at = h;
    do {
        if (e->mesh->corners[next(at)] == other)
            return true;
        at = next(next(at)); /* the incoming edge, and on from its twin */
        at = e->twins[at];
    } while (at >= 0 && at != h);
    return at < 0;
}

static void set_twins(edges *e, int a, int b) {
    e->twins[a] = b;
    if (b >= 0)
        e->twins[b] = a;
}

/* Replaces the edge a b between the triangles a b c and b a d by c d, if that is better and is not an edge yet. */
static bool flip(edges *e, int h) {
    int *corners = e->mesh->corners;
    const int twin = e->twins[h];
    if (twin < h)
        return false; /* each edge once */
    const int a = corners[h], b = corners[next(h)], c = corners[next(next(h))], d = corners[next(next(twin))];
    if (cotangent(e->mesh, c, a, b) + cotangent(e->mesh, d, a, b) > -1e-9 || are_joined(e, next(next(h)), d))
        return false;
    const int bc = e->twins[next(h)], ca = e->twins[next(next(h))];
    const int ad = e->twins[next(twin)], db = e->twins[next(next(twin))];
    const int one = h / 3 * 3, two = twin / 3 * 3; /* c d b and d c a */
    const int made[2][3] = {{c, d, b}, {d, c, a}};
    memcpy(corners + one, made[0], sizeof made[0]);
    memcpy(corners + two, made[1], sizeof made[1]);
    set_twins(e, one, two);
    set_twins(e, one + 1, db);
    set_twins(e, one + 2, bc);
    set_twins(e, two + 1, ca);
    set_twins(e, two + 2, ad);
    return true;
}

static void flip_all(edges *e) {
    bool changed = true;
    for (int pass = 0; changed && pass < PASSES; pass++) {
        changed = false;
        for (int h = 0; h < e->mesh->corner_count; h++)
            changed |= flip(e, h);
    }
}

bool exi_creature_relax(const exi_creature_flesh *flesh, ex_mesh *mesh) {
    edges e = {mesh, malloc((size_t)mesh->corner_count * sizeof *e.twins)};
    neighbourhood *around = malloc((size_t)mesh->vertex_count * sizeof *around);
    const bool done = e.twins && around && find_twins(&e);
    for (int round = 0; done && round < ROUNDS; round++) {
        for (int step = 0; step < STEPS; step++)
            smooth(flesh, mesh, around);
        flip_all(&e);
    }
    free(around);
    free(e.twins);
    return done;
}
