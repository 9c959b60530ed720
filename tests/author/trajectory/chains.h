/*
 * chains.h - meshes for the tests of paper mode: a tube that bends, and chains of rigid links with known motion.
 */
#ifndef EXEMPLAR_TESTS_AUTHOR_TRAJECTORY_CHAINS_H
#define EXEMPLAR_TESTS_AUTHOR_TRAJECTORY_CHAINS_H

#include <exemplar/author/trajectory.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a tube along x, of length 4 and radius 1/2, open at its ends ---- */

typedef struct tube {
    int vertex_count, triangle_count;
    int *triangles;
    double *start, *end;
} tube;

/* rings x around vertices; stretched along x, then bent evenly by `angle` in the plane of x and y. */
static inline tube make_tube(int rings, int around, double angle, double stretch) {
    tube t = {.vertex_count = rings * around, .triangle_count = 2 * (rings - 1) * around};
    t.triangles = calloc(3 * (size_t)t.triangle_count, sizeof *t.triangles);
    t.start = calloc(3 * (size_t)t.vertex_count, sizeof *t.start);
    t.end = calloc(3 * (size_t)t.vertex_count, sizeof *t.end);
    int *corner = t.triangles;
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < around; j++) {
            double x = 4.0 * i / (rings - 1), f = 6.283185307179586 * (j + 0.5 * (i % 2)) / around;
            double y = 0.5 * cos(f), z = 0.5 * sin(f), *p = &t.start[3 * (i * around + j)];
            double *q = &t.end[3 * (i * around + j)], radius = 4 * stretch / (angle != 0 ? angle : 1);
            memcpy(p, (double[]){x, y, z}, 3 * sizeof *p);
            memcpy(q, (double[]){stretch * x, y, z}, 3 * sizeof *q);
            if (angle != 0) {
                q[0] = (radius - y) * sin(stretch * x / radius);
                q[1] = radius - (radius - y) * cos(stretch * x / radius);
            }
            int a = i * around + j, b = i * around + (j + 1) % around, c = a + around, d = b + around;
            for (int k = 0; k < 6 && i + 1 < rings; k++)
                *corner++ = (int[]){a, c, b, b, c, d}[k];
        }
    return t;
}

static inline void free_tube(tube *t) {
    free(t->triangles);
    free(t->start);
    free(t->end);
}

static inline ex_trajectories_def tube_definition(const tube *t, const double *const *examples) {
    ex_trajectories_def def = {.vertex_count = t->vertex_count,
                               .triangle_count = t->triangle_count,
                               .triangles = t->triangles,
                               .reference = t->start,
                               .example_count = 1,
                               .examples = examples,
                               .options = ex_trajectory_options_default()};
    def.options.mode = EX_TRAJECTORY_PAPER;
    return def;
}

/* ---- a planar chain of four links, which turn about z ---- */

enum { CHAIN_LINKS = 4, CHAIN_VERTICES = 64, CHAIN_TRIANGLES = 64 };

typedef struct chain {
    int vertex_count, triangle_count;
    int triangles[3 * CHAIN_TRIANGLES];
    int links[CHAIN_VERTICES];           /* of vertices */
    int triangle_links[CHAIN_TRIANGLES]; /* of triangles */
    double places[3 * CHAIN_VERTICES];
    double joints[CHAIN_LINKS + 1]; /* x of the hinges, which lie at y = 0 */
} chain;

static inline int chain_vertex(chain *c, int link, double x, double y, double z, bool shared) {
    for (int v = 0; v < c->vertex_count && shared; v++)
        if (fabs(c->places[3 * v] - x) + fabs(c->places[3 * v + 1] - y) + fabs(c->places[3 * v + 2] - z) < 1e-9)
            return v;
    int v = c->vertex_count++;
    memcpy(&c->places[3 * v], (double[]){x, y, z}, 3 * sizeof *c->places);
    c->links[v] = link;
    return v;
}

/* Links are roofs whose lower edges are the hinges: shared with the next link, or separated by a gap. */
static inline chain make_chain(bool shared) {
    static const int faces[8][3] = {{0, 2, 1}, {1, 2, 3}, {0, 4, 2}, {1, 3, 5},
                                    {0, 1, 5}, {0, 5, 4}, {2, 4, 5}, {2, 5, 3}};
    static const double lengths[CHAIN_LINKS] = {1, 1.2, 0.9, 1.1};
    chain c = {.vertex_count = 0};
    for (int k = 0; k < CHAIN_LINKS; k++) {
        double gap = shared ? 0 : 0.1, low = c.joints[k] + gap, high = c.joints[k] + lengths[k] - gap;
        int v[6];
        c.joints[k + 1] = c.joints[k] + lengths[k];
        for (int z = 0; z < 2; z++) {
            v[z] = chain_vertex(&c, k, low, 0, 0.5 * z, shared);
            v[2 + z] = chain_vertex(&c, k, high, 0, 0.5 * z, shared);
            v[4 + z] = chain_vertex(&c, k, (low + high) / 2, 0.4, 0.5 * z, shared);
        }
        for (int f = 0; f < 8; f++) {
            c.triangle_links[c.triangle_count] = k;
            for (int i = 0; i < 3; i++)
                c.triangles[3 * c.triangle_count + i] = v[faces[f][i]];
            c.triangle_count++;
        }
    }
    return c;
}

/* The chain at time t: every link turns evenly, the first does not move. */
static inline void chain_form(const chain *c, double t, double *form) {
    static const double angles[CHAIN_LINKS] = {0, 0.9, -0.4, 1.0};
    for (int v = 0; v < c->vertex_count; v++) {
        double x = 0, y = 0, angle = t * angles[c->links[v]];
        for (int k = 0; k < c->links[v]; k++) {
            x += (c->joints[k + 1] - c->joints[k]) * cos(t * angles[k]);
            y += (c->joints[k + 1] - c->joints[k]) * sin(t * angles[k]);
        }
        double a = c->places[3 * v] - c->joints[c->links[v]], b = c->places[3 * v + 1];
        form[3 * v] = x + a * cos(angle) - b * sin(angle);
        form[3 * v + 1] = y + a * sin(angle) + b * cos(angle);
        form[3 * v + 2] = c->places[3 * v + 2];
    }
}

#endif
