/*
 * cloth_parts.h - shared by the files of the cloth solver, and private to them.
 *
 *   cloth_parts.c    edges, hinges and masses of a mesh of cloth
 *   cloth_driver.c   the driver within a frame, and the side of it that a point is on
 *   cloth.c          substeps
 */
#ifndef EXEMPLAR_DEMOS_CLOTH_PARTS_H
#define EXEMPLAR_DEMOS_CLOTH_PARTS_H

#include "cloth.h"

#include <exemplar/settle.h>

/* ---- springs (cloth_parts.c) ---- */

typedef struct exi_cloth_edge {
    int a, b;
    double length;
    double stretched, shortened; /* 1 / (w_a + w_b + compliance / h^2): w is inverse mass, h the time of a substep */
} exi_cloth_edge;

/* Two triangles at an edge. The bend of the cloth there is the length of the weighted sum of the vertices, which is
 * zero if they are flat. */
typedef struct exi_cloth_hinge {
    int vertices[4];
    double weights[4];
    double moves[4]; /* w_i weight_i / (sum_j w_j weight_j^2 + compliance / h^2) */
    double bent;     /* bend without force */
} exi_cloth_hinge;

typedef struct exi_cloth_parts {
    int edge_count, hinge_count;
    exi_cloth_edge *edges;
    exi_cloth_hinge *hinges;
    double *lightness; /* [vertex_count] inverse mass, 1/kg; 0: fixed */
} exi_cloth_parts;

ex_result exi_cloth_parts_make(const exi_cloth_def *def, exi_cloth_parts *parts, ex_error *error);
void exi_cloth_parts_free(exi_cloth_parts *parts);

/* ---- the driver (cloth_driver.c) ---- */

typedef struct exi_cloth_driver {
    int vertex_count, triangle_count;
    uint32_t *triangles; /* [triangle_count][3] */
    int *across;         /* [triangle_count][3] the triangle across the edge from corner i to the next; -1: none */
    int *ring_starts;    /* [vertex_count + 1] indices into ring */
    int *ring;           /* triangles around every vertex */
    double *from, *to;   /* [vertex_count][3]: at the beginning and the end of the frame */
    float *now;          /* [vertex_count][3] */
    double mean[3];      /* mean motion of its vertices, in metres per frame */
    ex_tree *tree;
    void *memory; /* memory of the fit */
    const ex_bounds *fit;
} exi_cloth_driver;

/* The place on the driver that is nearest to a point. */
typedef struct exi_cloth_contact {
    double point[3];
    double normal[3];   /* from there to the point, outwards; of length 1 */
    double distance;    /* negative inside */
    double velocity[3]; /* velocity of the driver there, in metres per frame */
} exi_cloth_contact;

ex_result exi_cloth_driver_make(const ex_mesh *mesh, exi_cloth_driver *driver, ex_error *error);
void exi_cloth_driver_free(exi_cloth_driver *driver);
/* Starts a frame: the last frame's end becomes its beginning, and positions [vertex_count][3] its end. */
void exi_cloth_driver_next(exi_cloth_driver *driver, const double *positions);
/* Moves the driver to `part` of the frame. */
void exi_cloth_driver_move(exi_cloth_driver *driver, double part);
/* False if the driver is farther than reach. */
bool exi_cloth_driver_touch(const exi_cloth_driver *driver, const double point[3], double reach,
                            exi_cloth_contact *contact);

/* A point fixed to a triangle of the driver: its first corner, and coordinates along two sides and the normal. */
typedef struct exi_cloth_pin {
    int vertex; /* vertex of the cloth */
    int triangle;
    double parts[3];
    double from[3], to[3]; /* position at the beginning and the end of the frame */
} exi_cloth_pin;

/* Pins a point to the nearest place now; false if the driver's triangle there has no area. */
bool exi_cloth_driver_pin(const exi_cloth_driver *driver, const double point[3], exi_cloth_pin *pin);
/* Position of a pin at the end of the frame. */
void exi_cloth_driver_carry(const exi_cloth_driver *driver, const exi_cloth_pin *pin, double place[3]);

#endif
