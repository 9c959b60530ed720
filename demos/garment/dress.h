/*
 * dress.h - clothes for any body: cut out of its own mesh, a little wider than it. Private to demos.
 *
 * Bodies with the same faces get clothes with the same faces, each as wide as its body needs. exi_cloth_simulate
 * (cloth.h) then moves them. Metres.
 */
#ifndef EXEMPLAR_DEMOS_DRESS_H
#define EXEMPLAR_DEMOS_DRESS_H

#include <exemplar/author/mesh.h>

/* A copy without groups, texture coordinates and tags, each polygon cut into triangles around its first corner: alike
 * for all forms of a mesh. NULL if out of memory. */
ex_mesh *exi_dress_triangles(const ex_mesh *mesh);

typedef struct exi_dress_def {
    const ex_mesh *body; /* polygons, counter-clockwise from outside */
    const bool *worn;    /* [faces of body]: true for those that the garment covers */
    double room;         /* between body and garment; default 0.012 m */
    int rounds;          /* of smoothing, in which dents of the body are bridged; default 30 */
} exi_dress_def;

exi_dress_def exi_dress_def_default(void);

/* Sets worn [faces of body] for all faces of a group that has `name` among its names. Returns their number. */
int exi_dress_group(const ex_mesh *body, const char *name, bool *worn);

/* Makes a garment of triangles, without strain in its form. Results: ARGUMENT, DATA (nothing is worn; the body has no
 * area), MEMORY. */
ex_result exi_dress_make(const exi_dress_def *def, ex_mesh **garment, ex_error *error);

/* Sets edges [vertices of garment] to the number of the edge that a vertex is on, from 1; 0 inside. Returns the number
 * of edges; -1 if out of memory. */
int exi_dress_edges(const ex_mesh *garment, int *edges);

/* Moves vertices half-way to the mean of their neighbours, and at an edge to that of those along it. False if out of
 * memory. */
bool exi_dress_smooth(ex_mesh *garment, int rounds);

/* Sets pinned [vertices of garment] for those of its uppermost edge: a collar, or a waistband that keeps trousers up.
 * Returns their number, 0 for a closed garment; -1 if out of memory. */
int exi_dress_top(const ex_mesh *garment, bool *pinned);

#endif
